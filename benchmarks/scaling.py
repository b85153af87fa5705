"""Backpropagation through time costs O(T), in time and in memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np

from benchmarks.timing import interleaved, slope
from rnncourse.bptt import rnn_backward
from rnncourse.cell import rnn_forward

LENGTHS = [64, 128, 256, 512, 1024, 2048]
N, D, H = 16, 32, 64


def run() -> None:
    """Print time and memory for each length, and the slopes on a log-log scale."""
    runners = {str(T): _pass(T) for T in LENGTHS}
    times = interleaved(runners)
    milliseconds = [1e3 * float(np.median(times[str(T)])) for T in LENGTHS]
    megabytes = [_peak(runners[str(T)]) / 1e6 for T in LENGTHS]
    print(f"\nForward and backward, float64, (N, D, H) = ({N}, {D}, {H}): cost against length.\n")
    print("     T    time, ms   memory, MB")
    for T, time, memory in zip(LENGTHS, milliseconds, megabytes, strict=True):
        print(f"  {T:4}  {time:10.2f}   {memory:10.2f}")
    time_slope, memory_slope = slope(LENGTHS, milliseconds), slope(LENGTHS, megabytes)
    print(f"\n  slope on log-log: time {time_slope:.2f}, memory {memory_slope:.2f}; 1 is linear")


def _pass(T: int) -> Callable[[], object]:
    rng = np.random.default_rng(0)
    X, h0, dH = rng.standard_normal((T, N, D)), rng.standard_normal((N, H)), rng.standard_normal((T, N, H))
    U, W, b = 0.2 * rng.standard_normal((D, H)), 0.1 * rng.standard_normal((H, H)), rng.standard_normal(H)
    return lambda: rnn_backward(dH, X, h0, rnn_forward(X, h0, U, W, b), U, W)


def _peak(runner: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        runner()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
