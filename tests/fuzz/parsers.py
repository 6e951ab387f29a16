"""Every parser of data from outside, with inputs that it reads: a new one is one line in `PARSERS`."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
from fastapi import HTTPException

from mores import culture
from mores.benchmark import BENCHMARKS, benchmark, labels
from mores.benchmark.judge_check import LabelledAnswer
from mores.benchmark.msqa import judge as msqa
from mores.diagnosis import confidence, errors, verdict
from mores.engine.cost import read_price
from mores.errors import InputError
from mores.factory import folder as build
from mores.factory import folder as manifest
from mores.factory import recipe as factory_recipe
from mores.factory import sources
from mores.factory.errors import model as errors_of_model
from mores.factory.folder import verify as verify_dataset
from mores.factory.sources import files
from mores.factory.wrap.templates import Templates
from mores.io import check_samples, read_records, read_samples
from mores.io.source import read_text
from mores.language import detect
from mores.longanswer import answers, judging
from mores.longanswer.collection import asking
from mores.metaevaluation.dataset import Pairs
from mores.metaevaluation.juice.data import JuiceData
from mores.metaevaluation.people.answers import read_people
from mores.metaevaluation.prompted import KINDS as PROMPTED
from mores.metric.lines import open_lines
from mores.metric.mqm_tsv import read_mqm_tsv
from mores.metric.schema import parse_text
from mores.models import gguf
from mores.models.base import Completion
from mores.models.fake import fake
from mores.models.hf.files import adapter_folder, tuned_style
from mores.models.http import ApiKey, read_wait
from mores.models.openai import read_completion, read_error, read_names
from mores.rating.codes import read_schema
from mores.rating.ratings import open_ratings, read_ratings
from mores.reading import chosen_letter, chosen_truth
from mores.run import open_run
from mores.search.corpus import Corpus
from mores.search.index import build_index
from mores.search.passages import Document, read_passages
from mores.search.replay import Replay
from mores.search.serper import read_results
from mores.search.wiki import read_dump
from mores.serve import Bounds
from mores.serve.body import JSON, LINES, read_texts
from mores.serve.keys import read_keys
from mores.studio.campaigns import open_kind
from mores.studio.campaigns.culturall import tasks as culturall
from mores.studio.campaigns.culturalteaming import asking as teaming
from mores.studio.data.imports import read_items_files
from mores.studio.marks import parse_marks
from mores.studio.store.campaigns import parse_campaign, read_settings
from mores.studio.store.items import Campaign
from mores.studio.workflow import Flow
from mores.training import recipe as train_recipe
from mores.training.pairs import read_pairs
from mores.types import Judgement, Severity
from tests.answers import graded
from tests.benchmark.test_culturall import sheet
from tests.engine.server import CLEAN, completion
from tests.factory.test_sources import WRITERS
from tests.harness.test_logs import inspect_sample, lm_eval_sample, write_eval, write_json
from tests.metaevaluation.golds import error
from tests.metaevaluation.golds import gold as make_gold
from tests.runs import write_manifest
from tests.test_tables import save_dataset

ROOT = Path(__file__).parents[2]
EXAMPLES, BENCH = ROOT / "examples", ROOT / "src" / "mores" / "benchmark"


class Parser(NamedTuple):
    """Reads a folder; each example damages one of its files."""

    read: Callable[[Path], object]
    files: dict[str, bytes]


EXPORTS = Path(__file__).parents[1] / "rating" / "exports"
open_potato = partial(open_ratings, split={"id": "{question_id}__{model}"})


def file(name: str, read: Callable[[Path], object], seed: bytes | str | Path | list[Any]) -> Parser:
    """A parser of one file; a list is one of JSON rows."""
    match seed:
        case Path():
            data = b"".join(seed.read_bytes().splitlines(keepends=True)[:6])
        case list():
            data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in seed).encode()
        case str():
            data = seed.encode()
        case _:
            data = seed
    return Parser(lambda folder: read(folder / name), {name: data})


def body(read: Callable[[bytes], object], seed: str, form: str = "json") -> Parser:
    """A parser of bytes that a server sent."""
    return file(f"body.{form}", lambda path: read(path.read_bytes()), seed)


def reply(read: Callable[[str], object], seed: str, form: str = "txt") -> Parser:
    """A parser of what a model wrote: any text that can be encoded."""
    return body(lambda data: read(data.decode("utf-8", "replace")), seed, form)


def folder(read: Callable[[Path], object], write: Callable[[Path], object]) -> Parser:
    """A parser of a folder of files, which `write` makes."""
    with TemporaryDirectory() as made:
        write(Path(made))
        return Parser(read, contents(Path(made)))


def contents(folder: Path) -> dict[str, bytes]:
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def ignore(_: object) -> None:
    """Bad rows are values."""


def benchmarks() -> Iterator[tuple[str, Parser]]:
    """The loader of each benchmark, on its sample rows."""
    for name in BENCHMARKS:
        found = benchmark(name)
        assert found.folder is not None
        yield f"bench {name}", Parser(partial(rows_of, found.read), contents(found.folder / "sample"))


def rows_of(read: Callable[[Path, Callable[[InputError], None]], Iterator[object]], folder: Path) -> list[object]:
    return list(read(folder, ignore))


def read_source(name: str) -> Parser:
    return folder(partial(rows_of, partial(sources.load, name)), lambda path: WRITERS[name](path / name))


def prompted(kind: str, text: str) -> list[float]:
    return [PROMPTED[kind].score(line[1]) for line in PROMPTED[kind].line.finditer(text)]


def campaign(kind: str, settings: dict[str, Any]) -> Campaign:
    opened = open_kind(kind)
    read = read_settings(opened, settings)
    return Campaign("c", opened, read, Flow("c", opened.stages(read)), "C")


MARKING = campaign("marking", {"title": "Mark", "languages": ["en"], "regions": ["KE"]})
RATING_CAMPAIGN = campaign("rating", {"title": "Rate", "languages": ["en"]})
VALIDATION = campaign("validation", {"title": "Check", "languages": ["en"], "regions": ["DE"]})
TEAMING = campaign("culturalteaming", {"title": "Tea", "regions": ["KE"]})


def requested(media: str, data: bytes) -> object:
    """What a client sends to `mores serve`; the service refuses by errors of HTTP, too."""
    try:
        return read_texts(data, media, Bounds())
    except HTTPException as refused:
        raise InputError(refused.detail) from refused


def texts(path: Path) -> object:
    """A table of texts."""
    return [check_samples(path), *read_samples(path, on_bad=ignore)]


def lines(path: Path) -> object:
    """A file with one text in each line."""
    with open_lines(str(path)) as texts:
        return texts.count


def items(of: Campaign, name: str, seed: str | list[Any], form: str = "") -> Parser:
    """A file that somebody imports into a campaign."""
    return file(name, lambda path: read_items_files(of, [(name, path.read_bytes())], form), seed)


def text_of(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


MQM = (
    "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\tmetadata\n"
    "a\td\t1\t1\tr1\tSome text\tEin <v>Text</v>\tAccuracy\tmajor\t{}\n"
    "a\td\t1\t1\tr2\tSome text\tEin Text\tNo-error\tNo-error\t{}\n"
)
ERROR = {"side": "text", "quote": "Tea", "severity": "minor", "type": "t", "explanation": "e", "correction": "c"}
REPORT = json.dumps({"errors": [ERROR, ERROR], "explanation": "Two."})
SPAN = {"value": {"start": 0, "end": 3, "text": "Tea", "labels": ["minor"]}, "id": "r"}
TASK = {
    "data": {"text": "Tea first.", "instruction": "Say."},
    "annotations": [
        {
            "completed_by": {"id": 4}, "lead_time": 8.4, "created_at": "2024-05-01T14:30:00Z",
            "result": [{"from_name": "marks_text", "to_name": "text", "type": "labels", **SPAN},
                       {"from_name": "why", "to_name": "text", "type": "textarea", "value": {"text": ["b"]}}],
        }
    ],
}  # fmt: skip
PEARMUT = {
    "annotation": [{"A": {"score": 87, "error_spans": [{"start_i": 0, "end_i": 3, "severity": "major"}]}}],
    "actions": [{"time": 100.0}, {"time": 110.5}], "user_id": "fox", "item_i": 13,
    "item": [{"item_id": "one", "src": "Guten Tag", "tgt": {"A": "Good day"}}],
}  # fmt: skip
RATING = (
    "question,answer,model,annotator,rating,language,spans,at,codes\n"
    'Why?,Déjà vu,a,3,good,fr,"[{""start"":0,""end"":4,""severity"":""major""}]",2024-05-01T14:30:00Z,ann: facts\n'
)
QUESTIONS = 'question,options_1,options_2,options_3,options_4,correct\n"In Kenya, what?",a,b,c,d,A\n'
TEXTS: dict[str, str | Path] = {
    "jsonl": EXAMPLES / "answers.jsonl",
    "txt": "One.\nTwo.\n",
    "csv": 'id,instruction,text,language,region\n1,Say,"a, b",en,KE\n2,Say,c,Shona,Kenya\n',
    "tsv": "id\tinstruction\ttext\tlanguage\n1\tSay\ta b\tfr\n",
}
GGUF = (
    b"GGUF" + struct.pack("<IQQ", 3, 0, 3)
    + text_of("nested") + struct.pack("<IIQ", 9, 9, 1) + struct.pack("<IQ", 8, 2) + text_of("a") + text_of("bc")
    + text_of("number") + struct.pack("<II", 4, 7)
    + text_of(gguf.STYLE) + struct.pack("<I", 8) + text_of("fenced")
)  # fmt: skip
GOLD = make_gold("a", error("They eat bread.", "bread", why="No."), answer="rice").model_dump(mode="json")
DATASET = {
    **dict.fromkeys(("train.jsonl", "dev.jsonl"), b""),
    "test.jsonl": json.dumps(GOLD).encode() + b"\n",
    "manifest.jsonl": b"",
    "recipe.json": b'{"edition": 2, "recipe": {"name": "x", "errors": 3, "cap": 9}, "tables": {"split": {}}}',
    "SHA256SUMS": b"00  test.jsonl\n",
}
FOUND = {
    "organic": [{"title": "t", "snippet": "s", "link": "https://example.org/", "date": "d"}],
    "answerBox": {"answer": "a", "snippet": "s"},
    "knowledgeGraph": {"title": "t", "type": "k", "description": "d", "attributes": {"a": "b"}},
}
ADAPTER = {"adapter_config.json": b'{"peft_type": "LORA", "r": 8}', "adapter_model.safetensors": b""}
SECRET = ApiKey("sk-live-4f9a7c2e81d05b63")
ERROR_OF_MODEL = json.dumps({"culturally_relevant": True, "instruction": "i", "output": "o", "errors": []})

PARSERS: dict[str, Parser] = {
    # texts, and what people and models said about them
    **{f"texts {form}": file(f"t.{form}", texts, seed) for form, seed in TEXTS.items()},
    "texts json": file("t.json", texts, json.dumps([{"id": 1, "text": "a", "Country": "Kenya", "n": [1]}])),
    "texts utf-16": file("t.csv", texts, "id;text;n\n1;a;2\n".encode("utf-16")),
    "texts windows-1252": file("t.csv", texts, "id;text;n\n1;café à côté;2\n".encode("cp1252")),
    "texts xlsx": folder(lambda path: texts(path / "t.xlsx"), lambda path: sheet(
        path / "t.xlsx", '<c r="A1" t="s"><v>0</v></c>', '<c r="A2" t="s"><v>1</v></c>',
        shared="<si><t>text</t></si><si><t>tea</t></si>")),
    "texts parquet": folder(lambda path: texts(path / "t.parquet"), lambda path: pq.write_table(
        pa.Table.from_pylist([{"text": "a", "more": [1]}]), path / "t.parquet")),
    "texts feather": folder(lambda path: texts(path / "t.feather"), lambda path: feather.write_feather(
        pa.Table.from_pylist([{"text": "a", "more": [1]}]), str(path / "t.feather"), compression="uncompressed")),
    "saved dataset": folder(lambda path: texts(path / "d"), lambda path: save_dataset(path / "d", [{"text": "a"}] * 2)),
    "judgements": file("j.jsonl", lambda path: list(read_records(path, Judgement)), EXAMPLES / "world.gold.jsonl"),
    "pairs": file("p.jsonl", lambda path: Pairs(path).golds, [{"text": "a", "correct": True}]),
    "graded answers": file("g.jsonl", lambda path: list(read_records(path, LabelledAnswer)),
                           [{"item_id": "i", "answer": "a", "label": "correct"}]),
    "labels": file("l.jsonl", lambda path: labels.read_labels([path]), [{"id": "q", "labels": {"topic": "Food"}}]),
    "error types": file("e.jsonl", errors.read_labelled,
                        [{"item_id": "i", "answer": "a", "type": errors.type_names()[0]}]),
    "lines": file("t.txt", lines, "One.\n\nTwo.\r\n"),
    "mqm": file("m.tsv", read_mqm_tsv, MQM),
    "marks by people": file("m.tsv", lambda path: read_people("marks", path), MQM),
    "ratings jsonl": file("r.jsonl", read_ratings, EXAMPLES / "ratings.jsonl"),
    "ratings csv": file("r.csv", read_ratings, RATING),
    "ratings google forms": file("r.csv", read_ratings, (EXPORTS / "google_forms.csv").read_text("utf-8")),
    "ratings qualtrics": file("r.csv", read_ratings, (EXPORTS / "qualtrics.csv").read_text("utf-8")),
    "ratings label studio": file("r.json", read_ratings, (EXPORTS / "label_studio.json").read_text("utf-8")),
    "ratings argilla": file("r.json", read_ratings, (EXPORTS / "argilla.json").read_text("utf-8")),
    "ratings flat argilla": file("r.jsonl", read_ratings, EXPORTS / "argilla_flat.jsonl"),
    "ratings potato": file("r.jsonl", open_potato, EXPORTS / "alice" / "annotated_instances.jsonl"),
    "ratings doccano": file("r.jsonl", read_ratings, EXPORTS / "doccano_alice.jsonl"),
    "ratings of people": file("r.csv", lambda path: read_people("ratings", path), RATING),
    "codes": file("c.yaml", read_schema, "facts: {title: Facts, keywords: [wrong*], patterns: [a+]}\nstyle: Style\n"),
    "juice": file("j.json", lambda path: JuiceData(path).answers,
                  (ROOT / "src/mores/metaevaluation/juice/example.json").read_bytes()),
    "long answers": file("a.jsonl", lambda path: list(answers.read_answers(path, ignore)),
                         [{"question": "q", "answer": "a", "language": "en", "kind": "specific", "region": "KE"}]),
    "passages": file("p.jsonl", lambda path: list(read_passages(Document(path, "p"))), EXAMPLES / "passages.jsonl"),
    "documents": file("p.md", lambda path: list(read_passages(Document(path, "p"))), "# Tea\n\nIt is hot.\n\n- a\n"),
    "wikipedia dump": file("d.xml", lambda path: list(read_dump(path)),
                           "<mediawiki xml:lang='en'><page><title>A</title><ns>0</ns><revision><text>{{a}}[[b|c]] "
                           "{| e |}</text></revision></page></mediawiki>"),
    "corpus file": folder(lambda path: [Corpus(path / "c.corpus").passage(place) for place in range(2)],
                          lambda path: build_index(path / "c.corpus", ({"evidence": {"text": "a", "title": ""}},) * 2,
                                                   lambda passage: str(passage["evidence"]["text"]))),
    "inspect log": folder(lambda path: list(read_samples(path / "l.zip", format="inspect", on_bad=ignore)),
                          lambda path: write_eval(path / "l.zip", inspect_sample(), inspect_sample("b", 2))),
    "inspect log json": folder(lambda path: list(read_samples(path / "l.json", format="inspect", on_bad=ignore)),
                               lambda path: write_json(path / "l.json", inspect_sample())),
    "lm-eval log": file("l.jsonl", lambda path: list(read_samples(path, format="lm-eval", on_bad=ignore)),
                        [lm_eval_sample(), lm_eval_sample(1)]),
    "recorded searches": file("s.jsonl", Replay, [{"query": "q", "k": 1, "evidence": [{"text": "t"}]}]),
    # datasets
    **dict(benchmarks()),
    **{f"source {name}": read_source(name) for name in WRITERS},
    "spreadsheet": folder(lambda path: list(files.read(path / "b.xlsx")), lambda path: sheet(
        path / "b.xlsx", '<c r="A1" t="s"><v>0</v></c>', '<c r="A2"><v>12</v></c>', shared="<si><t>q</t></si>")),
    "rows json": file("f.json", lambda path: list(files.read(path)), '[{"a": 1}, {"b": [2]}]'),
    "rows json deep": file("f.json", lambda path: list(files.read(path, 2)), '{"x": {"y": {"a": 1}}}'),
    "rows gz": file("f.jsonl.gz", lambda path: list(files.read(path)), gzip.compress(b'{"a": 1}\n{"b": 2}\n')),
    "rows tsv": file("f.tsv", lambda path: list(files.read(path)), "a\tb\n1\t2\n"),
    "build recipe": file("r.yaml", lambda path: factory_recipe.read_recipe(str(path)),
                         "name: mine\nsources: [blend, mine.jsonl]\ncap: 10\nrevisions: {blend: abc}\n"),
    "templates": file("base/en/qa.output.txt", lambda path: Templates(path.parents[2]),
                      (ROOT / "src/mores/factory/templates/base/en/qa.output.txt").read_bytes()),
    "build card": file("recipe.json", build.read_about, '{"edition": 2, "recipe": {"name": "x"}}'),
    "build manifest": file("m.jsonl", manifest.read_entries,
                           [{"id": "a", "split": "test", "source": "s", "task": "qa", "kind": "hard", "group": "g",
                             "sha256": "0"}]),
    "train recipe": file("r.toml", train_recipe.read_recipe, 'rank = 64\nlearning_rate = 1e-4\nstyle = "guided"\n'),
    "pairs of passages": file("pairs.jsonl", lambda path: read_pairs(path.parent), [
        {"id": "a", "claim": "a", "evidence": ["b"], "label": "unknown", "language": "en", "source": "s"}]),
    "topics": file("t.toml", labels.read_topics, '"Food" = "dishes"\n"Work" = "jobs"\n'),
    "dataset": Parser(verify_dataset, DATASET),
    "run": folder(open_run, lambda path: write_manifest(path, "score", metric="x")),
    # models
    "gguf": file("m.gguf", lambda path: gguf.read_text(path, gguf.STYLE), GGUF),
    "adapter": Parser(lambda path: adapter_folder(str(path)), ADAPTER),
    "tuned style": file("recipe.toml", lambda path: tuned_style(path.parent), 'style = "guided"\n'),
    "fake script": file("s.jsonl", lambda path: fake(str(path)), [{"contains": "a", "answer": "b", "stop": "stop"}]),
    # what servers send
    "completion": body(read_completion, json.dumps(completion(CLEAN))),
    "error": body(read_error, '{"error": {"message": "slow down", "code": "busy", "param": "logprobs"}}'),
    "models": body(read_names, '{"data": [{"id": "a"}, {"id": "b"}]}'),
    "retry after": reply(lambda text: read_wait(text, text), "Wed, 21 Oct 2026 07:28:00 GMT"),
    "search results": body(lambda data: read_results(data, boxes=True), json.dumps(FOUND)),
    "masked body": body(SECRET.masked_body, json.dumps(completion("a\nb"))),
    # what models write
    "report": reply(parse_text, REPORT, "json"),
    "report in a fence": reply(parse_text, f"```json\n{REPORT}\n```"),
    "claims": reply(judging.read_claims, "- Tea is hot.\n- It is drunk.\n"),
    "claims json": reply(judging.read_claims, '{"claims": ["a", "b"]}', "json"),
    "fact verdict": reply(judging.read_verdict, "Reason: so.\nVerdict: not supported"),
    "fact verdict json": reply(judging.read_verdict, '{"reason": "r", "verdict": "supported"}', "json"),
    "relevance": reply(judging.read_relevance, "<explanation>e</explanation><judgment>relevant</judgment>"),
    "relevance json": reply(judging.read_relevance, '{"explanation": "e", "judgment": "relevant"}', "json"),
    "collection verdict": reply(asking.read_verdict, "<explanation>e</explanation><result>PASS</result>"),
    "collection topic": reply(asking.read_topic, "<category>Food and Drink</category>"),
    **{f"collection {stage}": reply(partial(asking.in_tags, stage), '{"translation": "t", "result": "PASS"}', "json")
       for stage in asking.CollectStage},
    "letter": reply(lambda text: chosen_letter(text, 4), "The answer is **B**.\nA. no"),
    "truth": reply(chosen_truth, "It is not False, but True."),
    "msqa verdict": reply(lambda text: msqa.read_verdict(text, msqa.FIRST), "Because.\nVERDICT: NOT_CORRECT"),
    "stated confidence": reply(lambda text: confidence.read_reply(text, confidence.form_of("en")),
                               "Answer: a\nConfidence: 85"),
    "confidence json": reply(confidence.read_written, '{"answer": "a", "confidence": 85}', "json"),
    "verdict lines": reply(lambda text: verdict.read_lines(text, {"TYPE": ("1", "2")}), "So.\nTYPE: 2"),
    **{f"prompted {kind}": reply(partial(prompted, kind), "Errors: 2\nScore: 80\nVerdict: 1") for kind in PROMPTED},
    "errors of a model": reply(
        lambda text: errors_of_model.read(Completion(text).complete(), make_gold("a"), Severity.MINOR),
        ERROR_OF_MODEL, "json"),
    "draft": reply(lambda text: teaming.read_draft(graded(Completion(text)), None, None, None),  # type: ignore[arg-type]
                   '{"question": "q", "options": ["a", "b", "c", "d"], "correct": "A"}', "json"),
    "culturall draft": reply(culturall.read_draft, "[Scenario] s\n[Question] q\n[Answer] a\n[Explanation] e"),
    "culturall region": reply(culturall.read_region, "KE"),
    # the service
    "request": body(partial(requested, JSON), json.dumps([{"id": 1, "text": "a", "evidence": [{"text": "b"}]}])),
    "request in lines": body(partial(requested, LINES), '{"text": "a", "language": "en"}\n{"text": "b"}\n', "jsonl"),
    "keys": file("k.txt", lambda path: read_keys(path, None), "# of the website\na-key-that-nobody-guesses\n"),
    # the studio
    "campaign": file("c.yaml", lambda path: parse_campaign(read_text(path), "c.yaml"),
                     "kind: culturalteaming\ntitle: T\nregions: [KE]\n"),
    "field of marks": reply(parse_marks, '[{"part": "text", "start": 0, "end": 3, "quote": "Tea"}]', "json"),
    "import csv": items(TEAMING, "i.csv", QUESTIONS),
    "import jsonl": items(MARKING, "i.jsonl", [{"text": "Tea first.", "report": {"errors": [ERROR]}, "judge": "j"}]),
    "import label studio": items(MARKING, "i.json", json.dumps([TASK]), "label-studio"),
    "import pearmut": items(MARKING, "i.jsonl", [PEARMUT], "pearmut"),
    "import ratings": items(RATING_CAMPAIGN, "i.jsonl", [{"question": "q", "answer": "a", "model": "m"}]),
    "import gold": items(VALIDATION, "i.jsonl", [GOLD]),
    "import mqm": items(MARKING, "i.tsv", MQM, "mqm"),
    # names and texts of any kind
    "price": reply(read_price, "0.40,1.60"),
    "language": reply(culture.language, "zh-Hant-TW"),
    "region": reply(culture.region, "Republic of Korea"),
    "detect": reply(detect, "Čaj se pije horký."),
}  # fmt: skip
