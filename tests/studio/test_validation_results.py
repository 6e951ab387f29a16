"""ExCAM's validation: votes that give the published Tables 3, 12 and 13 and Section 5; cases worked by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pytest

from mores.factory.gold import Gold
from mores.metaevaluation.votes import vote_tables
from mores.report.base.grid import Grid
from mores.stats.distributions import share_of
from mores.studio.campaigns.validation.export import to_votes
from mores.studio.campaigns.validation.results import (
    Beside,
    JudgedSample,
    auxiliary,
    beside,
    compare_metrics,
    count_votes,
    likeness,
    majorities,
    measure,
    with_valid_explanation,
)
from mores.studio.campaigns.validation.tables import (
    auxiliary_table,
    likeness_table,
    majority_table,
    vote_table,
)
from mores.types import Error, ErrorReport, Sample, Severity

VALID, PARTLY, NOT = "valid", "partial", "invalid"


def answer(likeness: Mapping[str, int] | None = None, **values: str) -> dict[str, str]:
    fields = {"culture": "yes", "error": VALID, "explanation": VALID, "severity": "yes", "type": "yes", "changed": "no"}
    return fields | values | {f"similarity:{metric}": str(rating) for metric, rating in (likeness or {}).items()}


def word(holds: bool) -> str:
    return "yes" if holds else "no"


def yes(counts: Sequence[int], people: int) -> Iterator[list[bool]]:
    """For each sample who says yes: `counts` samples have people, people - 1, …, 0 of them."""
    for missing, samples in enumerate(counts):
        yield from ([place < people - missing for place in range(people)] for _ in range(samples))


def paper() -> list[JudgedSample]:
    """100 samples whose votes give every figure that the paper prints."""
    culture = [*yes((70, 8, 2, 0), 3)]
    strict, partial = [*yes((49, 18, 9, 4), 3)], [*yes((75, 5, 0, 0), 3)]
    explained = [*yes((63, 15, 1, 1), 3)]
    votes = zip(culture, strict, partial, explained, strict=True)
    samples = [sample(number, "en", *vote) for number, vote in enumerate(votes)]
    for language, counts in {"ja": (6, 5, 5, 5), "zh": (6, 5, 4, 3), "de": (8, 8, 8, 4)}.items():
        total, *positive = counts
        for place in range(total):
            both = [[place < count or first for first in (True, False)] for count in positive]
            samples.append(sample(len(samples), language, both[0], both[1], both[1], both[2]))
    agreeing = {"minor": 31, "major": 38}
    for number, each in enumerate(samples):
        severity = "minor" if number < 60 else "major"
        agree = (number if severity == "minor" else number - 60) < agreeing[severity]
        changed = {"changed": word(number < 4)}
        answers = {
            person: {**voted, "severity": word(agree or not place), "type": word(number < 96 or not place), **changed}
            for place, (person, voted) in enumerate(each.answers.items())
        }
        samples[number] = each._replace(severity=severity, answers=answers)
    return with_metrics(samples)


def sample(number: int, language: str, *votes: Sequence[bool]) -> JudgedSample:
    culture, strict, partial, explained = votes
    answers = {
        f"p{place}": answer(
            culture=word(culture[place]),
            error=VALID if strict[place] and partial[place] else PARTLY if partial[place] else NOT,
            explanation=VALID if explained[place] else PARTLY,
        )
        for place in range(len(culture))
    }
    return JudgedSample(str(number), language, "minor", answers)


def with_metrics(samples: list[JudgedSample]) -> list[JudgedSample]:
    """Gemma finds an error in 60 of the 90 with a valid explanation, Phi in 54; the means are 4.01 and 3.88."""
    places = {each.id: place for place, each in enumerate(with_valid_explanation(samples))}
    rated = []
    for each in samples:
        place = places.get(each.id, 99)
        finds = {"Gemma": place < 60, "Phi": place < 54}
        answers = {}
        for voter, (person, voted) in enumerate(each.answers.items()):
            ratings = {
                "Gemma": 5 if (place, voter) == (0, 1) else 4,
                "Phi": 3 if place < 6 or (place, voter) == (6, 0) else 4,
            }
            answers[person] = answer({name: ratings[name] for name, finding in finds.items() if finding}, **voted)
        rated.append(each._replace(answers=answers, metrics=finds))
    return rated


@pytest.fixture(scope="module")
def samples() -> list[JudgedSample]:
    return paper()


def printed(grid: Grid) -> dict[str, dict[str, list[str]]]:
    """The cells of a table without intervals, by heading and by first cell."""
    rows: dict[str, dict[str, list[str]]] = {}
    for heading, (first, *others) in grid.lines():
        values = [cell if isinstance(cell, str) else cell[0] for cell in others]
        rows.setdefault(heading, {})[str(first)] = values
    return rows


def test_table_3(samples: list[JudgedSample]) -> None:
    assert count_votes(samples, 3)["Error valid (strict)"] == (49, 18, 9, 4)
    table = printed(vote_table(samples, 3))
    ours, theirs = table["This campaign (N=80)"], table["ExCAM, Table 3 (N=80)"]
    assert {name: ours[name] for name in theirs} == theirs
    assert theirs["Error valid (partial)"] == ["93.8", "6.2", "0.0", "0.0"]


def test_table_12(samples: list[JudgedSample]) -> None:
    table = printed(majority_table(samples, "en"))
    for language, row in table["ExCAM, Table 12"].items():
        assert table["This campaign"][language][:-1] == row[:-1], language  # the paper has no last column
    assert table["This campaign"]["English"][0] == "80"


def test_table_13(samples: list[JudgedSample]) -> None:
    table = printed(auxiliary_table(samples))
    assert table["This campaign"] == table["ExCAM, Table 13"]


def test_mores_meta_makes_the_same_tables_of_the_votes(samples: list[JudgedSample]) -> None:
    def gold(each: JudgedSample) -> Gold:
        error = Error(side="text", quote="x", severity=Severity(each.severity), type="t")
        fields = {"task": "freeform", "kind": "soft", "maker": "rule:test", "item": each.id}
        text = Sample(id=each.id, text="x", language=each.language)
        return Gold(sample=text, report=ErrorReport(errors=(error,)), **fields)

    votes = [vote for each in samples for vote in to_votes(each.id, each.answers)]
    shares, languages, auxiliary_rows, *_ = vote_tables(votes, [gold(each) for each in samples])
    theirs = printed(vote_table(samples, 3))["ExCAM, Table 3 (N=80)"]
    assert list(shares.rows["Error valid (partial)"]) == theirs["Error valid (partial)"]
    assert list(shares.rows["Expl. valid (strict)"]) == theirs["Expl. valid"]
    assert languages.rows["Expl. valid"][languages.columns.index("German")] == "50.0"
    table = printed(auxiliary_table(samples))["ExCAM, Table 13"]
    assert {name: list(row) for name, row in auxiliary_rows.rows.items()} == table


def test_section_5(samples: list[JudgedSample]) -> None:
    assert len(with_valid_explanation(samples)) == 90
    table = printed(likeness_table(samples))
    assert [row[:2] for row in table["This campaign"].values()] == [["66.7", "4.01"], ["60.0", "3.88"]]
    assert [row[:2] for row in table["ExCAM, Section 5"].values()] == [["67", "4.01"], ["60", "3.88"]]
    [versus] = compare_metrics(samples)
    assert (versus.first, versus.second, versus.samples) == ("Gemma", "Phi", 54)
    assert versus.difference is not None
    assert versus.difference.difference == pytest.approx((6 + 1 / 3 + 1 / 3) / 54)


# Worked by hand


def test_of_two_both_must_say_yes_and_of_three_two() -> None:
    two = JudgedSample("a", "ja", "minor", {"p": answer(), "q": answer(culture="no")})
    three = JudgedSample("b", "ja", "minor", {"p": answer(), "q": answer(), "r": answer(culture="no")})
    assert majorities([two])["Culture rel."] == share_of(0, 1)
    assert majorities([two, three])["Culture rel."] == share_of(1, 2)
    four = three._replace(answers={**three.answers, "s": answer(culture="no")})
    assert majorities([four])["Culture rel."] == share_of(0, 1), "half is no majority"


def test_partly_is_an_error_but_not_a_strict_one() -> None:
    sample = JudgedSample("a", "en", "major", {"p": answer(error=PARTLY), "q": answer(), "r": answer(error=NOT)})
    votes = count_votes([sample], 3)
    assert votes["Error valid (strict)"] == (0, 0, 1, 0)
    assert votes["Error valid (partial)"] == (0, 1, 0, 0)


def test_what_waits_and_what_was_declined_is_counted_beside_and_never_a_no() -> None:
    whole = JudgedSample("a", "en", "minor", {"p": answer(), "q": answer(), "r": answer()}, declined=1)
    waiting = JudgedSample("b", "en", "minor", {"p": answer(culture="no")}, complete=False, declined=2)
    untouched = JudgedSample("c", "en", "minor", {}, complete=False)
    alone = JudgedSample("d", "en", "minor", {"p": answer()})  # decided by the organiser: there is no majority of one
    every = [whole, waiting, untouched, alone]
    assert majorities(every) == majorities([whole])
    assert auxiliary(every) == auxiliary([whole])
    assert beside(every) == Beside(waiting=2, untouched=1, declined=3)
    assert count_votes([], 3)["Culture rel."] == (0, 0, 0, 0)
    assert auxiliary([])["Type OK"] is None


def test_likeness_is_of_samples_with_a_valid_explanation_and_failures_are_no_misses() -> None:
    def rated(identifier: str, first: dict[str, int], second: dict[str, int], **fields: object) -> JudgedSample:
        answers = {"p": answer(first), "q": answer(second)}
        return JudgedSample(identifier, "en", "minor", answers, **fields)  # type: ignore[arg-type]

    samples = [
        rated("a", {"m": 5, "k": 2}, {"m": 4, "k": 2}, metrics={"m": True, "k": True}),
        rated("b", {"m": 3}, {"m": 3}, metrics={"m": True, "k": False}),
        rated("c", {}, {}, metrics={"m": None, "k": True}),
    ]
    wrong = answer({"m": 1}, explanation=NOT)
    samples.append(JudgedSample("d", "en", "minor", {"p": wrong, "q": wrong}, metrics={"m": True}))
    k, m = likeness(samples)
    assert (m.metric, m.finding, m.failed) == ("m", share_of(2, 2), 1)
    assert (m.mean.value, m.mean.n, m.mean.unscored, m.ratings) == ((4.5 + 3) / 2, 2, 0, 4)
    assert (k.finding, k.failed, k.mean.value, k.mean.unscored) == (share_of(2, 3), 0, 2, 1)
    [versus] = compare_metrics(samples)
    assert versus.samples == 1
    assert versus.difference is not None
    assert versus.difference.difference == 2 - 4.5


def test_agreement_question_by_question() -> None:
    pairs = [(True, True), (False, False), (True, False), (True, True)]
    samples = [
        JudgedSample(
            str(number), "en", "minor", {f"p{place}": answer(culture=word(vote)) for place, vote in enumerate(pair)}
        )
        for number, pair in enumerate(pairs)
    ]
    culture, error, *_ = measure(samples)
    # 5 yes and 3 no; observed disagreement 2 of 8, expected 2·5·3/(8·7): α = 1 - 0.25 / (30/56)
    assert culture.alpha.value == pytest.approx(1 - 0.25 / (30 / 56))
    assert (culture.same, culture.samples, culture.answers) == (0.75, 4, 8)
    assert error.alpha.value is None, "everybody always says the same"
