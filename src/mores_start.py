"""The command `mores` begins here, outside its package: another distribution may have overwritten files of it.

`mores` on the package index is another product, with a package of the same name. Nothing of `mores` is imported before
it is known to be ours. This takes less than a millisecond, because it reads only what stands beside the package.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

OURS = "mores-eval"


def main() -> None:
    """Run the command line, or say what else is installed as `mores`."""
    if clash := find_clash():
        print(f"error: {clash}", file=sys.stderr)
        sys.exit(2)
    if not show_help(sys.argv[1:]):
        from mores.cli import main as run

        run()


def show_help(arguments: list[str]) -> bool:
    """Print the help of a command as `docs/generate.py` has written it, without importing what the command needs.

    Return whether that is what was asked for. Where a package adds names, the command itself has to say what there is.
    """
    if len(arguments) < 2 or arguments[-1] not in ("-h", "--help") or _has_plugins():
        return False
    import json
    from io import TextIOWrapper

    help_file = Path(__file__).with_name("mores") / "cli" / "help.json"
    try:
        about = json.loads(help_file.read_text(encoding="utf-8")).get(" ".join(arguments[:-1]))
    except (OSError, ValueError):  # a checkout in the middle of a change
        return False
    if about is None:
        return False
    import click

    class WrittenHelp(click.Command):
        def collect_usage_pieces(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
            return list(about["usage"])

        def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
            with formatter.section("Options"):
                formatter.write_dl([(names, meaning) for names, meaning in about["options"]])
            if commands := about["commands"]:
                limit = formatter.width - 6 - max(len(name) for name, _ in commands)
                with formatter.section("Commands"):
                    named = [(name, click.Command(name, help=text)) for name, text in commands]
                    formatter.write_dl([(name, each.get_short_help_str(limit)) for name, each in named])

    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    command = WrittenHelp(arguments[-2], help=about["help"])
    with click.Context(command, info_name=f"mores {' '.join(arguments[:-1])}", max_content_width=100) as context:
        click.echo(command.get_help(context))
    return True


def _has_plugins() -> bool:
    """Return whether an installed package may add names to Mores; reading all metadata would take 40 ms."""
    for folder in map(Path, sys.path):
        for points in folder.glob("*-info/entry_points.txt") if folder.is_dir() else ():
            if b"[mores." in points.read_bytes():
                return True
    return False


def find_clash() -> str:
    """Return who else has files in the package `mores` that would be imported, and the fix; empty if nobody has."""
    spec = find_spec("mores")  # looks for it, and runs nothing of it
    if spec is None or spec.origin is None:
        return "the package mores is not complete; install Mores again"
    first = Path(spec.origin)
    site = first.parent.parent
    lines = {folder.name: _recorded(folder, first) for folder in site.glob("mores*.dist-info")}
    ours = lines.pop(next((name for name in lines if name.startswith(OURS.replace("-", "_") + "-")), ""), "")
    beside = site.resolve() == Path(__file__).resolve().parent
    if beside and not any(lines.values()) and not (ours and _is_changed(first, ours)):
        return ""
    from importlib.metadata import packages_distributions

    names = {name.partition("-")[0] for name, line in lines.items() if line}
    others = sorted(names.union(packages_distributions().get("mores", ())) - {OURS})
    who = f"the distribution {' and '.join(others)}" if others else "something other than Mores"
    fix = f"run `pip uninstall {' '.join([*others, OURS])}` and install Mores again"
    return f"{first.parent}: {who} has put files here; {fix}"


def _recorded(distribution: Path, file: Path) -> str:
    """Return the line of a distribution's list of its files that is about the package's file, if there is one."""
    try:
        with (distribution / "RECORD").open(encoding="utf-8") as record:
            return next((line for line in record if line.startswith(f"mores/{file.name},")), "")
    except OSError:
        return ""


def _is_changed(file: Path, line: str) -> bool:
    """Return whether a file has other content than its line in a distribution's list of files says."""
    from base64 import urlsafe_b64encode
    from hashlib import sha256

    return urlsafe_b64encode(sha256(file.read_bytes()).digest()).decode().rstrip("=") not in line
