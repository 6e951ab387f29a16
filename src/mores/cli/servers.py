"""`mores serve`, `mores view` and `mores studio`: the metric over HTTP, runs in the browser, and the web app."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import click

from mores.cli.command import StrictCommand, command, is_given, make_record, options_of
from mores.cli.result import (
    check_push,
    hint_at_failures,
    print_estimates,
    print_result,
    print_warnings,
    push,
    run_asking,
)
from mores.extras import require
from mores.formatting import count
from mores.io.addresses import address_of
from mores.report.settings import DryRunSettings, JsonSettings, PushSettings
from mores.serve.keys import choose_keys
from mores.serve.settings import KEYS_VARIABLE, Bounds, ServeSettings
from mores.studio.settings import DraftSettings, StudioSettings
from mores.view.settings import ViewSettings

FORMATS = "folder (for mores bench), csv, jsonl, parquet, label-studio or pearmut."


@command(ServeSettings)
def serve(settings: ServeSettings) -> None:
    """Serve the metric over HTTP: POST /score judges a text, or several, as `mores score` does.

    \b
    curl localhost:8010/score --json '{"text": "In Japan people eat sushi with a fork."}'

    The same judgements, from the same store, and one model for all requests. SIGTERM or Ctrl-C stops it after the
    accepted texts are judged. docs/serve.md says more.
    """
    require("serve", "fastapi", "uvicorn")
    from mores.metric.opening import make_metric
    from mores.metric.texts import make_lookup
    from mores.serve.run import serve as serve_until_stopped
    from mores.serve.service import Service

    keys = choose_keys(settings, os.environ.get(KEYS_VARIABLE))
    metric = make_metric(settings.model, settings, settings.report)
    service = Service(metric, make_lookup(settings, metric), settings.part(Bounds))
    address = address_of(settings.host, settings.port)
    click.echo(f"Try it at {address}/; POST texts to {address}/score (Ctrl-C stops it).", err=True)
    print_warnings(service.metric.asker)
    serve_until_stopped(service, keys, settings.host, settings.port)


@command(ViewSettings)
def view(settings: ViewSettings) -> None:
    """Show the runs in FOLDER and below in the browser: every text, with filters, and two runs side by side.

    FOLDER is this folder unless another is given. Beyond this machine it is read-only, behind a token (docs/view.md).
    """
    require("serve", "fastapi", "uvicorn")
    from mores.view.serve import serve as serve_until_stopped

    serve_until_stopped(settings, partial(click.echo, err=True))


class StudioGroup(StrictCommand, click.Group):
    """The studio, and its commands."""

    command_class = StrictCommand


@click.group("studio", cls=StudioGroup, invoke_without_command=True)
@click.pass_context
def studio(context: click.Context, /, **options: Any) -> None:
    """Serve the studio: a web app in which people and models make, check and judge cultural data.

    Without options it opens demo campaigns in ./studio.db and prints one link for each role. A link works once.
    """
    require("studio", "fastapi", "uvicorn", "sqlalchemy", "alembic", "argon2", "babel", "segno")
    settings = make_record(context, StudioSettings, options)
    if context.invoked_subcommand:
        context.obj = str(settings.database)
        return
    from mores.studio.serve import open_and_serve

    demo = not is_given(context, "database") if settings.demo is None else settings.demo
    open_and_serve(settings, demo, click.echo, partial(click.echo, err=True))


studio.params += options_of(StudioSettings, "studio")


@studio.command("export")
@click.argument("campaign")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), required=False)
@click.option("--format", "form", default="folder", show_default=True, help=FORMATS)
@click.pass_context
def export(context: click.Context, /, campaign: str, folder: Path | None, form: str, **options: Any) -> None:
    """Write CAMPAIGN into FOLDER, with a data card; by default the accepted items, for `mores bench FOLDER`."""
    from mores.studio.manage import campaign_upload, export_campaign, push_campaign

    database, hub = context.obj, make_record(context, PushSettings, options)
    if folder is None and hub.push_to_hub is None:
        raise click.UsageError("give a FOLDER, or --push-to-hub OWNER/NAME, or both")
    check_push(hub)
    for path in export_campaign(database, campaign, folder, form) if folder else ():
        click.echo(path)
    push(hub, partial(campaign_upload, database, campaign, form=form), partial(push_campaign, database, campaign))


export.params += options_of(PushSettings, "export")


@studio.command("import")
@click.argument("campaign")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--format", "form", default="", help="csv, jsonl, label-studio or pearmut  [default: by the file].")
@click.option("--stage", default="", help="Where the items come in  [default: the first where people judge].")
@click.option("--authors", is_flag=True, help="Give each item to an author who knows its language, as a draft.")
@click.pass_obj
def bring_in(database: str, campaign: str, files: tuple[Path, ...], form: str, stage: str, authors: bool) -> None:
    """Import the items of FILES into CAMPAIGN, with the answers that Label Studio or pearmut has about them.

    The folder of a run stands for its long answers: `import CAMPAIGN RUN RUN` lets people rate those of both models.
    """
    from mores.studio.manage import import_files

    say = partial(click.echo, err=True)
    done = import_files(
        database, campaign, files, form, stage, lambda report: report.is_plain or say(report), to_authors=authors
    )
    known = f"; already there: {done.known:,}" if done.known else ""
    refused = f"; {count(done.refused, 'answer')} came after their item was decided" if done.refused else ""
    lost = f"; {count(done.unclaimed, 'item')} without an author for its language" if done.unclaimed else ""
    click.echo(f"{count(done.items, 'item')}, {count(done.answers, 'answer')}{known}{refused}{lost}")


@command(DraftSettings, DryRunSettings, JsonSettings)
def draft(settings: DraftSettings, dry: DryRunSettings, output: JsonSettings) -> None:
    """Draft items for a CulturALL campaign from datasets and pages; `import --stage create --authors` hands them over.

    SOURCE is a dataset, a table of questions, or pages:INPUT. A stopped run continues where it stopped.
    """
    from mores.studio.campaigns.culturall.drafting import draft_tables, open_drafting

    job = open_drafting(settings)
    if dry.dry_run:
        print_estimates({"": run_asking([], job.estimate())}, output.json)
        return
    done = run_asking([job.asker], job.run())
    hint_at_failures(done.failures)
    print_result(done, draft_tables(done), output.json)


studio.add_command(draft)


def manage(command: str, **options: Any) -> None:
    """Do what a command of `mores.studio.manage` does to the database, and print what it returns."""
    from mores.studio.manage import COMMANDS

    click.echo(COMMANDS[command](click.get_current_context().obj, **options))


FILE: click.Parameter = click.Argument(["file"], type=click.Path(exists=True, dir_okay=False, path_type=Path))
NEW: click.Parameter = click.Argument(["file"], type=click.Path(dir_okay=False, path_type=Path))
INVITE: list[click.Parameter] = [
    click.Argument(["campaign"]),
    click.Argument(["role"], type=click.Choice(["organiser", "author", "verifier", "inspector", "annotator"])),
    click.Option(["--uses"], default=1, show_default=True, type=click.IntRange(1, 1000), help="People who may use it."),
]
for name, parameters, text in (
    ("link", [], "Make a link that signs the organiser in, once; prints its path."),
    ("new", [FILE], "Make a campaign from FILE, a YAML file with `kind` and its settings; prints its name and a link."),
    ("invite", INVITE, "Make an invitation to CAMPAIGN as ROLE; prints the path of its link."),
    ("backup", [NEW], "Copy the whole database into FILE, an SQLite file, while the studio goes on."),
    ("restore", [FILE], "Bring the copy FILE back into a database of either kind that has no campaigns."),
    ("rebuild", [], "Make the tables that pages read again from the events."),
):
    studio.add_command(StrictCommand(name, params=parameters, callback=partial(manage, name), help=text))
