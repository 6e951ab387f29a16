"""Agreement on which parts of a text people mark, whatever labels they give, and on the labels apart.

    texts = [
        MarkedText("The Eiffel Tower, in Rome.", {"ann": [SpanMark(4, 16, "place")], "bo": []}),
        …
    ]
    agreement = span_agreement(texts)
    agreement.f1.value, agreement.kappa, agreement.alpha, agreement.labels

Offsets are half-open and count Unicode code points. Before anything is compared, white space, punctuation and invisible
characters at both ends of a mark are left out (Unicode's categories Z, P, Cc and Cf: the Arabic comma, the ideographic
full stop and the zero-width space as well as blanks), and marks of one person with nothing else between them are one.
So a stray blank or comma changes no figure. A mark of punctuation alone keeps it: a wrong question mark can be marked.

- F1 of two people is 2·both / (first + second) over characters, summed over texts. Chance depends on how much is
  marked, so `chance` is F1 of as many characters placed at random in the same texts, and `kappa` is what exceeds it:
  (F1 - chance) / (1 - chance), which for one text is Cohen's κ over its characters. Texts that neither marked are
  counted in `blank`.
- `alpha` is Krippendorff's nominal α over all characters, marked or not, of any number of people: agreement on which
  texts have nothing to mark counts too. `weighted` is the same coefficient of what a character weighs (0 unmarked, 1 in
  a minor and 5 in a major error) with squared differences, Krippendorff's α for interval data: a major error that one
  person missed counts more than a minor one (Computing Krippendorff's alpha-reliability (2011)).
- `gamma` is γ of Mathet and others (`stats.gamma`), of places and labels together by the best alignment of all marks.
- `unitizing` is Krippendorff's α_U (`unitizing_alpha`), which compares whole units and punishes distant ends.

Intervals are of 95%, over texts, or over texts and people.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import atanh, sqrt, tanh
from typing import NamedTuple, TypeAlias
from unicodedata import category

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from mores.stats.classification import Floats, ratios
from mores.stats.gamma import MOST_UNITS, Continuum, disorders, gamma_of, without_person
from mores.stats.intervals import TAIL, Z95, drawn_moments, limits_of
from mores.stats.resampling import RESAMPLES, draw_counts

BLANK = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf"})
"""Unicode's categories of white space and of what cannot be seen."""
FEWEST_PEOPLE, FEWEST_MARKED = 4, 20
"""People, and texts with marks, from which an interval over people is that of Fisher's z, not of a share with one more
text."""
Interval: TypeAlias = tuple[int, int]
Draws: TypeAlias = Sequence[npt.NDArray[np.uint8]]
"""How often each text is drawn, in blocks of resamples."""
Statistic: TypeAlias = Callable[[Floats], Floats]


class SpanMark(NamedTuple):
    """Code points `start:end` of a text, half-open."""

    start: int
    end: int
    label: str | None = None


class MarkedText(NamedTuple):
    """A text and what each person who read it marked; an empty list where somebody found nothing."""

    text: str
    marks: Mapping[str, Sequence[SpanMark]]


class AgreementFigure(NamedTuple):
    """A coefficient with its 95% interval; None where it is undefined."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two people on the texts that both read."""

    first: str
    second: str
    texts: int
    blank: int
    """Texts that neither marked, which F1 does not see."""
    f1: AgreementFigure
    chance: float | None
    """F1 of as many characters placed at random in each text."""
    kappa: AgreementFigure
    """What F1 exceeds chance by, as a share of what it could."""


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """Labels of marks that two people made in the same place."""

    matched: int
    """Pairs of marks, both with a label: each mark is in at most one pair of two people."""
    same: int
    alpha: AgreementFigure
    """Krippendorff's nominal α of the two labels."""


@dataclass(frozen=True, slots=True)
class MarkAgreement:
    """Agreement of all people on all texts."""

    texts: int
    """Texts that at least two people read."""
    marked: int
    """Those of them in which anybody marked something."""
    people: tuple[str, ...]
    pairs: tuple[PairAgreement, ...]
    f1: AgreementFigure
    """Over all pairs of people together."""
    chance: float | None
    kappa: AgreementFigure
    alpha: AgreementFigure
    weighted: AgreementFigure | None
    """α of the weights of labels, where they have weights."""
    unitizing: float | None
    """α_U over the texts that everybody read; None without any, or if nobody marked anything there."""
    gamma: AgreementFigure | None
    """γ of marks and labels, where it was asked for; None if there are too many marks."""
    labels: LabelAgreement | None
    """None where no two marks with labels are in the same place."""


class MarkOverlap(NamedTuple):
    """Two people on one text, in characters."""

    first: float
    second: float
    both: float
    by_chance: float
    """What both would have marked if each had placed as many characters at random."""


def span_agreement(
    texts: Iterable[MarkedText],
    *,
    weights: Mapping[str, float] | None = None,
    over_raters: bool = False,
    with_gamma: bool = False,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> MarkAgreement | None:
    """Return agreement on marks, and on labels where marks match; None where no text was read by two people.

    `weights` of labels, such as 1 and 5 for severities, give `weighted`. Intervals are over texts, and `over_raters`
    over people too, of three or more. γ takes seconds, and is there only `with_gamma`.
    """
    shared = [text for text in texts if len(text.marks) > 1 and text.text]
    if not shared:
        return None
    people = tuple(sorted({person for text in shared for person in text.marks}))
    units = [{person: covered(text.text, marks) for person, marks in text.marks.items()} for text in shared]
    counts = draw_counts(len(shared), resamples=resamples, seed=seed, width=8 * len(shared))
    draws = [block.astype(np.uint8) for block in counts]  # a text is drawn a few times
    pairs: dict[tuple[str, str], array[float]] = defaultdict(lambda: array("d"))
    for row, by_person in enumerate(masks_of(shared, units)):
        for pair in combinations(sorted(by_person), 2):
            pairs[pair].extend((row, *overlap(by_person[pair[0]], by_person[pair[1]]), 1.0))
    overlaps = {pair: np.array(pairs[pair]).reshape(-1, 6) for pair in sorted(pairs)}
    marked = sum(any(by_person.values()) for by_person in units)
    left_out = people if over_raters and len(people) > 2 else ()

    def add_up(without: str = "") -> Floats:
        """Return the sums of each text over all pairs that somebody is not in."""
        sums = np.zeros((len(shared), 5))
        for pair, rows in overlaps.items():
            if without not in pair:
                sums[rows[:, 0].astype(np.intp)] += rows[:, 1:]
        return sums

    totals, *pairs_without = map(add_up, ("", *left_out))

    def alpha_figure(values: Callable[[], Iterable[Mapping[str, Floats]]]) -> AgreementFigure:
        whole, *without = (character_sums(values(), person) for person in ("", *left_out))
        return figure(alpha_of, whole, draws, marked, least=-1.0, without=without)

    return MarkAgreement(
        texts=len(shared),
        marked=marked,
        people=people,
        pairs=tuple(compare_pair(pair, rows, draws) for pair, rows in overlaps.items()),
        f1=figure(f1_of, totals, draws, marked, without=pairs_without),
        chance=defined(chance_of(totals.sum(axis=0))),
        kappa=figure(kappa_of, totals, draws, marked, least=-1.0, without=pairs_without),
        alpha=alpha_figure(lambda: masks_of(shared, units)),
        weighted=alpha_figure(lambda: (weigh(text, weights) for text in shared)) if weights else None,
        unitizing=unitizing_of(shared, units, people),
        gamma=gamma_figure(shared, draws, left_out) if with_gamma else None,
        labels=label_agreement(shared, people, draws),
    )


# -- marks -------------------------------------------------------------------------------------------------


def trim(text: str, start: int, end: int) -> Interval | None:
    """Trim white space and punctuation at a span's ends; of punctuation alone, white space only; None if blank."""
    if not 0 <= start < end <= len(text):
        raise ValueError(f"span {start}:{end} is empty or outside its text of {len(text)} code points")
    places = [place for place in range(start, end) if category(text[place]) not in BLANK]
    words = [place for place in places if not category(text[place]).startswith("P")]
    kept = words or places
    return (kept[0], kept[-1] + 1) if kept else None


def covered(text: str, marks: Iterable[SpanMark]) -> list[Interval]:
    """Return what a person marked, in order: marks that overlap, or have no word between them, are joined."""
    spans = sorted(span for mark in marks if (span := trim(text, mark.start, mark.end)))
    joined: list[Interval] = []
    for start, end in spans:
        if joined and is_gap(text[joined[-1][1] : start]):
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined


def is_gap(text: str) -> bool:
    """Return whether there is only white space and punctuation, or nothing."""
    return all(category(char) in BLANK or category(char).startswith("P") for char in text)


def mask(length: int, spans: Iterable[Interval]) -> Floats:
    """Return 1 for each character that is marked."""
    marked = np.zeros(length)
    for start, end in spans:
        marked[start:end] = 1.0
    return marked


def masks_of(texts: Sequence[MarkedText], units: Sequence[Mapping[str, list[Interval]]]) -> Iterator[dict[str, Floats]]:
    """Yield what each person marked in each text; all at once would take eight bytes for each character."""
    for text, by_person in zip(texts, units, strict=True):
        yield {person: mask(len(text.text), spans) for person, spans in by_person.items()}


def weigh(text: MarkedText, weights: Mapping[str, float]) -> dict[str, Floats]:
    """Return what each character weighs for each person: the most of its marks' labels, the least without a label."""
    weighed = {person: np.zeros(len(text.text)) for person in text.marks}
    for person, marks in text.marks.items():
        for mark in marks:
            if span := trim(text.text, mark.start, mark.end):
                part = weighed[person][slice(*span)]
                part[:] = np.maximum(part, weights.get(mark.label or "", min(weights.values())))
    return weighed


# -- characters --------------------------------------------------------------------------------------------


def overlap(first: Floats, second: Floats) -> MarkOverlap:
    sizes = float(first.sum()), float(second.sum())
    return MarkOverlap(*sizes, both=float(first @ second), by_chance=sizes[0] * sizes[1] / len(first))


def character_sums(values: Iterable[Mapping[str, Floats]], without: str = "") -> Floats:
    """Return for each text, of its characters with the values w of m people: Σ (m Σw² - (Σw)²)/(m-1), Σw, Σw², Σm.

    Texts that fewer than two people read, but for one, have zeros.
    """
    sums = []
    for by_person in values:
        chosen = np.array([each for person, each in by_person.items() if person != without])
        people, row = len(chosen), (0.0, 0.0, 0.0, 0.0)
        if people > 1:
            total, squares = chosen.sum(axis=0), (chosen**2).sum(axis=0)
            row = (people * squares - total**2).sum() / (people - 1), total.sum(), squares.sum(), chosen.size
        sums.append(row)
    return np.array(sums)


def f1_of(sums: Floats) -> Floats:
    """Return F1 from sums of first, second, both and by chance along the last axis."""
    return ratios(2 * sums[..., 2], sums[..., 0] + sums[..., 1])


def chance_of(sums: Floats) -> Floats:
    return ratios(2 * sums[..., 3], sums[..., 0] + sums[..., 1])


def kappa_of(sums: Floats) -> Floats:
    f1, chance = f1_of(sums), chance_of(sums)
    return ratios(f1 - chance, 1 - chance)


def alpha_of(sums: Floats) -> Floats:
    """Return Krippendorff's α with squared differences: 1 - (n-1) Σ (m Σw² - (Σw)²)/(m-1) / (n Σw² - (Σw)²).

    Of characters that are marked or not, this is the nominal one.
    """
    apart, total, squares, votes = np.moveaxis(sums, -1, 0)
    return 1 - ratios((votes - 1) * apart, votes * squares - total**2)


def compare_pair(pair: tuple[str, str], overlaps: Floats, draws: Draws) -> PairAgreement:
    """Return two people on the texts that both read, each of which has its place among all first."""
    rows, draws = overlaps[:, 1:], [block[:, overlaps[:, 0].astype(np.intp)] for block in draws]
    blank = int((rows[:, 0] + rows[:, 1] == 0).sum())
    marked = len(rows) - blank
    return PairAgreement(
        *pair,
        texts=len(rows),
        blank=blank,
        f1=figure(f1_of, rows, draws, marked),
        chance=defined(chance_of(rows.sum(axis=0))),
        kappa=figure(kappa_of, rows, draws, marked, least=-1.0),
    )


def figure(
    statistic: Statistic,
    rows: Floats,
    draws: Draws,
    units: float,
    least: float = 0.0,
    without: Sequence[Floats] = (),
) -> AgreementFigure:
    """Return a statistic of sums over texts, with the interval of its values when texts are drawn anew.

    `without` has the sums without each person, whose variance by the jackknife is added: somebody who is drawn twice
    would agree with themselves. Student's t has the degrees of freedom of both variances together. Both contain that of
    what one person marks in one text, which of `FEWEST_PEOPLE` is taken off once (as in
    `rating.ranking.crossed_interval`); fewer do not tell it from how people differ.
    """
    value = defined(statistic(rows.sum(axis=0)))
    if value is None:
        return AgreementFigure(None)
    drawn = np.concatenate([statistic(block @ rows) for block in draws])
    middle, variance, size = drawn_moments(value, drawn, units, least=least)
    left = np.array([statistic(each.sum(axis=0)) for each in without])
    left = left[~np.isnan(left)]
    if len(left) > 2:
        apart = (len(left) - 1) / len(left) * float(((left - left.mean()) ** 2).sum()) / (1 - least) ** 2
        several = len(left) >= FEWEST_PEOPLE
        single = single_variance(statistic, rows, without) / (1 - least) ** 2 if several else 0.0
        both = max(variance + apart - single, variance, apart)
        spread = variance**2 / max(1, len(rows) - 1) + apart**2 / (len(left) - 1)
        df = max(1, min(len(rows), len(left)) - 1, both**2 / spread) if spread else np.inf
        reach = float(stdtrit(df, 1 - TAIL)) if spread else Z95
        if several and units >= FEWEST_MARKED and 0 < middle < 1:  # on the scale of Fisher's z, between both ends
            half, z = reach * sqrt(both) / (2 * middle * (1 - middle)), atanh(2 * middle - 1)
            return AgreementFigure(value, *(least + (1 - least) * (1 + tanh(end)) / 2 for end in (z - half, z + half)))
        variance = both * (reach / Z95) ** 2
    low, high = limits_of(middle, variance, size)
    return AgreementFigure(value, least + (1 - least) * low, least + (1 - least) * high)


def single_variance(statistic: Statistic, rows: Floats, without: Sequence[Floats]) -> float:
    """Return the variance of what one person marks in one text: by the jackknife of people, in each text by itself."""
    total, variance = rows.sum(axis=0), 0.0
    for text, row in enumerate(rows):
        changed = [each[text] for each in without if (each[text] != row).any()]
        if len(changed) > 1:
            left = statistic(total - row + np.array(changed))
            variance += (len(left) - 1) / len(left) * float(((left - left.mean()) ** 2).sum())
    return 0.0 if np.isnan(variance) else variance


def defined(value: Floats) -> float | None:
    return None if np.isnan(value) else float(value)


# -- whole units -------------------------------------------------------------------------------------------


def unitizing_of(
    texts: Sequence[MarkedText], units: Sequence[Mapping[str, list[Interval]]], people: Sequence[str]
) -> float | None:
    """Return α_U of the texts that everybody read, one after the other."""
    spans: dict[str, list[Interval]] = {person: [] for person in people}
    length = 0
    for text, by_person in zip(texts, units, strict=True):
        if len(by_person) < len(people):
            continue
        for person, intervals in by_person.items():
            spans[person] += [(start + length, end + length) for start, end in intervals]
        length += len(text.text)
    return unitizing_alpha(length, list(spans.values())) if length else None


def unitizing_alpha(length: int, units: Sequence[Sequence[Interval]]) -> float | None:
    """Return Krippendorff's α_U = 1 - Dₒ/Dₑ of units that observers mark on a continuum of so many characters.

    Two units that overlap differ by the squared distance of their beginnings plus that of their ends; a unit
    within a gap of the other observer by its squared length. Dₑ is what all units, placed at random, would
    differ by. K. Krippendorff, Content Analysis: An Introduction to Its Methodology (2nd edition, 2004), 251-256.

    An observer's units do not overlap. None where nobody marked anything, or everybody everything.
    """
    observers = [np.array(sorted(spans), dtype=np.float64).reshape(-1, 2) for spans in units]
    if len(observers) < 2:
        raise ValueError(f"{len(observers)} observer; agreement needs at least two")
    gaps = [gaps_of(length, spans) for spans in observers]
    pairs = len(observers) * (len(observers) - 1)
    observed = sum(
        ends_apart(observers[i], observers[j]) / 2 + within(observers[i], gaps[j])
        for i in range(len(observers))
        for j in range(len(observers))
        if i != j
    )
    # Each unordered pair of observers was visited in both orders.
    observed_disagreement = 2 * observed / (pairs * length**2)
    sizes = np.concatenate([spans[:, 1] - spans[:, 0] for spans in observers])
    holes = np.concatenate([spans[:, 1] - spans[:, 0] for spans in gaps])
    room = room_in(holes, sizes)
    apart = (len(sizes) - 1) / 3 * (2 * sizes**3 - 3 * sizes**2 + sizes)
    whole = len(observers) * length
    expected = 2 / length * float((apart + sizes**2 * room).sum()) / (whole * (whole - 1) - sizes @ (sizes - 1))
    return 1 - float(observed_disagreement) / expected if expected else None


def gamma_figure(texts: Sequence[MarkedText], draws: Draws, left_out: Sequence[str]) -> AgreementFigure | None:
    """Return γ of marks with their labels; None with too many of them."""
    labels = dict.fromkeys(mark.label for text in texts for marks in text.marks.values() for mark in marks)
    codes = {label: n for n, label in enumerate(labels)}
    readers = [tuple(text.marks) for text in texts]
    continua = []
    for text in texts:
        units = dict.fromkeys(
            (*span, codes[mark.label], n)
            for n, marks in enumerate(text.marks.values())
            for mark in marks
            if (span := trim(text.text, mark.start, mark.end))
        )
        rows = np.array([*units], dtype=np.float64).reshape(-1, 4)
        continua.append(Continuum(len(text.text), len(text.marks), rows[:, :3], rows[:, 3].astype(np.intp)))
    marked = sum(len(continuum.units) > 0 for continuum in continua)
    if not marked or sum(len(continuum.units) for continuum in continua) > MOST_UNITS:
        return None
    try:
        rows = disorders(continua)
        without = [without_person(continua, readers, rows, person) for person in left_out]
    except OverflowError:
        return None
    return figure(gamma_of, rows, draws, marked, least=-1.0, without=without)


def gaps_of(length: int, spans: Floats) -> Floats:
    """Return what lies before, between and after the units."""
    edges = [0.0, *spans.ravel().tolist(), float(length)]
    holes = [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if end > start]
    if any(second[0] < first[1] for first, second in pairwise(spans)):
        raise ValueError("units of one observer overlap; join those that do")
    return np.array(holes).reshape(-1, 2)


def ends_apart(first: Floats, second: Floats) -> float:
    """Sum squared distances of beginnings and ends over all units that overlap."""
    start = np.searchsorted(second[:, 1], first[:, 0], side="right")
    stop = np.searchsorted(second[:, 0], first[:, 1], side="left")
    counts = stop - start
    left = np.repeat(np.arange(len(first)), counts)
    right = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts - start, counts)
    return float(((first[left] - second[right]) ** 2).sum())


def within(units: Floats, gaps: Floats) -> float:
    """Sum squared lengths of the units that lie in a gap."""
    if not len(gaps):
        return 0.0
    before = np.searchsorted(gaps[:, 0], units[:, 0], side="right") - 1
    inside = (before >= 0) & (units[:, 1] <= gaps[before, 1])
    return float(((units[inside, 1] - units[inside, 0]) ** 2).sum())


def room_in(holes: Floats, sizes: Floats) -> Floats:
    """Return how many places the gaps have for a unit of each size: Σ (gap - size + 1) over the gaps that hold it."""
    ascending = np.sort(holes)
    first = np.searchsorted(ascending, sizes)
    beyond = np.concatenate([np.cumsum(ascending[::-1])[::-1], [0.0]])
    places: Floats = beyond[first] - (len(holes) - first) * (sizes - 1)
    return places


# -- labels ------------------------------------------------------------------------------------------------


def label_agreement(texts: Sequence[MarkedText], people: Sequence[str], draws: Draws) -> LabelAgreement | None:
    """Return the agreement on labels of all matched marks of every two people."""
    labels = sorted({mark.label for text in texts for marks in text.marks.values() for mark in marks if mark.label})
    place = {label: n for n, label in enumerate(labels)}
    counts = np.zeros((len(texts), len(labels), len(labels)))
    for row, text in enumerate(texts):
        for first, second in combinations([person for person in people if person in text.marks], 2):
            for mark, other in match(text.text, text.marks[first], text.marks[second]):
                if mark.label and other.label:
                    counts[row, place[mark.label], place[other.label]] += 1
    matched = int(counts.sum())
    if not matched:
        return None
    # Per text: how often each label was given in a pair, the pairs that differ, and the pairs.
    given = counts.sum(axis=1) + counts.sum(axis=2)
    differing = counts.sum(axis=(1, 2)) - np.trace(counts, axis1=1, axis2=2)
    sums = np.column_stack([differing, given])
    return LabelAgreement(matched, matched - int(differing.sum()), figure(label_alpha, sums, draws, matched, -1.0))


def label_alpha(sums: Floats) -> Floats:
    """Return the nominal α of pairs: 1 - (n-1) · 2 · differing / (n² - Σ n_c²), n the labels given."""
    given = sums[..., 1:]
    n = given.sum(axis=-1)
    return 1 - ratios((n - 1) * 2 * sums[..., 0], n**2 - (given**2).sum(axis=-1))


def match(text: str, first: Sequence[SpanMark], second: Sequence[SpanMark]) -> list[tuple[SpanMark, SpanMark]]:
    """Pair overlapping marks, each mark in at most one pair, with the greatest sum of overlaps.

    The overlap is 2·both / (first + second) in characters, after trimming.
    """
    left, right = (
        [(mark, span) for mark in marks if (span := trim(text, mark.start, mark.end))] for marks in (first, second)
    )
    if not (left and right):
        return []
    # not above: it takes 20 MB, which a server of the studio seldom needs
    from scipy.optimize import linear_sum_assignment

    a, b = (np.array([span for _, span in side], dtype=np.float64) for side in (left, right))
    both = np.minimum(a[:, None, 1], b[None, :, 1]) - np.maximum(a[:, None, 0], b[None, :, 0])
    shares = 2 * np.maximum(both, 0.0) / ((a[:, 1] - a[:, 0])[:, None] + (b[:, 1] - b[:, 0])[None, :])
    rows, columns = linear_sum_assignment(-shares)
    return [
        (left[row][0], right[column][0])
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
        if shares[row, column] > 0
    ]
