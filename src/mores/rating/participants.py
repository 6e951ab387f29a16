"""The people of a study on Prolific: whose submissions count."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from mores.errors import InputError
from mores.formatting import count
from mores.io.columns import TableColumn, Wanted, listed
from mores.io.table import read_table
from mores.rating.ratings import RatingFile

WANTED = Wanted(
    (
        TableColumn("participant", guesses=("Participant id", "participant_id", "PROLIFIC_PID"), needed=True),
        TableColumn("status", guesses=("Status",), needed=True),
    ),
    expected="'Participant id' and 'Status', as Prolific exports them",
)
COUNTED = ("approved", "awaiting review", "partially approved")
LEFT_OUT = ("returned", "rejected", "timed-out", "timed out", "screened out", "active", "reserved")


def keep_participants(file: RatingFile, path: Path) -> tuple[RatingFile, str]:
    """Return the ratings of people whose submission counts, and what was left out.

    Somebody who is in the ratings and not among the submissions is an error: it may be a test by the researchers.
    """
    source, rows, *_ = read_table(path, WANTED, "it has no submissions; export them again")
    states = {str(row.values["participant"]).strip(): str(row.values["status"]).strip() for row in rows}
    for row in rows:
        state = str(row.values["status"]).strip()
        if state.casefold() not in (*COUNTED, *LEFT_OUT):
            raise row.error(f"unknown status {state!r}; expected {', '.join((*COUNTED, *LEFT_OUT))}")
    people = dict.fromkeys(rating.annotator for rating in file.ratings)
    if unknown := [person for person in people if person not in states]:
        raise InputError(f"{source.label}: no submission of {listed(unknown)}; remove their ratings, or add a row")
    gone = {person for person in people if states[person].casefold() in LEFT_OUT}
    keep = [rating.annotator not in gone for rating in file.ratings]
    ratings = [rating for rating, kept in zip(file.ratings, keep, strict=True) if kept]
    lines = tuple(line for line, kept in zip(file.lines, keep, strict=True) if kept) if file.lines else ()
    if not ratings:
        raise InputError(f"{source.label}: no submission of the people who rated counts; check the column 'Status'")
    why = ", ".join(f"{state.casefold()} {n:,}" for state, n in Counter(states[person] for person in gone).items())
    left = f"left out {len(gone):,} of them ({why}) with {count(len(keep) - len(ratings), 'rating')}"
    note = f"{source.label}: submissions of {len(people):,} people who rated; {left if gone else 'all of them count'}"
    return file._replace(ratings=ratings, lines=lines), note
