# %% [markdown]
# # 02 · Dynamical systems and their graphs
#
# **When you are done you will be able to**
#
# - write a rule that is applied again and again as a recurrence, and unfold it into a graph without cycles;
# - drive such a system with a signal from outside, and say what its state keeps of the past and what it drops;
# - find out by experiment which output of a model depends on which input, and tell a convolution from a recurrence by
#   the pattern;
# - say what you gain by using one transition at every step, in parameters and in sequences that can be read.
#
# **Time:** about two hours. **Before you start:** unit 01, NumPy arrays, and functions that take functions. There are 6
# exercises and one written question, 15 points in all.

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
# That was easy for you. It was not for the 5-gram model of unit 01: the four words it sees are *to work as a*, and
# *medicine* has long left the window. A wider window is no way out: for a vocabulary of $V$ words its table has $V^n$
# entries, and somebody can always make a longer sentence.
#
# You did not look back either, most likely. When you came to the gap, you still *had* "medicine", because you carried
# something along while you read. So here is the question of this unit: **can a model carry along what it needs of the
# past, at a cost that does not grow with the past?**
#
# The idea is a note. It has room for a few numbers only. At every step you read the note, look at what is new, and write
# the note anew. The note is called the **state**. This unit is about states and the rules that rewrite them, and leaves
# learning aside. The rules come from ponds, pendulums and plants. The loop that you write for them is the one that runs in
# every recurrent network.
# %% [markdown]
# ## 1 · One rule, again and again
#
# A bank pays 10 percent a year. You bring 100, and wait:
#
# $$100 \;\to\; 110 \;\to\; 121 \;\to\; 133.1$$
#
# Four numbers and three arrows. The same thing happens at every arrow: times 1.1. Nobody needs to know the year, or what
# was in the account before last year. What is there now says everything about what comes next.
#
# In symbols: the **state** at time $t$ is $s_t$, the rule that carries it on is the **transition** $f$, and the numbers
# in the rule are its **parameters** $\theta$ (theta). Here $f(s; \theta) = \theta s$ with $\theta = 1.1$ and $s_0 = 100$.
# In general
#
# $$s_t = f(s_{t-1};\, \theta)$$
#
# This is a **recurrence**: it defines $s_t$ by the same thing one step earlier. Look at what carries a $t$ and what does
# not. The state changes with time. The transition and its parameters do not. In the formula a semicolon stands before what
# stays the same; in Python it is a plain comma, `f(s, theta)`.
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
# On the left is the **circuit**. It shows what you have to build: one state, one $f$, and a wire that brings the state
# back. The black square is a delay: what goes in comes out one step later. Without it, $s$ would have to be equal to
# $f(s)$ at once.
#
# On the right is the **unfolded graph**. It shows what happens: one node for each moment. The circuit has a cycle. The
# graph has none, because every arrow goes forward in time. Such a graph (a *directed acyclic graph*, DAG) has an order in
# which everything can be computed. Unit 04 will walk through it in the opposite order, to learn.

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
#   shape `(steps + 1, 2)`; if it is a number, `(steps + 1,)`. States in float32 stay float32.
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
# You now own a machine that runs any system of this form. Let it show you what a rule of one line can do.

# %% [markdown]
# ### A pond, and what becomes of it
#
# Let $s$ be the number of fish in a pond, as a share of the most that it can feed. Fish have young, so there is growth
# with $s$; but the fuller the pond, the less food there is, so there is a brake $(1 - s)$:
#
# $$s_t = r \, s_{t-1} \, (1 - s_{t-1})$$
#
# By hand, with $r = 2$ and $s_0 = 0.25$: $\;2 \cdot 0.25 \cdot 0.75 = 0.375$, then $2 \cdot 0.375 \cdot 0.625 = 0.46875$.
#
# One parameter, one line, nothing left to chance. **Before you go on, guess:** what will the pond do in the long run for
# $r = 2.8$, for $r = 3.2$, and for $r = 3.9$?

# %% tags=["experiment"]
from rnncourse.plots import line_chart

run = use(unfold)


def pond(s, r):
    return r * s * (1 - s)


fish = {f"r = {r}": run(pond, 0.4, r, 200) for r in (2.8, 3.2, 3.9)}
show(
    line_chart(
        range(26),
        {name: states[:26] for name, states in fish.items()},
        xlabel="time step t (years)",
        ylabel="state s (share of a full pond)",
    ),
    alt="""Three ponds over 25 years. With r = 2.8 the state swings a few times and settles at one value. With r = 3.2 it
    jumps up and down between two values for ever. With r = 3.9 it jumps about without any pattern.""",
)

settled = 1 - 1 / 2.8  # where r s (1 - s) = s
low, high = (4.2 - np.sqrt(0.2 * 4.2)) / 6.4, (4.2 + np.sqrt(0.2 * 4.2)) / 6.4  # where two steps lead back
print("r = 2.8 ends at      ", fish["r = 2.8"][-4:].round(4))
print("r = 3.2 ends between ", fish["r = 3.2"][-4:].round(4))
assert np.allclose(fish["r = 2.8"][-4:], settled), "Expected one value for r = 2.8. Has unfold passed its check?"
assert np.allclose(np.sort(fish["r = 3.2"][-2:]), [low, high]), "Expected two values. Has unfold passed its check?"
assert len(set(fish["r = 3.9"][-50:].round(6))) > 45, "Expected no pattern for r = 3.9. Has unfold passed its check?"

# %% [markdown]
# One value, two values, no pattern. Where does one turn into the next?
#
# Your `unfold` can tell you, in one call. A state may be an array, so let it hold 1,200 ponds side by side, each with an
# $r$ of its own: `s` and `theta` are arrays of the shape `(1200,)`, and $f$ works on all of them at once. Run all ponds
# for 1,000 years, and plot where each has been in the last 150. (In a running notebook there is a slider below the
# picture: one pond, whose $r$ you move along the axis of the picture.)
#
# **Claim:** as its growth rate $r$ rises, the number of values that a pond keeps visiting doubles: 1, 2, 4, 8 (at $r$ = 2.9,
# 3.2, 3.5 and 3.55). At 3.83 it is 3, and at 3.9 more than 100.

# %% tags=["experiment"]
from rnncourse.plots import Slider, explore
from rnncourse.plots.unfolding import point_cloud

rates = np.linspace(2.6, 4.0, 1200)
late = run(pond, np.full(1200, 0.4), rates, 1000)[-150:]


def sixty_years(r):
    """One pond of rate r, year by year."""
    years = {f"r = {r:.2f}": run(pond, 0.4, r, 200)[:61]}
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


def values_visited(r):
    """How many different states a pond of rate r still visits after 2,000 years."""
    return len(set(run(pond, 0.4, r, 2200)[-200:].round(6)))


for r in (2.9, 3.2, 3.5, 3.55, 3.83, 3.9):
    print(f"r = {r:4}: values visited in 200 years:", values_visited(r))
assert [values_visited(r) for r in (2.9, 3.2, 3.5, 3.55, 3.83)] == [1, 2, 4, 8, 3], (
    "Expected 1, 2, 4, 8 and 3 values. Has unfold passed its check?"
)
assert values_visited(3.9) > 100, "Expected more than 100 values at r = 3.9. Has unfold passed its check?"

# %% [markdown]
# All this comes out of $r s (1 - s)$. **A simple transition, applied often, is not a simple thing.** Keep that in mind when
# a network's transition has thousands of parameters.

# %% [markdown]
# ### Two starts, a billionth apart
#
# How much does a state still know of where it began? Run two ponds whose starts differ by $10^{-9}$: one fish more, in
# a lake that could feed a billion. Watch the gap between them, once for $r = 4$ and once for $r = 2.8$. The scale is
# logarithmic: a straight line means that the gap is multiplied by the same number at every step.
#
# **Claim:** with $r = 4$ the gap between the two doubles at every step, on average over the first 25, and after 28 steps it
# comes to more than half of a full pond. With $r = 2.8$ it shrinks, in 45 steps, to less than a thousandth of what it was.

# %% tags=["experiment"]
gaps = {}
for r in (4.0, 2.8):
    one, other = run(pond, 0.3, r, 45), run(pond, 0.3 + 1e-9, r, 45)
    gaps[f"r = {r}"] = np.abs(one - other)
show(
    line_chart(range(46), gaps, xlabel="time step t", ylabel="gap (share of a full pond)", logy=True),
    alt="""The gap between two ponds that begin a billionth apart, on a logarithmic scale. With r = 4 it climbs along a
    straight line and is as large as the states themselves after about 30 steps. With r = 2.8 it falls along a
    straight line.""",
)

factor = 2 ** np.polyfit(range(26), np.log2(gaps["r = 4.0"][:26]), 1)[0]
print(f"r = 4.0: the gap grows by a factor of {factor:.2f} a step, on average over the first 25")
print(f"r = 2.8: after 45 steps the gap is {gaps['r = 2.8'][-1] / 1e-9:.0e} of what it was")
assert 1.9 < factor < 2.1, "Expected the gap to double at every step. Has unfold passed its check?"
assert gaps["r = 4.0"][28:].max() > 0.5, "Expected a gap of more than half a pond. Has unfold passed its check?"
assert gaps["r = 2.8"][-1] < 1e-3 * 1e-9, "Expected the gap to shrink below a thousandth. Has unfold passed its check?"

# %% [markdown]
# A billion is about $2^{30}$, so with $r = 4$ nothing can be predicted after some 30 steps. That is **chaos**: the rule is
# exact, there is no chance in it, and still the smallest doubt about the start becomes a doubt about everything. With
# $r = 2.8$ it is the other way round: the gap dies out, and the state forgets where it began.
#
# You have just seen, in its smallest form, the trouble with *training* recurrent networks. A small change, carried through
# many steps, either **explodes** or **vanishes**, because each step multiplies it. What unit 05 makes of that will surprise
# you: a rule that lets small changes die out can also be one that holds on to what it has.

# %% [markdown]
# ### When is a state a state?
#
# A pendulum swings from the ceiling. Its angle is 0.5 (in radians, from where it hangs at rest). Where will it be in a
# tenth of a second? You cannot know: it may be on its way up or on its way down. So the angle alone is not a state. Angle
# *and* speed together are one: they say everything about the future that the past could tell.
#
# > **A state is what you have to know of the past in order to go on.**
#
# With the angle $\varphi$, the speed $v$, the pull $g$ of gravity, the drag $d$ of the air, and a small time step $\Delta$:
#
# $$v_t = v_{t-1} - \Delta\,(g \sin \varphi_{t-1} + d\, v_{t-1}), \qquad \varphi_t = \varphi_{t-1} + \Delta\, v_t$$
#
# The state is the array $[\varphi, v]$. Draw it as a point in the plane, one axis for each of its numbers, and a run
# becomes a path. This is called a *phase portrait*. The angle goes on counting beyond a full turn: $2\pi \approx 6.28$ means
# once over the top.
#
# **Claim:** two pendulums that start at the same angle can go different ways; and with drag, each has less energy from one
# second to the next, until it hardly moves.

# %% tags=["experiment"]
from rnncourse.plots import phase_portrait


def pendulum(s, theta):
    angle, speed = s
    speed = speed - theta["step"] * (theta["pull"] * np.sin(angle) + theta["drag"] * speed)
    return np.array([angle + theta["step"] * speed, speed])


theta = {"pull": 4.0, "drag": 0.3, "step": 0.02}
pushes = {"on its way up": [0.5, 2.0], "on its way down": [0.5, -2.0], "a hard push": [0.5, 5.5]}
paths = {name: run(pendulum, np.array(push), theta, 1000) for name, push in pushes.items()}
show(
    phase_portrait(paths, xlabel="angle (radians)", ylabel="angular speed (radians per second)"),
    alt="""Three paths of a pendulum in the plane of angle and speed. All begin at the angle 0.5. Two of them, pushed up and
    pushed down, spiral into the point 0, 0. The one with a hard push goes once over the top and spirals into the point
    6.28, 0.""",
)

for name, path in paths.items():
    angle, speed = path.T
    energy = (speed**2 / 2 + theta["pull"] * (1 - np.cos(angle)))[::50]  # once a second
    print(f"{name:16} ends at the angle {path[-1, 0]:5.2f}, energy {energy[0]:5.2f} -> {abs(energy[-1]):.2f}")
    assert (np.diff(energy) < 0).all(), "Expected less energy each second. Has unfold passed its check?"
    assert energy[-1] < 0.1, "Expected hardly any energy at the end. Has unfold passed its check?"
up, down = paths["on its way up"], paths["on its way down"]
assert up[0, 0] == down[0, 0], "Expected the same angle at first."
assert up[1, 0] > 0.5 > down[1, 0], "Expected two futures from one angle. Has unfold passed its check?"
assert round(paths["a hard push"][-1, 0] / (2 * np.pi)) == 1, "Expected one full turn. Has unfold passed its check?"

# %% [markdown]
# All three begin at the same angle and go different ways, so the angle is not enough. In the plane of the *whole* state that
# cannot happen: two runs that are ever in the same state have the same future.
#
# Remember this when we come to networks. If the state of a language model leaves out that the subject was *medicine*, no
# transition in the world can bring it back.

# %% [markdown]
# ## 2 · Many steps are one function
#
# $s_3 = f(f(f(s_0)))$ has a second reading. Instead of a run through time, take it for one function, applied to $s_0$:
# the function "three steps of $f$". Write it $f^3$, and in general $f^t$ for $t$ steps of $f$, with $f^0$ the function that
# leaves everything as it is. Then
#
# $$s_t = f^t(s_0)$$
#
# By hand, for $f(s) = 2s$: $\;f^3(5) = 2 \cdot 2 \cdot 2 \cdot 5 = 40$, $\;f^1(5) = 10$, and $f^0(5) = 5$. (Not to be mixed
# up with powers of numbers: $f^3(s)$ is not $f(s) \cdot f(s) \cdot f(s)$.)
#
# Seen this way, a run of 200 steps is a *deep network* of 200 layers, and all its layers are the same.

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
# A function that makes functions: you will meet more of them. And you can now ask for any layer of the deep network.
#
# **Claim:** cut a run of 200 steps of the pendulum after 0, 1, 77 or 200 steps, and go on from the state that is there: the
# end is the same, to the last bit.

# %% tags=["experiment"]
power = use(compose)


def one_step(s):
    return pendulum(s, theta)


start = np.array([0.5, 2.0])
whole = power(one_step, 200)(start)
for cut in (0, 1, 77, 200):
    first = power(one_step, cut)(start)
    assert np.array_equal(power(one_step, 200 - cut)(first), whole), (
        f"Expected the same end, to the last bit, when cut after {cut} steps. Has compose passed its check?"
    )
print("200 steps in one go, or cut in two wherever you like:", whole.round(4))

# %% [markdown]
# $f^{200} = f^{123} \circ f^{77}$ (read: first 77 steps, then 123). A run may be cut anywhere. The second part needs nothing
# of the first but the state where it ended. That is the practical side of "a state is what you have to know": put the state
# aside, read on tomorrow, and nobody can tell the difference. Units 05 and 06 cut long texts in just this way.

# %% [markdown]
# ## 3 · A signal from outside
#
# A pond that is left to itself reads no text. What is missing is an input. Let something new come in at each step, $x_t$, and
# let the transition see it:
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
# 1, in Python from 0: **$x_1$ is `xs[0]`**, and it takes part in the first step, from $s_0$ to $s_1$. Many mistakes with
# recurrences are made right here.

# %% [markdown]
# ### Exercise 2.3 · `unfold_driven`
# *●●○ · 8 minutes · 2 points*
#
# Write `unfold_driven(f, s0, xs, theta)`, which runs a driven system over a whole signal.
#
# - `f(s, x, theta)` is the transition. Call it once for each input.
# - `s0` is a number or an array of any shape; `xs` is an array `(T, …)` with T at least 1, and `xs[t]` is one input.
# - The result is a new array of the `T + 1` states, `s0` first. States in float32 stay float32.
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
# This loop reads. Unit 03 does not change it. It only puts an interesting $f$ inside.

# %% [markdown]
# ### What a state remembers: the leaky integrator
#
# Take the calm average of unit 00. It keeps the share $k$ of what it has, and takes the rest from the input:
#
# $$s_t = k\, s_{t-1} + (1 - k)\, x_t$$
#
# This $f$ is so simple that the unfolding can be carried out to the end. Two steps:
#
# $$s_2 = k\,\bigl(k\, s_0 + (1-k)\, x_1\bigr) + (1-k)\, x_2 = k^2 s_0 + (1-k)\, k\, x_1 + (1-k)\, x_2$$
#
# and so on. After $t$ steps
#
# $$s_t = k^t s_0 + (1-k) \sum_{j=1}^{t} k^{\,t-j}\, x_j$$
#
# So the state is a weighted sum of *everything* there ever was. The newest input has the weight $1 - k$, the one before
# it $k$ times that, and so on back. Nothing falls off at a window's edge. It fades.
#
# To see the weights, feed a single 1 and then only zeros. What comes out is called the **impulse response**.
#
# **Claim:** the impulse response of a leaky integrator is $(1-k)\,k^{t-1}$, from $s_0 = 0$; and on a random signal, from a
# state that is not 0, the loop ends where the formula says.

# %% tags=["experiment"]
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
# What is such a memory good for? Here is a slow wave, measured by a bad instrument. The average over the past takes the
# noise out. **Guess first:** is it best to keep as large a share of the past as possible?

# %% tags=["experiment"]
days = np.arange(600)
wave = np.sin(2 * np.pi * days / 200)
measured = wave + np.random.default_rng(7).normal(scale=0.5, size=600)
smooth = drive(leaky, 0.0, measured, 0.85)[1:]
chart = line_chart(
    days[:300],
    {"measured": measured[:300], "the wave": wave[:300], "state, k = 0.85": smooth[:300]},
    xlabel="time step t",
    ylabel="signal (volts)",
)
chart.axes[0].lines[0].set(linewidth=0.7, alpha=0.6)
show(
    chart,
    alt="""A sine wave, noisy measurements of it, and the state of a leaky integrator that reads them. The state follows the
    wave closely, a few steps late, with little of the noise.""",
)

keeps = np.array([0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99])
error = np.array([np.sqrt(np.mean((drive(leaky, 0.0, measured, keep)[1:] - wave) ** 2)) for keep in keeps])
show(
    line_chart(
        keeps,
        {"error": error},
        xlabel="share k that is kept at each step",
        ylabel="root mean square error (volts)",
        size=(8.0, 3.6),
    ),
    alt="""The error of the smoothed signal against k. It falls from 0.47 at k = 0 to 0.19 at k = 0.8, and then rises
    steeply.""",
)
best = keeps[error.argmin()]
print(f"no memory: {error[0]:.2f} V; best, at k = {best}: {error.min():.2f} V; k = 0.99: {error[-1]:.2f} V")
assert 0.7 <= best <= 0.95, "Expected the best k between 0.7 and 0.95. Has unfold_driven passed its check?"
assert error.min() < 0.5 * error[0], "Expected half the error at the best k. Has unfold_driven passed its check?"
assert error[-1] > error[0], "Expected k = 0.99 to be worse than no memory. Has unfold_driven passed its check?"

# %% [markdown]
# With too short a memory the noise comes through. With too long a memory the state lives in the past. The best $k$ lies in
# between, and *where* depends on the signal. Nobody should have to find it by hand: $k$ is a parameter, and parameters can
# be learned.

# %% [markdown]
# ### What a state forgets
#
# The state is one number, and the past is many numbers. So something must be lost. Take $k = 0.5$ and $s_0 = 0$, and read
# two different signals of two steps each:
#
# - $x = (0,\, 1)$: $\;s_1 = 0$, $\;s_2 = 0.5 \cdot 0 + 0.5 \cdot 1 = 0.5$
# - $x = (2,\, 0)$: $\;s_1 = 1$, $\;s_2 = 0.5 \cdot 1 + 0.5 \cdot 0 = 0.5$
#
# Two pasts, one state.
#
# **Claim:** after the pasts $(0, 1)$ and $(2, 0)$, let both runs read the same 50 inputs: they are in the same state at every
# step.

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
# The machine can never again tell them apart. **The state is a lossy summary of the past.** It has a fixed size, and the
# past has not. That is not a flaw: it keeps the cost of a step the same for ever. Everything depends on *what* is dropped.
# For a noisy wave, a fading average keeps the right thing. For a sentence it does not: *medicine* must stay, *at* may go. A
# good $f$ for language has to look at what it reads and decide. That is why we shall want to learn it.

# %% [markdown]
# ## 4 · Who depends on whom?
#
# An n-gram model sees a window, a recurrence sees the whole past. There is a way to *measure* that, for any model that takes a
# sequence and gives a sequence, even if you cannot look inside: change input $k$ a little, and see which outputs change.
#
# A close relative of the window is the **convolution**: each output is a weighted sum of the inputs around it. With width 3,
#
# $$y_t = w_{-1}\, x_{t-1} + w_0\, x_t + w_1\, x_{t+1}$$
#
# It shares its weights over time too, but it has no state. Beside a recurrence it looks like this:

# %% tags=["experiment"]
from rnncourse.plots.unfolding import convolution_beside_recurrence

show(
    convolution_beside_recurrence(),
    alt="""Left, a convolution of width 3: every output y is joined to three inputs, and y_4 is reached by x_3, x_4 and x_5.
    Right, a recurrence: every state is joined to its input and to the state before it, and s_4 is reached by x_1, x_2, x_3,
    x_4 and by s_0.""",
)

# %% [markdown]
# ### Exercise 2.4 · `depends_on`
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
# Why one entry at a time? Think of a model that returns the difference of the two entries of $x_t$. Raise both at once, and
# nothing happens.


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
# You now own an instrument that looks through the walls of any model that you can run. You will point it at a recurrent
# network (unit 03) and at one that reads both ways (unit 09).

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
# Two bands, and a triangle. The convolution's reach is fixed by its width, wherever it stands. The recurrence's reach grows
# as it reads: its last output depends on all inputs. And neither the 4-gram nor the recurrence ever looks ahead: nothing
# stands above the diagonal. Such a model is called **causal**, and only such a model can be asked for the *next* word.
#
# Can a convolution see far as well? It can, if you stack layers.
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
# For a dependence over 7 steps you need 7 layers of width 3; for one over 1,000 steps, 1,000 of them. (Wider kernels, or
# kernels with gaps, need fewer. But the number must be chosen in advance.) The recurrence gets there with one transition. It
# pays in another currency: to compute $s_{1000}$ it must have $s_{999}$ first, so its steps have to wait for each other. A
# convolution's outputs can all be computed at once. (Unit 13 comes back to that.)
#
# One thing the grid does not say. *Yes* is not *how much*. In the leaky integrator, the weight of the input of $m$ steps ago
# is $(1 - k)\, k^m$. For $k = 0.5$ and $m = 20$ that is half a millionth. The grid says `True`. In practice the input is
# forgotten.

# %% [markdown]
# ## 5 · One transition for all steps
#
# So far $f$ and $\theta$ were the same at every step, as if that went without saying. It does not. You could build a network
# with a transition of its own for each step, $s_t = f_t(s_{t-1}, x_t;\, \theta_t)$. What would that cost?
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
# ### Exercise 2.5 · `shared_parameter_count`
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
# This is the size of a recurrent cell. Look at your formula: there is no $T$ in it.

# %% [markdown]
# ### Exercise 2.6 · `unshared_parameter_count`
# *●○○ · 4 minutes · 1 point*
#
# Write `unshared_parameter_count(T, D, H)`: the number of parameters of a network in which each of the T steps has a `U`, a
# `W` and a `b` of its own. You may call `shared_parameter_count`. By hand: `unshared_parameter_count(100, 3, 5)` is 4,500.


# %% answer="unshared_parameter_count"
def unshared_parameter_count(T, D, H):
    """The number of parameters if each of T steps has its own U (D, H), W (H, H) and b (H,) -> int."""
    ### BEGIN SOLUTION
    return T * shared_parameter_count(D, H)
    ### END SOLUTION


# %% check="unshared_parameter_count"
check(unshared_parameter_count)

# %% [markdown]
# Two formulas, and the difference between them is one factor: $T$.
#
# **Claim:** over 3,000 steps, a set of weights for each step takes 3,000 times as many parameters as one set for all.

# %% tags=["experiment"]
shared, unshared = use(shared_parameter_count), use(unshared_parameter_count)
lengths = np.array([1, 3, 10, 30, 100, 300, 1000, 3000])
counts = {
    "a set for each step": [unshared(int(T), 50, 100) for T in lengths],
    "one set for all": [shared(50, 100) for _ in lengths],
}
show(
    line_chart(lengths, counts, xlabel="T (time steps)", ylabel="parameters (D = 50, H = 100)", logx=True, logy=True),
    alt="""Number of parameters against the length of the sequence, both on logarithmic scales. With a set for each step it grows in
    proportion to T, to some 45 million at 3,000 steps. With one set for all it stays at 15,100.""",
)
print(f"T = 3,000: {counts['a set for each step'][-1]:,} parameters against {counts['one set for all'][-1]:,}")
assert counts["a set for each step"][-1] == 3000 * counts["one set for all"][-1], (
    "Expected 3,000 times as many. Have both counts passed their checks?"
)

# %% [markdown]
# The smaller number is the least of it. Sharing buys two greater things.
#
# **Every length.** A network with 100 sets of weights reads 100 steps. At step 101 it has nothing to go on with. One that
# shares has no such end.
#
# **Every place.** *Yesterday it rained. It rained yesterday.* What a network learns about *yesterday* at step 1 should be
# known at step 3 as well. With weights for each step it must learn the word again at every place, and only from the examples
# that have it there. With shared weights, every step of every example teaches the same $U$, $W$ and $b$.
#
# Sharing assumes one thing about the world: *what to do with an input does not depend on when it comes*, except through the
# state. If it does depend on that, say on the day of the week, you need not give up sharing. Put the day into the input.

# %% [markdown]
# ### Three steps, three thousand steps
#
# Here is a transition that you can read. The state counts open brackets: up by one at an opening bracket, down by one at a
# closing one, otherwise unchanged. It has no parameters at all:
#
# $$s_t = s_{t-1} + [x_t \text{ opens}] - [x_t \text{ closes}]$$
#
# where a square bracket is 1 if what stands in it is true, and 0 if not.
#
# It runs over a text of 3 characters and over 3,000 characters of the source of Python's own library. And it knows something
# that no n-gram can know. A 6-gram model over characters sees the five characters before a place, and no more.
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

chart = line_chart(
    range(3001),
    {"depth": depth},
    xlabel="characters read",
    ylabel="open brackets (state s)",
    size=(8.0, 2.8),
)
chart.axes[0].set_yticks(range(depth.max() + 1))
chart.axes[0].lines[0].set_linewidth(1.0)
show(
    chart,
    alt="""The number of open brackets along 3,000 characters of Python source: a step function that leaves 0 many times, for
    one or more brackets, and comes back.""",
)

# %% [markdown]
# So the 6-gram cannot know how many brackets are open there. A wider window would not help for long: a pair of brackets
# further apart defeats any width. One integer, rewritten at each step, does what no window can. Somebody had to think of that
# integer, though. Hold on to this thought.

# %% [markdown]
# ### The rows of an image
#
# "Time" need not be time. Any order will do: the rows of an image, from top to bottom, are a sequence of vectors. Here is the
# seven of unit 01 again. It has 8 by 8 pixels, so $T = 8$ and $D = 8$. The transition is $\tanh(x U + s W + b)$ with a state of
# $H = 6$ numbers, and its weights are drawn at random. Nothing has been learned. Still we can ask what gets into the state.

# %% tags=["experiment"]
from rnncourse.data import digit_image
from rnncourse.plots import image_rows, state_heatmap

rng = np.random.default_rng(5)
weights = (rng.normal(size=(8, 6)) / 2, rng.normal(size=(6, 6)) / 2.5, rng.normal(size=6) / 5)


def cell(s, x, theta):
    U, W, b = theta
    return np.tanh(x @ U + s @ W + b)


seven = digit_image()
states = drive(cell, np.zeros(6), seven, weights)
show(
    image_rows(seven),
    alt="""A seven of 8 by 8 grey pixels, cut into its rows. Row 0 on top is the input of the first time step.""",
)
show(
    state_heatmap(states[1:], [f"row {t}" for t in range(8)]),
    alt="""The six units of the state after each of the eight rows, in colours from blue for -1 over white for 0 to vermilion for 1. The
    pattern changes from row to row.""",
)

# %% [markdown]
# Now turn the image upside down, so that its last row is read first.
#
# **Claim:** when an image is turned upside down, the bag of its rows (their sum, like unit 01's bag of words) stays the same,
# and the last state does not.
#
# Besides, the same `weights`, all 90 numbers, read 3 rows, 8 rows, and 3,000 rows:

# %% tags=["experiment"]
upside_down = seven[::-1]
bag, state = seven.sum(axis=0), states[-1]
assert np.allclose(upside_down.sum(axis=0), bag), "Expected the same bag of rows."
turned = drive(cell, np.zeros(6), upside_down, weights)[-1]
print("last state          ", state.round(2))
print("last state, turned  ", turned.round(2))
assert np.abs(turned - state).max() > 0.3, "Expected another state. Has unfold_driven passed its check?"

assert sum(w.size for w in weights) == shared(8, 6), "Expected 90 numbers. Has shared_parameter_count passed its check?"
for rows in (seven[:3], seven, np.tile(seven, (375, 1))):
    print(f"{len(rows):5,} rows -> states {drive(cell, np.zeros(6), rows, weights).shape}")

# %% [markdown]
# ## 6 · What went wrong in practice: four bugs to hunt
#
# All four are easy to write and hard to see: nothing raises an error, and every shape is right. Run the cell, compare what
# comes out with what should, and find the cause **before** you open the answers.


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
# `s += …` writes into the array that came in, and `return s` returns that same array. The list holds one array four times,
# and shows its last value four times. Write `return s + …`, which makes a new array. A transition must leave its arguments
# alone.
# </details>
#
# <details><summary><b>B</b>: where has the half gone?</summary>
#
# `np.full(6, 8)` is an array of whole numbers, because 8 is one. It cuts off all decimals, and says nothing. Give the array
# the dtype that the states will have, or collect them in a list and stack it.
# </details>
#
# <details><summary><b>C</b>: why does the first add 2 as well?</summary>
#
# A function looks up `n` when it is *called*, not when it is made. By then, `n` is 2. Many a first `compose` fails in this
# way: `g = lambda s: f(g(s))` in a loop looks up `g` when it is called, finds itself, and calls itself for ever. Put the loop
# inside one function.
# </details>
#
# <details><summary><b>D</b>: why is 1 + 0.001 - 0.001 not 1?</summary>
#
# Numbers are rounded at every operation, and the errors need not cancel. A `depends_on` that raises and lowers in place can
# find dependences that are not there, because `xs` does not quite come back to what it was. Work on a copy.
# </details>

# %% [markdown]
# ## Summary
#
# | | |
# |---|---|
# | dynamical system | $s_t = f(s_{t-1};\, \theta)$: one transition, the same at every step |
# | driven system | $s_t = f(s_{t-1},\, x_t;\, \theta)$: $T$ inputs, $T + 1$ states |
# | unfolding | the circuit has a cycle and a delay; the unfolded graph has one node for each moment and no cycle |
# | state | all that the future needs of the past; of fixed size, so a lossy summary |
# | small changes | are multiplied at every step: they explode or they vanish |
# | dependence | convolution: a band; recurrence: everything up to now |
# | sharing | $DH + H^2 + H$ parameters and not $T\,(DH + H^2 + H)$; every length; what is learned at one place is known at all |
#
# **So, can a model carry along what it needs of the past, at a cost that does not grow with the past?** Yes. A state has a
# fixed size, and one transition, with one set of parameters, rewrites it at every step. The price is that something gets
# lost. What is kept depends on the rule.

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
# ## Something to show
#
# Your `unfold_driven` can draw. The state is a point in the plane, the signal comes from a loaded die with four faces, and the
# transition moves the point by one of four rules: $s_t = A_{x_t} s_{t-1} + b_{x_t}$. (Here a state is a column, as in most
# books on this subject.) That is all: one $f$, and 24 numbers in $\theta$. Throw the die 40,000 times.
#
# **Claim:** two starts more than a hundred apart, moved by the same throws, are less than a millionth apart after 200 steps.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.plots import COLOURS

A = np.array(
    [
        [[0.00, 0.00], [0.00, 0.16]],
        [[0.85, 0.04], [-0.04, 0.85]],
        [[0.20, -0.26], [0.23, 0.22]],
        [[-0.15, 0.28], [0.26, 0.24]],
    ]
)
b = np.array([[0.0, 0.0], [0.0, 1.6], [0.0, 1.6], [0.0, 0.44]])


def rule(s, face, theta):
    A, b = theta
    return A[face] @ s + b[face]


dice = np.random.default_rng(1).choice(4, size=40_000, p=[0.01, 0.85, 0.07, 0.07])
points = drive(rule, np.zeros(2), dice, (A, b))
show(
    point_cloud(
        *points.T,
        xlabel="first number of the state",
        ylabel="second number of the state",
        size=(5.4, 7.6),
        dot=0.9,
        colour=COLOURS["output"],
        equal=True,
    ),
    alt="""40,000 states as points in the plane. Together they make the picture of a fern: a bent stem with leaves on both sides, and
    each leaf is a small fern itself.""",
)

far_away = drive(rule, np.array([100.0, -50.0]), dice[:200], (A, b))
gap = np.linalg.norm(far_away - points[:201], axis=1)
print(f"two starts: {gap[0]:.0f} apart at first, {gap[-1]:.2g} after 200 steps")
assert gap[-1] < 1e-6, "Expected the gap to shrink below a millionth. Has unfold_driven passed its check?"
assert points[20:, 1].min() > -0.1, "Expected no part of the fern below the ground."
assert 9 < points[:, 1].max() < 11, "Expected a fern of about 10 in height. Has unfold_driven passed its check?"

# %% [markdown]
# A fern, out of a rule and a die. Change a number in `A` and grow another plant.
#
# Look at the printed line. Two starts that were over a hundred apart end in the same place, because every rule shrinks
# distances: this state forgets where it began and remembers only the last throws. The pond at $r = 4$ did the opposite.
# Somewhere between forgetting everything and being thrown off by everything lies the kind of state that can read a sentence.
#
# **That leaves the question for unit 03.** In this unit somebody always knew the rule: of the bank, the pendulum, the
# brackets, the fern. For language nobody does. So: *which* $f$, with *which* parameters, is flexible enough to become any of
# these, and can be **learned**?

# %% [markdown]
# ## Where to read on
#
# - I. Goodfellow, Y. Bengio, A. Courville, *Deep Learning* (MIT Press, 2016), section 10.1: unfolding computational graphs.
# - R. M. May, "Simple mathematical models with very complicated dynamics", *Nature* 261 (1976): the pond, by the one who made it famous.
# - S. H. Strogatz, *Nonlinear Dynamics and Chaos*: the friendliest book on dynamical systems, with phase portraits on every other page.
# - M. F. Barnsley, *Fractals Everywhere* (Academic Press, 1988): the fern and its relatives.
# - A. Waibel and others, "Phoneme recognition using time-delay neural networks", *IEEE Transactions on Acoustics, Speech, and Signal
#   Processing* 37 (1989): convolution over time, for speech.
# - J. L. Elman, "Finding structure in time", *Cognitive Science* 14 (1990): a state that learns to read.

# %% tags=["experiment"]
progress("02_unfolding")
