"""Planted scripts and pictures do not run in a real browser, and no page breaks the studio's own policy."""

from __future__ import annotations

import pytest

from mores.studio import app
from mores.studio.store.database import Database
from mores.studio.store.people import sign_in
from tests.browser import Browser, binary
from tests.studio.planted import HOSTILE, Planted
from tests.studio.serving import serving, visitor

pytestmark = pytest.mark.skipif(binary() is None, reason="Chromium is not installed: apt-get install chromium")


def test_planted_scripts_do_not_run(database: Database, browser: Browser) -> None:
    planted = Planted(database, "culturalteaming", "qqmine", hostile=HOSTILE)
    campaign = planted.campaign.id
    judge, held = planted.judges["verifier"]
    organiser = ["/items", "/people", "/settings", f"/items/{planted.items[0].id}/life"]
    with serving(app(database, model="none", store=None)) as address:
        for person, paths in ((planted.organiser.id, organiser), (judge.id, ["", f"/items/{held[0]}"])):
            page = visitor(browser, address, sign_in(database, person))
            for path in ["/", *(f"/c/{campaign}{path}" for path in paths)]:
                page.open(f"{address}{path}")
                assert page.evaluate("typeof evil") == "undefined", path
                assert page.evaluate("document.querySelectorAll('evil-tag, img[src=x]').length") == 0, path
            assert page.dialogs == []
            assert page.problems == []
            assert not [url for url in page.requests if not url.startswith((address, "data:"))]
            page.close()
