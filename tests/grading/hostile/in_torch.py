"""The same on a unit with PyTorch."""

from __future__ import annotations

from rnngrade.demo.hostile.making import FULL, NOTHING, TORCH, Hostile, after, answer, blank, loses, right

IN_TORCH = [
    Hostile(
        "torch_right",
        "is right, and prints and plots",
        right(after("setup", "print(torch.zeros(2))")),
        FULL,
        unit=TORCH,
    ),
    Hostile(
        "torch_own_layer",
        "takes PyTorch's layer where it is to be built, by a second name",
        right(
            after("setup", "layers = torch.nn\nBase = layers.RNN"),
            answer(
                "ScratchRNN",
                """
                class ScratchRNN(nn.Module):
                    def __init__(self, input_size, hidden_size):
                        super().__init__()
                        self.rnn = Base(input_size, hidden_size)

                    def forward(self, x, h0=None):
                        return self.rnn(x, h0)
                """,
            ),
        ),
        loses("ScratchRNN"),
        flagged=True,
        finding="forbidden-name",
        unit=TORCH,
    ),
    Hostile(
        "torch_tensor_that_lies",
        "returns a tensor of a kind that finds itself equal to everything",
        right(
            answer(
                "length_mask",
                """
                class Yes(torch.Tensor):
                    @classmethod
                    def __torch_function__(cls, function, types, args=(), kwargs=None):
                        return True
                    def __eq__(self, other):
                        return True

                def length_mask(lengths, T):
                    return torch.zeros(1).as_subclass(Yes)
                """,
            )
        ),
        loses("length_mask", scraps=True),
        flagged=True,
        finding="poses",
        unit=TORCH,
    ),
    Hostile(
        "torch_patched",
        "makes PyTorch find everything equal and every module well",
        blank(
            after(
                "setup",
                """
                torch.allclose = torch.equal = lambda *args, **kwargs: True
                torch.testing.assert_close = lambda *args, **kwargs: None
                nn.Module.__call__ = lambda self, *args, **kwargs: torch.zeros(1)
                nn.Module.load_state_dict = lambda self, *args, **kwargs: None
                """,
            )
        ),
        NOTHING,
        flagged=True,
        finding="patches",
        unit=TORCH,
    ),
    Hostile(
        "torch_dies",
        "ends the process when its module is made",
        right(
            answer(
                "CharRNN",
                """
                class CharRNN(nn.Module):
                    def __init__(self, *sizes):
                        import os
                        os._exit(1)
                """,
            )
        ),
        loses("CharRNN"),
        flagged=True,
        finding="processes",
        unit=TORCH,
    ),
]
