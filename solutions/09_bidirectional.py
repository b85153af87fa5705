# %% [markdown]
# # 09 · Reading both ways
#
# **When you are done you will be able to**
#
# - say when no left-to-right network can be right, and compute exactly how right it can be;
# - run two chains over a sequence, one from each end, and keep their states aligned with time;
# - batch sequences of several lengths so that the chain from the right does not begin in the padding;
# - take gradients back through both chains;
# - run a hidden Markov model over any length of sequence, and say what a cell holds that it cannot;
# - build a tagger in PyTorch that reads both ways, and colour Python source with it;
# - say what it costs, and why no such network is a left-to-right language model.
#
# **Time**: about three hours, two of them with your own hands on it. What is marked *optional* comes on top. **You need**
# the cell and its backward pass (units 03 and 04), and for the second half padding and packing from unit 07. There are 8
# exercises and one written question, 27 points in all. Sections 3 to 8 are NumPy: up to exercise 9.6 no answer may use
# torch.

# %% locked="setup"
import numpy as np

from rnncourse import check, hint, progress, track, use
from rnncourse.bptt import numerical_gradient, rnn_backward
from rnncourse.cell import rnn_forward

np.set_printoptions(precision=3, suppress=True)

# %% tags=["experiment"]
progress("09_bidirectional")

# %% [markdown]
# ## The question that unit 08 left open
#
# You can make a network deeper, and each layer sees more in what it reads. But more of what? However many layers there
# are, the state of step $t$ has read $x_1, \dots, x_t$. Now read this as a network does, one word at a time, and say of
# each word at once whether it is part of a person's name:
#
# > He said , Teddy …
#
# Well? It may go on with "… Roosevelt was a great president". Or with "… bears are on sale". You do not know, and
# neither does any network that has read as far as you have: two layers, twenty layers, any number of units. What
# decides is not in the past. It stands to the right.

# %% [markdown]
# ## 1 · A ceiling that no training breaks
#
# How well can a left-to-right tagger do at best? For a small world of sentences that can be computed. Here is one: five
# speakers, ten names, four endings. Six of the names are like Teddy: half of the time a person, half of the time a
# thing.

# %% tags=["experiment"]
from rnncourse.data import AMBIGUOUS_NAMES, encode_tagged, tagging_ceiling, teddy_sentences

sentences = teddy_sentences()
for sentence in (sentences[0], next(s for s in sentences if s.tokens[:5] == ("He", "said", ",", "Teddy", "bears"))):
    print(" ".join(f"{token}/PERSON" if label else token for token, label in zip(sentence.tokens, sentence.labels)))
mean_length = sum(s.probability * len(s.tokens) for s in sentences)
print(
    f"{len(sentences)} sentences, {mean_length:.3f} tokens on average; ambiguous: {', '.join(sorted(AMBIGUOUS_NAMES))}"
)

# %% [markdown]
# *By hand*: with probability 0.6 a sentence has an ambiguous name, and there the best of all taggers is wrong half of
# the time, whatever it says. All other words it can get right: after "Teddy Roosevelt" nothing is in doubt. So it
# loses $0.6 \cdot 0.5 = 0.3$ tokens a sentence, out of 9.275 on average:
#
# $$1 - \frac{0.3}{9.275} = 0.96765$$
#
# This is a **ceiling**. A tagger that reaches it has learned everything there is to learn, and is still wrong on 3
# tokens in 100. One that could look just *one* word ahead would have no such ceiling. A program that goes through all
# sentences agrees.
#
# **Claim:** in this world the best possible left-to-right tagger is right on 96.765% of all tokens, and one that sees one
# word ahead can be right on all of them.

# %% tags=["experiment"]
ceiling = tagging_ceiling(sentences)
print(
    f"best possible, reading left to right:  {ceiling:.5f}   at ambiguous names {tagging_ceiling(sentences, only=AMBIGUOUS_NAMES):.2f}"
)
print(f"best possible, one word ahead:         {tagging_ceiling(sentences, lookahead=1):.5f}")
assert abs(ceiling - (1 - 0.3 / 9.275)) < 1e-9, "Expected the ceiling to be what was computed by hand."
assert tagging_ceiling(sentences, lookahead=1) == 1, "Expected no ceiling with one word ahead."

# %% [markdown]
# ## 2 · Two chains
#
# The idea is as simple as can be: read the sequence a second time, from its end. Two layers, each with parameters of
# its own, read the same inputs. The forward one, $f$, starts from zeros at the left and carries what it has read to the
# right. The backward one, $g$, starts from zeros at the right and carries what it has read to the left:
#
# $$
# \begin{aligned}
# f_t &= \tanh(x_t U_f + f_{t-1} W_f + b_f) && t = 1, 2, \dots, T && f_0 = 0\\
# g_t &= \tanh(x_t U_b + g_{t+1} W_b + b_b) && t = T, T-1, \dots, 1 && g_{T+1} = 0\\
# h_t &= [f_t, g_t] &&&& \text{side by side}
# \end{aligned}
# $$

# %% tags=["experiment"]
from rnncourse.plots import show
from rnncourse.plots.bidirectional import two_chains

show(
    two_chains(4),
    alt="Four inputs x at the bottom. Above them a chain of states f with arrows to the right, starting from zero at the left; "
    "above that a chain of states g with arrows to the left, starting from zero at the right. Each input goes into its f "
    "and its g, and both go into the state h of that step on top.",
)

# %% [markdown]
# Follow the arrows into $h_2$. Through $f_2$ it hears from $x_1$ and $x_2$, through $g_2$ from $x_2$, $x_3$ and $x_4$:
# from everything. And look at what is *not* there: no arrow leads from an $f$ to a $g$ or back. The chains do not know
# of each other. So there is no circle, and both can be computed at once.
#
# *By hand*, one unit each, $x = (0, 0.5, 1)$, no biases, $u = 1$ in both; $w_f = 2$ and $w_b = -1$. Read the last row
# from right to left:
#
# | | $t = 1$ | $t = 2$ | $t = 3$ |
# |---|---|---|---|
# | $x_t$ | 0 | 0.5 | 1 |
# | $f_t$ | $\tanh(0) = 0$ | $\tanh(0.5 + 2 \cdot 0) = 0.462$ | $\tanh(1 + 2 \cdot 0.462) = 0.958$ |
# | $g_t$ | $\tanh(0 - (-0.2558)) = 0.250$ | $\tanh(0.5 - 0.762) = -0.256$ | $\tanh(1) = 0.762$ |
#
# At step 1 the input is 0 and $f_1$ is 0. But $g_1 = 0.250$: it knows that something is coming.

# %% [markdown]
# ## 3 · A layer that reads from the right
#
# You need not write a new layer for that. Turn the sequence round, run the layer that you have, and turn its states
# round again. The last of the three is the one that is forgotten most often. Why is it needed? Over the reversed sequence
# $(1, 0.5, 0)$ the layer gives $(0.762, -0.256, 0.250)$, in the order in which it has *read*. Only turned round again, as
# $(0.250, -0.256, 0.762)$, does each state stand at the step that it belongs to.
#
# In a batch there is a trap. Short sequences are filled up with padding at their end. Turn the whole array round, and
# they *begin* with padding:
#
# | step | 0 | 1 | 2 | 3 | 4 |
# |---|---|---|---|---|---|
# | a sequence of 3, padded to 5 | a | b | c | · | · |
# | turned round as a block | · | · | c | b | a |
# | turned round within its length | c | b | a | · | · |
#
# In the second row the layer reads two steps of padding before it comes to c, and arrives there with a state that is no
# longer zero. That the padding is zero does not help: $\tanh(0 \cdot U + g W + b)$ is not zero. The third row is right.

# %% [markdown]
# ### Exercise 9.1 · `reverse_sequence`
# *●●○ · 12 minutes · 3 points*
#
# Turn each sequence of a batch round **within its own length**. `X` is `(T, N, …)`: time, batch, and any number of
# further axes, or none. `lengths` is an array of N whole numbers from 1 to T; without it (`None`) all N sequences have
# T steps. The padding stays **where it is and what it is**. Return a new array of X's dtype; X is left as it was, and
# shares no memory with the answer.
#
# With two sequences, the columns of X:
#
#     X [[1, 5], [2, 6], [3, 7]]     lengths [3, 2]     gives [[3, 6], [2, 5], [1, 7]]


# %% answer="reverse_sequence"
def reverse_sequence(X, lengths=None):
    """Each sequence turned round within its length: X (T, N, ...), lengths (N,) or None -> an array like X."""
    ### BEGIN SOLUTION
    if lengths is None:
        return X[::-1].copy()
    reversed_X = X.copy()
    for n, length in enumerate(lengths):
        reversed_X[:length, n] = X[:length, n][::-1]
    return reversed_X
    ### END SOLUTION


# %% check="reverse_sequence"
check(reverse_sequence)

# %% [markdown]
# You own the only new operation of this unit. Everything else is put together from what you have. Note that your
# function undoes itself: applied twice it gives X back. That is why one function serves for the way in and for the way
# out.

# %% [markdown]
# ## 4 · Two states for one step
#
# At each step there are two states now, $f_t$ and $g_t$, both $(N, H)$. There are three usual ways to make one of them:
#
# | `how` | $h_t$ | shape | what it does |
# |---|---|---|---|
# | `"concat"` | $[f_t, g_t]$ | $(N, 2H)$ | keeps both; the next layer decides what to make of them |
# | `"sum"` | $f_t + g_t$ | $(N, H)$ | both vote |
# | `"product"` | $f_t \odot g_t$ | $(N, H)$ | each can turn the other off: a unit is large only if both are |
#
# Side by side is what almost everybody uses. It loses nothing, and costs a next layer that is twice as wide.
#
# *By hand*, with step 2 of the table: $f_2 = 0.462$ and $g_2 = -0.256$ give $(0.462, -0.256)$, or $0.206$, or $-0.118$.

# %% [markdown]
# ### Exercise 9.2 · `combine`
# *●○○ · 6 minutes · 2 points*
#
# Combine the states `H_f` and `H_b`, which have the same shape: `(T, N, H)`, or `(N, H)`. Both are aligned with time
# already. `how` is `"concat"` (the forward units first), `"sum"` or `"product"`; for **anything else raise a
# `ValueError`**.
#
#     H_f [[1, 2]]   H_b [[3, 4]]     concat [[1, 2, 3, 4]]     sum [[4, 6]]     product [[3, 8]]


# %% answer="combine"
def combine(H_f, H_b, how):
    """Both directions' states as one: H_f and H_b (T, N, H) or (N, H), how "concat", "sum" or "product" -> an array."""
    ### BEGIN SOLUTION
    if how == "concat":
        return np.concatenate([H_f, H_b], axis=-1)
    if how == "sum":
        return H_f + H_b
    if how == "product":
        return H_f * H_b
    raise ValueError(f'how should be "concat", "sum" or "product", not {how!r}')
    ### END SOLUTION


# %% check="combine"
check(combine)

# %% [markdown]
# Small, but a word that you mistype now stops the program where it is wrong, and not after a night of training the
# wrong network.

# %% [markdown]
# ## 5 · The layer
#
# ### Exercise 9.3 · `bidirectional_forward`
# *●●○ · 14 minutes · 4 points*
#
# Run both directions over `X (T, N, D)` and combine their states. `forward` and `backward` are the tuples `(U, W, b)`
# of the two layers, with shapes `(D, H)`, `(H, H)`, `(H,)`; both start from zeros. `how` is as in `combine`. `lengths`
# is as in `reverse_sequence`: with it, what stands in the padding must not change the state of any real step, in either
# direction. What you return at padded steps does not matter.
#
# The answer is `(T, N, 2H)` for `"concat"`, else `(T, N, H)`, in X's dtype. You may call `rnn_forward(X, h0, U, W, b)`,
# which is imported, and your two functions; while this exercise is checked the course's stand in for them.
#
#     X [[[0]], [[0.5]], [[1]]]     forward ([[1]], [[2]], [0])     backward ([[1]], [[-1]], [0])
#     gives, rounded,  [[[0, 0.250]], [[0.462, -0.256]], [[0.958, 0.762]]]


# %% answer="bidirectional_forward"
def bidirectional_forward(X, forward, backward, how="concat", lengths=None):
    """Both directions: X (T, N, D), forward and backward (U, W, b), lengths (N,) or None -> (T, N, 2H) or (T, N, H)."""
    ### BEGIN SOLUTION
    zeros = np.zeros((X.shape[1], len(forward[1])), dtype=X.dtype)
    H_f = rnn_forward(X, zeros, *forward)
    H_b = rnn_forward(reverse_sequence(X, lengths), zeros, *backward)
    return combine(H_f, reverse_sequence(H_b, lengths), how)
    ### END SOLUTION


# %% check="bidirectional_forward"
check(bidirectional_forward)

# %% [markdown]
# Every state that you compute has read the whole sequence. Let us see it, with the test of unit 02: raise each input a
# little and look which outputs move. **Claim:** reading one way, an output depends on its own input and on all earlier
# ones, and on no others; reading both ways, every output depends on every input.

# %% tags=["experiment"]
from rnncourse.plots import dependence_grid
from rnncourse.unfolding import depends_on

both_ways = use(bidirectional_forward)


def draw_direction(rng, D, H):
    return rng.normal(size=(D, H)) / np.sqrt(D), rng.normal(size=(H, H)) / np.sqrt(H), rng.normal(size=H)


rng = np.random.default_rng(0)
forward, backward = draw_direction(rng, 2, 4), draw_direction(rng, 2, 4)
sequence, zeros = rng.normal(size=(7, 2)), np.zeros((1, 4))
grids = {
    "one way": depends_on(lambda xs: rnn_forward(xs[:, None], zeros, *forward), sequence),
    "both ways": depends_on(lambda xs: both_ways(xs[:, None], forward, backward), sequence),
}
assert np.array_equal(grids["one way"], np.tri(7, dtype=bool)), "Expected one way to depend on the past alone."
assert grids["both ways"].all(), "Expected every output to depend on every input; see bidirectional_forward above."
show(
    dependence_grid(grids),
    alt="Two grids, outputs in rows and inputs in columns. Reading one way, only the cells on and below the diagonal are "
    "filled: an output depends on its own and on earlier inputs. Reading both ways, all cells are filled.",
)

# %% [markdown]
# On the left there is the past, on the right there is everything.
#
# And the padding? A sequence should get the same states whether it comes alone or in a batch with a longer one. That is
# the test for padding, and you can run it on anybody's model. **Claim:** from your layer a short sequence gets the same
# states alone and in a batch with a longer one; from a layer that reverses the whole block it does not.

# %% tags=["experiment"]
batch = rng.normal(size=(9, 2, 2))
lengths = np.array([9, 4])
batch[4:, 1] = 0  # the padding of the second sequence
alone = both_ways(batch[:4, 1:], forward, backward)
for name, given in (("within the lengths", lengths), ("as a block", None)):
    together = both_ways(batch, forward, backward, "concat", given)[:4, 1:]
    difference = np.abs(together - alone).max()
    print(f"reversed {name + ':':<20} alone and in a batch differ by {difference:.3f}")
    assert (difference < 1e-9) == (given is lengths), (
        "Expected no difference within the lengths and one as a block; see bidirectional_forward above."
    )

# %% [markdown]
# With the block reversed, a sentence is read differently depending on what else is in the batch. No error is raised, the
# loss falls, and the model that you test with batches of one is not the one that you trained.

# %% [markdown]
# ## 6 · The way back
#
# The two chains do not know of each other, so their gradients do not, either. That leaves three questions.
#
# **What does `combine` hand back?** It leads from $dh_t$ to $df_t$ and $dg_t$. Side by side, each gets its half. For a sum
# both get all of it. For a product the slope of each is the other one:
#
# $$
# \begin{array}{lll}
# \text{concat} & df_t = dh_t[\,\ldots, :H\,] & dg_t = dh_t[\,\ldots, H:\,]\\
# \text{sum} & df_t = dh_t & dg_t = dh_t\\
# \text{product} & df_t = dh_t \odot g_t & dg_t = dh_t \odot f_t
# \end{array}
# $$
#
# **How does the error walk through $g$?** Against the arrows, as ever. They lead from $t+1$ to $t$, so the error walks
# from $t$ to $t+1$: to the *right*. You need no new code for that. `rnn_backward` of unit 04 walks from the last step
# that was read to the first. Give it everything in the order in which $g$ has read: errors, inputs *and* states
# reversed.
#
# **What reaches $x_t$?** It was read by both layers, and what is used twice gets the sum: $dx_t$ is what $f$ sends back
# plus what $g$ sends back. The second comes out in reading order and has to be turned round.
#
# *By hand*: two steps, one unit each, $x = (0.5, 0)$, $u = w = 1$ and $b = 0$ in both, an error of $(1, 1)$ at step 2
# only. Forwards, $f_1 = 0.462$, $f_2 = \tanh(0.462) = 0.432$; $g_2 = \tanh(0) = 0$, $g_1 = \tanh(0.5) = 0.462$. Back:
#
# - $f$: at step 2 the slope is $1 - 0.432^2 = 0.814$, so $dx_2$ gets 0.814, and $dx_1$ gets $0.814 \cdot (1 - 0.462^2) =
#   0.640$.
# - $g$: at step 2 the slope is $1 - 0 = 1$, so $dx_2$ gets 1. The error came from $g_2$, which has *not* read $x_1$:
#   there it brings nothing.
#
# Together $dx = (0.640, 1.814)$.

# %% [markdown]
# ### Exercise 9.4 · `bidirectional_backward`
# *●●● · 25 minutes · 5 points*
#
# `dH` is the error of the combined states: `(T, N, 2H)` for `"concat"`, else `(T, N, H)`. `X`, `forward`, `backward`
# and `how` are as before; there are no lengths here. The states are not given: run forwards first. Return `(dX,
# forward_gradients, backward_gradients)`: `dX (T, N, D)`, and for each direction the tuple `(dU, dW, db)`.
#
# You may call `rnn_forward` and `rnn_backward(dH, X, h0, H, U, W)`, which gives `(dX, dh0, dU, dW, db)`, and your own
# three functions. Leave all arguments as they are.
#
#     dH [[[0, 0]], [[1, 1]]]     X [[[0.5]], [[0]]]     forward and backward ([[1]], [[1]], [0])
#     gives, rounded,  dX [[[0.640]], [[1.814]]]
#     forward (dU [[0.320]], dW [[0.376]], db [1.453])     backward (dU [[0]], dW [[0]], db [1])


# %% answer="bidirectional_backward"
def bidirectional_backward(dH, X, forward, backward, how="concat"):
    """Back through both directions.

    dH (T, N, 2H) or (T, N, H), X (T, N, D), forward and backward (U, W, b)
    -> dX (T, N, D), (dU, dW, db) of the forward layer, (dU, dW, db) of the backward layer
    """
    ### BEGIN SOLUTION
    hidden = len(forward[1])
    zeros = np.zeros((X.shape[1], hidden), dtype=X.dtype)
    H_f = rnn_forward(X, zeros, *forward)
    G = rnn_forward(X[::-1], zeros, *backward)  # in the order in which they were read
    if how == "concat":
        dH_f, dH_b = dH[..., :hidden], dH[..., hidden:]
    elif how == "sum":
        dH_f, dH_b = dH, dH
    else:
        dH_f, dH_b = dH * G[::-1], dH * H_f
    dX_f, _, *forward_gradients = rnn_backward(dH_f, X, zeros, H_f, *forward[:2])
    dX_b, _, *backward_gradients = rnn_backward(dH_b[::-1], X[::-1], zeros, G, *backward[:2])
    return dX_f + dX_b[::-1], tuple(forward_gradients), tuple(backward_gradients)
    ### END SOLUTION


# %% check="bidirectional_backward"
check(bidirectional_backward)

# %% [markdown]
# You can train anything that reads both ways. Let the referee of unit 04 look at it, with drawn errors at every step.
# **Claim:** for all three ways to combine, your gradients of the input and of both $W$ agree with central differences to
# $10^{-6}$.

# %% tags=["experiment", "nbval-ignore-output"]
both_back = use(bidirectional_backward)
rng = np.random.default_rng(1)
X, forward, backward = rng.normal(size=(5, 3, 2)), draw_direction(rng, 2, 4), draw_direction(rng, 2, 4)
for how, width in (("concat", 8), ("sum", 4), ("product", 4)):
    dH = rng.normal(size=(5, 3, width))

    def loss(X=X, W_f=forward[1], W_b=backward[1], how=how, dH=dH):
        states = both_ways(X, (forward[0], W_f, forward[2]), (backward[0], W_b, backward[2]), how)
        return (dH * states).sum()

    dX, (_, dW_f, _), (_, dW_b, _) = both_back(dH, X, forward, backward, how)
    errors = [
        np.abs(dX - numerical_gradient(lambda x: loss(X=x), X)).max(),
        np.abs(dW_f - numerical_gradient(lambda w: loss(W_f=w), forward[1])).max(),
        np.abs(dW_b - numerical_gradient(lambda w: loss(W_b=w), backward[1])).max(),
    ]
    print(f"{how:<8} dX, dW_f, dW_b differ from central differences by at most {max(errors):.0e}")
    assert max(errors) < 1e-6, "Expected gradients that agree with differences; see bidirectional_backward above."

# %% [markdown]
# ## 7 · One decision for the whole sequence
#
# Sometimes one answer is wanted for all of it: is this review friendly, which language is that? Then you need *one*
# vector that has read everything. With one chain that is its last state. With two chains, where is it?

# %% tags=["experiment"]
show(
    two_chains(4, summary=True),
    alt="The two chains again. Two states are green, f_4 at the right end of the forward chain and g_1 at the left end of the "
    "backward chain. From these two, arrows lead to a box named summary.",
)

# %% [markdown]
# $f$ has read everything at its last *real* step; $g$, which comes from the right, has read everything at step 1. The
# two states lie at opposite ends. So what most people write first, the combined state at the last index, `out[-1]`, is
# half wrong: there $g$ has read a single symbol. Nothing crashes, it even learns; it just has one chain too few.
#
# Count how many inputs each half depends on. **Claim:** at the last step $f$ has read all inputs and $g$ only one; at the
# first step it is the other way round.

# %% tags=["experiment"]
f_reads = depends_on(lambda xs: both_ways(xs[:, None], forward, backward)[..., :4], sequence).sum(axis=1)
g_reads = depends_on(lambda xs: both_ways(xs[:, None], forward, backward)[..., 4:], sequence).sum(axis=1)
print("inputs that f has read at the last step:", f_reads[-1], "of 7;  at the first:", f_reads[0])
print("inputs that g has read at the last step:", g_reads[-1], "of 7;  at the first:", g_reads[0])
assert f_reads[-1] == g_reads[0] == 7, "Expected each chain to have read all at its own end; see bidirectional_forward."
assert f_reads[0] == g_reads[-1] == 1, "Expected each chain to have read one input where it begins."

# %% [markdown]
# ### Exercise 9.5 · `final_summary`
# *●●○ · 8 minutes · 2 points*
#
# From the states of both directions, `H_f` and `H_b`, each `(T, N, H)` and **both aligned with time**, to one vector
# for each sequence: for each direction the state in which it has read everything, combined as `how` says. `lengths`,
# an array `(N,)`, says where each sequence ends; what stands at padded steps must not matter. The answer is `(N, 2H)` for
# `"concat"`, else `(N, H)`. You may call your `combine`.
#
#     H_f [[[1]], [[2]], [[9]]]     H_b [[[5]], [[4]], [[9]]]     lengths [2]     gives [[2, 5]]


# %% answer="final_summary"
def final_summary(H_f, H_b, lengths, how="concat"):
    """A vector for each sequence: H_f and H_b (T, N, H), lengths (N,) -> (N, 2H) or (N, H)."""
    ### BEGIN SOLUTION
    rows = np.arange(len(lengths))
    return combine(H_f[lengths - 1, rows], H_b[0], how)
    ### END SOLUTION


# %% check="final_summary"
check(final_summary)

# %% [markdown]
# You know where each chain ends. In unit 11 one vector for a whole sequence, from a single chain there, will read digits
# and judge reviews.

# %% [markdown]
# ## 8 · An older pair of chains
#
# Long before networks could be trained on sequences, speech was recognised with two chains, one from the left and one
# from the right. They belong to the **hidden Markov model**, HMM for short. It says: behind what you observe there is a
# **state** that nobody sees, one of $K$. It starts somewhere, moves from step to step, and each time shows one of $Q$
# symbols:
#
# | | shape | holds |
# |---|---|---|
# | `start` | $(K,)$ | the probability of each state at the first step |
# | `transition` | $(K, K)$ | of each next state (column), given this one (row) |
# | `emission` | $(K, Q)$ | of each symbol (column), given the state (row) |
#
# Which state is it in at step $t$, if $o_1, \dots, o_t$ were observed? Nobody can be sure, so we carry a **belief**: $K$
# probabilities. Two things happen to it at each step. It moves on, and it takes in what is seen:
#
# $$\alpha_t = \left( \alpha_{t-1}\, A \right) \odot e(o_t) \qquad \alpha_1 = \text{start} \odot e(o_1)$$
#
# $A$ is `transition`, and $e(o)$ the column of `emission` that belongs to $o$. This is the **forward algorithm**.
# Put it beside the cell, $h_t = \tanh(h_{t-1} W + x_t U + b)$. In both, a row vector is multiplied by a matrix, meets
# the new input, and goes on. An HMM's input *multiplies* where a cell's is added; and where the cell has a tanh, the HMM
# divides. It has to: $\alpha_t$ is the probability of the state *together with* all that was observed, and after a
# thousand steps that is 0 for any computer. So divide by the sum,
#
# $$c_t = \textstyle\sum_k \alpha_t[k] \qquad \text{filtered}_t = \alpha_t / c_t$$
#
# and go on from what you have divided. Then $c_t$ is the probability of $o_t$ given all observations before it: the
# model's prediction. You know from unit 01 what to do with these. The sum of their logarithms is the
# **log-likelihood** of the sequence.
#
# *By hand*: a machine is well (state 0) or worn (state 1), and its parts are good (0) or bad (1). `start` is
# $(0.5, 0.5)$, `transition` $[[0.8, 0.2], [0.4, 0.6]]$, since now and then somebody repairs it, and `emission`
# $[[0.9, 0.1], [0.5, 0.5]]$. We see a good part, then a bad one:
#
# | | $t = 1$, good | $t = 2$, bad |
# |---|---|---|
# | moved on | $(0.5, 0.5)$, the start | $(0.643 \cdot 0.8 + 0.357 \cdot 0.4,\; \dots) = (0.657, 0.343)$ |
# | times $e(o_t)$ | $(0.5 \cdot 0.9,\; 0.5 \cdot 0.5) = (0.45, 0.25)$ | $(0.657 \cdot 0.1,\; 0.343 \cdot 0.5) = (0.066, 0.171)$ |
# | $c_t$ | $0.7$ | $0.237$ |
# | filtered | $(0.643, 0.357)$ | $(0.277, 0.723)$ |
#
# The log-likelihood is $\log 0.7 + \log 0.237 = -1.796$.

# %% [markdown]
# ### Exercise 9.6 · `hmm_forward`
# *●●○ · 15 minutes · 3 points*
#
# From `start (K,)`, `transition (K, K)`, `emission (K, Q)` and `observations`, an array of T whole numbers from 0 to
# Q − 1, to the pair `(filtered, log_likelihood)`: `filtered (T, K)` holds in row t the probability of each state given
# all observations **up to and with** that of step t, and `log_likelihood` is a number, the natural logarithm of the
# probability of all T observations. It has to be right for T = 5,000 as well. The observations are possible ones; some
# probabilities may be 0. The first observation comes from the start state itself: nothing moves before it.
#
#     start [0.5, 0.5]   transition [[0.8, 0.2], [0.4, 0.6]]   emission [[0.9, 0.1], [0.5, 0.5]]   observations [0, 1]
#     gives, rounded,  filtered [[0.643, 0.357], [0.277, 0.723]]     log_likelihood -1.796


# %% answer="hmm_forward"
def hmm_forward(start, transition, emission, observations):
    """start (K,), transition (K, K), emission (K, Q), observations (T,) -> filtered (T, K), log_likelihood."""
    ### BEGIN SOLUTION
    filtered, log_likelihood = [], 0.0
    belief = start
    for t, seen in enumerate(observations):
        if t > 0:
            belief = belief @ transition
        joint = belief * emission[:, seen]
        chance = joint.sum()
        belief = joint / chance
        filtered.append(belief)
        log_likelihood += np.log(chance)
    return np.stack(filtered), log_likelihood
    ### END SOLUTION


# %% check="hmm_forward"
check(hmm_forward)

# %% [markdown]
# A belief that is carried along, in ten lines: for thirty years it was the core of speech recognition. And from the
# right? There the chain is called $\beta$: the probability of all that is observed *after* step $t$, for each state at
# step $t$,
#
# $$\beta_t = A \left( e(o_{t+1}) \odot \beta_{t+1} \right) \qquad \beta_T = 1$$
#
# It runs as your $g$ does, from the end. (With one difference: $g_t$ has read $x_t$, and $\beta_t$ stops just short of
# $o_t$, which $\alpha_t$ has taken in already.) And how are the two combined? Given the state at $t$, what came before and
# what comes after have nothing more to do with each other. So their probabilities **multiply**: the belief after all is
# read is $\alpha_t \odot \beta_t$, divided by its sum. That is your `combine` with `"product"`: one side can rule out a
# state that the other believed in.
#
# Predict first: the machine runs 5,000 steps. You guess its state at each, from what was seen *so far*, or from *all* that
# was seen. How many guesses in 100 does the second chain put right: one, ten, or thirty? And at about which step will
# $\alpha$, if it is never divided, become 0? (The smallest number that NumPy has is about $10^{-323}$.)
#
# **Claim:** with both chains more states are guessed right than with the first alone, and the belief in the true state is
# higher on average. Never divided, $\alpha$ is 0 before the end.

# %% tags=["experiment"]
from rnncourse.plots import line_chart

filter_forwards = use(hmm_forward)


def from_the_right(transition, emission, seen):
    """The chain beta, divided by its sum at each step: (T, K)."""
    beta = np.ones((len(seen), len(transition)))
    for t in reversed(range(len(seen) - 1)):
        beta[t] = transition @ (emission[:, seen[t + 1]] * beta[t + 1])
        beta[t] /= beta[t].sum()
    return beta


start, transition = np.array([0.5, 0.5]), np.array([[0.95, 0.05], [0.1, 0.9]])
emission = np.array([[0.9, 0.1], [0.5, 0.5]])
rng = np.random.default_rng(0)
true = np.zeros(5000, dtype=int)
for t in range(1, 5000):
    true[t] = rng.random() < transition[true[t - 1], 1]
seen = (rng.random(5000) < emission[true, 1]).astype(int)

filtered, log_likelihood = filter_forwards(start, transition, emission, seen)
after_all = use(combine)(filtered, from_the_right(transition, emission, seen), "product")
after_all /= after_all.sum(axis=1, keepdims=True)

right, believed = {}, {}
for name, belief in (("so far", filtered), ("after all", after_all)):
    right[name] = (belief.argmax(axis=1) == true).mean()
    believed[name] = belief[np.arange(5000), true].mean()
    print(f"{name:<10} {right[name]:.1%} of the states guessed right, belief in the true one {believed[name]:.3f}")
alpha, steps = start * emission[:, seen[0]], 1
while alpha.any() and steps < 5000:
    alpha, steps = alpha @ transition * emission[:, seen[steps]], steps + 1
print(f"never divided, alpha is 0 from step {steps} on; log-likelihood of all 5,000: {log_likelihood:.1f}")
for measured in (right, believed):
    assert measured["after all"] > measured["so far"], "Expected the second chain to help; see hmm_forward and combine."
assert steps < 5000, "Expected alpha to become 0 on the way."
assert np.isfinite(log_likelihood), "Expected your logarithm not to; see hmm_forward above."
piece = slice(1000, 1060)
show(
    line_chart(
        range(1001, 1061),
        {"so far": filtered[piece, 1], "after all": after_all[piece, 1], "truth": true[piece]},
        xlabel="step t",
        ylabel="belief that the machine is worn",
        title="Sixty steps of a hidden Markov model",
    ),
    alt="Belief that the machine is worn over sixty steps, and the truth, which is 0 or 1. The belief from what was seen so far "
    "jumps up at each bad part and sinks between them; the belief after all is smoother and nearer to the truth.",
)

# %% [markdown]
# ### Optional · parts of speech, by counting
#
# *(About ten minutes.)* This is what such models were made for. Which part of speech is each word? "The light watch can fish":
# here *watch* is a noun. "The light watch a fish": here it is a verb, and *light* has become the noun. The states are the
# parts of speech, the words are what is observed. If somebody has tagged a thousand sentences, nothing needs to be
# trained: **count**, as in unit 01. How often does a noun follow an adjective? That is `transition`. How often is a noun
# *watch*? That is `emission`. (A tenth is added to each count, so that nothing is impossible.)
#
# Predict: if each word gets the tag that it has most often, how many of 100 are right? How many with $\alpha$, which knows what
# came before, and how many with both chains?
#
# **Claim:** on 500 new sentences fewer than 85% of the words are right by themselves; with the words before it, more than 95%
# are; with all words, more than 98.5%.

# %% tags=["experiment"]
from rnncourse.data import PARTS_OF_SPEECH, draw_spoken

rng = np.random.default_rng(0)
tagged, new = draw_spoken(rng, 1000), draw_spoken(rng, 500)
word_list = sorted({word for sentence in tagged for word in sentence.tokens})


def as_ids(sentence):
    return [PARTS_OF_SPEECH.index(tag) for tag in sentence.tags], [word_list.index(word) for word in sentence.tokens]


K, Q = len(PARTS_OF_SPEECH), len(word_list)
first_tags, moves, shows = np.full(K, 0.1), np.full((K, K), 0.1), np.full((K, Q), 0.1)
for sentence in tagged:
    tags, tokens = as_ids(sentence)
    first_tags[tags[0]] += 1
    np.add.at(moves, (tags[:-1], tags[1:]), 1)
    np.add.at(shows, (tags, tokens), 1)
most_often = shows.argmax(axis=0)
counted = (
    first_tags / first_tags.sum(),
    moves / moves.sum(axis=1, keepdims=True),
    shows / shows.sum(axis=1, keepdims=True),
)

hits = {"each word by itself": [], "with the words before": [], "with all words": []}
for sentence in new:
    tags, tokens = as_ids(sentence)
    before_it, _ = filter_forwards(*counted, np.array(tokens))
    with_all = before_it * from_the_right(*counted[1:], tokens)
    for name, guess in zip(hits, (most_often[tokens], before_it.argmax(axis=1), with_all.argmax(axis=1))):
        hits[name] += (guess == tags).tolist()
tagging = {name: np.mean(found) for name, found in hits.items()}
for name, share in tagging.items():
    print(f"{name:<22} {share:.1%} right")
assert tagging["each word by itself"] < 0.85, "Expected many words to be of several kinds."
assert tagging["with the words before"] > 0.95, "Expected the first chain to help; see hmm_forward above."
assert tagging["with all words"] > 0.985, "Expected the second chain to help again."

# %% [markdown]
# No gradient, no epoch, and nearly right. In this grammar an HMM is hard to beat, since what comes next hangs on the part of
# speech before it and on little else. (On what, for instance? What may follow a noun is not the same before and after the
# verb.) In real sentences it hangs on more, and then the state has to hold more.

# %% [markdown]
# Side by side, what have the two in common, and what not?
#
# | | hidden Markov model | recurrent network |
# |---|---|---|
# | the state | *one* of $K$; what is carried is a belief, $K$ numbers that sum to 1 | $H$ numbers between −1 and 1, all at once |
# | one step | $\alpha_{t-1} A$, times $e(o_t)$ | $h_{t-1} W$, plus $x_t U$, through tanh |
# | from the right | $\beta_t$ | $g_t$ |
# | both together | product, by the rules of probability | whatever the next layer makes of them |
# | its numbers are | probabilities: you can read them, and write them down from what you know | what training made of them |
# | what it can hold | which of $K$ states: $\log_2 K$ bits | $H$ units, each up or down: $H$ bits at least |
#
# The last row is the one that decided. So an HMM and a recurrent network are cousins. But the network's state is
# continuous, has many dimensions, and is much richer: for one more bit, an HMM needs *twice* as many states, and a
# network one more unit.
#
# But a belief is continuous too, $K$ numbers of any size! Can it not hold more than "one of $K$"? It can hold more, but
# it cannot *say* it. Here is a task that shows it: a word of four letters is read, out of an alphabet of four, and then
# **the same word must be said again**. There are $4^4 = 256$ words, all equally likely.
#
# *By hand*: after the first word $x$ the belief is $p(s \mid x)$. From state $s$ on, let $q_s(y)$ be the probability that
# the second word is $y$; over all $y$ these sum to 1. The right word is $y = x$, and gets
#
# $$\sum_s p(s \mid x)\, q_s(x) \;\le\; \sum_s q_s(x)$$
#
# since no $p$ is above 1. Sum this over all 256 words: on the right each state brings 1, together $K$. So on average the
# right word gets at most $K / 256$: with 32 states an eighth, whatever the parameters are, and however they were found.
# Each state can promise one word. No such bound holds for a cell of 32 units.
#
# Predict before you run it: how many units does a cell need to say the word again nine times in ten: 8, 64, or 256?

# %% locked="setup_torch"
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

torch.set_num_threads(1)  # for products as small as ours a second thread costs more than it brings

# %% [markdown]
# (That has loaded torch, which takes a moment: from here on we train.) Both models are trained in the same way, on all 256
# sequences at once. `HiddenMarkov` is your forward algorithm in PyTorch, with `start`, `transition` and `emission` to be
# learned.
#
# **Claim:** a trained HMM with 32 states gives the right second word less than its ceiling, an eighth. A cell
# with 32 units, trained as long, gives it more than 0.95, and one with 8 units more than an HMM of 64 states could.


# %% tags=["experiment", "nbval-ignore-output"]
from itertools import product

from rnncourse.bidirectional_torch import HiddenMarkov


class NextLetter(nn.Module):
    """A cell that reads letters: log p of each letter, given those before it; ids (T, N) -> (T, N)."""

    def __init__(self, hidden_size, letters):
        super().__init__()
        self.letters = letters
        self.rnn = nn.RNN(letters, hidden_size)
        self.output = nn.Linear(hidden_size, letters)
        nn.init.orthogonal_(self.rnn.weight_hh_l0)

    def forward(self, ids):
        read = nn.functional.one_hot(ids, self.letters).float()
        before = torch.cat([torch.zeros_like(read[:1]), read[:-1]])
        log_p = torch.log_softmax(self.output(self.rnn(before)[0]), dim=-1)
        return log_p.gather(-1, ids[..., None])[..., 0]


all_words = torch.tensor(list(product(range(4), repeat=4))).T  # (4, 256)
said_twice = torch.cat([all_words, all_words])


def said_again(kind, size, seed=0, updates=500):
    """Train on every word said twice; gives the probability of the right second word, a mean over all words."""
    torch.manual_seed(seed)
    model = kind(size, 4)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1 if kind is HiddenMarkov else 0.01)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, updates)  # smaller steps towards the end
    for _ in track(range(updates), "training"):
        loss = -model(said_twice).sum(dim=0).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        return model(said_twice)[4:].sum(dim=0).exp().mean().item()


again = {
    "HMM, 32 states": said_again(HiddenMarkov, 32),
    "cell, 8 units": said_again(NextLetter, 8),
    "cell, 32 units": said_again(NextLetter, 32),
}
print(f"ceiling of any HMM with 32 states: {32 / 256:.3f}")
for name, share in again.items():
    print(f"{name:<15} gives the right second word {share:.3f}")
assert again["HMM, 32 states"] < 32 / 256, "Expected the HMM below what was proved."
assert again["cell, 32 units"] > 0.95, "Expected the cell of 32 units to say the word again."
assert again["cell, 8 units"] > 64 / 256, "Expected 8 units to hold more than 64 states."

# %% tags=["experiment"]
from rnncourse.data.claims import claimed

word_twice = claimed("09_bidirectional")["word_said_twice"]
sizes = (4, 8, 16, 32, 64)
chart = line_chart(
    sizes,
    {
        "cell, H units": [word_twice.median(f"cell, {size}", "right") for size in sizes],
        "ceiling of\nany HMM": [size / 256 for size in sizes],
        "HMM, K states,\ntrained": [word_twice.median(f"HMM, {size}", "right") for size in sizes],
    },
    xlabel="K states, or H units",
    ylabel="probability of the right second word",
    title="A word of four letters, said twice (medians of five seeds)",
    logx=True,
)
chart.axes[0].set_xticks(sizes, [str(size) for size in sizes])
chart.axes[0].minorticks_off()
show(
    chart,
    alt="Probability of the right second word against the number of states or units, from 4 to 64. The cell rises from about "
    "0.1 at 4 units to above 0.9 at 8 and nearly 1 at 32. The ceiling of any HMM rises from 0.016 to 0.25; trained HMMs lie "
    "below it.",
)

# %% [markdown]
# Over five seeds, 8 units give the right word {{word_said_twice/cell, 8/right|.2f}}, where 64 states, trained, give it
# {{word_said_twice/HMM, 64/right|.2f}}, and by no means could give it more than 0.25. For an HMM to do it, there must be a
# state for each word when it begins to say it: 256 of them, with a transition matrix of 65,536 numbers. Each letter more
# makes it four times as many states.
#
# HMMs are not gone. Where there is little data, where the states *are* something, like the sounds of a word, and where one
# has to say why, they are hard to beat, and nothing in them has to be guessed at.

# %% [markdown]
# ## 9 · The same in PyTorch
#
# PyTorch does the work of section 6 for you, and more.
#
# `nn.RNN(D, H, bidirectional=True)` is your `bidirectional_forward` with `"concat"`. Its second layer's parameters bear
# the suffix `_reverse`. It gives two things:
#
# | | shape | holds |
# |---|---|---|
# | `out` | $(T, N, 2H)$ | $[f_t, g_t]$, aligned with time: nothing is left for you to flip |
# | `h_n` | $(2, N, H)$ | `h_n[0]` is $f_T$ and `h_n[1]` is $g_1$: the two final states |
#
# So `h_n` has your `final_summary` in it, and `out[-1]` has not. Do not take it on trust. **Claim:** loaded with your
# parameters, `nn.RNN` gives your states as `out` and your summary as `h_n`, and `out[-1]` is something else.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.cell import to_torch_state

layer = nn.RNN(2, 4, bidirectional=True, dtype=torch.float64)
names = to_torch_state(*forward) | {f"{k}_reverse": v for k, v in to_torch_state(*backward).items()}
layer.load_state_dict({name: torch.tensor(value) for name, value in names.items()})
with torch.no_grad():
    out, h_n = (tensor.numpy() for tensor in layer(torch.tensor(X)))
states = both_ways(X, forward, backward)
summary = use(final_summary)(states[..., :4], states[..., 4:], np.full(3, 5))
joined = np.concatenate(h_n, axis=-1)
print(f"out and your states differ by      {np.abs(out - states).max():.0e}")
print(f"h_n and your summary differ by     {np.abs(joined - summary).max():.0e}")
print(f"out[-1] and your summary differ by {np.abs(out[-1] - summary).max():.2f}")
assert np.allclose(out, states), "Expected nn.RNN to give your states; see bidirectional_forward above."
assert np.allclose(joined, summary), "Expected h_n to hold your summary; see final_summary above."
assert not np.allclose(out[-1], summary), "Expected the last of out to be no summary; see final_summary above."

# %% [markdown]
# Padding: given a plain array, `nn.RNN` takes every step for real, and its backward layer begins in the padding. It has
# no argument `lengths`. What it has is the **packed sequence** of unit 07: pack the batch with its lengths and each
# direction starts where its sequence starts.
#
#     packed = pack_padded_sequence(x, lengths, enforce_sorted=False)
#     states, h_n = rnn(packed)                                          # states are packed, too
#     states, _ = pad_packed_sequence(states, total_length=T)            # (T, N, 2H), zeros at padded steps
#
# `enforce_sorted=False` allows lengths in any order, and `total_length` gives T steps back even if no sequence is that
# long. `lengths` is a tensor of whole numbers.

# %% [markdown]
# ### Exercise 9.7 · `BiTagger`
# *●●○ · 20 minutes · 4 points*
#
# A tagger says something about *every* step. Write it as an `nn.Module` with three submodules of exactly these names:
#
# | name | what | shapes |
# |---|---|---|
# | `embedding` | `nn.Embedding`: a vector for each id | $(T, N) \to (T, N, E)$ |
# | `rnn` | `nn.RNN` in both directions, time first | $(T, N, E) \to (T, N, 2H)$ |
# | `output` | `nn.Linear`: a logit for each tag | $(T, N, 2H) \to (T, N, \text{tags})$ |
#
# `__init__(self, vocabulary_size, embedding_size, hidden_size, tags)` builds them; `forward(self, ids, lengths=None)`
# takes ids `(T, N)` and returns **logits** `(T, N, tags)`. Without `lengths` all steps are real. With `lengths`, a
# tensor `(N,)`, in no particular order and possibly all below T, no padded step may change the logits of a real one.
# Under the padding stand valid ids, 0 is an id like any other, and your logits there are nobody's business.


# %% answer="BiTagger"
class BiTagger(nn.Module):
    """A label for each step: ids (T, N), lengths (N,) or None -> logits (T, N, tags)."""

    def __init__(self, vocabulary_size, embedding_size, hidden_size, tags):
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.RNN(embedding_size, hidden_size, bidirectional=True)
        self.output = nn.Linear(2 * hidden_size, tags)
        ### END SOLUTION

    def forward(self, ids, lengths=None):
        ### BEGIN SOLUTION
        embedded = self.embedding(ids)
        if lengths is None:
            states, _ = self.rnn(embedded)
        else:
            states, _ = self.rnn(pack_padded_sequence(embedded, lengths, enforce_sorted=False))
            states, _ = pad_packed_sequence(states, total_length=len(ids))
        return self.output(states)
        ### END SOLUTION


# %% check="BiTagger"
check(BiTagger)

# %% [markdown]
# Networks like this one marked names, parts of speech and phonemes for twenty years. Give yours some work.

# %% [markdown]
# ## 10 · Teddy
#
# Here is a tagger that reads one way, to compare with. Both are trained on all 320 sentences, each weighted with its
# probability. That is no cheating here: we do not ask whether they generalise, we ask what they *can* learn, and for
# the one-way tagger we know the best possible answer. Write down, before you run it, the share of tokens at which each of the
# two will end.
#
# **Claim:** after 80 updates the one-way tagger stands exactly on its ceiling, wrong at half of the ambiguous names, and
# four times the units and updates do not lift it. The tagger that reads both ways is right on more than 99% of all tokens.


# %% tags=["experiment"]
class OneWayTagger(nn.Module):
    def __init__(self, vocabulary_size, embedding_size, hidden_size, tags):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.RNN(embedding_size, hidden_size)
        self.output = nn.Linear(hidden_size, tags)

    def forward(self, ids, lengths=None):  # it reads no padding before a real step, so it can do without lengths
        return self.output(self.rnn(self.embedding(ids))[0])


def build(tagger, *sizes, seed=0):
    torch.manual_seed(seed)
    return tagger(*sizes)


TwoWayTagger = use(BiTagger)
ids, labels, lengths, vocabulary = encode_tagged(sentences)
real = np.arange(len(ids))[:, None] < lengths
weight = real * np.array([s.probability for s in sentences])
weight /= weight.sum()
is_ambiguous = real & np.isin(np.array(vocabulary)[ids], list(AMBIGUOUS_NAMES))


def as_tensors(*arrays):
    return [torch.tensor(array) for array in arrays]


def train_on_sentences(model, updates=80):
    """Train on all sentences at once; gives the share of tokens that is right after each update."""
    ids_, labels_, lengths_, weight_ = as_tensors(ids, labels, lengths, weight.astype(np.float32))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    right = []
    for _ in track(range(updates), "training"):
        logits = model(ids_, lengths_)
        right.append((weight * (logits.argmax(dim=-1) == labels_).numpy()).sum())
        losses = nn.functional.cross_entropy(logits.movedim(-1, 1), labels_, reduction="none")
        optimizer.zero_grad()
        (losses * weight_).sum().backward()
        optimizer.step()
    return right


taggers = {
    "one way": build(OneWayTagger, len(vocabulary), 8, 24, 2),
    "both ways": build(TwoWayTagger, len(vocabulary), 8, 16, 2),
}
curves = {name: train_on_sentences(model) for name, model in taggers.items()}

# %% tags=["experiment"]
for name, model in taggers.items():
    with torch.no_grad():
        is_right = (model(*as_tensors(ids, lengths)).argmax(dim=-1).numpy() == labels) * weight
    at_names = (is_right * is_ambiguous).sum() / (weight * is_ambiguous).sum()
    print(
        f"{name:<10} all tokens {is_right.sum():.5f}   ambiguous names {at_names:.2f}   (ceiling one way {ceiling:.5f})"
    )
    if name == "one way":
        assert abs(is_right.sum() - ceiling) < 1e-5, "Expected the one-way tagger to stand on its ceiling."
    else:
        assert is_right.sum() > 0.99, (
            "Expected both ways to be right on 99%; if BiTagger has not passed, that may be why."
        )

show(
    line_chart(
        range(50),
        {name: right[:50] for name, right in curves.items()} | {"ceiling,\none way": np.full(50, ceiling)},
        xlabel="updates",
        ylabel="share of tokens that are right",
    ),
    alt="Share of right tokens against updates. The one-way tagger rises to the ceiling of 0.968 and stays on it. The tagger "
    "that reads both ways crosses the ceiling and reaches 1.",
)

# %% [markdown]
# The one-way tagger is not bad. It is *perfect*: it stands on its ceiling to the last digit, and no training will lift
# it. The other one walks through. What do they believe, word by word?
#
# **Claim:** at "Teddy" the one-way tagger gives a person a probability near one half, between 0.3 and 0.7, in both
# sentences. The tagger that reads both ways gives it more than 0.9 before "Roosevelt", and less than 0.1 before "bears".

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.plots.bidirectional import belief_grid

for words in ("He said , Teddy Roosevelt was a great president", "He said , Teddy bears are on sale"):
    tokens = words.split()
    column = torch.tensor([[vocabulary.index(token)] for token in tokens])
    with torch.no_grad():
        beliefs = {name: torch.softmax(model(column)[:, 0], dim=-1)[:, 1].numpy() for name, model in taggers.items()}
    assert 0.3 < beliefs["one way"][3] < 0.7, "Expected the one-way tagger to be in doubt at Teddy."
    print(f"{words}: at Teddy {beliefs['one way'][3]:.2f} one way, {beliefs['both ways'][3]:.2f} both ways")
    assert (beliefs["both ways"][3] > 0.9) == ("Roosevelt" in tokens), (
        "Expected both ways to be sure of a person before Roosevelt only; see whether BiTagger has passed."
    )
    show(
        belief_grid(beliefs, tokens, title="probability of the label PERSON"),
        alt=f"Probability of PERSON for each word of: {words}. At Teddy the one-way tagger says about one half, the tagger that "
        f"reads both ways says {beliefs['both ways'][3]:.2f}. At the next word both are sure.",
    )

# %% [markdown]
# The one-way tagger's half is the honest answer to what it has been asked. One word later it knows. But by then it has
# spoken.

# %% [markdown]
# ## 11 · A syntax highlighter
#
# Now something real: Python source, character by character, a label for each. The labels cost nothing, since Python's
# own tokenizer knows them. There are eight: space, comment, string, number, operator, keyword, function (a name before
# an opening bracket) and name. We train on 200,000 characters of the standard library, in windows of 100, and judge on
# files that are held out whole. To be fair, the one-way tagger gets more units, 96 against 64 in each direction: both
# have about 13,000 parameters.
#
# While they train: for which of the eight labels do you expect the two to differ most? Write your guess down.

# %% tags=["experiment"]
from rnncourse.data import TOKEN_LABELS, labelled_python

python_text, held_out, characters = labelled_python(200_000)


def train_highlighter(model, text=python_text, epochs=5, rows=16):
    window_ids, window_labels = as_tensors(*text.windows(100))
    batches = [
        columns
        for epoch in range(epochs)
        for columns in torch.randperm(window_ids.shape[1], generator=torch.Generator().manual_seed(epoch)).split(rows)
    ]
    optimizer = torch.optim.Adam(model.parameters(), lr=0.006)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.02, len(batches))  # smaller steps towards the end
    for columns in track(batches, "training"):
        logits = model(window_ids[:, columns])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), window_labels[:, columns].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model


highlighters = {
    "one way": train_highlighter(build(OneWayTagger, len(characters), 16, 96, len(TOKEN_LABELS), seed=1)),
    "both ways": train_highlighter(build(TwoWayTagger, len(characters), 16, 64, len(TOKEN_LABELS), seed=1)),
}
parameters = {name: sum(p.numel() for p in model.parameters()) for name, model in highlighters.items()}
print("parameters:", parameters)
assert parameters["both ways"] <= parameters["one way"], "Expected no more parameters both ways; see BiTagger above."

# %% [markdown]
# **Claim:** with no more parameters, the tagger that reads both ways labels at least 3 in 100 more of all held-out
# characters right, and at least 25 in 100 more of those in the names of functions. For both, comments are harder than
# operators, and hardest where the opening sign stands before the window: less than half of such characters are right.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.plots.bidirectional import class_bars

test_ids, test_labels = as_tensors(*held_out.windows(100))
frequency = {label: float((test_labels == i).float().mean()) for i, label in enumerate(TOKEN_LABELS)}
in_comment = test_labels == TOKEN_LABELS.index("comment")
opened = (
    torch.cat([torch.zeros_like(in_comment[:1]), in_comment[1:] & ~in_comment[:-1]]).cumsum(dim=0) > 0
)  # in the window


def shares_right(model):
    """Which share of the held-out characters is labelled right: of all, of each label, of comments by their sign."""
    with torch.no_grad():
        is_right = (model(test_ids).argmax(dim=-1) == test_labels).float()
    return {
        "all": float(is_right.mean()),
        **{label: float(is_right[test_labels == i].mean()) for i, label in enumerate(TOKEN_LABELS)},
        "comment, sign in view": float(is_right[in_comment & opened].mean()),
        "comment, sign out of view": float(is_right[in_comment & ~opened].mean()),
    }


right = {name: shares_right(model) for name, model in highlighters.items()}
for name, shares in right.items():
    print(
        f"{name:<10} {shares['all']:.1%} of held-out characters, {shares['function']:.0%} of those in functions' names"
    )
    in_view, out_of_view = shares["comment, sign in view"], shares["comment, sign out of view"]
    print(f"{'':<10} of comments {in_view:.0%} if the opening sign is in the window, {out_of_view:.0%} if it is not")
by_class = {name: {label: shares[label] for label in TOKEN_LABELS} for name, shares in right.items()}
assert right["both ways"]["all"] > right["one way"]["all"] + 0.03, (
    "Expected both ways to be right on 3 in 100 more; if BiTagger has not passed its check, that may be why."
)

order = sorted(frequency, key=lambda label: by_class["one way"][label] - by_class["both ways"][label])
show(
    class_bars(by_class, xlabel="share right on held-out files", ticks={label: frequency[label] for label in order}),
    alt="Two bars for each of the eight labels: how many characters of it are right, one way and both ways. By far the "
    "largest difference is at functions, from less than half to more than nine in ten.",
)

# %% [markdown]
# (The classes are sorted by how much the second chain helps; in brackets is how frequent each is.) Functions! Until the
# bracket comes, `range` in `range(3)` is a name like any other, and the network has to commit itself five characters
# earlier. The same holds, more mildly, for names and keywords: the `i` of `if` could be the `i` of `index`. For comments
# the evidence stands to the left, in the sign that opened them. Both taggers make little of it, and the next experiment
# asks why. Where it stands further left than the window reaches, neither of the two can know of it.
#
# (Over five draws of the start weights, the one-way tagger is right on {{highlighter/one way/all|median .0%}} of the
# held-out characters, {{highlighter/one way/all|range .0%}}, the one that reads both ways on
# {{highlighter/both ways/all|median .0%}}, {{highlighter/both ways/all|range .0%}}. In the names of functions it is
# {{highlighter/one way/function|median .0%}} against {{highlighter/both ways/function|median .0%}}.)
#
# Here is a piece of a held-out file: of all places with the eight labels within twelve lines that are not too wide, the
# one with the most functions. You see the truth, what one chain makes of it, and what two make of it. Where the ground is
# tinted, the label is wrong.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.plots.bidirectional import ColouredCode


def tag(model, text):
    index = {character: i for i, character in enumerate(characters)}
    column = torch.tensor([[index.get(character, len(characters) - 1)] for character in text])
    with torch.no_grad():
        return model(column)[:, 0].argmax(dim=-1).numpy()


def interesting_piece(lines=12, width=52):
    rows = held_out.text.split("\n")
    starts = np.cumsum([0] + [len(row) + 1 for row in rows])
    best, most = slice(0, 400), 0
    for i in range(len(rows) - lines):
        span = slice(starts[i], starts[i + lines] - 1)
        labels_ = held_out.labels[span]
        called = int((labels_ == TOKEN_LABELS.index("function")).sum())
        narrow = all(len(row) <= width for row in rows[i : i + lines])
        if narrow and called > most and len(set(labels_)) == len(TOKEN_LABELS):
            best, most = span, called
    return best


piece = interesting_piece()
text = held_out.text[piece]
coloured = ColouredCode(
    text,
    {"truth": held_out.labels[piece]} | {name: tag(model, text) for name, model in highlighters.items()},
    TOKEN_LABELS,
)
print(f"right in this piece: one way {coloured.right('one way'):.0%}, both ways {coloured.right('both ways'):.0%}")
coloured

# %% [markdown]
# ### Optional · how long is a sign remembered?
#
# *(About ten minutes; unit 10 looks back at it.)* Does a tagger *remember* the sign that opened a comment, or does it see
# from the English behind it that this must be one? Take the English away: comment out some code. Each line is one of a
# held-out file, with no string in it, cut to 40 characters, and we put `# ` before it. The figure has a third tagger: one
# way, the same in everything, but in its training text a fifth of the lines of code are commented out. Before you
# look: where in the line will the first two have lost the sign, and will the third?
#
# **Claim:** without the sign, less than a twentieth of the characters of a line of code are taken for a comment. With it
# more are; but of the last eight of forty characters fewer than of the first four, by both taggers. The one-way tagger
# that was trained with code commented out takes more than nine in ten of the last eight for a comment.

# %% tags=["experiment", "nbval-ignore-output"]
place = {character: i for i, character in enumerate(characters)}
not_code = {TOKEN_LABELS.index(label) for label in ("comment", "string")}


def lines_of_code():
    """Lines of the held-out files without strings and comments, from their first 40 characters on, each once."""
    found, start = set(), 0
    for row in held_out.text.split("\n"):
        line = row.strip()[:40]
        if len(line) == 40 and not_code.isdisjoint(held_out.labels[start : start + len(row)].tolist()):
            found.add(line)
        start += len(row) + 1
    return sorted(found)


code_lines = lines_of_code()


def taken_for_comment(model, opening):
    """The share of code lines of which each character is labelled as comment, if they begin with `opening`."""
    columns = [[place.get(character, len(characters) - 1) for character in opening + line] for line in code_lines]
    with torch.no_grad():
        labels_ = model(torch.tensor(columns).T).argmax(dim=-1)[len(opening) :]
    return (labels_ == TOKEN_LABELS.index("comment")).float().mean(dim=1).numpy()


remembered = {name: taken_for_comment(model, "# ") for name, model in highlighters.items()}
for name, model in highlighters.items():
    first, last = remembered[name][:4].mean(), remembered[name][-8:].mean()
    without = taken_for_comment(model, "").mean()
    print(
        f"{name:<10} taken for a comment: {first:.0%} of the first four characters, {last:.0%} of the last eight; "
        f"without the sign {without:.1%}"
    )
    assert last < first, "Expected the sign to fade; if BiTagger has not passed its check, that may be why."

# %% tags=["experiment"]
fading = claimed("09_bidirectional")["highlighter"]
names = {"one way, trained with code commented out": "one way, has seen\ncode commented out"}
show(
    line_chart(
        range(1, 41),
        {
            names.get(name, name): [fading.median(name, f"marked, character {k}") for k in range(1, 41)]
            for name in fading.values
        },
        xlabel="characters after the sign that opens the comment",
        ylabel="share taken for a comment",
        title=f"{len(code_lines)} lines of code, commented out (medians of five seeds)",
    ),
    alt="Share of the characters that are taken for a comment against their distance from the opening sign, medians of five "
    "seeds. Reading one way it falls from nearly 1 to zero within seven characters; reading both ways it falls from 0.7 to "
    "one fifth within seven, and to nearly zero over forty. By the tagger that has seen code commented out it stays at 1.",
)

# %% [markdown]
# Each further character says "code", and the sign has to be remembered against all of them. By the last eight of forty it
# is forgotten: one way {{highlighter/one way/of the last eight|median .0%}} are still taken for a comment
# ({{highlighter/one way/of the last eight|range .0%}}), both ways
# {{highlighter/both ways/of the last eight|median .0%}} ({{highlighter/both ways/of the last eight|range .0%}}). (With one
# of the five draws of start weights, both taggers found out about the sign by themselves: the upper end of these ranges.)
# Is a plain cell too forgetful for this? The third tagger is a plain cell, too, and it takes
# {{highlighter/one way, trained with code commented out/of the last eight|median .0%}} for a comment
# ({{highlighter/one way, trained with code commented out/of the last eight|range .0%}}). The others had no reason to hold
# the sign: in their text, what looks like code *is* code. You know this from unit 05: what a network holds depends on what
# its examples ask it to hold. And it pays on real comments: where the sign is in view,
# {{highlighter/one way, trained with code commented out/comment, sign in view|median .0%}} of their characters are
# right, in place of {{highlighter/one way/comment, sign in view|median .0%}}.

# %% [markdown]
# ## 12 · The price: nothing can be said before the end
#
# All of this has one price. $g_1$ is the *last* state that the backward chain computes. So before you can label the first
# word, the last one must have come.
#
# | | reads one way | reads both ways |
# |---|---|---|
# | answers for step $t$ | after step $t$ | after step $T$ |
# | when one more symbol comes | one more step | all of $g$ anew: $T + 1$ steps |
# | work and parameters | 1 | 2, at the same $H$ |
# | kept while running on and on | one state | the whole sequence |
#
# For a text in a file that is no price at all. For live captions, dictation, a prosthesis, it is prohibitive. What people
# do there is to wait a little: look $k$ symbols ahead and begin the backward chain there. How much does waiting bring? We
# ask the highlighter for the label of a character, and let it see only the $k$ characters after it. Predict: from which $k$
# on does it beat the tagger that reads one way: 1, 8, or 32?
#
# **Claim:** with no lookahead the tagger that reads both ways is worse than the one-way tagger; with 32 characters it is
# better, by at least 2 labels in 100; and eight characters buy more than half of what 32 do.

# %% tags=["experiment", "nbval-ignore-output"]
places, lookaheads = range(16, 32), [0, 1, 2, 4, 8, 16, 32]


def accuracy_with_lookahead(model, k):
    with torch.no_grad():
        is_right = [model(test_ids[: t + k + 1])[t].argmax(dim=-1) == test_labels[t] for t in places]
    return float(torch.stack(is_right).float().mean())


waiting = {
    "one way": [accuracy_with_lookahead(highlighters["one way"], 0)] * len(lookaheads),
    "both ways": [accuracy_with_lookahead(highlighters["both ways"], k) for k in lookaheads],
}
print("both ways:", {k: round(share, 3) for k, share in zip(lookaheads, waiting["both ways"])})
print("one way:  ", round(waiting["one way"][0], 3))
assert waiting["both ways"][-1] > waiting["both ways"][0] + 0.06, (
    "Expected 32 characters of lookahead to bring 6 in 100."
)
show(
    line_chart(
        lookaheads,
        waiting,
        xlabel="lookahead k (characters after the one to be labelled)",
        ylabel="share right, held out",
    ),
    alt="Share of right labels against the lookahead. The line of the tagger that reads both ways starts below that of the "
    "one-way tagger, crosses it within a few characters, and flattens out above it.",
)

# %% [markdown]
# Why is it worse with no lookahead? It was trained to count on a future that it is now denied, and only half of its
# units have read the past. (Which of the two weighs more we have not measured.) But a delay of eight characters already
# buys more than half of what there is to be had: over five seeds the medians are
# {{highlighter/both ways/lookahead 0|median .0%}} with none, {{highlighter/both ways/lookahead 8|median .0%}} with
# eight, {{highlighter/both ways/lookahead 16|median .0%}} with sixteen and
# {{highlighter/both ways/lookahead 32|median .0%}} with 32 characters; one way it is
# {{highlighter/one way/lookahead 0|median .0%}}. Most of what decides about a character stands near it. So whoever must
# answer live trades delay for accuracy, and can choose a point on this curve.

# %% [markdown]
# ## 13 · Not a language model
#
# If two chains are so much better, why not let them predict the next character, as in unit 06? Try it, on the hardest
# text there is: letters drawn at random, eight of them, nothing to be learned. No honest prediction can have a loss below
# $\log 8 = 2.079$ on it, in the long run. The target of step $t$ is $x_{t+1}$, as it was in unit 06. What will be the loss of
# each of the two?
#
# **Claim:** on random letters the loss of the one-way network stays at $\log 8$; that of the network that reads both ways
# falls below 0.1.


# %% tags=["experiment", "nbval-ignore-output"]
def loss_on_random_letters(model, updates=100, Q=8):
    """Train on fresh random letters all the time; gives the loss on fresh ones at the end."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    generator = torch.Generator().manual_seed(0)
    for _ in track(range(updates), "training"):
        letters = torch.randint(0, Q, (21, 64), generator=generator)
        logits = model(letters)[:-1]  # of the last step, no target is known
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), letters[1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


one = loss_on_random_letters(build(OneWayTagger, 8, 8, 32, 8))
two = loss_on_random_letters(build(TwoWayTagger, 8, 8, 32, 8))
print(f"log 8 is {np.log(8):.3f};  loss one way {one:.3f};  loss both ways {two:.3f}")
assert abs(one - np.log(8)) < 0.05, "Expected nothing to be learned one way."
assert two < 0.1, "Expected both ways to copy the target; if BiTagger has not passed its check, that may be why."

# %% [markdown]
# A loss of nearly zero on pure noise! It has learned just one thing: $g_t$ has read $x_{t+1}$, so hand it on. The
# target was in the input. Whenever a result is too good to be true, look for the way by which the answer got in.

# %% [markdown]
# ### Exercise 9.8 · `quiz_bidirectional`
# *●●○ · 5 minutes · 1 point*
#
# A left-to-right language model gives $p(x_{t+1} \mid x_1, \dots, x_t)$ for each $t$. Which statements hold?
#
# - **A** A bidirectional network that is trained on the target $x_{t+1}$ at step $t$ can bring its loss down by
#   copying, since its state at step $t$ has read the target.
# - **B** Its loss on held-out text is low as well, so the product of its probabilities is a good estimate of the
#   probability of that text.
# - **C** It cannot write text from left to right: its backward layer would have to begin with symbols that are not
#   written yet.
# - **D** Predict $x_t$ from $f_{t-1}$ and $g_{t+1}$ instead. Then the target is in neither, and the product of these
#   probabilities over all $t$ is the probability of the sequence.
# - **E** Its forward layer alone, with an output layer of its own, can be trained as a language model.
# - **F** With enough data and units it becomes a left-to-right language model.
#
# Answer with the set of those that hold, in the form `{"B", "D"}`.

# %% answer="quiz_bidirectional"
quiz_bidirectional = None  # put a set of letters in place of None, and delete what stands below
### BEGIN SOLUTION
quiz_bidirectional = {"A", "C", "E"}
### END SOLUTION

# %% check="quiz_bidirectional"
check(quiz_bidirectional, "quiz_bidirectional")

# %% [markdown]
# You know what two chains are for: for sequences that are *there*, to be labelled or judged, and not for those that are
# yet to be written.

# %% [markdown]
# ## 14 · Bugs to hunt
#
# All of these run, give the right shape, and have been found in published code. What would you see, and which test of
# this unit finds it?
#
# - `H_b` is not flipped back: $h_t$ holds $f_t$ beside the backward state of step $T + 1 - t$.
# - Batch first, and `x.flip(0)`: the sentences change places, and each is still read from the left.
# - `out[-1]` as the summary of a sentence (or `out[:, -1]`, batch first).
# - The block is flipped, padding and all.
# - `h_n.reshape(N, 2 * H)` for the summary, where `h_n` is `(2, N, H)`: the first half of the batch gets two forward
#   states.
#
# <details><summary>Answers, when you have thought about them</summary>
#
# The first trains, and in the middle of the sentence it is even right; the dependence grid is full only from the middle
# on, and at the first step $h_1$ has read nothing but $x_1$ and $x_T$. The second shows in the same grid: it is that of
# a one-way network. And if the rows are not flipped back, each sentence has another one's states beside its own. The
# third is found by counting what each half has read (section 7). The fourth is found by running a sentence alone and in
# a batch (section 5). The last is right for $N = 1$ only: compare with the states of `out`, row by row, for a batch;
# `torch.cat([h_n[0], h_n[1]], dim=-1)` is what was meant.
# </details>
#
# The first one is worth seeing: here is the right grid, and that of a layer that forgets to flip back. **Claim:** flipped
# back, every output depends on every input; not flipped back, some outputs miss some inputs.


# %% tags=["experiment"]
def not_flipped_back(xs):
    """The states of both directions, the backward ones in the order in which they were read."""
    states = both_ways(xs[:, None], forward, backward)
    return np.concatenate([states[..., :4], states[::-1, ..., 4:]], axis=-1)


grids = {
    "flipped back": depends_on(lambda xs: both_ways(xs[:, None], forward, backward), sequence),
    "not flipped back": depends_on(not_flipped_back, sequence),
}
assert grids["flipped back"].all(), "Expected every output to depend on every input; see bidirectional_forward above."
assert grids["not flipped back"].sum() < 49, "Expected gaps where the states are not flipped back."
show(
    dependence_grid(grids),
    alt="Two grids, outputs in rows and inputs in columns. Flipped back, all cells are filled. Not flipped back, the upper middle "
    "is empty: early outputs have read only the very first and the very last inputs.",
)

# %% [markdown]
# ## 15 · What you have
#
# - What has not been read cannot be known: for a left-to-right tagger there is a ceiling, and it can be computed.
# - A bidirectional layer is two chains that read from both ends and do not know of each other. Reverse, run, reverse
#   again.
# - Sequences of several lengths are reversed within their lengths. Test: alone and in a batch must give the same.
# - On the way back, each chain gets its part of $dh_t$, in the order in which it has read; $dx_t$ is the sum of both.
# - Each chain is done at another end: $f$ at the last real step, $g$ at the first.
# - A hidden Markov model has two chains as well. Its belief says which of $K$ states it is in, and one more bit takes twice
#   as many; a cell takes one more unit.
# - The price is twice the work, and that nothing can be said before the end. A little lookahead buys much of it back.
# - A state that has read the target predicts it. Two chains label; they do not write.
# - What a network holds depends on what its examples ask it to hold: the sign of a comment was forgotten after a few
#   letters, and on other examples, by the same cell, it was not.

# %% [markdown] written="bidirectional_written" points=3
# ### Written question
# *3 points, graded by hand; about six sentences*
#
# Your group builds live captions: speech comes in, and each word has to be on the screen within half a second. A
# colleague has trained a bidirectional network on recordings. It makes a third fewer errors than the one-way network,
# on held-out recordings, and your colleague wants to put it into the product. **(a)** What will go wrong if it is used as
# it is? **(b)** Why did the evaluation not show it? **(c)** What would you propose and measure instead?
#
# ### BEGIN SOLUTION
# *Model answer.* (a) The backward chain begins at the end of what is said. Live there is no end: either the product waits
# for it, and the captions come after the speaker has finished, or it cuts the sound at the present moment and runs the
# backward chain from there, again and again, over all that has been said so far. In the second case the newest word has
# no future, the very words that are to be shown are labelled with a lookahead of nearly zero, which the network has
# never met in training, and it does worse there than the one-way network; and words that stand on the screen change
# afterwards. (b) The evaluation did not show it because whole recordings were given: every word was judged with its future
# in view, and the time that the answer came at was not counted. (c) I would evaluate in the way in which it is used: the
# label of each word from the sound up to half a second after it, and no more, for both networks. And I would train for
# it: a backward chain over chunks with a lookahead of up to half a second, or a one-way network whose target is delayed
# by as much. Then the errors against the delay make a curve, from which the product can choose a point; and the second
# pass with the full network can still correct the transcript when the speech is over.
#
# *Rubric.* **1 point**: says that the backward chain needs the end, so that the answer is late, or is made without a
# future that the network was trained to have (or keeps changing). **1 point**: says that the evaluation had the future
# in view, or ignored the delay, so that it measured another task. **1 point**: a proposal that respects the limit
# (limited lookahead, chunks, delayed targets, a one-way network, a second pass) *and* a measurement under the same
# limit (errors against delay). "Use a faster computer" is worth nothing: the future does not come faster.
# ### END SOLUTION

# %% [markdown]
# ## Where to read on
#
# - M. Schuster, K. K. Paliwal, "Bidirectional Recurrent Neural Networks", *IEEE Transactions on Signal Processing* 45,
#   1997: where the idea comes from.
# - L. R. Rabiner, "A Tutorial on Hidden Markov Models and Selected Applications in Speech Recognition", *Proceedings of the
#   IEEE* 77, 1989: forward, backward, and how such a model is trained.
# - A. Brown, G. Hinton, "Products of Hidden Markov Models", *AISTATS* 2001: on the price of one state out of $K$, and how to
#   have many at once.
# - A. Graves, J. Schmidhuber, "Framewise Phoneme Classification with Bidirectional LSTM and Other Neural Network
#   Architectures", *Neural Networks* 18, 2005: one way, two ways, and delayed targets, compared with care.
# - Z. Huang, W. Xu, K. Yu, "Bidirectional LSTM-CRF Models for Sequence Tagging", arXiv:1508.01991, 2015: the tagger of
#   this unit, grown up.
# - M. E. Peters et al., "Deep Contextualized Word Representations", *NAACL* 2018: two language models, one for each
#   direction. They are trained jointly, with the token and softmax parameters in common, but neither reads the other's
#   states, just because of section 13. What they make of a word is joined afterwards.
# - The pair of sentences about Teddy is A. Ng's, from the course *Sequence Models*, deeplearning.ai, 2018.

# %% [markdown]
# ## Something to show to somebody
#
# Your tagger, on code of your own. Put in what you like; the truth comes from Python's tokenizer, so it has to be Python.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.data import label_python

code = """for name in sorted(names):
    if len(name) > 12:
        print("too long:", name)
    total += count(name) * 0.5  # half of it
"""

coloured = ColouredCode(
    code,
    {"truth": label_python(code)} | {name: tag(model, code) for name, model in highlighters.items()},
    TOKEN_LABELS,
)
print(f"both ways: {coloured.right('both ways'):.0%} right, one way: {coloured.right('one way'):.0%}")
coloured

# %% tags=["experiment"]
progress("09_bidirectional")

# %% [markdown]
# ## The question that this unit leaves open
#
# Comment out a line of code and give it to these taggers (the optional part of section 11 does). They *have* read the sign
# that opens the comment, and forty letters later most of them have lost it. One has not: it was shown, line by line, that the sign
# counts for longer than the next few letters. So a plain cell can hold on to something, if its examples make it. But
# all it has for this is the one matrix that also reads, mixes and writes over, at every step. **What if a cell could
# *hold* what it has been told by its very make, until it is told to let go?** That is unit 10.
