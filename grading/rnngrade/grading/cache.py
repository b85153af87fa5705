"""What was found out once and is not found out again: a class is asked the same, and answers much of the same."""

from typing import Generic, TypeVar

MOST_KEPT = 2**24  # bytes of what the judge keeps, in each of its caches
OBJECT = 200  # bytes of memory that a kept thing takes besides, roughly

K = TypeVar("K")
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """Values by what they were made of, up to `most` bytes; then it begins anew.

    It is right at every moment: the judge's own limits may end what uses it between any two steps.

    >>> squares = BoundedCache[int, int](most=100)
    >>> squares.put(3, 9, size=8)
    >>> squares.get(3), squares.get(4)
    (9, None)
    >>> squares.put(4, 16, size=99)
    >>> squares.get(3), squares.get(4)
    (None, 16)
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._values: dict[K, V] = {}
        self._size = 0

    def get(self, key: K) -> V | None:
        """The value of a key, None if it is not known (any more)."""
        return self._values.get(key)

    def put(self, key: K, value: V, size: int) -> None:
        """Keep a value that takes, with its key, so many bytes; one that is too large is not kept."""
        if size > self.most:
            return
        if self._size + size > self.most:
            self._values, self._size = {}, 0
        self._size += size
        self._values[key] = value
