"""Templates that turn items of every source into instructions and outputs (ExCAM, Section 3, Data Formatting).

The templates are text files; `templates/README.md` explains how to write them, where they are found and when a line is
used. `Wrapper(seed=7).wrap(item, answer)` gives an instruction and an output.
"""

from mores.factory.wrap.templates import BUILT_IN, CONDITIONAL, KINDS, LINES, Templates, needed_files, parse
from mores.factory.wrap.wrapper import Wrapped, Wrapper, letter

__all__ = [
    "BUILT_IN",
    "CONDITIONAL",
    "KINDS",
    "LINES",
    "Templates",
    "Wrapped",
    "Wrapper",
    "letter",
    "needed_files",
    "parse",
]
