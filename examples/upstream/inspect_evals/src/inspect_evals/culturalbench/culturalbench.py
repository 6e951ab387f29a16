"""CulturalBench: A Robust, Diverse and Challenging Benchmark for Measuring LMs' Cultural Knowledge

Yu Ying Chiu, Liwei Jiang, Bill Yuchen Lin, et al.
https://arxiv.org/abs/2410.02677

inspect eval inspect_evals/culturalbench_easy
inspect eval inspect_evals/culturalbench_hard
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import Dataset, Sample, hf_dataset
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    accuracy,
    choice,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState, generate, multiple_choice

DATASET_PATH = "kellycyy/CulturalBench"
DATASET_REVISION = "996d62a55f6a49c13596f0a31b772812a1aacd67"
EVAL_VERSION = "1-A"
STATEMENTS = 4
"""Statements of a question in the Hard form."""
HARD_PROMPT = (
    "Is this answer true or false for this question? Answer True or False only. Question: {question} Answer: {option}"
)
_THOUGHTS = re.compile(r"<think>.*?(?:</think>|\Z)|\A.*</think>", re.DOTALL | re.IGNORECASE)
_TRUTH = re.compile(r"\b(true|false)\b", re.IGNORECASE)
_DENIED = re.compile(r"(?:\bnot|n['’]t|\bnever|\bneither)\s+(?:\w+\s+){0,2}(?:true|false)\b", re.IGNORECASE)


@task
def culturalbench_easy() -> Task:
    """One option of four."""
    dataset = hf_dataset(
        path=DATASET_PATH,
        name="CulturalBench-Easy",
        split="test",
        revision=DATASET_REVISION,
        sample_fields=easy_sample,
    )
    return Task(
        dataset=dataset,
        solver=multiple_choice(),
        scorer=choice(),
        config=GenerateConfig(temperature=0.0),
        version=EVAL_VERSION,
    )


@task
def culturalbench_hard() -> Task:
    """Four statements for each question, each True or False; a question is correct if all of them are."""
    dataset = hf_dataset(
        path=DATASET_PATH,
        name="CulturalBench-Hard",
        split="test",
        revision=DATASET_REVISION,
        sample_fields=hard_sample,
    )
    return hard_task(dataset)


def hard_task(dataset: Dataset) -> Task:
    """Return the Hard task on a dataset."""
    return Task(
        dataset=dataset,
        solver=generate(),
        scorer=true_or_false(),
        config=GenerateConfig(temperature=0.0, max_tokens=16),
        version=EVAL_VERSION,
    )


def easy_sample(record: dict[str, Any]) -> Sample:
    """Return a question with its four options."""
    return Sample(
        id=str(record["question_idx"]),
        input=record["prompt_question"].strip(),
        choices=[record[f"prompt_option_{letter}"] for letter in "abcd"],
        target=record["answer"],
        metadata={"country": record["country"]},
    )


def hard_sample(record: dict[str, Any]) -> Sample:
    """Return one statement of a question."""
    question, option = record["prompt_question"].strip(), record["prompt_option"].strip()
    return Sample(
        id=str(record["data_idx"]),
        input=HARD_PROMPT.format(question=question, option=option),
        target=str(str(record["answer"]).strip().lower() in ("true", "1")),
        metadata={"question_idx": str(record["question_idx"]), "country": record["country"]},
    )


def read_answer(text: str) -> str | None:
    """Return `True` or `False`; None where an answer says neither, both, or "not true"."""
    answer = _THOUGHTS.sub("", text)
    words = {word.capitalize() for word in _TRUTH.findall(answer)}
    return words.pop() if len(words) == 1 and not _DENIED.search(answer) else None


@metric(name="question_accuracy", scores="unreduced")
def question_accuracy() -> Metric:
    """Return the share of questions of which all statements are judged correctly, over all epochs."""

    def compute(scores: list[SampleScore]) -> float:
        questions: dict[tuple[str, int], list[bool]] = defaultdict(list)
        for score in scores:
            about = score.score.metadata or {}
            questions[about["question_idx"], about["epoch"]].append(score.score.value == CORRECT)
        whole = [all(answers) for answers in questions.values() if len(answers) == STATEMENTS]
        return sum(whole) / len(whole) if whole else float("nan")

    return compute


@scorer(metrics=[question_accuracy(), accuracy(), stderr()])
def true_or_false() -> Scorer:
    """Return whether a statement is judged correctly; an answer that is neither True nor False is wrong."""

    async def score(state: TaskState, target: Target) -> Score:
        read = read_answer(state.output.completion)
        return Score(
            value=CORRECT if read == target.text else INCORRECT,
            answer=read,
            explanation=state.output.completion,
            metadata={"question_idx": state.metadata["question_idx"], "epoch": state.epoch},
        )

    return score
