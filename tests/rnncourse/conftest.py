"""What PyTorch draws is the same in every run and order of the tests; a search that fails is heard."""

import sys

import pytest

from rnncourse.checks import engine


@pytest.fixture(autouse=True)
def seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "HUSHED", (KeyboardInterrupt,))
    if "torch" in sys.modules:
        # (`torch.manual_seed` notes from where it was called, for each kind of device that is not here)
        sys.modules["torch"].default_generator.manual_seed(0)
