"""Settings, declared once: a field of a documented record, from which everything else is derived.

    class BenchSettings(AskSettings):
        benchmark: str | Path | Benchmark = setting(help="…", kw_only=False)
        limit: int | None = setting(default=None, at_least=1, help="Maximum questions, spread evenly …")

    @takes(BenchSettings)
    async def bench(settings: BenchSettings) -> BenchRun: ...

    await bench("msqa", limit=100)      # the keyword arguments are the fields, with their types
    mores bench msqa --limit 100        # mores.cli.command makes the options of the same fields
    [bench] limit = 100                 # and a settings file may set them (mores.settings.files)

`RECORDS` lists the record of every command; docs/settings.md is generated from it.
"""

from mores.settings.declare import Declared, Settings, declared, default_of, setting, settings_of
from mores.settings.forms import Form, form_of
from mores.settings.resolve import Value, apply, find_configuration, resolve, resolve_values, takes

__all__ = [
    "Declared",
    "Form",
    "Settings",
    "Value",
    "apply",
    "declared",
    "default_of",
    "find_configuration",
    "form_of",
    "resolve",
    "resolve_values",
    "setting",
    "settings_of",
    "takes",
]
