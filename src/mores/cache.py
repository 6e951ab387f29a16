"""The folder for what Mores has downloaded and what models have answered: $MORES_CACHE, or the user's cache folder."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path


def cache_folder() -> Path:
    """Return the folder of everything that Mores keeps."""
    return Path(os.environ.get("MORES_CACHE") or user_cache_path("mores"))


def models_folder() -> Path:
    """Return the folder of GGUF files."""
    return cache_folder() / "models"


def store_path() -> Path:
    """Return the response store that is used when none is named."""
    return cache_folder() / "responses.db"
