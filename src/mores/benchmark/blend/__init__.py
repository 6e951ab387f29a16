"""BLEnD (Myung et al. 2024): everyday knowledge of 16 regions, as a choice of options or as a short answer."""

from __future__ import annotations

import re
from dataclasses import replace

from mores.benchmark.benchmark import Benchmark, Graded, Label
from mores.benchmark.choice import grade_letter, guess_letter, lettered, letters
from mores.factory.items import SourceItem
from mores.factory.sources.blend import REGIONS, SOURCE, RegionalAnswers, read_answers
from mores.factory.sources.matching import says
from mores.factory.sources.rows import unique
from mores.prompts import fill, read_prompt
from mores.reading import without_thoughts
from mores.types import Item

_ANSWER = re.compile(r"\A\s*answer:\s*", re.IGNORECASE)  # repeated from the prompt


def _choice(item: SourceItem) -> Item:
    text = fill(read_prompt(__file__, "choice"), question=item.question, options=lettered(item.options))
    place = item.id.rpartition(":")[2]
    return Item(
        id=item.id, prompt=text, choices=item.options, target=(item.answer,), language=item.language,
        region=item.region, metadata={"place": place},
    )  # fmt: skip


def _short(answers: RegionalAnswers) -> Item:
    return Item(
        id=":".join(answers.unit),
        prompt=fill(read_prompt(__file__, "short"), question=answers.question),
        target=unique(answers.wordings),
        language="en",
        region=REGIONS[answers.unit[1]],
        metadata={"place": answers.unit[1]},
    )


def grade_short(item: Item, text: str) -> Graded:
    """Accept an answer that someone gave, as the authors match it; the first of those is shown."""
    answer = _ANSWER.sub("", without_thoughts(text))
    if not any(map(str.isalnum, answer)):
        return Graded(label=Label.NOT_ATTEMPTED)
    matched = next((target for target in item.target if says(answer, target)), None)
    return Graded(label=Label.INCORRECT if matched is None else Label.CORRECT, read=matched)


CHOICE = Benchmark(
    name="blend",
    title="BLEnD: everyday knowledge, one option of up to four",
    version="2",
    licence=SOURCE.licence,
    homepage=SOURCE.homepage,
    files=SOURCE.files,
    read=lambda folder, on_bad: map(_choice, SOURCE.read(folder, on_bad)),
    source="blend",
    grade=grade_letter,
    groupings=("place", "region"),
    candidates=letters,
    references=guess_letter,
    max_tokens=64,
    hub=SOURCE.hub,
)
SHORT = replace(
    CHOICE,
    name="blend-short",
    title="BLEnD: everyday knowledge, short answers",
    read=lambda folder, on_bad: map(_short, read_answers(folder, on_bad)),
    grade=grade_short,
    candidates=None,
    references=lambda _: {},
)
