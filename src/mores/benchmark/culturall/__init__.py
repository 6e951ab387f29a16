"""CulturALL (Lin et al. 2026): questions in real situations, asked in the language of the place or in English."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from mores.benchmark.benchmark import Benchmark, Graded, Label, OnBad, thirds
from mores.culture import language, region
from mores.errors import InputError
from mores.factory.sources.files import find, read_all
from mores.factory.sources.rows import SourceRow, collect, digest
from mores.metric.prompt import defuse, fence_mark
from mores.models.base import Message
from mores.prompts import fill, hash_prompts, read_prompt
from mores.reading import without_thoughts
from mores.types import Failure, FailureKind, Item, Sample

ENGLISH = "english"
SETTINGS = 15
"""Models and ways to run them in the paper."""
FILES = tuple(f"annotated_data{suffix}" for suffix in (".xlsx", ".jsonl", ".csv", "*.parquet"))


def _read(folder: Path, on_bad: OnBad) -> Iterator[Item]:
    rows = read_all(find(folder, *FILES, "annotated_data_*.xlsx"))
    yield from collect(rows, _item, on_bad)


def _item(row: SourceRow) -> Item:
    tongue, place = language(row.text("language")), row.maybe("region")
    native = _version(row, "")
    english = native if tongue == "en" and not row.maybe("english_question") else _version(row, "english_")
    metadata = {"versions": {"": native} | ({ENGLISH: english} if english else {})}
    if not native:
        raise InputError("no 'scenario', 'question' or 'answer'; expected the published columns")
    return Item(
        id=digest(native["scenario"], native["question"]),
        prompt=answer_prompt(native),
        target=(native["answer"],),
        language=tongue,
        region=region(place) if place else None,
        topic=row.maybe("topic"),
        metadata=metadata | ({"variants": {ENGLISH: answer_prompt(english)}} if english else {}) | _tier(row),
    )


def _version(row: SourceRow, prefix: str) -> dict[str, str]:
    """Return the parts of an item in one language; nothing where one is missing, except for the explanation."""
    parts = {name: row.maybe(prefix + name) for name in ("scenario", "question", "answer", "explanation")}
    parts["explanation"] = parts["explanation"] or ""
    return {name: text for name, text in parts.items() if text is not None} if None not in parts.values() else {}


def answer_prompt(version: Mapping[str, str]) -> str:
    """Return what a model is asked about an item in one language: Figure 11."""
    return fill(read_prompt(__file__, "answer"), scenario=version["scenario"], question=version["question"])


def _tier(row: SourceRow) -> dict[str, str]:
    """Return the tier in the data, or that of `eval_sum`, the number of the paper's settings that solved the item."""
    if (tier := row.maybe("tier")) is not None:
        return {"tier": tier.capitalize()}
    solved = row.maybe("eval_sum")
    if solved is None:
        return {}
    try:
        count = int(float(solved))
        if not 0 <= count <= SETTINGS:
            raise ValueError
    except (ValueError, OverflowError) as error:
        raise InputError(f"'eval_sum' is {solved!r}; expected a number from 0 to {SETTINGS}") from error
    tier = thirds(count, SETTINGS)
    return {"tier": tier} if tier else {}


_GRADE = re.compile(r"[\s*_`\"'(\[]*([01])[\s*_`\"')\].]*")
"""1 or 0 alone; marks around it, as in **1** or "1.", say nothing more."""


class Judge:
    """The prompt of Figure 12; the answer is 1 or 0, and anything else is no grade."""

    labels: tuple[Label, ...] = (Label.CORRECT, Label.INCORRECT)

    def __init__(self) -> None:
        self._fence, self._template = read_prompt(__file__, "fence"), read_prompt(__file__, "judge")
        self.prompt = hash_prompts(self._fence, self._template)

    def ask(self, item: Item, answer: str) -> tuple[Message, ...] | Graded:
        prediction = without_thoughts(answer)
        if not prediction:
            return Graded(label=Label.NOT_ATTEMPTED, reason="there is no answer in it")
        version = item.metadata["versions"][item.metadata.get("variant", "")]
        mark = fence_mark(Sample(id=item.id, instruction="\n".join(version.values()), text=prediction))
        fenced = f"<<<{mark}\n{defuse(prediction)}\n{mark}>>>"
        text = fill(self._template, **version, prediction=fenced)
        return Message("system", self._fence), Message("user", text)

    def ask_again(self, item: Item, answer: str, reply: str) -> None:
        """Return None: there is no second question."""

    def read(self, item: Item, answer: str, reply: str, again: bool) -> Graded | Failure:  # noqa: ARG002 - the protocol
        text = without_thoughts(reply)
        if (match := _GRADE.fullmatch(text)) is None:
            return Failure(kind=FailureKind.PARSE, reason=f"the judge said {text[:80]!r}; expected 1 or 0 alone")
        return Graded(label=Label.CORRECT if match[1] == "1" else Label.INCORRECT, read=match[1])


CULTURALL = Benchmark(
    name="culturall",
    title="CulturALL: questions in real situations, in 14 languages",
    version="2",
    licence="research use",
    homepage="https://github.com/AIDC-AI/Marco-LLM",
    files="annotated_data.xlsx (or .csv, .jsonl, .parquet with its columns)",
    read=_read,
    source="culturall",
    judging=Judge(),
    groupings=("tier", "topic", "language", "region"),
    query=lambda item: "{scenario} {question}".format(**item.metadata["versions"][""]),
    variants=(ENGLISH,),
)
