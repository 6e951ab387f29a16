"""Upload to the Hub: what is sent, that it is private, and that no message has the token. The Hub is a local server."""

from __future__ import annotations

from pathlib import Path

import pytest

from mores.errors import ConfigError, InputError
from mores.hub import Upload, check_access, licence_name, push, with_fields
from tests.hub import TOKEN, FakeHub


def upload(tmp_path: Path, name: str = "me/data") -> Upload:
    (tmp_path / "rows.jsonl").write_text('{"text": "é"}\n', "utf-8")
    files: dict[str, Path | bytes] = {
        "rows.jsonl": tmp_path / "rows.jsonl",
        "README.md": with_fields("# Rows\n", {"license": "mit"}),
    }
    return Upload(name, "dataset", files, "Rows")


@pytest.mark.slow
def test_files_go_into_a_private_repository_as_they_are(hub: FakeHub, tmp_path: Path) -> None:
    check_access()
    assert push(upload(tmp_path)) == "https://huggingface.co/datasets/me/data"
    made = hub.repositories["datasets/me/data"]
    assert (made["private"], made["message"]) == (True, "Rows")
    assert made["files"] == {
        "rows.jsonl": '{"text": "é"}\n'.encode(),
        "README.md": b'---\nlicense: "mit"\n---\n\n# Rows\n',
    }
    (tmp_path / "rows.jsonl").write_text("")
    push(upload(tmp_path))  # again, into the same
    assert len(hub.repositories) == 1


def test_a_public_repository_gets_nothing(hub: FakeHub, tmp_path: Path) -> None:
    hub.repositories["datasets/me/data"] = {"private": False, "files": {}}
    with pytest.raises(ConfigError, match="me/data is public on the Hub; name another one"):
        push(upload(tmp_path))
    assert hub.repositories["datasets/me/data"]["files"] == {}


def test_no_message_has_the_token(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    hub.fails = True
    with pytest.raises(InputError, match="me/data could not be uploaded") as refused:
        push(upload(tmp_path))
    assert refused.value.__cause__ is None
    monkeypatch.setenv("HF_TOKEN", f"{TOKEN}x")
    with pytest.raises(InputError, match="log in with `hf auth login`") as unknown:
        check_access()
    assert TOKEN not in f"{refused.value}{unknown.value}{''.join(capfd.readouterr())}"


@pytest.mark.usefixtures("hub")
def test_without_a_token_the_fix_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(InputError, match="set HF_TOKEN to a token that may write"):
        check_access()


@pytest.mark.usefixtures("hub")
def test_a_hub_that_is_away_is_an_error_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(InputError, match="everything is on this machine: try again later"):
        push(upload(tmp_path))


@pytest.mark.parametrize(
    "name", ["data", "me/", "/data", "me/my data", "a/b/c", "../x", "me/data\n", "https://x/y", "-/x"]
)
def test_what_cannot_be_a_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="is not OWNER/NAME") as refused:
        upload(tmp_path, name)
    assert refused.value.setting == "push_to_hub"


def test_fields_of_a_card_are_yaml() -> None:
    yaml = pytest.importorskip("yaml")
    fields = {"pretty_name": 'A: "b"\n---', "language": ["ar", "no"], "license": "other", "base_model": None}
    _, head, card = with_fields("# Card", fields).decode().split("---\n", 2)
    assert yaml.safe_load(head) == {"pretty_name": 'A: "b"\n---', "language": ["ar", "no"], "license": "other"}
    assert card == "\n# Card"


@pytest.mark.parametrize(
    ("licences", "name"),
    [(["CC-BY-4.0"], "cc-by-4.0"), (["MIT"] * 2, "mit"), (["MIT", "CC-BY-4.0"], "other"), (["mine"], "other")],
)
def test_a_licence_that_the_hub_has_no_name_for_is_other(licences: list[str], name: str) -> None:
    assert licence_name(licences) == name
