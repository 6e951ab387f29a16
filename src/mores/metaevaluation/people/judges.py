"""Judgements of the answers that people rated: from a table of scores, from a file, or by asking the judge.

A table (`FILE.csv`, `.xlsx`, `.parquet`, `.jsonl:COLUMN`, …) has a row for each answer, with `question` (or
`question_id`), `model`, `language` where people's file has it, and a score in `rating`, `score` or the named column.
Rows are joined by question, language and model: questions without differences of case, width and white space, models
without punctuation (`GPT 4 Turbo` is `gpt4turbo`), or by an alias. `MODELS` has those of CaLMQA's release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mores.errors import ConfigError, InputError
from mores.io import read_records
from mores.io.columns import LANGUAGE, TableColumn, Wanted
from mores.io.source import SUFFIXES, UNTYPED, TableRow
from mores.io.table import read_table
from mores.metaevaluation.people.answers import Aliases, PeopleAnswer, normalise_model, normalise_text, text_marks
from mores.metaevaluation.scorers import AnyMetric, MetricScorer, scorer
from mores.metric.folder import judgements_file
from mores.rating.cells import RatingCells
from mores.stats.spans import Span
from mores.types import Judgement

MODELS = {"Claude Opus": "claude", "Mixtral 8x22B (together.ai)": "mixtral22b", "GPT 4 Turbo": "gpt4turbo"}
"""Models as the judge's file of CaLMQA's release calls them, and as its file of people's ratings does."""
COLUMNS = (
    TableColumn("question", needed=True, instead=("question_id",)),
    TableColumn("question_id"),
    TableColumn("model", needed=True),
    TableColumn("rating", ("score",), needed=True, kind="number"),
    LANGUAGE,
)
Key = tuple[str, str, str]
"""Question, language and model, as both files have them."""


@dataclass
class JudgeScores:
    """The scores of a judge for the answers that people rated, by the answer's id."""

    name: str
    scores: dict[str, float] = field(default_factory=dict)
    marks: dict[str, list[Span]] = field(default_factory=dict)
    failures: Counter[str] = field(default_factory=Counter)
    """Answers without a score by reason; `missing` if the judge has none of them."""
    judged_only: int = 0
    """Answers that the judge scored and people did not rate; of a table, those of the same models and languages."""


@dataclass(frozen=True)
class TableJudge:
    """A judge whose scores are in a table."""

    name: str
    path: Path
    column: str


def open_judge(name: str | AnyMetric) -> TableJudge | MetricScorer:
    """Return the judge of this name: a table of scores, or a metric."""
    if not isinstance(name, str):
        return scorer(name)
    path, colon, column = name.rpartition(":")
    if colon and Path(path).suffix.lower() in SUFFIXES and Path(path).suffix.lower() not in (".txt", ".md"):
        return TableJudge(name, Path(path), column)
    if SUFFIXES.get(Path(name).suffix.lower()) in (*UNTYPED, "parquet", "arrow"):
        return TableJudge(name, Path(name), "")
    judge = scorer(name)
    if judge.baseline or judge.split:
        problem = f"{name} learns from a dataset that `mores build` wrote"
        raise ConfigError(f"{problem}; give a metric, a file of judgements or a table of scores", setting="metric")
    return judge


# -- tables ------------------------------------------------------------------------------------------------


def read_table_judge(judge: TableJudge, answers: Sequence[PeopleAnswer], aliases: Aliases | None = None) -> JudgeScores:
    """Return the scores of a table for these answers; InputError where the files name the models in another way."""
    chosen = {"rating": judge.column} if judge.column else {}
    expected = f"'question', 'model' and 'rating', or {judge.path.name}:COLUMN for the score"
    wanted = Wanted(COLUMNS, chosen, expected=expected)
    source, rows, report, _ = read_table(
        judge.path, wanted, "it has no scores; write a header and a row for each answer"
    )
    question = "question" if "question" in report.columns else "question_id"
    aliases = aliases or {}
    cells = RatingCells({**aliases, "model": {**MODELS, **aliases.get("model", {})}})
    scored: dict[Key, tuple[int, float | None]] = {}
    with_language = "language" in report.columns and all(answer.language for answer in answers)
    for row in rows:
        key, value = _scored(row, question, cells, with_language)
        if key in scored:
            raise row.error(f"the same answer is already in {source.unit} {scored[key][0]}; keep one of them")
        scored[key] = (row.line, value)
    return _join(judge, answers, {key: value for key, (_, value) in scored.items()}, question, with_language)


def _scored(row: TableRow, question: str, cells: RatingCells, with_language: bool) -> tuple[Key, float | None]:
    values = row.values
    try:
        asked = cells.text(question, values)
        if asked is None:
            raise InputError(f"no {question}; fill it in or remove the row")
        language = cells.language("language", values) if with_language else None
        model = normalise_model(cells.needed_label("model", values))
        return (normalise_text(asked), language or "", model), cells.number("rating", values)
    except InputError as error:
        raise row.error(str(error), setting=error.setting) from error


def _join(
    judge: TableJudge,
    answers: Sequence[PeopleAnswer],
    scored: Mapping[Key, float | None],
    question: str,
    with_language: bool,
) -> JudgeScores:
    wanted: dict[Key, PeopleAnswer] = {}
    for answer in answers:
        asked = answer.question if question == "question" else answer.question_key.partition("|")[0]
        language = answer.language or "" if with_language else ""
        wanted[normalise_text(asked), language, normalise_model(answer.groups.get("model", ""))] = answer
    theirs, ours = {key[2] for key in scored}, {key[2] for key in wanted}
    if (unknown := sorted(ours - theirs)) and theirs - ours:  # a model is spelled in two ways
        problem = f"{judge.path}: no model {unknown[0]!r}, which people rated"
        both = f"people's are {', '.join(sorted(ours))}; the judge's are {', '.join(sorted(theirs))}"
        raise InputError(f"{problem}; {both}; say which one it is", setting="alias")
    alike = {key[1:] for key in wanted if scored.get(key) is not None}
    more = sum(value is not None and key not in wanted and key[1:] in alike for key, value in scored.items())
    judged = JudgeScores(judge.name, judged_only=more)
    for key, answer in wanted.items():
        value = scored.get(key)
        if value is None:
            judged.failures["missing" if key not in scored else "empty"] += 1
        else:
            judged.scores[answer.id] = value
    if not judged.scores:
        example = next(iter(answers)).question[:60] if answers else ""
        problem = f"{judge.path}: it has a score of no answer that people rated, such as one to {example!r}"
        raise InputError(f"{problem}; are questions and languages those of people's file?")
    return judged


# -- judgements --------------------------------------------------------------------------------------------


def read_judgement_file(judge: MetricScorer, answers: Sequence[PeopleAnswer]) -> JudgeScores:
    """Return the scores and marks of a file of judgements, or of a run: by id, or else by question and text."""
    by_id = {answer.id: answer for answer in answers}
    by_text = {(normalise_text(answer.question), answer.text): answer for answer in answers if answer.text is not None}
    judgements: dict[str, Judgement] = {}
    judged_only = 0
    for judgement in read_records(judgements_file(judge.name), Judgement):
        answer = by_id.get(judgement.sample_id)
        if answer is None and judgement.text is not None:
            answer = by_text.get((normalise_text(judgement.instruction or ""), judgement.text))
        if answer is None:
            judged_only += judgement.score is not None
        elif answer.id in judgements:
            raise InputError(f"{judge.name}: {judgement.sample_id!r} is judged twice; keep one judgement of each text")
        elif judgement.text is not None and answer.text is not None and judgement.text != answer.text:
            raise InputError(f"{judge.name}: {judgement.sample_id!r} was another text when it was judged")
        else:
            judgements[answer.id] = judgement
    if not judgements:
        problem = f"{judge.name}: none of its judgements is about an answer that people rated"
        raise InputError(f"{problem}; their ids are such as {answers[0].id!r}")
    judged = collect_scores(judge.name, answers, judgements)
    judged.judged_only = judged_only
    return judged


def collect_scores(name: str, answers: Sequence[PeopleAnswer], judgements: Mapping[str, Judgement]) -> JudgeScores:
    """Return the scores and marks of judgements by the answers' ids."""
    judged = JudgeScores(name)
    for answer in answers:
        judgement = judgements.get(answer.id)
        if judgement is None or judgement.score is None:
            judged.failures[judgement.failure.kind.value if judgement and judgement.failure else "missing"] += 1
            continue
        judged.scores[answer.id] = judgement.score
        if (marks := text_marks(judgement)) is not None:
            judged.marks[answer.id] = marks
    return judged
