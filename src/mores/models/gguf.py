"""The header of a GGUF file, read without its weights."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

from mores.errors import ConfigError

_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _LIST = 8, 9
ARCHITECTURE = "general.architecture"
STYLE = "mores.style"
"""The key under which `mores train` writes the prompt that a model was tuned with."""
_DAMAGED = (struct.error, KeyError, ValueError, ArithmeticError, OSError, MemoryError, RecursionError)


class Tensor(NamedTuple):
    """A weight and its place in the file; the shape is numpy's, `kind` the number of its type of numbers."""

    name: str
    shape: tuple[int, ...]
    kind: int
    start: int


class Header(NamedTuple):
    """All of a file but its weights."""

    values: Mapping[str, float]
    """The single numbers among the metadata."""
    entries: int
    metadata: bytes
    """All entries, as the file has them."""
    tensors: tuple[Tensor, ...]


def is_gguf(path: Path) -> bool:
    """Return whether a file begins as GGUF files do."""
    with path.open("rb") as file:
        return file.read(4) == b"GGUF"


def read_text(path: Path, key: str) -> str | None:
    """Return a text among the file's metadata; None where it has none under this key."""
    try:
        with path.open("rb") as file:
            file.seek(16)
            for _ in range(_number(file, "<Q")):
                name, kind = _text(file), _number(file, "<I")
                if name == key and kind == _STRING:
                    return _text(file)
                _skip(file, kind)
        return None
    except _DAMAGED as exc:
        raise ConfigError(f"{path}: a damaged or cut GGUF file; get it again") from exc


def read_header(path: Path) -> Header:
    """Return the metadata and the places of the weights."""
    try:
        with path.open("rb") as file:
            return _header(file)
    except _DAMAGED as exc:
        raise ConfigError(f"{path}: a damaged or cut GGUF file; get it again") from exc


def is_cut(path: Path) -> bool:
    """Return whether a file ends before one of its weights begins, as after a broken download."""
    size = path.stat().st_size
    return any(weight.start >= size for weight in read_header(path).tensors)


def _header(file: BinaryIO) -> Header:
    file.seek(8)
    tensors, count = _number(file, "<Q"), _number(file, "<Q")
    first, values = file.tell(), dict[str, float]()
    for _ in range(count):
        name, kind = _text(file), _number(file, "<I")
        if kind in _SCALARS:
            values[name] = _scalar(file, _SCALARS[kind])
        else:
            _skip(file, kind)
    end = file.tell()
    places = [_place(file) for _ in range(tensors)]
    data = aligned(file.tell(), values)
    file.seek(first)
    metadata = file.read(end - first)
    return Header(values, count, metadata, tuple(place._replace(start=data + place.start) for place in places))


def _place(file: BinaryIO) -> Tensor:
    name = _text(file)
    shape = tuple(_number(file, "<Q") for _ in range(_number(file, "<I")))
    return Tensor(name, shape[::-1], _number(file, "<I"), _number(file, "<Q"))


def aligned(size: int, values: Mapping[str, float]) -> int:
    """Return the next place at which a file with these values may have a weight."""
    step = int(values.get("general.alignment", 32))
    return -(-size // step) * step


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
    return int(_scalar(file, form))


def _scalar(file: BinaryIO, form: str) -> float:
    value: float = struct.unpack(form, file.read(struct.calcsize(form)))[0]
    return value
