"""Results as a person sees them: tables in the terminal, a page in the browser, figures and tables for a paper.

One module or folder for each kind of result, whose `describe(run)` returns a `ResultDocument` (`base/document.py`). It
consists of tables, charts and other blocks, which are data; `base` has their renderers.
"""
