"""How figures look: one colour per agent everywhere, readable in print and for colour-blind people."""

from matplotlib.axes import Axes

# Okabe and Ito's palette.
AGENT_COLORS = {
    "lsp": "#0072B2",
    "dreamer": "#D55E00",
    "no-mi": "#009E73",
    "random-skills": "#CC79A7",
    "rand-skills-init": "#E69F00",
    "amortized-skills": "#56B4E9",
}
OTHER_COLOR = "#555555"


def agent_color(agent: str) -> str:
    """The colour of an agent's curves."""
    return AGENT_COLORS.get(agent, OTHER_COLOR)


def plain(axes: Axes) -> None:
    """Only the frame that is needed."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.5)
