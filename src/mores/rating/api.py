"""The public function `mores.rate`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TypedDict, Unpack

from pydantic import JsonValue

from mores.io import JsonlWriter, write_text
from mores.rating.codes import read_schema
from mores.rating.folder import RATINGS, RESULT, RateRun
from mores.rating.ratings import Rating, RatingFile, open_ratings
from mores.rating.study import analyse
from mores.run import Plan, start_run
from mores.signature import sign


class RateOptions(TypedDict, total=False):
    """What `mores.rate` takes besides the ratings."""

    columns: Mapping[str, str] | None
    """The file's name of our columns, such as {"rating": "overall"}; an empty one leaves a column out."""
    languages: Mapping[str, str] | None
    """What the file calls a language, such as {"fi": "fj"}."""
    aliases: Mapping[str, Mapping[str, str]] | None
    """What the file writes for a value of any column, such as {"type": {"cult": "specific"}}."""
    scale: tuple[float, float] | None
    """The lowest and the highest rating that can be given."""
    codes: Path | str | None
    """YAML file with a schema of codes for the comments."""


async def rate(
    ratings: Path | str | Iterable[Rating], *, out: Path | str | None = None, **options: Unpack[RateOptions]
) -> RateRun:
    """Analyse people's ratings of answers as CaLMQA's human study does: distributions, cumulative link mixed models
    with their contrasts and R², win rates, agreement, and how each annotator rates.

    `ratings` is a CSV, JSON Lines or Parquet file, or the records themselves. The run is in the folder `out`; without
    it, in one named after the file.
    """
    scale, codes = options.pop("scale", None), options.pop("codes", None)
    schema = read_schema(codes) if codes else None
    if isinstance(ratings, Path | str):
        name, file = Path(ratings).name, open_ratings(ratings, **options)  # type: ignore[misc]  # the rest is the reader's
    else:
        name, file = "ratings", RatingFile(list(ratings), (), {})
    lines = "\n".join(rating.model_dump_json() for rating in file.ratings)
    data = f"{sha256(lines.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}.{len(file.ratings)}"
    bounds = "auto" if scale is None else f"{scale[0]:g}-{scale[1]:g}"
    coded = sha256(repr(schema).encode()).hexdigest()[:8] if schema else "none"
    signature = sign({"task": "rate.1", "data": data, "scale": bounds, "codes": coded})
    settings: dict[str, JsonValue] = {"scale": bounds, "codes": str(codes) if codes else None}
    plan = Plan(kind="rate", name=name, signature=signature, settings=settings)
    folder = Path(out) if out else Path(f"{Path(name).stem}.rate")
    with start_run(folder, plan, numbered=out is None) as run:
        study = await asyncio.to_thread(analyse, file, source=name, scale=scale, schema=schema)
        with JsonlWriter(run.path / RATINGS) as writer:
            for rating in file.ratings:
                writer.write(rating)
        write_text(run.path / RESULT, study.model_dump_json(indent=1) + "\n")
        failures = {"unrated": study.unrated} if study.unrated else {}
        run.finish(files={RATINGS: "Rating", RESULT: "Study"}, failures=failures, headline=study.headline)
    return RateRun(run.path, run.manifest)
