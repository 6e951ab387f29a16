"""`mores meta`, through the real command, on a small dataset that `mores build` made."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from mores.factory.gold import Gold
from mores.factory.items import SourceItem, Task
from mores.io import JsonlWriter, read_records
from mores.metaevaluation.baselines import ALL
from mores.metaevaluation.records import STATISTICS, Meta
from mores.types import Judgement, Signature
from tests.cli.conftest import Done, Run, run_in_process
from tests.engine.server import Server
from tests.metaevaluation.golds import DISHES, NAMES

FAST = "always,never,majority,words"
CLEAN = '{"errors": [], "explanation": "Fine."}'


def quiz(count: int) -> list[SourceItem]:
    """Hard errors: the dish of another country."""
    draw = random.Random(1)
    rows = []
    for i in range(count):
        region = draw.choice(list(DISHES))
        wrong = draw.choice([dish for dish in DISHES.values() if dish != DISHES[region]])
        rows.append(
            SourceItem(
                source="quiz", id=f"{i:03d}", task=Task.FREEFORM,
                question=f"What is eaten on day {i} in {NAMES[region]}?", answer=DISHES[region], wrong=(wrong,),
                region=region, language="en",
            )
        )  # fmt: skip
    return rows


def facts(count: int) -> list[SourceItem]:
    """No wrong answers: rules make soft errors of the numbers."""
    draw = random.Random(2)
    return [
        SourceItem(
            source="facts", id=f"{i:03d}", task=Task.FREEFORM,
            question=f"When is feast {i}?", language="de", region="DE",
            answer=f"The feast is on {draw.randint(1, 28)} July and lasts {draw.randint(2, 9)} days.",
        )
        for i in range(count)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of two sources."""
    folder = tmp_path_factory.mktemp("data")
    for items in (quiz(90), facts(60)):
        (folder / f"{items[0].source}.jsonl").write_text("".join(item.model_dump_json() + "\n" for item in items))
    (folder / "mine.yaml").write_text("name: mine\nsources: [quiz.jsonl, facts.jsonl]\nsampling: paper\n")
    done = run_in_process(folder, ("build", "mine.yaml", "--out", "mine"))
    assert done.returncode == 0, done.stderr
    return folder / "mine"


def golds(data: Path, split: str = "test") -> list[Gold]:
    return list(read_records(data / f"{split}.jsonl", Gold))


def judged(path: str | Path) -> list[Judgement]:
    return list(read_records(path, Judgement))


def put(path: str | Path, golds: list[Gold], score: Callable[[Gold], float], **given: Signature) -> str:
    """A file of judgements."""
    with JsonlWriter(path) as writer:
        for gold in golds:
            writer.write(Judgement(sample_id=gold.sample.id, judge="file", score=score(gold), **given))
    return str(path)


def perfect(gold: Gold) -> float:
    return -5.0 if gold.report.errors else 1.0


def script(path: str, answer: str) -> str:
    Path(path).write_text(json.dumps({"contains": "", "answer": answer}) + "\n")
    return f"fake:{path}"


def ran(done: Done) -> Meta:
    assert done.returncode == 0, done.stderr
    return Meta.model_validate_json(done.stdout)


# What is measured and written


@pytest.mark.slow
def test_all_baselines_and_what_is_written(mores: Run, data: Path) -> None:
    done = mores("meta", "--data", str(data))
    assert done.returncode == 0, done.stderr
    assert "wrote mine.meta; its page is mine.meta/meta.html" in done.stderr
    assert "its verdicts" not in done.stderr
    for name in ALL:
        assert name in done.stdout
    for words in ("S.Acc.", "quiz", "facts"):
        assert words in done.stdout
    out = Path("mine.meta")
    assert {path.name for path in out.iterdir()} == {
        ".lock", "judgements", "meta.html", "meta.json", "run.json", "tables.md",
    }  # fmt: skip
    assert {path.stem for path in (out / "judgements").iterdir()} == set(ALL)
    meta_result = Meta.model_validate_json((out / "meta.json").read_text())
    test = golds(data)
    assert (meta_result.data, meta_result.split, meta_result.n, meta_result.notes) == ("mine", "test", len(test), ())
    assert [evaluation.metric for evaluation in meta_result.evaluations] == list(ALL)
    assert all(
        evaluation.baseline and evaluation.n == meta_result.n and not evaluation.unscored
        for evaluation in meta_result.evaluations
    )
    values = {evaluation.metric: evaluation.scores["scaled_accuracy"].value for evaluation in meta_result.evaluations}
    assert values["always"] == values["never"] == 0  # right and wrong samples are as many
    assert (values["retrieval"] or 0) > 0
    assert meta_result.shortcut is not None
    assert meta_result.shortcut.value == values["words"]
    kinds = Counter(gold.kind for gold in test)
    of_kind = meta_result.counts["kind"]
    assert set(of_kind) == {"hard", "soft"} <= set(kinds)
    assert set(meta_result.evaluations[0].scores) <= set(STATISTICS)
    for name in ALL:
        judgements = judged(out / "judgements" / f"{name}.jsonl")
        assert [judgement.sample_id for judgement in judgements] == [gold.sample.id for gold in test]
        [signature] = {judgement.signature for judgement in judgements}
        assert signature["data"] == meta_result.revision
        assert signature["metric"].startswith(f"{name}.")
    tables, page = (out / "tables.md").read_text(), (out / "meta.html").read_text()
    assert "words" in tables
    assert "quiz" in page


def test_json_on_stdout_and_progress_on_stderr(mores: Run, data: Path) -> None:
    done = mores("meta", "--data", str(data), "--baselines", "never", "--json", "--out", "o/deep")
    meta_result = ran(done)
    assert meta_result == Meta.model_validate_json(Path("o/deep/meta.json").read_text())
    assert "never: 1 in" in done.stderr
    again = mores("meta", "--data", str(data), "--baselines", "never", "--json", "--out", "o/deep")
    assert again.stdout == done.stdout


@pytest.mark.slow
def test_a_model_as_the_metric_and_behind_a_prompt(mores: Run, data: Path) -> None:
    three, none = script("three.jsonl", "Three errors.\n**COUNT: 3**"), script("none.jsonl", "COUNT: 0")
    names = ["excam:fake:clean", "excam:fake:first-word", f"count:{three}", f"count+p:{none}", "count:fake:clean"]
    chosen = [part for name in names for part in ("--metric", name)]
    done = mores("meta", "--data", str(data), *chosen, "--baselines", "never", "--json", "--out", "o")
    assert done.returncode == 1
    assert "count:fake:clean could score no sample; the reasons are in o/judgements" in done.stderr
    meta_result = Meta.model_validate_json(done.stdout)
    assert "its verdicts mean nothing" in done.stderr
    test = golds(data)
    assert [evaluation.metric for evaluation in meta_result.evaluations] == [*names, "never"]
    clean, first, count, plus_p, failed, _ = meta_result.evaluations
    assert (clean.scores["scaled_accuracy"].value, clean.scores["correct_passed"].value) == (0, 1)
    assert first.scores["errors_found"].value == 1
    assert first.scores["span_f1"].value is not None
    assert {judgement.score for judgement in judged("o/judgements/count_fake_three.jsonl")} == {-3}
    assert [judgement.score for judgement in judged("o/judgements/count+p_fake_none.jsonl")] == pytest.approx(
        [0.904837] * len(test)
    )
    assert count.scores["auc"].value == plus_p.scores["auc"].value == 0.5
    assert (failed.n, failed.unscored, failed.failures) == (0, len(test), {"parse": len(test)})
    assert failed.scores["scaled_accuracy"].value is None
    assert not [c for c in meta_result.comparisons if "count:fake:clean" in (c.first, c.second)]


@pytest.mark.slow
def test_the_store_answers_the_second_time_and_plus_p(mores: Run, data: Path) -> None:
    with Server(answer=lambda _: "COUNT: 0") as server:
        arguments = ["meta", "--data", str(data), "--baselines", "none", "--base-url", server.url, "--json"]
        meta_result = ran(mores(*arguments, "--metric", "count:openai:x", "--metric", "count+p:openai:x"))
        assert len(server.asked) == meta_result.n
        assert mores(*arguments, "--metric", "count:openai:x").returncode == 0
        assert len(server.asked) == meta_result.n
        assert all("VERY BRIEFLY" in prompt for prompt in server.asked)


@pytest.mark.slow
def test_a_file_of_judgements(mores: Run, data: Path) -> None:
    test = golds(data)
    put("people.jsonl", test[1:], perfect, signature=Signature(metric="people"))
    meta_result = ran(mores("meta", "--data", str(data), "--metric", "people.jsonl", "--baselines", "always", "--json"))
    people = meta_result.evaluations[0]
    assert (people.metric, people.baseline, people.n, people.unscored) == ("people.jsonl", False, len(test) - 1, 1)
    assert people.failures == {"missing": 1}
    assert people.scores["scaled_accuracy"].value == 1
    assert {c.n for c in meta_result.comparisons} == {len(test) - 1}
    [accuracy] = [c for c in meta_result.comparisons if c.statistic == "scaled_accuracy"]
    assert accuracy.p < 0.01
    kept = judged("mine.meta/judgements/people.jsonl")
    assert {verdict.signature["data"] for verdict in kept} == {meta_result.revision}
    assert {verdict.signature["metric"] for verdict in kept} == {"people"}


def test_a_run_of_the_metric(mores: Run, data: Path) -> None:
    with JsonlWriter("texts.jsonl") as writer:
        for gold in golds(data):
            writer.write(gold.sample)
    assert mores("score", "texts.jsonl", "--model", "fake:clean", "--out", "mine.run").returncode == 0
    meta_result = ran(mores("meta", "--data", str(data), "--metric", "mine.run", "--baselines", "always", "--json"))
    assert (meta_result.evaluations[0].metric, meta_result.evaluations[0].n) == ("mine.run", len(golds(data)))
    assert json.loads(mores("show", "mine.meta", "--json").stdout)["result"]["revision"] == meta_result.revision


def test_a_file_with_the_name_of_a_baseline_is_kept_beside_it(mores: Run, data: Path) -> None:
    put("never.jsonl", golds(data), perfect)
    meta_result = ran(mores("meta", "--data", str(data), "--metric", "never.jsonl", "--baselines", "never", "--json"))
    assert [evaluation.scores["scaled_accuracy"].value for evaluation in meta_result.evaluations] == [1, 0]
    kept = {path.name: judged(path)[0].judge for path in Path("mine.meta/judgements").iterdir()}
    assert kept == {"never.jsonl": "file", "never-2.jsonl": "never"}
    put("never-2.jsonl", golds(data), lambda _: -1.0)
    files = ["--metric", "never-2.jsonl", "--metric", "never.jsonl", "--baselines", "never", "--out", "three"]
    ran(mores("meta", "--data", str(data), *files, "--json"))
    assert len(list(Path("three/judgements").iterdir())) == 3


def test_judgements_of_other_data_are_refused(mores: Run, data: Path) -> None:
    put("other.jsonl", golds(data), perfect, signature=Signature(metric="x", data="another"))
    done = mores("meta", "--data", str(data), "--metric", "other.jsonl", "--baselines", "none")
    assert done.returncode == 2
    assert "other.jsonl is of data another, " in done.stderr
    assert "--force" not in done.stderr


def test_an_empty_split_is_said_once(mores: Run) -> None:
    Path("bare").mkdir()
    Path("bare/test.jsonl").touch()
    done = mores("meta", "--data", "bare")
    assert done.returncode == 1
    assert done.stderr.strip() == "error: bare/test.jsonl: it has no samples"
    assert not Path("bare.meta").exists()


def test_one_judge_for_each_source(mores: Run, data: Path) -> None:
    test = golds(data)
    put("lora-quiz.jsonl", test, perfect)
    put("lora-facts.jsonl", test, lambda _: 0.0)
    arguments = ["meta", "--data", str(data), "--metric", "lora-{source}.jsonl", "--baselines", "none", "--json"]
    meta_result = ran(mores(*arguments))
    [evaluation] = meta_result.evaluations
    assert evaluation.by["source"]["quiz"]["scaled_accuracy"].value == 1
    assert evaluation.by["source"]["facts"]["scaled_accuracy"].value == 0
    assert evaluation.n == len(test)
    [matrix] = meta_result.leave_one_out
    assert {row: set(cells) for row, cells in matrix.matrix.items()} == {"quiz": {"quiz"}, "facts": {"facts"}}
    assert matrix.average == 0.5
    put("lora-none.jsonl", test, perfect)
    [matrix] = ran(mores(*arguments, "--leave-one-out")).leave_one_out
    assert set(matrix.matrix) == {"quiz", "facts", "none"}
    assert matrix.matrix["facts"]["quiz"].value == 0
    assert matrix.matrix["none"]["facts"].value == 1
    assert matrix.average == 0.5
    assert matrix.trained_on_all is not None
    assert matrix.trained_on_all.value == 1  # and not the value of the judges that were trained without a source
    Path("lora-facts.jsonl").unlink()
    done = mores(*arguments)
    assert done.returncode == 1
    assert "lora-facts.jsonl" in done.stderr


def test_leaving_out_each_source(mores: Run, data: Path) -> None:
    meta_result = ran(mores("meta", "--data", str(data), "--baselines", "never,words", "--leave-one-out", "--json"))
    [matrix] = meta_result.leave_one_out
    assert matrix.metric == "words"
    assert {row: set(cells) for row, cells in matrix.matrix.items()} == {
        row: {"quiz", "facts"} for row in ("none", "quiz", "facts")
    }
    diagonal = [matrix.matrix[source][source].value or 0 for source in ("quiz", "facts")]
    assert matrix.average == pytest.approx(sum(diagonal) / 2)


def test_a_limit_and_another_split(mores: Run, data: Path) -> None:
    meta_result = ran(
        mores("meta", "--data", str(data), "--baselines", "never", "--limit", "4", "--split", "dev", "--json")
    )
    assert (meta_result.n, meta_result.split, meta_result.counts["source"]) == (8, "dev", {"quiz": 4, "facts": 4})
    assert meta_result.evaluations[0].scores["correct_passed"].value == 1
    assert meta_result.notes == ("8 samples were judged: at most 4 of each source, half of them with errors.",)
    kept = judged("mine.meta/judgements/never.jsonl")
    assert {verdict.sample_id for verdict in kept} < {gold.sample.id for gold in golds(data, "dev")}


@pytest.mark.slow
def test_what_is_judged_is_not_learned_from(mores: Run, data: Path) -> None:
    done = mores("meta", "--data", str(data), "--baselines", FAST, "--split", "train", "--json")
    meta_result = ran(done)
    assert [evaluation.metric for evaluation in meta_result.evaluations] == ["always", "never"]
    assert len(meta_result.notes) == 2
    assert "note: words was left out: the judged split (train) cannot be learned from" in done.stderr
    names = ["--baselines", "never, words,retrieval", "--leave-one-out"]
    meta_result = ran(mores("meta", "--data", str(data), *names, "--split", "dev", "--json"))
    assert [evaluation.metric for evaluation in meta_result.evaluations] == [
        "never",
        "words",
    ]  # words learns from train alone
    assert [each.metric for each in meta_result.leave_one_out] == ["words"]


def test_without_training_samples_what_learns_is_left_out(mores: Run, data: Path) -> None:
    shutil.copytree(data, "bare")
    Path("bare/train.jsonl").unlink()
    done = mores("meta", "--data", "bare", "--json")
    meta_result = ran(done)
    assert [evaluation.metric for evaluation in meta_result.evaluations] == ["always", "never"]
    assert {note.split()[0] for note in meta_result.notes} == set(ALL) - {"always", "never"}
    assert "note: words was left out: words learns from train.jsonl" in done.stderr
    assert meta_result.shortcut is None
    done = mores("meta", "--data", "bare", "--baselines", "words")
    assert done.returncode == 1
    assert "no metric could be evaluated: words was left out" in done.stderr


def test_samples_of_one_source_without_regions(mores: Run, data: Path) -> None:
    Path("bare").mkdir()
    for split in ("train", "dev", "test"):
        with JsonlWriter(f"bare/{split}.jsonl") as writer:
            for gold in golds(data, split):
                if gold.sample.source == "quiz":
                    writer.write(gold.model_copy(update={"sample": gold.sample.model_copy(update={"region": None})}))
    done = mores("meta", "--data", "bare", "--baselines", "never,words,similarity", "--leave-one-out", "--json")
    meta_result = ran(done)
    assert [evaluation.metric for evaluation in meta_result.evaluations] == ["never", "words"]
    assert meta_result.leave_one_out == ()
    assert "similarity was left out: a threshold needs both correct and wrong samples" in meta_result.notes[1]
    assert "words cannot be trained without each source" in meta_result.notes[0]
    assert meta_result.counts["region"] == {"unknown": meta_result.n}


def test_votes(mores: Run, data: Path) -> None:
    sample = golds(data, "dev")[0].sample.id
    rows = [
        {"sample_id": sample, "annotator": name, "criterion": "culture", "value": value}
        for name, value in (("ann", "yes"), ("ben", "yes"), ("cem", "no"))
    ]
    Path("votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["meta", "--data", str(data), "--baselines", "never", "--votes", "votes.jsonl"]
    done = mores(*arguments)
    assert done.returncode == 0, done.stderr
    assert "Culture rel." in done.stdout
    assert "Culture rel." in Path("mine.meta/tables.md").read_text()
    meta_result = ran(mores(*arguments, "--json"))
    assert meta_result.votes[0].columns == ("3/3", "2/3", "1/3", "0/3")
    assert meta_result.votes[0].rows["Culture rel."] == ("0.0", "100.0", "0.0", "0.0")
    rows[1]["value"] = "maybe"
    Path("votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = mores(*arguments, "--out", "not-written")
    assert done.returncode == 1
    assert "votes.jsonl: vote 2, ben on culture" in done.stderr
    assert not Path("not-written").exists()


@pytest.mark.often("language")
@pytest.mark.parametrize("by", ["language", "region", "task", "kind"])
def test_the_second_table_by(mores: Run, data: Path, by: str) -> None:
    done = mores("meta", "--data", str(data), "--baselines", "never,always", "--by", by)
    assert done.returncode == 0, done.stderr
    words = {"language": "German", "region": "Kenya", "task": "freeform", "kind": "soft"}[by]
    assert words in done.stdout


# Without sending anything


def test_dry_run_sends_and_writes_nothing(mores: Run, data: Path) -> None:
    n = len(golds(data))
    put("file.jsonl", golds(data), perfect)
    with Server() as server:
        arguments = ["meta", "--data", str(data), "--base-url", server.url, "--dry-run", "--metric", "file.jsonl"]
        models = ["--metric", "excam:openai:x", "--metric", "count:openai:x"]
        done = mores(*arguments, *models)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count(f"{n} calls would be sent") == 2
        assert "count:openai:x:" in done.stdout
        printed = json.loads(mores(*arguments, *models, "--json").stdout)
        assert {name: own["calls"] for name, own in printed.items()} == {"excam:openai:x": n, "count:openai:x": n}
        assert "at most $" in mores(*arguments, *models, "--price", "1,2").stdout
        assert "no model would be asked" in mores(*arguments).stdout
        assert server.asked == []
    assert not Path("mine.meta").exists()


# What is wrong


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--metric", "exam:fake:clean"], 2, "did you mean 'excam:fake:clean'?"),
        (["--metric", "wrods"], 2, "did you mean 'words'?"),
        (["--metric", "count"], 2, "which model?"),
        (["--metric", "excam:nonsense"], 2, "nonsense"),
        (["--baselines", "wrods"], 2, "unknown baseline 'wrods'; known are always, never"),
        (["--baselines", "none"], 2, "nothing to evaluate; name a metric or a baseline (--metric)"),
        (["--limit", "1"], 2, "--limit"),
        (["--by", "colour"], 2, "--by"),
        (["--split", "rest"], 2, "--split"),
        (["--votes", "nowhere.jsonl"], 2, "nowhere.jsonl"),
        (["--metric", "nowhere.jsonl"], 1, "nowhere.jsonl"),
        (["--metric", "other.jsonl"], 1, "other.jsonl: none of its judgements is about a test sample of"),
        (["--metric", "nan.jsonl"], 1, "nan.jsonl: the score of 'x' is nan"),
        (["--metric", "twice.jsonl"], 1, "'x' is judged twice"),
        (["--metric", "bad.jsonl"], 1, "bad.jsonl:1: "),
    ],
)
def test_wrong_usage_and_wrong_files(mores: Run, data: Path, arguments: list[str], code: int, words: str) -> None:
    line = '{"sample_id": "x", "judge": "j", "score": 1}\n'
    Path("other.jsonl").write_text(line)
    Path("nan.jsonl").write_text(line.replace("1}", "NaN}"))
    Path("twice.jsonl").write_text(line * 2)
    Path("bad.jsonl").write_text("nonsense\n")
    done = mores(
        "meta", "--data", str(data), *(["--baselines", "never"] if "--baselines" not in arguments else []), *arguments
    )
    assert words in done.stderr
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_own_pairs_end_with_one_line_for_each_judge(mores: Run, home: Path) -> None:
    rows = [{"instruction": f"Question {n // 2}?", "text": f"Answer {n}.", "correct": n % 2 == 0} for n in range(120)]
    (home / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ("meta", "--data", "mine.jsonl", "--baselines", "always,never")
    done = mores(*command, "--metric", "excam:fake:clean", "--metric", "count:fake:clean")
    assert done.returncode == 1  # one of them judged nothing
    last = " ".join(done.stdout.split())
    assert "excam:fake:clean: not better than guessing here: scaled accuracy 0.00 [" in last
    assert "count:fake:clean: judged none of 120 pairs" in last
    assert last.endswith("] on 120 pairs; do not use it for texts like these")  # the best one's is the last
    (home / "mine.jsonl").write_text('{"text": "a"}\n')
    done = mores(*command)
    assert done.returncode == 1
    assert "mine.jsonl:1: no field 'correct'; expected true or false" in done.stderr


def test_a_folder_that_is_no_dataset(mores: Run, home: Path) -> None:
    (home / "empty").mkdir()
    done = mores("meta", "--data", "empty")
    assert done.returncode == 1
    assert "test.jsonl: no such file; give a folder that `mores build` wrote (--data)" in done.stderr
    (home / "empty" / "test.jsonl").write_text("")
    done = mores("meta", "--data", "empty", "--baselines", "never")
    assert done.returncode == 1
    assert "it has no samples" in done.stderr
    assert mores("meta", "--data", "nowhere").returncode == 2


def test_a_server_that_cannot_be_reached(mores: Run, data: Path) -> None:
    with Server() as server:
        pass
    done = mores("meta", "--data", str(data), "--metric", "count:openai:x", "--base-url", server.url)
    assert done.returncode == 1
    assert f"cannot reach {server.url}" in done.stderr
