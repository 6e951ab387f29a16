"""The OpenAPI document against the service, with made-up requests: `pip install schemathesis`, `pytest -m slow`."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.serve.conftest import Serve

KEY = "a-key-that-nobody-guesses"
PROGRAM = shutil.which("schemathesis")


@pytest.mark.slow
@pytest.mark.skipif(PROGRAM is None, reason="needs schemathesis")
@pytest.mark.parametrize("keys", [[], [KEY]], ids=["open", "with keys"])
def test_no_request_is_answered_otherwise_than_the_document_says(serve: Serve, keys: list[str]) -> None:
    address = serve("fake:first-word", keys=keys, store=None)
    options = ["--max-examples", "30", "--checks", "all", "--seed", "1"]
    # Which languages and regions there are, no schema can say.
    options += ["--exclude-checks", "positive_data_acceptance"]
    options += ["--header", f"Authorization: Bearer {KEY}"] if keys else []
    process = subprocess.run(
        [str(PROGRAM), "run", f"{address}/openapi.json", *options], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stdout[-3000:]
