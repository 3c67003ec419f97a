"""Marks for the figures: `draw_*(frame, ax) -> ax`; matplotlib is loaded when one draws."""

from icgkit.report.plots.marks import Mark as Mark
from icgkit.report.plots.marks import draw_marks as draw_marks
from icgkit.report.plots.rates import draw_categories as draw_categories
from icgkit.report.plots.rates import draw_grid as draw_grid
from icgkit.report.plots.rates import draw_lines as draw_lines
from icgkit.report.plots.rates import draw_points as draw_points
from icgkit.report.plots.rates import draw_ranked as draw_ranked
from icgkit.report.plots.relations import draw_curves as draw_curves
from icgkit.report.plots.relations import draw_forest as draw_forest
from icgkit.report.plots.relations import draw_levels as draw_levels
from icgkit.report.plots.relations import draw_plane as draw_plane
from icgkit.report.plots.style import GRID as GRID
from icgkit.report.plots.style import INK as INK
from icgkit.report.plots.style import STYLE as STYLE
from icgkit.report.plots.style import category_legend as category_legend
from icgkit.report.plots.style import figure as figure
from icgkit.report.plots.style import model_style as model_style
from icgkit.report.plots.style import rectangle as rectangle
from icgkit.report.plots.style import shared_legend as shared_legend
