"""Continuous batching of `hf:` against its static batches, with the tiny random Llama of `test_hf`."""

from __future__ import annotations

import asyncio
import functools
import json
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from mores.engine import Answer, Job
from mores.engine import run as run_engine
from mores.errors import ModelError, Rejected
from mores.models import hf
from mores.models.base import Completion, Message, Request
from mores.models.hf import HFModel
from mores.models.hf.continuous import Stream
from mores.models.hf.network import Network
from tests.packages import package

from . import test_hf as tiny_models
from .test_hf import SCHEMA, ask, change, complete, use

torch: Any = package("torch", reason=tiny_models._REASON)
transformers: Any = package("transformers", reason=tiny_models._REASON)
pytest.importorskip("llguidance", reason="constrained output needs llguidance")
attention: Any = package("mores.models.hf.attention", reason=tiny_models._REASON)


@pytest.fixture(autouse=True)
def _on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.make_model(tmp_path_factory.mktemp("hf") / "tiny")


def word(text: str) -> str:
    return f"%llguidance {{}}\nstart: {json.dumps(text)} /[a-c]{{3}}/"


MIXED = [
    *(ask(f"tea {'with milk ' * (i % 4)}{i}", max_tokens=1 + 7 * i % 23) for i in range(12)),
    *(ask(f"sampled {i}", temperature=1.0, seed=i, top_p=0.9, max_tokens=9) for i in range(4)),
    *(ask(f"report {i}", schema=SCHEMA, max_tokens=80) for i in range(4)),
    *(ask("quote", grammar=word(text), max_tokens=20) for text in ("तीन", "two")),
    ask("choose", alternatives=5, max_tokens=1),
    ask("choose", alternatives=2, logprobs=False),
    Request((Message("user", "no system prompt"),), max_tokens=6),
    Request((Message("user", "x"),), max_tokens=6),
]


@pytest.fixture(scope="module")
def static(folder: Path) -> list[Completion]:
    """What static batches answer."""
    with pytest.MonkeyPatch.context() as during:
        during.setattr(torch.cuda, "is_available", lambda: False)
        return complete(HFModel(str(folder), batch=4), *MIXED)


def same(expected: list[Completion], answers: list[Completion]) -> None:
    """Equal, but for the last digits of log-probabilities."""
    for one, other in zip(expected, answers, strict=True):
        assert one._replace(logprobs=None, alternatives=None) == other._replace(logprobs=None, alternatives=None)
        assert one.logprobs == (other.logprobs and pytest.approx(other.logprobs, abs=1e-4))
        assert dict(one.alternatives or ()) == pytest.approx(dict(other.alternatives or ()), abs=1e-4)


class Forward:
    """Notes the shape of what the network reads: rows and tokens of each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, most: int = 1000) -> None:
        self.calls: list[tuple[int, int]] = []
        forward = transformers.LlamaForCausalLM.forward

        @functools.wraps(forward)
        def noted(model: Any, input_ids: Any, **inputs: Any) -> Any:
            if len(input_ids) > most:
                raise torch.cuda.OutOfMemoryError
            self.calls.append(tuple(input_ids.shape))
            return forward(model, input_ids, **inputs)

        monkeypatch.setattr(transformers.LlamaForCausalLM, "forward", noted)

    @property
    def steps(self) -> int:
        return sum(width == 1 for _, width in self.calls)

    @property
    def tokens(self) -> int:
        """Of prompts, with padding."""
        return sum(rows * width for rows, width in self.calls if width > 1)


@pytest.mark.slow
@pytest.mark.parametrize("slots", [3, pytest.param(64, marks=pytest.mark.slow)])
def test_answers_are_those_of_static_batches(folder: Path, static: list[Completion], slots: int) -> None:
    model = HFModel(str(folder), slots=slots)
    assert model.slots == model.concurrency == slots
    same(static, complete(model, *MIXED))


@pytest.mark.slow
def test_answers_with_an_adapter_are_those_of_static_batches(folder: Path, tmp_path: Path) -> None:
    adapter = str(tiny_models.make_adapter(tmp_path / "lora"))
    expected = complete(HFModel(str(folder), adapter, batch=4), *MIXED[::3])
    same(expected, complete(HFModel(str(folder), adapter, slots=4), *MIXED[::3]))
    assert expected[1].text != complete(HFModel(str(folder)), MIXED[3])[0].text


@pytest.mark.parametrize("able", [False, True])
def test_heads_that_share_keys_are_asked_together_where_the_model_can(
    folder: Path, static: list[Completion], monkeypatch: pytest.MonkeyPatch, able: bool
) -> None:
    widths: list[tuple[int, ...]] = []
    attend = attention._attend

    def noted(module: Any, query: Any, key: Any, *others: Any, **more: Any) -> Any:
        widths.append(tuple(key.shape[:2]))
        return attend(module, query, key, *others, **more)

    monkeypatch.setattr("mores.models.hf.attention._attend", noted)
    monkeypatch.setattr("mores.models.hf.attention._SPARE", 3)  # the cache grows in the middle of an answer
    monkeypatch.setattr(transformers.LlamaForCausalLM, "_supports_attention_backend", able)
    same(static[:8], complete(HFModel(str(folder), slots=4), *MIXED[:8]))
    assert {heads for _, heads in widths} == ({2} if able else set())


@pytest.mark.slow
def test_prompts_are_read_in_portions(folder: Path, static: list[Completion], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mores.models.hf.continuous._PREFILL", 60)
    forward = Forward(monkeypatch)
    same(static[::2], complete(HFModel(str(folder), slots=8), *MIXED[::2]))
    assert all(rows == 1 or width == 1 or rows * width <= 60 for rows, width in forward.calls)


def test_prompts_of_like_length_are_read_together(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = [ask("tea " * (40 if i % 3 else 1), max_tokens=3) for i in range(12)]
    expected = complete(HFModel(str(folder), batch=4), *requests)
    weights = transformers.AutoModelForCausalLM.from_pretrained(folder).num_parameters()
    monkeypatch.setattr("mores.models.hf.continuous._PADDING", 50 * weights)
    forward = Forward(monkeypatch)
    same(expected, complete(HFModel(str(folder), slots=12), *requests))
    assert [rows for rows, width in forward.calls if width > 1 and rows > 1] == [4, 8]


@pytest.mark.slow
@pytest.mark.parametrize("slack", [1, 1000])
def test_new_requests_take_the_rows_of_finished_answers(
    folder: Path, monkeypatch: pytest.MonkeyPatch, slack: int
) -> None:
    requests = [ask(f"{'milk ' * (i * 5 % 7)}tea {i}", max_tokens=3 + 5 * i % 11) for i in range(16)]
    expected = complete(HFModel(str(folder), batch=4), *requests)
    replaced, slacks = [], []
    put, step = attention.Columns.put, Stream._step

    def noted_put(columns: Any, rows: Any, *states: Any) -> None:
        replaced.extend(rows.tolist())
        put(columns, rows, *states)

    def noted_step(stream: Stream) -> None:
        slacks.append(stream._slack())
        step(stream)

    monkeypatch.setattr(attention.Columns, "put", noted_put)
    monkeypatch.setattr(Stream, "_step", noted_step)
    monkeypatch.setattr("mores.models.hf.continuous._SLACK", slack)
    same(expected, complete(HFModel(str(folder), slots=5), *requests))
    assert set(replaced) > {0, 1}
    assert (max(slacks) < 2) == (slack == 1)


def test_a_row_that_is_replaced_keeps_nothing() -> None:
    wide, narrow = torch.full((3, 2, 7, 4), torch.nan), torch.ones((1, 2, 5, 4))
    columns = attention.Columns(wide, wide.clone())
    columns.put(torch.tensor([1]), narrow, narrow)  # a masked nan would still spoil what is computed
    assert columns.keys[1].sum() == columns.values[1].sum() == narrow.sum()
    assert columns.keys[[0, 2]].isnan().all()
    columns.put(torch.tensor([0]), torch.ones((1, 2, 9, 4)), torch.ones((1, 2, 9, 4)))
    assert columns.keys.shape == columns.values.shape == (3, 2, 9, 4)
    assert columns.keys[1, :, -5:].eq(1).all()


def test_what_cannot_even_begin_is_said_to_who_waits(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = Network.begin

    def broken(network: Network, request: Request) -> Any:
        if request.messages[-1].content == "broken":
            raise RuntimeError("no threads left")
        return begin(network, request)

    monkeypatch.setattr(Network, "begin", broken)

    async def both(model: HFModel) -> list[Completion | BaseException]:
        requests = (ask("broken"), ask("tea", max_tokens=3))
        return await asyncio.gather(*map(model.complete, requests), return_exceptions=True)

    failed, answered = use(HFModel(str(folder), slots=2), both)
    assert isinstance(failed, ModelError)
    assert "no threads left" in str(failed)
    assert isinstance(answered, Completion)


def test_constraints_are_made_while_answers_are_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    begin, step = Network.begin, Stream._step

    def noted_begin(network: Network, request: Request) -> Any:
        events.append("begin")
        return begin(network, request)

    def noted_step(stream: Stream) -> None:
        events.append("step")
        step(stream)

    monkeypatch.setattr(Network, "begin", noted_begin)
    monkeypatch.setattr(Stream, "_step", noted_step)
    complete(HFModel(str(folder), slots=2), *(ask("tea", grammar=word("two"), max_tokens=9) for _ in range(4)))
    assert events[:5].count("begin") == 4  # before the second step of the first two answers


def test_what_may_come_next_is_found_while_the_network_computes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forward = Forward(monkeypatch)
    masks, begun = Network.masks, []

    def noted(network: Network, matchers: Any, rows: int) -> Any:
        begun.append(len(forward.calls))
        return masks(network, matchers, rows)

    monkeypatch.setattr(Network, "masks", noted)
    complete(HFModel(str(folder), slots=2), *(ask("tea", grammar=word("two"), max_tokens=9) for _ in range(2)))
    calls = len(forward.calls)
    assert begun == list(range(calls - len(begun), calls)), "before each computation but that of the common beginning"


def test_an_answer_that_ends_makes_room_for_the_next(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long, short = (f"%llguidance {{}}\nstart: /[a-c]{{{letters}}}/" for letters in (49, 4))
    requests = [ask("tea", grammar=long, max_tokens=90), *(ask(f"milk {i}", grammar=short) for i in range(18))]
    forward = Forward(monkeypatch)
    answers = complete(HFModel(str(folder), slots=3), *requests)
    assert [answer.completion_tokens for answer in answers] == [50] + [5] * 18
    assert forward.steps == 49  # the long answer's; its first token comes with the prompt
    assert max(rows for rows, _ in forward.calls) == 3


def test_what_all_prompts_begin_with_is_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = Message("system", "You judge texts about tea. " * 4)
    requests = [Request((system, Message("user", f"tea {i}")), max_tokens=4) for i in range(12)]
    expected = complete(HFModel(str(folder), batch=4), *requests)
    forward = Forward(monkeypatch)
    answers = complete(HFModel(str(folder), slots=4), *requests)
    same(expected, answers)
    all_tokens = sum(answer.prompt_tokens for answer in answers)
    assert [rows for rows, width in forward.calls if width > 60] == [1]
    assert forward.tokens < all_tokens / 3


def test_another_beginning_is_noticed(folder: Path) -> None:
    requests = [
        Request((Message("system", f"You judge {what}. " * 4), Message("user", f"{i}")), max_tokens=4)
        for what in ("tea", "tea with milk", "milk")
        for i in range(5)
    ]
    same(complete(HFModel(str(folder), batch=1), *requests), complete(HFModel(str(folder), slots=4), *requests))


@pytest.mark.parametrize("fits", [0, 1])
def test_too_little_memory_means_fewer_rows(
    folder: Path, static: list[Completion], monkeypatch: pytest.MonkeyPatch, fits: int
) -> None:
    forward = Forward(monkeypatch, fits)
    if not fits:
        with pytest.raises(Rejected, match=r"memory is too small for a prompt of \d+ tokens and up to 12 more"):
            complete(HFModel(str(folder), slots=4), ask("tea"), ask("milk"))
        return
    same(static[10:18], complete(HFModel(str(folder), slots=12), *MIXED[10:18]))
    assert max(rows for rows, _ in forward.calls) <= fits


def test_one_bad_request_does_not_spoil_the_others(folder: Path) -> None:
    bad = [ask("tea " * 400), ask("tea", grammar="%llguidance {}\nstart: nowhere")]

    async def all_of_them(model: HFModel) -> list[Completion | BaseException]:
        return list(await asyncio.gather(*map(model.complete, [*bad, ask("milk")]), return_exceptions=True))

    long, wrong, good = use(HFModel(str(folder), slots=4), all_of_them)
    assert isinstance(long, Rejected)
    assert isinstance(wrong, Rejected)
    assert isinstance(good, Completion)


def test_a_broken_network_is_reported_to_all_and_can_be_asked_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("device-side assert\nand so on")

    async def break_once(model: HFModel) -> list[Any]:
        with monkeypatch.context() as patch:
            patch.setattr(Stream, "_step", broken)
            calls = map(model.complete, [ask("a"), ask("b"), ask("c")])
            outcomes: list[Any] = list(await asyncio.gather(*calls, return_exceptions=True))
        return [*outcomes, await model.complete(ask("tea"))]

    *failed, answer = use(HFModel(str(folder), slots=2), break_once)
    assert [str(problem) for problem in failed] == [f"hf:{folder}: RuntimeError: device-side assert"] * 3
    assert all(isinstance(problem, ModelError) for problem in failed)
    assert answer.text == complete(HFModel(str(folder)), ask("tea"))[0].text


def test_what_nobody_waits_for_is_not_finished(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started, go_on = threading.Event(), threading.Event()
    forward = Forward(monkeypatch)
    step = Stream._step

    def slow(stream: Any) -> None:
        started.set()
        assert go_on.wait(10)
        step(stream)

    monkeypatch.setattr(Stream, "_step", slow)

    async def give_up(model: HFModel) -> Completion:
        tasks = [asyncio.create_task(model.complete(ask(f"{i} tea", max_tokens=200))) for i in range(3)]
        assert await asyncio.to_thread(started.wait, 10)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        go_on.set()
        return await model.complete(ask("milk", max_tokens=3))

    assert use(HFModel(str(folder), slots=2), give_up).completion_tokens == 3
    assert forward.steps == 3


def test_it_is_the_way_on_a_gpu_and_part_of_the_identity(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert HFModel(str(folder)).identity.endswith("/batch1")
    monkeypatch.setattr(hf, "has_gpu", lambda: True)
    assert HFModel(str(folder)).identity.endswith("/slots256")
    assert HFModel(str(folder), batch=16).identity.endswith("/batch16")


@pytest.mark.parametrize(
    "settings",
    [
        {"model_type": "mistral", "architectures": ["MistralForCausalLM"], "sliding_window": 8},
        {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0}},
    ],
    ids=["sliding window", "dynamic positions"],
)
def test_layers_of_another_kind_are_asked_in_static_batches(
    folder: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "other"))
    change(copy / "config.json", **settings)
    model = HFModel(str(copy), slots=4)
    assert (model.slots, model.concurrency) == (0, 1)
    assert model.identity == HFModel(str(copy), batch=1).identity
    assert complete(model, ask("tea")) == complete(HFModel(str(copy), batch=1), ask("tea"))


@pytest.mark.slow
def test_learned_positions_end_with_the_context(tmp_path: Path) -> None:
    torch.manual_seed(1)
    config = transformers.GPT2Config(
        vocab_size=320, n_embd=32, n_layer=2, n_head=4, n_positions=64, initializer_range=0.3, eos_token_id=2
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path)
    tiny_models.make_tokenizer().save_pretrained(tmp_path)
    requests = [ask("milk " * (i % 4), max_tokens=80, grammar="%llguidance {}\nstart: /[a-c]{70}/") for i in range(5)]
    answers = complete(HFModel(str(tmp_path), slots=3), *requests)
    assert {answer.prompt_tokens + answer.completion_tokens for answer in answers} == {64}
    same(complete(HFModel(str(tmp_path), batch=1), *requests), answers)


def test_the_engine_keeps_the_rows_filled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = [ask(f"tea {i}", max_tokens=3 + i % 5) for i in range(20)]
    jobs = [Job(str(i), request) for i, request in enumerate(requests)]
    expected = complete(HFModel(str(folder), batch=4), *requests)
    forward = Forward(monkeypatch)

    async def all_of_them() -> list[Answer]:
        return [answer async for answer in run_engine(jobs, HFModel(str(folder), slots=4))]

    answers = asyncio.run(all_of_them())
    same(expected, [answer.completion for answer in answers if answer.completion])
    assert max(rows for rows, _ in forward.calls) == 4


def test_what_only_some_models_add_to_attention_is_left_to_transformers() -> None:
    query, (key, value) = torch.randn(2, 4, 1, 8), (torch.randn(2, 4, 5, 8) for _ in range(2))
    mask, bias = torch.zeros(2, 1, 1, 5), torch.randn(1, 4, 1, 5)
    module = torch.nn.Module()
    plain, _ = attention._attend(module, query, key, value, mask, 1.0)
    biased, _ = attention._attend(module, query, key, value, mask, 1.0, position_bias=bias)
    weights = torch.softmax(query @ key.transpose(2, 3) + bias, -1)
    assert torch.allclose(biased, (weights @ value).transpose(1, 2), atol=1e-5)
    assert not torch.allclose(biased, plain, atol=1e-2)
    with pytest.raises(ValueError, match="softcap"):
        attention._attend(module, query, key, value, mask, 1.0, softcap=30.0)
