"""From records to marks: nbgrader's gradebook, tables of grades, the term and its rules."""
