"""`mores export`: what `mores train` tuned, as a GGUF file for the embedded engine."""

from __future__ import annotations

from pathlib import Path

import click

from mores.cli.options import FOLDER, NEW_FILE
from mores.formatting import megabytes, percent
from mores.training.api import export_tuned

TYPES = ("q8_0", "q5_0", "q4_1", "q4_0", "f16", "f32")


@click.command()
@click.argument("tuned", type=FOLDER)
@click.option("--out", required=True, type=NEW_FILE, help="The GGUF file to write.")
@click.option("--base", default="embedded", show_default=True, metavar="MODEL",
              help="GGUF file of the model that was tuned: embedded, a file, or a name that was pulled.")  # fmt: skip
@click.option("--merged", is_flag=True, help="Write a whole model instead of a LoRA.")
@click.option("--type", "kind", default="q8_0", show_default=True, type=click.Choice(TYPES), help="Type of numbers.")
@click.option("--rank", default=64, show_default=True, type=click.IntRange(1),
              help="Rank of the LoRA of a model all of whose weights were tuned.")  # fmt: skip
def export(tuned: Path, out: Path, base: str, merged: bool, kind: str, rank: int) -> None:
    """Write TUNED, a folder that `mores train` made, as a GGUF file.

    A LoRA goes with its base, `mores score --adapter FILE.gguf`; a merged model stands alone, `mores score --model
    embedded:FILE.gguf`. The file says with which prompt it was tuned, so that `mores score` asks with it.
    """
    kept = export_tuned(tuned, base, out, merged=merged, kind=kind, rank=rank)
    if kept is not None:
        click.echo(f"the LoRA of rank {rank} keeps {percent(kept)} of what the tuning changed", err=True)
    click.echo(f"wrote {out} ({megabytes(out.stat().st_size, 1)})", err=True)
