"""Settings, declared once: every one is in the command, the function, settings files and the docs."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import pytest

import mores
from mores.calling import FUNCTIONS, load
from mores.cli import mores as program
from mores.cli.command import options_of
from mores.engine import make_asker, open_asker
from mores.engine.cost import Price
from mores.errors import ConfigError
from mores.models import Completion, Message, Model, Request
from mores.models.openai import OpenAIModel
from mores.settings import Settings, declared, default_of, resolve, resolve_values, setting, settings_of
from mores.settings.files import user_file
from mores.settings.records import RECORDS, load_record
from mores.settings.values import AnyPath, Names, OptionalPath
from tests.cli.conftest import Run, home
from tests.cli.conftest import mores as run_mores

__all__ = ["home", "run_mores"]

REFERENCE = (Path(__file__).parents[1] / "docs" / "api" / "settings.md").read_text("utf-8")
COMMANDS = {
    "score": "score", "serve": "serve", "audit": "audit injection", "bench": "bench", "board": "board",
    "judge-check": "judge-check", "topics": "topics", "tiers": "tiers", "export-task": "export-task",
    "longform": "longform", "collect": "collect", "diagnose": "diagnose all", "meta": "meta", "compare": "compare",
    "plan": "plan", "rate": "rate", "build": "build recipe", "corpus": "corpus", "ground": "build ground",
    "train": "train", "export": "export", "studio": "studio",
}  # fmt: skip
"""The command of each record that has one."""


def find_command(path: str) -> click.Command:
    """The command of a path such as `build recipe`."""
    command: click.Command = program
    for name in path.split():
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None, path
        command = found
    return command


@pytest.mark.parametrize(("table", "path"), COMMANDS.items())
def test_every_setting_is_an_option_or_an_argument_of_its_command(table: str, path: str) -> None:
    record, command = load_record(table), find_command(path)
    offered = {parameter.name for parameter in command.params}
    wanted = {entry.name for entry in settings_of(record) if declared(entry).command}
    if table == "diagnose":  # each kind of diagnosis has those that concern it
        group = find_command("diagnose")
        assert isinstance(group, click.Group)
        offered = {parameter.name for each in group.commands.values() for parameter in each.params}
        wanted -= {"by_logprob", "judge_failures", "judge_protocol", "shots"}
    assert wanted <= offered


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_setting_is_an_argument_of_its_function(name: str) -> None:
    function = load(name)
    record: type[Settings] = vars(function)["settings"]
    assert list(inspect.signature(function).parameters) == list(inspect.signature(record).parameters)
    assert all(f"\n{entry.name}: {declared(entry).help}" in (function.__doc__ or "") for entry in settings_of(record))


@pytest.mark.parametrize("table", RECORDS)
def test_every_setting_is_in_the_reference(table: str) -> None:
    record = load_record(table)
    assert record.table == table
    for entry in settings_of(record):
        assert f"| `{entry.name}` | " in REFERENCE
        assert declared(entry).help.strip().endswith("."), entry.name


@pytest.mark.parametrize("table", RECORDS)
def test_every_command_line_value_has_a_type(table: str) -> None:
    options = options_of(load_record(table), table)
    assert options
    assert all(option.type is not None for option in options)


class Dish(Settings):
    """What the tests set."""

    name: str = setting(kw_only=False, help="Its name.")
    salt: float = setting(default=0.5, at_least=0, at_most=1, help="How salty.", result=True)
    spices: Names = setting(default=(), help="Its spices.")
    book: OptionalPath = setting(default=None, place="file", help="Where it is from.")
    kitchen: AnyPath = setting(default=Path("kitchen"), place="new folder", help="Where it is made.")


def test_values_are_checked_and_brought_into_their_form() -> None:
    dish = resolve(Dish, "curry", spices="cumin", book="recipes.txt")
    assert (dish.spices, dish.book, dish.kitchen) == (("cumin",), Path("recipes.txt"), Path("kitchen"))
    assert dish.changed() == {"name": "curry", "spices": ("cumin",), "book": Path("recipes.txt")}
    for wrong, message in (
        (2.0, "expected at most 1"),
        (-1, "expected at least 0"),
        (float("nan"), "expected a number"),
    ):
        with pytest.raises(ConfigError, match=message) as refused:
            resolve(Dish, "curry", salt=wrong)
        assert refused.value.setting == "salt"
    with pytest.raises(TypeError, match="unexpected option 'spice'; did you mean 'spices'"):
        resolve(Dish, "curry", spice="cumin")
    with pytest.raises(AttributeError):
        dish.salt = 0.1


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A settings file."""
    path = tmp_path / "study.toml"
    path.write_text(
        """
        [asking]
        concurrency = 7
        attempts = 2
        [bench]
        limit = 5
        attempts = 3
        judge = ["fake:clean"]
        [models.careful]
        model = "openai:tiny"
        base_url = "http://127.0.0.1:9/v1"
        key_variable = "CAREFUL_KEY"
        temperature = 0.2
        top_k = 40
        top_p = 0.9
        reasoning_effort = "high"
        thinking_budget = 512
        web_search = true
        extra_body = { safe = true }
        price = [0.4, 1.6]
        facts = { provider = "Tiny", country = "FR", open = true }
        [models.stand_in]
        model = "fake:clean"
        facts = { provider = "Nobody" }
        """
    )
    return path


def test_given_values_come_before_files_and_files_before_defaults(study: Path) -> None:
    values = {each.name: each for each in resolve_values(mores.BenchSettings, {"config": study, "limit": 9})}
    assert (values["limit"].value, values["limit"].origin) == (9, "given")
    assert (values["attempts"].value, values["attempts"].origin) == (3, f"{study} [bench]")
    assert (values["concurrency"].value, values["concurrency"].origin) == (7, f"{study} [asking]")
    assert (values["samples"].value, values["samples"].origin) == (1, "default")
    settings = resolve(mores.BenchSettings, "msqa", config=study)
    assert (settings.limit, settings.judge, settings.concurrency) == (5, ("fake:clean",), 7)


def test_the_users_own_file_is_read_after_the_named_one(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    user_file().parent.mkdir(parents=True)
    user_file().write_text("[asking]\nconcurrency = 1\ntimeout = 5.0\n")
    asker = open_asker("fake:clean", config=study, store=None)
    assert (asker.limits.concurrency, asker.limits.timeout) == (7, 5.0)
    assert open_asker("fake:clean", store=None).limits.concurrency == 1


def test_a_named_model_sends_what_its_table_says(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAREFUL_KEY", "k-1")
    asker = open_asker("careful", config=study, store=None)
    assert asker.model.name == "careful"
    assert asker.price == Price(0.4, 1.6)
    assert asker.model.identity.startswith("openai:tiny@http://127.0.0.1:9/v1{")
    inner: OpenAIModel = vars(asker.model)["_model"]
    body = inner.body(Request((Message("user", "hi"),)))
    assert {name: body[name] for name in ("reasoning_effort", "thinking", "web_search_options", "safe")} == {
        "reasoning_effort": "high",
        "thinking": {"type": "enabled", "budget_tokens": 512},
        "web_search_options": {},
        "safe": True,
    }


def test_sampling_of_a_named_model_is_sent_unless_the_command_says_otherwise(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAREFUL_KEY", "k-1")
    given = resolve(mores.ScoreSettings, ["x"], "careful", config=study, temperature=0.9)
    assert given.temperature == 0.9
    assert resolve(mores.ScoreSettings, ["x"], "careful", config=study).temperature == 0.2
    model = make_asker("careful", given).model  # the request has the temperature already
    assert '"temperature"' not in model.identity
    assert '"top_p":0.9' in model.identity
    judge = open_asker("fake:clean", config=study, store=None).open("careful").model
    assert '"temperature":0.2' in judge.identity


async def sent(model: Model, **settings: Any) -> Request:
    """The request that the model itself gets."""
    got: list[Request] = []

    async def complete(request: Request) -> Completion:
        got.append(request)
        return Completion("x")

    vars(model)["_model"].complete = complete
    await model.complete(Request((Message("user", "hi"),), **settings))
    return got[0]


def test_every_request_to_a_named_model_has_its_sampling(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAREFUL_KEY", "k-1")
    request = asyncio.run(sent(open_asker("careful", config=study, store=None).model))
    assert (request.temperature, request.top_p, request.top_k, request.seed) == (0.2, 0.9, 40, 0)
    assert OpenAIModel("tiny", "http://127.0.0.1:9/v1").body(request)["top_k"] == 40


def test_several_answers_of_a_named_model_with_a_seed_differ_in_it(tmp_path: Path) -> None:
    config = tmp_path / "seeded.toml"
    config.write_text('[models.x]\nmodel = "openai:tiny"\nbase_url = "http://127.0.0.1:9/v1"\nseed = 5\n', "utf-8")
    model = open_asker("x", config=config, store=None).model
    assert [asyncio.run(sent(model, seed=seed)).seed for seed in (0, 1, 2, None)] == [5, 6, 7, 5]


def test_renaming_a_configuration_changes_no_identity(study: Path, tmp_path: Path) -> None:
    renamed = tmp_path / "renamed.toml"
    renamed.write_text(study.read_text().replace("models.stand_in", "models.other").replace("Nobody", "Somebody"))
    models = [
        open_asker("stand_in", config=study, store=None).model,
        open_asker("other", config=renamed, store=None).model,
        open_asker("fake:clean", store=None).model,
    ]
    assert len({model.identity for model in models}) == 1
    assert [model.name for model in models] == ["stand_in", "other", "fake:clean"]
    assert open_asker("stand_in", config=study, store=None).price == Price(0.0, 0.0)  # as the model itself


def test_a_key_goes_to_its_own_server_alone(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "general")
    with pytest.raises(ConfigError, match="the variable CAREFUL_KEY of its key is not set"):
        open_asker("careful", config=study, store=None)
    monkeypatch.setenv("CAREFUL_KEY", "bound")
    with pytest.raises(ConfigError, match="its key is for that one alone"):
        open_asker("careful", config=study, store=None, base_url="http://127.0.0.1:10/v1")
    study.write_text(study.read_text().replace('key_variable = "CAREFUL_KEY"', ""))
    assert vars(vars(open_asker("careful", config=study, store=None).model)["_model"])["_key"] == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[bensh]\nlimit = 1", r"unknown table \[bensh\]; did you mean 'bench'"),
        ("[bench]\nlimits = 1", r"\[bench\]: unknown setting limits; did you mean 'limit'"),
        ("limit = 1", "limit stands in no table"),
        ('[bench]\nlimit = "many"', r"\[bench\] limit: 'many'; expected a whole number"),
        ("[bench]\nlimit = true", r"\[bench\] limit: True; expected a whole number"),
        ("[bench", "not a settings file in TOML"),
        ('[models.x]\nmodel = "fake:clean"\napi_key = "sk-1"', r"\[models.x\] api_key holds a key"),
        ('[models.x]\nmodel = "openai:x"\nextra_body = { token = "sk-1" }', "token holds a key"),
        ('[models.x]\ntemperature = 1', "no model; write model ="),
        ('[models.x]\nmodel = "fake:clean"\nheat = 1', "unknown setting heat"),
        ('[models.x]\nmodel = "fake:clean"\nfacts = { provder = "X" }', r"facts: unknown setting provder; did"),
        ('[models.x]\nmodel = "fake:clean"\nfacts = { open = "yes" }', r"facts open: 'yes'; expected true or false"),
        ('[models.x]\nmodel = "fake:clean"\nweb_search = true', "a model of kind 'fake' takes no web_search_options"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_named_with_the_fix(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message) as refused:
        open_asker("x", config=path, store=None) if "models" in text else resolve(mores.BenchSettings, "x", config=path)
    assert refused.value.setting == "config"


def test_config_show_says_where_each_value_is_from(study: Path, run_mores: Run) -> None:
    shown = run_mores("config", "show", "--command", "bench", "--config", str(study), "--json")
    assert shown.returncode == 0, shown.stderr
    values = json.loads(shown.stdout)
    assert values["settings"]["limit"] == {"value": "5", "from": f"{study} [bench]"}
    assert values["models"]["careful"]["key_variable"] == "CAREFUL_KEY"
    assert "careful" in run_mores("config", "show", "--config", str(study)).stdout


def test_a_command_reads_a_settings_file_and_says_what_a_model_is_called(study: Path, run_mores: Run) -> None:
    Path("t.jsonl").write_text('{"text": "Tea."}\n')
    done = run_mores("score", "t.jsonl", "--config", str(study), "--model", "stand_in", "--out", "run")
    assert done.returncode == 0, done.stderr
    manifest = mores.open_run("run").manifest
    assert manifest.model == "stand_in"
    assert manifest.configuration == {"name": "stand_in", "price": None, "facts": {"provider": "Nobody"}}
    assert "stand_in" not in str(manifest.signature)


def test_a_file_that_names_code_says_so_before_it_runs(tmp_path: Path, run_mores: Run) -> None:
    (tmp_path / "study.toml").write_text('[diagnose]\ntargets = ["./mine"]\n')
    done = run_mores("diagnose", "stability", "msqa", "--config", str(tmp_path / "study.toml"), "--model", "fake:none")
    assert "names code that may be run: targets = ['./mine']" in done.stderr


def every_record() -> Iterator[type[Settings]]:
    """All records and those that they build on."""
    for table in RECORDS:
        yield from (kind for kind in load_record(table).__mro__ if issubclass(kind, Settings) and kind is not Settings)


def test_no_option_is_declared_twice() -> None:
    places: dict[tuple[object, ...], set[str]] = {}
    for record in set(every_record()):
        for entry in fields(record):  # type: ignore[arg-type]
            if entry.name in inspect.get_annotations(record) and entry.kw_only:
                about = declared(entry)
                same = (entry.name, about.help, about.default_text, str(default_of(entry)))
                places.setdefault(same, set()).add(record.__name__)
    twice = {name: sorted(records) for (name, *_), records in places.items() if len(records) > 1}
    assert not twice, "declare it in a record that the others build on"


def test_records_are_documented_and_defaults_are_values_of_their_own() -> None:
    for record in set(every_record()):
        assert record.__doc__
        for entry in fields(record):  # type: ignore[arg-type]
            default = default_of(entry)
            assert not isinstance(default, list | set), f"{record.__name__}.{entry.name}"
