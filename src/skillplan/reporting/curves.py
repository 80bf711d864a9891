"""Learning curves: returns over frames."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes

from skillplan.reporting.style import agent_color, plain
from skillplan.training.metrics_log import read_metrics


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
