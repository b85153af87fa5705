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
# **Time:** about three and a half hours, best in two sittings (the second begins with section 4). **Before you start:**
# matrix products in NumPy, and [unit 02](../02_unfolding/02_unfolding.ipynb): a recurrence, its unfolded graph, and why one
# transition serves every length. There are 13 exercises and one written question, 31 points in all.
#
# No answer may call `torch` or `scipy`. Results have the dtype of the arrays that you were given, and arguments are left as
# they were. You may always call your own earlier answers. What experiments measure stands in `rnncourse.experiments.cell`.

# %% [markdown]
# ## Two questions that were left open
#
# In [unit 01](../01_ngram/01_ngram.ipynb) three sentences beat every model that looks back a fixed number of words:
#
# > I am studying **medicine** (or **law**, or **history**) at UBC because I want to work as a **…**
#
# In unit 02 a recurrence $s_t=f(s_{t-1},x_t;\theta)$ carried a summary of *everything* so far. But the $f$ was given. Nobody
# knows the transition of English. So **which $f$ should we take, if we do not know the right one?** We take one with many
# numbers in it, which can become nearly anything, and leave the numbers open. At the end of this unit a network of yours
# will finish the three sentences correctly.

# %% locked="setup"
import numpy as np

from rnncourse import check, hint, progress, use

# %% tags=["experiment"]
progress("03_cell")

# %% [markdown]
# ## A network that is trained already · two minutes
#
# This is where the next four units lead. The network below has 160 numbers of state and has read Python's documentation, one
# character at a time. Nobody told it what a word is. Now it writes: it says how probable each next character is, one is drawn,
# and the network reads that as its next input. **Guess**: how many of its longer words are words?

# %% tags=["experiment", "nbval-ignore-output"] dials="start = 'import '; start = '?'; temperature = 0.1; temperature = 1.5"
from rnncourse.experiments.cell import real_words, writes_on

start = "The value of "
temperature = 0.5  # 0.1: only what it is sure of; 1.5: nearly anything
print(start + (text := writes_on(start, temperature=temperature)))
print(f"\n{real_words(text):.0%} of its longer words are words")

# %% tags=["author"]
assert real_words(writes_on("The value of ")) > 0.6

# %% [markdown]
# It spells, and it has nothing to say. All of it is five arrays of numbers and the formula that you are about to write. In
# section 4 the same network runs on your own functions. *Try* a start of your own, and a `temperature` between 0.1 and 1.5.

# %% [markdown]
# ## 1 · A layer without a state
#
# A **hidden layer** of a plain network (an MLP) takes an input of $D$ numbers and makes $H$ new ones: each a weighted sum of the
# inputs, plus a bias, bent by a tanh:
#
# $$h=\tanh(x\,W_{xh}+b_h)$$
#
# In this course inputs are **rows**, and a batch of $N$ inputs is a matrix with $N$ rows. So the matrix stands on the
# right, and its shape reads *from, to*: $W_{xh}$ leads from $D$ inputs to $H$ hidden units.
#
# | name | shape | |
# |---|---|---|
# | $x$ | $(N,D)$ | one input a row |
# | $W_{xh}$ | $(D,H)$ | a column of weights for each hidden unit |
# | $b_h$ | $(H,)$ | one bias for each hidden unit, added to every row |
# | $h$ | $(N,H)$ | one hidden vector a row |
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
# $$\begin{bmatrix}1&2\end{bmatrix}
# \begin{bmatrix}0.5&1\\0.5&-1\end{bmatrix}+\begin{bmatrix}-1&0.5\end{bmatrix}
# =\begin{bmatrix}1.5&-1\end{bmatrix}+\begin{bmatrix}-1&0.5\end{bmatrix}
# =\begin{bmatrix}0.5&-0.5\end{bmatrix}$$
#
# and the tanh of it is $h=\begin{bmatrix}0.462&-0.462\end{bmatrix}$.


# %% answer="hidden_layer"
def hidden_layer(x, W_xh, b_h):
    """A layer without a state: x (N, D), W_xh (D, H), b_h (H,) -> h (N, H)."""
    ### BEGIN SOLUTION
    return np.tanh(x @ W_xh + b_h)
    ### END SOLUTION


# %% check="hidden_layer"
check(hidden_layer)

# %% [markdown]
# This is the building block of most neural networks. Where does it fail?

# %% [markdown]
# ### Experiment · the layer cannot tell the three students apart
#
# Each word goes in as a **one-hot** vector: zeros, and a single 1 at the word's place in the vocabulary.

# %% tags=["experiment"]
from rnncourse.data import study_grammar

grammar = study_grammar()
vocabulary = grammar.vocabulary
sentences = [sentence for sentence, _ in grammar.sentences()]
word_ids = np.array([[vocabulary.index(w) for w in s] for s in sentences]).T  # (T, N)
X_words = np.eye(len(vocabulary))[word_ids]  # (T, N, D)

# %% [markdown]
# A layer with random weights now reads the last word before the profession, "a", of each sentence. **Guess**: how many
# different vectors come out? And after which other word must *every* such layer fail?

# %% tags=["experiment"]
layer, rng = use(hidden_layer), np.random.default_rng(0)
U, b = rng.normal(size=(len(vocabulary), 4)), rng.normal(size=4)
for sentence, h in zip(sentences, layer(X_words[-2], U, b)):
    print(f"… {sentence[3]:8} … {' '.join(sentence[-4:-1])} →", h.round(3))

# %% tags=["author"]
h = layer(X_words[-2], U, b)
assert np.allclose(h, h[0], rtol=0, atol=1e-12)

# %% [markdown]
# One: equal inputs give equal outputs, whatever the weights are. So a network of such layers is a bigram model. (The other
# word is "I": it is followed by *am* first, and then by *want*.) "Medicine" was read nine steps before, made its own hidden
# vector, and that vector was thrown away. We must *keep* it.

# %% [markdown]
# ## 2 · The state
#
# Here is the whole idea of this course. The hidden vector is not thrown away: **one step later it comes back, as a second
# input.** (The black square is the delay of one step that you know from unit 02.)

# %% tags=["experiment"]
from rnncourse.plots import mlp_beside_cell, show

show(mlp_beside_cell())

# %% [markdown]
# The new state $h_t$ is made from the input $x_t$, through a matrix $U$, and from the old state $h_{t-1}$, through a matrix $W$.
# Both are added, with a bias $b$, *before* the tanh bends the sum.
#
# $$h_t=\tanh(x_t\,U+h_{t-1}W+b)$$
#
# | name | shape | leads from … to … |
# |---|---|---|
# | $U$ | $(D,H)$ | input to hidden |
# | $W$ | $(H,H)$ | hidden to hidden, one step later |
# | $b$ | $(H,)$ | |
#
# A **hidden layer** is a place in a network: it stands between input and output. A **hidden state** is a place in
# *time*: it is what the network hands on to itself. Take $W=0$ and the second becomes the first.
#
# The same cell as a machine. (What stands outside the dashed frame, on the way to $y_t$, comes in section 4.)

# %% tags=["experiment"]
from rnncourse.plots import cell_inside

show(cell_inside())

# %% [markdown]
# ### Exercise 3.2 · `rnn_step`
# *●●○ · 10 minutes · 3 points*
#
# Write one step of the cell: `x (N, D)`, `h_prev (N, H)`, `U (D, H)`, `W (H, H)`, `b (H,)` give `h (N, H)`.
#
# By hand, with the same input as before and an old state beside it:
#
# $$\begin{aligned}
# x_tU&=\begin{bmatrix}1&2\end{bmatrix}\begin{bmatrix}0.5&1\\0.5&-1\end{bmatrix}
# =\begin{bmatrix}1.5&-1\end{bmatrix}\\
# h_{t-1}W&=\begin{bmatrix}0.5&-0.5\end{bmatrix}\begin{bmatrix}1&3\\0&1\end{bmatrix}
# =\begin{bmatrix}0.5&1\end{bmatrix}\\
# b&=\begin{bmatrix}-1&0.5\end{bmatrix}
# \end{aligned}$$
#
# The three add up to $\begin{bmatrix}1&0.5\end{bmatrix}$, and so
# $h_t=\begin{bmatrix}0.762&0.462\end{bmatrix}$. (With $W$ transposed the second product would be
# $\begin{bmatrix}-1&-0.5\end{bmatrix}$, and no error would tell you, since $W$ is square.)


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
# A layer and a cell get the same input, three times each; the cell starts from a state of zeros. **Guess**: which of the six
# answers are equal?

# %% tags=["experiment"]
step, layer = use(rnn_step), use(hidden_layer)
x = np.array([[1.0, 2.0]])
U = np.array([[0.5, 1.0], [0.5, -1.0]])
W = np.array([[1.0, 3.0], [0.0, 1.0]])
b = np.array([-1.0, 0.5])

h = np.zeros((1, 2))
for t in (1, 2, 3):
    h = step(x, h, U, W, b)
    print(f"t = {t}   layer {layer(x, U, b).round(3)}   cell {h.round(3)}")

# %% tags=["author"]
h1 = step(x, np.zeros((1, 2)), U, W, b)
h2 = step(x, h1, U, W, b)
assert np.allclose(h1, layer(x, U, b))
assert min(np.abs(h2 - h1).max(), np.abs(h - h2).max()) > 0.05

# %% [markdown]
# Four of them: the layer's three, and the cell's first. From a state of zeros the first step *is* the layer, since $h_0W$ is
# zero. From the second step on the cell has something to remember.
#
# ### Two products, or one
#
# The sum of the two products can be had as one. Put $x_t$ and $h_{t-1}$ side by side into one long row, stack $U$ on top of
# $W$, and multiply:
#
# $$x_t\,U+h_{t-1}W=\begin{bmatrix}x_t&h_{t-1}\end{bmatrix}\begin{bmatrix}U\\W\end{bmatrix}$$
#
# With numbers: $\begin{bmatrix}1&2&0.5&-0.5\end{bmatrix}$ times the four rows
# $\begin{bmatrix}0.5&1\end{bmatrix}$, $\begin{bmatrix}0.5&-1\end{bmatrix}$,
# $\begin{bmatrix}1&3\end{bmatrix}$, $\begin{bmatrix}0&1\end{bmatrix}$ is
# $\begin{bmatrix}2&0\end{bmatrix}$, which is $\begin{bmatrix}1.5&-1\end{bmatrix}+\begin{bmatrix}0.5&1\end{bmatrix}$. Some
# libraries keep their weights in this form.

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
# input.**

# %% [markdown]
# ## 3 · Through time
#
# Unfolded, as in unit 02, the loop becomes a chain, with the *same* $U$, $W$ and $b$ at every step:

# %% tags=["experiment"]
from rnncourse.plots import folded_unfolded

show(folded_unfolded(3, relative=False))

# %% [markdown]
# Now with numbers in it. A random cell of four units reads *a b a a*, each letter as a one-hot vector. Each little square is
# one number: in a state, blue is $-1$, white 0, vermilion 1; in an input, blue is 1. The picture shows the end; below it,
# press *Play*, or walk through time with *Back* and *Next*. **Guess** first: three times the same *a* goes in. How many
# different states come out?

# %% tags=["experiment"] dials="word = 'cabbac'; word = 'zz'"
from rnncourse.experiments.cell import read_word
from rnncourse.plots.through_time import forward_pass

word = "abaa"
forward_pass(*read_word(word, use(rnn_step))).show()

# %% tags=["author"]
_, _, passed, _ = read_word("abaa", step)
assert min(np.abs(passed[i] - passed[j]).max() for i, j in [(0, 2), (0, 3), (2, 3)]) > 0.1

# %% [markdown]
# Three. *Try* another word of two to six letters.
#
# We run $N$ sequences of the same length $T$ side by side. Time is the **first** axis, so that one index picks out a step:
# `X[0]` holds what all $N$ sequences read at the first step.
#
# | name | shape | |
# |---|---|---|
# | `X` | $(T,N,D)$ | time, sequence, feature |
# | `h0` | $(N,H)$ | the state before the first step, one row a sequence |
# | `H` | $(T,N,H)$ | the states *after* each step: `H[0]` is $h_1$, `H[-1]` is $h_T$ |
#
# By hand, with one unit, $U=2$, $W=1$, $b=0$, $h_0=0$ and the inputs $1,0,0$:
# $h_1=\tanh(2\cdot1+0)=0.964$, then $h_2=\tanh(0+0.964)=0.746$, then $h_3=\tanh(0.746)=0.633$. The
# second and the third input were both 0, and the states differ: the cell still hears the 1.

# %% [markdown]
# ### Exercise 3.4 · `rnn_forward`
# *●●○ · 15 minutes · 4 points*
#
# Run the cell over whole sequences: `X (T, N, D)`, `h0 (N, H)` and `U, W, b` as before give all states `H (T, N, H)`,
# from $h_1$ to $h_T$. **A convention changes here:** `unfold_driven` of unit 02 counted the start in and gave $T+1$ states. From
# now on `h0` is *not* in the result, so that `H[t]` belongs to `X[t]`. (While this is checked, a
# correct `rnn_step` stands in for yours.)
#
# `X` may hold whole numbers (a one-hot sequence often does); the states are floats all the same. By hand, the numbers above:
# $X$ of shape $(3,1,1)$ with the inputs $1,0,0$ gives `[[[0.964]], [[0.746]], [[0.633]]]`.


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
# You have a recurrent network that runs, and you can stop it anywhere: with its last state as the next `h0` it goes on as if
# nothing had happened, as in unit 02. **Given $h_t$, the past is not needed any more.** A phone can follow a conversation for
# an hour and keep $H$ numbers instead of the sound.

# %% [markdown]
# ### Experiment · what W does with a memory
#
# Knock once and listen. One unit, with $U=2$ and $b=0$, reads a single 1 and then nothing but zeros. **Guess**: what is
# left of the knock after 25 steps, with $W=0$, $0.8$, $1$ and $2$?

# %% tags=["experiment"]
from rnncourse.experiments.cell import knock
from rnncourse.plots import Slider, explore
from rnncourse.plots.cell import knock_chart

forward = use(rnn_forward)
heard = {f"W = {W:g}": knock(W, forward) for W in (2, 1, 0.8, 0)}
slider = Slider("W", -2.0, 2.0, 1.2)
one = lambda W: knock_chart({f"W = {W:.2f}": knock(W, forward)})  # noqa: E731
explore(one, knock_chart(heard), W=slider)

# %% tags=["author"]
assert (heard["W = 2"] > 0.95).all()
assert (heard["W = 0"][1:] == 0).all()
assert heard["W = 1"][-1] > 10 * heard["W = 0.8"][-1] > 0

# %% [markdown]
# With $W=0$ the knock is gone at once, with $0.8$ it fades fast, with $1$ slowly, and with $2$ it stays: 0.96 comes back as
# $\tanh(2\cdot0.96)\approx0.96$, again and again. Such a unit is a **latch**. Had nobody knocked, it would have stayed
# at 0. One unit, one bit of memory: at the end of this unit it will hold the word *medicine*.
#
# *Try* the slider below the picture: which is the smallest $W$ that holds the knock, and what does one below 0 do?

# %% [markdown]
# ### Experiment · the same input for ever
#
# Above, three equal inputs gave three different states. What if it goes on like this for ever? Four runs of one random cell
# start from four states, and all read the same input at every step. $W$ is scaled so that it stretches no vector by more
# than 0.9. **Guess**: where do the four end, and how far apart?

# %% tags=["experiment"] dials="size = 0.5; size = 1.5; size = 3.0"
from rnncourse.experiments.cell import runs
from rnncourse.plots.cell import apart_chart

size = 0.9
states = runs(size, use(rnn_forward))
show(apart_chart(states, size))
moved = np.abs(states[-1] - states[-2]).max()
print(f"the last step changes no number by more than {moved:.3f}")

# %% tags=["author"]
states = runs(0.9, forward)
distance = np.linalg.norm(states - states[:, :1], axis=2)
assert (distance[1:] <= 0.9 * distance[:-1] + 1e-12).all()
assert np.abs(states[-1] - states[-2]).max() < 1e-5

# %% [markdown]
# They all reach the same **fixed point**, $h^*=\tanh(x\,U+h^*W+b)$. Why? The tanh never pulls two numbers apart, and
# $W$ shrinks every difference by a tenth or more. So the distance of two runs stays below $0.9^t$ times what it was.
#
# A small $W$ makes a cell that forgets where it began, *for certain*. So one wrong input does no lasting harm, and one
# important input no lasting good. The latch needed $W>1$. Unit 05 is about this dilemma. *Try* a `size` of 1.5 and of 3,
# where nothing is certain any more.

# %% [markdown]
# ### The network as a graphical model
#
# On the left is the chain rule of unit 01: each word depends on all before it. On the right the state stands in between, and
# each word depends *directly* on one $h$ alone.

# %% tags=["experiment"]
from rnncourse.plots.cell import graphical_models

show(graphical_models())

# %% [markdown]
# Count the arrows: $T(T-1)/2$ on the left, $3T-4$ on the right, 499,500 and 2,996 for a thousand words. Yet nothing was
# given up: the states are computed, not left to chance. Take them out of the picture, and you have the left one back.
# What is assumed: the same rule at every step, and that $H$ numbers are enough.

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
quiz_rnn_facts = None  # put a set of letters in place of None
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
# $$o_t=h_tV+c$$
#
# $V$ $(H,Q)$ leads from hidden to output, $c$ is $(Q,)$. The $Q$ numbers in $o_t$ are called **logits**: scores of any
# sign and size, one for each thing that the network could say.
#
# By hand: $h=\begin{bmatrix}1&-1\end{bmatrix}$,
# $V=\begin{bmatrix}1&2&0\\0&1&3\end{bmatrix}$, $c=\begin{bmatrix}0&0&10\end{bmatrix}$ give
# $o=\begin{bmatrix}1&1&-3\end{bmatrix}+c=\begin{bmatrix}1&1&7\end{bmatrix}$.

# %% [markdown]
# ### Exercise 3.6 · `output_layer`
# *●○○ · 5 minutes · 1 point*
#
# Write it for the states of one step, `H (N, H)`, which give `(N, Q)`, and for those of a whole run, `H (T, N, H)`, which
# give `(T, N, Q)`. One expression does both, if you know what `@` does with three axes. (`H` names the array,
# $H$ its last axis.)


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
# $$y_i=\operatorname{softmax}(o)_i=\frac{e^{o_i}}{\sum_je^{o_j}}$$
#
# By hand: the logits $\begin{bmatrix}\ln1&\ln2&\ln5\end{bmatrix}$ give
# $\begin{bmatrix}\tfrac18&\tfrac28&\tfrac58\end{bmatrix}$.
#
# There is a trap. $e^{1000}$ is too large for a float: it becomes `inf`, and `inf / inf` is `nan`. But **adding the same number
# to all logits changes nothing**, since $e^{o_i+m}=e^{m}e^{o_i}$ and the $e^{m}$ cancels. So subtract the row's largest logit
# first: then the largest of the exponentials is $e^0=1$.

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
# By hand: the unit of section 3, with its states $0.964,0.746,0.633$, gets two outputs,
# $V=\begin{bmatrix}0&2\end{bmatrix}$ and $c=0$. The logits of the first step are $0$ and $1.928$, so the second
# output has the probability $e^{1.928}/(e^0+e^{1.928})=0.873$. At the next steps it is $0.816$ and $0.780$.


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
# Your functions get the five arrays of the trained network, a start, and the same random numbers as the course's own code.
# **Guess**: how many of the 200 letters that they write are the same, before the two texts part?

# %% tags=["experiment", "nbval-ignore-output"] dials="start = 'import '"
from rnncourse.experiments.cell import letters_alike, writes_with

start = "The value of "
predict = use(rnn_predict)
mine = writes_with(predict, start)
theirs = writes_on(start, 200, temperature=1.0)
print(start + mine)
same = letters_alike(mine, theirs)
print(f"\nthe first {same} of {len(theirs)} letters are the same")

# %% tags=["author"]
assert letters_alike(writes_with(predict, "The value of "), writes_on("The value of ", 200, 1.0)) >= 100

# %% [markdown]
# You have built what wrote at the beginning of this unit. (It has a temperature of 1 here, and spells worse.)

# %% [markdown]
# ### Experiment · what may the first state be?
#
# Most programs take zeros. It may also be drawn at random, or be the state in which another run ended. The trained network
# reads a thousand pieces of text from each. **Guess**: from which does it predict best, and after how many characters is it
# all the same?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.cell import bits_from
from rnncourse.plots.cell import first_state_chart

kinds = "random", "another text", "zeros"
bits = {kind: bits_from(kind, predict) for kind in kinds}
show(first_state_chart(bits))

# %% tags=["author"]
assert bits["random"][0] > bits["zeros"][0] + 0.5
assert (bits["random"] - bits["zeros"])[9:].max() < 0.1

# %% [markdown]
# **Claim:** from a random first state the trained network's first prediction costs at least half a bit more than from zeros.
# After ten characters it costs less than a tenth of a bit more.
#
# It held in {{held first_state_is_forgotten}} draws. The end of another text is nearly as bad as a random state: it is
# sure of something else. But this cell soon forgets any start, so zeros are good enough. (A latch does not forget.)

# %% [markdown]
# ### Exercise 3.9 · `quiz_output_size`
# *●○○ · 3 minutes · 1 point*
#
# A network with $H=100$ hidden units is to learn to write the text `banana bread`. It reads one character at a time, and
# after each it says how probable every possible next character is. Its vocabulary is exactly the characters that occur in
# this text. How many outputs, $Q$, does it need? Answer with a whole number.

# %% answer="quiz_output_size"
quiz_output_size = None  # put a whole number in place of None
### BEGIN SOLUTION
quiz_output_size = 7
### END SOLUTION

# %% check="quiz_output_size"
check(quiz_output_size, "quiz_output_size")

# %% [markdown]
# ## 5 · What is shared, and what it costs
#
# Five arrays hold everything that the network knows, and the same five serve every step: $U$ $(D,H)$, $W$ $(H,H)$, $b$ $(H,)$,
# $V$ $(H,Q)$ and $c$ $(Q,)$.
#
# By hand, for $D=2$, $H=3$, $Q=4$: $6+9+3+12+4=34$ numbers, for ten steps as for a million.

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
# ### Exercise 3.11 · `quiz_shapes`
# *●○○ · 4 minutes · 1 point*
#
# A language model reads English words. Each word is first turned into an **embedding**, a vector of 300 numbers, and that
# vector is the cell's input. The hidden state has 100 units. After each word the model gives a probability to each of the
# 10,000 words of its vocabulary. Which shapes do $U$, $V$ and $W$ have, in this course's notation? Answer with a dict of
# tuples, in the form `{"U": (1, 2), "V": (3, 4), "W": (5, 6)}`.

# %% answer="quiz_shapes"
quiz_shapes = None  # put a dict of tuples in place of None
### BEGIN SOLUTION
quiz_shapes = {"U": (300, 100), "V": (100, 10_000), "W": (100, 100)}
### END SOLUTION

# %% check="quiz_shapes"
check(quiz_shapes, "quiz_shapes")

# %% [markdown]
# With $b$ and $c$ these are 1,050,100 numbers, however many words are read; an 11-gram table has $10^{44}$ entries. Of them,
# 1,010,000 are $V$ and $c$: the vocabulary is expensive, the memory is not.

# %% [markdown]
# ## 6 · One cell, many notations
#
# Open three books and you find three formulas for the same cell. What differs is whether vectors are rows or columns, which
# letter means what, and whether a subscript reads "from, to" or "to, from".
#
# | where | the formula there | in our letters |
# |---|---|---|
# | **this course** (rows) | $h_t=\tanh(x_tU+h_{t-1}W+b)$ | |
# | Goodfellow, Bengio & Courville (columns) | $a=b+Wh+Ux$, $h=\tanh(a)$, $o=c+Vh$ | their $U,W,V$ are our $U^\top,W^\top,V^\top$ |
# | *Dive into Deep Learning* (rows) | $\tanh(XW_{xh}+HW_{hh}+b_h)$, output $HW_{hq}+b_q$ | $W_{xh}=U$, $W_{hh}=W$, $W_{hq}=V$ |
# | Sutskever, Martens & Hinton 2011 (columns, "to, from") | $h_t=\tanh(W_{hx}x_t+W_{hh}h_{t-1}+b_h)$, $W_{oh}h_t+b_o$ | $W_{hx}=U^\top$, $W_{hh}=W^\top$, $W_{oh}=V^\top$ (elsewhere $W_{yh}$) |
# | UBC's course DSCI 575 (columns), with $x\in\mathbb{R}^d$, $s\in\mathbb{R}^p$, $y\in\mathbb{R}^q$ | $s_t=\tanh(Ws_{t-1}+Ux_t+b_1)$, $\hat y_t=\operatorname{softmax}(Vs_t+b_2)$ | $s=h$, $b_1=b$, $b_2=c$; its $U_{d\times p},V_{p\times q}$ are **our** $U,V$ and do not fit its formula |
# | Jurafsky & Martin (columns) | $h_t=g(Uh_{t-1}+Wx_t)$ | **swapped**: their $U$ is our $W^\top$, their $W$ our $U^\top$ |
# | PyTorch `nn.RNN` (rows, weights stored transposed) | $\tanh(x_tA^\top+b_{ih}+h_{t-1}B^\top+b_{hh})$ | $A=U^\top$ `weight_ih_l0 (H, D)`, $B=W^\top$ `weight_hh_l0 (H, H)`, $b_{ih}+b_{hh}=b$ |
#
# Look at the row of UBC. A column of $d$ numbers can be multiplied from the left by a matrix of $p\times d$, not by one of
# $d\times p$. It happens in the best of courses: check shapes before you copy a formula.
#
# Do not trust a table, run it. Each row is one line of code. **Your turn**: add the row of UBC, and transpose what must
# be transposed.

# %% tags=["experiment"]
step, rng = use(rnn_step), np.random.default_rng(5)
x, h, b = (rng.normal(size=(1, size)) for size in (3, 4, 4))
U, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 4))
x_col, h_col, b_col = x.T, h.T, b.T  # vectors as columns
theirs = {
    "Goodfellow": np.tanh(b_col + W.T @ h_col + U.T @ x_col).T,
    "Dive into Deep Learning": np.tanh(x @ U + h @ W + b),
    "Sutskever": np.tanh(U.T @ x_col + W.T @ h_col + b_col).T,
    "PyTorch": np.tanh(x @ (U.T).T + b / 2 + h @ (W.T).T + b / 2),
}
for name, state in theirs.items():
    print(f"{name}: as ours? {np.allclose(state, step(x, h, U, W, b[0]))}")

# %% tags=["author"]
assert all(np.allclose(state, step(x, h, U, W, b[0])) for state in theirs.values())
assert np.allclose(np.tanh(W.T @ h_col + U.T @ x_col + b_col).T, step(x, h, U, W, b[0]))

# %% [markdown]
# <details><summary>The row of UBC</summary>
#
# `"UBC": np.tanh(W.T @ h_col + U.T @ x_col + b_col).T`. As it is printed, with `U @ x_col`, it raises a `ValueError`: (3, 4)
# and (3, 1) do not fit.
# </details>

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
# For example, $U=\begin{bmatrix}1&2&3\end{bmatrix}$, which is $(1,3)$, becomes a `weight_ih_l0` of three rows
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
# `torch.nn.RNN` loads your dict, and both read 500 characters of real text. **Guess**: how far apart are the states, at most?
# (Importing torch takes a moment.)

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.cell_torch import cell_beside_torch

difference = cell_beside_torch(use(rnn_forward), use(to_torch_state))
print(f"the largest difference is {difference:.0e}")

# %% tags=["author"]
assert difference < 1e-6

# %% [markdown]
# What you wrote in one line is what the library computes, but for rounding.

# %% [markdown]
# ## 7 · What went wrong
#
# A wrong network rarely crashes. It prints numbers of the right shape, and they mean nothing.
#
# ### Case one · the network that says 0
#
# Somebody replaces the tanh by a ReLU, $\max(0,a)$. The inputs are the lengths of the lines in Python's documentation, in units
# of 80 characters. **Your turn**: run the cell, look at $U$, and find the reason before you open the answer.

# %% tags=["experiment"] dials="b = np.full(3, 0.1)"
from rnncourse.experiments.cell import line_lengths

X, rng = line_lengths(), np.random.default_rng(8)  # (T, 1, 1)
U, W = rng.normal(size=(1, 3)), rng.normal(size=(3, 3)) / 2
b = np.zeros(3)
h, states = np.zeros((1, 3)), []
for x in X:
    h = np.maximum(0, x @ U + h @ W + b)
    states.append(h)
print("U =", U.round(2), "  the largest state of all:", np.max(states).round(2))

# %% tags=["author"]
assert (np.maximum(0, X @ U) == 0).all()
assert X.min() == 0 < 0.5 < X.max()

# %% [markdown]
# <details><summary>Why does it say nothing but 0?</summary>
#
# All three weights are negative, and a length never is. So no sum is positive at the first step, the ReLU gives 0, and from a
# state of 0 the second step is where the first was. The units are **dead**, and stay dead: where the ReLU gives 0 its slope is
# 0 too, so training cannot change $U$.
# </details>
#
# *Try* to repair it: a small positive $b$, `np.full(3, 0.1)`; the mean taken from the inputs; the tanh put back.
#
# Was it bad luck? **Guess**: of 1,000 random networks like this one, how many say nothing but 0?

# %% tags=["experiment"] dials="units = 1; units = 6; centred = True"
from rnncourse.experiments.cell import share_silent

units = 3
centred = False  # True: the mean is taken from the inputs
print(f"{share_silent(units, centred):.1%} of the networks say nothing but 0")

# %% tags=["author"]
assert 0.09 < share_silent(3) < 0.16
assert share_silent(3, centred=True) == 0

# %% [markdown]
# **Claim:** of such networks with three units about one in eight says nothing but 0. If the mean is taken from the inputs,
# none does.
#
# That held in {{held dead_from_the_start}} draws of a thousand networks. All three weights must be negative, and that is a
# half to the power of three. **When a network prints zeros, look first at the sums that go into its ReLU.** (ReLU cells can
# work, with $W$ near the identity: Le et al. below.)

# %% [markdown]
# ### Case two · the network that seems to work
#
# Somebody handed in the next class, and had tested it, once. Read it, and look for the two bugs.


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


# %% [markdown]
# The test of its author was one call, with $N=H=3$: the shape was right. **Guess** what three more tests say: ask the same
# thing twice; change one sequence of the batch and look at another; give it four sequences.

# %% tags=["experiment"]
from rnncourse.experiments.cell import symptoms

for test, found in symptoms(HandedInNetwork).items():
    print(f"{test}: {found}")

# %% tags=["author"]
shape, twice, other, four = symptoms(HandedInNetwork).values()
assert shape == (5, 3, 2)
assert min(twice, other) > 0.1
assert four == "ValueError"

# %% [markdown]
# It answers differently when it is asked twice, and one sequence changes the answers to another. In one call a state that is
# kept too long does no harm, and with $N=H$ a product over the wrong axis still fits. **Test with sizes that all differ, and
# call twice.**

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

# %% tags=["experiment"]
for test, found in symptoms(use(Network)).items():
    print(f"{test}: {found}")

# %% tags=["author"]
assert list(symptoms(Network).values()) == [(5, 3, 2), 0, 0, (5, 4, 2)]

# %% [markdown]
# When a result depends on what you ran before, think of a state that outlives its call. When a sequence feels its neighbours, look
# at the axis that a product contracts.

# %% [markdown]
# ## 8 · A cell reads
#
# How much of a memory is there before any training? The cell below has random $U$ and $W$, and reads Python's
# documentation, character by character. On the first half of the text we fit a weighted sum of the state, a *readout*:
# it is to tell which character was read $k$ steps *ago*. The second half tests it. **Guess**: how far back is it right
# in most cases? And from a layer without a state?

# %% tags=["experiment"] dials="radius = 0.5; loudness = 0.03; loudness = 1.0"
from rnncourse.experiments.cell import recalled, without_state
from rnncourse.plots.cell import recall_chart

radius = 0.95  # the size of the largest eigenvalue of W
loudness = 0.3  # the standard deviation of U
forward, layer = use(rnn_forward), use(hidden_layer)
named = {
    "recurrent cell": recalled(forward, radius=radius, loudness=loudness),
    "layer without\na state": recalled(without_state(layer), loudness=loudness),
}
show(recall_chart(named))

# %% tags=["author"]
assert named["recurrent cell"][:4].min() > 0.8
assert named["layer without\na state"][1:].max() < 0.4

# %% [markdown]
# **Claim:** from the state of an untrained cell, the readout names the character of up to three steps ago right more than 80%
# of the time. From a layer without a state it stays below 40% from the first step back on.
#
# That held for {{held untrained_memory}} random cells of 200 units. Six steps back they are still right
# {{recall/200 units/k = 6|median .0%}} of the time. What such a cell cannot do is keep what matters: it remembers a comma as well as the
# word on which the sentence turns, and then forgets both. *Try* a `radius` of 0.5, and a `loudness` of 0.03 and of 1: how far
# does the memory reach then?

# %% [markdown]
# ## 9 · A network whose every weight you can read
#
# To keep what matters, we set the weights by hand. The three sentences use 17 different words. There are two kinds of units:
#
# - **17 units that see the word at hand**: unit $i$ has $U=2$ from word $i$ and $W=0$. It is at $0.96$ when its word
#   is read, and at 0 one step later.
# - **4 latches**, as in section 3, $U=2$ from a word and $W=2$ from itself: for *medicine*, *law*, *history*, and
#   *because*. Each is 0 until its word comes and stays at $0.96$ from then on.

# %% tags=["experiment"]
latches = ["medicine", "law", "history", "because"]
D = Q = len(vocabulary)
H = D + len(latches)
word = {name: i for i, name in enumerate(vocabulary)}  # the unit of a word
latch = {name: D + i for i, name in enumerate(latches)}  # and that of a latch

U, W, b = np.zeros((D, H)), np.zeros((H, H)), np.zeros(H)
U[:, :D] = 2 * np.eye(D)
for name, unit in latch.items():
    U[word[name], unit] = 2

# %% [markdown]
# $V$ then says what follows. Each word votes for its successors. The professions get half of their votes from the word "a"
# and half from the latch of their subject. "I" comes twice: it votes for *am*, and less for *want*, and the latch of
# *because* reverses that.

# %% tags=["experiment"]
from itertools import pairwise

V, c = np.zeros((H, Q)), np.zeros(Q)
for sentence in sentences:
    for before, after in pairwise(sentence):
        V[word[before], word[after]] = 24
goals = {"medicine": "doctor", "law": "lawyer", "history": "historian"}
for subject, goal in goals.items():
    V[word["a"], word[goal]] = V[latch[subject], word[goal]] = 12
V[word["I"], word["want"]] = V[latch["because"], word["want"]] = 12
V[latch["because"], word["am"]] = -12

# %% [markdown]
# **Guess** what it says of *lawyer*, after "… law at UBC because I want to work as a": the best 5-gram says 0.333.

# %% tags=["experiment"] dials="hold = 0.5; hold = 1.0"
from rnncourse.experiments.cell import sentence_perplexity
from rnncourse.plots.cell import words_and_latches

hold = 2.0  # the W of each latch
W[D:, D:] = hold * np.eye(len(latches))
Y, states = use(rnn_predict)(X_words, np.zeros((3, H)), U, W, b, V, c)
for n, sentence in enumerate(sentences):
    print(f"… {sentence[3]} … as a {sentence[-1]}: {Y[-2, n, word[sentence[-1]]]:.3f}")
lowest = np.exp(grammar.sentence_entropy() / 13)
print(f"perplexity {sentence_perplexity(Y, word_ids):.4f}, the lowest is {lowest:.4f}")
show(words_and_latches(states[:, 1], sentences[1], vocabulary, latches))

# %% tags=["author"]
W[D:, D:] = 2 * np.eye(len(latches))
Y, states = predict(X_words, np.zeros((3, H)), U, W, b, V, c)
assert min(Y[-2, n, word[s[-1]]] for n, s in enumerate(sentences)) > 0.99
assert lowest - 1e-9 <= sentence_perplexity(Y, word_ids) < lowest * 1.001
assert (states[3:, 1, latch["law"]] > 0.95).all()
assert (states[:, 1, latch["medicine"]] == 0).all()

# %% [markdown]
# **That is a picture to show to somebody.** The words flash and are gone; one row turns on at *law* and stays on. So the
# network is sure of the *lawyer*. Its perplexity on the three sentences is within a thousandth of the lowest that any model
# can have, and no $n$-gram below $n=11$ gets there. *Try* latches that leak, `hold = 0.5`: which row of the picture
# explains what the network says then?
#
# So **which $f$ should we take?** A tanh of two weighted sums. It can forget at once, fade, or hold a word to the end of a
# sentence: that is up to the numbers in $U$, $W$ and $b$.

# %% [markdown]
# ## Summary
#
# - A **hidden state** is a hidden layer that reads its own last answer:
#   $h_t=\tanh(x_tU+h_{t-1}W+b)$. From zeros, or with $W=0$, it is the plain layer.
# - Outputs are read off the state: $o_t=h_tV+c$, $y_t=\operatorname{softmax}(o_t)$. Subtract the largest logit first.
# - $U,W,b,V,c$ are **shared** over time. Their size, $DH+H^2+H+HQ+Q$, does not depend on $T$.
# - The state is **all that is kept** of the past: a run can be cut anywhere. It never sees the future.
# - $W$ sets the memory: a small one forgets for certain; above 1 a unit can latch.
# - Books differ in rows and columns, in letters and subscripts; PyTorch stores transposes and two biases.
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
# **Model answer.** (a) With $W=0$ the state is $h_t=\tanh(x_tU+b)$: a function of the present character alone. So
# the prediction depends on the last character only, which is what a bigram model does; it cannot even be better than the
# best bigram table, since equal last characters give equal predictions. That it predicts "quite well" says only that
# bigrams are not bad at characters. (b) The recall experiment: with $W=0$ the character read one step ago can no longer
# be read off the state, beyond what the present one gives away, so the curve drops from 1 to about 0.2 at $k=1$. (Also
# right: the same input three times gives the same state three times; a knock is gone at once; the three students cannot be
# told apart, and each profession gets a third.) (c) Two of these: one-hot inputs make every two words equally different, so
# what is learned about "doctor" helps nothing with "surgeon"; a state of fixed size must hold an ever longer past, so something is lost; the
# output layer grows with the vocabulary, and each step pays for all $Q$ words; step $t$ needs the state of step $t-1$, so
# the loop over a long text takes as long with many processors as with one; a small $W$ forgets for certain and a large one holds wrong things for ever, so long
# memories are hard to set, or to learn; a word outside of the vocabulary cannot be read at all.
#
# **Rubric.** 1 point: the state depends on $x_t$ only, and this is a bigram (2-gram) model. 1 point: an experiment that
# tells the two apart, with its outcome (for a mere name without an outcome: ½). 1 point: two real problems, each with its
# cost (½ for one, or for two without what they cost).
# ### END SOLUTION

# %% [markdown]
# ## Where to read on
#
# - J. L. Elman, *Finding Structure in Time*, Cognitive Science 14, 1990: the paper that this cell comes from. Its networks
#   discover words in a stream of letters.
# - I. Goodfellow, Y. Bengio, A. Courville, *Deep Learning*, MIT Press 2016, section 10.2; A. Zhang, Z. Lipton, M. Li, A. Smola,
#   *Dive into Deep Learning*; D. Jurafsky, J. Martin, *Speech and Language Processing*, third edition (draft): the same cell,
#   in their notations.
# - H. Jaeger, *The "echo state" approach to analysing and training recurrent neural networks*, GMD report 148, 2001: how
#   far an untrained state with a trained readout can go.
# - A. Karpathy, *min-char-rnn*, 2015 (a gist on GitHub): 112 lines of NumPy, of which you can now read half.
# - Q. Le, N. Jaitly, G. Hinton, *A Simple Way to Initialize Recurrent Networks of Rectified Linear Units*, 2015.
#
# ## The question for unit 04
#
# Nobody can think up the weights for English. But we can *measure* how wrong a prediction is, and ask in which direction each
# number should move. The trouble is that $W$ is used at every step. Change it, and *every* state changes. **How do we learn
# $U$, $W$ and $b$, when each of them acts everywhere in time?** That is [unit 04](../04_bptt/04_bptt.ipynb).

# %% tags=["experiment"]
progress("03_cell")
