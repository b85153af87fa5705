r"""Unit 06. A character language model in NumPy: trained, measured, and made to write.

The recurrent network of units 03 and 04 reads a text one character at a time and says what comes next. Characters are
numbers, ids from 0 to Q-1, and enter as one-hot vectors, so that x_t U is one row of U:

    h_t = tanh(U[id_t] + h_{t-1} W + b)         P(id_{t+1} | id_1, ..., id_t) = softmax(h_t V + c)

No product is needed for the inputs, and their gradient is a sum of errors by id: dU[i] = sum of da_t where id_t = i.

A text is cut into N rows that are read side by side, `steps` characters at a time; the state is carried from one batch
to the next, its gradient is not. Training is Adagrad, one step size for each parameter, on gradients g that are clipped
together:

    memory += g^2                               p -= learning_rate g / sqrt(memory + 1e-8)

How long to train is decided on a text of its own, the validation text: training stops when its loss has found no new
lowest value for some epochs, and the parameters of the best epoch are kept.

The score is the mean of -log2 P(next character) on text not seen before, in bits per character; 2 to its power is the
perplexity of unit 01. To write, an id is drawn, fed back as the next input, and so on. The temperature divides the
logits: below 1 it favours what is likely, above 1 it evens out. Top-k and nucleus (top-p) filters cut off the tail.

Sources: I. Sutskever, J. Martens, G. Hinton, "Generating Text with Recurrent Neural Networks", ICML 2011; A. Karpathy,
"The Unreasonable Effectiveness of Recurrent Neural Networks", 2015; J. Duchi, E. Hazan, Y. Singer, "Adaptive
Subgradient Methods", JMLR 12, 2011; A. Holtzman et al., "The Curious Case of Neural Text Degeneration", ICLR 2020.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, SupportsFloat, SupportsIndex

import numpy as np
from jaxtyping import Float, Integer, Real

from rnncourse.bptt import nll_backward, output_backward, sequence_nll
from rnncourse.cell import as_floats, output_layer, softmax
from rnncourse.gradient_flow import clip_by_global_norm
from rnncourse.ngram import sample_index

NAMES = ("U", "W", "b", "V", "c")


def build_vocabulary(text: str) -> tuple[list[str], dict[str, int]]:
    """List the characters of a text in code-point order, and map each to its place in the list, its id.

    >>> build_vocabulary("hello")
    (['e', 'h', 'l', 'o'], {'e': 0, 'h': 1, 'l': 2, 'o': 3})
    """
    chars = sorted(set(text))
    return chars, {character: i for i, character in enumerate(chars)}


def encode(text: str, index: Mapping[str, int]) -> Integer[np.ndarray, "L"]:
    """Turn a text of L characters into their ids. A KeyError for a character that is not in the index.

    >>> encode("hole", {"e": 0, "h": 1, "l": 2, "o": 3})
    array([1, 3, 2, 0])
    """
    return np.array([index[character] for character in text], dtype=np.int64)


def decode(ids: Integer[np.ndarray, "L"] | Sequence[SupportsIndex], chars: Sequence[str]) -> str:
    """Turn ids back into text.

    >>> decode([1, 3, 2, 0], ["e", "h", "l", "o"])
    'hole'
    """
    return "".join([chars[int(i)] for i in ids])


def contiguous_batches(
    ids: Integer[np.ndarray, "L"] | Sequence[SupportsIndex], batch_size: SupportsIndex, steps: SupportsIndex
) -> Iterator[tuple[Integer[np.ndarray, "steps N"], Integer[np.ndarray, "steps N"]]]:
    """Yield (inputs, targets) so that row n of a batch goes on where row n of the batch before ended.

    With L' = (len(ids) - 1) // batch_size, row n reads ids[n L' : (n+1) L' + 1]; its targets are its inputs one later.
    What is left at the end of the rows and fills no batch is dropped.

    >>> for inputs, targets in contiguous_batches(range(10), batch_size=2, steps=2):
    ...     print(inputs.T.tolist(), targets.T.tolist())
    [[0, 1], [4, 5]] [[1, 2], [5, 6]]
    [[2, 3], [6, 7]] [[3, 4], [7, 8]]
    """
    text, rows, width = np.asarray(ids), int(batch_size), int(steps)
    if rows < 1 or width < 1:
        raise ValueError(f"batch_size and steps must be at least 1, and are {rows} and {width}.")
    length = (len(text) - 1) // rows
    start = length * np.arange(rows)
    for first in range(0, length - width + 1, width):
        places = start + first + np.arange(width)[:, None]
        yield text[places], text[places + 1]


def temperature_softmax(
    logits: Real[np.ndarray, "*axes Q"] | Sequence, temperature: SupportsFloat
) -> Float[np.ndarray, "*axes Q"]:
    """Compute softmax(logits / temperature) over the last axis; temperature 1 is the model's own opinion.

    The temperature is positive; a ValueError otherwise. Close to 0 it leaves the largest logit, and only that.

    >>> temperature_softmax([0.0, 0.0, -np.inf], 0.5)
    array([0.5, 0.5, 0. ])
    >>> temperature_softmax([[0.0, np.log(3)]], 0.5).round(6)  # 1 to 3 becomes 1 to 9
    array([[0.1, 0.9]])
    """
    (logits,), degree = as_floats(logits), float(temperature)
    if not degree > 0:
        raise ValueError(f"The temperature must be positive, and is {degree}.")
    # The largest logit becomes 0 first, so that a small temperature sends the others to -inf, and nothing to inf.
    shifted = logits - logits.max(axis=-1, keepdims=True)
    with np.errstate(over="ignore"):
        return softmax(shifted / max(degree, float(np.finfo(logits.dtype).tiny)))


def top_k_filter(
    probabilities: Real[np.ndarray, "*axes Q"] | Sequence, k: SupportsIndex
) -> Float[np.ndarray, "*axes Q"]:
    """Keep the k most probable ids, ties to the lower id; the others get 0, and the rest is made to sum to 1 again.

    k of Q or more keeps all. A ValueError if k < 1.

    >>> top_k_filter([0.25, 0.125, 0.25, 0.375], 2)
    array([0.4, 0. , 0. , 0.6])
    """
    (given,), count = as_floats(probabilities), int(k)
    if count < 1:
        raise ValueError(f"k must be at least 1, and is {count}.")
    stays = np.broadcast_to(np.arange(given.shape[-1]) < count, given.shape)
    return _keep_ranks(given, _most_probable_first(given), stays)


def nucleus_filter(
    probabilities: Real[np.ndarray, "*axes Q"] | Sequence, p: SupportsFloat
) -> Float[np.ndarray, "*axes Q"]:
    """Keep the fewest most probable ids whose mass is at least p, and at least one; ties to the lower id.

    The others get 0, and the rest is made to sum to 1 again. p = 1 keeps all.

    >>> nucleus_filter([0.25, 0.125, 0.375, 0.25], 0.625)
    array([0.4, 0. , 0.6, 0. ])
    """
    (given,), wanted = as_floats(probabilities), float(p)
    order = _most_probable_first(given)
    # An id stays if those before it have not reached p; p = 1 keeps all, even if rounding takes a sum to 1 too early.
    before = np.cumsum(np.take_along_axis(given, order, axis=-1), axis=-1)[..., :-1]
    stays = np.ones(given.shape, dtype=bool)
    stays[..., 1:] = (before < wanted) | (wanted >= 1)
    return _keep_ranks(given, order, stays)


def _most_probable_first(p: np.ndarray) -> np.ndarray:
    """Sort the ids along the last axis; a stable sort leaves equal ones in the order of their ids."""
    return np.argsort(-p, axis=-1, kind="stable")


def _keep_ranks(p: np.ndarray, order: np.ndarray, stays: np.ndarray) -> np.ndarray:
    """Keep the probabilities whose place in `order` stays, as parts of their sum."""
    keep = np.empty(p.shape, dtype=bool)
    np.put_along_axis(keep, order, stays, axis=-1)
    kept = np.where(keep, p, p.dtype.type(0))
    kept /= kept.sum(axis=-1, keepdims=True)
    return kept


def generate(
    parameters: Mapping[str, Float[np.ndarray, "..."]],
    prompt: Integer[np.ndarray, "L"] | Sequence[SupportsIndex],
    length: SupportsIndex,
    uniforms: Real[np.ndarray, "K"] | Sequence[SupportsFloat],
    temperature: SupportsFloat = 1.0,
) -> list[int]:
    """Write on from a prompt: return `length` new ids, of which the k-th is drawn with uniforms[k] by `sample_index`.

    The state starts from zeros and reads the whole prompt, its last id once. From the state after that comes the first
    new id, and each new id is the next input. `parameters` holds U (Q, H), W (H, H), b (H,), V (H, Q), c (Q,) for Q
    characters. A ValueError if the prompt is empty.

    >>> sure = 50 * np.roll(np.eye(3), 1, axis=1)  # after 0 comes 1, after 1 comes 2, after 2 comes 0
    >>> generate({"U": np.eye(3), "W": np.zeros((3, 3)), "b": np.zeros(3), "V": sure, "c": np.zeros(3)}, [2, 0], 4,
    ...          uniforms=[0.5, 0.5, 0.5, 0.5])
    [1, 2, 0, 1]
    """
    U, W, b, V, c = as_floats(*(parameters[name] for name in NAMES))
    if len(prompt) == 0:
        raise ValueError("The prompt needs at least one id: the first new one is drawn from the state after it.")
    h = _states(prompt, np.zeros((1, len(W)), dtype=U.dtype), U, W, b)[-1]
    new: list[int] = []
    for k in range(int(length)):
        if new:
            h = np.tanh(U[new[-1]] + h @ W + b)
        new.append(sample_index(temperature_softmax(h @ V + c, temperature)[0], uniforms[k]))
    return new


def bits_per_character(
    parameters: Mapping[str, Float[np.ndarray, "..."]], ids: Integer[np.ndarray, "L"] | Sequence[SupportsIndex]
) -> float:
    """Take the mean of -log2 P(next id) over the L - 1 predictions that L ids ask for, from a state of zeros.

    A ValueError if there is none to make, L < 2.

    >>> guess = {"U": np.zeros((8, 2)), "W": np.eye(2), "b": np.zeros(2), "V": np.zeros((2, 8)), "c": np.zeros(8)}
    >>> round(bits_per_character(guess, [3, 1, 4, 1, 5]), 12)  # eight equally likely characters are 3 bits
    3.0
    """
    U, W, b, V, c = as_floats(*(parameters[name] for name in NAMES))
    text = np.asarray(ids, dtype=np.int64)
    if len(text) < 2:
        raise ValueError(f"bits_per_character predicts all ids but the first, and so needs two: it has {len(text)}.")
    h = np.zeros((1, len(W)), dtype=U.dtype)
    nats = 0.0
    for start in range(0, len(text) - 1, 1024):  # so that a long text needs no long table of states and logits
        inputs, targets = text[:-1][start : start + 1024], text[1:][start : start + 1024]
        H = _states(inputs, h, U, W, b)
        nats += sequence_nll(output_layer(H, V, c), targets[:, None])
        h = H[-1]
    return nats / (len(text) - 1) / math.log(2)


def train_step(
    parameters: dict[str, Float[np.ndarray, "..."]],
    memory: dict[str, Float[np.ndarray, "..."]],
    h: Real[np.ndarray, "N H"] | Sequence,
    inputs: Integer[np.ndarray, "T N"] | Sequence,
    targets: Integer[np.ndarray, "T N"] | Sequence,
    learning_rate: SupportsFloat,
    max_norm: SupportsFloat,
) -> tuple[float, Float[np.ndarray, "N H"]]:
    """Learn from one batch, and return the loss before the update and the state after the last step.

    The loss is `sequence_nll`, summed over steps and divided by rows. Its gradients go back to `h`, the state before
    the first step, and no further; all five together are clipped to the global norm `max_norm`. Then comes Adagrad:
    `parameters` and `memory`, dicts of the arrays U, W, b, V and c, are written to.

    >>> chars, index = build_vocabulary("hello")
    >>> ids = encode("hello", index)[:, None]
    >>> parameters = initial_parameters(4, 8, np.random.default_rng(0))
    >>> memory = {name: np.zeros_like(p) for name, p in parameters.items()}
    >>> losses = [train_step(parameters, memory, np.zeros((1, 8)), ids[:-1], ids[1:], 0.1, 5.0)[0] for _ in range(50)]
    >>> losses[0] > 4, losses[-1] < 0.1
    (True, True)
    """
    U, W, b, V, c, h = as_floats(*(parameters[name] for name in NAMES), h)
    inputs, targets = (np.asarray(ids, dtype=np.int64) for ids in (inputs, targets))
    H = _states(inputs, h, U, W, b)
    logits = output_layer(H, V, c)
    loss = sequence_nll(logits, targets)
    dH, dV, dc = output_backward(nll_backward(logits, targets), H, V)
    gradients, _ = clip_by_global_norm([*_backward(dH, inputs, h, H, U, W), dV, dc], max_norm)
    for name, g in zip(NAMES, gradients):
        memory[name] += g * g
        parameters[name] -= float(learning_rate) * g / np.sqrt(memory[name] + 1e-8)
    return loss, H[-1].copy()


def fit(
    train_epoch: Callable[[int], object],
    validate: Callable[[int], SupportsFloat],
    max_epochs: SupportsIndex,
    patience: SupportsIndex,
) -> tuple[list[float], int]:
    """Train with early stopping: return all validation losses, and the epoch of the lowest (the first, if several).

    For each epoch, from 0, `train_epoch(epoch)` is called and then `validate(epoch)`, which gives a loss. The end comes
    after `max_epochs`, or when `patience` epochs in a row have brought no new lowest loss; nan is none. A ValueError if
    either number is below 1.

    >>> curve = [3.0, 2.0, 2.5, 2.0, 1.0]
    >>> fit(lambda epoch: None, lambda epoch: curve[epoch], max_epochs=5, patience=2)
    ([3.0, 2.0, 2.5, 2.0], 1)
    """
    most, patient = int(max_epochs), int(patience)
    if most < 1 or patient < 1:
        raise ValueError(f"max_epochs and patience must be at least 1, and are {most} and {patient}.")
    losses: list[float] = []
    lowest, best_epoch, waited = math.inf, 0, 0
    for epoch in range(most):
        train_epoch(epoch)
        losses.append(float(validate(epoch)))
        waited += 1
        if losses[-1] < lowest:
            lowest, best_epoch, waited = losses[-1], epoch, 0
        if waited == patient:
            break
    return losses, best_epoch


def train_model(
    train_ids: Integer[np.ndarray, "L"] | Sequence[SupportsIndex],
    valid_ids: Integer[np.ndarray, "M"] | Sequence[SupportsIndex],
    Q: SupportsIndex,
    max_epochs: SupportsIndex,
    patience: SupportsIndex,
    rng: np.random.Generator,
) -> tuple[dict[str, Float[np.ndarray, "..."]], list[float]]:
    """Train a new network of 24 units on one text, and stop by another one.

    Returns the parameters as they were after the epoch with the fewest bits per character on `valid_ids`, and these
    bits for each epoch. The start is drawn from `rng`.

    >>> ids = np.tile([0, 1, 0, 2], 60)
    >>> rng = np.random.default_rng(0)
    >>> parameters, losses = train_model(ids[:200], ids[200:], 3, max_epochs=15, patience=3, rng=rng)
    >>> bits_per_character(parameters, ids[200:]) == min(losses) < 0.2
    True
    """
    parameters = initial_parameters(Q, 24, rng)
    memory = {name: np.full_like(p, 0.1) for name, p in parameters.items()}
    kept: list[dict[str, np.ndarray]] = []

    def train_epoch(epoch: int) -> None:
        h: np.ndarray = np.zeros((8, 24), dtype=np.float32)
        for inputs, targets in contiguous_batches(train_ids, 8, 16):
            _, h = train_step(parameters, memory, h, inputs, targets, 0.1, 5.0)

    def validate(epoch: int) -> float:
        kept.append({name: p.copy() for name, p in parameters.items()})
        return bits_per_character(parameters, valid_ids)

    losses, best_epoch = fit(train_epoch, validate, max_epochs, patience)
    return kept[best_epoch], losses


def initial_parameters(
    vocabulary_size: SupportsIndex, hidden_size: SupportsIndex, rng: np.random.Generator
) -> dict[str, Float[np.ndarray, "..."]]:
    """Draw the arrays U, W, b, V, c that training starts from, float32, uniform in +-1/sqrt(hidden_size) as PyTorch's.

    >>> {name: array.shape for name, array in initial_parameters(4, 3, np.random.default_rng(0)).items()}
    {'U': (4, 3), 'W': (3, 3), 'b': (3,), 'V': (3, 4), 'c': (4,)}
    """
    Q, H = int(vocabulary_size), int(hidden_size)
    shapes, bound = ((Q, H), (H, H), (H,), (H, Q), (Q,)), 1 / math.sqrt(H)
    return {name: rng.uniform(-bound, bound, shape).astype(np.float32) for name, shape in zip(NAMES, shapes)}


def _states(ids: Any, h0: np.ndarray, U: np.ndarray, W: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Run the cell over one-hot inputs, given by their ids, (T, N) or (T,) for one row: the states (T, N, H)."""
    H = (U + b)[np.asarray(ids).reshape(len(ids), -1)]
    recurrent = np.empty_like(h0)
    h = h0
    for state in H:  # holds U[id_t] + b, until it is overwritten with h_t
        np.matmul(h, W, out=recurrent)
        state += recurrent
        h = np.tanh(state, out=state)
    return H


def _backward(
    dH: np.ndarray, ids: np.ndarray, h0: np.ndarray, H: np.ndarray, U: np.ndarray, W: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Go back through `_states` as `rnn_backward` does, to (dU, dW, db)."""
    W_T = W.T.copy()
    dA = 1 - H * H
    dh = np.zeros_like(h0)
    for error, da in zip(dH[::-1], dA[::-1]):
        dh += error
        da *= dh
        np.matmul(da, W_T, out=dh)
    h_prev, errors = np.concatenate([h0[None], H[:-1]]).reshape(-1, len(W)), dA.reshape(-1, len(W))
    # dU[i] sums the errors where id i was read: sorted by id, they are summed in runs. That takes from a quarter to a
    # sixth of the time of np.add.at, and, unlike a product with the one-hot array, no longer for a large vocabulary.
    order = np.argsort(ids, axis=None, kind="stable")
    by_id = ids.reshape(-1)[order]
    begins = np.flatnonzero(np.diff(by_id, prepend=-1))
    dU = np.zeros_like(U)
    dU[by_id[begins]] = np.add.reduceat(errors[order], begins, axis=0)
    return dU, h_prev.T @ errors, errors.sum(axis=0)
