"""Tables as surveys and annotation programs export them, as rows with one rating each.

| program | what its export looks like |
| --- | --- |
| Google Forms | a row for each person; a grid has a column `Question [Row]` for each of its rows |
| Qualtrics | the same, with two more header rows: the questions' texts (`Question - Row`) and import ids |
| Label Studio | tasks with `data` and `annotations`; as JSON-MIN or CSV one row for each annotation |
| Argilla | records with `fields` and `responses`, or flat: `quality.responses`, `quality.responses.users` |
| Potato | `label_annotations` by scheme, or in CSV a column `scheme:::label` for each label |
| Doccano | texts with their `label`; a file for each person in a zip file |

A `TableShape` says what no export tells: how the columns of a wide table are named, and which column joins several.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from typing import Any, NamedTuple

from mores.errors import ConfigError, InputError
from mores.io.columns import fold, listed
from mores.io.source import TableRow, TableSource
from mores.types import Severity

MEASURE = "column"
"""The name in a pattern that stands for one of our columns, such as `rating` or `comment`."""
TIMESTAMPS = frozenset(
    (
        "timestamp",
        "marca temporal",
        "طابع زمني",
        "时间戳记",
        "टाइमस्टैम्प",
        "muhuri wa muda",
        "zeitstempel",
        "horodateur",
    )
)
"""The first column of Google Forms."""
PEOPLE = (
    "prolificpid",
    "prolificid",
    "participantid",
    "emailaddress",
    "username",
    "direccióndecorreoelectrónico",
    "电子邮件地址",
    "عنوانالبريدالإلكتروني",
    "ईमेलपता",
    "anwaniyabaruapepe",
    "responseid",
)
"""Columns that name a person in exports of surveys, the best first."""
PERSONAL = (
    *(name for name in PEOPLE if name not in ("prolificpid", "prolificid", "participantid", "responseid")),
    "ipaddress",
    "locationlatitude",
    "locationlongitude",
    "recipientlastname",
    "recipientfirstname",
    "recipientemail",
)
"""Columns that tell who a person is, or where: they are not kept with the ratings."""
NOT_ASKED = ("timing - ", "browser meta info - ", "click count")
UNSENT = ("survey preview", "survey test", "spam", "1", "2", "8", "9")
"""What Qualtrics calls responses that no participant sent, in words and as codes."""


def read_pattern(text: str, setting: str, names: Sequence[str]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return two expressions of a pattern such as `{question} [{model}]`: its names take as little, or as much."""
    forms = []
    for most in (".+?", ".+"):
        try:
            parts = list(Formatter().parse(text))
        except ValueError as error:
            raise ConfigError(f"{text!r}: {error}; write names in braces", setting=setting) from error
        found = [name for _, name, _, _ in parts if name is not None]
        if not found or len(set(found)) < len(found) or not set(found) <= set(names):
            problem = "expected names of our columns in braces, each once, for example {question} [{model}]"
            raise ConfigError(f"{text!r}: {problem}; they are {', '.join(names)}", setting=setting)
        forms.append(
            re.compile("".join(re.escape(a) + (f"(?P<{b}>{most})" if b else "") for a, b, _, _ in parts), re.S)
        )
    return forms[0], forms[1]


@dataclass(frozen=True)
class TableShape:
    """The layout of people's answers in a table."""

    columns: tuple[str, ...] = ()
    """Ours, which patterns may name."""
    wide: str = ""
    """The names of the columns of a table with a row for each person: `{question} [{model}]`."""
    split: Mapping[str, str] = field(default_factory=dict)
    """Columns of which each cell has several of ours: {"id": "{question_id}__{model}"}."""

    def __post_init__(self) -> None:
        for text in filter(None, (self.wide, *self.split.values())):
            read_pattern(text, "wide" if text == self.wide else "split", (*self.columns, MEASURE))

    def match(self, source: TableSource, text: str, pattern: str, setting: str, line: int | None) -> dict[str, str]:
        """Return the parts of a name or a cell by our columns; nothing where it does not fit."""
        little, much = (form.fullmatch(text) for form in read_pattern(pattern, setting, (*self.columns, MEASURE)))
        if not little or not much:
            return {}
        parts = {name: part.strip() for name, part in little.groupdict().items()}
        other = {name: part.strip() for name, part in much.groupdict().items()}
        if parts != other:
            ways = " or ".join(", ".join(f"{name} {part!r}" for name, part in way.items()) for way in (parts, other))
            error = source.error(f"{text!r} fits {pattern!r} in two ways: {ways}; give a pattern that decides", line)
            error.setting = setting
            raise error
        return parts


class UnfoldedTable(NamedTuple):
    """The rows of an export, each with at most one rating."""

    rows: list[TableRow]
    notes: tuple[str, ...]
    """What was taken for what, for a person to check."""


def find_program(names: Sequence[str]) -> str:
    """Return the program whose export has these columns; empty where it is none of them."""
    present = set(names)
    if "label_annotations" in present or ({"user", "instance_id"} <= present and any(":::" in name for name in names)):
        return "Potato"
    if {"ResponseId", "StartDate"} <= present:
        return "Qualtrics"
    if {"annotation_id", "lead_time"} <= present or {"data", "annotations"} <= present:
        return "Label Studio"
    if {"fields", "responses"} <= present or any(name.endswith(".responses.users") for name in names):
        return "Argilla"
    if "Comments" in present and present & {"label", "entities"}:
        return "Doccano"
    if {"submissionid", "participantid"} <= {fold(name) for name in names}:
        return "Prolific"
    return "Google Forms" if names and names[0].casefold() in TIMESTAMPS else ""


def unfold(
    source: TableSource, rows: Sequence[TableRow], program: str, shape: TableShape, chosen: Mapping[str, str]
) -> UnfoldedTable:
    """Return the rows of an export; `chosen` has the table's names of some of our columns, as the user gave them."""
    notes = [f"as {program} exports it"] if program else []
    if program == "Prolific" and not (shape.wide or chosen.get("rating")):
        problem = "Prolific's export of submissions has no ratings"
        raise source.error(f"{problem}; give the table with the ratings, and this one as the list of participants")
    described: dict[str, str] = {}
    if program == "Qualtrics":
        rows, described = _without_headers(rows, notes)
    if read := READERS.get(program):
        rows = [answered for row in rows for answered in _read(row, read)]
        _fill_marks(rows)
        _name_rating(rows, shape, chosen, notes)
    if not rows:
        raise source.error("it has no answers; export it again after somebody has answered")
    pattern = shape.wide or {"Google Forms": "{question} [{model}]", "Qualtrics": "{question} - {model}"}.get(program)
    if pattern:
        rows = _lengthen(source, rows, described, pattern, shape, chosen, notes)
    for column, split in shape.split.items():
        rows = [_split(row, column, split, shape) for row in rows]
    named = [str(row.values.get("annotator")) for row in rows]
    if any("@" in name for name in named) and not chosen.get("annotator"):
        addresses = dict.fromkeys(name for name in named if "@" in name)
        numbers = {address: f"person {number}" for number, address in enumerate(addresses, 1)}
        pairs = zip(rows, named, strict=True)
        rows = [row._replace(values={**row.values, "annotator": numbers.get(name, name)}) for row, name in pairs]
        notes.append(f"{len(numbers):,} annotators are numbered, without their e-mail addresses")
    there = dict.fromkeys(name for row in rows for name in row.values)
    if hidden := [name for name in there if fold(name) in PERSONAL and name not in chosen.values()]:
        rows = [row._replace(values={n: v for n, v in row.values.items() if n not in hidden}) for row in rows]
        notes.append(f"left out, as they tell who people are: {listed(hidden)}")
    return UnfoldedTable(list(rows), tuple(notes))


def _read(row: TableRow, read: Callable[[TableRow], Iterator[TableRow]]) -> list[TableRow]:
    """Return a row for each annotator; errors say its place."""
    try:
        return list(read(row))
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        problem = f"a field is not as it is exported ({type(error).__name__}: {error})"
        raise row.error(f"{problem}; export it again") from error
    except InputError as error:
        raise row.error(str(error)) from error


def _without_headers(rows: Sequence[TableRow], notes: list[str]) -> tuple[list[TableRow], dict[str, str]]:
    """Return the responses that participants sent, and the text of each question."""
    described: dict[str, str] = {}
    while rows and str(rows[0].values.get("StartDate", "")).lstrip()[:11] in ("Start Date", '{"ImportId"'):
        described = described or {name: str(text) for name, text in rows[0].values.items()}
        rows = rows[1:]
    sent = [row for row in rows if str(row.values.get("Status", "")).strip().casefold() not in UNSENT]
    if len(sent) < len(rows):
        notes.append(f"left out {len(rows) - len(sent):,} previews and tests (Status)")
    return sent, described


def _lengthen(
    source: TableSource,
    rows: Sequence[TableRow],
    described: Mapping[str, str],
    pattern: str,
    shape: TableShape,
    chosen: Mapping[str, str],
    notes: list[str],
) -> list[TableRow]:
    """Return a row for each answer of each person, from columns whose names, or whose questions, fit a pattern."""
    names = list(dict.fromkeys(name for row in rows for name in row.values))
    parts: dict[str, dict[str, str]] = {}
    for texts in ({name: name for name in names}, described):
        asked = {n: t for n, t in texts.items() if n in names and not t.casefold().startswith(NOT_ASKED)}
        found = {name: shape.match(source, text, pattern, "wide", 1) for name, text in asked.items()}
        parts = parts or {name: groups for name, groups in found.items() if groups}
    unknown = {groups[MEASURE] for groups in parts.values() if groups.get(MEASURE, "rating") not in shape.columns}
    if not parts or unknown:
        shown = [described.get(name, name) for name in names]
        what = f"{sorted(unknown)[0]!r} is not one of our columns" if unknown else f"no column is named {pattern!r}"
        error = source.error(f"{what}; say how they are named, for example {{question}} [{{model}}]", 1)
        error = InputError(f"{error}; the columns are {listed(shown)}", setting="wide")
        raise error
    _check_unlike(source, parts)
    person = _person(names, chosen)
    long, empty = [], 0
    for number, row in enumerate(rows, 1):
        rest = {name: value for name, value in row.values.items() if name not in parts}
        if not chosen.get("annotator"):
            rest["annotator"] = str(row.values.get(person) or "").strip() or f"person {number}"
        answers: dict[tuple[tuple[str, str], ...], dict[str, Any]] = {}
        for column, groups in parts.items():
            key = tuple((name, part) for name, part in groups.items() if name != MEASURE)
            cell = row.values.get(column)
            if cell is not None and str(cell).strip():
                answers.setdefault(key, {})[groups.get(MEASURE, "rating")] = cell
            else:
                empty += 1
        long += [row._replace(values={**rest, **dict(key), **given}) for key, given in answers.items()]
    first = next(iter(parts))
    what = ", ".join(f"{ours} {part!r}" for ours, part in parts[first].items())
    notes.append(f"{len(parts):,} columns named {pattern!r}, such as {described.get(first, first)!r}: {what}")
    if not chosen.get("annotator"):
        notes.append(f"annotator ← {person}" if person else "each row is another person")
    if empty:
        notes.append(f"{empty:,} empty cells are answers that a person was not shown or skipped, and are left out")
    return long


def _check_unlike(source: TableSource, parts: Mapping[str, Mapping[str, str]]) -> None:
    """Refuse two columns of the same question and model: only one of them would be read."""
    first: dict[tuple[tuple[str, str], ...], str] = {}
    for name, groups in parts.items():
        if (other := first.setdefault(tuple(groups.items()), name)) != name:
            what = " and ".join(f"{ours} {part!r}" for ours, part in groups.items())
            raise source.error(f"columns {other!r} and {name!r} are both {what}; reword one of them, or remove it", 1)


def _person(names: Iterable[str], chosen: Mapping[str, str]) -> str:
    """Return the column that names a person; empty where none does."""
    folded = {fold(name): name for name in names}
    return "" if chosen.get("annotator") else next((folded[name] for name in PEOPLE if name in folded), "")


def _split(row: TableRow, column: str, pattern: str, shape: TableShape) -> TableRow:
    text = row.values.get(column)
    parts = {} if text is None else shape.match(row.source, str(text), pattern, "split", row.line)
    if not parts:
        raise row.error(f"{column!r} is {text!r}, which does not fit {pattern!r}", setting="split")
    return row._replace(values={**row.values, **parts})


def _fill_marks(rows: Sequence[TableRow]) -> None:
    """Give people who marked nothing an empty list, where others marked; and their text where that is an answer."""
    if not any(isinstance(row.values.get("spans"), list) for row in rows):
        return
    texts = {row.line: row.values["answer"] for row in rows if row.values.get("answer") is not None}
    for row in rows:
        row.values.setdefault("spans", [])  # type: ignore[attr-defined]  # our own dictionaries
        if row.line in texts:
            row.values.setdefault("answer", texts[row.line])  # type: ignore[attr-defined]


def _name_rating(rows: Sequence[TableRow], shape: TableShape, chosen: Mapping[str, str], notes: list[str]) -> None:
    """Call the only question that annotators answered the rating, where nothing else is."""
    asked = {name for row in rows for name in row.values[ASKED] if name == "rating" or name not in shape.columns}
    called = next(iter(asked)) if len(asked) == 1 else ""
    if called and called != "rating" and not chosen.get("rating") and not any("rating" in row.values for row in rows):
        for row in rows:
            row.values["rating"] = row.values.pop(called, None)  # type: ignore[index, attr-defined]  # our own dictionaries
        notes.append(f"rating ← {called}, the only question")
    for row in rows:
        del row.values[ASKED]  # type: ignore[attr-defined]


ASKED = "\0asked"
"""Where a reader puts the names of the questions that an annotator answered."""


def _row(row: TableRow, about: Mapping[str, Any], answers: Mapping[str, Any], **more: Any) -> TableRow:
    """Return a row about a text with an annotator's answers."""
    if both := sorted(set(about) & set(answers)):
        raise InputError(f"{both[0]!r} is both data and a question; rename one of them")
    given = {name: value for name, value in more.items() if value is not None and name not in about}
    return row._replace(values={**about, **answers, **given, ASKED: list(answers)})


def locate(text: str, start: int, end: int, quote: str) -> tuple[int, int]:
    """Return a span in code points: unchanged or from UTF-16, whichever gives the quoted text."""
    if 0 <= start <= end <= len(text) and (not quote or text[start:end] == quote):
        return start, end
    units = text.encode("utf-16-le")
    if 0 <= start <= end <= len(units) // 2:
        before = units[: 2 * start].decode("utf-16-le", "replace")
        inside = units[2 * start : 2 * end].decode("utf-16-le", "replace")
        if inside == quote:
            return len(before), len(before) + len(inside)
    raise InputError(f"{start} to {end} is not {quote!r} in its text")


def _mark(start: int, end: int, label: object) -> dict[str, Any]:
    severe = {"severity": str(label).casefold()} if str(label).casefold() in list(Severity) else {"type": str(label)}
    return {"start": start, "end": end} | severe


def _label_studio(row: TableRow) -> Iterator[TableRow]:
    if "annotations" not in row.values:  # JSON-MIN and CSV: one annotation in a row
        about = {name: value for name, value in row.values.items() if name not in ("lead_time", "created_at")}
        yield _row(row, about, {}, seconds=row.values.get("lead_time"), at=row.values.get("created_at"))
        return
    for annotation in row.values["annotations"]:
        if annotation.get("was_cancelled"):
            continue
        answers: dict[str, Any] = {}
        marked = None
        for result in annotation["result"]:
            name, kind, value = result["from_name"], result["type"], result["value"]
            if not isinstance(name, str):
                raise TypeError("from_name is a string")
            given = value.get(kind if kind != "textarea" else "text")
            if kind == "labels":
                marked = row.values["data"].get(result.get("to_name"))
                text = str(marked or "")
                start, end = int(value["start"]), int(value["end"])
                start, end = locate(text, start, end, value.get("text", "")) if text else (start, end)
                answers.setdefault("spans", []).append(_mark(start, end, *value["labels"][:1]))
            else:
                answers[name] = "; ".join(map(str, given)) if isinstance(given, list) else given
        by = annotation.get("completed_by")
        who = by.get("id") if isinstance(by, dict) else by
        took, at = annotation.get("lead_time"), annotation.get("created_at")
        yield _row(row, row.values["data"], answers, annotator=who, seconds=took, at=at, answer=marked)


def _argilla(row: TableRow) -> Iterator[TableRow]:
    values, given = row.values, dict[str, dict[str, Any]]()
    if "fields" in values:
        about = {"id": values.get("id"), **values["fields"], **(values.get("metadata") or {})}
        responses = values["responses"] or {}
        if isinstance(responses, Mapping):
            entries = [(q, e["user_id"], e["value"], e.get("status")) for q, es in responses.items() for e in es]
        else:  # of Argilla 1: each person's answers to all questions
            entries = [
                (question, entry["user_id"], answer["value"], entry.get("status"))
                for entry in responses
                for question, answer in (entry.get("values") or {}).items()
            ]
    else:
        asked = [name.removesuffix(".responses.users") for name in values if name.endswith(".responses.users")]
        about = {
            name.removeprefix("metadata."): value
            for name, value in values.items()
            if ".suggestion" not in name and ".responses" not in name
        }
        entries = []
        for question in asked:
            users, answers = values[f"{question}.responses.users"] or [], values[f"{question}.responses"] or []
            states = values.get(f"{question}.responses.status") or [None] * len(users)
            entries += [(question, *each) for each in zip(users, answers, states, strict=True)]
    for question, user, answer, status in entries:
        if status in (None, "submitted"):
            is_spans = isinstance(answer, list) and answer and isinstance(answer[0], dict) and "start" in answer[0]
            name = "spans" if is_spans else question
            marks = [_mark(one["start"], one["end"], one.get("label", "")) for one in answer] if is_spans else None
            shown = "; ".join(map(str, answer)) if isinstance(answer, list) else answer
            given.setdefault(str(user), {})[name] = marks if is_spans else shown
    about = {name: value for name, value in about.items() if name not in ("status", "_server_id")}
    for user, answers_of in given.items():
        yield _row(row, about, answers_of, annotator=user)


def _potato(row: TableRow) -> Iterator[TableRow]:
    values = row.values
    labels: dict[str, dict[str, Any]] = dict(values.get("label_annotations") or {})
    for name in (name for name in values if ":::" in name):
        scheme, _, label = name.partition(":::")
        if values[name] not in (None, "") and scheme != "span_annotation":
            labels.setdefault(scheme, {})[label] = values[name]
    answers: dict[str, Any] = {}
    for scheme, chosen in labels.items():
        given = [(label, value) for label, value in chosen.items() if value not in (None, "", "false", False)]
        texts = [
            value if label in ("text_box", "textbox", "text") else label.removeprefix("scale_")
            for label, value in given
        ]
        answers[scheme] = "; ".join(map(str, texts))
    if marks := values.get("span_annotations"):
        answers["spans"] = [
            _mark(one["start"], one["end"], one.get("annotation") or one.get("name", "")) for one in marks
        ]
    behaviour = values.get("behavioral_data") or {}
    spent = re.search(r"(\d+)d (\d+)h (\d+)m (\d+)s", str(behaviour.get("time_string", "")))
    seconds = (
        sum(int(n) * unit for n, unit in zip(spent.groups(), (86400, 3600, 60, 1), strict=True)) if spent else None
    )
    told = ("label_annotations", "span_annotations", "behavioral_data", "displayed_text", "user", "user_id")
    about = {name: value for name, value in values.items() if name not in told and ":::" not in name}
    who = values.get("user") or values.get("user_id") or row.source.path.absolute().parent.name
    yield _row(row, about, answers, annotator=who, answer=values.get("displayed_text"), seconds=seconds)


def _doccano(row: TableRow) -> Iterator[TableRow]:
    given = row.values.get("label", row.values.get("entities"))
    answers: dict[str, Any] = {}
    if isinstance(given, list) and given and isinstance(given[0], list | dict):
        spans = [
            each if isinstance(each, list) else [each["start_offset"], each["end_offset"], each["label"]]
            for each in given
        ]
        answers["spans"] = [_mark(int(start), int(end), label) for start, end, label in spans]
    elif given not in (None, [], ""):
        answers["label"] = "; ".join(map(str, given)) if isinstance(given, list) else given
    told = ("label", "entities", "relations", "Comments", "text")
    about = {name: value for name, value in row.values.items() if name not in told}
    comments = row.values.get("Comments")
    comment = "\n".join(map(str, comments)) if isinstance(comments, list) else comments
    who = None if row.source.path.stem in ("all", "unknown") else row.source.path.stem
    yield _row(row, about, answers, annotator=who, answer=row.values.get("text"), comment=comment or None)


READERS = {
    "Label Studio": _label_studio,
    "Argilla": _argilla,
    "Potato": _potato,
    "Doccano": _doccano,
}
"""Programs in which annotators answer questions about texts."""
