"""What each stage of an evaluation asks about one answer, and what it makes of the replies: pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from mores.engine import Reply
from mores.errors import InputError
from mores.longform import claims as claiming
from mores.longform import relevance as judging
from mores.longform import translate as translating
from mores.longform import verify as verifying
from mores.longform.records import (
    Appraisal,
    Claim,
    Decision,
    Extraction,
    Judged,
    LanguageCheck,
    LongAnswer,
    Repetition,
    Searched,
    Surface,
    Translation,
    Verification,
)
from mores.longform.repetition import repetitions
from mores.longform.tells import tells
from mores.longform.translate import is_english
from mores.models import Request
from mores.search.base import Found, Query
from mores.types import Failure, FailureKind

LanguageChecker = Callable[[Sequence[LongAnswer]], list[LanguageCheck]]
"""Says in which language each answer is; it gets only answers that have text."""
STAGES = ("answer", "translation", "claims", "search", "verification", "relevance")
"""What can fail, in the order of the work: the keys of `Appraisal.failures`."""

# -- surface -----------------------------------------------------------------------------------------------


def surfaces(answers: Sequence[LongAnswer], check: LanguageChecker | None) -> list[Surface]:
    """The surface of each answer; one without text is a failure."""
    given = [one for one in answers if _has_text(one)]
    checks: Sequence[LanguageCheck | None] = check(given) if check and given else [None] * len(given)
    found = zip(checks, repetitions([one.answer or "" for one in given]), strict=True)
    return [_surface(one, *next(found)) if _has_text(one) else _missing(one) for one in answers]


def _has_text(one: LongAnswer) -> bool:
    return bool(one.answer and one.answer.strip())


def _surface(one: LongAnswer, check: LanguageCheck | None, repetition: Repetition | None) -> Surface:
    in_english = is_english(check.found) if check and check.found else None
    found = tells(one.answer or "", one.language, in_english)
    return Surface(id=one.id, model=one.model, language=check, repetition=repetition, tells=found)


def _missing(one: LongAnswer) -> Surface:
    reason = "there is no answer" if one.answer is None else "the answer is empty"
    failure = one.failure or Failure(kind=FailureKind.MODEL, reason=reason)
    return Surface(id=one.id, model=one.model, failure=failure)


def has_issue(surface: Surface | Appraisal) -> bool | None:
    """Whether an answer is in the wrong language or repeats itself; None where its language is not known."""
    check = surface.language
    if surface.repetition is not None or (check is not None and check.right is False):
        return True
    return None if check is None or check.right is None else False


# -- translation -------------------------------------------------------------------------------------------


def translation_requests(answer: LongAnswer, surface: Surface) -> list[Request]:
    """What a translator is asked for: the question before the answer, and neither where it is there in English."""
    question, text = english_of(answer, surface)
    missing = ((question, translating.question_request), (text, translating.answer_request))
    return [ask(answer) for known, ask in missing if known is None]


def translation(answer: LongAnswer, surface: Surface, said: Sequence[Reply]) -> Translation:
    """What is judged in English: what was there, and for the rest what the translator said."""
    replies = iter(said)
    both = [next(replies) if known is None else known for known in english_of(answer, surface)]
    failure = next((one for one in both if isinstance(one, Failure)), None)
    if failure is not None:
        return Translation(id=answer.id, model=answer.model, failure=failure)
    question, text = map(str, both)
    return Translation(id=answer.id, model=answer.model, question=question, answer=text)


def untranslated(answer: LongAnswer, surface: Surface) -> Translation:
    """What is judged without a translator: in English where both are there, else as they stand."""
    question, text = english_of(answer, surface)
    if question is not None and text is not None:
        return Translation(id=answer.id, model=answer.model, question=question, answer=text)
    place = {"id": answer.id, "model": answer.model}
    return Translation(**place, question=answer.question, answer=answer.answer, english=False)


def english_of(answer: LongAnswer, surface: Surface) -> tuple[str | None, str | None]:
    """Question and answer, where they are there in English."""
    expected, found = is_english(answer.language), surface.language.found if surface.language else None
    question = answer.question_english or (answer.question if expected else None)
    text = answer.answer_english or (answer.answer if expected or is_english(found) else None)
    return question, text


# -- claims and searches -----------------------------------------------------------------------------------


def claims_requests(one: Translation) -> list[Request]:
    """One for each sentence."""
    if one.question is None or one.answer is None:
        return []
    return [claiming.claims_request(one.question, window) for window in claiming.windows(one.answer)]


def extraction(one: Translation, said: Sequence[Reply]) -> Extraction:
    """The claims in what was said of each sentence; those of the others stay where some could not be read."""
    if one.answer is None:
        return Extraction(id=one.id, model=one.model)
    read = [reply if isinstance(reply, Failure) else claiming.read_claims(reply) for reply in said]
    failures = [found for found in read if isinstance(found, Failure)]
    failure = _summed(failures, len(read), "sentence")
    made = Extraction(id=one.id, model=one.model, sentences=len(read), unread=len(failures), failure=failure)
    if failures and len(failures) == len(read):
        return made
    kept = claiming.distinct(() if isinstance(found, Failure) else found for found in read)
    return made.model_copy(update={"claims": tuple(Claim(text=text, sentence=place) for place, text in kept)})


def queries(answer: LongAnswer, one: Extraction) -> list[Query]:
    """What is searched for."""
    return [Query(claim.text, answer.language, answer.region) for claim in one.claims or ()]


# -- verification ------------------------------------------------------------------------------------------


def verify_requests(one: Extraction, searched: Searched) -> list[Request]:
    """One for each claim for which something was found."""
    _check_count(one, len(searched.found), "searches for", "search")
    pairs = zip(one.claims or (), searched.found, strict=True)
    return [verifying.verify_request(claim.text, found.evidence) for claim, found in pairs if found.evidence]


def verification(searched: Searched, said: Sequence[Reply]) -> Verification:
    """What is decided about each claim."""
    replies = iter(said)
    decisions = tuple(_decision(found, replies) for found in searched.found)
    return Verification(id=searched.id, model=searched.model, decisions=decisions)


def _decision(found: Found, replies: Iterator[Reply]) -> Decision:
    if not found.evidence:
        return Decision(failure=found.failure) if found.failure else Decision(**verifying.NOTHING_FOUND._asdict())
    reply = next(replies)
    verdict = reply if isinstance(reply, Failure) else verifying.read_verdict(reply)
    return Decision(failure=verdict) if isinstance(verdict, Failure) else Decision(**verdict._asdict())


# -- relevance ---------------------------------------------------------------------------------------------


def relevance_requests(answer: LongAnswer, one: Translation) -> list[Request]:
    """One, where the answer is judged."""
    if one.question is None or one.answer is None:
        return []
    return [judging.relevance_request(one.question, one.answer, answer.language, one.english)]


def judged(one: Translation, said: Sequence[Reply]) -> Judged:
    """What the judge says of an answer."""
    if not said:
        return Judged(id=one.id, model=one.model)
    found = said[0] if isinstance(said[0], Failure) else judging.read_relevance(said[0])
    if isinstance(found, Failure):
        return Judged(id=one.id, model=one.model, failure=found)
    return Judged(id=one.id, model=one.model, **found._asdict())


# -- all of it ---------------------------------------------------------------------------------------------


def appraise(
    answer: LongAnswer,
    surface: Surface,
    judged_text: Translation,
    extracted: Extraction,
    searched: Searched,
    verified: Verification,
    relevant: Judged,
) -> Appraisal:
    """Everything about one answer."""
    claims = _joined(extracted, searched, verified)
    failures = {
        "answer": surface.failure,
        "translation": judged_text.failure,
        "claims": extracted.failure,
        "search": _summed(
            [c.failure for c in claims or () if c.failure and not c.evidence], len(claims or ()), "claim"
        ),
        "verification": _summed(
            [c.failure for c in claims or () if c.failure and c.evidence], len(claims or ()), "claim"
        ),
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


def _joined(extracted: Extraction, searched: Searched, verified: Verification) -> tuple[Claim, ...] | None:
    """The claims with their evidence and verdicts."""
    if extracted.claims is None:
        return None
    _check_count(extracted, len(searched.found), "searches for", "search")
    _check_count(extracted, len(verified.decisions), "verdicts on", "verification")
    rows = zip(extracted.claims, searched.found, verified.decisions, strict=True)
    return tuple(_decided(*row) for row in rows)


def _check_count(one: Extraction, count: int, what: str, stage: str) -> None:
    if count != len(one.claims or ()):
        there = f"{count} {what} the {len(one.claims or ())} claims of answer {one.id!r}"
        raise InputError(f"{there}: they are of other claims; run the {stage} again")


def _decided(claim: Claim, found: Found, decision: Decision) -> Claim:
    return Claim(
        text=claim.text,
        sentence=claim.sentence,
        supported=decision.supported,
        evidence=found.evidence,
        reason=decision.reason,
        failure=decision.failure,
    )


def _summed(failures: Sequence[Failure], count: int, what: str) -> Failure | None:
    """One failure that stands for several: how many there are of how many, and the first reason."""
    if not failures:
        return None
    several = f"{len(failures)} of {count} {what}{'' if count == 1 else 's'}"
    return Failure(kind=failures[0].kind, reason=f"{several}: {failures[0].reason}")
