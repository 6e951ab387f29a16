"""One kind of run: a folder with `run.json` beside plain files, locked while it works.

    with start_run(out, Plan(kind="bench", name="msqa", model="openai:gpt-4.1", signature=fields)) as run:
        ...                                     # write files into run.path
        run.finish(files={"verdicts.jsonl": "Verdict"}, headline="accuracy 61.2%")

The signature decides what is the same run: with the same one a run continues; with another it gets another folder, or
is refused, so that the files of a folder always belong together and nothing is overwritten.
`open_run(path)` reads a run of any kind.
"""

from mores.run.folder import KINDS, WORK, ActiveRun, Run, find_runs, is_working, open_run, read_manifest, start_run
from mores.run.manifest import MANIFEST, Manifest, Plan, Status

__all__ = [
    "KINDS", "MANIFEST", "WORK", "ActiveRun", "Manifest", "Plan", "Run", "Status", "find_runs", "is_working",
    "open_run", "read_manifest", "start_run",
]  # fmt: skip
