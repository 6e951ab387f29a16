"""How often each person is correct, learned from the votes of a campaign: for rules that ask no more than needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import func, select, true, update

from mores.stats.annotators import fit_dawid_skene, table_votes
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign
from mores.studio.store.tables import campaigns, items, votes


def learn_skills(database: Database, campaign: Campaign) -> dict[str, float]:
    """Estimate everybody's skill from all votes and attention checks, and keep it with the campaign.

    It counts for votes from then on: a vote remembers the skill that it was weighed with (`Vote.skill`).
    """
    query = select(votes.c.item, votes.c.version, votes.c.stage, votes.c.person, votes.c.label)
    checks = select(items.c.id, items.c.stage, items.c.state).where(
        items.c.campaign == campaign.id, items.c.is_check == true()
    )
    with database.read() as connection:
        given = connection.execute(query.where(votes.c.campaign == campaign.id, votes.c.label.is_not(None))).all()
        known = {
            f"{row.id}/1/{row.stage}": campaign.kind.label(row.stage, row.state["check"])
            for row in connection.execute(checks)
        }
    skills = estimate(
        ((f"{row.item}/{row.version}/{row.stage}", row.person, row.label) for row in given),
        {item: label for item, label in known.items() if label},
    )
    with database.write() as connection:
        connection.execute(update(campaigns).where(campaigns.c.id == campaign.id).values(skills=skills))
    return skills


def estimate(given: Iterable[tuple[str, str, str]], known: Mapping[str, str] | None = None) -> dict[str, float]:
    """Estimate each person's skill from (item, person, label); labels are interchangeable, as options of questions are.

    An item that one person judged says nothing about that person, and is left out unless its label is known.
    """
    triples, known = list(given), known or {}
    people: dict[str, set[str]] = {}
    for item, person, _ in triples:
        people.setdefault(item, set()).add(person)
    telling = [triple for triple in triples if len(people[triple[0]]) > 1 or triple[0] in known]
    labels = sorted({label for _, _, label in telling} | set(known.values()))
    if len(labels) < 2:
        return {}
    table = table_votes(telling, labels)
    answered: dict[str | int, str | float] = {item: label for item, label in known.items() if item in people}
    accuracy = fit_dawid_skene(table, known=answered, symmetric=True).accuracy()
    return {str(name): round(skill, 4) for name, skill in accuracy.items()}


def count_all_votes(database: Database, campaign: Campaign) -> int:
    """Return how many votes a campaign has."""
    return int(database.fetch(select(func.count()).where(votes.c.campaign == campaign.id))[0][0])
