"""What unit 11 measures is what it says: votes that abstain, heads that fit, notes as they are heard, who learns."""

import pytest
import torch
from torch import nn

from rnncourse.experiments import heads as ex
from rnncourse.heads import SequenceClassifier, SequenceGenerator


class Echo(nn.Module):
    """Gives back the notes that it is given, from the second on, as if it knew them."""

    def __init__(self, notes):
        super().__init__()
        self.notes = notes

    def forward(self, first, steps):
        return self.notes[-steps:]


def test_a_state_that_says_the_same_of_every_digit_abstains():
    model = SequenceClassifier(8, 16, 10, "mean")
    assert ex.spread_of_votes(model).min() > 0
    with torch.no_grad():
        model.head.weight.zero_()
    assert ex.spread_of_votes(model).max() == pytest.approx(0, abs=1e-6)


def test_the_four_readers_are_about_equally_large():
    sizes = []
    for pool, units, width, _ in ex.READERS.values():
        model = SequenceClassifier(8, units, 10, pool)
        if width:
            model.head = ex.feed_forward_head(units, width, 10)
        sizes.append(sum(p.numel() for p in model.parameters()))
    assert max(sizes) < 1.1 * min(sizes)


def test_digits_that_are_kept_back_are_never_trained_on():
    seen = []

    def view(model, shown):
        seen.append(shown)
        return model(shown.flatten(1))

    ex.fit_digits(nn.Linear(64, 10), view, updates=3, kept_back=1290)
    rows = {tuple(one.flatten().tolist()) for batch in seen for one in batch}
    images = ex.pictures()[0]
    assert rows <= {tuple(one.flatten().tolist()) for one in images[: len(images) - 1290]}


def test_after_all_rows_a_classifier_is_as_right_as_without_lengths():
    model = SequenceClassifier(8, 16, 10)
    assert ex.right_after(model, 8) == ex.share_of_digits(model, ex.row_by_row)


def test_shares_of_reviews_are_weighted_by_how_likely_a_sentence_is():
    texts, *_, chance = ex.reviews()
    contrasts = torch.tensor([" but " in text for text in texts])
    assert ex.share_of_reviews(contrasts) == pytest.approx(0.5)
    assert ex.share_of_reviews(contrasts, "contrasts") == pytest.approx(1)
    assert ex.share_of_reviews(contrasts, "one part") == 0
    assert float(chance.sum()) == pytest.approx(1)


def test_a_film_moves_a_pixel_a_frame_and_shows_the_picture_itself_in_the_middle():
    picture = ex.pictures()[0][:1]
    film = ex.films(picture, torch.tensor([3])).reshape(5, 8, 8)
    assert torch.equal(film[2], picture[0])
    assert torch.equal(film[3], picture[0].roll(1, dims=1))


@pytest.mark.parametrize("count", [6, 7])
def test_who_gives_the_true_notes_has_all_of_them_right_and_is_heard_as_the_tune(count):
    notes, _ = ex.old_tunes(count)
    outputs = ex.played(Echo(notes), ex.alone, count)
    assert ex.notes_right(outputs) == 1
    assert ex.as_heard(outputs, 2) == list(ex.beginnings()[2].notes)
    assert ex.notes_right(0 * outputs) < 0.5


def test_the_mean_of_the_two_tunes_is_off_by_nothing():
    notes, _ = ex.old_tunes(7)
    outputs = notes[1:].clone()
    outputs[:, 0] = notes[1:, ex.TWINS].mean(dim=1)
    away, apart = ex.off_the_mean(outputs)
    assert away == 0 < apart


def test_reading_then_writing_goes_on_as_the_generator_does():
    torch.manual_seed(0)
    model = ex.ReadThenWrite(SequenceGenerator, 3, 5, 3)
    first = torch.randn(1, 2, 3)
    torch.testing.assert_close(model(first, 4), model.generator(first[0], 4))


def test_at_mix_0_and_1_the_first_notes_are_those_of_the_tunes():
    model = SequenceGenerator(ex.old_tunes()[0].shape[-1], 8, ex.old_tunes()[0].shape[-1])
    for mix, n in ((0, 1), (1, 4)):
        assert ex.between(model, 1, 4, mix, steps=2)[0] == ex.melodies()[n].notes[0]
