"""The public functions `mores.bench` and `mores.board`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, Unpack

from mores.benchmark import benchmark as find_benchmark
from mores.benchmark import judge_check, reference
from mores.benchmark import run as judging
from mores.benchmark.benchmark import Benchmark, Label, Verdict
from mores.benchmark.board import Board, make_board, read_runs
from mores.benchmark.folder import RESPONSES, VERDICTS, BenchRun
from mores.benchmark.judge_check import JudgeCheckRun, LabelledAnswer, make_probes, probes_hash
from mores.benchmark.labels import read_labels
from mores.benchmark.session import Asking, Session, read_items, spread
from mores.engine import Asker, AskOptions, open_asker
from mores.errors import ConfigError, InputError
from mores.io import JsonlWriter, read_records, write_text
from mores.longanswer.appraise import Appraising
from mores.longanswer.lid import LanguageChecker
from mores.models import Model, open_model, takes_address
from mores.run import Plan, Run, start_run
from mores.search import Search
from mores.signature import sign


class BenchOptions(AskOptions, total=False):
    """What `mores.bench` takes besides the benchmark and the model: how it is asked, and how the model is reached."""

    judge: str | Model | Sequence[str | Model] | None
    """Model that grades, where a benchmark needs one; of several the majority counts."""
    judge_url: str | None
    """Address of its server, if not the model's."""
    data: Path | str | None
    """Folder with one folder per dataset; without it, from the Hugging Face Hub."""
    labels: Iterable[Path | str]
    """Files of labels; results are broken down by them."""
    limit: int | None
    """Most questions, spread evenly over the dataset."""
    samples: int
    """Answers to each question."""
    variant: str | None
    """Another way to ask, where a benchmark has one."""
    temperature: float | Literal["default"] | None
    """None sends none; without it, the benchmark's."""
    max_tokens: int | None
    """Longest answer; None for the benchmark's."""
    seed: int | None
    shuffle: int | None
    """Seed that draws another order of the options."""
    search: str | Search | None
    """Show the model what this search finds."""
    results: int
    """Most results of a search."""
    by_logprob: bool
    """Take the likeliest option instead of what the model writes."""
    judge_failures: Literal["unscored", "incorrect"]
    """What an answer counts as that the judge fails to grade."""
    lid: str | LanguageChecker
    """The check of the language of long answers."""
    facts: str | Search | None
    """The search that facts of long answers are checked against."""


async def bench(
    benchmark: str | Path | Benchmark,
    model: str | Model = "embedded",
    *,
    out: Path | str = "bench",
    **options: Unpack[BenchOptions],
) -> BenchRun:
    """Ask a model the questions of a benchmark; the run is in a folder below `out`, and continues where it stopped."""
    return await open_session(model, **options).run(find_benchmark(benchmark), Path(out))


def open_session(model: str | Model = "embedded", **options: Unpack[BenchOptions]) -> Session:
    """Return the model, its judges, and how they are asked."""
    judge, judge_url = options.pop("judge", None), options.pop("judge_url", None)
    data, labels = options.pop("data", None), options.pop("labels", ())
    asking = Asking(
        data=Path(data) if data else None,
        labels=read_labels(map(Path, labels)),
        unjudged=Label.INCORRECT if options.pop("judge_failures", None) == "incorrect" else None,
        long=Appraising(lid=options.pop("lid", "mores"), facts=options.pop("facts", None)),
        **{name: options.pop(name) for name in _PLAIN if name in options},  # type: ignore[misc]
    )
    asker = open_asker(model, **options)  # type: ignore[misc]  # what is left are its own
    judges = tuple(judge) if isinstance(judge, Sequence) and not isinstance(judge, str) else (judge,) if judge else ()
    on_server = any(isinstance(name, str) and takes_address(name) for name in judges)
    opened = (
        asker.open(name, judge_url if takes_address(name) or not on_server else None)
        if isinstance(name, str)
        else replace(asker, model=open_model(name))
        for number, name in enumerate(judges)
        if name not in judges[:number]
    )
    return Session(asker, tuple(opened), asking)


_PLAIN = (
    "limit", "samples", "variant", "temperature", "max_tokens", "seed", "shuffle", "search", "results", "by_logprob"
)  # fmt: skip


async def check_judge(
    benchmark: Benchmark,
    asker: Asker,
    *,
    data: Path | None = None,
    pairs: Path | None = None,
    limit: int = 100,
    out: Path | None = None,
) -> JudgeCheckRun:
    """Give a judge answers whose grade is known, to at most `limit` questions.

    `pairs` is a file of answers that people graded, `Labelled` records. The run is in the folder `out`, by default
    `judge-check`, and continues where it stopped.
    """
    if benchmark.judging is None:
        raise ConfigError(f"{benchmark.name} is graded by rule; give a benchmark that has a judge")
    known = read_items(benchmark, data, None, asker.progress)
    labelled = list(read_records(pairs, LabelledAnswer)) if pairs else []
    if pairs and not labelled:
        raise InputError(f"{pairs}: contains no answers; expected rows with item_id, answer and label")
    items, graded = spread(benchmark, known, limit), {row.item_id for row in labelled}
    asked = [*items, *(item for item in known if item.id in graded - {item.id for item in items})]
    probes = make_probes(items, labelled, known)
    job = judging.BenchJob(benchmark, asked, asker, (asker,))
    signature = sign({**job.signature(), "probes": f"{probes_hash(probes, labelled)}.{len(probes)}"})
    plan = Plan(
        kind="judge-check", name=benchmark.name, model=asker.model.name, signature=signature,
        settings={"benchmark": reference(benchmark), "pairs": str(pairs) if pairs else None, "limit": limit},
    )  # fmt: skip
    with start_run(Path(out or "judge-check"), plan, numbered=out is None, progress=asker.progress) as run:
        responses, verdicts = run.path / RESPONSES, run.path / VERDICTS
        with JsonlWriter(responses) as writer:
            for probe in probes:
                writer.write(probe)
        await job.grade(responses, verdicts)
        judged = read_records(verdicts, Verdict)
        check = judge_check.check(asked, labelled, judged, benchmark.judging, asker.model.name, signature)
        write_text(run.path / judge_check.RESULT, check.model_dump_json(indent=1) + "\n")
        failures = Counter(str(verdict.failure.kind) for verdict in read_records(verdicts, Verdict) if verdict.failure)
        files = {RESPONSES: "Said", VERDICTS: "Verdict", judge_check.RESULT: "JudgeCheck"}
        run.finish(files=files, failures=failures, headline=check.headline)
    return JudgeCheckRun(run.path, run.manifest)


async def board(runs: Iterable[Run | Path | str], *, force: bool = False) -> Board:
    """Rank the models of some runs, which may be given by their folders; one table for each benchmark."""
    folders = [run.path if isinstance(run, Run) else Path(run) for run in runs]
    return make_board(read_runs(folders), force=force)
