"""The cards of long answers: what is wrong with each, and all that is said about it.

All of it is hostile: questions, answers, what judges say and what a search found. `Markup.format` escapes every value,
and an address is a link only when it is one of the web.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from math import prod

from markupsafe import Markup

from mores.culture import is_rtl
from mores.longform import factuality
from mores.longform.records import Appraisal, Claim, LanguageCheck, LongAnswer
from mores.longform.summary import base
from mores.longform.tells import Tell
from mores.report.bench_answers import LONG
from mores.report.longform_charts import TELLS
from mores.report.meta_sheets import group_name
from mores.report.page import is_web_address, look_up
from mores.search.base import Evidence
from mores.show import count, name_failure, percent
from mores.types import Failure

LONGEST = 12_000
"""Code points of an answer that are shown; one that repeats itself can be far longer."""
CLAIMS, RESULTS = 60, 5
"""Claims of an answer, and results of a search for one, that are shown."""
WORDS = 600
"""Code points of a result, a claim, a reason or a failure that are shown."""


class Issue(StrEnum):
    """What is wrong with an answer; the first that it has stands on its card."""

    MISSING = "No answer"
    WRONG_LANGUAGE = "Wrong language"
    REPETITION = "Repetition"
    IRRELEVANT = "Not relevant"
    NO_CLAIMS = "No checkable claim"
    UNSUPPORTED = "Unsupported claims"
    UNSURE = "Language not sure"
    FAILED = "Judging failed"
    NONE = "None of these"


LOOKS = {
    Issue.MISSING: "unscored",
    Issue.WRONG_LANGUAGE: "wrong",
    Issue.REPETITION: "wrong",
    Issue.IRRELEVANT: "wrong",
    Issue.NO_CLAIMS: "wrong",
    Issue.UNSUPPORTED: "skipped",
    Issue.UNSURE: "unscored",
    Issue.FAILED: "unscored",
    Issue.NONE: "right",
}
"""The style of a card."""
VERDICTS = {True: ("right", "Supported"), False: ("wrong", "Not supported"), None: ("unscored", "Undecided")}


def issues_of(one: Appraisal) -> tuple[Issue, ...]:
    """Everything that is wrong with an answer, the worst first."""
    if "answer" in one.failures:
        return (Issue.MISSING,)
    claims, check = one.claims, one.language
    found = {
        Issue.WRONG_LANGUAGE: check is not None and check.right is False,
        Issue.REPETITION: one.repetition is not None,
        Issue.IRRELEVANT: one.relevant is False,
        Issue.NO_CLAIMS: claims == () and factuality.is_complete(one),
        Issue.UNSUPPORTED: any(claim.supported is False for claim in claims or ()),
        Issue.UNSURE: check is not None and check.right is None,
        Issue.FAILED: bool(one.failures) or any(claim.failure for claim in claims or ()),
    }
    return tuple(issue for issue, there in found.items() if there) or (Issue.NONE,)


def score_of(one: Appraisal) -> float:
    """How good an answer is as far as it is known: S, or the product of its known parts; none at all comes last."""
    if "answer" in one.failures:
        return 2.0
    overall = factuality.overall(one)
    if overall is not None:
        return overall
    parts = [factuality.s_surf(one), factuality.s_fact(one), factuality.s_rel(one)]
    known = [part for part in parts if part is not None]
    return prod(known) if known else 0.5


# ---- the parts of a card ---------------------------------------------------------------------------------------


def card(answer: LongAnswer, one: Appraisal, run: int, numbers: Iterable[int]) -> Markup:
    """One answer with all that is said about it; `run` and `numbers` are what the page filters it by."""
    issue = issues_of(one)[0]
    return Markup('<article class="card answer {}" data-run="{}" data-groups="{}">{}{}{}{}{}{}{}</article>').format(
        LOOKS[issue],
        run,
        " ".join(map(str, numbers)),
        _head(answer, one, issue),
        _question(answer, one),
        _chips(answer, one),
        _answer(answer, one),
        _relevance(one),
        _claims(one),
        _join(_failure(failure, stage) for stage, failure in one.failures.items()),
    )


def groups_of(answer: LongAnswer, one: Appraisal) -> list[tuple[str, str]]:
    """What the page filters a card by, besides its model: the name of each filter and of the group."""
    groups = [("Issue", issue.value) for issue in issues_of(one)] + [("Tell", _tell(tell)) for tell in one.tells]
    groups.append(("Language", group_name("language", base(answer.language))))
    return groups + ([("Kind", answer.kind.value)] if answer.kind else [])


def is_cut(answer: LongAnswer, one: Appraisal) -> bool:
    """Whether the card has less than the record."""
    claims = one.claims or ()
    words = [one.relevance_reason, *(claim.text for claim in claims), *(claim.reason for claim in claims)]
    words += [result.text for claim in claims for result in claim.evidence]
    texts = (answer.question, answer.answer, answer.question_english, answer.answer_english, one.answer_english)
    return (
        len(claims) > CLAIMS
        or any(len(claim.evidence) > RESULTS for claim in claims)
        or any(len(text) > LONGEST for text in texts if text)
        or any(len(text) > WORDS for text in words)
    )


def select(kind: str, name: str, options: Iterable[tuple[int, str]]) -> Markup:
    """A list to choose the cards by: of their model (`run`) or of another group."""
    shown = Markup().join(Markup('<option value="{}">{}</option>').format(*one) for one in options)
    return Markup('<label>{} <select data-filter="{}"><option value="">All</option>{}</select></label>').format(
        name, kind, shown
    )


def _join(parts: Iterable[Markup]) -> Markup:
    return Markup().join(parts)


def _cut(text: str, room: int = WORDS) -> str:
    return text if len(text) <= room else text[:room] + " …"


def _head(answer: LongAnswer, one: Appraisal, issue: Issue) -> Markup:
    places = [group_name("language", answer.language), answer.kind and f"culturally {answer.kind.value}"]
    places += [answer.topic, answer.region and group_name("region", answer.region), one.model]
    return Markup(
        '<header><div><h3><bdi>{}</bdi></h3><p class="place">{}</p></div>'
        '<p class="badge {}"><span class="mark" aria-hidden="true"></span>{}</p></header>'
    ).format(
        _cut(answer.id),
        Markup(" · ").join(Markup("<bdi>{}</bdi>").format(_cut(place)) for place in places if place),
        LOOKS[issue],
        "No issue found" if issue is Issue.NONE else issue.value,
    )


def _side(title: str, text: Markup, direction: str = "auto", language: str = "", *, long: bool = False) -> Markup:
    """A text under its name; a long one scrolls, with the keyboard too."""
    return Markup('<div class="side"><h4>{}</h4><p class="body{}"{}{} dir="{}">{}</p></div>').format(
        title,
        " long" if long else "",
        Markup(' tabindex="0" role="region" aria-label="{}"').format(title) if long else "",
        Markup(' lang="{}"').format(language) if language else "",
        direction,
        text,
    )


def _plain(title: str, text: str, language: str = "") -> Markup:
    cut = Markup("{}").format(_cut(text, LONGEST))
    return _side(title, cut, _direction(language), language, long=len(text) > LONG)


def _direction(tag: str | None) -> str:
    """That of the language; that of the first letter where it is not known."""
    known = look_up(is_rtl, tag)
    return "auto" if known is None else "rtl" if known else "ltr"


def _question(answer: LongAnswer, one: Appraisal) -> Markup:
    english = answer.question_english or one.question_english
    asked = _plain("Question", answer.question, answer.language)
    return asked + (
        _plain("Question in English", english, "en") if english and english != answer.question else Markup()
    )


def _answer(answer: LongAnswer, one: Appraisal) -> Markup:
    """The answer with its repetitions marked, and its translation folded away."""
    if not answer.answer:
        return Markup()
    tag = (one.language.found if one.language else answer.language) or ""
    spans = one.repetition.spans if one.repetition else ()
    text = mark_spans(answer.answer[:LONGEST], spans)
    if len(answer.answer) > LONGEST:
        text += Markup(" … <small>{:,} more characters</small>").format(len(answer.answer) - LONGEST)
    shown = _side("Answer", text, _direction(tag), tag, long=len(answer.answer) > LONG)
    english = answer.answer_english or one.answer_english
    if not english or english == answer.answer:
        return shown
    return shown + _folded("Answer in English", _plain("As it was judged", english, "en"))


def mark_spans(text: str, spans: Iterable[tuple[int, int]]) -> Markup:
    """The text with these spans marked; they may overlap, and what lies outside of the text is ignored."""
    marked, at = Markup(), 0
    for start, end in _merged(spans, len(text)):
        marked += Markup("{}<mark>{}</mark>").format(text[at:start], text[start:end])
        at = end
    return marked + text[at:]


def _merged(spans: Iterable[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted((max(0, start), min(end, length)) for start, end in spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return merged


def _folded(title: str, body: Markup) -> Markup:
    return Markup("<details><summary>{}</summary>{}</details>").format(title, body)


# ---- what is said of it ----------------------------------------------------------------------------------------


def _chips(answer: LongAnswer, one: Appraisal) -> Markup:
    """The verdicts in short."""
    chips = [("S", percent(factuality.overall(one)).removesuffix("%"))] if _is_judged(one) else []
    chips += _language_chips(answer, one.language)
    if one.repetition:
        chips.append(("repeats itself", f"{one.repetition.times:,} times"))
    if one.claims is not None:
        chips.append(("factual precision", percent(factuality.s_fact(one))))
    if one.relevant is not None:
        chips.append(("relevant", "yes" if one.relevant else "no"))
    chips += [("tell", _tell(tell)) for tell in one.tells]
    body = _join(Markup("<div><dt>{}</dt><dd><bdi>{}</bdi></dd></div>").format(name, value) for name, value in chips)
    return Markup('<dl class="scores">{}</dl>').format(body) if chips else Markup()


def _is_judged(one: Appraisal) -> bool:
    return one.claims is not None and one.relevant is not None


def _language_chips(answer: LongAnswer, check: LanguageCheck | None) -> list[tuple[str, str]]:
    chips = [("expected", group_name("language", answer.language))]
    if check is None:
        return chips
    found = group_name("language", check.found) if check.found else "not sure"
    sure = f" (certainty {percent(check.certainty, 0)})" if check.certainty is not None else ""
    chips.append(("found", found + sure))
    if len(check.shares) > 1:
        parts = sorted(check.shares.items(), key=lambda pair: -pair[1])
        chips.append(("mixed", ", ".join(f"{group_name('language', tag)} {percent(p, 0)}" for tag, p in parts)))
    return chips


def _tell(tell: str) -> str:
    """Its name on the page; one that is not known as it is."""
    return TELLS[Tell(tell)] if tell in set(Tell) else tell


def _relevance(one: Appraisal) -> Markup:
    if one.relevant is None or not one.relevance_reason:
        return Markup()
    title = "Relevant, says the judge" if one.relevant else "Not relevant, says the judge"
    return Markup('<div class="side explanation"><h4>{}</h4><p class="body" dir="auto">{}</p></div>').format(
        title, _cut(one.relevance_reason)
    )


def _claims(one: Appraisal) -> Markup:
    """Every claim with its verdict; what the search found is folded away below it."""
    if not one.claims:
        return Markup()
    counts = Counter(claim.supported for claim in one.claims)
    parts = [f"{counts[verdict]:,} {name.lower()}" for verdict, (_, name) in VERDICTS.items() if counts[verdict]]
    title = f"{count(len(one.claims), 'claim')}: {', '.join(parts)}"
    rest = len(one.claims) - CLAIMS
    body = Markup('<ul class="claims">{}</ul>').format(_join(_claim(claim) for claim in one.claims[:CLAIMS]))
    more = Markup('<p class="key">{:,} more.</p>').format(rest) if rest > 0 else Markup()
    return _folded(title, body + more)


def _claim(claim: Claim) -> Markup:
    look, verdict = VERDICTS[claim.supported]
    reason = Markup('<p class="why" dir="auto">{}</p>').format(_cut(claim.reason)) if claim.reason else Markup()
    return Markup(
        '<li class="said {}"><div class="statement"><span class="mark" aria-hidden="true"></span><div>'
        '<p dir="auto">{}</p><p class="verdict"><strong>{}</strong> <span class="soft">sentence {:,}</span></p>'
        "{}{}{}</div></div></li>"
    ).format(
        look,
        _cut(claim.text),
        verdict,
        claim.sentence + 1,
        reason,
        _failure(claim.failure) if claim.failure else "",
        _evidence(claim.evidence),
    )


def _evidence(results: Sequence[Evidence]) -> Markup:
    if not results:
        return Markup()
    body = Markup('<ol class="evidence">{}</ol>').format(_join(_result(one) for one in results[:RESULTS]))
    rest = len(results) - RESULTS
    more = Markup('<p class="key">{:,} more.</p>').format(rest) if rest > 0 else Markup()
    return _folded(f"Evidence: {count(len(results), 'result')}", body + more)


def _result(one: Evidence) -> Markup:
    title = Markup('<strong dir="auto">{}</strong>').format(_cut(one.title)) if one.title else ""
    date = Markup("<bdi>{}</bdi>").format(_cut(one.date)) if one.date else ""
    where = Markup(" · ").join(Markup("{}").format(part) for part in (date, _source(one.source)) if part)
    return Markup('<li>{}<p dir="auto">{}</p><p class="source">{}</p></li>').format(title, _cut(one.text), where)


def _source(source: str) -> Markup | str:
    """An address of the web as a link, anything else as words."""
    if not source:
        return ""
    shown = Markup("<bdi>{}</bdi>").format(_cut(source, 200))
    if not is_web_address(source):
        return shown
    return Markup('<a href="{}" rel="noopener noreferrer nofollow" target="_blank">{}</a>').format(source, shown)


def _failure(failure: Failure, stage: str = "") -> Markup:
    why = name_failure(failure.kind)
    name = f"{stage.capitalize()} failed, {why}:" if stage else f"{why.capitalize()}:"
    return Markup('<p class="failure" dir="auto"><strong>{}</strong> {}</p>').format(name, _cut(failure.reason))
