"""Texts of several claims, as people write them; the evidence shows that some or none of the claims are wrong.

Between the claims there may be a sentence that claims nothing (`frames.toml`). Not every claim has its passage: a claim
that the evidence does not decide is not an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mores.factory.drafts import draw
from mores.factory.errors.rules.edit import UNSPACED
from mores.factory.gold import Gold
from mores.io.values import read_packaged_toml
from mores.types import Error, ErrorReport, Evidence, JudgedClaim

SHARE = 50
"""Percentage of wrong claims that are also used in a text with others."""
_FRAMED = 3
"""One in this many places before, between and after claims has a sentence that claims nothing."""
_SILENT = 3
"""One in this many correct claims has no passages, if others have theirs."""
_MOST = 4
"""Maximum claims besides the first."""
_WRONG = 3
"""One in this many claims beside a wrong one is wrong too."""
_AS_ONE = 3
"""One in this many texts has its passages as one, as in free prose, if it is not too long."""
_LONGEST_PROSE = 900
"""Characters of such a passage."""
_LONGEST = 200
"""Maximum characters of a claim that is one of several."""
_ENDS = (".", "!", "?", "。", "！", "？", "؟", "।", "…", "”", "»")


def compose_claims(golds: Sequence[Gold], seed: int = 0) -> Iterator[Gold]:
    """Yield texts of a source's claims in one language: for each with an error, one without."""
    short = [gold for gold in golds if len(gold.sample.text) <= _LONGEST]
    ranked = sorted(short, key=lambda gold: draw(seed, "composed", gold.sample.id))
    correct = [gold for gold in ranked if not gold.report.errors]
    if not correct:
        return
    wrongs = [gold for gold in ranked if gold.report.errors]
    for place, wrong in enumerate(wrongs):
        if draw(seed, "chosen", wrong.sample.id)[0] % 100 < SHARE:
            for first, start in ((wrong, 7 * place), (correct[place % len(correct)], 7 * place + 3)):
                count = 1 + draw(seed, "count", first.sample.id)[0] % _MOST
                by_group: dict[str | None, Gold] = {}  # claims of other groups, one per group
                for step in range(min(8 * count, len(correct))):
                    also = first is wrong and draw(seed, "also", wrong.sample.id, str(step))[0] % _WRONG == 0
                    pool = wrongs if also else correct
                    gold = pool[(start + step) % len(pool)]
                    if gold.group != first.group and len(by_group) < count:
                        by_group.setdefault(gold.group, gold)
                yield join([first, *by_group.values()], seed)


def join(golds: Sequence[Gold], seed: int) -> Gold:
    """Return one text of several samples, shuffled, with their passages, shuffled; the id is that of the first."""
    first = golds[0]
    name, language = first.sample.id, (first.sample.language or "").split("-")[0]
    ordered = sorted(golds, key=lambda gold: draw(seed, "place", name, gold.sample.id))
    shown = [
        gold
        for gold in golds
        if gold is first or gold.report.errors or draw(seed, "silent", name, gold.sample.id)[0] % _SILENT
    ]
    passages = [(gold.sample.id, number) for gold in shown for number in range(1, len(gold.sample.evidence) + 1)]
    passages.sort(key=lambda passage: draw(seed, "passage", name, *map(str, passage)))
    evidence = {gold.sample.id: gold.sample.evidence for gold in shown}
    shuffled = [evidence[source][number - 1] for source, number in passages]
    prose = " ".join(passage.text for passage in shuffled)
    as_one = draw(seed, "as one", name)[0] % _AS_ONE == 0 and len(prose) <= _LONGEST_PROSE
    numbers = {passage: 1 if as_one else number for number, passage in enumerate(passages, 1)}
    text, errors, claims = "", list[Error](), list[JudgedClaim]()
    for place, gold in enumerate(ordered):
        text = _add(text, _frame(language, draw(seed, "frame", name, str(place))), language)
        offset = len(text)
        text = _add(text, gold.sample.text, language)
        for error in gold.report.errors:
            assert error.start is not None
            assert error.end is not None
            cited = tuple(numbers[gold.sample.id, number] for number in error.evidence)
            moved = {"start": error.start + offset, "end": error.end + offset, "evidence": cited}
            errors.append(error.model_copy(update=moved))
        for claim in gold.report.claims:
            decision = claim.decision if gold.sample.id in evidence else "unknown"
            moved = {"start": claim.start + offset, "end": claim.end + offset, "decision": decision}
            claims.append(claim.model_copy(update=moved))
    text = _add(text, _frame(language, draw(seed, "frame", name, "last")), language).rstrip()
    pieces = (Evidence(text=prose),) if as_one else tuple(shuffled)
    sample = first.sample.model_copy(update={"id": f"{name} composed", "text": text, "evidence": pieces})
    report = ErrorReport(errors=tuple(errors), claims=tuple(claims))
    return first.model_copy(update={"sample": sample, "report": report, "maker": "rule:composed"})


def _add(text: str, sentence: str, language: str) -> str:
    """Return the text with another sentence, which ends with punctuation, and a space in languages with spaces."""
    if not sentence:
        return text
    dot, space = ("。", "") if language in UNSPACED else (".", " ")
    return f"{text}{sentence.strip()}{'' if sentence.strip().endswith(_ENDS) else dot}{space}"


def _frame(language: str, digest: bytes) -> str:
    frames: list[str] = read_packaged_toml("mores.training", "frames.toml").get(language, [])
    return frames[digest[1] % len(frames)] if frames and digest[0] % _FRAMED == 0 else ""
