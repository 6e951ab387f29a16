"""Continuous batching: an answer that ends makes room for the next request while the others are being written.

All answers share one cache of keys and values, a row for each, and end in its last column: a step writes one more
column for all of them. Columns before the beginning of a prompt are masked, and positions are counted from there.
New requests take the rows of answers that ended. What all prompts begin with is computed once and copied into each row.

transformers' own continuous batching takes a temperature, top-k and top-p from each request, but no grammar or seed.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol

from mores.models.base import Completion, Request
from mores.models.hf.choose import Chooser, DraftAnswer, TokenizedRequest
from mores.models.hf.network import Network

_SHARE = 8
"""Rows are replaced when one in so many has ended: to read one prompt costs as much time as to read a few."""
_PATIENCE = 4
"""Steps that fewer new requests than that wait for others."""
_PREFILL = 16_384
"""Most tokens of prompts that are read at once."""
_PADDING = 10**12
"""Most padding among them, in tokens times the model's weights: about what another start costs."""
_SLACK = 64
"""Columns that no answer needs any more, at which they are dropped."""
_SHORTEST_PREFIX = 16
_INPUTS = {"input_ids", "attention_mask", "position_ids", "past_key_values", "logits_to_keep"}
_BY_LENGTH = {"dynamic", "longrope"}
"""Rotary embeddings that change with the longest row of a batch."""


def supports(where: str, commit: str | None) -> bool:
    """Return whether a model can be asked so.

    All its layers must keep plain keys and values, which depend on nothing but the tokens before, and take positions.
    """
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, AutoConfig, DynamicCache
    from transformers.cache_utils import DynamicLayer

    origin = {} if commit is None else {"revision": commit}
    try:
        config = AutoConfig.from_pretrained(where, trust_remote_code=False, **origin)
        kind = MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
        layers = DynamicCache(config=config).layers
        inputs = inspect.signature(kind.forward).parameters.keys()
        rotation = (getattr(config, "rope_parameters", None) or {}).get("rope_type")
    except Exception:  # whatever is wrong with it, loading it will say so
        return False
    plain = bool(layers) and all(type(layer) is DynamicLayer for layer in layers)
    return plain and inputs >= _INPUTS and rotation not in _BY_LENGTH


class PendingRequest(Protocol):
    """A request that somebody waits for."""

    @property
    def request(self) -> Request: ...

    @property
    def abandoned(self) -> bool:
        """True if nobody waits any more."""

    def settle(self, outcome: Completion | Exception) -> None:
        """Hand the outcome to whoever waits."""


@dataclass(slots=True)
class _Place:
    """A request with its row of the cache."""

    work: PendingRequest
    row: TokenizedRequest
    answer: DraftAnswer
    settled: bool = False

    @property
    def length(self) -> int:
        """Tokens in the cache: all but the newest."""
        return len(self.row.ids) + len(self.answer.tokens) - 1


class Stream:
    """Answers requests as they come, at most `slots` at a time; all in the model's own thread."""

    def __init__(self, network: Network, slots: int) -> None:
        self._network = network
        self._most = self._slots = slots
        self._padding = _PADDING // max(1, sum(weights.numel() for weights in network.model.parameters()))
        self._coming: deque[tuple[PendingRequest, Future[Any] | None]] = deque()
        """Taken from the queue, while threads make what constrains their answers."""
        self._ready: list[tuple[PendingRequest, TokenizedRequest]] = []
        """In tokens, and not in the cache yet."""
        self._places: list[_Place] = []
        self._patience = _PATIENCE
        self._witness: list[int] = []
        """A prompt of the last ones, to find what all have in common."""
        self._clear()

    def run(self, waiting: deque[Any]) -> None:
        """Answer all that wait, and what joins them meanwhile."""
        import torch

        from mores.models.hf.attention import kernels

        try:
            with torch.inference_mode(), kernels():
                while self._coming or self._ready or self._places or waiting:
                    if not self._advance(waiting):
                        self._retreat()
        except Exception as exc:  # those who wait must hear of it
            works = [work for work, _ in (*self._coming, *self._ready)]
            works += [place.work for place in self._places if not place.settled]
            self._coming, self._ready, self._places = deque(), [], []
            self._clear()
            for work in works:
                work.settle(exc)

    def _advance(self, waiting: deque[Any]) -> bool:
        """Let in who may come and write one token of each answer; False if the GPU's memory is too small for it."""
        import torch

        try:
            self._refill(waiting)
            if not all(place.answer.finished for place in self._places):
                self._step()
                self._settle()
        except torch.cuda.OutOfMemoryError:
            return False  # the caller makes room: here the exception holds on to the memory
        return True

    def _retreat(self) -> None:
        """Begin again with half as many rows."""
        import torch

        unfinished = [(place.work, place.row) for place in self._places if not place.settled] + self._ready
        self._places = []
        self._clear()
        torch.cuda.empty_cache()
        if len(unfinished) == 1 or self._slots == 1:
            work, row = unfinished.pop(0)
            work.settle(self._network.too_long(row))
            self._slots = self._most
        else:
            self._slots = max(1, min(self._slots, len(unfinished)) // 2)
        self._ready = unfinished

    def _clear(self) -> None:
        self._cache: Any = None
        self._chooser: Chooser | None = None
        self._prefix: list[int] = []
        self._prefix_cache: Any = None

    # -- who is in the cache -----------------------------------------------------------------------------------

    def _refill(self, waiting: deque[Any]) -> None:
        """Replace the rows of finished answers, once there are some."""
        self._prepare(waiting)
        living = sum(not place.answer.finished for place in self._places)
        some = max(1, self._slots // _SHARE)
        new: list[tuple[PendingRequest, TokenizedRequest]] = []
        if not living or self._slots - living >= some:
            queued = len(self._ready) + len(self._coming)
            if not living or queued >= some or not self._patience:
                new = self._take(self._slots - living)
                self._patience = _PATIENCE
            elif queued:
                self._patience -= 1
        idle = len(self._places) - living - len(new)
        if self._places and (idle * _SHARE >= len(self._places) or self._slack() >= _SLACK):
            self._drop_finished()
        if new:
            self._share([row.ids for _, row in new])
        for chunk in _chunks(new, len(self._prefix), self._padding):
            self._admit(chunk)
            del self._ready[: len(chunk)]

    def _prepare(self, waiting: deque[Any]) -> None:
        """Begin with what the next requests need, while other answers are written."""
        while waiting and len(self._coming) < self._slots:
            work = waiting.popleft()
            try:
                self._coming.append((work, self._network.begin(work.request)))
            except Exception as exc:  # whatever it was, who waits must hear of it
                work.settle(exc)

    def _take(self, count: int) -> list[tuple[PendingRequest, TokenizedRequest]]:
        """Return the next requests in tokens, by length; they stay in `_ready` until they are in the cache."""
        while self._coming and len(self._ready) < count:
            work, begun = self._coming[0]
            row = None if work.abandoned else self._network.row(work.request, begun)
            self._coming.popleft()
            if isinstance(row, TokenizedRequest):
                self._ready.append((work, row))
            elif row is not None:
                work.settle(row)
        self._ready[:count] = sorted(self._ready[:count], key=lambda ready: len(ready[1].ids))
        return self._ready[:count]

    def _slack(self) -> int:
        """Return the number of columns before the longest answer that is being written."""
        lengths = [place.length for place in self._places if not place.answer.finished]
        return int(self._cache.get_seq_length()) - max(lengths, default=0)

    def _drop_finished(self) -> None:
        kept = [index for index, place in enumerate(self._places) if not place.answer.finished]
        self._places = [self._places[index] for index in kept]
        if not kept:
            self._cache = None
            return
        longest = max(place.length for place in self._places)
        for layer in self._cache.layers:
            layer.hold(layer.keys[kept, :, -longest:], layer.values[kept, :, -longest:])
        self._chooser = Chooser([place.answer for place in self._places], self._network)

    def _admit(self, new: Sequence[tuple[PendingRequest, TokenizedRequest]]) -> None:
        """Read the prompts, choose the first tokens, and join the others."""
        places = [_Place(work, row, DraftAnswer(row)) for work, row in new]
        cache = self._read_prompts(places)
        if self._cache is None:
            self._cache, self._places = cache, places
        else:
            self._join(places, cache)
        self._chooser = Chooser([place.answer for place in self._places], self._network)
        self._settle()

    def _join(self, places: Sequence[_Place], cache: Any) -> None:
        """Take the rows of finished answers, and new ones when there are no more of them."""
        import torch

        free = [index for index, place in enumerate(self._places) if place.answer.finished][: len(places)]
        count = len(free)
        rows = torch.tensor(free, dtype=torch.long, device=self._network.model.device)
        for layer, more in zip(self._cache.layers, cache.layers, strict=True):
            if free:
                layer.put(rows, more.keys[:count], more.values[:count])
            if count < len(places):
                layer.hold(_stack(layer.keys, more.keys[count:]), _stack(layer.values, more.values[count:]))
        for index, place in zip(free, places, strict=False):
            self._places[index] = place
        self._places += places[count:]

    def _settle(self) -> None:
        """Hand over what is finished, and finish what nobody waits for."""
        for place in self._places:
            if place.work.abandoned:
                place.answer.finished = True
            if place.answer.finished and not place.settled:
                place.settled = True
                place.work.settle(self._network.read(place.answer))

    # -- the network -------------------------------------------------------------------------------------------

    def _step(self) -> None:
        """Write one more token of each answer."""
        import torch

        from mores.models.hf.attention import grouped, step_mask

        assert self._chooser is not None
        self._chooser.foresee()
        model = self._network.model
        newest = [(place.answer.tokens[-1], place.length) for place in self._places]
        tokens, lengths = torch.tensor(newest, device=model.device).split(1, dim=1)
        width = self._cache.get_seq_length()
        with grouped(model) as additive:
            if additive:
                mask = step_mask(lengths, width, model.dtype)
            else:
                mask = (torch.arange(width + 1, device=model.device) >= width - lengths).long()
            output = model(
                input_ids=tokens, attention_mask=mask, position_ids=lengths, past_key_values=self._cache, use_cache=True
            )
        self._chooser.choose(output.logits[:, -1].float())

    def _read_prompts(self, places: Sequence[_Place]) -> Any:
        """Return a cache with the prompts, each at its end; the first tokens are chosen on the way."""
        import torch
        from transformers import DynamicCache

        from mores.models.hf.attention import Columns

        model = self._network.model
        start = len(self._prefix)
        tails = [place.row.ids[start:] for place in places]
        width = max(map(len, tails))
        cache = DynamicCache()
        if start:
            for index, layer in enumerate(self._prefix_cache.layers):
                keys, values = (states.expand(len(places), -1, -1, -1) for states in (layer.keys, layer.values))
                cache.update(keys, values, index)
        chooser = Chooser([place.answer for place in places], self._network)
        chooser.foresee()
        # What is padded at the end changes nothing before it.
        padded = [tail + [self._network.pad] * (width - len(tail)) for tail in tails]
        ends = sorted({len(tail) - 1 for tail in tails})
        output = model(
            input_ids=torch.tensor(padded, device=model.device),
            position_ids=torch.arange(start, start + width, device=model.device).repeat(len(places), 1),
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=torch.tensor(ends, device=model.device),
        )
        last = [ends.index(len(tail) - 1) for tail in tails]
        chooser.choose(output.logits[range(len(places)), last].float())
        padding = torch.tensor([[width - len(tail)] for tail in tails])
        columns = (torch.arange(start + width) - padding) % (start + width)  # padding goes to the beginning
        for index, layer in enumerate(cache.layers):
            order = columns.to(layer.keys.device)[:, None, :, None]
            keys, values = (s.gather(2, order.expand_as(s)) for s in (layer.keys, layer.values))
            cache.layers[index] = Columns(keys, values)
        return cache

    def _share(self, prompts: Sequence[list[int]]) -> None:
        """Have the common beginning of the prompts in `_prefix`, with its keys and values."""
        import torch
        from transformers import DynamicCache

        known = len(self._prefix)
        witness, self._witness = self._witness, prompts[0]
        if known and all(len(ids) > known and ids[:known] == self._prefix for ids in prompts):
            return
        common = _common([*prompts, witness] if witness else prompts)
        common = common[: min(map(len, prompts)) - 1]  # the first token is chosen after the rest of a prompt
        self._prefix, self._prefix_cache = [], None
        if len(common) >= _SHORTEST_PREFIX:
            cache = DynamicCache()
            ids = torch.tensor([common], device=self._network.model.device)
            self._network.model(input_ids=ids, past_key_values=cache, use_cache=True, logits_to_keep=1)
            self._prefix, self._prefix_cache = common, cache


def _common(prompts: Sequence[list[int]]) -> list[int]:
    """Return what they begin with; nothing of a prompt that is alone."""
    first, last = min(prompts), max(prompts)
    pairs = enumerate(zip(first, last, strict=False))
    length = next((index for index, (one, other) in pairs if one != other), len(first))
    return first[:length] if len(prompts) > 1 else []


def _chunks(
    new: Sequence[tuple[PendingRequest, TokenizedRequest]], shared: int, padding: int
) -> Iterator[Sequence[tuple[PendingRequest, TokenizedRequest]]]:
    """Yield groups of prompts that are read at once, the shortest first."""
    begin = tokens = 0
    for index, (_, row) in enumerate(new):
        width = len(row.ids) - shared
        padded, tokens = width * (index + 1 - begin), tokens + width
        if index > begin and (padded > _PREFILL or padded - tokens > padding):
            yield new[begin:index]
            begin, tokens = index, width
    if begin < len(new):
        yield new[begin:]


def _stack(above: Any, below: Any) -> Any:
    """Return rows under rows, all ending in the same column."""
    import torch

    from mores.models.hf.attention import to_width

    width = max(above.shape[2], below.shape[2])
    return torch.cat([to_width(states, width) for states in (above, below)])
