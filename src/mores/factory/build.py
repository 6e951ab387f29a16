"""The data factory: items -> drafts -> a balanced choice -> instruction-text pairs with gold reports -> splits."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mores.errors import ConfigError, InputError
from mores.factory import sources as datasets
from mores.factory.balance import SAMPLINGS, columns
from mores.factory.drafts import Draft, Maker, cap, drafts, word, worded
from mores.factory.errors.rules import Pool, changes
from mores.factory.gold import Gold
from mores.factory.items import SourceItem, Task
from mores.factory.recipe import Recipe, first_there
from mores.factory.shortcut import Shortcut, audit
from mores.factory.split import SPLITS, folds, groups
from mores.factory.wrap import Templates, Wrapper
from mores.io import read_records

Progress = Callable[[str], None]
"""Is told of each stage."""

Soften = Callable[[list[Gold]], Iterable[Gold]]
"""Makes pairs with errors of right ones."""

SPLIT_OF = {fold: split for split, own in SPLITS.items() for fold in own}


@dataclass
class Built:
    """A dataset in memory, with what is to be said of it."""

    golds: list[Gold]
    items: dict[str, int]
    """Items of each source, after the cap."""
    bad: dict[str, int]
    """Rows of each source that could not be read."""
    missing: list[str]
    """Lines of the recipe of which no source was there."""
    lost: dict[str, int]
    """Samples that the paper's sampling would have had and this one has not, by source."""
    shortcuts: dict[str, Shortcut] = field(default_factory=dict)
    """Of each source, and of `all`, as built."""
    paper_shortcuts: dict[str, Shortcut] = field(default_factory=dict)
    """The same under the paper's sampling."""


def build(
    recipe: Recipe,
    data: Path | None,
    commercial: bool = False,
    progress: Progress = lambda _: None,
    soften: Soften | None = None,
) -> Built:
    """Build the dataset of a recipe from a folder that holds one folder per source.

    `soften` makes the soft errors where the recipe leaves them to a model.
    """
    built = Built([], {}, {}, [], {})
    items = _load(recipe, data, commercial, built, progress)
    progress("grouping")
    group_of = groups(items)
    fold_of_group = folds(items, group_of, recipe.seed)
    fold_of = {name: fold_of_group[group] for name, group in group_of.items()}
    wrapper = Wrapper(Templates(Path(recipe.templates)) if recipe.templates else Templates(), seed=recipe.seed)
    all_drafts = list(_drafts(recipe, items, wrapper, soften, progress))
    chosen = _choose(recipe, all_drafts, fold_of, built, progress)
    progress("wording")
    for draft in sorted(chosen, key=lambda d: (d.item.source, d.item.id, d.task, d.key)):
        gold = word(draft, wrapper)
        place = {"group": group_of[gold.item], "split": SPLIT_OF[fold_of[gold.item]]}
        built.golds.append(gold.model_copy(update=place))
    return built


def _load(recipe: Recipe, data: Path | None, commercial: bool, built: Built, progress: Progress) -> list[SourceItem]:
    there = [name for name in datasets.names() if data is None or (data / name).is_dir()]
    items: list[SourceItem] = []
    for line in recipe.sources:
        name = first_there(line, there)
        if name is None:
            built.missing.append(line)
            continue
        progress(f"reading {name}")
        problems: list[InputError] = []
        own = cap(*_read(name, data, commercial, problems), seed=recipe.seed, most=recipe.cap)
        for source, count in Counter(item.source for item in own).items():
            built.items[source], built.bad[source] = count, len(problems)
        items += own
    if not items:
        raise InputError(
            f"no source of {recipe.name} is there: {', '.join(recipe.sources)}; name their folder with --data"
        )
    return items


def _read(
    name: str, data: Path | None, commercial: bool, problems: list[InputError]
) -> tuple[Iterable[SourceItem], Callable[[SourceItem], str | None]]:
    if name.endswith(".jsonl"):
        return read_records(name, SourceItem), lambda item: item.region
    source = datasets.source(name)
    if commercial and not source.commercial:
        return (), lambda item: item.region
    folder = datasets.folder_of(name, data)
    return datasets.load(name, folder, problems.append), lambda item: getattr(item, source.stratify)


def _drafts(
    recipe: Recipe, items: list[SourceItem], wrapper: Wrapper, soften: Soften | None, progress: Progress
) -> Iterator[Draft]:
    if recipe.soft != "model":
        make = _maker(recipe, items)
        yield from (draft for item in items for draft in drafts(item, make))
        return
    if soften is None:
        raise ConfigError(f"{recipe.name}: soft errors by a model need one; name it with --model")
    yield from (draft for item in items if item.wrong for draft in drafts(item))
    plain = {f"{item.source}/{item.id}": item for item in items if not item.wrong}
    right = [word(draft, wrapper) for item in plain.values() for draft in drafts(item)]
    progress("making soft errors")
    made = list(soften(right))
    with_errors = {gold.item for gold in made}
    for gold in [*(gold for gold in right if gold.item in with_errors), *made]:
        yield from worded(plain[gold.item], [gold])


def _choose(
    recipe: Recipe, all_drafts: list[Draft], fold_of: dict[str, int], built: Built, progress: Progress
) -> list[Draft]:
    strata: dict[tuple[str, Task], list[Draft]] = defaultdict(list)
    for draft in all_drafts:
        strata[draft.stratum].append(draft)
    chosen: list[Draft] = []
    plain: list[Draft] = []
    for (source, task), own in sorted(strata.items()):
        progress(f"balancing {source} {task}")
        chosen += SAMPLINGS[recipe.sampling](own, fold_of, recipe.seed)
        plain += SAMPLINGS["paper"](own, fold_of, recipe.seed)
    progress("auditing")
    built.shortcuts, built.paper_shortcuts = _audits(chosen, fold_of), _audits(plain, fold_of)
    before, after = (Counter(d.item.source for d in some) for some in (plain, chosen))
    built.lost = {source: before[source] - after[source] for source in before}
    return chosen


def _maker(recipe: Recipe, items: list[SourceItem]) -> Maker | None:
    if recipe.soft == "none":
        return None
    pool = Pool(items)
    return lambda item: changes(item, pool, recipe.seed)


def _audits(chosen: list[Draft], fold_of: dict[str, int]) -> dict[str, Shortcut]:
    by_source: dict[str, list[Draft]] = defaultdict(list)
    for draft in chosen:
        by_source[draft.item.source].append(draft)
    found = {source: audit(*columns(own, fold_of)) for source, own in sorted(by_source.items())}
    return found | {"all": audit(*columns(chosen, fold_of))}
