"""The share of votes that adaptive redundancy saves at the accuracy of five votes on every item.

    python benchmarks/redundancy.py                              # a table, in a few minutes
    python benchmarks/redundancy.py --campaigns 10 --only mixed --json

Simulated campaigns with people of known skill. Every person's answer to every item is drawn once, and so is the order
in which an item meets people; the fixed and the adaptive way then read the same answers. Fixed: each item gets the same
number of votes. Adaptive: each gets two, then one more in every round while its label is less probable than a
threshold, up to nine; skills are fitted again after every round. Both take their labels from the same Dawid-Skene model
of their votes, so that the difference is who is asked, not how votes are counted. Where the accuracy of the adaptive
way, between two thresholds, is that of five votes, its votes are counted. Intervals are of 95%, over campaigns.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mores.stats.annotators import fit_dawid_skene
from mores.stats.annotators.redundancy import Redundancy
from mores.stats.resampling import draw_counts, percentiles

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.stats.annotators.simulated import Crowd, draw_crowd

Floats = npt.NDArray[np.float64]
FIXED, MOST = 5, 9
THRESHOLDS = (0.7, 0.8, 0.85, 0.9, 0.925, 0.95, 0.97, 0.98, 0.99)


@dataclass(frozen=True)
class Scenario:
    """Who votes on what."""

    what: str
    labels: int
    accuracy: tuple[float, float]
    hard: float = 0.0
    """The share of items on which everybody knows a third as much."""
    symmetric: bool = True
    """Whether the model knows that labels are interchangeable."""


SCENARIOS = {
    "mixed": Scenario("four options, people 50-95% correct", 4, (0.5, 0.95)),
    "alike": Scenario("four options, everybody 80% correct", 4, (0.8, 0.8)),
    "yes-no": Scenario("two labels, people 60-95% correct, confusion matrices", 2, (0.6, 0.95), symmetric=False),
    "hard": Scenario("four options, people 50-95% correct, a fifth of the items hard", 4, (0.5, 0.95), 0.2),
}


def label_alike(crowd: Crowd, symmetric: bool) -> tuple[float, float]:
    """The shares of correct labels with the same number of votes on every item: the model's and the majority's."""
    table = crowd.table(FIXED)
    best = fit_dawid_skene(table, symmetric=symmetric, tolerance=1e-4).posterior.argmax(axis=1)
    most = table.counts == table.counts.max(axis=1, keepdims=True)
    majority = most[np.arange(len(best)), crowd.truth] / most.sum(axis=1)  # ties are decided by chance
    return float((best == crowd.truth).mean()), float(majority.mean())


def ask_adaptively(crowd: Crowd, rule: Redundancy, symmetric: bool) -> tuple[float, float, float]:
    """Mean votes, accuracy, and the accuracy of the labels that were probable enough."""
    votes = np.full(len(crowd.truth), rule.least, dtype=np.intp)
    while True:
        posterior = fit_dawid_skene(crowd.table(votes), symmetric=symmetric, tolerance=1e-4).posterior
        sure = posterior.max(axis=1) >= rule.threshold
        ask = ~sure & (votes < rule.most)
        if not ask.any():
            break
        votes[ask] += 1
    correct = posterior.argmax(axis=1) == crowd.truth
    return float(votes.mean()), float(correct.mean()), float(correct[sure].mean()) if sure.any() else float("nan")


def spent_alike(fixed: float, adaptive: Floats) -> float:
    """Votes of the adaptive way (thresholds × votes, accuracy) where it is as accurate; nan where it never is."""
    votes, accuracy = adaptive[:, 0], np.maximum.accumulate(adaptive[:, 1])
    if not accuracy[0] <= fixed <= accuracy[-1]:
        return float("nan")
    return float(np.interp(fixed, accuracy, votes))


def measure(scenario: Scenario, campaigns: int, items: int, people: int) -> dict[str, Any]:
    """Both ways over many campaigns."""
    fixed, adaptive = np.zeros((campaigns, 2)), np.zeros((campaigns, len(THRESHOLDS), 3))
    for campaign in range(campaigns):
        rng = np.random.default_rng(campaign)
        crowd = draw_crowd(items, people, scenario.labels, rng, accuracy=scenario.accuracy, hard=scenario.hard)
        fixed[campaign] = label_alike(crowd, scenario.symmetric)
        for place, threshold in enumerate(THRESHOLDS):
            rule = Redundancy(least=2, most=MOST, threshold=threshold)
            adaptive[campaign, place] = ask_adaptively(crowd, rule, scenario.symmetric)
    drawn = np.concatenate(list(draw_counts(campaigns))) / campaigns
    saved = [
        1 - spent_alike(float(share @ fixed[:, 0]), np.einsum("c,ctv->tv", share, adaptive[..., :2])) / FIXED
        for share in (np.full(campaigns, 1 / campaigns), *drawn)
    ]
    known = np.array(saved[1:])
    low, high = percentiles(known) if not np.isnan(known).all() else (float("nan"), float("nan"))
    return {
        "scenario": scenario.what,
        "accuracy": float(fixed[:, 0].mean()),
        "majority": float(fixed[:, 1].mean()),
        "saved": saved[0],
        "low": low,
        "high": high,
        "not_reached": float(np.isnan(known).mean()),
        "adaptive": [
            {"threshold": threshold, "votes": votes, "accuracy": accuracy, "accuracy_when_sure": sure}
            for threshold, (votes, accuracy, sure) in zip(
                THRESHOLDS, np.nanmean(adaptive, axis=0).tolist(), strict=True
            )
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=60)
    parser.add_argument("--items", type=int, default=200, help="of each campaign")
    parser.add_argument("--people", type=int, default=30, help="of each campaign")
    parser.add_argument("--only", choices=SCENARIOS, action="append", help="may be given several times")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    results = {}
    for name in given.only or SCENARIOS:
        print(f"{name}: {given.campaigns} campaigns", file=sys.stderr)
        results[name] = measure(SCENARIOS[name], given.campaigns, given.items, given.people)
    if given.json:
        print(json.dumps(results))
        return
    for result in results.values():
        print(f"\n{result['scenario']}")
        print(f"{FIXED} votes on each item: {result['accuracy']:.1%} correct, {result['majority']:.1%} by majority")
        print("threshold  votes  correct  correct when sure")
        for row in result["adaptive"]:
            print(f"{row['threshold']:9} {row['votes']:6.2f} {row['accuracy']:8.1%} {row['accuracy_when_sure']:18.1%}")
        print(f"votes saved at equal accuracy: {result['saved']:.1%} ({result['low']:.1%} to {result['high']:.1%})")


if __name__ == "__main__":
    main()
