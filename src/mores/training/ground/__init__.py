"""Samples with evidence, to train and to test a metric that judges by search results: `mores build ground`.

| file | evidence |
| --- | --- |
| `train.jsonl` | a quarter of the samples without, all twice with facts of training items; pairs, translated samples |
| `dev`, `test` `.jsonl` | none |
| `dev-covered`, `test-covered` `.jsonl` | facts of all items: a corpus that covers what is asked |
| `dev-reworded`, `test-reworded` `.jsonl` | the same in words that are never trained on; texts are sentences |
| `dev-uncovered`, `test-uncovered` `.jsonl` | facts of the training items alone: never the own one |
| `test-pairs`, `test-translated` `.jsonl` | claims with passages, and facts in another language, if given |
| `sets` `.jsonl` | all sets of claims, trained on or not, for a training run that leaves some of them out |
| `ground.json` | settings, counts of items whose own fact was found, and hashes of the input |

Passages are shuffled, so that a metric reads all of them. In training some of the texts and facts are reworded, and
some passages contain something else beside a fact. An error cites the fact of its item. If that is not among the
evidence, training removes the error from the report; without any evidence the error stays, but its report does not say
what would be correct.
"""

from mores.training.ground.citing import with_evidence
from mores.training.ground.dataset import ground_dataset
from mores.training.ground.facts import nearest, own_facts
from mores.training.ground.records import Grounded, OwnFactCounts

__all__ = ["Grounded", "OwnFactCounts", "ground_dataset", "nearest", "own_facts", "with_evidence"]
