"""The public functions `mores.bench`, `board`, `judge_check`, `topics` and `tiers`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from mores.benchmark import benchmark as find_benchmark
from mores.benchmark import judge_check as checking
from mores.benchmark import reference
from mores.benchmark.benchmark import Benchmark, Verdict
from mores.benchmark.board import Board, rank_runs
from mores.benchmark.folder import RESPONSES, VERDICTS, BenchRun
from mores.benchmark.judge_check import JudgeCheckRun, LabelledAnswer, make_probes, probes_hash
from mores.benchmark.labels import Tiers, label_tiers, read_labels
from mores.benchmark.msqa.protocol import with_protocol
from mores.benchmark.run import Asking, BenchJob
from mores.benchmark.session import Session, read_items, spread
from mores.benchmark.settings import (
    BenchSettings,
    BoardSettings,
    JudgeCheckSettings,
    QuestionSettings,
    TiersSettings,
    TopicsSettings,
)
from mores.benchmark.topics import TopicsRun, label_topics
from mores.engine import Asker, make_asker
from mores.errors import ConfigError, InputError
from mores.io import JsonlWriter, read_records, write_text
from mores.models import Model, takes_address
from mores.models.configured import configuration_of
from mores.run import Plan, Run, start_run
from mores.settings import takes
from mores.signature import sign


@takes(BenchSettings)
async def bench(settings: BenchSettings) -> BenchRun:
    """Ask a model the questions of a benchmark; the run is in a folder below `out`, and continues where it stopped."""
    chosen = find_benchmark(settings.benchmark)
    return await open_session(settings.model, settings, [chosen], settings.by).run(chosen, settings.out)


def open_session(
    model: str | Model, settings: QuestionSettings, benchmarks: Sequence[Benchmark] = (), by: Sequence[str] = ()
) -> Session:
    """Open the model and its judges: those that the user names, else those on which the benchmarks agree."""
    own = {benchmark.judges for benchmark in benchmarks if benchmark.judging}
    asker, judges = make_asker(model, settings), settings.judge or (own.pop() if len(own) == 1 else ())
    on_server = any(takes_address(name) for name in judges if isinstance(name, str))
    opened = (
        asker.open(judge, settings.judge_url if takes_address(judge) or not on_server else None)
        if isinstance(judge, str)
        else replace(asker, model=judge)
        for judge in dict.fromkeys(judges)
    )
    return Session(asker, tuple(opened), settings.part(Asking), read_labels(settings.labels), tuple(by))


@takes(JudgeCheckSettings)
async def judge_check(settings: JudgeCheckSettings) -> JudgeCheckRun:
    """Test a judge on answers whose grades are known: correct and wrong ones, short and long, and refusals."""
    return await check_judge(settings, make_asker(settings.model, settings))


@takes(TopicsSettings)
async def topics(settings: TopicsSettings) -> TopicsRun:
    """Let a model sort the questions of a benchmark into topics, so that results can be broken down by them."""
    return await label_topics(settings, make_asker(settings.model, settings))


@takes(TiersSettings)
async def tiers(settings: TiersSettings) -> Tiers:
    """Sort the questions of one benchmark into Easy, Medium and Hard by how many answers in runs of it are correct."""
    return label_tiers(folders_of(settings.runs), settings.out, settings.rule)


async def check_judge(settings: JudgeCheckSettings, asker: Asker) -> JudgeCheckRun:
    """Give a judge that is open already answers whose grade is known; the run continues where it stopped."""
    benchmark, pairs, limit, out = find_benchmark(settings.benchmark), settings.pairs, settings.limit, settings.out
    if benchmark.judging is None:
        raise ConfigError(f"{benchmark.name} is graded by rule; give a benchmark that has a judge")
    known = read_items(benchmark, settings.data, None, asker.progress)
    labelled = list(read_records(pairs, LabelledAnswer)) if pairs else []
    if pairs and not labelled:
        raise InputError(f"{pairs}: contains no answers; expected rows with item_id, answer and label")
    items, graded = spread(benchmark, known, limit), {row.item_id for row in labelled}
    asked = [*items, *(item for item in known if item.id in graded - {item.id for item in items})]
    probes = make_probes(items, labelled, known)
    job = BenchJob(benchmark, asked, asker, (asker,), Asking(temperature=0.0))
    fields = {**job.signature(), "probes": f"{probes_hash(probes, labelled)}.{len(probes)}"}
    protocol = with_protocol(benchmark, settings.judge_protocol) if settings.judge_protocol else None
    if protocol and protocol.judging:
        fields["protocol"] = protocol.judging.prompt
    signature = sign(fields)
    plan = Plan(
        kind="judge-check", name=benchmark.name, model=asker.model.name, signature=signature,
        configuration=configuration_of(asker.model),
        settings={"benchmark": reference(benchmark), "pairs": str(pairs) if pairs else None, "limit": limit},
    )  # fmt: skip
    with start_run(Path(out or "judge-check"), plan, numbered=out is None, progress=asker.progress) as run:
        responses, verdicts = run.path / RESPONSES, run.path / VERDICTS
        with JsonlWriter(responses) as writer:
            for probe in probes:
                writer.write(probe)
        await job.grade(responses, verdicts)
        judged = read_records(verdicts, Verdict)
        check = checking.check(asked, labelled, judged, benchmark.judging, asker.model.name, signature)
        files = {RESPONSES: "Said", VERDICTS: "Verdict", checking.RESULT: "JudgeCheck"}
        if protocol:
            other = run.path / checking.PROTOCOL
            await replace(job, benchmark=protocol).grade(responses, other)
            ours, theirs = (list(read_records(path, Verdict)) for path in (verdicts, other))
            second = checking.check(asked, labelled, theirs, benchmark.judging, asker.model.name, signature)
            compared = checking.compare_protocols(asked, second, zip(ours, theirs, strict=True))
            check, files = check.model_copy(update={"protocol": compared}), files | {checking.PROTOCOL: "Verdict"}
        write_text(run.path / checking.RESULT, check.model_dump_json(indent=1) + "\n")
        failures = Counter(str(verdict.failure.kind) for verdict in read_records(verdicts, Verdict) if verdict.failure)
        run.finish(files=files, failures=failures, headline=check.headline)
    return JudgeCheckRun(run.path, run.manifest)


@takes(BoardSettings)
async def board(settings: BoardSettings) -> Board:
    """Rank the models of some runs; one table for each benchmark."""
    return rank_runs(settings.runs, force=settings.force, by=settings.by, ability=settings.ability)[0]


def folders_of(runs: Iterable[Run | Path | str]) -> list[Path]:
    """Return the folders of some runs."""
    return [run.path if isinstance(run, Run) else Path(run) for run in runs]
