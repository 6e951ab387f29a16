"""The human row: how often a verifier gives the answer on which the other verifiers of a question agree.

A campaign's export has the votes of its verifiers in `items.jsonl`; the published files have none. Every verifier is
left out once: their answer is compared with the most frequent one of the others, never with an answer that they
themselves voted for. "I don't know" is not correct, and of tied answers each counts in part. Questions were accepted
because verifiers agree, 4 of 5 by the paper's rule: their rate is high by construction, so that of all submitted
questions stands beside it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mores.errors import InputError
from mores.stats.results import mean_result
from mores.types import Result

VOTES = "items.jsonl"
PEOPLE = "people, each left out"
SUBMITTED = "people, all submitted questions"


def human_row(folder: Path) -> dict[str, Result]:
    """Return how often people are correct on the accepted questions, by mode, and on all; empty without votes."""
    path = next((place for place in (folder / VOTES, folder.parent / VOTES) if place.is_file()), None)
    if path is None:
        return {}
    questions: list[tuple[str, list[float]]] = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            story = json.loads(line)
            last = max((vote["version"] for vote in story["votes"]), default=None)
            labels = [vote["label"] for vote in story["votes"] if vote["version"] == last]
            kind = "rejected" if story["question_idx"] is None else str(story["mode"])
        except (KeyError, TypeError, ValueError) as error:
            fix = "give the file of a campaign's export, or remove it"
            raise InputError(f"{path}:{number}: expected a question with votes ({error}); {fix}") from None
        if len(labels) > 1:
            questions.append((kind, leave_out(labels)))
    if not questions:
        return {}
    accepted = [question for question in questions if question[0] != "rejected"]
    modes = {mode: [question for question in accepted if question[0] == mode] for mode in ("single", "multi")}
    people = _rate(PEOPLE, accepted)
    by = {mode: _rate(mode, part) for mode, part in modes.items() if part}
    return {PEOPLE: people.model_copy(update={"by": by}), SUBMITTED: _rate(SUBMITTED, questions)}


def leave_out(labels: Sequence[str | None]) -> list[float]:
    """Return for every verifier of a question how far their answer is that of the others."""
    credit = []
    for place, label in enumerate(labels):
        others = Counter(each for at, each in enumerate(labels) if at != place and each is not None)
        top = [each for each, times in others.items() if times == max(others.values())]
        credit.append(1 / len(top) if label in top else 0.0)
    return credit


def _rate(name: str, questions: Sequence[tuple[str, list[float]]]) -> Result:
    """Return the mean over votes; those of one question belong together."""
    votes = np.array([credit for _, credits_ in questions for credit in credits_])
    groups = [number for number, (_, credits_) in enumerate(questions) for _ in credits_]
    return mean_result(name, votes, groups=groups) if len(votes) else Result(name=name, value=None)
