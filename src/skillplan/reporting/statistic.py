"""What several runs show together: a mean or interquartile mean, with a stratified bootstrap interval."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import trim_mean

Statistic = Literal["iqm", "mean"]
RESAMPLES = 2000
LEVEL = 0.95
TRIMMED = 0.25
"""Share of the runs that the interquartile mean leaves out at either end."""


class Estimate(NamedTuple):
    """A statistic `[...]` with the ends of its interval `[...]`; without an interval these are NaN."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray


def central(values: np.ndarray, statistic: Statistic, axis: int = 0) -> np.ndarray:
    """The mean along `axis`, or the interquartile mean: the mean of the middle half.

    A quarter of the runs, rounded down, is left out at either end: with fewer than four runs both are the same.
    """
    return trim_mean(values, TRIMMED, axis=axis) if statistic == "iqm" else np.mean(values, axis=axis)


def resamples(strata: Sequence[np.ndarray], number: int = RESAMPLES, seed: int = 0) -> np.ndarray:
    """Stratified bootstrap samples `[number, runs, ...]` of strata `[runs of it, ...]`.

    Each stratum (a task) keeps its number of runs, drawn from its own runs with replacement, whole runs at a time: what
    one run has at different frames stays together.
    """
    draws = np.random.default_rng(seed)
    drawn = [stratum[draws.integers(len(stratum), size=(number, len(stratum)))] for stratum in strata]
    return np.concatenate(drawn, axis=1)


def estimate(strata: Sequence[np.ndarray], statistic: Statistic, *, seed: int = 0) -> Estimate:
    """The statistic over all runs of strata `[runs of it, ...]`, with its percentile interval.

    There is no interval where no stratum has two runs: nothing is known of how runs differ.
    """
    value = np.asarray(central(np.concatenate(strata), statistic))
    if all(len(stratum) < 2 for stratum in strata):
        return Estimate(value, np.full_like(value, np.nan), np.full_like(value, np.nan))
    low, high = interval(central(resamples(strata, seed=seed), statistic, axis=1))
    return Estimate(value, low, high)


def interval(replicates: np.ndarray, *, between: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """The percentile interval of bootstrap replicates `[number, ...]`.

    Some may be infinite if its ends are not to lie `between` two replicates.
    """
    method = "linear" if between else "inverted_cdf"
    low, high = np.quantile(replicates, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0, method=method)
    return np.asarray(low), np.asarray(high)
