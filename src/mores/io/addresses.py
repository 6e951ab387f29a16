"""Where a server of this machine is found."""

from __future__ import annotations

HERE = ("127.0.0.1", "localhost", "::1")
"""Hosts that other machines cannot reach."""


def address_of(host: str, port: int) -> str:
    """Return the address at which a browser on this machine finds a server."""
    return f"http://{'localhost' if host in ('0.0.0.0', '::') else host}:{port}"
