"""The studio under pressure: simulated annotators against a real server, on SQLite or PostgreSQL.

    python benchmarks/studio.py                                   # 100 annotators for a minute on SQLite
    python benchmarks/studio.py --database postgresql://…         # the same on PostgreSQL
    python benchmarks/studio.py --kills 20                        # the server is killed 20 times meanwhile
    python benchmarks/studio.py --pages --items 10000             # server time and size of every page
    python benchmarks/studio.py --jobs --items 50000 --people 1000    # exports and figures of 250,000 votes
    python benchmarks/studio.py --jobs --items 16000 --kind marking   # of another kind: its demo, copied
    python benchmarks/studio.py --save                            # and writes results/peers/studio.json

Each annotator takes an item, opens its page and votes, as fast as the server answers. Afterwards the database is
compared with what the server acknowledged: a vote that is missing, doubled or on a full item is a failure (exit 1).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

import aiohttp
from sqlalchemy import insert, select

import mores
from mores.studio.campaigns import open_kind
from mores.studio.data.exports import FORMATS
from mores.studio.demo import fill as fill_demo
from mores.studio.records import Person, Role
from mores.studio.serve import find_owner
from mores.studio.store import tables
from mores.studio.store.campaigns import list_campaigns, make_campaign, read_settings
from mores.studio.store.database import Database, open_database
from mores.studio.store.items import Campaign, append, read_items
from mores.studio.store.people import PersonProfile, add_member, add_person, sign_in
from mores.studio.store.tables import events
from mores.studio.web.visit import COOKIE
from mores.studio.workflow import Cast, Create, Take, act, apply

TOKEN = re.compile(r'name="csrf" value="([^"]+)"')
KEY = re.compile(r'name="key" value="([^"]+)"')
LOOK = 5
"""Seconds of the server's processor time between looks at a job: each takes some, too, and by the clock there would be
more of them the busier the machine is."""
REST = 0.1
"""Seconds of processor time in two seconds below which the server has nothing to do; it looks for work now and then."""


@dataclass
class Crowd:
    """What the annotators did, and what the server said."""

    address: str
    campaign: str
    sent: set[tuple[str, str]] = field(default_factory=set)
    """Person and item of every vote that was sent."""
    acknowledged: list[tuple[str, str]] = field(default_factory=list)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    refused: Counter[int] = field(default_factory=Counter)
    until: float = 0.0
    wanted: float = math.inf
    """How many votes are enough."""

    @property
    def over(self) -> bool:
        """Whether everybody may stop."""
        return time.monotonic() > self.until or len(self.acknowledged) >= self.wanted

    async def call(self, session: aiohttp.ClientSession, name: str, method: str, path: str, **values: Any) -> Any:
        """One request; where the server is gone, again until it is back. None where the time is over."""
        while True:
            start = time.perf_counter()
            try:
                async with session.request(method, self.address + path, allow_redirects=False, **values) as response:
                    text = await response.text()
            except (TimeoutError, aiohttp.ClientError, OSError):
                if time.monotonic() > self.until + 30:
                    return None
                await asyncio.sleep(0.05)
                continue
            self.seconds.setdefault(name, []).append(time.perf_counter() - start)
            return response, text

    async def annotate(self, person: str, cookie: str) -> None:
        """Work until the time is over or nothing is left."""
        cookies = {COOKIE: cookie}
        timeout = aiohttp.ClientTimeout(total=60)
        async with aiohttp.ClientSession(cookies=cookies, timeout=timeout) as session:
            home = await self.call(session, "home", "GET", f"/c/{self.campaign}")
            token = TOKEN.search(home[1])[1]  # type: ignore[index]
            while not self.over:
                taken = await self.call(session, "next", "POST", f"/c/{self.campaign}/next", data={"csrf": token})
                if taken is None or "nothing" in taken[0].headers.get("Location", ""):
                    return
                if taken[0].status != 303:
                    self.refused[taken[0].status] += 1
                    continue
                await self.vote(session, person, token, taken[0].headers["Location"])

    async def vote(self, session: aiohttp.ClientSession, person: str, token: str, path: str) -> None:
        """Open an item and answer it."""
        page = await self.call(session, "item", "GET", path)
        match = KEY.search(page[1]) if page else None
        if match is None:
            return
        item = path.rsplit("/", 1)[1]
        self.sent.add((person, item))
        data = {"csrf": token, "key": match[1], "answer": "A", "seconds": "3"}
        answer = await self.call(session, "vote", "POST", f"{path}/vote", data=data)
        if answer is None:
            return
        if answer[0].status == 303:
            self.acknowledged.append((person, item))
        else:
            self.refused[answer[0].status] += 1


def prepare(
    database: Database, people: int, items: int, *, judged: bool = False
) -> tuple[Campaign, list[tuple[str, str]], str]:
    """A campaign with items that wait for verifiers; the verifiers with their cookies, and the organiser's."""
    kind = open_kind("culturalteaming")
    settings = read_settings(kind, {"title": "Under pressure", "regions": ["KE"]})
    campaign = make_campaign(database, kind, settings)
    with database.write() as connection:
        owner = add_person(connection, PersonProfile(name="Organiser"), organises=True)
        profile = {"nationality": ("KE",), "home": ("KE",), "languages": ("sw",)}
        crowd = [
            add_person(connection, PersonProfile(name=f"Verifier {number}", **profile)) for number in range(people)
        ]
    add_member(database, campaign, owner, Role.ORGANISER)
    for person in crowd:
        add_member(database, campaign, person, Role.VERIFIER)
    fill(database, campaign, owner, crowd, items, judged=judged)
    return campaign, [(person, sign_in(database, person)) for person in crowd], sign_in(database, owner)


def fill(database: Database, campaign: Campaign, owner: str, crowd: Sequence[str], items: int, *, judged: bool) -> None:
    """Make items that wait for verifiers, or that as many have judged as the campaign wants; by the real rules."""
    organiser = Person(id=owner, roles=frozenset({Role.ORGANISER}))
    verifier = {"roles": frozenset({Role.VERIFIER}), "regions": frozenset({"KE"}), "languages": frozenset({"sw"})}
    chance = random.Random(0)
    at = datetime.now(UTC) - timedelta(days=30)
    for first in range(0, items, 500):
        with database.write() as connection:
            for number in range(first, min(first + 500, items)):
                at += timedelta(seconds=10)
                content = {
                    "scene": "A scene.",
                    "question": f"Question {number}?",
                    "options": ["a", "b", "c", "d"],
                    "correct": ["A"],
                }
                create = Create(f"{number:012x}", content, "KE", "sw", stage="verify")
                added = list(act(campaign.flow, None, organiser, create, at, f"c{number}"))
                item = None
                for event in added:
                    item = apply(item, event)
                for place in range(campaign.settings.verifiers if judged else 0):
                    person = Person(id=crowd[(number + place) % len(crowd)], **verifier)
                    answer = Cast({"answer": [chance.choice("AAAAAABCD")]}, seconds=chance.uniform(5, 60))
                    for action, after in ((Take(), 0), (answer, 60)):
                        moment = at + timedelta(seconds=after + place)
                        for event in act(campaign.flow, item, person, action, moment, f"{number}-{place}-{after}"):
                            item = apply(item, event)
                            added.append(event)
                append(connection, campaign, None, added)


def copy_demo(database: Database, name: str, items: int) -> tuple[Campaign, str]:
    """The demo campaign of a kind, whose items are copied until there are about so many; the organiser's cookie."""
    with database.write() as connection:
        owner = add_person(connection, PersonProfile(name="Organiser"), organises=True)
    [campaign] = [each for each in fill_demo(database, owner) if each.kind.name == name]
    times = items // len(list(read_items(database, campaign)))
    for table, of in ((tables.items, "id"), (tables.votes, "item"), (tables.events, "item")):
        rows = [row._asdict() for row in database.fetch(select(table).where(table.c.campaign == campaign.id))]
        for number in range(1, times):
            copies = [row | {of: f"{number:05x}{row[of][5:]}"} for row in rows]
            for copy in copies:
                if table is tables.items:
                    copy["state"] = copy["state"] | {"id": copy["id"]}
                if table is tables.events:
                    del copy["id"]
                    copy["key"] = f"{number}-{copy['key']}"
            with database.write() as connection:
                connection.execute(insert(table), copies)
    return campaign, sign_in(database, owner)


def cpu_seconds(process: int) -> float:
    """The processor time of a process so far; not a number where the system does not tell it (Linux does)."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return math.nan
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Server:
    """The studio in a process of its own."""

    def __init__(self, database: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.database = database
        self.address = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None
        self.cpu = 0.0
        """Seconds of processor time since it listens, of all its processes so far; without what starting takes."""

    def start(self) -> None:
        """Start it; returns when it listens."""
        code = "from mores.cli import main; main()"
        options = ["studio", "--database", self.database, "--port", str(self.port), "--model", "none", "--no-demo"]
        self.process = subprocess.Popen([sys.executable, "-c", code, *options], stdout=subprocess.DEVNULL)
        used, deadline = 0.0, time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                self.cpu -= cpu_seconds(self.process.pid)
                return
            except OSError:
                if (status := self.process.poll()) is not None:
                    raise RuntimeError(f"the studio ended with code {status}") from None
                if used < (now := cpu_seconds(self.process.pid)) < 60:  # it works, if slowly: others may be busy
                    used, deadline = now, time.monotonic() + 60
                if time.monotonic() > deadline:
                    self.process.kill()  # nobody else would end it
                    raise RuntimeError("the studio did not start within a minute of work") from None
                time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it."""
        assert self.process is not None
        self.cpu += cpu_seconds(self.process.pid)
        self.process.send_signal(how)
        self.process.wait(30)


async def press(server: Server, crowd: Crowd, people: Sequence[tuple[str, str]], seconds: float, kills: int) -> None:
    """Let everybody work for a while, killing the server now and then: by the clock, or by the votes so far."""
    crowd.until = time.monotonic() + seconds
    work = [asyncio.create_task(crowd.annotate(person, cookie)) for person, cookie in people]
    lottery = random.Random(0)
    for number in range(kills):
        if math.isinf(crowd.wanted):
            await asyncio.sleep(seconds / (kills + 1) * lottery.uniform(0.5, 1.0))
        while len(crowd.acknowledged) < crowd.wanted * (number + 1) / (kills + 1) and not math.isinf(crowd.wanted):
            await asyncio.sleep(0.05)
            assert time.monotonic() < crowd.until, "too slow"
        left, crowd.until = crowd.until - time.monotonic(), math.inf  # nobody can work without a server
        await asyncio.to_thread(server.stop, signal.SIGKILL)
        await asyncio.to_thread(server.start)
        crowd.until = time.monotonic() + left
    await asyncio.gather(*work)


def audit(database: Database, campaign: Campaign, crowd: Crowd) -> list[str]:
    """What is wrong between what the server acknowledged and what the database holds."""
    query = select(events.c.person, events.c.item).where(events.c.campaign == campaign.id, events.c.kind == "voted")
    with database.read() as connection:
        written = Counter((row.person, row.item) for row in connection.execute(query))
    problems = [f"lost: {pair}" for pair in crowd.acknowledged if pair not in written]
    problems += [f"doubled: {pair}" for pair, count in written.items() if count > 1]
    problems += [f"never sent: {pair}" for pair in written if pair not in crowd.sent]
    for item in read_items(database, campaign):
        if len(item.votes) > campaign.settings.verifiers:
            problems.append(f"too many votes: {item.id}")
    return problems


def pages(
    server: Server, campaign: Campaign, people: Sequence[tuple[str, str]], organiser: str
) -> list[dict[str, Any]]:
    """How long the server takes for each page, and how long the page is."""

    async def measure() -> list[dict[str, Any]]:
        rows = []
        base = f"/c/{campaign.id}"
        async with aiohttp.ClientSession(cookies={COOKIE: people[0][1]}) as person:
            home = await (await person.get(server.address + base)).text()
            token = TOKEN.search(home)[1]  # type: ignore[index]
            taken = await person.post(f"{server.address}{base}/next", data={"csrf": token}, allow_redirects=False)
            item = taken.headers["Location"]
            async with aiohttp.ClientSession(cookies={COOKIE: organiser}) as boss:
                plan = [(person, path) for path in ("/", base, item, "/me")]
                plan += [
                    (boss, path) for path in (f"{base}/overview", f"{base}/items", f"{base}/people", f"{item}/life")
                ]
                for session, path in plan:
                    times, size = [], 0
                    for _ in range(20):
                        start = time.perf_counter()
                        response = await session.get(server.address + path)
                        size = len(await response.read())
                        times.append(time.perf_counter() - start)
                        assert response.status == 200, (path, response.status)
                    rows.append({"page": path, "ms": 1000 * median(times), "bytes": size})
        return rows

    return asyncio.run(measure())


def peak_memory(process: int) -> float:
    """The most memory that a process has had, in megabytes; not a number where the system does not tell it."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except FileNotFoundError:
        return math.nan
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


async def see_work(process: int) -> None:
    """Return when a process has worked for `LOOK` seconds, or rests."""
    used = before = cpu_seconds(process)
    while True:
        await asyncio.sleep(2)
        now = cpu_seconds(process)
        if now - before < REST or now >= used + LOOK:
            return
        before = now


def measure_jobs(server: Server, campaign: Campaign, organiser: str, forms: Sequence[str]) -> list[dict[str, Any]]:
    """Processor time and memory of the figures and of each export, how soon its page answers, and others meanwhile."""
    assert server.process is not None
    process, base = server.process.pid, f"{server.address}/c/{campaign.id}"

    async def measure() -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = [{"job": "at rest", "peak_mb": peak_memory(process)}]
        async with aiohttp.ClientSession(cookies={COOKIE: organiser}) as boss:
            page = await (await boss.get(f"{base}/data")).text()
            token = TOKEN.search(page)[1]  # type: ignore[index]
            for name in (*forms, "figures"):
                before, start, others = cpu_seconds(process), time.perf_counter(), []
                if name == "figures":
                    answer = await boss.get(f"{base}/figures")
                    path = f"{base}/figures"
                else:
                    answer = await boss.post(f"{base}/export", data={"csrf": token, "format": name})
                    path = str(answer.url)
                text = await answer.read()
                first = time.perf_counter() - start
                while b'http-equiv="refresh"' in text:
                    await see_work(process)
                    asked = time.perf_counter()
                    await (await boss.get(f"{base}/items")).read()
                    others.append(time.perf_counter() - asked)
                    text = await (await boss.get(path)).read()
                row: dict[str, Any] = {"job": name, "answers_after_s": first}
                row |= {"ready_after_s": time.perf_counter() - start, "cpu_s": cpu_seconds(process) - before}
                row |= {"peak_mb": peak_memory(process), "other_pages_ms": 1000 * median(others) if others else None}
                rows.append(row)
        return rows

    return asyncio.run(measure())


def show_jobs(rows: Sequence[dict[str, Any]]) -> str:
    """Return what jobs took as a table of Markdown; the first row is the server at rest."""
    head = {
        "job": "job",
        "cpu_s": "CPU, s",
        "peak_mb": "peak of the process so far, MB",
        "answers_after_s": "page answers after, s",
        "ready_after_s": "ready after, s",
        "other_pages_ms": "other pages meanwhile, ms",
    }
    cells = [[row.get(name) for name in head] for row in rows]
    shown = [[f"{cell:,.1f}" if isinstance(cell, float) else str(cell or "–") for cell in line] for line in cells]
    lines = [list(head.values()), ["---", *["---:"] * (len(head) - 1)], *shown]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def summary(crowd: Crowd, seconds: float, cpu: float) -> dict[str, Any]:
    """Throughput, latency, and the server's processor time for each vote: what another load on the machine leaves."""
    latencies = {
        name: {"n": len(times), "p50_ms": 1000 * median(times), "p95_ms": 1000 * sorted(times)[int(0.95 * len(times))]}
        for name, times in crowd.seconds.items()
    }
    votes = len(crowd.acknowledged)
    each = 1000 * cpu / votes if votes and not math.isnan(cpu) else None
    figures: dict[str, Any] = {"votes": votes, "votes_per_second": votes / seconds, "server_cpu_ms_per_vote": each}
    return figures | {"refused": dict(crowd.refused), "requests": latencies}


def save(result: dict[str, Any], kind: str, people: int) -> None:
    """Write the results file; there is no peer to compare with."""
    import peers  # beside this file, which tests load from elsewhere

    figures = {
        "votes/s (more is better)": {"Mores": result["votes_per_second"]},
        "server's CPU ms per vote": {"Mores": result["server_cpu_ms_per_vote"]},
        "95% of votes are answered within, ms": {"Mores": result["requests"]["vote"]["p95_ms"]},
    }
    peers.save("studio", f"Studio: {people} annotators at once, {kind}", {"Mores": mores.__version__}, figures)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run it and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", help="an SQLite path or postgresql://…; a temporary file otherwise")
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--items", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--votes", type=int, help="stop after so many, however long it takes up to --seconds")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--pages", action="store_true", help="measure pages instead")
    parser.add_argument("--jobs", action="store_true", help="measure figures and exports of judged items instead")
    parser.add_argument("--kind", help="with --jobs: items of this kind's demo, copied, in place of such questions")
    parser.add_argument("--formats", nargs="+", default=list(FORMATS), help="exports that --jobs makes")
    parser.add_argument("--json", action="store_true", help="print what --jobs measures as JSON, not as a table")
    parser.add_argument("--save", action="store_true", help="write the results file and the table of README.md")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        address = chosen.database or str(Path(folder, "studio.db"))
        database = open_database(address)
        known = [each for each in list_campaigns(database) if chosen.kind in (None, each.kind.name)]
        if chosen.jobs and known:  # filled before, which takes longer than measuring
            people: list[tuple[str, str]] = []
            campaign, organiser = known[0], sign_in(database, find_owner(database))
        elif chosen.jobs and chosen.kind:
            people, (campaign, organiser) = [], copy_demo(database, chosen.kind, chosen.items)
        else:
            campaign, people, organiser = prepare(database, chosen.people, chosen.items, judged=chosen.jobs)
        server = Server(address)
        server.start()
        try:
            if chosen.jobs:
                rows = measure_jobs(server, campaign, organiser, chosen.formats)
                print(json.dumps(rows, indent=2) if chosen.json else show_jobs(rows))
                return
            if chosen.pages:
                print(json.dumps(pages(server, campaign, people, organiser), indent=2))
                return
            crowd = Crowd(server.address, campaign.id, wanted=chosen.votes or math.inf)
            start = time.monotonic()
            asyncio.run(press(server, crowd, people, chosen.seconds, chosen.kills))
            seconds = time.monotonic() - start
        finally:
            server.stop()
        problems = audit(database, campaign, crowd)
        kind = "SQLite" if database.sqlite else "PostgreSQL"
        database.close()
    result = summary(crowd, seconds, server.cpu)
    print(json.dumps({"database": kind, "problems": problems} | result, indent=2))
    if chosen.save and not problems:
        save(result, kind, chosen.people)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
