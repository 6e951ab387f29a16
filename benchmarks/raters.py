"""How often careless annotators are found and honest ones flagged, and how often intervals hold what is true.

    python benchmarks/raters.py --docs docs/rate.md             # a table, in some minutes
    python benchmarks/raters.py --studies 20 --only nested --out benchmarks/results/raters.jsonl

Simulated studies with three models, two types and five languages (`tests/stats/raters/simulated.py`). In each, either
everybody is honest, or one person answers at random, always alike, in a hurry, or by the place of the answer. A study
counts as `false` when an honest person is flagged; `stated` is what `find_careless` itself says about how probably
somebody who answers at random is found, on average. Without a careless person, intervals of the differences between
models, of severities and of the drift of a person who grows severe are held against the truth.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path
from typing import Any, get_args

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402

from mores.stats.intervals import Z95, share_interval  # noqa: E402
from mores.stats.mixed import Fit, MixedModel, contrasts, fit  # noqa: E402
from mores.stats.raters import Conduct, annotator_drift, annotator_severity, find_careless  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.stats.raters.simulated import Careless, Plan, Study, draw_study  # noqa: E402

DESIGNS = {
    "nested": (Plan(annotators=3, questions=10, spread=0.2), ("language/annotator", "question")),
    "longer": (Plan(annotators=3, questions=20, spread=0.2), ("language/annotator", "question")),
    "alone": (Plan(annotators=1, questions=20, spread=0.2), ("language/annotator",)),
}
"""Three people for each language with 60 or 120 ratings each, and one for each language with 120."""
DESIGN_WORDS = {
    "nested": "15 raters in 5 languages, 60 ratings each",
    "longer": "15 raters in 5 languages, 120 ratings each",
    "alone": "5 raters, one in each language, 120 ratings each",
}
KINDS = {
    "nobody": "nobody",
    "random": "answers at random",
    "straight": "always gives the same rating",
    "hasty": "answers in a hurry",
    "first": "goes by the place on the screen",
}
DRIFT = -3.0


def flagged(study: Study, random: tuple[str, ...]) -> tuple[set[str], float]:
    """Who is called careless, and the power that is stated."""
    result = fit(MixedModel("rating", ("model*type",), random), study.columns)
    known = Conduct(study.numbers("order"), study.numbers("seconds"), study.numbers("position"))
    people = find_careless(result, study.columns["annotator"], known)
    return {str(s.annotator) for s in people if s.flagged}, float(np.mean([s.power for s in people if s.power]))


def measure_careless(design: str, careless: Careless | None, studies: int) -> dict[str, Any]:
    """Over so many studies: in how many the careless person is flagged, and in how many an honest one."""
    plan, random = DESIGNS[design]
    plan = Plan(annotators=plan.annotators, questions=plan.questions, spread=plan.spread, careless=careless)
    bad = {plan.careless_person} if careless else set()
    results = [flagged(draw_study(plan, np.random.default_rng(seed)), random) for seed in range(studies)]
    return {
        "design": design,
        "careless": careless or "nobody",
        "studies": studies,
        "found": sum(bad <= names for names, _ in results) if careless else None,
        "false": sum(bool(names - bad) for names, _ in results),
        "stated": round(float(np.mean([power for _, power in results])), 2),
    }


def measure_coverage(studies: int) -> dict[str, Any]:
    """Shares of 95% intervals that hold the truth, without a careless person."""
    plan = Plan(annotators=3, questions=10, drift=DRIFT)
    held: dict[str, list[bool]] = {"differences": [], "severities": [], "drift": []}
    for seed in range(studies):
        study = draw_study(plan, np.random.default_rng(seed))
        result = fit(MixedModel("rating", ("model*type",), DESIGNS["nested"][1]), study.columns)
        held["differences"] += hold_differences(result, plan)
        held["severities"] += hold_severities(result, study)
        drifts = annotator_drift(result, study.columns["annotator"], study.numbers("order"))
        held["drift"] += [
            drift.low <= (DRIFT if drift.annotator == plan.drifting else 0.0) <= drift.high
            for drift in drifts.people
            if drift.low is not None and drift.high is not None
        ]
    return {what: {"held": sum(values), "of": len(values)} for what, values in held.items()}


def hold_differences(result: Fit, plan: Plan) -> list[bool]:
    return [
        abs(c.estimate - plan.difference(str(c.first["model"]), str(c.second["model"]))) <= Z95 * c.se
        for c in contrasts(result, ("model",))
    ]


def hold_severities(result: Fit, study: Study) -> list[bool]:
    """A person's severity beside that of the others of the language."""
    held = []
    for s in annotator_severity(result, study.columns, "language:annotator").people:
        person = str(s.annotator[1])  # type: ignore[index]
        others = [value for name, value in study.severity.items() if name[:2] == person[:2]]
        truth = study.severity[person] - float(np.mean(others))
        held.append(s.low is not None and s.high is not None and s.low <= truth <= s.high)
    return held


def tabulate(design: str, rows: list[dict[str, Any]]) -> list[str]:
    """Return the lines of a design, the last with the false alarms of all its studies."""
    of = [row for row in rows if row["design"] == design]
    lines = [
        f"| {DESIGN_WORDS[design]} | {KINDS[row['careless']]} | {row['studies']} | "
        f"{'' if row['found'] is None else format(row['found'] / row['studies'], '.0%')} | "
        f"{format(row['stated'], '.0%') if row['careless'] == 'random' else ''} | {row['false'] / row['studies']:.0%} |"
        for row in of
    ]
    false, studies = (sum(row[name] for row in of) for name in ("false", "studies"))
    return [*lines, f"| {DESIGN_WORDS[design]} | all of these | {studies} |  |  | {false / studies:.0%} |"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=40)
    parser.add_argument("--only", choices=DESIGNS, action="append", help="may be given several times")
    parser.add_argument("--out", type=Path, help="file for a line for each design and kind, written as they are done")
    parser.add_argument("--docs", type=Path, help="page with the table, between its two comments")
    parser.add_argument("--read", type=Path, help="file with lines, instead of simulating")
    given = parser.parse_args()
    rows = [json.loads(line) for line in given.read.read_text("utf-8").splitlines()] if given.read else []
    for design in [] if given.read else given.only or DESIGNS:
        for careless in (None, *get_args(Careless)):
            rows.append(measure_careless(design, careless, given.studies))
            print(json.dumps(rows[-1]), flush=True)
            if given.out:
                given.out.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    if given.docs:
        lines = [line for design in dict.fromkeys(row["design"] for row in rows) for line in tabulate(design, rows)]
        names = (
            "design",
            "the careless person",
            "studies",
            "found",
            "power that is stated",
            "a careful person flagged",
        )
        head = [f"| {' | '.join(names)} |", "| --- | --- | ---: | ---: | ---: | ---: |"]
        marks = "<!-- benchmarks/raters.py -->", "<!-- end of benchmarks/raters.py -->"
        table = "\n".join([marks[0], "", *head, *lines, "", marks[1]])
        text = re.sub(f"{marks[0]}.*{marks[1]}", lambda _: table, given.docs.read_text("utf-8"), flags=re.DOTALL)
        given.docs.write_text(text, "utf-8")
    coverage = {} if given.read or given.docs else measure_coverage(given.studies)
    for what, counts in coverage.items():
        low, high = share_interval(counts["held"], counts["of"])
        print(f"{what}: {counts['held'] / counts['of']:.1%} of {counts['of']} held ({low:.1%} to {high:.1%})")


if __name__ == "__main__":
    main()
