"""Which language a text is in, for texts in about two hundred languages.

    from mores.language import check, detect
    detect(["Kuber iki umwami wa mbere yitwa Ntare?"], candidates=["rn", "rw", "en"])[0].found
    check(["The answer is here."], expected=["rn"])[0].right      # False

`detect` and `check` are in `detect.py`; `paper.py` is the check of the CaLMQA paper. `tools/language_model.py` makes
the model and says on what everything was chosen. The training text has no questions and no everyday words, so the
model is surest of texts of a sentence or more.
"""

from mores.language.detect import Check, Detection, check, detect, languages, model_tag

__all__ = ["Check", "Detection", "check", "detect", "languages", "model_tag"]
