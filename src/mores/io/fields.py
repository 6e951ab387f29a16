"""How a row of a file becomes a Sample: field names and their aliases, and what is wrong with a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from pydantic import ValidationError

from mores.errors import InputError, nearest
from mores.io.source import Source
from mores.types import DEFAULT_INSTRUCTION, Evidence, Sample

FIELDS: dict[str, tuple[str, ...]] = {
    "id": (),
    "instruction": ("prompt", "input", "question", "src"),
    "text": ("output", "response", "completion", "answer", "hyp", "generated_text"),
    "language": ("lang",),
    "region": ("country",),
    "source": (),
}
"""Our name of each field, and what other datasets call it."""

EVIDENCE = "evidence"
"""Our name of a list of passages, each a text or an object with one; it has no other name."""

MOST = 12
"""Most names of a row's fields that a message lists."""
KNOWN = frozenset(name for field, aliases in FIELDS.items() for name in (field, *aliases))


class Row(NamedTuple):
    """One row of a file and where it starts."""

    line: int
    values: Mapping[str, object]


@lru_cache(maxsize=1024)
def complain(keys: tuple[str, ...]) -> str | None:
    """Return what is wrong with the names of a row's fields; None if nothing is."""
    if not _has(keys, "text"):
        if near := _near(keys, "text", cutoff=0.6):
            return f"no field 'text', but {near!r}; rename it to 'text'"
        names = ", ".join(map(repr, keys[:MOST])) + (" and more" if len(keys) > MOST else "")
        return f"no field 'text'; expected 'instruction' and 'text'; found {names or 'none'}"
    # A text may come without an instruction, but a misspelt one must not be lost in silence.
    near = None if _has(keys, "instruction") else _near(keys, "instruction", cutoff=0.9)
    return f"no field 'instruction', but {near!r}; rename it to 'instruction'" if near else None


def _has(keys: Iterable[str], field: str) -> bool:
    return not {field, *FIELDS[field]}.isdisjoint(keys)


def _near(keys: tuple[str, ...], field: str, cutoff: float) -> str | None:
    """Return the key that was perhaps meant to be a field."""
    others = [key for key in keys if key not in KNOWN]
    return next(filter(None, (nearest(name, others, cutoff) for name in (field, *FIELDS[field]))), None)


def to_sample(source: Source, row: Row) -> Sample:
    """Return the sample in a row; InputError with the row's place when there is none."""
    # A column of a spreadsheet may well have this name, but no cell is a list of passages.
    values = row.values
    if source.format in ("csv", "tsv"):
        values = {name: value for name, value in values.items() if name != EVIDENCE}
    try:
        return sample_from(values, default_id=f"{source.path.stem}:{row.line}")
    except InputError as error:
        raise source.error(str(error), row.line) from error


def sample_from(values: Mapping[str, object], default_id: str) -> Sample:
    """Return the sample in a mapping of fields by our names or their aliases."""
    problem = complain(tuple(values))
    if problem:
        raise InputError(problem)
    text = _string(values, "text")
    if text is None:
        raise InputError("the text is empty; fill in 'text' or remove the row")
    return Sample(
        id=_string(values, "id") or default_id,
        instruction=_instruction(values),
        text=text,
        language=_coded(values, "language"),
        region=_coded(values, "region"),
        source=_string(values, "source"),
        evidence=tuple(_passages(values.get(EVIDENCE))),
    )


def _instruction(values: Mapping[str, object]) -> str:
    """Return the instruction, with the `input` that it is about where a row has both, as in Alpaca's format."""
    instruction = _string(values, "instruction") or DEFAULT_INSTRUCTION
    about = values.get("input") if values.get("instruction") else None
    return f"{instruction}\n{about}" if isinstance(about, str) and about.strip() else instruction


def _string(values: Mapping[str, object], field: str) -> str | None:
    """Return a field's string; None when it is missing, null or blank."""
    name = _name(values, field)
    value = values.get(name)
    if field == "id" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if value is None or isinstance(value, str):
        return value if value and not value.isspace() else None
    raise InputError(f"{name!r} is {_kind(value)}, not a string; put it in quotes")


def _passages(value: object) -> Iterator[Evidence]:
    """Yield the evidence in a row; passages are texts, or objects with the fields of Evidence."""
    if not isinstance(value, list | tuple):
        if value is not None:
            raise InputError(f"'evidence' is {_kind(value)}, not an array; write [{{\"text\": …}}]")
        return
    for number, entry in enumerate(value, 1):
        try:
            passage = entry if isinstance(entry, Evidence) else Evidence.model_validate(_fields(entry))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"])) or "the whole"
            fix = "expected 'text', and if you have them 'title', 'source' and 'date', all strings"
            raise InputError(f"evidence {number}: {where}: {first['msg']}; {fix}") from error
        if not passage.text.strip():
            raise InputError(f"evidence {number}: the text is empty; fill it in or leave the passage out")
        yield passage


def _fields(entry: object) -> object:
    """Return the fields of a passage; null stands for one that it does not have, as in tables."""
    if isinstance(entry, str):
        return {"text": entry}
    return {name: value for name, value in entry.items() if value is not None} if isinstance(entry, dict) else entry


def _name(values: Mapping[str, object], field: str) -> str:
    """Return the name under which a row holds a field: ours before any alias."""
    if values.get(field) is not None:
        return field
    names = [name for name in FIELDS[field] if values.get(name) not in (None, "")]
    if len(names) > 1:
        raise InputError(f"{' and '.join(map(repr, names))} may each be the {field}; rename one to {field!r}")
    return names[0] if names else field


def _kind(value: object) -> str:
    kinds = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "an array",
        dict: "an object",
    }
    return kinds.get(type(value), f"of type {type(value).__name__}")


def _coded(values: Mapping[str, object], field: str) -> str | None:
    """Return the code of the language or region that a row names."""
    value = _string(values, field)
    if value is None:
        return None
    from mores import culture  # 0.1 s of tables, and many files name neither

    return culture.language(value) if field == "language" else culture.region(value)
