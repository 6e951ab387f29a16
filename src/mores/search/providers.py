"""Brave, Tavily and SearXNG: what each is asked, and how its results are read.

brave     https://api-dashboard.search.brave.com/app/documentation   GET, the key in BRAVE_API_KEY
tavily    https://docs.tavily.com/documentation/api-reference        POST, the key in TAVILY_API_KEY
searxng   https://docs.searxng.org/dev/search_api.html               GET, the address of an instance in SEARXNG_URL
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from mores.culture import language, region_name
from mores.culture.languages import parse_tag
from mores.errors import Transient
from mores.search.base import Evidence, Query
from mores.search.clean import evidence, web_address
from mores.search.online import Provider, WebRequest, country_of, loaded, not_results

_BRAVE_COUNTRIES = """
    AR AT AU BE BR CA CH CL CN DE DK ES FI FR GB GR HK ID IN IT JP KR MX MY NL NO NZ PH PL PT RU SA SE TR TW US ZA
"""
BRAVE_COUNTRIES = frozenset(_BRAVE_COUNTRIES.split())
_BRAVE_LANGUAGES = """
    ar bg bn ca cs da de el en en-gb es et eu fi fr gl gu he hi hr hu is it jp kn ko lt lv ml mr ms nb nl pa pl pt-br
    pt-pt ro ru sk sl sr sv ta te th tr uk vi zh-hans zh-hant
"""
BRAVE_LANGUAGES = frozenset(_BRAVE_LANGUAGES.split())
"""Brave refuses other countries and languages, so that none is sent for them."""
_BRAVE_CODES = {"ja": "jp", "no": "nb", "pt": "pt-pt"}
_TAVILY_COUNTRIES = """
    AD AE AF AL AM AO AR AT AU AZ BA BB BD BE BF BG BH BI BJ BN BO BR BS BT BW BY BZ CA CF CH CL CM CN CO CR CU CV CY CZ
    DE DJ DK DO DZ EC EE EG ER ES ET FI FJ FR GA GB GE GH GM GN GQ GR GT HN HR HT HU ID IE IL IN IQ IR IS IT JM JO JP KE
    KG KH KM KP KR KW KZ LB LI LK LR LS LT LU LV LY MA MC MD ME MG MK ML MM MN MR MT MU MV MW MX MY MZ NA NE NG NI NL NO
    NP NZ OM PA PE PG PH PK PL PT PY QA RO RS RU RW SA SD SE SG SI SK SN SO SS SV SY TD TG TH TJ TM TN TR TT TW TZ UA UG
    US UY UZ VE VN YE ZA ZM ZW
"""
TAVILY_COUNTRIES = {code: region_name(code).lower() for code in _TAVILY_COUNTRIES.split()} | {
    "CZ": "czech republic",
    "TR": "turkey",
}
"""Tavily writes countries as English names, and refuses others."""


def read_rows(
    name: str, find: Callable[[dict[str, Any]], Any], text: str, date: str, body: bytes
) -> list[Evidence] | Transient:
    """Return the results of an answer: `find` returns its rows, `text` and `date` are their fields."""
    answer = loaded(body)
    rows = find(answer) if isinstance(answer, dict) else None
    if not isinstance(rows, list):
        return not_results(name, body)
    given: Iterable[dict[str, Any]] = (row for row in rows if isinstance(row, dict))
    pieces = (evidence(row.get(text), row.get("title"), web_address(row.get("url")), row.get(date)) for row in given)
    return [piece for piece in pieces if piece is not None]


def brave_language(tag: str | None) -> str | None:
    """Return Brave's code of a language; None where it has none."""
    if tag is None:
        return None
    known = parse_tag(language(tag))
    if known.language in ("zh", "yue"):
        return "zh-hant" if known.maximize().script == "Hant" else "zh-hans"
    whole = f"{known.language}-{known.territory}".lower()
    base = str(known.language)
    code = whole if whole in BRAVE_LANGUAGES else _BRAVE_CODES.get(base, base)
    return code if code in BRAVE_LANGUAGES else None


def _ask_brave(text: str, query: Query, k: int) -> WebRequest:
    code = country_of(query)
    places: dict[str, Any] = {
        "country": code if code in BRAVE_COUNTRIES else None,
        "search_lang": brave_language(query.language),
    }
    return WebRequest("/res/v1/web/search", q=text, count=k, result_filter="web", text_decorations="false", **places)


def _find_brave(answer: dict[str, Any]) -> Any:
    """Return the rows of an answer; one without any has no `web`."""
    if answer.get("type") != "search":
        return None
    web = answer.get("web", {"results": []})
    return web.get("results") if isinstance(web, dict) else None


def _explain_brave(answer: dict[str, Any]) -> str:
    error = answer.get("error")
    return f"{error.get('code')}: {error.get('detail')}" if isinstance(error, dict) else ""


BRAVE = Provider(
    name="brave",
    title="Brave Search",
    homepage="https://brave.com/search/api",
    base_url="https://api.search.brave.com",
    variable="MORES_BRAVE_URL",
    key="BRAVE_API_KEY",
    headers=lambda key: {"X-Subscription-Token": key, "Accept": "application/json"},
    ask=_ask_brave,
    read=partial(read_rows, "brave", _find_brave, "description", "page_age"),
    most=20,
    longest=400,
    cut=50,
    price=lambda _k: 0.005,
    explain=_explain_brave,
    refused=frozenset({"SUBSCRIPTION_TOKEN_INVALID"}),
    spent=frozenset({"quota"}),
)


def _ask_tavily(text: str, query: Query, k: int) -> WebRequest:
    place = TAVILY_COUNTRIES.get(country_of(query) or "")
    return WebRequest("/search", {"query": text, "max_results": k, "search_depth": "basic", "country": place})


def _explain_tavily(answer: dict[str, Any]) -> object:
    detail = answer.get("detail")
    return detail.get("error") if isinstance(detail, dict) else detail


TAVILY = Provider(
    name="tavily",
    title="Tavily",
    homepage="https://tavily.com",
    base_url="https://api.tavily.com",
    variable="MORES_TAVILY_URL",
    key="TAVILY_API_KEY",
    headers=lambda key: {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    ask=_ask_tavily,
    read=partial(read_rows, "tavily", lambda answer: answer.get("results"), "content", "published_date"),
    most=20,
    longest=400,
    cut=400,
    price=lambda _k: 0.008,
    explain=_explain_tavily,
    spent=frozenset({"usage limit", "paygo limit"}),
)


def _ask_searxng(text: str, query: Query, _k: int) -> WebRequest:
    known = parse_tag(language(query.language)) if query.language else None
    code, place = known.language if known else None, country_of(query)
    return WebRequest("/search", q=text, format="json", language=f"{code}-{place}" if code and place else code)


def read_searxng(body: bytes) -> list[Evidence] | Transient:
    """Return the results of an instance; nothing from engines that did not respond may pass."""
    rows = read_rows("searxng", lambda answer: answer.get("results"), "content", "publishedDate", body)
    silent = loaded(body).get("unresponsive_engines") if rows == [] else None
    if silent and isinstance(silent, list):
        named = ", ".join(" ".join(map(str, engine)) for engine in silent[:5] if isinstance(engine, list))
        return Transient(f"searxng: no results, as engines did not respond: {named}", overload=True)
    return rows


SEARXNG = Provider(
    name="searxng",
    title="SearXNG",
    homepage="https://docs.searxng.org",
    variable="SEARXNG_URL",
    headers=lambda _key: {"Accept": "application/json"},
    ask=_ask_searxng,
    read=read_searxng,
    forbidden="the instance gives no JSON: add json to search.formats in its settings.yml",
)
PROVIDERS = {provider.name: provider for provider in (BRAVE, TAVILY, SEARXNG)}
