"""What a wrong answer borrows of right ones: the lines where it does so, and no more than it must."""

import ast

import numpy as np
import pytest
import torch
from torch import nn

from rnncourse import exercises
from rnncourse.checks.packed import pack
from rnncourse.checks.shelf import OTHERS, read
from rnncourse.checks.where.alignment import Alignment, edited
from rnncourse.checks.where.inquiry import rights
from tests.rnncourse.checks.where.test_places import asked
from tests.rnncourse.exercises.catalogue import CODE
from tests.sampling import some

BASE = """def perplexity(log_probabilities):
    cross_entropy = -np.mean(log_probabilities)
    return 2 ** cross_entropy
"""
ONE_INDEX = """def last_states(H, lengths):
    ends = lengths - 1
    return H[ends]
"""
NOT_TURNED = """def bidirectional_forward(X, forward, backward, how="concat", lengths=None):
    h0 = np.zeros((X.shape[1], len(forward[2])), dtype=X.dtype)
    H_f = rnn_forward(X, h0, *forward)
    H_b = rnn_forward(reverse_sequence(X, lengths), h0, *backward)
    return combine(H_f, H_b, how)
"""
TOO_EARLY = """def train_epoch(model, batches, optimizer, max_norm):
    state, summed, count = None, 0.0, 0
    for inputs, targets in batches:
        logits, state = model(inputs, state)
        state = state.detach()
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        loss.backward()
        optimizer.step()
        summed += loss.item() * targets.numel()
        count += targets.numel()
    return summed / count
"""
TWO_SLIPS = """def numerical_gradient(f, x, eps=1e-5):
    result = np.zeros_like(x)
    for i in range(len(x)):
        high, low = x.copy(), x.copy()
        high[i] += eps
        low[i] -= eps
        result[i] = (f(high) - f(low)) / eps
    return result
"""
IN_A_CLASS = """class SequenceTagger(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super().__init__()
        self.rnn = nn.RNN(input_size, hidden_size, bias=False)
        self.head = nn.Linear(hidden_size, output_size)

    def forward(self, x, h0=None):
        states, _ = self.rnn(x, h0)
        return torch.log_softmax(self.head(states), dim=-1)
"""


@pytest.mark.parametrize(
    ("exercise", "text", "lines", "words"),
    [
        ("perplexity", BASE, (3,), "With one small change at line 3, every"),
        ("last_states", ONE_INDEX, (3,), "With a change at line 3, every"),
        ("bidirectional_forward", NOT_TURNED, (5,), "With one small change at line 5, every"),
        ("train_epoch", TOO_EARLY, (9,), "With line 9 at another place, every"),
        ("numerical_gradient", TWO_SLIPS, (3, 7), "(2) Every entry is twice too large"),
        ("SequenceTagger", IN_A_CLASS, (4, 9), "changes at lines 4 and 9 together, every"),
    ],
)
def test_what_right_answers_have_otherwise_marks_its_lines(exercise, text, lines, words):
    space = {"np": np, "torch": torch, "nn": nn, **exercises.find(exercise).uses}
    found = asked(exercise, text, space, after_diagnosis=True).where
    assert found.lines == lines
    assert words in found.message


def test_a_line_that_passes_by_what_is_wrong_is_not_named():
    """With all of a right answer in its last line each answer is right, whatever stands above."""
    text = """def rnn_step(x, h_prev, U, W, b):
    from_input = np.cos(x).sum() * U.mean() - x @ U * np.exp(b)
    return from_input * 0.5
"""
    found = asked("rnn_step", text).where
    assert found is None or not found.lines


def test_names_mean_nothing():
    (wrong,) = ast.parse(
        "def f(x, h):\n    s = h\n    for v in x:\n        w = v @ s\n        s = w + v\n    return h"
    ).body
    (right,) = ast.parse("def f(a, b):\n    h = b\n    for x in a:\n        h = x @ h + x\n    return h").body
    found = Alignment(wrong, right)
    assert [(edit.lines, ast.unparse(edit.new)) for edit in found.edits] == [((6,), "return s")]
    pairs = [pair for edit in found.edits for pair in edit.pairs]
    assert ast.unparse(edited(wrong, found.edits, pairs)).endswith("return s")
    assert ast.unparse(edited(wrong, (), ())) == ast.unparse(wrong)


@pytest.mark.parametrize("exercise", some(CODE, 25), ids=lambda e: e.name)
def test_with_all_that_one_program_has_otherwise_another_is_that_program(exercise):
    (_, model), *rest = rights(exercise)
    assert rest
    for _, other in rest:
        if type(other) is type(model):
            found = Alignment(model, other)
            if all(edit.old or edit.beside for edit in found.edits):  # no block that the other has not at all
                made = edited(model, found.edits, [pair for edit in found.edits for pair in edit.pairs])
                assert ast.unparse(ast.fix_missing_locations(made)) == ast.unparse(found.right)


def test_what_is_packed_is_read_as_well(tmp_path):
    source = OTHERS / "cell.txt"
    copy = tmp_path / source.name
    copy.write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    pack(copy)
    assert not copy.exists()
    assert read(copy) == read(source) != []
