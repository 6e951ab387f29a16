"""The ASGI app: `view_app("runs")`, to be served or mounted (docs/view.md)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlencode

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from mores.errors import InputError, MoresError
from mores.metric.api import score
from mores.metric.settings import ScoreSettings
from mores.report.base.names import group_name
from mores.report.bench.answers import MEASURED, answer_card
from mores.report.bench.answers import STATES as ANSWER_STATES
from mores.report.runs import run_page
from mores.report.score import text_card
from mores.run import open_run
from mores.settings import takes
from mores.studio.web.security import Guard
from mores.types import DEFAULT_INSTRUCTION, Judgement, Sample
from mores.view.answers import CHANGED as ANSWERS_CHANGED
from mores.view.answers import ListedAnswer, is_answers
from mores.view.copying import answers_code, compare_command, filter_code, show_command, try_code
from mores.view.door import Door
from mores.view.drawing import prepare, render, script, style
from mores.view.index import Filters, Said, TextIndex, TextIndexes, read_said
from mores.view.notes import NOTES, hand_over, keep_note, notes_table, read_notes
from mores.view.runs import Entry, RunFolder
from mores.view.settings import ViewAppSettings

TEXTS = 20
"""Texts of one page."""
RUNS = 100
"""Runs of one page."""
LONGEST_TRIED = 20_000
"""Characters of a text in the box."""
LONGEST_ADDRESS = 3000
"""Characters of a text and its instruction that are taken to the box."""
CHANGED = {
    "first": "only the first finds errors",
    "second": "only the second finds errors",
    "both": "both find errors, with other words or severities",
    "verdict": "without errors for one, not known for the other",
    "failed": "only one could judge the text",
}
STATES = (("errors", "With errors"), ("clean", "No errors found"), ("unknown", "Not known"), ("failed", "Not judged"))
ANSWERS = (*ANSWER_STATES.items(), (MEASURED, "Measured"))
COLUMNS = ("language", "region", "topic", "type", "failure")
"""What is filtered by besides the columns of a table."""
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
"""For what has its version in its address."""
_POLICY = re.compile(r'Content-Security-Policy" content="([^"]+)"')


class MissingError(MoresError):
    """A run, a file or a text that is not there."""


class Viewer(NamedTuple):
    """The state that the routes share."""

    settings: ViewAppSettings
    runs: RunFolder
    indexes: TextIndexes
    may_write: bool

    def entry(self, request: Request, place: int = 0) -> Entry:
        """Return the run that an address names; only those of the folder can be named."""
        names = request.query_params.getlist("run")
        name = names[place] if place < len(names) else ""
        if (found := self.runs.entries().get(name)) is None:
            raise MissingError(f"there is no run {name!r} in {self.runs.folder}")
        return found

    def file(self, entry: Entry, wanted: str | None) -> Path | None:
        """Return a file of judgements or graded answers of a run: the one that is wanted, or the first."""
        judged = entry.judged
        if wanted and wanted not in judged:
            raise MissingError(f"{entry.name}: there is no file {wanted!r} of texts or answers")
        return entry.path / (wanted or judged[0]) if judged else None

    def page(self, template: str, status: int = 200, **values: Any) -> HTMLResponse:
        """Return a page of the viewer."""
        shared = {"may_write": self.may_write, "folder": str(self.runs.folder), "model": self.settings.model}
        # A form of a page without a referrer has no origin either; to other sites none is sent.
        return HTMLResponse(render(template, **shared, **values), status, {"Referrer-Policy": "same-origin"})


@takes(ViewAppSettings)
def view_app(settings: ViewAppSettings) -> FastAPI:
    """Return the viewer of a folder as an ASGI app, to be served or mounted.

    With a `token` it is read-only unless `write` is given; without one, everybody who reaches it may write notes.
    """
    prepare()
    may_write = settings.write or not settings.token
    viewer = Viewer(settings, RunFolder(settings.folder), TextIndexes(), may_write)
    app = FastAPI(title="Mores view", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.viewer = viewer
    for path, page in READ.items():
        app.add_api_route(path, _bound(page, viewer), methods=["GET", "HEAD"], response_model=None)
    judging = asyncio.Lock()

    @app.post("/note")
    async def note(request: Request) -> Response:
        """Keep a star or a note; the page comes back to its text."""
        entry, form = viewer.entry(request), await read_form(request)
        identifier = form.get("id", "")
        star, words = form.get("star") == "on", form.get("note", "")
        await run_in_threadpool(keep_note, entry.path, identifier, star=star, note=words)
        return RedirectResponse(f"run?{form.get('back', '')}#{_anchor(identifier)}", 303)

    @app.post("/handover")
    async def handover(request: Request) -> Response:
        """Write the texts with a star for the studio, and say how they get there."""
        entry, form = viewer.entry(request), await read_form(request)
        chosen = [text for text in await run_in_threadpool(starred, viewer, entry) if text]
        if not chosen:
            raise InputError("no text of this run has a star; give one to each text that people should mark")
        title = form.get("title") or entry.name
        blank, spoken = form.get("begin") != "report", form.get("language", "")
        campaign, texts = hand_over(entry.path, chosen, title, blank=blank, spoken=spoken)
        return viewer.page("handover.html.j2", entry=entry, leaving=chosen, staying=0, campaign=campaign, texts=texts)

    @app.post("/try")
    async def judge(request: Request) -> Response:
        """Judge one text; one at a time, with the judge that the viewer was started with."""
        form = await read_form(request)
        given = {name: form[name] for name in ("instruction", "language", "region") if form.get(name)}
        if not form.get("text", "").strip() or len(form["text"]) > LONGEST_TRIED:
            raise InputError(f"give a text of at most {LONGEST_TRIED:,} characters")
        sample = Sample(id="text", text=form["text"], **{"instruction": DEFAULT_INSTRUCTION} | given)
        options = {name: value for name, value in vars(settings).items() if name in ScoreSettings.__dataclass_fields__}
        async with judging:
            [judgement] = await score([sample], **options)
        card, code = text_card(0, sample, judgement), try_code(sample, str(settings.model))
        return viewer.page("try.html.j2", form=form, card=card, copies=code)

    app.add_exception_handler(MoresError, _explain)
    app.add_middleware(Door, token=settings.token, write=may_write, hosts=settings.allow_host)
    app.add_middleware(Guard)
    return app


def _bound(page: Callable[[Viewer, Request], Response], viewer: Viewer) -> Callable[[Request], Response]:
    def answer(request: Request) -> Response:
        return page(viewer, request)

    return answer


def _explain(request: Request, error: Exception) -> Response:
    viewer: Viewer = request.app.state.viewer
    return viewer.page("problem.html.j2", 404 if isinstance(error, MissingError) else 422, reason=str(error))


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form; the last value of each."""
    body = (await request.body()).decode("utf-8", "replace")
    return {name: values[-1].replace("\r\n", "\n") for name, values in parse_qs(body, max_num_fields=50).items()}


def pages_of(n: int, size: int, request: Request) -> dict[str, Any]:
    """Return which page is shown, and the addresses of those beside it."""
    given = request.query_params.get("page", "1")
    last = max(1, -(-n // size))
    page = min(last, max(1, int(given) if given.isdecimal() and len(given) < 12 else 1))

    def address(number: int) -> str:
        kept = [(name, value) for name, value in request.query_params.multi_items() if name != "page" and value]
        return "?" + urlencode([*kept, ("page", number)])

    beside = {"previous": address(page - 1) if page > 1 else "", "next": address(page + 1) if page < last else ""}
    return {"page": page, "last": last, "n": n, "from": (page - 1) * size, **beside}


def read_filters(request: Request, notes: Mapping[str, Any] | None = None) -> Filters:
    """Return the filters that an address has."""
    given = request.query_params
    columns = [name for name in given if name in COLUMNS or name.startswith("column:")]
    cells = tuple((name, "" if given[name] == "-" else given[name]) for name in columns if given[name])
    marked = given.get("marked", "")
    kept = [name for name, each in (notes or {}).items() if marked != "star" or each.star]
    return Filters(
        q=given.get("q", "")[:200].strip(),
        state=given.get("state", ""),
        severity=given.get("severity", ""),
        weak=given.get("weak") == "on",
        sort=given.get("sort", ""),
        cells=cells,
        ids=tuple(kept) if marked in ("star", "note") else None,
    )


def starred(viewer: Viewer, entry: Entry) -> list[Judgement | Sample | None]:
    """Return the texts and answers of a run that have a star; None for an answer that is no text."""
    file = viewer.file(entry, None)
    index = viewer.indexes.of(file, wait=True) if file else None
    ids = tuple(note.sample_id for note in read_notes(entry.path).values() if note.star)
    if index is None or not ids:
        return []
    found = index.find(Filters(ids=ids, sort="input"))
    return [said.sample if isinstance(said, ListedAnswer) else said for _, said in found]


# ---- pages -----------------------------------------------------------------------------------------------------


def show_runs(viewer: Viewer, request: Request) -> Response:
    """Show all runs, the newest first."""
    entries = list(viewer.runs.entries().values())
    given = request.query_params
    wanted = {name: given.get(name, "") for name in ("q", "kind", "status", "model")}
    chosen = {name: wanted[name] for name in ("kind", "status", "model") if wanted[name]}
    fitting = [
        entry
        for entry in entries
        if all(getattr(entry, name) == value for name, value in chosen.items()) and entry.says(wanted["q"])
    ]
    pages = pages_of(len(fitting), RUNS, request)
    choices = {name: sorted({getattr(entry, name) for entry in entries} - {""}) for name in ("kind", "status", "model")}
    shown = fitting[pages["from"] : pages["from"] + RUNS]
    live = {entry.name: viewer.runs.progress(entry) for entry in shown if entry.status == "running"}
    return viewer.page(
        "runs.html.j2", entries=shown, pages=pages, choices=choices, given=wanted, live=live, total=len(entries)
    )


def show_run(viewer: Viewer, request: Request) -> Response:
    """Show what a run is, and its texts where it judged some."""
    entry = viewer.entry(request)
    given = request.query_params
    file = viewer.file(entry, given.get("file"))
    notes = read_notes(entry.path)
    filters = read_filters(request, notes)
    live = viewer.runs.progress(entry) if entry.status == "running" else {}
    others = [each for each in viewer.runs.entries().values() if entry.can_compare(each)]
    others.sort(key=lambda each: not entry.is_about_the_same_as(each))
    made_from = entry.manifest.parents if entry.manifest else ()
    parents = [name for parent in made_from if (name := _below(viewer, entry, parent))]
    values: dict[str, Any] = {"entry": entry, "file": file, "live": live, "others": others, "parents": parents}
    answered = file is not None and is_answers(file)
    values |= {"noun": "answer" if answered else "text", "shown": ANSWERS if answered else STATES}
    values |= {"notes": notes, "filters": filters, "given": given, "copies": show_command(entry.path), "cards": []}
    if file is None:
        return viewer.page("run.html.j2", index=None, reading=False, **values)
    code = answers_code(entry.path, filters) if answered else filter_code(entry.path, file.name, filters)
    values["copies"] = {**show_command(entry.path), "Python": code}
    index = viewer.indexes.of(file)
    if index is None:  # it is being made: the first texts can be shown without it
        cards = [card_of(place, each) for place, (_, each) in enumerate(islice(read_said(file), TEXTS))]
        return viewer.page("run.html.j2", index=None, reading=True, **values | {"cards": cards})
    pages = pages_of(index.count(filters), TEXTS, request)
    values["cards"] = [card_of(place, judgement) for place, judgement in index.find(filters, pages["from"], TEXTS)]
    options = named_options(index)
    states = index.states()
    return viewer.page("run.html.j2", index=index, reading=False, pages=pages, options=options, states=states, **values)


def _below(viewer: Viewer, entry: Entry, parent: str) -> str:
    """Return the name of the run that another was made from, where it is in the folder too."""
    path = (entry.path / parent).resolve()
    name = path.relative_to(viewer.runs.folder).as_posix() if path.is_relative_to(viewer.runs.folder) else ""
    return name if name in viewer.runs.entries() else ""


def card_of(place: int, judgement: Said) -> dict[str, Any]:
    """Return a text or an answer as the templates show it."""
    if isinstance(judgement, ListedAnswer):
        card = answer_card(*judgement)
        named = {"id": judgement.id, "anchor": _anchor(judgement.id)}
        return {"answer": card, "to_try": _to_try(judgement.sample), **named}
    sample = judgement.sample or Sample(id=judgement.sample_id, text="")
    named = {"id": sample.id, "anchor": _anchor(sample.id)}
    return {**text_card(place, sample, judgement), "answer": None, "to_try": _to_try(sample), **named}


def _to_try(sample: Sample | None) -> dict[str, str]:
    """Return the fields of the box for a text that fits into an address."""
    if sample is None or len(sample.text) + len(sample.instruction) >= LONGEST_ADDRESS:
        return {}
    return sample.model_dump(include={"text", "instruction", "language", "region"}, exclude_none=True)


def _anchor(identifier: str) -> str:
    return "t" + blake2b(identifier.encode("utf-8", "replace"), digest_size=6).hexdigest()


def named_options(index: TextIndex) -> dict[str, list[tuple[str, str, int]]]:
    """Return the values of the columns as a form offers them: value, name, count."""
    return {
        column: [(value or "-", group_name(column, value), n) for value, n in values]
        for column, values in sorted(index.options().items(), key=lambda each: (*COLUMNS, each[0]).index(each[0]))
        if len(values) > 1 or column in ("type", "failure")
    }


def show_comparison(viewer: Viewer, request: Request) -> Response:
    """Show two runs side by side, text by text or question by question, where they differ."""
    given = request.query_params
    first, second = viewer.entry(request), viewer.entry(request, 1)
    files = [viewer.file(entry, None) for entry in (first, second)]
    if not first.can_compare(second):
        raise InputError(
            "only runs that judged texts can be compared with each other, and runs of mores bench; choose two of a kind"
        )
    ours, theirs = (viewer.indexes.of(file) for file in files if file)
    answered = first.kind == "bench"
    names = ANSWERS_CHANGED if answered else CHANGED
    values: dict[str, Any] = {"entries": (first, second), "given": given, "names": names, "answered": answered}
    values["copies"] = compare_command(first.path, second.path)
    if ours is None or theirs is None:
        return viewer.page("compare.html.j2", reading=True, pairs=[], **values)
    filters = read_filters(request)
    change = given.get("change", "")
    pages = pages_of(ours.count_pairs(theirs, change, filters), TEXTS, request)
    pairs = [
        {"cards": [card_of(2 * place, pair.first), card_of(2 * place + 1, pair.second)], "about": pair}
        for place, pair in enumerate(ours.pairs(theirs, change, filters, pages["from"], TEXTS))
    ]
    counts, options = ours.count_changes(theirs), named_options(ours)
    return viewer.page(
        "compare.html.j2", reading=False, pairs=pairs, pages=pages, counts=counts, options=options, **values
    )


def show_page(viewer: Viewer, request: Request) -> Response:
    """Show the whole page of a run, as `mores show RUN` writes it."""
    entry = viewer.entry(request)
    files = sorted(path for path in entry.path.iterdir() if path.is_file() and path.name != NOTES)
    html = render_run(entry.path, tuple((path.name, path.stat().st_mtime_ns) for path in files))
    policy = _POLICY.search(html)
    assert policy is not None, "every page has its policy"
    return HTMLResponse(html, headers={"Content-Security-Policy": f"{policy[1]}; frame-ancestors 'none'"})


@lru_cache(maxsize=8)
def render_run(path: Path, _files: tuple[tuple[str, int], ...]) -> str:
    """Return the page of a run; it is kept until one of its files changes."""
    return run_page(open_run(path))


def show_progress(viewer: Viewer, _request: Request) -> Response:
    """Return the status of every run, and how far those have come that are working."""
    entries = viewer.runs.entries().values()
    working = {entry.name: viewer.runs.progress(entry) for entry in entries if entry.status == "running"}
    return JSONResponse({"status": {entry.name: entry.status for entry in entries}, "working": working})


def show_box(viewer: Viewer, request: Request) -> Response:
    """Show the box in which a text is tried, filled where an address has a text."""
    return viewer.page("try.html.j2", form=dict(request.query_params), card=None, copies={})


def show_handover(viewer: Viewer, request: Request) -> Response:
    """Show which texts would be handed over, before anything is written."""
    entry = viewer.entry(request)
    found = starred(viewer, entry)
    leaving = [text for text in found if text]
    values: dict[str, Any] = {
        "leaving": leaving,
        "staying": len(found) - len(leaving),
        "answered": entry.kind == "bench",
    }
    return viewer.page("handover.html.j2", entry=entry, campaign=None, texts=None, **values)


def export_notes(viewer: Viewer, request: Request) -> Response:
    """Return the notes of a run with their texts, as CSV."""
    entry = viewer.entry(request)
    notes, file = read_notes(entry.path), viewer.file(entry, None)
    index = viewer.indexes.of(file, wait=True) if file else None
    shown = index.find(Filters(ids=tuple(notes), sort="input")) if index else []
    table = notes_table(
        (notes[said.id if isinstance(said, ListedAnswer) else said.sample_id], said) for _, said in shown
    )
    return Response(table, media_type="text/csv", headers={"Content-Disposition": "attachment; filename=notes.csv"})


def show_style(_viewer: Viewer, _request: Request) -> Response:
    """Return the style sheet of the reports with the viewer's own rules."""
    return Response(style(), media_type="text/css", headers=FOREVER)


def show_script(_viewer: Viewer, _request: Request) -> Response:
    """Return the script of the viewer."""
    return Response(script(), media_type="text/javascript", headers=FOREVER)


READ: dict[str, Callable[[Viewer, Request], Response]] = {
    "/": show_runs,
    "/run": show_run,
    "/compare": show_comparison,
    "/page": show_page,
    "/progress": show_progress,
    "/try": show_box,
    "/handover": show_handover,
    "/notes.csv": export_notes,
    "/static/view.css": show_style,
    "/static/view.js": show_script,
}
