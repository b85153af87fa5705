# %% [markdown]
# # 05 · Gradient flow
#
# **After this unit you can**
#
# - predict from the spectral radius of $W$ how fast errors vanish or explode in a linear cell, and say what a tanh
#   and the inputs change;
# - choose a learning rate, stop an explosion by clipping, and say why the same medicine does nothing against vanishing;
# - cut backpropagation through time into chunks, and say what the cut costs;
# - get the exact gradient of a long sequence with the square root of the memory;
# - show where a network fails to learn over a distance, move that wall, and then jump it: with *short* examples.
#
# **It takes** about three hours, half of them your own work, best in two sittings (the second begins with section 5).
# **You should know** unit 04: how an error walks back through time. From linear algebra you need eigenvalues; singular
# values and orthogonal matrices are explained where they come up. There are 7 exercises and one written question, 23
# points in all.
#
# In all exercises you write NumPy, and may not call `torch`. Answers keep the dtype that they are given and leave their
# arguments as they are. Before an experiment you are asked to guess. Write your guess down: it costs half a minute, and
# you will see more.

# %% [markdown]
# ## The question that unit 04 left open
#
# You have the gradient of a sequence, exact to ten digits. And at the end of unit 04 you took it apart by distance, and
# saw that after training next to nothing in it came from twenty steps away. Was that bad luck with one text? Or *must*
# it be so? And if $W$ were larger, would the far past become too loud instead?
#
# **What happens to the gradient over long distances, and what can you do about it?** This question held the field up
# for years. Half of its answer is the reason why LSTMs exist. The other half is in section 7, and fewer people know it.
# You find out both for yourself.

# %% locked="setup"
import numpy as np

from rnncourse import check, hint, progress, use
from rnncourse.bptt import nll_backward, output_backward, rnn_backward, rnn_step_backward, sequence_nll
from rnncourse.cell import output_layer, rnn_forward, rnn_step

np.set_printoptions(precision=3, suppress=True)

# %% tags=["experiment"]
progress("05_gradient_flow")

# %% [markdown]
# ## 1 · One error on its way back
#
# Read the loss at the last step only, and follow its error. From $h_t$ back to $h_{t-1}$ there is only one way: through
# the tanh that made $h_t$, then through $W$.
#
# $$dh_{t-1} = \left( dh_t \odot (1 - h_t^2) \right) W^\top$$
#
# That is one step. From step $T$ to step $t$ it happens $T - t$ times, and each time the error is multiplied by the
# same matrix. Whatever is multiplied by the same thing again and again either dies or blows up; it hardly ever stays as
# it is. To see which of the two happens, we need the *size* of the error at each step:
#
# $$\|dh_t\| = \sqrt{\sum_{n, j} (dh_t)_{nj}^2}$$
#
# one number for each step, over all rows $n$ and all units $j$ at once.
#
# *By hand*, with one row and two units:
#
# $$dh_2 = \begin{bmatrix} 3 & 4 \end{bmatrix}, \qquad h_2 = \begin{bmatrix} 0 & 0.5 \end{bmatrix}, \qquad
# W = \begin{bmatrix} 0 & 2 \\ 1 & 0 \end{bmatrix}$$
#
# The size at step 2 is $\sqrt{9 + 16} = 5$. The slopes are $1 - h_2^2 = \begin{bmatrix} 1 & 0.75 \end{bmatrix}$, so the
# tanh lets $\begin{bmatrix} 3 & 3 \end{bmatrix}$ through, and
#
# $$dh_1 = \begin{bmatrix} 3 & 3 \end{bmatrix} \begin{bmatrix} 0 & 1 \\ 2 & 0 \end{bmatrix}
# = \begin{bmatrix} 6 & 3 \end{bmatrix}, \qquad \|dh_1\| = \sqrt{45} = 6.708$$

# %% [markdown]
# ### Exercise 5.1 · `state_gradient_norms`
# *●●○ · 12 minutes · 3 points*
#
# `dh_last (N, H)` is the gradient of the loss at the last state, `H (T, N, H)` holds all states, `W` is `(H, H)`. The
# answer is an array `(T,)`: entry `t` is the norm of the error at `H[t]`. So the **last** entry is the norm of
# `dh_last` itself, and the first is what is left at the first step.
#
#     dh_last [[3, 4]]    H [[[0.3, 0.1]], [[0, 0.5]]]    W [[0, 2], [1, 0]]    gives [6.708, 5]
#
# (The numbers in `H[0]` play no part. Why?)


# %% answer="state_gradient_norms"
def state_gradient_norms(dh_last, H, W):
    """The norm of dL/dh_t at every step: dh_last (N, H), H (T, N, H), W (H, H) -> (T,)."""
    ### BEGIN SOLUTION
    dh = dh_last
    norms = np.empty(len(H), dtype=dh.dtype)
    norms[-1] = np.sqrt((dh**2).sum())
    for t in range(len(H) - 1, 0, -1):
        dh = (dh * (1 - H[t] ** 2)) @ W.T
        norms[t - 1] = np.sqrt((dh**2).sum())
    return norms
    ### END SOLUTION


# %% check="state_gradient_norms"
check(state_gradient_norms)

# %% [markdown]
# You own a probe that you can hold to any recurrent network. Before you do, think about what it will show.

# %% [markdown]
# ## 2 · One number decides
#
# Take the simplest case first: one unit, no tanh. Then $dh_{t-1} = w \, dh_t$, and after $k$ steps the error has been
# multiplied by $w^k$:
#
# | steps back | $w = 0.5$ | $w = 1$ | $w = 1.5$ |
# |---|---|---|---|
# | 1 | 0.5 | 1 | 1.5 |
# | 10 | 0.001 | 1 | 58 |
# | 20 | 0.000 001 | 1 | 3,325 |
# | 40 | 0.000 000 000 001 | 1 | 11,000,000 |
#
# A single unit has to be tuned to exactly 1. Otherwise either the error is gone, or everything else is.
#
# With $H$ units there is a matrix in place of $w$. Along an eigenvector it acts like a number, its **eigenvalue**
# $\lambda$: $k$ steps multiply by $\lambda^k$. If $W$ has $H$ eigenvectors that are independent, and a matrix drawn
# at random has, any error is a mixture of them, and after many steps only the one with the largest $|\lambda|$ can
# still be heard. (With fewer, the same comes out in the end; an example is below.) So without a tanh, in the long
# run, it is one number that counts, the **spectral radius**:
#
# $$\rho(W) = \max_i |\lambda_i|$$
#
# The bars matter. An eigenvalue may be negative, and then the error changes its sign at each step while it grows. It
# may be complex, and then the error turns while it grows:
#
# $$W = \begin{bmatrix} 0 & -2 \\ 2 & 0 \end{bmatrix} \quad \text{turns by 90° and doubles;} \quad
# \lambda = \pm 2i, \quad \rho = 2$$
#
# Its eigenvalues have a real part of 0. Still, nobody would say that it does nothing.

# %% [markdown]
# ### Exercise 5.2 · `spectral_radius`
# *●○○ · 4 minutes · 1 point*
#
# The largest absolute value among the eigenvalues of `W (H, H)`, as one number. You may call `np.linalg`.
#
#     W [[0, -2], [2, 0]]  gives 2          W [[-3, 8], [0, 1]]  gives 3


# %% answer="spectral_radius"
def spectral_radius(W):
    """The largest |eigenvalue| of W (H, H)."""
    ### BEGIN SOLUTION
    return float(np.abs(np.linalg.eigvals(W)).max())
    ### END SOLUTION


# %% check="spectral_radius"
check(spectral_radius)

# %% [markdown]
# The radius speaks about the *long run*. In the short run something else can happen. With
#
# $$W = \begin{bmatrix} 0.5 & 4 \\ 0 & 0.5 \end{bmatrix}, \qquad
# W^k = \begin{bmatrix} 0.5^k & 8 k \cdot 0.5^k \\ 0 & 0.5^k \end{bmatrix}$$
#
# the radius is 0.5, and yet the upper right entry is 4 after one step, 4 after two, 3 after three. Only then does it
# shrink, to 0.08 after ten. The most that $W$ can stretch any error in *one* step is its largest **singular value**,
# here 4.06 (`np.linalg.norm(W, 2)` computes it). That number is never below the radius, and it gives the one thing that
# is certain: a tanh's slope is at most 1, so **if the largest singular value is below 1, every error vanishes**, with
# tanh and without. An explosion needs a value above 1.

# %% [markdown]
# ### Exercise 5.3 · `with_spectral_radius`
# *●○○ · 8 minutes · 2 points*
#
# To try out radii, you need a matrix of any radius that you like. If $W v = \lambda v$, then $(a W) v = (a \lambda) v$:
# one factor on all entries multiplies all eigenvalues by it. Return `W (H, H)`, scaled so that its spectral radius
# is `rho`, a positive number, as a new array of W's dtype. If the radius of `W` is 0, no factor helps: raise a
# `ValueError`. You may call your `spectral_radius`; while this exercise is checked, it is a correct one.
#
#     W [[-2, 8], [0, 1]]    rho 0.5    gives [[-0.5, 2], [0, 0.25]]


# %% answer="with_spectral_radius"
def with_spectral_radius(W, rho):
    """W (H, H), scaled to the spectral radius rho. A ValueError if its radius is 0."""
    ### BEGIN SOLUTION
    radius = spectral_radius(W)
    if radius == 0:
        raise ValueError("The spectral radius of W is 0, and no factor changes that.")
    return W * (rho / radius)
    ### END SOLUTION


# %% check="with_spectral_radius"
check(with_spectral_radius)

# %% [markdown]
# Now you have a probe and a knob. Time for the experiment that this unit is named after.

# %% [markdown]
# ### Experiment · vanish or explode
#
# One random $W$ of 64 units, scaled to three radii. On the left the cell is linear: every slope is 1. On the right the
# states come from a cell with tanh that reads random inputs. **Guess first**: for each radius, does the error vanish,
# explode, or stay, on the left? And which of the three will explode on the right?
#
# **Claim:** without tanh the error is multiplied by $\rho$ at each step, in the long run. With tanh it is multiplied by
# less, so that even with a radius of 1.5 it vanishes here.

# %% tags=["experiment"]
from rnncourse.plots import show
from rnncourse.plots.gradient_flow import norms_by_distance

answer_above = "if an answer above has not passed its check, that may be why."
probe, scale = use(state_gradient_norms), use(with_spectral_radius)
W_drawn = np.random.default_rng(5).normal(size=(64, 64))


def errors(W, loudness=1.0):
    """The norms of the error at 41 steps: of a linear cell, and of one with tanh that reads random inputs."""
    rng, T, N, D, units = np.random.default_rng(0), 41, 8, 4, len(W)
    X, U, dh_last = rng.normal(size=(T, N, D)), 0.5 * rng.normal(size=(D, units)), rng.normal(size=(N, units))
    states = rnn_forward(loudness * X, np.zeros((N, units)), U, W, np.zeros(units))
    return probe(dh_last, np.zeros((T, N, units)), W), probe(dh_last, states, W)


radii = (1.5, 1.0, 0.5)
linear, bent = ({f"ρ = {rho:g}": errors(scale(W_drawn, rho))[i] for rho in radii} for i in (0, 1))
show(
    norms_by_distance({"linear: no tanh": linear, "with tanh": bent}),
    alt="Size of the error against the distance that it has come, on a logarithmic axis, for three spectral radii. Without "
    "tanh: a straight line upwards for 1.5, a nearly level one for 1, a steep one downwards for 0.5. With tanh all three "
    "go down, the one for 1.5 slowly, the one for 0.5 to 1e-12 within 25 steps.",
)
for rho in radii:
    name, middle = f"ρ = {rho:g}", 20
    per_step = [(norms[0] / norms[middle]) ** (1 / middle) for norms in (linear[name], bent[name])]
    print(
        f"{name:8} the error is multiplied, at each step, by {per_step[0]:.2f} without tanh, {per_step[1]:.2f} with it"
    )
    assert abs(per_step[0] / rho - 1) < 0.05, "Without tanh the factor was expected to be near ρ; " + answer_above
    assert per_step[1] < per_step[0], "With tanh the factor was expected to be smaller; " + answer_above
assert bent["ρ = 1.5"][0] < 0.1 * bent["ρ = 1.5"][-1], "With tanh the error was expected to vanish; " + answer_above

# %% tags=["experiment"]
from rnncourse.plots.films import way_back_film

way_back_film({name: norms[-31:] for name, norms in bent.items()}).show(
    alt="Three rows of bars, one for each spectral radius: the error at each of thirty steps back, on a logarithmic scale, "
    "smaller the further back and the smaller the radius.",
    title="Thirty steps back",
)

# %% [markdown]
# Straight lines on a logarithmic axis: each step back multiplies by about the same number, as in the table above. What
# you saw in unit 04 was not bad luck. It is a law.
#
# The tanh has two sides. It *protects*: where a state is near $\pm 1$, its slope $1 - h^2$ is near 0, and hardly any
# error gets through. And for the same reason it *destroys*: no error can get through. It makes the explosion rarer and
# the vanishing worse.
#
# Is a network with tanh safe from explosions, then? What happens at $\rho = 3$? And what when the inputs are so quiet
# that the states stay small, where the tanh is nearly linear? The next picture shows one case of each. In a running
# notebook there are sliders below it: **move them**.

# %% tags=["experiment"]
from rnncourse.plots import Slider, explore


def turned(rho, loudness):
    return dict(zip(("linear", "with tanh"), errors(scale(W_drawn, rho), loudness), strict=True))


explore(
    lambda rho, loudness: norms_by_distance({f"ρ = {rho:g}, inputs × {loudness:g}": turned(rho, loudness)}),
    norms_by_distance({"ρ = 3, inputs × 1": turned(3.0, 1.0), "ρ = 1.5, inputs × 0": turned(1.5, 0.0)}),
    alt="Size of the error against distance, in two panels. Radius 3: without tanh it leaves the chart within 20 steps; with "
    "tanh it climbs as well, to some ten thousand. Radius 1.5 and silent inputs: the line with tanh lies exactly on the line without.",
    rho=Slider("radius ρ", 0.25, 3.0, 1.5, step=0.25),
    loudness=Slider("inputs ×", 0.0, 2.0, 1.0, step=0.1),
)
with_tanh = errors(scale(W_drawn, 3.0))[1]
print(f"ρ = 3, with tanh: the error is multiplied by {with_tanh[0] / with_tanh[-1]:,.0f} over 40 steps")
assert with_tanh[0] > 100 * with_tanh[-1], (
    "At ρ = 3 the error was expected to explode in spite of the tanh; " + answer_above
)
assert np.allclose(*errors(scale(W_drawn, 1.5), loudness=0.0)), (  # all states are 0: the tanh is a straight line there
    "With silent inputs the tanh was expected to change nothing; " + answer_above
)

# %% [markdown]
# At $\rho = 3$ the error explodes in spite of the tanh, and with silent inputs the tanh changes nothing at all. So
# whether errors vanish or explode depends on $W$ *and* on what the network reads. That is why training can go well
# for a thousand updates and then, all of a sudden, not.

# %% [markdown]
# ## 3 · Clipping: a shorter step the same way
#
# What does an explosion do to training? A gradient is a slope. Where the loss has a wall, the slope is huge, and a step
# in proportion to it throws the parameters far away, to a place from which nobody returns. But its *direction* was
# right: down. So keep the direction and shorten the step.
#
# Think of all gradients, $dU, dW, db, dV, dc$, as laid out in one long vector $g$. If it is longer than a threshold,
# scale it down to the threshold, and else leave it alone:
#
# $$g \leftarrow g \cdot \frac{\text{max\_norm}}{\|g\|} \quad \text{if } \|g\| > \text{max\_norm}, \qquad
# \|g\| = \sqrt{\textstyle\sum \text{of all squares, in all arrays}}$$

# %% tags=["experiment"]
from rnncourse.plots.gradient_flow import clipped_step

show(
    clipped_step(np.array([4.0, 1.0]), 1.5),
    alt="A gradient of two parameters as an arrow. Clipped by its norm it becomes shorter and keeps its direction; with each "
    "of its entries clipped by value it points another way, steeper than before.",
)

# %% [markdown]
# **One** factor for everything: that is what keeps the direction. Clip each entry by itself, or each array by itself,
# and the arrow turns.
#
# *By hand*: two gradients, $dW = [3]$ and $db = [4]$. The norm is $\sqrt{9 + 16} = 5$. With `max_norm = 2.5` the factor
# is $0.5$, and we get $[1.5]$ and $[2]$. With `max_norm = 10` nothing changes.

# %% [markdown]
# ### Exercise 5.4 · `clip_by_global_norm`
# *●●○ · 12 minutes · 3 points*
#
# `gradients` is a list of arrays of any shapes, `max_norm` a positive number. Return two things: a list of the clipped
# gradients, of the same shapes and dtypes, and the norm **before** clipping.
#
# - The factor is exactly `max_norm / norm`, with no epsilon added.
# - If the norm is not above `max_norm`, the values stay. Gradients that are all zero stay zero.
# - The result holds new arrays, always; those that you were given are left as they were.
#
#     gradients [[3.0], [4.0]] (two arrays)    max_norm 2.5    gives ([[1.5], [2.0]], 5.0)


# %% answer="clip_by_global_norm"
def clip_by_global_norm(gradients, max_norm):
    """Scale all gradients by one factor if their norm is above max_norm -> (list of new arrays, norm before)."""
    ### BEGIN SOLUTION
    norm = float(np.sqrt(sum((g**2).sum() for g in gradients)))
    factor = max_norm / norm if norm > max_norm else 1.0
    return [g * factor for g in gradients], norm
    ### END SOLUTION


# %% check="clip_by_global_norm"
check(clip_by_global_norm)

# %% [markdown]
# From here on hardly a training loop of this course does without it, by this name or by PyTorch's. Write down the norm
# that it returns, too: that is the first place where trouble shows.
#
# ### A task that needs memory
#
# To see what all this does to learning, we need a task in which distance is a number that we can set. Here is one:
# **at the first step a symbol is shown, one of four. Then come `lag` steps of noise. Then: which symbol was it?**
# Whoever remembers gets 100%; whoever guesses gets 25%. The loss is read at the last step only, so everything hangs
# on one error that has to find its way back to the first step.
#
# The training loop is that of unit 04, with plain gradient descent and your clipping. Each batch has one lag, drawn
# from `lags`, the shortest and the longest:

# %% tags=["experiment"]
clip = use(clip_by_global_norm)
SYMBOLS, HIDDEN, CHANCE = 4, 32, 0.25


def recall_batch(rng, lag, rows):
    """X (lag + 1, rows, 8): a symbol at the first step, then noise, which has four symbols of its own; y (rows,)."""
    ids = SYMBOLS + rng.integers(SYMBOLS, size=(lag + 1, rows))
    ids[0] = rng.integers(SYMBOLS, size=rows)
    return np.eye(2 * SYMBOLS)[ids], ids[0]


def states_of(p, X):
    return rnn_forward(X, np.zeros((X.shape[1], HIDDEN)), p["U"], p["W"], p["b"])


def full_bptt(dH, X, h0, H, U, W):
    return rnn_backward(dH, X, h0, H, U, W)[2:]  # dU, dW, db


def loss_and_gradients(p, X, y, back=full_bptt):
    H = states_of(p, X)
    logits = output_layer(H[-1:], p["V"], p["c"])  # the answer, at the last step only
    dH = np.zeros_like(H)
    dH[-1:], dV, dc = output_backward(nll_backward(logits, y[None]), H[-1:], p["V"])
    return sequence_nll(logits, y[None]), [*back(dH, X, np.zeros_like(H[0]), H, p["U"], p["W"]), dV, dc]


def recalled(p, lag, rows=200):
    """The share of right answers on new sequences."""
    X, y = recall_batch(np.random.default_rng(lag), lag, rows)
    return np.mean(output_layer(states_of(p, X)[-1:], p["V"], p["c"])[0].argmax(axis=1) == y)


def random_start(rho, seed):
    """W of spectral radius rho."""
    return scale(np.random.default_rng([seed, 1]).normal(size=(HIDDEN, HIDDEN)), rho)


def draw_parameters(rng, W, loudness=0.5):
    """All five: W as given, U and V by the dice. The entries of U decide how loud the inputs are in the cell."""
    U, V = loudness * rng.normal(size=(2 * SYMBOLS, HIDDEN)), rng.normal(size=(HIDDEN, SYMBOLS)) / np.sqrt(HIDDEN)
    return {"U": U, "W": W.copy(), "b": np.zeros(HIDDEN), "V": V, "c": np.zeros(SYMBOLS)}


def train(lags, W, learning_rate=0.2, max_norm=1.0, updates=300, seed=0, back=full_bptt, loudness=0.5):
    """Train from W on, at lags from the first to the last of `lags`: the parameters; losses and gradient norms."""
    rng = np.random.default_rng(seed)
    p, losses, norms = draw_parameters(rng, W, loudness), [], []
    for _ in range(updates):
        X, y = recall_batch(rng, rng.integers(lags[0], lags[-1] + 1), 16)
        loss, gradients = loss_and_gradients(p, X, y, back)
        gradients, norm = clip(gradients, max_norm)
        for array, gradient in zip(p.values(), gradients, strict=True):
            array -= learning_rate * gradient
        losses.append(loss)
        norms.append(norm)
    return p, np.array(losses), np.array(norms)


X, y = recall_batch(np.random.default_rng(0), lag=3, rows=1)
print("reads", X[:, 0].argmax(axis=1), " should say", y[0])

# %% [markdown]
# ### Experiment · how long may a step be?
#
# The **learning rate** $\eta$ decides, and nobody can compute the right one. So one tries: rates a factor of three or
# so apart, a short run of each, and more than one seed. Here are 300 updates over 8 steps, from a radius of 1.5; in
# each cell the share of right answers, the median of ten seeds, and in brackets the lowest and the highest. **Guess first**,
# with a hand on the right column: which of these rates does clipping save, and which does it not?
#
# | rate | without clipping | clipped at 1 |
# |---|---|---|
# | 0.003 | {{long_steps/radius 1.5, rate 0.003, unclipped/right}} | {{long_steps/radius 1.5, rate 0.003, clipped/right}} |
# | 0.01 | {{long_steps/radius 1.5, rate 0.01, unclipped/right}} | {{long_steps/radius 1.5, rate 0.01, clipped/right}} |
# | 0.03 | {{long_steps/radius 1.5, rate 0.03, unclipped/right}} | {{long_steps/radius 1.5, rate 0.03, clipped/right}} |
# | 0.1 | {{long_steps/radius 1.5, rate 0.1, unclipped/right}} | {{long_steps/radius 1.5, rate 0.1, clipped/right}} |
# | 0.5 | {{long_steps/radius 1.5, rate 0.5, unclipped/right}} | {{long_steps/radius 1.5, rate 0.5, clipped/right}} |
# | 1.5 | {{long_steps/radius 1.5, rate 1.5, unclipped/right}} | {{long_steps/radius 1.5, rate 1.5, clipped/right}} |
#
# (Cover the right column and **guess**: which rates does clipping save?)
#
# With too small a rate 300 updates are not enough. With too large a one all is thrown away. In between is a range
# that works, and clipping makes it wider. Take a rate from the middle of that range, not from its upper end: the next
# batch may have a steeper wall. Where training goes on for long, people lower the rate towards the end.
#
# **Claim:** over 8 steps, from a radius of 1.5 or of 0.9, a network that is trained at a rate of 1.5 fails without
# clipping and learns with it; at a rate of 0.1 it learns without clipping, too.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.plots import line_chart

ways = {"1.5, unclipped": (1.5, np.inf), "1.5, clipped": (1.5, 1.0), "0.1, unclipped": (0.1, np.inf)}
runs = {name: train((8, 8), random_start(1.5, seed=0), *way) for name, way in ways.items()}
for name, (p, losses, _) in runs.items():
    print(f"rate {name:14}: {recalled(p, 8):.0%} right, highest loss {losses.max():.1f}")
show(
    line_chart(
        range(1, 301),
        {f"rate {name}": losses for name, (_, losses, _) in runs.items()},
        xlabel="update",
        ylabel="loss (nats)",
        logy=True,
        title="Over 8 steps, from a radius of 1.5",
    ),
    alt="Three losses over 300 updates, on a logarithmic axis. At a rate of 1.5 without clipping the loss jumps up to about "
    "40 and stays above 1; with clipping it falls below 0.01. At a rate of 0.1 it falls smoothly without clipping.",
)
assert recalled(runs["1.5, unclipped"][0], 8) < 0.6, (
    "Steps at a rate of 1.5 were expected to fail unclipped; " + answer_above
)
assert min(recalled(runs[name][0], 8) for name in ("1.5, clipped", "0.1, unclipped")) > 0.9, (
    "More than 90% right were expected with short steps; " + answer_above
)

# %% [markdown]
# So what exploded was the *step* (in {{held saved_by_clipping}} seeds). Clipping repairs that, and so does a smaller
# rate. Now the opposite trouble. Why does it not help there? Look at what there is to clip. **Guess first**: how long is the
# longest gradient of 300 updates, and what part of an error is left after 30 steps: a tenth, a thousandth, a millionth?
#
# **Claim:** over 30 steps, from a radius of 0.5 and at a rate of 0.1, a network guesses, with clipping and without.


# %% tags=["experiment", "nbval-ignore-output"]
def error_left(p, lag):
    """The part of an error that is left after its walk over `lag` steps, as the network reads the task."""
    rng = np.random.default_rng(lag)
    X, _ = recall_batch(rng, lag, 64)
    norms = probe(rng.normal(size=(64, HIDDEN)), states_of(p, X), p["W"])
    return norms[0] / norms[-1]


start = random_start(0.5, seed=0)
p, losses, norms = train((30, 30), start, learning_rate=0.1)
left = error_left(draw_parameters(np.random.default_rng(0), start), 30)
print(f"right: {recalled(p, 30):.0%}; a guess: {CHANCE:.0%}")
print(f"longest gradient of all updates: {norms.max():.1f}")
print(f"of the error, before training, 1 part in 10^{-np.log10(left):.0f} is left at the first step")
assert left < 1e-9, "From a radius of 0.5 the error was expected to vanish over 30 steps; " + answer_above
assert norms.max() < 2, "No gradient was expected to be long; " + answer_above

# %% [markdown]
# The gradient is hardly ever too long, so there is next to nothing to clip. It is of an ordinary size, but it
# consists of the last few steps, and these are noise. What the first step has to say is in there as one part in a
# million million. Scale the whole *up*, and the noise grows with it. **Exploding is a matter of length, and length
# can be repaired. Vanishing is a matter of content, and what is not in the gradient cannot be scaled back into it.**
# (At rate 1.5, clipped, the median of ten seeds is {{long_steps/lag 30, rate 1.5, clipped/right}}: long steps at
# random may stumble on a $W$ that is less deaf. That is luck, not slope.)
#
# ### Bugs to hunt: clipping that turns the arrow
#
# Here are three versions that people have shipped. Each bounds the step, and with each of them training muddles
# through. What do they do to the direction? We measure the angle between the gradient before and after.


# %% tags=["experiment"]
def clipped_by_value(gradients, most):
    return [np.clip(g, -most, most) for g in gradients]


def each_by_its_own_norm(gradients, most):
    return [g * min(1, most / np.linalg.norm(g)) for g in gradients]


def large_entries_zeroed(gradients, most):
    return [np.where(np.abs(g) > most, 0, g) for g in gradients]


def angle(a, b):
    """The angle between two lists of gradients, in degrees."""
    a, b = (np.concatenate([g.ravel() for g in gradients]) for gradients in (a, b))
    return np.degrees(np.arccos(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1, 1)))


rng = np.random.default_rng(1)
gradients = [size * rng.normal(size=shape) for size, shape in ((0.1, (8, 32)), (1, (32, 32)), (3, (32,)))]
turned = {"clip_by_global_norm": angle(gradients, clip(gradients, 1.0)[0])}
turned |= {
    f.__name__: angle(gradients, f(gradients, 1.0))
    for f in (each_by_its_own_norm, clipped_by_value, large_entries_zeroed)
}
for name, degrees in turned.items():
    print(f"{name:22} turns the gradient by {degrees:.0f}°")
assert turned["clip_by_global_norm"] < 0.01, "One factor was expected to keep the direction; " + answer_above
assert min(degrees for name, degrees in turned.items() if name != "clip_by_global_norm") > 10, (
    "The three others were expected to turn the gradient; " + answer_above
)

# %% [markdown]
# ## 4 · Truncation: cut the walk short
#
# The next trouble is the length of the walk. Unit 04 measured it: full BPTT over $T$ steps keeps $T$ states. For a
# sentence that is nothing, for a book it is too much, and for a sensor that never stops it cannot be done at all. If
# the error from far away has vanished anyway, why walk so far?
#
# So cut the sequence into chunks of $k$ steps. **The state is carried** from each chunk to the next, as if nothing had
# happened. **The error is not**: it walks back to the chunk's first step, and stops there.

# %% tags=["experiment"]
from rnncourse.plots.gradient_flow import three_ways_back

show(
    three_ways_back(9, 3),
    alt="Nine steps, three ways to walk back. Full: all states are kept and the error walks from the last to the first. "
    "Truncated in chunks of three: only the states of the last chunk are kept, and the error stops at two borders. "
    "Checkpointed: one state in three is kept and those of the last chunk, and the error walks all the way.",
)

# %% [markdown]
# The third row is for section 5. In the second, three things are easy to get wrong:
#
# - A chunk that starts at step $s$ *started from a state*: `H[s - 1]`, and `h0` for the first. That state met $W$ at
#   the chunk's first step, so it has its part in $dW$. Only what the error would do *before* that step is dropped.
# - Inside a chunk nothing is special: each step has its own error `dH[t]`, and those of later steps of the same chunk
#   join it.
# - The parts of all chunks are *added up*, as those of all steps always were.
#
# *By hand*: one unit, $T = 2$, $U = 0.5$, $W = 2$, $h_0 = 0$, inputs $1, 0$, states $0.462, 0.728$, and an error of 1
# at the last step only. The slopes are $0.786$ and $0.470$. Full BPTT: $da_2 = 0.470$, $dh_1 = 0.940$, $da_1 = 0.740$,
# so that $dU = 1 \cdot 0.740 + 0 \cdot 0.470 = 0.740$. With $k = 1$ the error stops after one step: $da_1 = 0$ and
# $dU = 0$. The input that mattered was the first one, and nobody told $U$. And $dW = h_1 \cdot da_2 = 0.217$ in both
# cases.

# %% [markdown]
# ### Exercise 5.5 · `truncated_bptt`
# *●●○ · 15 minutes · 4 points*
#
# The arguments are those of `rnn_backward`: `dH (T, N, H)`, `X (T, N, D)`, `h0 (N, H)`, `H (T, N, H)`, `U`, `W`, and
# the length `k` of a chunk, at least 1. Chunks start at step 0, so that they are steps 0 to k-1, k to 2k-1, and so on;
# the last may be shorter. `H` holds the true states, with the state carried across all borders. The answer is
# `(dU, dW, db)`, sums over all chunks. For $k \ge T$ this is full BPTT. `rnn_backward` and `rnn_step_backward` of unit
# 04 are imported.
#
#     dH [[[0]], [[1]]]   X [[[1]], [[0]]]   h0 [[0]]   H [[[0.462]], [[0.728]]]   U [[0.5]]   W [[2]]
#     k = 1 gives, rounded,  dU [[0]]      dW [[0.217]]  db [0.470]
#     k = 2 gives, rounded,  dU [[0.740]]  dW [[0.217]]  db [1.210]


# %% answer="truncated_bptt"
def truncated_bptt(dH, X, h0, H, U, W, k):
    """BPTT in chunks of k steps that no error leaves -> (dU (D, H), dW (H, H), db (H,))."""
    ### BEGIN SOLUTION
    dU, dW, db = np.zeros_like(U), np.zeros_like(W), np.zeros_like(W[0])
    for s in range(0, len(X), k):
        h_start = H[s - 1] if s > 0 else h0
        _, _, dU_chunk, dW_chunk, db_chunk = rnn_backward(dH[s : s + k], X[s : s + k], h_start, H[s : s + k], U, W)
        dU += dU_chunk
        dW += dW_chunk
        db += db_chunk
    return dU, dW, db
    ### END SOLUTION


# %% check="truncated_bptt"
check(truncated_bptt)

# %% [markdown]
# This is how recurrent networks are trained on long texts: millions of characters, in chunks of a few dozen, with the
# state carried along. You will do it yourself in unit 06.
#
# ### Experiment · what the cut costs
#
# **Guess first**, before you read on: trained in chunks of $k$ steps, how long must a chunk be for a network to recall over a
# lag of 6? Does that hang on where $W$ starts?
#
# The recall task with a lag of 6 has 7 steps. For $k \le 6$ the loss, at the last step, lies in another chunk than the
# symbol, at the first. The rows of $dU$ that belong to the four symbols are then exactly zero, whatever $W$ is.
#
# **Claim:** from a radius of 0.5, 300 updates at a lag of 6 teach a network to recall if a chunk holds all $k = 7$
# steps, and leave it guessing with any smaller $k$.
#
# And a surprise: from a radius of 1.5, it works even with $k = 1$. How can that be?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.data.claims import claimed
from rnncourse.plots.gradient_flow import over_seeds

cut = use(truncated_bptt)


def cut_at(k):
    return lambda dH, X, h0, H, U, W: cut(dH, X, h0, H, U, W, k)


X, y = recall_batch(np.random.default_rng(0), 6, 16)
untrained = draw_parameters(np.random.default_rng(0), random_start(1.5, seed=0))
for k in (6, 7):
    dU = loss_and_gradients(untrained, X, y, cut_at(k))[1][0]
    p = train((6, 6), random_start(0.5, seed=0), learning_rate=0.1, back=cut_at(k))[0]
    print(
        f"k = {k}: largest entry of dU for the symbols {abs(dU[:SYMBOLS]).max():.3f}; radius 0.5 recalls {recalled(p, 6):.0%}"
    )
    assert dU[:SYMBOLS].any() == (k == 7), "Only the chunk of 7 was expected to reach the symbol; " + answer_above

measured, ks = claimed("05_gradient_flow")["chunks"].values, range(1, 8)
show(
    over_seeds(
        ks,
        {f"radius {rho}": np.array([measured[f"radius {rho}, k = {k}"]["right"] for k in ks]).T for rho in (1.5, 0.5)},
        xlabel="k (steps in a chunk)",
        title="Recall over 6 steps, trained with truncated BPTT",
    ),
    alt="Share of right answers against the length of the chunks, median and range of ten seeds. From a radius of 0.5 it is "
    "near 0.25, a guess, for chunks of 1 to 6 steps and near 1 for chunks of 7. From a radius of 1.5 it is near 1 for all lengths.",
)

# %% [markdown]
# For $k \le 6$ no error ever reached the step where the symbol was read. But **the state was carried**, and at a radius
# of 1.5 an untrained state still *echoes* what it heard six steps ago, as you saw in section 8 of unit 03. $V$ needs no
# walk through time; it learned to read the echo: {{chunks/radius 1.5, k = 1/right}} right with $k = 1$. What happens to
# be kept, you can use. (The claim holds in {{held cut_off}} seeds: one fails with $k = 7$, too.) When somebody tells
# you that a network trained with chunks of $k$ steps cannot use anything older than $k$ steps, you know better. (And
# you do not know the half of it. For $k \le 6$ every example here is longer than a chunk. Wait for section 7.)

# %% [markdown]
# ## 5 · Checkpoints: the exact gradient with little memory
#
# Truncation saves memory and loses the far past. Can we save the memory and lose nothing? We can, for a price in time.
# States are needed on the way back, but they need not be *kept*: they can be computed again.
#
# 1. **Forwards**, keep one state in `every`: the one that each chunk starts from. Throw the others away.
# 2. **Backwards**, take the chunks from the last to the first. Run the chunk again from its kept state, which brings
#    all of its states back. Walk back through it. Hand the error that comes out of its start to the chunk before, where
#    it joins the error of the *last* step. Then forget the chunk.
#
# At any moment there are $T / \text{every}$ kept states and the `every` states of one chunk. Their sum is smallest when
# both are equal:
#
# $$\frac{T}{\text{every}} + \text{every} \quad \text{is least for} \quad \text{every} = \sqrt{T}, \quad \text{and is then } 2 \sqrt{T}$$
#
# For $T = 10{,}000$ that is 200 states in place of 10,000. The price: every step is run forwards twice.
#
# One thing has to change. Where do the errors come from? `dH` of shape `(T, N, H)` would be as large as all the states.
# So the errors are not handed in, they are *asked for*: `loss_grad(t, h_t)` gives $dL/dh_t$, of shape `(N, H)`, from
# the output of step `t` alone.
#
# *By hand*: $T = 4$ and `every = 2`. Forwards: keep $h_0$; run steps 0 and 1; keep $h_2$. Backwards: run steps 2 and 3
# again from $h_2$, ask for the errors of steps 2 and 3, walk back through both; out of the chunk's start comes $dh$,
# the error that reaches $h_2$ from the future. Run steps 0 and 1 again from $h_0$, ask for the errors of steps 0 and 1.
# The state after step 1 *is* $h_2$: add $dh$ to the error of step 1. Walk back, done.
#
# (Steps count from 0, as in `X[t]`; so the state after step `t` is $h_{t+1}$ of the formulas, and `H[t]` of the code.
# This is the `h_t` that `loss_grad(t, h_t)` wants.)

# %% [markdown]
# ### Exercise 5.6 · `checkpointed_bptt`
# *●●● · 25 minutes · 5 points*
#
# `loss_grad` is a function, `X (T, N, D)`, `h0 (N, H)`, `U (D, H)`, `W (H, H)`, `b (H,)` are as ever, and `every` is at
# least 1 and may be larger than `T`. The answer is `(dU, dW, db)`, those of full BPTT, to the last digit but rounding.
#
# - Ask `loss_grad(t, h)` **once** for each step `t` from 0 to T-1, in any order. `h (N, H)` is the state after step `t`
#   has read `X[t]`.
# - Do not write to what it answers: the array belongs to `loss_grad`.
# - `rnn_forward`, `rnn_step`, `rnn_backward` and `rnn_step_backward` are imported.
#
# The check looks at the numbers. How little you keep is measured below. Mind one trap there:
# `H[-1]` is a *view*. As long as somebody holds it, NumPy keeps the whole of `H` alive. `H[-1].copy()` lets it go.
#
#     loss_grad (lambda t, h: h)   X  ones (9, 1, 1)   h0 [[0]]   U [[0.5]]   W [[2]]   b [0]
#     whatever `every` is, this gives, rounded,  dU [[1.101]]  dW [[0.304]]  db [1.101]


# %% answer="checkpointed_bptt"
def checkpointed_bptt(loss_grad, X, h0, U, W, b, every):
    """Full BPTT with one state in `every` kept and the others run again -> (dU (D, H), dW (H, H), db (H,))."""
    ### BEGIN SOLUTION
    starts = range(0, len(X), every)
    kept, h = [], h0
    for s in starts:
        kept.append(h)
        h = rnn_forward(X[s : s + every], h, U, W, b)[-1].copy()
    dU, dW, db = np.zeros_like(U), np.zeros_like(W), np.zeros_like(b)
    dh = np.zeros_like(h0)
    for s in reversed(starts):
        chunk, h_start = X[s : s + every], kept.pop()
        H = rnn_forward(chunk, h_start, U, W, b)
        dH = np.stack([loss_grad(s + i, h) for i, h in enumerate(H)])
        dH[-1] += dh
        _, dh, dU_chunk, dW_chunk, db_chunk = rnn_backward(dH, chunk, h_start, H, U, W)
        dU += dU_chunk
        dW += dW_chunk
        db += db_chunk
    return dU, dW, db
    ### END SOLUTION


# %% check="checkpointed_bptt"
check(checkpointed_bptt)

# %% [markdown]
# The same idea, on layers instead of steps, is what lets people train networks whose activations would not fit into any
# machine. In PyTorch it is called `torch.utils.checkpoint`. You have written it in twenty lines.
#
# ### Experiment · memory, measured
#
# `tracemalloc` tells how much memory Python held at its peak. We walk through sequences of 64 to 4,096 steps in three
# ways. Truncated BPTT goes chunk by chunk, $k = 16$, and keeps nothing but a state and three sums; so it works on a
# stream that never ends. **Guess first**: three lines on two logarithmic axes; which slopes?
#
# **Claim:** on two logarithmic axes, peak memory against the number of steps has a slope of 1
# for full BPTT, ½ with checkpoints, and 0 for truncated BPTT.

# %% tags=["experiment", "nbval-ignore-output"]
import tracemalloc

from rnncourse.plots import cost_chart, loglog_slope

cut, checkpointed = use(truncated_bptt), use(checkpointed_bptt)
N, D, units = 32, 4, 32
rng = np.random.default_rng(0)
U, W, b = 0.5 * rng.normal(size=(D, units)), scale(rng.normal(size=(units, units)), 0.9), np.zeros(units)
h0 = np.zeros((N, units))


def loss_grad(t, h):
    """The gradient of the sum of h⁴ / 4."""
    return h**3


def full(X):
    H = rnn_forward(X, h0, U, W, b)
    return full_bptt(np.stack([loss_grad(t, h) for t, h in enumerate(H)]), X, h0, H, U, W)


def truncated(X, k=16):
    totals, h = [0, 0, 0], h0
    for s in range(0, len(X), k):
        chunk = X[s : s + k]
        H = rnn_forward(chunk, h, U, W, b)
        dH = np.stack([loss_grad(s + i, state) for i, state in enumerate(H)])
        totals = [total + part for total, part in zip(totals, cut(dH, chunk, h, H, U, W, k), strict=True)]
        h = H[-1]
    return totals


def checkpoints(X):
    return checkpointed(loss_grad, X, h0, U, W, b, every=round(np.sqrt(len(X))))


def peak(walk, X):
    """The most megabytes that were in use at once."""
    tracemalloc.start()
    walk(X)
    megabytes = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return megabytes


lengths = [64, 256, 1024, 4096]
walks = {"full": full, "checkpointed": checkpoints, "truncated": truncated}
megabytes = {name: [peak(walk, np.ones((T, N, D))) for T in lengths] for name, walk in walks.items()}
slopes = {name: loglog_slope(lengths, one) for name, one in megabytes.items()}
assert abs(slopes["full"] - 1) < 0.1, "Full BPTT was expected to have a slope of 1."
assert abs(slopes["truncated"]) < 0.1, (
    "Truncated BPTT was expected to be level; does yours keep what a chunk leaves behind?"
)
assert abs(slopes["checkpointed"] - 0.5) < 0.15, "checkpointed_bptt keeps too much: does a view hold a whole chunk?"

X = rng.normal(size=(100, N, D))
assert all(np.allclose(a, b) for a, b in zip(checkpoints(X), full(X), strict=True)), (
    "Checkpoints were expected to give the whole gradient; " + answer_above
)
assert not np.allclose(truncated(X)[1], full(X)[1]), "Truncation was expected to give another gradient; " + answer_above
show(
    cost_chart(lengths, megabytes, ylabel="peak memory (MB)", title="Memory of three ways to walk back"),
    alt="Peak memory against the number of steps, both logarithmic. Full BPTT: a line of slope 1. Checkpointed with one "
    "state in the square root of T: slope one half. Truncated with chunks of 16: level.",
)

# %% [markdown]
# At 4,096 steps the checkpoints need about a fortieth of the memory, and their gradient is that of full BPTT. On long
# sequences the truncated walk needs the least of all, and it gives you another gradient.

# %% [markdown]
# ## 6 · Start where nothing shrinks
#
# Clipping shortens a gradient, truncation shortens the walk, checkpoints save memory. None of them lets an error live
# longer. Can we choose a $W$ that does?
#
# A radius of 1 is not quite enough: such a matrix still stretches some errors and shrinks others. We want one that
# leaves *every* length as it is. These are the **orthogonal** matrices: their columns have length 1 and stand at right
# angles to each other, $Q^\top Q = I$. All their singular values are 1, and so
#
# $$\|e\, Q^\top\|^2 = e\, Q^\top Q\, e^\top = e\, e^\top = \|e\|^2 .$$
#
# In two dimensions they are turns and mirrors, such as $\begin{bmatrix} 0.6 & -0.8 \\ 0.8 & 0.6 \end{bmatrix}$: the
# columns have lengths $\sqrt{0.36 + 0.64} = 1$, and their product is $-0.48 + 0.48 = 0$.
#
# How do you draw one at random? Draw any matrix, and let linear algebra straighten it. Its QR decomposition $A = Q R$
# makes an orthogonal $Q$ out of its columns, and puts what is left over into a triangular $R$.

# %% [markdown]
# ### Exercise 5.7 · `orthogonal`
# *●○○ · 6 minutes · 2 points*
#
# `rng` is a NumPy generator, as `np.random.default_rng(0)` makes one, and `n` a whole number from 1 on. Return an
# orthogonal matrix `(n, n)` of float64 whose numbers come from `rng`: two generators with different seeds give
# different matrices, and so do two calls with one generator. Any orthogonal matrix will do. You may call `np.linalg.qr`
# and `np.linalg.svd`. May not call `scipy`.


# %% answer="orthogonal"
def orthogonal(rng, n):
    """An orthogonal matrix (n, n), drawn from rng."""
    ### BEGIN SOLUTION
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    return Q
    ### END SOLUTION


# %% check="orthogonal"
check(orthogonal)

# %% tags=["experiment"]
draw = use(orthogonal)
kinds = {"orthogonal": draw(np.random.default_rng(0), 64), "random, ρ = 1": scale(W_drawn, 1.0)}
linear, bent = ({name: errors(W)[i] for name, W in kinds.items()} for i in (0, 1))
show(
    norms_by_distance({"linear: no tanh": linear, "with tanh": bent}),
    alt="Size of the error against distance for an orthogonal and a random matrix of radius 1. Without tanh the orthogonal "
    "one is exactly level. With tanh both fall, the orthogonal one less steeply.",
)
assert np.allclose(linear["orthogonal"], linear["orthogonal"][-1]), (
    "Without tanh an orthogonal W was expected to keep the error's size; " + answer_above
)
assert bent["random, ρ = 1"][0] < bent["orthogonal"][0], "The orthogonal W was expected to keep more; " + answer_above

# %% [markdown]
# Without tanh an orthogonal $W$ keeps the size of the error for ever, exactly. With tanh the error loses a part at
# every step, because the slopes are below 1. How far does that get you?
#
# ### Experiment · the wall, and what moves it
#
# The recall task at one lag, from 2 to 30, for three starts; 300 updates each. **Guess first**: at which lag does each of the
# three begin to guess?
#
# **Claim:** trained for 300 updates at
# one lag, a radius of 0.5 reaches 5 steps back and not 10; a radius of 0.9 and an orthogonal start reach 10; at 30
# steps all three guess.

# %% tags=["experiment", "nbval-ignore-output"]
lags = [2, 5, 10, 15, 20, 30]
measured = claimed("05_gradient_flow")["reach"].values
show(
    over_seeds(
        lags,
        {
            name: np.array([measured[f"{name}, lag {lag}"]["right"] for lag in lags]).T
            for name in ("orthogonal", "radius 0.9", "radius 0.5")
        },
        xlabel="lag: steps between the symbol and the question",
        title="Trained on one lag, 300 updates: how far back does it learn?",
    ),
    alt="Share of right answers against the lag, median and range of ten seeds. All three starts are at 1 for lags of 2 and 5. "
    "The radius of 0.5 is at a guess, 0.25, from lag 10 on; the radius of 0.9 falls between 10 and 20; the orthogonal start "
    "holds longest, and is near a guess at lag 30 as well.",
)
wall = train((30, 30), random_start(0.9, seed=0))[0]
print(f"trained here, radius 0.9, lag 30: {recalled(wall, 30):.0%} right; a guess: {CHANCE:.0%}")
assert recalled(wall, 30) < 0.5, "At a lag of 30 a guess was expected; " + answer_above

# %% [markdown]
# Here is the wall that held the field up. Is it the cell's fault? Then nothing but another cell would help. So change
# one thing at a time, at a lag of 30. Beside the result stands how many powers of ten an error loses on its way over
# 30 steps, *before* training: your probe, held to the untrained network.
#
# | start, and what is changed | right | powers of ten lost |
# |---|---|---|
# | radius 0.5 | {{wall/radius 0.5/right}} | {{wall/radius 0.5/lost|.0f}} |
# | – 3,000 updates | {{wall/radius 0.5, 3,000 updates/right}} | |
# | – inputs a fifth as loud | {{wall/radius 0.5, quiet/right}} | {{wall/radius 0.5, quiet/lost|.0f}} |
# | radius 0.9 | {{wall/radius 0.9/right}} | {{wall/radius 0.9/lost|.0f}} |
# | – 2,000 updates | {{wall/radius 0.9, 2,000 updates/right}} | |
# | – rate 0.05 | {{wall/radius 0.9, rate 0.05/right}} | |
# | – rate 1 | {{wall/radius 0.9, rate 1/right}} | |
# | orthogonal | {{wall/orthogonal/right}} | {{wall/orthogonal/lost|.0f}} |
# | – 2,000 updates | {{wall/orthogonal, 2,000 updates/right}} | |
# | – inputs a fifth as loud | {{wall/orthogonal, quiet/right}} | {{wall/orthogonal, quiet/lost|.0f}} |
# | radius 1.5 | {{wall/radius 1.5/right}} | {{wall/radius 1.5/lost|.0f}} |
#
# **Claim:** at a lag of 30 an orthogonal start learns with 2,000 updates, and with inputs a fifth as loud in 300; a
# radius of 0.5 still guesses after 3,000.
#
# (It holds in {{held moved}} seeds; in the other, 2,000 updates brought half of the symbols.) Read down the last
# column. Who loses one power of ten or less learns, most of the time. Who loses three learns with patience; who loses
# five, hardly, and with a rate of 1 by luck; who loses nine or more guesses. **Quiet inputs** leave the states small,
# where the tanh is straight, and an orthogonal $W$ can do what it does without tanh. A **radius of 1.5** stretches by
# about as much as the tanh takes away. So the wall is no law of the cell: it can be moved. But each of these moves it a
# bit, and there is always a longer lag.
#
# ## 7 · Short examples, long memory
#
# Unit 03 had a memory that lasts for ever: the **latch**, one unit with $W = 2$. Its state settles at 0.958, and if
# something pushes it, it comes back. *By hand*, from a push down to 0.8: $\tanh(2 \cdot 0.8) = 0.922$, then 0.951, then
# 0.956, then 0.957. Its slope there is $2\,(1 - 0.958^2) = 0.17$, so each step leaves a sixth of the push. A state that
# the cell itself pulls back to is called an **attractor**. How long does it hold? The question has no answer: nothing
# in it counts steps.
#
# So perhaps we asked for the wrong thing. To *hold* a symbol for thirty steps, no error has to travel thirty steps.
# It takes an attractor for each symbol, and an attractor does its work at every step, the second as well as the
# thousandth. Short examples should do.
#
# **The experiment:** the network of the wall, radius 0.9, 300 updates, rate 0.2. One thing is changed: the lag of
# each batch is drawn from 1 to 7. Then it is asked at lags that it has never seen. *Write down your guess*: how many
# right at lag 30? At 1,000?
#
# **Claim:** a network that never saw a lag above 7 recalls over 1,000 steps what it cannot learn from examples of 30.

# %% tags=["experiment", "nbval-ignore-output"]
short = train((1, 7), random_start(0.9, seed=0))[0]
print("lag   trained on lag 30   trained on lags 1 to 7")
for lag in (1, 7, 10, 30, 100, 300, 1000):
    print(f"{lag:5} {recalled(wall, lag):15.0%} {recalled(short, lag):20.0%}")
assert recalled(short, 1000) > 0.6 > recalled(wall, 30), (
    "More than 60% were expected over 1,000 steps, and a guess from the one trained on lag 30; " + answer_above
)

measured, asked = claimed("05_gradient_flow")["short_examples"].values, (1, 3, 7, 10, 30, 100, 300, 1000)
show(
    over_seeds(
        asked,
        {
            f"trained on\n{lags}": np.array([measured[name][f"lag {lag}"] for lag in asked]).T
            for name, lags in (("lags 1 to 7", "1 to 7"), ("lag 30 only", "30"))
        },
        xlabel="lag at which it is asked",
        logx=True,
        trained=(1, 7),
        title="Short examples, long memory",
    ),
    alt="The share of right answers at lags from 1 to 1,000, on a logarithmic axis; median and range of ten seeds. Lags 1 to 7, "
    "which are shaded, are the ones that one network was trained on. It is at 1 there, and its median stays at 1 out to 1,000 "
    "steps, with the lowest seed at about 0.75. The network trained on lag 30 is at a guess, 0.25, everywhere, at 30 too.",
)

# %% [markdown]
# Three hundred updates, on sequences of two to eight steps, and it holds for a thousand. The network that saw nothing
# *but* thirty steps cannot do thirty. That is so in {{held short_examples_long_memory}} seeds; at lag 1,000 they
# recall {{short_examples/lags 1 to 7/lag 1000}}. **Short examples, long memory**: the gradient has to reach no
# further than the examples, and the memory reaches as far as the attractor.
#
# ### What has it learned?
#
# Let the trained network read a symbol, and then silence, inputs of 0. Where does its state go? And what does one
# step back, $(1 - h^2)$ and then $W^\top$, do to an error there? (Its radius is that of one step forwards, too, for a
# small push on the state: a matrix and its transpose have the same eigenvalues.)
#
# **Claim:** training takes the radius of $W$ from 0.9 to above 1.5, and yet, where the cell comes to rest, the radius
# of one step is below 1: a small push dies away.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.plots.gradient_flow import states_in_a_plane

radius = use(spectral_radius)


def in_silence(p, steps=300):
    """The states (steps + 1, 4, H) after each of the four symbols, and then nothing."""
    return states_of(p, np.concatenate([np.eye(2 * SYMBOLS)[None, :SYMBOLS], np.zeros((steps, SYMBOLS, 2 * SYMBOLS))]))


def one_step_back(h, W):
    """The matrix that an error at the state h (H,) is multiplied by on its way to the step before."""
    return (1 - h**2)[:, None] * W.T


def in_noise(p, rows=160, lag=100):
    X, y = recall_batch(np.random.default_rng(1), lag, rows)
    return states_of(p, X)[-1], y


rest = in_silence(short)[-1]
print(f"radius of W: {radius(random_start(0.9, seed=0)):.2f} before, {radius(short['W']):.2f} after training")
print(
    "radius of one step, where the cell rests after each symbol:",
    *(f"{radius(one_step_back(h, short['W'])):.2f}" for h in rest),
)
print(
    f"of an error, 1 part in 10^{-np.log10(error_left(short, 100)):.0f} is left after 100 steps; recalled: {recalled(short, 100):.0%}"
)
axes = np.linalg.svd(rest - rest.mean(axis=0))[2][:2].T  # the plane in which the four lie furthest apart
before = draw_parameters(np.random.default_rng(0), random_start(0.9, seed=0))
show(
    states_in_a_plane(
        {
            name: (in_silence(p)[:40] @ axes, in_noise(p)[0] @ axes, in_noise(p)[1])
            for name, p in {"before training": before, "trained on lags 1 to 7": short}.items()
        }
    ),
    alt="States in a plane, in two panels, a colour for each of the four symbols. Before training: the paths of all four run "
    "into one point in the middle, and 100 steps of noise leave one mixed cloud. After training: four paths end in four "
    "corners, and around each there is a cloud of its own colour.",
)
assert radius(short["W"]) > 1.5, "A radius above 1.5 was expected after training; " + answer_above
assert max(radius(one_step_back(h, short["W"])) for h in rest) < 1, "A pull back was expected; " + answer_above

# %% [markdown]
# Four attractors, one for each symbol. Noise pushes the state about, and each time it is pulled back. That is the
# latch of unit 03, in 32 units, and nobody set its weights: as there, $W$ is large, and the tanh, which we have
# blamed for so much, is what holds.
#
# And now look at the third line that was printed. **Claim:** over 100 steps the error loses more than six powers of
# ten, and most symbols are still recalled.
#
# That is so in {{held vanished_and_remembered}} seeds; the median loss is
# {{short_examples/lags 1 to 7/lost|median .0f}} powers. A pull that brings back every push also brings down every
# error: *where a state is held safely, gradients vanish*. Bengio, Simard and Frasconi proved it in 1994, as bad news:
# it makes the memory hard to learn from long examples. Read it the other way round. **A memory can outlast its
# gradient by as much as it likes.** A vanishing gradient is the mark of a cell that cannot learn, and of one that
# has.
#
# ### What else could it be?
#
# Was it the start, the rate, the budget? Is it enough that examples are short? Each dot below is a network, asked
# over 1,000 steps.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.plots.gradient_flow import seed_dots

varied = ("radius 0.5", "orthogonal", "quiet", "rate 0.05", "rate 0.5", "1,000 updates")
others = (
    "lags 1 to 2",
    "lags 1 to 4",
    "lags 1 to 15",
    "lag 7 only",
    "lag 30 only",
    "lag 30 only, orthogonal, 2,000 updates",
)
settings = ["lags 1 to 7", *(f"lags 1 to 7, {cause}" for cause in varied), *others, "lags 24 to 30"]
show(
    seed_dots(
        {name.replace("orthogonal, 2,", "orthogonal,\n2,"): measured[name]["lag 1000"] for name in settings},
        xlabel="share of right answers at lag 1,000",
        title="What it takes: one dot for each of ten seeds",
    ),
    alt="A row of ten dots for each of fourteen settings: the share of right answers at lag 1,000. Trained on lags 1 to 7, most "
    "dots are at 1, and with a radius of 0.5 or an orthogonal start about half; the others lie near three quarters or a half. "
    "With a rate of 0.05 they are spread from 0.25 to 1. On lags 1 to 2 they are near a guess, on 1 to 4 spread, on 1 to 15 at "
    "1. On lag 7 alone, lag 30 alone, and lags 24 to 30 hardly any is above a guess; on lag 30 alone from an orthogonal start, "
    "with 2,000 updates, seven are at 0 and three above a half.",
)

clock = train((30, 30), draw(np.random.default_rng([0, 2]), HIDDEN), updates=2000)[0]
print("lag 30 only, orthogonal, 2,000 updates, is right")
print("   " + ", ".join(f"at lag {lag}: {recalled(clock, lag):.0%}" for lag in (10, 29, 30, 31, 100)))
assert recalled(clock, 30) > 0.9 > 0.6 > recalled(clock, 100), (
    "It was expected to be right at the one lag that it has practised, 30; " + answer_above
)

# %% [markdown]
# **No start spoils it**, nor do quiet inputs; a radius of 0.5 or an orthogonal start lose a symbol more often, and more
# updates or a larger rate lose fewer. (A small rate has not come far after 300 updates.) Look where the dots lie: near
# quarters. A network at three quarters holds three of the four symbols. The fourth was still there at lag 7, but the
# pull on it is weak, and in time noise pushes it over the border, into a neighbour's place.
#
# **Short is not enough, and mixed is not enough.** On lags 24 to 30, nothing arrives. On lags 1 and 2 hardly anything
# has to be held. And with one lag alone, 7, it is right at 7 and seldom elsewhere. It has learned a *clock*: a state that
# turns, and stands right when the question comes. So has the network with 2,000 updates at lag 30, which moved the
# wall: look at what was printed, and at its dots. Most lie at 0, far below a guess: such a network names a symbol, the
# wrong one, every time. Only who is asked at *any* time needs a state that looks the same at all times. One that stays.
#
# So what is hard? Not to remember: a plain cell can do that for ever. Not even to learn it. What is hard is **to
# learn it from long examples alone, at a small budget**. If you can choose your examples, begin with short ones.
#
# ### And in chunks?
#
# One thing is left to put right. Section 4 ended with a wait. In chunks of 8 steps no error crosses a border, so
# examples with lags of 1 to 7 are the only ones whose error arrives. You know by now that these are enough.
# **Claim:** in chunks of 8 steps a network learns from lags of 1 to 30 to recall over 60. If all lags are 10 or
# more it guesses, in chunks and without them.

# %% tags=["experiment", "nbval-ignore-output"]
p = train((1, 30), random_start(0.9, seed=0), updates=1000, back=cut_at(8))[0]
print("k = 8, lags 1 to 30:", ", ".join(f"{recalled(p, lag):.0%} at lag {lag}" for lag in (7, 30, 60, 1000)))
assert recalled(p, 60) > 0.9, "More than 90% right were expected over 60 steps; " + answer_above

# %% [markdown]
# Over ten seeds, after 1,000 updates: {{beyond_a_chunk/lags 1 to 30/lag 60}} at lag 60 and
# {{beyond_a_chunk/lags 1 to 30/lag 1000}} at 1,000, with chunks of 8 (claim: {{held past_the_chunk}}). With lags of
# 10 to 30, {{beyond_a_chunk/lags 10 to 30/lag 30}} at lag 30. But do not blame the chunks for that: whole examples bring
# {{beyond_a_chunk/lags 10 to 30, one chunk/lag 30}} there. It is the wall. What a cut costs shows on lags of 8 to 12, which
# the whole walk does learn: asked at 10, it is right in {{beyond_a_chunk/lags 8 to 12, one chunk/lag 10}}, and in chunks of 8
# in {{beyond_a_chunk/lags 8 to 12/lag 10}}. (No error arrives; some seeds make do with what happens to be kept, as in
# section 4.) A chunk must hold *some* of the examples, not all.

# %% [markdown]
# ## Summary
#
# What happens to the gradient over long distances, and what can you do about it?
#
# - An error walks back by $dh_{t-1} = (dh_t \odot (1 - h_t^2)) W^\top$, and so its size changes by about the same
#   factor at each step: it **vanishes** or **explodes** geometrically. Without tanh that factor is, in the long run,
#   the spectral radius $\rho(W)$; the tanh makes it smaller.
# - **Clipping** by the global norm keeps the direction and shortens the step. It cures steps that are too long, as a
#   smaller learning rate does. It does nothing against vanishing.
# - **Truncated BPTT** carries the state and cuts the error: memory for $k$ steps, however long the sequence. No error
#   crosses a chunk's border. What is learned inside of a chunk, to hold, goes on to hold beyond it.
# - **Checkpoints** give the exact gradient with $2\sqrt{T}$ states in place of $T$, for a second run forwards. Copy
#   what you keep.
# - From examples of one long lag a plain cell learns nothing at a small budget. A start that keeps errors alive, quiet
#   inputs, or many more updates **move the wall**.
# - **Short examples, long memory**: from short lags, mixed, the cell learns **attractors**, states that it pulls back
#   to. They hold a thousand steps and more, and the error vanishes in them.
#
# **What goes wrong in practice.** Clipping each array by its own norm. Clipping after the update. Looking at the loss
# when the gradient norm would have told you a hundred updates earlier. Cutting the state along with the error, or
# neither of the two. Carrying the state from one batch to the next when the batches are shuffled: then it is the state
# of another text. A view that keeps a whole array alive. Adding units to a network when what it lacks is an error that
# arrives. And showing it the longest examples first.

# %% [markdown] written="gradient_flow_written" points=3
# ### Written question
# *3 points, graded by hand; five to eight sentences*
#
# A colleague trains a recurrent network to predict a patient's next measurement, one a minute. What matters most
# happened about four hours earlier. "Training was unstable. Since I clip the gradient at 1, it is smooth, but the
# network ignores everything older than some minutes. I will raise the threshold to 10, so that more gradient comes
# through. And I train on chunks of 60 steps, with the state carried over." **(a)** What did clipping cure, and why
# will the threshold of 10 not help? **(b)** What do the chunks of 60 steps allow and what not? What would the
# examples have to be like, for a network that is trained so to hold something for four hours all the same? **(c)**
# Name one measurement that would show whether errors vanish here, what you would expect to see, and what it would
# *not* tell you.
#
# ### BEGIN SOLUTION
# **Model answer.** (a) The unstable training was steps that were too long: now and then the gradient was very long,
# and a step in proportion threw the parameters away; clipping shortens such steps and keeps their direction (a
# smaller rate would have helped as well). That the far past is ignored has another cause: on its way over 240 steps
# its error is multiplied 240 times by Wᵀ and by slopes below 1, so that its part in the gradient is next to nothing.
# A larger threshold scales near and far parts alike, and leaves gradients below 1 as they are; what is not in the
# gradient is not brought back. (b) With chunks of 60 steps no error passes a border, so from examples that are all
# four hours long the network is not taught to keep anything. The state is carried, though: what happens to be left in
# it can be read and used. And if the same thing matters in some examples after few minutes, at different distances
# within a chunk, the network can learn from these to hold it, as an attractor, and then it holds for hours. (c) Read
# the loss at one step and measure the norm of the error at the states before it (`state_gradient_norms`, or the
# gradient by lag of unit 04), against the distance, on a logarithmic axis. If errors vanish it is a falling line, and
# long before 240 steps it is many powers of ten below the start. It does not tell whether the network remembers:
# where a state is held safely, errors vanish too. For that, ask it at growing distances and count right answers.
#
# **Rubric.** 1 point: clipping cures the length of steps (explosion), and a threshold scales near and far alike, so
# it cannot bring back what vanished (½ for one of the two). 1 point: no error crosses a chunk's border, so nothing is
# learned from examples that are longer than a chunk (½); *but* the state is carried, and what is learned from shorter
# examples can be held for longer (½; that left-overs in the state may be read also counts). 1 point: a measurement of
# gradient against distance, with the expected outcome (½), and that a vanished error does not prove a lack of memory,
# or that recall against distance has to be measured for it (½). An answer that says a plain network *cannot* remember
# for longer than its gradient reaches does not get the second half of (b).
# ### END SOLUTION

# %% [markdown]
# ## Where to read on
#
# - S. Hochreiter, *Untersuchungen zu dynamischen neuronalen Netzen*, diploma thesis, TU München 1991: where vanishing
#   errors were first worked out.
# - Y. Bengio, P. Simard, P. Frasconi, "Learning Long-Term Dependencies with Gradient Descent is Difficult", *IEEE
#   Transactions on Neural Networks* 5, 1994: why it is no accident. A state that holds on to something safely has
#   gradients that vanish.
# - S. Hochreiter, J. Schmidhuber, "Bridging Long Time Lags by Weight Guessing and 'Long Short-Term Memory'", 1996:
#   some of the tasks of that time are solved by guessing weights at random. What a task asks for has to be looked at.
# - A. M. Schäfer, S. Udluft, H. G. Zimmermann, "Learning Long Term Dependencies with Recurrent Neural Networks",
#   ICANN 2006 and *Neurocomputing* 71, 2008: plain networks that do learn over long distances.
# - R. Pascanu, T. Mikolov, Y. Bengio, "On the Difficulty of Training Recurrent Neural Networks", ICML 2013: the walls
#   in the loss, and clipping by the norm.
# - R. J. Williams, J. Peng, "An Efficient Gradient-Based Algorithm for On-Line Training of Recurrent Network
#   Trajectories", *Neural Computation* 2, 1990: truncation.
# - A. Griewank, A. Walther, "Algorithm 799: revolve", *ACM Transactions on Mathematical Software* 26, 2000: checkpoints
#   on several levels, down to a logarithm of T. T. Chen, B. Xu, C. Zhang, C. Guestrin, "Training Deep Nets with
#   Sublinear Memory Cost", arXiv:1604.06174, 2016: the square root, for deep networks.
# - Q. Le, N. Jaitly, G. Hinton, "A Simple Way to Initialize Recurrent Networks of Rectified Linear Units",
#   arXiv:1504.00941, 2015; M. Henaff, A. Szlam, Y. LeCun, "Recurrent Orthogonal Networks and Long-Memory Tasks", ICML
#   2016: how far a good start can go.

# %% [markdown]
# ## Two questions for later
#
# Show somebody the picture of section 7. Tell them that both networks are the same, that one has practised thirty steps
# 4,800 times and cannot do it, and ask which one they would have bet on. Then ask them two things.
#
# **First:** real text has short examples in plenty: most of what comes next hangs on the last few characters, some on
# the last line, little on the last page. How much *can* such a network learn from it? With a global norm to clip by,
# chunks to cut at, and a state to carry, you have all the parts of a language model. **Unit 06** puts them together.
#
# **Second:** and where there are no short examples? Then an error has to arrive from far away, and in a plain cell
# only a lucky start lets it. What if there were a second way through the cell, on which nothing is multiplied and
# nothing is bent, unless the network decides to? **Unit 10** builds this cell, and measures what it adds.

# %% tags=["experiment"]
progress("05_gradient_flow")
