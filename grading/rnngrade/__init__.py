"""The instructor's desk: builds the notebooks, grades what students hand in.

Its modules are used as commands, ``python -m rnngrade.build``, and by each other. ``rnncourse``, what students import,
never imports this package.
"""

import sys

# jsonschema, which comes with nbformat, imports this to check internationalised addresses, of which a notebook has
# none: a second at the start of each process.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
