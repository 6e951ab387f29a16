"""The data factory: items -> drafts -> a balanced choice -> instruction-text pairs with gold reports -> splits."""

from __future__ import annotations

import gc
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from pathlib import Path

import numpy as np
from pydantic import Field

from mores import culture
from mores.engine.progress import SILENT, Progress
from mores.errors import ConfigError, InputError
from mores.factory import sources as datasets
from mores.factory.audit import AUDITORS, WORD_PAIRS, audit_texts, thin
from mores.factory.balance import SAMPLINGS, see_drafts
from mores.factory.compose import can_be_told, compose, text_drafts
from mores.factory.drafts import Draft, Form, Stratum, cap, drafts, draw, limit, word
from mores.factory.errors.rules import SINGLE, Pool, RankedEdits, apply, find_edits, first_edits
from mores.factory.errors.rules.soundness import with_capitals, without_accepted
from mores.factory.facts import CorrectFact, CorrectFacts, once
from mores.factory.gold import ChangedText, Gold
from mores.factory.items import SourceItem
from mores.factory.recipe import BuildRecipe, first_available
from mores.factory.scratch import Shelf
from mores.factory.shortcut import Integers, Shortcut, audit
from mores.factory.sources.people import only_people
from mores.factory.split import SPLITS, count_leaks, folds, groups, near_twins
from mores.factory.statement import Statement, norm_of
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


SPLIT_OF = {fold: split for split, folds_of_split in SPLITS.items() for fold in folds_of_split}


class Golds:
    """The chosen drafts as pairs, worded anew each time they are iterated over, so that they need no memory."""

    def __init__(
        self, chosen: list[Draft], group_of: dict[str, str], fold_of: dict[str, int], recipe: BuildRecipe
    ) -> None:
        self._chosen = sorted(chosen, key=lambda d: (d.item.source, d.item.id, d.task, d.key))
        self._group_of, self._fold_of, self._recipe = group_of, fold_of, recipe

    def __len__(self) -> int:
        return len(self._chosen)

    def __iter__(self) -> Iterator[Gold]:
        wrapper = _wrapper(self._recipe)
        for draft in self._chosen:
            gold = word(draft, wrapper)
            place = {"group": self._group_of[gold.item], "split": SPLIT_OF[self._fold_of[gold.item]]}
            yield gold.model_copy(update=place)

    @property
    def drafts(self) -> Sequence[Draft]:
        """The drafts, in the order of the pairs."""
        return self._chosen

    def texts(self) -> Iterator[str]:
        """Yield the output text of each draft."""
        wrapper = _wrapper(self._recipe)
        for draft in self._chosen:
            worded = draft.worded
            yield worded.sample.text if worded else wrapper.wrap(draft.item, draft.answer, task=draft.task).text

    def facts(self) -> CorrectFacts:
        """Return the facts of the items that the pairs are made of; opinions are not facts."""
        split_of = {name: SPLIT_OF[fold] for name, fold in self._fold_of.items()}
        told = (item for draft in self._chosen for item in draft.parts or (draft.item,))
        items = (item for item in told if datasets.has_facts(item.source))
        return CorrectFacts(once(items), self._group_of, split_of)


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


@_seldom_collecting()
def build(
    recipe: BuildRecipe, data: Path | None, commercial: bool = False, session: BuildSession | None = None
) -> Built:
    """Build the dataset of a recipe from a folder that holds one folder per source."""
    session = session or BuildSession()
    built = Built([], {}, {}, [], {}, [], {})
    items = _load(recipe, data, commercial, built, session)
    group_of, fold_of = _grouped(recipe, items, built, session)
    strata: dict[Stratum, list[Draft]] = defaultdict(list)
    changes = Shelf[ChangedText]()
    for draft in _drafts(recipe, items, fold_of, built, session):
        change = draft.change
        light = replace(draft, change=changes.put(change)) if isinstance(change, ChangedText) else draft
        strata[draft.stratum].append(light)
        if draft.parts:  # a text of several items, which lie in one fold
            group_of[draft.item.name], fold_of[draft.item.name] = draft.item.name, fold_of[draft.parts[0].name]
    golds = Golds(_choose(recipe, strata, (group_of, fold_of), built, session), group_of, fold_of, recipe)
    built.golds, built.facts = golds, golds.facts()
    if len(golds):  # by classifiers that were not used for balancing, on whole texts
        chosen = golds.drafts
        chosen_auditors = AUDITORS if recipe.edition == 2 else AUDITORS | {"word pairs": WORD_PAIRS}
        auditors = session.progress.track("auditing texts", chosen_auditors.items(), len(chosen_auditors))
        correct, folds_of = [draft.correct for draft in chosen], [fold_of[draft.item.name] for draft in chosen]
        make = partial(audit_texts, auditors, golds.texts(), correct, folds_of, _parts(chosen))
        kind = dict[str, dict[str, Shortcut]]
        built.audits = session.work.keep("auditing texts", _inputs(chosen, fold_of), kind, make)
    return built


def _grouped(
    recipe: BuildRecipe, items: list[SourceItem], built: Built, session: BuildSession
) -> tuple[dict[str, str], dict[str, int]]:
    """Return the group and the fold of each item."""
    twins = near_twins(session.progress.track("grouping", items, len(items)))
    group_of = groups(items, ((pair.first[0], pair.second[0]) for pair in twins))
    fold_of_group = folds(items, group_of, recipe.seed)
    fold_of = {name: fold_of_group[group] for name, group in group_of.items()}
    split_of = {name: SPLIT_OF[fold] for name, fold in fold_of.items()}
    sizes = Counter(group_of.values())
    tested = sum(split == "test" for split in split_of.values())
    built.grouping = Grouping(
        groups=len(sizes), largest=max(sizes.values()), tested=tested, twins=count_leaks(twins, split_of)
    )
    return group_of, fold_of


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


_FIELDS = set(SourceItem.model_fields)
"""One set for all items: one of its own takes as much as half of an item."""


def _load(
    recipe: BuildRecipe, data: Path | None, commercial: bool, built: Built, session: BuildSession
) -> list[SourceItem]:
    available = _available(recipe, data)
    known = revisions(recipe, data, commercial) if session.revisions is None else session.revisions
    items: list[SourceItem] = []
    for line in recipe.sources:
        name = first_available(line, available)
        if name is None:
            built.missing.append(line)
            continue
        problems: list[InputError] = []
        read, field_name = _read(name, recipe, data, commercial, problems)
        reading = session.progress.track(f"reading {name}", read)
        of_source = cap(reading, attrgetter(field_name), seed=recipe.seed, most=recipe.cap)
        built.problems += problems
        for source, count in Counter(item.source for item in of_source).items():
            built.items[source], built.bad[source] = count, len(problems)
            built.revisions[source] = known[name]
        items += (SourceItem.model_construct(_FIELDS, **item.__dict__) for item in of_source)
        norms = (norm_of(item, draw(recipe.seed, "norm", item.unit or item.id)) for item in of_source)
        items += {norm.id: norm for norm in norms if norm}.values()
    if not items:
        reason = f"found none of its sources ({', '.join(recipe.sources)}); name the folder that holds them"
        raise InputError(f"{recipe.name}: {reason}", setting="data")
    names = Counter((item.source, item.id) for item in items)
    if twice := next((name for name, number in names.items() if number > 1), None):
        raise InputError(f"{twice[0]}: duplicate id {twice[1]!r}; give each item of a source its own id")
    return items


def _available(recipe: BuildRecipe, data: Path | None) -> list[str]:
    """Return the available sources that a recipe names."""
    in_recipe = [name for name in datasets.names() if any(name in map(str.strip, s.split("|")) for s in recipe.sources)]
    if data is None:
        return [name for name in in_recipe if datasets.source(name).hub is not None]
    return [name for name in in_recipe if (data / name).is_dir()]


def _read(
    name: str, recipe: BuildRecipe, data: Path | None, commercial: bool, problems: list[InputError]
) -> tuple[Iterable[SourceItem], str]:
    """Return the items of a source, and the field that the cap is stratified by."""
    if name.endswith(".jsonl"):
        return map(partial(_with_codes, name), read_records(name, SourceItem)), "region"
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


def _with_codes(path: str, item: SourceItem) -> SourceItem:
    """Return a user's item with codes instead of names: `zh-CN` for "zh_CN", `fa` for "Persian", `IR` for "Iran"."""
    try:
        tag = culture.language(item.language) if item.language else None
        return item.model_copy(update={"language": tag, "region": culture.region(item.region) if item.region else None})
    except InputError as error:
        raise InputError(f"{path}: item {item.id!r}: {error}") from error


def _drafts(
    recipe: BuildRecipe, items: list[SourceItem], fold_of: Mapping[str, int], built: Built, session: BuildSession
) -> Iterator[Draft]:
    if recipe.soft == "none":
        yield from (draft for item in items for draft in drafts(item))
        return
    written = list(_by_model(recipe, items, built, session)) if recipe.soft in ("model", "both") else []
    if recipe.soft in ("rules", "both"):
        # A correct pair beside which a model wrote an error is balanced with that, and is in the dataset only once.
        used = {(draft.item.name, draft.task) for draft in written}
        for draft in _by_rules(recipe, items, fold_of, session):
            if draft.kind != "correct" or draft.form != "answer" or (draft.item.name, draft.task) not in used:
                yield draft
    else:
        yield from (draft for item in items if item.wrong for draft in drafts(item))
    yield from written


def _by_rules(
    recipe: BuildRecipe, items: list[SourceItem], fold_of: Mapping[str, int], session: BuildSession
) -> Iterator[Draft]:
    pool = Pool(session.progress.track("collecting names", items, len(items)))
    edition = recipe.edition
    known: dict[str, RankedEdits] = {}

    def make(statement: Statement) -> Iterator[ChangedText]:
        found = find_edits(statement, pool, recipe.seed, edition=edition)
        if recipe.compose and can_be_told(statement):
            known[statement.item.name] = first_edits(found)
        # A sentence may state a wrong answer of the source from edition 3 on; then only its words are marked.
        if edition == 2 or not statement.after:
            found = [pair for pair in found if pair[0] in SINGLE]
        return apply(statement, found, recipe.seed, recipe.errors)

    for item in session.progress.track("making errors", items, len(items)):
        yield from drafts(item, make, recipe.seed, edition)
    texts = compose(items, fold_of, recipe.seed, recipe.compose, edition)
    for text in session.progress.track("composing texts", texts):
        yield from text_drafts(text, pool, recipe.seed, recipe.errors, edition, known)


def _by_model(recipe: BuildRecipe, items: list[SourceItem], built: Built, session: BuildSession) -> Iterator[Draft]:
    if (soften := session.soften) is None:
        raise ConfigError(f"{recipe.name}: soft errors by a model need one")
    plain, correct = {item.name: item for item in items}, pairs_to_soften(recipe, items)
    inputs = (gold.model_dump_json() for gold in correct)
    softened = session.work.keep(SOFT, inputs, Softened, lambda: soften(correct))
    built.failures, built.dropped, built.softened = softened.failures, softened.dropped, softened
    with_errors = {gold.item for gold in softened.golds}
    form: Form = "written" if recipe.soft == "both" else "answer"
    for gold in [*(gold for gold in correct if gold.item in with_errors), *softened.golds]:
        yield Draft(plain[gold.item], gold.task, gold.sample.text, gold.kind, gold.maker, worded=gold, form=form)


def pairs_to_soften(recipe: BuildRecipe, items: Iterable[SourceItem]) -> list[Gold]:
    """Return the correct pairs that a model is to put errors into: those of items without a wrong answer."""
    wrapper = _wrapper(recipe)
    return [word(draft, wrapper) for item in items if not item.wrong for draft in drafts(item)]


def read_pairs(recipe: BuildRecipe, data: Path | None, commercial: bool, progress: Progress) -> list[Gold]:
    """Read the sources of a recipe, and return the correct pairs that a model is to put errors into."""
    items = _load(recipe, data, commercial, Built([], {}, {}, [], {}, [], {}), BuildSession(progress))
    return pairs_to_soften(recipe, items)


def _choose(
    recipe: BuildRecipe,
    strata: dict[Stratum, list[Draft]],
    places: tuple[dict[str, str], dict[str, int]],
    built: Built,
    session: BuildSession,
) -> list[Draft]:
    """Return the drafts of the dataset; `places` are the groups and folds of items."""
    fold_of = places[1]
    sampled: dict[Stratum, list[Draft]] = {}
    plainly: dict[Stratum, list[Draft]] = {}
    for key in session.progress.track("balancing", sorted(strata), len(strata)):
        stratum = strata.pop(key)  # what is left out needs no more memory
        sample = partial(SAMPLINGS[recipe.sampling], stratum, fold_of, recipe.seed)
        by_key = {draft.key: draft for draft in stratum}
        stage, inputs = f"balance {' '.join(key)}", _inputs(stratum, fold_of)
        make = partial(lambda choose: [draft.key for draft in choose()], sample)
        keys = session.work.keep(stage, inputs, list[str], make)
        sampled[key] = [by_key[name] for name in keys]
        plainly[key] = SAMPLINGS["paper"](stratum, fold_of, recipe.seed)
    if balances_words := recipe.edition > 2 and recipe.sampling == "shortcut-free":
        sampled = _balance_words(recipe, sampled, places, session, "balancing words")
    chosen, plain = (limit(some, most=recipe.cap, seed=recipe.seed) for some in (sampled, plainly))
    if balances_words:  # those that the cap keeps once more
        limited = _balance_words(recipe, _by_stratum(chosen), places, session, "balancing words again")
        chosen = [draft for part in limited.values() for draft in part]
    built.paper_shortcuts = _audits(recipe, plain, fold_of, "auditing the paper's sampling", session)
    same = recipe.sampling == "paper"
    built.shortcuts = built.paper_shortcuts if same else _audits(recipe, chosen, fold_of, "auditing", session)
    before, after = (Counter(d.item.source for part in some.values() for d in part) for some in (plainly, sampled))
    built.lost = {source: before[source] - after[source] for source in before}
    return chosen


def _by_stratum(drafts: Iterable[Draft]) -> dict[Stratum, list[Draft]]:
    strata: dict[Stratum, list[Draft]] = defaultdict(list)
    for draft in drafts:
        strata[draft.stratum].append(draft)
    return strata


def _balance_words(
    recipe: BuildRecipe,
    sampled: Mapping[Stratum, Sequence[Draft]],
    places: tuple[dict[str, str], dict[str, int]],
    session: BuildSession,
    stage: str,
) -> dict[Stratum, list[Draft]]:
    """Return the drafts of each source whose words do not tell correct from wrong."""
    group_of, fold_of = places
    chosen: list[Draft] = []
    sources = sorted({stratum[0] for stratum in sampled})
    for source in session.progress.track(stage, sources, len(sources)):
        of_source = [draft for key in sorted(sampled) if key[0] == source for draft in sampled[key]]
        by_key = {draft.key: draft for draft in of_source}
        make = partial(lambda drafts: [d.key for d in balance_words(drafts, fold_of, group_of, recipe.seed)], of_source)
        keys = session.work.keep(f"{stage} {source}", _inputs(of_source, fold_of), list[str], make)
        chosen += [by_key[key] for key in keys]
    return _by_stratum(chosen)


def _inputs(drafts: Iterable[Draft], fold_of: dict[str, int]) -> Iterator[str]:
    """Return the inputs of balancing and audits."""
    return (f"{draft.key} {fold_of[draft.item.name]}" for draft in drafts)


def _audits(
    recipe: BuildRecipe, chosen: list[Draft], fold_of: dict[str, int], stage: str, session: BuildSession
) -> dict[str, Shortcut]:
    # From edition 3 on, the guesser reads as many texts as the other classifiers.
    parts = {name: rows if recipe.edition == 2 else thin(rows) for name, rows in _parts(chosen).items()}

    def make() -> dict[str, Shortcut]:
        read = np.unique(np.concatenate(list(parts.values())))
        seen = see_drafts([chosen[place] for place in read.tolist()], fold_of)
        tracked = session.progress.track(stage, parts.items(), len(parts))
        return {name: audit(seen.take(np.searchsorted(read, rows))) for name, rows in tracked}

    return session.work.keep(stage, _inputs(chosen, fold_of), dict[str, Shortcut], make)


def _parts(chosen: Sequence[Draft]) -> dict[str, Integers]:
    """Return the places of each source's drafts, and of all."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, draft in enumerate(chosen):
        places[draft.item.source].append(place)
    return {source: np.array(places[source]) for source in sorted(places)} | {"all": np.arange(len(chosen))}
