# %% [markdown]
# # 06 · A character language model
#
# **When you are done you will be able to**
#
# - turn any text into numbers, and cut it into rows that a network reads without losing its place;
# - train a recurrent network on it, in NumPy, with a loop of your own, and decide when to stop and at which rate to learn;
# - let it write, hot or cold, without five mistakes that are hard to see;
# - measure it in bits per character, beside a table of counts that is tuned.
#
# **Time**: about four hours, in two sittings; sections 1 to 6 are the first. **You need** the cell (unit 03), its gradient
# (unit 04), clipping and truncation (unit 05), and `sample_index` of unit 01. There are twelve exercises and one written
# question, 43 points in all.  No exercise may call `torch`, and float32 stays
# float32 in all of them.

# %% locked="setup"
import os

# For matrices as small as ours a second thread costs more than it gives.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from rnncourse import check, hint, progress, use
from rnncourse.bptt import nll_backward, output_backward, rnn_backward, sequence_nll
from rnncourse.cell import output_layer, rnn_forward, rnn_step, softmax
from rnncourse.gradient_flow import clip_by_global_norm, orthogonal
from rnncourse.ngram import sample_index

np.set_printoptions(precision=3, suppress=True)

# %% tags=["experiment"]
progress("06_language_model")

# %% [markdown]
# ## The question that unit 05 left open
#
# You have all the parts: a cell that carries a state, a gradient that runs back through time, clipping and truncation. So
# **what can such a network learn from real text, and how good is it?** In this unit yours finishes the three sentences that
# no n-gram of unit 01 could finish, reads Python's own source code, stands beside a good table of counts, and writes pages
# that nobody has written before.

# %% [markdown]
# ## 1 · Characters are numbers
#
# Our model reads one *character* at a time. It has to find out by itself what a word is.
#
# Each character gets a number, its **id**: its place in the sorted list of all characters of the text. It is sorted because the
# ids must be the same tomorrow. A Python `set` may change its order from one run to the next, and then a saved model reads
# nonsense.
#
# *By hand*: "hello" has the characters e, h, l, o, with the ids 0, 1, 2, 3. So the word is $1, 0, 2, 2, 3$.

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
# From a text of $L\geq1$ characters to an array `(L,)` of their ids, whole numbers. `index` is a dict like the one that
# you have just made. A character that is not in it is a **KeyError**.
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
# Now you can see why the input matrix $U$ has one row for each character. The network reads **one-hot** vectors: zeros, and a 1
# at the id. Such a vector times $U$ is row `id` of $U$:

# %% tags=["experiment"]
vocabulary_of, to_ids, to_text = use(build_vocabulary), use(encode), use(decode)
line = "for i in range(10):"
chars, index = vocabulary_of(line)
ids = np.asarray(to_ids(line, index))
U = np.random.default_rng(0).normal(size=(len(chars), 3))
print("ids:", *ids)
print("there and back:", to_text(ids, chars))
print("one-hot times U is U[ids]:", np.allclose(np.eye(len(chars))[ids] @ U, U[ids]))

# %% [markdown]
# ## 2 · A long text in rows
#
# A text of 300,000 characters is far too long to go back through at once. So we truncate (unit 05): read a few steps, go back
# through these, update; carry the state on, but not the gradient.
#
# One row at a time would be slow. So we cut the text into $N$ long pieces of $L'$ characters and read
# them side by side, as the rows of a batch. The state $h$ is $(N, H)$: row $n$ belongs to piece $n$, and must find, in the next
# batch, the place where *its* piece was left.
#
# $$L' = \left\lfloor \frac{L - 1}{N} \right\rfloor \qquad \text{row } n \text{ reads } \text{ids}[nL'], \dots, \text{ids}[(n+1)L' - 1]$$
#
# The **target** of each input is the id that follows it in the text. The last input of a row has its target in the first id of
# the next row. The last row has no next one and needs one id more: the 1 in $L - 1$.
#
# *By hand*: 10 ids, which are $0, 1, \dots, 9$; $N = 2$ rows, 2 steps a batch. Then $L' = \lfloor 9 / 2 \rfloor = 4$, and
#
# | | batch 1, inputs | targets | batch 2, inputs | targets |
# |---|---|---|---|---|
# | row 0 | 0 1 | 1 2 | 2 3 | 3 4 |
# | row 1 | 4 5 | 5 6 | 6 7 | 7 8 |
#
# Read a row from left to right: it is text, without a gap. The id 9 fits into no row. (With 11 ids a row has five
# inputs; the last fills no batch, and is dropped, too.)
#
# <details><summary>What is the very first state, and does it matter?</summary>
#
# Zeros will do. Where every first name is a sequence of its own, networks need {{start_state/zeros/bits}} bits per letter
# from zeros, {{start_state/random/bits}} from random states, and {{start_state/learned/bits}} if the state is one more
# parameter: a learned one cannot be told from zeros.
#
# </details>

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
# If the rows are shuffled between batches, the loss still falls, and the state that is carried over is noise. Look at three
# rows of real text and read across the bar:

# %% tags=["experiment"]
from rnncourse.data import train_and_held_out

batches_of = use(contiguous_batches)
sample = train_and_held_out("python-docs", characters=40_000)[0]
chars, index = vocabulary_of(sample)
sample_ids = np.asarray(to_ids(sample, index))
(first, _), (second, _), *_ = batches_of(sample_ids[:3000], 3, 24)
for n in range(3):
    both = (to_text(np.asarray(batch)[:, n], chars) for batch in (first, second))
    print(f"row {n}: ", " | ".join(both).replace("\n", "↵"))

# %% [markdown]
# ## 3 · Learning
#
# One update has five parts, and you know each of them:
#
# 1. **forwards**: one-hot inputs, all states from $h$ on, logits;
# 2. **loss**: `sequence_nll`, summed over the steps, divided by the rows;
# 3. **backwards**: from the logits to the gradients of $U, W, b, V, c$; what reaches $h$ is dropped, which is truncation;
# 4. **clip**: one norm for all five;
# 5. **step**: Adagrad.
#
# Adagrad keeps, for every single parameter, the sum of its squared gradients so far, its *memory* $m$:
#
# $$m \leftarrow m + g^2 \qquad p \leftarrow p - \frac{\eta\, g}{\sqrt{m + 10^{-8}}}$$
#
# A rare character has a row of $U$ that rarely gets a gradient. Its memory stays small, so its steps stay large.
#
# *By hand*: $p = 1$, $m = 0$, $g = 3$, $\eta = 0.1$. Then $m = 9$ and $p = 1 - 0.1 \cdot 3 / 3 = 0.9$. The next time
# $g = 4$: $m = 25$, $p = 0.9 - 0.1 \cdot 4 / 5 = 0.82$.

# %% [markdown]
# ### Exercise 6.5 · `train_step`
# *●●● · 35 minutes · 6 points*
#
# `parameters` and `memory` are dicts of arrays with the names `"U", "W", "b", "V", "c"`: $U (Q, H)$, $W (H, H)$, $b (H,)$,
# $V (H, Q)$, $c (Q,)$ for $Q$ characters. `h` is `(N, H)`, the state before the first step; `inputs` and `targets` are ids,
# `(T, N)`. Return `(loss, h)`: the loss **before** the update, and the state after the last step, a new array.
#
# `parameters` and `memory` are **written to**: the arrays themselves change (`p -= …`, not `p = p - …`). All else stays as
# it was. Clip all five gradients together to `max_norm`; the memory sees the clipped ones.
#
# Make the one-hot inputs in the dtype of $U$: `np.eye(len(U), dtype=U.dtype)[inputs]` is `(T, N, Q)`.
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
# This is the whole loop around it. (The memory starts at 0.1. With 0 the very first step would move each parameter that has a
# gradient by the full rate, however small it is.)
#
# **Guess**: a network that knows nothing of $Q$ characters has a loss of $\log Q$. How far down will one reading of 40,000
# characters take it: to nine tenths, two thirds, a third?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.language_model import start_parameters

step, hidden = use(train_step), 32
parameters = start_parameters(len(chars), hidden, seed=0)  # W orthogonal, as in unit 05
memory = {name: np.full_like(p, 0.1) for name, p in parameters.items()}
h, losses = np.zeros((16, hidden), dtype=np.float32), []
for inputs, targets in batches_of(sample_ids, 16, 32):
    loss, h = step(parameters, memory, h, inputs, targets, 0.1, 5.0)
    losses.append(loss / 32)
print(f"{len(losses)} updates; knowing nothing is {np.log(len(chars)):.2f} nats")
print(f"the first loss {losses[0]:.2f}, the last ten {np.mean(losses[-10:]):.2f}")

# %% [markdown]
# Two thirds. From here on `train` of `rnncourse.experiments.language_model` runs this loop, with your functions in it. All that
# this unit trains and measures stands in that file.

# %% [markdown]
# ## 4 · The score
#
# Look, at each character, how probable the model had called what really came. If that was $p$, then $-\log_2 p$ is what it
# costs, in **bits**, to write this character down with the best code for this model. The mean is the score, in bits per
# character:
#
# $$\text{bits} = \frac{1}{L-1} \sum_{t=1}^{L-1} -\log_2 P(\text{id}_{t+1} \mid \text{id}_1, \dots, \text{id}_t)$$
#
# It is the loss of unit 04, per character and in bits in place of nats: $\log_2 x = \log x / \log 2$. And 2 to the power of
# it is the perplexity of unit 01. A model that knows nothing about 128 characters scores 7. Shannon found between 0.6 and 1.3
# for people who guess English letter by letter.
#
# *By hand*: three characters, so two predictions. If they had probabilities $\tfrac12$ and $\tfrac18$, the bits are
# $(1 + 3) / 2 = 2$. The first character is predicted by nobody and does not count.

# %% [markdown]
# ### Exercise 6.6 · `bits_per_character`
# *●●○ · 15 minutes · 3 points*
#
# `parameters` is as before, `ids` is an array `(L,)` with $L \geq 2$. Run the network over the text once, in one row, from a
# state of zeros, and return the mean cost of the $L - 1$ predictions in bits, one number. Use `sequence_nll`: it stays finite
# where the logarithm of a probability that was rounded to 0 does not.


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
# First, texts whose best possible score is *known*. A **grammar** draws sentences token by token from probabilities that we
# wrote down. So the **entropy** of its texts can be computed, and no model can score below it on average.
#
# ### Experiment · Reber's grammar
#
# Arthur Reber used this grammar in 1967 to find out what people learn without knowing it. Its sentences, such as B T S S X S E,
# are of every length, and T or X mean different things in different places. The network reads 3,000 of them as one long stream.
#
# **Guess** how close to the lowest possible perplexity 32 units will come on a stream that they have not read: within 50%,
# 20%, 5%?

# %% tags=["experiment", "nbval-ignore-output"] dials="hidden = 2; hidden = 8"
from rnncourse.experiments import beside
from rnncourse.experiments.language_model import above_the_lowest, reber_network

mine = {"batches": use(contiguous_batches), "step": use(train_step)}
score = use(bits_per_character)
hidden = 32
reber = reber_network(hidden, **mine)
above = above_the_lowest(reber, score)
print("above the lowest possible, as a part of it:")
print(beside("06_language_model:grammar/32 units/above the lowest", above, ".3f"))

# %% tags=["author"]
assert above < 0.05, "Within 5% of the lowest perplexity was expected."

# %% [markdown]
# **Claim: on Reber's grammar the network's perplexity comes within 5% of the lowest possible.** ({{held reber}} seeds.)
# Nobody told the network that there are sentences, or states.
#
# *Try* `hidden = 2`. With our seeds two units are {{grammar/2 units/above the lowest|median .0%}} above the lowest.

# %% [markdown]
# ### Experiment · the three students
#
# > I am studying **medicine** (or **law**, or **history**) at UBC because I want to work as a **…**
#
# In unit 01 a 5-gram saw "to work as a" and was left with one chance in three. The three sentences are the rows of one batch,
# each from a state of zeros. Of the 13 predictions in a sentence one is a choice out of three, so the lowest possible
# perplexity is $3^{1/13} = 1.09$.
#
# **Guess** what the curve will look like: straight down, or with a stop where a 5-gram stands?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.language_model import students
from rnncourse.plots import show
from rnncourse.plots.language_model import plateau

right, perplexities = students(step=use(train_step))
for subject, y in right.items():
    print(f"{subject:>9} … the right profession with {y:.3f}, by a 5-gram 0.333")
show(plateau(perplexities, guessed=3 ** (2 / 13), lowest=3 ** (1 / 13)))

# %% tags=["author"]
assert min(right.values()) > 0.9, "More than 90% were expected for each profession."

# %% [markdown]
# **Claim: the trained network names the right profession in all three, with a probability above 90% where the 5-gram is at
# one third.** ({{held students}} seeds.)
#
# At first the network learns what a 5-gram would, and there it stands for hundreds of updates: the error of the last word has
# to go nine steps back, and little of it arrives at first (unit 05). The spikes are the last word's alone: the
# network begins to know the subject, an update goes too far, and it is sure of a wrong profession.

# %% [markdown]
# ## 6 · Three texts: to learn from, to choose by, to be judged on
#
# Would more updates be better? The training loss cannot tell: it falls in any case. But if we look at the held-out text again
# and again, and keep what does best there, then its score is no longer that of an unseen text. So there are three:
#
# - **training**: for the gradients;
# - **validation**: for every choice, such as the rate, the start, the size, when to stop;
# - **test** (held out): for the score that you report, once, at the end.
#
# They should share no file and no topic.
#
# **Early stopping** is the first choice. After each **epoch**, once through the training text, take the loss on the
# validation text. Go on while it finds new lowest values; have some **patience** where it does not; in the end keep the
# parameters of the best epoch.
#
# *By hand*, with patience 2:
#
# | epoch | 0 | 1 | 2 | 3 |
# |---|---|---|---|---|
# | validation loss | 3.0 | 2.0 | 2.5 | 2.0 |
# | new lowest? | yes | yes | no | no: it is not *below* 2.0 |
# | epochs in a row without | 0 | 0 | 1 | 2: stop |
#
# The best epoch is 1.

# %% [markdown]
# ### Exercise 6.7 · `fit`
# *●●○ · 15 minutes · 3 points*
#
# `train_epoch` and `validate` are functions, each of the number of the epoch, which begins at 0. In each
# epoch call `train_epoch(epoch)`, whose answer does not matter, and then `validate(epoch)`, which gives a loss. Stop when
# `patience` epochs in a row have brought no new lowest loss, and after `max_epochs` in any case; both are at least 1. A loss
# that is nan, as after an explosion, is no new lowest, in the first epoch neither.
#
# Return the pair `(losses, best_epoch)`: the list of all validation losses, and the number of the epoch that had the lowest:
# the first of them if there are several, 0 if all were nan.
#
#     with the losses 3.0, 2.0, 2.5, 2.0, 1.0, max_epochs=5 and patience=2
#     fit(train_epoch, validate, 5, 2)  gives  ([3.0, 2.0, 2.5, 2.0], 1)
#     with the losses nan, nan, 1.0 it gives  ([nan, nan], 0)
#
# (The check's `calls` is the list of calls that you make.)


# %% answer="fit"
def fit(train_epoch, validate, max_epochs, patience):
    """Train with early stopping: two functions of the epoch, two whole numbers -> list of losses, best epoch."""
    ### BEGIN SOLUTION
    losses, lowest, best_epoch, waited = [], np.inf, 0, 0
    for epoch in range(max_epochs):
        train_epoch(epoch)
        losses.append(validate(epoch))
        if losses[-1] < lowest:
            lowest, best_epoch, waited = losses[-1], epoch, 0
        else:
            waited += 1
        if waited == patience:
            break
    return losses, best_epoch
    ### END SOLUTION


# %% check="fit"
check(fit)

# %% [markdown]
# ### Experiment · learned by heart
#
# A network of 64 units reads 20,000 characters of source code. **Guess** two numbers: after how many of 1,200 updates is it
# best on the validation text, and how many bits per character has it lost at the end?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.language_model import learned_from
from rnncourse.plots.language_model import learned_by_heart

settings = {"updates": 1200, "hidden": 64, "watch": True, "score": score}
few = learned_from("python-source", characters=20_000, **settings, **mine)
show(learned_by_heart(few.watched, few.losses, 20_000))
tried, best = use(fit)(lambda epoch: None, lambda epoch: few.watched[epoch], 6, 2)
print(f"with patience 2, fit stops after {200 * len(tried)} updates,")
print(f"and keeps those after {200 * (best + 1)}: {few.watched[best]:.2f} bits")

# %% [markdown]
# **Claim: on 20,000 characters the validation score is best within the first 600 of 1,200 updates, and worse at the end; on
# 300,000 it is best after 800 or later.** ({{held by_heart}} seeds.)
#
# The network learns the text by heart, and what it knows of *this* text is wrong of others: {{heart/20,000 characters/best|median .2f}} bits at best become {{heart/20,000 characters/at the end|median .2f}}. The remedy is a longer
# text: with 300,000 characters it is {{heart/300,000 characters/at the end|median .2f}} at the end.

# %% [markdown]
# ### Experiment · the rate, and where to start
#
# What counts for most are the **scale of the start** (unit 05) and the **learning rate**: look for them in steps of ten, with
# short runs, and then of three.
#
# Our text for this is 4,163 first names of a census, with 500 more to choose by and 500 to be judged on.
# **Guess**: of the rates 0.01, 0.1 and 1, which does best after 300 updates? And how far apart are three seeds?

# %% tags=["experiment", "nbval-ignore-output"] dials="scale = 10.0; scale = 0.1; hidden = 72"
from rnncourse.experiments.language_model import short_run
from rnncourse.plots.language_model import rates_and_seeds

scale = 1.0
hidden = 64
settings = {"scale": scale, "hidden": hidden, "score": score, **mine}
ends = {}
for rate in (0.01, 0.1, 1.0):
    ends[rate] = [short_run(rate, seed=seed, **settings) for seed in range(3)]
show(rates_and_seeds(ends))
print("three seeds at 0.1:", *(f"{bits:.2f}" for bits in ends[0.1]))
place = "06_language_model:choices/as shown/bits"
print("the first of them:", beside(place, ends[0.1][0]))

# %% [markdown]
# **Claim: ten times too small or too large a rate, or a start ten times too large, costs 0.3 bits or more; eight units more
# change the score by less than 0.1.** ({{held rate_and_start}} seeds.)
#
# *Try* `scale = 10.0`: the tanhs are saturated, and their slope, on which each error depends, is next to nothing. Then
# `hidden = 72`.
#
# **What is one seed worth?** Over twenty seeds 64 units need {{choices/as shown/bits}} bits and 72 units {{choices/72 units/bits}}: the median, and in brackets the range. Take the same seeds for both: a difference counts if it has the same
# sign in nearly all.

# %% [markdown]
# ### From a blank cell
#
# The training loop of section 3 has no validation text, and does not stop. Now write a better one, from nothing.

# %% [markdown]
# ### Exercise 6.8 · `train_model`
# *●●● · 35 minutes · 6 points*
#
# Train a network on the ids `train_ids (L,)`, stop by `valid_ids (M,)`, and return the pair `(parameters, losses)`: the dict
# of `"U", "W", "b", "V", "c"` as it was after the best epoch, and the bits per character on `valid_ids` after each epoch. `Q`
# is the number of characters; the start is drawn from `rng`, a `np.random.Generator`; `max_epochs` and `patience` are those
# of `fit`.
#
# **How** you do it is yours to decide: units, start, rows, steps, rate. You may use what you have written:
# `contiguous_batches`, `train_step`, `bits_per_character`, `fit`. They are your own here, so see first that they pass. (For a
# start of unit 05, `orthogonal(rng, n)` gives an `(n, n)` matrix.) The check looks at what comes out:
#
# - on 2,000 tokens of Reber's grammar, in at most 16 epochs, the network scores less than a fifth above the lowest possible
#   on a third text. (24 units, 8 rows of 16 steps, rate 0.1 and a memory that starts at 0.1 do that, in a tenth of the four seconds that the check waits.)
# - the parameters are those after the best epoch, and the losses stop where `patience` says;
# - the same rng gives the same network, another one another; and `valid_ids` gives no gradient.


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
# What most home-made loops lack: a copy of the *best* parameters, since the arrays go on changing; and
# a validation text that never meets a gradient.

# %% [markdown]
# ## 7 · Hot and cold
#
# To let a model write, draw from its probabilities. To make it more careful, or bolder, divide the logits by a
# **temperature** $\tau > 0$ before the softmax:
#
# $$y_i = \frac{e^{o_i / \tau}}{\sum_j e^{o_j / \tau}}$$
#
# The ratio of two probabilities is $e^{(o_i - o_j)/\tau}$: that of the model, raised to the power $1/\tau$. Towards 0 the
# likeliest takes all; at large $\tau$ all become alike.
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

# %% [markdown]
# **Guess** what $\tau = 0.1$ makes of the probabilities 0.5, 0.3, 0.15 and 0.05, and what $\tau = 2$.

# %% tags=["experiment"]
from rnncourse.plots import Slider, explore
from rnncourse.plots.language_model import opinions

tempered, logits = use(temperature_softmax), np.log([0.5, 0.3, 0.15, 0.05])


def at(*heats):
    lines = {f"τ = {heat:g}": np.asarray(tempered(logits, heat)) for heat in heats}
    return opinions(lines, "One opinion at several temperatures", ylim=(0, 1.03))


slider = Slider("τ", 0.1, 3.1, 0.3, step=0.2)
explore(lambda heat: at(heat, 1.0), at(0.5, 1.0, 2.0), heat=slider)

# %% [markdown]
# ### Cutting off the tail
#
# A hundred wrong characters, each with a probability of a tenth of a percent, are a tenth of all draws, and each is a typo.
# Two filters cut this tail off, and leave the proportions of the rest alone:
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
# still one; ties to the lower id; 0 elsewhere; divide by the new sum. $p = 1$ keeps all, by rule. (0.1 added up ten times is not 1 in
# floating point: a search for the place where the sum reaches 1 may find none.)
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
# To write, the network reads what it has written. First it reads a **prompt** and draws nothing: that warms the state up.
# Then, again and again: draw a character, write it down, read it.
#
# | | reads | state after it | draws |
# |---|---|---|---|
# | prompt | d | $h_1$ | |
# | | e | $h_2$ | |
# | | f | $h_3$ | with $u_0$ from $V, c$ at $h_3$: say, a space |
# | new | the space | $h_4$ | with $u_1$ from $h_4$: say, _ |
# | | _ | $h_5$ | … |
#
# Find the place of each of these mistakes in the table:
#
# - the prompt's last character is read twice, once in the warm-up and once as the first input of the loop;
# - the state starts at zero again after the prompt, or at every character;
# - the character that was drawn is not read: the network answers the same question again and again;
# - the most probable character is read in place of the drawn one;
# - the first character drawn is read but not written down.
#
# All of them give *text*. You can only find them by knowing what should come out. So the random numbers are given here.

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
# ### Experiment · what it says, is it right?
#
# Of a sentence of Reber's grammar anybody can say whether it is one. **Guess** which part of the sentences that your network of
# section 5 writes are sentences of the grammar.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.language_model import possible, sentences_written

sentences = sentences_written(reber, write=use(generate))
print(*("".join(sentence) for sentence in sentences[:8]))
print(beside("06_language_model:grammar/32 units/possible", possible(sentences), ".0%"))

# %% tags=["author"]
assert possible(sentences) > 0.9, "Nine sentences of ten were expected to be possible."

# %% [markdown]
# **Claim: more than 90% of the sentences that the network of Reber's grammar writes are sentences of this grammar.**
# ({{held reber_written}} seeds. With two units it is {{grammar/2 units/possible|median .0%}}.)

# %% [markdown]
# ## 9 · Something to play with
#
# A network reads the first names, one to a line, and after each epoch it writes a few of its own: a line break is its prompt,
# and each line break that it draws ends a name. **Guess** after how many epochs one
# could take them for names.

# %% tags=["experiment", "nbval-ignore-output"] dials="heat = 0.1; heat = 1.5"
from rnncourse.experiments.language_model import name_maker, names_written

heat = 0.8
written_by = {"heat": heat, "write": use(generate)}


def tell(epoch, bits, p):
    print(f"epoch {epoch:2}  {bits:.2f} bits ", *names_written(p, **written_by)[:8])


name_model = name_maker(told=tell, score=score, fit=use(fit), **mine)

# %% [markdown]
# *Try* a `heat` of 0.1 and of 1.5.
#
# Are the names *its own*? And does it know what a name is? Among the 1,000 names that it has never read, some are so like the
# others that a good model should hit upon them. As a control a bigram table of the same names writes, too. (Only names of five
# letters or more count.) **Guess** which part of its names stand on no list, and who hits upon more real ones.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.language_model import names_by_table, whose

made = {
    "network": whose(names_written(name_model, 10_000, 1.0, write=use(generate))),
    "bigrams": whose(names_by_table(10_000)),
}
for writer, shares in made.items():
    print(f"{writer:8}", ", ".join(f"{kind}: {s:.1%}" for kind, s in shares.items()))

# %% [markdown]
# **Claim: more than half of the names of five letters or more that the network writes stand on no list; and it hits upon real
# ones that it has not read more often than a table of bigrams does.** ({{held own_names}} seeds:
# {{play/network/unread|median .1%}} of what it writes, against {{play/bigrams/unread|median .1%}}.)

# %% [markdown]
# ## 10 · Real text, and an honest comparison
#
# Now 300,000 characters of Python's own source, and as many of its documentation, with 20,000 more to be judged on and 5,000
# to choose by, of other files. A network with 96 units gets 2,500 updates, here on the source code. *Try* the
# documentation, too; our runs read both.

# %% tags=["experiment", "nbval-ignore-output"] dials="texts = [\"python-source\", \"python-docs\"]"
from rnncourse.plots.language_model import training_curves

texts = ["python-source"]  # and "python-docs"
corpora = {}
for name in texts:
    corpora[name] = learned_from(name, **mine)
show(training_curves({name: text.losses for name, text in corpora.items()}))

# %% [markdown]
# ### The opponent
#
# The n-grams of unit 01 add $\alpha$ to every count, and for a context that was never seen they know nothing. That is a weak
# opponent. **Kneser–Ney** takes a discount $D$ from each count, and gives what it has taken to the model with one character
# less. With $K(s)$ for the number of *different* characters that followed the context $s$, and $s'$ for $s$ without its first
# character:
#
# $$P_n(w \mid s) = \frac{\max(\text{count}(s, w) - D_n,\ 0)}{\text{count}(s)} + \frac{D_n\, K(s)}{\text{count}(s)}\; P_{n-1}(w \mid s')$$
#
# *By hand*: "q" was seen 10 times, 9 times followed by u and once by a space, so $K = 2$. With $D = 0.75$ it is
# $P_2(u \mid q) = 8.25 / 10 + 0.15\, P_1(u)$.
#
# Where $s$ was never seen, $P_n(w \mid s)$ is $P_{n-1}(w \mid s')$, and at the end of all stands $1/Q$.
#
# In the shorter contexts it counts not how often $w$ came, but after how many *different* characters. The u owes much of its
# count to q, and that should not speak for it elsewhere.
#
# All read the same training text. The discounts, and $\alpha$, are chosen on the validation text; the code is
# `rnncourse.experiments.opponents`. **Guess**: among the 1- to 6-grams of either kind, where does the network stand?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.language_model import counted, log2_of_network
from rnncourse.plots.language_model import against_counting

for name, text in corpora.items():
    tables, bits = counted(name), -log2_of_network(text, text.test).mean()
    show(against_counting(name, tables.additive, tables.kneser_ney, bits))
    print("network: ", beside(f"06_language_model:real_text/{name}/network", bits))
    size = sum(p.size for p in text.parameters.values())
    print(f"it has {size:,} numbers; different 6-grams in its text: {tables.entries:,}")

# %% tags=["author"]
for name, text in corpora.items():
    tables, bits = counted(name), -log2_of_network(text, text.test).mean()
    assert tables.kneser_ney[-1] + 0.3 < bits < tables.kneser_ney[2], "The table was expected to win."

# %% [markdown]
# On both texts counting wins, and clearly.
#
# **Claim: on both texts the network beats Kneser–Ney's 3-gram, and loses to Kneser–Ney's 6-gram by more than 0.3 bits.**
# ({{held against_tables}} seeds.) On source code the network needs {{real_text/python-source/network}} bits per character,
# the table {{real_text/python-source/Kneser-Ney|median .2f}}; on the documentation {{real_text/python-docs/network}} and
# {{real_text/python-docs/Kneser-Ney|median .2f}}.
#
# With $\alpha$ alone longer contexts do harm, and on source code the network is as good as the
# best of them: by that table alone it is a draw.

# %% [markdown]
# ### Experiment · does the network know anything that the table does not?
#
# After eight spaces a 6-gram cannot tell how many there were; a state can count them. So look at two kinds
# of characters: the spaces that begin a line, and all else.
#
# **Guess** for each who is better. And if the two are mixed, with a share that the validation text chooses, how many bits
# does the network save the table?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.language_model import by_place, mixture

for name, text in corpora.items():
    print(name)
    for where, of in by_place(text).items():
        print(f"   {where:25} {of['share']:4.0%} of the text:", end="  ")
        print(f"network {of['network']:.2f}, table {of['table']:.2f}")
    share, bits = mixture(text)
    table = counted(name).kneser_ney[-1]
    print(f"   both, {share:.0%} network: {bits:.2f}; the table alone {table:.2f}\n")

# %% [markdown]
# **Claim: in the spaces that begin a line of source code the network needs fewer bits than the table.** ({{held indentation}}
# seeds: {{real_text/python-source/indent, network|median .2f}} bits against {{real_text/python-source/indent, table|median .2f}}.)
# Elsewhere the table is far ahead.
#
# **Claim: mixed in with a share that validation chooses, the network takes less than a tenth of a bit off the score of the
# table.** ({{held both_together}} seeds.)
#
# ### What, then, is the network for?
#
# It lost to a table of counts, at this budget and on texts of this size. But:
#
# 1. **It remembers.** No n-gram that sees fewer than eleven words can finish the three students' sentences. Yours does.
# 2. **It is small**: 28,000 numbers, however far it looks back. The table of the source code has 75,000 entries for its longest
#    contexts alone.
# 3. **It is a part.** Another network can read its state. A table of counts cannot be trained together with a translator.
#
# In the literature recurrent networks do win, with far more text, more units and longer training, and mostly with the gated
# cells of unit 10.

# %% [markdown]
# ## 11 · What it writes
#
# **Guess** at which temperature you would let it write: 0.5, 0.8 or 1.2? And if the tail is cut off at temperature 1, with a
# nucleus of 0.9, will more of its words be real ones?

# %% tags=["experiment", "nbval-ignore-output"] dials="heat = 0.1; heat = 0.5; heat = 1.2; heat = 1.5"
from rnncourse.experiments.language_model import pages, real_words, written

heat = 0.8
source, writer = corpora["python-source"], use(generate)
prompt = "    def __init__(self"
print(prompt + written(source, heat, 500, prompt, write=writer))

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.language_model import written_filtered

keep = use(nucleus_filter)
filters = {"no filter": lambda p: p, "nucleus 0.9": lambda p: keep(p, 0.9)}
print("real words among the longer ones")
for heat in (0.5, 0.8, 1.2):
    written_pages = pages(source, heat, prompt, write=writer)
    print(f"   τ = {heat:<14} {real_words(source, written_pages):4.0%}")
for name, filtered in filters.items():
    share = real_words(source, written_filtered(source, filtered))
    print(f"   τ = 1, {name:<11} {share:4.0%}")

# %% [markdown]
# **Claim: at a temperature of 0.5 more of the longer words that the network writes are words of the library than at 1.2.**
# ({{held cold_and_hot}} seeds: {{real_text/python-source/cold|median .0%}} and {{real_text/python-source/hot|median .0%}}.)
#
# **Claim: at temperature 1, more of the longer words that the network of the source code writes are real ones with a
# nucleus of 0.9 than without a filter.** ({{held tail_cut_off}} seeds: {{real_text/python-source/nucleus|median .0%}} and
# {{real_text/python-source/unfiltered|median .0%}}.)
#
# *Try* a `heat` between 0.1 and 1.5 in the first of the two cells. Where does it begin to repeat itself, and where to stammer?

# %% [markdown]
# ## 12 · Bugs to hunt
#
# **Guess** which check of this unit finds it.
#
# - **Report A.** "After loading the saved weights the next morning it writes gibberish." `chars = list(set(text))`.
# - **Report B.** "After one character it is as if the prompt had never been." `h = np.zeros(...)` stands inside the loop that draws.
# - **Report C.** "With temperature 0.5 it gets *wilder*." `softmax(logits * temperature)`.
# - **Report D.** "The loss is the same whether I carry the state or not." The rows of a batch are neighbours in the text.
# - **Report E.** "My network beats n-grams." Its n-grams add 1 to every count.
#
# <details><summary>What finds them</summary>
#
# A: `build_vocabulary` on two runs. B: `generate` with given uniforms, against a slow program. C: the by-hand example with $(0.1, 0.9)$. D: decode row 0 of two batches one after the other. E: tune the opponent on
# the same validation text.
#
# </details>
#
# ## 13 · Summary
#
# - A long text is read in **contiguous rows**: the state is carried from batch to batch, its gradient is not.
# - **Bits per character**: the mean of $-\log_2 P$ over the $L - 1$ predictions, on text that was held out.
# - A **validation** text is for choices, the opponent's too. The held-out text is for the score, once. One seed is an anecdote.
# - **Temperature** divides the logits; **top-k** and **nucleus** cut off the tail. The prompt's last character is read once.
# - Where the optimum is known, the network comes within 5% of it. On real text, at this budget, it beats a 3-gram, and
#   Kneser–Ney's 6-gram beats it clearly.

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
# batches.) (b) An n-gram of five or six characters that falls back on shorter contexts, such as Kneser-Ney, with its
# discounts chosen on validation text: in our experiment it needed 1.75 bits on the documentation where the 3-gram needed 2.7, about
# what the company's network needs, and it costs seconds. (c) A strong
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
# - C. E. Shannon, "Prediction and Entropy of Printed English", *Bell System Technical Journal* 30, 1951.
#
# - A. Karpathy, "The Unreasonable Effectiveness of Recurrent Neural Networks", 2015, with *min-char-rnn.py*, this unit in 112 lines of NumPy.
# - Stanford's course CS231n, *Deep Learning for Computer Vision*: its notes on recurrent networks and on how to train.
#
# - T. Mikolov and others, "Recurrent Neural Network Based Language Model", *Interspeech* 2010: networks and n-grams mixed.
# - A. Holtzman and others, "The Curious Case of Neural Text Degeneration", *ICLR* 2020: the nucleus.
# - S. F. Chen, J. Goodman, "An Empirical Study of Smoothing Techniques for Language Modeling", *Computer Speech & Language* 13,
#   1999, and R. Kneser, H. Ney, *ICASSP* 1995: the opponents.

# %% tags=["experiment"]
progress("06_language_model")

# %% [markdown]
# ## Something to show to somebody
#
# A page of Python that nobody wrote, drawn by your code from a network that your code has trained. *Try*
# another prompt, and a temperature between 0.1 and 1.5.

# %% tags=["experiment", "nbval-ignore-output"] dials="heat = 0.1; heat = 1.5"
prompt = "class Network:\n    def "
heat = 0.65
print(prompt + written(source, heat, 1200, prompt, write=use(generate)))

# %% [markdown]
# ## The question that this unit leaves open
#
# Each new idea, another cell, a second layer, would cost you another backward pass to derive and to debug. There are
# libraries that derive it for you. **What does the same network look like in PyTorch**, and which mistakes does it *not* save
# you from? That is unit 07.
