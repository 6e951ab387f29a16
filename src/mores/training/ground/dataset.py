"""The files of a dataset with evidence."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from mores import __version__
from mores.engine.loop import run
from mores.errors import ConfigError, InputError
from mores.factory.build import Progress, quiet
from mores.factory.drafts import draw
from mores.factory.facts import FACTS
from mores.factory.gold import Gold
from mores.factory.output import read_split
from mores.factory.sources import has_facts
from mores.factory.split import SPLITS
from mores.io import JsonlWriter, write_text
from mores.io.private import make_folder
from mores.search.ground import shorten
from mores.training import reword
from mores.training.ground.citing import by_evidence, uncited, with_evidence
from mores.training.ground.facts import Facts, index_facts, name_of, own_facts
from mores.training.ground.nearby import Keep, Near, nearest
from mores.training.ground.records import Found, Grounded
from mores.training.pair_samples import PairSamples
from mores.training.pairs import Pair, read_pairs, read_sentences
from mores.training.settings import GroundingSettings
from mores.training.teacher import UNLABELLED
from mores.training.translated import Translated, read_asked
from mores.training.unlabelled import unlabelled
from mores.types import Evidence

ABOUT = "ground.json"
TESTED = ("dev", "test")
_CHUNK = 512
"""Samples that are searched for together."""
_PLAIN = 4
"""In training, one sample in this many comes without evidence too."""
_SENTENCES = 2
"""In training, one text in this many is a sentence, if it can be one."""
_TOGETHER = 3
"""One passage in this many says something else too."""
_OWN = 4
"""In training, one group in this many does not see its own facts."""
Words = Literal["own", "some", "other"]
"""Texts and facts unchanged, some of them in other words, or all of them."""


def ground_dataset(
    data: Path, out: Path, settings: GroundingSettings | None = None, progress: Progress = quiet
) -> Grounded:
    """Write a dataset with evidence from one that `mores build` wrote; the same input gives the same bytes."""
    settings = settings or GroundingSettings()
    _check(data, out)
    make_folder(out)
    with TemporaryDirectory(prefix="mores-ground-", ignore_cleanup_errors=True) as folder:
        every, training = (index_facts(data, Path(folder), splits) for splits in (tuple(SPLITS), ("train",)))
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
    settings: GroundingSettings
    progress: Progress

    def all_files(self, every: Facts, training: Facts) -> dict[str, dict[str, Found]]:
        """Write them; say of each with evidence what was found."""
        foreign, seed = _foreign(training), self.settings.seed
        most = partial(_most, foreign, seed)
        known = self._known("train", training)
        drawn = (gold for gold in known if draw(seed, "plain", gold.item)[0] % _PLAIN == 0)
        plain = map(uncited, self._worded(drawn, training, "some", "plain"))
        once = self._grounded("train", "train", training, most, "some")
        again = map(partial(renamed, "again"), self._grounded("train again", "train", training, _anything, "some"))
        grounded = map(by_evidence, chain(once, again))
        pairs, untrusted = self._pairs()
        others = self._others(every, pairs)
        counts = {"train": self._write("train", chain(plain, others["train"]), grounded)}
        for name in ("test-pairs", "sets", "test-translated"):
            if name in others:
                self._write(name, others[name])
        self._write_unlabelled(pairs, untrusted)
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

    def _pairs(self) -> tuple[list[Pair], list[Pair]]:
        """Return those whose labels are used, and the others; no two have one name."""
        pairs, untrusted = read_pairs(*self.settings.pairs), self.settings.untrusted
        return pairs, read_pairs(*self.settings.pairs, *untrusted)[len(pairs) :] if untrusted else []

    def _write_unlabelled(self, pairs: Sequence[Pair], untrusted: Sequence[Pair]) -> None:
        seed = self.settings.seed
        made = unlabelled(PairSamples(pairs, seed).trained(pairs), untrusted, seed)
        if made:
            with JsonlWriter(self.out / f"{UNLABELLED}.jsonl") as writer:
                for sample in PairSamples(made, seed).samples():
                    writer.write(sample)

    def _others(self, every: Facts, pairs: Sequence[Pair]) -> dict[str, Iterable[Gold]]:
        """Samples that come with their evidence, by the file in which they are."""
        others: dict[str, Iterable[Gold]] = {"train": ()}
        sentences = read_sentences(self.settings.sentences) if self.settings.sentences else []
        if pairs or sentences:
            samples = PairSamples([*pairs, *sentences], self.settings.seed)
            others["train"] = self.progress("reading pairs", samples.train())
            if pairs:
                others["test-pairs"] = samples.test()
                others["sets"] = samples.sets()
        if self.settings.translated:
            split_of = {fact.source: fact.split for fact in every.of.values()}
            translated = Translated(read_asked(self.settings.translated), split_of, self.settings.seed)
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
        golds, seed = self._worded(known, facts, words, name), self.settings.seed
        while chunk := list(islice(golds, _CHUNK)):
            nearby = run(nearest(facts.corpus, chunk, self.settings.passages, keep))
            for gold, near in zip(chunk, nearby, strict=True):
                passages = self._passages(gold, near, facts, words, name)
                passages.sort(key=lambda piece: draw(seed, name, gold.sample.id, piece.source, piece.text))
                yield with_evidence(gold, passages)

    def _worded(self, golds: Iterable[Gold], facts: Facts, words: Words, copy: str) -> Iterator[Gold]:
        """The pairs, perhaps with their answers in sentences; those that must be reworded and cannot are left out."""
        for gold in golds:
            key = f"{copy} {gold.item}"
            if words == "own" or (words == "some" and draw(self.settings.seed, "text", key)[0] % _SENTENCES):
                yield gold
            elif (fact := facts.of.get(name_of(gold.item))) and (
                changed := reword.sentence(gold, fact, key, _part(words))
            ):
                yield changed
            elif words == "some":
                yield gold

    def _passages(self, gold: Gold, near: Near, facts: Facts, words: Words, copy: str) -> list[Evidence]:
        """Perhaps in other words, and perhaps beside what the next one says."""
        others = [piece for piece in near.others if facts.of[piece.source].group != gold.group]
        seed, characters = self.settings.seed, self.settings.characters
        passages = []
        for piece in near.passages:
            key = f"{copy} {gold.item} {piece.source}"
            digest = draw(seed, "passage", key)
            if words == "other" or (words == "some" and digest[0] % 2):
                piece = reword.evidence(piece, facts.of[piece.source], characters, key, _part(words))
            if words != "own" and digest[1] % _TOGETHER == 0:
                for other in others:
                    piece = reword.beside(piece, other, characters, key)
            passages.append(shorten(piece, characters))
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


def renamed(copy: str, gold: Gold) -> Gold:
    """Return the pair under another id, for one that comes again with other passages."""
    return gold.model_copy(update={"sample": gold.sample.model_copy(update={"id": f"{gold.sample.id} {copy}"})})


def _part(words: Words) -> reword.Part:
    return "test" if words == "other" else "train"


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
