"""The card of a tuned model: its use, its training data and its accuracy."""

from __future__ import annotations

from functools import partial

from mores.formatting import count, duration, number, to
from mores.training.folder import Trained
from mores.training.recipe import TuningRecipe, write_recipe
from mores.types import Result

USE = "mores score texts.jsonl --model hf:BASE --adapter THIS_FOLDER"
FULL_USE = "mores score texts.jsonl --model hf:THIS_FOLDER"


def card(trained: Trained, recipe: TuningRecipe) -> str:
    """Return the card as Markdown."""
    use = USE if recipe.method == "lora" else FULL_USE
    without = f"; without {trained.without}" if trained.without else ""
    taught = f", of which {trained.teacher} labelled {count(trained.taught)}" if trained.teacher else ""
    return "\n".join(
        [
            f"# A metric for cultural errors, tuned from {trained.base}",
            "",
            "It reads an instruction and a text and writes an error report: what is culturally wrong, where, how bad,"
            " and why.",
            "",
            f"    {use}",
            "",
            "## Trained on",
            "",
            f"{count(trained.samples)} samples{taught}{without}, {count(trained.tokens)} tokens in one epoch;"
            f" {count(trained.left_out)} were too long. {duration(trained.seconds)} on {trained.device}. The licences"
            " of the sources apply to the model: `mores sources` lists them.",
            "",
            "| source | samples |",
            "| --- | --- |",
            *(f"| {source} | {count(samples)} |" for source, samples in trained.sources.items()),
            "",
            "## How well it decides",
            "",
            "Scaled accuracy (0 is guessing, 1 is perfect) of whether a sample has an error, with 95% intervals. Judge"
            " it only beside the shortcut baselines of `mores meta` on the same split.",
            "",
            *(line for split, results in trained.decisions.items() for line in _table(split, results)),
            "## Recipe",
            "",
            "```toml",
            write_recipe(recipe).rstrip(),
            "```",
            "",
            f"Signature: `{trained.signature}`",
            "",
        ]
    )


def _table(split: str, results: dict[str, Result]) -> list[str]:
    lines = [f"| {split} | scaled accuracy | n |", "| --- | --- | --- |"]
    for source, result in results.items():
        cell = "–"
        if result.value is not None and result.low is not None and result.high is not None:
            cell = f"{number(result.value, 3)} ({to(result.low, result.high, partial(number, digits=3))})"
        lines.append(f"| {source} | {cell} | {count(result.n)} |")
    return [*lines, ""]
