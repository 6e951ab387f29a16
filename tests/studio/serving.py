"""The studio on a real port, and people with a browser in front of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mores.studio.web.visit import COOKIE
from tests.browser import Browser, Page
from tests.serving import serving

__all__ = ["fill", "follow", "serving", "visitor"]


def visitor(browser: Browser, address: str, cookie: str = "", **window: Any) -> Page:
    """A tab of someone who is signed in with this cookie, or of a stranger."""
    page = browser.page(**window)
    if cookie:
        page.send("Network.setCookie", name=COOKIE, value=cookie, url=address)
    return page


def fill(page: Page, **values: Any) -> None:
    """Fill in fields by name, as a person would see it: text is typed, boxes are ticked, several lines in order."""
    for name, value in values.items():
        script = """((name, value) => {
            const values = Array.isArray(value) ? value : [value];
            const fields = [...document.getElementsByName(name)].filter((field) => field.type !== "hidden");
            fields.forEach((field, place) => {
                if (field.type === "checkbox" || field.type === "radio") {
                    if (field.checked !== values.includes(field.value)) field.click();
                } else {
                    field.value = values[place] ?? "";
                    field.dispatchEvent(new Event("input", {bubbles: true}));
                }
            });
            return fields.length;
        })"""
        count = page.evaluate(f"{script}({json.dumps(name)}, {json.dumps(value)})")
        assert count, f"no field {name} on {page.evaluate('location.href')}"


def choose_file(page: Page, selector: str, path: Path) -> None:
    """Choose a file in a form."""
    root = page.send("DOM.getDocument")["root"]["nodeId"]
    node = page.send("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
    page.send("DOM.setFileInputFiles", files=[str(path)], nodeId=node)


def follow(page: Page, selector: str, timeout: float = 30.0) -> None:
    """Click something that leads to another page, and wait for it; a page that loads itself again is given the time."""
    script = """((selector) => {
        const node = document.readyState === "complete" && document.querySelector(selector);
        if (!node) return false;
        window.here = true;
        node.click();
        return true;
    })"""
    page.wait(f"{script}({json.dumps(selector)})", timeout)
    page.wait("!window.here && document.readyState === 'complete'", timeout)
