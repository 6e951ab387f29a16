"""The public functions `mores.score`, `mores.score_file` and `mores.audit`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue

from mores.errors import InputError
from mores.io.frames import is_frame
from mores.metric.frames import Judgements
from mores.metric.metric import SINGLE, Metric, as_sample
from mores.metric.opening import make_metric
from mores.metric.prompt import places_of
from mores.metric.settings import AuditSettings, SampleLike, ScoreFileSettings, ScoreSettings
from mores.metric.summary import Kind, ScoreTally
from mores.models.base import wants_evidence
from mores.settings import takes
from mores.types import Judgement, Sample, Signature

if TYPE_CHECKING:
    from mores.metric.audit.run import AuditRun
    from mores.metric.folder import ScoreRun
    from mores.metric.texts import Lookup, Texts


@takes(ScoreSettings)
async def score(settings: ScoreSettings) -> Judgements:
    """Return the cultural errors of every text, with a score; `to_pandas()` and `to_polars()` make a frame of them."""
    metric = make_metric(settings.model, settings, settings.report)
    lookup = None
    if settings.evidence is not None or wants_evidence(metric.model):
        from mores.metric.texts import make_lookup

        lookup = make_lookup(settings, metric)
    samples: Iterable[SampleLike] = settings.samples
    judged, table = Judgements(), None
    judged.index = getattr(samples, "index", None) if hasattr(samples, "iloc") else None
    if settings.columns or settings.dialogue or is_frame(samples):
        from mores.io import SampleTable

        if settings.dialogue and not is_frame(samples):
            samples = [{"text": sample} if isinstance(sample, str) else sample for sample in samples]
        samples = table = SampleTable(samples, columns=settings.columns, dialogue=settings.dialogue)
    async with AsyncExitStack() as stack:
        if lookup is not None:
            if isinstance(samples, str | Mapping):
                raise InputError(SINGLE)
            metric.signature()  # which names a model that is not here, before documents are read for it
            samples = read = [as_sample(sample, number) for number, sample in enumerate(samples, 1)]
            if lookup := lookup.for_samples(read):
                grounding = await stack.enter_async_context(lookup.open(metric))
                samples = await grounding.ground_all(metric, read)
        async for _, judgement in metric.stream(samples):
            judged.append(judgement)
    judged.table = table.report if table else None
    return judged


@takes(ScoreFileSettings)
async def score_file(settings: ScoreFileSettings) -> ScoreRun:
    """Judge a file of texts; the run is in the folder `out`, or in TEXTS.MODEL.score. A stopped run continues."""
    from mores.metric.texts import make_lookup, open_texts

    metric = make_metric(settings.model, settings, settings.report)
    with open_texts(str(settings.texts), settings) as opened:
        return await score_texts(metric, opened, make_lookup(settings, metric), settings.out)


@takes(AuditSettings)
async def audit(settings: AuditSettings) -> AuditRun:
    """Test whether words hidden in the judged text, its instruction or its evidence change the verdict."""
    from mores.metric.audit.run import audit_injections

    metric = make_metric(settings.model, settings, settings.report)
    return await audit_injections(metric, settings.categories, settings.limit, settings.out)


async def score_texts(
    metric: Metric,
    texts: Texts,
    lookup: Lookup | None,
    out: Path | str | None,
    copies: Sequence[str | Path] = (),
    watch: Callable[[Sample, Judgement, Kind], None] = lambda *_: None,
) -> ScoreRun:
    """Judge these texts in a run; where nobody named its folder, other runs of the same file are left alone.

    The judgements also go into `copies`, where `-` is standard output; `watch` sees each as it is written, so that
    nobody needs to read all of them again.
    """
    from mores.io import file_name
    from mores.metric.folder import JUDGEMENTS, open_score_run
    from mores.metric.texts import check_style, judge_texts
    from mores.models.configured import configuration_of
    from mores.run import Plan, start_run

    check_style(metric, texts, lookup)
    lookup = lookup and lookup.for_samples(texts.samples())
    asker = metric.asker
    folder = Path(out or f"{Path(texts.name).name}.{file_name(asker.model.name)[-80:]}.score")
    settings: dict[str, JsonValue] = {
        "evidence": str(lookup or ""), "left_out": texts.bad, "warning": asker.model.warning
    }  # fmt: skip
    if texts.report and not texts.report.is_plain:  # what the page says, and by which names results are grouped
        settings["table"] = str(texts.report)
        settings["columns"] = {ours: theirs[0] for ours, theirs in texts.report.columns.items()}
    metric.signature()  # which names a model that is not here, before documents are read for it
    async with lookup.open(metric) if lookup else nullcontext() as grounding:
        # Whether the model gives log-probabilities is known only afterwards; the judgements say it.
        placed = metric.shows_places and any(map(places_of, texts.samples()))
        fields = {name: value for name, value in metric.signature(placed=placed).items() if name != "p"}
        signature = Signature({"data": texts.revision(), **fields})
        plan = Plan(
            kind="score",
            name=texts.name,
            model=asker.model.name,
            signature=signature,
            settings=settings,
            configuration=configuration_of(asker.model),
        )
        with start_run(folder, plan, numbered=out is None, progress=asker.progress) as run:
            tally = ScoreTally()

            def see(sample: Sample, judgement: Judgement) -> None:
                kind = Kind.of(judgement)
                tally.add(judgement, kind)
                watch(sample, judgement, kind)

            await judge_texts(metric, texts, [run.path / JUDGEMENTS, *copies], grounding, see)
            result = tally.summary()
            failures = {kind.value: number for kind, number in result.failed.items()}
            run.finish(files={JUDGEMENTS: "Judgement"}, failures=failures, headline=result.headline)
    scored = open_score_run(run.path)
    vars(scored)["result"] = result  # known already
    return scored
