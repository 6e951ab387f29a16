"""Files in and out: texts become `Sample`s, records become JSON Lines; every error says `file:line: what; fix`."""

from mores.io.records import read_records
from mores.io.samples import Checked, check_samples, read_samples
from mores.io.source import FORMATS, spool_stdin
from mores.io.write import JsonlWriter, write_text

__all__ = [
    "FORMATS",
    "Checked",
    "JsonlWriter",
    "check_samples",
    "read_records",
    "read_samples",
    "spool_stdin",
    "write_text",
]
