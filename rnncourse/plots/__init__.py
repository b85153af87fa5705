"""The pictures of the course: diagrams, charts, and the one style that they share.

Every function here returns a matplotlib Figure, which carries its alt text (`described`); `show(figure)` puts it below
a notebook's cell.
"""

from .charts import (
    cost_chart,
    dependence_grid,
    image_rows,
    line_chart,
    loglog_slope,
    perplexity_chart,
    state_heatmap,
)
from .diagrams import cell_inside, dynamical_system, folded_unfolded, mlp_beside_cell, sliding_window
from .drawing import Drawing, Shape
from .explore import Slider, explore
from .gradients import backward_arrows, loss_graph
from .style import COLOURS, described, show, style, to_png, to_svg
