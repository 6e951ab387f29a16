"""The same bytes on every processor: builds in processes that use other instructions of it."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from mores.factory.recipe import BuildRecipe
from tests.factory.test_build import put, quiz, survey

X86 = platform.machine().casefold() in ("x86_64", "amd64")
KERNELS = ("Prescott", "SkylakeX") if X86 else ("ARMV8", "NEOVERSEN1")
FEATURES = "AVX2 FMA3 AVX512F AVX512_SKX" if X86 else "ASIMDHP ASIMDDP ASIMDFHM SVE"
"""What NumPy is told to do without; it ignores features that the processor lacks."""
BUILD = """
import sys
from pathlib import Path
from mores.factory.build import build
from mores.factory.output import write
from mores.factory.recipe import read_recipe
from mores.report.card import page
recipe = read_recipe(sys.argv[1])
write(build(recipe, None), recipe, Path(sys.argv[2]), page=page)
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_other_instructions_give_the_same_bytes(tmp_path: Path) -> None:
    sources = (put(tmp_path, survey(50), "survey"), put(tmp_path, quiz(30), "quiz"))
    (tmp_path / "r.yaml").write_text(BuildRecipe(name="small", sources=sources).model_dump_json())
    running = []
    for kernel in KERNELS:
        without = {"NPY_DISABLE_CPU_FEATURES": FEATURES} if kernel == KERNELS[0] else {}
        settings = os.environ | {"OPENBLAS_CORETYPE": kernel, "PYTHONWARNINGS": "ignore"} | without
        command = [sys.executable, "-c", BUILD, str(tmp_path / "r.yaml"), str(tmp_path / kernel)]
        running.append(subprocess.Popen(command, env=settings))
    assert [process.wait() for process in running] == [0, 0]
    files = sorted(path.name for path in (tmp_path / KERNELS[0]).iterdir())
    assert {"card.md", "card.html", "recipe.json", "train.jsonl", "train.parquet", "SHA256SUMS"} <= set(files)
    for kernel in KERNELS[1:]:
        for name in files:
            assert (tmp_path / kernel / name).read_bytes() == (tmp_path / KERNELS[0] / name).read_bytes(), name
