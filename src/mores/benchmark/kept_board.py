"""Boards that are kept beside their runs: one is found by the bytes of the runs, without reading what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from mores import __version__
from mores.io.kept import content_of, look_up, recall

VERSION = 2
"""Changes when a board of the same runs does: kept ones are then made again."""
NAME = ".board.figures"


def find_board(folders: Sequence[Path], *options: object) -> Any:
    """Return the board of the runs in these folders, as JSON data; None where none is kept."""
    path = folders[0] / NAME
    return look_up(path, _key(folders, options)) if path.exists() else None


def keep_board(folders: Sequence[Path], options: Iterable[object], make: Callable[[], Any]) -> Any:
    """Return the board of the runs in these folders, as JSON data; it is kept in the first folder."""
    return recall(folders[0] / NAME, _key(folders, options), make)


def _key(folders: Sequence[Path], options: Iterable[object]) -> dict[str, str]:
    total = blake2b(f"{VERSION} {[*options]}".encode("utf-8", "replace"))
    for folder in folders:
        for manifest in sorted(folder.rglob("run.json")):
            run, parts = manifest.parent, [str(manifest).encode("utf-8", "replace"), manifest.read_bytes()]
            if (result := run / "result.json").is_file():
                with_facts = b'"configuration"' in parts[1]  # of a named model; its questions are then read, too
                names = ("verdicts.jsonl", "items.jsonl") if with_facts else ("verdicts.jsonl",)
                files = [run / name for name in names]
                parts += [result.read_bytes(), *(content_of(file).digest.encode() for file in files if file.is_file())]
            for part in parts:
                total.update(b"%d " % len(part) + part)
    return {"name": f"board {__version__}", "content": total.hexdigest()}
