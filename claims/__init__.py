"""What the units claim about training, as experiments that could refute it: `python -m claims` runs them all."""
