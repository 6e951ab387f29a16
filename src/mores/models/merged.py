"""The metric's LoRA added to its model's weights, once, in the user's cache, where llama.cpp is faster with that.

A LoRA costs two more products for each map. And llama.cpp's products of the model's quantised numbers are slow in its
wheels: those for Linux on ARM are built without the instructions for them (dot products of bytes), and on x86-64 it has
no fast ones for this type. Floats are faster, of 32 bits on ARM and of 16 on x86-64 (benchmarks/merged.py). Elsewhere
nobody has measured, and nothing is merged.
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
from mores.models.quants import F16, F32, Bytes, Floats, stored_bytes, to_floats

VERSIONS = {F32: "f32.1", F16: "f16.1"}
"""Part of the model's identity, by the type of the numbers; another way to merge or to round is another version."""
_ROOM = 1_000_000_000
"""Bytes that must be free: twice what the default model takes, so that answers can still be stored."""
_ABANDONED = 3600.0
"""Seconds after which an unfinished file is one that its process has left behind."""
_UNUSED = 7 * 24 * 3600.0
"""Seconds without use after which the file of another adapter goes: other installations of Mores share the cache."""


def fastest_type() -> int | None:
    """Return the type of numbers to merge into, by what llama.cpp was built for; None where nothing is merged."""
    import xllamacpp

    features = xllamacpp.get_system_info()
    if not features.startswith("CPU") or "LLAMAFILE = 1" not in features:
        return None
    if "NEON = 1" in features:
        return None if "DOTPROD = 1" in features else F32
    return F16 if "F16C = 1" in features else None


def provide(base: Path, adapter: Path, key: str, kind: int = F32) -> Path:
    """Return the merged file in the cache, made if it is missing or damaged; `key` names the two files' contents."""
    path = models_folder() / "merged" / f"{base.stem}.{VERSIONS[kind]}.{key}.gguf"
    note = path.with_suffix(".checked")
    if not _is_whole(path, note):
        make_folder(path.parent)
        if shutil.disk_usage(path.parent).free < _ROOM:
            raise ConfigError(
                f"{path.parent}: too little space is left to merge the model into; free {megabytes(_ROOM)}"
            )
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".merge-") as folder:
            part = Path(folder) / path.name
            digest = merge(base, adapter, part, kind)
            part.replace(path)
        write_text(note, f"{state_of(path)} {digest}")
    _remove_others(path)  # each time: what this file has replaced was in use until then
    return path


def merge(base: Path, adapter: Path, out: Path, kind: int = F32) -> str:
    """Write a model with a LoRA in it, its maps as floats of that type; returns the file's SHA-256."""
    model, lora = read_header(base), read_header(adapter)
    changes = {tensor.name: tensor for tensor in lora.tensors}
    maps = {tensor.name for tensor in model.tensors if tensor.name.startswith("blk.") and len(tensor.shape) == 2}
    if others := {name.rpartition(".")[0] for name in changes} - maps:
        raise ConfigError(f"{adapter}: changes {min(others)}, which is not a map of a layer of {base}")
    with make_part(out).open("wb") as file:
        writing = _Writing(file)
        writing.add(_new_header(model, maps, kind))
        for tensor in model.tensors:
            stored = _read(base, tensor)
            if tensor.name in maps:
                weight = to_floats(stored, tensor.shape, tensor.kind) + _change(adapter, lora, changes, tensor)
                stored = np.ascontiguousarray(weight, "<f4" if kind == F32 else "<f2").view(np.uint8)
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


def _new_header(model: Header, maps: set[str], floats: int) -> bytes:
    """Return the file's beginning, up to its first weight: only types and places are others than in the base."""
    header = bytearray(b"GGUF" + struct.pack("<IQQ", 3, len(model.tensors), model.entries) + model.metadata)
    place = 0
    for tensor in model.tensors:
        name, kind = tensor.name.encode(), floats if tensor.name in maps else tensor.kind
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
