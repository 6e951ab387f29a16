"""Types of settings that take more than they hold: a path may be given as text, and one name instead of several.

For type checkers each is a descriptor: what it sets is what a caller may give, and what it gets is what the record has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:

    class AnyPath:
        """A path."""

        def __get__(self, record: object, owner: Any = None) -> Path: ...
        def __set__(self, record: object, value: Path | str) -> None: ...

    class OptionalPath:
        """A path, or None."""

        def __get__(self, record: object, owner: Any = None) -> Path | None: ...
        def __set__(self, record: object, value: Path | str | None) -> None: ...

    class Paths:
        """Several paths, or one."""

        def __get__(self, record: object, owner: Any = None) -> tuple[Path, ...]: ...
        def __set__(self, record: object, value: Path | str | Iterable[Path | str] | None) -> None: ...

    class Names:
        """Several names, or one."""

        def __get__(self, record: object, owner: Any = None) -> tuple[str, ...]: ...
        def __set__(self, record: object, value: str | Iterable[str] | None) -> None: ...

    class Sizes:
        """Several whole numbers, or one."""

        def __get__(self, record: object, owner: Any = None) -> tuple[int, ...]: ...
        def __set__(self, record: object, value: int | str | Iterable[int | str]) -> None: ...
else:
    AnyPath, OptionalPath, Paths, Names, Sizes = Path, Path | None, Sequence[Path], Sequence[str], Sequence[int]

GIVEN = {
    "AnyPath": "Path | str",
    "OptionalPath": "Path | str | None",
    "Paths": "Path | str | Iterable[Path | str]",
    "Names": "str | Iterable[str]",
    "Sizes": "int | str | Iterable[int | str]",
}
"""What may be given for each, for people."""
