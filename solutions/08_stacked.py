# %% [markdown]
# # 08 · Stacked recurrent networks
#
# **After this unit you can**
#
# - stack recurrent layers, run them, and take a gradient back through time *and* down through the layers;
# - count what depth costs, and choose widths so that networks of different depth are comparable;
# - say where dropout may stand in a recurrent network, what it does to a memory along time, and how one mask for all
#   steps gets round that;
# - normalise a layer, and say what it makes of weights that are ten times too large;
# - write PyTorch's `nn.RNN(num_layers=…, dropout=…)` yourself, number for number;
# - say with evidence when depth pays, when it does not, and what a residual connection does for it.
#
# **It takes** about two and a half hours, more than half of them with your own hands on it; what is marked *optional* comes
# on top. **You should know** `rnn_forward` of unit 03, `rnn_backward` of unit 04, and, for the second half, how a module
# is written in PyTorch (unit 07). There are 7 exercises and one written question, 24 points in all. Up to exercise 8.6
# all is NumPy: no answer may call `torch`, each leaves its arguments as they are, and keeps the dtype that it is given.

# %% locked="setup"
import numpy as np

from rnncourse import check, hint, progress, track, use
from rnncourse.bptt import numerical_gradient, rnn_backward, rnn_step_backward
from rnncourse.cell import rnn_forward, rnn_step

np.set_printoptions(precision=3, suppress=True)

# %% tags=["experiment"]
progress("08_stacked")

# %% [markdown]
# ## The question that was left open
#
# Your network of unit 06 reads characters. But text is not made of characters alone: characters make words, words make
# lines, lines make functions. One state, in one layer, has to hold all of this at once, and from one letter to the next
# all of it goes through the same $W$ and the same tanh.
#
# In time, the unfolded network is as deep as the text is long. But from an input $x_t$ to the output $o_t$ of the
# *same* step there is only one tanh. Everywhere else in machine learning people have learned to put layers upon layers.
# **What does a second recurrent layer do that a wider first one does not?**

# %% [markdown]
# ## 1 · A layer turns a sequence into a sequence
#
# `rnn_forward` takes a sequence `X` $(T, N, D)$ and gives a sequence `H` $(T, N, H)$. Nothing keeps you from handing
# that to `rnn_forward` again. That is all: **the states of one layer are the inputs of the next.**

# %% tags=["experiment"]
from rnncourse.plots import show
from rnncourse.plots.stacked import stack_graph

show(
    stack_graph(layers=2, steps=3),
    alt="The unfolded graph of two layers over three steps. Inputs x at the bottom go through U1 into the states of layer "
    "1, which go on in time through W1 and up through U2 into the states of layer 2, which go on in time through W2.",
)

# %% [markdown]
# The upper index is the layer, the lower one the time. With $h_t^0 = x_t$, one formula says it for all $L$ layers:
#
# $$h_t^{l} = \tanh\left( h_t^{l-1}\, U^{l} + h_{t-1}^{l}\, W^{l} + b^{l} \right) \qquad l = 1, \dots, L$$
#
# A state has two parents now: one from the left, itself one step *earlier*, and one from below, the layer *under* it at
# the same step. Time shares its parameters: $W^1$ is the same at every step. Depth does not: each layer has its own.
#
# | name | shape | |
# |---|---|---|
# | `layers` | list of $L$ triples `(U, W, b)` | the bottom layer first |
# | $U^1$ | $(D, H)$ | reads the input |
# | $U^2, \dots, U^L$ | $(H, H)$ | read the states of the layer below |
# | $W^l$, $b^l$ | $(H, H)$, $(H,)$ | as ever |
# | `h0` | $(L, N, H)$ | a start state for *each* layer |
# | `H_top` | $(T, N, H)$ | the states of the top layer: what an output layer would read |
# | `h_n` | $(L, N, H)$ | the last state of each layer: what the next run starts from |
#
# *By hand*: two layers of one unit, in both $U = 1$, $W = 0.5$, $b = 0$; all start from 0, and the inputs are $1, 0$.
#
# | | $t = 1$ | $t = 2$ |
# |---|---|---|
# | layer 2 | $\tanh(0.762 + 0) = 0.642$ | $\tanh(0.363 + 0.5 \cdot 0.642) = 0.594$ |
# | layer 1 | $\tanh(1 + 0) = 0.762$ | $\tanh(0 + 0.5 \cdot 0.762) = 0.363$ |
#
# Read it from the bottom left. Do you see a choice? You may fill in the lower row first and then the upper one, or the
# left column first and then the right one. Each entry needs what is left of it and what is below it, nothing else.

# %% [markdown]
# ### Exercise 8.1 · `stacked_forward`
# *●●○ · 12 minutes · 3 points*
#
# From `X (T, N, D)`, `h0 (L, N, H)` and the list `layers` to the pair `(H_top, h_n)`. You may call `rnn_forward` or
# `rnn_step`, which are imported.
#
#     X [[[1]], [[0]]]   h0 [[[0]], [[0]]]   layers: two times ([[1]], [[0.5]], [0])
#     gives  H_top [[[0.642]], [[0.594]]]    h_n [[[0.363]], [[0.594]]]


# %% answer="stacked_forward"
def stacked_forward(X, h0, layers):
    """Run L layers: X (T, N, D), h0 (L, N, H), layers [(U, W, b), …] -> H_top (T, N, H), h_n (L, N, H)."""
    ### BEGIN SOLUTION
    inputs, last = X, []
    for start, (U, W, b) in zip(h0, layers):
        inputs = rnn_forward(inputs, start, U, W, b)
        last.append(inputs[-1])
    return inputs, np.stack(last)
    ### END SOLUTION


# %% check="stacked_forward"
check(stacked_forward)

# %% [markdown]
# Four lines, and you have deep recurrent networks. The top state has two kinds of past: a long one, to the left, and a
# deep one, below. Here is a thing that you can do with it at once.
#
# ### Experiment · two layers are a better delay line than one
#
# A single unit with $0 < W < 1$ can only fade from the moment at which it was hit. **Claim:** hit the bottom of a stack
# once, and the layers above answer *later*: each one has its peak after the one below.

# %% tags=["experiment"]
from rnncourse.plots import line_chart

forward = use(stacked_forward)
knock = np.zeros((25, 1, 1))
knock[0] = 0.5
one_unit = (np.array([[0.5]]), np.array([[0.8]]), np.zeros(1))
answers = {f"layer {L}": forward(knock, np.zeros((L, 1, 1)), [one_unit] * L)[0].ravel() for L in (1, 2, 3, 4)}
answers = {name: states / states.max() for name, states in answers.items()}
show(
    line_chart(
        range(1, 26),
        answers,
        xlabel="time step t",
        ylabel="state / its maximum",
        title="One knock at t = 1, four layers of one unit",
    ),
    alt="The states of four layers after one knock at step 1, each divided by its maximum. Layer 1 only falls; layer 2 "
    "has its peak a few steps later, layer 3 later still, layer 4 last.",
)
peaks = [int(states.argmax()) + 1 for states in answers.values()]
print("peaks at t =", peaks)
assert peaks[0] == 1, "Expected layer 1 to have its peak at once; see whether stacked_forward has passed its check."
assert peaks == sorted(set(peaks)), "Expected each layer's peak after that of the layer below; see stacked_forward."

# %% [markdown]
# So a stack can *wait*: its top layer speaks up about something some steps after it has happened. Keep this in mind for
# section 8.

# %% [markdown]
# ## 2 · What a layer costs
#
# The first layer has $DH + H^2 + H$ numbers. Each other layer reads $H$ numbers where the first one reads $D$. Mind
# this: with one-hot characters $D$ is about as large as $H$, but with words $D$ may be 300, or 10,000.
#
# *By hand*, for $D = 3$, $H = 2$, $L = 3$: $6 + 4 + 2 = 12$ for the first layer, $4 + 4 + 2 = 10$ for each of the two
# others, 32 in all.

# %% [markdown]
# ### Exercise 8.2 · `stacked_parameter_count`
# *●○○ · 4 minutes · 1 point*
#
# How many numbers are there in `layers`, for inputs of size `D` and `L` layers of `H` units? Count one bias a layer, as in
# `(U, W, b)`. (PyTorch has two; you know from unit 03 that the second does nothing.) For `D = 3`, `H = 2`, `L = 3` it is
# `32`.


# %% answer="stacked_parameter_count"
def stacked_parameter_count(D, H, L):
    """The number of entries of U, W and b in L layers of H units that read D inputs -> int."""
    ### BEGIN SOLUTION
    first = D * H + H * H + H
    other = H * H + H * H + H
    return first + (L - 1) * other
    ### END SOLUTION


# %% check="stacked_parameter_count"
check(stacked_parameter_count)

# %% [markdown]
# You can now be fair. "Four layers are better than one" says little if the four layers have four times the parameters.
# A fair comparison gives everybody the same **budget**, so whoever wants to be deep has to be narrow:

# %% tags=["experiment"]
count = use(stacked_parameter_count)


def width_for(budget, D, L):
    """The largest H for which L layers stay within the budget."""
    H = 1
    while count(D, H + 1, L) <= budget:
        H += 1
    return H


print("A budget of 8,000 numbers, inputs of size 70:")
for L in (1, 2, 3, 4):
    H = width_for(8000, 70, L)
    print(f"  {L} layer{'s' if L > 1 else ' '} of {H} units: {count(70, H, L)} parameters")
    assert 0.9 * 8000 < count(70, H, L) <= 8000, (
        "Expected to use at least nine tenths of the budget; see the count above."
    )

# %% [markdown]
# ## 3 · Back: two arrows again
#
# In unit 04 two arrows led into each state: one from its output, one from the next step. What is a state's output now?
# For all layers but the top one it is the layer above.

# %% tags=["experiment"]
show(
    stack_graph(layers=2, steps=3, backward=True),
    alt="The graph of two layers over three steps. Beside every arrow a dashed one runs back: from each state to the one "
    "before it in time, and from each state down to what it read.",
)

# %% [markdown]
# As before, $da_t^l = dh_t^l \odot (1 - (h_t^l)^2)$ is the error after its way back through the tanh. Then
#
# $$dh_t^{l} = \underbrace{da_t^{l+1} \left(U^{l+1}\right)^{\top}}_{\text{from the layer above}}
# + \underbrace{da_{t+1}^{l} \left(W^{l}\right)^{\top}}_{\text{from the next step}}$$
#
# and for the top layer the first term is `dH_top[t]`, what the loss says. Now look at the first term again. For layer
# $l + 1$, taken alone, it is the gradient of its *input*: what `rnn_backward` returns as `dX`. So
#
# > what is `dX` for one layer is `dH` for the layer below,
#
# and you need no new calculus. Run forwards and keep the states of every layer. Then let `rnn_backward` work on the top
# layer, hand its `dX` down, and so on. What comes out at the bottom is the `dX` of the whole stack.
#
# *By hand*, with the numbers from above, and a loss that is just the last state of the top layer: `dH_top` is
# $(0, 1)$. Read from the top right, and go left and down:
#
# | | $t = 1$ | $t = 2$ |
# |---|---|---|
# | layer 2: $dh$ | $0 + 0.5 \cdot 0.647 = 0.323$ | $1$ |
# | layer 2: $da = dh\,(1 - h^2)$ | $0.323 \cdot 0.588 = 0.190$ | $1 \cdot 0.647 = 0.647$ |
# | layer 1: $dh$ | $0.190 + 0.5 \cdot 0.561 = 0.471$ | $0.647$ |
# | layer 1: $da$ | $0.471 \cdot 0.420 = 0.198$ | $0.647 \cdot 0.868 = 0.561$ |
#
# In the lower left corner both arrows meet: $0.190$ from above, $0.281$ from the right. As $U = 1$, the last row is also
# $dx = (0.198, 0.561)$. And $W^1$ gets $h_0^1\, da_1^1 + h_1^1\, da_2^1 = 0 + 0.762 \cdot 0.561 = 0.427$.

# %% [markdown]
# ### Exercise 8.3 · `stacked_backward`
# *●●● · 22 minutes · 5 points*
#
# From `dH_top (T, N, H)`, `X`, `h0` and `layers` to `(dX, dh0, gradients)`: `dX (T, N, D)`, `dh0 (L, N, H)`, and
# `gradients`, a list of $L$ triples `(dU, dW, db)` in the order of `layers`. You are not given the states: run forwards
# first. You may call `rnn_forward` and
#
#     dX, dh0, dU, dW, db = rnn_backward(dH, X, h0, H, U, W)      # for one layer, as in unit 04
#
#     dH_top [[[0]], [[1]]]   X [[[1]], [[0]]]   h0 [[[0]], [[0]]]   layers: two times ([[1]], [[0.5]], [0])
#     gives  dX [[[0.198]], [[0.561]]]   dh0 [[[0.099]], [[0.095]]]
#            gradients [([[0.198]], [[0.427]], [0.759]), ([[0.380]], [[0.415]], [0.837])]


# %% answer="stacked_backward"
def stacked_backward(dH_top, X, h0, layers):
    """Back through L layers: dH_top (T, N, H), X (T, N, D), h0 (L, N, H), layers [(U, W, b), …].

    -> dX (T, N, D), dh0 (L, N, H), gradients [(dU, dW, db), …]
    """
    ### BEGIN SOLUTION
    read = [X]  # read[l] is what layer l reads, read[l + 1] are its states
    for start, (U, W, b) in zip(h0, layers):
        read.append(rnn_forward(read[-1], start, U, W, b))
    dh0, gradients, dH = np.empty_like(h0), [], dH_top
    for l in reversed(range(len(layers))):
        U, W, _ = layers[l]
        dH, dh0[l], dU, dW, db = rnn_backward(dH, read[l], h0[l], read[l + 1], U, W)
        gradients.append((dU, dW, db))
    return dH, dh0, gradients[::-1]
    ### END SOLUTION


# %% check="stacked_backward"
check(stacked_backward)

# %% [markdown]
# Trust nobody, not even a check. Unit 04 gave you the referee: central differences.

# %% tags=["experiment", "nbval-ignore-output"]
forward, backward = use(stacked_forward), use(stacked_backward)
rng = np.random.default_rng(0)
T, N, D, H, L = 5, 3, 4, 2, 3
X, h0, dH_top = rng.normal(size=(T, N, D)), rng.normal(size=(L, N, H)), rng.normal(size=(T, N, H))
layers = [(rng.normal(size=(H if l else D, H)), rng.normal(size=(H, H)), rng.normal(size=H)) for l in range(L)]


def loss(X=X, h0=h0, layers=layers):
    return float((dH_top * forward(X, h0, layers)[0]).sum())


def with_U(l, U):
    return [(U, *layer[1:]) if i == l else layer for i, layer in enumerate(layers)]


dX, dh0, gradients = backward(dH_top, X, h0, layers)
errors = {
    "dX": np.abs(dX - numerical_gradient(lambda X: loss(X=X), X)).max(),
    "dh0": np.abs(dh0 - numerical_gradient(lambda h0: loss(h0=h0), h0)).max(),
}
for l in range(L):
    by_hand = numerical_gradient(lambda U, l=l: loss(layers=with_U(l, U)), layers[l][0])
    errors[f"dU of layer {l + 1}"] = np.abs(gradients[l][0] - by_hand).max()
print(f"largest difference from central differences: {max(errors.values()):.0e}")
assert max(errors.values()) < 1e-7, "Expected all gradients to agree with differences; see stacked_backward above."

# %% [markdown]
# ## 4 · Vanishing, this time downwards
#
# Look at the two terms of that formula once more: back in time the error goes through $(1 - h^2)$ and $W^\top$; down in
# depth it goes through $(1 - h^2)$ and $U^\top$. Unit 05 showed what becomes of an error that is multiplied again and
# again. Depth is a second direction in which it can vanish.
#
# There is a famous cure, and it takes one plus sign. Let a layer *add* to what it reads, and not replace it:
#
# $$\text{plain: } \; r_t^{l} = h_t^{l} \qquad\qquad \text{residual: } \; r_t^{l} = r_t^{l-1} + h_t^{l}$$
#
# where $r_t^l$ is what layer $l$ hands up to the next one. (The first layer has to be plain, since $x_t$ has another
# size.) Backwards the plus sign copies the error: $dr^{l-1} = dr^{l} + (\text{what comes through layer } l)$. The first
# term is a road without tanh and without matrix.
#
# ### Experiment · how much error reaches the first layer
#
# PyTorch draws weights evenly from $-1/\sqrt H$ to $1/\sqrt H$. Their variance is $1/(3H)$. A sum over $H$ of them
# therefore keeps a share of about $1/\sqrt 3 = 0.58$ of the size of what goes in, forwards and backwards. So try the
# other cure as well: weights that are drawn $\sqrt 3$ times wider, with variance $1/H$. (For a square matrix this is
# what `nn.init.xavier_uniform_` does.)
#
# **Claim:** with weights as PyTorch draws them, every plain layer keeps less than
# three quarters of the error. Of eight layers, the lowest gets less than a tenth of what the loss sent. With
# residual connections nothing is lost. And nothing is lost in a plain stack that starts wider.


# %% tags=["experiment"]
def error_by_layer(L, residual, seed, wider=1.0, T=20, N=16, H=32):
    """The norm of the error that arrives at what each layer hands up, as a share of what the loss sends."""
    rng = np.random.default_rng(seed)
    scale = wider / np.sqrt(H)
    weights = [(rng.uniform(-scale, scale, (H, H)), rng.uniform(-scale, scale, (H, H))) for _ in range(L)]
    handed, states, start = [rng.normal(size=(T, N, H))], [], np.zeros((N, H))
    for l, (U, W) in enumerate(weights):
        states.append(rnn_forward(handed[-1], start, U, W, np.zeros(H)))
        handed.append(states[-1] + handed[-1] if residual and l > 0 else states[-1])
    error = rng.normal(size=(T, N, H))
    sent, norms = np.linalg.norm(error), []
    for l in reversed(range(L)):
        norms.append(np.linalg.norm(error) / sent)
        U, W = weights[l]
        through = rnn_backward(error, handed[l], start, states[l], U, W)[0]
        error = error + through if residual else through
    return np.array(norms[::-1])


shares = {
    name: np.mean([error_by_layer(8, residual, seed, wider) for seed in range(5)], axis=0)
    for name, residual, wider in (
        ("residual", True, 1),
        ("plain, √3\ntimes wider", False, np.sqrt(3)),
        ("plain", False, 1),
    )
}
show(
    line_chart(
        range(8),
        {name: share[::-1] for name, share in shares.items()},
        xlabel="layers that the error has come down",
        ylabel="error that arrives / error sent",
        logy=True,
        title="Eight layers, as drawn",
    ),
    alt="The error that arrives, as a share of what the loss sent, against the number of layers that it has come down, on a "
    "logarithmic axis. In a plain stack it falls in a straight line from 1 to six hundredths. With residual connections it "
    "grows to between 2 and 3, in a plain stack whose weights are drawn wider to about 1.6.",
)
kept = shares["plain"][:-1] / shares["plain"][1:]
print(f"a plain layer keeps {kept.min():.2f} to {kept.max():.2f} of the error")
print(
    "at layer 1 there arrives:", {" ".join(name.split()): round(float(share[0]), 2) for name, share in shares.items()}
)
assert kept.max() < 0.75, "Expected every plain layer to keep less than three quarters of the error."
assert shares["plain"][0] < 0.1, "Expected less than a tenth of the error at the lowest of eight plain layers."
assert min(shares["residual"].min(), shares["plain, √3\ntimes wider"].min()) > 0.95, (
    "Expected no loss with residual connections, and none with wider weights."
)

# %% [markdown]
# A straight line on a logarithmic axis: you know this picture from unit 05. What was the distance in time there is the
# number of layers here. (The residual line even rises on its way down, since both roads lead down and their errors add up.)
# And as in unit 05 a start decides: errors vanish downwards *with these weights*, not because a stack is deep.
# Section 6 has a third cure. Whether the network then *learns* better is another question. Section 8 asks it of both cures.

# %% [markdown]
# ## 5 · Dropout, and where it stands
#
# **Dropout** fights overfitting: while training, each entry of a layer's output is set to 0 with probability $p$, by a
# fresh draw each time. So no unit can rely on one other unit alone. When the network is used, nothing is dropped.
#
# But then the next layer would suddenly get more than it is used to. So the survivors are scaled up while training:
#
# $$\text{dropped} = \frac{h \odot m}{1 - p} \qquad m = 1 \text{ with probability } 1 - p, \text{ else } 0$$
#
# The mean over the draws is $h\,\frac{(1-p) \cdot 1 + p \cdot 0}{1-p} = h$, so nothing has to be done later. This is
# called *inverted* dropout, and it is what libraries do today.
#
# *By hand*: $h = (1, 2, 3)$, $p = 0.5$ and a mask of (kept, dropped, kept) give $(2, 0, 6)$.

# %% [markdown]
# ### Exercise 8.4 · `dropout_between`
# *●○○ · 8 minutes · 2 points*
#
# Write it with the draws given, so that the answer is not a matter of luck: `H` is `(T, N, H)`, `mask` has the same shape
# and holds True where an entry is **kept**, and `p`, from 0 up to but not including 1, is the probability with which
# entries were *dropped* when the mask was drawn. Return a new array.
#
#     H [[[1, 2, 3]]]   p 0.5   mask [[[True, False, True]]]   gives [[[2, 0, 6]]]


# %% answer="dropout_between"
def dropout_between(H, p, mask):
    """Inverted dropout: H (T, N, H), p in [0, 1), mask (T, N, H) with True for kept -> (T, N, H)."""
    ### BEGIN SOLUTION
    return H * mask / (1 - p)
    ### END SOLUTION


# %% check="dropout_between"
check(dropout_between)

# %% [markdown]
# One line again. The question is where to put it. In a stack there are two kinds of arrows: up, through the $U$, and to
# the right, through the $W$.
#
# ### Experiment · a memory under dropout
#
# Remember the latch of unit 03: one unit with $W = 2$ that is set once and stays at 0.96 for ever. Before you run the cell:
# of 2,000 such latches, how many will still be set after 50 steps if one in ten is knocked over at each step? **Claim:** with
# dropout of $p = 0.1$ on the way *up*, the latch stays set, and only about a tenth of its readings are missing. With the
# same dropout on the way *through time*, fewer than two latches in a hundred are still set after 50 steps. But sixteen
# units that hold the bit together, each with $2/16$ of a $W$ to every other, keep it through the same dropout.

# %% tags=["experiment"]
drop = use(dropout_between)
rng = np.random.default_rng(1)
steps, rows, p = 50, 2000, 0.1


def share_still_set(units, through_time):
    """The share of 2,000 latches, each of that many units, whose mean reads as set, at each step."""
    x, U, W, b = np.zeros((rows, 1)), np.zeros((1, units)), np.full((units, units), 2 / units), np.zeros(units)
    h, shares = np.full((rows, units), 0.96), []
    for _ in range(steps):
        kept = rng.random((1, rows, units)) >= p
        h = rnn_step(x, drop(h[None], p, kept)[0] if through_time else h, U, W, b)
        read = h if through_time else drop(h[None], p, kept)[0]
        shares.append(float((read.mean(axis=1) > 0.5).mean()))
    return shares


still_set = {
    "16 units,\nthrough time": share_still_set(16, through_time=True),
    "one unit,\nread upwards": share_still_set(1, through_time=False),
    "one unit,\nthrough time": share_still_set(1, through_time=True),
}
show(
    line_chart(
        range(1, steps + 1),
        still_set,
        xlabel="time step t",
        ylabel="share of latches that read as set",
        title="2,000 latches, dropout of 0.1 at each step",
    ),
    alt="The share of 2,000 latches that read as set over 50 steps. One unit with dropout on the way up stays near 0.9. One "
    "unit with dropout through time falls like 0.9 to the power t, to nearly 0. Sixteen units together stay at 1.",
)
print("still set after 50 steps:", {" ".join(name.split()): shares[-1] for name, shares in still_set.items()})
assert min(still_set["one unit,\nread upwards"]) > 0.85, "Expected nine readings in ten; see dropout_between above."
assert still_set["one unit,\nthrough time"][-1] < 0.02, (
    "Expected nearly all single units to lose it; see dropout_between."
)
assert still_set["16 units,\nthrough time"][-1] > 0.98, (
    "Expected sixteen units together to keep it; see dropout_between."
)

# %% [markdown]
# Through time each step is a risk, and what one unit has lost is lost for all the steps that follow: $0.9^{50} =
# 0.005$. Sixteen units do not all fall at once, and those that still stand set the others again. So dropout along time
# does not destroy every memory. It makes memory dear: each bit needs many units, and a network that has learned to hold
# something in a few of them loses it. V. Pham, T. Bluche, C. Kermorvant and J. Louradour kept dropout off the recurrent
# connections of networks that read handwriting (November 2013), W. Zaremba, I. Sutskever and O. Vinyals of language
# models (2014). It has become the rule: **dropout goes between the layers, not along time.** It is what PyTorch's
# `dropout=` does. Nor is anything dropped after the last layer: what follows there is yours to decide.

# %% tags=["experiment"]
show(
    stack_graph(layers=3, steps=3, dropout=True),
    alt="The graph of three layers over three steps. The arrows from layer 1 to 2 and from 2 to 3 are dashed: there dropout "
    "stands. Those in time, and from the inputs, are not.",
)

# %% [markdown]
# ### One mask for all steps
#
# There is a way round it. What ruins a memory is not that units are missing, it is that *other* units are missing at
# each step. So draw once for a sequence, and hold on to the draw: the same entries are dropped at all $T$ steps. For that
# one sequence, the network is a smaller one. Y. Gal and Z. Ghahramani (2016) derived this from Bayes's rule and called it
# *variational*; **locked** dropout is its other name. It may stand on the way up, on the inputs, and along time.
#
# *By hand*: $X$ has three steps of one row, $(1, 2), (3, 4), (5, 6)$, and $p = 0.5$. The mask is $(0, 1)$, drawn once:
# $(0, 4), (0, 8), (0, 12)$.

# %% [markdown]
# ### Exercise 8.5 · `locked_dropout`
# *●○○ · 10 minutes · 2 points*
#
# Drop from `X (T, N, D)` with one mask for all steps. Draw it yourself from `rng`, a NumPy generator (`rng.random(shape)`
# gives numbers from 0 up to 1): each of the N · D entries is dropped with probability `p`, from 0 up to but not
# including 1, by a draw of its own, and what is kept is divided by $1 - p$. Return a new array. You may call your
# `dropout_between`.
#
#     X of ones, (3, 1, 4), p 0.5       gives, for instance,  [[[2, 0, 0, 2]], [[2, 0, 0, 2]], [[2, 0, 0, 2]]]


# %% answer="locked_dropout"
def locked_dropout(X, p, rng):
    """Inverted dropout with one mask for all steps: X (T, N, D), p in [0, 1), a generator -> (T, N, D)."""
    ### BEGIN SOLUTION
    mask = rng.random(X.shape[1:]) >= p
    return X * mask / (1 - p)
    ### END SOLUTION


# %% check="locked_dropout"
check(locked_dropout)

# %% [markdown]
# The same latches again, dropped along time with the mask of your function. How many will be set after 50 steps now?
# Write the number down: you can compute it.
#
# **Claim:** with one mask for all 50 steps, nine in ten single latches are still set at the end. With a mask
# drawn anew at each step, fewer than two in a hundred are.

# %% tags=["experiment"]
lock = use(locked_dropout)


def still_set_when_locked(p=0.1, rows=2000, steps=50):
    """The share of 2,000 latches of one unit that reads as set at each step, with one mask along time."""
    rng = np.random.default_rng(2)
    mask = lock(np.ones((1, rows, 1)), p, rng)[0]  # 0, or 1 / (1 - p)
    h, shares = np.full((rows, 1), 0.96), []
    for _ in range(steps):
        h = rnn_step(np.zeros((rows, 1)), h * mask, np.zeros((1, 1)), np.full((1, 1), 2.0), np.zeros(1))
        shares.append(float((h > 0.5).mean()))
    return shares


locked_set, new_each_step = still_set_when_locked(), still_set["one unit,\nthrough time"]
print(f"still set after 50 steps: one mask {locked_set[-1]:.3f}, a new one at each step {new_each_step[-1]:.3f}")
assert abs(locked_set[-1] - 0.9) < 0.03, "Expected nine in ten; see locked_dropout above."
assert new_each_step[-1] < 0.02, "Expected nearly none; see dropout_between above."

# %% [markdown]
# Who is dropped is gone from the first step on, and who is kept is never in danger. A network that is trained so learns not
# to rely on single units, and keeps its memory. (PyTorch's `dropout=` is not locked: that you have to write.)
#
# ## 6 · Layer normalisation
#
# Section 4 had two cures for a signal that shrinks from layer to layer. Here is a third one. The trouble is that the size of
# what a tanh reads hangs on the size of the weights: too small, and it fades; too large, and tanh is stuck at ±1, where its
# slope is 0. So *make* the size right. For each row, take its own mean $\mu$ and its own variance $\sigma^2$ over the units:
#
# $$y = g \odot \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + s$$
#
# After the fraction the row has mean 0 and variance 1, whatever it had before. The **gain** $g$ and the **shift** $s$, one
# number a unit, are learned: so the network can choose a size, but it chooses it in one place. $\varepsilon$ keeps a row
# of equal numbers from being divided by 0. In a recurrent layer it stands inside the tanh, $h_t =
# \tanh(\text{LN}(x_t U + h_{t-1} W + b))$. Mean and variance belong to one step of one row. No other row of the batch and no
# other step has a say, which is why recurrent networks use this and not batch normalisation.
#
# *By hand*: $x = (1, 3)$ has $\mu = 2$ and $\sigma^2 = ((-1)^2 + 1^2) / 2 = 1$, and so gives $(-1, 1)$. And $(10, 30)$? $\mu =
# 20$, $\sigma^2 = 100$: $(-1, 1)$ as well. With $g = (1, 2)$ and $s = (0, 0.5)$ it is $(-1, 2.5)$.

# %% [markdown]
# ### Exercise 8.6 · `layer_norm`
# *●●○ · 10 minutes · 3 points*
#
# Normalise `x` over its **last axis**; there may be one axis, `(D,)`, or several, as `(N, D)` or `(T, N, D)`. `gain` and
# `shift` are `(D,)`. The variance is the plain mean of the squared distances from the mean (divided by D, not D − 1), and
# `eps` is added to it, under the root. Return a new array of x's shape.
#
#     x [[1, 3], [10, 30]]   gain [1, 2]   shift [0, 0.5]      gives, with eps 0,  [[-1, 2.5], [-1, 2.5]]


# %% answer="layer_norm"
def layer_norm(x, gain, shift, eps=1e-5):
    """Mean 0 and variance 1 over the last axis, then gain and shift: x (…, D), gain and shift (D,) -> (…, D)."""
    ### BEGIN SOLUTION
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return gain * centred / np.sqrt(variance + eps) + shift
    ### END SOLUTION


# %% check="layer_norm"
check(layer_norm)

# %% [markdown]
# What is it good for? Take eight layers with weights as PyTorch draws them, then ten times smaller ones, then ten times
# larger ones. Two inputs go in that differ a little. How far apart are the two states on top? For each of the six stacks,
# guess first: nothing is left of the difference, about as much, or far more?
#
# **Claim:** without normalisation, less than a hundredth of the difference arrives on top of eight layers as drawn, less
# than a billionth with weights ten times smaller, and more than ten times the difference with weights ten times larger.
# With normalisation it arrives at the same size to within a factor of 1.1, whatever the weights are scaled by.


# %% tags=["experiment"]
normalise = use(layer_norm)


def difference_on_top(scale, normalised, seed=0, layers=8, H=64, N=200):
    """How far apart two slightly different inputs are after one step through a stack, against how far apart they were."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(N, H))
    rows = np.stack([x, x + 1e-6 * rng.normal(size=(N, H))])
    before = np.linalg.norm(rows[1] - rows[0])
    for _ in range(layers):
        rows = rows @ rng.uniform(-1, 1, (H, H)) * (scale / np.sqrt(H))
        rows = np.tanh(normalise(rows, np.ones(H), np.zeros(H), 1e-12) if normalised else rows)
    return float(np.linalg.norm(rows[1] - rows[0]) / before)


arrives = {
    normalised: {scale: difference_on_top(scale, normalised) for scale in (0.1, 1.0, 10.0)}
    for normalised in (False, True)
}
for normalised, by_scale in arrives.items():
    print("normalised:" if normalised else "plain:     ", {scale: f"{share:.1e}" for scale, share in by_scale.items()})
assert arrives[False][1.0] < 0.01, "Expected the difference to fade in eight layers as drawn."
assert arrives[False][0.1] < 1e-9, "Expected it to be gone with small weights."
assert arrives[False][10.0] > 10, "Expected it to grow with large weights."
assert max(arrives[True].values()) < 1.1 * min(arrives[True].values()), "Expected no effect of scale; see layer_norm."

# %% [markdown]
# The scale of the weights has lost its meaning: the row is divided by its own size anyway. That is what layer normalisation
# buys, a start and a learning rate that need less care. It does not buy everything. The difference still changes from
# layer to layer, and the direct road of the plus sign is not there; the two are often used together.

# %% [markdown]
# ## 7 · The same as a module
#
# From here on we need autograd and optimizers.

# %% locked="torch"
import torch
from torch import nn

# %% [markdown]
# `nn.RNN(input_size, hidden_size, num_layers, dropout=…)` is a stack. You are going to write it. Layer $l$, counted
# **from 0**, has four parameters, with names that end in the layer's number. PyTorch keeps a matrix as *(to, from)*, our
# matrices transposed, and has two biases, which are added:
#
# | parameter | shape | is our |
# |---|---|---|
# | `weight_ih_l0` | $(H, D)$ | $U^1$ transposed |
# | `weight_ih_l1`, `weight_ih_l2`, … | $(H, H)$ | $U^2, U^3, \dots$ transposed |
# | `weight_hh_l0`, `weight_hh_l1`, … | $(H, H)$ | $W^1, W^2, \dots$ transposed |
# | `bias_ih_l0`, …, `bias_hh_l0`, … | $(H,)$ each | together $b^1, b^2, \dots$ |
#
# How do you give a parameter a name that you compute? With these two methods of every module:
#
#     self.register_parameter(f"weight_hh_l{l}", nn.Parameter(torch.randn(hidden_size, hidden_size) / hidden_size**0.5))
#     weight_hh = self.get_parameter(f"weight_hh_l{l}")
#
# (A plain list of parameters would not do: PyTorch would not see them.)
#
# A module knows whether it is being trained: `model.train()` and `model.eval()` set `self.training`. And
# `nn.functional.dropout(x, p, self.training)` is your `dropout_between` with a mask drawn on the spot, a draw of its
# own for every entry of $(T, N, H)$. Without the third argument it drops *always*.

# %% [markdown]
# ### Exercise 8.7 · `StackedRNN`
# *●●● · 25 minutes · 5 points*
#
# Write the module.
#
# - `StackedRNN(input_size, hidden_size, num_layers=1, dropout=0.0)`, with the parameters of the table, and no others.
#   How they are drawn at first is up to you.
# - `forward(x, h0=None)` gives `(output, h_n)`: `x` is $(T, N, D)$, `output` is $(T, N, H)$, the states of the top
#   layer, and `h0` and `h_n` are $(L, N, H)$. Without `h0` all layers start from zeros, of the dtype of `x`.
# - While training, what a layer hands *up* goes through dropout; never what it hands on in time, never the input, and
#   never what the top layer returns. In eval mode nothing is dropped.
# - It may not call, or be built upon, `nn.RNN`, `nn.RNNCell` or another recurrent class of PyTorch.


# %% answer="StackedRNN"
class StackedRNN(nn.Module):
    """Layers of tanh cells with the parameters of nn.RNN: x (T, N, D), h0 (L, N, H) -> (T, N, H), (L, N, H)."""

    def __init__(self, input_size, hidden_size, num_layers=1, dropout=0.0):
        super().__init__()
        ### BEGIN SOLUTION
        self.hidden_size, self.num_layers, self.dropout = hidden_size, num_layers, dropout
        scale = hidden_size**-0.5
        for l in range(num_layers):
            reads = hidden_size if l else input_size
            shapes = {"weight_ih": (hidden_size, reads), "weight_hh": (hidden_size, hidden_size)}
            shapes |= {"bias_ih": (hidden_size,), "bias_hh": (hidden_size,)}
            for name, shape in shapes.items():
                self.register_parameter(f"{name}_l{l}", nn.Parameter(torch.empty(shape).uniform_(-scale, scale)))
        ### END SOLUTION

    def forward(self, x, h0=None):
        ### BEGIN SOLUTION
        if h0 is None:
            h0 = x.new_zeros(self.num_layers, x.shape[1], self.hidden_size)
        last = []
        for l in range(self.num_layers):
            if l > 0:
                x = nn.functional.dropout(x, self.dropout, self.training)
            weight_ih, weight_hh = self.get_parameter(f"weight_ih_l{l}"), self.get_parameter(f"weight_hh_l{l}")
            b = self.get_parameter(f"bias_ih_l{l}") + self.get_parameter(f"bias_hh_l{l}")
            h, states = h0[l], []
            for x_t in x:
                h = torch.tanh(x_t @ weight_ih.T + h @ weight_hh.T + b)
                states.append(h)
            x = torch.stack(states)
            last.append(h)
        return x, torch.stack(last)
        ### END SOLUTION


# %% check="StackedRNN"
check(StackedRNN)

# %% [markdown]
# How can a check know that your dropout is right, when every run draws anew? It does not look at the draws. It lets
# two units read one input in 2,000 equal rows, and looks *which* different rows come out: with one draw for each entry
# there are $2^2$ of them in one step and $2^4$ in two, with known values. A mask that is shared by all steps, or
# survivors that are not scaled, make another list.
#
# ### Experiment · yours is theirs
#
# **Claim:** your module and `nn.RNN` are interchangeable. The state dict of `nn.RNN` loads into yours, and they agree to
# 12 digits; so does the NumPy of section 1.

# %% tags=["experiment", "nbval-ignore-output"]
torch.set_num_threads(1)  # small matrices: a second thread costs more than it brings
torch.manual_seed(0)
stacked = use(StackedRNN)
theirs = nn.RNN(4, 6, num_layers=3, dropout=0.3).double().eval()
yours = stacked(4, 6, num_layers=3, dropout=0.3).double().eval()
yours.load_state_dict(theirs.state_dict())
x, h0 = torch.randn(7, 2, 4, dtype=torch.float64), torch.randn(3, 2, 6, dtype=torch.float64)
P = {name: value.numpy() for name, value in theirs.state_dict().items()}
layers = [(P[f"weight_ih_l{l}"].T, P[f"weight_hh_l{l}"].T, P[f"bias_ih_l{l}"] + P[f"bias_hh_l{l}"]) for l in range(3)]
with torch.no_grad():
    (a, a_n), (b, b_n) = yours(x, h0), theirs(x, h0)
c, c_n = use(stacked_forward)(x.numpy(), h0.numpy(), layers)
apart = {
    "yours and nn.RNN": max((a - b).abs().max().item(), (a_n - b_n).abs().max().item()),
    "nn.RNN and NumPy": max(np.abs(b.numpy() - c).max(), np.abs(b_n.numpy() - c_n).max()),
}
for pair, difference in apart.items():
    print(f"{pair} differ by at most {difference:.0e}")
    assert difference < 1e-12, (
        f"Expected {pair} to agree; if StackedRNN or stacked_forward has not passed, that is why."
    )

# %% [markdown]
# You own it. So from here on we let `nn.RNN` run, whose loop is compiled.
#
# ## 8 · What does depth buy?
#
# Three experiments follow, and an optional one, on small networks and with little training, since your time is short. Here
# you train each network once. **Before you run one, write down what you expect**: which depth will be ahead, and by how
# much? Then look who was right. The figures show five seeds each, run beforehand with the functions of these cells, and also with more
# updates and other learning rates. Each claim holds for what was run, and we say where it ends.
#
# ### Experiment · a task that wants depth
#
# The network reads random symbols out of four, and has to say the symbol of **six steps ago**. The best possible loss is
# 0 bits; whoever knows nothing pays 2. Every network gets the same budget of 1,500 parameters.
# **Claim:** at equal budget, three narrow layers learn to say the symbol of six steps ago in fewer updates than one wide
# layer. In the end, one layer learns it, too.


# %% tags=["experiment", "nbval-ignore-output"]
class Stack(nn.Module):
    """A stack with a linear output layer; with residual=True each layer but the first adds to what it reads."""

    def __init__(self, D, H, L, Q, residual=False):
        super().__init__()
        self.residual = residual
        self.layers = nn.ModuleList(nn.RNN(H if l else D, H) for l in range(L))
        self.output = nn.Linear(H, Q)

    def all_states(self, x):
        """The states of every layer, the bottom one first."""
        states = []
        for l, layer in enumerate(self.layers):
            h, _ = layer(x)
            states.append(h)
            x = x + h if self.residual and l > 0 else h
        return states, x

    def forward(self, x):
        return self.output(self.all_states(x)[1])


def update(model, optimizer, x, targets):
    """One step of Adam, clipped as in unit 05; returns the loss in bits."""
    logits = model(x)[-len(targets) :]
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item() / np.log(2)


def train(model, batches, learning_rate):
    """One update for each batch; returns their losses."""
    optimizer = torch.optim.Adam(model.parameters(), learning_rate)
    return [update(model, optimizer, *batch) for batch in batches]


def delayed(lag, updates, seed, T=24, N=16, K=4):
    """Batches of random symbols, one-hot, and as targets the symbols of `lag` steps before."""
    ids = torch.from_numpy(np.random.default_rng(seed).integers(0, K, size=(updates, T, N)))
    return [(torch.eye(K)[batch], batch[:-lag]) for batch in ids]


depths = (1, 2, 3, 4)
widths = {L: width_for(1500, 4, L) for L in depths}
for L in track(depths, "recalling the symbol of six steps ago"):
    torch.manual_seed(0)
    losses = train(Stack(4, widths[L], L, 4), delayed(6, 500, seed=0), 5e-3)
    early, late = np.mean(losses[180:200]), np.mean(losses[480:])
    print(f"layers: {L}   bits a symbol after 200 updates {early:.2f}, after 500 {late:.3f}")
    assert late < 0.1, "Expected every depth to have learned the task after 500 updates."

# %% tags=["experiment"]
from rnncourse.data.claims import claimed
from rnncourse.plots.stacked import dots_by_depth


def layers_after(measured, updates):
    """What an experiment measured after so many updates, by its number of layers: a list over the seeds."""
    return {
        L: measured[name] for L in (1, 2, 3, 4, 8) if (name := f"{L} layer{'s'[: L > 1]} after {updates}") in measured
    }


measured = claimed("08_stacked")["delay_by_depth"].values["rate 0.005"]
show(
    dots_by_depth(
        depths,
        {f"{updates} updates": layers_after(measured, updates) for updates in (200, 500)},
        ylabel="loss (bits a symbol)",
        title="Say the symbol of six steps ago, 1,500 parameters, five seeds",
        logy=True,
        widths=widths,
    ),
    alt="Loss on the delay task for one to four layers at equal budget, five runs each, on a log axis. After 200 updates one "
    "layer of 36 units is well above two layers of 21 and three of 16. After 500 all are below five hundredths of a bit.",
)

# %% [markdown]
# To come below 0.1 bits, one layer takes {{delay_by_depth/rate 0.005/1 layer, updates|median .0f}} updates, three take
# {{delay_by_depth/rate 0.005/3 layers, updates|median .0f}}: the medians of five seeds, and three layers were sooner in
# all of them. With a learning rate of 0.002 it is {{delay_by_depth/rate 0.002/1 layer, updates|median .0f}} against
# {{delay_by_depth/rate 0.002/3 layers, updates|median .0f}}, with 0.015 it is
# {{delay_by_depth/rate 0.015/1 layer, updates|median .0f}} against
# {{delay_by_depth/rate 0.015/3 layers, updates|median .0f}}. Note what this is: depth was **faster**. One layer can do
# the task as well, and after 500 updates it does.
#
# Look back at the delay line of section 1. A layer that can say the symbol of three steps ago, which is easy, hands the
# layer above a task of three steps in place of six. That is one way in which depth can help: it **divides** a distance.
#
# ### Experiment · real text, the same game
#
# Now Python source, character by character, 8,000 parameters for the stack. The matrices start wide enough for the depth,
# as you saw in section 4: $W$ orthogonal, $U$ by `xavier_uniform_`.
#
# **Claim:** on Python source it is the other way round: after 200 updates, four layers are more than a tenth of a bit
# behind one wide layer. After 1,200 the gap is smaller, and two layers are level with one, to within a tenth of a bit.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.data import train_and_held_out

text, held_out = (part.lower() for part in train_and_held_out("python-source", characters=200_000))
letters = sorted(set(text))
index = {letter: i for i, letter in enumerate(letters)}
ids = torch.tensor([index[letter] for letter in text])
Q, T, N = len(letters), 32, 16
onehot = torch.eye(Q)
held_ids = torch.tensor([index[letter] for letter in held_out if letter in index][:30_000]).reshape(50, 600).T


def windows(updates, seed):
    """Batches (x, targets) from random places of the text."""
    starts = torch.from_numpy(np.random.default_rng(seed).integers(0, len(ids) - T - 1, size=(updates, N)))
    cut = [ids[places + torch.arange(T + 1)[:, None]] for places in starts]
    return [(onehot[batch[:-1]], batch[1:]) for batch in cut]


def bits_held_out(model):
    with torch.no_grad():
        logits = model(onehot[held_ids[:-1]])
    return nn.functional.cross_entropy(logits[20:].flatten(0, 1), held_ids[21:].flatten()).item() / np.log(2)


def reader(L, seed):
    """A stack for Python source, within the budget, with orthogonal W."""
    torch.manual_seed(seed)
    model = Stack(Q, source_widths[L], L, Q)
    for layer in model.layers:
        nn.init.orthogonal_(layer.weight_hh_l0)
        nn.init.xavier_uniform_(layer.weight_ih_l0)
    return model


source_widths = {L: width_for(8000, Q, L) for L in depths}
for L in track((1, 2, 4), "reading Python source"):
    model = reader(L, seed=0)
    train(model, windows(200, seed=0), 4e-3)
    print(f"layers: {L}   bits a character, held out, after 200 updates: {bits_held_out(model):.2f}")

# %% tags=["experiment"]
measured = claimed("08_stacked")["text_by_depth"].values["orthogonal start"]
show(
    dots_by_depth(
        (1, 2, 4),
        {f"{updates:,} updates": layers_after(measured, updates) for updates in (200, 1200)},
        ylabel="held-out loss (bits a character)",
        title="Python source, 8,000 parameters, five seeds",
        widths=source_widths,
    ),
    alt="Held-out bits per character on Python source for one, two and four layers at equal budget, five runs each. After "
    "200 updates four layers are well above one. After 1,200 one and two are level, and four a little above them.",
)

# %% [markdown]
# After 200 updates, four layers stand at {{text_by_depth/orthogonal start/4 layers after 200}} bits and one layer at
# {{text_by_depth/orthogonal start/1 layer after 200}}. (The median, and in brackets the range over the seeds.) After
# 1,200 it is {{text_by_depth/orthogonal start/4 layers after 1200}} against
# {{text_by_depth/orthogonal start/1 layer after 1200}}. So four layers were **slower**, and have not quite caught up. A
# letter must climb through more tanhs before the output hears of it. With a learning rate three times as high, or with
# PyTorch's own start, four layers are behind as well after 200 updates
# ({{text_by_depth/rate 0.012/4 layers after 200|median}} against {{text_by_depth/rate 0.012/1 layer after 200|median}},
# and {{text_by_depth/PyTorch's start/4 layers after 200|median}} against
# {{text_by_depth/PyTorch's start/1 layer after 200|median}} bits).
#
# What about large networks? Those of Graves (2013) and Zaremba (2014) have several layers and millions of parameters,
# with gates (unit 10). When G. Melis, C. Dyer and P. Blunsom tuned gated networks of one, two and four layers with
# equal care, at equal size, they came out close together (2018). So what should you do? **Start with one layer. Add a
# second one when the first is wide enough, and compare at equal cost, trained to the end.**

# %% [markdown]
# ### Optional · what each layer's state changes with
#
# *(About ten minutes. The last cell of the unit shows the network that is trained here.)* A stack of four layers learns to read Python source. What does the state of each layer react to? We measure two things,
# as drawn, after 100 updates and after 400:
#
# - **How fast** does it change? The mean squared change from one character to the next, divided by twice the variance.
#   A state that is drawn anew at each step gets 1, one that never changes gets 0.
# - **At what** does it change? The mean squared change where the *kind* of character changes (word, space, line end,
#   other), divided by that from one letter to the next within a word.
#
# As drawn, all layers of a stack change about equally fast, at any character. **Claim:** after 100 updates the top layer
# is slower than the first, and moves most at the borders of words. After 400 this is over: the top layer is nearly as fast
# as the first, and moves at borders less than twice as much as within words.

# %% tags=["experiment", "nbval-ignore-output"]
kinds = np.array(
    [
        0 if letter.isalnum() or letter == "_" else 1 if letter == " " else 2 if letter == "\n" else 3
        for letter in letters
    ]
)
kind = kinds[held_ids.numpy()]
border = (kind[1:] != kind[:-1])[20:]
inside = ((kind[1:] == kind[:-1]) & (kind[1:] == 0))[20:]


def speed_and_focus(model):
    """For each layer: how fast its state changes, and how much more at a border than within a word."""
    with torch.no_grad():
        states, _ = model.all_states(onehot[held_ids])
    found = []
    for h in states:
        h = h[20:].numpy()
        change = ((h[1:] - h[:-1]) ** 2).sum(axis=2)
        speed = change.mean() / (2 * h.var(axis=(0, 1)).sum())
        found.append((float(speed), float(change[border].mean() / change[inside].mean())))
    return np.array(found)


model = reader(4, seed=0)
optimizer = torch.optim.Adam(model.parameters(), 4e-3)
for k, (x, targets) in enumerate(track(windows(401, seed=0), "a stack of four")):
    if k in (0, 100, 400):
        speeds, focus = speed_and_focus(model).T
        print(
            f"after {k:3} updates, layers 1 to 4: speed {speeds.round(2)}, at borders / within words {focus.round(1)}"
        )
    if k == 100:
        after_100 = {name: value.clone() for name, value in model.state_dict().items()}  # for the end of the unit
    update(model, optimizer, x, targets)

# %% tags=["experiment"]
measured = claimed("08_stacked")["what_moves_the_layers"].values["the output reads the top layer"]
for what, ylabel in (
    ("speed of", "speed (1: drawn anew at each step)"),
    ("borders in", "change at borders / within words"),
):
    show(
        dots_by_depth(
            depths,
            {
                ("as drawn" if stage == 0 else f"{stage} updates"): {
                    l: measured[f"{what} layer {l} after {stage}"] for l in depths
                }
                for stage in (0, 100, 400)
            },
            ylabel=ylabel,
            xlabel="layer (1 is the lowest)",
            title="A stack of four reads Python source, five seeds",
            logy=what == "borders in",
        ),
        alt=(
            "Speed of the state of each of four layers. As drawn all are near 1. After 100 updates it falls from layer to "
            "layer, from about 0.7 to 0.17. After 400 updates all are near 0.73."
            if what == "speed of"
            else "Change at borders over change within words, for each of four layers, on a log axis. As drawn all are at 1. "
            "After 100 updates it rises from layer to layer, from about 1.2 to 10. After 400 updates all are below 1.6."
        ),
    )

# %% [markdown]
# Nobody told the network what a word is. After 100 updates its layers look as they do in textbooks: quick ones below,
# slow ones above. The speed of the first is
# {{what_moves_the_layers/the output reads the top layer/speed of layer 1 after 100}}, of the top one
# {{what_moves_the_layers/the output reads the top layer/speed of layer 4 after 100}}. But the picture passes. Fifty
# updates later the top layer is at
# {{what_moves_the_layers/the output reads the top layer/speed of layer 4 after 150|median}}, after 400 at
# {{what_moves_the_layers/the output reads the top layer/speed of layer 4 after 400|median}}, and no longer the slower
# one.
#
# Why does it not last? Here is an explanation that sounds right: the output layer reads the **top** layer, and nothing
# else. To tell an *e* from an *a* the letters have to get there, through every floor, and so in the end all floors are
# busy with letters. If this were the reason, an output layer that reads *all* layers should leave the upper ones their
# time. We tried it, with five seeds. After 400 updates the top layer's speed is
# {{what_moves_the_layers/the output reads all layers/speed of layer 4 after 400|median}} then, and even after 100 it is
# {{what_moves_the_layers/the output reads all layers/speed of layer 4 after 100|median}}: they are as quick as the
# first. So that is not the reason, or not the only one.
#
# You will often read that upper layers "learn longer time scales". M. Hermans and B. Schrauwen measured such scales, in
# larger networks that were trained for longer, and whose output reads all layers. Here you have seen that it can be so, and
# that it need not last. It is something to measure, not to assume.
#
# ### Experiment · residual connections, trained
#
# In section 4 the error came down eight layers unharmed where a plus sign was in place. Does this matter for training?
#
# **Claim:** on a short delay task (three steps, 80 updates), eight plain layers are worse than four. Eight residual ones
# end with less than half the loss of any plain stack.

# %% tags=["experiment", "nbval-ignore-output"]
levels = (1, 2, 4, 8)
for L in track(levels, "with and without a plus sign"):
    end = {}
    for name in ("plain", "residual"):
        torch.manual_seed(0)
        losses = train(Stack(4, 16, L, 4, residual=name == "residual"), delayed(3, 80, seed=0, T=12), 3e-3)
        end[name] = np.mean(losses[-10:])
    print(f"layers: {L}   bits a symbol after 80 updates: plain {end['plain']:.2f}, residual {end['residual']:.2f}")

# %% tags=["experiment"]
measured = claimed("08_stacked")["delay_with_a_plus"].values
show(
    dots_by_depth(
        levels,
        {name: layers_after(measured[name], 80) for name in ("plain", "residual")},
        ylabel="loss after 80 updates (bits a symbol)",
        title="Say the symbol of three steps ago, 16 units a layer, five seeds",
        logy=True,
    ),
    alt="Loss after 80 updates for one, two, four and eight layers of 16 units, plain and residual, five runs each, on a "
    "log axis. Plain: falls to four layers and rises again to eight. Residual: falls all the way, lowest at eight.",
)

# %% [markdown]
# (Here width is fixed and not the budget: the question is whether a deep network can be *trained*.)
#
# Eight plain layers stand at {{delay_with_a_plus/plain/8 layers after 80}} bits, four at
# {{delay_with_a_plus/plain/4 layers after 80}}, and eight residual ones at
# {{delay_with_a_plus/residual/8 layers after 80|.3f}}. The claim holds in {{held residual_eight_layers}} seeds: in one,
# eight plain layers did better than four. Is it the plus sign that does it? Section 4 had a second cure. Eight plain
# layers that start wider are at {{delay_with_a_plus/plain, wider start/8 layers after 80}}: better, and still far
# behind. With a higher learning rate (0.01) the plain ones come to
# {{delay_with_a_plus/plain, rate 0.01/8 layers after 80}}, which says that some of them fail. So neither the start nor
# the rate stands in for the plus sign.

# %% [markdown]
# ## 9 · Bugs to hunt
#
# All of them run, and all have been met in code that somebody has published or handed in. What would you see, and which
# test of this unit finds it?
#
# - In the loop over the layers the second one is called with `X` again. With $D \ne H$ it crashes; with $D = H$, which is
#   common with embeddings, it runs and learns: as one layer would.
# - `h = np.zeros((N, H))` before the loop over the layers, and each layer goes on from the `h` of the one below it.
# - A language model carries `h_n[-1]` from batch to batch and starts *all* layers from it.
# - `model.eval()` is forgotten before the held-out text is read. The loss is too high, and another one each time.
# - `nn.RNN(…, num_layers=1, dropout=0.5)`: PyTorch warns, and drops nothing. Why?
#
# <details><summary>Answers, when you have thought about them</summary>
#
# The first is found by wiggling parameters in place of inputs: change those of layer 1 and see whether the top states
# change. The second is right only for $L = 1$. It breaks causality: layer 2 starts from the *end* of layer 1, so a late
# input changes an early state; and a check with an `h0` that is not zero finds it, too. The third is found by "two runs in
# a row give what one run gives", the fourth by calling twice. And with one layer there is no *between*.
# </details>

# %% [markdown]
# ## 10 · What you have
#
# What does a second recurrent layer do that a wider first one does not? It reads what the first one has made of the past,
# so it can answer later, and divide a distance. It costs width. What we saw of it is speed: which network learns sooner
# depends on the task.
#
# - A stack: the states of one layer are the inputs of the next; parameters are shared over time, not over depth.
# - Each layer has a start state and a last state: `h0` and `h_n` are $(L, N, H)$.
# - Back: what is `dX` for one layer is `dH` for the layer below. Two arrows lead into each state, from above and from
#   the next step.
# - Depth is a second direction in which errors can vanish. A residual connection is a road without tanh and matrix; a
#   wider start helps as well.
# - Dropout stands between layers. Through time it wipes out what one unit holds alone, unless one mask is locked for all
#   steps.
# - Layer normalisation gives each row mean 0 and variance 1 before gain and shift, so the scale of the weights loses its
#   meaning.
# - At equal budget, depth was sooner done where a distance could be divided, and later on text. Trained on, the depths
#   came out nearly level.

# %% [markdown] written="stacked_written" points=3
# ### Written question
# *3 points, graded by hand; about six sentences*
#
# A colleague reports: "I replaced one layer of 128 units by three layers of 128 units with `dropout=0.5`, trained both for
# an hour, and the three layers are better on the training text. So depth is what we need." **(a)** What is wrong with this
# comparison? **(b)** Which comparison would you run instead? Say what you keep equal, and what you measure on what.
# **(c)** What result would convince you?
#
# ### BEGIN SOLUTION
# *Model answer.* (a) Three layers of 128 units have about three times the parameters of one (more for a small $D$, less
# for a large one), so the gain may be due to size and not depth. Two things were changed at once, since dropout came in
# too; a gain or a loss could come from either. The training text is the wrong judge: it rewards memorising, and during
# training the loss is measured with units dropped. And one run each says nothing about luck. (b) I would give all
# networks the same number of parameters (`stacked_parameter_count`), so one wide layer against two and three narrow
# ones, all with or all without dropout, train them for the same number of updates (or hours), each with at least three
# seeds and a learning rate chosen for each depth, and compare bits per character on held-out files in eval mode. (c) I
# would be convinced if every run of three layers was below every run of one layer, by more than the runs of one depth
# differ among themselves, and if the difference stayed when both were trained further: a network that learns sooner
# need not be the better one in the end.
#
# *Rubric.* **1 point**: names at least two faults (unequal parameters, dropout changed as well, judged on training
# text, one run only). **1 point**: a fair design: parameters or compute equal, one thing changed at a time, held-out
# text in eval mode. **1 point**: says what would convince: several seeds, and a difference larger than their spread (or
# an equivalent criterion). An answer that asks for equal *time* in place of equal parameters is fine if it says so.
# ### END SOLUTION

# %% [markdown]
# ## Where to read on
#
# - A. Graves, A. Mohamed, G. Hinton, "Speech Recognition with Deep Recurrent Neural Networks", ICASSP 2013: where depth
#   first won in earnest.
# - R. Pascanu, C. Gulcehre, K. Cho, Y. Bengio, "How to Construct Deep Recurrent Neural Networks", ICLR 2014: stacking is
#   only one of four ways to be deep.
# - G. Melis, C. Dyer, P. Blunsom, "On the State of the Art of Evaluation in Neural Language Models", ICLR 2018: depths and
#   cells compared at equal size, each tuned with the same care.
# - M. Hermans, B. Schrauwen, "Training and Analysing Deep Recurrent Neural Networks", NeurIPS 2013: the time scales of the
#   layers, measured on text.
# - V. Pham, T. Bluche, C. Kermorvant, J. Louradour, "Dropout Improves Recurrent Neural Networks for Handwriting
#   Recognition", arXiv:1312.4569, November 2013 (ICFHR 2014), and W. Zaremba, I. Sutskever, O. Vinyals, "Recurrent Neural
#   Network Regularization", arXiv:1409.2329, 2014: dropout between layers only.
# - Y. Gal, Z. Ghahramani, "A Theoretically Grounded Application of Dropout in Recurrent Neural Networks", NeurIPS 2016: how
#   it can stand along time after all, with one mask for all steps.
# - J. L. Ba, J. R. Kiros, G. E. Hinton, "Layer Normalization", arXiv:1607.06450, 2016: with recurrent networks in mind.
# - K. He, X. Zhang, S. Ren, J. Sun, "Deep Residual Learning for Image Recognition", CVPR 2016: the plus sign.

# %% [markdown]
# ## Something to show to somebody
#
# Put in a line of code of your own and watch four layers read it, as they are after 100 updates. The darker the patch, the
# more the layer's state moves at that character.

# %% tags=["experiment"]
from rnncourse.plots.stacked import change_strips

line = "    def forward(self, x):\n        return self.output(x)\n"

model = reader(4, 0)
model.load_state_dict(after_100)
known = [letter for letter in line.lower() if letter in index]
with torch.no_grad():
    states, _ = model.all_states(onehot[torch.tensor([index[letter] for letter in known])][:, None])
moves = {
    f"layer {l}": np.linalg.norm(np.diff(h[:, 0].numpy(), axis=0, prepend=0), axis=1)
    for l, h in enumerate(states, start=1)
}
show(
    change_strips(known, moves, title="How far each layer's state moves at each character"),
    alt="Four strips over the characters of two lines of Python, one for each layer. Layer 1 moves at nearly every "
    "character, the upper layers mostly at line ends and where a word ends or begins.",
)

# %% tags=["experiment"]
progress("08_stacked")

# %% [markdown]
# ## The question that this unit leaves open
#
# Every layer of this unit reads from left to right. But when you read "Teddy bears are on sale", you know what *Teddy*
# means only after the next word. A second layer could be put to another use: **what if it reads the sentence from the
# end?** That is unit 09.
