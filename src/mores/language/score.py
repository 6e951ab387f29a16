"""LanguageScores of segments: how likely the letters of a segment are in each language of its script."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mores.language.letters import EAST_ASIAN, count_east_asian, rules_of
from mores.language.model import DetectionModel, ScriptModel, keys
from mores.language.scripts import NAMES, SPACE
from mores.language.spelling import MARK, PAIRS
from mores.language.text import Ints, Segments

Floats = npt.NDArray[np.float64]

ORDERS = (2, 3, 4)
_AT_ONCE = 4096
"""N-grams whose rows are added at once: few enough for the processor's cache."""


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
    """Segments by languages: the evidence of rules for languages that have only rules, otherwise nan."""


def score(segments: Segments, model: DetectionModel) -> Iterator[LanguageScores]:
    """Yield the scores of segments, script by script."""
    for number in np.unique(segments.script):
        chosen = np.flatnonzero(segments.script == number)
        script = NAMES[number]
        if script == "Jpan":
            part = _only(segments, chosen)
            begins = np.zeros(len(part.codes), np.int64)
            begins[part.starts] = 1
            letters = part.codes != SPACE
            nats = count_east_asian(part.codes[letters], (np.cumsum(begins) - 1)[letters], len(chosen))
            none = np.zeros(len(chosen))
            yield LanguageScores(script, EAST_ASIAN, chosen, nats, none, none, np.full(nats.shape, np.nan))
        elif script in model.blocks:
            yield _block_scores(segments, chosen, script, model.blocks[script])


def _block_scores(segments: Segments, chosen: Ints, script: str, block: ScriptModel) -> LanguageScores:
    rules = rules_of(script)
    languages = (*block.languages, *(tag for tag, _ in rules))
    nats, grams, total = np.zeros((len(chosen), len(languages))), np.zeros(len(chosen)), np.zeros(len(chosen))
    if len(block.keys):
        nats[:, : len(block.languages)], grams, total = _add_up(segments, chosen, block)
        _weigh_spelling(segments, chosen, script, languages, nats)
    evidence = np.full(nats.shape, np.nan)
    for column, (_, weigh) in enumerate(rules, len(block.languages)):
        evidence[:, column] = [weigh(segments.letters(index)) for index in chosen]
    return LanguageScores(script, languages, chosen, nats, grams, total, evidence)


def _weigh_spelling(segments: Segments, chosen: Ints, script: str, languages: tuple[str, ...], nats: Floats) -> None:
    """Add the evidence of spelling where one of two very similar languages is the likeliest."""
    best = nats.argmax(axis=1)
    for pair in PAIRS:
        if pair.script != script or not set(pair.languages) <= set(languages):
            continue
        columns = [languages.index(tag) for tag in pair.languages]
        rows = np.flatnonzero((best == columns[0]) | (best == columns[1]))
        for row in rows:
            nats[row, columns] += np.array([0.5, -0.5]) * MARK * pair.lead(segments.letters(chosen[row]))
        best[rows] = nats[rows].argmax(axis=1)


def _add_up(segments: Segments, chosen: Ints, block: ScriptModel) -> tuple[Floats, Floats, Floats]:
    """Return the sums of the rows of each segment's n-grams, the number of these, and of all its n-grams."""
    part = _only(segments, chosen)
    grams = [keys(part, order) for order in ORDERS]
    segment_of = np.concatenate([segment for _, segment in grams])
    rows = block.vocabulary.find(np.concatenate([packed for packed, _ in grams]))
    total = np.bincount(segment_of, minlength=len(chosen)).astype(np.float64)
    segment_of, rows = segment_of[rows >= 0], rows[rows >= 0]
    order = np.argsort(segment_of, kind="stable")
    segment_of, rows = segment_of[order], rows[order]
    sums = np.zeros((len(chosen), len(block.languages)), np.float32)
    for first in range(0, len(rows), _AT_ONCE):
        here = segment_of[first : first + _AT_ONCE]
        begins = np.flatnonzero(np.diff(here, prepend=-1))
        sums[here[begins]] += np.add.reduceat(block.weights[rows[first : first + _AT_ONCE]], begins, axis=0)
    counts = np.bincount(segment_of, minlength=len(chosen)).astype(np.float64)
    return sums + counts[:, None] * block.unseen, counts, total


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
