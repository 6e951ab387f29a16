"""The stages of an evaluation: what each asks about an answer, and what it makes of the replies; pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from mores.engine import Reply
from mores.errors import InputError
from mores.longanswer import judging
from mores.longanswer.judging import ClaimVerdict, is_english
from mores.longanswer.records import (
    Appraisal,
    Claim,
    ClaimDecision,
    ClaimSearch,
    Extraction,
    LanguageCheck,
    LongAnswer,
    RelevanceDecision,
    Repetition,
    Surface,
    Translation,
    Verification,
)
from mores.longanswer.repetition import find_repetitions
from mores.longanswer.tells import find_tells
from mores.models import Request
from mores.search.base import Found
from mores.types import Failure, FailureKind

LanguageChecker = Callable[[Sequence[LongAnswer]], list[LanguageCheck]]
"""Detects the language of each answer; it gets only answers that have text."""
STAGES = ("answer", "translation", "claims", "search", "verification", "relevance")
"""What can fail, in the order of the work: the keys of `Appraisal.failures`."""

# -- surface -----------------------------------------------------------------------------------------------


def check_surfaces(answers: Sequence[LongAnswer], check: LanguageChecker | None) -> list[Surface]:
    """Return the surface of each answer; one without text is a failure."""
    with_text = [answer for answer in answers if _has_text(answer)]
    checks: Sequence[LanguageCheck | None] = check(with_text) if check and with_text else [None] * len(with_text)
    results = zip(checks, find_repetitions([answer.answer or "" for answer in with_text]), strict=True)
    return [_surface(answer, *(next(results) if _has_text(answer) else (None, None))) for answer in answers]


def _has_text(answer: LongAnswer) -> bool:
    return bool(answer.answer and answer.answer.strip())


def _surface(answer: LongAnswer, check: LanguageCheck | None, repetition: Repetition | None) -> Surface:
    if not _has_text(answer):
        reason = "there is no answer" if answer.answer is None else "the answer is empty"
        failure = answer.failure or Failure(kind=FailureKind.MODEL, reason=reason)
        return Surface(id=answer.id, model=answer.model, failure=failure)
    in_english = is_english(check.detected) if check and check.detected else None
    signs = find_tells(answer.answer or "", answer.language, in_english)
    return Surface(id=answer.id, model=answer.model, language=check, repetition=repetition, tells=signs)


def has_issue(surface: Surface | Appraisal) -> bool | None:
    """Return whether an answer is in the wrong language or repeats itself; None where its language is not known."""
    check = surface.language
    if surface.repetition is not None or (check is not None and check.correct is False):
        return True
    return None if check is None or check.correct is None else False


# -- translation -------------------------------------------------------------------------------------------


def translation_requests(answer: LongAnswer, surface: Surface) -> list[Request]:
    """Ask for translations: of the question, then of the answer, unless they are available in English."""
    parts = zip(("question", "answer"), english_of(answer, surface), strict=True)
    return [judging.translation_request(answer, part) for part, english in parts if english is None]


def read_translation(answer: LongAnswer, surface: Surface, replies: Sequence[Reply]) -> Translation:
    """Return what is judged in English: what is available in English, and the translator's replies for the rest."""
    remaining = iter(replies)
    both = [next(remaining) if english is None else english for english in english_of(answer, surface)]
    failure = next((part for part in both if isinstance(part, Failure)), None)
    if failure is not None:
        return Translation(id=answer.id, model=answer.model, failure=failure)
    question, text = map(str, both)
    return Translation(id=answer.id, model=answer.model, question=question, answer=text)


def keep_language(answer: LongAnswer, surface: Surface) -> Translation:
    """Return what is judged without a translator: in English if both are available, else in their language."""
    question, text = english_of(answer, surface)
    if question is not None and text is not None:
        return Translation(id=answer.id, model=answer.model, question=question, answer=text)
    place = {"id": answer.id, "model": answer.model}
    return Translation(**place, question=answer.question, answer=answer.answer, english=False)


def english_of(answer: LongAnswer, surface: Surface) -> tuple[str | None, str | None]:
    """Return the question and the answer in English; None for what is not available."""
    expected, detected = is_english(answer.language), surface.language.detected if surface.language else None
    question = answer.question_english or (answer.question if expected else None)
    text = answer.answer_english or (answer.answer if expected or is_english(detected) else None)
    return question, text


# -- claims and searches -----------------------------------------------------------------------------------


def claims_requests(translation: Translation) -> list[Request]:
    """Ask for the claims of each sentence."""
    if translation.question is None or translation.answer is None:
        return []
    return [judging.claims_request(translation.question, window) for window in judging.windows(translation.answer)]


def read_extraction(translation: Translation, replies: Sequence[Reply]) -> Extraction:
    """Return the claims in the replies about the sentences; replies that cannot be read do not affect the others."""
    if translation.answer is None:
        return Extraction(id=translation.id, model=translation.model)
    read = [reply if isinstance(reply, Failure) else judging.read_claims(reply) for reply in replies]
    failures = [claims for claims in read if isinstance(claims, Failure)]
    failure = _summed(failures, len(read), "sentence")
    result = Extraction(
        id=translation.id, model=translation.model, sentences=len(read), unread=len(failures), failure=failure
    )
    if failures and len(failures) == len(read):
        return result
    claims_of_answer = judging.distinct(() if isinstance(claims, Failure) else claims for claims in read)
    return result.model_copy(
        update={"claims": tuple(Claim(text=text, sentence=place) for place, text in claims_of_answer)}
    )


# -- verification ------------------------------------------------------------------------------------------


def verify_requests(extraction: Extraction, searched: ClaimSearch) -> list[Request]:
    """Ask about each claim for which something was found."""
    _check_count(extraction, len(searched.found), "searches for", "search")
    pairs = zip(extraction.claims or (), searched.found, strict=True)
    return [judging.verify_request(claim.text, result.evidence) for claim, result in pairs if result.evidence]


def read_verification(searched: ClaimSearch, replies: Sequence[Reply]) -> Verification:
    """Return what is decided about each claim."""
    remaining = iter(replies)
    decisions = tuple(_decision(result, remaining) for result in searched.found)
    return Verification(id=searched.id, model=searched.model, decisions=decisions)


def _decision(result: Found, replies: Iterator[Reply]) -> ClaimDecision:
    verdict: ClaimVerdict | Failure = result.failure or judging.NOTHING_FOUND
    if result.evidence:
        reply = next(replies)
        verdict = reply if isinstance(reply, Failure) else judging.read_verdict(reply)
    return ClaimDecision(failure=verdict) if isinstance(verdict, Failure) else ClaimDecision(**verdict._asdict())


# -- relevance ---------------------------------------------------------------------------------------------


def relevance_requests(answer: LongAnswer, translation: Translation) -> list[Request]:
    """Ask whether the answer is relevant, where it is judged."""
    if translation.question is None or translation.answer is None:
        return []
    return [judging.relevance_request(translation.question, translation.answer, answer.language, translation.english)]


def read_relevance(translation: Translation, replies: Sequence[Reply]) -> RelevanceDecision:
    """Return the judge's verdict on the relevance of an answer."""
    if not replies:
        return RelevanceDecision(id=translation.id, model=translation.model)
    judgement = replies[0] if isinstance(replies[0], Failure) else judging.read_relevance(replies[0])
    if isinstance(judgement, Failure):
        return RelevanceDecision(id=translation.id, model=translation.model, failure=judgement)
    return RelevanceDecision(id=translation.id, model=translation.model, **judgement._asdict())


# -- all of it ---------------------------------------------------------------------------------------------


def appraise(
    answer: LongAnswer,
    surface: Surface,
    judged_text: Translation,
    extracted: Extraction,
    searched: ClaimSearch,
    verified: Verification,
    relevant: RelevanceDecision,
) -> Appraisal:
    """Return everything about one answer."""
    claims = _join_claims(extracted, searched, verified)
    failed, total = [claim for claim in claims or () if claim.failure], len(claims or ())
    failures = {
        "answer": surface.failure,
        "translation": judged_text.failure,
        "claims": extracted.failure,
        "search": _summed([claim.failure for claim in failed if not claim.evidence], total, "claim"),
        "verification": _summed([claim.failure for claim in failed if claim.evidence], total, "claim"),
        "relevance": relevant.failure,
    }
    return Appraisal(
        id=answer.id,
        model=answer.model,
        language=surface.language,
        repetition=surface.repetition,
        tells=surface.tells,
        question_english=judged_text.question if judged_text.question != answer.question else None,
        answer_english=judged_text.answer if judged_text.answer != answer.answer else None,
        claims=claims,
        read=1 - extracted.unread / extracted.sentences if extracted.unread else 1.0,
        relevant=relevant.relevant,
        relevance_reason=relevant.reason,
        failures={stage: failure for stage, failure in failures.items() if failure},
    )


def _join_claims(extracted: Extraction, searched: ClaimSearch, verified: Verification) -> tuple[Claim, ...] | None:
    """Return the claims with their evidence and verdicts."""
    if extracted.claims is None:
        return None
    _check_count(extracted, len(searched.found), "searches for", "search")
    _check_count(extracted, len(verified.decisions), "verdicts on", "verification")
    return tuple(
        claim.model_copy(update={**dict(decision), "evidence": result.evidence})
        for claim, result, decision in zip(extracted.claims, searched.found, verified.decisions, strict=True)
    )


def _check_count(extraction: Extraction, count: int, what: str, stage: str) -> None:
    if count != len(extraction.claims or ()):
        there = f"{count} {what} the {len(extraction.claims or ())} claims of answer {extraction.id!r}"
        raise InputError(f"{there}: they are of other claims; run the {stage} again")


def _summed(failures: Sequence[Failure | None], count: int, what: str) -> Failure | None:
    """Return one failure that stands for several: how many there are of how many, and the first reason."""
    if not failures or failures[0] is None:
        return None
    several = f"{len(failures)} of {count} {what}{'' if count == 1 else 's'}"
    return Failure(kind=failures[0].kind, reason=f"{several}: {failures[0].reason}")
