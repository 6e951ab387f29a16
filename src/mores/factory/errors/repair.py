"""Answers with a soft error that are not quite the JSON that Table 7 asks for, and can still be read without a guess.

Repaired are: words after the JSON, or no `OUTPUT:` before it; line breaks and quotation marks in a string that are not
escaped; names of fields in another case; fields that nobody asked for; a side that the model left out or only calls
unchanged, which is then the original; and a label, such as `Generated Text:`, before a side.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mores.models.written import no_duplicates
from mores.types import Sample, Side

NOT_NEEDED = ("Rule Adherence", "Severity")
"""Fields that may be missing: nothing is made of the first, and the severity that was asked for stands in."""
SIDES: Mapping[str, Side] = {"Modified Instruction": "instruction", "Modified Generated Text": "text"}
_UNCHANGED = re.compile(
    r"\W*(?:n/?a|none|same|unchanged|no changes?|not (?:modified|changed)|same as (?:the )?original)?\W*"
)
_LABEL = re.compile(r"\s*(?:Modified )?(?:Instruction|Generated Text):\s*", re.IGNORECASE)
_QUOTES = "\"“”'"


def find_fields(text: str, names: Sequence[str], original: Sample) -> dict[str, Any] | None:
    """Return the fields of the JSON in an answer by their names, with the original's sides where they are left out."""
    wanted = {_folded(name): name for name in names}
    last = max(text.rfind("OUTPUT:"), 0)
    body = text[text.find("{", last) :] if "{" in text[last:] else ""
    try:
        value = json.JSONDecoder(strict=False, object_pairs_hook=no_duplicates).raw_decode(body)[0]
    except (ValueError, RecursionError):
        value = _between_names(body, names)
    if not isinstance(value, dict):
        return None
    fields = {wanted[_folded(name)]: part for name, part in value.items() if _folded(name) in wanted}
    fields = {name: "; ".join(map(str, part)) if isinstance(part, list) else part for name, part in fields.items()}
    try:
        json.dumps(fields, ensure_ascii=False).encode()
    except (ValueError, RecursionError):  # a lone surrogate could never be written again
        return None
    if not any(fields.get(name) for name in SIDES):
        return None
    for name, side in SIDES.items():
        changed = fields.get(name) or ""
        if isinstance(changed, str):
            label = _LABEL.match(changed)
            changed = changed[label.end() :] if label and not _LABEL.match(original.side(side)) else changed
            fields[name] = original.side(side) if _UNCHANGED.fullmatch(changed.casefold()) else changed
    return dict.fromkeys(NOT_NEEDED, "") | fields


def _folded(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()


def _between_names(body: str, names: Sequence[str]) -> dict[str, str] | None:
    """Return what stands between the names of the fields of invalid JSON; None where a name is there twice."""
    name = "|".join(re.escape(each).replace(r"\ ", r"[\s_]") for each in names)
    marks = list(re.finditer(rf"[{{,]\s*[{_QUOTES}]({name})[{_QUOTES}]\s*:\s*", body, re.IGNORECASE))
    end = body.rfind("}")
    fields: dict[str, str] = {}
    for mark, following in zip(marks, [*(mark.start() for mark in marks[1:]), end], strict=bool(marks)):
        raw = body[mark.end() : following].strip()
        if mark[1] in fields or len(raw) < 2 or raw[0] not in _QUOTES or raw[-1] not in _QUOTES:
            return None
        escaped = re.sub(r'(?<!\\)((?:\\\\)*)"', r"\1\\" + '"', raw[1:-1])
        try:
            fields[mark[1]] = json.loads(f'"{escaped}"', strict=False)
        except ValueError:
            return None
    return fields or None
