"""The public function `mores.rate`."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from hashlib import sha256
from pathlib import Path

from mores.engine.loop import interruptible
from mores.io import JsonlWriter, write_text
from mores.io.write import json_line
from mores.rating.codes import read_schema
from mores.rating.columns import find_fields
from mores.rating.folder import RATINGS, RESULT, RateRun
from mores.rating.participants import keep_participants
from mores.rating.ratings import RatingFile, open_ratings
from mores.rating.settings import RateSettings
from mores.rating.study import analyse
from mores.run import Plan, start_run
from mores.settings import takes
from mores.signature import sign


@takes(RateSettings)
async def rate(settings: RateSettings) -> RateRun:
    """Analyse people's ratings of answers: distributions, linear and cumulative link mixed models with their contrasts
    and R², win rates, agreement, and how each annotator rates; `analysis="calmqa"` has the formulas of that paper.

    The run is in the folder `out`; without it, in one named after the file.
    """
    try:
        from threadpoolctl import threadpool_limits  # it comes with scikit-learn
    except ImportError:
        alone: AbstractContextManager[object] = nullcontext()
    else:
        # The matrices are small: threads would wait for each other, many times as long on a busy machine.
        alone = threadpool_limits(1)
    with alone, interruptible():  # nothing here awaits anything
        return write_study(settings)


def write_study(settings: RateSettings) -> RateRun:
    """Read the ratings, analyse them and write the run."""
    ratings, scale, codes, out = settings.ratings, settings.scale, settings.codes, settings.out
    schema = read_schema(codes) if codes else None
    if isinstance(ratings, Path | str):
        name = Path(ratings).name
        file = open_ratings(
            ratings,
            columns=settings.columns,
            languages=settings.languages,
            aliases=settings.aliases,
            scale=scale,
            wide=settings.wide,
            split=settings.split,
        )
        if file.report and not file.report.is_plain:
            settings.progress.note(str(file.report))
    else:
        name, file = "ratings", RatingFile(list(ratings), (), {})
    if settings.participants:
        file, note = keep_participants(file, settings.participants)
        settings.progress.note(note)
    by = find_fields(file.ratings, settings.by)
    lines = b"".join(map(json_line, file.ratings))
    plain = lines  # other columns change no figure
    if any(rating.metadata for rating in file.ratings):
        plain = b"".join(json_line(rating.model_copy(update={"metadata": {}})) for rating in file.ratings)
    data = f"{sha256(plain[:-1]).hexdigest()[:12]}.{len(file.ratings)}"
    bounds = "auto" if scale is None else f"{scale[0]:g}-{scale[1]:g}"
    coded = sha256(repr(schema).encode()).hexdigest()[:8] if schema else "none"
    task = "rate.1" if settings.analysis == "calmqa" else "rate.2"
    signature = sign({"task": task, "data": data, "scale": bounds, "codes": coded})
    plan = Plan(
        kind="rate",
        name=name,
        signature=signature,
        settings={"scale": bounds, "codes": str(codes) if codes else None}
        | ({"as": settings.analysis} if settings.analysis != "calmqa" else {}),
    )
    folder = Path(out) if out else Path(f"{Path(name).stem}.rate")
    with start_run(folder, plan, numbered=out is None) as run:
        study = analyse(file, source=name, scale=scale, schema=schema, analysis=settings.analysis, by=by)
        with JsonlWriter(run.path / RATINGS) as writer:
            writer.add(lines)
        write_text(run.path / RESULT, study.model_dump_json(indent=1) + "\n")
        failures = {"unrated": study.unrated} if study.unrated else {}
        run.finish(files={RATINGS: "Rating", RESULT: "Study"}, failures=failures, headline=study.headline)
    return RateRun(run.path, run.manifest)
