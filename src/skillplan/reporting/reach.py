"""Sample efficiency: how many frames a kind of run needs to reach a return, and how many times fewer than another."""

from dataclasses import dataclass

import numpy as np

from skillplan.reporting.statistic import Statistic, central, interval, resamples


@dataclass(frozen=True)
class Reach:
    """Frames until the statistic over a group's runs reaches a level, with the interval; infinite: not by `last`."""

    frames: float
    low: float
    high: float
    first: float
    """The first frames at which anything was measured: what is reached by then may have been reached before."""
    last: float
    """Nothing is known of later frames."""
    replicates: np.ndarray
    """The frames of each bootstrap sample `[number]`."""


@dataclass(frozen=True)
class Ratio:
    """How many times more frames a baseline needs, as far as that is known, with the interval.

    Where only one of the two reaches the level, or one is there at its first measurement already, there is a bound at
    one side; where neither or both are, the ratio is between 0 and infinity.
    """

    at_least: float
    at_most: float
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
    replicates = crossings(grid, np.asarray(central(resamples(strata, seed=seed), statistic, axis=1)), level)
    several = any(len(stratum) > 1 for stratum in strata)
    low, high = interval(replicates, between=False) if several else (np.nan, np.nan)
    return Reach(value, float(low), float(high), float(grid[0]), float(grid[-1]), replicates)


def ratio(group: Reach, baseline: Reach) -> Ratio:
    """Frames of the baseline over those of the group: above one, the group needs fewer.

    The interval pairs independent bootstrap samples of both. Of a sample in which one does not reach the level, or
    reaches it before anything was measured, only a bound is known, which widens the interval. There is no interval
    where one of them has a single run.
    """
    at_least, at_most = _bounds(group, baseline, np.array([group.frames]), np.array([baseline.frames]))
    if np.isnan(group.low) or np.isnan(baseline.low):
        return Ratio(at_least.item(), at_most.item(), np.nan, np.nan)
    below, above = _bounds(group, baseline, group.replicates, baseline.replicates)
    low, _ = interval(below, between=False)
    _, high = interval(above, between=False)
    return Ratio(at_least.item(), at_most.item(), float(low), float(high))


def _bounds(
    group: Reach, baseline: Reach, group_frames: np.ndarray, baseline_frames: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest ratio `[...]` that frames-to-reach `[...]` of the two allow."""
    (group_least, group_most), (least, most) = _known(group, group_frames), _known(baseline, baseline_frames)
    with np.errstate(divide="ignore"):
        return least / group_most, most / group_least


def _known(reach: Reach, frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Between which frames a level was reached: of what was there at the first measurement, any time before it."""
    return np.where(frames <= reach.first, 0.0, np.minimum(frames, reach.last)), frames


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
