"""From what an author writes to what a student gets: read a unit, validate it, run it, and release it."""
