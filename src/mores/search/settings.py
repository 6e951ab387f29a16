"""The settings of a corpus: what it is made from, and which texts are kept."""

from __future__ import annotations

from mores.engine.settings import ProgressSettings
from mores.settings import setting
from mores.settings.values import AnyPath, Names


class CorpusSettings(ProgressSettings, table="corpus"):
    """The sources of a corpus, and the texts that are kept."""

    inputs: Names = setting(
        kw_only=False,
        metavar="INPUT...",
        help="Wikipedia dumps, tables, texts, PDFs, folders of these, addresses of web pages, or a file with one "
        "address in each line.",
    )
    out: AnyPath = setting(kw_only=False, place="new file", option="--out", help="The .corpus file to write.")
    about: Names = setting(
        default=(), metavar="WORD", help="Keep texts that have one of these words in their title or beginning."
    )
    region: Names = setting(
        default=(), metavar="REGION", help="Keep texts that name one of these countries in their title or beginning."
    )
    language: Names = setting(default=(), metavar="LANGUAGE", help="Keep texts in one of these languages.")
    licence: str | None = setting(
        default=None, help="What the texts may be used for, where they do not say so, for example CC-BY-4.0."
    )
    limit: int | None = setting(default=None, at_least=1, help="Maximum passages.")
    vectors: bool = setting(
        default=False, help="Also compare meanings beforehand, so that fused searches begin at once (the extra dense)."
    )
