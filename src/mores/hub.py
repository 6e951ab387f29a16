"""Upload to the Hugging Face Hub: what a run made, as one commit in a private repository.

    upload = run.upload("owner/name")    # of `mores build`, `mores collect` or `mores train`
    upload.sizes()                       # what would be sent
    push(upload)                         # the address

The token is that of `hf auth login`, or HF_TOKEN; the Hub's library sends it, and no message of ours has it. What
describes a run on this machine (`run.json`, logs) is not uploaded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mores.errors import ConfigError, InputError, MoresError
from mores.extras import require

CARD = "README.md"
"""The file that the Hub shows as the card."""
TAGS = ["mores", "culture"]
LICENCES = frozenset(
    f"cc-by{part}-4.0" for part in ("", "-sa", "-nc", "-nd", "-nc-sa", "-nc-nd")
) | {"apache-2.0", "mit", "cc0-1.0", "odc-by"}  # fmt: skip
"""Those that the Hub has a name for; the card says the rest."""
_NAME = re.compile(r"\w[\w.-]{0,95}/\w[\w.-]{0,95}", re.ASCII)


@dataclass(frozen=True)
class Upload:
    """Files for one repository of the Hub; their contents are bytes, or a path on this machine."""

    repository: str
    """`owner/name`."""
    kind: Literal["dataset", "model"]
    files: Mapping[str, Path | bytes]
    message: str
    """Of the commit."""

    def __post_init__(self) -> None:
        """Raise ConfigError where the name cannot be one of the Hub."""
        check_name(self.repository)

    @property
    def address(self) -> str:
        """The address on the Hub."""
        return f"https://huggingface.co/{'datasets/' if self.kind == 'dataset' else ''}{self.repository}"

    def sizes(self) -> dict[str, int]:
        """Return the bytes of each file."""
        return {
            name: len(data) if isinstance(data, bytes) else data.stat().st_size
            for name, data in sorted(self.files.items())
        }


def check_name(repository: str) -> None:
    """Raise ConfigError where it is not `owner/name`."""
    if not _NAME.fullmatch(repository):
        raise ConfigError(f"{repository!r} is not OWNER/NAME, such as me/proverbs; correct it", setting="push_to_hub")


def check_access() -> None:
    """Raise ConfigError where nothing could be uploaded; call it before hours of work."""
    with _client(
        "the Hub knows no user here", "log in with `hf auth login`, or set HF_TOKEN to a token that may write"
    ) as hub:
        hub.whoami()


def push(upload: Upload) -> str:
    """Upload the files; the address. A repository that is not there is made, and one that is public is refused."""
    name, kind = upload.repository, upload.kind
    with _client(f"{name} could not be uploaded to the Hub", "everything is on this machine: try again later") as hub:
        from huggingface_hub import CommitOperationAdd

        hub.create_repo(name, repo_type=kind, private=True, exist_ok=True)
        if not hub.repo_info(name, repo_type=kind).private:
            fix = "name another one, or make it private until you have looked at what was uploaded"
            raise ConfigError(f"{name} is public on the Hub; {fix}", setting="push_to_hub")
        operations = [CommitOperationAdd(path, data) for path, data in sorted(upload.files.items())]
        hub.create_commit(name, operations, commit_message=upload.message, repo_type=kind)
    return upload.address


def with_fields(card: str, fields: Mapping[str, Any]) -> bytes:
    """Return a card with the fields that the Hub reads, as YAML, of which JSON is a part."""
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in fields.items() if value]
    return f"---\n{''.join(lines)}---\n\n{card}".encode()


def licence_name(licences: Iterable[str]) -> str:
    """Return the Hub's name of a licence; `other` for several, and for those that it has no name for."""
    names = {licence.lower() for licence in licences}
    return names.pop() if len(names) == 1 and names <= LICENCES else "other"


@contextmanager
def _client(problem: str, fix: str) -> Iterator[Any]:
    """Yield the library's client; whatever it raises becomes one error without the token."""
    require("hub", "huggingface_hub")
    from huggingface_hub import HfApi, get_token

    try:
        yield HfApi(library_name="mores")
    except MoresError:
        raise
    except Exception as error:  # it raises a dozen kinds, all of which mean this
        reason = " ".join(str(error).split())
        if token := get_token():
            reason = reason.replace(token, "…")
        raise InputError(f"{problem} ({reason[:300]}); {fix}", setting="push_to_hub") from None
