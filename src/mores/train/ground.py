"""Samples with evidence, to train and to measure a metric that judges by what was looked up: `mores build ground`.

| file | evidence |
| --- | --- |
| `train.jsonl` | a quarter of the samples without, all with facts of training items; pairs and translated samples |
| `dev`, `test` `.jsonl` | none |
| `dev-covered`, `test-covered` `.jsonl` | facts of all items: a corpus that covers what is asked |
| `dev-reworded`, `test-reworded` `.jsonl` | the same in words that are never trained on; texts are sentences |
| `dev-uncovered`, `test-uncovered` `.jsonl` | facts of the training items alone: never the own one |
| `test-pairs`, `test-translated` `.jsonl` | claims with passages, and facts in another language, if given |
| `ground.json` | settings, how often an item's own fact was found, and what it was made from |

Passages are shuffled, so that a metric reads all of them. In training some of the texts and facts are reworded, and
some passages say something else beside a fact. An error cites the fact of its own item. Where that is not among the
evidence, the evidence decides nothing, and in training there is no error by it; without any evidence an error is one,
but its report does not say what would be correct.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

from mores import __version__
from mores.engine.loop import run
from mores.errors import ConfigError, InputError
from mores.factory.build import Progress, quiet
from mores.factory.drafts import draw
from mores.factory.facts import FACTS, Fact
from mores.factory.gold import Gold
from mores.factory.output import read_split
from mores.factory.sources import has_facts
from mores.factory.split import SPLITS
from mores.io import JsonlWriter, read_records, write_text
from mores.io.private import make_folder
from mores.models.embedded import UNSUPPORTED
from mores.search.base import Found as Results
from mores.search.clean import LONGEST_SOURCE, clean
from mores.search.corpus import Corpus
from mores.search.ground import CHARACTERS, merged, queries_of, shorten
from mores.search.words import words
from mores.train import reword
from mores.train.pairs import Reading, read_pairs, read_sentences
from mores.train.translated import Translated, read_asked
from mores.types import Error, ErrorReport, Evidence, Record

ABOUT = "ground.json"
TESTED = ("dev", "test")
_CHUNK = 512
"""Samples that are searched for together."""
_MORE = 5
"""Passages that are looked up in addition, in case some are not allowed."""
_PLAIN = 4
"""In training, one sample in this many comes without evidence too."""
_SENTENCES = 2
"""In training, one text in this many is a sentence, if it can be one."""
_TOGETHER = 3
"""One passage in this many says something else too."""
_OWN = 4
"""In training, one group in this many does not see its own facts."""
_AROUND = 80
"""Characters on both sides of an error by which the part of a long fact is known that it rests on."""


class Found(Record):
    """How often the fact of a sample's own item was among its evidence."""

    samples: int
    own: int
    wrong: int
    """Samples with errors."""
    own_wrong: int
    """The same of these alone: what is looked up depends on the text, so it may be found less often."""
    passages: int
    """Of all samples together."""
    characters: int
    """Of all these passages."""


class Grounded(Record):
    """What was made, and from what."""

    mores: str
    passages: int
    """Most of a sample."""
    characters: int
    """Most of a passage."""
    seed: int
    made_from: dict[str, str]
    """SHA-256 of each file."""
    found: dict[str, dict[str, Found]]
    """By file, then overall (`all`) and by source; of the samples that were searched for."""


@dataclass(frozen=True)
class Facts:
    """A corpus of facts that is searched, and whose facts they are."""

    corpus: Corpus
    of: Mapping[str, Fact]
    """All facts, by the source that their evidence names."""


Keep = Callable[[Gold, Evidence], bool]
"""Whether a sample may have a piece of evidence."""
Words = Literal["own", "some", "other"]
"""Texts and facts unchanged, some of them in other words, or all of them."""


class Grounding(Record):
    """What evidence samples get."""

    passages: int = 3
    """Most of a sample."""
    characters: int = CHARACTERS
    """Most of a passage."""
    seed: int = 0
    pairs: Path | None = None
    """A folder with claims and passages about them, see `mores.train.pairs`."""
    sentences: Path | None = None
    """A folder with sentences, one text file for each language, to make such pairs of."""
    translated: Path | None = None
    """BLEnD's folder, for facts in another language than the text."""


def ground_dataset(data: Path, out: Path, settings: Grounding | None = None, progress: Progress = quiet) -> Grounded:
    """Write a dataset with evidence from one that `mores build` wrote; the same input gives the same bytes."""
    settings = settings or Grounding()
    _check(data, out)
    make_folder(out)
    with TemporaryDirectory(prefix="mores-ground-", ignore_cleanup_errors=True) as folder:
        every, training = (_index(data, Path(folder), splits) for splits in (tuple(SPLITS), ("train",)))
        counts = _Making(data, out, settings, progress).all_files(every, training)
    about = Grounded(
        mores=__version__, passages=settings.passages, characters=settings.characters, seed=settings.seed,
        made_from=_sums(data), found=counts,
    )  # fmt: skip
    write_text(out / ABOUT, about.model_dump_json(indent=2) + "\n")
    return about


def _check(data: Path, out: Path) -> None:
    for name in (f"{split}.jsonl" for split in SPLITS):
        if not (data / name).is_file():
            raise InputError(f"{data}: no {name} in it; is it a folder that `mores build` wrote?")
    if not (data / FACTS).is_file():
        raise InputError(f"{data}: no {FACTS} in it; build it again with this version of mores")
    if out.resolve() == data.resolve():
        raise ConfigError(f"{out}: the dataset itself would be overwritten; give another folder", setting="out")


def _index(data: Path, folder: Path, splits: tuple[str, ...]) -> Facts:
    """The facts of some splits, in an index that is thrown away afterwards."""
    path = folder / f"{'-'.join(splits)}.jsonl"
    facts = {}
    with JsonlWriter(path) as writer:
        for fact in read_records(data / FACTS, Fact):
            facts[_named(fact.source)] = fact
            if fact.split in splits:
                writer.write(fact)
    if not path.stat().st_size:
        raise InputError(f"{data / FACTS}: no facts of {' or '.join(splits)}; build a larger dataset")
    return Facts(Corpus(path, folder / "index"), facts)


def _named(item: str) -> str:
    """An item as its evidence names it."""
    return clean(item, LONGEST_SOURCE)


def _sums(data: Path) -> dict[str, str]:
    sums = {}
    for name in (*(f"{split}.jsonl" for split in SPLITS), FACTS):
        with (data / name).open("rb") as file:
            sums[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return sums


@dataclass(frozen=True)
class _Making:
    data: Path
    out: Path
    settings: Grounding
    progress: Progress

    @property
    def seed(self) -> int:
        return self.settings.seed

    @property
    def characters(self) -> int:
        return self.settings.characters

    def all_files(self, every: Facts, training: Facts) -> dict[str, dict[str, Found]]:
        """Write them; say of each with evidence what was found."""
        foreign = _foreign(training)
        most = partial(_most, foreign, self.seed)
        some = (gold for gold in self._known("train", training) if draw(self.seed, "plain", gold.item)[0] % _PLAIN == 0)
        plain = map(uncited, self._worded(some, training, "some", "plain"))
        grounded = map(by_evidence, self._grounded("train", "train", training, most, "some"))
        others = self._others(every)
        counts = {"train": self._write("train", chain(plain, others["train"]), grounded)}
        for name in ("test-pairs", "test-translated"):
            if name in others:
                self._write(name, others[name])
        kinds: dict[str, tuple[Facts, Keep, Words]] = {
            "covered": (every, _anything, "own"),
            "reworded": (every, _anything, "other"),
            "uncovered": (training, foreign, "own"),
        }
        for split in TESTED:
            self._write(split, read_split(self.data, split))
            for name, setting in ((f"{split}-{kind}", setting) for kind, setting in kinds.items()):
                counts[name] = self._write(name, (), self._grounded(name, split, *setting))
        return counts

    def _others(self, every: Facts) -> dict[str, Iterable[Gold]]:
        """Samples that come with their evidence, by the file in which they are."""
        others: dict[str, Iterable[Gold]] = {"train": ()}
        pairs = read_pairs(self.settings.pairs) if self.settings.pairs else []
        sentences = read_sentences(self.settings.sentences) if self.settings.sentences else []
        if pairs or sentences:
            reading = Reading([*pairs, *sentences], self.seed)
            others["train"] = self.progress("reading pairs", reading.train())
            if pairs:  # no claim that is made of sentences is refuted, so they measure nothing
                others["test-pairs"] = reading.test()
        if self.settings.translated:
            split_of = {fact.source: fact.split for fact in every.of.values()}
            translated = Translated(read_asked(self.settings.translated), split_of, self.seed)
            others["train"] = chain(others["train"], translated.of("train"))
            others["test-translated"] = translated.of("test")
        return others

    def _write(self, name: str, plain: Iterable[Gold], grounded: Iterable[Gold] = ()) -> dict[str, Found]:
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        with JsonlWriter(self.out / f"{name}.jsonl") as writer:
            for gold in plain:
                writer.write(gold)
            for gold in grounded:
                writer.write(gold)
                for part in ("all", gold.sample.source or "unknown"):
                    counts[part].update(_count(gold))
        return {part: Found(**numbers) for part, numbers in sorted(counts.items())}

    def _grounded(self, name: str, split: str, facts: Facts, keep: Keep, words: Words) -> Iterator[Gold]:
        known = self.progress(f"evidence for {name}", self._known(split, facts))
        golds = self._worded(known, facts, words, "grounded")
        while chunk := list(islice(golds, _CHUNK)):
            nearby = run(nearest(facts.corpus, chunk, self.settings.passages, keep))
            for gold, near in zip(chunk, nearby, strict=True):
                passages = self._passages(gold, near, facts, words)
                passages.sort(key=lambda piece: draw(self.seed, "order", gold.sample.id, piece.source, piece.text))
                yield with_evidence(gold, passages)

    def _worded(self, golds: Iterable[Gold], facts: Facts, words: Words, copy: str) -> Iterator[Gold]:
        """The pairs, perhaps with their answers in sentences; those that must be reworded and cannot are left out."""
        for gold in golds:
            key = f"{copy} {gold.item}"
            if words == "own" or (words == "some" and draw(self.seed, "text", key)[0] % _SENTENCES):
                yield gold
            elif (fact := facts.of.get(_named(gold.item))) and (
                changed := reword.sentence(gold, fact, key, _part(words))
            ):
                yield changed
            elif words == "some":
                yield gold

    def _passages(self, gold: Gold, near: Near, facts: Facts, words: Words) -> list[Evidence]:
        """Perhaps in other words, and perhaps beside what the next one says."""
        others = [piece for piece in near.others if facts.of[piece.source].group != gold.group]
        passages = []
        for piece in near.passages:
            key = f"{gold.item} {piece.source}"
            digest = draw(self.seed, "passage", key)
            if words == "other" or (words == "some" and digest[0] % 2):
                piece = reword.evidence(piece, facts.of[piece.source], self.characters, key, _part(words))
            if words != "own" and digest[1] % _TOGETHER == 0:
                for other in others:
                    piece = reword.beside(piece, other, self.characters, key)
            passages.append(shorten(piece, self.characters))
        return passages

    def _known(self, split: str, facts: Facts) -> Iterator[Gold]:
        for gold in read_split(self.data, split):
            known = [facts.of.get(name) for name in own_facts(gold)]
            missing = any(fact is None or (fact.group != gold.group and not gold.parts) for fact in known)
            if missing and has_facts(gold.sample.source or ""):
                raise InputError(
                    f"{self.data}: {FACTS} does not have the item {gold.item!r} of {split}.jsonl; build it again"
                )
            yield gold


def _anything(gold: Gold, piece: Evidence) -> bool:  # noqa: ARG001 - a Keep
    return True


def _foreign(facts: Facts) -> Keep:
    """Not what an item of the same group says: it may be the same question."""
    return lambda gold, piece: facts.of[piece.source].group != gold.group


def _most(foreign: Keep, seed: int, gold: Gold, piece: Evidence) -> bool:
    """For most of the groups anything, so that a model learns to use evidence, and what does not decide."""
    return draw(seed, "ground", gold.group)[0] % _OWN != 0 or foreign(gold, piece)


def _part(words: Words) -> reword.Part:
    return "test" if words == "other" else "train"


def uncited(gold: Gold) -> Gold:
    """The pair with a report that does not say what would be correct: nothing that was read says so."""
    errors = tuple(
        error.model_copy(update={"explanation": UNSUPPORTED.format(quote=error.quote), "correction": ""})
        for error in gold.report.errors
    )
    return gold.model_copy(update={"report": ErrorReport(errors=errors)})


def by_evidence(gold: Gold) -> Gold:
    """The pair with the errors that its evidence shows: those that cite nothing are none by this evidence."""
    errors = tuple(error for error in gold.report.errors if error.evidence)
    changes = {"report": gold.report.model_copy(update={"errors": errors}), "kind": gold.kind if errors else "correct"}
    return gold.model_copy(update=changes)


class Near(NamedTuple):
    """What is nearest to a sample."""

    passages: tuple[Evidence, ...]
    """What it is shown, in the order of the search."""
    others: tuple[Evidence, ...]
    """The next one, if there is any."""


async def nearest(corpus: Corpus, golds: Sequence[Gold], k: int, keep: Keep) -> list[Near]:
    """The best passages about each sample that it may have."""
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


def with_evidence(gold: Gold, pieces: Sequence[Evidence]) -> Gold:
    """The pair with this evidence, and errors that cite the facts of the same item where these show them."""
    errors = tuple(error.model_copy(update={"evidence": _cited(error, gold, pieces)}) for error in gold.report.errors)
    return gold.model_copy(
        update={
            "sample": gold.sample.model_copy(update={"evidence": tuple(pieces)}),
            "report": gold.report.model_copy(update={"errors": errors}),
        }
    )


def own_facts(gold: Gold) -> frozenset[str]:
    """The items that a pair is made of, as their evidence names them."""
    return frozenset(map(_named, gold.parts or (gold.item,)))


def _cited(error: Error, gold: Gold, pieces: Sequence[Evidence]) -> tuple[int, ...]:
    """The number of the own fact that shows the error; of several, the one with most of the words around it."""
    own, lost = own_facts(gold), _lost_words(gold)
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


def _lost_words(gold: Gold) -> set[str]:
    """The words that a made error has removed: a fact without any of them does not show it."""
    if gold.original is None:
        return set()
    return set(words(gold.original.text)).difference(words(gold.sample.text))


def _count(gold: Gold) -> dict[str, int]:
    pieces = gold.sample.evidence
    own = own_facts(gold)
    has_own, wrong = any(piece.source in own for piece in pieces), bool(gold.report.errors)
    return {
        "samples": 1,
        "own": has_own,
        "wrong": wrong,
        "own_wrong": has_own and wrong,
        "passages": len(pieces),
        "characters": sum(len(piece.text) for piece in pieces),
    }
