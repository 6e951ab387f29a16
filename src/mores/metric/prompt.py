"""The ExCAM prompt (Table 5), and the fence that keeps judged text from speaking to the judge.

| style | what the model reads |
| --- | --- |
| `paper` | Table 5 as published |
| `fenced` | Table 5, with both sides between marks that they cannot contain |
| `guided` | the same, and what a report looks like: for models that were not tuned on it |
"""

from __future__ import annotations

import re
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from typing import Literal, get_args

from mores.models.base import Message
from mores.types import Sample

Style = Literal["paper", "fenced", "guided"]
STYLES: tuple[Style, ...] = get_args(Style)

_SLOT = re.compile(r"\{(Instruction|Text)\}")
_CONTROL = re.compile(
    r"<[|｜]|[|｜]>|</?s>|<(?:bos|eos|pad|unk)>|</?(?:start|end)_of_turn>|</?think>|\[/?[A-Z_]{4,}\]|<</?SYS>>",
    re.IGNORECASE,
)
_JOINER = "\u2060"
"""Word joiner: invisible, and ignored when a quote is looked for in the text."""


def messages(sample: Sample, style: Style) -> tuple[Message, ...]:
    """What the judge is asked about one sample."""
    system, report = _text("system"), _text("report")
    if style == "paper":
        return Message("system", system), Message("user", fill(report, sample.instruction, sample.text))
    system = "\n".join([system, _text("fence"), *([_text("guide")] if style == "guided" else [])])
    mark = fence_mark(sample)
    sides = (f"<<<{mark}\n{defuse(side)}\n{mark}>>>" for side in (sample.instruction, sample.text))
    return Message("system", system), Message("user", fill(report, *sides))


def fence_mark(sample: Sample) -> str:
    """A code that occurs on neither side, so that neither can close the fence; the same for the same sample."""
    both = f"{sample.instruction}\0{sample.text}"
    code, tries = "", 0
    while not code or code in both.lower():
        digest = blake2b(f"{tries}{both}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        code = digest[: 4 + tries // 4]  # short, because a mark stands in every prompt four times
        tries += 1
    return code


def defuse(text: str) -> str:
    """Break up what a chat template would take for a control token, such as `<|im_end|>`, without a visible trace."""
    return _CONTROL.sub(lambda token: token[0][0] + _JOINER + token[0][1:], text)


@cache
def prompt_hash(style: Style) -> str:
    """Eight digits that change when a word of the prompt does."""
    blank = Sample(id="", instruction="", text="")
    return blake2b(repr(messages(blank, style)).encode(), digest_size=4).hexdigest()


def fill(template: str, instruction: str, text: str) -> str:
    """A prompt with both slots filled in one pass: what is put in is not looked at again."""
    return _SLOT.sub(lambda slot: instruction if slot[1] == "Instruction" else text, template)


@cache
def _text(name: str) -> str:
    return files("mores.metric").joinpath("prompts", f"{name}.txt").read_text("utf-8").removesuffix("\n")
