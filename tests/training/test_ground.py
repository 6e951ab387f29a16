"""Datasets with evidence: whose facts a sample may see, what its errors cite, and what is said of it."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.errors import ConfigError, InputError
from mores.factory.facts import FACTS, CorrectFact
from mores.factory.gold import Gold
from mores.io import JsonlWriter, read_records
from mores.models.embedded import EXPLANATIONS
from mores.search.corpus import Corpus
from mores.training.ground import Grounded, ground_dataset, nearest, with_evidence
from mores.training.settings import GroundingSettings
from mores.types import Evidence, Record, Sample
from tests.metaevaluation.golds import error, gold

NUMBERS = {"train": range(40), "dev": range(40, 46), "test": range(46, 56)}


def group_of(number: int) -> str:
    """Two training items that follow each other ask the same."""
    return f"made-up/{number - number % 2}" if number < 40 else f"made-up/{number}"


def pair(number: int, split: str) -> list[Gold]:
    """A right and a wrong answer to a question of which nothing but the festival is like another."""
    about: dict[str, Any] = {
        "instruction": f"What is eaten at festival f{group_of(number).removeprefix('made-up/')}?",
        "item": f"made-up/{number}", "group": group_of(number), "split": split, "source": "abc"[number % 3],
    }  # fmt: skip
    right, wrong = f"It is dish{number}.", f"It is dish{number + 500}."
    return [gold(f"{number}r", text=right, **about), gold(f"{number}w", error(wrong, wrong), text=wrong, **about)]


def fact(number: int, split: str) -> CorrectFact:
    name = f"made-up/{number}"
    [question, _] = (gold.sample.instruction for gold in pair(number, split))
    return CorrectFact.model_validate(
        {"id": name, "source": name, "text": f"{question} dish{number}", "group": group_of(number), "split": split}
    )


def put(path: Path, records: Iterable[Record]) -> None:
    with JsonlWriter(path) as writer:
        for record in records:
            writer.write(record)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path / "data")


class Made(NamedTuple):
    """A dataset, and what is made of it with the default settings."""

    data: Path
    out: Path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Made once for the tests that only read."""
    folder = tmp_path_factory.mktemp("made")
    made = Made(write_data(folder / "data"), folder / "out")
    ground_dataset(*made)
    return made


def write_data(folder: Path) -> Path:
    folder.mkdir()
    for split, numbers in NUMBERS.items():
        put(folder / f"{split}.jsonl", (gold for number in numbers for gold in pair(number, split)))
    # Those that a sample may not see come first, because of equally near ones the earlier are found.
    put(folder / FACTS, (fact(number, split) for split in ("test", "dev", "train") for number in NUMBERS[split]))
    return folder


def read(folder: Path, name: str) -> list[Gold]:
    return list(read_records(folder / f"{name}.jsonl", Gold))


def sources(gold: Gold) -> list[str]:
    return [piece.source for piece in gold.sample.evidence]


def bare(gold: Gold) -> Gold:
    """The pair without its evidence."""
    return with_evidence(gold, ())


def parted(golds: list[Gold]) -> tuple[list[Gold], list[Gold]]:
    """Those without evidence, and those with."""
    return [gold for gold in golds if not gold.sample.evidence], [gold for gold in golds if gold.sample.evidence]


@pytest.mark.slow
def test_training_has_every_sample_with_evidence_and_without(made: Made) -> None:
    plain, grounded = parted(read(made.out, "train"))
    before = [record.sample.text for record in read(made.data, "train")]
    assert [record.sample.text for record in grounded] == before + before
    assert len({record.sample.id for record in grounded}) == len(grounded)
    assert {len(record.sample.evidence) for record in grounded} == {3}
    assert {int(name.removeprefix("made-up/")) for record in grounded for name in sources(record)} <= set(
        NUMBERS["train"]
    )
    assert len({record.item for record in plain}) == 40
    assert len(plain) == 2 * len({record.item for record in plain}), "correct and wrong answers of an item go together"


def test_without_evidence_an_error_is_one_but_nothing_says_what_would_be_correct(made: Made) -> None:
    plain, _ = parted(read(made.out, "train"))
    errors = [located for record in plain for located in record.report.errors]
    assert len(errors) == len(plain) / 2
    assert {located.explanation for located in errors} == {
        EXPLANATIONS.uncited.format(quote=located.quote) for located in errors
    }


def test_by_evidence_that_does_not_decide_there_is_no_error(made: Made) -> None:
    _, grounded = parted(read(made.out, "train"))
    wrong = {record.sample.id for record in read(made.data, "train") if record.report.errors}
    for record in grounded:
        seen = record.item in sources(record)
        assert bool(record.report.errors) == (seen and record.sample.id.removesuffix(" again") in wrong)
        assert all(sources(record)[number - 1] == record.item for e in record.report.errors for number in e.evidence)


def test_a_quarter_of_the_groups_see_no_fact_of_their_own(made: Made) -> None:
    seen: dict[str, set[bool]] = defaultdict(set)
    grounded = parted(read(made.out, "train"))[1]
    for record in grounded[: len(grounded) // 2]:
        is_own = [group_of(int(name.removeprefix("made-up/"))) == record.group for name in sources(record)]
        seen[record.group].add(any(is_own))
    assert set(map(len, seen.values())) == {1}, "samples of one group do not agree"
    assert 10 <= sum(True in any_own for any_own in seen.values()) <= 19, "not near three quarters of 20"
    assert all(record.item in sources(record) for record in grounded[len(grounded) // 2 :]), "all do the second time"


def test_the_own_fact_stands_at_any_place(made: Made) -> None:
    places = {sources(record).index(record.item) for record in read(made.out, "test-covered")}
    assert places == {0, 1, 2}


def test_samples_of_sources_without_facts_have_none_of_their_own(data: Path, tmp_path: Path) -> None:
    tweets = [
        [gold("tweet", text="Ironic.", item=f"epic/{n}", group=f"epic/{n}", split=split, source="epic")]
        for n, split in enumerate(NUMBERS)
    ]
    for split, golds in zip(NUMBERS, tweets, strict=True):
        put(data / f"{split}.jsonl", [*read_records(data / f"{split}.jsonl", Gold), *golds])
    grounded = ground_dataset(data, tmp_path / "out")
    assert grounded.found["train"]["epic"].samples == 2
    assert grounded.found["test-covered"]["epic"].own == 0
    assert "epic" not in grounded.found["test-reworded"]


def test_what_is_tested_stays_as_it_was(made: Made) -> None:
    for split in ("dev", "test"):
        plain = (made.data / f"{split}.jsonl").read_bytes()
        assert (made.out / f"{split}.jsonl").read_bytes() == plain
        for kind in ("covered", "uncovered"):
            assert [bare(gold) for gold in read(made.out, f"{split}-{kind}")] == read(made.data, split)


def test_covered_errors_cite_the_own_fact(made: Made) -> None:
    for split in ("dev", "test"):
        for record in read(made.out, f"{split}-covered"):
            number = sources(record).index(record.item) + 1
            assert [error.evidence for error in record.report.errors] == [(number,)] * len(record.report.errors)


def test_uncovered_evidence_is_of_training_items_and_is_not_cited(made: Made) -> None:
    for split in ("dev", "test"):
        for record in read(made.out, f"{split}-uncovered"):
            assert len(record.sample.evidence) == 3
            assert all(int(name.removeprefix("made-up/")) in NUMBERS["train"] for name in sources(record))
            assert all(error.evidence == () for error in record.report.errors)


def test_it_says_what_it_found_and_what_it_was_made_from(data: Path, tmp_path: Path) -> None:
    returned = ground_dataset(data, tmp_path / "out", GroundingSettings(passages=2, characters=20, seed=5))
    about = Grounded.model_validate_json((tmp_path / "out" / "ground.json").read_text())
    assert about == returned
    assert (about.passages, about.characters, about.seed) == (2, 20, 5)
    assert about.made_from["facts.jsonl"] == hashlib.sha256((data / FACTS).read_bytes()).hexdigest()
    assert set(about.made_from) == {"train.jsonl", "dev.jsonl", "test.jsonl", "facts.jsonl"}
    whole = about.found["test-covered"]["all"]
    # Ten items, two samples each, one of them wrong; "What is eaten at festival f46? dish46" is cut behind "eaten at".
    assert (whole.samples, whole.own, whole.wrong, whole.own_wrong, whole.passages) == (20, 20, 10, 10, 40)
    assert whole.characters == 40 * len("What is eaten at…")
    # 46 to 55 leave 1, 2, 0, 1, 2, 0, 1, 2, 0, 1 when they are divided by 3.
    assert {name: counts.samples for name, counts in about.found["test-covered"].items()} == {
        "all": 20, "a": 6, "b": 8, "c": 6,
    }  # fmt: skip
    assert about.found["test-uncovered"]["all"].own == 0
    kinds = ("covered", "reworded", "uncovered")
    assert list(about.found) == ["train", *(f"{split}-{kind}" for split in ("dev", "test") for kind in kinds)]


@pytest.fixture
def worded(data: Path) -> Path:
    """The same data, with what the facts say of their questions."""
    rows = list(read_records(data / FACTS, CorrectFact))
    put(data / FACTS, (
        row.model_copy(update={
            "answers": (row.text.split()[-1],), "subject": f"what is eaten at festival {row.text.split()[5][:-1]}",
        })
        for row in rows
    ))  # fmt: skip
    return data


def test_reworded_samples_are_sentences_that_cite_sentences(worded: Path, tmp_path: Path) -> None:
    ground_dataset(worded, tmp_path / "out")
    reworded, plain = read(tmp_path / "out", "test-reworded"), read(worded, "test")
    assert [record.sample.id for record in reworded] == [record.sample.id for record in plain]
    for record, before in zip(reworded, plain, strict=True):
        assert record.sample.text != before.sample.text
        assert bool(record.report.errors) == bool(before.report.errors)
        number = sources(record).index(record.item)
        passage, dish = record.sample.evidence[number].text, record.item.replace("made-up/", "dish")
        assert dish in passage
        assert f"? {dish}" not in passage
        assert [error.evidence for error in record.report.errors] == [(number + 1,)] * len(record.report.errors)


@pytest.mark.slow
def test_half_of_the_training_texts_and_some_passages_are_in_other_words(worded: Path, tmp_path: Path) -> None:
    ground_dataset(worded, tmp_path / "out")
    before, (_, twice) = read(worded, "train"), parted(read(tmp_path / "out", "train"))
    grounded, again = twice[: len(before)], twice[len(before) :]
    changed, changed_again = (
        [record.item for record, old in zip(copies, before, strict=True) if record.sample.text != old.sample.text]
        for copies in (grounded, again)
    )
    assert set(changed_again) != set(changed), "others the second time"
    assert 10 < len(set(changed)) < 30, "not near half of 40 items"
    assert len(changed) == 2 * len(set(changed)), "correct and wrong answers of an item do not agree"
    text_of = {fact.id: fact.text for fact in read_records(worded / FACTS, CorrectFact)}
    pieces = [piece for record in grounded for piece in record.sample.evidence]
    assert 0.25 < sum(piece.text == text_of[piece.source] for piece in pieces) / len(pieces) < 0.6
    assert all(f"dish{piece.source.removeprefix('made-up/')}" in piece.text for piece in pieces)
    # A passage that says something else too never says what the sample may not see.
    for record in grounded:
        if record.item not in sources(record):
            words = {word.strip(".,;:“”()") for piece in record.sample.evidence for word in piece.text.split()}
            assert record.item.replace("made-up/", "dish") not in words


@pytest.mark.slow
def test_a_composed_text_cites_the_fact_of_the_part_that_is_wrong(data: Path, tmp_path: Path) -> None:
    text = "At festival f46 people eat dish46. At festival f47 people eat dish900."
    original = {"instruction": "Tell me.", "text": text.replace("dish900", "dish47")}
    composed = gold(
        "composed", error(text, "dish900"), text=text, item="made-up/composed", group="made-up/46", split="test",
        parts=("made-up/46", "made-up/47"), original=original, source="a", kind="soft",
    )  # fmt: skip
    put(data / "test.jsonl", [composed])
    ground_dataset(data, tmp_path / "out")
    [record] = read(tmp_path / "out", "test-covered")
    [located] = record.report.errors
    assert [sources(record)[number - 1] for number in located.evidence] == ["made-up/47"]
    assert not read(tmp_path / "out", "test-reworded"), "a text of several facts is not reworded"


@pytest.mark.slow
def test_pairs_and_translated_answers_are_added(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pairs"
    folder.mkdir()
    labels = ("supported", "refuted", "unknown")
    rows = [
        {"id": str(n), "claim": f"Claim {n} is about thing{n}.", "evidence": [f"A passage about thing{n}."],
         "label": labels[n % 3], "language": "en", "source": "read"}
        for n in range(200)
    ]  # fmt: skip
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (other := tmp_path / "others").mkdir()
    (other / "a.jsonl").write_text(json.dumps(rows[0] | {"claim": "More is known.", "source": "other"}) + "\n", "utf-8")
    ground_dataset(data, tmp_path / "out", GroundingSettings(pairs=(folder, other)))
    trained = [record for record in read(tmp_path / "out", "train") if record.sample.source == "read"]
    measured = read(tmp_path / "out", "test-pairs")
    assert len(trained) > 150
    assert "other" in {record.sample.source for record in read(tmp_path / "out", "train")}
    assert measured
    assert not {record.group for record in trained} & {record.group for record in measured}


def test_what_nobody_labelled_is_about_what_is_trained_on_and_never_what_is_measured(
    data: Path, tmp_path: Path
) -> None:
    (folder := tmp_path / "pairs").mkdir()
    (untrusted := tmp_path / "untrusted").mkdir()
    rows = [
        {"id": f"{n}-{label}", "claim": f"The people of village {n} were {label} all day.", "label": label,
         "evidence": [f"In village {n} nothing was known for {n + 7} days."], "language": "en", "source": "read"}
        for n in range(60) for label in ("supported", "refuted", "unknown")
    ]  # fmt: skip
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    doubtful = rows[0] | {"id": "more", "claim": "Nobody slept in village 0.", "source": "doubtful"}
    (untrusted / "a.jsonl").write_text(json.dumps(doubtful) + "\n" + json.dumps(rows[1]) + "\n", "utf-8")
    ground_dataset(data, tmp_path / "out", GroundingSettings(pairs=(folder,), untrusted=(untrusted,)))
    samples = list(read_records(tmp_path / "out" / "unlabelled.jsonl", Sample))
    assert len({sample.id for sample in samples}) == len(samples) > 200
    assert "doubtful/more pair unlabelled" in {sample.id for sample in samples}
    assert not any("-refuted pair " in sample.id for sample in samples), "it is a labelled pair too"
    assert "doubtful" not in {record.sample.source for record in read(tmp_path / "out", "train")}
    measured = {record.item.removeprefix("read/") for record in read(tmp_path / "out", "test-pairs")}
    assert measured
    assert not {sample.id.removeprefix("read/").split(" ")[0] for sample in samples} & measured
    (untrusted / "a.jsonl").write_text(json.dumps(rows[0] | {"claim": "Another."}) + "\n", "utf-8")
    with pytest.raises(InputError, match=r"a\.jsonl: duplicate id read/0-supported, also in .*; rename one"):
        ground_dataset(data, tmp_path / "again", GroundingSettings(pairs=(folder,), untrusted=(untrusted,)))


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_and_another_another_half(data: Path, tmp_path: Path) -> None:
    for name, seed in (("one", 0), ("two", 0), ("other", 1)):
        ground_dataset(data, tmp_path / name, GroundingSettings(seed=seed))
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name
    differs = {
        p.name for p in (tmp_path / "one").iterdir() if p.read_bytes() != (tmp_path / "other" / p.name).read_bytes()
    }
    assert {"train.jsonl", "ground.json"} <= differs
    assert not {"dev.jsonl", "test.jsonl"} & differs


def test_a_long_text_of_its_own_does_not_take_the_place_of_others(tmp_path: Path) -> None:
    """Its thirty parts are all nearer than anything else."""
    [_, question] = pair(0, "train")
    long = fact(0, "train").model_copy(update={"text": "\n\n".join([f"{question.sample.instruction} dish " * 20] * 30)})
    others = [fact(number, "train") for number in (50, 51)]
    put(tmp_path / "facts.jsonl", [*others, long])
    corpus = Corpus(tmp_path / "facts.jsonl", tmp_path / "index")
    assert len(corpus) > 30
    [near] = asyncio.run(nearest(corpus, [question], 3, lambda gold, piece: piece.source != gold.item))
    assert sorted(piece.source for piece in near.passages) == ["made-up/50", "made-up/51"]
    [near] = asyncio.run(nearest(corpus, [question], 3, lambda _, __: True))
    assert [piece.source for piece in near.passages] == ["made-up/0"] * 3


def test_of_several_parts_the_one_is_cited_that_the_error_is_about() -> None:
    text = "The feast lasts three days. In the evening people dance around the fire and sing."
    pair_with_errors = gold("x", error(text, "three"), error(text, "sing"), text=text)
    parts = ("Long ago it was forbidden.", "In the evening people dance around the fire.", "The feast lasts two days.")
    pieces = [Evidence(text=part, source="made-up/x") for part in parts]
    foreign = Evidence(text=text, source="made-up/y")
    cited = [located.evidence for located in with_evidence(pair_with_errors, [foreign, *pieces[:2]]).report.errors]
    assert cited == [(3,), (3,)]
    short = "It lasts three days."
    pair_with_errors = gold("x", error(short, "three"), text=short)
    assert [located.evidence for located in with_evidence(pair_with_errors, [foreign, *pieces]).report.errors] == [(4,)]


@given(st.lists(st.sampled_from(["made-up/x", "made-up/y", "z"]), max_size=5))
def test_an_error_cites_its_own_or_nothing(names: list[str]) -> None:
    pair_with_error = gold("x", error("They eat bread.", "bread"))
    pieces = [Evidence(text=f"passage {place}", source=name) for place, name in enumerate(names)]
    grounded = with_evidence(pair_with_error, pieces)
    [cited] = (located.evidence for located in grounded.report.errors)
    assert list(grounded.sample.evidence) == pieces
    assert len(cited) == ("made-up/x" in names)
    assert all(names[number - 1] == "made-up/x" for number in cited)
    assert bare(grounded) == pair_with_error


def _drop_facts(data: Path) -> None:
    (data / FACTS).unlink()


def _drop_dev(data: Path) -> None:
    (data / "dev.jsonl").unlink()


def _drop_an_item(data: Path) -> None:
    rows = (data / FACTS).read_text().splitlines(keepends=True)
    (data / FACTS).write_text("".join(row for row in rows if '"made-up/3"' not in row))


def _regroup(data: Path) -> None:
    (data / FACTS).write_text((data / FACTS).read_text().replace('"group":"made-up/2"', '"group":"made-up/9"'))


def _no_training(data: Path) -> None:
    (data / FACTS).write_text((data / FACTS).read_text().replace('"split":"train"', '"split":"dev"'))


def _not_facts(data: Path) -> None:
    (data / FACTS).write_text(json.dumps({"text": "x"}) + "\n")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_drop_facts, "data: no facts.jsonl in it; build it again with this version"),
        (_drop_dev, "data: no dev.jsonl in it; is it a folder that `mores build` wrote"),
        (_drop_an_item, "facts.jsonl lacks the item 'made-up/3' of train.jsonl"),
        (_regroup, "facts.jsonl lacks the item 'made-up/2' of train.jsonl"),
        (_no_training, "facts.jsonl: no facts of train"),
        (_not_facts, "facts.jsonl:1: id: Field required; expected a CorrectFact"),
    ],
)
def test_what_cannot_be_used_is_said(data: Path, tmp_path: Path, spoil: Any, words: str) -> None:
    spoil(data)
    with pytest.raises(InputError, match=words):
        ground_dataset(data, tmp_path / "out")
    assert not (tmp_path / "out" / "train.jsonl").exists()


def test_a_dataset_is_not_overwritten(data: Path) -> None:
    before = (data / "train.jsonl").read_bytes()
    with pytest.raises(ConfigError, match="choose another folder"):
        ground_dataset(data, data / ".." / "data")
    assert (data / "train.jsonl").read_bytes() == before
