r"""Unit 02. Dynamical systems, and the graphs that they unfold into.

A dynamical system is one transition f, applied again and again; with a signal x from outside it is driven:

    s_t = f(s_{t-1}; theta)                 s_t = f(s_{t-1}, x_t; theta)

Written out step by step, s_3 = f(f(f(s_0; theta); theta); theta), the loop becomes a graph without cycles, and the
state s_t a summary of everything up to t. The same f with the same theta stands at every step. That is why one model
serves sequences of every length, and why its parameters are counted once:

    shared    D H + H H + H                 one set for each of T steps    T (D H + H H + H)

Source: I. Goodfellow, Y. Bengio, A. Courville, "Deep Learning", MIT Press 2016, section 10.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, SupportsFloat, SupportsIndex

import numpy as np
from jaxtyping import Bool, Real, Shaped


def first_float_dtype(*arguments: Any) -> np.dtype[Any] | None:
    """Find the dtype of the first float array among the arguments, or inside them; None if there is none.

    This is the course's rule for results: float32 stays float32, and numbers, which are no arrays, never promote.

    >>> first_float_dtype(2.0, [1, 2], np.ones(3, dtype=np.float32), np.ones(3))
    dtype('float32')
    """
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            found = argument.dtype if np.issubdtype(argument.dtype, np.floating) else None
        elif isinstance(argument, (list, tuple)):
            found = first_float_dtype(*argument)
        elif isinstance(argument, Mapping):
            found = first_float_dtype(*argument.values())
        else:
            continue
        if found is not None:
            return found
    return None


def unfold(f: Callable[[Any, Any], Any], s0: Any, theta: Any, steps: SupportsIndex) -> Shaped[np.ndarray, "..."]:
    """Run s_t = f(s_{t-1}, theta) for `steps` steps and return all steps+1 states, s0 first.

    `s0` is a number or an array of any shape; the result has one axis more, in front. `f` is called once a step.

    >>> unfold(lambda s, theta: theta * s, 1.0, 0.5, 3)
    array([1.   , 0.5  , 0.25 , 0.125])
    """
    return _states(lambda s, _: f(s, theta), s0, range(int(steps)), first_float_dtype(s0, theta))


def unfold_driven(
    f: Callable[[Any, Any, Any], Any], s0: Any, xs: Shaped[np.ndarray, "T ..."] | Sequence, theta: Any
) -> Shaped[np.ndarray, "..."]:
    """Run s_t = f(s_{t-1}, x_t, theta) over a signal of T steps and return all T+1 states, s0 first.

    `xs` is (T, ...); its first entry drives the first step. `f` is called once a step.

    >>> unfold_driven(lambda s, x, theta: theta * s + x, 0.0, [1.0, 0.0, 4.0], 0.5)
    array([0.  , 1.  , 0.5 , 4.25])
    """
    return _states(lambda s, x: f(s, x, theta), s0, np.array(xs), first_float_dtype(s0, xs, theta))


def _states(
    step: Callable[[Any, Any], Any], s0: Any, signal: Iterable[Any], dtype: np.dtype[Any] | None
) -> Shaped[np.ndarray, "..."]:
    """Apply `step` along the signal. It gets copies and leaves copies, so that it may write to what it is given."""
    states = [_copy(s0)]
    for x in signal:
        states.append(_copy(step(_copy(states[-1]), x)))
    result = np.stack(states)
    return result.astype(dtype, copy=False) if np.issubdtype(result.dtype, np.floating) else result


def _copy(state: Any) -> Any:
    """Return a number as it is and anything else as a new array."""
    return state if np.isscalar(state) else np.array(state)


def compose(f: Callable[[Any], Any], times: SupportsIndex) -> Callable[[Any], Any]:
    """Return the function that applies `f` so many times; for times = 0 it is the identity.

    `compose(f, 3)(s)` is f(f(f(s))). A ValueError if `times` is negative.

    >>> compose(lambda s: 2 * s, 10)(1)
    1024
    """
    count = int(times)
    if count < 0:
        raise ValueError(f"times must not be negative, and is {count}.")

    def composed(s: Any) -> Any:
        for _ in range(count):  # a loop, since nested calls would meet Python's recursion limit
            s = f(s)
        return s

    return composed


def depends_on(
    model: Callable[[Any], Any], xs: Real[np.ndarray, "T D"] | Sequence, eps: SupportsFloat = 1e-3
) -> Bool[np.ndarray, "T T"]:
    """Find out by trial which outputs of a model depend on which of its inputs.

    `model` maps (T, D) to (T, ...). Entry [t, k] says whether any entry of output t changes when an entry of input k
    is raised by `eps`, one entry at a time; so the model is called T D + 1 times.

    >>> depends_on(np.cumsum, [[1.0], [2.0], [3.0]]).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    """
    dtype = first_float_dtype(xs)
    inputs = np.asarray(xs, dtype=np.float64 if dtype is None else dtype)
    outputs = np.array(model(inputs.copy()))
    steps = len(inputs)
    depends = np.zeros((steps, steps), dtype=bool)
    for index in np.ndindex(inputs.shape):
        raised = inputs.copy()
        raised[index] += float(eps)
        changed = np.asarray(model(raised)) != outputs
        depends[:, index[0]] |= changed.reshape(steps, -1).any(axis=1)
    return depends


def unshared_parameter_count(T: SupportsIndex, D: SupportsIndex, H: SupportsIndex) -> int:
    """Count the parameters of a network with a U (D, H), a W (H, H) and a b (H,) of its own at each of T steps.

    >>> unshared_parameter_count(T=100, D=3, H=5)
    4500
    """
    return int(T) * shared_parameter_count(D, H)


def shared_parameter_count(D: SupportsIndex, H: SupportsIndex) -> int:
    """Count the parameters of a recurrent network, which has one U (D, H), W (H, H) and b (H,) for all steps.

    >>> shared_parameter_count(D=3, H=5)
    45
    """
    inputs, hidden = int(D), int(H)
    return inputs * hidden + hidden * hidden + hidden
