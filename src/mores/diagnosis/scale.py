"""Item response models of benchmarks: the difficulty of questions, the ability of models, and a short form.

    result = measure_scale(read_ran([Path("bench")]))       # runs of several models on one benchmark

A model's ability and a question's difficulty are on one scale in logits (`mores.stats.irt`): a model whose ability is a
question's difficulty answers it correctly half the time. Where models lack different answers, their abilities allow
for it, as far as the other models show how hard these questions are. The short form is tested on models that did not
choose it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from mores.benchmark.board import ability_results, credit_table
from mores.diagnosis.locality import Ran, runs_by_model
from mores.errors import ConfigError, InputError
from mores.formatting import count, number, percent, span
from mores.stats.classification import Floats
from mores.stats.correlation import kendall_tau_b
from mores.stats.influence import kendall_b
from mores.stats.irt import (
    LEAST_FOR_DISCRIMINATION,
    LEAST_MODELS,
    choose_questions,
    fit_discrimination,
    fit_questions,
    predict_credit,
)
from mores.stats.results import mean_result
from mores.types import Record, Result, Signature

SIZES = (10, 20, 50, 100, 200, 500, 1000)
"""Sizes of short forms that are tried."""
LIKE_WHOLE = 0.9
"""A short form ranks like the whole where Kendall's tau of both, on models that did not choose it, is at least this."""
FOLDS = 5
"""Parts of the models, each of which is left out once."""
LOTS = 5
"""Questions are drawn by lot so often, to compare with."""


class ModelAbility(Record):
    """A model's ability."""

    model: str
    ability: Result
    """In logits; no value where all answers have the same grade."""
    credit: Result
    """The share of correct answers."""


class QuestionDifficulty(Record):
    """A question's difficulty, and the answers that it rests on."""

    id: str
    difficulty: Result
    """In logits, with its 95% posterior interval; n counts models."""
    credit: float
    """The share of correct answers of all models."""
    discrimination: float | None = None
    """Its slope over a standard deviation of the models' abilities; None with one for all questions."""


class ShortForm(Record):
    """So many questions, and how well they stand for all of them."""

    size: int
    tau: Result
    """Kendall's tau of the predicted and the whole credit, on models that were left out when it was chosen."""
    by_lot: float | None
    """The same of as many questions by lot, on average."""
    error: float
    """Mean absolute error of the predicted credit."""


class ItemScale(Record):
    """The models and questions of one benchmark on one scale."""

    benchmark: str
    models: tuple[str, ...]
    signatures: tuple[Signature, ...]
    abilities: tuple[ModelAbility, ...]
    """From the highest."""
    questions: tuple[QuestionDifficulty, ...]
    """From the most difficult; in JSON, all of them."""
    spread: float
    """Standard deviation of the difficulties."""
    forms: tuple[ShortForm, ...]
    """Of each size that was tried."""
    chosen: tuple[str, ...]
    """The questions of the short form, from the most informative; none where no size ranks like the whole."""
    notes: tuple[str, ...] = ()

    @property
    def form(self) -> ShortForm | None:
        """The short form that was chosen."""
        return next((form for form in self.forms if form.size == len(self.chosen)), None)


def measure_scales(
    runs: Sequence[Ran], *, discrimination: bool = False, short: int | None = None, force: bool = False
) -> list[ItemScale]:
    """Fit the answers of several models to each benchmark; `short` is the size of short forms, None for any."""
    by_name = {
        name: [run for run in runs if run.entry.result.name == name]
        for name in sorted({run.entry.result.name for run in runs})
    }
    return [
        measure_scale(name, runs_by_model(name, of_benchmark, force), discrimination, short)
        for name, of_benchmark in by_name.items()
    ]


def measure_scale(name: str, runs: Mapping[str, Ran], discrimination: bool, short: int | None) -> ItemScale:
    """Fit the answers of several models to one benchmark."""
    entries = {model: run.entry for model, run in runs.items()}
    if any(entry.result.measured for entry in entries.values()):
        raise ConfigError(f"{name}: its answers are measured rather than correct or not; give another benchmark")
    if len(entries) < LEAST_MODELS:
        raise ConfigError(f"{count(len(entries))} models on {name} have no scale; run at least {LEAST_MODELS}")
    if discrimination and len(entries) < LEAST_FOR_DISCRIMINATION:
        raise ConfigError(
            f"{count(len(entries))} models are too few to estimate a discrimination for each question; "
            f"run at least {LEAST_FOR_DISCRIMINATION}, or use one for all (1pl)",
            setting="item_model",
        )
    units, table = credit_table(list(entries.values()))
    try:
        scale = fit_questions(table)
    except ValueError as error:
        raise InputError(f"{name}: {error}, so that there is no scale; run other models") from None
    slopes = fit_discrimination(table) if discrimination else np.full(len(units), np.nan)
    abilities = [
        ModelAbility(model=model, ability=ability, credit=mean_result("credit", table[:, place]))
        for place, (model, ability) in enumerate(zip(entries, ability_results(scale, table), strict=True))
    ]
    sizes = [short] if short else [size for size in SIZES if 2 * size <= len(units)]
    forms = [form for size in sizes if (form := try_form(table, size))]
    enough = next((form.size for form in forms if short or (form.tau.value or 0) >= LIKE_WHOLE), 0)
    questions = [
        QuestionDifficulty(
            id=unit,
            difficulty=Result(name="difficulty", value=d, low=d - 1.96 * sd, high=d + 1.96 * sd, n=int(n)),
            credit=credit,
            discrimination=None if np.isnan(slope) else slope,
        )
        for unit, d, sd, n, credit, slope in zip(
            units,
            *(column.tolist() for column in (scale.difficulty, scale.uncertainty, (~np.isnan(table)).sum(axis=1))),
            np.nanmean(table, axis=1).tolist(),
            slopes.tolist(),
            strict=True,
        )
    ]
    same = int((np.nanmin(table, axis=1) == np.nanmax(table, axis=1)).sum())
    missing = int(np.isnan(table).sum())
    return ItemScale(
        benchmark=name,
        models=tuple(entries),
        signatures=tuple(entry.result.signature for entry in entries.values()),
        abilities=tuple(sorted(abilities, key=lambda each: -(each.ability.value or -np.inf))),
        questions=tuple(sorted(questions, key=lambda each: -(each.difficulty.value or 0.0))),
        spread=scale.spread,
        forms=tuple(forms),
        chosen=tuple(units[place] for place in choose_questions(scale, enough)),
        notes=(
            *([f"{count(same)} of {count(len(units))} questions have the same grade from every model"] if same else ()),
            *([f"{count(missing)} answers have no grade and are left out of the likelihood"] if missing else ()),
        ),
    )


def try_form(table: Floats, size: int) -> ShortForm | None:
    """Return how well so many questions predict the credit of models that did not choose them; None where all fail."""
    generator, models = np.random.default_rng(0), table.shape[1]
    whole, predicted = np.nanmean(table, axis=0), np.full((LOTS + 1, models), np.nan)
    folds = generator.permutation(models) % min(FOLDS, models)
    for fold in range(folds.max() + 1):
        try:
            scale = fit_questions(table[:, folds != fold])
        except ValueError:
            continue
        lots: list[npt.NDArray[np.intp]] = [generator.permutation(len(table))[:size] for _ in range(LOTS)]
        for row, asked in enumerate([choose_questions(scale, size), *lots]):
            for model in np.flatnonzero(folds == fold):
                predicted[row, model] = predict_credit(scale, table[asked, model], asked)
    known = ~np.isnan(predicted[0]) & ~np.isnan(whole)
    if known.sum() < LEAST_MODELS:
        return None
    taus = [kendall_tau_b(row[known], whole[known]) for row in predicted]
    by_lot = [tau for tau in taus[1:] if tau is not None]
    tau = Result(name="tau", value=taus[0], n=int(known.sum()))
    if ordered := kendall_b(predicted[0][known], whole[known]):
        low, high = ordered.interval()
        tau = tau.model_copy(update={"low": low, "high": high})
    error = float(np.abs(predicted[0][known] - whole[known]).mean())
    return ShortForm(size=size, tau=tau, by_lot=float(np.mean(by_lot)) if by_lot else None, error=error)


def paragraph(result: ItemScale) -> str:
    """Return the result in plain words."""
    known = [each for each in result.abilities if each.ability.value is not None]
    first, last = known[0], known[-1]
    interval = span(first.ability.low, first.ability.high)
    words = [
        f"{first.model} has the highest ability of {count(len(result.models))} models on {result.benchmark}, "
        f"{number(first.ability.value)} ({interval}), and {last.model} the lowest, {number(last.ability.value)}; the "
        f"questions' difficulties have a standard deviation of {number(result.spread)}."
    ]
    if form := result.form:
        lot = "" if form.by_lot is None else f"; as many questions by lot, {number(form.by_lot)}"
        words.append(
            f"A short form of {count(form.size)} of {count(len(result.questions))} questions ranks models that did not "
            f"choose it with Kendall's tau {number(form.tau.value)} ({span(form.tau.low, form.tau.high)}) to the "
            f"whole{lot}. It predicts their share of correct answers with an average error of "
            f"{percent(form.error)}."
        )
    elif result.forms:
        words.append(f"No short form reaches Kendall's tau {LIKE_WHOLE} to the whole on models that did not choose it.")
    wrong = [each for each in result.questions if each.discrimination is not None and each.discrimination < 0]
    if wrong:
        words.append(f"{count(len(wrong))} questions are answered worse by better models: check their keys.")
    return " ".join(words)
