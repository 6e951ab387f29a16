"""The whole analysis of a file of ratings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from mores.errors import InputError
from mores.formatting import count
from mores.rating.agreement import measure_agreement
from mores.rating.annotators import choose_model, describe_annotators
from mores.rating.codes import Schema
from mores.rating.columns import points_by, ratings_by
from mores.rating.comments import code_comments
from mores.rating.groups import LEVELS, RatingColumns, compare_best, count_levels, distribute, find_groups, find_scale
from mores.rating.population import measure_points, widen
from mores.rating.ranking import rank_models
from mores.rating.ratings import Rating, RatingFile
from mores.rating.records import Groups, RatingStudy
from mores.rating.regressions import fit_models


def analyse(
    file: RatingFile | Sequence[Rating],
    *,
    source: str = "ratings",
    scale: tuple[float, float] | None = None,
    schema: Schema | None = None,
    analysis: Literal["crossed", "calmqa"] = "crossed",
    by: Sequence[str] = (),
) -> RatingStudy:
    """Analyse all that the ratings allow; `RatingStudy.missing` says what they do not, and why.

    `scale` is the lowest and the highest rating that can be given, `schema` the codes of comments, and `by` are columns
    as `find_fields` has them.
    """
    if not isinstance(file, RatingFile):
        file = RatingFile(list(file), (), {})
    ratings = file.ratings
    if not ratings:
        raise InputError(f"{source}: there are no ratings to analyse")
    groups = find_groups(ratings)
    places, known = find_scale(ratings, scale)
    levels = {aspect: tuple(count_levels(ratings, groups, aspect)) for aspect in LEVELS if has_values(ratings, aspect)}
    crossed = analysis != "calmqa"
    ranking, agreement = rank_models(ratings, groups, crossed), measure_agreement(ratings, places, crossed)
    points, linear = measure_points(ratings, groups) if crossed else (None, None)
    models = fit_models(ratings, groups, points)
    chosen = choose_model(models)
    # The codes of the reasons for first places, by the codes that are found without people.
    first = [r.model_copy(update={"comment": r.reason, "codes": None}) for r in ratings if r.rank == 1 and r.reason]
    automatic = {name: code for name, code in (schema or {}).items() if code.automatic}
    distributions = tuple(distribute(ratings, groups, places))
    over_raters = linear if points and points.over_raters else None
    if over_raters:
        cells = RatingColumns([rating for rating in ratings if rating.rating is not None])
        distributions = tuple(widen(group, cells, over_raters, places) for group in distributions)
    by_model = [each for each in distributions if each.model and not (each.type or each.language)]
    return RatingStudy(
        source=source,
        n=len(ratings),
        unrated=sum(rating.rating is None for rating in ratings),
        questions=len({rating.question_key for rating in ratings}),
        groups=groups,
        scale=places,
        scale_is_known=known,
        distributions=distributions,
        lead=compare_best(ratings, by_model, places),
        by={column: ratings_by(ratings, column, places, over_raters) for column in by} if places else {},
        points_by=points_by(ratings, by) if points else {},
        levels=levels,
        regressions={name: model.regression for name, model in models.items()},
        points=points,
        ranking=ranking,
        agreement=agreement,
        annotators=describe_annotators(chosen, crossed) if chosen else None,
        comments=code_comments(ratings, schema, source=source, lines=file.lines),
        reasons=code_comments(first, automatic) if first and automatic else None,
        missing=find_missing(ratings, groups, ranking is None, agreement is None),
        unread=file.unread,
        replaced=tuple(f"{column} {old} as {new} ({count(n)})" for (column, old, new), n in file.replaced.items()),
    )


def has_values(ratings: Sequence[Rating], column: str) -> bool:
    """Return whether any row has a value in a column."""
    return any(getattr(rating, column) is not None for rating in ratings)


def find_missing(ratings: Sequence[Rating], groups: Groups, unranked: bool, unshared: bool) -> dict[str, str]:
    """Return what could not be analysed, and why."""
    reasons = {name: f"no row has {name!r}" for name in ("type", "language", *LEVELS) if not has_values(ratings, name)}
    if len(groups.models) == 1:
        reasons["comparison of models"] = f"there is one model only, {groups.models[0]!r}"
    elif unranked:
        reasons["win rates"] = "nobody rated or ranked the answers of two models to the same question"
    if unshared:
        reasons["agreement"] = "no answer was rated by two annotators"
    if untimed := sum(rating.at is None for rating in ratings if rating.rating is not None):
        reasons["drift"] = f"{count(untimed)} ratings have no time ('at')"
    return reasons
