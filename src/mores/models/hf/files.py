"""The files of a model before it is loaded: its folder or Hub commit, fingerprints, installed libraries."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import cast

from mores.errors import ConfigError
from mores.extras import require
from mores.io.values import load_json, load_toml
from mores.models.base import STYLES, Style

_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
_SETTINGS = (
    "config.json", "generation_config.json", "chat_template.jinja", "chat_template.json", "tokenizer.json",
    "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json",
    "vocab.txt", "merges.txt", "*.model",
)  # fmt: skip
_BLOCK = 1 << 16
_BLOCKS = 64


def local_folder(name: str, kind: str = "hf") -> Path | None:
    """Return the folder of that name, or None for what can only be a name on the Hub."""
    folder = Path(name).expanduser()
    if name and folder.is_dir():
        if (folder / "config.json").exists():
            return folder.resolve()
        if (folder / "adapter_config.json").exists():
            fix = f"give its base model as {kind}:BASE and this folder as the adapter"
            raise ConfigError(f"{kind}:{name}: a LoRA adapter; {fix}", setting="adapter")
        raise ConfigError(f"{kind}:{name}: no config.json in it; expected a folder that transformers saved")
    if not _HUB_NAME.fullmatch(name) or name.startswith("."):
        fix = f"give a local folder or a Hub name such as {kind}:owner/model"
        raise ConfigError(f"{kind}:{name}: no such folder; {fix}")
    return None


def hub_commit(name: str, kind: str = "hf") -> str:
    """Return the commit of the Hub's model, which pins every file of it; the cached one where there is no network."""
    require("hf", "huggingface_hub")
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, GatedRepoError, LocalEntryNotFoundError

    try:
        return Path(hf_hub_download(name, "config.json")).parent.name
    except LocalEntryNotFoundError as exc:
        problem = "no such folder, and not in the Hub's cache here, and the Hub cannot be reached (no network, or"
        raise ConfigError(f"{kind}:{name}: {problem} HF_HUB_OFFLINE is set); give a local folder") from exc
    except EntryNotFoundError as exc:
        raise ConfigError(f"{kind}:{name}: no config.json on the Hub; it is not a transformers model") from exc
    except GatedRepoError as exc:
        fix = "ask for access on its page, then log in with `hf auth login`"
        raise ConfigError(f"{kind}:{name}: the Hub wants permission for it; {fix}") from exc
    except (OSError, ValueError) as exc:
        fix = "check the name, or give a local folder"
        raise ConfigError(f"{kind}:{name}: no such folder, and the Hub says: {first_line(exc)}; {fix}") from exc


def adapter_folder(adapter: str | None) -> Path | None:
    if adapter is None:
        return None
    folder = Path(adapter).expanduser()
    fix = "expected a PEFT LoRA folder with adapter_config.json and adapter_model.safetensors"
    try:
        config = load_json((folder / "adapter_config.json").read_bytes())
        kind = config.get("peft_type")
    except (OSError, ValueError, AttributeError) as exc:
        raise ConfigError(f"{adapter}: no readable adapter_config.json; {fix}", setting="adapter") from exc
    if kind != "LORA":
        raise ConfigError(f"{adapter}: an adapter of kind {kind}; {fix}", setting="adapter")
    if not any(folder.glob("adapter_model.*")):
        raise ConfigError(f"{adapter}: no weights in it; {fix}", setting="adapter")
    return folder.resolve()


def tuned_style(folder: Path | None) -> Style | None:
    """Return the metric's prompt that `mores train` says it tuned the model of this folder with."""
    recipe = folder / "recipe.toml" if folder else None
    if recipe is None or not recipe.is_file():
        return None
    try:
        style = load_toml(recipe.read_bytes()).get("style")
    except (OSError, ValueError) as exc:
        raise ConfigError(f"{recipe}: cannot be read ({first_line(exc)}); restore or remove it") from exc
    if style not in STYLES:
        raise ConfigError(f"{recipe}: style is {style!r}; expected one of {', '.join(STYLES)}")
    return cast("Style", style)


def identify(where: str, commit: str | None, adapter: Path | None) -> list[str]:
    """Return the contents of a folder, or the commit of a model on the Hub, and of an adapter, as parts of an identity.

    Of a local folder only the last name, not the place: a moved folder keeps its stored answers.
    """
    folder = Path(where)
    model = f"{where}@{commit}" if commit else f"{folder.name}@{fingerprint(model_files(folder))}"
    return [model, f"lora@{fingerprint(adapter_files(adapter), whole=True)}"] if adapter else [model]


def model_files(folder: Path) -> list[Path]:
    settings = [path for pattern in _SETTINGS for path in folder.glob(pattern)]
    weights = [*folder.glob("*.safetensors")] or [*folder.glob("pytorch_model*.bin")]
    return sorted({*settings, *weights})


def adapter_files(folder: Path) -> list[Path]:
    return sorted({*folder.glob("adapter_*"), *(path for pattern in _SETTINGS for path in folder.glob(pattern))})


def fingerprint(files: Iterable[Path], whole: bool = False) -> str:
    """Hash of names, sizes and contents; of a big file a spread of blocks, since gigabytes take too long.

    Training moves nearly every weight, so a model trained again into the same folder gets another fingerprint.
    """
    digest = blake2b(digest_size=8)
    for path in files:
        size = path.stat().st_size
        digest.update(f"{path.name}\0{size}\0".encode())
        step = _BLOCK if whole or size <= _BLOCK * _BLOCKS else size // _BLOCKS
        with path.open("rb") as file:
            for start in range(0, size, step):
                file.seek(start)
                digest.update(file.read(_BLOCK))
    return digest.hexdigest()


def first_line(exc: BaseException) -> str:
    return (str(exc).strip() or type(exc).__name__).splitlines()[0]
