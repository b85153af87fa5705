"""Driving a candidate: what happens on the candidate's side, be that this process or another.

`observe(candidate, drive, args)` gives the candidate a private copy of the arguments, lets the driver make its calls,
and writes down what came of it, in plain values: the answer, or the error; which arguments were changed, or left with
a gradient; whether the answer shares memory with one; how often each callable was called.

A driver is a function that is handed the candidate and the arguments of a case. Those that several units need stand
here, and those of `nn.Module` in `modules.py`; one that only one unit needs stands in `rnncourse/fixtures/<stem>.py`.
All of them run beside the candidate, at the desk in the sandbox, so none of them holds an answer.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import linecache
import os
import re
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any

import numpy as np

from rnncourse.checks.callables import Named
from rnncourse.checks.depth import Tape, measured
from rnncourse.checks.plain import NotPlain, Plain, Unfit, identical, share_memory, to_plain

COURSE = str(Path(__file__).parents[1]) + os.sep  # no line of it stands in a student's error
OF_SHAPES = ValueError, IndexError, RuntimeError  # what NumPy and PyTorch raise where shapes do not fit
MOST_SHAPES = 4  # in one message
MOST_WORDS = 200  # characters of an error's own words
OTHERS = "site-packages", "rnngrade_inside"  # packages, and the sandbox's part of the desk: no candidate's code


SHARED = "__shared__"  # the name of an array that lies in memory which is lent
TURNED = ", turned"  # behind the name of a driver


class Stopped(BaseException):
    """Thrown into a candidate whose time is up."""


@dataclass(frozen=True)
class Observation:
    """What one case gave. `error` is a sentence or None; `error_types` the names of the error's class and its bases."""

    answer: Plain = None
    error: str | None = None
    error_types: tuple[str, ...] = ()
    timed_out: bool = False
    refused: str | None = None
    changed: tuple[int, ...] = ()
    shared: bool = False
    calls: tuple[int, ...] = ()
    wrote_meanwhile: bool = False
    with_gradient: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Driver:
    """How a candidate is driven through a case: `driver(candidate, *args)`, and what others have to know of it.

    Make one with `@driver(…)`. Its name, "module:function", is what the desk's judge sends to the sandbox.
    """

    name: str
    function: Callable[..., Any]
    is_plain: bool = False  # one call of the candidate with the arguments of the case
    tensors: bool = False  # the candidate gets tensors for the arrays of a case; its own become arrays
    module: bool = False  # the candidate is an `nn.Module`: the answer begins with what came out of each call
    writes: bool = False  # the candidate is asked to change its arguments
    counts_depth: bool = False  # the last argument may ask for the depth of the answer, as in `steps`
    several: bool = False  # each argument of a case is a call of its own
    outputs: Driver | None = None  # makes what the answer begins with and no gradients, for who is in a hurry

    @property
    def hands_over(self) -> bool:
        """Whether the candidate is called with the arguments of the case as they are."""
        return self.is_plain or self.counts_depth

    @property
    def has_gradients(self) -> bool:
        """Whether the answer ends with gradients, which follow from what it begins with."""
        return self.module or self.outputs is not None

    def __call__(self, candidate: Any, *args: Any) -> Any:
        return self.function(candidate, *args)


def driver(**traits: Any) -> Callable[[Callable[..., Any]], Driver]:
    """Decorator: the function drives a candidate. `traits` are the fields of `Driver`."""

    def made(function: Callable[..., Any]) -> Driver:
        return Driver(f"{function.__module__}:{function.__qualname__}", function, **traits)

    return made


def driver_named(name: str) -> Driver:
    """The driver of that name, from this module or the fixtures of a unit. **Errors:** `KeyError` for anything else."""
    if name.endswith(TURNED):
        return turned(driver_named(name.removesuffix(TURNED)))
    module, _, function = name.partition(":")
    if not (module == __name__ or re.fullmatch(r"rnncourse\.fixtures\.[a-z_]+", module, re.ASCII)):
        raise KeyError(name)
    found = vars(importlib.import_module(module)).get(function)
    if not isinstance(found, Driver):
        raise KeyError(name)
    return found


def turned(drive: Driver) -> Driver:
    """The same driver with arrays that lie otherwise in memory: as those of a transposed array, column by column."""

    def driven(candidate: Any, *args: Any) -> Any:
        return drive.function(candidate, *(_by_columns(a) for a in args))

    return replace(drive, name=f"{drive.name}{TURNED}", function=driven)


def _by_columns(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_by_columns(v) for v in value)
    if type(value) is dict:
        return {k: _by_columns(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return np.array(value, order="F")
    if type(value).__name__ == "Tensor":  # without a word of torch, which may not be there
        axes = range(value.ndim)[::-1]
        return value.permute(*axes).contiguous().permute(*axes)
    return value


@driver(is_plain=True)
def call(candidate: Any, *args: Any) -> Any:
    """One call: `candidate(*args)`."""
    return candidate(*args)


@driver(tensors=True)
def with_tensors(candidate: Any, *args: Any) -> Any:
    """One call with tensors."""
    return candidate(*args)


@driver()
def chain(candidate: Any, first: tuple[Any, ...], *calls: tuple[Any, ...]) -> Any:
    """The candidate answers with a function, which is called: `candidate(*first)(*call)`; several give a list."""
    made = candidate(*first)
    answers = [made(*call) for call in calls]
    return answers if len(calls) > 1 else answers[0]


@driver()
def methods(candidate: Any, init: tuple[Any, ...], calls: list[tuple[str, tuple[Any, ...]]]) -> list[Any]:
    """The candidate is a class: one object is made, its methods are called in order, all answers are kept."""
    made = candidate(*init)
    return [getattr(made, name)(*args) for name, args in calls]


@driver()
def iterate(candidate: Any, *args: Any) -> list[Any]:
    """The candidate yields: its first items, at most 1,000, are the answer."""
    return list(itertools.islice(candidate(*args), 1000))


@driver(writes=True)
def update(candidate: Any, *args: Any) -> tuple[Any, Any]:
    """The candidate may write to its arguments: the answer is what it returns and what the arguments have become."""
    return candidate(*args), to_plain(args)


@driver()
def padded(candidate: Any, *args: Any) -> Any:
    """One call for sequences of several lengths: (T, N, …) with zeros at padded steps, whose values are nobody's
    business. The last argument says how long each is, if it is an array of N whole numbers; else no step is padded.
    """
    last = args[-1]
    if not (isinstance(last, np.ndarray) and last.ndim == 1 and last.dtype.kind in "iu"):
        return candidate(*args)
    lengths = last.copy()  # the candidate may write to its arguments
    answer = candidate(*args)
    try:
        steps = np.array(to_plain(answer))
    except (NotPlain, ValueError):
        return answer
    if steps.ndim < 2 or steps.shape[1] != len(lengths):
        return answer
    steps[np.arange(len(steps))[:, None] >= lengths] = 0
    return steps


@driver(counts_depth=True)
def steps(candidate: Any, *args: Any) -> Any:
    """One call. If the last argument is "count", it is made with the other ones as numbers that know their depth
    (`depth.py`), and the answer is (values, depth of the deepest). If it is "trace", the answer is the tape that says
    so: whoever has the values works it off.
    """
    *given, last = args
    if not isinstance(last, str):
        return candidate(*args)
    tape = Tape()
    answer = candidate(*(tape.counted(a) for a in given))
    traced = tape.traced(answer)
    if traced is None:
        return answer
    return traced if last == "trace" else measured(traced, given)


def _of_modules(name: str, **traits: Any) -> Driver:
    """A driver of `rnncourse.checks.modules`, for which torch is loaded when a candidate is driven and not before."""

    def drive(candidate: Any, *args: Any) -> Any:
        from rnncourse.checks import modules

        return getattr(modules, f"drive_{name}")(candidate, *args)

    return Driver(f"{__name__}:{name}", drive, **traits)


outputs = _of_modules("outputs", tensors=True)
module = _of_modules("module", tensors=True, module=True, outputs=outputs)
padded_module = _of_modules("padded_module", tensors=True, module=True)
layer = _of_modules("layer", tensors=True, module=True, outputs=outputs)
stochastic = _of_modules("stochastic", tensors=True, module=True, outputs=outputs)
differentiable = _of_modules("differentiable", tensors=True, outputs=with_tensors)
train = _of_modules("train", tensors=True)
builds = _of_modules("builds")


class _Spy:
    """Makes the callables of a case, counts their calls and looks at each call whether an argument is being
    written to.
    """

    def __init__(self) -> None:
        self.counts: list[int] = []
        self.look: Callable[[], bool] = lambda: False
        self.wrote = False

    def make(self, value: Any) -> Any:
        """`value` as the candidate gets it: a deep copy in which each `Named` is a function, and what is equal is not
        the same object, as far as Python allows: whoever asks `is` for `==` is found out.
        """
        if isinstance(value, Named):
            made = value.make()
            return self._watched(made) if isinstance(made, FunctionType) else made
        if isinstance(value, (list, tuple)):
            return type(value)(self.make(v) for v in value)
        if type(value) is dict:
            return {k: self.make(v) for k, v in value.items()}
        if type(value) in (str, int):
            return value[:1] + value[1:] if isinstance(value, str) else value + 0
        return to_plain(value)

    def _watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        index = len(self.counts)
        self.counts.append(0)

        def watched(*args: Any, **kwargs: Any) -> Any:
            self.counts[index] += 1
            self.wrote = self.wrote or self.look()
            return function(*args, **kwargs)

        return watched


def _differ(live: Any, pristine: Any) -> bool:
    if isinstance(pristine, Named):
        if pristine.name != SHARED:
            return False
        pristine = pristine.make()  # it is read where it lies; that another stands in its place is seen here
    if isinstance(pristine, (list, tuple)) and type(live) is type(pristine):
        return len(live) != len(pristine) or any(_differ(a, b) for a, b in zip(live, pristine, strict=True))
    if type(pristine) is dict and type(live) is dict:
        return live.keys() != pristine.keys() or any(_differ(live[k], pristine[k]) for k in pristine)
    try:
        return not identical(to_plain(live), pristine)
    except NotPlain:
        return True


def observe(
    candidate: Any, drive: Driver, args: tuple[Any, ...], keep: list[Any] | None = None, *, is_brief: bool = False
) -> Observation:
    """Drive the candidate through one case and say what was seen. Never raises for what the candidate does.

    The answer itself, of which the observation has a copy, is put into `keep`. What is told of an error is brief if
    nobody is to read it: to find the line and the shapes takes longer than most answers.
    """
    spy = _Spy()
    to_live, from_live = _converters(drive)
    live = to_live(tuple(spy.make(a) for a in args))

    def changed() -> tuple[int, ...]:
        return tuple(i for i, (a, b) in enumerate(zip(from_live(live), args, strict=True)) if _differ(a, b))

    spy.look = lambda: bool(changed())
    try:
        answer = from_live(drive(candidate, *live))
        if keep is not None:
            keep.append(answer)
    except Stopped:
        raise
    except BaseException as error:
        return Observation(
            error=_in_words(error) if is_brief else describe(error),
            error_types=tuple(c.__name__ for c in type(error).__mro__),
            changed=changed(),
        )
    plain, refused, shared = None, None, False
    try:
        plain = to_plain(answer)
        shared = share_memory(answer, from_live(live))
    except NotPlain as why:
        refused = str(why)
    return Observation(
        plain,
        refused=refused,
        changed=changed(),
        shared=shared,
        calls=tuple(spy.counts),
        wrote_meanwhile=spy.wrote,
        with_gradient=_with_gradient(drive, live),
    )


def _converters(drive: Driver) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    if not drive.tensors:
        return (lambda value: value), (lambda value: value)
    from rnncourse.checks.modules import arrays, tensors

    return tensors, arrays


def _with_gradient(drive: Driver, live: tuple[Any, ...]) -> tuple[int, ...]:
    """The arguments in which a tensor asks for a gradient now, or has one."""
    if not drive.tensors:
        return ()
    from rnncourse.checks.modules import has_gradient

    return tuple(i for i, value in enumerate(live) if has_gradient(value))


def describe(error: BaseException) -> str:
    """One line on an error: its kind, its words, and the line of the candidate's own code where it arose. What the
    candidate calls of the course may raise it: then that is the line which calls.
    """
    text = _in_words(error)
    if isinstance(error, Unfit):
        return text
    frames = [
        (frame, summary)
        for (frame, _), summary in zip(
            traceback.walk_tb(error.__traceback__), traceback.extract_tb(error.__traceback__), strict=True
        )
        if not summary.filename.startswith(COURSE) and not any(name in summary.filename for name in OTHERS)
    ]
    if frames and frames[-1][1].line:
        return f"{text} (in the line `{frames[-1][1].line.strip()[:100]}`{_shapes(error, *frames[-1])})"
    return text


def _in_words(error: BaseException) -> str:
    """An error's kind and its words."""
    if isinstance(error, Unfit):
        return str(error)
    try:
        words = str(error).strip().splitlines()
    except Exception:
        words = []
    if len(words) > 1 and words[0].endswith(":"):
        words[0] = f"{words[0]} {words[1].strip()}"
    return f"{type(error).__name__}: {_shortened(words[0])}" if words else type(error).__name__


def _shortened(words: str) -> str:
    """An error's words without what only NumPy's authors read, cut between two words where there are too many."""
    words = re.sub(r", with gufunc signature \S+", "", words).rstrip(".")
    words = re.sub(r"'?Counted'?", "a number that counts its steps", words)
    return words if len(words) <= MOST_WORDS else words[:MOST_WORDS].rpartition(" ")[0] + " …"


def _shapes(error: BaseException, frame: FrameType, summary: traceback.FrameSummary) -> str:
    """What did not go together: ", where U is (4, 5) and x is (3, 4)", or ", where lengths is None"."""
    if summary.lineno != summary.end_lineno or summary.colno is None:
        return ""
    try:
        # The line stands in the summary without what indents it, and its columns count bytes.
        line = linecache.getline(summary.filename, summary.lineno or 0).encode()
        part: ast.AST = ast.parse(line[summary.colno : summary.end_colno].decode().strip(), mode="eval").body
        if isinstance(part, ast.Call) and (advice := _for_arrays(error, part)):
            return advice
        names = [node.id for node in ast.walk(part) if isinstance(node, ast.Name)] if "None" in str(error) else []
        if nothing := [name for name in dict.fromkeys(names) if frame.f_locals.get(name, name) is None]:
            return f", where {' and '.join(nothing)} {'are' if nothing[1:] else 'is'} None"
        if not isinstance(part, ast.BinOp) and not isinstance(error, OF_SHAPES):
            return ""
        if isinstance(part, ast.Subscript):  # what is stored there stands on the other side
            part = ast.parse(line.decode().strip()).body[0]
        shapes = {ast.unparse(term): shape for term in _terms(part) if (shape := _shape(term, frame))}
        known = [f"{name} is {shape}" for name, shape in list(shapes.items())[:MOST_SHAPES]]
        words = f", where {', '.join(known[:-1])}{' and ' if known[1:] else ''}{known[-1]}" if known else ""
        return words + (_fitting(part, shapes) if isinstance(part, ast.BinOp) else "")
    except Exception:  # whatever a candidate's names and lines may be
        return ""


def _terms(part: ast.AST) -> Iterator[ast.expr]:
    """The terms in a piece of code that may be arrays under a plain name, from left to right."""
    if isinstance(part, (ast.Name, ast.Attribute)):
        yield part
        return
    for inner in ast.iter_child_nodes(part):
        yield from _terms(inner)


def _for_arrays(error: BaseException, called: ast.Call) -> str:
    """What to take for a function of `math` that was given an array."""
    name = called.func.attr if isinstance(called.func, ast.Attribute) else ""
    if not isinstance(error, TypeError) or ast.unparse(called.func) != f"math.{name}" or not hasattr(np, name):
        return ""
    return f"; math.{name} takes one number, np.{name} whole arrays"


def _fitting(product: ast.BinOp, shapes: dict[str, tuple[int, ...]]) -> str:
    """How the two matrices of a product would fit, if they do not."""
    a, b = ast.unparse(product.left), ast.unparse(product.right)
    left, right = shapes.get(a), shapes.get(b)
    if not (isinstance(product.op, ast.MatMult) and left and right and len(right) == 2) or left[-1] == right[0]:
        return ""
    if len(left) == 2 and right[1] == left[0]:
        return f"; the other way round, {b} @ {a}, they fit"
    if left[-1] == right[1]:
        return f"; {a} @ {b.removesuffix('.T') if b.endswith('.T') else b + '.T'} fits"
    return ""


def _shape(term: ast.expr, frame: FrameType) -> tuple[int, ...] | None:
    """The shape of an array under a plain name, `W`, `W.T` or `self.W`. Nothing is called to find it."""
    if isinstance(term, ast.Name):
        value: Any = frame.f_locals.get(term.id, frame.f_globals.get(term.id))
    elif isinstance(term, ast.Attribute) and isinstance(term.value, ast.Name):
        if term.attr == "T":
            shape = _shape(term.value, frame)
            return shape and shape[::-1]
        try:
            held = object.__getattribute__(frame.f_locals.get(term.value.id), "__dict__")
        except AttributeError:  # of a module, or of what has no attributes of its own
            return None
        value = held.get(term.attr, held.get("_parameters", {}).get(term.attr))
    else:
        return None
    is_array = type(value) is np.ndarray or type(value).__name__ in ("Tensor", "Parameter")
    return tuple(int(n) for n in value.shape) if is_array else None
