"""The index of concepts: every entry holds, and every exercise's function belongs to a concept."""

from __future__ import annotations

import importlib
import sys

import pytest


@pytest.fixture
def maker(root, monkeypatch):
    """`maker("concepts")` is a module of the folder website/."""
    monkeypatch.syspath_prepend(root / "website")
    yield importlib.import_module
    for path in (root / "website").glob("*.py"):
        sys.modules.pop(path.stem, None)


def test_every_entry_holds_and_every_function_that_is_asked_for_has_one(root, maker):
    concepts, reference = maker("concepts"), maker("reference")
    known = {one for name, path in reference.modules(root).items() for one in reference.definitions(name, path)}
    assert list(concepts.problems(concepts.read(root / "website" / "concepts.toml"), root, known)) == []
