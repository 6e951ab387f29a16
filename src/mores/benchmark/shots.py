"""Few-shot prompting: solved examples before each question, in its language, which are then left out of the test.

mores bench include --model MODEL --shots 5                     # INCLUDE's few_shot_en: instructions in English
mores bench include --model MODEL --shots 5 --variant native    # few_shot_og: in the question's language
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from string import ascii_uppercase

from mores.benchmark.benchmark import Benchmark
from mores.errors import InputError
from mores.factory.drafts import draw
from mores.types import Item

ANSWER, TRUTH = "Answer:", "True or False:"
"""What stands before the answer of every example, and at the end."""


def with_examples(benchmark: Benchmark, items: Sequence[Item], shots: int) -> list[Item]:
    """Return the questions with so many examples before each; what became an example is left out.

    Examples depend on the questions alone, so that every model sees the same ones. InputError where a language has no
    question left.
    """
    by_language: dict[str | None, dict[str, list[Item]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        by_language[item.language][benchmark.unit(item)].append(item)
    shown: dict[str | None, list[Item]] = {}
    for language, units in by_language.items():
        drawn = sorted(units, key=lambda unit: draw(0, "shots", unit))[:shots]
        if len(units) <= shots:
            fix = f"ask with at most {min(map(len, by_language.values())) - 1}"
            raise InputError(f"{benchmark.name}: {len(units)} questions in {language} leave none to ask; {fix}")
        # One part of each: statements of one question would answer each other.
        shown[language] = [min(units[unit], key=lambda item: draw(0, "part", item.id)) for unit in drawn]
    kept = {benchmark.unit(item) for examples in shown.values() for item in examples}
    return [_after(shown[item.language], item) for item in items if benchmark.unit(item) not in kept]


def _after(examples: Sequence[Item], item: Item) -> Item:
    variants = {
        name: _join([(each.metadata["variants"][name], each) for each in examples], text)
        for name, text in item.metadata.get("variants", {}).items()
        if all(name in each.metadata.get("variants", {}) for each in examples)
    }
    metadata = item.metadata | ({"variants": variants} if "variants" in item.metadata else {})
    prompt = _join([(each.prompt, each) for each in examples], item.prompt)
    return item.model_copy(update={"prompt": prompt, "metadata": metadata})


def _join(examples: Sequence[tuple[str, Item]], prompt: str) -> str:
    word = TRUTH if set(examples[0][1].target) <= {"True", "False"} else ANSWER  # a statement may stand after "Answer:"
    solved = [f"{text.removesuffix(word).rstrip()}\n{word} {answer_of(item)}" for text, item in examples]
    return "\n\n".join([*solved, f"{prompt.removesuffix(word).rstrip()}\n{word}"])


def answer_of(item: Item) -> str:
    """Return the answer that an example shows: a letter where there are options."""
    if not item.target:
        raise InputError(f"{item.id}: it has no answer to show as an example; ask without examples")
    if not item.choices:
        return item.target[0]
    return next(ascii_uppercase[place] for place, choice in enumerate(item.choices) if choice in item.target)
