"""What every registered benchmark keeps: its rows are read, its items can be asked and graded, its page is honest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from string import ascii_uppercase

import pytest

from mores.bench import BENCHMARKS, benchmark, score
from mores.bench.benchmark import Benchmark, Graded, Label, Verdict
from mores.bench.choice import grade_letter
from mores.bench.score import Scores
from mores.errors import ConfigError, InputError
from mores.types import Failure, Item, Response, Signature

NOT_RELEASED = {"msqa": {"region", "tier"}}
"""Groupings by columns that a release lacks and that a user may add."""

pytestmark = pytest.mark.parametrize("name", BENCHMARKS)


def folder_of(name: str) -> Path:
    return Path(score.__file__).parent / BENCHMARKS[name].partition(":")[0]


@cache
def read(name: str) -> tuple[Item, ...]:
    """The sample rows: in a folder of their own, or beside the code."""
    own = folder_of(name) / "sample"
    bad: list[InputError] = []
    items = tuple(benchmark(name).read(own if own.is_dir() else folder_of(name), bad.append))
    assert not bad, bad
    return items


def oracle(one: Benchmark, item: Item) -> str:
    if one.grade is grade_letter:
        return ascii_uppercase[item.choices.index(item.target[0])]
    return item.target[0]


def test_it_is_registered_under_its_name(name: str) -> None:
    one = benchmark(name)
    assert one.name == name
    ways = (one.grade, one.judging, one.long_answer)
    assert sum(way is not None for way in ways) == 1, "exactly one of the three grades"
    assert all((one.title, one.version, one.licence, one.homepage.startswith("https://"), one.files, one.source))


def test_the_sample_rows_are_read(name: str) -> None:
    one, items = benchmark(name), read(name)
    assert len({one.unit(item) for item in items}) >= 5
    assert len({item.id for item in items}) == len(items), "two items have the same id"
    units = [unit for unit, _ in groupby(items, one.unit)]
    assert len(units) == len(set(units)), "the parts of a question are not together"


def test_items_can_be_asked_and_graded(name: str) -> None:
    one = benchmark(name)
    for item in read(name):
        for variant in (None, *one.variants):
            *_, last = one.messages(item, variant)
            assert last.content.strip()
            assert not re.search(r"\{(question|options?|scenario|story|country|rule|answer)\}", last.content)
        assert item.target or one.long_answer
        assert all(target.strip() for target in item.target)
        if item.choices:
            assert len(set(item.choices)) == len(item.choices)
            assert set(item.target) <= set(item.choices)
            assert all(choice in item.prompt for choice in item.choices)


def graded(one: Benchmark, items: Sequence[Item]) -> list[Verdict]:
    """The oracle's answers, graded by rule, or by a judge who is always content; perfect where answers are long."""
    found = []
    for item in items:
        if one.long_answer:
            found.append(Verdict(item_id=item.id, unit=one.unit(item), answer="x", values={"S": 1.0}))
            continue
        if one.grade is None:
            label: Label | None = Label.CORRECT
        else:
            said = one.grade(item, oracle(one, item))
            assert isinstance(said, Graded), said
            label = said.label
        found.append(Verdict(item_id=item.id, unit=one.unit(item), label=label))
    return found


def test_the_oracle_is_right_in_every_group(name: str) -> None:
    one, items = benchmark(name), read(name)
    scores = Scores(one, items)
    for verdict in graded(one, items):
        scores.add(verdict)
    result = scores.result("oracle", None, Signature())
    assert set(result.by) | NOT_RELEASED.get(name, set()) == set(one.groupings), (
        "a grouping has no group in the sample rows"
    )
    headline = next(iter(result.figures))
    assert result.figures[headline].value == 1.0
    assert {figures[headline].value for groups in result.by.values() for figures in groups.values()} == {1.0}


def test_nonsense_is_no_right_answer(name: str) -> None:
    one, item = benchmark(name), read(name)[0]
    if one.grade is not None:
        found = one.grade(item, "Zzyzx qwrtp, vlkmn.")
        assert isinstance(found, Failure) or found.label is not Label.CORRECT
    elif one.judging is not None:
        assert isinstance(one.judging.read(item, "x", "Zzyzx qwrtp, vlkmn.", False), Failure)


def test_a_long_answer_is_made_of_what_was_said(name: str) -> None:
    one = benchmark(name)
    for item in read(name) if one.long_answer else ():
        assert one.long_answer
        made = one.long_answer(item, Response(item_id=item.id, model="m", text="said"))
        assert (made.id, made.question, made.answer, made.model) == (item.id, item.prompt, "said", "m")
        assert (made.language, made.kind) == (item.language, item.metadata["kind"])


def test_the_judge_is_told_the_answer_and_the_target(name: str) -> None:
    one = benchmark(name)
    if one.judging is None:
        return
    assert re.fullmatch(r"[0-9a-f]{8}", one.judging.prompt)
    for item in read(name):
        asked = one.judging.ask(item, "a rather odd answer")
        assert isinstance(asked, tuple)
        text = "\n".join(message.content for message in asked)
        assert "a rather odd answer" in text
        assert item.target[0] in text


def test_references_are_shares(name: str) -> None:
    one = benchmark(name)
    assert all(0 <= value <= 1 for value in one.references(read(name)).values())
    assert one.references(()) == {}


def test_its_page_and_prompts(name: str) -> None:
    folder = folder_of(name)
    page = (folder / "README.md").read_text("utf-8")
    assert "\n## Fidelity\n" in page
    assert f"mores bench {name}" in page or name in re.findall(r"[\w-]+", page)
    for path in folder.glob("*.txt"):
        assert path.read_text("utf-8").strip(), path
        assert path.name in page, f"README.md does not say where {path.name} is from"


def test_a_slip_in_its_name_is_mended(name: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"did you mean {name!r}?")):
        benchmark(f"{name[:4]}x{name[4:]}")
