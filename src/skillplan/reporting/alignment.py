"""Curves of several runs on one grid of frames."""

from collections.abc import Sequence

import numpy as np

from skillplan.reporting.runs import Series

MOST_POINTS = 200
NEARLY = 0.05


def common_grid(curves: Sequence[Series]) -> np.ndarray:
    """Frames `[points]` at which curves are compared that may have been measured at slightly different frames.

    Evaluations fall on the ends of episodes, so that of two runs one may measure at 10,000 and the other at 10,034
    frames. Where all were measured at the same frames, as far as each goes, these are the grid. Otherwise it is even:
    the spacing is that of the run that was measured most rarely, of which one digit counts if that is within 5%. It has
    at most 200 points, and ends where the longest run does.
    """
    longest = max(curves, key=len).frames
    if len(longest) <= MOST_POINTS and all(np.array_equal(one.frames, longest[: len(one)]) for one in curves):
        return longest
    last = max(curve.frames[-1] for curve in curves)
    spacings = np.array([_spacing(curve.frames) for curve in curves])
    step = float(spacings.max())
    if np.ptp(spacings) > 0 and abs(float(f"{step:.1g}") - step) < NEARLY * step:
        step = float(f"{step:.1g}")
    step = max(step, last / MOST_POINTS)
    grid = step * np.arange(1, int(last / step + NEARLY) + 1)
    if len(grid) == 0 or last - grid[-1] > NEARLY * step:
        grid = np.append(grid, last)
    return np.round(grid)


def on_grid(curve: Series, grid: np.ndarray) -> np.ndarray:
    """Values `[points]` of a curve at the frames of a grid, NaN where it has none.

    Between two measurements it is read off the straight line; up to half a step before its first and after its last
    one, it is that one.
    """
    slack = 0.5 * _spacing(grid)
    values = np.interp(grid, curve.frames, curve.values)
    known = (grid >= curve.frames[0] - slack) & (grid <= curve.frames[-1] + slack)
    return np.where(known, values, np.nan)


def _spacing(frames: np.ndarray) -> float:
    """Frames between two measurements; they begin one spacing after zero."""
    return float(np.median(np.diff(frames, prepend=0.0)))
