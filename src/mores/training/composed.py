"""Texts of several claims, of which the evidence shows one or none to be wrong, as in what people write.

Between the claims there may be a sentence that claims nothing (`frames.toml`). Not every claim has its passage: what
the evidence says nothing about is no error by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import islice
from tomllib import loads

from mores.factory.drafts import draw
from mores.factory.errors.rules.edit import UNSPACED
from mores.factory.gold import Gold
from mores.types import Error, ErrorReport

SHARE = 60
"""Percent of the wrong claims that also come in a text with others."""
_FRAMED = 3
"""One place in this many before, between and after claims has a sentence that claims nothing."""
_SILENT = 3
"""One correct claim in this many comes without its passages, if others have theirs."""
_MOST = 3
"""Claims beside the first."""
_LONGEST = 200
"""Characters of a claim that is one of several."""
_ENDS = (".", "!", "?", "。", "！", "？", "؟", "।", "…", "”", "»")


def composed(golds: Sequence[Gold], seed: int = 0) -> Iterator[Gold]:
    """Texts made of a source's claims in one language: for each with an error, one that has none."""
    short = [gold for gold in golds if len(gold.sample.text) <= _LONGEST]
    ranked = sorted(short, key=lambda gold: draw(seed, "composed", gold.sample.id))
    correct = [gold for gold in ranked if not gold.report.errors]
    if not correct:
        return
    for place, wrong in enumerate(gold for gold in ranked if gold.report.errors):
        if draw(seed, "chosen", wrong.sample.id)[0] % 100 < SHARE:
            for first, start in ((wrong, 7 * place), (correct[place % len(correct)], 7 * place + 3)):
                count = 1 + draw(seed, "count", first.sample.id)[0] % _MOST
                beside = _others(first, correct, start, count)
                yield join([first, *beside], seed)


def _others(first: Gold, golds: Sequence[Gold], start: int, count: int) -> list[Gold]:
    """Claims of other groups, each group once."""
    turned = (golds[(start + step) % len(golds)] for step in range(len(golds)))
    by_group: dict[str | None, Gold] = {}
    for gold in islice(turned, 8 * count):
        if gold.group != first.group and len(by_group) < count:
            by_group.setdefault(gold.group, gold)
    return list(by_group.values())


def join(golds: Sequence[Gold], seed: int) -> Gold:
    """One text of several samples, in any order, with their passages in any order; the first gives it its name."""
    first = golds[0]
    name, language = first.sample.id, (first.sample.language or "").split("-")[0]
    ordered = sorted(golds, key=lambda gold: draw(seed, "place", name, gold.sample.id))
    shown = [gold for gold in golds if gold is first or draw(seed, "silent", name, gold.sample.id)[0] % _SILENT]
    passages = [(gold.sample.id, number) for gold in shown for number in range(1, len(gold.sample.evidence) + 1)]
    passages.sort(key=lambda passage: draw(seed, "passage", name, *map(str, passage)))
    numbers = {passage: number for number, passage in enumerate(passages, 1)}
    evidence = {gold.sample.id: gold.sample.evidence for gold in shown}
    text, errors = "", list[Error]()
    for place, gold in enumerate(ordered):
        text = _add(text, _frame(language, draw(seed, "frame", name, str(place))), language)
        offset = len(text)
        text = _add(text, gold.sample.text, language)
        errors += [_moved(error, offset, gold.sample.id, numbers) for error in gold.report.errors]
    text = _add(text, _frame(language, draw(seed, "frame", name, "last")), language).rstrip()
    sample = first.sample.model_copy(
        update={
            "id": f"{name} composed",
            "text": text,
            "evidence": tuple(evidence[source][number - 1] for source, number in passages),
        }
    )
    report = ErrorReport(errors=tuple(errors))
    return first.model_copy(update={"sample": sample, "report": report, "maker": "rule:composed"})


def ended(claim: str, language: str) -> str:
    """Return a claim that ends like a sentence, whether or not it did."""
    claim = claim.strip()
    return claim if claim.endswith(_ENDS) else f"{claim}{'。' if language in UNSPACED else '.'}"


def _add(text: str, sentence: str, language: str) -> str:
    """With a space after it, except where the language has none."""
    return f"{text}{ended(sentence, language)}{'' if language in UNSPACED else ' '}" if sentence else text


def _moved(error: Error, offset: int, source: str, numbers: dict[tuple[str, int], int]) -> Error:
    assert error.start is not None
    assert error.end is not None
    places = {"start": error.start + offset, "end": error.end + offset}
    return error.model_copy(update=places | {"evidence": tuple(numbers[source, number] for number in error.evidence)})


def _frame(language: str, digest: bytes) -> str:
    frames = _frames().get(language, [])
    return frames[digest[1] % len(frames)] if frames and digest[0] % _FRAMED == 0 else ""


@cache
def _frames() -> dict[str, list[str]]:
    return loads(files("mores.training").joinpath("frames.toml").read_text("utf-8"))
