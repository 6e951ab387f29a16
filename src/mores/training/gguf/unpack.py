"""Conversion of a GGUF file to a transformers folder, with weights in single precision, for tuning.

transformers can read GGUF files itself, with equal weights, but ignores the file's pre-tokenizer
(`tokenizer.ggml.pre`): runs of spaces before digits and digits of scripts other than Latin then get other tokens than
in llama.cpp.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from mores.errors import InputError
from mores.extras import require
from mores.io.private import make_folder
from mores.training.gguf.layout import settings
from mores.training.gguf.weights import FileWeights
from mores.training.gguf.words import end_tokens, make_tokenizer, token_number


def unpack(path: Path, folder: Path) -> None:
    """Write the model of a GGUF file as a transformers folder, which must not exist yet."""
    require("pip install 'mores[hf]'", "torch", "transformers", "safetensors")
    import torch
    from safetensors.torch import save_file

    if folder.exists():
        raise InputError(f"{folder}: already exists; remove it to unpack {path.name} again")
    file = FileWeights(path)
    make_folder(folder.parent)
    # Made beside its place and moved there at the end, so that a stopped run leaves no incomplete model.
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".unpack-") as place:
        partial = Path(place) / folder.name
        _configure(file, partial)
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


def _configure(file: FileWeights, folder: Path) -> None:
    """Write config.json and generation_config.json."""
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, AutoConfig, GenerationConfig

    ends = end_tokens(file)
    special = {"bos_token_id": token_number(file, "bos"), "pad_token_id": token_number(file, "padding")}
    config = AutoConfig.for_model(
        file.layout.model_type,
        **settings(file.layout, file),
        vocab_size=file.shapes["token_embd.weight"][0],
        tie_word_embeddings="output.weight" not in file.shapes,
        eos_token_id=token_number(file, "eos"),
        dtype="float32",
        **special,
    )
    config.architectures = [str(MODEL_FOR_CAUSAL_LM_MAPPING[type(config)].__name__)]
    config.save_pretrained(str(folder))
    GenerationConfig(eos_token_id=ends or None, **special).save_pretrained(str(folder))
