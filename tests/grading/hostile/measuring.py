"""What is measured where the answer runs, switched off: each has an answer with a fault that only a measurement shows.

The answers give the right values. One writes to its arguments, one returns views of them, one calls a function twice as
often as it may, one loops where a scan is asked for, one takes PyTorch's layer: what each loses, it must lose. Last
come those that call it by ways that are hard to follow.
"""

from tests.grading.hostile.making import (
    FULL,
    RIGHT_STEP,
    TORCH,
    UNIT,
    Edit,
    Hostile,
    Outcome,
    after,
    answer,
    loses,
    right,
    step,
)
from tests.grading.hostile.shapes import unlisted

_WRITES = step(f"new = {RIGHT_STEP.removeprefix('return ')}\nh_prev[...] = 0\nreturn new")
_FORWARD = """
def rnn_forward(X, h0, U, W, b):
    H = np.stack([h0] * len(X))
    for t in range(len(X)):
        H[t] = h0 = rnn_step(X[t], h0, U, W, b)
    X *= -1
    return H
"""
_VIEWS = """
def to_torch_state(U, W, b):
    return {"weight_ih_l0": U.T, "weight_hh_l0": W.T, "bias_ih_l0": b, "bias_hh_l0": np.zeros_like(b)}
"""
_TWICE = """
def unfold(f, s0, theta, steps):
    states = [s0]
    for _ in range(steps):
        f(states[-1], theta)
        states.append(f(states[-1], theta))
    return np.stack(states)
"""
_LOOP = """
def associative_scan(a, b, h0):
    H = np.empty_like(b)
    for t in range(len(a)):
        H[t] = h0 = a[t] * h0 + b[t]
    return H
"""
_LAYER = """
class ScratchRNN(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        bound = hidden_size ** -0.5
        self.U = nn.Parameter(torch.empty(input_size, hidden_size).uniform_(-bound, bound))
        self.W = nn.Parameter(torch.empty(hidden_size, hidden_size).uniform_(-bound, bound))
        self.b = nn.Parameter(torch.empty(hidden_size).uniform_(-bound, bound))

    def forward(self, x, h0=None):
        start = x.new_zeros(1, x.shape[1], len(self.b)) if h0 is None else h0
        weights = [self.U.T, self.W.T, self.b, torch.zeros_like(self.b)]
        return torch.rnn_tanh(x, start, weights, True, 1, 0.0, False, False, False)
"""


def _impure(name: str) -> Outcome:
    return Outcome(frozenset(), impure=frozenset({name}))


def _attack(name: str, what: str, patch: str, *answers: Edit, outcome: Outcome, unit: str = UNIT) -> Hostile:
    return Hostile(name, what, right(after("setup", patch), *answers), outcome, flagged=True, unit=unit)


def _writes(name: str, what: str, patch: str) -> Hostile:
    return _attack(name, what, patch, _WRITES, outcome=_impure("rnn_step"))


def _shares(name: str, what: str, patch: str) -> Hostile:
    return _attack(name, what, patch, answer("to_torch_state", _VIEWS), outcome=_impure("to_torch_state"))


def _calls_twice(name: str, what: str, patch: str) -> Hostile:
    return _attack(name, what, patch, answer("unfold", _TWICE), outcome=_impure("unfold"), unit="02_unfolding")


def _loops(name: str, what: str, patch: str, *also: str) -> Hostile:
    """`also` are the exercises whose depth is measured as well, and no longer can be."""
    lost = loses("associative_scan", *also, scraps=True)
    return _attack(name, what, patch, answer("associative_scan", _LOOP), outcome=lost, unit="14_scans")


def _borrows(name: str, what: str, patch: str) -> Hostile:
    return _attack(name, what, patch, answer("ScratchRNN", _LAYER), outcome=loses("ScratchRNN"), unit=TORCH)


def _calls(name: str, what: str, patch: str, layer: str, finding: str = "forbidden-name") -> Hostile:
    edits = after("setup", patch), answer("ScratchRNN", _LAYER.replace("torch.rnn_tanh", layer))
    return Hostile(name, what, right(*edits), loses("ScratchRNN"), flagged=True, finding=finding, unit=TORCH)


MEASURING = [
    # --- arguments that are changed
    _writes(
        "measuring_no_difference",
        "makes the comparison of arguments find none changed",
        "import rnncourse.checks.drive as drive\ndrive._differ = lambda live, pristine: False",
    ),
    _writes(
        "measuring_observation_rewritten",
        "wraps what drives an answer and clears what it saw",
        """
        import dataclasses
        import rnncourse.checks.local as local
        original = local.observe
        clean = dict(changed=(), shared=False, wrote_meanwhile=False)
        local.observe = lambda *args: dataclasses.replace(original(*args), **clean)
        """,
    ),
    _writes(
        "measuring_runner_rewritten",
        "wraps the runner's own method and clears what it says",
        """
        import sys
        Runner = sys.modules["rnngrade_inside.runner"].Runner
        original = Runner.seen
        Runner.seen = lambda self, *body: original(self, *body) | {"changed": (), "shared": False}
        """,
    ),
    _writes(
        "measuring_found_in_gc",
        "finds the function that compares among all live objects and gives it other code",
        """
        import gc, types
        gc.unfreeze()
        for one in gc.get_objects():
            if isinstance(one, types.FunctionType) and one.__name__ == "_differ":
                one.__code__ = (lambda live, pristine: False).__code__
        """,
    ),
    _attack(
        "measuring_from_a_frame",
        "climbs to the frame that measures and puts its own function there",
        "pass",
        step(f"""
            import sys
            frame = sys._getframe()
            while frame:
                if "_differ" in frame.f_globals:
                    frame.f_globals["_differ"] = lambda live, pristine: False
                frame = frame.f_back
            new = {RIGHT_STEP.removeprefix("return ")}
            h_prev[...] = 0
            return new
        """),
        outcome=_impure("rnn_step"),
    ),
    _attack(
        "measuring_of_a_sequence",
        "has the fields of an observation always be empty, and turns the sign of the sequence it was given",
        """
        import rnncourse.checks.drive as drive
        drive.Observation.changed = property(lambda self: (), lambda self, value: None)
        """,
        answer("rnn_forward", _FORWARD),
        outcome=_impure("rnn_forward"),
    ),
    # --- answers that share memory with arguments
    _shares(
        "measuring_no_shared_memory",
        "makes the search for shared memory find none",
        "import rnncourse.checks.drive as drive\ndrive.share_memory = lambda one, other: False",
    ),
    _shares(
        "measuring_shares_in_no_reply",
        "clears every reply that says that memory is shared",
        """
        import rnngrade_inside.runner as runner
        original = runner.Runner.seen
        runner.Runner.seen = lambda self, *body: original(self, *body) | {"shared": False}
        """,
    ),
    # --- functions that are called too often
    _calls_twice(
        "measuring_calls_halved",
        "halves the counts of calls on their way out",
        """
        import rnngrade_inside.runner as runner
        original = runner.Runner.seen
        def halved(self, *body):
            seen = original(self, *body)
            return seen | {"calls": tuple(count // 2 for count in seen["calls"])}
        runner.Runner.seen = halved
        """,
    ),
    # --- the depth of a scan
    _loops(
        "measuring_depth_zero",
        "lets numbers that know their depth always be of depth 0",
        """
        import rnncourse.checks.depth as depth
        original = depth.Counted.__init__
        depth.Counted.__init__ = lambda self, value, depth=0: original(self, value, 0)
        """,
        "diagonal_ssm",
        "backward_by_scan",
    ),
    _loops(
        "measuring_depth_driver",
        "puts a driver of its own in the place of the one that counts",
        """
        import rnncourse.checks.drive as drive
        def steps(candidate, *args):
            if not isinstance(args[-1], str):
                return candidate(*args)
            return candidate(*args[:-1]), 0
        drive.steps = drive.Driver("rnncourse.checks.drive:steps", steps, counts_depth=True)
        """,
        "diagonal_ssm",
        "backward_by_scan",
    ),
    _loops(
        "measuring_depth_unknown_to_the_answer",
        "hands the answer plain numbers and turns what it returns back",
        """
        import rnncourse.checks.depth as depth
        import rnncourse.checks.drive as drive
        def counted(value):
            return np.array(value, dtype=object) if np.ndim(value) else float(value)
        drive.counted = counted
        drive.values_and_depth = lambda answer: (np.array(answer, dtype=float), 0)
        """,
    ),
    # --- what may not be called
    _borrows(
        "measuring_forbids_nothing",
        "makes the search for forbidden calls find none",
        "import rnngrade_inside.runner as runner\nrunner.forbidden_call = lambda *args: None",
    ),
    _borrows(
        "measuring_no_disassembly",
        "lets Python's disassembler see no instruction",
        "import dis\ndis.get_instructions = lambda *args, **kwargs: iter(())",
    ),
    _borrows(
        "measuring_opened_without_forbids",
        "takes the forbidden names out of what the judge asks for",
        """
        import rnngrade_inside.runner as runner
        original = runner.Runner.do_open
        runner.Runner.do_open = lambda self, name, settings: original(self, name, settings | {"forbids": ()})
        """,
    ),
    _calls(
        "calls_by_another_name",
        "calls PyTorch's layer where PyTorch keeps its machinery",
        "pass",
        "torch._VF.rnn_tanh",
    ),
    _calls(
        "calls_out_of_a_dict",
        "takes PyTorch's layer out of the module's dict",
        "pass",
        "torch.__dict__['rnn_tanh']",
        "not-listed",
    ),
    _calls(
        "calls_by_a_loop",
        "binds PyTorch's layer as the target of a loop",
        "for layer in (torch.rnn_tanh,):\n    pass",
        "layer",
    ),
    _calls(
        "calls_by_what_a_function_returns",
        "has a function return PyTorch, out of a list, to an attribute",
        "class Box:\n    pass\nbox = Box()\nbox.library = (lambda: [torch])()[0]",
        "box.library.rnn_tanh",
        "not-listed",
    ),
    _calls(
        "calls_from_a_file",
        "writes a module that has PyTorch's layer, and imports it",
        "%%writefile my_layers.py\nimport torch\nmine = torch.rnn_tanh",
        "__import__('my_layers').mine",
        "not-listed",
    ),
    unlisted(
        "calls_by_a_cell_in_a_cell",
        "has IPython run a cell that has the layer",
        right(
            after("setup", 'get_ipython().run_cell("layer = torch.rnn_tanh")'),
            answer("ScratchRNN", _LAYER.replace("torch.rnn_tanh", "layer")),
        ),
        loses("ScratchRNN"),
        unit=TORCH,
    ),
    Hostile(
        "calls_another_package",
        "takes the softmax of a package that the unit does not need",
        right(answer("softmax", "from sklearn.utils.extmath import softmax")),
        loses("softmax"),
        flagged=True,
    ),
    unlisted(
        "calls_handed_on",
        "has Python's own machinery from a library that imports it",
        right(after("setup", "import matplotlib.pyplot as plt\nprint(plt.importlib, np.lib.npyio.os)")),
        FULL,
    ),
]
