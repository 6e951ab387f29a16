"""The quality of each person's votes: agreement with the others, and accuracy where the label is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mores.stats.agreement import Label
from mores.stats.annotators.votes import LabelTable, Name
from mores.stats.classification import Bools
from mores.stats.distributions import ShareEstimate, share_of


@dataclass(frozen=True)
class Quality:
    """Of one person's votes; the intervals are of 95%."""

    votes: int
    agreement: ShareEstimate | None
    """Votes that are the majority of the other people's; None where there are none to compare with."""
    alone: int
    """Votes on items that nobody else has labelled, which are not compared."""
    tied: int
    """Votes on items on which the others are tied, which are not compared."""
    known: ShareEstimate | None
    """Correct votes on items whose label is known, such as attention checks; None without any."""

    @property
    def compared(self) -> int:
        """The number of votes that the agreement rests on."""
        return self.agreement.n if self.agreement else 0


def annotator_quality(table: LabelTable, *, known: Mapping[Name, Label] | None = None) -> dict[Name, Quality]:
    """Return the quality of everybody who voted.

    The majority that a person is compared with leaves out the person: among three people, whoever votes with one other
    would else make the consensus. Items whose label is `known` are compared with that label only.
    """
    truth = table.known_labels(known)[table.item]
    same_person = table.annotator * max(1, len(table.items)) + table.item
    if len(np.unique(same_person)) < len(same_person):
        raise ValueError("somebody labelled an item more than once; keep the vote that counts")
    others = table.counts[table.item]
    others[np.arange(len(table.item)), table.label] -= 1
    top = others.max(axis=1, initial=0.0)
    is_known = truth >= 0
    alone = ~is_known & (top == 0)
    tied = ~is_known & (top > 0) & ((others == top[:, None]).sum(axis=1) > 1)
    compared = ~(is_known | alone | tied)
    agrees = compared & (others[np.arange(len(table.item)), table.label] == top)
    correct = is_known & (truth == table.label)

    def count(mask: Bools) -> list[int]:
        found: list[int] = np.bincount(table.annotator[mask], minlength=len(table.annotators)).tolist()
        return found

    columns = zip(
        *(count(mask) for mask in (np.ones_like(tied), agrees, compared, alone, tied, correct, is_known)), strict=True
    )
    return {
        annotator: Quality(
            votes=votes,
            agreement=share_of(hits, n) if n else None,
            alone=single,
            tied=ties,
            known=share_of(passed, checks) if checks else None,
        )
        for annotator, (votes, hits, n, single, ties, passed, checks) in zip(table.annotators, columns, strict=True)
    }
