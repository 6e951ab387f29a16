"""What is put into a file comes out of it again, in any order, and the file is gone with it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from mores.engine.progress import SILENT
from mores.errors import StoreError
from mores.factory import scratch
from mores.factory.build import build, read_pairs
from mores.factory.drafts import Draft
from mores.factory.items import SourceItem, Task
from mores.factory.recipe import BuildRecipe
from mores.factory.table import DraftTable, ItemTable
from tests.factory.test_build import put, survey


@pytest.mark.parametrize("in_memory", [1 << 20, 100])
def test_a_shelf_gives_back_what_was_put_there(in_memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "IN_MEMORY", in_memory)
    shelf = scratch.Shelf[tuple[str, int]]()
    places = [shelf.put(("ö" * number, number)) for number in range(50)]
    assert shelf.take(places[3]) == ("ööö", 3)
    places += [shelf.put(("ö" * number, number)) for number in range(50, 100)]
    for number in (99, 0, 42, 42):
        assert shelf.take(places[number]) == ("ö" * number, number)
    file = shelf.file
    del shelf
    assert file.closed


def test_texts_and_numbers_come_back_as_they_were() -> None:
    texts, numbers = scratch.TextFile(), scratch.NumberFile()
    every = ["", "tea", "\ud800 half an emoji", "茶", ""]
    for text in every:
        texts.append(text)
    assert [texts[place] for place in range(5)] == every
    texts.append("after reading")
    assert (len(texts), list(texts)) == (6, [*every, "after reading"])
    numbers.add(np.arange(3))
    numbers.add(np.zeros(0, np.int64))
    numbers.add(np.array([2**31 - 1]))
    assert [[one.tolist(), other.tolist()] for one, other in zip(numbers, numbers, strict=True)] == [
        [[0, 1, 2]] * 2, [[]] * 2, [[2**31 - 1]] * 2,
    ]  # fmt: skip
    next(iter(numbers))
    numbers.add(np.array([7]))
    *before, last = numbers
    assert last.tolist() == [7]
    assert [block.tolist() for block in before] == [[0, 1, 2], [], [2**31 - 1]]
    assert numbers.together().tolist() == [0, 1, 2, 2**31 - 1, 7]


def test_a_table_gives_back_its_items_and_drafts() -> None:
    item = SourceItem(source="a/b", id="c/d", task=Task.QA, question="?", answer="x", options=("y", "x"), wrong=("y",))
    items = ItemTable([item, other := item.model_copy(update={"id": "0", "unit": "u", "region": "KE"})])
    items.put_in(np.array([0, 1]), np.array([3, 4]))
    assert (items[0], items[1], items.id(0), items.rank.tolist()) == (item, other, "c/d", [1, 0])
    text = item.model_copy(update={"id": "text"})
    assert items.append(text, (1, 0)) == 2
    assert (items.fold[2], items.group[2], items.parts(2), items.parts(1)) == (4, 2, (1, 0), (1,))
    drafts = [Draft(item, Task.QA, "y", "hard"), Draft(other, Task.QA, "x", "correct")]
    drafts.append(Draft(text, Task.GENERATION, "both", "correct", form="composed", parts=("a/b/0", "a/b/c/d")))
    table = DraftTable(items)
    for place, draft in enumerate(drafts):
        table.append(place, draft)
    assert [table[row] for row in range(3)] == drafts
    assert list(table.keys(np.arange(3))) == [draft.key for draft in drafts]
    assert (table.option.tolist(), table.fold.tolist()) == ([0, 1, 0], [3, 4, 4])
    assert {key: rows.tolist() for key, rows in table.by_stratum().items()} == {
        ("a/b", Task.QA, "answer"): [0, 1], ("a/b", Task.GENERATION, "composed"): [2],
    }  # fmt: skip


def test_freed_memory_is_given_back_where_that_can_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def load(library: object) -> object:
        asked.append(library)
        raise OSError("Dynamic loading not supported")

    monkeypatch.setattr("ctypes.CDLL", load)
    scratch.give_back()
    assert asked == ([None] if sys.platform == "linux" else [])


def test_items_are_in_the_order_of_their_sources_and_then_of_their_ids() -> None:
    """A hyphen is before the slash between source and id, so the order of names is another one."""
    names = [("tea-house", "1"), ("tea", "2"), ("rice", "9"), ("tea", "1"), ("tea-house", "0")]
    items = ItemTable(SourceItem(source=s, id=i, task=Task.QA, question="?", answer="x") for s, i in names)
    assert [items.names[place] for place in items.order] == sorted("/".join(name) for name in names)
    places = np.array([4, 3, 1, 0])
    ordered = places[np.lexsort(items.by_source(places))]
    assert [names[place] for place in ordered] == sorted(names[place] for place in places)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_said_with_the_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "SpooledTemporaryFile", lambda _: Path("/dev/full").open("w+b", buffering=0))  # noqa: SIM115
    recipe = BuildRecipe(name="test", sources=(put(tmp_path, survey(50), "survey"),))
    with pytest.raises(StoreError, match=r"the disk is full of items and drafts; .*TMPDIR"):
        build(recipe, None)
    with pytest.raises(StoreError, match="TMPDIR"):
        read_pairs(recipe, None, commercial=False, progress=SILENT)
    with pytest.raises(FileNotFoundError), scratch.explain_full_disk():
        (tmp_path / "nowhere").read_text()
