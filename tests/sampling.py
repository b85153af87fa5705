"""How much a test tries of what there is: `make test` a few, the same for the same commit; `make nightly` all.

`NIGHTLY=1` in the environment, or FUZZ above 0, asks for all. `SEED` is for what is drawn from no list: a fixed one in
`make test`; in a nightly run NIGHTLY_SEED, or a new one, which the head of the run and each failure name.
"""

import hashlib
import os
import random
from collections.abc import Iterable
from pathlib import PurePath
from typing import TypeVar

ALL = os.environ.get("NIGHTLY", "0") != "0" or int(os.environ.get("FUZZ", "0")) > 0
if ALL:  # in the environment, for the other processes of the run
    SEED = int(os.environ.setdefault("NIGHTLY_SEED", str(random.SystemRandom().randrange(10**6))))
else:
    SEED = 1
UNITS: tuple[str, ...] | None = None  # the units that are tried, by their stems, if not all (`tests.one_unit`)
T = TypeVar("T")


def some(things: Iterable[T], few: int) -> list[T]:
    """So many of these, in their order. One thing more in the list changes at most one of those that are drawn."""
    found = list(things)
    if ALL or few >= len(found):
        return found
    names = [_name(thing, i) for i, thing in enumerate(found)]
    ranked = sorted(
        range(len(found)),
        key=lambda i: hashlib.sha256(f"{SEED} {names[i]}".encode("utf-8", "backslashreplace")).digest(),
    )
    return [found[i] for i in sorted(ranked[:few])]


def _name(thing: object, position: int) -> str:
    """What stands for a thing in the draw: its name if it has one, the thing itself if it is a text, or its place."""
    if isinstance(thing, tuple) and thing:
        thing = thing[0]
    if isinstance(thing, PurePath):
        return "/".join(thing.parts[-2:])  # wherever its folder is
    if isinstance(thing, str | int):
        return str(thing)
    name = getattr(thing, "name", None) or getattr(thing, "__name__", None)
    return name if isinstance(name, str) else str(position)
