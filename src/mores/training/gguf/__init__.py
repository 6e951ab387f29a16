"""GGUF files, as the embedded engine reads them, to transformers folders and back: `mores train --base embedded`.

`unpack` makes a folder that can be tuned, `export_adapter`, `export_difference` and `export_merged` bring what was
tuned back. Needs the package gguf; what was unpacked does not.
"""

from mores.training.gguf.export import KINDS, export_adapter, export_difference, export_merged
from mores.training.gguf.unpack import unpack

__all__ = ["KINDS", "export_adapter", "export_difference", "export_merged", "unpack"]
