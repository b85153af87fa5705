"""A made-up class whose true scores are known, hostile submissions among it: to try the desk on, and to prove it."""
