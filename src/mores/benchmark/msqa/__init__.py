"""MSQA (Chen et al. 2026): short questions of eleven language groups, asked as native speakers wrote them.

`mores bench msqa --model openai:NAME --judge openai:OTHER --samples 5`
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from mores.benchmark.benchmark import Benchmark, Figure, OnBad
from mores.benchmark.msqa.judge import JUDGE
from mores.culture import language, region
from mores.errors import InputError
from mores.factory.sources.files import Rows, find, read_all
from mores.factory.sources.rows import SourceRow, collect
from mores.types import Item

TIERS = ("Easy", "Medium", "Hard")


FIGURES: Mapping[str, Figure] = {
    "F": Figure((1, 0, 0), (1, 1, 0.5)),
    "CO": Figure((1, 0, 0), (1, 1, 1)),
    "NA": Figure((0, 0, 1), (1, 1, 1)),
    "IN": Figure((0, 1, 0), (1, 1, 1)),
    "CGA": Figure((1, 0, 0), (1, 1, 0)),
}
"""Of the correct, incorrect and not attempted answers.

CO, IN and NA are shares of all answers; CGA is that of the correct ones among those that assert something; F is the
harmonic mean of CO and CGA, which is 2·correct / (all + attempted).
"""


def fifths(correct: int, graded: int) -> str:
    """Return the tier of an item: Easy when solved in more than 3 of 5 runs, Hard when in none, else Medium.

    Easy is the rule by which items were returned to their authors (Appendix C, Stage 3). The released items have no
    tiers and the paper gives no rule for the other two.
    """
    return "Easy" if 5 * correct > 3 * graded else "Medium" if correct else "Hard"


def read_items(rows: Rows, make: Callable[[SourceRow], Item], on_bad: OnBad) -> Iterator[Item]:
    """Return the items of rows, each id once, and none with half a character in it."""
    seen: dict[str, str] = {}

    def checked(row: SourceRow) -> Item:
        item = make(row)
        try:
            "".join((item.id, item.prompt, *item.target)).encode()
        except UnicodeEncodeError as error:
            raise InputError("half a character (a lone surrogate) in a text; correct or remove the row") from error
        if item.id in seen:
            raise InputError(f"duplicate id {item.id!r}, also at {seen[item.id]}; remove one")
        seen[item.id] = row.place
        return item

    return collect(rows, checked, on_bad)


def _item(row: SourceRow) -> Item:
    place = row.maybe("region", "country")
    metadata = {"culture": row.maybe("culture_circle"), "tier": _tier(row)}
    return Item(
        id=row.text("id", "prompt_id"),
        prompt=row.text("question", "prompt"),
        target=(row.text("answer"),),
        language=language(row.text("language").partition("-")[0]),  # of `en-EN` or `zh-ZH`: the rest is not a region
        region=region(place) if place else None,
        topic=row.text("category"),
        metadata={name: value for name, value in metadata.items() if value},
    )


def _tier(row: SourceRow) -> str | None:
    tier = (row.maybe("tier", "difficulty") or "").capitalize()
    if tier and tier not in TIERS:
        raise InputError(f"the tier is {tier!r}; expected {', '.join(TIERS)}")
    return tier or None


MSQA = Benchmark(
    name="msqa",
    title="MSQA: short questions in eleven languages, as native speakers wrote them",
    version="1",
    licence="CC-BY-4.0",
    homepage="https://huggingface.co/datasets/m-a-p/MSQA",
    files="msqa.jsonl",
    read=lambda folder, on_bad: read_items(
        read_all(find(folder, "msqa*.jsonl", "*.jsonl", "msqa*.csv", "*.parquet")), _item, on_bad
    ),
    source="msqa",
    judging=JUDGE,
    figures=FIGURES,
    tier=fifths,
    groupings=("language", "topic", "culture", "region", "tier"),
    max_tokens=2048,
    temperature=0.7,
    hub="m-a-p/MSQA",
)
