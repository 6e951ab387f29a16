"""Bytes of the store that change on the disk: an error that says the fix, or the same answers; never another one."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest

from mores.engine import Answer, Store
from mores.engine.rescue import rescue
from mores.errors import Rejected, StoreError
from mores.models.base import Completion, Request
from mores.models.fake import FakeModel
from tests.engine.test_runner import ask, collect

JOBS = [ask(f"question {i} " + "x" * 100) for i in range(80)]


def answer(request: Request) -> Completion:
    """As a judge: numbers that decide a score are in the text, the log-probabilities and the alternatives."""
    text = request.messages[-1].content
    number = int(text.split()[1])
    if number % 20 == 7:
        raise Rejected(f"question {number} is too long", final=True)
    alternatives = (("A", -0.5 - number), ("B", -1.0)) if number % 3 == 0 else None
    return Completion(f"Score: {number}. " + "y" * 50, (-0.1 * number, -0.25), "stop", 3, number, alternatives)


MODEL = FakeModel("judge", answer)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[Answer]]:
    """The bytes of a store, and what the run said that filled it."""
    path = tmp_path_factory.mktemp("store") / "s.db"
    with Store(path) as store:
        answers = collect(JOBS, MODEL, store)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return path.read_bytes(), answers


def outcomes(answers: list[Answer]) -> list[object]:
    return [answer.completion or answer.failure for answer in answers]


def check_damaged(path: Path, data: bytes, expected: list[Answer]) -> None:
    for file in path.parent.iterdir():
        file.unlink()
    path.write_bytes(data)
    answers = answered(path)
    if isinstance(answers, StoreError):
        assert str(path) in str(answers)
        assert any(fix in str(answers) for fix in ("rescue", "move it away", "name another file"))
        rescue_or_delete(path)
        answers = answered(path)
    assert not isinstance(answers, StoreError), answers
    assert outcomes(answers) == outcomes(expected)


def answered(path: Path) -> list[Answer] | StoreError:
    try:
        with Store(path) as store:
            return collect(JOBS, MODEL, store)
    except StoreError as error:
        return error


def rescue_or_delete(path: Path) -> None:
    try:
        rescue(path)
    except StoreError:
        path.unlink()


def damaged(data: bytes, draw: random.Random) -> bytes:
    """A few bytes flipped, or a block of some zeroed, repeated from elsewhere or cut off, as bad disks do."""
    changed = bytearray(data)
    at, size = draw.randrange(len(data)), draw.choice([16, 512, 4096])
    match draw.randrange(6):
        case 0 | 1 | 2:
            for _ in range(draw.choice([1, 1, 5, 50])):
                changed[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        case 3:
            changed[at : at + size] = bytes(len(changed[at : at + size]))
        case 4:
            other = draw.randrange(len(data) - size)
            changed[at : at + size] = data[other : other + size][: len(changed[at : at + size])]
        case 5:
            del changed[at:]
    return bytes(changed)


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 600))])
def test_a_damaged_store_gives_no_other_answer(seed: int, whole: tuple[bytes, list[Answer]], tmp_path: Path) -> None:
    data, expected = whole
    check_damaged(tmp_path / "s.db", damaged(data, random.Random(seed)), expected)


@pytest.mark.parametrize("words", [b"Score: 31.", b"question 47 is too long", b"x" * 40])
def test_a_letter_that_changes_in_the_middle_of_a_text(
    words: bytes, whole: tuple[bytes, list[Answer]], tmp_path: Path
) -> None:
    """SQLite does not notice."""
    data, expected = whole
    at = data.index(words) + len(words) - 2
    check_damaged(tmp_path / "s.db", data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :], expected)


def test_a_store_of_the_version_before_is_continued(whole: tuple[bytes, list[Answer]], tmp_path: Path) -> None:
    data, expected = whole
    (tmp_path / "s.db").write_bytes(data)
    with sqlite3.connect(tmp_path / "s.db") as db:
        for table in ("response", "refusal"):
            db.execute(f"ALTER TABLE {table} DROP COLUMN sum")
        db.execute("PRAGMA user_version = 1")
    db.close()
    with Store(tmp_path / "s.db") as store:
        answers = collect(JOBS, MODEL, store)
    assert all(answer.cached for answer in answers)
    assert outcomes(answers) == outcomes(expected)
