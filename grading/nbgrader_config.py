"""nbgrader's settings for this course: run its commands in this folder, or name this file with ``--config``.

The build reads this file as well, so that the notebooks students get and the gradebook follow one set of rules.
"""

import os
import re

from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import ClearSolutions

c = get_config()  # type: ignore[name-defined]  (traitlets defines it)

# Where things lie. Solutions and releases are the project's own folders; the class's work stays in here.
c.CourseDirectory.course_id = "rnncourse"
c.CourseDirectory.root = os.path.dirname(os.path.abspath(__file__))
c.CourseDirectory.source_directory = os.path.join("..", "solutions")
c.CourseDirectory.release_directory = os.path.join("..", "notebooks")
c.CourseDirectory.submitted_directory = "submitted"
c.CourseDirectory.autograded_directory = "autograded"
c.CourseDirectory.feedback_directory = "feedback"

# What a student finds where an answer was taken out.
c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError"}
c.ClearSolutions.text_stub = "YOUR ANSWER HERE"


class ClearAnswers(ClearSolutions):
    """A question without its answer is `name = None`, and raises nothing: a notebook runs to its end without it."""

    def preprocess_cell(self, cell, resources, cell_index):  # type: ignore[no-untyped-def]  (nor has nbgrader's)
        cell, resources = super().preprocess_cell(cell, resources, cell_index)
        stub = re.escape(self.code_stub["python"])
        cell.source = re.sub(rf"^(\w+ = None\b.*)\n{stub}", r"\1", cell.source, flags=re.MULTILINE)
        return cell, resources


c.GenerateAssignment.preprocessors = [
    ClearAnswers if one is ClearSolutions else one for one in GenerateAssignment.preprocessors.default()
]

# Experiments show things and take time; no exercise needs them, so grading leaves them out.
c.Execute.skip_cells_with_tag = "experiment"
# Each check has a time limit of its own, far below this one. A cell over it is interrupted and gets no points.
c.Execute.timeout = 60
c.Execute.startup_timeout = 120
c.Execute.interrupt_on_timeout = True
c.Execute.extra_arguments = ["--log-level=ERROR"]

# A student's endless print should not fill the disk.
c.LimitOutput.max_lines = 1000
c.LimitOutput.max_traceback = 100
