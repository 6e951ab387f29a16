"""Coherent texts of several sentences with passages of free prose, to teach a reader what single claims do not.

Files that end in `.texts.jsonl` in the folders of `mores build ground --pairs` hold correct texts, changes that make
one sentence of them wrong, passages that decide these indirectly, and passages that decide nothing (`WrittenText`).
Sentences refer to each other, so that one alone is not understandable. Each text is used as it is, with each change,
and with all of them; with passages that decide it, among others or not, and some with others alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from mores.errors import InputError
from mores.factory.drafts import draw
from mores.factory.errors.rules.edit import UNSPACED
from mores.factory.gold import Gold
from mores.io import read_records
from mores.language.units import nearest_sentence, vocabulary
from mores.metric.explained import corrects
from mores.models.base import LONGEST_QUOTATION
from mores.models.embedded import EXPLANATIONS
from mores.search.ground import cut
from mores.training.examples import CONTRADICTION
from mores.training.pair_samples import make_gold, with_claims
from mores.training.pairs import TEXTS
from mores.types import Error, Evidence, JudgedClaim, Record, Sample, Severity

TESTED = 12
"""Percentage of the texts that are not trained on."""
_ROOM = 10
"""Characters by which a correction may be longer than twice what it corrects."""
_USES = (("passages", "near", "other"), ("passages",), ("passages", "other"), ("near", "other"))
"""What a text is shown with, each time it is used; without its passages, as it is and with one change."""


class Change(Record):
    """The fault of a wrong sentence."""

    sentence: int = Field(ge=1)
    text: str
    """The wrong sentence."""
    wrong: str = Field(min_length=1)
    """The words of it that are wrong."""
    correct: str = ""
    """The words of a passage that say what is correct, if there are such."""
    severity: Severity
    type: Literal["incorrect information", "misrepresentation", "misrepresented norm", "stereotyping"]


class WrittenText(Record):
    """A correct text of several sentences, and what is known about it."""

    id: str
    language: str
    region: str
    instruction: str
    sentences: tuple[str, ...] = Field(min_length=1)
    changes: tuple[Change, ...] = Field(min_length=1)
    passages: tuple[str, ...] = Field(min_length=1)
    """They decide every sentence that may be changed."""
    supported: tuple[int, ...]
    """The sentences that the passages confirm."""
    near: tuple[str, ...] = ()
    """Passages about something similar, which decide nothing."""
    none: tuple[int, ...] = ()
    """The sentences that claim nothing."""

    @model_validator(mode="after")
    def _fit(self) -> Self:
        for change in self.changes:
            if change.sentence > len(self.sentences) or change.wrong not in change.text:
                raise ValueError(f"sentence {change.sentence}: no such sentence, or the wrong words are not in it")
        return self


def read_texts(*folders: Path) -> list[WrittenText]:
    """Return the texts of some folders, in which there need not be any."""
    texts: dict[str, WrittenText] = {}
    for path in (path for folder in folders for path in sorted(folder.glob(f"*{TEXTS}"))):
        for text in read_records(path, WrittenText):
            if texts.setdefault(text.id, text) is not text:
                raise InputError(f"{path}: duplicate id {text.id}; rename one")
    return list(texts.values())


@dataclass(frozen=True)
class TextSamples:
    """The samples that are made of texts."""

    texts: Sequence[WrittenText]
    seed: int = 0

    def samples(self, *, tested: bool) -> Iterator[Gold]:
        """Yield the samples of the training; or of the texts that are kept for the test, each correct and wrong."""
        for text in self.texts:
            if (draw(self.seed, "test text", text.id)[0] % 100 < TESTED) != tested:
                continue
            together = len({change.sentence for change in text.changes}) > 1
            variants = [(), *((change,) for change in text.changes), *([text.changes] if together else [])]
            for number, use in enumerate(_USES[:1] if tested else _USES):
                shown = self._passages(text, use, number)
                for place, changes in enumerate(variants[:2] if tested or "passages" not in use else variants):
                    yield _gold(text, changes, shown, f"{number}{place}")

    def _passages(self, text: WrittenText, use: Sequence[str], number: int) -> list[str]:
        """Return the passages of one use, shuffled."""
        others = [other for other in self.texts if other.language == text.language and other.id != text.id]
        others.sort(key=lambda other: draw(self.seed, "other text", text.id, other.id))
        other = [other.passages[0] for other in others[number : number + 2]]
        kinds = {"passages": text.passages, "near": text.near, "other": other}
        passages = [passage for kind in use for passage in kinds[kind]]
        return sorted(passages, key=lambda passage: draw(self.seed, "shown", text.id, str(number), passage))


def _gold(text: WrittenText, changes: Sequence[Change], shown: Sequence[str], copy: str) -> Gold:
    changed = {change.sentence: change for change in changes}
    decided = all(passage in shown for passage in text.passages)
    space = "" if text.language.split("-")[0] in UNSPACED else " "
    whole, errors, claims = "", list[Error](), list[JudgedClaim]()
    for number, sentence in enumerate(text.sentences, 1):
        change, start = changed.get(number), len(whole)
        whole += (change.text if change else sentence) + space
        if change and decided:
            errors.append(_error(change, start + change.text.index(change.wrong), shown, text))
        if number not in text.none:
            known = decided and number in text.supported
            decision: Literal["supported", "unknown"] = "supported" if known and not change else "unknown"
            claims.append(JudgedClaim(start=start, end=len(whole.rstrip()), decision=decision))
    sample = Sample(
        id=f"{text.id} {copy}",
        instruction=text.instruction,
        text=whole.rstrip(),
        language=text.language,
        region=text.region,
        source=f"texts_{text.language.split('-')[0]}",
        evidence=tuple(Evidence(text=passage) for passage in shown),
    )
    gold = with_claims(make_gold(sample, None, f"texts/{text.id}", f"texts/{text.id}"), claims)
    kind = "hard" if errors else "correct"
    return gold.model_copy(update={"report": gold.report.model_copy(update={"errors": tuple(errors)}), "kind": kind})


def _error(change: Change, start: int, shown: Sequence[str], text: WrittenText) -> Error:
    """Return the error of a change, which cites the passage that says what is correct, or else the nearest."""
    said = vocabulary(text.sentences[change.sentence - 1])
    near = max(
        (passage for passage in shown if passage in text.passages),
        key=lambda passage: (bool(change.correct) and change.correct in passage, len(said & vocabulary(passage))),
    )
    # Words that only hint at what is correct cannot stand in place of the wrong ones.
    fits = len(change.correct) <= 2 * len(change.wrong) + _ROOM and corrects(change.correct, change.wrong)
    if change.correct and fits:
        explanation = EXPLANATIONS.cited[change.type].format(quote=change.wrong, words=change.correct)
    else:
        sentence = cut(nearest_sentence(near, said), LONGEST_QUOTATION)
        explanation = EXPLANATIONS.cited[CONTRADICTION].format(quote=change.wrong, sentence=sentence)
    return Error(
        side="text",
        start=start,
        end=start + len(change.wrong),
        quote=change.wrong,
        severity=change.severity,
        type=change.type if change.correct and fits else CONTRADICTION,
        explanation=explanation,
        evidence=(shown.index(near) + 1,),
    )
