# %% [markdown]
# # 04 · Backpropagation through time
#
# **When you are done you will be able to**
#
# - write down the loss of a batch of sequences, with padding, and its gradient;
# - take a gradient back through the output layer, through one step of the cell, and through all of time;
# - say why this costs $O(T)$ in time and in memory;
# - test a gradient so that mistakes do not get past you, and say why a falling loss is no such test;
# - train a network with your own gradient until it spells.
#
# **Time:** about four hours, best in two sittings (the second begins with section 7); half of them are your own
# work. The optional section 12 takes forty minutes more. **Before you start:** the cell of unit 03, the chain rule, and the
# derivative of a sum, a product and a logarithm. There are 9 exercises, the last of which is optional, and one written
# question: 33 points in all. Where a formula is hard to see through, there are numbers below it that you can check by hand.
#
# In all exercises you write NumPy, and may not call `torch`. Answers keep the dtype that they are given (float32 stays
# float32) and leave their arguments as they are. Before an experiment you are asked to guess. Write your guess down: it
# costs half a minute, and you will see more.

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
# You can run a network now: $U$, $W$, $b$, $V$, $c$ and a sequence go in, a probability for every next symbol comes
# out. But the parameters were always *given*: drawn at random, or thought up for three sentences. Where do good ones come
# from?
#
# From the slope. Measure how bad the output is with one number, the loss $L$. Find out for each parameter which way,
# and how steeply, $L$ changes with it: that is the gradient. Then take a small step downhill, and do it again.
#
# For an ordinary network you know how to find the gradient: backpropagation, the chain rule from the output back to the
# input. What is new here is that $W$ is used at *every* step. Move one entry of $W$ a little and $h_1$ changes. $h_2$
# changes for two reasons, because $W$ has changed and because $h_1$ has. And so on, to the end. **How do you add all this
# up without getting lost, and without paying for every one of these paths separately?**

# %% [markdown]
# ## 1 · The loss of a sequence
#
# At each step the network says what it expects: $y_t$, one probability for each of $Q$ symbols. Then the next symbol
# comes, the *target*. A good network gave it a high probability $p_t = y_{t,\,\text{target}}$, and we charge it
#
# $$L_t = -\log p_t ,$$
#
# which is 0 for $p_t = 1$ and grows without bound as $p_t$ goes to 0. Why the logarithm? The probability of the whole
# sequence is the product of the $p_t$ (unit 01), and the logarithm turns that product into a sum. So the loss of a
# sequence is the sum over its steps: the *negative log-likelihood*, NLL for short.

# %% tags=["experiment"]
from rnncourse.plots import loss_graph, show

show(
    loss_graph(3),
    alt="The network unfolded over three steps: inputs x at the bottom, states h in a chain through W, outputs o above, "
    "a loss at every step, and the sum L of the three losses on top.",
)

# %% [markdown]
# A batch has $N$ sequences, its rows. We sum over the steps and take the mean over the rows:
#
# $$L = \frac{1}{N} \sum_{n=1}^{N} \sum_{t=1}^{T} m_{tn} \left( -\log p_{tn} \right)$$
#
# The **mask** $m_{tn}$ is 1 where a step counts and 0 where it does not. You need it when sequences of different
# lengths share an array: the short ones are filled up with padding, and the network must be neither praised nor blamed
# for what it says there. $N$ counts every row, however much of it is padding.
#
# *By hand*: one row, two steps, two symbols. The logits are $(0, 0)$ and $(0, \log 3)$, and the targets are 0 and 0.
# The softmax gives $(\tfrac12, \tfrac12)$ and $(\tfrac14, \tfrac34)$. So $L = -\log \tfrac12 - \log \tfrac14 = \log 8
# \approx 2.079$. With a mask of $(1, 0)$ only the first step counts, and $L = \log 2 \approx 0.693$.

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
# The loss must stay finite when the network is sure and wrong: for the logits 0 and 1000 and the target 0 it is 1000. The
# softmax there has become exactly 0, and its log is $-\infty$. So take the log by hand, with the largest logit $m$
# subtracted first, so that no $e^{\dots}$ overflows: $\;-\log y_k = \log \sum_j e^{o_j - m} - (o_k - m)$.
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
# You own the number that all training is about. It is useful even before any training.
#
# **Claim:** a network that knows nothing and says $1/Q$ each time has a loss of exactly $T \log Q$.
#
# If yours starts far above that, look at your data and your weights before you blame your gradient.

# %% tags=["experiment"]
nll = use(sequence_nll)
T, N, Q = 25, 4, 40
knows_nothing = np.zeros((T, N, Q))
targets = np.random.default_rng(0).integers(0, Q, size=(T, N))
print("loss of a network that knows nothing:", round(float(nll(knows_nothing, targets)), 3))
print("T log Q:                             ", round(T * np.log(Q), 3))
assert abs(nll(knows_nothing, targets) - T * np.log(Q)) < 1e-9, "Expected T log Q: has sequence_nll passed its check?"

# %% [markdown]
# ## 2 · The first step back: from the loss to the logits
#
# From here on, $do$ is short for $\partial L / \partial o$, and likewise for every letter. A gradient has the shape of
# what it belongs to: $o_t$ is $(N, Q)$, so $do_t$ is $(N, Q)$.
#
# Take one prediction with target $k$. Written out, its loss is
#
# $$L_t = -\log \frac{e^{o_k}}{\sum_j e^{o_j}} = -o_k + \log \sum_j e^{o_j} .$$
#
# Its slope with respect to $o_i$ has two parts. The first term gives $-1$ if $i$ is the target, else 0. The second
# gives $e^{o_i} / \sum_j e^{o_j}$, and that is the softmax again, $y_i$. Together:
#
# $$do = y - \text{onehot}(k)$$
#
# Here $\text{onehot}(k)$ is 1 at entry $k$ and 0 elsewhere. So the gradient is what the network said, minus what it should
# have said. There is hardly a nicer formula in this field.
#
# *By hand*: for the logits $(0, \log 3)$ we had $y = (\tfrac14, \tfrac34)$. The target is 0, so $do = (\tfrac14 - 1,
# \tfrac34) = (-0.75, 0.75)$. A step downhill, against the gradient, raises the first logit and lowers the second, as it
# should. The entries add up to 0: what one symbol gains, the others lose.
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
# You can now tell a network, for every symbol at every step, which way to lean. Next, the message has to travel.

# %% [markdown]
# ## 3 · Through a matrix product
#
# The output layer is $o_t = h_t V + c$. To go back through it you need two rules, and you will use them for the rest of the
# course. The first is for a product of matrices, forwards $Z = A B$:
#
# $$dA = dZ \, B^\top \qquad dB = A^\top \, dZ$$
#
# Where does it come from? An entry $a_{ij}$ of $A$ is multiplied by row $j$ of $B$ and lands in row $i$ of $Z$. So it
# gets what arrives in row $i$ of $dZ$, weighted with row $j$ of $B$: $\sum_k dZ_{ik} B_{jk}$. That is the first
# formula, and the second is the same thing for $B$. If you ever forget them, look at the shapes: there is usually only one
# way to multiply the two that fits.
#
# The second rule: **what is used several times gets the sum**. The bias $c$ is added to every row at every step, so
# $dc$ is the sum of all rows of all $do_t$. $V$ is used at every step too, so $dV$ is the sum of $h_t^\top do_t$ over
# $t$. There is no mean anywhere: the $1/N$ came in with the loss and is in $do$ already.
#
# *By hand*, one step, one row, one unit, two symbols: $h = 3$, $V = (4, 5)$, $do = (1, 2)$.
# Then $dh = 1 \cdot 4 + 2 \cdot 5 = 14$, $dV = (3 \cdot 1, 3 \cdot 2) = (3, 6)$, and $dc = (1, 2)$.

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
# Each state now knows what *its own output* thinks of it. That is half of the story.

# %% [markdown]
# ## 4 · Two arrows lead into every state
#
# A state $h_t$ does two things. It makes the output $o_t$, and it goes into the next state $h_{t+1}$. So it is to blame
# for two things, and two arrows lead back into it. (What they bring, the gradient $dh_t$, is also called the *error* of the
# state.)

# %% tags=["experiment"]
from rnncourse.plots import backward_arrows

show(
    backward_arrows(),
    alt="The state h_t with its neighbours. Two dashed arrows, the gradient, lead into h_t: one from the output o_t, one "
    "from the next state h_{t+1}. A third leads on from h_t to h_{t-1}.",
)

# %% [markdown]
# Write $a_t = x_t U + h_{t-1} W + b$ for what the tanh is taken of, so that $h_t = \tanh a_t$. Going back, step $t$ has
# three lines:
#
# $$
# \begin{aligned}
# dh_t &= do_t V^\top + da_{t+1} W^\top && \text{both arrows, added up}\\
# da_t &= dh_t \odot (1 - h_t^2) && \text{through the tanh}\\
# dh_{t-1} &\leftarrow da_t W^\top && \text{what step } t \text{ sends back to step } t-1
# \end{aligned}
# $$
#
# The middle line uses that the slope of $\tanh a$ is $1 - \tanh^2 a$, and $\tanh a_t$ is the $h_t$ that you have
# already: no tanh needs to be computed again. $\odot$ is the product entry by entry. At the last step no later one
# exists, so the second arrow brings 0. You need $da_{t+1}$ to get $da_t$, so you walk from $T$ down to 1. That is
# **backpropagation through time** (BPTT): backpropagation on the unfolded graph.
#
# ### Numbers, before matrices
#
# Take one unit, one row, two steps; $u = 0.5$, $w = 2$, $b = 0$, a first state $h_0 = 0.5$ and inputs $x = (-1, 0)$. Let
# the loss be $L = h_1 + h_2$, so that each state gets an error of exactly 1 from its own output. Forwards:
#
# | | $a_t = 0.5\,x_t + 2\,h_{t-1}$ | $h_t = \tanh a_t$ | slope $1 - h_t^2$ |
# |---|---|---|---|
# | $t = 1$ | $-0.5 + 1 = 0.5$ | 0.462 | 0.786 |
# | $t = 2$ | $0 + 0.924 = 0.924$ | 0.728 | 0.470 |
#
# And backwards, so read from the last row to the first:
#
# | | own error | from step $t+1$ | $dh_t$ | $da_t$ | goes on to $h_{t-1}$ |
# |---|---|---|---|---|---|
# | $t = 1$ | 1 | 0.940 | 1.940 | $1.940 \cdot 0.786 = 1.526$ | $1.526 \cdot 2 = 3.052$ |
# | $t = 2$ | 1 | 0 | 1 | $1 \cdot 0.470 = 0.470$ | $0.470 \cdot 2 = 0.940$ |
#
# Now $w$. At step $t$ it was multiplied by $h_{t-1}$ and the product went into $a_t$, so this use of it gets
# $h_{t-1}\,da_t$. It was used twice, and the two parts add up:
#
# $$dw = h_0\,da_1 + h_1\,da_2 = 0.5 \cdot 1.526 + 0.462 \cdot 0.470 = 0.763 + 0.217 = 0.980$$
#
# In the same way $du = x_1 da_1 + x_2 da_2 = -1.526$, $db = da_1 + da_2 = 1.996$, $dx = (0.5\,da_1, 0.5\,da_2) =
# (0.763, 0.235)$, and $dh_0 = 3.052$ is what went on from step 1. Is it true? Move $w$ by a thousandth each way and look.
#
# **Claim:** measured by differences, the slope of $L$ at $w = 2$ is 0.980, as by hand.


# %% tags=["experiment"]
def loss_of(w, u=0.5, b=0.0, h=0.5):
    h1 = np.tanh(u * -1 + w * h + b)
    h2 = np.tanh(u * 0 + w * h1 + b)
    return h1 + h2


slope = (loss_of(2.001) - loss_of(1.999)) / 0.002
print("slope of L at w = 2:", round(slope, 3))
assert abs(slope - 0.980) < 1e-3, "Expected the slope that was worked out by hand, 0.980. Were u, b, h or x changed?"

# %% [markdown]
# ### One step, in matrices
#
# Forwards, one step is $a = x U + h_{\text{prev}} W + b$ and $h = \tanh a$. The two rules of section 3 give all that
# goes back, and the shapes are a proofreader who never tires:
#
# | gradient | is | shapes | shape |
# |---|---|---|---|
# | $da$ | $dh \odot (1 - h^2)$ | $(N, H) \odot (N, H)$ | $(N, H)$ |
# | $dx$ | $da\; U^\top$ | $(N, H)(H, D)$ | $(N, D)$ |
# | $dh_{\text{prev}}$ | $da\; W^\top$ | $(N, H)(H, H)$ | $(N, H)$ |
# | $dU$ | $x^\top da$ | $(D, N)(N, H)$ | $(D, H)$ |
# | $dW$ | $h_{\text{prev}}^\top\, da$ | $(H, N)(N, H)$ | $(H, H)$ |
# | $db$ | sum of the rows of $da$ | $(N, H)$ | $(H,)$ |
#
# Two rows have a trap. $W$ is square, so $da\,W$ fits as well as $da\,W^\top$; and $h$ has the shape of
# $h_{\text{prev}}$. There the proofreader sleeps, and you have to be awake.

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
# That is all the calculus there is in a recurrent network. What is left is bookkeeping, and that is where people stumble.

# %% [markdown]
# ## 5 · The chain through time
#
# Put the steps together. Here is the unfolded graph again, with the gradient's way back beside every arrow:

# %% tags=["experiment"]
show(
    loss_graph(3, backward=True),
    alt="The unfolded graph of three steps with its losses. Beside each arrow a dashed one runs the other way: from L to "
    "each loss, to each output, to each state, and from each state to the one before it, down to h_0 and to the inputs.",
)

# %% [markdown]
# How many paths lead from the loss back to $W$? The error of output $t$ can reach every use of $W$ at a step $s \le t$.
# On its way it passes the steps $t, t-1, \dots, s$. At each of them it is multiplied by the slope there, and between two of
# them by $W^\top$:
#
# $$dW = \sum_{t=1}^{T} \sum_{s=1}^{t} h_{s-1}^\top \Big( \underbrace{\big( do_t V^\top \odot \sigma_t \big)\, W^\top
# \odot \sigma_{t-1} \cdots\, W^\top \odot \sigma_s}_{\text{the error of output } t \text{, arrived at step } s} \Big)
# \qquad \sigma_t = 1 - h_t^2$$
#
# These are $T(T+1)/2$ paths, 5,050 for a hundred steps. But nobody has to walk them one by one. Two errors that have met
# at the same state take the same path from there, so you **add them up where they meet** and walk on once. That is the
# plus in the first of the three lines of section 4. It turns $T(T+1)/2$ paths into $T$ steps. In the numbers there:
# $0.940$ met $1$ at $h_1$, and $1.940$ went on.
#
# What does the walk need? At step $t$ it asks for $x_t$, $h_t$ and $h_{t-1}$. So all states of the forward pass have to
# be kept until the backward pass comes by.

# %% [markdown]
# ### Exercise 4.5 · `rnn_backward`
# *●●● · 20 minutes · 5 points*
#
# Back through a whole run of `rnn_forward`. `dH (T, N, H)` holds, for each state, the error **from its own output
# only**, as `output_backward` gives it; what comes from the steps after it, you add. `X` is `(T, N, D)`, `h0`
# is `(N, H)`, `H (T, N, H)` are the states $h_1, \dots, h_T$ (in Python `H[0]` is $h_1$, and $h_0$ is not among them).
# Return `(dX, dh0, dU, dW, db)`.
#
# You may call your `rnn_step_backward`; while this exercise is checked, the course's stands in for it, so that no
# mistake costs you twice. `dH` still belongs to whoever gave it to you. `np.zeros_like(h0)` keeps the dtype,
# `np.zeros(h0.shape)` makes float64.
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
# You have written backpropagation through time. Nearly every recurrent network in use was trained by this walk, or by a
# shortened one. Put your pieces together, and you have the gradient of the loss for all five parameters. (Every sequence
# starts from $h_0 = 0$, and what reaches $h_0$ is dropped. It need not be: `dh0` is there, and unit 07 makes use of it.)

# %% tags=["experiment"]
nll, nll_back, output_back, bptt = use(sequence_nll), use(nll_backward), use(output_backward), use(rnn_backward)


def loss_and_gradients(p, X, targets, backward=bptt):
    """The loss, its gradient for each parameter in the dict p, and the logits; every sequence starts from zeros."""
    h0 = np.zeros((X.shape[1], len(p["W"])))
    H = rnn_forward(X, h0, p["U"], p["W"], p["b"])
    O = output_layer(H, p["V"], p["c"])
    dH, dV, dc = output_back(nll_back(O, targets), H, p["V"])
    _, _, dU, dW, db = backward(dH, X, h0, H, p["U"], p["W"])
    return nll(O, targets), {"U": dU, "W": dW, "b": db, "V": dV, "c": dc}, O


def draw_parameters(seed, symbols, hidden):
    """U, W, b, V, c for a network that reads and predicts `symbols` symbols."""
    rng = np.random.default_rng(seed)
    return {
        "U": rng.normal(size=(symbols, hidden)) / np.sqrt(symbols),
        "W": rng.normal(size=(hidden, hidden)) / np.sqrt(hidden),
        "b": np.zeros(hidden),
        "V": 0.1 * rng.normal(size=(hidden, symbols)),
        "c": np.zeros(symbols),
    }


def one_hot(ids, symbols):
    """ids (T, N) -> (T, N, symbols), a 1 at each id."""
    return np.eye(symbols)[ids]


# %% [markdown]
# ### Where the parameters start
#
# `draw_parameters` divides $W$ by $\sqrt H$. Why? An entry of $h_{t-1} W$ is a sum of $H$ products. Independent terms partly
# cancel, so that the sum of $H$ of them is about $\sqrt H$ times as large as one. *By hand*: 100 states of size 0.5 and
# weights of size 1 give a sum of size $0.5 \cdot \sqrt{100} = 5$, and there the tanh is flat: its slope is $1 - \tanh^2 5 =
# 0.0002$. Weights of size $1/\sqrt{100}$ give 0.5 again, where the slope is $0.79$. So with $1/\sqrt H$ a step keeps the size
# of a state, whatever $H$ is. ($U$ is divided by $\sqrt D$ for the same reason; and $V$ starts small, so that the network
# begins near $1/Q$, with the loss $T \log Q$ of section 1.)
#
# **Claim:** with $W$ drawn at a size of $1/\sqrt H$ the tanh has a mean slope above 0.8 for 16, 64 and 256 units. Drawn at a
# size of 1, it falls from below 0.4 for 16 units to below 0.15 for 256.


# %% tags=["experiment"]
def mean_slope(hidden, size, symbols=26):
    """The mean slope of the tanh over 20 random letters, for a W whose entries are of this size."""
    rng, p = np.random.default_rng(0), draw_parameters(0, symbols, hidden)
    letters_read = one_hot(rng.integers(0, symbols, size=(20, 8)), symbols)
    W = p["W"] * np.sqrt(hidden) * size
    return (1 - rnn_forward(letters_read, np.zeros((8, hidden)), p["U"], W, p["b"]) ** 2).mean()


slopes = {H: (mean_slope(H, 1 / np.sqrt(H)), mean_slope(H, 1.0)) for H in (16, 64, 256)}
print("units    W of size 1/√H    W of size 1")
for H, (scaled, unscaled) in slopes.items():
    print(f"{H:5}    {scaled:14.2f}    {unscaled:11.2f}")
assert min(scaled for scaled, _ in slopes.values()) > 0.8, "Expected slopes above 0.8 at a size of 1/√H."
assert slopes[16][1] < 0.4, "Expected a mean slope below 0.4 at a size of 1."
assert slopes[256][1] < 0.15, "Expected a mean slope below 0.15 at a size of 1 and with 256 units."

# %% [markdown]
# Each error is multiplied by such a slope at every step of its way back. Section 10 trains from both starts, and from others.
#
# ### The error on its way
#
# Watch it. A network that has learned nothing yet has read *hell*, and should have said *ello*. Below
# each state stands the error that has met there, the darker the larger. The picture shows the end; below it, press
# *Play*, or walk step by step with *Back* and *Next*.

# %% tags=["experiment"]
from rnncourse.plots.through_time import backward_pass

step_back, ids = use(rnn_step_backward), np.array([["ehlo".index(letter)] for letter in "hello"])
X, p = one_hot(ids[:-1], 4), draw_parameters(0, 4, 5)
H = rnn_forward(X, np.zeros((1, 5)), p["U"], p["W"], p["b"])
dH, *_ = output_back(nll_back(output_layer(H, p["V"], p["c"]), ids[1:]), H, p["V"])
from_later, met = np.zeros((1, 5)), []
for t in (3, 2, 1, 0):
    met.insert(0, dH[t] + from_later)
    _, from_later, *_ = step_back(met[0], X[t], H[t - 1] if t > 0 else np.zeros((1, 5)), H[t], p["U"], p["W"])

backward_pass(H[:, 0], np.array(met)[:, 0], "ello").show(
    alt="Four states in a row, above each its output and its loss. Dashed purple arrows lead from each loss down to its state, "
    "and below the states from each error to the one before it: dh4 comes from its own loss only, dh1 holds a part of all.",
    title="The way back through time, step by step",
)
assert np.allclose(met[3], dH[3]), "Expected no error from later at the last state. Have all checks above passed?"
heard = [np.abs(met[t] - dH[t]).max() for t in range(3)]
assert min(heard) > 0.001, "Expected an error from later at every other state. Have all checks above passed?"

# %% [markdown]
# ## 6 · Teach it to spell
#
# The classic first task: read h, e, l, l and say at each letter what comes next. It is tiny, and yet a model without
# memory cannot do it: after the first l comes an l, after the second an o. Plain **gradient descent** is one line,
# $p \leftarrow p - \eta\, dp$ for each parameter $p$, with a learning rate $\eta$ of 0.1.
#
# **Guess first**: which of the four letters will it get right soonest, and which last? What will it say to everything, at
# first?
#
# **Claim:** after 100 updates the network reads *hell* and says *ello*, and its loss is below a tenth of what it was.

# %% tags=["experiment"]
from rnncourse.plots import line_chart
from rnncourse.plots.bptt import spelling_grid


def spell(word, updates, learning_rate=0.1, hidden=8, seed=0):
    """Train on one word by gradient descent: the losses, the guesses and how sure they were, before each update."""
    letters = sorted(set(word))
    ids = np.array([letters.index(letter) for letter in word])[:, None]
    X, targets = one_hot(ids[:-1], len(letters)), ids[1:]
    p = draw_parameters(seed, len(letters), hidden)
    losses, guesses, sure = [], [], []
    for _ in range(updates):
        loss, gradients, O = loss_and_gradients(p, X, targets)
        losses.append(loss)
        guesses.append("".join(letters[i] for i in O[:, 0].argmax(axis=1)))
        sure.append(softmax(O)[:, 0].max(axis=1))
        for name in p:
            p[name] -= learning_rate * gradients[name]
    return losses, guesses, sure


losses, guesses, sure = spell("hello", 101)
print(f"loss before training {losses[0]:.2f}, and 4 log 4 is {4 * np.log(4):.2f}")
print(f"after 100 updates it reads hell and says {guesses[-1]}, and its loss is {losses[-1]:.2f}")
assert guesses[-1] == "ello", "Expected ello after 100 updates. Have all checks above passed?"
assert losses[-1] < 0.1 * losses[0], "Expected the loss to fall below a tenth. Have all checks above passed?"

show(
    line_chart(range(101), {"hello": losses}, xlabel="updates", ylabel="loss (nats, four letters)"),
    alt="The loss of the network that learns hello against the number of updates: it starts at 5.5 and falls to almost 0 "
    "within a hundred updates.",
)
show(
    spelling_grid("hello", *({k: kept[k] for k in (0, 2, 5, 10, 20, 40, 100)} for kept in (guesses, sure))),
    alt="A grid: a row for each number of updates, a column for each letter read. At first all guesses are wrong or "
    "unsure; from row to row more of them are right and darker, until the last rows read e, l, l, o with high probability.",
)

# %% [markdown]
# Read the grid from top to bottom. After two updates the network says l to everything, since l is the most frequent
# answer. After five it tells the two l's apart: an l follows the first, an o the second. The input is the same both
# times, so it is the state that knows. After ten all four are right, and from there on it only grows surer. Every
# number in this picture came about through your gradients. (It is no lucky start: the claim held in {{held spells_hello}}
# runs. A network that reads each letter by itself, without a state, ends with
# {{spelling/hello, no state/letters right|median .0f}} of the four letters right.)

# %% [markdown]
# ## 7 · The loss falls. So the gradient is right?
#
# It spells, so all is well? Here are thirteen backward passes. Each has one mistake, of a kind that people really make. We
# train with each of them on a tongue twister, 100 updates of gradient descent, all from the same start. And with a
# fourteenth, `nothing`, that gives zeros, so that $U$, $W$ and $b$ stay as they were drawn. **Guess first**: with how many of
# the thirteen does the loss fall, by more than a tenth? And with `nothing`?
#
# **Claim:** of thirteen wrong gradients, at least ten make the loss fall, by more than a tenth. And so does one that gives
# nothing but zeros.

# %% tags=["experiment"]
from rnncourse.exercises.bptt import KINDS, backward_pass
from rnncourse.plots.bptt import loss_shares

twister = "she sells sea shells by the sea shore; the shells she sells are sea shells for sure. "
twister_letters = sorted(set(twister))
twister_ids = np.array([twister_letters.index(letter) for letter in 3 * twister])
rows_of_it = np.stack([twister_ids[10 * n : 10 * n + 21] for n in range(8)], axis=1)
twister_X, twister_targets = one_hot(rows_of_it[:-1], len(twister_letters)), rows_of_it[1:]  # 20 steps, 8 rows


def loss_after_training(backward, seed=1, updates=100, learning_rate=0.02, trained="UWbVc"):
    """The loss after training, as a share of the loss before. The other parameters stay as they were drawn."""
    p, losses = draw_parameters(seed, len(twister_letters), hidden=16), []
    with np.errstate(all="ignore"):
        for _ in range(updates + 1):
            loss, gradients, _ = loss_and_gradients(p, twister_X, twister_targets, backward)
            losses.append(loss)
            for name in trained:
                p[name] -= learning_rate * gradients[name]
    return losses[-1] / losses[0]


def nothing(dH, X, h0, H, U, W):
    """A backward pass that has nothing to say."""
    return tuple(np.zeros_like(array) for array in (X, h0, U, W, W[0]))


suspects = {"right": backward_pass(kind="loop").make()} | {kind: backward_pass(kind=kind).make() for kind in KINDS}
shares = {name: loss_after_training(backward) for name, backward in (suspects | {"nothing": nothing}).items()}
falling = [name for name in KINDS if shares[name] < 0.9]
print(f"of {len(KINDS)} wrong gradients, {len(falling)} make the loss fall")
assert len(falling) >= 10, "Expected at least ten of them to make the loss fall. Have all checks above passed?"
assert max(shares["right"], shares["nothing"]) < 0.9, (
    "Expected the loss to fall by a tenth. Have all checks above passed?"
)

show(
    loss_shares(shares),
    alt="A bar for the right backward pass, for each of thirteen wrong ones, and for one that gives zeros: the loss after 100 "
    "updates as a share of the loss before. Nearly all bars end well below 1; only one training run blows up.",
)

# %% [markdown]
# There are two reasons. The first is the last bar: $V$ and $c$ have their own, right gradients, and learn to make something of
# whatever states there are. Over five starts they alone bring the loss down to {{wrong_gradients/all five trained/nothing}} of
# what it was. The second: a gradient that is wrong is often still *downhill*, so that a small step against it lowers the loss
# all the same. Train $U$, $W$ and $b$ alone, and {{wrong_gradients/U W b alone/fall by a tenth|median .0f}} of the thirteen still
# make the loss fall by a tenth.
#
# Most of these runs are slower, one is not slower at all, and three are the same as the right one. Those three have their
# mistake in $dX$, in $dh_0$, or in what $h_0$ does to $dW$, and none of it matters as long as $h_0$ is 0 and nothing lies
# below. It will matter on the day when you put a second layer underneath, carry a state from one batch to the next, or learn
# the first state. Then you will look for the mistake everywhere but here.
#
# So a falling loss proves little. What would prove more? The gradient *says* something: if this entry grows by a small
# $\varepsilon$, the loss grows by $\varepsilon$ times the gradient's entry. You can simply test whether that is true.

# %% [markdown]
# ## 8 · Ask the function itself
#
# Move one entry of $x$ by $\varepsilon$ up and down, all the others as they were, and see how much $f$ changes:
#
# $$\frac{\partial f}{\partial x_i} \approx \frac{f(x + \varepsilon e_i) - f(x - \varepsilon e_i)}{2 \varepsilon}$$
#
# Here $e_i$ is 1 at entry $i$ and 0 elsewhere. Why to *both* sides? Write $f$, for a single number $x$, as a series:
#
# $$f(x \pm \varepsilon) = f \pm \varepsilon f' + \tfrac12 \varepsilon^2 f'' \pm \tfrac16 \varepsilon^3 f''' + \dots$$
#
# The one-sided estimate, $(f(x + \varepsilon) - f(x))/\varepsilon$, has an error of about $\tfrac12 \varepsilon f''$. In the
# difference of both sides the even terms cancel, and the error is about $\tfrac16 \varepsilon^2 f'''$. For
# $\varepsilon = 10^{-5}$ that is smaller by some five digits, for at most twice as many calls.
#
# *By hand*: $f(x) = x^3$ at $x = 2$, where the slope is 12, with $\varepsilon = 0.1$. One-sided: $(9.261 - 8)/0.1 =
# 12.61$. Central: $(9.261 - 6.859)/0.2 = 12.01$.

# %% [markdown]
# ### Exercise 4.6 · `numerical_gradient`
# *●●○ · 12 minutes · 3 points*
#
# Central differences of a function `f` that takes one array and gives one number. `x` is a float64 array **of any
# shape**; the answer is an array of the same shape. Call `f` with new arrays: `x` itself is not written to, not even
# for a while, because `f` may hold on to it. The argument `eps` says how far to go.
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
# You own a referee. It is slow, since it calls $f$ twice for every entry. But it knows nothing of chain rules, and so it
# cannot make your mistakes. How should $\varepsilon$ be chosen? Smaller is better, says the series. Let us see. We move the
# $W$ of a cell along twenty random directions and compare the slope with what your $dW$ says it is. **Guess first**: is
# $\varepsilon = 10^{-10}$ better than $10^{-5}$? How many digits will be right at best, with one side, with both, and in
# float32?
#
# **Claim:** with the best $\varepsilon$ for each, central differences in float64 are off by less than $10^{-9}$, at least a
# hundred times less than one-sided ones; in float32 no $\varepsilon$ brings the error below $10^{-5}$.

# %% tags=["experiment", "nbval-ignore-output"]
numerical, bptt = use(numerical_gradient), use(rnn_backward)
rng = np.random.default_rng(0)
X, h0, U, W, b = (rng.normal(size=shape) for shape in ((6, 3, 2), (3, 4), (2, 4), (4, 4), (4,)))
W, dH = W / 2, rng.normal(size=(6, 3, 4))
dW = bptt(dH, X, h0, rnn_forward(X, h0, U, W, b), U, W)[3]
ways = rng.normal(size=(20, 4, 4))  # directions in which W is moved, each of length 1
ways /= np.sqrt((ways**2).sum(axis=(1, 2), keepdims=True))


def loss_along(way, dtype):
    """The loss as a function of one number: how far W has gone along `way`."""
    X_, h0_, U_, b_, dH_ = (array.astype(dtype) for array in (X, h0, U, b, dH))
    return lambda s: float((dH_ * rnn_forward(X_, h0_, U_, (W + s * way).astype(dtype), b_)).sum())


def one_sided(f, eps):
    return (f(eps) - f(0.0)) / eps


def central(f, eps):
    return numerical(lambda s: f(s[0]), np.zeros(1), eps)[0]


def largest_error(estimate, eps, dtype=np.float64):
    exact = [(dW * way).sum() for way in ways]
    estimates = [estimate(loss_along(way, dtype), eps) for way in ways]
    return np.abs(np.subtract(estimates, exact)).max() / np.abs(exact).max()


epsilons = 10.0 ** -np.arange(1, 12)
errors = {
    "one-sided": [largest_error(one_sided, eps) for eps in epsilons],
    "central": [largest_error(central, eps) for eps in epsilons],
    "central,\nfloat32": [largest_error(central, eps, np.float32) for eps in epsilons],
}
best = {name: min(values) for name, values in errors.items()}
for name, error in best.items():
    print(
        f"{' '.join(name.split()):16} off by {error:.0e} at its best, at ε = {epsilons[errors[name].index(error)]:.0e}"
    )
assert best["central"] < 1e-9, "Expected nine right digits. Have all checks above passed?"
assert best["central"] < best["one-sided"] / 100, "Expected two more right digits than from one side."
assert best["central,\nfloat32"] > 1e-5, "Expected no more than five right digits in float32."

show(
    line_chart(
        epsilons[::-1],
        {name: values[::-1] for name, values in errors.items()},
        xlabel="ε (how far W is moved)",
        ylabel="largest relative error of a slope",
        logx=True,
        logy=True,
    ),
    alt="Error of numerical gradients against epsilon, both axes logarithmic. Each curve falls and rises again. Central "
    "differences are best near 1e-5, where ten digits are right; one-sided ones get to seven digits; in float32 no more than "
    "three or four are ever right.",
)

# %% [markdown]
# Read the picture from right to left, towards smaller $\varepsilon$. First the error falls as the series says, with
# slope 1 for one side and slope 2 for both. Then it rises again: floats carry only 16 digits, and the closer the two
# values of $f$ are, the fewer of these are left in their difference. For central differences in float64 the best place is
# near $10^{-5}$. In float32, with its seven digits, there is no good place at all: **check gradients in float64**.
#
# So, a gradient check done right:
#
# 1. float64, central differences, $\varepsilon$ about $10^{-5}$.
# 2. A loss whose gradient you can hand in. For a backward pass that takes $dH$ there is a trick: draw any $dH$ and take
#    $L = \sum dH \odot H$. Its gradient with respect to the states is $dH$, whatever you drew.
# 3. Small sizes, all different ($T$, $N$, $D$, $H$), so that swapped axes raise an error. None of them 1: over one row a
#    mean is a sum, and over one step nothing travels.
# 4. Nothing that is zero or symmetric by nature: draw $h_0$, draw $b$, draw $dH$ at *every* step.
# 5. *Every* result, entry by entry, against a tolerance relative to its size: about $10^{-6}$.
#
# Each of these has a reason, and each reason is a mistake that would get past you otherwise.

# %% [markdown]
# ### Exercise 4.7 · `find_broken`
# *●●● · 16 minutes · 4 points*
#
# `backwards` is a dict from names to functions. Each has the signature of your `rnn_backward`, `f(dH, X, h0, H, U, W)`,
# and claims to be one: five arrays of the right shapes come back, for arguments of any sizes. Return the **set of
# names** of those that are wrong in any of the five. Several may be, or all, or none.
#
# You may call `rnn_forward` (imported) and your `numerical_gradient`. Compare with these and not with your own
# `rnn_backward`: a referee should not share a mistake with a player.
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
# Now let your referee look at the fourteen suspects of section 7, and put both tests side by side.
#
# **Claim:** the gradient check finds all thirteen wrong gradients, and passes the right one.

# %% tags=["experiment"]
referee = use(find_broken)
found = referee(suspects)
print(f"{'backward pass':<20} {'loss after / before':<21} gradient check")
for name in suspects:
    print(f"{name:<20} {shares[name]:<21.2f} {'broken' if name in found else 'passes'}")
assert found == set(KINDS), "Expected exactly the thirteen wrong ones. Have all checks above passed?"

# %% [markdown]
# By the middle column nearly all of them would pass (nan: the loss became infinite). The one on the right finds every culprit and accuses nobody who is
# innocent. It took some twenty lines. Whenever you write a backward pass, write the check first.

# %% [markdown]
# ### And against PyTorch
#
# Here is a second referee: PyTorch builds the graph while it runs forwards, and walks back through it by itself (unit 07).
#
# **Claim:** the gradients of all five parameters agree with PyTorch's to ten digits.
#
# Ten digits, and not just six, because here nothing is approximated.

# %% tags=["experiment", "nbval-ignore-output"]
import torch

rng = np.random.default_rng(3)
T, N, D, hidden, Q = 12, 5, 4, 7, 6
p = {
    "U": rng.normal(size=(D, hidden)),
    "W": rng.normal(size=(hidden, hidden)) / np.sqrt(hidden),
    "b": rng.normal(size=hidden),
    "V": rng.normal(size=(hidden, Q)),
    "c": rng.normal(size=Q),
}
X, targets = rng.normal(size=(T, N, D)), rng.integers(0, Q, size=(T, N))
loss, gradients, _ = loss_and_gradients(p, X, targets)

q = {name: torch.tensor(array, requires_grad=True) for name, array in p.items()}
h, outputs = torch.zeros(N, hidden, dtype=torch.float64), []
for x in torch.tensor(X):
    h = torch.tanh(x @ q["U"] + h @ q["W"] + q["b"])
    outputs.append(h @ q["V"] + q["c"])
outputs, wanted = torch.stack(outputs).reshape(T * N, Q), torch.tensor(targets.ravel())
theirs = torch.nn.functional.cross_entropy(outputs, wanted, reduction="sum") / N
theirs.backward()

for name in p:
    other = q[name].grad.numpy()
    difference = np.abs(gradients[name] - other).max() / np.abs(other).max()
    print(f"d{name}: largest difference, as a share of the largest entry: {difference:.0e}")
    assert difference < 1e-10, f"Expected d{name} to agree with PyTorch's to ten digits. Have all checks above passed?"
assert abs(loss - theirs.item()) < 1e-10 * loss, "Expected the same loss as PyTorch's. Have all checks above passed?"

# %% [markdown]
# ## 9 · What it costs
#
# The walk back takes $T$ steps, each with the same handful of products. So its **time** is $O(T)$, about twice that of
# the forward pass: for each product forwards there are two backwards, one for each factor. Its **memory** is $O(T)$
# too, because all states wait for it. (The parameters and their gradients do not grow with $T$: they are shared.) And
# this walk takes its steps one after the other: $da_t$ needs $da_{t+1}$. More processors do not shorten it. (Unit 14 has a
# way back that is no walk, for more work.)
#
# On two logarithmic axes, a cost of $T^k$ is a line of slope $k$. **Guess first**: which slopes will the two lines have?
#
# **Claim:** from 200 to 3,200 steps, memory grows with a slope of about 1, and each further step takes the same number of
# bytes (to 5%).
#
# The time is only shown, with its slope: it also hangs on what else your machine is doing.

# %% tags=["experiment", "nbval-ignore-output"]
import time
import tracemalloc

from rnncourse.plots import cost_chart, loglog_slope


def run_of(steps):
    """The arguments of a run of so many steps, at N, D, H = 4, 8, 32."""
    rng = np.random.default_rng(0)
    X, h0, b = rng.normal(size=(steps, 4, 8)), rng.normal(size=(4, 32)), rng.normal(size=32)
    return rng.normal(size=(steps, 4, 32)), X, h0, rng.normal(size=(8, 32)) / 3, rng.normal(size=(32, 32)) / 6, b


def forwards_and_back(dH, X, h0, U, W, b):
    return bptt(dH, X, h0, rnn_forward(X, h0, U, W, b), U, W)


lengths = [200, 400, 800, 1600, 3200]
runs = [run_of(steps) for steps in lengths]
milliseconds, megabytes = np.full(len(runs), np.inf), []
for _ in range(8):
    for i, run in enumerate(runs):
        # what this thread computed, without the time it waited for other programs: those disturb long runs most
        start = time.thread_time()
        forwards_and_back(*run)
        milliseconds[i] = min(milliseconds[i], 1000 * (time.thread_time() - start))
for run in runs:
    tracemalloc.start()
    forwards_and_back(*run)
    megabytes.append(tracemalloc.get_traced_memory()[1] / 1e6)
    tracemalloc.stop()
for_each_step = np.diff(megabytes) / np.diff(lengths)
print(
    f"slope of the time: {loglog_slope(lengths, milliseconds):.2f}, of the memory: {loglog_slope(lengths, megabytes):.2f}"
)
print("bytes for each further step:", *(f"{1e6 * step:,.0f}" for step in for_each_step))
assert for_each_step.max() < 1.05 * for_each_step.min(), "Expected every further step to take the same memory, to 5%."
assert abs(loglog_slope(lengths, megabytes) - 1) < 0.1, "Expected memory to grow with a slope of about 1."

show(
    cost_chart(
        lengths, {"time": milliseconds}, ylabel="processor time (ms), best of 8", title="Forwards and back: time"
    ),
    alt="Time of a forward and backward pass against the number of steps, both logarithmic: close to a straight line of slope "
    "1.",
)
show(
    cost_chart(lengths, {"memory": megabytes}, ylabel="peak memory (MB)", title="Forwards and back: memory"),
    alt="Peak memory of a forward and backward pass against the number of steps, both logarithmic: a straight line of "
    "slope 1.",
)

# %% [markdown]
# Twice the length, about twice the time. The line of the memory is a shade flatter than 1, because a small part of it, the
# gradients of the parameters, is there at any length. Each *further* step costs the same. For a sentence that is nothing.
# For a book it is too much, and unit 05 shows two ways out: cut the walk short, or keep fewer states and compute the rest
# again.

# %% [markdown]
# ## 10 · How far back does the blame go?
#
# In section 5 the sum over all paths had two indices: the output $t$ that an error comes from, and the step $s$ at which
# it meets $W$. BPTT adds them up as they meet, which is fast but blind: in the final $dW$ nobody can see any more what came
# from where. Undo this once, and sort the paths by their **lag** $k = t - s$, the number of steps that the error has
# travelled:
#
# $$dW = \sum_{k=0}^{T-1} P_k \qquad P_k = \text{the sum over all } t \text{ of what output } t \text{ does to } W \text{ as used in step } t - k$$
#
# *By hand*, with the numbers of section 4. Lag 0: each output's error at its own step, $h_0 \cdot (1 \cdot 0.786) + h_1
# \cdot (1 \cdot 0.470) = 0.393 + 0.217 = 0.610$. Lag 1: the error of output 2 at step 1; it arrives there as $0.940
# \cdot 0.786 = 0.739$, and meets $h_0$: $0.5 \cdot 0.739 = 0.370$. Together $0.980$, the $dw$ from before.

# %% [markdown]
# ### Exercise 4.8 · `recurrent_gradient_by_lag`
# *●●● · 16 minutes · 4 points*
#
# The same arguments as `rnn_backward`. The answer is an array `(T, H, H)`: entry `k` is $P_k$, and the sum over the
# first axis is the `dW` of `rnn_backward`. Steps before the first one do not exist: for lag $k$ there are $T - k$ pairs
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
# character: once with random weights, "as drawn", and once after 300 updates. This time we use **Adagrad**, which divides
# each entry's step by the root of the sum of that entry's squared gradients so far, so that no entry runs away. **Guess
# first**: compared with lag 0, how large is the part of lag 20 as drawn? And does training make it larger or smaller?
#
# **Claim:** sorted by lag, the parts of $dW$ add up to $dW$. As drawn, the part of lag 20 is more than a hundredth of that of
# lag 0; after training it is less than a five-hundredth.

# %% tags=["experiment"]
from rnncourse.data import python_docs

by_lag = use(recurrent_gradient_by_lag)
docs = python_docs(60_000).lower()
docs_letters = sorted(set(docs))
docs_ids = np.array([docs_letters.index(letter) for letter in docs])


def draw_batch(rng, steps=40, rows=16):
    starts = rng.integers(0, len(docs_ids) - steps, size=rows)
    windows = np.stack([docs_ids[start : start + steps + 1] for start in starts], axis=1)
    return one_hot(windows[:-1], len(docs_letters)), windows[1:]


def size_by_lag(p):
    """The size of each part of dW, as a share of the part of lag 0."""
    X, targets = draw_batch(np.random.default_rng(99))
    h0 = np.zeros((X.shape[1], len(p["W"])))
    H = rnn_forward(X, h0, p["U"], p["W"], p["b"])
    dH, _, _ = output_back(nll_back(output_layer(H, p["V"], p["c"]), targets), H, p["V"])
    parts, dW = by_lag(dH, X, h0, H, p["U"], p["W"]), bptt(dH, X, h0, H, p["U"], p["W"])[3]
    assert np.allclose(parts.sum(axis=0), dW), "Expected the parts to add up to dW. Have all checks above passed?"
    sizes = np.sqrt((parts**2).sum(axis=(1, 2)))
    return sizes / sizes[0]


def train_on_docs(seed, start=1.0, updates=300):
    """Train from a W of `start` times its usual size: the sizes by lag as drawn, and trained, and the losses."""
    p, rng = draw_parameters(seed, len(docs_letters), hidden=32), np.random.default_rng(seed)
    p["W"] *= start
    as_drawn, losses = size_by_lag(p), []
    squares = {name: np.zeros_like(array) for name, array in p.items()}
    for _ in range(updates):
        loss, gradients, _ = loss_and_gradients(p, *draw_batch(rng))
        losses.append(loss)
        for name in p:
            squares[name] += gradients[name] ** 2
            p[name] -= 0.1 * gradients[name] / np.sqrt(squares[name] + 1e-8)
    return as_drawn, size_by_lag(p), losses


as_drawn, trained, losses = zip(*(train_on_docs(seed) for seed in range(5)))
sizes = {"as drawn": np.median(as_drawn, axis=0), "trained": np.median(trained, axis=0)}
for name, values in sizes.items():
    print(f"{name:9} lag 10: {values[10]:.2g}   lag 20: {values[20]:.2g}   lag 30: {values[30]:.2g}")
assert np.mean([run[-20:] for run in losses]) < 0.75 * np.mean([run[0] for run in losses]), (
    "Expected the loss to fall by a quarter. Have all checks above passed?"
)
assert sizes["as drawn"][20] > 0.01, "Expected more than a hundredth at lag 20, as drawn. Have all checks above passed?"
assert sizes["trained"][20] < 0.002, "Expected less than a five-hundredth at lag 20. Have all checks above passed?"

show(
    line_chart(
        range(31),
        {name: values[:31] for name, values in sizes.items()},
        xlabel="lag k (steps that the error has travelled)",
        ylabel="size of the part of dW, lag 0 = 1",
        logy=True,
        title="The median of five networks",
    ),
    alt="Size of the part of dW by lag, on a logarithmic axis, the median of five networks. As drawn it falls slowly, to about a "
    "tenth at lag 20; after training it falls nearly on a straight line, to less than a thousandth at lag 20.",
)

# %% [markdown]
# On a logarithmic axis a straight line is a geometric decline: at each step back, the blame is multiplied by about the
# same factor below 1. As drawn, lag 20 has a share of {{by_lag/usual start/lag 20, as drawn}} of lag 0, and after training
# {{by_lag/usual start/lag 20, trained|.4f}}. Training has changed $W$ and the states, and with them the factor. The trained
# network has learned a lot about the last few characters. But what it did with a bracket twenty characters ago hardly counts
# in its $dW$. That part is *in* the sum; it is just drowned out by everything that is nearer. Train ten times as long, and it
# is {{by_lag/3,000 updates/lag 20, trained|.4f}}.
#
# And the other starts? From a $W$ twice as large, errors *grow* on their way back: as drawn, lag 20 counts
# {{by_lag/twice as large/lag 20, as drawn|.0f}} times as much as lag 0. From one of size 1, $\sqrt H$ times as large, it is a
# factor of {{by_lag/size 1/lag 20, as drawn|median .0e}}, and the network learns little: after the same 300 updates its loss per
# character is {{by_lag/size 1/loss}}, against {{by_lag/usual start/loss}} from the usual start. Too small does no harm on this
# text: a tenth of the usual size gives {{by_lag/a tenth/loss}}.
#
# Mind what this picture shows: what *learning* hears of, at one moment of training. How long a network can *hold* something
# is another question, and unit 03's latch held it for ever. Keep both in mind.

# %% [markdown]
# ## 11 · A bug that passes the check
#
# A gradient check compares numbers. There is one favourite bug of BPTT that it does not see. Look at these two lines,
# somewhere in the loop:
#
#     dh = dH[t]
#     dh += from_later
#
# They look harmless. But `dH[t]` is not a copy, it is a view into `dH`, and `+=` writes into what is on its left: into the
# array of whoever called. The numbers that come back are right. The second time, they are not.
#
# **Claim:** a backward pass that writes into `dH` passes the gradient check when it is called once, and fails it when it is
# called again.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse import exercises

mistakes = {mistake.name: mistake.answer for mistake in exercises.find("rnn_backward").misconceptions}
dH_overwritten = mistakes["dH_overwritten"]
rng = np.random.default_rng(5)
X, h0, U, W, b = (rng.normal(size=shape) for shape in ((6, 3, 2), (3, 4), (2, 4), (4, 4), (4,)))
H, dH = rnn_forward(X, h0, U, W, b), rng.normal(size=(6, 3, 4))
right = numerical(lambda W: (dH * rnn_forward(X, h0, U, W, b)).sum(), W)
first, second = dH_overwritten(dH, X, h0, H, U, W)[3], dH_overwritten(dH, X, h0, H, U, W)[3]
print(f"dW of the first call is off by at most  {np.abs(first - right).max():.0e}")
print(f"dW of the second call is off by at most {np.abs(second - right).max():.0e}")
assert np.allclose(first, right, atol=1e-6), "Expected the first call to pass the gradient check."
assert not np.allclose(second, right, atol=1e-6), "Expected the second call to fail the gradient check."

# %% [markdown]
# So a referee has one more duty: keep a copy of the arguments, and see afterwards that they are what they were. (The
# checks of this course do.)
#
# Here are more bugs to hunt. Which point of the list in section 8 finds each of them, if any?
#
# - At the first step, `H[t - 1]` with `t = 0` is `H[-1]`, the *last* state. Python does not complain.
# - `dW = ...` in the loop where `dW += ...` was meant: the gradient of the first step alone. It trains, badly.
# - The states are kept as *views* of one array that the next forward pass overwrites. Each run alone is right.
# - The loss is divided by $N$ and the gradient is not: everything is right up to a factor, and with Adagrad you would
#   never notice.
# - A mean over padded steps: in a batch of short sequences each real symbol counts less.
#
# <details><summary>Answers, when you have thought about them</summary>
#
# - The wrapped index is found by point 5: $dW$ is wrong, whatever $h_0$ is.
# - The overwritten $dW$ is found as soon as there are several steps: point 3.
# - The views pass. One run alone is right, so run two and compare with the first.
# - The missing $1/N$ is found if the check goes through the whole loss with at least two rows, and not if it starts at
#   $dH$: check the loss and `nll_backward` too.
# - The mean over padding passes whenever the gradient has the same mistake as the loss. A gradient check says that the
#   gradient belongs to the loss, never that it is the loss you meant.
# </details>

# %% [markdown]
# ## 12 · Optional: the same gradient, forwards only
#
# *Forty minutes. Nothing later needs this section.*
#
# BPTT waits for the end, then walks back, and all states wait for it. What if there is no end: a sensor, a conversation,
# the news as they come in? Then turn the question round. In place of "what does the loss owe to this state?" ask at each
# step, "what does this state owe to each parameter?", and carry the answer along. It is called the **sensitivity** $S_t =
# \partial h_t / \partial \theta$, one number for each unit *and* each parameter $\theta$. The chain rule, walked forwards,
# renews it: a parameter acts directly on $a_t$, and it acts through $h_{t-1}$.
#
# *By hand*, the numbers of section 4, for $w$. At first $S_0 = 0$, since $h_0$ was given. Directly, $w$ is multiplied by
# $h_{t-1}$; through the state, the old sensitivity comes in times $w$; and then there is the slope:
#
# $$S_1 = 0.786\,(0.5 + 2 \cdot 0) = 0.393 \qquad S_2 = 0.470\,(0.462 + 2 \cdot 0.393) = 0.587$$
#
# Each error meets the sensitivity of its own step, and the gradient is there: $dw = 1 \cdot 0.393 + 1 \cdot 0.587 = 0.980$.
# The same number, and nobody has walked back.
#
# For $H$ units lay $U$, $W$ and $b$ below each other, as one matrix $\theta$ of $D + H + 1$ rows, and what they are multiplied
# with beside each other, $v_t = [x_t, h_{t-1}, 1]$. Then $a_t = v_t\,\theta$. The entry $\theta_{ik}$ stands in column $k$,
# so it acts directly on unit $k$ alone, times $v_i$:
#
# $$S_{t,\,j,\,ik} = (1 - h_{tj}^2) \Big( \sum_m S_{t-1,\,m,\,ik}\, W_{mj} + [j = k]\; v_{ti} \Big)
# \qquad d\theta_{ik} = \sum_t \sum_j dH_{tj}\, S_{t,\,j,\,ik}$$
#
# and all of this for each row of the batch, summed. This is **real-time recurrent learning**, RTRL.

# %% [markdown]
# ### Exercise 4.9 · `rtrl` (optional)
# *●●● · 20 minutes · 3 points*
#
# `X (T, N, D)`, `h0 (N, H)`, `U`, `W`, `b` as in `rnn_forward`, and `dH (T, N, H)`, for each state the error from its own
# output. Return `(dU, dW, db)`, those of `rnn_backward`, in one loop from the first step to the last. Only $h$ and $S$ are
# carried on, and no states are kept: you may call `rnn_step`, but neither `rnn_backward` nor `rnn_step_backward`.
#
# `S[:, units, :, units]`, with `units = np.arange(H)`, are the entries with $j = k$ of an $S$ of shape $(N, H, D + H + 1,
# H)$, and what you add to them is $v$, $(N, D + H + 1)$.
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
# You have a gradient that is up to date at every step, for a sequence that never ends. So why does hardly anybody train
# with it?
#
# **Guess first**: twice as many units. How many times as long does BPTT take then, and how many times as long RTRL? And
# which of the two needs more memory for a long sequence?
#
# **Claim:** the gradients of both agree to ten digits. From 50 to 400 steps, the memory of BPTT grows at least fivefold, and
# that of RTRL by less than a twentieth; but from 4 to 16 units, over 50 steps, that of RTRL grows more than tenfold.

# %% tags=["experiment", "nbval-ignore-output"]
forwards_only = use(rtrl)


def small_run(hidden, steps):
    """X, h0, U, W, b, dH at N, D = 2, 4."""
    rng = np.random.default_rng(0)
    X, h0, dH = (rng.normal(size=shape) for shape in ((steps, 2, 4), (2, hidden), (steps, 2, hidden)))
    return (
        X,
        h0,
        rng.normal(size=(4, hidden)) / 2,
        rng.normal(size=(hidden, hidden)) / hidden**0.5,
        np.zeros(hidden),
        dH,
    )


def back_and_forth(X, h0, U, W, b, dH):
    return bptt(dH, X, h0, rnn_forward(X, h0, U, W, b), U, W)[2:]


def cost_of(walk, run):
    """Processor time in ms, the best of three, and peak memory in kB."""
    best = np.inf
    for _ in range(3):
        start = time.thread_time()
        walk(*run)
        best = min(best, 1000 * (time.thread_time() - start))
    tracemalloc.start()
    walk(*run)
    kilobytes = tracemalloc.get_traced_memory()[1] / 1e3
    tracemalloc.stop()
    return best, kilobytes


walks = {"RTRL": forwards_only, "BPTT": back_and_forth}
for ours, theirs in zip(forwards_only(*small_run(8, 50)), back_and_forth(*small_run(8, 50))):
    assert np.allclose(ours, theirs, rtol=0, atol=1e-10), "Expected the gradient of BPTT. Has rtrl passed its check?"
units_tried = (4, 8, 16, 32)
by_units = {name: [cost_of(walk, small_run(H, 50)) for H in units_tried] for name, walk in walks.items()}
by_steps = {name: [cost_of(walk, small_run(8, T))[1] for T in (50, 400)] for name, walk in walks.items()}
for name in walks:
    (least, _), (most, _) = by_units[name][0], by_units[name][-1]
    short, long = by_steps[name]
    print(
        f"{name}: from 4 to 32 units {most / least:4.0f} times the time; "
        f"from 50 to 400 steps {long / short:.2f} times the memory"
    )
assert by_steps["BPTT"][1] > 5 * by_steps["BPTT"][0], "Expected the memory of BPTT to grow with the steps."
assert by_steps["RTRL"][1] < 1.05 * by_steps["RTRL"][0], "Expected the memory of RTRL not to grow: what do you keep?"
assert by_units["RTRL"][2][1] > 10 * by_units["RTRL"][0][1], "Expected the memory of RTRL to grow with the units."

show(
    line_chart(
        units_tried,
        {name: [milliseconds for milliseconds, _ in costs] for name, costs in by_units.items()},
        xlabel="units H",
        ylabel="processor time (ms), best of 3",
        logy=True,
        title="The same gradient, 50 steps",
    ),
    alt="Time of BPTT and of RTRL against the number of units, the time on a logarithmic axis. BPTT stays about level; RTRL "
    "takes little longer at 4 units, and about a hundred times as long at 32.",
)

# %% [markdown]
# Count the products of one step, for each row of the batch. BPTT: about $3 H (D + H)$. RTRL: $S$ has $H \cdot H (D + H + 1)$
# numbers, and each of them is a sum of $H$ products. That is about $H^2$ times as much, a thousandfold for 32 units; and the
# time would follow at once, were it not for what NumPy takes for each call. So the choice is between memory that grows with
# $T$ and time that grows with $H^4$, and as $T$ can be cut into chunks (unit 05), nearly everybody takes the first. Between
# the two lies a lot of research: sensitivities that are kept only for the units that are near, or estimated at random.

# %% [markdown]
# ## 13 · What you have
#
# - The loss of a batch is summed over steps, masked, and divided by $N$. A network that knows nothing starts at $T \log
#   Q$.
# - At the logits the gradient is $(y - \text{onehot})/N$.
# - Two arrows lead into each state: $dh_t = do_t V^\top + da_{t+1} W^\top$. Through the tanh it becomes $da_t = dh_t
#   \odot (1 - h_t^2)$, and so on, from $T$ to 1.
# - Shared parameters collect a part from every step: $dW = \sum_t h_{t-1}^\top da_t$.
# - $W$ starts at a size of $1/\sqrt H$, so that a step keeps the size of a state.
# - The walk costs $O(T)$ in time and in memory, because errors that meet are added up, and because states are kept.
# - A falling loss proves little. A gradient check, done right, finds wrong numbers. Whether an argument was written to, you
#   have to look for separately.
#
# **So how do you add it all up?** Walk back once, from the last step to the first. Where two errors meet, add them and carry
# on with the sum. Each parameter collects its part at every step.

# %% [markdown] written="bptt_written" points=3
# ### Written question
# *10 minutes · 3 points, graded by hand; about six sentences*
#
# A friend has written a recurrent network. "The loss falls from 60 to 20 and then stays there. So the backward pass
# must be right; I just need a larger network." Answer your friend. **(a)** Why does this not follow? **(b)** What exactly
# should be tested? Say which function, which sizes, which values. **(c)** What kind of mistake would get past that test too?
#
# ### BEGIN SOLUTION
# *Model answer.* A wrong gradient can still point downhill: whenever it makes an angle of less than 90° with the true
# one, a small step along it lowers the loss. And the output layer, whose gradient is right, learns whatever the states are:
# a backward pass of nothing but zeros brought the loss down to about half. Twelve of our thirteen wrong passes made the
# loss fall, and after the same 100 updates several stood well above the right one. So a plateau may be the network's limit
# or the mistake's; the curve cannot tell. Test the backward pass on its own against central differences of the loss in float64 with ε near 1e-5: L
# = Σ dH ⊙ rnn_forward(X, h0, U, W, b), for all of dX, dh0, dU, dW, db, with T of at least 3 and N of at least 2, all
# sizes different, h0 not zero, and dH drawn at every step. If every entry agrees to about 1e-6, relative to its size,
# the numbers are right. What gets past it is a mistake that does not show in the numbers of one call: a caller's array
# that is changed, a state kept between calls, a view that is overwritten later; or a mistake in the loss itself, whose
# gradient is then right.
#
# *Rubric.* **1 point**: says why a falling loss does not prove the gradient right (wrong but downhill; the output layer
# learns alone; or an example of this unit, such as a dropped arrow or a missing part). **1 point**: names comparison with central differences, and at
# least three of: float64, ε about 1e-5, several steps, several rows, sizes that differ, h0 not zero, errors at every
# step, all five results. **1 point**: names something that the check misses (arguments changed in place, state between
# calls, views, a wrong loss, mistakes in the data), or says that the check holds only for the sizes and values that
# were tried. A plain "compare with PyTorch" in place of differences is worth the second point if the sizes are
# discussed as well.
# ### END SOLUTION

# %% [markdown]
# ## Where to read on
#
# - P. J. Werbos, "Backpropagation Through Time: What It Does and How to Do It", *Proceedings of the IEEE* 78, 1990. By
#   one of those who found it, with the whole procedure written out.
# - T. M. Mitchell, *Machine Learning*, McGraw-Hill 1997, chapter 4: gradient descent and backpropagation from the beginning,
#   and a page on recurrent networks, unfolded. If unit 04 went too fast, begin there.
# - Notes of Stanford's course CS231n, "Backpropagation, Intuitions": gates that pass gradients on, with numbers, as in section
#   4 here.
# - A. Karpathy, *min-char-rnn*, 2015: about a hundred lines of NumPy, forwards, back, and a network that writes. You can read
#   all of it now; unit 06 is the long version.
# - I. Goodfellow, Y. Bengio, A. Courville, *Deep Learning*, MIT Press 2016, section 10.2.2: the same derivation on the
#   graph, node by node.
# - R. J. Williams, D. Zipser, "A Learning Algorithm for Continually Running Fully Recurrent Neural Networks", *Neural
#   Computation* 1, 1989: section 12.
# - R. J. Williams, J. Peng, "An Efficient Gradient-Based Algorithm for On-Line Training of Recurrent Network
#   Trajectories", *Neural Computation* 2, 1990: what to do when the sequence does not end.
# - A. Griewank, A. Walther, *Evaluating Derivatives*, SIAM 2008: why, for any program, the backward pass costs only a few
#   times as much as the forward pass.
# - J. Duchi, E. Hazan, Y. Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic Optimization",
#   *JMLR* 12, 2011: Adagrad.

# %% [markdown]
# ## Something to show
#
# A word in which the same letter is followed by different ones cannot be spelled by looking at one letter. "recurrence"
# is a hard case: after an r comes an e, then an r, then an e again; after a c comes a u, then an e.
#
# **Claim:** a network of 16 units spells *recurrence* after 100 updates.
#
# Put in a word of your own and run the cell: this is your code, from the first derivative to the last letter. (With steps
# three times as large, `learning_rate=0.3`, some runs leap out again: over ten seeds,
# {{spelling/recurrence, rate 0.3/letters right|range .0f}} of the nine letters are right at the end.)

# %% tags=["experiment"]
word = "recurrence"

losses, guesses, sure = spell(word, 101, hidden=16)
learned = next((k for k, guess in enumerate(guesses) if guess == word[1:]), None)
if learned is None:
    print("Not yet. Give it more updates, or a smaller learning_rate.")
else:
    print(f"After {learned} updates it reads {word[:-1]} and says {guesses[learned]}.")
assert guesses[-1] == word[1:] or word != "recurrence", "Expected ecurrence. Have all checks above passed?"
show(
    spelling_grid(word, *({k: kept[k] for k in (0, 2, 5, 10, 20, 40, 100)} for kept in (guesses, sure))),
    alt=f"What the network says after each letter of {word}, a row for each number of updates: from unsure and wrong to sure and right.",
)

# %% tags=["experiment"]
progress("04_bptt")

# %% [markdown]
# ## The question that this unit leaves open
#
# The error of an output, on its way back, is multiplied at every step by $W^\top$ and by a slope of at most 1. In
# section 10 you saw what becomes of it over twenty steps: a part as drawn, next to nothing after training on this text, and
# from a larger $W$ a multiple. Must it be one or the other? **What happens to the gradient over long distances, what can a
# network learn in spite of it, and what can you do about it?** That is unit 05.
