"""The student's seat: what a notebook calls, what is kept of it, and the command line."""
