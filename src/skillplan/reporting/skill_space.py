"""Searches in skill space: scored populations on two axes, elites, and the distributions between them."""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.patches import Ellipse

from skillplan.reporting.style import SEQUENTIAL, plain


class Projection(NamedTuple):
    """Two directions of skill space, which the panels show."""

    directions: np.ndarray
    """`[skill_size, 2]`, orthonormal; the second is zero where skills are one number."""
    labels: tuple[str, str]

    def points(self, skills: np.ndarray) -> np.ndarray:
        """Skills `[…, skill_size]` as seen, `[…, 2]`."""
        return skills @ self.directions

    def ellipse(self, std: np.ndarray) -> tuple[float, float, float]:
        """Width, height and angle (degrees) of one standard deviation around the mean, as seen."""
        covariance = self.directions.T @ (np.square(std)[:, None] * self.directions)
        variances, axes = np.linalg.eigh(covariance)
        width, height = 2 * np.sqrt(np.maximum(variances[::-1], 0.0))
        return float(width), float(height), float(np.degrees(np.arctan2(axes[1, 1], axes[0, 1])))


def projection(skills: np.ndarray) -> Projection:
    """The axes themselves for skills of up to two numbers; else the two principal axes of all skills tried `[…, size]`."""
    size = skills.shape[-1]
    if size == 1:
        return Projection(np.array([[1.0, 0.0]]), ("z", ""))
    if size == 2:
        return Projection(np.eye(2), ("z 1", "z 2"))
    tried = skills.reshape(-1, size)
    _, _, principal = np.linalg.svd(tried - tried.mean(axis=0), full_matrices=False)
    directions = principal[:2].T
    # Which of its two signs an axis has is a matter of chance: let its largest part be positive.
    largest = np.abs(directions).argmax(axis=0)
    return Projection(directions * np.sign(directions[largest, [0, 1]]), ("principal axis 1", "principal axis 2"))


def draw_population(
    axes: Axes, seen: Projection, skills: np.ndarray, scores: np.ndarray, weights: np.ndarray, scale: Normalize
) -> None:
    """Skills `[population, size]` coloured by score, the more heavily ringed the more they count; a cross has no score."""
    points, finite = seen.points(skills), np.isfinite(scores)
    strength = weights / max(float(weights.max()), 1e-12)
    rings = np.zeros((len(points), 4))
    rings[:, 3] = strength
    order = np.argsort(np.where(finite, scores, -np.inf))
    shown = order[finite[order]]
    axes.scatter(
        *points[shown].T,
        c=scores[shown],
        cmap=SEQUENTIAL,
        norm=scale,
        s=26,
        edgecolors=rings[shown],
        linewidths=1.4,
        zorder=2,
    )
    axes.plot(*points[~finite].T, "x", color="0.6", markersize=4)


def draw_distribution(axes: Axes, seen: Projection, mean: np.ndarray, std: np.ndarray, *, style: str) -> None:
    """Mean and one standard deviation, `[size]` each; `style` is that of the line."""
    width, height, angle = seen.ellipse(std)
    center = tuple(seen.points(mean))
    axes.add_patch(
        Ellipse(center, width, height, angle=angle, fill=False, linestyle=style, color="#D55E00", linewidth=1.3)
    )
    if style == "-":
        axes.plot(*center, "+", color="#D55E00", markersize=8, markeredgewidth=1.6, zorder=3)


def frame(axes: Axes, seen: Projection, skills: np.ndarray, *, ylabel: bool) -> None:
    """The same square for all iterations `skills` `[…, size]` of a search."""
    reach = 1.1 * float(np.abs(seen.points(skills)).max()) + 0.1
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.set_xlabel(seen.labels[0], fontsize=8)
    if ylabel:
        axes.set_ylabel(seen.labels[1], fontsize=8)
    else:
        axes.set_yticklabels([])
    axes.tick_params(labelsize=7)
    plain(axes)
