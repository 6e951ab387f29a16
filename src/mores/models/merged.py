"""The metric's LoRA added to its model's weights, once, in the user's cache, where llama.cpp is faster with that.

A LoRA costs two more products for each map. And llama.cpp's products of quantised numbers need instructions (dot
products of bytes) without which its Linux wheels for ARM are built: there, floats are faster (benchmarks/merged.py).
Elsewhere, products of quantised numbers are fast, nobody has measured, and nothing is merged.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import struct
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np

from mores.cache import models_folder
from mores.errors import ConfigError, MoresError
from mores.formatting import megabytes
from mores.io import write_text
from mores.io.private import make_folder, make_part
from mores.models.gguf import Header, Tensor, aligned, read_header
from mores.models.pull import sha256, state_of
from mores.models.quants import F32, Bytes, Floats, stored_bytes, to_floats

VERSION = "f32.1"
"""Part of the model's identity; another way to merge or to round is another version."""
_ROOM = 1_000_000_000
"""Bytes that must be free: twice what the default model takes, so that answers can still be stored."""
_ABANDONED = 3600.0
"""Seconds after which an unfinished file is one that its process has left behind."""
_UNUSED = 7 * 24 * 3600.0
"""Seconds without use after which the file of another adapter goes: other installations of Mores share the cache."""


def is_faster() -> bool:
    """Return whether llama.cpp runs on an ARM processor alone, and without dot products of bytes."""
    import xllamacpp

    features = xllamacpp.get_system_info()
    return features.startswith("CPU") and "NEON = 1" in features and "DOTPROD = 1" not in features


def provide(base: Path, adapter: Path, key: str) -> Path:
    """Return the merged file in the cache, made if it is missing or damaged; `key` names the two files' contents."""
    path = models_folder() / "merged" / f"{base.stem}.{VERSION}.{key}.gguf"
    note = path.with_suffix(".checked")
    if not _is_whole(path, note):
        make_folder(path.parent)
        if shutil.disk_usage(path.parent).free < _ROOM:
            raise ConfigError(
                f"{path.parent}: too little space is left to merge the model into; free {megabytes(_ROOM)}"
            )
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".merge-") as folder:
            part = Path(folder) / path.name
            digest = merge(base, adapter, part)
            part.replace(path)
        write_text(note, f"{state_of(path)} {digest}")
    _remove_others(path)  # each time: what this file has replaced was in use until then
    return path


def merge(base: Path, adapter: Path, out: Path) -> str:
    """Write a model with a LoRA in it, its maps in single precision; returns the file's SHA-256."""
    model, lora = read_header(base), read_header(adapter)
    changes = {tensor.name: tensor for tensor in lora.tensors}
    maps = {tensor.name for tensor in model.tensors if tensor.name.startswith("blk.") and len(tensor.shape) == 2}
    if others := {name.rpartition(".")[0] for name in changes} - maps:
        raise ConfigError(f"{adapter}: changes {min(others)}, which is not a map of a layer of {base}")
    with make_part(out).open("wb") as file:
        writing = _Writing(file)
        writing.add(_new_header(model, maps))
        for tensor in model.tensors:
            stored = _read(base, tensor)
            if tensor.name in maps:
                weight = to_floats(stored, tensor.shape, tensor.kind) + _change(adapter, lora, changes, tensor)
                stored = np.ascontiguousarray(weight, "<f4").view(np.uint8)
            writing.add(stored.data)
            writing.add(bytes(aligned(writing.size, model.values) - writing.size))
        return writing.digest.hexdigest()


class _Writing:
    """A file that is hashed as it is written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.size, self.digest = file, 0, hashlib.sha256()

    def add(self, data: bytes | memoryview) -> None:
        self._file.write(data)
        self.digest.update(data)
        self.size += len(data)


def _new_header(model: Header, maps: set[str]) -> bytes:
    """Return the file's beginning, up to its first weight: only types and places are others than in the base."""
    header = bytearray(b"GGUF" + struct.pack("<IQQ", 3, len(model.tensors), model.entries) + model.metadata)
    place = 0
    for tensor in model.tensors:
        name, kind = tensor.name.encode(), F32 if tensor.name in maps else tensor.kind
        header += struct.pack("<Q", len(name)) + name + struct.pack("<I", len(tensor.shape))
        header += struct.pack(f"<{len(tensor.shape)}Q", *tensor.shape[::-1]) + struct.pack("<IQ", kind, place)
        place = aligned(place + stored_bytes(tensor.shape, kind), model.values)
    return bytes(header) + bytes(aligned(len(header), model.values) - len(header))


def _change(adapter: Path, lora: Header, changes: Mapping[str, Tensor], tensor: Tensor) -> Floats | float:
    """Return what the LoRA adds to a weight."""
    if f"{tensor.name}.lora_a" not in changes:
        return 0.0
    sides = (changes[f"{tensor.name}.lora_{side}"] for side in "ab")
    down, up = (to_floats(_read(adapter, side), side.shape, side.kind) for side in sides)
    if (len(up), down.shape[1]) != tensor.shape:
        raise ConfigError(f"{adapter}: {tensor.name} has another size there than in its model")
    alpha = lora.values.get("adapter.lora.alpha", 0.0)
    return up @ down * np.float32(alpha / len(down) if alpha else 1.0)  # as llama.cpp reads it


def _read(path: Path, tensor: Tensor) -> Bytes:
    size = stored_bytes(tensor.shape, tensor.kind)
    stored = np.fromfile(path, np.uint8, size, offset=tensor.start)
    if len(stored) < size:
        raise ConfigError(f"{path}: a damaged or cut GGUF file; get it again")
    return stored


def _is_whole(path: Path, note: Path) -> bool:
    """Return whether the file is as it was written: hashed again only after a change of its size or time."""
    if not (path.is_file() and note.is_file()):
        return False
    state, _, digest = note.read_text("utf-8", "replace").rpartition(" ")
    if state == state_of(path):
        with suppress(OSError):  # a cache that cannot be written
            os.utime(note)  # when it was last used
        return True
    if sha256(path) != digest:
        return False
    with suppress(MoresError):  # a cache that cannot be written: it is checked again the next time
        write_text(note, f"{state_of(path)} {digest}")
    return True


def _remove_others(keep: Path) -> None:
    """Remove what other versions of the adapter, and processes that were killed, have left."""
    now = time.time()
    for path in keep.parent.iterdir():
        with suppress(OSError):  # in use, which Windows does not allow to be removed, or already removed
            if path.is_dir() and now - path.stat().st_mtime > _ABANDONED:
                shutil.rmtree(path)
            elif path.suffix == keep.suffix and path != keep:
                note = path.with_suffix(".checked")
                if now - max(file.stat().st_mtime for file in (path, note) if file.exists()) > _UNUSED:
                    path.unlink()
                    note.unlink(missing_ok=True)
