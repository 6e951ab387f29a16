"""False alarms and power of the tests of `mores diagnose contamination`, by simulation.

    python benchmarks/contamination.py                                  # a table, in about a minute
    python benchmarks/contamination.py --models 200 --questions 200 --json

Simulated models answer multiple choice: each prefers letters to a degree of its own, likes some wrong options more than
others, is drawn to the option beside the one it likes best, and knows a share of the answers. Of a contaminated one, a
share of the questions was seen, and these are answered correctly as published; in another order, seen ones are answered
as any others. Questions are completed with overlaps drawn from a beta distribution, alike with and without the name of
the benchmark, except those that were seen. Flagged is a model with a p-value below 0.01 divided by the number of tests.
"""

from __future__ import annotations

import argparse
import json

import numpy as np
import numpy.typing as npt

from mores.diagnosis.contamination import COMPLETION, FLAGGED, ORDER, compare

Floats = npt.NDArray[np.float64]


def answer(taste: Floats, letters: Floats, correct: int, knows: bool, order: npt.NDArray[np.intp], lot: Floats) -> bool:
    """Return whether a model chooses the correct option, which is in its place in every order."""
    appeal = taste[order] + letters + lot
    appeal += 0.5 * np.roll(appeal, 1)  # a neighbour's appeal rubs off
    return bool(knows or int(appeal.argmax()) == correct)


def simulate(questions: int, seen: float, generator: np.random.Generator) -> dict[str, float]:
    """Return the p-values of one model."""
    letters, skill = generator.normal(0, 1, 4), generator.uniform(0.0, 0.8)
    published, exchanged, named, plain = {}, {}, {}, {}
    for number in range(questions):
        # As in CulturalBench, one letter is correct in half of the questions.
        id_, correct = str(number), int(generator.choice(4, p=[0.15, 0.54, 0.16, 0.15]))
        taste, knows, known = generator.normal(0, 1, 4), generator.random() < skill, generator.random() < seen
        wrong = [place for place in range(4) if place != correct]
        order = np.arange(4)
        order[wrong] = np.roll(wrong, 1)
        lots = generator.gumbel(0, 0.5, (2, 4))
        published[id_] = float(known or answer(taste, letters, correct, knows, np.arange(4), lots[0]))
        exchanged[id_] = float(answer(taste, letters, correct, knows, order, lots[1]))
        guess = generator.beta(2, 10)
        named[id_], plain[id_] = (np.clip(guess + generator.normal(0, 0.05, 2), 0, 1)).tolist()
        if known and generator.random() < 0.3:
            named[id_] = 1.0
    p = {name: compare(name, *pair).p for name, pair in ((ORDER, (published, exchanged)), (COMPLETION, (named, plain)))}
    return {name: 1.0 if value is None else value for name, value in p.items()}


def main() -> None:
    """Print a line for each share of questions that were seen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=300)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    for seen in (0.0, 0.05, 0.1, 0.2, 0.5):
        draws = [simulate(arguments.questions, seen, np.random.default_rng(seed)) for seed in range(arguments.models)]
        shares = {
            f"{name} below {limit}": round(float(np.mean([draw[name] < limit for draw in draws])), 3)
            for name in (ORDER, COMPLETION)
            for limit in (0.05, FLAGGED)
        }
        flagged = round(float(np.mean([min(draw.values()) < FLAGGED / 2 for draw in draws])), 3)
        row = {"seen": seen, **shares, "flagged": flagged}
        print(json.dumps(row) if arguments.json else row, flush=True)


if __name__ == "__main__":
    main()
