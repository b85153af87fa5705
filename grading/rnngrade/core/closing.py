"""What is closed at the end of a `with`."""

from typing import Self


class Closing:
    """Has a method `close`, by which it ends as a context."""

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
