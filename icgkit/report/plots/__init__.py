"""Marks for the figures in one visual language: seaborn's theme and marks, names beside what they name.

`draw_*(frame, ax, ...) -> ax`; matplotlib and seaborn are loaded when one draws.
"""

from icgkit.report.plots.estimates import Scale as Scale
from icgkit.report.plots.estimates import draw_bins as draw_bins
from icgkit.report.plots.estimates import draw_estimates as draw_estimates
from icgkit.report.plots.estimates import draw_grid as draw_grid
from icgkit.report.plots.estimates import draw_key as draw_key
from icgkit.report.plots.estimates import draw_levels as draw_levels
from icgkit.report.plots.estimates import without_names as without_names
from icgkit.report.plots.marks import Mark as Mark
from icgkit.report.plots.marks import draw_marks as draw_marks
from icgkit.report.plots.relations import draw_curves as draw_curves
from icgkit.report.plots.relations import draw_plane as draw_plane
from icgkit.report.plots.style import GRID as GRID
from icgkit.report.plots.style import INK as INK
from icgkit.report.plots.style import figure as figure
from icgkit.report.plots.style import label_ends as label_ends
from icgkit.report.plots.style import model_style as model_style
from icgkit.report.plots.style import rectangle as rectangle
from icgkit.report.plots.style import theme as theme
