"""The signature that every number carries (after sacreBLEU): what must be the same for two to be comparable."""

from __future__ import annotations

from collections.abc import Mapping

from mores import __version__


def with_version(fields: Mapping[str, str]) -> dict[str, str]:
    """All fields of a signature: those given, and the version of Mores."""
    return {**fields, "mores": __version__}


def sign(fields: Mapping[str, object]) -> str:
    """`name:value|name:value|…|mores:VERSION`."""
    clean = {name: str(value).replace("|", "/") for name, value in fields.items()}
    return "|".join(f"{name}:{value}" for name, value in with_version(clean).items())


def sign_data(signature: str, revision: str) -> str:
    """A signature with the data that its number is of."""
    fields = read_signature(signature) or {"mores": __version__}
    return "|".join(f"{name}:{value}" for name, value in {**fields, "data": revision}.items())


def read_signature(signature: str) -> dict[str, str]:
    """The fields of a signature."""
    return dict(part.partition(":")[::2] for part in signature.split("|") if part)
