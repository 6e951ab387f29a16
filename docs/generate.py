"""Writes docs/commands/, docs/api/settings.md and help.json from the settings: `make docs`; a test checks them."""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import MISSING, Field
from pathlib import Path
from typing import Any

import click

import mores as package
from mores.cli import COMMANDS, mores
from mores.settings import Settings, declared, default_of, settings_of
from mores.settings.declare import describe_default
from mores.settings.records import RECORDS, load_record
from mores.settings.values import GIVEN

FOLDER = Path(__file__).parent / "commands"
SETTINGS = Path(__file__).parent / "api" / "settings.md"
HELPS = Path(package.__file__).parent / "cli" / "help.json"


def commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """A command and all below it, by full name."""
    yield path, command
    for name, below in _below(command):
        yield from commands(below, f"{path} {name}")


def _below(command: click.Command) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield name, below


def section(path: str, command: click.Command, heading: str) -> str:
    """One command: what it does, how it is called, and its options."""
    context = click.Context(command, info_name=path, **mores.context_settings)
    records = [parameter.get_help_record(context) for parameter in command.params]
    rows = [_row(*record) for record in records if record and record[1]]
    usage = command.get_usage(context).removeprefix("Usage: ")
    parts = [f"{heading} {path}", f"```text\n{' '.join(usage.split())}\n```"]
    parts += map(_prose, inspect.cleandoc(command.help or "").split("\n\n"))
    if rows:
        parts.append("\n".join(["| option | meaning |", "| --- | --- |", *rows]))
    return "\n\n".join(parts) + "\n"


def _prose(paragraph: str) -> str:
    if paragraph.startswith("\b\n"):  # click's mark for lines that are not wrapped
        return f"```text\n{paragraph[2:]}\n```"
    return _options_as_code(" ".join(paragraph.split()))


def _row(names: str, meaning: str) -> str:
    meaning = _options_as_code(" ".join(meaning.split()).replace("|", "\\|"))
    return f"| `{names.replace('|', chr(92) + '|')}` | {meaning} |"


def _options_as_code(text: str) -> str:
    """Options and patterns in backticks, where they are not yet."""
    pieces = text.split("`")
    pieces[::2] = [re.sub(r"(?<![\w-])--[a-z][a-z-]*", r"`\g<0>`", piece).replace("*", "\\*") for piece in pieces[::2]]
    return "`".join(pieces)


def pages() -> dict[str, str]:
    """The text of each page by its file's name."""
    rows = ["| command | what it does |", "| --- | --- |"]
    written = {}
    for name, command in _below(mores):
        rows.append(f"| [`mores {name}`]({name}.md) | {COMMANDS[name][1]} |")
        sections = [section(path, below, "##") for path, below in commands(command, f"mores {name}")]
        guide = f"[The guide](../{name}.md) explains it.\n" if (FOLDER.parent / f"{name}.md").exists() else ""
        written[f"{name}.md"] = "\n".join(filter(None, [sections[0].removeprefix("#"), guide, *sections[1:]]))
    intro = "Written by `make docs` from the commands' own help. `-h` after any command shows it in the terminal."
    return {"index.md": "\n".join(["# Commands", "", intro, "", *rows]) + "\n", **written}


def helps() -> str:
    """What `mores COMMAND --help` shows, for `mores_start`: the command's imports take longer than all else."""
    written = {}
    for path, command in commands(mores, "mores"):
        if command is not mores:
            context = click.Context(command, info_name=path, **mores.context_settings)
            options = (option for option in command.get_params(context) if isinstance(option, click.Option))
            written[path.removeprefix("mores ")] = {
                "usage": command.collect_usage_pieces(context),
                "help": command.help,
                "options": [option.get_help_record(context) for option in options],
                "commands": [(name, each.help) for name, each in _below(command)],
            }
    return json.dumps(written, indent=1, ensure_ascii=False) + "\n"


def settings_page() -> str:
    """The reference of every record of settings; a setting stands with the record that declares it."""
    parts = [
        "# Settings",
        "Written by `make docs` from the records themselves. [The guide](../settings.md) explains them.",
    ]
    public = (getattr(package, name) for name in package.RECORDS if name.endswith("Settings"))
    records = [*map(load_record, RECORDS), *public]
    kinds = (kind for each in records for kind in reversed(each.__mro__) if issubclass(kind, Settings))
    for record in dict.fromkeys(kind for kind in kinds if kind is not Settings):
        own = [entry for entry in settings_of(record) if entry.name in inspect.get_annotations(record)]
        if not own:
            continue
        table = f" (`[{record.table}]` in a settings file)" if "table" in vars(record) else ""
        builds = [f"`{kind.__name__}`" for kind in record.__bases__ if kind is not Settings]
        more = f" It also has the settings of {' and '.join(builds)}." if builds else ""
        rows = ["| setting | type | default | meaning | changes the result |", "| --- | --- | --- | --- | --- |"]
        rows += [_setting_row(record, entry) for entry in own]
        parts.append("\n\n".join([f"## {record.__name__}", f"{record.__doc__}{more}{table}", "\n".join(rows)]))
    return "\n\n".join(parts) + "\n"


def _setting_row(record: type[Settings], entry: Field[Any]) -> str:
    about, default = declared(entry), default_of(entry)
    annotation = str(inspect.get_annotations(record)[entry.name])
    given = GIVEN.get(annotation, annotation).replace("|", "\\|")
    shown = about.default_text or ("required" if default is MISSING else f"`{describe_default(default)}`")
    if entry.name == "progress":
        shown = "shows nothing"
    if default is None and not about.default_text:
        shown = "`None`"
    meaning = _options_as_code(about.help.replace("|", "\\|"))
    return f"| `{entry.name}` | `{given}` | {shown} | {meaning} | {'yes' if about.result else 'no'} |"


if __name__ == "__main__":
    current = {page.name: page.read_text("utf-8") for page in FOLDER.glob("*.md")}
    if sys.argv[1:] == ["--check"]:
        texts = {SETTINGS: settings_page(), HELPS: helps()}
        is_current = current == pages() and all(path.read_text("utf-8") == text for path, text in texts.items())
        sys.exit(None if is_current else "docs/commands/ is not current: run `make docs`")
    FOLDER.mkdir(exist_ok=True)
    for name in current:
        (FOLDER / name).unlink()
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    SETTINGS.write_text(settings_page(), encoding="utf-8")
    HELPS.write_text(helps(), encoding="utf-8")
