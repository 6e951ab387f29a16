"""ArabCulture (Sadallah et al. 2025): how a situation in one of 13 Arab countries goes on, one option of three.

Columns: sample_id, sub_topic, first_statement, options ({arabic_keys, english_keys, text}: three lists), answer_key
({arabic_answer_key, english_answer_key}), country and region ("KSA", "Gulf"); one folder for each country.
"""

from __future__ import annotations

from mores.benchmark.benchmark import Benchmark
from mores.benchmark.choice import distinct, grade_letter, guess_letter, lettered, letters
from mores.culture import region
from mores.errors import InputError
from mores.factory.sources.files import find, read_all
from mores.factory.sources.rows import SourceRow, collect
from mores.prompts import fill, read_prompt
from mores.types import Item

AREA, PLAIN = "area", "plain"


def _item(row: SourceRow) -> Item:
    options, answer = row.having(row.mapping("options")), row.having(row.mapping("answer_key"))
    keys, texts = options.list("english_keys"), [str(text).strip() for text in options.list("text")]
    key = answer.text("english_answer_key")
    if len(keys) != len(texts) or keys.count(key) != 1:
        raise InputError(
            f"the answer {key!r} is not one of the keys of {len(texts)} options; correct or remove the row"
        )
    choices = distinct(texts)
    country, area = row.text("country"), row.text("region")
    asked = {"statement": row.text("first_statement"), "options": lettered(choices)}
    place = region(country)
    return Item(
        id=f"{place}:{row.text('sample_id')}",
        prompt=fill(read_prompt(__file__, "location"), location=f"{country}, {area}", **asked),
        choices=choices,
        target=(choices[keys.index(key)],),
        language="ar",
        region=place,
        topic=row.text("sub_topic"),
        metadata={
            "area": area,
            "variants": {
                AREA: fill(read_prompt(__file__, "location"), location=area, **asked),
                PLAIN: fill(read_prompt(__file__, "plain"), **asked),
            },
        },
    )


ARABCULTURE = Benchmark(
    name="arabculture",
    title="ArabCulture: how a situation in an Arab country goes on, one option of three",
    version="1",
    licence="CC-BY-NC-SA-4.0",
    homepage="https://huggingface.co/datasets/MBZUAI/ArabCulture",
    files="<Country>/test-*.parquet as on the Hub",
    read=lambda folder, on_bad: collect(read_all(find(folder, "test*.parquet", "test*.jsonl")), _item, on_bad),
    source="arabculture",
    grade=grade_letter,
    groupings=("region", "area", "topic"),
    candidates=letters,
    references=guess_letter,
    max_tokens=64,
    hub="MBZUAI/ArabCulture",
    variants=(AREA, PLAIN),
)
