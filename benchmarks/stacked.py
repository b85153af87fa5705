"""Two stacked layers against `torch.nn.RNN(num_layers=2)`, forwards and backwards, float32 on the CPU.

"kept" goes back from the states of the way forwards, as PyTorch does; "again" is `stacked_forward` and
`stacked_backward`, which is given no states and runs forwards a second time.
"""

from __future__ import annotations

import numpy as np
import torch

from benchmarks.rnn import Runner, compare, draws
from rnncourse.cell import to_torch_state
from rnncourse.stacked import backward_from_states, stacked_backward, stacked_forward, stacked_states


def run() -> None:
    """Print the times and the ratios torch/ours for each size."""
    compare("Two stacked layers", passes)


def passes(T: int, N: int, D: int, H: int) -> dict[str, Runner]:
    """Return the passes for one draw of inputs; each gives H_top, h_n, dX, dh0 and the layers' dU, dW, db."""
    draw = draws()
    X, h0, dH_top = draw(T, N, D), draw(2, N, H), draw(T, N, H)
    layers = [(draw(size, H, scale=size**-0.5), draw(H, H, scale=H**-0.5), draw(H)) for size in (D, H)]

    model = torch.nn.RNN(D, H, num_layers=2)
    model.load_state_dict(
        {
            name.replace("_l0", f"_l{l}"): torch.from_numpy(array)
            for l, layer in enumerate(layers)
            for name, array in to_torch_state(*layer).items()
        }
    )
    x, state = torch.tensor(X, requires_grad=True), torch.tensor(h0, requires_grad=True)
    errors = torch.tensor(dH_top)

    def torch_pass() -> tuple[np.ndarray, ...]:
        output, h_n = model(x, state)
        dx, dstate, *gradients = torch.autograd.grad(output, [x, state, *model.parameters()], errors)
        del gradients[3::4]  # of the second bias, the same as of the first
        tensors = output, h_n, dx, dstate
        return *(tensor.detach().numpy() for tensor in tensors), *(gradient.numpy().T for gradient in gradients)

    def kept() -> tuple[np.ndarray, ...]:
        states = stacked_states(X, h0, layers)
        dX, dh0, gradients = backward_from_states(dH_top, X, h0, states, layers)
        h_n = np.stack([H[-1] for H in states])
        return states[-1], h_n, dX, dh0, *gradients[0], *gradients[1]

    def again() -> tuple[np.ndarray, ...]:
        H_top, h_n = stacked_forward(X, h0, layers)
        dX, dh0, gradients = stacked_backward(dH_top, X, h0, layers)
        return H_top, h_n, dX, dh0, *gradients[0], *gradients[1]

    return {"torch": torch_pass, "kept": kept, "again": again}
