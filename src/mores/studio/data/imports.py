"""Items from files: the rows of tables, our own exports, Label Studio's and pearmut's JSON, MQM TSV.

Everything is read and checked before anything is written. The same file a second time changes nothing: each row has a
key that is made from the file.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from mores.culture import language, region
from mores.errors import InputError, nearest, suggest
from mores.io.columns import ColumnReader, TableColumn, TableReport, Wanted
from mores.io.fields import name_columns
from mores.io.rows import Reading, read_rows
from mores.io.source import SUFFIXES, TableSource
from mores.metric.mqm_tsv import Segment, read_mqm_tsv
from mores.studio.data.incoming import METADATA, ImportedAnswer, Incoming, check_stopping, read_json
from mores.studio.data.label_studio import read_label_studio
from mores.studio.data.pearmut import read_pearmut
from mores.studio.form import FormError, FormField, StudioForm, as_sent, read_form, storable_values
from mores.studio.marks import to_marks
from mores.studio.progress import report
from mores.studio.records import Content, Person, Role
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign, append, now
from mores.studio.store.people import PersonProfile, add_person, record
from mores.studio.store.tables import events, members, people
from mores.studio.workflow import CampaignStage, Cast, Create, Refused, Take, act, is_judged

UNKNOWN = Segment.parse("").system
"""The system of a segment that names none."""


def read_mqm(text: str, name: str) -> list[Incoming]:
    """Return the segments of a file, each once, with every rater's marks; who could not judge one has no answer."""
    items: dict[str, Incoming] = {}
    try:
        judgements = read_mqm_tsv(text if "\n" in text else f"{text}\n")
    except InputError as error:
        raise InputError(str(error).replace("MQM TSV", name, 1)) from error
    for number, judgement in enumerate(judgements, 1):
        content = {"instruction": judgement.instruction or "", "text": judgement.text or ""}
        system = Segment.parse(judgement.sample_id).system
        content |= {"source": system} if system != UNKNOWN else {}
        blank = Incoming(
            f"{name}: segment {number}, {judgement.sample_id}",
            storable_values(content),
            judgement.region or "",
            judgement.language or "",
            id=judgement.sample_id,
        )
        item = items.setdefault(judgement.sample_id, blank)
        if judgement.report is not None:
            marks = storable_values(to_marks(judgement.report.errors))
            given = ImportedAnswer(f"MQM {judgement.judge}", {"marks": marks})
            items[judgement.sample_id] = item._replace(answers=(*item.answers, given))
    return list(items.values())


MOST_ROWS = 20_000
LONGEST_FILE = 50_000_000
BATCH = 200
"""Items that are written in one transaction, so that people who work do not wait long."""
LOOKED_AT = 200
"""Columns that are not known among which misspelt ones are looked for."""
ABOUT = ("region", "language", "id")
"""The columns about an item that all campaigns know; the others are its content."""


class ImportColumns(NamedTuple):
    """The columns that a campaign takes from a table."""

    wanted: Wanted
    also: frozenset[str] | None = None
    """Other columns that are content; None where all are."""

    def leave(self, others: Sequence[str]) -> frozenset[str]:
        """Return which columns are no content; a misspelt one is, and its error says so."""
        if self.also is None:
            return frozenset()
        wanted = [column.name for column in self.wanted.columns]
        beginnings = tuple(name.removesuffix("NAME") for name in wanted if name.endswith("_NAME"))
        left = frozenset(name for name in others if not name.startswith(beginnings or "\0"))
        return left - self.also - {name for name in others[:LOOKED_AT] if nearest(name, wanted, 0.8)}


ANY = ImportColumns(Wanted((*(TableColumn(name, kind="metadata") for name in ABOUT[:2]), TableColumn("id"))))


def import_columns(campaign: Campaign, stage: CampaignStage) -> ImportColumns:
    """Return the columns of tables for a stage, which have the names that other tables of Mores may have."""
    kind = campaign.kind
    if kind.also is None and not _writing(campaign, stage):
        return ANY
    fields = (field.name for field in _fields(campaign, stage))
    also = frozenset(kind.also or ())
    columns = name_columns((*list_columns(campaign, stage), *fields, "id"), also)
    return ImportColumns(Wanted(tuple(columns)), also)


class Imported(NamedTuple):
    """The outcome of an import."""

    items: int = 0
    answers: int = 0
    known: int = 0
    """Items that the same file has brought before."""
    refused: int = 0
    """Answers that came after their item was decided."""
    unclaimed: int = 0
    """Items that were to be given to authors, and for whose language there is none who may begin another."""


def read_table_rows(
    data: bytes,
    name: str,
    form: str,
    columns: ImportColumns = ANY,
    note: Callable[[TableReport], object] = lambda _report: None,
) -> list[Incoming]:
    """Return the rows of a table with a header, or of JSON objects; `note` is told what was read as what."""
    source, reader = TableSource(Path(name), form, data=data), ColumnReader(columns.wanted)
    left: dict[tuple[str, ...], frozenset[str]] = {}

    def choose(table: TableSource, names: Sequence[str], line: int | None) -> None:
        reader.choose(table, names, line)
        if any(map(_is_inside, names)):
            reader.is_untyped = False  # Mores wrote it: `NA` is Namibia, and `nan` Min Nan

    rows: list[Incoming] = []
    for row in read_rows(source, Reading(choose)):
        if isinstance(row, InputError):
            raise row
        check_stopping(row.place)
        reader.rows += 1
        is_ours = isinstance(row.values.get("content"), dict) or any(map(_is_inside, row.values))
        match = (ANY.wanted if is_ours else reader).match(tuple(row.values))
        about = {column: reader.value(match, row.values, column) for column in ABOUT}
        if match.others not in left:
            left[match.others] = frozenset() if is_ours else columns.leave(match.others)
        try:
            names = {reader.name(match, row.values, column): column for column in match.names if column not in about}
            taken = {*names, *match.others} - left[match.others]
            given = {names.get(column, column): value for column, value in row.values.items() if column in taken}
            for column, value in given.items():
                if isinstance(value, float) and not math.isfinite(value):
                    raise InputError(f"{column!r} is {value}, which is not a number; write a number or a text")
            others = _kept(reader.extras(match, row.values), row.values.get(METADATA), left[match.others])
            rows.append(_row(storable_values(given | about), row.place, storable_values(others)))
        except InputError as error:
            unclear = error.setting == "columns"  # which the terminal could name
            problem = f"{str(error).partition(';')[0]}; rename one of them" if unclear else error
            raise InputError(f"{row.place}: {problem}") from error
        if len(rows) > MOST_ROWS:
            raise InputError(f"{name}: more than {MOST_ROWS:,} items; import at most {MOST_ROWS:,} at once")
    unread = dict.fromkeys(name for others, names in left.items() for name in others if name in names)
    table = reader.report(source)
    kept = tuple(name for name in table.kept if name in unread)
    note(table.model_copy(update={"unread": tuple(unread), "kept": kept}))
    return rows


def _kept(extras: Mapping[str, Any], metadata: object, left: frozenset[str]) -> dict[str, Any]:
    """Return what stays with a row of the columns that are no content, and of the metadata that Mores wrote."""
    given = metadata if isinstance(metadata, dict) and METADATA in left else {}
    return given | {name: value for name, value in extras.items() if name in left}


def _is_inside(column: str) -> bool:
    """Return whether a column is part of the content of an item, in a table that Mores wrote."""
    return column.startswith("content.")


def _row(values: Mapping[str, Any], place: str, others: Mapping[str, Any]) -> Incoming:
    """Return a row as an item: our own tables have the content apart, in others every field is content."""
    where, tongue, name = (str(values.get(key) or "").strip() for key in ("region", "language", "id"))
    if isinstance(values.get("content"), dict):
        return Incoming(place, values["content"], where, tongue)
    ours = {key.removeprefix("content."): _cell(value) for key, value in values.items() if _is_inside(key)}
    if ours:
        return Incoming(place, {key: value for key, value in ours.items() if value != ""}, where, tongue)
    content: Content = {}
    for key, value in values.items():
        stem, _, number = key.rpartition("_")
        if stem and number.isdigit() and f"{stem}_1" in values:  # columns such as `options_1`, `options_2` are one list
            if stem in values:
                raise InputError(f"columns {stem!r} and '{stem}_1', which are one list; rename or remove one of them")
            content.setdefault(stem, []).append(value)
        elif key not in ("region", "language", "id"):
            content[key] = value
    return Incoming(place, content, where, tongue, id=name, metadata=others)


def _cell(value: Any) -> Any:
    """Read a cell of our own CSV: lists and records are JSON."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return read_json(value, "")
        except InputError:
            return value
    return value


TABLES = ("csv", "jsonl", "tsv", "json", "xlsx", "parquet", "arrow")
READERS: Mapping[str, Callable[[str, str, StudioForm | None], list[Incoming]]] = {
    "label-studio": read_label_studio,
    "pearmut": read_pearmut,
    "mqm": lambda text, name, _form: read_mqm(text, name),
}


def guess_format(name: str, text: str) -> str:
    """Return the format of a file, by its name and its beginning."""
    if text[:10].casefold().startswith("system\tdoc"):
        return "mqm"
    if (form := SUFFIXES.get(Path(name.lower()).suffix)) in TABLES and form not in ("json", "jsonl"):
        return str(form)
    start = text.lstrip()[:2000]
    if start.startswith("["):
        return "label-studio" if re.search(r'"(?:data|annotations)"\s*:', text[:200_000]) else "json"
    if '"annotation"' in start and '"user_id"' in text[:200_000]:
        return "pearmut"
    if '"campaign_id"' in text and '"data"' in text and not name.lower().endswith(".jsonl"):
        return "pearmut"
    return "jsonl"


def read_items_files(
    campaign: Campaign,
    files: Sequence[tuple[str, bytes]],
    form: str = "",
    stage: str = "",
    note: Callable[[TableReport], object] = lambda _report: None,
) -> list[Incoming]:
    """Return the items of files, checked against the campaign; a kind may join rows of different files.

    `note` is told which column of each table was read as what. InputError names the file, the line and the fix.
    """
    target = find_import_stage(campaign, stage)
    rows = [row.apart() for name, data in files for row in _read_file(campaign, target, data, name, form, note)]
    names = ", ".join(name for name, _ in files)
    incoming = campaign.kind.join(rows)
    if not incoming:
        raise InputError(f"{names}: no items in it")
    if len(incoming) > MOST_ROWS:
        raise InputError(f"{names}: {len(incoming):,} items; import at most {MOST_ROWS:,} at once")
    return [check(campaign, target, row) for row in incoming]


def _read_file(
    campaign: Campaign,
    target: CampaignStage,
    data: bytes,
    name: str,
    form: str,
    note: Callable[[TableReport], object],
) -> list[Incoming]:
    """Return the rows of a file, not checked yet."""
    if len(data) > LONGEST_FILE:
        raise InputError(f"{name}: {len(data):,} bytes; import at most {LONGEST_FILE:,} at once")
    form = form or guess_format(name, data.decode("utf-8-sig", "replace"))
    if form in TABLES:
        return read_table_rows(data, name, form, import_columns(campaign, target), note)
    if form not in READERS:
        raise InputError(f"unknown format {form!r}; import one of {', '.join((*TABLES, *READERS))}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(f"{name}:{line}: not UTF-8; save the file as UTF-8") from error
    return READERS[form](text, name, target.form(campaign.blank(target.name, {})))


def find_import_stage(campaign: Campaign, name: str = "") -> CampaignStage:
    """Return where items come in: the stage of that name, or the first where others' items are judged."""
    stages = campaign.flow.stages
    if name and name not in campaign.flow.named:
        raise InputError(f"there is no stage {name!r}; there are {', '.join(stage.name for stage in stages)}")
    return campaign.flow.stage(name) if name else next((stage for stage in stages if is_judged(stage)), stages[0])


def check(campaign: Campaign, stage: CampaignStage, row: Incoming) -> Incoming:
    """Return a row as the campaign wants it: known fields, a known region and language, and whole answers."""
    place, settings = row.place, campaign.settings
    check_stopping(place)
    try:
        where = region(row.region) if row.region else ""
        tongue = language(row.language) if row.language else ""
    except InputError as error:
        raise InputError(f"{place}: {error}") from error
    for value, allowed, kind in ((where, settings.regions, "region"), (tongue, settings.languages, "language")):
        needed = stage.regional if kind == "region" else stage.speaking
        if not value and len(allowed) == 1:
            where, tongue = (allowed[0], tongue) if kind == "region" else (where, allowed[0])
        elif not value and needed:
            raise InputError(f"{place}: no {kind}; “{stage.title}” is for people who match it: add a column {kind!r}")
        elif value and allowed and value not in allowed:
            raise InputError(f"{place}: the {kind} {value!r} is not one of the campaign's: {', '.join(allowed)}")
    content = _content(campaign, stage, row, where, tongue)
    form = stage.form(campaign.blank(stage.name, content, region=where, language=tongue))
    if row.answers and not is_judged(stage):
        raise InputError(f"{place}: it has answers, and nobody judges items at “{stage.title}”; choose another stage")
    answers = tuple(
        given._replace(answer=_read(form, given.answer, f"{place}: {given.person}")) for given in row.answers
    )
    content |= {METADATA: dict(row.metadata)} if row.metadata else {}
    return Incoming(place, content, where, tongue, answers)


def _content(campaign: Campaign, stage: CampaignStage, row: Incoming, where: str, tongue: str) -> Content:
    """Return the content by the forms with which authors would have written it, or as the kind admits it."""
    writing = _writing(campaign, stage)
    if not writing:
        try:
            named = {"id": row.id} if row.id and "id" in campaign.kind.columns else {}
            return campaign.kind.admit(campaign.settings, named | row.content)
        except InputError as error:
            raise InputError(f"{row.place}: {error}") from error
    blank = campaign.blank(writing[-1].name, row.content, region=where, language=tongue)
    forms = [each.form(blank) for each in writing]
    known = {field.name for form in forms for field in form.fields}
    if unknown := [name for name in row.content if name not in known]:
        hint = suggest(unknown[0], known)
        raise InputError(f"{row.place}: unknown field {unknown[0]!r}; {hint}expected {', '.join(sorted(known))}")
    content: Content = {}
    for number, form in enumerate(forms):
        last = number == len(forms) - 1 and not stage.own
        given = {field.name: row.content[field.name] for field in form.fields if field.name in row.content}
        read = _read(form, given, row.place, draft=not last)
        content |= {name: value for name, value in read.items() if name in row.content or name not in content}
    return content


def _writing(campaign: Campaign, stage: CampaignStage) -> list[CampaignStage]:
    """Return the stages until this one at which authors write."""
    return [each for each in campaign.flow.stages[: campaign.flow.place(stage.name) + 1] if each.own]


def _read(form: StudioForm, values: Content, place: str, *, draft: bool = False) -> Content:
    """Read values as the form would; fields that it does not have are an error."""
    known = {field.name for field in form.fields}
    if not known:
        return values
    if unknown := [name for name in values if name not in known]:
        raise InputError(f"{place}: unknown field {unknown[0]!r}; expected {', '.join(sorted(known))}")
    try:
        sent = {name: as_sent(value) for name, value in values.items()}
        stripped = {name: [text.strip() for text in texts] for name, texts in sent.items()}
        return read_form(form, sent, draft=draft, before=stripped)  # with the line ends of the file
    except FormError as error:
        raise InputError(f"{place}: {error}") from error


def import_items(
    database: Database,
    campaign: Campaign,
    person: Person,
    rows: Sequence[Incoming],
    data: bytes,
    stage: str = "",
    authors: Sequence[Person] | None = None,
) -> Imported:
    """Write items that were read and checked; what the same file brought before stays as it is.

    With `authors`, each item is given to one of them who knows its language, to go on with as their own.
    """
    target = find_import_stage(campaign, stage)
    if not campaign.flow.open:
        raise Refused("This campaign is closed.")
    source = sha256(data).hexdigest()[:20]
    total, given = Imported(), Counter[str]()
    for start in range(0, len(rows), BATCH):
        check_stopping(rows[start].place)
        report(start, len(rows))
        with database.write() as connection:
            for number, row in enumerate(rows[start : start + BATCH], start):
                writer = person if authors is None else choose_author(authors, row, given)
                added = _write(connection, campaign, writer, target, row, f"import-{source}-{number}")
                given.update([writer.id] * added.items if writer else ())
                total = Imported(*(one + other for one, other in zip(total, added, strict=True)))
    with database.write() as connection:
        detail = f"{target.name}: {total.items:,} + {total.answers:,}, sha256 {source}…"
        record(connection, person.id or None, "imported", detail, campaign.id)
    return total


def choose_author(authors: Sequence[Person], row: Incoming, given: Counter[str]) -> Person | None:
    """Return who gets an item: someone who knows its language and may begin one, of its region, with the fewest."""
    able = [
        author
        for author in authors
        if (not row.language or row.language in author.languages)
        and author.qualified
        and (author.left is None or given[author.id] < author.left)
    ]
    return min(able, key=lambda author: (row.region not in author.regions, given[author.id]), default=None)


def _write(
    connection: Connection, campaign: Campaign, person: Person | None, stage: CampaignStage, row: Incoming, key: str
) -> Imported:
    known = connection.execute(select(events.c.item).where(events.c.campaign == campaign.id, events.c.key == key))
    if known.scalar() is not None:
        return Imported(known=1)
    if person is None:
        return Imported(unclaimed=1)
    brought = stage.name if Role.ORGANISER in person.roles else ""  # an author begins it as their own
    action = Create(token_hex(6), row.content, row.region, row.language, stage=brought)
    added = act(campaign.flow, None, person, action, now(), key)
    item = append(connection, campaign, None, added)
    refused = 0
    for number, answer in enumerate(row.answers):
        assert stage.role is not None
        matching = {"regions": {item.region}, "languages": {item.language}, "imported": True}
        identifier = _annotator(connection, campaign, answer.person, stage.role)
        giver = Person(id=identifier, roles=frozenset({stage.role}), **matching)
        try:  # as if they had given their answer here
            for given, suffix in ((Take(), "t"), (Cast(answer.answer, answer.seconds), "v")):
                moment, name = answer.at or now(), f"{key}.{number}{suffix}"
                item = append(connection, campaign, item, act(campaign.flow, item, giver, given, moment, name))
        except Refused:
            refused += 1
    return Imported(1, len(row.answers) - refused, 0, refused)


def _annotator(connection: Connection, campaign: Campaign, name: str, role: Role) -> str:
    """Return the member that stands for somebody in a file; made when they first occur."""
    query = select(people.c.id).join(members, members.c.person == people.c.id)
    found = connection.execute(query.where(members.c.campaign == campaign.id, people.c.name == name[:100])).scalar()
    if found is not None:
        return str(found)
    identifier = add_person(connection, PersonProfile(name=name[:100]))
    row = {"campaign": campaign.id, "person": identifier, "roles": [role.value], "joined": now()}
    connection.execute(members.insert(), row | {"qualified": True, "consented": now()})
    return identifier


def _fields(campaign: Campaign, stage: CampaignStage) -> list[FormField]:
    """Return what authors fill in until a stage."""
    blank = campaign.blank(stage.name, {})
    return [field for each in _writing(campaign, stage) for field in each.form(blank).fields]


def list_columns(campaign: Campaign, stage: CampaignStage) -> list[str]:
    """Return the columns that a CSV file for a stage may have, for people who write one."""
    names = ["region", "language"]
    for field in _fields(campaign, stage):
        if field.kind == "lines":
            names += [f"{field.name}_{number}" for number in range(1, field.count[1] + 1)]
        else:
            names.append(field.name)
    return list(dict.fromkeys((*names, *campaign.kind.columns)))
