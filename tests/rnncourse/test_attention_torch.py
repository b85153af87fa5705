"""Unit 13 in PyTorch: attention that is NumPy's."""

import numpy as np
import torch

from rnncourse.attention import attention
from rnncourse.attention_torch import AttentionDecoder, AttentionSeq2Seq, look_at
from rnncourse.encoder_decoder_torch import Encoder

T, S, N, H, V = 4, 6, 3, 5, 7
LENGTHS = [6, 2, 4]


def parts(seed=0):
    torch.manual_seed(seed)
    decoder = AttentionDecoder(V, 8, H).double()
    ids = torch.randint(V, (T, N))
    return decoder, ids, torch.randn(1, N, H, dtype=torch.float64), torch.randn(S, N, H, dtype=torch.float64)


@torch.no_grad()
def test_the_decoder_looks_where_attention_in_numpy_looks():
    decoder, ids, state, memory = parts()
    mask = look_at(torch.zeros(S, N, dtype=torch.int64), LENGTHS)
    logits, last, weights = decoder(ids, state, memory, mask)
    states, expected_last = decoder.rnn(decoder.embedding(ids), state)
    queries, keys = (tensor.transpose(0, 1).numpy() for tensor in (decoder.query(states), memory))
    context, expected = attention(queries, keys, keys, mask.numpy()[:, None])
    np.testing.assert_allclose(weights.numpy(), expected, atol=1e-12)
    torch.testing.assert_close(last, expected_last)
    both = torch.cat([states, torch.from_numpy(context).transpose(0, 1)], dim=-1)
    torch.testing.assert_close(logits, decoder.output(torch.tanh(decoder.combine(both))))


@torch.no_grad()
def test_a_padded_source_gives_what_it_gives_alone():
    torch.manual_seed(0)
    model = AttentionSeq2Seq(Encoder(V, 8, H), AttentionDecoder(V, 8, H), bos=1)
    source, targets = torch.randint(V, (S, N)), torch.randint(V, (T, N))
    together, (chosen, looks) = model(source, LENGTHS, targets), model.answer(source, LENGTHS, T)
    for n, length in enumerate(LENGTHS):
        one = source[:length, n : n + 1]
        torch.testing.assert_close(model(one, None, targets[:, n : n + 1])[:, 0], together[:, n])
        ids, weights = model.answer(one, [length], T)
        assert ids[:, 0].tolist() == chosen[:, n].tolist()
        torch.testing.assert_close(weights[0], looks[n, :, :length])
        assert (looks[n, :, length:] == 0).all()


@torch.no_grad()
def test_what_it_answers_is_the_best_symbol_after_its_own_answers():
    torch.manual_seed(1)
    model = AttentionSeq2Seq(Encoder(V, 8, H), AttentionDecoder(V, 8, H), bos=1)
    source = torch.randint(V, (S, N))
    ids, weights = model.answer(source, None, T)
    assert ids.shape == (T, N)
    assert weights.shape == (N, T, S)
    torch.testing.assert_close(model(source, None, ids).argmax(dim=-1), ids)
