"""Data out of a campaign and into it: exports that are kept, cards, tables, and other tools' JSON."""
