"""Global PIQA (Chang et al. 2025): everyday knowledge in more than 100 languages, which solution is the correct one.

Columns: prompt, `solution0` and `solution1` (in the parallel split up to `solution3`), label (counted from 0) and
example_id; the non-parallel split has approx_cultural_score (0 or 1). A file is named after its language and script,
and where there are several after country or dialect: `nonparallel_fra_latn_cana.tsv`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from mores.benchmark.benchmark import Benchmark, OnBad
from mores.benchmark.choice import distinct, grade_last_letter, guess_letter, letters
from mores.culture import language
from mores.factory.sources.files import find, read_all
from mores.factory.sources.rows import SourceRow, collect, digest, letter
from mores.prompts import fill, read_prompt
from mores.types import Item

COUNTRIES = {
    "jord": "JO", "leba": "LB", "pale": "PS", "syri": "SY", "cana": "CA", "fran": "FR", "braz": "BR", "port": "PT",
    "mexi": "MX", "peru": "PE", "spai": "ES",
}  # fmt: skip


def _read(split: str, options: int, folder: Path, on_bad: OnBad) -> Iterator[Item]:
    return collect(read_all(find(folder, f"{split}_*.tsv")), partial(_item, split, options), on_bad)


def _item(split: str, options: int, row: SourceRow) -> Item:
    variety = row.file.stem.removeprefix(f"{split}_")
    code, script, place = [*variety.replace("cls_", "san_").split("_"), "", ""][:3]  # cls is Classical Sanskrit
    country = COUNTRIES.get(place)
    choices = distinct([row.text(f"solution{number}") for number in range(options)])
    slots = {f"solution{number}": choice for number, choice in enumerate(choices)}
    specificity = {"0": "general", "1": "cultural"}.get((row.maybe("approx_cultural_score") or "").removesuffix(".0"))
    return Item(
        id=f"{variety}:{row.maybe('example_id') or digest(row.text('prompt'), *choices)}",
        prompt=fill(read_prompt(__file__, split), situation=row.text("prompt"), **slots),
        choices=choices,
        target=(letter(list(choices), row.text("label")),),
        language=language("-".join(filter(None, (code, script, country)))),
        region=country,
        metadata={"variety": variety, "specificity": specificity},
    )


GLOBAL_PIQA = Benchmark(
    name="global-piqa",
    title="Global PIQA: everyday knowledge of a place, written in its language, one solution of two",
    version="1",
    licence="CC-BY-SA-4.0, for evaluation only",
    homepage="https://huggingface.co/datasets/mrlbenchmarks/global-piqa-nonparallel",
    files="nonparallel_<language>_<script>.tsv as on the Hub",
    read=partial(_read, "nonparallel", 2),
    source="global_piqa",
    grade=grade_last_letter,
    groupings=("language", "region", "variety", "specificity"),
    candidates=letters,
    references=guess_letter,
    max_tokens=2048,
    hub="mrlbenchmarks/global-piqa-nonparallel",
    revision="6777742fa3634c0583cda3b7f8a482ea7b1b0937",
)
PARALLEL = replace(
    GLOBAL_PIQA,
    name="global-piqa-parallel",
    title="Global PIQA: the same everyday questions in every language, one solution of four",
    files="parallel_<language>_<script>.tsv as on the Hub",
    homepage="https://huggingface.co/datasets/mrlbenchmarks/global-piqa-parallel",
    read=partial(_read, "parallel", 4),
    groupings=("language", "region", "variety"),
    hub="mrlbenchmarks/global-piqa-parallel",
    revision="b0b18516a8bc2cb1106bce3dd4db32848ca715ea",
)
