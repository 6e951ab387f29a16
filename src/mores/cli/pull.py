"""`mores pull`: get the embedded model, or another GGUF file."""

from __future__ import annotations

import json

import click

from mores.cli.command import command
from mores.formatting import megabytes
from mores.models import pull as models
from mores.report.settings import JsonSettings
from mores.settings import Settings, setting


class PullSettings(Settings):
    """A GGUF file to get."""

    name: str = setting(
        default="", kw_only=False, metavar="[NAME]", help="The default model if empty, a path, or OWNER/REPO/FILE.gguf."
    )
    list: bool = setting(default=False, help="Show what is there, get nothing.")


@command(PullSettings, JsonSettings)
def pull(settings: PullSettings, output: JsonSettings) -> None:
    """Get a GGUF file for the embedded engine, check it, and keep it in the cache folder.

    NAME is empty for the default model, a path, or OWNER/REPO/FILE.gguf on the Hugging Face Hub. Where llama.cpp has
    no fast products of bytes (its wheels for Linux on ARM), the default model and the metric's adapter are also kept
    merged, in 457 MB.
    """
    from mores.models.embedded import TUNED, EmbeddedModel

    name = settings.name
    if not settings.list:
        if not name and not models.default_path().exists():
            click.echo(models.announcement(), err=True)
        models.pull(name)
        if not name and (merged := EmbeddedModel("", str(TUNED)).merged):
            size = megabytes(merged.stat().st_size)
            click.echo(f"merged with the metric's adapter, which is faster here: {merged} ({size})", err=True)
    files = models.list_pulled()
    if output.json:
        click.echo(json.dumps(files, indent=2))
        return
    for file in files:
        default = " (the default)" if file["sha256"] == models.DEFAULT.sha256 else ""
        click.echo(f"{file['name']}{default}\n  {file['path']}\n  {file['bytes']:,} bytes, sha256 {file['sha256']}")
    if not files:
        click.echo("nothing pulled yet; `mores pull` gets the default model")
