"""Paths on the ground, seen from above: held skills, episodes, and the rover's arena."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Rectangle

from skillplan.reporting.style import OBSTACLE_COLOR, TARGET_COLOR, plain


def draw_held_skills(axes: Axes, paths: np.ndarray) -> None:
    """Paths `[skills, repeats, steps, 2]` of skills held from one start; one colour per skill."""
    colors = plt.get_cmap("twilight")(np.linspace(0.05, 0.95, len(paths)))
    # Neighbouring colours go to skills that end in neighbouring directions.
    ends = paths[:, :, -1].mean(axis=1) - paths[:, :, 0].mean(axis=1)
    for color, skill in zip(colors, np.argsort(np.arctan2(ends[:, 1], ends[:, 0])), strict=True):
        for path in paths[skill]:
            axes.plot(path[:, 0], path[:, 1], color=color, linewidth=1.2, alpha=0.9)
    axes.plot(*paths[0, 0, 0], "o", color="black", markersize=6)
    axes.set(xlabel="x (m)", ylabel="y (m)", aspect="equal")
    axes.margins(0.1)
    plain(axes)


def draw_arena(axes: Axes, layout: Mapping[str, np.ndarray | float], *, target: bool) -> None:
    """The rover's walls, obstacles `[n, 3]` (x, y, radius) and, if it matters, the target (x, y, radius)."""
    half = float(layout["arena"])
    axes.add_patch(Rectangle((-half, -half), 2 * half, 2 * half, fill=False, linewidth=1.5))
    for x, y, radius in np.asarray(layout["obstacles"]):
        axes.add_patch(Circle((x, y), radius, color=OBSTACLE_COLOR))
    if target:
        x, y, radius = np.asarray(layout["target"])
        axes.add_patch(Circle((x, y), radius, facecolor=TARGET_COLOR, edgecolor="0.4", alpha=0.7))
    margin = 1.05 * half
    axes.set(xlim=(-margin, margin), ylim=(-margin, margin), xlabel="x (m)", ylabel="y (m)", aspect="equal")
    axes.spines[["top", "right"]].set_visible(False)


def draw_episodes(
    axes: Axes, paths: Sequence[np.ndarray], color: str, *, every: int | None = None, label: str | None = None
) -> None:
    """Paths `[steps, 2]` of episodes; dots where a new skill begins, `every` so many steps."""
    for number, path in enumerate(paths):
        axes.plot(path[:, 0], path[:, 1], color=color, linewidth=1, alpha=0.7, label=label if number == 0 else None)
        if every is not None:
            nodes = path[::every]
            axes.plot(nodes[:, 0], nodes[:, 1], ".", color=color, markersize=3)
