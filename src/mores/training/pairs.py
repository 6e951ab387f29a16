"""Claims with passages that support, refute or do not decide them, and the files that they are read from.

`mores build ground` reads every `.jsonl` file of the folders it is given: an object per line with `id`, `claim`,
`evidence` (a list of passages), `label` (`supported`, `refuted` or `unknown`), `language` and `source`; or, in files
that end in `.contrasts.jsonl`, two passages with claims (`ContrastingPassages`). Plain sentences in many languages
give claims too. `mores.training.pair_samples` makes samples of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from mores.errors import InputError
from mores.factory.drafts import draw
from mores.factory.split import Components
from mores.io import read_records
from mores.types import Record

Label = Literal["supported", "refuted", "unknown"]
NonEmpty = Annotated[str, Field(min_length=1)]
CONTRASTS = ".contrasts.jsonl"
SENTENCES = "sentences"
"""The source of claims that are made of plain sentences."""


class ClaimPair(Record):
    """A claim and passages about it."""

    id: str
    claim: NonEmpty
    evidence: tuple[str, ...] = Field(min_length=1)
    label: Label
    language: str
    source: str


class ContrastingPassages(Record):
    """Two passages that cannot both be true: each supports the claim in its place, and refutes the other claim."""

    id: str
    passages: tuple[NonEmpty, NonEmpty]
    claims: tuple[NonEmpty, NonEmpty]
    undecided: tuple[NonEmpty, ...] = ()
    """Claims that neither passage decides."""
    language: str
    source: str

    @model_validator(mode="after")
    def _differ(self) -> Self:
        if len({*self.passages}) < 2 or len({*self.claims}) < 2:
            raise ValueError("the two passages, or the two claims, are the same")
        return self

    def pairs(self) -> Iterator[ClaimPair]:
        """Yield every claim with every passage, undecided ones with one of the two."""
        rows: list[tuple[str, str, str, Label]] = []
        for place, passage in enumerate(self.passages):
            for number, claim in enumerate(self.claims):
                rows.append((f"{place}{number}", claim, passage, "supported" if place == number else "refuted"))
        passage = self.passages[draw(0, "undecided", self.source, self.id)[0] % 2]
        rows += [(f"u{number}", claim, passage, "unknown") for number, claim in enumerate(self.undecided)]
        same = {"language": self.language, "source": self.source}
        for part, claim, passage, label in rows:
            yield ClaimPair(id=f"{self.id}-{part}", claim=claim, evidence=(passage,), label=label, **same)


def read_pairs(*folders: Path) -> list[ClaimPair]:
    """Return all pairs of some folders, without duplicates."""
    unique: dict[tuple[str, tuple[str, ...]], ClaimPair] = {}
    named: dict[str, Path] = {}
    for folder in folders:
        paths = sorted(folder.glob("*.jsonl"))
        if not paths:
            raise InputError(f"{folder}: no .jsonl file in it; expected pairs with 'claim', 'evidence' and 'label'")
        for path in paths:
            pairs = read_records(path, ClaimPair)
            if path.name.endswith(CONTRASTS):
                pairs = (pair for contrast in read_records(path, ContrastingPassages) for pair in contrast.pairs())
            for pair in pairs:
                if unique.setdefault((pair.claim, pair.evidence), pair) is not pair:
                    continue
                if other := named.get(name_of(pair)):
                    raise InputError(f"{path}: duplicate id {name_of(pair)}, also in {other}; rename one")
                named[name_of(pair)] = path
    return list(unique.values())


def read_sentences(folder: Path, most: int = 20) -> list[ClaimPair]:
    """Return claims that are a sentence of their passage, or of none; the name of a file is its language."""
    paths = sorted(folder.glob("*.txt"))
    if not paths:
        raise InputError(f"{folder}: no .txt file in it; expected one for each language, such as sw.txt")
    pairs = []
    for path in paths:
        lines = list(dict.fromkeys(line.strip() for line in path.read_text("utf-8").splitlines() if line.strip()))
        lines.sort(key=lambda line: draw(0, path.stem, line))
        fours = zip(*(lines[start::4] for start in range(4)), strict=False)
        for number, (first, second, third, other) in enumerate(islice(fours, most)):
            passage = (" ".join((first, second, third)),)
            same = {"evidence": passage, "language": path.stem, "source": SENTENCES}
            pairs.append(ClaimPair(id=f"{path.stem}-{number}", claim=second, label="supported", **same))
            if number % 2:
                pairs.append(ClaimPair(id=f"{path.stem}-{number}-other", claim=other, label="unknown", **same))
    if not pairs:
        raise InputError(f"{folder}: no .txt file in it has four different sentences; write one sentence per line")
    return pairs


def name_of(pair: ClaimPair) -> str:
    """Return the name of a pair, `source/id`."""
    return f"{pair.source}/{pair.id}"


def group(pairs: Iterable[ClaimPair]) -> dict[str, str]:
    """Return the group of each pair, named after its first; pairs with a common claim or passage are in one."""
    components = Components()
    names = []
    for pair in pairs:
        names.append(name_of(pair))
        components.add(names[-1], (f"claim {pair.claim}", *(f"passage {passage}" for passage in pair.evidence)))
    return components.by_first(names)
