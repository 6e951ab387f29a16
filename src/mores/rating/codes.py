"""A schema of codes for people's comments, and the codes that people gave.

    facts:
      title: Wrong facts
      keywords: [wrong, "made up", invent*]
      patterns: ["does not (exist|live)"]
    style: Style and tone                     # given by people alone

Keywords are whole words in any case (any part of a text where a script has no spaces), `*` at the end stands for any
ending; patterns are Python's regular expressions in any case. In a file of ratings the column `codes` has what people
gave: `facts; style`, `-` for a comment that fits no code, and nothing where nobody coded it; with several coders
`ann: facts; style | bo: -`, or as JSON {"ann": ["facts", "style"], "bo": []}.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mores.errors import ConfigError, InputError, suggest
from mores.io.values import load_yaml
from mores.types import Record

SOMEBODY = ""
"""The coder where a file names none."""
NO_CODE = ("-", "–", "none")
SCHEMAS = Path(__file__).with_name("schemas")
UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")
"""How the Unicode names of letters begin whose scripts have no spaces between words."""


class Code(Record):
    """A subject that comments may have."""

    title: str = ""
    keywords: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()

    @property
    def automatic(self) -> bool:
        """True if comments are searched for it."""
        return bool(self.keywords or self.patterns)

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        return re.compile("|".join([*map(keyword_pattern, self.keywords), *(f"(?:{p})" for p in self.patterns)]), re.I)

    def fits(self, comment: str) -> bool:
        """Return whether a keyword or a pattern is in the comment."""
        return self.automatic and self._expression.search(unicodedata.normalize("NFC", comment)) is not None


Schema = Mapping[str, Code]


def keyword_pattern(keyword: str) -> str:
    """Return a keyword as a regular expression: a whole word, unless its script has no spaces."""
    word = unicodedata.normalize("NFC", keyword.strip())
    body = word.removesuffix("*")
    before = "" if unspaced(body[0]) else r"(?<!\w)"
    after = "" if word.endswith("*") or unspaced(body[-1]) else r"(?!\w)"
    return before + re.escape(body) + after


def unspaced(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith(UNSPACED)


def schema_names() -> list[str]:
    """Return the names of the schemas that come with Mores."""
    return sorted(path.stem for path in SCHEMAS.glob("*.yaml"))


def read_schema(path: str | Path) -> dict[str, Code]:
    """Return the codes of a YAML file, or of a schema of ours; ConfigError says what is wrong with which code."""
    if str(path) in schema_names():
        path = SCHEMAS / f"{path}.yaml"
    try:
        entries = load_yaml(Path(path).read_bytes(), "meta")
    except OSError as error:
        fix = f"{suggest(str(path), schema_names())}check the path, or name one of {', '.join(schema_names())}"
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); {fix}") from error
    except ValueError as error:
        raise ConfigError(f"{path}: not YAML: {error}") from error
    if not isinstance(entries, dict) or not entries:
        raise ConfigError(f"{path}: no codes; write one for each line, such as `style: Style and tone`")
    return {str(name): read_code(str(path), str(name), entry) for name, entry in entries.items()}


def read_code(path: str, name: str, entry: Any) -> Code:
    """Return one code of a schema."""
    if not name.strip() or any(mark in name for mark in ";,|:") or name.casefold() in NO_CODE:
        raise ConfigError(f"{path}: {name!r} cannot name a code; use a word without ; , | or :")
    fields = {"title": entry} if isinstance(entry, str) else {} if entry is None else entry
    try:
        code = Code.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join([name, *map(str, first["loc"])])
        raise ConfigError(f"{path}: {place}: {first['msg']}; a code has {', '.join(Code.model_fields)}") from error
    for keyword in code.keywords:
        if not keyword.strip().strip("*"):
            raise ConfigError(f"{path}: {name}: an empty keyword; write a word")
    for pattern in code.patterns:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ConfigError(f"{path}: {name}: {pattern!r} is not a regular expression: {error}") from error
    return code


def parse_codes(value: object) -> dict[str, tuple[str, ...]] | None:
    """Return what each coder gave, from a cell; None where nobody coded it."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, str):
        if value.lstrip().startswith(("{", "[")):
            import orjson

            try:
                return parse_codes(orjson.loads(value))
            except orjson.JSONDecodeError as error:
                fix = "expected a list, or one for each coder"
                raise InputError(f"'codes' is not valid JSON ({error.msg}); {fix}") from error
        parts = (part.rpartition(":") for part in value.split("|"))  # `ann: facts; style`
        return {coder.strip() if colon else SOMEBODY: clean_codes(names) for coder, colon, names in parts}
    if isinstance(value, Mapping):
        return {str(coder): clean_codes(codes) for coder, codes in value.items()}
    if isinstance(value, Sequence):
        return {SOMEBODY: clean_codes(value)}
    raise InputError(f"'codes' is {type(value).__name__}; expected names of codes, such as 'facts; style'")


def clean_codes(names: object) -> tuple[str, ...]:
    """Return names of codes in order, each once."""
    if isinstance(names, str):
        names = re.split("[;,]", names)
    if not isinstance(names, Iterable):
        raise InputError(f"codes {names!r}; expected a list of names")
    stripped = [str(name).strip() for name in names]
    return tuple(dict.fromkeys(name for name in stripped if name and name.casefold() not in NO_CODE))


def check_codes(given: Iterable[tuple[str, Mapping[str, tuple[str, ...]] | None]], schema: Schema) -> None:
    """Refuse a code that the schema does not have, with its place; `given` is the place and codes of each row."""
    for place, codings in given:
        for names in (codings or {}).values():
            for name in names:
                if name not in schema:
                    hint = suggest(name, schema)
                    raise InputError(f"{place}: unknown code {name!r}; {hint}the schema has {', '.join(schema)}")
