"""The checks that every benchmark must pass, ours and yours: `mores bench check FOLDER_OR_NAME`.

    for name, checks in check("path/to/folder").items():
        print(name, [(each.name, each.problems) for each in checks if each.status != "ok"])

Each check works on the sample rows and says what is missing and how to fix it. Nothing is sent to a model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from string import ascii_uppercase
from tempfile import TemporaryDirectory
from typing import Any, Literal

from mores.benchmark import all_in, benchmark, names, split_path
from mores.benchmark.benchmark import ACCURACY, PLACES, Benchmark, Graded, Label
from mores.benchmark.choice import grade_letter, shuffle
from mores.benchmark.run import BenchJob
from mores.benchmark.session import read_items
from mores.culture import language, language_name, region, region_name
from mores.engine import SILENT, Asker, Progress
from mores.engine.loop import run
from mores.errors import ConfigError, InputError, MoresError
from mores.formatting import count
from mores.io.source import read_text
from mores.models.base import Completion, Request
from mores.models.fake import FakeModel
from mores.registry import explain
from mores.types import Failure, Item, Record, Response

LOADS = "code"
QUESTIONS = 5
"""Fewest questions in the sample rows."""
SHOWN = 3
"""Most problems of one check that are listed."""
NONSENSE = "Zzyzx qwrtp, vlkmn."


def count_questions(benchmark: Benchmark, data: Path | None, progress: Progress) -> dict[str, Any]:
    """Return how many questions there are by language, topic, region and whatever else they are grouped by.

    CulturALL, Figures 4 and 13; a question with several parts counts once.
    """
    items = {benchmark.unit(item): item for item in read_items(benchmark, data, None, progress)}.values()
    names = dict.fromkeys(("language", "topic", *benchmark.breakdowns))
    groups = {name: [benchmark.group(item, name) for item in items] for name in names}
    counts: dict[str, Any] = {"questions": len(items)}
    for name, found in groups.items():
        if known := Counter(group for group in found if group):
            counts[f"by {name}"] = {_group_name(name, group): n for group, n in known.most_common()}
    if any(groups.get("tier", ())) and any(groups["language"]):
        by = Counter(zip(groups["language"], groups["tier"], strict=True))
        counts["by language, tier"] = {
            f"{_group_name('language', language)}, {tier}": n
            for (language, tier), n in by.most_common()
            if language and tier
        }
    return counts


def _group_name(grouping: str, group: str) -> str:
    """Return a language or region as people write it."""
    if grouping == "language":
        return language_name(group)
    return region_name(group) if grouping in PLACES else group


class BenchmarkCheck(Record):
    """One thing that a benchmark must have."""

    name: str
    status: Literal["ok", "missing", "skipped"]
    """Skipped where there is no sample row to check it with."""
    problems: tuple[str, ...] = ()
    """What is missing, and the fix."""


def list_facts(benchmark: Benchmark, data: Path | None = None, progress: Progress = SILENT) -> dict[str, Any]:
    """Return all about a benchmark: its data, prompts, figures, paper and licence; and the counts of data at hand."""
    prompts = {path.name: read_text(path) for path in benchmark.folder.glob("*.txt")} if benchmark.folder else {}
    sample = _sample(benchmark)
    first = next(benchmark.read(sample, lambda _: None), None) if sample.is_dir() else None
    if first:
        prompts["for example, the model is asked"] = "\n".join(message.content for message in benchmark.messages(first))
    return {
        "name": benchmark.name,
        "what": benchmark.title,
        "paper": benchmark.homepage,
        "homepage": benchmark.homepage,
        "licence": benchmark.licence,
        "files": benchmark.files,
        "folder": f"{benchmark.file}"
        if benchmark.file
        else f"DATA/{benchmark.source}, with --data DATA" + (f"; or {benchmark.data}" if benchmark.data else ""),
        "hub": benchmark.hub,
        "graded by": benchmark.graded_by,
        "figures": list(benchmark.figures),
        "broken down": [f"by {name}" for name in benchmark.groupings],
        "variants": list(benchmark.variants),
        "topics": list(benchmark.topics),
        "decoding": f"temperature {benchmark.temperature}, at most {benchmark.max_tokens:,} tokens",
        "version": benchmark.version,
        **(count_questions(benchmark, data, progress) if data or benchmark.file or benchmark.data else {}),
        "prompts": dict(sorted(prompts.items(), key=lambda prompt: (" " in prompt[0], prompt[0]))),
    }


def check(name: str | Path) -> dict[str, list[BenchmarkCheck]]:
    """Check the benchmark of a name, or all in a folder; code that cannot be loaded is a problem too."""
    if split_path(str(name)) is None and name not in names():
        benchmark(name)  # says that there is none, and what there is
    try:
        every = all_in(name)
    except ConfigError as error:
        return {str(name): [BenchmarkCheck(name=LOADS, status="missing", problems=(str(error),))]}
    return {loaded.name: [BenchmarkCheck(name=LOADS, status="ok"), *check_benchmark(loaded)] for loaded in every}


def check_benchmark(benchmark: Benchmark) -> list[BenchmarkCheck]:
    """Return every check, in the order in which an author meets them."""
    items: list[Item] = []
    of_files = {} if benchmark.file else _OF_FILES
    checks = [_check(name, benchmark, test(benchmark)) for name, test in of_files.items()]
    checks.append(_check("sample rows", benchmark, _read_sample(benchmark, items)))
    if not items:
        return [*checks, *(BenchmarkCheck(name=name, status="skipped") for name in _OF_ITEMS)]
    return [*checks, *(_check(name, benchmark, test(benchmark, items)) for name, test in _OF_ITEMS.items())]


def _check(name: str, benchmark: Benchmark, test: Iterable[str]) -> BenchmarkCheck:
    """Return the first problems of a test; code that fails is one too."""
    problems: list[str] = []
    try:
        problems += test
    except MoresError as error:  # it names the place and the fix
        problems.append(str(error))
    except Exception as error:
        problems.append(f"{explain(error, benchmark.folder)}; correct the code")
    more = (f"and {count(len(problems) - SHOWN)} more like these",) if len(problems) > SHOWN else ()
    return BenchmarkCheck(name=name, status="missing" if problems else "ok", problems=(*problems[:SHOWN], *more))


# ---- files -----------------------------------------------------------------------------------------------------


def _description(benchmark: Benchmark) -> Iterator[str]:
    for name in ("title", "version", "licence", "files", "source"):
        if not getattr(benchmark, name).strip():
            yield f"{name} is empty; fill it in"
    if not benchmark.homepage.startswith("https://"):
        yield f"homepage is {benchmark.homepage!r}; give the https:// address where the data or the paper are"
    if any(not name.strip() for name in (*benchmark.groupings, *benchmark.variants)):
        yield "a name in groupings or variants is empty; remove it"


def _readme(benchmark: Benchmark) -> Iterator[str]:
    path = _folder(benchmark) / "README.md"
    if not path.is_file():
        yield "README.md is missing; say there what the benchmark measures, how to run it and how faithful it is"
        return
    page = read_text(path)
    if benchmark.name not in re.findall(r"[\w.-]+", page):
        yield f"README.md does not name {benchmark.name}; show how to run it: mores bench …"
    if "\n## Fidelity\n" not in page:
        yield "README.md has no section '## Fidelity'; say there what differs from the paper, if there is one"
    for prompt in sorted(_folder(benchmark).glob("*.txt")):
        if prompt.name not in page:
            yield f"README.md does not name {prompt.name}; say whose prompt it is: yours, or which table of a paper"


def _folder(benchmark: Benchmark) -> Path:
    if benchmark.folder is None:
        raise InputError(f"{benchmark.name}: its folder is not known; load it with mores.benchmark.benchmark")
    return benchmark.folder


def _sample(benchmark: Benchmark) -> Path:
    """Return the folder of the rows that are checked: all, where the benchmark is a table."""
    return benchmark.file.parent if benchmark.file else _folder(benchmark) / "sample"


def _read_sample(benchmark: Benchmark, items: list[Item]) -> Iterator[str]:
    """Put the items of the sample rows into the list."""
    sample = _sample(benchmark)
    if not sample.is_dir():
        yield f"the folder sample is missing; put {QUESTIONS} rows or more into it: {benchmark.files}"
        return
    bad: list[InputError] = []
    items += benchmark.read(sample, bad.append)
    yield from (f"{error}" for error in bad)
    if wrong := next((item for item in items if not isinstance(item, Item)), None):
        items.clear()
        yield f"read gives {type(wrong).__name__}; it must yield mores.types.Item"
        return
    if (count := len({benchmark.unit(item) for item in items})) < QUESTIONS and not benchmark.file:
        yield f"sample has {count} questions; give {QUESTIONS} or more"


# ---- items -----------------------------------------------------------------------------------------------------


def _ids(benchmark: Benchmark, items: Sequence[Item]) -> Iterator[str]:
    for name, times in Counter(item.id for item in items).items():
        if times > 1:
            yield f"{times} items have the id {name!r}; make it unique, for example with digest(question)"
    units = [unit for unit, _ in groupby(items, benchmark.unit)]
    for unit in sorted({unit for unit in units if units.count(unit) > 1}):
        yield f"the parts of question {unit!r} are not together; yield them one after the other"


def _codes(benchmark: Benchmark, items: Sequence[Item]) -> Iterator[str]:  # noqa: ARG001 - as all of these
    for field, normalize in (("language", language), ("region", region)):
        first = {getattr(item, field): item.id for item in reversed(items)}
        for code in dict.fromkeys(getattr(item, field) for item in items):
            place = f"item {first[code]!r}: {field} {code!r}"
            try:
                if code is not None and (proper := normalize(code)) != code:
                    yield f"{place} is written {proper!r}; use mores.culture.{field}"
            except InputError as error:
                yield f"{place}: {error}"


def _prompts(benchmark: Benchmark, items: Sequence[Item]) -> Iterator[str]:
    files = () if benchmark.file else _folder(benchmark).glob("*.txt")
    slots = {slot for path in files for slot in re.findall(r"\{\w+\}", read_text(path))}
    for item in items:
        for variant in (None, *benchmark.variants):
            place = f"item {item.id!r}" + (f", variant {variant}" if variant else "")
            if variant and variant not in {*item.metadata.get("variants", {}), *benchmark.rewrites}:
                yield f"{place}: it is not in metadata['variants']; give every item its prompt of this variant"
                continue
            text = benchmark.messages(item, variant)[-1].content
            if not text.strip():
                yield f"{place}: the prompt is empty"
            if unfilled := [slot for slot in sorted(slots) if slot in text]:
                yield f"{place}: the slot {unfilled[0]} is not filled; use mores.prompts.fill"
            if absent := [choice for choice in item.choices if choice not in text]:
                yield f"{place}: the option {absent[0]!r} is not in the prompt; use mores.benchmark.choice.lettered"
        if benchmark.grade is grade_letter and item.choices:
            shuffle(item, 0)


def _answers(benchmark: Benchmark, items: Sequence[Item]) -> Iterator[str]:
    for item in items:
        place = f"item {item.id!r}"
        if not item.target and not benchmark.long_answer:
            yield f"{place} has no target; give every answer that is correct"
        if not all(target.strip() for target in item.target):
            yield f"{place} has an empty target; remove it"
        if len(set(item.choices)) < len(item.choices):
            yield f"{place} has the same option twice; correct or leave out the row"
        if item.choices and (other := set(item.target) - set(item.choices)):
            yield f"{place}: the target {min(other)!r} is not one of the choices; give it as the option is written"
        if benchmark.candidates and len(set(benchmark.candidates(item))) < 2:
            yield f"{place}: candidates has fewer than two words to choose from"


def _grading(benchmark: Benchmark, items: Sequence[Item]) -> Iterator[str]:
    for item in items:
        place = f"item {item.id!r}"
        if benchmark.grade is not None and item.target:
            graded = benchmark.grade(item, correct_answer(benchmark, item))
            if isinstance(graded, Failure) or graded.label is not Label.CORRECT:
                reason = graded.reason if isinstance(graded, Failure) else graded.label.value
                yield f"{place}: grade does not accept the target {item.target[0]!r} as an answer ({reason})"
            if not isinstance(graded := benchmark.grade(item, NONSENSE), Failure) and graded.label is Label.CORRECT:
                yield f"{place}: grade calls {NONSENSE!r} correct; give INCORRECT, or a Failure where it cannot be read"
        elif benchmark.judging is not None:
            yield from (f"{place}: {problem}" for problem in _judging(benchmark, item))
        elif benchmark.long_answer is not None:
            copy = benchmark.long_answer(item, Response(item_id=item.id, model="m", text="said"))
            if (copy.id, copy.question, copy.answer, copy.model) != (item.id, item.prompt, "said", "m"):
                yield f"{place}: long_answer does not keep the item's id and prompt, the answer and the model's name"
            if (copy.language, copy.kind) != (item.language, item.metadata.get("kind")):
                yield f"{place}: long_answer does not keep the item's language, and the kind in its metadata"


def _judging(benchmark: Benchmark, item: Item) -> Iterator[str]:
    judging = benchmark.judging
    assert judging is not None
    if not re.fullmatch(r"[0-9a-f]{8}", judging.prompt):
        yield f"the judge's prompt is {judging.prompt!r}; give mores.prompts.hash_prompts its prompts"
    question = judging.ask(item, NONSENSE)
    text = "" if isinstance(question, Graded) else "\n".join(message.content for message in question)
    for what, shown in (("the answer", NONSENSE), ("the target", next(iter(item.target), ""))):
        if shown not in text:
            yield f"the judge is not shown {what}; put it into the prompt"
    if not isinstance(judging.read(item, NONSENSE, NONSENSE, False), Failure):
        yield "the judge's answer is graded even where it is nonsense; give a Failure where it cannot be read"


def correct_answer(benchmark: Benchmark, item: Item) -> str:
    """Return a correct answer: the letter of the target where a letter is graded, else the target."""
    forms = [ascii_uppercase[item.choices.index(target)] for target in item.target if target in item.choices]
    for form in (*forms, *item.target):
        graded = benchmark.grade(item, form) if benchmark.grade else None
        if isinstance(graded, Graded) and graded.label is Label.CORRECT:
            return form
    return next(iter(item.target), "an answer")


def _references(benchmark: Benchmark, items: Sequence[Item]) -> Iterator[str]:
    for name, value in benchmark.references(items).items():
        if not 0 <= value <= 1:
            yield f"the reference {name!r} is {value}; give a share from 0 to 1"
    if benchmark.references(()):
        yield "references gives values without any item; give {} then"


def _full_run(benchmark: Benchmark, items: Sequence[Item]) -> Iterator[str]:
    """Ask a fake model that knows every answer, grade and add up; a judge is content with everything."""
    if benchmark.grade is None:
        content = Graded(label=Label.CORRECT)
        benchmark = replace(
            benchmark, judging=None, long_answer=None, grade=lambda *_: content, figures=benchmark.figures or ACCURACY
        )
    answers = {benchmark.messages(item)[-1].content: correct_answer(benchmark, item) for item in items}

    def answer(request: Request) -> Completion:
        return Completion(answers[request.messages[-1].content])

    with TemporaryDirectory() as folder:
        asker = Asker(FakeModel("knowing", answer), store=None)
        job, responses, verdicts = BenchJob(benchmark, items, asker), Path(folder, "a"), Path(folder, "b")
        run(job.ask(responses))
        run(job.grade(responses, verdicts))
        result = job.score(verdicts)
    headline = next(iter(result.figures))
    groups = [(f"{by} {group}", figures) for by, groups_of in result.by.items() for group, figures in groups_of.items()]
    for name, figures in (("all questions", result.figures), *groups):
        if figures[headline].value != 1.0:
            yield f"{headline} of {name} is {figures[headline].value} where every answer is correct; it must be 1"
    for name in benchmark.groupings:
        if name not in result.by:
            yield f"no sample row has the grouping {name!r}; give it in the item's field or metadata, or leave it out"


_OF_FILES: dict[str, Callable[[Benchmark], Iterator[str]]] = {
    "description": _description,
    "README.md": _readme,
    "prompt files": lambda benchmark: (
        f"{path.name} is empty; write the prompt, or remove the file"
        for path in sorted(_folder(benchmark).glob("*.txt"))
        if not read_text(path).strip()
    ),
}
_OF_ITEMS: dict[str, Callable[[Benchmark, Sequence[Item]], Iterator[str]]] = {
    "ids and parts": _ids,
    "languages and regions": _codes,
    "prompts": _prompts,
    "targets and choices": _answers,
    "grading": _grading,
    "references": _references,
    "run with a fake model": _full_run,
}
