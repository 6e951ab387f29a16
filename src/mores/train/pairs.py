"""Claims with passages that support, refute or do not decide them, to train and measure a reader of evidence.

`mores build ground` reads every `.jsonl` file of the folders it is given: an object per line with `id`, `claim`,
`evidence` (a list of passages), `label` (`supported`, `refuted` or `unknown`), `language` and `source`; or, in files
that end in `.contrasts.jsonl`, two passages with claims (`Contrast`).

A refuted claim has one error, at the words that differ from the passage; a claim that the passages support or do not
decide has none: there is no error by this evidence. In training about half of the samples of a source have an error, so
a refuted claim may come twice, with its passages in another order and among other passages. A short passage also comes
as the claim about its claim, because a contradiction holds both ways. Sources that lack a label would teach the source,
so each also has claims with passages about something else, and supported claims that say the contrary after a small
change (`mores.train.contrast`) or have another word. Sentences of the passages are claims too, unchanged and turned
around, and several claims make a text (`mores.train.composed`). A source in which passages come in twos, one that
supports a claim and one that refutes it, is taken as it is. Plain sentences in many languages give claims, too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from mores.errors import InputError
from mores.factory.components import Components
from mores.factory.drafts import draw
from mores.factory.gold import Gold
from mores.factory.items import Task
from mores.io import read_records
from mores.language.sentences import sentences
from mores.language.units import Unit, nearest_sentence, units, vocabulary
from mores.models.base import LONGEST_QUOTATION
from mores.models.embedded import EXPLANATIONS
from mores.search.ground import cut
from mores.train.composed import composed
from mores.train.contrast import contrasts
from mores.types import DEFAULT_INSTRUCTION, Error, ErrorReport, Evidence, Record, Sample, Severity

Label = Literal["supported", "refuted", "unknown"]
Text = Annotated[str, Field(min_length=1)]
CONTRASTS = ".contrasts.jsonl"
TYPE = "contradicts the evidence"
LONGEST_PASSAGE = 600
TESTED = 8
"""Percent of the groups of a source that are not trained on."""
DERIVED = 20
"""Percent of the claims that also come with foreign passages."""
CHANGED = 40
"""Percent of the supported claims that also come changed, and of the pairs whose passage gives a claim."""
SENTENCES = "sentences"
"""The source of claims that are made of plain sentences."""
SHORTEST, LONGEST_CLAIM = 12, 250
"""Characters of a passage that can be a claim."""
DISTRACTORS = (0, 0, 1, 1, 2)
"""How many passages about something else a sample gets: one of these, drawn evenly."""
_INSTRUCTIONS = (
    DEFAULT_INSTRUCTION, DEFAULT_INSTRUCTION, DEFAULT_INSTRUCTION, "Tell me something about this.", "Is this correct?",
    "Write one sentence.", "What do you know about this?",
)  # fmt: skip
"""A claim comes with no question: mostly without an instruction, sometimes with one that says nothing."""


class Pair(Record):
    """A claim and passages about it."""

    id: str
    claim: Text
    evidence: tuple[str, ...] = Field(min_length=1)
    label: Label
    language: str
    source: str


class Contrast(Record):
    """Two passages that cannot both be true: each supports the claim in its place, and refutes the other claim."""

    id: str
    passages: tuple[Text, Text]
    claims: tuple[Text, Text]
    undecided: tuple[Text, ...] = ()
    """Claims that neither passage decides."""
    language: str
    source: str

    @model_validator(mode="after")
    def _differ(self) -> Self:
        if len({*self.passages}) < 2 or len({*self.claims}) < 2:
            raise ValueError("the two passages, or the two claims, are the same")
        return self

    def pairs(self) -> Iterator[Pair]:
        """Every claim with every passage, undecided ones with one of the two."""
        for place, passage in enumerate(self.passages):
            for number, claim in enumerate(self.claims):
                yield self._pair(f"{place}{number}", claim, passage, "supported" if place == number else "refuted")
        one = self.passages[draw(0, "undecided", self.source, self.id)[0] % 2]
        for number, claim in enumerate(self.undecided):
            yield self._pair(f"u{number}", claim, one, "unknown")

    def _pair(self, part: str, claim: str, passage: str, label: Label) -> Pair:
        return Pair(
            id=f"{self.id}-{part}", claim=claim, evidence=(passage,), label=label,
            language=self.language, source=self.source,
        )  # fmt: skip


def read_pairs(*folders: Path) -> list[Pair]:
    """All pairs of some folders; the same claim with the same passages is taken once."""
    unique: dict[tuple[str, tuple[str, ...]], Pair] = {}
    named: dict[str, Path] = {}
    for folder in folders:
        paths = sorted(folder.glob("*.jsonl"))
        if not paths:
            raise InputError(f"{folder}: no .jsonl file in it; expected pairs with 'claim', 'evidence' and 'label'")
        for path in paths:
            for pair in _pairs_of(path):
                if unique.setdefault((pair.claim, pair.evidence), pair) is not pair:
                    continue
                if other := named.get(name_of(pair)):
                    raise InputError(f"{path}: {name_of(pair)} names another pair in {other}; give one another id")
                named[name_of(pair)] = path
    return list(unique.values())


def _pairs_of(path: Path) -> Iterator[Pair]:
    if path.name.endswith(CONTRASTS):
        return (pair for contrast in read_records(path, Contrast) for pair in contrast.pairs())
    return read_records(path, Pair)


def read_sentences(folder: Path, most: int = 20) -> list[Pair]:
    """Claims that are a sentence of their passage, or none, in the language that the name of each file says."""
    paths = sorted(folder.glob("*.txt"))
    if not paths:
        raise InputError(f"{folder}: no .txt file in it; expected one for each language, such as sw.txt")
    pairs = []
    for path in paths:
        lines = list(dict.fromkeys(line.strip() for line in path.read_text("utf-8").splitlines() if line.strip()))
        lines.sort(key=lambda line: draw(0, path.stem, line))
        for number, (first, second, third, other) in enumerate(batched_by_four(lines)[:most]):
            passage = (" ".join((first, second, third)),)
            same = {"evidence": passage, "language": path.stem, "source": SENTENCES}
            pairs.append(Pair(id=f"{path.stem}-{number}", claim=second, label="supported", **same))
            if number % 2:
                pairs.append(Pair(id=f"{path.stem}-{number}-other", claim=other, label="unknown", **same))
    if not pairs:
        raise InputError(f"{folder}: no .txt file in it has four different sentences; write one sentence per line")
    return pairs


def batched_by_four(lines: Sequence[str]) -> list[tuple[str, ...]]:
    """The lines four by four; a rest of fewer is left out."""
    return list(zip(*(lines[start::4] for start in range(4)), strict=False))


def is_statement(text: str) -> bool:
    """Whether a text is long and short enough to be a claim."""
    return SHORTEST <= len(text) <= LONGEST_CLAIM


def mirrored(pair: Pair) -> Pair | None:
    """The passage as a claim about the claim: contradicted if the claim is; None where either is no short statement."""
    passage = pair.evidence[0]
    if len(pair.evidence) > 1 or not is_statement(passage) or len(pair.claim) < SHORTEST:
        return None
    label = "refuted" if pair.label == "refuted" else "unknown"
    return pair.model_copy(update={"claim": passage, "evidence": (pair.claim,), "label": label})


def lift(pair: Pair, digest: bytes) -> Pair | None:
    """A sentence of a passage as a claim, which that passage supports; None where no sentence is fit for it."""
    passage = pair.evidence[digest[0] % len(pair.evidence)]
    parts = [passage[start:end].strip() for start, end in sentences(passage)]
    parts = [part for part in parts if is_statement(part)]
    if not parts:
        return None
    return pair.model_copy(update={"claim": parts[digest[1] % len(parts)], "label": "supported"})


@dataclass
class Reading:
    """The samples that are made of pairs."""

    pairs: Sequence[Pair]
    seed: int = 0
    _by_source: dict[str, list[Pair]] = field(init=False)
    _group_of: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self._by_source = defaultdict(list)
        for pair in self.pairs:
            self._by_source[pair.source].append(pair)
        self._group_of = group(self.pairs)

    def train(self) -> Iterator[Gold]:
        """What is trained on: half of each source has an error."""
        for _, pairs in sorted(self._by_source.items()):
            kept = self.trained(pairs)
            yield from self._plain(kept) if is_contrasted(kept) else self._completed(kept)

    def _plain(self, kept: Sequence[Pair]) -> Iterator[Gold]:
        return (self._gold(pair, "copy 0", kept) for pair in kept)

    def _completed(self, kept: Sequence[Pair]) -> Iterator[Gold]:
        """The pairs, and what is made of them: half have an error, and no claim alone gives that away."""
        counts: Counter[str] = Counter(pair.label for pair in kept)
        exchange = Exchange(kept)
        for pair in kept:
            yield from self._varied(pair, counts, kept)
            yield from self._derived(pair, kept, exchange, 100 if not counts["refuted"] else CHANGED)
        yield from self._composed(kept)

    def trained(self, pairs: Iterable[Pair]) -> list[Pair]:
        """Those that are trained on."""
        return [pair for pair in pairs if not self._is_tested(pair)]

    def samples(self) -> Iterator[Sample]:
        """Every pair once, with passages of other pairs among its own, whatever its label."""
        for _, pairs in sorted(self._by_source.items()):
            yield from (self._gold(pair, "unlabelled", pairs).sample for pair in pairs)

    def test(self) -> Iterator[Gold]:
        """What is measured on, without passages of other pairs: as many claims with an error as without."""
        for _, pairs in sorted(self._by_source.items()):
            tested = sorted((pair for pair in pairs if self._is_tested(pair)), key=self._rank)
            yield from (self._gold(pair, "test") for pair in balanced(tested))

    def sets(self, most: int = 600) -> Iterator[Gold]:
        """Every source as it is, to decide about those that a training leaves out."""
        for _, pairs in sorted(self._by_source.items()):
            yield from (self._gold(pair, "set") for pair in balanced(sorted(pairs, key=self._rank), most))

    def _is_tested(self, pair: Pair) -> bool:
        if pair.source == SENTENCES:  # none of these claims is refuted, so they measure nothing
            return False
        digest = draw(self.seed, "test", self._group_of[name_of(pair)])
        return int.from_bytes(digest[:4], "big") % 100 < TESTED

    def _composed(self, kept: Sequence[Pair]) -> Iterator[Gold]:
        """Texts of several claims, see `mores.train.composed`."""
        by_language: dict[str, list[Gold]] = defaultdict(list)
        for pair in kept:
            by_language[pair.language].append(self._gold(pair, "part"))
        for golds in by_language.values():
            yield from composed(golds, self.seed)

    def _varied(self, pair: Pair, counts: Counter[str], kept: Sequence[Pair]) -> Iterator[Gold]:
        """The pair once, or twice if it is refuted and too few of its source are."""
        others = counts["supported"] + counts["unknown"]
        times = 2 if pair.label == "refuted" and others > 1.4 * counts["refuted"] else 1
        for copy in range(times):
            yield self._gold(pair, f"copy {copy}", kept)
            if counts["refuted"] and (reverse := mirrored(pair)):
                gold = self._gold(reverse, f"mirror {copy}", kept)
                yield gold.model_copy(update={"maker": "rule:mirror"})

    def _derived(self, pair: Pair, kept: Sequence[Pair], exchange: Exchange, share: int) -> Iterator[Gold]:
        digest = draw(self.seed, "derived", name_of(pair))
        if digest[0] % 100 < DERIVED:
            foreign = self._foreign(pair, kept, "foreign", 1 + digest[1] % 2)
            if foreign:
                yield self._made(pair.model_copy(update={"evidence": foreign, "label": "unknown"}), "foreign")
        if pair.label == "supported" and digest[2] % 100 < share:
            yield from self._changed(pair, exchange, "changed")
        if pair.source != SENTENCES and digest[3] % 100 < CHANGED and (lifted := lift(pair, digest[4:])):
            yield self._made(lifted, "lifted")
            yield from self._changed(lifted, exchange, "lifted, changed")

    def _changed(self, pair: Pair, exchange: Exchange, copy: str) -> Iterator[Gold]:
        """The supported claim turned around, or else with an exchanged word."""
        digest, edits = draw(self.seed, copy, name_of(pair)), contrasts(pair.claim, pair.language)
        if edits and digest[0] % 4:
            edit = edits[digest[1] % len(edits)]
            changed = edit.apply(pair.claim), edit.span(pair.claim)
        elif not (exchanged := exchange.changed(pair, digest[2:])):
            return
        else:
            changed = exchanged
        claim, span = changed
        yield self._made(pair.model_copy(update={"claim": claim, "label": "refuted"}), copy, span)

    def _made(self, pair: Pair, copy: str, span: tuple[int, int] | None = None) -> Gold:
        gold = self._gold(pair, copy, self._by_source[pair.source], span)
        kind = "soft" if gold.report.errors else "correct"
        return gold.model_copy(update={"kind": kind, "maker": f"rule:{copy.split(', ')[-1]}"})

    def _gold(self, pair: Pair, copy: str, kept: Sequence[Pair] = (), span: tuple[int, int] | None = None) -> Gold:
        digest = draw(self.seed, copy, name_of(pair))
        passages = [cut(" ".join(passage.split()), LONGEST_PASSAGE) for passage in pair.evidence]
        instruction = DEFAULT_INSTRUCTION
        if kept:
            passages += self._foreign(pair, kept, copy, DISTRACTORS[digest[1] % len(DISTRACTORS)])
            instruction = _INSTRUCTIONS[digest[2] % len(_INSTRUCTIONS)]
        shuffled = sorted(enumerate(passages), key=lambda numbered: draw(self.seed, copy, name_of(pair), numbered[1]))
        real = [place for place, (number, _) in enumerate(shuffled) if number < len(pair.evidence)]
        sample = Sample(
            id=f"{name_of(pair)} {copy}", instruction=instruction, text=pair.claim, language=pair.language,
            source=pair.source, evidence=tuple(Evidence(text=text) for _, text in shuffled),
        )  # fmt: skip
        errors = (contradiction(sample, real, span),) if pair.label == "refuted" else ()
        return Gold(
            sample=sample, report=ErrorReport(errors=errors), task=Task.FREEFORM, kind="hard" if errors else "correct",
            maker="source", item=name_of(pair), group=self._group_of[name_of(pair)],
        )  # fmt: skip

    def _foreign(self, pair: Pair, kept: Sequence[Pair], copy: str, count: int) -> tuple[str, ...]:
        """Passages of other groups of the same language and source, as many as asked for if there are so many."""
        passages: list[str] = []
        for turn in range(4 * count):
            place = int.from_bytes(draw(self.seed, copy, name_of(pair), str(turn))[:6], "big") % len(kept)
            other = kept[place]
            same = other.language == pair.language
            if same and self._group_of[name_of(other)] != self._group_of[name_of(pair)] and len(passages) < count:
                passages.append(cut(" ".join(other.evidence[0].split()), LONGEST_PASSAGE))
        return tuple(dict.fromkeys(passages))

    def _rank(self, pair: Pair) -> bytes:
        return draw(self.seed, "rank", name_of(pair))


def name_of(pair: Pair) -> str:
    """A pair as samples name their item."""
    return f"{pair.source}/{pair.id}"


def group(pairs: Iterable[Pair]) -> dict[str, str]:
    """The group of each pair: pairs with the same claim or a common passage are in one, by the name of its first."""
    components = Components()
    names = []
    for pair in pairs:
        names.append(name_of(pair))
        components.add(names[-1], (f"claim {pair.claim}", *(f"passage {passage}" for passage in pair.evidence)))
    return components.by_first(names)


def is_contrasted(pairs: Sequence[Pair]) -> bool:
    """Whether most claims are refuted by one passage and not by another, so that no claim gives its label away."""
    refuted: dict[str, set[bool]] = defaultdict(set)
    for pair in pairs:
        refuted[pair.claim].add(pair.label == "refuted")
    return sum(len(refuted[pair.claim]) > 1 for pair in pairs) > len(pairs) / 2


def balanced(pairs: Sequence[Pair], most: int = 200) -> list[Pair]:
    """The first refuted pairs and equally many others, of which half are supported if there are such."""
    labels = ("supported", "refuted", "unknown")
    supported, refuted, unknown = ([pair for pair in pairs if pair.label == label] for label in labels)
    count = min(len(refuted), len(supported) + len(unknown), most // 2)
    of_supported = min(len(supported), max(count - count // 2, count - len(unknown)))
    return refuted[:count] + supported[:of_supported] + unknown[: count - of_supported]


def contradiction(sample: Sample, real: Sequence[int], span: tuple[int, int] | None = None) -> Error:
    """The error of a refuted claim: the words that differ from the nearest of its passages, and what that one says."""
    texts = [passage.text for passage in sample.evidence]
    claim = vocabulary(sample.text)
    near = max(real, key=lambda place: (len(claim & vocabulary(texts[place])), -place))
    start, end = span or differing(sample.text, texts[near])
    quote = sample.text[start:end]
    sentence = cut(nearest_sentence(texts[near], claim), LONGEST_QUOTATION)
    return Error(
        side="text", start=start, end=end, quote=quote, severity=Severity.MAJOR, type=TYPE, evidence=(near + 1,),
        explanation=EXPLANATIONS.cited[TYPE].format(quote=quote, sentence=sentence),
    )  # fmt: skip


def differing(claim: str, passage: str) -> tuple[int, int]:
    """The longest run of words of the claim that are not in the passage; the whole claim if most or none are."""
    words = units(claim)
    known = vocabulary(passage)
    new = [unit.key.casefold() not in known for unit in words]
    if not words:
        return 0, len(claim)
    if not any(new) or sum(new) > 0.6 * len(words):
        return words[0].start, words[-1].end
    return _longest_run(words, new)


def _longest_run(words: Sequence[Unit], new: Sequence[bool]) -> tuple[int, int]:
    """Of neighbouring new words, with at most one known word between two, the run with most letters."""
    runs: list[list[int]] = []
    for place in (place for place, is_new in enumerate(new) if is_new):
        if runs and place - runs[-1][1] <= 2:
            runs[-1][1] = place
        else:
            runs.append([place, place])
    first, last = max(runs, key=lambda run: (words[run[1]].end - words[run[0]].start, -run[0]))
    return words[first].start, words[last].end


class Exchange:
    """Puts a word of another claim in place of one that a supported claim shares with its passage."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self._count: Counter[str] = Counter()
        shapes: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        for pair in pairs:
            for word in {pair.claim[unit.start : unit.end] for unit in units(pair.claim) if not unit.unspaced}:
                self._count[word] += 1
                shapes[pair.language, shape(word)][word] = None
        self._words = {key: sorted(words) for key, words in shapes.items()}

    def changed(self, pair: Pair, digest: bytes) -> tuple[str, tuple[int, int]] | None:
        """The claim with another word, and where that is; None where there is no word to exchange."""
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
        for step in range(20):
            if not choices:
                return None
            place = int.from_bytes(digest[1:5], "big") + 7919 * step
            new = choices[place % len(choices)]
            if new.casefold() not in passage and new.casefold() != old.casefold():
                return f"{pair.claim[: unit.start]}{new}{pair.claim[unit.end :]}", (unit.start, unit.start + len(new))
        return None


def shape(word: str) -> str:
    """What a word looks like: a number, capitalised or not, and its ending, so that an exchange reads well."""
    if any(character.isdigit() for character in word):
        return f"number {len(word)}"
    return f"{'capital' if word[0].isupper() else 'small'} {word[-2:].casefold() if word[0].islower() else ''}"
