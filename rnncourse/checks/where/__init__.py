"""Where a wrong answer goes wrong, when no mistake of the catalogue explains it, or none explains all.

`search.find` asks each way of finding something out in turn, within a budget of trials: how what came is related to
what was expected (`relations`), which line writes to an argument, which line raises, what right answers have otherwise
(`borrowing`), and which small change of the answer (`rnncourse.checks.slips`) would make it right (`repairs`), first in
the lines on which wrong results alone depend (`slices`). Changes of both sorts mend two slips together. With one of
them mended, what is left may be a mistake of the catalogue, which then names the other. What is said has been seen to
be so by running, on the visible cases and on fresh draws (`inquiry`), and is put into words by `findings`.
"""
