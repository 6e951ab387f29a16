"""Figures of counts by kind. They are declared without numpy, which is imported when one is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mores.stats.classification import Floats
    from mores.stats.intervals import Interval, Moments


@dataclass(frozen=True)
class Ratio:
    """A figure of counts by kind: Σ above · count / Σ below · count, where no kind has more above than below."""

    above: tuple[float, ...]
    below: tuple[float, ...]

    def value(self, counts: Floats) -> Floats:
        """Return the ratios of kinds × columns, column by column; nan where one is not defined."""
        import numpy as np

        from mores.stats.classification import ratios

        return ratios(np.asarray(self.above) @ counts, np.asarray(self.below) @ counts)

    def interval(self, units: Floats) -> Interval:
        """Return the interval for units × kinds."""
        from mores.stats.intervals import limits_of

        moments = self.moments(units)
        return limits_of(*moments) if moments else (0.0, 1.0)

    def moments(self, units: Floats) -> Moments | None:
        """Return the moments for units × kinds; an answer that counts at all could count as much as any."""
        import numpy as np

        from mores.stats.intervals import checked_moments

        below = np.asarray(self.below)
        return checked_moments(units @ np.asarray(self.above), units @ below, units @ (below > 0) * below.max())
