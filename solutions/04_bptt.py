# %% [markdown]
# # 04 · Backpropagation through time
#
# **When you are done you will be able to**
#
# - write down the loss of a batch of sequences, with padding, and its gradient;
# - take a gradient back through the output layer, through one step of the cell, and through all of time;
# - say why this costs $O(T)$ in time and in memory;
# - test a gradient, and say why a falling loss is no such test;
# - train a network with your own gradient until it recites a line by heart.
#
# **Time:** about four hours, best in two sittings (the second begins with section 7); the optional section 12 comes on
# top. **Before you start:** the cell of [unit 03](../03_cell/03_cell.ipynb) and the chain rule. There are 9 exercises,
# the last of which is optional, and one written question: 33 points in all.
#
# All exercises are NumPy, without `torch`. All arrays but targets and masks hold floats. Answers keep the dtype and leave
# arguments as they are. Write each guess down before you run a cell. What is trained and measured stands in
# `rnncourse.experiments.bptt`.

# %% locked="setup"
import numpy as np

from rnncourse import check, hint, progress, use
from rnncourse.cell import output_layer, rnn_forward, rnn_step, softmax

np.set_printoptions(precision=3, suppress=True)

# %% tags=["experiment"]
progress("04_bptt")

# %% [markdown]
# ## The question that unit 03 left open
#
# You can run a network: $U$, $W$, $b$, $V$, $c$ and a sequence go in, a probability for every next symbol comes out.
# But the parameters were always *given*. Where do good ones come from?
#
# From the slope. One number, the loss $L$, says how bad the output is. The gradient says for each parameter how steeply
# $L$ changes with it. Take a small step downhill, and do it again.
#
# For an ordinary network the gradient comes from backpropagation, the chain rule from the output back to the input.
# What is new here is that $W$ is used at *every* step. Move one entry of $W$ a little, and $h_1$ changes. $h_2$ changes
# for two reasons: $W$ has changed, and $h_1$ has. **How do you add all this up without paying for every one of these
# paths separately?**

# %% [markdown]
# ## 1 · The loss of a sequence
#
# At each step the network gives $y_t$, one probability for each of $Q$ symbols. Then the next symbol comes, the
# *target* $q_t$. A good network gave it a high probability, $y_t[q_t]$, and we charge it
#
# $$L_t = -\log y_t[q_t]$$
#
# Why the logarithm? The probability of the whole sequence is the product of these probabilities ([unit
# 01](../01_ngram/01_ngram.ipynb)), and the logarithm turns that product into a sum. So the loss of a sequence is the
# sum over its steps: the *negative log-likelihood*, NLL for short.

# %% tags=["experiment"]
from rnncourse.plots import backward_arrows, loss_graph, show

show(loss_graph(3))

# %% [markdown]
# A batch has $N$ sequences, its rows. We sum over the steps and take the mean over the rows:
#
# $$L = \frac{1}{N} \sum_{n=1}^{N} \sum_{t=1}^{T} m_{tn} \left( -\log y_{tn}[q_{tn}] \right)$$
#
# The **mask** $m_{tn}$ is 1 where a step counts and 0 where it does not. Sequences of different lengths share an array:
# the short ones are filled up with padding, and what the network says there must not count. $N$ counts every row,
# however much of it is padding.
#
# *By hand*: one row, two steps, two symbols. The logits are $(0,0)$ and $(0,\log 3)$, and the targets are 0 and 0. The
# softmax gives $(\tfrac12, \tfrac12)$ and $(\tfrac14, \tfrac34)$. So $L=-\log \tfrac12-\log \tfrac14=\log 8 \approx
# 2.079$. With a mask of $(1,0)$ only the first step counts, and $L=\log 2 \approx 0.693$.

# %% [markdown]
# ### Exercise 4.1 · `sequence_nll`
# *●○○ · 10 minutes · 3 points*
#
# Write the loss $L$: `logits` is `(T, N, Q)`, `targets` is `(T, N)` and holds whole numbers from 0 to $Q-1$, and `mask`
# is `(T, N)`, of bool or of 0 and 1. **It may be left out**, and then every step counts. The answer is one number.
# Where the mask is 0, the targets are valid symbols too, so you need not avoid them.
#
#     logits  [[[0, 0]], [[0, log 3]]]     targets  [[0], [0]]     gives 2.079
#
# The loss must stay finite when the network is sure and wrong: for the logits 0 and 1000 and the target 0 it is 1000.
# The softmax there has become exactly 0, and its log is $-\infty$. So take the log by hand. Subtract the largest logit
# first, so that no $e^{\dots}$ overflows:
#
# $$-\log y[q] = \log \sum_j e^{o_j - \max o} - (o_q - \max o)$$
#
# For all t and n at once, `logits[t, n, targets[t, n]]` is
#
#     np.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]


# %% answer="sequence_nll"
def sequence_nll(logits, targets, mask=None):
    """Loss of a batch: logits (T, N, Q), targets (T, N), mask (T, N) or None -> a number, summed over T, mean over N."""
    ### BEGIN SOLUTION
    shifted = logits - logits.max(axis=-1, keepdims=True)
    picked = np.take_along_axis(shifted, targets[..., None], axis=-1)[..., 0]
    losses = np.log(np.exp(shifted).sum(axis=-1)) - picked
    if mask is not None:
        losses = losses * mask
    return losses.sum() / logits.shape[1]
    ### END SOLUTION


# %% check="sequence_nll"
check(sequence_nll)

# %% [markdown]
# You own the number that all training is about. **Guess** the loss of a network that knows nothing and gives each of 40
# symbols the probability $1/40$, over 25 steps.

# %% tags=["experiment"]
nll = use(sequence_nll)
T, N, Q = 25, 4, 40
my_guess = 0
targets = np.random.default_rng(0).integers(0, Q, size=(T, N))
loss = nll(np.zeros((T, N, Q)), targets)
print("you guessed:", my_guess, " measured:", round(float(loss), 3))

# %% tags=["author"]
assert abs(nll(np.zeros((T, N, Q)), targets) - T * np.log(Q)) < 1e-9, "T log Q was expected."

# %% [markdown]
# It is $T \log Q$, whatever the targets are. If your network starts far above that, look at your data and your weights
# before you blame your gradient.

# %% [markdown]
# ## 2 · The first step back: from the loss to the logits
#
# From here on, $do$ is short for $\partial L / \partial o$, and likewise for every letter. A gradient has the shape of
# what it belongs to: $o_t$ is $(N,Q)$, so $do_t$ is $(N,Q)$.
#
# Take one prediction with target $q$. Written out, its loss is
#
# $$L_t = -\log \frac{e^{o_q}}{\sum_j e^{o_j}} = -o_q + \log \sum_j e^{o_j}$$
#
# Its slope with respect to $o_i$ has two parts. The first term gives $-1$ if $i$ is the target, else 0. The second
# gives $e^{o_i} / \sum_j e^{o_j}$, and that is the softmax again, $y_i$. Together:
#
# $$do = y - \text{onehot}(q)$$
#
# Here $\text{onehot}(q)$ is 1 at entry $q$ and 0 elsewhere. So the gradient is what the network said, minus what it
# should have said.
#
# *By hand*: for the logits $(0,\log 3)$ we had $y=(\tfrac14, \tfrac34)$. The target is 0, so $do=(\tfrac14-1,
# \tfrac34)=(-0.75, 0.75)$. A step against the gradient raises the first logit and lowers the second.
#
# In a batch, whatever multiplies a loss multiplies its gradient: $\; do_{tn} = m_{tn}\,(y_{tn} - \text{onehot}) / N$.

# %% [markdown]
# ### Exercise 4.2 · `nll_backward`
# *●●○ · 12 minutes · 3 points*
#
# The gradient of `sequence_nll` with respect to the logits: the same arguments (the mask may be left out again), and an
# answer of shape `(T, N, Q)`.
#
#     logits  [[[0, log 3]]]     targets  [[0]]     gives [[[-0.75, 0.75]]]


# %% answer="nll_backward"
def nll_backward(logits, targets, mask=None):
    """Gradient of sequence_nll: logits (T, N, Q), targets (T, N), mask (T, N) or None -> dO (T, N, Q)."""
    ### BEGIN SOLUTION
    T, N, _ = logits.shape
    dO = softmax(logits)
    dO[np.arange(T)[:, None], np.arange(N), targets] -= 1
    if mask is not None:
        dO *= np.asarray(mask, dtype=bool)[..., None]
    return dO / N
    ### END SOLUTION


# %% check="nll_backward"
check(nll_backward)

# %% [markdown]
# You can tell a network, for every symbol at every step, which way to lean.

# %% [markdown]
# ## 3 · Through a matrix product
#
# The output layer is $o_t=h_t V+c$. To go back through it you need two rules. The first is for a product of matrices,
# forwards $Z=A B$:
#
# $$dA = dZ \, B^\top \qquad dB = A^\top \, dZ$$
#
# Where does it come from? An entry $A_{ij}$ is multiplied by row $j$ of $B$ and lands in row $i$ of $Z$. So it gets
# what arrives in row $i$ of $dZ$, weighted with row $j$ of $B$: the sum over all columns $l$ of $dZ_{il} B_{jl}$. That
# is the first formula, and the second is the same for $B$. If you forget them, look at the shapes: usually only one way
# to multiply the two fits.
#
# The second rule: **what is used several times gets the sum**. The bias $c$ is added to every row at every step, so
# $dc$ is the sum of all rows of all $do_t$. $V$ is used at every step too, so $dV$ is the sum of $h_t^\top do_t$ over
# $t$. There is no mean: the $1/N$ is in $do$ already.
#
# *By hand*, one step, one row, one unit, two symbols: $h=3$, $V=(4,5)$, $do=(1,2)$. Then $dh=1\cdot 4+2\cdot 5=14$,
# $dV=(3\cdot 1, 3\cdot 2)=(3, 6)$, and $dc=(1,2)$.

# %% [markdown]
# ### Exercise 4.3 · `output_backward`
# *●○○ · 8 minutes · 2 points*
#
# From `dO (T, N, Q)`, the states `H (T, N, H)` and `V (H, Q)` to the tuple `(dH, dV, dc)`: `dH (T, N, H)`, `dV (H, Q)`
# and `dc (Q,)`.
#
#     dO [[[1, 2]]]     H [[[3]]]     V [[4, 5]]     gives dH [[[14]]], dV [[3, 6]], dc [1, 2]


# %% answer="output_backward"
def output_backward(dO, H, V):
    """Back through o = h V + c: dO (T, N, Q), H (T, N, H), V (H, Q) -> dH (T, N, H), dV (H, Q), dc (Q,)."""
    ### BEGIN SOLUTION
    dH = dO @ V.T
    dV = np.einsum("tnh,tnq->hq", H, dO)
    dc = dO.sum(axis=(0, 1))
    return dH, dV, dc
    ### END SOLUTION


# %% check="output_backward"
check(output_backward)

# %% [markdown]
# Each state now knows what *its own output* sends it.

# %% [markdown]
# ## 4 · Two arrows lead into every state
#
# A state $h_t$ makes the output $o_t$, and it goes into the next state $h_{t+1}$. So two arrows lead back into it. What
# they bring, the gradient $dh_t$, is also called the *error* of the state.

# %% tags=["experiment"]
show(backward_arrows())

# %% [markdown]
# Write $a_t=x_t U+h_{t-1} W+b$ for what the tanh is taken of, so that $h_t=\tanh a_t$. Going back, step $t$ has three
# lines:
#
# $$
# \begin{aligned}
# dh_t &= do_t V^\top + da_{t+1} W^\top && \text{both arrows, added up}\\
# da_t &= dh_t \odot (1 - h_t^2) && \text{through the tanh}\\
# dh_{t-1} &\leftarrow da_t W^\top && \text{what step } t \text{ sends back to step } t-1
# \end{aligned}
# $$
#
# The slope of $\tanh a$ is $1-\tanh^2 a$, and $\tanh a_t$ is the $h_t$ that you have already. $\odot$ is the product
# entry by entry. After the last step comes no other: its second arrow brings 0. You need $da_{t+1}$ to get $da_t$, so
# you walk from $T$ down to 1. That is **backpropagation through time** (BPTT): backpropagation on the unfolded graph.
#
# ### Numbers, before matrices
#
# One unit, one row, two steps: $u=0.5$, $w=2$, $b=0$, $h_0=0.5$, and the inputs $-1$ and $0$. Let the loss be
# $L=h_1+h_2$, so that each state gets an error of exactly 1 from its own output. Forwards:
#
# | | $a_t=0.5\,x_t+2\,h_{t-1}$ | $h_t=\tanh a_t$ | slope $1-h_t^2$ |
# |---|---|---|---|
# | $t=1$ | $-0.5+1=0.5$ | 0.462 | 0.786 |
# | $t=2$ | $0+0.924=0.924$ | 0.728 | 0.470 |
#
# And backwards, so read from the last row to the first:
#
# | | own error | from step $t+1$ | $dh_t$ | $da_t$ | goes on to $h_{t-1}$ |
# |---|---|---|---|---|---|
# | $t=1$ | 1 | 0.940 | 1.940 | $1.940\cdot 0.786=1.526$ | $1.526\cdot 2=3.052$ |
# | $t=2$ | 1 | 0 | 1 | $1\cdot 0.470=0.470$ | $0.470\cdot 2=0.940$ |
#
# Now $w$. At step $t$ it was multiplied by $h_{t-1}$ and the product went into $a_t$, so this use of it gets
# $h_{t-1}\,da_t$. It was used twice, and the two parts add up:
#
# $$dw = h_0\,da_1 + h_1\,da_2 = 0.5 \cdot 1.526 + 0.462 \cdot 0.470 = 0.763 + 0.217 = 0.980$$
#
# In the same way $du=x_1 da_1+x_2 da_2=-1.526$, $db=da_1+da_2=1.996$, $dx=(0.5\,da_1, 0.5\,da_2)=(0.763, 0.235)$, and
# $dh_0=3.052$. Is it true? Move $w$ by a thousandth each way. **Guess** for another $w$, such as 0: is the slope larger
# or smaller there?

# %% tags=["experiment"] dials="w = 0.0; w = -3.0"
w = 2.0


def loss_of(w, u=0.5, b=0.0, h=0.5):
    h1 = np.tanh(u * -1 + w * h + b)
    h2 = np.tanh(u * 0 + w * h1 + b)
    return h1 + h2


slope = (loss_of(w + 0.001) - loss_of(w - 0.001)) / 0.002
print(f"slope of L at w = {w}: {slope:.3f}")

# %% tags=["author"]
assert abs((loss_of(2.001) - loss_of(1.999)) / 0.002 - 0.980) < 1e-3, (
    "The slope that was worked out by hand was expected."
)

# %% [markdown]
# At 2 it is 0.980, as by hand. *Try* $w=0$: there it is small and negative.
#
# ### One step, in matrices
#
# Forwards, one step is $a = x U + h_{\text{prev}} W + b$ and $h=\tanh a$. The two rules of section 3 give all that goes
# back:
#
# | gradient | is | shapes | shape |
# |---|---|---|---|
# | $da$ | $dh \odot (1-h^2)$ | $(N, H) \odot (N, H)$ | $(N,H)$ |
# | $dx$ | $da\; U^\top$ | $(N,H)(H,D)$ | $(N,D)$ |
# | $dh_{\text{prev}}$ | $da\; W^\top$ | $(N,H)(H,H)$ | $(N,H)$ |
# | $dU$ | $x^\top da$ | $(D,N)(N,H)$ | $(D,H)$ |
# | $dW$ | $h_{\text{prev}}^\top\, da$ | $(H,N)(N,H)$ | $(H,H)$ |
# | $db$ | sum of the rows of $da$ | $(N,H)$ | $(H,)$ |
#
# Two rows have a trap. $W$ is square, so $da\,W$ fits as well as $da\,W^\top$; and $h$ has the shape of
# $h_{\text{prev}}$. No shape warns you there.

# %% [markdown]
# ### Exercise 4.4 · `rnn_step_backward`
# *●●○ · 12 minutes · 3 points*
#
# Back through one step. `dh (N, H)` is the whole error of $h$, both arrows added up already. `x` is `(N, D)`, `h_prev`
# and `h` are `(N, H)`, `U` is `(D, H)`, `W` is `(H, H)`. Return `(dx, dh_prev, dU, dW, db)`.
#
#     dh [[1]]   x [[2]]   h_prev [[3]]   h [[0.5]]   U [[4]]   W [[8]]
#     gives  dx [[3]]   dh_prev [[6]]   dU [[1.5]]   dW [[2.25]]   db [0.75]


# %% answer="rnn_step_backward"
def rnn_step_backward(dh, x, h_prev, h, U, W):
    """Back through h = tanh(x U + h_prev W + b), from dh (N, H).

    x (N, D), h_prev (N, H), h (N, H), U (D, H), W (H, H)
    -> dx (N, D), dh_prev (N, H), dU (D, H), dW (H, H), db (H,)
    """
    ### BEGIN SOLUTION
    da = dh * (1 - h**2)
    return da @ U.T, da @ W.T, x.T @ da, h_prev.T @ da, da.sum(axis=0)
    ### END SOLUTION


# %% check="rnn_step_backward"
check(rnn_step_backward)

# %% [markdown]
# That is all the calculus in a recurrent network. What is left is bookkeeping.

# %% [markdown]
# ## 5 · The chain through time
#
# The unfolded graph again, with the gradient's way back:

# %% tags=["experiment"]
show(loss_graph(3, backward=True))

# %% [markdown]
# How many paths lead from the loss back to $W$? The error of output $t$ can reach every use of $W$ at a step $s \le t$.
# So there are $T(T+1)/2$ paths, 5,050 for a hundred steps. (What a long path does to an error is the subject of [unit
# 05](../05_gradient_flow/05_gradient_flow.ipynb).)
#
# But nobody has to walk them one by one. Two errors that have met at a state take the same path from there, so you
# **add them up where they meet** and walk on once. That is the plus in the first line of section 4, and it turns
# $T(T+1)/2$ paths into $T$ steps. In the numbers there, $0.940$ met $1$ at $h_1$, and $1.940$ went on.
#
# At step $t$ the walk asks for $x_t$, $h_t$ and $h_{t-1}$. So all states of the forward pass are kept until the
# backward pass comes by.

# %% [markdown]
# ### Exercise 4.5 · `rnn_backward`
# *●●● · 20 minutes · 5 points*
#
# Back through a whole run of `rnn_forward`. `dH (T, N, H)` holds, for each state, the error **from its own output
# only**, as `output_backward` gives it; what comes from the steps after it, you add. `X` is `(T, N, D)`, `h0` is `(N,
# H)`, `H (T, N, H)` are the states $h_1, \dots, h_T$ (in Python `H[0]` is $h_1$, and $h_0$ is not among them), `U` is
# `(D, H)`, `W` is `(H, H)`. Return `(dX, dh0, dU, dW, db)`, of the shapes of `X`, `h0`, `U`, `W` and `b (H,)`.
#
# You may call your `rnn_step_backward`; while this exercise is checked, the course's stands in for it. `dH` still
# belongs to whoever gave it to you. `np.zeros_like(h0)` keeps the dtype, `np.zeros(h0.shape)` makes float64.
#
#     dH [[[1]], [[1]]]   X [[[-1]], [[0]]]   h0 [[0.5]]   H [[[0.462]], [[0.728]]]   U [[0.5]]   W [[2]]
#     gives, rounded,  dX [[[0.763]], [[0.235]]]   dh0 [[3.052]]   dU [[-1.526]]   dW [[0.980]]   db [1.996]
#
# These are the numbers of section 4.


# %% answer="rnn_backward"
def rnn_backward(dH, X, h0, H, U, W):
    """Backpropagation through time.

    dH (T, N, H), X (T, N, D), h0 (N, H), H (T, N, H), U (D, H), W (H, H)
    -> dX (T, N, D), dh0 (N, H), dU (D, H), dW (H, H), db (H,)
    """
    ### BEGIN SOLUTION
    dX, from_later = np.zeros_like(X), np.zeros_like(h0)
    dU, dW, db = np.zeros_like(U), np.zeros_like(W), np.zeros_like(W[0])
    for t in reversed(range(len(X))):
        h_prev = H[t - 1] if t > 0 else h0
        dh = dH[t] + from_later
        dX[t], from_later, dU_t, dW_t, db_t = rnn_step_backward(dh, X[t], h_prev, H[t], U, W)
        dU += dU_t
        dW += dW_t
        db += db_t
    return dX, from_later, dU, dW, db
    ### END SOLUTION


# %% check="rnn_backward"
check(rnn_backward)

# %% [markdown]
# You have written backpropagation through time.
#
# ### The error on its way
#
# A network that has learned nothing yet has read *hell*, and should have said *ello*. Below each state stands its
# error, the darker the larger. **Guess** which of the four is the largest. Then press *Play*, or walk with *Back* and
# *Next*.

# %% tags=["experiment"]
from rnncourse.experiments.bptt import error_on_its_way
from rnncourse.plots.through_time import backward_pass

states, errors = error_on_its_way("hello", use(rnn_step_backward))
backward_pass(states, errors, "ello").show(title="The way back through time")

# %% tags=["author"]
sizes = np.abs(errors).max(axis=1)
assert list(sizes) == sorted(sizes, reverse=True), "The first error was expected to be the largest here."

# %% [markdown]
# The first: it has gathered a part of all four losses on the way.
#
# ### All five gradients
#
# Put your pieces together, and you have the gradient for all five parameters. Every sequence starts from $h_0=0$ here,
# and what reaches $h_0$ is dropped.

# %% tags=["experiment"]
nll_back, output_back, bptt = use(nll_backward), use(output_backward), use(rnn_backward)


def loss_and_gradients(p, X, targets):
    """The loss, its gradient for each parameter in the dict p, and the logits."""
    h0 = np.zeros((X.shape[1], len(p["W"])))
    H = rnn_forward(X, h0, p["U"], p["W"], p["b"])
    O = output_layer(H, p["V"], p["c"])
    dH, dV, dc = output_back(nll_back(O, targets), H, p["V"])
    _, _, dU, dW, db = bptt(dH, X, h0, H, p["U"], p["W"])
    return nll(O, targets), {"U": dU, "W": dW, "b": db, "V": dV, "c": dc}, O


# %% [markdown]
# ### Where the parameters start
#
# $W$ is drawn at random, its entries of a size of $1/\sqrt H$. Why? An entry of $h_{t-1} W$ is a sum of $H$ products.
# Independent terms partly cancel, so that the sum is about $\sqrt H$ times as large as one of them. *By hand*: 100
# states of size 0.5 and weights of size 1 give a sum of size $0.5\cdot \sqrt{100}=5$. There the tanh is flat, its slope
# is $1-\tanh^2 5=0.0002$, and an error that passes it is as good as lost. Weights of size $1/\sqrt{100}$ give 0.5
# again, where the slope is $0.79$. ($U$ is divided by $\sqrt D$ for the same reason. $V$ starts small, so that the loss
# begins near $T \log Q$.)

# %% [markdown]
# ## 6 · Teach it to spell
#
# The classic first task: read h, e, l, l and say at each letter what comes next. A model without memory cannot do it:
# after the first l comes an l, after the second an o. Plain **gradient descent** takes a step downhill for each
# parameter $\theta$, with a learning rate $\eta$ of 0.1:
#
# $$\theta \leftarrow \theta - \eta \, d\theta$$
#
# **Guess**: which of the four letters will it get right first, and which last? What will it say to everything, at
# first?

# %% tags=["experiment"] dials="word = 'banana'; learning_rate = 0.03; learning_rate = 0.3"
from rnncourse.experiments.bptt import spell
from rnncourse.plots.bptt import spelling_grid

word = "hello"
learning_rate = 0.1


def descend(p, gradients, learning_rate):
    for name in p:
        p[name] -= learning_rate * gradients[name]


losses, said, sure = spell(word, learning_rate, 100, loss_and_gradients, descend)
rows = (0, 2, 5, 10, 20, 40, 100)
show(spelling_grid(word, {k: said[k] for k in rows}, {k: sure[k] for k in rows}))
print(f"loss before: {losses[0]:.2f}, after 100 updates: {losses[100]:.2f}")

# %% tags=["author"]
hello = spell("hello", gradients=loss_and_gradients, step=descend)[1]
assert [hello[k] for k in (2, 5, 10, 100)] == ["llll", "lllo", "ello", "ello"], "Another course of things was expected."

# %% [markdown]
# After two updates the network says l to everything, since l is the most frequent answer. After five it tells the two
# l's apart: the input is the same both times, so it is the state that knows. After ten all four are right, and from
# there on it only grows surer.
#
# **Claim:** after 100 updates the network reads *hell* and says *ello*.
#
# It did so in {{held spells_hello}} runs. A network that reads each letter by itself, without a state, gets
# {{hello/no state/letters right|median .0f}} of the four letters right. *Try* a word of your own, such as *banana*, or
# another learning rate.

# %% [markdown]
# ## 7 · The loss falls. So the gradient is right?
#
# Here are thirteen backward passes. Each has one mistake, of a kind that people really make. We train with each of them
# on a tongue twister: 100 updates of gradient descent, all from the same start. A fourteenth gives nothing but zeros,
# so that $U$, $W$ and $b$ stay as they were drawn.
#
# **Guess**: with how many of the thirteen does the loss fall, by more than a tenth? And with the zeros?

# %% tags=["experiment"]
from rnncourse.experiments.bptt import losses_left, suspects
from rnncourse.plots.bptt import loss_shares

my_guess = 0
backwards = suspects(right=bptt)
shares = losses_left(backwards)
show(loss_shares(shares))
falling = sum(share < 0.9 for share in list(shares.values())[1:-1])
print("you guessed:", my_guess, " of the thirteen, so many make it fall:", falling)

# %% tags=["author"]
assert falling == 12, "Twelve of them were expected to make the loss fall."
assert max(shares["right"], shares["nothing but zeros"]) < 0.9, "Both were expected to make the loss fall."

# %% [markdown]
# **Claim:** of thirteen wrong gradients, twelve make the loss fall by more than a tenth, and so does nothing but zeros.
#
# First, $V$ and $c$ have their own, right gradients, and make something of whatever states there are: with zeros alone,
# the loss comes down to {{wrong_gradients/all five trained/zeros|median .0%}} of what it was. Second, a wrong gradient
# often still points *downhill*: if $U$, $W$ and $b$ alone are trained,
# {{wrong_gradients/U, W, b alone/fall by a tenth|range .0f}} of the thirteen still make the loss fall by a tenth.
#
# Three runs are the same as the right one. They have their mistake in $dX$, in $dh_0$, or in what $h_0$ does to $dW$,
# and none of it matters as long as $h_0$ is 0 and no layer lies below.
#
# So a falling loss proves little. But the gradient *says* something: if this entry grows by a small $\varepsilon$, the
# loss grows by $\varepsilon$ times the gradient's entry. That can be tested.

# %% [markdown]
# ## 8 · Ask the function itself
#
# Let $f$ be a function of an array $x$, any array, that gives a number. Move one entry of $x$ by $\varepsilon$ up and
# down, all the others as they were, and see how much $f$ changes:
#
# $$\frac{\partial f}{\partial x_i} \approx \frac{f(x + \varepsilon e_i) - f(x - \varepsilon e_i)}{2 \varepsilon}$$
#
# Here $e_i$ is 1 at entry $i$ and 0 elsewhere. Why to *both* sides? Write $f$, for a single number $x$, as a series:
#
# $$f(x \pm \varepsilon) = f \pm \varepsilon f' + \tfrac12 \varepsilon^2 f'' \pm \tfrac16 \varepsilon^3 f''' + \dots$$
#
# The one-sided estimate, $(f(x+\varepsilon)-f(x))/\varepsilon$, has an error of about $\tfrac12 \varepsilon f''$. In
# the difference of both sides the even terms cancel, and the error is about $\tfrac16 \varepsilon^2 f'''$.
#
# *By hand*: $f(x)=x^3$ at $x=2$, where the slope is 12, with $\varepsilon=0.1$. One-sided: $(9.261-8)/0.1=12.61$.
# Central: $(9.261-6.859)/0.2=12.01$.

# %% [markdown]
# ### Exercise 4.6 · `numerical_gradient`
# *●●○ · 12 minutes · 3 points*
#
# Central differences of a function `f` that takes one array and gives one number. `x` is a float64 array **of any
# shape**; the answer is an array of the same shape. Call `f` with arrays of your own: `x` itself is not written to, not
# even for a while, because somebody may hold on to it. The argument `eps` says how far to go.
#
#     f(x) = sum of x**2     x = [1, -3]     gives [2, -6]


# %% answer="numerical_gradient"
def numerical_gradient(f, x, eps=1e-5):
    """Central differences of f, a function of one array that gives a number: x of any shape -> an array like x."""
    ### BEGIN SOLUTION
    gradient = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        above, below = x.copy(), x.copy()
        above[i] += eps
        below[i] -= eps
        gradient[i] = (f(above) - f(below)) / (2 * eps)
    return gradient
    ### END SOLUTION


# %% check="numerical_gradient"
check(numerical_gradient)

# %% [markdown]
# You own a referee. It is slow, but it knows nothing of chain rules, and so it cannot make your mistakes.
#
# How small should $\varepsilon$ be? We move the $W$ of a cell along twenty random directions and compare the slope with
# what your $dW$ says it is. **Guess**: which $\varepsilon$ is best, $10^{-2}$, $10^{-5}$ or $10^{-10}$? How many digits
# are right then, with one side, with both, and in float32?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.bptt import differences
from rnncourse.plots.bptt import differences_chart

numerical = use(numerical_gradient)
epsilons, off = differences(numerical, bptt)
show(differences_chart(epsilons, off))

# %% tags=["author"]
best = {name: min(values) for name, values in off.items()}
assert best["central"] < min(1e-9, best["one-sided"] / 100), "Nine right digits were expected from both sides."
assert best["central,\nfloat32"] > 1e-5, "No more than five right digits were expected in float32."

# %% [markdown]
# Read the picture from right to left, towards smaller $\varepsilon$. First the error falls as the series says, with
# slope 1 for one side and slope 2 for both. Then it rises again: floats carry only 16 digits, and the closer the two
# values of $f$ are, the fewer of these are left in their difference. From both sides $10^{-5}$ is best, with ten right
# digits. In float32, with its seven digits, no $\varepsilon$ is good: **check gradients in float64**.
#
# So, a gradient check done right:
#
# 1. float64, central differences, $\varepsilon$ about $10^{-5}$.
# 2. A loss whose gradient you can hand in. Draw any $dH$ and take $L=\sum dH \odot H$: its gradient with respect to the
#    states is $dH$, whatever you drew.
# 3. Small sizes, all different, so that swapped axes raise an error. None of them 1: over one row a mean is a sum, and
#    over one step nothing travels.
# 4. Nothing that is zero or symmetric by nature: draw $h_0$, draw $b$, draw $dH$ at *every* step.
# 5. *Every* result, entry by entry, against a tolerance relative to its size: about $10^{-6}$.

# %% [markdown]
# ### Exercise 4.7 · `find_broken`
# *●●● · 16 minutes · 4 points*
#
# `backwards` is a dict from names to functions. Each has the signature of your `rnn_backward`, `f(dH, X, h0, H, U, W)`,
# and claims to be one: five arrays of the right shapes come back, for any sizes, and no argument changes.
# Return the **set of names** of those that are wrong in any of the five. Several may be, or all, or none.
#
# You may call `rnn_forward(X, h0, U, W, b)` (imported) and your `numerical_gradient`. Compare with these and not with
# your own `rnn_backward`: a referee should not share a mistake with a player.
#
#     find_broken({"ada": right, "alan": wrong, "grace": right})     gives {"alan"}


# %% answer="find_broken"
def find_broken(backwards):
    """The names of the wrong ones: a dict of name -> function like rnn_backward -> a set of names."""
    ### BEGIN SOLUTION
    rng = np.random.default_rng(0)
    shapes = (5, 3, 2), (3, 4), (2, 4), (4, 4), (4,)
    arguments = [rng.normal(size=shape) for shape in shapes]
    dH = rng.normal(size=(5, 3, 4))

    def loss_with(i):
        return lambda value: (dH * rnn_forward(*arguments[:i], value, *arguments[i + 1 :])).sum()

    numerical = [numerical_gradient(loss_with(i), arguments[i]) for i in range(5)]
    X, h0, U, W, b = arguments
    H = rnn_forward(X, h0, U, W, b)
    broken = set()
    for name, backward in backwards.items():
        gradients = backward(dH, X, h0, H, U, W)
        if not all(np.allclose(g, n, rtol=1e-5, atol=1e-6) for g, n in zip(gradients, numerical)):
            broken.add(name)
    return broken
    ### END SOLUTION


# %% check="find_broken"
check(find_broken)

# %% [markdown]
# Now let your referee look at the suspects of section 7. **Guess** whether it finds the three that trained as well as
# the right one.

# %% tags=["experiment"]
from rnncourse.experiments.bptt import zeros

broken = use(find_broken)(backwards | {"nothing but zeros": zeros})
show(loss_shares(shares, broken))

# %% tags=["author"]
assert broken == set(shares) - {"right"}, "Exactly the wrong ones were expected."

# %% [markdown]
# It finds all of them, and passes the right one. Write the check before the backward pass. (In [unit
# 07](../07_torch_rnn/07_torch_rnn.ipynb) PyTorch will be a second referee.)

# %% [markdown]
# ## 9 · What it costs
#
# The walk back takes $T$ steps, each with the same handful of products. So its **time** is $O(T)$, about twice that of
# the forward pass: for each product forwards there are two backwards, one for each factor. It takes its steps one after
# the other: $da_t$ needs $da_{t+1}$.
#
# Must it? Once all states are known, the rule is linear in the errors. So a *scan* gets them all in about $\log_2 T$
# rounds, if there are processors enough, for more products and more memory. You will write it in [unit
# 14](../14_scans/14_scans.ipynb).
#
# Now the **memory**. **Guess**: your way there and back over 3,200 steps needs how many times as much as over 200?

# %% tags=["experiment", "nbval-ignore-output"] dials="lengths = [10, 20, 40]"
from rnncourse.experiments.bptt import forwards_and_back, peak_memory, run_of

lengths = [200, 400, 800, 1600, 3200]
kilobytes = [peak_memory(forwards_and_back(bptt), run_of(T)) for T in lengths]
for T, kB in zip(lengths, kilobytes):
    print(f"{T:5} steps {kB:8,.0f} kB, {kB / kilobytes[0]:5.2f} times the first")

# %% tags=["author"]
memory = [peak_memory(forwards_and_back(bptt), run_of(T)) for T in (200, 400, 1600)]
each = np.diff(memory) / (200, 1200)
assert each.max() < 1.05 * each.min(), "Every further step was expected to take the same memory, to 5%."

# %% [markdown]
# About 14 times, with our `rnn_backward`: all states wait for the walk, so each further step takes the same number of
# bytes. Memory is $O(T)$ too. (The gradients of the parameters do not grow with $T$, so it is not quite 16.) For a book
# that is too much. Unit 05 shows two ways out: cut the walk short, or keep fewer states and compute the rest again.

# %% [markdown]
# ## 10 · How far back does the blame go?
#
# A path of section 5 has two ends: the output $t$ that an error comes from, and the step $s$ at which it meets $W$. In
# the final $dW$ nobody can see any more what came from where. Sort the paths by their **lag** $k=t-s$, the number of
# steps that the error has travelled:
#
# $$dW = \sum_{k=0}^{T-1} P_k \qquad P_k = \text{the sum over all } t \text{ of what output } t \text{ does to } W \text{ as used in step } t - k$$
#
# *By hand*, with the numbers of section 4. Lag 0: each output's error at its own step, $h_0\cdot (1\cdot
# 0.786)+h_1\cdot (1\cdot 0.470)=0.393+0.217=0.610$. Lag 1: the error of output 2 at step 1; it arrives there as
# $0.940\cdot 0.786=0.739$, and meets $h_0$: $0.5\cdot 0.739=0.370$. Together $0.980$, the $dw$ from before.

# %% [markdown]
# ### Exercise 4.8 · `recurrent_gradient_by_lag`
# *●●● · 16 minutes · 4 points*
#
# The same arguments as `rnn_backward`. The answer is an array `(T, H, H)`: entry `k` is $P_k$, and the sum over the
# first axis is the `dW` of `rnn_backward`. Steps before the first one do not exist: for lag $k$ there are $T-k$ pairs
# of an output and a step. You may call your `rnn_step_backward`. It may take $O(T^2)$ time: that is the price for
# keeping the paths apart.
#
#     dH [[[1]], [[1]]]   X [[[-1]], [[0]]]   h0 [[0.5]]   H [[[0.462]], [[0.728]]]   U [[0.5]]   W [[2]]
#     gives, rounded,  [[[0.610]], [[0.370]]]


# %% answer="recurrent_gradient_by_lag"
def recurrent_gradient_by_lag(dH, X, h0, H, U, W):
    """dW by how far the error has come: the arguments of rnn_backward -> (T, H, H), entry k for a lag of k steps."""
    ### BEGIN SOLUTION
    parts = np.zeros((len(H), *W.shape), dtype=W.dtype)
    for t in range(len(H)):
        error = dH[t]
        for s in reversed(range(t + 1)):
            h_prev = H[s - 1] if s > 0 else h0
            _, error, _, dW, _ = rnn_step_backward(error, X[s], h_prev, H[s], U, W)
            parts[t - s] += dW
    return parts
    ### END SOLUTION


# %% check="recurrent_gradient_by_lag"
check(recurrent_gradient_by_lag)

# %% [markdown]
# You have a microscope for gradients. Point it at a network that reads real text, Python's documentation, character by
# character: once as drawn, and once after 300 updates. (They are updates of **Adagrad**, which divides each entry's
# step by the root of the sum of that entry's squared gradients so far.)
#
# **Guess**: compared with lag 0, how large is the part of lag 20 as drawn? And does training make it larger or smaller?

# %% tags=["experiment"] dials="start = 2.0; start = 0.1"
from rnncourse.experiments.bptt import by_lag_measured, sizes_by_lag
from rnncourse.plots.bptt import by_lag_chart

start = 1.0  # how many times as large as usual W is drawn
sizes = sizes_by_lag(start, by_lag=use(recurrent_gradient_by_lag))
show(by_lag_chart(sizes, by_lag_measured(start)))

# %% tags=["author"]
assert sizes["as drawn"][20] > 0.01 > 0.002 > sizes["trained"][20], "Blame was expected to fade with training."

# %% [markdown]
# **Claim:** after training, the part of lag 20 is less than a five-hundredth of that of lag 0; as drawn it is more than
# a hundredth.
#
# That held in {{held blame_fades}} runs. On a logarithmic axis a straight line is a geometric decline: at each step
# back, the blame is multiplied by about the same factor, and training has made that factor smaller. What the network
# did with a bracket twenty characters ago is *in* the sum, but everything nearer drowns it out. *Try* a $W$ that is
# drawn twice as large, and one a tenth as large.
#
# The picture shows what *learning* hears of, at one moment of training. How long a network can *hold* something is
# another question, and unit 03's latch held it for ever.

# %% [markdown]
# ## 11 · What a check does not see: bugs to hunt
#
# Look at these two lines, somewhere in the loop of a backward pass:
#
#     dh = dH[t]
#     dh += from_later
#
# The numbers that come back are right. **Guess** what happens when this pass is called once more with the same
# arguments.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.bptt import called_twice, overwrites_dH

first, second = called_twice(overwrites_dH, numerical)
print(f"dW is off by {first:.0e} in the first call, by {second:.0e} in the second")

# %% tags=["author"]
assert first < 1e-6 < second, "Only the second call was expected to fail the gradient check."

# %% [markdown]
# `dH[t]` is not a copy, it is a view into `dH`, and `+=` writes into what is on its left: into the array of whoever
# called. So a referee has one more duty: keep a copy of the arguments, and compare afterwards. (The checks of this
# course do.)
#
# Here are more bugs. Which point of the list in section 8 finds each of them, if any?
#
# - At the first step, `H[t - 1]` with `t = 0` is `H[-1]`, the *last* state. Python does not complain.
# - The states are kept as *views* of one array that the next forward pass overwrites. Each run alone is right.
# - The loss is divided by $N$ and the gradient is not.
# - A mean over padded steps: in a batch of short sequences each real symbol counts less.
#
# <details><summary>Answers, when you have thought about them</summary>
#
# - The wrapped index is found by point 5: $dW$ is wrong, whatever $h_0$ is.
# - The views pass. One run alone is right, so run two and compare with the first.
# - The missing $1/N$ is found if the check goes through the whole loss with at least two rows, and not if it starts at $dH$:
#   check the loss and `nll_backward` too.
# - The mean over padding passes whenever the gradient has the same mistake as the loss. A gradient check says that the
#   gradient belongs to the loss, never that it is the loss you meant.
# </details>

# %% [markdown]
# ## 12 · Optional: the same gradient, forwards only
#
# *Forty minutes, not needed later.*
#
# BPTT waits for the end, then walks back. What if there is no end? Then ask at each step what this state owes to each
# parameter, and carry the answer along: the **sensitivity** $S_t=\partial h_t / \partial \theta$, one number for each
# unit *and* each parameter.
#
# *By hand*, the numbers of section 4, for $w$. At first $S_0=0$, since $h_0$ was given. Directly, $w$ is multiplied by
# $h_{t-1}$; through the state, the old sensitivity comes in times $w$; and then there is the slope:
#
# $$S_1 = 0.786\,(0.5 + 2 \cdot 0) = 0.393 \qquad S_2 = 0.470\,(0.462 + 2 \cdot 0.393) = 0.587$$
#
# Each error meets the sensitivity of its own step: $dw=1\cdot 0.393+1\cdot 0.587=0.980$, as before.
#
# For $H$ units lay $U$, $W$ and $b$ below each other, as one matrix $\theta$ of $D+H+1$ rows, and what they are
# multiplied with beside each other, $v_t=[x_t, h_{t-1}, 1]$. Then $a_t=v_t\,\theta$. The entry $\theta_{il}$ stands in
# column $l$, so it acts directly on unit $l$ alone, times $v_{ti}$. With $[j=l]$ for 1 if $j=l$, else 0, and $W_{j'j}$
# for the weight from unit $j'$ to unit $j$:
#
# $$S_{t,\,j,\,il} = (1 - h_{tj}^2) \Big( \sum_{j'} S_{t-1,\,j',\,il}\, W_{j'j} + [j = l]\; v_{ti} \Big)
# \qquad d\theta_{il} = \sum_t \sum_j dH_{tj}\, S_{t,\,j,\,il}$$
#
# and all of this for each row of the batch, summed. This is **real-time recurrent learning**, RTRL.

# %% [markdown]
# ### Exercise 4.9 · `rtrl` (optional)
# *●●● · 20 minutes · 3 points*
#
# `X (T, N, D)`, `h0 (N, H)`, `U`, `W`, `b` as in `rnn_forward`, and `dH (T, N, H)`, for each state the error from its
# own output. Return `(dU, dW, db)`, those of `rnn_backward`, in one loop from the first step to the last. Only $h$ and
# $S$ are carried on, and no states are kept: you may call `rnn_step(x, h_prev, U, W, b)`, but neither `rnn_backward`
# nor `rnn_step_backward`.
#
# `S[:, units, :, units]`, with `units = np.arange(H)`, are the entries with $j=l$ of an $S$ of shape $(N, H, D+H+1,
# H)$, and what you add to them is $v$, $(N,D+H+1)$.
#
#     X [[[-1]], [[0]]]   h0 [[0.5]]   U [[0.5]]   W [[2]]   b [0]   dH [[[1]], [[1]]]
#     gives, rounded,  dU [[-1.526]]   dW [[0.980]]   db [1.996]


# %% answer="rtrl"
def rtrl(X, h0, U, W, b, dH):
    """The gradient forwards in time: X (T, N, D), h0 (N, H), U, W, b, dH (T, N, H) -> dU (D, H), dW (H, H), db (H,)."""
    ### BEGIN SOLUTION
    (N, H), D = h0.shape, len(U)
    theta, h, units = np.concatenate([U, W, b[None]]), h0, np.arange(H)
    S, total = np.zeros((N, H, *theta.shape)), np.zeros_like(theta)
    for x, dh in zip(X, dH):
        v = np.concatenate([x, h, np.ones((N, 1))], axis=1)
        h = rnn_step(x, h, U, W, b)
        S = np.einsum("nmik,mj->njik", S, W)
        S[:, units, :, units] += v
        S *= (1 - h**2)[:, :, None, None]
        total += np.einsum("nj,njik->ik", dh, S)
    return total[:D], total[D:-1], total[-1]
    ### END SOLUTION


# %% check="rtrl"
check(rtrl)

# %% [markdown]
# You have a gradient that is up to date at every step. Why does hardly anybody train with it? **Guess**: for 32 units,
# how many times as many products as BPTT does RTRL take? And which of the two needs more memory for 400 steps of 8
# units?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.bptt import products

walks = {"BPTT": forwards_and_back(bptt), "RTRL": use(rtrl)}
for units in (4, 8, 16, 32):
    back, forth = products(units, inputs=4)
    times = forth / back
    print(f"{units:2} units: products {back:5,} and {forth:9,}, {times:3.0f} times")
for T in (50, 400):
    kB = [peak_memory(walk, run_of(T, 8, 2, 4)) for walk in walks.values()]
    print(f"{T:3} steps of 8 units: {kB[0]:3.0f} and {kB[1]:3.0f} kB")

# %% tags=["author"]
run = run_of(50, 8, 2, 4)
for ours, theirs in zip(walks["RTRL"](*run), walks["BPTT"](*run)):
    assert np.allclose(ours, theirs, rtol=0, atol=1e-10), "The gradient of BPTT was expected."
short, long = ([peak_memory(walk, run_of(T, 8, 2, 4)) for walk in walks.values()] for T in (50, 400))
assert long[0] > 5 * short[0], "The memory of BPTT was expected to grow with T."
assert long[1] < 1.05 * short[1], "The memory of RTRL was expected not to grow with T."

# %% [markdown]
# BPTT takes $3 H (D+H)$ products a step and row, there and back. RTRL has $H^2 (D+H+1)$ sensitivities, and each is a
# sum of $H$ products. That is about $H^2 / 3$ times as much, 341 for 32 units, and a little more with all that the cell
# counts. Its memory does not grow with $T$. So the choice is between memory that grows with $T$ and work that grows
# with $H^4$. As $T$ can be cut into chunks (unit 05), nearly everybody takes the first.

# %% [markdown]
# ## 13 · What you have
#
# - The loss is summed over steps, masked, and divided by $N$. It starts at $T \log Q$. Its gradient at the logits is $(y -
#   \text{onehot})/N$.
# - Two arrows lead into each state: $dh_t=do_t V^\top+da_{t+1} W^\top$, and $da_t=dh_t \odot (1-h_t^2)$.
# - Shared parameters collect a part from every step: $dW=\sum_t h_{t-1}^\top da_t$.
# - The walk costs $O(T)$ in time and in memory.
# - A falling loss proves little. A gradient check, done right, finds wrong numbers.
#
# **So how do you add it all up?** Walk back once. Where two errors meet, add them and carry on with the sum.

# %% [markdown] written="bptt_written" points=3
# ### Written question
# *10 minutes · 3 points, graded by hand; about six sentences*
#
# A friend has written a recurrent network. "The loss falls from 60 to 20 and then stays there. So the backward pass
# must be right; I just need a larger network." Answer your friend. **(a)** Why does this not follow? **(b)** What
# exactly should be tested? Say which function, which sizes, which values. **(c)** What kind of mistake would get past
# that test too?
#
# ### BEGIN SOLUTION
# *Model answer.* A wrong gradient can still point downhill: whenever it makes an angle of less than 90° with the true one, a
# small step along it lowers the loss. And the output layer, whose gradient is right, learns whatever the states are: a
# backward pass of nothing but zeros brought the loss down to about half. Nearly all of our thirteen wrong passes made the
# loss fall, and after the same 100 updates several stood well above the right one. So a plateau may be the network's limit
# or the mistake's; the curve cannot tell. Test the backward pass on its own against central differences of the loss in
# float64 with ε near 1e-5: L = Σ dH ⊙ rnn_forward(X, h0, U, W, b), for all of dX, dh0, dU, dW, db, with T of at least 3 and
# N of at least 2, all sizes different, h0 not zero, and dH drawn at every step. If every entry agrees to about 1e-6,
# relative to its size, the numbers are right. What gets past it is a mistake that does not show in the numbers of one call:
# a caller's array that is changed, a state kept between calls, a view that is overwritten later; or a mistake in the loss
# itself, whose gradient is then right.
#
# *Rubric.* **1 point**: says why a falling loss does not prove the gradient right (wrong but downhill; the output layer
# learns alone; or an example of this unit, such as a dropped arrow or a missing part). **1 point**: names comparison
# with central differences, and at least three of: float64, ε about 1e-5, several steps, several rows, sizes that
# differ, h0 not zero, errors at every step, all five results. **1 point**: names something that the check misses
# (arguments changed in place, state between calls, views, a wrong loss, mistakes in the data), or says that the check
# holds only for the sizes and values that were tried. A plain "compare with PyTorch" in place of differences is worth
# the second point if the sizes are discussed as well.
# ### END SOLUTION

# %% [markdown]
# ## Something to show: by heart
#
# A network of 32 units reads one line, again and again. After so many updates we give it the first letter, and from
# there on it reads what it has said itself.
#
# **Guess** after how many updates it recites the whole line. Then put in a line of your own: this is your code, from
# the first derivative to the last letter.

# %% tags=["experiment"] dials="line = 'the shells she sells are sea shells for sure, and not by the sea shore'"
from rnncourse.experiments.bptt import learn_by_heart
from rnncourse.plots.bptt import recitation

my_guess = 0
line = "she sells sea shells by the sea shore"
recited = learn_by_heart(line, loss_and_gradients, updates=100)
show(recitation(line, recited))
first = recited.index(line) if line in recited else "more than 100"
print("you guessed:", my_guess, " first time by heart after", first, "updates")

# %% tags=["author"]
assert recited[100] == line, "The line was expected to be known by heart."

# %% [markdown]
# **Claim:** after 100 updates a network of 32 units, given one letter, recites the whole line.
#
# That held in {{held recites}} runs, the first time after {{by_heart/with a state/first update|range .0f}} updates.
# Before that it runs in circles, since it reads what it has said; and at 30 updates this one has lost the line again. A
# network without a state must say the same after the same letter, and goes round for ever. A longer line may need more
# updates.

# %% tags=["experiment"]
progress("04_bptt")

# %% [markdown]
# ## The question that this unit leaves open
#
# An error on its way back is multiplied at every step by $W^\top$ and by a slope of at most 1. **What happens to the
# gradient over long distances, what can a network learn in spite of it, and what can you do about it?** That is [unit
# 05](../05_gradient_flow/05_gradient_flow.ipynb).

# %% [markdown]
# ## Where to read on
#
# - P. J. Werbos, "Backpropagation Through Time: What It Does and How to Do It", *Proceedings of the IEEE* 78, 1990: by one
#   of those who found it.
# - A. Karpathy, *min-char-rnn*, 2015: a hundred lines of NumPy. You can read all of it now.
# - I. Goodfellow, Y. Bengio, A. Courville, *Deep Learning*, MIT Press 2016, section 10.2.2.
# - R. J. Williams, D. Zipser, "A Learning Algorithm for Continually Running Fully Recurrent Neural Networks", *Neural
#   Computation* 1, 1989: section 12.
# - J. Duchi, E. Hazan, Y. Singer, "Adaptive Subgradient Methods", *JMLR* 12, 2011: Adagrad.
