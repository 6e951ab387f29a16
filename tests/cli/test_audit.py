"""`mores audit injection`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run

CLEAN = '{"errors": [], "explanation": "fine"}'
WRONG = json.dumps(
    {
        "errors": [{"side": "text", "quote": "not there", "severity": "major", "type": "t", "explanation": ""}],
        "explanation": "wrong",
    }
)


def test_a_judge_that_obeys_is_found_out(mores: Run) -> None:
    """A judge that calls everything wrong until it reads the word of an injection."""
    rows = [{"contains": "gnore", "answer": CLEAN}, {"contains": "", "answer": WRONG}]
    Path("s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = mores("audit", "injection", "--model", "fake:s.jsonl", "--category", "override", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["by_goal"]["hide"]["hits"]["count"] > 0
    assert found["control"]["flips"]["count"] == 0
    assert found["by_goal"]["hide"]["excess"]["value"] > 0


def test_a_judge_that_never_changes_its_mind(mores: Run) -> None:
    done = mores("audit", "injection", "--model", "fake:clean", "--limit", "2")
    assert done.returncode == 0, done.stderr
    assert "excess" in done.stdout
    assert any(line.startswith("accuse ") for line in done.stdout.splitlines())
    assert "→" not in done.stdout


def test_unknown_category(mores: Run) -> None:
    done = mores("audit", "injection", "--model", "fake:clean", "--category", "magic")
    assert done.returncode == 2
    assert "there are accuse, authority" in done.stderr
