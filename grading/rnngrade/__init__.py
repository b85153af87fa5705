"""The instructor's desk: builds the notebooks, grades what students hand in.

Its modules are used as commands, ``python -m rnngrade.build``, and by each other. ``rnncourse``, what students import,
never imports this package.
"""
