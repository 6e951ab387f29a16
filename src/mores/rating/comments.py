"""The subjects of people's comments: how often each code occurs, and how far coders agree.

    schema = read_schema("codes.yaml")
    coding = code_comments(ratings, schema)
    coding.counts[0].share                    # of all comments, with its 95% interval over questions

A comment has a code where a keyword or a pattern of the schema fits it, or at least half of the people who coded it
gave it. Shares of codes that only people give are of the comments that somebody coded; those of the others of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import nan

from mores.rating.codes import Code, Schema, check_codes
from mores.rating.ratings import Rating
from mores.stats.agreement import cohen_kappa, cohen_kappa_interval
from mores.stats.codings import masi_alpha
from mores.stats.results import mean_result
from mores.types import Record, Result

PATTERNS = "patterns"
"""The coder that keywords and patterns are."""
CUTS = ((), ("model",), ("type",), ("language",))


class CodeCount(Record):
    """The share of a group's comments that have a code."""

    code: str
    title: str
    model: str | None = None
    """None, as in the two fields after it, stands for all."""
    type: str | None = None
    language: str | None = None
    count: int
    share: Result
    """Of the comments, with its interval over questions; `unscored` are comments that nobody coded."""


class CodeKappa(Record):
    """Two coders on one code, or a coder and the schema's patterns."""

    code: str
    first: str
    second: str
    kappa: Result
    """Cohen's κ; None where both always say the same. n counts the comments that both coded."""


class CommentCoding(Record):
    """The subjects of the comments of a study."""

    comments: int
    without: int
    """Ratings that have no comment."""
    coded: int
    """Comments that somebody coded."""
    codes: dict[str, str]
    """Titles of the codes, in the order of the schema."""
    counts: tuple[CodeCount, ...]
    """All comments first, then by model, type and language."""
    alpha: Result | None = None
    """Krippendorff's α of the coders' sets of codes with MASI; None where nobody coded what another did."""
    kappas: tuple[CodeKappa, ...] = ()


class Comment(Record):
    """A comment and its codes."""

    rating: Rating
    given: dict[str, frozenset[str]]
    """By coder."""
    fitting: frozenset[str]
    """Codes of which a keyword or a pattern fits."""

    def has(self, code: str) -> bool:
        """Return whether it has a code."""
        votes = [code in codes for codes in self.given.values()]
        return code in self.fitting or (any(votes) and 2 * sum(votes) >= len(votes))


def code_comments(
    ratings: Sequence[Rating], schema: Schema | None = None, *, source: str = "ratings", lines: Sequence[int] = ()
) -> CommentCoding | None:
    """Return the codes of the comments; None where there is neither a comment nor a code.

    Without a schema the codes are those that people gave. `lines` has the line of each rating in `source`, for errors.
    """
    places = lines or range(1, len(ratings) + 1)
    if schema is None:
        names = {name for rating in ratings for codes in (rating.codes or {}).values() for name in codes}
        schema = {name: Code() for name in sorted(names)}
    check_codes(((f"{source}:{line}", r.codes) for line, r in zip(places, ratings, strict=True)), schema)
    comments = [
        Comment(
            rating=rating,
            given={coder: frozenset(codes) for coder, codes in (rating.codes or {}).items()},
            fitting=frozenset(name for name, code in schema.items() if rating.comment and code.fits(rating.comment)),
        )
        for rating in ratings
        if rating.comment or rating.codes is not None
    ]
    if not comments or not schema:
        return None
    sets = masi_alpha([list(comment.given.values()) for comment in comments])
    return CommentCoding(
        comments=len(comments),
        without=len(ratings) - len(comments),
        coded=sum(bool(comment.given) for comment in comments),
        codes={name: code.title for name, code in schema.items()},
        counts=tuple(count_codes(comments, schema)),
        alpha=sets and Result(name="alpha", value=sets.alpha, low=sets.low, high=sets.high, n=sets.units),
        kappas=tuple(compare_coders(comments, schema)),
    )


def count_codes(comments: Sequence[Comment], schema: Schema) -> Iterator[CodeCount]:
    """Yield each code in all comments, and in those of each model, type and language."""
    for cut in CUTS:
        groups = dict.fromkeys(tuple(getattr(comment.rating, column) for column in cut) for comment in comments)
        for group in sorted(names for names in groups if None not in names):
            of_group = dict(zip(cut, group, strict=True))
            members = [c for c in comments if tuple(getattr(c.rating, column) for column in cut) == group]
            for name, code in schema.items():
                values = [float(comment.has(name)) if code.automatic or comment.given else nan for comment in members]
                # Comments on answers to one question are not independent.
                keys = [comment.rating.question_key for comment in members]
                places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
                share = mean_result("share", values, groups=[places[key] for key in keys])
                yield CodeCount(code=name, title=code.title, count=values.count(1.0), share=share, **of_group)


def compare_coders(comments: Sequence[Comment], schema: Schema) -> Iterator[CodeKappa]:
    """Yield κ of every two coders on each code; keywords and patterns are a coder of the codes that have some."""
    coders = sorted({coder for comment in comments for coder in comment.given})
    for name, code in schema.items():
        for first, second in combinations([*coders, *([PATTERNS] if code.automatic and coders else [])], 2):
            both = [c for c in comments if first in c.given and (second in c.given or second == PATTERNS)]
            if not both:
                continue
            votes, others = (
                [int(name in (c.fitting if coder == PATTERNS else c.given[coder])) for c in both]
                for coder in (first, second)
            )
            value = cohen_kappa(votes, others)
            low, high = cohen_kappa_interval(votes, others, [0, 1]) or (None, None)
            kappa = Result(name="kappa", value=value, low=low, high=high, n=len(both))
            yield CodeKappa(code=name, first=first or "people", second=second, kappa=kappa)
