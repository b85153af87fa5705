"""Where a wrong answer goes wrong, when no mistake of the catalogue explains it.

`search.find` asks each way of finding something out in turn, within a budget of trials: how what came is related to
what was expected (`relations`), which line writes to an argument, which line raises, what right answers have otherwise
(`borrowing`), and which small change of the answer (`rnncourse.checks.slips`), or which two, would make it right
(`repairs`). What it says has been seen to be so by running, on the visible cases and on fresh draws (`inquiry`).
"""
