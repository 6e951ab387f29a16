"""Makes the corpus of cultural facts that the package ships: `src/mores/search/facts/facts.jsonl.gz`.

    mores build free-2 --data DATA --out free
    python -m tools.facts free --data DATA --out src/mores/search/facts/facts.jsonl.gz

Facts are stated in patterns of our own: the subject of a question and the answers that most people gave (BLEnD), the
conduct that a norm asks for (NormAd), what a thing is to a country (CANDLE). No sentence of a source is copied. `free`
gives the splits: only questions, norms and assertions of its training split are used.

Which sources are in, and why others are not:

| source | |
| --- | --- |
| BLEnD, NormAd, CANDLE | in; Mores shows none of a source's facts for texts or questions of that source |
| everyday | in: `everyday_facts.tsv`, written for Mores from general knowledge |
| CulturalBench, CaLMQA | out: the whole release is a test set of `mores bench` |
| EXAMS | out: INCLUDE, which `mores bench` runs, is partly made from it |
| CultureAtlas, EPIC, GlobalOpinionQA, NativQA | out: no commercial use |

A fact that answers a question of CulturalBench, CaLMQA or EXAMS is left out, in all languages: it has all content words
of the answer and two fifths of the question's. Of `everyday` a fact is also left out that says much the same as one of
the test split, or of the other sources, about the same country. The same input gives the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import re
from calendar import month_name
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import orjson

from mores.culture import country, region_name
from mores.factory import sources as datasets
from mores.factory.facts import FACTS, CorrectFact
from mores.factory.items import SourceItem
from mores.factory.sources.blend import LANGUAGES, REGIONS, RegionalAnswers, read_answers
from mores.factory.sources.candle import WITH_ARTICLE
from mores.factory.statement import subject
from mores.io import read_records
from mores.search.content import content_words, coverage

SOURCES = ("blend", "normad", "candle")
EVERYDAY = Path(__file__).parent / "everyday_facts.tsv"
ORIGIN = "written for Mores from general knowledge"
LICENCE = "CC-BY-SA-4.0"
"""Of what was written for Mores, as of the corpus."""
AGREED, SOME = 3, 2
"""Of five or more people who were asked: those who must give the first answer, and a further one."""
MOST_ANSWERS = 4
LONGEST = 280
LONGEST_ANSWER = 60
LONGEST_CONDUCT = 110


class Fact(NamedTuple):
    """One line of the corpus."""

    text: str
    source: str
    """`source/id`."""
    region: str
    language: str
    title: str = ""
    """The English name of the region, where the text is in another language."""
    topic: str = ""
    origin: str = ""
    """How a fact came about that is from no dataset."""


# BLEnD

_PARENTHESES = re.compile(r"\s*[(（][^()（）]*[)）]\s*")
_NOTHING = re.compile(
    r"(?:none?|nothing|nowhere|no one|nobody|normal|idk|unknown|n/?a|not applicable|does not exist|yes|no"
    r"|nada|ninguno|babu|tidak ada|теu aya|없다|없음|没有|无|هیچ|هیچی|ندارد|لا شيء|لا يوجد|yoxdur|heç nə)\W*",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[\d:.,]+")
_UNIT = re.compile(r"\(in (hours|minutes|weeks|days|months|years)\)")
_MONTHS = {str(number): name for number, name in enumerate(month_name)}
_SEVERAL = re.compile(
    r"the (?:(?!(?:at|for|in|of|to)\b)[\w']+ ){0,3}?(?!(?:tennis|politics|gymnastics|news)\b)\w+[^siu'\W]s "
    r"(?:that|of|in|on|at|for|where|people) "
)
"""A subject in the plural."""
_PLACE = re.compile(
    r"what (?!is)|.*\bactivit(?:y|ies)\b|the (?:place where|way|reason|time when)\b"
    r"|the \w+ (?:at|from|on|during|in|for|to) which\b"
)
"""A subject whose answers may be no nouns."""
_NAMES = re.compile(
    r"\b(?:name|cit(?:y|ies)|regions?|player|celebrity|act(?:or|ress)|singer|writers?|author|brand|team|politician|chef|company|companies"
    r"|university|athlete|commentator|comedian|director|poet|businessm[ae]n|entrepreneur|person|figure|landmark|museum|park|newspaper"
    r"|channel|supermarket|island|mountain|river|university|stadium|rivalry)\b"
)
"""Subjects whose answers are names."""
_SMALL = frozenset(["a", "an", "and", "at", "de", "del", "for", "in", "la", "of", "on", "or", "the", "vs", "with", "y"])
_YOUR_COUNTRY = {"fa": ("کشور شما", "ایران")}
"""How the Persian questions name the country."""

PATTERNS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "zh": (
        (r"(.+?[是叫])(?:什么|谁|哪里|哪儿|多少|哪个|哪些)？?", "{0}{answer}。"),
        (r"(.+?)有哪些？", "{0}包括{answer}。"),
    ),
    "ko": ((r"(.+?[은는]) (?:무엇|누구|어디|언제)(?:인가요|입니까|이 있나요|가 있나요)\?", "{0} {answer}입니다."),),
    "es": ((r"¿(?:Cuál|Quién) es ((?:el|la|lo|un|una) .+)\?", "{0} es {answer}."),),
    "id": (
        (r"(?:Apa|Siapa|Berapa) (?!saja)(.+)\?", "{0} adalah {answer}."),
        (r"(\w+) apa (?:saja )?(yang .+)\?", "{0} {1} adalah {answer}."),
    ),
    "su": ((r"(?:Naon|Saha) (.+)\?", "{0} nyaéta {answer}."),),
    "el": ((r"Ποι(?:ο|α|ος) είναι (.+);", "{0} είναι {answer}."),),
    "ar": ((r"(?:ما هو|ما هي|ماهو|ماهي|من هو|من هي) (.+)؟", "{0}: {answer}."),),
    "fa": ((r"(.+?)،? (?:چیست|کیست|کدام است)؟", "{0} {answer} است."),),
    "az": ((r"(.+) (?:nədir|hansıdır|kimdir)\?", "{0}: {answer}."),),
    "am": ((r"(.+) (?:ምንድን ነው|ምንድነው|ማን ነው|የቱ ነው)\?", "{0} {answer} ነው።"),),
    "as": ((r"(.+?) (?:কি কি|কি|কোন|কোনটো)\?", "{0}: {answer}।"),),
    "ha": ((r"(?:Menene|Mene ne|Wane ne|Wanene|Wace ce) (.+)\?", "{0}: {answer}."),),
}
"""Questions in each language, and the statements that are made of their parts."""
COMMAS = {"zh": "、", "ar": "، ", "fa": " یا ", "am": "፣ ", "es": " o ", "el": " ή ", "id": " atau "}


def blend(folder: Path, questions: frozenset[str], proper: Mapping[str, str]) -> Iterator[Fact]:
    """Yield what most people of a region answer, in English and in their language."""
    for answers in read_answers(folder, _ignore):
        if answers.unit[0] not in questions or not answers.votes or answers.votes[0][0] < AGREED:
            continue
        region, source = REGIONS[answers.unit[1]], f"blend/{':'.join(answers.unit)}"
        if text := _english(answers, proper):
            yield Fact(text, source, region, "en")
        if (tag := LANGUAGES.get(region)) and (text := _native(answers, tag)):
            yield Fact(text, source, region, tag, region_name(region))


def _english(answers: RegionalAnswers, proper: Mapping[str, str]) -> str | None:
    phrase, named = subject(answers.question), _chosen(answers.votes)
    if phrase is None or not named:
        return None
    phrase = re.sub(r"^what is (?=[\w ]+'s most)", "", phrase.replace("the one of the daily meals", "the daily meal"))
    unit = _UNIT.search(answers.question)
    if _NUMBER.fullmatch(named[0]) and not unit and re.search(r"\b(?:duration|fee)\b(?!.* in years)", phrase):
        return None
    if unit:
        named = [f"{answer} {unit[1]}" if _NUMBER.fullmatch(answer) else answer for answer in named]
    if " month " in f" {phrase} ":
        named = [_MONTHS.get(answer, answer) for answer in named]
    is_name = bool(_NAMES.search(re.split(r" (?:among|at|between|for|in|of|that|to|with) ", phrase)[0]))
    said = [" ".join(_cased(word, is_name, proper) for word in answer.split(" ")) for answer in named]
    if phrase.startswith("one of ") or _SEVERAL.match(phrase):
        return f"{_capital(phrase.removeprefix('one of '))} include {_listed(said, 'and')}."
    if _PLACE.match(phrase):
        return f"Asked about {phrase}, people there say: {_listed(said, 'or')}."
    more = f"; some people there say {_listed(said[1:], 'or')}" if said[1:] else ""
    return f"{_capital(phrase)} is {said[0]}{more}."


def _cased(word: str, is_name: bool, proper: Mapping[str, str]) -> str:
    """Return a word with the capital that BLEnD's annotators left out."""
    if is_name and word.islower() and word not in _SMALL:
        return word.capitalize()
    return proper.get(word, word)


def _listed(answers: list[str], conjunction: str) -> str:
    *first, last = answers
    return f"{', '.join(first)} {conjunction} {last}" if first else last


def _native(answers: RegionalAnswers, tag: str) -> str | None:
    question = " ".join(_PARENTHESES.sub(" ", str(answers.row.values.get("question") or "")).split())
    question = question.replace(" ?", "?").replace(*_YOUR_COUNTRY.get(tag, ("", "")))
    votes = answers.row.list("annotations")
    ranked = sorted(((vote["count"], vote.get("answers") or ()) for vote in votes), key=lambda vote: -vote[0])
    named = _chosen((count, wordings) for count, wordings in ranked if count >= AGREED)
    for pattern, statement in PATTERNS[tag] if named and not _NUMBER.fullmatch(named[0]) else ():
        if match := re.fullmatch(pattern, question):
            return _capital(statement.format(*match.groups(), answer=COMMAS.get(tag, ", ").join(named)))
    return None


def _chosen(votes: Iterable[tuple[int, Iterable[str]]]) -> list[str]:
    """Return the first short wording of each answer that several people gave; nothing if the first is no answer."""
    named: list[str] = []
    for count, wordings in votes:
        short = [" ".join(_PARENTHESES.sub(" ", wording).split()).strip(" .;,،") for wording in wordings]
        fit = next((text for text in short if 0 < len(text) <= LONGEST_ANSWER and "/" not in text), None)
        if not named and (fit is None or _NOTHING.fullmatch(fit) or count < AGREED):
            return []
        if fit and count >= SOME and not _NOTHING.fullmatch(fit) and not _said(fit, named):
            named.append(fit)
    return named[:MOST_ANSWERS]


def _said(answer: str, named: list[str]) -> bool:
    words = set(content_words(answer))
    return any(words <= set(content_words(other)) or words >= set(content_words(other)) for other in named)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def proper_nouns(texts: Iterable[str]) -> dict[str, str]:
    """Return the words that English texts write with a capital within sentences: BLEnD's answers have none."""
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for text in texts:
        for word in re.findall(r"(?<=[a-z,] )[A-Za-z]+", text):
            seen[word.casefold()][word] += 1
    common = {word: forms.most_common(1)[0] for word, forms in seen.items()}
    return {
        word: form
        for word, (form, count) in common.items()
        if form[0].isupper() and count >= 2 and count >= 0.9 * seen[word].total()
    }


# NormAd

_VERDICTS = "correct|polite|respectful|expected|courteous|okay|appropriate|important|considerate|proper|customary"
_VERDICTS += "|acceptable|thoughtful|recommended"
_WHEN = r"(?:(?P<when>(?:When|While|If|Before|After|During|Upon|At) [^,]+), )?"
NORMS = tuple(
    re.compile(_WHEN + rule, re.IGNORECASE)
    for rule in (
        rf"(?:it is|it['’]s) (?:considered |seen as )?(?P<verdict>{_VERDICTS}) "
        r"(?P<not>not )?to (?P<not2>not )?(?P<conduct>[a-z].+)\.",
        r"one (?:must|should) (?P<not>not )?(?:always )?(?P<conduct>(?!be\b)[a-z].+)\.",
        r"(?:always )?(?P<conduct>(?:accept|address|arrive|ask|avoid|bring|call|choose|compliment|cover|decline|dress"
        r"|express|give|greet|hand|help|keep|leave|let|maintain|offer|pass|pay|persist|present|receive|refrain|refuse|remove|return"
        r"|serve|shake|show|speak|stand|stay|take|thank|try|use|wait|wash|wear|wrap)\b.+)\.",
    )
)
_PURPOSE = re.compile(
    r",? (?:as (?:a|an) (?:sign|show|gesture|token|mark|symbol)\b|to (?:show|ensure|express|signify|demonstrate|convey"
    r"|honou?r|avoid|allow|maintain|acknowledge|indicate)\b|as (?:it|this|\w+ing)\b|, \w+ing\b|in order to|so as to"
    r"|unless|even if|regardless|whenever possible|such as|especially|particularly).*$"
)
_OURS = {
    "gift": "present", "gifts": "presents", "graciously": "kindly", "footwear": "shoes", "individuals": "people",
    "elders": "older people", "eldest": "oldest", "refreshments": "food and drinks", "beverage": "drink",
    "beverages": "drinks", "initially": "at first", "multiple": "several", "utensils": "cutlery", "assistance": "help",
    "your": "their", "someone": "somebody", "someone's": "somebody's", "someone’s": "somebody's",
}  # fmt: skip
"""Our words for some of theirs."""
_VAGUE = re.compile(r"[;:]|, and |\b(?:you|yourself|oneself|cultural|culturally|appropriate|present)\b")
"""In a conduct that cannot be restated, or says little."""


def normad(items: Iterable[SourceItem], units: frozenset[str]) -> Iterator[Fact]:
    """Yield the conduct that the etiquette of a country asks for."""
    seen = set()
    for item in items:
        if item.unit not in units or item.unit in seen or item.region is None:
            continue
        seen.add(item.unit)
        if text := _norm(item.context or "", item.region):
            yield Fact(text, f"normad/{item.unit}", item.region, "en")


def _norm(rule: str, region: str) -> str | None:
    match = next(filter(None, (pattern.fullmatch(" ".join(rule.split())) for pattern in NORMS)), None)
    if match is None:
        return None
    parts = match.groupdict()
    conduct = re.sub(r",? (?:and|or|but)$", "", _PURPOSE.sub("", parts["conduct"]))
    if len(conduct) > LONGEST_CONDUCT or _VAGUE.search(conduct):
        return None
    negated = "not " if parts.get("not") or parts.get("not2") else ""
    when = parts.get("when")
    after = f" {when[0].lower()}{when[1:]}" if when else ""
    verb = "allows" if parts.get("verdict") in ("okay", "acceptable") else "asks"
    asked = f"Etiquette in {_named(region)} {verb} people {negated}to {conduct[0].lower()}{conduct[1:]}{after}."
    return re.sub(r"\b[a-z]+(?:['’]s)?\b", lambda word: _OURS.get(word[0], word[0]), asked)


def _named(region: str) -> str:
    return f"the {region_name(region)}" if region in WITH_ARTICLE else region_name(region)


# CANDLE

_NATION = {"US": "American", "IN": "Indian", "CN": "Chinese", "IR": "(?:Persian|Iranian)", "KE": "Kenyan"}
_KINDS = "dish|snack|food|festival|dress|outfit|sweet|bread|drink|dessert|spirit|remedy|ceremony|instrument"
_KINDS += "|garment|shawl|dance|game|sport|holiday|vegetable|martial art|art form|fruit|spice"
_CANDLE = (
    (
        r"(?P<thing>[A-Z][^,.]{{2,40}}?) (?P<be>is|are) (?:an?|the|one of the) (?:type of )?"
        r"(?P<how>(?:(?:very |most )?(?:popular|traditional|national|famous|ancient|important|classic|favorite) )?)"
        r"(?:type of )?{nation} (?P<kind>(?:breakfast |street |cultural |folk |sweet )?(?:{kinds}))s?\b.*",
        "Among the {how}{kind}s of {country} {be} {thing}.",
    ),
    (
        r"(?P<thing>[A-Z][^,.]{{2,40}}?) (?P<be>is|are) (?:an?|the) "
        r"(?P<how>popular|common|staple|national|important|traditional) (?P<kind>dish|ingredient|fruit|food|drink|snack"
        r"|vegetable|flavoring|spice)s? (?:of|in) (?:{nation}|{place})\b.*",
        "Among the {how} {kind}s of {country} {be} {thing}.",
    ),
    (
        r"(?:The |An? )?(?P<thing>[A-Za-z][^,.]{{2,30}}?) (?:is|are) (?:an?|the) symbols? of (?P<sense>[^,.]+) in "
        r"(?:{nation} (?:culture|tradition)|{place})\.",
        "In the culture of {country}, {lower} for {sense}.",
    ),
    (
        r"In {nation} culture, (?:the |an? )?(?P<thing>[^,.]{{2,30}}?) (?:is|are) "
        r"(?:associated with|synonymous with|a symbol of|symbols of) (?P<sense>[^.]+)\.",
        "In the culture of {country}, {lower} for {sense}.",
    ),
)


def candle(items: Iterable[SourceItem], ids: frozenset[str]) -> Iterator[Fact]:
    """Yield what a thing is to a country, of the English assertions that say just this."""
    for item in items:
        if item.id not in ids or item.language != "en" or item.region not in _NATION:
            continue
        nation, place = _NATION[item.region], region_name(item.region)
        for pattern, statement in _CANDLE:
            match = re.fullmatch(pattern.format(nation=nation, place=place, kinds=_KINDS), item.answer)
            if match and not re.search(rf"{nation}|{place}|^(?:It|They|This|These)\b", match["thing"]):
                parts, thing = match.groupdict(), match["thing"]
                thing = re.sub(r"^(?:The|A|An) ", lambda article: article[0].lower(), thing)
                if not re.search(r"[A-Z]", thing[1:]):
                    thing = thing[0].lower() + thing[1:]
                stands = f"{thing} stand" if thing.endswith("s") else f"the {thing} stands"
                kind = re.sub(r"(?<=sh|ss|ch)$", "e", parts.get("kind") or "")
                parts |= {"thing": thing, "lower": stands, "kind": re.sub(r"(?<=[^aeou])y$", "ie", kind)}
                text = statement.format(**parts, country=_named(item.region))
                yield Fact(text, f"candle/{item.id}", item.region, "en")
                break


# Written for Mores


def everyday(path: Path = EVERYDAY) -> Iterator[Fact]:
    """Yield the facts of a table of regions, topics and statements; within a region and topic they are numbered."""
    numbers: Counter[str] = Counter()
    for line in path.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            region, topic, text = line.split("\t")
            name = f"everyday/{region}:{topic.replace(' ', '-')}"
            numbers[name] += 1
            yield Fact(text, f"{name}:{numbers[name]}", region, "en", topic=topic, origin=ORIGIN)


# What other benchmarks ask

_OF_QUESTION = 0.4
"""The share of a question's content words that a fact has which answers it, beside all those of the answer."""


def answering(facts: list[Fact], items: Iterable[SourceItem]) -> frozenset[str]:
    """Return the sources of the facts that answer a question of these items."""
    searched = [frozenset(content_words(fact.text)) for fact in facts]
    having: dict[str, set[int]] = defaultdict(set)
    for place, words in enumerate(searched):
        for word in words:
            having[word].add(place)
    answered = set()
    for item in items:
        asked = frozenset(content_words(item.question))
        for answer in (item.answer, *item.also_correct):
            wanted = [having.get(word, set()) for word in content_words(answer)]
            places = set.intersection(*wanted) if wanted else set()
            answered |= {place for place in places if len(searched[place] & asked) >= _OF_QUESTION * len(asked)}
    return frozenset(facts[place].source for place in answered)


ALIKE = 0.55
"""`coverage` of a fact by another that says much the same."""


def told(facts: Iterable[Fact], others: Mapping[str, list[str]]) -> frozenset[str]:
    """Return the sources of the facts that say much the same as one of these texts about their country."""
    return frozenset(
        fact.source for fact in facts if coverage(fact.text, others.get(country(fact.region), ())) >= ALIKE
    )


def _ignore(_: Exception) -> None:
    """Leave out a bad row, as a build does."""


def make_facts(built: Path, data: Path) -> list[Fact]:
    """Return the facts of the training split of a dataset that `mores build free-2` wrote."""
    training: dict[str, set[str]] = defaultdict(set)
    elsewhere: dict[str, list[str]] = defaultdict(list)
    for fact in read_records(built / FACTS, CorrectFact):
        source, _, name = fact.source.partition("/")
        if fact.split == "train" and source in SOURCES:
            training[source].add(name)
        if fact.split == "test" and fact.region:
            elsewhere[country(fact.region)].append(fact.text)
    questions = frozenset(name.partition(":")[0] for name in training["blend"])
    norms = list(datasets.load("normad", data / "normad", _ignore))
    units = {item.id: item.unit for item in norms}
    in_training = {units.get(name) or name.removeprefix("norm:") for name in training["normad"]}
    others = {name: list(datasets.load(name, data / name, _ignore)) for name in ("culturalbench", "calmqa", "exams")}
    proper = proper_nouns(item.question for item in others["culturalbench"])
    facts = [
        *blend(data / "blend", questions, proper),
        *normad(norms, frozenset(in_training)),
        *candle(datasets.load("candle", data / "candle", _ignore), frozenset(training["candle"])),
    ]
    for stated in facts:
        elsewhere[country(stated.region)].append(stated.text)
    facts += everyday()
    facts = sorted({fact.text: fact for fact in facts if len(fact.text) <= LONGEST}.values(), key=lambda f: f[1:])
    answered = answering(facts, (item for items in others.values() for item in items)) | told(everyday(), elsewhere)
    print(f"{len(answered)} items answer a question of a benchmark, or say what others say, and are left out")
    return [fact for fact in facts if fact.source not in answered]


def main() -> None:
    """Write the corpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("built", type=Path, help="folder of `mores build free-2`")
    parser.add_argument("--data", type=Path, required=True, help="folder with one folder per source")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    facts = make_facts(options.built, options.data)
    licences = {name: datasets.source(name).licence for name in SOURCES} | {"everyday": LICENCE}
    rows = []
    for fact in facts:
        row = {name: value for name, value in fact._asdict().items() if value}
        rows.append(orjson.dumps(row | {"licence": licences[fact.source.partition("/")[0]]}))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_bytes(gzip.compress(b"\n".join([*rows, b""]), mtime=0))
    print(f"{len(facts):,} facts, {options.out.stat().st_size:,} bytes")
    for name in ("source", "language", "region"):
        counts = Counter(str(getattr(fact, name)).partition("/")[0] for fact in facts)
        print(f"{name}: " + ", ".join(f"{value} {count:,}" for value, count in counts.most_common(40)))


if __name__ == "__main__":
    main()
