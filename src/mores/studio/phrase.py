"""A sentence with values in it that can be translated: the pages look up the sentence, then put the values in."""

from __future__ import annotations

from typing import Any, Self


class Phrase(str):
    """`Phrase("Give at most {count}.", count=3)` is the text "Give at most 3.", and knows how it was made."""

    template: str
    values: dict[str, Any]

    def __new__(cls, template: str, **values: Any) -> Self:
        phrase = super().__new__(cls, template.format(**values))
        phrase.template = template
        phrase.values = values
        return phrase
