"""Settings of all tests: how many examples a property is tried with, one thread per process, no Hub."""

from __future__ import annotations

import gc
import os

# Tests run side by side: threads of one that wait by spinning would take the cores from the others.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ["HF_HUB_OFFLINE"] = "1"  # read when its library is imported

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

pytest_plugins = ["tests.browser", "tests.hub", "tests.postgres"]

settings.register_profile("ci", deadline=None, max_examples=20, derandomize=True)
settings.register_profile("nightly", deadline=None, max_examples=1000)
settings.register_profile("fuzz", deadline=None, max_examples=8000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_sessionstart() -> None:
    """What collecting makes stays to the end: no use looking for garbage in it, then or later."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Training first, which has the longest tests: no worker is left alone with them at the end."""
    items.sort(key=lambda item: "train" not in item.path.parts)
