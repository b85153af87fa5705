"""A Python that has loaded nothing yet, for tests of what an import brings in."""

import subprocess
import sys


def in_a_fresh_python(program: str) -> None:
    """Run a program; an error if it raises."""
    subprocess.run([sys.executable, "-c", program], check=True)
