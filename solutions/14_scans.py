# %% [markdown]
# # 14 · Scans: what need not wait
#
# **When you are done you will be able to**
#
# - compute $T$ steps of a linear recurrence in about $\log_2 T$ rounds;
# - take errors back through any tanh cell by a scan, and its states forwards by guessing and mending;
# - build a recurrent network whose training does not walk through time, and say what it has given up;
# - find the same recurrence in linear attention and in a state space.
#
# **Time**: about three and a half hours; what is marked *optional* comes on top. **You need** unit 04's way back, unit
# 10's gates and unit 13's attention. There are seven exercises and two written questions, 28 points in all. They are
# NumPy on arrays of floats; none may call `scipy` or `torch`, and float32 stays float32.

# %% locked="setup"
import math

import numpy as np

from rnncourse import check, hint, progress, track, use

np.set_printoptions(precision=3, suppress=True)

# %% tags=["experiment"]
progress("14_scans")

# %% [markdown]
# ## 1 · One step after the other
#
# The second bottleneck of unit 13: $h_t$ needs $h_{t-1}$. Step by step, ten thousand steps are ten thousand rounds.
#
# $$h_3 = \tanh(x_3 U + \tanh(x_2 U + \tanh(x_1 U + h_0 W) W) W)$$
#
# No formula shortens nested tanhs. So take them away for a while, and give each unit a factor of its own:
#
# $$h_t = a_t\, h_{t-1} + b_t$$
#
# This is a **linear recurrence**: every unit keeps a share $a_t$ of what it had, and adds $b_t$ (which is not the bias).
# Both may come from the input, but *not* from $h_{t-1}$. The leaky average of unit 00 is one.
#
# *By hand*: $a = (0.5,\ 0.5,\ 2)$, $b = (0,\ 1,\ 0)$, $h_0 = 4$. Then $h_1 = 2$, $h_2 = 0.5 \cdot 2 + 1 = 2$, $h_3 = 4$.

# %% [markdown]
# ### Exercise 14.1 · `linear_recurrence`
# *●○○ · 6 minutes · 2 points*
#
# First the plain loop; everything that follows is measured against it. `a` and `b` have one shape, `(T, …)` with any
# number of further axes or none, and `h0` is `(…)`, a number if there are none. Products are entry by entry. Return
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
# ## 2 · Do not compute states, compute maps
#
# The state before a step you cannot know yet. But you know what the step *does*: it is the map $h \mapsto a_t h + b_t$,
# written down with two numbers, $(a_t, b_t)$. Two maps in a row, first $(a, b)$, then $(a', b')$:
#
# $$h \;\mapsto\; a h + b \;\mapsto\; a'(a h + b) + b' \;=\; \underbrace{a' a}_{}\, h + \underbrace{a' b + b'}_{}$$
#
# They are again such a map, $(a' a,\ a' b + b')$. So are a thousand.
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
# ## 3 · All prefixes at once
#
# The combination of maps is **associative**: their order matters, the brackets do not. Add up eight numbers one after the
# other, and there are seven additions in a row; add pairs, then pairs of pairs, and there are three. And we need every
# **prefix**, the map of all steps up to $t$, since that one gives $h_t$. In the picture each dot combines what comes along
# its arrow with what stands above it; dots of one row do not wait for each other.

# %% tags=["experiment"]
from rnncourse.plots import show
from rnncourse.plots.scans import scan_beside_loop

show(scan_beside_loop(8))

# %% tags=["experiment"]
from rnncourse.plots.films import scan_film

scan_film(8).show(title="A round at a time")

# %% [markdown]
# Column 8 stands for the steps 7 and 8 after the first row, then for 5 to 8, then for 1 to 8. At each row the reach doubles,
# so $\lceil \log_2 T \rceil$ rows are enough: 10 for a thousand steps, 20 for a million. This is a **scan**, that of Hillis
# and Steele.
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
# Is a function a scan, or a loop in disguise? Hand it numbers that count: each knows its value and its **depth**, how many
# operations, each waiting for the one before, it took to make it.

# %% tags=["experiment"]
from rnncourse.experiments.scans import Counting

p, q, r, s = (Counting(value) for value in (1.0, 2.0, 3.0, 4.0))
print("((p + q) + r) + s: ", ((p + q) + r) + s)
print(" (p + q) + (r + s):", (p + q) + (r + s))

# %% [markdown]
# ### Exercise 14.3 · `associative_scan`
# *●●● · 25 minutes · 5 points*
#
# Compute what `linear_recurrence` computes, from the same arguments, with few operations that wait for one another: for
# $T$ steps at most $4 \lceil \log_2 T \rceil + 4$. At $T = 1000$ these are 44, where the loop takes 2,000. Hillis and
# Steele's scan will do. It has to be right for every $T \ge 1$, and for factors of 0: there is no need to divide. Leave the
# arguments as they are. You may call your `combine_affine`, which takes whole arrays: a row of the picture is *one* call.
#
# Once the check hands you arrays of counting numbers, of dtype `object`. So make new arrays with `np.empty_like(a)` or with
# `dtype=a.dtype`: an array of plain floats cannot hold them.
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
# **Guess**: at 2,048 steps the loop has 4,096 operations in a row. How many has your scan?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.scans import largest_difference, operations_in_a_row
from rnncourse.plots.scans import depth_chart

my_guess = 100
loop, scan = use(linear_recurrence), use(associative_scan)
runs, lengths = {"loop": loop, "scan": scan}, [2**k for k in range(1, 12)]
depths = {n: [operations_in_a_row(run, T) for T in lengths] for n, run in runs.items()}
print(f"you guessed {my_guess}; it is {depths['scan'][-1]}")
print(f"loop and scan differ by {largest_difference(loop, scan):.0e} at most")
show(depth_chart(lengths, depths))

# %% tags=["author"]
assert depths["loop"] == [2 * T for T in lengths], "A product and a sum a step were expected."
assert all(depth <= 4 * math.log2(T) + 4 for T, depth in zip(lengths, depths["scan"])), "A scan was expected."
assert largest_difference(loop, scan) < 1e-10, "Loop and scan were expected to agree."

# %% [markdown]
# Twice the steps are twice the wait for the loop, and one round more for the scan.
#
# ### Experiment · does it pay?
#
# Few operations in a row is not the same as little time. Hillis and Steele's scan does $T \log_2 T$ combinations in all,
# the loop $T$. Blelloch's wastes less: combine neighbours in pairs, scan the pairs, fill in what lies between. It takes about
# $2 \log_2 T$ rounds and fewer than $2T$ combinations. We measure it on *one* core against the loop, for single numbers and
# for rows of $32 \times 64$, a layer of 64 units with a batch of 32.
#
# **Guess**: who wins at 1,000 steps, for single numbers and for rows?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.scans import loop_over_scan
from rnncourse.plots.scans import speed_chart

my_guess = {"single numbers": "loop", "rows": "loop"}
steps = [10, 30, 100, 300, 1000, 10_000, 100_000]
single = [loop_over_scan(T) for T in track(steps, "single numbers")]
rows = [loop_over_scan(T, 32, 64) for T in track(steps[:5], "rows")]
winner = {True: "scan", False: "loop"}
print("you:", my_guess, " measured:", winner[single[4] > 1], "and", winner[rows[4] > 1])
show(speed_chart(steps, {"single numbers": single, "rows of\n32 × 64": rows}))

# %% [markdown]
# On one core, for many single numbers the scan wins by far, for rows it loses. Nothing ran in parallel here: what wins is
# that the loop pays for $2T$ calls of NumPy, the scan for a few dozen. With two thousand numbers a step the calls hardly
# matter, and the scan has more to do. What it is *for* is a machine with far more processors than there are numbers in a
# step: a graphics card.

# %% [markdown]
# ## 4 · The way back of any tanh cell
#
# So a plain cell with its tanh and its $W$ has to walk? Forwards, perhaps. Look at the way back of unit 04. The error
# $e_t$ of state $h_t$ is what its own output sends, $dh_t$, and what comes from the step after it:
#
# $$e_t = dh_t + \big(e_{t+1} \odot (1 - h_{t+1}^2)\big)\, W^\top = dh_t + e_{t+1} J_{t+1},
# \qquad J_{t+1} = \mathrm{diag}(1 - h_{t+1}^2)\, W^\top$$
#
# When the way back begins, all states are known, so all $J_t$ are. The rule is **linear in $e$**: it is your recurrence, run
# from the end, with matrices in place of factors. Two maps in a row, first $e \mapsto e A + B$, then $e \mapsto e A' + B'$,
# are $e \mapsto e\,(A A') + (B A' + B')$. So for the errors of 64 steps 6 rounds are enough.
#
# *By hand*, one unit, $W = 2$, three states $0.9, 0.5, 0$, and an error of 1 at the last. $J_3 = (1 - 0) \cdot 2 = 2$,
# $J_2 = (1 - 0.25) \cdot 2 = 1.5$. So $e_3 = 1$, $e_2 = 2$, $e_1 = 3$.

# %% [markdown]
# ### Exercise 14.4 · `backward_by_scan`
# *●●● · 25 minutes · 4 points*
#
# `dH (T, N, H)` are the errors that the states get from their own outputs, `H (T, N, H)` the states of a plain tanh cell,
# `W (H, H)` its recurrent weights. Return the whole error of each state, $e_1$ to $e_T$, `(T, N, H)`. At most
# $2(H + 2) \lceil \log_2 T \rceil + 8$ operations may wait for one another; a product of two $H \times H$ matrices is
# $H$ of them. The check counts once, so mind the dtype as above.
#
# `(1 - H * H)[..., :, None] * W.T` is `(T, N, H, H)`, a $J_t$ for each step and each row of the batch. A row times a matrix,
# for all of them at once, is `(B[..., None, :] @ A)[..., 0, :]`. In a round of reach $r$ = 1, 2, 4 … entry $t$
# takes in entry $t + r$, and the map of $t + r$ is applied first. ($H$ in the bound is the number of units.)
#
#     dH [[[0]], [[0]], [[1]]]   H [[[0.9]], [[0.5]], [[0]]]   W [[2]]     gives [[[3]], [[2]], [[1]]]


# %% answer="backward_by_scan"
def backward_by_scan(dH, H, W):
    """The whole error of each state of a tanh cell, by a scan from the end: dH and H (T, N, H), W (H, H) -> (T, N, H)."""
    ### BEGIN SOLUTION
    A = (1 - H * H)[..., :, None] * W.T
    A = np.concatenate([A[1:], np.zeros_like(A[:1])])  # of step t: from an error of h_{t+1} to one of h_t
    B = dH.copy()
    step = 1
    while step < len(H):
        new_B = (B[step:, :, None] @ A[:-step])[:, :, 0] + B[:-step]
        new_A = A[step:] @ A[:-step]
        A, B = np.concatenate([new_A, A[-step:]]), np.concatenate([new_B, B[-step:]])
        step *= 2
    return B
    ### END SOLUTION


# %% check="backward_by_scan"
check(backward_by_scan)

# %% [markdown]
# You own backpropagation through time without the walk. Here it is beside the walk of unit 04.

# %% tags=["experiment", "nbval-ignore-output"] dials="units = 4; units = 64"
from rnncourse.experiments.scans import way_back

units = 16
difference = way_back(use(backward_by_scan), steps=64, units=units)
print(f"64 steps of {units} units: walk and scan differ by {difference:.0e} at most")
print(f"products: the walk {64 * units**2:,}, the scan about {6 * 64 * units**3:,}")
print(f"numbers kept at a time: the walk {units}, the scan {64 * units**2:,}")

# %% tags=["author"]
assert way_back(use(backward_by_scan)) < 1e-12, "Scan and walk were expected to give the same errors."

# %% [markdown]
# They agree to the last digits: the way back of a tanh cell does not *have* to walk. But it has a price. A combination takes
# $H^3$ products, where a step of the walk takes $H^2$ and your diagonal scan of section 3 takes $H$: against that one, the work
# is times $H^2$. And a matrix is kept for each step. *Try* 64 units.

# %% [markdown]
# ## 5 · And forwards: guess, then mend
#
# Forwards the tanh is in the way. But you can guess *all* states, say 0, and replace each step by its tangent at the guess:
#
# $$h_t \approx f_t + (h_{t-1} - \hat h_{t-1})\, J_t, \qquad f_t = \tanh(x_t U + \hat h_{t-1} W)$$
#
# Here $\hat h$ is the guess, and $J_t$ that of section 4, transposed. That is linear in $h$, so a scan solves it for all $t$ at once, and gives a better guess. Then again: it is Newton's method,
# with a whole sequence as the unknown. The whole Jacobian $J_t = W\,\mathrm{diag}(1 - f_t^2)$ takes a scan of matrices.
# Cheaper: only its diagonal. Then your `associative_scan` does it. Such tangents are not quite right, but where nothing changes
# any more the states are.
#
# **Guess**: 1,000 steps, 16 units, a random $W$ of spectral radius 0.9, the diagonal only. After how many rounds are all
# states right to ten decimals?

# %% tags=["experiment"] dials="radius = 0.5; radius = 1.2; radius = 3.0"
from rnncourse.experiments.scans import newton
from rnncourse.plots.scans import newton_chart

my_guess = 1000
radius = 0.9
errors = {
    "diagonal": newton(radius, scan=use(associative_scan)),
    "diagonal, 10,000 steps": newton(radius, steps=10_000, scan=use(associative_scan)),
    "whole Jacobian": newton(radius, whole=True),
    "diagonal, radius 2": newton(2.0, scan=use(associative_scan)),
}
rounds = {name: len(e) if e[-1] < 1e-10 else "never" for name, e in errors.items()}
print(f"you guessed {my_guess};", rounds)
show(newton_chart(errors))

# %% tags=["author"]
assert max(newton()[-1], newton(whole=True)[-1]) < 1e-10, "Newton was expected to arrive."
assert newton(2.0)[-1] > 1e-3, "A chaotic cell was not expected to be found."

# %% [markdown]
# **Claim:** at a spectral radius of 0.9, 1,000 states are right to ten decimals within 120 rounds if each unit's own slope
# is used, and within 12 with the whole Jacobian. At a radius of 2 they are not right after 120.
#
# It held in {{held few_rounds}} seeds: {{newtons_rounds/radius 0.9/rounds|median .0f}} rounds with the diagonal,
# {{newtons_rounds/radius 0.9, whole Jacobian/rounds|median .0f}} with the whole, and at ten times the length still
# {{newtons_rounds/radius 0.9, 10,000 steps/rounds|median .0f}}. The number of rounds depends on how fast the cell forgets a
# wrong guess, hardly on $T$. At a radius of 2 an error in a guess grows from step to step. *Try* 1.2, then 3.
#
# Each round is a whole scan over the sequence, so the gain comes with length. Lim and others published this in 2024 as DEER
# (the whole Jacobian); Gonzalez and others the same year with the diagonal, and with damped steps, as ELK. In 2025 ParaRNN
# trained adapted LSTMs and GRUs, of Jacobians that are diagonal or in small blocks, with 7 billion parameters. So a gate that
# sees the state does *not* force a walk.

# %% [markdown]
# ## 6 · A recurrent network made for the scan
#
# Forbid the gate and the candidate of unit 10's GRU to look at the state. The reset gate has nothing to reset then, and the
# candidate's tanh goes too, since an average cannot grow. What is left is the **minimal GRU** of Feng and others:
#
# $$
# z_t = \sigma(x_t W_z) \qquad\quad \tilde h_t = x_t W_h \qquad\quad h_t = (1 - z_t)\, h_{t-1} + z_t\, \tilde h_t
# $$
#
# (Here $z = 1$ renews: the other convention of unit 10.) All gates and all candidates come from two products. What
# remains is one scan, with $a_t = 1 - z_t$ and $b_t = z_t \tilde h_t$. A state is an average of $h_0$ and the candidates, so it
# cannot grow beyond them.
#
# *By hand*: $z = 0.5$ always, candidates 4 and 0, $h_0 = 8$: then $h_1 = 4 + 2 = 6$ and $h_2 = 3$.

# %% [markdown]
# ### Exercise 14.5 · `min_gru_forward`
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
# ## 7 · What its gates cannot see
#
# Does such a cell remember? Here are weights by hand for the recall task of units 05 and 10: a symbol, then noise, then the
# question which of four symbols it was. A symbol opens the gate, $z = \sigma(20)$, and writes itself. Noise shuts it, $z =
# \sigma(-20)$, and would write something random.
#
# **Guess**: what share is right after 20,000 steps of noise?

# %% tags=["experiment"] dials="shut = 10.0; shut = 5.0"
from rnncourse.experiments.scans import held_by_hand

my_guess = 0.25
shut = 20.0
share = held_by_hand(shut, lag=20_000, forward=use(min_gru_forward))
print(f"you guessed {my_guess}; right after 20,000 steps: {share:.2f}")

# %% tags=["author"]
assert held_by_hand(20.0) == 1, "The latch that was written by hand was expected to hold."

# %% [markdown]
# All. It *is* a latch; unit 10's `latch` had $W = 0$, so its gates saw no state either. *Try* `shut = 5`: then each
# step lets a 150th part of the noise in.
#
# ### Experiment · can it learn that?
#
# Train on lags from 1 to 7, ask up to 1,000. Three networks of 16 units: a plain cell; a minimal GRU whose gates start half
# open, with a bias of $\beta = 0$; one whose gates start shut, $\beta = -14$. (What is trained:
# `rnncourse.experiments.scans_torch`.)
#
# **Guess**: which of them still know the symbol after 100 steps of noise?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.scans_torch import LAGS, NETWORKS, recalled, train_to_recall

mine = {"plain"}  # your guess
readers = {name: train_to_recall(name) for name in NETWORKS}
for name, model in readers.items():
    shares = " ".join(f"{recalled(model, lag):.2f}" for lag in LAGS)
    print(f"{name:<21} at lags {LAGS}: {shares}" + "   (your guess)" * (name in mine))

# %% tags=["author"]
assert recalled(readers["minimal GRU, β = −14"], 100) > 0.9 > 0.4 > recalled(readers["minimal GRU, β = 0"], 100)

# %% [markdown]
# **Claim:** trained on lags from 1 to 7, a minimal GRU that starts at β = −14 recalls after 100 steps of noise, and one that
# starts at 0 guesses.
#
# It held in {{held holds_if_shut}} seeds ({{held holds_if_shut|interval}}). At a lag of 1,000 the shut one is right in
# {{short_examples/minimal GRU, β = −14/lag 1000}}, the plain cell in {{short_examples/plain/lag 1000}}. Again the start
# decides, as in unit 10.
#
# ### Experiment · a push
#
# What was given up? Push a state, by 0.5 in a random direction. Compare two distances: between the states of two symbols, which
# is the memory; and between pushed and not pushed, which is an error.
#
# **Guess**: which of the three networks gets rid of the push and keeps the memory?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.scans_torch import memory_and_push
from rnncourse.plots.scans import memory_beside_push

my_guess = "minimal GRU, β = −14"
kept = {name: memory_and_push(model) for name, model in readers.items()}
show(memory_beside_push(kept))
print("your guess:", my_guess)

# %% [markdown]
# **Claim:** after 200 steps of noise the plain cell keeps its symbols apart and has undone a push; the minimal GRU that
# starts at β = −14 keeps both, and the one that starts at 0 keeps neither.
#
# It held in {{held push_stays}} seeds. The reason is one line. Two states that read the same noise have the same gates,
# since gates see nothing but the noise: $h_t = a_t h_{t-1} + b_t$ and $h'_t = a_t h'_{t-1} + b_t$. Subtract:
#
# $$h_t - h'_t = a_t\,(h_{t-1} - h'_{t-1}), \qquad 0 < a_t < 1$$
#
# In each unit whatever separates two states fades by the same factor, be it a memory or an error. The plain cell looks at
# where it is: it has an attractor for each symbol, and pulls back what lies near one. **One layer of minimal GRU can hold for
# as long as you like. A unit that holds its memory holds an error in it as long.**

# %% tags=["experiment", "nbval-ignore-output"] dials="change = {\"updates\": 1000}"
from rnncourse.experiments.breaking import one_change
from rnncourse.experiments.scans_torch import recall_of_a_core

claim = {"core": "minimal", "beta": -14.0, "rate": 0.03}
change = {"lags": (1, 3)}
print(one_change(recall_of_a_core, claim, change, seeds=range(50, 53)))

# %% [markdown] written="scans_break" points=3
# ### Written question 1 · break this claim
# *3 points, by hand; 25 minutes*
#
# As in unit 05, section 8: say what you expect, change **one** setting (`core`, `beta`, `rate`, `lags` or `updates`), and
# hand in table, verdict, a reason, and what would make you surer.
#
# ### BEGIN SOLUTION
# **Model answer.** The claim: a minimal GRU that starts at β = −14 recalls after 100 steps. I change β to −7 and expect no
# difference, because σ(−7) lets less than a thousandth of the noise in at each step. The table of
# `one_change(recall_of_a_core, {"core": "minimal", "beta": -14.0, "rate": 0.03}, {"beta": -7.0}, seeds=range(50, 55))` has,
# before and after: at lag 7 1.00 and 1.00 in all seeds; at lag 100 1.00 (1.00 to 1.00) and 0.86 (0.26 to 1.00); at lag 1,000
# 1.00 (0.73 to 1.00) and 0.23 (0.23 to 0.28). Verdict: at 100 the claim holds with −7 in some seeds and falls in others; at
# 1,000 it falls in all five. It holds within a limit: the leak times the lag has to stay small. A reason may be that
# training opens the gates further, since no example is longer than seven steps; that is a guess. To be surer I would measure
# the mean of the gate in noise after training, for β of −7, −10 and −14, on twenty new seeds.
#
# **Rubric.** 1 point: one setting changed and named, with an expectation of before the run, and a table with settings,
# seeds and figures of both columns, over three seeds at least (½ if the seeds or the column of the claim are missing).
# 1 point: a verdict that follows from the figures, ranges included, and does not say more than they do (½ if it rests on
# medians alone where ranges overlap). 1 point: a reason for what came, marked as a guess unless it was measured (½), and
# a further run that could refute it (½).
# ### END SOLUTION

# %% [markdown]
# ### Optional · parity
#
# **Parity**: after each bit, say whether the number of ones so far is odd. **Guess**: after how many bits does each cell begin
# to guess?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments import beside
from rnncourse.experiments.scans_torch import parity_right, train_on_parity

for core in ("plain", "minimal"):
    odd = parity_right(train_on_parity(core))
    print(f"{core:<8} after 1, 2, 10 bits: {odd[0]:.2f} {odd[1]:.2f} {odd[9]:.2f}")
    late = beside(f"14_scans:bits/{core}/bits 41 to 50", odd[40:].mean())
    print("   bits 41 to 50:", late)

# %% [markdown]
# **Claim:** trained on 10 bits, with an answer asked after each, the plain cell has the parity right after 50 bits. The
# minimal GRU has it right after one bit, and guesses after ten.
#
# It held in {{held parity_learned}} seeds. On ones alone each step is the *same* map $h \mapsto a h + b$ with $0 < a < 1$,
# towards a fixed point from one side; a weighted sum of 16 such states changes its sign 16 times at most. With a negative
# $a$ one unit is enough. Which $a_t$ and $b_t$ would you take, for a bit $x_t$? One answer:

# %% tags=["experiment"]
bits = np.random.default_rng(0).integers(0, 2, 100_000)
sign = scan(1.0 - 2.0 * bits, np.zeros(len(bits)), 1.0)  # a 1 turns it round
right = (sign < 0) == (bits.cumsum() % 2 == 1)
print(f"parity of {len(bits):,} bits, by a scan: {right.sum():,} right")

# %% [markdown]
# ## 8 · Attention without its softmax
#
# Unit 13 ended with a price: attention keeps the keys and values of all that was read. Why? Take the scores as they are,
# without a softmax and unscaled, in a causal step:
#
# $$
# \text{out}_t = \sum_{s \le t} (q_t \cdot k_s)\, v_s = q_t \underbrace{\sum_{s \le t} k_s^\top v_s}_{S_t} \qquad\qquad
# S_t = S_{t-1} + k_t^\top v_t
# $$
#
# The query does not depend on $s$, so it can wait outside of the sum. What is left inside is a matrix $S_t\ (d, d_v)$: a
# state, which each step adds to. It is your recurrence with $a_t = 1$, called **linear attention**.
#
# It is not the softmax's *division* that keeps everything: the sum of the scores is $q_t \cdot \sum_s k_s$, one more state. It
# is the **exp**: $\exp(q \cdot k)$ does not factor into features of $q$ and features of $k$, unless there are infinitely many.

# %% [markdown]
# ### Exercise 14.6 · `linear_attention`
# *●●○ · 14 minutes · 3 points*
#
# `Q (T, d)`, `K (T, d)`, `V (T, d_v)` are queries, keys and values: return $\text{out}_1$ to $\text{out}_T$, `(T, d_v)`. It
# is causal, and nothing is scaled or divided. Use your `associative_scan`, or your loop; while this exercise is checked,
# they are correct ones. Axes of length 1 make all $k_t^\top v_t$ at once: `K[:, :, None]` is `(T, d, 1)`.
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
# ### Experiment · how full is it?
#
# Pairs are stored, each a random key of length 1 with $d = 16$ numbers and one of 16 values. Then each key is asked for once
# more. Four ways to ask: linear attention; the same with *squared* scores, $(q \cdot k)^2$, which factor, too, into
# $d^2$ features; the softmax as unit 13 has it, which asks with the key as it is; and a softmax whose queries are made
# longer, by a factor that is chosen on other pairs.
#
# **Guess**: of 64 pairs, which of the four find more than nine in ten?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.scans import best_sharpness, found_linear, found_softmax
from rnncourse.plots.scans import pairs_chart

mine = {"softmax"}  # your guess
stored, sharp = (1, 2, 4, 8, 16, 32, 64), best_sharpness()
linear = use(linear_attention)
found = {
    "linear": [found_linear(n, attend=linear) for n in stored],
    "squared": [found_linear(n, 2, attend=linear) for n in track(stored, "squares")],
    "softmax": [found_softmax(n) for n in stored],
    "softmax,\nlonger queries": [found_softmax(n, sharp) for n in stored],
}
print(f"your guess: {mine}; queries {sharp:.0f} times as long")
show(pairs_chart(stored, found, guess=1 / 16))

# %% tags=["author"]
assert found["linear"][2] > 0.95 > 0.75 > found["linear"][-1], "64 pairs were not expected to fit."
assert min(found["squared"][-1], found["softmax,\nlonger queries"][-1]) > 0.9, "Both were expected to find all."

# %% [markdown]
# **Claim:** a state of 16 × 16 numbers gives back nearly all of 4 pairs, and fewer than three in four of 64. With squared
# scores, and with a softmax that is sharp enough, more than nine in ten of the 64 come back.
#
# It held in {{held full_state}} seeds. So the first bottleneck is back, and it has a size: $d \times d_v$ numbers are full when
# keys get in each other's way. Squared scores do better because their state has $16^2 \times 16$ numbers. The softmax is no
# better by itself: with short queries its weights are nearly equal, and it finds
# {{stored_pairs/softmax/64 pairs|median .0%}} where the linear one finds {{stored_pairs/linear/64 pairs|median .0%}}. But it
# *can* be sharp, and a trained network learns how long its queries should be.
#
# What else helps a full state? *Forget*: a factor $a_t$ before $S_{t-1}$; your scan takes it. (Here, where every pair is asked
# for, it makes things worse.) Or *correct*, as **DeltaNet** does: add only what is missing, $S_t = S_{t-1} +
# k_t^\top (v_t - k_t S_{t-1})$. That is still linear in $S$, with the matrix $I - k_t^\top k_t$ in place of $a_t$.

# %% [markdown]
# ## 9 · A state space
#
# The other road to the same place began with filters. A signal $x_t$, one number a step, goes into $H$ units, each with a
# factor of its own that never changes, and a weighted sum of them comes out:
#
# $$s_t = a \odot s_{t-1} + b\, x_t \qquad\qquad y_t = \sum_{i=1}^H c_i\, s_{ti}$$
#
# This is a **diagonal state space**: your recurrence with the same $a$ at each step and $b\, x_t$ in place of $b_t$. (A
# layer has such a filter for each of its inputs.)
#
# *By hand*: $a = (0.5, 0)$, $b = (1, 1)$, $c = (4, 1)$, and a single knock at the door, $x = (1, 0, 0)$. The states are
# $(1, 1)$, $(0.5, 0)$, $(0.25, 0)$, and $y = (5, 2, 1)$.

# %% [markdown]
# ### Exercise 14.7 · `diagonal_ssm`
# *●●○ · 12 minutes · 3 points*
#
# `x (T,)`, `a (H,)`, `b (H,)`, `c (H,)`: return `y (T,)`. The state starts at 0. Through your scan, please: once the check
# hands you counting numbers, and at most $4 \lceil \log_2 T \rceil + H + 8$ operations may wait for one another. While this
# exercise is checked, `associative_scan` is a correct one; it wants `a` and `b` of one shape.
#
#     x [1, 0, 0]   a [0.5, 0]   b [1, 1]   c [4, 1]     gives [5, 2, 1]


# %% answer="diagonal_ssm"
def diagonal_ssm(x, a, b, c):
    """s_t = a s_{t-1} + b x_t from 0, y_t = sum of c s_t, by a scan: x (T,), a, b, c (H,) -> y (T,)."""
    ### BEGIN SOLUTION
    terms = x[:, None] * b  # (T, N)
    factors = np.broadcast_to(a, terms.shape)
    states = associative_scan(factors, terms, np.zeros_like(a))
    return states @ c
    ### END SOLUTION


# %% check="diagonal_ssm"
check(diagonal_ssm)

# %% [markdown]
# What comes out $j$ steps after a single knock is $\kappa_j = \sum_i c_i\, a_i^j\, b_i$, the **kernel**. So there is a third way
# to compute it, a convolution: $y_t = \sum_{j} \kappa_j\, x_{t-j}$. That needs factors which never change; gates that look at
# the input leave only the scan.
#
# **Guess**: what do the two units below answer to a knock, a slow one with $c = 1$ and a fast one with $c = -1$?

# %% tags=["experiment"] dials="my_a = np.array([-0.9, 0.5]); my_c = np.array([1.0, 0.0])"
from rnncourse.plots.scans import kernel_chart

my_a = np.array([0.9, 0.5])
my_b = np.array([1.0, 1.0])
my_c = np.array([1.0, -1.0])
show(kernel_chart(use(diagonal_ssm)(np.eye(1, 40)[0], my_a, my_b, my_c)))

# %% [markdown]
# Nothing at first, since the two cancel; then a rise, a slow fall. *Try* one that rings up and
# down, and one that forgets at once. Which of the three vectors do you have to change?

# %% [markdown]
# ## 10 · A bug to hunt
#
# A scan by division: $h_t = P_t\,(h_0 + \sum_{s \le t} b_s / P_s)$ with $P_t = a_1 \cdots a_t$. The formula is right, and it
# takes two lines of NumPy. **Guess**: with factors of 0.6, from which step on is it wrong, and why?

# %% tags=["experiment"] dials="factor = 0.9"
factor = 0.6
a, b = np.full(10_000, factor), np.random.default_rng(0).normal(size=10_000)
with np.errstate(all="ignore"):
    product = np.cumprod(a)
    divided = product * (1.0 + np.cumsum(b / product))
wrong = ~np.isclose(divided, loop(a, b, 1.0))
first = np.argmax(wrong)
print(f"wrong from step {first} on; the product there: {product[first]:.0e}")
difference = np.abs(scan(a, b, 1.0) - loop(a, b, 1.0)).max()
print(f"the scan is off by {difference:.0e} at most")

# %% [markdown]
# The product becomes so small that dividing by it overflows. The scan never divides. *Try* a factor of
# 0.9.

# %% [markdown]
# ## 11 · Where the field went
#
# The **Transformer** (Vaswani and others 2017) left the recurrence out, for $T^2$ comparisons and a memory that grows. So
# recurrence came back:
#
# | who | the state, and what a step does to it |
# |---|---|
# | LSTM, GRU | a vector; gates (unit 10) |
# | linear attention | a matrix; $S_t = S_{t-1} + k_t^\top v_t$ |
# | **DeltaNet** | a matrix; writes what is missing |
# | **S4** | filters with learned factors that never change |
# | **Mamba** | filters whose $a_t$, $b_t$ and readout come from $x_t$ |
# | **xLSTM**: mLSTM | a matrix; $S_t = f_t\, S_{t-1} + i_t\, k_t^\top v_t$ |
# | **xLSTM**: sLSTM | the LSTM's vector, normalised |
# | minimal GRU | a vector; section 6 |
#
# **Guess** for each: may a gate see $h_{t-1}$, and what is it trained by?
#
# <details><summary>Answers</summary>
#
# A gate sees $h_{t-1}$ in the LSTM, the GRU and the sLSTM alone, so these are trained by a walk, or Newton's rounds. DeltaNet
# has a strength from $x_t$, and is trained by products, chunk by chunk; linear attention and S4 have no gate at all. Linear
# attention and the mLSTM take the form of attention, S4 takes a convolution, Mamba and the minimal GRU take a scan.
#
# </details>
#
# S4's matrix was nearly diagonal; Gupta, Gu and Berant showed in 2022 (DSS) that diagonal is enough. Merrill and others proved
# that S4 and Mamba cannot follow certain changes of state, *if* a fixed number of parallel layers cannot do what $\log T$ of
# them can (TC⁰ ≠ NC¹), which nobody has proved. Grazzi and others showed what factors between 0 and 1 cannot do, parity
# among it.
#
# ## 12 · What you have
#
# - A linear recurrence is a row of maps; combining maps is associative; so all prefixes take $O(\log T)$ rounds.
# - The way back of every tanh cell is such a recurrence, of matrices. Forwards a cell that forgets is found by guessing and
#   mending.
# - A minimal GRU trains by one scan and can hold; it cannot pull back what was pushed, nor keep a parity.
# - Attention whose scores factor, and a state space, are the same recurrence: the state is small, and can be full.

# %% [markdown] written="beyond_written" points=3
# ### Written question 2 · 3 points
#
# A colleague's network is to read heartbeats, 50,000 samples in a row, on a watch with one small processor; it is trained on
# a card with thousands. The answer is needed at every sample, at once. A GRU, a minimal GRU or a Transformer? In about eight
# sentences: what speaks for and against each in training and on the watch, what would you try first, and which experiment
# would tell you that you were wrong?
#
# ### BEGIN SOLUTION
# *Model answer.* Trained step by step, the GRU walks through 50,000 steps, forwards and back, and the card is idle most of
# the time. The sequence can be cut into chunks, or the states found by Newton's rounds, each of them a scan; that costs
# more work, and works only while the cell forgets. The minimal GRU is trained through one scan, a few dozen rounds, which
# is where thousands of processors and narrow rows pay most. The Transformer has no walk either, but 50,000 squared
# comparisons a layer, unless it looks at a window only. On the watch it is different: both recurrent networks do one small
# step a sample with one state, at a constant price, and the scan brings nothing there, since samples come one by one; a
# Transformer has to keep all past samples and gets slower with each. So I would try the minimal GRU first, with gates that
# start nearly shut for the long distances, and several layers. What it gives up is that its gates cannot see the state: it
# can hold, but an error in its state stays as long as the memory does, and it cannot flip a state or count beats modulo
# something. I would train a GRU on short chunks beside it, with as many tries at its settings: if that one is clearly better
# on the same held-out recordings, what was given up matters here, and I was wrong.
#
# *Rubric.* **1 point**: training: the walk of the GRU, or what it costs to avoid it, against the scan (and $T^2$ for the
# Transformer). **1 point**: the watch: constant cost of a recurrent step against a growing memory, and that the scan brings
# nothing there. **1 point**: a choice with what is lost by it (gates that do not see the state: no pulling back, no parity)
# *and* an experiment whose outcome could speak against it. "A minimal GRU cannot hold anything for long" is false and earns
# nothing; so does "Transformers are the state of the art".
# ### END SOLUTION

# %% [markdown]
# ## Where to read on
#
# - W. D. Hillis, G. L. Steele, "Data Parallel Algorithms", *CACM* 29, 1986; G. E. Blelloch, "Prefix Sums and Their
#   Applications", 1990; E. Martin, C. Cundy, "Parallelizing Linear Recurrent Neural Nets Over Sequence Length", *ICLR* 2018.
# - Y. H. Lim and others (DEER), *ICLR* 2024; X. Gonzalez and others (ELK), *NeurIPS* 2024; F. Danieli and others (ParaRNN),
#   2025.
# - A. Katharopoulos and others, "Transformers are RNNs", *ICML* 2020; I. Schlag, K. Irie, J. Schmidhuber, "Linear
#   Transformers Are Secretly Fast Weight Programmers", *ICML* 2021; S. Yang and others, "Parallelizing Linear Transformers
#   with the Delta Rule", *NeurIPS* 2024.
# - A. Gu, K. Goel, C. Ré (S4), *ICLR* 2022; A. Gupta, A. Gu, J. Berant (DSS), *NeurIPS* 2022; A. Gu, T. Dao (Mamba),
#   arXiv:2312.00752; M. Beck and others (xLSTM), arXiv:2405.04517; L. Feng and
#   others, "Were RNNs All We Needed?", arXiv:2410.01201.
# - W. Merrill, J. Petty, A. Sabharwal, "The Illusion of State in State-Space Models", *ICML* 2024; R. Grazzi and others,
#   "Unlocking State-Tracking in Linear RNNs Through Negative Eigenvalues", arXiv:2411.12537.

# %% tags=["experiment"]
progress("14_scans")

# %% [markdown]
# ## Looking back
#
# First what one might have expected and what did *not* come; then a fold for each unit: in how many seeds each claim held,
# with Wilson's interval at 95%. **Guess**, before you open one: what do you remember of it?

# %% tags=["experiment"]
from rnncourse.plots.looking_back import ClaimsTable

looking_back = ClaimsTable()
held, runs = looking_back.seeds()
print(f"on seeds on which nothing was chosen, claims held in {held} of {runs} runs")
looking_back

# %% [markdown]
# When the next architecture comes, ask what its steps can do, what has to wait for what, and what an experiment of yours
# would show that its authors did not. The project begins there.
