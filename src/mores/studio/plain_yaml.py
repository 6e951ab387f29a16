"""YAML that somebody sent: values only, without what makes a small file large or a program fail."""

from __future__ import annotations

import math
from typing import Any

import yaml

from mores.errors import InputError

LONGEST = 1_000_000
DEEPEST = 40


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # yaml has no types
    """Knows no aliases: nine of them, each of nine others, are a billion values when they are written out."""

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="aliases are not allowed; write it out", problem_mark=event.start_mark)
        if self.depth >= DEEPEST:
            raise yaml.MarkedYAMLError(problem="it is nested too deep", problem_mark=event.start_mark)
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


def _text(loader: _Loader, node: Any) -> str:
    value = str(loader.construct_scalar(node))
    if "\0" in value or any("\ud800" <= sign <= "\udfff" for sign in value):
        problem = "the text has a character that no file can hold"
        raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
    return value


def _number(loader: _Loader, node: Any) -> float:
    value = loader.construct_yaml_float(node)
    if not math.isfinite(value):
        raise yaml.MarkedYAMLError(problem="this is not a number", problem_mark=node.start_mark)
    return float(value)


_Loader.add_constructor("tag:yaml.org,2002:str", _text)
_Loader.add_constructor("tag:yaml.org,2002:float", _number)


def read_yaml(text: str, place: str) -> Any:
    """Return the values of a YAML text; InputError says where it cannot be read."""
    if len(text) > LONGEST:
        raise InputError(f"{place}: {len(text):,} characters; a campaign has at most {LONGEST:,}")
    try:
        return yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        raise InputError(f"{place}: not YAML: {' '.join(str(error).split())}") from error
    except (ValueError, OverflowError) as error:  # a date or a number that cannot be one
        raise InputError(f"{place}: not YAML: {error}") from error
