"""A tiny random Llama with a tokenizer that knows the words of made-up samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mores.metric.prompt import messages
from mores.metric.write import write_report
from tests.metaevaluation.golds import dishes
from tests.packages import package

_REASON = "needs the extra hf: pip install '.[hf]'"
torch: Any = package("torch", reason=_REASON)
transformers: Any = package("transformers", reason=_REASON)
package("peft", reason=_REASON)
package("accelerate", reason=_REASON)
tokenizers: Any = package("tokenizers", reason=_REASON)

TEMPLATE = (
    "{% for m in messages %}<|start|>{{ m['role'] }}\n{{ m['content'] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)


def make_base(folder: Path) -> Path:
    """A model of two layers."""
    level = tokenizers.pre_tokenizers.ByteLevel
    inner = tokenizers.Tokenizer(tokenizers.models.BPE())
    inner.pre_tokenizer, inner.decoder = level(add_prefix_space=False), tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=800, special_tokens=["<|pad|>", "<|start|>", "<|end|>"], initial_alphabet=level.alphabet(),
        show_progress=False,
    )  # fmt: skip
    texts = [write_report(gold.report, gold.sample) for gold in dishes(50)]
    texts += [message.content for gold in dishes(50) for message in messages(gold.sample, "paper")]
    inner.train_from_iterator(texts, trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<|end|>", pad_token="<|pad|>")
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    torch.manual_seed(3)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=1024, eos_token_id=2, pad_token_id=0, bos_token_id=None,
    )  # fmt: skip
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder
