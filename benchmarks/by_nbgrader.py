"""nbgrader's own autograder and feedback on a class, one submission after the other, and what its gradebook then
says.

It runs what was handed in with the rights of whoever grades: for a class that one trusts. `rnngrade run` is for the
others.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # nbgrader is imported, not judged
    from nbgrader.api import Gradebook
    from nbgrader.apps import NbGraderAPI

from rnngrade.author import release
from rnngrade.core import desk
from rnngrade.core.errors import DeskError


class GradingError(DeskError):
    """What kept nbgrader from grading, in one sentence."""


class Desk(desk.Desk):
    """A class's folder, graded by nbgrader itself."""

    def open_with(self, units: list[str]) -> None:
        """Make the folder, its configuration and a gradebook with these units."""
        self.open()
        for unit in units:
            release.enter_in_gradebook(self.root, unit, self.db_url)

    def autograde(self, unit: str, student: str) -> None:
        """Grade one submission. **Errors:** `GradingError` with nbgrader's last words."""
        with self._api() as api:
            self._succeed(api.autograde(unit, student), f"grade {student}'s {unit}")

    def generate_feedback(self, unit: str, student: str) -> Path:
        """Write one student's feedback page; returns where. **Errors:** `GradingError`."""
        with self._api() as api:
            self._succeed(api.generate_feedback(unit, student), f"write {student}'s feedback on {unit}")
        return self.feedback / student / unit / f"{unit}.html"

    def scores(self, unit: str) -> dict[str, dict[str, float | None]]:
        """By student and exercise, the points in the gradebook; None for what waits for a person."""
        with Gradebook(self.db_url) as gradebook:
            return {
                submission.student.id: {
                    grade.name.removeprefix("check_"): grade.auto_score
                    for notebook in submission.notebooks
                    for grade in notebook.grades
                }
                for submission in gradebook.assignment_submissions(unit)
            }

    @contextmanager
    def _api(self) -> Iterator[NbGraderAPI]:
        config = release.settings(self.root)
        config.CourseDirectory.root = str(self.folder)
        config.CourseDirectory.source_directory = str(self.root / "solutions")
        config.CourseDirectory.release_directory = str(self.root / "notebooks")
        config.CourseDirectory.db_url = self.db_url
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what nbgrader does to SQLAlchemy is between the two
            yield NbGraderAPI(config=config)

    @staticmethod
    def _succeed(result: dict[str, object], doing: str) -> None:
        if not result["success"]:
            text = str(result.get("error") or result.get("log") or "").strip()
            raise GradingError(
                f"nbgrader could not {doing}: {text.splitlines()[-1] if text else 'it does not say why'}"
            )
