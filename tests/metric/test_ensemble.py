"""Several judges for one text: errors merged by agreement, who found them, and the agreement of the judges."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import mores
from mores.engine import Asker
from mores.errors import ConfigError
from mores.metric.ensemble import EnsembleMetric, make_ensemble, merge
from mores.metric.metric import Metric
from mores.metric.summary import summarise
from mores.models.base import Completion, Request
from mores.models.fake import FakeModel
from mores.serve.service import Service
from mores.types import Error, ErrorReport, Failure, FailureKind, Judgement, Sample, Severity, Signature

TEXT = "At weddings in Japan guests wear white and bring knives as gifts."
SAMPLE = Sample(id="1", text=TEXT)


def error(quote: str, severity: Severity = Severity.MINOR, explanation: str = "") -> Error:
    start = TEXT.index(quote)
    return Error(
        side="text", start=start, end=start + len(quote), quote=quote, severity=severity, type="custom",
        explanation=explanation,
    )  # fmt: skip


def judged(name: str, *errors: Error, certainty: float | None = 0.8) -> Judgement:
    report = ErrorReport(errors=errors, explanation=f"by {name}", certainty=certainty)
    score = sum(each.severity.weight for each in errors) or certainty or 0.0
    return Judgement.of(SAMPLE, judge=name, score=score, report=report)


def merged(*judgements: Judgement) -> Judgement:
    return merge(SAMPLE, {each.judge: each for each in judgements}, "ensemble", Signature())


def test_a_majority_decides_and_each_error_says_who_found_it() -> None:
    result = merged(
        judged("a", error("wear white", Severity.MAJOR, "Only the bride does."), error("Japan")),
        judged("b", error("guests wear white", explanation="No.")),
        judged("c", error("white", Severity.MAJOR), error("knives")),
    )
    assert result.report is not None
    [found] = result.report.errors
    assert found.found_by == ("a", "b", "c")
    assert found.severity is Severity.MAJOR
    assert found.explanation == "Only the bride does."
    assert found.quote == TEXT[found.start : found.end] == "wear white", "the medians of begin and end"
    assert result.score == -5
    assert result.members == {"a": -6.0, "b": -1.0, "c": -6.0}
    [note] = result.notes
    assert note == "left out, as no majority found it: 2 errors ('Japan' by a; 'knives' by c)"


def test_of_two_judges_both_must_find_it_and_the_milder_severity_counts() -> None:
    both = merged(judged("a", error("knives", Severity.MAJOR)), judged("b", error("bring knives")))
    assert both.report is not None
    assert [each.severity for each in both.report.errors] == [Severity.MINOR]
    one = merged(judged("a", error("knives"), certainty=0.6), judged("b", certainty=0.9))
    assert one.report is not None
    assert one.report.errors == ()
    assert one.score == pytest.approx(0.75), "the mean of p(R)"
    assert one.report.explanation == "by b", "of the first who also found nothing"


def test_where_judges_agree_that_something_is_wrong_but_not_where() -> None:
    result = merged(judged("a", error("Japan")), judged("b", error("knives")), judged("c", error("bring knives")))
    assert result.report is not None
    assert [each.found_by for each in result.report.errors] == [("b", "c")]
    result = merged(judged("a", error("Japan")), judged("b", error("knives")), judged("c"))
    assert result.report is not None
    assert [each.found_by for each in result.report.errors] == [("a",)], "the strongest of those who found one"


def test_two_errors_of_one_judge_are_two_votes_for_no_place() -> None:
    result = merged(judged("a", error("wear white"), error("white")), judged("b"), judged("c"))
    assert result.report is not None
    assert result.report.errors == ()


def test_a_judge_that_fails_has_no_vote() -> None:
    failed = Judgement.of(SAMPLE, judge="c", failure=Failure(kind=FailureKind.PARSE, reason="no JSON"))
    result = merged(judged("a", error("knives")), judged("b", error("knives")), failed)
    assert result.score == -1
    assert result.notes == ("c gave no report: no JSON",)
    assert result.members["c"] is None
    none = merged(failed)
    assert none.failure is not None
    assert none.failure.reason == "c: no JSON"


def answering(name: str, quotes: Callable[[str], list[str]], delay: float = 0.0) -> Metric:
    class Slow(FakeModel):
        async def complete(self, request: Request) -> Completion:
            await asyncio.sleep(delay * random.random())
            return await super().complete(request)

    def reply(request: Request) -> Completion:
        found = [
            {"quote": quote, "severity": "minor", "type": "custom", "explanation": name, "side": "text"}
            for quote in quotes(request.messages[-1].content)
        ]
        return Completion(json.dumps({"errors": found, "explanation": name}), logprobs=(-0.1,))

    return Metric(Asker(Slow(name, reply), None))


def test_texts_stay_in_order_while_judges_have_their_own_speed() -> None:
    texts = [f"text number {number} is odd" if number % 2 else f"text number {number}" for number in range(60)]
    judges = [
        answering("a", lambda prompt: ["odd"] if "is odd" in prompt.rpartition("text number")[2] else [], 0.01),
        answering("b", lambda prompt: ["odd"] if "is odd" in prompt.rpartition("text number")[2] else []),
        answering("c", lambda _: []),
    ]
    metric = make_ensemble(judges)
    assert isinstance(metric, EnsembleMetric)
    judgements = metric.judge(texts)
    assert [judgement.text for judgement in judgements] == texts
    assert [judgement.score == -1 for judgement in judgements] == [number % 2 == 1 for number in range(60)]
    assert judgements[1].report is not None
    assert judgements[1].report.errors[0].found_by == ("fake:a", "fake:b")
    assert judgements[0].signature["model"] == "fake:a+fake:b+fake:c"
    agreement = summarise(judgements).agreement
    assert agreement is not None
    # Of 60 texts, 30 have two of three votes for an error: 30·4/2 = 60 unlike pairs in 180 votes.
    assert agreement.value == pytest.approx(1 - 179 * 60 / (2 * 60 * 120))
    assert agreement.low is not None
    assert agreement.low < 0.26 < (agreement.high or 0)


def test_a_service_with_several_judges() -> None:
    judges = [answering("a", lambda _: ["tea"], 0.01), answering("b", lambda _: ["tea"]), answering("c", lambda _: [])]

    async def ask() -> list[Judgement]:
        async with Service(make_ensemble(judges)) as service:
            while service.unready:  # noqa: ASYNC110 - nothing tells when
                await asyncio.sleep(0.01)
            batches = [
                service.submit([Sample(id=f"{n}.{m}", text=f"tea {n} {m}") for m in range(5)], client=str(n % 2))
                for n in range(4)
            ]
            said = []
            for batch in batches:
                said += [judgement async for arrived in batch.arrivals() for _, judgement in arrived]
            return said

    judgements = asyncio.run(ask())
    assert sorted(judgement.sample_id for judgement in judgements) == sorted(
        f"{n}.{m}" for n in range(4) for m in range(5)
    )
    assert {judgement.score for judgement in judgements} == {-1.0}
    assert {tuple(judgement.members) for judgement in judgements} == {("fake:a", "fake:b", "fake:c")}


def test_what_one_judge_cannot_do_ends_the_run() -> None:
    def broken(_: Request) -> Completion:
        raise ConfigError("no such model")

    metric = make_ensemble([answering("a", lambda _: []), Metric(Asker(FakeModel("b", broken), None))])
    with pytest.raises(ConfigError, match="no such model"):
        metric.judge(["a text"] * 5)


def test_score_and_meta_take_an_ensemble(tmp_path: Path) -> None:
    run = mores.score_file(write_texts(tmp_path), "fake:clean", ensemble=["fake:first-word"], out=tmp_path / "run")
    assert {judgement.judge for judgement in run.judgements()} == {"ensemble:fake:clean,fake:first-word"}
    assert all(judgement.score is not None and judgement.score > 0 for judgement in run.judgements())
    [judgement] = mores.score(["Tea is served."], "ensemble:fake:first-word,fake:first-word")
    assert judgement.report is not None
    assert judgement.report.errors[0].found_by == ("fake:first-word", "fake:first-word (2)")


def write_texts(folder: Path) -> str:
    path = folder / "texts.jsonl"
    path.write_text("".join(json.dumps({"id": str(n), "text": f"Tea number {n} is served."}) + "\n" for n in range(5)))
    return str(path)


def test_the_table_of_the_docs_is_what_the_simulation_saved() -> None:
    root = Path(__file__).parents[2]
    saved = [json.loads(line) for line in (root / "benchmarks/results/ensemble.jsonl").read_text("utf-8").splitlines()]
    page = (root / "docs" / "score.md").read_text("utf-8")
    table = page.split("| judges | best single | ensemble |")[1].split("\n\n")[0].splitlines()[2:]
    simulated = [row for row in saved if "scenario" in row]
    shown = [[float(cell.strip(" %")) for cell in line.split("|")[2:4]] for line in table]
    assert shown == [
        [round(100 * max(row["single"].values()), 1), round(100 * row["ensemble"], 1)] for row in simulated
    ]
