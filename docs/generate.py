"""Writes docs/commands.md from the commands' own help: `make docs`; a test checks that it is up to date."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from mores.cli import mores

TARGET = Path(__file__).parent / "commands.md"


def commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """A command and all below it, by full name."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, f"{path} {name}")


def page() -> str:
    """The whole page."""
    parts = ["# Commands\n\nWritten by `make docs` from the commands' own help.\n"]
    for path, command in commands(mores, "mores"):
        context = click.Context(command, info_name=path, terminal_width=100, **mores.context_settings)
        parts.append(f"## {path}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        current = TARGET.read_text(encoding="utf-8") == page()
        sys.exit(None if current else "docs/commands.md is not current: run `make docs`")
    TARGET.write_text(page(), encoding="utf-8")
