"""The ExCAM metric for Hugging Face's evaluate: `evaluate.load` reads `excam.py` in this folder."""
