"""The files of a dataset with evidence."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from mores import __version__
from mores.engine import SILENT, Progress
from mores.engine.loop import run
from mores.errors import ConfigError, InputError
from mores.factory.drafts import draw
from mores.factory.facts import FACTS
from mores.factory.gold import Gold
from mores.factory.manifest import sum_of
from mores.factory.output import read_split
from mores.factory.sources import has_facts
from mores.factory.split import SPLITS
from mores.io import JsonlWriter, write_text
from mores.io.private import make_folder
from mores.search.ground import shorten
from mores.training import reword
from mores.training.ground.citing import keep_cited_errors, remove_corrections, with_evidence
from mores.training.ground.facts import Keep, Near, SearchableFacts, index_facts, name_of, nearest, own_facts
from mores.training.ground.records import Grounded, OwnFactCounts
from mores.training.pair_samples import PairSamples
from mores.training.pairs import ClaimPair, read_pairs, read_sentences
from mores.training.settings import GroundingSettings
from mores.training.teacher import UNLABELLED
from mores.training.translated import Translated, read_questions
from mores.training.unlabelled import make_unlabelled
from mores.types import Evidence

ABOUT = "ground.json"
TESTED = ("dev", "test")
_CHUNK = 512
"""Samples whose evidence is searched at a time."""
_PLAIN = 4
"""In training, one in this many samples is also used without evidence."""
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
    if out.resolve() == data.resolve():
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
        drawn = (gold for gold in known if draw(seed, "plain", gold.item)[0] % _PLAIN == 0)
        plain = map(remove_corrections, self._worded(drawn, training, "some", "plain"))
        once = self._grounded("train", "train", training, most, "some")
        again = map(partial(rename, "again"), self._grounded("train again", "train", training, _anything, "some"))
        grounded = map(keep_cited_errors, chain(once, again))
        pairs = read_pairs(*self.settings.pairs)
        others = self._others(every, pairs)
        counts = {"train": self._write("train", chain(plain, others["train"]), grounded)}
        for name in ("test-pairs", "sets", "test-translated"):
            if name in others:
                self._write(name, others[name])
        self._write_unlabelled(pairs)
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

    def _write_unlabelled(self, pairs: Sequence[ClaimPair]) -> None:
        seed, folders = self.settings.seed, self.settings.untrusted
        untrusted = read_pairs(*self.settings.pairs, *folders)[len(pairs) :] if folders else []
        made = make_unlabelled(PairSamples(pairs, seed).trained(pairs), untrusted, seed)
        if made:
            with JsonlWriter(self.out / f"{UNLABELLED}.jsonl") as writer:
                for sample in PairSamples(made, seed).samples():
                    writer.write(sample)

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


def rename(copy: str, gold: Gold) -> Gold:
    """Return the pair with another id, for a second use with other passages."""
    return gold.model_copy(update={"sample": gold.sample.model_copy(update={"id": f"{gold.sample.id} {copy}"})})


def _part(words: Words) -> reword.Part:
    return "test" if words == "other" else "train"
