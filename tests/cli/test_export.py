"""`mores export` through the real command, on tiny models: what was tuned says the same in llama.cpp."""

from __future__ import annotations

from pathlib import Path

import pytest

from mores.models import gguf as files
from mores.training.gguf import unpack
from tests.cli.conftest import Run

tiny = pytest.importorskip("tests.training.tiny_gguf", reason="needs the extra train: pip install '.[train]'")


@pytest.fixture
def base(home: Path) -> Path:
    """A base and, beside it, its adapter, `tuned`."""
    path: Path = tiny.write(home / "base.gguf")
    unpack(path, home / "unpacked")
    tiny.make_adapter(home / "unpacked", home / "tuned")
    (home / "tuned" / "recipe.toml").write_text('style = "fenced"\n')
    return path


@pytest.mark.slow
def test_a_lora_and_a_merged_model_answer_alike(mores: Run, home: Path, base: Path) -> None:
    lora = mores("export", "tuned", "--base", "base.gguf", "--out", "lora.gguf", "--type", "f32")
    whole = mores("export", "tuned", "--base", "base.gguf", "--out", "whole.gguf", "--merged", "--type", "f32")
    assert (lora.returncode, whole.returncode) == (0, 0), lora.stderr + whole.stderr
    assert "wrote lora.gguf (" in lora.stderr
    assert [files.read_text(home / f"{name}.gguf", files.STYLE) for name in ("lora", "whole")] == ["fenced"] * 2
    first, second = tiny.embedded(base, home / "lora.gguf"), tiny.embedded(home / "whole.gguf")
    assert (first.style, second.style) == ("fenced", "fenced")
    tiny.assert_same(tiny.ask(first), tiny.ask(second))


def test_all_weights_become_a_lora_that_says_what_it_keeps(mores: Run, home: Path, base: Path) -> None:
    tiny.tune(home / "unpacked", home / "full", 4)
    done = mores("export", "full", "--base", str(base), "--out", "low.gguf", "--rank", "4")
    assert done.returncode == 0, done.stderr
    assert "the LoRA of rank 4 keeps 100.0%" in done.stderr


@pytest.mark.usefixtures("base")
@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("tuned", "--base", "base.gguf", "--out", "x.bin"), "x.bin: the name of a GGUF file ends in .gguf (--out)"),
        (("tuned", "--base", "none.gguf", "--out", "x.gguf"), "embedded:none.gguf: no such file"),
        (("nowhere", "--out", "x.gguf"), "'nowhere' does not exist"),
        (("unpacked", "--base", "base.gguf", "--out", "x.gguf"), "its weights equal those of base.gguf"),
        (
            ("prompts", "--base", "base.gguf", "--out", "x.gguf"),
            "prompts: an adapter of kind PROMPT_TUNING; expected a PEFT LoRA folder with adapter_config.json and"
            " adapter_model.safetensors\n",  # `mores export` has no option --adapter to name
        ),
    ],
)
def test_what_is_wrong_is_said(mores: Run, home: Path, arguments: tuple[str, ...], why: str) -> None:
    (home / "prompts").mkdir()
    (home / "prompts" / "adapter_config.json").write_text('{"peft_type": "PROMPT_TUNING"}')
    done = mores("export", *arguments)
    assert done.returncode != 0
    assert why in done.stderr
    assert not (home / "x.gguf").exists()
