"""Driving what is written in PyTorch: arrays become tensors on the way in, tensors arrays on the way out.

A module is built from plain settings, its named parameters are loaded with drawn arrays, and it is called. The answer
holds what came out of each call and the gradient of a generic weighted sum of all that came out, with respect to each
parameter: so a forward pass through which no gradient flows, or a parameter that nothing uses, shows.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import torch

from rnncourse.checks.plain import Unfit, identical


def tensors(value: Any) -> Any:
    """`value` with a tensor for each array, which shares its memory."""
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value)
    if isinstance(value, (list, tuple)):
        return type(value)(tensors(v) for v in value)
    if type(value) is dict:
        return {k: tensors(v) for k, v in value.items()}
    return value


def arrays(value: Any) -> Any:
    """`value` with an array for each tensor, which shares its memory."""
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().numpy()
    if isinstance(value, (list, tuple)):
        return [arrays(v) for v in value] if isinstance(value, list) else tuple(arrays(v) for v in value)
    if isinstance(value, dict):
        return {k: arrays(v) for k, v in value.items()}
    return value


def has_gradient(value: Any) -> bool:
    """Whether a tensor in `value` asks for a gradient or has one."""
    if isinstance(value, torch.Tensor):
        return value.requires_grad or (value.is_leaf and value.grad is not None)
    if isinstance(value, (list, tuple)):
        return any(has_gradient(v) for v in value)
    return type(value) is dict and any(has_gradient(v) for v in value.values())


def drive_module(
    candidate: Any,
    init: tuple[Any, ...],
    parameters: dict[str, torch.Tensor],
    calls: list[tuple[Any, ...]],
    *,
    training: bool = True,
) -> tuple[list[Any], dict[str, torch.Tensor]]:
    """Build `candidate(*init)`, load the parameters, call it with each tuple of arguments.

    Returns the outputs in evaluation mode, and by name the gradients of a weighted sum of them, in training mode or
    not. **Errors:** `Unfit` if the module's parameters are not those, by name and shape.
    """
    with _as_default(parameters):
        model = load(candidate(*init), parameters)
        outputs, total = _outputs(model, calls, training=training)
        return outputs, _by_name(model, parameters, total)


def drive_outputs(
    candidate: Any, init: tuple[Any, ...], parameters: dict[str, torch.Tensor], calls: list[tuple[Any, ...]], *_: Any
) -> list[Any]:
    """The outputs of `drive_module` alone."""
    with _as_default(parameters), torch.no_grad():
        model = load(candidate(*init), parameters).eval()
        return [arrays(model(*args)) for args in calls]


@contextmanager
def _as_default(parameters: dict[str, torch.Tensor]) -> Iterator[None]:
    """The dtype of the parameters is that of `torch.zeros(n)` and the like meanwhile, as float32 is in a notebook. That
    cases are in float64, to be told apart, is no fault of who has never heard of it.
    """
    before = torch.get_default_dtype()
    torch.set_default_dtype(_dtype_of(parameters))
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _dtype_of(parameters: dict[str, torch.Tensor]) -> torch.dtype:
    return next((p.dtype for p in parameters.values()), torch.float32)


def drive_padded_module(
    candidate: Any, init: tuple[Any, ...], parameters: dict[str, torch.Tensor], calls: list[tuple[Any, ...]]
) -> tuple[list[Any], dict[str, torch.Tensor]]:
    """`drive_module` for outputs (T, N, …) of which padded steps count for nothing: they are zero, without gradient.
    Of several results it is the first.

    The last argument of a call says how long each sequence is, if it is a tensor of N whole numbers.
    """
    with _as_default(parameters):
        model = load(candidate(*init), parameters)
        outputs, total = _outputs(model, calls, _without_padding)
        return outputs, _by_name(model, parameters, total)


def _without_padding(model: torch.nn.Module, *args: Any) -> Any:
    last = args[-1]
    if not (isinstance(last, torch.Tensor) and last.ndim == 1 and not last.is_floating_point()):
        return model(*args)
    lengths = last.clone()  # the model may write to its arguments
    answer = model(*args)
    output, *others = answer if isinstance(answer, (tuple, list)) and answer else [answer]
    if not isinstance(output, torch.Tensor) or output.ndim < 2 or output.shape[1] != len(lengths):
        return answer
    is_padding = torch.arange(len(output))[:, None] >= lengths
    output = output.masked_fill(is_padding.reshape(*is_padding.shape, *[1] * (output.ndim - 2)), 0)
    return output if isinstance(answer, torch.Tensor) else (output, *others)


def _outputs(
    model: torch.nn.Module,
    calls: list[tuple[Any, ...]],
    call: Callable[..., Any] = lambda model, *args: model(*args),
    *,
    training: bool = True,
) -> tuple[list[Any], torch.Tensor]:
    """What comes out of `model`, or `call(model, *args)`, in evaluation mode, and a weighted sum of what comes out in
    training mode or not. **Errors:** `Unfit` if no gradient flows through that.
    """
    outputs = [call(model.eval(), *args) for args in calls]
    total = weighted_sum([call(model.train(), *args) for args in calls] if training else outputs)
    if not total.requires_grad:
        if any(out is None for out in outputs):
            raise Unfit("a call of the module gives None, as where `forward` has no `return`")
        raise Unfit("no gradient reaches the parameters: a result is detached, or made from arrays")
    return [arrays(out) for out in outputs], total


def _by_name(model: torch.nn.Module, parameters: dict[str, torch.Tensor], total: torch.Tensor) -> dict[str, Any]:
    """The gradient of `total` by each of the parameters."""
    own = dict(model.named_parameters())
    return dict(zip(parameters, _gradients(total, [own[name] for name in parameters]), strict=True))


def drive_layer(
    candidate: Any,
    init: tuple[Any, ...],
    parameters: dict[str, torch.Tensor],
    calls: list[tuple[Any, ...]],
    *,
    dtype_counts: bool = False,
) -> tuple[list[Any], dict[str, torch.Tensor], list[tuple[Any, ...]]]:
    """`drive_module`, and the gradients of the same weighted sum by floating input, None for the others. If the dtype
    counts, what the module makes by itself has to be in that of what it gets.

    The inputs as they are come first, in evaluation mode, to see what becomes of them; then, in training mode, copies
    that collect gradients, and those of the parameters are taken there as well: one way back is enough.
    """
    leaves, fed = zip(*(_watched(args) for args in calls), strict=True)
    with _as_default(parameters):
        outputs, _ = _outputs(load(candidate(*init), parameters), calls, training=False)
    with nullcontext() if dtype_counts else _as_default(parameters):
        model = load(candidate(*init), parameters)
        own = dict(model.named_parameters())
        all_leaves = [*(own[name] for name in parameters), *(leaf for args in leaves for leaf in args)]
        shown = iter(_gradients(weighted_sum([model(*args) for args in fed]), all_leaves))
        gradients = dict(zip(parameters, shown, strict=False))
    return outputs, gradients, [tuple(next(shown) for _ in args) for args in leaves]


def drive_stochastic(
    candidate: Any, init: tuple[Any, ...], parameters: dict[str, torch.Tensor], calls: list[tuple[Any, ...]], rows: int
) -> tuple[list[Any], dict[str, torch.Tensor], list[Any]]:
    """`drive_module`, and what chance makes of the same calls in training mode, in a form that no draw changes.

    There each call is made with its batch, axis 1 of all tensors, repeated `rows` times. For each tensor that comes out
    the answer says which different rows are among them (rounded, in order), how often each came (as a share, to the
    nearest fifth), and whether the same call gives others the next time. With few units and steps and many rows, all
    that can be drawn is drawn. **Errors:** `Unfit` if two equal calls in eval mode differ.
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        outputs, gradients = drive_module(candidate, init, parameters, calls, training=False)
        model = load(candidate(*init), parameters)
        model.eval()
        chance = []
        with torch.no_grad():
            if not identical(outputs, [arrays(model(*args)) for args in calls]):
                raise Unfit("in eval mode two equal calls gave different answers: there chance must have no say")
            model.train()
            torch.default_generator.manual_seed(0)  # whatever its parameters were drawn from
            for args in calls if rows else ():
                many = [a.repeat(1, rows, *[1] * (a.ndim - 2)) if isinstance(a, torch.Tensor) else a for a in args]
                first, second = (arrays(model(*many)) for _ in range(2))
                pairs = zip(*(out if isinstance(out, (list, tuple)) else [out] for out in (first, second)), strict=True)
                chance.append([_patterns(*pair) for pair in pairs])
    return outputs, gradients, chance


def _patterns(first: np.ndarray, second: np.ndarray) -> dict[str, Any]:
    """The different rows (axis 1) of an array, how often each is there, and whether they are others in the second."""
    flat = np.round(first.swapaxes(0, 1).reshape(first.shape[1], -1), 8) + 0.0
    rows = Counter(row.tobytes() for row in flat)  # few are different: to sort them all takes far longer
    different, which = np.unique([np.frombuffer(row, flat.dtype) for row in rows], axis=0, return_index=True)
    counts = np.array(list(rows.values()))[which]
    return {
        "different rows": different,
        "shares": np.round(5 * counts / counts.sum()) / 5,
        "drawn anew": not np.array_equal(first, second),
    }


def drive_differentiable(candidate: Any, *args: Any) -> tuple[Any, tuple[Any, ...]]:
    """`candidate(*args)`, and the gradients of a weighted sum of it by floating argument, None for the others.

    **Errors:** `Unfit` if no gradient reaches any of them.
    """
    answer = candidate(*args)
    leaves, fed = _watched(args)
    total = weighted_sum(candidate(*fed))
    if not total.requires_grad:
        raise Unfit("no gradient flows back from the result: it is detached, or a plain number")
    return answer, tuple(_gradients(total, leaves))


def drive_builds(candidate: Any, first: tuple[Any, ...], kind: str, second: tuple[Any, ...]) -> Any:
    """The candidate answers with a module, which is called in its own dtype: `candidate(*first)(*second)`.

    `kind` says what it gets for the arrays in `first`: "arrays", "tensors" that share their memory, or "parameters",
    tensors that need gradients. Returns (the torch.nn class of the module, its state dict, what the call gave).
    **Errors:** `Unfit` if what is built is no `nn.Module`.
    """
    if kind != "arrays":
        first = tuple(torch.from_numpy(a).requires_grad_(kind == "parameters") for a in first)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)  # what a module draws for itself is the same each time
        made = candidate(*first)
    if not isinstance(made, torch.nn.Module):
        raise Unfit(f"the answer should be an nn.Module; yours is of the type {type(made).__name__}")
    dtype = next((p.dtype for p in made.parameters()), torch.float32)
    with torch.no_grad():
        result = made(*(a.to(dtype, copy=True) for a in tensors(second)))
    name = next(c.__name__ for c in type(made).__mro__ if c.__module__.startswith("torch.nn"))
    return name, arrays(dict(made.state_dict())), arrays(result)


def _watched(args: tuple[Any, ...]) -> tuple[list[Any], tuple[Any, ...]]:
    """For each floating tensor a leaf that collects its gradient, and what to hand on: no leaf, so that a candidate
    may write to it.
    """
    floating = [isinstance(a, torch.Tensor) and a.is_floating_point() for a in args]
    leaves = [a.detach().clone().requires_grad_() if f else None for a, f in zip(args, floating, strict=True)]
    return leaves, tuple(a if leaf is None else leaf.clone() for a, leaf in zip(args, leaves, strict=True))


def _gradients(total: torch.Tensor, leaves: list[Any]) -> list[Any]:
    """The gradient by each leaf, zeros where none arrives, None for what is no leaf."""
    wanted = [leaf for leaf in leaves if leaf is not None]
    found = iter(torch.autograd.grad(total, wanted, allow_unused=True) if wanted and total.requires_grad else ())
    shown = []
    for leaf in leaves:
        gradient = None if leaf is None else next(found, None)
        shown.append(leaf if leaf is None else torch.zeros_like(leaf) if gradient is None else gradient)
    return shown


def drive_train(
    candidate: Any, model: torch.nn.Module, learning_rate: float, batches: Any, *args: Any
) -> tuple[Any, dict[str, torch.Tensor]]:
    """`candidate(model, batches, optimizer, *args)` with plain gradient descent, where each parameter has a gradient
    of before; the answer and the parameters after it.

    **Errors:** `Unfit` if the answer is a tensor with its graph.
    """
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    for p in model.parameters():
        p.grad = torch.ones_like(p)
    answer = candidate(model, batches, optimizer, *args)
    if isinstance(answer, torch.Tensor) and answer.requires_grad:
        raise Unfit("what comes back is a tensor that holds on to its whole graph: .item() makes a float of it")
    return answer, {name: p.detach().clone() for name, p in model.named_parameters()}


def load(model: torch.nn.Module, parameters: dict[str, torch.Tensor]) -> torch.nn.Module:
    """Give the module these values, in their dtype. **Errors:** `Unfit` if its parameters are others."""
    if not isinstance(model, torch.nn.Module):
        raise Unfit(f"the class should be an nn.Module; its object is of the type {type(model).__name__}")
    own = dict(model.named_parameters())
    if missing := sorted(set(parameters) - set(own)):
        raise Unfit(f"the module has no parameter {missing[0]}; it has {', '.join(sorted(own)) or 'none'}")
    if extra := sorted(set(own) - set(parameters)):
        raise Unfit(f"the module has a parameter {extra[0]} too many")
    dtype = _dtype_of(parameters)
    if any(v.dtype != dtype for v in (*own.values(), *model.buffers()) if v.is_floating_point() or v.is_complex()):
        model.to(dtype)
    with torch.no_grad():
        for name, value in parameters.items():
            target = own[name]
            if target.shape != value.shape:
                raise Unfit(
                    f"the parameter {name} should have the shape {tuple(value.shape)}; it has {tuple(target.shape)}"
                )
            target.copy_(value)
    return model


def weighted_sum(value: Any) -> torch.Tensor:
    """A sum of all floating entries with weights that are all different: no two errors cancel in its gradient."""
    if isinstance(value, torch.Tensor):
        if not value.is_floating_point():
            return torch.zeros(())
        weights = torch.cos(torch.arange(value.numel(), dtype=value.dtype) + 0.5).reshape(value.shape)
        return (value * weights).sum()
    if isinstance(value, (list, tuple)):
        return sum((weighted_sum(v) for v in value), torch.zeros(()))
    return torch.zeros(())
