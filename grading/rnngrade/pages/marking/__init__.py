"""Written answers, marked one after another: `rnngrade mark 03`.

`question` reads the task, the model answer and the rubric; `answers` has the class's answers, without names, those
alike as one, and writes marks to nbgrader's gradebook; `handlers` is the page, on Jupyter's own protected server.
"""
