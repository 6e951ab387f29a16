"""A run that `mores bench` wrote: what was asked, said and graded, and the result.

| file | what |
| --- | --- |
| `run.json` | the `Manifest`: what the run is, and how far it has come |
| `items.jsonl` | what was asked, one `Item` per line |
| `evidence.jsonl` | what a search found, where there was one |
| `responses.jsonl` | what the model said, one `Said` per line |
| `verdicts.jsonl` | the same graded, one `Verdict` per line |
| `result.json` | the `BenchResult` |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mores.bench import benchmark
from mores.bench.benchmark import Benchmark, Verdict
from mores.bench.score import BenchResult
from mores.errors import InputError
from mores.io import JsonlWriter, read_record, read_records
from mores.run import MANIFEST, read_manifest
from mores.types import Item

ITEMS, EVIDENCE, RESPONSES = "items.jsonl", "evidence.jsonl", "responses.jsonl"
VERDICTS, RESULT = "verdicts.jsonl", "result.json"
FILES = {ITEMS: "Item", RESPONSES: "Said", VERDICTS: "Verdict", RESULT: "BenchResult"}
"""Record types."""


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run."""

    path: Path

    def result(self) -> BenchResult:
        """All figures."""
        return read_record(self.path / RESULT, BenchResult, "expected the result of `mores bench`")

    def benchmark(self) -> Benchmark:
        """The benchmark that was run: the one of its name, or in the user's folder that `run.json` names."""
        settings = read_manifest(self.path).settings if (self.path / MANIFEST).exists() else {}
        return benchmark(str(settings.get("benchmark") or self.result().benchmark))

    def items(self) -> list[Item]:
        """What was asked."""
        return list(read_records(self.file(ITEMS), Item))

    def verdicts(self) -> Iterator[Verdict]:
        """Each answer with its grade."""
        return read_records(self.file(VERDICTS), Verdict)

    def file(self, name: str) -> Path:
        """A file of the run; InputError where it is missing."""
        found = self.path / name
        if not found.is_file():
            raise InputError(
                f"{self.path / RESULT}: there is no {name} beside it; run `mores bench` again with this --out"
            )
        return found

    def write_items(self, items: Iterable[Item]) -> None:
        """Put what is asked into its file."""
        with JsonlWriter(self.path / ITEMS) as writer:
            for item in items:
                writer.write(item)


def find_runs(folder: Path) -> list[RunFolder]:
    """The runs in a folder, and in those inside it."""
    paths = sorted(folder.rglob(RESULT))
    if not paths:
        raise InputError(f"{folder}: there is no {RESULT} in it; give folders that `mores bench` wrote")
    return [RunFolder(path.parent) for path in paths]
