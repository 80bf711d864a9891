"""The panels of the figure and the film of plans."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure, FigureBase
from matplotlib.lines import Line2D

from skillplan.reporting import skill_space
from skillplan.reporting.composite import evenly
from skillplan.reporting.dials import pixels_of
from skillplan.reporting.paths import draw_layout
from skillplan.reporting.style import SEQUENTIAL, plain

MOST_ITERATIONS = 4
"""Of a search in the figure."""
CURVES = 3
"""Observed numbers whose imagined and real courses are compared where no place is observed."""
IMAGES = 5
"""Moments at which imagined and real images are compared."""
BAR, LEFT, RIGHT = (0.07, 0.28, 0.012, 0.5), (0.15, 0.22, 0.33, 0.63), (0.58, 0.22, 0.38, 0.63)
"""Where the film has its colour bar and panels, in shares of the picture: left, bottom, width, height."""
PLAN_COLOR = "#D55E00"
FRAMES_PER_SECOND = 10.0
ITERATION_FRAMES = 3
"""For which each iteration of a search stands still."""


def score_scale(thought: Any) -> Normalize:
    """From the worst to the best score of a search."""
    finite = thought.scores[np.isfinite(thought.scores)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    return Normalize(low, high if high > low else low + 1e-6)


def draw_search(figure: FigureBase, row: Sequence[Axes], thought: Any, iterations: np.ndarray) -> None:
    """Some iterations of a search, beside each other, with one colour bar."""
    seen, scale = skill_space.projection(thought.skills), score_scale(thought)
    for place, (axes, iteration) in enumerate(zip(row, iterations.tolist(), strict=True)):
        draw_iteration(axes, thought, iteration, seen, scale)
        skill_space.frame(axes, seen, thought.skills, ylabel=place == 0)
        axes.set_title(f"iteration {iteration + 1}", fontsize=8)
    bar = figure.colorbar(ScalarMappable(scale, SEQUENTIAL), ax=list(row), location="left", shrink=0.8, pad=0.01)
    bar.set_label(f"step {thought.step}: score", fontsize=8)
    bar.ax.tick_params(labelsize=7)


def draw_iteration(axes: Axes, thought: Any, iteration: int, seen: skill_space.Projection, scale: Normalize) -> None:
    """A population, the distribution that it was drawn from (dashed) and the one fitted to its best."""
    population = (thought.skills[iteration], thought.scores[iteration], thought.weights[iteration])
    skill_space.draw_population(axes, seen, *population, scale)
    for number, style in ((iteration, "--"), (iteration + 1, "-")):
        skill_space.draw_distribution(axes, seen, thought.mean[number], thought.std[number], style=style)


def explain(
    figure: Figure, plans: Any, *, place: Literal["outside lower center", "lower center"] = "outside lower center"
) -> None:
    """What the marks mean, below everything."""
    ring = {"marker": "o", "linestyle": "", "markeredgecolor": "black", "markerfacecolor": SEQUENTIAL(1.0)}
    marks = [
        Line2D([], [], **ring, label="tried skill, ringed where it counts"),
        Line2D([], [], color=PLAN_COLOR, linestyle="--", label="drawn from (1 std)"),
        Line2D([], [], color=PLAN_COLOR, marker="+", label="fitted (1 std)"),
    ]
    thought = plans.thoughts[0]
    if thought.imagined_places is not None:
        marks += [
            Line2D([], [], color=SEQUENTIAL(0.5), linewidth=0.7, label="imagined, tried"),
            Line2D([], [], color=PLAN_COLOR, linewidth=2, label="imagined, plan (dots: samples' ends)"),
            Line2D([], [], color="black", linewidth=2.2, label="happened (dotted: planned anew)"),
        ]
    elif thought.imagined.ndim < 5:
        marks += [
            Line2D([], [], color="0.3", linestyle="--", label="imagined (10–90%)"),
            Line2D([], [], color="0.3", label="happened"),
        ]
    figure.legend(handles=marks, loc=place, ncols=3, frameon=False, fontsize=8)


def draw_outcome(axes: Axes, plans: Any, thought: Any, *, until: int | None = None) -> None:
    """What the plan was imagined to bring, and what happened: as paths, images or curves, up to `until` steps on."""
    horizon = thought.imagined.shape[1]
    lived = min(horizon, len(plans.reward) - 1 - thought.step)
    shown = lived if until is None else min(until, lived)
    if thought.imagined_places is not None:
        _draw_paths(axes, plans, thought, shown)
    elif thought.imagined.ndim == 5:
        _draw_images(axes, plans, thought, shown)
    else:
        _draw_curves(axes, plans, thought, shown)
    held = min(plans.config.skill.duration, lived)
    sums = thought.imagined_rewards[:, :held].sum(axis=1)
    came = plans.reward[thought.step + 1 : thought.step + 1 + held].sum()
    said = f"reward in {held} steps: imagined {sums.mean():.2f} ± {sums.std():.2f}"
    axes.set_title(f"{said}, came {came:.2f}" if shown >= held else said, fontsize=8)


def _draw_paths(axes: Axes, plans: Any, thought: Any, until: int) -> None:
    here, step = plans.places[thought.step], thought.step
    scale = score_scale(thought)
    draw_layout(axes, plans.layout)
    axes.plot(*plans.places[: step + 1].T, color="0.6", linewidth=0.8)
    for path, score in zip(thought.tried_places, thought.tried_scores, strict=True):
        axes.plot(*np.vstack([here, path]).T, color=SEQUENTIAL(scale(score)), linewidth=0.7, alpha=0.8)
    axes.plot(*thought.imagined_places[:, -1].T, ".", color=PLAN_COLOR, markersize=3, alpha=0.6)
    axes.plot(*np.vstack([here, thought.imagined_places.mean(axis=0)]).T, color=PLAN_COLOR, linewidth=2)
    held = min(plans.config.skill.duration, until)
    axes.plot(*plans.places[step : step + 1 + held].T, color="black", linewidth=2.2)
    axes.plot(*plans.places[step + held : step + 1 + until].T, ":", color="black", linewidth=1.5)
    axes.plot(*here, "o", color="black", markersize=5)
    _around(axes, plans, thought)
    axes.set_xlabel("x (m)", fontsize=8)
    axes.set_ylabel("y (m)", fontsize=8)
    axes.tick_params(labelsize=7)
    plain(axes)


def _around(axes: Axes, plans: Any, thought: Any) -> None:
    """Show what the plan is about, in a square."""
    here, end = plans.places[thought.step], thought.step + thought.imagined.shape[1]
    near = np.concatenate(
        [here[None], plans.places[thought.step : end + 1], *thought.imagined_places, *thought.tried_places]
    )
    low, high = near.min(axis=0), near.max(axis=0)
    half = max(float((high - low).max()) / 2 * 1.15, 0.5)
    x, y = (low + high) / 2
    axes.set(xlim=(x - half, x + half), ylim=(y - half, y + half), aspect="equal")


def _draw_images(axes: Axes, plans: Any, thought: Any, until: int) -> None:
    """One imagined future above what happened."""
    horizon = thought.imagined.shape[1]
    moments = evenly(min(horizon, len(plans.observation) - 1 - thought.step), IMAGES)
    above = thought.imagined[0, moments].round().astype(np.uint8)
    below = plans.observation[thought.step + 1 + moments].copy()
    below[moments >= until] = 255
    axes.imshow(np.concatenate([np.concatenate(list(row), axis=1) for row in (above, below)], axis=0))
    height, width = above.shape[1:3]
    axes.set(yticks=[height / 2, 1.5 * height], xticks=width * (np.arange(len(moments)) + 0.5))
    axes.set_yticklabels(["imagined", "happened"], fontsize=7)
    axes.set_xticklabels([f"+{(moment + 1) * plans.seconds:.1f} s" for moment in moments], fontsize=7)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _draw_curves(axes: Axes, plans: Any, thought: Any, until: int) -> None:
    """The observed numbers that change most, each in its own standard deviations, one above the other."""
    step, horizon = thought.step, thought.imagined.shape[1]
    scale = plans.observation.std(axis=0) + 1e-6
    window = plans.observation[step : step + 1 + horizon] / scale
    most = np.argsort(window.std(axis=0))[::-1][:CURVES]
    time = np.arange(horizon + 1) * plans.seconds
    colors = ("#0072B2", "#009E73", "#CC79A7")
    for place, (number, color) in enumerate(zip(most, colors, strict=False)):
        offset = -3.0 * place - window[0, number]
        imagined = thought.imagined[:, :, number] / scale[number] + offset
        low, middle, high = np.quantile(imagined, (0.1, 0.5, 0.9), axis=0)
        axes.fill_between(time[1:], low, high, color=color, alpha=0.2, linewidth=0)
        axes.plot(time[1:], middle, "--", color=color, linewidth=1.2)
        axes.plot(time[: until + 1], window[: until + 1, number] + offset, color=color, linewidth=1.8)
        axes.annotate(
            plans.names[number], (0.01, -3.0 * place + 0.9), xycoords=("axes fraction", "data"), fontsize=7, color=color
        )
    axes.axvline(plans.config.skill.duration * plans.seconds, color="0.5", linestyle=":", linewidth=0.8)
    axes.set(yticks=[-3.0 * place for place in range(len(most))], yticklabels=["0"] * len(most))
    axes.set_xlabel("time since the plan (s)", fontsize=8)
    axes.set_ylabel("change (std)", fontsize=8)
    axes.tick_params(labelsize=7)
    plain(axes)


def film(plans: Any) -> Iterator[np.ndarray]:
    """Pictures of every thought: its iterations, then the steps until the next one."""
    # Places are given: laying them out anew would take most of the time of every picture.
    figure = Figure(figsize=(9.0, 5.0), dpi=100, facecolor="white")
    figure.suptitle(f"{plans.config.agent} on {plans.config.task}", fontsize=10)
    explain(figure, plans, place="lower center")
    bar, left, right = (figure.add_axes(box) for box in (BAR, LEFT, RIGHT))
    ends = [*(thought.step for thought in plans.thoughts[1:]), None]
    for thought, end in zip(plans.thoughts, ends, strict=True):
        seen, scale = skill_space.projection(thought.skills), score_scale(thought)
        bar.clear()
        figure.colorbar(ScalarMappable(scale, SEQUENTIAL), cax=bar).set_label("score", fontsize=8)
        bar.yaxis.set_ticks_position("left")
        bar.yaxis.set_label_position("left")
        bar.tick_params(labelsize=7)
        for iteration in range(len(thought.scores)):
            left.clear()
            draw_iteration(left, thought, iteration, seen, scale)
            skill_space.frame(left, seen, thought.skills, ylabel=True)
            left.set_title(f"step {thought.step}: iteration {iteration + 1} of {len(thought.scores)}", fontsize=9)
            yield from [_outcome(figure, right, plans, thought, 0)] * ITERATION_FRAMES
        last = plans.config.skill.duration if end is None else end - thought.step
        for lived in range(1, min(last, len(plans.reward) - 1 - thought.step) + 1):
            yield _outcome(figure, right, plans, thought, lived)


def _outcome(figure: Figure, axes: Axes, plans: Any, thought: Any, until: int) -> np.ndarray:
    axes.clear()
    draw_outcome(axes, plans, thought, until=until)
    return pixels_of(figure)
