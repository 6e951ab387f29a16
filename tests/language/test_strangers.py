"""Languages that the model does not know are told from related ones by their words, and known ones stay certain."""

from __future__ import annotations

import lzma
from importlib.resources import files

import pytest

from mores.language import check, detect, languages, strangers
from mores.language import model as letters

STRANGE = {
    "Asturian": "Nun sé si ye verdá, pero tola xente d'equí diz que la fiesta ye pa los neños y nun cuesta nada.",
    "Occitan": "Lo mond de la vila es pas content perqué i a pas de pan dins las botigas, e degun sap pas quora.",
    "Interlingua": "Le homines del village canta in le strata e illes face multe pan pro le festa que veni.",
    "Scots": "The fowk o the toun dinna ken whit wey tae gang, sae they bide at hame wi thair weans an hae a sang.",
    "Toki Pona": "jan ale li moku e pan lon tomo mi. mi toki e ni tawa sina: ma ni li pona mute tawa jan lili.",
    "romanised Hindi": "Aaj hum log khet mein kaam karne gaye the lekin barish ki wajah se jaldi ghar wapas aa gaye.",
    "Tachelhit": "Illa yan urgaz ɣ tmazirt nnɣ ur iri ad isawl d kra n mddn, ar ka isawal d warraw nns ɣ tgmmi.",
    "Sicilian": "Nun sacciu pirchì iddu nun voli viniri cu nuàutri, pari ca cci piaci chiù assai stari a la casa.",
}
KNOWN = {
    "es": "No sé si es verdad, pero toda la gente de aquí dice que la fiesta es para los niños y no cuesta nada.",
    "ca": "Els homes de la vila canten pel carrer i les dones fan pa per a la festa de l'estiu amb tots els altres.",
    "en": "The people of the town do not know which way to go, so they stay at home with their children and sing.",
    "it": "Non so perché lui non vuole venire con noi, sembra che gli piaccia molto di più stare a casa da solo.",
}


@pytest.mark.parametrize("name", STRANGE)
def test_a_text_in_a_language_that_the_model_does_not_know_is_not_certain(name: str) -> None:
    assert detect([STRANGE[name]])[0].detected is None


@pytest.mark.parametrize("tag", KNOWN)
def test_the_related_language_stays_certain(tag: str) -> None:
    detection = detect([KNOWN[tag]])[0]
    assert (detection.detected, detection.strange) == (tag, False)


def test_what_would_be_certain_by_its_letters_says_so() -> None:
    detection = detect([STRANGE["Asturian"]])[0]
    assert detection.strange
    assert detection.language == "es"
    assert [result.correct for result in check([STRANGE["Asturian"]] * 2, ["es", "rn"])] == [None, False]


def test_more_words_of_a_stranger_than_of_its_own_make_a_text_strange(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = strangers.read_pairs(lzma.compress(b"es ast: nun ye | no es una\nes lad: kon | con\n"))
    monkeypatch.setattr(strangers, "shipped", lambda: pairs)
    texts = ("casa", "nun casa", "nun es casa", "nun es una casa", "l'ye casa", "kon no es una")
    assert [strangers.is_strange("es", text) for text in texts] == [False, True, False, False, True, True]
    assert not strangers.is_strange("it", "nun")


def test_every_list_is_of_a_known_language_and_no_word_is_on_both_sides() -> None:
    assert set(strangers.shipped()) <= set(languages())
    pairs = [pair for pairs in strangers.shipped().values() for pair in pairs]
    assert len(pairs) > 150
    assert all(strange and familiar and not strange & familiar for strange, familiar in pairs)


def test_the_files_have_at_most_four_megabytes() -> None:
    folder = files("mores.language")
    assert sum(len((folder / name).read_bytes()) for name in (letters.FILE, strangers.FILE)) <= 4 * 1024 * 1024
