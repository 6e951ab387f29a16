"""EXAMS (Hardalov et al. 2020): school exams in 16 languages, from which part of INCLUDE was made; stands in for it.

Only subjects that depend on where the school is are kept. The exams do not say their country, and a language is none.
Left out: questions about a picture, a map or a text that is not there, and exams whose answer keys are often wrong:
those in Arabic, and what was translated from Hungarian. Serbian has its script in its language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mores.culture import language
from mores.errors import InputError
from mores.factory.items import Source, SourceItem, Task
from mores.factory.sources.files import find, read_all
from mores.factory.sources.options import lacks_material, needs_options, without_full_stops
from mores.factory.sources.rows import OnBad, SourceRow, items

CULTURAL = {
    "Citizenship", "Fine Arts", "Geography", "History", "Islamic Studies", "Literature", "Politics", "Religion",
    "Social", "Sociology", "Tourism",
}  # fmt: skip
FROM_HUNGARY = frozenset({"de", "es", "fr", "hr", "hu", "it", "sr"})
"""In these languages geography and tourism are from Hungary, with a key that prefers Lake Fehér to Lake Balaton."""

_ASIDE = re.compile(
    r"\s*\(Rrethoje[^)]*\)"
    r"|Căn cứ vào Atlat[^,?]*?trang\s*[\d\s,–-]+(và (trang)?\s*[\d\s,–-]+)?,?\s*((hãy )?cho biết\s*)?",
    re.IGNORECASE,
)
"""What tells pupils to draw a circle, or on which page of their atlas to look."""
_SEVERAL = re.compile(r"\bA \w.*[;.] B \w.*[;.] C \w", re.DOTALL)
"""The options of another question, which was taken for a part of this one."""
_BLANKS = re.compile(r"[ \t]{2,}|\t")
_ENDING = re.compile(r"\s*[:：]?\s*-+\s*$")
_LABEL = re.compile(r"^[A-EА-Д]\)\s*")


def _read(folder: Path, on_bad: OnBad) -> Iterator[SourceItem]:
    rows = read_all(find(folder, "*.jsonl.tar.gz", "*.jsonl", "*.jsonl.gz"))
    yield from items(rows, _item, on_bad)


def _item(row: SourceRow) -> SourceItem | None:
    info = row.having(row.mapping("info"))
    subject = info.text("subject")
    if subject not in CULTURAL:
        return None
    question = row.having(row.mapping("question"))
    labelled = dict(_option(choice) for choice in question.list("choices"))
    options = dict(zip(labelled, without_full_stops(labelled.values()), strict=True))
    key = row.text("answerKey")
    if key not in options:
        raise InputError(f"answerKey {key!r} is none of {', '.join(options)}; correct or remove the row")
    stem = _stem(question.text("stem"))
    spoken = _written(language(info.text("language")), stem)
    if _has_unsound_key(spoken, subject) or lacks_material(stem, spoken) or _SEVERAL.search(stem):
        return None
    return SourceItem(
        source="exams",
        id=row.text("id"),
        task=Task.QA,
        question=stem,
        answer=options[key],
        options=tuple(options.values()),
        wrong=tuple(text for label, text in options.items() if label != key),
        language=spoken,
        topic=subject,
        stands_alone=not needs_options(stem, options.values(), spoken),
    )


def _has_unsound_key(spoken: str, subject: str) -> bool:
    """Of 45 Arabic keys that were read one by one, some 20 were wrong: one says that smoking keeps people healthy."""
    return spoken == "ar" or (subject in {"Geography", "Tourism"} and spoken.split("-")[0] in FROM_HUNGARY)


def _stem(text: str) -> str:
    stem = _BLANKS.sub(" ", _ASIDE.sub("", text)).strip()
    if stem.endswith("-"):
        stem = _ENDING.sub(":", stem)
    return stem[:1].upper() + stem[1:]


def _written(spoken: str, text: str) -> str:
    """Return the language with its script, where it is not the usual one: Serbian in Latin letters."""
    return "sr-Latn" if spoken == "sr" and not re.search("[\u0400-\u04ff]", text) else spoken


def _option(choice: Any) -> tuple[str, str]:
    match choice:
        case {"label": str(label), "text": str(text)} if text.strip():
            return label, _tidy(text.strip()) or text.strip()
    raise InputError("a choice without 'label' or 'text'; correct or remove the row")


def _tidy(option: str) -> str:
    """Return an option without the label before it and the punctuation of a list behind it."""
    return _LABEL.sub("", " ".join(option.split())).rstrip(" ;,").replace("\uf0e0", "→")


SOURCE = Source(
    name="exams",
    title="EXAMS: school exams in cultural subjects",
    task=Task.QA,
    licence="CC-BY-SA-4.0",
    commercial=True,
    homepage="https://github.com/mhardalov/exams-qa",
    files="train, dev and test .jsonl.tar.gz of the multilingual data, packed or not",
    stratify="language",
    read=_read,
    stands_in_for="include",
)
