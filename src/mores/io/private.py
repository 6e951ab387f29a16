"""Only the user can read what Mores writes: new files are 0600 and new folders 0700.

Prompts, answers and judged texts may be confidential. Existing files and folders keep their permissions.
"""

from __future__ import annotations

import os
from pathlib import Path

NO_LINK = getattr(os, "O_NOFOLLOW", 0)
"""Refuse to open a symbolic link, which may lead anywhere; Windows has no such flag."""


def make_folder(path: Path) -> None:
    """Make a folder and its parents, unless they exist."""
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def open_private(path: Path, flags: int) -> int:
    """Return the descriptor of a file, which is created if it does not exist."""
    return os.open(path, flags | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0), 0o600)


def make_part(path: Path) -> Path:
    """Return a new, empty file for a library to write: whatever had this name, perhaps a link, is removed first."""
    path.unlink(missing_ok=True)
    os.close(open_private(path, os.O_WRONLY | os.O_EXCL | NO_LINK))
    return path
