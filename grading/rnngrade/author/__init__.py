"""From what an author writes to what a student gets: read a unit, run it, validate, release and prove it."""
