"""Cumulative link models of ordinal ratings, with or without random intercepts, and what is read off them.

    model = Model(response="rating", fixed=("model*type",), random=("language/annotator",))
    result = fit(model, {"rating": [...], "model": [...], "type": [...], "language": [...], "annotator": [...]})
    contrasts(result, ("model",), by=("type",), adjust="tukey")

`design` turns columns into matrices, `likelihood` has the Laplace approximation, `estimation` maximises it, and
`comparison` compares estimated marginal means.
"""

from mores.stats.mixed.comparison import Contrast, Mean, contrasts, means
from mores.stats.mixed.design import Model
from mores.stats.mixed.estimation import Coefficient, Fit, RSquared, Variance, fit, r_squared

__all__ = [
    "Coefficient",
    "Contrast",
    "Fit",
    "Mean",
    "Model",
    "RSquared",
    "Variance",
    "contrasts",
    "fit",
    "means",
    "r_squared",
]
