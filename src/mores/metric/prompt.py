"""The ExCAM prompt (Table 5), and the fence that keeps judged text from speaking to the judge.

| style | what the model reads |
| --- | --- |
| `paper` | Table 5 as published |
| `fenced` | Table 5, with both sides between marks that they cannot contain |
| `guided` | the same, and what a report looks like: for models that were not tuned on it |
| `brief` | the fenced sides alone, in a third of the words: for models that were tuned on it |
| `claims` | the same with numbered sentences, region and language: for models that decide about each sentence |

A sample's evidence, where it has any, stands first, numbered, one passage on one line, so that none can pass for two.
Its region and language follow, where they are known, in the style `claims`, and in `fenced` and `guided` for judges
that were not tuned (`placed`): a tuned one reads the prompt that it was tuned with.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, lru_cache
from hashlib import blake2b

from mores.errors import ConfigError, InputError
from mores.models.base import Message, Style
from mores.prompts import fill as fill_slots
from mores.prompts import read_prompt
from mores.types import Evidence, Sample

NO_PLACE = "the paper's prompt has no place for evidence; use the style fenced or guided"
_SLOT = re.compile(r"\{(Instruction|Text)\}")
_CONTROL = re.compile(
    r"<[|｜]|[|｜]>|</?s>|<(?:bos|eos|pad|unk)>|</?(?:start|end)_of_turn>|</?think>|\[/?[A-Z_]{4,}\]|<</?SYS>>",
    re.IGNORECASE,
)
MOST_NUMBERS = 60
"""Maximum numbers of a text: a longer one has several sentences to a number."""
TUNED = ("brief", "claims")
"""The styles whose prompts are those that a judge was tuned with."""
_JOINER = "\u2060"
"""Word joiner: invisible, and ignored when a quote is looked for in the text."""


def messages(sample: Sample, style: Style, *, placed: bool = False, explain: bool = False) -> tuple[Message, ...]:
    """Return what the judge is asked about one sample; with `placed`, also about which region, in which language.

    With `explain`, the judge is told what the summary of its report says, whatever the style.
    """
    return prompt(sample, style, placed=placed, explain=explain)[0]


def prompt(
    sample: Sample, style: Style, *, placed: bool = False, explain: bool = False
) -> tuple[tuple[Message, ...], int]:
    """Return the messages, and how many characters of the question come before the text: its siblings share them."""
    if style == "paper":
        if sample.evidence:
            raise ConfigError(NO_PLACE, setting="style")
        question = fill(_text("report"), sample.instruction, sample.text)
        return (_system(("system", "explain") if explain else ("system",)), Message("user", question)), 0
    places = places_of(sample) if placed or style == "claims" else ()
    names = _parts(style, bool(sample.evidence), bool(places), explain)
    mark = shared_mark(sample)
    opens, closes = f"<<<{mark}\n", f"\n{mark}>>>"
    before = f"Evidence: {opens}{defuse(_listed(sample.evidence))}{closes}\n" if sample.evidence else ""
    before += "".join(f"{name}: {value}\n" for name, value in places)
    judged = numbered(sample.text) if style == "claims" else sample.text
    sides = (f"{opens}{defuse(side)}{closes}" for side in (sample.instruction, judged))
    question = before + fill(_text(style if style in TUNED else "report"), *sides)
    return (_system(names), Message("user", question)), question.rindex(opens) + len(opens)  # in no text: the last


@cache
def _parts(style: Style, evidence: bool, place: bool, explain: bool) -> tuple[str, ...]:
    """Return the parts that the system prompt consists of."""
    parts = {"fence": True, "guide": style == "guided", "evidence": evidence, "place": place}
    parts = ({} if style in TUNED else parts) | {"explain": explain and style != "claims"}
    name = f"{style}-system" if style in TUNED else "system"
    return name, *(part for part, wanted in parts.items() if wanted)


@cache
def _system(parts: tuple[str, ...]) -> Message:
    return Message("system", "\n".join(map(_text, parts)))


def places_of(sample: Sample) -> tuple[tuple[str, str], ...]:
    """Return the names of a sample's region and language, those that are known."""
    return _places(sample.region or "", sample.language or "")


@lru_cache(4096)
def _places(region: str, language: str) -> tuple[tuple[str, str], ...]:
    from mores.culture import language_name, region_name

    places: list[tuple[str, str]] = []
    for kind, code, name_of in (("Region", region, region_name), ("Language", language, language_name)):
        with suppress(InputError):
            places += [(kind, name_of(code))] if code else []
    return tuple(places)


def claim_spans(text: str) -> list[tuple[int, int]]:
    """Return the numbered sentences of a text, as spans; a text that has none is one."""
    from mores.language.sentences import sentences

    spans = sentences(text) or [(0, len(text))]
    size = -(-len(spans) // MOST_NUMBERS)
    return [(group[0][0], group[-1][1]) for group in (spans[i : i + size] for i in range(0, len(spans), size))]


def numbered(text: str) -> str:
    """Return the sentences of a text, one on each line after its number, so that none can pass for two."""
    spans = claim_spans(text)
    return "\n".join(f"{number}. {' '.join(text[start:end].split())}" for number, (start, end) in enumerate(spans, 1))


def _listed(evidence: Sequence[Evidence]) -> str:
    passages = (" · ".join(filter(None, (passage.title, passage.date, passage.text))) for passage in evidence)
    return "\n".join(f"{number}. {' '.join(passage.split())}" for number, passage in enumerate(passages, 1))


def shared_mark(sample: Sample) -> str:
    """Return a mark that texts to one instruction, with the same evidence, share: a model reads the rest once.

    It is as safe as one that depends on the text. Neither is secret: whoever writes a text can work out its mark, and
    could try texts until one gets a mark that they like. What counts is that a text cannot contain its mark, and one
    that does gets the next.
    """
    before = "\0".join([sample.instruction, _listed(sample.evidence)]) if sample.evidence else sample.instruction
    return _code(before, f"{before}\0{sample.text}")


def fence_mark(sample: Sample) -> str:
    """Return a code that occurs nowhere in it, so that nothing can close the fence; the same for the same sample."""
    whole = "\0".join([sample.instruction, sample.text, *([_listed(sample.evidence)] if sample.evidence else [])])
    return _code(whole, whole)


def _code(seed: str, whole: str) -> str:
    """Return the first code made from the seed that is not in what the fence has to keep in."""
    code, tries, whole = "", 0, whole.lower()
    while not code or code in whole:
        digest = blake2b(f"{tries}{seed}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        code = digest[: 4 + tries // 4]  # short, because a mark stands in every prompt four times
        tries += 1
    return code


def defuse(text: str) -> str:
    """Break up what a chat template would take for a control token, such as `<|im_end|>`, without a visible trace."""
    if "<" not in text and ">" not in text and "[" not in text:  # one of which is in every token
        return text
    return _CONTROL.sub(lambda token: token[0][0] + _JOINER + token[0][1:], text)


@cache
def prompt_hash(style: Style, evidence: bool = False, placed: bool = False, explain: bool = False) -> str:
    """Return eight digits that change when a word of the prompt does."""
    blank = Sample(id="", instruction="", text="", evidence=(Evidence(text=""),) if evidence else ())
    if placed:
        blank = blank.model_copy(update={"region": "FR", "language": "fr"})
    return blake2b(repr(messages(blank, style, placed=placed, explain=explain)).encode(), digest_size=4).hexdigest()


def fill(template: str, instruction: str, text: str) -> str:
    """Return a prompt with both slots filled in one pass: what is put in is not looked at again."""
    parts, sides = _split(template), {"Instruction": instruction, "Text": text}
    return "".join([sides[part] if place % 2 else part for place, part in enumerate(parts)])


@lru_cache(64)
def _split(template: str) -> list[str]:
    """Return a template as its words, with the name of a slot between each two."""
    return _SLOT.split(template)


def fill_fenced(template: str, **texts: str) -> str:
    """Return the prompt with hostile texts in its slots, and in {code} a mark that none of them contains."""
    code = fence_mark(Sample(id="", text="\0".join(texts.values())))
    return fill_slots(template, code=code, **{slot: defuse(text) for slot, text in texts.items()})


@cache
def _text(name: str) -> str:
    return read_prompt(__file__, f"prompts/{name}")
