"""Long answers in the browser: one HTML file with CaLMQA's figures, and the answers with their claims and evidence.

The file asks the network for nothing. The texts in it are hostile: all of them are escaped, the only script hides and
shows cards, and the page's policy forbids any other.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup

from mores.longform.records import Appraisal, LongAnswer
from mores.longform.summary import LEFT_OUT, Summary
from mores.report import longform_charts as numbers
from mores.report.bench_answers import SURROGATES
from mores.report.charts import table
from mores.report.longform_answers import Issue, card, groups_of, is_cut, issues_of, score_of, select
from mores.report.longform_opening import hero, isolated, tags_of
from mores.report.meta_sheets import Sheet, group_name
from mores.report.page import asset, hash_of, stylesheet

ANSWERS = 1000
"""Answers on one page, of all models together."""
SIZE = 15_000_000
"""Code points of all their cards: a phone still opens the page."""
COMPARABLE = "What must be the same for two numbers to be comparable."

Pair = tuple[LongAnswer, Appraisal]


def longform_page(summaries: Sequence[Summary], answers: Iterable[Pair], signature: object) -> str:
    """The whole page; `answers` are read once. It holds some hundreds of them and says how many it leaves out."""
    models = numbers.ranked(summaries)
    cards = _Cards(answers, [one.model for one in models])
    style = stylesheet("score.css", "charts.css", "meta.css", "bench.css", "longform.css")
    script = asset("bench.js")
    parts = {
        "Numbers": _numbers(models) if models else Markup(),
        "Languages": numbers.heat_maps(models),
        "Resources": _resources(models),
        "Tells": _tells(numbers.tell_table(models)),
        "Failures": _failures(cards),
        "Answers": _answers(cards),
        "Signature": _paragraph("lead", COMPARABLE) + Markup("<p><code>{}</code></p>").format(signature or "none"),
    }
    there = {title: body for title, body in parts.items() if body}
    html = PAGE.format(
        script_hash=hash_of(script),
        style_hash=hash_of(style),
        style=style,
        script=script,
        facts=_facts(models, cards.total),
        hero=hero(models) if models else "",
        nav=Markup().join(NAV.format(title.lower(), title) for title in there),
        parts=Markup("\n").join(PART.format(title.lower(), title, body) for title, body in there.items()),
    )
    return SURROGATES.sub("\N{REPLACEMENT CHARACTER}", html)


PAGE = Markup(
    """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '{script_hash}'; style-src '{style_hash}'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="Mores">
<title>Long answers · Mores</title>
<style>{style}</style>
</head>
<body class="meta bench longform">
<header>
  <p class="brand">Mores <span>long answers</span></p>
  <h1>Long answers: language, repetition, facts and relevance</h1>
  <dl class="facts">{facts}</dl>
</header>
{hero}<nav aria-label="Sections"><ul>{nav}</ul></nav>
<main>{parts}</main>
<script>{script}</script>
</body></html>
"""  # noqa: E501
)
NAV = Markup('<li><a href="#{}">{}</a></li>')
PART = Markup('<section class="part" id="{0}" aria-labelledby="{0}-title"><h2 id="{0}-title">{1}</h2>{2}</section>')


def _table(sheet: Sheet | None) -> Markup:
    return table(sheet.rows, sheet.columns, sheet.cells, title=sheet.title) if sheet else Markup()


def _paragraph(kind: str, text: str | Markup) -> Markup:
    return Markup('<p class="{}">{}</p>').format(kind, text)


# ---- the opening -----------------------------------------------------------------------------------------------


def _facts(models: Sequence[Summary], answers: int) -> Markup:
    names = [isolated(one.model) for one in models]
    facts = {"Models" if len(names) > 1 else "Model": ", ".join(names) if len(names) < 4 else f"{len(names):,}"}
    facts |= {"Answers": f"{answers:,}", "Languages": f"{len(tags_of(models)):,}"}
    body = (Markup("<div><dt>{}</dt><dd><bdi>{}</bdi></dd></div>").format(*fact) for fact in facts.items())
    return Markup().join(body)


# ---- numbers ---------------------------------------------------------------------------------------------------


def _numbers(models: Sequence[Summary]) -> Markup:
    """Table 2, with all languages and with those of the paper, and what it does not have."""
    each = (
        "Each cell: culturally agnostic / culturally specific questions. " if len(numbers.kinds_of(models)) == 2 else ""
    )
    lead = (
        f"In per cent. {each}Below: 95% intervals, n, ✕ how many more could not be scored, which are in no number, "
        "and within which bounds the number lies, whatever those are. "
        "– : less than half of what it needs could be judged."
    )
    if any({"precision", "relevance"} & one.figures.keys() for one in models):
        lead += " Precision and relevance: of answers without a surface issue, unless the run judged every answer."
    body = _paragraph("lead", lead) + _titled(
        "All languages", numbers.table_2(models, numbers.everywhere, "All languages")
    )
    out = sorted(group_name("language", tag) for tag in LEFT_OUT & tags_of(models))
    title, note = "As in CaLMQA’s Table 2", "None of these languages is left out in CaLMQA’s Table 2."
    if out:
        body += _titled(title, numbers.table_2(models, numbers.in_paper, title))
        note = f"Without {', '.join(out)}, which the paper leaves out because its language check cannot tell them."
    return body + _paragraph("key", note) + _more(models)


def _titled(title: str, sheet: Sheet | None) -> Markup:
    return Markup("<h3>{}</h3>{}").format(title, _table(sheet)) if sheet else Markup()


def _more(models: Sequence[Summary]) -> Markup:
    sheet = numbers.more_table(models)
    if sheet is None:
        return Markup()
    return Markup("<details><summary>{}</summary>{}</details>").format(
        ", ".join(head.label.partition(",")[0].lower() for head in sheet.columns).capitalize(), _table(sheet)
    )


def _resources(models: Sequence[Summary]) -> Markup:
    """High and mid against low."""
    charts = numbers.level_bars(models)
    if not charts:
        return Markup()
    lead = "Languages with many or some resources against those with few, as CaLMQA’s Table 4 has them."
    drawn = Markup('<div class="many wide">{}</div>').format(Markup().join(charts))
    return _paragraph("lead", lead) + drawn + _titled("All figures by level", numbers.level_table(models))


def _tells(sheet: Sheet | None) -> Markup:
    lead = (
        "Ways to answer past the question, and emoji (CaLMQA, Appendix C), in per cent of the answers that were given."
    )
    return _paragraph("lead", lead) + _table(sheet) if sheet else Markup()


# ---- answers ---------------------------------------------------------------------------------------------------


class _Kept(NamedTuple):
    order: tuple[float, int, int]
    """Score, the hash of the id (so that every model shows the same questions, from all over the data), and place."""
    answer: LongAnswer
    appraisal: Appraisal


class _Cards:
    """Goes once through the answers, counts them, and makes cards of as many as a page holds."""

    def __init__(self, answers: Iterable[Pair], models: Sequence[str]) -> None:
        self.models = dict.fromkeys(models)
        self.total = 0
        self.cut = False
        self.issues: Counter[Issue] = Counter()
        self.here: Counter[Issue] = Counter()
        self.failures: dict[str, Counter[str]] = {model: Counter() for model in models}
        self._numbers: dict[tuple[str, str], int] = {}
        self.cards = [made for _, made in sorted(self._made(answers), key=lambda pair: pair[0])]

    def _made(self, answers: Iterable[Pair]) -> Iterator[tuple[tuple[float, int, int], Markup]]:
        count = size = 0
        for one in self._in_turn(answers):
            made = self._card(one)
            count, size = count + 1, size + len(made)
            yield one.order, made
            if count >= ANSWERS or size >= SIZE:
                return

    def _in_turn(self, answers: Iterable[Pair]) -> Iterator[_Kept]:
        """One of each model and issue in turn, the worst of each first."""
        groups = [sorted(own, key=lambda one: one.order) for own in self._kept(answers).values()]
        for place in range(max(map(len, groups), default=0)):
            yield from (own[place] for own in groups if place < len(own))

    def _kept(self, answers: Iterable[Pair]) -> dict[tuple[str, Issue], list[_Kept]]:
        """The worst of each model and issue, at most twice what a page holds, whatever the number of answers."""
        kept: dict[tuple[str, Issue], list[_Kept]] = defaultdict(list)
        size = 0
        for place, (answer, one) in enumerate(answers):
            chance = zlib.crc32(answer.id.encode("utf-8", "surrogatepass"))
            kept[one.model, self._count(one)].append(_Kept((score_of(one), chance, place), answer, one))
            size = size + 1 if size + 1 < 2 * ANSWERS else _trim(list(kept.values()))
        return kept

    def _count(self, one: Appraisal) -> Issue:
        issues = issues_of(one)
        self.total += 1
        self.issues.update(issues)
        self.models.setdefault(one.model)
        self.failures.setdefault(one.model, Counter()).update(one.failures.keys())
        return issues[0]

    def _card(self, one: _Kept) -> Markup:
        groups = groups_of(one.answer, one.appraisal)
        places = [self._numbers.setdefault(group, len(self._numbers)) for group in groups]
        self.here.update(issues_of(one.appraisal))
        self.cut = self.cut or is_cut(one.answer, one.appraisal)
        return card(one.answer, one.appraisal, list(self.models).index(one.appraisal.model), places)

    def filters(self) -> dict[str, list[tuple[int, str]]]:
        """Filter: number and name of each group. No name is ever part of the markup that the script reads."""
        order = {issue.value: place for place, issue in enumerate(Issue)}
        found: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for (grouping, group), n in sorted(self._numbers.items(), key=lambda pair: (order.get(pair[0][1], 0), pair[0])):
            found[grouping].append((n, group))
        return {name: found[name] for name in ("Language", "Kind", "Issue", "Tell") if len(found[name]) > 1}


def _trim(groups: Sequence[list[_Kept]]) -> int:
    """Leave what can still come in turn: a group's share never grows when more answers are read."""
    share = bisect_left(range(ANSWERS), ANSWERS, key=lambda most: sum(min(len(own), most) for own in groups))
    for own in groups:
        own.sort(key=lambda one: one.order)
        del own[share:]
    return sum(map(len, groups))


def _failures(cards: _Cards) -> Markup:
    sheet = numbers.failure_sheet(cards.failures)
    lead = "Answers for which something was not had or could not be read. Nothing of this is a wrong answer."
    return _paragraph("lead", lead) + _table(sheet) if sheet else Markup()


def _answers(cards: _Cards) -> Markup:
    """Filters, and every card; the script shows them in chunks."""
    if not cards.cards:
        return Markup()
    return Markup(
        '{}<div id="choose" class="choose" hidden><label class="search">Search <input type="search" id="q" '
        'autocomplete="off" spellcheck="false"></label>{}</div><div class="status"><p id="count" role="status">{:,} '
        'answers</p><button type="button" id="reset" hidden>Reset</button></div>{}<p id="none" hidden>No answer '
        'matches these filters.</p><button type="button" id="more" hidden>Show more</button>'
    ).format(_lead(cards), _selects(cards), len(cards.cards), Markup("\n").join(cards.cards))


def _lead(cards: _Cards) -> Markup:
    """What there is, and what of it is not here."""
    out = cards.total - len(cards.cards)
    counts = [f"{issue.value}: {n:,}" + (f" ({cards.here[issue]:,} here)" if cards.here[issue] < n else "")
              for issue in Issue if (n := cards.issues[issue])]  # fmt: skip
    words = "The worst first. "
    if out:
        words = (
            f"This page holds {len(cards.cards):,} of {cards.total:,} answers, and {out:,} are left out: they are "
            "drawn from every model and issue in turn, the worst first. appraisals.jsonl has all. "
        )
    words += "; ".join(counts) + "."
    if cards.cut:
        words += " Very long texts and lists are cut here; appraisals.jsonl has them whole."
    return _paragraph("lead", words)


def _selects(cards: _Cards) -> Markup:
    """One list for each filter that leaves a choice."""
    models = [(place, model or "no name") for place, model in enumerate(cards.models)]
    lists = ([("run", "Model", models)] if len(models) > 1 else []) + [
        ("group", name, options) for name, options in cards.filters().items()
    ]
    return Markup().join(select(*one) for one in lists)
