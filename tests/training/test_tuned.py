"""The metric that comes with Mores decides in llama.cpp as it does in transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mores.engine.loop import run
from mores.errors import ModelError
from mores.io import read_samples
from mores.metric import Metric, open_metric
from mores.models import pull
from mores.models.embedded import TUNED
from mores.types import Evidence, Sample
from tests.packages import package

torch: Any = package("torch", reason="needs torch: pip install '.[train]'")
transformers: Any = package("transformers", reason="needs transformers: pip install '.[train]'")
gguf = pytest.importorskip("gguf", reason="needs gguf: pip install '.[train]'")

EXAMPLES = Path(__file__).parents[2] / "examples"
OPENING = '{"errors":['
"""What every report begins with; the next token decides."""


@pytest.fixture(scope="module")
def base() -> Path:
    try:
        return pull.pull("")
    except ModelError as exc:
        pytest.skip(f"the embedded model cannot be downloaded here: {exc}")


def samples() -> list[Sample]:
    """Fifty: the short answers of the examples without evidence, with the fact in question, and with another."""
    plain = list(read_samples(EXAMPLES / "answers.jsonl"))
    facts = [Evidence(text=sample.text) for sample in read_samples(EXAMPLES / "facts.jsonl")]
    facts_of = [next(fact for fact in facts if fact.text.startswith(sample.instruction)) for sample in plain]
    covered = [
        sample.model_copy(update={"id": f"{sample.id}-own", "evidence": (fact,)})
        for sample, fact in zip(plain, facts_of, strict=True)
    ]
    others = [
        sample.model_copy(update={"id": f"{sample.id}-other", "evidence": (fact,)})
        for sample, fact in zip(plain[:10], facts_of[10:], strict=True)
    ]
    return plain + covered + others


def tuned(base: Path, folder: Path) -> tuple[Any, Any]:
    """The default model with the metric's adapter merged into it, in single precision."""
    from mores.training.gguf import unpack
    from mores.training.gguf.weights import FileWeights

    unpack(base, folder)
    weights, lora = FileWeights(base), gguf.GGUFReader(TUNED)
    alpha = float(lora.fields["adapter.lora.alpha"].contents())
    maps = {tensor.name: gguf.quants.dequantize(tensor.data, tensor.tensor_type) for tensor in lora.tensors}
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    state = model.state_dict()
    for name in (key.removesuffix(".lora_a") for key in maps if key.endswith(".lora_a")):
        down, up = maps[f"{name}.lora_a"], maps[f"{name}.lora_b"]
        merged = weights.layout.to_hf(name, weights.read(name) + up @ down * (alpha / len(down)), weights.heads)
        state[weights.layout.to_hf_name(name)].copy_(torch.from_numpy(merged))
    return model.eval(), transformers.AutoTokenizer.from_pretrained(folder)


def odds(model: Any, tokenizer: Any, metric: Metric, sample: Sample) -> float:
    """Log-odds that the report names an error."""
    turns = [message._asdict() for message in metric.request(sample).messages]
    prompt = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    ids = tokenizer(prompt, add_special_tokens=False)["input_ids"] + tokenizer(OPENING)["input_ids"]
    with torch.no_grad():
        last = model(torch.tensor([ids])).logits[0, -1]
    clean, wrong = (tokenizer(OPENING + end)["input_ids"][-1] for end in ("]}", '{"'))
    return float(last[wrong] - last[clean])


def verdicts(metric: Metric, judged: list[Sample]) -> list[bool]:
    """Whether the first tokens of each report by llama.cpp name an error."""

    async def ask() -> list[bool]:
        async with metric.model as model:
            answers = [await model.complete(metric.request(sample)._replace(max_tokens=8)) for sample in judged]
        return [answer.text.startswith(OPENING + "{") for answer in answers]

    return run(ask())


@pytest.mark.slow
def test_verdicts_are_those_of_transformers(base: Path, tmp_path: Path) -> None:
    metric, judged = open_metric("embedded", store=None), samples()
    model, tokenizer = tuned(base, tmp_path / "base")
    odds_of = {sample.id: odds(model, tokenizer, metric, sample) for sample in judged}
    verdict_of = dict(zip(odds_of, verdicts(metric, judged), strict=True))
    # llama.cpp rounds activations to eight bits, so that what is nearly undecided may fall either way.
    differ = {name: round(value, 2) for name, value in odds_of.items() if verdict_of[name] is not (value > 0)}
    assert len(odds_of) == 50
    assert {value > 0 for value in odds_of.values() if abs(value) > 1} == {True, False}
    assert all(abs(value) < 1 for value in differ.values()), differ
    assert len(differ) <= 2, differ
