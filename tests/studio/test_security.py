"""The studio in a hostile world: headers, cookies, passwords, limits, bodies, logs and secrets."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from argon2 import PasswordHasher
from fastapi import Request
from httpx2 import Response
from sqlalchemy import select, text, update
from starlette.testclient import TestClient
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from mores.cli.servers import studio
from mores.errors import InputError
from mores.studio import serve
from mores.studio.records import Role
from mores.studio.store import passwords
from mores.studio.store.database import Database, open_database
from mores.studio.store.people import find_account, find_invitation, invite
from mores.studio.store.tables import audit, metadata, people
from mores.studio.web.security import HEADERS, LONGEST_BODY, TOKEN_HEADER, Limiter, token_for
from mores.studio.web.visit import COOKIE, MOST_FIELDS
from mores.studio.workflow import Refused
from tests.studio.play import ADDRESS, Play, Player

EMAIL, PASSWORD = "amina@example.org", "karibu nyumbani kwetu"


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    database = open_database(tmp_path_factory.mktemp("security") / "studio.db")
    play = Play(database, "culturalteaming", regions=["Kenya"])

    @play.app.get("/breaks")
    def breaks() -> None:
        raise RuntimeError("a bug")

    yield play
    database.close()


@pytest.fixture(autouse=True)
def quick(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is slowed down by what another test did, or by hashes that are hard to make."""
    play.app.state.studio = replace(play.app.state.studio, limiter=Limiter())
    monkeypatch.setattr(passwords, "_HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


@pytest.fixture(scope="module")
def author(play: Play) -> Player:
    author = play.person(Role.AUTHOR, "Amina")
    with play.database.write() as connection:
        connection.execute(update(people).where(people.c.name == "Amina").values(email=EMAIL))
    return author


def post(browser: TestClient, play: Play, path: str, **sent: Any) -> Response:
    """Send something with this browser's own token."""
    if COOKIE not in browser.cookies:
        browser.get("/login")
    headers = {TOKEN_HEADER: token_for(play.app.state.studio.key, browser.cookies[COOKIE])} | sent.pop("headers", {})
    return browser.post(path, headers=headers, follow_redirects=False, **sent)


def test_every_answer_has_the_headers(play: Play, author: Player) -> None:
    stranger = TestClient(play.app, base_url=ADDRESS, raise_server_exceptions=False, follow_redirects=False)
    answers = {
        200: stranger.get("/login"),
        303: stranger.get("/"),
        404: stranger.get("/nowhere"),
        405: stranger.delete("/login"),
        403: stranger.post("/login"),
        400: stranger.get("/login", headers={"host": "a[b"}),
        413: stranger.post("/login", content=b"x" * (LONGEST_BODY + 1)),
        422: author.browser.get("/c/x/items?start=abc", follow_redirects=False),
        500: stranger.get("/breaks"),
    }
    for status, answer in answers.items():
        assert answer.status_code == status or status == 422, (status, answer.status_code)
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS, status
        assert answer.headers["cache-control"], status
        assert "strict-transport-security" not in answer.headers
    assert "a bug" not in answers[500].text
    assert "RuntimeError" not in answers[500].text
    static = stranger.get("/static/studio.css")
    assert {name: static.headers.get(name) for name in HEADERS} == HEADERS
    for path in ("/static/../security.py", "/static/%2e%2e/security.py", "/static/..%2fapp.py", "/static//etc/passwd"):
        assert stranger.get(path).status_code == 404
    policy = dict(part.strip().split(" ", 1) for part in HEADERS["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_cookies_are_for_this_site_and_no_script(play: Play, scheme: str) -> None:
    """By HTTPS they are sent by HTTPS only: also behind a server on the same machine that says so."""
    direct = TestClient(play.app, base_url=f"{scheme}://studio.test").get("/login")
    proxied: Any = ProxyHeadersMiddleware  # its types are narrower than the test client's
    trusting = proxied(play.app, trusted_hosts="testclient")
    behind = TestClient(trusting, base_url=ADDRESS).get("/login", headers={"X-Forwarded-Proto": scheme})
    for answer in (direct, behind):
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=lax" in cookie
        assert ("secure" in cookie) == (scheme == "https")
        assert ("strict-transport-security" in answer.headers) == (scheme == "https")
    wary = proxied(play.app, trusted_hosts="127.0.0.1")
    forged = TestClient(wary, base_url=ADDRESS).get("/login", headers={"X-Forwarded-Proto": "https"})
    assert "secure" not in forged.headers["set-cookie"].lower(), "only a server that is trusted says how people came"


@pytest.mark.usefixtures("author")
def test_signing_in_changes_the_cookie_and_signing_out_ends_the_session(play: Play) -> None:
    passwords.set_password(play.database, _id(play), PASSWORD, PASSWORD)
    browser = play.browser()
    browser.cookies.set(COOKIE, "planted-by-somebody-else")
    answer = post(browser, play, "/login", data={"email": EMAIL.upper(), "password": PASSWORD})
    assert answer.headers["location"] == "/"
    session = answer.cookies[COOKIE]
    assert session != "planted-by-somebody-else"
    assert find_account(play.database, "planted-by-somebody-else") is None
    signed_in = play.browser()
    signed_in.cookies.set(COOKIE, session)
    left = post(signed_in, play, "/logout")
    assert find_account(play.database, session) is None
    assert left.cookies[COOKIE] != session
    kept = play.browser()
    kept.cookies.set(COOKIE, session)
    assert kept.get("/me").url.path == "/login"


def _id(play: Play) -> str:
    with play.database.read() as connection:
        return str(connection.execute(select(people.c.id).where(people.c.email == EMAIL)).scalar_one())


@pytest.mark.usefixtures("author")
def test_passwords_are_limited_by_address_and_by_account(play: Play) -> None:
    def guess(email: str, address: str) -> int:
        browser = TestClient(play.app, base_url=ADDRESS, client=(address, 5000))
        return post(browser, play, "/login", data={"email": email, "password": "guessed guessed"}).status_code

    assert [guess(f"p{number}@example.org", "10.0.0.1") for number in range(21)] == [422] * 20 + [429]
    for email in (EMAIL, "nobody@example.org"):
        codes = [guess(f" {email.upper()} ", f"10.0.1.{number}") for number in range(11)]
        assert codes == [422] * 10 + [429], "whether there is such an account does not matter"


def test_invitations_are_limited_by_address(play: Play) -> None:
    browser = TestClient(play.app, base_url=ADDRESS, client=("10.0.0.2", 5000))
    codes = (browser.get(f"/join/guess-{number}").status_code for number in range(1000))
    assert next(codes) == 409
    assert 429 in codes, "a busy machine only takes longer to get there"


@pytest.mark.usefixtures("author")
def test_a_guess_takes_as_long_where_there_is_nobody(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in hashes, which are all that takes time; without an address nobody is looked at."""

    class Counting(PasswordHasher):
        count = 0

        def hash(self, *args: Any, **options: Any) -> str:
            Counting.count += 1
            return super().hash(*args, **options)

        def verify(self, *args: Any, **options: Any) -> Any:
            Counting.count += 1
            return super().verify(*args, **options)

    monkeypatch.setattr(passwords, "_HASHER", Counting(time_cost=1, memory_cost=8, parallelism=1))
    passwords.set_password(play.database, _id(play), PASSWORD, PASSWORD)
    counts = []
    for email in (EMAIL, "nobody@example.org", ""):
        Counting.count = 0
        with pytest.raises(Refused):
            passwords.check_password(play.database, email, "guess")
        counts.append(Counting.count)
    assert counts == [1, 1, 1]
    with pytest.raises(InputError, match="e-mail"):
        passwords.set_password(play.database, play.organiser_id, PASSWORD)


def test_limits_fill_again_and_take_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    limiter = Limiter()
    assert [limiter.allows("account", "a", 0.0) for _ in range(11)] == [True] * 10 + [False]
    assert not limiter.allows("account", "a", 11.0)
    assert limiter.allows("account", "a", 13.0)
    monkeypatch.setattr(Limiter, "MOST", 50)
    for number in range(500):
        limiter.allows("read", f"{number}" * 1000, 20.0)
    kept = limiter._buckets
    assert len(kept) == 50
    assert max(len(name) for _, name in kept) <= 64


def chunks(part: bytes, count: int) -> Iterator[bytes]:
    for _ in range(count):
        yield part


FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=x"
FIELD = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n'
BODIES: dict[str, tuple[int, str, Any]] = {
    "chunks": (413, FORM, lambda: chunks(b"a=" + b"b" * 100_000 + b"&", 12)),
    "chunks of a file": (413, MULTIPART, lambda: chunks(FIELD * 2000, 12)),
    "many fields": (413, FORM, lambda: b"a&" * 400_000),
    "many parts": (400, MULTIPART, lambda: FIELD * (MOST_FIELDS + 1) + b"--x--"),
    "many files": (400, MULTIPART, lambda: FIELD.replace(b'"a"', b'"a"; filename="b"') * 6 + b"--x--"),
    "no boundary": (400, "multipart/form-data", lambda: FIELD),
    "a long header": (400, MULTIPART, lambda: b"--x\r\n" + b"A: b\r\n" * 100_000),
    "no end": (422, MULTIPART, lambda: FIELD),
    "surrogates": (415, f"{MULTIPART}; charset=utf-7", lambda: FIELD.replace(b"b", b"+2AA-") + b"--x--"),
    "no such encoding": (415, f"{MULTIPART}; charset=undefined", lambda: FIELD + b"--x--"),
    "an encoding of numbers": (415, f"{MULTIPART}; charset=punycode", lambda: FIELD + b"--x--"),
    "bytes": (422, MULTIPART, lambda: FIELD.replace(b"b", b"\xff\x00\xfe") + b"--x--"),
    "JSON": (422, "application/json", lambda: b"[" * 900_000),
    "nothing": (422, "", lambda: b""),
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies_are_bounded(play: Play, name: str) -> None:
    status, kind, body = BODIES[name]
    began = time.process_time()
    answer = post(play.browser(), play, "/login", content=body(), headers={"content-type": kind})
    assert answer.status_code == status, answer.text
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("path", "codes"),
    [
        ("/items?start=99999999999999999999999999", {200}),
        ("/items?start=-5&stage=%00&status='%3B--", {200}),
        ("/items?start=nothing", {422}),
        ("/audit?before=99999999999999999999999999", {200}),
        ("/items/%00%ff/life", {404}),
        ("/people/%00", {404}),
        ("/people/..%2f..%2fme", {404}),
        ("/exports/%f0%9f%92%a3", {404}),
        ("/items?author=%ed%a0%80", {200}),
        ("/disagreements?item=%00", {200, 404}),
        (f"/items/{'9' * 5000}", {404}),
    ],
)
def test_odd_addresses_are_answered(play: Play, path: str, codes: set[int]) -> None:
    organiser = play.organiser()
    assert organiser.open(path).status_code in codes
    assert organiser.browser.get("/login", headers={"content-length": "9" * 5000}).status_code == 413
    assert organiser.browser.get("/login?lang=../../x%00").status_code == 200


def test_it_listens_on_this_machine_only_unless_told_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    configs: list[uvicorn.Config] = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda server, _sockets: configs.append(server.config))
    runner = CliRunner()
    told = ["--database", str(tmp_path / "s.db"), "--model", "none"]
    assert runner.invoke(studio, told).exit_code == 0
    warned = runner.invoke(studio, [*told, "--host", "0.0.0.0"])
    assert [config.host for config in configs] == ["127.0.0.1", "0.0.0.0"]
    assert "other machines" in warned.stderr
    assert not configs[0].access_log, "addresses have invitations in them"
    assert configs[0].proxy_headers
    trusted = str(configs[0].forwarded_allow_ips).split(",")
    assert set(trusted) <= {"127.0.0.1", "::1"}, "who is trusted to say how people came"


@pytest.mark.usefixtures("author")
def test_no_secret_is_in_logs_or_in_errors(
    play: Play, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """Everything is logged, and a statement fails: neither shows a password, cookie, invitation or token."""
    for name in (
        "",
        "sqlalchemy",
        "uvicorn",
        "fastapi",
        "starlette",
        "python_multipart",
        "alembic",
        "asyncio",
        "mores",
    ):
        caplog.set_level(logging.DEBUG, logger=name)
    invitation = invite(play.database, play.campaign, Role.AUTHOR, play.organiser_id)
    passwords.set_password(play.database, _id(play), PASSWORD, PASSWORD)
    browser = TestClient(play.app, base_url=ADDRESS, raise_server_exceptions=False)
    browser.get(f"/join/{invitation}")
    session = post(browser, play, "/login", data={"email": EMAIL, "password": PASSWORD}).cookies[COOKIE]
    browser.get("/breaks")
    with pytest.raises(Exception) as failed, play.database.write() as connection:
        connection.execute(text("INSERT INTO nowhere VALUES (:secret)"), {"secret": session})
    server = [record for record in caplog.records if not record.name.startswith("httpx")]  # the test's own browser
    shown = "\n".join(record.getMessage() for record in server) + "".join(capsys.readouterr())
    assert "SELECT" in shown, "statements are logged"
    token = token_for(play.app.state.studio.key, session)
    for secret in (invitation, session, token, PASSWORD, play.app.state.studio.key):
        assert secret not in shown
        assert secret not in str(failed.value)


def test_the_audit_log_says_who_signed_in_invited_exported_and_deleted(database: Database) -> None:
    play = Play(database, "culturalteaming", regions=["Kenya"])
    leaver = play.person(Role.AUTHOR, "Amina")
    organiser = play.organiser()
    organiser.open("/people")
    organiser.send("/invite", role="author")
    organiser.open("/data")
    organiser.send("/export", format="jsonl")
    organiser.open("/people/time.csv")
    leaver.open("/me")
    leaver.send("/me/delete", sure="yes")
    with database.read() as connection:
        lines = [(row.person, row.action) for row in connection.execute(select(audit).order_by(audit.c.id))]
    [person] = {who for who, _ in lines} - {play.organiser_id}
    assert {(person, "joined"), (person, "signed in"), (person, "deleted their data")} <= set(lines)
    assert {(play.organiser_id, action) for action in ("signed in", "invited", "exported")} <= set(lines)
    assert "exported" in organiser.open("/audit").text


def test_a_key_for_models_reaches_neither_pages_nor_the_database(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where the model's server repeats it in an error."""
    key = "sk-planted-secret-1234567890"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with echoing() as address:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
        play = Play(database, "culturalteaming", model="openai:some-model", regions=["Kenya"])
        author = play.person(Role.AUTHOR, "Amina")
        author.open("/new")
        author.send("/items", scene="Guests get tea first.", then="ask:draft")
        item = author.item
        play.answer()
    assert play.read(item).asks[0].failure, "the server refuses"
    pages = [author.open(f"/items/{item}").text, play.organiser().open(f"/items/{item}/life").text]
    with database.read() as connection:
        rows = [str(row) for table in metadata.sorted_tables for row in connection.execute(select(table))]
    assert not any(key in shown for shown in (*pages, *rows))


def echoing() -> Any:
    """A server that answers with what it was sent, as an error."""
    from fastapi import FastAPI
    from fastapi.responses import JSONResponse

    from tests.studio.serving import serving

    server = FastAPI()

    @server.post("/v1/{path:path}")
    def refuse(path: str, request: Request) -> JSONResponse:
        message = f"{path}: not allowed for {request.headers.get('authorization')}"
        return JSONResponse({"error": {"message": message, "type": "invalid_request_error"}}, 401)

    return serving(server)


def test_the_database_is_for_its_owner_alone(tmp_path: Path) -> None:
    start = serve.prepare(tmp_path / "new" / "studio.db")
    mode = (tmp_path / "new" / "studio.db").stat().st_mode & 0o777
    token = start.links["organiser"].rpartition("/")[2]
    assert find_invitation(start.database, token).uses_left == 1
    start.database.close()
    assert mode == 0o600
    assert token.encode() not in (tmp_path / "new" / "studio.db").read_bytes()
