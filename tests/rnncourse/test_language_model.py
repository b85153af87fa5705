"""Unit 06: the language model against PyTorch and slow programs that are obvious."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rnncourse.language_model import (
    NAMES,
    bits_per_character,
    build_vocabulary,
    contiguous_batches,
    decode,
    encode,
    fit,
    generate,
    nucleus_filter,
    temperature_softmax,
    top_k_filter,
    train_model,
    train_step,
)
from tests.rnncourse.oracles import assert_close, different_sizes, drawn, float_types, seeds

sizes = different_sizes(4)  # steps, rows, hidden units, characters
EVEN = np.array([0.125, 0.25, 0.125, 0.25, 0.25])  # ties at every rank, and sums that are exact


def draw(sizes, seed, dtype=np.float64):
    """Parameters, a state that is not zero, inputs and targets."""
    T, N, H, Q = sizes
    rng = np.random.default_rng(seed)
    shapes = {"U": (Q, H), "W": (H, H), "b": (H,), "V": (H, Q), "c": (Q,)}
    parameters = {name: rng.normal(scale=0.7, size=shape).astype(dtype) for name, shape in shapes.items()}
    h = rng.uniform(-1, 1, size=(N, H)).astype(dtype)
    return parameters, h, rng.integers(Q, size=(T, N)), rng.integers(Q, size=(T, N))


def copies(arrays):
    return {name: array.copy() for name, array in arrays.items()}


def torch_run(parameters, h, inputs):
    """Logits of all steps and the last state in PyTorch, with inputs that are one-hot in earnest."""
    U, W, b, V, c = (parameters[name] for name in NAMES)
    logits = []
    for x in torch.nn.functional.one_hot(torch.as_tensor(inputs), len(U)).to(U.dtype):
        h = torch.tanh(x @ U + h @ W + b)
        logits.append(h @ V + c)
    return torch.stack(logits), h


def obvious_distributions(parameters, ids):
    """One after the other, the distribution of what follows ids[:1], ids[:2], ..., each from a run of its own."""
    U, W, b, V, c = (parameters[name].astype(np.float64) for name in NAMES)
    for end in range(1, len(ids) + 1):
        h = np.zeros(len(W))
        for i in ids[:end]:
            one_hot = np.zeros(len(U))
            one_hot[i] = 1
            h = np.tanh(one_hot @ U + h @ W + b)
        weights = np.exp(h @ V + c)
        yield weights / weights.sum()


def obvious_generation(parameters, prompt, length, uniforms, temperature):
    """Read everything written so far again for each new id; draw by walking along the distribution."""
    ids = list(prompt)
    for k in range(length):
        *_, p = obvious_distributions(parameters, ids)
        p = p ** (1 / temperature)
        p /= p.sum()
        i, total = 0, p[0]
        while total <= uniforms[k]:
            i += 1
            total += p[i]
        ids.append(i)
    return ids[len(prompt) :]


@drawn
@given(st.text(max_size=30))
def test_a_vocabulary_holds_each_character_once_in_code_point_order_and_its_inverse(text):
    chars, index = build_vocabulary(text)
    assert chars == sorted(chars, key=ord)
    assert set(chars) == set(text)
    assert len(chars) == len(set(text))
    assert {chars[i]: i for i in range(len(chars))} == index
    assert type(chars) is list
    assert type(index) is dict


@drawn
@given(st.text(max_size=30))
def test_decoding_undoes_encoding(text):
    chars, index = build_vocabulary(text)
    ids = encode(text, index)
    assert ids.shape == (len(text),)
    assert ids.dtype == np.int64
    assert decode(ids, chars) == decode(ids.tolist(), chars) == decode(ids.astype(np.uint8), chars) == text


def test_an_unknown_character_is_a_key_error_and_leaves_the_index_as_it_was():
    _, index = build_vocabulary("hello")
    with pytest.raises(KeyError):
        encode("help", index)
    assert index == {"e": 0, "h": 1, "l": 2, "o": 3}


@drawn
@given(st.integers(1, 60), st.integers(1, 6), st.integers(1, 7))
def test_batches_are_the_windows_that_the_definition_names(length, batch_size, steps):
    ids = np.random.default_rng(length).permutation(1000)[:length]
    batches = list(contiguous_batches(ids, batch_size, steps))
    row_length = (length - 1) // batch_size
    assert len(batches) == row_length // steps
    for k, (inputs, targets) in enumerate(batches):
        assert inputs.shape == targets.shape == (steps, batch_size)
        for n in range(batch_size):
            row = ids[n * row_length : (n + 1) * row_length + 1]
            assert inputs[:, n].tolist() == row[k * steps : (k + 1) * steps].tolist()
            assert targets[:, n].tolist() == row[k * steps + 1 : (k + 1) * steps + 1].tolist()


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("at least 1", lambda p: next(contiguous_batches(np.arange(20), 0, 3))),
        ("at least 1", lambda p: next(contiguous_batches(np.arange(20), 2, 0))),
        ("at least 1", lambda p: top_k_filter(EVEN, 0)),
        ("at least 1", lambda p: fit(lambda epoch: None, lambda epoch: 0.0, 0, 1)),
        ("at least 1", lambda p: fit(lambda epoch: None, lambda epoch: 0.0, 1, 0)),
        *(("positive", lambda p, t=t: temperature_softmax([1.0, 2.0], t)) for t in (0, -1.0, math.nan)),
        ("prompt", lambda p: generate(p, [], 3, [0.5] * 3)),
        ("two", lambda p: bits_per_character(p, [])),
        ("two", lambda p: bits_per_character(p, [3])),
    ],
)
def test_what_makes_no_sense_is_an_error_that_says_so(message, call):
    with pytest.raises(ValueError, match=message):
        call(draw((4, 2, 5, 7), 3)[0])


@float_types
@drawn
@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), st.sampled_from([0.3, 1.0, 2.5]), seeds)
def test_temperature_divides_the_logits(dtype, shape, temperature, seed):
    logits = np.random.default_rng(seed).normal(scale=3, size=shape).astype(dtype)
    expected = torch.softmax(torch.tensor(logits) / temperature, dim=-1)
    for number in (temperature, np.float64(temperature)):
        assert_close(temperature_softmax(logits, number), expected)


@float_types
@pytest.mark.parametrize("temperature", [1e-3, 1e-30, 1e-300, 1.0, 1e30])
def test_no_temperature_overflows_and_minus_infinity_stays_impossible(dtype, temperature):
    big = float(np.finfo(dtype).max) / 4
    p = temperature_softmax(np.array([[big, -np.inf, -big], [5, 5, -np.inf]], dtype), temperature)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=-1), 1, rtol=1e-6)
    assert p[0, 1] == p[1, 2] == 0
    np.testing.assert_allclose(p[1, :2], 0.5, rtol=1e-6)


def obvious_top_k(p, k):
    kept = sorted(range(len(p)), key=lambda i: (-p[i], i))[:k]
    total = sum(p[i] for i in kept)
    return [p[i] / total if i in kept else 0.0 for i in range(len(p))]


def obvious_nucleus(p, mass):
    """Work in eighths, which floats hold exactly."""
    kept, total = [], 0.0
    for i in sorted(range(len(p)), key=lambda i: (-p[i], i)):
        if kept and total >= mass and mass < 1:
            break
        kept.append(i)
        total += p[i]
    return [p[i] / total if i in kept else 0.0 for i in range(len(p))]


# Sixteenths, with many ties and zeros: their sums are exact in any order.
sixteenths = st.lists(st.integers(0, 15), min_size=16, max_size=16).map(lambda picks: np.bincount(picks) / 16)


@float_types
@drawn
@given(sixteenths, st.integers(1, 20))
def test_the_k_most_probable_ids_are_kept_with_ties_to_the_lower(dtype, p, k):
    kept = top_k_filter(p.astype(dtype), k)
    assert kept.dtype == dtype
    np.testing.assert_allclose(kept, obvious_top_k(p.tolist(), k), rtol=1e-6)


@float_types
@drawn
@given(sixteenths, st.integers(0, 16).map(lambda n: n / 16))
def test_the_nucleus_is_the_fewest_most_probable_ids_that_reach_the_mass(dtype, p, mass):
    kept = nucleus_filter(p.astype(dtype), np.float64(mass))
    assert kept.dtype == dtype
    np.testing.assert_allclose(kept, obvious_nucleus(p.tolist(), mass), rtol=1e-6)


@float_types
@drawn
@given(sizes, seeds, st.sampled_from([0.5, 1.0, 2.0]))
def test_generation_is_what_reading_everything_again_for_each_id_gives(dtype, sizes, seed, temperature):
    parameters, _, inputs, _ = draw(sizes, seed, dtype)
    before = copies(parameters)
    prompt = inputs[:, 0].tolist()
    uniforms = np.random.default_rng(seed).uniform(size=8)
    new = generate(parameters, prompt, 6, uniforms, temperature)
    assert new == obvious_generation(parameters, prompt, 6, uniforms, temperature)
    assert [type(i) for i in new] == [int] * 6
    assert generate(parameters, prompt, 0, []) == []
    assert new == generate(parameters, np.array(prompt), np.int64(6), uniforms.tolist(), np.float64(temperature))
    for name in NAMES:
        np.testing.assert_array_equal(parameters[name], before[name])


@float_types
@drawn
@given(st.integers(2, 12), seeds)
def test_bits_are_the_mean_of_minus_log2_of_the_probability_of_each_next_id(dtype, length, seed):
    parameters, *_ = draw((1, 2, 5, 7), seed, dtype)
    ids = np.random.default_rng(seed).integers(7, size=length)
    probabilities = [p[after] for p, after in zip(obvious_distributions(parameters, ids[:-1]), ids[1:], strict=True)]
    bits = bits_per_character(parameters, ids)
    assert type(bits) is float
    assert bits == pytest.approx(-np.mean(np.log2(probabilities)), rel=1e-5)
    assert bits_per_character(parameters, ids.tolist()) == bits


@pytest.mark.parametrize("length", [1024, 1025, 1026, 2500])
def test_the_state_of_a_long_text_is_carried_to_its_end(length):
    parameters, *_ = draw((1, 2, 5, 7), 0)
    ids = np.random.default_rng(0).integers(7, size=length)
    logits, _ = torch_run(
        {name: torch.tensor(p) for name, p in parameters.items()}, torch.zeros(5, dtype=torch.float64), ids[:-1]
    )
    expected = torch.nn.functional.cross_entropy(logits, torch.tensor(ids[1:])).item() / math.log(2)
    assert bits_per_character(parameters, ids) == pytest.approx(expected)


@float_types
@pytest.mark.parametrize("max_norm", [1e9, 0.3])
@drawn
@given(sizes, seeds)
def test_a_training_step_is_pytorchs_autograd_clipping_and_adagrad(dtype, max_norm, sizes, seed):
    parameters, h, inputs, targets = draw(sizes, seed, dtype)
    memory = {name: np.full_like(p, 0.1) for name, p in parameters.items()}
    leaves = {name: torch.tensor(p, requires_grad=True) for name, p in parameters.items()}
    logits, last = torch_run(leaves, torch.tensor(h), inputs)
    nll = torch.nn.functional.cross_entropy(logits.flatten(0, 1), torch.tensor(targets).flatten(), reduction="sum")
    (nll / inputs.shape[1]).backward()
    norm = math.sqrt(sum((leaf.grad**2).sum().item() for leaf in leaves.values()))

    factor = max_norm / norm if norm > max_norm else 1

    h.flags.writeable = inputs.flags.writeable = targets.flags.writeable = False
    loss, new_h = train_step(parameters, memory, h, inputs, targets, np.float64(0.05), np.float64(max_norm))
    assert type(loss) is float
    assert loss == pytest.approx(nll.item() / inputs.shape[1], rel=1e-4)
    assert_close(new_h, last)
    for name, leaf in leaves.items():
        gradient = leaf.grad * factor
        squares = 0.1 + gradient**2
        assert_close([memory[name], parameters[name]], [squares, leaf - 0.05 * gradient / (squares + 1e-8).sqrt()])


def test_a_step_writes_into_the_arrays_that_it_was_given_whatever_their_layout():
    parameters, h, inputs, targets = draw((4, 2, 5, 7), 1)
    scattered = {name: np.array(p, order="F") for name, p in parameters.items()}
    the_same, memory = dict(scattered), {name: np.zeros_like(p) for name, p in parameters.items()}
    train_step(scattered, copies(memory), h, inputs, targets, 0.1, 1.0)
    train_step(parameters, memory, h, inputs, targets, 0.1, 1.0)
    assert all(scattered[name] is the_same[name] for name in NAMES)
    for name in NAMES:
        np.testing.assert_allclose(scattered[name], parameters[name])


def test_the_state_returned_is_a_new_array_and_the_old_one_stays():
    parameters, h, inputs, targets = draw((1, 2, 5, 7), 1)
    before = h.copy()
    memory = {name: np.zeros_like(p) for name, p in parameters.items()}
    _, new_h = train_step(parameters, memory, h, inputs, targets, 0.1, 1.0)
    np.testing.assert_array_equal(h, before)
    assert not np.shares_memory(new_h, h)
    assert new_h.base is None  # else it would keep the states of all steps alive


curves = st.lists(st.sampled_from([0.5, 1.0, 1.5, 2.0, math.nan]), min_size=1, max_size=12)


def is_over(losses, patience):
    """Whether the last `patience` losses brought no new lowest."""
    late = losses[-patience:]
    before = [loss for loss in losses[:-patience] if not math.isnan(loss)]
    best = min(before, default=math.inf)
    return len(losses) >= patience and not any(loss < best for loss in late)


@drawn
@given(curves, st.integers(1, 5))
def test_training_goes_on_until_patience_is_over_or_the_epochs_are(curve, patience):
    calls = []
    losses, best = fit(lambda e: calls.append(-1 - e), lambda e: (calls.append(e), curve[e])[1], len(curve), patience)
    expected = next((k for k in range(1, len(curve)) if is_over(curve[:k], patience)), len(curve))
    np.testing.assert_array_equal(losses, curve[:expected])
    assert calls == [call for epoch in range(expected) for call in (-1 - epoch, epoch)]
    numbers = [loss for loss in losses if not math.isnan(loss)]
    assert best == (losses.index(min(numbers)) if numbers else 0)


def test_a_trained_model_is_that_of_its_best_epoch_and_depends_on_nothing_but_its_rng_and_text():
    rng = np.random.default_rng(0)
    read, checked = rng.integers(5, size=200), rng.integers(5, size=200)
    kept = read.copy(), checked.copy()
    runs = [train_model(read, checked, 5, 30, 3, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    for parameters, losses in runs:
        assert bits_per_character(parameters, checked) == min(losses) < losses[-1]
    first, again, other = (parameters["W"] for parameters, _ in runs)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert np.array_equal(kept[0], read)
    assert np.array_equal(kept[1], checked)
    one, two = (train_model(read, valid, 5, 1, 1, np.random.default_rng(3))[0] for valid in (checked, checked[::-1]))
    assert all(np.array_equal(one[name], two[name]) for name in NAMES)
