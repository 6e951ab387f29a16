"""The asynchronous runner that every call to a model goes through.

    async for answer in run(jobs, model, store=store): ...

`jobs` may be endless: it is read as workers become free, and answers come back in its order. An answer is in
the store before it is handed on, so a run that was killed goes on where it stopped.
"""

from mores.engine.counts import Counts
from mores.engine.limits import Limits
from mores.engine.runner import Answer, Job, run
from mores.engine.store import Store, request_key

__all__ = ["Answer", "Counts", "Job", "Limits", "Store", "request_key", "run"]
