"""`mores pull`: get the embedded model, or another GGUF file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from mores.formatting import megabytes
from mores.models import pull as models


@click.command()
@click.argument("name", default="")
@click.option("--list", "only_list", is_flag=True, help="Show what is there, get nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def pull(name: str, only_list: bool, as_json: bool) -> None:
    """Get a GGUF file for the embedded engine, check it, and keep it in the cache folder.

    NAME is empty for the default model, a path, or OWNER/REPO/FILE.gguf on the Hugging Face Hub. Where llama.cpp has
    no fast products of bytes (its wheels for Linux on ARM), the default model and the metric's adapter are also kept
    merged, in 457 MB.
    """
    from mores.models.embedded import TUNED, EmbeddedModel

    if not only_list:
        if not name and not models.default_path().exists():
            click.echo(models.announcement(), err=True)
        models.pull(name)
        if not name and (merged := EmbeddedModel("", str(TUNED)).merged):
            size = megabytes(merged.stat().st_size)
            click.echo(f"merged with the metric's adapter, which is faster here: {merged} ({size})", err=True)
    files = [_describe(path) for path in models.pulled()]
    if as_json:
        click.echo(json.dumps(files, indent=2))
    for file in files if not as_json else []:
        default = " (the default)" if file["sha256"] == models.DEFAULT.sha256 else ""
        click.echo(f"{file['name']}{default}\n  {file['path']}\n  {file['bytes']:,} bytes, sha256 {file['sha256']}")
    if not files and not as_json:
        click.echo("nothing pulled yet; `mores pull` gets the default model")


def _describe(path: Path) -> dict[str, Any]:
    return {"name": path.stem, "path": str(path), "bytes": path.stat().st_size, "sha256": models.sha256(path)}
