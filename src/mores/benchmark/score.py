"""From verdicts to numbers: every figure of a benchmark, overall and by group, with intervals."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from statistics import fmean

import numpy as np
from pydantic import Field

from mores.benchmark.benchmark import ACCURACY, Benchmark, Label, Verdict
from mores.formatting import count, share_between
from mores.metric.groups import order_groups
from mores.stats.distributions import jensen_shannon, jensen_shannon_of_draws
from mores.stats.ratio import Ratio
from mores.stats.results import ratio_result
from mores.types import FailureKind, Item, Record, Result, Signature
from mores.views import NotebookView

SIMILARITY = "similarity"
PERFECT, ALIKE = f"a perfect model, {SIMILARITY}", f"all options alike, {SIMILARITY}"
DRAWS = 20_000
"""Draws over all questions together, and at least 20 of each: enough for three digits."""


def similarity(people: Mapping[str, float], chosen: Mapping[str, float]) -> float | None:
    """Return 1 less the Jensen-Shannon distance of a model's choices to people's; None without a choice.

    From a few answers to each question it comes out too low, even for a model that answers exactly as people do: three
    answers cannot have the shares of a thousand. No correction of the single question holds for few answers, so it is
    not corrected, and what others reach with as many answers stands beside it (`references_of_samples`).
    """
    distance = jensen_shannon(list(people.values()), [chosen.get(choice, 0.0) for choice in people])
    return None if distance is None else 1 - distance


def references_of_people(people: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return what a model reaches that gives every option the same probability."""
    alike = [similarity(shares, dict.fromkeys(shares, 1.0)) for shares in people]
    values = [value for value in alike if value is not None]
    return {ALIKE: fmean(values)} if values else {}


def references_of_samples(people: Sequence[Mapping[str, float]], answers: Sequence[int]) -> dict[str, float]:
    """Return what two models reach on average from so many answers: one like people, one that draws lots."""
    generator, draws = np.random.default_rng(0), max(20, DRAWS // max(1, len(people)))
    similarities: dict[str, list[float]] = {PERFECT: [], ALIKE: []}
    for opinions, n in zip(people, answers, strict=True):
        shares = list(opinions.values())
        for name, model in ((PERFECT, shares), (ALIKE, [1.0] * len(shares))):
            if n and (distance := jensen_shannon_of_draws(shares, model, n, draws, generator)) is not None:
                similarities[name].append(1 - distance)
    return {name: fmean(values) for name, values in similarities.items() if values}


LABELS = tuple(Label)


class BenchResult(Record, NotebookView):
    """The result of a run."""

    benchmark: str
    title: str
    model: str
    judge: str | None
    signature: Signature
    questions: int
    samples: int
    """Answers to each question."""
    figures: dict[str, Result]
    """By name; the first is the headline."""
    by: dict[str, dict[str, dict[str, Result]]]
    """Grouping, group, figure."""
    variant: str | None = None
    """The other way in which the questions were asked, if any."""
    shots: int = Field(0, exclude_if=lambda shots: not shots)
    """Solved examples before each question."""
    options: str | None = None
    """How the options were put into another order, if they were."""
    unjudged: Label | None = None
    """What an answer counts as that the judge failed to grade; None where it is in no figure."""
    by_logprob: bool = False
    """Whether the likeliest option was taken instead of what the model writes."""
    measured: bool = False
    """Whether answers are measured rather than correct or wrong."""
    rows: Result | None = None
    """Share of correct parts, where questions have several: it flatters, so it is never the headline."""
    references: dict[str, float] = Field(default_factory=dict)
    """What others reach: without knowledge, or as a perfect model; a name such as `…, similarity` is of that figure."""
    people: dict[str, Result] = Field(default_factory=dict, exclude_if=lambda people: not people)
    """How often people are correct, where votes of theirs are known."""
    agreement: float | None = None
    """Krippendorff's α of a panel of judges."""
    failures: dict[str, int] = Field(default_factory=dict)
    """Answers that could not be graded, by kind; they are in no figure."""
    incomplete: dict[str, int] = Field(default_factory=dict, exclude_if=lambda counts: not counts)
    """Graded answers that are incomplete, by kind: cut off, or declined."""

    @property
    def variation(self) -> str:
        """The variant, the examples, the order of options and how one is chosen; empty for what is usual."""
        shots, by = f"{self.shots}-shot" if self.shots else None, "logprob" if self.by_logprob else None
        return ".".join(filter(None, (self.variant, shots, self.options, by)))

    @property
    def name(self) -> str:
        """The benchmark and the way in which it was asked: results of the same name are comparable."""
        return ".".join(filter(None, (self.benchmark, self.variation)))

    @property
    def headline(self) -> str:
        """The first figure, in one line."""
        name, first = next(iter(self.figures.items()))
        unscored = f", {count(first.unscored)} unscored" if first.unscored else ""
        return f"{self.benchmark}, {self.model}: {name} {share_between(first)}, n {count(first.n)}{unscored}"


INCOMPLETE = {"length": FailureKind.TRUNCATED, "refusal": FailureKind.REFUSED, "content_filter": FailureKind.FILTERED}
"""The classes of incomplete answers, by why they ended."""


class VerdictScores:
    """Adds up verdicts, which come question by question and sample by sample, with the parts of each together."""

    def __init__(self, benchmark: Benchmark, items: Sequence[Item], unjudged: Label | None = None) -> None:
        """Count answers that the judge failed to grade as `unjudged`; None for nothing.

        A rule that cannot read an answer is no judge.
        """
        self.benchmark, self.items, self.unjudged = benchmark, items, unjudged if benchmark.judging else None
        self._parts = Counter(benchmark.unit(item) for item in items)
        self._counts: dict[str, list[int]] = {unit: [0] * len(LABELS) for unit in self._parts}
        self._unscored: Counter[str] = Counter()
        self._chosen: dict[str, dict[str, float]] = defaultdict(dict)
        self._probable = False
        self._measures: dict[str, dict[str, list[float]]] = {}
        """By name and question: the sum, how many, and how many could not be taken."""
        self._rows: dict[str, list[int]] = {unit: [0] * (len(LABELS) + 1) for unit in self._parts}
        """By question: how many of its parts have each label, and how many have none."""
        self._failures: Counter[str] = Counter()
        self._incomplete: Counter[str] = Counter()
        self._open: list[Verdict] = []
        self._samples = 0

    def add(self, verdict: Verdict) -> None:
        """Add a verdict."""
        self._samples = max(self._samples, verdict.sample + 1)
        if verdict.failure:
            self._failures[verdict.failure.kind.value] += 1
            if label := label_of(verdict, self.unjudged):
                verdict = verdict.model_copy(update={"label": label})
        elif kind := INCOMPLETE.get(verdict.stop or ""):
            self._incomplete[kind.value] += 1
        self._rows[verdict.unit][LABELS.index(verdict.label) if verdict.label else -1] += 1
        if self.benchmark.people is not None:  # the distribution over choices: probabilities, or all for the one choice
            self._probable |= bool(verdict.probabilities)
            chosen = self._chosen[verdict.unit]
            for choice, share in (verdict.probabilities or ({verdict.read: 1.0} if verdict.read else {})).items():
                chosen[choice] = chosen.get(choice, 0.0) + share
        for name, value in verdict.values.items():
            cells = self._measures.setdefault(name, {}).setdefault(verdict.unit, [0.0, 0, 0])
            cells[0] += value or 0.0
            cells[2 if value is None else 1] += 1
        self._open.append(verdict)
        if len(self._open) == self._parts[verdict.unit]:
            whole = together([part.label for part in self._open])
            if whole is None:
                self._unscored[verdict.unit] += 1
            else:
                self._counts[verdict.unit][LABELS.index(whole)] += 1
            self._open.clear()

    def result(self, model: str, judge: str | None, signature: Signature) -> BenchResult:
        """Return all figures."""
        first = {self.benchmark.unit(item): item for item in reversed(self.items)}
        sampled = self._compare(first)
        rows = None
        if max(self._parts.values(), default=1) > 1:
            parts = np.array(list(self._rows.values()), dtype=np.float64)
            rows = ratio_result("rows", ACCURACY["accuracy"], parts[:, :-1], int(parts[:, :-1].sum()), parts[:, -1])
        by: dict[str, dict[str, dict[str, Result]]] = {}
        for name in self.benchmark.breakdowns:
            units: dict[str, list[str]] = defaultdict(list)
            for unit, item in first.items():
                if (group := self.benchmark.group(item, name)) is not None:
                    units[group].append(unit)
            if units:
                by[name] = {group: self._figures(units[group]) for group in order_groups(units)}
        return BenchResult(
            benchmark=self.benchmark.name,
            title=self.benchmark.title,
            model=model,
            judge=judge,
            signature=signature,
            questions=len(self._parts),
            samples=self._samples,
            figures=self._figures(list(self._parts)),
            by=by,
            measured=not self.benchmark.figures,
            rows=rows,
            references=dict(self.benchmark.references(self.items)) | sampled,
            failures=dict(self._failures),
            incomplete=dict(self._incomplete),
        )

    def _compare(self, first: dict[str, Item]) -> dict[str, float]:
        """Compare the choices with people's, where there are several; return what others reach with as many answers."""
        people = self.benchmark.people
        if people is None or not (self._probable or self._samples > 1):
            return {}
        theirs = {unit: people(item) for unit, item in first.items()}
        similarities = {unit: similarity(opinions, self._chosen[unit]) for unit, opinions in theirs.items()}
        self._measures[SIMILARITY] = {
            unit: [0.0, 0, 1] if value is None else [value, 1, 0] for unit, value in similarities.items()
        }
        if self._probable:
            return {}
        return references_of_samples(list(theirs.values()), [int(sum(self._chosen[unit].values())) for unit in theirs])

    def _figures(self, units: list[str]) -> dict[str, Result]:
        counts = np.array([self._counts[unit] for unit in units], dtype=np.float64).reshape(len(units), len(LABELS))
        unscored = np.array([self._unscored[unit] for unit in units])
        labelled = {
            name: ratio_result(name, figure, counts, int(counts.sum()), unscored)
            for name, figure in self.benchmark.figures.items()
        }
        return labelled | {name: _mean(name, measures, units) for name, measures in self._measures.items()}


def label_of(verdict: Verdict, unjudged: Label | None) -> Label | None:
    """Return the label of an answer; `unjudged` where there is an answer, but no grade of it."""
    return unjudged if verdict.label is None and verdict.answer is not None and unjudged else verdict.label


Tallies = dict[str, tuple[float, int, int]]
"""By question: the sum of the values of its answers, how many have one, and how many were asked for."""


def tally(verdicts: Iterable[Verdict], unjudged: Label | None = None) -> Tallies:
    """Return how many answers to each question are correct, graded and asked for; parts of one come together."""
    return tally_labels((verdict.unit, verdict.sample, label_of(verdict, unjudged)) for verdict in verdicts)


def tally_labels(labels: Iterable[tuple[str, int, Label | None]]) -> Tallies:
    """Return the tallies of units, samples and labels."""
    tallies: Tallies = {}
    parts, before, earlier, right = list[Label | None](), ("", 0), (0.0, 0, 0), Label.CORRECT
    for unit, sample, part in labels:  # `groupby` takes twice the time
        if parts and sample == before[1] and unit == before[0]:
            parts.append(part)
        else:
            parts, before, earlier = [part], (unit, sample), tallies.get(unit, (0, 0, 0))
        label = together(parts) if len(parts) > 1 else part
        correct, graded, asked = earlier
        tallies[unit] = correct + (label is right), graded + (label is not None), asked + 1
    return tallies


def credit_of(tallies: Tallies) -> dict[str, float]:
    """Return the share of correct answers to each question that has a score, or the mean of what was measured."""
    return {unit: total / scored for unit, (total, scored, _) in tallies.items() if scored}


def measure_of(verdicts: Iterable[Verdict], name: str) -> Tallies:
    """Return a measure of the answers to each question."""
    measured: dict[str, list[float | None]] = defaultdict(list)
    for verdict in verdicts:
        if name in verdict.values:
            measured[verdict.unit].append(verdict.values[name])
    known = {unit: [value for value in values if value is not None] for unit, values in measured.items()}
    return {unit: (fsum(values), len(values), len(measured[unit])) for unit, values in known.items()}


def together(labels: Sequence[Label | None]) -> Label | None:
    """Return the label of a question: correct when all its parts are; None with a part that could not be read.

    Not even beside a wrong part: correct questions would be left out for an unread part and wrong ones kept, and the
    share of correct ones would fall with every answer that could not be read.
    """
    if None in labels:
        return None
    if Label.INCORRECT in labels:
        return Label.INCORRECT
    return Label.NOT_ATTEMPTED if Label.NOT_ATTEMPTED in labels else Label.CORRECT


def _mean(name: str, measures: dict[str, list[float]], units: Sequence[str]) -> Result:
    total, n, unscored = np.array([measures.get(unit, (0.0, 0, 0)) for unit in units]).reshape(len(units), 3).T
    # What a value has, and what it lacks to 1: a mean is a share of what all could have.
    return ratio_result(name, Ratio((1, 0), (1, 1)), np.stack([total, n - total], axis=1), int(n.sum()), unscored)
