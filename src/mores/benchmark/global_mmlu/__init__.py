"""Global-MMLU (Singh et al. 2025): exam questions in 42 languages that need knowledge of a culture, and that do not.

Columns: sample_id, subject, subject_category, question, `option_a` to `option_d`, answer (a letter) and
cultural_sensitivity_label: CS, CA, or "-" where nobody annotated the question. The language is the name of the folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from mores.benchmark.benchmark import Benchmark, OnBad
from mores.benchmark.choice import distinct, grade_letter, guess_letter, lettered, letters
from mores.culture import language
from mores.errors import InputError
from mores.factory.sources.files import find, read_all
from mores.factory.sources.rows import SourceRow, collect, letter
from mores.prompts import fill, read_prompt
from mores.types import Item

LABELS = ("CS", "CA", "-")


def _read(label: str, folder: Path, on_bad: OnBad) -> Iterator[Item]:
    return collect(read_all(find(folder, "test*.parquet", "test*.jsonl", "test*.csv")), partial(_item, label), on_bad)


def _item(label: str, row: SourceRow) -> Item | None:
    if (marked := row.text("cultural_sensitivity_label")) not in LABELS:
        expected = " nor ".join(LABELS)
        raise InputError(f"cultural_sensitivity_label {marked!r} is neither {expected}; correct or remove the row")
    if marked != label:
        return None
    folder = row.file.parent.name
    try:
        spoken = language(folder)
    except InputError as error:
        raise InputError(f"{error}; the language is the folder's name, for example sw/{row.file.name}") from error
    choices = distinct([row.text(f"option_{name}") for name in "abcd"])
    return Item(
        id=f"{folder}:{row.text('sample_id')}",
        prompt=fill(read_prompt(__file__, "choice"), question=row.text("question"), options=lettered(choices)),
        choices=choices,
        target=(letter(list(choices), row.text("answer")),),
        language=spoken,
        topic=row.text("subject").replace("_", " "),
        metadata={"category": row.text("subject_category")},
    )


SENSITIVE = Benchmark(
    name="global-mmlu-sensitive",
    title="Global-MMLU: exam questions that need knowledge of a culture, one option of four",
    version="1",
    licence="Apache-2.0",
    homepage="https://huggingface.co/datasets/CohereLabs/Global-MMLU",
    files="<language>/test-*.parquet of Global-MMLU or Global-MMLU-Lite, as on the Hub",
    read=partial(_read, "CS"),
    source="global_mmlu",
    grade=grade_letter,
    groupings=("language", "category", "topic"),
    candidates=letters,
    references=guess_letter,
    max_tokens=64,
    hub="CohereLabs/Global-MMLU-Lite",
)
AGNOSTIC = replace(
    SENSITIVE,
    name="global-mmlu-agnostic",
    title="Global-MMLU: exam questions that need no knowledge of a culture, one option of four",
    read=partial(_read, "CA"),
)
