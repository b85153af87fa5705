"""nbgrader on what was built: its commands, in the grading folder, as its users know them."""

import csv
import subprocess
import sys
import warnings

import nbformat

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # nbgrader is imported, not judged
    from nbgrader.api import Gradebook


RUN = """
import sys
from nbgrader.apps import NbGraderApp
for command in sys.argv[1:]:
    NbGraderApp.launch_instance(command.split())
    NbGraderApp.clear_instance()
"""


def nbgrader(course, *commands: str) -> None:
    """Run commands of nbgrader in the course's grading folder, one after the other."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *commands], cwd=course.root / "grading", capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def submit(course, student: str, notebook: nbformat.NotebookNode) -> None:
    path = course.root / "grading" / "submitted" / student / "90_small" / "90_small.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)


def test_nbgrader_makes_the_same_release_and_grades_a_class_right_after_the_build(built):
    ours = nbformat.read(built.release("90_small"), 4)
    submit(built, "blank", ours)
    submit(built, "solved", nbformat.read(built.solution("90_small"), 4))
    # passes the visible check only, and has tampered with the check and the setup
    tampered = nbformat.read(built.release("90_small"), 4)
    for cell in tampered.cells:
        if cell.id == "add_one":
            cell.source = "def add_one(x):\n    return 2"
        if cell.id == "check_add_one":
            cell.source = "2"
        if cell.id == "setup":
            cell.source = "check = lambda *a, **k: 2"
    submit(built, "tampered", tampered)

    release = "generate_assignment 90_small --force"
    nbgrader(built, "autograde 90_small", "generate_feedback 90_small", "export", release)
    with open(built.root / "grading" / "grades.csv") as file:
        grades = {row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in csv.DictReader(file)}
    assert grades == {"blank": (0, 5), "solved": (2, 5), "tampered": (0, 5)}

    graded = nbformat.read(built.root / "grading/autograded/solved/90_small/90_small.ipynb", 4)
    (experiment,) = [cell for cell in graded.cells if "experiment" in cell.metadata.get("tags", [])]
    assert experiment.outputs == [], "experiments are left out while grading"
    assert (built.root / "grading/feedback/solved/90_small/90_small.html").exists()
    assert nbformat.read(built.release("90_small"), 4).cells == ours.cells


def test_a_gradebook_with_submissions_takes_new_tests_but_keeps_its_exercises(built):
    with warnings.catch_warnings(), Gradebook(f"sqlite:///{built.root / 'grading' / 'gradebook.db'}") as gradebook:
        warnings.simplefilter("ignore")  # what nbgrader does to SQLAlchemy is between the two
        gradebook.update_or_create_student("solved")
        gradebook.update_or_create_submission("90_small", "solved")

    text = built.source("90_small").read_text()
    built.source("90_small").write_text(text.replace("Why one?", "Why not two?"))
    assert built.build().notes == []

    more = '# %% answer="g"\n### BEGIN SOLUTION\ng = add_one\n### END SOLUTION\n\n# %% check="g"\ncheck(g)\n'
    built.source("90_small").write_text(f"{text}\n{more}")
    report = built.build()
    assert report.errors == []
    (note,) = report.notes
    assert note.startswith("The gradebook keeps the 90_small it had")
    assert "Cannot add or remove cells" in note
    assert "check(g)" in built.release("90_small").read_text(), "students get the new notebook all the same"


def test_a_model_answer_in_text_never_reaches_students_however_it_is_marked(course):
    text = course.source("90_small").read_text()
    written = text[text.index('# %% [markdown] written="why_one"') :]
    other = written.replace("why_one", "why_two").replace("two would be too many", "one would be too few")
    other = other.replace("### BEGIN SOLUTION", "<!-- BEGIN SOLUTION -->").replace(
        "### END SOLUTION", "<!-- END SOLUTION -->"
    )
    course.source("90_small").write_text(f"{text}\n{other}")
    assert course.build(gradebook=False).errors == []
    release, solution = course.release("90_small").read_text(), course.solution("90_small").read_text()
    for answer in ("two would be too many", "one would be too few"):
        assert answer in solution
        assert answer not in release
    assert release.count("YOUR ANSWER HERE") == 2
