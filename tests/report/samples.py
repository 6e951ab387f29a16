"""Made-up texts with hand-written judgements: several scripts, overlaps, an unlocated error and failures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mores.report.base.page import render_page
from mores.report.score import describe_judgements
from mores.types import (
    DEFAULT_INSTRUCTION,
    Error,
    ErrorReport,
    Failure,
    FailureKind,
    Judgement,
    Sample,
    Severity,
    Side,
    Signature,
)

Pair = tuple[Sample, Judgement]

JUDGE = "openai:made-up-judge"
SIGNATURE = Signature(
    task="excam", version="1", model="made-up-judge", prompt="4f1c9a7e", temperature="0", seed="0", mores="0.1.0"
)

MAJOR, MINOR = Severity.MAJOR, Severity.MINOR


def mistake(sample: Sample, quote: str, severity: Severity, kind: str, why: str, side: Side = "text") -> Error:
    """An error on the first occurrence of `quote`."""
    start = sample.side(side).index(quote)
    end = start + len(quote)
    return Error(side=side, start=start, end=end, quote=quote, severity=severity, type=kind, explanation=why)


def lost(quote: str, severity: Severity, kind: str, why: str) -> Error:
    """An error whose quote is not in the text."""
    return Error(side="text", quote=quote, severity=severity, type=kind, explanation=why)


def judged(sample: Sample, *errors: Error, why: str = "", certainty: float | None = 0.9) -> Pair:
    """The sample with a report and the score of that report."""
    score = float(sum(error.severity.weight for error in errors)) if errors else certainty or 0.0
    report = ErrorReport(errors=errors, explanation=why, certainty=certainty)
    notes = () if errors or certainty is not None else ("p(R) could not be had: no log-probabilities",)
    return sample, Judgement(
        sample_id=sample.id, judge=JUDGE, score=score, report=report, notes=notes, signature=SIGNATURE
    )


def failed(sample: Sample, kind: FailureKind, reason: str) -> Pair:
    """The sample with the reason why nobody judged it."""
    failure = Failure(kind=kind, reason=reason)
    return sample, Judgement(sample_id=sample.id, judge=JUDGE, failure=failure, signature=SIGNATURE)


def _sample(name: str, language: str, region: str, text: str, instruction: str = DEFAULT_INSTRUCTION) -> Sample:
    return Sample(id=name, language=language, region=region, text=text, instruction=instruction, source="made-up")


SHRINE = _sample(
    "shrine",
    "en",
    "JP",
    "At a Shinto shrine, visitors first rinse their hands and mouth. In front of the hall they clap ten times, "
    "shout their wish aloud and leave a tip for the priest in the wooden box. They bow before they go.",
    "Explain to a first-time visitor how one prays at a shrine in Japan.",
)
EID = _sample(
    "eid",
    "ar",
    "EG",
    "في عيد الفطر يصوم المصريون طوال النهار، ثم تجتمع العائلة حول مائدة كبيرة. "
    "وتُعِدّ الجدّات الكعك، ويأخذ الأطفال العيدية من الأقارب يوم الأحد فقط.",
    "اكتب فقرة قصيرة عن عيد الفطر في مصر.",
)
SEDER = _sample(
    "seder",
    "he",
    "IL",
    "בליל הסדר יושבת המשפחה סביב השולחן, אוכלת חלה טרייה ושותה ארבע כוסות יין. הילדים מחפשים את האפיקומן.",
    "תאר את ליל הסדר.",
)
NEW_YEAR = _sample(
    "new-year",
    "ja",
    "JP",
    "お正月には、𠮷田さんの家では黒い封筒に入れたお年玉を子どもたちに渡します🎍。"
    "それから家族そろって初詣に出かけ、おみくじを引きます。",
    "日本のお正月の習慣を紹介してください。",
)
CLOCK = _sample(
    "spring-festival",
    "zh-Hans",
    "CN",
    "春节期间,晚辈常常给长辈送一座漂亮的钟🕰️作为礼物,祝他们健康长寿。全家人一起吃年夜饭,看春晚。",
    "写一段关于春节送礼习俗的文字。",
)
DIWALI = _sample(
    "diwali",
    "hi",
    "IN",
    "दिवाली पर लोग एक-दूसरे पर रंग फेंकते हैं, घरों में दीये जलाते हैं और मिठाइयाँ बाँटते हैं।",
    "दिवाली कैसे मनाई जाती है, इस पर दो वाक्य लिखिए।",
)
KRATHONG = _sample(
    "loy-krathong",
    "th",
    "TH",
    "ในคืนวันลอยกระทง ผู้คนนำกระทงที่ทำจากใบตองไปลอยในแม่น้ำ เพื่อขอขมาพระแม่คงคาและขอพร",
    "อธิบายประเพณีลอยกระทงสั้น ๆ",
)
ALTAR = _sample(
    "dia-de-muertos",
    "en",
    "MX",
    "On Día de Muertos 💀🌼 whole families 👨‍👩‍👧‍👦 sit at the grave in strict silence, wear black "
    "and never eat there. Children are told to be afraid of the dead.",
    "Describe the Mexican Halloween.",
)
MANNERS = _sample(
    "korean-table", "ko", "KR", "어른이 먼저 수저를 든 다음에 식사를 시작하고, 밥그릇을 손에 들고 먹는 것이 예의입니다."
)
BREAD = _sample("abendbrot", "de", "DE", "Zum Abendbrot gibt es in vielen Familien Brot, Käse, Wurst und saure Gurken.")
CARNIVAL = _sample("carnaval", "pt-BR", "BR", "O Carnaval começa na sexta-feira e termina na Quarta-feira de Cinzas.")

PAIRS: tuple[Pair, ...] = (
    judged(
        SHRINE,
        mistake(SHRINE, "clap ten times", MAJOR, "incorrect information", "One bows twice, claps twice, bows once."),
        mistake(SHRINE, "shout their wish aloud", MINOR, "lack of understanding", "The wish is said in silence."),
        mistake(SHRINE, "a tip for the priest", MINOR, "misrepresentation", "The coin is an offering to the deity."),
        why="The order of hand-washing and bowing is right, but the clapping, the wish and the offering are not.",
    ),
    judged(
        EID,
        mistake(EID, "يصوم المصريون طوال النهار", MAJOR, "incorrect information", "الصيام محرّم في يوم العيد."),
        mistake(EID, "يوم الأحد فقط", MINOR, "misrepresentation", "العيدية لا ترتبط بيوم الأحد."),
        why="Eid al-Fitr ends the fast: nobody fasts on that day.",
    ),
    judged(
        SEDER,
        mistake(SEDER, "חלה טרייה", MAJOR, "incorrect information", "בפסח אין אוכלים חמץ; אוכלים מצה."),
        why="Leavened bread is forbidden during Passover.",
    ),
    judged(
        NEW_YEAR,
        mistake(NEW_YEAR, "黒い封筒に入れたお年玉", MAJOR, "misrepresentation", "黒い封筒は弔事に使います。"),
        mistake(NEW_YEAR, "お年玉を子どもたちに渡します🎍", MINOR, "imprecise", "お年玉はぽち袋で渡します。"),
        mistake(NEW_YEAR, "𠮷田さんの家", MINOR, "stereotyping", "特定の家の習慣とは言えません。"),
        why="New Year's money comes in a small festive envelope, never in a black one.",
    ),
    judged(
        CLOCK,
        mistake(CLOCK, "给长辈送一座漂亮的钟🕰️作为礼物", MAJOR, "lack of understanding", "“送钟”与“送终”同音,是大忌。"),
        mistake(CLOCK, "钟🕰️", MINOR, "incorrect information", "钟不是春节礼物。"),
        why="A clock is the one gift that must not be given to elders.",
    ),
    judged(
        DIWALI,
        mistake(DIWALI, "एक-दूसरे पर रंग फेंकते हैं", MAJOR, "Misrepresentation", "रंग होली पर खेले जाते हैं, दिवाली पर नहीं।"),
        why="Colours belong to Holi.",
    ),
    judged(KRATHONG, certainty=0.931),
    judged(
        ALTAR,
        mistake(
            ALTAR, "Mexican Halloween", MINOR, "misrepresentation", "It is not a kind of Halloween.", "instruction"
        ),
        mistake(
            ALTAR, "👨‍👩‍👧‍👦 sit at the grave in strict silence", MAJOR, "misrepresentation", "There is music and talk."
        ),
        mistake(ALTAR, "in strict silence, wear black", MINOR, "stereotyping", "Bright colours are usual."),
        mistake(ALTAR, "never eat there", MAJOR, "incorrect information", "The family eats with the dead."),
        why="The day is a joyful reunion, not a day of fear.",
    ),
    judged(
        MANNERS,
        mistake(
            MANNERS, "밥그릇을 손에 들고", MINOR, "incorrect information", "한국에서는 밥그릇을 상에 놓고 먹습니다."
        ),
        lost("젓가락을 밥에 꽂아", MAJOR, "misrepresentation", "제사 때만 그렇게 합니다."),
    ),
    judged(BREAD, certainty=None),
    failed(CARNIVAL, FailureKind.TRUNCATED, "the answer was cut off after 1,024 tokens"),
    failed(
        _sample("boishakh", "bn", "BD", "পহেলা বৈশাখে মানুষ পান্তা ভাত খায়।"), FailureKind.PARSE, "not JSON: 'Sure! Here is'"
    ),
)


def page(pairs: Iterable[Pair], *, title: str, summary: Mapping[str, str] | None = None, **options: Any) -> str:
    """The page of judgements."""
    return render_page(describe_judgements(pairs, title, summary, **options))
