"""Data that others collected, as files that come with the course, so that nobody needs a library for their sake alone.

`README.md` says whose they are and under which licence; `python -m rnncourse.data.shipped` makes them anew.
"""
