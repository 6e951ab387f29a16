"""`serper`: Google's results through Serper (https://serper.dev): one POST per query, the key in the environment.

`serper` gives the organic results alone, as VeriScore does; `serper:boxes` puts Google's answer box and knowledge
graph before them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from mores.culture import language
from mores.culture.languages import parse_tag
from mores.engine import Counts, Limits
from mores.errors import Transient
from mores.search.base import Evidence, Query
from mores.search.clean import clean, evidence, web_address
from mores.search.online import Provider, WebRequest, WebSearch, country_of, loaded, not_results

DEFAULT_BASE_URL = "https://google.serper.dev"
PRICE = 0.001
"""US dollars per credit: Serper's smallest package, 50 dollars for 50,000 (serper.dev, August 2026); larger ones cost
down to 0.0003. CaLMQA paid 510 dollars in all (footnote 10)."""
_MOST_ATTRIBUTES = 20

_HL = """
    ach af ak am ar az be bem bg bn br bs ca chr ckb co crs cs cy da de ee el en eo es es-419 et eu fa fi fo fr fy ga
    gaa gd gl gn gu ha haw hi hr ht hu hy ia id ig is it iw ja jw ka kg kk km kn ko kri ku ky la lg ln lo loz lt lua
    lv mfe mg mi mk ml mn mr ms mt my ne nl nn no nso ny nyn oc om or pa pcm pl ps pt pt-br pt-pt qu rm rn ro ru
    rw sd si sk sl sn so sq sr st su sv sw ta te tg th ti tk tl tn to tr tt tum tw ug uk ur uz vi wo xh yi yo
    zh-cn zh-tw zu
"""
HL = frozenset(_HL.split())
"""The languages of Google's own pages, as its `hl` writes them; for others none is sent."""
_OLD_CODES = {"he": "iw", "jv": "jw", "fil": "tl", "nb": "no"}
"""Google keeps codes that ISO 639 has replaced."""


@lru_cache(maxsize=1024)
def hl_of(tag: str | None) -> str | None:
    """Return Google's code of a language; None where it has none, for example Balochi."""
    if tag is None:
        return None
    known = parse_tag(language(tag))
    if known.language in ("zh", "yue"):
        return "zh-tw" if known.maximize().script == "Hant" else "zh-cn"
    if known.language == "es" and known.territory not in (None, "ES"):
        return "es-419"
    base = str(known.language)
    whole = f"{base}-{known.territory}".lower()
    code = whole if whole in HL else _OLD_CODES.get(base, base)
    return code if code in HL else None


def gl_of(query: Query) -> str | None:
    """Return Google's code of a country: the region's, or else that of the language's tag."""
    code = country_of(query)
    return code.lower() if code else None


def credits_for(k: int) -> int:
    """Return what a query costs in Serper's credits: more than ten results cost double."""
    return 1 if k <= 10 else 2


class Serper(WebSearch):
    """Google through Serper. The key comes from SERPER_API_KEY, the address from MORES_SERPER_URL where it is set."""

    def __init__(
        self,
        boxes: bool = False,
        base_url: str | None = None,
        limits: Limits | None = None,
        counts: Counts | None = None,
    ) -> None:
        provider = Provider(
            name="serper:boxes" if boxes else "serper",
            title="Serper",
            homepage="https://serper.dev",
            base_url=DEFAULT_BASE_URL,
            variable="MORES_SERPER_URL",
            key="SERPER_API_KEY",
            headers=lambda key: {"X-API-KEY": key, "Content-Type": "application/json"},
            ask=lambda text, query, k: WebRequest(
                "/search", {"q": text, "num": k, "gl": gl_of(query), "hl": hl_of(query.language)}
            ),
            read=lambda body: read_results(body, boxes),
        )
        super().__init__(provider, base_url, limits, counts)


def read_results(body: bytes, boxes: bool) -> list[Evidence] | Transient:
    """Return the results in an answer, with those in boxes beside them if wanted; anything else may pass."""
    answer = loaded(body)
    if not isinstance(answer, dict) or not isinstance(answer.get("organic", []), list):
        return not_results("serper", body)
    rows = [*_boxed(answer)] if boxes else []
    rows += [row for row in answer.get("organic", []) if isinstance(row, dict)]
    pieces = [
        evidence(row.get("snippet"), row.get("title"), web_address(row.get("link")), row.get("date")) for row in rows
    ]
    return [piece for piece in pieces if piece is not None]


def _boxed(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the answer box and the knowledge graph in the form of a result."""
    if isinstance(box := answer.get("answerBox"), dict):
        parts = [clean(box.get(part), 1_000) for part in ("answer", "snippet")]
        yield box | {"snippet": " ".join(filter(None, parts))}
    if isinstance(graph := answer.get("knowledgeGraph"), dict):
        yield {
            "title": graph.get("title"),
            "snippet": ". ".join(filter(None, _known(graph))),
            "link": graph.get("descriptionLink") or graph.get("website"),
        }


def _known(graph: dict[str, Any]) -> Iterator[str]:
    yield clean(graph.get("type"), 100)
    yield clean(graph.get("description"), 1_000).rstrip(".")
    attributes = graph.get("attributes")
    if isinstance(attributes, dict):
        for name, value in list(attributes.items())[:_MOST_ATTRIBUTES]:
            yield f"{clean(name, 100)}: {clean(value, 200)}"
