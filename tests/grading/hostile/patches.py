"""The engine, patched or replaced."""

from tests.grading.hostile.making import NOTHING, WRONG_STEP, Hostile, after, before, blank, loses, right, step
from tests.grading.hostile.shapes import sets_up, unlisted

PATCHES = [
    sets_up(
        "engine_patched",
        "replaces what compares, judges and drives",
        """
            import rnncourse.checks.compare as compare
            import rnncourse.checks.drive as drive
            import rnncourse.checks.plain as plain
            compare.difference = lambda *args, **kwargs: None
            plain.identical = lambda a, b: True
            drive.Observation.error = None
            try:
                import rnncourse.checks.engine as engine
                import rnncourse.checks.faults as faults
                engine.faults_of = faults.faults_of = lambda *args: []
                engine.judge = lambda exercise, *args, **kwargs: engine._verdict(exercise, [], None, show=False)
            except Exception as error:
                print(error)
        """,
        "patches",
    ),
    sets_up(
        "notebook_replaced",
        "puts a module of its own in the place of rnncourse.seat.notebook",
        """
            import sys, types
            import rnncourse
            fake = types.ModuleType("rnncourse.seat.notebook")
            fake.check = lambda *args, **kwargs: 3.0
            sys.modules["rnncourse.seat.notebook"] = fake
            rnncourse.seat.notebook = fake
            rnncourse.check = check = fake.check
        """,
        "patches",
    ),
    sets_up(
        "check_redefined",
        "defines a check of its own that gives all points",
        "def check(*args, **kwargs):\n    return 3.0",
        "patches",
    ),
    sets_up(
        "builtins_patched",
        "makes Python's own functions say yes",
        """
            import builtins
            builtins.all = builtins.any = lambda *args: True
            builtins.abs = builtins.max = lambda *args, **kwargs: 0
            builtins.NotImplementedError = ValueError
        """,
        "patches",
    ),
    Hostile("float_shadowed", "gives float another meaning", blank(after("setup", "float = lambda x: 3.0")), NOTHING),
    Hostile(
        "numpy_comparison_patched",
        "makes NumPy find everything equal",
        right(
            after(
                "setup",
                """
                np.allclose = np.array_equal = lambda *args, **kwargs: True
                np.isclose = lambda a, b, **kwargs: np.ones(np.shape(a), bool)
                np.testing.assert_allclose = lambda *args, **kwargs: None
                """,
            ),
            step(WRONG_STEP),
        ),
        loses("rnn_step", scraps=True),
        flagged=True,
        finding="patches",
    ),
    Hostile(
        "numpy_arithmetic_patched",
        "breaks np.tanh, on which two of its right answers rely",
        right(before("rnn_step", "np.tanh = lambda a: a")),
        loses("rnn_step", "rnn_step_concat", scraps=True),
        flagged=True,
        finding="patches",
    ),
    sets_up(
        "start_files_written",
        "writes files that Python and IPython run when they start again",
        """
            import os, site, sys
            lines = "import builtins\\nbuiltins.check = lambda *args, **kwargs: 3.0\\n"
            home = os.path.expanduser("~")
            startup = f"{home}/.ipython/profile_default/startup"
            folders = [".", home, "/tmp", startup, *sys.path, *site.getsitepackages()]
            for folder in folders:
                for name in ("sitecustomize.py", "usercustomize.py", "numpy.py", "rnncourse.py", "00.py", "a.pth"):
                    try:
                        os.makedirs(folder, exist_ok=True)
                        open(os.path.join(folder, name), "w").write(lines)
                    except OSError:
                        pass
            os._exit(0)
        """,
    ),
    unlisted(
        "frames_rewritten",
        "climbs the frames that run it and sets whatever looks like a score",
        blank(
            step("""
                import sys
                frame = sys._getframe()
                while frame:
                    for value in [*frame.f_locals.values(), *frame.f_globals.values()]:
                        for name, wanted in (("passed", True), ("score", 1.0), ("points", 3.0), ("error", None)):
                            if hasattr(value, name):
                                try:
                                    object.__setattr__(value, name, wanted)
                                except Exception:
                                    pass
                    frame = frame.f_back
                raise NotImplementedError
            """)
        ),
        NOTHING,
    ),
    sets_up(
        "import_hooked",
        "puts itself in the way of every later import",
        """
            import sys, types
            class Finder:
                def find_spec(self, name, path=None, target=None):
                    if name.startswith("rnncourse"):
                        sys.modules[name] = types.ModuleType(name)
                        sys.modules[name].__getattr__ = lambda attribute: lambda *args, **kwargs: 3.0
                    return None
            sys.meta_path.insert(0, Finder())
            for name in [n for n in sys.modules if n.startswith("rnncourse")]:
                del sys.modules[name]
        """,
    ),
]
