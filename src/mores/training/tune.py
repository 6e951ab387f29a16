"""The training loop: packed rows in, a tuned model out. It can be stopped and resumed, and is reproducible by the seed.

Several GPUs: `accelerate launch --no_python mores train ...`. The examples of each step are split among the processes
and the loss is the mean over all of them, so that a recipe gives the same model on any number, except for rounding.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from mores.errors import ConfigError
from mores.io.private import make_part
from mores.training.examples import PackedRow, Shape, TokenizedExample, pack, shape_of, steps
from mores.training.network import core, last_hidden, words
from mores.training.recipe import TuningRecipe

CHECKPOINT = "checkpoint.pt"
LOG = "log.jsonl"
DEEPSPEED = "DEEPSPEED"
SHARDED = ("FSDP", "MEGATRON_LM", "XLA", "TP")
"""Modes of accelerate that split the weights among processes, or step differently."""


@dataclass(frozen=True)
class TrainingStep:
    """One step, as in the log."""

    step: int
    of: int
    loss: float
    """Mean over the weighted tokens of the reports."""
    learning_rate: float
    norm: float
    tokens: int
    """Tokens trained on so far, without padding."""
    seconds: float
    """Seconds since the start, or since the run was resumed."""


class Tuned(torch.nn.Module):  # type: ignore[misc]
    """A model that returns the loss of a packed row, in bf16 if `low`."""

    def __init__(self, model: Any, low: bool = False) -> None:
        super().__init__()
        self.model, self.low = model, low

    def forward(self, row: dict[str, Any]) -> Any:
        """Return the sum of the weighted losses; logits are computed only where there is a loss."""
        # Not around the call: DeepSpeed disables an outer autocast.
        with torch.autocast("cuda", torch.bfloat16, enabled=self.low):
            hidden = last_hidden(self.model, row)[row["places"]]
            logits = functional.linear(hidden, words(self.model).weight.to(hidden.dtype)).float()
            return (functional.cross_entropy(logits, row["targets"], reduction="none") * row["weights"]).sum()


def join() -> Any:
    """Return the connection to the other processes, if `accelerate launch` has started several.

    The recipe sets steps and precision; the launcher's configuration of both is ignored.
    """
    from accelerate import Accelerator
    from accelerate.utils import GradientAccumulationPlugin

    accelerator = Accelerator(
        mixed_precision="no", gradient_accumulation_plugin=GradientAccumulationPlugin(num_steps=1)
    )
    kind = accelerator.distributed_type.value
    if kind in SHARDED:
        fix = "use plain multi-GPU or DeepSpeed"
        raise ConfigError(f"accelerate is configured for {kind}, which `mores train` does not support; {fix}")
    if kind == DEEPSPEED:
        plugin = accelerator.state.deepspeed_plugin
        if plugin.zero_stage not in (1, 2):
            stage = f"DeepSpeed is configured with zero_stage {plugin.zero_stage}"
            raise ConfigError(f"{stage}; `mores train` supports 1 and 2, with whole weights in each process")
        for name in ("optimizer", "scheduler"):
            if name in plugin.deepspeed_config:
                raise ConfigError(f"the DeepSpeed configuration has {name!r}; remove it, the recipe sets it")
    return accelerator


def learning_rate(step: int, total: int, recipe: TuningRecipe) -> float:
    """Return the rate of a step, counted from 0: it rises during the warm-up, then falls along a cosine to 0."""
    warm = min(recipe.warmup_steps, total // 2)
    if step < warm:
        return recipe.learning_rate * (step + 1) / warm
    progress = (step - warm) / max(1, total - warm)
    return recipe.learning_rate * 0.5 * (1 + math.cos(math.pi * progress))


def batches(count: int, recipe: TuningRecipe) -> Iterator[Any]:
    """Yield the places of the examples of each step, epoch after epoch."""
    epoch = 0
    while True:
        yield from steps(count, recipe.batch, recipe.seed + epoch)
        epoch += 1


@dataclass
class Training:
    """The training of a model: `tune` trains, and resumes from a checkpoint if there is one."""

    model: Any
    examples: Sequence[TokenizedExample]
    recipe: TuningRecipe
    folder: Path
    identity: str
    """Must equal that of a checkpoint to resume from it."""
    save_every: int = 500
    """Steps."""
    on_step: Callable[[TrainingStep], None] = lambda _: None

    def tune(self) -> None:
        """Train to the end."""
        self._accelerator = join()
        self._device = self._accelerator.device
        self._deepspeed = self._accelerator.distributed_type.value == DEEPSPEED
        # Each process draws its own dropout.
        torch.manual_seed(self.recipe.seed + self._accelerator.process_index)
        if self._device.type == "cuda":
            torch.backends.cuda.matmul.allow_tf32 = True
            for layer in core(self.model).layers if self.recipe.compile else ():
                layer.compile()  # each separately: they are alike, so one compilation serves all
        if self._deepspeed:  # configured by the recipe; the sizes of batches are only for its log
            sizes = {"train_micro_batch_size_per_gpu": 1, "train_batch_size": self._accelerator.num_processes}
            off = {"enabled": False}
            self._accelerator.state.deepspeed_plugin.deepspeed_config.update(
                gradient_clipping=self.recipe.clip, gradient_accumulation_steps=1, fp16=off, bf16=dict(off), **sizes
            )
        low = self.recipe.precision == "bf16" and self._device.type == "cuda"
        tuned = Tuned(self.model, low).train()
        trained = [weight for weight in tuned.parameters() if weight.requires_grad]
        matrices, others = ([each for each in trained if (each.ndim > 1) == wide] for wide in (True, False))
        decays = ((matrices, self.recipe.weight_decay), (others, 0.0))
        groups = [{"params": weights, "weight_decay": decay} for weights, decay in decays if weights]
        betas, fused = (self.recipe.beta1, self.recipe.beta2), self._device.type == "cuda"
        optimizer = torch.optim.AdamW(groups, lr=self.recipe.learning_rate, betas=betas, fused=fused)
        self._tuned, self._optimizer_ = self._accelerator.prepare(tuned, optimizer)
        self._run()

    def _run(self) -> None:
        if not self.examples:
            raise ConfigError("no examples to train on; check the split, and whether `longest` is large enough")
        total = max(1, round(self.recipe.epochs * math.ceil(len(self.examples) / self.recipe.batch)))
        lengths = [len(example.tokens) for example in self.examples]
        share = math.ceil(self.recipe.batch / self._accelerator.num_processes)
        self._shape = shape_of(lengths, share, self.recipe.row_tokens)
        start, tokens = self._resume()
        begun = time.perf_counter()
        # A thread prepares the next step, on the GPU of this process.
        on_gpu = self._device.type == "cuda"
        device = {"initializer": torch.cuda.set_device, "initargs": (torch.cuda.current_device(),)} if on_gpu else {}
        log_file = (self.folder / LOG).open("a") if self._accelerator.is_main_process else nullcontext()
        with ThreadPoolExecutor(1, **device) as ahead, log_file as log:
            plan = islice(batches(len(self.examples), self.recipe), start, total)
            coming = ahead.submit(self._prepared, next(plan)) if start < total else None
            for step in range(start, total):
                assert coming is not None
                rows, whole, tokens_of_step = coming.result()
                coming = ahead.submit(self._prepared, next(plan)) if step + 1 < total else None
                rate = learning_rate(step, total, self.recipe)
                loss, norm = self._step(rows, whole, rate)
                tokens += tokens_of_step
                seconds = time.perf_counter() - begun
                self._report(log, TrainingStep(step + 1, total, loss / whole, rate, norm, tokens, seconds))
                if (step + 1) % self.save_every == 0 or step + 1 == total:
                    self._save(step + 1, tokens)

    def _prepared(self, places: Any) -> tuple[list[dict[str, Any]], float, int]:
        """Return this process's rows of a step on the device, the weight of the whole step, and its tokens."""
        index, processes = self._accelerator.process_index, self._accelerator.num_processes
        shares = []
        for number in range(processes):
            examples = (self.examples[i] for i in places[number::processes])
            shares.append(list(pack(examples, self._shape, self.recipe.decision_weight)))
        whole = float(sum(row.weights.sum() + row.doubts.sum() for rows in shares for row in rows))
        count = sum(len(self.examples[i].tokens) for i in places)
        # All have equally many rows, because they exchange gradients; some have nothing to learn from.
        missing = max(len(rows) for rows in shares) - len(shares[index])
        weights = shares[0][0].weights * 0
        weights[0] = 1e-30  # so that there is a loss to differentiate
        rows = shares[index] + [replace(shares[0][0], weights=weights, doubts=weights * 0)] * missing
        return [on_device(row, self._shape, self._device) for row in rows], whole, count

    def _step(self, rows: list[dict[str, Any]], whole: float, rate: float) -> tuple[float, float]:
        for group in self._optimizer_.param_groups:
            group["lr"] = rate
        total = torch.zeros((), device=self._device)
        for number, row in enumerate(rows):
            is_last = number + 1 == len(rows)
            if self._deepspeed:  # exchanges gradients after each row, but must know which is the last
                self._tuned.set_gradient_accumulation_boundary(is_last)
            with nullcontext() if is_last or self._deepspeed else self._accelerator.no_sync(self._tuned):
                loss = self._tuned(row)
                # Gradients are averaged over the processes; the loss is a mean over the whole step. accelerate's
                # backward would take a step of DeepSpeed's optimizer after every row.
                scaled = loss * (self._accelerator.num_processes / whole)
                (self._tuned if self._deepspeed else self._accelerator).backward(scaled)
            total += loss.detach()
        if self._deepspeed:
            self._tuned.step()  # clips before and clears after
            norm = self._tuned.get_global_grad_norm()
        else:
            norm = self._accelerator.clip_grad_norm_(self._tuned.parameters(), self.recipe.clip)
            self._optimizer_.step()
            self._optimizer_.zero_grad(set_to_none=True)
        return float(self._accelerator.reduce(total)), float(norm)

    # ---- stopping and resuming ---------------------------------------------------------------------------------

    def _report(self, log: Any, progress: TrainingStep) -> None:
        if not math.isfinite(progress.loss):
            raise ConfigError(f"the loss is {progress.loss} at step {progress.step}; lower the learning rate")
        if self._accelerator.is_main_process:
            log.write(json.dumps(asdict(progress)) + "\n")
            log.flush()
            self.on_step(progress)

    def _save(self, step: int, tokens: int) -> None:
        # Under DeepSpeed each process has a part of the optimizer's state, which is not collected.
        if self._deepspeed or not self._accelerator.is_main_process:
            return
        state = {"identity": self.identity, "step": step, "tokens": tokens, "weights": self._trained()}
        state["optimizer"] = self._optimizer_.state_dict()
        part = make_part(self.folder / f"{CHECKPOINT}.part")
        torch.save(state, part)
        part.replace(self.folder / CHECKPOINT)

    def _resume(self) -> tuple[int, int]:
        """Return the step and the tokens to resume from, the same in all processes."""
        from accelerate.utils import gather_object

        path, state = self.folder / CHECKPOINT, (0, 0)
        if path.exists():
            if self._deepspeed:
                fix = "remove it, or run without DeepSpeed"
                raise ConfigError(f"{path}: a run under DeepSpeed cannot resume from a checkpoint; {fix}")
            saved = torch.load(path, map_location="cpu", weights_only=True)  # copied to its device below
            if saved["identity"] != self.identity:
                reason = "a checkpoint of another recipe, base or data; remove it, or choose another folder"
                raise ConfigError(f"{path}: {reason}", setting="out")
            with torch.no_grad():
                for name, weight in self._trained().items():
                    weight.copy_(saved["weights"][name])
            self._optimizer_.load_state_dict(saved["optimizer"])
            state = int(saved["step"]), int(saved["tokens"])
        if len({tuple(restored) for restored in gather_object([state])}) > 1:
            raise ConfigError(f"{path}: the processes see different files; use a folder that they share", setting="out")
        if state == (0, 0) and self._accelerator.is_main_process:
            (self.folder / LOG).unlink(missing_ok=True)
        return state

    def _trained(self) -> dict[str, Any]:
        bare = self._accelerator.unwrap_model(self._tuned)
        return {name: weight for name, weight in bare.named_parameters() if weight.requires_grad}


def on_device(row: PackedRow, shape: Shape, device: Any) -> dict[str, Any]:
    """Return a row as tensors; places, targets and weights only where there is a loss."""
    places, doubted = row.weights.nonzero()[0], row.doubts.nonzero()[0]
    targets = np.concatenate((row.targets[places], row.others[doubted])).astype("int64")
    weights = np.concatenate((row.weights[places], row.doubts[doubted]))
    arrays = {"places": np.concatenate((places, doubted)), "targets": targets, "weights": weights, "starts": row.starts}
    arrays |= {"tokens": row.tokens.astype("int64"), "positions": row.positions.astype("int64")}
    tensors: dict[str, Any] = {name: torch.from_numpy(array) for name, array in arrays.items()}
    if device.type == "cuda":
        tensors = {name: each.pin_memory().to(device, non_blocking=True) for name, each in tensors.items()}
    return tensors | {"longest": shape.longest}
