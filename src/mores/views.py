"""Views of records and runs in notebooks and folders: a later layer draws them, and the package says which."""

from __future__ import annotations

from importlib import import_module

DRAWN: dict[str, str] = {}
"""For each class or name, the function that draws it as HTML: `package.module:function`."""


def draw(name: str, value: object) -> str:
    """Return a value as the function of this name draws it."""
    module, _, function = DRAWN[name].partition(":")
    drawn: str = getattr(import_module(module), function)(value)
    return drawn


class NotebookView:
    """A record that notebooks draw."""

    def _repr_html_(self) -> str:
        """Return the record as HTML, in a notebook."""
        return draw(next(kind.__name__ for kind in type(self).__mro__ if kind.__name__ in DRAWN), self)
