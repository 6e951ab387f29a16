"""The logs of other harnesses as rows of texts: Inspect AI's logs, and the samples of lm-evaluation-harness.

Their packages are not needed. Both write NaN into their JSON, which only `json` reads. What a model was asked is the
instruction, what it answered is the text; the region and the language are those of the sample's metadata or document,
where it has any that Mores knows.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any
from zipfile import ZipFile, ZipInfo

from mores.errors import ConfigError, InputError
from mores.extras import require
from mores.io.columns import LANGUAGE, REGION
from mores.io.source import BAD_ZIP, Rows, TableRow, TableSource, numbered_lines

AGAIN = "#"
"""Parts an id from the number of the answer, for every answer after the first."""
_ZSTANDARD = 93
"""The compression of Inspect's logs, which `zipfile` reads since Python 3.14."""
_ATTACHED = "attachment://"
"""What Inspect writes in place of a long text that several parts of a sample share."""
_NOT_JSON = (ValueError, RecursionError)


def read_inspect(source: TableSource) -> Rows:
    """Yield the answers in a log of Inspect AI, `.eval` or `.json`."""
    with source.open() as file:
        packed = file.read(2) == b"PK"
        file.seek(0)
        if not packed:
            try:
                log = json.loads(file.read())
            except _NOT_JSON as error:
                what = f"neither a zip file nor valid JSON ({_why(error)})"
                raise source.error(f"{what}; give a log of Inspect AI, .eval or .json") from error
            if not isinstance(log, dict) or not isinstance(log.get("eval"), dict):
                raise source.error("JSON, but no log of Inspect AI: it has no 'eval'; give an .eval or .json log of it")
            if not isinstance(samples := log.get("samples"), list):
                raise source.error("the log has no samples; run the evaluation again with its samples logged")
            for number, sample in enumerate(samples, 1):
                yield _inspect_row(source, number, sample, log["eval"])
            return
        try:
            with ZipFile(file) as log:
                yield from _inspect_zip(source, log)
        except BAD_ZIP as error:
            why = str(error) or "it ends too early"  # EOFError has no words
            raise source.error(f"a damaged log ({why}); copy it again, or recover it: inspect log recover") from error


def _inspect_zip(source: TableSource, log: ZipFile) -> Rows:
    members = {info.filename: info for info in log.infolist()}  # of those with the same name the last counts
    about = next((members[name] for name in ("header.json", "_journal/start.json") if name in members), None)
    if about is None:
        raise source.error("a zip file, but no log of Inspect AI: it has no header.json; give a log of it")
    try:
        header = json.loads(_unpacked(source, log, about))
    except _NOT_JSON as error:
        raise source.error(f"{about.filename} in it is not valid JSON ({_why(error)}); copy the log again") from error
    if not isinstance(header, dict):
        raise source.error(f"{about.filename} in it is not an object; give a log of Inspect AI")
    samples = [info for name, info in members.items() if name.startswith("samples/")]
    if not samples:
        raise source.error("the log has no samples; run the evaluation again with its samples logged")
    for number, info in enumerate(samples, 1):
        try:
            sample = json.loads(_unpacked(source, log, info))
        except _NOT_JSON as error:
            problem = f"{info.filename} is not valid JSON ({_why(error)})"
            yield source.error(f"{problem}; run that sample again", number)
        else:
            yield _inspect_row(source, number, sample, header.get("eval") or {})


def _why(error: ValueError | RecursionError) -> str:
    """Return why JSON cannot be read."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at line {error.lineno}, column {error.colno}"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _unpacked(source: TableSource, log: ZipFile, info: ZipInfo) -> bytes:
    """Return the content of a file in a log; what is packed with Zstandard is unpacked here."""
    if info.compress_type != _ZSTANDARD or sys.version_info >= (3, 14):
        return log.read(info)
    require("parquet", "pyarrow", otherwise="or use Python 3.14")
    from pyarrow import ArrowException, BufferReader, CompressedInputStream

    assert log.fp is not None
    log.fp.seek(info.header_offset)
    local = log.fp.read(30)  # the lengths of its name and of its extra field are those of this header
    log.fp.seek(int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little"), 1)
    try:
        stream = CompressedInputStream(BufferReader(log.fp.read(info.compress_size)), "zstd")
        data: bytes = stream.read(info.file_size)
    except (ArrowException, OSError) as error:
        raise source.error(f"{info.filename} in it is damaged ({error}); copy the log again") from error
    if zlib.crc32(data) != info.CRC:
        raise source.error(f"{info.filename} in it is damaged; copy the log again")
    return data


def _inspect_row(source: TableSource, number: int, sample: Any, about: Mapping[str, Any]) -> TableRow | InputError:
    try:
        values = _inspect_values(sample, about)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        problem = f"it is not as Inspect AI writes it ({type(error).__name__}: {error})"
        return source.error(f"{problem}; write the log again with a newer version: inspect log convert", number)
    except InputError as error:
        return source.error(str(error), number)
    return TableRow(source, number, values)


def _inspect_values(sample: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, object]:
    attachments = sample.get("attachments") or {}

    def content(message: Mapping[str, Any]) -> str:
        text = _content(message["content"])
        return str(attachments.get(text.removeprefix(_ATTACHED), text)) if text.startswith(_ATTACHED) else text

    identifier, epoch = str(sample["id"]), sample.get("epoch") or 1
    choices = (sample.get("output") or {}).get("choices") or []
    text = content(choices[0]["message"]) if choices else ""
    if not text.strip():
        reason = (sample.get("error") or {}).get("message") or (choices and choices[0].get("stop_reason")) or "empty"
        raise InputError(f"{identifier!r}, epoch {epoch}, has no answer ({str(reason)[:80]}); leave it out")
    messages = [{"role": message["role"], "content": content(message)} for message in sample.get("messages") or []]
    return {
        "id": identifier if epoch == 1 else f"{identifier}{AGAIN}{epoch}",
        "instruction": instruction_of(messages) or str(sample.get("input")),
        "text": text,
        "source": " by ".join(str(about[name]) for name in ("task", "model") if about.get(name)),
        **place_of(sample.get("metadata") or {}),
    }


def instruction_of(messages: Sequence[Mapping[str, str]]) -> str:
    """Return what a model was asked: the messages before its last one."""
    own = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
    asked = messages[: own[-1]] if own else messages
    return _conversation((message["role"], message["content"]) for message in asked)


def _content(content: Any) -> str:
    """Return the text of a message; thoughts, pictures and calls of tools are left out."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part.get("type") == "text")


def _conversation(turns: Iterable[tuple[str, str]]) -> str:
    """Return messages as one instruction; who said what is written only where the model spoke before."""
    filled = [(role, text) for role, text in turns if text.strip()]
    if {role for role, _ in filled} <= {"system", "user"}:
        return "\n\n".join(text for _, text in filled)
    return "\n\n".join(f"{role.capitalize()}: {text}" for role, text in filled)


def read_lm_eval(source: TableSource) -> Rows:
    """Yield the answers in samples of lm-evaluation-harness; where options were compared, the likeliest."""
    seen: set[str] = set()
    with source.open() as file:
        for number, line in numbered_lines(file):
            if not line.strip():
                continue
            try:
                sample = json.loads(line)
            except _NOT_JSON as error:
                yield source.error(f"not valid JSON ({_why(error)}); copy the file again", number)
                continue
            try:
                rows = list(_lm_eval_values(sample))
            except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
                problem = f"not a sample of lm-evaluation-harness ({type(error).__name__}: {error})"
                yield source.error(f"{problem}; give the samples_*.jsonl that it writes with logged samples", number)
            else:
                # A document has a line for each filter; what the model wrote is the same in all of them.
                yield from (TableRow(source, number, values) for values in rows if str(values["id"]) not in seen)
                seen.update(str(values["id"]) for values in rows)


def _lm_eval_values(sample: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    arguments, responses = sample["arguments"], sample["resps"]
    calls = [list(call.values()) for call in arguments.values()] if isinstance(arguments, dict) else list(arguments)
    shared = {"instruction": _prompt(calls[0][0]), **place_of(sample.get("doc") or {})}
    if isinstance(responses[0][0], str):
        texts = responses[0]
    else:  # log-probabilities of continuations
        logprobs = [float(response[0][0]) for response in responses]
        texts = [calls[max(range(len(logprobs)), key=logprobs.__getitem__)][1].strip()]
    for place, text in enumerate(texts, 1):
        identifier = str(sample["doc_id"])
        yield {"id": identifier if place == 1 else f"{identifier}{AGAIN}{place}", "text": text, **shared}


def _prompt(argument: Any) -> str:
    """Return what the model was asked: a text, or messages as JSON in a list where it is a chat model."""
    text = argument[0] if isinstance(argument, list) else argument
    try:
        messages = json.loads(text)
        return _conversation((message["role"], _content(message["content"])) for message in messages)
    except (*_NOT_JSON, TypeError, KeyError):
        return str(text)


def place_of(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the language and region among metadata, where they are such: a language may also be one to program in."""
    from mores import culture  # 0.1 s of tables

    places: dict[str, str] = {}
    for column, normalize in ((LANGUAGE, culture.language), (REGION, culture.region)):
        for name in (column.name, *column.aliases):
            value = values.get(name)
            if column.name not in places and isinstance(value, str) and value.strip():
                with suppress(InputError):
                    places[column.name] = normalize(value)
    return places


LOGS = ("inspect", "lm-eval")
"""The formats of logs."""


def split_log(name: str) -> tuple[str, str]:
    """Return the path and the format of a log that is named like `inspect:run.eval`."""
    kind, colon, path = name.partition(":")
    if kind not in LOGS or not (colon and path):
        fix = "write inspect:LOG.eval or lm-eval:SAMPLES.jsonl"
        raise ConfigError(f"{name}: no log of a known harness; {fix}", setting="from")
    return path, kind
