"""Prompts: text files with slots such as {question}, and the fence for what is judged."""

from __future__ import annotations

import re
from functools import cache
from hashlib import blake2b
from importlib.resources import files

from mores.metric.prompt import defuse, fence_mark
from mores.types import Sample

_SLOT = re.compile(r"\{(\w+)\}")


@cache
def prompt(name: str) -> str:
    """Return the prompt in a file of the folder `prompts`."""
    return files("mores.longanswer").joinpath("prompts", f"{name}.txt").read_text("utf-8").removesuffix("\n")


def fill(template: str, **values: str) -> str:
    """Return the prompt with its slots filled, in one pass: what is put in is not looked at again."""
    return _SLOT.sub(lambda slot: values[slot[1]], template)


def fill_fenced(template: str, **texts: str) -> str:
    """Return the prompt with hostile texts in its slots, and in {code} a mark that none of them contains."""
    code = fence_mark(Sample(id="", text="\0".join(texts.values())))
    return fill(template, code=code, **{slot: defuse(text) for slot, text in texts.items()})


@cache
def prompt_hash(*names: str) -> str:
    """Eight digits that change when a word of the prompts does."""
    return blake2b("\0".join(map(prompt, names)).encode(), digest_size=4).hexdigest()
