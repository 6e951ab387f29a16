"""A built dataset: its pairs, and what its card reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from pydantic import Field

from mores.errors import InputError
from mores.factory import sources as datasets
from mores.factory.columns import Integers
from mores.factory.drafts import Draft, word
from mores.factory.facts import CorrectFact, CorrectFacts
from mores.factory.gold import Gold
from mores.factory.recipe import BuildRecipe
from mores.factory.shortcut import Shortcut
from mores.factory.split import SPLIT_OF
from mores.factory.table import DraftTable
from mores.factory.validation import ValidationRate
from mores.factory.wrap import Wrapper
from mores.factory.wrap.templates import Templates
from mores.types import Record


class Softened(Record):
    """Pairs with errors that a model put into correct ones."""

    golds: tuple[Gold, ...]
    failures: dict[str, int]
    """Failures by kind."""
    dropped: dict[str, int] = Field(default_factory=dict)
    """All that it was asked for and did not make, by reason."""
    repaired: dict[str, int] = Field(default_factory=dict)
    """Answers that could be used after a repair, by what was wrong with them."""
    made: dict[str, tuple[int, int]] = Field(default_factory=dict)
    """How many soft errors were made, and asked for, of each source."""
    severities: dict[str, int] = Field(default_factory=dict)
    """Samples whose errors have another severity than the one that was asked for, by both."""


class Golds:
    """The chosen drafts as pairs, worded anew each time they are iterated over, so that they need no memory."""

    def __init__(self, drafts: DraftTable, rows: Integers, recipe: BuildRecipe) -> None:
        tasks = np.unique([str(task) for _, task, _ in drafts.strata] or [""], return_inverse=True)[1].astype(np.int8)
        in_order = drafts.items.by_source(drafts.place[rows])
        by = drafts.sortable_key[rows], tasks[drafts.stratum[rows]], *in_order
        self.rows = rows[np.lexsort(by)]
        """The drafts, in the order of the pairs."""
        self._drafts, self._recipe = drafts, recipe

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Gold]:
        items = self._drafts.items
        for place, draft, wrapper in self._in_order(range(len(self))):
            yield word(draft, wrapper, items.names[items.group[place]], SPLIT_OF[items.fold[place]])

    def _in_order(self, some: Iterable[int]) -> Iterator[tuple[int, Draft, Wrapper]]:
        """Yield some drafts, which ascend, with the place of the item of each and what words them."""
        wrapper, before = wrapper_of(self._recipe), -1
        for number in some:
            row = int(self.rows[number])
            place = int(self._drafts.place[row])
            if place != before:  # the pairs of an item are together
                wrapper.forget()
            before = place
            yield place, self._drafts[row], wrapper

    def in_groups(self) -> SampleGroups:
        """Return how many groups the pairs are in, and the largest one, the first by name of several."""
        items = self._drafts.items
        sizes = np.bincount(np.asarray(items.group)[self._drafts.place[self.rows]])
        largest = np.flatnonzero(sizes == sizes.max(initial=1))
        names = map(items.names.__getitem__, largest[np.argsort(items.rank[largest])][:1].tolist())
        return SampleGroups(
            count=int(np.count_nonzero(sizes)), largest=next(names, ""), samples=int(sizes.max(initial=0))
        )

    def texts(self, some: Iterable[int]) -> Iterator[str]:
        """Yield the output texts of some of the pairs, which ascend."""
        for _, draft, wrapper in self._in_order(some):
            worded = draft.worded
            yield worded.sample.text if worded else wrapper.wrap(draft.item, draft.answer, task=draft.task).text

    def facts(self) -> CorrectFacts:
        """Return the facts of the items that the pairs are made of; opinions are not facts."""
        items = self._drafts.items
        is_told = np.zeros(len(items), bool)
        for place in np.unique(self._drafts.place[self.rows]).tolist():
            is_told[list(items.parts(place))] = True
        has_facts = np.array([datasets.has_facts(source) for source in items.sources], bool)
        told = np.flatnonzero(is_told & has_facts[items.source_of])
        return CorrectFacts(items, told[np.lexsort(items.by_source(told))])


class SampleGroups(Record):
    """The groups that samples are in."""

    count: int = 0
    largest: str = ""
    samples: int = 0
    """Of the largest."""


class Grouping(Record):
    """The prevention of leakage by the splits: items of all sources, including those without samples."""

    groups: int = 0
    largest: int = 0
    """Items of the largest group."""
    tested: int = 0
    """Items of the test split."""
    twins: int = 0
    """Those of them that have a near twin in the training split."""


@dataclass
class Built:
    """A dataset, with what its card reports."""

    golds: Golds | list[Gold]
    items: dict[str, int]
    """Items of each source, after the cap."""
    bad: dict[str, int]
    """Rows of each source that could not be read."""
    problems: list[InputError]
    """Their problems, with file and line."""
    revisions: dict[str, str]
    """The Hub's commit of each source, or the SHA-256 of the local files."""
    missing: list[str]
    """Lines of the recipe without an available source."""
    lost: dict[str, int]
    """Samples that the paper's sampling would include and this one does not, by source, before the cap."""
    groups: SampleGroups = field(default_factory=SampleGroups)
    facts: Iterable[CorrectFact] = ()
    """The fact about each item in it."""
    shortcuts: dict[str, Shortcut] = field(default_factory=dict)
    """Of each source, and of `all`, as built."""
    paper_shortcuts: dict[str, Shortcut] = field(default_factory=dict)
    """The same under the paper's sampling."""
    audits: dict[str, dict[str, Shortcut]] = field(default_factory=dict)
    """The same, as built, by each classifier that was not used for balancing."""
    grouping: Grouping = field(default_factory=Grouping)
    failures: dict[str, int] = field(default_factory=dict)
    """Soft errors that a model failed to make, by kind."""
    dropped: dict[str, int] = field(default_factory=dict)
    """Soft errors that it was asked for and that are not there, by reason."""
    softened: Softened | None = None
    """The soft errors of a model, and what became of the others."""
    validation: ValidationRate | None = None
    """What people found who looked at samples."""


def wrapper_of(recipe: BuildRecipe) -> Wrapper:
    """Return what words the drafts of a recipe."""
    return Wrapper(Templates(Path(recipe.templates)) if recipe.templates else Templates(), seed=recipe.seed)
