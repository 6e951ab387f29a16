"""Tuning the metric: `mores train`. torch, transformers and peft are imported where they are used."""

from mores.calling import make_callable

make_callable(__name__)
