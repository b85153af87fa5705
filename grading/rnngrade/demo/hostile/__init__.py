"""Submissions that pretend, that are broken, or that are merely odd, and what must become of each.

Each is data: a name, what it does, how its file is made from the notebook that students got and the right answers, and
the outcome that it must have. One that wants points leaves the answers as they were given out, or wrong, so that
anything earned shows; one that is harmless stands among right answers, so that anything lost shows. Those that attack
the sandbox, its limits and the judge are in the desk's tests.

    for one in HOSTILE:
        record, _ = grade(one.make(release, right), bundle, one.name, …)
        assert not one.outcome.misfits(points, most)
"""

from __future__ import annotations

from rnngrade.demo.hostile.cells import CELLS
from rnngrade.demo.hostile.files import FILES
from rnngrade.demo.hostile.honest import HONEST
from rnngrade.demo.hostile.lies import LIES

HOSTILE = [one for kind in (CELLS, LIES, FILES, HONEST) for one in kind]
