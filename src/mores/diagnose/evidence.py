"""Two runs of a model, without and with evidence, and what the evidence has to do with each question.

By rule, and where a model is asked also by a judge that sees the question, the results and the answer. By rule a text
has an answer that stands in it as whole words (`mores.stats.explanations`), whatever the case, accents, punctuation and
kind of digits, in scripts with and without spaces; thousands separators, a full stop at its end and an article before
it make no difference. The rule cannot tell for a long answer that is not there word by word, because it may be there in
other words, nor for answers such as "True" or "i, iii", which have no words of their own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from mores.bench.benchmark import Benchmark, Label
from mores.bench.evidence import Searched
from mores.bench.folder import EVIDENCE
from mores.bench.prompts import hash_of
from mores.diagnose.paired import Asked, Opened, Pair, check_alike, open_run, pair_up, read_asked, short
from mores.diagnose.verdict import ask_judge, prompt, read_lines
from mores.engine import Asker, Job, Reply, read_reply
from mores.errors import ConfigError
from mores.io import read_records
from mores.models import Request
from mores.search import Evidence
from mores.search.words import words
from mores.signature import sign
from mores.stats.explanations import match_answer
from mores.types import Failure, Item, Record, Signature

VERSION = 1
NAMES = ("without evidence", "with evidence")
JUDGED = "retrieval.jsonl"
"""File of what a judge says."""
LONGEST_RESULT = 2000
"""Characters of one result that a judge reads."""
LONGEST = 8
"""Words up to which an answer that is not there as it stands counts as not there."""

_TRUTHS = {"true", "false", "yes", "no", "neutral"}
_NUMBERING = re.compile(r"(?:i{1,3}|iv|v)(?:\s*,\s*(?:i{1,3}|iv|v))*|[a-z]")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:([,.\'’\u00a0\u2009\u202f])\d{3})(?:\1\d{3})*(?![\d.,]?\d)")
_OTHER = re.compile(r"[\W_]+")
_PLAIN = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}
    | dict.fromkeys("\u02bb\u02bc\u0640", "")
)
"""As in `mores.stats.explanations`; apostrophes that are letters and the Arabic stretch are dropped."""
_BOLD = re.compile(r"\*\*(.+?)\*\*|__(.+?)__", re.DOTALL)
_ARTICLE = re.compile(r"(?:[Tt]he|[Aa]n?|les?|la|une?|el|los|las|os?|as|uma?)\s+|[Ll][\'’]")
"""Of English, French, Spanish and Portuguese; small in the latter, for `La Paz` is a name."""
_LINES = {"CONTAINED": ("YES", "NO"), "TAKEN": ("YES", "NO")}


# ---- the rule --------------------------------------------------------------------------------------------------


def has_answer(text: str, references: Sequence[str]) -> bool | None:
    """Whether a text has one of the answers; None where the rule cannot tell."""
    known = [one for one in references if _decidable(one)]
    plain = plain_numbers(text)
    if any(_stands(plain, form) for one in known for form in _forms(one)):
        return True
    certain = known and len(known) == len(references) and all(len(words(one)) <= LONGEST for one in known)
    return False if certain else None


def _decidable(answer: str) -> bool:
    bare = answer.strip().strip(".").casefold()
    return bool(words(answer)) and bare not in _TRUTHS and not _NUMBERING.fullmatch(bare)


def _forms(answer: str) -> Iterator[str]:
    """An answer as it is, and without the article before it."""
    whole = answer.strip()
    yield whole
    if len(bare := _ARTICLE.sub("", whole, count=1) if _ARTICLE.match(whole) else "") > 2:
        yield bare


def _stands(plain: str, answer: str) -> bool:
    wanted = plain_numbers(answer.rstrip(".。"))
    # Most texts do not even have the letters in a row, and to see that is a hundred times faster.
    return letters(wanted) in letters(plain) and match_answer(plain, wanted).normalised


@lru_cache(maxsize=256)
def letters(text: str) -> str:
    """Only the letters and digits of a text, in a coarser form than that in which words are compared."""
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return _OTHER.sub("", apart.translate(_PLAIN))


def plain_numbers(text: str) -> str:
    """A text with Western digits and without thousands separators: `1,000`, `1.000` and `١٬٠٠٠` are `1000`."""
    digits = "".join(str(unicodedata.decimal(sign)) if sign.isdecimal() else sign for sign in text)
    return _THOUSANDS.sub(lambda number: re.sub(r"\D", "", number[0]), digits.replace("\u066c", ","))


def is_taken(answer: str, question: str, texts: Sequence[str]) -> bool | None:
    """Whether a short answer, or what is bold in a longer one, stands in the texts; None where nothing is short enough.

    What stands in the question too tells nothing: the texts were found because of it.
    """
    bold = [one or other for one, other in _BOLD.findall(answer)]
    some = [one for one in (answer, *bold) if 0 < len(words(one)) <= LONGEST and _decidable(one)]
    own = [one for one in some if not has_answer(question, [one])]
    if not some:
        return None
    return any(has_answer(text, own) for text in texts) if own else False


# ---- what a search gave ----------------------------------------------------------------------------------------


class Seen(Record):
    """What the results of a search have to do with a question."""

    unit: str
    results: int
    coverage: float | None
    """Share of the different words of the query that stand in a result; None for a query without words."""
    contained: bool | None
    """Whether a result has the reference answer; None where the rule cannot tell."""
    where: tuple[int, ...] = ()
    """Numbers of the results that have it."""
    taken: bool | None = None
    """Whether the answer that the model gave stands in a result."""
    excerpt: str = ""
    """The first result that has the reference answer, else the first."""


class Gathered(NamedTuple):
    """The results for all parts of a question."""

    unit: str
    query: str
    evidence: tuple[Evidence, ...]


def gather(rows: Iterable[Searched], units: Mapping[str, str]) -> Iterator[Gathered]:
    """What was found for each question; the parts of one come together, and the same result counts once."""
    for unit, own in groupby(rows, lambda row: units.get(row.id, row.id)):
        parts = list(own)
        queries = dict.fromkeys(part.query for part in parts)
        found = dict.fromkeys(_whole(one) for part in parts for one in part.found.evidence)
        by_text = {_whole(one): one for part in reversed(parts) for one in reversed(part.found.evidence)}
        yield Gathered(unit, "\n".join(queries), tuple(by_text[text] for text in found))


def look(found: Gathered, asked: Asked) -> Seen:
    """What the results have to do with the question, by rule."""
    texts = [_whole(one) for one in found.evidence]
    # The answers to several parts stand in no single place: of these the rule says nothing.
    hits = [has_answer(text, asked.reference if asked.parts == 1 else ()) for text in texts]
    where = tuple(number for number, hit in enumerate(hits, 1) if hit)
    contained = True if where else None if None in hits else False
    first = where[0] - 1 if where else 0
    return Seen(
        unit=found.unit, results=len(texts), coverage=_coverage(found.query, texts), contained=contained, where=where,
        taken=_taken(asked, texts),
        excerpt=short(texts[first], 300) if texts else "",
    )  # fmt: skip


def _taken(asked: Asked, texts: Sequence[str]) -> bool | None:
    """Who gave no answer has taken none."""
    if asked.label is not Label.INCORRECT:
        return False
    return is_taken(asked.chosen, asked.question, texts) if asked.chosen else None


def _whole(one: Evidence) -> str:
    """All of a result that a model sees."""
    return "\n".join(filter(None, (one.title, one.date, one.text)))


def _coverage(query: str, texts: Sequence[str]) -> float | None:
    wanted = set(words(query))
    there = {word for text in texts for word in words(text)}
    return len(wanted & there) / len(wanted) if wanted else None


# ---- the judge -------------------------------------------------------------------------------------------------


class EvidenceVerdict(Record):
    """What a judge says of the results for one question, or why it says nothing."""

    unit: str
    contained: bool | None = None
    taken: bool | None = None
    reason: str = ""
    failure: Failure | None = None


@dataclass(frozen=True)
class EvidenceJudge:
    """Asks a model about every question that is wrong with evidence and has results."""

    runs: Runs
    judge: Asker

    @property
    def identity(self) -> str:
        """The judge and its prompt, for the signature."""
        return f"{self.judge.model.identity}.{hash_of(prompt('evidence.en'))}"

    async def ask(self, path: Path) -> None:
        """Put what the judge says into a file."""
        stage = f"{self.runs.with_.result.benchmark}: judging evidence"
        self.judge.announce(stage, self.jobs())
        total = sum(1 for _ in self.jobs())
        await self.judge.write(
            path, self.jobs(), lambda answer: _verdict(answer.job.id, read_reply(answer)), stage=stage, total=total
        )

    def jobs(self) -> Iterator[Job]:
        """The calls to make."""
        wrong = {pair.second.unit: pair.second for pair in self.runs.pairs if not pair.second.right}
        for found in self.runs.gathered():
            if found.evidence and (asked := wrong.get(found.unit)):
                yield Job(found.unit, evidence_request(asked, found.evidence))


def evidence_request(asked: Asked, evidence: Sequence[Evidence]) -> Request:
    """Asks whether the results have the reference answer, and the answer that was given."""
    results = "\n\n".join(f"{number}. {short(_whole(one), LONGEST_RESULT)}" for number, one in enumerate(evidence, 1))
    texts = {
        "question": asked.question, "reference": "\nor\n".join(asked.reference), "results": results,
        "answer": asked.chosen or asked.answer or "",
    }  # fmt: skip
    return ask_judge(prompt("evidence.en"), tuple(_LINES), {}, texts)


def _verdict(unit: str, said: Reply) -> EvidenceVerdict:
    found = said if isinstance(said, Failure) else read_lines(said, _LINES)
    if isinstance(found, Failure):
        return EvidenceVerdict(unit=unit, failure=found)
    yes = {name: value == "YES" for name, value in found.values.items()}
    return EvidenceVerdict(unit=unit, contained=yes["CONTAINED"], taken=yes["TAKEN"], reason=found.reason)


def read_verdicts(path: Path) -> dict[str, EvidenceVerdict]:
    """What a judge said, from its file."""
    return {one.unit: one for one in read_records(path, EvidenceVerdict)}


# ---- the runs --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Runs:
    """Two runs of a model, without and with evidence."""

    without: Opened
    with_: Opened
    pairs: Sequence[Pair]
    left_out: Mapping[str, int]
    notes: tuple[str, ...] = ()

    def gathered(self) -> Iterator[Gathered]:
        """What was found for each question, one at a time."""
        items: Sequence[Item] = self.with_.folder.items()
        units = {item.id: self.with_.benchmark.unit(item) for item in items}
        return gather(read_records(self.with_.folder.file(EVIDENCE), Searched), units)

    def seen(self) -> dict[str, Seen]:
        """What the results have to do with each question that is compared."""
        asked = {pair.second.unit: pair.second for pair in self.pairs}
        return {found.unit: look(found, asked[found.unit]) for found in self.gathered() if found.unit in asked}

    def signature(self, contained: str) -> Signature:
        """What must be the same for two results to be comparable."""
        return sign({"diagnosis": f"retrieval.{VERSION}", **self.with_.fields, "contained": contained})


def open_runs(one: Path, other: Path, *, known: Benchmark | None = None, force: bool = False) -> Runs:
    """Two run folders, in any order; ConfigError where they are not the same but for the evidence."""
    plain, shown = sorted((open_run(one, known), open_run(other, known)), key=lambda run: "search" in run.fields)
    if "search" in plain.fields or "search" not in shown.fields:
        which = "each" if "search" in plain.fields else "neither"
        fix = "give one run of `mores bench` without a search and one with it"
        raise ConfigError(f"{one} and {other}: {which} of them was asked with evidence; {fix}")
    notes = check_alike(plain, shown, ("benchmark", "data", "model", "task"), ("decoding", "judge"), force)
    pairs, left_out = pair_up(read_asked(plain), read_asked(shown), NAMES)
    return Runs(plain, shown, pairs, left_out, tuple(notes))
