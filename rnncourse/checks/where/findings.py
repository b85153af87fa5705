"""What a search has found out, and what is said of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rnncourse.checks.exercise import Exercise, Misconception
from rnncourse.checks.pairs import TWO, without_praise
from rnncourse.checks.place import Statement, Where
from rnncourse.checks.program import Program
from rnncourse.checks.slips import KINDS
from rnncourse.checks.where import relations
from rnncourse.checks.where.inquiry import ALL
from rnncourse.checks.where.repairs import Cases, Mend
from rnncourse.checks.where.two_slips import Two

MOST_LINES = 3  # that are named
MOST_PARTS = 3  # that one change mends, of which something is said
MORE = "With one more change at {}"
APART = "Apart from what is told besides: "
FIRST = ": look there first."  # what is there may be right, and the mistake elsewhere


@dataclass(frozen=True)
class Found:
    """The lines that write to an argument, the line that raises or where nan comes up, the changes that mend, and two
    that do together; whether they mend what was left aside, too, and what is not so even then.
    """

    writing: tuple[int, ...] = ()
    first: Statement | None = None
    mends: tuple[Mend, ...] = ()
    two: Two | None = None
    is_entire: bool = False
    remark: str = ""


def told(exercise: Exercise, program: Program | None, related: Statement | None, found: Found) -> Where | None:
    """What is said of a wrong answer, as far as it is not told besides; None if it is nothing."""
    apart = exercise.values_alone and not found.is_entire
    if exercise.values_alone and found.is_entire:
        related = None  # which was seen of the values alone, and what mends all is not said to
    aside = replace(found, writing=()) if apart else found
    where = _where(replace(exercise, values_alone=apart), program, related, aside)
    if not where:
        return _where(exercise, program, None, Found(found.writing))
    before, lines = _of_writing(found.writing, program) if apart and program else ("", ())
    before += APART if apart else ""
    after = f" Even then: {found.remark}" if found.remark else ""
    return replace(where, message=before + where.message + after, lines=tuple(sorted({*where.lines, *lines})))


def told_besides(exercise: Exercise, program: Program, found: Found, besides: str, *, is_left: bool) -> Where | None:
    """What is said besides a mistake that is known; `is_left` if it does not explain the error, or the nan."""
    if found.two and besides in found.two.named:
        return _of_two(exercise, found.two, program.source, besides)
    if found.first and is_left:
        line, said = found.first.parameters["line"], _of_first(found.first, program)
        return Where((line,), None, said, (found.first,), source=program.source)
    return None


def _where(exercise: Exercise, program: Program | None, related: Statement | None, found: Found) -> Where | None:
    """What is said of what was found; None if it is nothing."""
    source = program.source if program else ""
    if found.two:
        return _of_two(exercise, found.two, source)
    evidence = [related] if related and not found.writing else []
    said = [relations.words(one, exercise) for one in evidence]
    mends = [m for m in found.mends if len(m.lines) <= (len(found.writing) or MOST_LINES)]
    mends = [m for m in mends if not found.writing or set(m.lines) <= set(found.writing)]
    lines = found.writing
    if found.writing and program:
        evidence.append(Statement("writes", {"lines": list(lines)}))
        words, lines = _of_writing(lines, program)
        said.append(words.strip())
    elif mends:
        parts = []
        for scope in list(dict.fromkeys(m.scope for m in mends))[:MOST_PARTS]:
            of = [m for m in mends if m.scope == scope]
            least = _least(of)
            is_alone = len(least.lines) > 1 or least.passed
            of = [least] if is_alone else [m for m in of if len(m.lines) == 1 and not m.passed]
            at = tuple(dict.fromkeys(n for m in of for n in m.lines))[:MOST_LINES]
            right = f"{_round(of[0].passed)}{_right(exercise, of[0])}"
            parts.append(_mended(at, right, of[0].needs, " or " if len(of) > 1 else " and "))
            at += of[0].passed
            lines = tuple(dict.fromkeys((*lines, *at)))
        said.append(f"{'. '.join(parts)}{FIRST}")
    is_left = not found.writing and all(m.scope != ALL for m in mends)
    if found.first and program and is_left and found.first.parameters["line"] not in lines:
        lines = (*lines, found.first.parameters["line"])
        said.append(_of_first(found.first, program))
    evidence += [_change(mend) for mend in mends]
    if found.first:
        evidence.append(found.first)
    if not evidence:
        return None
    at = tuple(sorted(lines))
    changes = [m.change for m in mends]
    part, kinds = _widest([c.part for c in changes]), {c.kind for c in changes}
    change = kinds.pop() or None if len(kinds) == 1 else None
    hints = [f"Line {at[0]}: look at `{part}`."] if part and len(at) == 1 else []
    hints += [f"It is about {KINDS[change]}."] if change else []
    return Where(at, part, " ".join(said), tuple(evidence), change, tuple(hints), source)


def _least(mends: Sequence[Mend]) -> Mend:
    """The first of these, or one of fewer lines that are among its own."""
    own = set(mends[0].lines)
    return min((m for m in mends if own.issuperset(m.lines)), key=lambda m: (len(m.lines), len(m.passed)))


def _of_writing(writing: tuple[int, ...], program: Program) -> tuple[str, tuple[int, ...]]:
    """What is said of the lines that write to an argument, and they with those that say what it is."""
    if not writing:
        return "", ()
    are = "are" if len(writing) > 1 else "is"
    others = program.other_names(writing)
    words = f"{_in_lines(writing).capitalize()} {are} the first to write to an argument. "
    words += "".join(f"`{name}` is no copy: see line {line}. " for name, line in others.items())
    return words, (*writing, *others.values())


def _of_first(first: Statement, program: Program) -> str:
    """What is said of the line that raises, or where nan comes up."""
    line = first.parameters["line"]
    calls = first.kind == "nan" and program.calls(line)
    what = "errors come up" if first.kind == "raises" else "the first nan comes up"
    if note := first.parameters["note"]:
        what += f", as in the case “{note}”"
    return f"Line {line}{', or a function that it calls,' if calls else ''} is where {what}."


def _of_two(exercise: Exercise, two: Two, source: str, besides: str | None = None) -> Where:
    """What is said of two changes that mend together; of the other one alone, if one is named already."""
    first, second = two.pair.first, two.pair.second
    named = sorted(
        zip((first.change, second), two.mistakes, strict=True), key=lambda one: (_rank(one[1], besides), one[0].lines)
    )
    name = TWO.join(mistake.name for _, mistake in named if mistake) or None
    told = [without_praise(mistake.message) if mistake else "" for _, mistake in named]
    at = [tuple(sorted(change.lines)) for change, _ in named]
    lines = tuple(sorted(at[1] if besides else {*at[0], *at[1]}))
    whole = _right(exercise, replace(first, scope=ALL))
    if besides:
        said = f"A second thing is wrong. {told[1] or _mended(at[1], whole, MORE) + FIRST}"
    elif told[0]:
        alone = _mended(at[1], "nothing but (1) is wrong any more") + FIRST
        said = f"Two things are wrong. (1) {told[0]} (2) {told[1] or alone}"
    elif isinstance(first.scope, Cases):
        said = _mended(lines, whole, "With small changes at {} together") + FIRST
    else:
        said = f"{_mended(first.lines, _right(exercise, first))}. {_mended(second.lines, whole, MORE)}{FIRST}"
    hints = tuple(f"{_in_lines(lines).capitalize()}: it is about {KINDS[change.kind]}." for lines, (change, _) in zip(
        at, named, strict=True) if change.kind)  # fmt: skip
    return Where(lines, None, said, (_change(two.pair.both),), None, hints, source, name)


def _rank(mistake: Misconception | None, besides: str | None) -> int:
    """In which order two slips are told: what is said already, what has a name, what has not; or else from above."""
    return 2 if mistake is None else int(mistake.name != besides)


def _in_lines(lines: Sequence[int], last: str = " and ") -> str:
    """ "line 3", "lines 3 and 5", "line 3 or 5"."""
    *before, end = map(str, sorted(lines))
    noun = "lines" if before and last == " and " else "line"
    return f"{noun} {', '.join(before)}{last if before else ''}{end}"


def _mended(lines: Sequence[int], right: str, needs: str = Mend.needs, last: str = " and ") -> str:
    """What a change in these lines makes right."""
    return f"{needs.format(_in_lines(lines, last))}, {right}"


def _round(passed: Sequence[int]) -> str:
    """What is said of the lines that a change goes round."""
    are = "have" if len(passed) > 1 else "has"
    return f"{_in_lines(passed)} {are} no say any more, and " if passed else ""


def _widest(parts: Sequence[str | None]) -> str | None:
    """The part that has all the others in it, if there is one."""
    widest = max((part for part in parts if part), key=len, default=None)
    return widest if widest and all(part and part in widest for part in parts) else None


def _right(exercise: Exercise, mend: Mend) -> str:
    if isinstance(mend.scope, int):
        return f"{exercise.gives[mend.scope].name} comes out right"
    if exercise.values_alone:
        return "all values come out right" if mend.scope == ALL else "all values but those of edge cases come out right"
    return "every case comes out right" if mend.scope == ALL else "all cases but edge cases come out right"


def _change(mend: Mend) -> Statement:
    change = mend.change
    of = {"of": change.kind, "lines": list(mend.lines), "part": change.part}
    right = mend.scope.name if isinstance(mend.scope, Misconception) else mend.scope
    return Statement("change", {**of, "source": change.source, "right": right})
