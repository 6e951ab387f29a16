"""Fuzzes one parser with Atheris, which looks for inputs that reach new code: `make atheris PARSER="build recipe"`.

Atheris is not among our dependencies. Where it has no wheel (Linux on ARM) pip builds it, which takes some minutes and
needs clang with its runtime library, on Debian `apt-get install clang libclang-rt-14-dev`:

    CLANG_BIN=$(which clang) .venv/bin/pip install atheris

Further arguments go to libFuzzer, for example `-max_total_time=600`. An input that breaks the parser is written to a
file `crash-…`; with that file as the argument the harness tries it alone.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import atheris

with atheris.instrument_imports(include=["mores"]):
    from mores.errors import MoresError
    from tests.fuzz.damage import Edit, damage, form_of
    from tests.fuzz.parsers import PARSERS
    from tests.fuzz.test_fuzz import parse


def main() -> None:
    # An input is at most four edits, and short ones are no better: libFuzzer would begin with single bytes.
    name, arguments = sys.argv[1], [sys.argv[0], "-len_control=0", "-max_len=40", *sys.argv[2:]]
    parser = PARSERS[name]
    with TemporaryDirectory() as made:
        folder = Path(made)
        for file, data in parser.files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(data)

        def try_one(data: bytes) -> None:
            numbers = atheris.FuzzedDataProvider(data)
            file = list(parser.files)[numbers.ConsumeIntInRange(0, len(parser.files) - 1)]
            edits = [
                Edit(*(numbers.ConsumeIntInRange(0, 2**20) for _ in Edit._fields))
                for _ in range(numbers.ConsumeIntInRange(1, 4))
            ]
            (folder / file).write_bytes(damage(parser.files[file], form_of(file), edits))
            with suppress(MoresError):
                parse(parser, folder)
            (folder / file).write_bytes(parser.files[file])

        atheris.Setup(arguments, try_one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
