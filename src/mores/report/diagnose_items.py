"""The pieces that every part of the page of diagnoses is made of: words, counts, folds, tables and cards of items.

Questions, answers and what judges say are hostile: `Markup.format` escapes every value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from markupsafe import Markup

from mores.diagnose.stability import Cluster
from mores.report.bench_answers import direction
from mores.report.charts import Cell, heatmap, table
from mores.report.meta_sheets import Sheet, group_name
from mores.show import NOTHING, between, left_out, number, percent, span
from mores.types import Result

SHOWN = 3
"""Cards of a list that are not folded away."""
WORDS = 600
"""Code points of a text that are shown."""
GROUPS, GROUPINGS, SUBJECTS = 60, 8, 12
"""Groups of one grouping, groupings of one result, and models on a benchmark in one part, that are shown."""
OVERRIDES = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""What turns the direction of the words after it."""


def paragraph(text: str) -> Markup:
    """What an analysis says of itself; no name in it can turn the words around it."""
    return Markup('<p class="told">{}</p>').format(OVERRIDES.sub("", text))


def key(text: str | Markup) -> Markup:
    """How a chart or table is to be read."""
    return Markup('<p class="key">{}</p>').format(text)


def fold(title: str, body: Markup, *, opened: bool = False) -> Markup:
    """Something that is opened on demand, with the keyboard too."""
    return Markup("<details{}><summary>{}</summary>{}</details>").format(Markup(" open") if opened else "", title, body)


def unused(counts: Mapping[str, int], title: str = "Could not be used") -> Markup:
    """What is in no number, or counts in a way that must be known, by reason."""
    known = [(why, count) for why, count in counts.items() if count]
    if not known:
        return Markup('<p class="unused"><strong>{}:</strong> nothing.</p>').format(title)
    chips = Markup().join(
        Markup("<div><dt>{}</dt><dd>{:,}</dd></div>").format(OVERRIDES.sub("", why), count) for why, count in known
    )
    return Markup('<div class="unused"><strong>{}</strong><dl class="scores">{}</dl></div>').format(title, chips)


def notes(texts: Iterable[str]) -> Markup:
    """Remarks of an analysis."""
    told = Markup().join(Markup("<li>{}</li>").format(OVERRIDES.sub("", text)) for text in texts)
    return Markup('<ul class="notes key">{}</ul>').format(told) if told else Markup()


def plain(sheet: Sheet) -> Markup:
    """A table."""
    return table(sheet.rows, sheet.columns, sheet.cells, title=sheet.title)


def heat(sheet: Sheet) -> Markup:
    """A table with colours."""
    return heatmap(sheet.rows, sheet.columns, sheet.cells, title=sheet.title)


# ---- numbers ---------------------------------------------------------------------------------------------------


def share_cell(found: Result | None, *, sized: bool = False) -> Cell:
    """A share in per cent with its interval, what could not be scored and, if asked for, how many it is of."""
    if found is None or found.value is None:
        return Cell(NOTHING, small=left_out(found.unscored) if found else "")
    return Cell(percent(found.value), small=_beside(between(found), found, sized))


def number_cell(found: Result | None, digits: int, *, sized: bool = False) -> Cell:
    """Any other number."""
    if found is None or found.value is None:
        return Cell(NOTHING, small=left_out(found.unscored) if found else "")
    return Cell(number(found.value, digits), small=_beside(span(found.low, found.high, digits), found, sized))


def _beside(interval: str, found: Result, sized: bool) -> str:
    return " ".join(filter(None, (interval, f"n {found.n:,}" if sized else "", left_out(found.unscored))))


def largest(sizes: Mapping[str, int]) -> list[str]:
    """The groups that are shown, in their order: the largest where there are too many."""
    kept = set(sorted(sizes, key=lambda group: -sizes[group])[:GROUPS])
    return [group for group in sizes if group in kept]


def more_groups(total: int) -> Markup:
    """How many groups are not shown."""
    return key(f"{total - GROUPS:,} smaller groups are in the result only.") if total > GROUPS else Markup()


# ---- several results -------------------------------------------------------------------------------------------


def groupings(by: Iterable[str]) -> list[str]:
    """Language and topic first; of very many groupings, some."""
    first = {"language": 0, "topic": 1}
    return sorted(by, key=lambda name: first.get(name, 2))[:GROUPINGS]


class _Own(Protocol):
    """A result of one model on one benchmark."""

    @property
    def model(self) -> str: ...
    @property
    def benchmark(self) -> str: ...


Own = TypeVar("Own", bound=_Own)


def subjects(results: Sequence[Own], body: Callable[[list[Own]], Markup]) -> Markup:
    """What is of the same model and benchmark stands together; with a title where there are several."""
    groups: dict[tuple[str, str], list[Own]] = {}
    for one in results:
        groups.setdefault((one.model, one.benchmark), []).append(one)
    title = Markup('<h3 class="who"><bdi>{}</bdi> on <bdi>{}</bdi></h3>')
    parts = (
        (title.format(*name) if len(groups) > 1 else Markup()) + body(own)
        for name, own in list(groups.items())[:SUBJECTS]
    )
    left = len(groups) - SUBJECTS
    return Markup().join(parts) + (key(f"{left:,} more are in their results only.") if left > 0 else Markup())


# ---- cards -----------------------------------------------------------------------------------------------------


class Field(NamedTuple):
    """One line of a card."""

    name: str
    text: str


class Card(NamedTuple):
    """One item."""

    id: str
    state: str
    """`wrong`, `right`, `skipped` or `unscored`: its colour and sign."""
    badge: str
    places: Sequence[str]
    body: Markup


def fields(rows: Iterable[Field], language: str | None = None) -> Markup:
    """Names and texts, each in its own direction; lines without a text are left out."""
    return Markup('<dl class="said-of">{}</dl>').format(
        Markup().join(_field(row, language) for row in rows if row.text)
    )


def _field(row: Field, language: str | None) -> Markup:
    text = row.text if len(row.text) <= WORDS else row.text[: WORDS - 1] + "…"
    tag = Markup(' lang="{}"').format(language) if language and row.name == "Question" else ""
    return Markup('<div><dt>{}</dt><dd dir="{}"{}>{}</dd></div>').format(row.name, direction(text), tag, text)


def twins(left: tuple[str, Markup], right: tuple[str, Markup]) -> Markup:
    """Two versions side by side, with their names."""
    each = (Markup('<div><h4 dir="auto">{}</h4>{}</div>').format(*one) for one in (left, right))
    return Markup('<div class="twins">{}</div>').format(Markup().join(each))


def cluster_list(clusters: Sequence[Cluster], graded: int, more: int) -> Markup:
    """The different answers to one question, the most frequent first, with a bar for how often each was given."""
    rows = Markup().join(_cluster(one, graded) for one in clusters)
    rest = key(f"{more:,} more different answers.") if more else ""
    return Markup('<ol class="clusters">{}</ol>{}').format(rows, rest)


def _cluster(one: Cluster, graded: int) -> Markup:
    state = "right" if 2 * one.right > one.n else "wrong"
    text = one.answer if len(one.answer) <= WORDS else one.answer[: WORDS - 1] + "…"
    mixed = f", {one.right:,} of them right" if 0 < one.right < one.n else ""
    return Markup(
        '<li class="said {0}"><span class="mark" role="img" aria-label="{0}"></span><span dir="{1}">{2}</span>'
        '<small>{3:,} of {4:,}{5}</small><svg class="gauge" width="100%" height="4" aria-hidden="true">'
        '<rect x="0" y="0" width="{6:.1f}%" height="4"/></svg></li>'
    ).format(state, direction(text), text or NOTHING, one.n, graded, mixed, 100 * min(1.0, one.n / max(1, graded)))


def places(groups: Mapping[str, str | None]) -> list[str]:
    """What an item belongs to, in words, each once."""
    return list(dict.fromkeys(group_name(name, group) for name, group in groups.items() if group))


def listing(title: str, cards: Sequence[Card], total: int, limit: int, *, folded: bool = False) -> Markup:
    """Some cards at once and the rest, or all of them, folded; how many there are in all is said."""
    if not total:
        return Markup()
    kept = [_card(card) for card in cards[:limit]]
    count = f"{total:,}" if total <= len(kept) else f"{len(kept):,} of {total:,}"
    if folded:
        return fold(f"{title}: {count}", Markup('<div class="listing">{}</div>').format(Markup().join(kept)))
    body = Markup("<h4>{} <small>{}</small></h4>{}").format(title, count, Markup().join(kept[:SHOWN]))
    rest = kept[SHOWN:]
    return Markup('<div class="listing">{}{}</div>').format(
        body, fold(f"{len(rest):,} more", Markup().join(rest)) if rest else ""
    )


def _card(card: Card) -> Markup:
    where = Markup(" · ").join(Markup("<bdi>{}</bdi>").format(place) for place in card.places)
    return Markup(
        '<article class="card answer {0}"><header><div><h5><bdi>{1}</bdi></h5><p class="place">{2}</p></div>'
        '<p class="badge {0}"><span class="mark" aria-hidden="true"></span><bdi>{3}</bdi></p></header>{4}</article>'
    ).format(card.state, card.id, where, card.badge, card.body)
