"""Conversion of GGUF files, as the embedded engine reads them, to transformers folders and back.

`unpack` makes a folder that can be tuned (`mores train --base embedded`); `export_adapter`, `export_difference` and
`export_merged` convert the tuned model. They need the package gguf.
"""

from mores.training.gguf.export import KINDS, export_adapter, export_difference, export_merged
from mores.training.gguf.unpack import unpack

__all__ = ["KINDS", "export_adapter", "export_difference", "export_merged", "unpack"]
