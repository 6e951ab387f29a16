"""Settings of the property tests: no deadline on shared machines, and the same examples in every CI run."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("mores", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("mores")
