# %% [markdown]
# # 01 · Language models without memory
#
# **When you are done you will be able to**
#
# - say what a model with an input of fixed size loses when it is fed a sequence, and show it on two sentences;
# - build an n-gram language model from nothing, measure it, and let it write;
# - say exactly how far it can see, what it would cost to see further, and why paying would not help.
#
# **Time:** about two hours. **Before you start:** Python lists and dicts, NumPy arrays, logarithms, and what a conditional
# probability is. There are eight exercises, the written one among them, 19 points in all. Where you read **Guess first**,
# write your guess down before you run the cell: half of what an experiment teaches is in the difference.
#
# **The question.** In unit 00 you wrote a `state`, carried from one reading to the next. Why should a model need such a
# thing? Let us see how far we get without one.

# %% locked="setup"
import math
from collections import Counter

import numpy as np

from rnncourse import check, hint, progress, use

# %% tags=["experiment"]
progress("01_ngram")

# %% [markdown]
# ## 1 · Sequences
#
# The models that you know, a support vector machine or a multilayer perceptron (MLP), compute $f(x)$ for a vector
# $x \in \mathbb{R}^D$. The size $D$ is fixed before training starts, since every entry of $x$ has weights of its own.
#
# A **sequence** $x_1, x_2, \dots, x_T$ is something else: things in an order, as many as there happen to be. We write $t$
# for the index and call it time, though it need not be time. An item may be a word, a number, or a whole image: a film is a
# sequence of images. And some sequences do not end while one reads them: a stream of news, a conversation.
# %% tags=["experiment"]
from rnncourse.data import digit_image
from rnncourse.plots import image_rows, show

sequences = [
    ("a sentence", "word number", ["the", "dog", "bit", "the", "man"]),
    ("a melody", "note number", ["C", "C", "G", "G", "A", "A", "G"]),
    ("a protein", "place in the chain", list("FVNQHLCGSHLVEALYLVCGERGFFYTPKT")),  # insulin's B chain
    ("an image", "row, from the top", digit_image()),
    ("a film", "frame", [np.roll(digit_image(), shift, axis=1) for shift in range(12)]),  # 64 numbers a step
]
for what, index, x in sequences:
    print(f"{what:<11} T = {len(x):>2}   t is the {index}")

lengths = [len(x) for _, _, x in sequences]
assert len(set(lengths)) == len(lengths), "Expected no two of one length: which D should a model have?"

show(
    image_rows(digit_image()),
    alt="A handwritten seven of 8 by 8 pixels. Blue lines cut it into its 8 rows: each row is the input of one time step.",
)

# %% [markdown]
# What can a model do whose input is of size $D$? Throw the order away, or give each place in the sequence entries of its
# own. We try both.
#
# ## 2 · A bag of words
#
# **Idea.** Choose a vocabulary of $V$ words, once and for all. Turn a sentence into $V$ numbers: how often each word
# occurs in it. Long or short, the result has size $V$.

# %% tags=["experiment"]
from rnncourse.plots.ngram import one_bag

sentences = [["the", "dog", "bit", "the", "man"], ["the", "man", "bit", "the", "dog"]]
vocabulary = ["the", "dog", "bit", "man", "cat"]
show(
    one_bag(sentences, vocabulary),
    alt="On the left the sentences 'the dog bit the man' and 'the man bit the dog'. Arrows lead from both to the same bag of "
    "words on the right: the 2, dog 1, bit 1, man 1, cat 0.",
)

# %% [markdown]
# As a formula, with tokens $w_1, \dots, w_T$ and vocabulary words $v_0, \dots, v_{V-1}$:
#
# $$\text{bag}_i = \#\{\, t : w_t = v_i \,\}$$
#
# A **token** is one item of the sequence: a word here, a character elsewhere. (From unit 03 on, $V$ is also the name of a weight
# matrix. Both uses are standard.)
#
# ### Exercise 1.1 · `bag_of_words`
# *●○○ · 8 minutes · 2 points*
#
# Write `bag_of_words(tokens, vocabulary)`. `tokens` is a list of strings, `vocabulary` a list of $V$ distinct strings. The
# result is an array of shape `(V,)` of whole numbers: entry `i` counts how often `vocabulary[i]` occurs among the tokens.
# Tokens that are not in the vocabulary are ignored. "The" and "the" are different tokens.
#
# By hand: `bag_of_words(["a", "rose", "is", "a", "rose"], ["rose", "a", "red"])` is `[2, 2, 0]`. The token `"is"` has no
# entry, and `"red"` does not occur.


# %% answer="bag_of_words"
def bag_of_words(tokens, vocabulary):
    """How often each word of the vocabulary occurs. tokens: list, vocabulary: list of V words -> (V,) whole numbers."""
    ### BEGIN SOLUTION
    counts = Counter(tokens)
    return np.array([counts[word] for word in vocabulary])
    ### END SOLUTION


# %% check="bag_of_words"
check(bag_of_words)

# %% [markdown]
# You can now feed a sentence of any length to any classifier. Here is what it costs.
#
# **Claim: no model that reads a bag can tell who bit whom.** Not because it is too small: two equal inputs give two equal
# outputs, in every function there is. **Guess first:** how many orders of these five words have this very bag?

# %% tags=["experiment"]
bag = use(bag_of_words)
bags = [np.asarray(bag(tokens, vocabulary)) for tokens in sentences]
for tokens, b in zip(sentences, bags):
    print(f"{' '.join(tokens):<22}", *b)
assert np.array_equal(bags[0], bags[1]), "Expected two equal bags. Has bag_of_words passed its check?"

# 5! orders, but the two "the" may trade places unseen.
print("orders with this bag:", math.factorial(5) // math.factorial(2))

# %% [markdown]
# Sixty orders, one bag. At least two of them are sentences, and one of the two is news.
#
# ### Exercise 1.2 · `quiz_bag_of_words`
# *●○○ · 6 minutes · 2 points*
#
# Which of these pairs can a bag of words **not** tell apart? Everything is in lower case, and punctuation is dropped. The
# vocabulary holds every word that you see below, except the two cities.
#
# - **A** · "the dog bit the man" / "the man bit the dog"
# - **B** · "it is very good" / "it is very, very good"
# - **C** · "not bad, quite good" / "not good, quite bad"
# - **D** · "a dog bit the man" / "the man bit the dog"
# - **E** · "we flew to Oslo" / "we flew to Rome"
#
# Answer with the set of the letters, such as `{"A", "B"}`.

# %% answer="quiz_bag_of_words"
quiz_bag_of_words = None  # put a set of letters in place of None, and delete what stands below
### BEGIN SOLUTION
quiz_bag_of_words = {"A", "C", "E"}
### END SOLUTION

# %% check="quiz_bag_of_words"
check(quiz_bag_of_words, "quiz_bag_of_words")

# %% [markdown]
# ### The other way: a place for everything
#
# Write each token as a **one-hot** vector, all zeros but for a 1 at its index, and put the vectors of the first $T$ places side
# by side, with $T$ fixed in advance: $D = T \cdot V$. Shorter sentences are filled up with zeros, longer ones are cut.
#
# Now the order is there. Something else is lost. **Guess first:** how many entries that are 1 do "the dog barks" and "today
# the dog barks" have in common?

# %% tags=["experiment"]
words_here = ["today", "the", "dog", "barks"]


def placed(tokens, places=4):
    """The one-hot vectors of the tokens side by side, filled up with zeros: shape (places * V,)."""
    x = np.zeros((places, len(words_here)), dtype=int)
    for t, token in enumerate(tokens):
        x[t, words_here.index(token)] = 1
    return x.ravel()


one, other = ["the", "dog", "barks"], ["today", "the", "dog", "barks"]
shared_by_places = int(placed(one) @ placed(other))
shared_by_bags = int(np.dot(bag(one, words_here), bag(other, words_here)))
print("entries that both have, by places:", shared_by_places)
print("words that both have, by bags:    ", shared_by_bags)
print("weights of an MLP, T = 20 places, V = 10,000 words, 100 hidden units:", f"{20 * 10_000 * 100:,}")
assert shared_by_places == 0, "Expected nothing in common, by places."
assert shared_by_bags == 3, "Expected three words in common, by bags. Has bag_of_words passed its check?"

# %% [markdown]
# *Nothing*. What an MLP learns about "dog" as the second word, it must learn again for "dog" as the third, with other weights.
#
# | | any length | knows the order | what is learned at one place holds at another |
# |---|---|---|---|
# | bag of words | yes | **no** | yes |
# | a place for everything | **no** | yes | **no** |
# | what we are looking for | yes | yes | yes |
#
# ## 3 · Language models
#
# One task stays with us through the whole course: **what comes next?** A language model gives every token a probability, given
# all the tokens before it. By the chain rule, this gives a probability to every text:
#
# $$P(w_1, \dots, w_T) = \prod_{t=1}^{T} P(w_t \mid w_1, \dots, w_{t-1})$$
#
# The condition is a sequence that grows: at every step it has another length. **The Markov assumption** cuts it short: only
# the last $n-1$ tokens matter.
#
# $$P(w_t \mid w_1, \dots, w_{t-1}) \approx P(w_t \mid w_{t-n+1}, \dots, w_{t-1})$$
#
# The context $c = (w_{t-n+1}, \dots, w_{t-1})$ together with $w_t$ is an **n-gram**: $n$ tokens in a row. A model that
# knows nothing else is an *n-gram model*, for $n$ = 1, 2, 3 called unigram, bigram, trigram. It looks at the text through a
# window that slides.

# %% tags=["experiment"]
from rnncourse.plots import sliding_window

show(
    sliding_window(["to", "be", "or", "not", "to", "be"], 3, [2, 3, 4, 5]),
    alt="The sentence 'to be or not to be' four times. In each row a trigram model's window stands one word further: two blue "
    "words are the context, the green word after them is what is predicted.",
)

# %% [markdown]
# The probabilities come from counting. Read a text, and for each context note what came next.
#
# By hand, for $n = 2$ and the text "to be or not to be":
#
# | context | what followed |
# |---|---|
# | to | be, be |
# | be | or |
# | or | not |
# | not | to |
#
# The last "be" is followed by nothing, so nothing is noted for it.
#
# ### Exercise 1.3 · `count_ngrams`
# *●●○ · 12 minutes · 3 points*
#
# Write `count_ngrams(tokens, n)`. `tokens` is a list of strings, and $n \geq 1$. The result is a dict: each **context**, a
# tuple of $n-1$ tokens, leads to a `Counter` of the tokens that followed it. So `count_ngrams("to be or not to be".split(), 2)` is
#
#     {("to",): Counter({"be": 2}), ("be",): Counter({"or": 1}), ("or",): Counter({"not": 1}), ("not",): Counter({"to": 1})}
#
# Every n-gram of the text counts, and only those: nothing is put before the first token or after the last one. For $n = 1$
# there is one context, the empty tuple `()`. Fewer than $n$ tokens give `{}`.


# %% answer="count_ngrams"
def count_ngrams(tokens, n):
    """What follows each context. tokens: list of strings, n >= 1 -> dict: tuple of n-1 tokens -> Counter of next tokens."""
    ### BEGIN SOLUTION
    counts = {}
    for i in range(len(tokens) - n + 1):
        context, follower = tuple(tokens[i : i + n - 1]), tokens[i + n - 1]
        counts.setdefault(context, Counter())[follower] += 1
    return counts
    ### END SOLUTION


# %% check="count_ngrams"
check(count_ngrams)

# %% [markdown]
# That is the whole of the training: one pass, no gradient. Everything the model will ever know is in this dict.
#
# ### From counts to probabilities
#
# The natural estimate is a share: of all the times that the context $c$ was seen, how often did $w$ follow?
#
# $$P(w \mid c) = \frac{\text{count}(c, w)}{\text{count}(c)} \qquad \text{with} \quad \text{count}(c) = \sum_{w'} \text{count}(c, w')$$
#
# In our text, $P(\text{not} \mid \text{or}) = 1/1 = 1$. And $P(\text{to} \mid \text{or}) = 0$: after six words, the model
# calls it *impossible* that "to" comes after "or".
#
# **Additive smoothing** is the simplest cure: pretend that each of the $V$ words has been seen $\alpha$ more times after each
# context.
#
# $$P(w \mid c) = \frac{\text{count}(c, w) + \alpha}{\text{count}(c) + \alpha V}$$
#
# By hand, with the $V = 4$ words to, be, or, not, and $\alpha = 1$: $P(\text{not} \mid \text{or}) = (1 + 1)/(1 + 4) = 0.4$,
# and each of the three others gets $1/5 = 0.2$. Together: $0.4 + 3 \cdot 0.2 = 1$, as it must be.
#
# ### Exercise 1.4 · `ngram_probability`
# *●●○ · 12 minutes · 3 points*
#
# Write `ngram_probability(counts, context, token, vocabulary_size, alpha=0.0)`: the formula above, as a number. `counts` is
# a dict as `count_ngrams` makes it, `context` a tuple of tokens. A context that the table does not have gives 0 without
# smoothing ($\alpha = 0$), and $1/V$ with it, which is what the formula says when both counts are 0. Asking must not change
# the table. With the counts of the text above, `ngram_probability(counts, ("or",), "not", 4, 1.0)` is 0.4.


# %% answer="ngram_probability"
def ngram_probability(counts, context, token, vocabulary_size, alpha=0.0):
    """P(token | context) from a table of counts, with alpha added to the count of each of vocabulary_size tokens -> number."""
    ### BEGIN SOLUTION
    followers = counts.get(context, Counter())
    total = sum(followers.values()) + alpha * vocabulary_size
    return (followers[token] + alpha) / total if total else 0.0
    ### END SOLUTION


# %% check="ngram_probability"
check(ngram_probability)

# %% [markdown]
# You have a language model. Let it read Python's own documentation, which came with the Python that runs this notebook. Some
# whole topics are **held out**: the model never reads them, so that we can ask it about text that is new to it. A word that
# occurs only once becomes the token `<unk>` for unknown, and so does every held-out word that is not in the vocabulary.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.data import train_and_held_out, words

train_text, held_out_text = train_and_held_out("python-docs")
train_words, held_out_words = words(train_text.lower()), words(held_out_text.lower())

known = {word for word, k in Counter(train_words).items() if k >= 2}
V = len(known) + 1  # and <unk>


def with_unknown(tokens):
    """Words that are not in the vocabulary become <unk>."""
    return [word if word in known else "<unk>" for word in tokens]


train, held_out = with_unknown(train_words), with_unknown(held_out_words)[:10_000]

count = use(count_ngrams)
tables = {n: count(train, n) for n in range(1, 7)}

print(f"training text {len(train):,} words, held-out text {len(held_out):,} words, vocabulary V = {V:,}")
after_of = tables[3].get(("value", "of"), {})
print("what followed 'value of':", ", ".join(sorted(after_of, key=after_of.get, reverse=True)[:5]), "…")
assert len(train) > 20_000, "Expected more than 20,000 words of documentation."
assert set(held_out) <= known | {"<unk>"}, "Expected no word outside of the vocabulary."

# %% [markdown]
# ### What is it good for?
#
# A model of what is likely can *choose*. Three classic jobs end with the same question: of several candidates, which one is
# most like real language?
#
# - **Translation.** Going word by word from another language gives the right words in a strange order.
# - **Spelling.** "Their" is a word, so no dictionary complains; its neighbours do.
# - **Speech.** "Right" and "write" sound the same. What was said?
#
# **Claim: on one pair for each job, a bigram model that has read some documentation chooses right.** It adds up
# $\log_{10} P$ from the second word on. The difference between two candidates says by how many powers of ten one is
# likelier. When you have seen it, put a pair of your own into `jobs`, and find one on which it fails.

# %% tags=["experiment", "nbval-ignore-output"]
probability = use(ngram_probability)


def log10_probability(sentence, n=2, alpha=0.01):
    """The base-10 logarithm of a sentence's probability, from its n-th word on."""
    tokens = with_unknown(sentence.split())
    return sum(
        math.log10(probability(tables[n], tuple(tokens[i - n + 1 : i]), tokens[i], V, alpha))
        for i in range(n - 1, len(tokens))
    )


jobs = {
    "translation": ("if the test is true", "if the test true is"),  # German: wenn der Test wahr ist
    "spelling": ("there is no default value", "their is no default value"),
    "speech": ("the right operand", "the write operand"),
}
for job, (good, bad) in jobs.items():
    lead = log10_probability(good) - log10_probability(bad)
    print(f"{job:<12} {good!r} is 10^{lead:.1f} times as likely as {bad!r}")
    assert lead > 0.5, f"Expected the bigram model to choose {good!r}. Has ngram_probability passed its check?"

# %% [markdown]
# For decades speech recognisers and translators had an n-gram model inside that did just this. (Both candidates have the
# same length here: each further word makes a sentence less likely.)
#
# ## 4 · How good is it?
#
# **Idea.** Let the model read a text that it has not seen, and look up the probability $p_t$ that it had given to each token that
# really came. Their product is the probability of the text. Its $T$-th root is the typical probability of *one* token, so that
# texts of different lengths can be compared. One over that is the **perplexity**: the number of equally likely tokens that would
# leave a model as uncertain as this one is.
#
# $$\text{perplexity} = \Big( \prod_{t=1}^{T} p_t \Big)^{-1/T} = \exp\Big( -\frac{1}{T} \sum_{t=1}^{T} \log p_t \Big)$$
#
# By hand: two tokens with probabilities $\tfrac12$ and $\tfrac18$. Their product is $\tfrac1{16}$, its square root $\tfrac14$,
# so the perplexity is **4**: as unsure as somebody who guesses among four. A model that always gives $1/V$ has $V$; one that is
# always certain, and right, 1; one that has once called impossible what then happened, infinity.
#
# ### Exercise 1.5 · `perplexity`
# *●●○ · 8 minutes · 2 points*
#
# Write `perplexity(log_probabilities)`. The argument is an array of shape `(T,)`, $T \geq 1$, with the *natural* logarithms of the
# probabilities that the tokens were given; the result is a number. `-np.inf` among them, the logarithm of 0, gives `np.inf`.
# Texts can have thousands of tokens: use the form of the formula that survives this. For the two tokens above,
# `perplexity(np.log([1/2, 1/8]))` is 4.


# %% answer="perplexity"
def perplexity(log_probabilities):
    """exp of minus the mean. log_probabilities: array (T,) of natural logarithms -> number."""
    ### BEGIN SOLUTION
    return np.exp(-np.mean(log_probabilities))
    ### END SOLUTION


# %% check="perplexity"
check(perplexity)

# %% [markdown]
# Its logarithm is the *cross-entropy*, the loss that you will minimise from unit 04 on.
#
# **Now the experiment that this unit turns on:** the perplexity of the 1-gram, the 2-gram, up to the 6-gram, on the text that
# they have counted, and on the text that was held out. **Guess first:** draw both curves.

# %% tags=["experiment", "nbval-ignore-output"]
import itertools

from rnncourse.plots import perplexity_chart

measure = use(perplexity)
ns = range(1, 7)


def log_probabilities(tokens, n, alpha):
    """log P of each token but the first five, which not every n has a context for."""
    p = [probability(tables[n], tuple(tokens[i - n + 1 : i]), tokens[i], V, alpha) for i in range(5, len(tokens))]
    with np.errstate(divide="ignore"):  # log 0 = -inf is meant
        return np.log(np.array(p, dtype=float))


results = {
    "training text, no smoothing": [measure(log_probabilities(train[:10_000], n, 0.0)) for n in ns],
    "held-out text, no smoothing": [measure(log_probabilities(held_out, n, 0.0)) for n in ns],
    "held-out text, α = 1": [measure(log_probabilities(held_out, n, 1.0)) for n in ns],
    "held-out text, α = 0.01": [measure(log_probabilities(held_out, n, 0.01)) for n in ns],
}
print(f"{'n':<30}", *(f"{n:>7}" for n in ns))
for name, values in results.items():
    print(f"{name:<30}", *(f"{value:7.1f}" for value in values))

seen, blind, heavy, light = results.values()
CHECKS = "Have count_ngrams, ngram_probability and perplexity passed their checks?"
assert all(a > b for a, b in itertools.pairwise(seen)), f"Expected training perplexity to fall with n. {CHECKS}"
assert seen[-1] < 1.5, f"Expected the 6-gram to know its training text by heart. {CHECKS}"
assert np.isfinite(blind[0]), f"Expected a finite perplexity of the unigram. {CHECKS}"
assert all(np.isinf(blind[1:])), f"Expected infinite perplexities from n = 2 on, without smoothing. {CHECKS}"
assert light[1] == min(light), f"Expected the bigram to be best on new text. {CHECKS}"
assert light[5] > max(4 * light[1], light[0]), f"Expected the 6-gram to be worst on new text. {CHECKS}"

show(
    perplexity_chart(ns, {name: values for name, values in results.items() if values is not blind}),
    alt="Perplexity on a log scale against n from 1 to 6. On the training text it falls from about 250 to nearly 1. On held-out "
    "text with alpha 0.01 it falls from above 200 to about 100 at n = 2 and then rises to about 1000; with alpha 1 it "
    "rises higher still.",
)

# %% [markdown]
# Three things to see.
#
# 1. **On its own training text the model gets better and better**: the 6-gram knows it by heart.
# 2. **On new text, without smoothing, all but the unigram are infinitely bad.** Somewhere in ten thousand words comes one
#    that the table calls impossible, and one is enough. This line cannot even be drawn.
# 3. **With smoothing the curve turns up.** With $\alpha = 0.01$, one word of context is better than none. But the 6-gram,
#    which sees most, is far worse than the unigram, which sees no context at all.
#
# More context cannot be less information. So what is going on?
#
# ## 5 · $V^n$
#
# **Idea.** A table has an entry for each n-gram that could ever be. With $V$ choices for each of $n$ places that is
#
# $$\underbrace{V \cdot V \cdots V}_{n} = V^n$$
#
# By hand: with an alphabet of 27 characters (26 letters and the space) there are $27^2 = 729$ bigrams and $27^3 = 19{,}683$
# trigrams. With $V$ = 10,000 words, each step back costs four more zeros.
#
# ### Exercise 1.6 · `ngram_table_size`
# *●○○ · 3 minutes · 1 point*
#
# Write `ngram_table_size(vocabulary_size, n)`: $V^n$ as an `int`, exact to the last digit, however large.
# `ngram_table_size(27, 3)` is `19683`.


# %% answer="ngram_table_size"
def ngram_table_size(vocabulary_size, n):
    """How many entries the table of an n-gram model has. Two ints -> int, exact."""
    ### BEGIN SOLUTION
    return vocabulary_size**n
    ### END SOLUTION


# %% check="ngram_table_size"
check(ngram_table_size)

# %% [markdown]
# **Claim: memory is not the problem, since a text cannot fill more entries than it has words. The problem is contexts that
# were never seen: at $n = 6$, more than 60% of those in the new text.** A dict stores only what was seen. But a text of
# some seventy thousand words *shows* almost nothing of the table. **Guess first:** of every million entries of the bigram's
# table, how many does it fill?

# %% tags=["experiment", "nbval-ignore-output"]
import itertools

from rnncourse.plots import line_chart

table_size = use(ngram_table_size)
sizes = [table_size(V, n) for n in ns]
filled = [sum(k > 0 for followers in tables[n].values() for k in followers.values()) for n in ns]


def share_unseen(n):
    """The share of the held-out text's words whose n-1 words of context never occur in the training text."""
    return np.mean([not tables[n].get(tuple(held_out[i - n + 1 : i])) for i in range(5, len(held_out))])


unseen = [share_unseen(n) for n in ns]
print(" n           entries   filled      share of them   contexts never seen, in held-out text")
for n, size, k, share in zip(ns, sizes, filled, unseen):
    print(f"{n:>2} {size:>17.1e} {k:>8,} {k / size:>18.0e} {share:>16.0%}")

assert all(k <= len(train) for k in filled), f"Expected no more entries than words. {CHECKS}"
assert all(a <= b for a, b in itertools.pairwise(unseen)), f"Expected more unseen contexts for longer ones. {CHECKS}"
assert unseen[5] > 0.6, f"Expected more than 60% unseen contexts at n = 6. {CHECKS}"

show(
    line_chart(
        list(ns),
        {
            "entries\nof the table": sizes,
            "entries\never filled": filled,
            "words in the\ntraining text": [len(train)] * 6,
        },
        xlabel="n (tokens the model sees at once)",
        ylabel="number",
        logy=True,
    ),
    alt="On a log scale, the number of entries of the table grows as a straight line from two thousand at n = 1 to about 10 to "
    "the power 20 at n = 6. The number of entries that were ever filled bends off and stays below the number of words in "
    "the training text, some seventy thousand.",
)

# %% [markdown]
# This is **sparsity**, and it solves the puzzle. At $n = 6$ most of the contexts in the new text were never seen. For these
# the model falls back on $1/V$, and does not even know that "the" is a common word. A table can use only a context that it has
# seen *word for word*: to it, "the red car stopped" and "the blue car stopped" are as different as any two strings.
#
# (Real n-gram models fall back on shorter contexts by degrees: *back-off*, *interpolation*, Kneser-Ney smoothing. Their curve
# flattens where ours turns up, but it does not keep falling either.)
#
# ## 6 · Let it write
#
# A model that predicts can write: draw a token, append it, move the window on by one, and draw again. Shannon did it in
# 1948, by hand, with a book opened at random.
#
# **Idea.** To draw from a distribution, lay the probabilities end to end on a line from 0 to 1. A uniform random number
# $u \in [0, 1)$ falls into one of the pieces, into long ones more often.

# %% tags=["experiment"]
from rnncourse.plots.ngram import probability_line

show(
    probability_line({"or": 0.25, "not": 0.125, "to": 0.5, "be": 0.125}, 0.6),
    alt="A line from 0 to 1 in four pieces: or from 0 to 0.25, not to 0.375, to from 0.375 to 0.875, be to 1. An arrow marks "
    "u = 0.6, which lies in the piece of 'to'.",
)

# %% [markdown]
# As a formula: we take the first index $i$ for which
#
# $$p_0 + p_1 + \dots + p_i > u$$
#
# By hand, with the picture's $p = [0.25,\ 0.125,\ 0.5,\ 0.125]$: the sums are $0.25,\ 0.375,\ 0.875,\ 1$. The first that is
# larger than $u = 0.6$ is the third, so the index is 2. For $u = 0.25$, exactly on a boundary, it is 1: with $p = [0, 1]$ and
# $u = 0$ this "larger, and not just equal" keeps index 0, which is impossible, from being drawn.
#
# ### Exercise 1.7 · `sample_index`
# *●●○ · 12 minutes · 3 points*
#
# Write `sample_index(probabilities, u)`: `probabilities` is an array of shape `(V,)`, `u` a number from 0 up to, but not
# including, 1. The result is the first index $i$ with $p_0 + \dots + p_i > u$. There is one trap: floats are rounded, so all the
# sums can be a hair less than 1, and none larger than $u$. Then return the **last index with $p_i > 0$**.
#
# For the picture's $p$, `sample_index(np.array([0.25, 0.125, 0.5, 0.125]), 0.6)` is `2`.
#
# All the randomness is in `u`: neither `numpy.random` nor `random` may be called.


# %% answer="sample_index"
def sample_index(probabilities, u):
    """The index into whose piece of the line u falls. probabilities: array (V,), u in [0, 1) -> int."""
    ### BEGIN SOLUTION
    beyond = np.flatnonzero(np.cumsum(probabilities) > u)
    return int(beyond[0]) if len(beyond) else int(np.flatnonzero(probabilities)[-1])
    ### END SOLUTION


# %% check="sample_index"
check(sample_index)

# %% [markdown]
# A few lines around your function, and the table talks.

# %% tags=["experiment", "nbval-ignore-output"]
draw = use(sample_index)


def write(table, start, length, rng):
    """Continue the tokens `start` to `length` tokens, each drawn from what followed its context in the table."""
    order = len(next(iter(table))) + 1
    tokens = list(start)
    while len(tokens) < length and (followers := table.get(tuple(tokens[len(tokens) - order + 1 :]))):
        candidates = sorted(followers)
        k = np.array([followers[token] for token in candidates], dtype=float)
        tokens.append(candidates[draw(k / k.sum(), rng.random())])
    return tokens


for n in range(1, 6):
    text = write(tables[n], ["the", "value", "of", "the"][: n - 1], 36, np.random.default_rng(4))
    print(f"n = {n}:", " ".join(text), "\n")
    assert len(text) > n, "Expected a text that goes on. Has sample_index passed its check?"

# %% [markdown]
# The unigram writes word salad, and the 5-gram sounds like documentation. Has it learned to write? **Guess first:** of every
# hundred runs of eight words that the 5-gram writes, how many stand word for word in what it has read?
#
# **Claim: a long n-gram has learned to copy. Of the runs of eight words that the 6-gram writes, more than 60% are in its
# training text, word for word; of the bigram's, less than 20%.**

# %% tags=["experiment", "nbval-ignore-output"]
runs = {tuple(train[i : i + 8]) for i in range(len(train) - 7)}


def share_copied(n, seed):
    """The share of runs of eight words that an n-gram model copies from its training text."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < 1500:
        i = int(rng.integers(len(train) - n))
        text = write(tables[n], train[i : i + n - 1], 300, rng)
        found += [tuple(text[j : j + 8]) in runs for j in range(len(text) - 7)]
    return float(np.mean(found))


copied = [share_copied(n, seed=5) for n in ns]
print("n                                     ", *(f"{n:>5}" for n in ns))
print("runs of eight words that were copied  ", *(f"{share:>5.0%}" for share in copied))
assert copied[1] < 0.2, "Expected the bigram to copy less than 20%. Has sample_index passed its check?"
assert copied[5] > 0.6, "Expected the 6-gram to copy more than 60%. Has sample_index passed its check?"

# %% [markdown]
# (Of the four-gram's, over five draws, it is {{copying/4-gram/copied|.0%}}, and of the 6-gram's {{copying/6-gram/copied|.0%}}.) At
# most places the 6-gram has seen only one continuation, and takes it. Where a table is fluent it quotes, where it is new it
# babbles.
#
# ## 7 · What no window sees
#
# Read this, and guess the last word:
#
# > I am studying medicine at UBC because I want to work as a …
#
# You said "doctor", and you took it from "medicine", ten words back. Let there be three such sentences, equally likely: medicine
# goes with doctor, law with lawyer, history with historian. Here is what a 5-gram sees.

# %% tags=["experiment"]
from rnncourse.data import study_grammar

sentence = ["I", "am", "studying", "medicine", "at", "UBC", "because", "I", "want", "to", "work", "as", "a", "doctor"]
show(
    sliding_window(sentence, 5, [13], {3: "decides", 13: "is decided"}),
    alt="The sentence 'I am studying medicine at UBC because I want to work as a doctor'. The window of a 5-gram covers only "
    "'to work as a' before 'doctor'. The word 'medicine', which decides, is far outside it.",
)

# %% [markdown]
# "To work as a" is the same in all three. So the counts are 1, 1, 1, and the probabilities $\tfrac13, \tfrac13, \tfrac13$.
# **Guess first:** which is the smallest $n$ that knows?
#
# **Claim: on the last word the 5-gram is at chance, exactly, and so is every n-gram up to $n = 10$.**

# %% tags=["experiment"]
from fractions import Fraction


def count_all(texts, n):
    """The counts of several sentences in one table; no n-gram reaches from one sentence into the next."""
    merged = {}
    for tokens in texts:
        for context, followers in count(list(tokens), n).items():
            merged.setdefault(context, Counter()).update(followers)
    return merged


texts = [tokens for tokens, _ in study_grammar().sentences()]
their_words = study_grammar().vocabulary
orders = range(2, 15)
right = [probability(count_all(texts, n), tuple(sentence[13 - n + 1 : 13]), "doctor", len(their_words)) for n in orders]
for n in (2, 5, 10, 11):
    print(
        f"{n:>2}-gram: P(doctor | … {' '.join(sentence[13 - min(n - 1, 4) : 13])}) = {Fraction(right[n - 2]).limit_denominator(1000)}"
    )

assert all(math.isclose(p, 1 / 3) for n, p in zip(orders, right) if n <= 10), f"Expected 1/3 up to n = 10. {CHECKS}"
assert all(math.isclose(p, 1) for n, p in zip(orders, right) if n >= 11), f"Expected 1 from n = 11 on. {CHECKS}"

figure = line_chart(
    list(orders),
    {"P(doctor)": right},
    xlabel="n (tokens the model sees at once)",
    ylabel="probability of the right word",
)
figure.axes[0].set(ylim=(0, 1.05), xticks=list(orders))
show(
    figure,
    alt="The probability of the right last word against n from 2 to 14. It stays at one third up to n = 10, jumps to 1 at n = 11, "
    "and stays there.",
)

# %% [markdown]
# So, an 11-gram? Two objections. Over 10,000 words its table has $10^{44}$ entries, and to know "medicine … doctor" it must
# have seen the nine words in between, *exactly these*, and again for each other subject, university and reason. The second
# objection is worse, for no computer helps against it. Say a little more, and the subject is out of sight again:

# %% tags=["experiment"]
longer = [[*tokens[:6], "in", "Vancouver", *tokens[6:]] for tokens in texts]
last = longer[0].index("a") + 1
print(" ".join(longer[0]))
for n in (11, 13):
    table = count_all(longer, n)
    size = len({*their_words, "in", "Vancouver"})
    p = [probability(table, tuple(tokens[last - n + 1 : last]), tokens[last], size) for tokens in longer]
    print(f"{n}-gram: probability of the right word {p[0]:.3f}")
    assert np.allclose(p, 1 / 3 if n == 11 else 1.0), f"Expected 1/3 for the 11-gram, 1 for the 13-gram. {CHECKS}"

# %% [markdown]
# Two more words, and the 11-gram is back at chance. Whatever $n$ is, somebody will make a longer sentence.
#
# ### A network in place of the table
#
# Perhaps the *table* is at fault? Give an MLP one token, one-hot, and let its softmax say what comes next. It is trained on
# **pairs** (token, next token), drawn at random all over the text. That two pairs once stood next to each other plays no
# part: the network keeps nothing from one to the next. (How training works is told in unit 04; here the course does it. The
# tokens are characters, so that it takes seconds.)
#
# **Guess first:** on the text that both have learned from, can this network have a lower perplexity than the bigram table?
#
# **Claim:** trained on pairs drawn at random, an MLP that reads one character comes within 3% of the bigram table's perplexity
# on that text, and never below it.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.ngram import train_pair_network

alphabet = sorted(set(train_text))
place = {character: i for i, character in enumerate(alphabet)}
learned_from, unread = (
    np.array([place[character] for character in text if character in place])
    for text in (train_text[:200_000], held_out_text[:50_000])
)


def table_of(ids, n, alpha=0.0):
    """All that a unigram (n = 1) or bigram (n = 2) model has to say, (V, V): row i is P(next | character i)."""
    counted = count([alphabet[i] for i in ids], n)
    contexts = [(character,)[: n - 1] for character in alphabet]
    return np.array([[probability(counted, c, w, len(alphabet), alpha) for w in alphabet] for c in contexts])


def perplexity_of(table, ids):
    """The perplexity of such a table on a text."""
    return float(measure(np.log(table[ids[:-1], ids[1:]])))


def pair_network(seed, updates=4000, mixed=False):
    """The trained network as such a table. `mixed` gives it the right characters, each after a wrong one."""
    rng = np.random.default_rng(seed)
    current = rng.permutation(learned_from[:-1]) if mixed else learned_from[:-1]
    pairs = np.stack([current, learned_from[1:]], axis=1)
    return train_pair_network(pairs, len(alphabet), 64, updates, rng)


updates = [30, 120, 500, 4000]
networks = [pair_network(0, count_of) for count_of in updates]
reached = [perplexity_of(network, learned_from) for network in networks]
lowest, no_context = (perplexity_of(table_of(learned_from, n), learned_from) for n in (2, 1))
print(f"on the text learned from: bigram table {lowest:.2f}, network {reached[-1]:.2f}, unigram table {no_context:.2f}")
new_text = [perplexity_of(table_of(learned_from, 2, 0.01), unread), perplexity_of(networks[-1], unread)]
print("on new text: bigram table, α = 0.01, {:.1f}, network {:.1f}".format(*new_text))
assert lowest <= reached[-1] < 1.03 * lowest, f"Expected the network within 3% of the table, and not below. {CHECKS}"

show(
    line_chart(
        updates,
        {"unigram table": [no_context] * 4, "network": reached, "bigram table": [lowest] * 4},
        xlabel="updates of the network",
        ylabel="perplexity, text learned from",
        logx=True,
    ),
    alt="Perplexity on the training text against the number of updates. The network's falls, from near the unigram table's "
    "line, and comes close to the bigram table's from above.",
)

# %% [markdown]
# It comes close and cannot pass. For one input it can give one answer only, so it *is* a table P(next | current), and of all
# such tables the shares that you counted fit their text best. (Over five seeds it ends {{first_order/pairs/above|.1%}} above the
# table; trained on pairs whose first character is another one's, {{first_order/mixed pairs/above|.0%}}, which is the unigram.)
# **An MLP without a state is a first-order Markov model, whatever is inside.** Give it $n-1$ tokens side by side, as Bengio and
# others did in 2003, and similar contexts share what they learn, at a cost that grows with $n$ and not as $V^n$. That was a
# great step. But the window is still there, and each place in it has weights of its own.
#
# ## 8 · What went wrong in practice
#
# Three reports from people who built what you have just built. Each has one bug. Find it before you open the answer.
#
# **Report A.** *"My model gives every text the probability 0, even though no single word is impossible."*

# %% tags=["experiment"]
p = np.full(400, 0.1)  # four hundred words, each with probability 0.1
print("probability of the text:", np.prod(p))
print("perplexity:", round(float(measure(np.log(p))), 6))
assert np.prod(p) == 0, "Expected the product to underflow."

# %% [markdown]
# <details><summary>What happened?</summary>
#
# $0.1^{400} = 10^{-400}$, but the smallest positive float is about $5 \cdot 10^{-324}$: the product *underflows* to 0. Sums of
# logarithms do not.
#
# </details>
#
# **Report B.** *"I compared all n-gram models by perplexity on held-out text, without any smoothing. The longer the n-gram,
# the better: my 6-gram is nearly perfect!"* Their code:

# %% tags=["experiment", "nbval-ignore-output"]
reported, scored = [], []
for n in ns:
    logs = log_probabilities(held_out, n, 0.0)
    fine = logs[np.isfinite(logs)]
    reported.append(measure(fine))
    scored.append(len(fine) / len(logs))

print("n                    ", *(f"{n:>6}" for n in ns))
print("reported perplexity  ", *(f"{value:>6.1f}" for value in reported))
assert reported[5] < 2, f"Expected the report to flatter the 6-gram. {CHECKS}"
assert reported[0] > reported[1] > reported[2] > reported[3], f"Expected the report to fall with n. {CHECKS}"

# %% [markdown]
# <details><summary>What happened?</summary>
#
# `logs[np.isfinite(logs)]` throws away every word that the model called impossible, and the 6-gram leaves out most of the text:
# print `scored`, the share of words that were counted. Two perplexities can be compared only if they are over the same tokens,
# with the same vocabulary.
#
# </details>
#
# **Report C.** *"My trigram has a perplexity below 10 on English text. Should I publish?"* Their code:

# %% tags=["experiment", "nbval-ignore-output"]
everything = train + held_out
table = count(everything, 3)
p = [probability(table, tuple(held_out[i - 2 : i]), held_out[i], V) for i in range(2, len(held_out))]
reported = float(measure(np.log(np.array(p, dtype=float))))
print("perplexity:", round(reported, 1))
assert reported < 10, f"Expected the report of a perplexity below 10. {CHECKS}"

# %% [markdown]
# <details><summary>What happened?</summary>
#
# The table was counted on everything, the held-out text included. You can tell at once: there is no smoothing, and still no
# infinity. On new text that hardly ever happens.
#
# </details>
#
# ## 9 · Summary
#
# - A **sequence** has an order and any length. Its index need not be time.
# - A **bag of words** takes any length and forgets the order. **A place for everything** keeps the order, at one fixed
#   length, and must learn every word again at each place.
# - A **language model** gives $P(w_t \mid w_1 \dots w_{t-1})$. It ranks candidates, and it can write.
# - An **n-gram** model assumes that only $n-1$ tokens matter, and counts. **Smoothing** keeps the unseen from being impossible.
# - **Perplexity**, $\exp$ of minus the mean log-probability, is measured on text that was held out.
# - The table has $V^n$ entries, nearly all of them empty: **sparsity**. Smoothed as simply as ours, long contexts make it worse.
# - Whatever lies outside the window has **no influence at all**, and a network in place of the table has the same window: an
#   MLP on one token is a **first-order Markov model**.
# - So, **why a state?** Without one, a model knows only what fits into its window, and every window has an edge.
#
# ### Written question
#
# *10 minutes · 3 points, graded by hand; about 150 words*

# %% [markdown] written="ngram_written" points=3
# A friend says: "Disks are cheap. I shall count 11-grams in all the text of the web, and store only those that
# I have seen. Then my model knows that after *I am studying medicine at UBC because I want to work as a* comes *doctor*."
#
# **(a)** Why will the friend's model still be at a loss on most new sentences, although storage is no problem? **(b)** Give
# one sentence in which the deciding word is out of the model's reach, and say why a larger $n$ does not solve this in
# principle. **(c)** What would a model have to hand on from one word to the next, so that it needed no window?
#
# ### BEGIN SOLUTION
# (a) Storing is not the problem, seeing is. There are $V^{10}$ contexts of ten words, and even the web shows a vanishing
# share of them. Most ten-word contexts of a new sentence were never seen word for word, and a table learns nothing from similar
# ones: "I am studying medicine in Toronto because …" is another row. For an unseen context the model knows nothing.
#
# (b) "I am studying medicine at UBC in Vancouver, where my whole family lives, because I want to work as a doctor." The word
# medicine is more than ten words before doctor. For every $n$ there is a sentence with one more word in between, so no
# fixed $n$ is enough, while each step further costs a factor of $V$.
#
# (c) A summary of everything read so far, of a fixed size, that each new word updates by the same rule; it would have to keep
# "medicine" until it is needed. (This is the state of a recurrent network.)
#
# Rubric: **1 point** for (a): contexts are new (sparsity), and rows share nothing; "too much memory" alone earns none.
# **1 point** for (b): a fitting sentence, and that any fixed $n$ can be exceeded. **1 point** for (c): a state or summary
# that is carried along and updated; half of it if it is a mere list of all the words read.
# ### END SOLUTION

# %% [markdown]
# ### Where to read on
#
# - C. E. Shannon, "A Mathematical Theory of Communication", *Bell System Technical Journal* 27, 1948. Sections 2 and 3 let
#   n-grams write English, by hand.
# - D. Jurafsky and J. H. Martin, *Speech and Language Processing*, 3rd edition (draft, online), the chapter on n-gram language
#   models: back-off, interpolation, Kneser-Ney.
# - Y. Bengio, R. Ducharme, P. Vincent, C. Jauvin, "A Neural Probabilistic Language Model", *Journal of Machine Learning
#   Research* 3, 2003. The MLP over a window of word vectors.
# - S. F. Chen and J. Goodman, "An Empirical Study of Smoothing Techniques for Language Modeling", *Computer Speech & Language*
#   13, 1999. How to smooth well.
#
# ### How far are you?

# %% tags=["experiment"]
progress("01_ngram")

# %% [markdown]
# ### Something to show
#
# Your functions do not care what a token is. Let the tokens be *characters* of Python's standard library. (For a text of your own,
# a diary or a novel, put `load_text("my_file.txt")` in the place of `python_source(400_000)`.)

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.data import load_text, python_source

characters = list(python_source(400_000))
real_words = set(words("".join(characters)))
shares = []
for n in (1, 3, 6, 10):
    text = "".join(write(count(characters, n), "def __init__"[: n - 1], 400, np.random.default_rng(9)))
    shares.append(np.mean([word in real_words for word in words(text)[:-1] if len(word) > 3]))
    print(f"----- n = {n}: {shares[-1]:.0%} of its longer words are words of the library\n{text}\n")
assert shares[3] > shares[1], "Expected more real words from longer contexts. Have all checks above passed?"
assert shares[3] > 0.9, "Expected more than 90% real words at n = 10. Have all checks above passed?"

# %% [markdown]
# ### The question that is left
#
# We want a model that takes sequences of *every* length, that knows the order, and for which what it learns at one place holds
# at all others. **How can one function serve every length?** There is an old answer, from people who thought about planets and
# not about words. It is in unit 02.
