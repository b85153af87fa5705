"""The instructor's desk: builds the notebooks, grades what students hand in.

Rooms by stage; each imports only those before it: core, author, roster, reading, sandbox, grading, gradebook, pages,
lms, demo, cli. ``rnncourse``, what students import, never imports this package.
"""

import gc
import sys

# jsonschema, which comes with nbformat, imports this to check internationalised addresses, of which a notebook has
# none: a second at the start of each process.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

# nbgrader, PyTorch and the catalogue make many objects that stay: to look for garbage among them every 700 takes up to
# a third of the time of their imports.
gc.set_threshold(10_000)
