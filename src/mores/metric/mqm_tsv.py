"""MQM TSV, the format of WMT's human MQM evaluations and of the Marot viewer, as `Judgement` records and back.

    judgements = read_mqm_tsv("mqm_ted_ende.tsv")    # a path, or the text of a file, for example of an upload
    text = write_mqm_tsv(judgements, systems={"answer-1": "gpt-4"})

A row is one error that a rater marked in one segment (`<v>…</v>`), or `no-error`. The rows of a rater and a segment are
one judgement: the rater is the judge, the source the instruction, the target the text, the category the type of an
error and the note its explanation. The score is that of Mores, not of MQM.

| MQM TSV | Judgement |
| --- | --- |
| columns system, doc, docSegId, globalSegId | `sample_id`, joined by `/` |
| a mark in the source or the target | a located error of the instruction or the text |
| no mark | an unlocated error; its quote is `marked_text` |
| several marks in one row, which are one error | one error from the first mark to the last, with a note |
| a mark that is not closed | an error to the end of the segment, with a note |
| severity neutral | a note, because it costs nothing |
| a row without a rater (references, metrics) | no judgement |

The columns are those of WMT (doc_id, seg_id, comment) or of Marot, with or without a header line. What a judgement has
beyond them is kept in the column `metadata`, under `mores`, so that `read_mqm_tsv(write_mqm_tsv(judgements))` gives the
same judgements, except for signatures and evidence. Cells cannot hold tabs and line breaks: they become
spaces, and `mores` says where they were. Words that look like a mark are escaped (`&lt;v&gt;`).
https://github.com/google-research/google-research/tree/master/marot#data-file-format
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field, ValidationError

from mores.errors import InputError
from mores.io.source import TableSource, not_utf8, numbered_lines
from mores.metric.score import score
from mores.types import Error, ErrorReport, Failure, Judgement, Record, Sample, Severity, Side, TurnSpan

COLUMNS = (
    "system", "doc", "docSegId", "globalSegId", "rater", "source", "target", "category", "severity", "metadata",
)  # fmt: skip
ALIASES = {
    "doc_id": "docSegId", "doc_seg_id": "docSegId", "docsegid": "docSegId",
    "seg": "globalSegId", "seg_id": "globalSegId", "global_seg_id": "globalSegId", "globalsegid": "globalSegId",
    "note": "metadata", "comment": "metadata",
}  # fmt: skip
"""Names of columns in older files."""
SEVERITIES = {"major": Severity.MAJOR, "minor": Severity.MINOR, "neutral": None, "no-error": None}
NO_ERROR = "No-error"
SIDES: dict[str, Side] = {"source": "instruction", "target": "text"}
_MARK = re.compile(r"</?v>")
_BREAK = re.compile(r"[\t\n\r]")
_LOOKS_ESCAPED = re.compile(r"&(?=(?:amp;)*lt;/?v&gt;)")
_ESCAPED = re.compile(r"&(amp;)?((?:amp;)*)lt;(/?v)&gt;")


class Segment(NamedTuple):
    """The text that a row is about, as the columns have it."""

    system: str
    doc: str
    doc_segment: str
    global_segment: str

    @property
    def id(self) -> str:
        """The id of its sample, such as `Online-W/talk.1/27/27`; a slash in a name is written `%2F`."""
        return "/".join(part.replace("%", "%25").replace("/", "%2F") for part in self)

    @classmethod
    def parse(cls, sample_id: str, system: str = "") -> Segment:
        """Return the segment of a sample: what `id` wrote, or a document of one segment for any other id."""
        parts = [part.replace("%2F", "/").replace("%25", "%") for part in sample_id.split("/")]
        if len(parts) == len(cls._fields) and not system:
            return cls(*map(_one_line, parts))
        return cls(_one_line(system) or "unknown", _one_line(sample_id), "1", "0")


def _one_line(text: str) -> str:
    return _BREAK.sub(" ", text)


class Extra(Record):
    """The parts of a judgement that have no column: `mores` in the metadata."""

    sample_id: str | None = None
    language: str | None = None
    region: str | None = None
    explanation: str = ""
    """Of the report."""
    certainty: float | None = None
    score: float | None = None
    """Where it is not that of the report."""
    has_report: bool = True
    notes: tuple[str, ...] = ()
    turns: tuple[TurnSpan, ...] = ()
    """Of a text that is a conversation."""
    breaks: dict[Side, tuple[tuple[int, Literal["\t", "\n", "\r"]], ...]] = Field(default_factory=dict)
    """Where the instruction and the text have tabs and line breaks."""
    judge: str = ""
    """The rater of a row that has none, because it is a failure."""
    failure: Failure | None = None
    correction: str = ""
    """Of the row's error, as is the next."""
    side: Side = "text"
    """Of an error without a mark."""


@dataclass
class _Rating:
    """The rows of one rater about one segment."""

    line: int
    sample_id: str
    rater: str
    texts: dict[Side, str]
    extra: Extra
    errors: list[Error] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


# -- reading -----------------------------------------------------------------------------------------------


def read_mqm_tsv(file: Path | str) -> list[Judgement]:
    """Return the judgements of an MQM TSV file, given as a path or as its text, in the order of their first rows.

    InputError with file and line for a row that cannot be read, such as one with an unknown severity.
    """
    is_text = isinstance(file, str) and ("\t" in file or "\n" in file)
    source = TableSource(Path("MQM TSV") if is_text else Path(file), "tsv")
    lines = enumerate(str(file).removeprefix("\ufeff").split("\n"), 1) if is_text else _file_lines(source)
    ratings: dict[tuple[str, str], _Rating] = {}
    for line, row in _rows(source, lines):
        _add(ratings, source, line, row)
    return [_judgement(rating) for rating in ratings.values()]


def _file_lines(source: TableSource) -> Iterator[tuple[int, str]]:
    with source.open() as file:
        for number, line in numbered_lines(file):
            try:
                yield number, line.decode()
            except UnicodeDecodeError as error:
                raise not_utf8(source, number, error) from error


def _rows(source: TableSource, lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the cells of each row by column; Marot's order where there is no header.

    Quotation marks have no meaning.
    """
    names: tuple[str, ...] = COLUMNS
    first = True
    for number, line in lines:
        cells = line.rstrip("\r\n").split("\t")
        if cells == [""]:
            continue
        if first and [cell.strip().casefold() for cell in cells[:2]] == ["system", "doc"]:
            names = _header(source, number, cells)
        elif not len(names) - (names[-1] == "metadata") <= len(cells) <= len(names):
            problem = f"{len(cells)} cells instead of {len(names)}"
            raise source.error(f"{problem}; separate {', '.join(names)} by tabs", number)
        else:
            yield number, dict(zip(names, cells, strict=False))
        first = False


def _header(source: TableSource, line: int, cells: list[str]) -> tuple[str, ...]:
    known = {name.casefold(): name for name in COLUMNS} | ALIASES
    names = tuple(known.get(cell.strip().casefold(), cell.strip()) for cell in cells)
    if missing := [name for name in COLUMNS[:-1] if name not in names]:
        raise source.error(f"no column {missing[0]!r}; MQM TSV has {', '.join(COLUMNS)}", line)
    if twice := next((name for name in COLUMNS if names.count(name) > 1), None):
        raise source.error(f"two columns {twice!r}; keep one", line)
    return names


def _add(ratings: dict[tuple[str, str], _Rating], source: TableSource, line: int, row: Mapping[str, str]) -> None:
    """Add a row to the rating that it belongs to."""
    metadata, extra = _metadata(source, line, row.get("metadata", ""))
    rater = row["rater"] or extra.judge
    if not rater:
        return  # it carries references or scores of metrics
    sample_id = extra.sample_id or Segment(*(row[name] for name in COLUMNS[:4])).id
    marked = {side: _unmark(row[cell], extra.breaks.get(side, ())) for cell, side in SIDES.items()}
    texts = {side: text for side, (text, _, _) in marked.items()}
    rating = ratings.setdefault((sample_id, rater), _Rating(line, sample_id, rater, texts, extra))
    if rating.texts != texts:
        raise source.error(f"source or target differ from line {rating.line}, the same segment; make them equal", line)
    if extra.failure is None:
        severity = re.sub("[ _]", "-", row["severity"].strip().casefold())
        if severity not in SEVERITIES:
            raise source.error(f"unknown severity {row['severity']!r}; expected {', '.join(SEVERITIES)}", line)
        if severity != "no-error":
            _add_error(rating, row["category"], SEVERITIES[severity], metadata, extra, marked)


def _metadata(source: TableSource, line: int, cell: str) -> tuple[dict[str, Any], Extra]:
    """Return the JSON object of the last column, and what we wrote there; in older files it is a note."""
    if not cell.lstrip().startswith("{"):
        return {"note": cell}, Extra()
    try:
        metadata = json.loads(cell)
        return metadata, Extra.model_validate(metadata.get("mores", {}))
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = ".".join(map(str, ("metadata", "mores", *problem["loc"])))
        raise source.error(f"{place}: {problem['msg']}; remove it", line) from error
    except ValueError as error:
        raise source.error(f"metadata is not valid JSON ({error}); write a JSON object or a note", line) from error


Marked = tuple[str, list[tuple[int, int]], bool]
"""A text without its marks, their spans, and whether all are closed."""


def _unmark(cell: str, breaks: Iterable[tuple[int, str]]) -> Marked:
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    opened: list[int] = []
    last, closed = 0, True
    for mark in _MARK.finditer(cell):
        parts += _unescape(cell[last : mark.start()])
        last = mark.end()
        if mark[0] == "<v>":
            opened.append(len(parts))
        elif opened:
            spans.append((opened.pop(), len(parts)))
        else:
            closed = False
    parts += _unescape(cell[last:])
    spans += [(start, len(parts)) for start in opened]
    for position, character in breaks:
        if parts[position : position + 1] == [" "]:  # someone may have changed the text since
            parts[position] = character
    return "".join(parts), sorted(span for span in spans if span[0] < span[1]), closed and not opened


def _add_error(
    rating: _Rating,
    category: str,
    severity: Severity | None,
    metadata: Mapping[str, Any],
    extra: Extra,
    marked: Mapping[Side, Marked],
) -> None:
    located: list[Side] = [side for side in ("text", "instruction") if marked[side][1]]
    side = located[0] if located else extra.side
    text, spans, closed = marked[side]
    start, end = (spans[0][0], max(span[1] for span in spans)) if spans else (None, None)
    quoted = text[start:end] if spans else str(metadata.get("marked_text", ""))
    if severity is None:
        rating.notes.append(f"neutral, {category}: {quoted!r}")
        return
    if len(spans) > 1 or len(located) > 1:
        rating.notes.append(f"one error has several marks; its span covers those of the {side}: {quoted!r}")
    if not closed:
        rating.notes.append(f"a mark is not closed or not opened: {quoted!r}")
    rating.errors.append(
        Error(
            side=side,
            start=start,
            end=end,
            quote=quoted,
            severity=severity,
            type=category,
            explanation=str(metadata.get("note", "")),
            correction=extra.correction,
        )
    )


def _judgement(rating: _Rating) -> Judgement:
    extra = rating.extra
    report = ErrorReport(errors=tuple(rating.errors), explanation=extra.explanation, certainty=extra.certainty)
    value = score(report) if extra.score is None else extra.score
    places = {"language": extra.language, "region": extra.region, "turns": extra.turns}
    return Judgement.of(
        Sample.model_validate({"id": rating.sample_id, **rating.texts, **places}),
        judge=rating.rater,
        score=None if extra.failure else value,
        report=None if extra.failure or not extra.has_report else report,
        failure=extra.failure,
        notes=(*extra.notes, *rating.notes),
    )


# -- writing -----------------------------------------------------------------------------------------------


def write_mqm_tsv(judgements: Iterable[Judgement], *, systems: Mapping[str, str] | None = None) -> str:
    """Return the judgements as MQM TSV with Marot's columns; `systems` says which model wrote each sample, by its id.

    InputError for a judgement that does not repeat its text, and for a second one by the same judge.
    """
    lines = ["\t".join(COLUMNS)]
    written: set[tuple[str, str]] = set()
    for judgement in judgements:
        key = (judgement.sample_id, judgement.judge)
        if key in written:
            raise InputError(f"{key[1]} judged {key[0]!r} twice; keep one judgement of each judge")
        written.add(key)
        lines += write_rows(judgement, (systems or {}).get(judgement.sample_id, ""))
    return "\n".join(lines) + "\n"


def write_rows(judgement: Judgement, system: str) -> Iterator[str]:
    """Yield the row of each error of a judgement, or one that says that there is none."""
    if judgement.text is None:
        problem = f"the judgement of {judgement.sample_id!r} does not repeat its text"
        raise InputError(f"{problem}; MQM TSV needs it: add it with `judgement.repeat(sample)`")
    segment = Segment.parse(judgement.sample_id, system)
    extra = _extra(judgement, segment)
    errors = judgement.report.errors if judgement.report else ()
    for error in errors:
        given = {"note": error.explanation, "marked_text": error.quote}
        of_error = {"correction": error.correction, "side": "text" if error.located else error.side}
        metadata = {name: value for name, value in given.items() if value}
        yield _line(segment, judgement, error, metadata, extra.model_copy(update=of_error))
    if not errors:
        yield _line(segment, judgement, None, {}, extra)


def _extra(judgement: Judgement, segment: Segment) -> Extra:
    report = judgement.report or ErrorReport()
    texts: dict[Side, str] = {"instruction": judgement.instruction or "", "text": judgement.text or ""}
    breaks = {side: tuple((match.start(), match[0]) for match in _BREAK.finditer(text)) for side, text in texts.items()}
    return Extra.model_validate(
        {
            "sample_id": judgement.sample_id if judgement.sample_id != segment.id else None,
            "language": judgement.language,
            "region": judgement.region,
            "explanation": report.explanation,
            "certainty": report.certainty,
            "score": judgement.score if judgement.score != score(report) else None,
            "has_report": bool(judgement.report or judgement.failure),
            "notes": judgement.notes,
            "turns": judgement.turns,
            "breaks": {side: places for side, places in breaks.items() if places},
            "judge": judgement.judge if judgement.failure else "",
            "failure": judgement.failure,
        }
    )


def _line(segment: Segment, judgement: Judgement, error: Error | None, metadata: dict[str, Any], extra: Extra) -> str:
    if judgement.failure:
        rater, category, severity = "", "", ""
    elif error:
        rater, category, severity = judgement.judge, error.type, error.severity.value.capitalize()
    else:
        rater, category, severity = judgement.judge, NO_ERROR, NO_ERROR
    texts: dict[Side, str] = {"instruction": judgement.instruction or "", "text": judgement.text or ""}
    marked = {side: _mark(text, error if error and error.side == side else None) for side, text in texts.items()}
    if beyond := extra.model_dump(mode="json", exclude_defaults=True):
        metadata["mores"] = beyond
    cells = (*segment, rater, marked["instruction"], marked["text"], category, severity)
    column = json.dumps(metadata, ensure_ascii=False) if metadata else ""
    return "\t".join([*map(_one_line, cells), column])


def _mark(text: str, error: Error | None) -> str:
    if error is None or error.start is None or error.end is None:
        return _escape(text)
    before, quoted, after = text[: error.start], text[error.start : error.end], text[error.end :]
    return f"{_escape(before)}<v>{_escape(quoted)}</v>{_escape(after)}"


def _escape(text: str) -> str:
    """Escape words that look like a mark, and words that look like the escape of one."""
    return _MARK.sub(lambda mark: f"&lt;{mark[0][1:-1]}&gt;", _LOOKS_ESCAPED.sub("&amp;", text))


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda match: f"&{match[2]}lt;{match[3]}&gt;" if match[1] else f"<{match[3]}>", text)
