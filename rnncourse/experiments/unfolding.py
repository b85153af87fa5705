"""What unit 02 measures: how many examples it saves to share one transition, and what a window cannot know."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from rnncourse.unfolding import unfold_driven

STEPS, NOISE = 20, 0.1


def errors(seed: int | Sequence[int], N: int, change: float = 0.0) -> tuple[float, float]:
    """The error on new sequences of weights that all steps share, and of a set for each step, fitted to N sequences.

    The world is s_t = s_{t-1} W + x_t U with D = 3 and H = 2 over 20 steps; the states that are seen are blurred by
    noise of 0.1, and the weights are estimated by least squares. change: how far the rule itself moves from step to
    step, as the standard deviation of what is added to its weights.
    """
    rng = np.random.default_rng(seed)
    rule = np.vstack([rng.normal(size=(3, 2)), [[0.6, 0.5], [-0.5, 0.6]]])
    rules = rule + change * rng.normal(size=(STEPS, 5, 2))
    seen_in, seen_out = _sequences(rng, N, rules)
    new_in, new_out = _sequences(rng, 200, rules)
    seen_out = seen_out + NOISE * rng.normal(size=seen_out.shape)
    shared = new_in @ _fitted(seen_in, seen_out)
    own = np.array([x @ _fitted(*seen) for x, *seen in zip(new_in, seen_in, seen_out, strict=True)])
    shared_error, own_error = (float(np.sqrt(np.mean((guess - new_out) ** 2))) for guess in (shared, own))
    return shared_error, own_error


def _sequences(
    rng: np.random.Generator, N: int, rules: Float[np.ndarray, "T 5 2"]
) -> tuple[Float[np.ndarray, "T N 5"], Float[np.ndarray, "T N 2"]]:
    """N sequences: what goes into each step, x_t and s_{t-1}, and the state that comes of it."""
    s, going_in, coming_out = rng.normal(size=(N, 2)), [], []
    for rule in rules:
        going_in.append(np.hstack([rng.normal(size=(N, 3)), s]))
        s = going_in[-1] @ rule
        coming_out.append(s)
    return np.array(going_in), np.array(coming_out)


def _fitted(inputs: np.ndarray, outputs: np.ndarray) -> Float[np.ndarray, "5 2"]:
    """The weights of least squares, from all steps and sequences that are given."""
    return np.linalg.lstsq(inputs.reshape(-1, 5), outputs.reshape(-1, 2), rcond=None)[0]


def bracket_depths(text: str, drive: Callable = unfold_driven) -> np.ndarray:
    """How many brackets are open before each character and after the last, (T + 1,); `drive` runs the rule."""

    def rule(s: int, character: str, theta: None) -> int:
        return s + (character in "([{") - (character in ")]}")

    return np.asarray(drive(rule, 0, np.array(list(text)), None))


def torn_windows(text: str, depths: np.ndarray, width: int) -> tuple[int, int]:
    """How many different windows of `width` characters a text has, and before how many of these windows' ends different
    numbers of brackets are open.
    """
    seen: dict[str, set[int]] = {}
    for t in range(width, len(text)):
        seen.setdefault(text[t - width : t], set()).add(int(depths[t]))
    return len(seen), sum(len(found) > 1 for found in seen.values())
