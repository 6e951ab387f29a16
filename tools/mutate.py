"""Change the code in one small place at a time, and see whether the tests notice.

    python -m tools.mutate src/mores/stats tests/stats --number 100   # 100 places, drawn at random
    python -m tools.mutate src/mores/engine/limits.py tests/engine --seed 2

A comparison, an operator or a whole number becomes another one, in a copy of the package. Tests in files that are named
after the module come first, and the first that fails ends a trial. Each change that no test noticed is printed: either
a test is missing, or the change makes no difference (a tolerance, a limit of a cache).
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SWAPPED: dict[type[ast.AST], Any] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
}  # fmt: skip


def find_places(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield what can be changed: nodes with an operator, and whole numbers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare | ast.BoolOp | ast.BinOp):
            if type(node.ops[0] if isinstance(node, ast.Compare) else node.op) in SWAPPED:
                yield node
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            yield node


def change(tree: ast.Module, number: int) -> tuple[str, str]:
    """Return the module with the place of this number changed, and what was changed."""
    mutated = copy.deepcopy(tree)
    node = list(find_places(mutated))[number]
    before = ast.unparse(node)
    if isinstance(node, ast.Compare):
        node.ops[0] = SWAPPED[type(node.ops[0])]()
    elif isinstance(node, ast.BoolOp | ast.BinOp):
        node.op = SWAPPED[type(node.op)]()
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        node.value += 1
    return ast.unparse(mutated), f"{getattr(node, 'lineno', 0)}: {before}  →  {ast.unparse(node)}"


def is_noticed(source: Path, tests: list[Path], timeout: float) -> bool:
    """Whether a test fails with the package in `source`."""
    pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", *map(str, tests)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (source, ROOT)))}
    try:
        done = subprocess.run(pytest, cwd=ROOT, env=environment, capture_output=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return True
    if done.returncode > 2:  # 2: a module of tests cannot be imported any more
        raise SystemExit(done.stdout.decode() + done.stderr.decode())
    return done.returncode != 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=Path, help="folder or file below src")
    parser.add_argument("tests", type=Path, nargs="+", help="folders or files of tests")
    parser.add_argument("--number", type=int, default=50, help="changes to try (50)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=600, help="seconds until a trial counts as failed (600)")
    chosen = parser.parse_args()
    files = sorted(chosen.package.rglob("*.py")) if chosen.package.is_dir() else [chosen.package]
    trees = {file: ast.parse(file.read_text("utf-8")) for file in files}
    places = [(file, number) for file, tree in trees.items() for number in range(len(list(find_places(tree))))]
    drawn = random.Random(chosen.seed).sample(places, min(chosen.number, len(places)))
    tests = [each for path in chosen.tests for each in (sorted(path.rglob("test_*.py")) if path.is_dir() else [path])]
    unnoticed = 0
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "src")
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__", "*.gguf"))
        for file, number in drawn:
            text, what = change(trees[file], number)
            copied = source / file.resolve().relative_to(ROOT / "src")
            copied.write_text(text, "utf-8")
            own = sorted(tests, key=lambda test: file.stem not in test.stem)
            if not is_noticed(source, own, chosen.timeout):
                unnoticed += 1
                print(f"{file}:{what}", flush=True)
            shutil.copy(file, copied)
    print(f"{len(drawn) - unnoticed} of {len(drawn)} changes were noticed ({len(places)} places)")


if __name__ == "__main__":
    main()
