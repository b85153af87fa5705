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
def leaky_average(state, x, keep):
    return keep * x + (1 - keep) * state


check(leaky_average)

# %% [markdown]
# Take your time over this card. You will see many like it.
#
# - The **first line** says whether the answer passed, and how many points it would get.
# - Then comes **what is wrong**. The check knows this mistake, so it names it: the two shares are swapped. After that
#   comes the first number that differs: which entry, what was expected, what the code gave, and in which case.
# - The **row of marks** at the bottom shows what was checked: that the code runs, that the shape is right, the values,
#   the edge cases, and that the code left its arguments as they were. A dot means that the check did not get that far.
#
# If the words do not help, look at the case itself:

# %% tags=["experiment"]
v = check(leaky_average)
if v.passed:
    print("It passes: you have repaired the cell above, and nothing differs any more.")
with np.printoptions(precision=2):
    for name, value in zip(("state", "x", "keep"), v.inputs):
        print(f"{name:<9}", value)
    if v.inputs:
        print("expected ", v.expected)
        print("got      ", v.got)

# %% [markdown]
# ## A hint
#
# Each exercise has three hints. The first is a nudge, the last is nearly the answer. Each time you run the cell you get
# the next one. Hints cost nothing.

# %% tags=["experiment"]
hint("leaky_average")

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
# Write your answer in place of the line `raise NotImplementedError`, which only says that nothing is there yet. Then run
# the cell, and the check below it.


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
# - **Write it as you like**: with loops or without, with helper functions in cells of your own. The check looks at what
#   comes out, not at how you wrote it. (Where an exercise forbids a function, its text says so.)
# - **A mistake costs you once.** When a later exercise calls an earlier one, the check lends it a correct copy of the
#   earlier one.
# - **Print as much as you like.** What your code prints is hidden while it is checked. To see it, call your function
#   yourself, in a cell of your own.

# %% [markdown]
# ## How far are you?

# %% tags=["experiment"]
progress("00_welcome")

# %% [markdown]
# ## Handing in
#
# First choose *Kernel → Restart Kernel and Run All Cells…* in the menu. That runs the notebook from a clean start, as the
# grader will. If every card still says what it said before, save the notebook. Cells of your own may stay in it.
#
# Some exercises are questions that a person reads. Their cells say *YOUR ANSWER HERE*: double-click, and write.
#
# The rest is in JupyterLab's menu: *Course → Check all* says what would be graded, and *Course → Submit* writes the file to
# hand in. A terminal (*File → New → Terminal*) does the same, and more:
#
# | command | what it does |
# |---|---|
# | `rnncourse lab 00` | opens JupyterLab on this unit; without the number, where you stopped |
# | `rnncourse progress` | shows what you have passed, and what is open, in all units |
# | `rnncourse check 00` | runs your saved notebook from top to bottom, and says what would be graded, hidden cases aside |
# | `rnncourse submit 00` | writes the one file to hand in, `00_welcome-submission.ipynb`, beside the notebook, and says if something is missing |
# | `rnncourse update` | after a new release is installed: brings what is new into your notebooks, and keeps what you wrote |
#
# Hand that file in as your instructor has told you.
#
# Now open **01 · Language models without memory**, and see how far a model gets that has no state at all.
