"""`vllm:` with a stub in the place of vLLM; where vLLM is installed, a slow test compares it with `hf:`."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from mores.engine import Answer, Job
from mores.engine import run as run_engine
from mores.engine.cost import Price, price_of
from mores.errors import ConfigError, ModelError, Rejected, Transient
from mores.models import Options, open_model, vllm
from mores.models.base import Completion, Message, Model, Request, follows_grammars
from mores.models.hf import HFModel
from mores.models.vllm import VLLMModel
from mores.models.worker import Opening
from tests.models import vllm_stub as stub
from tests.models.test_hf import make_adapter, make_model, make_network, make_tokenizer

T = TypeVar("T")


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> type[stub.AsyncLLM]:
    for variable in vllm._ENVIRONMENT:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("mores.models.vllm.has_gpu", lambda: True)
    return stub.install(monkeypatch)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("vllm") / "tiny")


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_adapter(tmp_path_factory.mktemp("vllm") / "lora")


def ask(text: str, **settings: Any) -> Request:
    return Request((Message("system", "You judge."), Message("user", text)), **({"max_tokens": 12} | settings))


def use(model: VLLMModel, work: Callable[[Any], Awaitable[T]]) -> T:
    """What the work returns, which is given the engine inside the model."""

    async def entered() -> T:
        async with model:
            return await work(model._engine)

    return asyncio.run(entered())


def complete(model: VLLMModel, request: Request, **behaviour: Any) -> Completion:
    async def answer(engine: Any) -> Completion:
        vars(engine).update(behaviour)
        return await model.complete(request)

    return use(model, answer)


# -- a request -------------------------------------------------------------------------------------------------


def test_an_answer(tiny: Path, engines: type[stub.AsyncLLM]) -> None:
    tokenizer = make_tokenizer()
    answer = complete(VLLMModel(str(tiny)), ask("tea"))
    [(ids, sampling, _, adapter)] = engines.started[0].calls
    turns = [{"role": "system", "content": "You judge."}, {"role": "user", "content": "tea"}]
    assert ids == tokenizer.apply_chat_template(turns, add_generation_prompt=True)["input_ids"]
    assert adapter is None
    assert (sampling.temperature, sampling.top_p, sampling.seed, sampling.max_tokens) == (0.0, 1.0, 0, 12)
    text = tokenizer.decode(stub.ANSWER[:-1])
    assert answer == Completion(text, (-0.5,) * 3, "stop", len(ids), 3)


def test_an_answer_that_is_cut_off_keeps_its_last_token(tiny: Path, engines: type[stub.AsyncLLM]) -> None:
    answer = complete(VLLMModel(str(tiny)), ask("tea", max_tokens=2, logprobs=False))
    assert answer.stop == "length"
    assert answer.text == make_tokenizer().decode(stub.ANSWER[:2])
    assert answer.logprobs is None
    assert engines.started[0].calls[0][1].logprobs is None


def test_the_likeliest_first_tokens(tiny: Path, engines: type[stub.AsyncLLM]) -> None:
    answer = complete(VLLMModel(str(tiny)), ask("tea", alternatives=5, max_tokens=1))
    assert engines.started[0].calls[0][1].logprobs == 5
    decode = make_tokenizer().decode
    assert answer.alternatives == ((decode([70]), -0.5), (decode([80]), -1.0), (decode([81]), -2.0))


def test_an_answer_is_no_longer_than_the_context(tiny: Path, engines: type[stub.AsyncLLM]) -> None:
    answer = complete(VLLMModel(str(tiny)), ask("tea", max_tokens=1000))
    assert engines.started[0].calls[0][1].max_tokens == 200 - answer.prompt_tokens


def test_the_temperature_of_the_model_where_a_request_has_none(tiny: Path, engines: type[stub.AsyncLLM]) -> None:
    complete(VLLMModel(str(tiny)), ask("tea", temperature=None, seed=5, top_p=0.5, top_k=20))
    sampling = engines.started[0].calls[0][1]
    assert (sampling.temperature, sampling.top_p, sampling.top_k) == (0.6, 0.5, 20)


def test_sampled_questions_have_seeds_of_their_own(tiny: Path, engines: type[stub.AsyncLLM]) -> None:
    tea, milk = ask("tea", temperature=0.7), ask("milk", temperature=0.7)
    for request in (tea, milk, tea, ask("tea"), ask("milk")):
        complete(VLLMModel(str(tiny)), request)
    first, other, again, *greedy = [engine.calls[0][1].seed for engine in engines.started]
    assert first == again != other
    assert greedy == [0, 0]  # their seed decides nothing


def test_a_schema_and_a_grammar(tiny: Path, engines: type[stub.AsyncLLM]) -> None:
    schema = {"type": "object", "properties": {"b": {}, "a": {}}}
    model = VLLMModel(str(tiny))
    assert follows_grammars(model)
    complete(model, ask("tea", schema=schema))
    complete(model, ask("tea", grammar='start: "yes"'))
    constraints = [engine.calls[0][1].structured_outputs for engine in engines.started]
    assert constraints[0] is not None
    assert constraints[0].json == json.dumps(schema)  # in the schema's order of fields
    assert constraints[1] == stub.StructuredOutputsParams(grammar='start: "yes"')
    config = engines.started[0].arguments.structured_outputs_config
    assert config == stub.StructuredOutputsConfig("guidance", disable_any_whitespace=True)


def test_no_two_requests_have_one_name(tiny: Path, engines: type[stub.AsyncLLM]) -> None:
    model = VLLMModel(str(tiny))

    async def several(_: Any) -> list[Completion]:
        return list(await asyncio.gather(*(model.complete(ask("tea")) for _ in range(20))))

    assert len(use(model, several)) == 20
    assert len({name for _, _, name, _ in engines.started[0].calls}) == 20


def test_what_nobody_waits_for_is_not_finished(tiny: Path, engines: type[stub.AsyncLLM]) -> None:
    model = VLLMModel(str(tiny))

    async def leave(engine: Any) -> None:
        engine.waits = True
        task = asyncio.create_task(model.complete(ask("tea")))
        await engine.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    use(model, leave)
    assert len(engines.started[0].aborted) == 1


# -- what goes wrong -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failure", "expected", "reason"),
    [
        (ValueError("no such grammar\nat all"), Rejected, r"does not take the request: no such grammar$"),
        (stub.VLLMClientError("too long"), Rejected, r"does not take the request: too long$"),
        (stub.EngineGenerateError(), Transient, r"vLLM failed: EngineGenerateError$"),
        (stub.EngineDeadError(), ModelError, r"vLLM's engine has ended"),
        (RuntimeError("CUDA error"), ModelError, r"RuntimeError: CUDA error$"),
    ],
)
def test_an_error_of_vllm_in_ours(
    tiny: Path, engines: type[stub.AsyncLLM], failure: Exception, expected: type[ModelError], reason: str
) -> None:
    with pytest.raises(ModelError, match=reason) as caught:
        complete(VLLMModel(str(tiny)), ask("tea"), failure=failure)
    assert type(caught.value) is expected
    assert engines.started[0].closed


def test_a_prompt_longer_than_the_context_is_rejected(tiny: Path, engines: type[stub.AsyncLLM]) -> None:
    with pytest.raises(Rejected, match=r"the prompt has \d{3} tokens and the context is 200"):
        complete(VLLMModel(str(tiny)), ask("tea " * 200))
    assert not engines.started[0].calls


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [({"finish_reason": "abort"}, "ended the answer with 'abort'"), ({"logprob": float("nan")}, "not probabilities")],
)
@pytest.mark.usefixtures("engines")
def test_an_answer_that_is_none_is_rejected(tiny: Path, behaviour: dict[str, Any], reason: str) -> None:
    with pytest.raises(Rejected, match=reason):
        complete(VLLMModel(str(tiny)), ask("tea"), **behaviour)


@pytest.mark.usefixtures("engines")
def test_a_setting_that_vllm_refuses_is_said(tiny: Path) -> None:
    with pytest.raises(ConfigError, match=r"vllm:\S+: vLLM cannot start with it: .* Unknown dtype: nonsense; see"):
        complete(VLLMModel(str(tiny), dtype="nonsense"), ask("tea"))


def test_without_vllm_it_says_what_to_install(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(ConfigError, match=r"vllm must be installed for this: pip install vllm$"):
        open_model(f"vllm:{tiny}")


def test_a_missing_folder_is_said_at_once(tmp_path: Path, adapter: Path) -> None:
    with pytest.raises(ConfigError, match=r"vllm:\S+: no such folder; give .* such as vllm:owner/model"):
        VLLMModel(str(tmp_path / "nowhere"))
    with pytest.raises(ConfigError, match=r"give its base model as vllm:BASE"):
        VLLMModel(str(adapter))


# -- the engine ------------------------------------------------------------------------------------------------


def test_the_engine_is_started_for_many_requests_and_closed(tiny: Path, engines: type[stub.AsyncLLM]) -> None:
    model = VLLMModel(str(tiny))
    complete(model, ask("tea"))
    [engine] = engines.started
    assert engine.closed
    arguments = engine.arguments
    assert arguments.model == str(tiny)
    assert arguments.dtype == "bfloat16"
    assert "/float32/" in open_model(f"vllm:{tiny}", Options(precision="float32")).identity
    assert arguments.max_num_seqs == model.concurrency == 512
    assert arguments.enable_prefix_caching
    assert arguments.gpu_memory_utilization == 0.9
    assert arguments.tensor_parallel_size == 1
    assert not arguments.enforce_eager


@pytest.mark.parametrize(
    ("gpus", "expected"),
    [
        (0.5, {"gpu_memory_utilization": 0.45}),
        (2, {"tensor_parallel_size": 2, "distributed_executor_backend": "mp"}),
        (None, {}),
    ],
)
def test_the_gpus_of_a_worker(
    tiny: Path, engines: type[stub.AsyncLLM], gpus: float | None, expected: dict[str, Any]
) -> None:
    model = Opening.here(f"vllm:{tiny}", Options(ray_gpus=gpus)).open()
    assert isinstance(model, VLLMModel)
    complete(model, ask("tea"))
    usual = stub.AsyncEngineArgs("")
    for name in ("gpu_memory_utilization", "tensor_parallel_size", "distributed_executor_backend"):
        assert getattr(engines.started[0].arguments, name) == expected.get(name, getattr(usual, name))


def test_an_adapter(tiny: Path, adapter: Path, tmp_path: Path, engines: type[stub.AsyncLLM]) -> None:
    complete(VLLMModel(str(tiny), adapter=str(adapter)), ask("tea"))
    [engine] = engines.started
    assert (engine.arguments.enable_lora, engine.arguments.max_lora_rank, engine.arguments.tokenizer) == (True, 8, None)
    request = stub.LoRARequest("lora", 1, str(adapter))
    assert engine.adapters == [request]
    assert engine.calls[0][3] == request
    misfit = shutil.copytree(adapter, tmp_path / "misfit")
    make_tokenizer().save_pretrained(misfit)
    with pytest.raises(ConfigError, match=r"misfit: vLLM cannot put it on the model: .* size mismatch; an"):
        complete(VLLMModel(str(tiny), adapter=str(misfit)), ask("tea"))
    assert engines.started[1].arguments.tokenizer == str(misfit)
    assert engines.started[1].closed


@pytest.mark.parametrize(("rank", "room"), [(16, 16), (20, 32), (600, None)])
def test_the_rank_of_an_adapter(
    tiny: Path, adapter: Path, tmp_path: Path, engines: type[stub.AsyncLLM], rank: int, room: int | None
) -> None:
    copy = shutil.copytree(adapter, tmp_path / "copy")
    config = json.loads((copy / "adapter_config.json").read_text())
    (copy / "adapter_config.json").write_text(json.dumps(config | {"rank_pattern": {"q_proj": rank}}))
    model = VLLMModel(str(tiny), adapter=str(copy))
    if room is None:
        with pytest.raises(ConfigError, match="a LoRA of rank 600, and vLLM takes none above 512"):
            complete(model, ask("tea"))
    else:
        complete(model, ask("tea"))
        assert engines.started[0].arguments.max_lora_rank == room


@pytest.mark.usefixtures("engines")
def test_data_stay_alone_on_standard_output(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_LOGGING_LEVEL", "DEBUG")
    complete(VLLMModel(str(tiny)), ask("tea"))
    assert os.environ["VLLM_LOGGING_STREAM"] == "ext://sys.stderr"
    assert os.environ["VLLM_LOGGING_LEVEL"] == "DEBUG"
    assert os.environ["VLLM_NO_USAGE_STATS"] == "1"


@pytest.mark.usefixtures("engines")
def test_the_identity_names_all_that_decides_an_answer(tiny: Path, adapter: Path, tmp_path: Path) -> None:
    plain = VLLMModel(str(tiny)).identity
    assert plain.startswith("vllm/tiny@")
    assert plain.endswith("/bfloat16/vllm-0.26.0/slots512")
    assert VLLMModel(str(shutil.copytree(tiny, tmp_path / "tiny"))).identity == plain
    others = [
        VLLMModel(str(tiny), adapter=str(adapter)),
        VLLMModel(str(tiny), gpus=2),
        VLLMModel(str(tiny), dtype="float16"),
        VLLMModel(str(tiny), enforce_eager=True),
    ]
    assert len({plain, *(model.identity for model in others)}) == 5


@pytest.mark.usefixtures("engines")
def test_it_costs_nothing_and_runs_in_the_engine(tiny: Path) -> None:
    assert price_of(f"vllm:{tiny}") == Price(0.0, 0.0)
    jobs = [Job(str(i), ask(f"tea {i}")) for i in range(5)] + [Job("long", ask("tea " * 300))]

    async def answers(model: Model) -> list[Answer]:
        return [answer async for answer in run_engine(jobs, model)]

    found = asyncio.run(answers(open_model(f"vllm:{tiny}")))
    assert [answer.completion is not None for answer in found] == [True] * 5 + [False]


# -- vLLM itself -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # vLLM's own
@pytest.mark.parametrize("adapted", [False, True])
def test_vllm_answers_as_hf_does(tmp_path: Path, adapted: bool) -> None:
    """The same texts and log-probabilities from the same folder; answers under a schema or grammar fit it."""
    pytest.importorskip("vllm", reason="needs vLLM: pip install vllm")
    torch = importlib.import_module("torch")
    if not (torch.cuda.is_available() or importlib.import_module("vllm.platforms").current_platform.is_cpu()):
        pytest.skip("this vLLM is built for a GPU, and there is none")
    sizes = {"hidden_size": 256, "intermediate_size": 256}  # heads of 64, as vLLM's kernels want
    make_network(**sizes).save_pretrained(tmp_path / "tiny")
    adapter = str(make_adapter(tmp_path / "lora", **sizes)) if adapted else None
    make_tokenizer().save_pretrained(tmp_path / "tiny")
    schema = {"type": "object", "properties": {"a": {"enum": [1, 2]}}, "required": ["a"], "additionalProperties": False}
    requests = [ask(f"tea {i}", max_tokens=4) for i in range(8)]
    requests += [ask("tea", schema=schema), ask("tea", grammar='start: "yes" | "no"'), ask("tea " * 300)]
    model = VLLMModel(str(tmp_path / "tiny"), adapter, enforce_eager=True, max_num_seqs=16)

    async def answers(model: Any) -> list[Any]:
        async with model:
            return list(await asyncio.gather(*map(model.complete, requests), return_exceptions=True))

    found = asyncio.run(answers(model))
    expected = asyncio.run(answers(HFModel(str(tmp_path / "tiny"), adapter)))
    for one, other in zip(found[:8], expected[:8], strict=True):
        assert (one.text, one.stop, one.prompt_tokens) == (other.text, other.stop, other.prompt_tokens)
        assert one.logprobs == pytest.approx(other.logprobs, abs=0.2 if torch.cuda.is_available() else 1e-3)
    assert json.loads(found[8].text)["a"] in (1, 2)
    assert found[9].text in ("yes", "no")
    assert found[9].stop == "stop"
    assert isinstance(found[10], Rejected)
