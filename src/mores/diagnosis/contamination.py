"""Contamination: whether a model has seen the test data of a benchmark.

| test | the model sees | a sign that it has seen the data |
| --- | --- | --- |
| order | the options as published, and with the wrong ones in another order | more correct answers as published |
| completion | half a question, with and without the benchmark's name | the name brings back the other half |
| recognition | a question and a paraphrase of it, in both orders | it takes the published one for the benchmark's |

In the first test the correct option keeps its letter, so that a preference for letters makes no difference. Both
versions of a question are exchangeable for a model that has not seen it, and so are the halves written with and without
the name as far as the name says nothing about the question: swapping them at random gives the p-value. A paraphrase may
be told from a question that people wrote by its style alone, so recognition has an interval but no verdict.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path
from string import ascii_uppercase

import numpy as np

from mores.benchmark.benchmark import Label, Verdict
from mores.benchmark.choice import can_reorder, grade_letter, lettered, reorder
from mores.benchmark.folder import RESPONSES, VERDICTS
from mores.benchmark.run import ALTERNATIVES, BenchJob, likeliest
from mores.diagnosis.paired import LONGEST, shorten, subject_of_run
from mores.engine import Answer, Asker, Job
from mores.errors import ConfigError
from mores.factory.drafts import draw
from mores.formatting import count, p_equals, percent, points, to
from mores.io import read_records
from mores.models.base import Stop, greedy
from mores.prompts import fill, hash_prompts, read_prompt
from mores.reading import without_thoughts
from mores.stats.missing import decide
from mores.stats.resampling import compare_means
from mores.stats.results import difference_result, mean_result
from mores.types import Failure, Item, Record, Result, Signature

ORDER, COMPLETION, RECOGNITION = "order", "completion", "recognition"
PERMUTATIONS = 10_000
FLAGGED = 0.01
"""A test says that the data was seen below this p-value; of two tests, half of it counts."""
SHORTEST = 40
"""A question with fewer characters has no half that is worth completing."""
VERBATIM = 0.9
"""A second half of which so much stands in one piece in the answer was known by heart."""
CASES = 20
COMPLETION_TOKENS = 128
LONGEST_COMPLETION = 32 * COMPLETION_TOKENS
"""Characters that are compared: a server may ignore how many tokens it may write."""
_PROMPTS = {
    name: read_prompt(__file__, f"prompts/{name}")
    for name in ("complete.known", "complete.plain", "paraphrase.en", "recognise.en")
}


class ContaminationTest(Record):
    """One test: the mean with the published data, of the control, and their difference."""

    name: str
    seen: Result
    control: Result
    difference: Result
    p: float | None = None
    """One-sided, by swapping the two at random; None where the two are not exchangeable."""


class CompletedHalf(Record):
    """A question whose second half the model wrote."""

    item_id: str
    half: str
    expected: str
    written: str
    overlap: float
    """The longest stretch of the second half in the answer, as a share of it; below 0 where there is no answer."""
    failure: Failure | None = None


class Contamination(Record):
    """The signs that one model has seen a benchmark."""

    model: str
    benchmark: str
    signature: Signature
    tests: tuple[ContaminationTest, ...]
    completed: tuple[CompletedHalf, ...]
    """The halves that were brought back best."""
    verbatim: int = 0
    """Halves that were brought back word for word."""
    left_out: dict[str, int]
    """Questions that could not be used, by reason."""

    @property
    def flagged(self) -> list[str]:
        """The tests that say that the data was seen, whatever is missing."""
        return [test.name for test in self.significant if not test.difference.unscored or decide(test.difference) > 0]

    @property
    def significant(self) -> list[ContaminationTest]:
        """The tests that say so by the answers that are there."""
        tested = [test for test in self.tests if test.p is not None]
        return [test for test in tested if (test.p or 0.0) < FLAGGED / len(tested)]


async def find_contamination(job: BenchJob, judge: Asker | None, folder: Path) -> Contamination:
    """Ask a model the questions of a benchmark in the ways of all tests that are possible."""
    left_out: Counter[str] = Counter()
    tests = []
    if test := await _exchange(job, folder, left_out):
        tests.append(test)
    halves = list(split_questions(job.items))
    left_out[f"completion: fewer than {SHORTEST} characters"] += len(job.items) - len(halves)
    completed: list[CompletedHalf] = []
    if halves:
        known, plain = [await _complete(job, folder, name, halves) for name in ("complete.known", "complete.plain")]
        named, alone = ({each.item_id: each.overlap for each in part} for part in (known, plain))
        test = compare(COMPLETION, named, alone, [item.id for item, _, _ in halves])
        left_out["completion: no answer"] += len(halves) - test.seen.n
        tests, completed = [*tests, test], known
    if halves and judge:
        tests.append(await _recognise(job, judge, folder, {item.id: first + rest for item, first, rest in halves}))
        left_out["recognition: no paraphrase, or no answer"] += len(halves) - tests[-1].seen.n
    if not tests:
        raise ConfigError(f"{job.benchmark.name}: it has neither options to exchange nor questions of some length")
    completed.sort(key=lambda each: -each.overlap)
    subject = subject_of_run(job, contamination=hash_prompts(*_PROMPTS.values()))
    return Contamination(
        model=subject.model,
        benchmark=job.benchmark.name,
        signature=subject.signature,
        tests=tuple(tests),
        completed=tuple(completed[:CASES]),
        verbatim=sum(each.overlap >= VERBATIM for each in completed),
        left_out={reason: n for reason, n in left_out.items() if n},
    )


def compare(
    name: str,
    seen: Mapping[str, float],
    control: Mapping[str, float],
    asked: Collection[str] = (),
    *,
    tested: bool = True,
) -> ContaminationTest:
    """Return a test on the questions that have both values; the others of those `asked` are missing."""
    ids = sorted({*asked, *seen, *control})
    first, second = (np.array([values.get(id_, np.nan) for id_ in ids]) for values in (seen, control))
    both = ~np.isnan(first + second)
    lost, pair = int((~both).sum()), (first[both], second[both])
    test = compare_means(*pair, permutations=PERMUTATIONS) if tested else None
    one_sided = None if test is None else test.p_value / 2 if test.difference > 0 else 1 - test.p_value / 2
    return ContaminationTest(
        name=name,
        seen=mean_result("seen", pair[0], unscored=lost),
        control=mean_result("control", pair[1], unscored=lost),
        difference=difference_result("difference", first, second),
        p=one_sided,
    )


# ---- order -----------------------------------------------------------------------------------------------------


def exchange(item: Item) -> Item | None:
    """Return a question with its wrong options in another order; None where fewer than two of them can move."""
    wrong = [place for place, choice in enumerate(item.choices) if choice not in item.target]
    if len(wrong) < 2 or not can_reorder(item):
        return None
    drawn = sorted(wrong, key=lambda place: draw(0, item.id, "exchange", str(place)))
    if drawn == wrong:
        drawn = drawn[1:] + drawn[:1]
    places = iter(drawn)
    order = [next(places) if place in wrong else place for place in range(len(item.choices))]
    return reorder(item, order)


async def _exchange(job: BenchJob, folder: Path, left_out: Counter[str]) -> ContaminationTest | None:
    if job.benchmark.grade is not grade_letter:
        return None
    pairs = [(item, moved) for item in job.items if (moved := exchange(item))]
    left_out["order: options that cannot change places"] += len(job.items) - len(pairs)
    if not pairs:
        return None
    credit = []
    for name, items in zip(("published", "exchanged"), zip(*pairs, strict=True), strict=True):
        part = replace(job, items=list(items))
        await part.ask(folder / f"{name}.{RESPONSES}")
        await part.grade(folder / f"{name}.{RESPONSES}", folder / f"{name}.{VERDICTS}")
        verdicts = read_records(folder / f"{name}.{VERDICTS}", Verdict)
        credit.append({v.item_id: float(v.label is Label.CORRECT) for v in verdicts if v.label})
    test = compare(ORDER, credit[0], credit[1], [item.id for item, _ in pairs])
    left_out["order: an answer could not be graded"] += len(pairs) - test.seen.n
    return test


# ---- completion ------------------------------------------------------------------------------------------------


def split_questions(items: Sequence[Item]) -> Iterator[tuple[Item, str, str]]:
    """Yield each question that is long enough, in halves.

    A question is what a prompt has besides its options and the lines that most prompts share.
    """
    lines = Counter(line for item in items for line in set(item.prompt.splitlines()))
    shared = {line for line, times in lines.items() if times > max(1, len(items) / 2)}
    asked: set[str] = set()
    for item in items:
        text = item.prompt.replace(lettered(item.choices), "") if item.choices else item.prompt
        kept = [re.sub(r"^\w+: ", "", line) for line in text.splitlines() if line.strip() and line not in shared]
        question = " ".join(" ".join(kept).split())
        if len(question) < SHORTEST or question in asked:  # statements of one question repeat it
            continue
        asked.add(question)
        middle = len(question) // 2
        gap = question.find(" ", middle, middle + 20)  # scripts without spaces are cut anywhere
        yield item, question[: gap if gap > 0 else middle], question[gap if gap > 0 else middle :]


async def _complete(
    job: BenchJob, folder: Path, name: str, halves: Sequence[tuple[Item, str, str]]
) -> list[CompletedHalf]:
    prompts = (fill(_PROMPTS[name], title=_title(job), half=half) for _, half, _ in halves)
    jobs = [
        Job(item.id, greedy(prompt, COMPLETION_TOKENS), data=(half, rest))
        for (item, half, rest), prompt in zip(halves, prompts, strict=True)
    ]

    def read(answer: Answer) -> CompletedHalf:
        (half, rest), reply = answer.job.data, answer.read(Stop.LENGTH, empty=True)
        written = "" if isinstance(reply, Failure) else without_thoughts(reply.whole)[:LONGEST_COMPLETION]
        share = -1.0 if isinstance(reply, Failure) else overlap(written, rest)
        return CompletedHalf(
            item_id=answer.job.id,
            half=shorten(half, LONGEST),
            expected=shorten(rest, LONGEST),
            written=shorten(written, LONGEST),
            overlap=share,
            failure=reply if isinstance(reply, Failure) else None,
        )

    path = folder / f"{name}.jsonl"
    await job.asker.write(path, jobs, read, stage=f"{job.benchmark.name}: completing", total=len(jobs))
    return [each for each in read_records(path, CompletedHalf) if each.overlap >= 0]


def overlap(written: str, expected: str) -> float:
    """Return the longest stretch of a text that stands in another, as a share of it; case and spaces do not count."""
    a, b = (" ".join(text.casefold().split()) for text in (written, expected))
    if not b:
        return 0.0
    return SequenceMatcher(None, a, b, autojunk=False).find_longest_match().size / len(b)


def _title(job: BenchJob) -> str:
    return job.benchmark.title.partition(":")[0]


# ---- recognition -----------------------------------------------------------------------------------------------


class Recognised(Record):
    """The probability with which a model takes the published question for the benchmark's."""

    item_id: str
    probability: float | None = None
    failure: Failure | None = None


class Paraphrase(Record):
    """A question in other words."""

    item_id: str
    text: str | None = None
    failure: Failure | None = None


async def _recognise(job: BenchJob, judge: Asker, folder: Path, by_id: Mapping[str, str]) -> ContaminationTest:
    asked = [
        Job(id_, greedy(fill(_PROMPTS["paraphrase.en"], question=text), 2 * COMPLETION_TOKENS))
        for id_, text in by_id.items()
    ]

    def paraphrased(answer: Answer) -> Paraphrase:
        reply = answer.read()
        if isinstance(reply, Failure):
            return Paraphrase(item_id=answer.job.id, failure=reply)
        return Paraphrase(item_id=answer.job.id, text=" ".join(without_thoughts(reply.whole).split()))

    path = folder / "paraphrases.jsonl"
    await judge.write(path, asked, paraphrased, stage=f"{job.benchmark.name}: paraphrasing", total=len(asked))
    others = {
        row.item_id: row.text
        for row in read_records(path, Paraphrase)
        if row.text and row.text.casefold() != by_id[row.item_id].casefold()
    }
    jobs = []
    for id_, other in others.items():
        for place, (first, second) in enumerate(((by_id[id_], other), (other, by_id[id_]))):
            text = fill(_PROMPTS["recognise.en"], title=_title(job), first=first, second=second)
            jobs.append(Job(id_, greedy(text, 1)._replace(alternatives=ALTERNATIVES), data=ascii_uppercase[place]))

    def recognised(answer: Answer) -> Recognised:
        choices = likeliest(("A", "B"), answer.alternatives if not isinstance(answer.alternatives, Failure) else None)
        if isinstance(choices, Failure):
            return Recognised(item_id=answer.job.id, failure=choices)
        return Recognised(item_id=answer.job.id, probability=choices[answer.job.data])

    path = folder / "recognised.jsonl"
    await job.asker.write(path, jobs, recognised, stage=f"{job.benchmark.name}: recognising", total=len(jobs))
    shares: dict[str, list[float]] = {}
    for row in read_records(path, Recognised):
        if row.probability is not None:
            shares.setdefault(row.item_id, []).append(row.probability)
    both = {id_: sum(pair) / 2 for id_, pair in shares.items() if len(pair) == 2}
    return compare(RECOGNITION, both, {id_: 1 - share for id_, share in both.items()}, by_id, tested=False)


def paragraph(result: Contamination) -> str:
    """Return the result in plain words."""
    words = []
    for test in result.tests:
        if test.seen.value is None or test.control.value is None:
            continue
        seen, control = percent(test.seen.value), percent(test.control.value)
        gap = f"{points(test.difference.value)} points ({to(test.difference.low, test.difference.high)})"
        certain = "" if test.p is None else f", {p_equals(test.p)}"
        words.append(
            {
                ORDER: f"With the options as published, {seen} of {count(test.seen.n)} answers are correct; with the "
                f"wrong options in another order, {control}: {gap}{certain}.",
                COMPLETION: f"Told the name of the benchmark, {result.model} brings back {seen} of the second half of "
                f"a question in one piece, and {control} without it: {gap}{certain}; "
                f"{count(result.verbatim)} halves word for word.",
                RECOGNITION: f"It takes the published question rather than a paraphrase for the benchmark's with a "
                f"probability of {seen}; the style of a paraphrase alone may be the reason.",
            }[test.name]
        )
    if not words:
        return f"Whether it has seen the test data of {result.benchmark} is not known: nothing could be measured."
    missing = "That answers are missing may explain the signs that it has seen"
    verdict = missing if result.significant else "There is no sign that it has seen"
    verdict = "It has probably seen" if result.flagged else verdict
    return f"{verdict} the test data of {result.benchmark}. {' '.join(words)}"
