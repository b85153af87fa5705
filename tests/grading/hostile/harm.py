"""More than there is: time, memory, processes, output, disk; and the end of the process."""

from tests.grading.hostile.making import LOST_STEP, Hostile, answer, right, step
from tests.grading.hostile.shapes import in_own_cell, steps

HARM = [
    steps("endless_loop", "never comes back", "while True:\n    pass", finding=None),
    steps("endless_sleep", "sleeps for eleven days", "import time\ntime.sleep(10**6)", finding=None),
    steps("endless_recursion", "calls itself", "return rnn_step(x, h_prev, U, W, b)", finding=None),
    Hostile(
        "stack_overflow",
        "calls itself, and has the limit taken away",
        right(step("import sys\nsys.setrecursionlimit(10**9)\nreturn rnn_step(x, h_prev, U, W, b)")),
        LOST_STEP,
        flagged=True,
    ),
    steps(
        "hang_in_c",
        "hangs where Python cannot interrupt it",
        "import re\nreturn re.match('(a+)+$', 'a' * 64 + 'b')",
        finding=None,
    ),
    steps("huge_power", "computes a number that fills the memory", "return 7 ** 10**10", finding=None),
    in_own_cell(
        "loop_in_own_cell",
        "has an endless loop in a cell of its own",
        "import time\nwhile True:\n    time.sleep(1)",
        finding=None,
    ),
    Hostile(
        "loop_in_answer_cell",
        "has an endless loop in the cell of an answer",
        right(answer("rnn_step", "import time\nwhile True:\n    time.sleep(1)")),
        LOST_STEP,
    ),
    steps(
        "loop_that_catches",
        "catches whatever is thrown at it and goes on",
        "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass",
        finding=None,
    ),
    steps(
        "memory_in_lists",
        "takes memory until there is none",
        "kept = []\nwhile True:\n    kept.append(bytearray(10**7))",
        finding=None,
    ),
    steps("memory_in_arrays", "makes arrays of gigabytes", "return [np.ones(2**28) for _ in range(100)]", finding=None),
    steps(
        "fork_bomb",
        "starts processes that start processes",
        "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass",
    ),
    steps(
        "thread_bomb",
        "starts threads without end",
        "import threading, time\nwhile True:\n    threading.Thread(target=time.sleep, args=(10**6,)).start()",
    ),
    in_own_cell(
        "thread_left_behind",
        "leaves a busy thread behind",
        """
            import threading, time
            def busy():
                while True:
                    sum(range(1000))
                    time.sleep(0.001)
            threading.Thread(target=busy, daemon=True).start()
        """,
    ),
    in_own_cell(
        "process_left_behind",
        "leaves a process behind that has a session of its own",
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(10**6)",
    ),
    steps(
        "exit_with_the_channel_open",
        "ends its process, and leaves another one that holds the judge's channel open",
        "import os, time\nif os.fork():\n    os._exit(0)\ntime.sleep(10**6)",
    ),
    steps("exit_at_once", "ends the process while its answer is asked", "import os\nos._exit(0)"),
    in_own_cell("exit_in_own_cell", "ends the process in a cell of its own", "import os\nos._exit(0)"),
    steps("abort", "aborts", "import os\nos.abort()"),
    steps("segfault", "reads memory that is not there", "import ctypes\nreturn ctypes.string_at(0)"),
    steps("kills_itself", "kills its own process", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"),
    steps(
        "kills_everything",
        "kills its parent, process 1, and all others that it may",
        """
            import os, signal
            for process in (os.getppid(), 1, -1, os.getpid()):
                try:
                    if process:
                        os.kill(process, signal.SIGKILL)
                except OSError:
                    pass
        """,
    ),
    steps(
        "stops_itself",
        "stops its own process, so that it neither works nor ends",
        "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    ),
    steps("system_exit", "raises SystemExit", "raise SystemExit(0)", finding=None),
    steps("keyboard_interrupt", "raises KeyboardInterrupt", "raise KeyboardInterrupt", finding=None),
    steps("endless_print", "prints without end", "while True:\n    print('spam ' * 1000)", finding=None),
    steps(
        "endless_write",
        "writes to its standard output without end, past Python",
        "import os\nwhile True:\n    os.write(1, b'spam ' * 1000)",
    ),
    in_own_cell(
        "endless_display",
        "displays without end, in a cell of its own",
        "while True:\n    display('spam ' * 1000)",
        finding=None,
    ),
    in_own_cell(
        "disk_filled",
        "writes files until the disk is full",
        """
            import os
            for folder in (".", "/tmp", "/dev/shm", "/var/tmp"):
                try:
                    for number in range(1000):
                        open(os.path.join(folder, f"junk{number}"), "wb").write(bytes(10**7))
                except OSError:
                    pass
        """,
    ),
]
