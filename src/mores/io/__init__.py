"""Files in and out: texts become `Sample`s, records become JSON Lines; every error says `file:line: what; fix`."""

from typing import TYPE_CHECKING

from mores.lazy import find_lazily

if TYPE_CHECKING:
    from mores.io.columns import TableReport
    from mores.io.fields import sample_from
    from mores.io.formulas import to_csv
    from mores.io.logs import split_log
    from mores.io.records import read_record, read_records
    from mores.io.samples import CheckedTexts, SampleTable, check_samples, read_samples
    from mores.io.source import FORMATS, real_path, spool
    from mores.io.write import JsonlWriter, file_name, json_line, write_text

_PLACES = {
    "columns": ("TableReport",),
    "fields": ("sample_from",),
    "formulas": ("to_csv",),
    "logs": ("split_log",),
    "records": ("read_record", "read_records"),
    "samples": ("CheckedTexts", "SampleTable", "check_samples", "read_samples"),
    "source": ("FORMATS", "real_path", "spool"),
    "write": ("JsonlWriter", "file_name", "json_line", "write_text"),
}
__getattr__ = find_lazily(__name__, _PLACES)
__all__ = [
    "FORMATS", "CheckedTexts", "JsonlWriter", "SampleTable", "TableReport", "check_samples", "file_name", "json_line",
    "read_record", "read_records", "read_samples", "real_path", "sample_from", "split_log", "spool", "to_csv",
    "write_text",
]  # fmt: skip
