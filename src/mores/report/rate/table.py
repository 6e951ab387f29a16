"""What `mores rate` prints, and the files of its tables."""

from __future__ import annotations

from collections.abc import Iterator

from mores.rating.folder import RateRun
from mores.rating.records import RatingStudy, Regression
from mores.report.base.grid import Grid
from mores.report.base.sheet import Sheet
from mores.report.rate.sheets import (
    agreement_sheet,
    annotators_sheet,
    careless_people,
    coders_sheet,
    codes_sheet,
    counts_sheet,
    differences_sheet,
    effects_sheet,
    explained_sheet,
    failures,
    kappas_sheet,
    pairs_sheet,
    placings_sheet,
    power_sheet,
    ratings_sheet,
    spans_sheet,
    spreads_by,
    totals_sheet,
)

MOST = 15
"""Differences, pairs and groups that are printed; files and page have all."""


def run_tables(run: RateRun) -> list[Grid | str]:
    """Return how answers were rated, what explains it, which model wins, how far people agree; the headline last."""
    study = run.result
    sheets = [*rating_sheets(study), *(totals_sheet(study, aspect) for aspect in study.levels)]
    for name in ("model", "type", "model*type"):
        regression = study.regressions.get(name)
        if regression and not regression.failure:
            sheets.append(effects_sheet(regression, thresholds=False))
            sheets.append(differences_sheet(regression, MOST, intervals=False))
    sheets += [explained_sheet(study)] if study.regressions else []
    sheets += [power_sheet(tested)] if (tested := fitted(study)) else []
    if study.ranking:
        sheets.append(placings_sheet(study.ranking))
        sheets += [pairs_sheet(study.ranking)] if len(study.ranking.pairs) <= MOST else []
    if study.agreement:
        sheets.append(agreement_sheet(study.agreement))
        sheets += [kappas_sheet(study.agreement)] if len(study.agreement.pairs) <= MOST else []
        sheets += [spans_sheet(study.agreement.spans)] if study.agreement.spans else []
    if study.annotators:
        sheets.append(annotators_sheet(study.annotators))
    sheets += comment_sheets(study).values()
    return [*(sheet.grid(corner(sheet)) for sheet in sheets), *remarks(study), study.headline]


def comment_sheets(study: RatingStudy) -> dict[str, Sheet]:
    """Return what comments and reasons are about, by the names of their files."""
    sheets = {}
    if study.comments:
        sheets["comments"] = codes_sheet(study, study.comments, "Comments")
        sheets |= {"coders": coders_sheet(study.comments)} if study.comments.kappas else {}
    if study.reasons:
        sheets["reasons"] = codes_sheet(study, study.reasons, "Reasons for first places")
    return sheets


def fitted(study: RatingStudy) -> list[Regression]:
    """Return the models of which the differences are planned for, unless these are many."""
    regressions = [study.regressions[name] for name in ("model", "type") if name in study.regressions]
    return [each for each in regressions if 0 < len(each.differences) <= MOST]


def rating_sheets(study: RatingStudy) -> list[Sheet]:
    """Return all ratings with those by model, type and language, and by model and type."""
    single = [group for cut in ((), ("model",), ("type",), ("language",)) for group in spreads_by(study, *cut)]
    sheets = [ratings_sheet(study, single, "Ratings")]
    both = spreads_by(study, "model", "type")
    return [*sheets, ratings_sheet(study, both, "Ratings by model and type")] if both else sheets


def corner(sheet: Sheet) -> str:
    """Return what the rows of a table are."""
    return "difference" if sheet.title.startswith("Differences") else "effect" if "~" in sheet.title else "group"


def remarks(study: RatingStudy) -> Iterator[str]:
    """Yield what a reader must know about the numbers."""
    if study.unrated:
        yield f"{study.unrated:,} of {study.n:,} answers have no rating"
    if not study.scale_is_known and study.scale:
        yield f"the scale is taken to go from {study.scale[0]:g} to {study.scale[-1]:g}, as the ratings do"
    yield from (f"{name}: not analysed, {reason}" for name, reason in study.missing.items())
    yield from failures(study)
    yield from careless_people(study.annotators)
    if study.replaced:
        yield f"read as other values: {', '.join(study.replaced)}"
    if study.unread:
        yield f"columns that were not read: {', '.join(study.unread)}"


def files(study: RatingStudy) -> dict[str, Grid]:
    """Return every table by the name of its file."""
    sheets = {"ratings": rating_sheets(study)[0]}
    cuts = {"ratings-by-model-and-type": ("model", "type"), "ratings-by-language": ("model", "type", "language")}
    sheets |= {
        name: ratings_sheet(study, groups, "Ratings") for name, c in cuts.items() if (groups := spreads_by(study, *c))
    }
    sheets |= {f"{aspect.replace('_', '-')}-counts": counts_sheet(study, aspect) for aspect in study.levels}
    for name, regression in study.regressions.items():
        if not regression.failure:
            stem = name.replace("*", "-by-").replace("_", "-")
            sheets |= {f"fit-{stem}": effects_sheet(regression), f"differences-{stem}": differences_sheet(regression)}
    if study.regressions:
        sheets |= {"r-squared": explained_sheet(study), "power": power_sheet(study.regressions.values())}
    if study.ranking:
        sheets |= {"win-rates": placings_sheet(study.ranking), "pairs": pairs_sheet(study.ranking)}
    if study.agreement:
        sheets |= {"agreement": agreement_sheet(study.agreement), "kappas": kappas_sheet(study.agreement)}
        sheets |= {"spans": spans_sheet(study.agreement.spans)} if study.agreement.spans else {}
    if study.annotators:
        sheets["annotators"] = annotators_sheet(study.annotators)
    sheets |= comment_sheets(study)
    return {name: sheet.grid(corner(sheet)) for name, sheet in sheets.items()}
