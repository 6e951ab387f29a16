"""Collecting cultural questions the way CaLMQA was collected (Section 2 and Appendices A and B of the paper).

`mores collect questions.jsonl` drops what is not specific to a culture or of poor quality, translates the rest into
English, gives it a topic, and says what was dropped and why.
"""

from mores.longanswer.collection.asking import FILTERS, Category, CollectStage, categories
from mores.longanswer.collection.candidates import Candidate, candidate_from, read_candidates
from mores.longanswer.collection.numbers import Collection, LanguageCount, add_up, undecided
from mores.longanswer.collection.run import CandidateStatus, Collected, Collector, mark_near

__all__ = [
    "FILTERS",
    "Candidate",
    "CandidateStatus",
    "Category",
    "CollectStage",
    "Collected",
    "Collection",
    "Collector",
    "LanguageCount",
    "add_up",
    "candidate_from",
    "categories",
    "mark_near",
    "read_candidates",
    "undecided",
]
