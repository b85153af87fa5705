"""From what was found to what is said: the lines, the evidence in plain values, and whether it is so in other cases."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rnncourse.checks.exercise import Exercise
from rnncourse.checks.where import relations, repairs, values, words
from rnncourse.checks.where.agreement import agree, series
from rnncourse.checks.where.changes import Change
from rnncourse.checks.where.inquiry import Asked, Inquiry
from rnncourse.checks.where.place import Statement, Where
from rnncourse.checks.where.program import Place, Program
from rnncourse.checks.where.repairs import ALL, Mend
from rnncourse.checks.where.statements import is_docstring, written
from rnncourse.checks.where.values import Given

MOST_LINES = 3  # that are named for one finding


@dataclass
class Found:
    """What each way of looking found.

    How what came is related to what was expected; the lines that write to an argument; the line that raises; a place
    that mends if it has another value; changes that mend; and, if there is nothing of these, the last place that
    agrees, with a place of the model answer that has its values.
    """

    relation: Statement | None = None
    writing: tuple[int, ...] = ()
    raising: int | None = None
    given: Given | None = None
    mends: tuple[Mend, ...] = ()
    agreeing: tuple[Place, object] | None = None


def told(program: Program | None, exercise: Exercise, found: Found) -> Where | None:
    """What is said of what was found; None if it is nothing."""
    related = (found.relation,) if found.relation and not found.writing else ()
    said = [relations.words(one, exercise) for one in related]
    if program is None:
        return Where((), None, " ".join(said), related) if related else None
    mends, given = list(found.mends), found.given
    lines: list[int] = []
    if found.writing:
        mends = [m for m in mends if set(m.change.lines) <= set(found.writing)]
    if given:
        lines = lines_behind(program, given.place)
        if given.change:
            lines += given.change.lines
        if beside := [m for m in mends if set(m.change.lines) & set(lines)]:
            mends = beside
            lines = sorted({n for m in mends for n in m.change.lines} & set(lines))
        elif mends and (given.place.is_name or given.scope != ALL):
            given, lines = None, []
    lines = lines or _few(n for m in mends for n in m.change.lines) or list(found.writing)
    if not lines and found.raising:
        lines = [found.raising]
    evidence = [Statement("writes", {"lines": list(found.writing)})] if found.writing else []
    evidence += [_value(given)] if given else []
    evidence += [_change(mend) for mend in mends]
    evidence += [Statement("raises", {"line": found.raising})] if found.raising else []
    if not lines and (only := _only_statement(program)):
        evidence.append(Statement("single line", {"line": only}))
        lines = [only]
    elif found.agreeing and not evidence:
        evidence.append(agreement(*found.agreeing))
    if not evidence and not related:
        return None
    at = tuple(sorted(set(lines)))
    part = given.place.text if given and not given.place.is_name and len(at) == 1 else None
    parts = {m.change.part for m in mends if set(m.change.lines) <= set(lines)}
    if len(parts) == 1:
        part = parts.pop() or part
    kinds = {m.change.kind for m in mends}
    change = kinds.pop() if len(kinds) == 1 else None
    if evidence and not (related and evidence[0].kind == "agrees"):
        said.append(words.message(exercise, at, evidence))
    hints = words.hints(at, part, change)
    return Where(at, part, " ".join(said), (*related, *evidence), change, hints, program.source)


def agreement(place: Place, model: object) -> Statement:
    """That a place has the values of one of the model answer."""
    of = {"line": place.line, "part": place.text, "of the model": _plain(model)}
    return Statement("agrees", {"place": place.number, **of})


def _value(given: Given) -> Statement:
    place = given.place
    of = {"line": place.line, "part": place.text, "of the model": _plain(given.model), "right": given.scope}
    if given.change is None:
        return Statement("value", {"place": place.number, **of})
    change = {"of": given.change.kind, "lines": list(given.change.lines), "source": given.text}
    return Statement("value and change", {"place": place.number, **of, **change})


def _change(mend: Mend) -> Statement:
    change = mend.change
    of = {"lines": list(change.lines), "part": change.part, "source": change.source, "right": mend.scope}
    return Statement("change", {"of": change.kind, **of})


def is_so(inquiry: Inquiry, statement: Statement, one: Asked) -> bool:
    """Whether a statement holds in one more case. **Errors:** `OutOfTime`."""
    said: dict[str, Any] = statement.parameters
    program = inquiry.program
    match statement.kind:
        case "value" | "value and change":
            place = program.places[said["place"]]
            text = said.get("source") or program.given(place.number)
            return values.holds(inquiry, Given(place, _key(said["of the model"]), said["right"], text), one)
        case "change":
            change = Change(said["of"], tuple(said["lines"]), said["part"], said["source"])
            return repairs.holds(inquiry, Mend(change, said["right"]), one)
        case "writes":
            changed = one.seen.changed and not one.wanted.changed
            return not changed or inquiry.run(program.watching(), one.case).wrote in said["lines"]
        case "raises":
            return not one.seen.error or bool(one.wanted.error) or raising(program, [one]) == said["line"]
        case "agrees":
            own, model = inquiry.told(one), inquiry.of_model(one)
            if own is None or model is None or one.wanted.error:
                return True
            mine = series([own]).get(said["place"])
            its = series([model], derived=True).get(_key(said["of the model"]))
            return mine is None or (its is not None and agree(mine, its, transposed=True))
        case "single line":
            return _only_statement(program) == said["line"]
    exercise = inquiry.exercise
    return relations.holds(statement, exercise, [one], lambda c: inquiry.candidate.observe(exercise.drive, c.args))


def _plain(key: object) -> list[int | str]:
    """A place of the model answer, as a list."""
    return list(key) if isinstance(key, tuple) else [key]  # type: ignore[list-item]


def _key(plain: list[int | str]) -> object:
    return tuple(plain) if len(plain) > 1 else plain[0]


def lines_behind(program: Program, place: Place) -> list[int]:
    """The lines in which the value of a place is made: its own, or where its name was set or written to before; both
    for a name that is read elsewhere too, where it may be right.
    """
    if not place.is_name:
        return [place.line]
    loads = [node for node in ast.walk(program.tree) if isinstance(node, ast.Name) and node.id == place.text]
    lines = [place.line] if sum(isinstance(node.ctx, ast.Load) for node in loads) > 1 else []
    lines += [
        node.lineno
        for node in ast.walk(program.tree)
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)) and place.text in written(node)
    ]
    return sorted(set(lines)) if 0 < len(set(lines)) <= MOST_LINES else [place.line]


_IN_LINE = re.compile(r"\(in the line `(.*)`")


def raising(program: Program, wrong: Iterable[Asked]) -> int | None:
    """The line that raises, if it is one, in every wrong case."""
    found = set()
    for one in wrong:
        told = _IN_LINE.search(one.seen.error or "")
        begins = told[1].partition("`")[0] if told else None
        lines = [n for n, line in enumerate(program.source.splitlines(), 1) if begins and line.strip()[:100] == begins]
        if len(lines) != 1:
            return None
        found.add(lines[0])
    return found.pop() if len(found) == 1 else None


def _only_statement(program: Program) -> int | None:
    """The line of the only statement of a function that has no more."""
    (function,) = program.tree.body
    if not isinstance(function, ast.FunctionDef):
        return None
    body = [one for one in function.body if not is_docstring(one)]
    return body[0].lineno if len(body) == 1 and body[0].lineno == body[0].end_lineno else None


def _few(lines: Iterable[int]) -> list[int]:
    return list(dict.fromkeys(lines))[:MOST_LINES]
