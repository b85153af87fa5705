"""The judge: it runs for an answer what the answer may call, within limits, and believes only what it can read."""

import copy
import math
import os
import textwrap
import time
import types
from contextlib import suppress
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnncourse import exercises
from rnncourse.checks.callables import Named
from rnncourse.checks.cases import drawn, ends, seed_for
from rnncourse.checks.drive import Observation, call
from rnncourse.checks.exercise import Exercise
from rnncourse.checks.local import Local
from rnncourse.checks.plain import NotPlain, arrays_in, identical, to_plain
from rnncourse.exercises.unfolding import logistic
from rnngrade.core.record import JUDGED, REFUSED
from rnngrade.grading import judge
from rnngrade.grading.bundle import Bundle
from rnngrade.grading.grade import open_station
from rnngrade.grading.judge import decide, judge_question, tell
from rnngrade.grading.remote import SPARE_MEMORY, Remote, _observation, _require_small, within
from rnngrade.grading.requests import _sealed, draw_of, given_to
from rnngrade.sandbox.bubblewrap import not_needed
from rnngrade.sandbox.inside.sealed import Sealed, seal
from rnngrade.sandbox.limits import Limits
from rnngrade.sandbox.session import Died, Garbled
from rnngrade.sandbox.shared_memory import SIZE, SharedMemory, lay_out
from tests.sampling import some

LIMITS = Limits(call_seconds=1.0, cell_seconds=20.0, reply=2**20)


@pytest.fixture(scope="module")
def stations(root):
    made = {}

    def station(unit):
        if unit not in made:
            made[unit] = open_station(Bundle.make(root, unit), LIMITS)
        return made[unit]

    yield station
    for one in made.values():
        one.close()


@pytest.fixture
def judged(stations):
    """The status and verdict of an answer, given as source."""

    def of(name, source):
        exercise = exercises.find(name)
        with stations(exercise.unit.stem).session() as session:
            source = "import numpy as np\n" + textwrap.dedent(source)
            assert session.ask("run", source, seconds=60.0)["error"] is None
            with session.fork() as fork:
                told = tell(fork, exercise) if hasattr(exercise, "reference") else judge_question(session, exercise)
                told = decide(told) if told.remote else told
            assert session.ask("run", "pass", seconds=60.0)["error"] is None
            return told.status, told.verdict

    return of


def test_the_line_is_found_in_an_answer_that_is_elsewhere(stations, monkeypatch):
    monkeypatch.setattr(judge.Budget, "together", 60.0)  # a busy machine finds what a quiet one does
    exercise = exercises.find("rnn_step")
    source = "def rnn_step(x, h_prev, U, W, b):\n    a = x @ U - h_prev @ W\n    return np.tanh(a + b)\n"
    with stations(exercise.unit.stem).session() as session:
        assert session.ask("run", f"import numpy as np\n{source}", seconds=60.0)["error"] is None
        found = judge.place(session, exercise, source, 60.0)
    assert found.lines == (2,)
    assert found.part == "x @ U - h_prev @ W"


UNFOLD = """
def unfold(f, s0, theta, steps):
    states = [s0]
    for _ in range(steps):
        {more}
        states.append(f(states[-1], theta))
    return np.stack(states)
"""


def test_a_function_that_a_case_hands_over_is_answered_and_counted(judged):
    status, verdict = judged("unfold", UNFOLD.format(more="pass"))
    assert (status, verdict.passed) == (JUDGED, True)
    status, verdict = judged("unfold", UNFOLD.format(more="f(states[-1], theta)"))
    assert (status, verdict.passed) == (JUDGED, False)
    assert "called the function that it was given" in verdict.message
    assert verdict.criteria["values"] is True
    assert verdict.criteria["purity"] is False


def test_an_error_of_the_judges_function_is_told_in_its_own_words(judged):
    status, verdict = judged("unfold", UNFOLD.format(more="f(theta, states[-1])"))
    assert status == JUDGED
    assert "unfold raised ValueError: matmul" in verdict.message
    assert "_error" not in verdict.message


def test_an_answer_may_catch_it(judged):
    more = "\n".join(["try:", "            f({}, None)", "        except Exception:", "            pass"])
    status, verdict = judged("unfold", UNFOLD.format(more=more))
    assert (status, verdict.passed) == (JUDGED, False)
    assert verdict.criteria["values"] is True


def test_an_earlier_exercise_that_is_used_is_the_reference(judged):
    wrong = """
        def rnn_step(x, h_prev, U, W, b):
            return x
        def rnn_forward(X, h0, U, W, b):
            H, h = [], h0
            for x in X:
                h = rnn_step(x, h, U, W, b)
                H.append(h)
            return np.stack(H)
        """
    assert judged("rnn_forward", wrong)[1].passed
    assert not judged("rnn_step", wrong)[1].passed


def test_a_students_lambda_is_called_by_the_judges_function(stations):
    exercise = exercises.find("find_broken")
    program = """
        import numpy as np
        calls = 0
        def f(x):
            global calls
            calls += 1
            return float((x ** 2).sum())
        def find_broken(backwards):
            gradient = numerical_gradient(lambda x: f(x), np.array([1.0, -3.0]))
            return gradient.round(6), calls
        """
    with stations(exercise.unit.stem).session() as session:
        session.ask("run", textwrap.dedent(program), seconds=60.0)
        remote = Remote(session, exercise, 60.0)
        assert remote.open() == {"state": "open"}
        gradient, calls = remote.observe(call, ({},)).answer
    assert np.array_equal(gradient, [2.0, -6.0])
    assert calls == 4


def test_an_error_in_the_lambda_comes_back_to_the_answer(stations):
    exercise = exercises.find("find_broken")
    program = """
        import numpy as np
        def find_broken(backwards):
            try:
                numerical_gradient(lambda x: 1 / 0, np.array([1.0]))
            except Exception as error:
                return str(error)
        """
    with stations(exercise.unit.stem).session() as session:
        session.ask("run", textwrap.dedent(program), seconds=60.0)
        remote = Remote(session, exercise, 60.0)
        remote.open()
        assert "division by zero" in remote.observe(call, ({},)).answer


def test_a_request_that_is_too_large_is_refused_and_costs_nothing_else(judged):
    status, verdict = judged("unfold", UNFOLD.format(more=f"f(np.zeros({LIMITS.reply // 8 + 1}), theta)"))
    assert status == JUDGED
    assert "this is too large" in verdict.message
    status, verdict = judged("unfold", UNFOLD.format(more="f(1 << 100, theta)"))
    assert "this is too large" in verdict.message


@pytest.mark.parametrize("value", [np.zeros(2), [1, 2, "x"], {"a": (1, {2})}, 2**63, -(2**63), True, None])
def test_what_is_small_is_let_through(value):
    _require_small(value, 16)


@pytest.mark.parametrize(
    "value", [np.zeros(3), [np.zeros(1)] * 3, {"a": (1 << 65,)}, {1 << 70}, {"a": [{"b": 1 << 65}]}]
)
def test_what_is_large_is_not(value):
    with pytest.raises(ValueError, match="too large"):
        _require_small(value, 16)


def test_there_is_no_function_under_another_number(stations):
    exercise = exercises.find("unfold")
    with stations(exercise.unit.stem).session() as session:
        remote = Remote(session, exercise, 60.0)
        for number in (-1, 0, 5):
            with pytest.raises(TypeError, match="no such function"):
                remote.call(number, (), {})


def test_the_judges_own_work_is_limited_in_time_and_memory():
    def spin():
        while True:
            pass

    with pytest.raises(RuntimeError, match=r"longer than 0\.2 seconds"), within(0.2):
        spin()
    with pytest.raises(MemoryError), within(60.0):
        np.ones(2 * SPARE_MEMORY // 8)
    with within(60.0):
        time.sleep(0.01)
    assert np.ones(2 * SPARE_MEMORY // 8).sum() > 0, "and no longer than that"


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("import os\ndef softmax(x):\n    os._exit(0)", Died),
        ("import os\ndef softmax(x):\n    os.write(3, b'full marks, please')", Garbled),
        ("import os, signal\ndef softmax(x):\n    os.kill(os.getpid(), signal.SIGSTOP)", Died),
    ],
)
def test_what_ends_a_session_is_a_fault(source, fault, judged, monkeypatch):
    monkeypatch.setattr("rnngrade.grading.remote.GRACE_SECONDS", 1.0)
    with pytest.raises(fault):
        judged("softmax", source)


def test_an_answer_cannot_carry_a_hidden_case_s_inputs_out_in_its_error(judged):
    exercise = exercises.find("unfold")
    shown, (secret,) = (
        [c.args[1] for c in drawn(exercise, seed_for(exercise, hidden))[0] if type(c.args[1]) is float]
        for hidden in (False, True)
    )
    shown += [e.case.args[1] for e in ends(exercise, seed_for(exercise, False)) if type(e.case.args[1]) is float]
    source = f"""
def tell(s0):
    if type(s0) is float and s0 not in {shown}:
        raise type(f"it_is_{{s0!r}}", (ValueError,), {{}})(f"it is {{s0!r}}")
"""
    status, verdict = judged("unfold", source + UNFOLD.format(more="tell(s0)"))
    assert status == JUDGED
    assert verdict.message == "Right on the cases that the notebook shows, but not on hidden ones: it runs."
    assert repr(secret)[:8] not in verdict.card()


SEEN = {
    "answer": 1,
    "error": None,
    "error_types": (),
    "timed_out": False,
    "refused": None,
    "changed": (),
    "shared": False,
    "calls": (),
    "wrote_meanwhile": False,
    "with_gradient": (),
}


def test_an_observation_is_read_as_it_is():
    assert _observation(dict(SEEN)) == Observation(1)
    assert _observation({**SEEN, "error": "x" * 9999, "error_types": ("E",)}).error == "x" * 500


NOT_SEEN = {  # by field, what no honest room says of it
    "error": [3],
    "error_types": [("E", 3)],
    "timed_out": [1],
    "refused": [b"x"],
    "shared": [None],
    "calls": [[1], None, (-1,), (10**40,)],
    "changed": [("0",), (True,), (-1,), (10**30,), tuple(range(50)) * 3],
    "with_gradient": [(-1,), (True,)],
}
NO_OBSERVATIONS = [{**SEEN, field: said} for field, all_said in NOT_SEEN.items() for said in all_said]


@pytest.mark.parametrize("value", [*NO_OBSERVATIONS, None, [], "passed", 1.0, {}, {"answer": 1}])
def test_what_is_no_observation_is_garbage(value):
    with pytest.raises(Garbled):
        _observation(value)


def test_a_function_stays_with_the_judge():
    value = logistic(shift=0.02), [1, {"f": logistic(shift=0.03)}]
    given = given_to(exercises.find("unfold"), value, functions := [])
    assert [given[0].name, given[1][1]["f"].name] == ["__remote__"] * 2
    assert [f.make()(0.5, 3.0) for f in functions] == [logistic(shift=s).make()(0.5, 3.0) for s in (0.02, 0.03)]


@pytest.mark.parametrize("stem", some(exercises.SYLLABUS, 4))
def test_a_function_answers_the_same_to_the_same_whatever_was_called_before(stem, monkeypatch):
    """The judge keeps what it has answered: that is right only if an answer follows from the call alone."""
    calls = []

    def spied(make):
        function = make()

        def spy(*args, **kwargs):
            asked = copy.deepcopy((args, kwargs))
            answer = function(*args, **kwargs)
            with suppress(NotPlain):  # tensors, functions that are lent, numbers that count
                calls.append((make, to_plain(asked[0]), to_plain(asked[1]), to_plain(answer)))
            return answer

        return spy

    def handed_over(named):
        return spied(partial(make, named)) if isinstance(make(named), types.FunctionType) else make(named)

    make = Named.make
    monkeypatch.setattr(Named, "make", handed_over)
    for exercise in [e for e in exercises.unit(stem) if isinstance(e, Exercise)]:
        uses = {name: spied(lambda used=used: used) for name, used in exercise.uses.items()}
        with Local(exercise.made_of(exercise.source, "<the model answer>"), uses) as local:
            for one in drawn(exercise, seed_for(exercise, hidden=True))[0]:
                local.observe(exercise.drive, one.args)
    assert calls or stem not in ("02_unfolding", "03_cell"), "whose answers call functions"
    for made_again, args, kwargs, answer in reversed(calls):
        assert identical(to_plain(made_again()(*copy.deepcopy(args), **copy.deepcopy(kwargs))), answer)


LIAR = """
import dataclasses
import rnncourse.checks.local as local
observe = local.observe
def clean(*args):
    return dataclasses.replace(observe(*args), changed=(), shared=False, wrote_meanwhile=False, calls=())
local.observe = clean
"""


WRITES = """
def rnn_step(x, h_prev, U, W, b):
    new = np.tanh(x @ U + h_prev @ W + b)
    h_prev += 1
    return new
"""
PUTS_BACK = """
def unfold(f, s0, theta, steps):
    states = [np.array(s0)]
    for _ in range(steps):
        if isinstance(s0, np.ndarray):
            s0 += 1
        states.append(f(states[-1], theta))
        if isinstance(s0, np.ndarray):
            s0[...] = states[0]
    return np.stack(states)
"""
VIEW = """
def clip_by_global_norm(gradients, max_norm):
    norm = float(np.sqrt(sum((g**2).sum() for g in gradients)))
    return [g * max_norm / norm if norm > max_norm else g for g in gradients], norm
"""


@pytest.mark.parametrize("room", ["", LIAR])
@pytest.mark.parametrize(
    ("name", "source", "words"),
    [
        ("rnn_step", WRITES, "rnn_step changed its argument h_prev"),
        ("unfold", UNFOLD.format(more="f(states[-1], theta)"), "called the function that it was given"),
        ("unfold", PUTS_BACK, "unfold writes to an argument while it works"),
        ("clip_by_global_norm", VIEW, "What clip_by_global_norm returns shares memory with an argument"),
    ],
)
def test_what_the_judge_sees_by_itself_costs_whatever_the_room_says(name, source, words, room, judged):
    status, verdict = judged(name, room + source)
    assert (status, verdict.passed) == (JUDGED, False)
    assert words in verdict.message


@pytest.mark.parametrize("room", ["", LIAR])
def test_what_leaves_its_arguments_alone_is_right_whatever_the_room_says(room, judged):
    assert judged("unfold", room + UNFOLD.format(more="pass"))[1].passed
    assert judged("rnn_step", room + "def rnn_step(x, h, U, W, b):\n    return np.tanh(x @ U + h @ W + b)")[1].passed


@pytest.mark.parametrize("at_once", [False, True])
def test_a_view_of_any_kind_is_seen_and_a_copy_is_not(at_once, stations):
    exercise = exercises.find("rnn_step")
    program = LIAR + "kept = [0]\nviews = [{}]\ndef rnn_step(x):\n    kept[0] += 1\n    return views[kept[0] - 1](x)"
    program += "\nbuffer = np.zeros((3, 4))\ndef written(x):\n    buffer[...] = x\n    return buffer"
    views = [
        ("x", True),
        ("x[::-1]", True),
        ("x.T", True),
        ("x[1:, ::2]", True),
        ("[1, {'a': x[0]}]", True),
        ("np.broadcast_to(x[0], (3, 4))", True),
        ("x.copy()", False),
        ("x + 0", False),
        ("np.zeros(0)", False),
        ("3.5", False),
        ("written(x)", False),
        ("written(x + 1)", False),
    ]
    source = "import numpy as np\n" + program.format(", ".join(f"lambda x: {text}" for text, _ in views))
    with stations(exercise.unit.stem).session() as session:
        assert session.ask("run", source, seconds=60.0)["error"] is None
        remote = Remote(session, exercise, 60.0)
        assert remote.open() == {"state": "open"}
        x = np.random.default_rng(0).normal(size=(3, 4))
        cases = tuple((call, (x.copy(),)) for _ in views)
        seen = remote._ask(cases) if at_once else [remote.observe(*case) for case in cases]
        assert [one.shared for one in seen] == [is_view for _, is_view in views]


def test_cases_are_asked_at_once_up_to_one_that_does_not_end(stations):
    exercise = exercises.find("rnn_step")
    source = "def rnn_step(x):\n    while x == 2:\n        pass\n    return x"
    with stations(exercise.unit.stem).session() as session:
        assert session.ask("run", source, seconds=60.0)["error"] is None
        remote = Remote(session, exercise, 60.0)
        assert remote.open() == {"state": "open"}
        seen = remote._ask(tuple((call, (x,)) for x in range(4)))
    assert [(one.answer, one.timed_out) for one in seen] == [(0, False), (1, False), (None, True)]


def test_a_right_answer_has_what_it_calls_already_and_a_wrong_one_asks(stations, monkeypatch):
    """The answers to the calls of the model answer come with the cases; they do not depend on who asks."""
    exercise = exercises.find("rnn_forward")
    calls = []
    known = Remote.known
    monkeypatch.setattr(Remote, "known", lambda self, call: (calls.append(call), known(self, call))[1])

    def told(change=""):
        source = exercise.source.replace("h = rnn_step(x, h, U, W, b)", f"h = rnn_step(x, h, U, W, b){change}")
        with stations(exercise.unit.stem).session() as session:
            assert session.ask("run", f"import numpy as np\n{source}", seconds=60.0)["error"] is None
            calls.clear()
            return tell(session, exercise), len(calls)

    right, asked = told()
    assert (right.verdict.passed, asked) == (True, 0)
    wrong, asked = told(" + 1")
    assert not wrong.verdict.passed
    assert asked > 10


def test_sealed_answers_tell_nothing_to_who_does_not_know_the_call():
    answers = {f"call {n}".encode(): bytes([n]) * 40 for n in range(20)}
    sent = seal(answers)
    received = Sealed(sent)
    assert {call: received.answer_to(call) for call in answers} == answers
    assert received.answer_to(b"another call") is None
    assert not any(answer[:8] in sent.tobytes() or call in sent.tobytes() for call, answer in answers.items())
    assert sent.tobytes() == seal(dict(reversed(answers.items()))).tobytes(), "their order tells something"
    assert Sealed(seal({})).answer_to(b"") is None


def test_no_answer_of_a_hidden_case_is_sent_with_the_visible_ones():
    exercise = exercises.find("rnn_forward")
    visible, hidden = (_sealed(exercise, draw_of(exercise, is_hidden)[0]) for is_hidden in (False, True))
    names = [{*Sealed(sent)._answers} for sent in (visible, hidden)]
    assert all(names)
    assert not names[0] & names[1]


def test_an_optimizer_loads_no_compiler_and_who_asks_for_it_gets_it(stations):
    train = """
        import sys
        import torch
        torch.optim.Adam(torch.nn.Linear(1, 1).parameters()).step()
        before = "torch._inductor" in sys.modules
        print(before, torch._dynamo.config.disable, type(sys.modules["torch._dynamo"]).__name__)
        """
    with stations("07_torch_rnn").session() as session:
        reply = session.ask("run", textwrap.dedent(train), seconds=60.0)
    assert [output["text"] for output in reply["outputs"]] == ["False False module\n"]


def test_the_arguments_of_every_case_fit_into_what_is_lent():
    memory = SharedMemory()
    try:
        for stem in exercises.SYLLABUS:
            for exercise in exercises.unit(stem):
                if hasattr(exercise, "reference"):
                    cases, _ = drawn(exercise, seed_for(exercise, hidden=False))
                    laid_out = lay_out(*(one.args for one in cases))
                    assert arrays_in(laid_out.cases) == [], exercise.name
                    memory.lend(laid_out)
                    assert not any(memory.changed(case) for case in range(len(cases)))
    finally:
        memory.close()


@given(st.data())
def test_a_change_of_any_entry_is_seen_in_the_argument_that_has_it(data):
    kinds = st.sampled_from([np.float64, np.float32, np.int64, np.bool_, np.uint8])
    shapes = st.lists(st.integers(0, 3), max_size=3).map(tuple)
    arrays = data.draw(st.lists(st.builds(np.ones, shapes, kinds), min_size=1, max_size=4))
    args = tuple([one, {"deep": (one,)}] if data.draw(st.booleans()) else one for one in arrays)
    memory = SharedMemory()
    try:
        laid_out = lay_out((*args, "text", 3), ("no table",), args)
        memory.lend(laid_out)
        assert [memory.changed(case) for case in range(3)] == [()] * 3
        flat = [
            (case, i, n)
            for case, values in enumerate(laid_out.cases)
            for i, v in enumerate(values)
            for n in _named_in(v)
        ]
        case, index, (settings, count) = data.draw(st.sampled_from(flat))
        if count:
            at = settings["start"] + data.draw(st.integers(0, count - 1))
            os.pwrite(memory.file, bytes([os.pread(memory.file, 1, at)[0] ^ 1]), at)
        assert [memory.changed(one) for one in range(3)] == [
            (index,) if one == case and count else () for one in range(3)
        ]
    finally:
        memory.close()


def _named_in(value):
    """For each array that was lent, its settings and its bytes."""
    if isinstance(value, (list, tuple)):
        return [one for v in value for one in _named_in(v)]
    if isinstance(value, dict):
        return [one for v in value.values() for one in _named_in(v)]
    if not isinstance(value, Named):
        return []
    return [(value.settings, math.prod(value.settings["shape"]) * np.dtype(value.settings["dtype"]).itemsize)]


def test_what_is_lent_cannot_be_made_larger_or_smaller_in_the_room():
    memory = SharedMemory()
    try:
        for size in (0, 2 * SIZE):
            with pytest.raises(OSError, match="not permitted"):
                os.ftruncate(memory.file, size)
    finally:
        memory.close()


def test_what_the_source_forbids_is_refused_whatever_the_room_says(stations):
    exercise = exercises.find("softmax")
    with stations(exercise.unit.stem).session() as session:
        session.ask("run", "def softmax(z): return z", seconds=60.0)
        told = tell(session, exercise, "scipy.special.softmax")
    assert (told.status, told.remote) == (REFUSED, None)
    assert told.verdict.message.startswith("softmax may not call `scipy.special.softmax`")


def test_a_room_has_no_package_that_computes_and_that_its_unit_does_without(stations):
    source = "import torch, scipy, sklearn\nhas = [hasattr(m, '__version__') for m in (torch, scipy, sklearn)]"
    with stations("03_cell").session() as session:
        assert session.ask("run", source, seconds=60.0)["error"] is None
        assert session.ask("value", "has", seconds=60.0)["value"] == [False] * 3
        assert session.ask("run", "import matplotlib.pyplot as plt, PIL.Image", seconds=60.0)["error"] is None
    kept = {"torch", "matplotlib", "numpy", "rnncourse"}
    assert not kept & {os.path.basename(folder) for folder in not_needed({"torch"})}


def test_a_module_is_imported_as_soon_as_it_is_written(stations):
    with stations("03_cell").session() as session:
        for i in range(5):
            written = session.ask("run", f"%%writefile mine_{i}.py\nx = {i}", seconds=60.0)
            assert written["error"] is None
            assert session.ask("run", f"from mine_{i} import x", seconds=60.0)["error"] is None
            assert session.ask("value", "x", seconds=60.0)["value"] == i
