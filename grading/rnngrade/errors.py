"""What all errors of the desk that a user reads have in common."""


class DeskError(Exception):
    """What kept the desk from doing something, and what to do, in one sentence."""
