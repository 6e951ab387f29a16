"""One word for one thing: class names, docstrings and messages over the whole of the source."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

STILL_TWICE = set(
    re.findall(
        r"\w+",
        """
    Answer Comparison Evaluation Form Judged Judging Kind Session Stage Status Verdict
        """,
    )
)
"""Public class names that two modules define; the test fails when one of them is no longer one, so take it out."""

NO_VERBS = re.compile(
    "a|about|all|an|another|any|as|at|both|by|each|every|everybody|everything|first|for|from|how|if|in|it|its|last|least"
    "|longest|many|maximum|most|no|nobody|none|not|nothing|of|on|one|only|other|our|over|several|so|some|someone|such"
    "|that|the|there|this|those|three|two|up|what|where|whether|which|who|whose|why|with|within|without|\\w*error|.*[^a-z].*"
)
"""Words that no imperative sentence begins with."""
VERBS_IN_S = frozenset({"access", "address", "compress", "discuss", "express", "focus", "guess", "pass", "process"})
STILL_NOUNS = Counter(
    cli=14,
    diagnosis=17,
    factory=46,
    io=13,
    longanswer=33,
    metaevaluation=28,
    rating=12,
    studio=86,
    training=43,
)
"""Docstrings that begin with no verb, by package; the test fails when a package has fewer, so lower its number."""

STILTED = re.compile(
    r"(?<!there )\b(?:is|are|was) no (?!longer\b|more\b|other\b)\w|\bis there twice\b|\bto go on\b|\bleague\b|\bfate\b"
    r"|\bheat\b|\b(?-i:mend(?:ed|s)?)\b|\b(?:is|are) had\b|\bhow sure\b",
    re.IGNORECASE,
)
"""Wording that a reader understands only at the second reading."""
STILL_STILTED = Counter(cli=4, diagnosis=3, factory=9, longanswer=2, metaevaluation=3, rating=1, studio=6, training=1)
"""Such messages, by package; the test fails when a package has fewer, so lower its number."""


def package(path: str) -> str:
    return path.partition("/")[0]


def test_no_class_name_is_defined_twice(trees: dict[str, ast.Module]) -> None:
    names = Counter(
        node.name
        for tree in trees.values()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    twice = {name for name, count in names.items() if count > 1}
    assert not twice - STILL_TWICE, f"defined twice: {', '.join(sorted(twice - STILL_TWICE))}"
    assert not STILL_TWICE - twice, f"take these out of STILL_TWICE: {', '.join(sorted(STILL_TWICE - twice))}"


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Functions and methods, without properties and commands, whose docstrings are help texts."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = {ast.unparse(decorator).partition("(")[0].split(".")[-1] for decorator in node.decorator_list}
            if not decorators & {"property", "cached_property", "setter", "command", "group"}:
                yield node


def begins_with_a_verb(docstring: str) -> bool:
    word = docstring.split()[0].rstrip(",.:;").lower()
    return not NO_VERBS.fullmatch(word) and (not word.endswith("s") or word in VERBS_IN_S)


def test_docstrings_of_functions_begin_with_a_verb(trees: dict[str, ast.Module]) -> None:
    faults = {
        f"{path}:{node.lineno} {node.name}": package(path)
        for path, tree in trees.items()
        for node in functions(tree)
        if (docstring := ast.get_docstring(node)) and not begins_with_a_verb(docstring)
    }
    compare(faults, STILL_NOUNS, "STILL_NOUNS", "say what the function does, as in 'Return the score'")


def messages(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The texts of a file, with their lines: strings that are not documentation."""
    nodes = [*ast.walk(tree)]
    documentation = {node.value for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in documentation:
            yield node.lineno, node.value


def test_messages_are_in_plain_words(trees: dict[str, ast.Module]) -> None:
    faults = {
        f"{path}:{line} {match[0]!r}": package(path)
        for path, tree in trees.items()
        for line, text in messages(tree)
        if not text.isidentifier() and (match := STILTED.search(text))
    }
    compare(faults, STILL_STILTED, "STILL_STILTED", "say it as a native speaker would")


def compare(faults: dict[str, str], known: Counter[str], name: str, advice: str) -> None:
    """Fail for every package that has more faults than known, and for every one that has fewer."""
    counts = Counter(faults.values())
    more = [fault for fault, place in faults.items() if counts[place] > known[place]]
    assert not more, f"{advice}:\n" + "\n".join(more)
    fewer = {place: counts[place] for place in known if counts[place] < known[place]}
    assert not fewer, f"lower these numbers in {name}: {fewer}"
