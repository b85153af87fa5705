"""Corpora for a project: each token has its target, what belongs together is one group, and files of one's own."""

import itertools

import pytest

from rnncourse.data import CORPORA, DATE_LANGUAGES, load_corpus
from rnncourse.data.corpora import PIECE


@pytest.mark.parametrize("name", CORPORA)
def test_a_built_in_corpus_has_a_target_for_each_token_and_groups_enough_for_three_parts(name):
    corpus = load_corpus(name, most=20_000)
    assert len(corpus.tokens) == len(corpus.targets) == len(corpus.groups)
    assert all(len(tokens) == len(targets) > 0 for tokens, targets in zip(corpus.tokens, corpus.targets))
    assert max(map(len, corpus.tokens)) <= PIECE
    assert 15_000 < sum(map(len, corpus.tokens)) <= 20_000
    assert len(set(corpus.groups)) >= 10
    again = load_corpus(name, most=20_000)
    assert again == corpus


def test_each_day_stands_once_in_every_language():
    corpus = load_corpus("dates", most=5000)
    for _, documents in itertools.groupby(zip(corpus.groups, corpus.targets), key=lambda d: d[0]):
        languages = [targets[0] for _, targets in documents]
        assert languages == list(DATE_LANGUAGES)[: len(languages)]


def test_text_of_ones_own_asks_for_the_next_token_and_keeps_equal_paragraphs_together(tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text("One two three.\n\nSomething else.\n\none  two Three.\n")
    corpus = load_corpus(file)
    assert ["".join(tokens) for tokens in corpus.tokens] == ["One two three", "Something else", "one  two Three."]
    assert all(tokens[1:] == targets[:-1] for tokens, targets in zip(corpus.tokens, corpus.targets))
    assert corpus.groups[0] == corpus.groups[2] != corpus.groups[1]
    assert load_corpus(file, by_word=True).tokens[0] == ["One", "two", "three"]


def test_a_table_of_ones_own_has_its_label_at_every_step(tmp_path):
    file = tmp_path / "mine.tsv"
    file.write_text("so good\tyes\nso bad\tno\nSo  good\tyes\n")
    corpus = load_corpus(file)
    assert "".join(corpus.tokens[1]) == "so bad"
    assert corpus.targets[1] == ["no"] * 6
    assert corpus.groups[0] == corpus.groups[2]
    assert load_corpus(file, by_word=True).targets[1] == ["no", "no"]


def test_a_long_paragraph_is_cut_into_pieces_of_one_group_and_nothing_is_lost(tmp_path):
    file = tmp_path / "long.txt"
    text = " ".join(f"word{i}" for i in range(200))
    file.write_text(text)
    corpus = load_corpus(file)
    assert len(set(corpus.groups)) == 1
    pieces = ["".join([*tokens, targets[-1]]) for tokens, targets in zip(corpus.tokens, corpus.targets)]
    assert "".join(pieces) == text


@pytest.mark.parametrize(("most", "words"), [(0, "most must be at least 1"), (-5, "most must be at least 1")])
def test_no_room_for_a_token_is_an_error(most, words):
    with pytest.raises(ValueError, match=words):
        load_corpus("dates", most=most)


def test_a_file_with_nothing_to_predict_is_an_error(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("a\n")
    with pytest.raises(ValueError, match="no document of two tokens"):
        load_corpus(file, by_word=True)
