"""Files of judgements together with the texts that they judge."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mores.errors import InputError
from mores.io import read_records, read_samples, spool
from mores.types import Judgement, Sample


def read_judged(
    judgements: Path | str, texts: Path | str | None = None, format_: str | None = None
) -> Iterator[tuple[Sample, Judgement]]:
    """Yield each text with its judgement; the file of `texts` is needed where the judgements do not repeat them.

    InputError where a text has no judgement, has two, or has changed since.
    """
    if texts is not None:
        with spool(str(texts)) as path:
            yield from _matched(judgements, path, format_)
        return
    for judgement in read_records(judgements, Judgement):
        if judgement.sample is None:
            fix = f"give its texts too: mores show TEXTS {judgements}"
            raise InputError(f"{judgements}: the judgement of {judgement.sample_id!r} does not hold its text; {fix}")
        yield judgement.sample, judgement.repeat(None)


def _matched(judgements: Path | str, texts: Path, format_: str | None) -> Iterator[tuple[Sample, Judgement]]:
    by_id: dict[str, Judgement] = {}
    for judgement in read_records(judgements, Judgement):
        if by_id.setdefault(judgement.sample_id, judgement) is not judgement:
            raise InputError(f"{judgements}: {judgement.sample_id!r} is judged twice; give one judgement for each text")
    dialogue = any(judgement.turns for judgement in by_id.values())
    for sample in read_samples(texts, format=format_, dialogue=dialogue):
        if sample.id not in by_id:
            raise InputError(f"{judgements}: there is no judgement of {sample.id!r}; is it the file for these texts?")
        judgement = by_id.pop(sample.id)
        if judgement.text not in (None, sample.text):
            raise InputError(f"{judgements}: {sample.id!r} was another text when it was judged; judge it again")
        yield sample, judgement.repeat(None)
    if by_id:
        raise InputError(f"{judgements}: {len(by_id)} judgements are of other texts, such as {next(iter(by_id))!r}")
