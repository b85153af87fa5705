"""Unit 07: a tape and own modules against PyTorch's, padding against packing, an epoch against one spelled out."""

import copy

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional
from torch.nn.utils import rnn as torch_rnn_utils

from rnncourse.cell import rnn_forward
from rnncourse.torch_rnn import (
    CharRNN,
    ScratchRNN,
    Var,
    as_torch_rnn,
    last_states,
    length_mask,
    masked_cross_entropy,
    pad_sequences,
    train_epoch,
)
from tests.rnncourse.oracles import assert_close, different_sizes, drawn, seeds, torch_types

sizes = different_sizes(4)  # steps, rows, inputs, hidden units
lengths_drawn = st.lists(st.integers(1, 6), min_size=1, max_size=5)


def draw(sizes, seed, dtype=torch.float64):
    """An own module, PyTorch's with the same weights, an input, and a state that is not zero."""
    T, N, D, H = sizes
    torch.manual_seed(seed)
    own = ScratchRNN(D, H).to(dtype)
    x, h0 = torch.randn(T, N, D, dtype=dtype), torch.randn(1, N, H, dtype=dtype)
    return own, as_torch_rnn(own.U, own.W, own.b), x, h0


@torch_types
@pytest.mark.parametrize("with_state", [True, False])
@drawn
@given(sizes, seeds)
def test_the_own_module_is_pytorchs_forwards_and_backwards(dtype, with_state, sizes, seed):
    own, theirs, x, h0 = draw(sizes, seed, dtype)
    runs = []
    for module in (own, theirs):
        leaves = [x.clone().requires_grad_(), h0.clone().requires_grad_()]
        output, h_n = module(*leaves) if with_state else module(leaves[0])
        torch.manual_seed(seed)
        (torch.randn_like(output) * output).sum().add((torch.randn_like(h_n) * h_n).sum()).backward()
        runs.append([output, h_n, leaves[0].grad, *([leaves[1].grad] if with_state else [])])
    assert_close(*runs)
    expected = [theirs.weight_ih_l0.grad.T, theirs.weight_hh_l0.grad.T, theirs.bias_ih_l0.grad]
    assert_close([own.U.grad, own.W.grad, own.b.grad], expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@drawn
@given(sizes, seeds)
def test_pytorchs_module_gives_the_states_of_the_arrays_that_it_is_built_from(dtype, sizes, seed):
    T, N, D, H = sizes
    rng = np.random.default_rng(seed)
    U, W, b = (rng.normal(size=shape).astype(dtype) for shape in ((D, H), (H, H), (H,)))
    X, h0 = rng.normal(size=(T, N, D)).astype(dtype), rng.normal(size=(N, H)).astype(dtype)
    for convert in (np.asarray, np.asfortranarray, torch.tensor):
        module = as_torch_rnn(convert(U), convert(W), convert(b))
        assert type(module) is torch.nn.RNN
        assert {p.dtype for p in module.parameters()} == {torch.tensor(U).dtype}
        assert all(p.requires_grad for p in module.parameters())
        output, _ = module(torch.tensor(X), torch.tensor(h0)[None])
        np.testing.assert_allclose(output.detach(), rnn_forward(X, h0, U, W, b), rtol=1e-3, atol=1e-4)
        assert_close(module.bias_ih_l0 + module.bias_hh_l0, torch.tensor(b))


@drawn
@given(sizes, seeds)
def test_the_character_model_is_embedding_recurrence_and_linear_layer(sizes, seed):
    T, N, E, H = sizes
    torch.manual_seed(seed)
    model = CharRNN(9, E, H)
    ids, state = torch.randint(9, (T, N)), torch.randn(1, N, H)
    for given_state in (None, state):
        logits, last = model(ids, given_state)
        states, expected = model.rnn(model.embedding.weight[ids], given_state)
        assert_close([logits, last], [states @ model.output.weight.T + model.output.bias, expected])
    logits.sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.int64, torch.int32, torch.bool])
@drawn
@given(lengths_drawn, st.lists(st.integers(1, 3), max_size=2), seeds)
def test_padding_is_pytorchs_own(dtype, lengths, shape, seed):
    torch.manual_seed(seed)
    sequences = [(9 * torch.randn(length, *shape)).to(dtype) for length in lengths]
    padded, found = pad_sequences(sequences)
    assert torch.equal(padded, torch_rnn_utils.pad_sequence(sequences))
    assert padded.dtype == dtype
    assert found.tolist() == lengths
    assert found.dtype == torch.int64


def test_sequences_may_be_lists_or_read_only_arrays_and_one_may_be_empty():
    array = np.arange(3)
    array.flags.writeable = False
    padded, lengths = pad_sequences([array, array[:0], array[::-1]])
    assert padded.tolist() == [[0, 0, 2], [1, 0, 1], [2, 0, 0]]
    assert lengths.tolist() == [3, 0, 3]
    assert torch.equal(pad_sequences([[0, 1, 2], [], [2, 1, 0]])[0], padded)


def test_padding_shares_no_memory_with_a_sequence_and_lets_gradients_through():
    alone = torch.ones(3, 2)
    pad_sequences([alone])[0].zero_()
    assert alone.min() == 1
    leaf = torch.ones(2, 2, requires_grad=True)
    pad_sequences([alone, leaf])[0].sum().backward()
    assert leaf.grad.tolist() == [[1, 1], [1, 1]]


@drawn
@given(st.lists(st.integers(0, 6), min_size=1, max_size=5), st.integers(1, 9))
def test_a_mask_is_true_below_the_length_even_beyond_every_length(lengths, T):
    expected = [[t < length for length in lengths] for t in range(T)]
    for given_lengths in (lengths, torch.tensor(lengths), np.array(lengths), torch.tensor(lengths, dtype=torch.int32)):
        mask = length_mask(given_lengths, T)
        assert mask.dtype == torch.bool
        assert mask.tolist() == expected


@torch_types
@drawn
@given(lengths_drawn, st.integers(1, 5), seeds)
def test_the_masked_loss_is_that_of_the_real_tokens_taken_alone(dtype, lengths, Q, seed):
    torch.manual_seed(seed)
    T, N = max(lengths) + 1, len(lengths)
    logits, targets = torch.randn(T, N, Q, dtype=dtype), torch.randint(Q, (T, N))
    alone = [functional.cross_entropy(logits[t, n], targets[t, n]) for n in range(N) for t in range(lengths[n])]
    loss = masked_cross_entropy(logits, targets, length_mask(lengths, T))
    assert_close(loss, sum(alone) / len(alone))


def test_nothing_in_the_padding_reaches_the_loss_or_a_gradient():
    torch.manual_seed(0)
    lengths, targets = torch.tensor([4, 1, 2]), torch.randint(5, (4, 3))
    mask = length_mask(lengths, 4)
    losses, gradients = [], []
    for filling in (0.0, 100.0, float("inf"), float("nan")):
        torch.manual_seed(1)
        logits = torch.randn(4, 3, 5).masked_fill(~mask[..., None], filling).requires_grad_()
        loss = masked_cross_entropy(logits, targets, mask)
        loss.backward()
        losses.append(loss.item())
        gradients.append(logits.grad)
    assert len(set(losses)) == 1
    assert all(torch.equal(gradient, gradients[0]) for gradient in gradients)
    assert torch.equal(gradients[0].abs().sum(-1) > 0, mask)


@drawn
@given(lengths_drawn, seeds)
def test_the_last_real_states_are_those_of_packed_sequences(lengths, seed):
    torch.manual_seed(seed)
    rnn = torch.nn.RNN(3, 5)
    padded, found = pad_sequences([torch.randn(length, 3) for length in lengths])
    packed = torch_rnn_utils.pack_padded_sequence(padded, found, enforce_sorted=False)
    packed_output, expected = rnn(packed)
    output, _ = rnn(padded)
    assert_close([last_states(output, found), last_states(output, lengths)], [expected[0], expected[0]])
    unpacked, _ = torch_rnn_utils.pad_packed_sequence(packed_output)
    assert_close(output * length_mask(found, len(padded))[..., None], unpacked)


def test_last_states_are_copies_through_which_gradients_reach_one_step_a_row():
    H = torch.ones(4, 3, 2, requires_grad=True)
    last = last_states(H, [4, 1, 2])
    last.sum().backward()
    assert H.grad[..., 0].tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, 0]]
    states = torch.ones(4, 3, 2)
    last_states(states, [4, 1, 2]).zero_()
    assert states.min() == 1


def batches_of(shapes, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [tuple(torch.randint(6, shape, generator=generator) for _ in range(2)) for shape in shapes]


@pytest.mark.parametrize("max_norm", [0.05, 1e9])
def test_an_epoch_is_the_loop_spelled_out_in_numpys_and_pytorchs_smallest_steps(max_norm):
    torch.manual_seed(0)
    model = CharRNN(6, 3, 5)
    spelled = copy.deepcopy(model)
    batches = batches_of([(4, 2), (4, 2), (3, 2)])
    result = train_epoch(model, batches, torch.optim.SGD(model.parameters(), lr=0.5), np.float64(max_norm))

    total, state = 0.0, torch.zeros(1, 2, 5)
    for inputs, targets in batches:
        logits, last = spelled(inputs, state)
        losses = -torch.log_softmax(logits, -1).gather(-1, targets[..., None])
        gradients = torch.autograd.grad(losses.mean(), list(spelled.parameters()))
        norm = torch.sqrt(sum((g**2).sum() for g in gradients)).item()
        with torch.no_grad():
            for p, g in zip(spelled.parameters(), gradients, strict=True):
                p -= 0.5 * g * min(1, max_norm / norm)
        total += losses.sum().item()
        state = last.data.clone()
    assert type(result) is float
    assert result == pytest.approx(total / 22, rel=1e-5)
    for mine, other in zip(model.parameters(), spelled.parameters(), strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-5)


def test_without_a_batch_or_a_sequence_there_is_an_error():
    model = CharRNN(6, 3, 5)
    with pytest.raises(ValueError, match="at least one batch"):
        train_epoch(model, [], torch.optim.SGD(model.parameters(), lr=0.5), 1.0)
    with pytest.raises(ValueError, match="at least one"):
        pad_sequences([])


# Each takes what is there already, by places, and makes something of the shape (N, H) of it.
steps = st.tuples(
    st.sampled_from(["add", "tanh", "matmul", "row", "row first", "array"]), st.integers(0), st.integers(0)
)


def any_program(made, W, b, array, program):
    """Run a program on rows, with a matrix, a row and an array that gets no gradient; the same for both kinds."""
    for way, i, j in program:
        x, y = made[i % len(made)], made[j % len(made)]
        made.append(
            {
                "add": lambda x, y: x + y,
                "tanh": lambda x, y: x.tanh(),
                "matmul": lambda x, y: x @ W,
                "row": lambda x, y: x + b,
                "row first": lambda x, y: (b + x).tanh(),
                "array": lambda x, y: array @ x + array @ y,
            }[way](x, y)
        )
    return made[-1].tanh().sum() + (made[0] @ W).sum()


@drawn
@given(sizes, seeds, st.lists(steps, max_size=12))
def test_the_tape_finds_what_pytorch_finds_in_any_program(sizes, seed, program):
    N, H, *_ = sizes
    rng = np.random.default_rng(seed)
    arrays = [rng.normal(size=shape) for shape in ((N, H), (H, H), (H,))]
    still = rng.normal(size=(N, N))
    x, W, b = (Var(array) for array in arrays)
    mine = [x]
    loss = any_program(mine, W, b, still, program)
    leaves = [torch.tensor(array, requires_grad=True) for array in arrays]
    theirs = [leaves[0]]
    expected = any_program(theirs, leaves[1], leaves[2], torch.tensor(still), program)
    for tensor in theirs:
        tensor.retain_grad()
    for times in (1, 2):
        loss.backward()
        expected.backward(retain_graph=True)
        for var, tensor in zip([*mine, W, b], [*theirs, *leaves[1:]], strict=True):
            np.testing.assert_allclose(var.data, tensor.detach(), rtol=1e-9, atol=1e-9)
            zeros = torch.zeros_like(tensor)
            np.testing.assert_allclose(var.grad, zeros if tensor.grad is None else tensor.grad, rtol=1e-9, atol=1e-9)
        assert loss.grad == times


def test_a_tape_of_thousands_of_steps_is_no_deeper_than_a_short_one():
    W, h = Var([[0.9]]), Var([[0.5]])
    for _ in range(3000):
        h = (h @ W).tanh()
    h.sum().backward()
    assert np.isfinite(W.grad).all()


def test_a_tape_keeps_a_copy_in_float64_and_starts_from_a_single_number():
    array = np.ones((2, 3), dtype=np.float32)
    var = Var(array)
    array[...] = 7
    assert var.data.dtype == var.grad.dtype == np.float64
    assert (var.data == 1).all()
    with pytest.raises(ValueError, match="single number"):
        var.backward()
