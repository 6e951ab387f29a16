"""The lines of a file as UTF-8, whatever it was saved in."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import IO

from mores.errors import ConfigError, InputError
from mores.io.source import BOM, TableSource, not_utf8, numbered_lines

Lines = Iterator[tuple[int, bytes]]
UTF8 = "utf-8"
_MARKS = {
    b"\xff\xfe\0\0": "utf-32",
    b"\0\0\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
"""Byte order marks, the longest first."""
_SAMPLE = 2**16
"""Bytes that are looked at to tell an encoding."""
_USUAL = (
    *("cp1252", "cp932", "gb18030", "cp949", "big5", "euc_jp", "cp1251", "koi8_r", "cp1250", "cp1253", "cp1254"),
    *("cp1255", "cp1256", "cp1257", "cp1258", "cp874"),
)  # fmt: skip
"""What Windows and older systems save tables in."""
_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_HIGH = re.compile(rb"[\x80-\xff]+")


def byte_lines(source: TableSource, file: IO[bytes]) -> tuple[str, Lines]:
    """Return the encoding of a file where its first bytes tell it, else UTF-8, and its lines.

    UTF-16 and UTF-32, in which a line feed has several bytes, come as UTF-8; lines of other encodings as they are.
    """
    if source.encoding:
        try:
            decoder = getincrementaldecoder(source.encoding)
        except LookupError as error:
            fix = "give one such as utf-8, windows-1252 or shift-jis"
            raise ConfigError(f"unknown encoding {source.encoding!r}; {fix}", setting="encoding") from error
        name = decoder.__module__.removeprefix("encodings.")
        return name, _transcoded(source, file, name) if name.startswith(("utf_16", "utf_32")) else numbered_lines(file)
    first = file.readline()
    name = next((name for mark, name in _MARKS.items() if first.startswith(mark)), "")
    if not name and len(first) >= 4 and (first[0] == 0) != (first[1] == 0):  # no text begins with NUL in every other
        low, high = set(first[1::2]), set(first[::2])
        name = "utf-16-le" if low == {0} and 0 not in high else "utf-16-be" if high == {0} and 0 not in low else ""
    if name:
        return name, _transcoded(source, chain([first], file), name)
    rest = ((number, line) for number, line in enumerate(file, 2))
    return UTF8, chain([(1, first.removeprefix(BOM))] if first else [], rest)


def _transcoded(source: TableSource, chunks: Iterable[bytes], encoding: str) -> Lines:
    decoder, held, number = getincrementaldecoder(encoding)(), "", 0
    for chunk in chain(chunks, [b""]):
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            raise source.error(f"not valid {encoding}; save the file as UTF-8", number + 1) from error
        *whole, held = (held + text).split("\n") if "\n" in text else (held + text,)
        for line in whole:
            number += 1
            yield number, (line.removeprefix("\ufeff") if number == 1 else line).encode(UTF8, "replace") + b"\n"
    if held:
        yield number + 1, held.encode(UTF8, "replace")


class TextLines:
    """Lines as text; at the first that is not UTF-8, what follows tells whether it is damaged or in another encoding.

    `error` is the first line that cannot be decoded since it was last cleared.
    """

    def __init__(self, source: TableSource, encoding: str, lines: Lines) -> None:
        self.encoding = encoding
        self.error: InputError | None = None
        self._source, self._lines = source, lines
        self._codec = encoding if source.encoding and not encoding.startswith(("utf_16", "utf_32")) else UTF8
        self._is_certain = self._codec != UTF8 or encoding != UTF8
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        lines: Lines = iter(())
        while self._lines is not lines:  # another iterator, where some were read ahead
            lines = self._lines
            for self.number, line in lines:
                try:
                    text = line.decode(self._codec)
                except UnicodeDecodeError as error:
                    text = self._decide(line, error)
                if not self._is_certain and len(text) != len(line):
                    self._is_certain = True
                yield text
                if self._lines is not lines:
                    break

    def _decide(self, line: bytes, error: UnicodeDecodeError) -> str:
        if not self._is_certain:
            ahead, size = [], len(line)
            for place, following in self._lines:
                ahead.append((place, following))
                size += len(following)
                if size > _SAMPLE:
                    break
            self._lines = chain(ahead, self._lines)
            self._is_certain = True
            if name := guess_encoding(b"".join([line, *(following for _, following in ahead)])[: 2 * _SAMPLE]):
                self.encoding = self._codec = name
                return line.decode(name, "replace")
        if self._codec == UTF8:
            self.error = self.error or not_utf8(self._source, self.number, error)
        else:
            problem = f"not valid {self.encoding}, in which lines before it are"
            self.error = self.error or self._source.error(f"{problem}; save the file as UTF-8", self.number)
        return line.decode(self._codec, "replace")


def guess_encoding(data: bytes) -> str:
    """Return the encoding that bytes which are not UTF-8 are likely in; nothing where they rather are damaged UTF-8."""
    high = sum(map(len, _HIGH.findall(data)))
    if sum(map(len, _SEQUENCE.findall(data))) > 0.6 * high:
        return ""
    from charset_normalizer import from_bytes  # 0.05 s, and few files need it

    ranked = [(match.chaos, -match.coherence, match.encoding) for match in from_bytes(data, cp_isolation=list(_USUAL))]
    # Of those that are as likely, the one that Windows uses in most countries; the order of the others is not kept.
    return min(ranked, key=lambda match: (match[:2], _USUAL.index(match[2])), default=(0, 0, ""))[2]
