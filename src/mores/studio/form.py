"""A form: what a person fills in at a stage, as data, so that one template draws it and one function reads it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Literal
from urllib.parse import urlsplit

from mores.errors import InputError
from mores.studio.marks import as_json, locate, parse_marks, same_marks
from mores.studio.phrase import Phrase
from mores.studio.records import Content

FieldKind = Literal[
    "line", "text", "lines", "choice", "choices", "select", "scale", "link", "number", "check", "hidden", "marks"
]
LONGEST = 4000
DEEPEST = 50
"""How many lists and records may lie in each other."""


@dataclass(frozen=True)
class FormField:
    """One question of a form.

    `lines` is a fixed number of short texts, `choices` are boxes of which several may be ticked, `select` is a choice
    from a long list, `scale` one in a row, such as 1 to 5, `check` is a single box, and `marks` are places in texts.
    """

    name: str
    label: str
    kind: FieldKind = "line"
    help: str = ""
    section: str = ""
    """A heading above it."""
    required: bool = True
    options: Sequence[tuple[str, str]] = ()
    """Value and label; of choices, scales and nothing else."""
    headings: Sequence[tuple[str, str]] = ()
    """Of a select: values, and what stands above them and those that follow."""
    alone: frozenset[str] = frozenset()
    """Of choices: values that exclude all others, such as "none is correct"."""
    longest: int = LONGEST
    names: Literal["", "regions", "languages"] = ""
    """Of a line: it takes several of these with commas, and the page offers them in its language."""
    count: tuple[int, int] = (1, 1)
    """Of lines: how few and how many."""
    written: int = 0
    """Of choices: so many of the first options are what people wrote, and are shown as they are."""
    shuffled: int = 0
    """Of choices: so many of the first options stand in an order of each person's own."""
    native: bool = False
    """Written in the item's language, which decides direction and spelling help."""
    step: int = 1
    """When it is asked: a later step is shown when the earlier ones are answered, and those cannot be changed then."""
    block: str = ""
    """What it is about, where a form asks the same about several things."""
    quote: str = ""
    """Somebody's text that it is about, shown with it."""
    when: tuple[str, str] | None = None
    """A choice, and the answer to it after which this is asked; scripts hide it before, and it is never required."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """Of marks: the texts that can be marked, by name."""
    details: tuple[FormField, ...] = ()
    """Of marks: what is asked about each."""
    missing: bool = False
    """Of marks: whether something that is not in the text can be marked as missing."""


@dataclass(frozen=True)
class StudioForm:
    """The fields of a stage, and what must hold between them."""

    fields: tuple[FormField, ...] = ()
    check: Callable[[Content], Mapping[str, str]] | None = None
    """The problem of each field, where the values do not fit together."""
    values: Content = field(default_factory=dict)
    """What the fields hold before a person writes anything."""
    blocks: tuple[str, ...] = ()
    """The things that its blocks are about, in the order in which they are shown."""

    @property
    def steps(self) -> int:
        """The number of steps."""
        return max((entry.step for entry in self.fields), default=1)

    def select_step(self, step: int) -> StudioForm:
        """Return what is asked in one step."""
        return replace(self, fields=tuple(entry for entry in self.fields if entry.step == step))


class FormError(InputError):
    """Some fields cannot be read; `problems` says why, by field."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {problem}" for name, problem in problems.items()))
        self.problems = dict(problems)


def read_form(
    form: StudioForm, values: Mapping[str, Sequence[str]], *, draft: bool = False, before: Content | None = None
) -> Content:
    """Return what was filled in; a draft may leave out anything but keeps the limits.

    A text that somebody left as it was keeps its line ends, which browsers do not send back: the form had it in
    `before`, or in its own values.
    """
    content: Content = {}
    problems: dict[str, str] = {}
    held = form.values | (before or {})
    for entry in form.fields:
        kept = {clean(text): text for text in as_sent(held.get(entry.name)) if "\r" in text}
        given = [kept.get(text, text) for text in map(clean, values.get(entry.name, ()))]
        try:
            content[entry.name] = _read(entry, given, draft)
        except InputError as error:
            problems[entry.name] = error.args[0]
    if not problems and form.check and not draft:
        problems |= form.check(content)
    if problems:
        raise FormError(problems)
    return content


def is_complete(form: StudioForm, content: Content) -> bool:
    """Return whether everything that a form asks for is in a content."""
    try:
        read_form(form, {name: as_sent(value) for name, value in content.items()})
    except FormError:
        return False
    return True


def as_sent(value: Any) -> list[str]:
    """Return a value as a browser would send it, for `read_form`."""
    values = value if isinstance(value, list) else [value]
    if any(isinstance(entry, dict) for entry in values):
        return [as_json(values)]
    return ["" if entry is None or entry is False else "yes" if entry is True else str(entry) for entry in values]


def shuffle(form: StudioForm, seed: str) -> StudioForm:
    """Return the form with its blocks and, where a field wants it, options in an order that depends on the seed."""

    def order(entry: FormField) -> FormField:
        first, rest = entry.options[: entry.shuffled], entry.options[entry.shuffled :]
        return replace(entry, options=(*sorted(first, key=lambda option: draw_lot(seed, entry.name, option[0])), *rest))

    fields = [order(entry) if entry.shuffled else entry for entry in form.fields]
    blocks = tuple(sorted(form.blocks, key=lambda block: draw_lot(seed, "", block)))
    rank = {block: number for number, block in enumerate(blocks)}
    first = next((number for number, entry in enumerate(fields) if entry.block), 0)
    before = [entry for entry in fields[:first] if not entry.block]
    inside = sorted((entry for entry in fields if entry.block), key=lambda entry: rank[entry.block])
    after = [entry for entry in fields[first:] if not entry.block]
    return replace(form, fields=(*before, *inside, *after), blocks=blocks)


def draw_lot(*parts: str) -> bytes:
    """Return a place in a random order that is the same whenever it is drawn for the same texts."""
    return blake2b("\0".join(parts).encode(), digest_size=8).digest()


def as_seen(form: StudioForm, item: str, person: str) -> StudioForm:
    """Return the form as a person sees it about an item, whenever they come back to it."""
    return shuffle(form, f"{item}/{person}")


def clean(text: str) -> str:
    """Return a text for the store: line ends as `\\n`, no surrounding space, and nothing that no file can hold."""
    return storable(text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def storable(text: str) -> str:
    """Return a text without what no file and no database can hold: NUL and halves of characters."""
    return text.replace("\0", "").encode("utf-8", "ignore").decode("utf-8")


def storable_values(value: Any, depth: int = 0) -> Any:
    """Return the same of every text in a value, such as a model's answer; InputError where it is nested too deep."""
    if depth > DEEPEST:
        raise InputError("It is nested too deep.")
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable_values(name): storable_values(inner, depth + 1) for name, inner in value.items()}
    return [storable_values(inner, depth + 1) for inner in value] if isinstance(value, (list, tuple)) else value


def _read(field: FormField, given: list[str], draft: bool) -> Any:  # noqa: C901 - one case for each kind of field
    if field.kind == "marks":
        return _read_marks(field, given, draft)
    if any(len(value) > field.longest for value in given):
        raise InputError(Phrase("Write at most {count} characters.", count=field.longest))
    filled = [value for value in given if value]
    needed = field.required and not draft
    match field.kind:
        case "lines":
            low, high = field.count
            if len(given) > high:
                raise InputError(Phrase("Give at most {count}.", count=high))
            if needed and len(filled) < low:
                raise InputError(Phrase("Give at least {count}.", count=low))
            return given if draft else filled
        case "choices":
            _check_options(field, filled)
            chosen = [value for value, _ in field.options if value in filled]
            if needed and not chosen:
                raise InputError("Please choose at least one.")
            if len(chosen) > 1 and field.alone & set(chosen):
                raise InputError("This answer cannot be combined with another.")
            return chosen
        case "check":
            if needed and not filled:
                raise InputError("Please confirm.")
            return bool(filled)
    value = filled[0] if filled else ""
    if needed and not value:
        raise InputError("Please choose." if field.options else "Please fill in.")
    if value and field.kind in ("choice", "select", "scale"):
        _check_options(field, [value])
    if value and not draft and field.kind == "link":
        _check_link(value)
    if field.kind == "number" and value:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise InputError("Write a number.")
        return number
    return value


def _read_marks(field: FormField, given: list[str], draft: bool) -> list[Content]:
    """Return marks in the order of their places; each is located in its text, and the answers about it are whole."""
    marks: list[Content] = []
    for sent in parse_marks(given[0] if given else ""):
        mark = locate(sent, field.parts, missing=field.missing)
        for detail in field.details:
            try:
                mark[detail.name] = _read(detail, [clean(text) for text in as_sent(sent.get(detail.name))], draft)
            except InputError as error:
                raise InputError(Phrase("{label}: {problem}", label=detail.label, problem=error.args[0])) from error
        marks.append(mark)
    if field.required and not draft and not marks:
        raise InputError("Mark at least one place.")
    order = list(field.parts)
    return sorted(
        marks, key=lambda mark: (order.index(mark["part"]), mark["start"] is None, mark["start"] or 0, mark["end"] or 0)
    )


def _check_options(field: FormField, chosen: Sequence[str]) -> None:
    known = {value for value, _ in field.options}
    if any(value not in known for value in chosen):
        raise InputError("Choose one of the answers.")


def _check_link(value: str) -> None:
    try:
        parts = urlsplit(value)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or "." not in (parts.hostname or "") or len(value.split()) > 1:
        raise InputError("Write a whole address, such as https://example.org/page.")


def matches(answer: Content, known: Content) -> bool:
    """Return whether an answer has the known values; the order of several does not matter."""

    def same(given: Any, expected: Any) -> bool:
        if not isinstance(given, list) or not isinstance(expected, list):
            return bool(given == expected)
        if any(isinstance(value, dict) for value in [*given, *expected]):
            return same_marks(given, expected)
        return sorted(map(str, given)) == sorted(map(str, expected))

    return all(same(answer.get(name), value) for name, value in known.items())
