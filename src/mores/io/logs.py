"""Chats, and the logs of other harnesses as rows of texts: of Inspect AI, lm-evaluation-harness and promptfoo.

Their packages are not needed. They write NaN into their JSON, which only `json` reads. What a model was asked is the
instruction, what it answered is the text; the region and the language are those of the sample's metadata, document or
variables, where it has any that Mores knows. All of these are kept.
"""

from __future__ import annotations

import json
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any
from zipfile import ZipFile, ZipInfo

from mores.errors import ConfigError, InputError
from mores.extras import require
from mores.io.columns import LANGUAGE, REGION, fold
from mores.io.source import BAD_ZIP, Rows, TableRow, TableSource, numbered_lines

AGAIN = "#"
"""Parts an id from the number of the answer, for every answer after the first."""
_ZSTANDARD = 93
"""The compression of Inspect's logs, which `zipfile` reads since Python 3.14."""
_ATTACHED = "attachment://"
"""What Inspect writes in place of a long text that several parts of a sample share."""
NOT_JSON = (ValueError, RecursionError)
_CONVERT = "write the log again with a newer version: inspect log convert"
_ROLES = {"human": "user", **dict.fromkeys(("gpt", "chatgpt", "bing", "bard", "model", "ai", "bot"), "assistant")}
"""What ShareGPT and others call the roles of a chat."""


def read_inspect(source: TableSource) -> Rows:
    """Yield the answers in a log of Inspect AI, `.eval` or `.json`."""
    with source.open() as file:
        packed = file.read(2) == b"PK"
        file.seek(0)
        if not packed:
            try:
                log = json.loads(file.read())
            except NOT_JSON as error:
                what = f"neither a zip file nor valid JSON ({_why(error)})"
                raise source.error(f"{what}; give a log of Inspect AI, .eval or .json") from error
            if not isinstance(log, dict) or not isinstance(log.get("eval"), dict):
                raise source.error("JSON, but no log of Inspect AI: it has no 'eval'; give an .eval or .json log of it")
            yield from _inspect_json(source, log)
            return
        try:
            with ZipFile(file) as log:
                yield from _inspect_zip(source, log)
        except BAD_ZIP as error:
            why = str(error) or "it ends too early"  # EOFError has no words
            raise source.error(f"a damaged log ({why}); copy it again, or recover it: inspect log recover") from error


def _inspect_json(source: TableSource, log: Mapping[str, Any]) -> Rows:
    if not isinstance(samples := log.get("samples"), list):
        raise source.error("the log has no samples; run the evaluation again with its samples logged")
    for number, sample in enumerate(samples, 1):
        yield _row(source, number, partial(_inspect_values, sample, log["eval"]), "Inspect AI", _CONVERT)


def _inspect_zip(source: TableSource, log: ZipFile) -> Rows:
    members = {info.filename: info for info in log.infolist()}  # of those with the same name the last counts
    about = next((members[name] for name in ("header.json", "_journal/start.json") if name in members), None)
    if about is None:
        raise source.error("a zip file, but no log of Inspect AI: it has no header.json; give a log of it")
    try:
        header = json.loads(_unpacked(source, log, about))
    except NOT_JSON as error:
        raise source.error(f"{about.filename} in it is not valid JSON ({_why(error)}); copy the log again") from error
    if not isinstance(header, dict):
        raise source.error(f"{about.filename} in it is not an object; give a log of Inspect AI")
    samples = [info for name, info in members.items() if name.startswith("samples/")]
    if not samples:
        raise source.error("the log has no samples; run the evaluation again with its samples logged")
    for number, info in enumerate(samples, 1):
        try:
            sample = json.loads(_unpacked(source, log, info))
        except NOT_JSON as error:
            problem = f"{info.filename} is not valid JSON ({_why(error)})"
            yield source.error(f"{problem}; run that sample again", number)
        else:
            values = partial(_inspect_values, sample, header.get("eval") or {})
            yield _row(source, number, values, "Inspect AI", _CONVERT)


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


def _row(
    source: TableSource, number: int, read: Callable[[], dict[str, object]], program: str, fix: str
) -> TableRow | InputError:
    """Return what `read` gives; an error with the place where that is not as the program writes it."""
    try:
        values = read()
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        problem = f"it is not as {program} writes it ({type(error).__name__}: {error})"
        return source.error(f"{problem}; {fix}", number)
    except InputError as error:
        return source.error(str(error), number)
    return TableRow(source, number, values)


def _inspect_values(sample: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, object]:
    attachments = sample.get("attachments") or {}

    def content(message: Mapping[str, Any]) -> str:
        text = content_of(message["content"])
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
        "metadata": {"model": about.get("model"), **(sample.get("metadata") or {})},
    }


def instruction_of(messages: Sequence[Mapping[str, str]]) -> str:
    """Return what a model was asked: the messages before its last one."""
    own = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
    asked = messages[: own[-1]] if own else messages
    return conversation(asked)


def conversation(messages: Sequence[Mapping[str, str]]) -> str:
    """Return messages as one instruction; who said what is written only where the model spoke before."""
    filled = [(message["role"], message["content"]) for message in messages if message["content"].strip()]
    if {role for role, _ in filled} <= {"system", "user"}:
        return "\n\n".join(text for _, text in filled)
    return "\n\n".join(f"{role.capitalize()}: {text}" for role, text in filled)


_WORDS = ("text", "input_text", "output_text")
_MEDIA = re.compile(r"(input_)?(image|image_url|audio|video|file|document)")
"""The types of parts of a message."""


def as_chat(value: Any) -> list[dict[str, str]] | None:
    """Return the messages in a value, with `role` and `content`: a list as OpenAI, Hugging Face or ShareGPT write it.

    In a table without types it is written as JSON. None where the value is not a chat.
    """
    if isinstance(value, str):
        if not value.lstrip().startswith("["):
            return None
        with suppress(*NOT_JSON):
            value = json.loads(value)
    value = value.tolist() if hasattr(value, "tolist") else value  # pandas reads lists of Parquet as arrays
    if not isinstance(value, list | tuple) or not value:
        return None
    messages = []
    for message in value:
        if not isinstance(message, Mapping):
            return None
        role, content = message.get("role", message.get("from")), message.get("content", message.get("value"))
        if not isinstance(role, str) or not isinstance(content, str | list | tuple | None):
            return None
        seen = {"role": _ROLES.get(role.casefold(), role.casefold()), "content": content_of(content)}
        parts = content if isinstance(content, list | tuple) else ()
        media = [part for part in parts if isinstance(part, Mapping) and _MEDIA.fullmatch(str(part.get("type")))]
        messages.append(seen | ({"media": str(len(media))} if media else {}))
    return messages


def read_chat(messages: Sequence[Mapping[str, str]], *, answered: bool = False) -> tuple[str, str]:
    """Return what a model was asked and what it answered last; all was asked where the answer stands elsewhere."""
    answers = [place for place, each in enumerate(messages) if each["role"] == "assistant" and each["content"].strip()]
    if answered and (not answers or answers[-1] < len(messages) - 1):
        return conversation(messages), ""
    if not answers:
        raise InputError("the chat has no answer of an assistant; leave it out, or name the column of the text")
    return conversation(messages[: answers[-1]]), messages[answers[-1]]["content"]


def content_of(content: Any) -> str:
    """Return the text of a message; thoughts, pictures and calls of tools are left out."""
    if content is None or isinstance(content, str):
        return content or ""
    texts = (part.get("text") if isinstance(part, Mapping) and part.get("type") in _WORDS else part for part in content)
    return "\n".join(text for text in texts if isinstance(text, str))


def read_lm_eval(source: TableSource) -> Rows:
    """Yield the answers in samples of lm-evaluation-harness; where options were compared, the likeliest."""
    seen: set[str] = set()
    with source.open() as file:
        for number, line in numbered_lines(file):
            if not line.strip():
                continue
            try:
                sample = json.loads(line)
            except NOT_JSON as error:
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
    document = sample.get("doc") or {}
    shared = {"instruction": _prompt(calls[0][0]), **place_of(document), "metadata": document}
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
        return conversation([{"role": each["role"], "content": content_of(each["content"])} for each in messages])
    except (*NOT_JSON, TypeError, KeyError):
        return str(text)


def read_promptfoo(source: TableSource) -> Rows:
    """Yield the answers in the results of promptfoo: a JSON file, or one result in each line."""
    with source.open() as file:
        data = file.read()
    try:
        try:
            results = [json.loads(data)]
        except json.JSONDecodeError:  # one result in each line
            results = [json.loads(line) for line in data.splitlines() if line.strip()]
        results = results[0]["results"]["results"] if "results" in results[0] else results
    except (*NOT_JSON, KeyError, TypeError) as error:
        raise source.error(f"no results of promptfoo ({error}); give what `promptfoo eval -o` writes") from error
    fix = "write the results again with a newer version"
    for number, result in enumerate(results, 1):
        yield _row(source, number, partial(_promptfoo_values, result), "promptfoo", fix)


def _promptfoo_values(result: Mapping[str, Any]) -> dict[str, object]:
    test, prompt = result.get("testIdx"), result.get("promptIdx")
    answer = (result.get("response") or {}).get("output")
    if answer is None or answer == "":
        reason = result.get("error") or "empty"
        raise InputError(f"test {test}, prompt {prompt}, has no answer ({str(reason)[:80]}); leave it out")
    provider, variables = result.get("provider") or {}, result.get("vars") or {}
    name = provider.get("label") or provider.get("id") if isinstance(provider, dict) else str(provider)
    about = {"model": name, "prompt": result["prompt"].get("label"), **variables}
    return {
        **({"id": f"{test}.{prompt}.{name}"} if test is not None else {}),
        "instruction": _prompt(result["prompt"]["raw"]),
        "text": answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False),
        **place_of(variables),
        "metadata": about,
    }


def log_of(values: object) -> str:
    """Return the format of the log that a JSON value is, or begins; empty where it is none."""
    if not isinstance(values, dict):
        return ""
    results = values.get("results")
    if isinstance(values.get("eval"), dict) and "samples" in values and "version" in values:
        return "inspect"
    if isinstance(results, dict) and isinstance(results.get("results"), list):
        return "promptfoo"
    if {"doc_id", "arguments", "resps"} <= values.keys():
        return "lm-eval"
    is_result = isinstance(values.get("prompt"), dict) and "raw" in values["prompt"] and "response" in values
    return "promptfoo" if is_result else ""


def place_of(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the language and region among metadata, where they are such: a language may also be one to program in."""
    from mores import culture  # 0.1 s of tables

    places: dict[str, str] = {}
    folded = {fold(str(name)): value for name, value in values.items()}
    for column, normalize in ((LANGUAGE, culture.language), (REGION, culture.region)):
        for name in (column.name, *column.aliases, *column.guesses):
            value = folded.get(fold(name))
            if column.name not in places and isinstance(value, str) and value.strip():
                with suppress(InputError):
                    places[column.name] = normalize(value)
    return places


LOGS = {"inspect": "Inspect AI", "lm-eval": "lm-evaluation-harness", "promptfoo": "promptfoo"}
"""The formats of logs, and the programs that write them."""


def split_log(name: str) -> tuple[str, str]:
    """Return the path and the format of a log that is named like `inspect:run.eval`."""
    kind, colon, path = name.partition(":")
    if kind not in LOGS or not (colon and path):
        fix = "write inspect:LOG.eval, lm-eval:SAMPLES.jsonl or promptfoo:RESULTS.json"
        raise ConfigError(f"{name}: no log of a known harness; {fix}", setting="from")
    return path, kind
