"""From a submission to its record: judge, grade, and the processes and machines that do it."""
