"""The paper's check, where its libraries are installed."""

from __future__ import annotations

import re
import sys

import pytest

from mores.errors import ConfigError, InputError
from mores.extras import install_command
from mores.language import paper


def test_without_the_libraries_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py3langid", None)
    with pytest.raises(ConfigError, match=re.escape(install_command("lid"))):
        paper.detect_as_paper(["Guten Tag"], ["de"])


def test_one_expected_language_for_each_text() -> None:
    with pytest.raises(InputError, match="1 expected"):
        paper.detect_as_paper([], ["de"])


def test_it_finds_large_languages_and_takes_kirundi_for_kinyarwanda() -> None:
    pytest.importorskip("pycld2", reason="pycld2 is not installed")
    pytest.importorskip("py3langid", reason="py3langid is not installed")
    texts = [
        "Моя бабушка каждое утро печёт хлеб и продаёт его на рынке.",
        "Ni gute bamenya ubushuhe bwo mu mutima w'isi?",
    ]
    assert paper.detect_as_paper(texts, ["ru", "rn"]) == ["ru", "rw"]
    assert paper.is_expected("ru", "ru")
    assert not paper.is_expected("rw", "rn")
    assert not paper.is_expected(paper.detect_as_paper(["", "\x00\ud800 x"], ["ru", "en"])[0], "ru")


def test_norwegian_is_bokmål_or_nynorsk_to_the_paper_too() -> None:
    assert paper.is_expected("nb", "no")
    assert paper.is_expected("nn", "no")
    assert paper.is_expected("no", "nn")  # a detector that knows only Norwegian
    assert not paper.is_expected("da", "no")
    assert not paper.is_expected("id", "ms")
    assert not paper.is_expected(None, "no")
