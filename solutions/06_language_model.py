# %% [markdown]
# # 06 · A character language model
#
# **When you are done you will be able to**
#
# - turn any text into numbers, and cut it into rows that a network can read side by side without losing its place;
# - train a recurrent network on it with one function of your own, in NumPy;
# - decide when to stop, at which rate to learn and where to start, on a text that is neither learned from nor judged on;
# - write a training loop from a blank cell, and say what one seed is worth;
# - let it write: hot or cold, with or without its tail, and without the mistakes that public programs make here;
# - measure it in bits per character, compare it fairly with n-grams, and say who wins where.
#
# **Time**: about five hours, in two sittings; sections 1 to 6 are the first. **You need** the cell (unit 03), its gradient
# (unit 04), clipping and truncation (unit 05), and `sample_index` of unit 01. There are twelve exercises and one written
# question, 43 points in all. What is marked *optional* is not needed later. None of the exercises may call `torch`, and
# float32 stays float32 in all of them.

# %% locked="setup"
import os

# For matrices as small as ours a second thread costs more than it gives.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from rnncourse import check, hint, progress, use
from rnncourse.bptt import nll_backward, output_backward, rnn_backward, sequence_nll
from rnncourse.cell import output_layer, rnn_forward, rnn_step, softmax
from rnncourse.gradient_flow import clip_by_global_norm, orthogonal
from rnncourse.ngram import count_ngrams, sample_index

np.set_printoptions(precision=3, suppress=True)

# %% tags=["experiment"]
progress("06_language_model")

# %% [markdown]
# ## The question that unit 05 left open
#
# You have all the parts. A cell that carries a state. A gradient that runs back through time. Clipping, which keeps its
# steps short; truncation, which keeps it affordable; and the knowledge that it fades over long distances, and that short
# examples may be enough.
#
# So **what can such a network learn from real text, and how good is it?** Unit 01 left a yardstick: n-grams, counted on the
# same text. And it left three sentences that no n-gram of ordinary size can finish. In this unit your network finishes the
# three sentences, reads Python's own source code, is measured against n-grams, and writes pages that nobody has written
# before.

# %% [markdown]
# ## 1 · Characters are numbers
#
# Our model reads one *character* at a time. The alphabet is small, a hundred characters or so; no word is ever unknown; and
# the network has to find out by itself what a word is.
#
# Each character gets a number, its **id**: its place in the sorted list of all characters of the text. Why sorted? Because
# the ids must be the same tomorrow. A Python `set` has no order to rely on: it may change from one run to the next, and
# then a model that you saved yesterday reads nonsense today.
#
# *By hand*: "hello" has the characters e, h, l, o. In this order they have the ids 0, 1, 2, 3, and the word is
# $1, 0, 2, 2, 3$.

# %% [markdown]
# ### Exercise 6.1 · `build_vocabulary`
# *●○○ · 3 minutes · 1 point*
#
# From a text to the pair `(chars, index)`: `chars` is the list of its different characters in code-point order (the order
# in which Python sorts characters), `index` is the dict that leads from each character to its place in this list.
#
#     build_vocabulary("hello")  gives  ["e", "h", "l", "o"], {"e": 0, "h": 1, "l": 2, "o": 3}


# %% answer="build_vocabulary"
def build_vocabulary(text):
    """The characters of a text: str -> list of characters in code-point order, dict from a character to its place."""
    ### BEGIN SOLUTION
    chars = sorted(set(text))
    return chars, {character: i for i, character in enumerate(chars)}
    ### END SOLUTION


# %% check="build_vocabulary"
check(build_vocabulary)

# %% [markdown]
# ### Exercise 6.2 · `encode`
# *●○○ · 3 minutes · 1 point · optional*
#
# From a text of $L$ characters to an array `(L,)` of their ids, whole numbers. `index` is a dict like the one that you have
# just made. A character that is not in it is a **KeyError**: a model must not be told that "√" is an "a".
#
#     encode("hole", {"e": 0, "h": 1, "l": 2, "o": 3})  gives  [1, 3, 2, 0]


# %% answer="encode"
def encode(text, index):
    """The ids of a text: str of L characters, dict from a character to its id -> (L,) whole numbers."""
    ### BEGIN SOLUTION
    return np.array([index[character] for character in text])
    ### END SOLUTION


# %% check="encode"
check(encode)

# %% [markdown]
# ### Exercise 6.3 · `decode`
# *●○○ · 2 minutes · 1 point · optional*
#
# The way back: from ids, in an array or a list, to a string. `chars` is the list of characters. No ids give `""`.
#
#     decode([1, 3, 2, 0], ["e", "h", "l", "o"])  gives  "hole"


# %% answer="decode"
def decode(ids, chars):
    """The text of some ids: (L,) whole numbers, list of characters -> str."""
    ### BEGIN SOLUTION
    return "".join(chars[i] for i in ids)
    ### END SOLUTION


# %% check="decode"
check(decode)

# %% [markdown]
# Nothing is lost on the way there and back. And now you can see why the input matrix $U$ has one row for each character.
# The network reads **one-hot** vectors: zeros, and a 1 at the id. Such a vector times $U$ is nothing but row `id` of $U$:

# %% tags=["experiment"]
vocabulary_of, to_ids, to_text = use(build_vocabulary), use(encode), use(decode)
line = "for i in range(10):"
chars, index = vocabulary_of(line)
ids = np.asarray(to_ids(line, index))
print("ids:", *ids)
U = np.random.default_rng(0).normal(size=(len(chars), 3))
answer_above = "if an answer above has not passed its check, that may be why."
assert to_text(ids, chars) == line, "The way there and back was expected to lose nothing; " + answer_above
assert np.allclose(np.eye(len(chars))[ids] @ U, U[ids]), "One-hot times U was expected to be a row; " + answer_above

# %% [markdown]
# ## 2 · A long text in rows
#
# A text of 300,000 characters is one sequence, and far too long to go back through at once. From unit 05 you know the way
# out: truncated BPTT. Read a few steps, go back through these, update; carry the state on, but not the gradient.
#
# And what is the very first state, $h_0$? **Zeros** will do here: it matters for the first few characters only. It may
# also be *learned*, as one more parameter, since unit 04's backward pass gives its gradient; or *drawn at random*, so that
# the network does not come to rely on it. Does it matter where sequences are short and many? Guess, before you read on: we
# trained networks on first names, each a sequence of its own. On names that they had not read they need
# {{start_state/zeros/bits}} bits per letter from zeros, {{start_state/learned/bits}} from a learned state and
# {{start_state/random/bits}} from one drawn anew each time. So a learned one cannot be told from zeros, and a random one
# costs a little.
#
# One row at a time would be slow, and one row's gradient is noisy. So we cut the text into $N$ long pieces of $L'$
# characters and read them side by side, as the rows of a batch. The state $h$ is $(N, H)$: row $n$ belongs to piece $n$,
# and must find, in the next batch, the place where *its* piece was left.
#
# $$L' = \left\lfloor \frac{L - 1}{N} \right\rfloor \qquad \text{row } n \text{ reads } \text{ids}[nL'], \dots, \text{ids}[(n+1)L' - 1]$$
#
# The **target** of each input is the id that follows it in the text. The last input of a row has its target in the first
# id of the next row: this is where the 1 in $L - 1$ comes from.
#
# *By hand*: 10 ids, which are $0, 1, \dots, 9$; $N = 2$ rows, 2 steps a batch. Then $L' = \lfloor 9 / 2 \rfloor = 4$, and
#
# | | batch 1, inputs | targets | batch 2, inputs | targets |
# |---|---|---|---|---|
# | row 0 | 0 1 | 1 2 | 2 3 | 3 4 |
# | row 1 | 4 5 | 5 6 | 6 7 | 7 8 |
#
# Read a row of the table from left to right: it is text, without a gap. The id 9 is in no batch: it fits into no row. And
# if $L'$ were 5, the fifth input of each row would fill no batch of 2 steps, and be dropped too.

# %% [markdown]
# ### Exercise 6.4 · `contiguous_batches`
# *●●○ · 20 minutes · 4 points*
#
# Write a generator (a function with `yield`). `ids` is an array `(L,)`; it yields the batches in order, each a pair
# `(inputs, targets)` of arrays `(steps, batch_size)`: **time is the first axis**, so the rows of the table above are
# columns here. Row $n$ goes on in each batch where it ended in the one before. What is left at the end and fills no whole
# batch is dropped, so a text that is too short yields nothing.
#
#     list(contiguous_batches(np.arange(10), batch_size=2, steps=2))  gives
#     [([[0, 4], [1, 5]], [[1, 5], [2, 6]]),   ([[2, 6], [3, 7]], [[3, 7], [4, 8]])]


# %% answer="contiguous_batches"
def contiguous_batches(ids, batch_size, steps):
    """ids (L,) -> yields inputs (steps, batch_size), targets (steps, batch_size)."""
    ### BEGIN SOLUTION
    length = (len(ids) - 1) // batch_size
    rows = np.stack([ids[n * length : (n + 1) * length + 1] for n in range(batch_size)], axis=1)
    for start in range(0, length - steps + 1, steps):
        yield rows[start : start + steps], rows[start + 1 : start + steps + 1]
    ### END SOLUTION


# %% check="contiguous_batches"
check(contiguous_batches)

# %% [markdown]
# You own the part that many a home-made language model gets wrong without a sign of it: if the rows are shuffled between
# batches, everything runs, the loss falls, and the state that is carried over is noise. Look at three rows of real text and
# read across the bar:

# %% tags=["experiment"]
from rnncourse.data import train_and_held_out

batches_of = use(contiguous_batches)
sample = train_and_held_out("python-docs", characters=3_000)[0]
chars, index = vocabulary_of(sample)
(first, _), (second, _), *_ = batches_of(np.asarray(to_ids(sample, index)), 3, 24)
for n in range(3):
    one, two = (to_text(np.asarray(batch)[:, n], chars).replace("\n", "↵") for batch in (first, second))
    print(f"row {n}:  {one} | {two}")
    assert (one + two).replace("↵", "\n") in sample, "Each row was expected to be text without a gap; " + answer_above

# %% [markdown]
# ## 3 · Learning
#
# One update has five parts, and you have met each of them in an earlier unit:
#
# 1. **forwards**: one-hot inputs, all states from $h$ on, logits;
# 2. **loss**: `sequence_nll`, summed over the steps, divided by the rows;
# 3. **backwards**: from the logits to the gradients of $U, W, b, V, c$; what reaches $h$ is dropped, which is truncation;
# 4. **clip**: one norm for all five;
# 5. **step**: Adagrad.
#
# Adagrad keeps, for every single parameter, the sum of its squared gradients so far, its *memory* $m$, and divides by its
# root:
#
# $$m \leftarrow m + g^2 \qquad p \leftarrow p - \frac{\eta\, g}{\sqrt{m + 10^{-8}}}$$
#
# A character that is seen once in ten thousand has a row of $U$ that rarely gets a gradient. Its memory stays small, so
# its steps stay large: what is rare learns fast when it comes. The $10^{-8}$ keeps a division by 0 away.
#
# *By hand*: $p = 1$, $m = 0$, $g = 3$, $\eta = 0.1$. Then $m = 9$ and $p = 1 - 0.1 \cdot 3 / 3 = 0.9$. The next time
# $g = 4$: $m = 25$, $p = 0.9 - 0.1 \cdot 4 / 5 = 0.82$. If you had stepped *before* adding to the memory, the first step
# would have been $0.1 \cdot 3 / 10^{-4} = 3000$.

# %% [markdown]
# ### Exercise 6.5 · `train_step`
# *●●● · 35 minutes · 6 points*
#
# `parameters` and `memory` are dicts of arrays with the names `"U", "W", "b", "V", "c"`: $U (Q, H)$, $W (H, H)$, $b (H,)$,
# $V (H, Q)$, $c (Q,)$ for $Q$ characters. `h` is `(N, H)`, the state before the first step; `inputs` and `targets` are ids,
# `(T, N)`. Return the pair `(loss, h)`: the loss **before** the update, and the state after the last step, a new array.
#
# `parameters` and `memory` are **written to**: the arrays themselves change (`p -= …`, not `p = p - …`). All else stays as
# it was. Clip all five gradients together to `max_norm`; the memory sees the clipped ones.
#
# Training is faster in float32, so make the one-hot inputs in the dtype of $U$: `np.eye(len(U), dtype=U.dtype)[inputs]` is
# `(T, N, Q)`.
#
# What you need is imported: `rnn_forward(X, h0, U, W, b)`, `output_layer(H, V, c)`, `sequence_nll(logits, targets)`,
# `nll_backward(logits, targets)`, `output_backward(dO, H, V) -> (dH, dV, dc)`,
# `rnn_backward(dH, X, h0, H, U, W) -> (dX, dh0, dU, dW, db)`, `clip_by_global_norm(gradients, max_norm) -> (list, norm)`.


# %% answer="train_step"
def train_step(parameters, memory, h, inputs, targets, learning_rate, max_norm):
    """One update, written into parameters and memory: h (N, H), inputs (T, N), targets (T, N) -> loss, h (N, H)."""
    ### BEGIN SOLUTION
    U, W, b, V, c = (parameters[name] for name in "UWbVc")
    X = np.eye(len(U), dtype=U.dtype)[inputs]
    H = rnn_forward(X, h, U, W, b)
    logits = output_layer(H, V, c)
    loss = sequence_nll(logits, targets)
    dH, dV, dc = output_backward(nll_backward(logits, targets), H, V)
    _, _, dU, dW, db = rnn_backward(dH, X, h, H, U, W)
    gradients, _ = clip_by_global_norm([dU, dW, db, dV, dc], max_norm)
    for name, g in zip("UWbVc", gradients):
        memory[name] += g * g
        parameters[name] -= learning_rate * g / np.sqrt(memory[name] + 1e-8)
    return loss, H[-1].copy()
    ### END SOLUTION


# %% check="train_step"
check(train_step)

# %% [markdown]
# You have a learning machine. Feed it the smallest text there is, the word "hello" over and over. One letter back is not
# enough here: after the first l comes an l, after the second an o.
#
# **Claim:** after 200 updates the network reads "hell" and says "ello", each letter with a probability above 90%.

# %% tags=["experiment"]
from rnncourse import track

step = use(train_step)


def new_parameters(Q, hidden, seed=0):
    """U, V, b, c drawn evenly from ± 1/sqrt(hidden), W orthogonal as in unit 05; all in float32."""
    rng, bound = np.random.default_rng(seed), 1 / np.sqrt(hidden)
    shapes = {"U": (Q, hidden), "W": (hidden, hidden), "b": (hidden,), "V": (hidden, Q), "c": (Q,)}
    drawn = {name: rng.uniform(-bound, bound, shape) for name, shape in shapes.items()} | {"W": orthogonal(rng, hidden)}
    return {name: p.astype(np.float32) for name, p in drawn.items()}


def train(ids, Q, hidden, updates, batch_size=16, steps=32, label="training", seed=0, watch=None):
    """Train a new network; when the text is at its end, begin again. Returns parameters and the losses per character.
    Each 200 updates `watch` is shown the parameters."""
    parameters, learning_rate, start = new_parameters(Q, hidden, seed), 0.1, 0.1
    memory = {name: np.full_like(p, start) for name, p in parameters.items()}
    losses, batches = [], iter(())
    for update in track(range(1, updates + 1), label):
        batch = next(batches, None)
        if batch is None:  # the first time, and at the end of the text
            batches, h = iter(batches_of(ids, batch_size, steps)), np.zeros((batch_size, hidden), dtype=np.float32)
            batch = next(batches)
        loss, h = step(parameters, memory, h, *batch, learning_rate, 5.0)
        losses.append(loss / steps)
        if watch is not None and update % 200 == 0:
            watch(parameters)
    return parameters, np.array(losses)


def hello_run(updates=200, seed=0):
    """Train on "hello": the network, its vocabulary, and how likely it calls each letter of "ello" after "hell"."""
    chars, index = vocabulary_of("hello")
    ids = np.asarray(to_ids("hello" * 40, index))
    p, _ = train(ids, 4, 16, updates, batch_size=4, steps=10, label="hello", seed=seed)
    H = rnn_forward(np.eye(4)[ids[:4]][:, None], np.zeros((1, 16)), p["U"], p["W"], p["b"])
    return p, chars, index, softmax(output_layer(H, p["V"], p["c"]))[range(4), 0, ids[1:5]]


hello_model, chars, index, sure = hello_run()
for letter, following, y in zip("hell", "ello", sure, strict=True):
    print(f"after {letter}:  {following} with {y:.0%}")
assert min(sure) > 0.9, "More than 90% were expected for each letter; " + answer_above

# %% [markdown]
# (The memory starts at 0.1 here and not at 0. With 0 the very first step would move *every* parameter by the full
# $\eta$, whatever the size of its gradient, and throw the network far away from where it was drawn. The claim holds in
# {{held hello}} seeds; without training, the least likely letter has {{one_word/no updates/least sure|median .0%}}.)
#
# ## 4 · The score
#
# How good is a model of a text? Look, at each character, how probable it had called what really came. If that was $p$, then
# $-\log_2 p$ is what it costs, in **bits**, to write this character down with the best code for this model. The mean is the
# score, in bits per character:
#
# $$\text{bits} = \frac{1}{L-1} \sum_{t=1}^{L-1} -\log_2 P(\text{id}_{t+1} \mid \text{id}_1, \dots, \text{id}_t)$$
#
# It is the loss of unit 04, per character and in bits in place of nats: $\log_2 x = \log x / \log 2$. And 2 to the power of
# it is the perplexity of unit 01. A model that knows nothing about 128 characters scores $\log_2 128 = 7$. Shannon let
# people guess English letter by letter, and found between 0.6 and 1.3.
#
# *By hand*: three characters, so two predictions. If they had probabilities $\tfrac12$ and $\tfrac18$, the bits are
# $(1 + 3) / 2 = 2$. The first character is predicted by nobody and does not count.

# %% [markdown]
# ### Exercise 6.6 · `bits_per_character`
# *●●○ · 15 minutes · 3 points*
#
# `parameters` is as before, `ids` is an array `(L,)` with $L \geq 2$. Run the network over the text once, in one row, from a
# state of zeros, and return the mean cost of the $L - 1$ predictions in bits, one number. Use `sequence_nll`: a very wrong
# model can call the truth impossible, and then `sequence_nll` still gives a finite number, while the logarithm of a
# probability that was rounded to 0 does not.


# %% answer="bits_per_character"
def bits_per_character(parameters, ids):
    """Mean of -log2 P(next id): dict of U (Q, H), W (H, H), b (H,), V (H, Q), c (Q,), and ids (L,) -> number."""
    ### BEGIN SOLUTION
    U, W, b, V, c = (parameters[name] for name in "UWbVc")
    X = np.eye(len(U), dtype=U.dtype)[ids[:-1]][:, None]
    H = rnn_forward(X, np.zeros((1, len(W)), dtype=U.dtype), U, W, b)
    nats = sequence_nll(output_layer(H, V, c), ids[1:, None])
    return nats / (len(ids) - 1) / np.log(2)
    ### END SOLUTION


# %% check="bits_per_character"
check(bits_per_character)

# %% [markdown]
# ## 5 · Against the truth: grammars
#
# Before the network meets real text, give it texts whose best possible score is *known*. A **grammar** draws sentences token
# by token from probabilities that we wrote down, so the entropy of its texts can be computed exactly, and no model can score
# below it. Nothing in your functions says that an id must be a character, so here a token is a word. We take two:
#
# - the grammar that Arthur Reber used in 1967 to find out what people learn without knowing it. Its sentences, such as
#   B T S S X S E, are of every length, and T or X mean different things in different places;
# - the three sentences of unit 01, equally likely. Among the 13 predictions of a sentence there is one choice out of three,
#   so the lowest possible perplexity is $3^{1/13} = 1.09$, and it takes a memory of ten words to reach it.
#
# First Reber's, in one long stream of sentences, judged on a stream that it has not read.
#
# How close to the lowest possible will 32 units come: within 50%, 20%, 5%? Write it down.
#
# **Claim:** on Reber's grammar the network's perplexity comes within 5% of the lowest possible.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.data import Grammar, study_grammar

score = use(bits_per_character)
half = 0.5
reber = Grammar(
    "begin",
    {
        "begin": [(1.0, "B", 0)],
        0: [(half, "T", 1), (half, "P", 2)],
        1: [(half, "S", 1), (half, "X", 3)],
        2: [(half, "T", 2), (half, "V", 4)],
        3: [(half, "X", 2), (half, "S", "end")],
        4: [(half, "P", 3), (half, "V", "end")],
        "end": [(1.0, "E", None)],
    },
)


def stream(grammar, sentences, seed):
    """Ids of the tokens of so many sentences, one after the other."""
    rng, place = np.random.default_rng(seed), {token: i for i, token in enumerate(grammar.vocabulary)}
    return np.array([place[token] for _ in range(sentences) for token in grammar.sample(rng)])


def reber_run(updates=1000, hidden=32, seed=0):
    """Train on Reber's grammar: the perplexity on a stream that was not read."""
    learned = stream(reber, 3000, seed=1)
    parameters, _ = train(learned, len(reber.vocabulary), hidden, updates, label="Reber's grammar", seed=seed)
    return 2 ** score(parameters, stream(reber, 1000, seed=2))


reached, lowest = reber_run(), reber.perplexity()
print(f"perplexity of the network {reached:.3f}, lowest possible {lowest:.3f}")
assert reached < 1.05 * lowest, "Less than 5% above the lowest possible was expected; " + answer_above

# %% [markdown]
# Nobody told the network that there are sentences, or states. It found out what matters, and is nearly as good as anything
# can be: {{grammar/32 units/above the lowest|.1%}} above the lowest possible, in {{held reber}} seeds. With 2 units it is
# {{grammar/2 units/above the lowest|.0%}}. (On endless text nothing is below the lowest. On a sample as short as ours,
# luck can move it by a percent.)
#
# ### The three students
#
# > I am studying **medicine** (or **law**, or **history**) at UBC because I want to work as a **…**
#
# In unit 01 the best possible 5-gram saw "to work as a" and was left with one chance in three, exactly. In unit 03 it took
# 21 units with weights that were set by hand. Now nobody sets anything. The three sentences are the rows of one batch, each
# from a state of zeros. **Guess** what the curve of the loss will look like: straight down, or with a stop where a 5-gram
# stands?
#
# **Claim:** the trained network names the right profession in all three, with a probability above 90% where the 5-gram is
# at one third.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.plots import Slider, explore, line_chart, show

study = study_grammar()
sentences = [sentence for sentence, _ in study.sentences()]
study_ids = np.array(
    [[study.vocabulary.index(word) for word in sentence] for sentence in sentences]
).T  # (T, N) = (14, 3)


def students_run(hidden=128, updates=1500, seed=0):
    """Train on the three sentences: the probabilities of the professions, (3, Q), and the losses per word."""
    parameters = new_parameters(len(study.vocabulary), hidden, seed)
    memory = {name: np.full_like(p, 0.1) for name, p in parameters.items()}
    start = np.zeros((3, hidden), dtype=np.float32)
    losses = [
        step(parameters, memory, start, study_ids[:-1], study_ids[1:], 0.05, 5.0)[0] / 13
        for _ in track(range(updates), "three students")
    ]
    U, W, b, V, c = (parameters[name] for name in "UWbVc")
    y = softmax(output_layer(rnn_forward(np.eye(len(U))[study_ids[:-1]], start, U, W, b), V, c))
    return y[-1], np.array(losses)


y, losses = students_run()  # y: after "to work as a"
five_gram = study.ngram(5)["to", "work", "as", "a"]
print("after '… to work as a'     5-gram   network")
for n, sentence in enumerate(sentences):
    print(f"{sentence[3]:>9} … {sentence[-1]:<12} {five_gram[sentence[-1]]:.3f}    {y[n, study_ids[-1, n]]:.3f}")
reached, lowest = np.exp(losses[-1]), np.exp(study.sentence_entropy() / 13)
print(f"perplexity of the network {reached:.3f}, lowest possible {lowest:.3f}")
assert all(five_gram[sentence[-1]] == 1 / 3 for sentence in sentences), (
    "A 5-gram was expected to have one chance in three."
)
assert y[range(3), study_ids[-1]].min() > 0.9, "More than 90% were expected for each profession; " + answer_above
assert reached < 1.05 * lowest, "Less than 5% above the lowest possible was expected; " + answer_above

guessing = np.exp(2 * np.log(3) / 13)
show(
    line_chart(
        range(41, 1501),
        {"network": np.exp(losses[40:]), "profession\nguessed": [guessing] * 1460, "lowest\npossible": [lowest] * 1460},
        xlabel="update",
        ylabel="perplexity",
        title="A plateau, and then it remembers",
    ),
    alt="Perplexity against updates, from the 41st on. It falls quickly to about 1.18, the value of a model that guesses the "
    "profession, stays there for hundreds of updates, jumps up and down, and then drops to 1.09, the lowest possible.",
)

# %% [markdown]
# Look at the plateau. At first the network learns all that the last few words can tell, as a 5-gram would, and then there
# is no progress for hundreds of updates. All examples are long here: the error of the last word has to arrive ten steps
# earlier, at "medicine", and it is a whisper. That is the wall of unit 05. Then the network grows restless: it catches
# hold of the thread, loses it in the next step, catches it again, and at last it holds. The claim holds in
# {{held students}} seeds. With 32 units in place of 128 the least likely profession has
# {{professions/32 units, 2,000 updates/least sure}} after 2,000 updates.

# %% [markdown]
# ## 6 · Three texts: to learn from, to choose by, to be judged on
#
# A grammar is merciful: it never ends, and nobody can learn it by heart. Real text is short. Before the first training on
# it, here is what everybody who trains networks does, and what separates a result from an anecdote.
#
# Would more updates be better? The training loss cannot tell: it falls in any case. What has to be measured is text that the
# network has not learned from. But if we look at the held-out text again and again, and keep what does best there, then we
# have chosen *by* it, and its score is no longer that of an unseen text. So there are three:
#
# | text | what it is for | how often it is looked at |
# |---|---|---|
# | **training** | the gradients | at every update |
# | **validation** | every choice: the rate, the start, the size, when to stop | after every epoch |
# | **test** (held out) | the score that you report | once, at the end |
#
# They share nothing: no file, no topic, no sentence. Whole files go into one of the three, since two halves of one file know
# too much of each other.
#
# **Early stopping** is the first choice to make. After each **epoch**, once through the training text, take the loss on the
# validation text. Go on while it finds new lowest values; have some **patience** where it does not, since it jumps; in the
# end keep the parameters of the best epoch, not those of the last.
#
# *By hand*, with patience 2:
#
# | epoch | 0 | 1 | 2 | 3 |
# |---|---|---|---|---|
# | validation loss | 3.0 | 2.0 | 2.5 | 2.0 |
# | new lowest? | yes | yes | no | no: it is not *below* 2.0 |
# | epochs in a row without | 0 | 0 | 1 | 2: stop |
#
# The best epoch is 1. Had the patience been 3, we would know what comes next: perhaps a 1.0. There is no right patience,
# only a cheap one and a careful one.

# %% [markdown]
# ### Exercise 6.7 · `fit`
# *●●○ · 15 minutes · 3 points*
#
# Write the loop. `train_epoch` and `validate` are functions, each of the number of the epoch, which begins at 0. In each
# epoch call `train_epoch(epoch)`, whose answer does not matter, and then `validate(epoch)`, which gives a loss. Stop when
# `patience` epochs in a row have brought no new lowest loss, and after `max_epochs` in any case; both are at least 1. A loss
# that is nan, as after an explosion, is no new lowest.
#
# Return the pair `(losses, best_epoch)`: the list of all validation losses, and the number of the epoch that had the lowest,
# the first of them if there are several.
#
#     with the losses 3.0, 2.0, 2.5, 2.0, 1.0, max_epochs=5 and patience=2
#     fit(train_epoch, validate, 5, 2)  gives  ([3.0, 2.0, 2.5, 2.0], 1)
#
# (The check writes down which calls you make: where it speaks of `calls`, it means that list.)


# %% answer="fit"
def fit(train_epoch, validate, max_epochs, patience):
    """Train with early stopping: two functions of the epoch, two whole numbers -> list of losses, best epoch."""
    ### BEGIN SOLUTION
    losses, lowest, best_epoch = [], np.inf, 0
    for epoch in range(max_epochs):
        train_epoch(epoch)
        losses.append(validate(epoch))
        if losses[-1] < lowest:
            lowest, best_epoch = losses[-1], epoch
        elif epoch - best_epoch == patience:
            break
    return losses, best_epoch
    ### END SOLUTION


# %% check="fit"
check(fit)

# %% [markdown]
# It knows nothing of networks, and that is its strength: you will use it for whatever you train. Now see what it is for.
# Here is a network on a fifteenth of the source code that section 10 will take. **Write down your guess** first: after how
# many of 2,400 updates is it best on text that it has not read, and how good is it at the end?
#
# **Claim:** on 20,000 characters the training loss falls to the end, and the validation score is best within the first
# quarter of 2,400 updates and worse at the end; on 300,000 characters it goes on falling.

# %% tags=["experiment"]
CHARACTERS, HIDDEN, UPDATES = 300_000, 128, 4000


def learned_from(name, updates=UPDATES, characters=CHARACTERS, seed=0, watch=None):
    """A text, what was held out, their vocabulary, and a network trained on it."""
    text, unseen = train_and_held_out(name, characters=CHARACTERS)
    chars, index = vocabulary_of(text)
    text = text[:characters]
    unseen = "".join(character for character in unseen if character in index)[:25_000]  # no model could know the others
    show_it = None if watch is None else lambda p: watch(score(p, np.asarray(to_ids(unseen[20_000:], index))))
    ids = np.asarray(to_ids(text, index))
    parameters, losses = train(ids, len(chars), HIDDEN, updates, label=name, seed=seed, watch=show_it)
    corpus = {"text": text, "unseen": unseen[:20_000], "chars": chars, "index": index, "parameters": parameters}
    return corpus | {"losses": losses / np.log(2)}


# %% tags=["experiment", "nbval-ignore-output"]
valid = []
few = learned_from("python-source", 2400, characters=20_000, watch=valid.append)
falling = few["losses"].reshape(-1, 200).mean(axis=1)
best = int(np.argmin(valid))
seen, stopped_by = use(fit)(lambda epoch: None, lambda epoch: valid[epoch], len(valid), patience=3)
print(f"best after {200 * (best + 1)} updates: {valid[best]:.2f} bits; after 2400: {valid[-1]:.2f}")
print(f"with patience 3, fit stops after {200 * len(seen)} updates and keeps those of {200 * (stopped_by + 1)}")
show(
    line_chart(
        range(200, 2401, 200),
        {"validation": valid, "training": falling},
        xlabel="update",
        ylabel="bits per character",
        title="Learned by heart: 20,000 characters of source code",
    ),
    alt="Bits per character against updates, on 20,000 characters. The training line falls from above 4 to about 1. The "
    "validation line is lowest, about 4, within the first 600 updates, and then rises to about 5.",
)
assert falling[-1] < falling[0], "The training loss was expected to fall; " + answer_above
assert valid[-1] > valid[best] + 0.3, "The validation score was expected to rise again; " + answer_above
assert stopped_by == best, "fit was expected to find the best; " + answer_above
assert len(seen) < len(valid), "fit was expected to stop early; " + answer_above

# %% [markdown]
# The network learns the text by heart, and what it knows of *this* text is wrong of others. It happens in
# {{held by_heart}} seeds. Stop where the validation score is best, and keep those parameters:
# {{heart/20,000 characters/best}} bits in place of {{heart/20,000 characters/at the end}}. The remedy is a longer text:
# with 300,000 characters the score after 2,400 updates is {{heart/300,000 characters/at the end}}, and still falling.
#
# ### The rate, and where to start
#
# Everything else is chosen in the same way, by the validation text. What counts for most is the **learning rate**: look for
# it in steps of ten, with short runs, and then once more in steps of three around the best. The next is the **scale of the
# start**: the weights should keep the size of what passes through them (unit 05), which is a matter of factors too.
#
# Our text for this is the shortest and dearest of the unit: 4,163 first names, one to a line, with 500 more to choose by and
# 500 to be judged on. **Write down your guess**: of the rates 0.001, 0.01, 0.1 and 1, and of starts a tenth, once and ten
# times as large as in section 3, which does best after 300 updates? And how far apart are three seeds?
#
# **Claim:** ten times too small or too large a rate, or a start ten times too large, costs more than the luck of the seed;
# eight units more or less cannot be told from it.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.data import first_names

names = first_names()
name_chars, name_index = vocabulary_of("\n".join(names.train))
name_ids = {
    part: np.asarray(to_ids("\n" + "\n".join(some) + "\n", name_index)) for part, some in names._asdict().items()
}


def short_run(rate=0.1, scale=1.0, hidden=64, seed=0, updates=300):
    """Bits per character on the names to choose by, after a short training on those to learn from."""
    p = {
        name: (scale * array).astype(np.float32)
        for name, array in new_parameters(len(name_chars), hidden, seed).items()
    }
    memory = {name: np.full_like(array, 0.1) for name, array in p.items()}
    done = 0
    while done < updates:
        h = np.zeros((16, hidden), dtype=np.float32)
        for batch in batches_of(name_ids["train"], 16, 16):
            if done < updates:
                _, h = step(p, memory, h, *batch, rate, 5.0)
                done += 1
    return score(p, name_ids["validation"])


tried = {f"rate {rate:g}": {"rate": rate} for rate in (0.001, 0.01, 0.1, 1.0)}
tried |= {f"start times {scale:g}": {"scale": scale} for scale in (0.1, 10.0)} | {"72 units": {"hidden": 72}}
ends = {
    name: [short_run(**choice, seed=seed) for seed in range(3)] for name, choice in track(tried.items(), "short runs")
}
for name, bits in ends.items():
    print(f"{name:16}", "  ".join(f"{b:6.2f}" for b in bits), "  bits, by seed")
spread = max(ends["rate 0.1"]) - min(ends["rate 0.1"])
assert spread < 0.2, "Three seeds were expected to lie close together; " + answer_above
for name in ("rate 0.01", "rate 1", "start times 10"):
    assert min(ends[name]) > max(ends["rate 0.1"]) + spread, f"{name} was expected to cost more; " + answer_above
rates = (0.001, 0.01, 0.1, 1.0)
show(
    line_chart(
        rates,
        {f"seed {seed}": [ends[f"rate {rate:g}"][seed] for rate in rates] for seed in range(3)},
        xlabel="learning rate",
        ylabel="bits per character,\nvalidation names",
        logx=True,
        title="Four rates, three seeds, 300 updates",
    ),
    alt="Bits per character on the validation names against the learning rate, a line for each of three seeds, which lie "
    "upon each other up to 0.1. They fall from 4.6 at a rate of 0.001 over 3.8 at 0.01 to 3.2 at 0.1, and rise above 5 at 1, "
    "each to another height.",
)

# %% [markdown]
# With too small a rate the network has not got anywhere yet; with too large a one it jumps about. Over five seeds, as above
# and in bits:
#
# | | |
# |---|---|
# | rate 0.1, start as in section 3, 64 units | {{choices/as shown/bits}} |
# | rate 0.01 | {{choices/rate 0.01/bits}} |
# | rate 1 | {{choices/rate 1/bits}} |
# | start times 0.1 | {{choices/start times 0.1/bits}} |
# | start times 10 | {{choices/start times 10/bits}} |
# | 72 units | {{choices/72 units/bits}} |
#
# The claim holds in {{held rate_and_start}} seeds. (In a start ten times as large the tanhs are saturated, and their slope, on
# which each error depends, is next to nothing.)
#
# **What is one seed worth?** Look at the last line beside the first: each range has most of the other in it. Had you run one
# seed of each, you would have reported what these two said. A difference counts if it is clearly larger than the range over
# seeds, at the same seeds for both; three seeds are a beginning, five a habit. All claims of this course are measured so, and
# the brackets behind a number are its range.
#
# ### From a blank cell
#
# You have been handed a loop in section 3: `train`. It has no validation text, and it does not stop. Now write a better one,
# from nothing. You will do it again in every project of your life, and nobody will put a stub there.

# %% [markdown]
# ### Exercise 6.8 · `train_model`
# *●●● · 35 minutes · 6 points*
#
# Train a network on the ids `train_ids (L,)`, stop by `valid_ids (M,)`, and return the pair `(parameters, losses)`: the dict
# of `"U", "W", "b", "V", "c"` as it was after the best epoch, and the bits per character on `valid_ids` after each epoch. `Q`
# is the number of characters; the start is drawn from `rng`, a `np.random.Generator`; `max_epochs` and `patience` are those
# of `fit`.
#
# **How** you do it is yours to decide: how many units, which start, how many rows and steps, which rate. You may use all
# that you have written: `contiguous_batches`, `train_step`, `bits_per_character`, `fit`. They are your own here, when it is
# graded too, so see first that they pass. What the check looks at is what comes out:
#
# - on 2,000 tokens of Reber's grammar, in at most 16 epochs, the network scores less than a fifth above the lowest possible
#   on a third text. (24 units, 8 rows of 16 steps, rate 0.1 and a memory that starts at 0.1 do that; so do many others. The
#   check waits for four seconds, ten times what these take.)
# - the parameters are those after the best epoch, and the losses stop where `patience` says;
# - the same rng gives the same network, another one another; and `valid_ids` has no say in what is learned.


# %% answer="train_model"
def train_model(train_ids, valid_ids, Q, max_epochs, patience, rng):
    """Train on (L,) ids, stop by (M,) others: Q characters, two whole numbers, a generator -> parameters, losses."""
    ### BEGIN SOLUTION
    shapes = {"U": (Q, 24), "W": (24, 24), "b": (24,), "V": (24, Q), "c": (Q,)}
    parameters = {name: rng.uniform(-0.2, 0.2, shape).astype(np.float32) for name, shape in shapes.items()}
    memory = {name: np.full_like(p, 0.1) for name, p in parameters.items()}
    kept = []

    def train_epoch(epoch):
        h = np.zeros((8, 24), dtype=np.float32)
        for inputs, targets in contiguous_batches(train_ids, 8, 16):
            _, h = train_step(parameters, memory, h, inputs, targets, 0.1, 5.0)

    def validate(epoch):
        kept.append({name: p.copy() for name, p in parameters.items()})
        return bits_per_character(parameters, valid_ids)

    losses, best_epoch = fit(train_epoch, validate, max_epochs, patience)
    return kept[best_epoch], losses
    ### END SOLUTION


# %% check="train_model"
check(train_model)

# %% [markdown]
# That is the whole of it: what every training program does, however large. Two things in yours are what most home-made ones
# lack: a copy of the *best* parameters, since the arrays go on changing; and a validation text that never meets a gradient.

# %% [markdown]
# ## 7 · Hot and cold
#
# A model gives probabilities. To let it write, draw from them. But you may want it more careful than it is, or bolder. Then
# divide the logits by a **temperature** $\tau > 0$ before the softmax:
#
# $$y_i = \frac{e^{o_i / \tau}}{\sum_j e^{o_j / \tau}}$$
#
# The ratio of two probabilities is $e^{(o_i - o_j)/\tau}$: that of the model, raised to the power $1/\tau$. At $\tau = 1$
# you have the model's own opinion. Towards 0 the likeliest takes all; at large $\tau$ all become alike.
#
# *By hand*: logits $(0, \log 3)$ are probabilities $(0.25, 0.75)$, one to three. At $\tau = 0.5$ it is one to $3^2 = 9$:
# $(0.1, 0.9)$. At $\tau = 2$ it is one to $\sqrt 3$: $(0.366, 0.634)$.

# %% [markdown]
# ### Exercise 6.9 · `temperature_softmax`
# *●○○ · 6 minutes · 2 points*
#
# `logits` has any number of axes; the probabilities run along the last. `temperature` is above 0 and may be small: large
# logits must not overflow. The result has the shape and the dtype of `logits`.
#
#     temperature_softmax(np.array([0, np.log(3)]), 0.5)  gives  [0.1, 0.9]


# %% answer="temperature_softmax"
def temperature_softmax(logits, temperature):
    """softmax(logits / temperature) along the last axis: logits (..., Q), a number -> (..., Q)."""
    ### BEGIN SOLUTION
    return softmax(logits / temperature)
    ### END SOLUTION


# %% check="temperature_softmax"
check(temperature_softmax)

# %% tags=["experiment"]
tempered = use(temperature_softmax)
logits = np.log([0.5, 0.3, 0.15, 0.05])


def opinions(temperatures, title, ylim=None):
    """The probabilities of the four characters, a line for each temperature."""
    lines = {f"τ = {heat:g}": np.asarray(tempered(logits, heat)) for heat in temperatures}
    labels = {"xlabel": "character, by its rank", "ylabel": "probability", "title": title}
    figure = line_chart(range(1, 5), lines, **labels, ylim=ylim)
    figure.axes[0].set_xticks(range(1, 5))
    return figure


heats = {f"τ = {heat:g}": np.asarray(tempered(logits, heat)) for heat in (0.5, 1.0, 2.0)}
explore(
    lambda heat: opinions((heat, 1.0), "The slider's temperature, and 1", ylim=(0, 1.03)),
    opinions((0.5, 1.0, 2.0), "One opinion, at three temperatures"),
    alt="Probabilities of four characters. At temperature 1 they are 0.5, 0.3, 0.15 and 0.05; at 0.5 the first rises above "
    "0.65 and the last vanishes; at 2 the four come closer together.",
    heat=Slider("temperature τ", 0.1, 5.0, 0.3, step=0.1),
)
assert heats["τ = 0.5"][0] > 0.65 > heats["τ = 2"][0], "Cold was expected to favour the first; " + answer_above

# %% [markdown]
# ### Cutting off the tail
#
# Take a hundred wrong characters, each with a probability of a tenth of a percent: together they are a tenth of all draws,
# and each is a typo that the network then has to live with. A lower temperature makes this tail thinner, but also the model
# more boring. Two filters cut the tail off instead, and leave the proportions of the rest alone:
#
# - **top-k** keeps the $k$ most probable;
# - **nucleus** (or top-p) keeps the fewest most probable whose mass is at least $p$: many where the model is unsure, one
#   where it is sure.
#
# *By hand*: $(0.25, 0.125, 0.25, 0.375)$. Top-2 keeps 0.375 and one of the two 0.25; of equals the one with the **lower id**
# goes first. What is left is $(0.25, 0, 0, 0.375)$, with the sum $0.625$; divided by it, $(0.4, 0, 0, 0.6)$. The nucleus of
# $p = 0.5$: 0.375 alone is not enough; with the first 0.25 it is $0.625 \geq 0.5$, so the same two stay. They stay for
# $p = 0.625$ too, since "at least" is reached; for $p = 0.63$ one more does.

# %% [markdown]
# ### Exercise 6.10 · `top_k_filter`
# *●●○ · 12 minutes · 3 points · optional*
#
# `probabilities` has any number of axes, `k` is at least 1. Along the last axis keep the $k$ most probable ids, ties to
# the lower id, put 0 elsewhere, and divide each row by its new sum. $k \geq Q$ keeps all. Return a new array of the same
# shape and dtype.
#
# `np.argsort(-p, axis=-1, kind="stable")` gives the ids, the most probable first; without `kind="stable"` equal ones may
# come in any order.
#
#     top_k_filter(np.array([0.25, 0.125, 0.25, 0.375]), 2)  gives  [0.4, 0, 0, 0.6]


# %% answer="top_k_filter"
def top_k_filter(probabilities, k):
    """The k most probable ids of each row, as parts of their sum: (..., Q), whole number -> (..., Q)."""
    ### BEGIN SOLUTION
    best = np.argsort(-probabilities, axis=-1, kind="stable")[..., :k]
    kept = np.zeros_like(probabilities)
    np.put_along_axis(kept, best, np.take_along_axis(probabilities, best, axis=-1), axis=-1)
    return kept / kept.sum(axis=-1, keepdims=True)
    ### END SOLUTION


# %% check="top_k_filter"
check(top_k_filter)

# %% [markdown]
# ### Exercise 6.11 · `nucleus_filter`
# *●●● · 20 minutes · 4 points*
#
# The same for the nucleus: along the last axis, keep the fewest most probable ids whose mass is at least `p`, and at $p = 0$
# still one; ties to the lower id; 0 elsewhere; divide by the new sum. $p = 1$ keeps all. Take care there: 0.1 added up ten
# times is not 1 in floating point, and a search for the place where the sum reaches 1 may find none.
#
#     nucleus_filter(np.array([0.25, 0.125, 0.25, 0.375]), 0.5)   gives  [0.4, 0, 0, 0.6]
#     nucleus_filter(np.array([0.25, 0.125, 0.25, 0.375]), 0.63)  gives, rounded,  [0.286, 0, 0.286, 0.429]


# %% answer="nucleus_filter"
def nucleus_filter(probabilities, p):
    """The fewest most probable ids of mass at least p in each row, as parts of their sum: (..., Q), number -> (..., Q)."""
    ### BEGIN SOLUTION
    order = np.argsort(-probabilities, axis=-1, kind="stable")
    ranked = np.take_along_axis(probabilities, order, axis=-1)
    before = np.cumsum(ranked, axis=-1) - ranked
    stays = (before < p) | (p >= 1)
    stays[..., 0] = True
    kept = np.zeros_like(probabilities)
    np.put_along_axis(kept, order, np.where(stays, ranked, 0), axis=-1)
    return kept / kept.sum(axis=-1, keepdims=True)
    ### END SOLUTION


# %% check="nucleus_filter"
check(nucleus_filter)

# %% [markdown]
# ## 8 · Writing
#
# To write, the network reads what it has written. First it reads a **prompt**, which is given, and draws nothing: that warms
# the state up. Then, again and again: draw a character from the state, write it down, read it.
#
# | | reads | state after it | draws |
# |---|---|---|---|
# | prompt | d | $h_1$ | |
# | | e | $h_2$ | |
# | | f | $h_3$ | with $u_0$ from $V, c$ at $h_3$: say, a space |
# | new | the space | $h_4$ | with $u_1$ from $h_4$: say, _ |
# | | _ | $h_5$ | … |
#
# This loop has ten lines, and published programs get it wrong surprisingly often. Here is how. Find the place of each of
# these mistakes in the table:
#
# - the prompt's last character is read twice, once in the warm-up and once as the first input of the loop;
# - the state starts at zero again after the prompt, or at every character;
# - the character that was drawn is not read: the network answers the same question again and again;
# - the most probable character is read in place of the drawn one;
# - the first character drawn is read but not written down.
#
# All of them give *text*, and with a strong model it even looks right. You can only find them by knowing what should come
# out. So the random numbers are given here.

# %% [markdown]
# ### Exercise 6.12 · `generate`
# *●●● · 30 minutes · 6 points*
#
# Write on from a prompt. `prompt` holds ids (an array or a list, not empty); the state before it is zeros. Return a list
# of the `length` new ids, without the prompt. The first comes from the state after the prompt's last id. The k-th is drawn
# with `uniforms[k]`, by `sample_index(p, u)` of unit 01, where `p` has the shape `(Q,)`, at the given temperature; each
# one is the next input. You may call your `temperature_softmax`.
#
#     U = I (3, 3), W = 0, b = 0, c = 0, and V so that after 0 comes 1, after 1 comes 2, after 2 comes 0, for sure:
#     generate(parameters, [2, 0], 4, uniforms)  gives  [1, 2, 0, 1]


# %% answer="generate"
def generate(parameters, prompt, length, uniforms, temperature=1.0):
    """Write on from a prompt: dict of U, W, b, V, c; prompt (L,); uniforms (length,) -> list of the new ids."""
    ### BEGIN SOLUTION
    U, W, b, V, c = (parameters[name] for name in "UWbVc")
    onehot, h, new = np.eye(len(U), dtype=U.dtype), np.zeros((1, len(W)), dtype=U.dtype), []
    for i in prompt:
        h = rnn_step(onehot[[i]], h, U, W, b)
    for k in range(length):
        p = temperature_softmax(output_layer(h, V, c), temperature)[0]
        new.append(sample_index(p, uniforms[k]))
        h = rnn_step(onehot[[new[-1]]], h, U, W, b)
    return new
    ### END SOLUTION


# %% check="generate"
check(generate)

# %% [markdown]
# Try it on the smallest model that you have. **Claim:** after "h" the network writes "ello", and then, since it has never
# read anything but this one word over and over, it goes on with "hello".

# %% tags=["experiment"]
write = use(generate)
new = write(hello_model, to_ids("h", index), 14, np.full(14, 0.5))
print("h" + to_text(new, chars))
assert to_text(new, chars) == "ellohellohello", "More of the one word was expected; " + answer_above

# %% [markdown]
# ## 9 · Something to play with
#
# Put the two together, `fit` and `generate`, and watch a network learn. It reads the first names, one to a line, and after
# each epoch it writes a few of its own: a line break is its prompt, and each line break that it draws ends a name. The
# names are those of a census, public by law. The random numbers are the same after each epoch, so that what changes is the
# network. Look at the line as it grows. **What does it learn first**: the letters, the length of a name, the capital at its
# start, or where vowels go? Say so before you run it.


# %% tags=["experiment", "nbval-ignore-output"]
def names_written(p, length=84, heat=0.8, seed=0):
    """The whole names among so many characters that a network writes after a line break."""
    uniforms = np.random.default_rng(seed).random(length)
    return to_text(write(p, to_ids("\n", name_index), length, uniforms, heat), name_chars).split("\n")[:-1]


def name_maker(hidden=64, max_epochs=20, patience=2, seed=0, live=False):
    """A network that makes up first names: its parameters, and the validation losses in bits per character."""
    p, kept = new_parameters(len(name_chars), hidden, seed), []
    memory = {name: np.full_like(array, 0.1) for name, array in p.items()}

    def train_epoch(epoch):
        h = np.zeros((16, hidden), dtype=np.float32)
        for batch in batches_of(name_ids["train"], 16, 16):
            _, h = step(p, memory, h, *batch, 0.1, 5.0)

    def validate(epoch):
        kept.append({name: array.copy() for name, array in p.items()})
        if live:
            print(f"epoch {epoch:2}  {score(p, name_ids['validation']):.2f} bits  ", *names_written(p)[:8], flush=True)
        return score(p, name_ids["validation"])

    losses, best_epoch = use(fit)(train_epoch, validate, max_epochs, patience)
    return kept[best_epoch], losses


name_model, name_losses = name_maker(live=True)
print(f"on the names that were held out: {score(name_model, name_ids['held_out']):.2f} bits per character")
assert min(name_losses) < name_losses[0] - 0.2, "The network was expected to get better; " + answer_above

# %% [markdown]
# Are they *its own*, or has it learned the list by heart? And does it know what a name is? There is a test of that: among
# the 1,000 names that it has never read, some are so like the others that a good model should hit upon them. As a control
# let a bigram table of the same names write, too.
#
# (Short names come up by chance, so let only those of five letters or more count.)
#
# **Claim:** more than half of the names of five letters or more that the network writes stand on no list; and it hits upon
# real ones that it has not read more often than a table of bigrams does.

# %% tags=["experiment", "nbval-ignore-output"]


def names_by_table(length=40_000, seed=0):
    """The same, written by the bigrams of the names that were learned."""
    table, rng, new = count_ngrams("\n" + "\n".join(names.train) + "\n", 2), np.random.default_rng(seed), ["\n"]
    rows = {c: ([*followers], np.array([*followers.values()])) for (c,), followers in table.items()}
    for u in rng.random(length):
        followers, counts = rows[new[-1]]
        new.append(followers[sample_index(counts / counts.sum(), u)])
    return "".join(new).split("\n")[1:-1]


def whose(made):
    """Among names of five letters or more, the shares of those learned, of real ones not learned, and of new ones."""
    read, unread = set(names.train), {*names.validation, *names.held_out}
    shares = np.mean([(name in read, name in unread) for name in made if len(name) > 4], axis=0)
    return {"read": shares[0], "unread": shares[1], "new": 1 - shares.sum()}


by_network, by_table = whose(names_written(name_model, 40_000, 1.0)), whose(names_by_table())
for writer, shares in (("the network", by_network), ("bigrams", by_table)):
    print(f"{writer:12}", ", ".join(f"{kind}: {share:.1%}" for kind, share in shares.items()))
assert by_network["new"] > 0.5, "More than half were expected to be new; " + answer_above
assert by_network["unread"] > by_table["unread"], "More real names than by bigrams were expected; " + answer_above

# %% [markdown]
# Over five seeds the network hits upon unread names with {{play/network/unread|.2%}} of what it writes, the table with
# {{play/bigrams/unread|.2%}}; {{play/network/new|.0%}} are on no list. It holds in {{held own_names}} seeds. Choose one for
# your next cat.
#
# %% [markdown]
# ## 10 · Real text, and an honest comparison
#
# Now the real thing: 300,000 characters of Python's own source, and as many of its documentation, which is English with
# examples. Whole files and whole topics are held out. 4,000 updates are not too many: section 6 saw the validation score
# still falling after 2,400. Two networks with 128 units are trained, each for 4,000 updates, which
# is seven times through its text. That takes about ten seconds for each on a quiet machine.

# %% tags=["experiment"]
corpora = {name: learned_from(name) for name in ("python-source", "python-docs")}

# %% tags=["experiment", "nbval-ignore-output"]
curves = {name: corpus["losses"].reshape(-1, 100).mean(axis=1) for name, corpus in corpora.items()}
show(
    line_chart(
        100 * np.arange(1, UPDATES // 100 + 1),
        {name.replace("-", "'s "): curve for name, curve in curves.items()},
        xlabel="updates (each point is a mean over 100)",
        ylabel="bits per character, training text",
    ),
    alt="The training loss of both networks in bits per character against the number of updates: a steep fall from above "
    "four to about three within 500 updates, then a slow decline to about two.",
)
assert all(curve[-1] < 0.7 * curve[0] for curve in curves.values()), "The losses were expected to fall; " + answer_above

# %% [markdown]
# ### The opponent
#
# It would be easy to win against a weak opponent. The n-grams of unit 01 add $\alpha$ to every count, and for a context
# that was never seen they know nothing. A far better one falls back on the shorter context, and the more so the less it
# has seen. With $N(c)$ for the number of *different* characters that followed the context $c$, and $c'$ for $c$ without
# its first character:
#
# $$P_n(w \mid c) = \frac{\text{count}(c, w) + N(c)\, P_{n-1}(w \mid c')}{\text{count}(c) + N(c)}$$
#
# This is Witten–Bell smoothing, interpolated. It does well on characters, and it has nothing to tune. *By hand*: "q" was
# seen 10 times, 9 times followed by u and once by a space, so $N = 2$, and $P_2(u \mid q) = (9 + 2 P_1(u)) / 12$: three
# quarters, and a little more.
#
# Everybody reads the same training text and is asked about the same 20,000 characters of the held-out text. The simple
# n-gram even gets the $\alpha$ that suits the held-out text best. **Write down your guess**: where among the 1- to 6-grams
# does the network stand?


# %% tags=["experiment", "nbval-ignore-output"]
def ngram_scores(text, unseen, Q, longest=6):
    """For n = 1 to longest: bits of the simple n-gram at its best alpha; log2 P of each character by Witten-Bell; and how
    often the context of four characters was seen."""
    q, simple, smooth, skip = np.full(len(unseen), 1 / Q), [], [], longest
    for n in range(1, longest + 1):
        table = count_ngrams(text, n)
        total = {context: sum(followers.values()) for context, followers in table.items()}
        contexts = [tuple(unseen[i - n + 1 : i]) for i in range(skip, len(unseen))]
        seen = np.array([total.get(context, 0) for context in contexts])
        counts = np.array([table.get(context, {}).get(w, 0) for context, w in zip(contexts, unseen[skip:])])
        kinds = np.array([len(table.get(context, ())) for context in contexts])
        simple.append(
            min(-np.log2((counts + a) / (seen + a * Q)).mean() for a in (1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001))
        )
        lower = q[skip:]
        q[skip:] = np.where(seen > 0, (counts + kinds * lower) / np.maximum(seen + kinds, 1), lower)
        smooth.append(np.log2(q[skip:]))
        if n == 5:
            familiar = seen
    return np.array(simple), np.array(smooth), familiar


def rnn_log2(corpus, skip=6):
    """log2 P of each character of the held-out text, from number `skip` on."""
    U, W, b, V, c = (corpus["parameters"][name] for name in "UWbVc")
    ids = np.asarray(to_ids(corpus["unseen"], corpus["index"]))
    H = rnn_forward(np.eye(len(U), dtype=U.dtype)[ids[:-1]][:, None], np.zeros((1, len(W)), dtype=U.dtype), U, W, b)
    logits = output_layer(H, V, c)[:, 0].astype(float)
    logs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    return (np.take_along_axis(logs, ids[1:, None], axis=1)[:, 0] / np.log(2))[skip - 1 :]


def compared(corpus, counted):
    """The scores of a corpus, its n-grams counted, its network, and both: half and half with the best n-gram."""
    simple, smooth, familiar = counted
    mine, bits = rnn_log2(corpus), -smooth.mean(axis=1)
    both = -np.log2(0.5 * 2.0**mine + 0.5 * 2.0 ** smooth[bits.argmin()]).mean()
    scores = {"simple": simple, "smooth": bits, "rnn": -mine.mean(), "both": both}
    return corpus | scores | {"logs": (smooth, mine, familiar)}


for name, corpus in corpora.items():
    corpus |= compared(corpus, ngram_scores(corpus["text"], corpus["unseen"], len(corpus["chars"])))
    simple = corpus["simple"]
    print(f"{name}, bits per character")
    print("  n                     ", *(f"{n:>6}" for n in range(1, 7)))
    print("  simple n-gram         ", *(f"{bits:6.2f}" for bits in simple))
    print("  with Witten-Bell      ", *(f"{bits:6.2f}" for bits in corpus["smooth"]))
    print(f"  recurrent network      {corpus['rnn']:6.2f}\n")
    show(
        line_chart(
            range(1, 7),
            {"simple n-gram": simple, "Witten–Bell": corpus["smooth"], "our network": [corpus["rnn"]] * 6},
            xlabel="n (characters the n-gram sees at once)",
            ylabel="bits per character, held-out text",
            title=name,
        ),
        alt=f"{name}: bits per character on held-out text against n. Simple n-grams fall to about n = 4 and rise again; "
        "with Witten-Bell smoothing they fall to n = 4 or 5 and rise little. The network is a horizontal line, below the "
        "3-gram and above the best n-gram.",
    )

# %% [markdown]
# How was your guess? Now look closer. Where does each of the two win? We sort the characters of the held-out text by how
# often the four before them were seen in the training text. And we ask a third model: the mean of the two probabilities.
#
# **Claim:** on both texts the network beats the 3-gram, however it is smoothed, and the simple 6-gram, but not the best
# n-gram; on source code the mean of the two beats both, by more than a tenth of a bit.

# %% tags=["experiment", "nbval-ignore-output"]
for name, corpus in corpora.items():
    smooth, mine, familiar = corpus["logs"]
    best = smooth[corpus["smooth"].argmin()]
    print(f"{name}: best n-gram {-best.mean():.2f}, network {corpus['rnn']:.2f}, half and half {corpus['both']:.2f}")
    for low, high in ((0, 0), (1, 9), (10, 99), (100, 10**9)):
        these = (familiar >= low) & (familiar <= high)
        how_often = f"{low} times" if high == 0 else f"{low} or more" if high > 99 else f"{low} to {high}"
        print(
            f"   last four characters seen {how_often:<12} {these.mean():5.0%} of the text"
            f"   n-gram {-best[these].mean():.2f}   network {-mine[these].mean():.2f}"
        )

source, docs = corpora["python-source"], corpora["python-docs"]
for corpus in (source, docs):
    assert corpus["rnn"] < corpus["smooth"][2], "The network was expected to beat the 3-gram; " + answer_above
    assert corpus["smooth"].min() < corpus["rnn"], "The best n-gram was expected to beat the network; " + answer_above
assert source["both"] < min(source["rnn"], source["smooth"].min()) - 0.1, (
    "Both together were expected to gain a tenth of a bit on source code; " + answer_above
)

# %% [markdown]
# What to make of it, honestly?
#
# 1. **The network beats the 3-gram, however it is smoothed**, on both texts, and the simple 6-gram too. Over five seeds it
#    needs {{real_text/python-source/network}} bits on source code and {{real_text/python-docs/network}} on the
#    documentation, where the better of the two 3-grams needs {{real_text/python-source/3-gram}} and
#    {{real_text/python-docs/3-gram}}.
# 2. **The best n-gram, with Witten–Bell smoothing, beats the network**: narrowly on source code, with
#    {{real_text/python-source/best n-gram}}, and clearly on the documentation, with {{real_text/python-docs/best n-gram}}.
#    The documentation repeats its phrases, and a table that has seen the last four characters before often knows the
#    phrase by heart. Here it has seen them for all but a twentieth of the text. In held-out source code there are names
#    that nobody has seen, and the lead melts.
# 3. **Where the context is common, in source code, the network wins**: look at the row "100 or more". After four spaces a
#    table of four characters knows no more; a state can also know how long the spaces have been going on.
# 4. **The two know different things.** The mean of their probabilities, half and half, beats both on source code, with
#    {{real_text/python-source/both}}; on the documentation it gains little over the table, with
#    {{real_text/python-docs/both}}.
#
# All of this holds in {{held against_tables}} seeds.
#
# So the plain recurrent cell, with the training that fits into a notebook, does *not* win against the best n-gram here. In
# the literature recurrent networks do win, with more units, more text, much longer training, and mostly with the gated cells
# of unit 10. But look at what yours costs: some 42,000 numbers, however far it looks back, and not one more for a longer
# context.
#
# ## 11 · What it writes
#
# The colder, the safer; the hotter, the wilder. At which temperature would you let it write? Choose first. Here are three
# side by side, from the same prompt with the same random numbers.
#
# **Claim:** at a temperature of 0.5 more of the longer words that the network writes are words of the library than at 1.2.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.data import words

write, nucleus = use(generate), use(nucleus_filter)
PROMPT = "    def __init__(self"


def real_words(text, corpus):
    """The share of the longer words of a text that are in the text that was learned."""
    known = set(words(corpus["text"]))
    return np.mean([word in known for word in words(text) if len(word) > 3])


def written(corpus, heat, length=700, prompt=PROMPT):
    uniforms = np.random.default_rng(7).random(length)
    return to_text(
        write(corpus["parameters"], to_ids(prompt, corpus["index"]), length, uniforms, heat), corpus["chars"]
    )


source = corpora["python-source"]
columns, shares = [], {}
for heat in (0.5, 0.8, 1.2):
    page = PROMPT + written(source, heat)
    shares[heat] = real_words(page, source)
    lines = [
        piece
        for line in page.split("\n")
        if line.strip()
        for piece in (line[i : i + 38] for i in range(0, len(line) or 1, 38))
    ]
    columns.append([f"τ = {heat}", "-" * 38, *lines])
for row in zip(*(column + [""] * (22 - len(column)) for column in columns)):
    print(" │ ".join(f"{cell:<38}" for cell in row[:3]).rstrip())
print(
    "\nwords of the library among its longer words:", ", ".join(f"τ = {h}: {share:.0%}" for h, share in shares.items())
)
assert shares[0.5] > shares[1.2], "More real words were expected when it is colder; " + answer_above

# %% [markdown]
# A few seconds ago this network had never heard of Python. Now there are indented lines, `def` and `self` and
# `else:`, brackets that are opened and often closed, comments behind a #. There is no meaning, of course, and many words are
# nearly words: it spells letter by letter, and within a dozen of them loses what it was about to say. Is that the
# wall of unit 05, or the small budget? These samples cannot tell.
#
# Do the filters help? The tail is where the typos come from. (You can put `top_k_filter` in place of the nucleus.)
#
# **Claim:** at temperature 1, more of the longer words that the network of the source code writes are real ones with a
# nucleus of 0.9 than without a filter.

# %% tags=["experiment", "nbval-ignore-output"]


def write_filtered(corpus, keep, length=4000, seed=1):
    """Draw `length` characters at temperature 1, from what `keep` leaves of each distribution."""
    U, W, b, V, c = (corpus["parameters"][name] for name in "UWbVc")
    rng, h, new = np.random.default_rng(seed), np.zeros((1, len(W)), dtype=U.dtype), []
    for i in to_ids("\ndef ", corpus["index"]):
        h = np.tanh(U[i] + h @ W + b)
    for _ in range(length):
        new.append(sample_index(keep(softmax(h @ V + c))[0], rng.random()))
        h = np.tanh(U[new[-1]] + h @ W + b)
    return to_text(new, corpus["chars"])


unfiltered = real_words(write_filtered(source, lambda p: p), source)
filtered = real_words(write_filtered(source, lambda p: nucleus(p, 0.9)), source)
print(f"real words: {unfiltered:.0%} without a filter, {filtered:.0%} with the nucleus of 0.9")
assert filtered > unfiltered, "More real words were expected with the filter; " + answer_above

# %% [markdown]
# Over five networks, trained from other seeds: at temperature 0.5 {{real_text/python-source/cold|.0%}} of the longer words
# are real, at 1.2 {{real_text/python-source/hot|.0%}}; at temperature 1 {{real_text/python-source/unfiltered|.0%}} without
# a filter and {{real_text/python-source/nucleus|.0%}} with it. It is not always so: what the network of the documentation
# writes with the nucleus gets caught in a line of dashes, and never leaves it. Text without a tail is text without a way
# out.
#
# ## 12 · Bugs to hunt
#
# Each of these was handed in or published somewhere. What would you see, and which check of this unit finds it?
#
# - **Report A.** "My loss goes to 0.02 bits, on any text." The targets are `inputs`, not shifted.
# - **Report B.** "Training works, but after loading the saved weights the next morning it writes gibberish." `chars =
#   list(set(text))`.
# - **Report C.** "The text is fine for one character, then it is as if the prompt had never been." `h = np.zeros(...)`
#   stands inside the loop that draws.
# - **Report D.** "With temperature 0.5 it gets *wilder*." `softmax(logits * temperature)`.
# - **Report E.** "The loss is the same whether I carry the state or not." The rows of a batch are neighbours in the text.
# - **Report F.** "The first letters after the prompt are odd, then it is fine." The prompt's last character is fed twice.
#
# <details><summary>What finds them</summary>
#
# A: a score below what people reach is too good to be true; look at one batch, as in section 2. B: `build_vocabulary` on two
# runs; sorting cures it. C and F: text that looks right proves nothing; `generate` with given uniforms, against a slow
# program, finds both. D: the by-hand example with $(0.1, 0.9)$. E: decode row 0 of two batches one after the other.
# Neither C nor F would be found with a model whose $W$ is 0, nor C if you let it write one character only: test where it
# matters.
#
# </details>
#
# ## 13 · Summary
#
# - A character's **id** is its place in the sorted vocabulary; one-hot times $U$ is a row of $U$.
# - A long text is read in **contiguous rows**: the state is carried from batch to batch, its gradient is not.
# - A **training step** is: forwards, loss, backwards, clip together, Adagrad. The loss is that before the update.
# - **Bits per character**: the mean of $-\log_2 P$ over the $L - 1$ predictions, on text that was held out.
# - A **validation** text is for choices: when to stop, the rate, the start. The held-out text is for the score, once. One seed
#   is an anecdote.
# - **Early stopping** waits for `patience` epochs, and keeps a copy of the best parameters.
# - **Temperature** divides the logits. **Top-k** and **nucleus** cut off the tail.
# - **Generating** is: warm up on the prompt, draw, read what you drew. The prompt's last character is read once.
# - What can such a network learn, and how good is it? Where the optimum is known, it comes within 5% of it, and the
#   professions are right, three out of three. On real text, at this budget, it stands between a 3-gram and the best smoothed
#   n-gram; on source code the two together are better than either.

# %% [markdown] written="language_model_written" points=3
# ### Written question
# *3 points, graded by hand; about eight sentences*
#
# A company advertises: "Our recurrent model reaches 1.7 bits per character on your documentation; the 3-gram that you use
# needs 2.7. And just look at the text that it writes!" **(a)** Name two questions that you would ask about how these numbers
# were measured before you believe the comparison, and say for each what could be wrong. **(b)** Which opponent would be
# fairer than a 3-gram, and why? **(c)** Why does good-looking text not show that the program that generates it is right?
# Name one mistake that it would hide, and a test that finds it.
#
# ### BEGIN SOLUTION
# **Model answer.** (a) *On which text?* If the network had read the documentation that it is scored on, while training or
# when its settings were chosen, the score is a memory test; it must be held-out text, whole topics of it. *Are both scored
# alike?* Same training text, same held-out text, same vocabulary, all characters counted, none left out because it was
# unknown or "impossible"; a network that was trained on a thousand times more text may be better, but then it is the text
# that is better. (Also good: the unit, nats or bits; is the state carried or started anew; a mean over characters or over
# batches.) (b) An n-gram of five or six characters that falls back on shorter contexts, such as Witten-Bell or Kneser-Ney:
# in our experiment it needed 1.9 bits on the documentation where the 3-gram needed 2.7, and it costs seconds. (c) A strong
# model forgives: if the prompt's last character is read twice, or the state starts anew after the prompt, the text is
# still made of words, only less fitting ones than the model could write. Given uniform numbers and fixed weights, the ids
# that must come out are known exactly; compare them with those of a slow, obvious program, with a prompt of several
# characters.
#
# **Rubric.** 1 point for (a): two different and relevant questions with what could be wrong (½ each). 1 point for (b): a
# longer n-gram with smoothing or back-off, with a reason. 1 point for (c): a generation mistake that leaves the text
# plausible (½) and a test that compares exact ids or distributions, with given random numbers (½); "read more samples" is
# no test.
# ### END SOLUTION

# %% [markdown]
# ## Where to read on
#
# - C. E. Shannon, "Prediction and Entropy of Printed English", *Bell System Technical Journal* 30, 1951: people as language
#   models, letter by letter.
# - I. Sutskever, J. Martens, G. Hinton, "Generating Text with Recurrent Neural Networks", *ICML* 2011: the first large
#   network of this kind, trained for five days on eight graphics cards.
# - A. Karpathy, "The Unreasonable Effectiveness of Recurrent Neural Networks", 2015: an essay with many samples, which made
#   this experiment famous; and with it *min-char-rnn.py*, this unit in 112 lines of NumPy. Read it now: you know every line.
# - Stanford's course CS231n, *Deep Learning for Computer Vision*, its notes on recurrent networks and on how to train and to
#   choose settings: sections 3 and 6 from another hand.
# - L. Prechelt, "Early Stopping – But When?", in *Neural Networks: Tricks of the Trade*, 1998: what patience costs and brings.
# - T. Mikolov and others, "Recurrent Neural Network Based Language Model", *Interspeech* 2010: networks and n-grams mixed,
#   as in section 10.
# - A. Holtzman and others, "The Curious Case of Neural Text Degeneration", *ICLR* 2020: the nucleus.
# - S. F. Chen, J. Goodman, "An Empirical Study of Smoothing Techniques for Language Modeling", *Computer Speech & Language*
#   13, 1999: the opponents.

# %% tags=["experiment"]
progress("06_language_model")

# %% [markdown]
# ## Something to show to somebody
#
# A page of Python that nobody wrote. Every character of it was drawn by your code, from a network that your code has
# trained. Change the prompt and the temperature. For a text of your own put `load_text("my_diary.txt")`, from
# `rnncourse.data`, through section 10.

# %% tags=["experiment", "nbval-ignore-output"]
page = "class Network:\n    def " + written(source, heat=0.65, length=1600, prompt="class Network:\n    def ")
print(page)
assert page.count("\n") > 10, "Lines were expected; " + answer_above

# %% [markdown]
# ## The question that this unit leaves open
#
# You have built all of it by hand: the gradients, the optimiser, the batches. Each new idea, another cell, a second layer, a
# different loss, would cost you another backward pass to derive and to debug. There are libraries that derive it for you.
# **What does the same network look like in PyTorch**, what does PyTorch do for you, and which mistakes does it *not* save
# you from? That is unit 07.
