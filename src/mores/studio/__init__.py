"""The studio: a web app in which people and models make, check, mark and rate cultural data.

    from mores.studio import app          # an ASGI app, to be served or mounted
    studio = app("studio.db", model="openai:gpt-4.1-mini")

`records.py` explains the system; `workflow/` has the rules, without I/O; `store/` keeps events and what is made from
them; `web/` has the pages; `campaigns/` has one folder for each kind of campaign.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mores.extras import require

if TYPE_CHECKING:
    from mores.studio.web.app import app

__all__ = ["app"]


def __getattr__(name: str) -> Any:
    """Import `app` when it is first used."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    require("studio", "fastapi", "sqlalchemy", "alembic", "argon2", "babel", "segno")
    from mores.studio.web.app import app

    return app
