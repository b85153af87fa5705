"""Answers of strangers, who had nothing but the released notebooks: what is right passes, what is wrong does not, and
nothing that is false is said of it.

`strangers/` has a file for each unit. An answer begins with a line that says whether it is right or wrong, and how it
is written or what the slip is; `!!!` stands before words that must not be said of it.
"""

import linecache
from pathlib import Path

import pytest

from rnncourse import check
from tests.sampling import some

STRANGERS = Path(__file__).parent / "strangers"
NAMES = """
import bisect, copy, functools, heapq, io, itertools, math
from bisect import insort
from collections import Counter, defaultdict, deque
from functools import lru_cache, partial, reduce
from itertools import accumulate, pairwise, product
import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from rnncourse.attention import attention
from rnncourse.bidirectional import bidirectional_forward, combine, reverse_sequence
from rnncourse.bptt import nll_backward, numerical_gradient, output_backward
from rnncourse.bptt import rnn_backward, rnn_step_backward, sequence_nll
from rnncourse.cell import output_layer, rnn_forward, rnn_step, softmax
from rnncourse.encoder_decoder import shift_right
from rnncourse.encoder_decoder_torch import Decoder, Encoder, Seq2Seq
from rnncourse.gates import gate, gru_step, lstm_step
from rnncourse.gradient_flow import clip_by_global_norm, orthogonal, spectral_radius
from rnncourse.language_model import bits_per_character, contiguous_batches, fit, temperature_softmax, train_step
from rnncourse.ngram import count_ngrams, sample_index
from rnncourse.project import bits_per_token, ngram_bits
from rnncourse.scans import associative_scan, combine_affine, linear_recurrence
from rnncourse.stacked import dropout_between
"""


def answers():
    """Of each answer the exercise, whether it is right or wrong, what must not be said of it, and its text."""
    for file in sorted(STRANGERS.glob("*.txt")):
        for number, part in enumerate(f"\n{file.read_text(encoding='utf-8')}".split("\n=== ")[1:]):
            head, *lines = part.splitlines(keepends=True)
            exercise, kind = head.partition(":")[0].split()
            never = [line[4:].strip() for line in lines if line.startswith("!!! ")]
            yield pytest.param(exercise, kind, never, "".join(lines[len(never) :]), id=f"{exercise}-{number}")


def made(exercise, text):
    """The answer, which comes from a cell of its own."""
    space, file = {"__name__": "a notebook"}, f"<{exercise} {hash(text)}>"
    exec(NAMES, space)
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    exec(compile(text, file, "exec"), space)
    name = text.partition("(")[0].partition(":")[0].split()[1]
    return space[name]


ANSWERS = list(answers())


@pytest.mark.parametrize(("exercise", "kind", "never", "text"), some(ANSWERS, len(ANSWERS) // 30))
def test_what_strangers_hand_in_is_judged_as_it_deserves(exercise, kind, never, text):
    verdict = check(made(exercise, text), exercise, hidden=kind == "right")
    assert verdict.passed == (kind == "right"), verdict
    said = " ".join([verdict.message, verdict.where.message if verdict.where else ""])
    assert not [words for words in never if words in said]
