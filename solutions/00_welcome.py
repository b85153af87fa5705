# %% [markdown]
# # 00 · Welcome
#
# **In five minutes you will be able to** write an answer, check it, read what the check says, ask for a hint, see how
# far you are, and hand in. Nothing here is graded.
#
# You need Python and a little NumPy: arrays, `@` for matrix products. If `x[0]`, `x.shape` and `x + 1` hold no secrets,
# you are ready.
#
# To use a notebook, click into a cell, change it if you like, and press **Shift + Enter** to run it. Run the cells in
# order, the first one first.

# %% locked="setup"
import numpy as np

from rnncourse import check, hint, progress

# %% tags=["experiment"]
progress("00_welcome")

# %% [markdown]
# ## A first state
#
# This course is about networks with a *state*: a few numbers that are carried from one moment to the next and sum up
# what has been seen so far. Here is the smallest useful one. You read temperatures, one after the other, and want a calm
# average that forgets slowly:
#
# $$s_t = k \, s_{t-1} + (1 - k) \, x_t$$
#
# The new state $s_t$ keeps the share $k$ of the old state $s_{t-1}$ and takes the rest from the new reading $x_t$. By
# hand, with $k = 0.9$: the state 10 and the reading 20 give $0.9 \cdot 10 + 0.1 \cdot 20 = 11$. One hot reading moves
# the average a little, not a lot.

# %% [markdown]
# ## A wrong answer, on purpose
#
# Somebody in a hurry has written the next cell. Run it: the mistake is planned.


# %% tags=["experiment"]
def leaky_average(state, x, keep):
    return keep * x + (1 - keep) * state


check(leaky_average)

# %% [markdown]
# Take your time with this card, for you will see many of them.
#
# - The **first line** says whether the answer passed, and how many points it would get.
# - Then comes **what is wrong**. This mistake is a known one, so the check says it in words: the two shares are swapped.
#   After it comes the first number that differs: which entry, what was expected, what the code gave, and in which case.
# - The **pills** show what was checked: that it runs, that the shape is right, the values, the edge cases, and that the
#   code left its arguments as they were. A dot means that the check did not get that far.
#
# If words do not help, look at the case itself:

# %% tags=["experiment"]
v = check(leaky_average)
state, x, keep = v.inputs
print("keep     ", keep)
print("state    ", state.round(2))
print("x        ", x.round(2))
print("expected ", v.expected.round(2))
print("came     ", v.got.round(2))

# %% [markdown]
# ## A hint
#
# Each exercise has three hints. The first is a nudge, the last is nearly the answer; each call gives the next one. Hints
# cost nothing.

# %% tags=["experiment"]
hint("leaky_average")

# %% [markdown]
# ## Your turn
#
# ### Exercise 0.1 · `leaky_average`
# *●○○ · 2 minutes · 1 point*
#
# Write `leaky_average(state, x, keep)`: `state` and `x` are arrays of shape `(N,)`, `keep` is a number from 0 to 1; the
# result is the new state, of shape `(N,)`. For example, `leaky_average(np.array([10.0, 0.0]), np.array([20.0, 1.0]), 0.9)`
# is `[11.0, 0.1]`.
#
# Your answer takes the place of the line `raise NotImplementedError()`, which only says that nothing has been written yet.


# %% answer="leaky_average"
def leaky_average(state, x, keep):
    """The new state: the share `keep` of `state`, the rest of `x`. Arrays (N,) and (N,), a number -> array (N,)."""
    ### BEGIN SOLUTION
    return keep * state + (1 - keep) * x
    ### END SOLUTION


# %% check="leaky_average"
check(leaky_average)

# %% [markdown]
# The edge turns green when it passes. An exercise is checked with several inputs, so an answer that is right for one
# lucky example will not do; when you hand in, it is checked once more, with other inputs of the same kind.
#
# - **Write it as you like**: with loops or without, with helper functions in cells of your own. The check looks at what
#   comes out, not at how you wrote it.
# - **One mistake costs once.** When a later exercise calls an earlier one, the check lends it a correct copy while it
#   looks at the later one.
# - **Print as much as you like.** What your code prints is hidden while it is checked. To see it, call your function
#   yourself, in a cell of your own.

# %% [markdown]
# ## How far are you?

# %% tags=["experiment"]
progress("00_welcome")

# %% [markdown]
# ## Handing in
#
# Choose *Kernel → Restart Kernel and Run All Cells…* in the menu first. That runs the notebook from a clean start, as the
# grader will. If every card is as you left it, save the notebook and hand in the `.ipynb` file in the way that your
# instructor has told you. Cells of your own may stay in it.
#
# Some exercises are questions that a person reads. Their cells say *YOUR ANSWER HERE*: double-click them, and write.
#
# Now open **01 · Language models without memory**, and see how far a model gets that has no state at all.
