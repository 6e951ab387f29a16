"""`mores tiers`: how hard the questions of a benchmark are, from runs of it."""

from __future__ import annotations

from pathlib import Path

import click

from mores.benchmark.tiers import RULES, label_tiers
from mores.cli.options import FOLDER, NEW_FILE


@click.command("tiers")
@click.argument("folders", nargs=-1, required=True, metavar="RUN...", type=FOLDER)
@click.option("--rule", type=click.Choice(list(RULES)), help="How tiers are made  [default: the benchmark's].")
@click.option("--out", type=NEW_FILE, default=Path("tiers.jsonl"), show_default=True,
              help="File for the tiers, which `mores bench --labels` reads.")  # fmt: skip
def tiers(folders: tuple[Path, ...], rule: str | None, out: Path) -> None:
    """Sort the questions of one benchmark into Easy, Medium and Hard by how many answers in RUN... are correct.

    A RUN is what `mores bench --out` wrote for a model, or a folder with several. Use runs of other models than the one
    that you want to measure: a model's own mistakes make its hard questions.
    """  # fmt: skip
    sorted_questions = label_tiers(folders, out, rule)
    shown = ", ".join(f"{number:,} {tier}" for tier, number in sorted_questions.counts.items())
    answers = f"from {sorted_questions.answers} answers to each question"
    click.echo(f"{shown}; {sorted_questions.without:,} without a tier; {answers}")
    click.echo(f"wrote {out}", err=True)
