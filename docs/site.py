"""What the documentation site adds to MkDocs: `make site`. A test builds it.

- README.md is the first page, and a file outside docs/ that a page links to becomes part of the site, under source/.
- A notebook of docs/notebooks is a page with what its cells show.
- A folder in the navigation stands for all its pages.
- A page of docs/ that is missing in the navigation is an error.
"""

from __future__ import annotations

import logging
import posixpath
import re
from pathlib import Path
from runpy import run_path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

DOCS = Path(__file__).parent
ROOT = DOCS.parent
NOTEBOOK = run_path(str(DOCS / "notebook.py"))
_LINK = re.compile(r'(\]\(|src=")(?!https?:|mailto:|#)([^)#"\s]+)')

# `mores.__all__` is made from a dict, which the reader of the code does not follow and need not: pages name modules.
logging.getLogger("mkdocs.plugins.griffe").addFilter(lambda record: "Unsupported item in" not in str(record.msg))


def address(path: Path) -> str:
    """The place of a file of the repository in the site."""
    if path == ROOT / "README.md":
        return "index.md"
    if path.suffix == ".ipynb":
        path = path.with_suffix(".md")
    return path.relative_to(DOCS).as_posix() if path.is_relative_to(DOCS) else f"source/{path.relative_to(ROOT)}"


def on_config(config: MkDocsConfig) -> None:
    """Replace each folder in the navigation by its pages."""
    config.nav = [_expand(entry) for entry in config.nav or []]


def _expand(entry: object) -> object:
    if isinstance(entry, dict):
        return {title: _expand(below) for title, below in entry.items()}
    if isinstance(entry, list):
        return [_expand(below) for below in entry]
    if isinstance(entry, str) and entry.endswith("/"):
        pages = [page.name for page in (DOCS / entry).glob("*.md")]
        return [entry + name for name in sorted(pages, key=lambda name: (name != "index.md", name))]
    return entry


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add README.md, the notebooks, and whatever else pages link to."""
    for path in sorted((DOCS / "notebooks").glob("*.ipynb")):
        content = NOTEBOOK["as_markdown"](NOTEBOOK["read"](path))
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=content))
    waiting = [
        ROOT / "README.md",
        *(Path(file.abs_src_path) for file in files.documentation_pages() if file.abs_src_path),
    ]
    waiting.append(ROOT / "CHANGELOG.md")
    for path in waiting:  # grows meanwhile
        if files.get_file_from_path(address(path)) is None:
            inclusion = InclusionLevel.NOT_IN_NAV
            files.append(File.generated(config, address(path), abs_src_path=str(path), inclusion=inclusion))
        if path.suffix == ".md":
            for _, target in _LINK.findall(path.read_text("utf-8")):
                linked = (path.parent / target).resolve()
                if linked.is_file() and linked.is_relative_to(ROOT) and linked not in waiting:
                    waiting.append(linked)


def on_nav(nav: Navigation, files: Files, config: MkDocsConfig) -> None:  # noqa: ARG001
    """Refuse a page that nobody would find."""
    named = {page.file.src_uri for page in nav.pages}
    for file in files.documentation_pages():
        page = file.src_uri
        if file.inclusion is not InclusionLevel.NOT_IN_NAV and page not in named:
            raise PluginError(f"docs/{page} is not in the navigation: add '{page}' to nav in mkdocs.yml")


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Turn links between files of the repository into links between pages of the site."""
    folder = Path(page.file.abs_src_path or DOCS / page.file.src_uri).parent

    def rewrite(link: re.Match[str]) -> str:
        target = (folder / link[2]).resolve()
        if not (target.is_file() and target.is_relative_to(ROOT)):
            return link[0]
        return link[1] + posixpath.relpath(address(target), posixpath.dirname(page.file.src_uri) or ".")

    return _LINK.sub(rewrite, markdown)
