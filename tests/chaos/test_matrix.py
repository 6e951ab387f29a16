"""The fault matrix: every fault of `faults.py` in every command that asks a model, in all texts, in one, for a while.

No traceback; nothing failed is counted as an answer; a bounded delay; neighbours as if nothing had happened; and once
the server is well, `--retry-failed` gives what a good server gives at once. CI goes through a sample; `make chaos`
through all of it.
"""

from __future__ import annotations

import inspect
import json
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, NamedTuple

import click
import pytest
from aiohttp import web

import mores
from mores.cli import mores as program
from mores.engine import AskSettings
from mores.engine.loop import run as run_loop
from mores.errors import Rejected
from mores.models import Message, Request
from mores.models.fake import fake
from mores.studio.campaigns import open_kind
from mores.studio.records import CampaignItem, Person, Role
from mores.studio.store.campaigns import make_campaign, read_settings
from mores.studio.store.database import open_database
from mores.studio.store.items import perform, read_item
from mores.studio.worker import AskWorker
from mores.studio.workflow import AskAgain, Create, Submit
from tests.chaos.faults import FAULTS, ServerFault, status
from tests.cli.conftest import Done, run_in_process
from tests.engine.server import Server, completion
from tests.fixtures import SETTINGS
from tests.fixtures.inputs import DISHES, write_inputs, write_script
from tests.serve.judge import ask, until
from tests.serving import serving

KEY = "sk-live-4f9a7c2e81d05b63"
SECONDS = 40.0
"""No command takes longer with any fault: two attempts of a second for the few texts, whatever they wait for."""
LIMITS: dict[str, Any] = {"attempts": 2, "backoff": 0.01, "longest_wait": 0.05, "confirm_every": 0.2}
QUICK = "[asking]\n" + "".join(f"{name} = {value}\n" for name, value in LIMITS.items())
WORK, IDLE = 200_000, 0.025
"""A piece of work, and the seconds that it takes on a machine with nothing else to do."""


class AskingCommand(NamedTuple):
    """A command that asks a model, and words of one of its texts."""

    arguments: str
    one: str
    balances: bool = False
    """Whether it chooses among what it made, so that a failure moves its neighbours."""


COMMANDS = {
    "score": AskingCommand("score texts.jsonl --model openai:judge", "drink tea"),
    "bench": AskingCommand("bench normad --data data --model openai:model", "in story 2."),
    "judged": AskingCommand("bench culturall --data data --model openai:model --judge openai:grader", "escena2"),
    "judge-check": AskingCommand("judge-check culturall --data data --model openai:grader", "Zapallo2"),
    "topics": AskingCommand("topics normad --data data --topics topics.toml --model openai:labeller", "in story 2."),
    "diagnose": AskingCommand("diagnose stability normad --data data --model openai:model --samples 2", "in story 2."),
    "diagnoses": AskingCommand(
        "diagnose all culturall --data data --model openai:model --judge openai:grader --search corpus:passages.jsonl"
        " --samples 2",
        "escena2",
    ),
    "contamination": AskingCommand("diagnose contamination normad --data data --model openai:completer", "in Peru."),
    "audit": AskingCommand("audit injection --model openai:auditor --category override --limit 2", "gnore all"),
    "meta": AskingCommand("meta --data dataset --metric excam:openai:judge --baselines always", "feast 15?"),
    "longform": AskingCommand(
        "longform answers.jsonl --judge openai:reader --corpus passages.jsonl -k 2", "grandmother"
    ),
    "collect": AskingCommand("collect questions.jsonl --model openai:collector", "Is water"),
    "drafts": AskingCommand("studio draft dishes.csv --model openai:drafter", "ugali"),
    "build": AskingCommand("build soft.yaml --model openai:softener", "feast 3?", balances=True),
}
MODES = ("all", "one", "heals")
Key = tuple[str, str, int]
Rows = dict[Key, Any]


@contextmanager
def upstream(command: AskingCommand, fault: ServerFault | None, mode: str) -> Iterator[Server]:
    """A server with the answers of the scripts, and with the fault where the mode says so; `server.faults` is on."""
    scripts = cache(fake)

    async def respond(server: Server, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        prompt = asked["messages"][-1]["content"]
        try:
            text = (await scripts(f"{asked['model']}.jsonl").complete(Request((Message("user", prompt),)))).text
        except Rejected as error:
            return web.json_response({"error": {"message": str(error)}}, status=422)
        proper = completion(text)
        hit = {"all": True, "one": command.one in prompt, "heals": len(server.asked) <= 3}[mode]
        if fault is None or not hit or server.seed == "well":  # type: ignore[attr-defined]
            return web.json_response(proper)
        made: Any = fault.respond(request, proper)
        made = await made if inspect.isawaitable(made) else made
        return made if isinstance(made, web.StreamResponse) else web.json_response(made)

    with Server({respond: 1.0}) as server:
        server.seed = ""  # type: ignore[attr-defined]
        yield server


def slowness() -> float:
    """How many times longer work takes now than on an idle machine, at least 1; limits of time grow with it."""
    started = time.perf_counter()
    sum(number * number for number in range(WORK))
    return max(1.0, (time.perf_counter() - started) / IDLE)


def patiently(attempt: Callable[[Path, float], None], home: Path) -> None:
    """Make an attempt in a new folder; another one where the machine had become much slower meanwhile."""
    slow = slowness()
    for last in (False, False, True):
        try:
            attempt(with_inputs(home), slow)
            break
        except AssertionError:
            before, slow = slow, slowness()
            if last or slow < 1.5 * before:
                raise


def with_inputs(home: Path) -> Path:
    """A new folder with links to the inputs."""
    folder = Path(mkdtemp(dir=home))
    for path in home.iterdir():
        if path.is_symlink():
            (folder / path.name).symlink_to(path)
    return folder


def waits(slow: float) -> dict[str, Any]:
    """The settings of a run that gives up soon, on a machine of this slowness."""
    return {**LIMITS, "timeout": slow, "outage": slow}


def call(home: Path, server: Server, command: AskingCommand, out: str, *more: str, slow: float = 1.0) -> Done:
    """Run the command in a folder with its inputs."""
    asking = ("--config", "quick.toml", "--timeout", str(slow), "--outage", str(slow))
    environment = {**SETTINGS, "MORES_CACHE": str(home / "cache"), "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.url}
    return run_in_process(home, (*command.arguments.split(), *asking, "--out", out, *more), env=environment)


def rows_of(home: Path, out: str, server: Server) -> Rows:
    """Every row of the run's files in order, by file, id and its number among those of the id; none without a run."""
    rows: Rows = {}
    paths = [home / out] if (home / out).is_file() else sorted((home / out).rglob("*.jsonl"))
    for path in paths:
        name, seen = path.relative_to(home / out).as_posix(), Counter[str]()
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line.replace(server.url, "SERVER"))
            ids = {
                **row,
                **row.get("response", {}),
                **(row.get("sample") if isinstance(row.get("sample"), dict) else {}),
            }
            one = str(next(ids[key] for key in ("sample_id", "item_id", "unit", "id", "region") if key in ids))
            rows[name, one, seen[one]] = row
            seen[one] += 1
    return rows


@pytest.fixture(scope="session")
def template() -> Iterator[Path]:
    """A folder with all inputs."""
    with TemporaryDirectory() as folder:
        home = Path(folder)
        write_inputs(home)
        (home / "quick.toml").write_text(QUICK)
        (home / "soft.yaml").write_text("name: soft\nsources: [feasts.jsonl]\nsampling: paper\nsoft: model\n")
        write_script(home / "completer.jsonl", ("", "or neutral."))
        write_script(home / "scribe.jsonl", ("country code", "pe"), ("appropriate topic", "Food"), ("", "In English."))
        (home / "dataset").mkdir()
        write_drafts(home)
        yield home


def write_drafts(home: Path) -> None:
    """A table to draft items from, and a model that drafts one of each dish and labels it."""
    rows, answers = ["question,answer,region,language"], [("appropriate topic", "Food")]
    for country, dish in DISHES.items():
        rows.append(f"What do people in {country} serve to guests?,{dish},{country},en")
        said = f"[Scenario] A guest sits down in {country}. [Question] What comes first in {country}?"
        answers.append((dish, f"{said} [Answer] The dish. [Explanation] So it is."))
    (home / "dishes.csv").write_text("\n".join(rows) + "\n", "utf-8")
    write_script(home / "drafter.jsonl", *answers)


@pytest.fixture
def home(template: Path, tmp_path: Path) -> Path:
    """A folder that has the inputs by links."""
    for path in template.iterdir():
        (tmp_path / path.name).symlink_to(path)
    return tmp_path


class Known(NamedTuple):
    """What a run with a good server makes, and what of it needs the answers about the one text."""

    good: Rows
    of_one: set[Key]
    failing: set[Key]
    """Those of them that are not there, or have a failure themselves, where the text is refused."""

    def others(self, rows: Rows) -> list[tuple[Key, Any]]:
        """All rows that need no answer about the one text, in order; a file may have another row of that text."""
        names = {name for _, name, _ in self.of_one}
        return [
            (key, row)
            for key, row in rows.items()
            if key not in self.of_one and (key in self.good or key[1] not in names)
        ]


_KNOWN: dict[str, Known] = {}


def known(name: str, home: Path) -> Known:
    """The same for each test; it is found out once."""
    if name not in _KNOWN:
        command, home, slow = COMMANDS[name], with_inputs(home), 10 * slowness()
        if "--data dataset" in command.arguments:
            made = run_in_process(home, ("build", "recipe.yaml", "--out", "dataset"), env=SETTINGS)
            assert not made.returncode, made.stderr
        runs = []
        for mode, fault in (("all", None), ("one", status(422))):
            with upstream(command, fault, mode) as server:
                done = call(home, server, command, f"known-{mode}", "--no-store", slow=slow)
                assert "Traceback" not in done.stderr
                runs.append(rows_of(home, f"known-{mode}", server))
        good, bad = runs
        of_one = {key for key in good if good[key] != bad.get(key)}
        failing = {key for key in of_one if key not in bad or has_failed(bad[key])}
        assert 0 < len(of_one) < len(good), f"{command.one} is in no text, or in all"
        assert failing
        _KNOWN[name] = Known(good, of_one, failing)
    return _KNOWN[name]


def has_failed(row: object) -> bool:
    """Whether a row has a failure anywhere in it."""
    if isinstance(row, dict):
        failures = (row.get("failure"), row.get("failures"))
        return any(failures) or any(map(has_failed, row.values()))
    return isinstance(row, list) and any(map(has_failed, row))


def check(name: str, fault_name: str, mode: str, home: Path) -> None:
    expected = known(name, home)
    patiently(lambda folder, slow: check_once(COMMANDS[name], FAULTS[fault_name], mode, folder, expected, slow), home)


def check_once(command: AskingCommand, fault: ServerFault, mode: str, home: Path, expected: Known, slow: float) -> None:
    good, failing = expected.good, expected.failing
    with upstream(command, fault, mode) as server:
        started = time.monotonic()
        done = call(home, server, command, "run", slow=slow)
        assert time.monotonic() - started < SECONDS * slow
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        assert KEY not in done.stdout + done.stderr
        rows = rows_of(home, "run", server)
        if command.balances:
            check_build(home / "run", rows, good, command, fault, mode)
        elif mode == "one":
            assert expected.others(rows) == expected.others(good), done.stderr
        if fault.usable:
            assert not done.returncode, done.stderr
            unlike = {
                key: rows.get(key) for key, row in good.items() if not has_failed(row) and has_failed(rows.get(key))
            }
            assert not unlike
            assert rows.keys() == good.keys()
        elif fault.usable is False and mode != "heals" and not command.balances:
            assert done.returncode or all(has_failed(rows.get(key)) or key not in rows for key in failing if rows)
        server.seed = "well"  # type: ignore[attr-defined]
        again = call(home, server, command, "again", "--retry-failed", slow=slow)
        assert "Traceback" not in again.stderr
        healed = rows_of(home, "again", server)
        if fault.usable is False:
            assert list(healed.items()) == list(good.items()), again.stderr
        stuck = {key: row for key, row in healed.items() if has_failed(row) and not has_failed(good.get(key))}
        assert not stuck, again.stderr


def check_build(folder: Path, rows: Rows, good: Rows, command: AskingCommand, fault: ServerFault, mode: str) -> None:
    """No sample is made of an answer that failed, the others are the same samples, and the card counts the failures."""
    made, known = (
        {row["sample"]["id"]: row for row in every.values() if row.get("kind") == "soft" and "sample" in row}
        for every in (rows, good)
    )
    if mode != "one":
        assert mode == "heals" or fault.usable is not False or not made
        return
    assert all(row == known[name] for name, row in made.items() if name in known)
    lost = {name for name, row in made.items() if command.one in row["original"]["instruction"]}
    kept = {row["item"] for row in known.values() if command.one not in row["original"]["instruction"]}
    assert kept <= {row["item"] for row in made.values()}
    if fault.usable:
        assert made == known
    elif fault.usable is False:
        assert not lost
        assert "Soft errors that the model failed to make: 2 " in (folder / "card.html").read_text("utf-8")


CASES = [(name, fault, mode) for name in COMMANDS for fault in FAULTS for mode in MODES]


def drawn(case: Iterable[str]) -> int:
    """A number that is always the same for a case, by which a sample is spread over everything."""
    return zlib.crc32(" ".join(case).encode())


@pytest.mark.often(
    "score-status 530-one", "bench-status 598-heals", "longform-status 460-all", "judged-status 413-one",
    "contamination-status 410-one", "meta-dropped in the body-one", "drafts-no choices-all",
)  # fmt: skip
@pytest.mark.parametrize(
    ("name", "fault", "mode"), [min((case for case in CASES if case[0] == name), key=drawn) for name in COMMANDS]
)
def test_a_sample_of_the_matrix(name: str, fault: str, mode: str, home: Path) -> None:
    check(name, fault, mode, home)


@pytest.mark.parametrize("name", ["bench", "longform", "collect"])
def test_what_could_not_be_read_is_asked_for_again(name: str, home: Path) -> None:
    check(name, "nonsense", "one", home)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_the_whole_matrix(fault: str, home: Path) -> None:
    wrong = []
    for name in COMMANDS:
        for mode in MODES:
            try:
                check(name, fault, mode, home)
            except AssertionError as error:
                wrong.append(f"{name}, {mode}: {error}"[:600])
    assert not wrong, "\n".join(wrong)


# ---- the service -----------------------------------------------------------------------------------------------


def check_service(fault_name: str, home: Path) -> None:
    patiently(lambda folder, slow: check_service_once(FAULTS[fault_name], folder, slow), home)


def check_service_once(fault: ServerFault, home: Path, slow: float) -> None:
    """One client's text is bad, four times; another client's texts are judged meanwhile as if nothing were."""
    command = COMMANDS["score"]
    keys = ["first-key-0123456789", "second-key-0123456789"]
    bad, good = ({"Authorization": f"Bearer {key}"} for key in keys)
    with pytest.MonkeyPatch.context() as patch, upstream(command, fault, "one") as server, ExitStack() as stack:
        patch.chdir(home)
        settings: dict[str, Any] = {
            "model": "openai:judge",
            "base_url": server.url,
            "store": None,
            "keys": keys,
            "concurrency": 4,
        }
        address = stack.enter_context(serving(mores.serve_app(**settings, **waits(slow))))
        until(lambda: ask(address, path="/ready").status == 200)
        pool = stack.enter_context(ThreadPoolExecutor(4))
        text = {"text": "The British drink tea with milk."}
        bad_texts = [text | {"id": str(n)} for n in range(4)]
        attacks = [pool.submit(ask, address, bad_texts, **bad) for _ in range(2)]
        for number in range(6):
            answer = ask(address, {"text": f"Sushi {number} is eaten with a fork."}, **good)
            assert (answer.status, answer.json["score"]) == (200, -5.0), answer.body
        for attack in attacks:
            got = attack.result()
            assert got.status == 200, got.body
            assert server.url.encode() not in got.body
            if fault.usable is False:
                assert all(judgement["failure"] for judgement in got.json)
        server.seed = "well"  # type: ignore[attr-defined]
        assert ask(address, text, **bad).json["failure"] is None


@pytest.mark.often("nonsense", "status 302")
@pytest.mark.parametrize("fault", [name for name in FAULTS if drawn([name]) % 32 == 0])
def test_a_sample_of_the_matrix_of_the_service(fault: str, home: Path) -> None:
    check_service(fault, home)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_the_whole_matrix_of_the_service(fault: str, home: Path) -> None:
    check_service(fault, home)


# ---- the studio ------------------------------------------------------------------------------------------------

SCENES = ("escena1", "escena2", "escena3")
AUTHOR = Person(id="a", roles=frozenset({Role.AUTHOR}), languages=frozenset({"es"}))
ORGANISER = Person(id="o", roles=frozenset({Role.ORGANISER}))


class Studio:
    """A campaign whose items are answered by one model, judged by another, and labelled and translated by a third."""

    def __init__(self, path: Path, server: Server, slow: float) -> None:
        self.database = open_database(path)
        kind, names = open_kind("culturall"), {"models": ["openai:model"], "judge": "openai:grader", "most_correct": 1}
        settings = read_settings(kind, {"title": "T", "pilot": 0, **names})
        self.campaign = make_campaign(self.database, kind, settings, model="openai:scribe")
        options = AskSettings(base_url=server.url, store=None, **waits(slow))
        self.worker = AskWorker(self.database, "openai:scribe", options)
        for scene in SCENES:
            content = {"theme": "Food", "source": "experience", "scenario": f"Una {scene}.", "question": "¿Qué es?"}
            content |= {"answer": "Zapallo", "explanation": "Es así."}
            for action in (Create(scene, content, "PE", "es"), Submit(content, region="PE", language="es")):
                perform(self.database, self.campaign, AUTHOR, action, item=scene)

    def work(self) -> list[CampaignItem]:
        """Answer until nothing more is asked; the items then."""

        async def answer() -> None:
            while await self.worker.answer_all():
                pass

        run_loop(answer())
        return [read_item(self.database, self.campaign, scene) for scene in SCENES]


def outcome(item: CampaignItem) -> tuple[object, ...]:
    """What models made of an item."""
    asked = sorted((ask.task, ask.sample, json.dumps(ask.answer)) for ask in item.asks_now)
    return item.stage, item.content, item.results, asked


def check_studio(fault_name: str, mode: str, home: Path) -> None:
    patiently(lambda folder, slow: check_studio_once(FAULTS[fault_name], mode, folder, slow), home)


def check_studio_once(fault: ServerFault, mode: str, home: Path, slow: float) -> None:
    command = AskingCommand("", "escena2")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        patch.setenv("OPENAI_API_KEY", KEY)
        with upstream(command, None, "all") as server:
            good = [outcome(item) for item in Studio(home / "good.db", server, 10 * slow).work()]
        assert {stage for stage, *_ in good} == {"review"}
        with upstream(command, fault, mode) as server:
            studio, started = Studio(home / "bad.db", server, slow), time.monotonic()
            items = studio.work()
            assert time.monotonic() - started < SECONDS * slow
            asks = [ask for item in items for ask in item.asks_now]
            assert all((ask.answer is None) == bool(ask.failure) for ask in asks)
            assert all(KEY not in ask.failure and server.url not in ask.excuse for ask in asks)
            if mode == "one":
                assert [outcome(items[place]) for place in (0, 2)] == [good[0], good[2]]
            if fault.usable:
                assert [outcome(item) for item in items] == good
            elif fault.usable is False and mode != "heals":
                hit = [item for item in items if mode == "all" or item.id == command.one]
                assert all(item.failed and item.stage == "measure" and "measure" not in item.results for item in hit)
            server.seed = "well"  # type: ignore[attr-defined]
            while failed := [item for item in items if item.failed]:
                for item in failed:
                    perform(studio.database, studio.campaign, ORGANISER, AskAgain(), item=item.id)
                items = studio.work()
            if fault.usable is False:
                assert [outcome(item) for item in items] == good


STUDIO_CASES = [("studio", fault, mode) for fault in FAULTS for mode in MODES]


@pytest.mark.often("studio-chunks that lie-heals")
@pytest.mark.parametrize(("name", "fault", "mode"), [case for case in STUDIO_CASES if drawn(case) % 200 == 0])
def test_a_sample_of_the_matrix_of_the_studio(name: str, fault: str, mode: str, home: Path) -> None:
    assert name == "studio"
    check_studio(fault, mode, home)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_the_whole_matrix_of_the_studio(fault: str, home: Path) -> None:
    for mode in MODES:
        check_studio(fault, mode, home)


def test_the_comparison_sees_what_happens_to_neighbours() -> None:
    rows: Rows = {("answers", name, 0): {"id": name, "score": 1} for name in "abc"}
    one = ("answers", "b", 0)
    expected = Known(rows, {one}, {one})

    def same(other: Rows) -> bool:
        return expected.others(other) == expected.others(rows)

    first, extra = ("answers", "a", 0), {"id": "x"}
    assert same({key: row for key, row in rows.items() if key != one})
    assert same({**rows, one: {"failure": "no"}, ("evidence", "b", 0): extra})
    assert not same({**rows, first: {"id": "a", "score": 0}})
    assert not same({key: row for key, row in rows.items() if key != first})
    assert not same({**rows, ("evidence", "a", 0): extra})
    assert not same(dict(reversed(rows.items())))


def test_the_table_is_long_enough() -> None:
    assert len(FAULTS) >= 120


def test_every_command_that_asks_a_model_is_in_the_matrix() -> None:
    """All diagnoses are in `diagnose all`; the service and the studio have matrices of their own."""

    def asking(command: click.Command, path: str = "") -> Iterator[str]:
        if isinstance(command, click.Group):
            for name in command.list_commands(click.Context(command)):
                if child := command.get_command(click.Context(command), name):
                    yield from asking(child, f"{path} {name}".strip())
        if any("--attempts" in option.opts for option in command.params):
            yield path

    elsewhere = {"serve", "view"}  # `view` only shows how a text is asked again
    named = {command.arguments.replace("build soft.yaml", "build recipe") for command in COMMANDS.values()}
    missing = {path for path in asking(program) if not any(name.startswith(path) for name in named)} - elsewhere
    assert {path for path in missing if not path.startswith("diagnose ")} == set()
