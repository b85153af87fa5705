"""What is said of the place of an error: that it is so, that it points there, and that it costs nobody anything."""

import inspect
import linecache
import random
from itertools import islice

import numpy as np
import pytest

from mutants import places
from mutants.running import Judge, written
from rnncourse import exercises, hint, where
from rnncourse.checks.cases import seed_for
from rnncourse.checks.engine import judge
from rnncourse.checks.exercise import Exercise
from rnncourse.checks.local import Local
from rnncourse.checks.where import search
from rnncourse.checks.where.inquiry import Budget, Draws, Inquiry
from rnncourse.checks.where.program import program_in
from rnncourse.checks.where.telling import is_so
from rnncourse.seat import notebook
from tests.sampling import ALL

NO_HURRY = Budget(4.0, 5.0, 3.0, 12.0)  # a busy machine finds what a quiet one does
NAMES = [e.name for stem in exercises.STEMS for e in written(stem)]


def asked(exercise, text, space=None):
    """What is found out about an answer that is given as text."""
    found = exercises.find(exercise)
    space = {"np": np, **(space or {})}
    file = f"<test {abs(hash(text))}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    exec(compile(text, file, "exec"), space)
    with Local(space[exercise], found.uses) as local:
        return judge(found, local, budget=NO_HURRY)


STEP = """def rnn_step(x, h_prev, U, W, b):
    from_input = x @ U
    from_state = h_prev @ W
    a = {}
    return np.{}(a)
"""


def test_one_small_change_that_mends_marks_its_line():
    verdict = asked("rnn_step", STEP.format("from_input + 3 * from_state + b", "tanh"))
    assert verdict.diagnosis is None
    assert verdict.where.lines == (4,)
    assert "3 * from_state" in verdict.where.part
    assert {one.kind for one in verdict.where.evidence} >= {"value"}


def test_a_value_that_mends_marks_its_line_where_no_small_change_does():
    text = STEP.format("from_input + from_state - np.cos(b) * from_state.mean(0) / 7", "tanh")
    found = asked("rnn_step", text).where
    assert found.lines == (4,)
    assert "value" in {one.kind for one in found.evidence}
    assert "Line 4" in found.message


def test_two_mistakes_in_two_lines_are_both_marked():
    found = asked("rnn_step", STEP.format("from_input + from_state - b * from_input", "sin")).where
    assert set(found.lines) & {4, 5}


def test_who_writes_to_an_argument_sees_the_line():
    text = (
        "def rnn_step(x, h_prev, U, W, b):\n    a = h_prev @ W + b\n    U *= 4.0\n    return np.tanh(x @ U / 4.0 + a)\n"
    )
    found = asked("rnn_step", text).where
    assert found.lines == (3,)
    assert found.message == "Line 3 writes to an argument."


def test_who_raises_sees_the_line():
    text = STEP.format("from_input + from_state.reshape(7, 11, 13) + b", "tanh")
    found = asked("rnn_step", text).where
    assert 4 in found.lines
    assert "raises" in {one.kind for one in found.evidence}


def test_nothing_is_said_of_a_right_answer_nor_after_a_diagnosis():
    right = STEP.format("from_input + from_state + b", "tanh")
    assert asked("rnn_step", right).where is None
    verdict = asked("rnn_step", right.replace("@ W", "@ W.T"))
    assert verdict.diagnosis
    assert verdict.where is None


@pytest.mark.parametrize("beyond", ["open('x')", "exec('1')", "__import__('os')", "eval('1')"])
def test_what_reaches_beyond_the_program_is_not_run_again(beyond, monkeypatch):
    monkeypatch.setattr(Inquiry, "run", lambda *_: pytest.fail("it was run"))
    text = STEP.format("from_input - from_state + b", "tanh").replace("    a =", f"    if 0: {beyond}\n    a =")
    found = asked("rnn_step", text).where
    assert not found.lines  # how the answers are related is said all the same


@pytest.mark.parametrize("error", [KeyboardInterrupt, RecursionError, MemoryError])
def test_an_interrupt_ends_the_search_and_the_verdict_comes(error, monkeypatch):
    def stop(*_):
        raise error

    monkeypatch.setattr(Inquiry, "run", stop)
    verdict = asked("rnn_step", STEP.format("from_input - from_state + b", "tanh"))
    assert not verdict.passed
    assert verdict.where is None
    assert verdict.criteria["runs"]


def test_nothing_is_learnt_from_hidden_cases(monkeypatch):
    """An answer that is right in the visible cases alone has no place, and the search sees no other case than these."""
    exercise = exercises.find("rnn_step")
    monkeypatch.setenv("RNNCOURSE_SEED", "a secret")
    visible = [case.args[0] for case in exercise.draw(np.random.default_rng(seed_for(exercise, False)))]

    def rnn_step(x, h_prev, U, W, b):
        seen = any(np.array_equal(x, one) for one in visible)
        return np.tanh(x @ U + h_prev @ W + b) * (1 if seen else 2)

    with Local(rnn_step, exercise.uses) as local:
        verdict = judge(exercise, local, hidden=True, budget=NO_HURRY)
    assert not verdict.passed
    assert verdict.where is None


def test_the_hints_start_with_the_place(monkeypatch):
    monkeypatch.setattr(notebook, "_hints_given", {})
    monkeypatch.setattr(notebook, "_last", {})

    def rnn_step(x, h_prev, U, W, b):
        a = x @ U - h_prev @ W
        return np.tanh(a + b)

    own = where(rnn_step).where
    assert own.lines == (2,)
    told = [hint("rnn_step") for _ in range(len(own.hints) + 4)]
    assert [one.text for one in told][: len(own.hints)] == list(own.hints)
    assert [one.text for one in told][len(own.hints) : -1] == list(exercises.find("rnn_step").hints)
    assert told[-1].text == told[-2].text


def test_where_searches_after_a_diagnosis_too():
    def rnn_step(x, h_prev, U, W, b):
        a = x @ U + h_prev @ W.T
        return np.tanh(a + b)

    verdict = where(rnn_step)
    assert verdict.diagnosis
    assert verdict.where.lines == (2,)


@pytest.mark.parametrize("answer", [7, np.tanh, lambda x: x, "rnn_step"])
def test_where_takes_whatever_it_is_given(answer):
    assert not where(answer).passed


def test_the_change_that_mends_is_shown_nowhere():
    verdict = asked("rnn_step", STEP.format("from_input - from_state + b", "tanh"))
    shown = [verdict.card(), verdict.text(), repr(verdict.where), str(verdict.where.plain())]
    assert not any("from_input + from_state" in one for one in shown)
    assert all("from_input - from_state" in one for one in shown)


def test_a_class_is_served_too():
    exercise = exercises.find("Network")
    source = exercise.source.replace("+ self.c", "+ self.c * 2")
    found = asked("Network", source, exercise.namespace(exercise.source, "names")).where
    assert any("self.c * 2" in source.splitlines()[line - 1] for line in found.lines)


# --- generated: wrong answers whose place is known


def sampled(sort, seed):
    """Wrong answers of a sort, each to another exercise, and what became of it."""
    names = random.Random(seed).sample(NAMES, len(NAMES))
    return places.measured(names, sort, 1, seed, 1, NO_HURRY)


@pytest.mark.parametrize("sort", places.SORTS)
def test_what_is_said_is_so_on_ten_fresh_draws(sort):
    """For wrong answers drawn anew each time by `make fuzz`."""
    seed = random.randrange(10**6) if ALL else 1
    checked = 0
    for wrong, found in islice(sampled(sort, seed), 5):
        if found is None or found.where is None:
            continue
        for statement, case in broken(wrong, found, 10):
            pytest.fail(f"seed {seed}: {statement} does not hold in {case}:\n{wrong}")
        checked += 1
    assert checked or sort != "mutants", f"seed {seed}"


def broken(wrong, found, draws):
    """The statements of a place that do not hold in a fresh draw, each with the case."""
    one = Judge(wrong.exercise)
    exercise = one.exercise
    assert isinstance(exercise, Exercise)
    with places.at_work(one, wrong) as local:
        seed = seed_for(exercise, False)
        program = program_in(wrong.source, wrong.name)
        inquiry = Inquiry(exercise, local, program, Draws(exercise, local, seed), search.ask(exercise, local, seed))
        inquiry.take(60)
        for asked_ in inquiry.fresh(draws):
            for statement in found.where.evidence:
                if not is_so(inquiry, statement, asked_):
                    yield statement, asked_.case


def test_it_points_to_the_line_that_was_changed():
    """Of a sample that is always the same most, and hardly ever elsewhere, however busy the machine is. How many it is
    where nothing else runs, `make mutants` measures.
    """
    counted = list(islice(((w, p) for w, p in sampled("mutants", 5) if p and p.counts), 6))
    hits = sum(bool(set(p.lines) & set(w.lines)) for w, p in counted)
    misses = sum(bool(p.lines) and not set(p.lines) & set(w.lines) for w, p in counted)
    assert hits >= 0.5 * len(counted)
    assert misses <= 1


def test_the_default_budget_is_as_long_as_a_student_waits():
    budget = Budget()
    assert budget.together <= 3.0
    assert "budget=Budget()" in inspect.getsource(notebook._check_code)
