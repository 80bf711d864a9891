"""Curves beside a film, drawn once; at each step only the cursor moves."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from skillplan.reporting.style import plain

LINE_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DPI = 100
WIDTH = 480
"""Pixels."""
VEIL = 0.8
"""How white what is still to come is made."""


class Dials:
    """Rows of curves over an episode; what is still to come is veiled."""

    def __init__(self, rows: Sequence[tuple[str, np.ndarray]], title: str, seconds: float, height: int) -> None:
        """Draw all `rows`, names with courses `[T + 1, lines]`, in a picture `height` pixels tall."""
        figure = Figure(figsize=(WIDTH / DPI, height / DPI), dpi=DPI, layout="constrained", facecolor="white")
        canvas = FigureCanvasAgg(figure)
        figure.suptitle(title, fontsize=10)
        self._panels = list(figure.subplots(len(rows), 1, sharex=True, squeeze=False)[:, 0])
        self._seconds = seconds
        for axes, (name, courses) in zip(self._panels, rows, strict=True):
            self._draw(axes, name, courses)
        self._panels[-1].set_xlabel("time (s)", fontsize=9)
        canvas.draw()
        self._picture = np.asarray(canvas.buffer_rgba())[..., :3].copy()
        self._height = height

    def at(self, step: int) -> np.ndarray:
        """The picture at one step, uint8 `[height, width, 3]`."""
        picture = self._picture.copy()
        for axes in self._panels:
            box = axes.get_window_extent()
            top, bottom = round(self._height - box.y1), round(self._height - box.y0)
            x = round(float(axes.transData.transform((step * self._seconds, 0.0))[0]))
            coming = picture[top:bottom, x + 1 : round(box.x1)]
            coming[:] = np.rint(255 * VEIL + (1 - VEIL) * coming).astype(np.uint8)
            picture[top:bottom, max(x - 1, 0) : x + 1] = 40
        return picture

    def _draw(self, axes: Axes, name: str, courses: np.ndarray) -> None:
        time = self._seconds * np.arange(len(courses))
        # What is known of a step led to it.
        for number, course in enumerate(courses.T):
            label = f"{name} {number + 1}" if courses.shape[1] > 1 else None
            color = LINE_COLORS[number % len(LINE_COLORS)]
            axes.step(time, course, where="pre", color=color, linewidth=1.3, label=label)
        if 1 < courses.shape[1] <= len(LINE_COLORS):
            axes.legend(frameon=False, fontsize=7, loc="upper right", ncols=courses.shape[1], columnspacing=0.8)
            low, high = axes.get_ylim()
            axes.set_ylim(low, high + 0.25 * (high - low))
        axes.set_ylabel(name, fontsize=9)
        axes.set_xlim(0, time[-1])
        axes.tick_params(labelsize=8)
        axes.margins(y=0.1)
        plain(axes)


def pixels_of(figure: Figure) -> np.ndarray:
    """A figure as a picture, uint8 `[height, width, 3]`."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()
