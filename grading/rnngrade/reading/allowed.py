"""What an answer may use without anybody being told: a list of modules, and of attributes.

On it are NumPy's functions and PyTorch's, what Python's own types and those of both have, some of Python's modules, and
whatever the unit's own cells and its model answers use. What is not on it need not be wrong: a person looks.

A module that is on the list with names has these, with none all that do not begin with `_` and are no modules. Files
and code that is packed into data (`np.load`, `torch.save`, `torch.jit`) are on no list, nor is what looks into the
running program.
"""

from __future__ import annotations

import ast
import builtins
import collections
import functools
import random
import re
import sys
import types
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

import rnncourse
from rnngrade.reading.programs import imports, readable


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ANY: frozenset[str] = frozenset()

MODULES: dict[str, frozenset[str]] = {
    **dict.fromkeys(_words("math cmath random statistics itertools collections.abc heapq bisect copy numbers"), ANY),
    **dict.fromkeys(_words("fractions decimal datetime time textwrap __future__ rnncourse matplotlib.pyplot re"), ANY),
    "collections": _words("Counter OrderedDict defaultdict deque namedtuple ChainMap abc"),
    "functools": _words("cache cached_property lru_cache partial reduce wraps total_ordering"),
    "operator": _words(
        "add sub mul matmul truediv floordiv mod neg pos pow eq ne lt le gt ge and_ or_ xor not_ itemgetter iadd imul"
    ),
    "dataclasses": _words("dataclass field replace asdict astuple fields"),
    "typing": _words(
        "Any Callable ClassVar Dict Final Generator Generic Iterable Iterator List Literal Mapping NamedTuple Optional "
        "Protocol Sequence Set Tuple Type TypeVar Union cast TYPE_CHECKING"
    ),
    "types": _words("SimpleNamespace"),
    "abc": _words("ABC abstractmethod"),
    "enum": _words("Enum IntEnum auto"),
    "string": _words("ascii_letters ascii_lowercase ascii_uppercase digits punctuation whitespace"),
    "sys": _words("stdout stderr maxsize float_info version version_info"),
    "os": _words("path sep linesep cpu_count name"),
    "os.path": _words("join basename dirname splitext"),
    "warnings": _words("warn simplefilter filterwarnings catch_warnings"),
    "contextlib": _words("contextmanager nullcontext suppress"),
    "asyncio": _words("sleep"),
    "json": _words("dumps loads"),
    "pprint": _words("pprint"),
    "IPython": _words("display"),
    "IPython.display": _words("display Markdown"),
    "matplotlib": _words("pyplot rcParams"),
    "numpy": frozenset(n for n in np.__all__ if n != "f2py" and not isinstance(getattr(np, n), types.ModuleType))
    - _words("load save savez savez_compressed loadtxt savetxt genfromtxt fromfile fromregex memmap test show_config")
    | _words("linalg random fft polynomial testing typing lib"),
    **{f"numpy.{name}": frozenset(getattr(np, name).__all__) for name in ("linalg", "random", "fft", "polynomial")},
    "numpy.testing": frozenset(name for name in np.testing.__all__ if name.startswith("assert_")),
    "numpy.typing": _words("NDArray ArrayLike DTypeLike"),
    "numpy.lib": _words("stride_tricks"),
    "numpy.lib.stride_tricks": _words("sliding_window_view"),
}
SETTABLE = _words("torch.backends.cudnn.deterministic torch.backends.cudnn.benchmark")
# Of the course, what is not for answers; and how libraries are called in its modules.
INSIDE = _words("checks exercises seat fixtures np nn torch numpy plt matplotlib")
NO_BUILTIN = _words(
    "eval exec compile __import__ globals locals vars open breakpoint help exit quit get_ipython memoryview"
) | {n for n in dir(builtins) if n.startswith("__") and n != "__name__"}
# Methods that an answer may define or call by their names; not those by which an object says what is not so.
METHODS = {
    f"__{name}__"
    for name in _words("""
        init call repr str len iter next getitem setitem contains enter exit post_init new name doc class add radd iadd
        sub rsub mul rmul imul matmul rmatmul truediv rtruediv neg pow lt le gt ge abs hash bool reversed version
    """)
}
_OBJECTS = (
    *(str, bytes, list, dict, set, frozenset, tuple, int, float, complex, slice, range, BaseException, StopIteration),
    *(np.ndarray, np.float64, np.dtype, np.ufunc, np.finfo, np.iinfo, np.random.Generator, np.random.RandomState),
    *(collections.Counter, collections.deque, collections.OrderedDict, functools.partial, property, re.Match),
    *(re.Pattern, np.nditer, np.random.SeedSequence, random.Random),
)
_NO_ATTRIBUTE = _words("format_map tofile dump dumps ctypes data_ptr storage untyped_storage set_ from_file compile")
# Of pictures, and of what has no type that can be asked here: named tuples, cached functions, old NumPy.
_MORE = _words("""
    _replace _asdict _fields _flat_weights cache_clear cache_info plot scatter bar barh hist imshow contour contourf
    axhline axvline fill_between errorbar step text annotate set legend grid colorbar axis set_title set_xlabel
    set_ylabel set_xlim
    set_ylim set_xscale set_yscale set_xticks set_yticks set_xticklabels set_yticklabels set_aspect set_axis_off
    twinx invert_yaxis tick_params suptitle supxlabel supylabel tight_layout subplots_adjust add_subplot subplots
    matshow pcolormesh spines set_visible set_position ravel axes figure
""")
# By which one climbs from a function, a generator or an error into the program around it.
_CLIMBS = {
    name
    for kind in (
        *(types.FrameType, types.CodeType, types.TracebackType, types.FunctionType, types.MethodType),
        *(types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, types.ModuleType),
    )
    for name in dir(kind)
}


@cache
def _of_torch() -> tuple[dict[str, frozenset[str]], frozenset[str]]:
    """PyTorch's modules with their functions, and the attributes of its objects."""
    import torch
    from torch import nn, optim
    from torch.nn import functional, init
    from torch.utils import data

    def public(module: types.ModuleType, *kinds: type) -> frozenset[str]:
        return frozenset(n for n, v in vars(module).items() if n[0] != "_" and isinstance(v, kinds))

    functions = types.FunctionType, types.BuiltinFunctionType
    tensors = frozenset(n for n in dir(torch._C._VariableFunctions) if n[0] != "_" and hasattr(torch, n)) - {
        "from_file"
    }
    modules: dict[str, frozenset[str]] = {
        "torch": tensors
        | public(torch, torch.dtype, torch.memory_format)
        | frozenset(torch.functional.__all__)
        | _words("""
            Tensor FloatTensor LongTensor tensor Size Generator device dtype no_grad enable_grad inference_mode
            is_grad_enabled set_grad_enabled manual_seed initial_seed get_rng_state set_rng_state set_num_threads
            get_num_threads set_default_dtype get_default_dtype set_printoptions use_deterministic_algorithms is_tensor
            inf nan pi e nn optim utils linalg fft special autograd func backends random __version__ typename vmap
        """),
        "torch.nn": public(nn, type) | _words("functional init utils modules parameter"),
        "torch.nn.functional": public(functional, *functions) | (tensors & {*dir(functional)}),
        "torch.nn.init": public(init, *functions),
        "torch.nn.parameter": _words("Parameter"),
        "torch.nn.modules": _words("Module"),
        "torch.nn.utils": _words("clip_grad_norm_ clip_grad_value_ parameters_to_vector vector_to_parameters rnn"),
        "torch.nn.utils.rnn": public(nn.utils.rnn, type, *functions),
        "torch.optim": public(optim, type) | _words("lr_scheduler"),
        "torch.optim.lr_scheduler": public(optim.lr_scheduler, type),
        "torch.utils": _words("data"),
        "torch.utils.data": public(data, type, *functions),
        "torch.linalg": frozenset(n for n in dir(torch.linalg) if n[0] != "_"),
        **{f"torch.{name}": frozenset(getattr(torch, name).__all__) for name in ("fft", "special")},
        "torch.autograd": _words("grad backward Function Variable functional gradcheck"),
        "torch.autograd.functional": _words("jacobian hessian vjp jvp"),
        "torch.func": _words("grad vmap jacrev jacfwd vjp jvp functional_call hessian"),
        "torch.random": _words("manual_seed fork_rng"),
        "torch.backends": _words("cudnn"),
        "torch.backends.cudnn": _words("deterministic benchmark"),
    }
    kinds = torch.Tensor, nn.Parameter, nn.Module, nn.RNN, nn.Embedding, nn.Linear, nn.LSTMCell, optim.Adam
    more = torch.Generator, torch.Size, torch.finfo, nn.utils.rnn.PackedSequence, nn.ParameterDict, nn.ModuleDict
    attributes = {n for kind in (*kinds, *more) for n in dir(kind) if n[0] != "_"}
    named = {*vars(nn.RNN(1, 1)), *vars(nn.Linear(1, 1)), *vars(nn.Embedding(1, 1)), "param_groups", "defaults"}
    of_rnn = {n for n, _ in nn.RNN(1, 1, num_layers=2, bidirectional=True).named_parameters()}
    return modules, frozenset(attributes | {n for n in named if n[0] != "_"} | of_rnn | {"weight", "bias", "ctx"})


@dataclass
class Allowed:
    """The list for one unit. `has_torch` says whether PyTorch is there: where it is not, nothing of it can be had."""

    has_torch: bool = False
    dotted: set[str] = field(default_factory=set)  # what the unit's own code uses beyond the list
    attributes: set[str] = field(default_factory=set)

    @classmethod
    @lru_cache(maxsize=2)
    def of_unit(cls, given: tuple[str, ...], answers: tuple[str, ...]) -> Allowed:
        """The list for a unit with these cells and model answers."""
        nodes = [node for program in readable((*given, *answers)) for node in ast.walk(program.tree)]
        imported = {name for node in nodes for name, _ in imports(node)}
        own = cls(any(name.partition(".")[0] == "torch" for name in imported), imported)
        own.attributes = {n.attr for n in nodes if isinstance(n, ast.Attribute)}
        return own

    def modules(self) -> dict[str, frozenset[str]]:
        return MODULES | (_of_torch()[0] if self.has_torch else {"torch": ANY})

    def is_module(self, dotted: str) -> bool:
        """Whether this is a module of the list, or of the course."""
        return dotted in self.modules() or (dotted.startswith("rnncourse.") and _is_of_the_course(dotted))

    def has(self, module: str, name: str) -> bool:
        """Whether a listed module has this name for everybody."""
        if f"{module}.{name}" in self.dotted or f"{module}.{name}" in self.modules():
            return True
        if module.partition(".")[0] == "rnncourse":
            return name not in INSIDE and not _is_inner(name)
        listed = self.modules().get(module)
        if listed == ANY:
            return module.rpartition(".")[2] == name or not _is_inner(name)
        return listed is not None and name in listed

    def on_an_object(self, name: str, own: set[str]) -> bool:
        """Whether an attribute of no module may be used; `own` are those that the submission gives to its objects."""
        if name.startswith("__"):
            return name in METHODS
        known = _of_objects() | (_of_torch()[1] if self.has_torch else frozenset())
        return name in known or name in self.attributes or (name in own and not _is_inner(name.lstrip("_")))


@cache
def _is_of_the_course(dotted: str) -> bool:
    """Whether there is a module of the course by this name."""
    path = Path(rnncourse.__file__).parent.joinpath(*dotted.split(".")[1:])
    return path.is_dir() or path.with_suffix(".py").is_file()


@cache
def _of_objects() -> frozenset[str]:
    found = {name for kind in _OBJECTS for name in dir(kind) if name[0] != "_"}
    return frozenset(found - _NO_ATTRIBUTE | _MORE)


def _is_inner(name: str) -> bool:
    """Whether a name leads elsewhere: to another module, or into the running program."""
    return name.startswith("_") or name in sys.stdlib_module_names or name in _CLIMBS
