"""The data factory: items -> drafts -> a balanced choice -> instruction-text pairs with gold reports -> splits."""

from __future__ import annotations

import gc
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from mores.engine.progress import SILENT, Progress
from mores.errors import ConfigError
from mores.factory.audit import AUDITORS, WORD_PAIRS, audit_texts, thin
from mores.factory.balance import SAMPLINGS, limit, see_drafts
from mores.factory.built import Built, Golds, Grouping, Softened, wrapper_of
from mores.factory.columns import Integers
from mores.factory.compose import can_be_told, compose, text_drafts
from mores.factory.drafts import Draft, Form, Stratum, drafts, word
from mores.factory.errors.rules import SINGLE, Pool, find_edits, first_changes, several_errors
from mores.factory.gold import ChangedText, Gold
from mores.factory.loading import load
from mores.factory.recipe import BuildRecipe
from mores.factory.scratch import Shelf, explain_full_disk, give_back
from mores.factory.shortcut import Shortcut, audit
from mores.factory.split import SPLITS, count_leaks, folds, groups, near_twins
from mores.factory.statement import Statement
from mores.factory.table import DraftTable, ItemTable
from mores.factory.words import balance_words
from mores.factory.work import StageStore

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
    items = load(recipe, data, commercial, built, session.progress, session.revisions)
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
    wrapper = wrapper_of(recipe)
    return [word(draft, wrapper) for item in items if not item.wrong for draft in drafts(item)]


@explain_full_disk()
def read_pairs(recipe: BuildRecipe, data: Path | None, commercial: bool, progress: Progress) -> list[Gold]:
    """Read the sources of a recipe, and return the correct pairs that a model is to put errors into."""
    items = load(recipe, data, commercial, Built([], {}, {}, [], {}, [], {}), progress)
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
