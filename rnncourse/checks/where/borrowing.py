"""What a wrong answer lacks of right ones: statements of those that are nearest are put in, in the answer's own names,
until every case comes out right, and as few of them as that takes. What is not needed is no mistake.

Much of what makes a program right at one place does so by passing by what is wrong at another. Therefore a statement
is only put in the place of one that is about the same, and what was given a name before must still be read.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from rnncourse.checks.program import definition, lines_of
from rnncourse.checks.slips import Change
from rnncourse.checks.slips.text import Patch
from rnncourse.checks.where.alignment import (
    Alignment,
    Edit,
    Pair,
    distance,
    edited,
    leaves_unread,
    named,
    nodes_of,
    variable_of,
)
from rnncourse.checks.where.inquiry import ALL, Inquiry
from rnncourse.checks.where.repairs import Mend

MOST_ASKED = 8  # right programs, the nearest first
MOST_EDITS = 14  # in which one of them may differ
MOST_FOR_TWO = 16  # edits of which any two are tried
MOST_PLACES = 3  # that are named
SMALL = 6  # nodes in which two statements differ, at most, to be the same but for a slip
MOST_NODES = 12  # in which those of several places, or what is missing, may differ, for each place
LEAST_SHARED = 0.5  # of two statements, where one takes the other's place


@dataclass(frozen=True)
class Loan:
    """Edits that mend together, and in how many nodes they change the program; two of them each by itself, too."""

    mend: Mend
    places: int
    nodes: int
    is_small: bool
    two: tuple[Change, ...] = ()


class Borrower:
    """A wrong program, and in what the nearest right ones differ from it."""

    def __init__(self, inquiry: Inquiry) -> None:
        self.inquiry = inquiry
        self.wrong = wrong = definition(inquiry.text.tree, inquiry.program.name)
        compared = [Alignment(wrong, right) for _, right in inquiry.rights if type(right) is type(wrong)]
        near = sorted((a for a in compared if len(a.edits) <= MOST_EDITS), key=lambda a: a.cost)
        self.edits = [a.edits for a in near[:MOST_ASKED]]
        self.known: dict[str, bool] = {}

    def changes(self) -> list[Change]:
        """What one right program has otherwise at one place, the least first."""
        return [Change("", edit.lines, None, self.text([edit]), patches)
                for edit in self.news if (patches := _patches(edit)) is not None
                and not self.is_by_the_way(edit, [edit])]  # fmt: skip

    def borrowed(self) -> list[Loan]:
        """What mends, the least first; of one place, if that is enough. **Errors:** `OutOfTime`."""
        return sorted(self.loans(), key=lambda loan: (not loan.is_small, loan.places, loan.nodes))

    def loans(self) -> list[Loan]:
        found: list[Loan] = []
        for edits in self.edits:
            found += [loan for edit in edits if self.is_right([edit]) and (loan := self.loan([edit]))]
            if any(loan.is_small for loan in found):
                break
        return found or self.of_two_places() or [loan for edits in self.edits if (loan := self.of_several(edits))]

    @cached_property
    def news(self) -> list[Edit]:
        """The edits of one statement that tell something, the least first, whichever right programs they are of."""
        told = {(edit.old, ast.unparse(edit.new)): edit for edits in self.edits for edit in edits
                if edit.new and self.is_news(edit, edit.new, is_small=edit.nodes <= SMALL)}  # fmt: skip
        return sorted(told.values(), key=lambda edit: edit.nodes)[:MOST_FOR_TWO]

    def of_two_places(self) -> list[Loan]:
        """Any two edits of statements of which neither is enough."""
        needed = [edit for edit in self.news if not self.is_right([edit])]
        pairs = [pair for pair in combinations(needed, 2) if pair[0].old is not pair[1].old]
        return [loan for pair in pairs if self.is_right(pair) and (loan := self.loan(list(pair)))]

    def of_several(self, edits: Sequence[Edit]) -> Loan | None:
        """What is left, if what need not be put in is left out, that in which most is otherwise first."""
        chosen = sorted(edits, key=lambda edit: -edit.nodes)
        if not self.is_right(chosen):
            return None
        while one := next((e for e in chosen if self.is_right([other for other in chosen if other is not e])), None):
            chosen.remove(one)
        return self.loan(chosen) if chosen else None

    def is_right(self, edits: Sequence[Edit], pairs: Sequence[Pair] | None = None) -> bool:
        """Whether every case comes out right with these edits, or so much of them."""
        text = self.text(edits, pairs)
        if text not in self.known:
            self.known[text] = all(_is_right(self.inquiry, text, number) for number in range(len(self.inquiry.asked)))
        return self.known[text]

    def text(self, edits: Sequence[Edit], pairs: Sequence[Pair] | None = None) -> str:
        patches = [_patches(edit, pairs) for edit in edits]
        own = (
            self.inquiry.text.with_patches([p for some in patches for p in some or ()]) if None not in patches else None
        )
        if own is None:
            made = edited(self.wrong, edits, [p for edit in edits for p in edit.pairs] if pairs is None else pairs)
            own = ast.unparse(ast.fix_missing_locations(made))
        return self.inquiry.completed(own)

    def loan(self, edits: Sequence[Edit]) -> Loan | None:
        """These edits, and of each as little as it takes; None if they pass by what is wrong, or are no news."""
        pairs = [pair for edit in edits for pair in edit.pairs]
        for pair in pairs if len(pairs) > 1 else ():
            less = [p for p in pairs if p is not pair]
            if self.is_right(edits, less):
                pairs = less
        nodes = sum(distance(a, b) for a, b in pairs) + sum(edit.nodes for edit in edits if not edit.pairs)
        told = [edit for edit in edits if not self.is_by_the_way(edit, edits)]
        places = len(told)
        is_small = len(pairs) == len(edits) == 1 and nodes <= SMALL
        if not 0 < places <= MOST_PLACES or not (is_small or nodes <= MOST_NODES * min(places, 2)):
            return None
        if all(edit.old is None for edit in told):
            return None  # one more line makes right what another did wrong
        if places == MOST_PLACES and len(self.statements) <= 2 * places:
            return None
        if not all(self.is_news(edit, edited(edit.old or edit.new, (), pairs), is_small) for edit in edits):
            return None
        if leaves_unread(self.wrong, edited(self.wrong, edits, pairs)):
            return None
        lines = {n for edit in told for n in _lines(edit, pairs)}
        part = None
        if len(pairs) == len(told) == 1 and isinstance(one := pairs[0][0], ast.expr):
            part = ast.get_source_segment(self.inquiry.program.source, one)
        kind, needs = _said(told, len(edits) > 1, is_small)
        change = Change(kind, tuple(sorted(lines)), part, self.text(edits, pairs))
        two = [Change("", _lines(edit, pairs), None, self.text([edit], pairs)) for edit in edits] if places == 2 else []
        return Loan(Mend(change, ALL, needs), places, nodes, is_small, tuple(two) if len(two) == 2 else ())

    @cached_property
    def statements(self) -> list[ast.stmt]:
        return [node for node in ast.walk(self.wrong) if isinstance(node, ast.stmt)]

    def is_by_the_way(self, edit: Edit, edits: Sequence[Edit]) -> bool:
        """Whether a missing line only gives a name to what others of the edits read, or is one that they move."""
        if edit.new is None or edit.old is not None:
            return False
        own = named(self.wrong, ast.Store)
        is_moved = any(other.old and not other.new and _same(other.old, edit.new) for other in edits)
        return is_moved or (isinstance(edit.new, ast.Assign) and named(edit.new, ast.Store).isdisjoint(own))

    def is_news(self, edit: Edit, new: ast.stmt, is_small: bool) -> bool:
        """Whether an edit tells something: that it is about the same as what stood there."""
        inner = [n for n in ast.walk(new) if isinstance(n, ast.stmt)]
        is_one = len(inner) == 1
        if edit.new is None:
            return is_one
        if edit.old is None:
            given = {ast.unparse(t) for s in self.statements if isinstance(s, ast.Assign) for t in s.targets}
            targets = {ast.unparse(t) for s in inner if isinstance(s, ast.Assign) for t in s.targets}
            is_plain = is_one or (isinstance(new, ast.If) and len(inner) == 2)
            return is_plain and not any(isinstance(n, ast.Return) for n in inner) and given.isdisjoint(targets)
        if isinstance(edit.old, ast.Return) != isinstance(new, ast.Return):
            return False
        shared = 1 - distance(edit.old, new) / sum(1 for one in (edit.old, new) for _ in nodes_of(one))
        if len(self.statements) == 2:  # that it is the only line is no news, but which part of it
            return shared > (1 + LEAST_SHARED) / 2
        before, after = ({variable_of(n) for n in nodes_of(one)} for one in (edit.old, new))
        if not is_small and not before & named(self.wrong, ast.Store) <= after:
            return False
        return shared >= LEAST_SHARED or before == after


def _is_right(inquiry: Inquiry, text: str, number: int) -> bool:
    one, _ = inquiry.by_size[number]
    return all(inquiry.parts_right(one, inquiry.tried(text, one)))


def _patches(edit: Edit, pairs: Sequence[Pair] | None = None) -> tuple[Patch, ...] | None:
    """What an edit, or those of its pairs that are among these, puts into the text; None where that is no expression
    or whole statement.
    """
    if edit.new is None:
        return (Patch([edit.old], [ast.Pass()]),) if edit.old else ()
    if edit.old is None:
        if edit.beside is None:
            return None
        return (Patch([edit.beside], [edit.beside, edit.new] if edit.is_behind else [edit.new, edit.beside]),)
    chosen = [(a, b) for a, b in edit.pairs if pairs is None or any(a is one for one, _ in pairs)]
    if not all(isinstance(a, (ast.expr, ast.stmt)) and not isinstance(a, ast.Starred) for a, _ in chosen):
        return None
    return tuple(Patch([a], [b]) for a, b in chosen)


def _same(one: ast.stmt, other: ast.stmt) -> bool:
    return ast.unparse(one) == ast.unparse(other)


def _lines(edit: Edit, pairs: Sequence[Pair]) -> tuple[int, ...]:
    """Where it is otherwise, as far as it is one of these pairs."""
    if not edit.pairs:
        return edit.lines
    own = [one for one, _ in edit.pairs if any(one is other for other, _ in pairs)]
    nodes = (n for one in own for n in ([one] if hasattr(one, "lineno") else ast.walk(one)))  # `for x in xs` has none
    return tuple(sorted({n for one in nodes if isinstance(one, (ast.expr, ast.stmt)) for n in lines_of(one)}))


def _said(told: Sequence[Edit], is_moved: bool, is_small: bool) -> tuple[str, str]:
    """The kind of change, if it has one, and what is done."""
    if len(told) > 1:
        return "", "With changes at {} together"
    if told[0].new:
        return "", Mend.needs if is_small else "With a change at {}"
    return ("statement order", "With {} at another place") if is_moved else ("statement removed", "Without {}")
