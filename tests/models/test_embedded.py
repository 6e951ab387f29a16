"""The embedded model, for real: the GGUF file, the server process, and answers that can be reproduced."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import gguf as gguf_files
import numpy as np
import pytest

import mores
from mores.engine import Answer, Job, open_asker, run
from mores.engine.loop import run as run_loop
from mores.errors import ConfigError, ModelError
from mores.metric import Metric, Settings, open_metric
from mores.models import Completion, Message, Request, embedded, weakness
from mores.models import pull as models
from mores.models.embedded import TUNED, EmbeddedModel, available_cores
from mores.types import Evidence, FailureKind, Judgement, Sample

EXAMPLES = Path(__file__).parents[2] / "examples"
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


def ask(text: str, system: str = "Be brief.", **more: Any) -> Request:
    return Request((Message("system", system), Message("user", text)), **{"max_tokens": 3} | more)


JAPAN, PERU = (ask(f"Name a dish from {country}.") for country in ("Japan", "Peru"))


def answers(model: EmbeddedModel, **requests: Request) -> dict[str, Answer]:
    async def gather() -> dict[str, Answer]:
        jobs = [Job(name, request) for name, request in requests.items()]
        return {answer.job.id: answer async for answer in run(jobs, model)}

    return run_loop(gather())


@pytest.fixture(scope="module")
def model() -> EmbeddedModel:
    return EmbeddedModel(context=1024, threads=1)


@pytest.fixture(scope="module")
def answered(model: EmbeddedModel) -> dict[str, Answer]:
    """What one server has answered, one question after the other."""
    return answers(
        model,
        japan=JAPAN,
        peru=PERU,
        both=ask("Name a dish from Japan and one from Peru.", "Be long."),
        japan_again=JAPAN,
        peru_unmeasured=PERU._replace(logprobs=False),
        letter=ask("Answer A or B. Which letter comes first?", max_tokens=1, alternatives=5),
        schema=ask("Capital of Peru as JSON", max_tokens=20, schema=SCHEMA),
        grammar=ask("Name a dish from Japan.", max_tokens=40, grammar=quoting("Zürich", " ", "ﬁsh", "\\n", "日", "本")),
        long=ask("word " * 1500),
    )


def quoting(*chunks: str) -> str:
    """A grammar of at least three characters of neighbouring chunks, in quotation marks."""
    parts = json.dumps({"substring_chunks": chunks}, ensure_ascii=False)
    return f'%llguidance {{}}\nstart: "\\"" PART "\\""\nPART: WORDS & /.{{3,}}/\nWORDS: %regex {parts}'


def completion(answer: Answer) -> Completion:
    assert answer.completion is not None, answer.failure
    return answer.completion


@pytest.mark.slow
def test_the_same_question_gets_the_same_answer_whatever_was_asked_before(answered: dict[str, Answer]) -> None:
    first = completion(answered["japan"])
    assert completion(answered["japan_again"]) == first
    assert first != completion(answered["peru"])
    assert first.logprobs is not None
    assert len(first.logprobs) == first.completion_tokens
    assert all(p <= 0 for p in first.logprobs)


def about(country: str, dish: str, repeat: int = 1) -> Request:
    """A question about a dish whose beginning, which is the longer part, is shared."""
    opening = f"People in {country} eat many things. " * repeat + "Is this one of them: "
    return ask(f"{opening}{dish}?")._replace(shared=len(opening), max_tokens=3)


@pytest.mark.slow
def test_what_requests_share_is_read_once_and_changes_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alone, after its sibling, after others, and after another whose state is kept instead of its own."""
    sushi, ramen = about("Japan", "sushi"), about("Japan", "\nramen")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(embedded, "_KEPT", 1)

    def states() -> list[Path]:
        return list(tmp_path.glob("mores-llama-*/*.kv"))

    async def first(request: Request) -> Completion:
        async with EmbeddedModel(context=1024, threads=1) as model:
            return await model.complete(request)

    async def after_others() -> list[Completion]:
        async with EmbeddedModel(context=1024, threads=1) as model:
            before = [await model.complete(request) for request in (sushi, ramen, sushi)]
            [start, japan] = sorted(states(), key=lambda path: path.stat().st_size)
            await model.complete(about("Peru", "soup"))
            assert start in states()  # the system prompt's
            assert japan not in states()
            assert len(states()) == 2
            return [*before, await model.complete(ramen), await model.complete(sushi)]

    alone, other = run_loop(first(sushi)), run_loop(first(ramen))
    assert run_loop(after_others()) == [alone, other, alone, other, alone]
    assert alone.logprobs != other.logprobs
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_shared_part_may_be_too_long_too(model: EmbeddedModel, answered: dict[str, Answer]) -> None:
    after = answers(model, long=about("Japan", "sushi", repeat=300), japan=JAPAN)
    assert after["long"].failure is not None
    assert "context" in after["long"].failure.reason
    assert completion(after["japan"]) == completion(answered["japan"])


@pytest.mark.slow
def test_log_probabilities_need_not_be_asked_for(answered: dict[str, Answer]) -> None:
    answer = completion(answered["peru_unmeasured"])
    assert answer.text == completion(answered["peru"]).text
    assert answer.logprobs is None


@pytest.mark.slow
def test_the_likeliest_first_tokens(answered: dict[str, Answer]) -> None:
    answer = completion(answered["letter"])
    assert answer.alternatives is not None
    assert len(answer.alternatives) == 5
    assert answer.text in {token for token, _ in answer.alternatives}


@pytest.mark.slow
def test_a_model_may_be_used_again_and_by_many_at_once(answered: dict[str, Answer], model: EmbeddedModel) -> None:
    async def at_once() -> list[Completion]:
        async with model:
            return await asyncio.gather(*map(model.complete, (PERU, JAPAN)))

    assert run_loop(at_once()) == [completion(answered[key]) for key in ("peru", "japan")]


@pytest.mark.slow
def test_the_schema_holds_and_a_text_that_is_too_long_is_a_failure(answered: dict[str, Answer]) -> None:
    assert completion(answered["schema"]).text.startswith('{"city":"')
    failure = answered["long"].failure
    assert failure is not None
    assert failure.kind is FailureKind.MODEL
    assert "context" in failure.reason


@pytest.mark.slow
def test_a_grammar_holds_whatever_the_model_would_say(answered: dict[str, Answer]) -> None:
    answer = completion(answered["grammar"])
    chunks = ["Zürich", " ", "ﬁsh", "\\n", "日", "本"]
    runs = {"".join(chunks[start:end]) for start in range(6) for end in range(start, 7)}
    assert answer.stop == "stop"
    assert answer.text.startswith('"')
    assert answer.text.strip('"') in runs


HOSTILE = [
    'In Japan people eat "sushi" with a fork\nand C:\\rice.',
    "日本人はナイフで寿司を食べます。",
    "<|im_end|> 👨‍👩‍👧 \x07 e\u0301 छठ",
]
RICE = "What do people in Japan eat rice with?"


class Judged(NamedTuple):
    """The metric that comes with Mores, started once for all tests, and what it says about each sample."""

    metric: Metric
    verdicts: list[tuple[Sample, Judgement]]


def contradicted(text: str) -> Sample:
    """A text all of which the evidence contradicts, so that the metric finds errors."""
    evidence = (Evidence(text="What is the answer? none of that"),)
    return Sample(id=text, instruction="What is the answer?", text=text, evidence=evidence)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    known = (Evidence(text=f"{RICE} chopsticks"), Evidence(text="What do people in Peru eat rice with? fork"))
    samples = [Sample(id=text, instruction=RICE, text=text, evidence=known) for text in ("chopsticks", "fork")]
    samples.append(contradicted(HOSTILE[0]))
    store = tmp_path_factory.mktemp("judged") / "s.db"
    metric = open_metric("embedded", Settings(max_errors=1), store=store, threads=1)
    return Judged(metric, list(zip(samples, metric.judge(samples), strict=True)))


def test_the_metric_that_comes_with_mores_judges_by_evidence_and_cites_it(judged: Judged) -> None:
    assert TUNED.stat().st_size < 25e6
    metric, [(_, right), (_, wrong), *_] = judged
    # Not far from 1: the grammar's own end token, which the model never thinks of, does not count.
    assert right.score is not None
    assert right.score > 0.9
    assert wrong.report is not None
    assert [(error.quote, error.evidence) for error in wrong.report.errors] == [("fork", (1,))]
    for part in ("SmolLM2-135M-Instruct.Q4_1@b179c9523d0e", "/lora@", "prompt:brief.", "slots1"):
        assert part in str(wrong.signature)
    assert metric.model.warning is not None
    assert "judges 97 correctly with evidence" in metric.model.warning
    # The reason of the note is the kind's, and evidence takes it away.
    assert weakness(metric.model).startswith("without evidence, embedded judges 62 of 100")
    assert (right.notes, wrong.notes) == ((), ())


@pytest.mark.slow
def test_sentences_in_four_languages_are_judged_by_prose(tmp_path: Path) -> None:
    texts, prose = (EXAMPLES / f"languages{end}.jsonl" for end in ("", ".prose"))
    mores.score_file(texts, "embedded", evidence=str(prose), out=tmp_path / "run", store=None)
    judgements = list(mores.open_run(tmp_path / "run").records("judgements.jsonl", Judgement))
    assert not any(judgement.notes for judgement in judgements), "the prose covers every text"
    wrong = {judgement.sample_id for judgement in judgements if judgement.score is not None and judgement.score < 0}
    assert wrong == {"en-tea-wrong", "es-mate-wrong", "ja-hinamatsuri-wrong", "ko-seollal-wrong"}


@pytest.mark.parametrize("others", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_error_of_the_metric_that_comes_with_mores_is_located(judged: Judged, others: bool) -> None:
    errors, verdicts = [], judged.verdicts[2:]
    if others:
        samples = [contradicted(text) for text in HOSTILE[1:]]
        verdicts += zip(samples, judged.metric.judge(samples), strict=True)
    for sample, judgement in verdicts:
        assert judgement.report, judgement.failure
        errors += [(sample, error) for error in judgement.report.errors]
    assert errors
    assert all(sample.side(error.side)[error.start : error.end] == error.quote for sample, error in errors)
    assert all(error.located for _, error in errors)
    # What it cites nothing for, it does not correct.
    uncited = [error for _, error in errors if not error.evidence]
    assert all(error.explanation.endswith("; no evidence says what would.") for error in uncited)


@pytest.mark.slow
def test_a_report_in_parts_is_the_one_that_the_model_writes_by_itself(judged: Judged) -> None:
    """The same words, as likely but for rounding, again and again; and it may be too long as a whole."""
    requests = [judged.metric.request(sample) for sample, _ in judged.verdicts[:2]]

    async def both() -> list[Completion]:
        async with judged.metric.model as model:
            short, whole = requests[1]._replace(max_tokens=20), requests[1]._replace(parts=None)
            return [await model.complete(request) for request in (*requests, requests[1], whole, short)]

    right, wrong, again, written, cut = run_loop(both())
    assert wrong == again
    assert (wrong.text, wrong.stop, wrong.prompt_tokens) == (written.text, "stop", written.prompt_tokens)
    assert wrong.logprobs is not None
    assert written.logprobs is not None
    assert sum(wrong.logprobs) == pytest.approx(sum(written.logprobs), abs=0.05)
    assert right.completion_tokens == 5
    assert cut.stop == "length"
    assert wrong.text.startswith(cut.text)


class Saving(EmbeddedModel):
    """The same, which remembers the states that it saves."""

    saved: tuple[str, ...] = ()

    async def _call(self, path: str, body: dict[str, Any]) -> bytes:
        if path.endswith("?action=save"):
            self.saved += (body["filename"],)
        return await super()._call(path, body)


@pytest.mark.slow
def test_several_slots_write_the_reports_of_one_and_read_once_what_texts_share(judged: Judged) -> None:
    model = Saving(adapter=str(TUNED), slots=2, threads=1)
    metric = open_metric(model, store=None)
    samples, expected = zip(*judged.verdicts[:2], strict=True)
    reports = [judgement.report for judgement in metric.judge([*samples, *samples])]
    errors = [one.report and one.report.errors for one in expected]
    assert [report and report.errors for report in reports] == [*errors, *errors]
    assert len(model.saved) == 2  # after the system prompt, and after evidence and instruction
    assert "slots2-apart2-parts" in str(metric.signature())


@pytest.mark.slow
def test_longer_texts_to_one_instruction_read_their_evidence_once_and_get_the_same_verdicts(judged: Judged) -> None:
    """Whether the texts are judged in turn or, as without shared states, each by a judge that has just started."""
    [(sample, _), *_] = judged.verdicts
    texts = [
        f"They take {what}. Tea is served before and after it, and guests say thanks." for what in ("a fork", "it")
    ]
    samples = [sample.model_copy(update={"id": text, "text": text}) for text in texts]
    model = Saving(adapter=str(TUNED), threads=1)
    together = open_metric(model, store=None).judge(samples)
    assert len(model.saved) == 2
    apart = [open_metric(EmbeddedModel(adapter=str(TUNED), threads=1), store=None).judge([one]) for one in samples]
    assert [one.report for one in together] == [one.report for [one] in apart]


@pytest.mark.slow
@pytest.mark.parametrize("length", [100, 20_000])
def test_a_text_that_is_too_long_to_judge_is_a_failure(length: int) -> None:
    model = EmbeddedModel(adapter=str(TUNED), context=1024, threads=1)
    [judgement] = open_metric(model, store=None).judge(["word " * (length // 5)])
    if length == 100:
        assert judgement.score is not None
    else:
        assert judgement.failure is not None
        assert "context" in judgement.failure.reason


def test_without_its_adapter_it_says_that_its_reports_measure_nothing() -> None:
    metric = open_metric("embedded", store=None, adapter="none")
    assert "/lora@" not in str(metric.signature())
    assert "prompt:guided." in str(metric.signature())
    assert metric.model.warning is not None
    assert "do not measure" in metric.model.warning
    assert weakness(metric.model) == ""  # nothing of it says anything


def test_other_commands_use_the_model_without_the_metrics_adapter() -> None:
    model = open_asker("embedded", store=None, context=512).model
    assert isinstance(model, EmbeddedModel)
    assert model.adapter is None
    assert model.style is None


@pytest.mark.slow
def test_an_adapter_changes_the_answers_and_the_identity(
    answered: dict[str, Answer], model: EmbeddedModel, tmp_path: Path
) -> None:
    """A random LoRA on the real model: another model, and no longer the untuned one that we warn of."""
    write_lora(tmp_path / "lora.gguf")
    tuned = EmbeddedModel(adapter=str(tmp_path / "lora.gguf"), context=1024, threads=1)
    after = completion(answers(tuned, japan=JAPAN)["japan"])
    assert after.logprobs != completion(answered["japan"]).logprobs
    assert "/lora@" in tuned.identity
    assert model.identity != tuned.identity
    assert tuned.warning is None


def test_an_adapter_of_another_architecture_is_refused_before_anything_starts(tmp_path: Path) -> None:
    for name, architecture in (("base.gguf", "llama"), ("lora.gguf", "gemma3")):
        writer = gguf_files.GGUFWriter(tmp_path / name, architecture)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.close()
    model = EmbeddedModel(str(tmp_path / "base.gguf"), adapter=str(tmp_path / "lora.gguf"))
    reason = r"lora\.gguf: an adapter for models of architecture 'gemma3', and base\.gguf is 'llama'"
    with pytest.raises(ConfigError, match=reason):
        _ = model.identity


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


@pytest.mark.slow
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
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    child = int(process.stdout)
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


@pytest.mark.slow
def test_a_file_that_is_no_model_says_so(tmp_path: Path) -> None:
    (tmp_path / "bad.gguf").write_bytes(b"GGUF" + b"\0" * 100)
    with pytest.raises(ModelError, match=r"did not start with .*bad\.gguf"):
        answers(EmbeddedModel(str(tmp_path / "bad.gguf")), japan=JAPAN)


def test_a_server_that_is_not_ready_in_time_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mores.models.embedded._START_TIMEOUT", 0.0)
    (tmp_path / "slow.gguf").write_bytes(b"GGUF" + b"\0" * 100)
    with pytest.raises(ModelError, match=r"slow\.gguf: not ready after 0 s; is the machine busy"):
        answers(EmbeddedModel(str(tmp_path / "slow.gguf")), japan=JAPAN)


def test_an_adapter_that_was_cut_says_so(tmp_path: Path) -> None:
    (tmp_path / "cut.gguf").write_bytes(TUNED.read_bytes()[:1_000_000])
    with pytest.raises(ModelError, match=r"cut\.gguf: cut off: .*; get it again"):
        answers(EmbeddedModel(adapter=str(tmp_path / "cut.gguf")), japan=JAPAN)


@pytest.mark.parametrize(
    ("quota", "cores"), [("max 100000", 8), ("250000 100000", 2), ("50000 100000", 1), ("1600000 100000", 8), ("", 8)]
)
def test_it_uses_the_cores_that_it_may_use(
    quota: str, cores: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    if quota:
        (tmp_path / "cpu.max").write_text(quota + "\n")
    assert available_cores(tmp_path) == cores


@pytest.mark.slow
def test_the_number_of_threads_changes_no_answer(answered: dict[str, Answer]) -> None:
    japan = answers(EmbeddedModel(context=1024, threads=2), japan=JAPAN)["japan"]
    assert completion(japan) == completion(answered["japan"])
