"""`mores bench`: how well a model does on cultural benchmarks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from mores.bench import benchmark, benchmarks, reference
from mores.bench.appraise import join_signatures, measure, write_answers, write_verdicts
from mores.bench.benchmark import Benchmark, Label, Verdict
from mores.bench.board import league_of
from mores.bench.choice import SHUFFLED, grade_letter, shuffle
from mores.bench.evidence import Retrieval, read_retrieval, retrieve
from mores.bench.folder import EVIDENCE, FILES, RESPONSES, RESULT, VERDICTS, RunFolder
from mores.bench.labels import label, read_labels
from mores.bench.panel import combine
from mores.bench.run import Run
from mores.bench.score import BenchResult
from mores.cli import options
from mores.cli.appraise import Setup, counting_of, facts_of, long_options, open_evaluation, run_stages, write_results
from mores.cli.appraise import say_cost as say_cost_of_judging
from mores.cli.bench_check import show_checks
from mores.cli.bench_plan import dry_run, show_info
from mores.cli.bench_tables import headline, show_list, show_results
from mores.cli.gate import bench_gate, bench_gate_options
from mores.cli.items import read_items
from mores.cli.progress import stage
from mores.engine import Counts, Job, Store
from mores.engine.cost import Price, guess_tokens, price_of
from mores.engine.store import opened
from mores.errors import ConfigError, ModelError
from mores.io import write_text
from mores.io.private import make_folder
from mores.longform.summary import Counting, summarise
from mores.metric import Metric
from mores.models import Model, Request, open_model
from mores.report.base.figures import write_figures
from mores.report.base.links import link_runs
from mores.report.bench import BenchRun, page, sections
from mores.run import Plan, start_run
from mores.search import Options as SearchOptions
from mores.search import Search, open_search, search_cost
from mores.show import money
from mores.signature import with_version
from mores.types import Item

LIST, INFO, CHECK = "list", "info", "check"
"""Words that are no benchmarks: what there is, what is known of some, and what some lack."""
Grading = Callable[[Run, Path, Path, str | None], dict[str, Any]]
"""Grades what a model said and says more of the result."""


_ASKING = [
    click.option("--judge", "judges", multiple=True, metavar="MODEL",
                 help="Model that grades answers, where a benchmark needs one; given several times, the majority of "
                      "them counts."),
    click.option("--judge-url", metavar="URL", help="Address of its server  [default: as for the model]."),
    click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path),
                 help="Folder with one folder per dataset  [default: from the Hugging Face Hub]."),
    click.option("--labels", multiple=True, type=click.Path(exists=True, dir_okay=False, path_type=Path),
                 help="File of `mores tiers` or `mores topics`; results are broken down by what it says."),
    click.option("--limit", type=click.IntRange(1), help="Most questions, spread evenly over the dataset."),
    click.option("--shuffle-options", "shuffle", type=int, metavar="SEED",
                 help="Multiple choice with the options of each question in another order, drawn by its id and SEED."),
    click.option("--variant", help="Another way to ask, where a benchmark has one, for example english."),
    click.option("--temperature", help="Sampling temperature, or 'none' to send none  [default: the benchmark's]."),
    click.option("--max-tokens", type=click.IntRange(1), help="Longest answer  [default: the benchmark's]."),
    click.option("--seed", default="0", show_default=True, help="Seed that is sent, or 'none' to send none."),
    click.option("--price", metavar="IN,OUT", help="Dollars per million prompt and completion tokens."),
]  # fmt: skip
_SEARCHING = [
    click.option("--search", metavar="SEARCH",
                 help="Show the model what a search finds: serper, corpus:PATH, replay:FILE."),
    click.option("--results", default=5, show_default=True, type=click.IntRange(1), help="Most results of a search."),
]  # fmt: skip


asking_options = options.several(_ASKING)
"""What `open_session` reads of how questions are asked and graded."""
search_options = options.several(_SEARCHING)
"""What it reads of a search."""


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="BENCHMARK...")
@asking_options
@long_options
@click.option("--samples", default=1, show_default=True, type=click.IntRange(1), help="Answers to each question.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("bench"),
    show_default=True,
    help="Folder for the runs: one folder for each benchmark and model.",
)
@search_options
@click.option(
    "--by-logprob",
    is_flag=True,
    help="Multiple choice by the likeliest option as the first word, instead of by what the model writes.",
)
@click.option(
    "--judge-failures",
    type=click.Choice(["unscored", "incorrect"]),
    default="unscored",
    show_default=True,
    help="What an answer counts as that the judge fails to grade; MSQA's authors count it as incorrect.",
)
@options.figures_option
@click.option("--dry-run", is_flag=True, help="Show what the run would send and cost, and stop.")
@bench_gate_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the tables.")
@options.model_options
def bench(names: tuple[str, ...], **given: Any) -> None:
    """Ask a model the questions of BENCHMARK... and say how well it does, where it is weak, and how sure that is.

    A BENCHMARK is a name or the path of a folder with a benchmark of your own, whose code is executed. `mores bench
    list` shows what there is, `mores bench info BENCHMARK` all about one: files, prompts, figures, paper and licence;
    `mores bench check BENCHMARK` says what a benchmark of yours lacks. A run that was stopped goes on where it was.
    """  # fmt: skip
    if names == (LIST,):
        _list(given["as_json"])
        return
    if names[0] == CHECK:
        show_checks(names[1:], given["as_json"])
        return
    chosen = [benchmark(name) for name in dict.fromkeys(names[1:] if names[0] == INFO else names)]
    if names[0] == INFO:
        if not chosen:
            raise ConfigError("name a benchmark: mores bench info BENCHMARK; `mores bench list` shows what there is")
        show_info(chosen, given["as_json"])
        return
    check(chosen, given["judges"], given["variant"], given["by_logprob"], given["shuffle"])
    out, as_json, gate = given.pop("out"), given.pop("as_json"), bench_gate(given, [one.name for one in chosen])
    dry, figures = given.pop("dry_run"), given.pop("figures")
    with ExitStack() as stack:
        session = open_session(stack, given)
        if dry:
            dry_run(session, chosen, as_json)
            return
        made = [session.run(one, out) for one in chosen]
        runs = [BenchRun(one.result, _answers(one.job.items, one.folder)) for one in made]
        named = ((f"{one.result.model}, {league_of(one.result)}", one.folder) for one in made)
        write_text(out / "bench.html", page(runs, link_runs(out / "bench.html", named)))
    found = [one.result for one in made]
    click.echo(f"wrote {out}; its page is {out / 'bench.html'}", err=True)
    if figures:
        write_figures(sections(found), [], figures)
    if as_json:
        click.echo(json.dumps([result.model_dump(mode="json") for result in found], indent=2))
    else:
        show_results(found)
    if empty := [result.benchmark for result in found if not next(iter(result.figures.values())).n]:
        raise ModelError(f"{empty[0]}: no answer could be graded; the reasons stand in verdicts.jsonl")
    gate.check([one.folder for one in made])


class Made(NamedTuple):
    """A run that was made."""

    folder: Path
    job: Run
    result: BenchResult


@dataclass(frozen=True)
class Session:
    """What the runs of one command share: the models, the open store, and how questions are asked and graded."""

    how: Metric
    judges: tuple[Model, ...]
    store: Store | None
    setup: Setup
    judging: Metric
    """Who judges long answers."""
    data: Path | None
    limit: int | None
    labels: dict[str, dict[str, str]]
    price: str | None
    samples: int
    variant: str | None
    temperature: str | None
    """As it was given; None for the benchmark's."""
    max_tokens: int | None
    seed: int | None
    shuffle: int | None = None
    search: str | None = None
    results: int = 5
    by_logprob: bool = False
    unjudged: Label | None = None

    def items(self, one: Benchmark) -> tuple[Benchmark, list[Item]]:
        """The items to ask, and the benchmark with the labels that users gave them."""
        items = read_items(one, self.data, self.limit)
        if self.shuffle is not None:
            items = [shuffle(item, self.shuffle) for item in items]
            if kept := sum(SHUFFLED not in item.metadata for item in items):
                click.echo(f"{one.name}: {kept:,} questions keep their order: an option speaks of the others", err=True)
        return label(one, items, self.labels) if self.labels else (one, items)

    def job(self, one: Benchmark, items: Sequence[Item]) -> Run:
        """What will be asked, and how."""
        own = self.judges if one.judging else ()
        heat = self.temperature
        return Run(
            benchmark=one, items=items, model=self.how.judge_model, judge=own[0] if own else None,
            panel=own if len(own) > 1 else (), samples=self.samples, variant=self.variant, max_tokens=self.max_tokens,
            temperature=one.temperature if heat is None else options.number("temperature", heat, float),
            seed=self.seed, store=self.store, limits=self.how.limits, fresh=self.how.fresh,
            by_logprob=self.by_logprob, unjudged=self.unjudged,
        )  # fmt: skip

    def run(self, one: Benchmark, out: Path) -> Made:
        """Ask and grade a benchmark, with a folder of its own for what was asked, said and graded."""
        job, counts = self.job(*self.items(one)), Counts()
        how = SearchOptions(limits=self.how.limits, fresh=self.how.fresh, counts=counts)
        search = open_search(self.search, how) if self.search else None
        if search:
            job.retrieval = Retrieval(f"{search.identity}.k{self.results}", {})
        with start_run(out / self.name(one) / options.file_name(job.model.name), self._plan(job)) as run:
            if run.note:
                click.echo(f"note: {run.note}: {run.path}", err=True)
            if search:
                job.retrieval = _search(job, search, counts, self, run.path)
            grade = partial(_appraise, self.setup, self.judging) if one.long_answer else grade_answers
            result = _run(job, run.path, self.price, grade)
            run.finish(files=FILES, failures=result.failures, headline=headline(result))
        return Made(run.path, job, result)

    def _plan(self, job: Run) -> Plan:
        """What the run is; who appraises long answers is part of it too."""
        fields = job.signature_fields()
        if job.benchmark.long_answer:
            judge = self.judging.judge_model.identity if self.setup.judge else "none"
            fields |= {"lid": self.setup.lid, "judge": judge, "facts": self.setup.facts or "none"}
        return Plan(
            kind="bench",
            name=job.benchmark.name,
            model=job.model.name,
            signature=with_version(fields),
            settings={
                "benchmark": reference(job.benchmark),
                "limit": self.limit,
                "samples": self.samples,
                "variant": self.variant,
                "search": self.search,
            },
        )

    def name(self, one: Benchmark) -> str:
        """The folder of a benchmark, which also says how it is asked."""
        way = [
            one.name, self.variant, None if self.shuffle is None else f"shuffled{self.shuffle}",
            "logprob" if self.by_logprob else None, "search" if self.search else None,
        ]  # fmt: skip
        return options.file_name(".".join(filter(None, way)))


def open_session(stack: ExitStack, given: dict[str, Any]) -> Session:
    """The session that the options describe; they are taken out of `given`."""
    take = given.pop
    judges, judge_url = take("judges"), take("judge_url")
    named = ("data", "limit", "price", "samples", "variant", "temperature", "max_tokens", "shuffle")
    own = {name: take(name) for name in named} | {name: take(name) for name in ("search", "results") if name in given}
    unjudged = Label.INCORRECT if take("judge_failures", None) == "incorrect" else None
    facts = facts_of({name: take(name, None) for name in ("facts", "corpus")})
    setup = Setup(take("lid", "mores"), judges[0] if judges else None, facts)
    labels, seed, by_logprob = read_labels(take("labels")), take("seed"), take("by_logprob", False)
    how = options.served(given)
    stack.enter_context(options.run_of(how))
    graders = tuple(open_model(judge, options.judge_of(how, judge_url)) for judge in dict.fromkeys(judges))
    store = stack.enter_context(opened(how.store))
    judging = replace(how, model=setup.judge or how.model, options=options.judge_of(how, judge_url), store=store)
    return Session(
        how, graders, store, setup, judging, labels=labels, seed=options.number("seed", seed, int),
        by_logprob=by_logprob, unjudged=unjudged, **own,
    )  # fmt: skip


def _answers(items: Sequence[Item], folder: Path) -> Iterator[tuple[Item, Verdict]]:
    by_id = {item.id: item for item in items}
    for verdict in RunFolder(folder).verdicts():
        yield by_id[verdict.item_id], verdict


def check(
    chosen: Sequence[Benchmark],
    judges: tuple[str, ...],
    variant: str | None,
    by_logprob: bool = False,
    shuffle: int | None = None,
) -> None:
    """ConfigError where a benchmark cannot be asked or graded as the options say."""
    for one in chosen:
        if one.judging and not judges:
            raise ConfigError(f"{one.name} is graded by a model; name it with --judge, for example openai:NAME")
        if one.long_answer and len(judges) > 1:
            raise ConfigError(f"{one.name} takes one judge; give --judge once")
        if by_logprob and one.candidates is None:
            raise ConfigError(f"{one.name} is no multiple choice; leave out --by-logprob")
        if shuffle is not None and one.grade is not grade_letter:
            raise ConfigError(f"{one.name} has no lettered options; leave out --shuffle-options")
        if variant and variant not in one.variants:
            known = f"it has {', '.join(one.variants)}" if one.variants else "it has none"
            raise ConfigError(f"{one.name}: no variant {variant!r}; {known}")


def _search(job: Run, search: Search, counts: Counts, session: Session, folder: Path) -> Retrieval:
    path, results = folder / EVIDENCE, session.results
    if cost := search_cost(session.search or "", len(job.items), results):
        click.echo(f"{job.benchmark.name}: {len(job.items):,} searches, at most {money(cost)}", err=True)

    async def work(counts: Counts) -> None:
        try:
            await retrieve(job.benchmark, job.items, search, results, path, counts)
        finally:
            await search.close()

    stage(f"{job.benchmark.name}: searching", len(job.items), None, work, counts)
    return read_retrieval(path, search, results)


def _run(job: Run, folder: Path, price: str | None, grade: Grading) -> BenchResult:
    said, verdicts = folder / RESPONSES, folder / VERDICTS
    RunFolder(folder).write_items(job.items)
    rate = price_of(job.model.name, price)
    say_cost(f"{job.benchmark.name}: asking", job.jobs(), rate)
    stage(f"{job.benchmark.name}: asking", len(job.items) * job.samples, rate, lambda c: job.ask(said, c))
    more = grade(job, said, verdicts, price)
    result = job.score(verdicts).model_copy(update=more)
    write_text(folder / RESULT, result.model_dump_json(indent=1) + "\n")
    return result


def say_cost(what: str, jobs: Iterable[Job], rate: Price | None) -> None:
    """What calls cost at most, where the price is known; what the store has already costs nothing."""
    if rate and any(rate):
        calls, cost = 0, 0.0
        for job in jobs:
            if isinstance(job.request, Request):
                calls += 1
                cost += rate.cost(_tokens(job.request), job.request.max_tokens)
        click.echo(f"{what}: {calls:,} calls, about {money(cost)} at most", err=True)


def _tokens(request: Request) -> int:
    return sum(guess_tokens(message.content) for message in request.messages)


def _appraise(setup: Setup, how: Metric, job: Run, said: Path, verdicts: Path, price: str | None) -> dict[str, Any]:
    """Judge long answers; the run's folder has one more, `longform`, with all that is said of each."""
    folder, total = verdicts.with_name("longform"), len(job.items) * job.samples
    make_folder(folder)
    answers = folder / "answers.jsonl"
    write_answers(job.benchmark, job.items, said, answers)
    with ExitStack() as stack:
        evaluation = open_evaluation(stack, setup, answers, folder, how)
        if evaluation.judge:
            say_cost_of_judging(evaluation, setup, price)
        run_stages(evaluation, job.benchmark.name, total, price)
    counting = counting_of(evaluation, Counting())
    write_verdicts(said, evaluation.appraised(), counting, verdicts)
    write_results(evaluation, summarise(evaluation.appraised(), counting, evaluation.signature()), folder)
    measured = measure(job.benchmark, job.items, evaluation.appraised(), counting)
    signature = join_signatures(job.signature(), evaluation.signature())
    return measured | {"judge": setup.judge, "signature": signature}


def grade_answers(job: Run, said: Path, verdicts: Path, price: str | None) -> dict[str, Any]:
    """Grade by rule, by a judge, or by each of a panel, which also says how far it agrees."""
    total = len(job.items) * job.samples
    if not job.panel:
        rate = price_of(job.judge.name, price) if job.judge else None
        stage(f"{job.benchmark.name}: grading", total, rate, lambda c: job.grade(said, verdicts, c))
        return {}
    judged = {judge.name: verdicts.with_name(f"verdicts.{options.file_name(judge.name)}.jsonl") for judge in job.panel}
    for judge, path in zip(job.panel, judged.values(), strict=True):
        alone, what = replace(job, judge=judge), f"{job.benchmark.name}: grading by {judge.name}"
        stage(what, total, price_of(judge.name, price), partial(alone.grade, said, path))
    return {"agreement": combine(judged, verdicts)}


def _list(as_json: bool) -> None:
    every = list(benchmarks(lambda error: click.echo(f"note: {error}", err=True)))
    if as_json:
        rows = [{"name": b.name, "title": b.title, "licence": b.licence, "homepage": b.homepage, "files": b.files,
                 "judge": b.judging is not None, "variants": b.variants} for b in every]  # fmt: skip
        click.echo(json.dumps(rows, indent=2))
        return
    show_list(every)
