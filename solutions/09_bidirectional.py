# %% [markdown]
# # 09 · Reading both ways
#
# **When you are done you will be able to**
#
# - compute how right a left-to-right network can be at best;
# - run two chains over a batch of sequences, one from each end, and take gradients back;
# - run a hidden Markov model, and say what a cell holds that it cannot;
# - build a tagger in PyTorch that reads both ways, judge it beside one that counts, and colour Python source with it;
# - say what it costs, and why no such network is a left-to-right language model.
#
# **Time**: about three and a half hours. **You need** the cell and its way back (units 03 and 04), and padding and packing
# (unit 07). There are 8 exercises and one written question, 27 points in all. Up to exercise 9.6 no answer may use torch,
# and float32 stays float32. What experiments train and measure stands in `rnncourse.experiments.bidirectional` and
# `bidirectional_torch`.

# %% locked="setup"
import numpy as np

from rnncourse import check, hint, progress, track, use
from rnncourse.bptt import numerical_gradient, rnn_backward
from rnncourse.cell import rnn_forward

np.set_printoptions(precision=3, suppress=True)

# %% tags=["experiment"]
progress("09_bidirectional")

# %% [markdown]
# ## The question that unit 08 left open
#
# However many layers a network has, its state of step $t$ has read $x_1, \dots, x_t$ and nothing else. Read this as it
# does, and say of each word at once whether it is part of a person's name:
#
# > He said , Teddy …
#
# It may go on with "… Roosevelt was a great president". Or with "… bears are on sale". Nobody knows who has read no further.
# **How much does a network gain that may look to the right, and what does it lose?**

# %% [markdown]
# ## 1 · A ceiling that no training breaks
#
# Here is a small world of sentences: five speakers, ten names, four endings. Six of the names are like Teddy: half of the
# time a person, half of the time a thing. A **tagger** gives each token a label, PERSON or none.

# %% tags=["experiment"]
from rnncourse.data import AMBIGUOUS_NAMES, tagging_ceiling, teddy_sentences

sentences = teddy_sentences()
for words, labels, _ in (sentences[0], sentences[32]):
    print(*(f"{word}/PERSON" if label else word for word, label in zip(words, labels)))
length = sum(s.probability * len(s.tokens) for s in sentences)
print(f"{len(sentences)} sentences of {length:.3f} tokens, on average")
print("ambiguous:", ", ".join(sorted(AMBIGUOUS_NAMES)))

# %% [markdown]
# A tagger reads from left to right and labels each token as it comes. It may be as large as you like. **Guess** which
# share of all tokens it gets right at best. (Where can it not know?) And if it could look *one* word ahead?

# %% tags=["experiment"] dials="person = 0.9"
person = 0.5  # how often an ambiguous name is a person
world = teddy_sentences(person)
ceiling = tagging_ceiling(world)
print(f"the best from left to right: {ceiling:.5f} of all tokens")
at_names = tagging_ceiling(world, only=AMBIGUOUS_NAMES)
print(f"and of the ambiguous names:  {at_names:.2f}")
print(f"the best one word ahead:     {tagging_ceiling(world, lookahead=1):.5f}")

# %% tags=["author"]
assert abs(tagging_ceiling(sentences) - (1 - 0.3 / 9.275)) < 1e-9, "The ceiling was computed by hand."
assert tagging_ceiling(sentences, lookahead=1) == 1, "With one word ahead there is no ceiling."

# %% [markdown]
# With probability 0.6 a sentence has an ambiguous name, and there the best of all taggers is wrong half of the time. So it
# loses $0.6\cdot0.5=0.3$ tokens a sentence, of 9.275:
#
# $$1-\frac{0.3}{9.275}=0.96765$$
#
# This is a **ceiling**: no training breaks it. One word of the future lifts it to 1. *Try* `person = 0.9`.

# %% [markdown]
# ## 2 · Two chains
#
# So read the sequence a second time, from its end. Two layers, each with parameters of its own, read the same inputs: the
# forward one, $f$, from the left, and the backward one, $g$, from the right.
#
# $$
# \begin{aligned}
# f_t &= \tanh(x_t U_f + f_{t-1} W_f + b_f) && t = 1, 2, \dots, T && f_0 = 0\\
# g_t &= \tanh(x_t U_b + g_{t+1} W_b + b_b) && t = T, T-1, \dots, 1 && g_{T+1} = 0\\
# h_t &= [f_t, g_t] &&&& \text{side by side}
# \end{aligned}
# $$

# %% tags=["experiment"]
from rnncourse.plots import show
from rnncourse.plots.bidirectional import two_chains

show(two_chains(4))

# %% [markdown]
# Follow the arrows into $h_2$: it hears from everything. No arrow leads from an $f$ to a $g$ or back: the chains do not know
# of each other.
#
# *By hand*, one unit each, $x = (0, 0.5, 1)$, no biases, $u = 1$ in both; $w_f = 2$ and $w_b = -1$. Read the last row
# from right to left:
#
# | | $t = 1$ | $t = 2$ | $t = 3$ |
# |---|---|---|---|
# | $x_t$ | 0 | 0.5 | 1 |
# | $f_t$ | $\tanh(0) = 0$ | $\tanh(0.5 + 2 \cdot 0) = 0.462$ | $\tanh(1 + 2 \cdot 0.462) = 0.958$ |
# | $g_t$ | $\tanh(0 - (-0.2558)) = 0.250$ | $\tanh(0.5 - 0.762) = -0.256$ | $\tanh(1) = 0.762$ |
#
# At step 1 the input is 0, but $g_1 = 0.250$: it knows that something is coming.

# %% [markdown]
# ## 3 · A layer that reads from the right
#
# You need no new layer for that. Turn the sequence round, run the layer that you have, and turn its states round again.
# Over the reversed sequence $(1, 0.5, 0)$ the layer gives $(0.762, -0.256, 0.250)$, in the order in which it has *read*.
# Only turned round again does each state stand at its own step. That is forgotten most often.
#
# In a batch there is a trap: turn the whole array round, and short sequences *begin* with their padding.
#
# | step | 0 | 1 | 2 | 3 | 4 |
# |---|---|---|---|---|---|
# | a sequence of 3, padded to 5 | a | b | c | · | · |
# | turned round as a block | · | · | c | b | a |
# | turned round within its length | c | b | a | · | · |
#
# In the second row the layer arrives at c with a state that is no longer zero: even if the padding is zero, $\tanh(0 \cdot
# U + g W + b)$ is not. The third row is right.

# %% [markdown]
# ### Exercise 9.1 · `reverse_sequence`
# *●●○ · 12 minutes · 3 points*
#
# Turn each sequence of a batch round **within its own length**. `X` is `(T, N, …)`: time, batch, and any number of
# further axes, or none. `lengths` is an array of N whole numbers from 1 to T; without it (`None`) all N sequences have
# T steps. The padding stays **where it is and what it is**. Return a new array of X's dtype; X is left as it was, and
# shares no memory with the answer.
#
# With two sequences, the columns of X:
#
#     X [[1, 5], [2, 6], [3, 7]]     lengths [3, 2]     gives [[3, 6], [2, 5], [1, 7]]


# %% answer="reverse_sequence"
def reverse_sequence(X, lengths=None):
    """Each sequence turned round within its length: X (T, N, ...), lengths (N,) or None -> an array like X."""
    ### BEGIN SOLUTION
    if lengths is None:
        return X[::-1].copy()
    reversed_X = X.copy()
    for n, length in enumerate(lengths):
        reversed_X[:length, n] = X[:length, n][::-1]
    return reversed_X
    ### END SOLUTION


# %% check="reverse_sequence"
check(reverse_sequence)

# %% [markdown]
# Applied twice it gives X back. So one function serves on the way in and on the way out.

# %% [markdown]
# ## 4 · Two states for one step
#
# At each step there are two states now, $f_t$ and $g_t$, both $(N, H)$. There are three usual ways to make one of them:
#
# | `how` | $h_t$ | shape | |
# |---|---|---|---|
# | `"concat"` | $[f_t, g_t]$ | $(N, 2H)$ | keeps both |
# | `"sum"` | $f_t + g_t$ | $(N, H)$ | both vote |
# | `"product"` | $f_t \odot g_t$ | $(N, H)$ | each can turn the other off |
#
# Side by side is what almost everybody uses. It loses nothing.
#
# *By hand*, with step 2 of the table: $f_2 = 0.462$ and $g_2 = -0.256$ give $(0.462, -0.256)$, or $0.206$, or $-0.118$.

# %% [markdown]
# ### Exercise 9.2 · `combine`
# *●○○ · 6 minutes · 2 points*
#
# Combine the states `H_f` and `H_b`, which have the same shape: `(T, N, H)`, or `(N, H)`. Both are aligned with time
# already. `how` is `"concat"` (the forward units first), `"sum"` or `"product"`; for **anything else raise a
# `ValueError`**.
#
#     H_f [[1, 2]]   H_b [[3, 4]]     concat [[1, 2, 3, 4]]     sum [[4, 6]]     product [[3, 8]]


# %% answer="combine"
def combine(H_f, H_b, how):
    """Both directions' states as one: H_f and H_b (T, N, H) or (N, H), how "concat", "sum" or "product" -> an array."""
    ### BEGIN SOLUTION
    if how == "concat":
        return np.concatenate([H_f, H_b], axis=-1)
    if how == "sum":
        return H_f + H_b
    if how == "product":
        return H_f * H_b
    raise ValueError(f'how should be "concat", "sum" or "product", not {how!r}')
    ### END SOLUTION


# %% check="combine"
check(combine)

# %% [markdown]
# A mistyped word now stops the program at once, and not after a night of training.

# %% [markdown]
# ## 5 · The layer

# %% [markdown]
# ### Exercise 9.3 · `bidirectional_forward`
# *●●○ · 14 minutes · 4 points*
#
# Run both directions over `X (T, N, D)` and combine their states. `forward` and `backward` are the tuples `(U, W, b)`
# of the two layers, with shapes `(D, H)`, `(H, H)`, `(H,)`; both start from zeros. `how` is as in `combine`. `lengths`
# is as in `reverse_sequence`: with it, what stands in the padding must not change the state of any real step, in either
# direction. What you return at padded steps does not matter.
#
# The answer is `(T, N, 2H)` for `"concat"`, else `(T, N, H)`, in X's dtype. You may call `rnn_forward(X, h0, U, W, b)`,
# which is imported, and your two functions; while this exercise is checked the course's stand in for them.
#
#     X [[[0]], [[0.5]], [[1]]]     forward ([[1]], [[2]], [0])     backward ([[1]], [[-1]], [0])
#     gives, rounded,  [[[0, 0.250]], [[0.462, -0.256]], [[0.958, 0.762]]]


# %% answer="bidirectional_forward"
def bidirectional_forward(X, forward, backward, how="concat", lengths=None):
    """Both directions: X (T, N, D), forward and backward (U, W, b), lengths (N,) or None -> (T, N, 2H) or (T, N, H)."""
    ### BEGIN SOLUTION
    zeros = np.zeros((X.shape[1], len(forward[1])), dtype=X.dtype)
    H_f = rnn_forward(X, zeros, *forward)
    H_b = rnn_forward(reverse_sequence(X, lengths), zeros, *backward)
    return combine(H_f, reverse_sequence(H_b, lengths), how)
    ### END SOLUTION


# %% check="bidirectional_forward"
check(bidirectional_forward)

# %% [markdown]
# ### Experiment · who has read what?
#
# The test of unit 02: raise each of seven inputs a little and see which outputs move. **Guess**: in a grid of outputs
# (rows) and inputs (columns), which cells are filled for a layer that reads one way, and for yours?

# %% tags=["experiment"]
from rnncourse.experiments.bidirectional import dependence
from rnncourse.plots import dependence_grid

both_ways = use(bidirectional_forward)
grids = dependence(both_ways)
show(dependence_grid(grids))

# %% tags=["author"]
assert np.array_equal(grids["one way"], np.tri(7, dtype=bool)), "One way should depend on the past alone."
assert grids["both ways"].all(), "Every output should depend on every input."

# %% [markdown]
# Reading both ways, every output depends on every input.
#
# ### Experiment · alone, and in company
#
# A sequence should get the same states whether it comes alone or in a batch with a longer one. That is the test for
# padding. Your layer gets a batch once with its lengths and once without, reversed as a block. **Guess** how far the
# states of the short sequence move: not at all, by a thousandth, by a tenth or more?

# %% tags=["experiment"]
from rnncourse.experiments.bidirectional import alone_and_together

apart = alone_and_together(both_ways)
for name, largest in apart.items():
    print(f"reversed {name}: the states differ by up to {largest:.3f}")

# %% tags=["author"]
assert apart["within the lengths"] < 1e-9 < 0.01 < apart["as a block"], "Only a block should change the states."

# %% [markdown]
# With the block reversed, what a sentence gets depends on what else is in the batch. No error is raised, and the loss falls.

# %% [markdown]
# ## 6 · The way back
#
# **What does `combine` hand back?** Side by side, each chain gets its half of $dh_t$. For a sum both get all of it. For a
# product the slope of each is the other one:
#
# $$
# \begin{array}{lll}
# \text{concat} & df_t = dh_t[\,\ldots, :H\,] & dg_t = dh_t[\,\ldots, H:\,]\\
# \text{sum} & df_t = dh_t & dg_t = dh_t\\
# \text{product} & df_t = dh_t \odot g_t & dg_t = dh_t \odot f_t
# \end{array}
# $$
#
# **How does the error walk through $g$?** Against the arrows, to the *right*. `rnn_backward` of unit 04 walks from the last
# step that was read to the first. So give it everything in the order in which $g$ has read: errors, inputs *and* states
# reversed.
#
# **What reaches $x_t$?** It was read by both layers, so it gets the sum of what $f$ and $g$ send back. The second comes out
# in reading order and has to be turned round.
#
# *By hand*: two steps, one unit each, $x = (0.5, 0)$, $u = w = 1$ and $b = 0$ in both, an error of $(1, 1)$ at step 2
# only. Forwards, $f_1 = 0.462$, $f_2 = \tanh(0.462) = 0.432$; $g_2 = \tanh(0) = 0$, $g_1 = \tanh(0.5) = 0.462$. Back:
#
# - $f$: at step 2 the slope is $1 - 0.432^2 = 0.814$, so $dx_2$ gets 0.814, and $dx_1$ gets $0.814 \cdot (1 - 0.462^2) =
#   0.640$.
# - $g$: at step 2 the slope is $1 - 0 = 1$, so $dx_2$ gets 1. The error came from $g_2$, which has *not* read $x_1$:
#   there it brings nothing.
#
# Together $dx = (0.640, 1.814)$.

# %% [markdown]
# ### Exercise 9.4 · `bidirectional_backward`
# *●●● · 25 minutes · 5 points*
#
# `dH` is the error of the combined states: `(T, N, 2H)` for `"concat"`, else `(T, N, H)`. `X`, `forward`, `backward`
# and `how` are as before; there are no lengths here. The states are not given: run forwards first. Return `(dX,
# forward_gradients, backward_gradients)`: `dX (T, N, D)`, and for each direction the tuple `(dU, dW, db)`.
#
# You may call `rnn_forward` and `rnn_backward(dH, X, h0, H, U, W)`, which gives `(dX, dh0, dU, dW, db)`, and your own
# three functions. Leave all arguments as they are.
#
#     dH [[[0, 0]], [[1, 1]]]     X [[[0.5]], [[0]]]     forward and backward ([[1]], [[1]], [0])
#     gives, rounded,  dX [[[0.640]], [[1.814]]]
#     forward (dU [[0.320]], dW [[0.376]], db [1.453])     backward (dU [[0]], dW [[0]], db [1])


# %% answer="bidirectional_backward"
def bidirectional_backward(dH, X, forward, backward, how="concat"):
    """Back through both directions.

    dH (T, N, 2H) or (T, N, H), X (T, N, D), forward and backward (U, W, b)
    -> dX (T, N, D), (dU, dW, db) of the forward layer, the same of the backward layer
    """
    ### BEGIN SOLUTION
    hidden = len(forward[1])
    zeros = np.zeros((X.shape[1], hidden), dtype=X.dtype)
    H_f = rnn_forward(X, zeros, *forward)
    G = rnn_forward(X[::-1], zeros, *backward)  # in the order in which they were read
    if how == "concat":
        dH_f, dH_b = dH[..., :hidden], dH[..., hidden:]
    elif how == "sum":
        dH_f, dH_b = dH, dH
    else:
        dH_f, dH_b = dH * G[::-1], dH * H_f
    dX_f, _, *forward_gradients = rnn_backward(dH_f, X, zeros, H_f, *forward[:2])
    dX_b, _, *backward_gradients = rnn_backward(dH_b[::-1], X[::-1], zeros, G, *backward[:2])
    return dX_f + dX_b[::-1], tuple(forward_gradients), tuple(backward_gradients)
    ### END SOLUTION


# %% check="bidirectional_backward"
check(bidirectional_backward)

# %% [markdown]
# Here are your gradients of X and of both $W$ beside central differences, with random errors at every step. **Guess** the
# order of the largest difference.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.bidirectional import gradients_beside_differences

differences = gradients_beside_differences(both_ways, use(bidirectional_backward))
for how, largest in differences.items():
    print(f"{how}: the largest difference is {largest:.0e}")

# %% tags=["author"]
assert max(differences.values()) < 1e-6, "The gradients were expected to agree with differences."

# %% [markdown]
# ## 7 · One decision for the whole sequence
#
# Is this review friendly? For one answer you need *one* vector that has read everything. With one chain that is its last
# state. **Guess** for two chains: at which step has $f$ read all seven inputs, and at which has $g$?

# %% tags=["experiment"]
from rnncourse.experiments.bidirectional import inputs_read

read = inputs_read(both_ways)
for chain, counts in read.items():
    print(f"inputs that {chain} has read, at steps 1 to 7: {counts}")
show(two_chains(4, summary=True))

# %% tags=["author"]
assert read["f"].tolist() == [1, 2, 3, 4, 5, 6, 7] == read["g"].tolist()[::-1], "Each chain ends at its own end."

# %% [markdown]
# $f$ has read everything at its last *real* step, $g$ at step 1. So what most people write first, the combined state at the
# last index, is half wrong: there $g$ has read a single symbol. Nothing crashes, and it even learns.

# %% [markdown]
# ### Exercise 9.5 · `final_summary`
# *●●○ · 8 minutes · 2 points*
#
# From the states of both directions, `H_f` and `H_b`, each `(T, N, H)` and **both aligned with time**, to one vector
# for each sequence: for each direction the state in which it has read everything, combined as `how` says. `lengths`,
# an array `(N,)`, says where each sequence ends; what stands at padded steps must not matter. The answer is `(N, 2H)` for
# `"concat"`, else `(N, H)`. You may call your `combine`.
#
#     H_f [[[1]], [[2]], [[9]]]     H_b [[[5]], [[4]], [[9]]]     lengths [2]     gives [[2, 5]]


# %% answer="final_summary"
def final_summary(H_f, H_b, lengths, how="concat"):
    """A vector for each sequence: H_f and H_b (T, N, H), lengths (N,) -> (N, 2H) or (N, H)."""
    ### BEGIN SOLUTION
    rows = np.arange(len(lengths))
    return combine(H_f[lengths - 1, rows], H_b[0], how)
    ### END SOLUTION


# %% check="final_summary"
check(final_summary)

# %% [markdown]
# In unit 11 such vectors will read digits and judge reviews.

# %% [markdown]
# ## 8 · An older pair of chains
#
# Long before networks could be trained on sequences, speech was recognised with two chains. They belong to the **hidden
# Markov model**, HMM for short. Behind what you observe there is a **state** that nobody sees, one of $K$. It moves from
# step to step, and each time shows one of $Q$ symbols:
#
# | | shape | holds |
# |---|---|---|
# | `start` | $(K,)$ | the probability of each state at the first step |
# | `transition`, $A$ | $(K, K)$ | of each next state (column), given this one (row) |
# | `emission` | $(K, Q)$ | of each symbol (column), given the state (row) |
#
# Which state is it in at step $t$, if the symbols $x_1, \dots, x_t$ were observed? Nobody can be sure, so we carry a
# **belief**: $K$ probabilities. At each step it moves on, and it takes in what is seen:
#
# $$\alpha_t = \left( \alpha_{t-1}\, A \right) \odot e(x_t) \qquad \alpha_1 = \text{start} \odot e(x_1)$$
#
# $e(x)$ is the column of `emission` that belongs to $x$. This is the **forward algorithm**. As in the cell, a row
# vector is multiplied by a matrix, meets the new input, and goes on. An HMM's input *multiplies* where a cell's is
# added; and where the cell has a tanh, the HMM divides. It has to: $\alpha_t$ is the probability of the state *together
# with* all that was observed, and after enough steps that is 0 for any computer. So divide by the sum,
#
# $$p_t = \textstyle\sum_s \alpha_t[s] \qquad \text{filtered}_t = \alpha_t / p_t$$
#
# and go on from what you have divided. Then $p_t$ is the probability of $x_t$ given all symbols before it: the model's
# prediction. The sum of the logarithms of all $p_t$ is the **log-likelihood** of the sequence.
#
# *By hand*: a machine is well (state 0) or worn (state 1), and its parts are good (0) or bad (1). `start` is
# $(0.5, 0.5)$, `transition` $[[0.8, 0.2], [0.4, 0.6]]$, since now and then somebody repairs it, and `emission`
# $[[0.9, 0.1], [0.5, 0.5]]$. We see a good part, then a bad one:
#
# | | $t = 1$, good | $t = 2$, bad |
# |---|---|---|
# | moved on | $(0.5, 0.5)$, the start | $(0.643 \cdot 0.8 + 0.357 \cdot 0.4,\; \dots) = (0.657, 0.343)$ |
# | times $e(x_t)$ | $(0.5 \cdot 0.9,\; 0.5 \cdot 0.5) = (0.45, 0.25)$ | $(0.657 \cdot 0.1,\; 0.343 \cdot 0.5) = (0.066, 0.171)$ |
# | $p_t$ | $0.7$ | $0.237$ |
# | filtered | $(0.643, 0.357)$ | $(0.277, 0.723)$ |
#
# The log-likelihood is $\log 0.7 + \log 0.237 = -1.796$.

# %% [markdown]
# ### Exercise 9.6 · `hmm_forward`
# *●●○ · 15 minutes · 3 points*
#
# From `start (K,)`, `transition (K, K)`, `emission (K, Q)` and `observations`, an array of T whole numbers from 0 to
# Q − 1, to the pair `(filtered, log_likelihood)`: `filtered (T, K)` holds in row t the probability of each state given
# all observations **up to and with** that of step t, and `log_likelihood` is a number, the natural logarithm of the
# probability of all T observations. It has to be right for T = 5,000 as well. The observations are possible ones; some
# probabilities may be 0. The first observation comes from the start state itself: nothing moves before it.
#
#     start [0.5, 0.5]   transition [[0.8, 0.2], [0.4, 0.6]]   emission [[0.9, 0.1], [0.5, 0.5]]   observations [0, 1]
#     gives, rounded,  filtered [[0.643, 0.357], [0.277, 0.723]]     log_likelihood -1.796


# %% answer="hmm_forward"
def hmm_forward(start, transition, emission, observations):
    """start (K,), transition (K, K), emission (K, Q), observations (T,) -> filtered (T, K), log_likelihood."""
    ### BEGIN SOLUTION
    filtered, log_likelihood = [], 0.0
    belief = start
    for t, seen in enumerate(observations):
        if t > 0:
            belief = belief @ transition
        joint = belief * emission[:, seen]
        chance = joint.sum()
        belief = joint / chance
        filtered.append(belief)
        log_likelihood += np.log(chance)
    return np.stack(filtered), log_likelihood
    ### END SOLUTION


# %% check="hmm_forward"
check(hmm_forward)

# %% [markdown]
# For thirty years this was the core of speech recognition. The chain from the right is called $\beta$, the probability of
# all that is observed *after* step $t$, for each state at step $t$:
#
# $$\beta_t = A \left( e(x_{t+1}) \odot \beta_{t+1} \right) \qquad \beta_T = 1$$
#
# It runs as your $g$ does, from the end. Given the state at $t$, what came before and what comes after have nothing more to
# do with each other. So their probabilities **multiply**: the belief after all is read is $\alpha_t \odot \beta_t$, divided
# by its sum. That is your `combine` with `"product"`: one side can rule out a state that the other believed in.
#
# ### Experiment · watching a machine
#
# Such a machine runs for 5,000 steps. You guess its state at each, from what was seen *so far*, or from *all* that was
# seen. **Guess**: how many in 100 does the second chain put right: one, five, or thirty? And at about which step will
# $\alpha$, if it is never divided, be 0? (NumPy's smallest number is about $10^{-323}$.)

# %% tags=["experiment"] dials="steps = 300"
from rnncourse.experiments.bidirectional import watch_machine
from rnncourse.plots.bidirectional import machine_chart

steps = 5_000
watched = watch_machine(use(hmm_forward), use(combine), steps)
for name, share in watched.right().items():
    print(f"{name}: {share:.1%} of the states guessed right")
print("never divided, alpha becomes 0 at step", watched.zero_from)
print(f"log-likelihood: {watched.log_likelihood:.1f}")
show(machine_chart(watched.true, watched.so_far, watched.after_all))

# %% tags=["author"]
right = watched.right()
assert right["so far"] + 0.03 < right["after all"], "The second chain was expected to help."
assert 1000 < watched.zero_from < 2000, "Alpha was expected to be 0 after some 1,400 steps."
assert np.isfinite(watched.log_likelihood)

# %% [markdown]
# The second chain puts five in 100 right. The belief so far jumps up at each bad part; the belief after all waits for
# more of them.
#
# ### Experiment · what can a state hold?
#
# An HMM is in *one* of $K$ states; a cell has $H$ units between −1 and 1, all at once. But a belief is $K$ numbers of any
# size. Can it not hold more than "one of $K$"? It can hold more, but it cannot *say* it. Take a task: a word of four
# letters is read, out of an alphabet of four, and then **the same word must be said again**. There are $4^4 = 256$ words,
# all equally likely.
#
# *By hand*: after the first word $v$ the belief is $p(s \mid v)$. From state $s$ on, let $q_s(v)$ be the probability that
# the second word is $v$; over all words these sum to 1. The right word gets
#
# $$\sum_s p(s \mid v)\, q_s(v) \;\le\; \sum_s q_s(v)$$
#
# since no $p$ is above 1. Sum this over all 256 words: on the right each state brings 1, together $K$. So on average the
# right word gets at most $K / 256$: with 32 states an eighth, however the parameters were found. No such bound holds for a
# cell.

# %% locked="setup_torch"
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

torch.set_num_threads(1)  # a second one costs more than it brings on small products

# %% [markdown]
# An HMM, which is your forward algorithm in PyTorch, and two cells get 250 updates on all 256 words. **Guess**: will a cell
# of 8 units beat the ceiling of an HMM of 32 states, or of 64, or come near 1?

# %% tags=["experiment", "nbval-ignore-output"] dials="small = 4"
from rnncourse.experiments.bidirectional import ours
from rnncourse.experiments.bidirectional_torch import said_again
from rnncourse.plots.gates import shares

small = 8
again = {
    "HMM, 32 states": said_again("HMM", 32),
    f"cell, {small} units": said_again("cell", small),
    "cell, 32 units": said_again("cell", 32),
}
found, says = ours("said_twice", "right"), "probability of the right second word"
bound = {"chance": 32 / 256, "line": "the HMM's ceiling"}
show(shares(again, ours=found, xlabel=says, **bound))

# %% tags=["author"]
assert again["HMM, 32 states"] < 32 / 256, "An HMM is bound."
assert again["cell, 32 units"] > 0.9, "A cell is not."
assert again["cell, 8 units"] > 64 / 256, "Eight units were expected to hold more than 64 states."

# %% [markdown]
# **Claim:** an HMM of 32 states, trained as long, stays below its ceiling of an eighth. A cell of 8 units gives the
# right word more than an HMM of 64 states could, and one of 32 units gives it more than 0.9.
#
# For one more bit an HMM needs *twice* as many states; a cell may do with one more unit. *Try* a cell of 4 units.

# %% [markdown]
# ## 9 · The same in PyTorch
#
# `nn.RNN(D, H, bidirectional=True)` is your `bidirectional_forward` with `"concat"`. The parameters of its backward
# chain bear the suffix `_reverse`. It gives two things:
#
# | | shape | holds |
# |---|---|---|
# | `out` | $(T, N, 2H)$ | $[f_t, g_t]$, aligned with time: nothing is left for you to flip |
# | `h_n` | $(2, N, H)$ | `h_n[0]` is $f_T$ and `h_n[1]` is $g_1$: the two final states |
#
# PyTorch's layer gets your parameters. **Guess**: how far is `out` from your states, and `h_n` and `out[-1]` from your
# summary?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.bidirectional_torch import layer_beside_torch

differences = layer_beside_torch(both_ways, use(final_summary))
for pair, largest in differences.items():
    print(f"{pair}: the largest difference is {largest:.0e}")

# %% tags=["author"]
states, summary, last = differences.values()
assert max(states, summary) < 1e-9 < 0.1 < last, "out and h_n were expected to be ours, and out[-1] was not."

# %% [markdown]
# `h_n` has your summary in it, and `out[-1]` has not.
#
# Given a plain array, the backward chain of `nn.RNN` begins in the padding: there is no argument `lengths`. What it has
# is the **packed sequence** of unit 07: each direction starts where its sequence starts.
#
#     packed = pack_padded_sequence(x, lengths, enforce_sorted=False)
#     states, h_n = rnn(packed)                                          # states are packed, too
#     states, _ = pad_packed_sequence(states, total_length=T)            # (T, N, 2H), zeros at padded steps
#
# `enforce_sorted=False` allows lengths in any order, and `total_length` gives T steps back even if no sequence is that
# long. `lengths` is a tensor of whole numbers.

# %% [markdown]
# ### Exercise 9.7 · `BiTagger`
# *●●○ · 20 minutes · 4 points*
#
# A tagger says something about *every* step. Write it as an `nn.Module` with three submodules of exactly these names:
#
# | name | what | shapes |
# |---|---|---|
# | `embedding` | `nn.Embedding`: a vector for each id | $(T, N) \to (T, N, E)$ |
# | `rnn` | `nn.RNN` in both directions, time first | $(T, N, E) \to (T, N, 2H)$ |
# | `output` | `nn.Linear`: a logit for each tag | $(T, N, 2H) \to (T, N, \text{tags})$ |
#
# `__init__(self, vocabulary_size, embedding_size, hidden_size, tags)` builds them; `forward(self, ids, lengths=None)`
# takes ids `(T, N)` and returns **logits** `(T, N, tags)`. Without `lengths` all steps are real. With `lengths`, a
# tensor `(N,)`, in no particular order and possibly all below T, no padded step may change the logits of a real one.
# Under the padding stand valid ids, 0 is an id like any other, and your logits there are nobody's business.


# %% answer="BiTagger"
class BiTagger(nn.Module):
    """A label for each step: ids (T, N), lengths (N,) or None -> logits (T, N, tags)."""

    def __init__(self, vocabulary_size, embedding_size, hidden_size, tags):
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.RNN(embedding_size, hidden_size, bidirectional=True)
        self.output = nn.Linear(2 * hidden_size, tags)
        ### END SOLUTION

    def forward(self, ids, lengths=None):
        ### BEGIN SOLUTION
        embedded = self.embedding(ids)
        if lengths is None:
            states, _ = self.rnn(embedded)
        else:
            states, _ = self.rnn(pack_padded_sequence(embedded, lengths, enforce_sorted=False))
            states, _ = pad_packed_sequence(states, total_length=len(ids))
        return self.output(states)
        ### END SOLUTION


# %% check="BiTagger"
check(BiTagger)

# %% [markdown]
# Give it some work.

# %% [markdown]
# ## 10 · Teddy
#
# `OneWayTagger` is the same with one chain. Both are trained on all 320 sentences: we ask what they *can* learn, not
# whether they generalise. **Guess** the share of tokens at which each of the two will end.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.bidirectional_torch import (
    OneWayTagger,
    right_at_names,
    train_on_teddy,
)
from rnncourse.plots.bidirectional import learning_chart

TwoWayTagger = use(BiTagger)
taggers, curves = {}, {}
taggers["one way"], curves["one way"] = train_on_teddy(OneWayTagger, 24)
taggers["both ways"], curves["both ways"] = train_on_teddy(TwoWayTagger, 16)
for name, tagger in taggers.items():
    print(f"{name}: right at {right_at_names(tagger):.2f} of the ambiguous names")
show(learning_chart(curves, tagging_ceiling(sentences)))

# %% tags=["author"]
assert abs(curves["one way"][-1] - tagging_ceiling(sentences)) < 1e-5, "One way stands on its ceiling."
assert curves["both ways"][-1] > 0.99, "Both ways was expected to be right."

# %% [markdown]
# **Claim:** after 80 updates the one-way tagger stands exactly on its ceiling. The tagger that reads both ways is right
# on more than 99% of all tokens.
#
# **Guess**: how probable does each of the two find PERSON at "Teddy", in each of the two sentences?

# %% tags=["experiment", "nbval-ignore-output"] dials="words = \"I read that Pearl necklaces are on sale\""
from rnncourse.experiments.bidirectional_torch import person_beliefs
from rnncourse.plots.bidirectional import belief_grid

words = "He said , Teddy bears are on sale"
for text in ("He said , Teddy Roosevelt was a great president", words):
    beliefs = {name: person_beliefs(model, text) for name, model in taggers.items()}
    show(belief_grid(beliefs, text.split(), title="probability of PERSON"))

# %% [markdown]
# **Claim:** at "Teddy" the one-way tagger gives a person a probability between 0.3 and 0.7 in both sentences. The tagger
# that reads both ways gives it more than 0.9 before "Roosevelt", and less than 0.1 before "bears".
#
# One half is the honest answer. One word later it knows, but by then it has spoken.

# %% [markdown]
# ## 11 · English or Python?
#
# Now real text. Whoever wrote Python's documentation put what is Python's into quotation marks. We take these off, and put
# all into small letters. Is a word English, or Python? In the sentence below, `continue` is Python's, *suite* is not.

# %% tags=["experiment"]
from rnncourse.data import marked_sentences

marked = marked_sentences()
print(next(s for s in marked if s.words[:3] == ("a", "continue", "statement")))
count = sum(len(s.words) for s in marked)
print(f"{len(marked):,} sentences, {count:,} words and signs,")
print(f"{sum(sum(s.marks) for s in marked):,} of them Python's")

# %% [markdown]
# Three taggers get three fifths of the sentences, and are tuned on one fifth:
#
# - An **HMM** with two states, English and Python. *Count*, as in unit 01, which state follows which, and which words each
#   state shows. Then your two chains say the likelier state of each word.
# - A **one-way** network, and one that reads **both ways**. 25,000 words are few. So both start from the word vectors of
#   unit 07, made from other text: 32 numbers for each of 2,000 words.
#
# They are judged on the last fifth, by wrong marks for a hundred words of Python: who says that all is English makes 100.
# **Guess** who makes the fewest, and put it into `mine`.

# %% tags=["experiment", "nbval-ignore-output"] dials="mine = \"HMM\""
from rnncourse.experiments.bidirectional import held_out_errors, tuned_markov
from rnncourse.experiments.bidirectional_torch import train_marker

mine = "one way"
ways = {"one way": OneWayTagger, "both ways": TwoWayTagger}
marker = {"HMM": tuned_markov(use(hmm_forward), use(combine))}
for name, tagger in track(ways.items(), "training"):
    marker[name] = train_marker(tagger)
wrong = {name: held_out_errors(one) for name, one in marker.items()}
counted = "wrong marks for a hundred words of Python"
measured = ours("english_or_python", "wrong")
show(shares(wrong, ours=measured, guessed={mine}, xlabel=counted, most=100))

# %% [markdown]
# **Claim:** the network that reads both ways makes fewer errors than the HMM, and fewer than the one-way network.
#
# It held in {{held english_or_python}} splits of the sentences. A network with one chain does not beat counting with two:
# {{english_or_python/one way/wrong|median .0f}} errors against {{english_or_python/HMM/wrong|median .0f}}. With two chains it
# does: {{english_or_python/both ways/wrong|median .0f}}. From vectors drawn at random,
# `train_marker(tagger, vectors=False)`, it makes {{english_or_python/both ways, without vectors/wrong|median .0f}}. *Try* it.
#
# Here is a held-out sentence that only the last of the three gets right. Marks are `so`.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.data import MarkedSentence
from rnncourse.experiments.bidirectional import most_puzzling

sentence = most_puzzling(marker)
for name, one in marker.items():
    print(f"{name}: {MarkedSentence(sentence.words, one.marks(sentence.words))}\n")

# %% [markdown]
# Counting needs neither vectors nor gradients, and its tables say why a word was marked.

# %% [markdown]
# ## 12 · A syntax highlighter
#
# Now Python source, and a label for each character. Python's own tokenizer knows them: space, comment, string, number,
# operator, keyword, function (a name before an opening bracket) and name. We train on 100,000 characters of the standard
# library, in windows of 100, and judge on files that are held out whole. The one-way tagger gets 96 units, against 64 in
# each direction, so that both have about 13,000 parameters.
#
# **Guess**: for which of the eight labels will the two differ most?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.bidirectional_torch import (
    label_frequencies,
    new_highlighter,
    shares_right,
    train_highlighter,
)
from rnncourse.plots.bidirectional import class_bars

highlighters = {}
for name, tagger in track(ways.items(), "training"):
    highlighters[name] = train_highlighter(new_highlighter(tagger))
right = {name: shares_right(model) for name, model in highlighters.items()}
for name, share in right.items():
    print(f"{name}: {share['all']:.1%} of all held-out characters are right")
how = "share right (in brackets: how frequent a label is)"
show(class_bars(right, xlabel=how, ticks=label_frequencies()))

# %% tags=["author"]
assert right["both ways"]["all"] > right["one way"]["all"] + 0.03, "Both ways was expected to be better."

# %% [markdown]
# **Claim:** with no more parameters, the tagger that reads both ways labels at least 3 in 100 more of all held-out
# characters right, and at least 25 in 100 more of those in the names of functions.
#
# Until the bracket comes, `range` in `range(3)` is a name like any other. For comments the evidence stands to the *left*,
# in the sign that opened them. Both taggers make little of it: the optional part below asks why.
#
# Here is a piece of a held-out file. Where the ground is tinted, the label is wrong.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.bidirectional_torch import tagged
from rnncourse.plots.bidirectional import ColouredCode

ColouredCode(*tagged(highlighters))

# %% [markdown]
# ### Optional · how long is a sign remembered?
#
# *(Ten minutes; unit 10 looks back at it.)* Does a tagger *remember* the sign that opened a comment, or does it see from the
# English behind it what this is? Take the English away: put `# ` before lines of held-out code. A third tagger joins in,
# one way, in whose training text a fifth of the lines of code are commented out. **Guess**: after how many characters have
# the first two lost the sign, and the third?

# %% tags=["experiment", "nbval-ignore-output"] dials="epochs = 12"
from rnncourse.experiments.bidirectional_torch import (
    code_commented_out,
    taken_for_comment,
)
from rnncourse.plots.bidirectional import sign_chart

epochs = 4
seen = new_highlighter(OneWayTagger)
train_highlighter(seen, code_commented_out(), epochs)
three = highlighters | {"one way, has seen\ncode commented out": seen}
show(sign_chart({name: taken_for_comment(model) for name, model in three.items()}))

# %% [markdown]
# The first two have lost the sign after a few characters. In our seeds the first two take
# {{highlighter/one way/of the last eight|range .0%}} and {{highlighter/both ways/of the last eight|range .0%}} of the
# last eight characters for a comment, the third
# {{highlighter/one way, has seen code commented out/of the last eight|range .0%}}, half of the seeds
# {{highlighter/one way, has seen code commented out/of the last eight|median .0%}} or more: the start decides. Each
# further character says "code", and the sign has to be remembered against it. A plain cell can begin to do that. The
# first two had no reason to: in their text, what looks like code *is* code. As in unit 05, a network holds what its
# examples ask it to hold. *Try* 12 epochs for the third.

# %% [markdown]
# ## 13 · The price: nothing can be said before the end
#
# $g_1$ is the *last* state that the backward chain computes. So before you can label the first word, the last one must
# have come.
#
# | | reads one way | reads both ways |
# |---|---|---|
# | answers for step $t$ | after step $t$ | after step $T$ |
# | when one more symbol comes | one more step | all of $g$ anew |
# | kept while running on | one state | the whole sequence |
#
# For a text in a file that is no price. For live captions it is prohibitive. People wait a little: look $k$ symbols
# ahead and begin the backward chain there. The highlighter labels a character, and sees only the $k$ characters after
# it. **Guess**: from which $k$ on does it beat the tagger that reads one way?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.bidirectional_torch import right_with_lookahead
from rnncourse.plots.bidirectional import lookahead_chart

ks = [0, 1, 2, 4, 8, 16, 32]
two = [right_with_lookahead(highlighters["both ways"], k) for k in ks]
one = right_with_lookahead(highlighters["one way"], 0)
show(lookahead_chart(ks, {"both ways": two, "one way": [one] * len(ks)}))

# %% tags=["author"]
assert two[0] < one < two[-1], "With no future it is worse, with 32 characters better."

# %% [markdown]
# **Claim:** with no lookahead the tagger that reads both ways is worse than the one-way tagger; with 32 characters it is
# better, by at least 2 labels in 100; and eight characters buy more than half of what 32 do.
#
# In this run it is ahead from two characters on; at other seeds it takes a few more. Whoever must answer live can
# choose a point on this curve.

# %% [markdown]
# ## 14 · Not a language model
#
# Why not let two chains predict the next character, as in unit 06? Try it on eight letters drawn at random: no honest
# prediction can have a loss below $\log 8 = 2.079$, in the long run. The target of step $t$ is $x_{t+1}$. **Guess** the
# loss of each of the two.

# %% tags=["experiment", "nbval-ignore-output"] dials="letters = 20"
from rnncourse.experiments.bidirectional_torch import loss_on_random_letters

letters = 8
one_way = loss_on_random_letters(OneWayTagger, letters=letters)
two_ways = loss_on_random_letters(TwoWayTagger, letters=letters)
print(f"log {letters} is {np.log(letters):.3f}")
print(f"loss one way {one_way:.3f}, both ways {two_ways:.3f}")

# %% tags=["author"]
assert two_ways < 0.1 < 2 < one_way, "Both ways was expected to copy."

# %% [markdown]
# **Claim:** on random letters the loss of the one-way network stays at $\log 8$; that of the network that reads both
# ways falls below 0.1.
#
# It has learned just one thing: $g_t$ has read $x_{t+1}$, so hand it on. Whenever a result is too good to be true, look for
# the way by which the answer got in.

# %% [markdown]
# ### Exercise 9.8 · `quiz_bidirectional`
# *●●○ · 5 minutes · 1 point*
#
# A left-to-right language model gives $p(x_{t+1} \mid x_1, \dots, x_t)$ for each $t$. Which statements hold?
#
# - **A** A bidirectional network that is trained on the target $x_{t+1}$ at step $t$ can bring its loss down by
#   copying, since its state at step $t$ has read the target.
# - **B** Its loss on held-out text is low as well, so the product of its probabilities is a good estimate of the
#   probability of that text.
# - **C** It cannot write text from left to right: its backward layer would have to begin with symbols that are not
#   written yet.
# - **D** Predict $x_t$ from $f_{t-1}$ and $g_{t+1}$ instead. Then the target is in neither, and the product of these
#   probabilities over all $t$ is the probability of the sequence.
# - **E** Its forward layer alone, with an output layer of its own, can be trained as a language model.
# - **F** With enough data and units it becomes a left-to-right language model.
#
# Answer with the set of those that hold, in the form `{"B", "D"}`.

# %% answer="quiz_bidirectional"
quiz_bidirectional = None  # put a set of letters in place of None
### BEGIN SOLUTION
quiz_bidirectional = {"A", "C", "E"}
### END SOLUTION

# %% check="quiz_bidirectional"
check(quiz_bidirectional, "quiz_bidirectional")

# %% [markdown]
# Two chains are for sequences that are *there*, and not for those that are yet to be written.

# %% [markdown]
# ## 15 · Bugs to hunt
#
# All of these run, give the right shape, and have been found in published code. Which test of this unit finds each?
#
# - `H_b` is not flipped back: $h_t$ holds $f_t$ beside the backward state of step $T + 1 - t$.
# - Batch first, and `x.flip(0)`.
# - `out[-1]` as the summary of a sentence (or `out[:, -1]`, batch first).
# - The block is flipped, padding and all.
# - `h_n.reshape(N, 2 * H)` for the summary, where `h_n` is `(2, N, H)`.
#
# The first is worth seeing. **Guess** the grid of dependence of a layer that forgets to flip back.

# %% tags=["experiment"]
from rnncourse.experiments.bidirectional import dependence_not_flipped_back

grids = dependence_not_flipped_back(both_ways)
show(dependence_grid(grids))

# %% tags=["author"]
assert grids["flipped back"].all()
assert not grids["not flipped back"].all(), "Only the second should have gaps."

# %% [markdown]
# <details><summary>Answers, when you have thought about them</summary>
#
# The first: the grid is full only from the middle on, and $h_1$ has read nothing but $x_1$ and $x_T$. The second: the grid is
# that of a one-way network. The third: count what each half has read (section 7). The fourth: run a sentence alone and in a
# batch (section 5). The last is right for $N = 1$ only; otherwise the first half of the batch gets two forward states.
# `torch.cat([h_n[0], h_n[1]], dim=-1)` was meant.
# </details>

# %% [markdown]
# ## 16 · What you have
#
# - For a left-to-right tagger there is a ceiling, and it can be computed.
# - A bidirectional layer is two chains that do not know of each other. Reverse within the lengths, run, reverse again.
#   Test: alone and in a batch must give the same.
# - $f$ has read all at the last real step, $g$ at the first.
# - A hidden Markov model has two chains, too. For one more bit it needs twice as many states. On little text, what
#   counts is an opponent to beat.
# - Nothing can be said before the end. A little lookahead buys much of it back.
# - A state that has read the target predicts it. Two chains label; they do not write.

# %% [markdown] written="bidirectional_written" points=3
# ### Written question
# *3 points, graded by hand; about six sentences*
#
# Your group builds live captions: speech comes in, and each word has to be on the screen within half a second. A
# colleague has trained a bidirectional network on recordings. It makes a third fewer errors than the one-way network,
# on held-out recordings, and your colleague wants to put it into the product. **(a)** What will go wrong if it is used as
# it is? **(b)** Why did the evaluation not show it? **(c)** What would you propose and measure instead?
#
# ### BEGIN SOLUTION
# *Model answer.* (a) The backward chain begins at the end of what is said. Live there is no end: either the product waits
# for it, and the captions come after the speaker has finished, or it cuts the sound at the present moment and runs the
# backward chain from there, again and again, over all that has been said so far. In the second case the newest word has
# no future, the very words that are to be shown are labelled with a lookahead of nearly zero, which the network has
# never met in training, and it does worse there than the one-way network; and words that stand on the screen change
# afterwards. (b) The evaluation did not show it because whole recordings were given: every word was judged with its future
# in view, and the time that the answer came at was not counted. (c) I would evaluate in the way in which it is used: the
# label of each word from the sound up to half a second after it, and no more, for both networks. And I would train for
# it: a backward chain over chunks with a lookahead of up to half a second, or a one-way network whose target is delayed
# by as much. Then the errors against the delay make a curve, from which the product can choose a point; and the second
# pass with the full network can still correct the transcript when the speech is over.
#
# *Rubric.* **1 point**: says that the backward chain needs the end, so that the answer is late, or is made without a
# future that the network was trained to have (or keeps changing). **1 point**: says that the evaluation had the future
# in view, or ignored the delay, so that it measured another task. **1 point**: a proposal that respects the limit
# (limited lookahead, chunks, delayed targets, a one-way network, a second pass) *and* a measurement under the same
# limit (errors against delay). "Use a faster computer" is worth nothing: the future does not come faster.
# ### END SOLUTION

# %% [markdown]
# ## Where to read on
#
# - M. Schuster, K. K. Paliwal, "Bidirectional Recurrent Neural Networks", *IEEE Transactions on Signal Processing* 1997.
# - L. R. Rabiner, "A Tutorial on Hidden Markov Models", *Proceedings of the IEEE* 1989. A. Brown, G. Hinton, "Products of
#   Hidden Markov Models", *AISTATS* 2001: on the price of one state out of $K$.
# - A. Graves, J. Schmidhuber, "Framewise Phoneme Classification with Bidirectional LSTM", *Neural Networks* 2005: one way, two
#   ways, and delayed targets.
# - Z. Huang, W. Xu, K. Yu, arXiv:1508.01991, 2015: the tagger of this unit, grown up.
# - M. E. Peters et al., "Deep Contextualized Word Representations", *NAACL* 2018: two language models, one for each direction,
#   of which neither reads the other's states, just because of section 14.
# - The sentences about Teddy are A. Ng's, from *Sequence Models*, deeplearning.ai, 2018.

# %% [markdown]
# ## Something to show to somebody
#
# The highlighter of section 12 that reads both ways, trained for eight epochs more, on code of your own. The truth comes from
# Python's tokenizer, so it has to be Python.

# %% tags=["experiment", "nbval-ignore-output"]
trained = train_highlighter(highlighters["both ways"], epochs=8)
print(f"{shares_right(trained)['all']:.0%} of all held-out characters are right")

# %% tags=["experiment", "nbval-ignore-output"]
code = """for name in sorted(names):
    if len(name) > 12:
        print("too long:", name)
    total += count(name) * 0.5  # half of it
"""
ColouredCode(*tagged({"both ways": trained}, code))

# %% tags=["experiment"]
progress("09_bidirectional")

# %% [markdown]
# ## The question that this unit leaves open
#
# Two taggers have read the sign of a comment, and forty letters later they have lost it. A third has begun to hold on, since
# its examples asked for it. But all that it has for this is one matrix, which also mixes and writes over, at every step. **What if a cell could *hold* what it has been told by its very make, until it
# is told to let go?** That is unit 10.
