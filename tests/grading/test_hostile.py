"""The hostile class: it is what it says, the intake takes in all of it, and each comes out as it must."""

import functools
import re
from collections import Counter
from textwrap import dedent

import nbformat
import numpy as np
import pytest

from rnncourse import check, exercises
from rnncourse.cell import rnn_step
from rnncourse.checks.exercise import Exercise
from rnngrade.demo.hostile import hostile_class
from rnngrade.grading import remote
from rnngrade.grading.bundle import Bundle
from rnngrade.grading.grade import grade, open_station
from rnngrade.reading.inspection import inspect
from rnngrade.reading.intake import take_in
from rnngrade.sandbox.limits import MB, Limits
from tests.grading.hostile import HOSTILE, KINDS
from tests.grading.hostile.making import FULL, NOTHING, TORCH, UNIT, Outcome, loses
from tests.grading.hostile.measuring import MEASURING
from tests.grading.solved import names, right_answers
from tests.sampling import ALL, some

BY_NAME = {one.name: one for one in HOSTILE}
# Codes of findings that the runner adds, beyond those of intake and inspection.
OF_THE_RUNNER = {"cell-stopped", "refused"}
UNITS = sorted({one.unit for one in HOSTILE})
# In `make test`, seconds after which an attack is ended. A right answer takes milliseconds for a call, of which none
# counts in which the machine is busy with others; all calls of an answer have those of a cell, by the clock.
SHORT = Limits(cell_seconds=8.0, call_seconds=1.0, memory=512 * MB)
PATIENT = Limits(cell_seconds=15.0, memory=512 * MB)  # for who loses nothing, however busy the machine is
BY_DAY = (UNIT, TORCH)  # a room with torch takes seconds to start: one is enough


def covering():
    """The first of each kind of attack with each outcome, and of each finding of the runner's, by name: what the intake
    and the inspection find, all are asked for without a room.
    """
    covered, chosen = set(), []
    for number, kind in enumerate(KINDS):
        for one in [one for one in kind if one.unit in BY_DAY]:
            lost, scraps, impure = (one.outcome.lost, one.outcome.scraps, one.outcome.impure)
            marks = {
                (number, lost is None, not lost, scraps, not impure),
                one.finding if one.finding in OF_THE_RUNNER else None,
            }
            if not marks <= covered:
                covered |= marks
                chosen.append(one.name)
    return chosen


def is_short(one):
    """What loses nothing waits for no limit, nor does what only measures wrongly."""
    return one.outcome != FULL and one not in MEASURING


@pytest.fixture(scope="module")
def release(root):
    """By unit, what students get."""
    return functools.cache(lambda unit: nbformat.read(root / "notebooks" / unit / f"{unit}.ipynb", as_version=4))


@pytest.fixture(scope="module")
def solutions(root):
    """By unit, the right answers to its exercises; none to what is asked in words."""

    @functools.cache
    def read(unit):
        answers = right_answers(root, unit)
        return {name: answers[name] for name in names(unit)}

    return read


@pytest.fixture(scope="module")
def taken(release, solutions):
    """By name, what the intake and the inspection make of a submission."""

    @functools.cache
    def of(name):
        one = BY_NAME[name]
        intake = take_in(one.make(release(one.unit), solutions(one.unit)), release(one.unit))
        own = f"rnncourse.{one.unit.partition('_')[2]}", "rnncourse.exercises"
        sources = {
            cell.id: cell.source
            for cell in intake.notebook.cells
            if cell.cell_type == "code"
            and (cell.metadata.get("rnngrade") or cell.metadata.get("nbgrader", {}).get("solution"))
        }
        forbids = {e.name: (*own, *getattr(e, "forbids", ())) for e in exercises.unit(one.unit)}
        locked = [
            c for c in release(one.unit).cells if c.cell_type == "code" and c.metadata.get("nbgrader", {}).get("locked")
        ]
        given = [c.source for c in locked if not c.metadata.nbgrader.grade]
        known = [e.source for e in exercises.unit(one.unit) if isinstance(e, Exercise)]
        return intake, [*intake.findings, *inspect(sources, forbids, {}, given, known).findings]

    return of


def test_there_are_at_least_forty_and_no_two_of_a_name():
    assert len(HOSTILE) >= 40
    assert [name for name, times in Counter(one.name for one in HOSTILE).items() if times > 1] == []
    assert all(re.fullmatch(r"[a-z0-9_]+", one.name) for one in HOSTILE)
    assert [one.what for one in HOSTILE if not one.what or one.what[0].isupper() or one.what.endswith(".")] == []


def test_every_outcome_names_exercises_of_its_unit_and_all_kinds_occur():
    for one in HOSTILE:
        assert (one.outcome.lost or set()) <= {*names(one.unit)}, one.name
        assert (one.outcome.lost or set()) < {*names(one.unit)}, f"{one.name}: all lost is NOTHING"
    kinds = Counter("nothing" if o.lost is None else "lost" if o.lost else "full" for o in (h.outcome for h in HOSTILE))
    assert min(kinds["nothing"], kinds["lost"], kinds["full"]) >= 10


def test_an_outcome_tells_what_does_not_fit():
    most = {"a": 2, "b": 3}
    assert not FULL.misfits({"a": 2, "b": 3}, most)
    assert not NOTHING.misfits({}, most)
    assert not loses("a").misfits({"a": 0, "b": 3}, most)
    assert not loses("a", scraps=True).misfits({"a": 0.4, "b": 3}, most)
    assert len(FULL.misfits({"a": 1.9, "b": 3}, most)) == 1
    assert len(NOTHING.misfits({"a": 0.1, "b": 3}, most)) == 2
    assert len(loses("a").misfits({"a": 0.4, "b": 3.5}, most)) == 2
    assert len(Outcome(None, scraps=True).misfits({"a": 0.5, "b": 0.5}, most)) == 1


@pytest.mark.parametrize("name", some(BY_NAME, 100))
def test_the_intake_takes_it_in_and_flags_and_finds_what_it_says(name, release, taken):
    one, (intake, findings) = BY_NAME[name], taken(name)
    nbformat.validate(intake.notebook)
    given = release(one.unit).cells
    # What students cannot change is as it was given out; a cell of another kind is one that the intake put in.
    kept = [cell for cell in intake.notebook.cells if "rnngrade" not in cell.metadata]
    assert [(c.id, c.metadata, c.cell_type) for c in kept] == [(c.id, c.metadata, c.cell_type) for c in given]
    locked = [(a.source, b.source) for a, b in zip(kept, given) if not b.metadata.get("nbgrader", {}).get("solution")]
    assert all(a == b for a, b in locked)
    for cell in intake.notebook.cells:
        if "rnngrade" in cell.metadata:
            assert (cell.cell_type, cell.metadata, cell.outputs) == ("code", {"rnngrade": {"role": "helper"}}, [])
    assert all(f.message.endswith((".", "?")) and f.message[0].isupper() for f in findings)
    assert [f.message for f in findings if f.for_person] == [] or one.flagged
    assert any(f.for_person for f in findings) or not one.flagged or one.finding in OF_THE_RUNNER
    if one.finding and one.finding not in OF_THE_RUNNER:
        assert one.finding in {f.code for f in findings}


def test_an_answer_that_is_right_gets_as_far_as_the_notebook(solutions, taken):
    for one in HOSTILE:
        if one.outcome == FULL and one.unit == UNIT:
            intake, _ = taken(one.name)
            assert all(intake.answers[name] is not None for name in solutions(UNIT)), one.name


FINDS_THE_REFERENCE = [
    "reference_imported",
    "reference_imported_inside",
    "reference_by_computed_name",
    "reference_in_sys_modules",
    "reference_in_the_catalogue",
    "reference_behind_check",
]


@pytest.mark.parametrize("name", FINDS_THE_REFERENCE)
def test_where_the_reference_can_be_had_the_attack_has_it(name, taken):
    intake, _ = taken(name)
    space = {"np": np, "check": check}
    exec(intake.answers["rnn_step"], space)
    rng = np.random.default_rng(0)
    args = [rng.normal(size=shape) for shape in ((3, 4), (3, 5), (4, 5), (5, 5), (5,))]
    assert np.array_equal(space["rnn_step"](*args), rnn_step(*args))


@pytest.fixture(scope="module")
def points(root, release, solutions):
    """By name, the record of a submission, graded in the sandbox; stations are started once for each unit."""
    bundles = {unit: Bundle.make(root, unit) for unit in UNITS}
    stations = {}

    def station_of(unit, limits):
        if (unit, limits) not in stations:
            stations[unit, limits] = open_station(bundles[unit], limits)
        return stations[unit, limits]

    def graded(submission, unit, student, limits):
        return grade(submission, bundles[unit], student, "a seed", limits, station=station_of(unit, limits)).record

    def of(name):
        one = BY_NAME[name]
        # A room with torch takes seconds to start, and a minute where the machine is busy with others.
        limits = Limits() if ALL or one.unit == TORCH else SHORT if is_short(one) else PATIENT
        return graded(one.make(release(one.unit), solutions(one.unit)), one.unit, one.name, limits)

    of.station, of.graded = station_of, graded

    with pytest.MonkeyPatch.context() as patch:
        if not ALL:
            patch.setattr(remote, "GRACE_SECONDS", 1.0)  # for who does not end by itself
        yield of
    for station in stations.values():
        station.close()


def test_torch_trains_and_numpy_solves_under_the_filter(points):
    program = """
        import multiprocessing, subprocess, threading
        import numpy as np
        import torch
        model = torch.nn.GRU(3, 4)
        rows = []
        thread = threading.Thread(target=lambda: rows.append(np.linalg.solve(np.eye(300), np.ones(300)).sum()))
        thread.start()
        thread.join()
        model(torch.ones(5, 2, 3))[0].sum().backward()
        torch.optim.Adam(model.parameters()).step()
        with multiprocessing.Lock():
            said = subprocess.run(["echo", "there"], capture_output=True, text=True).stdout.strip()
        answer = [rows[0], said, all(p.grad is not None for p in model.parameters())]
        """
    with points.station(TORCH, Limits()).session() as session:
        assert session.ask("run", dedent(program), seconds=60.0)["error"] is None
        assert session.ask("value", "answer", seconds=60.0)["value"] == [300.0, "there", True]


def test_what_a_hidden_case_was_is_not_in_the_record(points):
    result = points("hidden_case_in_an_error").exercise("rnn_step")
    assert result.message == "Right on the cases that the notebook shows, but not on hidden ones: it runs."
    assert "array" not in result.card


@pytest.mark.parametrize("name", BY_NAME if ALL else covering())
def test_it_earns_what_it_must_and_no_more(name, points):
    one, record = BY_NAME[name], points(name)
    earned = {e.name: e.points for e in record.exercises}
    assert one.outcome.misfits(earned, {e.name: e.max_points for e in record.exercises}) == []
    assert bool(record.flags) is one.flagged
    if one.finding:
        assert one.finding in {f.code for f in record.findings}


@pytest.mark.parametrize("one", hostile_class(UNIT) if ALL else hostile_class(UNIT)[::4], ids=lambda one: one.student)
def test_what_the_sample_shows_earns_what_it_must(one, root, tmp_path, points):
    record = points.graded(one.write(root, tmp_path).read_bytes(), one.unit, one.student, SHORT)
    assert {e.name: e.points for e in record.exercises} == pytest.approx(one.expected())
