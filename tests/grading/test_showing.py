"""What a student wrote or showed runs nothing in the browser of whoever looks at it."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbconvert.filters import markdown2html

from rnngrade.core import text as html
from rnngrade.gradebook.showing import NO_MATH, harmless_markdown
from tests.grading.hostile_texts import ATTEMPTS

TAGS = {
    *("a", "blockquote", "br", "code", "del", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p"),
    *("pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul", *html._ELEMENTS),
}
ATTRIBUTES = {"href", "title", "class", "scope", "start", "tabindex", *html._ATTRIBUTES}

HARMFUL = [
    "<script>steal()</script>",
    "<img src=x onerror=steal()>",
    "<svg onload=steal()></svg>",
    "<b onclick='steal()' style='position:fixed'>click</b>",
    "<iframe src='/formgrader'></iframe>",
    "<form action='/api'><button>go</button></form>",
    "<style>* { display: none }</style>",
    "[go](javascript:steal())",
    "[go]\n\n[go]: JaVa&#115;cript:steal()",
    "<a href='java&Tab;script:steal()'>go</a>",
    "<a href='data:text/html,<script>steal()</script>'>go</a>",
    "![x](javascript:steal())",
    "![x](https://example.org/track.png)",
    "text\n\n<div>\n\n<script>steal()</script>\n\n</div>",
    "```html\n</pre><script>steal()</script>\n```",
    "$x$ <math><mtext><script>steal()</script></mtext></math>",
    "[go](/formgrader/manage_students)",
    "<!-- --><script>steal()</script><!-- -->",
    "<noscript><p title='</noscript><script>steal()</script>'>",
    "<textarea><b title='</textarea><img src=x onerror=steal()>'>x</b>",
    "<div style='background: url(https://example.org/track.png)'>x</div>",
    "<a href='//example.org' target='_top' ping='/api'>go</a>",
    "<a href='ftp://example.org' id='x' name='x' data-x='x'>go</a>",
    "<a href='\x01javascript:steal()'>go</a>",
    "<p>x<script x='>'>steal()</script></p>",
    "<DIV ONCLICK=steal()>x</DIV>",
    "<p/onclick=steal()>x",
]


CLASSES = (NO_MATH, "scroll", "right", "center", "formula", "formula own", "language-html", "language-python")


class Live(HTMLParser):
    """What in a page could do something: tags, attributes and addresses beyond the harmless ones; and what is shown."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag not in TAGS:
            self.found.append(f"<{tag}>")
        for name, value in attrs:
            if name not in ATTRIBUTES or (name == "class" and value not in CLASSES):
                self.found.append(name)
            if name == "href" and not value.startswith(("http://", "https://", "mailto:", "#")):
                self.found.append(value)

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("source", HARMFUL)
def test_a_written_answer_does_nothing(source):
    assert Live(markdown2html(source)).found, "as it is, it would do something"
    assert Live(markdown2html(harmless_markdown(source))).found == []
    assert Live(markdown2html(harmless_markdown(f"An answer.\n\n{source}\n\nIts end."))).found == []


PIECES = [
    *(*HARMFUL, *ATTEMPTS, "\n", "\n\n", "<div>", "</div>", "<p>", "<table><td>", "<b title='", "'>"),
    *("<!--", "-->", "<![CDATA[<script>steal()</script>]]>", "<?xml <script>steal()</script> ?>"),
]


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9)), max_size=6).map("".join))
def test_whatever_pieces_an_answer_is_made_of_it_does_nothing_on_one_line(source):
    shown = harmless_markdown(f"<div>{source}")
    assert len(shown.splitlines()) == 1
    assert Live(markdown2html(shown)).found == []


@pytest.mark.parametrize("number", [10, 11, 12, 13, 28, 29, 30, 133, 8232, 8233, "x0D", "NewLine"])
def test_a_line_end_that_is_written_as_an_entity_does_not_bring_markdown_back(number):
    ends = f"&#{number};" * 2 if number != "NewLine" else "&NewLine;" * 2
    page = Live(markdown2html(harmless_markdown(f"<div>x{ends}[go](javascript:steal()){ends}<b>y</b></div>")))
    assert page.found == []
    assert "[go](javascript:steal())" in page.text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("After <bos> comes x<y, then <eos>.", "After <bos> comes x<y, then <eos>."),
        ("<div>\nx <eos> y <b z</div>", "<div>\nx <eos> y <b z</div>"),
        ("<script>steal()</script>", "<script>steal()</script>"),
        ("&lt;b&gt; &amp;lt; &copy;", "<b> &lt; ©"),
        ("<div>a <!-- a remark --> b</div>", "<div>a <!-- a remark --> b</div>"),
    ],
)
def test_whoever_marks_an_answer_reads_all_of_it(source, text):
    assert Live(markdown2html(harmless_markdown(source))).text.strip() == text


@pytest.mark.parametrize(
    "source",
    [
        r"$\href{javascript:steal()}{x}$",
        r"$\mmlToken{mi}[href='javascript:steal()']{x}$",
        r"$\fcolorbox{red;position:fixed}{x}{y}$",
        r"$\def\tanh{x}$",
        "&#36;&#92;href{javascript:steal()}{x}&#36;",
        "&dollar;&bsol;href{javascript:steal()}{x}&dollar;",
        "<div>$&#92;h&#114;ef{javascript:steal()}{x}$</div>",
    ],
)
def test_tex_with_commands_is_not_set_by_mathjax(source):
    assert f'<div class="{NO_MATH}">' in markdown2html(harmless_markdown(source))


@pytest.mark.parametrize(
    "source",
    [
        "The state is $h_t = o_t c_t$, **not** `x_t`.",
        "# Why\n\n1. one\n2. two\n\n    code\n",
        "Übergröße, 日本語, ☃",
        "",
    ],
)
def test_an_answer_without_html_and_links_stays_as_it_is(source):
    assert harmless_markdown(source) == source


def test_an_answer_with_html_says_the_same_as_before():
    code = "```python\na = 1\n\nif a < b: pass\n```"
    source = f"If $a<b$, see [this](https://example.org):\n\n{code}\n\n| x | y |\n|---|---|\n| 1 | 2 |"
    html = markdown2html(harmless_markdown(source))
    for kept in ("<mo>&lt;</mo>", '<a href="https://example.org">this</a>', "<table>", "<td>1</td>", "&lt;", "<pre "):
        assert kept in html, kept
