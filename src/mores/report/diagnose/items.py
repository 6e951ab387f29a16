"""Building blocks of the page of diagnoses: groups, and cards of items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from mores.diagnosis.stability import Cluster
from mores.formatting import NOTHING
from mores.report.base.blocks import CountList, Fold, Heading, Notes, PageBlock, Paragraph, key
from mores.report.base.names import direction, group_name, without_overrides

WORDS = 600
"""At most this many code points of a text are shown."""
GROUPS, GROUPINGS, SUBJECTS = 60, 8, 12
"""At most this many groups, groupings and subjects (a model on a benchmark) are shown."""


def paragraph(text: str) -> Paragraph:
    """Return the paragraph of an analysis, without characters that change the direction of the text around them."""
    return Paragraph(without_overrides(text), "told")


def unused(counts: Mapping[str, int], title: str = "Could not be used") -> CountList:
    """Return what is in no number, or is counted in a special way, by reason."""
    return CountList(title, counts)


def notes(texts: Iterable[str]) -> list[PageBlock]:
    """Return the remarks of an analysis."""
    remarks = [without_overrides(text) for text in texts]
    return [Notes(remarks, "notes key")] if remarks else []


# ---- groups ----------------------------------------------------------------------------------------------------


def largest(sizes: Mapping[str, int]) -> list[str]:
    """Return the groups to show, in their order: the largest if there are too many."""
    shown = set(sorted(sizes, key=lambda group: -sizes[group])[:GROUPS])
    return [group for group in sizes if group in shown]


def more_groups(total: int) -> list[PageBlock]:
    """Return a line with the number of groups that are not shown."""
    return [key(f"{total - GROUPS:,} smaller groups are only in the JSON file.")] if total > GROUPS else []


# ---- several results -------------------------------------------------------------------------------------------


def groupings(by: Iterable[str]) -> list[str]:
    """Language and topic first, then the others up to a limit."""
    first = {"language": 0, "topic": 1}
    return sorted(by, key=lambda name: first.get(name, 2))[:GROUPINGS]


class _Subject(Protocol):
    """A result of one model on one benchmark."""

    @property
    def model(self) -> str: ...
    @property
    def benchmark(self) -> str: ...


OfSubject = TypeVar("OfSubject", bound=_Subject)


def subjects(results: Sequence[OfSubject], body: Callable[[list[OfSubject]], Iterable[PageBlock]]) -> list[PageBlock]:
    """Return the results by model and benchmark, with titles if there are several."""
    groups: dict[tuple[str, str], list[OfSubject]] = {}
    for result in results:
        groups.setdefault((result.model, result.benchmark), []).append(result)
    blocks: list[PageBlock] = []
    for name, members in list(groups.items())[:SUBJECTS]:
        blocks += [Heading("", name)] if len(groups) > 1 else []
        blocks += body(members)
    remaining = len(groups) - SUBJECTS
    return blocks + ([key(f"{remaining:,} more are only in the JSON file.")] if remaining > 0 else [])


# ---- cards -----------------------------------------------------------------------------------------------------


class CardField(NamedTuple):
    """One line of a card, with the direction of its text."""

    name: str
    text: str
    direction: str
    language: str = ""


def fields(texts: Mapping[str, str], language: str | None = None) -> list[CardField]:
    """Return names and texts, without empty ones."""
    rows = [(name, _cut(text)) for name, text in texts.items() if text]
    return [
        CardField(name, text, direction(text), language if language and name == "Question" else "")
        for name, text in rows
    ]


def _cut(text: str) -> str:
    return text if len(text) <= WORDS else text[: WORDS - 1] + "…"


class GivenAnswer(NamedTuple):
    """One of the different answers to a question, and how often it was given."""

    state: str
    text: str
    direction: str
    times: str
    share: str


def given_answers(clusters: Sequence[Cluster], graded: int) -> list[GivenAnswer]:
    """Return the different answers to one question, the most frequent first."""
    rows = []
    for cluster in clusters:
        text = _cut(cluster.answer)
        mixed = f", {cluster.correct:,} of them correct" if 0 < cluster.correct < cluster.n else ""
        share = f"{100 * min(1.0, cluster.n / max(1, graded)):.1f}%"
        state = "right" if 2 * cluster.correct > cluster.n else "wrong"
        rows.append(GivenAnswer(state, text or NOTHING, direction(text), f"{cluster.n:,} of {graded:,}{mixed}", share))
    return rows


class ItemCard(PageBlock, template="cards/diagnose.html.j2"):
    """One item."""

    id: str
    state: str
    """`wrong`, `right`, `skipped` or `unscored`: its colour and sign."""
    badge: str
    places: Sequence[str]
    fields: Sequence[CardField] = ()
    answers: Sequence[GivenAnswer] = ()
    more: int = 0
    """Different answers that are not shown."""
    twins: Sequence[tuple[str, Sequence[CardField]]] = ()
    """Two versions side by side, with their names."""


def places(groups: Mapping[str, str | None]) -> list[str]:
    """Return the names of an item's groups, each once."""
    return list(dict.fromkeys(group_name(name, group) for name, group in groups.items() if group))


class Listing(PageBlock, template="cards/diagnose.html.j2"):
    """Cards of single answers."""

    cards: Sequence[PageBlock]


def listing(title: str, cards: Sequence[ItemCard], total: int, limit: int) -> list[PageBlock]:
    """Return a folded list of cards, with their total number; empty without cards."""
    shown = cards[:limit]
    count = f"{total:,}" if total <= len(shown) else f"{len(shown):,} of {total:,}"
    return [Fold(f"{title}: {count}", [Listing(shown)])] if total else []
