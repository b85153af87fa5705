# %% [markdown]
# # 01 · Language models without memory
#
# **When you are done you will be able to**
#
# - say what a model with an input of fixed size loses when it is fed a sequence, and show it on two sentences;
# - build an n-gram language model from nothing, measure it, and let it write;
# - say how far it can see, what it would cost to see further, and how far the best of counting gets.
#
# **Time:** about two hours. **Before you start:** Python lists and dicts, NumPy arrays, logarithms, and what a conditional
# probability is. There are eight exercises, the written one among them, 19 points in all. Where you read **Guess**, write
# your guess down before you run the cell.
#
# **The question.** In unit 00 you wrote a `state`, carried from one reading to the next. Why should a model need such a
# thing? Let us see how far we get without one.

# %% locked="setup"
import math
from collections import Counter
from itertools import permutations

import numpy as np

from rnncourse import check, hint, progress, use

# %% tags=["experiment"]
progress("01_ngram")

# %% [markdown]
# ## 1 · Sequences
#
# A support vector machine or a multilayer perceptron (MLP) computes $f(x)$ for a vector $x \in \mathbb{R}^D$. The size $D$
# is fixed before training starts, since every entry of $x$ has weights of its own.
#
# A **sequence** $x_1, x_2, \dots, x_T$ is something else: things in an order, as many as there happen to be. We write $t$
# for the index and call it time, though it need not be time.

# %% tags=["experiment"]
from rnncourse.data import digit_image
from rnncourse.plots import described, image_rows, show

sequences = [
    ("a sentence", "word number", ["the", "dog", "bit", "the", "man"]),
    ("a melody", "note number", ["C", "C", "G", "G", "A", "A", "G"]),
    ("insulin", "place in the chain", list("FVNQHLCGSHLVEALYLVCGERGFFYTPKT")),
    ("an image", "row, from the top", digit_image()),
]
for what, index, x in sequences:
    print(f"{what:<11} T = {len(x):>2}   t is the {index}")
show(described(image_rows(digit_image()), "A handwritten seven, cut into its 8 rows."))

# %% [markdown]
# A model whose input is of size $D$ can throw the order away, or give each place in the sequence entries of its own.
#
# ## 2 · A bag of words
#
# **Idea.** Choose a vocabulary of $V$ words, once and for all. Turn a sentence into $V$ numbers: how often each word
# occurs in it.

# %% tags=["experiment"]
from rnncourse.plots.ngram import one_bag

sentences = [["the", "dog", "bit", "the", "man"], ["the", "man", "bit", "the", "dog"]]
vocabulary = ["the", "dog", "bit", "man", "cat"]
show(one_bag(sentences, vocabulary))

# %% [markdown]
# As a formula, with tokens $w_1, \dots, w_T$ and vocabulary words $v_0, \dots, v_{V-1}$:
#
# $$\text{bag}_i = \#\{\, t : w_t = v_i \,\}$$
#
# A **token** is one item of the sequence: a word here, a character elsewhere. (From unit 03 on, $V$ is also a weight matrix.)
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
# **Guess** how many orders of these five words have this very bag.

# %% tags=["experiment"]
bag = use(bag_of_words)
for tokens in sentences:
    print(f"{' '.join(tokens):<22}", *bag(tokens, vocabulary))
print("orders with this bag:", len(set(permutations(sentences[0]))))

# %% [markdown]
# Half of $5!$: the two "the" may trade places unseen.
#
# **No model that reads a bag can tell who bit whom**: two equal inputs give two equal outputs, in every function there is.
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
quiz_bag_of_words = None  # put a set of letters in place of None
### BEGIN SOLUTION
quiz_bag_of_words = {"A", "C", "E"}
### END SOLUTION

# %% check="quiz_bag_of_words"
check(quiz_bag_of_words, "quiz_bag_of_words")

# %% [markdown]
# ### The other way: a place for everything
#
# Write each token as a **one-hot** vector, all zeros but for a 1 at its index, and put the vectors of the first $T$ places
# side by side, with $T$ fixed in advance: $D = T \cdot V$. Shorter sentences are filled up with zeros, longer ones are cut.
#
# Now the order is there. Something else is lost. **Guess**: how many entries that are 1
# do "the dog barks" and "today the dog barks" have in common?

# %% tags=["experiment"]
words_here = ["today", "the", "dog", "barks"]


def placed(tokens, places=4):
    """The one-hot vectors of the tokens side by side, filled up with zeros."""
    x = np.zeros((places, len(words_here)), dtype=int)
    for t, token in enumerate(tokens):
        x[t, words_here.index(token)] = 1
    return x.ravel()


one, other = ["the", "dog", "barks"], ["today", "the", "dog", "barks"]
print("by places both have:", placed(one) @ placed(other))
print("by bags both have:  ", np.dot(bag(one, words_here), bag(other, words_here)))

# %% [markdown]
# By places *nothing*. What an MLP learns about "dog" as the second word, it must learn again for "dog" as the third, with
# other weights.
#
# | | any length | knows the order | what is learned at one place holds at another |
# |---|---|---|---|
# | bag of words | yes | **no** | yes |
# | a place for everything | **no** | yes | **no** |
# | what we are looking for | yes | yes | yes |
#
# ## 3 · Language models
#
# **What comes next?** A language model gives every token a probability, given
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
# knows nothing else is an *n-gram model*, for $n$ = 1, 2, 3 called unigram, bigram, trigram.

# %% tags=["experiment"]
from rnncourse.plots import sliding_window

six = ["to", "be", "or", "not", "to", "be"]
seen = "A window of three words over 'to be or not to be', further on in each row."
show(described(sliding_window(six, 3, [2, 3, 4, 5]), seen))

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
# The last "be" is followed by nothing.
#
# ### Exercise 1.3 · `count_ngrams`
# *●●○ · 12 minutes · 3 points*
#
# Write `count_ngrams(tokens, n)`. `tokens` is a list of strings, and $n \geq 1$. The result is a dict: each **context**, a
# tuple of $n-1$ tokens, leads to a `Counter` of the tokens that followed it. So `count_ngrams("to be or not to be".split(),
# 2)` is
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
# That is the whole of the training. Everything the model will ever know is in this dict.
#
# ### From counts to probabilities
#
# The natural estimate is a share: of all the times that the context $c$ was seen, how often did $w$ follow?
#
# $$P(w \mid c) = \frac{\text{count}(c, w)}{\text{count}(c)} \qquad \text{with} \quad \text{count}(c) = \sum_{w'} \text{count}(c, w')$$
#
# In our text $P(\text{to} \mid \text{or}) = 0$: the model calls it *impossible* that "to" comes after "or".
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
# You have a language model. Let it read Python's own documentation. Some whole topics are **held out**: the model never
# reads them. A word that occurs only once becomes the token `<unk>` for unknown, and so does every held-out word that is
# not in the vocabulary.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.ngram import documentation

text, count = documentation(), use(count_ngrams)
V = text.V
tables = {n: count(text.train, n) for n in range(1, 7)}

print(f"read {len(text.train):,} words, held out {len(text.held_out):,}, V = {V:,}")
after_of = tables[3].get(("value", "of"), {})
most = sorted(after_of, key=after_of.get, reverse=True)[:5]
print("what followed 'value of':", *most)

# %% [markdown]
# ### What is it good for?
#
# A model of what is likely can *choose*: of several candidates, which is most like real language? In **translation** the
# right words come in a strange order. In **spelling**, "their" is a word, so no dictionary complains. In **speech**,
# "right" and "write" sound the same. A bigram model adds up $\log_{10} P$ from the second word on. **Guess** in how many of
# the three it chooses right.

# %% tags=["experiment", "nbval-ignore-output"]
from itertools import pairwise

probability = use(ngram_probability)


def log10_probability(sentence):
    """The base-10 logarithm of a sentence's probability, by bigrams, from word 2 on."""
    tokens = text.known(sentence.split())
    p = [probability(tables[2], (c,), w, V, 0.01) for c, w in pairwise(tokens)]
    return sum(map(math.log10, p))


jobs = {
    "translation": ("if the test is true", "if the test true is"),  # German order
    "spelling": ("there is no default value", "their is no default value"),
    "speech": ("the right operand", "the write operand"),
}
for job, (good, bad) in jobs.items():
    lead = log10_probability(good) - log10_probability(bad)
    print(f"{job:<12} {good!r} is 10^{lead:.1f} times as likely as {bad!r}")

# %% tags=["author"]
assert all(log10_probability(good) > log10_probability(bad) + 0.5 for good, bad in jobs.values())

# %% [markdown]
# It chooses right in all three. *Try* a pair of your own in `jobs`, of two sentences of one length, and find one on which
# it fails.
#
# ## 4 · How good is it?
#
# **Idea.** Let the model read a text that it has not seen, and look up the probability $p_t$ that it had given to each
# token that really came. The $T$-th root of their product is the typical probability of *one* token. One over that is the
# **perplexity**: the number of equally likely tokens that would leave a model as uncertain as this one is.
#
# $$\text{perplexity} = \Big( \prod_{t=1}^{T} p_t \Big)^{-1/T} = \exp\Big( -\frac{1}{T} \sum_{t=1}^{T} \log p_t \Big)$$
#
# By hand: two tokens with probabilities $\tfrac12$ and $\tfrac18$. Their product is $\tfrac1{16}$, its square root
# $\tfrac14$, so the perplexity is **4**: as unsure as somebody who guesses among four. A model that always gives $1/V$ has
# $V$; one that is always certain, and right, 1; one that has once called impossible what then happened, infinity.
#
# ### Exercise 1.5 · `perplexity`
# *●●○ · 8 minutes · 2 points*
#
# Write `perplexity(log_probabilities)`. The argument is an array of shape `(T,)`, $T \geq 1$, with the *natural* logarithms
# of the probabilities that the tokens were given; the result is a number. `-np.inf` among them, the logarithm of 0, gives
# `np.inf`. Use the form of the formula that survives thousands of tokens. For the two tokens above,
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
# Its logarithm is the *cross-entropy*, the loss of unit 04.
#
# ### Experiment · a longer context
#
# **Guess**: draw two curves of the perplexity against $n$, from the 1-gram to the 6-gram: on the text that they have
# counted, and on the text that was held out.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.ngram import NS, kneser_ney, perplexities
from rnncourse.plots.ngram import perplexity_by_n

measure = use(perplexity)
lines = perplexities(tables, probability, measure)
for name, values in lines.items():
    print(f"{' '.join(name.split()):<30}", *(f"{value:7.1f}" for value in values))
show(perplexity_by_n(lines))

# %% tags=["author"]
light = lines["held-out text,\nα = 0.01"]
assert light[1] == min(light)
assert light[5] > max(4 * light[1], light[0])
assert all(np.isinf(lines["held-out text,\nno smoothing"][1:]))

# %% [markdown]
# 1. **On its own training text the model gets better and better**: the 6-gram knows it by heart.
# 2. **On new text, without smoothing, all but the unigram are infinitely bad.** One word that the table calls impossible
#    is enough. This
#    line cannot be drawn.
# 3. **With smoothing the curve turns up.** The 6-gram, which sees most, is far worse than the unigram, which sees no
#    context at all.
#
# More context cannot be less information. So what is going on?
#
# ## 5 · $V^n$
#
# **Idea.** A table has an entry for each n-gram that could ever be. With $V$ choices for each of $n$ places that is
#
# $$\underbrace{V \cdot V \cdots V}_{n} = V^n$$
#
# By hand: with an alphabet of 27 characters there are $27^2 = 729$ bigrams and $27^3 = 19{,}683$ trigrams. With $V$ = 10,000
# words, each step back costs four more zeros.
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
# **Guess**: a dict stores only what was seen. Of every million entries of the bigram's table, how many does the text fill?
# And of the contexts in the new text, how many has the 6-gram never seen?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.ngram import sparsity
from rnncourse.plots.ngram import filled_entries

table_size, found = use(ngram_table_size), sparsity(tables)
sizes = [table_size(V, n) for n in NS]
print(" n   entries   filled   share of them   contexts never seen, in held-out text")
for n, size, k, unseen in zip(NS, sizes, found["filled"], found["unseen"]):
    print(f"{n:>2} {size:>9.1e} {k:>8,.0f} {k / size:>15.0e} {unseen:>10.0%}")
show(filled_entries(sizes, found["filled"], len(text.train)))

# %% tags=["author"]
assert max(found["filled"]) <= len(text.train)
assert found["unseen"][5] > 0.6

# %% [markdown]
# Memory is not the problem, but contexts that were never seen: at
# $n = 6$, more than 60% of those in the new text. This is **sparsity**. For such a context the model says $1/V$ to
# everything. A table can use only what it has seen *word for word*: to it, "the red car stopped" and "the blue
# car stopped" are as different as any two strings.
#
# ### Experiment · the best of counting
#
# **Kneser–Ney smoothing** falls back on the shorter context: it takes a little, the discount, from every count, and gives
# it to the model with one word less. And there it counts not how often a word came, but after how many *different* words:
# "york" may be frequent, but it follows only "new", so it is no good guess elsewhere. The discounts are chosen on 5,000
# words that are in neither text. (The formula is in unit 06, the code in `rnncourse.experiments.opponents`.)
#
# **Guess**: will its curve turn up, too? And how far below the best of the other lines will it come?

# %% tags=["experiment", "nbval-ignore-output"]
lines = {name: values for name, values in lines.items() if "α" in name}
lines["held-out text,\nKneser–Ney"] = kneser_ney()
print("Kneser–Ney", *(f"{value:7.1f}" for value in kneser_ney()))
show(perplexity_by_n(lines))

# %% tags=["author"]
best = kneser_ney()
assert best[5] < 1.02 * min(best)
assert 0.95 * best[3] < best[5] < 0.6 * min(light)

# %% [markdown]
# Its curve never turns up, and it halves the perplexity of the best bigram. So longer contexts are no harm in themselves:
# it was the smoothing. With a good one each word of context helps, up to n = 4. Beyond that it brings next to nothing.
#
# That is how far counting goes here. Whoever says that a network is better has to beat this line and not the others. You
# will try in unit 06.

# %% [markdown]
# ## 6 · Let it write
#
# A model that predicts can write: draw a token, append it, move the window on by one, and draw again. Shannon did it in
# 1948, by hand.
#
# **Idea.** To draw from a distribution, lay the probabilities end to end on a line from 0 to 1. A uniform random number $u
# \in [0, 1)$ falls into one of the pieces, into long ones more often.

# %% tags=["experiment"]
from rnncourse.plots.ngram import probability_line

show(probability_line({"or": 0.25, "not": 0.125, "to": 0.5, "be": 0.125}, 0.6))

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
# including, 1. The result is the first index $i$ with $p_0 + \dots + p_i > u$. There is one trap: floats are rounded, so
# all the sums can be a hair less than 1, and none larger than $u$. Then return the **last index with $p_i > 0$**.
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
# The table talks:

# %% tags=["experiment", "nbval-ignore-output"] dials="seed = 5; seed = 6"
from rnncourse.experiments.ngram import write

draw, start = use(sample_index), ["the", "value", "of", "the"]
seed = 4
for n in range(1, 6):
    rng = np.random.default_rng(seed)
    print(f"n = {n}:", *write(tables[n], start[: n - 1], 30, rng, draw), "\n")

# %% [markdown]
# The 5-gram sounds like documentation. Has it learned to write? *Try* another seed. **Guess**: of every hundred runs of
# eight words that the bigram, the 4-gram and the 6-gram write, how many stand word for word in what they have read?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments import beside
from rnncourse.experiments.ngram import share_copied

for n, name in ((2, "bigram"), (4, "4-gram"), (6, "6-gram")):
    place = f"01_ngram:copying/{name}/copied"
    print(f"{name}: copied", beside(place, share_copied(n, seed=5, draw=draw), ".0%"))

# %% [markdown]
# **Claim: of the runs of eight words that the 6-gram writes, more than 60% are in its training text, word for word; of
# the bigram's, less than 20%.** ({{held learned_to_copy}} draws.) At most places the 6-gram has seen only one continuation,
# and takes it.
#
# ## 7 · What no window sees
#
# Read this, and guess the last word:
#
# > I am studying medicine at UBC because I want to work as a …
#
# You said "doctor", and you took it from "medicine", ten words back. Let there be three such sentences, equally likely:
# medicine goes with doctor, law with lawyer, history with historian.

# %% tags=["experiment"]
from rnncourse.data import words

sentence = words("I am studying medicine at UBC because I want to work as a doctor")
seen = "A 5-gram's window: 'to work as a' before 'doctor'; 'medicine' is far outside."
marks = {3: "decides", 13: "is decided"}
show(described(sliding_window(sentence, 5, [13], marks), seen))

# %% [markdown]
# "To work as a" is the same in all three. So the counts are 1, 1, 1, and the probabilities $\tfrac13, \tfrac13, \tfrac13$.
# **Guess** which is the smallest $n$ that knows.

# %% tags=["experiment"]
from rnncourse.experiments.ngram import right_profession
from rnncourse.plots.ngram import right_word_by_n

orders = range(2, 15)
right = right_profession(orders, count=count, probability=probability)
show(right_word_by_n(orders, right))

# %% tags=["author"]
assert np.allclose(right, [1 / 3 if n <= 10 else 1 for n in orders])

# %% [markdown]
# On the last word every n-gram up to $n = 10$ is at chance, exactly, and no smoothing helps: what decides is not in its
# window. So, an 11-gram? Over 10,000 words its table has $10^{44}$ entries, and to know "medicine … doctor" it must have
# seen the nine words in between, *exactly these*. And say a little more, and the subject is out of sight again:

# %% tags=["experiment"] dials="inserted = ['in', 'lovely', 'Vancouver']; inserted = []"
inserted = ["in", "Vancouver"]
for n in (11, 11 + len(inserted)):
    (p,) = right_profession([n], inserted, count, probability)
    print(f"… at UBC {' '.join(inserted)} because …: the {n}-gram gives doctor {p:.3f}")

# %% [markdown]
# Two more words, and the 11-gram is back at chance. *Try* words of your own in `inserted`. Somebody will always make a longer sentence.
#
# ### A network in place of the table
#
# Perhaps the *table* is at fault? Give an MLP one character, one-hot, and let its softmax say what comes next. It is
# trained on **pairs** (character, next character), drawn at random all over the text. (Unit 04 tells how training works.)
#
# **Guess**: on the text that both have learned from, can this network have a lower perplexity than the bigram table?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.ngram import pair_network, perplexity_of, table_perplexity
from rnncourse.plots.ngram import network_and_tables

updates = [30, 120, 500, 2000]
reached = [perplexity_of(pair_network(0, n)) for n in updates]
show(network_and_tables(updates, reached, table_perplexity(1), table_perplexity(2)))
above = reached[-1] / table_perplexity(2) - 1
print("above the table:", beside("01_ngram:first_order/pairs/above", above, ".1%"))

# %% tags=["author"]
assert 0 <= above < 0.05

# %% [markdown]
# **Claim: trained on pairs drawn at random, an MLP that reads one character comes within 5% of the bigram table's
# perplexity on that text, and never below it.** ({{held no_state_is_a_bigram}} seeds.)
#
# For one input it can give one answer only, so it *is* a table P(next | current), and of all such tables the shares that
# you counted fit their text best. **An MLP without a state is a first-order Markov model, whatever is inside.** Give it
# $n-1$ tokens side by side, as Bengio and others did in 2003, and similar contexts share what they learn. But the window is
# still there.
#
# ## 8 · What went wrong in practice
#
# Three reports, each with one bug. **Guess** it before you open the answer.
#
# **Report A.** *"My model gives every text the probability 0, even though no single word is impossible."*

# %% tags=["experiment"]
p = np.full(400, 0.1)  # four hundred words, each with probability 0.1
print("probability of the text:", np.prod(p))
print("perplexity:", round(float(measure(np.log(p))), 6))

# %% [markdown]
# <details><summary>What happened?</summary>
#
# $0.1^{400} = 10^{-400}$, but the smallest positive float is about $5 \cdot 10^{-324}$: the product *underflows* to 0.
# Sums of
# logarithms do not.
#
# </details>
#
# **Report B.** *"I compared all n-gram models by perplexity on held-out text, without any smoothing. The longer the n-gram,
# the better: my 6-gram is nearly perfect!"* Their code:

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.ngram import log_probabilities

for n in NS:
    logs = log_probabilities(tables[n], text.held_out, n, 0.0, probability)
    fine = logs[np.isfinite(logs)]
    scored = len(fine) / len(logs)
    print(f"{n}-gram: perplexity {measure(fine):.1f}")

# %% [markdown]
# <details><summary>What happened?</summary>
#
# `logs[np.isfinite(logs)]` throws away every word that the model called impossible, and the 6-gram leaves out most of the
# text: print `scored`, the share that was counted. Two perplexities can be compared only if they are over the
# same tokens, with the same vocabulary.
#
# </details>
#
# **Report C.** *"My trigram has a perplexity below 10 on English text. Should I publish?"* Their code:

# %% tags=["experiment", "nbval-ignore-output"]
table = count(text.train + text.held_out, 3)
logs = log_probabilities(table, text.held_out, 3, 0.0, probability)
print("perplexity:", round(float(measure(logs)), 1))

# %% [markdown]
# <details><summary>What happened?</summary>
#
# The table was counted on everything, the held-out text included. You can tell at once: there is no smoothing, and still no
# infinity.
#
# </details>
#
# ## 9 · Summary
#
# - A **bag of words** forgets the order. **A place for everything** has one fixed length, and must learn every word again
#   at each place.
# - An **n-gram** model assumes that only $n-1$ tokens matter, and counts. **Smoothing** keeps the unseen from being
#   impossible.
# - **Perplexity**, $\exp$ of minus the mean log-probability, is measured on text that was held out.
# - The table has $V^n$ entries, nearly all of them empty: **sparsity**. Smoothed by $\alpha$, long contexts do harm. With
#   **Kneser–Ney**,
#   the best of counting, they do none, and soon bring nothing.
# - Whatever lies outside the window has **no influence at all**, and a network in place of the table has the same window: an
#   MLP on one token is a **first-order Markov model**.
# - So, **why a state?** Without one, every window has an edge.
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
# share of them. Most ten-word contexts of a new sentence were never seen word for word, and a table learns nothing from
# similar
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
# - C. E. Shannon, "A Mathematical Theory of Communication", *Bell System Technical Journal* 27, 1948.
# - D. Jurafsky and J. H. Martin, *Speech and Language Processing*, 3rd edition (draft, online), the chapter on n-gram
#   language
#   models: back-off, interpolation, Kneser-Ney.
# - Y. Bengio, R. Ducharme, P. Vincent, C. Jauvin, "A Neural Probabilistic Language Model", *Journal of Machine Learning
#   Research* 3, 2003.
# - S. F. Chen and J. Goodman, "An Empirical Study of Smoothing Techniques for Language Modeling", *Computer Speech &
#   Language*
#   13, 1999.
#
#

# %% tags=["experiment"]
progress("01_ngram")

# %% [markdown]
# ### Something to show
#
# Your functions do not care what a token is. Let the tokens be *characters* of Python's standard library. *Try* a text of
# your own: `load_text("my_file.txt")` of `rnncourse.data` in the place of `python_source(400_000)`.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.data import python_source

characters = list(python_source(400_000))
library = set(words("".join(characters)))
for n in (1, 3, 6, 10):
    rng = np.random.default_rng(9)
    page = "".join(write(count(characters, n), "def __init__"[: n - 1], 300, rng, draw))
    real = np.mean([word in library for word in words(page)[:-1] if len(word) > 3])
    print(f"----- n = {n}: {real:.0%} of its longer words are real\n{page}\n")

# %% [markdown]
# ### The question that is left
#
# We want a model that takes sequences of *every* length, that knows the order, and for which what it learns at one place
# holds at all others. **How can one function serve every length?** There is an old answer, from people who thought about
# planets and not about words. It is in unit 02.
