"""Cumulative link and linear models of ratings, with or without random intercepts, and what is read off them.

    model = MixedModel(response="rating", fixed=("model*type",), random=("language/annotator",))
    result = fit(model, {"rating": [...], "model": [...], "type": [...], "language": [...], "annotator": [...]})
    contrasts(result, ("model",), by=("type",), adjust="tukey")

`design` turns columns into matrices, `likelihood` has the Laplace approximation, `estimation` maximises it, `linear`
has the restricted likelihood of linear models, `comparison` compares estimated marginal means, and `odds` checks that
odds are proportional.
"""

from mores.stats.mixed.comparison import Mean, MeanContrast, contrasts, means
from mores.stats.mixed.design import MixedModel
from mores.stats.mixed.estimation import Fit, FittedCoefficient, RSquared, Variance, fit, r_squared
from mores.stats.mixed.linear import fit_linear, raw_mean

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
    "fit_linear",
    "means",
    "r_squared",
    "raw_mean",
]
