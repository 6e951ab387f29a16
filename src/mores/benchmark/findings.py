"""Results and the facts of models: their size, their version, and where they are at home.

CulturalBench's key findings: within a family, larger models are better; providers have no advantage at home; new
versions improve less and less. Facts are those of named configurations (`facts` of `[models.NAME]`). Associations are
tested from ten models on: with fewer, hardly any could be significant, and the plots say as much.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from itertools import combinations
from statistics import fmean

import numpy as np

from mores.culture import base_language, language, region, roll_up
from mores.errors import ConfigError, InputError
from mores.stats.classification import Floats
from mores.stats.correlation import kendall_tau_b
from mores.stats.intervals import difference_interval, mean_interval
from mores.stats.resampling import compare_means
from mores.stats.results import mean_result
from mores.types import Record, Result

LEAST_MODELS = 10
"""Models from which on an association is tested."""
LEAST_QUESTIONS = 5
"""A model with fewer questions about its home has no interval there, and counts in no test."""
PERMUTATIONS = 10_000
_SIZE = re.compile(r"(?:(\d+)\s*[x×]\s*)?(\d+(?:\.\d+)?)\s*([KMBT]?)", re.IGNORECASE)
_UNITS = {"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}

Place = tuple[str | None, str | None]
"""The region and the language of a question."""


class FactPoint(Record):
    """A model with the value of a fact, and its headline figure."""

    model: str
    family: str
    """The family that its configuration names, or else its provider; empty where neither is known."""
    value: float
    """Parameters, or the year of release with its fraction."""
    result: Result


class Association(Record):
    """A fact of models beside their results."""

    fact: str
    points: tuple[FactPoint, ...]
    tau: Result
    """Kendall's tau-b over all models; n counts them."""
    p: float | None = None
    """By permutation; None with fewer than ten models."""
    better: int = 0
    pairs: int = 0
    """Pairs of models of one family with different values, and those in which the larger or newer one is better."""
    p_within: float | None = None
    """Of these pairs, by permutation within families; None with fewer than ten models in families."""


class HomeAdvantage(Record):
    """A model on questions about its home and on others, beside models that are not at home there."""

    model: str
    home: tuple[str, ...]
    at_home: Result
    """The model's credit on questions about its home."""
    elsewhere: Result
    advantage: Result
    """How much further it is ahead of the others at home than elsewhere; n counts questions about its home."""


class FactFindings(Record):
    """The relation of the results on one benchmark to facts of the models."""

    associations: tuple[Association, ...] = ()
    homes: tuple[HomeAdvantage, ...] = ()
    mean_advantage: Result | None = None
    """Over the models with a home; n counts them."""
    p_home: float | None = None
    """That the advantages are 0 on average, by changing signs at random; None with fewer than ten models."""


class FactModel(Record):
    """A model with its facts, its headline figure, and its credit on each question."""

    name: str
    facts: dict[str, str]
    result: Result
    credit: dict[str, float]


def find_associations(models: Sequence[FactModel], places: Mapping[str, Place]) -> FactFindings | None:
    """Return what the facts of two or more models have to do with their results; None without such facts."""
    read = {"parameters": read_size, "released": read_date}
    associations = []
    for fact, read_value in read.items():
        points = [
            FactPoint(
                model=model.name,
                family=model.facts.get("family") or model.facts.get("provider", ""),
                value=read_value(model.facts[fact]),
                result=model.result,
            )
            for model in models
            if model.facts.get(fact) and model.result.value is not None
        ]
        if len({point.value for point in points}) > 1:
            associations.append(_associate(fact, points))
    homes = _homes(models, places)
    gains = [each.advantage.value or 0.0 for each in homes if each.advantage.low is not None]
    if not associations and not homes:
        return None
    tested = compare_means(gains, [0.0] * len(gains), permutations=PERMUTATIONS) if len(gains) >= LEAST_MODELS else None
    return FactFindings(
        associations=tuple(associations),
        homes=tuple(homes),
        mean_advantage=mean_result("advantage", gains, least=-2.0, most=2.0) if len(gains) > 1 else None,
        p_home=tested.p_value if tested else None,
    )


def read_size(text: str) -> float:
    """Return a number of parameters: `8B`, `1.5B`, `8x7B`, `235B-A22B`, whose first number counts."""
    match = _SIZE.match(text.strip())
    size = float(match[1] or 1) * float(match[2]) * _UNITS[match[3].upper()] if match else 0.0
    if not 1 <= size < 1e18:
        fix = "write a number of parameters like 8B or 1.5B"
        raise ConfigError(f"parameters {text!r}: no number; {fix}", setting="config")
    return size


def read_date(text: str) -> float:
    """Return a date of release as a year with its fraction: `2025-04-14`, `2025-04` or `2025`."""
    year, _, rest = text.strip().partition("-")
    month, _, day = rest.partition("-")
    try:
        released = date(int(year), int(month or 7), int(day or 1))
    except (ValueError, OverflowError) as error:
        raise ConfigError(f"released {text!r}: not a date; write it like 2025-04-14", setting="config") from error
    return released.year + (released.timetuple().tm_yday - 1) / 366


def read_home(facts: Mapping[str, str]) -> frozenset[str]:
    """Return the codes of the regions and languages at which a model is at home; without `home`, of its country.

    A code in small letters, such as `it`, is a language, one in capitals a region; a name is whichever has it.
    """
    codes = set()
    for word in filter(None, map(str.strip, (facts.get("home") or facts.get("country", "")).split(","))):
        for find in (language, region) if word.islower() else (region, language):
            try:
                codes.add(find(word))
                break
            except InputError:
                continue
        else:
            reason = "no region or language; write codes or names with commas between them, such as CN, zh"
            raise ConfigError(f"home {word!r}: {reason}", setting="config")
    return frozenset(codes)


READERS: Mapping[str, Callable[[str], object]] = {
    "parameters": read_size,
    "released": read_date,
    **dict.fromkeys(("home", "country"), lambda text: read_home({"home": text})),
}


def read_facts(facts: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return the facts that can be read, and what is wrong with the others: a run keeps what was configured then."""
    known, problems = dict[str, str](), list[str]()
    for name, text in facts.items():
        try:
            if text and name in READERS:
                READERS[name](text)
            known[name] = text
        except ConfigError as error:
            problems.append(str(error))
    return known, problems


def is_home(place: Place, home: frozenset[str]) -> bool:
    """Return whether a question is about a home: its region, the country of that, or its language."""
    about, spoken = place
    regions = {about, roll_up(about)[0]} if about else set()
    languages = {spoken, base_language(spoken)} if spoken else set()
    return bool((regions | languages) & home)


def _associate(fact: str, points: Sequence[FactPoint]) -> Association:
    values, results = np.array([(point.value, point.result.value) for point in points], dtype=np.float64).T
    families = [point.family or point.model for point in points]
    every = list(combinations(range(len(points)), 2))
    related = [(i, j) for i, j in every if families[i] == families[j] and values[i] != values[j]]
    return Association(
        fact=fact,
        points=tuple(points),
        tau=Result(name="tau", value=kendall_tau_b(values, results), n=len(points)),
        p=_permute(values, results, every, [""] * len(points)),
        better=sum(bool((values[i] - values[j]) * (results[i] - results[j]) > 0) for i, j in related),
        pairs=len(related),
        p_within=_permute(values, results, related, families),
    )


def _permute(values: Floats, results: Floats, pairs: Sequence[tuple[int, int]], groups: Sequence[str]) -> float | None:
    """Return how often so many of the pairs are ordered alike, or unalike, if results are exchanged within groups."""
    if len({place for pair in pairs for place in pair}) < LEAST_MODELS:
        return None
    random, (first, second) = np.random.default_rng(0), np.array(pairs).T
    codes = np.unique(list(groups), return_inverse=True)[1]
    # Places sorted by group, and within a group at random, take the results of places sorted by group.
    drawn = np.argsort(codes + random.random((PERMUTATIONS, len(codes))), axis=1)
    shuffled = np.empty(drawn.shape)
    shuffled[:, np.argsort(codes, kind="stable")] = results[drawn]
    ways = np.sign(values[first] - values[second])
    observed = abs(ways @ np.sign(results[first] - results[second]))
    extreme = np.count_nonzero(np.abs(np.sign(shuffled[:, first] - shuffled[:, second]) @ ways) >= observed - 1e-9)
    return float((1 + extreme) / (1 + PERMUTATIONS))


def _homes(models: Sequence[FactModel], places: Mapping[str, Place]) -> list[HomeAdvantage]:
    homes = [read_home(model.facts) for model in models]
    at_home = [{unit for unit, place in places.items() if home and is_home(place, home)} for home in homes]
    advantages = []
    for i, model in enumerate(models):
        gaps: dict[bool, list[float]] = {True: [], False: []}
        own: dict[bool, list[float]] = {True: [], False: []}
        for unit in sorted(model.credit.keys() & places.keys()):
            others = [
                other.credit[unit]
                for j, other in enumerate(models)
                if j != i and unit not in at_home[j] and unit in other.credit
            ]
            if others:
                gaps[unit in at_home[i]].append(model.credit[unit] - fmean(others))
                own[unit in at_home[i]].append(model.credit[unit])
        if not homes[i] or not gaps[True] or not gaps[False]:
            continue
        means = [(fmean(gaps[here]), mean_interval(gaps[here], least=-1.0)) for here in (True, False)]
        low, high = difference_interval(*means) if len(gaps[True]) >= LEAST_QUESTIONS else (None, None)
        gain = Result(name="advantage", value=means[0][0] - means[1][0], low=low, high=high, n=len(gaps[True]))
        advantages.append(
            HomeAdvantage(
                model=model.name,
                home=tuple(sorted(homes[i])),
                at_home=mean_result("credit", own[True]),
                elsewhere=mean_result("credit", own[False]),
                advantage=gain,
            )
        )
    return advantages
