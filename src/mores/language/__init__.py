"""The language of a text, among about two hundred.

    from mores.language import check, detect
    detect(["Kuber iki umwami wa mbere yitwa Ntare?"], candidates=["rn", "rw", "en"])[0].detected
    check(["The answer is here."], expected=["rn"])[0].correct      # False

`detect` and `check` are in `detection.py`; `paper.py` is the check of the CaLMQA paper. `tools/language_model.py` makes
the model and documents every choice. `detected` is a language only where, of texts in languages that the model knows,
about 99 of 100 such verdicts are correct: a greeting, a product's name or a line of code gives None, and so does most
text in a language that the model does not know, by its letters or by its words (`strangers.py`).
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mores.language.detection import Detection, LanguageVerdict, check, detect, languages, model_tag

__all__ = ["Detection", "LanguageVerdict", "check", "detect", "languages", "model_tag"]


def __getattr__(name: str) -> Any:
    """Import the detection when it is first used: sentences and words need no model."""
    if name in __all__:
        from mores.language import detection

        return getattr(detection, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
