"""A class with rules and a class list: late, extended, missing, and one who is on no list."""

from pathlib import Path

from rnngrade.core.desk import Desk
from rnngrade.core.record import write_whole
from rnngrade.demo.sample import BLANK
from tests.grading.made import UNIT, enter, outcome, resubmitted, submission

RULES = """\
timezone = "Europe/Berlin"
[due]
01 = "2026-11-06 23:59"
02 = "2026-11-20 23:59"
[extensions.alan]
02 = "2 days"
[late]
per_day = "10 %"
at_most = "50 %"
grace = "10 minutes"
free_days = 1
"""
ROSTER = """\
id,first_name,last_name,email,sis_id,canvas_id
ada,Ada,Lovelace,ada@example.org,s1,901
alan,Alan,Turing,alan@example.org,s2,902
emmy,Emmy,Noether,emmy@example.org,s3,903
sofia,Софья,Ковалевская,sofia@example.org,s4,904
"""


def hand_in(desk: Desk, student: str, when: str = "", unit: str = UNIT) -> None:
    """A notebook beside which it stands when it came."""
    write_whole(desk.submission_path(unit, student), b"{}")
    if when:
        write_whole(desk.submission_path(unit, student).with_name("timestamp.txt"), when.encode())


def make_ruled(desk: Desk, root: Path) -> None:
    """Ada two days late, one of them a late day; Alan with an extension; emmy blank and in time; eve on no list."""
    (desk.folder / "desk.toml").write_text(RULES)
    (desk.folder / "roster.csv").write_text(ROSTER)
    hand_in(desk, "ada", "2026-11-22 12:00:00 UTC")
    hand_in(desk, "alan", "2026-11-22 22:00:00 UTC")
    hand_in(desk, "emmy", "2026-11-20 23:05:00 UTC")
    hand_in(desk, "eve", "2026-11-30 12:00:00 UTC")
    made = (submission("ada"), submission("alan"), submission("emmy", BLANK), submission("eve"))
    outcomes = [outcome(root, one) for one in made]
    enter(desk, *((resubmitted(record, b"{}"), notebook) for record, notebook in outcomes))
