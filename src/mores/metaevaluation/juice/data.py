"""The release of JuICE: one JSON object of answers, each with the errors that several detectors marked in it.

| field | what |
| --- | --- |
| `country`, `language_type`, `language` | `us`, `korea`, `indonesia` or `bangladesh`; `english` or `native`; BCP 47 |
| `query_text`, `response_text` | the request and the answer, whose paragraphs are separated by blank lines |
| `error_groups` | by id: what several detectors marked as one error, and the `thick_categories` that it has |
| `errors` of a group | by id: `paragraph_idx_list` (from 0), `detector_id`, `detector_type`, `span`, `explanation`, … |
| `raw_annotation` of an error | a JSON string: `error_type`, `validation_type` and what people added |
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, Json, TypeAdapter, ValidationError

from mores.culture import language as language_code
from mores.culture import region as region_code
from mores.errors import InputError, suggest
from mores.io.source import TableSource
from mores.metric.spans import candidates
from mores.stats.spans import Span
from mores.types import Record, Sample

Place = tuple[int, int]
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_MARKDOWN = re.compile(r"[*_`~]+|^[^\S\n]*(?:#{1,6}|>|[-+•]|\d{1,3}[.)])[^\S\n]+", re.MULTILINE)
"""Emphasis and code anywhere; headings, quotations, bullets and numbers at the start of a line."""
_AROUND = " \t\n\"'“”‘’«»「」.,;:!?…。，"


class Located(NamedTuple):
    """A place in a text, half-open in code points."""

    start: int
    end: int
    elsewhere: bool
    """Whether it is outside of the paragraphs that were named."""


def paragraphs(text: str) -> list[Place]:
    """Return where the paragraphs of a text are: blank lines separate them."""
    starts = [0, *(gap.end() for gap in _BLANK_LINE.finditer(text))]
    ends = [*(gap.start() for gap in _BLANK_LINE.finditer(text)), len(text)]
    return list(zip(starts, ends, strict=True))


def locate(quote: str, text: str, named: Sequence[Place] = ()) -> Located | None:
    """Return where the quotation is, preferably in or between the named paragraphs; None if nowhere.

    Detectors copy words without their Markdown, and with other white space. It is looked for as the metric's own
    quotations are (`mores.metric.spans`), then without Markdown on either side, then without what surrounds it.
    """
    start, end = (min(s for s, _ in named), max(e for _, e in named)) if named else (0, len(text))
    outside: Located | None = None
    for places in _places(quote, text):
        inside = [place for place in places if start <= place[0] and place[1] <= end]
        if inside:
            return Located(*inside[0], elsewhere=False)
        if places and outside is None:
            nearest = min(places, key=lambda place: max(start - place[0], place[1] - end))
            outside = Located(*nearest, elsewhere=True)
    return outside


def _places(quote: str, text: str) -> Iterator[list[Place]]:
    """Yield where it may be, most trusted first."""
    yield from candidates(quote, text)
    plain, positions = _without_markdown(text)
    bare = _without_markdown(quote)[0].strip()
    for wording in dict.fromkeys((bare, bare.strip(_AROUND))):
        for places in candidates(wording, plain):
            yield [(positions[start], positions[end - 1] + 1) for start, end in places]


@lru_cache(maxsize=64)
def _without_markdown(text: str) -> tuple[str, list[int]]:
    """Return the text without Markdown, and where each of its characters is in the original."""
    kept = [True] * len(text)
    for mark in _MARKDOWN.finditer(text):
        kept[mark.start() : mark.end()] = [False] * (mark.end() - mark.start())
    positions = [position for position, keep in enumerate(kept) if keep]
    return "".join(text[position] for position in positions), positions


THIN = ("Explicit Linguistic Error", "Cultural Inaccuracy")
THICK = (
    "Implicit Linguistic Error",
    "Cultural Specificity Error",
    "Cultural Connotation Error",
    "Cultural Incoherence",
    "Cultural Missingness",
)
OTHER = ("Logical Error",)
"""Neither thin nor thick; the release has it, the paper's seven categories do not."""
CATEGORIES = (*THIN, *THICK, *OTHER)
TYPES = ("Cultural Error", "Linguistic Error", "Both")
COUNTRIES = {"us": "US", "korea": "KR", "indonesia": "ID", "bangladesh": "BD"}
DetectorKind = Literal["human", "model"]


# -- the file ----------------------------------------------------------------------------------------------


class _RawAnnotation(BaseModel):
    error_type: str | None = None
    error_correction: str | None = None
    error_criticality: str | None = None
    validation_type: str | None = None


class _RawError(BaseModel):
    paragraph_idx_list: list[int]
    detector_id: str
    detector_type: DetectorKind
    span: str
    explanation: str | None = None
    raw_annotation: Json[_RawAnnotation] = _RawAnnotation()
    thick_category: str | None = None


class _RawGroup(BaseModel):
    errors: dict[str, _RawError]
    thick_categories: list[str] = []


class _RawAnswer(BaseModel):
    country: str
    language_type: str
    language: str
    query_text: str
    response_text: str
    error_groups: dict[str, _RawGroup]


_FILE = TypeAdapter(dict[str, _RawAnswer])


# -- what it means -----------------------------------------------------------------------------------------


class JuiceAnnotation(Record):
    """One error as one detector marked it."""

    detector: str
    kind: DetectorKind
    quote: str
    start: int | None = None
    """First code point in the answer; None where the quotation is not in it."""
    end: int | None = None
    elsewhere: bool = False
    """Whether it was found outside of the paragraphs that it names."""
    type: str | None = None
    """One of `TYPES`."""
    category: str | None = None
    """One of `CATEGORIES`."""
    explanation: str = ""

    @property
    def span(self) -> Span | None:
        """The place of the quote, if it was located."""
        return None if self.start is None or self.end is None else Span(self.start, self.end)


class MarkedError(Record):
    """The marks of several detectors for one error: a group of the release."""

    id: str
    annotations: tuple[JuiceAnnotation, ...]
    categories: tuple[str, ...]

    @property
    def detectors(self) -> set[str]:
        return {annotation.detector for annotation in self.annotations}

    @property
    def spans(self) -> list[Span]:
        """The places where its detectors located it."""
        return [span for annotation in self.annotations if (span := annotation.span)]

    def without(self, detector: str) -> MarkedError:
        """Return what the other detectors marked."""
        others = tuple(annotation for annotation in self.annotations if annotation.detector != detector)
        return self.model_copy(update={"annotations": others})


class JuiceAnswer(Record):
    """A long answer with its errors."""

    sample: Sample
    language_type: str
    query: str
    """What answers to the same request share."""
    errors: tuple[MarkedError, ...]


@dataclass
class JuiceData:
    """The answers of a file."""

    path: Path

    @cached_property
    def answers(self) -> list[JuiceAnswer]:
        """Every answer; InputError with its key and the fix for one that is not in the schema."""
        source = TableSource(self.path, "json")
        try:
            raw = _FILE.validate_json(self._bytes)
        except ValidationError as error:
            raise source.error(_problem(error)) from error
        if not raw:
            raise source.error("it has no answers; give the JSON file of the release")
        try:
            return [_answer(key, answer) for key, answer in raw.items()]
        except InputError as error:
            raise source.error(str(error)) from error

    @cached_property
    def revision(self) -> str:
        """A hash of the file."""
        return hashlib.sha256(self._bytes).hexdigest()[:12]

    @cached_property
    def _bytes(self) -> bytes:
        with TableSource(self.path, "json").open() as file:
            return file.read()

    @property
    def annotations(self) -> Iterator[JuiceAnnotation]:
        """The marks of every detector."""
        return (a for answer in self.answers for error in answer.errors for a in error.annotations)

    @property
    def detectors(self) -> dict[str, DetectorKind]:
        """Every detector, models first."""
        kinds = {annotation.detector: annotation.kind for annotation in self.annotations}
        return dict(sorted(kinds.items(), key=lambda item: (item[1] == "human", item[0])))

    def judged_by(self, detector: str) -> list[JuiceAnswer]:
        """Return the answers that a detector is known to have judged.

        Two models judged every answer. A person, and a model if the file has more than two, judged at least those
        answers in which there is an annotation by them.
        """
        kinds = self.detectors
        if kinds[detector] == "model" and Counter(kinds.values())["model"] <= 2:
            return self.answers
        return [answer for answer in self.answers if any(detector in error.detectors for error in answer.errors)]


def _problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = " > ".join(map(str, first["loc"]))
    fix = "write it as the release of JuICE has it: an object of answers by key"
    return f"{place}: {first['msg']}; {fix}" if place else f"{first['msg']}; {fix}"


def _answer(key: str, raw: _RawAnswer) -> JuiceAnswer:
    try:
        region = COUNTRIES.get(raw.country.casefold()) or region_code(raw.country)
        sample = Sample(
            id=key,
            instruction=raw.query_text,
            text=raw.response_text,
            language=language_code(raw.language),
            region=region,
            source="juice",
        )
    except InputError as error:
        raise InputError(f"{key}: {error}") from error
    parts = key.split("_")
    blocks = paragraphs(raw.response_text)
    return JuiceAnswer(
        sample=sample,
        language_type=raw.language_type,
        query="_".join(parts[:2]) if len(parts) >= 4 else raw.query_text,
        errors=tuple(_errors(key, raw, blocks)),
    )


def _errors(key: str, raw: _RawAnswer, blocks: Sequence[tuple[int, int]]) -> Iterator[MarkedError]:
    """Yield the groups with an annotation that was found valid, each without those that were not."""
    for group_id, group in raw.error_groups.items():
        place = f"{key} > error_groups > {group_id}"
        annotations = []
        for annotation_id, error in group.errors.items():
            here = f"{place} > errors > {annotation_id}"
            validation = error.raw_annotation.validation_type
            word = (validation or "valid").casefold()  # `valid` or `valid_…`, as all annotations of the release are
            if not word.startswith(("valid", "invalid")):
                raise InputError(f"{here}: unknown validation_type {validation!r}; expected valid, valid_… or invalid")
            if word.startswith("valid"):
                annotations.append(_annotation(here, error, raw.response_text, blocks))
        named = group.thick_categories or [a.category for a in annotations if a.category]
        categories = tuple(dict.fromkeys(_known(place, "category", name, CATEGORIES) for name in named))
        if annotations:
            yield MarkedError(id=group_id, annotations=tuple(annotations), categories=categories)


def _annotation(place: str, error: _RawError, text: str, blocks: Sequence[tuple[int, int]]) -> JuiceAnnotation:
    located = locate(error.span, text, [blocks[n] for n in error.paragraph_idx_list if 0 <= n < len(blocks)])
    start, end, elsewhere = located or (None, None, False)
    kind = error.raw_annotation.error_type
    return JuiceAnnotation(
        detector=error.detector_id,
        kind=error.detector_type,
        quote=error.span,
        start=start,
        end=end,
        elsewhere=elsewhere,
        type=None if kind is None else _known(place, "error_type", kind, TYPES),
        category=error.thick_category and _known(place, "thick_category", error.thick_category, CATEGORIES),
        explanation=error.explanation or "",
    )


def _known(place: str, field: str, value: str, known: Iterable[str]) -> str:
    names = {name.casefold(): name for name in known}
    word = " ".join(value.replace("_", " ").split()).casefold()
    if word not in names:
        hint = suggest(word, names.values())
        raise InputError(f"{place}: unknown {field} {value!r}; {hint}expected one of {', '.join(names.values())}")
    return names[word]
