"""Samples made of claims and passages (`mores.training.pairs`), to train and measure a reader of evidence.

A refuted claim has one error, at the words that differ from the passage; a claim that the passages support or do not
decide has none. In training about half of the samples of a source have an error, so a refuted claim may be used twice,
with its passages in another order and among other passages. A short passage is also used as a claim about its claim,
because a contradiction holds both ways. A source without one of the labels would give its label away, so each also has
claims with passages about something else, and supported claims that a small change reverses or that have another word.
Sentences of the passages are claims too, unchanged and reversed (`mores.training.pairs`), and several claims make a
text (`mores.training.composed`). A source in which each claim has both a supporting and a refuting passage is used
unchanged otherwise.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from mores.factory.drafts import draw
from mores.factory.gold import Gold
from mores.factory.items import Task
from mores.language.units import differing, nearest_sentence, vocabulary
from mores.models.base import LONGEST_QUOTATION
from mores.models.embedded import EXPLANATIONS
from mores.search.ground import cut
from mores.training.composed import compose_claims
from mores.training.examples import CONTRADICTION
from mores.training.pairs import SENTENCES, ClaimPair, Exchange, contrasts, group, lift, mirror, name_of
from mores.types import DEFAULT_INSTRUCTION, Decision, Error, ErrorReport, Evidence, JudgedClaim, Sample, Severity

LONGEST_PASSAGE = 600
TESTED = 8
"""Percentage of the groups of a source that are not trained on."""
FOREIGN = 20
"""Percentage of the claims that are also used with foreign passages."""
CHANGED = 40
"""Percentage of the supported claims that are also used changed, and of the passages that give a claim."""
DISTRACTORS = (0, 0, 1, 1, 2)
"""Number of passages about something else in a sample: one of these, drawn evenly."""
_INSTRUCTIONS = (
    DEFAULT_INSTRUCTION, DEFAULT_INSTRUCTION, DEFAULT_INSTRUCTION, "Tell me something about this.", "Is this correct?",
    "Write one sentence.", "What do you know about this?",
)  # fmt: skip
"""A claim has no question: most have no instruction, some have a vague one."""


@dataclass
class PairSamples:
    """The samples that are made of pairs."""

    pairs: Sequence[ClaimPair]
    seed: int = 0

    def __post_init__(self) -> None:
        self._by_source: dict[str, list[ClaimPair]] = defaultdict(list)
        for pair in sorted(self.pairs, key=lambda pair: pair.source):
            self._by_source[pair.source].append(pair)
        self._group_of = group(self.pairs)

    def train(self) -> Iterator[Gold]:
        """Yield the training samples; half of each source has an error."""
        for pairs in self._by_source.values():
            kept = self.trained(pairs)
            refuted: dict[str, set[bool]] = defaultdict(set)
            for pair in kept:
                refuted[pair.claim].add(pair.label == "refuted")
            # Most claims are refuted by one passage and not by another, so that none gives its label away.
            if sum(len(refuted[pair.claim]) > 1 for pair in kept) > len(kept) / 2:
                yield from (self._gold(pair, "copy 0", kept) for pair in kept)
            else:
                yield from self._completed(kept)
            yield from self._composed(kept, "part")

    def _completed(self, kept: Sequence[ClaimPair]) -> Iterator[Gold]:
        """Yield the pairs and variants of them: half have an error, and no claim alone gives that away."""
        counts: Counter[str] = Counter(pair.label for pair in kept)
        exchange, few = Exchange(kept), counts["supported"] + counts["unknown"] > 1.4 * counts["refuted"]
        for pair in kept:
            for copy in range(2 if pair.label == "refuted" and few else 1):
                yield self._gold(pair, f"copy {copy}", kept)
                if counts["refuted"] and (reverse := mirror(pair)):
                    gold = self._gold(reverse, f"mirror {copy}", kept)
                    yield gold.model_copy(update={"maker": "rule:mirror"})
            yield from self._derived(pair, kept, exchange, 100 if not counts["refuted"] else CHANGED)

    def trained(self, pairs: Iterable[ClaimPair]) -> list[ClaimPair]:
        """Return the pairs that are trained on."""
        return [pair for pair in pairs if not self._is_tested(pair)]

    def samples(self) -> Iterator[Sample]:
        """Yield every pair once, with other passages among its own, whatever its label."""
        for pairs in self._by_source.values():
            yield from (self._gold(pair, "unlabelled", pairs).sample for pair in pairs)

    def test(self) -> Iterator[Gold]:
        """Yield the test samples, without other passages: as many claims with an error as without."""
        for pairs in self._by_source.values():
            tested = sorted((pair for pair in pairs if self._is_tested(pair)), key=self._rank)
            yield from (self._gold(pair, "test") for pair in balanced(tested))

    def sets(self, most: int = 600) -> Iterator[Gold]:
        """Yield samples of every source, to evaluate on those that a training run leaves out."""
        for pairs in self._by_source.values():
            yield from (self._gold(pair, "set") for pair in balanced(sorted(pairs, key=self._rank), most))

    def several(self, most: int = 200) -> Iterator[Gold]:
        """Yield texts of several claims of every source, to evaluate on those that a training run leaves out."""
        for pairs in self._by_source.values():
            composed = list(self._composed(sorted(pairs, key=self._rank), "set"))
            yield from composed[: most if len({bool(gold.report.errors) for gold in composed}) > 1 else 0]

    def _composed(self, pairs: Iterable[ClaimPair], copy: str) -> Iterator[Gold]:
        """Yield texts of several claims, each in one language."""
        by_language: dict[str, list[Gold]] = defaultdict(list)
        for pair in pairs:
            by_language[pair.language].append(self._gold(pair, copy))
        for golds in by_language.values():
            yield from compose_claims(golds, self.seed)

    def _is_tested(self, pair: ClaimPair) -> bool:
        if pair.source == SENTENCES:  # none of these claims is refuted, so they measure nothing
            return False
        digest = draw(self.seed, "test", self._group_of[name_of(pair)])
        return int.from_bytes(digest[:4], "big") % 100 < TESTED

    def _derived(self, pair: ClaimPair, kept: Sequence[ClaimPair], exchange: Exchange, share: int) -> Iterator[Gold]:
        digest = draw(self.seed, "derived", name_of(pair))
        if digest[0] % 100 < FOREIGN and (foreign := self._foreign(pair, kept, "foreign", 1 + digest[1] % 2)):
            yield self._soft(pair.model_copy(update={"evidence": foreign, "label": "unknown"}), "foreign")
        if pair.label == "supported" and digest[2] % 100 < share:
            yield from self._changed(pair, exchange, "changed")
        if pair.source != SENTENCES and digest[3] % 100 < CHANGED and (lifted := lift(pair, digest[4:])):
            yield self._soft(lifted, "lifted")
            yield from self._changed(lifted, exchange, "lifted, changed")

    def _changed(self, pair: ClaimPair, exchange: Exchange, copy: str) -> Iterator[Gold]:
        """Yield the supported claim reversed, or else with an exchanged word."""
        digest, edits = draw(self.seed, copy, name_of(pair)), contrasts(pair.claim, pair.language)
        if edits and digest[0] % 4:
            edit = edits[digest[1] % len(edits)]
            claim, span = edit.apply(pair.claim), edit.span(pair.claim)
        elif exchanged := exchange.change(pair, digest[2:]):
            claim, span = exchanged
        else:
            return
        yield self._soft(pair.model_copy(update={"claim": claim, "label": "refuted"}), copy, span)

    def _soft(self, pair: ClaimPair, copy: str, span: tuple[int, int] | None = None) -> Gold:
        gold = self._gold(pair, copy, self._by_source[pair.source], span)
        kind = "soft" if gold.report.errors else "correct"
        return gold.model_copy(update={"kind": kind, "maker": f"rule:{copy.split(', ')[-1]}"})

    def _gold(
        self, pair: ClaimPair, copy: str, kept: Sequence[ClaimPair] = (), span: tuple[int, int] | None = None
    ) -> Gold:
        digest = draw(self.seed, copy, name_of(pair))
        passages = [cut(" ".join(passage.split()), LONGEST_PASSAGE) for passage in pair.evidence]
        instruction = DEFAULT_INSTRUCTION
        if kept:
            passages += self._foreign(pair, kept, copy, DISTRACTORS[digest[1] % len(DISTRACTORS)])
            instruction = _INSTRUCTIONS[digest[2] % len(_INSTRUCTIONS)]
        shuffled = sorted(enumerate(passages), key=lambda numbered: draw(self.seed, copy, name_of(pair), numbered[1]))
        real = [place for place, (number, _) in enumerate(shuffled) if number < len(pair.evidence)]
        sample = Sample(
            id=f"{name_of(pair)} {copy}",
            instruction=instruction,
            text=pair.claim,
            language=pair.language,
            source=pair.source,
            evidence=tuple(Evidence(text=text) for _, text in shuffled),
        )
        error = contradiction(sample, real, span) if pair.label == "refuted" else None
        # Of a refuted claim of several sentences, nobody says which others are correct.
        decision: Decision = "unknown" if pair.label == "refuted" else pair.label
        gold = make_gold(sample, error, name_of(pair), self._group_of[name_of(pair)])
        return with_claims(gold, [JudgedClaim(start=0, end=len(sample.text), decision=decision)])

    def _foreign(self, pair: ClaimPair, kept: Sequence[ClaimPair], copy: str, count: int) -> tuple[str, ...]:
        """Return up to `count` passages of other groups of the same language and source."""
        passages: list[str] = []
        for turn in range(4 * count):
            place = int.from_bytes(draw(self.seed, copy, name_of(pair), str(turn))[:6], "big") % len(kept)
            other = kept[place]
            same = other.language == pair.language
            if same and self._group_of[name_of(other)] != self._group_of[name_of(pair)] and len(passages) < count:
                passages.append(cut(" ".join(other.evidence[0].split()), LONGEST_PASSAGE))
        return tuple(dict.fromkeys(passages))

    def _rank(self, pair: ClaimPair) -> bytes:
        return draw(self.seed, "rank", name_of(pair))


def with_claims(gold: Gold, claims: Iterable[JudgedClaim]) -> Gold:
    """Return the sample with what is known about its claims; sentences with an error are wrong anyway."""
    return gold.model_copy(update={"report": gold.report.model_copy(update={"claims": tuple(claims)})})


def make_gold(sample: Sample, error: Error | None, item: str, group: str) -> Gold:
    """Return a free-form sample with one error or none, as its source labels it."""
    report = ErrorReport(errors=(error,) if error else ())
    kind = "hard" if error else "correct"
    return Gold(sample=sample, report=report, task=Task.FREEFORM, kind=kind, maker="source", item=item, group=group)


def balanced(pairs: Sequence[ClaimPair], most: int = 200) -> list[ClaimPair]:
    """Return the first refuted pairs and equally many others, of which half are supported if there are such."""
    labels = ("supported", "refuted", "unknown")
    supported, refuted, unknown = ([pair for pair in pairs if pair.label == label] for label in labels)
    count = min(len(refuted), len(supported) + len(unknown), most // 2)
    of_supported = min(len(supported), max(count - count // 2, count - len(unknown)))
    return refuted[:count] + supported[:of_supported] + unknown[: count - of_supported]


def contradiction(sample: Sample, real: Sequence[int], span: tuple[int, int] | None = None) -> Error:
    """Return the error of a refuted claim: the words that differ from the nearest passage, which it quotes."""
    texts = [passage.text for passage in sample.evidence]
    claim = vocabulary(sample.text)
    near = max(real, key=lambda place: (len(claim & vocabulary(texts[place])), -place))
    start, end = span or differing(sample.text, texts[near])
    quote = sample.text[start:end]
    sentence = cut(nearest_sentence(texts[near], claim), LONGEST_QUOTATION)
    explanation = EXPLANATIONS.cited[CONTRADICTION].format(quote=quote, sentence=sentence)
    return cite_error(quote, start, CONTRADICTION, explanation, near + 1)


def cite_error(quote: str, start: int, type_: str, explanation: str, cited: int) -> Error:
    """Return a major error in the text that a piece of evidence shows."""
    return Error(
        side="text",
        start=start,
        end=start + len(quote),
        quote=quote,
        severity=Severity.MAJOR,
        type=type_,
        explanation=explanation,
        evidence=(cited,),
    )
