"""The recipes of docs/ray.md: the Slurm script keeps the store when it is told to end; the Kubernetes job is whole.

With `pytest -m slow`, and where Slurm runs, the script runs there.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml

from mores import score_file
from mores.metric.folder import JUDGEMENTS
from mores.run import Status, read_manifest
from tests.models.cluster import write_texts

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "ray.md").read_text("utf-8")
COMMANDS = {
    "srun": 'while [[ $1 == -* ]]; do shift; done; exec "$@"',
    "ray": 'echo "$*" "$RAY_ADDRESS" "$SRUN_CPUS_PER_TASK" >>ray.log; [[ $* != *--block ]] || exec sleep 60',
    "python": "echo 10.0.0.1",
    "mores": """
        [[ $* =~ --store\\ ([^ ]+) ]]; store=${BASH_REMATCH[1]}
        trap 'echo stopped >>$store; exit 143' TERM; touch started; {wait}; echo finished >>$store""",
}
"""What stands in for the commands of the script: they do what matters here, and `srun` does it on this machine."""


def example(heading: str, language: str) -> str:
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    [block] = re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)
    return str(block)


def start_job(folder: Path, mores: str) -> subprocess.Popen[bytes]:
    """The script of the docs, in a folder with the drives that it names."""
    for name, body in (COMMANDS | {"mores": mores}).items():
        path = folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/bash\n{body}\n")
        path.chmod(0o755)
    for drive in ("tmp", "shared"):
        (folder / drive).mkdir(exist_ok=True)
    script = re.sub(r"(?<=[\s:=])/(tmp|shared)/", r"\1/", example("Slurm", "sh"))
    job = {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "2", "SLURM_CPUS_PER_TASK": "64", "SLURMD_NODENAME": "first"}
    environment = os.environ | job | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    return subprocess.Popen(["bash", "-c", script], cwd=folder, env=environment, start_new_session=True)


def test_the_slurm_script_keeps_the_store(tmp_path: Path) -> None:
    """The first job is told to end; the second, the same, has what the first kept."""
    job = start_job(tmp_path, COMMANDS["mores"].replace("{wait}", "while :; do sleep 0.02; done"))
    try:
        while not (tmp_path / "started").exists():
            assert job.poll() is None
            time.sleep(0.02)
        job.send_signal(signal.SIGTERM)  # to the shell alone, as `--signal=B:` says
        assert job.wait(30) == 143
    finally:
        end(job)
    assert (tmp_path / "shared" / "store" / "answers.db").read_text() == "stopped\n"
    head, node, stop = sorted((tmp_path / "ray.log").read_text().splitlines(), key=lambda line: "--head" not in line)
    assert head.split() == ["start", "--head", "--port=6379", "64"]
    assert {node, stop} == {"start --address=10.0.0.1:6379 --block 10.0.0.1:6379 64", "stop 10.0.0.1:6379 64"}
    (tmp_path / "shared" / "store" / "answers.db-wal").touch()  # SQLite would add it to another file
    (tmp_path / "shared" / "store.new").mkdir()  # an earlier copy that did not end
    job = start_job(tmp_path, COMMANDS["mores"].replace("{wait}", "rm tmp/mores-7/answers.db-wal"))
    try:
        assert job.wait(30) == 0
    finally:
        end(job)
    assert [path.name for path in (tmp_path / "shared").iterdir()] == ["store"]
    [store] = (tmp_path / "shared" / "store").iterdir()
    assert store.read_text() == "stopped\nfinished\n"
    assert not list((tmp_path / "tmp").iterdir())


def end(job: subprocess.Popen[bytes]) -> None:
    """End what a job leaves, as Slurm does."""
    with suppress(ProcessLookupError):
        os.killpg(job.pid, signal.SIGKILL)


@pytest.fixture
def slurm() -> Iterator[Path]:
    """A folder for jobs, where Slurm runs and has two nodes; the checkout has to be on a drive that they share."""
    if shutil.which("sbatch") is None:
        pytest.skip("needs Slurm: there is no sbatch")
    if "is UP" not in subprocess.run(["scontrol", "ping"], capture_output=True, text=True).stdout:
        pytest.skip("needs Slurm: its controller does not answer")
    if len(slurm_says("sinfo", "--noheader", "--Node", "--responding", "--format=%N").split()) < 2:
        pytest.skip("needs Slurm with two nodes")
    (ROOT / "build").mkdir(exist_ok=True)
    with TemporaryDirectory(prefix="slurm-", dir=ROOT / "build") as folder:
        yield Path(folder)


def slurm_says(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def finish(job: str) -> str:
    """The state of a job when it has ended."""
    while re.search("RUNNING|PENDING|COMPLETING", described := slurm_says("scontrol", "show", "job", job)):
        time.sleep(1)
    return str(re.findall(r"JobState=(\w+)", described)[0])


@pytest.mark.slow
def test_on_slurm_a_job_goes_on_where_another_was_cancelled(slurm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The script of the docs but for the numbers, on a cluster; the files are those of a run without Ray."""
    monkeypatch.chdir(slurm)
    texts = write_texts(Path("texts.jsonl"), 20_000)
    script = example("Slurm", "sh").replace("/shared/", f"{slurm}/").replace(f"hf:{slurm}/judge", "fake:first-word")
    script = script.replace("--nodes=4", "--nodes=2").replace(
        "--gpus-per-node=8 --cpus-per-task=64", "--cpus-per-task=1"
    )
    script = script.replace("--time=08:00:00", "--time=15").replace("--ray-workers 32", "--ray-workers 2")
    Path("job.sh").write_text(script)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    subprocess.run(["ray", "get-auth-token", "--generate"], check=True, capture_output=True)
    first = slurm_says("sbatch", "--parsable", "job.sh").strip()
    printed = Path(f"slurm-{first}.out")
    while not (printed.exists() and re.search(r"[1-9]\d* calls", printed.read_text("utf-8"))):
        assert "RUNNING" in (now := slurm_says("scontrol", "show", "job", first)) or "PENDING" in now, (
            printed.read_text()
        )
        time.sleep(0.2)
    slurm_says("scancel", first)
    assert finish(first) == "CANCELLED"
    assert read_manifest(Path("run")).status is Status.STOPPED
    second = slurm_says("sbatch", "--parsable", "job.sh").strip()
    assert finish(second) == "COMPLETED", Path(f"slurm-{second}.out").read_text("utf-8")
    assert re.search(r"[1-9]\d* known already", Path(f"slurm-{second}.out").read_text("utf-8"))
    here = score_file(texts, "fake:first-word", out="here", store=None)
    assert Path("run", JUDGEMENTS).read_bytes() == (here.path / JUDGEMENTS).read_bytes()


def test_the_slurm_command_has_a_worker_for_each_gpu() -> None:
    script = example("Slurm", "sh")
    nodes, gpus, workers = (
        int(re.findall(rf"--{name}[= ](\d+)", script)[0]) for name in ("nodes", "gpus-per-node", "ray-workers")
    )
    assert workers == nodes * gpus


def test_the_kubernetes_job_fits_together() -> None:
    """All containers have the same image and the volume; a worker for each GPU; values of `ray start` are text."""
    job: dict[str, Any] = yaml.safe_load(example("Kubernetes", "yaml"))
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    cluster = job["spec"]["rayClusterSpec"]
    workers = cluster["workerGroupSpecs"]
    groups = [cluster["headGroupSpec"], *workers]
    pods = [group["template"]["spec"] for group in groups]
    containers = [container for pod in pods for container in pod["containers"]]
    assert len({container["image"] for container in containers}) == 1
    for pod in pods:
        named = {volume["name"] for volume in pod["volumes"]}
        assert {mount["name"] for container in pod["containers"] for mount in container["volumeMounts"]} == named
    assert all(isinstance(value, str) for group in groups for value in group["rayStartParams"].values())
    gpus = sum(
        group["replicas"] * container["resources"]["limits"]["nvidia.com/gpu"]
        for group in workers
        for container in group["template"]["spec"]["containers"]
    )
    assert f"--ray-workers {gpus}" in job["spec"]["entrypoint"]
    paths = re.findall(r"(?:hf:)?(/\S+)", job["spec"]["entrypoint"])
    mounts = [mount["mountPath"] for container in containers for mount in container["volumeMounts"]]
    assert paths
    assert all(path.startswith(f"{mount}/") for path in paths for mount in mounts)
