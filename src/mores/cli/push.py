"""`--push-to-hub`: the same wherever a command writes a dataset or a model."""

from __future__ import annotations

from collections.abc import Callable

import click

from mores.formatting import count
from mores.hub import Upload, check_access, check_name
from mores.hub import push as push_upload
from mores.report.settings import PushSettings


def check_push(hub: PushSettings) -> None:
    """Check before any work that the name can be one, and that the Hub knows the user."""
    if hub.push_dry_run and not hub.push_to_hub:
        raise click.UsageError("--push-dry-run needs --push-to-hub OWNER/NAME")
    if hub.push_to_hub:
        check_name(hub.push_to_hub)
        if not hub.push_dry_run:
            check_access()


def push(hub: PushSettings, make: Callable[[str], Upload], send: Callable[[Upload], str] = push_upload) -> None:
    """List what is uploaded, and upload it, if that is asked for."""
    if hub.push_to_hub is None:
        return
    upload = make(hub.push_to_hub)
    sizes = upload.sizes()
    what = f"{count(len(sizes), 'file')}, {sum(sizes.values()):,} B"
    doing = "would upload" if hub.push_dry_run else "uploading"
    click.echo(f"{doing} {what}, to {upload.address} (private)", err=True)
    for name, size in sizes.items():
        click.echo(f"{size:>15,} B  {name}", err=True)
    if not hub.push_dry_run:
        click.echo(f"uploaded {send(upload)}", err=True)
