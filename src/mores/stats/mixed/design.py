"""From columns of data to the matrices of a cumulative link model: factors, interactions and grouping terms.

Factors get treatment contrasts: one 0/1 column for each level but the first, which is the reference. An interaction's
columns are the products of its variables' columns, the first variable varying fastest.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from math import isfinite
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from mores.errors import suggest

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.intp]
Columns: TypeAlias = Mapping[str, Sequence[object]]


@dataclass(frozen=True, slots=True)
class MixedModel:
    """The response of a regression and its terms."""

    response: str
    """The column of ordinal ratings. Numbers are ordered as numbers; texts need their order in `levels`."""
    fixed: tuple[str, ...] = ()
    """Terms of fixed effects: "a", an interaction "a:b" beside its main effects, or "a*b" for all three."""
    random: tuple[str, ...] = ()
    """Grouping factors of random intercepts: "a", "a:b" for each pair, or "a/b" for a and b within a."""
    levels: Mapping[str, Sequence[object]] = field(default_factory=dict)
    """Levels of columns in order, the reference first; makes a column of numbers a factor. Default: sorted."""


@dataclass(frozen=True, slots=True)
class CodedFactor:
    """A categorical column."""

    name: str
    levels: tuple[object, ...]
    """The levels that occur, in order."""
    codes: Codes
    """Each row's place in `levels`."""


@dataclass(frozen=True, slots=True)
class Covariate:
    """A column of numbers."""

    name: str
    values: Floats


Variable: TypeAlias = CodedFactor | Covariate
Term: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Design:
    """A model's matrices."""

    response: CodedFactor
    variables: Mapping[str, Variable]
    """The variables of the fixed effects, by name."""
    terms: tuple[Term, ...]
    """The fixed terms, main effects first."""
    names: tuple[str, ...]
    """The names of the matrix's columns."""
    matrix: Floats
    """One row for each rating, one column for each fixed effect; no intercept, for the thresholds stand for it."""
    groups: tuple[CodedFactor, ...]
    """The grouping factors of the random intercepts."""


def build(model: MixedModel, data: Columns) -> Design:
    """Return the design of a model for these columns; ValueError says what to change when there is none."""
    terms, nests = expand_fixed(model.fixed), expand_random(model.random)
    predictors = dict.fromkeys(n for term in (*terms, *nests) for n in term)
    check_model(model, predictors)
    check_columns([model.response, *predictors], data)
    response = read_response(model, data)
    variables = {n: read_variable(n, data[n], model.levels.get(n)) for n in dict.fromkeys(n for t in terms for n in t)}
    names, matrix = expand_columns(terms, variables, len(response.codes))
    check_rank(names, matrix)
    groups = tuple(read_group(nest, data) for nest in nests)
    return Design(response, variables, terms, names, matrix, groups)


def expand_fixed(fixed: Iterable[str]) -> tuple[Term, ...]:
    """Return terms as tuples of names, main effects before interactions; "a*b" becomes a, b and a:b."""
    if isinstance(fixed, str):
        raise ValueError(f"fixed is a tuple of terms; write ({fixed!r},)")
    terms: list[Term] = []
    for text in fixed:
        names = split(text, "*" if "*" in text else ":")
        sizes = range(1, len(names) + 1) if "*" in text else [len(names)]
        terms += [term for size in sizes for term in combinations(names, size)]
    unique: dict[frozenset[str], Term] = {}
    for term in terms:
        unique.setdefault(frozenset(term), term)
    ordered = sorted(unique.values(), key=len)
    for term in ordered:
        for part in combinations(term, len(term) - 1):
            if part and frozenset(part) not in unique:
                raise ValueError(
                    f"{':'.join(term)} without {':'.join(part)}; write {'*'.join(term)} to have the terms within it"
                )
    return tuple(ordered)


def expand_random(random: Iterable[str]) -> tuple[Term, ...]:
    """Return grouping terms as tuples of names; "a/b" becomes a and a:b."""
    if isinstance(random, str):
        raise ValueError(f"random is a tuple of terms; write ({random!r},)")
    nests: list[Term] = []
    for text in random:
        names = split(text, "/" if "/" in text else ":")
        nests += [names[: n + 1] for n in range(len(names))] if "/" in text else [names]
    return tuple({frozenset(nest): nest for nest in nests}.values())


def split(text: str, separator: str) -> Term:
    """Return the distinct names of a term."""
    names = tuple(name.strip() for name in text.split(separator))
    if len(set(names)) < len(names) or not all(names) or any(mark in n for n in names for mark in "*:/|() +"):
        raise ValueError(f"cannot read the term {text!r}; expected 'a', 'a:b', 'a*b' (fixed) or 'a/b' (random)")
    return names


def check_model(model: MixedModel, predictors: Iterable[str]) -> None:
    """Check that the response does not predict itself, and that orders of levels are for columns of the model."""
    if model.response in predictors:
        raise ValueError(f"{model.response!r} is the response and also a predictor; leave it out of one")
    for name in model.levels:
        if name not in (known := [model.response, *predictors]):
            raise ValueError(f"levels of {name!r}, which is not in the model; its columns are {', '.join(known)}")


def check_columns(names: Sequence[str], data: Columns) -> None:
    """Check that every column exists, all of one length and without missing values."""
    for name in names:
        if name not in data:
            hint = suggest(name, data)
            raise ValueError(f"no column {name!r}; {hint}the columns are {', '.join(sorted(data))}")
    sizes = {name: len(data[name]) for name in names}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"columns of different lengths: {', '.join(f'{n} {s}' for n, s in sizes.items())}")
    for name in names:
        try:  # mostly few values, of many rows
            if not any(map(is_missing, set(data[name]))):
                continue
        except TypeError:
            pass
        for row, value in enumerate(data[name], 1):
            if not isinstance(value, Hashable):
                raise ValueError(f"column {name!r}, row {row}: {value!r}; expected a text, a number or a truth value")
            if is_missing(value):
                raise ValueError(f"column {name!r}, row {row}: {value!r}; leave out rows with missing values")


def is_missing(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, float | np.floating) and not isfinite(value))


def read_response(model: MixedModel, data: Columns) -> CodedFactor:
    """Return the response as an ordered factor of at least two levels."""
    name, order = model.response, model.levels.get(model.response)
    if order is None and any(isinstance(value, str) for value in data[name]):
        raise ValueError(f"the response {name!r} has texts; give their order in levels={{{name!r}: (lowest, ...)}}")
    response = read_factor(name, data[name], order)
    if len(response.levels) < 2:
        problem = f"every row is {response.levels[0]!r}" if response.levels else "there are no rows"
        raise ValueError(f"the response {name!r} needs at least two levels; {problem}")
    return response


def read_variable(name: str, values: Sequence[object], order: Sequence[object] | None) -> Variable:
    """Return a covariate where all are numbers and no order of levels is given, else a factor."""
    if order is None and all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in values):
        return Covariate(name, np.array([float(v) for v in values]))  # type: ignore[arg-type]
    factor = read_factor(name, values, order)
    if len(factor.levels) < 2:
        raise ValueError(f"factor {name!r} has one level only, {factor.levels[0]!r}; leave it out of the fixed terms")
    return factor


def read_factor(name: str, values: Sequence[object], order: Sequence[object] | None) -> CodedFactor:
    """Return the levels that occur, in the given or the sorted order, and each row's place among them."""
    distinct = set(values)
    try:
        levels = sorted(distinct) if order is None else [level for level in order if level in distinct]  # type: ignore[type-var]
    except TypeError:
        raise ValueError(
            f"column {name!r} mixes kinds of values; give their order in levels={{{name!r}: ...}}"
        ) from None
    places = {level: n for n, level in enumerate(levels)}
    if len(places) < len(levels):
        raise ValueError(f"levels of {name!r} name a level twice: {levels}")
    if distinct.difference(places):
        row, value = next((row, value) for row, value in enumerate(values, 1) if value not in places)
        raise ValueError(f"column {name!r}, row {row}: {value!r} is not among its levels {list(order or ())}")
    return CodedFactor(name, tuple(levels), np.array([places[value] for value in values], dtype=np.intp))


def read_group(nest: Term, data: Columns) -> CodedFactor:
    """Return the factor of a random intercept: the combinations of its columns, in order of appearance."""
    name = ":".join(nest)
    rows: Sequence[Any] = data[nest[0]] if len(nest) == 1 else list(zip(*(data[n] for n in nest), strict=True))
    places = {row: n for n, row in enumerate(dict.fromkeys(rows))}
    if len(places) < 2:
        raise ValueError(f"random term {name!r} has one level only; leave it out")
    if len(places) == len(rows):
        raise ValueError(f"random term {name!r} has a level for every row; it needs levels with several rows each")
    return CodedFactor(name, tuple(places), np.array([places[row] for row in rows], dtype=np.intp))


def expand_columns(
    terms: Iterable[Term], variables: Mapping[str, Variable], rows: int
) -> tuple[tuple[str, ...], Floats]:
    """Return the names and values of the matrix's columns, term by term."""
    names: list[str] = []
    columns: list[Floats] = []
    for term in terms:
        parts = [variable_columns(variables[name]) for name in term]
        # Reversed twice: `product` varies the last fastest.
        for combination in product(*reversed(parts)):
            names.append(":".join(name for name, _ in reversed(combination)))
            columns.append(np.prod([values for _, values in combination], axis=0))
    return tuple(names), np.column_stack(columns) if columns else np.empty((rows, 0))


def variable_columns(variable: Variable) -> list[tuple[str, Floats]]:
    """Return a covariate itself, or a factor's treatment contrasts as name[level]."""
    if isinstance(variable, Covariate):
        return [(variable.name, variable.values)]
    return [
        (f"{variable.name}[{level}]", (variable.codes == n).astype(np.float64))
        for n, level in enumerate(variable.levels)
        if n > 0
    ]


def check_rank(names: Sequence[str], matrix: Floats) -> None:
    """Check that no column is a linear combination of the constant and those before it (Gram-Schmidt, twice)."""
    rows = len(matrix)
    basis = [np.full(rows, rows**-0.5)]
    aliased = []
    for name, column in zip(names, matrix.T, strict=True):
        kept = np.array(basis)
        rest = column - kept.T @ (kept @ column)
        rest = rest - kept.T @ (kept @ rest)
        size = np.linalg.norm(rest)
        if size <= 1e-8 * np.linalg.norm(column):
            aliased.append(name)
        else:
            basis.append(rest / size)
    if aliased:
        raise ValueError(
            f"aliased columns, constant or a combination of those before them: {', '.join(aliased)}; "
            "leave out a term or the rows of an empty cell"
        )


def indicate(codes: Codes) -> csr_matrix:
    """Return rows × levels, 1 at each row's level."""
    return csr_matrix((np.ones(len(codes)), codes, np.arange(len(codes) + 1)), (len(codes), int(codes.max()) + 1))


def is_nested(inner: CodedFactor, outer: CodedFactor) -> bool:
    """Return whether each level of a term is within one level of another."""
    pairs = np.unique(inner.codes * np.intp(len(outer.levels)) + outer.codes)
    return len(pairs) == len(inner.levels)
