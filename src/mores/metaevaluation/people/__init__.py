"""Judges against people: how well a metric, or any other judge, agrees with ratings and marks that people made.

`answers.py` reads what people said, `judges.py` what a judge said about the same answers, `measure.py` compares them,
`session.py` is the run (`mores meta --data ratings:FILE`, `--data marks:FILE`).
"""
