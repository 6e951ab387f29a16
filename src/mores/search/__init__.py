"""Search for evidence: the web, a local corpus, or a recording, behind one protocol (`base.py`)."""
