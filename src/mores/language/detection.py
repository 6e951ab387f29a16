"""Detection of a text's language: the likeliest one, its probability, and the shares of a mixed text.

| mode | languages | before the text is read |
| --- | --- | --- |
| open | all that the model knows | all alike |
| candidates | those given | all alike |
| expected | all | half for the expected one, most of the rest for those it is confused with (`confusions`) |

The script of a text is that of most of its letters. Its segments, about a sentence each, may be in different languages:
a change costs `SWITCH` nats, so that a name or a title does not count. The language of the text is the one with the
largest share.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import numpy.typing as npt

from mores.culture import accepts, language, macrolanguage
from mores.culture.languages import named_script
from mores.errors import InputError
from mores.language.letters import EAST_ASIAN, MOST, RULES
from mores.language.model import shipped
from mores.language.scope import confusions, tag_of
from mores.language.score import Floats, score
from mores.language.scripts import NUMBERS
from mores.language.spelling import RIVALS
from mores.language.strangers import is_strange
from mores.language.text import Ints, Segments, segments

SWITCH = 6.0
EXPECTED, CONFUSED = 0.5, 0.4
"""Prior probability of the expected language, and of all languages together that it is confused with."""
ALTERNATIVES = 5
RIVAL = 0.99
"""The probability from which on a language is certain if the next likeliest differs from it by little but spelling."""
_AT_ONCE = 1000
_NEVER = -1e9


@dataclass(frozen=True)
class Detection:
    """The language of a text."""

    language: str | None = None
    """The likeliest, BCP 47; None if the text has no letters, or none of the candidates' scripts."""
    probability: float = 0.0
    detected: str | None = None
    """The language if it is certain, otherwise None."""
    alternatives: tuple[tuple[str, float], ...] = ()
    """The next likeliest languages, with their probabilities."""
    shares: dict[str, float] = field(default_factory=dict)
    """Share of the letters in each language; they add up to 1, or there are none."""
    expected: float | None = None
    """Probability of the expected language; None if none was expected, or the model does not know it."""
    needed: float = 1.0
    """The probability from which on a language is certain, for a text of this length."""
    strange: bool = False
    """Whether it would be certain by its letters, but has the words of a language that the model does not know."""


@dataclass(frozen=True)
class LanguageVerdict:
    """The verdict on a text's language."""

    detected: str | None
    certainty: float
    shares: dict[str, float]
    correct: bool | None
    """None if it is uncertain, or if the model does not know the language."""


def check(texts: Sequence[str], expected: Sequence[str]) -> list[LanguageVerdict]:
    """Return whether each text is in its expected language."""
    return [_check(detection) for detection in detect(texts, expected)]


def detect(
    texts: Sequence[str],
    expected: Sequence[str | None] | None = None,
    candidates: Collection[str] | None = None,
) -> list[Detection]:
    """Return the language of each text, among all languages or the candidates, perhaps with one expected."""
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"text {place} is {type(text).__name__}, not a string; leave out rows without a text")
    if expected is not None and len(expected) != len(texts):
        raise InputError(f"{len(expected)} expected languages for {len(texts)} texts; give one, or None, for each")
    expectations = (
        [_expectation(tag) if tag else None for tag in expected] if expected is not None else [None] * len(texts)
    )
    allowed = np.ones(len(languages()), np.bool_)
    if candidates is not None:
        tags = [(tag, model_tag(tag)) for tag in candidates]
        unknown = ", ".join(sorted(tag for tag, name in tags if name is None))
        if unknown or not tags:
            reason = "not known to the model; see mores.language.languages()"
            raise InputError(f"candidates {unknown or '(none)'}: {reason}")
        allowed = np.isin(languages(), [name for _, name in tags if name])
    detections: list[Detection] = []
    for first in range(0, len(texts), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        detections += _Batch(texts[part], expectations[part], allowed).detections()
    return detections


def model_tag(tag: str) -> str | None:
    """Return the tag under which the model knows a language: `pt` for `pt-BR`, `ar` for `arz`; None if it does not."""
    candidates = (tag_of(tag), macrolanguage(tag))
    return next((name for name in candidates if name in languages()), None)


@cache
def languages() -> tuple[str, ...]:
    """Return all languages that the model knows, sorted."""
    tags = {tag for block in shipped().blocks.values() for tag in block.languages}
    return tuple(sorted(tags | set(EAST_ASIAN) | {rule.language for rule in RULES}))


@cache
def _indices() -> dict[str, int]:
    return {tag: index for index, tag in enumerate(languages())}


@dataclass(frozen=True)
class _Expected:
    """The language that is expected of a text."""

    tag: str
    """The tag in the model."""
    indices: tuple[int, ...]
    """The indices of all languages that it accepts: for Norwegian, Bokmål and Nynorsk."""
    script: str | None
    """The script in the tag, as in `sr-Latn`; None if any is fine, or letters do not show it (`zh-Hant`)."""


@cache
def _expectation(expected: str) -> _Expected | None:
    tag = model_tag(expected)
    if tag is None:
        return None
    script = named_script(language(expected))
    indices = tuple(index for name, index in _indices().items() if name == tag or accepts(expected, name))
    return _Expected(tag, indices, script if script in NUMBERS else None)


@cache
def _prior(tag: str | None) -> Floats:
    """Return log-probabilities of all languages before a text is read."""
    count = len(languages())
    if tag is None:
        return np.full(count, -np.log(count))
    near = [_indices()[name] for name in confusions(tag) if name in _indices()]
    prior = np.full(count, (1 - EXPECTED - CONFUSED) / (count - 1 - len(near)))
    prior[near] = CONFUSED / len(near)
    prior[_indices()[tag]] = EXPECTED
    logarithms: Floats = np.log(prior)
    return logarithms


class _Batch:
    """Some texts, scored together."""

    def __init__(
        self, texts: Sequence[str], expectations: Sequence[_Expected | None], allowed: npt.NDArray[np.bool_]
    ) -> None:
        self.calibration = shipped().calibration
        self.expectations = expectations
        self.prior = np.where(
            allowed,
            np.stack([_prior(expectation.tag if expectation else None) for expectation in expectations]),
            _NEVER,
        )
        self.cut: Segments = segments(texts)
        self.scores = list(score(self.cut, shipped()))
        self.columns = {
            scores.script: np.array([_indices()[tag] for tag in scores.languages]) for scores in self.scores
        }

    def detections(self) -> list[Detection]:
        """Return the detection of each text."""
        logits = np.full((len(self.cut.starts), len(languages())), _NEVER)
        for scores in self.scores:
            columns = self.columns[scores.script]
            prior = self.prior[self.cut.text[scores.segments, None], columns]
            logits[scores.segments[:, None], columns] = self._logits(scores.nats, scores.grams, scores.evidence, prior)
        labels = self._label(logits)
        weights = np.zeros((self.cut.texts, len(languages())))
        labelled = labels >= 0
        np.add.at(weights, (self.cut.text[labelled], labels[labelled]), self.cut.size[labelled])
        return self._detect(labels, weights)

    def _logits(self, nats: Floats, grams: Floats, evidence: Floats, prior: Floats) -> Floats:
        """Return log-probabilities up to a constant: calibrated scores, the evidence of rules, and the prior."""
        logits = nats / self.calibration.temperature(grams)[:, None]
        ruled = ~np.isnan(evidence)
        if ruled.any():
            others = np.where(ruled, -np.inf, logits).max(axis=1, keepdims=True)
            logits = np.where(ruled, others + np.clip(np.nan_to_num(evidence), -MOST, MOST), logits)
        return logits + prior

    def _label(self, logits: Floats) -> Ints:
        """Return the language of each segment, smoothed over those of its text; -1 if none is possible."""
        best: Ints = logits.argmax(axis=1)
        best[logits[np.arange(len(best)), best] <= _NEVER / 2] = -1
        bounds = np.searchsorted(self.cut.text, np.arange(self.cut.texts + 1))
        same = (self.cut.text[1:] != self.cut.text[:-1]) | (best[1:] == best[:-1])
        for text in np.unique(self.cut.text[1:][~same]):
            members = np.arange(bounds[text], bounds[text + 1])
            members = members[best[members] >= 0]
            states = np.unique(best[members])
            if len(states) > 1:
                heights = logits[members]
                # A language of another script is just unlikely enough that changing to it and back does not pay.
                below = np.maximum(heights - heights.max(axis=1, keepdims=True), -2 * SWITCH - 1)
                best[members] = states[_walk(below[:, states])]
        return best

    def _detect(self, labels: Ints, weights: Floats) -> list[Detection]:
        """Return a detection for each text, from the segments in the language with the largest share."""
        main, mixed = weights.argmax(axis=1), np.count_nonzero(weights, axis=1) > 1
        detections = [Detection()] * self.cut.texts
        for scores in self.scores:
            chosen = (labels[scores.segments] == main[self.cut.text[scores.segments]]) & (labels[scores.segments] >= 0)
            members = scores.segments[chosen]
            if not len(members):
                continue
            texts, begins = np.unique(self.cut.text[members], return_index=True)  # a text's segments follow one another
            nats, grams, total, evidence = (
                np.add.reduceat(values[chosen], begins, axis=0)
                for values in (scores.nats, scores.grams, scores.total, scores.evidence)
            )
            columns = self.columns[scores.script]
            logits = self._logits(nats, grams, evidence, self.prior[texts[:, None], columns])
            chances = np.exp(logits - logits.max(axis=1, keepdims=True, initial=_NEVER * 2))
            chances /= chances.sum(axis=1, keepdims=True)
            ranks = _likeliest(chances, ALTERNATIVES + 1)
            block = shipped().blocks.get(scores.script)
            best = ranks[:, 0]
            unusual = np.zeros(len(texts), np.bool_)
            if block is not None:
                unusual = block.are_unusual(best, nats[np.arange(len(texts)), best], total)
            needs = list(zip(self.calibration.needed(grams).tolist(), unusual.tolist(), strict=True))
            best_names = np.array(languages())[columns[ranks]].tolist()
            best_chances = np.take_along_axis(chances, ranks, axis=1).tolist()
            bounds = [*begins.tolist(), len(members)]
            for row, text in enumerate(texts.tolist()):
                named = [pair for pair in zip(best_names[row], best_chances[row], strict=True) if pair[1] > 0]
                share = weights[text] if mixed[text] else None
                detection = self._describe(scores.script, chances[row], named, share, text, needs[row])
                if detection.detected:
                    letters = "".join(map(self.cut.letters, members[bounds[row] : bounds[row + 1]].tolist()))
                    if is_strange(detection.detected, letters):
                        detection = replace(detection, detected=None, strange=True)
                if detection.probability > detections[text].probability:  # a language in two scripts: the likelier one
                    detections[text] = detection
        return detections

    def _describe(
        self,
        script: str,
        chances: Floats,
        named: Sequence[tuple[str, float]],
        weights: Floats | None,
        text: int,
        needs: tuple[float, bool],
    ) -> Detection:
        """Return the detection of a text; `needs` are the probability for certainty, and whether nothing is certain."""
        names, columns = languages(), self.columns[script]
        (tag, chance), *others = named
        shares = {tag: 1.0}
        if weights is not None:
            shares = {names[at]: float(weights[at] / weights.sum()) for at in np.flatnonzero(weights)}
        expected, expectation = None, self.expectations[text]
        if expectation is not None:
            same_script = expectation.script in (None, script)
            expected = float(chances[np.isin(columns, expectation.indices)].sum()) if same_script else 0.0
        needed, unusual = needs
        rivals = bool(others) and frozenset((tag, others[0][0])) in RIVALS
        sure = tag if chance >= (max(needed, RIVAL) if rivals else needed) and not unusual else None
        return Detection(tag, chance, sure, tuple(others), shares, expected, needed)


def _likeliest(chances: Floats, most: int) -> Ints:
    """Return the columns of the largest numbers of each row, the largest first."""
    if chances.shape[1] > most:  # sorting all of 200 takes longer
        kept = np.sort(np.argpartition(-chances, most - 1, axis=1)[:, :most], axis=1)
        order = np.argsort(-np.take_along_axis(chances, kept, axis=1), axis=1, kind="stable")
        return np.take_along_axis(kept, order, axis=1)
    return np.argsort(-chances, axis=1, kind="stable")


def _walk(emitted: Floats) -> Ints:
    """Return the states of the best path, where each change costs `SWITCH`."""
    total, *steps = emitted.tolist()  # a few numbers, for which lists are faster than arrays
    states, came = range(len(total)), []
    for step in steps:
        best = max(states, key=total.__getitem__)
        moved = total[best] - SWITCH
        came.append([state if total[state] >= moved else best for state in states])
        total = [max(stay, moved) + height for stay, height in zip(total, step, strict=True)]
    path = [max(states, key=total.__getitem__)]
    for back in reversed(came):
        path.append(back[path[-1]])
    return np.array(path[::-1])


def _check(detection: Detection) -> LanguageVerdict:
    in_expected: bool | None = None
    if detection.expected is not None and detection.language is not None:
        least = detection.needed
        in_expected = True if detection.expected >= least else False if detection.expected <= 1 - least else None
    if in_expected and detection.strange:
        in_expected = None
    return LanguageVerdict(detection.detected, detection.probability, detection.shares, in_expected)
