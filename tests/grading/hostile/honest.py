"""Honest work that only looks odd: full marks, and nobody is bothered."""

import nbformat

from tests.grading.hostile.making import (
    FULL,
    RIGHT_STEP,
    Hostile,
    after,
    answer,
    at,
    before,
    change,
    each,
    right,
    source,
    step,
    twice,
)

HONEST = [
    Hostile(
        "helper_above",
        "defines what its answer calls in a cell above",
        right(before("rnn_step", "def bend(a):\n    return np.tanh(a)"), step("return bend(x @ U + h_prev @ W + b)")),
        FULL,
    ),
    Hostile(
        "helper_below",
        "defines what its answer calls in a cell below, before the check",
        right(after("rnn_step", "bend = np.tanh"), step("return bend(x @ U + h_prev @ W + b)")),
        FULL,
    ),
    Hostile(
        "answer_split",
        "splits its answer over two cells, as Jupyter splits them",
        right(
            change("rnn_step", source("def total(x, h_prev, U, W, b):\n    return x @ U + h_prev @ W + b")),
            twice("rnn_step", "def rnn_step(*args):\n    return np.tanh(total(*args))"),
        ),
        FULL,
        finding="duplicate-cell",
    ),
    Hostile(
        "answer_below_the_stub",
        "leaves the cell as it was and answers in one of its own, far below",
        lambda release, solutions: right(
            answer("rnn_step", release.cells[at(release, "rnn_step")].source),
            after("check_Network", solutions["rnn_step"]),
        )(release, solutions),
        FULL,
        finding="answer-elsewhere",
    ),
    Hostile(
        "own_order",
        "has its cells in an order of its own",
        right(lambda notebook: notebook.cells.reverse(), after("rnn_step", "scale = 1.0")),
        FULL,
    ),
    Hostile(
        "writes_to_stderr",
        "writes to stderr, which nbgrader punishes with zero",
        right(
            before("check_rnn_step", "import sys\nprint('careful', file=sys.stderr)"),
            step(f"import sys\nprint('here', file=sys.stderr)\n{RIGHT_STEP}"),
        ),
        FULL,
    ),
    Hostile(
        "warns",
        "warns, and divides by zero on the way",
        right(step(f"import warnings\nwarnings.warn('slow')\nnp.ones(2) / np.zeros(2)\n{RIGHT_STEP}")),
        FULL,
    ),
    Hostile(
        "outputs_left_in",
        "was handed in with its outputs, errors among them",
        right(
            each(
                lambda cell: cell.update(
                    execution_count=7,
                    outputs=[
                        {"output_type": "stream", "name": "stderr", "text": ["oh\n"]},
                        {"output_type": "error", "ename": "E", "evalue": "", "traceback": ["E"]},
                        {"output_type": "display_data", "data": {"text/html": "<script>1</script>"}, "metadata": {}},
                    ],
                ),
                "check",
                "answer",
            )
        ),
        FULL,
    ),
    Hostile(
        "unicode",
        "has names, texts and comments in many scripts",
        right(
            before("rnn_step", "größe, 変数, ħ = 'naïve 🐍', 'עברית', 1.0\nprint(größe, 変数)"),
            step("α = x @ U + h_prev @ W + b  # сумма 🎉\nreturn np.tanh(ħ * α)"),
        ),
        FULL,
    ),
    Hostile(
        "other_styles",
        "answers by lambda, einsum and loops",
        right(
            answer("rnn_step", "rnn_step = lambda x, h, U, W, b: np.tanh(np.einsum('nd,dh->nh', x, U) + h.dot(W) + b)"),
            answer(
                "rnn_parameter_count",
                "class Count:\n  def __call__(s, D, H, Q): return (D+H+1)*H + (H+1)*Q\nrnn_parameter_count = Count()",
            ),
        ),
        FULL,
    ),
    Hostile(
        "magics",
        "has magics in its own cells and above an answer",
        right(
            after("setup", "%%time\ntotal = sum(range(10))"),
            before("rnn_step", "%matplotlib inline\nnp.tanh?"),
            answer("rnn_step", f"%%time\ndef rnn_step(x, h_prev, U, W, b):\n    {RIGHT_STEP}"),
        ),
        FULL,
    ),
    Hostile(
        "own_module",
        "writes a module beside the notebook, and imports it in two cells",
        right(
            before(
                "rnn_step", "%%writefile my_helpers.py\nimport numpy as np\n\ndef squash(a):\n    return np.tanh(a)"
            ),
            answer(
                "rnn_step",
                f"from my_helpers import squash\ndef rnn_step(x, h_prev, U, W, b):\n    {RIGHT_STEP}".replace(
                    "np.tanh", "squash"
                ),
            ),
            answer(
                "rnn_step_concat",
                """
                def rnn_step_concat(x, h_prev, V, b):
                    import my_helpers
                    return my_helpers.squash(np.concatenate([x, h_prev], axis=1) @ V + b)
                """,
            ),
        ),
        FULL,
    ),
    Hostile(
        "own_checks",
        "checks in cells of its own, and asserts it",
        right(
            after("rnn_step", "assert check(rnn_step)"),
            after("check_rnn_step", "verdict = check(rnn_step)\nprint(verdict)\nhint('rnn_step')\nprogress('03_cell')"),
        ),
        FULL,
    ),
    Hostile("prints", "prints in its answer", right(step(f"print('x is', x.shape)\n{RIGHT_STEP}")), FULL),
    Hostile(
        "plots",
        "plots in a cell of its own",
        right(after("check_rnn_step", "import matplotlib.pyplot as plt\nplt.plot([1, 2], [3, 4])\nplt.show()")),
        FULL,
    ),
    Hostile(
        "asks_for_input",
        "asks for input in a cell of its own",
        right(before("rnn_step", "size = int(input('How many units? '))")),
        FULL,
    ),
    Hostile(
        "cell_that_fails",
        "has cells of its own that fail, one of them no Python",
        right(before("rnn_step", "1 / 0"), after("check_rnn_step", "def unfinished(:\n    return")),
        FULL,
        finding="syntax-error",
    ),
    Hostile(
        "awaits",
        "awaits in a cell of its own",
        right(
            before(
                "rnn_step", "import asyncio\nawait asyncio.sleep(0)\nasync def later():\n    return 1\nawait later()"
            )
        ),
        FULL,
    ),
    Hostile(
        "setup_extended",
        "added an import to the cell of imports, and comments to a check",
        right(
            change("setup", lambda cell: cell.update(source=f"{cell.source}\nimport math")),
            change("check_rnn_step", source("# now it works\ncheck(rnn_step)")),
        ),
        FULL,
        finding="check-changed",
    ),
    Hostile(
        "written_below",
        "answers the written question in a text cell of its own below it",
        right(
            lambda notebook: notebook.cells.insert(
                at(notebook, "cell_written") + 1,
                nbformat.v4.new_markdown_cell("Without $W$ nothing is remembered.", id="own-written"),
            )
        ),
        FULL,
        finding="answer-elsewhere",
    ),
    Hostile(
        "installs",
        "installs a package in a cell of its own, which the sandbox cannot",
        right(after("setup", "%pip install --quiet einops")),
        FULL,
    ),
]
