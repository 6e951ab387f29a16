"""Meta-evaluation: how good a metric is at finding cultural errors, against baselines, with intervals and tests."""
