"""The sandbox: where a student's code runs, and all that is there.

`library` says what `rnncourse` is inside, `view` what of this machine is seen, `seccomp` what the kernel is not asked
for; `bubblewrap` builds the room, `inside/` is what runs in it, `session` is the judge's end of the connection, and
`limits` has every number.
"""
