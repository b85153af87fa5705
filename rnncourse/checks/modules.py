"""Driving what is written in PyTorch: arrays become tensors on the way in, tensors arrays on the way out.

A module is built from plain settings, its named parameters are loaded with drawn arrays, and it is called. The answer
holds what came out of each call and the gradient of a generic weighted sum of all that came out, with respect to each
parameter: so a forward pass through which no gradient flows, or a parameter that nothing uses, shows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch


def tensors(value: Any) -> Any:
    """`value` with a tensor of its own for each array."""
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy())
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


def drive_module(
    candidate: Any, init: tuple[Any, ...], parameters: dict[str, torch.Tensor], calls: list[tuple[Any, ...]]
) -> tuple[list[Any], dict[str, torch.Tensor]]:
    """Build `candidate(*init)`, load the parameters, call it with each tuple of arguments.

    Returns the outputs, and by name the gradients of a weighted sum of them. Dropout is off. **Errors:** `ValueError`
    if the module's parameters are not those, by name and shape.
    """
    model = load(candidate(*init), parameters)
    model.eval()
    outputs = [model(*args) for args in calls]
    total = weighted_sum(outputs)
    names = list(parameters)
    if not total.requires_grad:
        raise ValueError("no gradient reaches the parameters: is a result detached, or made from arrays?")
    own = dict(model.named_parameters())
    gradients = torch.autograd.grad(total, [own[n] for n in names], allow_unused=True)
    shown = {n: torch.zeros_like(own[n]) if g is None else g for n, g in zip(names, gradients, strict=True)}
    return [arrays(out) for out in outputs], shown


def drive_training(
    candidate: Any, model: torch.nn.Module, learning_rate: float, batches: Any, *args: Any
) -> tuple[Any, dict[str, torch.Tensor]]:
    """`candidate(model, batches, optimizer, *args)` with plain gradient descent; the answer and the parameters
    after it.
    """
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    answer = candidate(model, batches, optimizer, *args)
    return answer, {name: p.detach().clone() for name, p in model.named_parameters()}


def load(model: torch.nn.Module, parameters: dict[str, torch.Tensor]) -> torch.nn.Module:
    """Give the module these values, in their dtype. **Errors:** `ValueError` if its parameters are others."""
    if not isinstance(model, torch.nn.Module):
        raise ValueError(f"the class should be an nn.Module; its object is a {type(model).__name__}")
    own = dict(model.named_parameters())
    if missing := sorted(set(parameters) - set(own)):
        raise ValueError(f"the module has no parameter {missing[0]}; it has {', '.join(sorted(own)) or 'none'}")
    if extra := sorted(set(own) - set(parameters)):
        raise ValueError(f"the module has a parameter {extra[0]} too many")
    dtype = next((p.dtype for p in parameters.values()), torch.float32)
    model.to(dtype)
    with torch.no_grad():
        for name, value in parameters.items():
            target = dict(model.named_parameters())[name]
            if target.shape != value.shape:
                raise ValueError(
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
