"""`mores export`: what `mores train` tuned, as a GGUF file for the embedded engine."""

from __future__ import annotations

import click

from mores.cli.command import command
from mores.engine.loop import run
from mores.formatting import megabytes, percent
from mores.settings import apply
from mores.training.api import export as write_tuned
from mores.training.settings import ExportSettings


@command(ExportSettings)
def export(settings: ExportSettings) -> None:
    """Write TUNED, a folder that `mores train` made, as a GGUF file.

    A LoRA goes with its base, `mores score --adapter FILE.gguf`; a merged model stands alone, `mores score --model
    embedded:FILE.gguf`. The file says with which prompt it was tuned, so that `mores score` asks with it.
    """
    kept = run(apply(write_tuned, settings))
    if kept is not None:
        click.echo(f"the LoRA of rank {settings.rank} keeps {percent(kept)} of what the tuning changed", err=True)
    click.echo(f"wrote {settings.out} ({megabytes(settings.out.stat().st_size, 1)})", err=True)
