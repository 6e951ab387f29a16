"""Dependencies point one way, as the design says; each layer may import those before it and itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import mores

SOURCE = Path(mores.__file__).parent
DEVELOPMENT = (Path(__file__).parents[1] / "docs" / "development.md").read_text("utf-8")
LAYERS = [
    {"types", "errors", "cache", "calling", "renamed"},
    {"culture", "extras", "reading", "signature"},
    {"io", "stats", "language", "formatting", "plugins", "hub"},
    {"prompts"},
    {"models"},
    {"engine"},
    {"run"},
    {"search"},
    {"metric", "factory"},
    {"rating"},
    {"metaevaluation", "longanswer", "training"},
    {"benchmark"},
    {"diagnosis", "gate", "harness"},
    {"report"},
    {"studio", "serve"},
    {"cli"},
]


def place(module: str) -> int:
    """The layer of a module such as `mores.engine.store`; `mores` itself has only the version at run time."""
    part = module.partition(".")[2].partition(".")[0]
    return next((n for n, layer in enumerate(LAYERS) if part in layer), -1)


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    """Every file of the package, parsed, by its path."""
    return {path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text()) for path in sorted(SOURCE.rglob("*.py"))}


def imports(tree: ast.Module) -> Iterator[str]:
    """The modules that a file imports. What a notebook shows of a record is drawn by a later layer."""
    statements: list[ast.AST] = [*tree.body]
    for node in statements:  # which grows; no expression imports anything
        if isinstance(node, ast.FunctionDef) and node.name == "_repr_html_":
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        parts = (getattr(node, name, ()) for name in ("body", "orelse", "finalbody", "handlers", "cases"))
        statements += [inner for part in parts if isinstance(part, list) for inner in part]


def test_imports_point_to_earlier_layers(trees: dict[str, ast.Module]) -> None:
    faults = []
    for path, tree in trees.items():
        package = path.partition("/")[0].removesuffix(".py")
        if package in ("__init__", "__main__", "aio"):
            continue
        layer = place(f"mores.{package}")
        assert layer >= 0, f"{package} is in no layer: add it to LAYERS"
        faults += [
            f"{path} of layer {package} imports {module}"
            for module in imports(tree)
            if module.startswith("mores.") and module.split(".")[1] != package and place(module) >= layer
        ]
    assert not faults, "\n".join(faults)


COMMAND_LINES = {
    "training/card.py": "the card of a model shows how it is used",
    "models/pull.py": "the options of pip",
    "harness/export.py": "the README of an exported task shows how it is run",
    "studio/export.py": "the card of an exported benchmark shows how it is run",
    "studio/campaigns/culturalteaming/export.py": "the card of an exported benchmark shows how it is run",
}
"""Files below the command line whose texts name options, and why."""


def test_messages_name_settings_and_leave_their_options_to_the_command_line(trees: dict[str, ast.Module]) -> None:
    faults = []
    for path, tree in trees.items():
        if path.startswith("cli/") or path in COMMAND_LINES:
            continue
        nodes = [*ast.walk(tree)]
        documentation = {node.value for node in nodes if isinstance(node, ast.Expr)}
        faults += [
            f"{path}:{node.lineno}: say setting=NAME, and the command line adds its option"
            for node in nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in documentation
            if re.search(r"(?<!\S)--[a-z]", node.value)
        ]
    assert not faults, "\n".join(faults)


def test_the_docs_name_every_layer_in_order() -> None:
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", DEVELOPMENT, re.MULTILINE)
    assert [set(re.findall(r"\w+", row)) for row in rows] == LAYERS


@pytest.mark.parametrize(("path", "name"), sorted(set(re.findall(r"`([\w/]+\.py):([\w.]+)`", DEVELOPMENT))))
def test_the_tour_names_what_exists(path: str, name: str) -> None:
    body = ast.parse((SOURCE / path).read_text()).body
    for part in name.split("."):
        body = next(getattr(node, "body", []) for node in body if part in defined(node))


def defined(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return {node.name}
    return {name.id for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}
