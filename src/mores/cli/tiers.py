"""`mores tiers`: how hard the questions of a benchmark are, from runs of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from mores.bench.folder import find_bench_runs
from mores.bench.labels import QuestionLabels
from mores.bench.tiers import RULES, sort_questions
from mores.errors import ConfigError
from mores.io import JsonlWriter


@click.command("tiers")
@click.argument(
    "folders", nargs=-1, required=True, metavar="RUN...", type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option("--rule", type=click.Choice(list(RULES)), help="How tiers are made  [default: the benchmark's].")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), default=Path("tiers.jsonl"), show_default=True,
              help="File for the tiers, which `mores bench --labels` reads.")  # fmt: skip
def tiers(folders: tuple[Path, ...], rule: str | None, out: Path) -> None:
    """Sort the questions of one benchmark into Easy, Medium and Hard by how many answers in RUN... are correct.

    A RUN is what `mores bench --out` wrote for a model, or a folder with several. Use runs of other models than the one
    that you want to measure: a model's own mistakes make its hard questions.
    """  # fmt: skip
    runs = list({run.path.resolve(): run for folder in folders for run in find_bench_runs(folder)}.values())
    results = [run.result for run in runs]
    names = sorted({result.benchmark for result in results})
    if len(names) > 1:
        raise ConfigError(f"these are runs of {', '.join(names)}; give runs of one benchmark")
    chosen = RULES[rule] if rule else runs[0].benchmark().tier
    found = sort_questions((run.verdicts() for run in runs), chosen)
    with JsonlWriter(out) as writer:
        for unit, tier in found.items():
            writer.write(QuestionLabels(id=unit, labels={"tier": tier}))
    counts = Counter(found.values())
    settings = sum(result.samples for result in results)
    questions = max(result.questions for result in results)
    shown = ", ".join(f"{counts[tier]:,} {tier}" for tier in ("Easy", "Medium", "Hard"))
    click.echo(f"{shown}; {questions - len(found):,} without a tier; from {settings} answers to each question")
    click.echo(f"wrote {out}", err=True)
