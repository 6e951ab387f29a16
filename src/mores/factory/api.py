"""The public function `mores.build`."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Any

from mores.engine import Asker, make_asker
from mores.engine.loop import interruptible
from mores.engine.loop import run as run_loop
from mores.errors import ConfigError
from mores.extras import require
from mores.factory.audit import BOUND
from mores.factory.build import SOFT, BuildSession, Built, Softened, revisions
from mores.factory.build import build as make
from mores.factory.errors.model import make as make_soft
from mores.factory.errors.model import prompt_hash
from mores.factory.folder import FILES, BuildRun
from mores.factory.gold import Gold
from mores.factory.output import write
from mores.factory.recipe import BuildRecipe, read_recipe
from mores.factory.settings import BuildSettings, SourcesSettings
from mores.factory.sources import count_items, describe
from mores.factory.sources import sources as find_sources
from mores.factory.validation import VALIDATED, ValidationRate, read_rate, write_campaign
from mores.factory.work import StageStore
from mores.formatting import count, duration, first_problems, number
from mores.prompts import hash_prompts
from mores.run import WORK, Plan, start_run
from mores.settings import takes
from mores.signature import sign
from mores.views import draw

SHOWN = 20
"""Bad rows that are quoted."""
REASONS, LONGEST_REASON = 12, 100
"""Reasons for dropped soft errors that are told, and their characters."""


@takes(BuildSettings)
async def build(settings: BuildSettings) -> BuildRun:
    """Make instruction-text pairs with gold error reports from cultural datasets, in the folder `out`."""
    require("build", "yaml", "scipy", "pyarrow")
    recipe, model, out = settings.recipe, settings.model, settings.out
    chosen = recipe if isinstance(recipe, BuildRecipe) else read_recipe(str(recipe))
    changes = {name: getattr(settings, name) for name in ("soft", "sampling", "cap", "seed")}
    chosen = chosen.model_copy(update={name: value for name, value in changes.items() if value is not None})
    commercial, progress = settings.commercial, settings.progress
    if chosen.soft == "model" and not model:
        raise ConfigError(f"{chosen.name}: soft errors by a model need one; name it", setting="model")
    if model and chosen.soft != "model":
        reason = f"a model makes soft errors, but {chosen.name} makes them by {chosen.soft}; let a model make them"
        raise ConfigError(reason, setting="soft")
    if settings.ray and not model:
        raise ConfigError(
            f"{chosen.name}: Ray runs the model that makes soft errors, and {chosen.name} makes them by {chosen.soft}",
            setting="soft",
        )
    asker = make_asker(model, settings) if model else None
    folder, started = settings.data, time.monotonic()
    known = revisions(chosen, folder, commercial)
    with interruptible(), start_run(out, _plan(chosen, known, folder, commercial, asker), numbered=False) as run:
        soften = (lambda golds: run_loop(_soften(golds, asker))) if asker else None
        work = StageStore(run.path / WORK, str(run.manifest.signature))
        if settings.fresh or settings.retry_failed:
            work.forget(SOFT)
        built = make(chosen, folder, commercial, BuildSession(progress, soften, work, known))
        found = settings.validated or (run.path / VALIDATED if (run.path / VALIDATED).exists() else None)
        if found or chosen.edition > 2:
            ids = (gold.sample.id for gold in built.golds)
            built.validation = read_rate(found, ids) if found else ValidationRate()
        write(built, chosen, run.path, progress, partial(draw, "card"))
        if settings.validate:
            write_campaign(built.golds, settings.validate, chosen.name, chosen.seed, run.path)
        work.remove()
        progress.note(f"built {len(built.golds):,} samples in {duration(time.monotonic() - started)}")
        if problems := built.problems:
            progress.note(f"left out {count(len(problems), 'bad row')}:{first_problems(problems, SHOWN)}")
        for line in built.missing:
            progress.note(f"note: not available: {line}")
        for source in sorted(built.items.keys() - {draft.sample.source for draft in built.golds}):
            items = count(built.items[source], "item")
            progress.note(
                f"warning: {source} has no samples: none of its {items} has a correct and a wrong text to pair"
            )
        failures = built.failures | ({"input": len(problems)} if problems else {})
        run.finish(files=FILES, failures=failures, headline=headline(built))
    return BuildRun(run.path, run.manifest)


def _plan(recipe: BuildRecipe, known: dict[str, str], data: Path | None, commercial: bool, asker: Asker | None) -> Plan:
    fields = {
        "task": f"build.{recipe.edition}",
        "recipe": hash_prompts(recipe.model_dump_json()),
        "data": hash_prompts(str(sorted(known.items()))),
        "commercial": "yes" if commercial else "no",
        "model": asker.model.identity if asker else "none",
        **({"prompt": prompt_hash()} if asker else {}),
    }
    return Plan(
        kind="build",
        name=recipe.name,
        model=asker.model.name if asker else "",
        signature=sign(fields),
        settings=recipe.model_dump(mode="json") | {"data": str(data) if data else None, "commercial": commercial},
    )


@takes(SourcesSettings)
async def sources(settings: SourcesSettings) -> list[dict[str, Any]]:
    """Return the datasets that training data are made from, their licences and where to get them."""
    return list_sources(settings, lambda _: None)


def list_sources(settings: SourcesSettings, note: Callable[[object], None]) -> list[dict[str, Any]]:
    """Describe the sources; problems go to `note`."""
    listed = [source for source in find_sources(note) if source.commercial or not settings.commercial]
    data = settings.data
    return [describe(source) | (count_items(source, data, note) if data else {}) for source in listed]


async def _soften(golds: list[Gold], asker: Asker) -> Softened:
    """Soft errors by a model; what it fails to make is counted by kind."""
    soft: list[Gold] = []
    dropped, failures = Counter[str](), Counter[str]()
    async with (
        asker.progress.stage("soft errors", 2 * len(golds), asker.price) as counts,
        aclosing(make_soft(golds, asker, counts=counts)) as results,
    ):
        async for _, result in results:
            if isinstance(result, Gold):
                soft.append(result)
            elif result is None:
                dropped["nothing in the pair is about a culture, the model says"] += 1
            else:
                failures[result.kind] += 1
                # What is quoted, or comes after the first part, differs from answer to answer.
                dropped[re.split(r"[;(]| ends ", result.reason)[0].strip()[:LONGEST_REASON]] += 1
    reasons = dict(dropped.most_common(REASONS))
    if rest := dropped.total() - sum(reasons.values()):
        reasons["for other reasons"] = rest
    lines = [f"{number:,}: {reason}" for reason, number in reasons.items()]
    made = f"{len(soft):,} soft errors made" + (f", {dropped.total():,} dropped:" if lines else "")
    asker.progress.note("\n  ".join([made, *lines]))
    return Softened(golds=tuple(soft), failures=dict(failures), dropped=reasons)


def headline(built: Built) -> str:
    """Return the number of samples, a classifier's accuracy on the text alone, and the worst source above the bound."""
    samples = f"{len(built.golds):,} samples"
    audits = [parts["all"] for parts in built.audits.values()]
    if not audits:
        return samples
    best = max(audits, key=lambda shortcut: shortcut.value)
    accuracy = f"{number(best.value, 3)} ± {number(best.error, 3)}"
    line = f"{samples}; a classifier that sees the text alone has a scaled accuracy of {accuracy}, where 0 is chance"
    above = [
        (shortcut.value, shortcut.error, source, classifier)
        for classifier, parts in built.audits.items()
        for source, shortcut in parts.items()
        if source != "all" and shortcut.value > BOUND
    ]
    if not above:
        return line
    value, error, source, classifier = max(above)
    accuracy = f"{number(value, 3)} ± {number(error, 3)}"
    return f"{line}; warning: {source} is above the bound of {BOUND}: {accuracy} ({classifier})"
