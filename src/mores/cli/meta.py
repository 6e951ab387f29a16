"""`mores meta`: how good metrics are at finding cultural errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import Any

import click

from mores.cli import options
from mores.cli.progress import Bar, Stages
from mores.cli.score import print_estimate
from mores.engine import Counts
from mores.engine.estimate import Estimate, estimate
from mores.engine.loop import run
from mores.errors import ConfigError, InputError, ModelError
from mores.extras import require
from mores.factory.gold import Gold
from mores.io import JsonlWriter, file_name, write_text
from mores.io.private import make_folder
from mores.meta.baselines import BASELINES, NEEDS, fit, judge
from mores.meta.dataset import Dataset, source_of
from mores.meta.leave_one_out import NONE, collect, leave_one_out
from mores.meta.prompted import Prompted
from mores.meta.records import GROUPINGS, LeaveOneOut, Meta, VoteTable
from mores.meta.scorers import Scorer, read_judgements, scorer
from mores.meta.study import Judged, study
from mores.meta.versus import check_data
from mores.meta.votes import read_votes, vote_tables
from mores.metric import Metric
from mores.report import meta as report
from mores.report.base.grid import print_tables
from mores.signature import sign
from mores.types import Judgement, Signature


@click.command()
@click.option(
    "--data",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Dataset: a folder that `mores build` wrote.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="excam:MODEL, count:MODEL, severity:MODEL, binary:MODEL (with +p: count+p:MODEL), a FILE.jsonl of "
    "judgements, or a baseline; may be given more than once.",
)
@click.option(
    "--baselines",
    default="all",
    show_default=True,
    metavar="NAMES",
    help=f"Baselines to compare with: all, none, or some of {','.join(BASELINES)}.",
)
@click.option(
    "--split", type=click.Choice(["train", "dev", "test"]), default="test", show_default=True, help="What is judged."
)
@click.option("--limit", type=click.IntRange(2), help="Most samples of a source, half of them with errors.")
@click.option(
    "--leave-one-out",
    "out_of_domain",
    is_flag=True,
    help="Also train the baselines without each source in turn, and use every {source} model on all samples.",
)
@click.option(
    "--votes",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="What annotators said of the samples, as JSON lines.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for judgements, tables and page  [default: NAME.meta].",
)
@click.option(
    "--by",
    type=click.Choice(GROUPINGS),
    default="source",
    show_default=True,
    help="What the second table is broken down by; the page has all.",
)
@click.option("--dry-run", is_flag=True, help="Show what the models would be sent and cost, and stop.")
@click.option("--price", metavar="IN,OUT", help="Dollars per million prompt and completion tokens.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the tables.")
@options.judge_options
def meta(
    data: Path,
    metrics: tuple[str, ...],
    baselines: str,
    split: str,
    limit: int | None,
    out_of_domain: bool,
    **given: Any,
) -> None:
    """How good metrics are at finding the cultural errors of a dataset, against baselines, with intervals and tests.

    The judgements of each metric are kept in the folder --out, with the tables (tables.md), everything as data
    (meta.json) and one page that shows it (meta.html). {source} in a model or file stands for each source in turn:
    the judge that was trained without it judges its samples.
    """  # fmt: skip
    chosen = _chosen(metrics, baselines)
    dataset = Dataset(data, split, limit)
    out: Path = given.pop("out") or Path(f"{data.resolve().name}.meta")
    votes, by, dry_run, as_json = (given.pop(key) for key in ("votes", "by", "dry_run", "as_json"))
    job = _Run(dataset, out, lambda model: options.metric({**given, "model": model}), out_of_domain)
    if dry_run:
        job.estimate(chosen, as_json)
        return
    found = job.run(chosen, _vote_tables(votes, dataset) if votes else [])
    click.echo(f"wrote {out}; its page is {out / 'meta.html'}", err=True)
    _show(found, by, as_json)
    if silent := [one.metric for one in found.evaluations if not one.n]:
        raise ModelError(f"{silent[0]} could score no sample; the reasons stand in {out / 'judgements'}")


def _vote_tables(votes: Path, dataset: Dataset) -> list[VoteTable]:
    everything = dataset.everything
    return vote_tables(read_votes(votes, everything), everything)


def _chosen(metrics: tuple[str, ...], baselines: str) -> list[Scorer]:
    wanted = {"all": list(BASELINES), "none": []}.get(baselines, [name.strip() for name in baselines.split(",")])
    if unknown := sorted(set(wanted) - set(BASELINES)):
        raise ConfigError(f"--baselines {unknown[0]!r}: unknown; known are {', '.join(BASELINES)}, all and none")
    names = dict.fromkeys([*metrics, *wanted])
    if not names:
        raise ConfigError("nothing to evaluate; name a metric with --metric, or leave out --baselines none")
    if needed := sorted({module for name in names for module in NEEDS.get(name, ())}):
        require("pip install 'mores[meta]', or --baselines always,never,majority", *needed)
    return [scorer(name) for name in names]


@dataclass
class _Run:
    """One run of the command: the judgements of each metric, then what they say."""

    data: Dataset
    out: Path
    metric: Callable[[str], Metric]
    out_of_domain: bool
    notes: list[str] = field(default_factory=list)
    files: set[str] = field(default_factory=set)
    matrices: list[LeaveOneOut] = field(default_factory=list)

    def run(self, chosen: list[Scorer], votes: list[VoteTable]) -> Meta:
        known = len(self.data.golds)  # read before any judge is asked: without samples there is no more to say
        if self.data.limit:
            most = f"at most {self.data.limit:,} of each source, half of them with errors"
            self.notes.append(f"{known:,} samples were judged: {most} (--limit).")
        make_folder(self.out / "judgements")
        judged: dict[str, Judged] = {}
        for one in chosen:
            if (found := self._judge(one)) is not None:
                judged[one.name] = Judged(found, one.baseline)
        if not judged:
            raise InputError("no metric could be evaluated: " + "; ".join(self.notes))
        with Stages() as stages:
            for _ in stages("evaluating", [None], 1):
                result = study(self.data, judged, leave_one_out=self.matrices, votes=votes, notes=self.notes)
        write_text(self.out / "meta.json", result.model_dump_json(indent=1) + "\n")
        write_text(self.out / "tables.md", report.markdown_tables(result))
        write_text(self.out / "meta.html", report.page(result))
        return result

    def estimate(self, chosen: list[Scorer], as_json: bool) -> None:
        """What each model would be asked, and the cost."""
        found: dict[str, Estimate] = {}
        for one in chosen:
            for _, scorer_, golds in self._calls(one):
                asked = scorer_.open(self.metric)
                how = asked.how if isinstance(asked, Prompted) else asked
                jobs = asked.jobs(gold.sample for gold in golds)
                found[scorer_.name] = estimate(how.asker, jobs, how.settings.max_tokens)
        if as_json:
            click.echo(json.dumps({name: own.model_dump() for name, own in found.items()}, indent=2))
            return
        for name, own in found.items():
            click.echo(f"{name}:")
            print_estimate(own, as_json)
        if not found:
            click.echo("no model would be asked")

    def _judge(self, one: Scorer) -> dict[str, Judgement] | None:
        if one.baseline:
            return self._baseline(one)
        rows = {source: self._read(own, golds) for source, own, golds in self._calls(one, files=True)}
        if not one.split:
            return self._signed(one, rows[""])
        if self.out_of_domain or len(rows) > 1:
            self.matrices.append(collect(one.name, self.data.golds, rows))
        sources = {gold.sample.id: source_of(gold) for gold in self.data.golds}
        own = {name: rows[source][name] for name, source in sources.items() if name in rows.get(source, {})}
        return self._signed(one, own)

    def _calls(self, one: Scorer, *, files: bool = False) -> Iterator[tuple[str, Scorer, list[Gold]]]:
        """What has to be judged: by which source's judge, and which samples."""
        if one.baseline or (one.file and not files):
            return
        if not one.split:
            yield "", one, self.data.golds
            return
        for source in self.data.sources:
            own = [gold for gold in self.data.golds if source_of(gold) == source]
            yield source, one.of(source), self.data.golds if self.out_of_domain else own
        if one.file and Path(one.of(NONE).name).is_file():
            yield NONE, one.of(NONE), self.data.golds

    def _read(self, one: Scorer, golds: list[Gold]) -> dict[str, Judgement]:
        if not one.file:
            return self._ask(one, golds)
        found = read_judgements(one.name)
        known = {gold.sample.id for gold in golds}
        if not known & found.keys():
            chosen = " that --limit chose" if self.data.limit else ""
            raise InputError(
                f"{one.name}: none of its judgements is of a {self.data.split} sample of {self.data.folder}{chosen}"
            )
        check_data(one.name, found, self.data)
        return {name: judgement for name, judgement in found.items() if name in known}

    def _ask(self, one: Scorer, golds: list[Gold]) -> dict[str, Judgement]:
        asked = one.open(self.metric)
        how = asked.how if isinstance(asked, Prompted) else asked
        counts = Counts()
        with options.run_of(how.asker), Bar(one.name, len(golds), counts, how.asker.price) as bar:
            return run(_collect(asked, golds, counts, bar))

    def _baseline(self, one: Scorer) -> dict[str, Judgement] | None:
        baseline = BASELINES[one.name]()
        try:
            with Stages() as stages:
                for _ in stages(one.name, [None], 1):
                    if baseline.learns:
                        fit(one.name, baseline, *self.data.learned(baseline.learns))
                    found = {judgement.sample_id: judgement for judgement in judge(one.name, baseline, self.data.golds)}
        except (ConfigError, InputError) as error:
            self._note(f"{one.name} was left out: {error}")
            return None
        if baseline.learns and self.out_of_domain:
            self._leave_one_out(one.name)
        return self._signed(one, found)

    def _leave_one_out(self, name: str) -> None:
        total = len(self.data.sources) + 1
        try:
            with Stages() as stages:
                found = leave_one_out(name, self.data, lambda t: stages(f"{name} out of domain", t, total))
        except (ConfigError, InputError) as error:
            self._note(f"{name} cannot be trained without each source: {error}")
        else:
            self.matrices.append(found)

    def _note(self, note: str) -> None:
        self.notes.append(note)
        click.echo(f"note: {note}", err=True)

    def _signed(self, one: Scorer, judgements: Mapping[str, Judgement]) -> dict[str, Judgement]:
        """The judgements with the data's revision in their signatures, kept in a file in the samples' order."""
        signed = {}
        for name, judgement in judgements.items():
            signature = Signature((judgement.signature or sign({})) | {"data": self.data.revision})
            signed[name] = judgement.model_copy(update={"signature": signature})
        with JsonlWriter(self.out / "judgements" / f"{self._stem(one.name)}.jsonl") as writer:
            for gold in self.data.golds:
                if gold.sample.id in signed:
                    writer.write(signed[gold.sample.id].repeat(gold.sample))
        return signed

    def _stem(self, name: str) -> str:
        """A name for its file that no other metric has: `words` and `words.jsonl` may both be there."""
        stem = file_name(name.removesuffix(".jsonl"))
        names = chain([stem], (f"{stem}-{number}" for number in count(2)))
        found = next(one for one in names if one.casefold() not in self.files)
        self.files.add(found.casefold())
        return found


async def _collect(asked: Metric | Prompted, golds: list[Gold], counts: Counts, bar: Bar) -> dict[str, Judgement]:
    samples = [gold.sample for gold in golds]
    async with bar.ticking(), aclosing(asked.stream(samples, counts)) as judgements:
        return {sample.id: judgement async for sample, judgement in judgements}


def _show(found: Meta, by: str, as_json: bool) -> None:
    if as_json:
        click.echo(found.model_dump_json(indent=2))
        return
    print_tables(report.tables(found, by))
