"""The metric as an HTTP service (`mores serve`), for products that check texts before they publish them.

    import mores
    app = mores.serve_app("openai:gpt-4.1-mini", keys=["…"])    # an ASGI app, to be served or mounted

`service.py` has the queue in front of the judge, without HTTP; `app.py` the routes; `body.py` what a request may say;
`keys.py` who may ask; `meter.py` what Prometheus reads; `run.py` the server of the command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mores.extras import require
from mores.serve.settings import Bounds

if TYPE_CHECKING:
    from mores.serve.app import serve_app

__all__ = ["Bounds", "serve_app"]


def __getattr__(name: str) -> Any:
    """Import `serve_app` when it is first used."""
    if name != "serve_app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    require("serve", "fastapi")
    from mores.serve.app import serve_app

    return serve_app
