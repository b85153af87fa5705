"""Named callables: functions that a case hands to a candidate.

`unfold(f, s0, theta, steps)` needs an `f`. A function is no plain value, so a case holds its name and its settings
instead, `Named("affine_map", {"A": …})`, and the side that runs the candidate makes the function from them. The names
are registered here, by the exercises that need them, with a factory: `settings -> function`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Factory = Callable[..., Any]
_factories: dict[str, Factory] = {}


@dataclass(frozen=True)
class Named:
    """A function by name: `make()` gives the function that the factory of that name makes of the settings."""

    name: str
    settings: dict[str, Any] = field(default_factory=dict)

    def make(self) -> Callable[..., Any]:
        """The function itself. **Errors:** `KeyError` for a name that nobody has registered."""
        return _factories[self.name](**self.settings)


def named(factory: Factory) -> Callable[..., Named]:
    """Register a factory under its own name; what comes back makes `Named` values: `affine_map(A=…)`."""
    name = factory.__name__
    if name in _factories and _factories[name].__code__ != factory.__code__:
        raise ValueError(f"two callables are named {name!r}; give one of them another name")
    _factories[name] = factory

    def call(**settings: Any) -> Named:
        return Named(name, settings)

    call.__name__ = name
    call.__doc__ = factory.__doc__
    return call
