"""Judged texts for hosted continuous integration: JUnit XML, and lines that it shows beside the file (docs/ci.md)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from mores.gate import TextGate
from mores.io import write_text
from mores.io.samples import SampleTable
from mores.metric.folder import ScoreRun
from mores.metric.summary import doubt, errors
from mores.metric.texts import Texts
from mores.types import Judgement

NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Finding(NamedTuple):
    """Something about a text that a reviewer should see."""

    level: str
    """As an annotation: `error`, `warning` or `notice`."""
    tag: str
    """As an element of JUnit."""
    title: str
    message: str


def find(judgement: Judgement, gate: TextGate) -> Iterator[Finding]:
    """Yield what there is to see: errors that the gate forbids, all of them if it forbids none, are failures."""
    if judgement.failure:
        yield Finding("warning", "error", "not judged", judgement.failure.reason)
    elif (reason := doubt(judgement)) and not errors(judgement):
        found = "" if judgement.score is None else "no errors found, but "
        yield Finding("notice", "skipped", "not known", f"{found}{reason}")
    for error in errors(judgement):
        correction = f" Correct: {error.correction}" if error.correction else ""
        fails = not gate.fail_on or error.severity in gate.severities
        title = f"{error.severity} error: {error.type}"
        message = f"{error.quote!r}: {error.explanation}{correction}"
        yield Finding("error" if fails else "warning", "failure" if fails else "system-out", title, message)


def annotate(run: ScoreRun, texts: Texts, gate: TextGate, problems: Sequence[str]) -> Iterator[str]:
    """Yield a line for each finding and each problem of the gate, as GitHub's and Gitea's runners read them."""
    lines = find_lines(run, texts, gate)
    for judgement in run.judgements():
        for finding in find(judgement, gate):
            place = {"file": texts.name, "line": lines.get(judgement.sample_id), "title": finding.title}
            shown = ",".join(f"{key}={escape(str(value), ':,')}" for key, value in place.items() if value is not None)
            yield f"::{finding.level} {shown}::{escape(f'{judgement.sample_id}: {finding.message}')}"
    yield from (f"::error title=gate failed::{escape(problem)}" for problem in problems)


def escape(text: str, more: str = "") -> str:
    """Return a text in which no character ends the line or the field that it stands in."""
    return "".join(f"%{ord(letter):02X}" if letter in "%\r\n" + more else letter for letter in text)


def find_lines(run: ScoreRun, texts: Texts, gate: TextGate) -> dict[str, int]:
    """Return the line of each text about which there is something to see; none where the texts are not a file."""
    seen = {judgement.sample_id for judgement in run.judgements() if any(find(judgement, gate))}
    if texts.path != Path(texts.name):  # one text per line, whose ids are the lines, or standard input
        return {name: int(name) for name in seen if name.isdecimal()} if Path(texts.name).is_file() else {}
    table = SampleTable(texts.path, texts.format, columns=texts.columns, on_bad=lambda _: None, dialogue=texts.dialogue)
    return {sample.id: row.line for row, sample in table.rows() if sample.id in seen}


def write_junit(path: Path, run: ScoreRun, texts: Texts, gate: TextGate, problems: Sequence[str]) -> None:
    """Write a test case for each text, and one for the gate, as JUnit does."""
    suite, counts = ElementTree.Element("testsuite", name=f"mores score {texts.name}"), Counter[str]()
    lines = find_lines(run, texts, gate)
    gated = [Finding("error", "failure", "gate failed", problem) for problem in problems]
    cases = ((judgement.sample_id, list(find(judgement, gate))) for judgement in run.judgements())
    for name, findings in (*cases, ("gate", gated)):
        about = {"classname": texts.name, "name": clean(name), "file": texts.name}
        line = {"line": str(lines[name])} if name in lines else {}
        case = ElementTree.SubElement(suite, "testcase", about | line)
        for finding in findings:
            shown = {} if finding.tag == "system-out" else {"message": clean(finding.title)}
            ElementTree.SubElement(case, finding.tag, shown).text = clean(f"{finding.title}: {finding.message}")
        counts.update({finding.tag for finding in findings}, tests=1)
    for attribute, tag in {"tests": "tests", "failures": "failure", "errors": "error", "skipped": "skipped"}.items():
        suite.set(attribute, str(counts[tag]))
    ElementTree.indent(suite)
    write_text(path, ElementTree.tostring(suite, encoding="unicode", xml_declaration=False) + "\n")


def clean(text: str) -> str:
    """Return a text without the characters that XML cannot have."""
    return NOT_XML.sub("\ufffd", text)
