"""The page and the tables of a meta-evaluation: what they say, and that no text or name can do anything in them."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from functools import cache
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from mores.metaevaluation.records import (
    GROUPINGS,
    Advice,
    AnnotationTable,
    Curve,
    Disagreement,
    LeaveOneOut,
    Meta,
    MetricComparison,
    MetricEvaluation,
    ScoreBins,
)
from mores.report.base.grid import Grid
from mores.report.base.names import group_name
from mores.report.base.page import render_page
from mores.report.meta import conclude, describe_meta, markdown_tables
from mores.report.meta.tables import left_out_table, main_table, shortcut_sentence, significantly_best, vote_table
from mores.stats.calibration import FIGURES
from mores.types import Error, Sample, Severity, Signature
from tests.browser import Browser, pixels
from tests.report.conftest import assert_fits, showing
from tests.report.meta_samples import METRICS, SOURCES, VOTES, bare, gold, made_up, result
from tests.report.test_browser import luminance

HOSTILE = "</script></title></style><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>|*`\u202e"
BEST = "ExCAM-r (Gemma3-27B)"


def words(html: str) -> str:
    """What a person reads."""
    body = re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


def sections(html: str) -> list[str]:
    return re.findall(r'<section class="part" id="(\w+)"', html)


def section(html: str, name: str) -> str:
    return html.split(f'id="{name}"')[1].split("</section>")[0]


def rows(html: str) -> list[list[str]]:
    """The cells of the first table's body."""
    body = html.split("<tbody>")[1].split("</tbody>")[0]
    return [[words(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in body.split("</tr>")[:-1]]


@cache
def full_page() -> str:
    """With every part filled."""
    return meta_page(made_up())


def meta_page(meta: Meta) -> str:
    return render_page(describe_meta(meta))


def breakdown(meta: Meta, by: str) -> Grid:
    """The breakdown that the terminal shows."""
    shown = describe_meta(meta, [by]).printed[len(meta.votes)]
    assert isinstance(shown, Grid)
    return shown


def printed(view: Grid, width: int = 160) -> list[str]:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(view)
    assert isinstance(console.file, io.StringIO)
    return [" ".join(line.split()) for line in console.file.getvalue().splitlines()]


def two(difference: float = 0.2, adjusted: float = 0.01, **changes: Any) -> Meta:
    """Two metrics, `a` better than `b` in scaled accuracy."""
    scores = ({"scaled_accuracy": result("scaled_accuracy", value)} for value in (0.5, 0.3))
    evaluations = tuple(
        MetricEvaluation(metric=m, signature=Signature(), n=10, unscored=0, scores=s)
        for m, s in zip("ab", scores, strict=True)
    )
    pair = {"first": "b", "second": "a"} if difference < 0 else {"first": "a", "second": "b"}
    comparison = MetricComparison(
        **pair, statistic="scaled_accuracy", difference=difference, p=0.01, adjusted=adjusted, n=10
    )
    return bare(**({"evaluations": evaluations, "comparisons": (comparison,)} | changes))


# ---- numbers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("difference", "adjusted", "winner"),
    [(0.2, 0.01, "a"), (-0.2, 0.01, "a"), (0.2, 0.05, None), (0.2, 0.3, None)],
)
def test_the_best_is_marked_when_better_than_all_others(difference: float, adjusted: float, winner: str | None) -> None:
    assert significantly_best(two(difference, adjusted), "scaled_accuracy") == winner


def test_one_equal_or_unknown_rival_is_enough_for_no_mark() -> None:
    meta = two()
    third = meta.evaluations[1].model_copy(update={"metric": "c"})
    assert significantly_best(two(evaluations=(*meta.evaluations, third)), "scaled_accuracy") is None
    unknown = third.model_copy(update={"scores": {}})
    assert significantly_best(two(evaluations=(*meta.evaluations, unknown)), "scaled_accuracy") == "a"
    assert significantly_best(two(evaluations=meta.evaluations[:1]), "scaled_accuracy") is None


@pytest.mark.parametrize(
    ("shortcut", "sentence"),
    [
        (0.16, "Of this metric’s 0.50, a classifier that never sees the instruction gets 0.16."),
        (0.5, "This metric’s 0.50 is no more than the 0.50 of a classifier that never sees the instruction."),
        (-0.02, "Of this metric’s 0.50, a classifier that never sees the instruction gets −0.02."),
        (None, ""),
    ],
)
def test_the_shortcut_beside_the_headline(shortcut: float | None, sentence: str) -> None:
    meta = two(shortcut=result("scaled_accuracy", shortcut))
    assert shortcut_sentence(meta, meta.evaluations[0]) == sentence


@pytest.mark.parametrize(
    ("grouping", "group", "name"),
    [("language", "ar", "Arabic"), ("region", "EG", "Egypt"), ("source", "EPIC", "EPIC"), ("language", "", "not given"),
     ("language", "Klingonish", "Klingonish"), ("region", "??", "??")],
)  # fmt: skip
def test_group_names(grouping: str, group: str, name: str) -> None:
    assert group_name(grouping, group) == name


# ---- terminal --------------------------------------------------------------------------------------------------


def test_headline_table() -> None:
    lines = printed(main_table(made_up()), 200)
    assert lines[1] == "metric S.Acc. Kd T.Acc. n unscored"
    assert lines[2] == f"{BEST} 0.591* [0.571, 0.611] 0.581* [0.561, 0.601] 0.678 [0.658, 0.698] 3,897 3"
    assert "shortcut, which never sees the instruction 0.160 [0.140, 0.180] – – 3,900 0" in lines
    assert f"(adjusted p < 0.05). Unscored: {BEST}: 2 answers could not be parsed, 1" in " ".join(lines)


@pytest.mark.slow
def test_the_advice_is_at_the_top_of_the_page_and_the_last_printed() -> None:
    lines = ["judge <b>: useful here", "other: too few pairs to tell"]
    meta = made_up(advice=[Advice(metric="m", verdict="useful", line=line) for line in lines])
    html = meta_page(meta)
    assert html.index("useful here") < html.index("S.Acc.: scaled accuracy")
    assert "judge &lt;b&gt;: useful here" in html
    assert describe_meta(meta).printed[-2:] == lines
    assert "good enough for texts like these" not in full_page()


def test_conclusion() -> None:
    sentence = "Of this metric’s 0.59, a classifier that never sees the instruction gets 0.16."
    assert conclude(made_up()) == f"{BEST}: {sentence}"
    assert conclude(bare()) == "no metric has a score"


def test_headline_fits_a_terminal_of_80_columns() -> None:
    lines = printed(main_table(made_up()), 80)
    place = next(place for place, line in enumerate(lines) if line.startswith("length"))
    assert re.fullmatch(r"length 0\.030 0\.049 0\.414 3,\d+", lines[place])
    assert lines[place + 1].startswith("[0.010, 0.050] [")


def test_headline_of_unknown_numbers() -> None:
    assert printed(main_table(bare()))[2] == "m0 – – – 0 5"


def test_breakdown_table() -> None:
    lines = printed(breakdown(made_up(), "source"), 200)
    assert lines[1].split() == ["metric", *(part for name, n in SOURCES.items() for part in (name, str(n)))]
    assert lines[2].startswith(BEST)
    assert len(lines) == 2 + len(METRICS) + 1
    assert lines[-1] == "* significantly better than all others in the column (adjusted p < 0.05)."
    stars = [cell.endswith("*") for cell in lines[2].removeprefix(BEST).replace(" *", "*").split() if "✕" not in cell]
    assert stars == [source != "CaLMQA" for source in SOURCES]


def test_a_breakdown_with_many_groups_has_them_as_rows() -> None:
    lines = printed(breakdown(made_up(), "language"), 220)
    assert [line.split()[0] for line in lines if re.match(r"(English|Arabic|Tamil|not given) ", line)] == [
        "English", "Arabic", "Tamil", "not",
    ]  # fmt: skip
    assert printed(breakdown(bare(), "region"))[-1] == "m0"


def test_a_star_out_of_domain_needs_an_interval_above_all_others() -> None:
    def row(metric: str, value: float, width: float = 0.01) -> LeaveOneOut:
        sheet = result("scaled_accuracy", value, width=width)
        return LeaveOneOut(metric=metric, matrix={"x": {"x": sheet}}, average=value)

    def stars(*values: float) -> list[bool]:
        rows = tuple(row(f"m{i}", value) for i, value in enumerate(values))
        return [line[0].star for line in left_out_table(bare(leave_one_out=rows, evaluations=())).cells]

    assert stars(0.5, 0.4) == [True, False]
    assert stars(0.5, 0.49) == [False, False]
    assert stars(0.4, 0.5) == [False, True]
    assert stars(0.5) == [False]


def test_vote_table() -> None:
    lines = printed(vote_table(VOTES[0]))
    assert lines[0] == "Votes of three annotators (N=80), per cent"
    assert lines[1] == "criterion 3/3 2/3 1/3 0/3"
    assert lines[3] == "Error valid (strict) 61.2 22.5 11.2 5.0"
    assert " ".join(lines[5:]) == "Strict: every span is truly part of an error."


def test_no_name_can_steer_the_terminal() -> None:
    name = "\x1b[31mred\u202e[bold]x[/bold]"
    meta = bare(evaluations=(bare().evaluations[0].model_copy(update={"metric": name}),))
    assert "␛[31mred[bold]x[/bold] – – – 0 5" in printed(main_table(meta))


# ---- Markdown --------------------------------------------------------------------------------------------------


def test_markdown_has_every_table_of_the_paper() -> None:
    text = markdown_tables(made_up())
    assert re.findall(r"^### (.*)", text, re.MULTILINE) == [
        "ExCAM40k, test: agreement with the gold reports",
        "Scaled accuracy by source",
        "Scaled accuracy by language, those with more than 100 samples",
        "Scaled accuracy on a source that was left out of training",
        "ExCAM-r (Gemma3-27B): trained without a source, tested on each",
        "ExCAM-r (Phi-3-mini): trained without a source, tested on each",
        "Votes of three annotators (N=80), per cent",
    ]
    assert "| ExCAM-r (Phi-3-mini) | 0.492 \\[0.472, 0.512\\] |" in text
    assert f"| {BEST} | **0.591**\\* \\[0.571, 0.611\\] |" in text
    assert "| Error valid (strict) | 61.2 | 22.5 | 11.2 | 5.0 |" in text
    languages = next(line for line in text.splitlines() if line.startswith("| metric | English"))
    assert languages.endswith("| Hebrew (101) |")


def test_markdown_tables_are_whole() -> None:
    for meta in (made_up(), bare(), bare(metrics=0)):
        for block in markdown_tables(meta).split("### ")[1:]:
            table = [line for line in block.splitlines() if line.startswith("|")]
            assert len({line.replace("\\|", "").count("|") for line in table}) == 1


def test_markdown_shows_hostile_names_as_they_are() -> None:
    meta = bare(
        votes=(AnnotationTable(title=HOSTILE, columns=(HOSTILE,), rows={HOSTILE: ("a|b\n| c",)}, note=HOSTILE),)
    )
    text = markdown_tables(meta)
    assert not re.search(r"(?<!\\)<", text)
    assert "| a\\|b \\| c |" in text


# ---- the page --------------------------------------------------------------------------------------------------


def test_header_and_headline() -> None:
    html = full_page()
    assert "<title>ExCAM40k, test: meta-evaluation · Mores</title>" in html
    top = words(html.split("<nav")[0])
    assert "Split test Samples 3,900 Metrics 12 Revision sha256:4f1c9a7e20d3b6c1" in top
    assert f"0.591 [0.57, 0.61] {BEST} has the highest scaled accuracy, significantly better than all others." in top
    assert "3,897 scored, 3 unscored" in top
    assert "Of this metric’s 0.59, a classifier that never sees the instruction gets 0.16." in top


def test_every_metric_has_the_shortcut_beside_it() -> None:
    shown = rows(section(full_page(), "table"))
    assert [row[0].split(" Of this")[0].split(" This")[0] for row in shown[:-1]] == list(METRICS)
    assert all("never sees the instruction" in row[0] for row in shown)
    assert shown[0][0].endswith("Of this metric’s 0.59, a classifier that never sees the instruction gets 0.16.")
    assert shown[7][1:] == ["0.280 [0.260, 0.300]", "0.286 [0.266, 0.306]", "0.532 [0.512, 0.552]", "3,859", "41"]
    text = words(section(full_page(), "table"))
    assert f"Unscored: {BEST}: 2 answers could not be parsed, 1 text has no judgement; " in text
    assert ": 40 answers could not be parsed, 1 text has no judgement" in text


def test_without_a_shortcut_the_page_says_so() -> None:
    assert "No shortcut was measured" in words(meta_page(two()))


SECTIONS = [*(section.id for section in describe_meta(made_up()).sections), "signatures"]


def test_all_sections_in_order_and_the_navigation_leads_to_them() -> None:
    html = full_page()
    assert sections(html) == SECTIONS
    assert re.findall(r'<a href="#(\w+)"', html) == SECTIONS


@pytest.mark.often("changes0-absent0", "changes1-absent1", "changes2-absent2")
@pytest.mark.parametrize(
    ("changes", "absent"),
    [
        ({"counts": {}}, set()),
        ({"leave_one_out": ()}, {"left_out"}),
        ({"comparisons": ()}, {"comparisons"}),
        ({"disagreements": ()}, {"disagreements"}),
        ({"votes": ()}, {"votes"}),
        ({"notes": ()}, {"notes"}),
    ],
)
def test_a_section_without_data_is_absent(changes: dict[str, Any], absent: set[str]) -> None:
    assert set(SECTIONS) - set(sections(meta_page(made_up(**changes)))) == absent


def test_a_page_of_which_nothing_is_known() -> None:
    assert sections(meta_page(bare())) == ["table", "source"]
    assert rows(section(meta_page(bare()), "table")) == [["m0", "–", "–", "–", "0", "5"]]
    assert sections(meta_page(bare(metrics=0))) == []
    assert "None" not in words(meta_page(bare(metrics=3)))
    assert "nan" not in words(meta_page(two(shortcut=result("scaled_accuracy", float("nan")))))


def test_one_metric_is_compared_with_nobody() -> None:
    html = words(meta_page(made_up({"only": 0.4})))
    assert "better than all others" not in html
    assert re.search(r"only has the highest scaled accuracy\. 3,\d+ scored", html)


def test_a_baseline_that_beats_every_metric_is_named() -> None:
    meta = two()
    html = words(meta_page(meta.model_copy(update={"evaluations": (_as_baseline(meta), meta.evaluations[1])})))
    assert "b has the highest scaled accuracy of all but baselines; the baseline a has 0.500." in html


def _as_baseline(meta: Meta) -> MetricEvaluation:
    return meta.evaluations[0].model_copy(update={"baseline": True})


def test_titles_are_not_as_narrow_as_their_table() -> None:
    assert (
        printed(vote_table(AnnotationTable(title="Three words here", columns=("n",), rows={"x": ("1",)})))[0]
        == "Three words here"
    )


def test_small_languages_are_folded_away() -> None:
    body = section(full_page(), "language")
    first, rest = body.split("<details>")
    assert [row[0] for row in rows(first)] == [
        "English 1,900", "Chinese 512", "Arabic 480", "German 410", "Japanese 333", "Spanish 290", "Hindi 204",
        "Persian 130", "Hebrew 101",
    ]  # fmt: skip
    assert [row[0] for row in rows(rest)] == ["Swahili 100", "Tamil 64", "Yoruba 9", "not given 3"]
    assert "4 with 100 samples or fewer" in rest


def test_left_out_sources_as_in_figures_3_and_11() -> None:
    trained = made_up().leave_one_out[0]
    body = section(full_page(), "left_out")
    first = rows(body)[0]
    diagonal = [f"{trained.matrix[source][source].value:.2f}" for source in SOURCES]
    assert [cell.removesuffix(" *") for cell in first[1:9]] == diagonal
    assert first[0] == f"{BEST} left out"
    assert first[9].startswith("0.59")
    assert first[10] == f"{trained.average:.2f}"
    baseline = next(row for row in rows(body) if row[0] == "length")
    by = next(e for e in made_up().evaluations if e.metric == "length").by["source"]
    mean = sum(by[source]["scaled_accuracy"].value or 0 for source in SOURCES) / len(SOURCES)
    assert baseline[10] == f"{mean:.2f}".replace("-", "−")
    matrix = body.split("every model on every source</h3>")[1]
    assert [row[0] for row in rows(matrix)] == ["trained on all", *(f"without {source}" for source in SOURCES)]
    assert matrix.count("outlined") == len(SOURCES)


def test_a_matrix_with_holes() -> None:
    leave_one_out = LeaveOneOut(metric="m", matrix={"a": {"b": result("s", None)}, "c": {}}, average=None)
    body = section(meta_page(bare(leave_one_out=(leave_one_out,))), "left_out")
    assert rows(body) == [["m left out", "–", "–", "–"], ["m0", "–", "–", "–"]]
    assert rows(body.split("every model")[1]) == [["without a", "–"], ["without c", "–"]]


def test_comparisons() -> None:
    body = section(meta_page(two(difference=-0.2)), "comparisons")
    assert "<details open>" in body
    assert rows(body) == [["b − a", "−0.200 *", "–", "0.010", "0.010", "10"]]
    assert "<details open>" not in section(full_page(), "comparisons")


def test_only_metrics_that_state_a_confidence_are_in_its_table() -> None:
    listed = [row[0] for row in rows(section(full_page(), "confidence"))]
    assert listed
    assert all("ExCAM" in metric for metric in listed)


def test_only_metrics_that_mark_spans_are_in_their_table() -> None:
    body = section(full_page(), "quality")
    assert [row[0] for row in rows(body)] == ["ExCAM-r (Gemma3-27B)", "ExCAM-r (Phi-3-mini)"]


def test_disagreements_mark_the_gold_errors() -> None:
    body = section(full_page(), "disagreements")
    shrine = body.split("<article")[1]
    assert re.findall(r'<mark class="([\w ]+)"[^>]*>(.*?)</mark>', shrine) == [
        ("major", "clap "),
        ("major stacked", "ten times"),
        ("minor", ", shout"),
    ]
    assert "not found in the text: “ a golden bell ”" in words(shrine)
    assert 'dir="rtl" lang="ar"' in body.split("<article")[2]
    assert "Gold explanation عيد الفطر" in words(body.split("<article")[2])
    assert body.count("<article") == 8
    assert "3 more" in body


def test_scores_of_a_disagreement_highest_first() -> None:
    scores = {"a": -5.0, "b": None, "c": 0.931, "d": float("nan"), "e": -1.0}
    html = meta_page(bare(disagreements=(Disagreement(gold=gold(Sample(id="x", text="y")), scores=scores),)))
    shown = re.findall(r"<dt><bdi>(\w)</bdi></dt><dd>(.*?)</dd>", html)
    assert shown == [("c", "0.931"), ("e", "−1"), ("a", "−5"), ("b", "–"), ("d", "–")]


def test_a_gold_span_without_its_quote_is_not_marked() -> None:
    error = Error(side="text", start=0, end=3, quote="xyz", severity=Severity.MINOR, type="t")
    html = meta_page(bare(disagreements=(Disagreement(gold=gold(Sample(id="x", text="abcdef"), error), scores={}),)))
    assert "<mark" not in html
    assert "not found in the text" in html


def hostile() -> Meta:
    """Every text and name tries to be markup."""
    sample = Sample(
        id=HOSTILE, text=HOSTILE + "\ud800", instruction=HOSTILE, language=HOSTILE, region=HOSTILE, source=HOSTILE
    )
    error = Error(side="text", start=0, end=len(HOSTILE), quote=HOSTILE, severity=Severity.MAJOR, type=HOSTILE, explanation=HOSTILE)  # fmt: skip  # noqa: E501
    number = result("scaled_accuracy", 0.5)
    evaluation = MetricEvaluation(
        metric=HOSTILE,
        signature=Signature({HOSTILE: HOSTILE}),
        n=1,
        unscored=1,
        failures={HOSTILE: 1},
        scores={"scaled_accuracy": number, "span_f1": number, "auc": number},
        by={g: {HOSTILE: {"scaled_accuracy": number}} for g in GROUPINGS},
        roc=Curve(x=(0, 1), y=(0, 1)),
        pr=Curve(x=(0, 1), y=(1, 0)),
        distribution=ScoreBins(edges=(0, 1), counts={HOSTILE: (1,)}),
        calibration=dict.fromkeys(FIGURES, number),
    )
    return Meta(
        data=HOSTILE,
        revision=HOSTILE,
        split=HOSTILE,
        n=1,
        counts={},
        evaluations=(evaluation, evaluation),
        comparisons=(
            MetricComparison(first=HOSTILE, second=HOSTILE, statistic=HOSTILE, difference=0, p=1, adjusted=1, n=1),
        ),
        leave_one_out=(LeaveOneOut(metric=HOSTILE, matrix={HOSTILE: {HOSTILE: number}}, average=0.1),),
        disagreements=(Disagreement(gold=gold(sample, error, why=HOSTILE), scores={HOSTILE: 1.0}),),
        votes=(AnnotationTable(title=HOSTILE, columns=(HOSTILE,), rows={HOSTILE: (HOSTILE,)}, note=HOSTILE),),
        notes=(HOSTILE,),
    )


class Tags(HTMLParser):
    """Every tag and attribute as a browser would read them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_hostile_names_and_texts_are_only_text() -> None:
    html = meta_page(hostile())
    html.encode()
    assert sections(html) == SECTIONS
    read = Tags(html)
    assert not read.tags & {"script", "img", "iframe", "link"}
    assert not {name for name in read.attributes if name.startswith("on")} | read.attributes & {"style", "src"}
    assert html.count(HOSTILE.split("<script>")[1][:10]) > 20  # it is shown, though


# ---- in a browser ----------------------------------------------------------------------------------------------


def many() -> Meta:
    """Twenty metrics with long names, sixty languages, a hundred regions."""
    number = result("scaled_accuracy", 0.4)
    names = [f"a-rather-long-name-of-a-metric/number-{i} (with its prompt)" for i in range(20)]
    by = {
        grouping: {f"{grouping}-{i}": {"scaled_accuracy": number} for i in range(n)}
        for grouping, n in (("source", 14), ("language", 60), ("region", 100))
    }
    evaluations = [
        MetricEvaluation(
            metric=name,
            signature=Signature(metric=name * 4),
            n=9,
            unscored=1,
            scores={"scaled_accuracy": number},
            by=by,
        )
        for name in names
    ]
    counts = {g: {group: 200 - 3 * i for i, group in enumerate(groups)} for g, groups in by.items()}
    return bare(evaluations=tuple(evaluations), counts=counts, data="x" * 300, revision="f" * 64)


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Any]:
    with showing(browser, tmp_path) as show_page:
        yield lambda meta, **window: show_page(meta_page(meta), **window)


@pytest.mark.often("hostile")
@pytest.mark.parametrize("meta", [made_up(), many(), bare(), hostile()], ids=["full", "many", "bare", "hostile"])
def test_nothing_is_wider_than_the_window(show: Any, meta: Meta) -> None:
    assert_fits(show(meta))


@pytest.mark.slow
def test_sizes_and_colours_come_from_the_style_sheet(show: Any) -> None:
    page = show(made_up())
    styles = page.evaluate(
        "['.heat td.above', '.forest .point', '.series', '.kind.hard rect'].map((s) => {"
        " const style = getComputedStyle(document.querySelector(s));"
        " return [style.backgroundColor, style.fill, style.stroke]; })"
    )
    assert len({str(style) for style in styles}) == 4


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
def test_every_shade_of_a_heatmap_is_readable(show: Any, dark: bool) -> None:
    values = [i / 10 for i in range(-10, 11)]
    by = {"task": {f"{v:+.1f}": {"scaled_accuracy": result("s", v)} for v in values}}
    evaluation = MetricEvaluation(metric="m", signature=Signature(), n=1, unscored=0, scores={}, by=by)
    page = show(bare(evaluations=(evaluation,)), dark=dark, width=1900)
    ink = [
        int(part)
        for part in re.findall(r"\d+", page.evaluate("getComputedStyle(document.querySelector('.heat td')).color"))
    ]
    seen = set()
    for place in range(len(values)):
        flat = [p for row in pixels(page.screenshot(page.box(f".heat tbody td:nth-of-type({place + 1})"))) for p in row]
        ground = max(set(flat), key=flat.count)
        seen.add(ground)
        light, deep = sorted((luminance(list(ink)), luminance(list(ground))), reverse=True)
        assert (light + 0.05) / (deep + 0.05) >= 4.5, (values[place], ground)
    assert len(seen) == len(values)


@pytest.mark.slow
def test_the_keyboard_reaches_links_folds_and_wide_tables(show: Any) -> None:
    page = show(made_up(), width=360, height=740)
    reached = set()
    for _ in range(60):
        page.press("Tab")
        reached.add(page.evaluate("document.activeElement.tagName + '.' + document.activeElement.className"))
    assert {"A.", "DIV.scroll", "SUMMARY."} <= reached


@pytest.mark.slow
def test_a_wide_table_scrolls_under_the_names_of_its_rows(show: Any) -> None:
    page = show(many(), width=360, height=740, touch=True)
    left = page.evaluate(
        "(() => { const box = document.querySelector('#source .scroll'); box.scrollLeft = 300;"
        " return [box.scrollLeft, box.querySelector('tbody th').getBoundingClientRect().left"
        " - box.getBoundingClientRect().left]; })()"
    )
    assert left[0] == 300
    assert abs(left[1]) < 4
