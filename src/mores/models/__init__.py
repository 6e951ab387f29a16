"""Models behind one protocol (`mores.models.base.Model`), named `kind:name` on the command line.

Kinds of your own come from a package (entry points `mores.models`) or are objects; docs/extending.md shows how.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from mores.errors import ConfigError
from mores.models.base import (
    PRECISIONS,
    STYLES,
    BasicModel,
    Completion,
    Message,
    Model,
    Precision,
    Request,
    Style,
    follows_grammars,
    weakness,
)
from mores.models.settings import ModelSettings
from mores.registry import Registry, split_name
from mores.settings import find_configuration

__all__ = [
    "KINDS", "NO_ADAPTER", "PRECISIONS", "REGISTRY", "STYLES", "BasicModel", "Completion", "Message", "Model",
    "ModelSettings", "Options", "Precision", "Request", "Style", "follows_grammars", "metric_adapter", "on_ray",
    "open_model", "takes_address", "takes_precision", "weakness",
]  # fmt: skip


NO_ADAPTER = "none"


Options = ModelSettings
"""The name that 0.2.0 gave the settings."""


def _embedded(name: str, options: Options, kind: str = "embedded") -> Model:
    from mores.models.embedded import EmbeddedModel

    _refuse(kind, base_url=options.base_url)
    return EmbeddedModel(name, options.adapter, options.slots, options.context, options.threads, kind)


def _reader(name: str, options: Options) -> Model:
    if name:
        raise ConfigError(f"reader:{name}: reader takes no name; for a file, take embedded:FILE.gguf")
    return _embedded(name, options, "reader")


def _openai(name: str, options: Options) -> Model:
    from mores.models.openai import OpenAIModel

    _refuse("openai", adapter=options.adapter)
    return OpenAIModel(name, options.base_url, key_variable=options.key_variable, body=options.body)


def _hf(name: str, options: Options) -> Model:
    from mores.models.hf import HFModel

    _refuse("hf", base_url=options.base_url)
    return HFModel(name, adapter=options.adapter, precision=options.precision)


def _vllm(name: str, options: Options) -> Model:
    from mores.models.vllm import VLLMModel

    _refuse("vllm", base_url=options.base_url)
    settings = {"dtype": options.precision} if options.precision else {}
    return VLLMModel(name, adapter=options.adapter, gpus=options.ray_gpus or 1.0, **settings)


def _fake(name: str, options: Options) -> Model:
    from mores.models.fake import fake

    _refuse("fake", base_url=options.base_url, adapter=options.adapter)
    return fake(name)


KINDS: dict[str, Callable[[str, Options], Model]] = {
    "embedded": _embedded,
    "reader": _reader,
    "openai": _openai,
    "hf": _hf,
    "vllm": _vllm,
    "fake": _fake,
}
"""Every kind of model. The import inside each function keeps heavy libraries away from those who do not use them."""

REGISTRY: Registry[Callable[[str, Options], Model]] = Registry(
    noun="model",
    group="mores.models",
    ours=KINDS,
    expected="a function of a name and mores.models.Options that returns a Model",
    method="complete",
    written={"openai": "openai:NAME", "hf": "hf:PATH", "vllm": "vllm:PATH", "fake": "fake:NAME"},
)


LLAMA = ("embedded", "reader")
"""Kinds that run in llama.cpp."""
LOCAL = (*LLAMA, "hf", "vllm", "fake")
"""Kinds that run on this machine and take no address of a server."""


def takes_address(name: str) -> bool:
    """Return whether a model of this name may be given the address of a server."""
    return split_name(name)[0] not in LOCAL


def takes_precision(name: str) -> bool:
    """Return whether a model of this name may be told what numbers to compute with."""
    return split_name(name)[0] in ("hf", "vllm")


def open_model(name: str | Model, options: Options | None = None) -> Model:
    """Return the model that the user named, for example `embedded`, `openai:gpt-4.1-mini` or `hf:PATH`, or gave."""
    options = options or Options()
    if isinstance(name, str):
        kind, _ = split_name(name)
        if kind in KINDS and kind != "openai" and options.body:
            raise ConfigError(f"a model of kind '{kind}' takes no {next(iter(options.body))}", setting="config")
        if kind not in REGISTRY.names():
            raise REGISTRY.unknown(name)
        if kind in KINDS and not takes_precision(name):
            _refuse(kind, precision=options.precision)
        if options.ray and kind != "openai":
            return on_ray(name, options)
    model: Model = REGISTRY.open(name, replace(options, adapter=None) if options.adapter == NO_ADAPTER else options)
    return model


def on_ray(model: str | Model, options: Options) -> Model:
    """Return the same model in the processes of a Ray cluster; servers are called from here, which is fast enough."""
    from mores.models.ray import RayModel

    return RayModel(model, options)


def metric_adapter(name: str, adapter: str | None, config: Path | None = None) -> str | None:
    """Return the adapter of a model that judges texts: `embedded` and `reader` have one that comes with Mores."""
    if found := find_configuration(name, config):
        name, adapter = found[1].model, adapter or found[1].adapter
    if name not in LLAMA or adapter:
        return adapter
    from mores.models.embedded import SHIPPED

    tuned = SHIPPED[name].tuned
    return str(tuned) if tuned.exists() else None


def _refuse(kind: str, **options: str | None) -> None:
    for option, value in options.items():
        if value is not None:
            raise ConfigError(f"a model of kind '{kind}' takes no {option.replace('_', ' ')}", setting=option)
