"""Feedback: the page that a student gets back on a unit, `feedback/STUDENT/UNIT/UNIT.html`, one file.

    write_feedback(desk, "03_cell", failures, ["ada", "alan"])    # feedback/ada/03_cell/03_cell.html, …

What it says comes from three places: verdicts from the record, points and comments from the gradebook at this moment
(`marks.py`), the student's own words and code from the executed notebook. `page.py` puts them in order, `text.py` makes
HTML of text, `page.html` is the template. A page costs a few milliseconds, so a class is written in one process.
"""

from rnngrade.pages.feedback.write import write_feedback

__all__ = ["write_feedback"]
