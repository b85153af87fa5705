"""The picture of a class: one HTML page for each unit, made from the records and what the gradebook has beside them.

write_reports(desk, ["03_cell"], failures)       # report/03_cell.html, and report/index.html, which leads to all units
"""

from rnngrade.pages.report.page import write_reports
from rnngrade.pages.report.statistics import UnitStatistics

__all__ = ["UnitStatistics", "write_reports"]
