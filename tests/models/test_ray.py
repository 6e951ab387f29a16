"""How requests are handed out to the workers of a cluster that die, hang or differ; in one process, without Ray."""

from __future__ import annotations

import asyncio
import random
import socket
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mores.engine import Answer, Job, Limits, RunOptions, Store, open_asker, run
from mores.engine.loop import run as run_loop
from mores.errors import ConfigError, ModelError, MoresError, Rejected, Transient
from mores.models import Message, Model, Options, Request
from mores.models import cluster as ray_cluster
from mores.models import ray as on_ray
from mores.models.base import Completion
from mores.models.cluster import WorkerShare, connect, share
from mores.models.fake import FakeModel, fake
from mores.models.ray import RayModel
from mores.models.worker import Card, ModelWorker, Opening, Worked, describe
from tests.models.cluster import Cluster


class Echo(FakeModel):
    """Repeats what it is asked, and counts it."""

    def __init__(self, **problems: Exception) -> None:
        super().__init__("echo", lambda request: Completion(request.messages[-1].content))
        self.asked: Counter[str] = Counter()
        self.problems = problems

    async def complete(self, request: Request) -> Completion:
        text = request.messages[-1].content
        self.asked[text] += 1
        await asyncio.sleep(0)
        if problem := self.problems.get(text):
            raise problem
        return await super().complete(request)


def jobs(count: int) -> list[Job]:
    return [Job(str(n), Request((Message("user", f"q{n}"),))) for n in range(count)]


outcomes = Worked.outcomes
Ask = Callable[..., list[Answer]]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Ask a model on a cluster of three workers."""
    monkeypatch.setattr(on_ray, "require", lambda *_: None)

    def ask(model: Model, cluster: Cluster, count: int = 100, note: Any = str, **options: Any) -> list[Answer]:
        monkeypatch.setitem(sys.modules, "ray", cluster)

        async def answers() -> list[Answer]:
            remote = RayModel(model, Options(ray=True, ray_workers=3))
            remote.listen(note)
            return [answer async for answer in run(jobs(count), remote, RunOptions(**options))]

        answers_ = run_loop(answers())
        assert not cluster.alive, "a worker is left over"
        return answers_

    return ask


def test_answers_come_in_order_and_each_question_is_asked_once(ask: Ask) -> None:
    model = Echo()
    answers = ask(model, Cluster())
    assert [answer.completion.text for answer in answers if answer.completion] == [f"q{n}" for n in range(100)]
    assert set(model.asked.values()) == {1}


@pytest.mark.parametrize("seed", range(5))
def test_workers_that_die_at_random_cost_no_answer(ask: Ask, seed: int, tmp_path: Path) -> None:
    chance, deaths = random.Random(seed), Counter[str]()

    def deadly(prompts: list[str]) -> bool:
        """Over every fifth batch, but never twice over the same question, which would be blamed."""
        dies = chance.random() < 0.2 and not any(deaths[prompt] for prompt in prompts)
        deaths.update(prompts if dies else [])
        return dies

    cluster = Cluster(deadly)
    with Store(tmp_path / "store.db") as store:
        answers = ask(Echo(), cluster, 400, store=store)
        assert [answer.completion.text for answer in answers if answer.completion] == [f"q{n}" for n in range(400)]
        assert len(store) == 400
    assert len(deaths) > 10


def test_a_request_that_kills_workers_fails_and_the_others_are_answered(ask: Ask) -> None:
    cluster = Cluster(deadly=lambda prompts: "q17" in prompts)
    answers = ask(Echo(), cluster)
    [failed] = [answer for answer in answers if answer.failure]
    assert failed.job.id == "17"
    assert failed.failure
    assert "3 workers ended over this request, the last with: RayError: The actor died" in failed.failure.reason
    assert cluster.started >= 3 + on_ray.LIVES - 1  # the run may end before the last one is replaced


@pytest.mark.slow
def test_batches_grow_with_a_model_that_is_fast(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_ray, "BATCH_SECONDS", 60)  # fast enough on any machine
    model, cluster = Echo(), Cluster()
    answers = ask(model, cluster, 3000)
    assert [answer.completion.text for answer in answers if answer.completion] == [f"q{n}" for n in range(3000)]
    assert set(model.asked.values()) == {1}
    assert cluster.batches[:3] == [model.concurrency] * 3
    assert 5 * model.concurrency < max(cluster.batches) <= on_ray.LARGEST


def test_batches_stay_small_with_a_model_that_is_slow(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_ray, "BATCH_SECONDS", 1e-9)
    model, cluster = Echo(), Cluster()
    ask(model, cluster, 2000)
    assert max(cluster.batches) == model.concurrency


@pytest.mark.slow
def test_all_workers_share_the_calls_that_are_allowed_at_once(ask: Ask) -> None:
    cluster = Cluster()
    ask(Echo(), cluster, 1000, limits=Limits(concurrency=12))
    assert max(cluster.batches) == 12 / 3 / on_ray.BATCHES


def test_what_is_not_begun_in_time_is_asked_once_later(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    class Slowing(Echo):
        async def complete(self, request: Request) -> Completion:
            slow = sum(self.asked.values()) > 1500
            await asyncio.sleep(0.02 if slow else 0)
            return await super().complete(request)

    monkeypatch.setattr("mores.models.worker.LATEST", 0.01)
    left: list[int] = []

    def counted(worked: Worked) -> list[Any]:
        found = outcomes(worked)
        left.append(found.count(None))
        return found

    monkeypatch.setattr(Worked, "outcomes", counted)
    model, cluster = Slowing(), Cluster()
    answers = ask(model, cluster, 2000)
    assert [answer.completion.text for answer in answers if answer.completion] == [f"q{n}" for n in range(2000)]
    assert set(model.asked.values()) == {1}
    assert sum(left) > model.concurrency
    assert cluster.started == 3  # none was killed


def test_after_a_death_in_a_large_batch_few_are_asked_alone(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_ray, "BATCH_SECONDS", 60)
    cluster = Cluster(deadly=lambda prompts: "q2000" in prompts)
    answers = ask(Echo(), cluster, 3000)
    [failed] = [answer for answer in answers if answer.failure]
    assert failed.job.id == "2000"
    assert cluster.batches.count(1) < max(cluster.batches)  # the worker had two such batches


def test_what_is_in_the_store_is_not_asked_again(ask: Ask, tmp_path: Path) -> None:
    model = Echo()
    with Store(tmp_path / "store.db") as store:
        ask(model, Cluster(), 50, store=store)
        idle = Cluster()
        answers = ask(model, idle, 50, store=store)
    assert all(answer.cached for answer in answers)
    assert set(model.asked.values()) == {1}
    assert not idle.started


def test_problems_of_one_request_arrive_as_what_they_are(ask: Ask) -> None:
    problems: dict[str, Exception] = {"q3": Rejected("too long"), "q5": Transient("later", retry_after=0.01)}
    answers = ask(Echo(**problems), Cluster(), 10, limits=Limits(attempts=2, backoff=0.01))
    reasons = {answer.job.id: answer.failure.reason for answer in answers if answer.failure}
    assert reasons == {"3": "too long", "5": "later (tried 2 times)"}


def test_a_model_that_breaks_gets_another_worker(ask: Ask) -> None:
    cluster = Cluster()
    answers = ask(Echo(q3=ModelError("the server has stopped")), cluster, 10)
    assert [answer.job.id for answer in answers if answer.failure] == ["3"]
    assert cluster.started >= 3 + on_ray.LIVES - 1  # the run may end before the last one is replaced


def test_an_unknown_problem_stops_the_run(ask: Ask) -> None:
    with pytest.raises(MoresError, match="a Ray worker failed: KeyError: 'nonsense'"):
        ask(Echo(q3=KeyError("nonsense")), Cluster())


@pytest.mark.slow
def test_a_worker_that_hangs_is_replaced(ask: Ask) -> None:
    class Hanging(Echo):
        async def complete(self, request: Request) -> Completion:
            if not self.asked["q4"] and request.messages[-1].content == "q4":
                self.asked["q4"] += 1
                await asyncio.Event().wait()
            return await super().complete(request)

    cluster = Cluster()
    answers = ask(Hanging(), cluster, limits=Limits(timeout=0.2, backoff=0.01))
    assert all(answer.completion for answer in answers)
    assert cluster.started >= 4


class Unloadable(Echo):
    async def __aenter__(self) -> Any:
        raise self.problems["open"]


def test_a_model_that_no_worker_can_load_stops_the_run(ask: Ask) -> None:
    with pytest.raises(ModelError, match="no room on the GPU"):
        ask(Unloadable(open=ModelError("no room on the GPU")), Cluster())


def test_workers_that_die_as_they_load_stop_the_run(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    class Dying(ModelWorker):
        async def open(self, *_: Any) -> None:
            cluster.alive[0].kill()
            await asyncio.Event().wait()

    monkeypatch.setattr(on_ray, "ModelWorker", Dying)
    monkeypatch.setattr(on_ray, "_LONGEST_WAIT", 0.01)
    cluster = Cluster()
    with pytest.raises(ModelError, match="3 Ray workers ended as they loaded the model"):
        ask(Echo(), cluster)


def test_without_any_worker_the_run_ends_and_says_what_is_needed(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    class Waiting(ModelWorker):
        async def open(self, *_: Any) -> None:
            await asyncio.Event().wait()

    monkeypatch.setattr(on_ray, "ModelWorker", Waiting)
    monkeypatch.setattr(on_ray, "PATIENCE", 0.1)
    with pytest.raises(ModelError, match=r"no Ray worker could be started within 0.1 s; each worker needs 1 CPU and"):
        ask(Echo(), Cluster())


def test_workers_that_do_not_fit_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_ray, "require", lambda *_: None)
    monkeypatch.setitem(sys.modules, "ray", Cluster())
    notes: list[str] = []
    progress = SimpleNamespace(note=notes.append)
    asker = open_asker(Echo(), ray=True, ray_workers=6, progress=progress)
    assert asker.model.concurrency == 6 * on_ray.BATCHES * 8
    needs = "each worker needs 1 CPU and 0 GPUs, and the cluster has 4 CPUs and 0 GPUs"
    assert notes == [f"Ray: {needs}, which is room for 4 of 6 workers; the others start when machines join"]


def test_workers_that_never_fit_are_an_error_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_ray, "require", lambda *_: None)
    monkeypatch.setattr(on_ray, "connect", lambda _: ray_cluster.RayCluster([{"CPU": 2.0}], own=True))
    for options, setting, needed in (
        (Options(ray=True, threads=64), "threads", "64 CPUs and 0 GPUs"),
        (Options(ray=True, ray_gpus=2), "ray_gpus", "1 CPU and 2 GPUs"),
    ):
        reason = (
            f"fake:clean: each worker needs {needed}, and this machine has 2 CPUs and 0 GPUs; give each worker less"
        )
        with pytest.raises(ConfigError, match=reason) as caught:
            _ = RayModel("fake:clean", options).concurrency
        assert caught.value.setting == setting


def test_a_first_worker_that_takes_long_is_said(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once where it is asked what the model is, and once where it loads it."""

    class Waiting(ModelWorker):
        async def open(self, *given: Any) -> MoresError | None:
            await asyncio.sleep(0.05)
            return await super().open(*given)

    class Slow(Cluster):
        def wait(self, values: list[Any], timeout: float) -> tuple[list[Any], list[Any]]:
            assert timeout == 0.01
            return [], values

    monkeypatch.setattr(on_ray, "ModelWorker", Waiting)
    monkeypatch.setattr(on_ray, "NOTICE", 0.01)
    notes: list[str] = []
    ask(Echo(), Slow(), note=notes.append)
    needs = "it loads the model, or waits for room in the cluster, where each worker needs 1 CPU and 0 GPUs"
    assert notes == [f"Ray: no worker is ready after 0.01 s: {needs}; without any, the run stops after 600 s"] * 2


def test_workers_with_another_model_are_refused() -> None:
    expected = describe(fake("clean"))
    opening = Opening("fake:clean", Options(), ".")

    def opened(expected: Card) -> MoresError | None:
        return run_loop(ModelWorker().open(opening, expected))

    assert opened(expected) is None
    assert "different models, fake:other and fake:clean" in str(opened(replace(expected, identity="fake:other")))
    other = opened(replace(expected, release="0.0"))
    assert "different versions of mores, 0.0 and " in str(other)
    assert isinstance(other, ConfigError)


def test_the_adapter_that_comes_with_mores_is_found_where_it_lies_there(monkeypatch: pytest.MonkeyPatch) -> None:
    from mores.models import embedded

    opening = Opening.here("embedded", Options(adapter=str(embedded.TUNED)))
    there = Path(embedded.TUNED).parent / "../tuned" / embedded.TUNED.name
    monkeypatch.setitem(embedded.SHIPPED, "embedded", replace(embedded.SHIPPED["embedded"], tuned=there))
    model = opening.open()
    assert isinstance(model, embedded.EmbeddedModel)
    assert model.adapter == there


MACHINES = [{"CPU": 8.0, "GPU": 2.0}, {"CPU": 20.0}, {"memory": 1.0}]


@pytest.mark.parametrize(
    ("kind", "options", "expected"),
    [
        ("hf", Options(), WorkerShare(2, 1, 1, 2)),
        ("hf", Options(ray_gpus=2), WorkerShare(1, 1, 2, 1)),
        ("hf", Options(ray_gpus=0.5), WorkerShare(4, 1, 0.5, 4)),
        ("hf", Options(ray_gpus=0), WorkerShare(3, 8, 0, 3)),
        ("vllm", Options(), WorkerShare(2, 1, 1, 2)),
        ("embedded", Options(), WorkerShare(3, 8, 0, 3)),
        ("embedded", Options(threads=4), WorkerShare(7, 4, 0, 7)),
        ("reader", Options(), WorkerShare(3, 8, 0, 3)),
        ("fake", Options(), WorkerShare(28, 1, 0, 28)),
        ("fake", Options(ray_workers=5), WorkerShare(5, 1, 0, 28)),
    ],
)
def test_the_share_of_each_worker(kind: str, options: Options, expected: WorkerShare) -> None:
    assert share(kind, options, MACHINES) == expected


def test_an_empty_cluster_has_one_worker_that_waits() -> None:
    assert share("hf", Options(ray_gpus=1), [{"CPU": 0.0}]) == WorkerShare(1, 1, 1, 0)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("local", "Ray could not be started: TimeoutError: too slow; try again when this machine has less to do"),
        (
            "head:6379",
            "no Ray cluster at head:6379: TimeoutError: too slow; check with `ray status` .* RAY_AUTH_MODE=token",
        ),
    ],
)
def test_a_cluster_that_cannot_be_used_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, address: str, message: str
) -> None:
    def init(*_: object, **__: object) -> None:
        raise TimeoutError("too slow")

    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(is_initialized=lambda: False, init=init))
    monkeypatch.setattr("mores.models.cluster._found", lambda _: None)
    with pytest.raises(ConfigError, match=message) as caught:
        connect(address)
    assert caught.value.setting == "ray"


def test_a_cluster_that_has_died_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    started: list[object] = []
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    monkeypatch.setattr("ray.init", lambda place, **_: started.append(place))
    monkeypatch.setattr("ray.nodes", list)
    monkeypatch.setattr("ray._private.services.find_gcs_addresses", set)  # of other tests
    with socket.socket() as silent:  # keeps the port, and does not listen
        silent.bind(("127.0.0.1", 0))
        dead = f"127.0.0.1:{silent.getsockname()[1]}"
        monkeypatch.setattr(
            "ray._private.services.find_bootstrap_address", lambda _: dead
        )  # what `ray start` leaves behind
        for address in (dead, "auto"):
            reason = f"no Ray cluster at {address}: ConnectionError: nothing listens there"
            with pytest.raises(ConfigError, match=reason):
                connect(address)
        assert connect(True).own
    assert started == ["local"]


@pytest.mark.parametrize("address", ["ray://head:10001", "texts.jsonl", "head"])
def test_a_wrong_address_is_refused_before_anything_starts(address: str) -> None:
    with pytest.raises(ConfigError, match="Ray") as caught:
        open_asker("fake:clean", ray=address)
    assert caught.value.setting == "ray"


def test_servers_are_called_from_here() -> None:
    assert not isinstance(open_asker("openai:x", base_url="http://127.0.0.1:1", ray=True).model, RayModel)


def test_workers_need_a_cluster() -> None:
    with pytest.raises(ConfigError, match="cluster"):
        open_asker("fake:clean", ray_workers=2)
