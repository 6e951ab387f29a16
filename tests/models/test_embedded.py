"""The embedded model, for real: the GGUF file, the server process, and answers that can be reproduced."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import gguf as gguf_files
import numpy as np
import pytest

from mores.cli.options import served
from mores.engine import Answer, Job, run
from mores.engine.loop import run as run_loop
from mores.errors import ModelError
from mores.metric import open_metric
from mores.models import Completion, Message, Request
from mores.models import pull as models
from mores.models.embedded import TUNED, EmbeddedModel
from mores.types import Evidence, FailureKind, Sample

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 12}},
    "required": ["city"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module", autouse=True)
def gguf() -> Path:
    """The default model's file, downloaded once for all runs of the tests."""
    try:
        return models.pull("")
    except ModelError as exc:
        pytest.skip(f"the embedded model cannot be downloaded here: {exc}")


def ask(text: str, system: str = "Be brief.", tokens: int = 12) -> Job:
    return Job(text, Request((Message("system", system), Message("user", text)), max_tokens=tokens))


def answers(jobs: list[Job], model: EmbeddedModel) -> list[Answer]:
    async def gather() -> list[Answer]:
        return [answer async for answer in run(jobs, model)]

    return run_loop(gather())


def test_the_same_question_gets_the_same_answer_whatever_was_asked_before() -> None:
    question = ask("Name a dish from Japan.")
    others = [ask("Name a dish from Peru."), ask("Name a dish from Japan and one from Peru.", "Be long.")]
    first = answers([question, *others], EmbeddedModel())
    second = answers([*others, question], EmbeddedModel())
    assert first[0].completion is not None
    assert first[0].completion == second[2].completion
    assert [a.completion for a in first[1:]] == [a.completion for a in second[:2]]
    assert first[0].completion.logprobs is not None
    assert len(first[0].completion.logprobs) == first[0].completion.completion_tokens
    assert all(p <= 0 for p in first[0].completion.logprobs)


def test_log_probabilities_need_not_be_asked_for() -> None:
    question = Request((Message("user", "Name a dish from Peru."),), max_tokens=12, logprobs=False)
    [answer] = answers([Job("1", question)], EmbeddedModel())
    assert answer.completion is not None
    assert answer.completion.text
    assert answer.completion.logprobs is None


def test_the_likeliest_first_tokens() -> None:
    question = Request((Message("user", "Answer A or B. Which letter comes first?"),), max_tokens=1, alternatives=5)
    [answer] = answers([Job("1", question)], EmbeddedModel())
    assert answer.completion is not None
    assert answer.completion.alternatives is not None
    assert len(answer.completion.alternatives) == 5
    assert answer.completion.text in {token for token, _ in answer.completion.alternatives}


def test_a_model_may_be_used_again_and_by_many_at_once() -> None:
    model = EmbeddedModel()
    jobs = [ask("Name a dish from Japan.", tokens=4), ask("Name a dish from Peru.", tokens=4)]

    async def at_once() -> list[Completion]:
        async with model:
            requests = [job.request for job in jobs if isinstance(job.request, Request)]
            return await asyncio.gather(*map(model.complete, requests))

    first = [answer.completion for answer in answers(jobs, model)]
    assert run_loop(at_once()) == first


def test_the_schema_holds_and_a_text_that_is_too_long_is_a_failure() -> None:
    job = Job("x", Request((Message("user", "Capital of Peru as JSON"),), max_tokens=40, schema=SCHEMA))
    constrained, long = answers([job, ask("word " * 3000)], EmbeddedModel(context=1024))
    assert constrained.completion is not None
    assert constrained.completion.text.startswith('{"city":"')
    assert long.failure is not None
    assert long.failure.kind is FailureKind.MODEL
    assert "context" in long.failure.reason


@pytest.mark.parametrize(
    ("adapter", "says", "style"), [(None, "judges 64 right", "fenced"), ("none", "do not measure", "guided")]
)
def test_judging_with_it_gives_reports_and_says_what_it_is(
    tmp_path: Path, adapter: str | None, says: str, style: str
) -> None:
    metric = open_metric("embedded", store=tmp_path / "s.db", adapter=adapter)
    [judgement] = metric.judge([("What do people in Japan eat with?", "In Japan people eat with forks.")])
    assert judgement.failure is None
    assert judgement.report is not None
    assert "SmolLM2-135M-Instruct.Q4_1@b179c9523d0e" in judgement.signature["model"]
    assert ("/lora@" in judgement.signature["model"]) is (adapter is None)
    assert judgement.signature["prompt"].startswith(f"{style}.")
    assert "slots1" in judgement.signature["model"]
    assert metric.model.warning is not None
    assert says in metric.model.warning


def test_the_metric_that_comes_with_mores_judges_by_evidence_and_cites_it() -> None:
    assert TUNED.stat().st_size < 25e6
    question = "What do people in Japan eat rice with?"
    evidence = (
        Evidence(text=f"{question} chopsticks"),
        Evidence(text="What do people in Peru eat rice with? fork"),
    )
    samples = [Sample(id=text, instruction=question, text=text, evidence=evidence) for text in ("chopsticks", "fork")]
    right, wrong = open_metric("embedded", store=None).judge(samples)
    # Not far from 1: the grammar's own end token, which the model never thinks of, does not count.
    assert right.score is not None
    assert right.score > 0.9
    assert wrong.report is not None
    assert [(error.quote, error.evidence) for error in wrong.report.errors] == [("fork", (1,))]


def test_other_commands_use_the_model_without_the_metrics_adapter() -> None:
    options = dict.fromkeys(
        ("adapter", "base_url", "concurrency", "timeout", "rpm", "tpm", "store", "threads", "outage")
    )
    given = options | {"model": "embedded", "attempts": 1, "slots": 1, "context": 512, "no_store": True, "fresh": False}
    model = served(dict(given)).model
    assert isinstance(model, EmbeddedModel)
    assert model.adapter is None
    assert model.style is None


def test_an_adapter_changes_the_answers_and_the_identity(tmp_path: Path) -> None:
    """A random LoRA on the real model: another model, and no longer the untuned one that we warn of."""
    write_lora(tmp_path / "lora.gguf")
    plain, tuned = EmbeddedModel(), EmbeddedModel(adapter=str(tmp_path / "lora.gguf"))
    question = ask("Name a dish from Japan.", tokens=4)
    [before], [after] = answers([question], plain), answers([question], tuned)
    assert before.completion is not None
    assert after.completion is not None
    assert before.completion.logprobs != after.completion.logprobs
    assert "/lora@" in tuned.identity
    assert plain.identity != tuned.identity
    assert tuned.warning is None


def write_lora(path: Path) -> None:
    draw = np.random.default_rng(0)
    writer = gguf_files.GGUFWriter(path, "llama")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 16.0)
    for block in range(30):
        for half, shape in (("a", (8, 576)), ("b", (576, 8))):
            values = (draw.standard_normal(shape) * 0.05).astype(np.float32)
            writer.add_tensor(f"blk.{block}.attn_q.weight.lora_{half}", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_the_server_dies_with_its_parent() -> None:
    script = (
        "import asyncio, os, signal\n"
        "from mores.models.embedded import EmbeddedModel\n"
        "async def main():\n"
        "    async with EmbeddedModel() as model:\n"
        "        print(model._process.pid, flush=True)\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    child = int(done.stdout)
    deadline = time.monotonic() + 10
    while alive(child) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not alive(child)


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")


def test_a_file_that_is_no_model_says_so(tmp_path: Path) -> None:
    (tmp_path / "bad.gguf").write_bytes(b"GGUF" + b"\0" * 100)
    with pytest.raises(ModelError, match=r"did not start with .*bad\.gguf"):
        answers([ask("x")], EmbeddedModel(str(tmp_path / "bad.gguf")))
