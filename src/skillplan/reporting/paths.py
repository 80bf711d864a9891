"""Paths on the ground, seen from above: held skills, episodes, and the rover's arena."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Rectangle

from skillplan.reporting.style import OBSTACLE_COLOR, SEQUENTIAL, TARGET_COLOR, plain


def skill_colors(paths: np.ndarray | None, count: int) -> np.ndarray:
    """A colour for each skill `[count, 4]`: neighbouring colours for skills that end in neighbouring directions."""
    colors = SEQUENTIAL(np.linspace(0.0, 1.0, count))
    if paths is None:
        return colors
    ends = paths[:, :, -1].mean(axis=1) - paths[:, :, 0].mean(axis=1)
    angles = np.arctan2(ends[:, 1], ends[:, 0]) if ends.shape[1] > 1 else ends[:, 0]
    return colors[np.argsort(np.argsort(angles))]


def draw_held_skills(axes: Axes, paths: np.ndarray, colors: np.ndarray | None = None) -> None:
    """Paths `[skills, repeats, steps, 2 or more]` of skills held from one start, from above; one colour per skill."""
    colors = skill_colors(paths, len(paths)) if colors is None else colors
    for color, repeats in zip(colors, paths, strict=True):
        for path in repeats:
            axes.plot(path[:, 0], path[:, 1], color=color, linewidth=1.2, alpha=0.9)
    mark_start(axes, paths[0, 0, 0, :2])
    axes.set(xlabel="x (m)", ylabel="y (m)")
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.1)
    plain(axes)


def mark_start(axes: Axes, place: np.ndarray) -> None:
    """Where everything begins, `[2]`."""
    axes.plot(*place, "o", color="black", markersize=6, zorder=3)


def draw_layout(axes: Axes, layout: Mapping[str, np.ndarray | float]) -> None:
    """What stands there: `obstacles` `[n, 3]` and `target` as x, y, radius (m), `arena`, half its width; or parts."""
    if "arena" in layout:
        half = float(layout["arena"])
        axes.add_patch(Rectangle((-half, -half), 2 * half, 2 * half, fill=False, linewidth=1.5))
    if "target" in layout:
        x, y, radius = np.asarray(layout["target"])
        axes.add_patch(Circle((x, y), radius, facecolor=TARGET_COLOR, edgecolor="0.4", alpha=0.7))
    for x, y, radius in np.asarray(layout.get("obstacles", np.zeros((0, 3)))):
        axes.add_patch(Circle((x, y), radius, color=OBSTACLE_COLOR))


def draw_arena(axes: Axes, layout: Mapping[str, np.ndarray | float], *, target: bool) -> None:
    """The rover's walls, obstacles and, if it matters, the target."""
    draw_layout(axes, {name: value for name, value in layout.items() if name != "target" or target})
    margin = 1.05 * float(layout["arena"])
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
