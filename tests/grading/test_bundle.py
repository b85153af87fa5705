"""What is sent to a worker: what students got, and a library that has all that the unit's locked cells need."""

import dataclasses

import pytest

from rnncourse import exercises
from rnngrade.core.errors import DeskError
from rnngrade.grading.bundle import Bundle
from rnngrade.sandbox.library import library
from rnngrade.sandbox.limits import Limits


@pytest.mark.parametrize("unit", exercises.STEMS)
def test_what_a_unit_s_locked_cells_import_is_in_the_sandbox(root, unit):
    files = library(unit)
    modules = [m.replace(".", "/") for m in Bundle.make(root, unit).modules() if m.startswith("rnncourse")]
    assert modules
    assert [m for m in modules if f"{m}.py" not in files and f"{m}/__init__.py" not in files] == []


def test_the_same_course_makes_the_same_bundle(root):
    assert Bundle.make(root, "03_cell") == Bundle.make(root, "03_cell")


def test_a_key_names_everything_that_the_outcome_depends_on(root):
    bundle = Bundle.make(root, "03_cell")
    key = bundle.key(b"{}", "7", Limits())
    assert key == bundle.key(b"{}", "7", Limits())
    others = {
        bundle.key(b"{ }", "7", Limits()),
        bundle.key(b"{}", "8", Limits()),
        bundle.key(b"{}", "7", Limits(memory=1)),
        dataclasses.replace(bundle, versions=(("unit", "another"),)).key(b"{}", "7", Limits()),
    }
    assert len({key, *others}) == 5


def test_a_worker_with_other_checks_refuses_in_a_sentence(root):
    bundle = Bundle.make(root, "03_cell")
    bundle.require_fit()
    other = dataclasses.replace(bundle, versions=(*bundle.versions, ("checks", "0" * 16)))
    with pytest.raises(DeskError, match=r"This worker's checks differs from the desk's .*: install"):
        other.require_fit()


def test_a_unit_that_is_not_built_is_said_to_be_so(tmp_path):
    with pytest.raises(DeskError, match="The notebook of 03_cell is not built: run 'make notebooks'"):
        Bundle.make(tmp_path, "03_cell")
