"""Python source with labels: each construct by hand, the whole library against another reader of Python, its parser."""

import ast
import tokenize
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnncourse.data import TOKEN_LABELS, label_python, labelled_python, train_and_held_out
from rnncourse.data.sources import documents

LETTERS = dict(zip("_csnokfx", TOKEN_LABELS, strict=True))  # the letters in which the tests below spell labels


def spelled(source):
    letter = {label: letter for letter, label in LETTERS.items()}
    return "".join(letter[TOKEN_LABELS[i]] for i in label_python(source))


@pytest.mark.parametrize(
    ("source", "labels"),
    [
        ("f(x)  # f", "foxo__ccc"),
        ("def f(x): pass", "kkk_foxoo_kkkk"),
        ("class A(B):\n  y = 1\n", "kkkkk_foxoo___x_o_n_"),
        ("x.y.z (0x1f)", "xoxof_onnnno"),
        ("if f (a): b", "kk_f_oxoo_x"),
        ("rb'a' + r", "sssss_o_x"),
        ("x = '''a\nb'''  # c", "x_o_" + 9 * "s" + "__ccc"),
        ("a = 1.5e3j\\\n  - 2", "x_o_nnnnnn____o_n"),
        ("not_x = not x", "xxxxx_o_kkk_x"),
        ("match = type = 1", "xxxxx_o_xxxx_o_n"),
        ("@d\ndef g(): ...", "ox_kkk_fooo_ooo"),
        ("größe(é)", "fffffoxo"),
        ("'a' f'{b}' 'c'", "sss_ssssss_sss"),
        ("a\n\n", "x__"),
        ("", ""),
    ],
)
def test_each_character_has_the_label_of_its_token(source, labels):
    assert spelled(source) == labels


@pytest.mark.parametrize("text", ["f'{a(1)} b {c!r:>{d}}'", "f'''{\n  'x'}\n'''", "F''", "f'{f\"{a}\"}'", "rf'\\d{a}'"])
def test_an_f_string_is_a_string_from_its_prefix_to_its_last_quote_in_every_version_of_python(text):
    assert spelled(f"x({text}, y)") == "fo" + len(text) * "s" + "o_xo"


def test_an_f_string_that_comes_in_parts_is_put_together_again(monkeypatch):
    """The tokens of Python 3.12 and later, for an f-string in an f-string, spelled out for those before it."""
    source, at = "f'{f(f\"{a}\")}b' + c", 0
    stream = []
    for kind, text in [
        *[("FSTRING_START", "f'"), ("OP", "{"), ("NAME", "f"), ("OP", "("), ("FSTRING_START", 'f"'), ("OP", "{")],
        *[("NAME", "a"), ("OP", "}"), ("FSTRING_END", '"'), ("OP", ")"), ("OP", "}"), ("FSTRING_MIDDLE", "b")],
        *[("FSTRING_END", "'"), ("OP", "+"), ("NAME", "c"), ("NEWLINE", ""), ("ENDMARKER", "")],
    ]:
        at = source.index(text, at)
        stream.append(tokenize.TokenInfo(kind, text, (1, at), (1, at + len(text)), source))
        at += len(text)
    monkeypatch.setattr(tokenize, "tok_name", {kind: kind for kind, *_ in stream})
    monkeypatch.setattr(tokenize, "generate_tokens", lambda readline: iter(stream))
    assert spelled(source) == 15 * "s" + "_o_x"


@pytest.mark.parametrize("source", ["x = (1", "'''a", "  a\n b\n"])
def test_what_is_no_python_is_refused(source):
    with pytest.raises(ValueError, match="no Python source"):
        label_python(source)


@given(st.integers(0, 200))
def test_the_labels_of_a_beginning_are_the_beginning_of_the_labels(characters):
    source = "def f(x):\n    '''A string,\n    longer.'''\n    return g(x) + f'{x}'  # done\n" * 2
    np.testing.assert_array_equal(label_python(source, characters), label_python(source)[:characters])


@pytest.fixture(scope="module")
def library():
    return labelled_python(60_000)


def test_the_texts_are_those_of_unit_06_and_share_no_file(library):
    train, held_out, _ = library
    assert (train.text, held_out.text) == train_and_held_out("python-source", characters=60_000)
    for part in (train, held_out):
        assert len(part.ids) == len(part.labels) == len(part.text)
        assert set(np.unique(part.labels)) == set(range(len(TOKEN_LABELS)))


def test_ids_spell_the_text_but_for_characters_that_training_never_saw(library):
    train, held_out, chars = library
    assert "".join(chars[i] for i in train.ids) == train.text
    for part in (train, held_out):
        read = "".join(chars[i] for i in part.ids)
        assert all(a == b or (a == "\ufffd" and b not in chars) for a, b in zip(read, part.text, strict=True))


@pytest.mark.parametrize("module", ["bisect", "copy", "json/decoder", "sched"])
def test_a_name_is_a_function_where_the_parser_sees_it_called(module):
    source = documents("python-source")[module]
    assert source.isascii()  # the parser counts bytes
    labels = label_python(source)
    begins = [0, *accumulate(len(line) + 1 for line in source.split("\n"))]
    waiting, names, called = [ast.parse(source)], {}, set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.JoinedStr):  # names inside of f-strings are part of a string here
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Call):
            called.add(node.func)
        if isinstance(node, ast.Name):
            names[node] = begins[node.lineno - 1] + node.col_offset
    assert called & names.keys()
    for node, start in names.items():
        expected = "function" if node in called else "name"
        assert {TOKEN_LABELS[i] for i in labels[start : start + len(node.id)]} == {expected}, (node.id, node.lineno)


def test_windows_are_pieces_of_the_text_one_a_column(library):
    train = library[0]
    ids, labels = train.windows(50)
    assert ids.shape == labels.shape == (50, len(train.text) // 50)
    for n in (0, 7, ids.shape[1] - 1):
        np.testing.assert_array_equal(ids[:, n], train.ids[50 * n : 50 * n + 50])
        np.testing.assert_array_equal(labels[:, n], train.labels[50 * n : 50 * n + 50])
    assert not np.shares_memory(ids, train.ids)
    with pytest.raises(ValueError, match="at least 1"):
        train.windows(0)
