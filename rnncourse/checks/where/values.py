"""The value: one place of a wrong answer is given, in every case and round, the values that a place of the model answer
has there. If all else then comes out right, the error is made at that place, or before it.

That finds errors which no small change mends, such as a term that is not there. Where the value is the answer itself,
it says nothing, and whole numbers are soon the same by chance: these are not asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rnncourse.checks.cases import canonical
from rnncourse.checks.drive import Observation
from rnncourse.checks.plain import Plain
from rnncourse.checks.where.agreement import Values, agree, agreeing, alike, in_order, series
from rnncourse.checks.where.changes import Change, changes
from rnncourse.checks.where.inquiry import Asked, Inquiry, OutOfTime
from rnncourse.checks.where.program import GIVE, Place
from rnncourse.checks.where.repairs import ALL, Scope, covers, scope_of

MOST_TOGETHER = 2  # places that are tried together with a change, and values for each
SECONDS_TOGETHER = 0.4  # for one of them with all changes


@dataclass(frozen=True)
class Given:
    """A place of the answer, that of the model answer whose values it may have, and what is right with them.

    `text` is the program in which the place has these values, and in which a change is made, if there is one.
    """

    place: Place
    model: object
    scope: Scope
    text: str
    change: Change | None = None


class Compared:
    """The values of a wrong answer beside those of the model answer, in every case. **Errors:** `OutOfTime`."""

    def __init__(self, inquiry: Inquiry) -> None:
        self.inquiry = inquiry
        own, model = [], []
        self.asked: list[Asked] = []
        for one in inquiry.asked:
            mine, its = inquiry.told(one), inquiry.of_model(one)
            if mine is not None and its is not None and not one.wanted.error:
                own.append(mine)
                model.append(its)
                self.asked.append(one)
        self.own: dict[object, Values] = series(own)
        self.model: dict[object, Values] = _distinct(series(model, derived=True))
        self.order = list(in_order(own))
        self.agreeing: dict[object, list[object]] = {}
        for place, values in self.own.items():
            inquiry.require_time()
            self.agreeing |= agreeing({place: values}, self.model)

    @cached_property
    def useful(self) -> dict[object, Values]:
        """The values of the model answer that may be given to a place: they tell something, and are not the answer."""
        exercise = self.inquiry.exercise
        answers = [_parts(canonical(exercise, one.wanted.answer)) for one in self.asked]
        if not self.asked:
            return {}
        return {key: values for key, values in self.model.items() if _tells(values) and not _is_answer(values, answers)}

    def agrees(self, number: int) -> bool:
        """Whether the values of this place are the model answer's somewhere, in every case."""
        return bool(self.agreeing.get(number))

    def suspects(self) -> list[Place]:
        """The places whose values the model answer does not have, the first to be evaluated first; then the others."""
        places = {place.number: place for place in self.inquiry.program.places}
        ordered = [places[n] for n in self.order if n in places]
        return sorted(ordered, key=lambda place: self.agrees(place.number))

    def last_agreeing(self) -> tuple[Place, object] | None:
        """The last place that agrees, in the order of evaluation, before the first that does not, and one of the model
        answer that it agrees with; no argument as it came.
        """
        places = {place.number: place for place in self.inquiry.program.places}
        last = None
        for number in self.order:
            if not self.agrees(number):
                break
            place = places[number]
            if not place.is_name and _tells(self.own[number]):
                last = place, self.agreeing[number][0]
        return last

    def lines(self) -> list[int]:
        """The lines of the program, the likeliest to be wrong first. What agrees comes last."""
        program = self.inquiry.program
        rank: dict[int, tuple[int, int]] = {}
        for position, place in enumerate(self.suspects()):
            if not self.agrees(place.number):
                rank.setdefault(place.line, (0, position))
        evaluated = {place.line for place in program.places if place.number in self.own}
        for place in program.places:
            if place.line not in rank:
                rank[place.line] = (2 if place.line in evaluated else 1, place.number)
        return sorted(rank, key=lambda line: rank[line])


def given(compared: Compared) -> Iterator[Given]:
    """The places that make all right if they have the model answer's values. **Errors:** `OutOfTime`."""
    for place in compared.suspects():
        if place.is_returned and not place.is_name:
            continue
        text = compared.inquiry.program.given(place.number)
        for key, values in compared.useful.items():
            if _may_stand_for(values, compared.own[place.number], compared) and (
                scope := _scope(compared, text, values)
            ):
                yield Given(place, key, scope, text)
                break


def given_and_changed(compared: Compared) -> Iterator[Given]:
    """The same for what is wrong in two places: one has the model answer's values, and a small change is made in
    another. Tried where the answer first goes its own way, with values that it has nowhere. **Errors:** `OutOfTime`.
    """
    inquiry, lines = compared.inquiry, compared.lines()
    agreed = {key for keys in compared.agreeing.values() for key in keys}
    missing = {key: values for key, values in compared.useful.items() if key not in agreed}
    places = [p for p in compared.suspects() if not compared.agrees(p.number) and not (p.is_returned and not p.is_name)]
    for place in places[:MOST_TOGETHER]:
        text = inquiry.program.given(place.number)
        mine = compared.own[place.number]
        fitting = [key for key, values in missing.items() if _may_stand_for(values, mine, compared)]
        for key in fitting[:MOST_TOGETHER]:
            with suppress(OutOfTime), inquiry.at_most(SECONDS_TOGETHER):
                for change in changes(text, first=[n for n in lines if n != place.line]):
                    if GIVE in change.source and _scope(compared, change.source, missing[key], whole=True):
                        yield Given(place, key, ALL, change.source, change)
                        break
            inquiry.require_time()


def _scope(compared: Compared, text: str, values: Values, *, whole: bool = False) -> Scope | None:
    """What is right if this text is given these values."""
    inquiry = compared.inquiry
    index = {id(one): i for i, one in enumerate(compared.asked)}

    def run(one: Asked) -> Observation:
        return inquiry.run(text, one.case, values[index[id(one)]]).seen if id(one) in index else one.seen

    return scope_of(inquiry, run, values_only=True, whole=whole)


def holds(inquiry: Inquiry, found: Given, one: Asked) -> bool:
    """Whether it is so in another case. **Errors:** `OutOfTime`."""
    notes = inquiry.of_model(one)
    if one.wanted.error or notes is None:
        return True
    values = series([notes], derived=True).get(found.model)
    if values is None:
        return False
    return covers(inquiry, found.scope, one, inquiry.run(found.text, one.case, values[0]).seen, values_only=True)


def _distinct(model: dict[object, Values]) -> dict[object, Values]:
    """Without the places that have the values of another one."""
    found: dict[object, Values] = {}
    for key, values in model.items():
        if not any(
            len(o) == len(values) and all(len(a) == len(b) for a, b in zip(o, values, strict=True)) and agree(values, o)
            for o in found.values()
        ):
            found[key] = values
    return found


def _tells(values: Values) -> bool:
    """Whether these values can tell anything; whole numbers only if there are several different ones."""
    flat = [v for one in values for v in one]
    if any(v is None for v in flat) or not flat:
        return False
    if any(isinstance(v, (float, np.floating)) or (isinstance(v, np.ndarray) and v.dtype.kind == "f") for v in flat):
        return True
    distinct: list[Plain] = []
    for v in flat:
        if not any(alike(v, d) for d in distinct):
            distinct.append(v)
    return len(distinct) > 2


def _as_array(values: list[Plain]) -> list[Plain]:
    try:
        return [np.asarray(values), np.asarray(values[::-1])]
    except ValueError:
        return []


def _parts(answer: Plain) -> list[Plain]:
    return [answer, *answer] if isinstance(answer, (tuple, list)) else [answer]


def _is_answer(values: Values, answers: list[list[Plain]]) -> bool:
    """Whether these values are a part of the answer, in every case: the last of them, or all in one array."""

    def is_part(own: list[Plain], parts: list[Plain]) -> bool:
        if not own:
            return False
        candidates: list[Plain] = [own[-1], *(_as_array(own[-1]) if isinstance(own[-1], list) else ())]
        if len(own) > 1 and len({np.shape(v) for v in own if isinstance(v, np.ndarray)}) == 1:
            candidates += [np.stack(own), np.stack(own[::-1])] if all(isinstance(v, np.ndarray) for v in own) else []
        return any(alike(c, p, transposed=True) for c in candidates for p in parts)

    return all(is_part(own, parts) for own, parts in zip(values, answers, strict=True))


def _may_stand_for(values: Values, mine: Values, compared: Compared) -> bool:
    """Whether these values may be given in the place of those: as many, of the same shapes, and not the same."""
    for one, theirs, own in zip(compared.asked, values, mine, strict=True):
        if one.seen.error:  # whatever came behind the error is not known
            if len(theirs) < len(own):
                return False
            continue
        if len(theirs) != len(own):
            return False
        for a, b in zip(theirs, own, strict=True):
            if isinstance(a, np.ndarray) != isinstance(b, np.ndarray):
                return False
    return not agree(mine, values)
