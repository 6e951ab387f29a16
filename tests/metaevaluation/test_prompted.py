"""Models that are asked for a number: the prompts of the paper, what is read from answers, and what is not."""

from __future__ import annotations

import math
from functools import partial
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.engine import Answer, Job
from mores.engine.loop import run
from mores.errors import ConfigError, InputError
from mores.metaevaluation.baselines import BASELINES
from mores.metaevaluation.prompted import KINDS, NO_LOGPROBS, Prompted
from mores.metaevaluation.scorers import ASKED, MetricScorer, read_judgements, scorer
from mores.metric import Metric, Settings, open_metric
from mores.models import Completion, Request
from mores.models.fake import FakeModel
from mores.settings.files import ModelConfiguration, read_settings_file
from mores.types import Failure, FailureKind, Judgement, Sample

SAMPLE = Sample(id="s", instruction="What do {Text} Germans eat?", text="Only {Instruction} Schnitzel.")
PAIR = "Input: ’What do {Text} Germans eat?’\nOutput: ’Only {Instruction} Schnitzel.’\n"
BRIEFLY = "Please think step-by-step VERY BRIEFLY. Then return "
CULTURE = "Do not take anything besides cultural correctness into account. "
TABLE_11 = {
    "count": "Please evaluate the cultural correctness of this instruction and the text that was generated from it.\n"
    "Instruction: ’What do {Text} Germans eat?’\nText: ’Only {Instruction} Schnitzel.’\n"
    f"{BRIEFLY}the error count. {CULTURE}If the instruction or the text is culturally correct, the error count should "
    "be 0. At the end, return your final count in the format ’COUNT: count’.",
    "severity": f"Please judge the severity of cultural errors in this input-output pair.\n{PAIR}{BRIEFLY}your "
    f"judgment. {CULTURE}Return one of the following: none, minor, major, critical\nAt the end, return your final "
    "judgment in the format ’Severity: severity’.",
    "binary": f"Please judge whether the following input-output pair is culturally problematic.\n{PAIR}{BRIEFLY}the "
    "judgment. At the end, return your final judgment in the format ’Problem: no problem/very problematic’.",
}  # fmt: skip


def ask(kind: str, completion: Completion, plus_p: bool = False) -> Judgement:
    """The judgement in this answer."""
    asked = Prompted(kind, open_metric(FakeModel("x", lambda _: completion), store=None), plus_p)
    [judgement] = collect(asked, [SAMPLE])
    return judgement


def collect(asked: Prompted, samples: list[Sample]) -> list[Judgement]:
    async def every() -> list[Judgement]:
        return [judgement async for _, judgement in asked.stream(samples)]

    return run(every())


def answer_always(answer: Completion, _: Request) -> Completion:
    return answer


def test_what_could_not_be_read_is_asked_for_again_where_failures_are(tmp_path: Path) -> None:
    for says, retry, failed in (("Hm.", False, True), ("COUNT: 2", False, True), ("COUNT: 2", True, False)):
        model = FakeModel("x", partial(answer_always, Completion(says)))
        metric = open_metric(model, store=tmp_path / "s.db", retry_failed=retry)
        [judgement] = collect(Prompted("count", metric), [SAMPLE])
        assert (judgement.failure is not None) == failed


# The prompts


@pytest.mark.parametrize("kind", KINDS)
def test_the_prompts_are_those_of_table_11(kind: str) -> None:
    request = Prompted(kind, open_metric("fake:clean", store=None)).request(SAMPLE)
    assert isinstance(request, Request)
    [message] = request.messages
    assert message.role == "user"
    assert message.content == TABLE_11[kind]


def test_every_kind_has_a_prompt_and_a_name() -> None:
    names = {Path(entry.name).stem for entry in files("mores.metaevaluation").joinpath("prompts").iterdir()}
    assert set(KINDS) <= names
    assert set(TABLE_11) == set(KINDS)
    assert {"excam", "count", "count+p", "severity", "severity+p", "binary", "binary+p"} == set(ASKED)


def test_what_cannot_be_sent_is_not() -> None:
    def never(_: Request) -> Completion:
        pytest.fail("was sent")

    asked = Prompted("count", open_metric(FakeModel("x", never), Settings(max_characters=10), store=None))
    [judgement] = collect(asked, [SAMPLE])
    assert judgement.failure is not None
    assert judgement.failure.kind is FailureKind.INPUT


# Answers


@pytest.mark.parametrize(
    ("kind", "text", "score"),
    [
        ("count", "COUNT: 2", -2),
        ("count", "COUNT: 0", 0),
        ("count", "count:3", -3),
        ("count", "Two things are wrong.\n\n**COUNT: 2**", -2),
        ("count", "**COUNT:** 2", -2),
        ("count", "**COUNT**: **2**", -2),
        ("count", "__COUNT:__ 2", -2),
        ("count", "’COUNT: 12’.", -12),
        ("count", "\"COUNT\": \"1\"", -1),
        ("count", "`COUNT: 1`", -1),
        ("count", "COUNT：4", -4),
        ("count", "最终COUNT：4个", -4),
        ("count", "COUNT: [1]", -1),
        ("count", "\\boxed{COUNT: 1}", -1),
        ("count", "COUNT: 2 errors", -2),
        ("count", "COUNT: 2 (1 in the text, 1 in the instruction)", -2),
        ("count", "COUNT: 1. The dish is Austrian.", -1),
        ("count", "COUNT:\n2", -2),
        ("count", "**COUNT:**\n\n**2**\n", -2),
        ("count", "At first I thought COUNT: 3, but one is right.\nCOUNT: 2", -2),
        ("count", "COUNT: 1\nSo there is none after all.\nCOUNT: 0\n", 0),
        ("count", "The format is ’COUNT: count’.\nCOUNT: 5", -5),
        ("count", "I count: nothing. COUNT: 1", -1),
        ("severity", "Severity: none", 0),
        ("severity", "Severity: Minor", -1),
        ("severity", "severity: MAJOR.", -5),
        ("severity", "**Severity: critical**", -10),
        ("severity", "Severity: minor (not major)", -1),
        ("severity", "Severity: minor\nNo: it is worse.\n**Severity**: *major*", -5),
        ("severity", "Severity：none", 0),
        ("severity", "I pick from none, minor, major, critical. Severity: minor", -1),
        ("severity", "Severity: none/minor/major/critical\nSeverity: major", -5),
        ("binary", "Problem: no problem", 0),
        ("binary", "Problem: very problematic", -1),
        ("binary", "Problem: Very  Problematic.", -1),
        ("binary", "**Problem:** ’no problem’", 0),
        ("binary", "The format is ’Problem: no problem/very problematic’.\nProblem: very problematic", -1),
        ("binary", "Problem: very problematic\nI see no problem.", -1),
    ],
)  # fmt: skip
def test_answers_that_are_read(kind: str, text: str, score: float) -> None:
    judgement = ask(kind, Completion(text))
    assert judgement.failure is None
    assert judgement.score == score
    assert math.copysign(1, judgement.score) == (-1 if score < 0 else 1)  # no -0.0
    assert judgement.report is None


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("count", "There are two errors."),
        ("count", "COUNT: count"),
        ("count", "COUNT: two"),
        ("count", "COUNT 2"),
        ("count", "Account: 2"),
        ("count", "Your discount: 20"),
        ("count", "COUNT: 1.5"),
        ("count", "COUNT: 1,000"),
        ("count", "COUNT: 2-3"),
        ("count", "COUNT: 0/1"),
        ("count", "COUNT: 0 or 1"),
        ("count", "COUNT: **1** to **2**"),
        ("count", "COUNT: -1"),
        ("count", "COUNT: 1234567"),
        ("count", "COUNT: 2nd"),
        ("count", "Error count:\n1. The dish is Austrian.\n2. The year is wrong."),
        ("severity", "Severity: severity"),
        ("severity", "Severity: moderate"),
        ("severity", "Severity: minority"),
        ("severity", "Severity: none/minor/major/critical"),
        ("severity", "Severity: none, minor, major, critical"),
        ("severity", "Severity: minor or major"),
        ("severity", "Severity: 'minor' / 'major'"),
        ("severity", "Severity: minor–major"),
        ("severity", "It is none of these: minor."),
        ("binary", "Problem: no problem/very problematic"),
        ("binary", "’Problem: no problem / very problematic’"),
        ("binary", "Problem: [no problem|very problematic]"),
        ("binary", "Problem: no problem or very problematic"),
        ("binary", "Problem: problematic"),
        ("binary", "Problem: not very problematic"),
        ("binary", "Problem: no"),
        ("binary", "There is no problem"),
    ],
)  # fmt: skip
def test_answers_that_are_no_grade(kind: str, text: str) -> None:
    judgement = ask(kind, Completion(text))
    assert judgement.score is None
    assert judgement.failure is not None
    assert judgement.failure.kind is FailureKind.PARSE
    assert f"has no line `{KINDS[kind].shown}`" in judgement.failure.reason
    assert repr(text[-60:]) in judgement.failure.reason


@pytest.mark.parametrize("text", ["Let me think", "", "COUNT:", "COUNT: 1", "COUNT: 0\nOr rather COUNT: 1"])
def test_an_answer_that_was_cut_off(text: str) -> None:
    """Also at a number, of which digits may be missing."""
    judgement = ask("count", Completion(text, stop="length"))
    assert judgement.failure is not None
    assert judgement.failure.kind is FailureKind.TRUNCATED


def test_an_answer_that_was_cut_off_after_its_line() -> None:
    assert ask("count", Completion("COUNT: 1\n\nThe dish is", stop="length")).score == -1


def test_an_answer_that_was_withheld() -> None:
    judgement = ask("count", Completion("", stop="content_filter"))
    assert judgement.failure is not None
    assert judgement.failure.kind is FailureKind.FILTERED


def test_a_call_that_failed_keeps_its_reason() -> None:
    failure = Failure(kind=FailureKind.MODEL, reason="no answer")
    asked = Prompted("count", open_metric("fake:clean", store=None))
    [job] = asked.jobs([SAMPLE])
    judgement = asked.read(Answer(job, None, failure))
    assert (judgement.score, judgement.failure) == (None, failure)
    assert isinstance(job, Job)


@given(st.text())
def test_any_answer_is_a_grade_or_a_failure(text: str) -> None:
    asked = {kind: Prompted(kind, open_metric("fake:clean", store=None)) for kind in KINDS}
    for kind, one in asked.items():
        [job] = one.jobs([SAMPLE])
        judgement = one.read(Answer(job, Completion(text + "\n"), None))
        assert (judgement.score is None) == (judgement.failure is not None), kind


@given(st.integers(0, 999_999), st.sampled_from(["", "**", "'", "`", "’", "__"]), st.sampled_from(["", " ", ".", "\n"]))
def test_any_count_between_any_marks(number: int, mark: str, end: str) -> None:
    [found] = KINDS["count"].line.findall(f"Hm.\n{mark}COUNT: {number}{mark}{end}")
    assert int(found) == number


# +p


def test_plus_p_is_the_probability_of_an_answer_without_error() -> None:
    logprobs = (-0.1, -0.3, -0.8)
    found = ask("count", Completion("COUNT: 0", logprobs), plus_p=True)
    assert found.score == pytest.approx(math.exp(-0.4))
    assert found.notes == ()
    assert found.judge == "count+p:fake:x"
    assert ask("count", Completion("COUNT: 2", logprobs), plus_p=True).score == -2
    assert ask("severity", Completion("Severity: none", logprobs), plus_p=True).score == pytest.approx(math.exp(-0.4))
    assert ask("count", Completion("COUNT: 0", logprobs)).score == 0


def test_plus_p_without_log_probabilities_is_noted() -> None:
    found = ask("count", Completion("COUNT: 0"), plus_p=True)
    assert (found.score, found.notes) == (0.0, (NO_LOGPROBS,))
    assert ask("count", Completion("COUNT: 1"), plus_p=True).notes == ()
    assert ask("count", Completion("COUNT: 0")).notes == ()


def test_the_store_answers_plus_p(tmp_path: Path) -> None:
    asked: list[Request] = []

    def answer(request: Request) -> Completion:
        asked.append(request)
        return Completion("COUNT: 0", (-0.5,))

    metric = open_metric(FakeModel("x", answer), store=tmp_path / "s.db")
    samples = [SAMPLE, SAMPLE.model_copy(update={"id": "t", "text": "Another."})]
    plain = collect(Prompted("count", metric), samples)
    with_p = collect(Prompted("count", metric, plus_p=True), samples)
    assert len(asked) == 2
    assert [one.score for one in plain] == [0, 0]
    assert [one.score for one in with_p] == pytest.approx([math.exp(-0.5)] * 2)
    collect(Prompted("severity", metric), samples)
    assert len(asked) == 4


def test_the_signature_says_what_must_be_the_same() -> None:
    metric = open_metric("fake:clean", Settings(max_tokens=7), store=None)
    signatures = [Prompted(kind, metric, plus_p).signature() for kind in KINDS for plus_p in (False, True)]
    assert len(set(signatures)) == 6
    fields = signatures[1]
    assert fields["metric"] == "count+p.1"
    assert fields["model"] == "fake:clean"
    assert "max7" in fields["decoding"]
    assert signatures[0]["prompt"] == fields["prompt"] != signatures[2]["prompt"]


# Names


@pytest.mark.parametrize("name", ["excam:fake:clean", "count+p:openai:x/y", "a/b.jsonl", "{source}.jsonl", *BASELINES])
def test_names_that_are_known(name: str) -> None:
    found = scorer(name)
    assert found == MetricScorer(name)
    assert found.baseline == (name in BASELINES)
    assert found.file == name.endswith(".jsonl")


def test_a_scripted_model_is_a_model_and_no_file(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"contains": "", "answer": "COUNT: 3"}\n')
    found = scorer(f"count+p:fake:{tmp_path}/s.jsonl")
    assert not found.file
    opened = found.open(lambda model: open_metric(model, store=None))
    assert isinstance(opened, Prompted)
    assert (opened.kind, opened.plus_p) == ("count", True)
    assert collect(opened, [SAMPLE])[0].score == -3
    assert isinstance(scorer("excam:fake:clean").open(lambda model: open_metric(model, store=None)), Metric)


def test_one_for_each_source() -> None:
    found = scorer("excam:hf:lora-{source}")
    assert found.split
    assert found.without("blend").name == "excam:hf:lora-blend"
    assert not found.without("blend").split


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("wrods", "did you mean 'words'"),
        ("exam:openai:x", "did you mean 'excam:openai:x'"),
        ("cuont+p:x", "did you mean 'count[+]p:x'"),
        ("count", "which model[?] For example count:embedded"),
        ("excam:", "which model[?]"),
        ("???", "there are excam:MODEL, count:MODEL, .*always, .*FILE.jsonl"),
        ("judgements.json", "unknown metric 'judgements.json'; there are"),
    ],
)
def test_names_that_are_not(name: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        scorer(name)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('{"sample_id":"a","judge":"j","score":1}\n' * 2, "'a' is judged twice"),
        ('{"sample_id":"a","judge":"j","score":NaN}\n', "the score of 'a' is nan"),
        ('{"sample_id":"a","judge":"j","score":-Infinity}\n', "the score of 'a' is -inf"),
        ('{"sample_id":"a","judge":"j"}\n', "f.jsonl:1: .*either a score or a failure"),
        ('{"id":"a","text":"x"}\n', "f.jsonl:1: .*expected a Judgement"),
    ],
)
def test_files_that_are_not_judgements(tmp_path: Path, lines: str, words: str) -> None:
    (tmp_path / "f.jsonl").write_text(lines)
    with pytest.raises(InputError, match=words):
        read_judgements(tmp_path / "f.jsonl")


TABLE_6 = {
    "ds-r1-14b": (0.6, 0.9, 40, 2048),
    "gemma3-27b": (0.0, None, None, 1024),
    "mistral-24b": (0.0, None, None, 1024),
    "phi-3m-4k": (0.0, None, None, 512),
    "phi-4": (0.0, None, None, 1024),
    "qwen3-14b": (0.6, 0.95, 20, 2048),
}


def test_the_baselines_of_table_6_are_named_configurations() -> None:
    tables = read_settings_file(Path(__file__).parents[2] / "examples" / "excam.toml").table("models")
    made = {name: ModelConfiguration(**table) for name, table in tables.items()}
    assert {name: (c.temperature, c.top_p, c.top_k, c.max_tokens) for name, c in made.items()} == TABLE_6
