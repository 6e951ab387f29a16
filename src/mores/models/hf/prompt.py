"""A chat in tokens: the tokenizer's chat template, with control tokens inside a message read as plain text."""

from __future__ import annotations

import inspect
from typing import Any

from jinja2 import TemplateError

from mores.errors import Rejected
from mores.models.base import Message


def encode(name: str, tokenizer: Any, messages: tuple[Message, ...]) -> list[int]:
    """Return the tokens of a prompt; without a template each message is a paragraph `role: content`."""
    if tokenizer.chat_template is None:
        text = "".join(f"{role}: {content}\n\n" for role, content in messages) + "assistant:"
        return list(tokenizer(text, split_special_tokens=True)["input_ids"])
    turns = [message._asdict() for message in messages]
    try:
        prompt = tokenizer.apply_chat_template(
            turns, add_generation_prompt=True, return_dict=True, **_sanitizing(name, tokenizer, messages)
        )
    except (TemplateError, ValueError) as exc:
        raise Rejected(f"{name}: its chat template takes no such prompt: {exc}") from exc
    return list(prompt["input_ids"])


def _sanitizing(name: str, tokenizer: Any, messages: tuple[Message, ...]) -> dict[str, bool]:
    """Return the arguments that make control tokens plain text; before transformers 5.20 such a text is turned away."""
    if "sanitize_control_tokens" in inspect.signature(tokenizer.apply_chat_template).parameters:
        return {"sanitize_control_tokens": True}
    template = str(tokenizer.chat_template)
    for token in tokenizer.added_tokens_decoder.values():
        control = token.special or (token.content.strip() and token.content in template)
        if control and any(token.content in message.content for message in messages):
            fix = "transformers before 5.20 cannot read it as text: pip install -U transformers"
            raise Rejected(f"{name}: the text contains the control token {token.content}; {fix}")
    return {}
