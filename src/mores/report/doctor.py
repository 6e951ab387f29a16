"""`mores doctor`: what is installed, which judges and searches can be used here, and what each is good for.

Nothing is imported, downloaded or asked for it; only with `ask` are servers asked for the models that they have.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from platform import python_version

from mores import __version__
from mores.cache import cache_folder
from mores.errors import MoresError
from mores.extras import EXTRAS, install_command
from mores.formatting import megabytes
from mores.models.embedded import SHIPPED
from mores.models.openai import OpenAIModel
from mores.models.pull import FILES, pulled
from mores.report.base.grid import Grid, make_grid
from mores.search.providers import PROVIDERS
from mores.settings import find_configuration
from mores.settings.files import settings_files
from mores.types import Record

GOOD_FOR = {
    "embedded": "a first look: short texts with evidence that covers them; otherwise near chance",
    "reader": "single statements with evidence, in many languages; slow without a GPU",
    "openai": "the best verdicts: large models, with evidence or without",
    "hf": "models of your own and tuned ones, best on a GPU",
    "vllm": "the same models for many texts, on a GPU",
    "mores": "evidence about 81 countries and regions, offline",
    "serper": "evidence from the web, for a fee",
    "brave": "evidence from the web, for a fee",
    "tavily": "evidence from the web, for a fee",
    "searxng": "evidence from the web, by an instance of yours",
}
PURPOSES = {
    "parquet": "Parquet and Arrow files",
    "hub": "downloads from and uploads to the Hugging Face Hub",
    "build": "mores build",
    "meta": "mores meta, with its baselines",
    "longform": "mores longform, and CaLMQA",
    "figures": "charts as SVG and PDF",
    "studio": "mores studio",
    "serve": "mores serve, and view",
    "lid": "the language check of the CaLMQA paper",
    "hf": "models of kind hf",
    "ray": "runs on a cluster",
    "train": "mores train and export",
    "pdf": "PDF files as evidence",
    "dense": "evidence by meaning, in 15 languages",
    "embed": "the baseline similarity-minilm",
}
"""What each extra is for."""


class Part(Record):
    """Something that may be there, or not."""

    name: str
    ready: bool
    state: str
    """What there is, or what is missing with its fix."""
    good_for: str


class Equipment(Record):
    """The parts that can be used here."""

    version: str
    python: str
    place: str
    """The folder of the package."""
    cache: str
    judges: tuple[Part, ...]
    searches: tuple[Part, ...]
    extras: tuple[Part, ...]

    def tables(self) -> Iterator[Grid | str]:
        """Yield what the terminal shows; the judges to begin with come last."""
        yield f"Mores {self.version} in {self.place}, Python {self.python}; the cache folder is {self.cache}"
        for title, parts in {"Judges": self.judges, "Evidence": self.searches, "Extras": self.extras}.items():
            rows = [(part.name, part.state, part.good_for) for part in parts]
            yield make_grid(title, ("name", "state", "good for"), rows, words=frozenset(range(3)))
        ready = [part.name for part in self.judges if part.ready]
        yield f"ready to judge: {', '.join(ready)}" if ready else "no judge is ready; begin with `mores pull`"


async def examine(*, ask: bool = False, config: Path | None = None) -> Equipment:
    """Return what is installed and can be used; with `ask`, servers are asked for their models."""
    judges = [_shipped(kind) for kind in FILES]
    known = {file.path for file in FILES.values()}
    more = [path for path in pulled() if path not in known]
    judges += [_part(f"embedded:{path.stem}", True, "pulled", "not measured; mores meta does") for path in more]
    judges.append(await _server("openai:NAME", None, None, ask=ask))
    gpu = "" if shutil.which("nvidia-smi") else "; no NVIDIA GPU was found"
    for kind, modules in {"hf": EXTRAS["hf"], "vllm": ("vllm",)}.items():
        there = _installed(*modules)
        state = f"installed{gpu}" if there else f"not installed: {install_command(kind)}"
        judges.append(_part(f"{kind}:PATH", there, state, GOOD_FOR[kind]))
    for name in dict.fromkeys(name for file in settings_files(config) for name in file.table("models")):
        found = find_configuration(name, config)
        assert found is not None
        made = found[1]
        if made.model.startswith("openai:"):
            part = await _server(name, made.base_url, made.key_variable, ask=ask)
        else:
            part = _part(name, True, made.model, "")
        judges.append(part.model_copy(update={"good_for": f"{made.model}, by {found[0].path}"}))
    meanings = _installed(*EXTRAS["dense"])
    facts = "by words and meaning" if meanings else f"by words; by meaning too after {install_command('dense')}"
    variables = {"serper": "SERPER_API_KEY"} | {name: web.key or web.variable for name, web in PROVIDERS.items()}
    web = [
        _part(
            name,
            there,
            f"{'a' if there else 'no'} {'address' if name == 'searxng' else 'key'} in {variable}",
            GOOD_FOR[name],
        )
        for name, variable in variables.items()
        for there in [bool(os.environ.get(variable))]
    ]
    return Equipment(
        version=__version__,
        python=python_version(),
        place=str(Path(__file__).parents[1]),
        cache=str(cache_folder()),
        judges=tuple(judges),
        searches=(_part("mores", True, facts, GOOD_FOR["mores"]), *web),
        extras=tuple(
            _part(extra, there, "installed" if there else install_command(extra), PURPOSES[extra])
            for extra, modules in EXTRAS.items()
            for there in [_installed(*modules)]
        ),
    )


def _part(name: str, ready: bool, state: str, good_for: str) -> Part:
    return Part(name=name, ready=ready, state=state, good_for=good_for)


def _installed(*modules: str) -> bool:
    return all(find_spec(module) for module in modules)


def _shipped(kind: str) -> Part:
    """Return a model that Mores knows by name: its file, and the adapter that makes a metric of it."""
    file, tuned = FILES[kind], SHIPPED[kind].tuned.exists()
    if not file.path.exists():
        state = f"not here: {file.command} ({megabytes(file.size)})"
    else:
        state = "pulled" if tuned else "pulled, but untuned: its adapter is not in this copy of Mores"
    return _part(kind, file.path.exists(), state, GOOD_FOR[kind] if tuned else "not measured; mores meta does")


async def _server(name: str, base_url: str | None, key_variable: str | None, *, ask: bool) -> Part:
    """Return a server with the chat protocol: whether there is a key, and with `ask` what it answers."""
    variable = "OPENAI_API_KEY" if key_variable is None else key_variable
    key = bool(variable and os.environ.get(variable))
    try:
        model = OpenAIModel("any", base_url, key_variable=key_variable)
        state = f"{'a' if key else 'no'} key in {variable}, for {model.base_url}" if variable else model.base_url
        ready = key or not variable or base_url is not None or "OPENAI_BASE_URL" in os.environ
        if ask:
            async with model:
                names = model.served
                state += (
                    f"; it has {', '.join(names[:3])}{' …' * (len(names) > 3)}" if names else "; it lists no models"
                )
    except MoresError as error:
        ready, state = False, str(error)
    return _part(name, ready, state, GOOD_FOR["openai"])
