"""Turns items of every source into instruction and output texts through templates (ExCAM, Section 3, Data Formatting).

The templates are text files that people edit; `templates/README.md` says how they are written, where they are
looked for and when a line is used. `Wrapper(seed=7).wrap(item, answer)` gives an instruction and an output.
"""

from mores.factory.wrap.template import CONDITIONAL, KINDS, LINES, parse
from mores.factory.wrap.templates import BUILT_IN, Templates, needs
from mores.factory.wrap.wrapper import Wrapped, Wrapper, letter

__all__ = ["BUILT_IN", "CONDITIONAL", "KINDS", "LINES", "Templates", "Wrapped", "Wrapper", "letter", "needs", "parse"]
