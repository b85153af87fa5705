"""How each platform names what students handed in: a reader for each, which says who handed in a file.

Moodle        Full Name_123_assignsubmission_file_/03_cell.ipynb, and the same without the folder. A group's name
              stands before it, "Group 1-Full Name"; marked blind, all are called "Participant". Apostrophes, and
              what else no file is called, are left out (`download_submissions` in mod/assign/locallib.php).
Canvas        kingada_12345_67890_03_cell-1.ipynb, kingada_LATE_12345_…; graded anonymously, anon_k3jS9_67890_…
              (`get_filename` in lib/content_zipper.rb of canvas-lms, at commit 05e9653c)
Gradescope    submission_301234567/03_cell.ipynb, and submission_metadata.yml, which says whose each folder is
GitHub        Classroom's clones, ASSIGNMENT-LOGIN/03_cell.ipynb, in ASSIGNMENT-submissions (`gh classroom clone
              student-repos`)
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rnngrade.roster.names import MOST_METADATA, Said, gradescope_rows
from rnngrade.roster.sources import File
from rnngrade.roster.students import folded

# Names that a platform made. The first in a path counts: what follows it is the student's, who may call it anything.
ABOVE = r"(?:.*?/)??"
# The number is the participant's in this assignment. In a full name, Moodle makes a space of each underscore.
_MOODLE = r"(?P<name>[^/]+?)_(?P<number>\d+)_assignsubmission_file_?/?.+\.[^./]+\Z"
_CANVAS = (  # in which there are no folders
    r"(?:(?P<anonymous>(?:LATE_)?anon_[A-Za-z0-9]{5})|(?P<name>[^/_]+)_(?P<late>LATE_)?(?P<number>\d+))"
    r"_(?:\d+|text|question_\d+)_[^/]+\.[^./]+\Z"
)
_GRADESCOPE = r"submission_(?P<number>\d+)/.+\.[^./]+\Z"
# Gradescope's own file on whose the folders are; what lies in a submission's folder is a student's.
_METADATA = re.compile(r"(?:(?!submission_)[^/]+/)?submission_metadata\.yml")


@dataclass(frozen=True)
class Who(Said):
    """Who handed in a file: what is said of them, what they are called if nobody knows them, and where it came from;
    whether it was late, and when it came, if the platform says so.
    """

    called: str = ""
    origin: str = ""
    late: bool = False
    when: str = ""

    @property
    def settled_by(self) -> str:
        """By which name a line of `names.csv` settles it: a key, if it is the same in every download."""
        return next((key for key in self.keys if key.startswith(("canvas ", "github "))), self.called)


@dataclass(frozen=True)
class Download:
    """What there is to know of a source: where it lies, all files in it, their paths as the platform made them, and the
    logins that were settled.
    """

    source: Path
    files: list[File]
    paths: list[str]
    logins: set[str]


# The pattern of the names that a platform made in one download, and whose a file of such a name is.
Reader = tuple[str, Callable[[re.Match[str]], list[Who]]]


def _moodle(download: Download) -> Reader:
    """Moodle's "Download all submissions": by the full name, if no other participant has it, and by the number. All who
    are called alike in one download are known by their numbers.
    """
    numbers: dict[str, set[str]] = {}
    for path in download.paths:
        if named := re.match(ABOVE + _MOODLE, path):
            for name in endings(named["name"]):
                numbers.setdefault(folded(name), set()).add(named["number"])

    def who(named: re.Match[str]) -> list[Who]:
        key, full = f"participant {named['number']}", named["name"]
        if len(numbers[folded(full)]) > 1:
            return [Who((key,), called=f"{full} {named['number']}", origin=key)]
        names = tuple(name for name in endings(full) if len(numbers[folded(name)]) == 1)
        return [Who((key,), full=names, called=full, origin=key)]

    return _MOODLE, who


def _canvas(download: Download) -> Reader:
    """Canvas's "Download Submissions": by Canvas's number, which is the same in every download, or the one that it
    gives anonymously.
    """

    def who(named: re.Match[str]) -> list[Who]:
        if anonymous := named["anonymous"]:
            called = anonymous.removeprefix("LATE_")
            key = called.replace("_", " ")
            return [Who((key,), called=called, origin=key, late=called != anonymous)]
        key, called = f"canvas {named['number']}", f"{named['name']}_{named['number']}"
        return [Who((key,), (), (named["name"],), called, key, late=bool(named["late"]))]

    return _CANVAS, who


def _gradescope(download: Download) -> Reader:
    """Gradescope's "Export Submissions": all submitters, by what Gradescope knows of them. What two handed in together
    is both theirs.
    """
    about = sorted((file for file in download.files if _METADATA.fullmatch(file.path)), key=lambda file: len(file.path))
    rows = [*gradescope_rows(about[0].read(MOST_METADATA + 1), about[0].path)] if about else []

    def who(named: re.Match[str]) -> list[Who]:
        key, found = f"gradescope {named['number']}", []
        about = [row for row in rows if row["submission"] == named["number"]]
        for row in about:
            names = tuple(row[column] for column in ("Email", "SID") if row[column])
            called = row["Email"] or row["Name"] or row["SID"] or key
            keys, origin = (key,) if len(about) == 1 else (), f"{key} {called}"
            found.append(Who(keys, names, (row["Name"],), called, origin, when=row["Submission Time"]))
        return found or [Who((key,), called=f"submission_{named['number']}", origin=key)]

    return _GRADESCOPE, who


def _github(download: Download) -> Reader:
    """Clones of the repositories that GitHub Classroom made: their names are the assignment's and the login, by which
    somebody is known.
    """
    repositories = sorted({path.partition("/")[0] for path in download.paths if "/" in path})
    assignment = re.escape(_assignment(download.source, repositories, download.logins))

    def who(named: re.Match[str]) -> list[Who]:
        login = named["name"]
        return [Who((f"github {login}",), (login,), called=login, origin=f"github {login}")]

    return rf"\A{assignment}(?P<name>[^/]+)/.+\Z", who


def _assignment(source: Path, repositories: list[str], logins: set[str]) -> str:
    """What the repositories' names begin with, up to the logins: that with which most logins come out that are known,
    else as the folder is called, else what all have in common.
    """
    first, own = min(repositories, default=""), f"{source.stem.removesuffix('-submissions')}-"
    starts = [first[: at + 1] for at, letter in enumerate(first) if letter == "-"]
    starts = ["", *(start for start in starts if all(one.startswith(start) for one in repositories))]

    def likeliness(start: str) -> tuple[int, bool, int]:
        known = sum(folded(one.removeprefix(start)) in logins for one in repositories)
        return known, start == own, len(start) if repositories[1:] else 0

    return max(starts, key=likeliness)


def told(source: Path, paths: list[str]) -> str:
    """The platform that made a source; "folder", if none did. A platform names all that is in a download of its own, so
    one other name is enough; and what a student may have handed in, a `.git` or a metadata file, is not.
    """
    patterns = {"moodle": _MOODLE, "canvas": _CANVAS, "gradescope": rf"(?:[^/]+/)?{_GRADESCOPE}"}
    for platform, pattern in patterns.items():
        if paths and all(re.match(pattern, path) for path in paths):
            return platform
    is_cloned = all("/" in path and (source / path.partition("/")[0] / ".git").exists() for path in paths)
    return "github" if paths and source.is_dir() and is_cloned else "folder"


def is_of_a_platform(path: str) -> bool:
    """Whether a path looks as Moodle, Canvas or Gradescope make it."""
    return any(re.match(pattern, path) for pattern in (_CANVAS, ABOVE + _MOODLE, ABOVE + _GRADESCOPE))


def endings(name: str) -> list[str]:
    """A name, and what stands behind each of its hyphens, as Moodle puts a group's name before a full name.

    >>> endings("Group 1-Ada King")
    ['Group 1-Ada King', 'Ada King']
    """
    behind = (name[at + 1 :].strip() for at, letter in enumerate(name) if letter == "-")
    return [name, *filter(None, behind)]


PLATFORMS = {"moodle": _moodle, "canvas": _canvas, "gradescope": _gradescope, "github": _github}
