"""What is meant to end the judge, or to fill its memory and time; and what one answer leaves behind for the next."""

from textwrap import dedent, indent

from tests.grading.hostile.making import (
    FULL,
    RIGHT_STEP,
    Hostile,
    answer,
    before,
    change,
    loses,
    right,
    source,
    step,
)
from tests.grading.hostile.shapes import in_own_cell, steps


def _says(data: str) -> str:
    """Code that, from now on, sends these bytes in place of a reply."""
    return dedent(f"""
        import struct, sys
        for module in list(sys.modules.values()):
            Channel = getattr(module, "Channel", None)
            if hasattr(Channel, "receive"):
                def send(self, verb, number, *body, seconds=None):
                    header = {data}
                    said = len(header).to_bytes(4, "big") + header
                    try:
                        self.connection.sendall(struct.pack(">II8s", len(said), number, verb.encode()) + said)
                    except OSError:
                        pass
                Channel.send = send
        """)


def _replies(name: str, what: str, value: str) -> Hostile:
    """An answer at which the room replies with a value whose JSON is `value`, an expression for bytes."""
    data = f'b"[" + {value} + b"]"'
    return steps(f"replies_{name}", f"replies with {what}", _says(data) + RIGHT_STEP)


def _leaves(name: str, what: str, code: str, finding: str) -> Hostile:
    """An answer that is right, and leaves something behind as it is called for the last time on visible cases."""
    body = indent(dedent(code).strip(), "    ")
    return Hostile(
        name,
        what,
        right(step(f"if len(x) == 1:\n{body}\n{RIGHT_STEP}")),
        FULL,
        flagged=True,
        finding=finding,
    )


SEEN = (
    b'{"dict":[["answer",%s],["error",null],["error_types",{"tuple":[]}],["timed_out",false],["refused",null],'
    b'["changed",{"tuple":[]}],["shared",false],["calls",{"tuple":[]}],["wrote_meanwhile",false],'
    b'["with_gradient",{"tuple":[]}]]}'
)

LIMITS = [
    _replies("empty_lists", "twenty million empty lists", 'b"[" + b"[]," * 20_000_000 + b"[]]"'),
    _replies("nested_lists", "lists in lists in lists", 'b"[" * 100_000 + b"]" * 100_000'),
    _replies(
        "long_text", "a text of which each letter takes four bytes", r"""b'"' + b"\\ud83d\\ude00" * 5_000_000 + b'"'"""
    ),
    _replies("array_of_nothing", "an array that has neither dtype nor shape", """b'{"array":[]}'"""),
    _replies("array_of_no_size", "an array whose shape is no number", """b'{"array":["<f8",[NaN,1e999]]}'"""),
    _replies("odd_dtype", "an array of objects", """b'{"array":["|O",[1]]}'"""),
    _replies("huge_number", "a number of a million digits", 'b"1" * 1_000_000'),
    _replies(
        "colliding_numbers",
        "a set of numbers that all have the same hash",
        """b'{"set":[' + b",".join(b"%d" % (i * (2**61 - 1)) for i in range(200_000)) + b"]}" """,
    ),
    _replies(
        "answers_in_an_answer",
        "an observation whose answer is a million lists",
        f'{SEEN!r} % (b"[" + b"[]," * 900_000 + b"[]]")',
    ),
    Hostile(
        "calls_the_judge_without_end",
        "asks the judge for a function again and again, and replies never",
        right(
            answer(
                "rnn_forward",
                """
                def rnn_forward(X, h0, U, W, b):
                    while True:
                        try:
                            rnn_step(X[0], h0, U, W, b)
                        except BaseException:
                            pass
                """,
            )
        ),
        loses("rnn_forward"),
    ),
    steps(
        "table_of_texts",
        "returns one long text among many short ones, of which an array would have terabytes",
        "return ['x' * 1_000_000, *['y'] * 300_000]",
        finding=None,
    ),
    steps(
        "number_beyond_all_floats",
        "returns a number of four hundred digits",
        "return 10**400",
        loses("rnn_step", scraps=True),
        finding=None,
    ),
    Hostile(
        "lists_in_a_list",
        "answers a question with lists in a list",
        right(answer("quiz_rnn_facts", "quiz_rnn_facts = [['A'], ['B']]")),
        loses("quiz_rnn_facts"),
    ),
    in_own_cell(
        "half_a_pair_printed",
        "prints one half of a surrogate pair, in a cell of its own",
        r"print('\ud800')",
        finding=None,
    ),
    steps(
        "half_a_pair_returned",
        "returns one half of a surrogate pair",
        r"return ['\ud800']",
        loses("rnn_step", scraps=True),
        finding=None,
    ),
    steps(
        "half_a_pair_raised",
        "raises an error whose words are one half of a surrogate pair",
        r"raise ValueError('\ud800')",
        finding=None,
    ),
    Hostile(
        "empty_check",
        "has a million empty lines in a check's cell",
        right(change("check_rnn_step", source("\n" * 999_999))),
        FULL,
        finding="check-changed",
    ),
    in_own_cell(
        "chain_of_attributes",
        "has chains of thousands of attributes in a cell of its own",
        "if False:\n" + ("    np" + ".a" * 2_500 + "\n") * 30,
        finding="too-complex",
    ),
    steps(
        "modules_removed",
        "removes the modules that others need, and its own process",
        f"import sys\nsys.modules.clear()\n{RIGHT_STEP}",
    ),
    _leaves(
        "limits_tightened",
        "leaves no memory to those who come after it",
        "import resource\nresource.setrlimit(resource.RLIMIT_DATA, (1, 1))",
        "not-listed",
    ),
    _leaves(
        "exit_later",
        "ends its process a little later",
        "import os, threading\nthreading.Timer(0.3, os._exit, (0,)).start()",
        "not-listed",
    ),
    _leaves(
        "name_ambushed",
        "takes the name of the next exercise away whenever it is there",
        """
        from IPython import get_ipython
        shell = get_ipython()
        shell.events.register("post_run_cell", lambda result: shell.user_ns.update(softmax=None, rnn_forward=abs))
        """,
        "not-listed",
    ),
    Hostile(
        "constant_written_to",
        "writes to what another answer reads",
        right(
            before("rnn_step", "SCALE = np.ones(1)"),
            step(f"SCALE[0] = 0\n{RIGHT_STEP}"),
            answer(
                "softmax",
                """
                def softmax(O):
                    e = np.exp(O - O.max(-1, keepdims=True)) * SCALE.astype(O.dtype)
                    return e / e.sum(-1, keepdims=True)
                """,
            ),
        ),
        FULL,
    ),
]
