# %% [markdown]
# # 10 · Gates: LSTM and GRU
#
# **When you are done you will be able to**
#
# - write the LSTM and the GRU from one equation, that of a gate, and show that they are PyTorch's;
# - set the weights of an LSTM by hand, so that it stores, counts, and computes a parity;
# - take an error back through both cells, and say along which path it survives a hundred steps;
# - say what gates add to a plain cell, from long examples and from short ones, and what they owe to their start;
# - set the forget bias of any `nn.LSTM`, and say when it helps.
#
# **Time**: about four hours, best in two sittings (the second begins with section 5). **You need** the cell and its way
# back (units 03 and 04), and what became of errors over long distances (unit 05). There are 10 exercises and two
# written questions, 41 points in all.
#
# In all exercises but `set_forget_bias` you write NumPy, and may not call `torch` or `scipy`. Answers keep their arguments'
# dtype and leave them as they are. What experiments train and measure stands in `rnncourse.experiments.gates`.

# %% locked="setup"
import numpy as np
import torch

from rnncourse import check, hint, progress, track, use

np.set_printoptions(precision=3, suppress=True)

# %% tags=["experiment"]
progress("10_gates")

# %% [markdown]
# ## The question that was left open, twice
#
# **Unit 05** found a wall: trained on thirty steps of noise and nothing else, a plain cell guessed which of four symbols
# stood before them. In **unit 09** two taggers had lost the sign that opens a comment, forty letters on. Other examples
# helped. But if you have only long ones, an error must come all the way back, and at *every* step the plain cell has put
# its whole state through $W$ and a tanh.
#
# What if leaving things alone were the *default*, and a change needed a reason? Then the cell needs a part that says,
# for each number of the state and at each step: now, or not now.

# %% [markdown]
# ## 1 · A gate
#
# A **gate** is a layer like that of unit 03, but its sum goes through the sigmoid, so each of its outputs lies between 0
# and 1:
#
# $$\Gamma = \sigma(x\,U + h\,W + b), \qquad \sigma(a) = \frac{1}{1 + e^{-a}}$$
#
# | $a$ | $-20$ | $-2$ | 0 | 1 | 2 | 5 | 20 |
# |---|---|---|---|---|---|---|---|
# | $\sigma(a)$ | 0.000000002 | 0.119 | 0.5 | 0.731 | 0.881 | 0.993 | 0.999999998 |
#
# Multiply a vector by it, entry by entry, and each entry passes (1), is held back (0), or passes in part. The gate
# *learns* what to look for: the sigmoid has a slope everywhere, a switch has none. The bias $b$ says what it does when
# nothing speaks for or against.
#
# *By hand*: $x=1$, $h=2$, $U=3$, $W=-1$, $b=-1$ give $a=3-2-1=0$: the gate is half open.
#
# One trap: for large $a$, $e^a$ is `inf`, and $e^a/(1+e^a)$ is `nan`, as is every state after it. $1/(1+e^{-a})$ is
# safe: $1/(1+\infty)=0$ is right.

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
# That is the only new part. (NumPy may warn that `exp` overflows; the result is right.) The rest is wiring.

# %% [markdown]
# ## 2 · A state that is left alone
#
# The **LSTM**, *long short-term memory*, has two states. $c$ is what the cell **keeps**, and $h$ is what it **shows**:
# to the layer above, and to itself at the next step. $c$ goes from step to step on a way of its own, where there is no
# $W$ and no tanh:

# %% tags=["experiment"]
from rnncourse.plots import show
from rnncourse.plots.gates import lstm_cell

show(lstm_cell())

# %% [markdown]
# Read the thick line from left to right. **Forget**: the old $c$ is multiplied by the gate $f$. **Write**: something new
# is added, the candidate $g$, as far as the gate $i$ lets it in. **Show**: a copy of $c$ goes through a tanh, and the
# gate $o$ says how much of it is seen.
#
# $$
# \begin{aligned}
# i, f, o &= \sigma(x_tU+h_{t-1}W+b) && \text{three gates: input, forget, output}\\
# g &= \tanh(x_tU+h_{t-1}W+b) && \text{the candidate}\\
# c_t &= f\odot c_{t-1}+i\odot g && \text{forget, then write}\\
# h_t &= o\odot\tanh(c_t) && \text{show}
# \end{aligned}
# $$
#
# Each of the four has **columns of its own** in $U$ $(D, 4H)$, $W$ $(H, 4H)$ and $b$ $(4H,)$. They stand side by side, in
# PyTorch's order $i, f, g, o$: the first $H$ columns are those of $i$, and so on. One product gives all four sums.
#
# $g$ is no gate: what is written must be able to be negative. $c$ has no bound; the tanh in the last line keeps what is
# shown between $-1$ and $1$. Mind the name: the "forget" gate *keeps* when it is 1.
#
# *By hand*: one unit, $x=1$, $h_{t-1}=0$, $c_{t-1}=3$. $W$ is 0. Only $g$ looks at the input, with a weight of 1, and only
# $f$ has a bias, 2. Then $i=o=\sigma(0)=0.5$, $f=\sigma(2)=0.881$, $g=\tanh(1)=0.762$, and so $c_t=0.881\cdot3+0.5\cdot0.762=
# 3.023$ and $h_t=0.5\tanh(3.023)=0.498$.

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
# You own the cell on which speech recognition and translation ran for years. Now through time:

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
# `nn.LSTM` gets the same random weights, and both read the same inputs. **Guess**: how far apart are the states?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.gates_torch import lstm_beside_torch

differences = lstm_beside_torch(use(lstm_forward))
for name, largest in differences.items():
    print(f"{name}: the largest difference is {largest:.0e}")

# %% tags=["author"]
assert max(differences.values()) < 1e-6, "The states and PyTorch's were expected to agree."

# %% [markdown]
# **Claim:** with the weights transposed, and $b$ in one of PyTorch's two biases, `nn.LSTM` gives your states, to a
# millionth and better.

# %% [markdown]
# ## 3 · Machines by hand
#
# A gate that *you* set can be a valve: with a bias of 20 it is open to eight digits, with $-20$ closed, and an input with
# a weight of 40 turns it from one to the other. With such valves one unit of an LSTM is a machine that you can read like
# a circuit. All start from states of zeros, and what they compute stands in `c_n[:, 0]`.
#
# Here is a test bench, and on it a machine `(U, W, b)` that writes 1 whenever it reads a 1, and forgets 12% at each
# step: a leaky sum, as in unit 02. *Try* your own machines on it before you check them.

# %% tags=["experiment"]
from rnncourse.experiments.gates import reading
from rnncourse.plots.gates import gates_over_time

leaky = [[0, 0, 20, 0]], [[0, 0, 0, 0]], [20, 2, 0, 20]  # i, f, g, o; f is σ(2)
show(gates_over_time(*reading(leaky, {"x": [0, 1, 0, 0, 1, 1, 0, 0, 0, 0]})))

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
# In the check, `memory['1 1 1']` is what stands in `c` after each step while 1, 1, 1 is read.


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

# %% tags=["experiment"]
x = [0, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 0]
show(gates_over_time(*reading(use(counter)(), {"x": x})))

# %% [markdown]
# (Other gates than ours may be open in yours; all that counts is $c$.) A plain cell's state stays between $-1$ and $1$,
# and fifty counts would have to be squeezed in there. $c$ has no bound and is only *added to*.
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
from rnncourse.plots.films import gates_film

reads = {
    "set": [0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0],
    "reset": [0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0],
}
gates_film(*reading(use(latch)(), reads)).show(
    "A memory between three gates drawn as shutters, beside a table that grows.",
    title="A latch while it reads",
)

# %% [markdown]
# Between two inputs nothing happens to $c$: it is left alone.
#
# The last machine has to look at what it holds. The **parity** of a sequence is 1 if the number of ones so far is odd.
# A zero leaves it, a one turns it over: it becomes $1 - c$. But no gate ever sees $c$; it sees $h = o \odot \tanh(c)$,
# through $W$. With the output gate open, $h$ is 0 for $c = 0$, and $\tanh(1) = 0.76$ for $c = 1$.

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
from rnncourse.experiments.gates import read_off

odd = use(parity)()
show(gates_over_time(*reading(odd, {"x": x})))
bits = np.random.default_rng(0).integers(0, 2, size=5_000)
right = read_off(odd, bits) == bits.cumsum() % 2
print(f"right at {right.sum():,} of {len(bits):,} steps")

# %% [markdown]
# Parity is the classic hard case: one mistake anywhere turns the answer over. Twelve numbers get it right for 5,000
# steps, because each 1 that is read writes the stored bit afresh. (If your valves leak more than ours, yours may be
# right for 50 only.)
#
# You have shown what an LSTM *can* hold. Whether it can *learn* to, from long examples, is a question about its gradient.

# %% [markdown]
# ## 4 · The way back
#
# Forwards, $c_t = f \odot c_{t-1} + i \odot g$. So an error that sits at $c_t$ goes back along the thick line as
#
# $$dc_{t-1} = dc_t \odot f$$
#
# and that is all that happens to it on this way: no $W^\top$, no slope of a tanh. Where $f$ is 1, it arrives as it was,
# after one step or after a hundred. Here is the unrolled cell with the errors' ways drawn in, and a plain cell below it:

# %% tags=["experiment"]
from rnncourse.plots.gates import error_flow

show(error_flow())

# %% [markdown]
# Now one step. Two errors come in from the right: $dh$, from the output and from the gates of the next step, and $dc$,
# from the next step's $c$. First bring them together at $c_t$. It is read twice, so it gets a **sum**:
#
# $$dc \leftarrow dc+dh\odot o\odot(1-\tanh^2 c_t)$$
#
# From there to the four sums below the gates. Each product gives to one factor the error times the *other* factor; then
# comes the slope, $y(1-y)$ for a sigmoid whose result is $y$, and $1-y^2$ for a tanh:
#
# $$
# \begin{aligned}
# da_i &= dc\odot g\odot i(1-i) & da_f &= dc\odot c_{t-1}\odot f(1-f)\\
# da_g &= dc\odot i\odot(1-g^2) & da_o &= dh\odot\tanh c_t\odot o(1-o)
# \end{aligned}
# $$
#
# Put the four side by side, $da=[da_i,da_f,da_g,da_o]$, of shape $(N, 4H)$. The rest you know from unit 04:
# $dx=da\,U^\top$, $dh_{t-1}=da\,W^\top$, $dU=x^\top da$, $dW=h_{t-1}^\top da$, and $db$ is the sum of the rows.
#
# *By hand*: the step of section 2, with $dh=1$ and $dc=2$. At $c_t$: $2+1\cdot0.5\cdot(1-0.995^2)=2.005$.
# $da_f=2.005\cdot3\cdot0.881\cdot0.119=0.631$; the others are $da_i=0.382$, $da_g=0.421$ and $da_o=0.249$. And
# $dc_{t-1}=2.005\cdot0.881=1.766$.

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
# You have the hardest derivative of the course behind you. From here on the course's `lstm_backward` walks back over all
# steps, with their products taken together. Both beside PyTorch's autograd, over twelve steps:

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.gates_torch import lstm_gradients_beside_torch

differences = lstm_gradients_beside_torch(use(lstm_step_backward))
for name, largest in differences.items():
    print(f"{name}: at most {largest:.0e} from autograd")

# %% tags=["author"]
assert max(differences.values()) < 1e-10, "The gradients were expected to be autograd's."

# %% [markdown]
# ### Experiment · how far does an error get?
#
# 64 units, drawn at random, read random inputs; nothing is trained. We follow the error from the last step back over 100
# steps, for the LSTM the size of $dh_t$ and $dc_t$ together. Its curves differ in the **forget bias** only, the part of
# $b$ that belongs to $f$. One more curve follows the error along $c$ alone: $dc \odot f$, step by step.
#
# **Guess**: of an error of 1, how much is left after 100 steps with a forget bias of 0, of 3, of 5? And is the
# whole error larger than the one along $c$ alone, or smaller?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.gates import error_sizes
from rnncourse.plots import Slider, explore
from rnncourse.plots.gates import error_chart

back = use(lstm_step_backward)
curves = {f"LSTM, forget bias {b}": error_sizes("LSTM", b, back) for b in (5, 3, 0)}
curves["bias 3, along c alone"] = error_sizes("LSTM along c", 3)
curves["plain, ρ = 1.5"] = error_sizes("plain, 1.5")
curves["plain, orthogonal"] = error_sizes("plain")
explore(
    lambda bias: error_chart({"LSTM": error_sizes("LSTM", bias, back)}, (1e-20, 1e2)),
    error_chart(curves),
    bias=Slider("forget bias", 0.0, 6.0, 2.0, step=1.0),
)

# %% tags=["author"]
left = {name: sizes[-1] for name, sizes in curves.items()}
assert max(left["LSTM, forget bias 0"], left["plain, orthogonal"]) < 1e-12, "Next to nothing was expected to be left."
assert left["plain, ρ = 1.5"] < 1e-6, "Less than a millionth was expected to be left."
assert left["LSTM, forget bias 3"] > 0.01 > left["bias 3, along c alone"], "Bias 3 was expected to bring a hundredth."
assert left["LSTM, forget bias 5"] > 1, "With a bias of 5 the error was expected to have grown."

# %% [markdown]
# **Claim:** with a forget bias of 0, the LSTM loses its errors as fast as a plain cell. With a bias of 3, more than a
# hundredth of the error arrives 100 steps back; in these plain cells, on these inputs, less than a millionth.
#
# So it is *not* the wiring alone. With biases of zero the gates are near one half, and one half to the power 100 is
# nothing. The forget bias, $b_f$, opens the way: along $c$ an error is multiplied by about $\sigma(b_f)$ at each step, and
# falls to a third ($1/e$) in about $1/(1-\sigma(b_f))=1+e^{b_f}$ steps, the **time constant** of this way: 2 for a bias of
# 0, 4 for 1, 21 for 3, 149 for 5.
#
# With a bias of 3 the whole error stays level where the line along $c$ falls: the rest comes through the gates and $W$.
# On these ways errors can grow: with a bias of 5 the error ends larger than it began. Gates do not replace clipping.

# %% [markdown]
# ### The same idea through depth
#
# A stack of layers has the trouble of a chain of steps. A **highway** layer (Srivastava, Greff and Schmidhuber, 2015)
# takes over the gate: $h \leftarrow z\odot h+(1-z)\odot F(h)$. A **residual** layer (He and others, 2016; you met
# it in unit 08) just adds, $h \leftarrow h+F(h)$: an error goes back as it is, plus what comes through $F$. Every block of a
# transformer has such sums.
#
# Why not through time? **Guess** what becomes of the error in 100 steps of $h_t = h_{t-1}+\tfrac{1}{10}
# \tanh(x_tU+h_{t-1}W)$.

# %% tags=["experiment", "nbval-ignore-output"]
sums = {"added": error_sizes("residual")}
sums |= {name: curves[name] for name in ("LSTM, forget bias 3", "plain, orthogonal")}
show(error_chart(sums))

# %% [markdown]
# It does not vanish; it grows, here to more than ten times its size. Adding alone is a forget gate that is 1 for ever:
# nothing is ever cleared. Through time one wants to keep *and* to be able to forget.

# %% [markdown]
# ## 5 · A hundred steps of noise
#
# ### Experiment · who still answers?
#
# The task of unit 05: a symbol, a hundred steps of noise, then the question which of four symbols it was. Four networks of 32
# units get the same 200 updates by Adam at this lag and no other: a plain cell with an orthogonal $W$; an LSTM with all
# biases 0; one with a forget bias of 1, a common advice; and one with 5 for the forget gate and $-5$ for the input gate, so
# that both leave $c$ alone. The LSTMs answer with *your* step.
#
# **Guess**: which of them will answer? Put their names into `mine`.

# %% tags=["experiment", "nbval-ignore-output"] dials="lag = 30; lag = 10"
from rnncourse.experiments.gates import STARTS, ours, recall_after_training
from rnncourse.plots.gates import shares

lag = 100
mine = {"plain"}  # your guess: some of STARTS
step = use(lstm_step)
recalled = {}
for start in track(STARTS, "training"):
    recalled[start] = recall_after_training(start, lag, step)
show(shares(recalled, ours=ours(lag), guessed=mine, chance=0.25))

# %% tags=["author"]
assert recalled["LSTM, biases 5 and −5"] > 0.99, "The LSTM was expected to recall over 100 steps."
assert lag < 100 or max(recalled[start] for start in STARTS[:3]) < 0.5, "The others were expected to guess."

# %% [markdown]
# **Claim:** at a lag of 100 the LSTM is right more than 99 times in 100 with biases of 5 and $-5$, and guesses with
# biases of 0, as the plain cell does.
#
# It held in {{held gates_from_long}} seeds. (Claims are counted over twenty seeds, those about taggers over five.) So it
# was not the LSTM that did it. It was the LSTM *and* its start. *Try* a lag of 30, and one of 10 (without our range: that
# was measured at 100). Which come back?
#
# Is that fair to the plain cell? With inputs turned down to a fifth, which helped it most of all we tried, it is right in
# {{hundred_steps/plain, quiet inputs/recalled}} (the median and the range over seeds). But
# ask one or two steps earlier or later: at the worst of these four lags it is right in
# {{hundred_steps/plain, quiet inputs/beside}}. It has built a *clock*, a state that points the right way when the time is
# due. The LSTM with 5 and $-5$ has {{hundred_steps/LSTM, biases 5 and −5/beside}} there.

# %% [markdown]
# ### Experiment · inside
#
# We take the LSTM with 5 and $-5$, trained at a lag of 100, show it each of the four symbols with the same noise behind
# it, and look at $c$. **Guess**: draw the size of $c$ over the hundred steps, and next to it that of $h$. Is the symbol written at once?
# Does $c$ then stand still?

# %% tags=["experiment", "nbval-ignore-output"] dials="steps = 400"
from rnncourse.experiments.gates import (
    LSTM_5,
    apart,
    apart_without_W,
    for_each_symbol,
    trained_at_one_lag,
)
from rnncourse.plots.gates import kept_by_symbol

steps = 100
p = trained_at_one_lag(LSTM_5, lag=100)
X, H, C, (i, f, g, o) = for_each_symbol(p, steps)
show(kept_by_symbol(C, H, "ABCD"))
print(f"apart by {apart(C[0]):.2f} after the symbol, by {apart(C[-1]):.0f} at the end")
print(f"with W set to 0 after the symbol: {apart_without_W(p, steps):.2f} at the end")

# %% [markdown]
# The symbol leaves a faint mark, since the input gate began nearly closed. What stands in $c$ shows in $h$, and $h$,
# through $W$, writes more of the same. Without $W$ the mark is only *held*.
#
# And it goes on writing. *Try* 400 steps: $h$ stands still, and $c$ grows. Is this a state that is pulled back to its
# place, like the latch of unit 03? Measure it: halve $c$ once, after 100 steps, and run on over the same noise, with and
# without this push. **Guess**: how much of the difference is left after 100 more steps, in $c$ and in $h$?

# %% tags=["experiment", "nbval-ignore-output"] dials="at = 20; times = 2.0; times = -0.5; times = 1.0"
from rnncourse.experiments.gates import after_push
from rnncourse.plots.gates import push_chart

at = 100  # after so many steps,
times = 0.5  # c is multiplied by this
in_c, in_h = after_push(p, at, times)
show(push_chart({"in c": in_c, "in h": in_h}))

# %% [markdown]
# (In $c$, 1 is the push itself; in $h$, 1 is the size of $h$.)
#
# **Claim:** the largest entry of $c$ grows by more than a half at each step, up to a thousand steps. Of a push that halves
# it, nothing is undone in 300 steps, and after 100 it changes $h$ by less than a tenth.
#
# ({{held counts_on}} seeds.) So it is no latch: nothing pulls $c$ back. It is a counter that counts on in the direction of
# its symbol, and the tanh hides that from everybody who looks at $h$ only.
#
# Is the memory in $c$? Without $h$, set to zero after 20 steps, it is right in
# {{hundred_steps/LSTM, biases 5 and −5/h wiped}}, since the next step makes a new one out of $c$; without $c$ in
# {{hundred_steps/LSTM, biases 5 and −5/c wiped}}. *Try* a push at step 20, or one by $-0.5$.

# %% [markdown]
# ### Experiment · how far the forget bias reaches
#
# Now turn the dial: a forget bias from 0 to 3, and minus that for the input gate, at a lag of 30. **Guess**, from the
# time constants: which bias is the least that will do? And which at a lag of 100?

# %% tags=["experiment", "nbval-ignore-output"] dials="lag = 10; biases = (1.5, 2.5)"
from rnncourse.experiments.gates import by_bias_measured, recall_with_biases
from rnncourse.plots.gates import by_bias

lag = 30
biases = (0, 1, 2, 3)
mine = {b: recall_with_biases(lag, b, -b) for b in track(biases, "training")}
show(by_bias(by_bias_measured(), yours={lag: mine}))

# %% tags=["author"]
assert biases != (0, 1, 2, 3) or lag != 30 or mine[3] > 0.95 > 0.6 > mine[0], (
    "A bias of 3 was expected to do for 30 steps, and none not to."
)

# %% [markdown]
# (Dots are our seeds, diamonds your runs.)
#
# **Claim:** a forget bias of the logarithm of the lag, rounded down to a whole number, is enough at lags of 10, 30 and 100.
# At 100 a bias of 2 is not enough.
#
# ({{held forget_bias}} seeds.) With $b_f$ the logarithm of the lag, the time constant $1+e^{b_f}$ is about the lag.
# PyTorch starts all biases near 0, Keras the forget bias at 1, as Jozefowicz and others advise. Here 1, with $-1$ for the
# input gate, does for a lag of 10, and not for 30.

# %% [markdown]
# ### Experiment · is keeping enough?
#
# At a lag of 100, with a forget bias of 4, turn the *input* gate alone: a bias of $-4$, nearly closed, or 0, half open.
# **Guess**: before any training, what is in $c$ after a hundred steps of noise, and how steep is the tanh there?

# %% tags=["experiment", "nbval-ignore-output"] dials="forget_bias = 5.0"
from rnncourse.experiments.gates import slope_before

forget_bias = 4.0
for input_bias in (0.0, -4.0):
    slope = slope_before(forget_bias, input_bias)
    share = recall_with_biases(100, forget_bias, input_bias)
    print(f"input bias {input_bias:2g}: slope {slope:.2f}, then {share:.2f} right")

# %% [markdown]
# **Claim:** with a forget bias of 4 the LSTM learns to recall over 100 steps if the input bias is $-4$. If it is 0, it is
# right less often.
#
# It held in {{held keep_and_keep_out}} seeds: with the input gate half open the LSTM is right in
# {{bias_by_lag/lag 100, forget 4, input 0/recalled}}.
#
# A cell that keeps everything keeps the noise, too: it piles up in $c$ until the tanh is flat, and through a flat tanh
# neither the symbol gets out nor an error in. So **remembering is two things: to keep, and to keep out.** That is why 5
# went with $-5$. (Tallec and Ollivier start both gates so, and derive the logarithm.)

# %% tags=["experiment", "nbval-ignore-output"] dials="change = {\"input_bias\": 0.0}; change = {\"updates\": 50}"
from rnncourse.experiments.breaking import one_change

claim = {"lag": 30, "forget_bias": 3.0, "input_bias": -3.0}
change = {"forget_bias": 1.0}
print(one_change(recall_with_biases, claim, change, seeds=range(50, 53)))

# %% [markdown] written="gates_break" points=3
# ### Written question 1 · break this claim
# *3 points, graded by hand; 25 minutes*
#
# As in unit 05, section 8: choose a claim about biases, say what you expect, change **one** setting of
# `recall_with_biases` (`updates` is one, too), and hand in the table, your verdict, a reason, and what would make you
# surer.
#
# ### BEGIN SOLUTION
# **Model answer.** The claim: with a forget bias of 4 and an input bias of 0 the LSTM is right less often at a lag of 100
# than with −4. I change the updates from 200 to 600 and expect that patience does not help, because through a flat tanh
# hardly an error comes. The table of `one_change(recall_with_biases, {"lag": 100, "forget_bias": 4.0, "input_bias": 0.0},
# {"updates": 600}, seeds=range(50, 55))` has 0.26 (0.23 to 0.99) before and 0.24 (0.23 to 1.00) after. Verdict: the claim
# stands for three times the updates in most seeds; in at least one of five the network learns all the same, and did so
# within 200 updates, so "guesses" would say too much, and "less often" is right. A reason for the one may be that the
# symbol wrote larger numbers into $c$ than the noise did; that is a guess. To be surer I would measure the slope of the
# tanh before training in twenty new seeds, and see whether those that learn begin with a steeper one.
#
# **Rubric.** 1 point: one setting changed and named, with an expectation of before the run, and a table with settings,
# seeds and figures of both columns, over three seeds at least (½ if the seeds or the column of the claim are missing).
# 1 point: a verdict that follows from the figures, ranges included, and does not say more than they do (½ if it rests on
# medians alone where ranges overlap). 1 point: a reason for what came, marked as a guess unless it was measured (½), and
# a further run that could refute it (½).
# ### END SOLUTION

# %% [markdown]
# ## 6 · The same in PyTorch
#
# What you have set in $b$ by hand has to go into an `nn.LSTM`, and there it is easy to miss:
#
# - `weight_ih_l0` $(4H, D)$ is our $U$, transposed: the rows of $i$, of $f$, of $g$, of $o$;
# - `weight_hh_l0` $(4H, H)$ is our $W$, transposed;
# - `bias_ih_l0` and `bias_hh_l0`, $(4H,)$ each, are **two** biases: our $b$ is their sum.
#
# That makes $4(DH+HH+2H)$ numbers. A second layer has four more arrays, ending in `_l1`, and with `bidirectional=True` each
# has a twin, ending in `_reverse`. All are drawn from $-1/\sqrt H$ to $1/\sqrt H$: in an `nn.LSTM` as it comes, $f$ is
# about one half.

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
# ### Experiment · unit 09's tagger, with an LSTM
#
# In unit 09 a plain cell read Python source, letter by letter, and said of each whether it stands in a comment. Here is
# the same tagger, on half of that text, with three cores of as many parameters: a plain cell, an
# LSTM as PyTorch draws it, and the same with a forget bias of 5, set by your function. We look at held-out comments whose
# `#` is in view. How many of their characters are taken for a comment? **Guess** an order of the three.

# %% tags=["experiment", "nbval-ignore-output"] dials="epochs = 15"
from rnncourse.experiments.bidirectional_torch import comments_known
from rnncourse.experiments.gates import tagger_measured
from rnncourse.experiments.gates_torch import CORES, train_tagger

epochs = 5
set_bias = use(set_forget_bias)
known = {}
for core in track(CORES, "training"):
    known[core] = comments_known(train_tagger(core, epochs, 0, set_bias))
characters = "share of these characters taken for a comment"
show(shares(known, ours=tagger_measured("known", epochs), xlabel=characters))

# %% [markdown]
# Over our five seeds the plain cell knows {{tagger/plain, 96 units, 5 epochs/known|range .2f}} of them after five epochs, the LSTM
# {{tagger/LSTM, 43 units, 5 epochs/known|range .2f}}, and with a forget bias of 5
# {{tagger/LSTM, forget bias 5, 5 epochs/known|range .2f}}. *Try* fifteen epochs for all three.
#
# **Claim:** after fifteen epochs each of the three taggers knows more than eight in ten of these characters, the plain cell,
# too.
#
# It held in {{held tagger_learns}} seeds. Gates got there sooner in some seeds; they are no other kind of memory. And a forget bias of 5
# does not help.
#
# If the line behind the sign is *code*, it is harder: of the last eight of forty letters the LSTM then takes
# {{tagger/LSTM, 43 units, 15 epochs/of the last eight|range .2f}} for a comment. In unit 09 a *plain* tagger began to hold on as
# soon as a fifth of the lines asked for it. **Gates make it easier to learn what the examples ask for. They do not ask.**

# %% [markdown]
# ## 7 · One state, two gates
#
# An LSTM has four times the numbers of a plain cell, and two of its gates serve one decision: to keep or to write. The
# **GRU**, the *gated recurrent unit*, has one state. One gate $z$ does the work of $f$ and $i$: what is kept is $z$, what
# is renewed is $1-z$. A second gate $r$ says how much of the old state the candidate $n$ may look at.

# %% tags=["experiment"]
from rnncourse.plots.gates import gru_cell

show(gru_cell())

# %% [markdown]
# $$
# \begin{aligned}
# r, z &= \sigma(x_tU+b_i+h_{t-1}W+b_h) && \text{two gates: reset, update}\\
# n &= \tanh\big(x_tU+b_i+r\odot(h_{t-1}W+b_h)\big) && \text{the candidate}\\
# h_t &= (1-z)\odot n+z\odot h_{t-1} && \text{a mixture of new and old}
# \end{aligned}
# $$
#
# Columns again, in PyTorch's order $r, z, n$: $U$ is $(D, 3H)$, $W$ is $(H, 3H)$, and there are two biases of $3H$, $b_i$ on
# the input's side and $b_h$ on the state's. For $r$ and $z$ only their sum counts. For $n$ it does not: its part of $b_h$
# stands *inside* the bracket that $r$ is put on.
#
# *By hand*: one unit, $x=1$, $h_{t-1}=0.5$. $n$ has weights 1 in $U$ and 2 in $W$, and 1 in $b_h$; $z$ has 2 in
# $b_i$; everything else is 0. Then $r=\sigma(0)=0.5$, $z=\sigma(2)=0.881$, $n=\tanh(1+0.5\,(2\cdot0.5+1))=0.964$,
# and $h_t=0.115+0.440=0.555$.

# %% [markdown]
# ### Exercise 10.9 · `gru_step`
# *●●○ · 15 minutes · 4 points*
#
# `x (N, D)`, `h (N, H)`, `U (D, 3H)`, `W (H, 3H)`, `b_i (3H,)`, `b_h (3H,)` give the new `h (N, H)`, in PyTorch's
# convention: the reset acts **after** the product with $W$, and $z = 1$ keeps the old state. You may call your `gate`.
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
# Three quarters of an LSTM, $3(DH+HH+2H)$ numbers. Now its way back. $q$ is short for the bracket that $r$ is put on,
# $q = h_{t-1}W_n + b_{hn}$, where $W_n$ is the third part of $W$. In the last line, $h_t = (1-z)\odot n + z\odot h_{t-1}$, each
# of three things is a factor:
#
# $$
# da_n = dh\odot(1-z)\odot(1-n^2) \qquad da_z = dh\odot(h_{t-1}-n)\odot z(1-z) \qquad dh_{t-1} = dh\odot z + \dots
# $$
#
# The last is the GRU's open way. Below $n$ stands $x_tU + b_i + r\odot q$. So $q$ gets $dq = da_n\odot r$, and $r$ gets
# the other factor, $da_r = da_n\odot q\odot r(1-r)$. Now the two sides of the sums part: what goes to $x$, $U$ and
# $b_i$ is $[da_r, da_z, da_n]$ side by side, and what goes to $h_{t-1}$, $W$ and $b_h$ is $[da_r, da_z, dq]$.
#
# *By hand*: the step above, with $dh=10$. $da_n=10\cdot0.119\cdot(1-0.964^2)=0.084$,
# $da_z=10\cdot(0.5-0.964)\cdot0.105=-0.487$, $da_r=0.084\cdot2\cdot0.25=0.042$, $dq=0.084\cdot0.5=0.042$. Two ways lead
# back to $h_{t-1}$: $10\cdot0.881+0.042\cdot2=8.892$.

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
# Your two steps, 60 steps long and back, and the course's `gru_backward`, beside `nn.GRU` and autograd:

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.gates_torch import gru_beside_torch

differences = gru_beside_torch(use(gru_step), use(gru_step_backward))
for name, largest in differences.items():
    print(f"{name}: the largest difference is {largest:.0e}")

# %% tags=["author"]
assert max(differences.values()) < 1e-6, "The states and gradients were expected to be PyTorch's."

# %% [markdown]
# ### Experiment · does the GRU need its start?
#
# 200 updates at a lag of 100, as in section 5, with a bias of 0 and of 5 on $z$. **Guess** both shares of right answers.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.gates import GRU, GRU_5, run_gru, share_right

trained = {name: trained_at_one_lag(name, 100) for name in (GRU, GRU_5)}
recalled = {name: share_right(trained[name], run_gru, 100) for name in trained}
show(shares(recalled, ours=ours(100), chance=0.25))

# %% [markdown]
# **Claim:** trained on a lag of 100 alone, the GRU is right more than 99 times in 100 with a bias of 5 on $z$, and
# guesses with biases of 0.
#
# It held in {{held gru_from_long}} seeds. One bias is enough, for in a GRU to keep *is* not to write.

# %% [markdown]
# ### Experiment · short examples, long memory
#
# Unit 05 had another idea: train on *short* examples. Here are three networks with all biases 0; 300 updates on lags drawn
# from 1 to 7; then asked at lags from 1 to 1,000. **Guess**: where will the LSTM fail, that could not learn 30 steps?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.gates import (
    HELD_OUT,
    LSTM,
    NETWORKS,
    PLAIN,
    held_measured,
    trained_on,
)
from rnncourse.plots.gates import held_by_lag

print("lag           ", *(f"{lag:4}" for lag in HELD_OUT), sep="  ")
for name in track((PLAIN, LSTM, GRU), "training"):
    short, run = trained_on(name, (1, 7), updates=300), NETWORKS[name][1]
    at_each = (f"{share_right(short, run, lag):.2f}" for lag in HELD_OUT)
    print(f"{name:14}", *at_each, sep="  ")
show(held_by_lag(HELD_OUT, held_measured(), trained=(1, 7), guess=0.25))

# %% [markdown]
# **Claim:** trained on lags from 1 to 7 alone, an LSTM whose biases start at 0 holds the symbol for 1,000 steps.
# Trained on a lag of 30 alone, the same LSTM guesses there.
#
# ({{held lstm_from_short}} seeds.) An LSTM whose gates start half open learns from seven steps what to do for a thousand.
# Many of the plain cells and GRUs do so, too (the picture counts them); the others lose one or two symbols. It is not for want of parameters: a plain
# cell with as many as the LSTM is right in {{short_examples/plain, 68 units/lag 1000}} at 1,000.
#
# On average the $f$ of these LSTMs is {{short_examples/LSTM, biases 0/f|median .2f}}. How far open is it where $c$ is large? And do
# they count on, like that of section 5? **Guess**. Here is the push again, for both.

# %% tags=["experiment", "nbval-ignore-output"] dials="times = 2.0; times = 0.0"
from rnncourse.experiments import beside
from rnncourse.experiments.gates import gates_open

times = 0.5
short = trained_on(LSTM, (1, 7), updates=300)
where_large = "f weighted by |c|"
place = f"10_gates:short_examples/{LSTM}/{where_large}"
print(where_large, beside(place, gates_open(short)[where_large]))
long_c, short_c = (after_push(one, at=100, times=times)[0] for one in (p, short))
both = {"5 and −5,\nlag 100": long_c, "biases 0,\nlags 1 to 7": short_c}
show(push_chart(both, "left of the push in c"))

# %% [markdown]
# Where $c$ is large the gates are open. And this one is pulled back, slowly:
# {{short_examples/LSTM, biases 0/push left in c, 100|range .2f}} of the push are left after 100 steps,
# {{short_examples/LSTM, biases 0/push left in c, 300|range .2f}} after 300. What holds here is an attractor, as in the
# latch of unit 03, and the gradient only had to reach as far as the examples. Nor is its memory in $c$ alone: with $c$ set to
# zero after 20 steps it is right in {{short_examples/LSTM, biases 0/c wiped}}, since $h$ still shows the symbol.
#
# **Your turn** (no points). Write the sampler of lags yourself. May most examples be long, if a few are short? Let one batch
# in ten have a lag of 2 and the others one of 30, and ask at 7, 30 and 1,000. Then spread the lags out.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.gates import draw_lstm, run_lstm, train


def next_lag(rng):
    """The lag of the next batch."""
    return rng.integers(1, 8)


sampled = train(draw_lstm, run_lstm, next_lag, updates=300)
print({lag: share_right(sampled, run_lstm, lag) for lag in (7, 30, 1000)})

# %% [markdown]
# LSTM or GRU? On most tasks there is little between them. But a GRU's state that starts between $-1$ and $1$ is a mixture
# of numbers in that range and never leaves it, so **it cannot count** as your counter does. Weiss, Goldberg and Yahav
# showed that this is a difference in what the two can compute, and not just in how well they train.

# %% [markdown]
# ## 8 · The same gates elsewhere
#
# - **This course** and PyTorch: LSTM $i, f, g, o$; GRU $r, z, n$, where $z$ keeps and the reset acts on $hW+b_h$.
# - Keras: LSTM in the same order, GRU $z, r, h$. `kernel` is not transposed; the forget bias starts at 1.
# - A. Ng's course: $\Gamma_u, \Gamma_f, \Gamma_o$, one matrix each on the column $[a;x]$; $\Gamma_u$ is our $i$, $a$ our $h$.
# - Goodfellow, Bengio & Courville: $f, g, q$ for forget, input, output; **their $g$ is a gate**, our $i$; $s$ is our $c$.
# - Cho et al. 2014: GRU, $z$ keeps; the reset acts on $h$, **before** the product.
# - Chung et al. 2014, Ng, unit 14: $z$ is **inverted**, 1 renews. As $1-\sigma(a)=\sigma(-a)$, turn the sign of its
#   weights and bias.
#
# **Guess** before you run it: which of Ng's, Chung's and Cho's cells are yours under another name?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.gates import other_conventions

conventions = other_conventions(use(lstm_step), use(gru_step))
for name, difference in conventions.items():
    print(f"{name}: the largest difference is {difference:.0e}")

# %% tags=["author"]
ng, chung, cho = conventions.values()
assert max(ng, chung) < 1e-9 < 0.01 < cho, "Ng's and Chung's cells were expected to be ours, and Cho's not."

# %% [markdown]
# ## 9 · What went wrong in practice
#
# Weights come from one library and go into another. All shapes fit, nothing complains. Here are the LSTM and the GRU that
# were trained for a hundred steps, run with each of the wrong steps that the checks of this unit know: the same weights,
# another convention. **Guess**: how many of these are still right nearly always?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.gates import shares_with_wrong_steps, wrong_steps_found

for name, network in (("LSTM", p), ("GRU", trained[GRU_5])):
    wrong = shares_with_wrong_steps(network)
    show(shares(wrong, chance=0.25, xlabel=f"{name} with a wrong step: right answers"))
    found = sum(wrong_steps_found(network))
    print(f"{name}: one step with random weights finds {found} of these {len(wrong)}")

# %% tags=["author"]
assert all(wrong_steps_found(p) + wrong_steps_found(trained[GRU_5])), "Every wrong step was expected to be found."

# %% [markdown]
# Many of the wrong steps answer nearly every question: more than 95 in 100 with
# {{hundred_steps/LSTM, biases 5 and −5/wrong steps unseen|.0f}} of the
# {{hundred_steps/LSTM, biases 5 and −5/wrong steps|.0f}} of the LSTM, over our seeds, and with
# {{hundred_steps/GRU, update bias 5/wrong steps unseen|.0f}} of the
# {{hundred_steps/GRU, update bias 5/wrong steps|.0f}} of the GRU. **Compare states, not answers**, on random weights.
#
# More bugs to hunt, of the kind that is found in published code. What does each do, and how would you find it?
#
# - `output, h = lstm(x)`, and then `classifier(h)`.
# - Truncated BPTT with `h = h.detach()`, and $c$ carried on as it is.
# - The forget bias set by `bias_ih_l0[:H].fill_(1)`.
# - Between two texts the state is reset: `h = np.zeros_like(h)`.
#
# <details><summary>Answers, when you have thought about them</summary>
#
# The second result is a pair, `(h_n, c_n)`; a classifier that takes it raises an error, and one that takes `torch.cat(h)`
# reads $c$ without asking. If $c$ is not detached, the graph of all earlier chunks hangs on it: PyTorch complains of a
# second backward pass, or the memory grows. The first $H$ entries are those of $i$; $f$ is `[H:2*H]`, and `bias_hh_l0` still
# has what was drawn. In the last, $c$ still holds the first text.
# </details>

# %% [markdown]
# ## 10 · What you have
#
# Leaving things alone can be the default, if the start makes it so.
#
# - A **gate** is a layer with a sigmoid, put on a vector entry by entry.
# - The **LSTM** keeps $c$ and shows $h$. Errors go back along $c$ as $dc_{t-1} = dc_t\odot f$: no $W^\top$, no slope. That
#   way is only as open as $f$.
# - Over long lags it needs a **forget bias** of about their logarithm, and as much below 0 on $i$: to remember is to keep
#   *and* to keep out. What it then learns is to write on and on; the tanh hides it.
# - From short examples it needs no such start, and settles into an attractor. Plain cells and GRUs do so in some
#   of the seeds.
# - In an `nn.LSTM` the forget bias is a quarter of **two** biases, in each layer and each direction.
# - The **GRU** has one state and three quarters of the numbers. Its open way is $dh_{t-1} = dh_t\odot z + \dots$

# %% [markdown] written="gates_written" points=3
# ### Written question 2 · 3 points
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
# - S. Hochreiter, J. Schmidhuber, "Long Short-Term Memory", *Neural Computation* 1997; F. A. Gers, J. Schmidhuber, F.
#   Cummins, "Learning to Forget", 2000: the forget gate.
# - K. Cho et al., *EMNLP* 2014, arXiv:1406.1078: the GRU. J. Chung et al., arXiv:1412.3555: both compared.
# - K. Greff et al., "LSTM: A Search Space Odyssey", 2017: which parts matter, in 5,400 runs. R. Jozefowicz, W. Zaremba, I.
#   Sutskever, "An Empirical Exploration of Recurrent Network Architectures", *ICML* 2015.
# - C. Tallec, Y. Ollivier, "Can Recurrent Neural Networks Warp Time?", *ICLR* 2018: why gates at all.
# - G. Weiss, Y. Goldberg, E. Yahav, *ACL* 2018, arXiv:1805.04908: LSTMs count, GRUs do not.
# - R. K. Srivastava, K. Greff, J. Schmidhuber, "Training Very Deep Networks", 2015. K. He et al., "Deep Residual Learning
#   for Image Recognition", 2016.

# %% [markdown]
# ## Something to show to somebody
#
# For decades, characters were sent over wires with a parity bit behind each: if one bit is turned over on the way, the
# parity is wrong, and the receiver knows. Here is your machine as such a guard. *Try* a word of your own, of two to six
# letters from a to z.

# %% tags=["experiment"] dials="word = \"gates\""
word = "memory"
sent = np.unpackbits(np.frombuffer(word.encode(), dtype=np.uint8))
received = sent.copy()
received[14] ^= 1  # one bit is turned over
arrived = np.packbits(received).tobytes().decode(errors="replace")
print(f"sent {word}, received {arrived}")
machine = use(parity)()
here, there = (read_off(machine, bits)[-1] for bits in (sent, received))
print(f"{len(sent)} bits; parity {here} at one end of the wire, {there} at the other")

# %% tags=["experiment"]
progress("10_gates")

# %% [markdown]
# ## The question that this unit leaves open
#
# So far each task brought its own way of putting inputs in and reading answers out: an answer at every step for the
# taggers, one at the end for recall. What if there is *one* input and a whole sequence to give, a melody from its first
# note? **Which networks can be built around one and the same core?** That is unit 11.
