"""What the units train and measure, one module a unit: the notebooks and `make claims` call the same functions.

A function here takes the student's own functions where it uses them (`step=use(lstm_step)`), with the reference as the
default, and a seed; it returns numbers, arrays or parameters, and draws nothing: pictures are in `rnncourse.plots`.

>>> from rnncourse.experiments import beside
>>> beside("05_gradient_flow:wall/plain, lag 30/recalled", 0.25)   # doctest: +SKIP
'yours 0.25; ours 0.21 to 0.31'
"""

from rnncourse.data.claims import beside
