"""Figures of one answer: factual precision, recall and F1 at K, surface, relevance, and their product S.

| figure | from | is |
| --- | --- | --- |
| S_fact | CaLMQA, Section 3.1 | supported / claims, 0 when there is no verifiable claim |
| recall at K, F1@K | VeriScore | min(supported / K, 1), and the harmonic mean with the precision |
| S | CaLMQA, Section 3.1 | S_surf · S_fact · S_rel |

A claim that could not be decided counts neither for nor against an answer: the precision is that of the decided claims,
recall assumes it for all of them, and where none was decided there is no figure. VeriScore's K is the median
number of claims over the models of a run, so that adding a model changes the others: here K is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from mores.errors import ConfigError
from mores.longanswer.records import Appraisal, Claim
from mores.longanswer.stages import has_issue


def precision(claims: Sequence[Claim] | None, *, complete: bool = True) -> float | None:
    """Return supported claims over decided claims; `complete` says whether every sentence could be read for claims.

    0 when there is no claim at all, which is known only when every sentence was read; None where nothing was decided.
    """
    if claims is None or (not claims and not complete):
        return None
    decided = [claim.supported for claim in claims if claim.supported is not None]
    if not decided:
        return None if claims else 0.0
    return sum(decided) / len(decided)


def recall(claims: Sequence[Claim] | None, k: int, *, complete: bool = True) -> float | None:
    """Return min(supported / K, 1), where undecided claims are supported as often as the decided."""
    check_k(k)
    share = precision(claims, complete=complete)
    return None if share is None or claims is None else recall_of(share, len(claims), k)


def f1(claims: Sequence[Claim] | None, k: int, *, complete: bool = True) -> float | None:
    """Return the harmonic mean of precision and recall at K; 0 when nothing is supported."""
    check_k(k)
    share = precision(claims, complete=complete)
    return None if share is None or claims is None else f1_of(share, len(claims), k)


def recall_of(precision: float, claims: float, k: int) -> float:
    """Return recall at K of an answer with this precision and number of claims."""
    return min(precision * claims / k, 1.0)


def f1_of(precision: float, claims: float, k: int) -> float:
    """Return F1 at K of an answer with this precision and number of claims."""
    total = precision + (recall := recall_of(precision, claims, k))
    return 2 * precision * recall / total if total else 0.0


def check_k(k: int) -> None:
    """Refuse a K, the number of supported claims of a complete answer, below 1."""
    if k < 1:
        message = f"K is {k}; expected the number of claims of a full answer, at least 1"
        raise ConfigError(message, setting="claims")


def median_claims(appraisals: Iterable[Appraisal]) -> int | None:
    """Return VeriScore's K: the median number of claims; None when no answer has been read for claims.

    It depends on every answer in the run, so two runs with it are not comparable unless it is the same.
    """
    counts = [len(appraisal.claims) for appraisal in appraisals if appraisal.claims is not None]
    return max(1, int(median(counts) + 0.5)) if counts else None


def is_complete(appraisal: Appraisal) -> bool:
    """Return whether every sentence of the answer could be read for claims."""
    return "claims" not in appraisal.failures


def s_surf(appraisal: Appraisal) -> float | None:
    """Return 1 without a surface issue, else 0; None where that is not known."""
    issue = None if "answer" in appraisal.failures else has_issue(appraisal)
    return None if issue is None else float(not issue)


def s_fact(appraisal: Appraisal) -> float | None:
    """Return factual precision; None where it was not requested or could not be measured."""
    return precision(appraisal.claims, complete=is_complete(appraisal))


def s_rel(appraisal: Appraisal) -> float | None:
    """Return 1 for a relevant answer, else 0; None where it was not judged."""
    return None if appraisal.relevant is None else float(appraisal.relevant)


def overall(appraisal: Appraisal) -> float | None:
    """Return S: 0 with a surface issue, whatever else is known; otherwise None where a part is missing."""
    surface = s_surf(appraisal)
    if surface == 0:
        return 0.0
    facts, relevance = s_fact(appraisal), s_rel(appraisal)
    return None if surface is None or facts is None or relevance is None else surface * facts * relevance
