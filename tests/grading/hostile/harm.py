"""More than there is: time, memory, processes, output, disk; and the end of the process."""

from __future__ import annotations

from tests.grading.hostile.making import FULL, LOST_STEP, Hostile, answer, before, right, step

HARM = [
    Hostile("endless_loop", "never comes back", right(step("while True:\n    pass")), LOST_STEP),
    Hostile("endless_sleep", "sleeps for eleven days", right(step("import time\ntime.sleep(10**6)")), LOST_STEP),
    Hostile("endless_recursion", "calls itself", right(step("return rnn_step(x, h_prev, U, W, b)")), LOST_STEP),
    Hostile(
        "stack_overflow",
        "calls itself, and has the limit taken away",
        right(step("import sys\nsys.setrecursionlimit(10**9)\nreturn rnn_step(x, h_prev, U, W, b)")),
        LOST_STEP,
        flagged=True,
    ),
    Hostile(
        "hang_in_c",
        "hangs where Python cannot interrupt it",
        right(step("import re\nreturn re.match('(a+)+$', 'a' * 64 + 'b')")),
        LOST_STEP,
    ),
    Hostile("huge_power", "computes a number that fills the memory", right(step("return 7 ** 10**10")), LOST_STEP),
    Hostile(
        "loop_in_own_cell",
        "has an endless loop in a cell of its own",
        right(before("rnn_step", "import time\nwhile True:\n    time.sleep(1)")),
        FULL,
    ),
    Hostile(
        "loop_in_answer_cell",
        "has an endless loop in the cell of an answer",
        right(answer("rnn_step", "import time\nwhile True:\n    time.sleep(1)")),
        LOST_STEP,
    ),
    Hostile(
        "loop_that_catches",
        "catches whatever is thrown at it and goes on",
        right(
            step(
                "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass"
            )
        ),
        LOST_STEP,
    ),
    Hostile(
        "memory_in_lists",
        "takes memory until there is none",
        right(step("kept = []\nwhile True:\n    kept.append(bytearray(10**7))")),
        LOST_STEP,
    ),
    Hostile(
        "memory_in_arrays",
        "makes arrays of gigabytes",
        right(step("return [np.ones(2**28) for _ in range(100)]")),
        LOST_STEP,
    ),
    Hostile(
        "fork_bomb",
        "starts processes that start processes",
        right(step("import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass")),
        LOST_STEP,
        flagged=True,
        finding="not-listed",
    ),
    Hostile(
        "thread_bomb",
        "starts threads without end",
        right(
            step("import threading, time\nwhile True:\n    threading.Thread(target=time.sleep, args=(10**6,)).start()")
        ),
        LOST_STEP,
        flagged=True,
        finding="not-listed",
    ),
    Hostile(
        "thread_left_behind",
        "leaves a busy thread behind",
        right(
            before(
                "rnn_step",
                """
                import threading, time
                def busy():
                    while True:
                        sum(range(1000))
                        time.sleep(0.001)
                threading.Thread(target=busy, daemon=True).start()
                """,
            )
        ),
        FULL,
        flagged=True,
        finding="not-listed",
    ),
    Hostile(
        "process_left_behind",
        "leaves a process behind that has a session of its own",
        right(before("rnn_step", "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(10**6)")),
        FULL,
        flagged=True,
        finding="not-listed",
    ),
    Hostile(
        "exit_with_the_channel_open",
        "ends its process, and leaves another one that holds the judge's channel open",
        right(step("import os, time\nif os.fork():\n    os._exit(0)\ntime.sleep(10**6)")),
        LOST_STEP,
        flagged=True,
        finding="not-listed",
    ),
    Hostile(
        "exit_at_once",
        "ends the process while its answer is asked",
        right(step("import os\nos._exit(0)")),
        LOST_STEP,
        flagged=True,
        finding="not-listed",
    ),
    Hostile(
        "exit_in_own_cell",
        "ends the process in a cell of its own",
        right(before("rnn_step", "import os\nos._exit(0)")),
        FULL,
        flagged=True,
        finding="not-listed",
    ),
    Hostile("abort", "aborts", right(step("import os\nos.abort()")), LOST_STEP, flagged=True, finding="not-listed"),
    Hostile(
        "segfault",
        "reads memory that is not there",
        right(step("import ctypes\nreturn ctypes.string_at(0)")),
        LOST_STEP,
        flagged=True,
        finding="not-listed",
    ),
    Hostile(
        "kills_itself",
        "kills its own process",
        right(step("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")),
        LOST_STEP,
        flagged=True,
        finding="not-listed",
    ),
    Hostile(
        "kills_everything",
        "kills its parent, process 1, and all others that it may",
        right(
            step("""
                import os, signal
                for process in (os.getppid(), 1, -1, os.getpid()):
                    try:
                        if process:
                            os.kill(process, signal.SIGKILL)
                    except OSError:
                        pass
            """)
        ),
        LOST_STEP,
        flagged=True,
        finding="not-listed",
    ),
    Hostile(
        "stops_itself",
        "stops its own process, so that it neither works nor ends",
        right(step("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)")),
        LOST_STEP,
        flagged=True,
        finding="not-listed",
    ),
    Hostile("system_exit", "raises SystemExit", right(step("raise SystemExit(0)")), LOST_STEP),
    Hostile("keyboard_interrupt", "raises KeyboardInterrupt", right(step("raise KeyboardInterrupt")), LOST_STEP),
    Hostile("endless_print", "prints without end", right(step("while True:\n    print('spam ' * 1000)")), LOST_STEP),
    Hostile(
        "endless_write",
        "writes to its standard output without end, past Python",
        right(step("import os\nwhile True:\n    os.write(1, b'spam ' * 1000)")),
        LOST_STEP,
        flagged=True,
        finding="not-listed",
    ),
    Hostile(
        "endless_display",
        "displays without end, in a cell of its own",
        right(before("rnn_step", "while True:\n    display('spam ' * 1000)")),
        FULL,
    ),
    Hostile(
        "disk_filled",
        "writes files until the disk is full",
        right(
            before(
                "rnn_step",
                """
                import os
                for folder in (".", "/tmp", "/dev/shm", "/var/tmp"):
                    try:
                        for number in range(1000):
                            open(os.path.join(folder, f"junk{number}"), "wb").write(bytes(10**7))
                    except OSError:
                        pass
                """,
            )
        ),
        FULL,
        flagged=True,
        finding="not-listed",
    ),
]
