"""`embedded`: a GGUF model on this computer, served by llama.cpp in a process that we start and stop.

Reproducible by default. Two things make llama.cpp's answers depend on what was asked before: several slots that
share a batch, and a prompt cache of whatever came last. So there is one slot, and before each request it is set
back to a saved state: what repeats is read once, and nothing leaks over. The state holds the system prompt, or all that
precedes the judged text (evidence, instruction), which is always read in the same two steps, first or not. Several
slots, which a user may ask for, share these states for answers that are written in parts.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.metadata
import json
import os
import secrets
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import aiohttp
import orjson

from mores.errors import ConfigError, ModelError, MoresError, Rejected, Transient
from mores.models import gguf, merged, pull
from mores.models.base import STYLES, Calibration, Completion, Explanations, Message, Request, Style
from mores.models.http import read_body
from mores.models.openai import MOST_BYTES, OpenAIModel, read_error
from mores.models.parts import write_parts

TUNED = Path(__file__).parent / "tuned" / "smollm2-135m-mores.gguf"
"""The LoRA that makes a metric of the default model; its card is in the same folder."""
READER_TUNED = TUNED.with_name("qwen2.5-coder-1.5b-mores.gguf")
"""The LoRA that makes a metric of the reader."""
_BETTER = " The model `reader` is ten times as large and reads texts and evidence better: `mores pull reader`."
_WARNING_TUNED = (
    "embedded is SmolLM2-135M, tuned by Mores to write error reports: a very small model. Of 100 balanced test pairs of"
    " its sources it judges 97 correctly with evidence that covers them, and 62 without. On kinds of text that it never"
    " saw, with evidence, these are 74 in English and 64 in other languages; on texts of several sentences with free"
    " prose as evidence, and on unknown sources without evidence, it is near chance (50)." + _BETTER
)
_WEAK_TUNED = (
    "without evidence, embedded judges 62 of 100 balanced test pairs of its sources correctly, and on sources that it"
    " never saw it is near chance (50)"
)
_WEAK_UNCOVERED = (
    "the evidence has few words of the text; with evidence that does not cover them, embedded judges 52 of 100 balanced"
    " test pairs of its sources correctly, which is near chance (50)"
)
_WARNING_UNTUNED = (
    "embedded is SmolLM2-135M-Instruct, untuned: a very small model that knows little about cultures and reads English"
    " only. Its verdicts show how Mores works; they do not measure anything." + _BETTER
)
_WARNING_READER = (
    "reader is Qwen2.5-Coder-1.5B-Instruct, tuned by Mores to write error reports: a small model. Of 100 balanced test"
    " pairs of its sources it judges 99 correctly with evidence that covers them, and 70 without. On kinds of text that"
    " it never saw, with evidence, these are 86 in English and 80 in Arabic, Dutch and Japanese. It does not follow"
    " texts of several sentences with free prose as evidence: there, most of its verdicts are “not known”, and the"
    " others are near chance (50)."
)
_WEAK_READER = (
    "without evidence, reader judges 70 of 100 balanced test pairs of its sources correctly; on sources that it never"
    " saw it has not been measured"
)
_WEAK_READER_UNCOVERED = (
    "the evidence has few words of the text; with evidence that does not cover them, reader judges 52 of 100 balanced"
    " test pairs of its sources correctly, which is near chance (50)"
)
_WARNING_READER_UNTUNED = (
    "reader is Qwen2.5-Coder-1.5B-Instruct, untuned: a small model that was not made to find cultural errors. Its"
    " verdicts have not been measured."
)
EXPLANATIONS = Explanations(
    uncited="“{quote}” does not seem to fit here; no evidence says what would.",
    cited={
        "contradicts the evidence": "“{quote}” does not agree with the evidence: “{sentence}”",
        "incorrect answer": "The answer should be “{words}”, not “{quote}”.",
        "incorrect information": "“{quote}” is wrong; “{words}” is correct.",
        "misrepresentation": "“{quote}” fits another culture; what is correct here is “{words}”.",
        "misrepresented norm": "“{quote}” reverses the norm; “{words}” is correct.",
        "stereotyping": "“{quote}” overgeneralises: not everyone in a culture does the same at all times;"
        " “{words}” is correct.",
    },
)
"""What the tuned model says of an error. A correction is always words of the evidence; without evidence there is none,
because it would be a guess."""


@dataclass(frozen=True)
class Shipped:
    """A model that has a name of its own (`mores.models.pull.FILES`): the LoRA that it judges with, and its limits."""

    tuned: Path
    warning: str | None = None
    """What a user must know about it with that LoRA."""
    warning_untuned: str | None = None
    weak_without_evidence: str | None = None
    weak_uncovered: str | None = None
    explanations: Explanations | None = None
    calibration: tuple[Calibration, Calibration] | None = None
    """With evidence, and without, as `benchmarks/reader.py confidence` fits it."""


SHIPPED = {
    "embedded": Shipped(TUNED, _WARNING_TUNED, _WARNING_UNTUNED, _WEAK_TUNED, _WEAK_UNCOVERED, EXPLANATIONS),
    "reader": Shipped(
        READER_TUNED,
        _WARNING_READER,
        _WARNING_READER_UNTUNED,
        _WEAK_READER,
        _WEAK_READER_UNCOVERED,
        calibration=(Calibration(0.666, -0.203), Calibration(0.867, 0.021)),
    ),
}
_START_TIMEOUT = 120.0
_KEPT = 200_000_000
"""Bytes of states that hold more than a system prompt, some MB each: the latest ones, because texts to one instruction
follow each other, or come again after those to some dozen others."""
_NEEDED = (
    "PATH", "HOME", "USERPROFILE", "SYSTEMROOT", "TMP", "TEMP", "LANG", "LC_", "LD_", "DYLD_", "PYTHON", "VIRTUAL_ENV",
    "OMP_", "GOMP_", "GGML_", "CUDA_", "NVIDIA_", "HIP_", "ROCR_", "MORES_CACHE",
)  # fmt: skip
"""How the names of the variables begin that the server's process gets."""

_WAITING = {"GOMP_SPINCOUNT": "1000"}
"""llama.cpp's threads often wait for each other: they spin briefly, which is all that an idle machine needs, and then
sleep. By default they spin longer, which costs CPU time beside busy programs; threads that never spin write tokens more
slowly on an idle machine (benchmarks/embedded.py)."""


class EmbeddedModel(OpenAIModel):
    """The same client as `openai:`, with its own server."""

    constrained = True
    grammars = True
    timeout = 3600.0

    def __init__(
        self,
        name: str = "",
        adapter: str | None = None,
        slots: int = 1,
        context: int = 8192,
        threads: int | None = None,
        kind: str = "embedded",
    ) -> None:
        self._asked, self._kind = name, kind
        self.threads = threads or available_cores()
        self.adapter = _existing(adapter)
        self.slots = slots
        self.context = context
        shipped = SHIPPED[kind]
        is_metric = not name and self.adapter == shipped.tuned
        untuned = None if name or self.adapter else shipped.warning_untuned
        self.warning = shipped.warning if is_metric else untuned
        self.wants_evidence = is_metric or (kind == "reader" and not name)
        self.weak_without_evidence = shipped.weak_without_evidence if is_metric else None
        self.weak_uncovered = shipped.weak_uncovered if is_metric else None
        self.calibration = shipped.calibration if is_metric else None
        self.explanations = shipped.explanations if self.adapter == shipped.tuned else None
        self._process: asyncio.subprocess.Process | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        super().__init__(name or kind, "http://127.0.0.1/v1", secrets.token_hex(16))

    @cached_property
    def path(self) -> Path:
        """The model's file, which the adapter has to fit; the default one is downloaded when it is first needed."""
        path = pull.resolve(self._asked, self._kind)
        if self.adapter:
            _check_fit(self.adapter, path)
        return path

    @property
    def name(self) -> str:
        return f"{self._kind}:{self._asked}" if self._asked else self._kind

    @cached_property
    def style(self) -> Style | None:
        """The style that the adapter's file says, or the model's own."""
        path = self.adapter or (self.path if self._asked else None)
        value = gguf.read_text(path, gguf.STYLE) if path else None
        return value if value in STYLES else None

    @cached_property
    def merged(self) -> Path | None:
        """One file of the model and the adapter that come with Mores, where llama.cpp is faster with it."""
        if self._asked or self.adapter != TUNED or self._floats is None:
            return None
        with suppress(MoresError, OSError):  # a cache that cannot be written, or is full: slower, and as good
            return self._merge()
        return None

    def _merge(self) -> Path:
        assert self._floats is not None
        key = f"{pull.FILES[self._kind].sha256[:8]}{self._adapter_digest[:8]}"
        return merged.provide(self.path, TUNED, key, self._floats)

    @cached_property
    def _floats(self) -> int | None:
        return merged.fastest_type()

    @cached_property
    def _adapter_digest(self) -> str:
        assert self.adapter
        return pull.sha256(self.adapter)

    @cached_property
    def identity(self) -> str:
        digest = pull.sha256(self.path) if self._asked else pull.FILES[self._kind].sha256  # which was checked
        parts = [f"{self.path.stem}@{digest[:12]}"]
        if self.adapter:
            parts.append(f"lora@{self._adapter_digest[:12]}")
        if self.merged:
            assert self._floats is not None
            # It rounds differently, so that answers may differ.
            parts.append(f"merged-{merged.VERSIONS[self._floats]}")
        parts.append(f"xllamacpp-{importlib.metadata.version('xllamacpp')}")
        parts.append(f"ctx{self.context}-slots{self.slots}-apart2-parts")  # how it reads and writes, see `complete`
        return "embedded/" + "/".join(parts)

    @property
    def concurrency(self) -> int:
        return self.slots

    async def _open(self) -> None:
        self._free = asyncio.Queue[int]()
        for slot in range(self.slots):
            self._free.put_nowait(slot)
        self._reading = asyncio.Lock()
        self._saved = set[str]()
        self._recent: dict[str, int] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="mores-llama-")
        address = await self._start(self._folder.name)
        self.base_url, self._url = f"{address}/v1", f"{address}/v1/chat/completions"
        await super()._open()

    async def _close(self) -> None:
        await super()._close()
        await self._end()

    async def complete(self, request: Request) -> Completion:
        slot = await self._free.get()  # nothing may come between setting it back and using it, or between two parts
        try:
            if self.slots == 1 or request.parts:
                async with self._reading:  # what several texts share is read once, and kept until it is restored
                    await self._set_back(request, slot)
            return await (write_parts(request, self._call, slot) if request.parts else self._complete(request))
        finally:
            self._free.put_nowait(slot)

    async def _complete(self, request: Request) -> Completion:
        try:
            completion = await super().complete(request)
        except Transient as exc:
            raise self._died(exc) from exc
        if request.constrained and completion.stop == "stop" and completion.logprobs:
            # Under a grammar the last token is one that only ends, seldom the model's own: it says nothing of the text.
            return completion._replace(logprobs=completion.logprobs[:-1])
        return completion

    def _died(self, exc: Exception) -> ModelError:
        """Return the error of a call; a server that has ended does not come back, so that the run stops."""
        if self._process is not None and self._process.returncode is not None:
            return ModelError(f"the embedded server has stopped by itself (exit code {self._process.returncode})")
        return exc if isinstance(exc, ModelError) else Transient(f"embedded server: {exc}")

    def body(self, request: Request) -> dict[str, Any]:
        body = super().body(request)
        body |= {"cache_prompt": True} | ({"top_logprobs": max(1, request.alternatives)} if request.logprobs else {})
        if body.pop("response_format", None):
            # Through the protocol the schema would allow any white space, which a small model happily fills.
            schema = dict(request.schema or {}) | {"x-guidance": {"whitespace_flexible": False}}
            body["grammar"] = f"%llguidance {{}}\nstart: %json {json.dumps(schema)}"
        if request.grammar is not None:
            body["grammar"] = request.grammar
        return body

    async def _set_back(self, request: Request, slot: int) -> None:
        """Put the slot into the state just after what the request shares with others, read when first needed."""
        system = [m for m in request.messages if m.role == "system"]
        shared = _worth_keeping(request)
        start, name = _state_name(system, ""), _state_name(system, shared)
        if start not in self._saved:
            opening = Request((*system, request.messages[-1]._replace(content="")), max_tokens=1, logprobs=False)
            await self._call("/v1/chat/completions", super().body(opening) | {"cache_prompt": False, "id_slot": slot})
            await self._call(f"/slots/{slot}?action=save", {"filename": start})
            self._saved.add(start)
        if name != start and name not in self._recent:
            await self._call(f"/slots/{slot}?action=restore", {"filename": start})
            if await self._read(request, shared, slot):
                await self._call(f"/slots/{slot}?action=save", {"filename": name})
            else:
                name = start
        await self._call(f"/slots/{slot}?action=restore", {"filename": name})
        if name != start:
            self._use(name)

    async def _read(self, request: Request, shared: str, slot: int) -> bool:
        """Read the prompt up to the end of its shared part; False where that is not possible."""
        messages = [message._asdict() for message in request.messages]
        prompt = orjson.loads(await self._call("/apply-template", {"messages": messages}))["prompt"]
        place = prompt.find(shared)
        if place < 0:  # a template that changes what is said
            return False
        body = {"prompt": prompt[: place + len(shared)], "n_predict": 0, "cache_prompt": True, "id_slot": slot}
        try:
            await self._call("/completion", body)
        except Rejected:  # longer than the context, as the request itself will be told
            return False
        return True

    def _use(self, name: str) -> None:
        """Keep a state as the latest one, and of those before it as many as there is room for."""
        assert self._folder is not None
        folder = Path(self._folder.name)
        self._recent.pop(name, None)
        self._recent[name] = (folder / name).stat().st_size
        while len(self._recent) > 1 and sum(self._recent.values()) > _KEPT:
            oldest = next(iter(self._recent))
            del self._recent[oldest]
            (folder / oldest).unlink(missing_ok=True)

    async def _call(self, path: str, body: dict[str, Any]) -> bytes:
        assert self._session is not None
        address = self.base_url.removesuffix("/v1")
        try:
            async with self._session.post(address + path, data=orjson.dumps(body), **self._arguments) as response:
                answer = await read_body(response, MOST_BYTES)
        except aiohttp.ClientError as exc:
            raise self._died(exc) from exc
        if response.status != 200:
            message = f"embedded server: {path}: {read_error(answer)['message']}"
            if response.status >= 500:
                raise self._died(Transient(message))
            raise Rejected(message, final=True) if response.status == 400 else ModelError(message)
        return answer

    async def _start(self, folder: str) -> str:
        model = self._merge() if self.merged else self.path  # again: it may have been removed since
        settings = {
            "model": str(model),
            "adapter": str(self.adapter) if self.adapter and not self.merged else None,
            "context": self.context,
            "slots": self.slots,
            "threads": self.threads,
            "folder": folder + os.sep,
            "fit": self.name != "embedded",
            "key": self._key,
        }
        with (Path(folder) / "log").open("wb") as log:
            # The server gets what it needs, and no keys and tokens.
            needed = {name: value for name, value in os.environ.items() if name.upper().startswith(_NEEDED)}
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "mores.models.llama_server",
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=log,
                env=_WAITING | needed,
                start_new_session=True,  # Ctrl-C is ours to handle; the child ends with its standard input
            )  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(orjson.dumps(settings) + b"\n")
        try:
            line = await asyncio.wait_for(self._process.stdout.readline(), _START_TIMEOUT)
        except TimeoutError:
            line, silent = b"", f"not ready after {_START_TIMEOUT:.0f} s; is the machine busy, or short of memory?"
        else:
            silent = "no reason given"
        if not line.startswith(b"http"):
            for path in filter(None, (self.path, self.adapter)):
                if gguf.is_cut(path):
                    raise ModelError(f"{path}: cut off: the file ends before its weights do; get it again")
            lines = (Path(folder) / "log").read_text("utf-8", "replace").strip().splitlines()
            reason = lines[-1] if lines else silent
            files = f"{self.path} and {self.adapter}, if that was made for it" if self.adapter else self.path
            raise ModelError(f"the embedded server did not start with {files}: {reason}")
        return line.decode().strip()

    async def _end(self) -> None:
        if self._process is not None and self._process.returncode is None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            try:
                await asyncio.wait_for(self._process.wait(), 5)
            except TimeoutError:
                self._process.kill()
                await self._process.wait()
        if self._folder is not None:
            self._folder.cleanup()


def available_cores(group: Path = Path("/sys/fs/cgroup")) -> int:
    """Return the cores that this process may use, by its affinity and the quota of its control group."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = (group / "cpu.max").read_text("ascii").split()
        return max(1, min(cores, int(quota) // int(period)))
    except (OSError, ValueError, ZeroDivisionError):  # no control groups, or "max": no quota
        return cores


def _worth_keeping(request: Request) -> str:
    """Return the beginning of the last message that is read apart: a shared one that makes up a third of it.

    Reading in two steps costs up to 6% more where no other request follows; a short beginning does not repay that.
    """
    content = request.messages[-1].content
    return content[: request.shared] if 3 * request.shared > len(content) else ""


def _state_name(system: Sequence[Message], shared: str) -> str:
    """Return the file of the state after these messages and the shared beginning of the next."""
    content = orjson.dumps([*map(tuple, system), *([shared] if shared else [])])
    return hashlib.blake2b(content, digest_size=8).hexdigest() + ".kv"


def _existing(adapter: str | None) -> Path | None:
    if adapter is None:
        return None
    path = Path(adapter)
    if path.is_file() and gguf.is_gguf(path):
        return path
    fix = "give one, or 'none'; a PEFT folder goes with hf:PATH"
    raise ConfigError(f"{adapter}: not a GGUF LoRA file; {fix}", setting="adapter")


def _check_fit(adapter: Path, model: Path) -> None:
    """Refuse an adapter of another architecture: llama.cpp would not start, and would not say why."""
    made_for, architecture = (gguf.read_text(path, gguf.ARCHITECTURE) for path in (adapter, model))
    if made_for != architecture:
        reason = f"an adapter for models of architecture {made_for!r}, and {model.name} is {architecture!r}"
        fix = "name the model that it was made for as embedded:FILE.gguf"
        raise ConfigError(f"{adapter}: {reason}; {fix}", setting="adapter")
