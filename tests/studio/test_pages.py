"""What stands on pages is text, whoever wrote it, in any language of the pages."""

from __future__ import annotations

import pytest

from mores.studio.phrase import Phrase
from mores.studio.web.pages import environment


@pytest.mark.parametrize("text", ["<b>bold</b>", Phrase("Give {name}.", name="<b>x</b>"), "100% <i>", "%(x)s {y}"])
def test_a_translated_text_is_escaped_and_its_signs_mean_nothing(text: str) -> None:
    shown = environment("en").from_string("{{ _(text) }}").render(text=text)
    assert "<" not in shown
    assert shown.replace("&lt;", "<").replace("&gt;", ">") == text


def test_a_phrase_is_translated_before_its_values_are_put_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mores.studio.web.pages.translate", lambda _: {"Give {count}.": "Gebt {count}."})
    assert (
        environment.__wrapped__("de").from_string("{{ _(text) }}").render(text=Phrase("Give {count}.", count=3))
        == "Gebt 3."
    )
