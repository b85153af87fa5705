"""The hostile class: submissions that attack, that are broken, or that are merely odd, and what must become of each.

Each is data: a name, what it does, how its file is made from the notebook that students got and the right answers, and
the outcome that it must have. An attack that wants points leaves the attacked answers as they were given out, or
wrong, so that anything earned shows; one that wants to do harm stands among right answers, so that anything harmed
shows. The code in here is meant to be run in the sandbox only.

    for one in HOSTILE:
        record, _ = grade(one.make(release, right), bundle, one.name, …)
        assert not one.outcome.misfits(points, most)
"""

from __future__ import annotations

from rnngrade.demo.hostile.cells import CELLS
from rnngrade.demo.hostile.channel import CHANNEL
from rnngrade.demo.hostile.escapes import ESCAPES
from rnngrade.demo.hostile.files import FILES
from rnngrade.demo.hostile.harm import HARM
from rnngrade.demo.hostile.honest import HONEST
from rnngrade.demo.hostile.in_torch import IN_TORCH
from rnngrade.demo.hostile.lies import LIES
from rnngrade.demo.hostile.limits import LIMITS
from rnngrade.demo.hostile.making import FULL, NOTHING, TORCH, UNIT, Hostile, Outcome, loses
from rnngrade.demo.hostile.measuring import MEASURING
from rnngrade.demo.hostile.patches import PATCHES
from rnngrade.demo.hostile.reference import REFERENCE
from rnngrade.demo.hostile.rooms import ROOMS
from rnngrade.demo.hostile.talk import TALK

__all__ = ["FULL", "HOSTILE", "KINDS", "NOTHING", "TORCH", "UNIT", "Hostile", "Outcome", "loses"]

OF_ANSWERS = [LIES, MEASURING, REFERENCE, IN_TORCH]
OF_ROOMS = [HARM, LIMITS, ESCAPES, ROOMS]
KINDS = [CELLS, TALK, PATCHES, CHANNEL, *OF_ANSWERS, *OF_ROOMS, FILES, HONEST]
HOSTILE = [one for kind in KINDS for one in kind]
