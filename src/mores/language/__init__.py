"""The language of a text, among about two hundred.

    from mores.language import check, detect
    detect(["Kuber iki umwami wa mbere yitwa Ntare?"], candidates=["rn", "rw", "en"])[0].detected
    check(["The answer is here."], expected=["rn"])[0].correct      # False

`detect` and `check` are in `detection.py`; `paper.py` is the check of the CaLMQA paper. `tools/language_model.py` makes
the model and documents every choice. `detected` is a language only where, of texts in languages that the model knows,
about 99 of 100 such verdicts are correct: a greeting, a product's name or a line of code gives None, and so does most
text in a language that the model does not know, by its letters or by its words (`strangers.py`).
"""

from typing import TYPE_CHECKING

from mores.lazy import find_lazily

if TYPE_CHECKING:
    from mores.language.detection import Detection, LanguageVerdict, check, detect, languages, model_tag

_NAMES = ("Detection", "LanguageVerdict", "check", "detect", "languages", "model_tag")
__getattr__ = find_lazily(__name__, {"detection": _NAMES})
__all__ = ["Detection", "LanguageVerdict", "check", "detect", "languages", "model_tag"]
