# %% [markdown]
# # 02 · Dynamical systems and their graphs
#
# **When you are done you will be able to**
#
# - write a rule that is applied again and again as a recurrence, and unfold it into a graph without cycles;
# - drive such a system with a signal, and say what its state keeps of the past and what it drops;
# - find out by experiment which output of a model depends on which input;
# - measure what you gain by using one transition at every step: every length, and far fewer examples.
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
# The 5-gram of unit 01 cannot: *medicine* has left its window, and for every window there is a longer sentence. You
# carried something along while you read. So here is the question of this unit: **can a model carry along what it needs of
# the past, at a cost that does not grow with the past?**
#
# The idea is a note with room for a few numbers. At each step you read the note, look at what is new, and write the note
# anew. The note is called the **state**. This unit is about states and the rules that rewrite them. The loop that you
# write here runs in every recurrent network.
# %% [markdown]
# ## 1 · One rule, again and again
#
# A bank pays 10 percent a year. You bring 100, and wait:
#
# $$100 \;\to\; 110 \;\to\; 121 \;\to\; 133.1$$
#
# At every arrow the same happens: times 1.1.
#
# The **state** at time $t$ is $s_t$, the rule that carries it on is the **transition** $f$, and the numbers in the rule
# are its **parameters** $\theta$ (theta). Here $f(s; \theta) = \theta s$ with $\theta = 1.1$ and $s_0 = 100$.
# In general
#
# $$s_t = f(s_{t-1};\, \theta)$$
#
# This is a **recurrence**: it defines $s_t$ by the same thing one step earlier. The state changes with time. The transition
# and its parameters, behind the semicolon, do not. In Python that is `f(s, theta)`.
#
# To get rid of the $s$ on the right, put the definition into itself until only $s_0$ is left:
#
# $$s_3 = f(s_2;\, \theta) = f(f(s_1;\, \theta);\, \theta) = f(f(f(s_0;\, \theta);\, \theta);\, \theta)$$
#
# That is called **unfolding**. Both forms can be drawn:
# %% tags=["experiment"]
from rnncourse.plots import (
    Slider,
    dependence_grid,
    dynamical_system,
    explore,
    folded_unfolded,
    line_chart,
    show,
    state_heatmap,
)

show(dynamical_system(3))

# %% [markdown]
# On the left is the **circuit**: what you have to build. The black square is a delay: what goes in comes out one step
# later.
#
# On the right is the **unfolded graph**: what happens, one node for each moment. The circuit has a cycle; the graph has
# none, because every arrow goes forward in time. Such a graph (a *directed acyclic graph*, DAG) has an order in which
# everything can be computed. Unit 04 will walk through it in the opposite order, to learn. This needs a **finite** number
# of steps; a stream without an end is unfolded a piece at a time.

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
# Two accounts differ by one cent. One bank pays 10 percent a year, one keeps the money as it is, one takes 10 percent.
#
# **Guess** how far apart the two accounts are after 100 years, at each bank.

# %% tags=["experiment"] dials="years = 10; years = 300"
run = use(unfold)
years = 100


def bank(s, theta):
    return theta * s


for theta in (1.1, 1.0, 0.9):
    one, other = (run(bank, start, theta, years)[-1] for start in (100.0, 100.01))
    print(f"theta = {theta}: {other - one:.2g} apart after {years} years")

# %% tags=["author"]
gaps = [run(bank, 100.01, theta, 100)[-1] - run(bank, 100.0, theta, 100)[-1] for theta in (1.1, 1.0, 0.9)]
assert np.allclose(gaps, [0.01 * theta**100 for theta in (1.1, 1.0, 0.9)], rtol=1e-4)

# %% [markdown]
# Each step multiplies the difference by theta. So after many steps it **explodes** or **vanishes**. This is, in its
# smallest form, the trouble with *training* recurrent networks, and unit 05 is about it. *Try* other numbers of years.

# %% [markdown]
# ### When is a state a state?
#
# 1, 1, 2, 3, 5, 8: each number is the sum of the two before it. From the 8 alone nobody can tell what comes: 2, 6, 8
# goes on with 14, not 13. So the last number is no state. The last *two* are one, with the transition
# $f(a, b) = (b,\, a + b)$: they say everything about the future that the whole past could tell.
#
# > **A state is what you have to know of the past in order to go on.**
#
# If the state of a language model leaves out that the subject was *medicine*, no transition can bring it back.

# %% [markdown]
# ## 2 · Many steps are one function
#
# $s_3 = f(f(f(s_0)))$ has a second reading: one function, "three steps of $f$", applied to $s_0$. Write it $f^3$, and in general
# $f^t$ for $t$ steps of $f$, with $f^0$ the function that leaves everything as it is. Then
#
# $$s_t = f^t(s_0)$$
#
# By hand, for $f(s) = 2s$: $\;f^3(5) = 2 \cdot 2 \cdot 2 \cdot 5 = 40$, $\;f^1(5) = 10$, and $f^0(5) = 5$.
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
# Cut a run of 200 steps somewhere, put the state aside, and go on from it later. **Guess**: is the end the same, to the
# last bit? And if you put aside only the last *number*, without the one before it?

# %% tags=["experiment"] dials="cut = 0; cut = 1; cut = 200"
power = use(compose)
cut = 77


def next_pair(s):
    """The last two numbers of 1, 1, 2, 3, 5, 8, …, one step on."""
    return np.array([s[1], s[0] + s[1]])


put_aside = power(next_pair, cut)(np.array([1.0, 1.0]))
print("in one go :", power(next_pair, 200)(np.array([1.0, 1.0])))
print("cut in two:", power(next_pair, 200 - cut)(put_aside))

# %% tags=["author"]
for cut in (0, 1, 77, 200):
    ends = power(next_pair, 200 - cut)(power(next_pair, cut)(np.array([1.0, 1.0])))
    assert np.array_equal(ends, power(next_pair, 200)(np.array([1.0, 1.0])))

# %% [markdown]
# $f^{200} = f^{123} \circ f^{77}$ (read: first 77 steps, then 123). The second part needs nothing of the first but the
# state where it ended. From the last number alone it cannot go on. Units 05 and 06 cut long texts in just this way.
# *Try* another place to cut.

# %% [markdown]
# ## 3 · A signal from outside
#
# What is missing is an input. Let something new come in at each step, $x_t$, and let the
# transition see it:
#
# $$s_t = f(s_{t-1},\, x_t;\, \theta)$$
#
# The system is now **driven** by the signal $x_1, x_2, \dots, x_T$.

# %% tags=["experiment"]
show(dynamical_system(3, driven=True))

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
# This loop reads. Unit 03 puts a network inside.

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
# So the state is a weighted sum of *everything* there ever was. Nothing falls off at a window's edge. It fades. To see
# the weights, feed a single 1 and then only zeros. What comes out is called the **impulse response**.
#
# **Guess**: after how many steps has $k = 0.8$ forgotten nine tenths of the 1?

# %% tags=["experiment"] dials="keeps = (0.1, 0.99)"
drive = use(unfold_driven)
keeps = (0.5, 0.8, 0.95)


def leaky(s, x, keep):
    return keep * s + (1 - keep) * x


impulse = np.eye(40)[0]  # 1, 0, 0, 0, ...
responses = {f"k = {keep}": drive(leaky, 0.0, impulse, keep)[1:] for keep in keeps}
after = "state after one 1 at t = 1"
show(line_chart(range(1, 41), responses, xlabel="time step t", ylabel=after))

# %% tags=["author"]
for keep in keeps:
    assert np.allclose(responses[f"k = {keep}"], (1 - keep) * keep ** np.arange(40))
signal = np.random.default_rng(2).normal(size=40)
formula = 0.8**40 * 3.0 + 0.2 * sum(0.8 ** (40 - j) * signal[j - 1] for j in range(1, 41))
assert np.isclose(drive(leaky, 3.0, signal, 0.8)[-1], formula)

# %% [markdown]
# The response is $(1 - k)\,k^{t-1}$, as the formula says: with $k = 0.8$ a tenth of it is left after eleven steps.
# *Try* values of $k$ nearer to 0 and to 1. Which $k$ is best depends on the signal; $k$ is a parameter, and parameters
# can be learned.

# %% [markdown]
# ### What a state forgets
#
# The state is one number. Take $k = 0.5$ and $s_0 = 0$, and read two signals of two steps each:
#
# - $x = (0,\, 1)$: $\;s_1 = 0$, $\;s_2 = 0.5 \cdot 0 + 0.5 \cdot 1 = 0.5$
# - $x = (2,\, 0)$: $\;s_1 = 1$, $\;s_2 = 0.5 \cdot 1 + 0.5 \cdot 0 = 0.5$
#
# Two pasts, one state. Now let both runs read the same 50 inputs. **Guess** when they will differ again. Then find a
# third past of two steps that ends at 0.5 as well, and put it into the cell.

# %% tags=["experiment"] dials="second = [4.0, -1.0]"
first = [0.0, 1.0]
second = [2.0, 0.0]
future = np.random.default_rng(3).normal(size=50)
for past in (first, second):
    print(past, drive(leaky, 0.0, np.concatenate([past, future]), 0.5)[:7].round(3))

# %% tags=["author"]
one, other = (drive(leaky, 0.0, np.concatenate([past, future]), 0.5) for past in (first, second))
assert one[1] != other[1]
assert np.array_equal(one[2:], other[2:])

# %% [markdown]
# Never: the machine cannot tell them apart any more. **A state of fixed size is a lossy summary of the past.** That keeps
# the cost of a step the same for ever. Everything depends on *what* is dropped: of a sentence, *medicine* must stay, *at*
# may go.

# %% [markdown]
# ### A latent variable
#
# Back to language. Let a state, call it $h$, stand between the past and the prediction. It is a **latent variable**: it stands in
# no text, it is the model's own. Every word updates it, $h_t = f(h_{t-1}, w_t)$, and the prediction looks at nothing else:
#
# $$P(w_1, \dots, w_T) \;=\; \prod_{t=1}^{T} P(w_t \mid w_1, \dots, w_{t-1}) \;\approx\; \prod_{t=1}^{T} P(w_t \mid h_{t-1})$$
#
# The first step is the chain rule of unit 01. How good is the second? That depends on $f$:
#
# | $h_{t-1}$ | its transition | $P(w_t \mid h_{t-1})$ | size |
# |---|---|---|---|
# | the whole past, as a list | append $w_{t-1}$ | $= P(w_t \mid w_1, \dots, w_{t-1})$, **exact** | grows with $t$ |
# | the last $n - 1$ words | append $w_{t-1}$, drop the oldest | the n-gram of unit 01 | fixed |
# | $H$ numbers | to be learned | exact, if they keep what the future depends on | fixed |
#
# So a latent variable is *no approximation by itself*. The approximation is in the fixed size. With a good $f$ even that
# can be exact: to know whether a bracket is still open, the number of open brackets is enough, however long the text.

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
quiz_exact_state = None  # put a set of letters in place of None
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

show(convolution_beside_recurrence())

# %% [markdown]
# ### Exercise 2.5 · `depends_on`
# *●●● · 18 minutes · 4 points*
#
# Write `depends_on(model, xs, eps=1e-3)`, which finds out which outputs depend on which inputs.
#
# - `model(xs)` takes an array `(T, D)` of floats, T inputs of D entries each, and returns an array whose first axis is
#   time as well: `(T,)`, `(T, Q)`, or with more axes still.
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
# You will point this instrument at a recurrent network and at one that reads both ways.

# %% [markdown]
# ### The patterns
#
# Three models with T = 8: what a 4-gram sees (it predicts the next word from the current one and the two before it), a
# convolution of width 3, and a recurrence. **Guess, with a pencil**: draw the three grids, outputs in rows, inputs in
# columns, a cell filled where the output depends on the input.

# %% tags=["experiment"]
probe, T, D, H = use(depends_on), 8, 2, 3
rng = np.random.default_rng(0)
xs, kernel = rng.normal(size=(T, D)), rng.normal(size=(3, D))
U, W = rng.normal(size=(D, H)), rng.normal(size=(H, H)) / np.sqrt(H)


def convolution(xs, offsets=(-1, 0, 1)):
    """y_t: the weighted sum of the inputs at t + offset, as far as they exist."""
    padded = np.pad(xs, ((2, 2), (0, 0)))  # zeros where there is no input
    return sum(padded[2 + o : 2 + o + T] @ w for o, w in zip(offsets, kernel))


def recurrence(xs):
    return drive(lambda s, x, _: np.tanh(x @ U + s @ W), np.zeros(H), xs, None)[1:]


# %% tags=["experiment"]
grids = {
    "what a 4-gram sees": probe(lambda xs: convolution(xs, offsets=(-2, -1, 0)), xs),
    "convolution, width 3": probe(convolution, xs),
    "recurrence": probe(recurrence, xs),
}
show(dependence_grid(grids))

# %% tags=["author"]
lag = np.arange(T)[:, None] - np.arange(T)  # t - k
for grid, expected in zip(grids.values(), ((lag >= 0) & (lag <= 2), abs(lag) <= 1, lag >= 0)):
    assert np.array_equal(grid, expected)

# %% [markdown]
# Two bands, and a triangle: the recurrence's reach grows as it reads. Nothing of the 4-gram or the recurrence stands above
# the diagonal. Such a model is called **causal**, and only such a model can be asked for the *next* word.
#
# Can a convolution see far as well? It can, if you stack layers. **Guess** how far back three layers of width 3 see.

# %% tags=["experiment"] dials="layers = 1; layers = 7"
layers = 3


def layer(hidden):
    """(T, D) -> (T, D): the convolution, its one output copied into all D entries."""
    return np.repeat(convolution(hidden)[:, None], D, axis=1)


reach = probe(power(layer, layers), xs)[7].argmax()
print(f"{layers} layers: output 7 reaches back to input {reach}")

# %% tags=["author"]
for layers in (1, 2, 3, 7):
    assert np.array_equal(probe(power(layer, layers), xs), abs(lag) <= layers)

# %% [markdown]
# Each layer adds one step to either side. *Try* 1, 2 and 7 of them: for one over 1,000 steps you need 1,000. (Wider
# kernels, or kernels with gaps, need fewer.) The recurrence gets there with one transition, but its steps wait for each
# other; a convolution's outputs can all be computed at once.

# %% [markdown]
# ## 5 · One transition for all steps
#
# A network could also have a transition of its own for each step, $s_t = f_t(s_{t-1}, x_t;\, \theta_t)$. What would
# that cost?
#
# Look ahead to the transition of unit 03: $s_t = \tanh(x_t U + s_{t-1} W + b)$, with an input of $D$ numbers and a state of $H$
# numbers. (There the state is called $h$, for *hidden*.)

# %% tags=["experiment"]
show(folded_unfolded(outputs=False))

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
# This is the size of a recurrent cell, and there is no $T$ in it. Sharing buys two greater things.
#
# **Every length.** A network with 100 sets of weights reads 100 steps. At step 101 it has nothing to go on with.
#
# **Every place.** *Yesterday it rained. It rained yesterday.* With weights for each step, *yesterday* must be learned
# again at every place. With shared weights, every step of every example teaches the same $U$, $W$ and $b$.

# %% [markdown]
# ### How many examples it saves, measured
#
# Somewhere in the world runs $s_t = s_{t-1} W + x_t U$, with $D = 3$ and $H = 2$. We see sequences of $T = 20$ steps, each
# state blurred by a little noise, and estimate the weights by least squares, which needs no training: once one $U, W$
# from all steps of all sequences, and once a $U, W$ for each step, from that step of all sequences. Both are tried on new
# sequences. (What is measured: `rnncourse.experiments.unfolding`.)
#
# **Guess**: shared weights have seen 10 sequences. How many must the others see to be as good?

# %% tags=["experiment"]
from rnncourse.experiments.unfolding import errors
from rnncourse.plots.unfolding import error_by_examples

sequences = [10, 20, 50, 100, 200, 500]
wrong = [np.mean([errors(seed, N) for seed in range(20)], axis=0) for N in sequences]
show(error_by_examples(sequences, wrong))

# %% tags=["author"]
assert abs(wrong[4][1] / wrong[0][0] - 1) < 0.2

# %% [markdown]
# **Claim:** weights for each of 20 steps, from 200 sequences, are as wrong as shared weights from 10, to within a fifth.
#
# It held in {{held twenty_times}} worlds. Twenty steps of one sequence are twenty examples for shared weights, and one for
# each of the others.
#
# The price is an assumption: *what to do with an input does not depend on when it comes*. Where the rule
# itself changes from step to step, 200 sequences leave shared weights with an error of
# {{sharing/a rule that changes/shared, 200|median .2f}}, the others with
# {{sharing/a rule that changes/own, 200|median .2f}}. But before you give up sharing, put the day of the week into the
# *input*.

# %% [markdown]
# ### Three steps, three thousand steps
#
# Here is a transition that you can read. The state counts open brackets: up by one at an opening bracket, down by one at a
# closing one. It has no parameters at all:
#
# $$s_t = s_{t-1} + [x_t \text{ opens}] - [x_t \text{ closes}]$$
#
# where a square bracket is 1 if what stands in it is true, and 0 if not. It runs over three characters and over 3,000
# characters of Python's own library. **Guess**: are there places with the same five characters before them, and a
# different number of open brackets?

# %% tags=["experiment", "nbval-ignore-output"] dials="width = 3; width = 20"
from rnncourse.data import python_source
from rnncourse.experiments.unfolding import bracket_depths, torn_windows

width = 5
source = python_source(60_000)[-3000:]
print("f(x ->", bracket_depths("f(x", drive=drive))
windows, torn = torn_windows(source, bracket_depths(source, drive=drive), width)
print(f"windows of {width} characters: {windows}, of more than one depth: {torn}")

# %% tags=["author"]
assert torn > 10
assert bracket_depths(source, drive=drive)[-1] == sum((c in "([{") - (c in ")]}") for c in source)

# %% [markdown]
# So a 6-gram cannot know how many brackets are open there, and a pair further apart defeats any width. *Try* a wider
# window. One integer, rewritten at each step, does what no window can. Somebody had to think of that integer, though.

# %% [markdown]
# ## 6 · What went wrong in practice: four bugs to hunt
#
# Nothing raises an error here, and every shape is right. Run the cell, and find each cause **before** you open the answers.


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
# A function looks up `n` when it is *called*, not when it is made. By then, `n` is 2. Put the loop inside one function.
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
# | system | $s_t = f(s_{t-1},\, x_t;\, \theta)$: $T$ inputs, $T + 1$ states, one transition |
# | unfolding | the circuit has a cycle; the unfolded graph has a node for each moment and none |
# | state | what one must know of the past to go on; of fixed size, so a lossy summary |
# | latent variable | exact if pasts that lead to one state have one future |
# | dependence | convolution: a band; recurrence: everything up to now |
# | sharing | $DH + H^2 + H$ parameters; every length; a $T$-th of the examples |
#
# **So, can a model carry along what it needs of the past, at a cost that does not grow with the past?** Yes: in a state
# of fixed size, which one transition rewrites at every step. What is kept depends on the rule.

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
# In this unit somebody always knew the rule. For language nobody does. *Which* $f$ is flexible enough to become any of
# these, and can be **learned**? That is [unit 03](../03_cell/03_cell.ipynb).

# %% [markdown]
# ## Optional · something to show: a pond
#
# *10 minutes, not needed later.* Let $s$ be the fish in a pond, as a share of the most that it can feed. They have young, so
# there is growth; the fuller the pond, the less food, so there is a brake:
#
# $$s_t = r \, s_{t-1} \, (1 - s_{t-1})$$
#
# By hand, with $r = 2$ and $s_0 = 0.25$: $\;2 \cdot 0.25 \cdot 0.75 = 0.375$. A state may be an array, so your `unfold`
# runs 1,200 ponds side by side, each with its own $r$. (A slider below the picture shows one.)
#
# **Guess**: what will the pond do in the long run for $r = 2.8$, $3.2$ and $3.9$?

# %% tags=["experiment"]
from rnncourse.plots.unfolding import pond_cloud, pond_years


def pond(s, r):
    return r * s * (1 - s)


rates = np.linspace(2.6, 4.0, 1200)
late = run(pond, np.full(1200, 0.4), rates, 1000)[-150:]
growth = Slider("growth rate r", 2.6, 4.0, 3.5, step=0.05)
one_pond = lambda r: pond_years(run(pond, 0.4, r, 60), r)  # noqa: E731
explore(one_pond, pond_cloud(rates, late), r=growth)

# %% tags=["experiment"]
gap = np.abs(run(pond, 0.3, 3.9, 100) - run(pond, 0.3 + 1e-9, 3.9, 100))
print("two ponds with r = 3.9, a billionth apart: the gap in year 20, 40, 60 and 80:")
print(gap[[20, 40, 60, 80]])

# %% tags=["author"]
visited = [len(set(run(pond, 0.4, r, 2200)[-200:].round(6))) for r in (2.9, 3.2, 3.5, 3.55, 3.9)]
assert visited[:4] == [1, 2, 4, 8]
assert visited[4] > 100
assert gap.max() > 0.1

# %% [markdown]
# **Claim:** as its growth rate rises, the number of values that a pond keeps visiting doubles: 1, 2, 4, 8 (at $r$ = 2.9,
# 3.2, 3.5 and 3.55). At 3.9 it is more than 100, and there a difference of $10^{-9}$ at the start comes to more than a
# tenth of a full pond.
#
# That is **chaos**: the rule is exact, there is no chance in it, and still the smallest doubt about the start becomes a
# doubt about everything.

# %% [markdown]
# ## Where to read on
#
# - I. Goodfellow, Y. Bengio, A. Courville, *Deep Learning* (MIT Press, 2016), section 10.1: unfolding computational graphs.
# - R. M. May, "Simple mathematical models with very complicated dynamics", *Nature* 261 (1976): the pond, by the one who made it famous.
# - S. H. Strogatz, *Nonlinear Dynamics and Chaos*: the friendliest book on dynamical systems.
# - J. L. Elman, "Finding structure in time", *Cognitive Science* 14 (1990): a state that learns to read.

# %% tags=["experiment"]
progress("02_unfolding")
