"""Questions with the answers of three models, and people who rate them."""

from __future__ import annotations

import json
from typing import Any

from mores.studio.records import CampaignItem
from tests.studio.play import Play, Player

ANSWERS = {
    "secret-kestrel": "Guests get tea, with milk and sugar.",
    "secret-heron": "Guests get tea first, and then food. Nobody asks whether they want any.",
    "secret-wren": "Guests get nothing.",
}
QUESTION = "What do guests in Kenya get first?"
ROW = {"question": QUESTION, "type": "specific", "language": "sw", "region": "KE", "answers": ANSWERS}


def bring(play: Play, *rows: dict[str, Any], name: str = "items.jsonl", text: str = "") -> str:
    """Import rows as an organiser does in the browser; the page that follows."""
    organiser = play.organiser()
    organiser.open("/data")
    data = text or "".join(f"{json.dumps(row)}\n" for row in rows)
    path = f"/c/{play.campaign.id}/import"
    sent = {"csrf": organiser.hidden()["csrf"]}
    return organiser.browser.post(path, data=sent, files={"file": (name, data.encode())}).text


def letters(item: CampaignItem) -> dict[str, str]:
    """The letter of each model in an item."""
    return {answer["model"]: answer["letter"] for answer in item.content["answers"]}


def opinion(item: CampaignItem, ratings: dict[str, int], **changes: Any) -> dict[str, Any]:
    """What somebody fills in at step 1: a rating for each model, and what goes with it."""
    answer: dict[str, Any] = {}
    for model, letter in letters(item).items():
        given = {"language": "yes", "spans": "[]", "factuality": "none", "omissions": "minor", "comment": "So so."}
        given |= {"rating": str(ratings[model])}
        answer |= {f"{name}_{letter}": value for name, value in given.items()}
    return answer | changes


def places(item: CampaignItem, *models: str) -> dict[str, str]:
    """A ranking from best to worst."""
    return {f"rank_{letters(item)[model]}": str(place) for place, model in enumerate(models, 1)}


def rate(player: Player, item: str, ratings: dict[str, int], *models: str, reason: str = "It is better.") -> None:
    """Rate and rank the answers of an item that the player has."""
    shown = player.stage.read(item)
    player.open(f"/items/{item}")
    assert player.send(f"/items/{item}/vote", step="1", seconds="90", **opinion(shown, ratings)).status_code == 200
    player.open(f"/items/{item}")
    ranking = places(shown, *models)
    done = player.send(f"/items/{item}/vote", step="2", seconds="30", **ranking, reason=reason)
    assert done.status_code == 200, done.text
