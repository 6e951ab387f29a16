"""JuICE: how well judges find the cultural errors that people and models marked in long answers (arXiv 2605.26955).

`data.py` reads the release and finds its quotations in the answers, `score.py` measures a judge, `session.py`
is the run (`mores meta --data juice:FILE`). `example.json` has five answers in the schema of the release.
"""
