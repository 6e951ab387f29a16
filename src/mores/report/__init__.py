"""What a person sees of a result: tables in the terminal, a page in the browser, figures and tables for a paper.

One folder for each kind of result. Each offers

- `tables(result, …) -> list[Grid | str]` in `table.py`: what a command prints, the headline last;
- `sections(result, …) -> list[Section]` and `page(result, …) -> str` in `html.py`: the same as one HTML file.

A section consists of blocks, which are data (`base/blocks.py`, `base/charts.py`); templates draw them, and
`base/figures.py` writes the charts and tables in them for a paper.
"""
