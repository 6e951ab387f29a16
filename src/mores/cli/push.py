"""`--push-to-hub`: the same options wherever a command writes a dataset or a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from mores.cli.options import several
from mores.formatting import count
from mores.hub import Upload, check_access, check_name, push

push_options = several([
    click.option("--push-to-hub", metavar="OWNER/NAME",
                 help="Then upload the result to this private repository of the Hugging Face Hub."),
    click.option("--push-dry-run", is_flag=True,
                 help="With --push-to-hub: list what would be uploaded, and send nothing."),
])  # fmt: skip
"""What `take_push` reads."""


@dataclass(frozen=True)
class Push:
    """What the options ask for."""

    repository: str | None
    dry_run: bool

    def __call__(self, make: Callable[[str], Upload], send: Callable[[Upload], str] = push) -> None:
        """List what is uploaded, and upload it."""
        if self.repository is None:
            return
        upload = make(self.repository)
        sizes = upload.sizes()
        what = f"{count(len(sizes), 'file')}, {sum(sizes.values()):,} B"
        click.echo(f"{'would upload' if self.dry_run else 'uploading'} {what}, to {upload.address} (private)", err=True)
        for name, size in sizes.items():
            click.echo(f"{size:>15,} B  {name}", err=True)
        if not self.dry_run:
            click.echo(f"uploaded {send(upload)}", err=True)


def take_push(given: dict[str, Any]) -> Push:
    """Return the options, checked before any work: whether the name can be one, and the Hub knows the user."""
    asked = Push(given.pop("push_to_hub"), given.pop("push_dry_run"))
    if asked.dry_run and not asked.repository:
        raise click.UsageError("--push-dry-run needs --push-to-hub OWNER/NAME")
    if asked.repository:
        check_name(asked.repository)
        if not asked.dry_run:
            check_access()
    return asked
