"""Words of people in a prompt: between marks that they cannot contain, so that no model takes them for an instruction.

fence = Fence(question, answer)
fill(template, question=fence.around(question), answer=fence.around(answer))
"""

from __future__ import annotations

from mores.metric.prompt import defuse, fence_mark
from mores.types import Sample


class Fence:
    """Marks that occur in none of some texts; the same texts have the same marks."""

    def __init__(self, *texts: str) -> None:
        self.mark = fence_mark(Sample(id="", instruction="", text="\n".join(texts)))

    def around(self, text: str, space: str = "\n") -> str:
        """Return a text between the marks, without what a chat template would take for its own tokens."""
        return f"<<<{self.mark}{space}{defuse(text)}{space}{self.mark}>>>"
