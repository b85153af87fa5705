# %% [markdown]
# # 10 · Gates: LSTM and GRU
#
# **When you are done you will be able to**
#
# - write the LSTM and the GRU from one equation, that of a gate, and show that they are PyTorch's;
# - set the weights of an LSTM by hand, so that it stores, counts, and computes a parity without a mistake;
# - take an error back through both cells, and say along which path it survives a hundred steps;
# - say what gates add to a plain cell, from long examples and from short ones, and what they owe to their start;
# - set the forget bias of any `nn.LSTM`, and say when it helps and when it does not.
#
# **Time**: about four hours, best in two sittings (the second begins with section 5); two and a half of them are your
# own work. **You need** the cell and its way back (units 03 and 04), and what became of errors over long distances (unit
# 05). There are 10 exercises and one written question, 38 points in all.
#
# In all exercises but `set_forget_bias` you write NumPy, and may not call `torch` or `scipy`; PyTorch is there to compare
# with. As ever, answers keep the dtype that they are given and leave their arguments as they are. Before an experiment you
# are asked to guess. Write your guess down: it costs half a minute, and you will see more.

# %% locked="setup"
import numpy as np
import torch

from rnncourse import check, hint, progress, track, use

np.set_printoptions(precision=3, suppress=True)

# %% tags=["experiment"]
answer_above = "if an answer above has not passed its check, that may be why."
progress("10_gates")

# %% [markdown]
# ## The question that was left open, twice
#
# **Unit 05** found a wall: trained on thirty steps of noise and nothing else, a plain cell guessed which of four symbols
# stood before them. It also found a way round it, *short* examples. In **unit 09** two taggers had lost the sign that opens
# a comment, forty letters on; a third, on examples that asked for it, held on to it. But who can choose the examples?
# Whoever has nothing but long ones must send an error all the way back. At *every* step the plain cell puts its whole state
# through $W$ and a tanh, whether there is something to compute or not, and the error has to come back through all of it.
#
# What if leaving things alone were the *default*, and a change needed a reason? Then the cell needs a part that says,
# for each number of the state and at each step: now, or not now.

# %% [markdown]
# ## 1 · A gate
#
# A **gate** is a layer like that of unit 03, with one difference. Its sum goes through the sigmoid, and so each of its
# outputs lies between 0 and 1:
#
# $$\Gamma = \sigma(x\,U + h\,W + b), \qquad \sigma(a) = \frac{1}{1 + e^{-a}}$$
#
# | $a$ | $-20$ | $-2$ | 0 | 1 | 2 | 3 | 5 | 20 |
# |---|---|---|---|---|---|---|---|---|
# | $\sigma(a)$ | 0.000 000 002 | 0.119 | 0.5 | 0.731 | 0.881 | 0.953 | 0.993 | 0.999 999 998 |
#
# Multiply a vector by it, entry by entry, and each entry passes (1), is held back (0), or passes in part. The gate
# looks at the input and at the state to decide, and it *learns* what to look for: the sigmoid has a slope everywhere,
# and a switch has none. The bias $b$ says what the gate does when nothing speaks for or against.
#
# *By hand*: $x = 1$, $h = 2$, $U = 3$, $W = -1$, $b = -1$ give $a = 3 - 2 - 1 = 0$: the gate is half open.
#
# One trap. For large $a$, $e^a$ is too large for a float and becomes `inf`. Written as $e^a / (1 + e^a)$, the sigmoid
# is then `inf / inf`, which is `nan`; and one `nan` in a state is a `nan` in every state after it. $1 / (1 + e^{-a})$
# is safe: $1 / (1 + \infty) = 0$ is right. So is $\tfrac12 + \tfrac12 \tanh(a / 2)$, the same function.

# %% [markdown]
# ### Exercise 10.1 · `gate`
# *●○○ · 6 minutes · 2 points*
#
# Write the gate: `x (N, D)`, `h (N, H)`, `U (D, G)`, `W (H, G)` and `b (G,)` give `(N, G)`, from 0 to 1 and never nan. G
# may be any number of outputs.
#
#     x [[1]]   h [[2]]   U [[3]]   W [[-1]]   b [-1]     gives [[0.5]]


# %% answer="gate"
def gate(x, h, U, W, b):
    """Γ = σ(x U + h W + b): x (N, D), h (N, H), U (D, G), W (H, G), b (G,) -> (N, G)."""
    ### BEGIN SOLUTION
    return 1 / (1 + np.exp(-(x @ U + h @ W + b)))
    ### END SOLUTION


# %% check="gate"
check(gate)

# %% [markdown]
# That is the only new part. (NumPy may warn that `exp` overflows; the result is right all the same. The form with tanh
# does not even warn.) The rest of this unit is wiring.

# %% [markdown]
# ## 2 · A state that is left alone
#
# The **LSTM**, *long short-term memory*, has two states. $c$ is what the cell **keeps**, and $h$ is what it **shows**:
# to the layer above, and to itself at the next step. $c$ goes from step to step on a way of its own, where there is no
# $W$ and no tanh:

# %% tags=["experiment"]
from rnncourse.plots import show
from rnncourse.plots.gates import lstm_cell

show(
    lstm_cell(),
    alt="One step of the LSTM. Above, a thick line from c of the last step to the new c: it passes a product with the forget "
    "gate f and a sum, to which i times g is added. Below, x through U and h through W are added up and go to four layers: f, i "
    "and o with a sigmoid, g with a tanh. The new c goes through a tanh and is multiplied by o, which gives the new h.",
)

# %% [markdown]
# Read the thick line from left to right. **Forget**: the old $c$ is multiplied by the gate $f$. **Write**: something new
# is added, the candidate $g$, as far as the gate $i$ lets it in. **Show**: a copy of $c$ goes through a tanh, and the
# gate $o$ says how much of it anybody gets to see.
#
# $$
# \begin{aligned}
# i, f, o &= \sigma(x_t U + h_{t-1} W + b) && \text{three gates: input, forget, output}\\
# g &= \tanh(x_t U + h_{t-1} W + b) && \text{the candidate}\\
# c_t &= f \odot c_{t-1} + i \odot g && \text{forget, then write}\\
# h_t &= o \odot \tanh(c_t) && \text{show}
# \end{aligned}
# $$
#
# Each of the four has **columns of its own** in $U$, $W$ and $b$. They stand side by side, in PyTorch's order
# $i, f, g, o$, so that one product gives all four sums:
#
# | | shape | columns 0 to H-1 | H to 2H-1 | 2H to 3H-1 | 3H to 4H-1 |
# |---|---|---|---|---|---|
# | $U$ | $(D, 4H)$ | of $i$ | of $f$ | of $g$ | of $o$ |
# | $W$ | $(H, 4H)$ | of $i$ | of $f$ | of $g$ | of $o$ |
# | $b$ | $(4H,)$ | of $i$ | of $f$ | of $g$ | of $o$ |
#
# Why is $g$ no gate? What is written must be able to be negative, or $c$ could only grow. Why the tanh in the last
# line? $c$ has no bound, since it adds up; what is shown should stay between $-1$ and $1$. And mind the name: the
# "forget" gate *keeps* when it is 1.
#
# *By hand*: one unit, $x = 1$, $h_{t-1} = 0$, $c_{t-1} = 3$. $W$ is 0. Only $g$ looks at the input, with a weight of 1,
# and only $f$ has a bias, 2.
#
# | $i = \sigma(0)$ | $f = \sigma(2)$ | $g = \tanh(1)$ | $o = \sigma(0)$ | $c_t = f c_{t-1} + i g$ | $h_t = o \tanh(c_t)$ |
# |---|---|---|---|---|---|
# | 0.5 | 0.881 | 0.762 | 0.5 | $2.642 + 0.381 = 3.023$ | $0.5 \cdot 0.995 = 0.498$ |

# %% [markdown]
# ### Exercise 10.2 · `lstm_step`
# *●●○ · 15 minutes · 4 points*
#
# `x (N, D)`, `h (N, H)`, `c (N, H)`, `U (D, 4H)`, `W (H, 4H)`, `b (4H,)` give the pair `(h, c)`, both `(N, H)`: what is
# shown first, then what is kept. You may call your `gate`, on all columns or on some; while this exercise is checked, it
# is a correct one. `np.split(a, 4, axis=1)` cuts an array into four beside each other.
#
#     x [[1]]   h [[0]]   c [[3]]   U [[0, 0, 1, 0]]   W [[0, 0, 0, 0]]   b [0, 2, 0, 0]
#     gives, rounded,  h [[0.498]]   c [[3.023]]


# %% answer="lstm_step"
def lstm_step(x, h, c, U, W, b):
    """One step: x (N, D), h (N, H), c (N, H), U (D, 4H), W (H, 4H), b (4H,) -> h (N, H), c (N, H)."""
    ### BEGIN SOLUTION
    i, f, _, o = np.split(gate(x, h, U, W, b), 4, axis=1)
    g = np.tanh(np.split(x @ U + h @ W + b, 4, axis=1)[2])
    c_next = f * c + i * g
    return o * np.tanh(c_next), c_next
    ### END SOLUTION


# %% check="lstm_step"
check(lstm_step)

# %% [markdown]
# You own the cell on which speech recognition and translation ran for years. Through time it goes like any other:

# %% [markdown]
# ### Exercise 10.3 · `lstm_forward`
# *●○○ · 8 minutes · 3 points*
#
# `X (T, N, D)`, `h0 (N, H)`, `c0 (N, H)`, `U`, `W`, `b` as before. The answer is `H, (h_n, c_n)`, **two** things: all
# states `h_1` to `h_T` as `(T, N, H)`, and the pair of the last ones, with which a next run can go on. You may call your
# `lstm_step`.
#
#     X [[[1]], [[0]]]   h0 [[0]]   c0 [[3]]   U [[0, 0, 1, 0]]   W [[0, 0, 0, 0]]   b [0, 2, 0, 0]
#     gives, rounded,  H [[[0.498]], [[0.495]]]   h_n [[0.495]]   c_n [[2.663]]


# %% answer="lstm_forward"
def lstm_forward(X, h0, c0, U, W, b):
    """A run: X (T, N, D), h0 (N, H), c0 (N, H), U (D, 4H), W (H, 4H), b (4H,) -> H (T, N, H), (h_n, c_n)."""
    ### BEGIN SOLUTION
    h, c, states = h0, c0, []
    for x in X:
        h, c = lstm_step(x, h, c, U, W, b)
        states.append(h)
    return np.stack(states), (h, c)
    ### END SOLUTION


# %% check="lstm_forward"
check(lstm_forward)

# %% [markdown]
# ### Experiment · is it PyTorch's?
#
# **Claim:** with the weights transposed, and $b$ in one of PyTorch's two biases, `nn.LSTM` gives your states, to a
# millionth and better.

# %% tags=["experiment", "nbval-ignore-output"]
forward = use(lstm_forward)
rng = np.random.default_rng(0)
T, N, D, units = 60, 5, 7, 11
X, h0, c0 = rng.normal(size=(T, N, D)), rng.normal(size=(N, units)), rng.normal(size=(N, units))
U, W, b = rng.normal(size=(D, 4 * units)), rng.normal(size=(units, 4 * units)) / 3, rng.normal(size=4 * units)


def load(module, U, W, b_i, b_h):
    """Our arrays, put into a recurrent module of PyTorch's."""
    arrays = {"weight_ih_l0": U.T, "weight_hh_l0": W.T, "bias_ih_l0": b_i, "bias_hh_l0": b_h}
    module.load_state_dict({name: torch.tensor(array) for name, array in arrays.items()})
    return module


theirs = load(torch.nn.LSTM(D, units, dtype=torch.float64), U, W, b, 0 * b)
H, (h_n, c_n) = forward(X, h0, c0, U, W, b)
with torch.no_grad():
    H_theirs, (h_theirs, c_theirs) = theirs(*(torch.tensor(X), (torch.tensor(h0)[None], torch.tensor(c0)[None])))
pairs = (H, H_theirs), (h_n, h_theirs[0]), (c_n, c_theirs[0])
largest = max(np.abs(ours - their.numpy()).max() for ours, their in pairs)
print(f"60 steps, 11 units: the largest difference is {largest:.0e}")
assert largest < 1e-6, "Your states and PyTorch's were expected to agree to a millionth; " + answer_above

# %% [markdown]
# ## 3 · Machines by hand
#
# A gate that is trained may be anything between open and closed. A gate that *you* set can be a valve: with a bias of
# 20 it is open to eight digits, with $-20$ closed, and an input with a weight of 40 turns it from one to the other. With
# such valves, one unit of an LSTM becomes a machine that you can read like a circuit. Three of them are yours to build.
# All start from states of zeros, and what they compute stands in `c_n[:, 0]`.
#
# Here is a test bench. It prints what a machine does, so that you can try things out before you check.


# %% tags=["experiment"]
def bench(machine, *inputs):
    """Run a machine, (U, W, b), on one sequence; each input is a list of zeros and ones. Prints c after each step."""
    X = np.array(inputs, dtype=float).T[:, None]
    zeros = np.zeros((1, len(machine[1])))
    for t, x in enumerate(X):
        _, (h, c) = forward(X[: t + 1], zeros, zeros, *(np.asarray(part, dtype=float) for part in machine))
        print(f"step {t + 1}:  read {x[0].astype(int)}   c = {c[0, 0]:7.3f}   h = {h[0, 0]:6.3f}")


leaky = np.array([[0, 0, 20, 0]]), np.array([[0, 0, 0, 0]]), np.array([20, 2, 0, 20])  # f is σ(2)
bench(leaky, [0, 1, 0, 0, 1, 1])

# %% [markdown]
# This one writes 1 whenever it reads a 1, and forgets 12% at each step: a leaky sum, as in unit 02.

# %% [markdown]
# ### Exercise 10.4 · `counter`
# *●○○ · 8 minutes · 2 points*
#
# Return `(U, W, b)` of an LSTM that **counts**: inputs `(T, N, 1)` are 0 or 1, and `c_n[:, 0]` is the number of ones,
# within 0.1, after any sequence of up to 50 steps. One unit is enough; you may have more. `U` is `(1, 4H)`, `W` is
# `(H, 4H)`, `b` is `(4H,)`; lists will do. Any weights that work are right.
#
#     c after reading 1, 0, 1, 1 is 3
#
# Where the check speaks of `memory['1 1 1']`, it means what stands in `c` after each step while 1, 1, 1 is read.


# %% answer="counter"
def counter():
    """Weights of an LSTM whose c counts the ones: (U (1, 4H), W (H, 4H), b (4H,))."""
    ### BEGIN SOLUTION
    U = np.array([[0.0, 0.0, 20.0, 0.0]])
    W = np.zeros((1, 4))
    b = np.array([20.0, 20.0, 0.0, 20.0])
    return U, W, b
    ### END SOLUTION


# %% check="counter"
check(counter)

# %% [markdown]
# Let us see it at work, gate by gate.

# %% tags=["experiment"]
from rnncourse.gates import lstm_states
from rnncourse.plots.gates import gates_over_time


def watch(machine, reads):
    """A table of one unit's gates and states at each step; `reads` names the inputs."""
    X = np.array(list(reads.values()), dtype=float).T[:, None]
    U, W, b = (np.asarray(part, dtype=float) for part in machine)
    zeros = np.zeros((1, len(W)))
    H, C, gates = lstm_states(X, zeros, zeros, U, W, b)
    i, f, g, o = gates[:, :, 0, 0]
    return gates_over_time(reads, {"i": i, "f": f, "o": o}, {"g": g, "c": C[:, 0, 0], "h": H[:, 0, 0]})


count = use(counter)
show(
    watch(count(), {"x": [0, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 0]}),
    alt="A table over twelve steps. In the course's machine i, f and o are open throughout, g is 1 where x is 1, and c goes up by "
    "one at each one: 0, 1, 1, 1, 2, 3, 3, 4, 4, 4, 5, 5. h goes towards 1.",
)

# %% [markdown]
# (Your machine may have other gates open than ours. All that counts is the row of $c$.) A plain cell has no room for
# this: its state stays between $-1$ and $1$, and fifty counts would have to be squeezed in there. Because $c$ has no
# bound and is only *added to*, counting is the easiest thing that an LSTM can do.
#
# Next, a **latch**, the smallest of all memories: one bit that can be set, can be reset, and stays as it is in between.
# Make a table first. For each of the three inputs, what should $f$ be, and what $i \odot g$?

# %% [markdown]
# ### Exercise 10.5 · `latch`
# *●●○ · 12 minutes · 3 points*
#
# Inputs `(T, N, 2)`: the first is *set*, the second *reset*, each 0 or 1 and never both 1. `c_n[:, 0]` is 1 if the last
# thing said was *set*, 0 if it was *reset* or nothing was ever said, within 0.1, on any sequence of up to 50 steps. So
# a second *set* leaves a 1. `U` is `(2, 4H)`, the rest as before.
#
#     set, nothing, set, reset, nothing     c after each step is 1, 1, 1, 0, 0


# %% answer="latch"
def latch():
    """Weights of an LSTM whose c is 1 after a set and 0 after a reset: (U (2, 4H), W (H, 4H), b (4H,))."""
    ### BEGIN SOLUTION
    U = np.array([[0.0, -40.0, 20.0, 0.0], [0.0, -40.0, 0.0, 0.0]])
    W = np.zeros((1, 4))
    b = np.array([20.0, 20.0, 0.0, 20.0])
    return U, W, b
    ### END SOLUTION


# %% check="latch"
check(latch)

# %% tags=["experiment"]
flip_flop = use(latch)
reads = {"set": [0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0], "reset": [0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0]}
show(
    watch(flip_flop(), reads),
    alt="A table over twelve steps: set, reset, the gates i, f and o, then g, c and h. In the course's machine f is open at "
    "all steps but those with a set or a reset; c is 1 from each set to the next reset, and 0 elsewhere.",
)

# %% tags=["experiment"]
from rnncourse.plots.films import gates_film


def a_unit_while_it_reads(machine, reads):
    """The first unit's gates and states at each step: two dicts."""
    X = np.array(list(reads.values()), dtype=float).T[:, None]
    parameters = [np.asarray(a, dtype=float) for a in machine]
    start = np.zeros((1, len(parameters[1])))
    H, C, gates = lstm_states(X, start, start, *parameters)
    i, f, g, o = gates[:, :, 0, 0]
    return {"i": i, "f": f, "o": o}, {"g": g, "c": C[:, 0, 0], "h": H[:, 0, 0]}


gates_film(reads, *a_unit_while_it_reads(flip_flop(), reads)).show(
    alt="Left, a memory between three gates drawn as shutters; right, a table of inputs, gates and states over twelve "
    "steps. c is 1 from each set to the next reset.",
    title="A latch while it reads",
)

# %% [markdown]
# Between two inputs nothing happens to $c$: $f = 1$ and $g = 0$. That is the whole idea of this unit in one row of a
# table.
#
# The last machine has to look at what it holds. The **parity** of a sequence is 1 if the number of ones so far is odd.
# A zero leaves it, a one turns it over: it becomes $1 - c$. So what is written depends on $c$. But no gate ever sees
# $c$; it sees $h = o \odot \tanh(c)$, through $W$. With the output gate open, $h$ is 0 for $c = 0$, and $\tanh(1) =
# 0.76$ for $c = 1$.

# %% [markdown]
# ### Exercise 10.6 · `parity`
# *●●● · 20 minutes · 4 points*
#
# Inputs `(T, N, 1)` are 0 or 1; `c_n[:, 0]` is 1 after an odd number of ones and 0 after an even one, within 0.1, on any
# sequence of up to 50 steps. Shapes as for `counter`. This is the first machine that needs `W`.
#
#     1, 0, 1, 1     c after each step is 1, 1, 0, 1


# %% answer="parity"
def parity():
    """Weights of an LSTM whose c is the parity of the ones: (U (1, 4H), W (H, 4H), b (4H,))."""
    ### BEGIN SOLUTION
    U = np.array([[40.0, -40.0, 0.0, 0.0]])  # a one opens i and closes f
    W = np.array([[-80.0, 0.0, 0.0, 0.0]])  # but i stays closed if h says that c was 1
    b = np.array([-20.0, 20.0, 20.0, 20.0])  # f, g and o are open by default
    return U, W, b
    ### END SOLUTION


# %% check="parity"
check(parity)

# %% tags=["experiment"]
odd = use(parity)
bits = [0, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 0]
show(
    watch(odd(), {"x": bits}),
    alt="A table over twelve steps. In the course's machine each one closes f; i opens only at every other one, when h was 0; g "
    "and o are open throughout. c turns from 0 to 1 at the first one, back at the second, and so on.",
)
U, W, b = (np.asarray(part, dtype=float) for part in odd())
many = np.random.default_rng(0).integers(0, 2, size=(5_000, 1, 1))
zeros = np.zeros((1, len(W)))
C = lstm_states(many.astype(float), zeros, zeros, U, W, b)[1][:, 0, 0]
print("right at how many of 5,000 steps:", int(np.sum(np.round(C) == many[:, 0, 0].cumsum() % 2)))
assert np.round(C[49]) == many[:50].sum() % 2, "The parity of 50 bits was expected to be right; " + answer_above

# %% [markdown]
# Parity is the classic hard case: *every* input matters, and one mistake anywhere turns the answer over. Twelve numbers
# get it right for 5,000 steps, because each 1 that is read writes the stored bit afresh, and errors are not handed on.
# (So it is in our machine, with its valves at 20. If yours leak a little more, it is right for 50 steps and may not be
# for 5,000.)
#
# You have shown what an LSTM *can* hold. Whether it can *learn* to, from long examples, is a question about its gradient.

# %% [markdown]
# ## 4 · The way back
#
# Take the thick line of the picture and walk it from right to left. Forwards it says $c_t = f \odot c_{t-1} + i \odot
# g$. So an error that sits at $c_t$ goes back as
#
# $$dc_{t-1} = dc_t \odot f$$
#
# and that is all that happens to it on this way. No $W^\top$, no slope of a tanh. Where $f$ is 1, it arrives as it was,
# after one step or after a hundred. Unit 05 asked for just that.
#
# There are other ways, too: through $h$ and the gates. For one step, both errors come in from the right: $dh$, from the
# output and from the gates of the next step, and $dc$, from the next step's $c$. First bring them together at $c_t$.
# It is read twice, so it gets a **sum**:
#
# $$dc \leftarrow dc + dh \odot o \odot (1 - \tanh^2 c_t)$$
#
# From there to the four sums below the gates. Each product gives to one factor the error times the *other* factor; then
# comes the slope, $y (1 - y)$ for a sigmoid whose result is $y$, and $1 - y^2$ for a tanh:
#
# | | reaches the gate | times its slope |
# |---|---|---|
# | $da_i$ | $dc \odot g$ | $i (1 - i)$ |
# | $da_f$ | $dc \odot c_{t-1}$ | $f (1 - f)$ |
# | $da_g$ | $dc \odot i$ | $1 - g^2$ |
# | $da_o$ | $dh \odot \tanh c_t$ | $o (1 - o)$ |
#
# Put the four side by side, $da = [da_i, da_f, da_g, da_o]$, of shape $(N, 4H)$. What is left you know from unit 04:
# $dx = da\,U^\top$, $dh_{t-1} = da\,W^\top$, $dU = x^\top da$, $dW = h_{t-1}^\top da$, and $db$ is the sum of the rows.
#
# *By hand*: the step of section 2, with $dh = 1$ and $dc = 2$. At $c_t$: $2 + 1 \cdot 0.5 \cdot (1 - 0.995^2) = 2.005$.
# $da_f = 2.005 \cdot 3 \cdot 0.881 \cdot 0.119 = 0.631$; the others are $da_i = 0.382$, $da_g = 0.421$ and $da_o =
# 0.249$. And $dc_{t-1} = 2.005 \cdot 0.881 = 1.766$.

# %% [markdown]
# ### Exercise 10.7 · `lstm_step_backward`
# *●●● · 25 minutes · 5 points*
#
# Back through one step. `dh (N, H)` is the whole error of the new h; `dc (N, H)` is that of the new c **but for the way
# through h**, which you add. `x`, `h_prev`, `c_prev`, `U`, `W`, `b` are what the step was given, so that you run it
# again to know its gates. Return `(dx, dh_prev, dc_prev, dU, dW, db)`. You may call your `gate` and `lstm_step`.
#
#     dh [[1]]   dc [[2]]   x [[1]]   h_prev [[0]]   c_prev [[3]]
#     U [[0, 0, 1, 0]]   W [[0, 0, 0, 0]]   b [0, 2, 0, 0]
#     gives, rounded,  dx [[0.421]]   dh_prev [[0]]   dc_prev [[1.766]]
#                      dU [[0.382, 0.631, 0.421, 0.249]]   dW [[0, 0, 0, 0]]   db [0.382, 0.631, 0.421, 0.249]


# %% answer="lstm_step_backward"
def lstm_step_backward(dh, dc, x, h_prev, c_prev, U, W, b):
    """Back through one step of the LSTM, from dh (N, H) and dc (N, H).

    x (N, D), h_prev (N, H), c_prev (N, H), U (D, 4H), W (H, 4H), b (4H,)
    -> dx (N, D), dh_prev (N, H), dc_prev (N, H), dU (D, 4H), dW (H, 4H), db (4H,)
    """
    ### BEGIN SOLUTION
    i, f, _, o = np.split(gate(x, h_prev, U, W, b), 4, axis=1)
    g = np.tanh(np.split(x @ U + h_prev @ W + b, 4, axis=1)[2])
    shown = np.tanh(f * c_prev + i * g)
    dc = dc + dh * o * (1 - shown**2)
    parts = [dc * g * i * (1 - i), dc * c_prev * f * (1 - f), dc * i * (1 - g**2), dh * shown * o * (1 - o)]
    da = np.concatenate(parts, axis=1)
    return da @ U.T, da @ W.T, dc * f, x.T @ da, h_prev.T @ da, da.sum(axis=0)
    ### END SOLUTION


# %% check="lstm_step_backward"
check(lstm_step_backward)

# %% [markdown]
# You have the hardest derivative of the course behind you. The walk over all steps is that of unit 04, with two errors
# in hand. In the experiments from here on, the course's `lstm_backward` does it, with the products for all steps taken
# together. **Claim:** `lstm_backward` gives what your step gives, applied from the last step to the first, and what
# PyTorch's autograd gives.

# %% tags=["experiment"]
from rnncourse.gates_backward import lstm_backward

step_back = use(lstm_step_backward)
rng = np.random.default_rng(1)
T, N, D, units = 12, 3, 4, 6
X, h0, c0, dH = (rng.normal(size=shape) for shape in ((T, N, D), (N, units), (N, units), (T, N, units)))
U, W, b = rng.normal(size=(D, 4 * units)), rng.normal(size=(units, 4 * units)) / 2, rng.normal(size=4 * units)
states = H, C, _ = lstm_states(X, h0, c0, U, W, b)
whole = dict(zip(("dX", "dh0", "dc0", "dU", "dW", "db"), lstm_backward(dH, X, h0, c0, states, U, W)))

dh, dc, sums = np.zeros_like(h0), np.zeros_like(c0), [0, 0, 0]
for t in reversed(range(T)):
    h_prev, c_prev = (H[t - 1], C[t - 1]) if t > 0 else (h0, c0)
    _, dh, dc, *parts = step_back(dH[t] + dh, dc, X[t], h_prev, c_prev, U, W, b)
    sums = [total + part for total, part in zip(sums, parts)]
yours = dict(zip(("dh0", "dc0", "dU", "dW", "db"), (dh, dc, *sums)))

theirs = load(torch.nn.LSTM(D, units, dtype=torch.float64), U, W, b, 0 * b)
inputs = [torch.tensor(array, requires_grad=True) for array in (X, h0[None], c0[None])]
(torch.tensor(dH) * theirs(inputs[0], (inputs[1], inputs[2]))[0]).sum().backward()
autograd = {
    "dX": inputs[0].grad.numpy(),
    "dh0": inputs[1].grad[0].numpy(),
    "dc0": inputs[2].grad[0].numpy(),
    "dU": theirs.weight_ih_l0.grad.numpy().T,
    "dW": theirs.weight_hh_l0.grad.numpy().T,
    "db": theirs.bias_ih_l0.grad.numpy(),
}
for name, gradient in whole.items():
    assert np.allclose(gradient, autograd[name], rtol=0, atol=1e-10), (
        f"{name} was expected to be autograd's; {answer_above}"
    )
    assert name == "dX" or np.allclose(gradient, yours[name], rtol=0, atol=1e-10), (
        f"Your steps were expected to give the {name} of lstm_backward; {answer_above}"
    )
print("lstm_backward, your steps and autograd agree to 1e-10 in", ", ".join(whole))

# %% [markdown]
# ### Experiment · how far does an error get?
#
# Here is the picture of unit 05 again, now with the LSTM in it. 64 units, drawn at random, read random inputs. The loss
# is read at the last step; we follow the error back over 100 steps and look at its size. For the LSTM that is the size
# of $dh_t$ and $dc_t$ together. Only one thing differs between its curves: the **forget bias**, the part of $b$ that
# belongs to $f$. One more curve follows the error along $c$ and nowhere else: $dc \odot f$, step by step.
#
# **Guess first**: of an error of 1, how much is left after 100 steps with a forget bias of 0, of 3, of 5? And will the
# whole error be larger than the one along $c$ alone, or smaller?
#
# **Claim:** with a forget bias of 0, the LSTM loses its errors as fast as a plain cell. With a bias of 3, more than a
# hundredth of the error arrives 100 steps back; in these plain cells, on these inputs, less than a millionth.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.cell import rnn_forward
from rnncourse.gradient_flow import orthogonal, state_gradient_norms, with_spectral_radius
from rnncourse.plots import Slider, explore, line_chart

T, N, D, units = 101, 8, 4, 64
rng = np.random.default_rng(0)
X, zeros, dh_last = rng.normal(size=(T, N, D)), np.zeros((N, units)), rng.normal(size=(N, units))
U, W = 0.5 * rng.normal(size=(D, 4 * units)), rng.normal(size=(units, 4 * units)) / np.sqrt(units)


def plain_errors(W_plain):
    """The size of the error at each distance, 0 to 100: of a plain cell."""
    H = rnn_forward(X, zeros, U[:, :units], W_plain, np.zeros(units))
    return state_gradient_norms(dh_last, H, W_plain)[::-1]


def lstm_errors(forget_bias, along_c_alone=False):
    """The same of an LSTM: of dh and dc together, or of dc if nothing goes back through h and the gates."""
    b = np.zeros(4 * units)
    b[units : 2 * units] = forget_bias
    H, C, (_, f, _, o) = lstm_states(X, zeros, zeros, U, W, b)
    dh, dc, sizes = dh_last, zeros, []
    if along_c_alone:
        dh, dc = zeros, dh_last * o[-1] * (1 - np.tanh(C[-1]) ** 2)
    for t in reversed(range(T)):
        sizes.append(np.sqrt((dh**2).sum() + (dc**2).sum()))
        h_prev, c_prev = (H[t - 1], C[t - 1]) if t > 0 else (zeros, zeros)
        if along_c_alone:
            dc = dc * f[t]
        else:
            _, dh, dc, *_ = step_back(dh, dc, X[t], h_prev, c_prev, U, W, b)
    return np.array(sizes)


W_drawn = rng.normal(size=(units, units))
curves = {f"LSTM, forget bias {bias}": lstm_errors(bias) for bias in (5, 3, 0)}
curves["bias 3, along c alone"] = lstm_errors(3, along_c_alone=True)
curves["plain, ρ = 1.5"] = plain_errors(with_spectral_radius(W_drawn, 1.5))
curves["plain, orthogonal"] = plain_errors(orthogonal(rng, units))
curves = {name: sizes / sizes[0] for name, sizes in curves.items()}


def chart(lines, ylim=None):
    labels = {"xlabel": "distance (steps back from the loss)", "ylabel": "size of the error, distance 0 = 1"}
    return line_chart(range(T), lines, **labels, logy=True, ylim=ylim, size=(9.75, 4.6))


def beside_plain(bias):
    """The LSTM with this forget bias, beside the plain cell of radius 1.5."""
    sizes = lstm_errors(bias)
    lines = {f"LSTM, forget bias {bias:g}": sizes / sizes[0], "plain, ρ = 1.5": curves["plain, ρ = 1.5"]}
    return chart(lines, ylim=(1e-20, 1e2))


explore(
    beside_plain,
    chart(curves),
    alt="Size of the error against the distance it has come, on a logarithmic axis. The plain cell with an orthogonal W and the "
    "LSTM with a forget bias of 0 fall together to below 1e-18 within 100 steps; a plain cell of radius 1.5 to about 1e-7. With "
    "biases of 3 and 5 the curve stays near 0.1 to 1 throughout. Along c alone, with a bias of 3, it is a straight line that ends "
    "below 0.01.",
    bias=Slider("forget bias", -2.0, 6.0, 2.0, step=0.25),
)
for name, sizes in curves.items():
    print(f"{name:21}: {sizes[-1]:.0e} is left after 100 steps")
assert max(curves[name][-1] for name in ("LSTM, forget bias 0", "plain, orthogonal")) < 1e-12, (
    "Next to nothing was expected to be left with a forget bias of 0; " + answer_above
)
assert curves["plain, ρ = 1.5"][-1] < 1e-6, "Less than a millionth was expected to be left; " + answer_above
assert curves["LSTM, forget bias 3"][-1] > 0.01 > curves["bias 3, along c alone"][-1], (
    "With a bias of 3 a hundredth was expected to arrive, and less along c alone; " + answer_above
)
assert curves["LSTM, forget bias 5"][-1] > curves["LSTM, forget bias 5"][20], (
    "With a bias of 5 the error was expected to grow again on its way; " + answer_above
)

# %% [markdown]
# So it is *not* the wiring alone. An LSTM whose biases are all zero has gates near one half, and one half to the power
# 100 is nothing. The wiring gives the error a way that *can* be open; the forget bias opens it. How far? What keeps to
# the thick line is multiplied by $f \approx \sigma(b_f)$ at each step, and falls to a third ($1/e$) in about
# $1 / (1 - \sigma(b_f)) = 1 + e^{b_f}$ steps. That is the **time constant** of this way:
#
# | forget bias | 0 | 1 | 3 | 5 |
# |---|---|---|---|---|
# | steps until a third is left, along $c$, about | 2 | 4 | 21 | 149 |
#
# The line along $c$ alone is that of 21 steps. Why does the whole error, with the same bias, stay level? Because $c$ is
# not its only way. At every step a part leaves it for $h$ and $W$, and these ways are like those of a plain cell: on
# them errors can grow, and what has grown comes back to $c$. With a bias of 5 the curve even ends *higher* than it was
# at distance 20. Gates do not replace clipping.
#
# And the plain cells? The orthogonal $W$, which keeps an error's size without a tanh, falls as fast here as an LSTM
# with a bias of 0. These inputs are loud: they push the tanh to where it is flat, and a flat tanh takes from the error
# whatever $W$ leaves it. A radius of 1.5 gives back a part of that. As in unit 05, it depends on $W$ *and* on what is
# read.

# %% [markdown]
# ## 5 · A hundred steps of noise
#
# Now the task of unit 05: a symbol, `lag` steps of noise, and then the question which of four symbols it was
# (`recall_batch(rng, lag, rows)` in `rnncourse.data`). The training loop is the one you know, with Adam for the update:
# it keeps a running mean of each gradient, and of its square, and divides the one by the root of the other. You used
# PyTorch's in unit 07; here it is in four lines. A cell is a pair of functions: one draws its parameters, the other runs
# it and says how to go back.

# %% tags=["experiment"]
from rnncourse.bptt import nll_backward, output_backward, rnn_backward, sequence_nll
from rnncourse.data import recall_batch
from rnncourse.gradient_flow import clip_by_global_norm

SYMBOLS, CHANCE = 4, 0.25


def draw_plain(rng, units):
    """U, and an orthogonal W."""
    return {"U": 0.5 * rng.normal(size=(2 * SYMBOLS, units)), "W": orthogonal(rng, units), "b": np.zeros(units)}


def run_plain(p, X):
    """The states, and a function from their errors to the gradients."""
    h0 = np.zeros((X.shape[1], len(p["W"])))
    H = rnn_forward(X, h0, p["U"], p["W"], p["b"])
    return H, lambda dH: dict(zip("UWb", rnn_backward(dH, X, h0, H, p["U"], p["W"])[2:]))


def draw_lstm(rng, units, forget_bias=0.0, input_bias=0.0):
    """U, W, and a bias that says how far f and i are open when nothing speaks for or against it."""
    U, W = 0.5 * rng.normal(size=(2 * SYMBOLS, 4 * units)), rng.normal(size=(units, 4 * units)) / np.sqrt(units)
    b = np.zeros(4 * units)
    b[:units], b[units : 2 * units] = input_bias, forget_bias
    return {"U": U, "W": W, "b": b}


def run_lstm(p, X):
    zeros = np.zeros((X.shape[1], len(p["W"])))
    states = lstm_states(X, zeros, zeros, p["U"], p["W"], p["b"])
    return states[0], lambda dH: dict(zip("UWb", lstm_backward(dH, X, zeros, zeros, states, p["U"], p["W"])[3:]))


def train(draw, run, lags, units=32, updates=300, learning_rate=0.01, seed=0, **settings):
    """Train a cell to recall, each batch at a lag drawn from lags[0] to lags[1]; return its parameters."""
    rng = np.random.default_rng([seed, 10])
    p = draw(rng, units, **settings)
    p |= {"V": rng.normal(size=(units, SYMBOLS)) / np.sqrt(units), "c": np.zeros(SYMBOLS)}
    means, squares = ({name: np.zeros_like(array) for name, array in p.items()} for _ in range(2))
    for k in range(1, updates + 1):
        X, y = recall_batch(rng, rng.integers(lags[0], lags[1] + 1), rows=16)
        H, back = run(p, X)
        dH = np.zeros_like(H)
        logits = H[-1:] @ p["V"] + p["c"]  # the answer, at the last step only
        dH[-1:], dV, dc = output_backward(nll_backward(logits, y[None]), H[-1:], p["V"])
        gradients = back(dH) | {"V": dV, "c": dc}
        clipped, _ = clip_by_global_norm([gradients[name] for name in p], 1.0)
        for name, gradient in zip(p, clipped):  # Adam
            means[name] += 0.1 * (gradient - means[name])
            squares[name] += 0.001 * (gradient**2 - squares[name])
            step = means[name] / (1 - 0.9**k) / (np.sqrt(squares[name] / (1 - 0.999**k)) + 1e-8)
            p[name] -= learning_rate * step
    return p


def share_right(p, run, lag):
    """The share of right answers on 200 new sequences."""
    X, y = recall_batch(np.random.default_rng(99), lag, rows=200)
    return np.mean((run(p, X)[0][-1] @ p["V"] + p["c"]).argmax(axis=1) == y)


# %% [markdown]
# ### Experiment · one long lag, the same budget
#
# 300 updates with batches of 16, at one lag alone: 10, 30 or 100. Four networks of 32 units: the plain cell with an
# orthogonal $W$; the LSTM with all biases 0, as the formulas leave it; with a forget bias of 1, a common advice; and with
# 5 for $f$ and $-5$ for $i$, so that both gates leave things alone unless something speaks against it. Why these
# numbers? That comes below. **Guess first** which of the four still answer at a lag of 10, of 30 and of 100, and cover the
# table while you do. In it stands the share of right answers, the median of five seeds, and in brackets the
# lowest and the highest. A guess is right in 0.25.
#
# | 300 updates | lag 10 | lag 30 | lag 100 |
# |---|---|---|---|
# | plain | {{one_distance/plain, lag 10/recalled}} | {{one_distance/plain, lag 30/recalled}} | {{one_distance/plain, lag 100/recalled}} |
# | LSTM, biases 0 | {{one_distance/LSTM, biases 0, lag 10/recalled}} | {{one_distance/LSTM, biases 0, lag 30/recalled}} | {{one_distance/LSTM, biases 0, lag 100/recalled}} |
# | LSTM, forget bias 1 | {{one_distance/LSTM, forget bias 1, lag 10/recalled}} | {{one_distance/LSTM, forget bias 1, lag 30/recalled}} | {{one_distance/LSTM, forget bias 1, lag 100/recalled}} |
# | LSTM, 5 and −5 | {{one_distance/LSTM, biases 5 and −5, lag 10/recalled}} | {{one_distance/LSTM, biases 5 and −5, lag 30/recalled}} | {{one_distance/LSTM, biases 5 and −5, lag 100/recalled}} |
#
# **Claim:** at a lag of 100 the LSTM is right more than 99 times in 100 with biases of 5 and $-5$, and guesses with
# biases of 0, as the plain cell does.

# %% tags=["experiment", "nbval-ignore-output"]
TUNED = "LSTM, biases 5 and −5"
networks = {
    "plain": (draw_plain, run_plain, {}),
    "LSTM, biases 0": (draw_lstm, run_lstm, {}),
    TUNED: (draw_lstm, run_lstm, {"forget_bias": 5.0, "input_bias": -5.0}),
}
trained = {}
for name, (draw, run, biases) in track(networks.items(), "training at a lag of 100"):
    trained[name] = train(draw, run, (100, 100), **biases)
    print(f"{name:22} {share_right(trained[name], run, 100):.2f} right at a lag of 100")
assert share_right(trained[TUNED], run_lstm, 100) > 0.99, (
    "The LSTM was expected to recall over 100 steps; " + answer_above
)
for name in ("plain", "LSTM, biases 0"):
    share = share_right(trained[name], networks[name][1], 100)
    assert share < 0.5, f"{name}: expected a guess, and it is {share:.2f} right; {answer_above}"

# %% [markdown]
# So it was not the LSTM that did it. It was the LSTM *and* its start. Left at 0, its gates are half open, an error is
# halved at each step, and at 30 steps it does worse than the plain cell. (In unit 05 the plain cell, drawn in the
# same way, guessed there. What is new is Adam: the rule of the update moves the wall, too.)
#
# Is that fair to the plain cell? At a lag of 100, 68 units, as many parameters as the LSTM has, bring it to
# {{one_distance/plain, 68 units, lag 100/recalled}}; a radius of 1.5 to
# {{one_distance/plain, radius 1.5, lag 100/recalled}}; inputs turned down to a fifth, as in unit 05, to
# {{one_distance/plain, quiet inputs, lag 100/recalled}}. At a lag of 30 the radius of 1.5 has
# {{one_distance/plain, radius 1.5, lag 30/recalled}}. And with 2,000 updates in place of 300 the orthogonal start has
# {{one_distance/plain, lag 30, 2000 updates/recalled}} there, and the LSTM with biases of 0 still
# {{one_distance/LSTM, biases 0, lag 30, 2000 updates/recalled}}. No cell is the better one whatever you do.
#
# And yet they do not learn the same. Ask the plain cell of the 2,000 updates one or two steps earlier or later than it
# was trained for: at the worst of these four lags it is right in {{one_distance/plain, lag 30, 2000 updates/beside}},
# less than a guess. It has not stored the symbol. It has built a *clock*, a state that goes round and points the right
# way when the time is due. So it is at a lag of 10, too: {{one_distance/plain, lag 10/beside}}. The LSTM with 5 and
# $-5$, trained at 100, has {{one_distance/LSTM, biases 5 and −5, lag 100/beside}} there. Its state stands still.
#
# ### Inside
#
# What has it learnt? We take the LSTM that was trained for 100 steps, show it each of the four symbols with the same
# noise behind it, and look at $\tanh(c)$. Do you expect stripes that begin at once and stay as they are?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.plots.gates import kept_by_symbol


def for_each_symbol(p, lag=100):
    """X, H, C and the gates of a trained LSTM: row k begins with symbol k, and the noise behind it is the same."""
    noise, _ = recall_batch(np.random.default_rng(5), lag, rows=1)
    X = np.repeat(noise, SYMBOLS, axis=1)
    X[0] = np.eye(2 * SYMBOLS)[:SYMBOLS]
    zeros = np.zeros((SYMBOLS, 32))
    return X, *lstm_states(X, zeros, zeros, p["U"], p["W"], p["b"])


def spread(cells):
    """How far the four rows are apart: the largest difference in any unit, for the two rows that are nearest."""
    return min(np.abs(cells[j] - cells[k]).max() for j in range(SYMBOLS) for k in range(j))


p = trained[TUNED]
X, H, C, (i, f, g, o) = for_each_symbol(p)
opened = {name: one.mean(axis=(1, 2)) for name, one in (("i", i), ("f", f), ("o", o))}
show(
    kept_by_symbol(np.tanh(C), "ABCD", opened),
    alt="Above, four panels, one for each first symbol: the 32 entries of tanh(c) over 101 steps. Over the first forty or fifty "
    "steps coloured stripes come up out of nearly nothing, and then stay to the end; they are others in each panel. Below, the mean of "
    "the gates over time: f stays near 1, i near 0.",
)

C_without_W = lstm_states(X[1:], H[0], C[0], p["U"], 0 * p["W"], p["b"])[1]
print(f"the rows are apart, after the symbol, by {spread(C[0]):.2f}")
print(f"                    at the end, by {spread(C[-1]):.1f}")
print(f"                    at the end, without W, by {spread(C_without_W[-1]):.2f}")
assert f[1:].mean() > 0.9, "The forget gates were expected to stay open; " + answer_above
assert spread(C[-1]) > 10 * spread(C[0]) > 10 * spread(C_without_W[-1]), (
    "The mark was expected to grow, and only through W; " + answer_above
)

# %% [markdown]
# A surprise. It does not write once and then wait. The symbol leaves a faint mark, since the input gate began nearly
# closed. Then the network **pushes**: what stands in $c$ shows in $h$, and $h$, through $W$, writes more of the same,
# until it cannot be missed. With $W$ set to zero after the symbol there is no push; the mark is simply *held*, and
# after a hundred steps a good part of it is still there. Over five seeds: apart by
# {{inside/biases 5 and −5, lag 100/apart at first}} after the symbol, by
# {{inside/biases 5 and −5, lag 100/apart at the end|.0f}} at the end, and by
# {{inside/biases 5 and −5, lag 100/apart without W}} without $W$. It is the latch of unit 03, a state that pulls itself
# back. Nobody asked for it. Gradient descent found it, and the open gates brought the error that it needed.
#
# Two more things to try. Ask it at a lag that it never met in training. And wipe out one of its two states on the way.


# %% tags=["experiment", "nbval-ignore-output"]
def share_after_wiping(p, step, wipe, lag=100):
    """The share of right answers if h or c is set to zero after so many steps."""
    X, y = recall_batch(np.random.default_rng(99), lag, rows=200)
    zeros = np.zeros((200, 32))
    H, C, _ = lstm_states(X[:step], zeros, zeros, p["U"], p["W"], p["b"])
    h, c = (zeros, C[-1]) if wipe == "h" else (H[-1], zeros)
    H, _, _ = lstm_states(X[step:], h, c, p["U"], p["W"], p["b"])
    return np.mean((H[-1] @ p["V"] + p["c"]).argmax(axis=1) == y)


longer = share_right(p, run_lstm, lag=300)
wiped = {wipe: share_after_wiping(p, 20, wipe) for wipe in "hc"}
print(f"trained for 100 steps, asked after 300: {longer:.2f} right")
for wipe, share in wiped.items():
    print(f"{wipe} set to zero after 20 steps: {share:.2f} right")
assert longer > 0.9, "The LSTM was expected to hold the symbol for 300 steps; " + answer_above
assert wiped["c"] < 0.9 < 0.99 < wiped["h"], "The memory was expected in c, and not in h; " + answer_above

# %% [markdown]
# It holds on for three times as long as it was ever trained to. And the memory *is* $c$: without $h$ nothing is lost,
# since the next step makes a new one out of $c$; without $c$ it is right in {{inside/biases 5 and −5, lag 100/c wiped}}
# over five seeds. (Now wipe $c$ later, after 60 steps, say. Why may that do less harm?)
#
# ### Experiment · how far the forget bias reaches
#
# Now turn the dial: forget biases $b$ from 0 to 6, and $-b$ for the input gate. Each cell of the picture is the share of
# right answers at one lag, the median of five seeds, after 300 updates at that lag alone. The
# cell above the picture trains a part of one row, with one seed. **Guess first**, from the table of time constants: which
# bias is the least that will do for a lag of 30, and which for 300?
#
# **Claim:** a forget bias of $\log T$, rounded up to a whole number, is enough at lags $T$ of 10, 30, 100 and 300. At
# 100 a bias of 2 is not enough, and at 300 one of 4 is not.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.data.claims import claimed
from rnncourse.plots.gates import share_grid

biases, lags = range(7), (10, 30, 100, 300)
for bias in track(biases[:5], "training at a lag of 30 with forget biases of 0 to 4"):
    p = train(draw_lstm, run_lstm, (30, 30), forget_bias=float(bias), input_bias=-float(bias))
    print(f"lag 30, forget bias {bias}: {share_right(p, run_lstm, 30):.2f} right")
    assert bias < 4 or share_right(p, run_lstm, 30) > 0.95, (
        "A bias of 4 was expected to do for 30 steps; " + answer_above
    )

measured = claimed("10_gates")["bias_by_lag"]
medians = [
    [measured.median(key, "recalled") if (key := f"lag {lag}, bias {b}") in measured.values else np.nan for b in biases]
    for lag in lags
]
show(
    share_grid(
        medians,
        rows=[f"T = {lag}" for lag in lags],
        columns=[f"{bias}" for bias in biases],
        ylabel="lag",
        xlabel="forget bias b (the input gate has −b)",
        marks=[np.log(lag) for lag in lags],
        mark="log T",
    ),
    alt="A grid of shares of right answers: a row for each lag, a column for each forget bias; a dash is what was not run. In "
    "each row they turn from a guess to 1 at a bias that grows with the lag: at 10 they are 1 throughout, at 30 from a bias of 2 "
    "on, at 100 from 4 on, at 300 from 5 on. A mark at the logarithm of the lag stands a little to the right of each turn.",
)

# %% [markdown]
# A few numbers, written into one half of one vector, decide between chance and certainty. PyTorch starts all biases near
# 0. Keras starts the forget bias at 1, as Jozefowicz and others advise, who tried ten thousand variants of the cell: here
# that does for a lag of 10, and not for 30. The bias that it takes grows about as $\log T$ does: with $b_f = \log T$ the
# time constant $1 + e^{b_f}$ is about $T$. It need not be exact. A little less is enough, since the push
# helps; and more does no harm in this task, where one thing is to be remembered and nothing to be forgotten.
#
# Is it all about forgetting, then? At a lag of 100, with a forget bias of 4, turn the *input* gate alone: $-4$, nearly
# closed, or 0, half open. First look at $c$ before any training, after a hundred steps of noise, and at the slope of the
# tanh there. **Guess first**: is it still steep, with the gate half open, and with the gate nearly closed?
#
# **Claim:** with $b_f = 4$ the LSTM learns to recall over 100 steps if $b_i$ is $-4$, and does not reliably if $b_i$ is
# 0: over five seeds it is right in {{keep_out/forget 4, input -4/recalled}} and
# {{keep_out/forget 4, input 0/recalled}}.


# %% tags=["experiment", "nbval-ignore-output"]
def slope_before(rng, **biases):
    """The mean slope of the tanh at c after a hundred steps of noise, before any training."""
    p, (X, _), zeros = draw_lstm(rng, 32, **biases), recall_batch(rng, 100, rows=200), np.zeros((200, 32))
    C = lstm_states(X, zeros, zeros, p["U"], p["W"], p["b"])[1]
    return np.mean(1 - np.tanh(C[-1]) ** 2)


for input_bias in track((0.0, -4.0), "training with the input gate half open, and nearly closed"):
    start = {"forget_bias": 4.0, "input_bias": input_bias}
    slope = slope_before(np.random.default_rng(0), **start)
    share = share_right(train(draw_lstm, run_lstm, (100, 100), **start), run_lstm, 100)
    print(f"input bias {input_bias:2g}: slope {slope:.2f} before training, {share:.2f} right after it")
    assert (slope > 0.8) == (input_bias < 0), (
        "The tanh was expected to be flat with the gate half open; " + answer_above
    )
assert share > 0.99, "With the gate nearly closed the LSTM was expected to learn; " + answer_above

# %% [markdown]
# A cell that keeps everything keeps the noise, too. A hundred pieces of it pile up in $c$ until the tanh is flat, and
# through a flat tanh neither the symbol gets out nor an error in. Over five seeds the slope is
# {{keep_out/forget 4, input 0/slope}} with the gate half open and {{keep_out/forget 4, input -4/slope}} with the gate
# nearly closed. So **remembering is two things: to keep, and to keep out.** That is why 5 went with $-5$. (And to keep
# out is not enough: with $b_f = 0$ and $b_i = -4$ it is {{keep_out/forget 0, input -4/recalled}}. Tallec and Ollivier
# start both gates so, with $b_i = -b_f$, and derive the logarithm from what a gate has to do if time is stretched.)

# %% [markdown]
# ## 6 · The same in PyTorch
#
# What you have set in $b$ by hand has to go into an `nn.LSTM`, and there it is easy to miss. PyTorch's names:
#
# | parameter | shape | what it is |
# |---|---|---|
# | `weight_ih_l0` | $(4H, D)$ | our $U$, transposed: the rows of $i$, of $f$, of $g$, of $o$ |
# | `weight_hh_l0` | $(4H, H)$ | our $W$, transposed |
# | `bias_ih_l0`, `bias_hh_l0` | $(4H,)$ each | **two** biases, which are added up: our $b$ is their sum |
#
# That makes $4\,(D H + H H + 2 H)$ numbers. `nn.LSTM(D, H, num_layers=2)` has four more, ending in `_l1`, and with
# `bidirectional=True` each of them has a twin, ending in `_reverse`. All are drawn from $-1/\sqrt H$ to $1/\sqrt H$:
# whoever takes an `nn.LSTM` as it comes has an $f$ of about one half.

# %% [markdown]
# ### Exercise 10.8 · `set_forget_bias`
# *●●○ · 12 minutes · 4 points*
#
# `lstm` is an `nn.LSTM` of any number of layers, in one direction or two; `value` is a number. Set its forget bias **in
# place**, and return nothing: after the call, in every layer and each direction, the two biases of $f$ add up to
# `value` for each unit. All other numbers are as they were, and the parameters are the same objects, since an optimizer
# may hold them already. `lstm.named_parameters()` gives pairs of a name and a parameter. To write into a parameter,
# say `with torch.no_grad():` (`torch` is imported).
#
#     lstm = nn.LSTM(3, 2)    set_forget_bias(lstm, 5.0)
#     (lstm.bias_ih_l0 + lstm.bias_hh_l0)[2:4]    is then [5, 5]


# %% answer="set_forget_bias"
def set_forget_bias(lstm, value):
    """Set the forget bias of an nn.LSTM in place: in each layer and direction, both biases of f add up to value."""
    ### BEGIN SOLUTION
    H = lstm.hidden_size
    with torch.no_grad():
        for name, bias in lstm.named_parameters():
            if "bias" in name:
                bias[H : 2 * H] = value if "_ih_" in name else 0
    ### END SOLUTION


# %% check="set_forget_bias"
check(set_forget_bias)

# %% [markdown]
# Now you can take an LSTM off the shelf and open its gates.
#
# ### Experiment · unit 09's tagger, with an LSTM
#
# In unit 09 a plain cell read Python source, letter by letter, and said of each whether it stands in a comment. Of some
# comments it lost the sign that opens them. Here is the same tagger on the same text, with another core and no more
# parameters: a plain cell of 96 units, an LSTM of 43 as PyTorch draws it, and the same LSTM with a forget bias of 5,
# set by your function.
#
# We ask two things of files that they have not seen. Of the characters of a comment whose `#` is in view, how many are
# taken for one? And if it is *code* that was commented out, forty characters long, so that no English word reminds the
# tagger: is the sign still known for the last eight?
#
# **Before you run it**, write down an order of the three for each question. Where should the open gate help most?


# %% tags=["experiment"]
from torch import nn

from rnncourse.data import TOKEN_LABELS, labelled_python

python_text, held_out, characters = labelled_python(200_000)
COMMENT, STRING = TOKEN_LABELS.index("comment"), TOKEN_LABELS.index("string")


class Tagger(nn.Module):
    """The one-way tagger of unit 09, with any core: ids (T, N) -> logits (T, N, labels)."""

    def __init__(self, core, hidden_size):
        super().__init__()
        self.embedding = nn.Embedding(len(characters), 16)
        self.rnn = core(16, hidden_size)
        self.output = nn.Linear(hidden_size, len(TOKEN_LABELS))

    def forward(self, ids):
        return self.output(self.rnn(self.embedding(ids))[0])


def train_tagger(core, hidden_size, forget_bias=None, epochs=5, seed=0):
    """Train as in unit 09: windows of 100 characters, 16 at a time, Adam with steps that get smaller."""
    torch.manual_seed(seed)
    model = Tagger(core, hidden_size)
    if forget_bias is not None:
        use(set_forget_bias)(model.rnn, forget_bias)
    ids, labels = (torch.tensor(array) for array in python_text.windows(100))
    batches = [columns for _ in range(epochs) for columns in torch.randperm(ids.shape[1]).split(16)]
    optimizer = torch.optim.Adam(model.parameters(), lr=0.006)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.02, len(batches))
    for columns in track(batches, f"training {core.__name__}"):
        loss = nn.functional.cross_entropy(model(ids[:, columns]).flatten(0, 1), labels[:, columns].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model


def comments_known(model):
    """Of the held-out characters in comments whose sign is in the window: the share that is taken for a comment."""
    ids, labels = (torch.tensor(array) for array in held_out.windows(100))
    inside = labels == COMMENT
    opened = torch.cat([torch.zeros_like(inside[:1]), inside[1:] & ~inside[:-1]]).cumsum(dim=0) > 0
    with torch.no_grad():
        return float((model(ids).argmax(dim=-1) == COMMENT)[inside & opened].float().mean())


def lines_of_code():
    """Held-out lines without strings and comments, from their first 40 characters on, each once."""
    found, start = set(), 0
    for row in held_out.text.split("\n"):
        line = row.strip()[:40]
        if len(line) == 40 and not set(held_out.labels[start : start + len(row)].tolist()) & {COMMENT, STRING}:
            found.add(line)
        start += len(row) + 1
    return sorted(found)


def taken_for_comment(model, opening="# "):
    """The share of these lines of which each of the 40 characters is taken for a comment, if `opening` stands before."""
    place = {character: i for i, character in enumerate(characters)}
    columns = [[place.get(character, len(characters) - 1) for character in opening + line] for line in lines_of_code()]
    with torch.no_grad():
        labels = model(torch.tensor(columns).T).argmax(dim=-1)[len(opening) :]
    return (labels == COMMENT).float().mean(dim=1).numpy()


# %% [markdown]
# **Claim:** with nothing set by hand, a tagger with an LSTM takes more than nine in ten characters for a comment where
# the sign is in view. With a forget bias of 5 it takes fewer.

# %% tags=["experiment", "nbval-ignore-output"]
taggers = {"plain": (nn.RNN, 96), "LSTM": (nn.LSTM, 43), "LSTM, forget bias 5": (nn.LSTM, 43, 5.0)}
known = {}
for name, core in taggers.items():
    model = train_tagger(*core)
    marked, known[name] = taken_for_comment(model), comments_known(model)
    print(
        f"{name:20} {known[name]:4.0%} of comments in view; of code with a sign before it {marked[:4].mean():4.0%} "
        f"of the first four characters, {marked[-8:].mean():4.0%} of the last eight"
    )
assert known["LSTM"] > 0.9, "The LSTM was expected to know a comment whose sign is in view."
assert known["LSTM, forget bias 5"] < known["LSTM"], (
    "A forget bias of 5 was expected to do harm here; if set_forget_bias has not passed its check, that may be why."
)

# %% tags=["experiment"]
fading = claimed("10_gates")["tagger"]
names = {"plain, 15 epochs": "plain,\n15 epochs", "LSTM, forget bias 5": "LSTM, bias 5"}
show(
    line_chart(
        range(1, 41),
        {
            names.get(name, name): [fading.median(name, f"character {k}") for k in range(1, 41)]
            for name in ("plain, 15 epochs", "GRU", "LSTM", "LSTM, forget bias 5", "plain")
        },
        xlabel="characters after the sign that opens the comment",
        ylabel="share taken for a comment",
        title="Lines of code, commented out (medians of five seeds)",
    ),
    alt="Share of the characters taken for a comment against their distance from the sign, medians of five seeds. All begin near "
    "1. The plain cell falls to nearly zero within ten characters. All others fall slowly over the forty: the LSTM to about a "
    "quarter, faster with a forget bias of 5, the GRU and the plain cell after three times the training to less than a half.",
)

# %% [markdown]
# | five seeds | known, sign in view | code commented out: last eight of forty |
# |---|---|---|
# | plain, 96 units | {{tagger/plain/known}} | {{tagger/plain/of the last eight}} |
# | plain, three times the training | {{tagger/plain, 15 epochs/known}} | {{tagger/plain, 15 epochs/of the last eight}} |
# | LSTM, 43 units | {{tagger/LSTM/known}} | {{tagger/LSTM/of the last eight}} |
# | LSTM, forget bias 2 | {{tagger/LSTM, forget bias 2/known}} | {{tagger/LSTM, forget bias 2/of the last eight}} |
# | LSTM, forget bias 5 | {{tagger/LSTM, forget bias 5/known}} | {{tagger/LSTM, forget bias 5/of the last eight}} |
# | GRU of section 7, 51 units | {{tagger/GRU/known}} | {{tagger/GRU/of the last eight}} |
#
# Read the first column. In the time that unit 09 gave it, a *plain* tagger learns to hold the sign in some seeds (that of
# the cell above is one) and not in others. With gates it is learned in every seed, and nobody has set a bias. Why is none
# needed, after all that you have seen? Because text is full of **short examples**: comments of three letters, of ten, of
# thirty. The forget bias is for those who have none; here, 5 makes the LSTM a little worse.
#
# So is it the cell? Look at the second row. Three times the training, and the plain cell knows as many, and holds the sign
# for longer than the LSTM did in five epochs. Gates got there sooner. That is worth a lot; it is no other kind of memory.
#
# The second column is the promise of unit 09, and it is half kept. Forty letters of code behind a sign: after the same
# training, the gates lose it later than the plain cell does, and they do lose it. In the training text hardly any code is commented out, and where words
# tell a comment from code, nobody needs to hold on to a sign. In unit 09 a *plain* tagger held it to the end as soon as a
# fifth of the lines asked for it. **Gates make it easier to learn what the examples ask for. They do not ask.**

# %% [markdown]
# Four times the plain cell, in numbers and in work. Does a memory need all of that? Two states and three gates, two of
# them for one decision: to keep or to write. (The LSTM need not make it one. Trained on lags from 1 to 7 from biases of
# 0, $f$ and $i$ are both about two thirds open, {{inside/biases 0, lags 1 to 7/f}} and
# {{inside/biases 0, lags 1 to 7/i}}, and open *together*, with a correlation of
# {{inside/biases 0, lags 1 to 7/f with i}}: it keeps and writes the same again. But it could.)

# %% [markdown]
# ## 7 · One state, two gates
#
# The **GRU**, the *gated recurrent unit*, draws the conclusion. It has one state. One gate $z$ does the work of $f$ and
# $i$: what is kept is $z$, what is renewed is $1 - z$. A second gate $r$ says how much of the old state the candidate
# $n$ may look at.

# %% tags=["experiment"]
from rnncourse.plots.gates import gru_cell

show(
    gru_cell(),
    alt="One step of the GRU. Above, a thick line from h of the last step to the new h: it passes a product with z and a sum. Below, "
    "x through U and h through W go to z, r and n. Before it reaches n, the part that comes from h is multiplied by r. n is "
    "multiplied by one minus z and joins the thick line at the sum.",
)

# %% [markdown]
# $$
# \begin{aligned}
# r, z &= \sigma(x_t U + b_i + h_{t-1} W + b_h) && \text{two gates: reset, update}\\
# n &= \tanh\big(x_t U + b_i + r \odot (h_{t-1} W + b_h)\big) && \text{the candidate}\\
# h_t &= (1 - z) \odot n + z \odot h_{t-1} && \text{a mixture of new and old}
# \end{aligned}
# $$
#
# Columns again, in PyTorch's order $r, z, n$: $U$ is $(D, 3H)$, $W$ is $(H, 3H)$, and there are two biases of $3H$.
# For $r$ and $z$ only their sum counts. For $n$ it does not: the part of $b_h$ stands *inside* the bracket that $r$ is
# put on. So here PyTorch's second bias has a use.
#
# *By hand*: one unit, $x = 1$, $h_{t-1} = 0.5$. $n$ has weights 1 in $U$ and 2 in $W$, and 1 in $b_h$; $z$ has 2 in
# $b_i$; everything else is 0.
#
# | $r = \sigma(0)$ | $z = \sigma(2)$ | $n = \tanh(1 + r\,(2 \cdot 0.5 + 1))$ | $h_t = (1 - z)\,n + z\,h_{t-1}$ |
# |---|---|---|---|
# | 0.5 | 0.881 | $\tanh(2) = 0.964$ | $0.115 + 0.440 = 0.555$ |

# %% [markdown]
# ### Exercise 10.9 · `gru_step`
# *●●○ · 15 minutes · 4 points*
#
# `x (N, D)`, `h (N, H)`, `U (D, 3H)`, `W (H, 3H)`, `b_i (3H,)`, `b_h (3H,)` give the new `h (N, H)`, in PyTorch's
# convention: the reset acts **after** the product with $W$, and $z = 1$ keeps the old state. You may call your `gate`.
#
#
#     x [[1]]   h [[0.5]]   U [[0, 0, 1]]   W [[0, 0, 2]]   b_i [0, 2, 0]   b_h [0, 0, 1]     gives, rounded, [[0.555]]


# %% answer="gru_step"
def gru_step(x, h, U, W, b_i, b_h):
    """One step: x (N, D), h (N, H), U (D, 3H), W (H, 3H), b_i (3H,), b_h (3H,) -> h (N, H)."""
    ### BEGIN SOLUTION
    r, z, _ = np.split(gate(x, h, U, W, b_i + b_h), 3, axis=1)
    x_n, h_n = np.split(x @ U + b_i, 3, axis=1)[2], np.split(h @ W + b_h, 3, axis=1)[2]
    n = np.tanh(x_n + r * h_n)
    return (1 - z) * n + z * h
    ### END SOLUTION


# %% check="gru_step"
check(gru_step)

# %% [markdown]
# Three quarters of an LSTM, $3\,(D H + H H + 2 H)$ numbers. And its way back? You have all the rules. $q$ is short for
# the bracket that $r$ is put on, $q = h_{t-1} W_n + b_{hn}$, where $W_n$ is the third part of $W$. Begin with the last
# line, $h_t = (1 - z) \odot n + z \odot h_{t-1}$, in which each of three things is a factor:
#
# | | reaches it | times its slope |
# |---|---|---|
# | $da_n$ | $dh \odot (1 - z)$ | $1 - n^2$ |
# | $da_z$ | $dh \odot (h_{t-1} - n)$ | $z (1 - z)$ |
# | $h_{t-1}$ | $dh \odot z$ | there is none: this is the GRU's open way |
#
# Below $n$ stands $x_t U + b_i + r \odot q$. So $q$ gets $dq = da_n \odot r$, and $r$ gets the other factor, $da_r =
# da_n \odot q \odot r (1 - r)$. And now the two sides of the sums part: what goes to $x$, $U$ and $b_i$ is
# $[da_r, da_z, da_n]$ side by side, and what goes to $h_{t-1}$, $W$ and $b_h$ is $[da_r, da_z, dq]$.
#
# *By hand*: the step above, with $dh = 10$. $da_n = 10 \cdot 0.119 \cdot (1 - 0.964^2) = 0.084$,
# $da_z = 10 \cdot (0.5 - 0.964) \cdot 0.105 = -0.487$, $da_r = 0.084 \cdot 2 \cdot 0.25 = 0.042$,
# $dq = 0.084 \cdot 0.5 = 0.042$. Two ways lead back to $h_{t-1}$: $10 \cdot 0.881 + 0.042 \cdot 2 = 8.892$. Nearly all of
# the error came along $z$.

# %% [markdown]
# ### Exercise 10.10 · `gru_step_backward`
# *●●● · 20 minutes · 4 points*
#
# Back through one step, from `dh (N, H)`, the whole error of the new h. `x`, `h_prev`, `U`, `W`, `b_i` and `b_h` are
# what the step was given. Return `(dx, dh_prev, dU, dW, db_i, db_h)`. You may call your `gate` and `gru_step`.
#
#     dh [[10]]   x [[1]]   h_prev [[0.5]]   U [[0, 0, 1]]   W [[0, 0, 2]]   b_i [0, 2, 0]   b_h [0, 0, 1]
#     gives, rounded,  dx [[0.084]]   dh_prev [[8.892]]   dU [[0.042, -0.487, 0.084]]   dW [[0.021, -0.244, 0.021]]
#                      db_i [0.042, -0.487, 0.084]   db_h [0.042, -0.487, 0.042]


# %% answer="gru_step_backward"
def gru_step_backward(dh, x, h_prev, U, W, b_i, b_h):
    """Back through one step of the GRU, from dh (N, H).

    x (N, D), h_prev (N, H), U (D, 3H), W (H, 3H), b_i (3H,), b_h (3H,)
    -> dx (N, D), dh_prev (N, H), dU (D, 3H), dW (H, 3H), db_i (3H,), db_h (3H,)
    """
    ### BEGIN SOLUTION
    r, z, _ = np.split(gate(x, h_prev, U, W, b_i + b_h), 3, axis=1)
    x_n, h_n = np.split(x @ U + b_i, 3, axis=1)[2], np.split(h_prev @ W + b_h, 3, axis=1)[2]
    n = np.tanh(x_n + r * h_n)
    da_n = dh * (1 - z) * (1 - n**2)
    da_z = dh * (h_prev - n) * z * (1 - z)
    da_r = da_n * h_n * r * (1 - r)
    to_x = np.concatenate([da_r, da_z, da_n], axis=1)
    to_h = np.concatenate([da_r, da_z, da_n * r], axis=1)
    dh_prev = dh * z + to_h @ W.T
    return to_x @ U.T, dh_prev, x.T @ to_x, h_prev.T @ to_h, to_x.sum(axis=0), to_h.sum(axis=0)
    ### END SOLUTION


# %% check="gru_step_backward"
check(gru_step_backward)

# %% [markdown]
# **Claim:** your two steps, applied through time and back, give what `nn.GRU` and autograd give; and so does the course's
# `gru_backward`, which takes the products of all steps together.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.gates import gru_states
from rnncourse.gates_backward import gru_backward

step, gru_back = use(gru_step), use(gru_step_backward)
rng = np.random.default_rng(2)
T, N, D, units = 60, 5, 7, 11
X, h0, dH = rng.normal(size=(T, N, D)), rng.normal(size=(N, units)), rng.normal(size=(T, N, units))
U, W = rng.normal(size=(D, 3 * units)), rng.normal(size=(units, 3 * units)) / 3
b_i, b_h = rng.normal(size=3 * units), rng.normal(size=3 * units)
H = [h0]
for x in X:
    H.append(step(x, H[-1], U, W, b_i, b_h))
dh, sums = np.zeros_like(h0), [0, 0, 0, 0]
for t in reversed(range(T)):
    _, dh, *parts = gru_back(dH[t] + dh, X[t], H[t], U, W, b_i, b_h)
    sums = [total + part for total, part in zip(sums, parts)]

theirs = load(torch.nn.GRU(D, units, dtype=torch.float64), U, W, b_i, b_h)
inputs = [torch.tensor(array, requires_grad=True) for array in (X, h0[None])]
H_theirs, _ = theirs(*inputs)
(torch.tensor(dH) * H_theirs).sum().backward()
autograd = [inputs[1].grad[0], theirs.weight_ih_l0.grad.T, theirs.weight_hh_l0.grad.T]
autograd += [theirs.bias_ih_l0.grad, theirs.bias_hh_l0.grad]
difference = np.abs(np.stack(H[1:]) - H_theirs.detach().numpy()).max()
print(f"60 steps, 11 units: the largest difference of a state is {difference:.0e}")
assert difference < 1e-6, "Your states and PyTorch's were expected to agree to a millionth; " + answer_above
whole = gru_backward(dH, X, h0, gru_states(X, h0, U, W, b_i, b_h), U, W)[1:]
for who, gradients in (("your steps back", (dh, *sums)), ("gru_backward", whole)):
    difference = max(np.abs(a - b.numpy()).max() for a, b in zip(gradients, autograd))
    print(f"{who} and autograd: the largest difference is {difference:.0e}")
    assert difference < 1e-9, (
        f"The gradients were expected to agree, and they differ by {difference:.0e}; {answer_above}"
    )

# %% [markdown]
# One dial is enough, for to keep *is* not to write. And as before it is the start that decides over long examples.
# **Claim:** trained on a lag of 100 alone, the GRU is right more than 99 times in 100 with a bias of 5 on $z$, and
# guesses with biases of 0.


# %% tags=["experiment", "nbval-ignore-output"]
def draw_gru(rng, units, update_bias=0.0):
    U, W = 0.5 * rng.normal(size=(2 * SYMBOLS, 3 * units)), rng.normal(size=(units, 3 * units)) / np.sqrt(units)
    b_i, b_h = np.zeros(3 * units), np.zeros(3 * units)
    b_i[units : 2 * units] = update_bias
    return {"U": U, "W": W, "b_i": b_i, "b_h": b_h}


def run_gru(p, X):
    h0 = np.zeros((X.shape[1], len(p["W"])))
    states = gru_states(X, h0, p["U"], p["W"], p["b_i"], p["b_h"])
    return states[0], lambda dH: dict(zip(p, gru_backward(dH, X, h0, states, p["U"], p["W"])[2:]))


for bias in track((0.0, 5.0), "training the GRU at a lag of 100"):
    trained[f"GRU, bias {bias:g}"] = p = train(draw_gru, run_gru, (100, 100), update_bias=bias)
    print(f"GRU, a bias of {bias:g} on z: {share_right(p, run_gru, 100):.2f} right at a lag of 100")
assert share_right(p, run_gru, 100) > 0.99, "The GRU was expected to recall over 100 steps; " + answer_above

# %% [markdown]
# Over five seeds: {{one_distance/GRU, update bias 5, lag 100/recalled}} and
# {{one_distance/GRU, biases 0, lag 100/recalled}}.
#
# ### Experiment · short examples, long memory
#
# All of this was about *long* examples. Unit 05 had another idea: train on short ones. Here are the three networks,
# each as plain as can be, all biases 0, no setting turned; 300 updates on lags drawn from 1 to 7; then asked at lags
# from 1 to 1,000. What do you expect from the LSTM that could not learn 30 steps?
#
# **Claim:** trained on lags from 1 to 7 alone, an LSTM whose biases start at 0 holds the symbol for 1,000 steps.
# Trained on a lag of 30 alone, the same LSTM guesses there.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.plots.gates import held_by_lag

asked = (1, 3, 7, 10, 30, 100, 300, 1000)
for name, draw, run in (("plain", draw_plain, run_plain), ("LSTM", draw_lstm, run_lstm), ("GRU", draw_gru, run_gru)):
    p = train(draw, run, (1, 7))
    shares = [share_right(p, run, lag) for lag in asked]
    print(f"{name:5} trained on lags 1 to 7, asked after {asked}: {' '.join(f'{share:.2f}' for share in shares)}")
    assert min(shares[:3]) > 0.95, f"{name}: at the lags of its training it was expected to be right; {answer_above}"
    assert name != "LSTM" or min(shares) > 0.95, "The LSTM was expected to hold on for 1,000 steps; " + answer_above

measured = claimed("10_gates")["short_examples"].values
networks = {"plain": "plain", "LSTM": "LSTM, biases 0", "GRU": "GRU, biases 0"}
show(
    held_by_lag(
        asked,
        {title: [measured[name][f"lag {lag}"] for lag in asked] for title, name in networks.items()},
        trained=(1, 7),
        guess=CHANCE,
    ),
    alt="Three panels, plain, LSTM and GRU: share of right answers against the lag, from 1 to 1,000, on a logarithmic axis; thin "
    "lines for ten seeds, a thick one for their median; the lags of training, 1 to 7, are shaded. All three are at 1 up to "
    "a lag of 10. The LSTM stays at 1 up to 1,000 in all seeds. Of the plain cells and the GRUs some do, and others fall, to "
    "between one half and three quarters.",
)

# %% [markdown]
# An LSTM that halves an error at every step learns from seven steps what to do for a thousand. It has found the push of
# section 5, with gates that are not even open: without $W$ the symbols end
# {{inside/biases 0, lags 1 to 7/apart without W}} apart in $c$, with it
# {{inside/biases 0, lags 1 to 7/apart at the end|.0f}}. What holds is the attractor, and an attractor holds for ever. The
# gradient only had to reach as far as the examples.
#
# | trained on lags 1 to 7, asked at | 30 | 100 | 1,000 |
# |---|---|---|---|
# | plain | {{short_examples/plain/lag 30}} | {{short_examples/plain/lag 100}} | {{short_examples/plain/lag 1000}} |
# | LSTM, biases 0 | {{short_examples/LSTM, biases 0/lag 30}} | {{short_examples/LSTM, biases 0/lag 100}} | {{short_examples/LSTM, biases 0/lag 1000}} |
# | GRU, biases 0 | {{short_examples/GRU, biases 0/lag 30}} | {{short_examples/GRU, biases 0/lag 100}} | {{short_examples/GRU, biases 0/lag 1000}} |
# | GRU, bias 5 on $z$ | {{short_examples/GRU, update bias 5/lag 30}} | {{short_examples/GRU, update bias 5/lag 100}} | {{short_examples/GRU, update bias 5/lag 1000}} |
# | plain, on a lag of 7 alone | {{short_examples/plain, lag 7 alone/lag 30}} | {{short_examples/plain, lag 7 alone/lag 100}} | {{short_examples/plain, lag 7 alone/lag 1000}} |
# | LSTM, biases 0, on a lag of 7 alone | {{short_examples/LSTM, biases 0, lag 7 alone/lag 30}} | {{short_examples/LSTM, biases 0, lag 7 alone/lag 100}} | {{short_examples/LSTM, biases 0, lag 7 alone/lag 1000}} |
# | LSTM, biases 0, on a lag of 30 alone | {{short_examples/LSTM, biases 0, lag 30 alone/lag 30}} | {{short_examples/LSTM, biases 0, lag 30 alone/lag 100}} | {{short_examples/LSTM, biases 0, lag 30 alone/lag 1000}} |
#
# So what do gates add to a plain cell? Here, two things. From short examples an LSTM latches in every seed; with a
# plain cell, and with a GRU that starts at 0, one or two of the four symbols may run together. (It is not for want of
# parameters: a plain cell of 68 units, which has as many as the LSTM, has
# {{short_examples/plain, 68 units/lag 1000}} at 1,000.) The LSTM latches even
# from a lag of 7 alone, in most seeds, where the plain cell builds a clock once more. And from long examples alone, a
# start that keeps and keeps out finds the latch where a plain cell does not.
#
# LSTM or GRU? On most tasks there is little between them. But look back at section 3. A GRU's state that starts between
# $-1$ and $1$ is a mixture of numbers in that range and never leaves it, so **it cannot count** as your counter does.
# Weiss, Goldberg and Yahav showed that this is a difference in what the two can compute, and not just in how well they
# train.

# %% [markdown]
# ## 8 · The same gates elsewhere
#
# | where | the formula there | what to mind |
# |---|---|---|
# | **this course**, PyTorch | LSTM: $i, f, g, o$. GRU: $r, z, n$; $z$ keeps; the reset acts on $h W + b_h$ | PyTorch stores transposes, $(4H, D)$, and two biases |
# | Keras | LSTM: $i, f, c, o$, which is the same order. GRU: $z, r, h$ | `kernel` is $(D, 4H)$, not transposed; the forget bias starts at 1 |
# | A. Ng's course (columns) | $\Gamma_u, \Gamma_f, \Gamma_o$, one matrix each on $[a^{\langle t-1 \rangle}, x^{\langle t \rangle}]$ | $\Gamma_u$ is $i$; $a$ is $h$; state before input |
# | Goodfellow, Bengio & Courville (columns) | $f, g, q$ for forget, input, output; $s$ for $c$ | **their $g$ is a gate**, our $i$; their candidate has a sigmoid |
# | Cho et al. 2014 | GRU, $z$ keeps; candidate $\tanh(W x + U (r \odot h))$ | the reset acts on $h$, **before** the product |
# | Chung et al. 2014; Ng; unit 13 | $h_t = (1 - z)\,h_{t-1} + z\,\tilde h$ | $z$ is **inverted**: 1 renews. $1 - \sigma(a) = \sigma(-a)$: turn the sign of its weights and bias |
#
# You will also meet *peepholes*, through which the gates see $c$ itself, and *coupled* gates, $i = 1 - f$. Greff and
# others tried both on three tasks, and found no clear gain.
#
# Do not believe a table: run it.

# %% tags=["experiment"]
rng = np.random.default_rng(3)
D, units = 3, 4
x, h, c = rng.normal(size=(1, D)), rng.normal(size=(1, units)), rng.normal(size=(1, units))
U, W, b = rng.normal(size=(D, 4 * units)), rng.normal(size=(units, 4 * units)), rng.normal(size=4 * units)
sigmoid = torch.sigmoid


def part(k, *arrays):
    """The columns of the k-th gate."""
    return [array[..., k * units : (k + 1) * units] for array in arrays]


# Ng: one matrix for each gate, (H, H + D), on the column [a; x]
ax = torch.tensor(np.concatenate([h.T, x.T]))
Gu, Gf, candidate, Go = (
    torch.tensor(np.concatenate(part(k, W, U)).T) @ ax + torch.tensor(part(k, b)[0])[:, None] for k in range(4)
)
c_ng = sigmoid(Gf) * torch.tensor(c.T) + sigmoid(Gu) * torch.tanh(candidate)
a_ng = sigmoid(Go) * torch.tanh(c_ng)
h_ours, c_ours = use(lstm_step)(x, h, c, U, W, b)
assert np.allclose(a_ng.numpy().T, h_ours), "Ng's a was expected to be ours; " + answer_above
assert np.allclose(c_ng.numpy().T, c_ours), "Ng's c was expected to be ours; " + answer_above

# Chung: z inverted is ours with the sign of z's columns turned
U, W, b_i, b_h = U[:, : 3 * units], W[:, : 3 * units], b[: 3 * units], rng.normal(size=3 * units)
turned = np.repeat([1, -1, 1], units)
r, z = (1 / (1 + np.exp(-a)) for a in (x @ U + b_i + h @ W + b_h)[0, : 2 * units].reshape(2, 1, units))
(U_n, W_n, b_in, b_hn) = part(2, U, W, b_i, b_h)
chung = z * np.tanh(x @ U_n + b_in + r * (h @ W_n + b_hn)) + (1 - z) * h
assert np.allclose(chung, step(x, h, U * turned, W * turned, b_i * turned, b_h * turned)), (
    "Chung's step was expected to be ours with the sign of z turned; " + answer_above
)

# Cho: the reset before the product is another function, for which no weights of ours will do
cho = (1 - z) * np.tanh(x @ U_n + b_in + (r * h) @ W_n + b_hn) + z * h
assert not np.allclose(cho, step(x, h, U, W, b_i, b_h)), "Cho's step was expected to differ from ours; " + answer_above
print("Ng's LSTM is ours, column for row. Chung's z is ours with its sign turned. Cho's reset is another cell.")

# %% [markdown]
# ## 9 · What went wrong in practice
#
# Weights come from one library and go into another. All shapes fit, nothing complains. Here are two networks that were
# trained for a hundred steps, the LSTM and the GRU, run with each of the wrong steps that the checks of this unit know:
# the same weights, another convention. Before you look: how many of them will still give right answers?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse import exercises


def share_with(step, p, states):
    """The share of right answers at lag 100, if the trained network is run with another step."""
    X, y = recall_batch(np.random.default_rng(99), 100, rows=200)
    now = [np.zeros((200, 32))] * states
    parameters = [array for name, array in p.items() if name not in "Vc"]
    for x in X:
        result = step(x, *now, *parameters)
        now = list(result) if states == 2 else [result]
    return np.mean((now[0] @ p["V"] + p["c"]).argmax(axis=1) == y)


def states_differ(step, right, count):
    """Whether one step with random weights gives other states than the right one."""
    rng = np.random.default_rng(0)
    arguments = [rng.normal(size=shape) for shape in ((3, 4), *[(3, 5)] * (count[0]), (4, count[1]), (5, count[1]))]
    arguments += [rng.normal(size=count[1]) for _ in range(count[2])]
    return not np.allclose(step(*arguments), right(*arguments), atol=1e-3)


survivors, wrong_steps = 0, 0
for cell, count in (("lstm", (2, 20, 1)), ("gru", (1, 15, 2))):  # states, columns, biases
    exercise, p = exercises.find(f"{cell}_step"), trained[TUNED if cell == "lstm" else "GRU, bias 5"]
    print(f"{cell:5} {'right':27} {share_with(exercise.reference, p, count[0]):.2f} right answers")
    for wrong in exercise.misconceptions:
        share, found = share_with(wrong.answer, p, count[0]), states_differ(wrong.answer, exercise.reference, count)
        print(f"      {wrong.name:27} {share:.2f} {'':13} {'other states' if found else 'the same states'}")
        survivors += share > 0.95
        wrong_steps += 1
        assert found, f"{wrong.name} was expected to give other states on random weights."
        assert wrong.name != "order_i_f_o_g" or share < 0.9, f"{wrong.name} was expected to lose the memory."
assert survivors >= 6, f"More than six wrong steps were expected to go unseen, and {survivors} do."
print(f"{survivors} of {wrong_steps} wrong steps are right more than 95 times in 100")

# %% [markdown]
# With $g$ and $o$ exchanged the memory is gone. But many of the wrong steps answer nearly every question: over five
# seeds, {{wrong_steps/trained at lag 100/unseen|.0f}} of {{wrong_steps/trained at lag 100/of|.0f}}. This memory pulls
# itself shut, as you saw in section 5, and so it forgives a lot. A harder task would forgive less, and then you would
# look for the mistake in the data, in the training, everywhere but in a line that has "worked" for months. A single
# step with *random* weights finds every one of them. **Compare states, not answers.**
#
# More bugs to hunt, of the kind that is found in published code. What does each do, and how would you find it?
#
# - `output, h = lstm(x)`, and then `classifier(h)`.
# - Truncated BPTT with `h = h.detach()`, and $c$ carried on as it is.
# - The forget bias set by `bias_ih_l0[:H].fill_(1)`.
# - `np.exp(a) / (1 + np.exp(a))` for a sigmoid, in float32: how large may $a$ be?
# - Between two texts the state is reset: `h = np.zeros_like(h)`.
#
# <details><summary>Answers, when you have thought about them</summary>
#
# For an LSTM the second result is a pair, `(h_n, c_n)`; a classifier that takes it raises an error, and one that takes
# `torch.cat(h)` reads $c$ without asking. If $c$ is not detached, the graph of all earlier chunks hangs on it: PyTorch
# complains of a second backward pass, or the memory grows with each chunk. The first $H$ entries are those of $i$, so
# that bias opens the wrong gate; $f$ is `[H:2*H]`, and `bias_hh_l0` still has what was drawn. In float32 $e^a$ overflows at about 88, and
# the state is nan from then on. In the last, $c$ still holds the first text: reset both.
# </details>

# %% [markdown]
# ## 10 · What you have
#
# Leaving things alone can be the default, if the start makes it so: that is the answer to the question that was open
# twice.
#
# - A **gate** is a layer with a sigmoid, $\Gamma = \sigma(x U + h W + b)$, put on a vector entry by entry.
# - The **LSTM** keeps $c$ and shows $h$: $c_t = f \odot c_{t-1} + i \odot g$ and $h_t = o \odot \tanh(c_t)$. Columns: $i,
#   f, g, o$.
# - Errors go back along $c$ as $dc_{t-1} = dc_t \odot f$: no $W^\top$, no slope. At $c_t$ the way through $h$ is added.
# - That way is only as open as $f$. Started at 0, an LSTM guesses at thirty steps; with a **forget bias** of about
#   $\log T$, and as much below 0 on $i$, it learns over $T$. To remember is to keep *and* to keep out.
# - From short examples it needs no such start: the push through $W$ makes an attractor, and that holds for a thousand
#   steps. The plain cell and the GRU find it too, but not in every seed. Real text *is* full of short examples.
# - In an `nn.LSTM` the forget bias is a quarter of **two** biases, in each layer and each direction.
# - The **GRU** has one state and three quarters of the numbers: $h_t = (1 - z) \odot n + z \odot h_{t-1}$. Columns: $r,
#   z, n$; the reset after the product, inside it a bias of its own. Its open way is $dh_{t-1} = dh_t \odot z + \dots$
# - Orders and conventions differ between libraries, and nothing but a comparison of states will tell you.

# %% [markdown] written="gates_written" points=3
# ### Written question · 3 points
#
# A team predicts failures of a pump from 500 readings, one a minute; what announces a failure may lie eight hours back.
# "The plain network failed, so we took PyTorch's `nn.LSTM`, because LSTMs have no vanishing gradients. It is as bad. We
# will double the hidden size." In about seven sentences: **(a)** why does their reason not hold for an LSTM as PyTorch
# starts it? **(b)** Which single change would you try first, with which number, where exactly in `nn.LSTM`? **(c)** One
# measurement, before any training, that would have shown the problem, with what you expect to see before and after your
# change.
#
# ### BEGIN SOLUTION
# *Model answer.* (a) The LSTM gives errors a way on which they are multiplied by f alone, but f has to be near 1.
# PyTorch draws all biases near 0, so that f is about one half, and after 480 steps (½)^480 of an error is left along c,
# which is nothing, and the ways through h are those of a plain cell. Twice as many units have the same gates near one
# half. (b) Set the forget bias to about log 480 ≈ 6, so that 1 + e^6 ≈ 400 steps are kept: entries H to 2H of
# `bias_ih_l0`, and those of `bias_hh_l0` to 0, since the two are added. (Also of use: a negative bias for i, entries 0
# to H, against the noise of 500 readings. And if some failures announce themselves shortly before, training on short
# stretches first: what is learned there may hold for longer.) (c) Run the untrained network on real inputs, read a loss
# at the last step and measure the size of the error at h and c (or at the inputs) against the distance. Before: a
# straight line downwards on a logarithmic axis, to far below 1e-20 long before 480 steps. After: a curve that stays
# within a few powers of ten of its start.
#
# *Rubric.* **1 point**: the error along c is multiplied by f at each step, and f is about one half at PyTorch's start,
# so it vanishes (½ if f is named without its size). **1 point**: the forget bias, with a number that fits the distance
# (about 5 to 7, with a reason), in the entries H to 2H of one of the two biases (½ if the place or the number is
# missing or wrong). **1 point**: gradient or error against distance, with both outcomes (½ with one). Shortening the
# sequence, by a mean over ten minutes, say, or training on short stretches first, is a good remark, but does not replace
# (b), which asks for a number and a place.
# ### END SOLUTION

# %% [markdown]
# ## Where to read on
#
# - S. Hochreiter, J. Schmidhuber, "Long Short-Term Memory", *Neural Computation* 9, 1997: the cell, without a forget
#   gate yet. F. A. Gers, J. Schmidhuber, F. Cummins, "Learning to Forget", *Neural Computation* 12, 2000: with it.
# - K. Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder for Statistical Machine Translation",
#   *EMNLP* 2014: the GRU. J. Chung et al., "Empirical Evaluation of Gated Recurrent Neural Networks on Sequence
#   Modeling", arXiv:1412.3555, 2014.
# - K. Greff et al., "LSTM: A Search Space Odyssey", *IEEE Transactions on Neural Networks and Learning Systems* 28, 2017:
#   which parts matter, in 5,400 runs. R. Jozefowicz, W. Zaremba, I. Sutskever, "An Empirical Exploration of Recurrent
#   Network Architectures", *ICML* 2015: the case for the forget bias.
# - C. Tallec, Y. Ollivier, "Can Recurrent Neural Networks Warp Time?", *ICLR* 2018: why gates at all, and biases set by
#   the logarithm of the distance.
# - G. Weiss, Y. Goldberg, E. Yahav, "On the Practical Computational Power of Finite Precision RNNs for Language
#   Recognition", *ACL* 2018: LSTMs count, GRUs do not.

# %% [markdown]
# ## Something to show to somebody
#
# For decades, characters were sent over wires with a parity bit behind each: if one bit is turned over on the way, the
# parity is wrong, and the receiver knows. Here is your machine as such a guard. Put in a word of your own, of two to six
# letters from a to z: six are 48 bits, and your machine was checked for 50 steps. One bit is turned over on the way.

# %% tags=["experiment"]
word = "memory"


def parity_of(bits):
    """What the LSTM says after reading all of the bits."""
    U, W, b = (np.asarray(part, dtype=float) for part in odd())
    zeros = np.zeros((1, len(W)))
    _, C, _ = lstm_states(bits[:, None, None].astype(float), zeros, zeros, U, W, b)
    return int(np.round(C[-1, 0, 0]))


sent = np.unpackbits(np.frombuffer(word.encode(), dtype=np.uint8))
received = sent.copy()
received[14] ^= 1
print(f"sent:     {word}")
print(f"received: {np.packbits(received).tobytes().decode(errors='replace')}")
print(f"{len(sent)} bits; parity {parity_of(sent)} at one end of the wire and {parity_of(received)} at the other")
assert parity_of(sent) != parity_of(received), "One bit was expected to turn the parity over; " + answer_above

# %% tags=["experiment"]
progress("10_gates")

# %% [markdown]
# ## The question that this unit leaves open
#
# You have a cell that can hold what it has been told, and you know what it takes. But so far each task brought its own
# way of putting inputs in and reading answers out: an answer at every step for the taggers, one at the end for recall,
# a letter after each letter for the writer. What if there is *one* input and a whole sequence to give, a melody from
# its first note? Or a sequence in and one word out? **Which networks can be built around one and the same core?** That
# is unit 11.
