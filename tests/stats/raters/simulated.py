"""A study with known effects: models, types of questions, languages, people within languages, drift, a careless person.

    study = draw_study(Plan(annotators=3, careless="random", drift=-2.0), np.random.default_rng(0))
    result = fit(Model("rating", ("model*type",), ("language/annotator", "question")), study.columns)
    study.plan.difference("b", "a")        # what the contrast of the two models estimates

A latent value is the sum of what the model, the type, both together, the language, the person, the question and the
person's drift add, and of standard logistic noise; it is cut into ratings from 1 to 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from mores.stats.classification import Floats
from mores.stats.mixed.design import Columns
from mores.stats.resampling import Indices

Careless: TypeAlias = Literal["random", "straight", "hasty", "first"]
"""Any rating, the same rating nearly always, a good rating at a glance, or the higher the earlier it is shown."""


@dataclass(frozen=True)
class Plan:
    """Who rates what, and what is true."""

    models: tuple[tuple[str, float], ...] = (("a", 0.0), ("b", 0.9), ("c", -1.3))
    """What each adds to the latent value."""
    specific: float = -0.8
    """What culturally specific questions add; agnostic ones add nothing."""
    both: tuple[tuple[str, float], ...] = (("c", 0.6),)
    """What a model adds to specific questions besides."""
    languages: int = 5
    annotators: int = 3
    """Of each language; all rate every answer of their language."""
    questions: int = 10
    """Of each type in each language."""
    language_sd: float = 0.5
    annotator_sd: float = 0.5
    question_sd: float = 0.5
    spread: float = 0.0
    """The standard deviation of the logarithm of how strongly people respond to what they rate.

    A model with random intercepts alone does not know of it: with 0.2, and a random answerer among ten people, 81% of
    its 95% intervals of differences between models held the truth (90 intervals)."""
    thresholds: tuple[float, ...] = (-2.2, -1.0, 0.2, 1.9)
    drift: float = 0.0
    """How much the latent values of the person `drifting` change from the first rating to the last."""
    careless: Careless | None = None

    @property
    def drifting(self) -> str:
        """The first person of the first language."""
        return "l1p1"

    @property
    def careless_person(self) -> str:
        """The last person of the last language."""
        return f"l{self.languages}p{self.annotators}"

    def difference(self, first: str, second: str) -> float:
        """Between two models' latent values, averaged over both types."""
        models, both = dict(self.models), dict(self.both)
        return models[first] - models[second] + (both.get(first, 0.0) - both.get(second, 0.0)) / 2


@dataclass(frozen=True)
class Study:
    """The ratings, and what made them."""

    plan: Plan
    columns: Columns
    """rating, model, type, language, annotator, question, answer, order, position and seconds of each rating."""
    severity: dict[str, float]
    """How much lower each person rates, in latent values."""

    def numbers(self, name: str) -> Floats:
        """Return a column of numbers."""
        return np.array(self.columns[name], dtype=np.float64)

    def without(self, annotators: set[str]) -> Columns:
        """Return the ratings of the other people."""
        keep = [n for n, person in enumerate(self.columns["annotator"]) if person not in annotators]
        return {name: [values[n] for n in keep] for name, values in self.columns.items()}


def draw_study(plan: Plan, rng: np.random.Generator) -> Study:
    """Return a study by this plan."""
    columns: dict[str, list[object]] = {name: [] for name in COLUMNS}
    severity: dict[str, float] = {}
    for number in range(1, plan.languages + 1):
        level = rng.normal(0, plan.language_sd)
        questions = rng.normal(0, plan.question_sd, 2 * plan.questions)
        for person in range(1, plan.annotators + 1):
            name = f"l{number}p{person}"
            severity[name] = -rng.normal(0, plan.annotator_sd)
            rows = draw_person(plan, name, level - severity[name], questions, rng)
            rows |= {"language": [f"l{number}"] * len(rows["rating"]), "annotator": [name] * len(rows["rating"])}
            rows["question"] = [f"l{number} {question}" for question in rows["question"]]
            rows["answer"] = [f"{q} {m}" for q, m in zip(rows["question"], rows["model"], strict=True)]
            for column in COLUMNS:
                columns[column] += rows[column]
    return Study(plan, columns, severity)


COLUMNS = (
    "rating", "model", "type", "language", "annotator", "question", "answer", "order", "position", "seconds",
)  # fmt: skip


def draw_person(
    plan: Plan, name: str, level: float, questions: Floats, rng: np.random.Generator
) -> dict[str, list[object]]:
    """Return all answers to the questions of a language, in a random order of questions and of the answers to each."""
    models, both = dict(plan.models), dict(plan.both)
    asked = np.repeat(rng.permutation(len(questions)), len(models))
    places = np.concatenate([rng.permutation(len(models)) for _ in questions])
    names = np.array(list(models))[places]
    specific = asked % 2 == 1
    position = np.tile(np.arange(1, len(models) + 1), len(questions))
    fixed = np.array([models[m] for m in names]) + specific * (
        plan.specific + np.array([both.get(m, 0.0) for m in names])
    )
    response = np.exp(rng.normal(0, plan.spread)) * (fixed + questions[asked])
    time = np.linspace(-0.5, 0.5, len(asked))
    latent = response + level + (plan.drift if name == plan.drifting else 0.0) * time + rng.logistic(size=len(asked))
    rating = 1 + np.searchsorted(plan.thresholds, latent)
    seconds = np.exp(rng.normal(3.5, 0.5, len(asked)) + rng.normal(0, 0.25))
    if name == plan.careless_person and plan.careless:
        rating, seconds = answer_carelessly(plan, rating, seconds, position, rng)
    return {
        "rating": rating.tolist(),
        "model": names.tolist(),
        "type": np.where(specific, "specific", "agnostic").tolist(),
        "question": asked.tolist(),
        "order": list(range(1, len(asked) + 1)),
        "position": position.tolist(),
        "seconds": seconds.tolist(),
    }


def answer_carelessly(
    plan: Plan, rating: Indices, seconds: Floats, position: Indices, rng: np.random.Generator
) -> tuple[Indices, Floats]:
    """Ratings and seconds of somebody who does not read."""
    if plan.careless == "random":
        return rng.integers(1, len(plan.thresholds) + 2, len(rating)), seconds
    if plan.careless == "straight":
        return np.where(rng.random(len(rating)) < 0.02, rating, 4), seconds
    if plan.careless == "hasty":
        return rng.integers(3, len(plan.thresholds) + 2, len(rating)), seconds / 10
    shown_first = np.clip(len(plan.thresholds) + 2 - position + rng.integers(-1, 2, len(rating)), 1, None)
    return np.minimum(shown_first, len(plan.thresholds) + 1), seconds
