"""Unit 09: both directions against `torch.nn.RNN(bidirectional=True)`, packed where lengths differ; and the tagger."""

from itertools import pairwise, product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from rnncourse.bidirectional import (
    BiTagger,
    backward_from_both,
    bidirectional_backward,
    bidirectional_forward,
    both_states,
    combine,
    final_summary,
    hmm_forward,
    reverse_sequence,
)
from rnncourse.bidirectional_torch import HiddenMarkov
from tests.rnncourse.oracles import assert_close, different_sizes, drawn, float_types, loaded_rnn, pick, seeds

sizes = different_sizes(4)

every_how = pytest.mark.parametrize("how", ["concat", "sum", "product"])


def draw(sizes, seed, dtype=np.float64, how="concat"):
    """X, two directions that differ, lengths of which one is T, and errors of the combined states."""
    T, N, D, H = sizes
    rng = np.random.default_rng(seed)

    def normal(*shape):
        return rng.normal(scale=0.7, size=shape).astype(dtype)

    lengths = rng.integers(1, T + 1, size=N)
    lengths[rng.integers(N)] = T
    return {
        "X": normal(T, N, D),
        "forward": (normal(D, H), normal(H, H), normal(H)),
        "backward": (normal(D, H), normal(H, H), normal(H)),
        "lengths": lengths,
        "dH": normal(T, N, 2 * H if how == "concat" else H),
    }


def network(p):
    return pick(p, "X", "forward", "backward")


def torch_rnn(p):
    return loaded_rnn([p["forward"], p["backward"]], bidirectional=True)


def packed(p):
    return pack_padded_sequence(torch.tensor(p["X"]), torch.tensor(p["lengths"]), enforce_sorted=False)


def torch_combine(states, how):
    forward, backward = states.chunk(2, dim=-1)
    return {"concat": lambda: states, "sum": lambda: forward + backward, "product": lambda: forward * backward}[how]()


def real(lengths, steps):
    """True where a step of a sequence is real, (T, N)."""
    return np.arange(steps)[:, None] < lengths


@drawn
@given(st.lists(st.integers(1, 6), min_size=2, max_size=4), seeds, st.sampled_from([int, np.float32, bool, str]))
def test_sequences_are_reversed_within_their_lengths_whatever_they_hold(shape, seed, kind):
    rng = np.random.default_rng(seed)
    X = rng.integers(100, size=shape).astype(kind)
    lengths = rng.integers(shape[0] + 1, size=shape[1])  # an empty sequence is all padding
    result = reverse_sequence(X, lengths)
    assert result.dtype == X.dtype
    for n, length in enumerate(lengths):
        np.testing.assert_array_equal(result[:, n], [*X[:length, n][::-1], *X[length:, n]])
    np.testing.assert_array_equal(reverse_sequence(result, lengths), X)
    np.testing.assert_array_equal(reverse_sequence(X), X[::-1])
    np.testing.assert_array_equal(reverse_sequence(X, [shape[0]] * shape[1]), X[::-1])


@pytest.mark.parametrize("how", ["average", "", "Concat"])
def test_any_other_way_is_an_error(how):
    p = draw((4, 2, 3, 5), seed=0)
    for function, arguments in (
        (combine, [p["X"], p["X"]]),
        (bidirectional_forward, network(p)),
        (bidirectional_backward, [p["dH"], *network(p)]),
    ):
        with pytest.raises(ValueError, match='"concat", "sum" or "product"'):
            function(*arguments, how)


@every_how
@float_types
@drawn
@given(sizes, seeds)
def test_both_directions_are_pytorchs_forwards_and_backwards(dtype, how, sizes, seed):
    p = draw(sizes, seed, dtype, how)
    module, x = torch_rnn(p), torch.tensor(p["X"], requires_grad=True)
    expected = torch_combine(module(x)[0], how)
    assert_close(bidirectional_forward(*network(p), how), expected)
    dX, *parameters = torch.autograd.grad(expected, [x, *module.parameters()], torch.tensor(p["dH"]))
    expected = [dX, *((U.T, W.T, b) for U, W, b, _ in (parameters[:4], parameters[4:]))]
    assert_close(bidirectional_backward(p["dH"], *network(p), how), expected)
    states = both_states(*network(p))
    assert_close(backward_from_both(p["dH"], p["X"], *states, p["forward"], p["backward"], how), expected)


@every_how
@drawn
@given(sizes, seeds)
def test_with_lengths_they_are_pytorchs_on_a_packed_sequence_and_end_with_its_h_n(how, sizes, seed):
    p = draw(sizes, seed)
    states, last = torch_rnn(p)(packed(p))
    where = real(p["lengths"], sizes[0])
    expected = torch_combine(pad_packed_sequence(states)[0], how)
    assert_close(bidirectional_forward(*network(p), how, p["lengths"])[where], expected[where])
    summary = final_summary(*both_states(*network(p), p["lengths"]), p["lengths"], how)
    assert_close(summary, torch_combine(torch.cat([*last], dim=-1), how))


def tagger_and_batch(sizes, seed):
    """A tagger in float64 over 9 words, with ids and lengths."""
    T, N, E, H = sizes
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed % 2**31)
    p = draw(sizes, seed)
    return BiTagger(9, E, H, tags=4).double(), torch.tensor(rng.integers(9, size=(T, N))), p["lengths"]


@drawn
@given(sizes, seeds)
def test_the_tagger_is_an_embedding_both_directions_and_a_linear_layer(sizes, seed):
    tagger, ids, lengths = tagger_and_batch(sizes, seed)
    state = {name: array.numpy() for name, array in tagger.rnn.state_dict().items()}
    ways = [
        (state[f"weight_ih_l0{s}"].T, state[f"weight_hh_l0{s}"].T, state[f"bias_ih_l0{s}"] + state[f"bias_hh_l0{s}"])
        for s in ("", "_reverse")
    ]
    embedded = tagger.embedding.weight.detach().numpy()[ids]
    V, c = tagger.output.weight.detach().numpy().T, tagger.output.bias.detach().numpy()
    for ends in (None, lengths):
        where = real(lengths if ends is not None else np.full(sizes[1], sizes[0]), sizes[0])
        expected = bidirectional_forward(embedded, *ways, lengths=ends) @ V + c
        logits = tagger(ids, ends)
        assert logits.shape == (*ids.shape, 4)
        assert_close(logits[where], expected[where])


def test_no_sequence_needs_to_be_as_long_as_the_padding():
    tagger, ids, _ = tagger_and_batch((5, 3, 2, 4), seed=0)
    logits = tagger(ids, [2, 3, 1])
    assert logits.shape == (5, 3, 4)
    torch.testing.assert_close(logits[:3, 1:2], tagger(ids[:3, 1:2]), rtol=0, atol=1e-12)


def draw_markov(sizes, seed, dtype=np.float64):
    """Start, transition and emission of a hidden Markov model, and observations."""
    T, K, Q, _ = sizes
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), K), rng.dirichlet(np.ones(Q), K)
    return *(a.astype(dtype) for a in p), rng.integers(Q, size=T)


@drawn
@given(sizes, seeds)
def test_the_forward_algorithm_sums_over_all_paths(sizes, seed):
    start, transition, emission, seen = draw_markov([min(size, 4) for size in sizes], seed)
    joint = np.zeros((len(seen), len(start)))  # of the state at t with all observations up to t
    for t in range(len(seen)):
        for path in product(range(len(start)), repeat=t + 1):
            moves = [transition[a, b] for a, b in pairwise(path)]
            joint[t, path[-1]] += start[path[0]] * np.prod(moves) * np.prod(emission[list(path), seen[: t + 1]])
    filtered, log_likelihood = hmm_forward(start, transition, emission, seen)
    np.testing.assert_allclose(filtered, joint / joint.sum(axis=1, keepdims=True), rtol=1e-9)
    assert log_likelihood == pytest.approx(np.log(joint[-1].sum()), rel=1e-9)


@drawn
@given(sizes, seeds)
def test_a_trainable_markov_model_gives_the_log_likelihood_symbol_by_symbol(sizes, seed):
    T, K, Q, N = sizes
    torch.manual_seed(seed % 2**31)
    model, ids = HiddenMarkov(K, Q).double(), torch.randint(0, Q, (T, N))
    log_p = model(ids)
    assert log_p.shape == (T, N)
    p = [a.softmax(dim=-1).detach().numpy() for a in (model.start, model.transition, model.emission)]
    expected = [hmm_forward(*p, ids[:, n].numpy())[1] for n in range(N)]
    np.testing.assert_allclose(log_p.sum(dim=0).detach(), expected, rtol=1e-9)


def test_observations_that_a_model_cannot_give_are_an_error():
    with pytest.raises(ValueError, match="cannot give what was observed at step 1"):
        hmm_forward([1.0], [[1.0]], [[1.0, 0.0]], [0, 1])
