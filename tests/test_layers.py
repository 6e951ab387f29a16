"""Dependencies point one way, as the design says; each layer may import those before it and itself."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

import mores

SOURCE = Path(mores.__file__).parent
DEVELOPMENT = (Path(__file__).parents[1] / "docs" / "development.md").read_text("utf-8")
LAYERS = [
    {"views", "lazy"},
    {"types", "errors", "cache", "calling", "renamed", "signals"},
    {"canary", "culture", "extras", "reading", "settings", "signature"},
    {"io", "stats", "language", "formatting", "registry", "hub"},
    {"prompts"},
    {"models"},
    {"engine"},
    {"run"},
    {"search"},
    {"metric"},
    {"factory"},
    {"rating"},
    {"metaevaluation", "longanswer", "training"},
    {"benchmark"},
    {"diagnosis", "gate", "harness", "planning"},
    {"report"},
    {"studio", "serve"},
    {"view"},
    {"cli"},
]


LATER = {
    "run/folder.py": "the table of the kinds of run",
    "renamed.py": "the table of the names that packages had before",
    "calling.py": "the table of the public functions, and the loop that runs them",
    "settings/records.py": "the table of the records of settings",
}
"""Files that name modules of later layers, all of them when a function runs, and why."""
CIRCLES = {
    frozenset({"mores.models", "mores.models.cluster", "mores.models.ray", "mores.models.worker"}): (
        "Ray's workers open any other kind of model"
    ),
}
"""Modules that import each other, and why."""
LAZY = re.compile(r"mores(?:\.\w+)+(?=:\w+$|$)")


def place(module: str) -> int:
    """The layer of a module such as `mores.engine.store`; `mores` itself has only the version at run time."""
    part = module.partition(".")[2].partition(".")[0]
    return next((n for n, layer in enumerate(LAYERS) if part in layer), -1)


def name_of(path: str) -> str:
    """The module of a file: `mores.engine` for `engine/__init__.py`."""
    return f"mores.{path.removesuffix('.py').replace('/', '.')}".removesuffix(".__init__")


@pytest.fixture(scope="module")
def uses(nodes: dict[str, list[ast.AST]]) -> dict[str, set[str]]:
    """The modules of ours that each file imports, by its path; those that everything imports are left out."""
    modules = {name_of(path) for path in nodes}
    found = {path: {module_of(name, modules) for name in imports(inside)} for path, inside in nodes.items()}
    return {path: names - {"", "mores", name_of(path)} for path, names in found.items()}


def imports(nodes: list[ast.AST]) -> Iterator[str]:
    """Every name that a file imports: at once, in a function, for types alone, or by a string."""
    for node in nodes:
        match node:
            case ast.ImportFrom(module=str(module), names=names):
                yield from (f"{module}.{alias.name}" for alias in names)
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.Dict(values=values):
                yield from strings(values)
            case ast.Call(func=ast.Name("import_module") | ast.Attribute(attr="import_module"), args=args):
                yield from strings(args)


def strings(nodes: Iterable[ast.expr]) -> Iterator[str]:
    """The modules that strings name: `mores.x.y`, `mores.x.y:Name`, or all of `mores.x` for f"mores.x.{name}"."""
    for node in nodes:
        literal = node.values[0] if isinstance(node, ast.JoinedStr) else node
        text = literal.value if isinstance(literal, ast.Constant) else None
        if isinstance(text, str) and (match := LAZY.match(text.rstrip("."))):
            yield match[0]


def module_of(name: str, modules: set[str]) -> str:
    """The module of an imported name: itself, or what it is imported from."""
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name


def test_imports_point_to_earlier_layers(uses: dict[str, set[str]]) -> None:
    later: dict[str, list[str]] = {}
    for path, names in uses.items():
        package = path.partition("/")[0].removesuffix(".py")
        if package in ("__init__", "__main__", "aio", "functions"):
            continue
        layer = place(f"mores.{package}")
        assert layer >= 0, f"{package} is in no layer: add it to LAYERS"
        if faults := [name for name in names if name.split(".")[1] != package and place(name) >= layer]:
            later[path] = faults
    faults = [f"{path} imports {', '.join(names)}" for path, names in later.items() if path not in LATER]
    assert not faults, "\n".join(faults)
    assert LATER.keys() == later.keys(), "take these out of LATER"


def test_no_modules_import_each_other(uses: dict[str, set[str]]) -> None:
    edges = {
        name_of(path): names for path, names in uses.items() if path not in ("__init__.py", "aio.py", "functions.py")
    }
    for path in LATER:
        own = name_of(path)
        edges[own] = {name for name in edges[own] if place(name) <= place(own)}
    reached = {name: reach(name, edges) for name in edges}
    circles = {frozenset(b for b in reached[a] if a in reached.get(b, ())) for a in reached if a in reached[a]}
    faults = [" and ".join(sorted(circle)) for circle in circles - CIRCLES.keys()]
    assert not faults, "modules import each other: " + "; ".join(faults)
    assert not CIRCLES.keys() - circles, "take these out of CIRCLES"


def reach(start: str, edges: Mapping[str, set[str]]) -> set[str]:
    """All modules that a module imports, and those that these import."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = edges.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


COMMAND_LINES = {
    "benchmark/contract.py": "the facts of a benchmark say how its data are named in a command",
    "gate.py": "gates are settings, with their options",
    "settings/files.py": "named configurations are settings, with their options",
    "training/study.py": "the card of a model shows how it is used",
    "models/pull.py": "the options of pip",
    "harness/export.py": "the README of an exported task shows how it is run",
    "view/copying.py": "a page shows the command that does the same",
    "studio/export.py": "the card of an exported benchmark shows how it is run",
    "studio/campaigns/culturalteaming/results.py": "the card of an exported benchmark shows how it is run",
    "studio/campaigns/questions/results.py": "the card of an exported benchmark shows how it is run",
}
"""Files below the command line whose texts name options, and why."""


def test_messages_name_settings_and_leave_their_options_to_the_command_line(nodes: dict[str, list[ast.AST]]) -> None:
    faults = []
    for path, inside in nodes.items():
        if path.startswith("cli/") or path.endswith(("settings.py", "limits.py")) or path in COMMAND_LINES:
            continue
        documentation = {node.value for node in inside if isinstance(node, ast.Expr)}
        faults += [
            f"{path}:{node.lineno}: say setting=NAME, and the command line adds its option"
            for node in inside
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


def test_graders_read_answers_through_the_typed_answer() -> None:
    """Only `Answer.read` and `Completion.complete` say what of a model's output may be graded."""
    grader = re.compile(r"\banswer\.completion\b|\bcompletion\.(?:text|logprobs|stop)\b")
    found = [
        f"{path.relative_to(SOURCE)}:{number}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path.relative_to(SOURCE).parts[0] not in ("models", "engine", "harness")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if grader.search(line)
    ]
    assert found == []


def test_an_installation_without_extras_has_all_functions_but_those_of_studies() -> None:
    """`bench` once imported SciPy, and no test noticed: development installs every extra."""
    code = """
import json, sys
from mores.calling import FUNCTIONS, load
from mores.extras import EXTRAS

sys.modules.update(dict.fromkeys((module for extra in EXTRAS.values() for module in extra), None))
missing = {}
for name in FUNCTIONS:
    try:
        load(name)
    except ModuleNotFoundError as exc:
        missing[name] = exc.name.partition(".")[0]
print(json.dumps(missing))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(json.loads(done.stdout)) == {"rate", "plan"}
