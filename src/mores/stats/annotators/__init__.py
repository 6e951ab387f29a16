"""Votes of several people: what they show about items and about the people.

    table = table_votes([("q1", "ann", "yes"), ("q1", "bo", "no"), …], labels=["no", "yes"])
    fit = fit_dawid_skene(table)                         # labels and skills
    decide(fit, [("ann", "yes"), ("bo", "no")])          # whether to ask one more person about an item
    annotator_quality(table)["ann"].agreement            # with the others, with its interval

`dawid_skene` has people's confusion matrices, `redundancy` decides whether to ask again, `quality` describes each
person, and `popular` finds surprisingly popular answers.
"""

from mores.stats.annotators.dawid_skene import DawidSkene, Prior, fit_dawid_skene
from mores.stats.annotators.popular import SurprisinglyPopular, surprisingly_popular
from mores.stats.annotators.quality import Quality, annotator_quality
from mores.stats.annotators.redundancy import Redundancy, VoteDecision, decide, enough, expected_gain, label_posterior
from mores.stats.annotators.votes import LabelTable, table_votes

__all__ = [
    "DawidSkene",
    "LabelTable",
    "Prior",
    "Quality",
    "Redundancy",
    "SurprisinglyPopular",
    "VoteDecision",
    "annotator_quality",
    "decide",
    "enough",
    "expected_gain",
    "fit_dawid_skene",
    "label_posterior",
    "surprisingly_popular",
    "table_votes",
]
