"""Work of an organiser without a browser: making campaigns, inviting, exporting, importing, making tables again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from mores.benchmark.folder import LONGFORM
from mores.errors import InputError
from mores.formatting import count
from mores.hub import Upload, push
from mores.io.columns import TableReport
from mores.io.source import read_text
from mores.longanswer.evaluate import ANSWERS
from mores.studio.data.exports import hub_files, write_export
from mores.studio.data.imports import LONGEST_FILE, Imported, import_items, read_items_files
from mores.studio.data.snapshot import read_snapshot
from mores.studio.records import Person, Role
from mores.studio.serve import find_owner, make_sign_in_link
from mores.studio.store.backup import back_up, restore
from mores.studio.store.campaigns import list_campaigns, make_campaign, open_campaign, parse_campaign
from mores.studio.store.database import Database, open_database
from mores.studio.store.items import Campaign, rebuild
from mores.studio.store.people import add_member, invite, list_members, log_action


def new_campaign(database: str | Path, file: Path) -> tuple[Campaign, str]:
    """Make a campaign from a YAML file; the campaign, and the path of a link for its organiser."""
    with closing(open_database(database)) as store:
        kind, settings = parse_campaign(read_text(file), str(file), file.parent)
        campaign = make_campaign(store, kind, settings)
        owner = find_owner(store)
        add_member(store, campaign, owner, Role.ORGANISER)
        return campaign, make_sign_in_link(store, owner, Role.ORGANISER)


def owner_link(database: str | Path) -> str:
    """Return the path of a link that signs the studio's organiser in, once."""
    with closing(open_database(database)) as store:
        return make_sign_in_link(store, find_owner(store), Role.ORGANISER)


def invite_people(database: str | Path, campaign: str, role: str, uses: int = 1) -> str:
    """Make an invitation; the path of its link."""
    with closing(open_database(database)) as store:
        opened = find_campaign(store, campaign)
        if Role(role) not in opened.roles:
            raise InputError(f"{campaign} has nothing to do for {role}s; its roles are {', '.join(opened.roles)}")
        return f"/join/{invite(store, opened, Role(role), find_owner(store), uses=uses)}"


def export_campaign(database: str | Path, campaign: str, folder: Path, form: str = "folder") -> list[Path]:
    """Write an export of a campaign into a folder, and keep it; the files."""
    with closing(open_database(database)) as store:
        return write_export(store, find_campaign(store, campaign), form, folder)


def campaign_upload(database: str | Path, campaign: str, repository: str, form: str = "folder") -> Upload:
    """Return what a dataset of the Hub gets: an export of a campaign, with its card; `push_campaign` sends it."""
    with closing(open_database(database)) as store:
        snapshot = read_snapshot(store, find_campaign(store, campaign))
    message = f"Campaign {campaign} as of event {snapshot.last_event}"
    return Upload(repository, "dataset", hub_files(snapshot, form), message)


def push_campaign(database: str | Path, campaign: str, upload: Upload) -> str:
    """Send an export of a campaign to a private dataset of the Hub, and note it in its log; the address."""
    address = push(upload)
    with closing(open_database(database)) as store:
        log_action(store, None, "sent to the Hub", f"{upload.message}, {upload.repository}", campaign)
    return address


def import_files(
    database: str | Path,
    campaign: str,
    paths: Sequence[Path],
    form: str = "",
    stage: str = "",
    note: Callable[[TableReport], object] = lambda _report: None,
    *,
    to_authors: bool = False,
) -> Imported:
    """Import the items of files into a campaign, all or none; the folder of a run stands for its long answers.

    At a stage where authors write, `to_authors` gives each item to an author who knows its language.
    """
    with closing(open_database(database)) as store:
        opened = find_campaign(store, campaign)
        found = [find_answers(path) if path.is_dir() else path for path in paths]
        size = sum(path.stat().st_size for path in found)
        if size > LONGEST_FILE:
            names = ", ".join(map(str, found))
            raise InputError(f"{names}: {size:,} bytes; import at most {LONGEST_FILE:,} at once")
        files = [(str(path), path.read_bytes()) for path in found]
        rows = read_items_files(opened, files, form, stage, note)
        organiser = Person(id=find_owner(store), roles=frozenset({Role.ORGANISER}))
        authors = find_authors(store, opened, stage) if to_authors else None
        return import_items(store, opened, organiser, rows, b"".join(data for _, data in files), stage, authors)


def find_authors(store: Database, campaign: Campaign, stage: str) -> list[Person]:
    """Return the authors of a campaign; InputError where it has none, or where they do not begin items at the stage."""
    first = campaign.flow.stages[0]
    if not first.own or stage not in ("", first.name):
        raise InputError(f"authors get items at the stage at which they begin; import at {first.name!r}")
    authors = [each.person for each in list_members(store, campaign) if first.role in each.person.roles]
    if not authors:
        raise InputError("the campaign has no authors yet; invite some first: mores studio invite")
    return authors


def find_answers(folder: Path) -> Path:
    """Return the long answers in the folder of a run: of `mores longform`, or of a benchmark with long answers."""
    places = (folder / ANSWERS, folder / LONGFORM / ANSWERS)
    found = next((path for path in places if path.is_file()), None)
    if found is None:
        raise InputError(f"{folder}: no {ANSWERS} in it; give a file, or the folder of a run with long answers")
    return found


def find_campaign(store: Database, name: str) -> Campaign:
    """Return a campaign; an error that lists the campaigns where there is none of that name."""
    known = [campaign.id for campaign in list_campaigns(store)]
    if name not in known:
        raise InputError(f"no such campaign {name!r}; there are {', '.join(known) or 'none'}")
    return open_campaign(store, name)


def rebuild_tables(database: str | Path) -> int:
    """Make the tables that pages read again; the number of items."""
    with closing(open_database(database)) as store:
        return rebuild(store, list_campaigns(store))


def _new(database: str, file: Path) -> str:
    campaign, path = new_campaign(database, file)
    return f"{campaign.id}\n{path}"


COMMANDS: Mapping[str, Callable[..., str]] = {
    "link": owner_link,
    "new": _new,
    "invite": invite_people,
    "backup": lambda database, file: back_up(database, file).shown,
    "restore": lambda database, file: restore(database, file).shown,
    "rebuild": lambda database: count(rebuild_tables(database), "item"),
}
"""What `mores studio COMMAND` does to a database, and what it prints."""
