"""`mores studio`: what an organiser does in the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run

CAMPAIGN = """\
kind: culturalteaming
title: Tea and talk
regions: [Kenya]
"""


@pytest.fixture
def database(tmp_path: Path) -> str:
    return str(tmp_path / "studio.db")


def test_a_campaign_from_a_file_to_an_export(mores: Run, tmp_path: Path, database: str) -> None:
    file = tmp_path / "campaign.yaml"
    file.write_text(CAMPAIGN)
    done = mores("studio", "--database", database, "new", str(file))
    assert done.returncode == 0, done.stderr
    name, link = done.stdout.split()
    assert name.startswith("tea-and-talk-")
    assert link.startswith("/join/")
    done = mores("studio", "--database", database, "invite", name, "author", "--uses", "3")
    assert done.stdout.startswith("/join/")
    done = mores("studio", "--database", database, "export", name, str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out").is_dir()
    assert mores("studio", "--database", database, "rebuild").stdout == "0 items\n"
    assert mores("studio", "--database", database, "link").stdout.startswith("/join/")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("title: x\n", "no “kind”"),
        ("kind: teaming\ntitle: x\n", "unknown kind of campaign 'teaming'"),
        ("kind: culturalteaming\n", "title: Please fill in."),
        ("kind: culturalteaming\ntitle: x\nregions: [Atlantis]\n", "Atlantis"),
        ("kind: culturalteaming\ntitle: x\nverifers: 3\n", "verifers"),
        ("kind: [\n", "not YAML"),
        ("kind: culturalteaming\ntitle: ch\xe1\n", "campaign.yaml:2: not valid UTF-8"),
    ],
)
def test_a_wrong_file_is_explained(mores: Run, tmp_path: Path, database: str, text: str, reason: str) -> None:
    file = tmp_path / "campaign.yaml"
    file.write_bytes(text.encode("latin-1"))
    done = mores("studio", "--database", database, "new", str(file))
    assert done.returncode != 0
    assert reason in done.stderr


@pytest.mark.parametrize("address", ["mysql://host/name", "postgresql://nobody@127.0.0.1:1/none"])
def test_a_database_that_cannot_be_opened_is_explained(mores: Run, address: str) -> None:
    done = mores("studio", "--database", address, "rebuild")
    assert done.returncode == 2
    assert "(--database)" in done.stderr


def test_an_unknown_campaign_is_named(mores: Run, tmp_path: Path, database: str) -> None:
    done = mores("studio", "--database", database, "export", "nothing", str(tmp_path / "out"))
    assert done.returncode == 1
    assert "no such campaign 'nothing'; there are none" in done.stderr
