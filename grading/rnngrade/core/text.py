"""HTML of text: prose, Markdown, formulas and code, whoever wrote them.

Everything that comes out is safe to stand on a page. Text is escaped by markupsafe; Markdown is rendered without its
HTML, its pictures, and links that lead anywhere but to the web; a formula is turned into MathML by latex2mathml
when the page is written, of which nh3 leaves known elements and attributes alone. What cannot be rendered stays as it
was typed. And everything is bounded: a student can write a text of any length.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import nh3
from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markupsafe import Markup, escape
from mdit_py_plugins.dollarmath import dollarmath_plugin

from rnngrade.core.words import visible

LONGEST_FORMULA = 1_000  # characters: the longest of the course has 350
CUT = " … (cut here)"

_LINK = re.compile(r"(https?://|mailto:)", re.IGNORECASE)
_ALIGNED = re.compile(r"\{aligned\}")  # which latex2mathml does not know; of this kind it knows another
_FOLD = re.compile(r"</?(?:details|summary|b)>")  # how the units fold an answer away


def cut(text: str, most: int) -> str:
    """Text that takes at most about `most` bytes on a page, with a word on it if there was more.

    >>> cut("Short enough.", 100), cut("abcdef", 3)
    ('Short enough.', 'abc … (cut here)')
    """
    text = text[:most]
    size = len(escape(text).encode("utf-8", "replace"))
    if size <= most and len(text) < most:
        return text
    kept = text if size <= most else text[: most * len(text) // size]
    while len(escape(kept).encode("utf-8", "replace")) > most:
        kept = kept[: len(kept) * 9 // 10]
    return kept.rstrip() + CUT


def prose(text: str, most: int = 2_000) -> Markup:
    """A message as HTML: its `backticks` are code.

    >>> prose("use `h @ W`, not <W>")
    Markup('use <code>h @ W</code>, not &lt;W&gt;')
    """
    text = cut(visible(text), most)
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return escape(text)
    made = Markup("").join(
        Markup("<code>{}</code>").format(piece) if i % 2 else escape(piece) for i, piece in enumerate(pieces)
    )
    return made if len(made) < most else escape(text)


def code(source: str, most: int) -> Markup:
    """Code, or what it printed, letter by letter."""
    return escape(cut(visible(source), most))


def marked_code(source: str, lines: Sequence[int], part: str | None, most: int) -> list[tuple[Markup, bool]]:
    """Code in pieces, in order; each with whether it ends in a line that is marked, and by whose side words may stand.

    `lines` count from 1. A marked line is a `mark`, and says so to who cannot see it; `part`, where it stands in one,
    is underlined.
    """
    pieces, text = [], Markup("")
    wanted = set(lines)
    shown = cut(visible(source), most).split("\n")
    if len(shown) > most // 30:  # a line takes room, whatever is in it
        shown = [*shown[: most // 30], CUT.strip()]
    for number, line in enumerate(shown, start=1):
        if number not in wanted:
            text += Markup("<span>{}</span>\n").format(line)
            continue
        inside = escape(line)
        if part and part.strip() and part in line:
            before, _, after = line.partition(part)
            inside = Markup("{}<u>{}</u>{}").format(before, part, after)
        text += Markup('<mark><i class="heard">marked: </i>{}</mark>\n').format(inside)
        if number + 1 not in wanted:
            pieces.append((text, True))
            text = Markup("")
    return [*pieces, (text, False)] if text or not pieces else pieces


def markdown(source: str, most: int) -> Markup:
    """Markdown as HTML; one that would take more than `most` bytes stays as it was typed, and is cut.

    >>> markdown("A **state** and a <b>tag</b>.", 1000)
    Markup('<p>A <strong>state</strong> and a &lt;b&gt;tag&lt;/b&gt;.</p>\\n')
    """
    if len(source) <= most:
        try:
            html = _renderer().render(visible(source))
        except (RecursionError, ValueError, IndexError):
            html = ""
        if html and len(html.encode("utf-8", "replace")) <= most:
            return Markup(html)
    return Markup("<pre>{}</pre>").format(cut(visible(source), most))


@lru_cache(maxsize=1_000)
def lesson(source: str, most: int) -> Markup:
    """Markdown of the course's own, which a class has in common: rendered once. What it folds away stands open."""
    return markdown(_FOLD.sub(lambda found: "**" if found[0] in ("<summary>", "</summary>") else "", source), most)


@lru_cache(maxsize=10_000)
def formula(tex: str, *, display: bool = False) -> Markup:
    r"""A formula as MathML, or as it was typed.

    >>> formula("h_t")
    Markup('<math><mrow><msub><mi>h</mi><mi>t</mi></msub></mrow></math>')
    >>> formula(r"\left(")
    Markup('<code>\\left(</code>')
    """
    tex = tex.strip()
    try:
        if not 0 < len(tex) <= LONGEST_FORMULA:
            raise ValueError
        mathml = convert(_ALIGNED.sub(r"{align*}", tex), display="block" if display else "inline")
        if not {*re.findall(r"<([^\s/>]+)", mathml)} <= _ELEMENTS:
            raise ValueError
        attributes = {"*": _ATTRIBUTES}
        clean = nh3.clean(mathml, tags=_ELEMENTS, attributes=attributes, attribute_filter=_filter, link_rel=None)
    except Exception:  # there is no end to what people type, nor to what these two say of it
        return Markup("<code>{}</code>").format(cut(tex, LONGEST_FORMULA))
    made = Markup(clean)
    if not display and len(tex) <= 40:
        return made
    return Markup('<span class="formula{}" tabindex="0">{}</span>').format(" own" if display else "", made)


_ELEMENTS = {
    *("math", "mfrac", "mi", "mn", "mo", "mover", "mpadded", "mphantom", "mroot", "mrow", "ms", "mspace"),
    *("msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder", "munderover"),
    *("menclose",),
}
_ATTRIBUTES = {
    *("accent", "accentunder", "columnalign", "columnlines", "columnspacing", "depth", "display"),
    *("displaystyle", "fence", "form", "height", "largeop", "linethickness", "lspace", "mathvariant"),
    *("maxsize", "minsize", "movablelimits", "notation", "rowlines", "rowspacing", "rspace", "scriptlevel"),
    *("separator", "stretchy", "symmetric", "voffset", "width"),
}
_VALUE = re.compile(r"[\w .+%-]{1,60}\Z", re.ASCII)


def _filter(element: str, name: str, value: str) -> str | None:
    return value if _VALUE.match(value) and (name, value) != ("display", "inline") else None


@cache
def _renderer() -> MarkdownIt:
    """CommonMark with tables and formulas, without HTML and pictures."""
    renderer = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    renderer.validateLink = lambda url: bool(_LINK.match(url.strip()))  # type: ignore[method-assign]
    dollarmath_plugin(
        renderer,
        allow_labels=False,
        allow_digits=False,
        double_inline=True,
        renderer=lambda tex, how: formula(tex, display=how["display_mode"]),
    )
    renderer.core.ruler.push("fit_for_the_page", _fit)
    for name in ("math_inline", "math_inline_double", "math_block"):
        renderer.add_render_rule(name, _formula)
    renderer.add_render_rule("table_open", _table)
    renderer.add_render_rule("table_close", lambda *_: "</table></div>\n")
    for name in ("fence", "code_block"):
        renderer.add_render_rule(name, _code)
    return renderer


def _fit(state: StateCore) -> None:
    """Headings below those of the page; columns' names that say so; no style but the page's."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
        elif token.type in ("th_open", "td_open"):
            align = str(token.attrs.pop("style", "")).rpartition(":")[2]
            if align in ("right", "center"):
                token.attrs["class"] = align
            if token.type == "th_open":
                token.attrs["scope"] = "col"


def _formula(renderer: RendererHTML, tokens: Sequence[Token], at: int, *_: Any) -> str:
    return str(formula(tokens[at].content, display=tokens[at].type != "math_inline"))


def _table(*_: Any) -> str:
    return '<div class="scroll" tabindex="0"><table>\n'


def _code(renderer: RendererHTML, tokens: Sequence[Token], at: int, *_: Any) -> str:
    return f'<pre tabindex="0"><code>{escapeHtml(tokens[at].content)}</code></pre>\n'
