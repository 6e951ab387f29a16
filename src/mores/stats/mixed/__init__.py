"""Cumulative link models of ordinal ratings, with or without random intercepts, and what is read off them.

    model = MixedModel(response="rating", fixed=("model*type",), random=("language/annotator",))
    result = fit(model, {"rating": [...], "model": [...], "type": [...], "language": [...], "annotator": [...]})
    contrasts(result, ("model",), by=("type",), adjust="tukey")

`design` turns columns into matrices, `likelihood` has the Laplace approximation, `estimation` maximises it, and
`comparison` compares estimated marginal means.
"""

from mores.stats.mixed.comparison import Mean, MeanContrast, contrasts, means
from mores.stats.mixed.design import MixedModel
from mores.stats.mixed.estimation import Fit, FittedCoefficient, RSquared, Variance, fit, r_squared

__all__ = [
    "Fit",
    "FittedCoefficient",
    "Mean",
    "MeanContrast",
    "MixedModel",
    "RSquared",
    "Variance",
    "contrasts",
    "fit",
    "means",
    "r_squared",
]
