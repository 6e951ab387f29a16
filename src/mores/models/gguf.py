"""What a GGUF file says about itself, read without its weights."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

from mores.errors import ConfigError

_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _LIST = 8, 9
ARCHITECTURE = "general.architecture"
STYLE = "mores.style"
"""The key under which `mores train` writes the prompt that a model was tuned with."""


def is_gguf(path: Path) -> bool:
    """Whether a file begins as GGUF files do."""
    with path.open("rb") as file:
        return file.read(4) == b"GGUF"


def read_text(path: Path, key: str) -> str | None:
    """A text among the file's metadata; None where it has none under this key."""
    try:
        return _find(path, key)
    except (struct.error, KeyError, ValueError, OverflowError, OSError, MemoryError, RecursionError) as exc:
        raise ConfigError(f"{path}: a damaged or cut GGUF file; get it again") from exc


def _find(path: Path, key: str) -> str | None:
    with path.open("rb") as file:
        file.seek(16)
        for _ in range(_number(file, "<Q")):
            name, kind = _text(file), _number(file, "<I")
            if name == key and kind == _STRING:
                return _text(file)
            _skip(file, kind)
    return None


def _skip(file: BinaryIO, kind: int) -> None:
    if kind == _STRING:
        file.seek(_number(file, "<Q"), 1)
    elif kind == _LIST:
        inner, count = _number(file, "<I"), _number(file, "<Q")
        if inner in _SCALARS:
            file.seek(count * struct.calcsize(_SCALARS[inner]), 1)
        else:
            for _ in range(count):
                _skip(file, inner)
    else:
        file.seek(struct.calcsize(_SCALARS[kind]), 1)


def _text(file: BinaryIO) -> str:
    return file.read(_number(file, "<Q")).decode("utf-8", "replace")


def _number(file: BinaryIO, form: str) -> int:
    return int(struct.unpack(form, file.read(struct.calcsize(form)))[0])
