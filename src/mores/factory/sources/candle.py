"""CANDLE (Nguyen et al. 2023): assertions about cultures from the web, by the authors of Mango; stands in for it.

Two shapes are read: the release, with `subject`, `facet` or `concepts`, and `assertion`; and the subset that asks for
the name of the country, by language and country, whose gap is filled here. There an assertion and its translations
have the same place in their lists, and stay in one split. Duplicates are left out.
"""

from __future__ import annotations

import re

from mores.culture import language, local_region_name, region, region_name
from mores.errors import InputError
from mores.factory.items import Source, SourceItem, Task
from mores.factory.sources.files import read_tables
from mores.factory.sources.rows import SourceRow, digest, region_or_none

# The request after the sentence, in the languages of the subset.
_REQUEST = re.compile(r'(Answer in the json|\{"उत्तर"|以 \{|پاسخ در قالب json|Jibu katika umbizo la json)')

CULTURE_OF = {
    "en": "the culture of {}", "fa": "فرهنگ {}", "hi": "{} की संस्कृति", "sw": "utamaduni wa {}", "zh": "{}文化",
}  # fmt: skip
"""The topic in the languages of the subset, for the name of a country in that language."""
WITH_ARTICLE = frozenset({"AE", "GB", "NL", "PH", "US"})
"""Countries whose English name has an article."""


def _read_row(row: SourceRow) -> SourceItem:
    if not row.path:
        subject, about, assertion = row.text("subject"), row.maybe("facet", "concept"), row.text("assertion")
        item = _item(assertion, "en", region_or_none(subject), about, digest(subject, assertion))
        return item.model_copy(update={"question": f"{about or 'culture'} of {subject}"})
    spoken, country, place = language(row.path[0]), region(row.path[1]), row.path[2]
    sentence = _REQUEST.split(re.split("[:：]", row.text("prompt"), maxsplit=1)[-1])[0].strip()
    if "<mask>" not in sentence:
        raise InputError("no sentence with <mask> in 'prompt'; expected the published columns")
    return _item(sentence.replace("<mask>", row.text("answer")), spoken, country, None, f"{country}:{place}")


def _item(assertion: str, spoken: str, country: str | None, topic: str | None, unit: str) -> SourceItem:
    question = "culture"
    if country is not None:
        name = local_region_name(country, spoken)
        if name is None:
            raise InputError(f"{region_name(country)} has no known name in {spoken!r}; correct or remove the row")
        if spoken == "en" and country in WITH_ARTICLE:
            name = f"the {name}"
        question = CULTURE_OF.get(spoken.split("-")[0], "{}").format(name)
    return SourceItem(
        source="candle",
        id=digest(spoken, country or "", assertion),
        task=Task.GENERATION,
        question=question,
        answer=assertion,
        region=country,
        language=spoken,
        topic=topic,
        unit=unit,
    )


SOURCE = Source(
    name="candle",
    title="CANDLE: cultural commonsense from the web",
    task=Task.GENERATION,
    licence="CC-BY-4.0",
    commercial=True,
    homepage="https://candle.mpi-inf.mpg.de",
    files="candle_dataset_v1.jsonl, or candle*.json by language and country",
    stratify="region",
    read=read_tables(_read_row, "candle*.json", "candle*.jsonl", "candle*.jsonl.zip", depth=3, repeated=True),
    soft=True,
    about_anything=True,
    stands_in_for="mango",
)
