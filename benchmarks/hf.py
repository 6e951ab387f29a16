"""Speed of `hf:` with continuous batching against plain `generate` with static batches: the same texts, in one run.

    python benchmarks/hf.py --model PATH --texts 2000          # on a GPU
    python benchmarks/hf.py --texts 2000                       # a random Llama of 1.1 billion weights
    python benchmarks/hf.py --texts 40 --layers 2 --width 64   # a small one, on a CPU
    python benchmarks/hf.py --model PATH --texts 2000 --vllm   # and `vllm:`, where that is installed
    python benchmarks/hf.py --model TUNED --samples FILE.jsonl --precision float32   # reports as `mores score` asks for

Needs only torch and transformers, and llguidance for `--constrained`. Both ways have the same model in memory, prompts,
limits and code that chooses tokens. A random model ends no answer by itself, so each answer gets a limit of its own.
It has many near ties, which bfloat16 decides one way or the other: `--precision float32` compares its answers exactly.

vLLM loads the same model from its folder, after the others have left the GPU, and is asked in the same way. Its start
is not part of its time, but reported. `--eager` has it start quickly, without compiling, and run more slowly.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import transformers

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))
if find_spec("pydantic") is None or find_spec("orjson") is None:  # all that `hf:` needs of `mores.io` is in one module
    sys.modules["mores.io"] = ModuleType("mores.io")
    sys.modules["mores.io"].__path__ = [str(ROOT / "src" / "mores" / "io")]

from mores.models.base import PRECISIONS, Completion, Message, Model, Request  # noqa: E402
from mores.models.hf import HFModel  # noqa: E402
from mores.models.hf.load import make_network  # noqa: E402
from mores.models.hf.network import Network  # noqa: E402

Verdict = Callable[[Completion], tuple[str, ...] | None]
_LONGEST = 2000
"""Characters of a sample with its evidence."""
PROMPTS = ROOT / "src" / "mores" / "metric" / "prompts"
TEMPLATE = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"
SCHEMA = {
    "type": "object",
    "properties": {
        "errors": {
            "type": "array",
            "maxItems": 3,
            "items": {
                "type": "object",
                "properties": {"severity": {"enum": ["minor", "major"]}, "explanation": {"type": "string"}},
                "required": ["severity", "explanation"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["errors"],
    "additionalProperties": False,
}


class Loaded(HFModel):
    """A model that is in memory already."""

    def __init__(self, folder: Path, network: Network, batch: int = 0, slots: int = 0) -> None:
        super().__init__(str(folder), batch=batch, slots=slots)
        self._loaded = network

    def _load(self) -> Network:
        return self._loaded


def main() -> None:
    """Time all ways and compare their answers."""
    options = _options()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.model) if options.model else Path(temporary)
        network = _load(options, folder)
        requests = _score_requests(options, folder) if options.samples else list(_requests(options))
        continuous = [
            _measure(f"continuous {slots}", Loaded(folder, network, slots=slots), requests) for slots in options.slots
        ]
        static = [_measure(f"static {size}", Loaded(folder, network, batch=size), requests) for size in options.batch]
        billions, dtype = _billions(network), str(network.model.dtype).removeprefix("torch.")
        if options.vllm:
            if not options.model:
                network.model.save_pretrained(folder)
            network.model = None  # vLLM wants the GPU's memory for itself
            gc.collect()
            torch.cuda.empty_cache()
        engines = [_measure_vllm(folder, dtype, options.eager, requests)] if options.vllm else []
    verdict = _written if options.samples else _verdict if options.constrained else None
    results = [_compare(way, other, verdict) for way in continuous for other in static]
    results += [_compare(way, other, verdict) for way in engines for other in continuous + static]
    if options.json:
        row = {
            "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU",
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "model": folder.name if options.model else f"random, {billions:.1f} billion weights",
            "dtype": dtype,
            "constrained": verdict is not None,
            "texts": len(requests),
            "ways": [
                {key: value for key, value in way.items() if key != "answers"} for way in static + continuous + engines
            ],
            "ratios": results,
        }
        options.json.write_text(json.dumps(row, indent=1) + "\n", "utf-8")


def _measure(name: str, model: Loaded, requests: Sequence[Request]) -> dict[str, Any]:
    """Ask it all, after a short warm-up."""
    if name.startswith("continuous") and not model.slots:
        sys.exit(f"{model.name}: continuous batching does not support this model")
    asyncio.run(_ask(model, [request._replace(max_tokens=8) for request in requests[: model.concurrency]]))
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    seconds, answers = asyncio.run(_ask(model, requests))
    memory = torch.cuda.max_memory_allocated() / 1e9 if torch.cuda.is_available() else None
    return _report(name, seconds, answers) | {"gpu_gb": memory}


def _measure_vllm(folder: Path, dtype: str, eager: bool, requests: Sequence[Request]) -> dict[str, Any]:
    """Start vLLM, warm it up with other texts, and ask it all."""
    from mores.models.vllm import VLLMModel

    model = VLLMModel(str(folder), dtype=dtype, enforce_eager=eager, gpu_memory_utilization=0.8)  # torch is here too

    async def ask() -> tuple[float, float, list[Completion]]:
        start = time.perf_counter()
        async with model:
            started = time.perf_counter() - start
            system = requests[0].messages[0]
            others = [Message("user", f"Warm-up {number}") for number in range(min(len(requests), model.concurrency))]
            short = requests[0]._replace(max_tokens=8)
            await _answers(model, [short._replace(messages=(system, other)) for other in others])
            return (started, *await _answers(model, requests))

    started, seconds, answers = asyncio.run(ask())
    print(f"vllm: started in {started:.1f} s", flush=True)
    name = f"vllm {model.concurrency}" + (" eager" if eager else "")
    return _report(name, seconds, answers) | {"start": started, "identity": model.identity}


def _report(name: str, seconds: float, answers: list[Completion]) -> dict[str, Any]:
    tokens = sum(answer.completion_tokens for answer in answers)
    speed = f"{len(answers) / seconds:.1f} texts/s, {tokens / seconds:,.0f} tokens/s"
    print(f"{name}: {seconds:.1f} s, {speed}", flush=True)
    return {"way": name, "seconds": seconds, "tokens": tokens, "answers": answers}


def _compare(way: dict[str, Any], other: dict[str, Any], verdict: Verdict | None) -> dict[str, Any]:
    """How many times as fast, and how many answers and verdicts are the same."""
    pairs = list(zip(way["answers"], other["answers"], strict=True))
    result: dict[str, Any] = {
        "way": way["way"],
        "against": other["way"],
        "ratio": other["seconds"] / way["seconds"],
        "same_answers": sum(not _different(*pair) for pair in pairs),
    }
    line = f"{result['way']}: {result['ratio']:.1f} times {result['against']}"
    line += f"; {result['same_answers']} of {len(pairs)} answers are identical"
    if verdict:
        verdicts = [tuple(map(verdict, pair)) for pair in pairs]
        read = [pair for pair in verdicts if None not in pair]
        result["same_verdicts"] = sum(one == two for one, two in read)
        result["unread"] = len(verdicts) - len(read)
        line += f", {result['same_verdicts']} of {len(read)} verdicts (the others are cut off)"
    print(line, flush=True)
    return result


def _verdict(answer: Completion) -> tuple[str, ...] | None:
    """The severities of the errors in a report; None for one that the limit cut off."""
    if answer.stop != "stop":
        return None
    return tuple(error["severity"] for error in json.loads(answer.text)["errors"])


def _written(answer: Completion) -> tuple[str, ...] | None:
    """The same of a report of the metric."""
    from mores.metric.schema import WrittenReport, parse
    from mores.models.base import Written

    reply = answer.complete()
    report = parse(reply) if isinstance(reply, Written) else None
    return tuple(error.severity for error in report.errors) if isinstance(report, WrittenReport) else None


def _billions(network: Network) -> float:
    return float(sum(weights.numel() for weights in network.model.parameters())) / 1e9


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="folder of a transformers model; a random one without it")
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--samples", type=Path, help="samples to judge, as `mores build` and `mores score` write them")
    parser.add_argument("--tokens", type=int, default=200, help="most tokens of an answer")
    parser.add_argument("--batch", type=int, nargs="*", default=[16], help="sizes of static batches")
    parser.add_argument("--slots", type=int, nargs="*", default=[256], help="answers written at once")
    parser.add_argument("--constrained", action="store_true", help="to a JSON schema")
    parser.add_argument("--precision", choices=PRECISIONS)
    parser.add_argument("--layers", type=int, default=16, help="of the random model")
    parser.add_argument("--width", type=int, default=2048, help="of the random model")
    parser.add_argument("--vllm", action="store_true", help="also ask `vllm:`")
    parser.add_argument("--eager", action="store_true", help="have vLLM compile nothing")
    parser.add_argument("--json", type=Path, help="file for the figures")
    return parser.parse_args()


async def _ask(model: HFModel, requests: Sequence[Request]) -> tuple[float, list[Completion]]:
    async with model:
        return await _answers(model, requests)


async def _answers(model: Model, requests: Sequence[Request]) -> tuple[float, list[Completion]]:
    """The seconds from the first request to the last answer, and the answers; a request follows each answer."""
    places = asyncio.Semaphore(model.concurrency)

    async def complete(request: Request) -> Completion:
        async with places:
            return await model.complete(request)

    start = time.perf_counter()
    answers = await asyncio.gather(*map(complete, requests))
    return time.perf_counter() - start, list(answers)


def _different(one: Completion, other: Completion) -> bool:
    return (one.text, one.stop, one.completion_tokens) != (other.text, other.stop, other.completion_tokens)


def _requests(options: argparse.Namespace) -> Iterator[Request]:
    """The metric's instructions and the example texts, each numbered so that no two are equal."""
    dice = random.Random(0)
    instructions = "\n\n".join((PROMPTS / name).read_text("utf-8") for name in ("system.txt", "guide.txt", "fence.txt"))
    for number in range(options.texts):
        text = _examples()[number % len(_examples())]
        limit = options.tokens if options.model else min(options.tokens, 8 + int(dice.expovariate(4 / options.tokens)))
        yield Request(
            (Message("system", instructions), Message("user", f"Text {number}: {text}")),
            max_tokens=limit,
            schema=SCHEMA if options.constrained else None,
        )


def _score_requests(options: argparse.Namespace, folder: Path) -> list[Request]:
    """What `mores score` asks a model of this folder about samples that are spread evenly over a file.

    Without long ones, which may be longer than the model's context.
    """
    from mores.metric import open_metric
    from mores.types import Sample

    metric = open_metric(HFModel(str(folder)), store=None)
    rows = map(json.loads, options.samples.read_text("utf-8").splitlines())
    requests = [metric.request(Sample.model_validate(row.get("sample", row))) for row in rows]
    short = [request for request in requests if sum(map(len, request.messages[-1])) <= _LONGEST]
    count = min(options.texts, len(short))
    return [short[number * len(short) // count] for number in range(count)]


def _examples() -> list[str]:
    lines = (ROOT / "examples" / "world.jsonl").read_text("utf-8").splitlines()
    return [f"{row['instruction']}\n{row['text']}" for row in map(json.loads, lines)]


def _load(options: argparse.Namespace, folder: Path) -> Network:
    """The model on the GPU if there is one, with its tokenizer; a random model leaves its settings in the folder."""
    gpu = torch.cuda.is_available()
    dtype = getattr(torch, options.precision or ("bfloat16" if gpu else "float32"))
    if options.model:
        model: Any = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    else:
        tokenizer = _random_tokenizer()
        heads = max(4, options.width // 64)
        config = transformers.LlamaConfig(
            vocab_size=32_000,
            hidden_size=options.width,
            intermediate_size=4 * options.width,
            num_hidden_layers=options.layers,
            num_attention_heads=heads,
            num_key_value_heads=heads // 4,
            max_position_embeddings=8192,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
        torch.manual_seed(0)
        with torch.device("cuda" if gpu else "cpu"):
            model = transformers.LlamaForCausalLM(config).to(dtype)
        config.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return make_network(f"hf:{folder}", model.to("cuda" if gpu else "cpu").eval(), tokenizer)


def _random_tokenizer() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=4000,
        special_tokens=["<|pad|>", "<|end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    inner.train_from_iterator([*_examples(), *(path.read_text("utf-8") for path in PROMPTS.glob("*.txt"))], trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<|end|>", pad_token="<|pad|>")
    tokenizer.chat_template = TEMPLATE
    return tokenizer


if __name__ == "__main__":
    main()
