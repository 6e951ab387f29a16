"""A real headless Chromium for tests, driven through its DevTools protocol.

    with Browser() as browser:
        page = browser.page(width=360, height=740, touch=True)
        page.open(path.as_uri())
        page.tap("mark")
        assert page.evaluate("document.title") == "…"

Input is real (`Input.dispatch*`), so focus, hover and default actions happen as they do for a person. In tests the
fixture `browser` is one for all tests of a process; each tab has its own cookies and storage.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import aiohttp
import pytest

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first draws the same without a desktop's windows around each tab, for a fifth of the processor time."""
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--no-default-browser-check",
    "--no-first-run",
    "--remote-debugging-port=0",
)
TIMEOUT = 30.0
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36}
KEYS |= {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
KEYS |= {letter: ord(letter.upper()) for letter in "ajkmz123"} | {"?": 191}


def binary() -> str | None:
    """The path of Chromium; None where none is installed."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One Chromium process and the socket to it."""

    def __init__(self) -> None:
        path = binary()
        if path is None:
            raise FileNotFoundError(f"no browser: none of {', '.join(NAMES)} is on PATH")
        self._profile = tempfile.mkdtemp(prefix="browser-")
        command = [path, *FLAGS, f"--user-data-dir={self._profile}", "about:blank"]
        self._process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        self._runner = asyncio.Runner()
        self._pages: dict[str, Page] = {}
        self._last_id = 0
        try:
            self._session, self._socket = self._runner.run(self._connect(self._address()))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def page(self, *, width: int = 1280, height: int = 900, dark: bool = False, touch: bool = False) -> Page:
        """A new tab with nothing in common with the others."""
        context = self.send("Target.createBrowserContext")["browserContextId"]
        target = self.send("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self._pages[session] = Page(self, session, context)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.send(f"{domain}.enable")
        page.send("Page.setLifecycleEventsEnabled", enabled=True)
        page.resize(width, height, touch=touch)
        page.prefer(dark=dark)
        return page

    def send(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """One command and its answer; what happens meanwhile goes to the pages."""
        return self._runner.run(asyncio.wait_for(self._exchange(method, session, params), TIMEOUT))

    def close(self) -> None:
        """End the process and take its profile away."""
        if hasattr(self, "_socket"):
            self.send("Browser.close")  # Debian's command is a script: ending it would leave the browser behind
            self._runner.run(self._disconnect())
        self._runner.close()
        try:
            self._process.wait(10 if hasattr(self, "_socket") else 0)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        shutil.rmtree(self._profile, ignore_errors=True)

    @property
    def pages(self) -> list[Page]:
        """The tabs that are open."""
        return list(self._pages.values())

    def drop(self, page: Page) -> None:
        """Close a tab and forget its cookies and storage."""
        del self._pages[page.session]
        self.send("Target.disposeBrowserContext", browserContextId=page.context)

    def _address(self) -> str:
        """Where the process listens, as soon as it has said so."""
        port_file = Path(self._profile, "DevToolsActivePort")
        deadline = time.monotonic() + TIMEOUT
        while not (port_file.exists() and len(parts := port_file.read_text().split()) == 2):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{binary()} did not start (exit code {self._process.returncode})")
            time.sleep(0.05)
        return f"ws://127.0.0.1:{parts[0]}{parts[1]}"

    async def _connect(self, address: str) -> tuple[aiohttp.ClientSession, aiohttp.ClientWebSocketResponse]:
        session = aiohttp.ClientSession()
        return session, await session.ws_connect(address, max_msg_size=0)

    async def _disconnect(self) -> None:
        await self._socket.close()
        await self._session.close()

    async def _exchange(self, method: str, session: str | None, params: dict[str, Any]) -> dict[str, Any]:
        wanted = await self._post(method, session, params)
        while True:
            message = await self._socket.receive_json()
            if message.get("id") == wanted:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return dict(message["result"])
            await self._hear(message)

    async def _post(self, method: str, session: str | None, params: dict[str, Any]) -> int:
        self._last_id += 1
        message = {"id": self._last_id, "method": method, "params": params}
        await self._socket.send_json(message | ({"sessionId": session} if session else {}))
        return self._last_id

    async def _hear(self, message: dict[str, Any]) -> None:
        page = self._pages.get(message.get("sessionId", ""))
        if page is None or "method" not in message:
            return
        page.hear(message["method"], message["params"])
        if message["method"] == "Page.javascriptDialogOpening":  # an open dialog would block every other command
            await self._post("Page.handleJavaScriptDialog", page.session, {"accept": False})


class Page:
    """One tab: what it shows, what a person does with it, and what went wrong in it."""

    def __init__(self, browser: Browser, session: str, context: str) -> None:
        self.session = session
        self.context = context
        self.problems: list[str] = []
        """Uncaught exceptions, console errors and refused loads."""
        self.dialogs: list[str] = []
        self._requests: dict[str, str] = {}
        self._browser = browser
        self._loaded = ""

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """One command of the DevTools protocol."""
        return self._browser.send(method, self.session, **params)

    @property
    def requests(self) -> list[str]:
        """Every URL that was asked for, the page itself included; not what its own policy held back."""
        return list(self._requests.values())

    def close(self) -> None:
        """Close the tab."""
        self._browser.drop(self)

    def hear(self, method: str, params: dict[str, Any]) -> None:
        """Take note of one event."""
        match method:
            case "Page.lifecycleEvent" if params["name"] == "load":
                self._loaded = params["loaderId"]
            case "Network.requestWillBeSent":
                self._requests[params["requestId"]] = params["request"]["url"]
            case "Network.loadingFailed" if params.get("blockedReason"):
                self._requests.pop(params["requestId"], None)
            case "Page.javascriptDialogOpening":
                self.dialogs.append(params["message"])
            case "Runtime.exceptionThrown":
                self.problems.append(json.dumps(params["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "assert"):
                self.problems.append(json.dumps(params["args"]))
            case "Log.entryAdded" if params["entry"]["level"] == "error":
                self.problems.append(params["entry"]["text"])

    def open(self, url: str) -> None:
        """Go to `url` and wait until it has loaded: this page, not one that was on its way before.

        A page that loads itself again at that moment takes the place of the one that is opened: then once more.
        """
        for last in (False, True):
            answer = self.send("Page.navigate", url=url)
            if "errorText" in answer:
                raise RuntimeError(f"{url}: {answer['errorText']}")
            if "loaderId" not in answer:  # only the fragment changed
                return
            loader = answer["loaderId"]
            try:
                self.wait(lambda loader=loader: self._loaded == loader, TIMEOUT / 2)  # type: ignore[misc]
                return
            except TimeoutError:
                if last:
                    raise

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression; a promise is awaited, an exception raised."""
        answer = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def wait(self, condition: str | Callable[[], object], timeout: float = TIMEOUT) -> None:
        """Wait until a JavaScript expression, or a function, is true; an expression may fail while a page loads."""
        deadline, pause = time.monotonic() + timeout, 0.005
        while True:
            failure = None
            try:
                if condition() if callable(condition) else self.evaluate(condition):
                    return
            except RuntimeError as error:
                failure = error
            if time.monotonic() > deadline:
                raise TimeoutError(f"still not true: {condition}") from failure
            time.sleep(pause)
            pause = min(1.5 * pause, 0.05)
            with suppress(RuntimeError):  # the page before may just be going
                self.evaluate("0")  # events are heard while a command runs; a timer would never end without scripts

    def resize(self, width: int, height: int, *, touch: bool = False) -> None:
        """Set the size of the window; with `touch`, behave as a phone."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": touch}
        self.send("Emulation.setDeviceMetricsOverride", **metrics)
        self.send("Emulation.setTouchEmulationEnabled", enabled=touch)

    def prefer(self, *, dark: bool) -> None:
        """Choose the colour scheme of the reader."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def box(self, selector: str) -> tuple[float, float, float, float]:
        """Left, top, width and height of an element in the window, scrolled into view if it was not."""
        values = self.evaluate(
            f"""(() => {{
                const node = document.querySelector({json.dumps(selector)});
                if (!node) return null;
                node.scrollIntoView({{block: "nearest", inline: "nearest", behavior: "instant"}});
                const box = node.getClientRects()[0];
                return [box.left, box.top, box.width, box.height];
            }})()"""
        )
        if values is None:
            raise LookupError(f"no element matches {selector}")
        left, top, width, height = values
        return left, top, width, height

    def centre(self, selector: str) -> tuple[float, float]:
        """The middle of an element, or of its first line when it is broken over several."""
        left, top, width, height = self.box(selector)
        return left + width / 2, top + height / 2

    def move(self, x: float, y: float) -> None:
        """Move the mouse."""
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def hover(self, selector: str) -> None:
        """Move the mouse onto an element."""
        self.move(*self.centre(selector))

    def click(self, selector: str) -> None:
        """Click an element with the mouse, where it stands once what was scrolled into view has its real size."""
        x, y = self.centre(selector)
        for _ in range(20):
            self.move(x, y)
            self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            now = self.centre(selector)
            if now == (x, y) and self._hits(selector, x, y):
                break
            x, y = now
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def _hits(self, selector: str, x: float, y: float) -> bool:
        """Whether this place of the window shows the element, or what is in it."""
        shown = f"document.elementFromPoint({x}, {y})"
        return bool(self.evaluate(f"document.querySelector({json.dumps(selector)}).contains({shown})"))

    def tap(self, selector: str) -> None:
        """Tap an element with a finger."""
        x, y = self.centre(selector)
        self.send("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def press(self, key: str, *, ctrl: bool = False, shift: bool = False) -> None:
        """Press and release one of `KEYS`."""
        text = "" if ctrl else {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        event = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": KEYS[key]}
        event["modifiers"] = 2 * ctrl + 8 * shift
        self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **event)
        self.send("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text: str) -> None:
        """Type into the element that has the focus."""
        self.send("Input.insertText", text=text)

    def screenshot(self, clip: tuple[float, float, float, float] | None = None) -> bytes:
        """A PNG of the window, or of a box (left, top, width, height) of it."""
        params: dict[str, Any] = {"format": "png"}
        if clip is not None:
            x, y = self.evaluate("[scrollX, scrollY]")
            names = ("x", "y", "width", "height")
            params["clip"] = dict(zip(names, (clip[0] + x, clip[1] + y, *clip[2:]), strict=True)) | {"scale": 1}
        return b64decode(self.send("Page.captureScreenshot", **params)["data"])


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A running Chromium; tests that need it are skipped where there is none."""
    if binary() is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is on PATH")
    with Browser() as running:
        yield running


def pixels(png: bytes) -> list[list[tuple[int, int, int]]]:
    """The rows of an 8-bit RGB or RGBA PNG, which is what Chromium writes."""
    if png[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("not a PNG")
    width, height, depth, colour = struct.unpack(">IIBB", png[16:26])
    step = {(8, 2): 3, (8, 6): 4}[depth, colour]
    raw, data, at = zlib.decompress(_image_data(png)), bytearray(width * step), 0
    rows = []
    for _ in range(height):
        data = _unfilter(raw[at], raw[at + 1 : at + 1 + width * step], data, step)
        at += 1 + width * step
        rows.append([(data[i], data[i + 1], data[i + 2]) for i in range(0, width * step, step)])
    return rows


def _image_data(png: bytes) -> bytes:
    at, parts = 8, []
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            parts.append(png[at + 8 : at + 8 + length])
        at += length + 12
    return b"".join(parts)


def _unfilter(kind: int, line: bytes, above: bytearray, step: int) -> bytearray:
    """Undo the row filter of PNG (RFC 2083, Section 6)."""
    out = bytearray(len(line))
    for i, value in enumerate(line):
        left, up, corner = (out[i - step], above[i], above[i - step]) if i >= step else (0, above[i], 0)
        nearest = min((left, up, corner), key=lambda near: abs(left + up - corner - near))
        out[i] = (value + (0, left, up, (left + up) // 2, nearest)[kind]) % 256
    return out
