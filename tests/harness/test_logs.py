"""The logs of Inspect AI, lm-evaluation-harness and promptfoo become texts to judge, without their packages."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mores
from mores.errors import InputError
from mores.io import check_samples, read_samples
from mores.types import Sample
from tests.harness.conftest import inspect_model, needs

FORK = "In Japan people eat sushi with a fork."


def message(role: str, content: Any) -> dict[str, Any]:
    return {"id": "x", "role": role, "content": content}


def inspect_sample(identifier: Any = "q1", epoch: int = 1, **changes: Any) -> dict[str, Any]:
    """A sample as Inspect writes it, with a score that is NaN."""
    answer = message("assistant", [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": FORK}])
    asked = [message("system", "Be brief."), message("user", "How is sushi eaten?")]
    return {
        "id": identifier, "epoch": epoch, "input": "How is sushi eaten?", "target": "x", "messages": [*asked, answer],
        "output": {"model": "m", "choices": [{"message": answer, "stop_reason": "stop"}], "completion": FORK},
        "scores": {"s": {"value": float("nan")}}, "metadata": {"region": "Japan", "language": "Python"},
        "attachments": {}, **changes,
    }  # fmt: skip


HEADER = {"version": 2, "status": "success", "eval": {"task": "tiny", "model": "openai/m"}}


def write_json(path: Path, *samples: Any) -> Path:
    path.write_text(json.dumps(HEADER | {"samples": list(samples)}), "utf-8")
    return path


def write_eval(path: Path, *samples: Any, packing: int = ZIP_DEFLATED) -> Path:
    with ZipFile(path, "w", packing) as log:
        log.writestr("header.json", json.dumps(HEADER))
        for sample in samples:
            log.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    return path


def write_zstandard(path: Path, *samples: Any) -> Path:
    """As Inspect packs its logs, which `zipfile` can write since Python 3.14 only."""
    codec = pytest.importorskip("pyarrow", reason="pyarrow is not installed").Codec("zstd")
    members = {"header.json": HEADER, **{f"samples/{n}.json": sample for n, sample in enumerate(samples)}}
    with ZipFile(path, "w", ZIP_STORED) as log:
        for name, content in members.items():
            data, info = json.dumps(content).encode(), ZipInfo(name)
            log.writestr(info, codec.compress(data, asbytes=True))
            info.compress_type, info.file_size, info.CRC = 93, len(data), zlib.crc32(data)
    return path


EXPECTED = Sample(
    id="q1",
    instruction="Be brief.\n\nHow is sushi eaten?",
    text=FORK,
    region="JP",
    source="tiny by openai/m",
    metadata={"model": "openai/m", "region": "Japan", "language": "Python"},
)


@pytest.mark.parametrize("write", [write_json, write_eval, write_zstandard])
def test_answers_of_an_inspect_log(write: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "log.eval", inspect_sample(), inspect_sample(epoch=2), inspect_sample(7))
    samples = list(read_samples(path))
    assert samples[0] == EXPECTED
    assert [sample.id for sample in samples] == ["q1", "q1#2", "7"]


def test_earlier_turns_are_part_of_the_instruction_and_long_texts_are_looked_up(tmp_path: Path) -> None:
    turns = [
        message("user", "attachment://a1"),
        message("assistant", "With chopsticks."),
        message("user", "And now?"),
        message("assistant", "attachment://a2"),
    ]
    output = {"choices": [{"message": turns[-1], "stop_reason": "stop"}]}
    sample = inspect_sample(messages=turns, output=output, attachments={"a1": "How is sushi eaten?", "a2": FORK})
    (read,) = read_samples(write_json(tmp_path / "log.json", sample), format="inspect")
    assert read.instruction == "User: How is sushi eaten?\n\nAssistant: With chopsticks.\n\nUser: And now?"
    assert read.text == FORK


def test_samples_without_an_answer_are_bad_rows(tmp_path: Path) -> None:
    failed = inspect_sample("gone", output={"choices": []}, error={"message": "the server is gone"})
    silent = inspect_sample(
        "mute", output={"choices": [{"message": message("assistant", ""), "stop_reason": "length"}]}
    )
    path = write_eval(tmp_path / "log.eval", inspect_sample(), failed, silent, inspect_sample("odd", output=7))
    checked = check_samples(path)
    assert (checked.count, checked.bad) == (1, 3)
    assert checked.problems[0] == (
        f"{path}: sample 2: 'gone', epoch 1, has no answer (the server is gone); leave it out"
    )
    assert "sample 3: 'mute', epoch 1, has no answer (length)" in checked.problems[1]
    assert "sample 4: it is not as Inspect AI writes it" in checked.problems[2]


def test_what_is_no_inspect_log_is_refused_with_the_fix(tmp_path: Path) -> None:
    def problem(content: bytes) -> str:
        (tmp_path / "log.eval").write_bytes(content)
        with pytest.raises(InputError) as error:
            list(read_samples(tmp_path / "log.eval"))
        return str(error.value)

    whole = write_eval(tmp_path / "whole.eval", inspect_sample()).read_bytes()
    assert "neither a zip file nor valid JSON" in problem(b"nonsense")
    assert "it has no 'eval'" in problem(b"[1]")
    assert "the log has no samples; run the evaluation again" in problem(json.dumps(HEADER).encode())
    assert "a damaged log" in problem(whole[: len(whole) // 2])
    longer = bytearray(whole)
    first = longer.index(b"PK\1\2")
    longer[first + 10] = 0  # not compressed
    longer[first + 20 : first + 24] = longer[first + 24 : first + 28] = (10**6).to_bytes(4, "little")  # both sizes
    assert "a damaged log (it ends too early)" in problem(bytes(longer))
    with ZipFile(tmp_path / "other.zip", "w") as other:
        other.writestr("a.txt", "a")
    assert "no log of Inspect AI" in problem((tmp_path / "other.zip").read_bytes())
    locked = bytearray(whole)
    locked[locked.index(b"PK\1\2") + 8] |= 1
    locked[locked.index(b"PK\3\4") + 6] |= 1
    assert "is encrypted, password required" in problem(bytes(locked))
    with ZipFile(tmp_path / "header.zip", "w") as other:
        other.writestr("header.json", "{")
    assert "header.json in it is not valid JSON (" in problem((tmp_path / "header.zip").read_bytes())
    assert "nor valid JSON (nested too deeply)" in problem(b"[" * 100_000)
    packed = bytearray(write_zstandard(tmp_path / "z.eval", inspect_sample()).read_bytes())
    packed[packed.index(b"samples/0.json") + 60] ^= 255
    assert "samples/0.json in it is damaged" in problem(bytes(packed))


def lm_eval_sample(doc_id: int = 0, **changes: Any) -> dict[str, Any]:
    return {
        "doc_id": doc_id, "doc": {"q": "How is sushi eaten?", "country": "Japan"}, "target": "x",
        "arguments": {"gen_args_0": {"arg_0": "Q: How is sushi eaten?", "arg_1": {"until": []}}},
        "resps": [[FORK]], "filtered_resps": [FORK], "filter": "none", **changes,
    }  # fmt: skip


def read_lm_eval(path: Path, *samples: Any) -> list[Sample]:
    path.write_text("".join(json.dumps(sample) + "\n" for sample in samples), "utf-8")
    return list(read_samples(path, format="lm-eval"))


def test_answers_of_lm_eval_samples(tmp_path: Path) -> None:
    chat = json.dumps([message("system", "Be brief."), message("user", "How is sushi eaten?")])
    samples = read_lm_eval(
        tmp_path / "samples.jsonl",
        lm_eval_sample(filter="first"),
        lm_eval_sample(filter="second"),  # the same answer
        lm_eval_sample(1, resps=[[FORK, "By hand."]]),
        lm_eval_sample(2, arguments={"gen_args_0": {"arg_0": [chat], "arg_1": {}}}),
        lm_eval_sample(3, arguments=[["An older format", {}]], doc={}),
    )
    assert [(sample.id, sample.text) for sample in samples] == [
        ("0", FORK), ("1", FORK), ("1#2", "By hand."), ("2", FORK), ("3", FORK)
    ]  # fmt: skip
    assert [sample.instruction for sample in samples[::2]] == [
        "Q: How is sushi eaten?", "Q: How is sushi eaten?", "An older format"
    ]  # fmt: skip
    assert samples[3].instruction == "Be brief.\n\nHow is sushi eaten?"
    assert samples[0].region == "JP"


def test_the_likeliest_option_is_the_answer(tmp_path: Path) -> None:
    options = {f"gen_args_{n}": {"arg_0": "Q\nA:", "arg_1": text} for n, text in enumerate((" fork", " hand", " both"))}
    responses = [[["-9.5", "False"]], [["-1.25", "True"]], [["-inf", "False"]]]
    (sample,) = read_lm_eval(tmp_path / "samples.jsonl", lm_eval_sample(arguments=options, resps=responses))
    assert (sample.instruction, sample.text) == ("Q\nA:", "hand")


def test_bad_lines_of_lm_eval_samples_are_named(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text(f'{json.dumps(lm_eval_sample())}\n{{"doc_id": 1,\n{{"text": "no sample"}}\n[]\n', "utf-8")
    problems = check_samples(path, format="lm-eval").problems
    assert [problem.partition(" ")[0] for problem in problems] == [f"{path}:{line}:" for line in (2, 3, 4)]
    assert "not valid JSON" in problems[0]
    assert "not a sample of lm-evaluation-harness" in problems[1]


def promptfoo_result(test: int = 0, **changes: Any) -> dict[str, Any]:
    """A result as promptfoo 0.1 writes it."""
    return {
        "cost": 0.0001,
        "gradingResult": {"pass": True, "score": 1, "reason": "All assertions passed"},
        "id": "f1d9a7d0",
        "latencyMs": 812,
        "prompt": {"raw": "How is sushi eaten in Japan?", "label": "How is sushi eaten in {{country}}?"},
        "promptId": "ab12",
        "promptIdx": 0,
        "provider": {"id": "openai:gpt-4.1-mini", "label": ""},
        "response": {"output": FORK, "tokenUsage": {"total": 30}, "cached": False},
        "score": 1,
        "success": True,
        "testCase": {"vars": {"country": "Japan"}, "assert": []},
        "testIdx": test,
        "vars": {"Country": "Japan", "topic": "food"},
        **changes,
    }


PROMPTFOO: dict[str, Any] = {"evalId": "eval-1", "config": {"prompts": []}, "shareableUrl": None}


@pytest.mark.parametrize("is_lines", [False, True])
def test_answers_of_promptfoo(is_lines: bool, tmp_path: Path) -> None:
    chat = json.dumps([message("system", "Be brief."), message("user", "How is sushi eaten?")])
    results = [
        promptfoo_result(),
        promptfoo_result(1, prompt={"raw": chat, "label": "chat"}, provider={"id": "x", "label": "mine"}),
        promptfoo_result(2, response={"output": {"answer": "hand"}}),
        promptfoo_result(3, response={"error": "429"}, error="API error: 429"),
    ]
    path = tmp_path / ("results.jsonl" if is_lines else "results.json")
    whole = {"version": 3, "results": results, "stats": {"successes": 3}}
    lines = "".join(json.dumps(result) + "\n" for result in results)
    path.write_text(lines if is_lines else json.dumps(PROMPTFOO | {"results": whole}, indent=2), "utf-8")
    checked = check_samples(path)
    assert (checked.count, checked.report.log, checked.report.is_plain) == (3, "promptfoo", False)
    assert str(checked.report) == (
        f"{path}, 3 rows of a log of promptfoo: text, instruction, region; "
        "also kept: model, prompt, Country, topic; left out: 1"
    )
    assert checked.problems[0].endswith("test 3, prompt 0, has no answer (API error: 429); leave it out")
    first, second, third = read_samples(path, on_bad=lambda _: None)
    assert first == Sample(
        id="0.0.openai:gpt-4.1-mini",
        instruction="How is sushi eaten in Japan?",
        text=FORK,
        region="JP",
        metadata={
            "model": "openai:gpt-4.1-mini",
            "prompt": "How is sushi eaten in {{country}}?",
            "Country": "Japan",
            "topic": "food",
        },
    )
    assert (second.instruction, second.metadata["model"]) == ("Be brief.\n\nHow is sushi eaten?", "mine")
    assert third.text == '{"answer": "hand"}'


def test_what_is_no_result_of_promptfoo_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    for content in ("nonsense", '{"results": []}', "7"):
        path.write_text(content, "utf-8")
        with pytest.raises(InputError, match=r"no results of promptfoo .*; give what `promptfoo eval -o` writes"):
            list(read_samples(path, format="promptfoo"))


def test_logs_are_known_by_their_content(tmp_path: Path) -> None:
    path = write_json(tmp_path / "log.json", inspect_sample())
    assert list(read_samples(path)) == [EXPECTED]
    path.write_text(json.dumps(json.loads(path.read_text()), indent=1), "utf-8")
    assert list(read_samples(path)) == [EXPECTED]
    assert check_samples(path).report.log == "Inspect AI"
    lines = tmp_path / "samples_food.jsonl"
    named = read_lm_eval(lines, lm_eval_sample(), lm_eval_sample(1))
    assert list(read_samples(lines)) == named
    assert named[0].metadata == {"q": "How is sushi eaten?", "country": "Japan"}
    assert check_samples(lines).report.log == "lm-evaluation-harness"


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["id", "epoch", "messages", "output", "choices", "message", "content", "role", "arguments", "resps", "doc"]
    ), inner, max_size=5),
    max_leaves=12,
)  # fmt: skip


@given(JSON)
def test_no_log_breaks_the_reader(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_text(json.dumps(HEADER | {"samples": [value]}), "utf-8")
    check_samples(path, format="inspect")
    path.write_text(json.dumps(value), "utf-8")
    check_samples(path, format="lm-eval")
    path.write_text(json.dumps({"results": {"results": [value]}}), "utf-8")
    check_samples(path, format="promptfoo")
    path.write_text(json.dumps({"text": "x", "messages": value}), "utf-8")
    check_samples(path, format="jsonl")


def test_a_log_is_judged_from_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_json(tmp_path / "log.json", inspect_sample(), inspect_sample("q2"))
    run = mores.score_file("log.json", "fake:first-word", format="inspect", store=None)
    assert [(judgement.sample_id, judgement.score) for judgement in run.judgements()] == [("q1", -1.0), ("q2", -1.0)]


@needs("inspect_ai")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["eval", "json"])
def test_logs_that_inspect_writes(kind: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import MemoryDataset
    from inspect_ai.dataset import Sample as Asked
    from inspect_ai.solver import generate, system_message

    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    asked = Asked(id="q1", input="How is sushi eaten?" * 20, target="x", metadata={"region": "Japan"})
    task = Task(MemoryDataset([asked]), solver=[system_message("Be brief."), generate()], name="tiny", epochs=2)
    (log,) = evaluate(task, inspect_model("m", lambda _: FORK * 20), log_dir=str(tmp_path), log_format=kind)
    samples = list(read_samples(log.location.removeprefix("file://"), format="inspect"))
    instruction = "Be brief.\n\n" + "How is sushi eaten?" * 20
    expected = EXPECTED.model_copy(
        update={"instruction": instruction, "text": FORK * 20, "source": "tiny by mockllm/m"}
    )
    assert samples == [expected, expected.model_copy(update={"id": "q1#2"})]


@needs("lm_eval")
@pytest.mark.filterwarnings("ignore")
def test_samples_that_lm_eval_writes(tmp_path: Path) -> None:
    from lm_eval.loggers import EvaluationTracker

    from mores.benchmark import benchmark
    from tests.harness.test_tasks import lm_eval_results

    folder = mores.export_task("culturalbench-easy", "lm-eval", tmp_path / "task", data=_sample_rows(tmp_path))
    tracker = EvaluationTracker(output_path=str(tmp_path / "out"))
    results = lm_eval_results(folder, "mores_culturalbench_easy", lambda _: FORK, evaluation_tracker=tracker)
    samples_of = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples_of)
    tracker.save_results_samples("mores_culturalbench_easy", samples_of["mores_culturalbench_easy"])
    (path,) = (tmp_path / "out").rglob("samples_*.jsonl")
    items = list(benchmark("culturalbench-easy").read(tmp_path / "data" / "culturalbench", print))
    samples = list(read_samples(path, format="lm-eval"))
    assert [(sample.instruction, sample.region) for sample in samples] == [(item.prompt, item.region) for item in items]
    assert {sample.text for sample in samples} == {FORK}


def _sample_rows(folder: Path) -> Path:
    from tests.harness.test_export import sample

    return sample("culturalbench-easy", folder)
