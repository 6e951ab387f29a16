"""`mores rate`: what people's ratings of answers say."""

from __future__ import annotations

from mores.cli.command import command
from mores.cli.result import check_output, show_run
from mores.engine.loop import run
from mores.rating import api
from mores.rating.settings import RateSettings
from mores.report.rate import describe
from mores.report.settings import OutputSettings
from mores.settings import apply


@command(RateSettings, OutputSettings)
def rate(settings: RateSettings, output: OutputSettings) -> None:
    """Analyse RATINGS that people gave to the answers of models, as CaLMQA's human study does.

    RATINGS is a table (docs/tables.md) with a row for each answer that a person rated. It needs the columns question
    (or question_id), model, annotator and rating; more analyses are made of answer, language, type, factuality,
    omissions, language_correct, rank, spans and the others (docs/rate.md).

    The folder --out has the ratings as they were read, every table as CSV and LaTeX, all figures as data (rate.json)
    and one page that shows them (rate.html).
    """
    check_output(output)
    done = run(apply(api.rate, settings))
    describe(done).write_tables(done.path / "tables")
    show_run(done, output, done.result.model_dump(mode="json"))
