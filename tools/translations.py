"""Brings the studio's translations up to date: `python tools/translations.py` after a text has changed.

Texts stand in the templates as `_("…")`, and in Python as the labels of fields, the titles of stages and tasks, the
reasons of refusals and decisions, the lines of the audit log, the names of figures, the settings of campaigns with
their documentation, and phrases. Each language has one file in `src/mores/studio/web/locales`; new texts are added to
it without a translation, and texts that are gone are dropped. `--check` only says what is missing (exit 1).
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po
from jinja2.ext import babel_extract

from mores.metaevaluation.juice.data import THICK, THIN
from mores.studio.campaigns import KINDS, open_kind
from mores.studio.campaigns.culturall.forms import paper_topics
from mores.studio.campaigns.marking.forms import MQM
from mores.studio.campaigns.msqa.checks import State
from mores.studio.kind import GROUPS, STEPS, CampaignKind
from mores.studio.phrase import Phrase
from mores.studio.records import ItemStatus, Role
from mores.studio.setup import settings_form

STUDIO = Path(__file__).parents[1] / "src" / "mores" / "studio"
LOCALES = STUDIO / "web" / "locales"
LANGUAGES = ("ar", "es", "hi", "sw", "zh")
FILES = {"checks.py", "forms.py"}
"""Files of which people read every text."""
SAYING = {
    "StageDecision",
    "FormField",
    "CampaignStage",
    "ModelTask",
    "SearchTask",
    "CampaignKind",
    "Refused",
    "Phrase",
    "InputError",
    "FormError",
    "HTTPException",
    "Format",
    "SettingsError",
    "Unknown",
    "Withdraw",
    "_draft_task",
}
"""Calls whose texts people read."""
RECORDING = {"log_action", "record"}
"""Calls that write a line of the audit log: what was done is one of the first three arguments."""
TABLES = {"DECIDED", "PROBLEMS", "WORDS", "template"}
"""Names of tables of such texts, and of a phrase's sentence."""
WORDS = [member.value for kind in (Role, ItemStatus, State) for member in kind]
WORDS += [
    "The model cannot be asked this.",
    "The model cannot be asked.",
    "The model did not answer.",
    "The model's answer cannot be used.",
    "The search failed.",
]  # what an Ask excuses
WORDS += [topic.name for topic in paper_topics()]
WORDS += [*THICK, *THIN, *MQM]
WORDS += ["Cohen's κ", "Fleiss' κ", "yes", "no"]
WORDS += [*STEPS, *GROUPS]
WORDS += ["Another panel", "working", "finished", "returned", "timed out"]  # places of a panel
WORDS += ["slow", "very fast", "unlike the others", "fails attention checks"]
NOT_KEPT = tuple(
    f'"{name}:'
    for name in (
        "POT-Creation-Date",
        "PO-Revision-Date",
        "Report-Msgid-Bugs-To",
        "Last-Translator",
        "Language-Team",
        "Generated-By",
    )
)
"""What Babel writes at the top of a file that says nothing here."""
_VALUE = re.compile(r"%\(\w+\)s|\{\w+\}")
NOTE = "Machine-made. Corrections by native speakers are welcome."


@cache
def texts() -> list[str]:
    """Every text that people read, in the order of the files."""
    seen: dict[str, None] = {}
    for path in sorted(STUDIO.rglob("*.html")):
        with path.open("rb") as file:
            for _line, _function, message, _comments in babel_extract(file, ("_",), [], {}):
                text = message[0] if isinstance(message, tuple) else message  # with values they follow the text
                if text:  # otherwise it is a variable, whose texts stand in Python
                    seen.setdefault(text)
    for path in sorted(STUDIO.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        seen |= dict.fromkeys(filter(is_text, constants(tree)) if path.name in FILES else said(tree))
    seen |= dict.fromkeys(text for name in KINDS for text in of_settings(open_kind(name)))
    return [text for text in seen | dict.fromkeys(WORDS) if text]


def of_settings(kind: CampaignKind[Any]) -> Iterator[str]:
    """The labels of a kind's settings, what their documentation says, and the values to choose from."""
    for field in settings_form(kind).fields:
        yield field.label
        yield from sentences(field.help)
        yield from (label for _, label in field.options)


def sentences(text: str) -> Iterator[str]:
    """A text, or those that a phrase is made of."""
    if not isinstance(text, Phrase):
        yield text
        return
    if is_text(text.template):
        yield text.template
    for value in text.values.values():
        if isinstance(value, Phrase):
            yield from sentences(value)


def said(tree: ast.AST) -> Iterator[str]:
    """The texts in Python that people read."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name), args=arguments) if name in RECORDING:
                yield from (text for argument in arguments[:3] for text in constants(argument) if text.strip(" ,"))
                continue
            case ast.Call(func=ast.Name(id=name)):
                read = name in SAYING
            case ast.FunctionDef(name=name):
                read = name.lstrip("_").startswith(("may", "check")) or name in ("agreement", "summarise")
            case ast.Assign(targets=[ast.Name(id=name)]):
                read = name in TABLES
            case _:
                read = False
        if read:
            yield from filter(is_text, constants(node))


def constants(node: ast.AST) -> Iterator[str]:
    """The string constants in a piece of code, without docstrings and parts of f-strings."""
    inside = {part for joined in ast.walk(node) if isinstance(joined, ast.JoinedStr) for part in ast.walk(joined)}
    docs = {inner.value for inner in ast.walk(node) if isinstance(inner, ast.Expr)}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and inner not in inside | docs:
            yield inner.value


def is_text(value: str) -> bool:
    """Whether a constant is a sentence or a title, not a name, and says something besides its values."""
    said = _VALUE.sub("", value)
    return bool(re.search(r"[^\W\d_]{2}", said)) and (value[0].isupper() or " " in value) and not value.isupper()


def update(language: str) -> list[str]:
    """Bring one language up to date; the texts without a translation."""
    path = LOCALES / f"{language}.po"
    known: dict[str, str] = {}
    if path.exists():
        with path.open("rb") as file:
            known = {str(message.id): str(message.string) for message in read_po(file, locale=language) if message.id}
    catalog = Catalog(locale=language, project="Mores", version="studio", header_comment=f"# {NOTE}", fuzzy=False)
    for text in texts():
        catalog.add(text, known.get(text, ""))
    buffer = BytesIO()
    write_po(buffer, catalog, width=0, omit_header=False, sort_output=True)
    lines = buffer.getvalue().decode().splitlines(keepends=True)
    kept = "".join(line for line in lines if not line.startswith(NOT_KEPT))
    if "--check" not in sys.argv:
        LOCALES.mkdir(exist_ok=True)
        path.write_text(kept, "utf-8")
    return [text for text in texts() if not known.get(text)]


if __name__ == "__main__":
    missing = {language: update(language) for language in LANGUAGES}
    for language, absent in missing.items():
        print(f"{language}: {len(absent)} of {len(texts())} texts have no translation")
    sys.exit(1 if "--check" in sys.argv and any(missing.values()) else 0)
