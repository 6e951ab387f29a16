"""LanguageScores of segments: how likely the letters of a segment are in each language of its script."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mores.language.letters import EAST_ASIAN, count_east_asian, rules_of
from mores.language.model import STEP, DetectionModel, ScriptModel
from mores.language.scripts import NAMES, SPACE
from mores.language.spelling import MARK, PAIRS
from mores.language.text import Ints, Segments

Floats = npt.NDArray[np.float64]
_ROWS = 130
"""Segments at once in a script of one language; in one of so many languages, each is added up by itself."""


@dataclass(frozen=True)
class LanguageScores:
    """The scores of some segments of one script."""

    script: str
    languages: tuple[str, ...]
    segments: Ints
    """The indices of the segments."""
    nats: Floats
    """Segments by languages; sums of segments are scores of texts."""
    grams: Floats
    """The number of n-grams of each segment; 0 if its scores are likelihoods and need no temperature."""
    total: Floats
    """The same with those that no language of the script has in its text."""
    evidence: Floats
    """Segments by languages, or by none: the evidence of rules for languages that have only rules, otherwise nan."""


def score(segments: Segments, model: DetectionModel) -> Iterator[LanguageScores]:
    """Yield the scores of segments, script by script."""
    for number in np.unique(segments.script):
        chosen = np.flatnonzero(segments.script == number)
        script = NAMES[number]
        if script == "Jpan":
            part = _only(segments, chosen)
            letters = part.codes != SPACE
            nats = count_east_asian(part.codes[letters], part.segment_of()[letters], len(chosen))
            none = np.zeros(len(chosen))
            yield LanguageScores(script, EAST_ASIAN, chosen, nats, none, none, np.empty((len(chosen), 0)))
        elif script in model.blocks:
            yield _block_scores(segments, chosen, script, model.blocks[script])


def _block_scores(segments: Segments, chosen: Ints, script: str, block: ScriptModel) -> LanguageScores:
    rules = rules_of(script)
    languages = (*block.languages, *(tag for tag, _ in rules))
    nats, grams, total = np.zeros((len(chosen), len(languages))), np.zeros(len(chosen)), np.zeros(len(chosen))
    if len(block.keys):
        nats[:, : len(block.languages)], grams, total = _add_up(segments, chosen, block)
        _weigh_spelling(segments, chosen, script, languages, nats)
    evidence = np.full((len(chosen), len(languages) if rules else 0), np.nan)
    for column, (_, weigh) in enumerate(rules, len(block.languages)):
        evidence[:, column] = [weigh(segments.letters(index)) for index in chosen.tolist()]
    return LanguageScores(script, languages, chosen, nats, grams, total, evidence)


def _weigh_spelling(segments: Segments, chosen: Ints, script: str, languages: tuple[str, ...], nats: Floats) -> None:
    """Add the evidence of spelling where one of two very similar languages is the likeliest."""
    best = nats.argmax(axis=1)
    for pair in PAIRS:
        if pair.script != script or not set(pair.languages) <= set(languages):
            continue
        columns = [languages.index(tag) for tag in pair.languages]
        rows = np.flatnonzero((best == columns[0]) | (best == columns[1]))
        if not len(rows):
            continue
        leads = np.array([pair.lead(segments.letters(index)) for index in chosen[rows].tolist()])
        nats[rows[:, None], columns] += leads[:, None] * np.array([0.5, -0.5]) * MARK
        best[rows] = nats[rows].argmax(axis=1)


def _add_up(segments: Segments, chosen: Ints, block: ScriptModel) -> tuple[Floats, Floats, Floats]:
    """Return the sums of the rows of each segment's n-grams, the number of these, and of all its n-grams."""
    part = _only(segments, chosen)
    rows, possible = block.longest(part.codes)
    rows = rows.astype(np.intp)  # once, which taking would do each time
    total, counts, largest = (
        np.add.reduceat(of, part.starts, dtype=np.int64) for of in (possible, block.depths[rows], block.largest[rows])
    )
    sums = np.empty((len(chosen), len(block.languages)), np.uint32)
    # Some segments at a time, as the processor's cache does not hold the rows of all; 16 bits nearly always suffice.
    at_once = max(1, _ROWS // len(block.languages))
    bounds, wide = part.starts.tolist(), (largest >= 1 << 16).tolist()
    for first in range(0, len(chosen), at_once):
        last = first + at_once
        added = block.sums.take(rows[bounds[first] : bounds[last] if last < len(chosen) else None], axis=0)
        kind = np.uint32 if any(wide[first:last]) else np.uint16
        if at_once == 1:
            sums[first] = np.add.reduce(added, axis=0, dtype=kind)
        else:
            sums[first:last] = np.add.reduceat(added, part.starts[first:last] - bounds[first], axis=0, dtype=kind)
    nats = sums / STEP
    nats += counts[:, None] * block.unseen
    return nats, counts.astype(np.float64), total.astype(np.float64)


def _only(segments: Segments, chosen: Ints) -> Segments:
    """Return some of the segments."""
    if len(chosen) == len(segments.starts):
        return segments
    ends = np.append(segments.starts[1:], len(segments.codes) - 1)
    lengths = (ends - segments.starts)[chosen]
    starts = np.cumsum(lengths) - lengths
    positions = np.arange(int(lengths.sum())) + np.repeat(segments.starts[chosen] - starts, lengths)
    codes = np.append(segments.codes[positions], np.uint32(SPACE))
    texts_of = segments.text[chosen]
    return Segments(codes, starts, texts_of, segments.script[chosen], segments.size[chosen], segments.texts)
