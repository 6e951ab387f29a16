"""Processor time of the pages of `mores view` with few runs and texts, and with 200 runs and 100,000 texts or answers.

    python benchmarks/view.py               # about a minute; prints a table
    python benchmarks/view.py --save        # and writes results/view.json

Times are the processor's for whole requests through the ASGI app, without a network, since a clock would measure what
else the machine does: the median and the slowest of 15, after one that is not counted. `cold` is the very first
request, before anything is indexed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from starlette.testclient import TestClient

import mores
from mores.benchmark.benchmark import Label, Verdict
from mores.io import JsonlWriter, write_text
from mores.run import MANIFEST, Manifest, Status
from mores.types import Error, ErrorReport, Item, Judgement, Severity

RESULTS = Path(__file__).parent / "results" / "view.json"
WORDS = ["guests", "wear", "white", "at", "weddings", "and", "bring", "sweets", "to", "the", "family", "who", "serve"]
SIZES = {"10 runs, 100 texts": (10, 100), "200 runs, 100,000 texts": (200, 100_000)}
"""Runs of the folder, and the texts or answers of its four largest runs: two that judged texts, two of a benchmark."""
PAIR, BENCHES = "run=run-000&run=run-001", "run=run-002&run=run-003"
PAGES = {
    "list of runs": "/",
    "list, searched": "/?q=run-1&status=complete",
    "texts": "/run?run=run-000",
    "texts, last page": "/run?run=run-000&page=999999",
    "texts, filtered": "/run?run=run-000&state=errors&severity=major&language=ja&column:Model=b",
    "texts, searched": "/run?run=run-000&q=sweets+family+{}",
    "two runs": f"/compare?{PAIR}",
    "two runs, filtered": f"/compare?{PAIR}&change=both&language=ja",
    "answers": "/run?run=run-002",
    "answers, filtered": "/run?run=run-002&state=wrong&language=ja&region=JP&column:Difficulty=hard",
    "answers, searched": "/run?run=run-002&q=sweets+family+{}",
    "two benchmarks": f"/compare?{BENCHES}",
    "two benchmarks, filtered": f"/compare?{BENCHES}&change=first&language=ja",
}


def judge(number: int, chance: random.Random) -> Judgement:
    """A judgement of a text of about 500 characters; a third of them have an error."""
    words = chance.choices(WORDS, k=90)
    text = f"Text {number}. {' '.join(words)}."
    place = text.index(words[0], 6)
    error = Error(
        side="text", start=place, end=place + len(words[0]), quote=words[0], type="custom",
        severity=chance.choice(list(Severity)), explanation="It is done in another way there.",
    )  # fmt: skip
    errors = (error,) if chance.random() < 1 / 3 else ()
    score = float(sum(each.severity.weight for each in errors)) if errors else 0.9
    return Judgement(
        sample_id=f"t{number}", text=text, instruction="Write about weddings.", judge="fake", score=score,
        language=chance.choice(["ja", "ar", "en", "hi"]), region=chance.choice(["JP", "EG", "US", "IN"]),
        metadata={"Model": chance.choice("abc"), "Rating": number}, report=ErrorReport(errors=errors, certainty=0.9),
    )  # fmt: skip


def answer(number: int, chance: random.Random) -> tuple[Item, Verdict]:
    """A graded answer of about 500 characters, the same question in every run; a third of them are wrong."""
    asked = random.Random(number)
    item = Item(
        id=f"q{number}", prompt=f"Question {number}. {' '.join(asked.choices(WORDS, k=20))}?", target=("white",),
        language=asked.choice(["ja", "ar", "en", "hi"]), region=asked.choice(["JP", "EG", "US", "IN"]),
        metadata={"Difficulty": asked.choice(["easy", "hard"])},
    )  # fmt: skip
    label = Label.INCORRECT if chance.random() < 1 / 3 else Label.CORRECT
    return item, Verdict(item_id=item.id, unit=item.id, answer=" ".join(chance.choices(WORDS, k=90)), label=label)


def write_run(folder: Path, number: int, texts: int) -> None:
    """Write a complete run: the third and fourth are of a benchmark, the others judged texts."""
    folder.mkdir(parents=True)
    chance = random.Random(number)
    if number in (2, 3):
        kind, files = "bench", {"items.jsonl": "Item", "verdicts.jsonl": "Verdict"}
        with JsonlWriter(folder / "items.jsonl") as items, JsonlWriter(folder / "verdicts.jsonl") as verdicts:
            for item, verdict in (answer(place, chance) for place in range(texts)):
                items.write(item)
                verdicts.write(verdict)
    else:
        kind, files = "score", {"judgements.jsonl": "Judgement"}
        with JsonlWriter(folder / "judgements.jsonl") as writer:
            for place in range(texts):
                writer.write(judge(place, chance))
    manifest = Manifest(
        kind=kind, name="texts.csv", model=f"openai:model-{number % 7}", signature={}, status=Status.COMPLETE,
        started=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=number), headline="mean score 0.1", files=files,
    )  # fmt: skip
    write_text(folder / MANIFEST, manifest.model_dump_json(indent=1))


def milliseconds(client: TestClient, address: str) -> float:
    start = time.process_time()
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    return (time.process_time() - start) * 1000


def measure(folder: Path, runs: int, texts: int) -> dict[str, dict[str, float]]:
    """The times of all pages, in milliseconds."""
    for number in range(runs):
        write_run(folder / f"run-{number:03}", number, texts if number < 4 else 10)
    app = mores.view_app(folder)
    client = TestClient(app, "http://localhost:8020")
    milliseconds(client, "/try")  # templates are compiled once, whatever there is to show
    cold = {name: milliseconds(client, PAGES[name]) for name in ("list of runs", "texts")}
    times = {}
    for numbers, file in (((0, 1), "judgements.jsonl"), ((2, 3), "verdicts.jsonl")):
        start = time.process_time()
        for number in numbers:
            app.state.viewer.indexes.of(folder / f"run-{number:03}" / file, wait=True)
        times[f"index of two {file}, once"] = {"median": (time.process_time() - start) * 1000}
    for name, address in PAGES.items():
        taken = [milliseconds(client, address.format(number)) for number in range(16)][1:]  # each search is a new one
        times[name] = {"median": statistics.median(taken), "slowest": max(taken)}
        times[name] |= {"cold": cold[name]} if name in cold else {}
    return times


def main() -> None:
    """Measure, print and perhaps save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true")
    arguments = parser.parse_args()
    results = {}
    for size, (runs, texts) in SIZES.items():
        with tempfile.TemporaryDirectory() as folder:
            os.environ["MORES_CACHE"] = str(Path(folder) / "cache")
            results[size] = measure(Path(folder) / "runs", runs, texts)
        print(size)
        for name, times in results[size].items():
            print(f"  {name:<26}" + "".join(f"  {kind} {value:8.1f} ms" for kind, value in times.items()))
    if arguments.save:
        machine = {"python": platform.python_version(), "cores": os.cpu_count(), "machine": platform.machine()}
        rounded = {
            size: {name: {kind: round(value, 1) for kind, value in times.items()} for name, times in pages.items()}
            for size, pages in results.items()
        }
        write_text(RESULTS, json.dumps({"machine": machine, "milliseconds": rounded}, indent=1) + "\n")


if __name__ == "__main__":
    main()
