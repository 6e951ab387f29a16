"""The model to tune: loading, adapters, and attention within packed examples."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import Any

from mores.errors import ConfigError
from mores.training.recipe import TuningRecipe

ATTENTION = "mores_packed"
TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
"""The linear maps of a layer, which get adapters."""


PLAIN = (
    "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n\n{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)
"""The chat template for a model that has none, as for `hf:` models. It is saved with the tuned model."""


def load_tokenizer(base: str) -> Any:
    """Return the tokenizer of the model to tune, with a chat template."""
    from transformers import AutoTokenizer

    with _loading(base):
        tokenizer = AutoTokenizer.from_pretrained(base, trust_remote_code=False)
    if not tokenizer.chat_template:
        starts_with_bos = tokenizer("x")["input_ids"][0] == tokenizer.bos_token_id
        tokenizer.chat_template = (tokenizer.bos_token if starts_with_bos else "") + PLAIN
    return tokenizer


def load(base: str, recipe: TuningRecipe, *, gradients: bool = True) -> Any:
    """Return the model to tune; trained weights are kept in fp32, the others in the recipe's precision."""
    import torch
    from transformers import AutoModelForCausalLM

    register_attention()
    low = torch.bfloat16 if recipe.precision == "bf16" and torch.cuda.is_available() else torch.float32
    frozen = recipe.method == "lora" or not gradients
    with _loading(base):
        model = AutoModelForCausalLM.from_pretrained(
            base, dtype=low if frozen else torch.float32, attn_implementation=ATTENTION, trust_remote_code=False
        )
    model.config.use_cache = False
    if recipe.method == "lora" and gradients:
        from peft import LoraConfig, get_peft_model

        torch.manual_seed(recipe.seed)
        names = {name.rpartition(".")[2] for name, _ in model.named_modules()}
        targets = [name for name in TARGETS if name in names]
        size = {"r": recipe.rank, "lora_alpha": recipe.alpha, "lora_dropout": recipe.dropout}
        model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", target_modules=targets, **size))
    return model


@contextmanager
def _loading(base: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"{base}: transformers cannot load it: {reason}", setting="base") from error


def core(model: Any) -> Any:
    """Return the layers of a model, without the output embeddings, whatever wraps it."""
    return _unwrap(model).model


def words(model: Any) -> Any:
    """Return the output embeddings, the map from the last layer to words."""
    return _unwrap(model).get_output_embeddings()


def last_hidden(model: Any, row: dict[str, Any]) -> Any:
    """Return the output of the last layer for each token of a packed row."""
    places = {"starts": row["starts"], "longest": row["longest"], "position_ids": row["positions"][None]}
    return core(model)(input_ids=row["tokens"][None], use_cache=False, **places).last_hidden_state[0]


def _unwrap(model: Any) -> Any:
    return model.get_base_model() if hasattr(model, "get_base_model") else model


_OPTIONS: set[str] = set()
"""The parameters of this torch's attention."""


def register_attention() -> None:
    """Register attention within packed examples with transformers."""
    from torch.nn.attention import varlen
    from transformers import AttentionInterface, AttentionMaskInterface

    _OPTIONS.update(signature(varlen.varlen_attn).parameters)

    AttentionInterface.register(ATTENTION, _attend)
    AttentionMaskInterface.register(ATTENTION, lambda *_, **__: None)


def _attend(
    _: Any, query: Any, key: Any, value: Any, __: Any, *, scaling: float | None = None, **more: Any
) -> tuple[Any, None]:
    """Return causal attention of 1 × heads × tokens × width, within the examples that begin at `starts`."""
    starts, longest = more["starts"], more["longest"]
    if query.is_cuda:
        rows = [each[0].transpose(0, 1) for each in (query, key, value)]
        return _varlen(rows, starts, longest, scaling, more.get("sliding_window"))[None], None
    from torch.nn.functional import scaled_dot_product_attention

    mask, shared = _mask(starts, query.shape[2], more.get("sliding_window")), query.shape[1] != key.shape[1]
    attended = scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scaling, enable_gqa=shared)
    return attended.transpose(1, 2).contiguous(), None


def _varlen(rows: list[Any], starts: Any, longest: int, scaling: float | None, window: int | None) -> Any:
    """Return flash attention over examples of any length; its options differ between releases of torch."""
    import torch
    from torch.nn.attention.varlen import varlen_attn

    # Rotary positions give fp32 where the weights are, which flash attention does not support.
    query, key, value = (each if each.dtype != torch.float32 else each.bfloat16() for each in rows)
    times = query.shape[1] // key.shape[1]
    if window is None or window >= longest:
        window = 0  # which means none here
    elif "window_size" not in _OPTIONS:
        raise ConfigError(f"a model with windows of {window} tokens needs a newer torch; or set longest={window}")
    more: dict[str, Any] = {"window_size": (window - 1, 0)} if "window_size" in _OPTIONS else {"is_causal": True}
    if "enable_gqa" in _OPTIONS:
        more["enable_gqa"] = times > 1
    elif times > 1:
        key, value = (each.repeat_interleave(times, dim=1) for each in (key, value))
    return varlen_attn(query, key, value, starts, starts, longest, longest, scale=scaling, **more)


def _mask(starts: Any, length: int, window: int | None) -> Any:
    """Return which tokens each token sees: earlier ones of the same example, within its window if there is one."""
    import torch

    places = torch.arange(length, device=starts.device)
    owner = torch.searchsorted(starts[1:].contiguous(), places.to(starts.dtype), right=True)
    back = places[:, None] - places[None, :]
    return (owner[:, None] == owner[None, :]) & (back >= 0) & (back < (window or length))


def save(model: Any, tokenizer: Any, folder: Path) -> None:
    """Save the adapters, or all weights, with the tokenizer."""
    model.save_pretrained(str(folder))
    tokenizer.save_pretrained(str(folder))
