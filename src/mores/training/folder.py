"""A run of `mores train`: a tuned model (see `mores.training.study` for its files) with `run.json` beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from mores.formatting import number
from mores.hub import CARD, TAGS, Upload, with_fields
from mores.run import Run
from mores.types import Judgement, Record, Result, Signature


class Trained(Record):
    """A training run."""

    base: str
    signature: Signature
    samples: int
    """Number of training samples in one epoch."""
    left_out: int
    """Number of samples that were too long."""
    teacher: str | None = None
    """The runs that labelled some of them."""
    taught: int = 0
    """Number of samples that they labelled."""
    sources: dict[str, int]
    """Samples of each source."""
    without: str | None = None
    """The source that was left out."""
    tokens: int
    """Number of tokens in one epoch."""
    seconds: float
    device: str
    decisions: dict[str, dict[str, Result]]
    """By split, then overall (`all`) and by source: scaled accuracy."""


def headline(trained: Trained) -> str:
    """Return the accuracy of the model on each split, in one line."""
    whole = f"all but {trained.without}" if trained.without else "all"
    values = [f"{number(results['all'].value, 3)} on {split}" for split, results in trained.decisions.items()]
    return f"trained on {whole}: " + (f"scaled accuracy {', '.join(values)}" if values else "no split to decide about")


RESULT = "training.json"
ADAPTER = "adapter_config.json"
LOCAL = ("run.json", "log.jsonl", "checkpoint.pt", "decisions.*.jsonl")
"""Files that are not uploaded: the records of a run, and texts of the test data."""


class TrainRun(Run):
    """A tuned model."""

    @cached_property
    def result(self) -> Trained:
        """Training data, duration and accuracy."""
        return self.record(RESULT, Trained)

    def decisions(self, split: str = "test") -> Iterator[Judgement]:
        """Return the model's decisions about the samples of a split."""
        return self.records(f"decisions.{split}.jsonl", Judgement)

    def upload(self, repository: str) -> Upload:
        """Return an upload to the Hub with weights, tokenizer, recipe and card; `mores.hub.push` sends it.

        A base model in a local folder is named by the folder's name.
        """
        base, is_adapter = self.result.base, (self.path / ADAPTER).is_file()
        fields = {
            "library_name": "peft" if is_adapter else "transformers",
            "base_model": base if base.count("/") == 1 and not Path(base).exists() else None,
            "license": "other",  # that of the base model and those of the sources, which the card names
            "tags": TAGS,
        }
        paths = [path for path in sorted(self.path.glob("[!.]*")) if path.is_file()]
        files: dict[str, Path | bytes] = {path.name: path for path in paths if not any(map(path.match, LOCAL))}
        files[CARD] = with_fields(self.file(CARD).read_text("utf-8"), fields)
        places = [base]
        if is_adapter:
            places.append(json.loads(self.file(ADAPTER).read_bytes()).get("base_model_name_or_path") or "")
        local = [(place, Path(place)) for place in places if len(Path(place).parts) > 1]
        for name in files.keys() & {ADAPTER, "config.json", RESULT, CARD}:
            data = files[name]
            text = (data if isinstance(data, bytes) else data.read_bytes()).decode()
            for place, path in local:  # names instead of local paths
                text = text.replace(place, path.name) if path.is_absolute() or path.exists() else text
            files[name] = text.encode()
        return Upload(repository, "model", files, self.manifest.headline or f"Tuned from {Path(base).name}")
