"""Samples with evidence, to train and to test a metric that judges by search results: `mores build ground`.

| file | evidence |
| --- | --- |
| `train.jsonl` | all samples once without, twice with facts of training items; pairs, translated samples |
| `dev`, `test` `.jsonl` | none |
| `dev-covered`, `test-covered` `.jsonl` | facts of all items: a corpus that covers what is asked |
| `dev-reworded`, `test-reworded` `.jsonl` | the same in words that are never trained on; texts are sentences |
| `dev-uncovered`, `test-uncovered` `.jsonl` | facts of the training items alone: never the own one |
| `test-pairs`, `test-texts` `.jsonl` | claims with passages, and whole texts with passages, if given |
| `test-translated` `.jsonl` | facts in another language, if given |
| `sets` `.jsonl` | all sets of claims, trained on or not, for a training run that leaves some of them out |
| `several` `.jsonl` | texts of several claims of these sets, for the same |
| `ground.json` | settings, counts of items whose own fact was found, and hashes of the input |

Passages are shuffled, so that a metric reads all of them. In training some of the texts and facts are reworded, and
some passages contain something else beside a fact. An error cites the fact of its item. If that is not among the
evidence, training removes the error from the report; without any evidence the error stays, but its report does not say
what would be correct.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

from mores import __version__
from mores.engine import SILENT, Progress
from mores.engine.loop import run
from mores.errors import ConfigError, InputError
from mores.factory.drafts import draw
from mores.factory.facts import FACTS, CorrectFact
from mores.factory.folder import sum_of
from mores.factory.gold import Gold
from mores.factory.output import read_split
from mores.factory.sources import has_facts
from mores.factory.split import SPLITS
from mores.io import JsonlWriter, read_records, write_text
from mores.io.private import make_folder
from mores.io.source import real_path
from mores.metric.prompt import claim_spans
from mores.models.embedded import EXPLANATIONS
from mores.search.base import Found as Results
from mores.search.clean import LONGEST_SOURCE, clean
from mores.search.corpus import Corpus
from mores.search.ground import merged, queries_of, shorten
from mores.search.words import words
from mores.training import reword
from mores.training.examples import UNLABELLED
from mores.training.pair_samples import PairSamples, with_claims
from mores.training.pairs import ClaimPair, make_unlabelled, read_pairs, read_sentences
from mores.training.settings import GroundingSettings
from mores.training.texts import TextSamples, read_texts
from mores.training.translated import Translated, read_questions
from mores.types import Error, ErrorReport, Evidence, JudgedClaim, Record


class OwnFactCounts(Record):
    """Counts of samples with the fact of their own item among their evidence."""

    samples: int
    own: int
    wrong: int
    """Samples with errors."""
    own_wrong: int
    """Samples with errors and their own fact; queries depend on the text, so it may be found less often."""
    passages: int
    """Passages of all samples."""
    characters: int
    """Characters of all passages."""


class Grounded(Record):
    """The contents of a dataset with evidence, and its origin."""

    mores: str
    passages: int
    """Maximum of a sample."""
    characters: int
    """Maximum of a passage."""
    seed: int
    made_from: dict[str, str]
    """SHA-256 of each file."""
    found: dict[str, dict[str, OwnFactCounts]]
    """By file, then overall (`all`) and by source, of the samples with evidence from the search."""


ABOUT = "ground.json"
TESTED = ("dev", "test")
_CHUNK = 512
"""Samples whose evidence is searched at a time."""
_SENTENCES = 2
"""In training, one in this many texts is a sentence, if it can be one."""
_TOGETHER = 3
"""One in this many passages has another one beside it."""
_OWN = 4
"""In training, one in this many groups does not see its own facts."""
Words = Literal["own", "some", "other"]
"""Texts and facts unchanged, some of them in other words, or all of them."""


def ground_dataset(
    data: Path, out: Path, settings: GroundingSettings | None = None, progress: Progress = SILENT
) -> Grounded:
    """Write a dataset with evidence from one that `mores build` wrote; the same input gives the same bytes."""
    settings = settings or GroundingSettings()
    for name in (f"{split}.jsonl" for split in SPLITS):
        if not (data / name).is_file():
            raise InputError(f"{data}: no {name} in it; is it a folder that `mores build` wrote?")
    if not (data / FACTS).is_file():
        raise InputError(f"{data}: no {FACTS} in it; build it again with this version of mores")
    if real_path(out) == real_path(data):
        raise ConfigError(f"{out}: this would overwrite the dataset; choose another folder", setting="out")
    make_folder(out)
    with TemporaryDirectory(prefix="mores-ground-", ignore_cleanup_errors=True) as folder:
        every, training = (index_facts(data, Path(folder), splits) for splits in (tuple(SPLITS), ("train",)))
        counts = _Making(data, out, settings, progress).all_files(every, training)
    sums = {name: sum_of(data / name) for name in (*(f"{split}.jsonl" for split in SPLITS), FACTS)}
    same = {name: getattr(settings, name) for name in ("passages", "characters", "seed")}
    about = Grounded(mores=__version__, **same, made_from=sums, found=counts)
    write_text(out / ABOUT, about.model_dump_json(indent=2) + "\n")
    return about


@dataclass(frozen=True)
class _Making:
    data: Path
    out: Path
    settings: GroundingSettings
    progress: Progress

    def all_files(self, every: SearchableFacts, training: SearchableFacts) -> dict[str, dict[str, OwnFactCounts]]:
        """Write all files; return the counts of those with evidence."""
        seed = self.settings.seed

        def foreign(gold: Gold, piece: Evidence) -> bool:
            """Return whether it is a fact of another group; one of the same group may answer the same question."""
            return training.of[piece.source].group != gold.group

        def most(gold: Gold, piece: Evidence) -> bool:
            """Return whether a group sees its own facts, as most do, or else the fact is foreign."""
            return draw(seed, "ground", gold.group)[0] % _OWN != 0 or foreign(gold, piece)

        known = self._known("train", training)
        plain = (
            decide_claims(remove_corrections(gold), training.of, own_facts(gold))
            for gold in self._worded(known, training, "some", "plain")
        )
        once = self._grounded("train", "train", training, most, "some")
        again = map(_rename, self._grounded("train again", "train", training, _anything, "some"))
        grounded = (keep_cited_errors(decide_claims(gold, training.of)) for gold in chain(once, again))
        pairs = read_pairs(*self.settings.pairs)
        others = self._others(every, pairs)
        counts = {"train": self._write("train", chain(plain, others["train"]), grounded)}
        for name in ("test-pairs", "sets", "several", "test-texts", "test-translated"):
            if name in others:
                self._write(name, others[name])
        folders = self.settings.untrusted
        untrusted = read_pairs(*self.settings.pairs, *folders)[len(pairs) :] if folders else []
        if made := make_unlabelled(PairSamples(pairs, seed).trained(pairs), untrusted, seed):
            with JsonlWriter(self.out / f"{UNLABELLED}.jsonl") as writer:
                for sample in PairSamples(made, seed).samples():
                    writer.write(sample)
        kinds: dict[str, tuple[SearchableFacts, Keep, Words]] = {
            "covered": (every, _anything, "own"),
            "reworded": (every, _anything, "other"),
            "uncovered": (training, foreign, "own"),
        }
        for split in TESTED:
            self._write(split, read_split(self.data, split))
            for name, setting in ((f"{split}-{kind}", setting) for kind, setting in kinds.items()):
                counts[name] = self._write(name, (), self._grounded(name, split, *setting))
        return counts

    def _others(self, every: SearchableFacts, pairs: Sequence[ClaimPair]) -> dict[str, Iterable[Gold]]:
        """Return the samples that have evidence already, by file."""
        others: dict[str, Iterable[Gold]] = {"train": ()}
        sentences = read_sentences(self.settings.sentences) if self.settings.sentences else []
        if pairs or sentences:
            samples = PairSamples([*pairs, *sentences], self.settings.seed)
            others["train"] = self.progress.track("reading pairs", samples.train())
            if pairs:
                others["test-pairs"] = samples.test()
                others["sets"] = samples.sets()
                others["several"] = samples.several()
        if texts := read_texts(*self.settings.pairs):
            made = TextSamples(texts, self.settings.seed)
            others["train"] = chain(others["train"], made.samples(tested=False))
            others["test-texts"] = made.samples(tested=True)
        if self.settings.translated:
            split_of = {fact.source: fact.split for fact in every.of.values()}
            translated = Translated(read_questions(self.settings.translated), split_of, self.settings.seed)
            others["train"] = chain(others["train"], translated.samples("train"))
            others["test-translated"] = translated.samples("test")
        return others

    def _write(self, name: str, plain: Iterable[Gold], grounded: Iterable[Gold] = ()) -> dict[str, OwnFactCounts]:
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        with JsonlWriter(self.out / f"{name}.jsonl") as writer:
            for gold in plain:
                writer.write(gold)
            for gold in grounded:
                writer.write(gold)
                pieces, wrong, own = gold.sample.evidence, bool(gold.report.errors), own_facts(gold)
                has_own = any(piece.source in own for piece in pieces)
                numbers = {"samples": 1, "own": has_own, "wrong": wrong, "own_wrong": has_own and wrong}
                numbers |= {"passages": len(pieces), "characters": sum(len(piece.text) for piece in pieces)}
                for part in ("all", gold.sample.source or "unknown"):
                    counts[part].update(numbers)
        return {part: OwnFactCounts(**numbers) for part, numbers in sorted(counts.items())}

    def _grounded(self, name: str, split: str, facts: SearchableFacts, keep: Keep, words: Words) -> Iterator[Gold]:
        known = self.progress.track(f"evidence for {name}", self._known(split, facts))
        golds, seed = self._worded(known, facts, words, name), self.settings.seed
        while chunk := list(islice(golds, _CHUNK)):
            nearby = run(nearest(facts.corpus, chunk, self.settings.passages, keep))
            for gold, near in zip(chunk, nearby, strict=True):
                passages = self._passages(gold, near, facts, words, name)
                passages.sort(key=lambda piece: draw(seed, name, gold.sample.id, piece.source, piece.text))
                yield with_evidence(gold, passages)

    def _worded(self, golds: Iterable[Gold], facts: SearchableFacts, words: Words, copy: str) -> Iterator[Gold]:
        """Yield the pairs, some with answers in sentences; pairs that must be reworded and cannot are left out."""
        for gold in golds:
            key = f"{copy} {gold.item}"
            if words == "own" or (words == "some" and draw(self.settings.seed, "text", key)[0] % _SENTENCES):
                yield gold
            elif (fact := facts.of.get(name_of(gold.item))) and (
                changed := reword.reword_answer(gold, fact, key, _part(words))
            ):
                yield changed
            elif words == "some":
                yield gold

    def _passages(self, gold: Gold, near: Near, facts: SearchableFacts, words: Words, copy: str) -> list[Evidence]:
        """Return the passages of a sample, some in other words, and some beside the next one."""
        others = [piece for piece in near.others if facts.of[piece.source].group != gold.group]
        seed, characters = self.settings.seed, self.settings.characters
        passages = []
        for piece in near.passages:
            key = f"{copy} {gold.item} {piece.source}"
            digest = draw(seed, "passage", key)
            if words == "other" or (words == "some" and digest[0] % 2):
                piece = reword.reword_evidence(piece, facts.of[piece.source], characters, key, _part(words))
            if words != "own" and digest[1] % _TOGETHER == 0:
                for other in others:
                    piece = reword.add_beside(piece, other, characters, key)
            passages.append(shorten(piece, characters))
        return passages

    def _known(self, split: str, facts: SearchableFacts) -> Iterator[Gold]:
        for gold in read_split(self.data, split):
            known = [facts.of.get(name) for name in own_facts(gold)]
            missing = any(fact is None or (fact.group != gold.group and not gold.parts) for fact in known)
            if missing and has_facts(gold.sample.source or ""):
                reason = f"{FACTS} lacks the item {gold.item!r} of {split}.jsonl; build it again"
                raise InputError(f"{self.data}: {reason}")
            yield gold


def _anything(gold: Gold, piece: Evidence) -> bool:  # noqa: ARG001 - a Keep
    return True


def _rename(gold: Gold) -> Gold:
    """Return the pair with another id, for a second use with other passages."""
    return gold.model_copy(update={"sample": gold.sample.model_copy(update={"id": f"{gold.sample.id} again"})})


def _part(words: Words) -> reword.Part:
    return "test" if words == "other" else "train"


_MORE = 5
"""Additional passages to search for, in case some are not allowed."""

Keep = Callable[[Gold, Evidence], bool]
"""Whether a sample may have a piece of evidence."""


@dataclass(frozen=True)
class SearchableFacts:
    """A corpus of facts, and the fact of each source."""

    corpus: Corpus
    of: Mapping[str, CorrectFact]
    """All facts, by the source of their evidence."""


def index_facts(data: Path, folder: Path, splits: tuple[str, ...]) -> SearchableFacts:
    """Return the facts of some splits, with an index in a temporary folder."""
    path = folder / f"{'-'.join(splits)}.jsonl"
    facts = {}
    with JsonlWriter(path) as writer:
        for fact in read_records(data / FACTS, CorrectFact):
            facts[name_of(fact.source)] = fact
            if fact.split in splits:
                writer.write(fact)
    if not path.stat().st_size:
        raise InputError(f"{data / FACTS}: no facts of {' or '.join(splits)}; build a larger dataset")
    return SearchableFacts(Corpus(path, folder / "index"), facts)


def name_of(item: str) -> str:
    """Return the name of an item as a source of evidence."""
    return clean(item, LONGEST_SOURCE)


def own_facts(gold: Gold) -> frozenset[str]:
    """Return the names of a pair's items as sources of evidence."""
    return frozenset(map(name_of, gold.parts or (gold.item,)))


class Near(NamedTuple):
    """The facts nearest to a sample."""

    passages: tuple[Evidence, ...]
    """The sample's evidence, in the order of the search."""
    others: tuple[Evidence, ...]
    """The next one, if there is any."""


async def nearest(corpus: Corpus, golds: Sequence[Gold], k: int, keep: Keep) -> list[Near]:
    """Return the best passages about each sample that it may have."""
    near: dict[int, Near] = {}
    queries = [queries_of(gold.sample) for gold in golds]
    short, limit = list(range(len(golds))), k + _MORE
    while short:
        results = iter(await corpus.find([query for place in short for query in queries[place]], limit))
        unfinished = []
        for place in short:
            parts = [next(results) for _ in queries[place]]
            kept = [Results(evidence=tuple(p for p in part.evidence if keep(golds[place], p))) for part in parts]
            passages = merged(kept, k).evidence
            others = tuple(piece for piece in kept[0].evidence[k:] if piece not in passages)
            near[place] = Near(passages, others[:1])
            # Passages that are not allowed can fill all places, as the parts of a long text do: look further down.
            if len(kept[0].evidence) <= k and len(parts[0].evidence) == limit:
                unfinished.append(place)
        short, limit = unfinished, 4 * limit
    return [near[place] for place in range(len(golds))]


_AROUND = 80
"""Characters on both sides of an error that identify the relevant part of a long fact."""


def remove_corrections(gold: Gold) -> Gold:
    """Return the pair with a report that does not say what would be correct, since no evidence says so."""
    errors = tuple(
        error.model_copy(update={"explanation": EXPLANATIONS.uncited.format(quote=error.quote), "correction": ""})
        for error in gold.report.errors
    )
    return gold.model_copy(update={"report": ErrorReport(errors=errors)})


def keep_cited_errors(gold: Gold) -> Gold:
    """Return the pair with only those errors that its evidence shows."""
    errors = tuple(error for error in gold.report.errors if error.evidence)
    changes = {"report": gold.report.model_copy(update={"errors": errors}), "kind": gold.kind if errors else "correct"}
    return gold.model_copy(update=changes)


_FEW = 6
"""Words of a sentence that may claim nothing."""


def decide_claims(gold: Gold, facts: Mapping[str, CorrectFact], known: Collection[str] | None = None) -> Gold:
    """Return the pair with what its evidence decides about each sentence, or what the facts in `known` do.

    A sentence is about the fact that it shares most words with; a short one that shares hardly any claims nothing.
    """
    shown = {piece.source for piece in gold.sample.evidence} if known is None else known
    names = [name_of(item) for item in gold.parts or (gold.item,)]
    told = {name: set(words(facts[name].text)) if name in facts else set() for name in names}
    spans, claims = claim_spans(gold.sample.text), []
    unshown = [error for error in gold.report.errors if not error.evidence] if known is None else []
    for start, end in spans:
        said = words(gold.sample.text[start:end])
        name = max(names, key=lambda name: len(told[name].intersection(said)))
        strange = len(told[name].intersection(said)) < 2
        if strange and len(spans) > 1 and len(said) <= _FEW:
            continue
        doubted = any((error.start or 0) < end and start < (error.end or 0) for error in unshown)
        decided = name in shown and not doubted and not (strange and len(spans) > 1)
        claims.append(JudgedClaim(start=start, end=end, decision="supported" if decided else "unknown"))
    return with_claims(gold, claims)


def with_evidence(gold: Gold, pieces: Sequence[Evidence]) -> Gold:
    """Return the pair with this evidence, and errors that cite the facts of the same item that show them."""
    errors = tuple(error.model_copy(update={"evidence": _cited(error, gold, pieces)}) for error in gold.report.errors)
    return gold.model_copy(
        update={
            "sample": gold.sample.model_copy(update={"evidence": tuple(pieces)}),
            "report": gold.report.model_copy(update={"errors": errors}),
        }
    )


def _cited(error: Error, gold: Gold, pieces: Sequence[Evidence]) -> tuple[int, ...]:
    """Return the number of the own fact that shows the error; of several, the one with most of the words around it."""
    own = own_facts(gold)
    # A fact without any of the words that a made error has removed does not show it.
    lost = set(words(gold.original.text)).difference(words(gold.sample.text)) if gold.original else set()
    numbers = [
        number
        for number, piece in enumerate(pieces, 1)
        if piece.source in own and (not lost or lost.intersection(words(piece.text)))
    ]
    if len(numbers) < 2:
        return tuple(numbers)
    start, end = error.start or 0, error.end or 0
    around = set(words(gold.sample.side(error.side)[max(0, start - _AROUND) : end + _AROUND]))
    return (max(numbers, key=lambda number: len(around.intersection(words(pieces[number - 1].text)))),)
