"""EXAMS (Hardalov et al. 2020): school exams in 16 languages, from which part of INCLUDE was made; stands in for it.

Only subjects that depend on the location of the school are kept. Exams do not name their country, and items have no
region. Left out: questions about a missing picture, map or text, and exams whose answer keys are often wrong: those in
Arabic, and translations from Hungarian. The language of Serbian includes its script.
"""

from __future__ import annotations

import re

from mores.culture import language
from mores.errors import InputError
from mores.factory.items import Source, SourceItem, Task
from mores.factory.sources.files import read_tables
from mores.factory.sources.options import lacks_material, needs_options, without_full_stops
from mores.factory.sources.rows import SourceRow

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
"""Instructions to draw a circle, or to look at a page of an atlas."""
_SEVERAL = re.compile(r"\bA \w.*[;.] B \w.*[;.] C \w", re.DOTALL)
"""The options of another question, merged into this one."""
_BLANKS = re.compile(r"[ \t]{2,}|\t")
_ENDING = re.compile(r"\s*[:：]?\s*-+\s*$")
_LABEL = re.compile(r"^[A-EА-Д]\)\s*")


def _item(row: SourceRow) -> SourceItem | None:
    info = row.having(row.mapping("info"))
    subject = info.text("subject")
    if subject not in CULTURAL:
        return None
    question = row.having(row.mapping("question"))
    labelled: dict[str, str] = {}
    for choice in question.list("choices"):
        match choice:
            case {"label": str(label), "text": str(text)} if text.strip():  # without its label and list punctuation
                tidy = _LABEL.sub("", " ".join(text.split())).rstrip(" ;,").replace("\uf0e0", "→")
                labelled[label] = tidy or text.strip()
            case _:
                raise InputError("a choice without 'label' or 'text'; correct or remove the row")
    options = dict(zip(labelled, without_full_stops(labelled.values()), strict=True))
    key = row.text("answerKey")
    if key not in options:
        raise InputError(f"unknown answerKey {key!r}, not one of {', '.join(options)}; correct or remove the row")
    stem = _BLANKS.sub(" ", _ASIDE.sub("", question.text("stem"))).strip()
    if stem.endswith("-"):
        stem = _ENDING.sub(":", stem)
    stem = stem[:1].upper() + stem[1:]
    spoken = language(info.text("language"))
    if spoken == "sr" and not re.search("[\u0400-\u04ff]", stem):
        spoken = "sr-Latn"
    # Of 45 Arabic keys that were checked, about 20 were wrong: one says that smoking keeps people healthy.
    is_unsound = spoken == "ar" or (subject in {"Geography", "Tourism"} and spoken.split("-")[0] in FROM_HUNGARY)
    if is_unsound or lacks_material(stem, spoken) or _SEVERAL.search(stem):
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


SOURCE = Source(
    name="exams",
    title="EXAMS: school exams in cultural subjects",
    task=Task.QA,
    licence="CC-BY-SA-4.0",
    commercial=True,
    homepage="https://github.com/mhardalov/exams-qa",
    files="train, dev and test .jsonl.tar.gz of the multilingual data, packed or not",
    stratify="language",
    read=read_tables(_item, "*.jsonl.tar.gz", "*.jsonl", "*.jsonl.gz"),
    stands_in_for="include",
)
