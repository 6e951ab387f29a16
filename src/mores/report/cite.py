"""Citations that a run needs, as BibTeX and as a sentence: the software, models, papers of methods, and data sets.

`papers.toml` has every paper once. The run says which it used: its kind, its benchmark, the sources of its data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from mores.benchmark import benchmark
from mores.benchmark.benchmark import Benchmark
from mores.benchmark.msqa.judge import ShortAnswerJudge
from mores.errors import MoresError
from mores.factory.folder import BuildRun
from mores.io.values import read_packaged_toml
from mores.metaevaluation.folder import MetaRun
from mores.run import Run
from mores.training.folder import TrainRun
from mores.types import Record

METHODS = {
    "score": "excam",
    "audit": "excam",
    "meta": "excam",
    "build": "excam",
    "train": "excam",
    "juice": "juice",
    "longform": "calmqa",
    "collect": "calmqa",
    "rate": "calmqa",
    "diagnose": "msqa",
}
"""The paper whose method a kind of run follows."""
DONE = {
    "score": "find cultural errors in texts",
    "audit": "test how far a judge can be trusted",
    "judge-check": "test how far a judge can be trusted",
    "bench": "measure how well a model knows cultures",
    "topics": "sort questions by topic",
    "diagnose": "analyse why a model fails",
    "meta": "measure how well metrics find cultural errors",
    "juice": "measure how well judges find cultural errors",
    "people": "measure how well judges agree with people",
    "longform": "judge long answers",
    "collect": "filter and label questions",
    "build": "make texts with known cultural errors",
    "train": "tune a metric",
    "rate": "analyse people's ratings",
}
"""What each kind of run does, in words of a paper."""
SIGNS = {
    "smollm2": "SmolLM2",
    "qwen_coder": "Qwen2.5-Coder",
    "llamacpp": "/xllamacpp-",
    "transformers": "/transformers-",
    "vllm": "/vllm-",
}
"""Models and the programs that run them, by what they put into a run's signature."""
_SPECIAL = str.maketrans({sign: f"\\{sign}" for sign in "&%$#_"})


class Reference(Record):
    """Something that is cited."""

    key: str
    name: str
    """As the text calls it."""
    author: str = ""
    """In BibTeX's form."""
    title: str
    year: int | None = None
    arxiv: str = ""
    url: str = ""
    note: str = ""

    @property
    def short(self) -> str:
        """Authors and year, for a text: `Chiu et al., 2025`; the year is missing where nobody knows it."""
        authors = [author.partition(",")[0].strip("{}") for author in self.author.split(" and ")]
        several = f"{authors[0]} et al." if len(authors) > 2 or "others" in authors else " and ".join(authors)
        return ", ".join(filter(None, (several, str(self.year or ""))))

    @property
    def bibtex(self) -> str:
        """Its entry."""
        fields = {
            "author": self.author,
            "title": f"{{{self.title.translate(_SPECIAL)}}}",
            "year": str(self.year or ""),
            "eprint": self.arxiv,
            "archiveprefix": "arXiv" if self.arxiv else "",
            "url": self.url or (f"https://arxiv.org/abs/{self.arxiv}" if self.arxiv else ""),
            "note": self.note.translate(_SPECIAL),
        }
        lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
        return f"@misc{{{self.key},\n{lines}}}"


class Citation(Record):
    """The works that some runs must cite."""

    sentence: str
    references: tuple[Reference, ...]

    @property
    def bibtex(self) -> str:
        """All entries."""
        return "\n\n".join(reference.bibtex for reference in self.references)


def cite_runs(runs: Sequence[Run]) -> Citation:
    """Return the papers, data sets and software that some runs used."""
    sentences, references = [], dict[str, Reference]()
    for run in runs:
        version = run.signature.get("mores", "")
        software = _paper("mores").model_copy(update={"note": f"Version {version}" if version else ""})
        methods, data = list(_methods(run)), list(_data(run))
        written = " ".join(run.signature.values()).casefold()
        models = [_paper(name) for name, sign in SIGNS.items() if sign.casefold() in written]
        references |= {each.key: each for each in (software, *models, *methods, *data)}
        what = DONE.get(run.kind, f"run {run.kind}")
        model = f" with {run.manifest.model}" if run.manifest.model else ""
        model += f", which uses {_list(models)}" if models and model else ""
        follows = f", following {_list(methods)}" if methods else ""
        of = f"; the data are {_list(data)}" if data else ""
        used = f"Mores {version}".strip()
        sentences.append(f"We used {used} ({software.short}) to {what}{model}{follows}{of}.")
    return Citation(sentence=" ".join(dict.fromkeys(sentences)), references=tuple(references.values()))


def _methods(run: Run) -> Iterator[Reference]:
    """Yield the papers whose methods a run follows."""
    judging, benchmarks = run.kind in ("bench", "judge-check"), list(_benchmarks(run))
    is_judged = judging and any(isinstance(each.judging, ShortAnswerJudge) for each in benchmarks)
    is_long = judging and any(each.long_answer for each in benchmarks)
    facts = (run.kind == "longform" or is_long) and run.signature.get("facts", "none") != "none"
    names = (METHODS.get(run.kind), "msqa" if is_judged else None, "calmqa" if is_long else None)
    yield from map(_paper, dict.fromkeys(filter(None, (*names, "veriscore" if facts else None))))


def _data(run: Run) -> Iterator[Reference]:
    """Yield the data sets that a run used; of those without a paper, what they say of themselves."""
    names: Iterable[str] = ()
    if isinstance(run, BuildRun):
        names = [source["name"] for source in run.about["sources"]]
    elif isinstance(run, TrainRun):
        names = run.result.sources
    elif isinstance(run, MetaRun):
        names = run.result.counts.get("source", {})
    for name in names:
        if name in read_packaged_toml("mores.report", "papers.toml"):
            yield _paper(name)
    if run.manifest.settings.get("benchmark") and not list(_benchmarks(run)):  # it is elsewhere now
        yield Reference(key=run.manifest.name, name=run.manifest.name, title=run.manifest.name)
    for each in _benchmarks(run):
        if each.source in read_packaged_toml("mores.report", "papers.toml") and not each.file:
            yield _paper(each.source)
        else:
            licence = f"Licence: {each.licence}" if each.licence else ""
            yield Reference(key=each.name, name=each.name, title=each.title, url=each.homepage, note=licence)


def _benchmarks(run: Run) -> Iterator[Benchmark]:
    """Yield the benchmarks of a run, those that can still be loaded."""
    names = [str(run.manifest.settings.get("benchmark") or "")]
    if run.kind == "diagnose":  # its name is that of the diagnosis and of its benchmarks: `errors of msqa, normad`
        names = re.findall(r"[\w.-]+", run.manifest.name.partition(" of ")[2])
    for name in filter(None, names):
        try:
            yield benchmark(name)
        except MoresError:
            continue


def paper_of(benchmark: Benchmark) -> str:
    """Return the paper of a benchmark in one line; its homepage where it has none."""
    if benchmark.file or benchmark.source not in read_packaged_toml("mores.report", "papers.toml"):
        return benchmark.homepage
    paper = _paper(benchmark.source)
    return ". ".join(filter(None, (paper.short, paper.title, f"arXiv:{paper.arxiv}" if paper.arxiv else paper.url)))


def _paper(name: str) -> Reference:
    return Reference(key=name, **read_packaged_toml("mores.report", "papers.toml")[name])


def _list(references: Iterable[Reference]) -> str:
    """Return `A (Chen et al., 2026), B (…) and C (…)`."""
    unique = {each.key: each for each in references}.values()
    shown = [f"{each.name} ({each.short})" if each.short else each.name for each in unique]
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
