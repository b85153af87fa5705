"""The relation between what came and what was expected, where no mistake that is known by name explains it.

A statement is made if every case that was looked at bears it out, and there are enough of them; whoever says it to a
student has to verify it on fresh draws too, which is what `holds` is for. It says what is so, never what the fault is.

| kind | what it says | where |
|---|---|---|
| `part: …` | how one part is related to what it should be, "dX is what it should be, divided by N" | `related` |
| `items` | what a text, a list, a set or a number has too much or lacks | `sequences` |
| `depends` | what a part does not depend on, though it should, or the other way round | `properties` |
| `region` | where in an array alone it is wrong, "only at the last step" | `regions` |
| `cases` | which cases fail, "all cases with N = 1, and no other" | `properties` |
| `changed cases` | what is right once a case is changed, "with h0 set to zero" | `properties` |
| `smallest` | the smallest input that fails | `sequences` |
| `only` | which of several results are wrong | here |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rnncourse.checks.exercise import Exercise
from rnncourse.checks.plain import Plain
from rnncourse.checks.where import claims, parts, properties, regions, related, sequences
from rnncourse.checks.where.inquiry import Asked
from rnncourse.checks.where.place import Statement
from rnncourse.checks.where.properties import Ask

# The more a kind says, the further to the left. A direction alone says little.
_ORDER = ("part", "depends", "region", "items", "cases", "changed cases", "only", "smallest")
_VAGUE = {"too large", "too small", "first right"}


def relations(exercise: Exercise, asked: Sequence[Asked], ask: Ask | None = None) -> list[Statement]:
    """What is so of a wrong answer in these cases, what says the most first; none where nothing is, or nobody can tell.

    `ask` gives the answer's observation of one more case, for statements on cases that are made for it.
    """
    if not any(one.is_wrong for one in asked) or any(one.seen.timed_out for one in asked):
        return []
    with np.errstate(all="ignore"):
        return sorted(_found(exercise, asked, ask), key=_rank)


def is_vague(one: Statement) -> bool:
    """Whether it says a direction and no more, which a few cases may have by chance."""
    return one.kind == "items" and one.parameters["relation"] in _VAGUE


def _rank(one: Statement) -> int:
    if is_vague(one):
        return len(_ORDER)
    if one.kind == "cases" and not one.parameters["fails"]:  # that a small case comes out right says little
        return len(_ORDER)
    if one.kind == "part: invariant":
        return _ORDER.index("items")
    return _ORDER.index(one.kind.partition(":")[0])


def _found(exercise: Exercise, asked: Sequence[Asked], ask: Ask | None) -> Iterator[Statement]:
    seen = parts.looks(exercise, asked)
    for kind, parameters in related.found(seen):
        yield Statement(f"part: {kind}", parameters)
    yield from (Statement("region", p) for p in regions.found(seen))
    yield from (Statement("items", p) for p in sequences.found(exercise, asked))
    yield from (Statement("cases", p) for p in properties.found(exercise, asked))
    yield from (Statement("only", p) for p in _only(parts.looks(exercise, asked, whole=True)))
    if ask:
        yield from (Statement("depends", p) for p in properties.depends(exercise, asked, ask))
        yield from (Statement("changed cases", p) for p in properties.probed(exercise, asked, ask))
        yield from (Statement("smallest", p) for p in sequences.smallest(exercise, asked, ask))


def holds(statement: Statement, exercise: Exercise, asked: Sequence[Asked], ask: Ask | None = None) -> bool:
    """Whether a statement is so in other cases of the same answer. Cases that say nothing of it do not speak against
    it. Those on changed cases need `ask`.
    """
    with np.errstate(all="ignore"):
        return _holds(statement.kind, statement.parameters, exercise, asked, ask)


def _holds(
    kind: str, parameters: dict[str, Plain], exercise: Exercise, asked: Sequence[Asked], ask: Ask | None
) -> bool:
    if kind.startswith("part: "):
        name = kind.removeprefix("part: ")
        own = {k: v for k, v in parameters.items() if k not in ("part", "alone", "whole", "always")}
        return parts.is_so(claims.CLAIMS[name](**own), parameters["part"], parts.looks(exercise, asked), parameters)
    if kind == "only":
        return _only_holds(exercise, parameters["wrong"], asked)
    if kind in _ASKING:
        return ask is not None and _ASKING[kind](exercise, parameters, asked, ask)
    return {"items": sequences, "region": regions, "cases": properties}[kind].holds(exercise, parameters, asked)


_ASKING = {
    "depends": properties.depends_holds,
    "changed cases": properties.probe_holds,
    "smallest": sequences.smallest_holds,
}


def words(statement: Statement, exercise: Exercise) -> str:
    """One or two sentences for a student."""
    kind, parameters = statement.kind, statement.parameters
    if kind.startswith("part: "):
        return related.words(exercise, kind.removeprefix("part: "), parameters)
    if kind == "items":
        return sequences.words(parameters)
    if kind == "region":
        return regions.words(exercise, parameters)
    if kind == "cases":
        return properties.words(parameters)
    if kind == "depends":
        return properties.depends_words(parameters)
    if kind == "changed cases":
        return properties.probe_words(parameters)
    if kind == "smallest":
        return sequences.smallest_words(exercise, parameters)
    return _only_words(parameters)


# --- only some of several results


def _only(seen: Sequence[parts.Look]) -> Iterator[dict[str, Plain]]:
    """Which results are wrong, if others never are."""
    wrong, names = parts.wrong_names(seen), parts.all_names(seen)
    told = sum(any(not part.is_right for part in one.parts or ()) for one in seen)
    if 0 < len(wrong) < len(names) and told >= 2 and all(one.parts is not None for one in seen):
        yield {"wrong": wrong, "right": [name for name in names if name not in wrong]}


def _only_holds(exercise: Exercise, wrong: list[str], asked: Sequence[Asked]) -> bool:
    seen = parts.looks(exercise, asked, whole=True)
    return all(one.parts is not None and all(part.is_right or part.name in wrong for part in one.parts) for one in seen)


def _only_words(parameters: dict[str, Plain]) -> str:
    wrong, right = parameters["wrong"], parameters["right"]
    if len(right) == 1 and len(wrong) > 2:
        return f"{right[0]} is right in every case; all else is wrong somewhere."
    return f"Only {_listed(wrong)} {_are(wrong)} wrong; {_listed(right)} {_are(right)} right in every case."


def _are(names: list[str]) -> str:
    return "are" if names[1:] else "is"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + (" and " if names[1:] else "") + names[-1]
