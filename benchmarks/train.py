"""How fast `mores train` trains, against a plain loop on the same samples, settings and GPU, in one run.

    python benchmarks/train.py --data DIR --base MODEL [--method lora|full] [--batch 256]

The plain loop is what one writes first: padded batches, eager layers, words predicted at every place, the default
optimizer. Both loops take the same examples for each step; padding counts for neither.
"""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mores.factory.gold import Gold
from mores.io import read_records
from mores.training.examples import Examples, TokenizedExample, steps
from mores.training.network import TARGETS, load, load_tokenizer
from mores.training.recipe import TuningRecipe
from mores.training.tune import Training, TrainingStep

PEAK = 989e12
"""Dense bf16 operations a second of an H100 or H200, by its datasheet."""


def main() -> None:
    """Time both and print the ratio."""
    options = _options()
    recipe = TuningRecipe(
        method=options.method, batch=options.batch, row_tokens=options.row_tokens, style=options.style, summary=False
    )
    tokenizer = load_tokenizer(options.base)
    golds = itertools.islice(read_records(Path(options.data) / "train.jsonl", Gold), options.samples)
    examples = list(Examples(tokenizer, recipe).make(golds))
    lengths = [len(example.tokens) for example in examples]
    print(f"{len(examples):,} examples, {np.mean(lengths):.0f} tokens each, batches of {recipe.batch}, {recipe.method}")
    plain = _plain(options, recipe, examples)
    print(f"plain {plain:,.0f} tokens/s", flush=True)
    ours = _ours(options, recipe, examples)
    share = ours * _operations(options.base, recipe, examples) / PEAK
    print(f"plain {plain:,.0f} tokens/s; mores train {ours:,.0f} tokens/s: {ours / plain:.1f} times")
    print(f"{share:.1%} of the chip's bf16 peak ({PEAK / 1e12:.0f} TFLOP/s), counting what must be computed")
    print(json.dumps({"plain": plain, "mores": ours, "ratio": ours / plain, "share_of_peak": share}))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--base", required=True)
    parser.add_argument("--method", default="lora", choices=("lora", "full"))
    parser.add_argument("--style", default="guided", choices=("paper", "fenced", "guided"))
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--row-tokens", type=int, default=65_536)
    parser.add_argument("--padded", type=int, default=32, help="examples that the plain loop pads together")
    parser.add_argument("--steps", type=int, default=30, help="steps that are timed; the plain loop does a fifth")
    parser.add_argument("--samples", type=int, default=20_000)
    return parser.parse_args()


# -- the plain loop --------------------------------------------------------------------------------------------


def _plain(options: argparse.Namespace, recipe: TuningRecipe, examples: Sequence[TokenizedExample]) -> float:
    """Tokens a second of a loop that pads."""
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    dtype = torch.bfloat16 if recipe.method == "lora" else torch.float32
    model: Any = AutoModelForCausalLM.from_pretrained(options.base, dtype=dtype, attn_implementation="sdpa").cuda()
    if recipe.method == "lora":
        config = LoraConfig(r=recipe.rank, lora_alpha=recipe.alpha, target_modules=list(TARGETS), task_type="CAUSAL_LM")
        model = get_peft_model(model, config)
    model.train()
    optimizer = torch.optim.AdamW([w for w in model.parameters() if w.requires_grad], lr=recipe.learning_rate)
    tokens, begun = 0, 0.0
    for number, places in enumerate(itertools.islice(steps(len(examples), recipe.batch, 0), 2 + options.steps // 5)):
        if number == 2:
            torch.cuda.synchronize()
            tokens, begun = 0, time.perf_counter()
        for batch in _padded([examples[place] for place in places], options.padded):
            with torch.autocast("cuda", torch.bfloat16):
                loss = model(**batch, use_cache=False).loss
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
        optimizer.step()
        optimizer.zero_grad()
        tokens += sum(len(examples[place].tokens) for place in places)
    torch.cuda.synchronize()
    return tokens / (time.perf_counter() - begun)


def _padded(examples: Sequence[TokenizedExample], count: int) -> Iterator[dict[str, Any]]:
    for start in range(0, len(examples), count):
        batch = examples[start : start + count]
        longest = max(len(example.tokens) for example in batch)
        tokens, labels = np.zeros((len(batch), longest), np.int64), np.full((len(batch), longest), -100, np.int64)
        mask = np.zeros((len(batch), longest), np.int64)
        for row, example in enumerate(batch):
            end = len(example.tokens)
            tokens[row, :end], mask[row, :end] = example.tokens, 1
            labels[row, example.report : end] = example.tokens[example.report :]
        arrays = {"input_ids": tokens, "labels": labels, "attention_mask": mask}
        yield {name: torch.from_numpy(array).cuda() for name, array in arrays.items()}


# -- ours ------------------------------------------------------------------------------------------------------


def _ours(options: argparse.Namespace, recipe: TuningRecipe, examples: Sequence[TokenizedExample]) -> float:
    """Tokens a second of `mores train`, after the steps in which it compiles."""
    model = load(options.base, recipe)
    seen: list[TrainingStep] = []
    warm = 8
    few = examples[: recipe.batch * (warm + options.steps)]
    with tempfile.TemporaryDirectory() as folder:
        run = Training(model, few, recipe, Path(folder), "x", save_every=10**9, on_step=seen.append)
        run.tune()
    first, last = seen[min(warm, len(seen) // 2) - 1], seen[-2]
    print(f"{first.step} steps in which it compiles: {first.seconds:.1f} s; loss {seen[0].loss:.2f} to {last.loss:.2f}")
    return (last.tokens - first.tokens) / (last.seconds - first.seconds)


def _operations(base: str, recipe: TuningRecipe, examples: Sequence[TokenizedExample]) -> float:
    """Floating-point operations that a token needs, forward and back: 2 for each weight that it meets."""
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(base)
    width, inner, layers = config.hidden_size, config.intermediate_size, config.num_hidden_layers
    keys = width * config.num_key_value_heads // config.num_attention_heads
    shapes = [(width, width), (width, keys), (width, keys), (width, width), *[(width, inner)] * 3]
    weights = layers * sum(a * b for a, b in shapes)
    adapters = layers * sum(recipe.rank * (a + b) for a, b in shapes) if recipe.method == "lora" else 0
    lengths = np.array([len(example.tokens) for example in examples])
    reports = np.array([len(example.tokens) - example.report for example in examples])
    words = config.vocab_size * width * reports.sum() / lengths.sum()
    attention = layers * 2 * width * (lengths**2).sum() / lengths.sum() / 2
    learnt = 3 if recipe.method == "full" else 2
    return float(2 * (learnt * (weights + words) + 3 * adapters + 3 * attention))


if __name__ == "__main__":
    main()
