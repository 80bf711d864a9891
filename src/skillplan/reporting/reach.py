"""Sample efficiency: how many frames a kind of run needs to reach a return, and how many times fewer than another."""

from dataclasses import dataclass

import numpy as np

from skillplan.reporting.statistic import Statistic, central, interval_with_unknowns, resamples


@dataclass(frozen=True)
class Reach:
    """Frames until the statistic over a group's runs reaches a level, with the interval; infinite: it never does."""

    frames: float
    low: float
    high: float
    replicates: np.ndarray
    """The same of each bootstrap sample `[number]`."""
    earliest: float
    """The first frames at which anything was measured: reached by then may be reached before."""


@dataclass(frozen=True)
class Ratio:
    """How many times more frames a baseline needs; NaN: neither reaches the level."""

    value: float
    low: float
    high: float


def frames_to_reach(
    grid: np.ndarray, strata: list[np.ndarray], level: float, statistic: Statistic, *, seed: int = 0
) -> Reach:
    """When the statistic over runs first reaches `level`: strata `[runs, points]` measured at the frames of a grid.

    The curve of the statistic is what has to reach it, not each single run; whole runs are resampled within strata.
    Between two grid points it is read off the straight line.
    """
    value = float(crossings(grid, np.asarray(central(np.concatenate(strata), statistic)), level))
    curves = central(resamples(strata, seed=seed), statistic, axis=1)
    replicates = crossings(grid, np.asarray(curves), level)
    if all(len(stratum) < 2 for stratum in strata):
        return Reach(value, np.nan, np.nan, replicates, float(grid[0]))
    return Reach(value, *interval_with_unknowns(replicates), replicates, float(grid[0]))


def ratio(group: Reach, baseline: Reach) -> Ratio:
    """Frames of the baseline over those of the group: above one, the group needs fewer.

    The interval pairs independent bootstrap samples of both. Where neither reaches the level in a sample, its ratio may
    be anything, and widens the interval at both ends. There is no interval where one of them has a single run.
    """
    with np.errstate(invalid="ignore"):
        value = float(np.divide(baseline.frames, group.frames))
        replicates = baseline.replicates / group.replicates
    if np.isnan(group.low) or np.isnan(baseline.low):
        return Ratio(value, np.nan, np.nan)
    return Ratio(value, *interval_with_unknowns(replicates))


def crossings(grid: np.ndarray, curves: np.ndarray, level: float) -> np.ndarray:
    """Frames `[...]` at which curves `[..., points]` first reach a level, infinite where they do not.

    A curve that is there from the first grid point on counts as reaching it at that point.
    """
    above = curves >= level
    after = np.argmax(above, axis=-1)
    before = np.maximum(after - 1, 0)
    y0 = np.take_along_axis(curves, before[..., None], axis=-1)[..., 0]
    y1 = np.take_along_axis(curves, after[..., None], axis=-1)[..., 0]
    share = np.where(after > 0, (level - y0) / np.where(y1 > y0, y1 - y0, 1.0), 0.0)
    frames = grid[before] + share * (grid[after] - grid[before])
    return np.where(above.any(axis=-1), frames, np.inf)
