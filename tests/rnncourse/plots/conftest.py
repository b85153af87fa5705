"""What a notebook would be shown."""

import IPython
import IPython.display
import pytest


@pytest.fixture
def shown(monkeypatch):
    """What is handed to a notebook, as a list of (data, metadata)."""
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")  # before it could ask the shell, which is none
    seen = []
    monkeypatch.setattr(IPython, "get_ipython", object)
    monkeypatch.setattr(IPython.display, "display", lambda data, metadata, raw: seen.append((data, metadata)))
    return seen
