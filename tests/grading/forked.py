"""What changes a process for good is tried in a fork of it."""

import os
import traceback
from collections.abc import Callable


def in_a_fork(task: Callable[[], object]) -> None:
    """Run a task in a fork of this process. **Errors:** `AssertionError` if it raises there, which is printed."""
    if (child := os.fork()) == 0:
        try:
            task()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
