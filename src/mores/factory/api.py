"""The public function `mores.build`."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Any

from mores.engine import Asker, make_asker
from mores.engine.estimate import Estimate, estimate
from mores.engine.loop import interruptible
from mores.engine.loop import run as run_loop
from mores.errors import ConfigError
from mores.extras import require
from mores.factory.audit import BOUND
from mores.factory.build import SOFT, BuildSession, read_pairs
from mores.factory.build import build as make
from mores.factory.built import Built, Softened
from mores.factory.errors.model import (
    Asked,
    SoftErrorSettings,
    make_each,
    make_several,
    prompt_hash,
    reason_of,
    settings_hash,
    several_jobs,
    single_jobs,
)
from mores.factory.folder import FILES, BuildRun
from mores.factory.gold import Gold
from mores.factory.loading import revisions
from mores.factory.output import write
from mores.factory.recipe import BuildRecipe, read_recipe
from mores.factory.settings import BuildSettings, SourcesSettings
from mores.factory.sources import count_items, describe
from mores.factory.sources import sources as find_sources
from mores.factory.validation import VALIDATED, ValidationRate, read_rate, write_campaign
from mores.factory.work import StageStore
from mores.formatting import count, duration, first_problems, number
from mores.metric.metric import Metric
from mores.metric.opening import make_metric
from mores.metric.settings import ReportSettings
from mores.prompts import hash_prompts
from mores.run import WORK, Plan, start_run
from mores.settings import takes
from mores.signature import sign
from mores.types import Evidence, Sample, Severity
from mores.views import draw

SHOWN = 20
"""Bad rows that are quoted."""
REASONS = 12
"""Reasons for dropped soft errors that are told."""
USUAL_TOKENS = 600
"""About how long an answer with soft errors is: thoughts in steps, and JSON that repeats the pair."""


@takes(BuildSettings)
async def build(settings: BuildSettings) -> BuildRun:
    """Make instruction-text pairs with gold error reports from cultural datasets, in the folder `out`."""
    require("build", "yaml", "scipy", "pyarrow")
    chosen, model, out = _chosen(settings), settings.model, settings.out
    commercial, progress = settings.commercial, settings.progress
    asker = make_asker(model, settings) if model else None
    judge = make_metric(settings.verify, settings, ReportSettings()) if settings.verify else None
    folder, started = settings.data, time.monotonic()
    known, soft = revisions(chosen, folder, commercial), _soft_settings(settings, chosen)
    plan = _plan(chosen, known, folder, commercial, asker, settings_hash(soft), judge)
    with interruptible(), start_run(out, plan, numbered=False) as run:
        soften = (lambda golds: run_loop(_soften(golds, asker, soft, judge))) if asker else None
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
            progress.note(f"warning: {source} has no samples: {_why_empty(built, source)}")
        failures = built.failures | ({"input": len(problems)} if problems else {})
        run.finish(files=FILES, failures=failures, headline=headline(built))
    return BuildRun(run.path, run.manifest)


def _why_empty(built: Built, source: str) -> str:
    """Return why no sample of a source is in the dataset."""
    if lost := built.lost.get(source):
        return (
            f"all {lost:,} were left out, as their words alone show which texts are wrong; sampling 'paper' keeps them"
        )
    return f"none of its {count(built.items[source], 'item')} has a correct and a wrong text to pair"


def estimate_soft(settings: BuildSettings) -> Estimate:
    """Return what the model that makes soft errors would be sent, without sending anything."""
    recipe = _chosen(settings)
    if not settings.model:
        return Estimate()
    asker, soft = make_asker(settings.model, settings), _soft_settings(settings, recipe)
    pairs = read_pairs(recipe, settings.data, settings.commercial, settings.progress)
    asked = [(gold, severity) for gold in pairs for severity in Severity]
    jobs = several_jobs(asked, soft) if soft.at_once > 1 else single_jobs(asked, soft)
    return estimate(asker, jobs, soft.max_tokens, USUAL_TOKENS * soft.at_once)


def _chosen(settings: BuildSettings) -> BuildRecipe:
    """Return the recipe with what overrides it; ConfigError where it does not go with the model."""
    recipe, model = settings.recipe, settings.model
    chosen = recipe if isinstance(recipe, BuildRecipe) else read_recipe(str(recipe))
    changes = {name: getattr(settings, name) for name in ("soft", "sampling", "cap", "seed")}
    chosen = chosen.model_copy(update={name: value for name, value in changes.items() if value is not None})
    by_model = chosen.soft in ("model", "both")
    if by_model and not model:
        raise ConfigError(f"{chosen.name}: soft errors by a model need one; name it", setting="model")
    if settings.verify and not model:
        raise ConfigError("a judge verifies the soft errors that a model wrote; name that model", setting="model")
    if model and not by_model:
        reason = f"a model makes soft errors, but {chosen.name} makes them by {chosen.soft}; let a model make them"
        raise ConfigError(reason, setting="soft")
    if settings.ray and not model:
        raise ConfigError(
            f"{chosen.name}: Ray runs the model that makes soft errors, and {chosen.name} makes them by {chosen.soft}",
            setting="soft",
        )
    return chosen


def _soft_settings(settings: BuildSettings, recipe: BuildRecipe) -> SoftErrorSettings:
    repair = recipe.edition > 2 if settings.repair is None else settings.repair
    severity = settings.soft_severity or ("answered" if recipe.edition > 2 else "asked")
    given = {name: getattr(settings, name) for name in ("max_tokens", "temperature", "at_once")}
    return SoftErrorSettings(repair=repair, severity=severity, checked=recipe.edition > 2, most=recipe.errors, **given)


def _plan(
    recipe: BuildRecipe,
    known: dict[str, str],
    data: Path | None,
    commercial: bool,
    asker: Asker | None,
    soft: str,
    judge: Metric | None,
) -> Plan:
    fields = {
        "task": f"build.{recipe.edition}",
        "recipe": hash_prompts(recipe.model_dump_json()),
        "data": hash_prompts(str(sorted(known.items()))),
        "commercial": "yes" if commercial else "no",
        "model": asker.model.identity if asker else "none",
        **({"prompt": prompt_hash()} if asker else {}),
        **({"soft": soft} if asker and soft else {}),
        **({"verify": hash_prompts(str(sorted(judge.signature(with_evidence=True).items())))} if judge else {}),
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


async def _soften(
    golds: list[Gold], asker: Asker, settings: SoftErrorSettings, judge: Metric | None = None
) -> Softened:
    """Soft errors by a model; what it fails to make, or a judge does not find, is counted by kind and by reason."""
    soft: list[Gold] = []
    dropped, failures, repaired = Counter[str](), Counter[str](), Counter[str]()
    asked: list[Asked] = [(gold, severity) for gold in golds for severity in Severity]
    wanted = Counter(gold.sample.source or "" for gold, _ in asked)
    severity_of: dict[str, Severity] = {}
    for makes in (make_several, make_each) if settings.at_once > 1 else (make_each,):
        at_once, left = settings.at_once if makes is make_several else 1, list[Asked]()
        async with (
            asker.progress.stage("soft errors", -(-len(asked) // at_once), asker.price) as counts,
            aclosing(makes(asked, asker, settings, counts, repaired)) as results,
        ):
            async for pair, result in results:
                if isinstance(result, Gold):
                    soft.append(result)
                    severity_of[result.sample.id] = pair[1]
                elif result is None:
                    dropped["nothing in the pair is about a culture, the model says"] += 1
                elif makes is make_several:
                    left.append(pair)
                else:
                    failures[result.kind] += 1
                    dropped[reason_of(result)] += 1
        asked = left
    if judge is not None:
        soft = await _verified(soft, judge, dropped, failures)
    made = Counter(gold.sample.source or "" for gold in soft)
    severities = Counter(
        f"{asked_for} errors were asked for, and the model calls them {severity}"
        for gold in soft
        if (severity := gold.report.errors[0].severity) != (asked_for := severity_of[gold.sample.id])
    )
    reasons = dict(dropped.most_common(REASONS))
    if rest := dropped.total() - sum(reasons.values()):
        reasons["for other reasons"] = rest
    softened = Softened(
        golds=tuple(soft),
        failures=dict(failures),
        dropped=reasons,
        repaired=dict(repaired.most_common()),
        made={name: (made[name], number) for name, number in wanted.items()},
        severities=dict(severities),
    )
    asker.progress.note(_tell(softened))
    return softened


async def _verified(golds: list[Gold], judge: Metric, dropped: Counter[str], failures: Counter[str]) -> list[Gold]:
    """Return the pairs in which a judge finds an error; the others are counted."""
    kept: list[Gold] = []
    async with (
        judge.asker.progress.stage("verifying soft errors", len(golds), judge.asker.price) as counts,
        aclosing(judge.stream(map(_beside_the_correct, golds), counts)) as judgements,
    ):
        places = iter(golds)
        async for _, judgement in judgements:
            gold = next(places)
            if judgement.failure:
                failures[judgement.failure.kind] += 1
                dropped[f"the judge failed: {reason_of(judgement.failure)}"] += 1
            elif judgement.report and judgement.report.errors:
                kept.append(gold)
            else:
                dropped["the judge finds no error in it beside the correct text"] += 1
    return kept


def _beside_the_correct(gold: Gold) -> Sample:
    """Return a pair with errors, with the pair that it was made from as its evidence."""
    assert gold.original is not None
    correct = Evidence(text=f"{gold.original.instruction}\n{gold.original.text}")
    return gold.sample.model_copy(update={"evidence": (correct,)})


def _tell(made: Softened) -> str:
    """Return how many soft errors were made, and what became of the others."""
    lines = [f"{number:,}: {reason}" for reason, number in made.dropped.items()]
    lines += [f"{number:,} repaired: {reason}" for reason, number in made.repaired.items()]
    lines += [f"{number:,}: {reason}" for reason, number in made.severities.items()]
    lines += [f"{source}: {got:,} of {number:,}" for source, (got, number) in made.made.items() if len(made.made) > 1]
    lost = sum(made.dropped.values())
    told = f"{len(made.golds):,} soft errors made" + (f", {lost:,} dropped" if lost else "") + (":" if lines else "")
    return "\n  ".join([told, *lines])


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
