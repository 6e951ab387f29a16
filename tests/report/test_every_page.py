"""What every page owes its reader: all of it on paper, and without scripts.

`MORES_PICTURES=docs/pictures pytest tests/report/test_every_page.py` takes the pictures of
docs/gallery.md (`make pictures`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mores.report import card
from mores.report.base.page import render_page
from mores.report.meta import describe_meta
from mores.report.runs import run_page
from tests.browser import Browser
from tests.report import (
    diagnose_samples,
    judging_samples,
    test_bench_page,
    test_card_page,
    test_collect_page,
    test_diagnose_page,
    test_longform_page,
    test_rate_page,
)
from tests.report import test_train_page as training
from tests.report.meta_samples import made_up
from tests.report.samples import PAIRS, page

PAGES: dict[str, Callable[[], str]] = {
    "score": lambda: page(PAIRS, title="Made-up texts"),
    "bench": lambda: test_bench_page.bench_page([test_bench_page.run(40)]),  # more than are shown at once
    "board": lambda: test_bench_page.board_of(*test_bench_page.several()),
    "longform": lambda: test_longform_page.page_of(test_longform_page.pairs(30, models=("model-a", "model-b"))),
    "meta": lambda: render_page(describe_meta(made_up())),
    "diagnose": lambda: test_diagnose_page.diagnose_page(diagnose_samples.everything()),
    "card": lambda: card.page(test_card_page.about(missing=["mango"])),
    "collect": lambda: test_collect_page.page(test_collect_page.questions(40)),
    "train": training.page,
    "judge-check": lambda: judging_samples.judge_check(run_page),
    "juice": lambda: judging_samples.juice(run_page),
    "people": lambda: judging_samples.people(run_page),
    "audit": lambda: judging_samples.audited(run_page),
    "topics": lambda: judging_samples.topics(run_page),
    "rate": test_rate_page.page,
}
IN_GALLERY = ("audit", "train")  # the others show results that are not made up: docs/picture.py
PAPER = 703
"""Width of an A4 page between our margins in CSS pixels."""
CONTROLS = "nav, button, label, script, style, head, [role=status], #none, #popover"
"""What nobody needs on paper or without scripts."""
UNSEEN = """(folded, controls) => [...document.querySelectorAll('body *')].filter((node) =>
    [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim())
    && !node.closest(controls) && (folded || !node.closest('details:not([open]) > :not(summary)'))
    && !(node.ownerSVGElement && ['title', 'desc'].includes(node.tagName))
    && !node.checkVisibility({contentVisibilityAuto: folded, visibilityProperty: true, opacityProperty: true})
).map((node) => node.outerHTML.slice(0, 120))"""
"""Every text that is not shown; texts in what is folded only if asked for."""
CUT_OFF = """[...document.querySelectorAll('body *')].filter((node) => node.checkVisibility()).filter((node) => {
    const {right, width} = node.getBoundingClientRect(), {overflowX, overflowY, clipPath} = getComputedStyle(node);
    const hides = !node.closest('svg') && clipPath === 'none' && (
        (overflowX !== 'visible' && node.scrollWidth > node.clientWidth + 1)
        || (overflowY !== 'visible' && node.scrollHeight > node.clientHeight + 1));
    const squeezed = node.matches('th[scope=row]') && width < 40;
    return right > innerWidth + 1 || hides || squeezed;
}).map((node) => node.outerHTML.slice(0, 120))"""


@pytest.mark.often("score", "train", "judge-check", "audit", "topics", "rate")
@pytest.mark.parametrize("name", PAGES)
def test_a_page_keeps_nothing_from_a_reader_on_paper_or_without_scripts(
    name: str, browser: Browser, tmp_path: Path
) -> None:
    path = tmp_path / f"{name}.html"
    path.write_text(PAGES[name](), encoding="utf-8")
    if (folder := os.environ.get("MORES_PICTURES")) and name in IN_GALLERY:
        picture = browser.page(width=1000, height=720)
        picture.open(path.as_uri())
        (Path(folder) / f"{name}.png").write_bytes(picture.screenshot())
        picture.close()
    tab = browser.page(dark=True)
    tab.send("Emulation.setScriptExecutionDisabled", value=True)
    tab.open(path.as_uri())
    assert tab.evaluate(f"({UNSEEN})(false, '{CONTROLS}')") == []
    idle = "[...document.querySelectorAll('button, input, select')].filter((node) => node.checkVisibility()).length"
    assert tab.evaluate(idle) == 0  # a control that does nothing is not shown
    tab.send("Emulation.setScriptExecutionDisabled", value=False)
    tab.send("Emulation.setEmulatedMedia", media="print")
    tab.resize(PAPER, 1000)
    tab.open(path.as_uri())
    assert tab.evaluate(f"({UNSEEN})(true, '{CONTROLS}')") == []
    assert tab.evaluate(CUT_OFF) == []
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    tab.close()
