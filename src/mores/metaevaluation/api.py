"""The public functions `mores.meta` and `mores.compare`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from mores.errors import ConfigError
from mores.extras import require
from mores.metaevaluation.baselines import ALL, BASELINES, NEEDS
from mores.metaevaluation.compare import GradedRun, check_data, compare_judges, compare_questions, compare_texts
from mores.metaevaluation.dataset import Dataset, Pairs
from mores.metaevaluation.folder import MetaRun
from mores.metaevaluation.judging import JudgingSession
from mores.metaevaluation.juice.data import JuiceData
from mores.metaevaluation.juice.session import JuiceRun, JuiceSession
from mores.metaevaluation.people.answers import read_people
from mores.metaevaluation.people.judges import TableJudge, open_judge, read_judgement_file, read_table_judge
from mores.metaevaluation.people.measure import compare_two
from mores.metaevaluation.people.session import PeopleRun, PeopleSession
from mores.metaevaluation.records import JudgementComparison
from mores.metaevaluation.scorers import AnyMetric, MetricScorer, by_sample, read_judgements, scorers
from mores.metaevaluation.session import MetaSession
from mores.metaevaluation.settings import CompareSettings, MetaSettings
from mores.metaevaluation.votes import read_votes, vote_tables
from mores.metric.folder import ScoreRun
from mores.metric.groups import find_columns
from mores.metric.opening import make_metric
from mores.registry import split_name
from mores.run import Run, open_run
from mores.settings import takes
from mores.types import Judgement

FILES = ("juice", "ratings", "marks")
"""What may come before a file: `juice:FILE` is JuICE, `ratings:FILE` and `marks:FILE` are people's."""
AnyRun: TypeAlias = MetaRun | JuiceRun | PeopleRun


@takes(MetaSettings)
async def meta(settings: MetaSettings) -> AnyRun:
    """Measure how good metrics are at finding the cultural errors of a dataset that `mores.build` wrote, or of pairs.

    A file of pairs has texts and whether each is `correct` (`mores.metaevaluation.dataset`); `result.advice` says
    whether each metric is any good for such texts. On `juice:FILE`, the release of JuICE, every judge that marks spans
    is measured; `ratings:FILE` and `marks:FILE` are answers that people rated or marked errors in. The run is in the
    folder `out`; without it, in one named after the dataset.
    """
    require("meta", "scipy")  # of intervals at the end; said before any model is asked
    return await run_session(open_session(settings), settings.data, settings.out)


async def run_session(session: JudgingSession, data: Path | str, out: Path | str | None) -> AnyRun:
    """Run it in the folder `out`; without it, in one named after the dataset."""
    if out:
        folder = Path(out)
    else:
        kind, path = split_data(data)
        folder = Path(f"{path.stem if kind else path.resolve().name}.meta")
    run = open_run(await session.run(folder, numbered=out is None))
    assert isinstance(run, AnyRun)
    return run


def open_session(settings: MetaSettings) -> JudgingSession:
    """Open the metrics, and the samples that they judge."""
    kind, file = split_data(settings.data)
    open_metric = partial(make_metric, settings=settings, report=settings.report)
    if kind == "juice":
        _refuse(settings, "JuICE", "split", "leave_one_out", "votes", "columns", "aliases", "by")
        if settings.baselines not in (("all",), ("none",)):
            raise ConfigError("JuICE has one baseline, which marks every sentence: all or none", setting="baselines")
        data = JuiceData(file)
        len(data.answers)  # read before any model is asked
        return JuiceSession(
            scorers=scorers(settings.metrics),
            open_metric=open_metric,
            progress=settings.progress,
            data=data,
            threshold=settings.iou,
            baseline=settings.baselines == ("all",),
            limit=settings.limit,
        )
    if kind:
        _refuse(settings, "what people said", "split", "limit", "leave_one_out", "votes", "iou", "baselines", "by")
        people = read_people(kind, file, columns=settings.columns, aliases=settings.aliases)
        named = [name for number, name in enumerate(settings.metrics) if name not in settings.metrics[:number]]
        judges = [open_judge(name) for name in named]
        return PeopleSession(
            scorers=[judge for judge in judges if isinstance(judge, MetricScorer) and not judge.file],
            open_metric=open_metric,
            progress=settings.progress,
            data=people,
            judges=judges,
            aliases=settings.aliases,
        )
    _refuse(settings, "a dataset that `mores build` wrote", "iou", "columns", "aliases")
    chosen = _scorers(settings.metrics, settings.baselines, learning=not Path(settings.data).is_file())
    dataset = open_dataset(Path(settings.data), settings.split, settings.limit, settings.by)
    _ = dataset.groupings  # all of it is read before any model is asked
    everything, votes = dataset.everything if settings.votes else (), settings.votes
    return MetaSession(
        scorers=chosen,
        open_metric=open_metric,
        progress=settings.progress,
        data=dataset,
        leave_one_out=settings.leave_one_out,
        votes=vote_tables(read_votes(votes, everything), everything) if votes else (),
    )


def open_dataset(path: Path, split: str = "test", limit: int | None = None, by: Sequence[str] = ()) -> Dataset:
    """Return a folder that `mores build` wrote, or a file of pairs."""
    return (Pairs if path.is_file() else Dataset)(path, split, limit, by)


def split_data(data: Path | str) -> tuple[str, Path]:
    """Return the kind of data and its file, such as `juice` and the file of JuICE; no kind for a folder."""
    kind, file = split_name(str(data))
    return (kind, Path(file)) if ":" in str(data) and kind in FILES else ("", Path(data))


def _refuse(settings: MetaSettings, data: str, *names: str) -> None:
    """Raise ConfigError for settings that mean nothing for this kind of data."""
    changed = settings.changed()
    for name in names:
        if changed.get(name):
            raise ConfigError(f"{name.replace('_', ' ')} means nothing for {data}; leave it out", setting=name)


def _scorers(metrics: Iterable[str | AnyMetric], baselines: Sequence[str], *, learning: bool) -> list[MetricScorer]:
    """Return the metrics and baselines; those that learn are not among `all` where there is nothing to learn from."""
    every = [name for name in ALL if learning or not BASELINES[name]().learns]
    chosen = {"all": every, "none": []}.get(",".join(baselines), list(baselines))
    if unknown := sorted(set(chosen) - set(BASELINES)):
        raise ConfigError(
            f"unknown baseline {unknown[0]!r}; known are {', '.join(BASELINES)}, all and none", setting="baselines"
        )
    opened = scorers([*metrics, *chosen])
    names = {scorer.name for scorer in opened}
    if not names:
        raise ConfigError("nothing to evaluate; name a metric or a baseline", setting="metric")
    if needed := sorted({module for name in names for module in NEEDS.get(name, ())}):
        require("meta", *needed, otherwise="or choose the baselines always,never,majority")
    for name in BASELINES.keys() & names:
        BASELINES[name]()  # an encoder that is not installed is said before any work
    return opened


@takes(CompareSettings)
async def compare(settings: CompareSettings) -> JudgementComparison:
    """Test whether two sets of judgements differ; each is a file, a run that has one, or the judgements themselves.

    With `data`, they are two judges of the same samples: which finds the errors better, or with `ratings:FILE` and
    `marks:FILE` agrees better with people (then each may be a table of scores, `FILE.csv:COLUMN`). Without it, they are
    one judge's scores of the same texts in two versions, for example by two models. Two runs of a benchmark are
    compared question by question. `changed` has the texts or questions on which they differ.
    """
    data, force = settings.data, settings.force
    if data:
        require("meta", "scipy")
    kind, file = split_data(data) if data is not None else ("", Path())
    if kind:
        return _compare_with_people(settings, kind, file)
    names = (_name(settings.first, "first"), _name(settings.second, "second"))
    first, second = _open(settings.first), _open(settings.second)
    if data is None and isinstance(first, GradedRun) and isinstance(second, GradedRun):
        return compare_questions(names, first, second, by=settings.by, force=force)
    pair = (_judgements(first, names[0]), _judgements(second, names[1]))
    if data is None:
        return compare_texts(names, *pair, by=_columns(first, pair[0], settings.by), force=force)
    dataset = open_dataset(Path(data), settings.split)
    if not force:
        for name, judgements in zip(names, pair, strict=True):
            check_data(name, judgements, dataset, can_force=True)
    return compare_judges(names, *pair, dataset.golds, by=settings.by, force=force)


def _columns(run: object, judgements: Mapping[str, Judgement], by: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of judged texts that a person means; a run knows the names that its table has."""
    if isinstance(run, ScoreRun):
        return run.find_columns(by)
    return find_columns(by, ((judgement.sample, judgement) for judgement in judgements.values() if judgement.sample))


def _compare_with_people(settings: CompareSettings, kind: str, file: Path) -> JudgementComparison:
    """Test which of two judges agrees better with people."""
    if kind == "juice":
        raise ConfigError("JuICE compares judges in `mores.meta`; give what people rated or marked", setting="data")
    rated = read_people(kind, file, columns=settings.columns, aliases=settings.aliases).rated
    read = []
    for judge in (settings.first, settings.second):
        if not isinstance(judge, Path | str | Run):
            raise ConfigError("give files or runs to compare with people, not judgements in memory")
        opened = open_judge(str(judge.path if isinstance(judge, Run) else judge))
        if isinstance(opened, TableJudge):
            read.append(read_table_judge(opened, rated, settings.aliases))
        elif opened.file:
            read.append(read_judgement_file(opened, rated))
        else:
            raise ConfigError(f"{opened.name} is a model; compare what it said, a file or a run", setting="metric")
    compared = compare_two(rated, *read)
    if unknown := next((name for name in settings.by if name not in compared.by), None):
        known = ", ".join(compared.by) or "nothing, as no group is large enough"
        raise ConfigError(f"agreement with people is not shown by {unknown!r}, but by {known}", setting="by")
    order = dict.fromkeys((*settings.by, *compared.by))
    return compared.model_copy(update={"by": {name: compared.by[name] for name in order}})


def _open(judgements: Path | str | Run | Iterable[Judgement]) -> Path | str | Run | Iterable[Judgement]:
    """Return the run in a folder; anything else stays."""
    is_folder = isinstance(judgements, Path | str) and Path(judgements).is_dir()
    return open_run(judgements) if is_folder else judgements  # type: ignore[arg-type]


def _name(judgements: Path | str | Run | Iterable[Judgement], otherwise: str) -> str:
    if isinstance(judgements, Run):
        return str(judgements.path)
    return str(judgements) if isinstance(judgements, Path | str) else otherwise


def _judgements(judgements: Path | str | Run | Iterable[Judgement], name: str) -> dict[str, Judgement]:
    """Return the judgements by sample."""
    if isinstance(judgements, Path | str):
        return read_judgements(judgements, with_texts=True)
    if not isinstance(judgements, Run):
        return by_sample(judgements, name, with_texts=True)
    files = [file for file, kind in judgements.manifest.files.items() if kind == "Judgement"]
    if len(files) != 1:
        problem = f"several files of judgements; give one of them: {', '.join(files)}" if files else "no judgements"
        raise ConfigError(f"{name}: the run has {problem}")
    return read_judgements(judgements.path / files[0], with_texts=True)
