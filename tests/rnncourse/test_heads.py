"""Unit 11: the heads against `torch.nn` and unit 03's cell, padding against sequences alone, and who gets gradient."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rnncourse.bidirectional import both_states, final_summary
from rnncourse.cell import output_layer, rnn_forward
from rnncourse.heads import (
    BidirectionalClassifier,
    OneToOne,
    SequenceClassifier,
    SequenceGenerator,
    SequenceTagger,
    architecture,
    gradient_support,
    run_padded,
)
from tests.rnncourse.oracles import assert_close, different_sizes, drawn, seeds, torch_types

pools = pytest.mark.parametrize("pool", ["last", "mean"])
sizes = different_sizes(5)


def draw(kind, sizes, seed, dtype=torch.float64, **settings):
    """A module of the kind, an input, a state that is not zero, and lengths of which one is T."""
    T, N, D, H, Q = sizes
    torch.manual_seed(seed)
    model = kind(D, H, D if kind is SequenceGenerator else Q, **settings).to(dtype)
    lengths = torch.randint(1, T + 1, (N,))
    lengths[torch.randint(N, ())] = T
    return model, torch.randn(T, N, D, dtype=dtype), torch.randn(1, N, H, dtype=dtype), lengths


def arrays(model):
    """U, W, b, V and c of the module, as in unit 03."""
    p = {name: value.detach().numpy() for name, value in model.state_dict().items()}
    b = p["rnn.bias_ih_l0"] + p["rnn.bias_hh_l0"]
    return p["rnn.weight_ih_l0"].T, p["rnn.weight_hh_l0"].T, b, p["head.weight"].T, p["head.bias"]


@torch_types
@drawn
@given(sizes, seeds)
def test_one_to_one_is_two_layers_with_a_tanh_between(dtype, sizes, seed):
    model, x, _, _ = draw(OneToOne, sizes, seed, dtype)
    W, b, V, c = model.state_dict().values()
    assert_close(model(x[0]), torch.tanh(x[0] @ W.T + b) @ V.T + c)
    assert [name for name, _ in model.named_children()] == ["hidden", "head"]


@torch_types
@drawn
@given(sizes, seeds)
def test_the_tagger_is_unit_03s_network_at_every_step(dtype, sizes, seed):
    model, x, h0, _ = draw(SequenceTagger, sizes, seed, dtype)
    U, W, b, V, c = arrays(model)
    for given_state, start in ((None, torch.zeros_like(h0)), (h0, h0)):
        expected = output_layer(rnn_forward(x.numpy(), start[0].numpy(), U, W, b), V, c)
        assert_close(model(x, given_state).detach(), torch.from_numpy(expected))


@pools
@torch_types
@drawn
@given(sizes, seeds)
def test_the_classifier_gives_for_a_padded_batch_what_each_sequence_gives_alone(dtype, pool, sizes, seed):
    model, x, _, lengths = draw(SequenceClassifier, sizes, seed, dtype, pool=pool)
    alone = []
    for n, length in enumerate(lengths):
        states, _ = model.rnn(x[:length, n : n + 1])
        alone.append(model.head(states[-1] if pool == "last" else states.mean(dim=0)))
    expected = torch.cat(alone)
    for given_lengths in (lengths, lengths.int(), lengths.tolist(), lengths.numpy().astype(np.uint8)):
        logits = model(x, given_lengths)
        assert_close(logits, expected)
    longer = torch.cat([x, x])
    assert_close(model(longer, lengths), expected)
    assert run_padded(model.rnn, longer, lengths)[0].shape == (2 * sizes[0], sizes[1], sizes[3])
    assert_close(model(x), model(x, torch.full_like(lengths, len(x))))


@pools
def test_whatever_stands_in_the_padding_reaches_neither_the_logits_nor_a_gradient(pool):
    model, x, _, _ = draw(SequenceClassifier, (4, 2, 3, 5, 6), 0, pool=pool)
    read_only = np.array([4, 2])
    read_only.flags.writeable = False
    gradients = []
    for filling in (0.0, float("nan")):
        x[2:, 1] = filling
        leaf = x.clone().requires_grad_()
        model.zero_grad()
        logits = model(leaf, read_only)
        logits.square().sum().backward()
        gradients.append([logits, leaf.grad, *(p.grad.clone() for p in model.parameters())])
    for at_zero, at_nan in zip(*gradients, strict=True):
        assert torch.equal(at_zero, at_nan)


@torch_types
@drawn
@given(sizes, seeds, st.integers(1, 6))
def test_the_generator_reads_each_of_its_outputs_as_the_next_input(dtype, sizes, seed, steps):
    model, x, h0, _ = draw(SequenceGenerator, sizes, seed, dtype)
    outputs = model(x[0], steps)
    assert len(outputs) == steps
    # Fed with what it said, a tagger with the same weights says it again.
    inputs = torch.cat([x[:1], outputs[:-1]])
    assert_close(outputs, model.head(model.rnn(inputs, torch.zeros_like(h0))[0]))


def test_what_makes_no_sense_is_an_error_that_says_so():
    for counts in ((0, 1), (1, 0), (-1, -1)):
        with pytest.raises(ValueError, match="at least one"):
            architecture(*counts)
    with pytest.raises(ValueError, match='"last" or "mean"'):
        SequenceClassifier(3, 5, 4, pool="max")
    with pytest.raises(ValueError, match="how must be"):
        BidirectionalClassifier(9, 2, 3, 4, "mean")
    with pytest.raises(ValueError, match="at least 1"):
        SequenceGenerator(3, 5, 3)(torch.zeros(2, 3), steps=0)
    with pytest.raises(ValueError, match="next input"):
        SequenceGenerator(3, 5, 4)


def support(model, steps=5, t=2):
    torch.manual_seed(0)
    return gradient_support(model, torch.randn(steps, 2, 3), t).int().tolist()


def test_an_output_of_the_tagger_gets_gradient_from_its_past_and_a_two_way_one_from_everywhere():
    assert [support(SequenceTagger(3, 5, 4), t=t) for t in (0, 2, 4)] == [[1, 0, 0, 0, 0], [1, 1, 1, 0, 0], [1] * 5]
    both = torch.nn.RNN(3, 5, bidirectional=True)
    assert support(lambda x: both(x)[0]) == [1] * 5


def test_the_other_architectures_have_the_support_that_the_table_says():
    classify, generate = SequenceClassifier(3, 5, 4), SequenceGenerator(3, 5, 3)
    assert support(OneToOne(3, 5, 4)) == [0, 0, 1, 0, 0]  # at each step by itself
    assert support(lambda x: x.sum(dim=(1, 2)), t=-1) == [0, 0, 0, 0, 1]
    for cut in (lambda x: generate(x[0].detach(), 5), lambda x: generate(x[0], 5).detach(), torch.zeros_like):
        assert support(cut) == [0] * 5
    assert support(lambda x: classify(x)[None], t=0) == [1] * 5
    assert support(lambda x: classify(x, [3, 2])[None], t=0) == [1, 1, 1, 0, 0]
    assert support(lambda x: generate(x[0], 5), t=3) == [1, 0, 0, 0, 0]


def test_the_weighted_sum_sees_through_a_softmax_where_a_plain_sum_is_constant():
    model = SequenceTagger(3, 5, 4).double()
    x = torch.randn(4, 2, 3, dtype=torch.float64)
    assert gradient_support(lambda x: model(x).softmax(dim=-1), x, 3).tolist() == [True] * 4
    assert gradient_support(lambda x: model(x).log_softmax(dim=-1), x, 3).tolist() == [True] * 4
    # A softmax' plain sum has a gradient of rounding errors; here it is 0 without any.
    assert gradient_support(lambda x: torch.cat([x, -x], dim=-1), x, 3).tolist() == [False, False, False, True]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_asking_for_the_support_changes_nothing(dtype):
    model = SequenceTagger(3, 5, 4).to(torch.float64 if dtype == torch.float64 else torch.float32)
    x = torch.ones(4, 2, 3, dtype=dtype)
    before, state = x.clone(), torch.get_rng_state()

    def writes_to_its_input(x):
        x += 1
        return model(x)

    with torch.no_grad():
        found = gradient_support(writes_to_its_input, x, 1)
    assert found.tolist() == [True, True, False, False]
    assert found.dtype == torch.bool
    assert torch.equal(x, before)
    assert not x.requires_grad
    assert torch.equal(torch.get_rng_state(), state)
    assert all(p.grad is None for p in model.parameters())


@pytest.mark.parametrize("how", ["concat", "sum", "product"])
@drawn
@given(sizes, seeds)
def test_the_bidirectional_classifier_reads_unit_09s_summary(how, sizes, seed):
    T, N, E, H, Q = sizes
    torch.manual_seed(seed)
    model, ids = BidirectionalClassifier(9, E, H, Q, how).double(), torch.randint(0, 9, (T, N))
    lengths = torch.randint(1, T + 1, (N,))
    p = {name: value.detach().numpy() for name, value in model.state_dict().items()}
    ways = [
        (p[f"rnn.weight_ih_l0{s}"].T, p[f"rnn.weight_hh_l0{s}"].T, p[f"rnn.bias_ih_l0{s}"] + p[f"rnn.bias_hh_l0{s}"])
        for s in ("", "_reverse")
    ]
    embedded = p["embedding.weight"][ids]
    for ends in (lengths, None):
        real = np.full(N, T) if ends is None else ends.numpy()
        expected = final_summary(*both_states(embedded, *ways, real), real, how) @ p["head.weight"].T + p["head.bias"]
        assert_close(model(ids, ends).detach(), torch.tensor(expected))
    changed = torch.where(torch.arange(T)[:, None] < lengths, ids, (ids + 1) % 9)
    assert_close(model(changed, lengths), model(ids, lengths))
