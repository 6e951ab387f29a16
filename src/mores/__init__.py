"""Mores measures how well language models know the cultures that they write about, and shows every mistake."""

__version__ = "0.1.0"
