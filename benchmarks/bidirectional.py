"""Two directions against `torch.nn.RNN(bidirectional=True)`, forwards and backwards, float32 on the CPU.

"kept" goes back from the states of the way forwards, as PyTorch does; "again" is `bidirectional_forward` and
`bidirectional_backward`, which is given no states and runs forwards a second time.
"""

from __future__ import annotations

import numpy as np
import torch

from benchmarks.rnn import Runner, compare, draws
from rnncourse.bidirectional import (
    backward_from_both,
    bidirectional_backward,
    bidirectional_forward,
    both_states,
    combine,
)
from rnncourse.cell import to_torch_state


def run() -> None:
    """Print the times and the ratios torch/ours for each size."""
    compare("Two directions", passes)


def passes(T: int, N: int, D: int, H: int) -> dict[str, Runner]:
    """Return the passes for one draw of inputs; each gives the states, dX and the directions' dU, dW, db."""
    draw = draws()
    X, dH = draw(T, N, D), draw(T, N, 2 * H)
    ways = [(draw(D, H, scale=D**-0.5), draw(H, H, scale=H**-0.5), draw(H)) for _ in range(2)]

    model = torch.nn.RNN(D, H, bidirectional=True)
    model.load_state_dict(
        {
            name + suffix: torch.from_numpy(array)
            for suffix, way in zip(("", "_reverse"), ways)
            for name, array in to_torch_state(*way).items()
        }
    )
    x, errors = torch.tensor(X, requires_grad=True), torch.tensor(dH)

    def torch_pass() -> tuple[np.ndarray, ...]:
        output, _ = model(x)
        dx, *gradients = torch.autograd.grad(output, [x, *model.parameters()], errors)
        del gradients[3::4]  # of the second bias, the same as of the first
        return output.detach().numpy(), dx.numpy(), *(gradient.numpy().T for gradient in gradients)

    def kept() -> tuple[np.ndarray, ...]:
        states = both_states(X, *ways)
        dX, forward_gradients, backward_gradients = backward_from_both(dH, X, *states, *ways)
        return combine(*states, "concat"), dX, *forward_gradients, *backward_gradients

    def again() -> tuple[np.ndarray, ...]:
        dX, forward_gradients, backward_gradients = bidirectional_backward(dH, X, *ways)
        return bidirectional_forward(X, *ways), dX, *forward_gradients, *backward_gradients

    return {"torch": torch_pass, "kept": kept, "again": again}
