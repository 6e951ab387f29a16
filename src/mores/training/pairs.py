"""Claims with passages that support, refute or do not decide them, and the files that they are read from.

`mores build ground` reads every `.jsonl` file of the folders it is given: an object per line with `id`, `claim`,
`evidence` (a list of passages), `label` (`supported`, `refuted` or `unknown`), `language` and `source`; or, in files
that end in `.contrasts.jsonl`, two passages with claims (`ContrastingPassages`). Plain sentences in many languages
give claims too. `mores.training.pair_samples` makes samples of them.

Pairs are also derived from other pairs: sides swapped, a sentence of the passage as the claim, a claim that is changed.
A small change reverses a claim: a negation, an opposite, another number (the words are in `contrast.toml`). A passage
that supports a claim refutes the changed claim.

    for change in contrasts("She was born before the war.", "en"): ...   # "after", "was not born"

Unlabelled pairs, for a larger model to label (`mores.training.examples`), look like what people write: claims about one
passage paired with each other, reversed claims and passages, and pairs whose labels are not trusted.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from mores.errors import InputError
from mores.factory.drafts import draw
from mores.factory.errors.rules.edit import UNSPACED, TextEdit, capitalise_like, is_whole
from mores.factory.errors.rules.numbers import numbers
from mores.factory.items import SourceItem, Task
from mores.io import read_records
from mores.io.values import read_packaged_toml
from mores.language.sentences import sentences
from mores.language.units import units, vocabulary
from mores.training.components import Components
from mores.types import Record

Label = Literal["supported", "refuted", "unknown", "disputed"]
NonEmpty = Annotated[str, Field(min_length=1)]
CONTRASTS = ".contrasts.jsonl"
TEXTS = ".texts.jsonl"
"""Files of whole texts, which `mores.training.texts` reads."""
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
        """Yield every claim with every passage, undecided ones with one of the two, some with both."""
        rows: list[tuple[str, str, str, Label]] = []
        for place, passage in enumerate(self.passages):
            for number, claim in enumerate(self.claims):
                rows.append((f"{place}{number}", claim, passage, "supported" if place == number else "refuted"))
        digest = draw(0, "undecided", self.source, self.id)
        passage = self.passages[digest[0] % 2]
        rows += [(f"u{number}", claim, passage, "unknown") for number, claim in enumerate(self.undecided)]
        same = {"language": self.language, "source": self.source}
        for part, claim, passage, label in rows:
            yield ClaimPair(id=f"{self.id}-{part}", claim=claim, evidence=(passage,), label=label, **same)
        if digest[1] % 3 == 0:  # what one passage says and the other denies
            claim = self.claims[digest[2] % 2]
            yield ClaimPair(id=f"{self.id}-d", claim=claim, evidence=self.passages, label="disputed", **same)


def read_pairs(*folders: Path) -> list[ClaimPair]:
    """Return all pairs of some folders, without duplicates."""
    unique: dict[tuple[str, tuple[str, ...]], ClaimPair] = {}
    named: dict[str, Path] = {}
    for folder in folders:
        every = sorted(folder.glob("*.jsonl"))
        paths = [path for path in every if not path.name.endswith(TEXTS)]
        if not every:
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


def contrasts(text: str, language: str) -> list[TextEdit]:
    """Return the possible changes of a text, each of which alone reverses it."""
    primary = language.split("-")[0]
    item = SourceItem(source="", id="", task=Task.FREEFORM, question="", answer=text, language=language)
    edits = []
    for pattern, replacement in _negations(primary):
        if match := pattern.search(text):
            edits.append(TextEdit(*match.span(), match.expand(replacement), in_part=True))
            break  # two negations in one sentence may mean the same as none
    pattern, opposites = _opposites(primary)
    matches = [match for match in pattern.finditer(text) if primary in UNSPACED or is_whole(text, *match.span())]
    edits += [TextEdit(*each.span(), capitalise_like(each[0], opposites[each[0].casefold()])) for each in matches]
    edits += numbers(item)
    return [edit for edit in edits if edit.new.casefold() != text[edit.start : edit.end].casefold()]


def _words(language: str, kind: str) -> Sequence[Sequence[str]]:
    table: dict[str, dict[str, list[list[str]]]] = read_packaged_toml("mores.training", "contrast.toml")
    return table.get(language, {}).get(kind, ())


@cache
def _negations(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), replacement) for pattern, replacement in _words(language, "negations"))


@cache
def _opposites(language: str) -> tuple[re.Pattern[str], dict[str, str]]:
    opposites: dict[str, str] = {}
    for first, second in _words(language, "opposites"):
        opposites.setdefault(first.casefold(), second)
        opposites.setdefault(second.casefold(), first)
    longest_first = sorted(opposites, key=lambda word: (-len(word), word))
    return re.compile("|".join(map(re.escape, longest_first)) or "(?!)", re.IGNORECASE), opposites


SHORTEST, LONGEST_CLAIM = 12, 250
"""Minimum and maximum characters of a claim."""


def is_statement(text: str) -> bool:
    """Return whether the length of a text is that of a claim."""
    return SHORTEST <= len(text) <= LONGEST_CLAIM


def mirror(pair: ClaimPair) -> ClaimPair | None:
    """Return the passage as a claim about the claim, refuted if the claim is; None where one is not a statement."""
    passage = pair.evidence[0]
    if len(pair.evidence) > 1 or not is_statement(passage) or len(pair.claim) < SHORTEST:
        return None
    label = "refuted" if pair.label == "refuted" else "unknown"
    return pair.model_copy(update={"claim": passage, "evidence": (pair.claim,), "label": label})


def lift(pair: ClaimPair, digest: bytes) -> ClaimPair | None:
    """Return a sentence of a passage as a claim, which the passage supports; None where no sentence fits."""
    passage = pair.evidence[digest[0] % len(pair.evidence)]
    parts = [passage[start:end].strip() for start, end in sentences(passage)]
    parts = [part for part in parts if is_statement(part)]
    if not parts:
        return None
    return pair.model_copy(update={"claim": parts[digest[1] % len(parts)], "label": "supported"})


class Exchange:
    """Replaces a word that a supported claim shares with its passage by a word of another claim."""

    def __init__(self, pairs: Iterable[ClaimPair]) -> None:
        self._count: Counter[str] = Counter()
        shapes: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        for pair in pairs:
            for word in {pair.claim[unit.start : unit.end] for unit in units(pair.claim) if not unit.unspaced}:
                self._count[word] += 1
                shapes[pair.language, shape(word)][word] = None
        self._words = {key: sorted(words) for key, words in shapes.items()}

    def change(self, pair: ClaimPair, digest: bytes) -> tuple[str, tuple[int, int]] | None:
        """Return the claim with another word, and its span; None where no word can be exchanged."""
        passage = set[str]().union(*map(vocabulary, pair.evidence))
        shared = [
            unit
            for unit in units(pair.claim)
            if not unit.unspaced and unit.key.casefold() in passage and (len(unit.key) > 3 or unit.key.isdigit())
        ]
        if not shared:
            return None
        rare = sorted(shared, key=lambda unit: (self._count[pair.claim[unit.start : unit.end]], unit.start))[:3]
        unit = rare[digest[0] % len(rare)]
        old = pair.claim[unit.start : unit.end]
        choices = self._words.get((pair.language, shape(old)), [])
        for step in range(20 if choices else 0):
            place = int.from_bytes(digest[1:5], "big") + 7919 * step
            new = choices[place % len(choices)]
            if new.casefold() not in passage and new.casefold() != old.casefold():
                return f"{pair.claim[: unit.start]}{new}{pair.claim[unit.end :]}", (unit.start, unit.start + len(new))
        return None


def shape(word: str) -> str:
    """Return the shape of a word, a number, or its case and ending, so that an exchange reads well."""
    if any(character.isdigit() for character in word):
        return f"number {len(word)}"
    return f"{'capital' if word[0].isupper() else 'small'} {word[-2:].casefold() if word[0].islower() else ''}"


SHARE = 35
"""Percentage of the possible pairs of each kind that are made."""


def make_unlabelled(pairs: Sequence[ClaimPair], untrusted: Sequence[ClaimPair] = (), seed: int = 0) -> list[ClaimPair]:
    """Return new pairs made of labelled and untrusted ones, without duplicates."""
    made: dict[tuple[str, tuple[str, ...]], ClaimPair] = {(pair.claim, pair.evidence): pair for pair in pairs}
    labelled = len(made)
    new = list(_derive(pairs, seed))
    for pair in untrusted:
        new.append(_relabel(pair, "pair", pair.claim, pair.evidence))
        if (reverse := mirror(pair)) and _is_drawn(seed, "mirror", pair):
            new.append(_relabel(pair, "mirror", reverse.claim, reverse.evidence))
    for pair in [*new, *_derive(untrusted, seed)]:
        made.setdefault((pair.claim, pair.evidence), pair)
    return list(made.values())[labelled:]


def _derive(pairs: Iterable[ClaimPair], seed: int) -> Iterator[ClaimPair]:
    by_passages: dict[tuple[str, tuple[str, ...]], list[ClaimPair]] = defaultdict(list)
    for pair in pairs:
        by_passages[pair.source, pair.evidence].append(pair)
    for (_, passages), members in by_passages.items():
        statements = [pair for pair in members if is_statement(pair.claim)]
        for pair in statements:
            for number, other in enumerate(statements):  # another claim about the passage as the passage
                if other.claim != pair.claim and _is_drawn(seed, f"against {number}", pair):
                    yield _relabel(pair, f"against {number}", pair.claim, (other.claim,))
            if _is_drawn(seed, "turned", pair) and (claim := _reverse(pair.claim, pair, seed)):
                yield _relabel(pair, "turned", claim, pair.evidence)
                if _is_drawn(seed, "itself", pair):
                    yield _relabel(pair, "itself", pair.claim, (claim,))
        first, *others = passages
        is_turned = statements and is_statement(first) and _is_drawn(seed, "passage", statements[0])
        if is_turned and (contrary := _reverse(first, statements[0], seed)):
            for pair in statements[:2]:
                yield _relabel(pair, "passage turned", pair.claim, (contrary, *others))
            yield _relabel(statements[0], "passage", first, (contrary,))


def _reverse(text: str, pair: ClaimPair, seed: int) -> str | None:
    edits = contrasts(text, pair.language)
    return edits[draw(seed, "edit", name_of(pair), text)[0] % len(edits)].apply(text) if edits else None


def _is_drawn(seed: int, kind: str, pair: ClaimPair) -> bool:
    return draw(seed, "unlabelled", kind, name_of(pair))[0] % 100 < SHARE


def _relabel(pair: ClaimPair, kind: str, claim: str, evidence: tuple[str, ...]) -> ClaimPair:
    return pair.model_copy(update={"id": f"{pair.id} {kind}", "claim": claim, "evidence": evidence, "label": "unknown"})
