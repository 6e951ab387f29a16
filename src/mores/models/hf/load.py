"""Puts model, adapter and tokenizer into memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mores.errors import ConfigError
from mores.models.base import Precision
from mores.models.hf.files import first_line
from mores.models.hf.network import Network


def load_network(where: str, commit: str | None, adapter: Path | None, precision: Precision) -> Network:
    """Load a local folder, or that commit of a model on the Hub."""
    origin = {} if commit is None else {"revision": commit}
    with _quiet_if(commit is None):
        model, tokenizer = _load(where, origin, adapter, precision)
        if adapter:
            model = _with_adapter(model, adapter)
    return make_network(f"hf:{where}", model.eval(), tokenizer)


def has_gpu() -> bool:
    import torch

    return bool(torch.cuda.is_available())


def _load(where: str, origin: Mapping[str, str], adapter: Path | None, precision: Precision) -> tuple[Any, Any]:
    """Return the model and its tokenizer, which an adapter may replace."""
    import torch
    from transformers import AutoModelForCausalLM

    placed = {"dtype": getattr(torch, precision)} | ({"device_map": "auto"} if has_gpu() else {})
    try:
        tokenizer = load_tokenizer(where, origin, adapter)
        model, report = AutoModelForCausalLM.from_pretrained(
            where, trust_remote_code=False, output_loading_info=True, **placed, **origin
        )
    except Exception as exc:  # the library raises anything at all for a folder that it cannot read
        raise ConfigError(
            f"hf:{where}: transformers cannot load it: {first_line(exc)};"
            " expected a causal language model (config.json, weights, tokenizer) of a kind that transformers knows"
        ) from exc
    if report["missing_keys"]:
        raise ConfigError(
            f"hf:{where}: its files lack {len(report['missing_keys'])} weights"
            f" (such as {min(report['missing_keys'])}), which would be random; is it a causal language model?"
        )
    return model, tokenizer


def load_tokenizer(where: str, origin: Mapping[str, str], adapter: Path | None) -> Any:
    """Return the model's tokenizer, or the one that its adapter brings."""
    from transformers import AutoTokenizer

    if adapter and (adapter / "tokenizer_config.json").exists():
        return AutoTokenizer.from_pretrained(str(adapter), trust_remote_code=False)
    return AutoTokenizer.from_pretrained(where, trust_remote_code=False, **origin)


def make_network(name: str, model: Any, tokenizer: Any) -> Network:
    """Load without the model's decoding settings, such as a repetition penalty: the request has them all."""
    from transformers import GenerationConfig

    config = model.generation_config
    ends = config.eos_token_id if isinstance(config.eos_token_id, list) else [config.eos_token_id]
    ends = sorted({int(token) for token in [*ends, tokenizer.eos_token_id] if token is not None})
    context = getattr(model.config.get_text_config(), "max_position_embeddings", None) or sys.maxsize
    temperature = config.temperature if config.temperature is not None else 1.0
    network = Network(name, model, tokenizer, int(context), ends, float(temperature))
    model.generation_config = GenerationConfig(eos_token_id=ends or None, pad_token_id=network.pad)
    return network


def _with_adapter(model: Any, folder: Path) -> Any:
    from peft import PeftConfig, PeftModel

    fix = "an adapter goes with the model it was trained on; see base_model_name_or_path in adapter_config.json"
    try:
        config = PeftConfig.from_pretrained(str(folder))
        config.inference_mode = True
        wrapped = PeftModel(model, config)
        loaded = wrapped.load_adapter(str(folder), "default")
    except Exception as exc:  # here too
        reason = f"does not fit the model: {first_line(exc)}"
        raise ConfigError(f"{folder}: {reason}; {fix}", setting="adapter") from exc
    if wrong := [*loaded.missing_keys, *loaded.unexpected_keys]:
        reason = f"{len(wrong)} weights do not match the model's (such as {wrong[0]})"
        raise ConfigError(f"{folder}: {reason}; {fix}", setting="adapter")
    return wrapped.get_base_model()


@contextmanager
def _quiet_if(local: bool) -> Iterator[None]:
    """Hide the library's progress bars for a folder, which is read in a moment; a download keeps them."""
    from transformers.utils import logging

    if not local or not logging.is_progress_bar_enabled():
        yield
        return
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.enable_progress_bar()
