"""The digits: all of them, in two parts that share no image, the same at every call."""

from importlib.metadata import distribution

import numpy as np

from rnncourse.data import Digits, digits

# scikit-learn's file: a row is an image and its label. (To import scikit-learn takes longer than all tests of data.)
SOURCE = distribution("scikit-learn").locate_file("sklearn/datasets/data/digits.csv.gz")


def test_the_two_parts_are_all_of_the_digits_and_each_image_has_its_own_label():
    train, held_out = digits()
    assert (len(train.labels), len(held_out.labels)) == (1297, 500)
    rows = np.loadtxt(str(SOURCE), np.float32, delimiter=",")
    there = sorted(zip((rows[:, :64] / 16).tolist(), rows[:, 64].tolist()))
    here = [pair for part in (train, held_out) for pair in zip(part.images.reshape(-1, 64).tolist(), part.labels)]
    assert sorted(here) == there
    assert not {image.tobytes() for image in train.images} & {image.tobytes() for image in held_out.images}


def test_an_image_is_float32_from_paper_to_ink_and_a_label_is_a_digit():
    for part in digits():
        assert isinstance(part, Digits)
        assert part.images.dtype == np.float32
        assert part.images.shape[1:] == (8, 8)
        assert (part.images.min(), part.images.max()) == (0, 1)
        assert part.labels.dtype == np.int64
        shares = np.bincount(part.labels, minlength=10) / len(part.labels)  # about as many of each digit
        assert 0.06 < shares.min() < shares.max() < 0.14


def test_two_calls_give_the_same_split_in_arrays_of_their_own():
    for first, second in zip(digits(), digits()):
        assert np.array_equal(first.images, second.images)
        assert np.array_equal(first.labels, second.labels)
        assert not np.shares_memory(first.images, second.images)
