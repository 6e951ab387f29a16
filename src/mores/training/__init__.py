"""Tuning the metric: `mores train`. torch, transformers and peft are imported where they are used."""
