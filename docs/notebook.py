"""Runs the notebooks of docs/notebooks and keeps what their cells show: `python -m docs.notebook`; tests check them.

They need the embedded model (`mores pull`) and pandas, and no network. Cells run in a folder of their own.
"""

from __future__ import annotations

import ast
import io
import json
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from hashlib import blake2b
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "notebooks"


def read(path: Path) -> dict[str, Any]:
    """Return a notebook."""
    return dict(json.loads(path.read_text("utf-8")))


def source(cell: dict[str, Any]) -> str:
    """Return the words of a cell."""
    return "".join(cell["source"])


def fingerprint(notebook: dict[str, Any]) -> str:
    """Return a digest of all code, kept with the outputs that it gave."""
    code = "\n".join(source(cell) for cell in notebook["cells"] if cell["cell_type"] == "code")
    return blake2b(code.encode(), digest_size=8).hexdigest()


def run(notebook: dict[str, Any], stand_in: str = "") -> dict[str, Any]:
    """Return the notebook with what its cells show; `stand_in` is asked in place of the embedded model."""
    scope: dict[str, Any] = {"__name__": "__main__"}
    notebook = json.loads(json.dumps(notebook))
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        code = (cell for cell in notebook["cells"] if cell["cell_type"] == "code")
        for number, cell in enumerate(code, 1):
            tree = ast.parse(source(cell).replace('"embedded"', f'"{stand_in}"' if stand_in else '"embedded"'))
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            with redirect_stdout(io.StringIO()) as printed, redirect_stderr(io.StringIO()):
                exec(compile(tree, "notebook", "exec"), scope)
                value = eval(compile(ast.Expression(last.value), "notebook", "eval"), scope) if last else None  # type: ignore[attr-defined]
            cell["execution_count"], cell["outputs"] = number, []
            if printed.getvalue():
                text = printed.getvalue().splitlines(keepends=True)
                cell["outputs"].append({"output_type": "stream", "name": "stdout", "text": text})
            if value is not None:
                data = {"text/plain": repr(value).splitlines(keepends=True)}
                if hasattr(value, "_repr_html_"):
                    html = "\n".join(line for line in value._repr_html_().splitlines() if line.strip())
                    data = {"text/html": html.splitlines(keepends=True), "text/plain": [f"<{type(value).__name__}>"]}
                about = {"output_type": "execute_result", "execution_count": number, "metadata": {}}
                cell["outputs"].append(about | {"data": data})
    notebook["metadata"]["mores"] = fingerprint(notebook)
    return dict(notebook)


def as_markdown(notebook: dict[str, Any]) -> str:
    """Return a notebook as a page of the site."""
    parts = []
    for cell in notebook["cells"]:
        parts.append(source(cell) if cell["cell_type"] == "markdown" else f"```python\n{source(cell)}\n```")
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "text/html" in data:
                parts.append(f'<div class="output" markdown="0">\n{"".join(data["text/html"])}\n</div>')
            else:
                parts.append(f"```text\n{''.join(output.get('text') or data['text/plain']).rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    for each in sorted(FOLDER.glob("*.ipynb")):
        each.write_text(json.dumps(run(read(each)), indent=1, ensure_ascii=False) + "\n", "utf-8")
        print(f"wrote {each}")
