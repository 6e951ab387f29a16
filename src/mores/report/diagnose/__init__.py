"""Why a model fails (`mores diagnose`): all its analyses, under the title "The model's cultural health"."""

from mores.diagnosis.folder import DiagnoseRun
from mores.report.base.blocks import Section
from mores.report.base.grid import Grid
from mores.report.base.links import link_runs
from mores.report.diagnose.html import page, sections
from mores.report.diagnose.table import grids, tables

__all__ = ["grids", "page", "run_page", "run_sections", "run_tables", "sections", "tables"]


def run_tables(run: DiagnoseRun) -> list[Grid | str]:
    """Return the tables and paragraphs that are printed for a run."""
    return tables(run.results)


def run_page(run: DiagnoseRun) -> str:
    """Return the page of a run, with links to the runs of benchmarks that it analyses."""
    titled = ((f"{bench_run.result.model}, {bench_run.result.name}", bench_run.path) for bench_run in run.bench_runs())
    return page(run.results, link_runs(run.path / "diagnose.html", titled))


def run_sections(run: DiagnoseRun) -> list[Section]:
    """Return the charts and tables of its page."""
    return [*sections(run.results)]
