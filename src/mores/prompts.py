"""Prompts: text files beside the code that uses them, with slots such as {question}."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path

from mores.errors import ConfigError, InputError

SLOT = re.compile(r"\{(\w+)\}")
"""A place in a prompt that is filled."""


@cache
def read_prompt(file: str, name: str) -> str:
    """Return the text in `NAME.txt` beside the file of a module, its `__file__`; NAME may be in a subfolder."""
    path = Path(file).parent / f"{name}.txt"
    with suppress(OSError, UnicodeDecodeError):
        text = path.read_bytes().decode()
        if "\r" not in text and not text.startswith("\ufeff"):
            return text.removesuffix("\n")
    from mores.io.source import read_text  # which knows other forms, and says what is wrong

    try:
        return read_text(path).removesuffix("\n")
    except InputError as error:
        raise ConfigError(str(error)) from error


def fill(template: str, **values: str) -> str:
    """Return the prompt with its slots filled in one pass, so that slots in the values stay."""
    if missing := [slot for slot in SLOT.findall(template) if slot not in values]:
        raise ConfigError(f"nothing fills the slot {{{missing[0]}}} of a prompt; it gets {', '.join(values)}")
    return SLOT.sub(lambda slot: values[slot[1]], template)


def hash_prompts(*templates: str) -> str:
    """Return eight digits that change when a word of the prompts does."""
    return blake2b("\0".join(templates).encode(), digest_size=4).hexdigest()
