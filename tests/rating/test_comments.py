"""Comments coded by people and by a schema's keywords, counted and compared by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from mores.errors import ConfigError, InputError
from mores.rating.codes import Code, parse_codes, read_schema, schema_names
from mores.rating.comments import CodeCount, CommentCoding, code_comments
from mores.rating.ratings import Rating, open_ratings

SCHEMA = {
    "facts": Code(title="Wrong facts", keywords=("wrong", "made up", "invent*"), patterns=(r"does not (exist|live)",)),
    "style": Code(title="Style and tone"),
}


def rating(question: str, comment: str | None, codes: str | None = None, model: str = "a") -> Rating:
    return Rating(
        question=question,
        question_id=question,
        model=model,
        annotator="ann",
        rating=3,
        language="de",
        comment=comment,
        codes=parse_codes(codes),
    )


def of(coding: CommentCoding | None, code: str, **group: str) -> CodeCount:
    assert coding
    wanted = {"model": None, "type": None, "language": None, **group}
    return next(c for c in coding.counts if c.code == code and {k: getattr(c, k) for k in wanted} == wanted)


@pytest.mark.parametrize(
    ("keyword", "comment", "fits"),
    [
        ("wrong", "This is WRONG.", True),
        ("wrong", "wrongly put", False),
        ("wrong*", "wrongly put", True),
        ("made up", "It is made up!", True),
        ("c++", "prefers C++ here", True),
        ("خطأ", "هذا خطأ، واضح", True),
        ("خطأ", "الخطأ", False),
        ("間違い", "これは間違いです", True),
        ("ผิด", "ข้อมูลผิดทั้งหมด", True),
        ("café", "cafe\u0301 culture", True),
        ("गलत", "यह गलत है", True),
    ],
)
def test_keywords_are_words_in_every_script(keyword: str, comment: str, fits: bool) -> None:
    assert Code(keywords=(keyword,)).fits(comment) is fits


def test_patterns_are_regular_expressions() -> None:
    code = Code(patterns=(r"does not (exist|live)", "^nope"))
    assert [code.fits(text) for text in ("It DOES NOT live", "nope, no", "does not")] == [True, True, False]
    assert not Code(title="by hand").fits("anything")


@pytest.mark.parametrize(
    ("cell", "codes"),
    [
        (None, None),
        ("  ", None),
        ("-", {"": ()}),
        ("none", {"": ()}),
        ("facts; style, facts", {"": ("facts", "style")}),
        ("ann: facts | bo: -", {"ann": ("facts",), "bo": ()}),
        ('{"ann": ["facts"], "bo": []}', {"ann": ("facts",), "bo": ()}),
        (["facts"], {"": ("facts",)}),
        ({"ann": ["facts"], "bo": "style; facts"}, {"ann": ("facts",), "bo": ("style", "facts")}),
    ],
)
def test_cells_with_codes(cell: object, codes: dict[str, tuple[str, ...]] | None) -> None:
    assert parse_codes(cell) == codes


@pytest.mark.parametrize("cell", [3, "[facts", {"ann": 3}])
def test_bad_cells_are_refused(cell: object) -> None:
    with pytest.raises(InputError, match="codes"):
        parse_codes(cell)


def test_counts_by_hand() -> None:
    """Keywords look at every comment; what only people give counts among the comments that somebody coded."""
    ratings = [
        rating("q1", "made up", "style"),
        rating("q1", "fine", "-", model="b"),
        rating("q2", "Germans invented this", None),
        rating("q2", None, None, model="b"),
        rating("q3", "Boring", "ann: style; facts | bo: style"),
        rating("q3", "Boring", "ann: style | bo: - | cy: -", model="b"),
    ]
    coding = code_comments(ratings, SCHEMA)
    assert coding
    assert (coding.comments, coding.without, coding.coded) == (5, 1, 4)
    facts, style = of(coding, "facts"), of(coding, "style")
    assert (facts.count, facts.share.n, facts.share.unscored) == (3, 5, 0)
    assert (style.count, style.share.n, style.share.unscored) == (2, 4, 1)
    assert style.share.value == 0.5
    assert style.share.low is not None
    assert style.share.low < 0.5
    assert [of(coding, "facts", model=m).count for m in "ab"] == [3, 0]
    assert of(coding, "style", language="de").count == 2
    assert coding.codes == {"facts": "Wrong facts", "style": "Style and tone"}


def test_agreement_of_coders_and_patterns_by_hand() -> None:
    """On style: yes-yes, yes-no, no-no, no-no, so pₒ = 3/4 and pₑ = 1/8 + 3/8."""
    cells = ["ann: style | bo: style", "ann: style; facts | bo: facts", "ann: - | bo: -", "ann: - | bo: -"]
    comments = ["ok", "wrong", "wrong", "ok"]
    ratings = [rating(f"q{n}", comment, cell) for n, (comment, cell) in enumerate(zip(comments, cells, strict=True))]
    coding = code_comments(ratings, SCHEMA)
    assert coding
    kappas = {(k.code, k.first, k.second): k.kappa for k in coding.kappas}
    assert kappas["style", "ann", "bo"].value == pytest.approx((3 / 4 - 1 / 2) / (1 - 1 / 2))
    assert kappas["facts", "ann", "bo"].value == 1
    assert kappas["facts", "ann", "patterns"].value == pytest.approx(0.5)
    assert ("style", "ann", "patterns") not in kappas
    assert coding.alpha
    assert coding.alpha.n == 4
    assert coding.alpha.value is not None
    assert 0 < coding.alpha.value < 1


def test_unknown_codes_are_an_error_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("question,model,annotator,rating,comment,codes\nq,a,x,3,hm,style\nq,b,x,3,hm,fact\n")
    file = open_ratings(path)
    assert file.ratings[0].codes == {"": ("style",)}
    with pytest.raises(InputError, match=r"ratings.csv:3: unknown code 'fact'; did you mean 'facts'\? the schema has"):
        code_comments(file.ratings, SCHEMA, source=str(path), lines=file.lines)


def test_without_a_schema_the_codes_are_those_given() -> None:
    coding = code_comments([rating("q1", "x", "b"), rating("q2", "y", "a; b")])
    assert coding
    assert list(coding.codes) == ["a", "b"]
    assert of(coding, "b").count == 2
    assert code_comments([rating("q1", "only words")]) is None
    assert code_comments([rating("q1", None)], SCHEMA) is None


def test_a_schema_is_read_from_yaml(tmp_path: Path) -> None:
    path = tmp_path / "codes.yaml"
    path.write_text("facts:\n  title: Wrong facts\n  keywords: [wrong]\nstyle: Style and tone\nother:\n")
    assert read_schema(path) == {
        "facts": Code(title="Wrong facts", keywords=("wrong",)),
        "style": Code(title="Style and tone"),
        "other": Code(),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no codes"),
        ("- facts", "no codes"),
        ("a: [", "not YAML"),
        ("a: {titel: x}", r"a\.titel: .*; a code has title, keywords, patterns"),
        ("a: {patterns: ['(']}", r"a: '\(' is not a regular expression"),
        ("a: {keywords: [' ']}", "an empty keyword"),
        ("'a;b': x", "'a;b' cannot name a code"),
        ("none: x", "'none' cannot name a code"),
    ],
)
def test_a_wrong_schema_is_named_with_its_fix(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "codes.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_schema(path)
    with pytest.raises(ConfigError, match=r"cannot be read"):
        read_schema(tmp_path / "missing.yaml")


def test_schemas_of_the_paper_are_known_by_name() -> None:
    """CaLMQA, Tables 27, 29 and 31: as many categories as the paper prints."""
    assert schema_names() == ["calmqa-comments", "calmqa-factuality", "calmqa-ranking"]
    sizes = {name: len(read_schema(name)) for name in schema_names()}
    assert sizes == {"calmqa-comments": 14, "calmqa-factuality": 12, "calmqa-ranking": 12}
    assert not any(code.automatic for name in schema_names() for code in read_schema(name).values())
    with pytest.raises(ConfigError, match=r"cannot be read .*; did you mean 'calmqa-ranking'"):
        read_schema("calmqa-rankin")
