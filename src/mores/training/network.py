"""The model that is tuned: loaded, with its adapters, and with attention inside of packed examples."""

from __future__ import annotations

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
"""The chat template of a model that has none: what `hf:` shows such a model. It is saved with the tuned one."""


def _plain_template(tokenizer: Any) -> str:
    first = tokenizer("x")["input_ids"][0]
    return (tokenizer.bos_token if first == tokenizer.bos_token_id else "") + PLAIN


def load(base: str, recipe: TuningRecipe, *, gradients: bool = True) -> tuple[Any, Any]:
    """Return the model to tune and its tokenizer.

    Weights that are trained are kept in fp32, the others in the precision.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    register_attention()
    low = torch.bfloat16 if recipe.precision == "bf16" and torch.cuda.is_available() else torch.float32
    frozen = recipe.method == "lora" or not gradients
    try:
        tokenizer = AutoTokenizer.from_pretrained(base, trust_remote_code=False)
        model = AutoModelForCausalLM.from_pretrained(
            base, dtype=low if frozen else torch.float32, attn_implementation=ATTENTION, trust_remote_code=False
        )
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"{base}: transformers cannot load it: {reason}", setting="base") from error
    tokenizer.chat_template = tokenizer.chat_template or _plain_template(tokenizer)
    model.config.use_cache = False
    if recipe.method == "lora" and gradients:
        model = _with_adapters(model, recipe)
    return model, tokenizer


def _with_adapters(model: Any, recipe: TuningRecipe) -> Any:
    import torch
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(recipe.seed)
    names = {name.rpartition(".")[2] for name, _ in model.named_modules()}
    config = LoraConfig(
        r=recipe.rank, lora_alpha=recipe.alpha, lora_dropout=recipe.dropout, task_type="CAUSAL_LM",
        target_modules=[name for name in TARGETS if name in names],
    )  # fmt: skip
    return get_peft_model(model, config)


def core(model: Any) -> Any:
    """Return the layers of a model, without the map to words, whatever wraps it."""
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    return inner.model


def words(model: Any) -> Any:
    """Return the map from the last layer to words."""
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    return inner.get_output_embeddings()


_OPTIONS: set[str] = set()
"""What this torch's attention takes."""


def register_attention() -> None:
    """Make attention that stays inside of packed examples known to transformers."""
    from torch.nn.attention import varlen
    from transformers import AttentionInterface, AttentionMaskInterface

    _OPTIONS.update(signature(varlen.varlen_attn).parameters)

    AttentionInterface.register(ATTENTION, _attend)
    AttentionMaskInterface.register(ATTENTION, lambda *_, **__: None)


def _attend(
    _: Any, query: Any, key: Any, value: Any, __: Any, *, scaling: float | None = None, **more: Any
) -> tuple[Any, None]:
    """Causal attention of 1 × heads × tokens × width, inside of the examples that `starts` parts."""
    starts, longest = more["starts"], more["longest"]
    if query.is_cuda:
        rows = [each[0].transpose(0, 1) for each in (query, key, value)]
        return _varlen(rows, starts, longest, scaling, more.get("sliding_window"))[None], None
    from torch.nn.functional import scaled_dot_product_attention

    mask, shared = _mask(starts, query.shape[2], more.get("sliding_window")), query.shape[1] != key.shape[1]
    attended = scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scaling, enable_gqa=shared)
    return attended.transpose(1, 2).contiguous(), None


def _varlen(rows: list[Any], starts: Any, longest: int, scaling: float | None, window: int | None) -> Any:
    """Flash attention over examples of any length; the names of its options changed between releases of torch."""
    import torch
    from torch.nn.attention.varlen import varlen_attn

    # Rotating positions leaves fp32 behind where the weights are, which flash attention does not know.
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
    """Which tokens each token sees: those before it in the same example, and in its window where there is one."""
    import torch

    places = torch.arange(length, device=starts.device)
    owner = torch.searchsorted(starts[1:].contiguous(), places.to(starts.dtype), right=True)
    back = places[:, None] - places[None, :]
    return (owner[:, None] == owner[None, :]) & (back >= 0) & (back < (window or length))


def save(model: Any, tokenizer: Any, folder: Path) -> None:
    """The adapters, or all weights, with the tokenizer."""
    model.save_pretrained(str(folder))
    tokenizer.save_pretrained(str(folder))
