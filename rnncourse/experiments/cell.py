"""Unit 03: what it measures. A trained network that writes, states that settle or stay, and what a random state holds.

The trained network is `rnncourse.data.trained_network`: 160 units that read Python's documentation, a character at a
time. What needs PyTorch is in `rnncourse.experiments.cell_torch`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from rnncourse.cell import rnn_forward, rnn_predict, rnn_step
from rnncourse.data import python_docs, train_and_held_out, trained_network, words
from rnncourse.language_model import generate
from rnncourse.ngram import perplexity, sample_index

WARM_UP = 20  # steps from which no readout is fitted

# --- the network that is trained already


def writes_on(start: str, length: int = 300, temperature: float = 0.5, seed: int = 1) -> str:
    """What the trained network writes after `start`; after a space, if it knows no character of that."""
    trained = trained_network()
    prompt = trained.ids(start) if len(trained.ids(start)) else trained.ids(" ")
    new = generate(trained.parameters, prompt, length, np.random.default_rng(seed).random(length), temperature)
    return "".join(trained.chars[i] for i in new)


def real_words(text: str) -> float:
    """Which share of the words of more than three letters Python's documentation has; 0 if there are none.

    The first word and the last may be cut, and do not count.
    """
    longer = [word for word in words(text)[1:-1] if len(word) > 3]
    known = set(words(python_docs(400_000)))
    return sum(word in known for word in longer) / max(len(longer), 1)


def writes_with(predict: Callable[..., Any], start: str, length: int = 200, seed: int = 1) -> str:
    """What the trained network writes if it is run by `predict`: each character that is drawn is its next input."""
    trained, uniforms = trained_network(), np.random.default_rng(seed).random(length)
    five = [trained.parameters[name] for name in "UWbVc"]
    eye = np.eye(len(trained.chars), dtype=np.float32)
    read, h = list(trained.ids(start)), np.zeros((1, len(five[1])), dtype=np.float32)
    drawn: list[int] = []
    for u in uniforms:
        Y, H = predict(eye[read][:, None], h, *five)
        drawn.append(sample_index(Y[-1, 0], u))
        read, h = drawn[-1:], H[-1]
    return "".join(trained.chars[i] for i in drawn)


def letters_alike(one: str, other: str) -> int:
    """How many letters two texts share before they part."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def bits_from(
    kind: str, predict: Callable[..., Any] = rnn_predict, seed: int = 0, pieces: int = 1000
) -> Float[np.ndarray, "K"]:
    """The trained network's bits for the 2nd to the 21st character of unread pieces of text, from one first state.

    kind: "zeros"; "random", uniform between -1 and 1; or "another text", the state in which one ended.
    """
    trained, rng = trained_network(), np.random.default_rng(seed)
    unread = trained.ids(train_and_held_out("python-docs")[1])
    read, other = (unread[rng.integers(len(unread) - 21, size=pieces) + np.arange(21)[:, None]] for _ in range(2))
    five = [trained.parameters[name] for name in "UWbVc"]
    eye = np.eye(len(trained.chars), dtype=np.float32)
    h0 = np.zeros((pieces, len(five[1])), dtype=np.float32)
    if kind == "random":
        h0 = rng.uniform(-1, 1, h0.shape).astype(np.float32)
    elif kind == "another text":
        h0 = predict(eye[other], h0, *five)[1][-1]
    Y, _ = predict(eye[read[:-1]], h0, *five)
    bits: np.ndarray = -np.log2(np.take_along_axis(np.asarray(Y), read[1:, :, None], axis=2))[..., 0].mean(axis=1)
    return bits


# --- what a state does


def one_hot(text: str) -> Float[np.ndarray, "T 1 D"]:
    """The characters of a text as one-hot vectors, in alphabetical order."""
    chars = sorted(set(text))
    return np.eye(len(chars))[[chars.index(character) for character in text]][:, None]


def read_word(
    word: str, step: Callable[..., Any] = rnn_step, seed: int = 3
) -> tuple[Float[np.ndarray, "T D"], Float[np.ndarray, "H"], Float[np.ndarray, "T H"], str]:
    """A random cell of four units reads a word from a state of zeros: the inputs, h_0, the states, and the word."""
    letters, rng = sorted({*"abc", *word}), np.random.default_rng(seed)
    U, W, b = rng.normal(size=(len(letters), 4)), 0.8 * rng.normal(size=(4, 4)), np.zeros(4)
    x = np.eye(len(letters))[[letters.index(letter) for letter in word]]
    h, states = np.zeros((1, 4)), []
    for row in x:
        h = np.asarray(step(row[None], h, U, W, b))
        states.append(h[0])
    return x, np.zeros(4), np.array(states), word


def knock(W: float, forward: Callable[..., Any] = rnn_forward, steps: int = 25) -> Float[np.ndarray, "T"]:
    """The states of one unit with U = 2, b = 0 and this W, which reads a single 1 and then zeros."""
    X = np.eye(steps)[0][:, None, None]
    states: np.ndarray = np.ravel(forward(X, np.zeros((1, 1)), np.array([[2.0]]), np.array([[float(W)]]), np.zeros(1)))
    return states


def runs(
    size: float, forward: Callable[..., Any] = rnn_forward, steps: int = 15, seed: int = 2
) -> Float[np.ndarray, "steps+1 4 6"]:
    """Four runs of one random cell from four states, the same input at every step; the starts are counted in.

    size: W is scaled so that it stretches no vector by more than this.
    """
    rng = np.random.default_rng(seed)
    U, W = rng.normal(size=(3, 6)), rng.normal(size=(6, 6))
    W *= size / np.linalg.norm(W, 2)
    X = np.tile(rng.normal(size=(1, 1, 3)), (steps, 4, 1))
    h0 = 3 * rng.normal(size=(4, 6))
    return np.concatenate([h0[None], forward(X, h0, U, W, np.zeros(6))])


# --- networks that went wrong


def line_lengths(lines: int = 50) -> Float[np.ndarray, "T 1 1"]:
    """The lengths of the first lines of Python's documentation, in units of 80 characters."""
    return np.array([len(line) / 80 for line in python_docs(4000).split("\n")[:lines]])[:, None, None]


def share_silent(H: int, centred: bool = False, networks: int = 1000, seed: int = 0) -> float:
    """Of random networks of H units with a ReLU and b = 0, the share whose states are 0 at every line's length.

    centred: take the mean from the lengths first.
    """
    rng, X = np.random.default_rng(seed), line_lengths()
    X = X - X.mean() if centred else X
    U, W = rng.normal(size=(networks, H)), rng.normal(size=(networks, H, H)) / 2
    h, spoke = np.zeros((networks, H)), np.zeros(networks, dtype=bool)
    for x in X[:, 0, 0]:
        h = np.maximum(0, x * U + np.einsum("kh,khj->kj", h, W))
        spoke |= (h > 0).any(axis=1)
    return float(1 - spoke.mean())


def symptoms(network: Callable[..., Any], seed: int = 84) -> dict[str, object]:
    """What four tests say of a class with `forward`, such as `Network`. The first is the one that its author made."""
    rng = np.random.default_rng(seed)
    T, N, D, H, Q = 5, 3, 4, 3, 2
    parameters = [rng.normal(size=shape) for shape in ((D, H), (H, H), (H,), (H, Q), (Q,))]
    X = rng.normal(size=(T, N, D))
    asked = network(*parameters)
    first, second = np.asarray(asked.forward(X)), np.asarray(asked.forward(X))
    other = X.copy()
    other[:, 2] = -other[:, 2]
    changed = np.asarray(network(*parameters).forward(other))
    try:
        four: object = np.shape(network(*parameters).forward(rng.normal(size=(T, 4, D))))
    except Exception as error:
        four = type(error).__name__
    return {
        "shape of the logits, for T, N, Q = 5, 3, 2": first.shape,
        "asked twice: the answers differ by": round(float(np.abs(first - second).max()), 2),
        "sequence 2 changed: sequence 0 differs by": round(float(np.abs(first[:, 0] - changed[:, 0]).max()), 2),
        "four sequences where there were three": four,
    }


# --- what a state holds


def random_cell(
    D: int, H: int, seed: int, radius: float = 0.95, loudness: float = 0.3
) -> tuple[Float[np.ndarray, "D H"], Float[np.ndarray, "H H"], Float[np.ndarray, "H"]]:
    """Random U of standard deviation `loudness`, W whose largest eigenvalue has the size `radius`, and b of zeros."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(H, H))
    return loudness * rng.normal(size=(D, H)), radius * W / np.abs(np.linalg.eigvals(W)).max(), np.zeros(H)


def without_state(layer: Callable[..., Any]) -> Callable[..., Any]:
    """A layer in the place of `rnn_forward`: each step by itself, whatever h0 and W are."""

    def forward(X: np.ndarray, h0: np.ndarray, U: np.ndarray, W: np.ndarray, b: np.ndarray) -> np.ndarray:
        T, N, D = X.shape
        return np.reshape(layer(X.reshape(T * N, D), U, b), (T, N, -1))

    return forward


def recalled(
    forward: Callable[..., Any] = rnn_forward,
    units: int = 200,
    radius: float = 0.95,
    loudness: float = 0.3,
    seed: int = 9,
    lags: Sequence[int] = range(16),
) -> Float[np.ndarray, "K"]:
    """The share of characters read k steps ago that a weighted sum of an untrained state names right, for each lag k.

    forward: your `rnn_forward`, or a layer, `without_state`. It reads 24,000 characters of Python's documentation. The
    weighted sum is fitted to the first half by ridge regression and tried on the second. radius, loudness: of
    `random_cell`.
    """
    text = python_docs(24_000)
    X, ids = one_hot(text), np.unique(list(text), return_inverse=True)[1]
    states = forward(X, np.zeros((1, units)), *random_cell(X.shape[2], units, seed, radius, loudness))[:, 0]
    A, half = np.hstack([states, np.ones((len(ids), 1))]), len(ids) // 2
    fitted, tried = A[WARM_UP:half], A[half:]
    inverse = np.linalg.solve(fitted.T @ fitted + 1e-3 * np.eye(A.shape[1]), fitted.T)
    shares = []
    for k in lags:
        readout = inverse @ X[WARM_UP - k : half - k, 0]
        shares.append(np.mean((tried @ readout).argmax(axis=1) == ids[half - k : len(ids) - k]))
    return np.array(shares)


def sentence_perplexity(Y: Float[np.ndarray, "T N Q"], ids: Int[np.ndarray, "T N"]) -> float:
    """The perplexity of the predictions Y on sentences (T, N): of every word but the first."""
    told = np.take_along_axis(np.asarray(Y)[:-1], ids[1:, :, None], axis=2)
    return perplexity(np.log(told).ravel())
