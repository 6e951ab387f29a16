"""The check of a judge (`mores judge-check`): how often it grades correctly, and what it prefers."""

from __future__ import annotations

from mores.benchmark.judge_check import JudgeCheckRun, Probe
from mores.formatting import between, count, number, percent, points, share_between, show_failures, to
from mores.report.base.blocks import Hero, PageBlock, Paragraph, Section, key
from mores.report.base.charts import IntervalRow, Intervals
from mores.report.base.document import ResultDocument
from mores.report.base.grid import Grid, make_grid, share_cell


def describe(run: JudgeCheckRun) -> ResultDocument:
    """Return the share that is graded correctly, by kind of answer and language, the grades, and the bias."""
    check, agreement = run.result, run.result.agreement
    groups = {"": {"all": agreement}, "by answer": check.probes, "by language": check.languages}
    rows = [
        (heading, [(name, share_cell(result), result.n, result.unscored) for name, result in results.items()])
        for heading, results in groups.items()
        if results
    ]
    notes = [
        f"{name}: called " + ", ".join(f"{grade.replace('_', ' ')} {n:,}" for grade, n in counts.items())
        for name, counts in check.grades.items()
    ]
    notes += [
        f"{name}: called correct {points(bias.value)} points more often ({to(bias.low, bias.high)})"
        for name, bias in check.biases.items()
    ]
    protocols: list[PageBlock] = []
    if other := check.protocol:
        also = "" if other.kappa is None else f"; Cohen’s κ {number(other.kappa, 3)}"
        share, n = share_between(other.agreement), other.agreement.n
        same = f"MSQA’s protocol: the same grade for {share} of {n:,} answers{also}"
        notes += [same, f"MSQA’s protocol grades {share_between(other.known)} correctly"]
        names = list(dict.fromkeys(name for counts in other.grades.values() for name in counts))
        cells = [(name.replace("_", " "), *map(counts.get, names)) for name, counts in other.grades.items()]
        columns = ("our protocol", *(name.replace("_", " ") for name in names))
        protocols = [Paragraph(f"{same}."), make_grid("Grades by MSQA’s protocol", columns, cells)]
    kappa = "" if check.kappa is None else f" Cohen’s κ is {number(check.kappa, 3)}."
    interval = f", 95% interval {between(agreement)}" if agreement.value is not None else ""
    by_people = f" “{Probe.LABELLED}”: what people graded." if Probe.LABELLED in check.probes else ""
    failures = run.manifest.failures
    overall: list[PageBlock] = [
        Hero(
            percent(agreement.value),
            "graded correctly",
            words=f"of {agreement.n:,} answers{interval}.{kappa}",
            counts=f"In no number: {show_failures(failures)}." if failures else "",
        ),
        Intervals("Graded correctly, by kind of answer", [IntervalRow(*probe) for probe in check.probes.items()]),
        key("The answers are made from the benchmark’s own, so that their grade is known." + by_people),
    ]
    grades = list(dict.fromkeys(grade for counts in check.grades.values() for grade in counts))
    graded = make_grid(
        "Grades by kind of answer",
        ("answer", *(grade.replace("_", " ") for grade in grades)),
        [(name, *map(counts.get, grades)) for name, counts in check.grades.items()],
    )
    languages = [IntervalRow(*language) for language in check.languages.items()]
    bias: list[PageBlock] = []
    if check.biases:
        biases = [IntervalRow(*each) for each in check.biases.items()]
        lead = "How much more often an answer is called correct because it has many words, in percentage points."
        bias = [Paragraph(lead), Intervals("Many words", biases, unit="points", zero="no bias")]
    by_language = [Intervals("Graded correctly, by language", languages)] if languages else []
    answers = count(agreement.n + agreement.unscored)
    return ResultDocument(
        "check of a judge",
        "How well a judge grades",
        [Grid(("answers", "graded correctly", "n", "unscored"), rows, notes=notes), check.headline],
        [
            Section("agreement", "Agreement", overall),
            Section("grades", "Grades", [graded] if grades else []),
            Section("languages", "Languages", by_language),
            Section("bias", "Bias", bias),
            Section("protocols", "Protocols", protocols),
        ],
        facts={"Judge": check.judge, "Benchmark": run.manifest.name, "Answers": answers},
        signatures=[(check.judge, check.signature)],
    )
