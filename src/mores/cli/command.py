"""Commands from records of settings: every option is a field, and the command gets the records.

    @command(BenchSettings, BenchGate, OutputSettings)
    def bench(settings: BenchSettings, gate: BenchGate, output: OutputSettings) -> None: ...

An option that is not given comes from a settings file, or has the record's default (`mores.settings.resolve`).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from mores.errors import ConfigError, InputError
from mores.extras import require
from mores.io.source import real_path
from mores.report.settings import OutputSettings
from mores.settings import Declared, Form, Settings, declared, default_of, form_of, resolve, settings_of
from mores.settings.declare import describe_default
from mores.settings.files import settings_files

S = TypeVar("S", bound=Settings)
PATHS = {
    "file": {"exists": True, "dir_okay": False},
    "folder": {"exists": True, "file_okay": False},
    "path": {"exists": True},
    "new file": {"dir_okay": False},
    "new folder": {"file_okay": False},
    "new folder or -": {},
}


class SettingType(click.ParamType[Any]):
    """A value that is read as its setting says: a number, a word, a text that is parsed."""

    name = "text"

    def __init__(self, about: Declared, form: Form, names_none: bool) -> None:
        self._about, self._form = about, form
        self._words = {word: word for word in form.words} | ({"none": None} if names_none else {})

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value; a usage error where it is not one."""
        about, form = self._about, self._form
        try:
            if about.parse and not form.several and not form.table:
                return about.parse(value)
        except ConfigError as error:
            self.fail(str(error), param, ctx)
        if value in self._words:
            return self._words[value]
        if form.number is None or form.text:
            return value
        try:
            number = form.number(value)
        except ValueError:
            number = math.nan
        if not -(2**63) <= number < 2**63:  # also not true of nan
            words = "".join(f" or {word!r}" for word in self._words)
            self.fail(f"{value!r}: expected a {form.noun}{words}", param, ctx)
        return number


class StrictCommand(click.Command):
    """A command that refuses an option with one value that is given twice: the first would go unnoticed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Check which options are given, and parse them."""
        given = self.make_parser(ctx).parse_args(list(args))[2]
        for option in self.params:
            if given.count(option) > 1 and not getattr(option, "is_flag", False) and not option.multiple:
                judges = option.name == "model" and any(other.name == "ensemble" for other in self.params)
                more = "; --ensemble names further judges" if judges else ""
                raise click.UsageError(
                    f"{option.opts[0]} takes one value and is given {given.count(option)} times{more}", ctx
                )
        return super().parse_args(ctx, args)


def command(*records: type[Settings], name: str = "", text: str = "", **fixed: Any) -> Callable[..., Any]:
    """Make a command of a function that takes one record of each kind.

    `name` and `text` are the name and the help of a subcommand, and `fixed` are settings that it decides.
    """

    def decorate(function: Callable[..., None]) -> click.Command:
        def call(**options: Any) -> None:
            context = click.get_current_context()
            function(*(make_record(context, record, options | fixed) for record in records))

        called = name or function.__name__.replace("_", "-")
        made = StrictCommand(called, callback=call, help=inspect.cleandoc(text or function.__doc__ or ""))
        made.params = [option for record in records for option in options_of(record, called)]
        return made

    return decorate


def options_of(record: type[Settings], name: str) -> list[click.Parameter]:
    """Return the options and arguments of a record's settings on a command."""
    return [option for entry in settings_of(record) for option in make_options(record, entry, name)]


def make_record(context: click.Context, record: type[S], options: Mapping[str, Any]) -> S:
    """Return the record of the options that were given, checked; settings files and defaults fill the rest."""
    known = {entry.name: entry for entry in fields(record)}  # type: ignore[arg-type]
    chosen: dict[str, Any] = {}
    for name, entry in known.items():
        if is_given(context, f"off_{name}"):
            chosen[name] = None
        elif is_given(context, name) or (name in options and default_of(entry) is MISSING):  # an argument left out
            chosen[name] = options[name]
    if "progress" in known:
        from mores.cli.progress import Terminal

        chosen["progress"] = Terminal()
    for file in settings_files(chosen.get("config")):
        table = file.table(record.table) if record.table else {}
        for name in (name for name, entry in known.items() if table.get(name) and declared(entry).code):
            click.echo(f"note: {file.path} names code that may be run: {name} = {table[name]!r}", err=True)
    made = resolve(record, **chosen)
    if isinstance(made, OutputSettings) and made.figures:  # refused before any work: what could not be done after it
        require("figures", "matplotlib")
    for file in (getattr(made, name) for name in ("html", "junit") if name in known):
        if file and not real_path(file).parent.is_dir():
            raise InputError(f"{file}: no folder {file.parent}; make it first: mkdir -p {file.parent}")
    return made


def is_given(context: click.Context, name: str) -> bool:
    """Return whether a person gave an option, on the command line or in the environment."""
    return context.get_parameter_source(name) in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)


def make_options(record: type[Settings], entry: Field[Any], name: str) -> list[click.Parameter]:
    """Return the options of a setting on a command; an argument where it is positional and has no option."""
    about, form, default = declared(entry), form_of(record, entry.name), default_of(entry)
    if not about.command or (about.only and name not in (*about.only, "bench")):
        return []
    optional = about.metavar.startswith("[")
    several = form.several or form.table or about.metavar.endswith("...")
    if not entry.kw_only and not about.option and (optional or several or default is MISSING):
        kind, metavar = click_type(about, form, default), about.metavar or entry.name.upper()
        nargs = -1 if several else 1
        return [click.Argument([entry.name], type=kind, metavar=metavar, nargs=nargs, required=not optional)]
    flags = about.option.split(",") if about.option else [f"--{entry.name.replace('_', '-')}"]
    is_flag = form.flag and not form.text
    if is_flag and default is not False:
        flags = [f"{flags[0]}/--no-{flags[0].removeprefix('--')}"]
    extra: dict[str, Any] = {"is_flag": True} if is_flag else {"type": click_type(about, form, default)}
    if about.optional_value is not None:
        extra |= {"is_flag": False, "flag_value": about.optional_value}
    is_empty = default is MISSING or default is None or default == () or is_flag
    shown = about.default_text or ("" if is_empty else describe_default(default))
    text = about.help.removesuffix(".") + (f"  [default: {shown}]." if shown else ".")
    options: list[click.Parameter] = [click.Option(
        [*flags, entry.name], help=text, metavar=about.metavar or None, multiple=several, required=default is MISSING,
        default=None, envvar=about.envvar or None, **extra,
    )]  # fmt: skip
    if about.off:
        off = "Keep no answers but those in the result, and look none up."
        options.append(click.Option([about.off, f"off_{entry.name}"], is_flag=True, help=off))
    return options


def click_type(about: Declared, form: Form, default: Any) -> Any:
    """Return what click checks: a path, a choice, a number in its bounds, or a text."""
    names_none = form.none and default is not None and default is not MISSING
    if about.choices:
        return click.Choice(list(about.choices()))
    if form.words and not form.number and not form.text:
        return click.Choice(form.words)
    if about.place and ":" in about.place:
        return lambda value: check_part(value, with_kind=about.place == "KIND:path")
    if about.place and not about.parse and not form.table:
        return click.Path(**PATHS[about.place])  # type: ignore[arg-type]
    if form.number and not form.words and not form.text and not names_none and not about.parse:
        least = about.above if about.at_least is None else about.at_least
        if form.number is float:
            if least is about.at_most is None:
                return click.FLOAT
            return click.FloatRange(least, about.at_most, min_open=about.above is not None)
        return click.INT if least is about.at_most is None else click.IntRange(least, about.at_most)  # type: ignore[arg-type]
    return SettingType(about, form, names_none)


def check_part(value: str, *, with_kind: bool) -> str:
    """Return a value whose path exists, with a kind before it or a column after it: `juice:FILE`, `FILE.csv:COLUMN`."""
    kind, _, path = value.partition(":")
    if with_kind or not Path(value.rpartition(":")[0]).is_file():
        click.Path(exists=True).convert(path if with_kind and kind.isalpha() and path else value, None, None)
    return value
