"""Prompts: text files beside the benchmark that uses them, with slots such as {question}."""

from __future__ import annotations

import re
from functools import cache
from hashlib import blake2b
from pathlib import Path

from mores.errors import ConfigError, InputError
from mores.io.source import read_text

_SLOT = re.compile(r"\{(\w+)\}")


@cache
def prompt(module: str, name: str) -> str:
    """Return the file `NAME.txt` beside a module, which gives its `__file__`."""
    path = Path(module).with_name(f"{name}.txt")
    try:
        return read_text(path).removesuffix("\n")
    except InputError as error:
        raise ConfigError(str(error)) from error


def fill(template: str, **values: str) -> str:
    """Return the prompt with its slots filled, in one pass: what is put in is not looked at again."""
    if missing := [slot for slot in _SLOT.findall(template) if slot not in values]:
        raise ConfigError(f"nothing fills the slot {{{missing[0]}}} of a prompt; it gets {', '.join(values)}")
    return _SLOT.sub(lambda slot: values[slot[1]], template)


def hash_of(*templates: str) -> str:
    """Return eight digits that change when a word of the prompts does."""
    return blake2b("\0".join(templates).encode(), digest_size=4).hexdigest()
