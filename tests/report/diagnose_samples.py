"""Results of every analysis, made by the real analyses from scripted answers whose numbers are known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from mores.benchmark.benchmark import Label, Verdict
from mores.benchmark.board import BoardEntry
from mores.benchmark.score import BenchResult
from mores.diagnosis.calibration import AGREEMENT, LIKELIHOOD, VERBALISED, CalibrationResult, calibrate
from mores.diagnosis.confidence import measure_agreement
from mores.diagnosis.errors import (
    ErrorsResult,
    LabelledError,
    TypeCheck,
    Typed,
    check_types,
    diagnose_errors,
    type_names,
)
from mores.diagnosis.evidence import open_runs
from mores.diagnosis.locality import Locality, Ran, measure_locality
from mores.diagnosis.paired import Subject, open_run
from mores.diagnosis.retrieval import RetrievalResult, diagnose_retrieval
from mores.diagnosis.scale import ItemScale, measure_scale
from mores.diagnosis.stability import Stability, measure_stability
from mores.diagnosis.translation import TranslationResult, diagnose_translation, open_versions
from mores.search.base import Evidence, Found, Query
from mores.types import Failure, FailureKind, Item, Record, Result, Signature
from tests.diagnosis.runs import BENCH, GARBLED, SEARCH_FOUND, UNSURE, make_run

LANGUAGES = ("ar", "th", "ko", "fr", "zh")
TOPICS = ("food", "history", "festivals")
QUESTIONS = {
    "ar": "ما اسم الحلوى التي تقدم في العيد؟", "th": "ขนมชนิดใดที่กินในเทศกาลนี้", "ko": "설날에 먹는 음식은 무엇입니까?",
    "fr": "Quel gâteau mange-t-on à l’Épiphanie ?", "zh": "端午节吃什么食物？",
}  # fmt: skip
REFUSED = Failure(kind=FailureKind.PARSE, reason="no confidence")
MODEL = "fake:a-model"


def items(count: int) -> list[Item]:
    return [
        Item(
            id=f"q{i}", prompt=f"{QUESTIONS[LANGUAGES[i % 5]]} ({i})", target=("yes",), language=LANGUAGES[i % 5],
            topic=TOPICS[i % 3],
        )
        for i in range(count)
    ]  # fmt: skip


def subject(count: int, model: str = MODEL) -> Subject:
    return Subject(BENCH, items(count), model, Signature(task="toy.1", data="d", model=model))


def verdicts(right: Sequence[bool], sample: int = 0) -> Iterator[Verdict]:
    """Every eleventh is not attempted and every thirteenth has no grade, whatever `right` says."""
    for i, hit in enumerate(right):
        label = Label.CORRECT if hit else Label.INCORRECT
        label = Label.NOT_ATTEMPTED if i % 11 == 10 and not hit else label
        failed = Failure(kind=FailureKind.PARSE, reason="unread") if i % 13 == 12 else None
        answer = "yes" if hit else f"no {(i + sample) % 3}"
        yield Verdict(
            item_id=f"q{i}", unit=f"q{i}", sample=sample, answer=answer, label=None if failed else label,
            failure=failed, reason="The reference says otherwise.",
        )  # fmt: skip


@cache
def calibrations(model: str = MODEL, count: int = 400) -> tuple[CalibrationResult, ...]:
    """Stated: far too sure. Likelihood: right as often as it says. Agreement: of five answers."""
    rng = np.random.default_rng(1)
    chance = rng.beta(1.2, 1.0, count)
    right = (rng.random(count) < chance).tolist()
    stated = {
        (f"q{i}", 0): REFUSED if i % 17 == 3 else min(1.0, round((0.7 + 0.3 * p) * 20) / 20)
        for i, p in enumerate(chance.tolist())
    }
    likelihood: dict[tuple[str, int], float | Failure] = {(f"q{i}", 0): p for i, p in enumerate(chance.tolist())}
    five = [one for sample in range(4) for one in verdicts((rng.random(count) < chance).tolist(), sample)]
    about = subject(count, model)
    return (
        calibrate(about, VERBALISED, verdicts(right), stated, ("Thai was asked in English",)),
        calibrate(about, LIKELIHOOD, verdicts(right), likelihood),
        calibrate(about, AGREEMENT, five, measure_agreement(BENCH, five)),
    )


@cache
def stable(model: str = MODEL, count: int = 60, samples: int = 12) -> Stability:
    """A third of the questions each: never right, right with probability 0.4, always right."""
    rng = np.random.default_rng(2)
    chance = np.array([(0.0, 0.4, 1.0)[(i // 5) % 3] for i in range(count)])
    rows = [verdicts((rng.random(count) < chance).tolist(), sample) for sample in range(samples)]
    return measure_stability(subject(count, model), [one for row in zip(*rows, strict=True) for one in row])


# ---- runs ------------------------------------------------------------------------------------------------------

KINDS = {"kept": 30, "helped": 24, "ignored": 12, "missing": 15, "spoiled": 6, "decoyed": 6, "nothing": 3, "garbled": 4}


def _asked() -> list[Item]:
    return [
        Item(
            id=f"{kind}-{n}", prompt=f"{QUESTIONS[LANGUAGES[n % 5]]} Which town is that of {kind}-{n}?",
            target=(f"Town{kind}{n}",), language=LANGUAGES[n % 5], topic=TOPICS[n % 3],
        )
        for kind, count in KINDS.items()
        for n in range(count)
    ]  # fmt: skip


def _say(prompt: str) -> str:
    kind, n = re.findall(r"that of (\w+)-(\d+)", prompt)[-1]
    shown = SEARCH_FOUND in prompt
    if kind == "garbled" and not shown:
        return GARBLED
    if kind == "decoyed" and shown:
        return f"Decoyville{n}"
    if kind == "missing" and shown and n == "0":
        return UNSURE
    right = {"kept", "helped"} if shown else {"kept", "spoiled"}
    return f"Town{kind}{n}" if kind in right else f"Nowhere{n}"


def _find(query: Query) -> Found:
    kind, n = re.findall(r"that of (\w+)-(\d+)", query.text)[-1]
    if kind == "nothing":
        return Found()
    texts = ["A page about bread."]
    texts += [f"It is known that Town{kind}{n} is that town."] if kind in {"kept", "helped", "ignored"} else []
    texts += [f"Some say that it is Decoyville{n}."] if kind == "decoyed" else []
    return Found(evidence=tuple(Evidence(text=text) for text in texts))


@cache
def retrieved() -> RetrievalResult:
    with TemporaryDirectory() as folder:
        paths = (make_run(Path(folder, name), _asked(), _say, find=find, name="a-model")
                 for name, find in (("without", None), ("with", _find)))  # fmt: skip
        runs = open_runs(*paths, benchmark=BENCH)
        return diagnose_retrieval(runs, runs.seen())


WAYS = {"both": 40, "lost": 25, "won": 6, "neither": 15, "garbled": 3}


def _two_ways(kind: str, n: int) -> Item:
    language = LANGUAGES[n % 5]
    native = {"scenario": "", "question": f"{QUESTIONS[language]} native? {kind} {n}", "answer": f"nativo{n}"}
    english = {"scenario": "At home.", "question": f"What is eaten then? english? {kind} {n}", "answer": f"angle{n}"}
    return Item(
        id=f"{kind}-{n}", prompt=native["question"], target=(native["answer"],), language=language, topic=TOPICS[n % 3],
        metadata={"versions": {"": native, "english": english}, "variants": {"english": english["question"]}},
    )  # fmt: skip


def _say_both(prompt: str) -> str:
    *_, way, kind, n = prompt.split()
    if kind == "garbled":
        return GARBLED if way == "english?" else "wrong"
    right = kind in ({"both", "lost"} if way == "native?" else {"both", "won"})
    return (f"It is nativo{n}" if way == "native?" else f"It is angle{n}") if right else f"خطأ {n}"


@cache
def translated() -> TranslationResult:
    asked = [_two_ways(kind, n) for kind, count in WAYS.items() for n in range(count)]
    with TemporaryDirectory() as folder:
        paths = (make_run(Path(folder, variant or "native"), asked, _say_both, variant=variant, name="a-model")
                 for variant in (None, "english"))  # fmt: skip
        return diagnose_translation(open_versions(*paths, benchmark=BENCH))


TYPES = (12, 7, 6, 3, 1, 0)


@cache
def erring(model: str = "a-model") -> ErrorsResult:
    """Wrong answers to all questions but the last ten; the judge fails on three of them."""
    asked = [item.model_copy(update={"target": ("Someone",)}) for item in items(sum(TYPES) + 14)]
    right = {item.prompt for item in asked[-10:]}
    said = {item.prompt: "Someone" if item.prompt in right else "Somebody else" for item in asked} | {
        asked[-11].prompt: UNSURE
    }
    given = [name for name, count in zip(type_names(), TYPES, strict=True) for _ in range(count)]
    typed = [
        Typed(item_id=item.id, answer="Somebody else", type=name, reason="It names a better-known neighbour.")
        for item, name in zip(asked, given, strict=False)
    ]
    typed += [Typed(item_id=item.id, answer="Somebody else", failure=REFUSED) for item in asked[len(given) :][:3]]
    with TemporaryDirectory() as folder:
        path = make_run(Path(folder, "run"), asked, said.__getitem__, name=model)
        return diagnose_errors(open_run(path, BENCH), typed, "a-judge", Signature(types="j"))


@cache
def checked() -> TypeCheck:
    """People: ten of each of two types; the judge agrees on 8 and 9 of them and fails on one."""
    first, second = type_names()[:2]
    gold, judge = [first] * 10 + [second] * 10, [first] * 8 + [second] * 2 + [first] + [second] * 8 + [None]
    labelled = [LabelledError(item_id=str(n), answer="a", type=one) for n, one in enumerate(gold)]
    typed = [
        Typed(item_id=str(n), answer="a", type=one, failure=None if one else REFUSED) for n, one in enumerate(judge)
    ]
    return check_types(labelled, typed, "a-judge", Signature(types="j"))


def ran(model: str, bench: str, shares: dict[str, float], luck: Sequence[float]) -> Ran:
    """A run in which about so large a share of each language's questions is right; five more have no language."""
    each = len(luck) // len(shares)
    languages = [language for language in shares for _ in range(each)]
    credit = {f"q{i}": float(luck[i] < shares[language]) for i, language in enumerate(languages)}
    groups: dict[str, str | None] = {f"q{i}": language for i, language in enumerate(languages)}
    found = BenchResult(
        benchmark=bench, title=bench, model=model, judge=None, questions=len(credit), samples=1, by={},
        signature=Signature(task=f"{bench}.1", data="d.4", model=model),
        figures={"accuracy": Result(name="accuracy", value=0.5)},
    )  # fmt: skip
    loose = {f"loose{i}": 1.0 for i in range(5)}
    entry = BoardEntry(f"{bench}/{model}", found, credit | loose)
    return Ran(entry, groups | dict.fromkeys(loose) | {"unscored": "th"})


@cache
def local() -> Locality:
    """Four models on two benchmarks; the best of the first is the worst of the second."""
    rng = np.random.default_rng(3)
    spread = {"ar": 0.25, "th": -0.2, "ko": 0.0, "fr": 0.05, "zh": -0.1}
    levels = {MODEL: (0.7, 0.3), "fake:b-model": (0.6, 0.62), "fake:c-model": (0.58, 0.6), "fake:d-model": (0.4, 0.45)}
    runs = [
        ran(model, bench, {language: level + more for language, more in spread.items()}, rng.random(300).tolist())
        for model, own in levels.items()
        for bench, level in zip(("first", "second"), own, strict=True)
    ]
    return measure_locality(runs)


@cache
def scaled() -> ItemScale:
    """Four models on 60 questions, from easy to difficult."""
    rng, runs = np.random.default_rng(5), {}
    for number in range(5):
        right = rng.random(60) < 1 / (1 + np.exp(np.linspace(-3, 3, 60) - number / 2))
        runs[f"fake:{number}"] = ran(f"fake:{number}", "first", {"th": 0.0}, [0.0])
        credit = {f"q{place:02}": float(hit) for place, hit in enumerate(right)}
        runs[f"fake:{number}"] = Ran(replace(runs[f"fake:{number}"].entry, credit=credit), {})
    return measure_scale("first", runs, False, None)


@cache
def everything() -> list[Record]:
    diagnoses = [*calibrations(), stable(), retrieved(), translated(), erring(), erring("b-model"), checked(), local()]
    return [*diagnoses, scaled()]
