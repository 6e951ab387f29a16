"""Tiny random models in GGUF files, as llama.cpp's converter writes them, their tuned kin, and what they say."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mores.engine.loop import run as run_loop
from mores.models.base import Completion, Message, Model, Request
from mores.models.embedded import EmbeddedModel
from tests.packages import package

_REASON = "needs the extras hf and train: pip install '.[hf,train]'"
gguf: Any = pytest.importorskip("gguf", reason=_REASON)
torch: Any = package("torch", reason=_REASON)
transformers: Any = package("transformers", reason=_REASON)
peft: Any = package("peft", reason=_REASON)

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
MERGES = ["Ġ t", "h e", "Ġt he", "Ġ Ġ", "i n", "Ċ Ċ", "1 2", "Ġ 1"]
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
PIECES = [
    *((word, 3, 0.0) for word in SPECIAL),
    ("<b>", 4, 0.0),
    ("\n\n", 4, 0.0),
    *((f"<0x{byte:02X}>", 6, 0.0) for byte in range(256)),
    *((piece, 1, -float(place)) for place, piece in enumerate(["▁t", "he", "▁the", "in", "▁▁", "the", "é", "▁in"])),
    *((letter, 1, -100.0 - place) for place, letter in enumerate("▁etaoinshr日12")),
]
"""A tokenizer of pieces with scores: the token, its type (control, the user's own, byte, normal) and its score."""
WIDTH, FORWARD, LAYERS, HEADS, KEYS, HEAD = 64, 96, 2, 4, 2, 16
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
QUESTIONS = ["the tea", "Who drinks it in the morning?", "12 cups", "A long question: " + "why then " * 20]


def tokens() -> list[str]:
    letters = sorted(gguf.vocab.bytes_to_unicode().values())
    return [*SPECIAL, *letters, *(merge.replace(" ", "") for merge in MERGES)]


def weights(kind: str) -> dict[str, Any]:
    """Random weights, wide enough apart that greedy decoding has no near ties; only plain letters are ever written."""
    dice = np.random.default_rng(5)

    def draw(*shape: int) -> Any:
        return dice.normal(0, 0.15, shape).astype(np.float32)

    words = tokens()
    known = np.array([len(word) == 1 and word.isascii() for word in words])
    tensors = {"token_embd.weight": draw(len(words), WIDTH), "output_norm.weight": 1 + draw(WIDTH)}
    if kind == "qwen2":  # the output is the embeddings; small ones, so that a token is not just said again
        tensors["token_embd.weight"] *= np.where(known, 0.3, 0.01).astype(np.float32)[:, None]
    else:
        tensors["token_embd.weight"] *= 6 if kind == "llama" else 1
        tensors["output.weight"] = draw(len(words), WIDTH) * 2 * known[:, None]
    query, key = (HEADS * HEAD, WIDTH), (KEYS * HEAD, WIDTH)
    for layer in range(LAYERS):
        sizes = {"attn_q": query, "attn_k": key, "attn_v": key, "attn_output": query[::-1]}
        sizes |= {"ffn_gate": (FORWARD, WIDTH), "ffn_up": (FORWARD, WIDTH), "ffn_down": (WIDTH, FORWARD)}
        tensors |= {f"blk.{layer}.{name}.weight": draw(*size) for name, size in sizes.items()}
        norms = {"attn_norm": WIDTH, "ffn_norm": WIDTH}
        if kind == "gemma3":
            norms |= {"post_attention_norm": WIDTH, "post_ffw_norm": WIDTH, "attn_q_norm": HEAD, "attn_k_norm": HEAD}
        tensors |= {
            f"blk.{layer}.{name}.weight": (2 if size == HEAD else 1) + draw(size) for name, size in norms.items()
        }
        if kind == "qwen2":
            tensors |= {f"blk.{layer}.{name}.bias": draw(sizes[name][0]) for name in ("attn_q", "attn_k", "attn_v")}
    return tensors


def write(path: Path, kind: str = "llama", only: Mapping[str, Any] | None = None, **instead: Any) -> Path:
    """A GGUF file of the tiny model; some of its metadata may be other."""
    file = gguf.GGUFWriter(str(path), kind)
    file.add_type(instead.get("type", "model"))
    numbers = {"context_length": 512, "embedding_length": WIDTH, "block_count": LAYERS, "feed_forward_length": FORWARD}
    numbers |= {"attention.head_count": HEADS, "attention.head_count_kv": KEYS, "rope.dimension_count": HEAD}
    numbers |= {"attention.key_length": HEAD, "attention.value_length": HEAD, "attention.sliding_window": 8}
    for key, value in numbers.items():
        file.add_uint32(f"{kind}.{key}", value)
    file.add_float32(f"{kind}.attention.layer_norm_rms_epsilon", 1e-5)
    file.add_float32(f"{kind}.rope.freq_base", 20_000.0)
    file.add_tokenizer_model(instead.get("model", "gpt2"))
    file.add_tokenizer_pre(instead.get("pre", "qwen2" if kind == "qwen2" else "smollm"))
    if instead.get("model") == "llama":
        file.add_token_list([word for word, _, _ in PIECES])
        file.add_token_types([kind for _, kind, _ in PIECES])
        file.add_token_scores([score for _, _, score in PIECES])
        file.add_add_space_prefix(instead.get("prefix", False))
    else:
        file.add_token_list(tokens())
        file.add_token_types([3 if word in SPECIAL else 1 for word in tokens()])
        file.add_token_merges(MERGES)
    file.add_bos_token_id(1)
    file.add_eos_token_id(2)
    file.add_pad_token_id(2)
    file.add_add_bos_token(False)
    file.add_chat_template(TEMPLATE)
    for name, value in (weights(kind) if only is None else only).items():
        file.add_tensor(name, value)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()
    return path


def make_adapter(base: Path, folder: Path, **more: Any) -> Path:
    torch.manual_seed(11)
    options = {"r": 4, "lora_alpha": 3, "target_modules": TARGETS, "init_lora_weights": False} | more
    model = transformers.AutoModelForCausalLM.from_pretrained(base)
    peft.get_peft_model(model, peft.LoraConfig(task_type="CAUSAL_LM", **options)).save_pretrained(folder)
    return folder


def tune(base: Path, folder: Path, rank: int, **more: float) -> Path:
    """A model whose maps were changed by matrices of that rank, and other weights as asked."""
    model = transformers.AutoModelForCausalLM.from_pretrained(base)
    torch.manual_seed(2)
    with torch.no_grad():
        for name, value in model.named_parameters():
            if name.endswith(tuple(f"{target}.weight" for target in TARGETS)):
                value += torch.randn(len(value), rank) @ torch.randn(rank, value.shape[1]) * 0.02
            for part, size in more.items():
                if part in name:
                    value += torch.randn_like(value) * size
    shutil.copytree(base, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    model.save_pretrained(folder)
    return folder


def ask(model: Model, questions: list[str] = QUESTIONS, length: int = 12) -> list[Completion]:
    async def gather() -> list[Completion]:
        async with model:
            requests = (Request((Message("user", question),), max_tokens=length) for question in questions)
            return [await model.complete(request) for request in requests]

    return run_loop(gather())


def embedded(path: Path, adapter: Path | None = None) -> EmbeddedModel:
    return EmbeddedModel(str(path), adapter=str(adapter) if adapter else None, context=512, threads=1)


def assert_same(first: list[Completion], second: list[Completion], near: float = 0.02) -> None:
    """The same texts, with near log-probabilities."""
    assert [left.text for left in first] == [left.text for left in second]
    for left, right in zip(first, second, strict=True):
        assert left.prompt_tokens == right.prompt_tokens
        assert left.logprobs is not None
        assert left.logprobs == pytest.approx(right.logprobs, abs=near)
