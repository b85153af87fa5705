r"""Opponents worth beating: models that count, and whose settings are chosen on validation, as a network's are.

**Interpolated Kneser-Ney.** An n-gram that takes a discount D_n from every count, and gives what it has taken to the
model with one token less in its context. With N(c) for the number of different tokens that followed the context c, and
c' for c without its first token:

    P_n(w | c) = max(count(c, w) - D_n, 0) / count(c)  +  D_n N(c) / count(c)  P_{n-1}(w | c')         P_0(w) = 1/Q

In the shorter contexts it counts something else: not how often c' was followed by w, but after how many *different*
tokens c' w was seen. "York" is frequent, but follows nothing but "New"; where a longer context was never seen, it is no
good guess. A context that was never seen leaves the word to the shorter one.

**Class-conditional counts with Bayes' rule.** For each class an n-gram of its own, and

    P(class | letters so far)  ~  P(class) product over t of P_class(letter_t | the n-1 letters before it)^power

Letters are no independent witnesses, so that the plain product (power 1) is too sure of itself; a power below 1, chosen
on validation too, takes it back.

A third opponent, the hidden Markov model, is unit 09's: `rnncourse.bidirectional_torch.HiddenMarkov`.

Sources: R. Kneser, H. Ney, "Improved Backing-off for M-gram Language Modeling", ICASSP 1995; S. F. Chen, J. Goodman,
"An Empirical Study of Smoothing Techniques for Language Modeling", Computer Speech & Language 13, 1999 (interpolated;
discounts chosen on validation); D. J. C. MacKay, L. C. Bauman Peto, "A Hierarchical Dirichlet Language Model", Natural
Language Engineering 1, 1995 (the smoothing of the class-conditional counts).
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from jaxtyping import Float

GRID = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)  # of discounts
Table = tuple[np.ndarray, np.ndarray, np.ndarray]  # counts of grams; by context, their sum, and of how many kinds
Documents = Sequence[tuple[Sequence[int], Sequence[int]]]  # ids, and the class at each of them, the same at all


class KneserNey:
    """The n-gram of Kneser and Ney, interpolated, with a discount for each length of context.

    tokens: what is counted: a text, whose tokens are its characters, or a sequence of words or ids.
    n: it looks back over n-1 tokens. vocabulary_size: Q. validation: what the discounts are chosen on; without it, all
    of them are 0.75.

    >>> text = "the cat sat on the mat. the rat sat on the cat."
    >>> model = KneserNey(text, 3, vocabulary_size=len(set(text)))
    >>> model.probability("th", "e") > 0.8
    True
    >>> round(sum(model.probability("at", w) for w in set(text)), 2)
    1.0
    """

    def __init__(
        self,
        tokens: Sequence[Hashable],
        n: int,
        vocabulary_size: int,
        validation: Sequence[Hashable] | None = None,
    ) -> None:
        if n < 1:
            raise ValueError(f"n must be at least 1, and is {n}.")
        self.n, self.vocabulary_size = n, vocabulary_size
        self._places = {token: i for i, token in enumerate(dict.fromkeys(tokens))}
        self._grams: list[np.ndarray] = []  # for k = 1 to n the grams of k tokens, in order, each as one whole number:
        counts, different = [], []  # the number of its context among those of k-1, times Q, plus that of its last token
        ids, number = self._ids(tokens), np.zeros(len(tokens) + 1, dtype=int)
        for k in range(n):
            after = number[1:]
            grams, first, number, count = np.unique(
                number[:-1] * len(self._places) + ids[k:], return_index=True, return_inverse=True, return_counts=True
            )
            if k:  # before how many different tokens each gram of k tokens was seen
                different.append(np.bincount(after[first], minlength=len(self._grams[-1])))
            self._grams.append(grams)
            counts.append(count)
        self._counts, self._different = ([self._table(k, one) for k, one in enumerate(c)] for c in (counts, different))
        self.discounts = (0.75,) * n
        if validation is not None:
            self._tune(validation)

    def shorter(self, n: int, validation: Sequence[Hashable] | None = None) -> KneserNey:
        """The same counts with another n, at most this one's; its discounts are chosen anew, if there is a validation.

        **Errors:** `ValueError` for an n that is longer.
        """
        if not 1 <= n <= self.n:
            raise ValueError(f"n must be from 1 to {self.n}, and is {n}.")
        other = copy.copy(self)
        other.n, other.discounts = n, self.discounts[:n]
        if validation is not None:
            other._tune(validation)
        return other

    def probabilities(self, tokens: Sequence[Hashable]) -> Float[np.ndarray, "L"]:
        """P(token | the n-1 tokens before it), or as many as there are, for each of L tokens."""
        return self._mixed(self._found(tokens), self.discounts)

    def probability(self, context: Sequence[Hashable], token: Hashable) -> float:
        """P(token | context), of which the last n-1 tokens count. A text's context is a text."""
        whole = context + token if isinstance(context, str) and isinstance(token, str) else (*context, token)
        return float(self.probabilities(whole[-self.n :])[-1])

    def bits(self, tokens: Sequence[Hashable]) -> float:
        """The mean of -log2 P over all tokens but the first, which nothing precedes."""
        return float(-np.log2(self.probabilities(tokens)[1:]).mean())

    def counts(self, tokens: Sequence[Hashable]) -> Float[np.ndarray, "2 L"]:
        """How often each token followed the n-1 tokens before it in the text that was counted, and how often any did.

        For the first n-1 tokens both are 0.
        """
        return self._looked_up(tokens, self._counts[: self.n])[-1][:2]

    def _ids(self, tokens: Sequence[Hashable]) -> np.ndarray:
        return np.array([self._places.get(token, -1) for token in tokens], dtype=int)

    def _table(self, k: int, counts: np.ndarray) -> Table:
        """With the counts of the grams of k+1 tokens: their sum by context, and how many different ones there are."""
        contexts, size = self._grams[k] // len(self._places), len(self._grams[k - 1]) if k else 1
        totals, kinds = (np.bincount(contexts, weights, size) for weights in (counts, counts > 0))
        return counts, totals, kinds

    def _looked_up(self, tokens: Sequence[Hashable], tables: Sequence[Table]) -> list[Float[np.ndarray, "3 L"]]:
        """For each length of context: the count of each token, that of its context, how many kinds followed."""
        ids, found = self._ids(tokens), []
        context = np.zeros(len(ids) + 1, dtype=int)  # its number, or -1 if it was never seen
        for k, (counts, totals, kinds) in enumerate(tables):
            context, last = context[:-1], ids[k:]
            gram = np.where((context >= 0) & (last >= 0), context * len(self._places) + last, -1)
            number = np.searchsorted(self._grams[k], gram)
            number = np.where(np.append(self._grams[k], -2)[number] == gram, number, -1)
            looked = (counts, number), (totals, context), (kinds, context)
            # a last entry of 0, for what has the number -1
            rows = np.array([np.append(table, 0)[places] for table, places in looked], dtype=float)
            found.append(np.pad(rows, ((0, 0), (len(ids) - rows.shape[1], 0))))
            context = number
        return found

    def _found(self, tokens: Sequence[Hashable]) -> list[Float[np.ndarray, "3 L"]]:
        """What `_mixed` needs of a text: of the longest context the counts, of all shorter ones what is different."""
        return self._looked_up(tokens, [*self._different[: self.n - 1], self._counts[self.n - 1]])

    def _mixed(self, found: list[np.ndarray], discounts: Sequence[float]) -> np.ndarray:
        """The recursion, from the shortest context to the longest, over all tokens at once."""
        p = np.full(found[0].shape[1], 1 / self.vocabulary_size)
        for (count, total, kinds), discount in zip(found, discounts, strict=True):
            mixed = np.maximum(count - discount, 0) + discount * kinds * p
            p = np.where(total > 0, mixed / np.maximum(total, 1), p)
        return p

    def _tune(self, validation: Sequence[Hashable]) -> None:
        """Choose the discounts, one after the other and twice over, each the best of GRID on the validation text."""
        found, chosen = self._found(validation), list(self.discounts)
        for k in 2 * [*range(self.n)]:

            def cost(discount: float, k: int = k) -> float:
                return float(-np.log(self._mixed(found, [*chosen[:k], discount, *chosen[k + 1 :]])).mean())

            chosen[k] = min(GRID, key=cost)
        self.discounts = tuple(chosen)


class ClassCounts:
    """For each class an n-gram of the ids of its documents; what was read then says which class it is, by Bayes' rule.

    train: documents. longest: the largest n that will be asked for. There are `classes` classes, from 0, and
    `symbols` different ids. In each class

        P(w | c) = (count(c, w) + s P(w | c')) / (count(c) + s)

    where c' is the context without its first id, and s a strength, to be chosen, like n and the power. A document's
    beginning is an id, too.

    >>> documents = [([0, 1, 0, 1], [0] * 4), ([1, 1, 0, 0], [1] * 4)]
    >>> ClassCounts(documents, 2, classes=2, symbols=2).posterior([0, 1], n=2, strength=1.0).round(2)
    array([[0.75, 0.25],
           [0.91, 0.09]])
    """

    def __init__(self, train: Documents, longest: int, classes: int, symbols: int) -> None:
        self.longest, self.classes, self.symbols = longest, classes, symbols
        found: list[Counter[tuple[int | None, ...]]] = [Counter() for _ in range(classes)]
        prior = np.ones(classes)
        for ids, targets in train:
            text, y = (-1, *map(int, ids)), int(targets[0])
            prior[y] += 1
            for k in range(longest):
                found[y].update(text[t - k : t + 1] for t in range(max(k, 1), len(text)))
                found[y].update((*text[t - k : t], None) for t in range(max(k, 1), len(text)))  # None: any id
        self._row = {gram: row for row, gram in enumerate(set().union(*found))}
        self._count: np.ndarray = np.zeros((len(self._row) + 1, classes))  # the last row is of what was never seen
        for y, counts in enumerate(found):
            self._count[[self._row[gram] for gram in counts], y] = list(counts.values())
        self._prior = prior / prior.sum()

    def posterior(self, ids: Sequence[int], n: int, strength: float, power: float = 1.0) -> Float[np.ndarray, "T K"]:
        """P(class | the first t ids), for each t from 1 to T."""
        text, unseen = (-1, *map(int, ids)), len(self._row)
        p = np.full((len(text) - 1, self.classes), 1 / self.symbols)
        for k in range(min(n, self.longest)):
            places = range(1, len(text))
            seen = [self._row.get(text[t - k : t + 1], unseen) if t >= k else unseen for t in places]
            whole = [self._row.get((*text[t - k : t], None), unseen) if t >= k else unseen for t in places]
            p = (self._count[seen] + strength * p) / (self._count[whole] + strength)
        logs = np.log(self._prior) + power * np.log(p).cumsum(axis=0)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def bits(self, scored: Documents, n: int, strength: float, power: float = 1.0) -> float:
        """The mean of -log2 P(right class | ids so far) over all steps of all documents."""
        right = [self.posterior(ids, n, strength, power)[range(len(ids)), list(targets)] for ids, targets in scored]
        return float(-np.log2(np.concatenate(right)).mean())


def choose_class_counts(
    parts: Mapping[str, Documents], settings: Sequence[tuple[int, float, float]], classes: int, symbols: int
) -> tuple[tuple[int, float, float], float, float]:
    """Find the (n, strength, power) of `ClassCounts` with the fewest bits on the validation part.

    Returned are the setting, its bits on validation, and on the test part, which is scored for this setting alone.

    >>> again = [([0, 1, 0, 1], [0] * 4), ([1, 1, 0, 0], [1] * 4)]
    >>> parts = {"train": again, "validation": again, "test": again}
    >>> setting, _, test = choose_class_counts(parts, [(1, 1.0, 1.0), (2, 0.1, 1.0)], 2, 2)
    >>> setting, round(test, 2)
    ((2, 0.1, 1.0), 0.02)
    """
    model = ClassCounts(parts["train"], max(n for n, *_ in settings), classes, symbols)
    found = [model.bits(parts["validation"], *setting) for setting in settings]
    best = settings[int(np.argmin(found))]
    return best, min(found), model.bits(parts["test"], *best)
