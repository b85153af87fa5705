"""Into the university's system: what Moodle and Canvas take back, written into the files that they gave."""
