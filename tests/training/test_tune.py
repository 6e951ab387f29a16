"""Training on a tiny random Llama that is made here: masks, losses, resuming, and a metric that has learnt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.errors import ConfigError
from mores.factory.gold import Gold
from mores.metric.schema import parse_text
from mores.metric.spans import align
from mores.metric.write import write_report
from mores.training.examples import Examples, Shape, TokenizedExample, make_row, pack, shape_of, steps
from mores.training.network import ATTENTION, load, load_tokenizer, register_attention
from mores.training.recipe import TuningRecipe
from mores.types import JudgedClaim
from tests.metaevaluation.golds import dishes, error, gold
from tests.packages import package
from tests.training.tiny import torch, transformers

_REASON = "needs the extra train: pip install '.[train]'"
tune: Any = package("mores.training.tune", reason=_REASON)
decide: Any = package("mores.training.study", reason=_REASON)

RECIPE = TuningRecipe(style="paper", longest=512, rank=8, batch=4, warmup_steps=2, learning_rate=3e-3, row_tokens=1024)
pytestmark = pytest.mark.usefixtures("on_the_cpu")


WIDE = Shape(4096, 8, 512)


def examples(base: Path, golds: list[Gold], recipe: TuningRecipe = RECIPE) -> list[TokenizedExample]:
    return list(Examples(transformers.AutoTokenizer.from_pretrained(base), recipe).make(golds))


# -- what is written ------------------------------------------------------------------------------------------


def test_a_report_is_read_as_it_was_written() -> None:
    text = "Tea is tea, and tea is drunk."
    first, second = error(text, "tea").model_copy(update={"correction": "mate"}), error(text, "Tea")
    later = first.model_copy(update={"start": 16, "end": 19})
    pair = gold("a", first, later, second, text=text)
    written = parse_text(write_report(pair.report, pair.sample))
    assert not hasattr(written, "kind"), written
    assert align(written.errors, pair.sample) == pair.report.errors
    assert write_report(gold("b").report, pair.sample, summary=False) == '{"errors":[]}'


# -- tokens ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_loss_is_on_the_report_and_its_end(base: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(base)
    wrong, right = dishes(2)
    for pair, decided in ((wrong, "[{"), (right, "[]")):
        [example] = examples(base, [pair])
        report = write_report(pair.report, pair.sample)
        assert tokenizer.decode(example.tokens[example.report : -1]) == report
        assert example.tokens[-1] == tokenizer.eos_token_id
        assert tokenizer.decode(example.tokens[: example.report]).endswith("<|start|>assistant\n")
        row = make_row([example], Shape(1024, 4, 512), decision_weight=5.0)
        learnt = row.targets[row.weights > 0]
        assert learnt.tolist() == example.tokens[example.report :].tolist()
        [place] = np.flatnonzero(row.weights == 5.0)
        before = tokenizer.decode(example.tokens[example.report : place + 1])
        assert decided not in before
        assert decided in before + tokenizer.decode([row.targets[place], *row.targets[place + 1 : place + 3]])


def test_a_long_example_is_left_out_and_counted(base: Path) -> None:
    making = Examples(transformers.AutoTokenizer.from_pretrained(base), RECIPE.model_copy(update={"longest": 64}))
    assert list(making.make(dishes(3))) == []
    assert making.left_out == 3


def test_rows_hold_every_example_once(base: Path) -> None:
    every = examples(base, dishes(20))
    rows = list(pack(every, Shape(1000, 20, 512)))
    assert sum(row.examples for row in rows) == 20
    unpacked = [
        row.tokens[a:b].tolist()
        for row in rows
        for a, b in zip(row.starts, row.starts[1 : row.examples + 1], strict=False)
    ]
    assert unpacked == [example.tokens.tolist() for example in every]
    for row in rows:
        ends = row.starts[1 : row.examples + 1]
        assert ends[-1] <= 1000
        assert (row.weights[ends - 1] == 0).all(), "the last token of an example predicts nothing"
        assert (row.positions[row.starts[: row.examples]] == 0).all()


def test_padding_is_in_pieces_that_attention_computes(base: Path) -> None:
    [example] = examples(base, dishes(1))
    row = make_row([example], WIDE)
    assert (np.diff(row.starts) <= WIDE.longest).all()
    assert (row.starts[0], row.starts[-1], len(row.starts)) == (0, WIDE.size, WIDE.starts)


@given(st.lists(st.integers(20, 700), min_size=1, max_size=60), st.integers(1, 40), st.integers(512, 9000))
def test_any_examples_fit_into_the_shape_of_a_run(lengths: list[int], batch: int, most: int) -> None:
    shape = shape_of(lengths, batch, most)
    every = [TokenizedExample(np.ones(length, np.int32), 5, (8,)) for length in lengths]
    rows = list(pack(every, shape))
    assert sum(row.examples for row in rows) == len(lengths)
    for row in rows:
        assert len(row.tokens) == shape.size
        assert len(row.starts) == shape.starts
        assert (np.diff(row.starts) >= 0).all()
        assert np.diff(row.starts).max() <= shape.longest


def test_an_epoch_has_every_example_once() -> None:
    order = np.concatenate(list(steps(10, 4, seed=1)))
    assert sorted(order.tolist()) == list(range(10))
    assert order.tolist() == np.concatenate(list(steps(10, 4, seed=1))).tolist()
    assert order.tolist() != np.concatenate(list(steps(10, 4, seed=2))).tolist()


# -- the loss -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_packing_changes_no_loss(base: Path) -> None:
    """The loss of a packed row is the sum of those of its examples, computed by transformers one by one."""
    every = examples(base, dishes(5))
    plain = transformers.LlamaForCausalLM.from_pretrained(base, attn_implementation="eager")
    register_attention()
    packed = transformers.LlamaForCausalLM.from_pretrained(base, attn_implementation=ATTENTION)
    alone = 0.0
    for example in every:
        tokens = torch.tensor(example.tokens.astype(np.int64))[None]
        labels = tokens.clone()
        labels[:, : example.report] = -100
        count = len(example.tokens) - example.report
        alone += plain(input_ids=tokens, labels=labels).loss.item() * count
    with torch.no_grad():
        together = float(tune.Tuned(packed)(tune.on_device(make_row(every, WIDE), WIDE, torch.device("cpu"))))
    assert together == pytest.approx(alone, rel=1e-5)


def test_the_learning_rate_rises_and_falls() -> None:
    recipe = TuningRecipe(warmup_steps=10, learning_rate=1.0)
    rates = [tune.learning_rate(step, 110, recipe) for step in range(110)]
    assert rates[0] == pytest.approx(0.1)
    assert max(rates) == rates[10] == 1.0
    assert rates[60] == pytest.approx(0.5)
    assert rates[-1] < 0.001
    assert tune.learning_rate(0, 2, recipe) == 1.0, "a short run warms up for at most half of it"


# -- a run ----------------------------------------------------------------------------------------------------


def train(
    base: Path, folder: Path, recipe: TuningRecipe, golds: list[Gold], **more: Any
) -> tuple[Any, list[dict[str, Any]]]:
    folder.mkdir(parents=True, exist_ok=True)
    model, tokenizer = load(str(base), recipe), load_tokenizer(str(base))
    examples_of = list(Examples(tokenizer, recipe).make(golds))
    tune.Training(model, examples_of, recipe, folder, "x", **more).tune()
    return model, [json.loads(line) for line in (folder / tune.LOG).read_text().splitlines()]


def weights(model: Any) -> dict[str, Any]:
    return {name: value.clone() for name, value in model.named_parameters() if value.requires_grad}


@pytest.mark.parametrize("method", ["lora", pytest.param("full", marks=pytest.mark.slow)])
def test_a_stopped_run_goes_on_as_if_it_had_not(base: Path, tmp_path: Path, method: str) -> None:
    recipe = RECIPE.model_copy(update={"epochs": 2.0, "method": method})
    whole, log = train(base, tmp_path / "whole", recipe, dishes(12))

    class StoppedError(Exception):
        pass

    def stop(progress: Any) -> None:
        if progress.step == 4:
            raise StoppedError

    with pytest.raises(StoppedError):
        train(base, tmp_path / "parts", recipe, dishes(12), save_every=3, on_step=stop)
    parts, again = train(base, tmp_path / "parts", recipe, dishes(12), save_every=3)
    assert [row["step"] for row in log] == [1, 2, 3, 4, 5, 6]
    assert [row["step"] for row in again] == [1, 2, 3, 4, 4, 5, 6]
    assert again[-1]["tokens"] == log[-1]["tokens"]
    first, second = weights(whole), weights(parts)
    assert first.keys() == second.keys()
    for name, value in first.items():
        assert torch.equal(value, second[name]), name


def test_a_checkpoint_of_something_else_is_refused(base: Path, tmp_path: Path) -> None:
    train(base, tmp_path / "a", RECIPE, dishes(4))
    torch.save(torch.load(tmp_path / "a" / tune.CHECKPOINT) | {"identity": "y"}, tmp_path / "a" / tune.CHECKPOINT)
    with pytest.raises(ConfigError, match="another recipe, base or data"):
        train(base, tmp_path / "a", RECIPE, dishes(4))


@pytest.mark.slow
def test_weights_in_the_loss_matter(base: Path, tmp_path: Path) -> None:
    """With a heavy decision its own loss falls faster than with a light one."""
    _, light = train(base, tmp_path / "light", RECIPE, dishes(8))
    _, heavy = train(base, tmp_path / "heavy", RECIPE.model_copy(update={"decision_weight": 50.0}), dishes(8))
    assert light[0]["loss"] != heavy[0]["loss"]


def test_nothing_to_train_on_is_said(base: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no examples to train on"):
        train(base, tmp_path / "none", RECIPE, [])


def test_a_model_that_decides_about_sentences_learns_each_decision(base: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(base)
    making = Examples(tokenizer, RECIPE.model_copy(update={"style": "claims"}))
    text = "Tea is drunk. Mate is not. Nobody knows."
    pair = gold("a", error(text, "not"), text=text)
    claim = JudgedClaim(start=27, end=40, decision="unknown")
    pair = pair.model_copy(update={"report": pair.report.model_copy(update={"claims": (claim,)})})
    [example] = making.make([pair])
    decided = [tokenizer.decode(example.tokens[place:]) for place in example.decisions]
    assert [text.partition(" ")[0].partition("\n")[0] for text in decided] == ["wrong", "none", "wrong", "unknown"]
    [(_, asked)] = making.questions([pair])  # tells nothing of the report
    assert [asked.tokens[place] for place in asked.decisions] == [making.choices[0]] * 4
    row = make_row([example], WIDE, decision_weight=7.0)
    assert [row.weights[place - 1] for place in example.decisions] == [7.0] * 4
    register_attention()
    model = transformers.LlamaForCausalLM.from_pretrained(base, attn_implementation=ATTENTION).eval()
    [odds] = decide.decide(model, making, [pair]).odds
    plain = transformers.LlamaForCausalLM.from_pretrained(base).eval()
    with torch.no_grad():
        logits = plain(torch.tensor(asked.tokens.astype(np.int64))[None]).logits[0].double()
    wrong = float(logits[asked.decisions[0] - 1, list(making.options)].softmax(0)[1])  # the first is about the text
    assert odds == pytest.approx(np.log(wrong / (1 - wrong)), abs=1e-3)


@pytest.mark.slow
def test_decisions_are_those_of_the_next_token(base: Path) -> None:
    register_attention()
    model = transformers.LlamaForCausalLM.from_pretrained(base, attn_implementation=ATTENTION).eval()
    making = Examples(transformers.AutoTokenizer.from_pretrained(base), RECIPE)
    golds = dishes(6)
    decided = decide.decide(model, making, golds, row_tokens=700)
    plain = transformers.LlamaForCausalLM.from_pretrained(base).eval()
    assert [pair.sample.id for pair in decided.golds] == [pair.sample.id for pair in golds]
    for gold_, odds in zip(golds, decided.odds, strict=True):
        [example] = making.make([gold_])
        with torch.no_grad():
            logits = plain(torch.tensor(example.tokens[: example.decisions[0]].astype(np.int64))[None]).logits[0, -1]
        clean, wrong = making.choices
        assert odds == pytest.approx(float(logits[wrong] - logits[clean]), abs=1e-4)
        assert example.tokens[example.decisions[0]] == (wrong if gold_.report.errors else clean)
