"""The page of the check of a judge."""

from __future__ import annotations

from mores.benchmark.judge_check import JudgeCheckRun, Probe
from mores.formatting import NOTHING, between, number, percent, show_failures
from mores.report.base.blocks import Block, Hero, Section, Table, Text, key
from mores.report.base.charts import Intervals, Row
from mores.report.base.page import Page, render, signatures_section
from mores.report.base.sheet import Cell, Head, Sheet


def run_page(run: JudgeCheckRun) -> str:
    """Return the page of a run."""
    check = run.result
    facts = {
        "Judge": check.judge,
        "Benchmark": run.manifest.name,
        "Answers": f"{check.agreement.n + check.agreement.unscored:,}",
    }
    return render(Page("report bench", "check of a judge", "How well a judge grades", run_sections(run), facts))


def run_sections(run: JudgeCheckRun) -> list[Section]:
    """The share that is graded correctly, by kind of answer and language, the grades, and the bias of long answers."""
    check, failures = run.result, run.manifest.failures
    kappa = "" if check.kappa is None else f" Cohen’s κ is {number(check.kappa, 3)}."
    interval = f", 95% interval {between(check.agreement)}" if check.agreement.value is not None else ""
    ungraded = f"In no number: {show_failures(failures)}." if failures else ""
    words = f"of {check.agreement.n:,} answers{interval}.{kappa}"
    by_people = f" “{Probe.LABELLED}”: what people graded." if Probe.LABELLED in check.probes else ""
    overall: list[Block] = [
        Hero(percent(check.agreement.value), "graded correctly", words=words, counts=ungraded),
        Intervals("Graded correctly, by kind of answer", [Row(*probe) for probe in check.probes.items()]),
        key("The answers are made from the benchmark’s own, so that their grade is known." + by_people),
    ]
    grades = list(dict.fromkeys(grade for counts in check.grades.values() for grade in counts))
    counts = check.grades.values()
    cells = [[Cell(f"{each[grade]:,}" if grade in each else NOTHING) for grade in grades] for each in counts]
    columns = [Head(grade.replace("_", " ")) for grade in grades]
    sheet = Sheet("Grades by kind of answer", [Head(name) for name in check.grades], columns, cells)
    languages = [Row(*language) for language in check.languages.items()]
    bias: list[Block] = []
    if check.biases:
        rows = [Row(*each) for each in check.biases.items()]
        lead = "How much more often an answer is called correct because it has many words, in percentage points."
        bias = [Text(lead), Intervals("Many words", rows, unit="points", zero="no bias")]
    return [
        Section("agreement", "Agreement", overall),
        Section("grades", "Grades", [Table(sheet)] if grades else []),
        Section("languages", "Languages", [Intervals("Graded correctly, by language", languages)] if languages else []),
        Section("bias", "Bias", bias),
        signatures_section([(check.judge, check.signature)]),
    ]
