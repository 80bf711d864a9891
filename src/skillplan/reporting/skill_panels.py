"""The panels of the figure of held skills."""

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from skillplan.reporting.composite import composite, side_by_side
from skillplan.reporting.paths import draw_held_skills, mark_start, skill_colors
from skillplan.reporting.style import plain

MOMENTS = 6
"""In a picture of a still camera."""
FOLLOWED_MOMENTS = 4
"""Beside each other, of a camera that follows."""
STRIP_TITLE = 0.3
TALLEST_STRIP = 2.1
"""Inches."""
NEAR = 0.04
"""Ends that are nearer than this share of the panel have one label."""
Panel = Callable[[Axes, Any, np.ndarray], None]
"""Draws one panel of `HeldSkills`, given the colours of the skills."""

__all__ = ["draw_strip", "name_strip", "panels_of", "skill_colors", "strip_height"]


def panels_of(has_paths: bool, has_information: bool) -> list[Panel]:
    """The panels that there are data for."""
    return [draw_paths, draw_ends, draw_overlap] * has_paths + [draw_information] * has_information


def strip_height(pictures: np.ndarray | None, still: bool, width: float) -> float:
    """Inches of a strip and its title, if it is at most `width` inches wide."""
    if pictures is None:
        return 0.0
    height, across = pictures.shape[2:4]
    return min(width * height / (across * (1 if still else FOLLOWED_MOMENTS)), TALLEST_STRIP) + STRIP_TITLE


def draw_strip(axes: Axes, film: np.ndarray, still: bool) -> None:
    """Several moments of one skill's film `[T, height, width, 3]`: in one picture, or beside each other."""
    axes.imshow(composite(film, MOMENTS) if still else side_by_side(film, FOLLOWED_MOMENTS))
    axes.set(xticks=[], yticks=[])


def name_strip(axes: Axes, number: int, skill: np.ndarray, color: np.ndarray) -> None:
    """Say which skill it is."""
    shown = ", ".join(f"{value:+.1f}".replace("-", "−") for value in skill[:4])
    axes.set_title(f"{number + 1}   z = ({shown}{', …' if len(skill) > 4 else ''})", fontsize=8)
    for spine in axes.spines.values():
        spine.set(color=color, linewidth=2)


def draw_paths(axes: Axes, held: Any, colors: np.ndarray) -> None:
    """Paths from above, or along x over time where that is the only way to go."""
    if held.axes[:2] == ("x", "y"):
        draw_held_skills(axes, held.paths, colors)
    else:
        time = np.linspace(0.0, held.seconds, held.paths.shape[2])
        for color, repeats in zip(colors, held.paths, strict=True):
            axes.plot(time, repeats[:, :, 0].T, color=color, linewidth=1.2, alpha=0.9)
        axes.set(xlabel="time (s)", ylabel=f"{held.axes[0]} (m)")
        plain(axes)
    axes.set_title("Paths", fontsize=9)


def draw_ends(axes: Axes, held: Any, colors: np.ndarray) -> None:
    """Where each repeat ended, numbered by skill."""
    ends = held.paths[:, :, -1][..., [0, min(1, len(held.axes) - 1)]]
    for number, color in enumerate(colors):
        axes.plot(*ends[number].T, "o", color=color, markersize=5, alpha=0.8)
    for place, names in _labels(ends.mean(axis=1)):
        axes.annotate(names, (place[0], place[1]), xytext=(5, 4), textcoords="offset points", fontsize=8)
    mark_start(axes, held.paths[0, 0, 0, [0, min(1, len(held.axes) - 1)]])
    axes.set(xlabel=f"{held.axes[0]} (m)", ylabel=f"{held.axes[min(1, len(held.axes) - 1)]} (m)")
    axes.margins(0.15)
    if held.axes[:2] == ("x", "y"):
        axes.set_aspect("equal", adjustable="datalim")
    axes.set_title("Ends", fontsize=9)
    plain(axes)


def _labels(places: np.ndarray) -> list[tuple[np.ndarray, str]]:
    """Numbers at places `[n, 2]`, counted from 1; those that would cover each other become one."""
    near = NEAR * max(float(np.ptp(places, axis=0).max()), 1e-6)
    labels: list[tuple[np.ndarray, str]] = []
    for number, place in enumerate(places, start=1):
        for i, (there, names) in enumerate(labels):
            if np.hypot(*(place - there)) < near:
                labels[i] = there, f"{names}, {number}"
                break
        else:
            labels.append((place, str(number)))
    return labels


def draw_overlap(axes: Axes, held: Any, colors: np.ndarray) -> None:
    """Which skills end alike."""
    count = len(held.skills)
    image = axes.imshow(held.overlap, vmin=0, vmax=1, cmap="Blues")
    every = max(1, count // 9)
    ticks = np.arange(0, count, every)
    axes.set(xticks=ticks, yticks=ticks, xlabel="skill", ylabel="skill")
    axes.set_xticklabels(ticks + 1, fontsize=8)
    axes.set_yticklabels(ticks + 1, fontsize=8)
    figure = axes.get_figure()
    if figure is not None:
        bar = figure.colorbar(image, ax=axes, shrink=0.8, ticks=[0, 0.5, 1])
        bar.set_label("overlap of ends", fontsize=8)
    axes.set_title(f"Alike: {held.effective:.1f} of {count} distinct", fontsize=9)


def draw_information(axes: Axes, held: Any, colors: np.ndarray) -> None:
    """How well each skill can be told from what it does."""
    numbers = np.arange(len(held.skills))
    axes.bar(numbers, held.information, color=colors, edgecolor="0.3", linewidth=0.5)
    axes.axhline(0, color="0.3", linewidth=0.8)
    mean = float(held.information.mean())
    axes.axhline(mean, color="0.3", linestyle="--", linewidth=0.8)
    every = max(1, len(numbers) // 9)
    axes.set(xticks=numbers[::every], xlabel="skill", ylabel="log q over marginal (nats)")
    axes.set_xticklabels(numbers[::every] + 1, fontsize=8)
    axes.set_title(f"Told apart: mean {mean:+.2f}".replace("-", "−"), fontsize=9)
    plain(axes)
    axes.grid(axis="x", visible=False)
