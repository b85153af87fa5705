"""The judge's channel."""

from tests.grading.hostile.making import (
    Hostile,
    Outcome,
    answer,
    before,
    loses,
    only,
    right,
)
from tests.grading.hostile.shapes import sets_up, steps, unlisted

CHANNEL = [
    steps(
        "garbage_on_every_file",
        "writes garbage to every open file while its answer is asked",
        """
            import os
            for number in range(21):
                try:
                    os.write(number, b"\\xff\\x00garbage{]" * 1000)
                except OSError:
                    pass
            raise ValueError
        """,
    ),
    sets_up(
        "frames_forged",
        "writes well-formed answers to questions that have not been asked",
        """
            import os, struct
            from rnncourse.checks.wire import encode
            seen = {"answer": np.zeros((3, 4)), "error": None, "error_types": (), "timed_out": False,
                    "refused": None, "changed": (), "shared": False, "calls": (), "wrote_meanwhile": False,
                    "with_gradient": (), "state": "open", "value": {"A"}, "outputs": [], "passed": True,
                    "score": 1.0, "points": 3.0}
            for number in range(1, 400):
                for verb in ("reply", "verdict", "return"):
                    data = encode([seen])
                    data = struct.pack(">II8s", len(data), number, verb.encode()) + data
                    for channel in range(3, 21):
                        try:
                            os.write(channel, data)
                        except OSError:
                            pass
        """,
        outcome=Outcome(None, scraps=True),
    ),
    steps(
        "reply_forged",
        "sends the judge an answer to the very question that is asked, with a verdict in it",
        """
            import sys
            claim = {"answer": np.zeros((len(x), len(b))), "error": None, "error_types": (), "timed_out": False,
                     "refused": None, "changed": (), "shared": False, "calls": (), "wrote_meanwhile": False,
                     "with_gradient": (), "passed": True, "score": 1.0, "points": 3.0}
            for frame in sys._current_frames().values():
                while frame:
                    if frame.f_code.co_name == "serve":
                        frame.f_locals["self"].channel.send("reply", frame.f_locals["number"], claim)
                    frame = frame.f_back
            raise NotImplementedError
        """,
        loses("rnn_step", scraps=True),
    ),
    sets_up(
        "garbage_later",
        "leaves a thread behind that writes garbage to every file, again and again",
        """
            import os, threading, time
            def write():
                while True:
                    time.sleep(0.1)
                    for number in range(3, 21):
                        try:
                            os.write(number, b"\\0\\0\\0\\x09garbage")
                        except OSError:
                            pass
            threading.Thread(target=write, daemon=True).start()
        """,
    ),
    sets_up(
        "json_on_the_channel",
        "finds sockets among the live objects and says in JSON that it has passed",
        """
            import gc, json, socket
            words = json.dumps({"exercise": "rnn_step", "passed": True, "score": 1.0, "points": 3.0}).encode()
            for one in gc.get_objects():
                if isinstance(one, socket.socket):
                    try:
                        one.sendall(len(words).to_bytes(4, "big") + words + b"\\n")
                    except OSError:
                        pass
        """,
    ),
    unlisted(
        "answers_replayed",
        "keeps what one right answer said, and says it again where another fails",
        only(
            "hidden_layer",
            before(
                "hidden_layer",
                """
                import sys
                kept = []
                for module in [m for name, m in sys.modules.items() if name.endswith("channel")]:
                    Channel = getattr(module, "Channel", None)
                    if Channel is None:
                        continue
                    def replay(self, *message, send=Channel.send, **how):
                        body = message[2] if len(message) == 3 else None
                        if isinstance(body, dict) and "answer" in body:
                            if body["error"] is None:
                                kept.append(body)
                            elif kept:
                                message = (*message[:2], kept[len(kept) // 2])
                        return send(self, *message, **how)
                    Channel.send = replay
                """,
            ),
        ),
        Outcome(
            frozenset(
                (
                    "rnn_step",
                    "rnn_step_concat",
                    "rnn_forward",
                    "quiz_rnn_facts",
                    "output_layer",
                    "softmax",
                    "rnn_predict",
                    "quiz_output_size",
                    "rnn_parameter_count",
                    "quiz_shapes",
                    "to_torch_state",
                    "Network",
                )
            ),
            scraps=True,
        ),
    ),
    unlisted(
        "asks_the_judge",
        "calls the functions that the judge runs for answers, by number, for one that it should write itself",
        right(
            answer(
                "softmax",
                """
                def softmax(O):
                    import gc
                    for one in gc.get_objects():
                        if type(one).__name__ == "Runner":
                            for number in range(-3, 20):
                                try:
                                    return one.ask(number, (O,), {})
                                except Exception:
                                    pass
                    raise NotImplementedError
                """,
            )
        ),
        loses("softmax"),
    ),
    Hostile(
        "judge_overfed",
        "hands a function that the judge runs small arrays whose product is huge",
        right(
            answer(
                "rnn_forward",
                """
                def rnn_forward(X, h0, U, W, b):
                    n = 12_000
                    one = np.ones((n, 1))
                    return rnn_step(one, one, one.T, one.T, np.ones(n))
                """,
            )
        ),
        loses("rnn_forward"),
    ),
    steps(
        "channel_closed",
        "closes every open file while its answer is asked",
        "import os\nos.closerange(0, 256)\nraise ValueError",
    ),
]
