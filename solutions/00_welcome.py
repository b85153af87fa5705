# %% [markdown]
# # 00 · Welcome
#
# **In ten minutes you will be able to** write an answer, check it, read what the check says, ask for a hint, see how
# far you have come, and hand in. There is one exercise, for practice: its point counts towards no grade.
#
# You need Python and a little NumPy: arrays, and `@` for matrix products. If `x[0]`, `x.shape` and `x + 1` hold no
# secrets for you, you are ready.
#
# This is a notebook: a page of cells, some with text, some with code. Click into a cell, change it if you like, and press
# **Shift + Enter** to run it. Run the cells in order, from the top.

# %% locked="setup"
import numpy as np

from rnncourse import check, hint, progress

# %% tags=["experiment"]
progress("00_welcome")

# %% [markdown]
# ## A first state
#
# This course is about networks with a *state*: a few numbers that are carried from one moment to the next and sum up
# what has been seen so far. Here is the smallest useful one. You read a thermometer again and again, and want a calm
# average that slowly forgets old readings:
#
# $$s_t = k \, s_{t-1} + (1 - k) \, x_t$$
#
# The new state $s_t$ keeps the share $k$ of the old state $s_{t-1}$ and takes the rest from the new reading $x_t$. By
# hand, with $k = 0.9$: the state 10 and the reading 20 give $0.9 \cdot 10 + 0.1 \cdot 20 = 11$. One hot reading moves
# the average a little, not a lot. (In the code below, $k$ is called `keep`.)

# %% [markdown]
# ## A wrong answer, on purpose
#
# Somebody in a hurry wrote the next cell. Run it. The mistake is deliberate.


# %% tags=["experiment"]
def in_a_hurry(state, x, keep):
    return keep * x + (1 - keep) * state


check(in_a_hurry, "leaky_average")

# %% [markdown]
# This card has:
#
# - The **first line** says whether the answer passed, how many points it would get, and which run was judged: *In [3]* is
#   the cell with *[3]* beside it.
# - Then comes **what is wrong**. The check knows this mistake, so it names it: the two shares are swapped. The first
#   number that differs stands below, in a small table.
# - The **row of marks** shows what was checked: whether it runs, shape, values, edge cases, arguments left alone. A dot
#   means that the check did not get that far.
# - *Look at the case* and *Hint 1 of 3* open at a click. Hints go from a nudge to nearly the answer, and cost nothing.
# - Two buttons come when they can help: *Which line is it?* and, after three tries, *Show the solution*. Solutions that you
#   were shown are noted in what you hand in.
#
# The same in code: `hint("leaky_average")`, and the verdict holds the case:

# %% tags=["experiment"]
v = check(in_a_hurry, "leaky_average")
if v.passed:
    print("It passes: you have repaired the cell above, and nothing differs any more.")
with np.printoptions(precision=2):
    for name, value in zip(("state", "x", "keep"), v.inputs):
        print(f"{name:<9}", value)
    if v.inputs:
        print("expected ", v.expected)
        print("got      ", v.got)

# %% [markdown]
# ## Your turn
#
# ### Exercise 0.1 · `leaky_average`
# *●○○ · 5 minutes · 1 point*
#
# Write `leaky_average(state, x, keep)`: `state` and `x` are arrays of shape `(N,)`, `keep` is a number from 0 to 1; the
# result is the new state, of shape `(N,)`. For example, `leaky_average(np.array([10.0, 0.0]), np.array([20.0, 1.0]), 0.9)`
# is `[11.0, 0.1]`.
#
# Write your answer in place of the line `raise NotImplementedError`. Then run the cell, and the check below it.


# %% answer="leaky_average"
def leaky_average(state, x, keep):
    """The new state: the share `keep` of `state`, the rest of `x`. Arrays (N,) and (N,), a number -> array (N,)."""
    ### BEGIN SOLUTION
    return keep * state + (1 - keep) * x
    ### END SOLUTION


# %% check="leaky_average"
check(leaky_average)

# %% [markdown]
# The left edge of the card turns green when your answer passes. An exercise is checked with several inputs, so an answer
# that is right for one lucky example will not do. After you have handed in, it is checked once more, with other inputs of
# the same kind.
#
# - **The verdict is on what your cell says.** If you have changed it, a check in JupyterLab runs it first. If it stops with
#   an error, there is *no verdict*.
# - **Write it as you like**: with loops or without, with helper functions in cells of your own. The check looks at what
#   comes out, not at how you wrote it. (Only the course's own answers may not be called, and what an exercise's text
#   forbids.)
# - **A mistake costs you once.** When a later exercise calls an earlier one, the check lends it a correct copy.
# - **Print as much as you like.** What your code prints is hidden while it is checked. To see it, call your function in a
#   cell of your own.

# %% [markdown]
# ## How far are you?
#
# The bar counts all points of a unit, those that a person gives among them.

# %% tags=["experiment"]
progress("00_welcome")

# %% [markdown]
# ## Handing in
#
# Some exercises are questions that a person reads. Their cells say *YOUR ANSWER HERE*: double-click, and write.
#
# JupyterLab's menu *Course* has the rest. **Check all** runs a copy of your notebook from a clean start, and says what would
# be graded. **Submit** writes the file to hand in; cells of your own may stay in it. On another day, **Go on where I
# stopped** runs your answers and goes to the first exercise that is open. A terminal (*File → New → Terminal*) does more:
#
# | command | what it does |
# |---|---|
# | `rnncourse lab 00` | opens JupyterLab on this unit; without the number, where you stopped |
# | `rnncourse progress` | shows what you have passed, and what is open, in all units |
# | `rnncourse check 00` | is *Check all* |
# | `rnncourse submit 00` | is *Submit*: it writes `00_welcome-submission.ipynb` beside the notebook |
# | `rnncourse update` | after a new release is installed, brings what is new, and keeps what you wrote |
#
# Hand that file in as your instructor has told you.
#
# Now open **01 · Language models without memory**, and see how far a model gets that has no state at all.
