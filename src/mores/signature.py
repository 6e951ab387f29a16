"""Makes the signature that every number carries (`mores.types.Signature`)."""

from __future__ import annotations

from collections.abc import Mapping

from mores import __version__
from mores.types import Signature


def sign(fields: Mapping[str, object]) -> Signature:
    """Return a signature with these fields and, last, the version of Mores."""
    clean = {name: str(value).replace("|", "/") for name, value in fields.items() if name != "mores"}
    return Signature(clean | {"mores": __version__})
