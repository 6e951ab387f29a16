"""The measures of judges on JuICE."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from mores.formatting import number, percent
from mores.types import MUCH_MISSING, Record, Result, Signature

THRESHOLD = 0.5
"""A marked span finds an error from this intersection over union on."""
STATISTICS = {
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "f1_overlap": "F1 (any overlap)",
    "sentence_precision": "sentence precision",
    "sentence_recall": "sentence recall",
    "sentence_f1": "sentence F1",
}
"""Every statistic with its name."""
JudgeKind = Literal["metric", "model", "human", "baseline"]


class Published(Record):
    """Figures of the paper and of its page, https://jinjh0123.github.io/JuICE, for comparison."""

    judge: str
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None


PUBLISHED = (
    Published(judge="gemini-3.1-pro-preview", precision=0.48, recall=0.57, f1=0.52),
    Published(judge="gpt-5.5", precision=0.46, recall=0.56, f1=0.51),
)
"""The best two judges of the paper."""
PUBLISHED_HUMAN = 0.50
"""The best recall of errors that people found."""
PUBLISHED_RECALL = {
    "Explicit Linguistic Error": (0.37, 0.72),
    "Cultural Inaccuracy": (0.41, 0.72),
    "Implicit Linguistic Error": (0.29, 0.58),
    "Cultural Specificity Error": (0.30, 0.51),
    "Cultural Connotation Error": (0.28, 0.60),
    "Cultural Incoherence": (0.25, 0.48),
    "Cultural Missingness": (0.21, 0.35),
}
"""The lowest and the highest recall of the paper's judges, by category."""


class JuiceScore(Record):
    """One judge on JuICE."""

    judge: str
    kind: JudgeKind
    """A metric that was tested; a detector of the file, a person or a model, against the others; or a baseline."""
    answers: int
    """Answers that it judged."""
    unscored: int = 0
    """Answers that it could not judge."""
    failures: dict[str, int] = Field(default_factory=dict)
    """These by kind of failure; `missing` if there is no judgement."""
    predicted: int
    """Errors that it marked."""
    unlocated: int = 0
    """Of these, those whose words are not in the answer; they count as marked and find nothing."""
    in_request: int = 0
    """Errors that it marked in the request, which JuICE does not ask for; they are in no number."""
    errors: int
    """Errors that could be found."""
    scores: dict[str, Result]
    """By the names of `STATISTICS`."""
    recall: dict[str, Result]
    """The share found of the errors that are thin, thick, of each category and type, and found by people or models."""
    by: dict[str, dict[str, Result]]
    """F1 by `region`, `language` and `language_type`."""
    signature: Signature = Signature()

    @property
    def f1(self) -> float | None:
        """F1 of spans, if there is something to find or something marked."""
        return self.scores["f1"].value

    @property
    def missing(self) -> float:
        """The share of the answers that it could not judge."""
        return self.scores["f1"].missing


class Juice(Record):
    """Judges on JuICE."""

    data: str
    """Name of the file."""
    revision: str
    """Hash of the file."""
    threshold: float
    """A marked span finds an error from this intersection over union on."""
    answers: int
    sentences: int
    annotations: int
    """What detectors marked, however often the same."""
    errors: int
    """What they marked as one error."""
    categories: dict[str, int]
    """Errors by category; one may have several."""
    unlocated: int
    """Annotations whose words are not in the answer."""
    lost: int
    """Errors of which no annotation could be located: nobody can find them, and they are in no number."""
    elsewhere: int
    """Annotations that were found outside of the paragraphs that they name."""
    judges: tuple[JuiceScore, ...]
    """Metrics in the order in which they were asked for, baselines, then the detectors of the file."""
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> JuiceScore | None:
        """The metric with the highest F1; if none was tested, the model among the file's detectors."""
        for kind in ("metric", "model"):
            measured = [judge for judge in self.judges if judge.f1 is not None and judge.kind == kind]
            if measured:
                return max(measured, key=lambda judge: judge.f1 or 0.0)
        return None

    @property
    def headline(self) -> str:
        """The best judge in one line."""
        best = self.best
        if best is None:
            return "no metric and no model marked a span"
        scores = {name: number(best.scores[name].value) for name in ("f1", "precision", "recall")}
        values = f"F1 {scores['f1']} (precision {scores['precision']}, recall {scores['recall']})"
        against = "" if best.kind == "metric" else " against the other detectors"
        lack = f"; {percent(best.missing)} of the answers were not judged" if best.missing > MUCH_MISSING else ""
        return f"{best.judge}: {values} of spans{against} at an overlap of {self.threshold:g}{lack}"

    @property
    def decided(self) -> bool:
        """True if so few answers are missing that metrics can be told apart; F1 of spans has no bounds."""
        return all(judge.missing <= MUCH_MISSING for judge in self.judges)

    @property
    def silent(self) -> list[str]:
        """The metrics that could judge no answer."""
        return [judge.judge for judge in self.judges if judge.kind == "metric" and not judge.answers]
