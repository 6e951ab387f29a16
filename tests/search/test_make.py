"""`mores corpus`: one file from dumps, tables, texts, PDFs and web pages, filtered."""

from __future__ import annotations

import bz2
import json
import os
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import mores
from mores.engine.loop import run
from mores.errors import ConfigError, InputError, StoreError
from mores.search import Query, open_search, search_or_corpus
from mores.search.corpus import Corpus
from mores.search.dense import DenseCorpus
from mores.search.wiki import plain_text, read_dump
from tests.cli.conftest import Run, home
from tests.cli.conftest import mores as run_mores
from tests.search.concepts import Concepts

__all__ = ["home", "run_mores"]

DUMP = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" xml:lang="en">
<siteinfo><sitename>Wikipedia</sitename><base>https://en.wikipedia.org/wiki/Main_Page</base></siteinfo>
<page><title>Kava culture</title><ns>0</ns><revision><text>{{Infobox|{{x}}|image=a.jpg}}'''Kava''' is drunk in [[Fiji]]
at a ceremony.&lt;ref name="a"&gt;{{cite}}&lt;/ref&gt; [[File:Kava.jpg|thumb|A [[bowl]] of kava]]

== Custom ==
* Guests [[clapping|clap]] once ([[help:IPA|/k/]]).
{| class="wikitable"
|-
| a || b
|}
== References ==
* A book.</text></revision></page>
<page><title>Talk:Kava</title><ns>1</ns><revision><text>Is this so?</text></revision></page>
<page><title>Yaqona</title><ns>0</ns><revision><text>#REDIRECT [[Kava culture]]</text></revision></page>
<page><title>Tea in Japan</title><ns>0</ns><revision><text>Tea is drunk in Japan.</text></revision></page>
</mediawiki>"""
GENSIM = os.environ.get("MORES_GENSIM_DATA", "")


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("mores.search.web.PAUSE", 0.0)


def texts(path: Path) -> list[dict[str, Any]]:
    corpus = Corpus(path)
    return [corpus.passage(place) for place in range(len(corpus))]


def test_articles_are_plain_text_with_their_address(tmp_path: Path) -> None:
    (tmp_path / "dump.xml.bz2").write_bytes(bz2.compress(DUMP.encode()))
    kava, tea = read_dump(tmp_path / "dump.xml.bz2")
    assert kava.text == "Kava is drunk in Fiji\nat a ceremony.\n\nCustom\n\nGuests clap once."
    assert (kava.title, kava.source) == ("Kava culture", "https://en.wikipedia.org/wiki/Kava_culture")
    assert (tea.language, tea.licence) == ("en", "CC-BY-SA-4.0")


@pytest.mark.parametrize(
    ("wikitext", "plain"),
    [
        ("a {{b|{{c}}}} d", "a  d"),
        ("a {{b never closed\n\nNext.", "a Next."),
        ("}} a ]] b", "}} a  b"),
        ("[[A|b]]s [[c]] [[:Category:D|e]] [[Category:F]] [https://x.example g]", "bs c e  g"),
        ("''a'' <br/>b<small>c</small><!-- d -->", "a\nbc"),
        ("&amp;nbsp;x", "&nbsp;x"),
    ],
)
def test_wikitext(wikitext: str, plain: str) -> None:
    assert plain_text(wikitext) == plain


def test_a_damaged_dump_says_where(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(DUMP[:500])
    with pytest.raises(InputError, match=r"a\.xml: damaged after page 0"):
        list(read_dump(tmp_path / "a.xml"))
    (tmp_path / "a.xml.bz2").write_bytes(bz2.compress(DUMP.encode())[:-20])
    with pytest.raises(InputError, match="damaged"):
        list(read_dump(tmp_path / "a.xml.bz2"))


def test_a_real_dump(tmp_path: Path) -> None:
    found = sorted(Path(GENSIM).glob("*wiki*.bz2")) if GENSIM else []
    if not found:
        pytest.skip("set MORES_GENSIM_DATA to gensim/test/test_data of the source package gensim 4.3.3")
    made = mores.corpus([str(path) for path in found], tmp_path / "w.corpus")
    assert made.texts > 100
    assert not any(mark in row["evidence"]["text"] for row in texts(made.path) for mark in ("{{", "[[", "<ref", "|-"))


def write_inputs(folder: Path) -> str:
    folder.mkdir()
    (folder / "dump.xml").write_text(DUMP)
    (folder / "notes.txt").write_text(
        "Bread is shared with every guest in Greece. " * 2 + "\n\n" + "Tea follows the bread. " * 8
    )
    (folder / "rows.jsonl").write_text(
        '{"text": "Grüner Tee kommt aus Japan, sagt man in Deutschland oft.", "language": "de", "region": "JP"}\n'
        '{"text": "In Fiji the guests of a village drink kava before they talk about anything else.", '
        '"source": "https://x.example/fiji", "licence": "CC0-1.0"}\n'
    )
    (folder / ".hidden.txt").write_text("Nobody sees this.")
    return str(folder)


def test_a_folder_becomes_one_file_that_is_searched_like_the_folder(tmp_path: Path) -> None:
    folder = write_inputs(tmp_path / "in")
    made = mores.corpus(folder, tmp_path / "c.corpus", licence="CC-BY-4.0")
    assert (made.texts, made.kept, made.bytes) == (5, 5, made.path.stat().st_size)
    rows = texts(made.path)
    assert len(rows) == made.passages
    assert [row["evidence"]["licence"] for row in rows] == ["CC-BY-SA-4.0"] * 2 + ["CC-BY-4.0"] * 3 + ["CC0-1.0"]
    assert [row["evidence"]["source"] for row in rows][2:] == [
        f"{folder}/notes.txt:1", f"{folder}/notes.txt:3", f"{folder}/rows.jsonl:1", "https://x.example/fiji",
    ]  # fmt: skip
    search = open_search(f"corpus:{made.path}")
    [found] = run(search.find([Query("kava of guests in Fiji")], 2))
    assert {piece.source for piece in found.evidence} == {"https://x.example/fiji", rows[0]["evidence"]["source"]}
    copy = tmp_path / "copy.corpus"
    copy.write_bytes(made.path.read_bytes())
    assert open_search(f"corpus:{copy}").identity == search.identity
    assert list((tmp_path / "cache").rglob("*.corpus")) == []


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        ({"region": "JP"}, {"Tea in Japan", ""}),
        ({"region": ["Fiji", "GR"]}, {"Kava culture", "notes", ""}),
        ({"language": "de"}, {""}),
        ({"language": "en", "about": ["kava", "bread"]}, {"Kava culture", "notes", ""}),
        ({"about": "guest bread"}, {"notes"}),
        ({"limit": 1}, {"Kava culture"}),
    ],
)
def test_texts_are_kept_by_words_region_and_language(settings: dict[str, Any], kept: set[str], tmp_path: Path) -> None:
    made = mores.corpus(write_inputs(tmp_path / "in"), tmp_path / "c.corpus", **settings)
    assert {row["evidence"]["title"] for row in texts(made.path)} == kept
    assert made.passages <= settings.get("limit", made.passages)


def test_nothing_is_written_where_nothing_is_kept_or_a_file_is_bad(tmp_path: Path) -> None:
    folder = write_inputs(tmp_path / "in")
    out = tmp_path / "out" / "c.corpus"
    out.parent.mkdir()
    with pytest.raises(InputError, match="none of 5 texts is kept"):
        mores.corpus(folder, out, region="PE")
    Path(folder, "rows.jsonl").write_text('{"txt": 1}')
    with pytest.raises(InputError, match=r"rows\.jsonl:1: no field 'text'"):
        mores.corpus(folder, out)
    assert list(out.parent.iterdir()) == []
    with pytest.raises(ConfigError, match=r"ends in \.corpus"):
        mores.corpus(folder, tmp_path / "c.zip")
    with pytest.raises(InputError, match="no such file"):
        mores.corpus("missing.xml", out)
    with pytest.raises(StoreError, match="cannot be written"):
        mores.corpus(write_inputs(tmp_path / "in2"), tmp_path / "no" / "c.corpus")


def test_a_damaged_corpus_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "c.corpus").write_bytes(b"PK")
    with pytest.raises(StoreError, match="make it again with mores corpus"):
        Corpus(tmp_path / "c.corpus")


def test_vectors_are_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = Concepts()
    monkeypatch.setattr("mores.search.api.open_encoder", lambda _: encoder)
    made = mores.corpus(write_inputs(tmp_path / "in"), tmp_path / "c.corpus", vectors=True)
    assert len(encoder.texts) == made.passages
    again = Concepts()
    search = DenseCorpus(made.path, encoder=again, fused=False)
    [found] = run(search.find([Query("Kava für jeden Gast")], 1))
    assert found.evidence[0].source == "https://x.example/fiji"
    assert len(again.texts) == 1  # the query alone
    assert not (tmp_path / "cache").exists()


def test_large_documents_are_searched_by_words_unless_they_are_encoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mores.search.encoders.has_encoder", lambda: True)
    for module in ("api", "dense"):
        monkeypatch.setattr(f"mores.search.{module}.open_encoder", lambda _: Concepts())
    folder = write_inputs(tmp_path / "in")
    plain, encoded = tmp_path / "plain.corpus", tmp_path / "encoded.corpus"
    mores.corpus(folder, plain)
    mores.corpus(folder, encoded, vectors=True)
    kinds = [str(search_or_corpus(str(path))).partition(":")[0] for path in (folder, plain, encoded)]
    assert kinds == ["fused"] * 3
    monkeypatch.setattr("mores.search.dense.SOON", 100)
    kinds = [str(search_or_corpus(str(path))).partition(":")[0] for path in (folder, plain, encoded)]
    assert kinds == ["corpus", "corpus", "fused"]


def test_pages_of_a_pdf(tmp_path: Path) -> None:
    pypdf = pytest.importorskip("pypdf", reason="pypdf, which reads PDFs, is not installed")
    (tmp_path / "a.pdf").write_bytes(make_pdf("Kava is drunk in Fiji."))
    made = mores.corpus(str(tmp_path / "a.pdf"), tmp_path / "c.corpus")
    [row] = texts(made.path)
    assert row["evidence"]["text"] == "Kava is drunk in Fiji."
    assert row["evidence"]["source"] == f"{tmp_path / 'a.pdf'}#page=1"
    (tmp_path / "b.pdf").write_bytes(b"%PDF-1.4 nothing")
    with pytest.raises(InputError, match=r"b\.pdf: not a PDF that can be read"):
        mores.corpus(str(tmp_path / "b.pdf"), tmp_path / "c.corpus")
    assert pypdf


def make_pdf(text: str) -> bytes:
    """A page with one line of text, as small as it may be."""
    stream = f"BT /F 12 Tf 20 50 Td ({text}) Tj ET"
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 100]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        f"<</Length {len(stream)}>>stream\n{stream}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    content, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(f"{len(content):010} 00000 n \n")
        content += f"{number} 0 obj{body}endobj\n"
    table = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{''.join(places)}"
    end = f"trailer<</Root 1 0 R/Size {len(objects) + 1}>>\nstartxref\n{len(content)}\n%%EOF"
    return (content + table + end).encode()


class Site(BaseHTTPRequestHandler):
    """A site with a page that robots may read, one that they may not, a picture and nothing."""

    asked: list[tuple[str, str]] = []  # noqa: RUF012

    def do_GET(self) -> None:
        self.asked.append((self.path, self.headers["User-Agent"]))
        pages = {
            "/robots.txt": ("text/plain", "User-agent: *\nDisallow: /private"),
            "/kava": (
                "text/html; charset=utf-8",
                "<html lang=en><title>Kava \n day</title><nav>Menu</nav><p>Kava &amp; tea.<p>In Fiji."
                "<script>x()</script>",
            ),
            "/plain": ("text/plain", "Tea <b> in Japan."),
            "/picture": ("image/png", "PNG"),
        }
        kind, content = pages.get(self.path, ("", ""))
        self.send_response(200 if kind else 404)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(content.encode())

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def site() -> Iterator[str]:
    Site.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_web_pages_are_read_as_their_site_allows(site: str, tmp_path: Path) -> None:
    names = ["kava", "private/x", "plain", "picture", "missing", "kava"]
    (tmp_path / "list.txt").write_text("\n".join(f"{site}/{name}" for name in names))
    made = mores.corpus(str(tmp_path / "list.txt"), tmp_path / "c.corpus")
    rows = [row["evidence"] for row in texts(made.path)]
    assert [(row["title"], row["text"], row["source"]) for row in rows] == [
        ("Kava day", "Kava & tea. In Fiji.", f"{site}/kava"),
        ("", "Tea <b> in Japan.", f"{site}/plain"),
    ]
    assert [path for path, _ in Site.asked] == ["/robots.txt", "/kava", "/plain", "/picture", "/missing"]
    assert {agent for _, agent in Site.asked} == {"mores"}
    assert made.problems == (
        f"{site}/private/x: the robots.txt of the site does not allow it",
        f"{site}/picture: no text could be read there",
        f"{site}/missing: no text could be read there",
    )


def test_the_command_says_what_it_kept(tmp_path: Path, run_mores: Run) -> None:
    folder = write_inputs(tmp_path / "in")
    result = run_mores("corpus", folder, "--out", str(tmp_path / "c.corpus"), "--region", "FJ", "--json")
    assert json.loads(result.stdout)["kept"] == 2
    assert f"wrote {tmp_path / 'c.corpus'}: 2 passages of 2 of 5 texts" in result.stderr
