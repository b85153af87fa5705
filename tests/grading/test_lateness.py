"""Being late: the arithmetic of days and penalties, what `desk.toml` says, and where what follows from it is shown."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rnncourse import exercises
from rnngrade.core.errors import DeskError
from rnngrade.roster.lateness import EARNED, POSSIBLE, Policy, days_after, days_late, moment, spent
from rnngrade.roster.rules import read_rules

ZONES = [ZoneInfo(name) for name in ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe",
                                     "Pacific/Chatham", "America/St_Johns", "Africa/Casablanca")]  # fmt: skip
zones = st.sampled_from(ZONES)
# Whole minutes, as people write due dates; so many years that clocks are changed in the middle of it.
moments = st.datetimes(datetime(2020, 1, 1), datetime(2030, 12, 31)).map(lambda t: t.replace(second=0, microsecond=0))
shares = st.floats(0, 1, allow_nan=False)
graces = st.integers(0, 48 * 60).map(lambda minutes: timedelta(minutes=minutes))
policies = st.builds(
    Policy,
    per_day=shares,
    at_most=shares,
    of=st.sampled_from([EARNED, POSSIBLE]),
    grace=graces,
    free_days=st.integers(0, 12),
    free_days_per_unit=st.none() | st.integers(0, 4),
)


@given(policies, st.integers(0, 400), st.floats(0, 60), st.floats(0, 50))
def test_a_penalty_is_never_negative_and_never_more_than_was_earned(policy, days, earned, possible):
    penalty = policy.penalty(days, earned, possible)
    assert 0 <= penalty <= earned
    assert days or not penalty, "who is in time loses nothing"
    share = penalty / (earned if policy.of == EARNED else possible) if penalty else 0
    assert share <= policy.at_most + 0.005 / (earned if policy.of == EARNED else possible or 1) if penalty else True


@given(policies, st.integers(0, 30), st.integers(0, 30), st.floats(0, 60), st.floats(0, 50))
def test_to_be_later_never_costs_less_and_to_earn_more_never_gives_less(policy, days, more, earned, possible):
    assert policy.penalty(days, earned, possible) <= policy.penalty(days + more, earned, possible)
    better = earned + more
    assert better - policy.penalty(days, better, possible) >= earned - policy.penalty(days, earned, possible) - 0.011


@given(zones, moments, st.integers(0, 60 * 24 * 60), st.integers(0, 3 * 24 * 60), graces)
def test_days_late_grow_with_time_and_shrink_with_grace(zone, due, minutes, later, grace):
    due = moment(due, zone)
    came = due + timedelta(minutes=minutes)
    days = days_late(came, due, zone, grace)
    assert days >= 0
    assert days <= days_late(came + timedelta(minutes=later), due, zone, grace)
    assert days_late(came, due, zone, grace + timedelta(minutes=later)) <= days <= days_late(came, due, zone)
    assert days_late(due - timedelta(minutes=minutes), due, zone) == 0
    assert abs(days - max(0, (came - due - grace) / timedelta(days=1))) < 1.2, "about as many as have gone by"


@given(zones, moments, st.integers(1, 500))
def test_the_same_time_of_day_n_days_later_is_n_days_late_whatever_the_clocks_do(zone, due, days):
    due = moment(due, zone)
    end = days_after(due, days, zone)
    assert days_late(end, due, zone) == days
    assert days_late(end + timedelta(seconds=1), due, zone) == days + 1
    local = due.astimezone(zone)
    shown = end.astimezone(zone)
    assert (shown.date() - local.date()).days in (days, days + 1)
    if (shown.hour, shown.minute) != (local.hour, local.minute):  # only where that time of day was left out
        left_out = datetime.combine(local.date() + timedelta(days=days), local.time(), tzinfo=zone)
        assert left_out.astimezone(UTC).astimezone(zone).time() != local.time()


@given(zones, moments)
def test_a_time_that_comes_twice_or_never_is_taken_for_the_later(zone, local):
    found = moment(local, zone)
    assert found >= local.replace(tzinfo=zone).astimezone(UTC)
    if found.astimezone(zone).replace(tzinfo=None) != local:
        assert found.astimezone(zone).replace(tzinfo=None) > local, "a time that is left out is not put before it"


@given(policies, st.lists(st.integers(0, 9), max_size=14), st.data())
def test_late_days_are_spent_once_and_never_on_what_is_in_time(policy, late, data):
    free = list(spent(late, policy))
    assert len(free) == len(late)
    assert sum(free) <= policy.free_days
    assert all(0 <= one <= days for one, days in zip(free, late))
    assert policy.free_days_per_unit is None or all(one <= policy.free_days_per_unit for one in free)
    if policy.free_days_per_unit is None:
        assert sum(free) == min(policy.free_days, sum(late)), "none is left unspent while a day costs points"
    assume(late)
    at = data.draw(st.integers(0, len(late) - 1))
    later = [days + (i == at) for i, days in enumerate(late)]
    charged = [days - one for days, one in zip(late, free)]
    charged_later = [days - one for days, one in zip(later, spent(later, policy))]
    assert sum(charged_later) >= sum(charged)
    assert charged_later[: at + 1] >= charged[: at + 1]
    assert charged_later[:at] == charged[:at], "what came before is not touched"


FILE = """\
timezone = "Europe/Berlin"

[due]
01 = "2026-10-24 23:59"
02 = 2026-11-06
03_cell = 2026-11-20T23:59:00+00:00

[extensions.ada]
01 = "3 days"
02 = "2026-11-09 12:00"
[extensions."Zoë O'Hara"]
"*" = "1 week"

[late]
per_day = "10 %"
at_most = 0.5
grace = "15 minutes"
free_days = 5
free_days_per_unit = 2

[late.free_days_of]
ada = 7

[term]
drop_lowest = 1
extra_credit = ["13"]
weights = {03 = 2, 01 = 0.5}
[term.excused]
ada = ["05"]
"""


def test_desk_toml_says_what_is_due_when_and_what_being_late_costs():
    rules = read_rules(FILE)
    ada, zoe, nobody = frozenset({"ada"}), frozenset({"zoë o'hara"}), frozenset({"emmy"})
    first, second = exercises.unit("01").stem, exercises.unit("02").stem
    assert str(rules.due_for(first, nobody)) == "2026-10-24 21:59:00+00:00"
    assert str(rules.due_for(first, ada)) == "2026-10-27 22:59:00+00:00", "23:59 there, though the clocks were changed"
    assert str(rules.due_for(second, nobody)) == "2026-11-06 22:59:59+00:00", "the end of the day"
    assert str(rules.due_for(second, ada)) == "2026-11-09 11:00:00+00:00"
    assert str(rules.due_for("03_cell", zoe)) == "2026-11-27 23:59:00+00:00"
    assert rules.due_for("04_bptt" if "04_bptt" in exercises.STEMS else "13", ada) is None
    assert rules.policy == Policy(0.1, 0.5, "earned", timedelta(minutes=15), 5, 2)
    assert (rules.policy_for(ada).free_days, rules.policy_for(zoe).free_days) == (7, 5)
    assert (rules.term.weight("03_cell"), rules.term.weight(first), rules.term.weight(second)) == (2, 0.5, 1)
    assert list(rules.due) == [first, second, "03_cell"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("timezone = 'Berlin'", 'line 1: there is no time zone \'Berlin\'; they are called as in "Europe/Berlin"'),
        ("\n[due]\n03 = 2026-11-20", "line 3: say at the top of the file in which time zone"),
        ("[due]\n03 = 2026-11-20 23:59", 'line 2: this is no TOML … A time without seconds stands in quotes'),
        ("[late]\nper_day = 10 %", "line 2: this is no TOML … stands in quotes"),
        ("timezone='UTC'\n[due]\n99 = 2026-11-20", "line 3: there is no unit '99'"),
        ("timezone='UTC'\n[due]\n03 = '20.11.2026'", "line 3: '20.11.2026' is no date: write it as in"),
        ("timezone='UTC'\n[due]\n03 = '2026-02-30'", "line 3: '2026-02-30' is no date"),
        ("timezone='UTC'\n[due]\n03 = '2026-02-03 25:00'", "line 3: '2026-02-03 25:00' is no date"),
        ("timezone='UTC'\n[due]\n03 = 7", "line 3: 7 is no date"),
        ("timezone='UTC'\n[due]\n03 = 23:59:00", "line 3: 23:59:00 is no date"),
        ("[late]\nper_day = 0.1\n\npre_day = 1", "line 4: [late] has no setting 'pre_day'; there are per_day, at_most"),
        ("[later]\nx = 1", "line 1: desk.toml has no setting 'later'; there are timezone, due"),
        ("[late]\nper_day = '110 %'", "line 2: per_day is a share, from 0 to 1 or as in \"10 %\", and not '110 %'"),
        ("[late]\nper_day = true", "line 2: per_day is a share"),
        ("[late]\nper_day = nan", "line 2: per_day is a share"),
        ("[late]\nfree_days = -1", "line 2: free_days is a whole number, 0 or more, and not -1"),
        ("[late]\nof = 'all'", 'line 2: of is "earned" or "possible"'),
        ("[late]\ngrace = 15", 'line 2: 15 is no length of time: write it as in "3 days"'),
        ("late = 3", "line 1: late is a table: write [late] on a line"),
        ("timezone='UTC'\n[extensions.ada]\n03 = '3 days'", "line 3: 03_cell has no due date: give it one under [due]"),
        ("timezone='UTC'\ndue.03 = 2026-11-20\n[extensions]\nada = '3 days'", "line 4: ada is a table: write [ext"),
        ("timezone='UTC'\ndue.03 = 2026-11-20\n[extensions.ada]\n03 = 2026-11-19", "line 4: 2026-11-19 is no ext"),
        ("[term]\nweights = {03 = -1}", "line 2: a weight is a number, 0 or more, and not -1"),
        ("[term]\nweights = {03 = inf}", "line 2: a weight is a number"),
        ("[term]\nextra_credit = '13'", "line 2: extra_credit is a list of units"),
        ("[term]\nonly = true", "line 2: only = true leaves out all units without a weight"),
        ("[due]\n03 = [\n1,\n2]", "line 4: [1, 2] is no date"),
        ("[due]\n03 = 2026-11-20\n03 = 2026-11-20", "line 3: this is no TOML (cannot overwrite a value)"),
        ("[extensions]\nada = {}\nADA = {}", "line 3: 'ADA' stands here twice"),
        ("a = '", "line 1: this is no TOML"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_desk_toml_is_one_sentence_with_its_line(text, said):
    with pytest.raises(DeskError) as told:
        read_rules(text)
    for part in said.split(" … "):
        assert part in str(told.value)
    assert str(told.value).startswith("desk.toml, line ")
    assert str(told.value).endswith(".")
    assert "\n" not in str(told.value)


@given(
    st.text(max_size=200) | st.from_regex(r"(\[(due|late|term|extensions\.a)\]\n(\w{1,9} = [\w\"'{}.\-]{0,12}\n)*)+")
)
def test_whatever_stands_in_desk_toml_it_is_read_or_told_in_a_sentence(text):
    with suppress(DeskError):
        assert read_rules(text) is not None
