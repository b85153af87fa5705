"""What a student wrote, made so that it runs nothing in the browser of the person who looks at it.

An executed notebook is shown in three places: formgrader, the feedback page and JupyterLab. In the first two, whatever
HTML stands in an output or in a written answer is live, and formgrader's page can do all that the instructor can. So it
is the notebook itself that is made harmless, once, before it is written to `autograded/`.

- Of outputs, text stays, and pictures in PNG or JPEG; HTML, SVG, JavaScript, LaTeX and widgets go.
- A written answer stays as it is if it has neither HTML nor links nor entities. Else it is rendered and cleaned by
  nh3, and the cleaned HTML, on one line, takes its place in the cell. nh3 would drop a tag that
  is not allowed; here such a tag becomes text beforehand, for whoever marks the answer reads `the <eos> token`.
- Where TeX stands in it that is not known to set a formula and no more, MathJax is told to leave the answer alone.

What is put into Markdown letter by letter, names, ids and messages, goes through `literally`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape, unescape

import nbformat
import nh3
from nbconvert.filters import markdown2html
from nbconvert.filters.markdown_mistune import InvalidNotebook
from nbformat import NotebookNode

from rnngrade.grading.outputs import new_output

TAGS = {
    *("a", "abbr", "acronym", "b", "code", "del", "em", "i", "span", "strong", "sub", "sup"),
    *("blockquote", "br", "div", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "ul"),
    *("table", "tbody", "td", "th", "thead", "tr"),
}
ATTRIBUTES = {"*": {"title"}, "a": {"href"}}
PICTURES = ("image/png", "image/jpeg")

NO_MATH = "tex2jax_ignore mathjax_ignore"  # by these names, MathJax 2 and 3 know what to leave alone

_MARKS = ("<", "](", "]:", "&")  # without one of these, neither HTML nor a link can come of Markdown
_ADDRESS = re.compile(r"(https?://|mailto:|#)", re.IGNORECASE)
# what opens neither a comment nor a whole tag that is allowed
_NO_TAG = re.compile(rf"<(?!!--|/?(?:{'|'.join(sorted(TAGS))})(?:[\s/][^<>]*)?>)", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*\Z")
_PLAIN_TAG = re.compile(r"[\w-]+\Z")
# TeX that sets a formula. Of all other commands, some make MathJax write links or attributes, load something, paint
# boxes, or take a command for another, and which ones those are depends on its version.
_OF_FORMULAS = """
    alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi pi rho sigma tau
    upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega ell hbar partial nabla
    infty frac dfrac tfrac binom sqrt sum prod int oint lim limsup liminf sup inf max min arg argmax argmin log ln lg
    exp sin cos tan sinh cosh tanh cot det dim ker deg gcd Pr mod bmod pmod operatorname limits nolimits left right
    big Big bigg Bigg bigl bigr Bigl Bigr middle lvert rvert lVert rVert vert Vert langle rangle lfloor rfloor lceil
    rceil lbrace rbrace mathbf mathrm mathit mathcal mathbb mathsf mathtt mathfrak boldsymbol bm text textbf textit
    textrm texttt hat bar tilde vec dot ddot widehat widetilde overline underline overbrace underbrace overset
    underset stackrel cdot cdots ldots dots vdots ddots times div pm mp circ odot oplus otimes ominus ast star bullet
    cap cup setminus wedge vee land lor neg lnot in notin ni subset subseteq supset supseteq emptyset varnothing
    forall exists le leq ge geq lt gt ne neq equiv approx sim simeq cong propto ll gg mid parallel perp to rightarrow
    leftarrow leftrightarrow Rightarrow Leftarrow Leftrightarrow longrightarrow longmapsto mapsto implies iff uparrow
    downarrow top prime quad qquad begin end hline displaystyle textstyle scriptstyle substack choose over intercal
    therefore because
"""
_LIVE_TEX = re.compile(rf"\\(?!(?:{'|'.join(_OF_FORMULAS.split())})(?![A-Za-z]))[A-Za-z]")


def harmless_notebook(notebook: NotebookNode, known: Iterable[str]) -> NotebookNode:
    """A copy of `notebook` that can be shown. The text cells in `known` are the course's own, and stay as they are."""
    shown = nbformat.from_dict({**notebook, "cells": [_harmless_cell(cell, set(known)) for cell in notebook.cells]})
    shown.metadata = nbformat.from_dict(
        {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}}
    )
    shown.metadata["language_info"] = nbformat.from_dict({"name": "python"})
    return shown


def harmless_markdown(source: str) -> str:
    """Markdown that says what `source` says, without scripts, forms, pictures from elsewhere, and links that run code.

    >>> harmless_markdown("The state is $h_t$, **not** `x_t`.")
    'The state is $h_t$, **not** `x_t`.'
    >>> harmless_markdown("<b onclick='f()'>why</b>")
    '<div><p><b>why</b></p></div>'
    >>> harmless_markdown("the <eos> token")
    '<div><p>the &lt;eos&gt; token</p></div>'
    """
    if not any(mark in source for mark in _MARKS) and not _LIVE_TEX.search(source):
        return source
    source = source.encode("utf-8", "replace").decode()  # nh3 takes no half of a surrogate pair
    try:
        rendered = markdown2html(source)
    except InvalidNotebook:  # it asks for a file that the notebook does not bring
        rendered = f"<pre>{escape(source)}</pre>"
    html = nh3.clean(
        _NO_TAG.sub("&lt;", rendered),
        tags=TAGS,
        attributes=ATTRIBUTES,
        attribute_filter=_what_stays,
        url_schemes={"http", "https", "mailto"},
        link_rel=None,
    )
    ignored = f' class="{NO_MATH}"' if _LIVE_TEX.search(unescape(html)) else ""
    # On one line, the HTML is one block of Markdown; in <pre>, a line break by its number is a line break still. Any
    # other character that ends a line may stand there, too: nh3 writes &#13; as the character itself.
    return f"<div{ignored}>" + "&#10;".join(html.splitlines()) + "</div>"


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


def _what_stays(tag: str, name: str, value: str) -> str | None:
    """The value of an attribute, or None if it goes: an address stays if it is elsewhere on the web, or in the page."""
    return None if name == "href" and not _ADDRESS.match(value) else value


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
