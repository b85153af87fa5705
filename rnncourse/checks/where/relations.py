"""The relation between what came and what was expected, where no mistake that is known by name explains it.

A statement is made if every case that was looked at bears it out, and there are enough of them; whoever says it to a
student has to verify it on fresh draws too, which is what `holds` is for. It says what is so, never what the fault is.

| kind | what it says | where |
|---|---|---|
| `part: …` | how one part is related to what it should be, "dX is too small by the factor N" | `checks.relations` |
| `depends` | that a part does not depend on an argument, though it should, or the other way round | `properties` |
| `cases` | which cases fail, "all cases with N = 1, and no other" | `properties` |
| `changed cases` | that every case is right once an argument is set to zero | `properties` |
| `only` | which of several results are wrong | here |
"""

from collections.abc import Iterator, Sequence

import numpy as np

from rnncourse.checks.cases import Asked
from rnncourse.checks.exercise import Exercise
from rnncourse.checks.generic import parts_of
from rnncourse.checks.place import Statement
from rnncourse.checks.plain import Plain
from rnncourse.checks.relations import TABLE, Key, Part, Relation, equal, listed, row_of, sentence
from rnncourse.checks.where import properties
from rnncourse.checks.where.properties import Ask

# The more a kind says, the further to the left.
_ORDER = ("part", "depends", "places", "cases", "changed cases", "only")
_OF_PLACES = {"wrong_only", "right_first", "right_last", "not_summing_to_1", "constant", "of_another_shape"}

Answers = list[list[Part]]  # of each case the parts; none if no answer came that has them


def relations(exercise: Exercise, asked: Sequence[Asked], ask: Ask | None = None) -> list[Statement]:
    """What is so of a wrong answer in these cases, what says the most first; none where nothing is, or nobody can tell.

    `ask` gives the answer's observation of one more case, for statements on cases that are made for it.
    """
    if not any(one.is_wrong for one in asked) or any(one.seen.timed_out for one in asked):
        return []
    with np.errstate(all="ignore"):
        return sorted(_found(exercise, asked, ask), key=_rank)


def _rank(one: Statement) -> int:
    kind, _, name = one.kind.partition(": ")
    return _ORDER.index("places" if name in _OF_PLACES else kind) + (not one.parameters.get("fails", True))


def _found(exercise: Exercise, asked: Sequence[Asked], ask: Ask | None) -> Iterator[Statement]:
    answers = _answers(exercise, asked)
    for name in _names(answers, wrong=True):
        if found := _of_part(name, answers):
            yield found
    yield from (Statement("cases", p) for p in properties.found(exercise, asked))
    # Where the outputs are wrong, the gradients follow from them.
    whole = not (exercise.drive.has_gradients and _names(answers, wrong=True))
    wrong, names = (_results(_answers(exercise, asked, whole=whole), wrong=w) for w in (True, False))
    if 0 < len(wrong) < len(names) and all(answers) and sum(one.is_wrong for one in asked) > 1:
        yield Statement(
            "only", {"wrong": wrong, "right": [name for name in names if name not in wrong], "whole": whole}
        )
    if ask:
        yield from (Statement("depends", p) for p in properties.depends(exercise, asked, ask))
        yield from (Statement("changed cases", p) for p in properties.changed(exercise, asked, ask))


def holds(statement: Statement, exercise: Exercise, asked: Sequence[Asked], ask: Ask | None = None) -> bool:
    """Whether a statement is so in other cases of the same answer. Cases that say nothing of it do not speak against
    it. Those on changed cases need `ask`.
    """
    parameters, (kind, _, name) = statement.parameters, statement.kind.partition(": ")
    with np.errstate(all="ignore"):
        if kind == "part":
            key = (name, *parameters["values"])
            return _is_so(row_of(name), key, parameters, _answers(exercise, asked))
        if kind == "only":
            answers = _answers(exercise, asked, whole=parameters["whole"])
            return all(answers) and set(_results(answers, wrong=True)) <= set(parameters["wrong"])
        if kind == "cases":
            return properties.holds(exercise, parameters, asked)
        again = properties.depends_holds if kind == "depends" else properties.changed_holds
        return ask is not None and again(exercise, parameters, asked, ask)


def words(statement: Statement, exercise: Exercise) -> str:
    """One or two sentences for a student."""
    parameters, (kind, _, name) = statement.parameters, statement.kind.partition(": ")
    if kind == "part":
        text = sentence((name, *parameters["values"]), [parameters["part"]], always=parameters["always"])
        if not parameters["whole"]:
            text = f"Where an answer of the right form comes back: {text}"
        return text + (" The other results are right in every case." if parameters["alone"] else "")
    if kind == "only":
        wrong, right = (_are(parameters[which]) for which in ("wrong", "right"))
        return f"{wrong} wrong; {right} right in every case."  # gradients that follow are not asked
    return properties.words(kind, parameters)


def _are(names: list[str]) -> str:
    return f"{listed(names)} {'are' if names[1:] else 'is'}"


# --- one part


def _answers(exercise: Exercise, asked: Sequence[Asked], *, whole: bool = False) -> Answers:
    """The parts of the answers, but for the cases in which an error was asked for and came."""
    told = [one for one in asked if one.is_wrong or not one.wanted.error]
    return [parts_of(exercise, one.case, one.wanted, one.seen, whole=whole) for one in told]


def _names(answers: Answers, *, wrong: bool) -> list[str]:
    return list(dict.fromkeys(part.name for parts in answers for part in parts if not (wrong and part.is_right)))


def _results(answers: Answers, *, wrong: bool) -> list[str]:
    """The same, a dict as one."""
    return list(dict.fromkeys(p.axes.name for parts in answers for p in parts if not (wrong and p.is_right)))


def _of_part(name: str, answers: Answers) -> Statement | None:
    """The plainest relation in which all that is wrong of a part stands to what it should be."""
    wrong = [part for parts in answers for part in parts if part.name == name and not part.is_right]
    largest = max(wrong, key=lambda part: (getattr(part.right, "itemsize", 0), part.size))
    base: dict[str, Plain] = {
        "part": name,
        "alone": _names(answers, wrong=True) == [name] != _names(answers, wrong=False),
        "whole": all(answers),
        "always": False,
    }
    for row in TABLE:
        for key in largest.keys(row):
            if not _is_so(row, key, base, answers) or not _is_supported(row, key, wrong):
                continue
            always = _is_so(row, key, {**base, "always": True}, answers)
            return Statement(f"part: {key[0]}", {**base, "always": always, "values": list(key[1:])})
    return None


def _is_so(row: Relation, key: Key, parameters: dict[str, Plain], answers: Answers) -> bool:
    """Whether it is so wherever the part is wrong, and what the parameters say besides: that all other parts are right
    (`alone`), that every answer has its parts (`whole`), that it is so of the part where it is right too (`always`).
    """
    if parameters["whole"] and not all(answers):
        return False
    for part in (part for parts in answers for part in parts):
        if part.name != parameters["part"]:
            if parameters["alone"] and not part.is_right:
                return False
        elif part.is_right:
            if parameters["always"] and part.size and key not in part.keys(row):
                return False
        elif key not in part.keys(row) or _has_the_right_values(part):
            return False  # what is wrong in its dtype alone is not wrong in its numbers
    return True


def _has_the_right_values(part: Part) -> bool:
    return isinstance(part.right, np.ndarray) and isinstance(part.own, np.ndarray) and equal(part.right, part.own)


def _is_supported(row: Relation, key: Key, wrong: Sequence[Part]) -> bool:
    """Whether there are wrong parts enough of which it says something: of arrays two, of single numbers four."""
    borne = [part for part in wrong if part.size and part.says(row, key)]
    if all(isinstance(part.right, np.ndarray) for part in borne):
        return len(borne) >= 2 and sum(part.size for part in borne) >= (8 if any(p.right.ndim for p in borne) else 4)
    return len(borne) >= 2
