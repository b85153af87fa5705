"""Where a wrong answer goes wrong, when no mistake of the catalogue explains it.

Each module has one way to find out something, and says only what it has seen to be so by running, on the visible cases
and on fresh draws: `relations` (how what came is related to what was expected), `agreement` (which of the answer's own
values are right), `values` (which value, if it were right, would make all else right), `repairs` (which small change of
the answer would make it right; the changes are made in `changes`). `search` asks them in turn, within a budget.
"""
