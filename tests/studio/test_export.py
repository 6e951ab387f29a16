"""The folder that an export makes: `mores bench` runs it, whatever the campaign is called."""

from __future__ import annotations

import io
import json
import shutil
import tracemalloc
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, insert, select

from mores.benchmark import BENCHMARKS, all_in, benchmark
from mores.benchmark.contract import check
from mores.stats import resampling
from mores.studio import files
from mores.studio.campaigns import KINDS
from mores.studio.data import snapshot, stored, tables
from mores.studio.data.exports import make_export
from mores.studio.data.snapshot import read_snapshot
from mores.studio.export import Runnable, bench_folder
from mores.studio.kind import CampaignSettings, slug
from mores.studio.records import Person, Role
from mores.studio.store.campaigns import list_campaigns
from mores.studio.store.database import Database, open_database
from mores.studio.store.items import Campaign, perform, read_items
from mores.studio.store.tables import events, items, votes
from mores.studio.workflow import Cast, Create, Take
from tests.studio.play import Play

COLUMNS = ("data_idx", "question_idx", "prompt_question", *(f"prompt_option_{x}" for x in "abcd"), "answer", "country")
ROWS = "".join(f"{n},{n},In Kenya what is {n}?,one,two,three,four,B,Kenya\n" for n in range(5))


@pytest.mark.parametrize("title", ["Kenya at home", 'He said """no"""\n# x = 1', "文化", "MSQA", "x" * 200])
def test_a_folder_loads_and_passes_every_check(tmp_path: Path, title: str) -> None:
    data = {"CulturalBench-Easy.csv": (",".join(COLUMNS) + "\n" + ROWS).encode()}
    about = "Five questions.\n\n## Fidelity\n\nNone."
    for file in bench_folder(CampaignSettings(title=title), [Runnable("culturalbench:EASY")], data, data, about):
        target = tmp_path / file.path
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(file.read())
    loaded = benchmark(tmp_path)
    assert (loaded.title, loaded.hub, loaded.data) == (title, None, tmp_path / "data")
    assert loaded.name not in BENCHMARKS
    assert [item.region for item in loaded.read(tmp_path / "data", print)] == ["KE"] * 5
    assert [problem for checks in check(tmp_path).values() for each in checks for problem in each.problems] == []


def test_a_folder_of_several_gives_all(tmp_path: Path) -> None:
    runnables = [Runnable("culturalbench:EASY", "easy"), Runnable("culturalbench:HARD", "hard")]
    for file in bench_folder(CampaignSettings(title="Our town"), runnables, {}, {}, ""):
        (tmp_path / file.path).write_bytes(file.read())
    assert [one.name for one in all_in(tmp_path)] == ["our-town-easy", "our-town-hard"]
    assert [one.title for one in all_in(tmp_path)] == ["Our town (easy)", "Our town (hard)"]
    assert [one.name for one in all_in(f"{tmp_path}:our-town-hard")] == ["our-town-hard"]
    assert [one.name for one in all_in("msqa")] == ["msqa"]


def test_slugs_are_plain_and_short() -> None:
    assert slug("  Ñandú & co. – 2026 ") == "nandu-co-2026"
    assert slug("文化") == ""
    assert len(slug("a " * 100)) <= 40


def copy_item(database: Database, item: str, numbers: range) -> None:
    """Write copies of an item with its votes and events."""
    with database.write() as connection:
        for table, name in ((items, "id"), (votes, "item"), (events, "item")):
            known = connection.execute(select(table).where(table.c[name] == item)).mappings().all()
            rows: list[dict[str, Any]] = []
            for number in numbers:
                for row in known:
                    copied = dict(row) | {name: f"copy{number}"}
                    if table is items:
                        copied["state"] = {**row["state"], "id": f"copy{number}"}
                    if table is events:
                        copied["key"] = f"{row['key']}-{number}"
                        del copied["id"]
                    rows.append(copied)
            if rows:
                connection.execute(insert(table), rows)


def judged_item(database: Database, campaign: Campaign) -> str:
    """Return an item that five people have judged."""
    content = {"scene": "s", "question": "q?", "options": ["a", "b", "c", "d"], "correct": ["A"]}
    organiser = Person(id="boss", roles=frozenset({Role.ORGANISER}))
    item = perform(database, campaign, organiser, Create("first", content, "KE", "sw", stage="verify")).item.id
    for number in range(5):
        person = Person(id=f"v{number}", roles=frozenset({Role.VERIFIER}), regions=frozenset({"KE"}))
        perform(database, campaign, person, Take(), item=item)
        perform(database, campaign, person, Cast({"answer": ["A"]}), item=item)
    return item


@pytest.fixture
def in_small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small campaigns are read some at a time, and their exports are on disk, as those of large ones are."""
    for module, name, small in (
        (stored, "KEPT", 0),
        (stored, "PAGE", 20),
        (snapshot, "PAGE", 20),
        (tables, "BATCH", 20),
        (files, "BATCH", 20),
        (files, "SMALL", 4096),
        (resampling, "BLOCK_CELLS", 4096),
    ):
        monkeypatch.setattr(module, name, small)


def peak_of(database: Database, campaign: Campaign, form: str) -> int:
    """The most bytes that an export takes at once."""
    make_export(database, campaign, form, None)  # what is imported and compiled for the first time stays
    tracemalloc.start()
    make_export(database, campaign, form, None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.slow
@pytest.mark.usefixtures("in_small_parts")
@pytest.mark.parametrize("form", ["csv", "pearmut"])
def test_the_memory_of_an_export_does_not_grow_with_the_votes(database: Database, form: str) -> None:
    """An item with five votes takes 15 kB in memory; what an export keeps of it (a number, a name) takes 1 kB."""
    campaign = Play(database, "culturalteaming", regions=["KE"]).campaign
    item = judged_item(database, campaign)
    peaks = []
    for numbers in (range(50), range(50, 200)):
        copy_item(database, item, numbers)
        peaks.append(peak_of(database, campaign, form))
    assert peaks[1] - peaks[0] < 150 * 3000, json.dumps(peaks)


@pytest.mark.slow
@pytest.mark.usefixtures("in_small_parts")
@pytest.mark.parametrize("kind", KINDS)
def test_the_memory_of_what_a_kind_gives_does_not_grow_with_its_items(
    demo_database: Path, tmp_path: Path, kind: str
) -> None:
    """An item of the demo takes 10 to 35 kB with what is made of it; what is kept of it, such as its answers, 3 kB."""
    with closing(open_database(shutil.copy(demo_database, tmp_path / "studio.db"))) as database:
        [campaign] = [each for each in list_campaigns(database) if each.kind.name == kind]
        known, peaks = [item.id for item in read_items(database, campaign)], []
        for first, last in ((0, 5), (5, 20)):
            for number, item in enumerate(known):
                copy_item(database, item, range(100 * number + first, 100 * number + last))
            peaks.append(peak_of(database, campaign, "folder"))
    assert peaks[1] - peaks[0] < 15 * len(known) * 4000, json.dumps(peaks)


@pytest.mark.slow
def test_people_of_other_campaigns_do_not_make_an_export_slower(database: Database) -> None:
    """Whoever acted only elsewhere is not looked for among all events of the campaign."""
    first, other = (Play(database, "culturalteaming", regions=["KE"]).campaign for _ in range(2))
    copy_item(database, judged_item(database, first), range(100))
    steps: list[None] = []
    event.listen(
        database.engine, "checkout", lambda driver, *_: driver.set_progress_handler(lambda: steps.append(None), 100)
    )
    with database.write() as connection:  # of two indexes that seem as good, SQLite takes the newest
        [index] = [each for each in events.indexes if each.name == "ix_events_campaign_id"]
        index.drop(connection)
        index.create(connection)
    steps.clear()
    read_snapshot(database, first)
    alone = len(steps)
    content = {"scene": "s", "question": "q?", "options": ["a", "b", "c", "d"], "correct": ["A"]}
    for number in range(50):
        person = Person(id=f"elsewhere{number}", roles=frozenset({Role.ORGANISER}))
        perform(database, other, person, Create(f"other{number}", content, "KE", "sw", stage="verify"))
    steps.clear()
    read_snapshot(database, first)
    assert 0 < len(steps) < 1.5 * alone


def test_times_are_written_as_python_writes_them() -> None:
    moments = [
        datetime(2026, 11, 18, 21, 50, 1, 20),
        datetime(987, 1, 2, 3, 4),
        datetime(2026, 2, 28, 23, 59, 59, 999_999),
    ]
    zones = [UTC, timezone(timedelta(hours=5, minutes=30)), timezone(-timedelta(hours=3))]
    times = [moment.replace(tzinfo=zone) for moment in moments for zone in zones]
    assert tables.write_times(times) == [time.isoformat() for time in times]
    assert tables.write_times([]) == []


def test_a_large_parquet_table_is_written_in_groups_that_all_have_every_column(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column that later rows have first is empty in the rows before; few rows are one group."""
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = [{"item": f"i{n}", "version": n, "seconds": n / 4, "answer": {"a": n}} for n in range(45)]
    for row in rows[30:]:
        row["answer"] = {"a": None, "b": ["é"]}

    def read() -> parquet.ParquetFile:
        return parquet.ParquetFile(io.BytesIO(tables.ParquetTable(("answer",)).fill(rows).close("").read()))

    assert read().num_row_groups == 1
    monkeypatch.setattr(tables, "BATCH", 1)
    monkeypatch.setattr(tables, "GROUP", 20)
    file = read()
    assert [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)] == [20, 20, 5]
    table = file.read().to_pydict()
    assert list(table) == ["item", "version", "seconds", "answer.a", "answer.b"]
    assert table["version"] == list(range(45))
    assert table["seconds"][44] == 11.0
    assert table["answer.a"] == [*map(str, range(30)), *[None] * 15]
    assert table["answer.b"] == [*[None] * 30, *['["é"]'] * 15]
    empty = parquet.ParquetFile(io.BytesIO(tables.ParquetTable().close("").read()))
    assert empty.metadata.num_rows == 0


def test_columns_come_in_the_order_of_the_rows_that_first_have_them() -> None:
    rows = [
        {f"column {n}": n, "answer": n} for n in range(12)
    ]  # a set of their shapes has another order in every process
    header, *_ = tables.to_csv(rows, ()).decode().splitlines()
    assert header.split(",") == ["column 0", "answer", *(f"column {n}" for n in range(1, 12))]
