"""The ExCAM metric as a module of Hugging Face's evaluate, which loads it by its path.

metric = evaluate.load(str(mores.harness.EXCAM))
metric.compute(predictions=["In Japan people eat sushi with a fork."], model="openai:gpt-4.1-mini")
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

import mores

DESCRIPTION = """Finds the cultural errors in texts, with a model as the judge, and scores each text: -1 for each minor
and -5 for each major error, or the judge's certainty, between 0 and 1, where it finds none. Higher is better."""
INPUTS = """
Args:
    predictions: the texts.
    sources: what was asked for, one instruction for each text (optional).
    references: what is known to be correct, one for each text; the judge sees it as evidence (optional).
    model: the judge: embedded, openai:NAME, hf:PATH, vllm:PATH (default: embedded).
    **options: what else mores.score takes, for example base_url and concurrency.
Returns:
    mean_score: the mean of the scores; None where no text could be judged.
    scores: one for each text; None where it could not be judged.
    errors: a list for each text: side, start, end, quote, severity, type, explanation.
    unjudged: how many texts could not be judged; they are in no mean.
    signature: what must be the same for two scores to be comparable.
"""
CITATION = "ExCAM, https://arxiv.org/abs/2605.29897"
COLUMNS = ("predictions", "sources", "references")


class Excam(evaluate.Metric):
    """ExCAM."""

    def _info(self) -> Any:
        features = datasets.Features({name: datasets.Value("string") for name in COLUMNS})
        return evaluate.MetricInfo(
            description=DESCRIPTION, citation=CITATION, inputs_description=INPUTS, features=features, homepage=CITATION
        )

    def add(self, **row: Any) -> None:
        """Add a text; what is optional may be left out."""
        super().add(**{name: row.get(name) or "" for name in COLUMNS})

    def add_batch(self, **columns: Any) -> None:
        """Add some texts; what is optional may be left out."""
        super().add_batch(**_complete(columns))

    def compute(self, **given: Any) -> Any:
        """Return the scores of these texts, or of those that were added."""
        columns = {name: given.pop(name) for name in COLUMNS if given.get(name) is not None}
        return super().compute(**(_complete(columns) if columns else {}), **given)

    def _compute(
        self, predictions: Sequence[str], sources: Sequence[str], references: Sequence[str],
        model: str = "embedded", **options: Any,
    ) -> dict[str, Any]:  # fmt: skip
        samples = [
            {"id": str(number), "instruction": source, "text": text, "evidence": [reference] if reference else []}
            for number, (text, source, reference) in enumerate(zip(predictions, sources, references, strict=True), 1)
        ]
        judgements = mores.score(samples, model, **options)
        scores = [judgement.score for judgement in judgements]
        judged = [score for score in scores if score is not None]
        reports = [judgement.report.errors if judgement.report else () for judgement in judgements]
        return {
            "mean_score": sum(judged) / len(judged) if judged else None,
            "scores": scores,
            "errors": [[error.model_dump(mode="json") for error in errors] for errors in reports],
            "unjudged": len(scores) - len(judged),
            "signature": " and ".join(sorted({str(judgement.signature) for judgement in judgements})),
        }


def _complete(columns: dict[str, Any]) -> dict[str, Any]:
    """Return all columns; those that are not given are empty."""
    if (texts := columns.get("predictions")) is None:
        raise ValueError("no predictions; give the texts: compute(predictions=[…])")
    return {name: columns[name] if columns.get(name) is not None else [""] * len(texts) for name in COLUMNS}
