"""JSON, TOML and YAML from outside: what cannot be read is a ValueError, whatever its library raises.

Libraries also fail with other errors, for example at brackets that are nested ten thousand deep, or at a date that does
not exist.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Any

from mores.extras import require

_DEEPEST = 200
"""Brackets within brackets in YAML."""


def load_json(data: str | bytes) -> Any:
    """Return the value of a JSON text."""
    with as_value_error():
        return json.loads(data)


def load_toml(data: bytes) -> dict[str, Any]:
    """Return the values of a TOML file."""
    with as_value_error():
        return tomllib.loads(data.decode())


def load_yaml(data: bytes, extra: str) -> Any:
    """Return the value of a YAML file; `extra` brings the library where it is missing."""
    require(extra, "yaml")
    import yaml

    class Shallow(yaml.SafeLoader):  # type: ignore[misc] # it has no types
        """A loader that ends at brackets that are too deep: it would read them the more slowly, until it fails."""

        def fetch_flow_collection_start(self, token: Any) -> None:
            if self.flow_level == _DEEPEST:
                raise ValueError("it is nested too deep")
            super().fetch_flow_collection_start(token)

    with as_value_error():
        text = data.decode()
        try:
            return yaml.load(text, Shallow)
        except yaml.YAMLError as error:
            raise ValueError(" ".join(str(error).split())) from error
        except (LookupError, AttributeError) as error:
            raise ValueError("a value is not of the type that its tag, such as !!int, names") from error


@cache
def read_packaged_toml(package: str, name: str) -> dict[str, Any]:
    """Return the values of a TOML file that comes with a package of Mores."""
    return tomllib.loads(files(package).joinpath(name).read_text("utf-8"))


@contextmanager
def as_value_error() -> Iterator[None]:
    """Turn what else a parser may raise into a ValueError."""
    try:
        yield
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
    except OverflowError as error:
        raise ValueError(str(error)) from error
