"""How long an import takes, in a new interpreter, and what it must not load."""

from __future__ import annotations

import statistics
import subprocess
import sys

TEXTBOOK = [
    "ngram",
    "unfolding",
    "cell",
    "bptt",
    "gradient_flow",
    "stacked",
    "bidirectional",
    "gates",
    "attention",
    "scans",
]
MODULES = ["numpy", "rnncourse", *(f"rnncourse.{name}" for name in TEXTBOOK)]
HEAVY = ["torch", "matplotlib"]
PROGRAM = """
import sys, time
start = time.perf_counter()
import {module}
print(time.perf_counter() - start, *(name for name in {heavy} if name in sys.modules))
"""


def run() -> None:
    """Print the median of seven imports of each module."""
    print("\nImport in a new interpreter, median of seven.\n")
    for module in MODULES:
        seconds, loaded = [], set()
        for _ in range(7):
            program = PROGRAM.format(module=module, heavy=HEAVY)
            answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
            time, *heavy = answer.stdout.split()
            seconds.append(float(time))
            loaded.update(heavy)
        without = f"loads {' and '.join(sorted(loaded))}" if loaded else "loads neither torch nor matplotlib"
        print(f"  {module:22} {statistics.median(seconds):6.3f} s   {without}")
