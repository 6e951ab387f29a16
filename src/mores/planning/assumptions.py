"""The assumptions of a plan: values of the papers, of a pilot (a run of `mores rate` or `mores bench`), or given."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median

import numpy as np
from scipy.stats import norm

from mores.benchmark.folder import BenchRun
from mores.errors import ConfigError, InputError
from mores.planning.records import Assumed
from mores.rating.folder import RateRun
from mores.rating.ratings import Rating
from mores.run import Run, open_run

CALMQA = "CaLMQA's 300 ratings (Section 4): variances by moments; answer and residual cannot be told apart there"
USUAL = "items as difficult as usual"
PRESETS: Mapping[str, Mapping[str, Assumed]] = {
    "calmqa": {
        "ratings": Assumed(
            value=3.6, rater=0.69, slope=0.38, item=0.36, answer=0.68, residual=0.68, seconds=600, origin=CALMQA
        ),
        "wins": Assumed(value=0.6, slope=0.56, answer=1.0, seconds=600, origin=CALMQA),
    },
    "excam": {
        "scaled-accuracy": Assumed(value=0.591, item=1.0, origin=f"ExCAM, Table 4 (Gemma3); {USUAL}"),
        "correlation": Assumed(value=0.78, item=1.0, origin="ExCAM, Table 4: Kendall's 0.569 as sin(π·τ/2)"),
        "agreement": Assumed(value=0.3, seconds=180, origin="ExCAM, Table 3: Fleiss' κ of strictly valid errors"),
    },
    "culturalbench": {
        "accuracy": Assumed(value=0.615, item=1.0, origin=f"CulturalBench-Hard, o1; {USUAL}"),
    },
    "assumed": {
        "ratings": Assumed(
            value=3.0, rater=0.5, slope=0.2, item=0.5, answer=0.6, residual=0.7, seconds=120, origin="assumed"
        ),
        "wins": Assumed(value=0.6, slope=0.3, answer=0.8, seconds=60, origin="assumed"),
        "accuracy": Assumed(value=0.6, item=1.0, origin="assumed"),
        "scaled-accuracy": Assumed(value=0.5, item=1.0, origin="assumed"),
        "correlation": Assumed(value=0.7, item=1.0, seconds=120, origin="assumed"),
        "agreement": Assumed(value=0.6, rater=0.3, seconds=120, origin="assumed"),
        "span-f1": Assumed(value=0.5, item=0.5, seconds=180, origin="assumed"),
    },
}
"""Values by measure; the papers are in docs/plan.md."""


def assume(measure: str, pilots: Sequence[str | Path | Run], given: Mapping[str, float]) -> Assumed:
    """Return what is assumed of a measure: of presets or pilots, changed by what is given."""
    usual = next(preset[measure] for preset in PRESETS.values() if measure in preset)
    runs: list[Run] = []
    for pilot in pilots:
        if isinstance(pilot, str) and pilot in PRESETS:
            if measure not in PRESETS[pilot]:
                known = ", ".join(name for name, preset in PRESETS.items() if measure in preset)
                raise ConfigError(f"{pilot} has no values for {measure}; choose {known}, or a run", setting="pilot")
            usual = PRESETS[pilot][measure]
        else:
            if not isinstance(pilot, Run) and not Path(pilot).exists():
                names = ", ".join(PRESETS)
                raise ConfigError(f"{str(pilot)!r} is neither a run nor one of {names}", setting="pilot")
            runs.append(pilot if isinstance(pilot, Run) else open_run(pilot))
    if runs:
        usual = _of_runs(measure, runs, usual)
    if unknown := [name for name in given if name not in Assumed.model_fields or name == "origin"]:
        known = ", ".join(name for name in Assumed.model_fields if name != "origin")
        raise ConfigError(f"nothing is assumed about {unknown[0]!r}; choose from {known}", setting="assume")
    changed = ", ".join(f"{name} {value:g}" for name, value in given.items())
    return usual.model_copy(
        update={**given, "origin": "; ".join(filter(None, (usual.origin, changed and f"given: {changed}")))}
    )


def _of_runs(measure: str, runs: Sequence[Run], usual: Assumed) -> Assumed:
    names = ", ".join(str(run.path) for run in runs)
    rated = [run for run in runs if isinstance(run, RateRun)]
    benched = [run for run in runs if isinstance(run, BenchRun)]
    if measure in ("ratings", "wins", "agreement") and len(rated) == len(runs):
        found = components([rating for run in rated for rating in run.ratings()])
        origin = f"pilot {names}: " + (
            f"{', '.join(found.missing)} as usual" if found.missing else "variances by moments"
        )
        return found.read(measure, usual).model_copy(update={"origin": origin})
    if measure in ("accuracy", "scaled-accuracy") and len(benched) == len(runs):
        graded = [
            {name: share for name, question in run.graded().items() if (share := question.credit) is not None}
            for run in benched
        ]
        shares = [float(np.mean(list(each.values()))) for each in graded if each]
        if not shares:
            raise InputError(f"{names}: no answer is graded; use a finished run")
        value = 2 * max(shares) - 1 if measure == "scaled-accuracy" else max(shares)
        both = [name for name in graded[0] if name in graded[1]] if len(graded) > 1 else []
        update: dict[str, float | str] = {"value": value, "origin": f"pilot {names}"}
        if both:
            joint = float(np.mean([graded[0][name] * graded[1][name] for name in both]))
            first, second = (float(np.mean([credit[name] for name in both])) for credit in graded[:2])
            update["item"] = item_spread(first, second, joint)
        return usual.model_copy(update=update)
    needed = "runs of mores bench" if "accuracy" in measure else "runs of mores rate"
    raise ConfigError(f"{names}: a plan of {measure} takes {needed}, or give what is assumed", setting="pilot")


def item_spread(first: float, second: float, joint: float) -> float:
    """Return how far items differ in difficulty, if two models with these accuracies are both correct so often.

    A model is correct where a normal residual is below its level plus the item's easiness.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(64)
    weights = weights / weights.sum()

    def both(spread: float) -> float:
        levels = [norm.ppf(np.clip(share, 1e-3, 1 - 1e-3)) * np.sqrt(1 + spread**2) for share in (first, second)]
        return float(weights @ (norm.cdf(levels[0] + spread * nodes) * norm.cdf(levels[1] + spread * nodes)))

    low, high = 0.0, 4.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if both(middle) < joint else (low, middle)
    return round((low + high) / 2, 3)


class RatingComponents:
    """Standard deviations of ratings, as far as the design of a pilot tells them apart."""

    def __init__(self, found: Mapping[str, float | None], mean: float, seconds: float | None) -> None:
        self.found, self.mean, self.seconds = found, mean, seconds
        self.missing = [name for name, value in found.items() if value is None]

    def read(self, measure: str, usual: Assumed) -> Assumed:
        """Return what they say about a measure."""
        given = {name: getattr(usual, name) if value is None else value for name, value in self.found.items()}
        seconds = {"seconds": self.seconds} if self.seconds else {}
        if measure == "ratings":
            return usual.model_copy(update={**given, **seconds, "value": self.mean})
        if measure == "wins":
            unit = max(given["residual"], 1e-6)
            update = {"slope": given["slope"] / unit, "answer": given["answer"] / unit}
            return usual.model_copy(update=update | seconds)
        total = sum(given[name] ** 2 for name in ("rater", "slope", "item", "answer", "residual")) or 1.0
        agreed = (given["item"] ** 2 + given["answer"] ** 2) / total
        return usual.model_copy(
            update={"value": agreed, "rater": given["rater"], "residual": given["residual"], **seconds}
        )


def components(ratings: Iterable[Rating]) -> RatingComponents:
    """Return the standard deviations of ratings by moments: products of two that share a rater, an item, or both.

    Models differ in their means, which are taken off. A component that no two ratings show is None.
    """
    rated = [rating for rating in ratings if rating.rating is not None]
    if len(rated) < 2:
        raise InputError("the pilot has fewer than two ratings; use a finished run")
    values = np.array([rating.rating for rating in rated], dtype=float)
    mean, models = float(values.mean()), np.array([rating.model for rating in rated])
    for model in set(models):
        values[models == model] -= values[models == model].mean()
    keys: dict[str, list[object]] = {
        "r": [rating.annotator for rating in rated],
        "i": [rating.question_key for rating in rated],
        "m": [rating.model for rating in rated],
    }

    def products(*names: str) -> tuple[float, int]:
        sums: dict[tuple[object, ...], list[float]] = defaultdict(list)
        for place, value in enumerate(values):
            sums[tuple(keys[name][place] for name in names)].append(float(value))
        total = sum(sum(group) ** 2 - sum(one * one for one in group) for group in sums.values())
        return total, sum(len(group) ** 2 - len(group) for group in sums.values())

    shared = {name: products(*name) for name in ("r", "i", "ri", "rm", "im")}

    def covariance(name: str, *without: str) -> float | None:
        total, pairs = (shared[name][place] - sum(shared[other][place] for other in without) for place in (0, 1))
        return total / pairs if pairs > 0 else None

    rater, item = covariance("r", "ri", "rm"), covariance("i", "ri", "im")
    if item is None and rater is not None and (both := covariance("ri")) is not None:
        item = both - rater  # every item has one rater: what two answers to it share beyond the rater
    slope, answer = covariance("rm"), covariance("im")
    variances = {
        "rater": rater,
        "slope": None if slope is None or rater is None else slope - rater,
        "item": item,
        "answer": None if answer is None or item is None else answer - item,
    }
    known = sum(max(0.0, value) for value in variances.values() if value is not None)
    left = max(0.0, float(np.mean(values**2)) - known)
    if variances["answer"] is None:  # one rater for each answer: half of what is left is the answer's
        variances["answer"] = left = left / 2
    variances["residual"] = left
    found = {name: None if value is None else round(max(0.0, value) ** 0.5, 3) for name, value in variances.items()}
    timed = [rating.seconds for rating in rated if rating.seconds]
    return RatingComponents(found, mean, median(timed) if timed else None)
