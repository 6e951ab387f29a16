"""One word for one thing: class names, docstrings and messages over the whole of the source."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

NO_VERBS = re.compile(
    "a|about|all|an|another|any|as|at|both|by|each|every|everybody|everything|first|for|from|how|if|in|it|its|last|least"
    "|longest|many|maximum|most|no|nobody|none|not|nothing|of|on|one|only|other|our|over|several|so|some|someone|such"
    "|that|the|there|this|those|three|two|up|what|where|whether|which|who|whose|why|with|within|without|\\w*error|.*[^a-z].*"
)
"""Words that no imperative sentence begins with."""
QUESTION = re.compile(r"(?:what|how|whether|which|who|whose|where|why|most|longest)\b", re.IGNORECASE)
"""Words with which a description only asks for what it should name."""
VERBS_IN_S = frozenset({"access", "address", "compress", "discuss", "express", "focus", "guess", "pass", "process"})
STILTED = re.compile(
    r"(?<!there )\b(?:is|are|was) no (?!longer\b|more\b|other\b)\w|\bis there twice\b|\bto go on\b|\bleague\b|\bfate\b"
    r"|\bheat\b|\b(?-i:mend(?:ed|s)?)\b|\b(?:is|are) had\b|\bhow sure\b",
    re.IGNORECASE,
)
"""Wording that a reader understands only at the second reading."""


def test_no_class_name_is_defined_twice(trees: dict[str, ast.Module]) -> None:
    names = Counter(
        node.name
        for tree in trees.values()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    twice = sorted(name for name, count in names.items() if count > 1)
    assert not twice, f"defined twice: {', '.join(twice)}"


def functions(nodes: list[ast.AST]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Functions and methods, without properties and commands, whose docstrings are help texts."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = {ast.unparse(decorator).partition("(")[0].split(".")[-1] for decorator in node.decorator_list}
            if not decorators & {"property", "cached_property", "setter", "command", "group"}:
                yield node


def begins_with_a_verb(docstring: str) -> bool:
    word = docstring.split()[0].rstrip(",.:;").lower()
    return not NO_VERBS.fullmatch(word) and (not word.endswith("s") or word in VERBS_IN_S)


def test_docstrings_of_functions_begin_with_a_verb(nodes: dict[str, list[ast.AST]]) -> None:
    faults = [
        f"{path}:{node.lineno} {node.name}"
        for path, inside in nodes.items()
        for node in functions(inside)
        if (docstring := ast.get_docstring(node)) and not begins_with_a_verb(docstring)
    ]
    assert not faults, "say what the function does, as in 'Return the score':\n" + "\n".join(faults)


def test_modules_classes_and_properties_are_named_by_noun_phrases(nodes: dict[str, list[ast.AST]]) -> None:
    faults = [
        f"{path}:{getattr(node, 'lineno', 1)} {docstring.splitlines()[0]}"
        for path, inside in nodes.items()
        for node in inside
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and (docstring := ast.get_docstring(node))
        and QUESTION.match(docstring)
    ]
    assert not faults, "say what it is, as in 'The grade of an answer':\n" + "\n".join(faults)


def messages(nodes: list[ast.AST]) -> Iterator[tuple[int, str]]:
    """The texts of a file, with their lines: strings that are not documentation."""
    documentation = {node.value for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in documentation:
            yield node.lineno, node.value


def test_messages_are_in_plain_words(nodes: dict[str, list[ast.AST]]) -> None:
    faults = [
        f"{path}:{line} {match[0]!r}"
        for path, inside in nodes.items()
        for line, text in messages(inside)
        if not text.isidentifier() and (match := STILTED.search(text))
    ]
    assert not faults, "say it as a native speaker would:\n" + "\n".join(faults)
