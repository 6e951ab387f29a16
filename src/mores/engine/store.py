"""The response store: every answer that was ever received, in one SQLite file, so that none is paid for twice.

An answer's key is the hash of the model's identity, the whole request and the sample index. Prompts and settings
are stored once, however often they are sampled, and a prompt that is much like another as the difference. Writes are
grouped: one commit for all that came in meanwhile, and at most one in a few milliseconds unless somebody waits.
A refusal that is final (the prompt is too long, say) is kept like an answer. A row has a checksum: one that was damaged
on the disk is asked for again.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from math import isfinite
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import orjson

from mores.engine.claims import Claims
from mores.engine.database import DatabaseLayout, checksum, connect, explained
from mores.models.base import Completion, Message, Request
from mores.types import Failure, FailureKind

LAYOUT = DatabaseLayout(
    content="answers",
    application=0x4D4F5245,  # MORE
    version=3,
    tables=(
        "CREATE TABLE IF NOT EXISTS prompt (hash BLOB PRIMARY KEY, messages BLOB NOT NULL)",
        # Prompts that repeat most of another one, deflated with that one as the dictionary.
        "CREATE TABLE IF NOT EXISTS alike (hash BLOB PRIMARY KEY, base BLOB NOT NULL, difference BLOB NOT NULL)",
        "CREATE TABLE IF NOT EXISTS setting (hash BLOB PRIMARY KEY, body BLOB NOT NULL)",
        """CREATE TABLE IF NOT EXISTS response (
            key BLOB PRIMARY KEY, prompt BLOB NOT NULL, setting BLOB NOT NULL, sample INTEGER NOT NULL,
            text TEXT NOT NULL, logprobs BLOB, stop TEXT NOT NULL,
            prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, at REAL NOT NULL, sum BLOB)""",
        # The likeliest first tokens of the few answers that they were asked for.
        "CREATE TABLE IF NOT EXISTS alternative (key BLOB PRIMARY KEY, body BLOB NOT NULL)",
        # Of the answers whose server sends thoughts apart.
        "CREATE TABLE IF NOT EXISTS thought (key BLOB PRIMARY KEY, thoughts TEXT NOT NULL)",
        # Requests that the server will never answer.
        """CREATE TABLE IF NOT EXISTS refusal (
            key BLOB PRIMARY KEY, prompt BLOB NOT NULL, setting BLOB NOT NULL, sample INTEGER NOT NULL,
            reason TEXT NOT NULL, at REAL NOT NULL, sum BLOB)""",
    ),
    upgrade={1: ("ALTER TABLE response ADD COLUMN sum BLOB", "ALTER TABLE refusal ADD COLUMN sum BLOB")},
)
_CHUNK = 500
_PAUSE = 0.02
"""Seconds between two commits that nobody waits for."""
_BASES = 4
"""Prompts that others are compared with: runs with several kinds of prompts use one store."""
_AHEAD = 262
"""Bytes of zlib's window that are no part of what it looks back at."""
_AT_ONCE = 64
"""Rows of one statement."""
_DIGITS = 18
"""Characters of a decimal that takes no less than a double, deflated."""
_SHORT = 256
"""Bytes of a prompt that is not worth comparing."""


class AnswerKey(NamedTuple):
    """A request's key with the parts that it is made of."""

    key: bytes
    prompt: bytes
    setting: bytes
    messages: bytes
    body: bytes
    sample: int


def request_key(identity: str, request: Request, sample: int = 0) -> AnswerKey:
    """Return the key of one answer: the same for the same model, request and sample index, on every machine."""
    messages = orjson.dumps([tuple(m) for m in request.messages])  # orjson takes no named tuples
    prompt = blake2b(messages, digest_size=16).digest()
    make = _setting if request.schema is None and request.top_k is None else _setting.__wrapped__
    body, setting = make(identity, *_settings(request))
    key = blake2b(b"%b%b%d" % (prompt, setting, sample), digest_size=16).digest()
    return AnswerKey(key, prompt, setting, messages, body, sample)


@lru_cache(64, typed=True)  # a run has few; 1 and 1.0 are not the same in JSON
def _setting(identity: str, *settings: object) -> tuple[bytes, bytes]:
    """Return what is asked for besides the messages, and its hash."""
    body = orjson.dumps((identity, *settings), option=orjson.OPT_SORT_KEYS)
    return body, blake2b(body, digest_size=16).digest()


def _settings(request: Request) -> tuple[object, ...]:
    """Return all of a request but its messages; later fields only where they are used, so that old answers are found.

    A grammar repeats the text that it was made for, so that its hash is enough.
    """
    settings = request[1 : Request._fields.index("alternatives")]
    if request.top_k is not None:
        settings = (*settings, {"top_k": request.top_k})
    if request.grammar is not None:
        return *settings, request.alternatives, blake2b(request.grammar.encode(), digest_size=16).hexdigest()
    return (*settings, request.alternatives) if request.alternatives else settings


Outcome = Completion | Failure
"""An answer, or a refusal that is final."""
Committed = Callable[[BaseException | None], object]
"""Called once an answer is on disk, or with the reason why it is not."""
_Batch = list[tuple[AnswerKey, Outcome, Committed]]


class _Compared(NamedTuple):
    bases: list[tuple[bytes, bytes]]
    """The prompts that others are compared with, the last one that was of use first."""
    whole: dict[bytes, bytes]
    alike: list[tuple[bytes, bytes, bytes]]
    """A prompt's hash, that of the one it is like, and the difference."""


class Store:
    """An open store. Reads are plain calls; `put` says when the answer is on disk."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._reader = self._connect()
        self.claims = Claims(self.path)
        self._writer: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mores-store")
        self._pending: _Batch = []
        self._flushing = False
        self._committed: list[asyncio.Future[None]] = []
        """Of those that wait for the write that is under way."""
        self._waiting: asyncio.TimerHandle | None = None
        self._next = 0.0
        """When the next commit is due, by `time.monotonic`."""
        self._writing = 0
        self._settings: set[bytes] = set()
        self._bases: list[tuple[bytes, bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        with explained(self.path, LAYOUT):
            return int(self._reader.execute("SELECT count(*) FROM response").fetchone()[0])

    def close(self) -> None:
        """Wait for the writer and close the file."""
        self._thread.shutdown(wait=True)
        self._reader.close()
        if self._writer is not None:
            self._writer.close()

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, Outcome]:
        """Return the known answers and refusals, by key."""
        outcomes: dict[bytes, Outcome] = {}
        with explained(self.path, LAYOUT):
            for start in range(0, len(keys), _CHUNK):
                chunk = keys[start : start + _CHUNK]
                outcomes.update(self._answers(chunk))
                outcomes.update(self._refusals([key for key in chunk if key not in outcomes]))
        return outcomes

    def _answers(self, keys: Sequence[bytes]) -> Iterator[tuple[bytes, Completion]]:
        query = (
            "SELECT sum, response.key, prompt, setting, sample, text, logprobs, stop, prompt_tokens, completion_tokens,"
            " at, body, thoughts FROM response LEFT JOIN alternative USING (key) LEFT JOIN thought USING (key)"
            f" WHERE response.key IN ({_marks(keys)})"
        )
        for row in self._reader.execute(query, keys):
            total, key, _, _, _, text, logprobs, stop, prompt_tokens, completion_tokens, _, body, thoughts = row
            if total is None:  # an old answer without a sum, or a row of zeros
                is_whole = isinstance(text, str) and isinstance(prompt_tokens, int)
            else:
                is_whole = total == _checksum(row[1:])
            if is_whole:
                each = None if logprobs is None else _unpack_numbers(logprobs)
                first = None if body is None else tuple((token, value) for token, value in orjson.loads(body))
                yield key, Completion(text, each, stop, prompt_tokens, completion_tokens, first, thoughts or "")

    def _refusals(self, keys: Sequence[bytes]) -> Iterator[tuple[bytes, Failure]]:
        query = f"SELECT sum, key, prompt, setting, sample, reason, at FROM refusal WHERE key IN ({_marks(keys)})"
        for total, key, *row, reason, at in self._reader.execute(query, keys) if keys else ():
            if isinstance(reason, str) if total is None else total == checksum(key, *row, reason, at):
                yield key, Failure(kind=FailureKind.MODEL, reason=reason)

    def put(self, key: AnswerKey, outcome: Outcome, committed: Committed) -> None:
        """Keep an answer or a refusal."""
        self._pending.append((key, outcome, committed))
        if not self._flushing and self._waiting is None:
            self._wait()

    async def room(self, most: int) -> None:
        """Wait while so many answers are not on disk, but for those of this moment: a kill would lose them."""
        while len(self._pending) + self._writing >= most and time.monotonic() >= self._next:
            if self._flushing:
                await self._commit()
            else:
                self.flush()

    async def drain(self) -> None:
        """Wait until everything that was put is on disk."""
        while self._pending or self._writing:
            await self._commit()

    async def _commit(self) -> None:
        self.flush()
        self._committed.append(waiter := asyncio.get_running_loop().create_future())
        await waiter

    def _wait(self) -> None:
        self._waiting = asyncio.get_running_loop().call_later(max(0.0, self._next - time.monotonic()), self.flush)

    def flush(self) -> None:
        """Begin to write what waits, unless a write is under way."""
        if self._flushing:
            return
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        batch, self._pending = self._pending, []
        self._writing = len(batch)
        self._next = time.monotonic() + _PAUSE
        self._flushing = True
        writing = asyncio.get_running_loop().run_in_executor(self._thread, self._write, batch)
        writing.add_done_callback(lambda outcome: self._flushed(batch, outcome))

    def _flushed(self, batch: _Batch, outcome: asyncio.Future[None]) -> None:
        problem = outcome.exception()
        self._flushing, self._writing = False, 0
        for _, _, committed in batch:
            committed(problem)
        if self._pending and not self._flushing and self._waiting is None:
            self._wait()
        waiters, self._committed = self._committed, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    def _write(self, batch: _Batch) -> None:
        now = time.time()
        keys = [key for key, _, _ in batch]
        others = {
            k.key: orjson.dumps(c.alternatives) for k, c, _ in batch if isinstance(c, Completion) and c.alternatives
        }
        thoughts = {k.key: c.thoughts for k, c, _ in batch if isinstance(c, Completion) and c.thoughts}
        rows = []
        for k, c, _ in batch:
            if isinstance(c, Completion):
                logprobs = None if c.logprobs is None else _pack_numbers(c.logprobs)
                answer = (c.text, logprobs, str(c.stop), c.prompt_tokens, c.completion_tokens)
                rows.append((k.key, k.prompt, k.setting, k.sample, *answer, now))
        refusals = [
            (k.key, k.prompt, k.setting, k.sample, f.reason, now) for k, f, _ in batch if isinstance(f, Failure)
        ]
        settings = {k.setting: k.body for k in keys if k.setting not in self._settings}
        prompts = self._compare({k.prompt: k.messages for k in keys})
        with explained(self.path, LAYOUT):
            if self._writer is None:
                self._writer = self._connect()
            with self._writer as db:
                _insert(db, "OR IGNORE INTO setting", settings.items())
                _insert(db, "OR IGNORE INTO prompt", prompts.whole.items())
                _insert(db, "OR IGNORE INTO alike", prompts.alike)
                sums = (_checksum((*row, others.get(row[0]), thoughts.get(row[0]))) for row in rows)
                _insert(db, "OR REPLACE INTO response", [(*row, total) for row, total in zip(rows, sums, strict=True)])
                _insert(db, "OR REPLACE INTO alternative", others.items())
                for table in ("thought", "refusal"):
                    if db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone():  # else there is nothing to replace
                        db.executemany(f"DELETE FROM {table} WHERE key = ?", [row[:1] for row in rows])
                _insert(db, "INTO thought", thoughts.items())
                _insert(db, "OR REPLACE INTO refusal", [(*row, checksum(*row)) for row in refusals])
        self._settings.update(settings)
        self._bases = prompts.bases

    def _compare(self, prompts: dict[bytes, bytes]) -> _Compared:
        """Return how to store prompts: whole, or as the difference from one that is stored whole."""
        bases, whole, alike = list(self._bases), dict[bytes, bytes](), list[tuple[bytes, bytes, bytes]]()
        for name, messages in prompts.items():
            for place, (base, known) in enumerate(bases if len(messages) >= _SHORT else ()):
                difference = _deflate(messages, known)
                if len(difference) < len(messages) / 2:
                    alike.append((name, base, difference))
                    bases.insert(0, bases.pop(place))
                    break
            else:
                whole[name] = messages
                if len(messages) >= _SHORT:
                    bases = [(name, messages), *bases][:_BASES]
        return _Compared(bases, whole, alike)

    def messages(self, prompt: bytes) -> Sequence[Message] | None:
        """Return the prompt with a hash (`AnswerKey.prompt`), where it is stored."""
        with explained(self.path, LAYOUT):
            query = "SELECT messages, NULL FROM prompt WHERE hash = ?1 UNION ALL SELECT prompt.messages, difference"
            query += " FROM alike JOIN prompt ON prompt.hash = alike.base WHERE alike.hash = ?1"
            row = self._reader.execute(query, (prompt,)).fetchone()
            if row is None:
                return None
            stored, difference = row
            if difference is not None:
                stored = zlib.decompressobj(-zlib.MAX_WBITS, stored).decompress(difference)
            return [Message(*message) for message in orjson.loads(stored)]

    def _connect(self) -> sqlite3.Connection:
        return connect(self.path, LAYOUT)


def _insert(db: sqlite3.Connection, where: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert rows by many at a time: after each statement this thread has to wait for the one that makes the calls."""
    left, size = list(rows), _AT_ONCE
    while left:
        while size > len(left):
            size //= 2  # few sizes, so that their statements stay prepared
        some, left = left[:size], left[size:]
        db.execute(f"INSERT {where} VALUES {', '.join([f'({_marks(some[0])})'] * size)}", list(chain(*some)))


def _checksum(row: tuple[Any, ...]) -> bytes:
    """Return the sum of an answer, which ends with its thoughts; without any it is that of older versions."""
    return checksum(*(row if row[-1] is not None else row[:-1]))


def _deflate(data: bytes, known: bytes) -> bytes:
    """Return the difference from what is known, made in no more memory than both need: to get it takes longest."""
    bits = min((len(data) + len(known) + _AHEAD).bit_length(), zlib.MAX_WBITS)
    packer = zlib.compressobj(1, wbits=-bits, memLevel=5, zdict=known)
    return packer.compress(data) + packer.flush()


def _pack_numbers(numbers: Sequence[float]) -> bytes:
    """Return numbers as deflated decimals, or as doubles if those are shorter; only they have a multiple of 8 bytes."""
    doubles, decimals = array("d", numbers).tobytes(), orjson.dumps(numbers)
    if len(decimals) > _DIGITS * len(numbers) or not all(map(isfinite, numbers)):
        return doubles
    packed = zlib.compress(decimals, 1)
    return packed + b"\0" * (len(packed) % 8 == 0) if len(packed) < len(doubles) else doubles


def _unpack_numbers(stored: bytes) -> tuple[float, ...]:
    if len(stored) % 8 == 0:
        return tuple(array("d", stored))
    try:
        return tuple(map(float, orjson.loads(zlib.decompressobj().decompress(stored))))
    except zlib.error as exc:
        raise ValueError(exc) from exc


def _marks(keys: Sequence[bytes]) -> str:
    return ",".join("?" * len(keys))


def opened(store: Store | str | Path | None) -> AbstractContextManager[Store | None]:
    """Return a context manager: the store at a path, which is closed at the end, an open store, or none."""
    return Store(store) if isinstance(store, str | Path) else nullcontext(store)
