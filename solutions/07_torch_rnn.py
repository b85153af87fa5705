# %% [markdown]
# # 07 · The same in PyTorch
#
# **When you are done you will be able to**
#
# - build what autograd is made of, a tape, in 25 lines, and train a network on it;
# - write a recurrent layer as an `nn.Module`, turn it into PyTorch's `nn.RNN`, and name every number in it;
# - batch sequences of unequal length so that the padding counts for nothing;
# - train on a long text, save in the middle, and go on as if nothing had happened;
# - find the bugs that PyTorch does not report.
#
# **Time**: about four hours if PyTorch is new to you, in two sittings: sections 1 to 3, and the rest. **You need** units 03 and
# 04, clipping from unit 05, and the character model of unit 06. There are nine exercises and one written question, 30 points in
# all. What experiments train and measure stands in `rnncourse.experiments.torch_rnn`.

# %% [markdown]
# ## The question that was left open
#
# The language model of [unit 06](../06_language_model/06_language_model.ipynb) is yours to the last derivative. That makes the
# next idea expensive: for a second layer, or a gate, the backward pass must be derived anew, and checked.
#
# But look back at [unit 04](../04_bptt/04_bptt.ipynb). Every rule there was local: how an error passes a product, a sum, a tanh.
# The order was that of the forward pass, reversed. None of it needed *you*. **Can a program take the forward pass alone and do
# the rest?**

# %% locked="setup"
import math

import numpy as np
import torch
from torch import nn

from rnncourse import check, hint, progress, track, use

torch.set_num_threads(1)  # a second one costs more than it brings on small products

# %% tags=["experiment"]
progress("07_torch_rnn")

# %% [markdown]
# ## 1 · Arrays that remember where they came from
#
# A **tensor** is an array with one more ability. If you ask for it (`requires_grad=True`), whatever is computed from it
# remembers which operation made it, and from which tensors. So the forward pass builds the graph of unit 04. `backward()` walks
# it the other way, and leaves the gradient of the loss in the `.grad` of each tensor that you asked for.
#
# You know an example with all its numbers from unit 04: one unit, two steps, $U = 0.5$, $W = 2$, $b = 0$, $h_0 = 0.5$, inputs
# $-1$ and $0$, and an error of 1 at each state. It took a page to find $dW = 0.980$. Now watch:

# %% tags=["experiment"]
U = torch.tensor([[0.5]], dtype=torch.float64, requires_grad=True)
W = torch.tensor([[2.0]], dtype=torch.float64, requires_grad=True)
h, total = torch.tensor([[0.5]], dtype=torch.float64), 0.0
for x in (-1.0, 0.0):
    h = torch.tanh(x * U + h @ W)
    total = total + h.sum()  # an error of 1 at each state
    print(f"state {h.item():.3f}, made by {h.grad_fn.name()}")
total.backward()
print(f"dW = {W.grad.item():.3f}, dU = {U.grad.item():.3f}")

# %% tags=["author"]
assert abs(W.grad.item() - 0.980) < 1e-3, "The dW that was worked out by hand in unit 04 was expected, 0.980."

# %% [markdown]
# No derivative was written. `TanhBackward0` is your $da = dh \odot (1 - h^2)$.

# %% [markdown]
# ### A tape of your own
#
# Of each result, three things must be remembered: its **data**, **what it was made of**, and, for each of these parts, **how an
# error here becomes an error there**. With $e$ for the error at the result:
#
# - $A + B$: each gets $e$; a row $(H,)$ that was added to rows $(N, H)$ gets the sum of $e$ over the rows;
# - $A B$: they get $e B^\top$ and $A^\top e$;
# - $\tanh A = H$: $A$ gets $e \odot (1 - H \odot H)$;
# - $\sum A$: $A$ gets $e$, the same number at each entry.
#
# On the way back a result must wait until all errors have reached it. That order needs no search: number the results as they are
# made, and go from the highest number to the lowest. This list in its order is a **tape**.
#
# *By hand*: $x = 0.5$, $h = \tanh x = 0.462$, and $L = h + h$. L has the error 1. It was made of h twice, so h gets $1 + 1 = 2$, and x
# gets $2\,(1 - 0.462^2) = 1.573$. Had you handed on h's error after the first of the two, x would have got half of it.

# %% tags=["experiment"]
from rnncourse.plots import show
from rnncourse.plots.torch_rnn import tape

show(tape())

# %% [markdown]
# ### Exercise 7.1 · `Var`
# *●●● · 40 minutes · 6 points*
#
# Write the tape in NumPy, without `torch`. `Var(data)` holds an array: `data`, in float64 whatever it comes in, and
# `grad`, an array of the same shape, zeros at first. There are four operations, each of which gives a new `Var`:
#
# - `+` of two of one shape, or of a row $(H,)$ and rows $(N, H)$, in either order;
# - `@` of two matrices;
# - `tanh()`, entry by entry;
# - `sum()` of all entries, of shape `()`.
#
# Of `+` and `@`, **either side may be an array**: `as_var`, which is given, makes a `Var` of it. (`array + Var` calls
# `__radd__`, `array @ Var` `__rmatmul__`.)
#
# `backward()`, called on a single number $L$, adds $\partial L / \partial v$ to the `grad` of each `Var` $v$ that $L$ was made
# of, those on the way and $L$ itself included. It **adds**: what is used twice gets both parts, and calling it twice doubles
# all. So keep the errors of this pass apart from what `grad` had before.
#
#     x = Var([[0.5]]); h = x.tanh(); L = (h + h).sum(); L.backward()      gives
#     L.grad = 1, h.grad = [[2]], x.grad = [[1.573]]


# %%
def as_var(value):
    """A Var as it is, anything else as a Var."""
    return value if isinstance(value, Var) else Var(value)


# %% answer="Var"
class Var:
    """An array that remembers how it was made."""

    __array_ufunc__ = None  # `array + Var` asks Var, and does not add entry by entry
    made = 0  # how many there are

    def __init__(self, data, made_of=()):
        """data: an array or what NumPy turns into one; made_of: the parts, and how an error here becomes theirs."""
        ### BEGIN SOLUTION
        self.data = np.array(data, dtype=np.float64)
        self.grad = np.zeros_like(self.data)
        self.made_of, self.number = made_of, Var.made
        Var.made += 1
        ### END SOLUTION

    def __add__(self, other):
        ### BEGIN SOLUTION
        other = as_var(other)

        def onto(data):
            return lambda e: e.sum(axis=0) if e.ndim > data.ndim else e

        return Var(self.data + other.data, [(self, onto(self.data)), (other, onto(other.data))])
        ### END SOLUTION

    def __matmul__(self, other):
        ### BEGIN SOLUTION
        other = as_var(other)
        return Var(self.data @ other.data, [(self, lambda e: e @ other.data.T), (other, lambda e: self.data.T @ e)])
        ### END SOLUTION

    def __radd__(self, other):
        ### BEGIN SOLUTION
        return as_var(other) + self
        ### END SOLUTION

    def __rmatmul__(self, other):
        ### BEGIN SOLUTION
        return as_var(other) @ self
        ### END SOLUTION

    def tanh(self):
        ### BEGIN SOLUTION
        h = np.tanh(self.data)
        return Var(h, [(self, lambda e: e * (1 - h * h))])
        ### END SOLUTION

    def sum(self):
        ### BEGIN SOLUTION
        return Var(self.data.sum(), [(self, lambda e: e * np.ones_like(self.data))])
        ### END SOLUTION

    def backward(self):
        """Add to the grad of all that this number was made of."""
        ### BEGIN SOLUTION
        found, todo = {self}, [self]
        while todo:
            for part, _ in todo.pop().made_of:
                if part not in found:
                    found.add(part)
                    todo.append(part)
        errors = {self: np.ones_like(self.data)}
        for var in sorted(found, key=lambda var: var.number, reverse=True):
            var.grad += errors[var]
            for part, back in var.made_of:
                errors[part] = errors.get(part, 0) + back(errors[var])
        ### END SOLUTION


# %% check="Var"
check(Var)

# %% [markdown]
# ### Experiment · your tape, your own BPTT, and PyTorch
#
# Here is the forward pass of a cell whose answer at each step is $\tanh(h_t V)$, one number for each sequence. `Y` is minus what the
# answers should be, 1 or $-1$: the more of them have the right sign, the lower is the loss.
#
# The very same lines take your Vars and PyTorch's tensors. **Guess**: over 30 steps, how far are the gradients of both from
# those of unit 04's `rnn_backward`: a thousandth, a millionth, less?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.torch_rnn import gradients_beside


def loss_of(X, Y, h, U, W, b, V):
    """X (T, N, D), Y (T, 1, N), h (N, H), V (H, 1): the forward pass, and no more."""
    loss = 0.0
    for x, y in zip(X, Y):
        h = (x @ U + h @ W + b).tanh()
        loss = (y @ (h @ V).tanh()).sum() + loss
    return loss


differences = gradients_beside(loss_of, use(Var))
for name, off in differences.items():
    print(f"{name:4}", *(f"  {who} {share:.0e}" for who, share in off.items()))

# %% tags=["author"]
assert max(share for off in differences.values() for share in off.values()) < 1e-10, (
    "Ten digits were expected to agree."
)

# %% [markdown]
# All agree to more than ten digits. The price is memory: a tape keeps every result until the way back is done.
#
# ### Experiment · a network that learns on your tape
#
# The cell shall become the latch of unit 03: of two inputs one says *set*, the other *reset*, and the answer at each step is 1 if
# the last of them was *set*, else $-1$. Sequences are 12 steps long, 32 of them an update. For each update `trained_on_tape`
# makes Vars of four arrays, calls your `loss_of`, then `backward()`, and takes 0.004 times each gradient off.
#
# **Guess**: after how many of 100 updates is there a batch without a mistake? And will the cell hold its bit over 100 steps?

# %% tags=["experiment", "nbval-ignore-output"] dials="hidden = 2; hidden = 1"
from rnncourse.experiments import beside
from rnncourse.experiments.torch_rnn import latch_held, trained_on_tape
from rnncourse.plots.torch_rnn import latch_chart

hidden = 8
arrays, rights = trained_on_tape(loss_of, use(Var), updates=100, hidden=hidden)
show(latch_chart({f"{hidden} units": rights}))
print("right at 100 steps:")
print(beside("07_torch_rnn:latch/as shown/right", latch_held(arrays), ".3f"))

# %% tags=["author"]
assert hidden < 8 or latch_held(arrays) > 0.99, "The latch was expected to hold for 100 steps."

# %% [markdown]
# **Claim:** trained on your tape with sequences of 12 steps, the cell is right at more than 99 in 100 steps of sequences that
# are 100 steps long.
#
# It held in {{held tape_learns}} seeds. A batch without a mistake comes
# after {{latch/as shown/first without a mistake|range .0f}} updates. *Try* `hidden = 2`, and 1.
#
# Whatever is written with these four operations, and a few more, has its gradient. That is what the library gives you; the rest is
# names.

# %% [markdown]
# ### The same, from the library
#
# Most of NumPy you can keep, with `dim` for `axis`, `torch.stack` and `torch.cat`. Mind these:
#
# - `torch.tensor(a)` copies, and forgets the history: never inside a forward pass. `torch.from_numpy(a)` *shares* the memory.
# - `torch.zeros(n)` is **float32**. `x.new_zeros(n)` has the dtype of `x`.
# - `x.detach()` drops the history, and shares the memory. `x.item()` is a plain number.
# - `x.unsqueeze(0)` is `x[None]`; `x.transpose(0, 1)` swaps two axes.
# - `backward()` **adds** to `.grad`, so clear old gradients before a new pass. `with torch.no_grad():` keeps no history.

# %% [markdown]
# ## 2 · A layer of your own
#
# A **module** is a class that holds parameters and says how an output is computed:


# %%
class Layer(nn.Module):
    """The hidden layer of unit 03: x (N, D) -> h (N, H)."""

    def __init__(self, input_size, hidden_size):
        super().__init__()  # first of all, or nothing is registered
        drawn = torch.randn(input_size, hidden_size) / math.sqrt(input_size)
        self.U = nn.Parameter(drawn)
        self.b = nn.Parameter(torch.zeros(hidden_size))

    def forward(self, x):
        return torch.tanh(x @ self.U + self.b)


# %% tags=["experiment"]
layer = Layer(3, 2)
print("its parameters:", {name: tuple(p.shape) for name, p in layer.named_parameters()})
print("a call:", tuple(layer(torch.zeros(4, 3)).shape))

# %% [markdown]
# Whatever is assigned to `self` as an `nn.Parameter` is found by `parameters()`, by optimizers, and by `state_dict()`, the dict
# of all weights by name. A plain tensor is not: it would never be trained. You call the object, `layer(x)`, and it calls your
# `forward`.

# %% [markdown]
# ### Exercise 7.2 · `ScratchRNN`
# *●●○ · 25 minutes · 4 points*
#
# Write unit 03's cell as a module: `ScratchRNN(input_size, hidden_size)`, with exactly three parameters, `U (D, H)`, `W
# (H, H)`, `b (H,)`. PyTorch draws them uniformly between $-1/\sqrt H$ and $1/\sqrt H$; do likewise. `forward(x,
# h0=None)` works as `nn.RNN` does: `x` is `(T, N, D)`, and the answer is a pair,
#
# - `output (T, N, H)`, the states after each step;
# - `h_n (1, N, H)`, the last one once more. The first axis counts layers, of which there is one.
#
# `h0` is `(1, N, H)`, or None for zeros in the dtype of `x`. Gradients must flow back through all steps, to the three
# parameters, to `x` and to `h0`. You may not use `nn.RNN` or `nn.RNNCell`.
#
# By hand: with `U = [[0.5]]`, `W = [[2.0]]`, `b = [0.0]`, `x = [[[-1.0]], [[0.0]]]` and `h0 = [[[0.5]]]` the output is
# `[[[0.462]], [[0.728]]]`, and `h_n` is `[[[0.728]]]`.
#
# In the check, `outputs[0][1]` is the second thing that the first call returned.


# %% answer="ScratchRNN"
class ScratchRNN(nn.Module):
    """The recurrent cell over a sequence, with parameters U (D, H), W (H, H), b (H,) and the interface of nn.RNN."""

    def __init__(self, input_size, hidden_size):
        super().__init__()
        ### BEGIN SOLUTION
        bound = 1 / math.sqrt(hidden_size)
        self.U = nn.Parameter(torch.empty(input_size, hidden_size).uniform_(-bound, bound))
        self.W = nn.Parameter(torch.empty(hidden_size, hidden_size).uniform_(-bound, bound))
        self.b = nn.Parameter(torch.empty(hidden_size).uniform_(-bound, bound))
        ### END SOLUTION

    def forward(self, x, h0=None):
        """x (T, N, D), h0 (1, N, H) or None -> output (T, N, H), h_n (1, N, H)."""
        ### BEGIN SOLUTION
        h = x.new_zeros(x.shape[1], len(self.b)) if h0 is None else h0[0]
        states = []
        for x_t in x:
            h = torch.tanh(x_t @ self.U + h @ self.W + self.b)
            states.append(h)
        return torch.stack(states), h.unsqueeze(0)
        ### END SOLUTION


# %% check="ScratchRNN"
check(ScratchRNN)

# %% [markdown]
# A recurrent layer that learns, and no backward pass in sight. Its numbers start at $1/\sqrt H$ or less: larger ones
# would drive the tanh flat (unit 04). Zeros are the custom for `h0`; where a text goes on, take the state in which it
# stopped (section 6).

# %% [markdown]
# ## 3 · What PyTorch calls what
#
# PyTorch has this layer, `nn.RNN(input_size, hidden_size)`. It computes the same under other names, with its matrices
# transposed, and with one bias too many:
#
# - $U$: `weight_ih_l0` $(H, D)$ is $U^\top$. *ih* is input to hidden, *l0* is layer 0.
# - $W$: `weight_hh_l0` $(H, H)$ is $W^\top$, which the shape does not show.
# - $b$: `bias_ih_l0` + `bias_hh_l0`, $(H,)$ each. Only their sum counts.
# - $X$: `input` $(T, N, D)$, or $(N, T, D)$ with `batch_first=True`.
# - $h_0$: `h_0` $(1, N, H)$, in this order *also* with `batch_first=True`.
# - $h_1, \dots, h_T$: `output` $(T, N, H)$. There is no output layer in it.
# - $h_T$: `h_n` $(1, N, H)$. Its first axis counts layers.
#
# Weights go out as a dict, `rnn.state_dict()`, and come in with `rnn.load_state_dict(…)`. The latter *copies* into the parameters
# that are there, keeps their dtype, and complains when a name is missing or a shape is wrong.

# %% [markdown]
# ### Exercise 7.3 · `as_torch_rnn`
# *●●○ · 15 minutes · 3 points*
#
# Build the `nn.RNN` that computes the same as `U (D, H)`, `W (H, H)`, `b (H,)`. These may be NumPy arrays or tensors,
# or the parameters of a module. The result has their dtype (all three have the same) and its own copy of the numbers:
# training it must not change your arrays. How you split $b$ between its two biases is up to you.
#
# By hand: `U = [[1, 2]]`, `W = [[0, 3], [0, 0]]`, `b = [5, 6]`, so $D = 1$ and $H = 2$. Then `weight_ih_l0` is `[[1],
# [2]]`, `weight_hh_l0` is `[[0, 0], [3, 0]]`, and the two biases add up to `[5, 6]`.


# %% answer="as_torch_rnn"
def as_torch_rnn(U, W, b):
    """U (D, H), W (H, H), b (H,), arrays or tensors -> the nn.RNN that computes the same."""
    ### BEGIN SOLUTION
    U, W, b = (torch.as_tensor(a).detach() for a in (U, W, b))
    rnn = nn.RNN(*U.shape, dtype=U.dtype)
    rnn.load_state_dict({"weight_ih_l0": U.T, "weight_hh_l0": W.T, "bias_ih_l0": b, "bias_hh_l0": torch.zeros_like(b)})
    return rnn
    ### END SOLUTION


# %% check="as_torch_rnn"
check(as_torch_rnn)

# %% [markdown]
# Weights move between libraries in this way. The classic bug is the square matrix that nobody transposed.

# %% [markdown]
# ### Experiment · the same, and as fast?
#
# Your module and the `nn.RNN` that it becomes read the same 50 steps. Then both go forwards and back against the clock.
# So does your cell with one line changed: `x @ self.U + self.b` for all steps at once, before the loop.
#
# You wrote a loop in Python; they wrote C++. **Guess**: by what factor is theirs faster, at 16 units and at 256?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.torch_rnn import beside_torch, times_beside
from rnncourse.plots.torch_rnn import times_chart

sizes = (16, 64, 256)
Scratch = use(ScratchRNN)
differences = beside_torch(Scratch, use(as_torch_rnn))
for name, largest in differences.items():
    print(f"{name}: the largest difference is {largest:.0e}")
show(times_chart(sizes, times_beside(Scratch, sizes)))

# %% tags=["author"]
assert max(differences.values()) < 1e-10, "The states and gradients were expected to be those of nn.RNN."

# %% [markdown]
# The numbers are the same. As for C++, on a CPU that buys little, far from a factor of ten at any of these sizes. Both
# of you call the same products and the same tanh. (On a GPU a library that fuses the loop wins clearly.) But no loop
# can skip a step: $h_2$ waits for $h_1$.

# %% [markdown]
# ### Three traps with names
#
# **`output` or `h_n`?** With one layer, one direction and no padding, `output[-1]` and `h_n[0]` are the same. So who takes the wrong one
# is not told.
#
# **No batch axis.** `nn.RNN` also takes *one* sequence, $(T, D)$. So 20 sequences of 5 numbers, given as `(5, 20)`, are to an
# `nn.RNN(20, …)` one sequence of 5 steps.
#
# **`batch_first`.** Many data sets come as $(N, T, D)$. Nothing in the numbers says which axis is time. Here are five sequences,
# and the first of them is then changed. **Guess** what happens to the answers to the *other four*, read as $(T, N, D)$ and with
# `batch_first=True`.

# %% tags=["experiment"]
torch.manual_seed(2)
rows = torch.randn(5, 9, 4)  # N = 5 sequences of T = 9 steps: (N, T, D)
other = rows.clone()
other[0] += 1.0  # sequence 0 is another one, 1 to 4 are as before
moved = {}
for first in (False, True):
    rnn = nn.RNN(4, 6, batch_first=first)
    with torch.no_grad():
        moved[first] = (rnn(other)[0] - rnn(rows)[0]).abs().amax(dim=(1, 2))
    print(f"batch_first={first!s:5}", "  ".join(f"{d:.2f}" for d in moved[first]))

# %% tags=["author"]
assert (moved[False] > 1e-6).all(), "All answers were expected to move when sequences are taken for time."
assert (moved[True][1:] == 0).all(), "With batch_first the other answers were expected to stay."

# %% [markdown]
# Read as $(T, N, D)$, sequence 0 is taken for step 0, and all later steps feel it. The shape of the result is the same
# either way. This is the test to remember: **change the first sequence and see that the others stay as they are.**

# %% [markdown]
# ## 4 · A language model in three lines
#
# The model of unit 06 multiplied a one-hot row with $U$, which gives one *row of that matrix*:
#
#     [0, 0, 1] @ [[1, 2], [3, 4], [5, 6]] = [5, 6]
#
# So do not multiply, look up. `nn.Embedding(Q, E)` is that table for $Q$ symbols: ids of any shape go in, and each is replaced by
# its row of $E$ numbers, which are learned like all others. An `nn.RNN` reads the vectors, and a linear layer, `nn.Linear(H, Q)`,
# turns each state into $Q$ logits. It is our $h_t V + c$; it stores the matrix transposed.

# %% tags=["experiment"]
from rnncourse.plots.torch_rnn import char_model

show(char_model())

# %% [markdown]
# ### Exercise 7.4 · `CharRNN`
# *●○○ · 15 minutes · 3 points*
#
# Write the model. `CharRNN(vocabulary_size, embedding_size, hidden_size)` has three submodules, by these names:
# `embedding`, an `nn.Embedding`; `rnn`, an `nn.RNN`; `output`, an `nn.Linear`. `forward(ids, state=None)` takes ids
# `(T, N)` and gives `(logits, state)`: the logits `(T, N, Q)` of every step, before any softmax, where $Q$ is the
# vocabulary size, and the state `(1, N, H)` after the last step. Do not detach it: that is for the caller to do, as you
# will in section 6. Without a state it starts from zeros.


# %% answer="CharRNN"
class CharRNN(nn.Module):
    """A character language model: ids become vectors, vectors become states, states become logits."""

    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.RNN(embedding_size, hidden_size)
        self.output = nn.Linear(hidden_size, vocabulary_size)
        ### END SOLUTION

    def forward(self, ids, state=None):
        """ids (T, N), state (1, N, H) or None -> logits (T, N, Q), state (1, N, H)."""
        ### BEGIN SOLUTION
        states, state = self.rnn(self.embedding(ids), state)
        return self.output(states), state
        ### END SOLUTION


# %% check="CharRNN"
check(CharRNN)

# %% [markdown]
# ### See the shapes pass
#
# Most of what goes wrong with modules is a shape. A **hook** shows them: a function that a module calls with what went in and what came
# out.
#
# **Guess** the shapes that go in and out of `embedding`, `rnn` and `output` for ids `(7, 3)`, with $Q = 11$, $E = 4$ and $H = 6$.

# %% tags=["experiment"]


def tell(module, taken, given):
    """What a module was given and what it gives: of each tensor its shape."""
    given = given if isinstance(given, tuple) else (given,)
    before, after = ([tuple(t.shape) for t in some] for some in (taken, given))
    print(f"{type(module).__name__:9} {before} -> {after}")


model = use(CharRNN)(11, 4, 6)
for module in model.children():
    module.register_forward_hook(tell)
logits, _ = model(torch.zeros(7, 3, dtype=torch.int64), torch.zeros(1, 3, 6))

# %% tags=["author"]
assert logits.shape == (7, 3, 11), "Logits (T, N, Q) were expected."

# %% [markdown]
# Only the last axis changes.

# %% [markdown]
# ## 5 · Sequences of unequal length
#
# Words, sentences, songs, patients' records are not equally long. A tensor has no ragged edge, so short ones are filled up with zeros at
# the end, to the length of the longest. This is **padding**, and it must count for nothing.

# %% tags=["experiment"]
from rnncourse.plots.torch_rnn import padded_words

show(padded_words(["to", "remember", "the", "state"]))

# %% [markdown]
# Which entries are real? (the mask) What is the loss? And where is the *last* state of a sequence that ended early? (the frames)

# %% [markdown]
# ### Exercise 7.5 · `pad_sequences`
# *●●○ · 10 minutes · 2 points · optional*
#
# `sequences` is a list of tensors, of shapes `(T_0, …)`, `(T_1, …)` and so on: ids have no further axes, vectors have
# one. Return the pair `(padded, lengths)`. `padded` is `(T, N, …)` with T the greatest length: column n is sequence n,
# zeros below it, in the dtype of the sequences. `lengths` is an int64 tensor `(N,)`. You may not use
# `torch.nn.utils.rnn`.
#
# By hand: the sequences `[1, 2, 3]` and `[4]` give `[[1, 4], [2, 0], [3, 0]]` and `[3, 1]`.


# %% answer="pad_sequences"
def pad_sequences(sequences):
    """N tensors (T_n, ...) -> padded (T, N, ...), lengths (N,)."""
    ### BEGIN SOLUTION
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    padded = sequences[0].new_zeros(int(lengths.max()), len(sequences), *sequences[0].shape[1:])
    for n, sequence in enumerate(sequences):
        padded[: len(sequence), n] = sequence
    return padded, lengths
    ### END SOLUTION


# %% check="pad_sequences"
check(pad_sequences)

# %% [markdown]
# Once padded, only the lengths know which zeros are real.

# %% [markdown]
# ### Exercise 7.6 · `length_mask`
# *●○○ · 6 minutes · 1 point*
#
# `lengths (N,)` and a number of steps `T` give a tensor of truth values `(T, N)`: True where $t <$ the length of
# sequence $n$. T may be more than every length.
#
# By hand: lengths `[3, 1]` and `T = 4` give `[[True, True], [True, False], [True, False], [False, False]]`.


# %% answer="length_mask"
def length_mask(lengths, T):
    """lengths (N,), T -> mask (T, N), True at the real steps."""
    ### BEGIN SOLUTION
    return torch.arange(T)[:, None] < lengths
    ### END SOLUTION


# %% check="length_mask"
check(length_mask)

# %% [markdown]
# True means *real* in this course. Some of PyTorch's layers want masks in which True means *padding*.

# %% [markdown]
# ### The loss, without the padding
#
# The mean loss per token, over real tokens only:
#
# $$L = \frac{\sum_{t,n} m_{tn}\, L_{tn}}{\sum_{t,n} m_{tn}}$$
#
# *By hand*: two sequences of lengths 3 and 1 with the losses $1, 2, 3$ and $4$. That is $(1 + 2 + 3 + 4)/4 = 2.5$. The plausible
# alternatives are all wrong. Divided by all $T \cdot N = 6$ entries: $1.67$, and better the more you pad. The mean of the two
# sequences' means: $(2 + 4)/2 = 3$, where the lonely token counts three times as much as the others.

# %% [markdown]
# ### Exercise 7.7 · `masked_cross_entropy`
# *●●○ · 15 minutes · 2 points*
#
# `logits (T, N, Q)`, `targets (T, N)` and `mask (T, N)` give the mean of $-\log p(\text{target})$ over the entries
# where the mask is True, as a scalar tensor from which gradients flow back to the logits. The targets under the padding
# are valid ids and mean nothing; id 0 is a symbol like any other. You may use `nn.functional.cross_entropy`.
#
# By hand: all logits 0 and $Q = 4$ give $\log 4 = 1.386$, whatever the targets and the mask.


# %% answer="masked_cross_entropy"
def masked_cross_entropy(logits, targets, mask):
    """logits (T, N, Q), targets (T, N), mask (T, N) -> the mean loss over the real tokens."""
    ### BEGIN SOLUTION
    return nn.functional.cross_entropy(logits[mask], targets[mask])
    ### END SOLUTION


# %% check="masked_cross_entropy"
check(masked_cross_entropy)

# %% [markdown]
# ### The state, before the padding
#
# The network does not know that a sequence is over, and its state goes on changing. So `output[-1]` is the state after the last symbol
# for the longest sequence only, and for the others the state after some amount of nothing.

# %% [markdown]
# ### Exercise 7.8 · `last_states`
# *●●○ · 12 minutes · 2 points*
#
# From all states `H (T, N, H)` and `lengths (N,)`, each at least 1, pick for each sequence the state after its last
# real step: `(N, H)`. Gradients flow back to `H`.
#
# By hand: `H = [[[0], [1]], [[2], [3]], [[4], [5]]]` ($T = 3$, $N = 2$, one unit) and lengths `[3, 1]` give `[[4],
# [1]]`.


# %% answer="last_states"
def last_states(H, lengths):
    """H (T, N, H), lengths (N,) -> each sequence's state after its last real step (N, H)."""
    ### BEGIN SOLUTION
    return H[lengths - 1, torch.arange(H.shape[1])]
    ### END SOLUTION


# %% check="last_states"
check(last_states)

# %% [markdown]
# ### Experiment · what nothing does to a state
#
# 200 words from Python's documentation, spelled letter by letter, go through an untrained `nn.RNN` in one padded batch. **Guess**:
# how far does *one* step of padding move a state, measured by the distance between the last states of two different words: a
# tenth of it, a half, all of it?

# %% tags=["experiment", "nbval-ignore-output"] dials="zeros = True"
from rnncourse.experiments.torch_rnn import moved_by_padding
from rnncourse.plots.torch_rnn import padding_chart

zeros = False  # whether the padding's vector is all zeros
moved = moved_by_padding(use(pad_sequences), use(last_states), zeros)
show(padding_chart(moved))

# %% tags=["author"]
assert moved[0] == 0, "Without padding no distance was expected."
assert min(moved[2:]) > 0.5, "The padding was expected to move the state."

# %% [markdown]
# **Claim:** after two steps of padding the state is at least half as far from the true last state as two *different* words are
# from each other, and it stays so.
#
# It held in {{held padding_moves_the_state}} seeds. One step moves it by {{padding/as shown/one step|range .2f}} of that distance. A classifier that reads `output[-1]`
# looks at the padding, and nobody notices. *Try* `zeros = True`: does it help that nothing goes in?

# %% [markdown]
# ### Experiment · packed and padded
#
# PyTorch has another way out, **packing**: `pack_padded_sequence` lays all real steps one behind the other, time step by time
# step, and `nn.RNN` takes at each step only the rows that are still going on. First your way:

# %% tags=["experiment"]
from rnncourse.experiments.torch_rnn import gradient_difference, spelled

inputs, targets, lengths = spelled(use(pad_sequences))  # 40 words, (T, N)
torch.manual_seed(5)
model = use(CharRNN)(27, 16, 64).double()
H, _ = model.rnn(model.embedding(inputs))
mask = use(length_mask)(lengths, len(inputs))
loss = use(masked_cross_entropy)(model.output(H), targets, mask)
print(f"{inputs.numel()} steps computed, {(~mask).sum().item()} of them padding")

# %% [markdown]
# Now the other. **Guess** which of these will agree with what packing gives: your last states, `output[-1]`, your loss, your
# gradients.

# %% tags=["experiment", "nbval-ignore-output"]
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

packed = pack_padded_sequence(model.embedding(inputs), lengths, enforce_sorted=False)
H_packed, h_n = model.rnn(packed)  # nn.RNN never sees the padding
wanted = pack_padded_sequence(targets, lengths, enforce_sorted=False)
packed_loss = nn.functional.cross_entropy(model.output(H_packed.data), wanted.data)

away = {
    "last_states": (use(last_states)(H, lengths) - h_n[0]).abs().max().item(),
    "output[-1]": (H[-1] - h_n[0]).abs().max().item(),
    "loss": abs(loss.item() - packed_loss.item()),
    "gradients": gradient_difference(model, loss, packed_loss),
}
print(f"{len(H_packed.data)} steps computed; differences from packing:")
print(", ".join(f"{name} {difference:.0e}" for name, difference in away.items()))
unpacked, _ = pad_packed_sequence(H_packed)
print("largest state in the padding, unpacked:", unpacked[~mask].abs().max().item())

# %% tags=["author"]
assert max(away[name] for name in ("last_states", "loss", "gradients")) < 1e-10, "Rounding errors were expected."
assert away["output[-1]"] > 1e-2, "Another state than the last real one was expected."

# %% [markdown]
# All but `output[-1]`. The *real* states are not spoiled, since a later input never changes an earlier state
# ([unit 03](../03_cell/03_cell.ipynb)). Only what reads *from the end* must take care.
#
# Packing saves the wasted steps; a mask works with every model. After packing, `h_n` is right, and `output[-1]`, once unpacked, is zero
# for all but the longest.

# %% [markdown]
# ## 6 · A text without end
#
# A long text is read in batches that continue each other (`contiguous_batches`, unit 06). So the state at the end of one batch is
# the right start for the next. Hand it over *as it is*, though, and it brings its history, which `backward` has walked
# and dropped: an error. `state.detach()` is the value without the history. This is the truncated BPTT of
# [unit 05](../05_gradient_flow/05_gradient_flow.ipynb), in one word.

# %% tags=["experiment"]
from rnncourse.plots.torch_rnn import carried_state

show(carried_state())

# %% [markdown]
# For each batch there are the same four lines, in nearly every training program:
#
#     loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
#     optimizer.zero_grad()   # forget the gradients of the last update
#     loss.backward()         # all of unit 04
#     optimizer.step()        # a small step downhill
#
# `cross_entropy` takes *logits* (the softmax is inside) as (rows, classes), so time and batch are flattened into one axis. The optimizer
# will be `torch.optim.Adam(model.parameters(), lr=0.005)`. It keeps two running means for each parameter, of its gradient and of the
# gradient's square, and steps by the first divided by the root of the second.
#
# How good was an epoch? Batches may differ in size, so each batch's mean counts as often as it has tokens. *By hand*: a batch of 4
# tokens with a mean loss of $2$ and one of 2 tokens with $0.5$ make $(4 \cdot 2 + 2 \cdot 0.5)/6 = 1.5$ per token. The mean of the
# two means is $1.25$.

# %% [markdown]
# ### Exercise 7.9 · `train_epoch`
# *●●● · 30 minutes · 4 points*
#
# Go through `batches` once and train. Each batch is a pair `(inputs, targets)`, both `(T, N)`, where T may differ;
# `model(inputs, state)` gives `(logits, state)`, as your `CharRNN` does.
#
# - The state is None for the first batch. It is carried from each batch to the next, detached.
# - For each batch: minimise its *mean* loss per token. The gradients of all parameters are clipped together to the norm
#   `max_norm` (`nn.utils.clip_grad_norm_`), and `optimizer` makes the update. A `grad` of before does not count.
# - Return a float: the mean loss per token over all batches, each as it was when read.


# %% answer="train_epoch"
def train_epoch(model, batches, optimizer, max_norm):
    """Train on each batch once, in order; return the mean loss per token over all of them."""
    ### BEGIN SOLUTION
    state, total, tokens = None, 0.0, 0
    for inputs, targets in batches:
        logits, state = model(inputs, state)
        state = state.detach()
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        total += loss.item() * targets.numel()
        tokens += targets.numel()
    return total / tokens
    ### END SOLUTION


# %% check="train_epoch"
check(train_epoch)

# %% [markdown]
# These lines train any model whose state is one tensor.

# %% [markdown]
# ### Experiment · Python's documentation, learned
#
# A network of 96 units reads 60,000 characters of Python's documentation three times, and is judged on other topics. A character that
# the training text has not becomes `UNKNOWN`, and counts. Beside it stand unit 06's opponents, Kneser–Ney's n-grams, which read the same
# text. **Guess**: between which two of them, from 1 to 5, will the network end?

# %% tags=["experiment", "nbval-ignore-output"] dials="carried = False; epochs = 1"
from rnncourse.experiments.torch_rnn import docs_counted, trained_writer
from rnncourse.plots.torch_rnn import beside_counting

epochs = 3
carried = True  # whether the state goes on from batch to batch
settings = {"epochs": epochs, "carried": carried}
writer, bits = trained_writer(use(CharRNN), use(train_epoch), **settings)
show(beside_counting(bits, docs_counted()))
last = bits["held out"][-1]
print("held out, bits:", beside("07_torch_rnn:writer/as shown/bits", last))

# %% tags=["author"]
assert epochs < 3 or docs_counted()[3] + 0.3 < last < docs_counted()[1] - 0.5, (
    "A score between 2-gram and 4-gram was expected."
)

# %% [markdown]
# **Claim:** after three epochs over 60,000 characters, the network beats Kneser–Ney's 2-gram by more than half a bit per
# character, and loses to Kneser–Ney's 4-gram by more than 0.3 bits.
#
# It held in {{held between_the_tables}} seeds. It ends near the 3-gram. Its memory is what beats the 2-gram: with a
# state of zeros at each character it ends at {{writer/no memory/bits|median}} bits. At this budget a good table of
# counts wins, as in unit 06. *Try* `carried = False`: in training each batch of 32 steps starts from zeros. How much
# worse does it learn?

# %% [markdown]
# ## 7 · Words, and vectors that come from elsewhere
#
# Nothing in your model says that an id is a character. Let it be a **word**: one of the 800 most frequent in 15,000
# words of documentation, `<unk>` for the rest. Most words are rare. How should a network know, from a sentence or two,
# what a word is like?
#
# It could have been told before. A **pre-trained embedding** is a table of vectors made from a longer text. Ours comes from the docstrings
# of Python's library, more than twenty times as many words: it counts which neighbours each of 2,000 words has, and keeps the 32 strongest
# directions of these counts. Words with the same neighbours have vectors that point the same way. **Guess** the neighbours of *three* and
# of *true*:

# %% tags=["experiment"] dials="asked = (\"list\", \"open\")"
from rnncourse.data import word_vectors

asked = ("three", "file", "true", "month", "error")
table = word_vectors()
for word in asked:
    near = table.nearest(word, 5) if word in table.words else ["not in the table"]
    print(f"{word:>7}:", ", ".join(near))

# %% tags=["author"]
assert "four" in table.nearest("three", 3), "A number was expected beside a number."

# %% [markdown]
# *true* and *false* stand in the same places. The table knows where words stand, not what they mean. *Try* words of your own.
#
# ### Experiment · do the vectors help?
#
# Two networks read the same 15,000 words. In one all vectors are drawn at random and **trained here**; in the other they start **from the
# table** and are trained on. Their opponents are Kneser–Ney's n-grams. 2,000 words more decide when to stop, and choose the discounts.
#
# The 5,000 words to be judged on come from other topics, and still some sentences stand in both texts. A word in a run
# of twelve that was also read does not count, for anybody. **Guess** the order: 4-gram, trained here, from the table.

# %% tags=["experiment", "nbval-ignore-output"] dials="starts = (\"table shuffled\",)"
from rnncourse.experiments.torch_rnn import (
    some_words,
    trained_words,
    words_counted,
    words_judged,
    words_measured,
)
from rnncourse.plots.torch_rnn import perplexity_bars

starts = ("trained here", "from the table")
print(f"{1 - some_words().new.mean():.1%} of the words stand in such a run")
judged = {}
for start in track(starts, "words"):
    judged[start] = words_judged(trained_words(start, use(CharRNN), use(train_epoch)))
perplexities = {f"{n}-gram": p for n, p in words_counted().items()}
perplexities |= {start: numbers["network"] for start, numbers in judged.items()}
show(perplexity_bars(perplexities, words_measured("network")))

# %% tags=["author"]
assert perplexities["4-gram"] < min(perplexities[start] for start in starts), "Counting was expected to win."

# %% [markdown]
# **Claim:** Kneser–Ney's 4-gram has a lower perplexity than the network, wherever its vectors come from.
#
# It held in {{held counting_wins}} seeds: on these words, alone, counting wins. Do the vectors help at all?
#
# **Claim:** started from the table the network has a lower perplexity than with vectors trained here, and than from a table whose
# vectors are shuffled among the words.
#
# It held in {{held from_the_table}} seeds. The medians are {{word_vectors/from the table/network|median .1f}} from the
# table, {{word_vectors/trained here/network|median .1f}} trained here,
# {{word_vectors/table shuffled/network|median .1f}} shuffled: the vectors help, but less than another seed may. *Try*
# `starts = ("table shuffled",)`: the same numbers, and nothing that they know.

# %% [markdown]
# ### Experiment · then what is the network for?
#
# Let both speak: $P = s\,P_{\text{network}} + (1 - s)\,P_{\text{4-gram}}$, with the share $s$ that is best on the 2,000 words. If the
# network knows only what the counts know, and worse, then $s = 0$. **Guess** $s$, and the perplexity of the two together.

# %% tags=["experiment", "nbval-ignore-output"]
start = starts[-1]
print(f"the share of the network: {judged[start]['share']:.2f}")
together = {"4-gram": perplexities["4-gram"], start: perplexities[start]}
together["both"] = judged[start]["both"]
show(perplexity_bars(together, {"both": words_measured("both")["from the table"]}))

# %% tags=["author"]
assert together["both"] < 0.95 * together["4-gram"], "The two together were expected to be better than either."

# %% [markdown]
# **Claim:** mixed with the 4-gram, in a share that validation chooses, the network from the table takes more than 5% off the 4-gram's
# perplexity.
#
# It held in {{held both_together}} seeds. What the network knows is not what the counts know.
#
# Was that fair? The vectors know a longer text. A 4-gram that counts this text, too, mixed with ours, reaches
# {{word_vectors/from the table/counts and docstrings|median .0f}} without any network, and
# {{word_vectors/from the table/all three|median .0f}} with it. So if you *have* the longer text, count it. A table of vectors is for those
# who have only the table, and a network is worth its share in the mixture.

# %% [markdown]
# ## 8 · Save, load, go on
#
# A long training will be interrupted. What must be saved so that it can go on *as if nothing had happened*? The weights:
# `model.state_dict()`. But Adam keeps its two means for each weight, and a fresh Adam has forgotten them: `optimizer.state_dict()`. (With
# dropout, also the random generators.)
#
# We train for 80 updates, save, and go on for 36. **Guess**: with a new Adam, is the loss the same, a little worse throughout, worse
# only at first, or neither?

# %% tags=["experiment"]
from pathlib import Path
from tempfile import TemporaryDirectory

from rnncourse.experiments.torch_rnn import (
    after_the_break,
    before_the_break,
    new_training,
)
from rnncourse.plots.torch_rnn import interrupted_chart

Model, epoch = use(CharRNN), use(train_epoch)
model, optimizer = new_training(Model)
before_the_break(model, optimizer, epoch)
with TemporaryDirectory() as folder:
    file = Path(folder) / "training.pt"
    both = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(both, file)
    saved = torch.load(file)
losses = {"undisturbed": after_the_break(model, optimizer, epoch)}
for name in ("resumed", "resumed with\na new Adam"):
    again, its_optimizer = new_training(Model)
    again.load_state_dict(saved["model"])
    if name == "resumed":
        its_optimizer.load_state_dict(saved["optimizer"])
    losses[name] = after_the_break(again, its_optimizer, epoch)
show(interrupted_chart(losses))

# %% tags=["author"]
off = {name: np.abs(line - losses["undisturbed"]).max() for name, line in losses.items()}
assert off["resumed"] < 1e-9, "The resumed training was expected to be the undisturbed one."
assert off["resumed with\na new Adam"] > 0.01, "Other losses were expected with a new Adam."

# %% [markdown]
# **Claim:** with both dicts the resumed training is the undisturbed one, number for number. With the weights alone it is not.
#
# It held in {{held goes_on_as_if_nothing_had_happened}} seeds. With the new Adam it is another run, now above, now below: you could no
# longer tell whether some change of yours had helped. (Plain gradient descent keeps nothing, and needs the weights alone.)
#
# Save dicts, not whole objects, which need the very same class to come back. And load other people's files only as `torch.load` does by
# default, as plain weights: a pickled object can run any code.

# %% [markdown]
# ## 9 · Bugs that PyTorch does not report
#
# A state that is not detached gives an error on the second batch. These two give none.
#
# **The class axis.** `cross_entropy` wants the classes on axis 1. Ours are on the last; that is why we flatten. If you forget, logits
# $(T, N, Q)$ with targets $(T, N)$ are an error, unless $N = Q$: then the *sequences* are taken for the classes.
#
# **`zero_grad`.** Without it each update follows the sum of all gradients so far.
#
# Four words of four different letters, so that $N = Q = 4$, and three programs: the right one, and one for each bug. **Guess**: which can
# you tell apart by the loss that they report? And who learns to spell?

# %% tags=["experiment", "nbval-ignore-output"] dials="rate = 0.1"
from rnncourse.experiments.torch_rnn import PROGRAMS, SPELLED, trained_with
from rnncourse.plots.torch_rnn import reported_losses

rate = 0.5
losses, spells = {}, {}
for program in PROGRAMS:
    losses[program], spells[program] = trained_with(program, use(CharRNN), rate)
show(reported_losses(losses))
for program, right in spells.items():
    print(f"{program:26} {right:.0%} of the letters of {', '.join(SPELLED)}")

# %% tags=["author"]
if rate == 0.5:
    assert all(min(losses[p]) < losses[p][0] / 3 for p in PROGRAMS), "Each loss was expected to fall below a third."
    assert spells["right"] == 1 > 0.9 > max(spells[p] for p in PROGRAMS[1:]), "Only one was expected to spell."

# %% [markdown]
# **Claim:** with the right program, and with either bug, the reported loss falls below a third of what it was at first. Only the right
# one learns to spell.
#
# It held in {{held three_programs}} seeds. With the wrong axis, the program has learned in which *row of the batch* each logit has to be
# largest. The one without `zero_grad` is the *best* of the three for a while, and then leaps. So look at
# what a model says, not only at its loss. *Try* a rate of 0.1: when does it leap there?
#
# A list to go through when a loss stands still, or falls too well:
#
# - Logits or probabilities? With two softmaxes the loss stops far above 0.
# - The class axis; time and batch; `output[-1]` or `h_n`; what stands in the padding.
# - `zero_grad`, `backward`, clip, `step`: in this order.
# - The state: carried, or None where a new text begins; detached between batches.
# - `loss.item()` where you add up losses: the tensor itself holds its batch's graph.

# %% [markdown]
# ## 10 · What you have
#
# A program can take the forward pass alone and do the rest: 25 lines of yours do.
#
# - `weight_ih_l0` is $U^\top$, `weight_hh_l0` is $W^\top$, and two biases make one. `output` has all states, `h_n` the last.
# - Unequal lengths: pad, mask, divide by the real tokens, take each row's own last state; or pack.
# - A long text: carry the state, detached; weigh each batch by its tokens.
# - On 15,000 words a tuned table of counts beats the network. The two together beat both.
# - To go on after a break you need the model's *and* the optimizer's state.

# %% [markdown] written="torch_rnn_written" points=3
# ### Written question
# *3 points, graded by hand; five to eight sentences*
#
# A classmate classifies reviews with this program. It runs, and its loss falls.
#
#     padded, lengths = pad_sequences(reviews)                # (T, N)
#     for epoch in range(20):
#         output, h_n = rnn(embedding(padded))
#         logits = classifier(output[-1])                     # (N, 2)
#         loss = nn.functional.cross_entropy(torch.softmax(logits, dim=1), labels)
#         loss.backward()
#         optimizer.step()
#
# **(a)** Find three mistakes; for each of them say what it does to the training or to the answer. **(b)** Choose one
# and describe a test that would have found it: what you would change or measure, and what you would see.
#
# ### BEGIN SOLUTION
# **Model answer.** (a) `output[-1]` is the state after the padding for all but the longest reviews: the classifier sees
# what is left of the review after many steps of nothing, and its answer depends on how long the *other* reviews of the
# batch are. `last_states(output, lengths)`, or packing and `h_n[0]`, is what is meant. The softmax comes twice, as
# `cross_entropy` takes logits: what goes into the second one lies between 0 and 1, so the loss cannot fall below
# $\log(1 + e^{-1}) = 0.31$ and the gradients are small. `zero_grad` is missing: each update follows the sum of all
# gradients so far, the steps grow, and the loss will swing or leap. (b) For the padding: run one review alone, and
# again in a batch with a long one; its logits must be the same, and here they are not. (For the softmax: train on two
# reviews until they are known by heart; the loss must go to 0 and stays above 0.31. For `zero_grad`: run `backward`
# twice on the same batch without a step; the gradient doubles.)
#
# **Rubric.** 1½ points: ½ for each of the three mistakes with its effect (¼ without the effect). 1½ points: a test that
# can be carried out (½), that tells right from wrong for the mistake chosen (½), with what would be seen in both cases
# (½). Also accept a missing `model.train()`/`eval()` only as an extra, not as one of the three: nothing here depends on
# it.
# ### END SOLUTION

# %% [markdown]
# ## Where to read on
#
# - The documentation of `torch.nn.RNN`, and its page "Autograd mechanics".
# - A. G. Baydin et al., "Automatic Differentiation in Machine Learning: a Survey", *JMLR* 18, 2018; A. Karpathy's *micrograd*.
# - A. Karpathy, "A Recipe for Training Neural Networks", 2019: how to distrust your own program.
# - O. Levy, Y. Goldberg, *NIPS* 2014: word vectors by counting.
# - T. Mikolov et al., "Recurrent Neural Network Based Language Model", *Interspeech* 2010: networks and n-grams mixed.

# %% [markdown]
# ## Something to show to somebody
#
# Section 1 first: a network that learned on 25 lines of yours. Then this page, after four more readings of the documentation by the network
# of section 6. *Try* another prompt, and a temperature between 0.1 and 1.5.

# %% tags=["experiment", "nbval-ignore-output"] dials="temperature = 0.1; temperature = 1.5"
from rnncourse.experiments.torch_rnn import docs, written

prompt = "The function "
temperature = 0.7
epoch, slower = use(train_epoch), torch.optim.Adam(writer.parameters(), lr=0.002)
for _ in track(range(4), "more readings"):
    epoch(writer, docs().batches, slower, 1.0)
print(" ".join(written(writer, prompt, 500, temperature).split()))

# %% tags=["experiment"]
progress("07_torch_rnn")

# %% [markdown]
# ## The question that this unit leaves open
#
# Look at the names once more: `weight_ih_l0`, layer *zero*. The states of your network are a sequence of vectors, as its inputs are. So
# a second network could read the states of the first, and a third
# those of the second. **What does a network gain by depth, when it already has depth in time?** That is
# [unit 08](../08_stacked/08_stacked.ipynb).
