"""What PyTorch draws is the same in every run of a test, and in every order of the tests."""

import sys

import pytest


@pytest.fixture(autouse=True)
def seeded() -> None:
    if "torch" in sys.modules:
        # (`torch.manual_seed` notes from where it was called, for each kind of device that is not here)
        sys.modules["torch"].default_generator.manual_seed(0)
