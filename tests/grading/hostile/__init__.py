"""The hostile class: what pretends, is broken or merely odd, and attacks on the sandbox, its limits and the judge.

An attack that wants to do harm stands among right answers, so that anything harmed shows. The code in here is meant to
be run in the sandbox only.
"""

from tests.grading.hostile.cells import CELLS
from tests.grading.hostile.channel import CHANNEL
from tests.grading.hostile.escapes import ESCAPES
from tests.grading.hostile.files import FILES
from tests.grading.hostile.harm import HARM
from tests.grading.hostile.honest import HONEST
from tests.grading.hostile.in_torch import IN_TORCH
from tests.grading.hostile.lies import LIES
from tests.grading.hostile.limits import LIMITS
from tests.grading.hostile.measuring import MEASURING
from tests.grading.hostile.patches import PATCHES
from tests.grading.hostile.reference import REFERENCE
from tests.grading.hostile.rooms import ROOMS
from tests.grading.hostile.talk import TALK

OF_ANSWERS = [LIES, MEASURING, REFERENCE, IN_TORCH]
OF_ROOMS = [HARM, LIMITS, ESCAPES, ROOMS]
KINDS = [CELLS, TALK, PATCHES, CHANNEL, *OF_ANSWERS, *OF_ROOMS, FILES, HONEST]
HOSTILE = [one for kind in KINDS for one in kind]
