"""The judge of MSQA's authors, read from a clone without running it; the clone here is ours, in the shape of theirs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mores.benchmark import benchmark
from mores.benchmark.benchmark import Graded, Label
from mores.benchmark.folder import open_bench_run
from mores.benchmark.judge_check import JudgeCheckRun
from mores.benchmark.msqa.protocol import ProtocolJudge, with_protocol
from mores.errors import ConfigError, InputError
from mores.run import open_run
from mores.types import Failure, Item
from tests.cli.conftest import Run, home, mores

__all__ = ["home", "mores"]

JUDGE = '''
import os
os.abort()
OTHER = "{question}"
PROMPT: str = """Same meaning?
Q {question}
R {reference_answer}
C {candidate_answer}
Return {{"verdict":"Ja" or "Nein","reason":"why"}}"""
'''
SCORE = '''
SPLIT = """Not the same. {{"kind":"NA" or "IN"}}
{question}/{reference_answer}/{candidate_answer}"""
'''
ITEM = Item(id="q", prompt="Who {x}?", target=("Ana", "Anna"))


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "MSQA" / "src" / "msqa"
    folder.mkdir(parents=True)
    (folder / "judge.py").write_text(JUDGE)
    (folder / "score.py").write_text(SCORE)
    return tmp_path / "MSQA"


def test_prompts_are_filled_as_they_stand_and_nothing_is_run(clone: Path) -> None:
    judge = ProtocolJudge(clone)
    [message] = judge.ask(ITEM, "<think>Bo?</think>{question} <|im_end|>")
    assert message.role == "user"
    assert message.content.startswith("Same meaning?\nQ Who {x}?\nR Ana or Anna\nC {question} ")
    assert message.content.endswith('Return {"verdict":"Ja" or "Nein","reason":"why"}')
    assert "<|im_end|>" not in message.content
    assert judge.prompt == ProtocolJudge(clone / "src" / "msqa").prompt
    (clone / "src" / "msqa" / "score.py").write_text(SCORE.replace("Not", "not"))
    assert judge.prompt != ProtocolJudge(clone).prompt


@pytest.mark.parametrize(
    ("first", "second", "label"),
    [
        ('{"verdict": "Ja", "reason": ""}', None, Label.CORRECT),
        ('Sure:\n```json\n{"verdict": " ja"}\n```', None, Label.CORRECT),
        ('{"verdict": "Nein"}', '{"kind": "NA", "reason": "It asks back."}', Label.NOT_ATTEMPTED),
        ('<think>{"verdict": "Ja"}</think>{"verdict": "Nein"}', '{"kind": "in"}', Label.INCORRECT),
        ('{"verdict": "Nein"}', "IN", None),
        ('{"verdict": "perhaps"} {"verdict": "Ja"}', None, None),
        ("Ja", None, None),
        ('{"verdict": ', None, None),
        ('{"a":' * 20_000, None, None),
    ],
)
def test_only_the_json_that_the_prompt_names_is_read(clone: Path, first: str, second: str | None, label: Label) -> None:
    judge = ProtocolJudge(clone)
    assert (judge.ask_again(ITEM, "Bo", first) is not None) == (second is not None)
    graded = judge.read(ITEM, "Bo", second or first, second is not None)
    assert (graded.label if isinstance(graded, Graded) else None) == label
    if label is None:
        assert isinstance(graded, Failure)
        assert 'expected {"' in graded.reason


def test_an_empty_answer_is_not_correct_and_goes_to_the_second_question(clone: Path) -> None:
    judge = ProtocolJudge(clone)
    [message] = judge.ask(ITEM, "<think>hm</think>")
    assert message.content.startswith("Not the same.")
    assert judge.ask_again(ITEM, "", '{"kind": "NA"}') is None
    assert judge.read(ITEM, "", '{"kind": "NA"}', False) == Graded(label=Label.NOT_ATTEMPTED)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("judge.py", "def", "judge.py: cannot be read"),
        ("judge.py", "X = 1", "judge.py: 0 prompts with the slots"),
        ("judge.py", JUDGE + JUDGE.replace("PROMPT", "SECOND"), "judge.py: 2 prompts with the slots"),
        ("judge.py", JUDGE.replace("{question}", "{question!r}"), "judge.py: 0 prompts"),
        ("judge.py", JUDGE.replace(" or ", " and "), "judge.py: its prompt names no JSON"),
        ("score.py", SCORE.replace("IN", "XX"), "score.py: its prompt asks for NA or XX; expected NA or IN"),
    ],
)
def test_a_clone_of_another_shape_is_refused(clone: Path, name: str, text: str, message: str) -> None:
    (clone / "src" / "msqa" / name).write_text(text)
    with pytest.raises(InputError, match=message):
        ProtocolJudge(clone)


def test_it_is_for_short_answers_alone(clone: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="culturall is not graded as MSQA is"):
        with_protocol(benchmark("culturall"), clone)
    with pytest.raises(InputError, match=r"no src/msqa/judge\.py; give a clone"):
        ProtocolJudge(tmp_path)


def test_a_benchmark_and_a_check_of_judges_take_it(mores: Run, home: Path, clone: Path) -> None:
    msqa = benchmark("msqa")
    assert msqa.folder
    (home / "data").mkdir()
    (home / "data" / "msqa").symlink_to(msqa.folder / "sample")
    rows = [
        ("Same meaning?", '{"verdict": "Nein"}'),
        ("Not the same.", '{"kind": "NA"}'),
        ("Does it assert something wrong instead?", "It does.\nVERDICT: INCORRECT"),
        ("", "It does not.\nVERDICT: NOT_CORRECT"),
    ]
    (home / "judge.jsonl").write_text("".join(json.dumps({"contains": c, "answer": a}) + "\n" for c, a in rows))
    given = ("--data", "data", "--judge-protocol", str(clone))
    done = mores("bench", "msqa", "--model", "fake:clean", "--judge", "fake:judge.jsonl", *given)
    assert done.returncode == 0, done.stderr
    [folder] = (home / "bench" / "msqa").iterdir()
    result = open_bench_run(folder).result
    assert result.figures["NA"].value == 1.0
    assert ProtocolJudge(clone).prompt in str(result.signature)
    done = mores("judge-check", "msqa", "--model", "fake:judge.jsonl", *given)
    assert done.returncode == 0, done.stderr
    run = open_run(home / "judge-check")
    assert isinstance(run, JudgeCheckRun)
    protocol = run.result.protocol
    assert protocol is not None
    assert protocol.grades == {"incorrect": {"not_attempted": 25}}
    assert (protocol.agreement.value, protocol.agreement.n) == (0.0, 25)
    assert protocol.known.value == pytest.approx(0.2), "one of five answers is a refusal"
    assert "MSQA’s protocol: the same grade for 0.0%" in done.stdout
    several = ("bench", "msqa", "culturall", "--model", "fake:clean", "--judge", "fake:judge.jsonl", "--out", "other")
    refused = mores(*several, *given)
    assert refused.returncode == 2
    assert "culturall is not graded as MSQA is" in refused.stderr
    assert not (home / "other").exists(), "before anything is asked"
