"""One submission through the desk: what each answer earns, what the student is told, what the notebook shows."""

import json
import os
import re
import textwrap
import warnings
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import nbformat
import psutil
import pytest

from rnncourse import exercises
from rnncourse.checks.cases import drawn, seed_for
from rnncourse.checks.exercise import Exercise
from rnngrade.core.record import DIED, JUDGED, MISSING, REFUSED, TIMED_OUT, Finding, Record, read_json
from rnngrade.demo.sample import BLANK, Submission
from rnngrade.grading.budget import OutOfTime
from rnngrade.grading.bundle import Bundle, Settings
from rnngrade.grading.grade import grade, open_station
from rnngrade.grading.worker import Graders, Worker
from rnngrade.sandbox.limits import MB, Limits
from rnngrade.sandbox.session import Garbled
from tests.grading.covering import covering_class
from tests.grading.solved import names, solved, turns
from tests.sampling import some
from tests.waiting import PATIENCE, has_ended, until

UNIT = "03_cell"
UNITS = list(exercises.STEMS)
SEED = "7"
LIMITS = Limits(memory=1024 * MB, cell_seconds=PATIENCE, call_seconds=PATIENCE)
SHORT = Limits(memory=1024 * MB, cell_seconds=4.0, call_seconds=0.5)  # all calls of an answer have those of a cell


@pytest.fixture(scope="module")
def station(bundle):
    with open_station(bundle, LIMITS) as made:
        yield made


@pytest.fixture
def graded_here(bundle, station):
    """Grades a submission in this process, where a test may change the desk."""
    return partial(grade, bundle=bundle, student="ada", seed=SEED, limits=LIMITS, station=station)


@pytest.fixture(scope="module")
def worker(root):
    """Makes a worker for a unit; all are forked from one process, which has one unit at a time and goes on to the next
    as soon as it is asked for.
    """
    with Graders() as graders:
        yield lambda unit, limits: Worker(Settings(Bundle.make(root, unit), limits, SEED), graders)


@pytest.fixture(scope="module")
def desk(worker):
    """Grades a submission of a unit, in a process of its own as a run does; one process at a time is kept."""
    kept = {}

    def graded(unit, submission, limits=LIMITS):
        if (unit, limits) not in kept:
            for one in kept.values():
                one.close()
            kept.clear()
            kept[unit, limits] = worker(unit, limits)
        return kept[unit, limits].grade("ada", submission)

    yield graded
    for one in kept.values():
        one.close()


def points(record):
    return {e.name: e.points for e in record.exercises}


@pytest.mark.parametrize("unit", sorted({UNIT, *some(UNITS, 0)}))  # each takes a minute
def test_mistakes_are_diagnosed_and_worth_what_they_are_and_other_right_answers_all(
    unit, desk, root, tmp_path, monkeypatch
):
    monkeypatch.setenv("RNNCOURSE_SEED", SEED)
    right, *others = covering_class(unit)
    blank = Submission("blank", unit, "all blank", dict.fromkeys(right.answers, BLANK))
    for one in [right, blank, *some(others, 1)]:
        graded = desk(unit, one.write(root, tmp_path).read_bytes())
        assert points(graded.record) == pytest.approx(one.expected()), one.student
        for name, answer in one.answers.items():
            result = graded.record.exercise(name)
            assert result.status == JUDGED
            if not isinstance(answer, str):
                assert result.diagnosis == answer.name, result.message

    for answers in some(turns(root, unit), 1):
        record = desk(unit, solved(root, unit, **answers)).record
        assert [f"{e.name}: {e.message}" for e in record.exercises if not e.passed] == []
        assert record.points == exercises.unit(unit).points


# By exercise, each of them wrong in its own way.
WRONG = {
    "hidden_layer": (None, JUDGED, "is not written yet"),
    "rnn_step": (
        "def another(x):\n    return x",
        MISSING,
        "There is no `rnn_step` in the notebook. Its cell defines `another`: call that `rnn_step`.",
    ),
    "rnn_step_concat": (
        "missing + 1\ndef rnn_step_concat(x):\n    return x",
        MISSING,
        "There is no `rnn_step_concat`: its cell raised NameError: name 'missing' is not defined.",
    ),
    "rnn_forward": ("def rnn_forward(x:\n    return x", MISSING, "its cell raised SyntaxError"),
    "output_layer": ("output_layer = 3", JUDGED, "output_layer should be something to call; yours is of the type int."),
    "softmax": ("exit()", MISSING, "its cell raised SystemExit: exit() ends Python: take it out."),
    "rnn_predict": ("def rnn_predict(*all):\n    return missing", JUDGED, "rnn_predict raised NameError"),
    "rnn_parameter_count": ("def rnn_parameter_count(*all):\n    return print", JUDGED, "which is no plain value"),
    "to_torch_state": (
        "def to_torch_state(h):\n    from rnncourse.cell import to_torch_state as it\n    return it(h)",
        REFUSED,
        "to_torch_state may not call `rnncourse.cell",
    ),
}
STOPS = {
    "an endless answer": ("def softmax(x):\n    while True: pass", TIMED_OUT, "softmax did not come"),
    "an answer that ends Python": ("import os\ndef softmax(x):\n    os._exit(0)", DIED, "softmax ended Python itself"),
    "a cell that ends Python": ("import os\nos._exit(0)", DIED, "The cell of softmax ended Python itself"),
}


@pytest.mark.parametrize(
    "wrong", [WRONG, *({"softmax": end} for end in STOPS.values())], ids=["each in its own way", *STOPS]
)
def test_answers_go_wrong_and_all_others_are_right(wrong, desk, root):
    sources = {name: source for name, (source, *_) in wrong.items()}
    record = desk(UNIT, solved(root, UNIT, **sources), SHORT).record
    assert [e.name for e in record.exercises if not e.passed] == [*wrong]
    assert {e.name for e in record.exercises} == set(names(UNIT))
    for name, (_, status, words) in wrong.items():
        result = record.exercise(name)
        assert result.status == status, name
        assert words in result.message
        assert result.points < result.max_points
        assert result.points == 0 or status in (JUDGED, TIMED_OUT)
        assert result.hint == exercises.find(name).hints[0]


def test_after_two_endless_cells_the_next_has_a_tenth_of_the_time_and_the_others_are_graded(desk, root):
    endless = [e.name for e in exercises.unit(UNIT) if isinstance(e, Exercise)][:3]
    cells = dict.fromkeys(endless, "import time\ntime.sleep(1e6)")
    record = desk(UNIT, solved(root, UNIT, **cells), SHORT).record
    assert [e.name for e in record.exercises if not e.passed] == endless
    assert {record.exercise(name).status for name in endless} == {TIMED_OUT}
    *first, last = (record.exercise(name).message for name in endless)
    assert [words.partition(" did ")[2] for words in first] == [
        "not come to an end in time. Is there a loop that never ends?"
    ] * 2
    assert last.endswith("in 0.4 seconds, which was all that it had after 2 cells that did not come to an end.")


def test_questions_are_worth_their_value(desk, root):
    questions = [exercises.find(f"quiz_{name}") for name in ("rnn_facts", "output_size", "shapes")]
    facts, size, shapes = (question.answer for question in questions)
    for given, passed in (
        ((f"{facts!r}", "print", "set()"), (True, False, False)),
        ((f"{sorted(facts)!r}", "...", f"{shapes!r}"), (True, False, True)),
        (("set()", f"{size!r}", None), (False, True, False)),
    ):
        answers = {q.name: f"{q.name} = {value}" if value else "other = 1" for q, value in zip(questions, given)}
        record = desk(UNIT, solved(root, UNIT, **answers)).record
        for question, is_right in zip(questions, passed):
            result = record.exercise(question.name)
            assert (result.points, result.passed) == (question.points * is_right, is_right), question.name
            assert result.message
    assert result.status == MISSING


def test_the_notebook_shows_cards_on_checks_and_no_hidden_test(desk, root):
    submission = solved(root, UNIT, softmax="def softmax(x):\n    print('here')\n    return x\nprint('cell')")
    graded = desk(UNIT, submission)
    notebook = nbformat.reads(graded.notebook.decode(), as_version=4)
    nbformat.validate(notebook)
    cells = {c.metadata.nbgrader.grade_id: c for c in notebook.cells if "nbgrader" in c.metadata}
    for result in graded.record.exercises:
        (output,) = cells[f"check_{result.name}"].outputs
        assert output.data["text/html"] == result.card
        assert float(output.data["text/plain"]) == result.points
    assert [o.text for o in cells["softmax"].outputs] == ["cell\n"]
    text = graded.notebook.decode()
    assert "hidden=True" not in text
    assert "HIDDEN" not in text
    release = (root / "notebooks" / UNIT / f"{UNIT}.ipynb").read_text(encoding="utf-8")
    given = nbformat.reads(release, as_version=4)
    assert [c.id for c in notebook.cells] == [c.id for c in given.cells]


def test_of_what_a_student_shows_text_and_pictures_stay_and_nothing_that_runs(desk, root):
    helper = """
from IPython.display import HTML, Javascript, SVG, display
import matplotlib.pyplot as plt
display(HTML("<script>steal()</script>"), Javascript("steal()"))
plt.plot([1, 2])
plt.show()
print("\\x1b[31mred\\x1b[0m")
class Sly:
    def _repr_html_(self): return "<script>steal()</script>"
    def _repr_markdown_(self): return "<script>steal()</script>"
    def __repr__(self): return "sly"
Sly()
"""
    graded = desk(UNIT, solved(root, UNIT, helper))
    notebook = nbformat.reads(graded.notebook.decode(), as_version=4)
    (cell,) = [c for c in notebook.cells if c.metadata.get("rnngrade", {}).get("role") == "helper"]
    kinds = {kind for o in cell.outputs if "data" in o for kind in o.data}
    assert kinds == {"text/plain", "image/png"}
    assert all("steal" not in json.dumps(o) for o in cell.outputs)
    assert "sly" in [o.data.get("text/plain") for o in cell.outputs if "data" in o]
    assert graded.record.points == exercises.unit(UNIT).points


def test_a_submission_has_the_same_record_and_notebook_however_it_is_graded_or_kept(desk, graded_here, root, tmp_path):
    submission = covering_class(UNIT)[3].write(root, tmp_path).read_bytes()
    first, second = desk(UNIT, submission), desk(UNIT, submission)
    third = graded_here(submission)
    assert first.record.content() == second.record.content() == third.record.content()
    assert first.notebook == second.notebook == third.notebook
    assert read_json(first.record.to_json(), Record) == first.record
    assert asdict(read_json(first.record.to_json(), Record)) == asdict(first.record)
    assert first.record.measured["seconds"] > 0
    assert "measured" not in first.record.content()


def test_another_seed_gives_other_cases_and_is_gone_afterwards(graded_here, root, monkeypatch):
    monkeypatch.delenv("RNNCOURSE_SEED", raising=False)
    wrong = solved(root, UNIT, softmax="def softmax(x):\n    return x")
    known = exercises.find("softmax").memory
    hidden = set()
    for seed in ("one seed", "another"):
        known.clear()
        graded_here(wrong, seed=seed)
        hidden |= {key for key in known if len(key) == 1}  # whose cases were drawn, the visible ones aside
    assert len(hidden) == 2
    assert "RNNCOURSE_SEED" not in os.environ


def test_one_submission_leaves_the_next_one_the_notebook_that_students_got(graded_here, bundle, root):
    """It is parsed once for all of a class."""
    odd = [solved(root, UNIT, "own = 1\nprint(own)", softmax="def softmax(x):\n    return x"), b"{}", b"no notebook"]
    for submission in odd:
        graded_here(submission)
        assert bundle.notebook() == nbformat.reads(bundle.release.decode(), as_version=4)


def test_whichever_process_ends_that_takes_part_the_next_submission_is_graded(worker, root):
    right = solved(root, UNIT)
    with worker(UNIT, LIMITS) as worker:
        assert worker.grade("ada", right).record.points == exercises.unit(UNIT).points
        for which in ("grades", "forks", "warm and grades"):
            grades = psutil.Process(worker.pid)
            forks = grades.parent()
            (warm,) = [one for one in forks.children() if "warm.py" in " ".join(one.cmdline())]
            ended = [one for name, one in (("grades", grades), ("forks", forks), ("warm", warm)) if name in which]
            for one in ended:
                one.kill()
            for one in ended:
                until(partial(has_ended, one), lambda which=which: which)
            assert worker.grade("ada", right).record.points == exercises.unit(UNIT).points, which


KEEPS = """
def rnn_step(x, h_prev, U, W, b):
    kept.append(repr(x))
    open("/tmp/kept", "a").write(repr(x))
    return np.tanh(x @ U + h_prev @ W + b)
"""
SAYS = """
def softmax(O):
    raise type("".join(c if c.isalnum() else "_" for c in "".join(kept)), (ValueError,), {})(open("/tmp/kept").read())
"""


def test_nothing_of_a_hidden_case_is_in_what_a_student_is_told_or_shown(graded_here, root):
    helper = 'import numpy as np\nkept = [""]\nopen("/tmp/kept", "w").close()'
    later = {"rnn_forward": 'print(open("/tmp/kept").read(), kept)\ndef rnn_forward(X, h0, U, W, b):\n    return 1 / 0'}
    graded = graded_here(solved(root, UNIT, helper, rnn_step=KEEPS, softmax=SAYS, **later))
    said = graded.record.to_json() + graded.notebook.decode()
    assert graded.record.exercise("rnn_step").passed
    exercise = exercises.find("rnn_step")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RNNCOURSE_SEED", SEED)
        hidden = drawn(exercise, seed_for(exercise, hidden=True))[0]
    digits = {re.sub(r"\W", "_", repr(float(n))[2:8]) for one in hidden for n in one.args[0].flat}
    assert [number for number in digits if len(number) > 4 and number in said] == []


ENDS = """
def rnn_step(x, h_prev, U, W, b):
    import os, signal
    np.tanh = lambda a: a
    {}
    return x
"""


@pytest.mark.parametrize(
    "end",
    [
        "pass",
        "os._exit(0)",
        "os.kill(-1, signal.SIGKILL)",
        "os.kill(os.getppid(), signal.SIGKILL)",
        "os.getppid() and os.kill(os.getppid(), signal.SIGSTOP)",
    ],
)
def test_an_answer_takes_no_other_ones_marks(graded_here, end, root):
    record = graded_here(solved(root, UNIT, rnn_step=ENDS.format(end))).record
    assert [e.name for e in record.exercises if not e.passed] == ["rnn_step"]


def test_what_ends_the_process_that_judges_costs_its_place_or_is_left_to_a_person(bundle, root, monkeypatch, tmp_path):
    """A program that grading processes run as they start stands in for what nobody has foreseen."""
    program = """
        import os, sys
        if "rnngrade.grading.forks" in " ".join(sys.orig_argv):
            import rnngrade.grading.grade as desk
            told, run = desk.tell, desk._Grading.run
            def tell(session, exercise, *more, **settings):
                if exercise.name == "softmax":
                    os.kill(os.getpid(), 9)
                if exercise.name == "rnn_forward":
                    sum(range(10**15))
                return told(session, exercise, *more, **settings)
            desk.tell = tell
            desk._Grading.run = lambda grading: os.abort() if grading.student == "eve" else run(grading)
        """
    (tmp_path / "sitecustomize.py").write_text(textwrap.dedent(program))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    with Worker(Settings(bundle, replace(LIMITS, judge_seconds=1.0), SEED)) as worker:
        record = worker.grade("ada", solved(root, UNIT)).record
        lost = worker.grade("eve", solved(root, UNIT)).record
    assert [e.name for e in record.exercises if not e.passed] == ["rnn_forward", "softmax"]
    assert [f.code for f in record.flags] == ["not-judged"] * 2
    assert [name in f.message for f, name in zip(record.flags, ("rnn_forward", "softmax"))] == [True] * 2
    assert lost.points == 0
    assert {e.status for e in lost.exercises} == {DIED}
    assert [f.code for f in lost.flags] == ["not-judged"]


def peak(worker, submission):
    """The record, and the bytes and seconds of CPU that the judge took for it beyond what it had."""
    process = Path(f"/proc/{worker.pid}")

    def memory():
        return 1024 * int(re.search(r"VmHWM:\s+(\d+)", (process / "status").read_text())[1])

    def seconds():
        own = (process / "stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, own)) / os.sysconf("SC_CLK_TCK")

    (process / "clear_refs").write_text("5")  # the peak begins anew
    before = memory(), seconds()
    record = worker.grade("ada", submission).record
    return record, memory() - before[0], seconds() - before[1]


WORST = {
    "lists": "[[] for _ in range(990_000)]",
    "wide text": "chr(0x1F600) * 1_300_000",
    "small arrays": "[np.zeros(0)] * 30_000",
    "a large array": "np.zeros(7_900_000)",
    "truth values": "[np.zeros(30_000_000, bool), 1.5]",
}


def test_the_worst_replies_take_the_judge_no_more_than_it_may(worker, root):
    with worker(UNIT, LIMITS) as worker:
        worker.grade("ada", solved(root, UNIT))
        for what, value in some(WORST.items(), 1):
            answer = f"def softmax(x):\n    return {value}"
            record, memory, seconds = peak(worker, solved(root, UNIT, softmax=answer))
            assert [e.name for e in record.exercises if not e.passed] == ["softmax"], what
            assert memory < LIMITS.judge_memory, what
            assert seconds < LIMITS.judge_seconds, what


def test_what_takes_more_memory_than_the_judge_has_costs_its_exercise(worker, root):
    answer = "def softmax(x):\n    return np.zeros(7_900_000)"
    with worker(UNIT, replace(LIMITS, judge_memory=100 * MB)) as worker:
        record = worker.grade("ada", solved(root, UNIT, softmax=answer)).record
    assert [e.name for e in record.exercises if not e.passed] == ["softmax"]


UNFORESEEN = dict(
    zip(("rnn_step", "rnn_forward", "softmax", "Network"), (IndexError, MemoryError, RecursionError, OutOfTime))
)


def test_what_nobody_has_foreseen_costs_its_place_and_a_person_is_told(graded_here, root, monkeypatch):
    from rnngrade.grading import grade as desk

    judge, take_in = desk.tell, desk.take_in

    def fails(session, exercise, *more, **settings):
        if exercise.name in UNFORESEEN:
            raise UNFORESEEN[exercise.name]
        return judge(session, exercise, *more, **settings)

    with monkeypatch.context() as patch:
        patch.setattr(desk, "tell", fails)
        record = graded_here(solved(root, UNIT)).record
    assert [e.name for e in record.exercises if not e.passed] == [*UNFORESEEN]
    assert [f.code for f in record.flags] == ["not-judged"] * len(UNFORESEEN)
    assert all(f"check_{name}" in f.message for name, f in zip(UNFORESEEN, record.flags))

    def refuses(kind):
        def refuse(*_):
            raise kind

        return refuse

    with monkeypatch.context() as patch:
        patch.setattr(desk, "inspect_unit", refuses(MemoryError))
        patch.setattr(desk, "digest", refuses(RecursionError))
        record = graded_here(solved(root, UNIT)).record
    assert record.points == exercises.unit(UNIT).points
    assert {f.code for f in record.flags} == {"not-judged"}

    monkeypatch.setattr(desk, "take_in", lambda data, release: refuses(OutOfTime)() if data else take_in(data, release))
    record = graded_here(solved(root, UNIT)).record
    assert record.points == 0
    assert "not-judged" in {f.code for f in record.flags}


def test_a_fault_holds_on_to_nothing_that_was_read(root):
    """A cell that is left out is remembered; the reply at which it was is not."""
    from rnngrade.grading.rooms import Cell

    def garbled():
        reply = bytearray(10**6)
        try:
            raise ValueError(reply)
        except ValueError:
            raise Garbled("no message") from None

    one = Cell(0, "")
    try:
        garbled()
    except Garbled as fault:
        one.leave_out(fault)
    assert type(one.fault) is Garbled
    assert (one.fault.__traceback__, one.fault.__context__, one.fault.__cause__) == (None, None, None)


def test_of_many_findings_those_for_a_person_stay():
    from rnngrade.grading.grade import MOST_FINDINGS, MOST_WORDS, _bounded

    many = [Finding("a", "x" * 99_999), *[Finding("b", "y")] * 5000, Finding("c", "z", for_person=True)]
    kept = _bounded(many)
    assert len(kept) == MOST_FINDINGS
    assert kept[-1].code == "c"
    assert max(len(finding.message) for finding in kept) <= MOST_WORDS


def test_grading_prints_and_warns_nothing(graded_here, root, capfd):
    noisy = solved(root, UNIT, "import warnings, sys\nwarnings.warn('x')\nprint(1, file=sys.stderr)")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graded_here(noisy)
    assert capfd.readouterr() == ("", "")
