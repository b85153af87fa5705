"""What a student wrote, made so that it runs nothing in the browser of the person who looks at it.

An executed notebook is shown in three places: formgrader, the feedback page and JupyterLab. In the first and the last,
whatever HTML stands in an output or in a written answer is live, and formgrader's page can do all that the instructor
can. So it is the notebook itself that is made harmless, once, before it is written to `autograded/`.

- Of outputs, text stays, and pictures in PNG or JPEG; HTML, SVG, JavaScript, LaTeX and widgets go.
- A written answer stays as it is if it has neither HTML nor links, entities and commands of TeX. Else it is rendered as
  on the feedback page (`core/text.py`), with its tags as text and its formulas as MathML. That HTML, on one line, takes
  its place in the cell, and MathJax leaves it alone.

What is put into Markdown letter by letter, names, ids and messages, goes through `literally`.
"""

import re
from collections.abc import Iterable

import nbformat
from nbformat import NotebookNode

from rnngrade.core.text import markdown
from rnngrade.grading.outputs import new_output

PICTURES = ("image/png", "image/jpeg")
MOST_HTML = 300_000  # bytes of an answer

NO_MATH = "tex2jax_ignore mathjax_ignore"  # by these names, MathJax 2 and 3 know what to leave alone

# without one of these, neither HTML nor a link can come of Markdown, nor more than letters of a formula
_MARKS = ("<", "](", "]:", "&", "\\")
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*\Z")
_PLAIN_TAG = re.compile(r"[\w-]+\Z")


def harmless_notebook(notebook: NotebookNode, known: Iterable[str]) -> NotebookNode:
    """A copy of `notebook` that can be shown. The text cells in `known` are the course's own, and stay as they are."""
    own = set(known)
    shown = NotebookNode(notebook, cells=[_harmless_cell(cell, own) for cell in notebook.cells])
    shown.metadata = nbformat.from_dict(
        {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}}
    )
    shown.metadata["language_info"] = nbformat.from_dict({"name": "python"})
    return shown


def harmless_markdown(source: str) -> str:
    """Markdown that says what `source` says, without HTML, pictures from elsewhere, and links that run code.

    >>> harmless_markdown("The state is $h_t$, **not** `x_t`.")
    'The state is $h_t$, **not** `x_t`.'
    >>> harmless_markdown("the <eos> token")
    '<div class="tex2jax_ignore mathjax_ignore"><p>the &lt;eos&gt; token</p></div>'
    """
    if not any(mark in source for mark in _MARKS):
        return source
    # On one line, the HTML is one block of Markdown; in <pre>, a line break by its number is a line break still.
    return f'<div class="{NO_MATH}">{"&#10;".join(markdown(source, MOST_HTML).splitlines())}</div>'


def harmless_outputs(outputs: Iterable[NotebookNode]) -> list[NotebookNode]:
    """Of each output what cannot run: text, and pictures in PNG or JPEG, without their metadata."""
    kept = []
    for output in outputs:
        kind = output.get("output_type")
        if kind == "stream":
            name = "stderr" if output.get("name") == "stderr" else "stdout"
            kept.append(new_output("stream", name=name, text=text_of(output.get("text"))))
        elif kind == "error":
            kept.append(
                new_output(
                    "error",
                    ename=text_of(output.get("ename")),
                    evalue=text_of(output.get("evalue")),
                    traceback=[text_of(line) for line in output.get("traceback", [])],
                )
            )
        elif kind in ("display_data", "execute_result"):
            given = output.get("data", {})
            data = {"text/plain": text_of(given["text/plain"])} if "text/plain" in given else {}
            for picture in PICTURES:
                if picture in given and _BASE64.match(text_of(given[picture])):
                    data[picture] = text_of(given[picture])
            if data:
                kept.append(new_output("display_data", data=data, metadata={}))
    return kept


def literally(text: str) -> str:
    """Text for HTML that stands in Markdown, or for Markdown: shown letter by letter, on one line, whatever it holds.
    MathJax leaves it alone.

    All but letters, digits and spaces are written by their numbers, which neither Markdown nor HTML takes for marks.

    >>> literally("a_b\\r\\r<i>")
    '<span class="tex2jax_ignore mathjax_ignore">a&#95;b  &#60;i&#62;</span>'
    """
    letters = (c if c.isalnum() or c == " " else f"&#{ord(c)};" if c.isprintable() else " " for c in text)
    return f'<span class="{NO_MATH}">{"".join(letters)}</span>'


def _harmless_cell(cell: NotebookNode, known: set[str]) -> NotebookNode:
    cell = nbformat.from_dict(cell)
    kept = {key: value for key, value in cell.metadata.items() if key in ("nbgrader", "deletable", "editable")}
    if tags := [tag for tag in cell.metadata.get("tags", []) if isinstance(tag, str) and _PLAIN_TAG.match(tag)]:
        kept["tags"] = tags
    cell.metadata = nbformat.from_dict(kept)
    if cell.cell_type == "code":
        cell.outputs = harmless_outputs(cell.outputs)
    elif cell.cell_type == "raw" or cell.source not in known:
        cell.pop("attachments", None)
        cell.cell_type = "markdown"
        cell.source = harmless_markdown(cell.source)
    return cell


def text_of(value: object) -> str:
    """Text as nbformat may hold it: one string, or a list of lines."""
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")
