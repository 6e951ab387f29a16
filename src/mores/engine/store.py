"""The response store: every answer that was ever received, in one SQLite file, so that none is paid for twice.

An answer's key is the hash of the model's identity, the whole request and the sample index. Prompts and settings
are stored once, however often they are sampled. Writes are grouped: one commit for all that came in meanwhile.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from array import array
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import orjson

from mores.errors import StoreError
from mores.models.base import Completion, Request

VERSION = 1
_APPLICATION = 0x4D4F5245
"""Marks a SQLite file as ours: MORE."""
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS prompt (hash BLOB PRIMARY KEY, messages BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS setting (hash BLOB PRIMARY KEY, body BLOB NOT NULL)",
    """CREATE TABLE IF NOT EXISTS response (
        key BLOB PRIMARY KEY, prompt BLOB NOT NULL, setting BLOB NOT NULL, sample INTEGER NOT NULL,
        text TEXT NOT NULL, logprobs BLOB, stop TEXT NOT NULL,
        prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, at REAL NOT NULL)""",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)
_ALTERNATIVES = "CREATE TABLE IF NOT EXISTS alternative (key BLOB PRIMARY KEY, body BLOB NOT NULL)"
"""The likeliest first tokens of the few answers that they were asked for."""
_CHUNK = 500


class Key(NamedTuple):
    """A request's key with the parts that it is made of."""

    key: bytes
    prompt: bytes
    setting: bytes
    messages: bytes
    body: bytes
    sample: int


def request_key(identity: str, request: Request, sample: int = 0) -> Key:
    """The key of one answer: the same for the same model, request and sample index, on every machine."""
    messages = orjson.dumps([tuple(m) for m in request.messages])  # orjson takes no named tuples
    settings = request[1:] if request.alternatives else request[1:-1]  # so that what was stored before is found
    body = orjson.dumps((identity, *settings), option=orjson.OPT_SORT_KEYS)
    prompt = blake2b(messages, digest_size=16).digest()
    setting = blake2b(body, digest_size=16).digest()
    key = blake2b(b"%b%b%d" % (prompt, setting, sample), digest_size=16).digest()
    return Key(key, prompt, setting, messages, body, sample)


class Store:
    """An open store. Reads are plain calls; `put` returns a future that is done when the answer is on disk."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._reader = self._connect()
        self._writer: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mores-store")
        self._pending: list[tuple[Key, Completion, asyncio.Future[None]]] = []
        self._flushing: asyncio.Future[None] | None = None
        self._settings: set[bytes] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return int(self._reader.execute("SELECT count(*) FROM response").fetchone()[0])

    def close(self) -> None:
        """Wait for the writer and close the file."""
        self._thread.shutdown(wait=True)
        self._reader.close()
        if self._writer is not None:
            self._writer.close()

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, Completion]:
        """The answers that are there, by key."""
        found: dict[bytes, Completion] = {}
        for start in range(0, len(keys), _CHUNK):
            found.update(self._get_chunk(keys[start : start + _CHUNK]))
        return found

    def _get_chunk(self, keys: Sequence[bytes]) -> Iterable[tuple[bytes, Completion]]:
        marks = ",".join("?" * len(keys))
        query = (
            "SELECT key, text, logprobs, stop, prompt_tokens, completion_tokens, body"
            f" FROM response LEFT JOIN alternative USING (key) WHERE key IN ({marks})"
        )
        try:
            rows = self._reader.execute(query, keys).fetchall()
        except sqlite3.Error as exc:
            raise self._problem(exc) from exc
        return [
            (key, Completion(text, _unpack(logprobs), stop, prompt_tokens, completion_tokens, _alternatives(body)))
            for key, text, logprobs, stop, prompt_tokens, completion_tokens, body in rows
        ]

    def put(self, key: Key, completion: Completion) -> asyncio.Future[None]:
        """Keep an answer; the future is done once it is committed."""
        done = asyncio.get_running_loop().create_future()
        self._pending.append((key, completion, done))
        if self._flushing is None:
            self._flush()
        return done

    async def drain(self) -> None:
        """Wait until everything that was put is on disk."""
        while self._flushing is not None:
            await asyncio.wait([self._flushing])

    def _flush(self) -> None:
        batch, self._pending = self._pending, []
        loop = asyncio.get_running_loop()
        self._flushing = loop.create_future()
        writing = loop.run_in_executor(self._thread, self._write, batch)
        writing.add_done_callback(lambda outcome: self._flushed(batch, outcome))

    def _flushed(
        self, batch: list[tuple[Key, Completion, asyncio.Future[None]]], outcome: asyncio.Future[None]
    ) -> None:
        problem = outcome.exception()
        for _, _, done in batch:
            if done.done():
                continue
            if problem is None:
                done.set_result(None)
            else:
                done.set_exception(problem)
        flushing, self._flushing = self._flushing, None
        if self._pending:
            self._flush()
        if flushing is not None:
            flushing.set_result(None)

    def _write(self, batch: list[tuple[Key, Completion, asyncio.Future[None]]]) -> None:
        now = time.time()
        keys = [key for key, _, _ in batch]
        rows = [
            (k.key, k.prompt, k.setting, k.sample, c.text, _pack(c.logprobs), c.stop,
             c.prompt_tokens, c.completion_tokens, now)
            for k, c, _ in batch
        ]  # fmt: skip
        others = [(k.key, orjson.dumps(c.alternatives)) for k, c, _ in batch if c.alternatives]
        settings = {k.setting: k.body for k in keys if k.setting not in self._settings}
        try:
            if self._writer is None:
                self._writer = self._connect()
            with self._writer as db:
                db.executemany("INSERT OR IGNORE INTO setting VALUES (?, ?)", settings.items())
                db.executemany("INSERT OR IGNORE INTO prompt VALUES (?, ?)", [(k.prompt, k.messages) for k in keys])
                db.executemany("INSERT OR REPLACE INTO response VALUES (?,?,?,?,?,?,?,?,?,?)", rows)
                db.executemany("INSERT OR REPLACE INTO alternative VALUES (?, ?)", others)
        except sqlite3.Error as exc:
            raise self._problem(exc) from exc
        self._settings.update(settings)

    def _connect(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(self.path, timeout=60, check_same_thread=False)
            try:
                self._prepare(db)
            except BaseException:
                db.close()
                raise
        except (sqlite3.Error, OSError) as exc:
            raise self._problem(exc) from exc
        return db

    def _prepare(self, db: sqlite3.Connection) -> None:
        """Make the tables of a new file, whole or not at all, also when two processes start with it at once."""
        db.execute("BEGIN IMMEDIATE")
        application, version, tables = (
            db.execute(query).fetchone()[0]
            for query in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
        )
        if application == _APPLICATION and version != VERSION:
            raise StoreError(
                f"{self.path}: written by another version of mores (store version {version});"
                " give another file with --store"
            )
        if application != _APPLICATION and tables:
            raise StoreError(f"{self.path}: a database, but not of mores; give another file with --store")
        for statement in _SCHEMA if application != _APPLICATION else ():
            db.execute(statement)
        db.execute(_ALTERNATIVES)
        db.commit()
        _until_free(db, "PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")  # an answer survives a power cut once it is handed on

    def _problem(self, exc: Exception) -> StoreError:
        text = str(exc)
        if "full" in text or "No space" in text:
            fix = "the disk is full: free some space and run the same command again; what was answered is kept"
        elif "not a database" in text or "malformed" in text:
            fix = "the file is damaged or not a store: move it away or give another with --store"
        elif "locked" in text:
            fix = "another program holds it: wait for that to end or give another file with --store"
        else:
            fix = "check that the folder can be written or give another file with --store"
        return StoreError(f"{self.path}: {text}; {fix}")


def _until_free(db: sqlite3.Connection, statement: str) -> None:
    """Changing the journal does not wait for others as everything else does."""
    for attempt in range(100):
        try:
            db.execute(statement)
            return
        except sqlite3.OperationalError:
            if attempt == 99:
                raise
            time.sleep(0.05)


def _alternatives(body: bytes | None) -> tuple[tuple[str, float], ...] | None:
    return None if body is None else tuple((token, logprob) for token, logprob in orjson.loads(body))


def _pack(logprobs: tuple[float, ...] | None) -> bytes | None:
    return None if logprobs is None else array("d", logprobs).tobytes()


def _unpack(blob: bytes | None) -> tuple[float, ...] | None:
    return None if blob is None else tuple(array("d", blob))


def opened(store: Store | str | Path | None) -> AbstractContextManager[Store | None]:
    """A store to enter: the one at a path, which is closed at the end, or one that is open already, or none."""
    return Store(store) if isinstance(store, str | Path) else nullcontext(store)
