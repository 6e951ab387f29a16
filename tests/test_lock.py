"""What development installs is pinned, and every file that may be installed is known by its hash."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def pinned(name: str) -> dict[str, str]:
    """The entries of a lock by the names of their packages."""
    entries = re.split(r"\n(?=\S)", (ROOT / name).read_text("utf-8").strip())
    return {canonicalize_name(entry.partition("==")[0]): entry for entry in entries}


def wanted(extra: str | None) -> set[Requirement]:
    """What Mores needs itself and for an extra, with the extras that this one names."""
    needed = {Requirement(text) for text in PROJECT["dependencies"] if extra is None}
    for requirement in map(Requirement, PROJECT["optional-dependencies"][extra] if extra else ()):
        needed |= (
            {included for name in requirement.extras for included in wanted(name)}
            if requirement.name == "mores-eval"
            else {requirement}
        )
    return needed


@pytest.mark.parametrize("lock", ["requirements-uv.lock", "requirements-dev.lock"])
def test_every_pinned_file_has_its_hash(lock: str) -> None:
    for name, entry in pinned(lock).items():
        assert re.search(r"==[\w.]+.*(\n    --hash=sha256:[0-9a-f]{64}\b.*)+$", entry, re.DOTALL), name


def test_the_locks_hold_what_the_project_needs() -> None:
    locked = pinned("requirements-dev.lock")
    for requirement in wanted(None) | wanted("dev"):
        version = re.search(r"==([\w.]+)", locked[canonicalize_name(requirement.name)])
        assert version
        assert requirement.specifier.contains(version[1]), requirement
    names = {
        canonicalize_name(dependency.name) for extra in PROJECT["optional-dependencies"] for dependency in wanted(extra)
    }
    assert names <= set(pinned("requirements-extras.lock"))


def test_both_locks_pin_the_same_versions() -> None:
    versions = [
        {(found[1], found[2]) for entry in pinned(name).values() if (found := re.match(r"(\S+?)==([\w.]+)", entry))}
        for name in ("requirements-dev.lock", "requirements-extras.lock")
    ]
    assert versions[0]
    assert versions[0] <= versions[1]


@pytest.mark.parametrize("lock", ["requirements-uv.lock", "requirements-dev.lock"])
def test_make_checks_the_hashes(lock: str) -> None:
    assert f"--require-hashes --requirement {lock}" in (ROOT / "Makefile").read_text("utf-8")
