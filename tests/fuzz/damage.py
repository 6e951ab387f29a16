"""Damage to a file, with regard to its structure: values in JSON and YAML, cells of tables, members of archives, bytes.

    damage(b'{"id": 1}', "json", [Edit(how=0, where=1, what=7)])

Edits are three numbers, so that Hypothesis shrinks them and Atheris makes them from its bytes.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import yaml

T = TypeVar("T")


class Edit(NamedTuple):
    """One change. Each number is taken modulo what there is to choose from."""

    how: int
    where: int
    what: int


def damage(data: bytes, form: str, edits: Sequence[Edit]) -> bytes:
    """The data after some edits; `form` is a suffix such as `jsonl`, and whatever has no structure is bytes."""
    for edit in edits:
        change = FORMS.get(form, _bytes) if edit.how % 2 == 0 else _bytes
        data = change(data, edit._replace(how=edit.how // 2))
    return data


NESTED = 300, 100_000
"""One that some libraries read and cannot write, and one that exhausts the stack."""
VALUES = (
    "null", "true", "0", "-1", "0.5", "1e400", "NaN", "-Infinity", "9" * 5000, '""', '" "', "[]", "{}", "[[]]",
    '[null]', '{"": null}', r'"\u0000"', r'"\ud800"', '"²"', '"٣"', '"=1+1"', '"../../x"', '"9999-99-99T99:99"',
    '"1_0"', '"nan"', '"\\n"', '"\\"', '"\\u2028"', json.dumps("x" * 70_000),
    *("[" * depth + "]" * depth for depth in NESTED), *('{"a":' * depth + "0" + "}" * depth for depth in NESTED),
)  # fmt: skip
"""As JSON writes them, or as it should not."""
TOKENS = (
    b"\0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b'"', b"\n", b"\r", b"\t", b",", b"{", b"}", b"\\", b"'", b": ",
    b"- ", b"&a [*a]", b"!!python/name:os.system", b"2024-99-99", b"1:99:99", b"\xe2\x80\xa8", b"<v>", b"</v>",
    b"<!DOCTYPE a>", b"<think>", b"```", b"\x00" * 8, b"\xff" * 8, b"\x09\x00\x00\x00", b"[" * 100_000, b"9" * 5000,
)  # fmt: skip


def _pick(choices: Sequence[T], number: int) -> T:
    return choices[number % len(choices)]


def _bytes(data: bytes, edit: Edit) -> bytes:
    """Set, take away, put in, repeat or cut off some bytes."""
    at = edit.where % (len(data) + 1)
    size = 1 << edit.what % 8
    match edit.how % 5:
        case 0:
            return data[:at] + bytes([edit.what % 256]) + data[at + 1 :]
        case 1:
            return data[:at] + data[at + size :]
        case 2:
            return data[:at] + _pick(TOKENS, edit.what) + data[at:]
        case 3:
            return data[:at] + data[at : at + size] + data[at:]
    return data[:at]


def _spots(tree: Any) -> list[tuple[Any, Any]]:
    """Every place in a tree of lists and dicts, as its container and its key there."""
    spots = []
    stack = [tree]
    while stack:
        container = stack.pop()
        keys = list(container) if isinstance(container, dict) else range(len(container))
        for key in keys:
            spots.append((container, key))
            if isinstance(container[key], dict | list):
                stack.append(container[key])
    return spots


def _tree(tree: Any, edit: Edit) -> str:
    """A tree with one place changed, as JSON."""
    root = [tree]
    container, key = _pick(_spots(root), edit.where)
    raw = "null"
    match edit.how % 5:
        case 0 | 1:
            container[key], raw = "@raw@", _pick(VALUES, edit.what)
        case 2 if container is not root:
            del container[key]
        case 3:
            container[key] = [container[key], container[key]]
        case 4 if isinstance(container, dict):
            container[_pick(("", "id", "text", "é", "x" * 300, *container), edit.what)] = container.pop(key)
    return "".join(json.dumps(value, ensure_ascii=False, default=str) for value in root).replace('"@raw@"', raw)


def _json(data: bytes, edit: Edit) -> bytes:
    try:
        return _tree(json.loads(data), edit).encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return _bytes(data, edit)


def _jsonl(data: bytes, edit: Edit) -> bytes:
    """One line is changed; another edit may repeat it."""
    lines = data.splitlines() or [b""]
    at = edit.what % len(lines)
    lines[at] = _json(lines[at], edit)
    return b"\n".join(lines) + b"\n"


def _yaml(data: bytes, edit: Edit) -> bytes:
    try:
        return _tree(yaml.safe_load(data), edit).encode("utf-8", "replace")  # JSON is YAML
    except (yaml.YAMLError, ValueError, RecursionError):
        return _bytes(data, edit)


def _toml(data: bytes, edit: Edit) -> bytes:
    """The value of one line is changed."""
    lines = data.decode("utf-8", "replace").split("\n")
    at = _pick([number for number, line in enumerate(lines) if "=" in line] or [0], edit.where)
    name = lines[at].partition("=")[0]
    lines[at] = f"{name}= {_pick((*VALUES, '2024-99-99', 'inf', '0xg'), edit.what)}"
    return "\n".join(lines).encode("utf-8", "replace")


def _table(delimiter: str) -> Callable[[bytes, Edit], bytes]:
    def change(data: bytes, edit: Edit) -> bytes:
        try:
            rows = list(csv.reader(io.StringIO(data.decode(), newline=""), delimiter=delimiter))
        except (ValueError, csv.Error):
            return _bytes(data, edit)
        row = _pick(rows or [[""]], edit.where)
        cell = edit.where // (len(rows) or 1) % (len(row) or 1)
        match edit.how % 4:
            case 0 | 1:
                row[cell : cell + 1] = [_pick(VALUES, edit.what).strip('"')]
            case 2:
                del row[cell : cell + 1]
            case 3:
                row.insert(cell, row[cell] if row else "")
        out = io.StringIO(newline="")
        csv.writer(out, delimiter=delimiter).writerows(rows)
        return out.getvalue().encode("utf-8", "replace")

    return change


def _zip(data: bytes, edit: Edit) -> bytes:
    """A member of the archive is changed, by its own form."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError, OSError, EOFError, zlib.error):
        return _bytes(data, edit)
    name = _pick(sorted(members) or [""], edit.what)
    members[name] = damage(members.get(name, b""), form_of(name), [edit])
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return out.getvalue()


def _gzip(data: bytes, edit: Edit) -> bytes:
    try:
        return gzip.compress(_jsonl(gzip.decompress(data), edit), 0)
    except (OSError, EOFError, ValueError, zlib.error):
        return _bytes(data, edit)


def _xml(data: bytes, edit: Edit) -> bytes:
    """The text between two tags, or the value of an attribute, is changed."""
    parts = re.split(rb'(>[^<]*<|"[^"]*")', data)
    at = _pick(range(1, len(parts), 2) or [0], edit.where)
    value = _pick(VALUES, edit.what).strip('"').encode("utf-8", "replace")
    parts[at] = (b">%b<" if parts[at].startswith(b">") else b'"%b"') % value
    return b"".join(parts)


FORMS: dict[str, Callable[[bytes, Edit], bytes]] = {
    "json": _json, "jsonl": _jsonl, "yaml": _yaml, "toml": _toml, "csv": _table(","), "tsv": _table("\t"),
    "zip": _zip, "xlsx": _zip, "gz": _gzip, "xml": _xml,
}  # fmt: skip


def form_of(name: str) -> str:
    """The form of a file by its name."""
    return name.rpartition(".")[2].lower()
