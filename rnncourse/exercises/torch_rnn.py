"""Unit 07: the same in PyTorch. Its exercises, their cases, hints and misconceptions."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from rnncourse import torch_rnn
from rnncourse.checks.callables import Named
from rnncourse.checks.drive import builds, differentiable, layer, train, with_tensors
from rnncourse.checks.exercise import LENGTHS, Case, Unit, case, cell_weights, edge, normal, weights
from rnncourse.checks.parameters import Parameters, embedding, linear, recurrent
from rnncourse.checks.plain import Plain
from rnncourse.fixtures.torch_rnn import layer_and_start, small_reader, tape

unit = Unit("07_torch_rnn", "The same in PyTorch", torch_rnn)

Arrays = tuple[np.ndarray, ...]


ex = unit.exercise(
    "Var",
    points=6,
    takes="variables, arrays, program",
    gives="data, grad",
    drive=tape,
    forbids=("torch",),
    hints=(
        "Each result keeps a list: what it was made of, and for each part a function from the error here to the error "
        "there. You know these functions from unit 04. `backward` works the list off, the last result first.",
        "For `+` the error goes to both sides as it is; to a (H,) that was added to rows, its sum over the rows. For "
        "`A @ B` it is `e @ B.T` and `A.T @ e`; for tanh `e * (1 - h * h)`; for the sum `e` in every entry. What was "
        "made later has a higher number, and is worked off earlier.",
        "In `backward`: collect all that `self` was made of; `errors = {self: 1}`; for var in `sorted(found, "
        "key=lambda var: var.number, reverse=True)`: `var.grad += errors[var]`, and for each part with its function "
        "`errors[part] = errors.get(part, 0) + back(errors[var])`.",
    ),
)


def unrolled(
    rng: np.random.Generator, T: int, N: int, D: int, H: int
) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """A recurrent cell over T steps, with a loss at each."""
    variables = {"U": weights(rng, D, H), "W": weights(rng, H, H), "b": normal(rng, H), "V": weights(rng, H, 2)}
    variables |= {"h0": np.tanh(normal(rng, N, H))} | {f"x{t}": normal(rng, N, D) for t in range(1, T + 1)}
    program = [f"h{t} = (x{t} @ U + h{t - 1} @ W + b).tanh()" for t in range(1, T + 1)]
    losses = " + ".join(f"(h{t} @ V).sum()" for t in range(1, T + 1))
    return variables, {}, [*program, f"L = {losses}", "L.backward()"]


def tangled(rng: np.random.Generator, N: int, H: int, lines: int) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """A program that nobody would write, in which everything is used more than once."""
    variables = {"x": normal(rng, N, H), "W": weights(rng, H, H), "b": normal(rng, H)}
    program, names = [], ["x"]
    for k in range(lines):
        old, other = names[-1], str(rng.choice(names))
        way = ("{0} @ W", "({0} + {1}).tanh()", "{0} + b", "({0} @ W).tanh() + {1}")[k % 4]
        program.append(f"v{k} = {way.format(old, other)}")
        names.append(f"v{k}")
    return variables, {}, [*program, f"L = (v{lines - 1} @ W).sum() + v1.sum() + x.tanh().sum()", "L.backward()"]


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(*unrolled(rng, 4, 3, 5, 2))
    yield case(*tangled(rng, 4, 3, 8))
    x, W, b = normal(rng, 3, 4), weights(rng, 4, 2), normal(rng, 2)
    square, row = normal(rng, 4, 4), normal(rng, 4)
    once = ["L = (x @ W + b).tanh().sum()", "L.backward()"]
    yield edge("a Var added to itself", {"x": x}, {}, ["y = (x + x).sum()", "L = y + y", "L.backward()"])
    yield edge("the row on the left", {"x": square, "r": row}, {}, ["L = (r + x).tanh().sum()", "L.backward()"])
    yield edge("two rows", {"r": normal(rng, 4), "s": normal(rng, 4)}, {}, ["L = (r + s).tanh().sum()", "L.backward()"])
    yield edge("arrays on the right", {"x": x}, {"W": W, "b": b}, once)
    yield edge(
        "arrays on the left",
        {"W": W, "b": b},
        {"x": x, "c": normal(rng, 3, 2)},
        ["L = (c + x @ W).tanh().sum() + (c + b).tanh().sum()", "L.backward()"],
    )
    shared = ["z = x.tanh()", "s = x + y", "L = (s + z).sum()", "L.backward()"]
    yield edge("both sides of a sum, of which one is used elsewhere", {"x": x, "y": normal(rng, 3, 4)}, {}, shared)
    yield edge("backward twice", {"x": x, "W": W, "b": b}, {}, [*once, "L.backward()"])
    yield edge(
        "two losses from one state",
        {"x": x, "W": W, "b": b, "V": weights(rng, 2, 5)},
        {},
        ["h = (x @ W + b).tanh()", "L = h.sum()", "M = (h @ V).tanh().sum()", "L.backward()", "M.backward()"],
    )
    yield edge("one that has no part in it", {"x": x, "W": W, "b": b, "y": 1000 * square}, {}, ["z = y.tanh()", *once])
    yield edge(
        "float32 and whole numbers", {"x": x.astype(np.float32), "W": rng.integers(-1, 2, (4, 2)), "b": b}, {}, once
    )
    yield edge("a single number", {"x": normal(rng, 1, 1), "W": normal(rng, 1, 1), "b": normal(rng, 1)}, {}, once)


ex.mistakes(r"""
last_part_only: A Var that is used more than once gets the error of one use only. Add up what comes from all of them:
  this is the `+=` of unit 04.
- errors[part] = errors.get(part, 0) + back(errors[var])
+ errors[part] = back(errors[var])

handed_on_too_early: An error is handed on before all of it has arrived. First everything that was made later, then what
  it was made of.
- for var in sorted(found, key=lambda var: var.number, reverse=True):
-     var.grad += errors[var]
-     for part, back in var.made_of:
-         errors[part] = errors.get(part, 0) + back(errors[var])
+ todo, errors = [self], {self: np.ones_like(self.data)}
+ while todo:
+     var = todo.pop(0)
+     error = errors.pop(var, None)
+     if error is not None:
+         var.grad = error
+         for part, back in var.made_of:
+             errors[part] = errors.get(part, 0) + back(error)
+             todo.append(part)

tanh_of_the_input: The slope of the tanh is taken at its input. It is 1 - h * h with h the *result* of the tanh.
- return Var(h, [(self, lambda e: e * (1 - h * h))])
+ return Var(h, [(self, lambda e: e * (1 - self.data * self.data))])

slope_forgotten: The error passes the tanh as if it were not there: multiply it by 1 - h * h.
- return Var(h, [(self, lambda e: e * (1 - h * h))])
+ return Var(h, [(self, lambda e: e)])

mean_over_the_rows: The error of a row that was added to rows is the *sum* of theirs, not the mean: each of them felt it
  in full.
- return lambda e: e.sum(axis=0) if e.ndim > data.ndim else e
+ return lambda e: e.mean(axis=0) if e.ndim > data.ndim else e

row_with_the_error_of_all_rows: A row (H,) and rows (N, H) were added, and the row gets an error of their shape. On
  either side of `+` it needs one of its own: sum over the rows.
- return lambda e: e.sum(axis=0) if e.ndim > data.ndim else e
+ return lambda e: e

starts_from_the_loss: You start with the value of the loss. The derivative of a number with respect to itself is 1.
- errors = {self: np.ones_like(self.data)}
+ errors = {self: self.data}

gradient_replaced: `backward` puts the new gradient in place of the old one. It adds to what is there: after two of
  them, both are in it.
- var.grad += errors[var]
+ var.grad = np.zeros_like(var.data) + errors[var]

old_gradients_handed_on: What is left in `grad` from an earlier `backward` is handed on once more. Keep the errors of
  this pass apart, in a dict of their own, and add them to `grad` at the end.
- var.grad += errors[var]
- for part, back in var.made_of:
-     errors[part] = errors.get(part, 0) + back(errors[var])
+ if var is self:
+     var.grad += 1
+ for part, back in var.made_of:
+     part.grad += back(var.grad)

leaves_only: Only those Vars that were made of nothing get a gradient. Here all of them do, the states on the way too.
- var.grad += errors[var]
+ if not var.made_of:
+     var.grad += errors[var]

dtype_of_the_data: Your data keep the dtype that they come with. A Var is float64: differences of 1e-10 need it, and
  whole numbers have no slope.
- self.data = np.array(data, dtype=np.float64)
+ self.data = np.array(data)

array_on_the_left_put_on_the_right: `array @ Var` gives `Var @ array`. A sum may be turned round, a product of matrices
  may not.
- return as_var(other) @ self
+ return self @ other

errors_of_the_product_swapped: Of `A @ B`, with the error e, A gets `e @ B.T` and B gets `A.T @ e`. You have the
  transpose at the wrong one of the two.
- return Var(self.data @ other.data, [(self, lambda e: e @ other.data.T), (other, lambda e: self.data.T @ e)])
+ return Var(self.data @ other.data, [(self, lambda e: e.T @ other.data), (other, lambda e: self.data @ e.T)])

row_with_the_error_of_all_rows_kept = row_with_the_error_of_all_rows
- return lambda e: e.sum(axis=0) if e.ndim > data.ndim else e
+ return lambda e: e
- var.grad += errors[var]
+ var.grad = var.grad + errors[var]

row_on_the_left = row_with_the_error_of_all_rows
- return Var(self.data + other.data, [(self, onto(self.data)), (other, onto(other.data))])
+ return Var(self.data + other.data, [(self, lambda e: e), (other, onto(other.data))])

row_on_the_left_kept = row_with_the_error_of_all_rows
- return Var(self.data + other.data, [(self, onto(self.data)), (other, onto(other.data))])
+ return Var(self.data + other.data, [(self, lambda e: e), (other, onto(other.data))])
- var.grad += errors[var]
+ var.grad = var.grad + errors[var]

each_var_once_too_early = handed_on_too_early
- for var in sorted(found, key=lambda var: var.number, reverse=True):
-     var.grad += errors[var]
-     for part, back in var.made_of:
-         errors[part] = errors.get(part, 0) + back(errors[var])
+ todo, met = [self], {self}
+ while todo:
+     var = todo.pop(0)
+     for part, back in var.made_of:
+         errors[part] = errors.get(part, 0) + back(errors[var])
+         if part not in met:
+             met.add(part)
+             todo.append(part)
+ for var in met:
+     var.grad += errors[var]

tanh_once_more: The slope of the tanh is taken at the tanh of its result. The result *is* the tanh: 1 - h * h.
- return Var(h, [(self, lambda e: e * (1 - h * h))])
+ return Var(h, [(self, lambda e: e * (1 - np.tanh(h) ** 2))])

sum_as_a_mean: `sum` hands on a part of the error only, as a mean does. Each entry counts in full: each gets the error
  as it is.
- return Var(self.data.sum(), [(self, lambda e: e * np.ones_like(self.data))])
+ return Var(self.data.sum(), [(self, lambda e: e * np.ones_like(self.data) / self.data.size)])

loss_without_a_gradient: The Var on which `backward` is called gets no gradient. That of a number with respect to itself
  is 1, and is added to its `grad` like all others.
- var.grad += errors[var]
+ if var is not self:
+     var.grad += errors[var]

starts_from_the_gradient_before = old_gradients_handed_on
- errors = {self: np.ones_like(self.data)}
+ errors = {self: np.ones_like(self.data) + self.grad}

gradient_of_the_loss_replaced = gradient_replaced
- errors[part] = errors.get(part, 0) + back(errors[var])
+ errors[part] = errors.get(part, 0) + back(errors[var])
+ self.grad = np.ones_like(self.data)
""")


ex = unit.exercise(
    "ScratchRNN",
    points=4,
    takes="sizes, parameters, inputs",
    gives="returned [outputs (T, N, H), state (1, N, H)], gradients, "
    "input_gradients [the gradient with respect to x (T, N, D), the gradient with respect to h0 (1, N, H)]",
    drive=layer_and_start,
    forbids=("torch.nn.RNN", "torch.nn.RNNCell", "torch.nn.RNNBase", "torch.rnn_tanh", "torch.rnn_tanh_cell"),
    hints=(
        "`__init__` makes three parameters and computes nothing. `forward` is the `rnn_forward` of unit 03, with torch "
        "for np, and hands back two things: all states, and the last one.",
        "A parameter is `self.U = nn.Parameter(a tensor of random numbers)`. In `forward`, take h from `h0[0]`, or "
        "from `x.new_zeros(N, H)`, which has the dtype of x; loop over the steps and keep each h in a list.",
        "In the loop: `h = torch.tanh(x_t @ self.U + h @ self.W + self.b)` and `states.append(h)`. At the end: "
        "`return torch.stack(states), h.unsqueeze(0)`.",
    ),
)


def scratch_parameters(rng: np.random.Generator, D: int, H: int, dtype: Any = np.float64) -> dict[str, np.ndarray]:
    """Draw the parameters of a ScratchRNN by name."""
    return dict(zip("UWb", cell_weights(rng, D, H, dtype), strict=True))


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    # The first has no h0 and the second nothing else, so that it shows where the start state is to blame.
    x = normal(rng, 5, 3, 4)
    yield case((4, 2), scratch_parameters(rng, 4, 2), [(x,), (normal(rng, 4, 3, 4),), (x[:, :2],), (x, None)])
    calls = [(normal(rng, 4, 2, 3), normal(rng, 1, 2, 6)), (normal(rng, 5, 4, 3), normal(rng, 1, 4, 6))]
    yield case((3, 6), scratch_parameters(rng, 3, 6), calls)
    x, h0 = normal(rng, 1, 4, 3), normal(rng, 1, 4, 1)
    yield edge("one step, one unit", (3, 1), scratch_parameters(rng, 3, 1), [(x, h0)])
    yield edge("one row", (2, 3), scratch_parameters(rng, 2, 3), [(normal(rng, 4, 1, 2), normal(rng, 1, 1, 3))])
    single = np.float32
    x, h0 = normal(rng, 4, 2, 3, dtype=single), normal(rng, 1, 2, 5, dtype=single)
    yield edge("float32", (3, 5), scratch_parameters(rng, 3, 5, single), [(x,), (x, h0)])
    yield edge("the parameters as they are drawn", (3, 300), {}, [])


ex.mistakes(r"""
h0_ignored: Your states start from zeros even when an h0 is given. Zeros are for `h0=None` only; else start from h0[0].
- h = x.new_zeros(x.shape[1], len(self.b)) if h0 is None else h0[0]
+ h = x.new_zeros(x.shape[1], len(self.b))

detached_at_every_step: The states are right and their gradients are not: the state is cut off at each step, so that no
  error reaches an earlier one. Detach between batches, never inside `forward`.
- h = torch.tanh(x_t @ self.U + h @ self.W + self.b)
+ h = torch.tanh(x_t @ self.U + h.detach() @ self.W + self.b)

input_detached: The states are right, but no gradient reaches the input x: an embedding below this layer would never
  learn. Use x as it comes: `torch.tensor(x)`, `.data` and `.detach()` cut it off from what made it.
- for x_t in x:
+ for x_t in x.detach():

start_detached: The states are right, but no gradient reaches h0. Where h0 is what another network hands over, that
  network would never learn. Start from `h0[0]` itself, neither detached nor put into a new
  `torch.tensor`.
- h = x.new_zeros(x.shape[1], len(self.b)) if h0 is None else h0[0]
+ h = x.new_zeros(x.shape[1], len(self.b)) if h0 is None else h0[0].detach()

zeros_in_float32: The zeros that you start from are always float32, as those of `torch.zeros` are unless told: with
  inputs in float64 that is an error. `x.new_zeros(…)` has the dtype of x, and lives on its device too.
- h = x.new_zeros(x.shape[1], len(self.b)) if h0 is None else h0[0]
+ h = torch.zeros(x.shape[1], len(self.b)) if h0 is None else h0[0]

last_state_without_its_layer_axis: Your h_n is (N, H). `nn.RNN` gives (1, N, H), with a first axis over its layers, of
  which there is one here: `h.unsqueeze(0)`, or `h[None]`.
- return torch.stack(states), h.unsqueeze(0)
+ return torch.stack(states), h

batch_first: You read x as (N, T, D). It is (T, N, D), as `nn.RNN` takes it unless it is told `batch_first=True`: the
  loop over time runs over the first axis.
- h = x.new_zeros(x.shape[1], len(self.b)) if h0 is None else h0[0]
+ x = x.transpose(0, 1)
+ h = x.new_zeros(x.shape[1], len(self.b)) if h0 is None else h0[0]
- return torch.stack(states), h.unsqueeze(0)
+ return torch.stack(states, dim=1), h.unsqueeze(0)

state_outlives_the_call: A call without h0 starts where the call before it ended. What lives in `self` outlives the
  call: keep the state in a local name, and start from zeros.
- bound = 1 / math.sqrt(hidden_size)
+ self.h = None
+ bound = 1 / math.sqrt(hidden_size)
- h = x.new_zeros(x.shape[1], len(self.b)) if h0 is None else h0[0]
+ h = self.h if h0 is None else h0[0]
+ if h is None or len(h) != x.shape[1]:
+     h = x.new_zeros(x.shape[1], len(self.b))
- return torch.stack(states), h.unsqueeze(0)
+ self.h = h
+ return torch.stack(states), h.unsqueeze(0)

recurrent_matrix_transposed: W is transposed. In this course's rows it is `h @ self.W`; PyTorch's own weight_hh_l0 is
  the transpose of it.
- h = torch.tanh(x_t @ self.U + h @ self.W + self.b)
+ h = torch.tanh(x_t @ self.U + h @ self.W.T + self.b)

no_nonlinearity: There is no tanh: your states are the sums that go into it.
- h = torch.tanh(x_t @ self.U + h @ self.W + self.b)
+ h = x_t @ self.U + h @ self.W + self.b

states_one_late: Your output begins with the start state and lacks the last one. Keep the state after each step, not
  before it.
- for x_t in x:
+ for x_t in x:
+     states.append(h)
- states.append(h)

drawn_above_zero: Your numbers are drawn between 0 and 1/√H. They lie evenly from -1/√H to 1/√H: `torch.rand` begins at
  0, so take it twice and subtract 1.
- self.U = nn.Parameter(torch.empty(input_size, hidden_size).uniform_(-bound, bound))
- self.W = nn.Parameter(torch.empty(hidden_size, hidden_size).uniform_(-bound, bound))
- self.b = nn.Parameter(torch.empty(hidden_size).uniform_(-bound, bound))
+ self.U = nn.Parameter(torch.rand(input_size, hidden_size) * bound)
+ self.W = nn.Parameter(torch.rand(hidden_size, hidden_size) * bound)
+ self.b = nn.Parameter(torch.rand(hidden_size) * bound)

output_rows_first: Your output is (N, T, H). Time comes first, as in x: stack the states along the first axis.
- return torch.stack(states), h.unsqueeze(0)
+ return torch.stack(states, dim=1), h.unsqueeze(0)

first_state_as_the_last: Your h_n is the state after the first step. It is the one after the last.
- return torch.stack(states), h.unsqueeze(0)
+ return torch.stack(states), states[0].unsqueeze(0)
""")


# --- as_torch_rnn


def one_bias(answer: Plain) -> Plain:
    """The form in which two modules are compared: the sum of the two biases, and of each its shape and dtype."""
    name, state, result = answer
    first, second = state["bias_ih_l0"], state["bias_hh_l0"]
    empty = {"bias_ih_l0": np.zeros_like(first), "bias_hh_l0": np.zeros_like(second)}
    return name, {**state, **empty, "bias_ih_l0 + bias_hh_l0": first + second}, result


ex = unit.exercise(
    "as_torch_rnn",
    points=3,
    takes="weights, kind, inputs",
    gives="module, state, outputs",
    drive=builds,
    canonical=one_bias,
    hints=(
        "`nn.RNN(D, H)` comes with random weights of its own. You want to put yours in their place: which of your "
        "arrays goes where, and which of them must be turned round? The table above says it.",
        "Turn each argument into a tensor with `torch.as_tensor`. Build `nn.RNN(*U.shape, dtype=U.dtype)`. Then "
        "`load_state_dict` of four entries: it copies, and it complains if one is missing.",
        '`rnn.load_state_dict({"weight_ih_l0": U.T, "weight_hh_l0": W.T, "bias_ih_l0": b, "bias_hh_l0": '
        "torch.zeros_like(b)})`, and return rnn.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def call(T: int, N: int, D: int, H: int, dtype: Any = np.float64) -> Arrays:
        return normal(rng, T, N, D, dtype=dtype), normal(rng, 1, N, H, dtype=dtype)

    yield case(cell_weights(rng, 4, 3), "arrays", call(5, 2, 4, 3))
    yield case(cell_weights(rng, 2, 5), "tensors", call(4, 3, 2, 5))
    yield edge("the weights are parameters", cell_weights(rng, 3, 4), "parameters", call(4, 2, 3, 4))
    yield edge("as many inputs as units", cell_weights(rng, 3, 3), "tensors", call(4, 2, 3, 3))
    yield edge("one unit", cell_weights(rng, 2, 1), "arrays", call(4, 3, 2, 1))
    single = np.float32
    yield edge("float32 arrays", cell_weights(rng, 3, 4, single), "arrays", call(4, 2, 3, 4, single))
    yield edge("float32 tensors", cell_weights(rng, 4, 2, single), "tensors", call(4, 3, 4, 2, single))


ex.mistakes(r"""
recurrent_matrix_not_transposed: U is transposed and W is not. W is square, so nothing complains, and every state that
  comes of one other than zeros is wrong: weight_hh_l0 is `W.T`.
- rnn.load_state_dict({"weight_ih_l0": U.T, "weight_hh_l0": W.T, "bias_ih_l0": b, "bias_hh_l0": torch.zeros_like(b)})
+ rnn.load_state_dict({"weight_ih_l0": U.T, "weight_hh_l0": W, "bias_ih_l0": b, "bias_hh_l0": torch.zeros_like(b)})

reshaped_for_transposed: The numbers of U are cut anew, as a reshape does it: the shape is right, and they stand in
  wrong places. `U.T` swaps the axes.
- rnn.load_state_dict({"weight_ih_l0": U.T, "weight_hh_l0": W.T, "bias_ih_l0": b, "bias_hh_l0": torch.zeros_like(b)})
+ turned = U.reshape(len(b), -1)
+ rnn.load_state_dict({"weight_ih_l0": turned, "weight_hh_l0": W.T, "bias_ih_l0": b, "bias_hh_l0": torch.zeros_like(b)})

second_bias_left_as_it_was: `nn.RNN` has two biases and adds them. You set one; the other still holds the random numbers
  that the module was born with. Set it to zeros.
- rnn.load_state_dict({"weight_ih_l0": U.T, "weight_hh_l0": W.T, "bias_ih_l0": b, "bias_hh_l0": torch.zeros_like(b)})
+ rnn.load_state_dict({"weight_ih_l0": U.T, "weight_hh_l0": W.T, "bias_ih_l0": b}, strict=False)

bias_twice: Your two biases are 2 b together, and PyTorch adds them. Put b into one and zeros into the other.
- rnn.load_state_dict({"weight_ih_l0": U.T, "weight_hh_l0": W.T, "bias_ih_l0": b, "bias_hh_l0": torch.zeros_like(b)})
+ rnn.load_state_dict({"weight_ih_l0": U.T, "weight_hh_l0": W.T, "bias_ih_l0": b, "bias_hh_l0": b})

bias_lost: Your two biases are zero together: b is lost. PyTorch adds them, and their sum must be b.
- rnn.load_state_dict({"weight_ih_l0": U.T, "weight_hh_l0": W.T, "bias_ih_l0": b, "bias_hh_l0": torch.zeros_like(b)})
+ zeros = torch.zeros_like(b)
+ rnn.load_state_dict({"weight_ih_l0": U.T, "weight_hh_l0": W.T, "bias_ih_l0": zeros, "bias_hh_l0": zeros})

always_float32: Your module is float32 whatever it was given: that is what `nn.RNN(D, H)` makes. NumPy's arrays are
  float64; tell the module, `dtype=U.dtype`, once U is a tensor.
- rnn = nn.RNN(*U.shape, dtype=U.dtype)
+ rnn = nn.RNN(*U.shape)

memory_shared: The numbers are right, but a parameter of the module lies in the memory of an argument: training the
  module would change it. `load_state_dict` and `copy_` copy; `nn.Parameter(tensor)` and `.data = tensor` do not.
- rnn.load_state_dict({"weight_ih_l0": U.T, "weight_hh_l0": W.T, "bias_ih_l0": b, "bias_hh_l0": torch.zeros_like(b)})
+ rnn.load_state_dict({"weight_ih_l0": U.T, "weight_hh_l0": W.T, "bias_ih_l0": b, "bias_hh_l0": torch.zeros_like(b)})
+ rnn.weight_hh_l0 = nn.Parameter(W.T)
+ rnn.bias_ih_l0 = nn.Parameter(b)
+ rnn.bias_hh_l0 = nn.Parameter(torch.zeros_like(b))
""")


ex = unit.exercise(
    "CharRNN",
    points=3,
    takes="sizes, parameters, inputs",
    gives="returned [logits (T, N, V), state (1, N, H)], gradients, "
    "input_gradients [None, the gradient with respect to the state (1, N, H)]",
    drive=layer,
    hints=(
        "Three modules, one after the other: ids become vectors, vectors become states, states become logits. Which "
        "sizes does each go from and to?",
        "`nn.Embedding(vocabulary_size, embedding_size)`, `nn.RNN(embedding_size, hidden_size)`, "
        "`nn.Linear(hidden_size, vocabulary_size)`. Each takes the last axis and leaves the others as they are.",
        "`states, state = self.rnn(self.embedding(ids), state)`, then `return self.output(states), state`. nn.RNN "
        "takes None for a state of zeros.",
    ),
)


def char_parameters(rng: np.random.Generator, V: int, E: int, H: int, dtype: Any = np.float64) -> Parameters:
    """Draw the parameters of a CharRNN by name."""
    read = embedding(rng, "embedding", V, E, dtype) | recurrent(rng, "rnn", E, H, dtype)
    return read | linear(rng, "output", H, V, dtype)


def some_ids(rng: np.random.Generator, T: int, N: int, V: int) -> np.ndarray:
    """Ids (T, N) below V; the id 0, which must be nothing special, is among them."""
    ids = rng.integers(0, V, size=(T, N))
    ids[0, 0] = 0
    return ids


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    ids = some_ids(rng, 5, 3, 7)
    yield case((7, 4, 2), char_parameters(rng, 7, 4, 2), [(ids,), (some_ids(rng, 4, 2, 7),), (ids, None)])
    calls = [(some_ids(rng, 4, 2, 6), normal(rng, 1, 2, 5)), (some_ids(rng, 5, 4, 6), normal(rng, 1, 4, 5))]
    yield case((6, 3, 5), char_parameters(rng, 6, 3, 5), calls)
    calls = [(some_ids(rng, 1, 3, 4), normal(rng, 1, 3, 2))]
    yield edge("one step", (4, 5, 2), char_parameters(rng, 4, 5, 2), calls)
    yield edge("one row", (5, 2, 3), char_parameters(rng, 5, 2, 3), [(some_ids(rng, 4, 1, 5),)])
    yield edge("float32", (5, 3, 4), char_parameters(rng, 5, 3, 4, np.float32), [(some_ids(rng, 4, 2, 5),)])


ex.mistakes(r"""
state_ignored: The state that is handed in is not used: every call starts from zeros, and nothing can be carried from
  one batch to the next. `self.rnn(vectors, state)` takes it, None included.
- states, state = self.rnn(self.embedding(ids), state)
+ states, state = self.rnn(self.embedding(ids))

last_step_only: Your logits are those of the last step only. The prediction is wanted after every step: the output layer
  reads the first thing that nn.RNN returns, all states (T, N, H).
- return self.output(states), state
+ return self.output(state), state

all_states_returned: As the state you return all states, (T, N, H). What the next call needs is the last one, h_n (1, N,
  H), the second thing that nn.RNN returns.
- return self.output(states), state
+ return self.output(states), states

probabilities_for_logits: You return probabilities. `nn.functional.cross_entropy` wants logits and takes the softmax
  itself; with two of them the loss still falls, slowly, and never far.
- return self.output(states), state
+ return torch.softmax(self.output(states), dim=-1), state

log_probabilities_for_logits: You return log-probabilities. `forward` gives the logits as the linear layer makes them;
  the softmax is the loss's business.
- return self.output(states), state
+ return torch.log_softmax(self.output(states), dim=-1), state

read_batch_first: The rows of the batch are taken for time steps, as with `batch_first=True`. ids are (T, N), and time
  first is what nn.RNN does by itself.
- self.rnn = nn.RNN(embedding_size, hidden_size)
+ self.rnn = nn.RNN(embedding_size, hidden_size, batch_first=True)

returned_state_detached: No gradient flows through the state that you return. Whether one may flow on is for the caller
  to say: `train_epoch` cuts it, other programs need it. Return it as nn.RNN gives it.
- return self.output(states), state
+ return self.output(states), state.detach()

kept_between_calls: A call without a state starts where the call before it ended. With `state=None` it starts from
  zeros: keep nothing in `self` but the three modules.
- self.output = nn.Linear(hidden_size, vocabulary_size)
+ self.output = nn.Linear(hidden_size, vocabulary_size)
+ self.state = None
- states, state = self.rnn(self.embedding(ids), state)
+ states, state = self.rnn(self.embedding(ids), self.state if state is None else state)
+ self.state = state

padding_index_zero: The values are right, but the embedding of id 0 gets no gradient and never learns, as with
  `padding_idx=0`. Here id 0 is a character like any other.
- self.embedding = nn.Embedding(vocabulary_size, embedding_size)
+ self.embedding = nn.Embedding(vocabulary_size, embedding_size, padding_idx=0)

bent_logits: Your logits are never negative: there is a ReLU on them. Nothing stands behind the linear layer.
- return self.output(states), state
+ return torch.relu(self.output(states)), state

last_step_without_its_axis = last_step_only
- return self.output(states), state
+ return self.output(states[-1]), state
""")


ex = unit.exercise(
    "pad_sequences",
    points=2,
    takes="sequences",
    gives="padded (T, N, …), lengths (N,)",
    drive=with_tensors,
    forbids=("torch.nn.utils.rnn",),
    hints=(
        "Make a large tensor of zeros first, then lay each sequence into its own column. How long must it be, and of "
        "which dtype?",
        "`first.new_zeros(T, N, *first.shape[1:])` has the dtype of the first sequence, and the axes that come after "
        "time. The lengths are the `len` of the sequences.",
        "In a loop over `n, sequence` in `enumerate(sequences)`: `padded[: len(sequence), n] = sequence`. Return "
        "padded and `torch.tensor(lengths)`.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def ids(*lengths: int) -> list[np.ndarray]:
        made = [rng.integers(1, 9, size=length) for length in lengths]
        made[0][-1] = 0  # a real symbol may well be 0, the last one too
        return made

    def vectors(*lengths: int, dtype: Any = np.float64) -> list[np.ndarray]:
        return [normal(rng, length, 3, dtype=dtype) for length in lengths]

    yield case(ids(2, 5, 3))
    yield case(ids(4, 1, 6, 3, 5))
    yield case(vectors(3, 6, 1, 5))
    yield edge("one sequence", ids(4))
    yield edge("equal lengths", ids(3, 3, 3, 3))
    yield edge("one step each", vectors(1, 1))
    yield edge("float32", vectors(2, 4, 3, dtype=np.float32))
    yield edge("steps that are matrices", [normal(rng, length, 2, 4) for length in (2, 5, 1)])


@ex.holds("The lengths are int64, the only dtype that packing takes")
def _(call: Any, rng: np.random.Generator) -> str | None:
    _, lengths = call([rng.integers(1, 9, size=length) for length in (2, 4, 3)])
    if not isinstance(lengths, np.ndarray):
        return "yours are no tensor."
    return None if lengths.dtype == np.int64 else f"yours are {lengths.dtype}."


ex.mistakes(r"""
sequences_first: Your batch is (N, T, …), a sequence in each row. In this course time comes first: `padded[:, n]` is
  sequence n.
- return padded, lengths
+ return padded.transpose(0, 1), lengths

reshaped_for_transposed: The sequences are interleaved: a reshape of (N, T) into (T, N) cuts the numbers anew. To swap
  the two axes, `transpose(0, 1)`; or fill columns from the start.
- return padded, lengths
+ return padded.transpose(0, 1).reshape(padded.shape), lengths

zeros_in_front: Your zeros stand in front of the shorter sequences. They belong behind them: every sequence starts at
  step 0.
- padded[: len(sequence), n] = sequence
+ padded[len(padded) - len(sequence) :, n] = sequence

sorted_by_length: Your sequences come out sorted by length. Column n must be sequence n, or nobody knows whose answer is
  whose.
- lengths = torch.tensor([len(sequence) for sequence in sequences])
+ sequences = sorted(sequences, key=len, reverse=True)
+ lengths = torch.tensor([len(sequence) for sequence in sequences])

dtype_lost: The batch is float32, whatever the sequences were, as `torch.zeros` makes it. Ids must stay whole numbers,
  or no embedding takes them. `sequence.new_zeros(…)` keeps the dtype.
- padded = sequences[0].new_zeros(int(lengths.max()), len(sequences), *sequences[0].shape[1:])
+ padded = torch.zeros(int(lengths.max()), len(sequences), *sequences[0].shape[1:])

cut_to_the_shortest: The longer sequences are cut to the length of the shortest. T is the greatest length: nothing is
  thrown away.
+ lengths = torch.tensor([len(sequence) for sequence in sequences])
+ return torch.stack([sequence[: lengths.min()] for sequence in sequences], dim=1), lengths

lengths_of_the_padded: All your lengths are T, the length after padding. What is wanted is how many steps of each are
  real.
- return padded, lengths
+ return padded, torch.full_like(lengths, len(padded))

zeros_not_counted: Your lengths count the steps that are not zero. A real symbol may be 0 too: ask the sequences, before
  you pad.
- return padded, lengths
+ return padded, (padded != 0).reshape(*padded.shape[:2], -1).any(dim=2).sum(dim=0)

last_step_repeated: The padding repeats the last real step. It is zeros: padding should look like nothing.
- padded[: len(sequence), n] = sequence
+ padded[:, n] = sequence[-1]
+ padded[: len(sequence), n] = sequence

as_long_as_the_first: You make room for as many steps as the first sequence has. The longest may be any of them: take
  the greatest of the lengths.
- padded = sequences[0].new_zeros(int(lengths.max()), len(sequences), *sequences[0].shape[1:])
+ padded = sequences[0].new_zeros(int(lengths[0]), len(sequences), *sequences[0].shape[1:])
""")


ex = unit.exercise(
    "length_mask",
    points=1,
    takes="lengths (N,), T",
    gives="mask (T, N)",
    drive=with_tensors,
    hints=(
        "Entry [t, n] asks one question: is t smaller than the length of sequence n?",
        "`torch.arange(T)` has all the t. As a column, (T, 1), compared with the row of lengths (N,), it gives all "
        "answers at once.",
        "`torch.arange(T)[:, None] < lengths`",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(np.array([3, *rng.permutation([1, 2, 5, 5])]), 6)
    yield case(np.array([1, *rng.permutation([2, 4, 7])]), 7)
    yield case(np.array([2, *rng.permutation([1, 4])]), 9)
    for note, (T, lengths) in LENGTHS.items():
        yield edge(note, lengths, T)
    yield edge("a row of nothing but padding", np.array([3, 0, 2]), 4)


ex.mistakes(r"""
one_step_too_many: The first step of the padding counts as real. Steps are counted from 0: a sequence of length 3 has
  the steps 0, 1 and 2, so t < length.
+ return torch.arange(T)[:, None] <= lengths

one_step_too_few: The last real step of each sequence is left out. A sequence of length 3 has the steps 0, 1 and 2.
+ return torch.arange(1, T + 1)[:, None] < lengths

padding_is_true: Your mask is True in the padding. Some of PyTorch's layers want it so, `key_padding_mask` for one; here
  True means a real step.
+ return torch.arange(T)[:, None] >= lengths

padding_is_true_from_the_last_step = padding_is_true
+ return torch.arange(T)[:, None] >= lengths - 1

rows_first: Your mask is (N, T). Time comes first: row t says which sequences are still going on at step t.
+ return torch.arange(T) < lengths[:, None]

reshaped_for_transposed: The sequences are interleaved: a reshape of (N, T) into (T, N) cuts the entries anew. Compare a
  column of steps with a row of lengths, or take the transpose.
+ return (torch.arange(T) < lengths[:, None]).reshape(T, -1)

padding_in_front: Your mask says that the padding comes first. It comes last: step 0 is real in every sequence.
+ return torch.arange(T)[:, None] >= T - lengths

numbers_for_truth: Your mask holds numbers. It must be a tensor of True and False: `logits[mask]` with numbers would
  pick rows 0 and 1 again and again.
+ return (torch.arange(T)[:, None] < lengths).long()

longest_for_T: Your mask ends with the longest sequence. It should have T rows, also where T exceeds every length.
+ return torch.arange(int(lengths.max()))[:, None] < lengths
""")


ex = unit.exercise(
    "masked_cross_entropy",
    points=2,
    takes="logits (T, N, Q), targets (T, N), mask (T, N)",
    gives="loss, gradients",
    drive=differentiable,
    hints=(
        "There is one loss for each step of each row. Add up those that are real. By how many do you divide?",
        "`nn.functional.cross_entropy` wants the logits as (rows, Q) and the targets as (rows,). `logits[mask]` is "
        "just that: the real ones, one below the other.",
        "`nn.functional.cross_entropy(logits[mask], targets[mask])`: its mean is over what it is given, and that "
        "is real.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def padded(T: int, N: int, Q: int, *lengths: int, dtype: Any = np.float64) -> Arrays:
        mask = np.arange(T)[:, None] < np.array(lengths)
        logits = np.where(mask[..., None], normal(rng, T, N, Q), 5 * normal(rng, T, N, Q))  # padding may be loud
        targets = np.where(rng.random((T, N)) < 0.5, 0, rng.integers(0, Q, size=(T, N)))
        targets[0] = [0, *rng.integers(1, Q, size=N - 1)]  # id 0 is a symbol like any other
        return logits.astype(dtype), targets, mask

    yield case(*padded(5, 3, 4, 2, 5, 1))
    yield case(*padded(6, 4, 3, 5, 1, 3, 4))
    yield case(*padded(4, 2, 6, 1, 4))
    for note, (T, lengths) in LENGTHS.items():
        yield edge(note, *padded(T, len(lengths), 3, *lengths))
    logits, targets, _ = padded(4, 3, 5, 4, 4, 4)
    holes = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1]], dtype=bool)
    yield edge("a mask with holes", logits, targets, holes)
    logits, targets, mask = padded(4, 2, 3, 4, 2)
    yield edge("logits near 1000", logits + 1000, targets, mask)
    yield edge("float32", *padded(4, 3, 5, 3, 4, 1, dtype=np.float32))


ex.mistakes(r"""
mask_ignored: The padding counts like real tokens. Keep `logits[mask]` and `targets[mask]`.
+ return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())

logits_masked: You put the mask on the logits. A step whose logits are all 0 costs log Q all the same: leave it out, or
  put the mask on the losses.
+ flat = (logits * mask[..., None]).flatten(0, 1)
+ return nn.functional.cross_entropy(flat, targets.flatten(), reduction="sum") / mask.sum()

divided_by_all_steps: The losses under the padding are gone, but you divide by all T times N steps. Then the loss
  depends on how much padding there is: divide by `mask.sum()`.
+ losses = nn.functional.cross_entropy(logits.movedim(-1, 1), targets, reduction="none")
+ return (losses * mask).mean()

divided_by_the_rows: This is the loss of unit 04, a sum divided by the number of rows. Here it is the mean over real
  tokens: divide by `mask.sum()`.
+ losses = nn.functional.cross_entropy(logits.movedim(-1, 1), targets, reduction="none")
+ return (losses * mask).sum() / logits.shape[1]

sum_for_mean: You return the sum over the real tokens. Divide it by how many there are, `mask.sum()`.
+ return nn.functional.cross_entropy(logits[mask], targets[mask], reduction="sum")

mean_of_row_means: You take the mean of each sequence, then the mean of those: a token in a short sequence counts for
  more than one in a long one. Each real token counts the same.
+ losses = nn.functional.cross_entropy(logits.movedim(-1, 1), targets, reduction="none") * mask
+ return (losses.sum(dim=0) / mask.sum(dim=0)).mean()

zeroed_logits: Under the padding your logits are zero, and counted: a softmax of zeros costs log Q, not nothing. Mask
  the losses, or leave the padding out.
+ return nn.functional.cross_entropy((logits * mask[..., None]).flatten(0, 1), targets.flatten())

zero_targets_left_out: You leave out the steps whose target is 0. That is right only where no real symbol has the id 0;
  the mask says what is real.
+ losses = nn.functional.cross_entropy(logits.movedim(-1, 1), targets, reduction="none")
+ real = mask & (targets != 0)
+ return (losses * real).sum() / real.sum()

softmax_twice: There are two softmaxes: `cross_entropy` takes one itself, and yours comes before it. Hand it the logits.
+ return nn.functional.cross_entropy(torch.softmax(logits, dim=-1)[mask], targets[mask])

padding_for_real: The mask is taken the wrong way round: True means real.
+ losses = nn.functional.cross_entropy(logits.movedim(-1, 1), targets, reduction="none")
+ return losses[~mask].sum() / (~mask).sum().clamp(min=1)

history_lost: No gradient flows back from what you return. Is it None, or was it made under `torch.no_grad`, or with
  `.data`, `detach`, `item`, `tolist` or `torch.tensor`?
+ return nn.functional.cross_entropy(logits[mask], targets[mask]).detach()
""")


ex = unit.exercise(
    "last_states",
    points=2,
    takes="H (T, N, H), lengths (N,)",
    gives="last (N, H), gradients",
    drive=differentiable,
    may_share=True,
    hints=(
        "For row n you want one state: at which step, counted from 0, did sequence n end?",
        "The steps are `lengths - 1`, one for each row. Indexing with two tensors of N numbers, steps and rows, picks "
        "N places.",
        "`H[lengths - 1, torch.arange(H.shape[1])]`",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    # In the first no sequence reaches T; in the second one does, where an index one too high is an error.
    yield case(normal(rng, 7, 4, 3), np.array([3, 5, 1, 6]))
    yield case(normal(rng, 5, 3, 2), np.array([2, 5, 4]))
    for note, (T, lengths) in LENGTHS.items():
        yield edge(note, normal(rng, T, len(lengths), 2), lengths)
    yield edge("one unit", normal(rng, 5, 3, 1), np.array([1, 4, 3]))
    yield edge("float32", normal(rng, 5, 3, 3, dtype=np.float32), np.array([1, 4, 3]))


ex.mistakes(r"""
last_step_of_all: You take the last step for every row. For the shorter ones that is a state from deep inside the
  padding.
+ return H[-1] * 1

longest_for_all: You take the step at which the longest sequence ends, for every row. Each row has its own last step.
+ return H[lengths.max() - 1] * 1

one_step_late: You are one step late: a sequence of length 3 ends at step 2. At index 3 stands the first state of the
  padding, or nothing at all.
+ return H[lengths, torch.arange(H.shape[1])]

one_step_early: You are one step early: a sequence of length 3 ends at step 2. And for length 1, `lengths - 2` is -1,
  which is the last step of all.
+ return H[lengths - 2, torch.arange(H.shape[1])]

first_row_for_all: All your states come from sequence 0. Beside the step, the index needs the row: `torch.arange(N)`.
+ return H[lengths - 1, 0]

every_row_at_every_end: Your answer is (N, N, H), as `H[lengths - 1]` is: for each length all rows at that step. You
  want the pairs: index with the steps and with the rows, both of length N.
+ return H[lengths - 1]

longest_first: Your states stand in the order of the lengths, the longest sequence first. Whoever sorts the batch puts
  the answer back into its order: row n belongs to sequence n.
+ order = torch.argsort(lengths, descending=True)
+ return H[lengths[order] - 1, order]

mean_of_the_states: You take all real states together, in a mean or a sum. That is a summary too, but another one: here
  the last one is wanted.
+ mask = torch.arange(len(H))[:, None] < lengths
+ return (H * mask[..., None]).sum(dim=0) / lengths[:, None].to(H.dtype)

first_states: You return the states after the first step. The last real one has read the whole sequence.
+ return H[0] * 1

layer_axis_kept: Your answer has a first axis of length 1, as h_n of nn.RNN has. Here it is (N, H).
+ return H[None, lengths - 1, torch.arange(H.shape[1])]

history_lost: No gradient flows back from what you return. Is it None, or was it made under `torch.no_grad`, or with
  `.data`, `detach`, `item`, `tolist` or `torch.tensor`?
+ return H[lengths - 1, torch.arange(H.shape[1])].detach()

one_step_late_but_no_further_than_the_end = one_step_late
+ return H[lengths.clamp(max=len(H) - 1), torch.arange(H.shape[1])]

sum_of_the_states = mean_of_the_states
+ mask = torch.arange(len(H))[:, None] < lengths
+ return (H * mask[..., None]).sum(dim=0)

rows_for_time: You find the states as if H were (N, T, H), by a reshape or by the flat index n T + t. Time comes first:
  the state of row n after step t is H[t, n], and its flat index t N + n.
+ T, N, _ = H.shape
+ return H.reshape(N, T, -1)[torch.arange(N), lengths - 1]
""")


ex = unit.exercise(
    "train_epoch",
    points=4,
    takes="model, learning_rate, batches, max_norm",
    gives="loss, parameters",
    ends={"learning_rate": "none"},
    drive=train,
    hints=(
        "For each batch there are six steps: forwards, loss, forget the old gradients, backwards, clip, update. And "
        "the state goes on to the next batch. Which of them may not change places?",
        "`logits, state = model(inputs, state)` and at once `state = state.detach()`. The loss is `cross_entropy` of "
        "the flattened logits and targets. `zero_grad` comes before `backward`, clipping between it and `step`.",
        "Count as you go: `total += loss.item() * targets.numel()` and `tokens += targets.numel()`. Return "
        "`total / tokens`. The clipping is `nn.utils.clip_grad_norm_(model.parameters(), max_norm)`.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def reader(Q: int, H: int, dtype: Any = np.float64) -> Named:
        return small_reader(E=normal(rng, Q, H, dtype=dtype), W=weights(rng, H, H, dtype), V=weights(rng, H, Q, dtype))

    def batches(Q: int, N: int, *steps: int) -> list[tuple[np.ndarray, np.ndarray]]:
        texts = [rng.integers(0, Q, size=(T + 1, N)) for T in steps]
        return [(text[:-1], text[1:]) for text in texts]

    # Steps of different lengths tell a mean over tokens from a mean of means; the third is not
    # clipped.
    yield case(reader(5, 4), 0.5, batches(5, 3, 4, 7, 2, 4), 0.1)
    yield case(reader(4, 6), 0.3, batches(4, 2, 6, 3, 5), 0.05)
    yield case(reader(6, 3), 0.5, batches(6, 2, 3, 6, 4), 1000.0)
    yield edge("one batch", reader(4, 3), 0.5, batches(4, 2, 5), 0.1)
    yield edge("one step, one row", reader(4, 3), 0.5, batches(4, 1, 1, 1, 1), 0.1)
    yield edge("float32", reader(5, 4, np.float32), 0.5, batches(5, 3, 4, 6), 0.1)


ex.mistakes(r"""
gradients_pile_up: The gradients are never set back: `backward` adds to what is there, so each update follows the sum of
  all batches so far. `optimizer.zero_grad()` before each `backward`.
- optimizer.zero_grad()

state_not_detached: The state brings its history with it: the second `backward` walks back into the first batch, whose
  graph is gone. `state = state.detach()` keeps the value and drops the history.
- state = state.detach()

graph_retained: The state is not detached, and `retain_graph=True` is no way out: `backward` walks back into a batch
  whose parameters have changed since. `state = state.detach()` keeps the value and drops the history.
- loss.backward()
+ loss.backward(retain_graph=True)
- state = state.detach()

state_reset_at_each_batch: Every batch starts from None: what was read before is forgotten. Hand the state of one batch
  to the next, detached.
- logits, state = model(inputs, state)
+ logits, state = model(inputs, None)

not_clipped_in_time: The update is made with gradients that are not clipped. Between `backward` and `step`,
  `clip_grad_norm_(model.parameters(), max_norm)` clips them.
- loss.backward()
+ loss.backward()
+ optimizer.step()
- optimizer.step()

clipped_by_value: Each entry of the gradient is clipped by itself, which turns its direction. By the norm of all of them
  together: `clip_grad_norm_`, not `clip_grad_value_`.
- nn.utils.clip_grad_norm_(model.parameters(), max_norm)
+ nn.utils.clip_grad_value_(model.parameters(), max_norm)

each_parameter_by_its_own_norm: Each parameter is clipped by its own norm. It is one norm over all of them, so that the
  direction stays: `clip_grad_norm_` takes all parameters at once.
- nn.utils.clip_grad_norm_(model.parameters(), max_norm)
+ for parameter in model.parameters():
+     nn.utils.clip_grad_norm_(parameter, max_norm)

mean_of_the_batch_means: You return the mean of the batches' means. Batches differ in size: weigh each mean by its
  number of tokens, `targets.numel()`, and divide by all of them.
- total += loss.item() * targets.numel()
- tokens += targets.numel()
+ total += loss.item()
+ tokens += 1

loss_of_the_last_batch: You return the loss of the last batch. What is wanted is the mean over the tokens of all
  batches.
- return total / tokens
+ return loss.item()

total_returned: You return the total over all tokens. Divide it by their number.
- return total / tokens
+ return total

sum_minimised: You go down the gradient of the summed loss: where nothing is clipped, a larger batch takes a larger
  step. Minimise the mean over the batch's tokens, and sum only for the report.
- loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
+ loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")
- total += loss.item() * targets.numel()
+ total += loss.item()

no_update: The parameters are as they were: no update takes place. `optimizer.step()` makes it, from the gradients that
  `backward` has computed; nothing may set these back in between.
- optimizer.step()

one_update_for_all: You make one update, after the last batch, with the gradients of all of them. Each batch has an
  update of its own, and the next one is read with the new parameters.
- optimizer.zero_grad()

- nn.utils.clip_grad_norm_(model.parameters(), max_norm)
- optimizer.step()

- return total / tokens
+ nn.utils.clip_grad_norm_(model.parameters(), max_norm)
+ optimizer.step()
+ return total / tokens
""")
