"""Segment scores from the errors that raters marked, by the weights of Google's MQM.

| severity | category | weight |
| --- | --- | --- |
| major | non-translation | 25 |
| major | any other | 5 |
| minor | fluency/punctuation | 0.1 |
| minor | any other | 1 |
| neutral, no-error | any | 0 |

M. Freitag et al., Experts, errors, and context: a large-scale study of human evaluation for machine translation, TACL 9
(2021), Table 2. These weights give the published averages of the TED talks of WMT 2021, English to German, exactly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import NamedTuple, TypeVar

Segment = TypeVar("Segment", bound=Hashable)


class Annotation(NamedTuple):
    """One error that a rater marked, or that there is none; case does not matter in its words."""

    rater: str
    severity: str
    """`major`, `minor`, `neutral` or `no-error`."""
    category: str = ""
    """Such as `Accuracy/Mistranslation`; sub-categories come after a slash."""


class Weights(NamedTuple):
    """What errors cost."""

    major: float = 5.0
    minor: float = 1.0
    non_translation: float = 25.0
    """Of a major error: nothing of the segment is a translation."""
    punctuation: float = 0.1
    """Of a minor error."""


GOOGLE = Weights()


def weigh(annotation: Annotation, weights: Weights = GOOGLE) -> float:
    """Return what one error costs, 0 or more."""
    category = annotation.category.casefold()
    match annotation.severity.casefold():
        case "major":
            return weights.non_translation if category.startswith("non-translation") else weights.major
        case "minor":
            return weights.punctuation if category.startswith("fluency/punctuation") else weights.minor
        case "neutral" | "no-error":
            return 0.0
    raise ValueError(f"unknown severity '{annotation.severity}'; expected major, minor, neutral or no-error")


def segment_score(annotations: Iterable[Annotation], weights: Weights = GOOGLE) -> float | None:
    """Minus the sum of the weights of each rater's errors, averaged over raters: 0 is best.

    A rater who saw no error must have one `no-error` annotation to be in the average. None without annotations.
    """
    costs: defaultdict[str, float] = defaultdict(float)
    for annotation in annotations:
        costs[annotation.rater] += weigh(annotation, weights)
    return 0.0 - sum(costs.values()) / len(costs) if costs else None  # not -0.0


def segment_scores(
    annotations: Iterable[tuple[Segment, Annotation]], weights: Weights = GOOGLE
) -> dict[Segment, float | None]:
    """The score of each segment, in the order in which they first occur; a segment may be a (system, number) pair."""
    by_segment: defaultdict[Segment, list[Annotation]] = defaultdict(list)
    for segment, annotation in annotations:
        by_segment[segment].append(annotation)
    return {segment: segment_score(marked, weights) for segment, marked in by_segment.items()}
