"""What the units claim about training, as experiments that could refute it: `python -m claims` runs them all."""

import os

# For products as small as ours a second thread costs more than it brings.
os.environ |= {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
