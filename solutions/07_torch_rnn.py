# %% [markdown]
# # 07 · The same in PyTorch
#
# **After this unit you can**
#
# - build what autograd is made of, a tape, in 25 lines, and say what PyTorch does when you write `backward()`;
# - write a recurrent layer as an `nn.Module`, and turn it into PyTorch's own `nn.RNN` and back;
# - say what every number in an `nn.RNN` is called, and which of its two answers you want;
# - batch sequences of unequal length so that the padding counts for nothing;
# - train on a long text with a state that is carried, save the training in the middle, and go on as if nothing had
#   happened;
# - find the bugs that PyTorch does not report.
#
# **It takes** about five hours if PyTorch is new to you, in two sittings: sections 1 to 3, and the rest. **You should
# know** units 03 and 04 (the cell, its backward pass), clipping from unit 05, and the character model of unit 06. There are
# nine exercises and one written question, 30 points in all. What is marked *optional* is not needed later.

# %% [markdown]
# ## The question that was left open
#
# The language model of unit 06 is yours to the last derivative. That is its strength, and it is what makes the next
# idea expensive. Put a second layer on top, or a gate inside: each time the backward pass must be derived anew,
# programmed, and checked against differences.
#
# But look back at unit 04. Every rule there was local: how an error passes a product, a sum, a tanh. The order was that
# of the forward pass, reversed. None of it needed *you*. **Can a program take the forward pass alone and do the rest?**

# %% locked="setup"
import math

import numpy as np
import torch
from torch import nn

from rnncourse import check, hint, progress, track, use
from rnncourse.bptt import rnn_backward
from rnncourse.cell import rnn_forward
from rnncourse.language_model import build_vocabulary, contiguous_batches, decode, encode

torch.set_num_threads(1)  # for products as small as ours a second thread costs more than it brings

# %% tags=["experiment"]
progress("07_torch_rnn")

# %% [markdown]
# ## 1 · Arrays that remember where they came from
#
# A **tensor** is an array with one more ability: if you ask for it (`requires_grad=True`), whatever is computed from it
# remembers which operation made it, and from which tensors. Run the forward pass and you have built the graph of unit 04.
# `backward()` walks it the other way, and leaves the gradient of the loss in the `.grad` of each tensor that you asked for.
#
# You know an example with all its numbers from unit 04: one unit, two steps, $U = 0.5$, $W = 2$, $b = 0$, $h_0 = 0.5$,
# inputs $-1$ and $0$. The states are $0.462$ and $0.728$. With an error of 1 at each state, the gradient was $dW =
# 0.980$. You worked for it. Now watch:

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
assert abs(W.grad.item() - 0.980) < 1e-3, "Expected the dW that was worked out by hand in unit 04, 0.980."

# %% [markdown]
# No derivative was written. There is no magic in it either: `TanhBackward0` is your $da = dh \odot (1 - h^2)$, and the
# sum over all the ways that lead to $W$ is your `+=`.

# %% [markdown]
# ### A tape of your own
#
# How much code is that? Less than you think. For it to work, three things must be remembered of each result: its **data**;
# **what it was made of**; and, for each of these parts, **how an error here becomes an error there**. You derived these ways
# in unit 04. With $e$ for the error at the result:
#
# | result | its parts get |
# |---|---|
# | $A + B$ | $e$ and $e$; a row $(H,)$ that was added to rows $(N, H)$ gets the sum of $e$ over the rows |
# | $A B$ | $e B^\top$ and $A^\top e$ |
# | $\tanh A = H$ | $e \odot (1 - H \odot H)$ |
# | $\sum A$ | $e$, the same number at each entry |
#
# On the way back each result must wait until all errors have reached it, from everything that was made of it. That order needs
# no search: number the results as they are made, and go from the highest number to the lowest. What was made of a thing is
# younger than the thing. This list of results in their order is called a **tape**; going back is rewinding it.
#
# *By hand*: $x = 0.5$, $h = \tanh x = 0.462$, and $L = h + h$. The tape is: 0: x, 1: h, 2: L. Backwards: L has the error 1. It
# was made of h twice, so h gets $1 + 1 = 2$. x gets $2\,(1 - 0.462^2) = 1.573$. Had you handed on h's error after the first of
# the two, x would have got half of it.

# %% tags=["experiment"]
from rnncourse.plots import line_chart, show
from rnncourse.plots.torch_rnn import tape

show(
    tape(),
    alt="Three boxes in a row: number 0, x = 0.5; number 1, h = 0.462; number 2, L = 0.924. An arrow tanh leads from x to h, and "
    "two arrows lead from h to L. Below, dashed, the errors: L has 1, h gets 1 + 1 = 2, x gets 2 (1 - 0.462²) = 1.573.",
)

# %% [markdown]
# ### Exercise 7.1 · `Var`
# *●●● · 40 minutes · 6 points*
#
# Write the tape, in NumPy. `Var(data)` holds an array: `data`, in float64 whatever it comes in, and `grad`, an array of the
# same shape, zeros at first. There are four operations, each of which gives a new `Var`:
#
# - `+` of two of one shape, or of a row $(H,)$ and rows $(N, H)$, in either order;
# - `@` of two matrices;
# - `tanh()`, entry by entry;
# - `sum()` of all entries, of shape `()`.
#
# Of `+` and `@`, **either side may be an array**: `as_var`, which is given, makes a `Var` of it. (`array + Var` asks Var's
# `__radd__`, thanks to the line with `__array_ufunc__`; `array @ Var` asks `__rmatmul__`.)
#
# `backward()`, called on a single number $L$, adds $\partial L / \partial v$ to the `grad` of each `Var` $v$ that $L$ was made
# of, those on the way and $L$ itself included. It **adds**: what is used twice gets both parts, and calling it twice doubles
# all. So keep the errors of this pass apart from what `grad` had before.
#
#     x = Var([[0.5]]); h = x.tanh(); L = (h + h).sum(); L.backward()      gives
#     L.grad = 1, h.grad = [[2]], x.grad = [[1.573]]
#
# The check runs small programs with your class, and compares `data` and `grad` of all that they make.


# %%
def as_var(value):
    """A Var as it is, anything else as a Var."""
    return value if isinstance(value, Var) else Var(value)


# %% answer="Var"
class Var:
    """An array that remembers how it was made."""

    __array_ufunc__ = None  # so that `array + Var` asks Var, and does not add entry by entry
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
# In unit 04 it took you an evening to bring the error of a whole sequence back through time. Now write the forward pass, as
# if there were no gradients, and let the tape do the rest. The very same lines also run with PyTorch's tensors. **Guess
# first**: will the three agree to three digits, to six, or to nearly all that float64 has?
#
# **Claim:** for 30 steps the gradients of $U$, $W$, $b$, $h_0$ and of each input are those of `rnn_backward`, to ten
# digits: those from your tape, and those that PyTorch finds.

# %% tags=["experiment", "nbval-ignore-output"]
Tape = use(Var)
rng = np.random.default_rng(0)
T, N, D, H, Q = 30, 4, 5, 8, 3
X, h0, V = rng.normal(size=(T, N, D)), rng.normal(size=(N, H)), rng.normal(size=(T, H, Q))
U, W, b = rng.normal(size=(D, H)) / D**0.5, rng.normal(size=(H, H)) / H**0.5, rng.normal(size=H)


def found_by(kind):
    """dX, dh0, dU, dW, db, as arrays of this kind find them: the error of each row of h_t is the sum of V_t's columns."""
    inputs, start, U_in, W_h, bias = [kind(x) for x in X], *map(kind, (h0, U, W, b))
    h, total = start, 0.0
    for x, V_t in zip(inputs, map(kind, V)):
        h = (x @ U_in + h @ W_h + bias).tanh()
        total = (h @ V_t).sum() + total
    total.backward()
    return [np.stack([x.grad for x in inputs]), *(np.asarray(v.grad) for v in (start, U_in, W_h, bias))]


dH = np.ones((T, N, Q)) @ V.swapaxes(1, 2)
by_hand = rnn_backward(dH, X, h0, rnn_forward(X, h0, U, W, b), U, W)
on_tape, in_torch = found_by(Tape), found_by(lambda array: torch.tensor(array, requires_grad=True))
print("largest difference from rnn_backward, as a share of the largest entry")
for name, expected, *found in zip(("dX", "dh0", "dU", "dW", "db"), by_hand, on_tape, in_torch, strict=True):
    off = [np.abs(g - expected).max() / np.abs(expected).max() for g in found]
    print(f"{name:4} {expected.shape!s:12} your tape {off[0]:.0e}   PyTorch {off[1]:.0e}")
    assert max(off) < 1e-10, f"Expected {name} to agree to ten digits. Has Var passed its check?"

# %% [markdown]
# Nobody derived anything this time, and nobody ever will again. A GRU, an attention, whatever can be written with these four
# operations and a few more: its gradient is there as soon as it is written. The price is memory: the tape keeps every
# result until the way back is done, which is what unit 04 measured.
#
# ### The same, from the library

# Most of NumPy you can keep. This is what is different:
#
# | NumPy | PyTorch | mind |
# |---|---|---|
# | `np.array(a)` | `torch.tensor(a)` | copies, and forgets the history: never inside a forward pass |
# | | `torch.as_tensor(a)`, `torch.from_numpy(a)` | *shares* the array's memory |
# | `np.zeros(n)` is float64 | `torch.zeros(n)` is **float32** | `x.new_zeros(n)` has the dtype of `x` |
# | `axis=0` | `dim=0` | |
# | `A.T` | `A.T`, `A.transpose(0, 1)` | for more than two axes, name the two |
# | `np.stack`, `np.concatenate` | `torch.stack`, `torch.cat` | |
# | `x[None]` | `x[None]`, `x.unsqueeze(0)` | |
# | `x.copy()` | `x.clone()` | keeps the history |
# | | `x.detach()` | drops the history, shares the memory |
# | `float(x)` | `x.item()` | a plain number: nothing flows back from it |
#
# And two habits. `backward()` **adds** to `.grad`, so old gradients must be cleared before a new pass. And where no
# gradient is wanted, say so: `with torch.no_grad():` saves the memory that unit 04 found to grow with $T$.

# %% [markdown]
# ## 2 · A layer of your own
#
# A **module** is a class that holds parameters and says how an output is computed:


# %%
class Layer(nn.Module):
    """The hidden layer of unit 03: x (N, D) -> h (N, H)."""

    def __init__(self, input_size, hidden_size):
        super().__init__()  # first of all, or nothing is registered
        self.U = nn.Parameter(torch.randn(input_size, hidden_size) / math.sqrt(input_size))
        self.b = nn.Parameter(torch.zeros(hidden_size))

    def forward(self, x):
        return torch.tanh(x @ self.U + self.b)


layer = Layer(3, 2)
print("its parameters:", {name: tuple(p.shape) for name, p in layer.named_parameters()})
print("a call:", tuple(layer(torch.zeros(4, 3)).shape))

# %% [markdown]
# Whatever is assigned to `self` as an `nn.Parameter` is found by `parameters()`, by optimizers, by `state_dict()`, the
# dict of all weights by name. A plain tensor is not: it would never be trained. You call the object, `layer(x)`, and it
# calls your `forward`.

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
# The check looks at how a new module draws its parameters. Then it loads its own numbers into them, calls the module a
# few times and compares. Where it speaks of `outputs[0][1]`, it means the second thing that the first call returned.


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
# A recurrent layer that learns, and no backward pass in sight.
#
# **Where do the parameters start?** At about $1/\sqrt H$, for unit 04's reason: a step shall keep the size of a state. Numbers
# drawn uniformly between $-a$ and $a$ have a standard deviation of $a/\sqrt 3$, so PyTorch starts a little smaller, at
# $0.58/\sqrt H$. In programs you will also meet `nn.init.xavier_uniform_` (Glorot and Bengio, 2010): it draws an $(m, n)$ matrix
# between $\pm\sqrt{6/(m + n)}$, a standard deviation of $\sqrt{2/(m + n)}$, so that neither the sums forwards nor the
# errors backwards grow or shrink much. For a square $W$ that is $1/\sqrt H$. The choice between the two is a small one.
# That there is such a factor is not: the model of section 6 ends at {{writer/as shown/bits|median}} bits per character with
# PyTorch's start, at {{writer/xavier_uniform_/bits|median}} with Xavier's, at {{writer/a tenth/bits|median}} with a tenth
# of PyTorch's, and at {{writer/size 1/bits|median}} with entries of size 1.
#
# **What may `h0` be?** Zeros are the custom. It can also be an `nn.Parameter`, since gradients reach it, or be drawn at
# random. We trained networks to spell words from their first letter, where nothing but `h0` marks the beginning. Their loss
# per letter on words that they had not read: {{first_state/zeros/loss}} from zeros, {{first_state/learned/loss}} from a
# learned `h0`, {{first_state/random/loss}} from one drawn anew for each word. So a learned `h0` brought nothing that shows,
# and a random one costs a little, most of it at the first letter. Take zeros, unless you know better; and where a text goes
# on, take the state in which it stopped (section 6).

# %% [markdown]
# ## 3 · What PyTorch calls what
#
# PyTorch has this layer, `nn.RNN(input_size, hidden_size)`. It computes the same under other names, with its matrices
# transposed, and with one bias too many:
#
# | here | shape | in `nn.RNN` | shape | |
# |---|---|---|---|---|
# | $U$ | $(D, H)$ | `weight_ih_l0` | $(H, D)$ | is $U^\top$: *ih* is input to hidden, *l0* layer 0 |
# | $W$ | $(H, H)$ | `weight_hh_l0` | $(H, H)$ | is $W^\top$, which the shape does not show |
# | $b$ | $(H,)$ | `bias_ih_l0` + `bias_hh_l0` | $(H,)$ each | only their sum counts |
# | $X$ | $(T, N, D)$ | `input` | $(T, N, D)$ | $(N, T, D)$ with `batch_first=True` |
# | $h_0$ | $(N, H)$ | `h_0` | $(1, N, H)$ | this order *also* with `batch_first=True` |
# | $h_1, \dots, h_T$ | $(T, N, H)$ | `output` | $(T, N, H)$ | all states of the top layer; no output layer is in it |
# | $h_T$ | $(N, H)$ | `h_n` | $(1, N, H)$ | the last state of each layer |
#
# So PyTorch's formula reads $h_t = \tanh(x_t A^\top + a + h_{t-1} B^\top + b')$, with `weight_ih_l0` for $A$,
# `weight_hh_l0` for $B$, and the two biases $a$ and $b'$. There are two as a courtesy to the GPU library below. Since only
# their sum counts, one of them would do.
#
# A module's weights go out as a dict, `rnn.state_dict()`, and come in with `rnn.load_state_dict(…)`. The latter
# *copies* into the parameters that are there, keeps their dtype, and complains when a name is missing or a shape is
# wrong.

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
# You can move a trained network between your code and theirs, in either direction. Weights are moved between any two
# libraries in just this way, and the classic bug is the square matrix that nobody transposed.

# %% [markdown]
# ### Experiment · is theirs the same as yours?
#
# **Claim:** in float64 your module and `nn.RNN` give the same states, the same last state and the same gradient of the
# input, to $10^{-10}$.

# %% tags=["experiment", "nbval-ignore-output"]
Scratch, convert = use(ScratchRNN), use(as_torch_rnn)
torch.manual_seed(1)
mine = Scratch(7, 16).double()
theirs = convert(mine.U, mine.W, mine.b)
x, h0 = torch.randn(50, 3, 7, dtype=torch.float64), torch.randn(1, 3, 16, dtype=torch.float64)
weights = torch.randn(50, 3, 16, dtype=torch.float64)
results = []
for rnn in (mine, theirs):
    x_in = x.clone().requires_grad_()
    output, h_n = rnn(x_in, h0)
    (output * weights).sum().backward()
    results.append((output, h_n, x_in.grad))
for name, a, b in zip(("output", "h_n", "gradient of x"), *results, strict=True):
    difference = (a - b).abs().max().item()
    print(f"{name:14} {tuple(a.shape)!s:12} largest difference {difference:.0e}")
    assert difference < 1e-10, f"Expected the same {name}. Have ScratchRNN and as_torch_rnn passed their checks?"

# %% [markdown]
# ### Experiment · is theirs faster?
#
# You wrote a Python loop; they wrote C++. **Guess first**: by how much is theirs faster? As measured here, on a CPU that
# buys little, far from a factor of ten at any of these sizes.
#
# The picture shows the time of a forward and a backward pass over 50 steps in units of what `nn.RNN` takes, on your machine
# and with whatever else it is doing. "One product" is your cell with one change: `x @ self.U + self.b` is computed before
# the loop, for all steps at once. **Claim:** that changes no state by more than rounding does.

# %% tags=["experiment", "nbval-ignore-output"]
from time import perf_counter


class OneProduct(nn.Module):
    """ScratchRNN with the inputs of all steps projected before the loop."""

    def __init__(self, cell):
        super().__init__()
        self.U, self.W, self.b = cell.U, cell.W, cell.b

    def forward(self, x, h0=None):
        h, states = x.new_zeros(x.shape[1], len(self.b)), []
        for projected in x @ self.U + self.b:
            h = torch.tanh(projected + h @ self.W)
            states.append(h)
        return torch.stack(states), h[None]


def seconds(rnn, x):
    start = perf_counter()
    rnn(x)[0].sum().backward()
    return perf_counter() - start


sizes = (16, 64, 256)
ratios = {"as in 7.2": [], "one product": [], "nn.RNN": []}
for H in sizes:
    x, cell = torch.randn(50, 16, H), Scratch(H, H)
    rnns = (cell, OneProduct(cell), nn.RNN(H, H))
    difference = (rnns[0](x)[0] - rnns[1](x)[0]).abs().max().item()
    assert difference < 1e-4, "Expected the same states from both loops. Has ScratchRNN passed its check?"
    times = np.array([[seconds(rnn, x) for rnn in rnns] for _ in range(30)]).min(axis=0)  # in turns; the best of each
    for name, t in zip(ratios, times / times[-1], strict=True):
        ratios[name].append(t)

figure = line_chart(
    sizes,
    ratios,
    xlabel="hidden size H (and D)",
    ylabel="time / time of nn.RNN",
    logx=True,
    title="Forwards and backwards over 50 steps, on this machine",
)
figure.axes[0].set_xticks(sizes, [str(H) for H in sizes])
figure.axes[0].minorticks_off()
show(
    figure,
    alt="Time of three recurrent layers against the hidden size, in units of what nn.RNN takes. The "
    "cell of exercise 7.2 is the slowest, most of all when it is small; the cell with one product for all inputs is near 1.",
)
for H, *line in zip(sizes, *ratios.values(), strict=True):
    print(f"H = {H:3}:", ", ".join(f"{name} {ratio:.1f}" for name, ratio in zip(ratios, line, strict=True)))

# %% [markdown]
# The time goes into the products and the tanh, and both of you call the same ones. The loop itself is cheap. And a
# little thought, one product instead of 50, is worth as much as another language. (On a GPU it is different: there
# every small operation waits for its launch, and a library that fuses the whole loop wins clearly.)
#
# What theirs cannot do for you: steps must still be taken one after the other. $h_2$ waits for $h_1$. That is no fault of
# the implementation, and it stays so until unit 14.

# %% [markdown]
# ### Three traps with names
#
# **`output` or `h_n`?** With one layer, one direction and no padding, `output[-1]` and `h_n[0]` are the same numbers,
# so code that takes the wrong one works until one of these changes. Section 5 meets the padding, unit 09 the two
# directions.
#
# **`batch_first`.** Many data sets come as $(N, T, D)$. `nn.RNN` takes any three axes; nothing in the numbers says
# which one is time. **Claim:** hand it a batch $(N, T, D)$ and it runs without a word, but it takes your *sequences* for
# time steps: change sequence 0, and the answers of all the others change too.

# %% tags=["experiment"]
torch.manual_seed(2)
rnn = nn.RNN(4, 6)
rows = torch.randn(5, 9, 4)  # N = 5 sequences of T = 9 steps: (N, T, D)
other = rows.clone()
other[0] += 1.0  # another sequence 0; the sequences 1 to 4 are as before
with torch.no_grad():
    wrong = (rnn(other)[0] - rnn(rows)[0]).abs().amax(dim=(1, 2))
    rnn.batch_first = True
    right = (rnn(other)[0] - rnn(rows)[0]).abs().amax(dim=(1, 2))
print("sequence 0 is changed. How far do the answers to each sequence move, at most?")
print("taken as (T, N, D):", "  ".join(f"{d:.3f}" for d in wrong))
print("with batch_first:  ", "  ".join(f"{d:.3f}" for d in right))
assert (wrong > 1e-6).all(), "Expected all answers to move when sequences are taken for time."
assert right[0] > 1e-6, "Expected the answers to the changed sequence to move."
assert (right[1:] == 0).all(), "Expected the answers to all other sequences to stay, with batch_first."

# %% [markdown]
# The shape of the result is the same either way. This is the test to remember: **change one sequence and see that the
# others stay as they are.**
#
# **Unbatched.** `nn.RNN` also takes *one* sequence without an axis for the batch, $(T, D)$, and then h_0 is $(1, H)$. That is
# kind, and a trap: who forgets the batch axis is not told. **Guess:** a batch of $N = 20$ sequences of 5 steps with one number
# each should be $(5, 20, 1)$. Somebody hands over `(5, 20)`, to an `nn.RNN(20, 30)` that fits it. What comes back, and what has
# the network taken the 20 for?

# %% tags=["experiment"]
torch.manual_seed(3)
rnn, flat = nn.RNN(20, 30), torch.randn(5, 20)
output, h_n = rnn(flat)
batched, _ = rnn(flat[:, None])
print("in", tuple(flat.shape), " output", tuple(output.shape), " h_n", tuple(h_n.shape))
assert torch.allclose(output, batched[:, 0]), "Expected one sequence of 5 steps with 20 numbers each, and no batch."

# %% [markdown]
# One sequence of 5 steps: the 20 sequences have become the 20 numbers of one step. Where it was meant, `x[:, None]` says the
# same with a batch of one, and is understood by your `ScratchRNN` too, and by everybody who reads it.

# %% [markdown]
# ## 4 · A language model in three lines
#
# The model of unit 06 multiplied a one-hot row with $U$. A one-hot row times a matrix is one *row of that matrix*:
#
# $$\begin{bmatrix} 0 & 0 & 1 \end{bmatrix} \begin{bmatrix} 1 & 2 \\ 3 & 4 \\ 5 & 6 \end{bmatrix} = \begin{bmatrix} 5 & 6 \end{bmatrix}$$
#
# So do not multiply, look up. `nn.Embedding(Q, E)` is that table for $Q$ symbols: ids of any shape go in, and each is
# replaced by its row of $E$ numbers, which are learned like all others. What follows is known: an `nn.RNN` reads the
# vectors, and a linear layer, `nn.Linear(H, Q)`, turns each state into $Q$ logits. It is our $h_t V + c$; like `nn.RNN` it
# stores the matrix transposed.

# %% tags=["experiment"]
from rnncourse.plots.torch_rnn import char_model

show(
    char_model(),
    alt="From left to right: ids of shape T, N go through embedding, an nn.Embedding, and become vectors T, N, E; these "
    "go through rnn, an nn.RNN, and become states T, N, H; these go through output, an nn.Linear, and become logits T, N, Q. "
    "The rnn also takes a state 1, N, H from the batch before and hands h_n, of the same shape, to the next.",
)

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
# Most of what goes wrong with modules is a shape. You need not put `print` into each `forward` and
# take it out again: every module lets you hang a **hook** on it, a function that is called with what went in and what came
# out. With the flag off, nothing is printed and nothing is slower. Before you run it: which shapes will the four lines show
# for ids `(7, 3)`, with $Q = 11$, $E = 4$ and $H = 6$?

# %% tags=["experiment"]


def with_shapes(model, debug=True):
    """The model; if debug, each call of it prints the shapes of what its parts take and give."""

    def shapes(value):
        return str(tuple(value.shape)) if isinstance(value, torch.Tensor) else ", ".join(map(shapes, value))

    def tell(name):
        return lambda module, taken, given: print(f"{name:10} {shapes(taken):28} -> {shapes(given)}")

    for name, module in model.named_modules() if debug else ():
        module.register_forward_hook(tell(name or type(model).__name__))
    return model


shown, _ = with_shapes(use(CharRNN)(11, 4, 6), debug=True)(torch.zeros(7, 3, dtype=torch.int64), torch.zeros(1, 3, 6))
assert shown.shape == (7, 3, 11), "Expected logits (T, N, Q). Has CharRNN passed its check?"

# %% [markdown]
# ### Experiment · "hello", once more
#
# You have taught this word to a network in unit 04. In PyTorch the last four lines of the loop do everything that you derived
# there: you will find them in nearly every training program that you read.
#
# The loss is `nn.functional.cross_entropy`. It takes *logits* (the softmax is inside, safe from overflow), and it wants
# them as (rows, classes), with targets (rows,). So time and batch are flattened into one axis first.
#
# **Guess** how many updates it takes, before you look. **Claim:** after 60 updates the network reads *hell* and says *ello*.

# %% tags=["experiment"]
from rnncourse.plots.bptt import spelling_grid

Model = use(CharRNN)
word = "hello"
chars, index = build_vocabulary(word)
ids = torch.tensor(encode(word, index))[:, None]  # (T + 1, 1)
inputs, targets = ids[:-1], ids[1:]

torch.manual_seed(0)
model = Model(len(chars), 4, 8)
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
guesses, sure = {}, {}
for update in range(61):
    logits, _ = model(inputs)
    probabilities = logits.detach().softmax(dim=-1)[:, 0]
    guesses[update] = decode(probabilities.argmax(dim=1), chars)
    sure[update] = probabilities.amax(dim=1).numpy()

    loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()  # forget the gradients of the last update
    loss.backward()  # all of unit 04
    optimizer.step()  # a small step downhill

print("reads", word[:-1], "and says", guesses[60])
assert guesses[60] == word[1:], "Expected ello after 60 updates. Has CharRNN passed its check?"
kept = (0, 5, 10, 20, 40, 60)
show(
    spelling_grid(word, {k: guesses[k] for k in kept}, {k: sure[k] for k in kept}),
    alt="What the network says after h, e, l, l, a row for each number of updates: at first wrong and unsure, after "
    "60 updates e, l, l, o, and surer.",
)

# %% [markdown]
# `Adam` is an optimizer that keeps two running means for each parameter, of its gradient and of the gradient's square,
# and steps by the first divided by the root of the second. It is a relative of the Adagrad of unit 06, one that forgets
# what is long past. Remember that it *keeps* something. It will matter in section 8.

# %% [markdown]
# ## 5 · Sequences of unequal length
#
# So far all sequences of a batch were equally long. Words are not, nor are sentences, songs, or patients' records. A
# tensor has no ragged edge, so short ones are filled up with zeros at the end, to the length of the longest. This is
# **padding**, and everything in this section is about making sure that it counts for nothing.

# %% tags=["experiment"]
from rnncourse.plots.torch_rnn import padded_words

show(
    padded_words(["to", "remember", "the", "state"]),
    alt="Four words of the lengths 2, 8, 3 and 5 side by side, time running downwards. Left: their letters, and zeros "
    "below the shorter ones. Right: the mask, True where there is a letter and False in the padding. The last letter of each word has a frame.",
)

# %% [markdown]
# Three questions come with it. Which entries are real? (the mask) What is the loss, if the padding must not count? And
# where is the *last* state of a sequence that ended early? (the frames)

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
# The lengths are not a by-product. Once padded, a zero that is real and a zero that is not look the same: only the
# lengths know.

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
# True means *real* in this course. Some of PyTorch's own layers want masks in which True means *padding*: read the
# documentation each time.

# %% [markdown]
# ### The loss, without the padding
#
# The mean loss per token, over real tokens only:
#
# $$L = \frac{\sum_{t,n} m_{tn}\, L_{tn}}{\sum_{t,n} m_{tn}}$$
#
# By hand: two sequences of lengths 3 and 1 with the losses $1, 2, 3$ and $4$. That is $(1 + 2 + 3 + 4)/4 = 2.5$. The
# plausible alternatives are all wrong. Divided by all $T \cdot N = 6$ entries: $1.67$, and better the more you pad. The
# mean of the two sequences' means: $(2 + 4)/2 = 3$, where the lonely token counts three times as much as the others.

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
# The network does not know that a sequence is over. It goes on through the padding, and its state goes on changing. So
# `output[-1]` is, for the longest sequence, the state after its last symbol, and for each of the others the state after
# some amount of nothing.

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
# Words from Python's documentation, spelled letter by letter, go through an untrained `nn.RNN` in one padded batch. How far
# does one step of padding move the state: hardly, or about as far as another word would? Say so first.
#
# **Claim:** after two steps of padding, the state is at least half as far from the true last state as two *different*
# words are from each other, and it stays so.

# %% tags=["experiment"]
from rnncourse.data import python_docs, words

pad, mask_of, last = use(pad_sequences), use(length_mask), use(last_states)
vocabulary = sorted({w.lower() for w in words(python_docs(60_000)) if w.isalpha() and w.isascii()})
rng = np.random.default_rng(4)
sample = [vocabulary[i] for i in rng.choice(len(vocabulary), 200, replace=False)]
alphabet, letter = build_vocabulary("_abcdefghijklmnopqrstuvwxyz")  # the id 0 is for the padding
padded, word_lengths = pad([torch.tensor(encode(w, letter)) for w in sample])
longer = torch.cat([padded, padded.new_zeros(12, len(sample))])  # 12 steps of padding, at least, for each


def moved_by_padding(embedding, rnn):
    """How far 0 to 12 steps of padding move the last state, as a share of the distance between two words."""
    with torch.no_grad():
        H, _ = rnn(embedding(longer))
        true = last(H, word_lengths)
        apart = torch.pdist(true).mean().item()
        return [(last(H, word_lengths + k) - true).norm(dim=1).mean().item() / apart for k in range(13)]


torch.manual_seed(5)
embedding, rnn = nn.Embedding(len(alphabet), 16).double(), nn.RNN(16, 64).double()
moved = moved_by_padding(embedding, rnn)
print("moved by the padding:", "  ".join(f"{k} steps: {moved[k]:.2f}" for k in (0, 1, 2, 6, 12)))
show(
    line_chart(
        range(13),
        {"moved by\nthe padding": moved, "two different\nwords": [1.0] * 13},
        xlabel="steps of padding after the last letter",
        ylabel="distance, as a share of that\nbetween two words",
        title="200 words of Python's documentation",
    ),
    alt="The distance of the state from the state after the last letter, against the number of steps of padding. It is "
    "zero at first, and from the first step of padding on about as large as the distance between two different words.",
)
print(
    f"{padded.numel()} entries, of which {1 - mask_of(word_lengths, len(padded)).double().mean().item():.0%} are padding"
)
assert moved[0] == 0, "Expected no distance without padding. Has last_states passed its check?"
assert min(moved[2:]) > 0.5, "Expected the padding to move the state. Have all checks above passed?"

# %% [markdown]
# (Over five starts it is at least {{padding/as shown/from two steps on}} of that distance, and with a padding that is all
# zeros, `padding_idx=0`, still {{padding/zeros for the padding/from two steps on}}: the state goes on without any input,
# too.) A classifier that reads `output[-1]` looks at the padding. It may even learn to make do with that, a little worse
# than it could be, and nobody notices.

# %% [markdown]
# ### Experiment · packed and padded
#
# PyTorch has another way out, **packing**: `pack_padded_sequence` lays all real steps one behind the other, time step
# by time step, and `nn.RNN` takes at each step only the rows that are still going on. **Claim:** your mask and
# `last_states` give what packing gives, but for rounding: the same last states, the same loss, and the same gradients of
# all weights.

# %% tags=["experiment", "nbval-ignore-output"]
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

pad, mask_of, masked_loss, last = use(pad_sequences), use(length_mask), use(masked_cross_entropy), use(last_states)
batch = [torch.tensor(encode("_" + w + "_", letter)) for w in sample[:40]]  # a word with its two borders
inputs, lengths = pad([ids[:-1] for ids in batch])
targets, _ = pad([ids[1:] for ids in batch])
output = nn.Linear(64, len(alphabet)).double()
parameters = [*embedding.parameters(), *rnn.parameters(), *output.parameters()]

# padded: run over everything, then look at what is real
H, _ = rnn(embedding(inputs))
ends = last(H, lengths)
loss = masked_loss(output(H), targets, mask_of(lengths, len(inputs)))
gradients = torch.autograd.grad(loss, parameters)

# packed: nn.RNN never sees the padding
packed = pack_padded_sequence(embedding(inputs), lengths, enforce_sorted=False)
H_packed, h_n = rnn(packed)
packed_targets = pack_padded_sequence(targets, lengths, enforce_sorted=False).data
packed_loss = nn.functional.cross_entropy(output(H_packed.data), packed_targets)
packed_gradients = torch.autograd.grad(packed_loss, parameters)

unpacked, _ = pad_packed_sequence(H_packed)
off = {
    name: (a - b).abs().max().item()
    for name, a, b in (
        ("last states", ends, h_n[0]),
        ("losses", loss, packed_loss),
        ("gradients", *(torch.cat([g.flatten() for g in some]) for some in (gradients, packed_gradients))),
    )
}
print("steps computed: padded", inputs.numel(), " packed", len(H_packed.data))
for name, difference in off.items():
    print(f"{name + ':':13} largest difference {difference:.0e}")
in_padding = unpacked[~mask_of(lengths, len(inputs))]
print("largest state in the padding, when unpacked:", in_padding.abs().max().item())
assert max(off.values()) < 1e-10, "Expected the same numbers, padded and packed. Have all checks above passed?"
assert not torch.allclose(H[-1], h_n[0], atol=1e-2), "Expected output[-1] to be another state than the last real one."

# %% [markdown]
# Why does the padding not spoil the *real* states? Because it stands behind them, and a later input never changes an
# earlier state (unit 03). Only what reads *from the end* must take care. Packing saves the wasted steps; masking works
# with every model, including your own, which know nothing of packing. And note: after packing `h_n` is right, while
# `output[-1]`, once unpacked, is zero for all but the longest.

# %% [markdown]
# ## 6 · A text without end
#
# A long text is read in batches that continue each other (`contiguous_batches`, unit 06): row $n$ of one batch goes on
# where row $n$ of the one before ended. So the state at the end of one batch is the right state for the start of the
# next. Hand it over, and the network has read everything so far. Hand it over *as it is*, though, and it brings its
# whole history: `backward` would walk back through all batches to the first. `state.detach()` is the value without the
# history. This is the truncated BPTT of unit 05, in one word.

# %% tags=["experiment"]
from rnncourse.plots.torch_rnn import carried_state

show(
    carried_state(),
    alt="Three batches in a row, each with its loss. The state goes from None into batch 1, from there detached into batch "
    "2 and on into batch 3. Below each batch a dashed arrow for the gradient runs back and stops at the border to the batch before.",
)

# %% [markdown]
# How good was an epoch? Batches may differ in size, so each batch's mean counts as often as it has tokens. *By hand:* a
# batch of 4 tokens with a mean loss of $2$ and one of 2 tokens with a mean loss of $0.5$ make $(4 \cdot 2 + 2 \cdot
# 0.5)/6 = 1.5$ per token. The mean of the two means is $1.25$.

# %% [markdown]
# ### Exercise 7.9 · `train_epoch`
# *●●● · 30 minutes · 4 points*
#
# Go through `batches` once and train. Each batch is a pair `(inputs, targets)`, both `(T, N)`, where T may differ;
# `model(inputs, state)` gives `(logits, state)`, as your `CharRNN` does.
#
# - The state is None for the first batch. It is carried from each batch to the next, detached.
# - For each batch: minimise its *mean* loss per token. The gradients of all parameters are clipped together to the norm
#   `max_norm` (unit 05; `nn.utils.clip_grad_norm_` does it), and `optimizer` makes the update.
# - Return a float: the mean loss per token over all batches, each as it was when it was read.


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
# Twelve lines that train any model with a state: your own cell, `nn.RNN`, a GRU (unit 10). For an LSTM, whose state is
# a pair, only the line with `detach` changes.

# %% [markdown]
# ### Experiment · Python's documentation, learned
#
# The vocabulary is that of the training text: what was held out shall not be looked at, not even for its letters. But it may
# hold a character that the training text has not. All such characters become one symbol, `UNKNOWN`, as rare words became
# `<unk>` in unit 01. The network never meets it in training, and never learns to expect it. It counts all the same: a score
# that leaves out what a model does not know is too good.
#
# A bigram sees one letter. How much better is a network that has read all before it: by a tenth of a bit, by half a bit, by
# two? Write it down.
#
# **Claim:** after three epochs over 60,000 characters, the model predicts text that it has *not* seen with at least
# half a bit per character less than the bigram table of the same training text.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.data import train_and_held_out

Model, epoch = use(CharRNN), use(train_epoch)
text, unseen = train_and_held_out("python-docs", characters=60_000)
UNKNOWN = "\N{REPLACEMENT CHARACTER}"
chars, index = build_vocabulary(text + UNKNOWN)


def ids_of(some_text):
    """The ids of a text's characters, with that of UNKNOWN for each one that the training text has not."""
    return encode("".join(c if c in index else UNKNOWN for c in some_text), index)


ids, unseen_ids = ids_of(text), torch.tensor(ids_of(unseen))[:, None]
batches = [(torch.tensor(x), torch.tensor(y)) for x, y in contiguous_batches(ids, batch_size=16, steps=32)]


def bits(model):
    """Bits per character on the held-out text."""
    with torch.no_grad():
        logits, _ = model(unseen_ids[:-1])
        return nn.functional.cross_entropy(logits[:, 0], unseen_ids[1:, 0]).item() / math.log(2)


def bits_of_bigrams(smoothing=0.1):
    """Bits per character of a bigram table, smoothed as in unit 01, on the held-out text."""
    pairs, read = np.full((len(chars), len(chars)), smoothing), ids_of(text)
    np.add.at(pairs, (read[:-1], read[1:]), 1)
    table = np.log2(pairs / pairs.sum(axis=1, keepdims=True))
    return -table[unseen_ids[:-1, 0], unseen_ids[1:, 0]].mean()


bigram = bits_of_bigrams()
torch.manual_seed(0)
writer = Model(len(chars), 24, 96)
optimizer = torch.optim.Adam(writer.parameters(), lr=0.005)
curve = {"training": [], "held out": []}
for _ in track(range(3), "training"):
    curve["training"].append(epoch(writer, batches, optimizer, max_norm=1.0) / math.log(2))
    curve["held out"].append(bits(writer))

print("unknown characters in the held-out text:", int((unseen_ids == index[UNKNOWN]).sum()), "of", len(unseen_ids))
print(f"held out: bigram table {bigram:.2f} bits per character, this network {curve['held out'][-1]:.2f}")
figure = line_chart(
    (1, 2, 3),
    {**curve, "bigram table,\nheld out": [bigram] * 3},
    xlabel="epochs",
    ylabel="bits per character",
    title="A character model of Python's documentation",
)
figure.axes[0].set_xticks((1, 2, 3))
show(
    figure,
    alt="Bits per character after one, two and three epochs. Training falls from about 4 to 2.7, held out from about 3.4 to "
    "2.8; the bigram table stays at 3.7.",
)
assert curve["held out"][-1] < bigram - 0.5, (
    "Expected half a bit less than the bigram table. Have all checks above passed?"
)

# %% [markdown]
# In the first epoch the held-out loss is *lower* than the training loss. Nothing is wrong: the training loss is the
# mean over an epoch in which the network was still bad at first; the held-out loss was measured at its end.
#
# Is it memory that beats the bigram? Take it away, so that the network starts from zeros at each character, and it ends at
# {{writer/no memory/bits}} bits. With memory, over five starts, it is {{writer/as shown/bits}}. Most of that is a short memory:
# if the state is not carried, so that each batch of 32 steps starts from zeros, it is {{writer/state not carried/bits}}. The
# learning rate counts for more: {{writer/rate 0.001/bits}} bits with 0.001 in place of 0.005.

# %% [markdown]
# ## 7 · Words, and vectors that come from elsewhere
#
# Nothing in your model says that an id is a character. Let it be a **word**: 800 of them, the most frequent of 15,000 words
# of Python's documentation, and `<unk>` for the rest. Most words are rare. How should
# a network know, from a sentence or two, what a word is like?
#
# It could have been told before. A **pre-trained embedding** is a table of vectors that somebody has made from a far longer
# text. Such a table comes with the course. No network was needed to make it: for 2,000 words we counted, in all documentation
# strings of Python's library, how often each has which neighbours, and kept the 32 strongest directions of these counts (the
# script is `rnncourse/data/shipped/__main__.py`). Words that stand among the same neighbours have vectors that point the same
# way. **Look at some, and at words of your own:**

# %% tags=["experiment"]
from rnncourse.data import word_vectors

table = word_vectors()
for word in ("three", "file", "true", "month", "error", "string"):
    print(f"{word:>7}:", ", ".join(table.nearest(word, 6)))
assert "four" in table.nearest("three", 3), "Expected a number beside a number."

# %% [markdown]
# Nobody told it what a number is. (And look at *true* and *false*: opposites are neighbours, since they stand in the same
# places. Such a table knows where words stand, not what they mean.)
#
# Three networks of one shape, on the same 15,000 words; what differs is the embedding: **random** and left alone; drawn at
# random and **trained here**; or started **from the table**, where it has the word, and trained on. When to stop is decided
# on 2,000 words more, as in unit 06. And beside them the opponents of unit 01: n-grams that fall back on shorter ones
# (Witten–Bell, unit 06), which read the same words and are asked about the same 5,000. **Write down the order that you
# expect**, the n-gram included.
#
# **Claim:** started from the table the network has a lower perplexity than with vectors trained here, these are better than
# random ones left alone, and from the table it beats the best n-gram.

# %% tags=["experiment", "nbval-ignore-output"]
import copy
from collections import Counter

from rnncourse.data import train_and_held_out, words
from rnncourse.language_model import fit
from rnncourse.ngram import count_ngrams

WordModel, word_epoch = use(CharRNN), use(train_epoch)
word_texts = [words(part.lower()) for part in train_and_held_out("python-docs")]
read_words, choosing_words, judging_words = word_texts[0][:15_000], word_texts[0][15_000:17_000], word_texts[1][:5_000]
word_list = ["<unk>", *(word for word, _ in Counter(read_words).most_common(799))]
word_index = {word: i for i, word in enumerate(word_list)}


def word_ids(some):
    """The ids of words, 0 for those that the list has not."""
    return np.array([word_index.get(word, 0) for word in some])


def word_perplexity(model, some):
    """The perplexity on words, read in one row."""
    ids = torch.tensor(word_ids(some))[:, None]
    with torch.no_grad():
        return nn.functional.cross_entropy(model(ids[:-1])[0][:, 0], ids[1:, 0]).exp().item()


def word_model(start, seed=0, max_epochs=8):
    """Train a model of words whose embedding starts as named: the perplexity on the words to be judged by."""
    torch.manual_seed(seed)
    model, kept = WordModel(len(word_list), 32, 64), []
    if start == "from the table":
        place = {word: i for i, word in enumerate(table.words)}
        with torch.no_grad():
            for i, word in enumerate(word_list):
                if word in place:
                    model.embedding.weight[i] = torch.tensor(table.vectors[place[word]])
    model.embedding.weight.requires_grad_(start != "random")
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=0.005)
    pairs = [(torch.tensor(x), torch.tensor(y)) for x, y in contiguous_batches(word_ids(read_words), 16, 16)]

    def validate(_):
        kept.append(copy.deepcopy(model.state_dict()))
        return word_perplexity(model, choosing_words)

    _, best = fit(lambda _: word_epoch(model, pairs, optimizer, 1.0), validate, max_epochs, patience=2)
    model.load_state_dict(kept[best])
    return word_perplexity(model, judging_words)


def word_ngrams(longest=4):
    """The perplexities of 1- to 4-grams on the same words, each smoothed with the shorter ones (Witten-Bell)."""
    known, asked = ([word_list[i] for i in word_ids(some)] for some in (read_words, judging_words))
    q, perplexities = np.full(len(asked), 1 / len(word_list)), []
    for n in range(1, longest + 1):
        rows = count_ngrams(known, n)
        for i in range(longest, len(asked)):
            if row := rows.get(tuple(asked[i - n + 1 : i])):
                q[i] = (row[asked[i]] + len(row) * q[i]) / (row.total() + len(row))
        perplexities.append(float(np.exp(-np.log(q[longest:]).mean())))
    return perplexities


by_start = {start: word_model(start) for start in track(("random", "trained here", "from the table"), "words")}
by_count = word_ngrams()
print("perplexity on 5,000 words that were held out, of", len(word_list))
for start, reached in by_start.items():
    print(f"  vectors {start:15} {reached:6.1f}")
for n, reached in enumerate(by_count, start=1):
    print(f"  {n}-gram                 {reached:6.1f}")
assert by_start["from the table"] < by_start["trained here"] < by_start["random"], (
    "Expected the table to help. Have CharRNN and train_epoch passed their checks?"
)
assert by_start["from the table"] < min(by_count), "Expected the network to beat the n-grams."

# %% [markdown]
# Over five seeds: {{word_vectors/random/perplexity|.1f}} with random vectors left alone,
# {{word_vectors/trained here/perplexity|.1f}} trained here, {{word_vectors/from the table/perplexity|.1f}} from the table;
# the best n-gram has {{word_vectors/n-grams/perplexity|.1f}}. The claim holds in {{held from_the_table}} seeds. If the
# vectors of the table are shuffled among the words, no more is left than from vectors trained here:
# {{word_vectors/table shuffled/perplexity|.1f}}. So it is what it knows that helps, not how its numbers are spread. On
# characters (unit 06) the best n-gram won; on words, of which most are rare, a network that knows which of them are alike
# does better than a table in which each stands for itself.
#
# It is the oldest form of what is done with large models today: learn from much text once, then go on from there with little.
# What you must watch is the old rule of three texts: had the table been made of the documentation itself, it would have read
# what we judge by.

# %% [markdown]
# ## 8 · Save, load, go on
#
# A long training will be interrupted: the power, the queue, the lid of the laptop. What must be saved so that it can go
# on *as if nothing had happened*? The weights, of course: `model.state_dict()`. But Adam keeps its two means for each
# weight, and a fresh Adam has forgotten them: `optimizer.state_dict()`. (With dropout or shuffled data, also the state
# of the random generators, and the place in the data.)
#
# **Claim:** with both dicts the resumed training is the undisturbed one, number for number. With the weights alone it
# is not.

# %% tags=["experiment"]
import tempfile
from pathlib import Path

Model, epoch = use(CharRNN), use(train_epoch)
first, second = batches[:80], batches[80:116]


def fresh(seed=1, kind=torch.optim.Adam, learning_rate=0.005):
    torch.manual_seed(seed)
    model = Model(len(chars), 16, 48).double()
    return model, kind(model.parameters(), lr=learning_rate)


def losses_of(model, optimizer):
    """Train on the second part, three batches at a time, and keep each mean loss."""
    return [epoch(model, second[k : k + 3], optimizer, 1.0) / math.log(2) for k in range(0, len(second), 3)]


model, optimizer = fresh()
epoch(model, first, optimizer, 1.0)
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "training.pt"
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
    saved = torch.load(file)
curves = {"undisturbed": losses_of(model, optimizer)}

resumed, its_optimizer = fresh()
resumed.load_state_dict(saved["model"])
its_optimizer.load_state_dict(saved["optimizer"])
curves["resumed"] = losses_of(resumed, its_optimizer)

forgetful, its_optimizer = fresh()
forgetful.load_state_dict(saved["model"])
curves["resumed with\na new Adam"] = losses_of(forgetful, its_optimizer)

off = {name: np.array(losses) - curves["undisturbed"] for name, losses in curves.items() if name != "undisturbed"}
show(
    line_chart(
        range(3, len(second) + 1, 3),
        off,
        xlabel="updates after the interruption",
        ylabel="training loss, less that of the\nundisturbed run (bits per character)",
        title="The same training, interrupted",
    ),
    alt="How far the training loss of two resumed runs is off that of the undisturbed run, over 36 updates. The run "
    "resumed with both dicts stays at zero. The run with a new Adam wanders by some hundredths of a bit to both sides.",
)
same = max((p - q).abs().max().item() for p, q in zip(model.parameters(), resumed.parameters()))
other = max((p - q).abs().max().item() for p, q in zip(model.parameters(), forgetful.parameters()))
print(f"largest difference of a weight, resumed:         {same:.0e}")
print(f"largest difference of a weight, with a new Adam: {other:.3f}")
worst = {name: np.abs(values).max() for name, values in off.items()}
assert same < 1e-9, "Expected the resumed training to be the undisturbed one. Have all checks above passed?"
assert other > 0.01, "Expected other weights with a new Adam."
assert worst["resumed"] < 1e-9, "Expected the same losses. Have all checks above passed?"
assert worst["resumed with\na new Adam"] > 0.01, "Expected other losses with a new Adam."

# %% [markdown]
# The run with the new Adam is no disaster. It is another run: now above, now below. But if you wanted to know whether some
# change of yours had helped, you can no longer tell whether it was the change or the interruption. (With plain gradient
# descent, which keeps nothing, the weights alone are enough: the largest difference of a weight is then
# {{resumed/SGD/weights alone|median .0g}}.)
#
# `torch.save` wrote two dicts of tensors. Save dicts, not whole objects: a saved object needs the very same class, at
# the same place, to come back. And load other people's files only as `torch.load` does it by default, as plain weights: a
# pickled object can run any code.

# %% [markdown]
# ## 9 · Bugs that PyTorch does not report
#
# An error message is a friend. A state that is not detached gives one, on the second batch: *Trying to backward through
# the graph a second time*. These two give none.
#
# **The class axis.** `cross_entropy` wants the classes on axis 1. Ours are on the last; that is why we flatten. If you
# forget, logits $(T, N, Q)$ with targets $(T, N)$ are an error in most cases. But not if $N = Q$: then the *sequences* of
# the batch are taken for the classes.
#
# **`zero_grad`.** Without it each update follows the sum of all gradients so far: a ball that rolls on and on, and is never
# braked but by a slope against it.
#
# Four words of four different letters ($N = Q = 4$), and three programs. Which of them will you be able to tell apart by
# the loss that they report? Answer before you look. **Claim:** with the right program, and with either bug, the reported
# loss falls below a third of what it was at first. Only the right one learns to spell.

# %% tags=["experiment", "nbval-ignore-output"]
Model = use(CharRNN)
spelled = ["hello", "ollhe", "leloh", "eholl"]
_, index_4 = build_vocabulary("helo")
letters_4 = torch.tensor(np.array([encode(w, index_4) for w in spelled]).T)  # (T + 1, N)
read_4, wanted_4 = letters_4[:-1], letters_4[1:]


def run(bug, seed=0, learning_rate=0.5):
    """100 updates with a bug: the losses that the program reports, and the share of letters that are right."""
    torch.manual_seed(seed)
    model = Model(4, 4, 12)
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    losses = []
    for _ in range(100):
        logits, _ = model(read_4)
        if bug == "classes on the\nwrong axis":
            loss = nn.functional.cross_entropy(logits, wanted_4)
        else:
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), wanted_4.flatten())
        if bug != "no zero_grad":
            optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, (model(read_4)[0].argmax(dim=-1) == wanted_4).double().mean().item()


curves, rights = {}, {}
for bug in ("right", "classes on the\nwrong axis", "no zero_grad"):
    curves[bug], rights[bug] = run(bug)
    losses, name = curves[bug], " ".join(bug.split())
    print(
        f"{name:26} loss at first {losses[0]:.2f}, at its lowest {min(losses):.2f}: {rights[bug]:.0%} of the letters right"
    )
show(
    line_chart(
        range(100),
        curves,
        xlabel="updates",
        ylabel="loss, as the program reports it",
        logy=True,
        title="Three programs, no error message",
    ),
    alt="Reported loss of three programs over 100 updates, on a logarithmic axis. The right one and the one with the classes "
    "on the wrong axis both fall steadily to a few hundredths. The one without zero_grad falls fastest and then leaps up, above where it began.",
)
assert all(min(losses) < losses[0] / 3 for losses in curves.values()), "Expected each loss to fall below a third."
assert rights["right"] == 1, "Expected the right program to spell. Has CharRNN passed its check?"
assert rights["classes on the\nwrong axis"] < 0.7, "Expected the wrong axis to spoil the spelling."
assert rights["no zero_grad"] < 0.9, "Expected a missing zero_grad to spoil the spelling."
assert max(curves["no zero_grad"][20:]) > curves["no zero_grad"][0], "Expected that loss to leap above its start."

# %% [markdown]
# The program with the wrong axis reports a loss nearly as good as the right one's. It has learned another task, and learned
# it well: in which *row of the batch* each logit has to be the largest. That is no letter. So look at what the model says,
# not only at its loss. And the one without `zero_grad` is the *best* of the three for a while: stop it at update 20 and you
# would praise it. The smaller the learning rate, the later it leaps: at a rate of 0.1 it still has
# {{bugs/rate 0.1/right without zero_grad|range .0%}} of the letters right after the 100 updates, depending on the start,
# and the right program is not finished.
#
# A list to go through when a loss stands still, or falls too well:
#
# - Logits or probabilities? `cross_entropy` takes the softmax itself. With two softmaxes the network learns slowly, and
#   never gets far.
# - The class axis; time and batch; `output[-1]` or `h_n`; what stands in the padding.
# - `zero_grad`, `backward`, clip, `step`: in this order.
# - The state: carried where the text goes on, None where a new one begins, detached between batches.
# - `loss.item()` where you add up losses. The tensor itself holds the graph of its batch; a sum of tensors holds all graphs, and the memory grows.
# - `model.eval()` and `torch.no_grad()` while you measure, `model.train()` when you go on. With dropout (unit 08) it matters.

# %% [markdown]
# ## Summary
#
# Can a program take the forward pass alone and do the rest? It can, and you have compared it with your own to ten digits.
#
# - A tensor remembers how it was made; `backward()` is unit 04, for any program: you have built it. It adds to `.grad`.
# - A module holds parameters and says how to compute. Your own cell and `nn.RNN` agree, and are about equally fast on a
#   CPU.
# - `weight_ih_l0` is $U^\top$, `weight_hh_l0` is $W^\top$, and two biases make one. `output` has all states, `h_n` the last.
# - An embedding is a one-hot product that looks up instead of multiplying. It may start from vectors that were
#   learned elsewhere.
# - Unequal lengths: pad, mask, divide by the real tokens, take each row's own last state. Packing gives the same numbers.
# - A long text: carry the state, detach it, clip, weigh each batch by its tokens.
# - To go on after an interruption you need the model's *and* the optimizer's state.
# - A falling loss proves little, again.

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
# - The documentation of `torch.nn.RNN`, and the page "Autograd mechanics", which says exactly what is remembered and when it is freed.
# - A. Paszke et al., *PyTorch: An Imperative Style, High-Performance Deep Learning Library*, NeurIPS 2019: why it is built the way it is.
# - A. G. Baydin, B. A. Pearlmutter, A. A. Radul, J. M. Siskind, *Automatic Differentiation in Machine Learning: a Survey*, JMLR 18,
#   2018: what `backward()` is, and what it is not (neither symbolic nor numerical).
# - X. Glorot, Y. Bengio, *Understanding the Difficulty of Training Deep Feedforward Neural Networks*, AISTATS 2010: where
#   `xavier_uniform_` comes from.
# - D. P. Kingma, J. Ba, *Adam: A Method for Stochastic Optimization*, ICLR 2015.
# - A. Karpathy, *A Recipe for Training Neural Networks*, 2019: how to distrust your own program; and his *min-char-rnn.py*, the
#   network of unit 06 in 112 lines, to be set beside section 6.
# - Stanford's course CS231n, its notes on backpropagation as a circuit of local gradients: section 1 from another hand.
# - T. Mikolov et al., *Efficient Estimation of Word Representations in Vector Space*, 2013; O. Levy, Y. Goldberg, *Neural Word
#   Embedding as Implicit Matrix Factorization*, NIPS 2014: why counting and training find the same vectors.

# %% [markdown]
# ## Something to show to somebody
#
# The network of section 6 has read Python's documentation for a few seconds. Change the prompt and let it write. Each
# letter is drawn from its probabilities (at temperature 0.5, unit 06), fed back, and so on. Line breaks, commas and the
# rhythm of the words are its own.

# %% tags=["experiment", "nbval-ignore-output"]
prompt, length = "The function ", 300

torch.manual_seed(7)
with torch.no_grad():
    logits, state = writer(torch.tensor(ids_of(prompt))[:, None])
    written = []
    for _ in range(length):
        probabilities = torch.softmax(logits[-1, 0] / 0.5, dim=-1)
        written.append(torch.multinomial(probabilities, 1).item())
        logits, state = writer(torch.tensor([[written[-1]]]), state)
print(prompt + decode(written, chars))
assert len(written) == length, "Expected as many characters as were asked for."
assert len(set(written)) > 5, "Expected more than five different characters. Has train_epoch passed its check?"

# %% tags=["experiment"]
progress("07_torch_rnn")

# %% [markdown]
# ## The question for unit 08
#
# Look at the names once more: `weight_ih_l0`, layer *zero*. And `h_n` has an axis for layers that has been 1 all along.
# The states of your network are a sequence of vectors, just as its inputs are. So a second network could read the
# states of the first, and a third those of the second. **What does a network gain by depth, when it already has depth
# in time? How does the error find its way back through both? And at an equal number of parameters: is it better to be
# deep or to be wide?**
