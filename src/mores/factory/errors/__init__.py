"""Soft errors: culturally wrong versions of correct texts, made by rules or by a model (ExCAM, Section 3).

| module | makes |
| --- | --- |
| `rules` | small known changes to an answer, in eleven languages, without a model |
| `model` | errors that a model puts into an instruction and its text, with the prompts of Table 7 |
| `diff` | the words in which two versions of a text differ: the spans of what a model changed |
"""
