"""The ExCAM metric inside other programs: texts that come one at a time, Inspect AI's scorer, evaluate's module."""

from __future__ import annotations

import json
import math
from concurrent.futures import wait
from pathlib import Path
from typing import Any, Self

import pytest

from mores.engine import Asker, Limits
from mores.errors import ModelError
from mores.harness import EXCAM
from mores.harness.live import LiveMetric
from mores.metric import Metric
from mores.metric.texts import Lookup
from mores.models.base import Completion, Request
from mores.models.fake import FakeModel
from mores.types import Sample
from tests.harness.conftest import inspect_model, needs

FORK, RICE = "In Japan people eat sushi with a fork.", "Rice is boiled."
FOUND = {"side": "text", "quote": "a fork", "severity": "major", "type": "custom", "explanation": "By hand."}
FINDING, CLEAN = (json.dumps({"errors": errors, "explanation": "Done."}) for errors in ([FOUND], []))


def reply(prompt: str) -> str:
    return "no report" if "nonsense" in prompt else FINDING if "a fork" in prompt else CLEAN


class Opened(FakeModel):
    """Counts how often it is opened and closed."""

    def __init__(self) -> None:
        self.opened, self.closed, self.broken = 0, 0, False
        super().__init__("opened", self._reply)

    async def __aenter__(self) -> Self:
        self.opened += 1
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.closed += 1

    def _reply(self, request: Request) -> Completion:
        if self.broken:
            raise ModelError("the server is gone")
        return Completion(reply(request.messages[-1].content))


def metric_of(model: FakeModel) -> Metric:
    return Metric(Asker(model, store=None, limits=Limits(attempts=1)))


def test_the_model_stays_open_between_texts() -> None:
    model = Opened()
    live = LiveMetric(metric_of(model))
    first = live.judge(Sample(id="1", text=FORK)).result(10)
    assert (first.score, first.report and first.report.errors[0].quote) == (-5.0, "a fork")
    futures = [live.judge(Sample(id=str(n), text=FORK if n % 2 else RICE)) for n in range(20)]
    assert not wait(futures, 10).not_done
    assert [future.result().score for future in futures] == [0.0, -5.0] * 10
    assert (model.opened, model.closed) == (1, 0)
    live.close()
    assert model.closed == 1


def test_a_judge_that_stops_is_started_again() -> None:
    model = Opened()
    live, model.broken = LiveMetric(metric_of(model)), True
    with pytest.raises(ModelError, match="the server is gone"):
        live.judge(Sample(id="1", text=FORK)).result(10)
    model.broken = False
    assert live.judge(Sample(id="1", text=FORK)).result(10).score == -5.0
    live.close()


def test_texts_are_looked_up_first(tmp_path: Path) -> None:
    (tmp_path / "facts.txt").write_text("Sushi is eaten by hand in Japan.\n")
    live = LiveMetric(metric_of(Opened()), Lookup(f"corpus:{tmp_path / 'facts.txt'}", 1))
    judgement = live.judge(Sample(id="1", text=FORK)).result(20)
    assert [piece.text for piece in judgement.evidence] == ["Sushi is eaten by hand in Japan."]
    live.close()


@needs("inspect_ai")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("by_name", [False, True])
def test_excam_scores_answers_in_inspect(by_name: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from inspect_ai import Task, score
    from inspect_ai import eval as evaluate
    from inspect_ai._eval.loader import scorer_from_spec
    from inspect_ai.dataset import MemoryDataset
    from inspect_ai.dataset import Sample as Asked
    from inspect_ai.scorer._scorer import ScorerSpec

    from mores.harness.inspect import excam

    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))
    judge = tmp_path / "judge.jsonl"
    words = (("nonsense", "no report"), ("a fork", FINDING), ("", CLEAN))
    judge.write_text("".join(json.dumps({"contains": word, "answer": text}) + "\n" for word, text in words))
    answers = {"one": FORK, "two": RICE, "three": "nonsense", "four": ""}
    samples = [Asked(id=name, input=name, target="x", metadata={"region": "Japan"}) for name in answers]
    model = inspect_model("m", answers.__getitem__)
    (log,) = evaluate(Task(MemoryDataset(samples)), model, log_dir=str(tmp_path))
    options = {"model": f"fake:{judge}"}
    scorer = scorer_from_spec(ScorerSpec("mores/excam"), None, **options) if by_name else excam(**options)
    scored = score(log, scorer, action="append")
    scores = {sample.id: sample.scores["excam"] for sample in scored.samples}
    assert scores["one"].value == -5.0
    assert scores["one"].explanation == "major, custom: “a fork”. By hand.\nDone."
    assert scores["two"].value == pytest.approx(math.exp(-0.1))
    assert math.isnan(scores["three"].value)
    assert "not JSON" in scores["three"].explanation
    assert math.isnan(scores["four"].value)
    assert scored.results.scores[-1].metrics["mean"].value == pytest.approx((-5 + math.exp(-0.1)) / 2)


@needs("evaluate")
@pytest.mark.filterwarnings("ignore")
def test_excam_in_evaluate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))
    import evaluate

    def load() -> Any:
        return evaluate.load(str(EXCAM), cache_dir=str(tmp_path / "cache"))

    judge = FakeModel("judge", lambda request: Completion(reply(request.messages[-1].content)))
    result = load().compute(predictions=[FORK, RICE, "nonsense"], model=judge, store=None)
    assert (result["scores"], result["mean_score"], result["unjudged"]) == ([-5.0, 0.0, None], -2.5, 1)
    assert result["errors"][0][0]["quote"] == "a fork"
    assert result["signature"].startswith("metric:excam.")
    seen: list[str] = []
    spy = FakeModel("spy", lambda request: seen.append(request.messages[-1].content) or Completion(CLEAN))  # type: ignore[func-returns-value]
    load().compute(predictions=[FORK], sources=["How is it eaten?"], references=["By hand."], model=spy, store=None)
    assert "How is it eaten?" in seen[0]
    assert "By hand." in seen[0]
    metric = load()
    metric.add(predictions=FORK)
    metric.add_batch(predictions=[RICE], sources=["And rice?"])
    assert metric.compute(model=judge, store=None)["scores"] == [-5.0, 0.0]
    with pytest.raises(ValueError, match="no predictions"):
        load().compute(references=["By hand."])
