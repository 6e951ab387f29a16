"""A corpus of the user's: what is found in several scripts, where it stands, and when the index is built again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from runpy import run_path

import pytest

from mores.engine.loop import run
from mores.errors import ConfigError, InputError, StoreError
from mores.search.base import Evidence, Query
from mores.search.corpus import Corpus

REAL = Path(os.environ.get("MORES_SHARED_DATA") or Path(__file__).parents[3] / "shared" / "data")
TEXTS = {
    "en": "In Fiji guests are welcomed with kava, a drink made from a root.",
    "de": "Beim Richtfest dankt der Bauherr den Zimmerleuten mit einem Festmahl.",
    "hi": "दीवाली पर लोग घर में दीये जलाते हैं और मिठाई बाँटते हैं।",
    "ar": "يقدم المضيف القهوة العربية مع التمر للضيوف.",
    "fa": "در نوروز مردم سفره هفت‌سین می‌چینند.",
    "he": "בליל הסדר קוראים את ההגדה ושרים שירים.",
    "zh": "端午节的时候人们吃粽子，还会举行龙舟比赛。",
    "ja": "正月には家族でおせち料理を食べます。",
    "ko": "설날에는 떡국을 먹고 어른께 세배를 드린다.",
    "th": "วันสงกรานต์คนไทยรดน้ำผู้ใหญ่และเล่นน้ำกัน",
    "ru": "На Масленицу пекут блины и провожают зиму.",
    "am": "በጥምቀት በዓል ታቦታት ወደ ውኃ ይወርዳሉ።",
    "km": "នៅពេលបុណ្យអុំទូក មានការប្រណាំងទូកនៅទន្លេ។",
}
ASKED = {
    "en": "What drink welcomes guests in Fiji?",
    "de": "Wer bekommt beim RICHTFEST ein Festmahl?",
    "hi": "दीवाली पर क्या जलाते हैं?",
    "ar": "القَهْوَة العربية",
    "fa": "سفره هفتسین نوروز",
    "he": "הַגָּדָה ההגדה בליל",
    "zh": "端午节吃什么？",
    "ja": "おせち料理はいつ食べる",
    "ko": "떡국은 언제 먹나요",
    "th": "สงกรานต์",
    "ru": "Что пекут на масленицу",
    "am": "የጥምቀት በዓል",
    "km": "បុណ្យអុំទូក",
}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "corpora"


def write(path: Path, texts: dict[str, str]) -> Path:
    path.write_text("".join(json.dumps({"text": text, "title": name}) + "\n" for name, text in texts.items()))
    return path


def find(corpus: Corpus, text: str, k: int = 3) -> tuple[Evidence, ...]:
    (result,) = run(corpus.find([Query(text)], k))
    assert result.failure is None
    return result.evidence


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.usefixtures("cache")
def test_finds_in_every_script(language: str, tmp_path: Path) -> None:
    path = write(tmp_path / "c.jsonl", TEXTS)
    best = find(Corpus(path), ASKED[language])[0]
    line = list(TEXTS).index(language) + 1
    assert (best.title, best.source) == (language, f"{path}:{line}")


@pytest.mark.usefixtures("cache")
def test_many_queries_are_answered_in_their_order(tmp_path: Path) -> None:
    corpus = Corpus(write(tmp_path / "c.jsonl", TEXTS))
    queries = [Query(text, language) for language, text in ASKED.items()]
    results = run(corpus.find([*queries, Query("zzz")], 1))
    assert [result.evidence[0].title for result in results[:-1]] == list(ASKED)
    assert results[-1].evidence == ()
    assert len(corpus) == len(TEXTS)


@pytest.mark.usefixtures("cache")
def test_function_words_alone_find_nothing(tmp_path: Path) -> None:
    facts = {"pe": "What is ceviche in Peru? raw fish", "de": "Was isst man in Bayern? Knödel"}
    corpus = Corpus(write(tmp_path / "c.jsonl", facts))
    assert find(corpus, "Das Oktoberfest findet in München statt.") == ()
    assert [piece.title for piece in find(corpus, "What do people in Bayern like?")] == ["de"]
    assert [piece.title for piece in find(corpus, "what is in")] == ["pe", "de"]  # it has nothing else


def test_the_index_is_built_once_and_again_when_the_file_changes(tmp_path: Path, cache: Path) -> None:
    path = write(tmp_path / "c.jsonl", {"a": "green tea"})
    first = Corpus(path)
    stamp = path.stat()
    (built,) = cache.iterdir()
    when = built.stat().st_mtime_ns
    assert Corpus(path).identity == first.identity
    assert [(file, file.stat().st_mtime_ns) for file in cache.iterdir()] == [(built, when)]
    write(path, {"a": "black tea"})  # the same size, and made to have the same time
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    changed = Corpus(path)
    assert changed.identity != first.identity
    assert find(changed, "green") == ()
    assert find(changed, "black")[0].text == "black tea"
    assert find(first, "green")[0].text == "green tea"


def test_the_same_documents_elsewhere_are_the_same_corpus_with_other_places(tmp_path: Path, cache: Path) -> None:
    result = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tea.txt").write_text("\nGreen tea is drunk.\n")
        result.append(Corpus(tmp_path / name))
    assert result[0].identity == result[1].identity
    assert len(list(cache.iterdir())) == 1
    assert find(result[1], "green")[0] == Evidence(
        text="Green tea is drunk.", title="tea", source=f"{tmp_path / 'two' / 'tea.txt'}:2"
    )


@pytest.mark.usefixtures("cache")
def test_titles_are_searched_and_rows_keep_date_and_address(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    row = {"text": "It is a drink.", "title": "Kava", "source": "doi:10/x", "date": "1999"}
    path.write_text(json.dumps(row))
    assert find(Corpus(path), "kava") == (
        Evidence(text="It is a drink.", title="Kava", source="doi:10/x", date="1999"),
    )


@pytest.mark.usefixtures("cache")
def test_hostile_documents_are_cleaned(tmp_path: Path) -> None:
    path = write(tmp_path / "c.jsonl", {"t\u202e\x07": "tea\u0000 is\U000e0049 drunk"})
    assert find(Corpus(path), "tea") == (Evidence(text="tea is drunk", title="t", source=f"{path}:1"),)


def test_a_bad_row_leaves_nothing_behind(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text('{"text": "fine"}\n{"txt": "bad"}\n')
    with pytest.raises(InputError, match=r"c\.jsonl:2: no field 'text'"):
        Corpus(path)
    assert list(cache.iterdir()) == []


@pytest.mark.usefixtures("cache")
def test_an_empty_corpus_and_none(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text(" \n\n")
    with pytest.raises(InputError, match="no text in it"):
        Corpus(tmp_path / "c.txt")
    with pytest.raises(ConfigError, match="corpus:documents"):
        Corpus("")


def test_a_damaged_index_says_what_to_do(tmp_path: Path, cache: Path) -> None:
    path = write(tmp_path / "c.jsonl", TEXTS)
    Corpus(path)
    (folder,) = cache.iterdir()
    (folder / "index.corpus").write_bytes(b"junk")
    with pytest.raises(StoreError, match="delete the file"):
        Corpus(path)


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "file"))
    with pytest.raises(StoreError, match="MORES_CACHE"):
        Corpus(write(tmp_path / "c.jsonl", TEXTS))


@pytest.mark.slow
def test_two_processes_may_build_at_once(tmp_path: Path, cache: Path) -> None:
    path = write(tmp_path / "c.jsonl", {str(n): f"text number {n} about tea" for n in range(3000)})
    code = f"from mores.search.corpus import Corpus; print(len(Corpus({str(path)!r})))"
    several = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(3)]
    assert [process.communicate(timeout=60)[0] for process in several] == [b"3000\n"] * 3
    assert len(list(cache.iterdir())) == 1


@pytest.mark.usefixtures("cache")
def test_what_is_said_of_the_asked_region_comes_first(tmp_path: Path) -> None:
    """The rare word of an answer is otherwise worth more than the name of a country."""
    texts = {land: f"A common snack in {land}: {snack}" for land, snack in (("Kenya", "mandazi"), ("Peru", "corn"))}
    corpus = Corpus(
        write(tmp_path / "c.jsonl", texts | {f"n{i}": f"{'Kenya' if i < 4 else 'Chad'}, {i}" for i in range(20)})
    )
    asked = Query("A common snack in Kenya: corn")
    anywhere, in_kenya = run(corpus.find([asked, asked._replace(region="KE")], 1))
    assert [piece.text for piece in anywhere.evidence] == [texts["Peru"]]
    assert [piece.text for piece in in_kenya.evidence] == [texts["Kenya"]]
    [nothing] = run(corpus.find([Query("", region="KE")], 1))
    assert nothing.evidence == ()


@pytest.mark.usefixtures("cache")
def test_the_region_does_not_drown_what_is_asked(tmp_path: Path) -> None:
    """A claim about a person, beside many passages that are full of the country's name."""
    born = "Ada Brown was born in Toledo and became a singer."
    rows = {
        "a": born,
        **{str(n): f"United States of America: the United States, part {n}, was founded." for n in range(30)},
    }
    corpus = Corpus(write(tmp_path / "c.jsonl", rows))
    [result] = run(corpus.find([Query("Ada Brown was born in Ohio.", region="US")], 1))
    assert [piece.text for piece in result.evidence] == [born]
    [nothing] = run(corpus.find([Query("Xylophone", region="US")], 5))
    assert nothing.evidence == ()  # the region alone is no answer


@pytest.mark.usefixtures("cache")
def test_a_question_without_a_country_finds_what_is_said_of_the_asked_one(tmp_path: Path) -> None:
    lands = {"KE": "Kenya", "PE": "Peru", "DE": "Germany", "KR": "South Korea", "GB": "United Kingdom"}
    corpus = Corpus(
        write(tmp_path / "c.jsonl", {land: f"A common snack in {land} is {land[::-1]}." for land in lands.values()})
    )
    results = run(corpus.find([Query("What is a common snack?", region=code) for code in lands], 1))
    assert [land in result.evidence[0].text for result, land in zip(results, lands.values(), strict=True)] == [True] * 5


@pytest.mark.usefixtures("cache")
def test_a_part_of_a_country_falls_back_to_the_country(tmp_path: Path) -> None:
    rows = {"p": "A common snack in Peru: corn.", "i": "A common snack in India: samosa."}
    [result] = run(Corpus(write(tmp_path / "c.jsonl", rows)).find([Query("a common snack", region="IN-AS")], 1))
    assert result.evidence[0].text == rows["i"]
    rows["a"] = "A common snack in Assam: pitha."
    [result] = run(Corpus(write(tmp_path / "d.jsonl", rows)).find([Query("a common snack", region="IN-AS")], 1))
    assert result.evidence[0].text == rows["a"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "without", "with_region"),
    [
        ("biographies", (0.93, 0.97), (0.92, 0.97)),
        ("blend", (0, 0), (0.99, 1)),
        pytest.param("wrong", (0, 0), (0.9, 0.99), marks=pytest.mark.slow),
    ],
)
def test_recall_with_a_region_on_published_data(
    tmp_path: Path, name: str, without: tuple[float, float], with_region: tuple[float, float]
) -> None:
    """At 1 and at 5: the region finds what is said of a country, and hides nothing else."""
    if not (REAL / "blend").is_dir() or not (REAL / "factscore").is_dir():
        pytest.skip("no blend or factscore in the shared data; set MORES_SHARED_DATA to a folder that has them")
    script = run_path(str(Path(__file__).parents[2] / "benchmarks" / "recall.py"))
    result = script["measure"](script["CASES"][name](REAL), tmp_path, limit=300)
    assert all(share >= least for share, least in zip(result.without, without, strict=True)), result
    assert all(share >= least for share, least in zip(result.with_region, with_region, strict=True)), result
