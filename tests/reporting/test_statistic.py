import itertools

import numpy as np
import pytest
from scipy.stats import bootstrap, trim_mean

from skillplan.reporting.statistic import RESAMPLES, central, estimate, interval, resamples


def test_the_interquartile_mean_is_that_of_the_middle_half():
    values = np.array([[100.0], [1.0], [2.0], [3.0], [4.0], [-50.0], [5.0], [6.0]])
    assert central(values, "iqm") == pytest.approx(3.5)  # of 2, 3, 4, 5
    assert central(values, "mean") == pytest.approx(71 / 8)


def test_of_fewer_than_four_runs_it_is_the_mean():
    values = np.array([[0.0], [1.0], [5.0]])
    assert central(values, "iqm") == central(values, "mean") == pytest.approx(2.0)


def test_the_interval_is_that_of_all_possible_samples():
    runs = np.array([3.0, 10.0, 14.0])
    means = np.sort([np.mean(sample) for sample in itertools.product(runs, repeat=3)])
    # 27 equally likely samples; 2.5% and 97.5% fall on the first and on the last of them.
    low, high = means[0], means[-1]
    found = estimate([runs[:, None]], "mean")
    assert found.value == pytest.approx(9.0)
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    # Every sample is as likely as every other one.
    _, counts = np.unique(resamples([runs], number=27_000), axis=0, return_counts=True)
    assert len(counts) == 27
    assert counts.min() > 850
    assert counts.max() < 1150


def test_strata_are_resampled_within_themselves():
    small, large = np.array([0.0, 1.0]), np.array([100.0, 101.0, 102.0])
    samples = resamples([small, large], number=500)
    assert samples.shape == (500, 5)
    assert (samples[:, :2] <= 1).all()
    assert (samples[:, 2:] >= 100).all()


def test_whole_runs_are_resampled():
    runs = np.array([[0.0, 10.0], [1.0, 11.0], [2.0, 12.0]])
    samples = resamples([runs])
    np.testing.assert_array_equal(samples[..., 1] - samples[..., 0], 10.0)


def test_the_stratified_interval_agrees_with_scipy():
    draws = np.random.default_rng(3)
    strata = [draws.normal(10.0, 3.0, 8), draws.normal(-5.0, 1.0, 5)]

    def statistic(*samples: np.ndarray, axis: int) -> np.ndarray:
        return trim_mean(np.concatenate(samples, axis=axis), 0.25, axis=axis)

    theirs = bootstrap(
        strata, statistic, n_resamples=20_000, method="percentile", paired=False, vectorized=True, rng=draws
    ).confidence_interval
    ours = interval(central(resamples(strata, number=20_000), "iqm", axis=1))
    width = theirs.high - theirs.low
    assert ours[0] == pytest.approx(theirs.low, abs=0.03 * width)
    assert ours[1] == pytest.approx(theirs.high, abs=0.03 * width)


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    # Twenty runs of each of 300 imagined experiments, as grid points of one curve; resampled jointly.
    runs = np.random.default_rng(0).normal(4.0, 2.0, (20, 300))
    found = estimate([runs], "mean")
    covered = np.mean((found.low <= 4.0) & (found.high >= 4.0))
    assert 0.89 <= covered <= 0.97


def test_one_run_has_no_interval():
    found = estimate([np.array([[5.0, 6.0]])], "iqm")
    np.testing.assert_array_equal(found.value, [5.0, 6.0])
    assert np.isnan(found.low).all()
    assert np.isnan(found.high).all()


def test_the_same_runs_give_the_same_interval():
    runs = np.random.default_rng(1).normal(size=(5, 4))
    np.testing.assert_array_equal(estimate([runs], "iqm").low, estimate([runs], "iqm").low)


def test_ends_of_an_interval_with_infinities_are_replicates():
    replicates = np.concatenate([np.arange(RESAMPLES - 100.0), np.full(100, np.inf)])
    low, high = interval(replicates, between=False)
    assert low in (0.025 * RESAMPLES - 1, 0.025 * RESAMPLES)
    assert high == np.inf
