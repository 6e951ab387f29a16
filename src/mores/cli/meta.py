"""`mores meta`, `compare`, `rate` and `plan`: how good metrics are, whether two differ, and what people say."""

from __future__ import annotations

import click

from mores.calling import load
from mores.cli.command import command
from mores.cli.result import print_estimates, run_asking, show_document, show_run
from mores.engine.loop import run
from mores.errors import ModelError
from mores.io import write_text
from mores.metaevaluation.settings import CompareSettings, MetaSettings
from mores.planning.settings import PlanSettings
from mores.rating.settings import RateSettings
from mores.report.settings import DryRunSettings, OutputSettings
from mores.settings import apply


@command(MetaSettings, DryRunSettings, OutputSettings)
def meta(settings: MetaSettings, dry: DryRunSettings, output: OutputSettings) -> None:
    """Measure how good metrics are at finding the cultural errors of a dataset, against baselines, with intervals.

    The judgements of each metric are kept in the folder --out, with the tables (tables.md), everything as data
    (meta.json) and one page that shows it (meta.html). {source} in a model or file stands for each source in turn:
    the judge that was trained without it judges its samples. On JuICE, metrics are measured by the errors that people
    and models marked in long answers, beside these people and models. With ratings and marks, they are measured by how
    well they agree with people, beside how well people agree with each other. With a dataset or your own pairs, the
    last lines say for each judge whether it is any good for texts like these.
    """
    from mores.metaevaluation.api import open_session, run_session
    from mores.metaevaluation.folder import JUDGEMENTS, MetaRun
    from mores.metaevaluation.session import MetaSession
    from mores.report.meta import describe_meta, markdown_tables

    session = open_session(settings)
    if dry.dry_run:
        estimates = session.estimates()
        print_estimates(estimates, output.json)
        if not estimates and not output.json:
            click.echo("no model would be asked")
        return
    done = run_asking(session.askers(), run_session(session, settings.data, settings.out))
    tables = None
    if isinstance(done, MetaRun) and isinstance(session, MetaSession):
        write_text(done.path / "tables.md", markdown_tables(done.result))
        tables = describe_meta(done.result, session.data.groupings or ("source",)).printed
    show_run(done, output, done.result.model_dump(mode="json"), "meta.html", tables)
    if silent := done.result.silent:
        raise ModelError(f"{silent[0]} could score no sample; the reasons are in {done.path / JUDGEMENTS}")


@command(CompareSettings, OutputSettings)
def compare(settings: CompareSettings, output: OutputSettings) -> None:
    """Test whether A and B differ, and list what changed: two runs of `mores score` or `bench`, or files of judgements.

    With --data, they are two judges of the same samples: which one finds the errors better, or agrees better with
    people? Then each may also be a table of scores, FILE.csv:COLUMN.
    Without it, they are one judge's scores of the same texts in two versions, for example by two models.
    A difference is A's value less B's, with its 95% interval and a paired test.
    """
    from mores.report.meta import describe_versus

    versus = run(apply(load("compare"), settings))
    show_document(describe_versus(versus, max(1, len(settings.by))), output, versus)


@command(RateSettings, OutputSettings)
def rate(settings: RateSettings, output: OutputSettings) -> None:
    """Analyse RATINGS that people gave to the answers of models, as CaLMQA's human study does.

    RATINGS is a table (docs/tables.md) with a row for each answer that a person rated. It needs the columns question
    (or question_id), model, annotator and rating; more analyses are made of answer, language, type, factuality,
    omissions, language_correct, rank, spans and the others (docs/rate.md).

    The folder --out has the ratings as they were read, every table as CSV and LaTeX, all figures as data (rate.json)
    and one page that shows them (rate.html).
    """
    done = run(apply(load("rate"), settings))
    show_run(done, output, done.result.model_dump(mode="json"))


@command(PlanSettings, OutputSettings)
def plan(settings: PlanSettings, output: OutputSettings) -> None:
    """Plan a study before there are data: which numbers of raters, items and models show a difference.

    MEASURE is ratings, wins, accuracy, scaled-accuracy, correlation, agreement or span-f1. Studies are simulated with
    the variances of a pilot or of a paper, and tested as the finished study would be.
    """
    from mores.report.plan import describe

    made = run(apply(load("plan"), settings))
    show_document(describe(made), output, made)
