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
    from mores.cli import main as run

    run()


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
