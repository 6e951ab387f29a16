"""Made-up studies of ratings."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

from mores.rating.ratings import Rating

MODELS, TYPES, LANGUAGES = ("apple", "banana", "cherry"), ("specific", "agnostic"), ("fj", "hi")


def rating(**fields: Any) -> Rating:
    """A rating of which only some fields matter."""
    question = str(fields.pop("question", "q"))
    given = {"question_id": question, "model": "apple", "annotator": "ann", "rating": 3.0} | fields
    return Rating(question=question, **given)


def study(questions: int = 6, people: int = 2, seed: int = 1) -> list[Rating]:
    """Two languages with their own people, all of whom rate every answer; cherry is the best, apple the worst."""
    draw, ratings = Random(seed), []
    for language, number, type_ in product(LANGUAGES, range(questions), TYPES):
        hard = draw.gauss(0, 0.5)
        for place, model in enumerate(MODELS):
            quality = 2.2 + place * 0.9 + (type_ == "agnostic") * 0.6 - hard
            answer = f"The answer of {model} to question {number}, in some words."
            for person in range(people):
                value = min(5, max(1, round(quality + draw.gauss(0, 0.8) + 0.3 * person)))
                issue = "none" if value > 3 else "minor" if value == 3 else "major"
                spans = [] if value > 3 else [{"start": 4, "end": 10, "quote": answer[4:10], "severity": "minor"}]
                ratings.append(
                    Rating.model_validate(
                        {
                            "question": f"{type_} question {number}", "question_id": f"{type_[0]}{number}",
                            "model": model, "annotator": f"{language} {person + 1}", "rating": value,
                            "answer": answer, "language": language, "type": type_, "factuality": issue,
                            "omissions": "none" if draw.random() < 0.7 else issue, "language_correct": "yes",
                            "spans": spans, "comment": "Too short." if value < 3 else "Fine.",
                        }
                    )
                )  # fmt: skip
    return ratings


def write(path: Path, ratings: Iterable[Rating]) -> Path:
    """A file of ratings."""
    rows = (json.dumps(each.model_dump(mode="json", exclude_none=True)) + "\n" for each in ratings)
    path.write_text("".join(rows), "utf-8")
    return path
