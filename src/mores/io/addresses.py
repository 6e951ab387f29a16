"""Addresses of servers of this machine."""

from __future__ import annotations

import socket

HERE = ("127.0.0.1", "localhost", "::1")
"""Hosts that other machines cannot reach."""


def address_of(host: str, port: int) -> str:
    """Return the address at which a browser on this machine finds a server."""
    return f"http://{'localhost' if host in ('0.0.0.0', '::') else host}:{port}"


def lan_address() -> str | None:
    """Return this machine's address in its network; None where it has none. Nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # reserved for documentation: only the route is looked up
        except OSError:
            return None
        found = str(probe.getsockname()[0])
    return None if found.startswith(("127.", "0.")) else found


def nearby_address(port: int) -> str | None:
    """Return the address by which this machine's network reaches a server on a port; None where it does not."""
    if found := lan_address():
        try:
            socket.create_connection((found, port), 0.5).close()
        except OSError:
            return None
    return found
