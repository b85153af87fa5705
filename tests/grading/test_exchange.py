"""nbgrader's exchange, with the desk where nbgrader has its own autograder: what students submit is graded, and each
gets back the page on it, and nobody else's.

Students are known as on a Hub of Docker's stacks: all are `jovyan`, and `JUPYTERHUB_USER` says who. The real Hub is in
`tests/hub/`.
"""

import contextlib
import functools
import os
import shutil
import stat
import string
import sys
import warnings
import zoneinfo
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traitlets.config import Config

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from nbgrader.auth import Authenticator
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.exchange import Exchange, ExchangeFactory

from rnncourse import exercises
from rnngrade.core.desk import Desk, is_name
from rnngrade.core.errors import DeskError, Failures
from rnngrade.core.record import Record
from rnngrade.gradebook import book as gradebook
from rnngrade.gradebook.book import GradebookWriter
from rnngrade.gradebook.door import opened
from rnngrade.grading.bundle import Bundle
from rnngrade.grading.run import run
from rnngrade.pages.feedback.write import SECRET, write_feedback
from rnngrade.roster.times import TIMESTAMP, handed_in
from tests.grading.made import NAMES, UNIT, WRITTEN, changed, outcome, resubmitted, rnngrade, submission

POINTS = sum(exercise.points for exercise in exercises.unit(UNIT))
FIRST = datetime(2026, 11, 20, 22, 30, 15, 250_000, tzinfo=UTC)


class Hub:
    """An exchange, the desk of its course, and the folders of its students; what nbgrader's commands call does it."""

    def __init__(self, desk: Desk, folder: Path) -> None:
        self.desk, self.folder = desk, folder
        self.inbound = folder / "exchange" / "rnncourse" / "inbound"
        self.published = folder / "exchange" / "rnncourse" / "feedback"

    def home(self, name: str) -> Path:
        """A student's folder of the unit."""
        return self.folder / "homes" / name / UNIT

    def instructor(self, command: str, **options: bool) -> None:
        """`nbgrader COMMAND 02_unfolding` in the desk."""
        config = gradebook.settings(self.desk)
        config.ExchangeCollect.update(options)
        self._do(command, config)

    def student(self, name: str, command: str, when: datetime = FIRST) -> None:
        """The same as that student, at that time."""
        home = self.home(name).parent
        home.mkdir(parents=True, exist_ok=True)
        config = Config()
        config.CourseDirectory.course_id = "rnncourse"
        config.CourseDirectory.root = config.Exchange.assignment_dir = str(home)
        config.Exchange.cache = str(self.folder / "caches" / name)

        def at_that_time(exchange: Exchange) -> None:
            exchange.timestamp = when.strftime(exchange.timestamp_format)

        with (
            patch.dict(os.environ, JUPYTERHUB_USER=name),
            patch("nbgrader.utils.get_osusername", return_value="jovyan"),
            patch.object(Exchange, "set_timestamp", at_that_time),
        ):
            self._do(command, config)

    def _do(self, command: str, config: Config) -> None:
        config.Exchange.root = str(self.folder / "exchange")
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # where nbgrader looks for alembic
        with warnings.catch_warnings(), patch.dict(os.environ, PATH=path):
            warnings.simplefilter("ignore")  # what nbgrader does to SQLAlchemy is between the two
            kind = getattr(ExchangeFactory(config=config), command)
            coursedir = CourseDirectory(config=config, assignment_id=UNIT)
            kind(coursedir=coursedir, authenticator=Authenticator(config=config), config=config).start()

    def hand_in(self, name: str, notebook: bytes, when: datetime = FIRST, called: str = f"{UNIT}.ipynb") -> None:
        """Fetch the unit, once, work on it, and submit it."""
        if not self.home(name).is_dir():
            self.student(name, "FetchAssignment")
        (self.home(name) / f"{UNIT}.ipynb").rename(self.home(name) / called)
        (self.home(name) / called).write_bytes(notebook)
        self.student(name, "Submit", when)

    def grade(self, *made: tuple[Record, bytes]) -> None:
        """Records, as `rnngrade run` leaves them."""
        with GradebookWriter(self.desk) as writer:
            for record, notebook in made:
                self.desk.keep(record, notebook)
                with contextlib.suppress(DeskError):  # a time that is none is told of one student
                    writer.put(record, notebook)

    def release(self) -> Failures:
        """Feedback, written and released; for whom it could not be written."""
        failures = Failures()
        write_feedback(self.desk, UNIT, failures)
        self.instructor("ReleaseFeedback")
        return failures

    def pages(self, name: str) -> dict[str, str]:
        """All pages that a student finds after fetching feedback, by the time of the submission that they are on."""
        self.student(name, "FetchFeedback")
        found = (self.home(name) / "feedback").rglob(f"{UNIT}.html")
        return {path.parent.name: path.read_text(encoding="utf-8") for path in found}


@pytest.fixture(scope="session")
def new_hub(root: Path, entered: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Hub]:
    """Make a Hub with an exchange in which the unit is released, and a desk with a gradebook that knows it."""

    def make() -> Hub:
        folder = tmp_path_factory.mktemp("hub")
        hub = Hub(Desk(root, folder / "desk (2026)"), folder)
        hub.desk.open()
        shutil.copy(entered, hub.desk.gradebook)
        hub.instructor("ReleaseAssignment")
        return hub

    return make


@pytest.fixture
def hub(new_hub: Callable[[], Hub]) -> Hub:
    return new_hub()


@functools.cache
def right(root: Path) -> tuple[Record, bytes]:
    return outcome(root, submission("somebody"))


def work_of(root: Path, student: str, signed: str = "") -> tuple[Record, bytes]:
    """A record, and the notebook that was handed in, in which the student has signed the written answer."""
    record, notebook = right(root)
    notebook = changed(notebook, WRITTEN, source=f"signed: {signed or student}.")
    return replace(resubmitted(record, notebook), student=student), notebook


def said(when: datetime) -> str:
    """A time as nbgrader writes it."""
    return when.strftime("%Y-%m-%d %H:%M:%S.%f UTC")


def test_from_release_to_feedback_by_way_of_the_desk(hub, root):
    two_days_later = FIRST + timedelta(days=2)
    blank = outcome(root, submission("jörg müller", "blank"))[1]
    hub.hand_in("ada.k", work_of(root, "ada.k")[1])
    hub.hand_in("jörg müller", changed(blank, f"check_{NAMES[0]}", source="all = 'points'"), two_days_later)
    hub.instructor("Collect")
    (hub.desk.folder / "desk.toml").write_text(
        'timezone = "Europe/Berlin"\n[due]\n02 = "2026-11-21 00:00"\n[late]\nper_day = "10 %"\n'
    )
    run = rnngrade(hub.desk, "run", "02").output
    assert f"ada.k                 {POINTS:.2f} of {POINTS}" in run
    rnngrade(hub.desk, "feedback", "02")
    hub.instructor("ReleaseFeedback")

    (ada,), (jörg,) = hub.pages("ada.k").items(), hub.pages("jörg müller").items()
    assert ada[0] == said(FIRST)
    assert "signed: ada.k" in ada[1]
    assert "days late" not in ada[1]
    assert jörg[0] == said(two_days_later)
    assert "signed: " not in jörg[1]
    assert "2 days late: that cost no points" in jörg[1]


# What Hubs call people, and nbgrader's exchange can take: it splits file names at "+".
LETTERS = st.sampled_from(string.ascii_letters + string.digits + "äöüßéñłø王芳ж_@.- ")
NAMES_OF_USERS = st.text(LETTERS, min_size=1, max_size=20).filter(lambda name: is_name(name) and name == name.strip())


@settings(max_examples=3)
@given(names=st.lists(NAMES_OF_USERS, min_size=2, max_size=4, unique_by=str.casefold))
def test_each_gets_the_page_on_their_own_work_whatever_they_are_called(root, new_hub, names):
    hub = new_hub()
    work = {name: work_of(root, name) for name in names}
    for name, (_, notebook) in work.items():
        hub.hand_in(name, notebook)
    hub.instructor("Collect")
    assert {*hub.desk.submissions(UNIT)} == {*names}
    hub.grade(*work.values())
    hub.release()
    for name in names:
        (page,) = hub.pages(name).values()
        assert [other for other in names if f"signed: {other}." in page] == [name]


def test_a_page_is_released_for_the_submission_that_it_is_about(hub, root):
    first = work_of(root, "ada")
    hub.hand_in("ada", first[1])
    hub.instructor("Collect")
    hub.grade(first)
    hub.release()

    second, later = work_of(root, "ada", "again"), FIRST + timedelta(hours=30)
    hub.hand_in("ada", second[1], later)
    hub.instructor("Collect")
    assert hub.desk.submission_path(UNIT, "ada").read_bytes() == first[1], "nbgrader takes it with --update alone"
    hub.instructor("Collect", update=True)
    assert handed_in(hub.desk, UNIT, "ada") == later
    hub.release()  # it is not graded yet
    assert [*hub.pages("ada")] == [said(FIRST)]

    hub.grade(second)
    hub.release()
    pages = hub.pages("ada")
    assert sorted(pages) == [said(FIRST), said(later)]
    assert "signed: ada." in pages[said(FIRST)]
    assert "signed: again." in pages[said(later)]


def test_what_is_handed_in_again_unchanged_has_its_page_too(hub, root):
    work, later = work_of(root, "ada"), FIRST + timedelta(hours=30)
    for when in (FIRST, later):
        hub.hand_in("ada", work[1], when)
        hub.instructor("Collect", update=True)
        hub.grade(work)
        hub.release()
    assert sorted(hub.pages("ada")) == [said(FIRST), said(later)]


def test_of_all_that_was_handed_in_nbgrader_s_choice_before_the_due_date_is_taken(hub, root):
    work, late = work_of(root, "ada"), work_of(root, "ada", "too late")
    hub.hand_in("ada", work[1])
    hub.hand_in("ada", late[1], FIRST + timedelta(days=3))
    with opened(hub.desk) as found:
        found.update_or_create_assignment(UNIT, duedate=(FIRST + timedelta(days=1)).isoformat(" "))
    hub.instructor("Collect", before_duedate=True)
    assert hub.desk.submission_path(UNIT, "ada").read_bytes() == work[1]
    assert handed_in(hub.desk, UNIT, "ada") == FIRST
    hub.instructor("Collect", update=True)
    assert hub.desk.submission_path(UNIT, "ada").read_bytes() == late[1]
    assert handed_in(hub.desk, UNIT, "ada") == FIRST + timedelta(days=3)


ODD = {
    "no secret": lambda folder: (folder / SECRET).unlink(),
    "an empty secret": lambda folder: (folder / SECRET).write_text(""),
    "a secret that is no text": lambda folder: (folder / SECRET).write_bytes(b"\xff\xfe"),
    "a long secret": lambda folder: (folder / SECRET).write_text("x" * 2**20),
    "a folder for a secret": lambda folder: [(folder / SECRET).unlink(), (folder / SECRET / "x").mkdir(parents=True)],
    "no time": lambda folder: (folder / TIMESTAMP).unlink(),
    "a time that is none": lambda folder: (folder / TIMESTAMP).write_text("tomorrow"),
    "a time that is no text": lambda folder: (folder / TIMESTAMP).write_bytes(b"\xff\xfe"),
}


def test_whatever_a_student_put_into_the_exchange_by_hand_all_others_get_their_pages(hub, root):
    names = ["ada", *map(str, range(len(ODD))), "zoe"]
    work = {name: work_of(root, name) for name in names}
    for name, (_, notebook) in work.items():
        hub.hand_in(name, notebook)
    for name, spoil in zip(names[1:], ODD.values()):
        (folder,) = hub.inbound.glob(f"{name}+*")
        spoil(folder)
    hub.instructor("Collect")
    hub.grade(*work.values())
    failures = hub.release()
    for name in ("ada", "zoe"):
        (page,) = hub.pages(name).values()
        assert f"signed: {name}." in page
    (told,) = failures.told  # those whose times are none are in no gradebook
    assert told.startswith("6, 7, ")
    assert len([*hub.published.iterdir()]) == len(names) - 2


def test_work_that_came_in_another_way_keeps_nobody_s_page_from_them(hub, root, tmp_path):
    work = {name: work_of(root, name) for name in ("ada", "bob", "zoe")}
    for name in ("ada", "zoe"):
        hub.hand_in(name, work[name][1])
    hub.instructor("Collect")
    (tmp_path / "bob_02_unfolding.ipynb").write_bytes(work["bob"][1])
    rnngrade(hub.desk, "collect", str(tmp_path / "bob_02_unfolding.ipynb"))
    hub.grade(*work.values())
    hub.release()
    hub.release()
    assert [len(hub.pages(name)) for name in ("ada", "zoe")] == [1, 1]


def test_a_new_desk_has_nbgrader_s_settings_and_is_its_owner_s_alone(root, tmp_path):
    desk = Desk(root, tmp_path / "courses" / "autumn")
    assert "a desk already" not in rnngrade(desk, "new").output
    assert "a desk already" in rnngrade(desk, "new").output
    assert stat.S_IMODE(desk.folder.stat().st_mode) == 0o700
    hub = Hub(desk, tmp_path)
    hub.instructor("ReleaseAssignment")
    hub.student("ada", "FetchAssignment")
    assert [path.name for path in hub.home("ada").iterdir()] == [f"{UNIT}.ipynb"]


def test_a_run_says_whose_folder_it_passes_over(hub, root):
    hub.hand_in("o'brien", b"{}")
    hub.hand_in("eve", b"{}", called="final.ipynb")
    hub.instructor("Collect")
    assert hub.desk.submissions(UNIT) == {}
    failures = Failures()
    run(hub.desk, Bundle.make(root, UNIT), failures=failures)
    eve, o_brien = failures.told
    assert eve.startswith(f"eve, {UNIT}: There is no {UNIT}.ipynb in ")
    assert o_brien.startswith(f"o'brien, {UNIT}: A student's name has letters")


@given(
    when=st.datetimes(datetime(2020, 1, 1), datetime(2035, 1, 1), timezones=st.just(UTC)),
    zone=st.sampled_from(sorted(zoneinfo.available_timezones() - {"Factory", "localtime"})),
)
def test_a_time_that_the_exchange_wrote_is_read_as_that_moment_or_not_at_all(root, tmp_path_factory, when, zone):
    """`c.Exchange.timezone` may be any; names such as CEST are refused, and not taken for UTC."""
    written = when.astimezone(zoneinfo.ZoneInfo(zone)).strftime(Exchange().timestamp_format)
    desk = Desk(root, tmp_path_factory.getbasetemp())
    path = desk.submission_path(UNIT, "ada").with_name(TIMESTAMP)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(written)
    with contextlib.suppress(DeskError):
        assert handed_in(desk, UNIT, "ada") == when
        return
    assert written.rpartition(" ")[2].isalpha()
    assert not written.endswith(" UTC")
