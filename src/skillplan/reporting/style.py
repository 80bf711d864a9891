"""How figures look: one colour per agent everywhere, readable in print and for colour-blind people."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

# Okabe and Ito's palette, and beyond it colours that deuteranopes and protanopes tell from it and from each other.
AGENT_COLORS = {
    "lsp": "#0072B2",
    "dreamer": "#D55E00",
    "no-mi": "#009E73",
    "random-skills": "#CC79A7",
    "rand-skills-init": "#E69F00",
    "amortized-skills": "#56B4E9",
    "hiro": "#000000",
    "online": "#882255",
    "amortized-train": "#6B3F00",
    "mppi": "#5A6B78",
    "cem-gradient": "#332288",
}
OTHER_COLOR = "#999999"
OBSTACLE_COLOR = "0.55"
TARGET_COLOR = "#F0E442"
SEQUENTIAL = ListedColormap(matplotlib.colormaps["viridis"](np.linspace(0.0, 0.93, 256)), "sequential")
"""Colour map of what grows: time, scores. Without viridis's brightest yellow, which white paper swallows."""


def agent_color(agent: str) -> str:
    """The colour of an agent's curves."""
    return AGENT_COLORS.get(agent, OTHER_COLOR)


def plain(axes: Axes) -> None:
    """Only the frame that is needed."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.5)


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of some inches on white paper, whatever page it is put on; it belongs to no window."""
    # Inches between panels, enough that the label of one does not read as that of its neighbour.
    layout = ConstrainedLayoutEngine(w_pad=0.08)
    return Figure(figsize=(width, height), layout=layout, facecolor="white", edgecolor="white", dpi=130)
