"""An index of a file of judgements or graded answers: where lines begin, and what they are filtered and sorted by.

It is an SQLite file in the cache folder, with all words in a file beside it, made in the background when the file is
first shown and again when the file has changed. Texts are read from their own file: a page of 100,000 costs what one of
20 does.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from mmap import ACCESS_READ, mmap
from pathlib import Path
from threading import Lock, Thread
from typing import IO, NamedTuple, TypeVar

import orjson
from pydantic import ValidationError

from mores.benchmark.benchmark import Verdict
from mores.cache import cache_folder
from mores.errors import InputError, MoresError
from mores.io.private import make_folder, make_part
from mores.metric.summary import errors, state, weak_because
from mores.report.score import rank
from mores.types import Item, Judgement, Record
from mores.view import answers
from mores.view.answers import ListedAnswer

R = TypeVar("R", bound=Record)
Said = Judgement | ListedAnswer
"""What a line says: a judged text, or a graded answer with its question."""
PLACE = "a.at, a.size, a.item_at, a.item_size"
VERSION = 2
"""Changes when the tables do: older files are made again."""
MOST_VALUES = 80
"""A column of the table with more values than this is not offered as a filter; the search finds its words."""
LONGEST_VALUE = 200
KEPT = 30 * 24 * 3600
"""Seconds after which an index that nobody has used is removed."""
SCHEMA = """
CREATE TABLE texts(place INTEGER PRIMARY KEY, at INT, size INT, id TEXT, state TEXT, rank INT, score REAL, worst INT,
                   weak INT, marks TEXT, text BLOB, item_at INT, item_size INT);
CREATE TABLE starts(data BLOB);
CREATE TABLE cells(name TEXT, value TEXT, place INT);
CREATE TABLE options(name TEXT, value TEXT, n INT);
"""
INDEXES = """
CREATE INDEX by_rank ON texts(rank, score, place);
CREATE INDEX by_id ON texts(id);
CREATE INDEX by_cell ON cells(name, value, place);
"""
SEVERITIES = {"minor": 1, "major": 2}
CHANGES = {
    "first": "a.state = 'errors' AND b.state IN ('clean', 'unknown')",
    "second": "b.state = 'errors' AND a.state IN ('clean', 'unknown')",
    "both": "a.state = 'errors' AND b.state = 'errors' AND a.marks <> b.marks",
    "verdict": "a.state <> b.state AND a.state IN ('clean', 'unknown') AND b.state IN ('clean', 'unknown')",
    "failed": "(a.state = 'failed') <> (b.state = 'failed')",
}
"""How the verdicts of two runs about a text can differ."""


class Filters(NamedTuple):
    """The choice of texts to show, and their order; everything is optional."""

    q: str = ""
    state: str = ""
    severity: str = ""
    weak: bool = False
    sort: str = ""
    """`input` for the order of the file; otherwise the worst first."""
    cells: tuple[tuple[str, str], ...] = ()
    """Values of columns: `language`, `region`, `topic`, `type` (of an error), `failure`, or `column:NAME`."""
    ids: tuple[str, ...] | None = None
    """Only these texts, for those with stars or notes."""

    def where(self, database: Path) -> tuple[str, list[object]]:
        """Return the condition, on the table `a` of a database, and its values."""
        conditions, values = ["1"], list[object]()
        if words := self.q.casefold().split():
            conditions.append("a.place IN (SELECT value FROM json_each(?))")
            values.append(_search(database, tuple(words))[1])
        if self.state:
            conditions.append("a.state = ?")
            values.append(self.state)
        if self.severity in SEVERITIES:
            conditions.append("a.worst & ?")
            values.append(SEVERITIES[self.severity])
        if self.weak:
            conditions.append("a.weak")
        for name, value in self.cells:
            conditions.append("a.place IN (SELECT place FROM cells WHERE name = ? AND value = ?)")
            values += [name, value]
        if self.ids is not None:
            conditions.append("a.id IN (SELECT value FROM json_each(?))")
            values.append(json.dumps(self.ids))
        return " AND ".join(conditions), values


class TextIndex:
    """The index of one file as it is now."""

    def __init__(self, file: Path, database: Path) -> None:
        self.file, self.database = file, database
        self.changes = answers.CHANGES if answers.is_answers(file) else CHANGES

    def options(self) -> dict[str, list[tuple[str, int]]]:
        """Return the values of each column that texts can be filtered by, the most frequent first."""
        with closing(self._open()) as db:
            options: dict[str, list[tuple[str, int]]] = {}
            rows = db.execute("SELECT * FROM options WHERE name <> 'state' ORDER BY name, n DESC, value")
            for name, value, n in rows:
                options.setdefault(name, []).append((value, n))
            return options

    def states(self) -> dict[str, int]:
        """Return how many texts there are of each state."""
        with closing(self._open()) as db:
            return dict(db.execute("SELECT value, n FROM options WHERE name = 'state'").fetchall())

    def count(self, filters: Filters) -> int:
        """Return how many texts fit."""
        if filters._replace(sort="") == Filters():
            return sum(self.states().values())
        if filters._replace(sort="", q="") == Filters() and (words := filters.q.casefold().split()):
            return _search(self.database, tuple(words))[0]
        condition, values = filters.where(self.database)
        with closing(self._open()) as db:
            [[n]] = db.execute(f"SELECT count(*) FROM texts a WHERE {condition}", values)
            return int(n)

    def _joined(self, change: str, filters: Filters) -> tuple[str, list[object]]:
        """Return the texts of two runs that differ, `a` and `b`, and the values of the condition."""
        differing = self.changes.get(change) or " OR ".join(f"({each})" for each in self.changes.values())
        condition, values = filters.where(self.database)
        return f"FROM texts a JOIN other.texts b ON b.id = a.id WHERE ({differing}) AND {condition}", values

    def find(self, filters: Filters, first: int = 0, most: int = -1) -> list[tuple[int, Said]]:
        """Return texts that fit with their places in the file, from the first on; without `most`, all of them."""
        condition, values = filters.where(self.database)
        order = "a.place" if filters.sort == "input" else "a.rank, a.score, a.place"
        with closing(self._open()) as db:
            rows = db.execute(
                f"SELECT a.place, {PLACE} FROM texts a WHERE {condition} ORDER BY {order} LIMIT ? OFFSET ?",
                [*values, most, first],
            ).fetchall()
        return list(zip((row[0] for row in rows), self._read([row[1:] for row in rows]), strict=True))

    def count_pairs(self, other: TextIndex, change: str, filters: Filters) -> int:
        """Return how many texts `pairs` has in all."""
        if filters == Filters():
            counts = self.count_changes(other)
            return counts[change] if change in self.changes else sum(counts[name] for name in self.changes)
        joined, values = self._joined(change, filters)
        with closing(self._open()) as db:
            db.execute("ATTACH ? AS other", [_address(other.database)])
            [[n]] = db.execute(f"SELECT count(*) {joined}", values)
            return int(n)

    def pairs(self, other: TextIndex, change: str, filters: Filters, first: int, most: int) -> list[Pair]:
        """Return texts that both runs judged and whose verdicts differ in this way, or in any."""
        joined, values = self._joined(change, filters)
        cases = " ".join(f"WHEN {condition} THEN '{name}'" for name, condition in self.changes.items())
        with closing(self._open()) as db:
            db.execute("ATTACH ? AS other", [_address(other.database)])
            rows = db.execute(
                f"SELECT {PLACE}, {PLACE.replace('a.', 'b.')}, a.text = b.text, CASE {cases} END {joined}"
                " ORDER BY a.place LIMIT ? OFFSET ?",
                [*values, most, first],
            ).fetchall()
        ours, theirs = self._read([row[:4] for row in rows]), other._read([row[4:8] for row in rows])
        return [Pair(a, b, bool(row[8]), row[9]) for a, b, row in zip(ours, theirs, rows, strict=True)]

    def count_changes(self, other: TextIndex) -> dict[str, int]:
        """Return how many texts both runs judged, and of how many the verdicts differ in each way."""
        return dict(_count_changes(self.database, other.database, tuple(self.changes.items())))

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(_address(self.database), uri=True)

    def _read(self, lines: Sequence[tuple[int, int, int, int]]) -> list[Said]:
        with ExitStack() as stack:
            file = stack.enter_context(self.file.open("rb")).fileno()
            if not answers.is_answers(self.file):
                return [Judgement.model_validate_json(os.pread(file, size, at)) for at, size, *_ in lines]
            items = stack.enter_context(answers.items_of(self.file).open("rb")).fileno()
            return [
                ListedAnswer(
                    Item.model_validate_json(os.pread(items, item_size, item_at)),
                    Verdict.model_validate_json(os.pread(file, size, at)),
                )
                for at, size, item_at, item_size in lines
            ]


class Pair(NamedTuple):
    """The verdicts of two runs on a text."""

    first: Said
    second: Said
    same: bool
    """Whether both are about the same text or question; otherwise only the id is the same."""
    change: str
    """One of `CHANGES`."""


@lru_cache(maxsize=64)
def _count_changes(first: Path, second: Path, changes: tuple[tuple[str, str], ...]) -> dict[str, int]:
    """Count once: the name of an index changes with its file."""
    with closing(sqlite3.connect(_address(first), uri=True)) as db:
        db.execute("ATTACH ? AS other", [_address(second)])
        sums = ", ".join(f"coalesce(sum({condition}), 0)" for _, condition in changes)
        [row] = db.execute(f"SELECT count(*), {sums} FROM texts a JOIN other.texts b ON b.id = a.id")
        return dict(zip(("shared", *dict(changes)), row, strict=True))


class TextIndexes:
    """The indexes of all files that were shown; each is made once, by a thread."""

    def __init__(self) -> None:
        self.folder = cache_folder() / "view"
        self._making: dict[Path, Thread] = {}
        self._problems: dict[Path, str] = {}
        self._lock = Lock()

    def of(self, file: Path, *, wait: bool = False) -> TextIndex | None:
        """Return the index of a file; None while it is being made. InputError where a line cannot be read."""
        size, changed = (about := file.stat()).st_size, about.st_mtime_ns
        key = blake2b(f"{VERSION} {file.resolve()} {size} {changed}".encode(), digest_size=16).hexdigest()
        database = self.folder / f"{key}.db"
        with self._lock:
            if problem := self._problems.get(database):
                raise InputError(problem)
            if database.exists():
                return TextIndex(file, database)
            if database not in self._making:
                self._making[database] = Thread(target=self._make, args=(file, database), daemon=True)
                self._making[database].start()
            thread = self._making[database]
        if wait:
            thread.join()
            return self.of(file)
        return None

    def _make(self, file: Path, database: Path) -> None:
        try:
            make_folder(self.folder)
            self._remove_old()
            parts = {name: make_part(database.with_suffix(f".{name}.part")) for name in ("words", "db")}
            with closing(sqlite3.connect(parts["db"])) as db, parts["words"].open("wb") as words:
                fill(db, words, file)
            for name, part in parts.items():  # the database last: with it, the index is there
                part.replace(database.with_suffix(f".{name}"))
        except (MoresError, OSError, sqlite3.Error) as error:
            self._problems[database] = str(error)
        finally:
            with self._lock:
                del self._making[database]

    def _remove_old(self) -> None:
        for path in self.folder.glob("*.db"):
            with suppress(OSError):  # another process may remove it too
                about = path.stat()
                if time.time() - max(about.st_atime, about.st_mtime) > KEPT:
                    path.unlink()
                    path.with_suffix(".words").unlink()


def fill(db: sqlite3.Connection, words: IO[bytes], file: Path) -> None:
    """Write the tables of a file of judgements, and the words of all texts one after the other."""
    db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + SCHEMA)
    known: dict[str, Counter[str]] = {}
    """The number of rows with each value of each column; those with too many are not looked at any more."""
    starts = array("Q", [0])
    lines = read_said(file)
    while batch := list(islice(lines, 2000)):
        texts, cells = [], []
        for line, said in batch:
            place, verdict = len(starts) - 1, said.state if isinstance(said, ListedAnswer) else state(said)
            texts.append((place, *line[:2], *about(said), *line[2:]))
            row = {
                name: value if isinstance(value, str) else orjson.dumps(value).decode()
                for name, value in (said.row if isinstance(said, ListedAnswer) else said.metadata).items()
            }
            starts.append(starts[-1] + words.write(words_of(said, row.values())))
            for name, value in {("state", verdict), *cells_of(said, row)}:
                counts = known.setdefault(name, Counter())
                if len(counts) <= MOST_VALUES or not name.startswith("column:"):
                    counts[value] += 1
                    cells.append((name, value, place))
        db.executemany("INSERT INTO texts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", texts)
        db.executemany("INSERT INTO cells VALUES (?, ?, ?)", cells)
    for name, counts in known.items():
        if len(counts) <= MOST_VALUES or not name.startswith("column:"):
            db.executemany("INSERT INTO options VALUES (?, ?, ?)", [(name, value, n) for value, n in counts.items()])
    db.execute("INSERT INTO starts VALUES (?)", [starts.tobytes()])
    db.executescript(INDEXES)
    db.commit()


@lru_cache(maxsize=32)
def _search(database: Path, words: tuple[str, ...]) -> tuple[int, str]:
    """Return how many texts have all words, and their places as JSON; pages of the same search look only once."""
    with closing(sqlite3.connect(_address(database), uri=True)) as db:
        starts = array("Q", db.execute("SELECT data FROM starts").fetchone()[0]).tolist()
    longest, *others = sorted((word.encode("utf-8", "replace") for word in words), key=len, reverse=True)
    found, place, end = [], -1, 0
    if len(starts) == 1:  # a file without texts, of which no map can be made
        return 0, "[]"
    with database.with_suffix(".words").open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as said:
        while (hit := said.find(longest, end)) >= 0:
            place += 1
            if starts[place + 1] <= hit:  # not in the next text
                place = bisect_right(starts, hit, place) - 1
            end = starts[place + 1]
            found.append(place)
        find = said.find
        for word in others:
            found = [place for place in found if find(word, starts[place], starts[place + 1]) >= 0]
    return len(found), orjson.dumps(found).decode()


def about(said: Said) -> tuple[object, ...]:
    """Return what is kept of a line: id, state, order, severities, weakness, what two runs differ by, and its text."""
    if isinstance(said, ListedAnswer):
        return said.id, said.state, answers.RANKS[said.state], 0.0, 0, False, said.said, said.prompt_hash
    wrong = errors(said)
    worst = sum({SEVERITIES[error.severity.value] for error in wrong})
    marks = sorted(repr((each.side, each.start, each.end, each.quote, each.severity.value)) for each in wrong)
    text = blake2b((said.text or "").encode("utf-8", "replace"), digest_size=8).digest()
    return said.sample_id, state(said), *rank(said), worst, bool(weak_because(said)), "\n".join(marks), text


def read_said(file: Path) -> Iterator[tuple[tuple[int, int, int, int], Said]]:
    """Yield each line of a file with its first byte and its length, and those of the question of an answer."""
    if not answers.is_answers(file):
        for at, size, judgement in read_lines(file, Judgement):
            yield (at, size, 0, 0), judgement
        return
    items = answers.items_of(file)
    places: dict[str, tuple[int, int]] = {}
    ahead = read_lines(items, Item)  # in the order of the answers: the first page needs the first questions alone
    with items.open("rb") as asked:
        for at, size, verdict in read_lines(file, Verdict):
            while verdict.item_id not in places and (line := next(ahead, None)):
                places[line[2].id] = line[:2]
            if (place := places.get(verdict.item_id)) is None:
                raise InputError(f"{file}: {items.name} has no question {verdict.item_id!r}")
            item = Item.model_validate_json(os.pread(asked.fileno(), place[1], place[0]))
            yield (at, size, *place), ListedAnswer(item, verdict)


def read_lines(file: Path, record: type[R]) -> Iterator[tuple[int, int, R]]:
    """Yield each record of a file with its first byte and its length."""
    at = 0
    with file.open("rb") as opened:
        for number, line in enumerate(opened, 1):
            if line.strip():
                try:
                    yield at, len(line), record.model_validate_json(line)
                except ValidationError as error:
                    reason = error.errors(include_url=False)[0]["msg"]
                    expected = f"expected a {record.__name__} as Mores writes it"
                    raise InputError(f"{file}:{number}: {reason}; {expected}") from error
            at += len(line)


def words_of(said: Said, row: Iterable[str]) -> bytes:
    """Return everything of a line in which words are searched, with the columns of its row."""
    parts = [*(said.words() if isinstance(said, ListedAnswer) else _words(said)), *row]
    return ("\n".join(parts).casefold() + "\n").encode("utf-8", "replace")


def _words(judgement: Judgement) -> list[str]:
    parts = [judgement.sample_id, judgement.instruction or "", judgement.text or ""]
    parts += [f"{error.quote}\n{error.type}\n{error.explanation}" for error in errors(judgement)]
    return parts + ([judgement.failure.reason] if judgement.failure else [])


def cells_of(said: Said, row: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what a line can be filtered by: its places, the types of its errors, and the columns of its row."""
    short = {name: value for name, value in row.items() if len(value) <= LONGEST_VALUE}
    if isinstance(said, ListedAnswer):
        yield from said.cells(short)
        return
    yield "language", said.language or ""
    yield "region", said.region or ""
    for error in errors(said):
        yield "type", error.type.strip().casefold()
    for name, value in short.items():
        yield f"column:{name}", value


def _address(database: Path) -> str:
    return f"{database.as_uri()}?mode=ro&immutable=1"
