"""What a GGUF file says about itself, in files that the gguf package writes."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from mores.models.gguf import STYLE, is_gguf, read_text

gguf: Any = pytest.importorskip("gguf", reason="needs the extra train: pip install '.[train]'")


def write(path: Path, *, style: str | None) -> Path:
    """Every kind of value before the one that is looked for, and one after it."""
    file = gguf.GGUFWriter(path, "llama")
    file.add_uint8("a.u8", 1)
    file.add_int8("a.i8", -1)
    file.add_uint16("a.u16", 2)
    file.add_int16("a.i16", -2)
    file.add_uint32("a.u32", 3)
    file.add_int32("a.i32", -3)
    file.add_float32("a.f32", 0.5)
    file.add_bool("a.bool", True)
    file.add_uint64("a.u64", 1 << 40)
    file.add_int64("a.i64", -(1 << 40))
    file.add_float64("a.f64", 0.25)
    file.add_string("a.text", "café 日本")
    file.add_array("a.texts", ["mores.style", "guided", "", "日本"])
    file.add_array("a.numbers", [1, 2, 3])
    file.add_array("a.flags", [True, False])
    if style is not None:
        file.add_string(STYLE, style)
    file.add_uint32("z.last", 7)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.close()
    return path


@pytest.mark.parametrize("style", ["guided", "x" * 10_000, "日本"])
def test_a_text_is_found_behind_every_kind_of_value(tmp_path: Path, style: str) -> None:
    path = write(tmp_path / "m.gguf", style=style)
    assert read_text(path, STYLE) == style
    assert read_text(path, "a.text") == "café 日本"
    assert read_text(path, "general.architecture") == "llama"


def test_what_is_not_there_or_no_text_is_none(tmp_path: Path) -> None:
    path = write(tmp_path / "m.gguf", style=None)
    assert read_text(path, STYLE) is None  # also not the one in a list
    assert read_text(path, "z.last") is None
    assert read_text(path, "a.texts") is None


def test_a_list_of_lists_is_skipped(tmp_path: Path) -> None:
    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    inner = struct.pack("<IQ", 8, 2) + text("a") + text("bc")  # a list of two texts
    numbers = struct.pack("<IQ", 4, 3) + struct.pack("<3I", 1, 2, 3)
    nested = text("nested") + struct.pack("<IIQ", 9, 9, 2) + inner + numbers
    wanted = text(STYLE) + struct.pack("<I", 8) + text("fenced")
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 2) + nested + wanted)
    assert read_text(path, STYLE) == "fenced"


def test_a_file_is_known_by_its_beginning(tmp_path: Path) -> None:
    assert is_gguf(write(tmp_path / "m.gguf", style=None))
    for content in (b"", b"GGU", b"PK\x03\x04"):
        (tmp_path / "other").write_bytes(content)
        assert not is_gguf(tmp_path / "other")
