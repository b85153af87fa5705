"""What both command lines, `rnncourse` and `rnngrade`, share: an error is one sentence, and help ends in examples."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
EXAMPLES = "\b\nExamples:\n"


class Sentence(click.ClickException):
    """An error that is one sentence."""

    def show(self, file: Any = None) -> None:
        click.echo(self.message, err=True)


@contextmanager
def in_a_sentence(told: type[Exception]) -> Iterator[None]:
    """End the command with what is raised for the user to read: `told`, and what the system says of a file."""
    try:
        yield
    except told as why:
        raise Sentence(str(why)) from None
    except OSError as error:
        if error.errno in FULL and error.filename:
            raise Sentence(
                f"The disk is full: {error.filename} was not written, and what was there is as it was. Make room, and "
                "do it again."
            ) from None
        raise Sentence(f"{error.strerror or error}: {error.filename}" if error.filename else str(error)) from None
