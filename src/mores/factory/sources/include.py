"""INCLUDE (Romanou et al. 2025): exam questions in 44 languages; only those of a culture or region are kept.

Columns: language, country, domain, subject, regional_feature ("region explicit", "region implicit", "culture",
"agnostic"), level, question, `option_a` to `option_d`, answer (counted from 0). The first uploads, and copies of them,
have the options in a list, `choices`.
"""

from __future__ import annotations

from mores.culture import language, region
from mores.errors import InputError
from mores.factory.items import Source, SourceItem, Task
from mores.factory.sources.files import read_tables
from mores.factory.sources.options import lacks_material, needs_options
from mores.factory.sources.rows import SourceRow, digest, letter

LETTERED = ("option_a", "option_b", "option_c", "option_d")


def _item(row: SourceRow) -> SourceItem | None:
    if not row.text("regional_feature").lower().startswith(("cultur", "region")):
        return None
    options = row.list("choices") if "choices" in row.values else [row.text(name) for name in LETTERED]
    if not all(isinstance(option, str) and option.strip() for option in options):
        raise InputError("a choice is empty or not a text; correct or remove the row")
    options = [option.strip() for option in options]
    answer = letter(options, row.text("answer"))
    question = row.text("question")
    spoken = language(row.text("language"))
    if lacks_material(question, spoken):
        return None
    country = row.maybe("country")
    return SourceItem(
        source="include",
        id=digest(row.text("language"), question, *options),
        task=Task.QA,
        question=question,
        answer=answer,
        options=tuple(options),
        wrong=tuple(option for option in options if option != answer),
        region=region(country) if country else None,
        language=spoken,
        topic=row.maybe("subject", "domain"),
        stands_alone=not needs_options(question, options, spoken),
    )


SOURCE = Source(
    name="include",
    title="INCLUDE: exam questions with regional knowledge",
    task=Task.QA,
    licence="Apache-2.0",
    commercial=True,
    homepage="https://huggingface.co/datasets/CohereLabs/include-base-44",
    files="<Language>/test-*.parquet and validation-*.parquet as on the Hub",
    stratify="region",
    read=read_tables(_item, "*.parquet", "*.jsonl", "*.csv"),
    hub="CohereLabs/include-base-44",
)
