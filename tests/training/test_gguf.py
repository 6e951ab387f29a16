"""GGUF files to transformers folders and back, on tiny random models that are written here, and on the embedded one.

llama.cpp is the judge: what was unpacked or exported must say the same in it as in transformers.
"""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
import pytest

from mores.errors import ConfigError, InputError
from mores.models.pull import default_path
from tests.packages import package

_REASON = "needs the extras hf and train: pip install '.[hf,train]'"
gguf: Any = pytest.importorskip("gguf", reason=_REASON)
torch: Any = package("torch", reason=_REASON)
transformers: Any = package("transformers", reason=_REASON)
peft: Any = package("peft", reason=_REASON)

from mores.models.hf import HFModel  # noqa: E402
from mores.training.gguf import export_adapter, export_difference, export_merged, unpack  # noqa: E402
from mores.training.gguf.weights import FileWeights, FolderWeights, open_weights  # noqa: E402
from tests.training.tiny_gguf import (  # noqa: E402
    LAYERS,
    PIECES,
    QUESTIONS,
    WIDTH,
    ask,
    assert_same,
    embedded,
    make_adapter,
    tune,
    weights,
    write,
)

TEXTS = [
    "the  12 teas\n\n in  1 cup", "a   1  2b\t3", "½ ² ① ४५ ٣٤ Ⅷ 1st", "日本語。 한국어 กขค हिन्दी العربية",
    "don't WE'LL I'Ve", "\r\n\r\n  \n\t x \u00a0 y\u3000z", "e\u0301 é 👩\u200d👩\u200d👧", "\x00\x7f \u200b", "",
    "<|im_start|>user\nthe<|im_end|>\n", "  <|endoftext|> in", "trailing   ",
]  # fmt: skip


@pytest.fixture(
    scope="module", params=["gemma3", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("llama", "qwen2"))]
)
def tiny(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `base.gguf` and what was unpacked from it, `base`."""
    folder = tmp_path_factory.mktemp(request.param)
    unpack(write(folder / "base.gguf", request.param), folder / "base")
    return folder


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("llama")
    unpack(write(folder / "base.gguf"), folder / "base")
    return folder


pytestmark = pytest.mark.usefixtures("on_the_cpu")


@contextmanager
def tokenizing(path: Path) -> Iterator[Any]:
    """llama.cpp's own tokens of a text."""
    settings = {"model": str(path), "adapter": None, "fit": False, "context": 512, "slots": 1, "threads": 1}
    settings |= {"folder": "", "key": "k"}
    with subprocess.Popen(
        [sys.executable, "-m", "mores.models.llama_server"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(settings).encode() + b"\n")
        server.stdin.flush()
        address = server.stdout.readline().decode().strip()

        def tokenize(text: str) -> list[int]:
            body = json.dumps({"content": text, "add_special": False, "parse_special": True}).encode()
            headers = {"Authorization": "Bearer k", "Content-Type": "application/json"}
            with urllib.request.urlopen(urllib.request.Request(address + "/tokenize", body, headers)) as answer:
                return list(json.load(answer)["tokens"])

        yield tokenize
        server.stdin.close()
        server.wait()


# -- unpacking --------------------------------------------------------------------------------------------------


def test_what_was_unpacked_answers_as_the_file(tiny: Path) -> None:
    answers = ask(embedded(tiny / "base.gguf"))
    assert len({answer.text for answer in answers}) > 1, "answers depend on the question"
    assert_same(answers, ask(HFModel(str(tiny / "base"))))


def test_it_loads_without_the_package_gguf(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gguf", None)
    model = transformers.AutoModelForCausalLM.from_pretrained(llama / "base")
    tokenizer = transformers.AutoTokenizer.from_pretrained(llama / "base")
    assert (model.dtype, model.generation_config.eos_token_id) == (torch.float32, [0, 2])
    assert tokenizer.eos_token == "<|im_end|>"
    assert tokenizer.chat_template


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["llama", "qwen2"])
def test_texts_become_the_same_tokens(kind: str, tmp_path: Path) -> None:
    """For every Qwen, transformers composes letters and accents first, which llama.cpp does not."""
    unpack(write(tmp_path / "base.gguf", kind), tmp_path / "base")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "base")
    with tokenizing(tmp_path / "base.gguf") as tokenize:
        for text in TEXTS if kind == "llama" else [normalize("NFC", text) for text in TEXTS]:
            ids = tokenizer(text, add_special_tokens=False)["input_ids"]
            assert ids == tokenize(text), text
            assert tokenizer.decode(ids) == text


def test_texts_become_the_same_pieces(tmp_path: Path) -> None:
    embeddings = {"token_embd.weight": np.ones((len(PIECES), WIDTH), np.float32)}
    others = {name: value for name, value in weights("llama").items() if name != "output.weight"}
    unpack(write(tmp_path / "base.gguf", only=others | embeddings, model="llama"), tmp_path / "base")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "base")
    with tokenizing(tmp_path / "base.gguf") as tokenize:
        for text in [*TEXTS, "  the   tea<b>in the\n\n<|im_end|> then", "hehehe thethe 日本"]:
            ids = tokenizer(text, add_special_tokens=False)["input_ids"]
            assert ids == tokenize(text), text
            assert tokenizer.decode(ids) == text


def test_rows_of_q_are_put_back(llama: Path) -> None:
    """llama.cpp turns rows 0 and 1 of a head together, transformers rows 0 and 8 of 16."""
    stored = weights("llama")["blk.1.attn_q.weight"]
    model = transformers.AutoModelForCausalLM.from_pretrained(llama / "base")
    rows = model.model.layers[1].self_attn.q_proj.weight.detach().numpy()
    assert (rows[0] == stored[0]).all()
    assert (rows[8] == stored[1]).all()
    assert (rows[16 + 1] == stored[16 + 2]).all()


def test_a_folder_is_not_written_over(llama: Path) -> None:
    with pytest.raises(InputError, match="already exists; remove it"):
        unpack(llama / "base.gguf", llama / "base")


# -- whole models -----------------------------------------------------------------------------------------------


def test_weights_come_back_exactly(tiny: Path, tmp_path: Path) -> None:
    export_merged(tiny / "base", None, tiny / "base.gguf", tmp_path / "again.gguf", "f32")
    before, after = FileWeights(tiny / "base.gguf"), FileWeights(tmp_path / "again.gguf")
    assert before.shapes == after.shapes
    for name in before.shapes:
        assert np.abs(before.read(name) - after.read(name)).max() <= 1e-7, name
    fields = [
        {key: field.contents() for key, field in file.reader.fields.items() if key.split(".")[0] != "GGUF"}
        for file in (before, after)
    ]
    assert fields[1] == fields[0] | {"general.file_type": 0}


@pytest.mark.parametrize(
    ("kind", "near"),
    [("f16", 5e-4), ("q8_0", 5e-3), ("q5_0", 0.07), ("q4_1", 0.07), ("q4_0", 0.14), ("like-base", 0.0)],
)
def test_weights_in_fewer_bits(llama: Path, tmp_path: Path, kind: str, near: float) -> None:
    export_merged(llama / "base", None, llama / "base.gguf", tmp_path / "again.gguf", kind)
    before, after = FileWeights(llama / "base.gguf"), FileWeights(tmp_path / "again.gguf")
    for name in before.shapes:
        exact = before.read(name)
        assert np.abs(exact - after.read(name)).max() <= near * np.abs(exact).max(), name
    types = {name: tensor.tensor_type.name for name, tensor in after.tensors.items()}
    assert types["blk.0.attn_norm.weight"] == "F32"
    assert types["blk.0.attn_q.weight"] == {"like-base": "F32"}.get(kind, kind.upper())


@pytest.mark.slow
def test_each_weight_gets_the_type_of_the_base(llama: Path, tmp_path: Path) -> None:
    """A file in Q4_1, unpacked and packed again, is the same file."""
    mixed = tmp_path / "mixed.gguf"
    file = gguf.GGUFReader(llama / "base.gguf")
    writer = gguf.GGUFWriter(str(mixed), "llama")
    for key, field in file.fields.items():
        if not key.startswith("GGUF.") and key != "general.architecture":
            writer.add_key_value(key, field.contents(), field.types[0], *field.types[1:2])
    for tensor in file.tensors:
        kind = "F32" if tensor.data.ndim == 1 else "Q8_0" if "embd" in tensor.name else "Q4_1"
        number = gguf.GGMLQuantizationType[kind]
        writer.add_tensor(tensor.name, gguf.quants.quantize(tensor.data, number), raw_dtype=number)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    unpack(mixed, tmp_path / "folder")
    export_merged(tmp_path / "folder", None, mixed, tmp_path / "again.gguf", "like-base")
    assert {tensor.tensor_type.name for tensor in FileWeights(tmp_path / "again.gguf").tensors.values()} == {
        "F32", "Q4_1", "Q8_0",
    }  # fmt: skip
    before, after = FileWeights(mixed), FileWeights(tmp_path / "again.gguf")
    for name in before.shapes:
        assert before.read(name) == pytest.approx(after.read(name), abs=1e-3), name


def test_a_merged_adapter_answers_as_in_transformers(llama: Path, tmp_path: Path) -> None:
    adapter = make_adapter(llama / "base", tmp_path / "adapter")
    export_merged(llama / "base", adapter, llama / "base.gguf", tmp_path / "merged.gguf", "f32")
    expected = ask(HFModel(str(llama / "base"), adapter=str(adapter)))
    assert_same(ask(embedded(tmp_path / "merged.gguf")), expected)
    export_merged(llama / "base.gguf", adapter, llama / "base.gguf", tmp_path / "direct.gguf", "f32")
    assert (tmp_path / "direct.gguf").read_bytes() == (tmp_path / "merged.gguf").read_bytes()


# -- adapters ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_adapter_answers_as_in_transformers(tiny: Path, tmp_path: Path) -> None:
    adapter = make_adapter(tiny / "base", tmp_path / "adapter")
    export_adapter(adapter, tiny / "base.gguf", tmp_path / "lora.gguf", "f32")
    answers = ask(embedded(tiny / "base.gguf", tmp_path / "lora.gguf"))
    assert_same(answers, ask(HFModel(str(tiny / "base"), adapter=str(adapter))))
    assert [answer.text for answer in answers] != [answer.text for answer in ask(embedded(tiny / "base.gguf"))]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"use_rslora": True}, marks=pytest.mark.slow),
        {"rank_pattern": {"q_proj": 2}, "alpha_pattern": {"layers.1.mlp.up_proj": 9, "q_proj": 5}},
    ],
    ids=["rslora", "patterns"],
)
def test_the_size_of_each_change_is_kept(llama: Path, tmp_path: Path, options: dict[str, Any]) -> None:
    adapter = make_adapter(llama / "base", tmp_path / "adapter", **options)
    export_merged(llama / "base", adapter, llama / "base.gguf", tmp_path / "merged.gguf", "f32")
    model = transformers.AutoModelForCausalLM.from_pretrained(llama / "base")
    peft.PeftModel.from_pretrained(model, adapter).merge_and_unload().save_pretrained(tmp_path / "model")
    ours, theirs = FileWeights(tmp_path / "merged.gguf"), FolderWeights(tmp_path / "model")
    for name in ours.shapes:
        assert ours.read(name) == pytest.approx(theirs.read(name), abs=1e-5), name


@pytest.mark.parametrize(
    ("kind", "share"),
    [
        ("q4_1", 20 / 32),
        *(
            pytest.param(kind, share, marks=pytest.mark.slow)
            for kind, share in (("f32", 4), ("f16", 2), ("q8_0", 34 / 32), ("q5_0", 22 / 32), ("q4_0", 18 / 32))
        ),
    ],
)
def test_an_adapter_in_fewer_bits(llama: Path, tmp_path: Path, kind: str, share: float) -> None:
    adapter = make_adapter(llama / "base", tmp_path / "adapter", r=32)
    export_adapter(adapter, llama / "base", tmp_path / "lora.gguf", kind)
    file = gguf.GGUFReader(tmp_path / "lora.gguf")
    count = LAYERS * 32 * ((64 + 64) * 2 + (64 + 32) * 2 + (64 + 96) * 3)  # q and o, k and v, the three of the mlp
    assert sum(int(tensor.n_bytes) for tensor in file.tensors) == count * share
    values = {key: field.contents() for key, field in file.fields.items()}
    assert values["general.type"] == "adapter"
    assert values["general.architecture"] == "llama"
    assert values["adapter.type"] == "lora"
    assert values["adapter.lora.alpha"] == 3.0
    assert {"blk.1.attn_k.weight.lora_a", "blk.1.attn_k.weight.lora_b"} <= {tensor.name for tensor in file.tensors}
    expected = ask(HFModel(str(llama / "base"), adapter=str(adapter)), QUESTIONS[:1], 4)
    assert_same(ask(embedded(llama / "base.gguf", tmp_path / "lora.gguf"), QUESTIONS[:1], 4), expected, 0.1)


# -- differences ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_difference_of_low_rank_is_kept_whole(tiny: Path, tmp_path: Path) -> None:
    tuned = tune(tiny / "base", tmp_path / "tuned", rank=3)
    share = export_difference(tuned, tiny / "base.gguf", tmp_path / "lora.gguf", 3, "f32")
    assert share == pytest.approx(1, abs=1e-6)
    assert_same(ask(embedded(tiny / "base.gguf", tmp_path / "lora.gguf")), ask(HFModel(str(tuned))))


@pytest.mark.slow
def test_norms_go_into_the_maps_that_read_them(llama: Path, tmp_path: Path) -> None:
    tuned = tune(llama / "base", tmp_path / "tuned", rank=1, layernorm=0.1)
    share = export_difference(tuned, llama / "base.gguf", tmp_path / "lora.gguf", 1000, "f32")
    assert share == pytest.approx(1, abs=1e-6)
    assert_same(ask(embedded(llama / "base.gguf", tmp_path / "lora.gguf")), ask(HFModel(str(tuned))))


@pytest.mark.slow
def test_what_is_lost_is_counted(llama: Path, tmp_path: Path) -> None:
    tuned = tune(llama / "base", tmp_path / "tuned", rank=3, embed_tokens=0.01)
    shares = [export_difference(tuned, llama / "base", tmp_path / f"{rank}.gguf", rank) for rank in (1, 2, 3)]
    before, after = open_weights(llama / "base"), open_weights(tuned)
    changes = {name: after.read(name) - before.read(name) for name in before.shapes}
    whole = sum(float(np.sum(change**2)) for change in changes.values())
    maps = [change for name, change in changes.items() if name.startswith("blk.") and change.ndim == 2]
    sizes = np.array([np.linalg.svd(change, compute_uv=False)[:3] ** 2 for change in maps])
    # The nearest change of a rank keeps the largest singular values; embeddings have no LoRA.
    assert shares == pytest.approx(np.cumsum(sizes.sum(axis=0)) / whole, rel=1e-4)


def test_no_difference_is_said(llama: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give the tuned model first"):
        export_difference(llama / "base", llama / "base.gguf", tmp_path / "lora.gguf", 4)
    assert not list(tmp_path.iterdir())


# -- wrong files ------------------------------------------------------------------------------------------------


def test_files_that_are_no_models(llama: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.gguf"
    text.write_text("not a model")
    half = tmp_path / "half.gguf"
    half.write_bytes((llama / "base.gguf").read_bytes()[:20_000])
    more = {"rope_freqs.weight": np.ones(8, np.float32), **weights("llama")}
    for path, message in [
        (text, "not a GGUF file; expected one made for llama.cpp"),
        (half, "a damaged GGUF file .*; download it again"),
        (tmp_path / "none.gguf", "no such file; expected a GGUF model"),
        (write(tmp_path / "mamba.gguf", "mamba"), "unsupported architecture 'mamba'; supported are llama, qwen2"),
        (write(tmp_path / "lora.gguf", type="adapter"), "a LoRA, not a model; give the GGUF file of the model"),
        (write(tmp_path / "pre.gguf", pre="tekken"), "unsupported pre-tokenizer 'tekken'; supported are gpt-2, smollm"),
        (write(tmp_path / "words.gguf", model="bert"), "unsupported tokenizer 'bert'"),
        (write(tmp_path / "space.gguf", model="llama", prefix=True), "its tokenizer puts a space before each text"),
        (write(tmp_path / "more.gguf", only=more), "does not have the weight rope_freqs.weight"),
    ]:  # fmt: skip
        with pytest.raises(InputError, match=message):
            unpack(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".*"))


def test_adapters_of_something_else(llama: Path, tmp_path: Path) -> None:
    other = {
        name: value[:, :32] if name.endswith("attn_q.weight") else value for name, value in weights("llama").items()
    }
    narrow = write(tmp_path / "narrow.gguf", only=other)
    adapter = make_adapter(llama / "base", tmp_path / "adapter")
    with pytest.raises(
        ConfigError, match=r"self_attn\.q_proj is 64×64, which .*narrow\.gguf does not have; an adapter goes"
    ):
        export_adapter(adapter, narrow, tmp_path / "out.gguf")
    with pytest.raises(ConfigError, match=r"attn_q\.weight is 64×64 here and 64×32 in .*narrow\.gguf; give the model"):
        export_merged(llama / "base", None, narrow, tmp_path / "out.gguf", "f16")
    with pytest.raises(ConfigError, match=r"no readable adapter_config\.json"):
        export_adapter(llama / "base", llama / "base.gguf", tmp_path / "out.gguf")
    with pytest.raises(ConfigError, match=r"a model of llama, .* of qwen2"):
        export_merged(llama / "base", None, write(tmp_path / "q.gguf", "qwen2"), tmp_path / "out.gguf", "f16")
    assert not (tmp_path / "out.gguf").exists()


@pytest.mark.filterwarnings("ignore:Setting `save_embedding_layers`")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"use_dora": True}, "a LoRA with use_dora"),
        ({"bias": "lora_only"}, "a LoRA with bias"),
        ({"modules_to_save": ["embed_tokens"]}, "a LoRA with modules_to_save"),
        ({"target_modules": ["embed_tokens"]}, "embed_tokens.* is not a LoRA of a linear layer"),
    ],
)
def test_adapters_that_llama_cpp_cannot_have(
    llama: Path, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    adapter = make_adapter(llama / "base", tmp_path / "adapter", **options)
    with pytest.raises(ConfigError, match=message):
        export_adapter(adapter, llama / "base.gguf", tmp_path / "out.gguf")


def test_types_of_numbers_are_checked(llama: Path, tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match="unknown number type q9; choose from f32, f16, q8_0, q5_0, q4_1, q4_0, like-base"
    ):
        export_merged(llama / "base", None, llama / "base.gguf", tmp_path / "out.gguf", "q9")
    with pytest.raises(
        ConfigError, match=r"unknown number type like-base; choose from f32, f16, q8_0, q5_0, q4_1, q4_0$"
    ):
        export_adapter(llama / "base", llama / "base.gguf", tmp_path / "out.gguf", "like-base")


# -- the embedded model -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(not default_path().exists(), reason="the embedded model is not here; `mores pull` gets it")
def test_the_embedded_model_reads_the_same_tokens_in_both(tmp_path: Path) -> None:
    unpack(default_path(), tmp_path / "base")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "base")
    with tokenizing(default_path()) as tokenize:
        for text in [*TEXTS, Path(__file__).read_text("utf-8")]:
            assert tokenizer(text, add_special_tokens=False)["input_ids"] == tokenize(text), text
    answers = ask(HFModel(str(tmp_path / "base")), ["What is the capital of Kenya?"])
    assert answers[0].text == "The capital of Kenya is Nairobi."
    # llama.cpp rounds what goes into maps of four bits to eight bits, so this is as near as it gets.
    assert_same(ask(embedded(default_path()), ["What is the capital of Kenya?"]), answers, 0.2)
