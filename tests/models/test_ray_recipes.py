"""The recipes of docs/ray.md: the Slurm script keeps the store at the end of its time; the Kubernetes job is whole."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

PAGE = (Path(__file__).parents[2] / "docs" / "ray.md").read_text("utf-8")
COMMANDS = {
    "scontrol": "printf 'first\\nsecond\\n'",
    "srun": 'while [[ $1 == -* ]]; do [[ $1 == -w ]] && shift; shift; done; exec "$@"',
    "ray": 'echo "$*" "$RAY_ADDRESS" "$SRUN_CPUS_PER_TASK" >>ray.log; exec sleep 60',
    "mores": "trap 'echo stopped >tmp/mores.db; exit 143' TERM; touch started; {wait}; echo finished >tmp/mores.db",
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
        (folder / drive).mkdir()
    script = re.sub(r"(?<=[\s:])/(tmp|shared)/", r"\1/", example("Slurm", "sh")).replace("sleep 20", "sleep 0.1")
    job = {"SLURM_JOB_NODELIST": "nodes", "SLURM_JOB_NUM_NODES": "2", "SLURM_CPUS_PER_TASK": "64"}
    environment = os.environ | job | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    return subprocess.Popen(["bash", "-c", script], cwd=folder, env=environment, start_new_session=True)


@pytest.mark.parametrize("told_to_end", [False, True])
def test_the_slurm_script_keeps_the_store(tmp_path: Path, told_to_end: bool) -> None:
    wait = "while :; do sleep 0.02; done" if told_to_end else "sleep 0.3"
    job = start_job(tmp_path, COMMANDS["mores"].replace("{wait}", wait))
    try:
        while told_to_end and not (tmp_path / "started").exists():
            assert job.poll() is None
            time.sleep(0.02)
        if told_to_end:
            job.send_signal(signal.SIGTERM)  # to the shell alone, as `--signal=B:` says
        assert job.wait(30) == 0
    finally:
        os.killpg(job.pid, signal.SIGKILL)  # as Slurm ends what a job leaves
    assert (tmp_path / "shared" / "mores.db").read_text() == ("stopped\n" if told_to_end else "finished\n")
    head, node = (tmp_path / "ray.log").read_text().splitlines()
    assert head == "start --head --port=6379 --block first:6379 64"
    assert node == "start --address=first:6379 --block first:6379 64"


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
