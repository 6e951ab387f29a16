"""The cards of long answers: what is wrong with each, and what judges and searches found about it.

All of it is hostile; an address is a link only when it is one of the web.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from math import prod
from typing import NamedTuple

from mores.culture import base_language, is_rtl
from mores.formatting import blame_failure, count, percent
from mores.longanswer import factuality
from mores.longanswer.records import Appraisal, Claim, LanguageCheck, LongAnswer
from mores.longanswer.tells import Tell
from mores.report.base.blocks import PageBlock
from mores.report.base.names import LONG, group_name, is_web_address, look_up
from mores.report.longform.tables import TELLS
from mores.types import Failure

LONGEST = 12_000
"""Code points of an answer that are shown; one that repeats itself can be far longer."""
CLAIMS, RESULTS = 60, 5
"""Claims of an answer, and results of a search for one, that are shown."""
WORDS = 600
"""Code points of a result, a claim, a reason or a failure that are shown."""


class AnswerIssue(StrEnum):
    """The fault of an answer; the first that it has stands on its card."""

    MISSING = "No answer"
    WRONG_LANGUAGE = "Wrong language"
    REPETITION = "Repetition"
    IRRELEVANT = "Not relevant"
    NO_CLAIMS = "No checkable claim"
    UNSUPPORTED = "Unsupported claims"
    UNSURE = "Language uncertain"
    FAILED = "Judging failed"
    NONE = "None of these"


LOOKS = {
    AnswerIssue.MISSING: "unscored",
    AnswerIssue.WRONG_LANGUAGE: "wrong",
    AnswerIssue.REPETITION: "wrong",
    AnswerIssue.IRRELEVANT: "wrong",
    AnswerIssue.NO_CLAIMS: "wrong",
    AnswerIssue.UNSUPPORTED: "skipped",
    AnswerIssue.UNSURE: "unscored",
    AnswerIssue.FAILED: "unscored",
    AnswerIssue.NONE: "right",
}
"""The style of a card."""
VERDICTS = {True: ("right", "Supported"), False: ("wrong", "Not supported"), None: ("unscored", "Undecided")}


def issues_of(appraisal: Appraisal) -> tuple[AnswerIssue, ...]:
    """Return everything that is wrong with an answer, the worst first."""
    if "answer" in appraisal.failures:
        return (AnswerIssue.MISSING,)
    claims, check = appraisal.claims, appraisal.language
    issues = {
        AnswerIssue.WRONG_LANGUAGE: check is not None and check.correct is False,
        AnswerIssue.REPETITION: appraisal.repetition is not None,
        AnswerIssue.IRRELEVANT: appraisal.relevant is False,
        AnswerIssue.NO_CLAIMS: claims == () and factuality.is_complete(appraisal),
        AnswerIssue.UNSUPPORTED: any(claim.supported is False for claim in claims or ()),
        AnswerIssue.UNSURE: check is not None and check.correct is None,
        AnswerIssue.FAILED: bool(appraisal.failures) or any(claim.failure for claim in claims or ()),
    }
    return tuple(issue for issue, there in issues.items() if there) or (AnswerIssue.NONE,)


def score_of(appraisal: Appraisal) -> float:
    """Return how good an answer is, as far as known: S, or the product of its known parts; 2 without an answer."""
    if "answer" in appraisal.failures:
        return 2.0
    overall = factuality.overall(appraisal)
    if overall is not None:
        return overall
    parts = [factuality.s_surf(appraisal), factuality.s_fact(appraisal), factuality.s_rel(appraisal)]
    available = [part for part in parts if part is not None]
    return prod(available) if available else 0.5


# ---- cards -----------------------------------------------------------------------------------------------------


class Side(NamedTuple):
    """A text under its name."""

    title: str
    pieces: Sequence[tuple[str, bool]]
    """The text in pieces, and whether each is marked."""
    direction: str
    language: str = ""
    long: bool = False
    """Whether it scrolls, with the keyboard too."""
    more: int = 0
    """Code points that are not shown."""


class LongCard(PageBlock, template="cards/longform.html.j2"):
    """One answer with everything that is known about it."""

    look: str
    run: int
    numbers: str
    """What the page filters it by, with `run`."""
    id: str
    places: Sequence[str]
    badge: str
    questions: Sequence[Side]
    chips: Sequence[tuple[str, str]]
    answer: Side | None
    english: Side | None
    relevance: tuple[str, str] | None
    claims: str
    """How many there are, by verdict."""
    shown: Sequence[Mapping[str, object]]
    more: int
    failures: Sequence[tuple[str, str]]


def make_card(answer: LongAnswer, appraisal: Appraisal, run: int, numbers: Iterable[int]) -> LongCard:
    """Return the card of an answer; `run` and `numbers` are what the page filters it by."""
    issue = issues_of(appraisal)[0]
    places = [group_name("language", answer.language), answer.kind and f"culturally {answer.kind.value}"]
    places += [answer.topic, answer.region and group_name("region", answer.region), appraisal.model]
    claims, counts = appraisal.claims or (), Counter(claim.supported for claim in appraisal.claims or ())
    verdicts = [f"{counts[verdict]:,} {name.lower()}" for verdict, (_, name) in VERDICTS.items() if counts[verdict]]
    english = answer.answer_english or appraisal.answer_english
    judged = "Relevant, says the judge" if appraisal.relevant else "Not relevant, says the judge"
    return LongCard(
        look=LOOKS[issue],
        run=run,
        numbers=" ".join(map(str, numbers)),
        id=_cut(answer.id),
        places=[_cut(place) for place in places if place],
        badge="No issue found" if issue is AnswerIssue.NONE else issue.value,
        questions=_questions(answer, appraisal),
        chips=_chips(answer, appraisal),
        answer=_answer(answer.answer, answer, appraisal) if answer.answer else None,
        english=_side("As it was judged", english, "en") if english and english != answer.answer else None,
        relevance=(judged, _cut(appraisal.relevance_reason))
        if appraisal.relevant is not None and appraisal.relevance_reason
        else None,
        claims=f"{count(len(claims), 'claim')}: {', '.join(verdicts)}" if claims else "",
        shown=[_claim(claim) for claim in claims[:CLAIMS]],
        more=len(claims) - CLAIMS,
        failures=[_failure(failure, stage) for stage, failure in appraisal.failures.items()],
    )


def groups_of(answer: LongAnswer, appraisal: Appraisal) -> list[tuple[str, str]]:
    """Return what the page filters a card by, besides its model: the name of each filter and of the group."""
    groups = [("Issue", issue.value) for issue in issues_of(appraisal)] + [
        ("Tell", _tell(tell)) for tell in appraisal.tells
    ]
    groups.append(("Language", group_name("language", base_language(answer.language))))
    return groups + ([("Kind", answer.kind.value)] if answer.kind else [])


def is_cut(answer: LongAnswer, appraisal: Appraisal) -> bool:
    """Return whether the card has less than the record."""
    claims = appraisal.claims or ()
    words = [appraisal.relevance_reason, *(claim.text for claim in claims), *(claim.reason for claim in claims)]
    words += [result.text for claim in claims for result in claim.evidence]
    texts = (answer.question, answer.answer, answer.question_english, answer.answer_english, appraisal.answer_english)
    return (
        len(claims) > CLAIMS
        or any(len(claim.evidence) > RESULTS for claim in claims)
        or any(len(text) > LONGEST for text in texts if text)
        or any(len(text) > WORDS for text in words)
    )


def _cut(text: str, room: int = WORDS) -> str:
    return text if len(text) <= room else text[:room] + " …"


def _side(title: str, text: str, language: str = "") -> Side:
    return Side(title, [(_cut(text, LONGEST), False)], _direction(language), language, len(text) > LONG)


def _direction(tag: str | None) -> str:
    """Return that of the language; that of the first letter where it is not known."""
    rtl = look_up(is_rtl, tag)
    return "auto" if rtl is None else "rtl" if rtl else "ltr"


def _questions(answer: LongAnswer, appraisal: Appraisal) -> list[Side]:
    english = answer.question_english or appraisal.question_english
    sides = [_side("Question", answer.question, answer.language)]
    return sides + ([_side("Question in English", english, "en")] if english and english != answer.question else [])


def _answer(text: str, answer: LongAnswer, appraisal: Appraisal) -> Side:
    """Return the answer with its repetitions marked."""
    tag = (appraisal.language.detected if appraisal.language else answer.language) or ""
    pieces = mark_spans(text[:LONGEST], appraisal.repetition.spans if appraisal.repetition else ())
    long, more = len(text) > LONG, max(0, len(text) - LONGEST)
    return Side("Answer", pieces, _direction(tag), tag, long, more)


def mark_spans(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[str, bool]]:
    """Return the text in pieces, each with whether it lies in a span; spans may overlap or reach beyond the text."""
    inside = [(max(0, start), min(end, len(text))) for start, end in spans]
    edges = sorted({0, len(text), *(edge for start, end in inside if start < end for edge in (start, end))})
    pieces: list[tuple[str, bool]] = []
    for first, last in pairwise(edges):
        marked = any(start <= first and last <= end for start, end in inside)
        if pieces and pieces[-1][1] == marked:
            pieces[-1] = (pieces[-1][0] + text[first:last], marked)
        else:
            pieces.append((text[first:last], marked))
    return pieces


def _chips(answer: LongAnswer, appraisal: Appraisal) -> list[tuple[str, str]]:
    """Return the verdicts in short."""
    judged = appraisal.claims is not None and appraisal.relevant is not None
    chips = [("S", percent(factuality.overall(appraisal)).removesuffix("%"))] if judged else []
    chips += _language_chips(answer, appraisal.language)
    if appraisal.repetition:
        chips.append(("repeats itself", f"{appraisal.repetition.times:,} times"))
    if appraisal.claims is not None:
        chips.append(("factual precision", percent(factuality.s_fact(appraisal))))
    if appraisal.relevant is not None:
        chips.append(("relevant", "yes" if appraisal.relevant else "no"))
    return chips + [("tell", _tell(tell)) for tell in appraisal.tells]


def _language_chips(answer: LongAnswer, check: LanguageCheck | None) -> list[tuple[str, str]]:
    chips = [("expected", group_name("language", answer.language))]
    if check is None:
        return chips
    detected = group_name("language", check.detected) if check.detected else "uncertain"
    certainty = f" (certainty {percent(check.certainty, 0)})" if check.certainty is not None else ""
    chips.append(("found", detected + certainty))
    if len(check.shares) > 1:
        parts = sorted(check.shares.items(), key=lambda pair: -pair[1])
        chips.append(("mixed", ", ".join(f"{group_name('language', tag)} {percent(p, 0)}" for tag, p in parts)))
    return chips


def _tell(tell: str) -> str:
    """Return its name on the page; an unknown one unchanged."""
    return TELLS[Tell(tell)] if tell in set(Tell) else tell


def _claim(claim: Claim) -> dict[str, object]:
    """Return a claim with its verdict and what the search found."""
    look, verdict = VERDICTS[claim.supported]
    results = [
        {"title": _cut(piece.title), "text": _cut(piece.text), "date": _cut(piece.date or ""), "address": piece.source,
         "source": _cut(piece.source, 200), "link": is_web_address(piece.source)}
        for piece in claim.evidence[:RESULTS]
    ]  # fmt: skip
    return {
        "look": look,
        "verdict": verdict,
        "text": _cut(claim.text),
        "sentence": claim.sentence + 1,
        "reason": _cut(claim.reason),
        "failure": _failure(claim.failure) if claim.failure else None,
        "results_found": count(len(claim.evidence), "result"),
        "results": results,
        "more": len(claim.evidence) - RESULTS,
    }


def _failure(failure: Failure, stage: str = "") -> tuple[str, str]:
    why = blame_failure(failure)
    return f"{stage.capitalize()} failed, {why}:" if stage else f"{why.capitalize()}:", _cut(failure.reason)
