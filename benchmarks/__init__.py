"""What is fast, against what: `python -m benchmarks`."""

import os

THREADS = min(2, os.cpu_count() or 1)
# OpenBLAS and OpenMP read this when NumPy and torch are imported, so it stands before all of that.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(THREADS)
