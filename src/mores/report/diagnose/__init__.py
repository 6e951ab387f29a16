"""Why a model fails (`mores diagnose`): every analysis that was made, under "the model's cultural health"."""

from mores.diagnose.folder import DiagnoseRun
from mores.report.base.blocks import Section
from mores.report.base.grid import Grid
from mores.report.base.links import link_runs
from mores.report.diagnose.html import page, sections
from mores.report.diagnose.table import grids, tables

__all__ = ["grids", "page", "run_page", "run_sections", "run_tables", "sections", "tables"]


def run_tables(run: DiagnoseRun) -> list[Grid | str]:
    """What is printed about a run."""
    return tables(run.results)


def run_page(run: DiagnoseRun) -> str:
    """The page of a run, with links to the runs of benchmarks that it is about."""
    named = ((f"{each.result.model}, {each.result.name}", each.path) for each in run.bench_runs())
    return page(run.results, link_runs(run.path / "diagnose.html", named))


def run_sections(run: DiagnoseRun) -> list[Section]:
    """The charts and tables of its page."""
    return [*sections(run.results)]
