"""The public functions `mores.score` and `mores.score_file`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Unpack

from pydantic import JsonValue

from mores.engine import AskOptions
from mores.io import file_name
from mores.metric.folder import JUDGEMENTS, ScoreRun, open_score_run
from mores.metric.metric import Metric, SampleLike, Settings, open_metric
from mores.metric.summary import summarise
from mores.metric.texts import Lookup, Texts, check_style, judge_texts, open_texts
from mores.models import Model
from mores.run import Plan, start_run
from mores.search import search_or_corpus
from mores.types import Judgement, Signature


async def score(
    samples: Iterable[SampleLike],
    model: str | Model = "embedded",
    settings: Settings | None = None,
    **options: Unpack[AskOptions],
) -> list[Judgement]:
    """Return the cultural errors of every text, with a score; texts come as `Sample`s, strings, pairs or mappings."""
    metric = open_metric(model, settings, **options)
    return [judgement async for _, judgement in metric.stream(samples)]


async def score_file(
    texts: Path | str,
    model: str | Model = "embedded",
    settings: Settings | None = None,
    *,
    out: Path | str | None = None,
    format: str | None = None,  # noqa: A002 - as the command's option
    evidence: str | None = None,
    passages: int = 3,
    skip_bad: bool = False,
    **options: Unpack[AskOptions],
) -> ScoreRun:
    """Judge a file of texts; the run is in the folder `out`, or in TEXTS.MODEL.score, and continues where it stopped.

    `format` is one of `mores.io.FORMATS`, where the name of the file does not tell: `inspect` and `lm-eval` are logs of
    these harnesses. `evidence` is a search or a corpus; at most `passages` passages are looked up in it for each text.
    """
    metric = open_metric(model, settings, **options)
    lookup = Lookup(search_or_corpus(evidence), passages) if evidence else None
    with open_texts(str(texts), format, skip_bad=skip_bad, progress=metric.asker.progress) as opened:
        return await score_texts(metric, opened, lookup, out)


async def score_texts(
    metric: Metric, texts: Texts, lookup: Lookup | None, out: Path | str | None, copies: Sequence[str | Path] = ()
) -> ScoreRun:
    """Return the run that judges these texts; without a given folder, other runs of the same file are left alone.

    The judgements also go into `copies`, where `-` is standard output.
    """
    check_style(metric, texts, lookup)
    asker = metric.asker
    folder = Path(out or f"{Path(texts.name).name}.{file_name(asker.model.name)[-80:]}.score")
    settings: dict[str, JsonValue] = {
        "evidence": str(lookup or ""), "left_out": texts.bad, "warning": asker.model.warning
    }  # fmt: skip
    async with lookup.open(metric) if lookup else nullcontext() as grounding:
        # Whether the model gives log-probabilities is known only afterwards; the judgements say it.
        fields = {name: value for name, value in metric.signature().items() if name != "p"}
        signature = Signature({"data": texts.revision(), **fields})
        plan = Plan(kind="score", name=texts.name, model=asker.model.name, signature=signature, settings=settings)
        with start_run(folder, plan, numbered=out is None, progress=asker.progress) as run:
            await judge_texts(metric, texts, [run.path / JUDGEMENTS, *copies], grounding)
            result = summarise(ScoreRun(run.path, run.manifest).judgements())
            failures = {kind.value: number for kind, number in result.failed.items()}
            run.finish(files={JUDGEMENTS: "Judgement"}, failures=failures, headline=result.headline)
    return open_score_run(run.path)
