"""Samples with evidence, to train and to measure a metric that judges by what was looked up: `mores build ground`.

| file | evidence |
| --- | --- |
| `train.jsonl` | a quarter of the samples without, all twice with facts of training items; pairs, translated samples |
| `dev`, `test` `.jsonl` | none |
| `dev-covered`, `test-covered` `.jsonl` | facts of all items: a corpus that covers what is asked |
| `dev-reworded`, `test-reworded` `.jsonl` | the same in words that are never trained on; texts are sentences |
| `dev-uncovered`, `test-uncovered` `.jsonl` | facts of the training items alone: never the own one |
| `test-pairs`, `test-translated` `.jsonl` | claims with passages, and facts in another language, if given |
| `sets` `.jsonl` | the sets of claims as they are, trained on or not, for a training that leaves some of them out |
| `ground.json` | settings, how often an item's own fact was found, and what it was made from |

Passages are shuffled, so that a metric reads all of them. In training some of the texts and facts are reworded, and
some passages say something else beside a fact. An error cites the fact of its own item. Where that is not among the
evidence, the evidence decides nothing, and in training there is no error by it; without any evidence an error is one,
but its report does not say what would be correct.
"""

from mores.training.ground.citing import with_evidence
from mores.training.ground.dataset import ground_dataset
from mores.training.ground.facts import own_facts
from mores.training.ground.nearby import nearest
from mores.training.ground.records import Found, Grounded

__all__ = ["Found", "Grounded", "ground_dataset", "nearest", "own_facts", "with_evidence"]
