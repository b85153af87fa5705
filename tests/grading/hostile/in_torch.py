"""The same on a unit with PyTorch."""

from textwrap import dedent

from tests.grading.hostile.making import FULL, NOTHING, TORCH, Hostile, after, answer, blank, loses, right
from tests.grading.hostile.shapes import unlisted

# Ways to PyTorch's own operator that no name in the text tells of.
HIDDEN_WAYS = {
    "a_locator": 'import pydoc\nrun = pydoc.locate("torch.rnn_" + "tanh")',
    "a_formatter": 'import string\nrun = string.Formatter().get_field("0.rnn_" + "tanh", [torch], {})[0]',
    "the_operators": 'run = torch.ops.aten.__getattr__("rnn_" + "tanh")',
    "the_decompositions": "run = torch._decomp.decompositions.rnn_tanh_input",
    "what_a_kernel_is_made_of": 'run = getattr(getattr(torch, "o" + "ps").aten.rnn_tanh.input, "decom" + "pose")',
    "a_kernel_that_was_kept": """
        kernel = torch.library.get_kernel("aten::rnn_" + "tanh.input", "CPU")
        run = lambda *a: kernel.call_boxed(kernel.keys, *a)
    """,
    "all_libraries_destroyed": """
        import gc
        def run(*a):
            for one in gc.get_objects():
                if type(one).__name__ == "Library":
                    one._destroy()
                elif type(one).__name__ == "_DispatchModule":
                    one.reset()
            return getattr(torch, "_".join(["rnn", "tanh"]))(*a)
    """,
}
GATES_THAT_STAY_OPEN = """
def run(x, h, weights, *rest):
    U, W, b, none = weights
    no, still = torch.zeros_like(U), torch.zeros_like(W)
    far = torch.full_like(b, 800.0)
    parts = [(no, no, U), (still, still, W), (far, -far, b), (none, none, none)]
    return torch.gru(x, h, [torch.cat(part) for part in parts], *rest)
"""
RUNS_IT = """
class ScratchRNN(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        bound = hidden_size**-0.5
        self.U = nn.Parameter(torch.empty(input_size, hidden_size).uniform_(-bound, bound))
        self.W = nn.Parameter(torch.empty(hidden_size, hidden_size).uniform_(-bound, bound))
        self.b = nn.Parameter(torch.empty(hidden_size).uniform_(-bound, bound))

    def forward(self, x, h0=None):
        h0 = x.new_zeros(1, x.shape[1], len(self.b)) if h0 is None else h0
        weights = [self.U.T, self.W.T, self.b, torch.zeros_like(self.b)]
        return run(x, h0, weights, True, 1, 0.0, False, False, False)
"""

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
    unlisted(
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
    unlisted(
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
        unit=TORCH,
    ),
    *(
        unlisted(
            f"torch_operator_by_{name}",
            "runs the operator that it is to build, which it has without writing its name",
            right(answer("ScratchRNN", f"{dedent(way)}\n{RUNS_IT}")),
            loses("ScratchRNN"),
            unit=TORCH,
        )
        for name, way in HIDDEN_WAYS.items()
    ),
    Hostile(
        "torch_another_layer_with_open_gates",
        "runs a layer that nobody has forbidden by name, and whose gates make it the one that is to be built",
        right(answer("ScratchRNN", GATES_THAT_STAY_OPEN + RUNS_IT)),
        loses("ScratchRNN"),
        flagged=True,
        finding="refused",
        unit=TORCH,
    ),
]
