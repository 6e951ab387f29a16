"""The command `mores`: a file for the subcommands of an area, each of which parses, calls and prints."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Any

import click

from mores import __version__
from mores.errors import ConfigError, GateError, MoresError, suggest
from mores.extras import extra_of, install_command
from mores.signals import stop_on_signals

COMMANDS = {
    "score": ("score", "Find the cultural errors in texts."),
    "bench": ("bench", "Measure how well a model knows cultures."),
    "runs": ("show", "List the runs in a folder, with their results."),
    "view": ("servers", "Show the runs of a folder in the browser, text by text."),
    "board": ("board", "Rank the models of several runs."),
    "export-task": ("benchmarks", "Write a benchmark as a task of another harness."),
    "diagnose": ("diagnose", "Say why a model fails."),
    "tiers": ("benchmarks", "Sort the questions of a benchmark by how hard they are."),
    "topics": ("benchmarks", "Let a model sort the questions of a benchmark by topic."),
    "longform": ("longform", "Judge long answers: language, repetition, facts, relevance."),
    "judge-check": ("benchmarks", "Test how far a judge of answers can be trusted."),
    "show": ("show", "Show the result of a run, or judgements by a model or by people."),
    "cite": ("show", "Print what a run must cite: papers, data sets and software."),
    "pull": ("train", "Get the embedded model, or another GGUF file."),
    "audit": ("benchmarks", "Test how far a judge can be trusted."),
    "meta": ("meta", "Measure how good metrics are at finding cultural errors."),
    "plan": ("meta", "Plan a study: how many raters, items and models it needs."),
    "rate": ("meta", "Analyse people's ratings of answers."),
    "compare": ("meta", "Test whether two judges or two models differ."),
    "train": ("train", "Tune a model into a metric."),
    "export": ("train", "Write a tuned model as a GGUF file."),
    "build": ("build", "Make training and test data with errors from cultural datasets."),
    "corpus": ("build", "Make a corpus to search from dumps, tables, texts, PDFs and web pages."),
    "collect": ("longform", "Filter, translate and label questions for a cultural dataset."),
    "serve": ("servers", "Judge texts over HTTP, for other programs."),
    "studio": ("servers", "Serve the web app in which people make and check cultural data."),
    "sources": ("build", "List the datasets that training data are made from."),
    "doctor": ("show", "Say what is installed, and which judges can be used here."),
    "config": ("show", "Show the settings that commands use, and where each comes from."),
}
"""Every subcommand with the module that is imported when it is used, and its line of help."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            hint = suggest(args[0], COMMANDS)
            ctx.fail(f"no such command {args[0]!r}; {hint}there are {', '.join(COMMANDS)}")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        if name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"mores.cli.{COMMANDS[name][0]}"), name.replace("-", "_"))
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as exc:
            if extra := extra_of(exc.name or ""):
                raise ConfigError(f"{exc.name} must be installed for this: {install_command(extra)}") from exc
            raise
        except MoresError as exc:
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            if command:  # the same setting may come from an argument or from a file
                exc.setting = _flags(command).get(exc.setting, "")
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


def _flags(command: click.Command) -> dict[str, str]:
    """Return the option of each setting of a command and of its subcommands, also by the name that the option has."""
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    flags = {option.name: option.opts[0] for option in options if option.name}
    flags |= {flag.removeprefix("--").replace("-", "_"): flag for option in options for flag in option.opts}
    inner = command.commands.values() if isinstance(command, click.Group) else ()
    return {name: flag for each in map(_flags, inner) for name, flag in each.items()} | flags


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="mores")
def mores() -> None:
    """Measures how well language models know the cultures that they write about, and shows every mistake."""


COLLECTING = 50_000, 20, 20
"""How often Python looks for cyclic garbage, of which a run makes next to none; by default it looks all the time."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: exit code 1 for a failure, 2 for wrong usage, 3 for a gate that failed (docs/ci.md).

    SIGTERM and SIGHUP end it as Ctrl-C does, tidily, with 128 and the signal's number.
    """
    gc.set_threshold(*COLLECTING)
    stopped_by = stop_on_signals()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a console that cannot show a script still shows the rest
    try:
        code = mores.main(arguments, prog_name="mores", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as exc:
        exc.show()
        code = exc.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        code = 128 + stopped_by[-1] if stopped_by else 1
    except GateError as exc:
        click.echo(f"gate failed: {exc}", err=True)
        code = 3
    except MoresError as exc:
        click.echo(f"error: {exc} ({exc.setting})" if exc.setting else f"error: {exc}", err=True)
        code = 2 if isinstance(exc, ConfigError) else 1
    except OSError as exc:
        if exc.filename:
            click.echo(f"error: {exc.filename}: {exc.strerror}; check the path and its permissions", err=True)
        else:
            if not isinstance(exc, BrokenPipeError):  # otherwise the reader has gone: nothing more to say
                click.echo(f"error: cannot write the output: {exc.strerror}", err=True)
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is buffered can never be written
        code = 1
    sys.exit(code or 0)
