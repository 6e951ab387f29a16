"""A LoRA merged into its model: the numbers, the file, and the cache in which it is kept."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import xllamacpp

from mores.errors import ConfigError
from mores.models import merged
from mores.models import pull as models
from mores.models.embedded import TUNED, EmbeddedModel
from mores.models.gguf import read_header
from mores.models.quants import F16, F32, stored_bytes, to_floats

gguf: Any = pytest.importorskip("gguf", reason="needs the extra train: pip install '.[train]'")
TYPES = gguf.GGMLQuantizationType
ARM = "CPU : NEON = 1 | ARM_FMA = 1 | LLAMAFILE = 1 | REPACK = 1 | "
X86 = "CPU : SSE3 = 1 | AVX2 = 1 | F16C = 1 | FMA = 1 | LLAMAFILE = 1 | OPENMP = 1 | REPACK = 1 | "


def write(path: Path, tensors: dict[str, tuple[np.ndarray, str]], **numbers: float) -> Path:
    """A GGUF file with metadata of several kinds before the weights."""
    file = gguf.GGUFWriter(path, "llama")
    file.add_array("tokenizer.ggml.tokens", ["a", "日本"])
    for name, number in numbers.items():
        file.add_float32(name.replace("__", "."), number)
    for name, (values, kind) in tensors.items():
        file.add_tensor(name, gguf.quants.quantize(values, TYPES[kind]), raw_dtype=TYPES[kind])
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()
    return path


def draw(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    maps = {"blk.0.attn_q.weight": (draw(64, 32), "Q4_1"), "blk.0.ffn_up.weight": (draw(96, 32), "Q4_0")}
    others = {"token_embd.weight": (draw(5, 32), "Q8_0"), "blk.0.attn_norm.weight": (draw(33), "F32")}
    return write(tmp_path / "base.gguf", others | maps, some__number=0.5)


@pytest.fixture
def lora(tmp_path: Path) -> Path:
    sides = {"lora_a": (draw(2, 32), "Q8_0"), "lora_b": (draw(64, 2), "F16")}
    tensors = {f"blk.0.attn_q.weight.{side}": values for side, values in sides.items()}
    return write(tmp_path / "lora.gguf", tensors, adapter__lora__alpha=6.0)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "models" / "merged"


@pytest.mark.parametrize("kind", ["F32", "F16", "Q4_0", "Q4_1", "Q5_0", "Q8_0"])
def test_numbers_are_those_of_the_package_gguf(kind: str) -> None:
    stored = gguf.quants.quantize(draw(6, 64), TYPES[kind])
    flat = np.ascontiguousarray(stored).view(np.uint8).reshape(-1)
    assert flat.size == stored_bytes((6, 64), TYPES[kind])
    assert (to_floats(flat, (6, 64), TYPES[kind]) == gguf.quants.dequantize(stored, TYPES[kind])).all()


def test_other_types_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"a weight of llama\.cpp's type 12; those that can be read are"):
        stored_bytes((1, 256), TYPES.Q4_K)


@pytest.mark.parametrize(("kind", "rounding"), [("F32", 1e-5), ("F16", 5e-3)])
def test_the_change_is_added_and_all_else_stays(
    base: Path, lora: Path, tmp_path: Path, kind: str, rounding: float
) -> None:
    digest = merged.merge(base, lora, tmp_path / "out.gguf", TYPES[kind])
    assert digest == models.sha256(tmp_path / "out.gguf")
    before, after, change = (gguf.GGUFReader(path) for path in (base, tmp_path / "out.gguf", lora))
    assert {key: field.contents() for key, field in before.fields.items() if "GGUF" not in key} == {
        key: field.contents() for key, field in after.fields.items() if "GGUF" not in key
    }
    old, new, sides = (
        {t.name.removeprefix("blk.0."): gguf.quants.dequantize(t.data, t.tensor_type) for t in file.tensors}
        for file in (before, after, change)
    )
    expected = old["attn_q.weight"] + 3 * sides["attn_q.weight.lora_b"] @ sides["attn_q.weight.lora_a"]  # 6 by rank 2
    assert new["attn_q.weight"] == pytest.approx(expected, abs=rounding)
    assert new["ffn_up.weight"] == pytest.approx(old["ffn_up.weight"], abs=rounding)
    assert all((new[name] == old[name]).all() for name in old if name not in ("attn_q.weight", "ffn_up.weight"))
    kinds = {tensor.name: tensor.tensor_type.name for tensor in after.tensors}
    assert list(kinds) == [tensor.name for tensor in before.tensors]
    assert (kinds["blk.0.ffn_up.weight"], kinds["token_embd.weight"]) == (kind, "Q8_0")


def test_an_adapter_that_changes_more_than_maps_is_refused(base: Path, tmp_path: Path) -> None:
    sides = {f"token_embd.weight.lora_{side}": (draw(2, 32), "F32") for side in "ab"}
    with pytest.raises(ConfigError, match=r"changes token_embd\.weight, which is not a map of a layer of"):
        merged.merge(base, write(tmp_path / "other.gguf", sides), tmp_path / "out.gguf")


def test_a_file_that_was_cut_is_refused(base: Path, lora: Path, tmp_path: Path) -> None:
    base.write_bytes(base.read_bytes()[:-64])
    with pytest.raises(ConfigError, match=r"base\.gguf: a damaged or cut GGUF file"):
        merged.merge(base, lora, tmp_path / "out.gguf")
    base.write_bytes(base.read_bytes()[:100])
    with pytest.raises(ConfigError, match=r"base\.gguf: a damaged or cut GGUF file"):
        read_header(base)


def test_an_alignment_of_zero_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "damaged.gguf", {"blk.0.attn_q.weight": (draw(2, 32), "F32")}, general__alignment=0.0)
    with pytest.raises(ConfigError, match=r"damaged\.gguf: a damaged or cut GGUF file"):
        read_header(path)


def test_it_is_made_once_and_again_when_it_is_damaged(base: Path, lora: Path, cache: Path) -> None:
    path = merged.provide(base, lora, "one")
    whole, made = path.read_bytes(), path.stat()
    assert path.parent == cache
    assert merged.provide(base, lora, "one").stat().st_mtime_ns == made.st_mtime_ns

    os.utime(path, (1, 1))  # a copied cache has other times and the same contents
    assert merged.provide(base, lora, "one").stat().st_mtime == 1

    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert merged.provide(base, lora, "one").read_bytes() == whole
    path.unlink()
    assert merged.provide(base, lora, "one").read_bytes() == whole
    path.with_suffix(".checked").write_bytes(b"\xff")
    assert merged.provide(base, lora, "one").read_bytes() == whole
    assert path.with_suffix(".checked").read_text("utf-8").startswith(f"{len(whole)} ")


def test_what_nobody_uses_any_more_is_removed(base: Path, lora: Path, cache: Path) -> None:
    for name in (".merge-killed", ".merge-busy"):
        (cache / name).mkdir(parents=True)
    os.utime(cache / ".merge-killed", (time.time() - 7200,) * 2)
    unused, used = (merged.provide(base, lora, key) for key in ("unused", "used"))
    eight_days_ago = (time.time() - 8 * 24 * 3600,) * 2
    for path in (unused, used, *(path.with_suffix(".checked") for path in (unused, used))):
        os.utime(path, eight_days_ago)
    merged.provide(base, lora, "used")  # as another installation of Mores does
    new = merged.provide(base, lora, "new")
    files = [file.name for path in (used, new) for file in (path, path.with_suffix(".checked"))]
    assert {path.name for path in cache.iterdir()} == {*files, ".merge-busy"}

    for path in (used, used.with_suffix(".checked")):  # a week after the upgrade: nothing is merged any more
        os.utime(path, eight_days_ago)
    merged.provide(base, lora, "new")
    assert {path.name for path in cache.iterdir()} == {*files[2:], ".merge-busy"}


@pytest.mark.parametrize(
    ("features", "kind"),
    [
        (ARM, F32),
        (ARM + "DOTPROD = 1 | ", None),
        (X86, F16),
        (X86.replace("F16C = 1 | ", ""), None),
        (X86.replace("LLAMAFILE = 1 | ", ""), None),
        ("CUDA : ARCHS = 900 | " + ARM, None),
        ("CUDA : ARCHS = 900 | " + X86, None),
    ],
)
def test_it_is_merged_where_that_is_faster(monkeypatch: pytest.MonkeyPatch, features: str, kind: int | None) -> None:
    monkeypatch.setattr(xllamacpp, "get_system_info", lambda: features)
    assert merged.fastest_type() == kind


def test_the_identity_says_whether_it_is_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "resolve", lambda *_: TUNED)
    monkeypatch.setattr(merged, "provide", lambda *_: tmp_path)
    monkeypatch.setattr(merged, "fastest_type", lambda: None)
    plain = EmbeddedModel(adapter=str(TUNED)).identity
    assert "merged" not in plain
    for kind, version in ((F32, "f32.1"), (F16, "f16.1")):
        monkeypatch.setattr(merged, "fastest_type", lambda kind=kind: kind)
        assert f"/merged-{version}/" in EmbeddedModel(adapter=str(TUNED)).identity

    def full(*_: object) -> Path:
        raise OSError("no space left")

    monkeypatch.setattr(merged, "provide", full)
    model = EmbeddedModel(adapter=str(TUNED))
    assert (model.identity, model.merged) == (plain, None)


def test_a_disk_with_little_space_is_left_alone(
    base: Path, lora: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=10**8))
    with pytest.raises(ConfigError, match="too little space is left"):
        merged.provide(base, lora, "k")
    assert not list(cache.iterdir())
