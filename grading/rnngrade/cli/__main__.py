"""`python -m rnngrade.cli` is `rnngrade`."""

from rnngrade.cli import main

main()
