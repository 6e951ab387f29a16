"""The asynchronous runner that every call to a model goes through, and the one way to ask.

    asker = open_asker("openai:gpt-4.1-mini")
    async for answer in asker.ask(jobs): ...

`jobs` may be endless: it is read as workers become free, and answers come back in its order. An answer is in
the store before it is handed on, so a run that was killed continues where it stopped.
"""

from typing import TYPE_CHECKING

from mores.lazy import find_lazily
from mores.renamed import find_old_name

if TYPE_CHECKING:
    from mores.engine.ask import Asker, Reply, make_asker, open_asker, read_reply, unread
    from mores.engine.counts import Counts
    from mores.engine.job import Answer, Job
    from mores.engine.limits import Limits
    from mores.engine.progress import SILENT, Progress
    from mores.engine.runner import Lasting, RunOptions, run
    from mores.engine.settings import AskSettings
    from mores.engine.store import Store, request_key

_PLACES = {
    "ask": ("Asker", "Reply", "make_asker", "open_asker", "read_reply", "unread"),
    "counts": ("Counts",),
    "job": ("Answer", "Job"),
    "limits": ("Limits",),
    "progress": ("SILENT", "Progress"),
    "runner": ("Lasting", "RunOptions", "run"),
    "settings": ("AskSettings",),
    "store": ("Store", "request_key"),
}
__getattr__ = find_lazily(__name__, _PLACES, find_old_name(__name__, {"AskOptions": "AskSettings"}, stacklevel=3))
__all__ = [
    "SILENT", "Answer", "AskSettings", "Asker", "Counts", "Job", "Lasting", "Limits", "Progress", "Reply", "RunOptions",
    "Store", "make_asker", "open_asker", "read_reply", "request_key", "run", "unread",
]  # fmt: skip
