"""What a submission may use, in one place. Each number can be given on the command line: `--limit memory=1G`."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from rnngrade.core.errors import DeskError

MB = 2**20


@dataclass(frozen=True)
class Limits:
    """Seconds are of wall time unless they say CPU; sizes are bytes."""

    submission_seconds: float = 600.0  # everything, restarts included
    cell_seconds: float = 60.0  # one cell
    call_seconds: float = 5.0  # one call of an answer; a right one takes milliseconds
    cpu_seconds: int = 300  # of CPU, each process
    memory: int = 2048 * MB  # all processes together, and each alone
    processes: int = 64  # threads count
    output: int = 100_000  # characters that a cell shows; ten times as many end it
    images: int = 4 * MB  # pictures that a cell shows
    disk: int = 64 * MB  # all files that it writes
    files: int = 4096  # how many files and folders it makes, in each place where it may
    message: int = 64 * MB  # one answer
    reply: int = 8 * MB  # what an answer hands to a function that the judge runs for it
    place_seconds: float = 5.0  # looking for the places of errors that nobody has named; 0: none is looked for
    restarts: int = 40  # how often a sandbox is started again after an answer ended it
    judge_seconds: float = 60.0  # of CPU, that the judge itself takes for one answer or cell; a second is much
    judge_memory: int = 1024 * MB  # that the judge itself takes for one submission, beyond what it has before it

    @classmethod
    def given(cls, settings: dict[str, str]) -> Limits:
        """The defaults with some changed, as text: `{"memory": "512M"}`. **Errors:** `DeskError`."""
        fields = {f.name: f for f in dataclasses.fields(cls)}
        values: dict[str, float] = {}
        for name, text in settings.items():
            if name not in fields:
                raise DeskError(f"There is no limit {name!r}; there are {', '.join(fields)}.")
            factor = {"K": 2**10, "M": MB, "G": 2**30}.get(text[-1:].upper(), 1)
            try:
                value = float(text if factor == 1 else text[:-1]) * factor
            except ValueError:
                value = -1.0
            if not 0 < value < float("inf") and not (value == 0 and name == "place_seconds"):
                raise DeskError(f"The limit {name} is a positive number, such as 60 or 512M; this is {text!r}.")
            values[name] = value if fields[name].type == "float" else int(value)
        return dataclasses.replace(cls(), **values)  # type: ignore[arg-type]
