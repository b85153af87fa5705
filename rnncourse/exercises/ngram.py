"""Unit 01: language models without memory. Its exercises, their cases, hints and misconceptions."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from rnncourse import ngram
from rnncourse.checks.exercise import Case, Option, Unit, case, edge
from rnncourse.checks.plain import Plain

unit = Unit("01_ngram", "Language models without memory", ngram)

WORDS = ("tree", "cat", "moon", "dog", "sun", "bird", "apple", "king", "hat", "river")

ex = unit.exercise(
    "bag_of_words",
    points=2,
    takes="tokens, vocabulary",
    gives="counts (V,)",
    hints=(
        "The vocabulary decides how long the answer is, and in which order. Ask each of its words one question.",
        "The question is: how often do you occur among the tokens? A list answers it: `tokens.count(word)`.",
        "`np.array([tokens.count(word) for word in vocabulary])`",
    ),
)


def bag(rng: np.random.Generator, counts: list[int]) -> tuple[list[str], list[str]]:
    """Tokens and a vocabulary whose words occur `counts` times, all different, in a drawn order that is not the
    alphabet's; the last is the first with a capital. Among the tokens are strangers too: a plural, a capital, a comma,
    a space, two words that are in no vocabulary.
    """
    words = [str(word) for word in rng.choice(WORDS, len(counts) - 1, replace=False)]
    words.append(words[0].capitalize())
    times = [int(count) for count in rng.permutation(counts)]
    tokens = [word for word, count in zip(words, times) for _ in range(count)]
    tokens += [words[0] + "s", words[1].capitalize(), words[1] + ",", words[0] + " ", "xylophone", "quartz"]
    return [str(token) for token in rng.permutation(tokens)], words


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    for counts in ([0, 1, 2, 3], [2, 4, 1, 0, 3, 5]):
        yield case(*bag(rng, counts))
    tokens, words = bag(rng, [0, 1, 3])
    yield edge("no tokens at all", [], words)
    yield edge("no token is in the vocabulary", ["xylophone", "quartz"], words)
    yield edge("one word, more often than a byte can count", [*tokens, *words[:1] * 300], words[:1])


ex.mistakes(r"""
presence_for_count: A word that occurs twice counts once in your bag: it says whether a word is there, not how often.
  (With `counts[ids] += 1` NumPy does just that: it adds to a repeated index only once.)
+ return np.array([1 if word in tokens else 0 for word in vocabulary])

alphabetical_order: Your counts stand in alphabetical order. Entry i belongs to `vocabulary[i]`: keep the vocabulary's
  own order.
+ return np.array([tokens.count(word) for word in sorted(vocabulary)])

strangers_in_the_last_entry: Tokens that are not in the vocabulary are added to the last word's count, as index -1 does.
  Skip them.
+ counts = np.zeros(len(vocabulary), dtype=int)
+ for token in tokens:
+     counts[vocabulary.index(token) if token in vocabulary else -1] += 1
+ return counts

parts_of_words: You count a word inside longer ones too, as "cat" in "cats": so do `count` and `in` on a string.
  Compare whole tokens.
+ text = " ".join(tokens)
+ return np.array([text.count(word) for word in vocabulary])

capitals_folded: You count "Cat" as "cat". To this function they are two tokens: compare the words as they are.
- counts = Counter(tokens)
+ counts = Counter(token.lower() for token in tokens)

capitals_folded_in_the_vocabulary_too = capitals_folded
+ words = [token.lower() for token in tokens]
+ return np.array([words.count(word.lower()) for word in vocabulary])

punctuation_dropped: You count "cat," as "cat". To this function they are two tokens: compare the words as they are.
- counts = Counter(tokens)
+ counts = Counter(token.strip(".,;:!?") for token in tokens)

shares_for_counts: You divide by the number of tokens, so your entries are shares. Return the counts themselves.
+ return np.array([tokens.count(word) for word in vocabulary]) / max(len(tokens), 1)

counts_as_floats: The counts are right, but your array holds floats, as `np.zeros` makes them unless it is told
  `dtype=int`. A count is a whole number.
- return np.array([counts[word] for word in vocabulary])
+ return np.array([float(counts[word]) for word in vocabulary])

counted_for_a_neighbour: Tokens that are not in the vocabulary are counted for another word. `np.searchsorted` says
  where a word would have to stand, not that it stands there: compare what you find with what you looked for.
+ order = np.argsort(vocabulary)
+ places = np.searchsorted(np.array(vocabulary)[order], tokens)
+ counts = np.bincount(places[places < len(vocabulary)], minlength=len(vocabulary))
+ return counts[np.argsort(order)]
""")


unit.choice(
    "quiz_bag_of_words",
    points=2,
    hints=(
        "For each pair, write the words of both sentences in alphabetical order, each as often as it occurs.",
        "Two things change a bag: how often a word occurs, and which words of the vocabulary occur. Order does not.",
        "In two pairs some word of the vocabulary occurs more often in one sentence than in the other. And what does a "
        "bag do with a word that its vocabulary lacks?",
    ),
    options=Option.parse(r"""
A true, order_is_seen: Both sentences have the same five words: "bit", "dog", "man", and "the" twice. Who bites whom is
  a matter of order, and order is what a bag throws away.
B false, bag_is_a_set: A bag counts: "very" is in it once for one sentence and twice for the other. Only a set would not
  see that.
C true, meaning_is_seen: The two mean opposite things, and yet they are made of the same four words. The bag knows that
  "not" is there, but it does not know what it belongs to.
D false, almost_the_same_words: Count the articles: one sentence has "a" once and "the" once, the other has "the" twice.
  That is a difference in two entries.
E true, unknown_words_are_seen: The sentences differ in a city, but neither city is in the vocabulary, and what is not
  in it has no entry where it could be counted.
"""),
)


# --- count_ngrams


def without_zeros(answer: Plain) -> Plain:
    """The table without followers that were never counted: a look at a missing key may leave such entries."""
    return {context: {token: k for token, k in followers.items() if k != 0} for context, followers in answer.items()}


ex = unit.exercise(
    "count_ngrams",
    points=3,
    takes="tokens, n",
    gives="counts",
    canonical=without_zeros,
    hints=(
        "Slide a window of n tokens along the text, one token at a time. Its last token is what follows; the "
        "others are the context.",
        "The windows start at 0, 1, …, len(tokens) - n. In the one that starts at i the context is "
        "`tuple(tokens[i : i + n - 1])`, and the token that follows is `tokens[i + n - 1]`.",
        "For each window: `counts.setdefault(context, Counter())[follower] += 1`. For n = 1 the slice is empty and its "
        "tuple is `()`, as it should be.",
    ),
)


def babble(rng: np.random.Generator, words: int, length: int) -> list[str]:
    """Tokens in which contexts come again, some with the same follower and some with another one. Three of them are no
    words in lower case.
    """
    names = [str(word) for word in rng.permutation(["The", ".", " ", *rng.choice(WORDS, words - 3, replace=False)])]
    a, b, c = names[:3]
    middle = [str(word) for word in rng.choice(names, length)]
    return [a, b, a, c, b, a, b, a, b, *middle, a, c, c]


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(babble(rng, 3, 4), 2)
    yield case(babble(rng, 4, 6), 3)
    yield case(babble(rng, 3, 9), 4)
    yield edge("the context is empty", babble(rng, 4, 3), 1)
    yield edge("as many tokens as n", [str(word) for word in rng.choice(WORDS, 3, replace=False)], 3)
    yield edge("fewer tokens than n", [str(word) for word in rng.choice(WORDS, 2, replace=False)], 3)
    for n in (1, 2):
        yield edge("no tokens at all", [], n)


ex.mistakes(r"""
context_of_n: Your contexts have n tokens. An n-gram is n tokens in all: n-1 of context, and the one that follows.
- for i in range(len(tokens) - n + 1):
-     context, follower = tuple(tokens[i : i + n - 1]), tokens[i + n - 1]
+ for i in range(len(tokens) - n):
+     context, follower = tuple(tokens[i : i + n]), tokens[i + n]

last_window_missed: You end one window too early: the last n tokens of the text are an n-gram too. Of L tokens there are
  L - n + 1.
- for i in range(len(tokens) - n + 1):
+ for i in range(len(tokens) - n):

windows_side_by_side: Your windows lie side by side, n tokens apart. They overlap: the window moves on by one token at a
  time.
- for i in range(len(tokens) - n + 1):
+ for i in range(0, len(tokens) - n + 1, n):

padded_at_the_start: Some contexts hold a token that is not in the text: you pad its beginning. Here an n-gram is made
  of n real tokens, so the first token to be counted is number n.
- counts = {}
+ counts, tokens = {}, ["<s>"] * (n - 1) + tokens

short_contexts_at_the_start: At the beginning of the text your contexts are shorter than n-1 tokens. Start with the
  first token that has n-1 tokens before it.
- for i in range(len(tokens) - n + 1):
-     context, follower = tuple(tokens[i : i + n - 1]), tokens[i + n - 1]
+ for i in range(len(tokens)):
+     context, follower = tuple(tokens[max(0, i - n + 1) : i]), tokens[i]

context_without_a_follower: The last tokens of the text have an entry of their own, in which nothing is counted: nothing
  follows them. A context belongs into the table with its first follower.
- for i in range(len(tokens) - n + 1):
-     context, follower = tuple(tokens[i : i + n - 1]), tokens[i + n - 1]
-     counts.setdefault(context, Counter())[follower] += 1
+ for i in range(len(tokens) - n + 2):
+     followers = counts.setdefault(tuple(tokens[i : i + n - 1]), Counter())
+     if i + n - 1 < len(tokens):
+         followers[tokens[i + n - 1]] += 1

text_for_context: Your contexts are texts, joined with spaces. A context is a tuple of tokens, even if it holds just
  one: `("to",)`.
- context, follower = tuple(tokens[i : i + n - 1]), tokens[i + n - 1]
+ context, follower = " ".join(tokens[i : i + n - 1]), tokens[i + n - 1]

last_follower_only: Each context remembers only what followed it last: the last follower takes the place of all that
  stood there. Make a Counter only where there is none, and add to it.
- counts.setdefault(context, Counter())[follower] += 1
+ counts[context] = Counter([follower])

seen_for_counted: All your counts are 1, as with `= 1`, or with a set of n-grams. Each time that a token is seen, add
  one to the count that it has in its context.
- counts.setdefault(context, Counter())[follower] += 1
+ counts.setdefault(context, Counter())[follower] = 1

context_after_the_token: Your context stands after the token that is counted. A language model reads forwards: the
  context comes first, the last token of the window is what follows.
- context, follower = tuple(tokens[i : i + n - 1]), tokens[i + n - 1]
+ context, follower = tuple(tokens[i + 1 : i + n]), tokens[i]

minus_zero_is_zero: For n = 1 your context is everything read so far, and should be (). The last n-1 items of a list are
  not `seen[-(n - 1):]` if n-1 is 0: `seen[-0:]` is the whole list.
- context, follower = tuple(tokens[i : i + n - 1]), tokens[i + n - 1]
+ context, follower = tuple(tokens[: i + n - 1][-(n - 1) :]), tokens[i + n - 1]

tokens_used_up: The counts are right, but your function changes the list that it was given, as `pop` does. Walk along
  the tokens with an index, and leave them as they are.
- context, follower = tuple(tokens[i : i + n - 1]), tokens[i + n - 1]
+ context, follower = tuple(tokens[: n - 1]), tokens[n - 1]
+ tokens.pop(0)

characters_counted: What you count are the characters of the token that follows. `update` and `Counter(…)` take many
  things to count, and a string is many characters: count the token itself, `counter[token] += 1`.
- counts.setdefault(context, Counter())[follower] += 1
+ counts.setdefault(context, Counter()).update(follower)

new_counter_for_a_new_follower: A follower that is new to its context begins a new Counter there, and those before it
  are lost. Make a Counter where the context is new, and else add to the one that is there.
- counts.setdefault(context, Counter())[follower] += 1
+ if follower in counts.get(context, ()):
+     counts[context][follower] += 1
+ else:
+     counts[context] = Counter([follower])

one_counter_for_all: Each context has what followed any of them, as if all shared one Counter
  (`dict.fromkeys(contexts, Counter())`). Give each a new Counter, and in it its own followers.
- counts = {}
+ counts, shared = {}, Counter()
- counts.setdefault(context, Counter())[follower] += 1
+ counts.setdefault(context, shared)[follower] += 1
""")


ex = unit.exercise(
    "ngram_probability",
    points=3,
    takes="counts, context, token, vocabulary_size, alpha",
    gives="probability",
    hints=(
        "Take the followers of the context out of the table. The probability is a share: this token's count, of the "
        "counts of all of them.",
        "Smoothing adds alpha to the count of each of the V tokens, so the sum of all counts grows by alpha V. "
        "And what should happen where that sum is 0?",
        "With `followers = counts.get(context, Counter())` and `total = sum(followers.values()) + alpha * "
        "vocabulary_size`, it is `(followers[token] + alpha) / total`, or 0.0 if total is 0.",
    ),
)


def table(
    rng: np.random.Generator, length: int
) -> tuple[dict[tuple[str, ...], Counter[str]], tuple[str, ...], str, str]:
    """A table of n-grams, one of its contexts, and two of that context's three followers: a frequent and the rarest."""
    names = [str(word) for word in rng.choice(WORDS, 6, replace=False)]
    a, b, c, *context = names
    contexts = [tuple(context[:length]), tuple(context[:length][::-1]) if length > 1 else (c,)]
    often, other = int(rng.integers(4, 8)), int(rng.integers(2, 4))
    counts = {contexts[0]: Counter({a: often, c: other, b: 1}), contexts[1]: Counter({a: 2, b: 9})}
    return counts, contexts[0], a, b


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    counts, context, often, seldom = table(rng, 1)
    yield case(counts, context, often, 11)
    yield case(counts, context, seldom, 11, 0.5)
    counts, context, often, seldom = table(rng, 2)
    yield case(counts, context, seldom, 12, 0.0)
    yield case(counts, context, often, 12, 2.0)
    yield case(counts, context, "quartz", 12, 0.25)
    yield edge("a token that never follows the context", counts, context, "quartz", 12)
    yield edge("a context that was never seen, without smoothing", counts, ("xylophone", "quartz"), often, 12)
    yield edge("a context that was never seen, with smoothing", counts, ("xylophone", "quartz"), often, 12, 1e-12)
    yield edge("the empty context of n = 1", {(): counts[context]}, (), often, 12, 1)
    yield edge("an empty table", {}, context, often, 9, 3.0)


ex.mistakes(r"""
share_of_all_ngrams: You divide by all n-grams of the table. Given the context, only those count that begin with it:
  divide by the sum of its own followers.
- total = sum(followers.values()) + alpha * vocabulary_size
+ total = sum(sum(f.values()) for f in counts.values()) + alpha * vocabulary_size

alpha_without_V: In the denominator alpha is added only once. Each of the V tokens gets alpha, so it grows by alpha V;
  else the probabilities sum to more than 1.
- total = sum(followers.values()) + alpha * vocabulary_size
+ total = sum(followers.values()) + alpha

alpha_below_only: The denominator is smoothed and the count is not: a token that was not seen still gets 0. Add alpha
  above the line too.
- return (followers[token] + alpha) / total if total else 0.0
+ return followers[token] / total if total else 0.0

only_the_unseen_smoothed: You smooth the tokens that were not seen and leave the counts of the others as they were, so
  that all of them together do not give 1. Every token gets alpha, and every one the same denominator.
- return (followers[token] + alpha) / total if total else 0.0
+ if followers[token]:
+     return followers[token] / sum(followers.values())
+ return alpha / total if total else 0.0

seen_followers_for_V: Your denominator grows by alpha for each follower that was seen. V is the size of the vocabulary,
  since the unseen tokens get alpha too: it is the argument vocabulary_size.
- total = sum(followers.values()) + alpha * vocabulary_size
+ total = sum(followers.values()) + alpha * len(followers)

always_one_added: You add 1 to each count whatever alpha is. Add alpha, and V times alpha below the line; alpha = 0
  leaves the plain shares.
- followers = counts.get(context, Counter())
+ followers, alpha = counts.get(context, Counter()), 1

every_follower_alike: You count the different followers, so each of them is equally likely. How often each one occurred
  is in the Counter's values: sum those.
- followers = counts.get(context, Counter())
+ followers = Counter(set(counts.get(context, ())))

divided_by_the_kinds: You divide by how many different tokens followed. What belongs below the line is how often the
  context was seen: the sum of the Counter's values, not its length.
- total = sum(followers.values()) + alpha * vocabulary_size
+ total = len(followers) + alpha * vocabulary_size

unseen_context_always_uniform: A context that was never seen gives 1/V even without smoothing. With alpha = 0 the model
  has no opinion at all, and here that is the probability 0.
- return (followers[token] + alpha) / total if total else 0.0
+ return (followers[token] + alpha) / total if total else 1 / vocabulary_size

unseen_context_always_zero: A context that was never seen gives 0 even with smoothing. The formula holds there too: (0 +
  alpha) / (0 + alpha V), which is 1/V.
- return (followers[token] + alpha) / total if total else 0.0
+ return (followers[token] + alpha) / total if followers else 0.0

question_written_into_the_table: The probability is right, but asking for it writes an entry into the table, as
  `setdefault` and `counts[context] = …` do. Use `counts.get(context, …)`, which only reads.
- followers = counts.get(context, Counter())
+ followers = counts.setdefault(context, Counter())

alpha_above_only: The count is smoothed and the denominator is not: there is no alpha V in it, and the probabilities sum
  to more than 1.
- total = sum(followers.values()) + alpha * vocabulary_size
+ total = sum(followers.values())

alpha_above_only_of_the_seen = alpha_above_only
- return (followers[token] + alpha) / total if total else 0.0
+ seen = sum(followers.values())
+ return (followers[token] + alpha) / seen if seen else alpha / total if total else 0.0

only_the_unseen_smoothed_above = only_the_unseen_smoothed
- return (followers[token] + alpha) / total if total else 0.0
+ return (followers[token] or alpha) / total if total else 0.0

alpha_over_V_for_the_unseen: A context that was never seen gives alpha / V. By the formula it is (0 + alpha) / (0 +
  alpha V): alpha cancels, and 1/V is left.
- return (followers[token] + alpha) / total if total else 0.0
+ return (followers[token] + alpha) / (total if followers else vocabulary_size)
""")


ex = unit.exercise(
    "perplexity",
    points=2,
    takes="log_probabilities (T,)",
    gives="perplexity",
    ends={"log_probabilities": "none"},
    hints=(
        "Three steps: one number for the whole text, its sign turned, and back from logarithms to numbers.",
        "The one number is the mean of the log-probabilities, so that long and short texts can be compared. They are "
        "natural logarithms, so the way back is the exponential function.",
        "`np.exp(-np.mean(log_probabilities))`, and nothing more: the mean of numbers one of which is -inf is "
        "-inf, and exp(inf) is inf.",
    ),
)


def logs(rng: np.random.Generator, T: int) -> np.ndarray:
    """Log-probabilities of T tokens, from likely to rather unlikely ones."""
    return np.log(rng.uniform(0.02, 0.9, T))


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    for T in (4, 7):
        yield case(logs(rng, T))
    yield edge("one token", logs(rng, 1))
    yield edge("a uniform model", np.full(5, -np.log(float(rng.integers(20, 90)))))
    yield edge("a model that is always certain and right", np.zeros(4))
    yield edge("a token whose probability no float holds", np.append(logs(rng, 3), -900.0))
    long = rng.choice(logs(rng, 12), 3000)
    yield edge("a long text", long)
    yield edge("one impossible token", np.insert(long, 1, -np.inf))


ex.mistakes(r"""
sum_for_mean: Your perplexity comes from the sum of the log-probabilities, so it grows with the length of the text. Take
  their mean.
+ return math.exp(min(-np.sum(log_probabilities), 700.0))

two_to_the_nats: You raise 2 to a power that was measured with natural logarithms. Base and logarithm must match: the
  inverse of the natural logarithm is exp.
+ return 2 ** -np.mean(log_probabilities)

sign_forgotten: You have the typical probability of a token, which is below 1. The perplexity is one over it: it takes
  minus the mean.
+ return np.exp(np.mean(log_probabilities))

not_exponentiated: That is the cross-entropy, in nats. The perplexity is its exponential, a number of equally likely
  tokens.
+ return -np.mean(log_probabilities)

mean_of_inverse_probabilities: You take the mean of 1/p, in which one rare token may outweigh all the others. Take the
  mean first, of the logarithms, and the exponential last.
+ return np.mean(np.exp(-log_probabilities))

inverse_of_mean_probability: You take the mean of the probabilities themselves. The probability of a text is a product,
  so it is their logarithms that are averaged; an impossible token must not vanish among likely ones.
+ return 1 / np.mean(np.exp(log_probabilities))

one_too_few: You divide by T - 1. There are T log-probabilities, one for each token that was predicted: divide by T.
+ return np.exp(-np.sum(log_probabilities) / np.float64(len(log_probabilities) - 1))

impossible_tokens_left_out: You leave tokens of probability 0 out. Then a model is rewarded for calling impossible what
  it cannot predict; by the formula its perplexity is infinite.
+ return np.exp(-np.mean(log_probabilities[np.isfinite(log_probabilities)]))

impossible_tokens_clipped: You lift impossible tokens to a small probability that the model did not give them. An
  infinite loss is the truth about such a model: let it be inf.
+ return np.exp(-np.mean(np.maximum(log_probabilities, np.log(1e-10))))

product_of_probabilities: The probability of a whole text, a product, is soon smaller than any float: it becomes 0, and
  one over it inf. Take the mean of the logarithms first, and exp last.
+ return np.prod(np.exp(log_probabilities)) ** (-1 / len(log_probabilities))

argument_turned_round: The number is right, but you change the caller's array, as `*=` does. Compute a new one, as
  `-log_probabilities` is.
+ log_probabilities *= -1
+ return np.exp(np.mean(log_probabilities))
""")


ex = unit.exercise(
    "ngram_table_size",
    points=1,
    takes="vocabulary_size, n",
    gives="size",
    hints=(
        "How many choices are there for the first token of an n-gram? And, for each of them, for the second?",
        "V choices, n times over: V times V times … times V. Python's own whole numbers never overflow; NumPy's do, "
        "and floats are rounded.",
        "`vocabulary_size ** n`",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(int(rng.integers(20, 90)), 3)
    yield case(2 * int(rng.integers(4_000, 9_000)) + 1, 6)
    yield case(50_000, 5)
    yield edge("a table of one column", int(rng.integers(20, 90)), 1)
    yield edge("a vocabulary of one token", 1, 4)
    yield edge("a very large table", 2 * int(rng.integers(20_000, 30_000)) + 1, 20)


ex.mistakes(r"""
rounded: Your number is a float, or has been one, which keeps only the first 16 digits or so. Stay with whole numbers:
  `**` of two ints is exact.
+ return int(float(vocabulary_size) ** n)

left_as_a_float = rounded
+ return math.pow(vocabulary_size, n)

overflown: Your number has overflowed: NumPy's whole numbers have 64 bits, and beyond 9 · 10^18 they wrap round without
  warning. Python's own grow as they must.
+ return int(np.prod(np.full(n, vocabulary_size, dtype=np.int64)))

contexts_only: V^(n-1) is the number of contexts: the rows of the table. Each row has an entry for each of the V next
  tokens.
+ return vocabulary_size ** (n - 1)

multiplied: You multiply V by n. For each first token there are V second ones, so that the choices multiply: V · V · …,
  n times.
+ return vocabulary_size * n

base_and_exponent_swapped: Base and exponent are swapped: n^V. There are n places with V choices each, so V is the base.
+ return n**vocabulary_size

without_repetition: You count n-grams of n different tokens. A token may come again, as in "to be or not to be": each
  place has all V choices.
+ return math.perm(vocabulary_size, n)

shorter_ones_too: You add up the tables of all n-grams up to n. Only the table for this n is asked for.
+ return sum(vocabulary_size**k for k in range(1, n + 1))
""")


ex = unit.exercise(
    "sample_index",
    points=3,
    takes="probabilities (V,), u",
    gives="index",
    ends={"probabilities": "none", "u": "none"},
    forbids=("numpy.random", "random"),
    hints=(
        "Lay the probabilities end to end on a line from 0 to 1. In whose piece does u lie?",
        "Piece i ends at p_0 + … + p_i, which `np.cumsum` gives for all i. You want the first i whose end lies "
        "beyond u; an empty piece must never be hit, so the end itself belongs to the next piece.",
        "`ends = np.cumsum(probabilities)`; `beyond = np.flatnonzero(ends > u)`; return `int(beyond[0])` if there "
        "is one, else `int(np.flatnonzero(probabilities)[-1])`.",
    ),
)

ALMOST_ONE = 1 - 2.0**-53  # the largest u that a generator of uniform numbers gives


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    # Small pieces first and large ones last: neither the largest one nor a piece by number of V is hit by luck.
    p = np.array([0.08, 0.17, 0.12, 0.4, 0.23])[[0, 2, 1, 4, 3] if rng.random() < 0.5 else [2, 0, 1, 4, 3]]
    ends = np.cumsum(p)
    for i in (1, 2, 3, 4):
        yield case(p, float(ends[i] - rng.uniform(0.1, 0.9) * p[i]))
    p = np.array([0.05, 0.3, 0.15, 0.0, 0.4, 0.1, 0.0])
    ends = np.cumsum(p)
    for i in (0, 2, 4, 5):
        yield case(p, float(ends[i] - rng.uniform(0.1, 0.9) * p[i]))
    yield edge("the first probability is 0", np.array([0.0, 0.0, 0.5, 0.5]), 0.0)
    yield edge("u lies exactly on a boundary", np.array([0.25, 0.25, 0.375, 0.125]), 0.5)
    yield edge("u lies on a boundary before a probability of 0", np.array([0.25, 0.0, 0.0, 0.625, 0.125]), 0.25)
    p = np.array([0.1, 0.1, 0.3, 0.1, 0.1, 0.1, 0.1, 0.1])  # rounded, the sum is a hair below 1 as well
    yield edge("u is a hair below 1, and the sum not above it", p, ALMOST_ONE)
    # The last index is not the number of pieces less one, nor the one where the sum grows for the last time.
    gaps = np.append(np.insert(p, [3, 3], 0.0), [1e-20, 0.0])
    yield edge("u is a hair below 1, and the last probability is 0", gaps, ALMOST_ONE)
    yield edge("a tiny probability", np.array([1e-20, 0.375, 0.625]), 0.0)
    short = np.array([0.25, 0.25, 0.375, 0.125 - 2.0**-53])
    yield edge("u lies exactly on a boundary, and the sum is a hair below 1", short, 0.5)
    yield edge("float32", np.array([0.2, 0.3, 0.4, 0.1], dtype=np.float32), float(rng.uniform(0.55, 0.85)))
    yield edge("one token, and u is as large as its probability", np.array([ALMOST_ONE]), ALMOST_ONE)


ex.mistakes(r"""
most_probable: You return the most probable index, whatever u is. Let u decide: where in the line of
  probabilities does it fall?
+ return int(np.argmax(probabilities))

not_summed_up: You compare u with each probability by itself. Compare it with the sum of all probabilities up to and
  including i.
- beyond = np.flatnonzero(np.cumsum(probabilities) > u)
+ beyond = np.flatnonzero(probabilities > u)

all_indices_alike: You cut the line into V equal pieces, so that each index is equally likely. Piece i must be as long
  as p_i.
+ return int(u * len(probabilities))

one_index_late: Your index is one too high: you compare u with where piece i begins. It ends at p_0 + … + p_i.
- beyond = np.flatnonzero(np.cumsum(probabilities) > u)
+ beyond = np.flatnonzero(np.append(0.0, np.cumsum(probabilities)[:-1]) > u)

one_index_early: Your index is one too low: you return the last piece that ends before u. The piece that holds u is the
  next one.
+ return max(int(np.searchsorted(np.cumsum(probabilities), u, side="right")) - 1, 0)

sorted_first: You sort the probabilities, and the index that you return is one in the sorted list. Leave them in their
  order: index i stands for token i.
- beyond = np.flatnonzero(np.cumsum(probabilities) > u)
+ beyond = np.flatnonzero(np.cumsum(np.sort(probabilities)[::-1]) > u)

largest_first: You lay the pieces on the line by their size, the largest first. They lie in the order of the indices: u
  then falls into the piece of another token.
- beyond = np.flatnonzero(np.cumsum(probabilities) > u)
+ order = np.argsort(probabilities)[::-1]
+ beyond = order[np.cumsum(probabilities[order]) > u]

boundary_to_the_left: Where u lies exactly on a boundary you take the piece before it; with u = 0 that can be an index
  whose probability is 0. Ask for `> u`, not `>= u` (in `np.searchsorted`: side="right").
- beyond = np.flatnonzero(np.cumsum(probabilities) > u)
+ beyond = np.flatnonzero(np.cumsum(probabilities) >= u)

beyond_the_end: When rounding leaves the sum just below 1, and u lies beyond it, you return an index that does not
  exist. Fall back on the last index with p_i > 0.
+ return int(np.searchsorted(np.cumsum(probabilities), u, side="right"))

last_even_if_impossible: Where rounding leaves the sum just below 1, and u lies beyond it, you return the last index,
  even if its probability is 0. (It does not help to set the last sum to 1.) Fall back on the last index with p_i > 0:
  an impossible token is never drawn.
- return int(beyond[0]) if len(beyond) else int(np.flatnonzero(probabilities)[-1])
+ return int(beyond[0]) if len(beyond) else len(probabilities) - 1

zero_if_none: When no sum is larger than u, you return 0, as `np.argmax` of an array that is False throughout does. Fall
  back on the last index with p_i > 0.
+ return int(np.argmax(np.cumsum(probabilities) > u))

summed_in_place: The index is right, but you write into the caller's array, as sums in place do. Let `np.cumsum` make a
  new array, or keep the sum so far in a number.
+ for i in range(1, len(probabilities)):
+     probabilities[i] += probabilities[i - 1]
+ beyond = np.flatnonzero(probabilities > u)
+ return int(beyond[0]) if len(beyond) else int(np.searchsorted(probabilities, probabilities[-1]))

pieces_counted_for_the_last: When no sum is larger than u, you return how many probabilities are not 0, less one. That
  is the last index with p_i > 0 only if no 0 stands before it: `np.flatnonzero(probabilities)[-1]` is the index.
- return int(beyond[0]) if len(beyond) else int(np.flatnonzero(probabilities)[-1])
+ return int(beyond[0]) if len(beyond) else np.count_nonzero(probabilities) - 1

most_probable_if_none: When no sum is larger than u, you return the most probable index. Such a u lies at the very end
  of the line: fall back on the last index with p_i > 0.
- return int(beyond[0]) if len(beyond) else int(np.flatnonzero(probabilities)[-1])
+ return int(beyond[0]) if len(beyond) else int(np.argmax(probabilities))
""")
