# %% [markdown]
# # 03 · The recurrent cell
#
# **When you are done you will be able to**
#
# - say what a hidden *state* has that a hidden *layer* has not, and show it with numbers;
# - write a recurrent network's forward pass from nothing: cell, sequence, output layer, softmax;
# - say which numbers are shared over time, and count them;
# - read every notation in which books and libraries write the same cell, PyTorch's included;
# - find the bugs that make such a network look alive when it is not.
#
# **Time:** about three hours. **Before you start:** matrix products in NumPy, and unit 02: a recurrence, its unfolded graph, and
# why one transition serves every length. There are 13 exercises and one written question, 31 points in all. NumPy is all that
# you need: no answer of this unit may call `torch` or `scipy`. Results have the dtype of the arrays that you were given, and
# arguments are left as they were. You may always call your own earlier answers.

# %% [markdown]
# ## Two questions that were left open
#
# In **unit 01** three sentences beat every model that looks back a fixed number of words:
#
# > I am studying **medicine** (or **law**, or **history**) at UBC because I want to work as a **…**
#
# In **unit 02** a recurrence $s_t = f(s_{t-1}, x_t; \theta)$ carried a summary of *everything* so far. But you were always given
# the $f$: a bank, a leaky average. Nobody will hand you the transition of English. So: **which $f$ should we take, if we do not
# know the right one?** One with many numbers in it, flexible enough to become nearly anything; and we leave the numbers open.
# This unit builds that $f$. At its end a network of yours will finish the three sentences correctly.

# %% locked="setup"
import numpy as np

from rnncourse import check, hint, progress, use
from rnncourse.ngram import perplexity, sample_index
from rnncourse.unfolding import depends_on

# %% tags=["experiment"]
progress("03_cell")

# %% [markdown]
# ## A network that is trained already · two minutes
#
# This is where the next four units lead. The network below has 160 numbers of state and has read Python's documentation, one
# character at a time. Nobody told it what a word is. Now it writes: it says how probable each next character is, one is drawn,
# and the network reads that as its next input. **Guess first:** how many of its longer words are words? Then give it a start
# of your own, and a `temperature` between 0.1 (only what it is sure of) and 1.5.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.data import python_docs, trained_network, words
from rnncourse.language_model import generate

trained = trained_network()


def goes_on(start, length=300, temperature=0.5, seed=1):
    """What the trained network writes after `start`."""
    uniforms = np.random.default_rng(seed).random(length)
    return "".join(
        trained.chars[i] for i in generate(trained.parameters, trained.ids(start), length, uniforms, temperature)
    )


print(text := goes_on("The value of "))
english = set(words(python_docs(400_000)))
real = np.mean([word in english for word in words(text)[1:-1] if len(word) > 3])
print(f"\n{real:.0%} of its longer words are words")
assert real > 0.6, "Expected more than 60% real words: was the temperature changed?"

# %% [markdown]
# It spells, it opens and closes, it has a feeling for grammar, and nothing to say. All of it is five arrays of numbers and the
# formula that you are about to write: in section 4 the same network runs on your own functions. How the numbers came about is
# the matter of units 04 to 06.

# %% [markdown]
# ## 1 · A layer without a state
#
# A **hidden layer** of a plain network (an MLP) takes an input of $D$ numbers and makes $H$ new ones: each a weighted sum of the
# inputs, plus a bias, bent by a tanh:
#
# $$h = \tanh(x\, W_{xh} + b_h)$$
#
# In this course inputs are **rows**, and a batch of $N$ inputs is a matrix with $N$ rows. So the matrix stands on the
# right, and its shape reads *from, to*: $W_{xh}$ leads from $D$ inputs to $H$ hidden units.
#
# | name | shape | |
# |---|---|---|
# | $x$ | $(N, D)$ | one input a row |
# | $W_{xh}$ | $(D, H)$ | a column of weights for each hidden unit |
# | $b_h$ | $(H,)$ | one bias for each hidden unit, added to every row |
# | $h$ | $(N, H)$ | one hidden vector a row |
#
# The tanh squeezes any number into the range from $-1$ to $1$ and keeps its sign. Four of its values let you check all
# examples of this unit by hand:
#
# | $a$ | 0 | 0.5 | 1 | 2 |
# |---|---|---|---|---|
# | $\tanh(a)$ | 0 | 0.462 | 0.762 | 0.964 |

# %% [markdown]
# ### Exercise 3.1 · `hidden_layer`
# *●○○ · 4 minutes · 1 point*
#
# Write the layer: `x (N, D)`, `W_xh (D, H)`, `b_h (H,)` give `h (N, H)`.
#
# By hand, with one input of two numbers and two hidden units:
#
# $$\begin{bmatrix} 1 & 2 \end{bmatrix}
# \begin{bmatrix} 0.5 & 1 \\ 0.5 & -1 \end{bmatrix} + \begin{bmatrix} -1 & 0.5 \end{bmatrix}
# = \begin{bmatrix} 1.5 & -1 \end{bmatrix} + \begin{bmatrix} -1 & 0.5 \end{bmatrix}
# = \begin{bmatrix} 0.5 & -0.5 \end{bmatrix}$$
#
# and the tanh of it is $h = \begin{bmatrix} 0.462 & -0.462 \end{bmatrix}$.


# %% answer="hidden_layer"
def hidden_layer(x, W_xh, b_h):
    """A layer without a state: x (N, D), W_xh (D, H), b_h (H,) -> h (N, H)."""
    ### BEGIN SOLUTION
    return np.tanh(x @ W_xh + b_h)
    ### END SOLUTION


# %% check="hidden_layer"
check(hidden_layer)

# %% [markdown]
# The building block of most neural networks. Let us see where it fails.

# %% [markdown]
# ### Experiment · the layer cannot tell the three students apart
#
# **Claim:** whatever its weights are, a layer that reads one word at a time gives *the same* vector for the last word
# "a" of all three sentences, so nothing that comes after it can know the right profession. Find another place in the sentences
# where it must fail, before you run the cell.
#
# Each word goes in as a **one-hot** vector: zeros, and a single 1 at the word's place in the vocabulary.

# %% tags=["experiment"]
from rnncourse.data import study_grammar

grammar = study_grammar()
vocabulary = grammar.vocabulary
word_index = {word: i for i, word in enumerate(vocabulary)}
sentences = [sentence for sentence, _ in grammar.sentences()]
word_ids = np.array([[word_index[word] for word in sentence] for sentence in sentences]).T  # (T, N)
X_words = np.eye(len(vocabulary))[word_ids]  # (T, N, D)

layer = use(hidden_layer)
rng = np.random.default_rng(0)
h = np.asarray(layer(X_words[-2], rng.normal(size=(len(vocabulary), 4)), rng.normal(size=4)))
for sentence, row in zip(sentences, h, strict=True):
    print(f"… {sentence[3]:8} … {' '.join(sentence[-4:-1])} →", row.round(3))
assert np.allclose(h, h[0], rtol=0, atol=1e-12), "Expected three equal rows. Has hidden_layer passed its check?"

# %% [markdown]
# Equal inputs, equal outputs: the MLP of unit 01 was a bigram for the same reason. "Medicine" was read nine steps before, made
# its own hidden vector, and that vector was thrown away. We must *keep* it.

# %% [markdown]
# ## 2 · The state
#
# Here is the whole idea of this course. The hidden vector is not thrown away: **one step later it comes back, as a second
# input.** (The black square is the delay of one step that you know from unit 02.)

# %% tags=["experiment"]
from rnncourse.plots import mlp_beside_cell, show

show(
    mlp_beside_cell(),
    alt="Left: a plain network with input x, hidden layer h and output o. Right: a recurrent cell, whose hidden state "
    "comes back through a delay of one step as a second input h of t minus one beside the input x of t.",
)

# %% [markdown]
# The new state $h_t$ is made from the input $x_t$, through a matrix $U$, and from the old state $h_{t-1}$, through a matrix $W$.
# Both are added, with a bias $b$, *before* the tanh bends the sum.
#
# $$h_t = \tanh(x_t\, U + h_{t-1} W + b)$$
#
# | name | shape | leads from … to … |
# |---|---|---|
# | $U$ | $(D, H)$ | input to hidden |
# | $W$ | $(H, H)$ | hidden to hidden, one step later |
# | $b$ | $(H,)$ | |
#
# A **hidden layer** is a place in a network: it stands between input and output. A **hidden state** is a place in
# *time*: it is what the network hands on to itself. Take $W = 0$ and the second becomes the first.
#
# The same cell as a machine. (What stands outside the dashed frame, on the way to $y_t$, comes in section 4.)

# %% tags=["experiment"]
from rnncourse.plots import cell_inside

show(
    cell_inside(),
    alt="Inside the cell: h of t minus one times W, x of t times U, and b are added, the sum a of t goes through tanh "
    "and gives h of t, which goes to the next step and, times V plus c and through a softmax, to the output y of t.",
)

# %% [markdown]
# ### Exercise 3.2 · `rnn_step`
# *●●○ · 10 minutes · 3 points*
#
# Write one step of the cell: `x (N, D)`, `h_prev (N, H)`, `U (D, H)`, `W (H, H)`, `b (H,)` give `h (N, H)`.
#
# By hand, with the same input as before and an old state beside it:
#
# $$\begin{aligned}
# x_t U &= \begin{bmatrix} 1 & 2 \end{bmatrix} \begin{bmatrix} 0.5 & 1 \\ 0.5 & -1 \end{bmatrix}
# = \begin{bmatrix} 1.5 & -1 \end{bmatrix} \\
# h_{t-1} W &= \begin{bmatrix} 0.5 & -0.5 \end{bmatrix} \begin{bmatrix} 1 & 3 \\ 0 & 1 \end{bmatrix}
# = \begin{bmatrix} 0.5 & 1 \end{bmatrix} \\
# b &= \begin{bmatrix} -1 & 0.5 \end{bmatrix}
# \end{aligned}$$
#
# The three add up to $\begin{bmatrix} 1 & 0.5 \end{bmatrix}$, and so
# $h_t = \begin{bmatrix} 0.762 & 0.462 \end{bmatrix}$. (With $W$ transposed the second product would be
# $\begin{bmatrix} -1 & -0.5 \end{bmatrix}$, and no error would tell you, since $W$ is square.)


# %% answer="rnn_step"
def rnn_step(x, h_prev, U, W, b):
    """One step: x (N, D), h_prev (N, H), U (D, H), W (H, H), b (H,) -> h (N, H)."""
    ### BEGIN SOLUTION
    return np.tanh(x @ U + h_prev @ W + b)
    ### END SOLUTION


# %% check="rnn_step"
check(rnn_step)

# %% [markdown]
# One line, and it is the heart of this course.

# %% [markdown]
# ### Experiment · the same input three times
#
# **Guess first:** hand the same input to a layer and to a cell, three times each, from a state of zeros. Which of the six
# answers are equal?
#
# **Claim:** a layer gives the same answer three times. A cell gives three different answers, because from the second time on it
# has something to remember.

# %% tags=["experiment"]
step, layer = use(rnn_step), use(hidden_layer)
x = np.array([[1.0, 2.0]])
U = np.array([[0.5, 1.0], [0.5, -1.0]])
W = np.array([[1.0, 3.0], [0.0, 1.0]])
b = np.array([-1.0, 0.5])

h = np.zeros((1, 2))
seen = []
for t in (1, 2, 3):
    h = np.asarray(step(x, h, U, W, b))
    seen.append(h)
    print(f"t = {t}   layer {np.round(layer(x, U, b), 3)}   cell {h.round(3)}")
assert np.allclose(seen[0], layer(x, U, b)), "Expected the layer's answer at the first step, from a state of zeros."
moves = np.abs(np.diff(seen, axis=0)).max(axis=(1, 2))
assert moves.min() > 0.05, "Expected three different states. Has rnn_step passed its check?"

# %% [markdown]
# From a state of zeros the first step *is* the layer: $h_0 W$ is zero. After that they part ways.
#
# ### Two products, or one
#
# The sum of the two products can be had as one. Put $x_t$ and $h_{t-1}$ side by side into one long row, stack $U$ on top of
# $W$, and multiply:
#
# $$x_t\, U + h_{t-1} W = \begin{bmatrix} x_t & h_{t-1} \end{bmatrix} \begin{bmatrix} U \\ W \end{bmatrix}$$
#
# With numbers: $\begin{bmatrix} 1 & 2 & 0.5 & -0.5 \end{bmatrix}$ times the four rows
# $\begin{bmatrix} 0.5 & 1 \end{bmatrix}$, $\begin{bmatrix} 0.5 & -1 \end{bmatrix}$,
# $\begin{bmatrix} 1 & 3 \end{bmatrix}$, $\begin{bmatrix} 0 & 1 \end{bmatrix}$ is
# $\begin{bmatrix} 2 & 0 \end{bmatrix}$, which is $\begin{bmatrix} 1.5 & -1 \end{bmatrix} +
# \begin{bmatrix} 0.5 & 1 \end{bmatrix}$. Some libraries keep their weights in this form.

# %% [markdown]
# ### Exercise 3.3 · `rnn_step_concat`
# *●●○ · 6 minutes · 2 points*
#
# Write the same step from the stacked matrix: `x (N, D)`, `h_prev (N, H)`, `UW (D+H, H)`, `b (H,)` give `h (N, H)`. The
# first $D$ rows of `UW` are $U$, the others are $W$.


# %% answer="rnn_step_concat"
def rnn_step_concat(x, h_prev, UW, b):
    """One step with one product: x (N, D), h_prev (N, H), UW = [U; W] (D+H, H), b (H,) -> h (N, H)."""
    ### BEGIN SOLUTION
    return np.tanh(np.concatenate([x, h_prev], axis=1) @ UW + b)
    ### END SOLUTION


# %% check="rnn_step_concat"
check(rnn_step_concat)

# %% [markdown]
# This is `hidden_layer` on a longer input. **A recurrent cell is a hidden layer that reads its own last answer beside the
# input.** There is no more to it than that.

# %% [markdown]
# ## 3 · Through time
#
# Unfolded, as in unit 02, the loop becomes a chain, with the *same* $U$, $W$ and $b$ at every step:

# %% tags=["experiment"]
from rnncourse.plots import folded_unfolded

show(
    folded_unfolded(3, relative=False),
    alt="Left: the cell as a circuit, with input x through U, a loop with W and a delay on the state h, output o through "
    "V. Right: the same unfolded over three steps from h0 on, with the same U, W and V at each step.",
)

# %% [markdown]
# Now with numbers in it. A cell of four units, drawn at random, reads *a b a a*, each letter as a one-hot vector. Each
# little square is one number: in a state, blue is $-1$, white 0, vermilion 1; in an input, blue is 1. The picture shows the end;
# below it, press *Play*, or walk through time with *Back* and *Next*. Watch the three *a*s: the same vector goes in, and each
# time another state comes out.

# %% tags=["experiment"]
from rnncourse.plots.through_time import forward_pass

step, rng = use(rnn_step), np.random.default_rng(3)
U, W, b = rng.normal(size=(3, 4)), 0.8 * rng.normal(size=(4, 4)), np.zeros(4)
letters = np.eye(3)[["abc".index(letter) for letter in "abaa"]]
h, passed = np.zeros((1, 4)), []
for x in letters:
    h = np.asarray(step(x[None], h, U, W, b))
    passed.append(h[0])

forward_pass(letters, np.zeros(4), np.array(passed), "abaa").show(
    alt="Left, the cell as a circuit, holding its last state; a copy of it waits in the delay. Right, the graph unfolded over "
    "the inputs a, b, a, a: each state is a row of four coloured squares. Under the three a's stands the same one-hot "
    "vector, and the states above them are three different ones."
)
apart = [np.abs(passed[i] - passed[j]).max() for i, j in [(0, 2), (0, 3), (2, 3)]]
assert min(apart) > 0.1, "Expected three different states under the three a's. Has rnn_step passed its check?"

# %% [markdown]
# We run $N$ sequences of the same length $T$ side by side. Time is the **first** axis, so that one index picks out a step:
# `X[0]` holds what all $N$ sequences read at the first step.
#
# | name | shape | |
# |---|---|---|
# | `X` | $(T, N, D)$ | time, sequence, feature |
# | `h0` | $(N, H)$ | the state before the first step, one row a sequence |
# | `H` | $(T, N, H)$ | the states *after* each step: `H[0]` is $h_1$, `H[-1]` is $h_T$ |
#
# By hand, with one unit, $U = 2$, $W = 1$, $b = 0$, $h_0 = 0$ and the inputs $1, 0, 0$:
# $h_1 = \tanh(2 \cdot 1 + 0) = 0.964$, then $h_2 = \tanh(0 + 0.964) = 0.746$, then $h_3 = \tanh(0.746) = 0.633$. The
# second and the third input were both 0, and the states differ: the cell still hears the 1.

# %% [markdown]
# ### Exercise 3.4 · `rnn_forward`
# *●●○ · 15 minutes · 4 points*
#
# Run the cell over whole sequences: `X (T, N, D)`, `h0 (N, H)` and `U, W, b` as before give all states `H (T, N, H)`,
# from $h_1$ to $h_T$. **A convention changes here:** `unfold_driven` of unit 02 counted the start in and gave $T + 1$ states. From
# now on `h0` is *not* in the result, so that `H[t]` belongs to `X[t]`. (When you call your `rnn_step`, a correct one stands in
# for it while this is checked: an error there costs nothing here.)
#
# `X` may hold whole numbers (a one-hot sequence often does); the states are floats all the same. By hand, the numbers above:
# $X$ of shape $(3, 1, 1)$ with the inputs $1, 0, 0$ gives `[[[0.964]], [[0.746]], [[0.633]]]`.


# %% answer="rnn_forward"
def rnn_forward(X, h0, U, W, b):
    """All states: X (T, N, D), h0 (N, H), U (D, H), W (H, H), b (H,) -> H (T, N, H), h_1 to h_T."""
    ### BEGIN SOLUTION
    h, states = h0, []
    for x in X:
        h = rnn_step(x, h, U, W, b)
        states.append(h)
    return np.stack(states)
    ### END SOLUTION


# %% check="rnn_forward"
check(rnn_forward)

# %% [markdown]
# You have a recurrent network that runs. The next experiments find out what kind of thing it is.

# %% [markdown]
# ### Experiment · what W does with a memory
#
# Knock once and listen. One unit reads a single 1 and then nothing but zeros. **Guess first:** what does it do with $W = 0$,
# $0.8$, $1$ and $2$?
#
# **Claim:** $W$ decides how long the knock is heard: with $W = 0$ it is gone at once, with $0.8$ it fades fast, with $1$ slowly,
# and with $W = 2$ it stays.
#
# (In a running notebook there is a slider below the picture. Find the smallest $W$ that holds the knock, and try one below 0.)

# %% tags=["experiment"]
from rnncourse.plots import Slider, explore, line_chart

forward = use(rnn_forward)
knock = np.zeros((25, 1, 1))
knock[0] = 1.0


def listen(w):
    """The states of one unit over 25 steps."""
    return np.ravel(forward(knock, np.zeros((1, 1)), np.array([[2.0]]), np.array([[w]]), np.zeros(1)))


def chart(lines, ylim=None):
    title = "One knock at t = 1, then silence"
    return line_chart(range(1, 26), lines, xlabel="time step t", ylabel="state $h_t$", title=title, ylim=ylim)


heard = {f"W = {w:g}": listen(w) for w in (2.0, 1.0, 0.8, 0.0)}
explore(
    lambda w: chart({f"W = {w:.2f}": listen(w)}, ylim=(-1.05, 1.05)),
    chart(heard),
    alt="The state of one unit after a single input at step 1, over 25 steps. With W = 2 it stays at 0.96; with W = 1 it "
    "fades slowly; with W = 0.8 it is near zero after about twenty steps; with W = 0 it is zero from step 2 on.",
    w=Slider("W", -2.0, 2.0, 1.2, step=0.05),
)
print("after 25 steps:", ", ".join(f"{name}: {states[-1]:.3f}" for name, states in heard.items()))
assert (heard["W = 2"] > 0.95).all(), "Expected W = 2 to stay above 0.95. Have all checks above passed?"
assert (heard["W = 0"][1:] == 0).all(), "Expected W = 0 to forget at once. Have all checks above passed?"
assert heard["W = 1"][-1] > 10 * heard["W = 0.8"][-1] > 0, "Expected W = 1 to last longer than W = 0.8."

# %% [markdown]
# With $W = 2$ the unit is a **latch**: 0.96 comes back as $\tanh(2 \cdot 0.96) \approx 0.96$, again and again. Had nobody
# knocked, it would have stayed at 0. One unit, one bit of memory: at the end of this unit it will hold the word *medicine*.

# %% [markdown]
# ### Experiment · the same input for ever
#
# Above, three equal inputs gave three different states. **Guess first:** and what if it goes on like this for ever? **Claim:** when
# the input is the same for ever, and $W$ is not too large, the states settle: they reach a **fixed point**
# $h^* = \tanh(x\,U + h^* W + b)$, and it is the same one wherever you start.
#
# Why? The tanh never pulls two numbers apart, and $W$ stretches no vector by more than its largest singular value
# $\lVert W \rVert$. If that is $0.9$, the distance between two runs shrinks by at least a tenth at every step.

# %% tags=["experiment"]
forward = use(rnn_forward)
rng = np.random.default_rng(2)
D, H, T = 3, 6, 40
U, W, b = rng.normal(size=(D, H)), rng.normal(size=(H, H)), np.zeros(H)
W *= 0.9 / np.linalg.norm(W, 2)  # now no vector is stretched by more than 0.9
X = np.tile(rng.normal(size=(1, 1, D)), (T, 4, 1))  # four runs over one and the same input
h0 = 3 * rng.normal(size=(4, H))  # from four different states
states = np.concatenate([h0[None], forward(X, h0, U, W, b)])

fixed_point = states[-1, 0]
one_more = np.tanh(X[0, 0] @ U + fixed_point @ W + b)
assert np.allclose(fixed_point, one_more, atol=1e-8), "Expected a fixed point. Has rnn_forward passed its check?"

distance = np.linalg.norm(states - fixed_point, axis=2)[:16]
lines = {f"start {n + 1}": distance[:, n] for n in range(4)}
figure = line_chart(
    range(16),
    lines | {"bound $0.9^t$": distance[0].max() * 0.9 ** np.arange(16)},
    xlabel="time step t",
    ylabel="distance from the fixed point",
    logy=True,
    title="Four runs from four states, the same input at every step",
)
figure.axes[0].set_xticks(range(0, 16, 5))
show(
    figure,
    alt="The distance of four runs from their common fixed point over 15 steps, on a log scale. All four fall in nearly "
    "straight lines, faster than the bound of 0.9 to the power t.",
)
assert (distance[1:] <= 0.9 * distance[:-1] + 1e-12).all(), (
    "Expected every step to take a tenth of the distance or more."
)
print("All four runs end in", fixed_point.round(3))

# %% [markdown]
# So a small $W$ makes a cell that forgets where it began, *for certain*. That is a comfort (one wrong input does no lasting
# harm) and a problem (one important input does no lasting good). The latch above needed $W > 1$. Unit 05 is about this
# dilemma.

# %% [markdown]
# ### Experiment · stop, go on
#
# **Claim:** cut a sequence anywhere, run the first part, keep its last state, and run the second part from there: you get
# the states of the whole run. (Afterwards start the second part from zeros, and see the assert speak.)

# %% tags=["experiment"]
forward = use(rnn_forward)
text = python_docs(60)
chars = sorted(set(text))
X = np.eye(len(chars))[[chars.index(c) for c in text]][:, None]  # (T, 1, D)
rng = np.random.default_rng(3)
U, W, b = rng.normal(size=(len(chars), 8)), rng.normal(size=(8, 8)) / 3, np.zeros(8)
h0 = rng.normal(size=(1, 8))

whole = forward(X, h0, U, W, b)
for cut in range(1, len(X)):
    first = forward(X[:cut], h0, U, W, b)
    second = forward(X[cut:], first[-1], U, W, b)
    assert np.allclose(np.concatenate([first, second]), whole, atol=1e-12), (
        f"Expected the same states when cut after {cut} letters. Has rnn_forward passed its check?"
    )
print(f"{len(X) - 1} cuts, no difference: the state is all that the second part needs to know of the first.")

# %% [markdown]
# That is what "state" means: **given $h_t$, the past is not needed any more.** A phone can follow a conversation for an hour
# and keep $H$ numbers instead of the sound.

# %% [markdown]
# ### Experiment · nobody reads the future
#
# **Claim:** a state depends on its own input and on every input before it, never on a later one. The tool is `depends_on` of
# unit 02. **Guess first:** draw its grid for the layer and for the cell.

# %% tags=["experiment"]
from rnncourse.plots import dependence_grid

forward, layer = use(rnn_forward), use(hidden_layer)
rng = np.random.default_rng(4)
U, W, b = rng.normal(size=(3, 5)), rng.normal(size=(5, 5)) / 2, np.zeros(5)
xs = rng.normal(size=(8, 3)) / 2
grids = {
    "layer without a state": depends_on(lambda xs: layer(xs, U, b), xs),
    "recurrent cell": depends_on(lambda xs: np.asarray(forward(xs[:, None], np.zeros((1, 5)), U, W, b))[:, 0], xs),
}
show(
    dependence_grid(grids),
    alt="Two grids of 8 outputs by 8 inputs. Layer without a state: only the diagonal is filled. Recurrent cell: the "
    "diagonal and everything below it is filled, nothing above.",
)
assert np.array_equal(grids["layer without a state"], np.eye(8, dtype=bool)), "Expected the diagonal alone."
assert np.array_equal(grids["recurrent cell"], np.tri(8, dtype=bool)), (
    "Expected the diagonal and all below it. Has rnn_forward passed its check?"
)

# %% [markdown]
# ### The network as a graphical model
#
# That triangle is one of two ways to draw the same distribution. On the left is the chain rule of unit 01: an arrow from every
# word to every later one. On the right the state of unit 02 stands in between, and each word depends *directly* on one $h$ alone.

# %% tags=["experiment"]
from rnncourse.plots.cell import graphical_models

show(
    graphical_models(),
    alt="Left, four words in a row, with an arrow from each to every later one, six in all. Right, the same words, with three "
    "hidden states above them: each word leads to the state after it, each state to the next state and to the next word.",
)

# %% [markdown]
# Count the arrows: $T(T-1)/2$ on the left, $3T - 4$ on the right. That is 6 and 8 for four words, 499,500 and 2,996 for a
# thousand. Yet nothing was given up, as an n-gram gives up its long arrows: the states are computed, not left to chance, and whoever
# takes them out of the picture has the left one back, every word on all before. What is assumed is only that one and the same
# rule holds at every step.

# %% [markdown]
# ### Exercise 3.5 · `quiz_rnn_facts`
# *●○○ · 6 minutes · 2 points*
#
# Which of these statements about recurrent networks are true?
#
# - **A** Hidden states pass information on from earlier steps to later ones.
# - **B** A recurrent network can read text only.
# - **C** The matrix $W$ is the same, reused at every time step.
# - **D** The longer the sequence, the more parameters the network has.
# - **E** $n$ sequences of vectors, all of one length, make an input array with three axes.
#
# Answer with the set of the true ones, in the form `{"B", "D"}`.

# %% answer="quiz_rnn_facts"
quiz_rnn_facts = None  # put a set of letters in place of None, and delete what stands below
### BEGIN SOLUTION
quiz_rnn_facts = {"A", "C", "E"}
### END SOLUTION

# %% check="quiz_rnn_facts"
check(quiz_rnn_facts, "quiz_rnn_facts")

# %% [markdown]
# ## 4 · What comes out
#
# A state is the network's private notebook. To tell the world something, it needs an **output layer**, a plain weighted
# sum of the state:
#
# $$o_t = h_t V + c$$
#
# $V$ $(H, Q)$ leads from hidden to output, $c$ is $(Q,)$. The $Q$ numbers in $o_t$ are called **logits**: scores of any
# sign and size, one for each thing that the network could say.
#
# By hand: $h = \begin{bmatrix} 1 & -1 \end{bmatrix}$,
# $V = \begin{bmatrix} 1 & 2 & 0 \\ 0 & 1 & 3 \end{bmatrix}$, $c = \begin{bmatrix} 0 & 0 & 10 \end{bmatrix}$ give
# $o = \begin{bmatrix} 1 & 1 & -3 \end{bmatrix} + c = \begin{bmatrix} 1 & 1 & 7 \end{bmatrix}$.

# %% [markdown]
# ### Exercise 3.6 · `output_layer`
# *●○○ · 5 minutes · 1 point*
#
# Write it for the states of one step, `H (N, H)`, which give `(N, Q)`, and for those of a whole run, `H (T, N, H)`, which
# give `(T, N, Q)`. One expression does both, if you know what `@` does with three axes. (Yes, `H` names the array and
# $H$ its last axis; the field is like that.)


# %% answer="output_layer"
def output_layer(H, V, c):
    """Logits: H (N, H) or (T, N, H), V (H, Q), c (Q,) -> (N, Q) or (T, N, Q)."""
    ### BEGIN SOLUTION
    return H @ V + c
    ### END SOLUTION


# %% check="output_layer"
check(output_layer)

# %% [markdown]
# ### From logits to probabilities
#
# Probabilities are positive and sum to one. `exp` does the first, a division the second:
#
# $$y_i = \operatorname{softmax}(o)_i = \frac{e^{o_i}}{\sum_j e^{o_j}}$$
#
# By hand: the logits $\begin{bmatrix} \ln 1 & \ln 2 & \ln 5 \end{bmatrix}$ give
# $\begin{bmatrix} \tfrac18 & \tfrac28 & \tfrac58 \end{bmatrix}$.
#
# There is a trap. $e^{1000}$ is too large for a float: it becomes `inf`, and `inf / inf` is `nan`. But **adding the same number
# to all logits changes nothing**, since $e^{o_i + m} = e^{m} e^{o_i}$ and the $e^{m}$ cancels. So subtract the row's largest logit
# first: then the largest of the exponentials is $e^0 = 1$.

# %% [markdown]
# ### Exercise 3.7 · `softmax`
# *●●○ · 12 minutes · 3 points*
#
# Write it along the **last** axis of an array of *any* number of axes: `(Q,)`, `(N, Q)`, `(T, N, Q)` and so on. Logits of a
# thousand, of either sign, must come out right, even side by side in one array. A logit of `-inf` beside finite ones gets
# probability 0.
#
# Two that you can check in your head: `softmax([[1000, 1000]])` is `[[0.5, 0.5]]`, and `softmax([[0, -inf]])` is
# `[[1, 0]]` (as arrays).


# %% answer="softmax"
def softmax(O):
    """Probabilities along the last axis: O (..., Q) -> Y (..., Q)."""
    ### BEGIN SOLUTION
    E = np.exp(O - O.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)
    ### END SOLUTION


# %% check="softmax"
check(softmax)

# %% [markdown]
# ### Exercise 3.8 · `rnn_predict`
# *●●○ · 8 minutes · 2 points*
#
# Run the whole network: `X (T, N, D)`, `h0 (N, H)`, `U, W, b`, `V (H, Q)`, `c (Q,)` give the pair `(Y, H)`: the
# probabilities `Y (T, N, Q)` of every step, and all states `H (T, N, H)`. The output of step $t$ is read off $h_t$, the
# state that *has* seen $x_t$.
#
# By hand: the unit of section 3, with its states $0.964, 0.746, 0.633$, gets two outputs,
# $V = \begin{bmatrix} 0 & 2 \end{bmatrix}$ and $c = 0$. The logits of the first step are $0$ and $1.928$, so the second
# output has the probability $e^{1.928} / (e^0 + e^{1.928}) = 0.873$. At the next steps it is $0.816$ and $0.780$.


# %% answer="rnn_predict"
def rnn_predict(X, h0, U, W, b, V, c):
    """Probabilities and states: X (T, N, D), h0 (N, H), U, W, b, V (H, Q), c (Q,) -> Y (T, N, Q), H (T, N, H)."""
    ### BEGIN SOLUTION
    H = rnn_forward(X, h0, U, W, b)
    return softmax(output_layer(H, V, c)), H
    ### END SOLUTION


# %% check="rnn_predict"
check(rnn_predict)

# %% [markdown]
# That is the whole forward pass of a recurrent network: sequences in, probabilities out.
#
# ### Experiment · the trained network on your own functions
#
# **Claim:** with the five arrays of the trained network, your functions write, letter for letter, what it wrote at the beginning
# of this unit. (At temperature 1; `sample_index` is that of unit 01.)

# %% tags=["experiment", "nbval-ignore-output"]
predict = use(rnn_predict)
five_arrays = [trained.parameters[name] for name in "UWbVc"]
one_hot = np.eye(len(trained.chars), dtype=np.float32)


def from_zeros(N):
    return np.zeros((N, 160), dtype=np.float32)


def writes(start, uniforms):
    """Your network reads `start` and writes on: each character that is drawn is its next input."""
    Y, H = predict(one_hot[trained.ids(start)][:, None], from_zeros(1), *five_arrays)
    drawn = [sample_index(Y[-1, 0], uniforms[0])]
    for u in uniforms[1:]:
        Y, H = predict(one_hot[drawn[-1:]][:, None], H[-1], *five_arrays)  # from the state that is there
        drawn.append(sample_index(Y[-1, 0], u))
    return "".join(trained.chars[i] for i in drawn)


print(mine := writes("The value of ", np.random.default_rng(1).random(200)))
theirs = goes_on("The value of ", 200, temperature=1.0)
assert mine[:100] == theirs[:100], "Expected the trained network's own text. Has rnn_predict passed its check?"

# %% [markdown]
# ### Experiment · what may the first state be?
#
# Zeros, in most programs: nothing has been read, so nothing is known. It may be drawn at random. It may be learned, like $b$. Or
# it is the state in which another run ended. **Guess first:** from which of them does the trained network predict best, and
# after how many characters is it all the same?
#
# **Claim:** from a random first state the trained network's first prediction costs at least half a bit more than from zeros; after
# ten characters it costs less than a tenth of a bit more.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.data import train_and_held_out

predict = use(rnn_predict)
unread = trained.ids(train_and_held_out("python-docs")[1])


def bits_from(kind, seed=0):
    """Bits for the second to the twenty-first character of a thousand pieces of unread text, (20,)."""
    rng = np.random.default_rng(seed)
    pieces, others = (unread[rng.integers(len(unread) - 21, size=1000) + np.arange(21)[:, None]] for _ in range(2))
    h0 = from_zeros(1000)
    if kind == "random":
        h0 = rng.uniform(-1, 1, h0.shape).astype(np.float32)
    elif kind == "another text":
        h0 = predict(one_hot[others], h0, *five_arrays)[1][-1]
    Y, _ = predict(one_hot[pieces[:-1]], h0, *five_arrays)
    return -np.log2(np.take_along_axis(Y, pieces[1:, :, None], axis=2))[..., 0].mean(axis=1)


bits = {kind: bits_from(kind) for kind in ("random", "another text", "zeros")}
figure = line_chart(range(1, 21), bits, xlabel="characters read", ylabel="bits for the next character")
figure.axes[0].set_xticks([1, 5, 10, 15, 20])
show(
    figure,
    alt="Bits for the next character against characters read, for three first states. After one character the random state is "
    "worst; all three fall, and lie on one line from about the tenth character on.",
)
for kind, values in bits.items():
    print(f"{kind:<13} after 1, 2, 3, 5, 10, 20 characters:", *(f"{values[k]:.2f}" for k in (0, 1, 2, 4, 9, 19)))
more = bits["random"] - bits["zeros"]
assert more[0] > 0.5, "Expected a random state to cost half a bit more. Has rnn_predict passed its check?"
assert more[9:].max() < 0.1, "Expected hardly a difference after ten characters."

# %% [markdown]
# The end of another text is nearly as bad as chance: that state is sure of something else. But within ten characters the trained
# cell has forgotten any start. So zeros are good enough, and a learned $h_0$ brings little: unit 07 trains networks with each
# kind, and finds a loss of {{07_torch_rnn:first_state/zeros/loss|median}} from zeros and
# {{07_torch_rnn:first_state/learned/loss|median}} from a learned one. For a latch it is different: the unit with $W = 2$, started
# at $0.5$, goes to $0.957$ without any knock, and stays.

# %% [markdown]
# ### Exercise 3.9 · `quiz_output_size`
# *●○○ · 3 minutes · 1 point*
#
# A network with $H = 100$ hidden units is to learn to write the text `banana bread`. It reads one character at a time, and
# after each it says how probable every possible next character is. Its vocabulary is exactly the characters that occur in
# this text. How many outputs, $Q$, does it need? Answer with a whole number.

# %% answer="quiz_output_size"
quiz_output_size = None  # put a whole number in place of None, and delete what stands below
### BEGIN SOLUTION
quiz_output_size = 7
### END SOLUTION

# %% check="quiz_output_size"
check(quiz_output_size, "quiz_output_size")

# %% [markdown]
# ## 5 · What is shared, and what it costs
#
# Five arrays hold everything that the network knows, and the same five serve every step:
#
# | $U$ | $W$ | $b$ | $V$ | $c$ |
# |---|---|---|---|---|
# | $(D, H)$ | $(H, H)$ | $(H,)$ | $(H, Q)$ | $(Q,)$ |
#
# By hand, for $D = 2$, $H = 3$, $Q = 4$: $6 + 9 + 3 + 12 + 4 = 34$ numbers, for ten steps as for a million.

# %% [markdown]
# ### Exercise 3.10 · `rnn_parameter_count`
# *●○○ · 4 minutes · 1 point*
#
# Count the numbers in all five arrays: `rnn_parameter_count(D, H, Q)` is a whole number, an `int`. So
# `rnn_parameter_count(2, 3, 4)` is 34.


# %% answer="rnn_parameter_count"
def rnn_parameter_count(D, H, Q):
    """How many numbers U (D, H), W (H, H), b (H,), V (H, Q) and c (Q,) hold together."""
    ### BEGIN SOLUTION
    return D * H + H * H + H + H * Q + Q
    ### END SOLUTION


# %% check="rnn_parameter_count"
check(rnn_parameter_count)

# %% [markdown]
# %% [markdown]
# ### Exercise 3.11 · `quiz_shapes`
# *●○○ · 4 minutes · 1 point*
#
# A language model reads English words. Each word is first turned into an **embedding**, a vector of 300 numbers, and that
# vector is the cell's input. The hidden state has 100 units. After each word the model gives a probability to each of the
# 10,000 words of its vocabulary. Which shapes do $U$, $V$ and $W$ have, in this course's notation? Answer with a dict of
# tuples, in the form `{"U": (1, 2), "V": (3, 4), "W": (5, 6)}`.

# %% answer="quiz_shapes"
quiz_shapes = None  # put a dict of tuples in place of None, and delete what stands below
### BEGIN SOLUTION
quiz_shapes = {"U": (300, 100), "V": (100, 10_000), "W": (100, 100)}
### END SOLUTION

# %% check="quiz_shapes"
check(quiz_shapes, "quiz_shapes")

# %% [markdown]
# Add them up, with $b$ and $c$: 1,050,100 numbers, however many words are read, where an 11-gram table has $10^{44}$ entries. Of
# these, 1,010,000 are $V$ and $c$: the vocabulary is expensive, the memory is not.

# %% [markdown]
# ## 6 · One cell, many notations
#
# Open three books and you find three formulas for the same cell. What differs is whether vectors are rows or columns, which
# letter means what, and whether the subscript reads "from, to" or "to, from".
#
# | where | the formula there | in our letters |
# |---|---|---|
# | **this course** (rows) | $h_t = \tanh(x_t U + h_{t-1} W + b)$ | |
# | Goodfellow, Bengio & Courville (columns) | $a = b + W h + U x$, $h = \tanh(a)$, $o = c + V h$ | their $U, W, V$ are our $U^\top, W^\top, V^\top$ |
# | *Dive into Deep Learning* (rows) | $\tanh(X W_{xh} + H W_{hh} + b_h)$, output $H W_{hq} + b_q$ | $W_{xh} = U$, $W_{hh} = W$, $W_{hq} = V$ |
# | Sutskever, Martens & Hinton 2011 (columns, "to, from") | $h_t = \tanh(W_{hx} x_t + W_{hh} h_{t-1} + b_h)$, $W_{oh} h_t + b_o$ | $W_{hx} = U^\top$, $W_{hh} = W^\top$, $W_{oh} = V^\top$ (elsewhere $W_{yh}$) |
# | UBC's course DSCI 575 (columns), with $x \in \mathbb{R}^d$, $s \in \mathbb{R}^p$, $y \in \mathbb{R}^q$ | $s_t = \tanh(W s_{t-1} + U x_t + b_1)$, $\hat y_t = \operatorname{softmax}(V s_t + b_2)$ | $s = h$, $b_1 = b$, $b_2 = c$; its $U_{d \times p}, V_{p \times q}$ are **our** $U, V$ and do not fit its formula |
# | Jurafsky & Martin (columns) | $h_t = g(U h_{t-1} + W x_t)$ | **swapped**: their $U$ is our $W^\top$, their $W$ our $U^\top$ |
# | PyTorch `nn.RNN` (rows, weights stored transposed) | $\tanh(x_t A^\top + b_{ih} + h_{t-1} B^\top + b_{hh})$ | $A = U^\top$ `weight_ih_l0 (H, D)`, $B = W^\top$ `weight_hh_l0 (H, H)`, $b_{ih} + b_{hh} = b$ |
#
# Look at the row of UBC. A column $x_t$ of $d$ numbers can be multiplied from the left by a matrix of $p \times d$, not by one of
# $d \times p$. Formula and shapes come from two conventions, and one of them must be transposed. It happens in the best of
# courses: check shapes before you copy a formula.
#
# Do not trust a table: run it. Each row is one line of code.
#
# **Claim:** the cell in six other notations gives the same state as in ours; and UBC's $U x_t$, with its shapes, does not exist.

# %% tags=["experiment"]
step = use(rnn_step)
rng = np.random.default_rng(5)
D, H = 3, 4
x, h_prev = rng.normal(size=(1, D)), rng.normal(size=(1, H))
U, W, b = rng.normal(size=(D, H)), rng.normal(size=(H, H)), rng.normal(size=H)
ours = np.asarray(step(x, h_prev, U, W, b))
SAME = "in their notation. Has rnn_step passed its check?"
x_column, h_column, b_column = x.T, h_prev.T, b[:, None]  # vectors as columns

# Goodfellow, Bengio and Courville
U_, W_ = U.T, W.T
assert np.allclose(np.tanh(b_column + W_ @ h_column + U_ @ x_column).T, ours), f"Expected our state {SAME}"

# Dive into Deep Learning
W_xh, W_hh, b_h = U, W, b
assert np.allclose(np.tanh(x @ W_xh + h_prev @ W_hh + b_h), ours), f"Expected our state {SAME}"

# Sutskever, Martens and Hinton: "to, from"
W_hx, W_hh = U.T, W.T
assert np.allclose(np.tanh(W_hx @ x_column + W_hh @ h_column + b_column).T, ours), f"Expected our state {SAME}"

# UBC: the formula is in columns, the shapes are for rows
U_dp, W_pp, b_1 = U, W, b_column
try:
    U_dp @ x_column
    fits = True
except ValueError:
    fits = False
assert not fits, "Expected U (d, p) and a column x (d, 1) not to fit."
assert np.allclose(np.tanh(W_pp.T @ h_column + U_dp.T @ x_column + b_1).T, ours), f"Expected our state {SAME}"

# Jurafsky and Martin, who leave the bias out
U_, W_ = W.T, U.T
without_bias = step(x, h_prev, U, W, np.zeros(H))
assert np.allclose(np.tanh(U_ @ h_column + W_ @ x_column).T, without_bias), f"Expected our state {SAME}"

# PyTorch
weight_ih, weight_hh, bias_ih, bias_hh = U.T, W.T, b / 2, b / 2
theirs = np.tanh(x @ weight_ih.T + bias_ih + h_prev @ weight_hh.T + bias_hh)
assert np.allclose(theirs, ours), f"Expected our state {SAME}"
print("Six other notations, the same state:", ours.round(3))

# %% [markdown]
# ### Exercise 3.12 · `to_torch_state`
# *●●● · 12 minutes · 3 points*
#
# `torch.nn.RNN(D, H)` keeps its weights in a dict with four entries. Make that dict from our `U (D, H)`, `W (H, H)` and
# `b (H,)`, as NumPy arrays of the same dtype:
#
# | key | shape |
# |---|---|
# | `"weight_ih_l0"` | `(H, D)` |
# | `"weight_hh_l0"` | `(H, H)` |
# | `"bias_ih_l0"` | `(H,)` |
# | `"bias_hh_l0"` | `(H,)` |
#
# (`ih` is input to hidden, `hh` hidden to hidden, `l0` the first layer.) The two biases are added, so any two that sum to
# `b` are right. No array in the dict may share memory with `U`, `W` or `b`: whoever goes on training with the dict must not
# change your weights behind your back. Beware, `U.T` copies nothing: it is another view of the same numbers.
#
# For example, $U = \begin{bmatrix} 1 & 2 & 3 \end{bmatrix}$, which is $(1, 3)$, becomes a `weight_ih_l0` of three rows
# with one number each.


# %% answer="to_torch_state"
def to_torch_state(U, W, b):
    """U (D, H), W (H, H), b (H,) -> the dict that torch.nn.RNN(D, H) loads, as NumPy arrays that share no memory."""
    ### BEGIN SOLUTION
    return {
        "weight_ih_l0": U.T.copy(),
        "weight_hh_l0": W.T.copy(),
        "bias_ih_l0": b.copy(),
        "bias_hh_l0": np.zeros_like(b),
    }
    ### END SOLUTION


# %% check="to_torch_state"
check(to_torch_state)

# %% [markdown]
# ### Experiment · your cell against PyTorch's
#
# **Claim:** load your dict into `torch.nn.RNN`, let both read real text, and the states differ by less than a millionth.
#
# (Importing torch takes a moment.)

# %% tags=["experiment", "nbval-ignore-output"]
import torch

forward, convert = use(rnn_forward), use(to_torch_state)
text = python_docs(500)
chars = sorted(set(text))
X = np.eye(len(chars))[[chars.index(c) for c in text]][:, None]  # (500, 1, D)
rng = np.random.default_rng(6)
U, W, b = rng.normal(size=(len(chars), 20)), rng.normal(size=(20, 20)) / 5, rng.normal(size=20)

theirs = torch.nn.RNN(len(chars), 20, dtype=torch.float64)
theirs.load_state_dict({name: torch.as_tensor(np.asarray(array)) for name, array in convert(U, W, b).items()})
with torch.no_grad():
    their_states, _ = theirs(torch.from_numpy(X))
difference = np.abs(their_states.numpy() - forward(X, np.zeros((1, 20)), U, W, b)).max()
print(f"500 characters, 20 units, the largest difference is {difference:.0e}")
assert difference < 1e-6, (
    "Expected the states of torch.nn.RNN. Have rnn_forward and to_torch_state passed their checks?"
)

# %% [markdown]
# What you wrote in one line is what the library computes.

# %% [markdown]
# ## 7 · What went wrong
#
# A wrong network rarely crashes. It prints numbers of the right shape, and they mean nothing.
#
# ### Case one · the network that says 0
#
# Somebody replaces the tanh by a ReLU, $\max(0, a)$. The inputs are the lengths of the lines in Python's documentation, in units
# of 80 characters. Run the cell, look at $U$, and find the reason before you read on.

# %% tags=["experiment"]
lengths = np.array([len(line) / 80 for line in python_docs(4000).split("\n")])
X = lengths[:, None, None]  # (T, 1, 1)


def relu_forward(X, h0, U, W, b):
    h, states = h0, []
    for x in X:
        h = np.maximum(0, x @ U + h @ W + b)
        states.append(h)
    return np.stack(states)


rng = np.random.default_rng(8)
U, W, b = rng.normal(size=(1, 3)), rng.normal(size=(3, 3)) / 2, np.zeros(3)
states = relu_forward(X, np.zeros((1, 3)), U, W, b)
print("U =", U.round(2))
print("states of the first four lines:")
print(states[:4, 0])
print("the largest state of all:", states.max())
assert (states == 0).all(), "Expected nothing but zeros: was the seed, or U, changed?"
assert lengths.min() == 0 < 0.5 < lengths.max(), "Expected empty lines and long ones in the documentation."

# %% [markdown]
# All three weights are negative, and a length never is. So the sum is never positive at the first step, the ReLU gives 0, and
# from a state of 0 the second step is in the same position as the first. The cell is **dead**. (And it stays dead: where the
# ReLU gives 0 its slope is 0 too, so training cannot change $U$.)
#
# Is that bad luck? With one input that is never negative, $b = 0$ and $h_0 = 0$, it takes a negative weight in $U$ for each of
# the $H$ units: one random network in $2^H$, here one in eight. Repair it in the cell above, in three ways: centre the inputs, give $b$ a small positive
# start, put the tanh back. (ReLU cells can work, with $W$ near the identity: Le, Jaitly & Hinton below.) **When a network prints
# zeros, look at the sums that go into its ReLU before you look at anything else.**

# %% [markdown]
# ### Case two · the network that seems to work
#
# Somebody handed in the next class, and had tested it, once. Read it, and look for the two bugs before you run the next cell.
#
# **Claim:** the class that was handed in passes its author's test; and yet it answers differently when it is asked twice, one
# sequence changes the answers to another, and a batch of four sequences raises an error.


# %% locked="handed_in"
class HandedInNetwork:
    """A recurrent network that gives the logits of every step, for X (T, N, D). Handed in with two bugs."""

    def __init__(self, U, W, b, V, c):
        self.U, self.W, self.b, self.V, self.c = U, W, b, V, c
        self.h = None

    def forward(self, X):
        if self.h is None:
            self.h = np.zeros((X.shape[1], self.W.shape[0]), dtype=X.dtype)
        states = []
        for x in X:
            self.h = np.tanh(x @ self.U + self.h @ self.W + self.b)
            states.append(self.h)
        return np.tensordot(np.stack(states), self.V, axes=(1, 0)) + self.c


# %% tags=["experiment"]
rng = np.random.default_rng(84)
T, N, D, H, Q = 5, 3, 4, 3, 2
parameters = [rng.normal(size=shape) for shape in ((D, H), (H, H), (H,), (H, Q), (Q,))]
X = rng.normal(size=(T, N, D))

# The test that its author made: it passes.
O = HandedInNetwork(*parameters).forward(X)
print("shape", O.shape, "for T, N, Q =", (T, N, Q), "  entries that are not finite:", int((~np.isfinite(O)).sum()))
assert O.shape == (T, N, Q), "Expected the shape (T, N, Q). Was HandedInNetwork changed? Restart, and run again."
assert np.isfinite(O).all(), "Expected finite numbers. Was HandedInNetwork changed? Restart, and run again."

# Symptom 1: ask one network the same thing twice.
network = HandedInNetwork(*parameters)
first, second = network.forward(X), network.forward(X)
print("\nsequence 0, last step, first call: ", first[-1, 0].round(3))
print("sequence 0, last step, second call:", second[-1, 0].round(3))
assert np.abs(first - second).max() > 0.1, "Expected another answer at the second call: was HandedInNetwork changed?"

# Symptom 2: change sequence 2, and look at sequence 0.
other = X.copy()
other[:, 2] = -other[:, 2]
changed = HandedInNetwork(*parameters).forward(other)
print("\nsequence 0, last step:                 ", first[-1, 0].round(3))
print("the same, after sequence 2 has changed:", changed[-1, 0].round(3))
moved = np.abs(first[:, 0] - changed[:, 0]).max()
assert moved > 0.1, "Expected sequence 2 to change the answers to sequence 0: was HandedInNetwork changed?"

# Symptom 3: four sequences where there were three.
raised = None
try:
    HandedInNetwork(*parameters).forward(rng.normal(size=(T, 4, D)))
except ValueError as error:
    raised = error
print("\nwith N = 4:", type(raised).__name__)
assert raised is not None, "Expected a ValueError for four sequences: was HandedInNetwork changed?"

# %% [markdown]
# Its author made one call, with $N = H = 3$: a product over the wrong axis still fits, and in one call a state that is kept too
# long does no harm. **Test with sizes that all differ, and call twice.**

# %% [markdown]
# ### Exercise 3.13 · `Network`
# *●●● · 15 minutes · 4 points*
#
# Repair it. `Network(U, W, b, V, c)` holds the parameters; `forward(X)` takes `X (T, N, D)` and gives the logits
# `(T, N, Q)`. Every call starts from a state of zeros, with a row for each sequence of this `X`, and no sequence of a batch
# has anything to do with the others. Copy the class from above and find the two bugs, or write your own.


# %% answer="Network"
class Network:
    """A recurrent network that gives the logits of every step. Each call of `forward` starts from zeros."""

    def __init__(self, U, W, b, V, c):
        ### BEGIN SOLUTION
        self.U, self.W, self.b, self.V, self.c = U, W, b, V, c
        ### END SOLUTION

    def forward(self, X):
        """X (T, N, D) -> logits (T, N, Q)."""
        ### BEGIN SOLUTION
        h = np.zeros((X.shape[1], self.W.shape[0]), dtype=X.dtype)
        states = []
        for x in X:
            h = rnn_step(x, h, self.U, self.W, self.b)
            states.append(h)
        return np.stack(states) @ self.V + self.c
        ### END SOLUTION


# %% check="Network"
check(Network)

# %% [markdown]
# When a result depends on what you ran before, think of a state that outlives its call. When a sequence feels its neighbours, look
# at the axis that a product contracts.

# %% [markdown]
# ## 8 · A cell reads
#
# How much of a memory does training bring, and how much is there without? The cell below has never been trained: $U$ and $W$ are
# drawn at random. It reads Python's documentation, character by character. On the first half of the text we fit a plain weighted
# sum (a *readout*) that is to tell from the state at time $t$ which character was read $k$ steps *ago*, and try it on the second
# half. **Guess first:** how far back does it reach?
#
# **Claim:** from the state of an untrained cell, the readout names the character of up to three steps ago right more than
# 80% of the time. From a layer without a state it stays below 40% from the first step back on: all it can do is guess from
# the letter at hand.

# %% tags=["experiment"]
text = python_docs(24_000)
chars = sorted(set(text))
ids = np.array([chars.index(c) for c in text])
X_text = np.eye(len(chars))[ids][:, None]  # (T, 1, D)


def random_cell(D, H, seed, radius=0.95, loudness=0.3):
    """Random weights: the largest eigenvalue of W has size 0.95, so that the state fades slowly."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(H, H))
    return loudness * rng.normal(size=(D, H)), radius * W / np.abs(np.linalg.eigvals(W)).max(), np.zeros(H)


forward, layer = use(rnn_forward), use(hidden_layer)
U, W, b = random_cell(len(chars), 200, seed=9)
half, lags = len(ids) // 2, range(16)


def recalled(features):
    """The share of characters read k steps ago that a weighted sum of the features names right, for each k."""
    A = np.hstack([features, np.ones((len(features), 1))])
    inverse = np.linalg.inv(A[20:half].T @ A[20:half] + 1e-3 * np.eye(A.shape[1])) @ A[20:half].T
    shares = []
    for k in lags:
        readout = inverse @ X_text[20 - k : half - k, 0]
        shares.append(np.mean((A[half:] @ readout).argmax(axis=1) == ids[half - k : len(ids) - k]))
    return np.array(shares)


with_state = recalled(np.asarray(forward(X_text, np.zeros((1, 200)), U, W, b))[:, 0])
without = recalled(np.asarray(layer(X_text[:, 0], U, b)))
show(
    line_chart(
        lags,
        {"recurrent cell": with_state, "layer without\na state": without},
        xlabel="k: how many steps ago the character was read",
        ylabel="share named right (unseen text)",
        title="What an untrained state remembers of real text",
    ),
    alt="The share of characters recalled against how many steps ago they were read. The layer without a state falls "
    "from 1 to about 0.2 at one step. The cell stays above 0.9 for three steps and then falls slowly to the same level.",
)
for name, shares in (("cell", with_state), ("layer", without)):
    print(f"{name:6}", "  ".join(f"k = {k}: {shares[k]:.2f}" for k in (0, 1, 3, 6, 10)))
assert without[0] > 0.9, "Expected the layer to name the letter at hand. Has hidden_layer passed its check?"
assert without[1:].max() < 0.4, "Expected the layer to know little of earlier letters."
assert with_state[:4].min() > 0.8, "Expected above 80% up to three steps back. Has rnn_forward passed its check?"
assert with_state[6] > without[6] + 0.2, (
    "Expected traces of the letter six steps back. Has rnn_forward passed its check?"
)

# %% [markdown]
# A state of 200 numbers that nobody trained holds the last few characters, in a form that a weighted sum can read, and
# traces of some more: a memory *by construction*. How far it reaches depends on how it was drawn. Six steps back, this kind
# of cell is right in {{recall/200 units/k = 6|median .0%}}; with $U$ ten times smaller, so that the tanh stays nearly
# straight, in {{recall/quiet input/k = 6|median .0%}}; with a $W$ of half the size in {{recall/radius 0.5/k = 6|median .0%}}; and
# with 50 units in {{recall/50 units/k = 6|median .0%}}. What it cannot do untrained is keep what matters: it remembers a comma
# as well as the word on which the sentence turns, and then forgets both.

# %% [markdown]
# ## 9 · A network whose every weight you can read
#
# To keep what matters, we set the weights by hand. The three sentences use 17 different words. We need two kinds of hidden units:
#
# - **17 units that see the word at hand**: unit $i$ has $U = 2$ from word $i$ and $W = 0$. It is at $0.96$ when its word
#   is read, and at 0 one step later.
# - **4 latches**, as in section 3, $U = 2$ from a word and $W = 2$ from itself: for *medicine*, *law*, *history*, and
#   *because*. Each is 0 until its word comes and stays at $0.96$ from then on.
#
# $V$ then says what follows. Each word votes for its successors. The professions get half of their votes from the word
# "a" and half from the latch of their subject. "I" comes twice: it votes for *am*, and less for *want*, and the latch
# of *because* reverses that.
#
# **Claim:** with weights set by hand, the network gives the right profession a probability above 99%, and its perplexity on
# the three sentences is within a thousandth of the lowest that any model can have.

# %% tags=["experiment"]
from itertools import pairwise

latches = ["medicine", "law", "history", "because"]
D = Q = len(vocabulary)
H = D + len(latches)
U, W, b, V, c = np.zeros((D, H)), np.zeros((H, H)), np.zeros(H), np.zeros((H, Q)), np.zeros(Q)
U[:, :D] = 2 * np.eye(D)
latch = {word: D + k for k, word in enumerate(latches)}
for word, unit in latch.items():
    U[word_index[word], unit] = 2
    W[unit, unit] = 2

SURE, HALF = 24, 12
goals = {"medicine": "doctor", "law": "lawyer", "history": "historian"}
for sentence in sentences:
    for word, following in pairwise(sentence):
        V[word_index[word], word_index[following]] = SURE
for subject, goal in goals.items():
    V[word_index["a"], word_index[goal]] = HALF
    V[latch[subject], word_index[goal]] = HALF
V[word_index["I"], word_index["am"]], V[word_index["I"], word_index["want"]] = SURE, HALF
V[latch["because"], word_index["am"]], V[latch["because"], word_index["want"]] = -HALF, HALF

predict = use(rnn_predict)
Y, states = map(np.asarray, predict(X_words, np.zeros((3, H)), U, W, b, V, c))
five_gram = grammar.ngram(5)["to", "work", "as", "a"]
print("… to work as a              5-gram   this network")
for n, sentence in enumerate(sentences):
    goal = sentence[-1]
    print(f"… {sentence[3]:8} …  {goal:12} {five_gram[goal]:6.3f}   {Y[-2, n, word_index[goal]]:9.3f}")

# the model's perplexity over all 13 predictions of each sentence, against the lowest that any model can have
logs = np.log([Y[t, n, word_ids[t + 1, n]] for n in range(3) for t in range(13)])
best = np.exp(grammar.sentence_entropy() / 13)
print(f"\nperplexity {perplexity(logs):.4f}; the lowest possible is {best:.4f}")
sure = [Y[-2, n, word_index[s[-1]]] for n, s in enumerate(sentences)]
assert min(sure) > 0.99, "Expected above 99% for each profession. Has rnn_predict passed its check?"
assert best - 1e-9 <= perplexity(logs) < best * 1.001, "Expected the lowest possible perplexity, to a thousandth."

# %% tags=["experiment"]
from rnncourse.plots import state_heatmap

law = sentences[1]
rows = [*dict.fromkeys(law), *latches]  # the words of this sentence, each once, and the four latches
units = [word_index[word] for word in dict.fromkeys(law)] + [latch[word] for word in latches]
figure = state_heatmap(states[:, 1][:, units], law, title="The network reads: words flash, latches hold")
axes = figure.axes[0]
axes.set_yticks(range(len(rows)), [*rows[:-4], *(f"latch: {word}" for word in latches)], fontsize=10)
axes.set_xticks(range(len(law)), law, rotation=40, ha="right", rotation_mode="anchor")
axes.axhline(len(rows) - 4.5, color="#6B6B6B", linewidth=1)
axes.set_ylabel("")
show(
    figure,
    alt="A heat map of 17 units over the fourteen words of the sentence on law. Each of the 13 word units is on for one "
    "step only, when its word is read. Below them, the latch for law turns on at the word law and stays on to the end, "
    "that for because turns on at because and stays; the latches for medicine and history stay at zero.",
)
assert (states[3:, 1, latch["law"]] > 0.95).all(), (
    "Expected the latch of law to hold. Has rnn_predict passed its check?"
)
assert (states[:, 1, latch["medicine"]] == 0).all(), "Expected the latch of medicine to stay at 0."

# %% [markdown]
# **That is a picture to show to somebody.** The words flash and are gone; one row turns on at *law* and stays on. To four
# digits, the perplexity is the lowest that any model can have on these sentences, since nobody can know the subject before it
# is named. No $n$-gram below $n = 11$ gets there.
#
# So **which $f$ should we take?** A tanh of two weighted sums. It can forget at once, fade, or hold a word to the end of a sentence:
# that is up to the numbers in $U$, $W$ and $b$.

# %% [markdown]
# ## Summary
#
# - A **hidden state** is a hidden layer that reads its own last answer:
#   $h_t = \tanh(x_t U + h_{t-1} W + b)$. From zeros, or with $W = 0$, it is the plain layer.
# - Outputs are read off the state: $o_t = h_t V + c$, $y_t = \operatorname{softmax}(o_t)$. Subtract the largest logit first.
# - The five arrays $U, W, b, V, c$ are **shared** over time. Their size, $DH + H^2 + H + HQ + Q$, does not depend on $T$.
# - The state is **all that is kept** of the past: a run can be cut anywhere. It never sees the future.
# - $W$ sets the memory: below 1 it fades, and a contraction forgets for certain; above 1 a unit can latch.
# - Books differ in rows and columns, in letters, in the order of subscripts; PyTorch stores transposes and two biases.
# - Test with sizes that all differ, call twice, and look at the sums before the nonlinearity.

# %% [markdown] written="cell_written" points=3
# ### Written question
# *10 minutes · 3 points, graded by hand; five to eight sentences*
#
# A classmate sets $W$ to zero in a recurrent language model, "since it saves $H^2$ parameters and the model still
# predicts the next character quite well". **(a)** What can this network know about the text when it predicts, and to which
# model of unit 01 does it come down? **(b)** Describe one experiment of this unit that would show what was lost, and what
# would come out. **(c)** Now give it its $W$ back. Name two problems that this unit's language model still has (in its inputs,
# its state, its outputs, or in how it is run), and say what each costs.
#
# ### BEGIN SOLUTION
# **Model answer.** (a) With $W = 0$ the state is $h_t = \tanh(x_t U + b)$: a function of the present character alone. So
# the prediction depends on the last character only, which is what a bigram model does; it cannot even be better than the
# best bigram table, since equal last characters give equal predictions. That it predicts "quite well" says only that
# bigrams are not bad at characters. (b) The recall experiment: with $W = 0$ the character read one step ago can no longer
# be read off the state, beyond what the present one gives away, so the curve drops from 1 to about 0.2 at $k = 1$. (Also
# right: the dependence grid becomes a diagonal; the same input three times gives the same state three times; the three
# students cannot be told apart.) (c) Two of these: one-hot inputs make every two words equally different, so what is learned
# about "doctor" helps nothing with "surgeon"; a state of fixed size must hold an ever longer past, so something is lost; the
# output layer grows with the vocabulary, and each step pays for all $Q$ words; step $t$ must wait for step $t - 1$, so a long
# text cannot be read in parallel; a small $W$ forgets for certain and a large one holds wrong things for ever, so long
# memories are hard to set, or to learn; a word outside of the vocabulary cannot be read at all.
#
# **Rubric.** 1 point: the state depends on $x_t$ only, and this is a bigram (2-gram) model. 1 point: an experiment that
# tells the two apart, with its outcome (for a mere name without an outcome: ½). 1 point: two real problems, each with its
# cost (½ for one, or for two without what they cost).
# ### END SOLUTION

# %% [markdown]
# ## Where to read on
#
# - J. L. Elman, *Finding Structure in Time*, Cognitive Science 14, 1990: the paper that this cell comes from, and still a
#   pleasure. Its networks discover words in a stream of letters.
# - I. Goodfellow, Y. Bengio, A. Courville, *Deep Learning*, MIT Press 2016, section 10.2: the cell in column form, and its
#   relatives (output fed back, one output at the end).
# - A. Zhang, Z. Lipton, M. Li, A. Smola, *Dive into Deep Learning*, chapter on recurrent networks: the row form, in code.
# - D. Jurafsky, J. Martin, *Speech and Language Processing*, third edition (draft), chapter on RNNs: from here to
#   language.
# - H. Jaeger, *The "echo state" approach to analysing and training recurrent neural networks*, GMD report 148, 2001: how
#   far an untrained state with a trained readout can go, the idea of section 8.
# - T. M. Mitchell, *Machine Learning*, McGraw-Hill 1997, chapter 4: the networks without a state, and, near its end, a recurrent one.
# - A. Karpathy, *min-char-rnn*, 2015 (a gist on GitHub): a trained character network in 112 lines of NumPy, and you can now read
#   half of them.
# - *CS231n: Deep Learning for Computer Vision*, Stanford University, the lecture on recurrent networks: slides and notes.
# - I. Sutskever, J. Martens, G. Hinton, *Generating Text with Recurrent Neural Networks*, ICML 2011: this cell, and a larger one,
#   read Wikipedia.
# - Q. Le, N. Jaitly, G. Hinton, *A Simple Way to Initialize Recurrent Networks of Rectified Linear Units*, 2015: what to
#   do if you want the ReLU.
#
# ## The question for unit 04
#
# Nobody can think up the weights for English. But we can *measure* how wrong a prediction is, and ask in which direction each
# number should move to make it less wrong. The trouble is that $W$ is used at every step. Change it, and *every* state changes.
# **How do we learn $U$, $W$ and $b$, when each of them acts everywhere in time?**

# %% tags=["experiment"]
progress("03_cell")
