r"""Unit 12. From one sequence to another of a different length: an encoder, a decoder, and a search.

The encoder reads x_1 ... x_S and leaves a summary, its last state. The decoder starts from it and is a language model
of the answer, that ends with a token of its own, eos:

    s_0 = encoder(x)        s_t = GRU(s_{t-1}, y_{t-1}), y_0 = bos        p(y | x) = product over t of p(y_t | s_t)

In training y_{t-1} is the true token, whatever the model would have said: teacher forcing. Its inputs are the targets,
shifted right. In use nobody knows y_{t-1}, and the best answer has to be searched for: greedily, one token at a time,
or with a beam that keeps the `width` best beginnings. Neither need find the best of all; a wider beam looks further.

The search sees the model as one function, `step(token, state) -> (log_probabilities (V,), state)`, and needs no torch.
The modules `Encoder`, `Decoder`, `Seq2Seq`, `ImageCaptioner` and the adapter `decoder_step` stand in
`rnncourse.encoder_decoder_torch`.

Sources: I. Sutskever, O. Vinyals, Q. V. Le, "Sequence to Sequence Learning with Neural Networks", NeurIPS 2014; K. Cho
et al., "Learning Phrase Representations using RNN Encoder-Decoder for Statistical Machine Translation", EMNLP 2014;
R. A. Wagner, M. J. Fischer, "The String-to-String Correction Problem", Journal of the ACM 21, 1974 (the distance).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, SupportsFloat, SupportsIndex

import numpy as np
from jaxtyping import Float, Integer, Shaped

# (token, state) -> (log-probabilities of the next token (V,), next state). A state may be anything; one state is handed
# to several calls, so a step returns a new one and leaves the old as it was.
Step = Callable[[int, Any], tuple[Any, Any]]


def shift_right(targets: Shaped[Any, "T *axes"] | Sequence, bos: SupportsIndex) -> Shaped[Any, "T *axes"]:
    """Make the decoder's inputs from its targets: bos first, then each target but the last.

    Time is axis 0; shape and dtype are kept. A tensor gives a tensor, an array or a list an array, always a new one.

    >>> shift_right([[7, 8], [9, 2], [2, 0]], bos=1).tolist()
    [[1, 1], [7, 8], [9, 2]]
    """
    given = np.asarray(targets) if isinstance(targets, (np.ndarray, Sequence)) else targets
    shifted = given.copy() if isinstance(given, np.ndarray) else given.clone()
    shifted[:1] = int(bos)
    shifted[1:] = given[:-1]
    return shifted


def greedy_decode(
    step: Step, state: Any, bos: SupportsIndex, eos: SupportsIndex, max_length: SupportsIndex
) -> list[int]:
    """Take the most probable token at every step, until it is eos or `step` has been called max_length times.

    Only the new tokens are returned, without bos and eos. Of equally probable tokens the lowest wins.

    >>> count_to_three = lambda token, state: (np.log(np.eye(5)[state] + 1e-9), state + 1)
    >>> greedy_decode(count_to_three, 1, bos=0, eos=4, max_length=10)
    [1, 2, 3]
    """
    token, end, tokens = int(bos), int(eos), []
    for _ in range(int(max_length)):
        log_probabilities, state = step(token, state)
        token = int(np.argmax(_as_array(log_probabilities)))
        if token == end:
            break
        tokens.append(token)
    return tokens


class _Hypothesis(NamedTuple):
    """A beginning of an answer, or a whole one; the model goes on from its last token and state."""

    tokens: list[int]
    score: float
    last: int
    state: Any
    ended: bool

    def normalised(self, alpha: float) -> float:
        """Return the score divided by length to the power of alpha; eos is part of the length."""
        return self.score / (len(self.tokens) + self.ended) ** alpha if alpha else self.score


def beam_search(
    step: Step, state: Any, bos: SupportsIndex, eos: SupportsIndex, max_length: SupportsIndex, width: SupportsIndex
) -> list[tuple[list[int], float]]:
    """Keep the `width` best beginnings at every step and return the last of them as (tokens, score), best first.

    A score is the sum of all log-probabilities, that of eos too, and is not divided by the length. A hypothesis that
    ended with eos stays in the beam with its score, takes up one of its places, and is overtaken only by better ones.
    `step` is called at most max_length times along one path; a hypothesis that has not ended by then is returned as it
    is. Tokens are without bos and eos. What has probability 0 (-inf) is no hypothesis, so that there may be fewer
    than `width`. Among equal scores the one with the better beginning comes first, then the one with the lower token;
    so width = 1 is the greedy search. A ValueError if width is less than 1.

    The greedy search takes token 1, which is most probable at first, and is punished for it:

    >>> table = np.log([[0.0, 0.6, 0.4], [0.4, 0.3, 0.3], [0.9, 0.05, 0.05]] + np.array(1e-9))
    >>> step = lambda token, state: (table[token], state)
    >>> [beam_search(step, None, bos=0, eos=0, max_length=2, width=width)[0][0] for width in (1, 2)]
    [[1], [2]]
    """
    return normalised_beam_search(step, state, bos, eos, max_length, width, alpha=0.0)


def normalised_beam_search(
    step: Step,
    state: Any,
    bos: SupportsIndex,
    eos: SupportsIndex,
    max_length: SupportsIndex,
    width: SupportsIndex,
    alpha: SupportsFloat,
) -> list[tuple[list[int], float]]:
    """`beam_search`, but what is compared and returned is the sum of log-probabilities over length ** alpha.

    The length counts every token that was scored, eos too. Each token adds a negative number to the sum, so that sums
    favour the short: with alpha = 1 it is the mean that counts, with alpha = 0 it is `beam_search`.

    To stop at once has 0.4, to stop after one token 0.6 * 0.6 = 0.36. By the token the second is the better one:

    >>> table = np.log([[0.4, 0.6], [0.6, 0.4]])
    >>> step = lambda token, state: (table[token], state)
    >>> [normalised_beam_search(step, None, 0, 0, 2, 3, alpha)[0][0] for alpha in (0.0, 1.0)]
    [[], [1]]
    """
    places, end, power = int(width), int(eos), float(alpha)
    if places < 1:
        raise ValueError(f"width must be at least 1, and is {places}.")
    beam = [_Hypothesis([], 0.0, int(bos), state, ended=False)]
    for _ in range(int(max_length)):
        candidates = []
        for hypothesis in beam:
            if hypothesis.ended:
                candidates.append(hypothesis)
                continue
            log_probabilities, after = step(hypothesis.last, hypothesis.state)
            scores = hypothesis.score + _as_array(log_probabilities)
            for token in np.argsort(-scores, kind="stable")[:places].tolist():  # no other can be among the best
                if scores[token] > -np.inf:
                    tokens = hypothesis.tokens if token == end else [*hypothesis.tokens, token]
                    candidates.append(_Hypothesis(tokens, float(scores[token]), token, after, token == end))
        # stable: equals stay in the order of the beam
        candidates.sort(key=lambda candidate: -candidate.normalised(power))
        beam = candidates[:places]
        if all(hypothesis.ended for hypothesis in beam):
            break
    return [(list(hypothesis.tokens), hypothesis.normalised(power)) for hypothesis in beam]


def _as_array(log_probabilities: Any) -> Float[np.ndarray, "..."]:
    """Turn log-probabilities, a list, an array or a tensor, into float64, in which they are summed."""
    if hasattr(log_probabilities, "detach"):  # a tensor, which may still hold on to its gradient
        log_probabilities = log_probabilities.detach()
    return np.asarray(log_probabilities, dtype=np.float64)


def edit_distance(a: Sequence | Shaped[Any, "_"], b: Sequence | Shaped[Any, "_"]) -> int:
    """Count the edits that turn a into b at least: insertions, deletions and replacements, each at cost 1.

    d_ij, the distance of the first i items of a from the first j of b, follows from three neighbours; one row is kept:

        d_ij = min(d_{i-1,j} + 1, d_{i,j-1} + 1, d_{i-1,j-1} + (a_i differs from b_j))

    >>> edit_distance("kitten", "sitting"), edit_distance([3, 1, 2], [1, 2])
    (3, 1)
    """
    row = list(range(len(b) + 1))
    for i, item in enumerate(a, start=1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(b, start=1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + bool(item != other))
    return row[-1]


def exact_match(predictions: Sequence | Shaped[Any, "N ..."], targets: Sequence | Shaped[Any, "N ..."]) -> float:
    """Return the share of predictions, from 0 to 1, that are their target from beginning to end.

    A ValueError if there is not one target for each prediction, or none at all.

    >>> exact_match(["1999-12-31", "2000-01-01"], ["1999-12-31", "2000-01-10"])
    0.5
    """
    if len(predictions) != len(targets):
        raise ValueError(f"There are {len(predictions)} predictions for {len(targets)} targets.")
    if len(targets) == 0:
        raise ValueError("exact_match needs at least one prediction.")
    matches = sum(_plain(prediction) == _plain(target) for prediction, target in zip(predictions, targets))
    return matches / len(targets)


def _plain(answer: Any) -> Any:
    """Turn an array, a tensor or a tuple into a list, so that `==` compares what they hold."""
    if hasattr(answer, "tolist"):
        return answer.tolist()
    return list(answer) if isinstance(answer, tuple) else answer


def bleu(
    prediction: Sequence | Shaped[Any, "_"], reference: Sequence | Shaped[Any, "_"], max_n: SupportsIndex = 4
) -> float:
    """Compare two sequences of tokens by the n-grams that they share, from 0 (nothing) to 1 (the same).

    p_n is the share of the n-grams of the prediction that the reference has as well, each at most as often as it
    stands there. BLEU is the geometric mean of p_1 to p_max_n times the brevity penalty, min(1, exp(1 - r / c)) for a
    prediction of c tokens and a reference of r. It is 0 where an order has no match, so also where the prediction has
    fewer than max_n tokens. No smoothing. A ValueError if max_n is less than 1.

    Source: K. Papineni, S. Roukos, T. Ward, W.-J. Zhu, "BLEU: a Method for Automatic Evaluation of Machine
    Translation", ACL 2002, here for one sentence and one reference.

    >>> round(bleu("the cat sat on the mat".split(), "the cat is on the mat".split(), max_n=2), 3)
    0.707
    >>> bleu("the the the".split(), "the cat".split(), max_n=1), round(bleu("abcd", "abcde"), 3)
    (0.3333333333333333, 0.779)
    """
    orders, c, r = int(max_n), len(prediction), len(reference)
    if orders < 1:
        raise ValueError(f"max_n must be at least 1, and is {orders}.")
    logs = []
    for n in range(1, orders + 1):
        said, true = _ngrams(prediction, n), _ngrams(reference, n)
        matches = (said & true).total()  # the lesser of both counts
        if matches == 0:
            return 0.0
        logs.append(math.log(matches / said.total()))
    return math.exp(min(0.0, 1 - r / c) + sum(logs) / orders)


def _ngrams(tokens: Sequence | Shaped[Any, "_"], n: int) -> Counter[tuple]:
    """Count the n-grams of a sequence."""
    plain = list(_plain(tokens))
    return Counter(zip(*(plain[k:] for k in range(n))))


def ctc_log_likelihood(
    log_probabilities: Float[Any, "T Q"] | Sequence,
    targets: Integer[Any, "L"] | Sequence[int],
    blank: SupportsIndex = 0,
) -> float:
    """Return log p(targets | x): the probability of all paths of T symbols that collapse to the targets.

    A path is collapsed by merging equal neighbours, and then dropping the blanks. log_probabilities (T, Q), natural
    logarithms, may be an array, a tensor or a list; targets (L,) are without blanks. What no path of T symbols can be
    collapsed to has -inf.

    With u = blank, y_1, blank, ..., y_L, blank, of 2 L + 1 symbols, A_t[k] is the probability of all beginnings of a
    path up to step t that have come to u_k. A path stays, goes one further, or leaves a blank out, if the symbols on
    both sides of it differ; a table like that of `edit_distance`, in which ways are added up:

        A_t[k] = p_t(u_k) (A_{t-1}[k] + A_{t-1}[k-1] + [u_k not blank, u_k not u_{k-2}] A_{t-1}[k-2])

    Source: A. Graves, S. Fernandez, F. Gomez, J. Schmidhuber, "Connectionist Temporal Classification", ICML 2006.

    >>> log_p = np.log([[0.5, 0.5], [0.5, 0.5]])
    >>> round(math.exp(ctc_log_likelihood(log_p, [1])), 3), ctc_log_likelihood(log_p, [1, 1])  # 1 1, 1 -, - 1
    (0.75, -inf)
    """
    log_p = _as_array(log_probabilities)
    ids = np.asarray(_plain(targets), dtype=np.int64)
    symbols = np.full(2 * len(ids) + 1, int(blank))
    symbols[1::2] = ids
    may_skip = np.zeros(len(symbols), dtype=bool)
    may_skip[1::2] = True
    may_skip[3::2] = ids[1:] != ids[:-1]
    alpha = np.full(len(symbols) + 2, -np.inf)  # two places in front: nothing comes from there but the start
    alpha[1] = 0.0
    for row in log_p[:, symbols]:
        skipped = np.where(may_skip, alpha[:-2], -np.inf)
        alpha[2:] = np.logaddexp(np.logaddexp(alpha[2:], alpha[1:-1]), skipped) + row
        alpha[:2] = -np.inf
    return float(np.logaddexp(alpha[-1], alpha[-2]))  # it may end with the last symbol or with the blank behind it
