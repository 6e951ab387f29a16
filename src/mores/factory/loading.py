"""From the sources of a recipe to items: each source is opened, checked, capped and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from sys import intern
from typing import NamedTuple

from mores import culture
from mores.engine.progress import SILENT, Progress
from mores.errors import InputError
from mores.factory import sources as datasets
from mores.factory.built import Built
from mores.factory.drafts import cap, draw
from mores.factory.errors.rules.soundness import with_capitals, without_accepted
from mores.factory.items import SourceItem, Task
from mores.factory.recipe import BuildRecipe, first_available
from mores.factory.sources.people import only_people
from mores.factory.sources.rows import check_answers
from mores.factory.statement import norm_of
from mores.factory.table import ItemTable
from mores.io import read_records


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


def load(
    recipe: BuildRecipe,
    data: Path | None,
    commercial: bool,
    built: Built,
    progress: Progress = SILENT,
    known: Mapping[str, str] | None = None,
) -> ItemTable:
    """Return the items of a recipe's sources; `known` is the result of `revisions`, if there is one already."""
    available = _available(recipe, data)
    known = revisions(recipe, data, commercial) if known is None else known
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
            for item in progress.track(f"reading {name}", opened)
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
