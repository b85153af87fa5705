"""Grammars whose optimum is known: what the best possible model scores on them is computed, not estimated.

A grammar is a set of states. In a state, one of a few tokens is drawn, and the token decides the next state:

    P(token_1, ..., token_T) = product over t of P(token_t | state_t)        state_{t+1} = next(state_t, token_t)

A model that has read the beginning of a sentence can know the state, and nothing that helps beyond it. So the mean of
the entropy of each draw, weighted by how often a sentence passes through each state, is the lowest cross-entropy that
any model can have (Shannon, 1948, on Markov sources).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from jaxtyping import Float

State = str | int | tuple[str, ...]
Choice = tuple[float, str, State | None]


class Grammar:
    """Sentences drawn token by token: `choices[state]` lists (probability, token, next state), None being the end.

    The probabilities of a state sum to 1, and its tokens are distinct. Raises ValueError otherwise.

    >>> coin = Grammar("toss", {"toss": [(0.5, "heads", "toss"), (0.5, "tails", None)]})
    >>> coin.next_tokens(["heads", "heads"])
    {'heads': 0.5, 'tails': 0.5}
    >>> round(coin.perplexity(), 3)
    2.0
    """

    def __init__(self, start: State, choices: Mapping[State, Sequence[Choice]]) -> None:
        self.start = start
        self.choices = {state: list(options) for state, options in choices.items()}
        if start not in self.choices:
            raise ValueError(f"The start state {start!r} has no choices: add it to them.")
        for state, options in self.choices.items():
            _check_state(state, options, self.choices)

    @classmethod
    def from_sentences(cls, sentences: Iterable[Sequence[str]]) -> Grammar:
        """The grammar of some equally likely sentences, none of which begins another. Its states are prefixes.

        >>> Grammar.from_sentences([["a", "b"], ["a", "c"]]).next_tokens(["a"])
        {'b': 0.5, 'c': 0.5}
        """
        counts: dict[tuple[str, ...], dict[str, int]] = {}
        complete = {tuple(sentence) for sentence in sentences}
        for sentence in sorted(complete):
            for t, token in enumerate(sentence):
                followers = counts.setdefault(sentence[:t], {})
                followers[token] = followers.get(token, 0) + 1
        if clash := [sentence for sentence in complete if sentence in counts]:
            raise ValueError(
                f'"{" ".join(clash[0])}" begins another sentence: end every sentence with a token of its own.'
            )
        return cls(
            (),
            {
                prefix: [
                    (count / sum(followers.values()), token, None if (*prefix, token) in complete else (*prefix, token))
                    for token, count in followers.items()
                ]
                for prefix, followers in counts.items()
            },
        )

    @property
    def vocabulary(self) -> list[str]:
        """All tokens, in alphabetical order."""
        return sorted({token for options in self.choices.values() for _, token, _ in options})

    def sample(self, rng: np.random.Generator) -> list[str]:
        """One sentence, as a list of tokens."""
        sentence: list[str] = []
        state: State | None = self.start
        while state is not None:
            options = self.choices[state]
            index = rng.choice(len(options), p=[probability for probability, _, _ in options])
            _, token, state = options[index]
            sentence.append(token)
        return sentence

    def next_tokens(self, prefix: Sequence[str]) -> dict[str, float]:
        """The exact distribution of the next token after `prefix`; {} after a whole sentence.

        Raises ValueError where the grammar never begins a sentence like this.
        """
        state: State | None = self.start
        for t, token in enumerate(prefix):
            following = {name: target for _, name, target in self.choices[state]} if state is not None else {}
            if token not in following:
                raise ValueError(f'No sentence of this grammar has "{token}" after {list(prefix[:t])}.')
            state = following[token]
        return {} if state is None else {token: probability for probability, token, _ in self.choices[state]}

    def sentences(self) -> list[tuple[tuple[str, ...], float]]:
        """All sentences with their probabilities, if there are finitely many; else a ValueError."""
        if self._has_cycle():
            raise ValueError("This grammar has sentences of every length, so they cannot be listed: use sample().")
        complete: list[tuple[tuple[str, ...], float]] = []
        partial: list[tuple[tuple[str, ...], float, State]] = [((), 1.0, self.start)]
        while partial:
            prefix, chance, state = partial.pop()
            for probability, token, target in reversed(self.choices[state]):
                if target is None:
                    complete.append(((*prefix, token), chance * probability))
                else:
                    partial.append(((*prefix, token), chance * probability, target))
        return complete[::-1]

    def ngram(self, n: int) -> dict[tuple[str, ...], dict[str, float]]:
        """The best n-gram model there can be: for each context of n-1 tokens, the exact chance of each next token.

        Within sentences only, without padding, as `count_ngrams` counts them. For finitely many sentences.
        """
        if n < 1:
            raise ValueError(f"n must be at least 1, but it is {n}.")
        weights: dict[tuple[str, ...], dict[str, float]] = {}
        for sentence, chance in self.sentences():
            for t in range(n - 1, len(sentence)):
                followers = weights.setdefault(sentence[t - n + 1 : t], {})
                followers[sentence[t]] = followers.get(sentence[t], 0.0) + chance
        return {
            context: {token: weight / sum(followers.values()) for token, weight in followers.items()}
            for context, followers in weights.items()
        }

    def mean_length(self) -> float:
        """The expected number of tokens in a sentence."""
        return float(sum(self._visits().values()))

    def sentence_entropy(self) -> float:
        """The entropy of a whole sentence, in nats."""
        return sum(
            visits * -sum(p * math.log(p) for p, _, _ in self.choices[state] if p > 0)
            for state, visits in self._visits().items()
        )

    def entropy(self) -> float:
        """The lowest mean cross-entropy per token that any model can have, in nats."""
        return self.sentence_entropy() / self.mean_length()

    def perplexity(self) -> float:
        """The lowest perplexity per token that any model can have, exp(entropy)."""
        return math.exp(self.entropy())

    def _visits(self) -> dict[State, float]:
        """How often a sentence passes through each state, on average: v = e_start + v P, solved for v."""
        states = list(self.choices)
        index = {state: i for i, state in enumerate(states)}
        moves: Float[np.ndarray, "S S"] = np.zeros((len(states), len(states)))
        for state, options in self.choices.items():
            for probability, _, target in options:
                if target is not None:
                    moves[index[state], index[target]] += probability
        begin = np.zeros(len(states))
        begin[index[self.start]] = 1.0
        visits = np.linalg.solve(np.eye(len(states)) - moves.T, begin)
        return dict(zip(states, visits.tolist(), strict=True))

    def _has_cycle(self) -> bool:
        """Whether a path of the grammar comes back to where it was: states are removed that lead only to the end."""
        open_states = set(self.choices)
        while True:
            closed = {s for s in open_states if all(target not in open_states for _, _, target in self.choices[s])}
            if not closed:
                return bool(open_states)
            open_states -= closed


def _check_state(state: State, options: Sequence[Choice], choices: Mapping[State, object]) -> None:
    """Raise a ValueError unless `options` is a distribution over distinct tokens that lead to known states."""
    tokens = [token for _, token, _ in options]
    total = sum(probability for probability, _, _ in options)
    if not math.isclose(total, 1.0, rel_tol=1e-9) or any(probability < 0 for probability, _, _ in options):
        raise ValueError(
            f"The probabilities in state {state!r} must be positive and sum to 1, but they sum to {total}."
        )
    if len(set(tokens)) < len(tokens):
        raise ValueError(f"State {state!r} offers a token twice: a token must decide the next state.")
    for _, _, target in options:
        if target is not None and target not in choices:
            raise ValueError(
                f"State {state!r} leads to {target!r}, which has no choices: add it, or use None for the end."
            )


def study_grammar() -> Grammar:
    """Three equally likely sentences, whose last word is decided by their fourth.

    "I am studying medicine | law | history at UBC because I want to work as a doctor | lawyer | historian". Nine tokens
    lie between the two, so a model must see ten back (an 11-gram) to be right. A 5-gram sees "to work as a" and is at
    chance, exactly:

    >>> grammar = study_grammar()
    >>> grammar.ngram(5)["to", "work", "as", "a"] == {"doctor": 1 / 3, "lawyer": 1 / 3, "historian": 1 / 3}
    True
    >>> round(grammar.entropy() / (math.log(3) / 14), 12)  # one choice out of three in fourteen tokens
    1.0
    """
    goals = {"medicine": "doctor", "law": "lawyer", "history": "historian"}
    return Grammar.from_sentences(
        f"I am studying {subject} at UBC because I want to work as a {goal}".split() for subject, goal in goals.items()
    )
