"""The correct statement about an item, as a text that rules can change and that can be combined with others.

| item | statement |
| --- | --- |
| a text about a topic | the text |
| an English question with a short answer | "A common snack in Peru is corn." (`subject`) |
| a question in a language of `statements.toml`, from edition 3 on | "A common snack in Peru is corn." in it |
| a norm that an item rests on (`norm_of`) | the norm |
| any other | the answer alone, which cannot be combined |

The subject of a question is a noun phrase that its answer completes to a sentence: "the place where people meet in
Peru" for "In Peru, where do people meet?".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from mores.culture import region_name
from mores.factory.items import SourceItem, Task
from mores.io.values import read_packaged_toml

_ASIDE = re.compile(r"\s*\((?:[^()]|\([^()]*\))*\)")
_FIRST = re.compile(r"(?P<where>(?:In|At|On|During|Among|For|With) [^,?.]{2,60}), (?P<asked>\w.+)")
"""“In Peru, what …”: the place goes to the end of the phrase."""
_IS = "is|was"
"""Of several things sentences would need other verbs."""
_MAY = "should|can|could|would|will|must|might"
_THEY = "you|we|they|people|one|locals|students|children|women|men|guests|visitors"
_OF = rf"(?P<of>(?!(?:of|are|do|does|did|may|{_MAY}) )[\w' -]*?)"
"""The kind of thing that is asked for: the words before the first verb, if it does not come at once."""
_RULES = tuple(
    (re.compile(asked), phrase)
    for asked, phrase in (
        (rf"(?:what|who|which) (?:{_IS}) (?P<what>(?:the|a|an|one|some|your) .+)", "{what}"),
        (r"(?:what|which) are (?P<what>the .+)", "one of {what}"),
        (rf"(?P<what>what (?:{_IS}) .+)", "{what}"),
        (rf"(?:what|which) {_OF} (?P<what>(?:{_IS}|has) .+)", "the {of} that {what}"),
        (r"what do (?P<what>.+)", "what {what}"),
        (rf"(?:what|which) {_OF} do (?P<what>.+)", "the {of} that {what}"),
        (rf"what (?P<may>{_MAY}) (?P<they>{_THEY}) (?P<what>.+)", "what {they} {may} {what}"),
        (rf"(?P<by>at|from|on|during|in|for|to) (?:what|which) {_OF} do (?P<what>.+)", "the {of} {by} which {what}"),
        (r"where do (?P<what>.+)", "the place where {what}"),
        (r"when do (?P<what>.+)", "the time when {what}"),
        (r"why do (?P<what>.+)", "the reason why {what}"),
        (r"how do (?P<what>.+)", "the way {what}"),
        (r"how many (?P<of>[\w' -]+?) do (?P<what>.+)", "the number of {of} that {what}"),
    )
)  # fmt: skip


def subject_of(item: SourceItem) -> str | None:
    """Return the subject of an item that is an English question, or None."""
    is_english_question = item.task in {Task.QA, Task.FREEFORM} and (item.language or "").split("-")[0] == "en"
    return subject(item.question) if is_english_question else None


def subject(question: str) -> str | None:
    """Return the phrase, or None where the question is not a single sentence that the rules know."""
    text = _ASIDE.sub("", " ".join(question.split()))
    where = ""
    if first := _FIRST.fullmatch(text):
        where = f" {first['where'][0].lower()}{first['where'][1:]}"
        text = first["asked"]
    if not text.endswith("?") or text.endswith(" called?") or re.search(r"[.?!:;,_]", text[:-1]):
        return None
    text = text[0].lower() + text[1:-1].rstrip()
    for rule, phrase in _RULES:
        if match := rule.fullmatch(text):
            return phrase.format(**match.groupdict()) + where
    return None


FRAMES = (
    "{Subject} is {answer}.",
    "{Answer} is {subject}.",
    "People will tell you that {subject} is {answer}.",
    "If you ask about {subject}, the answer is {answer}.",
)
CLAUSE = "As for {subject}: {answer}."
"""For an answer that is a clause."""
PHRASE_FRAMES = (
    "{Subject} is {answer}.",
    "If you ask about {subject}, the answer is {answer}.",
    "As for {subject}, it is {answer}.",
    "On the question of {subject}, the answer is {answer}.",
    "{Subject}: {answer}.",
    "Regarding {subject}: {answer}.",
    "Asked about {subject}, people name this: {answer}.",
)
"""From edition 3 on, for every answer that is not a clause."""
NOUN_FRAMES = (*PHRASE_FRAMES, "{Answer} is {subject}.", "{Answer}: that is {subject}.")
"""The same, for a noun in the singular."""
CLAUSE_FRAMES = (
    CLAUSE,
    "{Subject}: {answer}.",
    "On the question of {subject}: {answer}.",
    "Regarding {subject}: {answer}.",
)

_SEVERAL = re.compile(r"\n|[.!?][\"'”’)]* +\S|[!?]\W*$")
_CLAUSE = re.compile(
    r"(?:they|it|he|she|you|we|i|people|there|this|that|these|those|everyone|men|women|guests|children|students|yes|no)"
    r"\b(?!-)|.*[,;] (?:but|and|or|so|they|it|which) ", re.IGNORECASE,
)  # fmt: skip
_LOWER = re.compile(
    r"(?:a|an|the|by|to|with|without|through|due|because|when|while|in|on|at|not|from|using|for|as|they|it|he|she|you"
    r"|we|people|there|this|these|those|everyone|men|women|guests|children|students|their|his|her|your|both|all|one|no"
    r"|[a-z]+ing)\b(?!-)", re.IGNORECASE,
)  # fmt: skip

_PRAISE = {
    "respectful": "disrespectful", "polite": "impolite", "courteous": "discourteous", "considerate": "inconsiderate",
    "appropriate": "inappropriate", "correct": "incorrect", "proper": "improper",
}  # fmt: skip
_OMITS = ("forget", "fail", "neglect")
_CONDUCT = re.compile(
    rf"^((?:[^.,]+, i|I)t(?: is|['’]s) (?:considered )?)({'|'.join(_PRAISE)}) to (?!not\b)(?!.*\bbut\b)(?=[^.]+\.$)"
)
"""A norm that only praises a conduct."""


_PLURAL = re.compile(r"(?:[^su]s|children|people|men|women)$| and |, ", re.IGNORECASE)
_OTHER_ASIDE = re.compile(r"\s*[(（](?:[^()（）]|[(（][^()（）]*[)）])*[)）]\s*")
_OTHER_SEVERAL = re.compile(r"[\n.!?。！？।؟;]")
LONGEST_OTHER = 60
"""Maximum characters of an answer within a sentence in another language than English."""


@dataclass(frozen=True)
class OtherLanguage:
    """The patterns by which questions in a language become statements, and texts of several of them are asked for."""

    asked: tuple[re.Pattern[str], ...]
    told: tuple[str, ...]
    about: tuple[str, ...]
    ask: tuple[str, ...]
    places: dict[str, str]


@dataclass(frozen=True)
class Statement:
    """A correct text about an item, and the place of the answer in it."""

    item: SourceItem
    stated: SourceItem
    """The item with its answers as the text has them."""
    before: str = ""
    after: str = ""
    question: tuple[int, int] | None = None
    """Place of the words of the question."""

    @property
    def start(self) -> int:
        return len(self.before)

    @property
    def text(self) -> str:
        return self.around(self.stated.answer)

    def around(self, answer: str) -> str:
        """Return the same words around another answer."""
        return f"{self.before}{answer}{self.after}"


def bare(item: SourceItem) -> Statement:
    """Return the answer alone."""
    return Statement(item, item)


def sentence(item: SourceItem, choice: bytes = b"\0", edition: int = 2) -> Statement | None:
    """Return the short answer to a question as a sentence, or None; `choice` selects the wording.

    Edition 2 has sentences in English only, and fewer wordings.
    """
    if edition > 2 and item.language in _other_languages() and item.task in {Task.QA, Task.FREEFORM}:
        return _other_sentence(item, choice)
    phrase = subject_of(item)
    if phrase is None or _SEVERAL.search(item.answer.strip()):
        return None
    if edition == 2:
        frames: tuple[str, ...] = (CLAUSE,) if _CLAUSE.match(item.answer) else FRAMES
    elif _CLAUSE.match(item.answer):
        frames = CLAUSE_FRAMES
    else:
        frames = PHRASE_FRAMES if is_plural(item.answer) or _LOWER.match(item.answer) else NOUN_FRAMES
    frame = frames[choice[0] % len(frames)]
    stated = _fitted(item, is_first=frame.startswith("{Answer}"))
    before, after = (
        part.replace("{Subject}", phrase[0].upper() + phrase[1:]).replace("{subject}", phrase)
        for part in re.split(r"\{[Aa]nswer\}", frame)
    )
    start = f"{before}{stated.answer}{after}".casefold().index(phrase.casefold(), 0 if before else len(stated.answer))
    return Statement(item, stated, before, after, (start, start + len(phrase)))


def is_plural(answer: str) -> bool:
    """Return whether an English answer may be in the plural, so that "is" may not follow it."""
    return bool(_PLURAL.search(answer.strip(" .")))


@cache
def _other_languages() -> dict[str, OtherLanguage]:
    tables = read_packaged_toml("mores.factory", "statements.toml")
    return {
        spoken: OtherLanguage(
            asked=tuple(map(re.compile, table["asked"])),
            told=tuple(table["told"]),
            about=tuple(table["about"]),
            ask=tuple(table["ask"]),
            places=table["places"],
        )
        for spoken, table in tables.items()
    }


def other_language(spoken: str | None) -> OtherLanguage | None:
    """Return the sentences and instructions of a language other than English."""
    return _other_languages().get(spoken or "")


def _other_sentence(item: SourceItem, choice: bytes) -> Statement | None:
    language = _other_languages()[item.language or ""]
    question = _OTHER_ASIDE.sub("", " ".join(item.question.split())).strip()
    match = next((match for asked in language.asked if (match := asked.fullmatch(question))), None)
    fitted = item.answer.strip().rstrip(".").rstrip()
    if match is None or not fitted or len(fitted) > LONGEST_OTHER or _OTHER_SEVERAL.search(fitted):
        return None
    groups = match.groupdict()
    what = groups["what"] if "what" in groups else f"{groups['kind']} {groups['which']}"
    told = language.told[choice[0] % len(language.told)]
    words = {
        "{what_lower}": what[:1].lower() + what[1:], "{what}": what[:1].upper() + what[1:],
        "{be}": groups.get("be", ""),
    }  # fmt: skip
    for name, value in words.items():
        told = told.replace(name, value)
    before, after = told.split("{answer}")
    fit = _fitted(item, is_first=False).model_copy(update={"answer": fitted})
    return Statement(item, fit, before, after)


def norm_of(item: SourceItem, choice: bytes = b"\0") -> SourceItem | None:
    """Return the norm that an item rests on, as a text about the conduct of its culture.

    `choice` selects one of four wordings with the same meaning: "It is polite to bow", "It is impolite not to bow",
    "It is impolite to forget to bow" and "It is polite not to forget to bow". A reversed norm has praise for blame, or
    blame for praise; so none of these words, alone or together, tells whether a norm is correct.
    """
    if item.norm is None or item.region is None:
        return None
    negates, omits, verb = choice[0] % 2, choice[0] // 2 % 2, _OMITS[choice[0] // 4 % len(_OMITS)]

    def reword(match: re.Match[str]) -> str:
        begin, praise = match.groups()
        verdict = praise if negates == omits else _PRAISE[praise]
        return f"{begin}{verdict} {'not ' * negates}to {f'{verb} to ' * omits}"

    return SourceItem(
        source=item.source,
        id=f"norm:{item.unit or item.id}",
        task=Task.GENERATION,
        question=f"etiquette in {region_name(item.region)}",
        answer=_CONDUCT.sub(reword, item.norm),
        region=item.region,
        language=item.language,
        topic=item.topic,
        unit=item.unit,
    )


def _fitted(item: SourceItem, is_first: bool) -> SourceItem:
    """Return the item with answers that fit into the middle of a sentence, or at its start."""

    def fit(answer: str) -> str:
        answer = answer.strip().rstrip(".").rstrip()
        if is_first:
            return answer[:1].upper() + answer[1:]
        return answer[:1].lower() + answer[1:] if _LOWER.match(answer) else answer

    return item.model_copy(
        update={
            "answer": fit(item.answer),
            "wrong": tuple(map(fit, item.wrong)),
            "also_correct": tuple(map(fit, item.also_correct)),
        }
    )
