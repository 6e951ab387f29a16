"""The public function `mores.diagnose`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from mores.benchmark.api import open_session
from mores.benchmark.benchmark import Benchmark
from mores.benchmark.run import Asking, data_hash
from mores.benchmark.session import read_items
from mores.benchmark.settings import QuestionSettings
from mores.diagnosis import kinds
from mores.diagnosis.calibrating import FROM
from mores.diagnosis.folder import CONTAMINATION, ITEMS, KINDS, DiagnoseRun, failures_of, headline_of, open_diagnose_run
from mores.diagnosis.session import Diagnosis, read_targets
from mores.diagnosis.settings import DiagnoseSettings
from mores.engine import SILENT, AskSettings
from mores.errors import ConfigError, MoresError
from mores.models.configured import configuration_of
from mores.run import Plan, start_run
from mores.settings import declared, takes
from mores.signature import sign
from mores.types import Signature

FOLDER = "diagnose"
"""The folder of a run if none is given."""
SAMPLES = {kinds.STABILITY: 10, kinds.ALL: 10}
"""Answers per question; 1 for the other kinds."""
COMPARES = (kinds.TRANSLATION, kinds.ALL)
"""The kinds in which a variant is compared with the original."""
SIGNED = (
    {entry.name for entry in fields(QuestionSettings) if declared(entry).result}
    - {entry.name for entry in fields(AskSettings)}
    - {"data", "judge", "judge_url"}
)
"""What changes how questions are asked and graded, besides the model and the judges."""


@takes(DiagnoseSettings)
async def diagnose(settings: DiagnoseSettings) -> DiagnoseRun:
    """Explain why a model fails; the targets are runs of `mores.bench`, their folders, or names of benchmarks.

    A given run is read, and its model is asked again only if `model` names it. The run is in the folder `out`; without
    it, in `diagnose`, or in `diagnose-2` and so on if that holds another run.
    """
    return await run_diagnosis(open_diagnosis(settings))


def open_diagnosis(settings: DiagnoseSettings) -> Diagnosis:
    """Open the targets and the models of a diagnosis; nothing is asked yet."""
    kind, model = settings.kind, settings.model
    settings = replace(settings, sources=tuple(dict.fromkeys(settings.sources)))
    if unknown := next((source for source in settings.sources if source not in FROM), None):
        raise ConfigError(f"{unknown!r}: no such confidence; there are {', '.join(FROM)}", setting="from")
    resolved = read_targets(settings.targets, runs_only=kind in (kinds.LOCALITY, ITEMS))
    if not resolved:
        raise ConfigError("there is nothing to diagnose; give a run of mores bench, or the name of a benchmark")
    asks = any(isinstance(target, Benchmark) for target in resolved)
    if kind in (kinds.ALL, CONTAMINATION) and (
        run := next((target for target in resolved if not isinstance(target, Benchmark)), None)
    ):
        raise ConfigError(f"{run.folder.path}: {kind} needs a benchmark, because it asks the questions again; name it")
    asking = replace(
        settings,
        samples=settings.samples or SAMPLES.get(kind, 1),
        variant=None if kind in COMPARES else settings.variant,
    )
    session = open_session(model or (None if asks else next(iter(settings.judge), None)) or "embedded", asking)
    return Diagnosis(settings, session, resolved, settings.out or Path(FOLDER), asks or model is not None)


async def run_diagnosis(diagnosis: Diagnosis) -> DiagnoseRun:
    """Make the runs that are missing, ask the judge, and write the findings into the run's folder."""
    settings, session, kind = diagnosis.settings, diagnosis.session, diagnosis.settings.kind
    names = [run.result.name for run in diagnosis.runs] + [benchmark.name for benchmark in diagnosis.benchmarks]
    plan = Plan(
        kind="diagnose",
        name=f"{kind} of {', '.join(dict.fromkeys(names))}",
        model=session.asker.model.name if diagnosis.may_ask else "",
        configuration=configuration_of(session.asker.model) if diagnosis.may_ask else {},
        signature=_sign(diagnosis),
        settings={"kind": kind, "by": settings.by, "sources": list(settings.sources), "force": settings.force},
    )
    with start_run(diagnosis.out, plan, numbered=settings.out is None, progress=session.progress) as run:
        work = replace(diagnosis, out=run.path)
        findings = await kinds.diagnose_all(work) if kind == kinds.ALL else [await kinds.diagnose_kind(work)]
        for part in findings:
            part.write(run.path)
        run.finish(
            files={part.file: "Findings" for part in findings},
            failures=failures_of(findings),
            headline=headline_of(findings),
            parents=[part.path for part in (*(target.folder for target in work.runs), *work.new_runs.values())],
        )
    return open_diagnose_run(run.path)


def _sign(diagnosis: Diagnosis) -> Signature:
    """Return the kinds, the signatures of the given runs, and the settings of what is asked."""
    settings, session, asking = diagnosis.settings, diagnosis.session, diagnosis.asking
    parts: dict[str, Any] = {
        "kinds": "+".join(KINDS) if settings.kind == kinds.ALL else settings.kind,
        "runs": _hash(str(run.folder.signature) for run in diagnosis.runs) if diagnosis.runs else None,
        "benchmarks": "+".join(f"{benchmark.name}.{benchmark.version}" for benchmark in diagnosis.benchmarks) or None,
        "data": "+".join(_data(benchmark, asking) for benchmark in diagnosis.benchmarks) or None,
        "model": session.asker.model.identity if diagnosis.may_ask else "none",
        "judge": "+".join(judge.model.identity for judge in session.judges) or "none",
        "variant": settings.variant if settings.kind in COMPARES else None,
        "sources": "+".join(settings.sources) or None,
        "by": settings.by if settings.kind == kinds.LOCALITY else None,
        "items": f"{settings.item_model}.{settings.short or 'any'}" if settings.kind == ITEMS else None,
        "labelled": _hash([settings.labelled.read_text("utf-8")]) if settings.labelled else None,
    }
    if diagnosis.may_ask:
        names = {"judge_failures": "unjudged", "lid": "long", "facts": "long"}
        asked = {names.get(name, name) for name in asking.changed() if name in SIGNED}
        parts |= {name: getattr(asking, name) for name in sorted(asked)}
        parts |= {"labels": _hash([repr(session.labels)])} if session.labels else {}
    return sign({name: value for name, value in parts.items() if value is not None})


def _data(benchmark: Benchmark, asking: Asking) -> str:
    """Return the hash and the number of the questions, as in a run of the benchmark, which itself refuses bad data."""
    try:
        items = read_items(benchmark, asking.data, asking.limit, SILENT)
    except MoresError:
        return "unreadable"
    return f"{data_hash(items)}.{len(items)}"


def _hash(texts: Iterable[str]) -> str:
    return blake2b("\n".join(texts).encode(), digest_size=6).hexdigest()
