# %% [markdown]
# # 14 · Breaking the sequential bottleneck
#
# **When you are done you will be able to**
#
# - say which recurrences can be computed in about $\log_2 T$ rounds instead of $T$ steps, and do it;
# - build a recurrent network whose training does not walk through time, and say what it can no longer do;
# - see the same recurrence in linear attention and in a state space, and place S4, Mamba, RWKV and xLSTM.
#
# **Time**: about three hours. More than half of it is your own work. What is marked *optional* comes on top. **You
# need** the gates of unit 10 and attention from unit 13. There are six exercises and one written question, 21 points in
# all. They are NumPy; none may call `scipy` or `torch`. Where it says **guess first**, write your guess down, then run
# the cell.

# %% locked="setup"
import math

import numpy as np

from rnncourse import check, hint, progress, track, use

np.set_printoptions(precision=3, suppress=True)

# %% tags=["experiment"]
answer_above = "if an answer above has not passed its check, that may be why."
progress("14_scans")

# %% tags=["experiment", "nbval-ignore-output"]
import torch
from torch import nn

from rnncourse.plots import line_chart, show
from rnncourse.scans_torch import MinGRU

torch.set_num_threads(1)  # for products as small as ours a second thread costs more than it brings

# %% [markdown]
# ## 1 · One step after the other
#
# The second bottleneck of unit 13. Why does $h_t$ have to wait for $h_{t-1}$? Because of the tanh around it:
#
# $$h_3 = \tanh(x_3 U + \tanh(x_2 U + \tanh(x_1 U + h_0 W) W) W)$$
#
# (The bias is left out.) There is no simple short cut through nested tanhs. But take them away, and give each unit a
# factor of its own in place of the matrix:
#
# $$h_t = a_t\, h_{t-1} + b_t$$
#
# $a_t$ and $b_t$ may come from the input, by any network you like. They may *not* come from $h_{t-1}$. (And $b_t$ is
# different at each step, so it is not the bias $b$.) This is a **linear recurrence**: every unit keeps a share $a_t$ of
# what it had and adds $b_t$. You have met it. The leaky average of unit 00 is one, and so is the LSTM's memory,
# $c_t = f_t\, c_{t-1} + i_t\, g_t$, but for one thing: there the gates look at $h_{t-1}$. (A whole matrix in place of
# $a_t$ would do as well, but in a moment we have to multiply two of them, and that is $H^3$ products, not $H$.)
#
# *By hand*: $a = (0.5,\ 0.5,\ 2)$, $b = (0,\ 1,\ 0)$, $h_0 = 4$. Then $h_1 = 2$, $h_2 = 0.5 \cdot 2 + 1 = 2$, $h_3 = 4$.

# %% [markdown]
# ### Exercise 14.1 · `linear_recurrence`
# *●○○ · 6 minutes · 2 points*
#
# First the plain loop; everything that follows is measured against it. `a` and `b` have one shape, `(T, …)` with any
# number of further axes or none, and `h0` is `(…)`, a number if there are none. All products are entry by entry. Return
# the states $h_1$ to $h_T$, `(T, …)`; `h0` is not among them. Leave the arguments as they are.
#
#     a [0.5, 0.5, 2]   b [0, 1, 0]   h0 4     gives [2, 2, 4]


# %% answer="linear_recurrence"
def linear_recurrence(a, b, h0):
    """The states of h_t = a_t h_{t-1} + b_t, step by step: a and b (T, …), h0 (…) -> (T, …)."""
    ### BEGIN SOLUTION
    H = np.empty_like(b)
    h = h0
    for t in range(len(a)):
        h = a[t] * h + b[t]
        H[t] = h
    return H
    ### END SOLUTION


# %% check="linear_recurrence"
check(linear_recurrence)

# %% [markdown]
# That still takes one step after the other. Now comes the trick.

# %% [markdown]
# ## 2 · Do not compute states, compute maps
#
# Look at a step differently. Do not ask for the state that it gives, which you cannot know yet. Ask what it *does*: it
# is the map $h \mapsto a_t h + b_t$, and a map is written down with two numbers, $(a_t, b_t)$. Those you know from the
# start, for all steps.
#
# Now take two maps in a row, first $(a, b)$, then $(a', b')$:
#
# $$h \;\mapsto\; a h + b \;\mapsto\; a'(a h + b) + b' \;=\; \underbrace{a' a}_{}\, h + \underbrace{a' b + b'}_{}$$
#
# Two steps in a row are again such a map, $(a' a,\ a' b + b')$. So are a thousand.
#
# *By hand*: $(2, 1)$, then $(3, 5)$. Together $(3 \cdot 2,\ 3 \cdot 1 + 5) = (6, 8)$. Test it on $h = 1$: $1 \to 3 \to
# 14$, and $6 \cdot 1 + 8 = 14$.

# %% [markdown]
# ### Exercise 14.2 · `combine_affine`
# *●○○ · 6 minutes · 2 points*
#
# `first` and `second` are pairs `(a, b)` of arrays of one shape, or of numbers. Return the pair of the map that applies
# `first` and then `second`, entry by entry.
#
#     first (2, 1)   second (3, 5)     gives (6, 8)


# %% answer="combine_affine"
def combine_affine(first, second):
    """The map of two maps h -> a h + b, each a pair (a, b), of which `first` is applied first -> (a, b)."""
    ### BEGIN SOLUTION
    a_1, b_1 = first
    a_2, b_2 = second
    return a_2 * a_1, a_2 * b_1 + b_2
    ### END SOLUTION


# %% check="combine_affine"
check(combine_affine)

# %% [markdown]
# You can now make one step of two, without knowing a single state.

# %% [markdown]
# ## 3 · All prefixes at once
#
# The combination of maps is **associative**: for three in a row it does not matter which two you combine first. (The
# order of the maps does matter, the brackets do not.) That is all that is needed. Add up eight numbers one after the
# other, and there are seven additions in a row; add pairs, then pairs of pairs, and there are three. And we need not only
# the whole but every **prefix**, the map of all steps up to $t$, since that one gives $h_t$. Here it is for eight steps.
# Below the top row, each dot combines what comes along its arrow with what stands above it; dots of one row do not wait
# for each other.

# %% tags=["experiment"]
from rnncourse.plots.scans import scan_beside_loop

show(
    scan_beside_loop(8),
    alt="Two diagrams over eight columns. Left, the loop: a staircase of seven dots, each waiting for the one before, in seven "
    "rows. Right, the scan: in the first row every column takes in its left neighbour, in the second the column two to the "
    "left, in the third the column four to the left; three rows in all.",
)

# %% tags=["experiment"]
from rnncourse.plots.films import scan_film

scan_film(8).show(
    alt="Two rows of eight squares, for the loop and for the scan; both have all prefixes at the end, the loop after seven "
    "rounds, the scan after three.",
    title="A round at a time",
)

# %% [markdown]
# Follow column 8 on the right. After the first row it stands for the steps 7 and 8, after the second for 5 to 8, after
# the third for 1 to 8. At each row the reach doubles, so $\lceil \log_2 T \rceil$ rows are enough: 10 for a thousand
# steps, 20 for a million. Such a thing is called a **scan**, and this one is that of Hillis and Steele.
#
# *By hand*, four maps and $h_0 = 1$:
#
# | | step 1 | step 2 | step 3 | step 4 |
# |---|---|---|---|---|
# | maps | $(2, 1)$ | $(3, 0)$ | $(1, 4)$ | $(2, 0)$ |
# | after row 1 | $(2, 1)$ | $(6, 3)$ | $(3, 4)$ | $(2, 8)$ |
# | after row 2 | $(2, 1)$ | $(6, 3)$ | $(6, 7)$ | $(12, 14)$ |
# | applied to $h_0 = 1$ | 3 | 9 | 13 | 26 |
#
# And the loop: $2 \cdot 1 + 1 = 3$, then $9$, then $13$, then $26$.
#
# How do you find out whether a function *is* a scan, and not a loop in disguise? Hand it numbers that count. Each knows
# its value and its **depth**: how many operations, one waiting for the other, it took to make it.


# %% tags=["experiment"]
class Counting:
    """A number that knows how many operations had to wait for one another until it was there."""

    def __init__(self, value, depth=0):
        self.value, self.depth = value, depth

    def _made(self, value, other):
        return Counting(value, 1 + max(self.depth, other.depth))

    def __add__(self, other):
        return self._made(self.value + other.value, other)

    def __mul__(self, other):
        return self._made(self.value * other.value, other)


p, q, r, s = (Counting(v) for v in (1.0, 2.0, 3.0, 4.0))
print("((p + q) + r) + s:  ", (((p + q) + r) + s).value, "at depth", (((p + q) + r) + s).depth)
print(" (p + q) + (r + s): ", ((p + q) + (r + s)).value, "at depth", ((p + q) + (r + s)).depth)
assert (((p + q) + r) + s).depth == 3, "Three additions in a row were expected."
assert ((p + q) + (r + s)).depth == 2, "Two additions in a row were expected."

# %% [markdown]
# ### Exercise 14.3 · `associative_scan`
# *●●● · 25 minutes · 5 points*
#
# Compute what `linear_recurrence` computes, from the same arguments, with few operations that wait for one another: for
# $T$ steps at most $4 \lceil \log_2 T \rceil + 4$. At $T = 1000$ these are 44, where the loop takes 2,000. Hillis and
# Steele's scan will do, and so will any other. It has to be right for every $T \ge 1$, not only for powers of two, and
# for factors of 0: there is no need to divide. Leave the arguments as they are. You may call your `combine_affine`, which
# takes whole arrays: a row of the picture is *one* call.
#
# The check counts as we did above. Once it hands you arrays whose entries are counting numbers: they can be added,
# subtracted, multiplied and divided, and live in arrays of dtype `object`. So make new arrays with `np.empty_like(a)` or
# with `dtype=a.dtype`: an array of plain floats cannot hold them.
#
#     a [2, 3, 1, 2]   b [1, 0, 4, 0]   h0 1     gives [3, 9, 13, 26]


# %% answer="associative_scan"
def associative_scan(a, b, h0):
    """What `linear_recurrence` computes, in O(log T) dependent steps: a and b (T, …), h0 (…) -> (T, …)."""
    ### BEGIN SOLUTION
    A, B = a, b
    step = 1
    while step < len(a):
        new_A, new_B = combine_affine((A[:-step], B[:-step]), (A[step:], B[step:]))
        A, B = np.concatenate([A[:step], new_A]), np.concatenate([B[:step], new_B])
        step *= 2
    return A * h0 + B
    ### END SOLUTION


# %% check="associative_scan"
check(associative_scan)

# %% [markdown]
# **Guess first:** at 2,048 steps the loop has 4,096 operations in a row. How many has your scan?

# %% tags=["experiment", "nbval-ignore-output"]
loop, scan = use(linear_recurrence), use(associative_scan)
rng = np.random.default_rng(0)


def counting(array):
    made = np.empty(array.shape, dtype=object)
    made[:] = [Counting(value) for value in array]
    return made


lengths, depths = [2**k for k in range(1, 12)], {"loop": [], "scan": []}
for T in lengths:
    a, b = rng.uniform(-1, 1, T), rng.normal(size=T)
    for name, run in (("loop", loop), ("scan", scan)):
        states = run(counting(a), counting(b), Counting(1.0))
        depths[name].append(max(state.depth for state in states))
assert depths["loop"] == [2 * T for T in lengths], "A product and a sum a step were expected; " + answer_above
assert all(depth <= 4 * math.log2(T) + 4 for T, depth in zip(lengths, depths["scan"])), (
    "The scan's depth was expected to stay below 4 log T + 4; " + answer_above
)

difference = 0.0
for T in (1, 2, 3, 100, 1000, 4097, 100_000):
    a, b, h0 = rng.uniform(-1, 1, (T, 3)), rng.normal(size=(T, 3)), rng.normal(size=3)
    difference = max(difference, np.abs(loop(a, b, h0) - scan(a, b, h0)).max())
print(f"loop and scan, for up to 100,000 steps: the largest difference is {difference:.0e}")
assert difference < 1e-10, "Loop and scan were expected to agree; " + answer_above
show(
    line_chart(
        lengths, depths, xlabel="T (time steps)", ylabel="operations in a row", logx=True, logy=True, size=(8.0, 3.6)
    ),
    alt="Operations that wait for one another against T, on two log scales. The loop's line is straight and reaches 4,096 at "
    "2,048 steps; the scan's line bends and stays near 24.",
)

# %% [markdown]
# **Claim:** loop and scan agree to $10^{-10}$ for up to 100,000 steps, and the scan's depth grows with the logarithm of
# the length.

# %% [markdown]
# ## 4 · Does it pay?
#
# Few operations in a row is not the same as little time. Hillis and Steele's scan does $T \log_2 T$ combinations in all,
# where the loop does $T$. There is a scan that wastes less: combine neighbours in pairs, scan the pairs, which are half
# as many, and fill in what lies between. It takes about $2 \log_2 T$ rounds and fewer than $2T$ combinations, and it is
# the one in `rnncourse/scans.py`; it usually bears the name of G. E. Blelloch.
#
# We measure it against the course's loop, in time used by one core, for single numbers and for rows of $32 \times 64$,
# which is what a layer of 64 units has to do for a batch of 32. **Guess first:** who wins, and where?

# %% tags=["experiment", "nbval-ignore-output"]
import time

from rnncourse import scans


def seconds(run, *args, times=3):
    """The least time of one core that a run takes."""
    took = []
    for _ in range(times):
        start = time.process_time()
        runs = 0
        while time.process_time() - start < 0.02:
            run(*args)
            runs += 1
        took.append((time.process_time() - start) / runs)
    return min(took)


steps, ratio = [10, 30, 100, 300, 1000, 3000, 10_000, 100_000], {"single numbers": [], "rows of\n32 × 64": []}
for ratios, shape in zip(ratio.values(), ((), (32, 64))):
    for T in steps if not shape else steps[:5]:
        a, b, h0 = rng.uniform(0.5, 1, (T, *shape)), rng.normal(size=(T, *shape)), np.zeros(shape)
        ratios.append(seconds(scans.linear_recurrence, a, b, h0) / seconds(scans.associative_scan, a, b, h0))
    ratios += [np.nan] * (len(steps) - len(ratios))
print(f"100,000 single numbers: the loop takes {ratio['single numbers'][-1]:.0f} times as long as the scan")
show(
    line_chart(
        steps,
        ratio | {"equal": np.ones(len(steps))},
        xlabel="T (time steps)",
        ylabel="time of the loop / time of the scan",
        logx=True,
        logy=True,
    ),
    alt="How many times faster the scan is than the loop, against T, on two log scales. For single numbers it rises from below 1 "
    "at 10 steps to far above 10 at 100,000 steps. For rows of 32 by 64 it stays below 1: the loop is faster.",
)

# %% [markdown]
# For many single numbers the scan wins by far, for rows it loses. Be careful with the reason! NumPy uses one core here,
# so *nothing ran in parallel*. What wins in the first case is something else: a call of NumPy takes about a millionth
# of a second before any number is touched. The loop pays that $2T$ times, the scan a few dozen times. When a step has
# two thousand numbers to do, the calls hardly matter, and what counts is how often each number goes through the memory:
# there the scan has more to do.
#
# So when does a scan pay? Where there are far more processors than numbers in a step. A laptop has too few for that. A
# graphics card has thousands, and that is where long sequences are trained in this way.
#
# ### Optional · a count for $p$ processors
#
# A step of the loop has $n$ products and $n$ sums to do, $p$ at a time, and has to wait for the step before:
# $2T \lceil n/p \rceil$ rounds in all. A combination has a product more, three operations, of which two wait for each
# other. The scan has fewer than $2T$ of them, for each of $n$ numbers: $6Tn$ operations, $p$ at a time, and
# $4 \log_2 T$ that wait, about $6Tn/p + 4 \log_2 T$ rounds (R. P. Brent showed in 1974 that this can be reached).
# **Claim**, from this count: with two processors the scan never wins; with thousands it wins where sequences are long and
# rows are narrow.

# %% tags=["experiment"]
processors = [2**k for k in range(17)]


def speedup(n, p, T=10_000):
    """By how much the scan is faster than the loop, if nothing but the count of operations mattered."""
    return 2 * T * math.ceil(n / p) / (6 * T * n / p + 4 * math.log2(T))


predicted = {
    "n = 1 number\na step" if n == 1 else f"n = {n:,}": [speedup(n, p) for p in processors] for n in (1, 64, 2048)
}
for p in (2, 1024, 2**14):
    print(f"{p:6,} processors: " + ", ".join(f"n = {n:,}: {speedup(n, p):.2f}" for n in (1, 64, 2048)))
assert all(speedup(n, 2) < 1 for n in (1, 64, 2048)), "With two processors the scan was expected to lose."
assert speedup(1, 2**14) > 100, "For single numbers thousands of processors were expected to pay."
assert speedup(2048, 1024) < 1 < speedup(2048, 2**14), (
    "More processors than numbers in a step were expected to be needed."
)
show(
    line_chart(
        processors,
        predicted | {"equal": np.ones(len(processors))},
        xlabel="processors p",
        ylabel="steps of the loop / steps of the scan",
        logx=True,
        logy=True,
        title="T = 10,000, counted, not measured",
    ),
    alt="By how much a scan should be faster than a loop, against the number of processors, on two log scales, for 1, 64 and "
    "2,048 numbers a step. All lines start at one third, rise once there are more processors than numbers in a step, and end "
    "far above 1 for single numbers.",
)

# %% [markdown]
# Where a step is as wide as the machine, the loop was keeping it busy anyway and there is nothing to gain. (A real card
# has more costs: each round has to be started, and memory is slow. A count tells you where to look; only a measurement
# tells you whether.)

# %% [markdown]
# ## 5 · A recurrent network without a walk
#
# Now we build a cell that fits. Take the GRU of unit 10 and forbid its gate and its candidate to look at the state. What
# is left has a name, the **minimal GRU**:
#
# $$
# z_t = \sigma(x_t W_z) \qquad\quad \tilde h_t = x_t W_h \qquad\quad h_t = (1 - z_t)\, h_{t-1} + z_t\, \tilde h_t
# $$
#
# (Here $z = 1$ renews: it is the other convention of unit 10's table.) All gates and all candidates of a sequence come
# from two products. What remains is $h_t = a_t h_{t-1} + b_t$ with $a_t = 1 - z_t$ and $b_t = z_t \tilde h_t$, and for
# that you have a scan. No tanh is left on the state's way, and none is needed: a state is an average of $h_0$ and the
# candidates, so it cannot grow beyond them. It is the leaky average of unit 00, with a share that the input decides.
#
# *By hand*: inputs 1, 0; $W_z = 0$, so $z = 0.5$ always; $W_h = 4$, $h_0 = 8$. Then $h_1 = 0.5 \cdot 8 + 0.5 \cdot 4 = 6$
# and $h_2 = 0.5 \cdot 6 + 0 = 3$.

# %% [markdown]
# ### Exercise 14.4 · `min_gru_forward`
# *●●○ · 10 minutes · 3 points*
#
# `X (T, N, D)`, `h0 (N, H)`, `Wz (D, H)`, `Wh (D, H)`: return the states $h_1$ to $h_T$, `(T, N, H)`. There are no
# biases. Use your `associative_scan`; while this exercise is checked, it is a correct one. Gates wide open or shut give
# no nan.
#
#     X [[[1]], [[0]]]   h0 [[8]]   Wz [[0]]   Wh [[4]]     gives [[[6]], [[3]]]


# %% answer="min_gru_forward"
def min_gru_forward(X, h0, Wz, Wh):
    """A minimal GRU through the scan: X (T, N, D), h0 (N, H), Wz (D, H), Wh (D, H) -> states (T, N, H)."""
    ### BEGIN SOLUTION
    z = 1 / (1 + np.exp(-(X @ Wz)))
    return associative_scan(1 - z, z * (X @ Wh), h0)
    ### END SOLUTION


# %% check="min_gru_forward"
check(min_gru_forward)

# %% [markdown]
# To train it we need gradients through the scan. PyTorch finds them: the scan is made of products and sums. `MinGRU` in
# `rnncourse/scans_torch.py` is yours with biases, and is called like an `nn.GRU`. It gives your states:

# %% tags=["experiment", "nbval-ignore-output"]
minimal = use(min_gru_forward)
layer = MinGRU(3, 5).double()
x, h0 = torch.randn(11, 2, 3, dtype=torch.float64), torch.randn(1, 2, 5, dtype=torch.float64)
with torch.no_grad():
    theirs = layer(x, h0)[0].numpy()
    # a bias is the weight of an input that is always 1
    Wz, Wh = (torch.cat([part.weight.T, part.bias[None]]).numpy() for part in (layer.gate, layer.candidate))
yours = minimal(np.concatenate([x.numpy(), np.ones((11, 2, 1))], axis=-1), h0[0].numpy(), Wz, Wh)
difference = np.abs(theirs - yours).max()
print(f"the states of MinGRU and yours differ by {difference:.0e}")
assert difference < 1e-12, "MinGRU was expected to give your states; " + answer_above

# %% [markdown]
# ### Experiment · the memory task of unit 10, without a walk
#
# One symbol of four is shown, then come 100 steps of noise, and then the question: which one was it? A guess is right
# once in four times. You know from unit 10 what long examples ask of gates: they have to *start* nearly shut. With a
# bias of 0 each step keeps half of the state, and of an error that walks back 100 steps nothing is left,
# $0.5^{100} \approx 10^{-30}$. With a gate bias $\beta$ each step keeps $1 - \sigma(\beta)$:
#
# | $\beta$ | kept a step | kept over 100 steps |
# |---|---|---|
# | 0 | 0.5 | $8 \cdot 10^{-31}$ |
# | $-2$ | 0.881 | $3 \cdot 10^{-6}$ |
# | $-4$ | 0.982 | 0.16 |
#
# **Guess first:** which of the three will recall after 200 updates? And an LSTM, from PyTorch's start?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.data.recall import recall_batch


class Reader(nn.Module):
    """A core and an output layer at every step."""

    def __init__(self, core, hidden, outputs):
        super().__init__()
        self.core, self.output = core, nn.Linear(hidden, outputs)

    def forward(self, x):
        return self.output(self.core(x)[0])


def learn(model, draw, updates, label):
    """Train on fresh batches: `draw()` -> (x, the steps that count, their targets)."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in track(range(updates), label):
        x, counts, targets = draw()
        loss = nn.functional.cross_entropy(model(x)[counts].flatten(0, -2), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model


def recall(rng, lags=(100, 100), rows=32):
    """A batch of the task, at a lag drawn from lags[0] to lags[1]."""
    X, y = recall_batch(rng, rng.integers(lags[0], lags[1] + 1), rows)
    return torch.tensor(X, dtype=torch.float32), slice(-1, None), torch.tensor(y)


CORES = {
    "plain": lambda: nn.RNN(8, 16),
    "LSTM": lambda: nn.LSTM(8, 16),
    "GRU": lambda: nn.GRU(8, 16),
    "minimal GRU": lambda: MinGRU(8, 16),
    "minimal GRU, β = −2": lambda: MinGRU(8, 16, gate_bias=-2.0),
    "minimal GRU, β = −4": lambda: MinGRU(8, 16, gate_bias=-4.0),
}


def train_to_recall(name, lags, updates, seed=0):
    """A reader with the core of that name, trained at lags from lags[0] to lags[1]."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    return learn(Reader(CORES[name](), 16, 4), lambda: recall(rng, lags), updates, name)


@torch.no_grad()
def recalled(model, lag):
    """The share of right answers on 200 new sequences."""
    x, last, y = recall(np.random.default_rng(99), (lag, lag), 200)
    return (model(x)[last].argmax(dim=-1) == y).float().mean().item()


long_readers = {name: train_to_recall(name, (100, 100), 200) for name in ("LSTM", "minimal GRU", "minimal GRU, β = −4")}
for name, model in long_readers.items():
    share = recalled(model, 100)
    print(f"{name:<20} {share:.0%} right after 100 steps of noise")
    assert share > 0.9 if name.endswith("4") else share < 0.6, f"{name}: {share:.0%} right was not expected."

# %% [markdown]
# **Claim:** after 200 updates at a lag of 100, a minimal GRU that starts at $\beta = -4$ recalls, and one that starts
# at 0 or $-2$ guesses, as the plain cell, the LSTM and the GRU do from PyTorch's start.
#
# So once more a memory from long examples hangs on how it starts. Over five seeds it is
# {{long_examples/minimal GRU, β = −4/lag 100}} with $\beta = -4$, and with $-2$
# {{long_examples/minimal GRU, β = −2/lag 100}}. That the others fail is no proof that they must: it is what 200 updates
# make of PyTorch's start, and unit 10 gave the LSTM and the GRU better ones.

# %% [markdown]
# ## 6 · What was given up
#
# We forbade the gates to see the state. What does that cost? Two things, and the first you can see in the picture that
# has come with you since unit 05: train on lags from 1 to 7, ask at lags up to 1,000. **Guess first:** which of the plain
# cell, the LSTM, the GRU and the minimal GRU still knows the symbol after 1,000 steps of noise?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.data.claims import claimed
from rnncourse.plots.gates import held_by_lag

asked, four = (1, 3, 7, 10, 30, 100, 300, 1000), ("plain", "LSTM", "GRU", "minimal GRU")
latches = {name: train_to_recall(name, (1, 7), 300) for name in four}
for name, model in latches.items():
    shares = [recalled(model, lag) for lag in asked]
    print(f"{name:<12} asked after {asked}: {' '.join(f'{share:.2f}' for share in shares)}")
    assert min(shares[:3]) > 0.95, f"{name} was expected to be right at the lags of its training."
    assert shares[-1] < 0.4 if name == "minimal GRU" else shares[-1] > 0.4, (
        f"{name}: {shares[-1]:.2f} was not expected."
    )

measured = claimed("14_scans")["short_examples"].values
show(
    held_by_lag(
        asked,
        {name: [measured[name][f"lag {lag}"] for lag in asked] for name in four},
        trained=(1, 7),
        guess=0.25,
    ),
    alt="Four panels, plain, LSTM, GRU and minimal GRU: share of right answers against the lag, from 1 to 1,000, on a "
    "logarithmic axis; thin lines for five seeds, a thick one for their median; the lags of training, 1 to 7, are shaded. The "
    "plain cell and the LSTM stay at 1 in all seeds, the GRU in four of five. The minimal GRU is at 1 up to a lag of 10 and at a "
    "guess from 100 on, in all seeds.",
)

# %% [markdown]
# **Claim:** trained on lags from 1 to 7, the minimal GRU guesses at a lag of 1,000. The plain cell, the LSTM and the
# GRU, of the same 16 units and from PyTorch's start, are better than a guess there.
#
# At a lag of 1,000: plain {{short_examples/plain/lag 1000}}, LSTM {{short_examples/LSTM/lag 1000}}, GRU
# {{short_examples/GRU/lag 1000}}; minimal GRU {{short_examples/minimal GRU/lag 1000}}, after 900 updates
# {{short_examples/minimal GRU, 900 updates/lag 1000}}, from $\beta = -4$
# {{short_examples/minimal GRU, β = −4/lag 1000}}. Neither helps.
#
# Why does nothing help the minimal GRU? Take two sequences that begin with different symbols and go on with the *same*
# noise. The gates see the noise and nothing else, so from the second step on they are the same for both: $h_t = a_t
# h_{t-1} + b_t$ and $h'_t = a_t h'_{t-1} + b_t$. Subtract:
#
# $$h_t - h'_t = a_t\,(h_{t-1} - h'_{t-1}), \qquad 0 < a_t < 1$$
#
# Whatever the weights are, the two come closer at every step, in every unit. To hold, a cell has to push two states
# *apart*, and to do that it has to look at where they are. Here are all four symbols with the same noise behind them, and
# how far the two are apart that are nearest: in the LSTM, in the minimal GRU, and in the one of section 5, which was
# trained at a lag of 100 from $\beta = -4$. (The plain cell and the GRU lie on the LSTM's line.)

# %% tags=["experiment", "nbval-ignore-output"]
noise, _ = recall_batch(np.random.default_rng(5), 200, rows=1)
x = np.repeat(noise, 4, axis=1)
x[0] = np.eye(8)[:4]  # row k begins with symbol k; the noise behind it is the same
apart = {}
with torch.no_grad():
    for name, model in (latches | {"trained at 100": long_readers["minimal GRU, β = −4"]}).items():
        states = model.core.double()(torch.tensor(x))[0]
        pairs = [(states[:, j] - states[:, k]).abs().amax(dim=1) for j in range(4) for k in range(j)]
        apart[name] = torch.stack(pairs).amin(dim=0).numpy()
show(
    line_chart(
        range(201),
        {name: apart[name] for name in ("LSTM", "minimal GRU", "trained at 100")},
        xlabel="time step (0: the symbol)",
        ylabel="distance of the two nearest states",
        logy=True,
        size=(8.0, 3.6),
    ),
    alt="How far the states for the two nearest symbols are apart, over 200 steps of the same noise, on a logarithmic axis. For "
    "the LSTM it rises at once and stays at 2. For the minimal GRU it falls along a straight line, to less than a millionth. For "
    "the one that was trained at a lag of 100 it falls, too, but slowly.",
)
for name, distance in apart.items():
    print(
        f"{name:<14} {distance[0]:.2g} apart at first, {distance[100]:.1g} after 100 steps, {distance[200]:.1g} after 200"
    )
for name in ("minimal GRU", "trained at 100"):
    assert (np.diff(apart[name]) < 1e-12).all(), f"{name}: the states were expected to come closer at each step."
assert apart["minimal GRU"][100] < 0.01 < apart["LSTM"][100], "The LSTM was expected to keep its states apart."

# %% [markdown]
# With gates that start nearly shut the line falls more slowly: trained at a lag of 100 from $\beta = -4$, it is right
# in {{long_examples/minimal GRU, β = −4/lag 300}} at 300 and in {{long_examples/minimal GRU, β = −4/lag 1000}} at
# 1,000. It has a memory that fades, and can make it fade as slowly as its examples ask. What it cannot have is an
# attractor for each symbol: a latch.
#
# ### Optional · Parity
#
# The second thing is **parity**: after each bit, say whether the number of ones so far is odd. In unit 10 you built it
# by hand, with one unit of an LSTM. **Guess first:** after how many bits does each begin to guess?

# %% tags=["experiment", "nbval-ignore-output"]
COUNTING = {
    "plain": lambda: nn.RNN(2, 16),
    "LSTM": lambda: nn.LSTM(2, 16),
    "GRU": lambda: nn.GRU(2, 16),
    "minimal GRU": lambda: MinGRU(2, 16),
}


def parity(generator, steps=10, rows=64):
    bits = torch.randint(0, 2, (steps, rows), generator=generator)
    return nn.functional.one_hot(bits, 2).float(), slice(None), bits.cumsum(dim=0) % 2


def train_on_parity(name, updates=300, seed=0):
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    return learn(Reader(COUNTING[name](), 16, 2), lambda: parity(generator), updates, f"parity, {name}")


@torch.no_grad()
def parity_right(model):
    """The share of right answers after each of 50 bits."""
    x, _, targets = parity(torch.Generator().manual_seed(99), 50, 500)
    return (model(x).argmax(dim=-1) == targets).float().mean(dim=1).numpy()


counters = {name: train_on_parity(name) for name in ("plain", "minimal GRU")}
odd = {name: parity_right(model) for name, model in counters.items()}
for name, shares in odd.items():
    print(f"{name:<12} right after 1, 2, 3, 4 bits: {shares[:4].round(2)}; after 41 to 50: {shares[40:].mean():.2f}")
assert odd["plain"][40:].mean() > 0.9, "The plain cell was expected to have the parity right after 50 bits."
assert odd["minimal GRU"][10:].mean() < 0.6, "The minimal GRU was expected to guess from the eleventh bit on."

# %% [markdown]
# **Claim:** trained on 10 bits, with an answer asked after each, the plain cell has the parity right after 50 bits. The
# minimal GRU has it right after one bit, and guesses after ten.
#
# The minimal GRU is right in {{bits/minimal GRU/bit 1|.2f}} after one bit, then in {{bits/minimal GRU/bit 2|.2f}},
# {{bits/minimal GRU/bit 3|.2f}} and {{bits/minimal GRU/bit 4|.2f}}. With ten times the updates it is right in
# {{bits/minimal GRU, 3000 updates/bit 2|.2f}} after two, in {{bits/minimal GRU, 3000 updates/bit 3|.2f}} after three
# bits, and in {{bits/minimal GRU, 3000 updates/bit 10|.2f}} after ten. The plain cell has
# {{bits/plain/bits 41 to 50|.2f}} from bit 41 to 50, the LSTM {{bits/LSTM/bits 41 to 50|.2f}}, the GRU
# {{bits/GRU/bits 41 to 50|.2f}}.
#
# So a few bits can be learned, and each one more is harder. For ever it cannot be done. Feed nothing but ones: each
# step is then the *same* map $h \mapsto a h + b$ with $0 < a < 1$, and such a map brings $h$ closer to a fixed point
# from one side. It goes up, or it goes down, and never back. But the answer has to go odd, even, odd, even, and a
# weighted sum of such states can change its sign at most as often as there are units: with 16 units, 17 bits at most,
# however well they are trained.

# %% [markdown]
# Is it because the recurrence is *linear*? No: it is the gate, which keeps $a$ between 0 and 1. Let $a$ be negative, and
# one unit is enough. Which $a_t$ and $b_t$ would you take, for a bit $x_t$? One answer stands in the cell, and your scan
# does it without an error:

# %% tags=["experiment"]
bits = np.random.default_rng(0).integers(0, 2, 100_000)
sign = scan(1.0 - 2.0 * bits, np.zeros(len(bits)), 1.0)  # a 1 turns the sign round, a 0 leaves it
right = (sign < 0) == (bits.cumsum() % 2 == 1)
print(f"parity of {len(bits):,} bits, by a scan: {right.sum():,} right")
assert right.all(), "The scan was expected to have every parity right; " + answer_above

# %% [markdown]
# What a network can do depends on which maps its steps can be. That is a question of algebra, and people are working on
# it right now.

# %% [markdown]
# ## 7 · Attention without its softmax
#
# Back to the price of self-attention in unit 13. Why does attention have to keep all keys and values? Because of the softmax: it needs all
# scores of a row before it knows one weight. Leave it out, and the scaling with it, and look at a causal step:
#
# $$
# \text{out}_t = \sum_{s \le t} (q_t \cdot k_s)\, v_s = q_t \underbrace{\sum_{s \le t} k_s^\top v_s}_{S_t} \qquad\qquad
# S_t = S_{t-1} + k_t^\top v_t
# $$
#
# The query does not depend on $s$, so it can wait outside of the sum. What is left inside is a matrix $S_t\ (d, d_v)$: a
# state, which a step adds to. That is your linear recurrence, with $a_t = 1$. It is called **linear attention**, and it
# can be written either way: as attention, $T^2$ comparisons and no walk; or as a recurrent network whose state does not
# grow.
#
# *By hand*, $d = 2$, $d_v = 1$: the keys are $(0, 1)$ and $(0, 1)$, the values 3 and 4. $S_1$ is the column $(0, 3)$,
# $S_2$ the column $(0, 7)$. The queries $(1, 0)$ and $(0, 2)$ give $1 \cdot 0 + 0 \cdot 3 = 0$ and
# $0 \cdot 0 + 2 \cdot 7 = 14$.

# %% [markdown]
# ### Exercise 14.5 · `linear_attention`
# *●●○ · 14 minutes · 3 points*
#
# `Q (T, d)`, `K (T, d)`, `V (T, d_v)`: return $\text{out}_1$ to $\text{out}_T$, `(T, d_v)`. It is causal, and nothing is
# scaled or divided. Use your `associative_scan`, or your loop; while this exercise is checked, they are correct ones.
# Axes of length 1 make all $k_t^\top v_t$ at once: `K[:, :, None]` is `(T, d, 1)`.
#
#     Q [[1, 0], [0, 2]]   K [[0, 1], [0, 1]]   V [[3], [4]]     gives [[0], [14]]


# %% answer="linear_attention"
def linear_attention(Q, K, V):
    """Causal attention without a softmax, as a recurrence: Q (T, d), K (T, d), V (T, d_v) -> contexts (T, d_v)."""
    ### BEGIN SOLUTION
    pairs = K[:, :, None] * V[:, None, :]  # (T, d, d_v)
    S = associative_scan(np.ones_like(pairs), pairs, np.zeros_like(pairs[0]))
    return np.einsum("td,tdv->tv", Q, S)
    ### END SOLUTION


# %% check="linear_attention"
check(linear_attention)

# %% [markdown]
# Your Transformer layer is a recurrent network now, and writes its millionth word at the price of its first. Too good?
#
# **Guess first:** some pairs are stored, each a random key of $d = 16$ numbers and one of 16 values. Then each key is
# asked for once more. Up to how many pairs does linear attention find the right value nearly always? And with a softmax?

# %% tags=["experiment"]
from rnncourse.attention import attention as attend

linear = use(linear_attention)
d, trials = 16, 50
rng = np.random.default_rng(0)
stored, found = [1, 2, 4, 8, 16, 32, 64], {"linear": [], "softmax": []}
for pairs in stored:
    right = {"linear": 0, "softmax": 0}
    for _ in range(trials):
        keys, wanted = rng.normal(size=(pairs, d)), rng.integers(0, 16, pairs)
        keys /= np.linalg.norm(keys, axis=1, keepdims=True)
        nothing = np.zeros((pairs, d))
        # first the pairs come in and nobody asks, then each key asks and nothing comes in
        answers_linear = linear(
            np.vstack([nothing, keys]), np.vstack([keys, nothing]), np.vstack([np.eye(16)[wanted], nothing])
        )
        answers_softmax, _ = attend(100 * keys, keys, np.eye(16)[wanted])
        right["linear"] += (answers_linear[pairs:].argmax(axis=1) == wanted).mean()
        right["softmax"] += (answers_softmax.argmax(axis=1) == wanted).mean()
    for name in found:
        found[name].append(right[name] / trials)
print("linear: " + ", ".join(f"{n} pairs: {share:.0%}" for n, share in zip(stored, found["linear"])))
assert found["linear"][2] > 0.95, "Four pairs were expected to be found; " + answer_above
assert found["linear"][-1] < 0.67, "64 pairs were not expected to fit into 16 x 16 numbers; " + answer_above
assert min(found["softmax"]) > 0.95, "With the softmax every pair was expected to be found; " + answer_above
show(
    line_chart(
        stored, found, xlabel="pairs that are stored", ylabel="share of right values", logx=True, size=(8.0, 3.4)
    ),
    alt="Share of values that are found again, against the number of pairs stored, from 1 to 64 on a logarithmic axis. With the "
    "softmax it stays at 1. With linear attention it is near 1 up to 4 pairs and then falls, below two thirds at 64.",
)

# %% [markdown]
# **Claim:** a state of $16 \times 16$ numbers returns the right one of 16 values for 4 pairs nearly always, and for 64
# pairs in fewer than two of three. Attention with its softmax returns it for 64, too.
#
# So the first bottleneck is back: one state for everything. It is a larger one, $d \times d_v$ numbers in place of $d$,
# but it is full when the keys are more than can keep out of each other's way, and then answers run into one another. What
# can be done? Forget: put a factor $a_t$ before $S_{t-1}$, from the input. Your scan takes it as it is. That is where
# Transformers and recurrent networks have met.

# %% [markdown]
# ## 8 · A state space
#
# The other road to the same place began with filters, as engineers have built them for long. A signal $x_t$, one number a
# step, goes into $N$ units, each with a factor of its own that never changes, and a weighted sum of them comes out:
#
# $$s_t = a \odot s_{t-1} + b\, x_t \qquad\qquad y_t = \sum_{n=1}^N c_n\, s_{tn}$$
#
# This is a **diagonal state space**, and once more your recurrence: $a_t$ is the same at each step, and $b_t = b\, x_t$.
# (These $a$, $b$ and $c$ are vectors of weights. A layer has such a filter for each of its inputs, mixes what comes out,
# bends it, and goes on to the next layer.)
#
# *By hand*: $a = (0.5, 0)$, $b = (1, 1)$, $c = (4, 1)$, and a single knock at the door, $x = (1, 0, 0)$. The states are
# $(1, 1)$, $(0.5, 0)$, $(0.25, 0)$, and $y = (5, 2, 1)$.

# %% [markdown]
# ### Exercise 14.6 · `diagonal_ssm`
# *●●○ · 12 minutes · 3 points*
#
# `x (T,)`, `a (N,)`, `b (N,)`, `c (N,)`: return `y (T,)`. The state starts at 0. Through your scan, please: once the check
# hands you counting numbers, and at most $4 \lceil \log_2 T \rceil + N + 8$ operations may wait for one another. While this
# exercise is checked, `associative_scan` is a correct one; it wants `a` and `b` of one shape.
#
#     x [1, 0, 0]   a [0.5, 0]   b [1, 1]   c [4, 1]     gives [5, 2, 1]


# %% answer="diagonal_ssm"
def diagonal_ssm(x, a, b, c):
    """s_t = a s_{t-1} + b x_t from 0, y_t = sum of c s_t, by a scan: x (T,), a, b, c (N,) -> y (T,)."""
    ### BEGIN SOLUTION
    terms = x[:, None] * b  # (T, N)
    factors = np.broadcast_to(a, terms.shape)
    states = associative_scan(factors, terms, np.zeros_like(a))
    return states @ c
    ### END SOLUTION


# %% check="diagonal_ssm"
check(diagonal_ssm)

# %% [markdown]
# What comes out after a single knock is $K_j = \sum_n c_n\, a_n^j\, b_n$, the **kernel**. Every input is a row of knocks of
# different strengths, and the filter adds up what each leaves. So there is a third way to compute it, a convolution:
# $y_t = \sum_{j} K_j\, x_{t-j}$. That needs factors which never change; gates that look at the input leave only the scan.
#
# **Guess first:** what do the two units in the cell below answer to a knock, a slow one with $c = 1$ and a fast one with
# $c = -1$? Run it, and then make filters of your own: one that rings up and down, one that forgets at once. Which of the
# three vectors do you have to change? **Claim:** the scan and the convolution with the kernel give the same.

# %% tags=["experiment", "nbval-ignore-output"]
my_a, my_b, my_c = np.array([0.9, 0.5]), np.array([1.0, 1.0]), np.array([1.0, -1.0])

filtered = use(diagonal_ssm)
knock = np.eye(1, 40)[0]
kernel = filtered(knock, my_a, my_b, my_c)
signal = np.random.default_rng(0).normal(size=5000)
difference = np.abs(
    filtered(signal, my_a, my_b, my_c) - np.convolve(signal, filtered(np.eye(1, 5000)[0], my_a, my_b, my_c))[:5000]
)
print(f"scan and convolution, over 5,000 steps: they differ by {difference.max():.0e} at most")
assert difference.max() < 1e-9, "Scan and convolution were expected to agree; " + answer_above
show(
    line_chart(range(40), {"kernel": kernel}, xlabel="steps after the knock", ylabel="answer", size=(8.0, 3.0)),
    alt="The answer of a filter of two units to a single knock, over 40 steps: it starts at 0, rises for a few steps, and falls "
    "slowly back to 0.",
)

# %% [markdown]
# ## 9 · Bugs to hunt
#
# Both of these run and have the right shape. What would you see, and which test of this unit finds it?
#
# - In a scan, `combine_affine(later, earlier)`.
# - A scan by division: $h_t = P_t\,(h_0 + \sum_{s \le t} b_s / P_s)$ with $P_t = a_1 \cdots a_t$. The formula is right,
#   and it takes two lines of NumPy.
#
# <details><summary>Answers, when you have thought about them</summary>
#
# The first agrees with the loop where all maps are alike; draw them. The other is below.
# </details>

# %% tags=["experiment", "nbval-ignore-output"]
T = 2000
a, b = np.full(T, 0.6), np.random.default_rng(0).normal(size=T)
with np.errstate(all="ignore"):
    product = np.cumprod(a)
    divided = product * (1.0 + np.cumsum(b / product))
wrong_from = int(np.argmax(~np.isclose(divided, loop(a, b, 1.0))))
print(
    f"by division: wrong from step {wrong_from} on, where the product of the factors has left the range of floats: {product[wrong_from]:.0e}"
)
difference = np.abs(scan(a, b, 1.0) - loop(a, b, 1.0)).max()
print(f"by the scan: off by {difference:.0e} at most")
assert np.isfinite(divided[:1000]).all(), "Division was expected to work for a while."
assert not np.isfinite(divided[-1]), "Division was expected to fail in the end."
assert difference < 1e-10, "The scan was expected to be right everywhere; " + answer_above

# %% [markdown]
# ## 10 · Where the field went
#
# In 2017 Vaswani and others asked: if attention brings back everything that was read, what is the recurrence still for?
# They left it out. In a **Transformer** every position attends to others, and all positions are computed at once in
# training: both bottlenecks gone in one stroke. It took over the field, first in translation, then nearly everywhere. The
# price is the one that you have seen. So recurrence came back, and you have built what it came back with. Cover the two
# columns in the middle, and try to fill them in from the name and the state.
#
# | who | the state, and what a step does to it | may a gate see $h_{t-1}$? | how it is trained | source |
# |---|---|---|---|---|
# | LSTM, GRU | a vector; factors and terms from gates (unit 10) | yes | a walk | Hochreiter, Schmidhuber 1997; Cho and others 2014 |
# | linear attention | a matrix; $S_t = S_{t-1} + k_t^\top v_t$ | there is none | all at once, in the form of attention | Katharopoulos and others 2020 |
# | **S4** | many small filters; factors that are learned and never change | there is none | a convolution | Gu, Goel, Ré 2022 |
# | **RWKV** | a running average of values, weighted by their keys; each channel fades at its own fixed rate | no | all products at once, then a serial scan that does little a step | Peng and others 2023 |
# | **Mamba** | filters as in S4, but $a_t$, $b_t$ and the readout come from $x_t$ | no | a scan | Gu, Dao 2023 |
# | **xLSTM**: mLSTM | a matrix; $C_t = f_t\, C_{t-1} + i_t\, v_t k_t^\top$ (in their columns) | no | all at once, in the form of attention | Beck and others 2024 |
# | **xLSTM**: sLSTM | the LSTM's vector, normalised; an exp in place of the input gate's σ | yes | a walk | Beck and others 2024 |
# | minimal GRU | a vector; section 5 | no | a scan | Feng and others 2024 |
#
# Read the third column against the fourth: **who lets a gate see the state has to walk, who does not gives up what section
# 6 showed.** The table has the first version of each, as published; there have been several since. S4 has a matrix that is
# nearly diagonal, over complex numbers; Gu, Goel, Gupta and Ré found the same year that diagonal is enough. Merrill and
# others proved what S4's and Mamba's steps cannot follow, Grazzi and others what factors between 0 and 1 cannot, parity
# among it, and what a minus sign mends. Many models of today mix layers of both kinds. Nobody knows which mixture will last.
#
# ## 11 · What you have
#
# - A linear recurrence is a row of maps; combining maps is associative; so all prefixes take $O(\log T)$ rounds.
# - Depth is not time. On few cores a scan saves calls; it pays where there are far more processors than numbers in a
#   step.
# - A minimal GRU trains without a walk, and remembers if its gates start nearly shut. But its states for different
#   symbols only come closer: it can fade slowly, and it cannot latch, nor keep a parity.
# - Attention without its softmax, and a state space, are the same recurrence: the state is small again, and can be full.

# %% [markdown] written="beyond_written" points=3
# ### Written question · 3 points
#
# A colleague has a network that reads heartbeats: sequences of 50,000 samples, one number each, on a watch with one small
# processor, trained on a card with thousands. The answer is needed at every sample, at once. She hesitates between a GRU,
# a minimal GRU and a Transformer. In about eight sentences: what speaks for and against each in training and on the
# watch, what would you try first, and which experiment would tell you that you were wrong?
#
# ### BEGIN SOLUTION
# *Model answer.* In training the GRU has to walk through 50,000 steps, forwards and back, each of which waits for the
# one before: the card is idle most of the time, or the sequence is cut into chunks, and what reaches further than a
# chunk has to be learned from shorter examples. The minimal GRU is trained through a scan, in a few dozen rounds, which
# is where thousands of processors and narrow rows pay most. The Transformer has no walk either, but 50,000 squared
# comparisons a layer, unless it looks at a window only. On the watch it is different: both recurrent networks do one
# small step a sample with one state, at a constant price, and the scan brings nothing there, since samples come one by
# one; a Transformer has to keep all past samples and gets slower with each. So I would try the minimal GRU first, with
# gates that start nearly shut for the long distances, and several layers. What it gives up is that its gates cannot see
# the state: it cannot latch, so that whatever it has noticed fades, it cannot flip a state, count beats modulo
# something, or react to what it has concluded itself. I would train a GRU on short chunks beside it: if that one is
# clearly better on the same held-out recordings, what was given up matters here, and I was wrong.
#
# *Rubric.* **1 point**: training: the walk of the GRU against the scan (and $T^2$ for the Transformer). **1 point**: the
# watch: constant cost of a recurrent step against a growing memory, and that the scan brings nothing there. **1 point**:
# a choice with what is lost by it (gates that do not see the state) *and* an experiment whose outcome could speak against
# it. "Transformers are the state of the art" is worth nothing.
# ### END SOLUTION

# %% [markdown]
# ## Where to read on
#
# - A. Vaswani and others, "Attention Is All You Need", *NeurIPS* 2017.
# - R. P. Brent, "The Parallel Evaluation of General Arithmetic Expressions", *Journal of the ACM* 21, 1974.
# - W. D. Hillis, G. L. Steele, "Data Parallel Algorithms", *Communications of the ACM* 29, 1986, and G. E. Blelloch,
#   "Prefix Sums and Their Applications", CMU-CS-90-190, 1990: scans, and what can be done with them.
# - A. Katharopoulos, A. Vyas, N. Pappas, F. Fleuret, "Transformers are RNNs: Fast Autoregressive Transformers with Linear
#   Attention", *ICML* 2020, and I. Schlag, K. Irie, J. Schmidhuber, "Linear Transformers Are Secretly Fast Weight
#   Programmers", *ICML* 2021: section 7, and how full its state is.
# - E. Martin, C. Cundy, "Parallelizing Linear Recurrent Neural Nets Over Sequence Length", *ICLR* 2018.
# - A. Gu, K. Goel, C. Ré, "Efficiently Modeling Long Sequences with Structured State Spaces", *ICLR* 2022: S4. A. Gu, K. Goel,
#   A. Gupta, C. Ré, "On the Parameterization and Initialization of Diagonal State Space Models", *NeurIPS* 2022. A. Gu,
#   T. Dao, "Mamba: Linear-Time Sequence Modeling with Selective State Spaces", arXiv:2312.00752, 2023; B. Peng and
#   others, "RWKV: Reinventing RNNs for the Transformer Era", arXiv:2305.13048, 2023; M. Beck and others, "xLSTM:
#   Extended Long Short-Term Memory", arXiv:2405.04517, 2024; L. Feng and others, "Were RNNs All We Needed?",
#   arXiv:2410.01201, 2024.
# - W. Merrill, J. Petty, A. Sabharwal, "The Illusion of State in State-Space Models", arXiv:2404.08819, 2024, and R.
#   Grazzi and others, "Unlocking State-Tracking in Linear RNNs Through Negative Eigenvalues", arXiv:2411.12537, 2024:
#   what such networks cannot do, and the minus sign of section 6.

# %% tags=["experiment"]
progress("14_scans")

# %% [markdown]
# ## Looking back
#
# This was the last unit but the project. In unit 00 you wrote a leaky average: keep a share of the old, take the rest from the new.
# Much of what followed turned on that share: who decides it, how it is learned, what it costs. And every part is yours:
# the cell and its way back, a language model, a stack, a tagger, the gates, the five heads, a translator and its
# searches, attention, the scan. Close the circle. Here is the average of unit 00, step by step as on the first day, and
# all at once through your scan:

# %% tags=["experiment", "nbval-ignore-output"]
readings, keep = np.random.default_rng(0).normal(20.0, 5.0, 1000), 0.9
state, averages = 0.0, []
for reading in readings:  # unit 00
    state = keep * state + (1 - keep) * reading
    averages.append(state)
at_once = scan(np.full(1000, keep), (1 - keep) * readings, 0.0)  # this one
difference = np.abs(at_once - averages).max()
print(f"the leaky average of 1,000 readings, all at once: off by {difference:.0e} at most")
assert difference < 1e-10, "Both were expected to give the same averages; " + answer_above

# %% [markdown]
# The notebooks have claimed a good many things. First comes what one might have expected and what did *not* come, or
# not quite, with the notebook's own words on it; the links open the units. Below it is a fold for each unit. Before you
# open one: what do you remember of it?
#
# What rests on training was run over five seeds or more, each claim beside the settings that could have refuted it. The
# table says in how many seeds it held, its figure, and what the controls gave. Read it with suspicion: look for the
# control that *you* would have asked for. What does not hang on luck is not in it: that is asserted each time a notebook
# runs.

# %% tags=["experiment"]
from rnncourse.plots.looking_back import ClaimsTable

looking_back = ClaimsTable()
held, runs = looking_back.seeds()
print(f"claims about training, counted by seeds: held in {held} of {runs}")
assert all(row["controls"] for unit in looking_back.units for row in unit["measured"]), (
    "Every claim was expected to have a control."
)
looking_back

# %% [markdown]
# ## The question that this course leaves open
#
# In unit 01 a model saw a few words and no more. In unit 03 a state carried everything, in principle; from unit 05 on
# you found out, again and again, that "in principle" is not "can be learned", and that what is learned can reach much
# further than its examples. Then the state learned to hold from long examples, too (10), to hand over (12), to be
# looked back at (13), and not to wait (14). Each step gave something up for what it brought, and you have seen what. So when
# the next architecture comes, and it will, you need not ask whether it is *better*. Ask what its steps can do, what has
# to wait for what, and what an experiment of yours would show that its authors did not.
