"""The public function `mores.score`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

from mores.engine import AskOptions
from mores.metric.metric import SampleLike, Settings, open_metric
from mores.models import Model
from mores.types import Judgement


async def score(
    samples: Iterable[SampleLike],
    model: str | Model = "embedded",
    settings: Settings | None = None,
    **options: Unpack[AskOptions],
) -> list[Judgement]:
    """The cultural errors of every text, with a score; texts come as `Sample`s, strings, pairs or mappings."""
    metric = open_metric(model, settings, **options)
    return [judgement async for _, judgement in metric.stream(samples)]
