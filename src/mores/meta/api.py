"""The public functions `mores.meta` and `mores.compare`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Unpack

from mores.engine import SILENT, AskOptions
from mores.errors import ConfigError
from mores.extras import require
from mores.meta.baselines import BASELINES, NEEDS
from mores.meta.dataset import Dataset
from mores.meta.folder import MetaRun
from mores.meta.juice.data import JuiceData
from mores.meta.juice.records import THRESHOLD
from mores.meta.juice.session import JuiceRun, JuiceSession
from mores.meta.records import Versus
from mores.meta.scorers import Scorer, by_sample, read_judgements, scorer
from mores.meta.session import Session
from mores.meta.versus import check_data, compare_judges, compare_texts
from mores.meta.votes import read_votes, vote_tables
from mores.metric import Settings, open_metric
from mores.run import Run, open_run
from mores.types import Judgement

JUICE = "juice:"
"""What comes before the file of the release of JuICE."""
DEFAULTS = {"split": "test", "iou": THRESHOLD}


class MetaOptions(AskOptions, total=False):
    """What `mores.meta` takes besides the dataset and the metrics."""

    baselines: str | Sequence[str]
    """Baselines to compare with: `all`, `none`, or the names of some."""
    split: str
    """What is judged: `train`, `dev` or `test`, the default."""
    limit: int | None
    """Most samples of a source, half of them with errors."""
    leave_one_out: bool
    """Also train the baselines without each source in turn, and use every `{source}` model on all samples."""
    votes: Path | str | None
    """File with the annotators' votes on the samples, as JSON lines."""
    settings: Settings | None
    """How models are asked for reports."""
    iou: float
    """On JuICE: the intersection over union from which on a marked span finds an error, 0.5."""


async def meta(
    data: Path | str,
    metrics: str | Sequence[str] = (),
    *,
    out: Path | str | None = None,
    **options: Unpack[MetaOptions],
) -> MetaRun | JuiceRun:
    """Measure how good metrics are at finding the cultural errors of a dataset that `mores.build` wrote.

    `juice:FILE` is the release of JuICE, on which every judge that marks spans is measured. A metric is `excam:MODEL`,
    `count:MODEL`, `severity:MODEL`, `binary:MODEL`, a file of judgements, or a baseline. The run is in the folder
    `out`; without it, in one named after the dataset.
    """
    return await run_session(open_session(data, metrics, **options), data, out)


async def run_session(session: Session | JuiceSession, data: Path | str, out: Path | str | None) -> MetaRun | JuiceRun:
    """Run it in the folder `out`; without it, in one named after the dataset."""
    return await session.run(folder_of(data, out), numbered=out is None)


def open_session(
    data: Path | str, metrics: str | Sequence[str] = (), **options: Unpack[MetaOptions]
) -> Session | JuiceSession:
    """The metrics, and the samples that they judge."""
    names = [metrics] if isinstance(metrics, str) else metrics
    if str(data).startswith(JUICE):
        return _open_juice(Path(str(data).removeprefix(JUICE)), names, options)
    _refuse(options, "a dataset that `mores build` wrote", "iou")
    scorers = _scorers(names, options.pop("baselines", "all"))
    dataset = Dataset(Path(data), options.pop("split", "test"), options.pop("limit", None))
    leave_one_out, settings = options.pop("leave_one_out", False), options.pop("settings", None)
    votes = options.pop("votes", None)
    len(dataset.golds)  # read before any model is asked
    return Session(
        dataset,
        scorers,
        lambda model: open_metric(model, settings, **options),  # type: ignore[misc]  # the remaining options are the metric's
        leave_one_out,
        vote_tables(read_votes(Path(votes), dataset.everything), dataset.everything) if votes else (),
        options.get("progress", SILENT),
    )


def _open_juice(file: Path, names: Sequence[str], options: MetaOptions) -> JuiceSession:
    _refuse(options, "JuICE", "split", "leave_one_out", "votes")
    baselines, settings = options.pop("baselines", "all"), options.pop("settings", None)
    if baselines not in ("all", "none"):
        raise ConfigError("JuICE has one baseline, which marks every sentence: all or none", setting="baselines")
    data, limit, threshold = JuiceData(file), options.pop("limit", None), options.pop("iou", THRESHOLD)
    len(data.answers)  # read before any model is asked
    return JuiceSession(
        data,
        [scorer(name) for name in dict.fromkeys(names)],
        lambda model: open_metric(model, settings, **options),  # type: ignore[misc]  # the remaining options are the metric's
        threshold,
        baselines == "all",
        limit,
        options.get("progress", SILENT),
    )


def _refuse(options: MetaOptions, data: str, *names: str) -> None:
    """Options that mean nothing for this kind of data."""
    for name in names:
        if options.pop(name, None) not in (None, False, DEFAULTS.get(name)):  # type: ignore[misc]
            raise ConfigError(f"{name.replace('_', ' ')} means nothing for {data}; leave it out", setting=name)


def folder_of(data: Path | str, out: Path | str | None) -> Path:
    """The folder of a run: the given one, or one named after the dataset."""
    if out:
        return Path(out)
    name = Path(str(data).removeprefix(JUICE)).stem if str(data).startswith(JUICE) else Path(data).resolve().name
    return Path(f"{name}.meta")


def _scorers(metrics: Iterable[str], baselines: str | Sequence[str]) -> list[Scorer]:
    if isinstance(baselines, str):
        chosen = {"all": list(BASELINES), "none": []}.get(baselines, [name.strip() for name in baselines.split(",")])
    else:
        chosen = list(baselines)
    if unknown := sorted(set(chosen) - set(BASELINES)):
        raise ConfigError(
            f"unknown baseline {unknown[0]!r}; known are {', '.join(BASELINES)}, all and none", setting="baselines"
        )
    names = dict.fromkeys([*metrics, *chosen])
    if not names:
        raise ConfigError("nothing to evaluate; name a metric or a baseline", setting="metric")
    if needed := sorted({module for name in names for module in NEEDS.get(name, ())}):
        require("pip install 'mores[meta]', or choose the baselines always,never,majority", *needed)
    return [scorer(name) for name in names]


async def compare(
    first: Path | str | Run | Iterable[Judgement],
    second: Path | str | Run | Iterable[Judgement],
    *,
    data: Path | str | None = None,
    split: str = "test",
    force: bool = False,
) -> Versus:
    """Test whether two sets of judgements differ; each is a file, a run that has one, or the judgements themselves.

    With `data`, they are two judges of the same samples: which finds the errors better. Without it, they are one
    judge's scores of the same texts in two versions, for example by two models.
    """
    names = (_name(first, "first"), _name(second, "second"))
    pair = (_judgements(first, names[0]), _judgements(second, names[1]))
    if data is None:
        return compare_texts(names, *pair, force=force)
    dataset = Dataset(Path(data), split)
    if not force:
        for name, judgements in zip(names, pair, strict=True):
            check_data(name, judgements, dataset, can_force=True)
    return compare_judges(names, *pair, dataset.golds, force=force)


def _name(judgements: Path | str | Run | Iterable[Judgement], otherwise: str) -> str:
    if isinstance(judgements, Run):
        return str(judgements.path)
    return str(judgements) if isinstance(judgements, Path | str) else otherwise


def _judgements(judgements: Path | str | Run | Iterable[Judgement], name: str) -> dict[str, Judgement]:
    """The judgements by sample."""
    if isinstance(judgements, Path | str):
        if not Path(judgements).is_dir():
            return read_judgements(judgements)
        judgements = open_run(judgements)
    if not isinstance(judgements, Run):
        return by_sample(judgements, name)
    files = [file for file, kind in judgements.manifest.files.items() if kind == "Judgement"]
    if len(files) != 1:
        problem = f"several files of judgements; give one of them: {', '.join(files)}" if files else "no judgements"
        raise ConfigError(f"{name}: the run has {problem}")
    return read_judgements(judgements.path / files[0])
