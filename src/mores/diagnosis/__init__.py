"""Reasons why a model fails: one module per analysis, from the files of a run to one result and a paragraph."""
