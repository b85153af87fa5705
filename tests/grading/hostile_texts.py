"""Texts that try to be more than text on a page, and pages made of them: for hypothesis, and for a browser."""

from typing import Any

from hypothesis import strategies as st

from rnngrade.core.record import JUDGED, ExerciseResult, Finding, Record
from rnngrade.gradebook.marks import Mark, Marks

ATTEMPTS = [
    "<script>steal()</script>",
    "</style><script>steal()</script><style>",
    "</pre></div></details></main><script>steal()</script>",
    "--><script>steal()</script><!--",
    "]]><script>steal()</script><![CDATA[",
    '"><img src=x onerror=steal()>',
    "' onmouseover=steal() x='",
    "<svg onload=steal()>",
    "<math><mtext><table><mglyph><style><img src=x onerror=steal()>",
    "<iframe src=http://steal.example>",
    "<base href=http://steal.example/>",
    "<meta http-equiv=refresh content='0;url=http://steal.example'>",
    "<link rel=stylesheet href=http://steal.example>",
    "<form action=http://steal.example><input name=x></form>",
    "[go](javascript:steal())",
    "[go](JaVa&#x0A;script:steal())",
    "[go]: data:text/html,<script>steal()</script>\n\n[go]",
    "![seen](http://steal.example/x.png)",
    "<javascript:steal()>",
    '```" onclick="steal()\ncode\n```',
    '| a" onclick="steal() |\n|:--|\n| <script>steal()</script> |',
    r"$\href{javascript:steal()}{x}$",
    r"$$\class{x}{\style{background:url(http://steal.example)}{y}}$$",
    r"$\text{</math><script>steal()</script>}$",
    r"$\unicode{x3c}script\unicode{x3e}$ $x<script>y$",
    r"$" + "{" * 60 + "x" + "}" * 60 + "$",
    "{{ config }}{% include '/etc/passwd' %}",
    "&lt;script&gt;steal()&lt;/script&gt; &#60;script&#62;",
    "\ud800<script>\udfffsteal()</script>",
    "\x1b[31m\x1b]8;;http://steal.example\x07red\x00\x08",
    "\u202e<!doctype\u2028>\u2029\ufeff",
    "> " * 60 + "deep",
    "*" * 200 + "_" * 200 + "[" * 200,
    "x\r\ny\rz\n" + "\n" * 40,
    "`" * 3 + "~" * 3 + "`",
]

texts = st.lists(st.one_of(st.sampled_from(ATTEMPTS), st.text(max_size=40)), min_size=1, max_size=4).map(" ".join)


@st.composite
def materials(draw: st.DrawFn) -> tuple[Record, Marks, list[dict[str, Any]]]:
    """What a page is made of: record, marks, cells; each text an attempt."""
    names = draw(st.lists(texts, min_size=1, max_size=3, unique=True))
    results, marks, cells = [], Marks(penalty=draw(st.sampled_from([0.0, 1.5]))), []
    for name in names:
        row = draw(st.lists(texts, min_size=1, max_size=3))
        lines = draw(st.lists(st.integers(-1, 9), max_size=3))
        where = {"lines": lines, "part": draw(st.none() | texts), "message": draw(texts), "source": draw(texts)}
        result = ExerciseResult(
            name=name,
            status=JUDGED,
            points=1.0,
            max_points=3.0,
            passed=False,
            message=draw(texts),
            diagnosis=draw(texts),
            table={"title": draw(texts), "columns": row, "expected": row, "got": row, "wrong": [True] * len(row)},
            hint=draw(texts),
            card=draw(texts),
            where=draw(st.sampled_from([None, where])),
        )
        results.append(result)
        given = draw(st.sampled_from([None, 0.0, 1.0, 3.0]))
        marks.grades[f"check_{name}"] = Mark(given, 3.0, waits=given is None or draw(st.booleans()))
        marks.comments[name] = draw(texts)
        if draw(st.booleans()):
            marks.untouched.add(name)
        source = f"def f(x):\n    return {draw(texts)}\n"
        cells += [_cell("code", source, name, [{"output_type": "stream", "text": draw(texts)}])]
        cells += [_cell("markdown", f"### Exercise 3.1 · `x`\n{draw(texts)}"), _cell("code", draw(texts))]
        cells += [_cell("code", draw(texts), f"check_{name}")]
    written = draw(texts)
    marks.grades[written] = Mark(draw(st.sampled_from([None, 1.0, 3.0])), 3.0, by_hand=True)
    cells += [_cell("markdown", draw(texts), written)]
    findings = tuple(Finding("odd", draw(texts), draw(texts), True) for _ in range(2))
    record = Record(draw(texts), draw(texts), "key", "hash", tuple(results), (written,), findings)
    return record, marks, cells


def _cell(kind: str, source: str, grade_id: str = "", outputs: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    meta = {"nbgrader": {"grade_id": grade_id}} if grade_id else {}
    return {"cell_type": kind, "source": source, "metadata": meta, "outputs": outputs or []}
