"""The exceptions of Mores. Each message names the thing, the place and the fix; only the command line prints them.

MoresError
├── InputError      a file, a row or a value that the user gave is wrong
├── ConfigError     an option, a model name or an installation is wrong
├── GateError       a result is worse than a gate allows
├── StoreError      answers cannot be kept (full disk, locked or damaged file)
└── ModelError      the model or its server cannot continue: the run stops, if nothing else works either
    ├── Transient   it may work later: the engine tries again
    └── Rejected    this one request can never work: it becomes a Failure, the run continues
"""

from __future__ import annotations

from collections.abc import Iterable


class MoresError(Exception):
    """Base of everything that Mores raises on purpose.

    `setting` names the one that fixes it, if one does, so that the command line can say which option that is.
    """

    def __init__(self, message: str, *, setting: str = "") -> None:
        super().__init__(message)
        self.setting = setting


class InputError(MoresError):
    """A file, a row or a value that the user gave is wrong."""


class ConfigError(MoresError):
    """An option, a model name or an installation is wrong."""


class GateError(MoresError):
    """A result is worse than a gate allows."""


class StoreError(MoresError):
    """Answers cannot be kept."""


class ModelError(MoresError):
    """The model or its server cannot continue.

    `account` says that an account without credit is the reason, which is never a text's fault.
    """

    def __init__(self, message: str, *, setting: str = "", account: bool = False) -> None:
        super().__init__(message, setting=setting)
        self.account = account


class Transient(ModelError):  # noqa: N818 - reads as what it is: `except Transient`
    """A call that may work later.

    `overload` tells a server that asks for fewer calls (429, 503) from one that merely failed, `down` one that cannot
    be reached; `of_text` says that the text may be the reason (a connection that is reset, an unreadable answer), if
    other texts work; `retry_after` is the wait in seconds that it asked for.
    """

    def __init__(
        self,
        message: str,
        *,
        overload: bool = False,
        down: bool = False,
        of_text: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.overload = overload
        self.down = down
        self.of_text = of_text
        self.retry_after = retry_after


class Rejected(ModelError):  # noqa: N818
    """A request that can never work, for example one that is too long for the model.

    `final` says that a server refused it, which is kept like an answer.
    """

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


def suggest(name: str, known: Iterable[str], cutoff: float = 0.6, *, before: str = "", after: str = "") -> str:
    """Return "did you mean 'NAME'? " with the known name nearest to a misspelt one; empty where none is near.

    `before` and `after` are what the user writes around the name.
    """
    near = nearest(name, known, cutoff)
    return f"did you mean {before + near + after!r}? " if near else ""


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the known name that is spelt most like another, whatever their case; None where none is near."""
    from difflib import get_close_matches  # only needed where something is wrong

    names = {word.casefold().strip(): word for word in known}
    near = get_close_matches(name.casefold(), names, n=1, cutoff=cutoff)
    return names[near[0]] if near else None
