"""All runs of a folder in the browser (`mores view`), text by text, and two of them side by side.

    import mores
    app = mores.view_app("runs")            # an ASGI app, to be served or mounted

`runs.py` finds runs and how far they have come; `index.py` makes 100,000 texts quick to filter; `notes.py` keeps what a
person says of texts, and hands them over; `door.py` decides who may come in; `app.py` has the routes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mores.extras import require

if TYPE_CHECKING:
    from mores.view.app import view_app

__all__ = ["view_app"]


def __getattr__(name: str) -> Any:
    """Import `view_app` when it is first used."""
    if name != "view_app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    require("serve", "fastapi")
    from mores.view.app import view_app

    return view_app
