"""The public function `mores.corpus`: a corpus with its index in one file, from what people have.

Texts are read one at a time, filtered, cut into passages and written, so that memory does not grow with them. The file
is complete or not there.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import ZipFile

from mores import __version__
from mores.culture import base_language, countries, language
from mores.errors import ConfigError, InputError, StoreError
from mores.extras import require
from mores.io.source import format_of, to_path, why_unreadable
from mores.language import detect
from mores.search.corpus import SUFFIX, as_passage, searched_text
from mores.search.dense import open_vectors
from mores.search.encoders import SEARCH, open_encoder
from mores.search.index import Index, IndexWriter, add_member
from mores.search.passages import TEXTS, Document, Passage, parts, read_texts
from mores.search.places import named_countries
from mores.search.settings import CorpusSettings
from mores.search.web import fetch_pages, is_address
from mores.search.wiki import is_dump, read_dump
from mores.search.words import words
from mores.settings import takes
from mores.types import Record

if TYPE_CHECKING:
    from mores.engine.progress import Progress
    from mores.search.encoders import Encoder

BEGINNING = 1_000
"""Characters of a text that say what it is about."""


class MadeCorpus(Record):
    """A corpus that was written."""

    path: Path
    texts: int
    """Texts that were read: articles, rows, files, pages."""
    kept: int
    """Those that fit the words, regions and languages."""
    passages: int
    bytes: int
    problems: tuple[str, ...] = ()
    """Web pages that could not be read, and why."""


@takes(CorpusSettings)
async def corpus(settings: CorpusSettings) -> MadeCorpus:
    """Make a corpus for `evidence` from dumps, tables, texts, PDFs and web pages."""
    out = settings.out
    if out.suffix.lower() != SUFFIX:
        raise ConfigError(f"{out}: the name of a corpus ends in {SUFFIX}", setting="out")
    encoder = open_encoder(SEARCH) if settings.vectors else None
    wanted, sources = TextFilter(settings.about, settings.region, settings.language), find_sources(settings.inputs)
    problems: list[str] = []
    draft = out.with_name(f".{out.name}.{os.getpid()}.part")
    read = kept = 0
    try:
        with TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as folder:
            with IndexWriter(Path(folder), searched_text) as writer:
                async with aclosing(read_all_texts(sources, problems.append, settings.progress)) as texts:
                    async for text in texts:
                        read += 1
                        if wanted.accepts(text.whole):
                            kept += 1
                            for passage in islice(text.passages(settings.licence), _left(settings.limit, len(writer))):
                                writer.add(passage)
                        if len(writer) == settings.limit:
                            break
                if not len(writer):
                    raise InputError(f"none of {read:,} texts is kept; check the words, regions and languages")
                settings.progress.note(f"writing {len(writer):,} passages")
                writer.finish(
                    draft,
                    {"mores": __version__, "inputs": [Path(name).name for name in settings.inputs]} | wanted.described,
                )
            if encoder:
                _add_vectors(draft, encoder, Path(folder), settings.progress)
        draft.replace(out)
    except OSError as error:
        raise StoreError(f"{out}: cannot be written ({error}); free some space or choose another folder") from error
    finally:
        draft.unlink(missing_ok=True)
    size = out.stat().st_size
    return MadeCorpus(path=out, texts=read, kept=kept, passages=len(writer), bytes=size, problems=tuple(problems))


def _left(limit: int | None, done: int) -> int | None:
    return None if limit is None else limit - done


def _add_vectors(path: Path, encoder: Encoder, folder: Path, progress: Progress) -> None:
    """Add the vectors of all passages to a corpus."""
    index, name = Index(path), f"vectors.{encoder.identity}"
    open_vectors(folder / name, encoder, len(index), lambda place: searched_text(index.passage(place)), progress)
    with ZipFile(path, "a") as archive:
        add_member(archive, name, folder / name)


@dataclass(frozen=True)
class TextFilter:
    """The texts that a corpus is made of: by what their title and beginning say, and by their language."""

    words: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()

    @property
    def described(self) -> dict[str, list[str]]:
        """The filter for the description of the corpus."""
        given = {"about": self.words, "regions": self.regions, "languages": self.languages}
        return {name: list(values) for name, values in given.items() if values}

    @cached_property
    def _words(self) -> list[frozenset[str]]:
        return [frozenset(words(phrase)) for phrase in self.words]

    @cached_property
    def _countries(self) -> frozenset[str]:
        return frozenset(code for region in self.regions for code in countries(region))

    @cached_property
    def _languages(self) -> frozenset[str]:
        return frozenset(base_language(language(tag)) for tag in self.languages)

    def accepts(self, text: Passage) -> bool:
        """Return whether a text is kept."""
        beginning = f"{text.title}\n{text.text[:BEGINNING]}"
        if self._words and not any(phrase <= set(words(beginning)) for phrase in self._words):
            return False
        tag = known_language(text.language)
        if self._languages:
            tag = tag or detect([text.text[:BEGINNING]])[0].language
            if tag is None or base_language(tag) not in self._languages:
                return False
        if not self._countries:
            return True
        stated = frozenset(countries(text.region)) if text.region else named_countries(beginning, tag)
        return not self._countries.isdisjoint(stated)


def known_language(tag: str) -> str | None:
    """Return the code of a language that a text states; None where it states none that is known."""
    try:
        return language(tag) if tag else None
    except InputError:
        return None


@dataclass
class TextSources:
    """Files and web pages that a corpus is made from."""

    files: list[Path] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)


def find_sources(inputs: Iterable[str]) -> TextSources:
    """Return the files and addresses that the user named; InputError for one that cannot be read."""
    sources = TextSources()
    for name in map(str, inputs):
        if is_address(name):
            sources.pages.append(name)
            continue
        place = to_path(name)
        if place.is_dir():
            inside = [path for path in place.rglob("*") if path.is_file() and not _is_hidden(path.relative_to(place))]
            found = sorted(path for path in inside if _is_readable(path))
            if not found:
                raise InputError(f"{place}: no text, table, PDF or dump in this folder")
            sources.files += found
        elif not place.exists():
            raise InputError(f"{place}: no such file or folder; check the path")
        elif not _is_readable(place):
            raise InputError(f"{place}: not a dump, a table, a text or a PDF; see docs/corpus.md for what can be read")
        elif place.suffix.lower() in TEXTS and (addresses := _addresses(place)):
            sources.pages += addresses
        else:
            sources.files.append(place)
    return sources


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _is_readable(path: Path) -> bool:
    return is_dump(path) or path.suffix.lower() in (".pdf", *TEXTS) or format_of(path) not in (None, "text")


def _addresses(path: Path) -> list[str]:
    """Return the addresses in a file that has nothing else; none for any other text."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            if not is_address(file.readline().strip()):
                return []
            file.seek(0)
            lines = [line.strip() for line in file if line.strip()]
    except OSError as error:
        raise InputError(f"{path}: {why_unreadable(error)}") from error
    return lines if all(map(is_address, lines)) else []


class ReadText(NamedTuple):
    """A text of an input, before it is cut into passages."""

    whole: Passage
    file: str = ""
    """Where it is from, if it has no address."""
    by_line: bool = False
    """Whether its passages are told apart by their lines, as in a file of plain text."""

    def passages(self, licence: str | None) -> Iterator[dict[str, Any]]:
        """Yield its passages as an index has them."""
        for part in parts(self.whole, self.by_line):
            source = part.source or f"{self.file}:{part.line}"
            if passage := as_passage(part._replace(source=source, licence=part.licence or licence or "")):
                yield passage


async def read_all_texts(
    sources: TextSources, on_bad: Callable[[str], None], progress: Progress
) -> AsyncGenerator[ReadText, None]:
    """Yield the texts of all files, then those of web pages, as they come."""
    files = chain.from_iterable(map(read_file, sources.files))
    for number, text in enumerate(progress.track("reading texts", files)):
        yield text
        if number % 64 == 0:
            await asyncio.sleep(0)  # others in the loop have their turn

    def refuse(problem: str) -> None:
        progress.note(problem)
        on_bad(problem)

    async with aclosing(fetch_pages(sources.pages, refuse)) as pages:
        async for page in pages:
            yield ReadText(page)


def read_file(path: Path) -> Iterator[ReadText]:
    """Yield the texts of a file: articles, rows, pages, or the whole."""
    if is_dump(path):
        yield from map(ReadText, read_dump(path))
    elif path.suffix.lower() == ".pdf":
        yield from map(ReadText, read_pdf(path))
    else:
        by_line = path.suffix.lower() in TEXTS
        yield from (ReadText(text, str(path), by_line) for text in read_texts(Document(path, path.name)))


def read_pdf(path: Path) -> Iterator[Passage]:
    """Yield each page of a PDF; InputError for a file that is none, or is locked."""
    require("pdf", "pypdf")
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(path)
        title = str((reader.metadata or {}).get("/Title") or "").strip() or path.stem
        for number, page in enumerate(reader.pages, 1):
            yield Passage(page.extract_text(), number, title, f"{path}#page={number}")
    except (PyPdfError, OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: not a PDF that can be read ({error}); leave it out") from error
