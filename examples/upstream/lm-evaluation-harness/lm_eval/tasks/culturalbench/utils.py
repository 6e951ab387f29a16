"""CulturalBench-Hard: a question is correct if all of its statements are judged correctly."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

STATEMENTS = 4
"""Statements of a question."""
_THOUGHTS = re.compile(r"<think>.*?(?:</think>|\Z)|\A.*</think>", re.DOTALL | re.IGNORECASE)
_TRUTH = re.compile(r"\b(true|false)\b", re.IGNORECASE)
_DENIED = re.compile(r"(?:\bnot|n['’]t|\bnever|\bneither)\s+(?:\w+\s+){0,2}(?:true|false)\b", re.IGNORECASE)


def read_answer(text: str) -> bool | None:
    """Return what an answer says; None where it says neither, both, or "not true"."""
    answer = _THOUGHTS.sub("", text)
    words = {word.lower() for word in _TRUTH.findall(answer)}
    return words == {"true"} if len(words) == 1 and not _DENIED.search(answer) else None


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, Any]:
    """Return whether a statement is judged correctly, with the question that it is part of."""
    read = read_answer(results[0])
    correct = read is not None and read == (str(doc["answer"]).strip().lower() in ("true", "1"))
    return {
        "acc_question": (doc["question_idx"], correct),
        "acc_statement": float(correct),
        "unparsed": float(read is None),
    }


def acc_question(items: list[tuple[Any, bool]]) -> float:
    """Return the share of questions with all statements correct; one that `--limit` cuts is left out."""
    questions: dict[Any, list[bool]] = defaultdict(list)
    for question, correct in items:
        questions[question].append(correct)
    whole = [all(answers) for answers in questions.values() if len(answers) == STATEMENTS]
    return sum(whole) / len(whole) if whole else float("nan")
