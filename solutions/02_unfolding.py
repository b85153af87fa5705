# %% [markdown]
# # 02 · Dynamical systems and their graphs
#
# **When you are done you will be able to**
#
# - write a rule that is applied again and again as a recurrence, and unfold it into a graph without cycles;
# - drive such a system with a signal from outside, and say what its state keeps of the past, what it drops, and when
#   nothing that matters is lost;
# - find out by experiment which output of a model depends on which input, and tell a convolution from a recurrence by
#   the pattern;
# - say, and measure, what you gain by using one transition at every step: every length, and far fewer examples.
#
# **Time:** about two hours. **Before you start:** unit 01, NumPy arrays, and functions that take functions. There are 6
# exercises and one written question, 15 points in all. Wherever states are asked for, float32 stays float32.

# %% locked="setup"
import numpy as np

from rnncourse import check, hint, progress, use

# %% tags=["experiment"]
progress("02_unfolding")

# %% [markdown]
# ## The word that had left the window
#
# Read this and say the next word: *I am studying medicine at UBC because I want to work as a …*
#
# The 5-gram of unit 01 cannot: *medicine* has left its window, and for every window there is a longer sentence. You did not
# look back either, most likely. When you came to the gap, you still *had* "medicine", because you carried something along
# while you read. So here is the question of this unit: **can a model carry along what it needs of the past, at a cost that
# does not grow with the past?**
#
# The idea is a note with room for a few numbers. At every step you read the note, look at what is new, and write the note
# anew. The note is called the **state**. This unit is about states and the rules that rewrite them, and leaves learning
# aside. The loop that you write here is the one that runs in every recurrent network.
# %% [markdown]
# ## 1 · One rule, again and again
#
# A bank pays 10 percent a year. You bring 100, and wait:
#
# $$100 \;\to\; 110 \;\to\; 121 \;\to\; 133.1$$
#
# Four numbers and three arrows, and at every arrow the same: times 1.1. What is there now says everything about what comes
# next.
#
# In symbols: the **state** at time $t$ is $s_t$, the rule that carries it on is the **transition** $f$, and the numbers
# in the rule are its **parameters** $\theta$ (theta). Here $f(s; \theta) = \theta s$ with $\theta = 1.1$ and $s_0 = 100$.
# In general
#
# $$s_t = f(s_{t-1};\, \theta)$$
#
# This is a **recurrence**: it defines $s_t$ by the same thing one step earlier. The state changes with time. The transition
# and its parameters do not. In the formula a semicolon stands before what stays the same; in Python it is a plain comma,
# `f(s, theta)`.
#
# To get rid of the $s$ on the right, put the definition into itself until only $s_0$ is left:
#
# $$s_3 = f(s_2;\, \theta) = f(f(s_1;\, \theta);\, \theta) = f(f(f(s_0;\, \theta);\, \theta);\, \theta)$$
#
# That is called **unfolding**. Both forms can be drawn:
# %% tags=["experiment"]
from rnncourse.plots import dynamical_system, show

show(
    dynamical_system(3),
    alt="""Left, the circuit: one node s with a loop f back into itself, and a black square on the loop. Right, the same
    system unfolded: nodes s_0, s_1, s_2 and s_3 in a row, joined by three arrows that are all called f.""",
)

# %% [markdown]
# On the left is the **circuit**: what you have to build. The black square is a delay: what goes in comes out one step later.
# Without it, $s$ would have to be equal to $f(s)$ at once.
#
# On the right is the **unfolded graph**: what happens, one node for each moment. The circuit has a cycle; the graph has none,
# because every arrow goes forward in time. Such a graph (a *directed acyclic graph*, DAG) has an order in which everything can
# be computed, and unit 04 will walk through it in the opposite order, to learn. This needs a **finite** number of steps: after
# $T$ of them nothing is left on the right but $s_0$. A stream without an end has no last node to walk back from; it is unfolded
# a piece at a time.

# %% [markdown]
# ### Exercise 2.1 · `unfold`
# *●○○ · 8 minutes · 2 points*
#
# Write `unfold(f, s0, theta, steps)`, which runs a dynamical system and returns all its states.
#
# - `f(s, theta)` is the transition. Call it exactly `steps` times.
# - `s0` is the first state: a number, or an array of any shape. `theta` is whatever `f` takes; hand it on as it is.
# - `steps` is a whole number, 0 or more.
# - The result is a new array of the `steps + 1` states, `s0` first. If a state has the shape `(2,)`, the result has the
#   shape `(steps + 1, 2)`; if it is a number, `(steps + 1,)`.
#
# By hand: `unfold(f, 100.0, 1.1, 3)` with `f(s, theta) = theta * s` is `[100.0, 110.0, 121.0, 133.1]`. Four states,
# three calls of `f`.


# %% answer="unfold"
def unfold(f, s0, theta, steps):
    """Run s_t = f(s_{t-1}, theta) for `steps` steps; return all states, s0 first -> (steps + 1, …)."""
    ### BEGIN SOLUTION
    states = [s0]
    for _ in range(steps):
        states.append(f(states[-1], theta))
    return np.stack(states)
    ### END SOLUTION


# %% check="unfold"
check(unfold)

# %% [markdown]
# You now own a machine that runs any system of this form.
#
# ### A small difference, many steps later
#
# **Guess first:** two accounts differ by one cent. How far apart are they after 100 years, at a bank that pays 10 percent a
# year, and at one that takes 10 percent? Then run the cell, and put rates of your own into it.

# %% tags=["experiment"]
run = use(unfold)


def bank(s, theta):
    return theta * s


for theta in (1.1, 1.0, 0.9):
    one, other = run(bank, 100.0, theta, 100), run(bank, 100.01, theta, 100)
    gap = other[-1] - one[-1]
    print(f"theta = {theta}: 0.01 apart at first, {gap:.2g} after 100 years")
    assert np.isclose(gap, 0.01 * theta**100), "Expected the gap times theta to the 100. Has unfold passed its check?"

# %% [markdown]
# This is, in its smallest form, the trouble with *training* recurrent networks: a small change, carried through many steps,
# **explodes** or **vanishes**, because each step multiplies it. Unit 05 is about that. (The last section of this unit shows a
# rule in one line with which a difference of a billionth becomes everything.)

# %% [markdown]
# ### When is a state a state?
#
# 1, 1, 2, 3, 5, 8: each number is the sum of the two before it. What comes next? From the 8 alone nobody can tell: 2, 6, 8 obeys
# the same rule, and goes on with 14, not 13. So the last number is no state. The last *two* are one, with the transition
# $f(a, b) = (b,\, a + b)$: they say everything about the future that the whole past could tell.
#
# > **A state is what you have to know of the past in order to go on.**
#
# Remember this when we come to networks. If the state of a language model leaves out that the subject was *medicine*, no
# transition in the world can bring it back.

# %% [markdown]
# ## 2 · Many steps are one function
#
# $s_3 = f(f(f(s_0)))$ has a second reading: one function, "three steps of $f$", applied to $s_0$. Write it $f^3$, and in general
# $f^t$ for $t$ steps of $f$, with $f^0$ the function that leaves everything as it is. Then
#
# $$s_t = f^t(s_0)$$
#
# By hand, for $f(s) = 2s$: $\;f^3(5) = 2 \cdot 2 \cdot 2 \cdot 5 = 40$, $\;f^1(5) = 10$, and $f^0(5) = 5$. (Not to be mixed
# up with powers of numbers: $f^3(s)$ is not $f(s) \cdot f(s) \cdot f(s)$.)
#
# Seen this way, a run of 200 steps is a *deep network* of 200 layers, all of them the same.

# %% [markdown]
# ### Exercise 2.2 · `compose`
# *●●○ · 8 minutes · 2 points*
#
# Write `compose(f, times)`, which returns the function $f^{\text{times}}$.
#
# - `f(s)` has one argument here; what it takes and returns is its own business.
# - What you return is a function of one argument. `compose(f, 3)(s)` is `f(f(f(s)))`, with exactly three calls of `f`.
# - `times` is a whole number from 0 to 200. `compose(f, 0)` is the identity: `compose(f, 0)(s)` is `s`.
#
# By hand: `compose(lambda s: 2 * s, 3)(5)` is 40.


# %% answer="compose"
def compose(f, times):
    """The function that applies f `times` times, one after the other; the identity for times = 0."""

    ### BEGIN SOLUTION
    def composed(s):
        for _ in range(times):
            s = f(s)
        return s

    return composed
    ### END SOLUTION


# %% check="compose"
check(compose)

# %% [markdown]
# You can now ask for any layer of the deep network.
#
# **Claim:** cut a run of 200 steps after 0, 1, 77 or 200 steps, and go on from the state that is there: the end is the same,
# to the last bit. **Guess first:** does that hold as well if you go on from the last *number*, without the one before it?

# %% tags=["experiment"]
power = use(compose)


def next_pair(s):
    """The last two numbers of 1, 1, 2, 3, 5, 8, …, one step on."""
    return np.array([s[1], s[0] + s[1]])


start = np.array([1.0, 1.0])
whole = power(next_pair, 200)(start)
for cut in (0, 1, 77, 200):
    first = power(next_pair, cut)(start)
    assert np.array_equal(power(next_pair, 200 - cut)(first), whole), (
        f"Expected the same end, to the last bit, when cut after {cut} steps. Has compose passed its check?"
    )
print("200 steps in one go, or cut in two wherever you like:", whole)

# %% [markdown]
# $f^{200} = f^{123} \circ f^{77}$ (read: first 77 steps, then 123). The second part needs nothing of the first but the state
# where it ended: put it aside, read on tomorrow, and nobody can tell the difference. Units 05 and 06 cut long texts in just
# this way.

# %% [markdown]
# ## 3 · A signal from outside
#
# A bank account reads no text. What is missing is an input. Let something new come in at each step, $x_t$, and let the
# transition see it:
#
# $$s_t = f(s_{t-1},\, x_t;\, \theta)$$
#
# The system is now **driven** by the signal $x_1, x_2, \dots, x_T$.

# %% tags=["experiment"]
show(
    dynamical_system(3, driven=True),
    alt="""Left, the circuit: an input x with an arrow into the state s, which has a loop f with a black delay square. Right,
    unfolded: s_0 to s_3 in a row, joined by arrows f; x_1 has an arrow into s_1, x_2 into s_2, x_3 into s_3.""",
)

# %% [markdown]
# By hand, with $f(s, x; \theta) = \theta s + x$, $\theta = 0.5$, $s_0 = 0$ and the signal $1, 0, 4$:
#
# | $t$ | $s_{t-1}$ | $x_t$ | $s_t = 0.5\, s_{t-1} + x_t$ |
# |---|---|---|---|
# | 1 | 0 | 1 | **1** |
# | 2 | 1 | 0 | **0.5** |
# | 3 | 0.5 | 4 | **4.25** |
#
# Count in the picture: $T$ inputs, $T$ arrows from state to state, $T + 1$ states. In formulas the inputs are counted from
# 1, in Python from 0: **$x_1$ is `xs[0]`**, and it takes part in the first step, from $s_0$ to $s_1$.

# %% [markdown]
# ### Exercise 2.3 · `unfold_driven`
# *●●○ · 8 minutes · 2 points*
#
# Write `unfold_driven(f, s0, xs, theta)`, which runs a driven system over a whole signal.
#
# - `f(s, x, theta)` is the transition. Call it once for each input.
# - `s0` is a number or an array of any shape; `xs` is an array `(T, …)` with T at least 1, and `xs[t]` is one input.
# - The result is a new array of the `T + 1` states, `s0` first.
#
# By hand, from the table: `unfold_driven(f, 0.0, np.array([1.0, 0.0, 4.0]), 0.5)` with `f(s, x, theta) = theta * s + x` is
# `[0.0, 1.0, 0.5, 4.25]`.


# %% answer="unfold_driven"
def unfold_driven(f, s0, xs, theta):
    """Run s_t = f(s_{t-1}, x_t, theta) over the signal xs (T, …); return all states, s0 first -> (T + 1, …)."""
    ### BEGIN SOLUTION
    states = [s0]
    for x in xs:
        states.append(f(states[-1], x, theta))
    return np.stack(states)
    ### END SOLUTION


# %% check="unfold_driven"
check(unfold_driven)

# %% [markdown]
# This loop reads. Unit 03 puts an interesting $f$ inside.

# %% [markdown]
# ### What a state remembers: the leaky integrator
#
# Take the calm average of unit 00:
#
# $$s_t = k\, s_{t-1} + (1 - k)\, x_t$$
#
# Here the unfolding can be carried out to the end. Two steps:
#
# $$s_2 = k\,\bigl(k\, s_0 + (1-k)\, x_1\bigr) + (1-k)\, x_2 = k^2 s_0 + (1-k)\, k\, x_1 + (1-k)\, x_2$$
#
# and so on. After $t$ steps
#
# $$s_t = k^t s_0 + (1-k) \sum_{j=1}^{t} k^{\,t-j}\, x_j$$
#
# So the state is a weighted sum of *everything* there ever was. Nothing falls off at a window's edge. It fades. To see the
# weights, feed a single 1 and then only zeros. What comes out is called the **impulse response**.
#
# **Claim:** the impulse response of a leaky integrator is $(1-k)\,k^{t-1}$, from $s_0 = 0$; and on a random signal, from a
# state that is not 0, the loop ends where the formula says. **Guess first:** after how many steps has $k = 0.8$ forgotten
# nine tenths of the 1?

# %% tags=["experiment"]
from rnncourse.plots import line_chart

drive = use(unfold_driven)


def leaky(s, x, keep):
    return keep * s + (1 - keep) * x


impulse = np.eye(40)[0]  # 1, 0, 0, 0, ...
responses = {f"k = {keep}": drive(leaky, 0.0, impulse, keep)[1:] for keep in (0.5, 0.8, 0.95)}
show(
    line_chart(range(1, 41), responses, xlabel="time step t", ylabel="state after one 1 at t = 1"),
    alt="""Impulse responses of three leaky integrators. With k = 0.5 the state jumps to 0.5 and is gone after some six
    steps. With k = 0.8 it begins at 0.2 and lasts for some twenty. With k = 0.95 it begins at 0.05 and falls slowly over
    all of the 40 steps.""",
)

t = np.arange(1, 41)
for keep in (0.5, 0.8, 0.95):
    assert np.allclose(responses[f"k = {keep}"], (1 - keep) * keep ** (t - 1)), (
        f"Expected (1 - k) k^(t - 1) for k = {keep}. Has unfold_driven passed its check?"
    )
rng = np.random.default_rng(2)
signal = rng.normal(size=40)
formula = 0.8**40 * 3.0 + 0.2 * sum(0.8 ** (40 - j) * signal[j - 1] for j in range(1, 41))
end = drive(leaky, 3.0, signal, 0.8)[-1]
print(f"your loop ends at {end:.6f}, the formula at {formula:.6f}")
assert np.isclose(end, formula), "Expected the loop to end where the formula does. Has unfold_driven passed its check?"

# %% [markdown]
# The best $k$ depends on the signal: with too short a memory the noise comes through, with too long a one the state lives in
# the past. Nobody should have to find it by hand: $k$ is a parameter, and parameters can be learned.

# %% [markdown]
# ### What a state forgets
#
# The state is one number, and the past is many. Take $k = 0.5$ and $s_0 = 0$, and read two signals of two steps each:
#
# - $x = (0,\, 1)$: $\;s_1 = 0$, $\;s_2 = 0.5 \cdot 0 + 0.5 \cdot 1 = 0.5$
# - $x = (2,\, 0)$: $\;s_1 = 1$, $\;s_2 = 0.5 \cdot 1 + 0.5 \cdot 0 = 0.5$
#
# Two pasts, one state.
#
# **Claim:** after the pasts $(0, 1)$ and $(2, 0)$, let both runs read the same 50 inputs: they are in the same state at every
# step. Find a third past of two steps that ends there too, and put it into the cell.

# %% tags=["experiment"]
future = np.random.default_rng(3).normal(size=50)
states = [drive(leaky, 0.0, np.concatenate([past, future]), 0.5) for past in ([0.0, 1.0], [2.0, 0.0])]
print("first past :", states[0][:6].round(3))
print("second past:", states[1][:6].round(3))
assert not np.allclose(states[0][1], states[1][1]), "Expected two states after one step."
assert np.array_equal(states[0][2:], states[1][2:]), (
    "Expected one state ever after. Has unfold_driven passed its check?"
)

# %% [markdown]
# The machine can never again tell them apart. **A state of fixed size is a lossy summary of the past.** That is not a flaw: it
# keeps the cost of a step the same for ever. Everything depends on *what* is dropped. For a noisy measurement, a fading average
# keeps the right thing. For a sentence it does not: *medicine* must stay, *at* may go.

# %% [markdown]
# ### A latent variable
#
# Back to language. Let a state, call it $h$, stand between the past and the prediction. It is a **latent variable**: it stands in
# no text, it is the model's own. Every word updates it, $h_t = f(h_{t-1}, w_t)$, and the prediction looks at nothing else:
#
# $$P(w_1, \dots, w_T) \;=\; \prod_{t=1}^{T} P(w_t \mid w_1, \dots, w_{t-1}) \;\approx\; \prod_{t=1}^{T} P(w_t \mid h_{t-1})$$
#
# The first step is the chain rule of unit 01, and always true. How good is the second? That depends on $f$:
#
# | $h_{t-1}$ | its transition | $P(w_t \mid h_{t-1})$ | size |
# |---|---|---|---|
# | the whole past, as a list | append $w_{t-1}$ | $= P(w_t \mid w_1, \dots, w_{t-1})$, **exact** | grows with $t$ |
# | the last $n - 1$ words | append $w_{t-1}$, drop the oldest | the n-gram of unit 01 | fixed |
# | $H$ numbers | to be learned | exact, if they keep what the future depends on | fixed |
#
# So a latent variable is *no approximation by itself*: $h_t$ could simply store everything, at a cost that grows with the text.
# The approximation is in the fixed size. With a good $f$ even that can be exact: to know whether a bracket is still open, the
# number of open brackets is enough, however long the text.

# %% [markdown]
# ### Exercise 2.4 · `quiz_exact_state`
# *●●○ · 6 minutes · 1 point*
#
# With which of these states is $P(w_t \mid h_{t-1})$ *exactly* $P(w_t \mid w_1, \dots, w_{t-1})$, for every $t$ and every past?
#
# - **A** Any text, whatever makes it. $h_t$ is the pair $(h_{t-1}, w_t)$, and $h_0$ is empty.
# - **B** Any text. $h_t$ is the bag of the words so far: how often each occurred.
# - **C** Any text of the two tokens 0 and 1. $h_t = 2 h_{t-1} + w_t$ and $h_0 = 1$, as a whole number of any size.
# - **D** Texts of brackets, made like this: if none is open, the next is "("; else it is "(" or ")", with one half each.
#   $h_t$ is the number of brackets that are open.
# - **E** Those same texts. $h_t$ is the last bracket.
#
# Answer with the set of the letters, in the form `{"X", "Y"}`.

# %% answer="quiz_exact_state"
quiz_exact_state = None  # put a set of letters in place of None, and delete what stands below
### BEGIN SOLUTION
quiz_exact_state = {"A", "C", "D"}
### END SOLUTION

# %% check="quiz_exact_state"
check(quiz_exact_state, "quiz_exact_state")

# %% [markdown]
# A state is exact if two pasts that lead to the same state have the same future.

# %% [markdown]
# ## 4 · Who depends on whom?
#
# An n-gram model sees a window, a recurrence the whole past. That can be *measured*, for any model that takes a sequence and
# gives a sequence: change input $k$ a little, and see which outputs change.
#
# A close relative of the window is the **convolution**: each output is a weighted sum of the inputs around it. With width 3,
#
# $$y_t = w_{-1}\, x_{t-1} + w_0\, x_t + w_1\, x_{t+1}$$
#
# It shares its weights over time too, but it has no state.

# %% tags=["experiment"]
from rnncourse.plots.unfolding import convolution_beside_recurrence

show(
    convolution_beside_recurrence(),
    alt="""Left, a convolution of width 3: every output y is joined to three inputs, and y_4 is reached by x_3, x_4 and x_5.
    Right, a recurrence: every state is joined to its input and to the state before it, and s_4 is reached by x_1, x_2, x_3,
    x_4 and by s_0.""",
)

# %% [markdown]
# ### Exercise 2.5 · `depends_on`
# *●●● · 18 minutes · 4 points*
#
# Write `depends_on(model, xs, eps=1e-3)`, which finds out which outputs depend on which inputs.
#
# - `model(xs)` takes an array `(T, D)`, T inputs of D entries each, and returns an array whose first axis is time as well:
#   `(T,)`, `(T, Q)`, or with more axes still.
# - The result is an array `(T, T)` of `True` and `False`. Entry `[t, k]` says whether **any** entry of output `t` changes
#   when an entry of input `k` is raised by `eps`. Raise **one entry at a time**, and try each. A change is a change, however
#   small: compare with `!=`.
# - `xs` is somebody else's: do not write to it, not even for a moment.
#
# By hand: let `model` return $y_t = x_t + x_{t-1}$ (and $y_0 = x_0$) for T = 3 and D = 1. Output 0 depends on input 0 only,
# output 1 on 0 and 1, output 2 on 1 and 2:
#
# ```
# [[ True, False, False],
#  [ True,  True, False],
#  [False,  True,  True]]
# ```
#
# (Why one entry at a time? Think of a model that returns the difference of the two entries of $x_t$.)


# %% answer="depends_on"
def depends_on(model, xs, eps=1e-3):
    """Which outputs of model depend on which inputs, found by trial: xs (T, D) -> (T, T) of True and False, [t, k]."""
    ### BEGIN SOLUTION
    T, D = xs.shape
    base = model(xs)
    depends = np.zeros((T, T), dtype=bool)
    for k in range(T):
        for d in range(D):
            raised = xs.copy()
            raised[k, d] += eps
            changed = model(raised) != base
            depends[:, k] |= changed.reshape(T, -1).any(axis=1)
    return depends
    ### END SOLUTION


# %% check="depends_on"
check(depends_on)

# %% [markdown]
# You will point this instrument at a recurrent network (unit 03) and at one that reads both ways (unit 09).

# %% [markdown]
# ### The patterns
#
# Three models with T = 8. **Take a pencil and draw the three grids before you run the cell**: rows are outputs, columns are
# inputs, and a cell is filled where the output depends on the input.
#
# 1. what a 4-gram model sees: it predicts the next word from three, the current one and the two before it;
# 2. a convolution of width 3, which sees the input before, the current one, and the next;
# 3. a recurrence.

# %% tags=["experiment"]
from rnncourse.plots import dependence_grid

probe = use(depends_on)
T, D, H = 8, 2, 3
rng = np.random.default_rng(0)
xs = rng.normal(size=(T, D))
kernel = rng.normal(size=(3, D))
U, W = rng.normal(size=(D, H)), rng.normal(size=(H, H)) / np.sqrt(H)


def convolution(xs, offsets=(-1, 0, 1)):
    """y_t: the weighted sum of the inputs at t + offset, as far as they exist."""
    return np.array(
        [sum(xs[t + o] @ w for o, w in zip(offsets, kernel) if 0 <= t + o < len(xs)) for t in range(len(xs))]
    )


def four_gram_view(xs):
    return convolution(xs, offsets=(-2, -1, 0))


def recurrence(xs):
    return drive(lambda s, x, theta: np.tanh(x @ theta[0] + s @ theta[1]), np.zeros(H), xs, (U, W))[1:]


grids = {
    "what a 4-gram sees": probe(four_gram_view, xs),
    "convolution, width 3": probe(convolution, xs),
    "recurrence": probe(recurrence, xs),
}
show(
    dependence_grid(grids),
    alt="""Three grids of 8 by 8 cells, outputs in rows and inputs in columns. The 4-gram fills the diagonal and two cells left of
    it in every row. The convolution fills a band of three cells around the diagonal. The recurrence fills the diagonal and
    everything below it.""",
)

lag = np.arange(T)[:, None] - np.arange(T)  # t - k
expected = {
    "what a 4-gram sees": (lag >= 0) & (lag <= 2),
    "convolution, width 3": abs(lag) <= 1,
    "recurrence": lag >= 0,
}
for name, grid in grids.items():
    assert np.array_equal(grid, expected[name]), f"Expected another grid for: {name}. Has depends_on passed its check?"

# %% [markdown]
# Two bands, and a triangle: the recurrence's reach grows as it reads. Neither the 4-gram nor the recurrence ever looks ahead:
# nothing stands above the diagonal. Such a model is called **causal**, and only such a model can be asked for the *next* word.
#
# Can a convolution see far as well? It can, if you stack layers. **Guess first:** how far back do three layers see?
#
# **Claim:** each layer of width 3 adds one step of reach to either side: 1, 2, 3 and 7 layers see 1, 2, 3 and 7 steps far.


# %% tags=["experiment"]
def layer(hidden):
    """(T, D) -> (T, D): the convolution, its one output copied into all D entries."""
    return np.repeat(convolution(hidden)[:, None], D, axis=1)


for layers in (1, 2, 3, 7):
    grid = probe(power(layer, layers), xs)
    print(f"{layers} layer{'s' if layers > 1 else ' '}: output 7 reaches back to input {grid[7].argmax()}")
    assert np.array_equal(grid, abs(lag) <= layers), (
        f"Expected {layers} steps of reach to either side. Have depends_on and compose passed their checks?"
    )

# %% [markdown]
# For one over 1,000 steps you need 1,000 layers of width 3. (Wider kernels, or kernels with gaps, need fewer; but the number
# must be chosen in advance.) The recurrence gets there with one transition, and pays in another currency: its steps have to
# wait for each other. A convolution's outputs can all be computed at once. (Unit 14 comes back to that.)
#
# One thing the grid does not say: *yes* is not *how much*. In the leaky integrator the input of $m$ steps ago has the weight
# $(1 - k)\, k^m$. For $k = 0.5$ and $m = 20$ that is half a millionth: `True`, and in practice forgotten.

# %% [markdown]
# ## 5 · One transition for all steps
#
# You could also build a network with a transition of its own for each step, $s_t = f_t(s_{t-1}, x_t;\, \theta_t)$. What would
# that cost?
#
# Look ahead to the transition of unit 03: $s_t = \tanh(x_t U + s_{t-1} W + b)$, with an input of $D$ numbers and a state of $H$
# numbers. (There the state is called $h$, for *hidden*.)

# %% tags=["experiment"]
from rnncourse.plots import folded_unfolded

show(
    folded_unfolded(outputs=False),
    alt="""Left, the circuit: an input x joined to the state h by U, and a loop W with a delay square. Right, unfolded: h at the times
    t-1, t and t+1 in a row, joined by arrows that are all called W, each with its own input x below it, joined by U.""",
)

# %% [markdown]
# Three arrays hold the parameters: `U (D, H)`, `W (H, H)` and `b (H,)`.
#
# By hand, with $D = 3$ and $H = 5$: $U$ has 15 numbers, $W$ has 25, $b$ has 5. That makes **45**. With one set for all steps
# it stays at 45, however long the sequence is. With a set for each of $T = 100$ steps it is **4,500**.

# %% [markdown]
# ### Exercise 2.6 · `shared_parameter_count`
# *●○○ · 4 minutes · 1 point*
#
# Write `shared_parameter_count(D, H)`: the number of parameters of a network with one `U (D, H)`, one `W (H, H)` and one
# `b (H,)` for all steps. The result is a whole number, an `int`. By hand: `shared_parameter_count(3, 5)` is 45.


# %% answer="shared_parameter_count"
def shared_parameter_count(D, H):
    """The number of parameters in one U (D, H), W (H, H) and b (H,) -> int."""
    ### BEGIN SOLUTION
    return D * H + H * H + H
    ### END SOLUTION


# %% check="shared_parameter_count"
check(shared_parameter_count)

# %% [markdown]
# This is the size of a recurrent cell, and there is no $T$ in it. With a set for each step it is $T$ times as much. The smaller
# number is the least of it. Sharing buys two greater things.
#
# **Every length.** A network with 100 sets of weights reads 100 steps. At step 101 it has nothing to go on with.
#
# **Every place.** *Yesterday it rained. It rained yesterday.* What is learned about *yesterday* at step 1 should be known at
# step 3 as well. With weights for each step it must be learned again at every place. With shared weights, every step of every
# example teaches the same $U$, $W$ and $b$.

# %% [markdown]
# ### How many examples it saves, measured
#
# Somewhere in the world runs $s_t = s_{t-1} W + x_t U$, with $D = 3$ and $H = 2$. We see sequences of $T = 20$ steps, each state
# blurred by a little noise, and estimate the weights by least squares, which needs no training: once one $U, W$ from all steps
# of all sequences, and once a $U, W$ for each step, from that step of all sequences. Both are tried on new sequences.
#
# **Guess first:** shared weights have seen 10 sequences. How many must the others see to be as good?
#
# **Claim:** weights for each of 20 steps, from 200 sequences, are as wrong as shared weights from 10, to within a fifth.

# %% tags=["experiment"]
STEPS, NOISE = 20, 0.1


def sequences_of(rng, N, change, world):
    """N sequences: what goes into each step, x_t and s_{t-1}, (T, N, D + H), and the state that comes of it (T, N, H)."""
    W, U = world["W"], world["U"]
    s, going_in, coming_out = rng.normal(size=(N, 2)), [], []
    for drift in world["drift"]:
        x = rng.normal(size=(N, 3))
        going_in.append(np.hstack([x, s]))
        s = going_in[-1] @ (np.vstack([U, W]) + change * drift)
        coming_out.append(s)
    return np.array(going_in), np.array(coming_out)


def errors(seed, N, change=0.0):
    """The error on new sequences, shared weights and own ones, from N sequences; `change`: how far the rule itself moves."""
    rng = np.random.default_rng(seed)
    world = {"W": np.array([[0.6, 0.5], [-0.5, 0.6]]), "U": rng.normal(size=(3, 2))}
    world["drift"] = rng.normal(size=(STEPS, 5, 2))
    seen_in, seen_out = sequences_of(rng, N, change, world)
    new_in, new_out = sequences_of(rng, 200, change, world)
    seen_out = seen_out + NOISE * rng.normal(size=seen_out.shape)

    def fitted(inputs, outputs):
        return np.linalg.lstsq(inputs.reshape(-1, 5), outputs.reshape(-1, 2), rcond=None)[0]

    shared = new_in @ fitted(seen_in, seen_out)
    own = np.array([x @ fitted(*seen) for x, *seen in zip(new_in, seen_in, seen_out)])
    return [float(np.sqrt(np.mean((guess - new_out) ** 2))) for guess in (shared, own)]


counts_of_sequences = np.array([10, 20, 50, 100, 200, 500])
wrong = np.array([np.mean([errors(seed, N) for seed in range(20)], axis=0) for N in counts_of_sequences])
show(
    line_chart(
        counts_of_sequences,
        {"shared by all steps": wrong[:, 0], "a set for each step": wrong[:, 1]},
        xlabel="sequences of 20 steps that were seen",
        ylabel="error on new sequences",
        logx=True,
        logy=True,
    ),
    alt="""The error on new sequences against the number of sequences seen, both on logarithmic scales: two falling, nearly parallel lines.
    The line of shared weights begins, at 10 sequences, where the other arrives at 200.""",
)
ten_shared, two_hundred_own = wrong[0, 0], wrong[counts_of_sequences == 200, 1][0]
print(f"shared, 10 sequences: {ten_shared:.4f}   a set for each step, 200 sequences: {two_hundred_own:.4f}")
assert abs(two_hundred_own / ten_shared - 1) < 0.2, "Expected the same error from 20 times as many sequences."

# %% [markdown]
# Twenty times as many examples, for twenty steps: $T$ steps of one sequence are $T$ examples for shared weights, and one for
# each of the others. (It held in {{held twenty_times}} seeds.) The price is an assumption about the world: *what to do with an
# input does not depend on when it comes*. Where the rule itself changes from step to step, 200 sequences leave shared weights
# with an error of {{sharing/a rule that changes/shared, 200}}, the others with {{sharing/a rule that changes/own, 200|.4f}}. But before you
# give up sharing, put the day of the week into the *input*.

# %% [markdown]
# ### Three steps, three thousand steps
#
# Here is a transition that you can read. The state counts open brackets: up by one at an opening bracket, down by one at a
# closing one. It has no parameters at all:
#
# $$s_t = s_{t-1} + [x_t \text{ opens}] - [x_t \text{ closes}]$$
#
# where a square bracket is 1 if what stands in it is true, and 0 if not. It runs over a text of 3 characters and over 3,000
# characters of Python's own library, and it knows something that no n-gram can know.
#
# **Claim:** there are places with the same five characters before them, and a different number of open brackets.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.data import python_source


def depth_of_brackets(s, character, theta):
    return s + (character in "([{") - (character in ")]}")


def depths(text):
    return drive(depth_of_brackets, 0, np.array(list(text)), None)


print("f(x         ->", depths("f(x"))
source = python_source(60_000)[-3000:]
depth = depths(source)
print("3,000 steps ->", depth.shape, "states")
still_open = sum(source.count(c) for c in "([{") - sum(source.count(c) for c in ")]}")
assert depth[-1] == still_open, "Expected the number of brackets still open. Has unfold_driven passed its check?"

depths_seen = {}
for t in range(5, 3000):
    depths_seen.setdefault(source[t - 5 : t], set()).add(int(depth[t]))
torn = [window for window, found in depths_seen.items() if len(found) > 1]
print("different windows of five characters:", len(depths_seen), " with more than one depth:", len(torn))
assert len(torn) > 10, "Expected more than ten windows with more than one depth. Has unfold_driven passed its check?"

# %% [markdown]
# So a 6-gram cannot know how many brackets are open there, and a pair further apart defeats any width. One integer, rewritten at
# each step, does what no window can. Somebody had to think of that integer, though.

# %% [markdown]
# ### The rows of an image
#
# "Time" need not be time. The rows of an image, from top to bottom, are a sequence of vectors: the seven of unit 01 has $T = 8$
# and $D = 8$. The transition is $\tanh(x U + s W + b)$ with $H = 6$, and its weights are drawn at random. What gets into the
# state? Now turn the image upside down, so that its last row is read first. **Guess first:** what stays the same?
#
# **Claim:** when an image is turned upside down, the bag of its rows (their sum, like unit 01's bag of words) stays the same,
# and the last state does not.

# %% tags=["experiment"]
from rnncourse.data import digit_image
from rnncourse.plots import state_heatmap

rng = np.random.default_rng(5)
weights = (rng.normal(size=(8, 6)) / 2, rng.normal(size=(6, 6)) / 2.5, rng.normal(size=6) / 5)


def cell(s, x, theta):
    U, W, b = theta
    return np.tanh(x @ U + s @ W + b)


seven = digit_image()
states = drive(cell, np.zeros(6), seven, weights)
show(
    state_heatmap(states[1:], [f"row {t}" for t in range(8)]),
    alt="""The six units of the state after each of the eight rows, in colours from blue for -1 over white for 0 to vermilion for 1. The
    pattern changes from row to row.""",
)

# %% tags=["experiment"]
upside_down = seven[::-1]
bag, state = seven.sum(axis=0), states[-1]
assert np.allclose(upside_down.sum(axis=0), bag), "Expected the same bag of rows."
turned = drive(cell, np.zeros(6), upside_down, weights)[-1]
print("last state          ", state.round(2))
print("last state, turned  ", turned.round(2))
assert np.abs(turned - state).max() > 0.3, "Expected another state. Has unfold_driven passed its check?"

count = use(shared_parameter_count)
assert sum(w.size for w in weights) == count(8, 6), "Expected 90 numbers. Has shared_parameter_count passed its check?"
for rows in (seven[:3], seven, np.tile(seven, (375, 1))):
    print(f"{len(rows):5,} rows -> states {drive(cell, np.zeros(6), rows, weights).shape}")

# %% [markdown]
# ## 6 · What went wrong in practice: four bugs to hunt
#
# All four are easy to write and hard to see: nothing raises an error, and every shape is right. Run the cell, and find each
# cause **before** you open the answers.


# %% tags=["experiment"]
# A: a spring swings, so that the four states should all be different.
def spring(s, theta):
    s += theta * np.array([s[1], -s[0]])
    return s


bug_a = [np.array([1.0, 0.0])]
for _ in range(3):
    bug_a.append(spring(bug_a[-1], 0.5))
print("A:", np.array(bug_a).round(2).tolist())

# B: halving 8 again and again should give 8, 4, 2, 1, 0.5, 0.25.
bug_b = np.full(6, 8)
for i in range(1, 6):
    bug_b[i] = bug_b[i - 1] / 2
print("B:", bug_b.tolist())

# C: the first function should add 1, the second 2.
n = 1


def first_adds(s):
    return s + n


n = 2


def second_adds(s):
    return s + n


print("C:", first_adds(10), second_adds(10))

# D: raise an entry, lower it again, and everything should be as before.
bug_d = np.array([1.0])
bug_d[0] += 1e-3
bug_d[0] -= 1e-3
print("D:", bool(bug_d[0] == 1.0))

# %% [markdown]
# <details><summary><b>A</b>: why are all states the same?</summary>
#
# `s += …` writes into the array that came in, and `return s` returns that same array: the list holds one array four times.
# `return s + …` makes a new one.
# </details>
#
# <details><summary><b>B</b>: where has the half gone?</summary>
#
# `np.full(6, 8)` is an array of whole numbers, because 8 is one, and cuts off all decimals. Give it the dtype that the states will
# have, or collect them in a list and stack it.
# </details>
#
# <details><summary><b>C</b>: why does the first add 2 as well?</summary>
#
# A function looks up `n` when it is *called*, not when it is made. By then, `n` is 2. In the same way `g = lambda s: f(g(s))` in a
# loop finds itself, and calls itself for ever. Put the loop inside one function.
# </details>
#
# <details><summary><b>D</b>: why is 1 + 0.001 - 0.001 not 1?</summary>
#
# Numbers are rounded at every operation, and the errors need not cancel. A `depends_on` that raises and lowers in place can
# find dependences that are not there. Work on a copy.
# </details>

# %% [markdown]
# ## Summary
#
# | | |
# |---|---|
# | dynamical system | $s_t = f(s_{t-1};\, \theta)$: one transition, the same at every step |
# | driven system | $s_t = f(s_{t-1},\, x_t;\, \theta)$: $T$ inputs, $T + 1$ states |
# | unfolding | the circuit has a cycle and a delay; the unfolded graph has one node for each moment and no cycle |
# | state | what one must know of the past to go on; of fixed size, so a lossy summary |
# | latent variable | $P(w_t \mid w_1, \dots, w_{t-1}) \approx P(w_t \mid h_{t-1})$; exact if pasts with one state have one future |
# | small changes | are multiplied at every step: they explode or they vanish |
# | dependence | convolution: a band; recurrence: everything up to now |
# | sharing | $DH + H^2 + H$ parameters and not $T\,(DH + H^2 + H)$; every length; a $T$-th of the examples |
#
# **So, can a model carry along what it needs of the past, at a cost that does not grow with the past?** Yes. A state has a
# fixed size, and one transition, with one set of parameters, rewrites it at every step. What is kept depends on the rule.

# %% [markdown] written="unfolding_written" points=3
# ### Written question
# *10 minutes · 3 points, graded by hand; five to eight sentences*
#
# A colleague wants to predict tomorrow's temperature from the last 365 days. She plans a network with a $U$, $W$ and $b$ of
# its own for each of the 365 days: "January is not July, so the weights must not be the same." Answer her.
#
# **(a)** What does she lose, apart from space on the disk? Name two things. **(b)** How can a network that *shares* its
# transition still treat January and July differently? **(c)** Her state has 20 numbers. What does that mean for what the
# network can know about the 365 days, and what should it keep?
#
# ### BEGIN SOLUTION
# **Model answer.** (a) With weights of its own for each day the network can read sequences of exactly 365 days, no more; and what it learns from
# one day of the year is of no use on any other, so that each set of weights sees only one example a year. With shared weights every day of every
# year is an example for the same few parameters. (b) Sharing only says that the *rule* is the same; what it does may depend on its inputs. Put the
# date into the input (say, as sine and cosine of the day of the year), or let the state keep track of the season: the same $f$ then does one thing
# in January and another in July. (c) 20 numbers cannot hold 365 days, so the state is a lossy summary, and pasts that lead to the same state
# cannot be told apart any more. It should keep what the future depends on, such as the mean of the last days, the trend, and the season, and may
# drop the weather of a certain day in spring.
#
# **Rubric.** 1 point: two real losses (a fixed length; nothing carries over from one step to another, so far more data are needed). ½ for one.
# 1 point: the difference is put into input or state, with the rule left as it is. 1 point: a summary of fixed size loses something, *and* it is
# said what is worth keeping for this task (½ for either).
# ### END SOLUTION

# %% [markdown]
# ## The question that is left
#
# In this unit somebody always knew the rule: of the bank, the average, the brackets. For language nobody does. So: *which* $f$,
# with *which* parameters, is flexible enough to become any of these, and can be **learned**? That is unit 03.

# %% [markdown]
# ## Optional · something to show: a pond
#
# *10 minutes, not needed later.* Let $s$ be the fish in a pond, as a share of the most that it can feed. They have young, so
# there is growth; the fuller the pond, the less food, so there is a brake:
#
# $$s_t = r \, s_{t-1} \, (1 - s_{t-1})$$
#
# By hand, with $r = 2$ and $s_0 = 0.25$: $\;2 \cdot 0.25 \cdot 0.75 = 0.375$. **Guess first:** what will the pond do in the long
# run for $r = 2.8$, $3.2$, and $3.9$? A state may be an array, so your `unfold` runs 1,200 ponds side by side, each with its own
# $r$. (In a running notebook a slider below the picture shows one of them.)
#
# **Claim:** as its growth rate $r$ rises, the number of values that a pond keeps visiting doubles: 1, 2, 4, 8 (at $r$ = 2.9,
# 3.2, 3.5 and 3.55). At 3.9 it is more than 100, and there a difference of $10^{-9}$ at the start comes to more than a tenth of a
# full pond.

# %% tags=["experiment"]
from rnncourse.plots import Slider, explore
from rnncourse.plots.unfolding import point_cloud


def pond(s, r):
    return r * s * (1 - s)


rates = np.linspace(2.6, 4.0, 1200)
late = run(pond, np.full(1200, 0.4), rates, 1000)[-150:]


def sixty_years(r):
    """One pond of rate r, year by year."""
    years = {f"r = {r:.2f}": run(pond, 0.4, r, 60)}
    return line_chart(range(61), years, xlabel="time step t (years)", ylabel="state s", ylim=(0, 1))


explore(
    sixty_years,
    point_cloud(
        np.tile(rates, 150),
        late.ravel(),
        xlabel="growth rate r",
        ylabel="states of the last 150 years",
        dot=0.25,
        size=(8.6, 5.0),
    ),
    alt="""The states that a pond keeps visiting, against its growth rate r. Up to r = 3 there is one line. There it forks
    into two, each of them soon into two again, and so on; from about 3.57 the points fill whole bands, broken by narrow
    windows in which a few lines appear.""",
    r=Slider("growth rate r", 2.6, 4.0, 3.5),
)

visited = {r: len(set(run(pond, 0.4, r, 2200)[-200:].round(6))) for r in (2.9, 3.2, 3.5, 3.55, 3.9)}
gap = np.abs(run(pond, 0.3, 3.9, 100) - run(pond, 0.3 + 1e-9, 3.9, 100))
print("values visited in 200 years:", visited)
print("r = 3.9, two starts a billionth apart: the gap passes a tenth after", int(np.argmax(gap > 0.1)), "years")
assert [*visited.values()][:4] == [1, 2, 4, 8], "Expected 1, 2, 4 and 8 values. Has unfold passed its check?"
assert visited[3.9] > 100, "Expected more than 100 values at r = 3.9. Has unfold passed its check?"
assert gap.max() > 0.1, "Expected a gap of more than a tenth. Has unfold passed its check?"

# %% [markdown]
# That is **chaos**: the rule is exact, there is no chance in it, and still the smallest doubt about the start becomes a doubt
# about everything. **A simple transition, applied often, is not a simple thing.** Keep that in mind when a network's transition
# has thousands of parameters.

# %% [markdown]
# ## Where to read on
#
# - I. Goodfellow, Y. Bengio, A. Courville, *Deep Learning* (MIT Press, 2016), section 10.1: unfolding computational graphs.
# - R. M. May, "Simple mathematical models with very complicated dynamics", *Nature* 261 (1976): the pond, by the one who made it famous.
# - S. H. Strogatz, *Nonlinear Dynamics and Chaos*: the friendliest book on dynamical systems, with phase portraits on every other page.
# - A. Waibel and others, "Phoneme recognition using time-delay neural networks", *IEEE Transactions on Acoustics, Speech, and Signal
#   Processing* 37 (1989): convolution over time, for speech.
# - J. L. Elman, "Finding structure in time", *Cognitive Science* 14 (1990): a state that learns to read.

# %% tags=["experiment"]
progress("02_unfolding")
