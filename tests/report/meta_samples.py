"""Made-up meta-evaluations: a full one with eight sources and twelve metrics, and one of which nothing is known."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

from mores.factory.gold import Gold
from mores.factory.items import Task
from mores.metaevaluation.records import (
    STATISTICS,
    AnnotationTable,
    Curve,
    Disagreement,
    LeaveOneOut,
    Meta,
    MetricComparison,
    MetricEvaluation,
    ScoreBins,
)
from mores.stats.calibration import FIGURES
from mores.types import ErrorReport, Result, Sample, Severity, Signature
from tests.report.samples import EID, SEDER, SHRINE, lost, mistake

SOURCES = {
    "GlobalOpinionQA": 820, "INCLUDE": 790, "BLEnD": 610, "NormAd": 540,
    "CulturalBench": 410, "MANGO": 320, "EPIC": 250, "CaLMQA": 160,
}  # fmt: skip
LANGUAGES = {
    "en": 1900, "zh": 512, "ar": 480, "de": 410, "ja": 333, "es": 290, "hi": 204, "fa": 130, "he": 101, "sw": 100,
    "ta": 64, "yo": 9, "": 3,
}  # fmt: skip
REGIONS = {"US": 420, "JP": 400, "EG": 380, "DE": 310, "IN": 240, "IR": 170, "IL": 120, "KE": 88, "NG": 61, "XX": 2}
COUNTS = {
    "source": SOURCES,
    "language": LANGUAGES,
    "region": REGIONS,
    "subregion": {"IN-AS": 140, "NG-NORTH": 61},
    "task": {"qa": 2300, "freeform": 1000, "impersonation": 600},
    "kind": {"hard": 2400, "soft": 1500},
}
METRICS = {
    "ExCAM-r (Gemma3-27B)": 0.591,
    "ExCAM-r (Phi-3-mini)": 0.492,
    "Phi-4 counting": 0.351,
    "Phi-4 counting + p(R)": 0.346,
    "DeepSeek-R1-Distill-14B counting": 0.331,
    "Gemma3-27B counting": 0.311,
    "Mistral-24B counting": 0.282,
    "Qwen3-14B counting": 0.280,
    "Phi-3-mini counting": 0.270,
    "perplexity (Qwen3-0.6B)": 0.08,
    "length": 0.03,
    "always 0": 0.0,
}
"""The first nine are those of ExCAM, Table 4."""
BASELINES = ("length", "always 0")


def result(name: str, value: float | None, n: int = 3900, unscored: int = 0, width: float = 0.02) -> Result:
    if value is None:
        return Result(name=name, value=None, n=n, unscored=unscored)
    return Result(name=name, value=value, low=value - width, high=value + width, n=n, unscored=unscored)


def evaluation(metric: str, skill: float, rng: random.Random) -> MetricEvaluation:
    """A metric whose numbers follow from its skill, with some noise."""
    unscored = rng.choice([0, 0, 3, 41])
    by = {
        grouping: {
            group: {
                "scaled_accuracy": result("scaled_accuracy", _noisy(skill, n, rng), n, unscored * n // 3900, n**-0.5)
            }
            for group, n in groups.items()
        }
        for grouping, groups in COUNTS.items()
    }
    rates = [i / 40 for i in range(41)]
    up = [rate ** (1 / (1 + 5 * skill)) for rate in rates]
    base = {name: result(name, skill * 0.95 + 0.02 * i) for i, name in enumerate(STATISTICS) if not _of_quality(name)}
    base["tie_accuracy"], base["auc"] = result("tie_accuracy", 0.4 + 0.47 * skill), result("auc", 0.5 + skill / 1.7)
    base["scaled_accuracy"] = result("scaled_accuracy", skill, 3900 - unscored, unscored)
    quality = {
        name: result(name, skill * 0.8 if "ExCAM" in metric else None) for name in STATISTICS if _of_quality(name)
    }
    return MetricEvaluation(
        metric=metric,
        signature=Signature(task="meta", version="1", metric=metric, data="excam40k", seed="0", mores="0.1.0"),
        n=3900 - unscored,
        unscored=unscored,
        failures={"parse": unscored - 1, "missing": 1} if unscored else {},
        scores=base | quality,
        by=by,
        roc=Curve(x=tuple(rates), y=tuple(up)),
        pr=Curve(x=tuple(rates), y=tuple(1 - rate * (0.5 - 0.4 * skill) for rate in rates)),
        distribution=_bars(skill, rng),
        tie_epsilon=0.0,
        calibration={name: result(name, skill) for name in FIGURES} if "ExCAM" in metric else {},
        baseline=metric in BASELINES,
    )


def _of_quality(name: str) -> bool:
    return name.startswith(("span", "explanation"))


def _noisy(skill: float, n: int, rng: random.Random) -> float:
    spread: float = n**-0.5
    return max(-1.0, min(1.0, skill + rng.gauss(0, 1.2) * spread - (0.1 if n == 250 else 0)))


def _bars(skill: float, rng: random.Random) -> ScoreBins:
    edges = tuple(float(edge) for edge in range(-12, 2))
    means = {"correct": 0.0, "hard": -8 * skill, "soft": -5 * skill}
    counts = {kind: [0] * 13 for kind in means}
    for kind, mean in means.items():
        for _ in range(900):
            counts[kind][min(12, max(0, int(rng.gauss(mean, 2) + 12)))] += 1
    return ScoreBins(edges=edges, counts={kind: tuple(row) for kind, row in counts.items()})


def gold(sample: Sample, *errors: Any, why: str = "") -> Gold:
    report = ErrorReport(errors=errors, explanation=why)
    kind = "soft" if errors else "correct"
    return Gold(
        sample=sample, report=report, task=Task.FREEFORM, kind=kind, maker="rule:numbers", item=f"made-up/{sample.id}"
    )


def disagreements(metrics: list[str], rng: random.Random) -> tuple[Disagreement, ...]:
    clap = mistake(SHRINE, "clap ten times", Severity.MAJOR, "misrepresentation", "One claps twice.")
    tip = mistake(SHRINE, "ten times, shout", Severity.MINOR, "stereotyping", "Nobody shouts.")
    fast = mistake(EID, "يصوم المصريون طوال النهار", Severity.MAJOR, "factual error", "Nobody fasts on Eid.")
    golds = [
        gold(SHRINE, clap, tip, lost("a golden bell", Severity.MINOR, "invention", "")),
        gold(EID, fast, why="عيد الفطر يأتي بعد رمضان، ولا صوم فيه."),
        gold(SEDER),
        *(gold(SHRINE.model_copy(update={"id": f"more-{i}"}), clap) for i in range(5)),
    ]
    return tuple(
        Disagreement(gold=row, scores={m: rng.choice([-10.0, -5.0, -1.0, 0.931, 0.5, None]) for m in metrics})
        for row in golds
    )


def left_out(metric: str, skill: float, rng: random.Random) -> LeaveOneOut:
    def tested(out: str, source: str) -> Result:
        loss = 0.15 if out == source else 0.01
        return result("scaled_accuracy", _noisy(skill - loss, SOURCES[source], rng), SOURCES[source], 0, 0.03)

    matrix = {out: {source: tested(out, source) for source in SOURCES} for out in ("none", *SOURCES)}
    values = [matrix[source][source].value or 0 for source in SOURCES]
    whole = result("scaled_accuracy", skill, sum(SOURCES.values()), 0, 0.02)
    return LeaveOneOut(metric=metric, matrix=matrix, average=sum(values) / len(values), trained_on_all=whole)


VOTES = (
    AnnotationTable(
        title="Votes of three annotators (N=80), per cent",
        columns=("3/3", "2/3", "1/3", "0/3"),
        rows={
            "Culture rel.": ("87.5", "10.0", "2.5", "0.0"),
            "Error valid (strict)": ("61.2", "22.5", "11.2", "5.0"),
            "Expl. valid": ("78.8", "18.8", "1.2", "1.2"),
        },
        note="Strict: every span is truly part of an error.",
    ),
)


def made_up(metrics: dict[str, float] | None = None, **changes: Any) -> Meta:
    """Eight sources and twelve metrics, with every part filled."""
    rng = random.Random(7)
    metrics = METRICS if metrics is None else metrics
    pairs = list(combinations(metrics, 2))
    differences = [(a, b, s, metrics[a] - metrics[b]) for s in ("scaled_accuracy", "kendall") for a, b in pairs]
    whole = {
        "data": "ExCAM40k",
        "revision": "sha256:4f1c9a7e20d3b6c1",
        "split": "test",
        "n": 3900,
        "counts": COUNTS,
        "evaluations": tuple(evaluation(metric, skill, rng) for metric, skill in metrics.items()),
        "comparisons": tuple(
            MetricComparison(
                first=a, second=b, statistic=s, difference=d, low=d - 0.03, high=d + 0.03,
                p=0.0004 if d > 0.03 else 0.3, adjusted=0.0009 if d > 0.03 else 0.41, n=3850,
            )
            for a, b, s, d in differences
        ),
        "group_comparisons": tuple(
            MetricComparison(
                first=next(iter(metrics)), second=other, statistic="scaled_accuracy", difference=0.2, low=0.1, high=0.3,
                p=0.001, adjusted=0.002 if source != "CaLMQA" else 0.2, n=90, grouping="source", group=source,
            )
            for source in SOURCES
            for other in list(metrics)[1:]
        ),
        "shortcut": result("scaled_accuracy", 0.16),
        "leave_one_out": tuple(left_out(m, skill, rng) for m, skill in list(metrics.items())[:2]),
        "disagreements": disagreements(list(metrics), rng),
        "votes": VOTES,
        "notes": ("BLEU was left out: it needs references, and this split has none.",),
    }  # fmt: skip
    return Meta(**(whole | changes))


def bare(*, metrics: int = 1, **changes: Any) -> Meta:
    """Nothing is known but the names of the metrics."""
    none = {name: Result(name=name, value=None) for name in STATISTICS}
    evaluations = tuple(
        MetricEvaluation(
            metric=f"m{i}", signature=Signature(), n=0, unscored=5, scores=none, by={"source": {"a": none}}
        )
        for i in range(metrics)
    )
    return Meta(
        **({"data": "d", "revision": "r", "split": "s", "n": 5, "counts": {}, "evaluations": evaluations} | changes)
    )
