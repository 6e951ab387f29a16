"""The correct statement about an item, as a text that rules can change and that can be combined with others.

| item | statement |
| --- | --- |
| a text about a topic | the text |
| an English question with a short answer | "A common snack in Peru is corn." (`subject`) |
| a norm that an item rests on (`norm_of`) | the norm |
| any other | the answer alone, which cannot be combined |

The subject of a question is a noun phrase that its answer completes to a sentence: "the place where people meet in
Peru" for "In Peru, where do people meet?".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mores.culture import region_name
from mores.factory.items import SourceItem, Task

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


def sentence(item: SourceItem, choice: bytes = b"\0") -> Statement | None:
    """Return the short answer to an English question as a sentence, or None; `choice` selects the wording."""
    phrase = subject_of(item)
    if phrase is None or _SEVERAL.search(item.answer.strip()):
        return None
    frame = CLAUSE if _CLAUSE.match(item.answer) else FRAMES[choice[0] % len(FRAMES)]
    stated = _fitted(item, is_first=frame.startswith("{Answer}"))
    before, after = (
        part.replace("{Subject}", phrase[0].upper() + phrase[1:]).replace("{subject}", phrase)
        for part in re.split(r"\{[Aa]nswer\}", frame)
    )
    start = f"{before}{stated.answer}{after}".casefold().index(phrase.casefold(), 0 if before else len(stated.answer))
    return Statement(item, stated, before, after, (start, start + len(phrase)))


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
