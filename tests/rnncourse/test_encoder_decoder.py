"""Unit 12: the modules against `nn.GRU` on sequences alone, the search against all answers there are, the distance."""

import math
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from rnncourse.encoder_decoder import (
    beam_search,
    bleu,
    ctc_log_likelihood,
    edit_distance,
    exact_match,
    greedy_decode,
    normalised_beam_search,
    shift_right,
)
from rnncourse.encoder_decoder_torch import Decoder, Encoder, ImageCaptioner, Seq2Seq, decoder_step
from tests.rnncourse.oracles import assert_close, different_sizes, drawn, seeds, torch_types

sizes = different_sizes(4)


def draw_lengths(T, N):
    lengths = torch.randint(1, T + 1, (N,))
    lengths[torch.randint(N, ())] = T
    return lengths


@torch_types
@drawn
@given(sizes, seeds)
def test_the_encoder_reads_in_a_padded_batch_what_it_reads_in_each_sequence_alone(dtype, sizes, seed):
    T, N, E, H = sizes
    torch.manual_seed(seed)
    encoder = Encoder(9, E, H).to(dtype)
    ids, lengths = torch.randint(9, (T, N)), draw_lengths(T, N)
    for given_lengths in (lengths, lengths.tolist(), lengths.numpy().astype(np.uint8)):
        outputs, state = encoder(ids, given_lengths)
        assert outputs.shape == (T, N, H)
        for n, length in enumerate(lengths):
            alone, last = encoder.rnn(encoder.embedding(ids[:length, n : n + 1]))
            assert_close([outputs[:length, n], state[:, n]], [alone[:, 0], last[:, 0]])
    assert_close(encoder(ids), encoder.rnn(encoder.embedding(ids)))


@torch_types
@drawn
@given(sizes, seeds)
def test_the_decoder_is_embedding_gru_and_linear_layer_from_the_given_state(dtype, sizes, seed):
    T, N, E, H = sizes
    torch.manual_seed(seed)
    decoder = Decoder(9, E, H).to(dtype)
    ids, start = torch.randint(9, (T, N)), torch.randn(1, N, H, dtype=dtype)
    logits, state = decoder(ids, start)
    states, expected = decoder.rnn(decoder.embedding.weight[ids], start)
    assert_close([logits, state], [states @ decoder.output.weight.T + decoder.output.bias, expected])
    stepwise, state = [], start
    for step in ids:
        one, state = decoder(step[None], state)
        stepwise.append(one)
    assert_close(torch.cat(stepwise), logits)


@drawn
@given(sizes, st.integers(1, 8), seeds)
def test_teacher_forcing_feeds_the_true_targets_shifted_right(sizes, S, seed):
    T, N, E, H = sizes
    torch.manual_seed(seed)
    model = Seq2Seq(Encoder(9, E, H), Decoder(7, E + 1, H), bos=1).double()
    source, lengths, targets = torch.randint(9, (S, N)), draw_lengths(S, N), torch.randint(7, (T, N))
    logits = model(source, lengths, targets)
    assert logits.shape == (T, N, 7)
    _, state = model.encoder(source, lengths)
    for t in range(T):
        fed = torch.ones_like(targets[:1]) if t == 0 else targets[t - 1 : t]
        expected, state = model.decoder(fed, state)
        assert_close(logits[t : t + 1], expected)
    logits.sum().backward()
    assert all(p.grad is not None for p in model.parameters())


@torch_types
@drawn
@given(sizes, seeds)
def test_the_captioner_starts_its_decoder_from_the_features(dtype, sizes, seed):
    T, N, E, H = sizes
    torch.manual_seed(seed)
    model = ImageCaptioner(11, 9, E, H).to(dtype)
    features, ids = torch.randn(N, 11, dtype=dtype), torch.randint(9, (T, N))
    start = torch.tanh(features @ model.prime.weight.T + model.prime.bias)
    assert_close(model(features, ids), model.decoder(ids, start[None])[0])


@drawn
@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), seeds)
def test_shifting_right_puts_bos_first_and_drops_the_last(shape, seed):
    targets = np.random.default_rng(seed).integers(1, 100, size=shape).astype(np.int32)
    expected = np.concatenate([np.zeros_like(targets[:1]), targets[:-1]])
    before = targets.copy()
    for given_targets in (targets, torch.from_numpy(targets), targets.tolist()):
        shifted = shift_right(given_targets, np.int64(0))
        assert type(shifted) is (torch.Tensor if isinstance(given_targets, torch.Tensor) else np.ndarray)
        np.testing.assert_array_equal(shifted, expected)
    assert shift_right(targets, 0).dtype == np.int32
    assert shift_right(torch.from_numpy(targets), 0).dtype == torch.int32
    np.testing.assert_array_equal(targets, before)
    assert not np.shares_memory(shift_right(targets, 0), targets)


# The model of the search's tests: tokens 0 to V-1, of which 0 is eos; what comes next depends on all that came before,
# which is the state, so that a state given to the wrong hypothesis is found out.
BOS, EOS = -1, 0


def language(seed, V, dtype=np.float64):
    @cache
    def row(tokens):
        rng = np.random.default_rng([seed, *(token + 1 for token in tokens)])
        return np.log(rng.dirichlet(np.ones(V))).astype(dtype)

    def step(token, state):
        path = (*state, token)
        return row(path), path

    return step


def all_answers(step, V, max_length):
    """Every answer, ended or cut off at max_length, with its score, best first."""
    answers = []

    def go_on(tokens, score, token, state):
        if len(tokens) == max_length:
            answers.append((tokens, score))
            return
        row, state = step(token, state)
        for following in range(V):
            after = score + float(row[following])
            if following == EOS:
                answers.append((tokens, after))
            else:
                go_on([*tokens, following], after, following, state)

    go_on([], 0.0, BOS, ())
    return sorted(answers, key=lambda answer: -answer[1])


languages = {"seed": seeds, "V": st.integers(2, 4), "max_length": st.integers(1, 4)}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@drawn
@given(**languages)
def test_a_beam_of_one_is_greedy_and_greedy_takes_the_best_token_each_time(dtype, seed, V, max_length):
    step = language(seed, V, dtype)
    tokens = greedy_decode(step, (), BOS, EOS, max_length)
    ((beamed, _),) = beam_search(step, (), BOS, EOS, max_length, 1)
    assert beamed == tokens
    token, state = BOS, ()
    for expected in [*tokens, EOS][:max_length]:
        row, state = step(token, state)
        token = int(row.argmax())
        assert token == expected


def table_step(table, calls=None):
    """A model of one row for each last token, which counts how often it is called."""

    def step(token, state):
        if calls is not None:
            calls.append(token)
        with np.errstate(divide="ignore"):
            return np.log(np.array(table[token])), state

    return step


@pytest.mark.parametrize("max_length", [0, 1, 2, 5])
def test_max_length_counts_the_calls_along_a_path(max_length):
    step = table_step({9: [0.1, 0.9], 1: [0.1, 0.9]}, calls := [])
    assert greedy_decode(step, None, 9, 0, max_length) == [1] * max_length
    assert len(calls) == max_length
    calls.clear()
    ((tokens, score),) = beam_search(step, None, 9, 0, max_length, 1)
    assert tokens == [1] * max_length
    assert score == pytest.approx(max_length * math.log(0.9))
    assert len(calls) == max_length


def test_ties_go_to_the_better_beginning_and_then_to_the_lower_token():
    even = [0.0, 0.25, 0.25, 0.25, 0.25]
    step = table_step({9: even, 1: even, 2: even, 3: even, 4: even})
    assert greedy_decode(step, None, 9, 0, 2) == [1, 1]
    found = [tokens for tokens, _ in beam_search(step, None, 9, 0, 2, 6)]
    assert found == [[1, 1], [1, 2], [1, 3], [1, 4], [2, 1], [2, 2]]


def test_what_is_impossible_is_no_hypothesis():
    step = table_step({9: [0.0, 1.0, 0.0], 1: [0.5, 0.0, 0.5], 2: [1.0, 0.0, 0.0]})
    assert [tokens for tokens, _ in beam_search(step, None, 9, 0, 5, 10)] == [[1], [1, 2]]


@pytest.mark.parametrize("width", [0, -1])
def test_a_beam_without_a_place_is_an_error(width):
    with pytest.raises(ValueError, match="width"):
        beam_search(table_step({9: [1.0]}), None, 9, 0, 2, width)


def test_a_decoders_steps_are_its_whole_run_without_a_gradient():
    torch.manual_seed(0)
    decoder = Decoder(9, 3, 5)
    step, state, ids = decoder_step(decoder), torch.randn(1, 1, 5), [3, 1, 4]
    logits, last = decoder(torch.tensor(ids)[:, None], state)
    for token, expected in zip(ids, logits.log_softmax(dim=-1), strict=True):
        log_probabilities, state = step(token, state)
        assert type(log_probabilities) is np.ndarray
        assert_close(torch.from_numpy(log_probabilities), expected[0].detach())
        assert not state.requires_grad
    assert_close(state, last.detach())


words = st.text("abc", max_size=5)


def distance_by_recursion(a, b):
    if not a or not b:
        return len(a) + len(b)
    return min(
        distance_by_recursion(a[1:], b) + 1,
        distance_by_recursion(a, b[1:]) + 1,
        distance_by_recursion(a[1:], b[1:]) + (a[0] != b[0]),
    )


@drawn
@given(words, words, words)
def test_the_distance_is_that_of_its_definition_and_a_metric(a, b, c):
    distance = edit_distance(a, b)
    assert distance == distance_by_recursion(a, b) == edit_distance(b, a) == edit_distance(a[::-1], b[::-1])
    assert (distance == 0) == (a == b)
    assert edit_distance(a, c) <= distance + edit_distance(b, c)
    assert edit_distance(list(a), list(b)) == distance
    assert edit_distance(np.array([*map(ord, a)]), np.array([*map(ord, b)])) == distance
    assert type(distance) is int


def test_the_share_of_exact_matches_counts_whole_answers():
    assert exact_match(["ab", "cd", "e", ""], ["ab", "ce", "E", ""]) == 0.5
    assert exact_match([[1, 2], (3,), []], [(1, 2), [3, 4], []]) == pytest.approx(2 / 3)
    assert exact_match(np.array([[1, 2], [3, 4]]), [[1, 2], [3, 5]]) == 0.5
    assert exact_match(torch.tensor([[1, 2]]), [[1, 2]]) == 1.0
    assert exact_match([3, 4], [3, 5]) == 0.5


@pytest.mark.parametrize(("predictions", "targets"), [([], []), (["a"], []), (["a"], ["a", "b"])])
def test_there_is_one_prediction_for_each_target(predictions, targets):
    with pytest.raises(ValueError, match="prediction"):
        exact_match(predictions, targets)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 1.7])
@drawn
@given(**languages)
def test_a_beam_as_wide_as_there_are_answers_finds_them_all_in_their_order(alpha, seed, V, max_length):
    step = language(seed, V)

    def normalised(tokens, score):
        # for eos there is no call left after max_length tokens
        ended = len(tokens) < max_length
        return score / (len(tokens) + ended) ** alpha

    everything = [(tokens, normalised(tokens, score)) for tokens, score in all_answers(step, V, max_length)]
    expected = sorted(everything, key=lambda answer: -answer[1])
    for width in (len(expected), len(expected) + 5):
        ways = [normalised_beam_search(step, (), BOS, EOS, max_length, width, alpha)]
        ways += [beam_search(step, (), BOS, EOS, max_length, width)] if alpha == 0 else []
        for found in ways:
            assert [tokens for tokens, _ in found] == [tokens for tokens, _ in expected]
            np.testing.assert_allclose([score for _, score in found], [score for _, score in expected], rtol=1e-12)
            assert all(type(score) is float for _, score in found)
            assert all(type(token) is int for tokens, _ in found for token in tokens)


def test_bleu_of_known_sentences():
    # Papineni et al., example 2: "the the the the the the the" has a modified precision of 2/7
    reference = ["the", "cat", "is", "on", "the", "mat"]
    assert bleu(["the"] * 7, reference, 1) == pytest.approx(2 / 7)
    assert bleu(["the", "cat"], reference, 2) == pytest.approx(math.exp(1 - 6 / 2))
    assert bleu("abcd", "abcde") == bleu(np.arange(4), np.arange(5)) == pytest.approx(math.exp(-1 / 4))
    assert bleu([1, 2, 3, 4], [1, 2, 3, 4]) == 1
    assert type(bleu("abc", "abc")) is float  # 0.0, for it has no word of four
    assert bleu("abc", "abc") == bleu("", "abc") == 0
    with pytest.raises(ValueError, match="max_n"):
        bleu("ab", "ab", 0)


@drawn
@given(T=st.integers(1, 7), Q=st.integers(2, 5), blank=st.integers(0, 4), L=st.integers(0, 4), seed=seeds)
def test_ctc_is_that_of_pytorch(T, Q, blank, L, seed):
    rng, blank = np.random.default_rng(seed), blank % Q
    log_p = np.log(rng.dirichlet(np.ones(Q), size=T))
    targets = rng.choice([q for q in range(Q) if q != blank], size=L)
    tensors, sizes = (torch.from_numpy(log_p), torch.from_numpy(targets)), (torch.tensor([T]), torch.tensor([L]))
    expected = functional.ctc_loss(tensors[0][:, None], tensors[1][None], *sizes, blank=blank, reduction="none")
    leaf = tensors[0].clone().requires_grad_()
    for arguments in ((log_p, targets), (leaf, tensors[1]), (log_p.tolist(), targets.tolist())):
        found = ctc_log_likelihood(*arguments, blank)
        assert found == pytest.approx(-expected.item(), rel=1e-9)
        assert type(found) is float
