"""The settings with which a model is opened."""

from __future__ import annotations

from collections.abc import Mapping

from mores.errors import ConfigError
from mores.models.base import Precision
from mores.settings import Settings, setting
from mores.settings.values import OptionalPath

MODELS = "embedded, reader, embedded:FILE.gguf, openai:NAME, hf:PATH, vllm:PATH, fake:NAME or a name of a settings file"
"""How a model is named, for help texts."""


def read_ray(address: str | bool | None) -> str | bool | None:
    """Return the address of a Ray cluster; True for the one that runs here, or a new one."""
    if isinstance(address, str) and address and address not in ("auto", "local") and ":" not in address:
        fix = "if it is an argument, write it before --ray"
        raise ConfigError(f"{address!r} is not the address of a Ray cluster, such as HOST:PORT; {fix}", setting="ray")
    return True if address == "" else address


class ModelSettings(Settings):
    """The settings of opening a model; each kind of model uses what it knows and refuses the rest."""

    base_url: str | None = setting(
        default=None, metavar="URL", help="Address of an OpenAI-compatible server [env: OPENAI_BASE_URL].", result=True
    )
    adapter: str | None = setting(
        default=None,
        metavar="PATH",
        help="LoRA adapter: a PEFT folder for hf: and vllm:, a GGUF file for embedded; none for none.",
        result=True,
    )
    precision: Precision | None = setting(
        default=None,
        help="Floating-point precision of hf: and vllm:; with float32, concurrent requests do not change answers.",
        default_text="bfloat16 on a GPU, otherwise float32",
        result=True,
    )
    slots: int = setting(
        default=1, at_least=1, help="Parallel slots of the embedded server; more than 1 is not reproducible."
    )
    context: int = setting(default=8192, at_least=256, help="Context length of the embedded server, in tokens.")
    threads: int | None = setting(
        default=None, at_least=1, help="Threads of the embedded server.", default_text="all available cores"
    )
    ray: str | bool | None = setting(
        default=None,
        metavar="[ADDRESS]",
        parse=read_ray,
        optional_value="",
        help="Run local models on a Ray cluster: the one at ADDRESS, or the one that runs here, or a new one.",
    )
    ray_workers: int | None = setting(
        default=None, at_least=1, help="Copies of the model on the cluster.", default_text="as many as fit"
    )
    ray_gpus: float | None = setting(
        default=None,
        at_least=0,
        help="GPUs for each copy of the model.",
        default_text="1 for hf and vllm, if there are any",
    )
    key_variable: str | None = setting(
        default=None,
        command=False,
        help="Environment variable that holds the server's key; an empty one for no key.",
        default_text="OPENAI_API_KEY",
    )
    body: Mapping[str, object] = setting(
        default_factory=dict, command=False, help="Further fields of the request's body.", result=True
    )
    config: OptionalPath = setting(
        default=None, place="file", metavar="FILE", help="Settings file: settings and named models (docs/settings.md)."
    )


class PullSettings(Settings):
    """A GGUF file to get."""

    name: str = setting(
        default="", kw_only=False, metavar="[NAME]", help="Empty for the default, reader, path or OWNER/REPO/FILE.gguf."
    )
    list: bool = setting(default=False, help="Show what is there, get nothing.")
