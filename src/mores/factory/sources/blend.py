"""BLEnD (Myung et al. 2024): everyday knowledge, 500 questions asked in 16 regions, with the votes of annotators.

One item per question and region; the unit of leakage is the question in all regions. As the authors do, a question is
left out of a region where three people had no answer or found it not applicable, or five did not know. Where there are
labelled multiple-choice items, one of them gives the options: of those whose answer has most votes, the one with most
wrong options. Elsewhere the answer with most votes is correct if two people gave it, and wrong options are answers of
other regions to the same question that nobody in this region gives, in other words or in part: "a flower wreath" is not
offered as wrong where people say "a garland of flowers".

The Hub has `data/annotations/<Country>_data.json` (an object by question id; in `data/annotations_hf` it is a list)
and `data/mc_questions_hf/mc_questions_file.json`, of which `mc_questions_file_v1.1.json` is a later version.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path

from mores.culture import country
from mores.errors import InputError
from mores.factory.items import Source, SourceItem, Task
from mores.factory.sources.files import find, read, read_all
from mores.factory.sources.matching import alike
from mores.factory.sources.rows import OnBad, SourceRow, check, collect, digest, fold, letter, unique
from mores.io.values import load_json

REGIONS = {
    "Algeria": "DZ", "Assam": "IN-AS", "Azerbaijan": "AZ", "China": "CN", "Ethiopia": "ET", "Greece": "GR",
    "Indonesia": "ID", "Iran": "IR", "Mexico": "MX", "North Korea": "KP", "Northern Nigeria": "NG-NORTH",
    "South Korea": "KR", "Spain": "ES", "UK": "GB", "US": "US", "West Java": "ID-JB",
}  # fmt: skip
"""The 16 regions as BLEnD names them; three are parts of a country."""
COUNTRIES = {name: country(code) for name, code in REGIONS.items()}
"""A part of a country is not another culture: West Java and Indonesia."""
MOST_WRONG = 3
MOST_LOCAL = 6
"""Answers of another country that may be wrong options in the language of a region; fewer have a known translation."""
MOST_WITHOUT, MOST_UNKNOWING = 3, 5
"""A question is left out if this many people have no answer, or do not know one."""
FEWEST_VOTES = 2
"""This many annotators must agree on an answer for it to be correct here, or to be used as wrong elsewhere."""

CHOICES = ("mcq*.json", "mc_questions*.json", "mc_questions*.csv")
"""The names of multiple-choice files: of a part by split, and of the release in its two forms."""

LANGUAGES = {
    "DZ": "ar", "IN-AS": "as", "AZ": "az", "CN": "zh", "ET": "am", "GR": "el", "ID": "id", "IR": "fa", "MX": "es",
    "KP": "ko", "NG-NORTH": "ha", "KR": "ko", "ES": "es", "ID-JB": "su",
}  # fmt: skip
"""The languages in which BLEnD asked, except English."""

LITTLE = {"a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "th", "the", "to", "with"}

_COUNTRY = re.compile(rf"\b({'|'.join(sorted(REGIONS, key=len, reverse=True))})\b")
_INSTRUCTION = " Without any explanation"  # begins what the multiple-choice files add to the question
_VERSION = re.compile(r"_v(\d+(?:\.\d+)*)")

Unit = tuple[str, str]
"""Question id and region, as BLEnD names it."""


@dataclass(frozen=True)
class RegionalAnswers:
    """The answers of one region to one question."""

    row: SourceRow
    unit: Unit
    question: str
    votes: tuple[tuple[int, tuple[str, ...]], ...]
    """Count and wordings of each answer, most votes first."""
    unanswered: bool = False
    """Whether the authors leave the question out here because many people had no answer (`exact_match.py`)."""

    @property
    def top(self) -> frozenset[str]:
        """The wordings of the answers with most votes, folded."""
        return frozenset(fold(text) for count, texts in self.votes if count == self.votes[0][0] for text in texts)

    @property
    def best(self) -> str | None:
        return self.votes[0][1][0] if self.votes and self.votes[0][0] >= FEWEST_VOTES else None

    @property
    def wordings(self) -> list[str]:
        return [wording for _, wordings in self.votes for wording in wordings]


@dataclass(frozen=True)
class LabelledChoice:
    """One labelled multiple-choice item; there are 300,000, so it keeps only the place of its row."""

    place: str
    unit: Unit
    question: str
    options: tuple[str, ...]
    answer: str


@dataclass
class BlendQuestion:
    """All data about one question in one region."""

    answers: RegionalAnswers | None = None
    choices: list[LabelledChoice] = field(default_factory=list)


def _read(folder: Path, on_bad: OnBad) -> Iterator[SourceItem]:
    entries: dict[Unit, BlendQuestion] = defaultdict(BlendQuestion)
    for answers in _annotations(folder, on_bad):
        entries[answers.unit].answers = answers
    # Of the newest version; where two folders have it, in two forms, of the first.
    paths = sorted(path for name in CHOICES for path in folder.rglob(name))
    newest = max(map(_version, paths), default=())
    paths = [path for path in paths if _version(path) == newest]
    for path in (path for path in paths if path.parent == paths[0].parent):
        for choice in collect(read(path, depth=2 if path.name.startswith("mcq") else 1), _choice, on_bad):
            entries[choice.unit].choices.append(choice)
    if not entries:
        find(folder, "*_data.json", *CHOICES)  # says what is missing
    best = _best(entry.answers for _, entry in sorted(entries.items(), key=lambda pair: pair[0]))
    for unit, entry in entries.items():
        if entry.answers and entry.answers.unanswered:
            continue
        item = _labelled(unit, entry, on_bad) or _derived(unit, entry, best[unit[0]])
        if item:
            yield item


def _best(answered: Iterable[RegionalAnswers | None], most: int = 1) -> dict[str, list[tuple[str, str]]]:
    """Return the region and its best answers, in English, of each question."""
    best: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for answers in answered:
        if answers and answers.best and not answers.unanswered:
            votes = answers.votes[:most]
            best[answers.unit[0]] += [(answers.unit[1], words[0]) for count, words in votes if count >= FEWEST_VOTES]
    return best


def translations(answers: RegionalAnswers) -> list[tuple[str, str]]:
    """Return the first wording of each answer in the language of the region and in English, most votes first."""
    votes = sorted(answers.row.list("annotations"), key=lambda vote: -vote["count"])
    pairs = [(vote.get("answers") or [], vote.get("en_answers") or []) for vote in votes]
    first = [(str(native[0]).strip(), str(english[0]).strip()) for native, english in pairs if native and english]
    return [(native, english) for native, english in first if native and english]


def _read_local(folder: Path, on_bad: OnBad) -> Iterator[SourceItem]:
    """Yield the items of regions that were not asked in English, in their language, with the ids of the English ones.

    A wrong option is an answer of another country, in the words that people here use for it in any of their answers.
    """
    answered = sorted(read_answers(folder, on_bad), key=lambda answers: answers.unit)
    best = _best(answered, MOST_LOCAL)
    words: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for answers in answered:
        if spoken := LANGUAGES.get(REGIONS[answers.unit[1]]):
            words[spoken].update((english.casefold(), native) for native, english in translations(answers))
    # The most frequent translation, and of equally frequent ones the first in the order of the alphabet.
    local = {
        spoken: {english: native for (english, native), _ in sorted(counts.items(), key=lambda c: (c[1], c[0]))}
        for spoken, counts in words.items()
    }
    for answers in answered:
        region, pairs = REGIONS[answers.unit[1]], translations(answers)
        spoken = LANGUAGES.get(region)
        question = _REPAIRS.get(spoken or "", str)(answers.row.maybe("question") or "")
        if spoken is None or answers.best is None or not pairs or not question:
            continue
        known = unique(
            w for vote in answers.row.list("annotations") for w in vote.get("answers") or () if str(w).strip()
        )
        in_words = (local[spoken].get(english.casefold()) for english in _foreign(answers, best[answers.unit[0]]))
        wrong = unique(native for native in in_words if native and _is_wrong(native, known))[:MOST_WRONG]
        if wrong:
            item = _item(answers.unit, question, pairs[0][0], list(wrong), list(known))
            yield item.model_copy(update={"language": spoken})


_REPAIRS: dict[str, Callable[[str], str]] = {
    # The name of the country was put into the questions without a space, or left out ("in your country").
    "fa": lambda text: re.sub(r"(?<=[^\W\d_])ایران(?!\w)", " ایران", text.replace("در کشور شما", "در ایران")),
}


def read_answers(folder: Path, on_bad: OnBad) -> Iterator[RegionalAnswers]:
    """Return the answers to each question in each region that the authors count."""
    find(folder, "*_data.json")
    return (answers for answers in _annotations(folder, on_bad) if answers.votes and not answers.unanswered)


def _annotations(folder: Path, on_bad: OnBad) -> Iterator[RegionalAnswers]:
    """Yield the annotations; the Hub has them in two shapes in two folders, of which the first is read."""
    paths = sorted(folder.rglob("*_data.json"))
    paths = [path for path in paths if path.parent == paths[0].parent]
    yield from collect(read_all(paths), _answers, on_bad)


def _answers(row: SourceRow) -> RegionalAnswers:
    place = row.file.name.removesuffix("_data.json").replace("_", " ")
    if place not in REGIONS:
        raise InputError(f"{place!r} is not a region of BLEnD; name the file as it was published")
    question = row.text("question") if place in {"UK", "US"} else row.text("en_question")
    votes = []
    for vote in row.list("annotations"):
        match vote:
            case {"count": int(count), "en_answers": list(wordings)}:
                votes.append((count, unique(wording for wording in wordings if isinstance(wording, str))))
            case _:
                raise InputError("an annotation without 'count' and 'en_answers'; expected the published columns")
    ranked = sorted((vote for vote in votes if vote[1]), key=lambda vote: -vote[0])
    counts = row.mapping("idks") if row.values.get("idks") else {}
    numbers = [counts.get(name, 0) for name in ("no-answer", "not-applicable", "idk")]
    if not all(isinstance(number, int | float) for number in numbers):
        raise InputError("a value of 'idks' is not a number; expected the published columns")
    none, unknown = numbers[0] + numbers[1], numbers[2]
    is_unanswered = bool(none >= MOST_WITHOUT or unknown >= MOST_UNKNOWING)
    return RegionalAnswers(row, (row.maybe("ID") or row.path[-1], place), question, tuple(ranked), is_unanswered)


def _version(path: Path) -> tuple[int, ...]:
    match = _VERSION.search(path.name)
    return tuple(map(int, match[1].split("."))) if match else ()


def _choice(row: SourceRow) -> LabelledChoice:
    prompt = row.text("question", "prompt").partition(_INSTRUCTION)[0].strip()
    name = row.maybe("country") or (match[1] if (match := _COUNTRY.search(prompt)) else None)
    place = (name or "").replace("_", " ")
    if place not in REGIONS:
        raise InputError(f"the question names no region of BLEnD ({prompt!r}); correct or remove the row")
    choices = row.values.get("choices")
    try:  # an object by letter, which the release writes as JSON in a text
        choices = load_json(choices) if isinstance(choices, str) else choices
    except ValueError:
        choices = None
    if not isinstance(choices, dict) or not all(isinstance(text, str) for text in choices.values()):
        raise InputError("'choices' is not an object of letters and texts; expected the published columns")
    options = [text.strip() for _, text in sorted(choices.items())]
    answer = letter(options, row.text("answer", "answer_idx"))
    return LabelledChoice(row.place, (row.text("id", "ID"), place), prompt, unique(options), answer)


def _labelled(unit: Unit, entry: BlendQuestion, on_bad: OnBad) -> SourceItem | None:
    """Return the multiple-choice item with a top answer that has most options that nobody in the region gave."""
    top = entry.answers.top if entry.answers else None
    choices = [choice for choice in entry.choices if top is None or fold(choice.answer) in top]
    known = unique([*(choice.answer for choice in choices), *(entry.answers.wordings if entry.answers else ())])
    fair = {option for choice in choices for option in choice.options}
    fair = {option for option in fair if _is_wrong(option, known)}
    offers = [(choice, [option for option in choice.options if option in fair]) for choice in choices]
    for choice, wrong in sorted(offers, key=lambda offer: -len(offer[1])):
        if wrong:
            item = _item(unit, choice.question, choice.answer, wrong, list(known))
            try:
                check(item)
            except InputError as error:
                on_bad(InputError(f"{choice.place}: {error}"))
                continue
            return item
    return None


def _is_wrong(option: str, known: Iterable[str]) -> bool:
    return not any(alike(option, answer) for answer in known)


def _derived(unit: Unit, entry: BlendQuestion, best: list[tuple[str, str]]) -> SourceItem | None:
    answers = entry.answers
    if answers is None or answers.best is None:
        return None
    wrong = list(islice(_foreign(answers, best), MOST_WRONG))
    return _item(unit, answers.question, answers.best, wrong, answers.wordings) if wrong else None


def _foreign(answers: RegionalAnswers, best: list[tuple[str, str]]) -> Iterator[str]:
    """Yield answers of other countries that nobody here gives, in other words or in part."""
    home = COUNTRIES[answers.unit[1]]
    others = unique(answer for place, answer in best if COUNTRIES[place] != home)
    known = answers.wordings
    taken = set().union(*map(_words, known))  # an answer that shares a word may say the same
    for answer in sorted(others, key=lambda answer: digest(*answers.unit, answer)):
        if taken.isdisjoint(_words(answer)) and _is_wrong(answer, known):
            taken |= _words(answer)
            yield answer


@lru_cache(maxsize=32_768)
def _words(text: str) -> frozenset[str]:
    """Return the words of a text without plurals: "sandwiches" is "sandwich" and "oranges" is "orange"."""
    words = [re.sub(r"(?<=\w{2})(es|e|s)$", "", word) for word in re.findall(r"\w+", fold(text))]
    return frozenset("football" if word == "soccer" else word for word in words if word not in LITTLE)


def _item(unit: Unit, question: str, answer: str, wrong: list[str], known: list[str]) -> SourceItem:
    others = tuple(text for text in unique(known) if fold(text) != fold(answer))
    return SourceItem(
        source="blend",
        id=":".join(unit),
        task=Task.QA,
        question=question,
        answer=answer,
        options=tuple(sorted([answer, *wrong], key=str.casefold)),  # as BLEnD orders them
        wrong=tuple(wrong),
        also_correct=others,
        region=REGIONS[unit[1]],
        language="en",
        unit=unit[0],
    )


SOURCE = Source(
    name="blend",
    title="BLEnD: everyday knowledge in diverse cultures",
    task=Task.QA,
    licence="CC-BY-SA-4.0",
    commercial=True,
    homepage="https://huggingface.co/datasets/nayeon212/BLEnD",
    files="<Country>_data.json (annotations) and mc_questions*.json or .csv (multiple choice), either or both",
    stratify="region",
    read=_read,
    read_local=_read_local,
    hub="nayeon212/BLEnD",
)
