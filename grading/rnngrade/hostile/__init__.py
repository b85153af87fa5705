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

from rnngrade.hostile.cells import CELLS
from rnngrade.hostile.channel import CHANNEL
from rnngrade.hostile.escapes import ESCAPES
from rnngrade.hostile.files import FILES
from rnngrade.hostile.harm import HARM
from rnngrade.hostile.honest import HONEST
from rnngrade.hostile.in_torch import IN_TORCH
from rnngrade.hostile.lies import LIES
from rnngrade.hostile.limits import LIMITS
from rnngrade.hostile.making import FULL, NOTHING, TORCH, UNIT, Hostile, Outcome, loses
from rnngrade.hostile.measuring import MEASURING
from rnngrade.hostile.patches import PATCHES
from rnngrade.hostile.reference import REFERENCE
from rnngrade.hostile.rooms import ROOMS
from rnngrade.hostile.talk import TALK

__all__ = ["FULL", "HOSTILE", "KINDS", "NOTHING", "TORCH", "UNIT", "Hostile", "Outcome", "loses"]

OF_ANSWERS = [LIES, MEASURING, REFERENCE, IN_TORCH]
OF_ROOMS = [HARM, LIMITS, ESCAPES, ROOMS]
KINDS = [CELLS, TALK, PATCHES, CHANNEL, *OF_ANSWERS, *OF_ROOMS, FILES, HONEST]
HOSTILE = [one for kind in KINDS for one in kind]
