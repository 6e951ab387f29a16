"""`mores diagnose`, through the real command, with models whose weaknesses are known."""

from __future__ import annotations

import asyncio
import json
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from mores.benchmark import benchmark, culturalbench
from mores.benchmark.folder import RESPONSES, VERDICTS, open_bench_run, write_items
from mores.benchmark.run import Asking
from mores.benchmark.run import BenchJob as BenchRun
from mores.cli import main
from mores.diagnosis.confidence import form_of
from mores.engine import Asker
from mores.models.base import Completion
from mores.models.fake import FakeModel
from tests.cli.conftest import Run
from tests.diagnosis.runs import finish
from tests.engine.server import Server

SAMPLES = Path(culturalbench.__file__).parents[1]

STORIES = 100
SCENES = 40
NOTHING = "Gar nichts"


def script(path: Path, rows: Iterable[tuple[str, str]]) -> str:
    """A model that answers as the first row says whose text is in the question."""
    path.write_text("".join(json.dumps({"contains": text, "answer": answer}) + "\n" for text, answer in rows))
    return f"fake:{path.name}"


@pytest.fixture
def stories(home: Path) -> Path:
    """A hundred stories to each of which the answer is yes, half of them in Peru."""
    return write_stories(home)


def write_stories(home: Path) -> Path:
    folder = home / "data" / "normad"
    folder.mkdir(parents=True)
    rows = [
        {"Country": ("peru", "japan")[n % 2], "Story": told(n), "Rule-of-Thumb": "Greet.", "Gold Label": "yes"}
        for n in range(STORIES)
    ]
    (folder / "normad.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return home


@pytest.fixture
def scenes(home: Path) -> Path:
    """Forty scenes, half in Spanish and half in Japanese, which also have an English version."""
    folder = home / "data" / "culturall"
    folder.mkdir(parents=True)
    (folder / "annotated_data.jsonl").write_text("\n".join(json.dumps(scene(n)) for n in range(SCENES)))
    return home


def told(number: int) -> str:
    return f"Ann greets in story {number:03d}."


def scene(number: int) -> dict[str, str]:
    scene = {
        "scenario": f"escena{number:02d}",
        "question": "dime",
        "answer": f"Zapallo{number:02d}",
        "explanation": "-",
    }
    english = {"scenario": f"scene{number:02d}", "question": "tell", "answer": f"Squash{number:02d}"}
    place = {"language": ("Spanish", "Japanese")[number % 2], "region": "Peru", "topic": "Food"}
    return scene | {f"english_{name}": text for name, text in english.items()} | {"english_explanation": "-"} | place


def play(home: Path, answer: Callable[[int], str], count: int = STORIES, name: str = "model") -> str:
    """A model that answers each story as a function of its number says."""
    return script(home / f"{name}.jsonl", ((told(number), answer(number)) for number in range(count)))


def sure(right: bool, confidence: int) -> str:
    return f"Answer: {'yes' if right else 'no'}\nConfidence: {confidence}"


def grader(home: Path, *more: tuple[str, str]) -> str:
    """A judge of scenes: what names the right squash is right, and what it is told besides."""
    rows = [(f"\n{word}", "1") for word in ("Zapallo", "Squash")]
    return script(home / "judge.jsonl", [*more, *rows, ("Model prediction", "0")])


def findings(done: Any, kind: str | None = None) -> list[dict[str, Any]]:
    """The results that were printed as JSON."""
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    printed = printed if kind is None else next(each for each in printed if each["kind"] == kind)
    return [each["result"] for each in printed["results"]]


def values(result: dict[str, Any], *names: str) -> list[float]:
    return [result["figures"][name]["value"] for name in names]


# ---- calibration -----------------------------------------------------------------------------------------------

LEVELS = (10, 30, 50, 70, 90)


@pytest.mark.slow
def test_a_perfect_model_is_perfect(mores: Run, stories: Path) -> None:
    """Of twenty answers each at 10, 30, 50, 70 and 90, 2, 6, 10, 14 and 18 are right."""
    model = play(stories, lambda n: sure(n // 5 < LEVELS[n % 5] // 5, LEVELS[n % 5]))
    done = mores("diagnose", "calibration", "normad", "--data", "data", "--model", model, "--json")
    [finding] = findings(done)
    assert values(finding, "ECE", "confidence", "accuracy", "overconfidence") == pytest.approx(
        [0, 0.5, 0.5, 0], abs=1e-9
    )
    assert values(finding, "accuracy at 90+") == [0.9]
    assert [(bar["n"], bar["accuracy"]) for bar in finding["bins"] if bar["n"]] == [
        (20, pytest.approx(level / 100)) for level in LEVELS
    ]
    assert finding["source"] == "verbalised"
    assert finding["signature"]["confidence"].startswith("verbalised.")
    assert "left out: calibration of normad, agreement: one answer per question" in done.stderr
    kept = json.loads((stories / "diagnose" / "calibration.json").read_text())
    assert kept == json.loads(done.stdout)
    assert "<html" in (stories / "diagnose" / "diagnose.html").read_text()
    assert not list((stories / "diagnose").rglob("result.json"))


@pytest.mark.slow
def test_a_model_that_is_always_95_sure_is_overconfident(mores: Run, stories: Path) -> None:
    model = play(stories, lambda n: sure(n % 4 < 2, 95))
    done = mores("diagnose", "calibration", "normad", "--data", "data", "--model", model)
    assert done.returncode == 0, done.stderr
    rows = {line.split("  ")[0]: line for line in done.stdout.splitlines()}
    assert "45.0 points" in rows["ECE"]
    assert "+45.0 points" in rows["overconfidence"]
    assert "50.0%" in rows["accuracy at 90+"]
    words = " ".join(done.stdout.split())
    assert "It is overconfident." in words
    assert "The confidence is always the same, so it cannot separate correct from incorrect answers." in words
    assert {line.split()[0] for line in done.stdout.split("by region")[1].splitlines()[2:4]} == {"JP", "PE"}
    again = mores("diagnose", "calibration", "normad", "--data", "data", "--model", model)
    assert again.stdout == done.stdout
    assert "asking with confidence: 100 of 100, no calls, 100 known already" in again.stderr


@pytest.mark.slow
def test_random_confidence_tells_nothing(mores: Run, stories: Path) -> None:
    toss = random.Random(7)
    model = play(stories, lambda n: sure(n % 2 == 0, toss.randrange(101)))
    [finding] = findings(mores("diagnose", "calibration", "normad", "--data", "data", "--model", model, "--json"))
    auroc = finding["figures"]["AUROC"]
    assert auroc["low"] < 0.5 < auroc["high"]
    assert 0.35 < auroc["value"] < 0.65
    assert finding["figures"]["ECE"]["value"] > finding["figures"]["ECE by chance"]["high"]


@pytest.mark.slow
@pytest.mark.usefixtures("scenes")
def test_missing_confidences_and_refusals_are_counted_and_shown(mores: Run, home: Path) -> None:
    def say(n: int) -> str:
        if n < 3:
            return f"Zapallo{n:02d}"  # no confidence
        return f"Answer: {'Zapallo' if n < 20 else '' if n < 24 else 'Calabaza'}\nConfidence: 80"

    model = script(home / "model.jsonl", ((f"escena{n:02d}", say(n)) for n in range(SCENES)))
    judge = grader(home, ("\nZapallo\n", "1"))
    arguments = ("diagnose", "calibration", "culturall", "--data", "data", "--model", model, "--judge", judge)
    done = mores(*arguments)
    assert done.returncode == 0, done.stderr
    assert "no confidence could be read: 3; not attempted: 4" in done.stdout
    [finding] = findings(mores(*arguments, "--json"))
    assert (finding["missing"], finding["not_attempted"]) == ({"no confidence could be read": 3}, 4)
    assert (finding["answers"], finding["figures"]["accuracy"]["n"]) == (40, 37)
    assert values(finding, "accuracy") == [pytest.approx(17 / 37)]
    words = " ".join(done.stdout.split())
    assert "Left out: 3 of 40 answers (3 because no confidence could be read)." in words
    assert "4 answers are not attempts; they count as not correct." in words


def likely(folder: Path) -> Path:
    """A run by log-probability, whose model gives A 80% and B 20%."""
    chosen = benchmark("culturalbench-easy")
    items = list(chosen.read(SAMPLES / "culturalbench" / "sample", lambda _: None))
    model = FakeModel("likely", lambda _: Completion("A", alternatives=(("A", math.log(0.8)), ("B", math.log(0.2)))))
    job = BenchRun(chosen, items, Asker(model, None), asking=Asking(by_logprob=True))
    folder.mkdir()
    write_items(items, folder)

    async def work() -> None:
        await job.ask(folder / RESPONSES)
        await job.grade(folder / RESPONSES, folder / VERDICTS)

    asyncio.run(work())
    return finish(folder, job.score(folder / VERDICTS))


def test_probabilities_of_a_run_are_a_confidence(mores: Run, home: Path) -> None:
    folder = likely(home / "run")
    done = mores("diagnose", "calibration", "run", "--json")
    [finding] = findings(done)
    assert finding["source"] == "log-probability"
    assert values(finding, "confidence") == [pytest.approx(0.8)]
    right = sum(verdict.label == "correct" for verdict in open_bench_run(folder).verdicts())
    assert values(finding, "accuracy") == [pytest.approx(right / finding["answers"])]
    assert "stated: the model must be asked again; name it, fake:likely" in done.stderr


def test_a_server_without_probabilities_is_told_of(mores: Run, home: Path) -> None:
    (home / "data").mkdir()
    (home / "data" / "culturalbench").symlink_to(Path(mores_sample("culturalbench")))
    model = script(home / "model.jsonl", [("", "Answer: A\nConfidence: 60")])
    arguments = ("diagnose", "calibration", "culturalbench-easy", "--data", "data", "--model", model)
    done = mores(*arguments, "--json")
    assert [each["source"] for each in findings(done)] == ["verbalised"]
    assert "likelihood: the server returns no log-probabilities of the options" in done.stderr
    forced = mores(*arguments, "--from", "likelihood")
    assert forced.returncode == 1
    assert "nothing could be measured" in forced.stderr


@pytest.mark.slow
def test_a_model_without_any_graded_answer_is_a_failure(mores: Run, stories: Path) -> None:
    for name, answer in (("good", "yes"), ("mute", NOTHING)):
        model = script(stories / f"{name}.jsonl", [("", answer)])
        mores("bench", "normad", "--data", "data", "--model", model, "--out", "runs", "--samples", "2", "--limit", "10")
    done = mores("diagnose", "stability", "runs/normad/fake_good.jsonl", "runs/normad/fake_mute.jsonl", "--out", "d")
    assert done.returncode == 1
    assert "error: fake:mute.jsonl, normad: nothing could be measured; the reasons are above" in done.stderr
    assert "No answer could be graded, so there is no result." in " ".join(done.stdout.split())
    assert mores("show", "d").returncode == 0
    assert mores("diagnose", "stability", "runs/normad/fake_good.jsonl").returncode == 0


def mores_sample(name: str) -> Path:
    return SAMPLES / name / "sample"


# ---- stability -------------------------------------------------------------------------------------------------


class Wavering:
    """Of every ten answers to a story, as many are right as a function of its number says."""

    def __init__(self, right: Callable[[int], int], period: int = 10) -> None:
        self.times: Counter[str] = Counter()
        self.right, self.period = right, period

    def __call__(self, prompt: str) -> str:
        number = int(prompt.split("in story ")[1][:3])
        self.times[prompt] += 1
        return "yes" if (self.times[prompt] - 1) % self.period < self.right(number) else "no"


@pytest.mark.slow
@pytest.mark.usefixtures("stories")
def test_stability_is_found_as_it_is(mores: Run, home: Path) -> None:
    """A third never right, a third three times in ten, a third always."""
    with Server(answer=Wavering(lambda n: (0, 3, 10)[n % 3])) as server:
        asking = ("--data", "data", "--limit", "30", "--model", "openai:m", "--base-url", server.url)
        arguments = ("diagnose", "stability", "normad", *asking, "--price", "1,2")
        done = mores(*arguments, "--json", OPENAI_API_KEY="x")
        [finding] = findings(done)
        calls = len(server.asked)
        again = mores(*arguments, OPENAI_API_KEY="x")
        assert (calls, len(server.asked)) == (300, 300)
        assert {body["temperature"] for body in server.bodies} == {0.7}
    assert (finding["questions"], finding["samples"], finding["depth"]) == (30, 10, 10)
    numbers = [int(each["question"].split("in story ")[1][:3]) for each in finding["sometimes"]]
    share = len(numbers) / 30
    always = sum(number % 3 == 2 for number in story_numbers(home)) / 30
    assert values(finding, "mean", "best", "worst") == pytest.approx([always + 0.3 * share, always + share, always])
    assert values(finding, "majority", "sometimes", "never") == pytest.approx([always, share, 1 - always - share])
    assert {number % 3 for number in numbers} == {1}
    assert {tuple(sorted((c["n"], c["correct"]) for c in each["clusters"])) for each in finding["sometimes"]} == {
        ((3, 3), (7, 0))
    }
    curve = finding["curves"]["best"]
    assert curve[1]["value"] == pytest.approx(always + share * (1 - 7 * 6 / 90))  # at least one of two of 3 in 10
    assert "normad: asking: 300 calls, about $" in done.stderr
    assert "always" in again.stdout
    agreed = mores("diagnose", "calibration", "diagnose/samples", "--json", "--out", "more")
    [agreement] = findings(agreed)
    assert (agreement["source"], agreement["answers"]) == ("agreement", 300)
    sure_of = 1 - share + share * (0.3 * 0.3 + 0.7 * 0.7)
    assert values(agreement, "confidence", "accuracy") == pytest.approx([sure_of, always + 0.3 * share])


def story_numbers(home: Path) -> list[int]:
    [path] = (home / "diagnose" / "samples").rglob("items.jsonl")
    return [int(json.loads(line)["prompt"].split("in story ")[1][:3]) for line in path.read_text().splitlines()]


@pytest.mark.usefixtures("stories")
def test_ties_are_counted_and_shown(mores: Run) -> None:
    """Four questions of which every second answer is right, asked twice: they are half right."""
    with Server(answer=Wavering(lambda n: 1 if n < 40 else 2, period=2)) as server:
        asking = ("--data", "data", "--limit", "10", "--model", "openai:m", "--base-url", server.url)
        arguments = ("diagnose", "retrieval", "normad", *asking, "--samples", "2", "--search", "fake:none")
        done = mores(*arguments, OPENAI_API_KEY="x")
        assert done.returncode == 0, done.stderr
        calls = len(server.asked)
        [finding] = findings(mores(*arguments, "--json", OPENAI_API_KEY="x"))
        assert len(server.asked) == calls
    assert finding["uncertain"]["ties"] == {"without evidence": 4, "with evidence": 4}
    assert values(finding, "without evidence", "with evidence", "gain") == pytest.approx([0.8, 0.8, 0])
    assert "half correct without evidence: 4; half correct with evidence: 4" in done.stdout


# ---- retrieval -------------------------------------------------------------------------------------------------


def seeker(home: Path, before: Sequence[tuple[str, str]] = (), after: Sequence[tuple[str, str]] = ()) -> str:
    """Reads what is found in three of six ways; see `test_evidence_fails_where_it_fails`."""

    def shown(n: int) -> str:
        if n < 20:
            return f"Zapallo{n:02d}"
        return "Otro" if n < 28 else f"Falso{n:02d}" if n < 38 else "Otro"

    def alone(n: int) -> str:
        return f"Zapallo{n:02d}" if n < 10 or n >= 38 else "Otro"

    rows = [(f"hallado{n:02d}", shown(n)) for n in range(SCENES)] + [
        (f"escena{n:02d}", alone(n)) for n in range(SCENES)
    ]
    return script(home / "seeker.jsonl", [*before, *rows, *after])


def corpus(home: Path) -> str:
    """Documents on all scenes but 28 to 33; those on 34 to 37 say something wrong."""
    texts = [
        f"escena{n:02d} hallado{n:02d} {'Falso' if 34 <= n < 38 else 'Zapallo'}{n:02d}"
        for n in range(SCENES)
        if not 28 <= n < 34
    ]
    (home / "facts.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return "corpus:facts.jsonl"


@pytest.mark.slow
@pytest.mark.usefixtures("scenes")
def test_evidence_fails_where_it_fails(mores: Run, home: Path) -> None:
    """0-9 right always, 10-19 right with evidence, 20-27 not used, 28-33 not found, 34-37 misled, 38-39 spoiled."""
    judge = grader(home, ("CONTAINED: YES or NO", "There it is.\nCONTAINED: YES\nTAKEN: NO"))
    asking = ("--data", "data", "--model", seeker(home), "--judge", judge, "--search", corpus(home), "--results", "1")
    judged = mores("diagnose", "retrieval", "culturall", *asking, "--json")
    [finding] = findings(judged)
    assert values(finding, "without evidence", "with evidence", "gain") == pytest.approx([0.3, 0.5, 0.2])
    assert shares(finding) == {"evidence not found": 6, "found but not used": 12, "used wrongly": 2, "undecided": 0}
    assert (finding["change"]["matrix"]["second"], finding["change"]["matrix"]["first"]) == (10, 2)
    bench_folder = home / "diagnose" / "bench"
    runs = [str(bench_folder / name / "fake_seeker.jsonl") for name in ("culturall", "culturall.search")]
    ruled = mores("diagnose", "retrieval", *runs, "--json", "--out", "ruled")
    [finding] = findings(ruled)
    assert shares(finding) == {"evidence not found": 6, "found but not used": 8, "used wrongly": 6, "undecided": 0}
    assert "calls" not in ruled.stderr
    limited = mores("bench", "culturall", *asking[:-4], "--limit", "10", "--out", "few")
    assert limited.returncode == 0, limited.stderr
    other = mores("diagnose", "retrieval", runs[1], "few")
    assert other.returncode == 2
    assert "data is" in other.stderr
    assert "run them with the same settings, or force the comparison (--force)" in other.stderr


def shares(finding: dict[str, Any]) -> dict[str, int]:
    return {name: round(fault["value"] * fault["n"]) for name, fault in finding["faults"].items()}


# ---- native and English ----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("scenes")
def test_what_is_lost_and_won_in_translation(mores: Run, home: Path) -> None:
    """0-19 are right natively, 15-39 in English."""
    rows = [(f"escena{n:02d}", f"Zapallo{n:02d}" if n < 20 else "Otro") for n in range(SCENES)]
    rows += [(f"scene{n:02d}", f"Squash{n:02d}" if n >= 15 else "Other") for n in range(SCENES)]
    asking = ("--data", "data", "--model", script(home / "model.jsonl", rows), "--judge", grader(home))
    [finding] = findings(mores("diagnose", "translation", "culturall", *asking, "--json"))
    assert values(finding, "natively", "in English", "gain") == pytest.approx([0.5, 0.625, 0.125])
    assert finding["change"]["matrix"] == {"both": 5, "first": 15, "second": 20, "neither": 0}
    assert finding["lost"][0]["second"]["reference"] == ["Squash00"]
    shown = mores("diagnose", "translation", "diagnose/bench")
    assert shown.returncode == 0, shown.stderr
    assert "15 questions are correct only natively and 20 only in English" in " ".join(shown.stdout.split())


# ---- errors ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("stories")
def test_errors_are_sorted_and_the_judge_is_checked(mores: Run, home: Path) -> None:
    good = play(home, lambda n: "no" if n < 10 else "yes", name="good")
    bad = play(home, lambda n: "no" if n < 30 else "yes", name="bad")
    for model in (good, bad):
        assert mores("bench", "normad", "--data", "data", "--model", model).returncode == 0
    told_apart = [(told(0), "I cannot say."), *((told(n), "A date.\nTYPE: 4") for n in range(1, 8))]
    judge = script(home / "judge.jsonl", [*told_apart, ("", "A custom.\nTYPE: 1")])
    done = mores("diagnose", "errors", "bench", "--judge", judge, "--json")
    worse, better, table = findings(done)
    assert [(each["model"], each["wrong"], each["failures"]) for each in (better, worse)] == [
        ("fake:good.jsonl", 10, {"parse": 1}),
        ("fake:bad.jsonl", 30, {"parse": 1}),
    ]
    assert list(better["counts"].values()) == [2, 0, 0, 7, 0, 0]
    assert list(worse["counts"].values()) == [22, 0, 0, 7, 0, 0]
    assert [row["count"] for row in table["types"][:2]] == [24, 14]
    run = home / "bench" / "normad" / "fake_good.jsonl"
    ids = [each.id for each in open_bench_run(run).items()]
    first, *_, fourth = (row["type"] for row in better["cases"] if row["type"])
    names = sorted({first, fourth})
    custom, number = names[0], names[1]
    known = [(ids[1], number), (ids[2], number), (ids[3], custom), (ids[8], custom)]
    rows = [json.dumps({"item_id": one, "answer": "no", "type": kind}) for one, kind in known]
    (home / "labelled.jsonl").write_text("\n".join(rows))
    checked = mores("diagnose", "errors", str(run), "--judge", judge, "--check", "labelled.jsonl")
    assert checked.returncode == 0, checked.stderr
    assert "Of 4 answers that people classified, the judge gives 75.0%" in " ".join(checked.stdout.split())
    assert "no type, the answer could not be parsed: 1" in checked.stdout
    assert "classifying errors: 10 of 10, no calls" in " ".join(checked.stderr.split())


# ---- locality --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("scenes", "quick_figures")
def test_locality_says_where_a_model_is_at_home(mores: Run, home: Path) -> None:
    judge = grader(home)
    for name, language in (("spanish", 0), ("japanese", 1)):
        rows = [(f"escena{n:02d}", f"Zapallo{n:02d}" if n % 2 == language else "Otro") for n in range(SCENES)]
        model = script(home / f"{name}.jsonl", rows)
        done = mores("bench", "culturall", "--data", "data", "--model", model, "--judge", judge)
        assert done.returncode == 0, done.stderr
    done = mores("diagnose", "locality", "bench", "--json")
    [finding] = findings(done)
    verdicts = {
        each["model"]: {local["group"]: local["verdict"] for local in each["groups"]} for each in finding["profiles"]
    }
    assert verdicts == {
        "fake:spanish.jsonl": {"es": "above", "ja": "below"},
        "fake:japanese.jsonl": {"ja": "above", "es": "below"},
    }
    shown = mores("diagnose", "locality", "bench")
    assert "better than overall in Spanish (+50.0 points" in " ".join(shown.stdout.split())
    assert (home / "diagnose" / "locality.json").is_file()
    pytest.importorskip("matplotlib")
    drawn = mores("diagnose", "locality", "bench", "--figures", "paper")
    assert "files into paper" in drawn.stderr
    assert {path.suffix for path in (home / "paper").iterdir()} >= {".svg", ".csv", ".tex"}


# ---- contamination ---------------------------------------------------------------------------------------------


def test_contamination_of_a_model_that_always_says_b(mores: Run, home: Path) -> None:
    (home / "data").mkdir()
    (home / "data" / "culturalbench").symlink_to(SAMPLES / "culturalbench" / "sample")
    model = script(home / "b.jsonl", [("", "B")])
    done = mores("diagnose", "contamination", "culturalbench-easy", "--data", "data", "--model", model, "--json")
    assert done.returncode == 0, done.stderr
    [finding] = findings(done)
    tests = {test["name"]: test for test in finding["tests"]}
    assert tests["order"]["difference"]["value"] == 0
    assert tests["completion"]["seen"]["value"] < 0.3
    assert "Contamination" in Path("diagnose/diagnose.html").read_text()
    assert mores("bench", "culturalbench-easy", "--data", "data", "--model", model).returncode == 0
    assert "contamination needs a benchmark" in mores("diagnose", "contamination", "bench").stderr


# ---- items -----------------------------------------------------------------------------------------------------


def test_items_put_models_and_questions_on_one_scale_and_find_a_short_form(stories: Path, mores: Run) -> None:
    """Six models that know the first 20 to 70 stories, and some by chance: the later a story, the harder it is."""
    for number, known in enumerate((20, 30, 40, 50, 60, 70)):
        lucky = random.Random(number).sample(range(STORIES), 12)
        answers = [yes_or_no((n < known) != (n in lucky)) for n in range(STORIES)]
        model = play(stories, answers.__getitem__, name=f"m{known}")
        assert mores("bench", "normad", "--data", "data", "--model", model).returncode == 0
    done = mores("diagnose", "items", "bench", "--json", "--out", "scale")
    [finding] = findings(done)
    assert [each["model"] for each in finding["abilities"]] == [f"fake:m{known}.jsonl" for known in range(70, 10, -10)]
    abilities = [each["ability"] for each in finding["abilities"]]
    assert all(each["low"] < each["value"] < each["high"] for each in abilities)
    asked = {item.id: item.prompt for item in open_bench_run("bench/normad/fake_m20.jsonl").items()}
    order = [asked[each["id"]] for each in finding["questions"]]
    places = [next(n for n in range(STORIES) if told(n) in prompt) for prompt in order]
    assert sum(places[:20]) > sum(places[-20:]) + 800
    assert [form["size"] for form in finding["forms"]] == [10, 20, 50]
    assert "Questions and models" in Path("scale/diagnose.html").read_text()
    shown = mores("diagnose", "items", "bench", "--short", "15")
    assert "A short form of 15 of 100 questions ranks models" in " ".join(shown.stdout.split())
    chosen = Path("diagnose/items/normad.txt")
    assert len(set(chosen.read_text().split())) == 15
    short = ("bench", "normad", "--data", "data", "--model", "fake:m20.jsonl", "--out", "short", "--ids", str(chosen))
    assert mores(*short).returncode == 0
    assert open_bench_run("short/normad/fake_m20.jsonl").result.questions == 15
    chosen.write_text("nothing\n")
    assert "normad has no question 'nothing'; remove the line" in mores(*short).stderr
    few = mores("diagnose", "items", "bench", "--item-model", "2pl")
    assert "6 models are too few to estimate a discrimination for each question" in few.stderr
    ranked = mores("board", "bench", "--ability", "--json")
    [leaderboard] = json.loads(ranked.stdout)["leaderboards"]
    assert [each["ability"]["value"] for each in leaderboard["standings"]] == pytest.approx(
        [each["value"] for each in abilities]
    )
    assert "ability" not in mores("board", "bench", "--json").stdout


# ---- all -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("scenes")
def test_all_of_it_on_one_page(mores: Run, home: Path) -> None:
    contained = "x\nCONTAINED: NO\nTAKEN: NO"
    judge = grader(home, ("TYPE: number", "A custom.\nTYPE: 1"), ("CONTAINED: YES or NO", contained))
    labels = [form_of(language).confidence for language in ("es", "ja")]
    sure_of_all = [(label, "Answer: Zapallo\nConfidence: 70") for label in labels]
    model = seeker(home, before=sure_of_all, after=[("scene", "Squash")])
    asking = ("--data", "data", "--model", model, "--judge", judge, "--search", corpus(home), "--samples", "2")
    arguments = ("diagnose", "all", "culturall", *asking, "--json")
    done = mores(*arguments)
    assert done.returncode == 0, done.stderr
    printed = {each["kind"]: each for each in json.loads(done.stdout)}
    assert {kind: [each["record"] for each in own["results"]] for kind, own in printed.items()} == {
        "calibration": ["Calibration", "Calibration"],
        "stability": ["Stability"],
        "retrieval": ["RetrievalResult"],
        "translation": ["TranslationResult"],
        "errors": ["ErrorsResult"],
        "locality": ["Locality"],
    }
    assert values(findings(done, "calibration")[0], "confidence", "accuracy") == pytest.approx([0.7, 1.0])
    assert all(each["paragraph"] for own in printed.values() for each in own["results"])
    assert "left out: calibration of culturall, likelihood: there are no options to compare" in done.stderr
    assert {path.name for path in (home / "diagnose").glob("*.json")} == {
        "run.json",
        *(f"{kind}.json" for kind in printed),
    }
    page = (home / "diagnose" / "diagnose.html").read_text()
    assert "seeker.jsonl" in page
    script(home / "seeker.jsonl", [("", NOTHING)])  # the same names, and nothing right to say any more
    script(home / "judge.jsonl", [("", NOTHING)])
    again = mores(*arguments)
    assert again.stdout == done.stdout
    assert (home / "diagnose" / "diagnose.html").read_text() == page


def test_all_says_what_it_leaves_out(mores: Run, stories: Path) -> None:
    model = play(stories, lambda n: sure(n % 3 == 0, 60))
    done = mores("diagnose", "all", "normad", "--data", "data", "--model", model, "--samples", "1")
    assert done.returncode == 0, done.stderr
    assert "Its confidence is off by" in " ".join(done.stdout.split())
    for line in (
        "left out: stability of normad: normad: one answer per question cannot show whether answers change",
        "left out: retrieval of normad: normad: evidence comes from a search; name one, such as corpus:PATH",
        "left out: translation of normad: normad: its questions have no variant 'english'; name another: ",
        "left out: errors of normad: a judge decides the type of an error; name one",
        "left out: locality: all questions are in one language",
    ):
        assert line in done.stderr
    assert json.loads((stories / "diagnose" / "stability.json").read_text())["results"] == []


# ---- what goes wrong -------------------------------------------------------------------------------------------


def fails(capsys: pytest.CaptureFixture[str], arguments: Sequence[str]) -> tuple[int, str]:
    """In this process, for there are many of them."""
    with pytest.raises(SystemExit) as stopped:
        main(["diagnose", *arguments])
    return int(str(stopped.value.code or 0)), " ".join(capsys.readouterr().err.split())


RUN = "bench/normad/fake_model.jsonl"
CLEAN = ("--model", "fake:clean")
"""Without a model named, the embedded one would be pulled."""


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["stability", "calmqa"], 2, "calmqa: its answers are long, and measured rather than correct or not; give"),
        (["stability", RUN], 2, "one answer per question cannot show whether answers change; give a run with"),
        (
            ["stability", "normad", "--samples", "1", *CLEAN],
            2,
            "whether answers change; ask for several, such as 10 (--samples)",
        ),
        (
            ["retrieval", "normad", *CLEAN],
            2,
            "normad: evidence comes from a search; name one, such as corpus:PATH (--search)",
        ),
        (
            ["retrieval", RUN],
            2,
            "1 run is given, but two are compared; give two runs of `mores bench`, one with a search",
        ),
        (["retrieval", RUN, "other"], 2, "neither was asked with evidence; give one run of `mores bench` with"),
        (["translation", "blend", *CLEAN], 2, "blend: its questions have no variant 'english'; it has none"),
        (["translation", "normad", *CLEAN], 2, "normad: its questions have no variant 'english'; name another: "),
        (["translation", RUN, "other"], 2, "both were asked natively; give one run of `mores bench` without"),
        (["errors", RUN], 2, "a judge decides the type of an error; name one, for example openai:NAME (--judge)"),
        (
            ["errors", RUN, "--judge", "fake:clean"],
            1,
            "none of its 100 answers is wrong; there are no errors to classify",
        ),
        (["calibration", RUN], 2, "stated: the model must be asked again; name it, fake:model.jsonl"),
        (
            ["calibration", RUN, "--model", "fake:clean"],
            2,
            "a run of fake:model.jsonl, not of fake:clean; give",
        ),
        (
            ["calibration", RUN, "--from", "agreement"],
            2,
            "no confidence: agreement: bench/normad/fake_model.jsonl has one answer per question; give a run",
        ),
        (
            ["calibration", "normad", "--from", "guess", *CLEAN],
            2,
            "no such confidence; there are stated, likelihood, agreement",
        ),
        (
            ["calibration", "msqa", *CLEAN],
            2,
            "msqa is graded by a model: name a judge, for example openai:NAME (--judge)",
        ),
        (["all", RUN], 2, "all needs a benchmark, because it asks the questions again; name it"),
        (["stability", "normda"], 2, "unknown benchmark 'normda'; did you mean 'normad'?"),
        (
            ["stability", "some/where"],
            1,
            "some/where: there is no run in it, because it has no run.json; give a folder",
        ),
    ],
)
def test_what_is_wrong_is_said_with_the_fix(
    runs: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    status, printed = fails(capsys, [*arguments, "--data", str(runs / "data")])
    assert (status, message in printed) == (code, True), printed


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two runs without a mistake, in the folder where the command runs."""
    home = write_stories(tmp_path_factory.mktemp("runs"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        patch.setenv("MORES_CACHE", str(home / "cache"))
        play(home, lambda _: "yes")
        for out in ("bench", "other"):
            with pytest.raises(SystemExit) as stopped:
                main(["bench", "normad", "--data", "data", "--model", "fake:model.jsonl", "--out", out])
            assert stopped.value.code == 0
        yield home


@pytest.mark.parametrize(
    "kind",
    ["calibration", "stability", "retrieval", "translation", "errors", "locality", "items", "contamination", "all"],
)
def test_every_kind_says_how_it_is_used(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["diagnose", kind, "--help"])
    printed = capsys.readouterr().out
    assert stopped.value.code == 0
    assert f"diagnose {kind} [OPTIONS] RUN" in printed
    assert "--out DIRECTORY" in printed


def test_facts_of_named_models_are_shown_where_models_are_compared(stories: Path, mores: Run) -> None:
    facts = {"north": 'provider = "Nordic", open = true', "south": 'provider = "Austral", country = "PE"'}

    def answers(right: int) -> Callable[[int], str]:
        return lambda n: yes_or_no(n < right)

    tables = [
        f'[models.{name}]\nmodel = "{play(stories, answers(right), name=name)}"\nfacts = {{ {known} }}\n'
        for right, (name, known) in zip((80, 40), facts.items(), strict=True)
    ]
    Path("study.toml").write_text("".join(tables))
    for name in facts:
        done = mores("bench", "normad", "--data", "data", "--config", "study.toml", "--model", name)
        assert done.returncode == 0, done.stderr
    page = Path("bench/bench.html").read_text()  # of the last run
    assert "<dt>Provider</dt><dd><bdi>Austral</bdi></dd>" in page
    assert "<dt>Country</dt><dd><bdi>PE</bdi></dd>" in page
    ranked = mores("board", "bench", "--by", "provider", "--html", "board.html")
    assert "provider: Nordic" in ranked.stdout
    board = Path("board.html").read_text()
    assert board.index("provider: Nordic") < board.index("provider: Austral")
    assert "<dt>Provider</dt><dd><bdi>Nordic, Austral</bdi></dd>" in board
    done = mores("diagnose", "locality", "bench", "--by", "region", "--out", "why")
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["model", "provider", "open", "country"] in rows
    assert ["north", "Nordic", "yes", "–"] in rows
    assert "<dt>Provider</dt><dd><bdi>Nordic, Austral</bdi></dd>" in Path("why/diagnose.html").read_text()


def yes_or_no(right: bool) -> str:
    return "yes" if right else "no"
