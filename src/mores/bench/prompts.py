"""Prompts: text files beside the benchmark that uses them, with slots such as {question}."""

from __future__ import annotations

import re
from functools import cache
from hashlib import blake2b
from importlib.resources import files

_SLOT = re.compile(r"\{(\w+)\}")


@cache
def prompt(folder: str, name: str) -> str:
    """The prompt of a benchmark's folder."""
    return files("mores.bench").joinpath(folder, f"{name}.txt").read_text("utf-8").removesuffix("\n")


def fill(template: str, **values: str) -> str:
    """The prompt with its slots filled, in one pass: what is put in is not looked at again."""
    return _SLOT.sub(lambda slot: values[slot[1]], template)


def hash_of(*templates: str) -> str:
    """Eight digits that change when a word of the prompts does."""
    return blake2b("\0".join(templates).encode(), digest_size=4).hexdigest()
