"""The page that a student gets back on a unit, `feedback/STUDENT/UNIT/UNIT.html`: one file."""
