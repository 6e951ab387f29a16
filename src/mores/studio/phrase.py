"""A sentence with values in it that can be translated: the pages look up the sentence, then put the values in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any, Self

from pydantic import PlainSerializer, PlainValidator

from mores.formatting import NOTHING, percent
from mores.stats.results import share_result
from mores.types import MUCH_MISSING, Result


class Phrase(str):
    """`Phrase("Give at most {count}.", count=3)` is the text "Give at most 3.", and knows how it was made.

    A value may be a phrase itself, and is translated too; whole numbers are written as the reader's language does.
    """

    template: str
    values: dict[str, Any]

    def __new__(cls, template: str, **values: Any) -> Self:
        shown = {name: f"{value:,}" if type(value) is int else value for name, value in values.items()}
        phrase = super().__new__(cls, template.format(**shown) if values else template)
        phrase.template = template
        phrase.values = values
        return phrase

    @classmethod
    def join(cls, parts: Iterable[str], separator: str = ", ") -> str:
        """Join several texts, each of which is translated alone; empty where there is none, and one stays as it is."""
        given = list(parts)
        if len(given) < 2:
            return given[0] if given else ""
        phrase = super().__new__(cls, separator.join(given))
        phrase.values = {f"part{number}": part for number, part in enumerate(given)}
        phrase.template = separator.join([f"{{{name}}}" for name in phrase.values])
        return phrase


def phrase_share(part: int, whole: int, missing: int = 0) -> str:
    """Return a share with its counts, such as `40.0% (2 of 5)`; a dash without any."""
    if not whole:
        return NOTHING
    shown = Phrase("{share} ({part} of {whole})", share=percent(part / whole), part=part, whole=whole)
    return with_missing(shown, share_result("share", part, whole, missing))


def with_missing(shown: str, figure: Result, form: Callable[[float | None], str] = percent) -> str:
    """Return a figure with what missing answers could make of it, or with their share; plain while they are few."""
    if figure.missing <= MUCH_MISSING:
        return shown
    if figure.whole is None:
        return Phrase("{figure}; {share} are missing", figure=shown, share=percent(figure.missing))
    ends = {"low": form(figure.whole[0]), "high": form(figure.whole[1])}
    template = "{figure}; {low} to {high} whatever the {count} missing are"
    return Phrase(template, figure=shown, count=figure.unscored, **ends)


def keep_phrases(value: Any) -> Any:
    """Return a value for JSON: each phrase in it with its sentence and values, any other text unchanged."""
    if isinstance(value, Phrase):
        return {"phrase": value.template, "values": keep_phrases(value.values)}
    if isinstance(value, dict):
        return {name: keep_phrases(inner) for name, inner in value.items()}
    return [keep_phrases(inner) for inner in value] if isinstance(value, list | tuple) else value


def read_phrases(kept: Any) -> Any:
    """Return a value from JSON, with its phrases."""
    if isinstance(kept, dict):
        values = {name: read_phrases(inner) for name, inner in kept.items()}
        return Phrase(values["phrase"], **values["values"]) if values.keys() == {"phrase", "values"} else values
    return [read_phrases(inner) for inner in kept] if isinstance(kept, list) else kept


Said = Annotated[str, PlainValidator(read_phrases), PlainSerializer(keep_phrases, when_used="json")]
"""A field that may hold a phrase."""
