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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rnngrade.roster.names import Said, gradescope_rows, number_in
from rnngrade.roster.students import ClassList, folded

# Names that a platform made. The first in a path counts: what follows it is the student's, who may call it anything.
_ABOVE = r"(?:.*?/)??"
# The number is the participant's in this assignment. In a full name, Moodle makes a space of each underscore.
_MOODLE = r"(?P<student_id>[^/]+?)_(?P<number>\d+)_assignsubmission_file_?/?(?P<file_id>.+)\.[^./]+\Z"
_CANVAS = (
    r"(?P<student_id>(?!LATE_anon_|anon_[A-Za-z0-9]{5}_)[^/_]+)_(?:(?P<late>LATE)_)?(?P<number>\d+)"
    r"_(?:\d+|text|question_\d+)_(?P<file_id>.+)\.[^./]+\Z"
)
_ANONYMOUS = r"(?:(?P<late>LATE)_)?anon_(?P<number>[A-Za-z0-9]{5})_(?:\d+|text)_(?P<file_id>.+)\.[^./]+\Z"
_GRADESCOPE = r"submission_(?P<number>\d+)/(?P<file_id>.+)\.[^./]+\Z"
# Gradescope's own file on whose the folders are; what lies in a submission's folder is a student's.
METADATA = re.compile(r"(?:(?!submission_)[^/]+/)?submission_metadata\.yml")


@dataclass(frozen=True)
class Who:
    """Who handed in a file: what is said of them, what they are called if nobody knows them, by which name a line of
    `names.csv` settles it, and where it came from; whether it was late, and when it came, if the platform says so.
    """

    said: Said
    called: str
    settled_by: str
    origin: str
    late: bool = False
    when: str = ""


class Platform:
    """Reads the names that a platform made, in one source."""

    patterns: tuple[str, ...] = ()

    def __init__(self, source: Path, paths: Iterable[str], people: ClassList, metadata: bytes) -> None:
        pass

    def named(self, path: str) -> re.Match[str] | None:
        """What a path as the platform made it says; None, if it makes no such path."""
        return next((found for pattern in self.patterns if (found := re.match(_ABOVE + pattern, path))), None)

    def who(self, path: str) -> list[Who]:
        """Who handed in the file at a path; nobody, if the platform makes no such path."""
        named = self.named(path)
        return self.named_so(named) if named else []

    def named_so(self, named: re.Match[str]) -> list[Who]:
        raise NotImplementedError

    def file_id(self, path: str) -> str:
        """What the student called a file, without its ending."""
        named = self.named(path)
        return named["file_id"] if named else path


class Moodle(Platform):
    """Moodle's "Download all submissions": by the full name, if no other participant has it, and by the number. All who
    are called alike in one download are known by their numbers.
    """

    patterns = (_MOODLE,)

    def __init__(self, source: Path, paths: Iterable[str], people: ClassList, metadata: bytes) -> None:
        self._numbers: dict[str, set[str]] = {}
        for named in filter(None, map(self.named, paths)):
            for name in endings(named["student_id"]):
                self._numbers.setdefault(folded(name), set()).add(named["number"])

    def named_so(self, named: re.Match[str]) -> list[Who]:
        key, full = f"participant {named['number']}", named["student_id"]
        if len(self._numbers[folded(full)]) > 1:
            return [Who(Said((key,)), f"{full} {named['number']}", key, key)]
        names = tuple(name for name in endings(full) if len(self._numbers[folded(name)]) == 1)
        return [Who(Said((key,), full=names), full, full, key)]


class Canvas(Platform):
    """Canvas's "Download Submissions", in which there are no folders: by Canvas's number, which is the same in every
    download, or the one that it gives anonymously.
    """

    patterns = (_ANONYMOUS, _CANVAS)

    def named_so(self, named: re.Match[str]) -> list[Who]:
        short, number = named.groupdict().get("student_id"), named["number"]
        key = f"canvas {number}" if short else f"anon {number}"
        full = (short,) if short else ()
        return [Who(Said((key,), full=full), f"{short or 'anon'}_{number}", key, key, late=bool(named["late"]))]


class Gradescope(Platform):
    """Gradescope's "Export Submissions": all submitters, by what Gradescope knows of them. What two handed in together
    is both theirs.
    """

    patterns = (_GRADESCOPE,)

    def __init__(self, source: Path, paths: Iterable[str], people: ClassList, metadata: bytes) -> None:
        self._about: dict[str, list[Mapping[str, str]]] = {}
        for row in gradescope_rows(metadata, "submission_metadata.yml") if metadata else ():
            self._about.setdefault(row["submission"], []).append(row)

    def named_so(self, named: re.Match[str]) -> list[Who]:
        key, found = f"gradescope {named['number']}", []
        about = self._about.get(named["number"], [])
        for row in about:
            names = tuple(row[column] for column in ("Email", "SID") if row[column])
            called = row["Email"] or row["Name"] or row["SID"] or key
            said = Said((key,) if len(about) == 1 else (), names, (row["Name"],))
            found.append(Who(said, called, called, f"{key} {called}", when=row["Submission Time"]))
        return found or [Who(Said((key,)), key.replace("gradescope ", "submission_"), key, key)]


class GitHub(Platform):
    """Clones of the repositories that GitHub Classroom made: their names are the assignment's and the login, by which
    somebody is known.
    """

    def __init__(self, source: Path, paths: Iterable[str], people: ClassList, metadata: bytes) -> None:
        repositories = sorted({path.partition("/")[0] for path in paths if "/" in path})
        self._assignment = _assignment(source, repositories, {number_in(name, "github") for name in people.settled})

    def named(self, path: str) -> re.Match[str] | None:
        return re.match(rf"{re.escape(self._assignment)}(?P<login>[^/]+)/(?P<file_id>.+?)(?:\.[^./]*)?\Z", path)

    def named_so(self, named: re.Match[str]) -> list[Who]:
        login = named["login"]
        key = f"github {login}"
        return [Who(Said((key,), (login,)), login, key, key)]


def _assignment(source: Path, repositories: list[str], logins: set[str]) -> str:
    """What the repositories' names begin with, up to the logins: as the folder is called, else what all have in common;
    if logins are known, that with which most of them come out.
    """
    common = min(repositories, default="")
    while not all(repository.startswith(common) for repository in repositories):
        common = common[:-1]
    starts = [common[: at + 1] for at, letter in enumerate(common) if letter == "-"]
    if not starts:
        return ""
    known = [sum(folded(one.removeprefix(start)) in logins for one in repositories) for start in starts]
    if any(known):
        return starts[known.index(max(known))]
    own = f"{source.stem.removesuffix('-submissions')}-"
    return own if own in starts else starts[-1] if len(repositories) > 1 else ""


def told(source: Path, paths: list[str]) -> str:
    """The platform that made a source; "folder", if none did. A platform names all that is in a download of its own, so
    one other name is enough; and what a student may have handed in, a `.git` or a metadata file, is not.
    """
    if not paths:
        return "folder"
    if all(re.match(_MOODLE, path) for path in paths):
        return "moodle"
    if all(is_canvas(path) for path in paths):
        return "canvas"
    if all(re.match(rf"(?:[^/]+/)?{_GRADESCOPE}", path) for path in paths):
        return "gradescope"
    if source.is_dir() and all("/" in path and (source / path.partition("/")[0] / ".git").exists() for path in paths):
        return "github"
    return "folder"


def is_of_a_platform(path: str) -> bool:
    """Whether a path looks as Moodle, Canvas or Gradescope make it."""
    return is_canvas(path) or any(re.match(_ABOVE + pattern, path) for pattern in (_MOODLE, _GRADESCOPE))


def is_canvas(path: str) -> bool:
    """Whether a path may be one of Canvas's downloads, in which there are no folders."""
    return "/" not in path and bool(re.match(_CANVAS, path) or re.match(_ANONYMOUS, path))


def endings(name: str) -> list[str]:
    """A name, and what stands behind each of its hyphens, as Moodle puts a group's name before a full name.

    >>> endings("Group 1-Ada King")
    ['Group 1-Ada King', 'Ada King']
    """
    return [
        name,
        *(name[at + 1 :].strip() for at, letter in enumerate(name) if letter == "-" and name[at + 1 :].strip()),
    ]


PLATFORMS: dict[str, type[Platform]] = {"moodle": Moodle, "canvas": Canvas, "gradescope": Gradescope, "github": GitHub}
