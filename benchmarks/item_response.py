"""From how many models on item response models are worth fitting, by simulation.

    python benchmarks/item_response.py                                   # a table, in a few minutes
    python benchmarks/item_response.py --draws 4 --models 20,50 --json

Models of known ability answer questions of known difficulty and discrimination (log-normal, σ 0.4). Columns: how often
the 95% interval of a model's ability has the true one, where discriminations are the same and where they differ; the
correlation of estimated with true discriminations; the gain in predicting the answers of models that were not there, in
thousandths of a nat for each answer, of the 2PL over the 1PL; and the questions with a wrong key that have a negative
discrimination, beside those with a correct key that have one. `LEAST_FOR_DISCRIMINATION` is the first number of models
with a correlation of at least 0.7. Then, how well a short form of 50 questions ranks 20 models that were not there
(Kendall's τ with their true abilities), beside 50 questions at random and the whole benchmark.
"""

from __future__ import annotations

import argparse
import json

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_expit

from mores.stats.correlation import kendall_tau_b
from mores.stats.irt import choose_questions, fit, fit_questions, predict_credit

Floats = npt.NDArray[np.float64]
NEW = 20
"""Models that were not there when questions were fitted."""


def simulate(models: int, questions: int, generator: np.random.Generator) -> dict[str, float]:
    """Return what one draw of models and questions shows."""
    ability, difficulty = generator.normal(0, 1, models + NEW), generator.normal(0, 1, questions)
    slopes = np.exp(generator.normal(0, 0.4, questions))

    def answer(slopes: Floats) -> Floats:
        p = expit(slopes[:, None] * (ability - difficulty[:, None]))
        return np.asarray(generator.random(p.shape) < p, dtype=np.float64)

    figures = {}
    for name, of_questions in (("covered, alike", np.ones(questions)), ("covered", slopes)):
        table = answer(of_questions)
        scale = fit_questions(table[:, :models])
        # What the average model knows is 0 here and the average question there.
        apart = scale.ability - ability[:models]
        apart -= np.nanmean(apart)
        figures[name] = float(np.nanmean(np.abs(apart) < 1.96 * scale.errors))
    seen, new = table[:, :models], table[:, models:]
    chosen, lot = choose_questions(scale, 50), generator.permutation(questions)[:50]
    for name, asked in (("short", chosen), ("random", lot), ("whole", np.arange(questions))):
        predicted = [predict_credit(scale, new[asked, model], asked) for model in range(NEW)]
        figures[f"tau, {name}"] = kendall_tau_b(predicted, ability[models:].tolist()) or 0.0
    if models >= 10:
        flipped = generator.random(questions) < 0.05
        keyed = np.where(flipped[:, None], 1 - seen, seen)
        one, two = fit_pair(seen)
        figures["correlation"] = float(np.corrcoef(two[1], slopes)[0, 1])
        figures["gain"] = 1000 * (predict(two, ability[models:], new) - predict(one, ability[models:], new))
        negative = fit_pair(keyed)[1][1] < 0
        figures["wrong keys found"] = float(negative[flipped].mean()) if flipped.any() else float("nan")
        figures["correct keys suspected"] = float(negative[~flipped].mean())
    return figures


def fit_pair(table: Floats) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Return intercepts and slopes of the questions, with one slope for all and with their own."""
    varied = (table.mean(axis=1) > 0) & (table.mean(axis=1) < 1)
    centre = float(fit(table[varied].T).slopes[0])
    common = fit(table.T, own_slopes=True, centre=centre, spread=1e-3)
    own = fit(table.T, own_slopes=True, centre=centre)
    return (common.intercepts, common.slopes), (own.intercepts, own.slopes)


def predict(fitted: tuple[Floats, Floats], ability: Floats, answers: Floats) -> float:
    """Return the mean log-probability of the answers of models whose ability is known."""
    logits = fitted[0][:, None] + np.outer(fitted[1], ability)
    return float((answers * log_expit(logits) + (1 - answers) * log_expit(-logits)).mean())


def main() -> None:
    """Print a line for each number of models."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--models", default="3,5,10,20,30,50,75,100,200")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    for models in map(int, arguments.models.split(",")):
        draws = [simulate(models, arguments.questions, np.random.default_rng(seed)) for seed in range(arguments.draws)]
        means = {name: round(float(np.nanmean([draw[name] for draw in draws])), 3) for name in draws[0]}
        if arguments.json:
            print(json.dumps({"models": models, **means}), flush=True)
        else:
            print(f"{models:4} models:", "; ".join(f"{name} {value}" for name, value in means.items()), flush=True)


if __name__ == "__main__":
    main()
