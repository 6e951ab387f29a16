"""Meta-evaluation: how good a metric is at finding cultural errors, against baselines, with intervals and tests."""

from mores.calling import make_callable

make_callable(__name__)
