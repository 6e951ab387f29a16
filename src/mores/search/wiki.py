"""Articles of a Wikipedia dump (`pages-articles.xml`, packed with bzip2 or not) as plain text, one at a time."""

from __future__ import annotations

import bz2
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

from mores.culture import language
from mores.errors import InputError
from mores.io.source import why_unreadable
from mores.search.passages import Passage

LICENCE = "CC-BY-SA-4.0"
_BRACES = re.compile(r"\{\{|\}\}|\{\||\|\}")
_LINKS = re.compile(r"\[\[|\]\]")
_GONE = re.compile(
    r"<!--.*?-->|<ref\b[^<>]*/>|<(ref|math|gallery|timeline|score|imagemap|nowiki|syntaxhighlight|source|table)\b[^<>]*>"
    r".*?</\1\s*>",
    re.DOTALL | re.IGNORECASE,
)
_TAG = re.compile(r"<(/?)(\w+)[^<>]*>")
_OUTSIDE = re.compile(r"\[(?:https?:)?//\S+ ?([^\]]*)\]")
_EMPHASIS = re.compile(r"'{2,5}")
_HEADING = re.compile(r"^=+ *(.*?) *=+ *$", re.MULTILINE)
_LIST = re.compile(r"^[*#:;]+ *", re.MULTILINE)
_MAGIC = re.compile(r"__[A-Z]+__")
_TRAILING = re.compile(r"[^\S\n]+$", re.MULTILINE)
_BLANKS = re.compile(r"\n\s*\n\s*")
_ASIDE = re.compile(r" *\(\s*[;,\s]*\)")
"""What a removed pronunciation leaves."""
_APPENDIX = re.compile(
    r"^== *(?:references|notes|sources|bibliography|further reading|external links|see also|einzelnachweise|weblinks"
    r"|literatur|referencias|enlaces externos|notes et références|voir aussi|liens externes|примечания|ссылки"
    r"|литература|脚注|外部リンク|参考资料|外部链接|각주) *== *$",
    re.MULTILINE | re.IGNORECASE,
)
"""The heading after which articles have only lists, in some large languages."""
_REDIRECT = re.compile(r"\s*#\w+[^\S\n]*:?\s*\[\[", re.IGNORECASE)


def is_dump(path: Path) -> bool:
    """Return whether a file is a dump, by its name."""
    name = path.name.lower()
    return name.endswith((".xml", ".xml.bz2")) or (name.endswith(".bz2") and ".xml" in name)


def read_dump(path: Path) -> Iterator[Passage]:
    """Yield each article as one passage, with its address; talk, help and other pages, and redirects, are left out."""
    base, spoken, licence, number = "", "", "", 0
    try:
        with bz2.open(path) if path.suffix.lower() == ".bz2" else path.open("rb") as file:
            root: ElementTree.Element | None = None
            for event, element in ElementTree.iterparse(file, ("start", "end")):
                tag = element.tag.rpartition("}")[2]
                if root is None:
                    root = element
                    spoken = element.get("{http://www.w3.org/XML/1998/namespace}lang") or ""
                    spoken = language(spoken) if spoken else ""
                if event == "start":
                    continue
                if tag == "base":
                    base = (element.text or "").rpartition("/")[0]
                    licence = LICENCE if re.search(r"\bwiki\w+\.org/", base) else ""
                elif tag == "page":
                    number += 1
                    title, space, text = (element.findtext(f".//{{*}}{name}") or "" for name in ("title", "ns", "text"))
                    if space.strip() in ("", "0") and not _REDIRECT.match(text):
                        address = f"{base}/{quote(title.replace(' ', '_'))}" if base else ""
                        yield Passage(plain_text(text), number, title, address, "", spoken, "", licence)
                    root.clear()  # or all articles would stay in memory
    except (ElementTree.ParseError, EOFError) as error:
        raise InputError(f"{path}: damaged after page {number:,} ({error}); get the dump again") from error
    except OSError as error:
        raise InputError(f"{path}: {why_unreadable(error)}") from error


def plain_text(wikitext: str) -> str:
    """Return the prose of an article: without templates, tables, references, pictures and categories."""
    prose = _APPENDIX.split(wikitext, maxsplit=1)[0]
    text = _GONE.sub("", prose.replace("&nbsp;", " "))
    text = _without(_BRACES, text, "{")
    text = _links(_TAG.sub(lambda tag: "\n" if tag[2].lower() in ("br", "p", "div", "li") else "", text))
    text = _EMPHASIS.sub("", _OUTSIDE.sub(r"\1", text))
    text = _MAGIC.sub("", _LIST.sub("", _HEADING.sub(r"\n\1\n", unescape(text))))
    return _BLANKS.sub("\n\n", _TRAILING.sub("", _ASIDE.sub("", text))).strip()


def _without(marks: re.Pattern[str], text: str, opening: str) -> str:
    """Return a text without what is between marks, however deep; a mark that nothing closes ends with its paragraph."""
    kept, depth, start = [], 0, 0
    for mark in marks.finditer(text):
        if mark[0].startswith(opening):
            if not depth:
                kept.append(text[start : mark.start()])
                start = mark.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                start = mark.end()
    rest = text[start:]
    return "".join([*kept, rest.partition("\n\n")[2] if depth else rest])


def _links(text: str) -> str:
    """Return a text with the words of links; pictures, categories and links to other languages are left out."""
    stack: list[list[str]] = [[]]
    place = 0
    for mark in _LINKS.finditer(text):
        stack[-1].append(text[place : mark.start()])
        place = mark.end()
        if mark[0] == "[[":
            stack.append([])
        elif len(stack) > 1:
            target, _, shown = "".join(stack.pop()).partition("|")
            name, colon, _ = target.partition(":")
            if not colon or " " in name.strip() or target.startswith(":"):
                stack[-1].append(shown.rpartition("|")[2] or target.lstrip(":"))
    stack[-1].append(text[place:])
    return "".join(part for level in stack for part in level)
