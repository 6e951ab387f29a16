"""Two runs of a model, without and with evidence, and how the evidence relates to each question.

A rule decides this and, if there is one, a judge that sees the question, the results and the answer. By the rule, a
text contains an answer that occurs in it as whole words (`mores.stats.explanations`), whatever the case, accents,
punctuation and kind of digits, in scripts with and without spaces; thousands separators, a full stop at its end and an
article before it make no difference. The rule cannot decide about a long answer that does not occur word by word,
because it may be paraphrased, nor about answers such as "True" or "i, iii", which say nothing outside their question.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from mores.benchmark.benchmark import Benchmark, Label
from mores.benchmark.evidence import SearchedItem
from mores.benchmark.folder import EVIDENCE
from mores.diagnosis.paired import AskedQuestion, Opened, PairedRuns, open_run, shorten
from mores.diagnosis.verdict import ask_judge, read_lines
from mores.engine import Asker, Job, Reply, read_reply
from mores.errors import ConfigError
from mores.io import read_records
from mores.models import Request
from mores.prompts import hash_prompts, read_prompt
from mores.search import Evidence
from mores.search.words import words
from mores.stats.explanations import match_answer
from mores.types import Failure, Item, Record, Signature

NAMES = ("without evidence", "with evidence")
PROVIDER = "the provider's own"
"""The search of a model that searches by itself."""
JUDGED = "retrieval.jsonl"
"""File with the judge's verdicts."""
LONGEST_RESULT = 2000
"""Characters of one result that a judge reads."""
LONGEST = 8
"""An answer of at most this many words must occur literally; a longer one may be paraphrased."""

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
"""Of English, French, Spanish and Portuguese; lower-case in the last three, because `La Paz` is a name."""
_PROMPT = read_prompt(__file__, "prompts/evidence.en")
_LINES = {"CONTAINED": ("YES", "NO"), "TAKEN": ("YES", "NO")}


# ---- the rule --------------------------------------------------------------------------------------------------


def has_answer(text: str, references: Sequence[str]) -> bool | None:
    """Return whether a text contains one of the answers; None where the rule cannot decide."""
    decidable = [reference for reference in references if _decidable(reference)]
    plain = plain_numbers(text)
    stripped = [reference.strip() for reference in decidable]
    # With and without the article before it.
    bare = [_ARTICLE.sub("", answer, count=1) for answer in stripped if _ARTICLE.match(answer)]
    for answer in (*stripped, *(answer for answer in bare if len(answer) > 2)):
        target = plain_numbers(answer.rstrip(".。"))
        # Most texts do not even contain its letters in a row, which is a hundred times faster to check.
        if letters(target) in letters(plain) and match_answer(plain, target).normalised:
            return True
    all_short = all(len(words(reference)) <= LONGEST for reference in decidable)
    return False if decidable and len(decidable) == len(references) and all_short else None


def _decidable(answer: str) -> bool:
    bare = answer.strip().strip(".").casefold()
    return bool(words(answer)) and bare not in _TRUTHS and not _NUMBERING.fullmatch(bare)


@lru_cache(maxsize=256)
def letters(text: str) -> str:
    """Return the letters and digits of a text, in a coarser form than the one in which words are compared."""
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return _OTHER.sub("", apart.translate(_PLAIN))


def plain_numbers(text: str) -> str:
    """Return a text with Western digits and without thousands separators: `1,000`, `1.000` and `١٬٠٠٠` are `1000`."""
    digits = "".join(str(unicodedata.decimal(sign)) if sign.isdecimal() else sign for sign in text)
    return _THOUSANDS.sub(lambda number: re.sub(r"\D", "", number[0]), digits.replace("\u066c", ","))


def is_taken(answer: str, question: str, texts: Sequence[str]) -> bool | None:
    """Return whether an answer of a few words, or the bold part of a longer one, occurs in the texts.

    None without such words. Words of the question do not count: the texts were found because of them.
    """
    bold = [starred or underlined for starred, underlined in _BOLD.findall(answer)]
    phrases = [phrase for phrase in (answer, *bold) if 0 < len(words(phrase)) <= LONGEST and _decidable(phrase)]
    informative = [phrase for phrase in phrases if not has_answer(question, [phrase])]
    if not phrases:
        return None
    return any(has_answer(text, informative) for text in texts) if informative else False


# ---- the results of a search -----------------------------------------------------------------------------------


class EvidenceMatch(Record):
    """The relation of a search's results to a question."""

    unit: str
    results: int
    coverage: float | None
    """Share of the different words of the query that occur in a result; None for a query without words."""
    contained: bool | None
    """Whether a result contains the reference answer; None where the rule cannot decide."""
    containing: tuple[int, ...] = ()
    """Numbers of the results that contain it."""
    taken: bool | None = None
    """Whether the model's answer occurs in a result."""
    excerpt: str = ""
    """The first result that contains the reference answer, otherwise the first."""


class Gathered(NamedTuple):
    """The results for all parts of a question."""

    unit: str
    query: str
    evidence: tuple[Evidence, ...]


def gather(rows: Iterable[SearchedItem], units: Mapping[str, str]) -> Iterator[Gathered]:
    """Yield the results for each question, all parts together; the same result counts once."""
    for unit, rows_of_unit in groupby(rows, lambda row: units.get(row.id, row.id)):
        parts = list(rows_of_unit)
        queries = dict.fromkeys(part.query for part in parts)
        texts = dict.fromkeys(_full_text(result) for part in parts for result in part.found.evidence)
        by_text = {_full_text(result): result for part in reversed(parts) for result in reversed(part.found.evidence)}
        yield Gathered(unit, "\n".join(queries), tuple(by_text[text] for text in texts))


def match_evidence(gathered: Gathered, asked: AskedQuestion) -> EvidenceMatch:
    """Return how the results relate to the question, by rule."""
    texts = [_full_text(result) for result in gathered.evidence]
    # The rule cannot decide about questions with several parts, because no single text has all their answers.
    hits = [has_answer(text, asked.reference if asked.parts == 1 else ()) for text in texts]
    containing = tuple(number for number, hit in enumerate(hits, 1) if hit)
    contained = True if containing else None if None in hits else False
    first = containing[0] - 1 if containing else 0
    query_words, result_words = set(words(gathered.query)), {word for text in texts for word in words(text)}
    # Only an incorrect answer can be taken from the results.
    taken = asked.label is Label.INCORRECT and (is_taken(asked.chosen, asked.question, texts) if asked.chosen else None)
    return EvidenceMatch(
        unit=gathered.unit, results=len(texts), contained=contained, containing=containing, taken=taken,
        coverage=len(query_words & result_words) / len(query_words) if query_words else None,
        excerpt=shorten(texts[first]) if texts else "",
    )  # fmt: skip


def _full_text(result: Evidence) -> str:
    """Return everything that a model sees of a result."""
    return "\n".join(filter(None, (result.title, result.date, result.text)))


# ---- the judge -------------------------------------------------------------------------------------------------


class EvidenceVerdict(Record):
    """A judge's verdict on the results for one question, or why there is none."""

    unit: str
    contained: bool | None = None
    taken: bool | None = None
    reason: str = ""
    failure: Failure | None = None


@dataclass(frozen=True)
class EvidenceJudge:
    """Asks a model about every question that has results and is wrong with them."""

    runs: EvidenceRuns
    judge: Asker

    @property
    def identity(self) -> str:
        """The judge and its prompt, for the signature."""
        return f"{self.judge.model.identity}.{hash_prompts(_PROMPT)}"

    async def ask(self, path: Path) -> None:
        """Write the judge's verdicts to a file."""
        stage = f"{self.runs.second.result.benchmark}: judging evidence"
        self.judge.announce(stage, self.jobs())
        total = sum(1 for _ in self.jobs())
        await self.judge.write(
            path, self.jobs(), lambda answer: _verdict(answer.job.id, read_reply(answer)), stage=stage, total=total
        )

    def jobs(self) -> Iterator[Job]:
        """Yield the questions to the judge."""
        wrong = {pair.second.unit: pair.second for pair in self.runs.pairs if not pair.second.correct}
        for gathered in self.runs.gathered():
            if gathered.evidence and (asked := wrong.get(gathered.unit)):
                yield Job(gathered.unit, evidence_request(asked, gathered.evidence))


def evidence_request(asked: AskedQuestion, evidence: Sequence[Evidence]) -> Request:
    """Return the question whether the results contain the reference answer and the model's answer."""
    results = "\n\n".join(
        f"{number}. {shorten(_full_text(result), LONGEST_RESULT)}" for number, result in enumerate(evidence, 1)
    )
    texts = {
        "question": asked.question, "reference": "\nor\n".join(asked.reference), "results": results,
        "answer": asked.chosen or asked.answer or "",
    }  # fmt: skip
    return ask_judge(_PROMPT, tuple(_LINES), {}, texts)


def _verdict(unit: str, reply: Reply) -> EvidenceVerdict:
    lines = reply if isinstance(reply, Failure) else read_lines(reply, _LINES)
    if isinstance(lines, Failure):
        return EvidenceVerdict(unit=unit, failure=lines)
    yes = {name: value == "YES" for name, value in lines.values.items()}
    return EvidenceVerdict(unit=unit, contained=yes["CONTAINED"], taken=yes["TAKEN"], reason=lines.reason)


def read_verdicts(path: Path) -> dict[str, EvidenceVerdict]:
    """Return a judge's verdicts, from their file."""
    return {verdict.unit: verdict for verdict in read_records(path, EvidenceVerdict)}


# ---- the runs --------------------------------------------------------------------------------------------------


class EvidenceRuns(PairedRuns):
    """Two runs of a model, without and with evidence."""

    def gathered(self) -> Iterator[Gathered]:
        """Return the results for each question, one at a time; none of a provider's own search, which shows none."""
        if self.second.fields["search"] == PROVIDER:
            return iter(())
        items: Sequence[Item] = self.second.folder.items()
        units = {item.id: self.second.benchmark.unit(item) for item in items}
        return gather(read_records(self.second.folder.file(EVIDENCE), SearchedItem), units)

    def seen(self) -> dict[str, EvidenceMatch]:
        """Return how the results relate to each question that is compared."""
        asked = {pair.second.unit: pair.second for pair in self.pairs}
        if self.second.fields["search"] == PROVIDER:
            return {unit: EvidenceMatch(unit=unit, results=0, coverage=None, contained=None) for unit in asked}
        return {
            gathered.unit: match_evidence(gathered, asked[gathered.unit])
            for gathered in self.gathered()
            if gathered.unit in asked
        }


def mark_search(run: Opened) -> Opened:
    """Return a run whose model searches by itself (`web_search` of its configuration) as that model with a search."""
    name, brace, sent = run.fields.get("model", "").partition("{")
    try:
        body = json.loads(brace + sent)
    except ValueError:
        return run
    if "search" in run.fields or body.pop("web_search_options", None) is None:
        return run
    left = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False) if body else ""
    signature = Signature({**run.fields, "model": name + left, "search": PROVIDER})
    return replace(run, result=run.result.model_copy(update={"signature": signature}))


def open_runs(path: Path, other_path: Path, *, benchmark: Benchmark | None = None, force: bool = False) -> EvidenceRuns:
    """Return the runs in two folders, in any order; ConfigError if they differ in more than the evidence."""
    opened = (mark_search(open_run(folder, benchmark)) for folder in (path, other_path))
    plain, searched = sorted(opened, key=lambda run: "search" in run.fields)
    if "search" in plain.fields or "search" not in searched.fields:
        which = "both were" if "search" in plain.fields else "neither was"
        fix = "give one run of `mores bench` without a search, or the provider's own (`web_search`), and one with it"
        raise ConfigError(f"{path} and {other_path}: {which} asked with evidence; {fix}")
    same, alike = ("benchmark", "data", "model", "task"), ("decoding", "judge")
    return EvidenceRuns.make(plain, searched, NAMES, same, alike, force)
