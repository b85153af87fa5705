"""The grammars: their exact entropies against enumeration, their samples against their probabilities."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnncourse.data import Grammar, digit_image, study_grammar


@st.composite
def finite_grammars(draw):
    """A random grammar without a loop: from state i only to later states or to the end."""
    size = draw(st.integers(1, 4))
    choices = {}
    for state in range(size):
        tokens = draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True))
        weights = [draw(st.integers(1, 9)) for _ in tokens]
        targets = [draw(st.sampled_from([*range(state + 1, size), None])) for _ in tokens]
        choices[state] = [(w / sum(weights), token, to) for w, token, to in zip(weights, tokens, targets)]
    return Grammar(0, choices)


@given(finite_grammars())
def test_entropy_is_that_of_all_sentences_listed(grammar):
    sentences = grammar.sentences()
    chances = [chance for _, chance in sentences]
    length = sum(chance * len(sentence) for sentence, chance in sentences)
    entropy = -sum(chance * math.log(chance) for chance in chances)
    assert math.isclose(sum(chances), 1.0)
    assert len({sentence for sentence, _ in sentences}) == len(sentences)
    assert math.isclose(grammar.mean_length(), length)
    assert math.isclose(grammar.sentence_entropy(), entropy, abs_tol=1e-12)
    assert math.isclose(grammar.entropy(), entropy / length, abs_tol=1e-12)
    assert math.isclose(grammar.perplexity(), math.exp(entropy / length))


@given(finite_grammars())
def test_the_chances_of_the_tokens_multiply_to_that_of_the_sentence(grammar):
    for sentence, chance in grammar.sentences():
        product = math.prod(grammar.next_tokens(sentence[:t])[token] for t, token in enumerate(sentence))
        assert math.isclose(product, chance)
        assert grammar.next_tokens(sentence) == {}


@given(finite_grammars(), st.integers(1, 4))
def test_the_best_ngram_is_what_counting_all_sentences_by_their_chance_gives(grammar, n):
    totals = Counter()
    for sentence, chance in grammar.sentences():
        for t in range(len(sentence) - n + 1):
            totals[sentence[t : t + n]] += chance
    model = grammar.ngram(n)
    contexts = Counter()
    for window, weight in totals.items():
        contexts[window[:-1]] += weight
    assert {(*context, token) for context, followers in model.items() for token in followers} == set(totals)
    for window, weight in totals.items():
        assert math.isclose(model[window[:-1]][window[-1]], weight / contexts[window[:-1]])


def test_samples_come_as_often_as_their_chance_says():
    grammar = Grammar("s", {"s": [(0.2, "a", "t"), (0.8, "b", None)], "t": [(0.5, "c", None), (0.5, "d", None)]})
    rng = np.random.default_rng(0)
    seen = Counter(tuple(grammar.sample(rng)) for _ in range(4000))
    for sentence, chance in grammar.sentences():
        assert abs(seen[sentence] / 4000 - chance) < 0.03
    assert len(seen) == 3


def test_the_entropy_of_a_grammar_with_a_loop_is_exact():
    stop = 0.25  # the length is geometric: 4 tokens on average, each of them one draw
    grammar = Grammar(0, {0: [(stop, "end", None), (1 - stop, "on", 0)]})
    draw = -(stop * math.log(stop) + (1 - stop) * math.log(1 - stop))
    assert math.isclose(grammar.mean_length(), 1 / stop)
    assert math.isclose(grammar.entropy(), draw)
    with pytest.raises(ValueError, match="every length"):
        grammar.sentences()


def test_the_study_sentences_are_the_three_of_the_course():
    sentences = {" ".join(sentence): chance for sentence, chance in study_grammar().sentences()}
    assert set(sentences) == {
        "I am studying medicine at UBC because I want to work as a doctor",
        "I am studying law at UBC because I want to work as a lawyer",
        "I am studying history at UBC because I want to work as a historian",
    }
    assert all(math.isclose(chance, 1 / 3) for chance in sentences.values())
    assert math.isclose(study_grammar().entropy(), math.log(3) / 14)


@pytest.mark.parametrize(
    ("choices", "complaint"),
    [
        ({"t": [(1.0, "a", None)]}, "start state"),
        ({"s": [(0.5, "a", None)]}, "sum to 1"),
        ({"s": [(1.5, "a", None), (-0.5, "b", None)]}, "positive"),
        ({"s": [(0.5, "a", None), (0.5, "a", "s")]}, "twice"),
        ({"s": [(1.0, "a", "nowhere")]}, "'nowhere', which has no choices"),
    ],
)
def test_what_is_no_grammar_is_refused(choices, complaint):
    with pytest.raises(ValueError, match=complaint):
        Grammar("s", choices)


def test_a_prefix_that_never_occurs_and_a_sentence_that_begins_another_are_refused():
    with pytest.raises(ValueError, match='has "chemistry" after'):
        study_grammar().next_tokens(["I", "am", "studying", "chemistry"])
    with pytest.raises(ValueError, match="n must be at least 1"):
        study_grammar().ngram(0)
    with pytest.raises(ValueError, match='"a" begins another sentence'):
        Grammar.from_sentences([["a"], ["a", "b"]])


def test_the_image_is_eight_by_eight_between_paper_and_ink():
    image = digit_image()
    assert image.shape == (8, 8)
    assert set(np.unique(image)) == {0.0, 0.5, 1.0}
    image[:] = 7  # a copy of one's own
    assert digit_image().max() == 1.0
