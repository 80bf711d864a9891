"""Learning curves: returns over frames."""

import csv
from collections import Counter
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from skillplan.reporting.comparison import ALL_TASKS, Comparison, Curve, Panel
from skillplan.reporting.runs import RETURN
from skillplan.reporting.style import agent_color, new_figure, plain
from skillplan.training.metrics_log import read_metrics

PANEL = (4.4, 3.2)
LEGEND_LINE = 0.21  # inch
COLUMNS = 3
LINES = ("-", "--", ":", "-.")
MARKERS = "os^Dv<>P"
MOST_MARKERS = 25
FLOOR_LINES = {"doing nothing": (0, (1, 1)), "random actions": (0, (4, 2))}
REFERENCE_MARKERS = "*Xphd8"
MUTED = "0.5"
"""Grey that can be read on light and on dark ground."""


def draw(comparison: Comparison, panels: Sequence[Panel] | None = None) -> Figure:
    """One panel per task: the statistic with its interval, and thin lines of single runs; all or some panels."""
    panels = comparison.panels if panels is None else panels
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure = new_figure(PANEL[0] * columns, PANEL[1] * rows)
    grid = figure.subplots(rows, columns, squeeze=False)
    looks, counts = _looks(comparison), _counts(panels)
    for axes, panel in zip(grid.flat, panels, strict=False):
        _draw_panel(axes, comparison, panel, looks)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    entries = {}
    for axes in grid.flat:
        handles, labels = axes.get_legend_handles_labels()
        entries |= {label + counts.get(label, ""): handle for label, handle in zip(labels, handles, strict=True)}
    across = min(2 * columns, 4)
    figure.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=across, frameon=False)
    # A long legend must not press on the panels.
    figure.set_figheight(PANEL[1] * rows + 0.2 + LEGEND_LINE * -(-len(entries) // across))
    return figure


def write_curves(comparison: Comparison, table: Path) -> None:
    """What the figure shows, as CSV: one line per curve and grid point."""
    with table.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("task", "curve", "agent", "metric", "statistic", "runs", "frames", "value", "low", "high"))
        for panel in comparison.panels:
            for curve in panel.curves:
                about = (panel.task, curve.name, curve.agent, comparison.metric, comparison.statistic, curve.runs)
                for frames, *numbers in zip(curve.frames, *curve.estimate(comparison.statistic), strict=True):
                    writer.writerow((*about, f"{frames:.0f}", *map(_number, numbers)))


def write_reaches(comparison: Comparison, table: Path) -> None:
    """Frames to reach a return, and ratios against the baseline, as CSV."""
    with table.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        header = (
            "task,return,curve,frames,frames_low,frames_high,baseline,ratio_at_least,ratio_at_most,ratio_low,ratio_high"
        )
        writer.writerow(header.split(","))
        for panel in comparison.panels:
            for row in panel.reaches:
                reach, ratio = row.reach, row.ratio
                numbers = (ratio.at_least, ratio.at_most, ratio.low, ratio.high) if ratio else (np.nan,) * 4
                frames = map(_number, (reach.frames, reach.low, reach.high))
                writer.writerow(
                    (panel.task, row.level, row.curve, *frames, comparison.baseline, *map(_number, numbers))
                )


def _number(value: float) -> str:
    """Empty for what is undefined; `inf` for what is never reached."""
    return "" if np.isnan(value) else f"{value:.6g}"


def _looks(comparison: Comparison) -> dict[str, tuple[str, str]]:
    """Line and marker of each curve: the colour is its agent's, so curves of one agent differ in these."""
    names = {curve.name: curve.agent for panel in comparison.panels for curve in panel.curves}
    seen: Counter[str] = Counter()
    looks = {}
    for (name, agent), marker in zip(names.items(), cycle(MARKERS), strict=False):
        looks[name] = (LINES[seen[agent] % len(LINES)], marker)
        seen[agent] += 1
    return looks


def _counts(panels: Sequence[Panel]) -> dict[str, str]:
    """How many runs each curve stands for, for the legend."""
    counts: dict[str, set[int]] = {}
    for panel in panels:
        for curve in panel.curves:
            counts.setdefault(curve.name, set()).add(curve.runs)
    spans = {name: (min(several), max(several)) for name, several in counts.items()}
    return {
        name: f" ({low} run{'s' if low > 1 else ''})" if low == high else f" ({low} to {high} runs)"
        for name, (low, high) in spans.items()
    }


def _draw_panel(axes: Axes, comparison: Comparison, panel: Panel, looks: dict[str, tuple[str, str]]) -> None:
    for curve in panel.curves:
        _draw_curve(axes, curve, comparison, *looks[curve.name])
    for who, value in panel.floors.items():
        axes.axhline(value, color=MUTED, linestyle=FLOOR_LINES.get(who, ":"), linewidth=1, label=f"floor: {who}")
    names = list(dict.fromkeys(reference.name for reference in panel.references))
    for name, marker in zip(names, cycle(REFERENCE_MARKERS), strict=False):
        points = [(reference.frames, reference.value) for reference in panel.references if reference.name == name]
        axes.plot(*zip(*points, strict=True), marker, color=MUTED, markerfacecolor="none", markersize=7, label=name)
    whole = panel.task == ALL_TASKS
    what = "return per episode" + (", noise-free" if comparison.metric == RETURN else "")
    what = what if comparison.metric.endswith("/return") else comparison.metric
    axes.set(
        title=f"{panel.task}, normalised" if whole else panel.task,
        xlabel="environment frames",
        ylabel="share of the best return" if whole else what,
        xlim=(0, None),
    )
    if panel.best is not None:
        low, high = axes.get_ylim()
        axes.set_ylim(min(0.0, low), min(1.03 * high, 1.04 * panel.best))
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(FuncFormatter(short_frames))
    plain(axes)


def _draw_curve(axes: Axes, curve: Curve, comparison: Comparison, line: str, marker: str) -> None:
    color = agent_color(curve.agent)
    estimate = curve.estimate(comparison.statistic)
    # Over all tasks there are too many single runs to be told apart.
    for values in curve.strata[0] if curve.runs > 1 and len(curve.strata) == 1 else ():
        axes.plot(curve.grid, values, color=color, linewidth=0.7, alpha=0.35, linestyle=line)
    if not np.isnan(estimate.low).all():
        axes.fill_between(curve.frames, estimate.low, estimate.high, color=color, alpha=0.2, linewidth=0)
    axes.plot(
        curve.frames,
        estimate.value,
        color=color,
        linestyle=line,
        marker=marker if len(curve.frames) <= MOST_MARKERS else "",
        markersize=4,
        linewidth=1.8,
        label=curve.name,
    )


def short_frames(frames: float, _position: object = None) -> str:
    """Frames for an axis: 0, 500, 20k, 1.5M."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if abs(frames) >= size:
            return f"{frames / size:g}{unit}"
    return f"{frames:g}"


def curve(metrics_file: Path, metric: str) -> tuple[list[float], list[float]]:
    """Frames and values of one metric of a run."""
    points = [(line["frames"], line[metric]) for line in read_metrics(metrics_file) if line.get(metric) is not None]
    frames, values = zip(*points, strict=True) if points else ((), ())
    return list(frames), list(values)


def draw_curves(axes: Axes, runs: Sequence[tuple[str, Path]], *, best: float | None = None) -> None:
    """Returns while training (thin) and noise-free evaluations (dots) of `(agent, metrics file)` pairs."""
    for agent, metrics_file in runs:
        color = agent_color(agent)
        axes.plot(*curve(metrics_file, "train/return"), color=color, alpha=0.35, linewidth=1)
        axes.plot(
            *curve(metrics_file, "evaluation/return"), "o-", color=color, label=f"{agent}, noise-free", markersize=4
        )
    if best is not None:
        axes.axhline(best, color="0.5", linestyle=":", linewidth=1)
    axes.set(xlabel="environment frames", ylabel="return per episode")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, loc="lower right")
    plain(axes)
