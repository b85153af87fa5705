"""What a check hands to an answer and what no message can carry: generators, modules, dicts that count.

A case names it (`rnncourse.checks.callables.named`), and the side that runs the answer makes it. A function that
takes and gives plain values belongs into the exercises' own file: while grading, the judge answers for it. What lies
here goes into the sandbox, so nothing here holds an answer. One file per unit, by its stem.
"""
