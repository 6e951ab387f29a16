"""The work of commands before and after a run: warnings, what is kept, and the result as tables, page, files, JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click

from mores.errors import ModelError
from mores.formatting import count, money
from mores.report.settings import OutputSettings, PushSettings

if TYPE_CHECKING:
    from mores.engine import Asker
    from mores.engine.estimate import Estimate
    from mores.hub import Upload
    from mores.report.base.document import ResultDocument
    from mores.report.base.grid import Grid
    from mores.run import Run

T = TypeVar("T")
Tables: TypeAlias = "Grid | Iterable[Grid | str]"


def show_run(run: Run, output: OutputSettings, data: Any = None, page: str = "", tables: Tables | None = None) -> None:
    """Write the page of a run, and its tables if it has any, into its folder, and show the run.

    `page` is the page's name, `data` what JSON shows, and `tables` those to print, where they are not the usual ones.
    """
    from mores.io import write_text
    from mores.report.base.page import render_page
    from mores.report.runs import as_data, describe

    document, place = describe(run), run.path / (page or f"{run.kind}.html")
    write_text(place, render_page(document))
    document.write_tables(run.path / "tables")
    click.echo(f"wrote {run.path}; its page is {place}", err=True)
    hint_at_failures(run.manifest.failures)
    show_document(document, output, as_data(run) if output.json and data is None else data, tables)


def hint_at_failures(failures: Mapping[str, int]) -> None:
    """Say how what failed can be asked for again, where the command asks a model; what was never sent cannot."""
    known = any(option.name == "retry_failed" for option in click.get_current_context().command.params)
    if known and (failed := sum(failures.values()) - failures.get("input", 0)):
        click.echo(f"{count(failed, 'answer')} failed; ask again with --retry-failed", err=True)


def show_document(
    document: ResultDocument, output: OutputSettings, data: Any, tables: Tables | None = None, *, stderr: bool = False
) -> None:
    """Write a result as a page, and as figures for a paper, if that is asked for; print its tables, or JSON."""
    if output.html:
        from mores.io import write_text
        from mores.report.base.page import render_page

        write_text(output.html, render_page(document))
        click.echo(f"wrote {output.html}", err=True)
    if output.figures:
        from mores.report.base.figures import write_figures

        written = write_figures(document, output.figures, output)
        click.echo(f"wrote {count(len(written), 'file')} into {output.figures}", err=True)
    print_result(data, document.printed if tables is None else tables, output.json, stderr=stderr)


def print_result(data: Any, tables: Tables, as_json: bool, *, stderr: bool = False) -> None:
    """Print data as JSON (a record, other data or text that is JSON already), or tables.

    A table alone has no free line after it.
    """
    if as_json:
        dump = getattr(data, "model_dump_json", None)
        text = dump(indent=2) if dump else data
        click.echo(text if isinstance(text, str) else json.dumps(text, indent=2), err=stderr)
        return
    from mores.report.base.grid import Grid, plain_console, print_tables

    if isinstance(tables, Grid):
        plain_console().print(tables)
    else:
        print_tables(tables, stderr=stderr)


def print_estimates(estimates: Mapping[str, Estimate], as_json: bool = False) -> None:
    """Print the calls, the tokens and the cost of each model; one alone may have no name."""
    if as_json:
        dumped = {name: estimate.model_dump() for name, estimate in estimates.items()}
        click.echo(json.dumps(dumped.get("", dumped), indent=2))
        return
    for name, each in estimates.items():
        if name:
            click.echo(f"{name}:")
        click.echo(f"{each.calls:,} calls would be sent; {each.known:,} answers are in the store already")
        if each.unsendable:
            click.echo(f"{each.unsendable:,} samples are too long to be sent (see --max-characters)")
        click.echo(f"about {each.prompt_tokens:,} prompt tokens and {each.completion_tokens:,} for the reports")
        if each.cost is None or each.most is None:
            click.echo("the price of this model is not known: give it with --price IN,OUT")
        else:
            click.echo(f"about {money(each.cost)}, at most {money(each.most)}")


def run_asking(askers: Iterable[Asker], work: Coroutine[Any, Any, T]) -> T:
    """Run work that asks models."""
    from mores.engine.loop import run

    with asking(*askers):
        return run(work)


@contextmanager
def asking(*askers: Asker) -> Iterator[None]:
    """Print warnings about the models before a run and, if it stops early, what is kept of it."""
    print_warnings(*askers)
    try:
        yield
    except (KeyboardInterrupt, ModelError):  # a store that fails says its own fix
        if askers:
            saved = f"Answers are saved; rerun {'without --fresh ' if askers[0].fresh else ''}to resume."
            lost = "Nothing of the run is saved, because of --no-store."
            click.echo(lost if askers[0].store is None else saved, err=True)
        raise


def print_warnings(*askers: Asker) -> None:
    """Print what a person must know about the models before they are used."""
    for warning in dict.fromkeys(asker.model.warning for asker in askers if asker.model.warning):
        click.echo(f"note: {warning}", err=True)
    if any(asker.model.name == "embedded" for asker in askers):
        from mores.models import pull

        if not pull.default_path().exists():
            click.echo(pull.announcement(), err=True)


def check_push(hub: PushSettings) -> None:
    """Check before any work that the name can be one, and that the Hub knows the user."""
    if hub.push_dry_run and not hub.push_to_hub:
        raise click.UsageError("--push-dry-run needs --push-to-hub OWNER/NAME")
    if hub.push_to_hub:
        from mores.hub import check_access, check_name

        check_name(hub.push_to_hub)
        if not hub.push_dry_run:
            check_access()


def push(hub: PushSettings, make: Callable[[str], Upload], send: Callable[[Upload], str] | None = None) -> None:
    """List what is uploaded, and upload it, if that is asked for."""
    if hub.push_to_hub is None:
        return
    upload = make(hub.push_to_hub)
    sizes = upload.sizes()
    doing, files = "would upload" if hub.push_dry_run else "uploading", count(len(sizes), "file")
    click.echo(f"{doing} {files}, {sum(sizes.values()):,} B, to {upload.address} (private)", err=True)
    for name, size in sizes.items():
        click.echo(f"{size:>15,} B  {name}", err=True)
    if not hub.push_dry_run:
        from mores.hub import push as push_upload

        click.echo(f"uploaded {(send or push_upload)(upload)}", err=True)
