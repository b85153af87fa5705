"""Are the checks strict enough? Every small change of every model answer has to be refused: `python -m mutants`."""

import os

# OpenBLAS and OpenMP read this when NumPy and torch are imported, so it stands before all of that.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
