"""Conversion of a GGUF file to a transformers folder, with weights in single precision, for tuning.

transformers can read GGUF files itself, with equal weights, but ignores the file's pre-tokenizer
(`tokenizer.ggml.pre`): runs of spaces before digits and digits of scripts other than Latin then get other tokens than
in llama.cpp.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mores.errors import InputError
from mores.extras import require
from mores.io.private import make_folder
from mores.training.gguf.weights import FileWeights, settings


def unpack(path: Path, folder: Path) -> None:
    """Write the model of a GGUF file as a transformers folder, which must not exist yet."""
    require("hf", "torch", "transformers", "safetensors")
    import torch
    from safetensors.torch import save_file
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, AutoConfig, GenerationConfig

    if folder.exists():
        raise InputError(f"{folder}: already exists; remove it to unpack {path.name} again")
    file = FileWeights(path)
    make_folder(folder.parent)
    # Made beside its place and moved there at the end, so that a stopped run leaves no incomplete model.
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".unpack-") as place:
        partial = Path(place) / folder.name
        special = {"bos_token_id": token_number(file, "bos"), "pad_token_id": token_number(file, "padding")}
        config = AutoConfig.for_model(
            file.layout.model_type,
            **settings(file),
            vocab_size=file.shapes["token_embd.weight"][0],
            tie_word_embeddings="output.weight" not in file.shapes,
            eos_token_id=token_number(file, "eos"),
            dtype="float32",
            **special,
        )
        tokens, types = file.need("tokenizer.ggml.tokens"), file.need("tokenizer.ggml.token_type")
        ends = {number for number, token in enumerate(tokens) if types[number] == _CONTROL and token in _ENDS}
        ends |= {number for name in ("eos", "eot", "eom") if (number := token_number(file, name)) is not None}
        config.architectures = [str(MODEL_FOR_CAUSAL_LM_MAPPING[type(config)].__name__)]
        config.save_pretrained(str(partial))
        GenerationConfig(eos_token_id=sorted(ends) or None, **special).save_pretrained(str(partial))
        make_tokenizer(file).save_pretrained(str(partial))
        weights: dict[str, Any] = {}
        for name in file.tensors:
            hf_name = file.layout.to_hf_name(name)
            if hf_name is None:
                reason = f"transformers' {file.layout.architecture} does not have the weight {name}"
                raise InputError(f"{file.path}: {reason}; use another model")
            weights[hf_name] = torch.from_numpy(file.layout.to_hf(name, file.read(name), file.heads))
        save_file(weights, str(partial / "model.safetensors"), metadata={"format": "pt"})
        partial.rename(folder)


_CONTROL, _OWN = 3, 4
"""Types of tokens: those of templates only, and those matched in a text before all others."""
_NAMED = {"bos_token": "bos", "eos_token": "eos", "unk_token": "unknown", "pad_token": "padding"}
_ENDS = {"<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<end_of_turn>", "</s>"}
"""Control tokens at which llama.cpp stops, whatever the file's end token."""
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_SPLITS: Mapping[str, Sequence[str]] = {"gpt-2": [_GPT2], "smollm": [r"\p{N}", _GPT2], "qwen2": [_QWEN2]}
"""The patterns with which each pre-tokenizer splits a text, one after the other.

llama.cpp does not normalise texts; transformers composes letters and accents (NFC) for every model of type qwen2,
whatever its files say, so decomposed texts get other tokens there.
"""


def make_tokenizer(file: FileWeights) -> Any:
    """Return the file's tokenizer, with its chat template."""
    from tokenizers import AddedToken, processors
    from transformers import PreTrainedTokenizerFast

    tokens: list[str] = file.need("tokenizer.ggml.tokens")
    kind, start = file.need("tokenizer.ggml.model"), token_number(file, "bos")
    if kind not in ("gpt2", "llama"):
        raise InputError(f"{file.path}: unsupported tokenizer {kind!r}; supported are gpt2 and llama")
    inner = _bytes(file, tokens) if kind == "gpt2" else _pieces(file, tokens)
    if start is not None and file.meta.get("tokenizer.ggml.add_bos_token", kind == "llama"):
        inner.post_processor = processors.TemplateProcessing(
            single=f"{tokens[start]} $A", pair=f"{tokens[start]} $A $B", special_tokens=[(tokens[start], start)]
        )
    types: list[int] = file.need("tokenizer.ggml.token_type")
    for wanted, special in ((_CONTROL, True), (_OWN, False)):
        of_kind = [token for token, token_type in zip(tokens, types, strict=True) if token_type == wanted]
        added = [AddedToken(token, normalized=False, special=special) for token in of_kind]
        (inner.add_special_tokens if special else inner.add_tokens)(added)
    numbers = {role: token_number(file, name) for role, name in _NAMED.items()}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        clean_up_tokenization_spaces=False,
        model_max_length=int(file.need(f"{file.layout.architecture}.context_length")),
        **{role: tokens[number] for role, number in numbers.items() if number is not None},
    )
    tokenizer.chat_template = file.meta.get("tokenizer.chat_template")
    return tokenizer


def token_number(file: FileWeights, name: str) -> int | None:
    """Return the id of the file's token for `bos`, `eos` or `padding`."""
    number = file.meta.get(f"tokenizer.ggml.{name}_token_id")
    return None if number is None else int(number)


def _bytes(file: FileWeights, tokens: Sequence[str]) -> Any:
    """Return a tokenizer of byte pairs, as in GPT-2."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

    kind = file.meta.get("tokenizer.ggml.pre", "gpt-2")
    if kind not in _SPLITS:
        raise InputError(f"{file.path}: unsupported pre-tokenizer {kind!r}; supported are {', '.join(_SPLITS)}")
    merges = [tuple(merge.split(" ")) for merge in file.need("tokenizer.ggml.merges")]
    inner = Tokenizer(models.BPE({token: number for number, token in enumerate(tokens)}, merges))
    cuts = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in _SPLITS[kind]]
    inner.pre_tokenizer = pre_tokenizers.Sequence(
        [*cuts, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    inner.decoder = decoders.ByteLevel()
    return inner


def _pieces(file: FileWeights, tokens: Sequence[str]) -> Any:
    """Return a tokenizer of pieces with scores, as in SentencePiece; unknown characters become bytes."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

    if file.meta.get("tokenizer.ggml.add_space_prefix", True):
        raise InputError(f"{file.path}: its tokenizer puts a space before each text, which is not supported")
    vocabulary = {token: number for number, token in enumerate(tokens)}
    scores: list[float] = file.need("tokenizer.ggml.scores")
    order = sorted(range(len(tokens)), key=lambda number: -scores[number])
    merges: list[tuple[str, str]] = []
    for piece in (tokens[number] for number in order):  # the pairs of pieces that make a piece, by their ids
        pairs = [(piece[:cut], piece[cut:]) for cut in range(1, len(piece))]
        known = [pair for pair in pairs if pair[0] in vocabulary and pair[1] in vocabulary]
        merges += sorted(known, key=lambda pair: (vocabulary[pair[0]], vocabulary[pair[1]]))
    unknown = tokens[token_number(file, "unknown") or 0]
    model = models.BPE(vocabulary, merges, unk_token=unknown, fuse_unk=True, byte_fallback=True)
    inner = Tokenizer(model)
    inner.normalizer = normalizers.Replace(" ", "▁")
    inner.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    inner.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    return inner
