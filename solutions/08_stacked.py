# %% [markdown]
# # 08 · Stacked recurrent networks
#
# **When you are done you will be able to**
#
# - stack recurrent layers, and take a gradient back through time *and* down through the layers;
# - choose widths so that networks of different depth can be compared;
# - say where dropout may stand in a recurrent network, and what it does to a memory;
# - normalise a layer, and say what becomes of the scale of its weights;
# - write PyTorch's `nn.RNN(num_layers=…, dropout=…)` yourself, number for number;
# - say from experiments when depth pays, and what a residual connection does for it.
#
# **Time**: about three hours. **You need** `rnn_forward` of [unit 03](../03_cell/03_cell.ipynb), `rnn_backward` of
# [unit 04](../04_bptt/04_bptt.ipynb), and from section 7 on a module of PyTorch
# ([unit 07](../07_torch_rnn/07_torch_rnn.ipynb)). 7 exercises and one written question make 24 points.
#
# Up to exercise 8.6 you write NumPy and may not call `torch`. Answers leave their arguments as they are and keep their
# dtype. What experiments train and measure stands in `rnncourse.experiments.stacked` and `stacked_torch`.

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
# Your network of [unit 06](../06_language_model/06_language_model.ipynb) reads characters. Characters make words, words
# make lines, lines make functions. One state has to hold all of this.
#
# In time, the unfolded network is as deep as the text is long. But from an input to the output of the *same* step there is
# only one tanh. **What does a second recurrent layer do that a wider first
# one does not?**

# %% [markdown]
# ## 1 · A layer turns a sequence into a sequence
#
# `rnn_forward` takes a sequence `X` $(T, N, D)$ and gives a sequence `H` $(T, N, H)$. That can go into `rnn_forward`
# again: **the states of one layer are the inputs of the next.**

# %% tags=["experiment"]
from rnncourse.plots import show
from rnncourse.plots.stacked import stack_graph

show(stack_graph(layers=2, steps=3))

# %% [markdown]
# The upper index is the layer, the lower one the time. With $h_t^0=x_t$, one formula says it for all $L$ layers (in this
# unit $L$ counts layers; a loss has no letter):
#
# $$h_t^{l} = \tanh\left( h_t^{l-1}\, U^{l} + h_{t-1}^{l}\, W^{l} + b^{l} \right) \qquad l = 1, \dots, L$$
#
# A state has two parents now: itself one step *earlier*, and the layer *under* it at the same step. Parameters are shared
# over time, not over depth: each layer has its own.
#
# - `layers` is a list of $L$ triples `(U, W, b)`, the bottom layer first. $U^1$ is $(D, H)$ and reads the input; the other
#   $U^l$ are $(H, H)$ and read the states below. $W^l$ is $(H, H)$, $b^l$ $(H,)$.
# - `h0` $(L, N, H)$ has a start state for *each* layer.
# - `H_top` $(T, N, H)$ are the states of the top layer, what an output layer would read.
# - `h_n` $(L, N, H)$ is the last state of each layer, what the next run starts from.
#
# *By hand*: two layers of one unit, in both $U=1$, $W=0.5$, $b=0$; all start from 0, and the inputs are $1, 0$.
#
# | | $t=1$ | $t=2$ |
# |---|---|---|
# | layer 2 | $\tanh(0.762+0)=0.642$ | $\tanh(0.363+0.5\cdot0.642)=0.594$ |
# | layer 1 | $\tanh(1+0)=0.762$ | $\tanh(0+0.5\cdot0.762)=0.363$ |
#
# Each entry needs what is left of it and what is below it, nothing else. So you may go row by row or column by column.

# %% [markdown]
# ### Exercise 8.1 · `stacked_forward`
# *●●○ · 12 minutes · 3 points*
#
# From `X (T, N, D)`, `h0 (L, N, H)` and the list `layers` to the pair `(H_top, h_n)`. You may call `rnn_forward` or
# `rnn_step`, which are imported: `rnn_forward(X, h0, U, W, b)` gives the states `(T, N, H)` of one layer.
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
# With these few lines you own deep recurrent networks.
#
# ### Experiment · one knock
#
# Four layers have one unit each, all with $W=0.8$. The bottom is hit once, at $t=1$. **Guess**: at which step does
# each of the four have its peak?

# %% tags=["experiment"] dials="W = 0.5; W = 0.95; W = 0.0"
from rnncourse.experiments.stacked import knocked
from rnncourse.plots import line_chart

W = 0.8
states = knocked(W, layers=4, steps=25, forward=use(stacked_forward))
labels = {"xlabel": "time step t", "ylabel": "state / its maximum"}
show(line_chart(range(1, 26), states, **labels))

# %% tags=["author"]
assert W != 0.8 or [int(line.argmax()) + 1 for line in states.values()] == [1, 4, 7, 10]

# %% [markdown]
# A single unit with $0<W<1$ can only fade. The layer above it sums up what fades, and has its peak at $t=4$, the fourth at
# 10. So a stack can *wait*: its top speaks up some steps after something has happened. *Try* $W=0.5$ and 0.95.

# %% [markdown]
# ## 2 · What a layer costs
#
# The first layer has $DH+H^2+H$ numbers. Each other layer reads $H$ numbers where the first one reads $D$. *By hand*, for
# $D=3$, $H=2$, $L=3$: $6+4+2=12$ for the first layer, $4+4+2=10$ for each other one, 32 in all.

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
# Now you can be fair: a comparison gives everybody the same **budget** of parameters, so whoever wants to be deep has to be
# narrow. **Guess**: of 8,000 numbers, one layer on inputs of size 70 can have 60 units. How many can each of four layers
# have?

# %% tags=["experiment"] dials="budget = 100_000; inputs = 2"
from rnncourse.experiments.stacked import width_for

count = use(stacked_parameter_count)
budget = 8_000
inputs = 70
for L in (1, 2, 3, 4):
    H = width_for(budget, inputs, L, count)
    print(f"layers: {L}   units in each: {H}   parameters: {count(inputs, H, L)}")

# %% tags=["author"]
assert (budget, inputs) != (8_000, 70) or [width_for(budget, inputs, L) for L in (1, 4)] == [60, 28]

# %% [markdown]
# Not a quarter, but nearly half: a layer of half the width costs a quarter. *Try* small inputs, or a large budget.

# %% [markdown]
# ## 3 · Back: two arrows again
#
# In unit 04 two arrows led into each state: one from its output, one from the next step. For all layers but the top one, the
# output is now the layer above.

# %% tags=["experiment"]
show(stack_graph(layers=2, steps=3, backward=True))

# %% [markdown]
# As before, $da_t^l=dh_t^l \odot (1 - (h_t^l)^2)$ is the error after its way back through the tanh. Then
#
# $$dh_t^{l} = \underbrace{da_t^{l+1} \left(U^{l+1}\right)^{\top}}_{\text{from the layer above}}
# + \underbrace{da_{t+1}^{l} \left(W^{l}\right)^{\top}}_{\text{from the next step}}$$
#
# and for the top layer the first term is `dH_top[t]`, what the loss says. For layer $l+1$, taken alone, that first term
# is the gradient of its *input*: what `rnn_backward` returns as `dX`. So
#
# > what is `dX` for one layer is `dH` for the layer below,
#
# and you need no new calculus. Run forwards and keep the states of every layer. Then go back through the top layer, hand its
# `dX` down, and so on. What comes out at the bottom is the `dX` of the stack.
#
# *By hand*, with the numbers from above and `dH_top` $=(0, 1)$. Begin at the top right:
#
# | | $t=1$ | $t=2$ |
# |---|---|---|
# | layer 2: $dh$ | $0+0.5\cdot0.647=0.323$ | $1$ |
# | layer 2: $da=dh\,(1 - h^2)$ | $0.323\cdot0.588=0.190$ | $1\cdot0.647=0.647$ |
# | layer 1: $dh$ | $0.190+0.5\cdot0.561=0.471$ | $0.647$ |
# | layer 1: $da$ | $0.471\cdot0.420=0.198$ | $0.647\cdot0.868=0.561$ |
#
# In the lower left corner both arrows meet: $0.190$ from above, $0.281$ from the right. As $U=1$, the last row is also
# $dx$. And $W^1$ gets $h_0^1\, da_1^1+h_1^1\, da_2^1=0+0.762\cdot0.561=0.427$.

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
    """Back through L layers.

    dH_top (T, N, H), X (T, N, D), h0 (L, N, H), layers [(U, W, b), …]
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
# Unit 04 gave you the referee, central differences:

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.stacked import gradient_errors

errors = gradient_errors(use(stacked_forward), use(stacked_backward))
for name, error in errors.items():
    print(f"{name}: at most {error:.0e} from central differences")

# %% tags=["author"]
assert max(errors.values()) < 1e-6, "All gradients were expected to agree with differences."

# %% [markdown]
# ## 4 · Vanishing, this time downwards
#
# Back in time the error goes through $(1 - h^2)$ and $W^\top$; down in depth it goes through $(1 - h^2)$ and $U^\top$.
# [Unit 05](../05_gradient_flow/05_gradient_flow.ipynb) showed what becomes of an error that is multiplied again and again.
# Depth is a second direction in which it can vanish.
#
# One cure is a plus sign, the **residual connection**: a layer *adds* to what it reads, and does not replace it.
#
# $$\text{plain: } \; r_t^{l} = h_t^{l} \qquad\qquad \text{residual: } \; r_t^{l} = r_t^{l-1} + h_t^{l}$$
#
# where $r_t^l$ is what layer $l$ hands up. (The first layer has to be plain, since $x_t$ has another size.) Backwards the
# plus sign copies the error: $dr^{l-1}=dr^{l}+(\text{what comes through layer } l)$, a road without tanh and matrix.
#
# The other cure is a start. PyTorch draws weights evenly from $-1/\sqrt H$ to $1/\sqrt H$, with a variance of $1/(3H)$.
# A sum over $H$ of them keeps about $1/\sqrt 3=0.58$ of the size of what goes in, forwards and backwards. Drawn
# $\sqrt 3$ times wider they have a variance of $1/H$, as `nn.init.xavier_uniform_` gives it to a square matrix.
#
# ### Experiment · how much error comes down?
#
# Eight layers of 32 units, nothing trained. The loss sends an error of size 1 to the top. **Guess**: how much of it comes
# down to the lowest layer in a plain stack, with plus signs, and with a wider start?

# %% tags=["experiment"] dials="L = 16; wider = 3.0"
from rnncourse.experiments.stacked import error_coming_down

L = 8
wider = np.sqrt(3)
sizes = {
    "residual": error_coming_down(L, residual=True),
    "plain,\nwider start": error_coming_down(L, wider=wider),
    "plain": error_coming_down(L),
}
down, size = "layers that the error has come down", "error / error sent"
show(line_chart(range(L), sizes, xlabel=down, ylabel=size, logy=True))

# %% tags=["author"]
assert sizes["plain"][7] < 0.1
assert sizes["residual"].min() > 0.95
assert (L, wider) != (8, np.sqrt(3)) or sizes["plain,\nwider start"].min() > 0.95

# %% [markdown]
# **Claim:** with weights as PyTorch draws them, less than a tenth of the error comes down eight plain layers. With plus
# signs, or with a wider start, nothing is lost.
#
# Errors vanish downwards *with these weights*, not because a stack is deep. *Try* 16 layers. Whether a network then *learns*
# better, section 8 asks.

# %% [markdown]
# ## 5 · Dropout, and where it stands
#
# **Dropout** fights overfitting: while training, each entry of a layer's output is set to 0 with probability $p$, by a
# fresh draw each time, so that no unit can rely on one other unit alone. When the network is used, nothing is dropped. So
# that the next layer gets as much as it is used to, the survivors are scaled up while training:
#
# $$\text{dropped} = \frac{h \odot m}{1 - p} \qquad m = 1 \text{ with probability } 1 - p, \text{ else } 0$$
#
# The mean over the draws is $h\,\frac{(1-p)\cdot1+p\cdot0}{1-p}=h$. This is called *inverted* dropout.
#
# *By hand*: $h=(1, 2, 3)$, $p=0.5$ and a mask of (kept, dropped, kept) give $(2, 0, 6)$.

# %% [markdown]
# ### Exercise 8.4 · `dropout_between`
# *●○○ · 8 minutes · 2 points*
#
# Write it with the draws given, so that the answer is not a matter of luck: `H` is `(T, N, H)`, `mask` has the same shape
# and holds True where an entry is **kept**, and `p`, a Python number from 0 up to but not including 1, is the
# probability with which entries were *dropped* when the mask was drawn. Return a new array.
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
# Where to put it? In a stack there are two kinds of arrows: up, through the $U$, and to the right, through the $W$.
#
# ### Experiment · a memory under dropout
#
# Remember the latch of unit 03: one unit with $W=2$ that is set once and stays at 0.96 for ever. We take 2,000 of them
# and drop one in ten at each step: on the way *up* to a reader, or *through time*. In a third group sixteen units hold the
# bit together, each with $2/16$ of a $W$ to every one, and are dropped through time.
#
# **Guess** for each group: what share of the latches reads as set after 50 steps?

# %% tags=["experiment"] dials="p = 0.3; p = 0.02"
from rnncourse.experiments.stacked import latches_under_dropout

p = 0.1
drop = use(dropout_between)
groups = {
    "16 units,\nthrough time": latches_under_dropout(16, "through time", p, drop=drop),
    "one unit, up": latches_under_dropout(1, "upwards", p, drop=drop),
    "one unit,\nthrough time": latches_under_dropout(1, "through time", p, drop=drop),
}
labels = {"xlabel": "time step t", "ylabel": "share that reads as set"}
show(line_chart(range(1, 51), groups, **labels))

# %% tags=["author"]
left = [group[-1] for group in groups.values()]
assert p != 0.1 or (left[0] > 0.98 and abs(left[1] - 0.9) < 0.05 and left[2] < 0.02)

# %% [markdown]
# **Claim:** with dropout of 0.1 on the way up, nine latches in ten read as set after 50 steps; with the same dropout
# through time, fewer than two in a hundred. Sixteen units together keep the bit.
#
# Through time, what one unit has lost is lost for all steps that follow: $0.9^{50}=0.005$. Sixteen units do not all fall
# at once, and those that stand set the others again. So dropout along time does not destroy every memory, it makes memory
# dear. *Try* 0.3.
#
# So the rule became (Pham and others, 2013), and PyTorch's `dropout=` follows it: **dropout goes between the layers, not
# along time.** Nor is anything dropped after the last layer.

# %% tags=["experiment"]
show(stack_graph(layers=3, steps=3, dropout=True))

# %% [markdown]
# ### One mask for all steps
#
# What ruins a memory is not that units are missing, it is that *other* units are missing at each step. So draw once for
# a sequence, and drop the same entries at all $T$ steps. This is **locked** dropout, or *variational*, as Gal and
# Ghahramani (2016) called it. It may stand on the way up, on the inputs, and along time.
#
# *By hand*: $X$ has three steps of one row, $(1, 2), (3, 4), (5, 6)$, and $p=0.5$. The mask is $(0, 1)$, drawn once:
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
# The same latches of one unit, dropped through time with the mask of your function. **Guess**: what share is set after 50
# steps? This one you can compute.

# %% tags=["experiment"] dials="p = 0.3; p = 0.5"
p = 0.1
share = latches_under_dropout(1, "one mask", p, lock=use(locked_dropout))[-1]
print(f"set after 50 steps, with one mask: {share:.2f}")

# %% tags=["author"]
assert abs(share - (1 - p)) < 0.04, "Those that are kept were expected to stay set."

# %% [markdown]
# Nine in ten. Who is dropped is gone from the first step on, and who is kept is never in danger. (PyTorch's `dropout=` is
# not locked: that you have to write.)

# %% [markdown]
# ## 6 · Layer normalisation
#
# Here is a third cure for a signal that shrinks from layer to layer. What a tanh reads may be too small, and it fades; or
# too large, and the tanh is stuck at ±1, where its slope is 0. So *make* the size right. For each row, take its own mean
# $\mu$ and its own variance $v$ over the units:
#
# $$y = g \odot \frac{x - \mu}{\sqrt{v + \varepsilon}} + s$$
#
# After the fraction the row has mean 0 and variance 1, whatever it had before. The **gain** $g$ and the **shift** $s$, one
# number a unit, are learned. $\varepsilon$ keeps a row of equal numbers from being divided by 0. In a recurrent layer it
# stands inside the tanh, $h_t=\tanh(\text{LN}(x_t U+h_{t-1} W+b))$. No other row of the batch and no other step has a
# say, which is why recurrent networks use this and not batch normalisation.
#
# *By hand*: $x=(1, 3)$ has $\mu=2$ and $v=((-1)^2+1^2)/2=1$, and so gives $(-1, 1)$. So does $(10, 30)$, with
# $\mu=20$ and $v=100$. With $g=(1, 2)$ and $s=(0, 0.5)$ it is $(-1, 2.5)$.

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
# ### Experiment · does a signal get through?
#
# Two inputs that differ a little go into eight layers, for one step. The weights are as PyTorch draws them, times a factor
# from 0.1 to 10. **Guess**, for each end: how much of the difference arrives on top in a plain stack? And in one with
# your `layer_norm` inside each tanh?

# %% tags=["experiment"]
from rnncourse.experiments.stacked import difference_on_top

normalise, factors = use(layer_norm), (0.1, 0.3, 1, 3, 10)
arrives = {
    "plain": [difference_on_top(factor) for factor in factors],
    "normalised": [difference_on_top(factor, normalise) for factor in factors],
}
labels = {"xlabel": "factor on all weights", "ylabel": "difference on top / below"}
show(line_chart(factors, arrives, **labels, logx=True, logy=True))

# %% tags=["author"]
assert arrives["plain"][0] < 1e-9
assert arrives["plain"][2] < 0.01 < 10 < arrives["plain"][4]
assert max(arrives["normalised"]) < 1.01 * min(arrives["normalised"]), "No effect of the factor was expected."

# %% [markdown]
# Plain, less than a billionth arrives at a factor of 0.1. Normalised, the factor changes nothing: each row is divided by
# its own size.
#
# So does the scale of the weights no longer matter? For what the network *computes*, it does not. For how it *learns*, it
# does. Let all weights under a normalisation be $k$ times as large. The loss is the same, and it takes a change $k$ times
# as large to change it as much: **the gradient is $1/k$ as large.**
#
# ### Experiment · ten times the weights
#
# One layer, $\tanh(\text{LN}(xU))$, learns by plain gradient descent at a rate of 0.3. Beside it learns the same layer with
# a $U$ ten times as large. **Guess**: by what factor must you multiply *its* rate, so that both go the same way? Put it in.

# %% tags=["experiment"] dials="factor = 10; factor = 100; factor = 300"
from rnncourse.experiments.stacked import train_normalised

factor = 1  # your guess
as_drawn, size = train_normalised(1, rate=0.3, normalise=normalise)
larger, larger_size = train_normalised(10, rate=0.3 * factor, normalise=normalise)
losses = {"U as drawn,\nrate 0.3": as_drawn, f"10 U,\nrate {0.3 * factor:g}": larger}
show(line_chart(range(61), losses, xlabel="updates", ylabel="loss", logy=True))

# %% tags=["author"]
by_100 = train_normalised(10, rate=30.0)
assert np.allclose(by_100[0], as_drawn, rtol=1e-3), "Both were expected to go the same way."
assert factor != 1 or larger[-1] > 100 * as_drawn[-1]
assert (np.diff(size) > 0).all(), "Each step was expected to make U longer."

# %% [markdown]
# It is 100. Ten times the weights get a tenth of the gradient, and have ten times as far to go. In general they turn at the
# speed of a rate $\eta / k^2$: **the scale has become the rate.** A start that is ten times too large no longer breaks this
# layer, it makes it slow.
#
# As the loss does not change along $U$ itself, the gradient is at a right angle to it, so each step makes $U$ longer: a
# normalised layer lowers its own rate.

# %% [markdown]
# ## 7 · The same as a module
#
# From here on we need autograd.

# %% locked="torch"
import torch
from torch import nn

# %% [markdown]
# `nn.RNN(input_size, hidden_size, num_layers, dropout=…)` is a stack. You are going to write it. Layer $l$, counted
# **from 0**, has four parameters. PyTorch keeps a matrix as *(to, from)*, our matrices transposed, and adds two biases:
#
# - `weight_ih_l0` $(H, D)$ is our $U^1$ transposed; `weight_ih_l1`, `weight_ih_l2`, … $(H, H)$ are $U^2, U^3, \dots$
# - `weight_hh_l0`, `weight_hh_l1`, … $(H, H)$ are $W^1, W^2, \dots$ transposed.
# - `bias_ih_l0` and `bias_hh_l0`, $(H,)$ each, are together $b^1$, and so on.
#
# To give a parameter a name that you compute, every module has two methods. (PyTorch would not see a plain list.)
#
#     start = torch.randn(hidden_size, hidden_size) / hidden_size**0.5
#     self.register_parameter(f"weight_hh_l{l}", nn.Parameter(start))
#     weight_hh = self.get_parameter(f"weight_hh_l{l}")
#
# A module knows whether it is being trained: `model.train()` and `model.eval()` set `self.training`. And
# `nn.functional.dropout(x, p, self.training)` is your `dropout_between` with a draw of its own for every entry of
# $(T, N, H)$. Without the third argument it drops *always*.

# %% [markdown]
# ### Exercise 8.7 · `StackedRNN`
# *●●● · 25 minutes · 5 points*
#
# Write the module.
#
# - `StackedRNN(input_size, hidden_size, num_layers=1, dropout=0.0)`, with the parameters that are listed above, and no others.
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
# The state dict of `nn.RNN` loads into your module, and its matrices, transposed, into the NumPy of section 1.
# **Guess**: how far apart are the states of the three?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.stacked_torch import beside_torch

torch.set_num_threads(1)  # for small matrices a second thread does not pay
differences = beside_torch(use(StackedRNN), use(stacked_forward))
for pair, difference in differences.items():
    print(f"{pair}: at most {difference:.0e} apart")

# %% tags=["author"]
assert max(differences.values()) < 1e-12, "All three were expected to agree."

# %% [markdown]
# You own it. From here on we let `nn.RNN` run, whose loop is compiled.
#
# ## 8 · What does depth buy?
#
# ### Experiment · a task that wants depth
#
# A network reads random symbols out of four, and has to say the symbol of **six steps ago**. Who knows nothing pays 2
# bits a symbol. One layer and three get the same budget of 1,500 numbers, the output layer's included: 34 units, or three
# times 16. We count the updates by Adam until the loss is below 0.1 bits.
#
# **Guess**: which of the two is there first, and how far apart are they?

# %% tags=["experiment", "nbval-ignore-output"] dials="rate = 0.015; rate = 0.03"
from rnncourse.experiments.stacked_torch import DELAYS, over_seeds, updates_to_recall
from rnncourse.plots.stacked import runs_over_seeds

rate = 0.005
count = use(stacked_parameter_count)
needed = {}
for name in track(DELAYS, "saying the symbol of six steps ago"):
    needed[name] = updates_to_recall(name, rate, count=count)
ours = over_seeds("delay_by_depth", "updates", f", rate {rate:g}")
show(runs_over_seeds(needed, ours, xlabel="updates until the loss is below 0.1 bits"))

# %% tags=["author"]
assert rate != 0.005 or needed["3 layers"] < needed["1 layer"] < 600

# %% [markdown]
# **Claim:** at equal budget, three narrow layers learn to say the symbol of six steps ago in fewer updates than one wide
# layer.
#
# One layer takes
# {{delay_by_depth/1 layer, rate 0.005/updates|median .0f}} updates, three take
# {{delay_by_depth/3 layers, rate 0.005/updates|median .0f}} (medians). Is it the rate? *Try* 0.015, the best that we found
# for either.
#
# **Claim:** at a rate of 0.015 three layers are still sooner.
#
# The two held in {{held deeper_delay_sooner}} and {{held deeper_delay_sooner_at_best_rate}} seeds. So depth was **faster**; one layer learns the task, too.
#
# Remember the knock of section 1. A layer that says the symbol of three steps ago hands the layer above a task of three
# steps in place of six: depth can **divide** a distance.

# %% [markdown]
# ### Experiment · real text, the same game
#
# Now Python source, letter by letter, in windows of 16, with 12,000 numbers for each network, the output layer's
# included: one layer of 59 units, or four of 32. $W$ starts orthogonal, $U$ by `xavier_uniform_`, wide enough for the depth.
#
# **Guess**: which of the two is ahead on held-out files after 100 updates, and by how many tenths of a bit?

# %% tags=["experiment", "nbval-ignore-output"] dials="rate = 0.004; updates = 300"
from rnncourse.experiments.stacked_torch import bits_held_out, read

rate = 0.012
updates = 100
bits = {}
for name in track(("1 layer", "4 layers"), "reading Python source"):
    bits[name] = bits_held_out(read(name, updates, rate))
measured = over_seeds("text_by_depth", f"after {updates}", f", rate {rate:g}")
show(runs_over_seeds(bits, measured, xlabel="bits a character, held out"))

# %% tags=["author"]
assert (rate, updates) != (0.012, 100) or bits["4 layers"] > bits["1 layer"] + 0.1

# %% [markdown]
# **Claim:** after 100 updates on Python source, four plain layers are more than a tenth of a bit behind one layer of as
# many parameters.
#
# Why? The output reads the top layer only, and a letter must climb through four tanhs to get there. If that is the
# reason, a *short way* to the output should mend it. There are two: the plus signs of section 4; or an output layer that
# reads the states of all four layers, side by side (then, within the budget, of 23 units each).
#
# **Guess**: where will four layers end with plus signs, with an output that reads all, and with both?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.stacked_torch import READERS

for name in track(READERS, "with a short way"):
    if name not in bits:
        bits[name] = bits_held_out(read(name, updates, rate))
show(runs_over_seeds(bits, measured, xlabel="bits a character, held out"))

# %% tags=["author"]
assert (rate, updates) != (0.012, 100) or max(list(bits.values())[2:]) < bits["1 layer"]

# %% [markdown]
# **Claim:** with plus signs, or with an output that reads all layers, four layers are ahead of one.
#
# Four layers with plus signs are at {{text_by_depth/4 layers, residual, rate 0.012/after 100|median}} bits, one layer is at
# {{text_by_depth/1 layer, rate 0.012/after 100|median}}, four plain ones at
# {{text_by_depth/4 layers, rate 0.012/after 100|median}}. So it was not the depth that was bad, it was the way to the
# output. Is it the rate? *Try* 0.004 above, and run both cells.
#
# **Claim:** at a third of the rate four plain layers are behind one, and four with plus signs ahead, too.
#
# That held in {{held deeper_text_at_a_third_of_the_rate}} seeds. Is such a lead one in the end, too? Tuned with equal care,
# gated networks of one, two and four layers came out close together (Melis and others, 2018). So **start with one layer. If
# you add more, give each a short way to the output, and compare at equal cost, trained to the end.**

# %% [markdown]
# ### Experiment · eight layers
#
# In section 4 the error came down eight layers unharmed with plus signs, and with a wider start. Does training need either?
# The task is to say the symbol of three steps ago; every layer has 16 units. **Guess** an order of the four after 80
# updates.

# %% tags=["experiment", "nbval-ignore-output"] dials="rate = 0.01"
from rnncourse.experiments.stacked_torch import DEEP, bits_after

rate = 0.003
ends = {name: bits_after(name, rate) for name in track(DEEP, "training")}
ours = over_seeds("eight_layers", "after 80", f", rate {rate:g}")
show(runs_over_seeds(ends, ours, xlabel="bits a symbol after 80 updates", log=True))

# %% tags=["author"]
assert ends["8 layers, residual"] < 0.25 * ends["8 layers"], "The plus sign was expected to make the difference."

# %% [markdown]
# **Claim:** eight layers with plus signs end with less than a quarter of the loss of eight plain ones, also if those start
# wider, or learn at a rate of 0.01.
#
# It held in {{held residual_eight_layers}} seeds. They are at {{eight_layers/8 layers, residual, rate 0.003/after 80|median .3f}} bits, plain ones at
# {{eight_layers/8 layers, rate 0.003/after 80|median}}, with a wider start at
# {{eight_layers/8 layers, wider start, rate 0.003/after 80|median}}. So an error that comes down is not enough. One reason
# may be the short way again: with plus signs the output reads the sum of all layers. *Try* 0.01.

# %% [markdown]
# ## 9 · Bugs to hunt
#
# All of them run. What would you see, and which test of this unit finds it?
#
# - The second layer is called with `X` again. With $D=H$ it runs, and learns as one layer would.
# - `h = np.zeros((N, H))` before the loop over the layers, and each layer goes on from the `h` of the one below it.
# - A language model carries `h_n[-1]` from batch to batch and starts *all* layers from it.
# - `model.eval()` is forgotten before the held-out text is read.
# - `nn.RNN(…, num_layers=1, dropout=0.5)`: PyTorch warns, and drops nothing. Why?
#
# <details><summary>Answers, when you have thought about them</summary>
#
# The first: change the parameters of layer 1 and see whether the top states change. The second breaks causality: layer 2
# starts from the *end* of layer 1, so a late input changes an early state. The third is found by "two runs in a row give
# what one run gives", the fourth by calling twice. And with one layer there is no *between*.
# </details>

# %% [markdown]
# ## 10 · What you have
#
# What does a second recurrent layer do that a wider first one does not? It reads what the first one has made of the past,
# so it can answer later, and divide a distance. It costs width.
#
# - Back: what is `dX` for one layer is `dH` for the layer below.
# - Depth is a second direction in which errors can vanish. A residual connection is a road without tanh and matrix.
# - Dropout stands between layers. Through time it wipes out what one unit holds alone, unless one mask is locked.
# - Under layer normalisation the scale of the weights changes nothing in what is computed. It has become the rate: $k$
#   times the weights learn as at a rate of $\eta / k^2$.
# - At equal budget, depth was sooner done where a distance could be divided. On text four plain layers were behind one;
#   with a short way from each layer to the output they were ahead.

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
# seeds and a learning rate chosen for each depth, and compare bits per character on held-out files in eval mode. Since
# a plain stack can be behind only for want of a short way to the output, I would run the deep ones with residual
# connections as well. (c) I would be convinced if every run of three layers was below every run of one layer, by more
# than the runs of one depth differ among themselves, and if the difference stayed when both were trained further: a
# network that learns sooner need not be the better one in the end.
#
# *Rubric.* **1 point**: names at least two faults (unequal parameters, dropout changed as well, judged on training
# text, one run only). **1 point**: a fair design: parameters or compute equal, one thing changed at a time, held-out
# text in eval mode. **1 point**: says what would convince: several seeds, and a difference larger than their spread (or
# an equivalent criterion). An answer that asks for equal *time* in place of equal parameters is fine if it says so.
# Residual connections are not asked for.
# ### END SOLUTION

# %% [markdown]
# ## Where to read on
#
# - Melis, Dyer, Blunsom, "On the State of the Art of Evaluation in Neural Language Models", ICLR 2018.
# - Hermans, Schrauwen, "Training and Analysing Deep Recurrent Neural Networks", NeurIPS 2013: time scales, measured.
# - Pham and others, arXiv:1312.4569, 2013; Zaremba, Sutskever, Vinyals, arXiv:1409.2329, 2014: dropout between layers.
# - Gal, Ghahramani, arXiv:1512.05287, 2016: one mask for all steps.
# - Ba, Kiros, Hinton, "Layer Normalization", arXiv:1607.06450, 2016: also on what scale does to learning.
# - He, Zhang, Ren, Sun, "Deep Residual Learning for Image Recognition", CVPR 2016: the plus sign.

# %% [markdown]
# ## Something to show to somebody
#
# One often reads that upper layers "learn longer time scales". Put in a line of code of your own, and watch four plain
# layers read it after 100 updates: the darker, the more a state moves. **Guess**: at which characters does the top layer
# move most?

# %% tags=["experiment", "nbval-ignore-output"] dials="updates = 0; updates = 200; line = ''"
from rnncourse.experiments.stacked_torch import moves
from rnncourse.plots.stacked import change_strips

line = "    def forward(self, x):\n        return self.output(x)\n"
updates = 100
show(change_strips(*moves(read("4 layers", updates, rate=0.004), line)))

# %% [markdown]
# Nobody told the network what a word is.
#
# **Claim:** after 100 updates the top layer is less than half as fast as the first, and moves more than twice as much at
# the borders of words as within them. After 200 updates it is more than half as fast.
#
# It held in {{held upper_layers_slow_for_a_while}} seeds. (Speed is the mean squared change per letter; a state drawn anew at
# each letter has 1.) The top layer's speed is {{text_by_depth/4 layers, rate 0.004/speed of layer 4 after 0|median}} before training,
# {{text_by_depth/4 layers, rate 0.004/speed of layer 4 after 100|median}} after 100 updates,
# {{text_by_depth/4 layers, rate 0.004/speed of layer 4 after 200|median}} after 200. So the picture of the textbooks comes,
# and passes. *Try* 200 updates, or 0.

# %% tags=["experiment"]
progress("08_stacked")

# %% [markdown]
# ## The question that this unit leaves open
#
# Every layer of this unit reads from left to right. But when you read "Teddy bears are on sale", you know what *Teddy*
# means only after the next word. **What if a second layer reads the sentence from the end?** That is
# [unit 09](../09_bidirectional/09_bidirectional.ipynb).
