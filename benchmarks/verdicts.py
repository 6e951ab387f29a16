"""Judging on this computer with evidence: texts per second of a model that llama.cpp runs, and whether verdicts stay.

    python benchmarks/verdicts.py                                   # 32 texts by the embedded judge
    python benchmarks/verdicts.py --against dc876621 --model reader --texts 32
    python benchmarks/verdicts.py --against dc876621 --apart         # no two texts share instruction and evidence

Texts are made of the facts that come with Mores: an answer of a region or of another one, with three facts as evidence,
none of which decides one question in three; a quarter have two more sentences. Both versions judge the same texts in
turn, a few at a time, so that whatever else the machine does affects both. CPU seconds are those of the client and of
its server.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FACTS = ROOT / "src/mores/search/facts/facts.jsonl.gz"
BEFORE = "dc876621"
"""The version beside which a judge is to be twice as fast."""
NEAR = 0.02
"""A verdict may change where the probability of an error was so close to 0.5."""
_FACT = re.compile(r"(The .+ is) ([^;,]+?)(?:;.*)?\.")
JUDGE = """
import asyncio, json, math, os, sys, time
from pathlib import Path
from mores.metric.metric import as_sample
from mores.metric.opening import open_metric
from mores.metric.settings import ReportSettings
from mores.models import Options, metric_adapter, open_model

name, threads = sys.argv[1], int(sys.argv[2]) or None
model = open_model(name, Options(adapter=metric_adapter(name, None), threads=threads))
metric = open_metric(model, ReportSettings(), store=None)
completions, answer = {}, model.complete

async def complete(request):
    done = completions[request.messages] = await answer(request)
    return done

model.complete = complete

def cpu():
    fields = Path(f"/proc/{model._process.pid}/stat").read_text().rpartition(")")[2].split()
    return time.process_time() + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

def error(completion, judged):
    if completion.alternatives:
        from mores.metric.claims import error_probability, probabilities
        return error_probability(probabilities(completion.alternatives))
    chance = math.exp(next((each for each in completion.logprobs or () if each), 0.0))
    return chance if judged.report.errors else 1 - chance

async def judge(samples):
    start, spent, judged = time.perf_counter(), cpu(), []
    async for _, judgement in metric.stream(samples):
        judged.append(judgement)
    took, spent = time.perf_counter() - start, cpu() - spent
    errors = [error(completions[metric.request(s).messages], j) for s, j in zip(samples, judged)]
    return {"seconds": took, "cpu": spent, "errors": errors}

async def main():
    async with model:
        print(json.dumps(model.identity), flush=True)
        for line in sys.stdin:
            samples = [as_sample(each, number) for number, each in enumerate(json.loads(line), 1)]
            print(json.dumps(await judge(samples)), flush=True)

asyncio.run(main())
"""


@dataclass
class Judge:
    """A version of Mores in a process of its own, and what it took and said."""

    process: subprocess.Popen[str]
    identity: str
    seconds: float = 0.0
    cpu: float = 0.0
    errors: list[float] = field(default_factory=list)
    """The probability of an error in each text."""

    @classmethod
    def start(cls, source: Path, model: str, threads: int) -> Judge:
        """Start a version, whose source is in a folder."""
        environment = os.environ | {"PYTHONPATH": str(source)}
        command = [sys.executable, "-c", JUDGE, model, str(threads)]
        process = subprocess.Popen(command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return cls(process, cls._read(process))

    def judge(self, samples: Sequence[dict[str, Any]], *, counted: bool = True) -> None:
        """Judge some texts."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps(samples) + "\n")
        self.process.stdin.flush()
        answer = self._read(self.process)
        if counted:
            self.seconds += answer["seconds"]
            self.cpu += answer["cpu"]
            self.errors += answer["errors"]

    @staticmethod
    def _read(process: subprocess.Popen[str]) -> Any:
        assert process.stdout
        line = process.stdout.readline()
        if not line:
            raise SystemExit("a version ended before it had judged all texts")
        return json.loads(line)


def make_texts(apart: bool) -> Iterator[dict[str, Any]]:
    """Yield texts with evidence: in turn correct and with another region's answer."""
    with gzip.open(FACTS, "rt", encoding="utf-8") as file:
        facts = [json.loads(line) for line in file]
    asked, regions = defaultdict(list), defaultdict(list)
    for fact in facts:
        match = _FACT.fullmatch(fact["text"])
        if match and fact["source"].startswith("blend/") and fact["language"] == "en":
            asked[fact["source"].split(":")[0]].append((fact, match[1], match[2]))
            regions[fact["region"]].append(fact)
    for number, (fact, subject, answer) in enumerate(each[number % len(each)] for number, each in
                                                    enumerate(asked.values()) if len(each) > 1):  # fmt: skip
        others = [other for _, _, other in asked[fact["source"].split(":")[0]] if other.lower() != answer.lower()]
        beside = [other for other in regions[fact["region"]] if other["source"] != fact["source"]]
        evidence = [beside[(number + step) % len(beside)] for step in (0, 7, 13)]
        if number % 3:
            evidence[number % 3] = fact
        passages = [{"text": each["text"], "source": each["source"]} for each in evidence]
        question = f"What is {subject[0].lower()}{subject[1:-3]}?"
        for wrong in (False, True) if not apart else (bool(number % 2),):
            if not wrong or others:
                said = others[number % len(others)] if wrong else answer
                text = f"{subject} {said}." if number % 2 else f"{said}."
                if number % 4 == 1:  # a text of several sentences
                    text += "".join(f" {beside[(number + step) % len(beside)]['text']}" for step in (3, 5))
                yield {"instruction": question, "text": text, "evidence": passages, "language": "en"}


def compare(before: Sequence[float], now: Sequence[float]) -> str:
    """Return what has changed in the probabilities of an error."""
    flips = [one for one, other in zip(before, now, strict=True) if (one > 0.5) != (other > 0.5)]
    far = sum(abs(one - 0.5) > NEAR for one in flips)
    greatest = max(abs(one - other) for one, other in zip(before, now, strict=True))
    return f"{len(flips)} verdicts changed, {far} of them outside 0.5 ± {NEAR}; greatest difference {greatest:.4f}"


def measure(
    model: str, texts: int, against: str | None, threads: int = 0, chunk: int = 8, *, apart: bool = False
) -> dict[str, Judge]:
    """Judge texts with this version and with another, a few at a time, and return both."""
    first, *samples = islice(make_texts(apart), texts + 1)
    with tempfile.TemporaryDirectory() as made:
        sources = {"now": ROOT / "src"}
        if against:
            archive = ["git", "archive", against, "src"]
            packed = subprocess.run(archive, cwd=ROOT, capture_output=True, check=True).stdout
            subprocess.run(["tar", "-x", "-C", made], input=packed, check=True)
            sources = {"before": Path(made) / "src", **sources}
        judges = {name: Judge.start(source, model, threads) for name, source in sources.items()}
        for judge in judges.values():  # what all texts share is read before the clock runs
            judge.judge([first], counted=False)
        for start in range(0, len(samples), chunk):
            for judge in judges.values():
                judge.judge(samples[start : start + chunk])
        for judge in judges.values():
            judge.process.communicate()
    return judges


def main() -> None:
    """Make the texts, judge them with each version, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=32)
    parser.add_argument("--model", default="embedded", help="embedded or reader")
    parser.add_argument("--threads", type=int, default=0, help="threads of the server; default: all cores")
    parser.add_argument("--chunk", type=int, default=8, help="texts that a version judges in its turn")
    parser.add_argument("--apart", action="store_true", help="only one text to an instruction")
    parser.add_argument("--against", help="a commit of this repository")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    judges = measure(**vars(options))
    print(f"{options.model}, {options.texts} texts with evidence; load of the machine before: {load:.1f}")
    for name, judge in judges.items():
        texts = len(judge.errors)
        rates = f"{texts / judge.cpu:.2f} texts per CPU second, {texts / judge.seconds:.2f} per second"
        print(f"{name:8}{rates}   {judge.identity}")
    if options.against:
        before, now = judges.values()
        print(f"{before.cpu / now.cpu:.2f} × as fast in CPU time, {before.seconds / now.seconds:.2f} × by the clock")
        print(compare(before.errors, now.errors))


if __name__ == "__main__":
    main()
