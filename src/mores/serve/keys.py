"""Keys of those who may ask, from a file or the environment: compared in constant time, never printed or logged."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path

from mores.errors import ConfigError
from mores.io.addresses import HERE
from mores.serve.settings import KEYS_VARIABLE, ServeSettings

SHORTEST = 16
"""Characters of a key: shorter ones can be guessed."""
_FIX = "make one with: openssl rand -hex 24"


class Keys:
    """The keys that are accepted; only their hashes are kept."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._hashes = []
        for number, key in enumerate(keys, 1):
            _check(key, f"key {number}")
            self._hashes.append(sha256(key.encode()).digest())

    def __bool__(self) -> bool:
        """Return whether a key must be shown at all."""
        return bool(self._hashes)

    def client(self, key: str) -> str | None:
        """Return a name for whoever shows this key, without the key in it; None for an unknown one."""
        shown, client = sha256(key.encode("utf-8", "surrogateescape")).digest(), None
        for known in self._hashes:  # all of them: the time does not tell which one it was
            if compare_digest(known, shown):
                client = known.hex()[:12]
        return client


def read_keys(path: Path | None, variable: str | None) -> list[str]:
    """Read the keys of a file, one in each line, and of a variable, with commas or spaces between them."""
    keys = []
    if path is not None:
        try:
            lines = path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path}: cannot be read as a file of keys ({type(error).__name__})") from error
        for number, line in enumerate(lines, 1):
            if (key := line.strip()) and not key.startswith("#"):
                _check(key, f"{path}:{number}")
                keys.append(key)
        if not keys:
            raise ConfigError(f"{path}: contains no key; {_FIX}")
    return keys + [key for key in re.split(r"[\s,]+", variable or "") if key]


def choose_keys(settings: ServeSettings, variable: str | None) -> Keys:
    """Return the keys of a service; ConfigError where other machines can reach it and nobody has to show one."""
    if settings.key_file and settings.no_keys:
        raise ConfigError("a file of keys and no_keys contradict each other; give one of them", setting="no_keys")
    keys = Keys(() if settings.no_keys else read_keys(settings.key_file, variable))
    if not keys and not settings.no_keys and settings.host not in HERE:
        fix = f"give keys by a file or {KEYS_VARIABLE}, or set no_keys where a server in front of it checks who asks"
        reason = f"other machines can reach {settings.host}, and nobody has to show a key"
        raise ConfigError(f"{reason}; {fix}", setting="keys")
    return keys


def _check(key: str, place: str) -> None:
    if len(key) < SHORTEST or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(f"{place}: a key is at least {SHORTEST} ASCII characters without spaces; {_FIX}")
