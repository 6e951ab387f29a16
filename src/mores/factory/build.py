"""The data factory: items -> drafts -> a balanced choice -> instruction-text pairs with gold reports -> splits."""

from __future__ import annotations

import gc
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from sys import intern
from typing import NamedTuple

import numpy as np
from pydantic import Field

from mores import culture
from mores.engine.progress import SILENT, Progress
from mores.errors import ConfigError, InputError
from mores.factory import sources as datasets
from mores.factory.audit import AUDITORS, WORD_PAIRS, audit_texts, thin
from mores.factory.balance import SAMPLINGS, limit, see_drafts
from mores.factory.columns import Integers
from mores.factory.compose import can_be_told, compose, text_drafts
from mores.factory.drafts import Draft, Form, Stratum, cap, drafts, draw, word
from mores.factory.errors.rules import SINGLE, Pool, find_edits, first_changes, several_errors
from mores.factory.errors.rules.soundness import with_capitals, without_accepted
from mores.factory.facts import CorrectFact, CorrectFacts
from mores.factory.gold import ChangedText, Gold
from mores.factory.items import SourceItem, Task
from mores.factory.recipe import BuildRecipe, first_available
from mores.factory.scratch import Shelf, explain_full_disk, give_back
from mores.factory.shortcut import Shortcut, audit
from mores.factory.sources.people import only_people
from mores.factory.sources.rows import check_answers
from mores.factory.split import SPLIT_OF, SPLITS, count_leaks, folds, groups, near_twins
from mores.factory.statement import Statement, norm_of
from mores.factory.table import DraftTable, ItemTable
from mores.factory.validation import ValidationRate
from mores.factory.words import balance_words
from mores.factory.work import StageStore
from mores.factory.wrap import Wrapper
from mores.factory.wrap.templates import Templates
from mores.io import read_records
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


Soften = Callable[[list[Gold]], Softened]
SOFT = "soft errors"
"""The stage in which a model makes them."""


@dataclass(frozen=True)
class BuildSession:
    """The resources of a running build; none of them changes the result."""

    progress: Progress = SILENT
    soften: Soften | None = None
    """Makes the soft errors if the recipe leaves them to a model."""
    work: StageStore = field(default_factory=StageStore)
    """Keeps the results of long stages, so that a stopped build can be resumed."""
    revisions: Mapping[str, str] | None = None
    """The result of `revisions`, if it is known already."""


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
        wrapper, before = _wrapper(self._recipe), -1
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


@contextmanager
def _seldom_collecting() -> Iterator[None]:
    """Collect garbage rarely: a build makes millions of records and hardly any cycles, and each pass visits all."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@explain_full_disk()
@_seldom_collecting()
def build(
    recipe: BuildRecipe, data: Path | None, commercial: bool = False, session: BuildSession | None = None
) -> Built:
    """Build the dataset of a recipe from a folder that holds one folder per source."""
    session = session or BuildSession()
    built = Built([], {}, {}, [], {}, [], {})
    items = _load(recipe, data, commercial, built, session)
    _put_in_groups(recipe, items, built, session)
    drafts = DraftTable(items)
    for place, draft in _drafts(recipe, items, built, session):
        drafts.append(place, draft)
    golds = Golds(drafts, _choose(recipe, drafts, built, session), recipe)
    built.golds, built.groups, built.facts = golds, golds.in_groups(), golds.facts()
    if len(golds):  # by classifiers that were not used for balancing, on whole texts
        chosen_auditors = AUDITORS if recipe.edition == 2 else AUDITORS | {"word pairs": WORD_PAIRS}
        auditors = session.progress.track("auditing texts", chosen_auditors.items(), len(chosen_auditors))
        correct, fold, parts = drafts.correct[golds.rows], drafts.fold[golds.rows], _parts(drafts, golds.rows)
        make = partial(audit_texts, auditors, golds.texts, correct, fold, parts)
        kind = dict[str, dict[str, Shortcut]]
        built.audits = session.work.keep("auditing texts", _inputs(drafts, golds.rows), kind, make)
    return built


def _put_in_groups(recipe: BuildRecipe, items: ItemTable, built: Built, session: BuildSession) -> None:
    """Put each item in a group and a fold."""
    twins = near_twins(items, session.progress)
    group = groups(items, twins)
    fold = folds(items, group, recipe.seed)
    sizes = np.bincount(group)
    built.grouping = Grouping(
        groups=int(np.count_nonzero(sizes)),
        largest=int(sizes.max()),
        tested=int(np.isin(fold, SPLITS["test"]).sum()),
        twins=count_leaks(twins, fold),
    )
    items.put_in(group, fold)
    give_back()


def _wrapper(recipe: BuildRecipe) -> Wrapper:
    return Wrapper(Templates(Path(recipe.templates)) if recipe.templates else Templates(), seed=recipe.seed)


def revisions(recipe: BuildRecipe, data: Path | None, commercial: bool) -> dict[str, str]:
    """Return the revision of every source that a build reads, and of the user's own templates."""
    available = _available(recipe, data)
    result = {"templates": datasets.revision_of(Path(recipe.templates))} if recipe.templates else {}
    for name in (name for line in recipe.sources if (name := first_available(line, available))):
        is_own = name.endswith(".jsonl")
        if commercial and not is_own and not datasets.source(name).commercial:
            result[name] = ""
        else:
            place = Path(name) if is_own else datasets.folder_of(name, data, recipe.revisions.get(name))
            result[name] = datasets.revision_of(place)
    return result


class _ItemHead(NamedTuple):
    """A shelved item, as the cap asks for it."""

    source: str
    id: str
    stratum: str
    has_norm: bool
    where: int


def _load(recipe: BuildRecipe, data: Path | None, commercial: bool, built: Built, session: BuildSession) -> ItemTable:
    available = _available(recipe, data)
    known = revisions(recipe, data, commercial) if session.revisions is None else session.revisions
    items, norms_of_all = ItemTable(), set[str]()
    for line in recipe.sources:
        name = first_available(line, available)
        if name is None:
            built.missing.append(line)
            continue
        problems: list[InputError] = []
        opened, field_name = _open_source(name, recipe, data, commercial, problems)
        heads = (
            _ItemHead(
                intern(item.source),
                item.id,
                intern(getattr(item, field_name) or ""),
                item.norm is not None,
                items.shelve(item),
            )
            for item in session.progress.track(f"reading {name}", opened)
        )
        of_source = cap(heads, attrgetter("stratum"), seed=recipe.seed, most=recipe.cap)
        built.problems += problems
        for source, count in Counter(item.source for item in of_source).items():
            # One's own items of a source may be in several files.
            built.items[source] = built.items.get(source, 0) + count
            built.bad[source] = built.bad.get(source, 0) + len(problems)
            built.revisions[source] = ", ".join(filter(None, (built.revisions.get(source), known[name])))
        norms: dict[str, SourceItem] = {}
        for head in of_source:
            place = items.take_up(head.where, head.source, head.id)
            item = items[place] if head.has_norm else None
            if item and (norm := norm_of(item, draw(recipe.seed, "norm", item.unit or item.id))):
                norms[norm.name] = norm
        for norm in norms.values():
            if norm.name not in norms_of_all:
                items.append(norm)
        norms_of_all |= norms.keys()
    if not len(items):
        reason = f"found none of its sources ({', '.join(recipe.sources)}); name the folder that holds them"
        raise InputError(f"{recipe.name}: {reason}", setting="data")
    _refuse_duplicates(items)
    return items


def _refuse_duplicates(items: ItemTable) -> None:
    for (before, _), (name, place) in pairwise((items.names[place], place) for place in items.order.tolist()):
        if name == before:
            source, own = items.sources[items.source_of[place]], items.id(place)
            raise InputError(f"{source}: duplicate id {own!r}; give each item of a source its own id")


def _available(recipe: BuildRecipe, data: Path | None) -> list[str]:
    """Return the available sources that a recipe names."""
    in_recipe = [name for name in datasets.names() if any(name in map(str.strip, s.split("|")) for s in recipe.sources)]
    if data is None:
        return [name for name in in_recipe if datasets.source(name).hub is not None]
    return [name for name in in_recipe if (data / name).is_dir()]


def _open_source(
    name: str, recipe: BuildRecipe, data: Path | None, commercial: bool, problems: list[InputError]
) -> tuple[Iterable[SourceItem], str]:
    """Return the items of a source, and the field that the cap is stratified by."""
    if name.endswith(".jsonl"):
        return map(partial(_checked, name), read_records(name, SourceItem)), "region"
    source = datasets.source(name)
    if commercial and not source.commercial:
        return (), source.stratify
    folder = datasets.folder_of(name, data, recipe.revisions.get(name))
    items = datasets.load(name, folder, problems.append)
    if recipe.edition == 2:
        return items, source.stratify
    if source.read_local and recipe.own_languages:
        local = {item.id: item for item in source.read_local(folder, problems.append)}
        most = int(256 * recipe.own_languages)
        items = (local.get(i.id, i) if draw(recipe.seed, "language", i.id)[0] < most else i for i in items)
    if source.about_anything:
        items = iter(only_people(items))
    return map(with_capitals, filter(None, map(without_accepted, items))), source.stratify


def _checked(path: str, item: SourceItem) -> SourceItem:
    """Return a user's item, checked, with codes instead of names: `zh-CN` for "zh_CN", `fa` for "Persian"."""
    try:
        check_answers(item)
        if item.task is Task.QA and not {item.answer, *item.wrong}.issubset(item.options):
            raise InputError("an answer is not among the options; add it to them, or make the task freeform")
        if item.task is Task.IMPERSONATION and not item.role:
            raise InputError('no role to impersonate; give at least the country, [["Country", "Peru"]]')
        tag = culture.language(item.language) if item.language else None
        return item.model_copy(update={"language": tag, "region": culture.region(item.region) if item.region else None})
    except InputError as error:
        raise InputError(f"{path}: item {item.id!r}: {error}") from error


def _drafts(recipe: BuildRecipe, items: ItemTable, built: Built, session: BuildSession) -> Iterator[tuple[int, Draft]]:
    """Yield all drafts, with the place of the item of each."""
    if recipe.soft == "none":
        yield from ((place, draft) for place, item in enumerate(items) for draft in drafts(item))
        return
    written = list(_by_model(recipe, items, built, session)) if recipe.soft in ("model", "both") else []
    if recipe.soft in ("rules", "both"):
        # A correct pair beside which a model wrote an error is balanced with that, and is in the dataset only once.
        used = {(place, draft.task) for place, draft in written}
        for place, draft in _by_rules(recipe, items, session):
            if draft.kind != "correct" or draft.form != "answer" or (place, draft.task) not in used:
                yield place, draft
    else:
        yield from ((place, draft) for place, item in enumerate(items) if item.wrong for draft in drafts(item))
    yield from written


def _by_rules(recipe: BuildRecipe, items: ItemTable, session: BuildSession) -> Iterator[tuple[int, Draft]]:
    pool = Pool(session.progress.track("collecting names", items, len(items)))
    edition = recipe.edition
    shelf, shelved = Shelf[list[ChangedText]](), array("q", [-1]) * len(items)

    def make(place: int, statement: Statement) -> Iterator[ChangedText]:
        found = find_edits(statement, pool, recipe.seed, edition=edition)
        changes = first_changes(statement, found)
        if recipe.compose and can_be_told(statement):
            shelved[place] = shelf.put(changes)
        # A sentence may state a wrong answer of the source from edition 3 on; then only its words are marked.
        if edition == 2 or not statement.after:
            found = [pair for pair in found if pair[0] in SINGLE]
            changes = [change for change in changes if change.rule in SINGLE]
        yield from changes
        yield from several_errors(statement, found, recipe.seed, recipe.errors)

    def known(place: int) -> list[ChangedText] | None:
        return shelf.take(shelved[place]) if shelved[place] >= 0 else None

    for place, item in enumerate(session.progress.track("making errors", items, len(items))):
        for draft in drafts(item, partial(make, place), recipe.seed, edition):
            yield place, draft
    for text in session.progress.track("composing texts", compose(items, recipe.seed, recipe.compose, edition)):
        place = items.append(text.item, text.places)
        for draft in text_drafts(text, pool, recipe.seed, recipe.errors, edition, known):
            yield place, draft


def _by_model(
    recipe: BuildRecipe, items: ItemTable, built: Built, session: BuildSession
) -> Iterator[tuple[int, Draft]]:
    if (soften := session.soften) is None:
        raise ConfigError(f"{recipe.name}: soft errors by a model need one")
    place_of, correct = {name: place for place, name in enumerate(items.names)}, pairs_to_soften(recipe, items)
    inputs = (gold.model_dump_json() for gold in correct)
    softened = session.work.keep(SOFT, inputs, Softened, lambda: soften(correct))
    built.failures, built.dropped, built.softened = softened.failures, softened.dropped, softened
    with_errors = {gold.item for gold in softened.golds}
    form: Form = "written" if recipe.soft == "both" else "answer"
    for gold in [*(gold for gold in correct if gold.item in with_errors), *softened.golds]:
        place = place_of[gold.item]
        draft = Draft(items[place], gold.task, gold.sample.text, gold.kind, gold.maker, worded=gold, form=form)
        yield place, draft


def pairs_to_soften(recipe: BuildRecipe, items: ItemTable) -> list[Gold]:
    """Return the correct pairs that a model is to put errors into: those of items without a wrong answer."""
    wrapper = _wrapper(recipe)
    return [word(draft, wrapper) for item in items if not item.wrong for draft in drafts(item)]


@explain_full_disk()
def read_pairs(recipe: BuildRecipe, data: Path | None, commercial: bool, progress: Progress) -> list[Gold]:
    """Read the sources of a recipe, and return the correct pairs that a model is to put errors into."""
    items = _load(recipe, data, commercial, Built([], {}, {}, [], {}, [], {}), BuildSession(progress))
    return pairs_to_soften(recipe, items)


def _choose(recipe: BuildRecipe, drafts: DraftTable, built: Built, session: BuildSession) -> Integers:
    """Return the drafts of the dataset."""
    sampled: dict[Stratum, Integers] = {}
    plainly: dict[Stratum, Integers] = {}
    strata = sorted(drafts.by_stratum().items())
    for key, rows in session.progress.track("balancing", strata, len(strata)):
        make = partial(SAMPLINGS[recipe.sampling], drafts, rows, recipe.seed)
        sampled[key] = _kept(f"balance {' '.join(key)}", drafts, rows, make, session)
        plainly[key] = SAMPLINGS["paper"](drafts, rows, recipe.seed)
    if balances_words := recipe.edition > 2 and recipe.sampling == "shortcut-free":
        sampled = _balance_words(recipe, drafts, sampled, session, "balancing words")
    chosen, plain = (limit(drafts, some, most=recipe.cap, seed=recipe.seed) for some in (sampled, plainly))
    if balances_words:  # those that the cap keeps once more
        limited = _balance_words(recipe, drafts, drafts.by_stratum(chosen), session, "balancing words again")
        chosen = np.concatenate([np.zeros(0, np.int64), *limited.values()])
    built.paper_shortcuts = _audits(recipe, drafts, plain, "auditing the paper's sampling", session)
    same = recipe.sampling == "paper"
    built.shortcuts = built.paper_shortcuts if same else _audits(recipe, drafts, chosen, "auditing", session)
    before, after = map(_count_by_source, (plainly, sampled))
    built.lost = {source: before[source] - after[source] for source in before if before[source]}
    return chosen


def _count_by_source(sampled: Mapping[Stratum, Integers]) -> Counter[str]:
    counts = Counter[str]()
    for (source, *_), rows in sampled.items():
        counts[source] += len(rows)
    return counts


def _kept(
    stage: str, drafts: DraftTable, rows: Integers, make: Callable[[], Integers], session: BuildSession
) -> Integers:
    """Return the rows that a stage chooses among some, or chose before the build was stopped."""
    kept = session.work.keep(stage, _inputs(drafts, rows), list[int], lambda: make().tolist())
    return np.array(kept, np.int64)


def _balance_words(
    recipe: BuildRecipe, drafts: DraftTable, sampled: Mapping[Stratum, Integers], session: BuildSession, stage: str
) -> dict[Stratum, Integers]:
    """Return the drafts of each source whose words do not tell correct from wrong."""
    chosen = [np.zeros(0, np.int64)]
    sources = sorted({stratum[0] for stratum in sampled})
    for source in session.progress.track(stage, sources, len(sources)):
        rows = np.concatenate([sampled[key] for key in sorted(sampled) if key[0] == source])
        make = partial(balance_words, drafts, rows, recipe.seed)
        chosen.append(_kept(f"{stage} {source}", drafts, rows, make, session))
    return drafts.by_stratum(np.concatenate(chosen))


def _inputs(drafts: DraftTable, rows: Integers) -> Iterator[str]:
    """Return the inputs of balancing and audits."""
    folds = drafts.fold[rows]
    return (f"{row} {key} {fold}" for row, key, fold in zip(rows, drafts.keys(rows), folds, strict=True))


def _audits(
    recipe: BuildRecipe, drafts: DraftTable, chosen: Integers, stage: str, session: BuildSession
) -> dict[str, Shortcut]:
    # From edition 3 on, the guesser reads as many texts as the other classifiers.
    parts = {name: rows if recipe.edition == 2 else thin(rows) for name, rows in _parts(drafts, chosen).items()}

    def make() -> dict[str, Shortcut]:
        is_read = np.zeros(len(chosen), bool)
        for rows in parts.values():
            is_read[rows] = True
        read = np.flatnonzero(is_read)
        seen = see_drafts(drafts, chosen[read])
        tracked = session.progress.track(stage, parts.items(), len(parts))
        return {name: audit(seen.take(np.searchsorted(read, rows))) for name, rows in tracked}

    return session.work.keep(stage, _inputs(drafts, chosen), dict[str, Shortcut], make)


def _parts(drafts: DraftTable, chosen: Integers) -> dict[str, Integers]:
    """Return the places of each source's drafts among the chosen ones, and of all."""
    items = drafts.items
    sources = items.source_of[drafts.place[chosen]]
    numbers = sorted(np.unique(sources).tolist(), key=items.sources.__getitem__)
    return {items.sources[n]: np.flatnonzero(sources == n) for n in numbers} | {"all": np.arange(len(chosen))}
