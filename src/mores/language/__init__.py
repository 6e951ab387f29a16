"""Which language a text is in, for texts in about two hundred languages.

    from mores.language import check, detect
    detect(["Kuber iki umwami wa mbere yitwa Ntare?"], candidates=["rn", "rw", "en"])[0].detected
    check(["The answer is here."], expected=["rn"])[0].correct      # False

`detect` and `check` are in `detect.py`; `paper.py` is the check of the CaLMQA paper. `tools/language_model.py` makes
the model and documents every choice. The training text has no questions and no everyday words, so the model is most
reliable for texts of at least a sentence.
"""

from mores.language.detect import Check, Detection, check, detect, languages, model_tag

__all__ = ["Check", "Detection", "check", "detect", "languages", "model_tag"]
