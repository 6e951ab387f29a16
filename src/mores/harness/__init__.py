"""Mores in other people's harnesses: lm-evaluation-harness, Inspect AI, Hugging Face's evaluate (docs/harness.md).

| module | what |
| --- | --- |
| `export` | writes a benchmark as a task of another harness: `mores export-task` |
| `figures`, `grading` | what exported tasks compute their scores with |
| `inspect` | scorers for Inspect AI: the ExCAM metric, and the grading of exported tasks |
| `excam` | the ExCAM metric as a module of Hugging Face's evaluate |
"""

from __future__ import annotations

from pathlib import Path

EXCAM = Path(__file__).parent / "excam"
"""The folder for `evaluate.load(str(EXCAM))`."""
