"""The course's own answers, dug up."""

from contextlib import redirect_stdout

import numpy as np

from rnncourse import check
from tests.grading.hostile.making import LOST_STEP, RIGHT_STEP, Hostile, answer, before, loses, right, step
from tests.grading.hostile.shapes import steps, unlisted


def visible_calls() -> int:
    """How often the notebook's check calls a right `rnn_step`."""
    calls = []

    def rnn_step(x, h_prev, U, W, b):
        calls.append(x)
        return np.tanh(x @ U + h_prev @ W + b)

    with redirect_stdout(None):
        assert check(rnn_step).passed
    return len(calls)


REFERENCE = [
    Hostile(
        "hidden_case_in_an_error",
        "is right on the cases that it can see, and puts those that are hidden into the name and text of an error",
        right(
            before("rnn_step", "calls = []"),
            step(
                f"""
                calls.append(x)  # the first ones are those of the notebook's check
                if len(calls) > {visible_calls()}:
                    raise type("it_is_" + repr(x), (ValueError,), {{}})("It is " + repr(x))
                {RIGHT_STEP}
                """
            ),
        ),
        LOST_STEP,
        flagged=True,
    ),
    Hostile(
        "reference_imported",
        "imports the answer",
        right(answer("rnn_step", "from rnncourse.cell import rnn_step")),
        LOST_STEP,
        flagged=True,
        finding="forbidden-name",
    ),
    steps(
        "reference_imported_inside",
        "imports the answer when it is called",
        "import rnncourse.cell as c\nreturn c.rnn_step(x, h_prev, U, W, b)",
        finding="forbidden-name",
    ),
    steps(
        "reference_by_computed_name",
        "imports the answer by a name that it puts together",
        """
            import importlib
            cell = importlib.import_module("rnn" + "course." + "llec"[::-1])
            return getattr(cell, "rnn" + "_step")(x, h_prev, U, W, b)
        """,
    ),
    steps(
        "reference_in_sys_modules",
        "looks for the answer in every module that is loaded",
        """
            import sys
            for module in list(sys.modules.values()):
                found = vars(module).get("rnn_step") if hasattr(module, "__dict__") else None
                if found is not None and module.__name__ != "__main__":
                    return found(x, h_prev, U, W, b)
            raise NotImplementedError
        """,
    ),
    steps(
        "reference_in_gc",
        "looks for the answer, and for what is expected, among all live objects",
        """
            import gc
            shape = (len(x), len(b))
            for one in gc.get_objects():
                if getattr(one, "__name__", "") == "rnn_step" and "rnnc" in str(getattr(one, "__module__", "")):
                    return one(x, h_prev, U, W, b)
                if type(one).__name__ == "Exercise":
                    return one.reference(x, h_prev, U, W, b)
                for value in one if type(one) in (list, tuple) else ():
                    if type(value) is np.ndarray and value.shape == shape and value is not h_prev:
                        if abs(value).max() < 1 and not (value == h_prev).all():
                            return value
            raise NotImplementedError
        """,
        loses("rnn_step", scraps=True),
    ),
    steps(
        "reference_in_frames",
        "looks for what is expected in the frames that call it",
        """
            import sys
            frame = sys._getframe(1)
            while frame:
                for name in ("expected", "wanted", "reference", "exercise", "cases"):
                    value = frame.f_locals.get(name, frame.f_globals.get(name))
                    value = getattr(value, "reference", getattr(value, "answer", value))
                    if callable(value):
                        return value(x, h_prev, U, W, b)
                    if isinstance(value, np.ndarray):
                        return value
                frame = frame.f_back
            raise NotImplementedError
        """,
    ),
    unlisted(
        "reference_in_files",
        "reads every file that it can reach, and runs the first in which the answer stands",
        right(
            answer(
                "rnn_step",
                """
                import os
                found = []
                for folder, folders, names in os.walk("/"):
                    others = ("proc", "sys", "dev", "share") if not folder.endswith("-packages") else ()
                    folders[:] = [f for f in folders if f not in others and (others or f.startswith("rnn"))]
                    for name in names:
                        if name.endswith(("cell.py", "bptt.py", ".ipynb", ".db")) or "cell.cpython" in name:
                            try:
                                text = open(os.path.join(folder, name), errors="replace").read()
                            except OSError:
                                continue
                            if "def rnn_step(" in text:
                                found.append(text[text.index("def rnn_step(") :])
                exec(found[0])
                """,
            )
        ),
    ),
    unlisted(
        "reference_in_proc",
        "reads the folders, settings, files and memory of every process that it can see",
        right(
            answer(
                "rnn_step",
                """
                import glob, os, re
                haul = b""
                for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
                    try:
                        haul += open(path, "rb").read()
                    except OSError:
                        pass
                seeds = re.findall(rb"RNNCOURSE_SEED=([^\\0]*)", haul)
                for process in glob.glob("/proc/[0-9]*"):
                    for way in ("root", "cwd", "fd"):
                        for folder, _, names in os.walk(f"{process}/{way}/{'home' if way == 'root' else ''}"):
                            haul += "\\n".join(names).encode()
                    try:
                        maps, memory = open(f"{process}/maps").read(), open(f"{process}/mem", "rb")
                        for start, end in re.findall(r"^(\\w+)-(\\w+) rw", maps, re.M)[:200]:
                            memory.seek(int(start, 16))
                            piece = memory.read(min(int(end, 16) - int(start, 16), 2**20))
                            # the words of the course's own chapter, in a way that does not find itself
                            if re.search(rb"one step of the cell, h = tanh[(]x U [+] h_prev W", piece):
                                words = b" return np.tanh(x @ U + h_prev" + b" @ W + b)"
                                exec(b"def rnn_step(x, h_prev, U, W, b):\\n" + words)
                    except (OSError, ValueError, OverflowError):
                        pass
                raise ValueError(seeds)
                """,
            )
        ),
    ),
    steps(
        "reference_in_the_catalogue",
        "asks the course's catalogue for the answer",
        """
            from rnncourse import exercises
            return exercises.find("rnn_step").reference(x, h_prev, U, W, b)
        """,
        finding="forbidden-name",
    ),
    steps(
        "reference_behind_check",
        "reaches through the check's own globals",
        """
            space = check.__globals__
            return space["exercises"].find("rnn_step").reference(x, h_prev, U, W, b)
        """,
    ),
    Hostile(
        "reference_by_use",
        "lets `use` put the course's answer in the place of its own",
        right(
            answer(
                "rnn_step",
                """
                def rnn_step(x, h_prev, U, W, b):
                    raise NotImplementedError

                rnn_step = use(rnn_step)
                """,
            )
        ),
        LOST_STEP,
    ),
    Hostile(
        "numpy_for_torch",
        "calls what its statement does not allow, by a second name",
        right(
            before("rnn_step", "import torch as t\nT = t"),
            step("return T.tanh(T.tensor(x @ U + h_prev @ W + b)).numpy()"),
        ),
        LOST_STEP,
        flagged=True,
        finding="forbidden-name",
    ),
]
