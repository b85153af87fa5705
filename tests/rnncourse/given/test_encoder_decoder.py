"""What unit 12 hands to answers: the small networks carry states, and the drivers see what they are meant to see."""

import numpy as np
import pytest
import torch
from torch import nn

from rnncourse.checks.callables import Named
from rnncourse.checks.drive import observe
from rnncourse.given.encoder_decoder import SmallDecoder, SmallEncoder, small_decoder, small_encoder

LENGTHS = torch.tensor([2, 5, 4])


def test_the_small_encoder_reads_up_to_the_last_real_step_and_no_further():
    encoder, ids = SmallEncoder(7, 4), torch.randint(7, (5, 3))
    outputs, state = encoder(ids, LENGTHS)
    for n, length in enumerate(LENGTHS.tolist()):
        alone, its_state = encoder(ids[:length, n : n + 1])
        torch.testing.assert_close(outputs[:length, n], alone[:, 0])
        torch.testing.assert_close(state[:, n], its_state[:, 0])
        torch.testing.assert_close(alone[-1:, 0], its_state[:, 0])
        assert not outputs[length:, n].any()


def test_the_small_decoder_goes_on_where_it_ended():
    decoder, ids, start = SmallDecoder(6, 3, 4), torch.randint(6, (5, 2)), torch.randn(1, 2, 4)
    whole, last = decoder(ids, start)
    first, state = decoder(ids[:2], start)
    second, end = decoder(ids[2:], state)
    torch.testing.assert_close(torch.cat([first, second]), whole)
    torch.testing.assert_close(end, last)


def test_the_names_give_networks_of_the_size_that_was_asked_for():
    assert isinstance(small_encoder(vocabulary_size=7, hidden_size=4), Named)
    assert small_encoder(vocabulary_size=7, hidden_size=4).make().E.shape == (7, 4)
    assert small_decoder(vocabulary_size=7, embedding_size=3, hidden_size=4).make().A.shape == (3, 4)


class Noisy(nn.Module):
    """Two times w, with noise at padded steps."""

    def __init__(self, noise):
        super().__init__()
        self.w, self.noise = nn.Parameter(torch.ones(2)), noise

    def forward(self, ids, lengths=None):
        outputs = self.w * ids[..., None]
        if lengths is not None:
            padding = (torch.arange(len(ids))[:, None] >= lengths)[..., None]
            outputs = outputs + padding * self.noise * self.w
        return outputs, outputs[:1]


def seen(noise, *lengths):
    ids = np.arange(1, 13).reshape(4, 3)
    return observe(Noisy, "encoder_module", ((noise,), {"w": np.ones(2)}, [(ids, *lengths)])).answer


def test_what_an_encoder_has_at_padded_steps_counts_neither_as_output_nor_for_gradients():
    lengths = np.array([1, 4, 2])
    ((quiet, _),), gradients = seen(0.0, lengths)
    ((noisy, _),), same = seen(5.0, lengths)
    np.testing.assert_array_equal(quiet, noisy)
    np.testing.assert_array_equal(gradients["w"], same["w"])
    assert not quiet[1:, 0].any()
    assert quiet[:, 1].all()
    ((without, _),), _ = seen(5.0)
    assert without.all()


class Captioner(nn.Module):
    """Uses whatever `Decoder` is in its notebook."""

    def __init__(self, sizes):
        super().__init__()
        self.decoder = Decoder(*sizes)

    def forward(self, state, ids):
        return self.decoder(ids, state)[0]


class Decoder(nn.Module):
    """A decoder that is not written yet."""

    def __init__(self, *sizes):
        raise NotImplementedError


def test_a_captioner_is_driven_with_a_decoder_that_works_and_the_notebooks_own_is_back_afterwards():
    before = Decoder
    shapes = {"E": (5, 3), "A": (3, 4), "W": (4, 4), "V": (4, 5)}
    parameters = {f"decoder.{name}": np.ones(shape) for name, shape in shapes.items()}
    call = (np.zeros((1, 2, 4)), np.zeros((6, 2), dtype=np.int64))
    answer = observe(Captioner, "captioner_module", (((5, 3, 4),), parameters, [call]))
    assert answer.error is None
    assert answer.answer[0][0].shape == (6, 2, 5)
    assert Decoder is before


@pytest.mark.parametrize("kind", ["array", "tensor"])
def test_the_kind_that_goes_in_and_the_kind_that_comes_out_are_told(kind):
    values = np.arange(6).reshape(3, 2)
    same = observe(lambda x, bos: x + bos, "array_or_tensor", (kind, values, 1)).answer
    assert same[0] == kind
    np.testing.assert_array_equal(same[1], values + 1)
    assert observe(lambda x, bos: np.array(x.tolist()), "array_or_tensor", (kind, values, 1)).answer[0] == "array"
    assert observe(lambda x, bos: torch.tensor(x.tolist()), "array_or_tensor", (kind, values, 1)).answer[0] == "tensor"


@pytest.mark.parametrize("kind", ["array", "tensor"])
def test_an_answer_that_writes_to_what_it_was_given_or_hands_it_back_is_found_out(kind):
    def overwrites(x, bos):
        x[0] = bos
        return x + 0

    values = np.arange(6).reshape(3, 2)
    assert observe(overwrites, "array_or_tensor", (kind, values, 9)).changed == (1,)
    assert observe(lambda x, bos: x, "array_or_tensor", (kind, values, 9)).shared
