"""`--push-to-hub` of every command that writes a dataset or a model."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mores.factory.gold import Gold
from mores.hub import push
from mores.run import Manifest
from mores.training.folder import Trained, TrainRun
from mores.types import Signature
from tests.cli.conftest import Run
from tests.cli.test_collect import ROWS, script
from tests.factory.test_build import put, survey
from tests.hub import TOKEN, FakeHub


def fields(card: bytes) -> dict[str, object]:
    """What the Hub reads from a card."""
    yaml = pytest.importorskip("yaml")
    loaded: dict[str, object] = yaml.safe_load(card.decode().split("---\n")[1])
    return loaded


@pytest.mark.slow
def test_a_dataset_is_uploaded_as_it_was_built(mores: Run, home: Path, hub: FakeHub) -> None:
    put(home, survey(40), "survey")
    (home / "mine.yaml").write_text("name: mine\nsources: [survey.jsonl]\nsampling: paper\n")
    sent = mores("build", "mine.yaml", "--out", "data", "--push-to-hub", "me/mine")
    assert sent.returncode == 0, sent.stderr
    assert f"{(home / 'data' / 'train.parquet').stat().st_size:,} B  train.parquet\n" in sent.stderr
    assert sent.stderr.endswith("uploaded https://huggingface.co/datasets/me/mine\n")
    assert TOKEN not in sent.stderr + sent.stdout
    uploaded = hub.repositories["datasets/me/mine"]
    assert uploaded["private"]
    card = fields(uploaded["files"]["README.md"])
    assert (card["pretty_name"], card["license"]) == ("mine", "other")
    assert uploaded["files"]["README.md"].endswith((home / "data" / "card.md").read_bytes())
    assert "run.json" not in uploaded["files"], "it has the folders of this machine"
    assert not [name for name, data in uploaded["files"].items() if str(home).encode() in data]
    for name, data in uploaded["files"].items():
        (home / "copy").mkdir(exist_ok=True)
        (home / "copy" / name).write_bytes(data)
    verified = mores("build", "verify", "copy")
    assert verified.returncode == 0, verified.stderr
    assert [Gold.model_validate_json(line) for line in uploaded["files"]["test.jsonl"].splitlines()]


@pytest.mark.parametrize("fails", [False, True])
def test_nothing_is_built_for_a_hub_that_would_refuse_it(mores: Run, home: Path, hub: FakeHub, fails: bool) -> None:
    hub.fails = True
    name = "me/mine" if fails else "mine"
    done = mores("build", "free", "--out", "data", "--push-to-hub", name)
    assert done.returncode == (1 if fails else 2)
    assert ("hf auth login" if fails else "'mine' is not OWNER/NAME") in done.stderr
    assert "(--push-to-hub)" in done.stderr
    assert not (home / "data").exists()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("build", "free", "--out", "d", "--push-dry-run"), "--push-dry-run needs --push-to-hub OWNER/NAME"),
        (("studio", "export", "c"), "give a FOLDER, or --push-to-hub OWNER/NAME, or both"),
        (("train", "--data", ".", "--out", "d", "--leave-one-out", "--push-to-hub", "me/m"), "uploads one model"),
    ],
)
def test_options_that_do_not_go_together_are_refused(mores: Run, command: tuple[str, ...], words: str) -> None:
    done = mores(*command)
    assert done.returncode == 2
    assert words in " ".join(done.stderr.split())


def test_of_a_collection_what_is_kept_is_listed_and_then_uploaded(mores: Run, home: Path, hub: FakeHub) -> None:
    (home / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    model = script(
        home,
        ("Is water", "<result>FAIL</result>"),
        ("categor", "<category>other</category>"),
        ("", "<result>PASS</result>"),
    )
    command = ("collect", "q.jsonl", "--model", model, "--push-to-hub", "me/questions")
    listed = mores(*command, "--push-dry-run", HF_TOKEN="")
    assert listed.returncode == 0, listed.stderr
    assert "would upload 3 files, " in listed.stderr
    assert "to https://huggingface.co/datasets/me/questions (private)\n" in listed.stderr
    assert not hub.repositories
    done = mores(*command)
    assert done.returncode == 0, done.stderr
    files = hub.repositories["datasets/me/questions"]["files"]
    assert set(files) == {"README.md", "kept.jsonl", "collection.json"}
    assert fields(files["README.md"])["language"] == ["en", "hu"]
    assert "| Hungarian | 3 | 3 |" in files["README.md"].decode()
    assert b"Is water wet?" not in b"".join(files.values())


def test_a_model_is_uploaded_without_what_belongs_to_this_machine(tmp_path: Path, hub: FakeHub) -> None:
    folder, base = tmp_path / "tuned", tmp_path / "models" / "tiny"
    folder.mkdir()
    base.mkdir(parents=True)
    trained = Trained(
        base=str(base), signature=Signature({"task": "train.1"}), samples=4, left_out=0, sources={"a": 4}, tokens=9,
        seconds=1.0, device="cpu", decisions={},
    )  # fmt: skip
    for name, text in {
        "adapter_model.safetensors": "weights",
        "adapter_config.json": json.dumps({"base_model_name_or_path": str(base), "r": 16}),
        "training.json": trained.model_dump_json(),
        "README.md": f"# Tuned from {base}\n",
        "recipe.toml": "rank = 16\n",
        "run.json": "{}",
        "log.jsonl": "{}\n",
        "decisions.test.jsonl": "a text of the dataset\n",
        ".lock": "",
    }.items():
        (folder / name).write_text(text)
    (folder / "checkpoints").mkdir()
    manifest = Manifest(
        kind="train", name="d", model="m", signature=Signature(), started=datetime.now(UTC), headline="accuracy 1"
    )
    upload = TrainRun(folder, manifest).upload("me/metric")
    assert (upload.kind, upload.message) == ("model", "accuracy 1")
    assert push(upload) == "https://huggingface.co/me/metric"
    files = hub.repositories["models/me/metric"]["files"]
    assert set(files) == {
        "README.md", "adapter_config.json", "adapter_model.safetensors", "recipe.toml", "training.json"
    }  # fmt: skip
    assert json.loads(files["adapter_config.json"]) == {"base_model_name_or_path": "tiny", "r": 16}
    assert files["README.md"].endswith(b"# Tuned from tiny\n")
    assert fields(files["README.md"]) == {"library_name": "peft", "license": "other", "tags": ["mores", "culture"]}
    assert not [name for name, data in files.items() if str(tmp_path).encode() in data]


def test_a_campaign_is_uploaded_with_its_card(mores: Run, home: Path, hub: FakeHub) -> None:
    pytest.importorskip("sqlalchemy")
    (home / "c.yaml").write_text("kind: culturalteaming\ntitle: Tea and talk\nregions: [Kenya]\nlicence: CC-BY-4.0\n")
    name = mores("studio", "new", "c.yaml").stdout.split()[0]
    command = ("studio", "export", name, "--format", "jsonl", "--push-to-hub", "me/tea")
    listed = mores(*command, "--push-dry-run")
    assert listed.returncode == 0, listed.stderr
    assert not hub.repositories
    done = mores(*command, "out")
    assert done.returncode == 0, done.stderr
    uploaded = hub.repositories["datasets/me/tea"]
    assert uploaded["message"].startswith(f"Campaign {name} as of event ")
    written = {path.relative_to(home / "out").as_posix() for path in (home / "out").rglob("*") if path.is_file()}
    assert set(uploaded["files"]) == written
    card = fields(uploaded["files"]["README.md"])
    assert (card["pretty_name"], card["license"]) == ("Tea and talk", "cc-by-4.0")
