"""Whole evaluations at the same level: the commands of Mores, lm-evaluation-harness and Inspect AI, and bare aiohttp.

    python benchmarks/whole.py                     # 100 multiple-choice questions × 20 answers, 200 connections, 200 ms
    python benchmarks/whole.py --samples 100 --only mores,inspect
    python benchmarks/whole.py --save              # and writes results/peers/whole.json
    pip install 'lm_eval[api]' inspect-ai openai   # the peers; without them their rows say so

Everybody asks the same questions, grades every answer and writes answers, grades and accuracy to disk, in one command
from its start to its end, imports included. Mores runs a benchmark in a folder (docs/benchmarks.md), the harnesses the
task that `mores export-task` writes from it. A contestant that asks, grades or counts differently is a failure.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import peers
import stub

QUESTIONS, SAMPLES, CONNECTIONS, LATENCY_MS = 100, 20, 200, 200.0
REPLY, LETTER = "The answer is B.", "B"
"""What the server always says, and the letter of it."""
TASK = "mores_quiz"

BENCHMARK = '''
"""Made-up questions with four options."""
import json
from mores.benchmark.benchmark import Benchmark
from mores.benchmark.choice import grade_letter
from mores.types import Item

def read(folder, on_bad):
    with (folder / "quiz.jsonl").open() as file:
        yield from (Item(**json.loads(line)) for line in file)

QUIZ = Benchmark("quiz", "Made-up questions", "1", "CC0-1.0", "https://example.org", "quiz.jsonl", read, "quiz",
                 grade=grade_letter)
'''


class Plan(NamedTuple):
    """What every contestant does alike."""

    folder: Path
    """Where the benchmark and its exported tasks are, and where a contestant writes."""
    base_url: str
    samples: int
    connections: int


class Contestant(NamedTuple):
    """How it is shown, what must be installed for it, its command, and how its accuracy is read."""

    title: str
    package: str
    command: Callable[[Plan], Sequence[str]]
    accuracy: Callable[[Path], float]


class Row(NamedTuple):
    """One contestant's measurement, from the start of the process to its end."""

    version: str
    wall_s: float
    cpu_s: float
    peak_mb: float


# -- the work ----------------------------------------------------------------------------------------------


def write_work(folder: Path, questions: int, samples: int, package: str) -> float:
    """The benchmark, and the task where a harness needs one; returns the accuracy that the server's answers have."""
    (folder / "quiz" / "data").mkdir(parents=True)
    (folder / "quiz" / "__init__.py").write_text(BENCHMARK.lstrip())
    items = []
    for number in range(questions):
        choices = [f"thing {number + step}" for step in range(4)]
        options = "\n".join(f"{letter}. {choice}" for letter, choice in zip("ABCD", choices, strict=True))
        prompt = f"Which thing belongs to question {number}?\n\n{options}\n\nAnswer with the letter."
        target = [choices[number % 3]]
        items.append({"id": str(number), "prompt": prompt, "choices": choices, "target": target, "language": "en"})
    (folder / "quiz" / "data" / "quiz.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    if harness := {"lm-eval": "lm-eval", "inspect-ai": "inspect"}.get(package):
        command = ["export-task", "./quiz", "--to", harness, "--out", f"task-{harness}"]
        _run([sys.executable, "-m", "mores", *command], folder)
    if package == "lm-eval":
        with (folder / "task-lm-eval" / f"{TASK}.yaml").open("a") as file:
            file.write(f"repeats: {samples}\n")
    place = "ABCD".index(LETTER)
    return sum(item["target"] == [item["choices"][place]] for item in items) / questions


def run_bare(url: str, data: Path, samples: int, connections: int) -> None:
    """The least that an evaluation takes: a worker for each connection, a pattern for the letter, a file of answers."""
    import aiohttp
    import orjson

    rows = [json.loads(line) for line in data.read_text().splitlines()]
    correct = 0

    async def work(
        session: aiohttp.ClientSession, jobs: Iterator[dict[str, Any]], write: Callable[[bytes], Any]
    ) -> None:
        nonlocal correct
        for row in jobs:
            messages = [{"role": "user", "content": row["prompt"]}]
            body = orjson.dumps({"model": "stub", "messages": messages, "temperature": 1.0, "max_tokens": 512})
            async with session.post(f"{url}/chat/completions", data=body) as response:
                answer = orjson.loads(await response.read())["choices"][0]["message"]["content"]
            match = re.search(r"\b([A-D])\b", answer)
            good = match is not None and row["choices"]["ABCD".index(match[1])] in row["target"]
            correct += good
            write(orjson.dumps({"id": row["id"], "answer": answer, "correct": good}) + b"\n")

    async def ask_all(write: Callable[[bytes], Any]) -> None:
        jobs = (row for row in rows for _ in range(samples))
        headers = {"Content-Type": "application/json"}
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), headers=headers) as session:
            await asyncio.gather(*(work(session, jobs, write) for _ in range(connections)))

    with Path("bare.jsonl").open("wb") as file:
        asyncio.run(ask_all(file.write))
    Path("bare.json").write_text(json.dumps({"accuracy": correct / (len(rows) * samples)}))


# -- the contestants ---------------------------------------------------------------------------------------


def command_mores(plan: Plan) -> list[str]:
    sampling = ["--samples", str(plan.samples), "--temperature", "1", "--concurrency", str(plan.connections)]
    where = ["--base-url", plan.base_url, "--out", "out-mores"]
    return [sys.executable, "-m", "mores", "bench", "./quiz", "--model", "openai:stub", *sampling, *where]


def command_bare(plan: Plan) -> list[str]:
    data = str(plan.folder / "quiz" / "data" / "quiz.jsonl")
    return [sys.executable, __file__, "--bare", plan.base_url, data, str(plan.samples), str(plan.connections)]


def command_lm_eval(plan: Plan) -> list[str]:
    where = f"base_url={plan.base_url}/chat/completions,num_concurrent={plan.connections}"
    model = ["--model", "local-chat-completions", "--model_args", f"model=stub,{where}", "--apply_chat_template"]
    task = ["--tasks", TASK, "--include_path", "task-lm-eval", "--gen_kwargs", "temperature=1"]
    return [_program("lm_eval"), "run", *task, *model, "--log_samples", "--output_path", "out-lm-eval"]


def command_inspect(plan: Plan) -> list[str]:
    model = ["--model", "openai-api/stub/stub", "--model-base-url", plan.base_url, "--temperature", "1"]
    limits = ["--max-connections", str(plan.connections), "--max-samples", str(plan.connections)]
    epochs = ["--epochs", str(plan.samples)]
    task = f"task-inspect/{TASK}.py@{TASK}"
    return [
        _program("inspect"),
        "eval",
        task,
        *model,
        *limits,
        *epochs,
        "--display",
        "none",
        "--log-dir",
        "out-inspect",
    ]


def accuracy_of_mores(folder: Path) -> float:
    (path,) = (folder / "out-mores").glob("**/result.json")
    return float(json.loads(path.read_text())["figures"]["accuracy"]["value"])


def accuracy_of_bare(folder: Path) -> float:
    return float(json.loads((folder / "bare.json").read_text())["accuracy"])


def accuracy_of_lm_eval(folder: Path) -> float:
    (path,) = (folder / "out-lm-eval").glob("**/results_*.json")
    return float(json.loads(path.read_text())["results"][TASK]["accuracy,graded"])


def accuracy_of_inspect(folder: Path) -> float:
    (path,) = (folder / "out-inspect").iterdir()
    log = importlib.import_module("inspect_ai.log").read_eval_log(str(path), header_only=True)
    return float(log.results.scores[0].metrics["accuracy"].value)


CONTESTANTS = {
    "mores": Contestant("Mores", "mores-eval", command_mores, accuracy_of_mores),
    "aiohttp": Contestant("bare aiohttp", "aiohttp", command_bare, accuracy_of_bare),
    "lm-eval": Contestant("lm-evaluation-harness", "lm-eval", command_lm_eval, accuracy_of_lm_eval),
    "inspect": Contestant("Inspect AI", "inspect-ai", command_inspect, accuracy_of_inspect),
}


def _program(name: str) -> str:
    """A command that is installed beside this Python."""
    return str(Path(sys.executable).with_name(name))


def _run(command: Sequence[str], folder: Path) -> tuple[float, Any]:
    """Run a command in a folder; its seconds, and what it and the processes that it started used."""
    alone = {"HF_HOME": str(folder / "hf"), "HF_HUB_OFFLINE": "1", "MORES_CACHE": str(folder / "cache")}
    near = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1", "OPENAI_API_KEY": "x", "STUB_API_KEY": "x"}
    with (folder / "output.txt").open("wb") as output:
        began = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, env=os.environ | alone | near, stdout=output, stderr=output)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}\nfailed:\n{(folder / 'output.txt').read_text()[-2000:]}")
    return wall, used


# -- the comparison ----------------------------------------------------------------------------------------


def measure(
    name: str, options: argparse.Namespace, serve: Callable[[], AbstractContextManager[stub.Stub]]
) -> Row | None:
    """The best round of one contestant, for the first may have to compile; None where it is not installed."""
    contestant = CONTESTANTS[name]
    try:
        installed = version(contestant.package)
    except PackageNotFoundError:
        return None
    print(f"{contestant.title} …", file=sys.stderr)
    rounds = [run_once(contestant, options, serve) for _ in range(options.rounds)]
    wall, used = min(rounds, key=lambda each: each[0])
    unit = 1 if sys.platform == "darwin" else 1024
    return Row(installed, wall, used.ru_utime + used.ru_stime, used.ru_maxrss * unit / 1e6)


def run_once(
    contestant: Contestant, options: argparse.Namespace, serve: Callable[[], AbstractContextManager[stub.Stub]]
) -> tuple[float, Any]:
    """One evaluation in a folder of its own, against a new server: its seconds and what it used."""
    with tempfile.TemporaryDirectory(prefix="mores-whole-") as place, serve() as server:
        folder = Path(place)
        expected = write_work(folder, options.questions, options.samples, contestant.package)
        plan = Plan(folder, server.base_url, options.samples, options.connections)
        wall, used = _run(contestant.command(plan), folder)
        requests, accuracy = server.stats()["requests"], contestant.accuracy(folder)
    calls = options.questions * options.samples
    if requests != calls or abs(accuracy - expected) > 1e-9:
        name = contestant.title
        raise SystemExit(f"{name}: {requests} requests and accuracy {accuracy}, expected {calls} and {expected}")
    return wall, used


def show(rows: dict[str, Row | None], options: argparse.Namespace) -> None:
    """The table, with ratios to the first row."""
    calls = options.questions * options.samples
    ideal = calls / options.connections * options.latency_ms / 1000
    print(f"{options.questions} questions × {options.samples} answers, {options.connections} connections,", end=" ")
    print(f"{options.latency_ms:g} ms: at best {ideal:.1f} s\n")
    print(f"{'':<32}{'wall s':>8}{'ratio':>8}{'CPU s':>8}{'ratio':>8}{'peak MB':>9}{'ratio':>8}")
    first = next(row for row in rows.values() if row)
    for name, row in rows.items():
        title = CONTESTANTS[name].title
        if row is None:
            print(f"{title:<32} not installed")
            continue
        pairs = zip(row[1:], first[1:], (2, 2, 0), (8, 8, 9), strict=True)
        cells = "".join(f"{value:>{width}.{digits}f}{value / ours:>7.2f}×" for value, ours, digits, width in pairs)
        print(f"{f'{title} {row.version}':<32}{cells}")


def main() -> None:
    """Measure every contestant in turn and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="(default: %(default)s)")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="answers to each (default: %(default)s)")
    parser.add_argument("--connections", type=int, default=CONNECTIONS, help="calls at once (default: %(default)s)")
    parser.add_argument("--latency-ms", type=float, default=LATENCY_MS, help="of the server (default: %(default)g)")
    parser.add_argument("--rounds", type=int, default=2, help="of which the fastest counts (default: %(default)s)")
    parser.add_argument("--only", default=",".join(CONTESTANTS), help="some of %(default)s")
    parser.add_argument("--save", action="store_true", help="write the results file and the table of README.md")
    parser.add_argument("--bare", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare:
        url, data, samples, connections = options.bare
        run_bare(url, Path(data), int(samples), int(connections))
        return
    names = options.only.split(",")
    if unknown := set(names) - set(CONTESTANTS):
        parser.error(f"--only: no contestant {sorted(unknown)[0]!r}; there are {', '.join(CONTESTANTS)}")
    with tempfile.TemporaryDirectory(prefix="mores-whole-") as name:
        program = stub.build(Path(name))
        rows = {each: measure(each, options, lambda: stub.serve(program, Path(name), options.latency_ms, REPLY))
                for each in names}  # fmt: skip
    show(rows, options)
    if options.save:
        there = {CONTESTANTS[name].title: row for name, row in rows.items() if row}
        work = f"Whole evaluation: {options.questions} multiple-choice questions × {options.samples} answers, graded"
        figures = {
            "wall s": {title: row.wall_s for title, row in there.items()},
            "CPU s": {title: row.cpu_s for title, row in there.items()},
            "peak MB": {title: row.peak_mb for title, row in there.items()},
        }
        peers.save("whole", work, {title: row.version for title, row in there.items()}, figures)


if __name__ == "__main__":
    main()
