"""Mails of a made-up world: what each label hangs on, and what it does not."""

import numpy as np
import pytest

from rnncourse.data import draw_mails

SENDERS = {"bank", "garage", "library", "post", "school", "shop"}


@pytest.fixture(scope="module")
def mails():
    return draw_mails(np.random.default_rng(0), 4000, least=9, most=14)


def test_the_first_word_says_whether_it_is_an_advert_and_both_senders_whether_it_is_forged(mails):
    for n in range(400):
        words = mails.text(n).split()
        assert len(words) == mails.lengths[n]
        assert (words[0] in ("bargain", "discount", "lottery", "prize")) == mails.is_advert[n]
        assert {words[3], words[-2]} <= SENDERS
        assert (words[3] != words[-2]) == mails.is_forged[n]
        assert not SENDERS & set(words[5:-2])


@pytest.mark.parametrize("place", ["sender", "signer"])
def test_one_end_alone_says_nothing_of_a_forgery(mails, place):
    rows = np.arange(len(mails.lengths))
    ids = mails.ids[3] if place == "sender" else mails.ids[mails.lengths - 2, rows]
    for sender in np.unique(ids):
        assert mails.is_forged[ids == sender].mean() == pytest.approx(0.5, abs=0.08)


def test_the_padding_is_zero_and_the_same_generator_draws_the_same(mails):
    assert not mails.ids[np.arange(len(mails.ids))[:, None] >= mails.lengths].any()
    again = draw_mails(np.random.default_rng(0), 4000, least=9, most=14)
    np.testing.assert_array_equal(again.ids, mails.ids)


@pytest.mark.parametrize(("least", "most"), [(8, 20), (12, 11)])
def test_a_mail_needs_room_for_its_beginning_and_its_end(least, most):
    with pytest.raises(ValueError, match="at least 9 words"):
        draw_mails(np.random.default_rng(0), 1, least, most)
