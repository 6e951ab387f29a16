"""In which language a text is: the likeliest, how likely, and what share of a mixed text is in which.

| mode | languages | before the text is read |
| --- | --- | --- |
| open | all that the model knows | all alike |
| candidates | those given | all alike |
| expected | all | half for the expected one, most of the rest for those it is confused with (`confusions`) |

A text is in the script that most of its letters are of. Its segments, about a sentence each, may be in different
languages: a change costs `SWITCH` nats, so that a name or a title does not count, and the language with the largest
share is the text's.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import numpy.typing as npt
from langcodes import Language

from mores.culture import accepts, language, macrolanguage
from mores.errors import InputError
from mores.language.confusions import confusions
from mores.language.letters import EAST_ASIAN, MOST, RULES
from mores.language.model import shipped
from mores.language.scope import tag_of
from mores.language.score import Floats, score
from mores.language.scripts import NUMBERS
from mores.language.text import Ints, Segments, segments

SWITCH = 6.0
EXPECTED, CONFUSED = 0.5, 0.4
"""Prior probability of the expected language, and of all that it is confused with together."""
ALTERNATIVES = 5
_AT_ONCE = 1000
_NEVER = -1e9


@dataclass(frozen=True)
class Detection:
    """In which language a text is."""

    language: str | None = None
    """The likeliest, BCP 47; None where the text has no letters, or none of the candidates' scripts."""
    probability: float = 0.0
    found: str | None = None
    """The language if it is certain, otherwise None."""
    alternatives: tuple[tuple[str, float], ...] = ()
    """The next likely ones."""
    shares: dict[str, float] = field(default_factory=dict)
    """Share of the letters in each language; they sum to 1, or there are none."""
    expected: float | None = None
    """Probability of the language that was expected; None where none was, or the model does not know it."""


@dataclass(frozen=True)
class Check:
    """Whether a text is in the language that it should be in."""

    found: str | None
    certainty: float
    shares: dict[str, float]
    right: bool | None
    """None if it is uncertain, or the model does not know the language."""


def check(texts: Sequence[str], expected: Sequence[str]) -> list[Check]:
    """Whether each text is in the language expected of it."""
    return [_check(one) for one in detect(texts, expected)]


def detect(
    texts: Sequence[str],
    expected: Sequence[str | None] | None = None,
    candidates: Collection[str] | None = None,
) -> list[Detection]:
    """The language of each text: of all, of the candidates, or with one expected."""
    if expected is not None and len(expected) != len(texts):
        raise InputError(f"{len(expected)} expected languages for {len(texts)} texts; give one, or None, for each")
    wanted = [_wanted(tag) if tag else None for tag in expected] if expected is not None else [None] * len(texts)
    allowed = _allowed(candidates)
    found: list[Detection] = []
    for first in range(0, len(texts), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        found += _Batch(texts[part], wanted[part], allowed).detections()
    return found


def model_tag(tag: str) -> str | None:
    """The tag under which the model knows a language: `pt` for `pt-BR`, `ar` for `arz`; None where it does not."""
    known = (tag_of(tag), macrolanguage(tag))
    return next((name for name in known if name in languages()), None)


@cache
def languages() -> tuple[str, ...]:
    """All languages that the model knows, in one order."""
    tags = {tag for block in shipped().blocks.values() for tag in block.languages}
    return tuple(sorted(tags | set(EAST_ASIAN) | {rule.language for rule in RULES}))


@cache
def _places() -> dict[str, int]:
    return {tag: place for place, tag in enumerate(languages())}


@dataclass(frozen=True)
class _Wanted:
    """The language that is expected of a text."""

    tag: str
    """As the model knows it."""
    places: tuple[int, ...]
    """Of all languages that it accepts: of Norwegian, Bokmål and Nynorsk."""
    script: str | None
    """The script that the tag names, as `sr-Latn` does; None where any will do, or letters do not tell (`zh-Hant`)."""


@cache
def _wanted(expected: str) -> _Wanted | None:
    tag = model_tag(expected)
    if tag is None:
        return None
    script = Language.get(language(expected)).script
    places = tuple(place for name, place in _places().items() if name == tag or accepts(expected, name))
    return _Wanted(tag, places, script if script in NUMBERS else None)


def _allowed(candidates: Collection[str] | None) -> npt.NDArray[np.bool_]:
    if candidates is None:
        return np.ones(len(languages()), np.bool_)
    tags = [(tag, model_tag(tag)) for tag in candidates]
    unknown = ", ".join(sorted(tag for tag, known in tags if known is None))
    if unknown or not tags:
        raise InputError(f"candidates {unknown or '(none)'}: not known to the model; see mores.language.languages()")
    return np.isin(languages(), [known for _, known in tags if known])


@cache
def _prior(tag: str | None) -> Floats:
    """Log-probabilities of all languages before a text is read."""
    count = len(languages())
    if tag is None:
        return np.full(count, -np.log(count))
    near = [_places()[name] for name in confusions(tag) if name in _places()]
    prior = np.full(count, (1 - EXPECTED - CONFUSED) / (count - 1 - len(near)))
    prior[near] = CONFUSED / len(near)
    prior[_places()[tag]] = EXPECTED
    found: Floats = np.log(prior)
    return found


class _Batch:
    """Some texts, scored together."""

    def __init__(self, texts: Sequence[str], wanted: Sequence[_Wanted | None], allowed: npt.NDArray[np.bool_]) -> None:
        self.calibration = shipped().calibration
        self.wanted = wanted
        self.prior = np.where(allowed, np.stack([_prior(want.tag if want else None) for want in wanted]), _NEVER)
        self.cut: Segments = segments(texts)
        self.scores = list(score(self.cut, shipped()))
        self.columns = {scores.script: np.array([_places()[tag] for tag in scores.languages]) for scores in self.scores}

    def detections(self) -> list[Detection]:
        """The detection of each text."""
        logits = np.full((len(self.cut.starts), len(languages())), _NEVER)
        for scores in self.scores:
            columns = self.columns[scores.script]
            prior = self.prior[self.cut.text[scores.segments]][:, columns]
            logits[scores.segments[:, None], columns] = self._logits(scores.nats, scores.grams, scores.evidence, prior)
        labels = self._label(logits)
        weights = np.zeros((self.cut.texts, len(languages())))
        some = labels >= 0
        np.add.at(weights, (self.cut.text[some], labels[some]), self.cut.size[some])
        return self._speak(labels, weights)

    def _logits(self, nats: Floats, grams: Floats, evidence: Floats, prior: Floats) -> Floats:
        """Log-probabilities, but for a constant: calibrated scores, what rules say, and the prior."""
        logits = nats / self.calibration.temperature(grams)[:, None]
        ruled = ~np.isnan(evidence)
        if ruled.any():
            others = np.where(ruled, -np.inf, logits).max(axis=1, keepdims=True)
            logits = np.where(ruled, others + np.clip(np.nan_to_num(evidence), -MOST, MOST), logits)
        return logits + prior

    def _label(self, logits: Floats) -> Ints:
        """The language of each segment, smoothed over those of its text; -1 where none is possible."""
        best = np.where(logits.max(axis=1, initial=_NEVER) > _NEVER / 2, logits.argmax(axis=1), -1)
        bounds = np.searchsorted(self.cut.text, np.arange(self.cut.texts + 1))
        same = (self.cut.text[1:] != self.cut.text[:-1]) | (best[1:] == best[:-1])
        for text in np.unique(self.cut.text[1:][~same]):
            mine = np.arange(bounds[text], bounds[text + 1])
            mine = mine[best[mine] >= 0]
            states = np.unique(best[mine])
            if len(states) > 1:
                heights = logits[mine]
                # A language of another script is as unlikely as can be made good by changing to it and back.
                below = np.maximum(heights - heights.max(axis=1, keepdims=True), -2 * SWITCH - 1)
                best[mine] = states[_walk(below[:, states])]
        return best

    def _speak(self, labels: Ints, weights: Floats) -> list[Detection]:
        """A detection for each text, from the segments in the language with the largest share."""
        main = weights.argmax(axis=1)
        found = [Detection()] * self.cut.texts
        for scores in self.scores:
            chosen = (labels[scores.segments] == main[self.cut.text[scores.segments]]) & (labels[scores.segments] >= 0)
            texts, of = np.unique(self.cut.text[scores.segments[chosen]], return_inverse=True)
            nats, grams, evidence = (
                _sum(v[chosen], of, len(texts)) for v in (scores.nats, scores.grams, scores.evidence)
            )
            columns = self.columns[scores.script]
            chances = _softmax(self._logits(nats, grams, evidence, self.prior[texts][:, columns]))
            ranks = np.argsort(-chances, axis=1, kind="stable")[:, : ALTERNATIVES + 1]
            for row, text in enumerate(texts):
                said = self._say(scores.script, chances[row], ranks[row], weights[text], self.wanted[text])
                if said.probability > found[text].probability:  # a language in two scripts: the surer one
                    found[text] = said
        return found

    def _say(self, script: str, chances: Floats, rank: Ints, weights: Floats, wanted: _Wanted | None) -> Detection:
        names, columns = languages(), self.columns[script]
        (tag, chance), *others = [(names[columns[at]], float(chances[at])) for at in rank if chances[at] > 0]
        places = np.flatnonzero(weights)
        total = weights[places].sum()
        shares = {names[at]: float(weights[at] / total) for at in places} if len(places) > 1 else {tag: 1.0}
        expected = None
        if wanted is not None:
            read = wanted.script in (None, script)
            expected = float(chances[np.isin(columns, wanted.places)].sum()) if read else 0.0
        sure = tag if chance >= self.calibration.sure else None
        return Detection(tag, chance, sure, tuple(others), shares, expected)


def _sum(values: Floats, of: Ints, count: int) -> Floats:
    """Rows added up by the text that they are of."""
    sums = np.zeros((count, *values.shape[1:]))
    np.add.at(sums, of, values)
    return sums


def _softmax(logits: Floats) -> Floats:
    chances = np.exp(logits - logits.max(axis=1, keepdims=True, initial=_NEVER * 2))
    found: Floats = chances / chances.sum(axis=1, keepdims=True)
    return found


def _walk(emitted: Floats) -> Ints:
    """The states of the best path, where each change costs `SWITCH`."""
    total, came = emitted[0], []
    for step in emitted[1:]:
        stay, best = total, int(total.argmax())
        moved = total[best] - SWITCH
        came.append(np.where(stay >= moved, np.arange(len(total)), best))
        total = np.maximum(stay, moved) + step
    path = [int(total.argmax())]
    for back in reversed(came):
        path.append(int(back[path[-1]]))
    return np.array(path[::-1])


def _check(one: Detection) -> Check:
    sure = shipped().calibration.sure
    right: bool | None = None
    if one.expected is not None and one.language is not None:
        right = True if one.expected >= sure else False if one.expected <= 1 - sure else None
    return Check(one.found, one.probability, one.shares, right)
