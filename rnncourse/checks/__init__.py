"""The check engine: exercise, case, observation, comparison, diagnosis, verdict. It knows no unit."""
