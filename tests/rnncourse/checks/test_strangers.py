"""Wrong answers as strangers write them: what a message must say of them, and what it must not, since it is not so.

That right ones pass in any style is proved of the alternatives to every exercise.
"""

import re
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from rnncourse import check, exercises
from rnncourse.bptt import rnn_backward
from rnncourse.cell import rnn_forward
from rnncourse.checks.engine import judge
from rnncourse.checks.local import Local
from rnncourse.checks.where.inquiry import Budget
from rnncourse.checks.where.search import find

WRONG = []
NO_HURRY = partial(find, budget=Budget(relations=20.0, together=120.0))  # a busy machine finds what a quiet one does


def wrong(exercise, *says, never=(), lines=()):
    """A wrong answer to the exercise; its message says all of `says` and nothing of `never`. The search for the place
    names `lines`, which is where it goes wrong: mutants would prove nothing here, since they are made of the changes
    that the search tries.
    """

    def add(answer):
        WRONG.append(pytest.param(exercise, answer, says, never, lines, id=f"{exercise}-{answer.__name__}"))
        return answer

    return add


@pytest.mark.parametrize(("exercise", "answer", "says", "never", "lines"), WRONG)
def test_a_message_is_so_and_a_line_is_where_it_goes_wrong(exercise, answer, says, never, lines):
    found = exercises.find(exercise)
    with Local(answer, found.uses) as local:
        verdict = judge(found, local, search=NO_HURRY if lines else None, after_diagnosis=True)
    assert not verdict.passed
    for words in says:
        assert words in verdict.message
    for words in never:
        assert words not in verdict.message
    assert not lines or verdict.where.lines == lines


# --- an error shows the student's own line, whoever raised it


@wrong("stacked_forward", "(in the line `H = rnn_forward(X, h0[l], U, W, b)`", never=["reshape", "gufunc"])
def every_layer_reads_the_input(X, h0, layers):
    for l, (U, W, b) in enumerate(layers):
        H = rnn_forward(X, h0[l], U, W, b)
    return H, h0


@wrong("stacked_backward", "`d = rnn_backward(d, X, h0[l], states, U, W)[0]`", never=["errors @"])
def one_input_for_all(dH_top, X, h0, layers):
    states, d = X, dH_top
    for l, (U, W, b) in enumerate(layers):
        states = rnn_forward(states, h0[l], U, W, b)
    for l, (U, W, _) in reversed(list(enumerate(layers))):
        d = rnn_backward(d, X, h0[l], states, U, W)[0]
    return d, h0, []


@wrong("compose", "(in the line `s = f(s)`)", never=["factor"])
def applied_to_itself(f, times):
    s = f
    for _ in range(times):
        s = f(s)
    return s


@wrong("unfold", "where states is (7,) and s0 is (3, 4))", never=["sequence."])
def numbers_only(f, s0, theta, steps):
    states = np.zeros(steps + 1)
    states[0] = s0
    return states


@wrong("output_layer", "where H is (", " and V.T is (", "; H @ V fits", lines=(2,))
def transposed_once_too_often(H, V, c):
    return H @ V.T + c


@wrong("output_backward", "dO is (", " and V is (", "; dO @ V.T fits", lines=(2,))
def not_transposed(dO, H, V):
    return dO @ V, V, V[0]


@wrong("gate", "math.exp takes one number, np.exp whole arrays")
def with_math(x, h, U, W, b):
    import math

    return 1 / (1 + math.exp(-(x @ U + h @ W + b)))


@wrong("depends_on", "where xx is (4, 3) and y is (4,)")
def two_axes_only(model, xs, eps=1e-3):
    y, xx = model(xs), xs + 0
    return np.any(model(xx) != y, axis=1)


# --- what the check finds wrong with a module is no error of the module's


@wrong("ScratchRNN", "ScratchRNN: the module has no parameter U; it has none.", never=["raised", "line", "drive"])
class NoParameters(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.U = torch.zeros(input_size, hidden_size)


@wrong("masked_cross_entropy", "masked_cross_entropy: no gradient flows back", never=["raised"], lines=(2,))
def a_plain_number(logits, targets, mask):
    return nn.functional.cross_entropy(logits[mask], targets[mask]).item()


@wrong("associative_scan", "abs(): a number that counts its steps", never=["Counted"])
def by_logarithms(a, b, h0):
    return np.cumsum(np.abs(a), axis=0) * h0 + b


# --- what a message says came back is what came back


@wrong("with_spectral_radius", "should raise a ValueError here; it returned a ValueError.", never=["None"], lines=(3,))
def returned_for_raised(W, rho):
    radius = np.abs(np.linalg.eigvals(W)).max()
    return W * rho / radius if radius > 1e-12 else ValueError("no radius")


@wrong("spectral_radius", "a complex number", never=["NumPy scalar"])
def largest_of_complex_ones(W):
    return np.linalg.eigvals(W).max() + 1e-3


@wrong("Seq2Seq", "yours is a tuple of 2", never=["list"])
class LogitsAndState(nn.Module):
    def __init__(self, encoder, decoder, bos):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def forward(self, source, source_lengths, targets):
        return self.decoder(targets, self.encoder(source)[1])


@wrong("count_ngrams", "should have the key", "yours has 'moon', 'tree', 'sun'")
def texts_for_contexts(tokens, n):
    return {" ".join(tokens[i : i + n - 1]): {"x": 1} for i in range(len(tokens) - n + 1)}


@wrong("shared_parameter_count", "yours is the number 972.0", never=["came in on the way"])
def a_float(D, H):
    return D * H + H**2.0 + H


@wrong("beam_search", "should have 1 item;", never=["1 items"])
def nothing_found(step, state, bos, eos, max_length, width):
    return [([], 0.0)] * width


@wrong("to_torch_state", "state['bias_ih_l0 + bias_hh_l0'][0]", lines=(2,))
def thirds_of_the_bias(U, W, b):
    return {"weight_ih_l0": U.T + 0, "weight_hh_l0": W.T + 0, "bias_ih_l0": b / 3, "bias_hh_l0": b / 3}


@wrong("to_torch_state", "should have the key 'bias_hh_l0'; yours has", never=["+"])
def one_bias_only(U, W, b):
    return {"weight_ih_l0": U.T + 0, "weight_hh_l0": W.T + 0, "bias_ih_l0": b + 0}


# --- a cause is named only where it is in the code


@wrong("output_layer", "The bias c has no part in your answer", never=["missing"])
def bias_thrown_away(H, V, c):
    logits = H @ V
    logits + c
    return logits


@wrong("hidden_layer", "has not been through the tanh", never=["There is no tanh"])
def wrong_name_returned(x, W_xh, b_h):
    z = x @ W_xh + b_h
    h = np.tanh(z)  # noqa: F841
    return z


@wrong("orthogonal", "does not come from rng", never=["it is the same"])
def from_elsewhere(rng, n):
    return np.linalg.qr(np.random.randn(n, n))[0]  # noqa: NPY002


@wrong("masked_cross_entropy", "whose target is 0", never=["something else is wrong"])
def id_0_for_padding(logits, targets, mask):
    return nn.functional.cross_entropy(logits.flatten(0, 1), (targets * mask).flatten(), ignore_index=0)


@wrong("decode", "The loop ends in its first round, for `return s` stands inside of it.", lines=(5,))
def returned_too_soon(ids, chars):
    s = ""
    for i in ids:
        s += chars[i]
        return s
    return s


@wrong("sample_index", never=["The loop ends"])
def the_first_that_fits(probabilities, u):
    for i, p in enumerate(probabilities):
        if p <= u:
            continue
        return i
    return 0


@wrong("split_groups", "Of 23 different groups, 2 each belong into validation and test", never=["You count documents"])
def filled_until_a_tenth_of_the_documents_is_there(groups, seed):
    names = list(dict.fromkeys(groups))
    place, sizes = {}, [0, 0]
    for i in np.random.default_rng(seed).permutation(len(names)):
        part = next((k for k in (0, 1) if sizes[k] < len(groups) // 10), 2)
        place[names[i]] = 2 - part
        if part < 2:
            sizes[part] += groups.count(names[i])
    return [[i for i, name in enumerate(groups) if place[name] == part] for part in range(3)]


@wrong("split_groups", "2 each belong into validation and test; yours hold", never=["You count documents"])
def each_group_by_chance(groups, seed):
    rng = np.random.default_rng(seed)
    place = {name: rng.choice(3, p=[0.8, 0.1, 0.1]) for name in dict.fromkeys(groups)}
    return [[i for i, name in enumerate(groups) if place[name] == part] for part in range(3)]


REPORT = """
## Question
{filler}
## Data
{filler}
## Baseline
It needs {baseline:.2f} bits.
## Method
A GRU, learning rate 0.01, run on 12.11.2025 from {seeds} seeds. {filler}
## Results
{verdict} {results}
## Ablation
Without memory it needs {plain:.2f} bits.
## Limits
{filler}
"""


def report(figures, results, wins="The network beats the baseline.", loses="The network does not beat the baseline."):
    network, plain = figures["network"], figures["without memory"]
    return REPORT.format(
        filler="So many words that nobody needs more of them to understand it. " * 4,
        baseline=figures["baseline"],
        seeds=figures["seeds"],
        verdict=wins if network["gain"] > 0 else loses,
        results=results.format(network=network, plain=plain),
        plain=plain["mean"],
    )


def test_a_learning_rate_and_a_date_may_stand_in_a_report():
    assert check(lambda figures: report(figures, "{network[mean]:.3f} ± {network[sd]:.3f}"), "write_report").passed


@wrong("write_report", 'figures["without memory"]["sd"]` does', never=["without its standard deviation"])
def spread_of_the_ablation(figures):
    return report(figures, "{network[mean]:.2f} ± {plain[sd]:.2f}")


@wrong("write_report", "The spread stands where the mean belongs")
def exchanged_in_words(figures):
    return report(figures, "The mean is {network[sd]:.2f}, with a standard deviation of {network[mean]:.2f}.")


@wrong("write_report", 'it says "It beats it" as well')
def says_both(figures):
    loses = "The network does not beat the baseline. It beats it by far."
    return report(figures, "{network[mean]:.2f} ± {network[sd]:.2f}", loses=loses)


@wrong("write_report", "It is 0.05", "typed in")
def typed_spread(figures):
    return report(figures, "{network[mean]:.2f} ± 0.05")


# --- two things at once


@wrong("reverse_sequence", "Two things are wrong. (1) You reverse", "(2) `X[::-1]` is a view", never=["are right"])
def one_block(X, lengths=None):
    return X[::-1]


@wrong("rnn_step_backward", "(1) dh_prev goes through W", "(2) dW is built from h.", lines=(3,))
def h_for_h_prev(dh, x, h_prev, h, U, W):
    da = (1 - h * h) * dh
    return da @ U.T, da @ W, x.T @ da, h.T @ da, da.sum(axis=0)


# --- tables and numbers


def test_two_numbers_that_differ_look_different():
    """In the message and in the table."""

    def min_gru_forward(X, h0, Wz, Wh):
        z, h, states = 1 / (1 + np.exp(-(X @ Wz))), h0, []
        for z_t, x in zip(z, X, strict=True):
            h = (1 - z_t) * h + z_t * (x @ Wh) * (1 + 2e-5)
            states.append(h)
        return np.array(states)

    verdict = check(min_gru_forward)
    expected, got = re.search(r"expected (\S+), got (\S+)", verdict.message).groups()
    assert expected != got
    table = verdict.table
    for a, b, differs in zip(table.expected, table.got, table.wrong, strict=True):
        assert (a != b) == differs or not differs
