import itertools

import numpy as np
import pytest

from skillplan.reporting.reach import Ratio, Reach, crossings, frames_to_reach, ratio

GRID = np.array([10.0, 20.0, 30.0])


def reach(frames: float, replicates: list[float], last: float = 30.0) -> Reach:
    return Reach(frames, min(replicates), max(replicates), 5.0, last, np.array(replicates))


def test_a_level_is_reached_on_the_line_between_two_points():
    curves = np.array([[0.0, 4.0, 8.0], [5.0, 1.0, 9.0], [0.0, 1.0, 2.0], [-8.0, 8.0, -8.0]])
    np.testing.assert_allclose(crossings(GRID, curves, 5.0), [22.5, 10.0, np.inf, 18.125])


def test_the_statistic_has_to_reach_it_not_each_run():
    runs = np.array([[0.0, 10.0, 10.0], [0.0, 0.0, 10.0]])
    found = frames_to_reach(GRID, [runs], 5.0, "mean")
    assert found.frames == pytest.approx(20.0)
    # Of the four samples of two runs one is the fast run twice, one the slow one twice.
    assert (found.low, found.high) == (pytest.approx(15.0), pytest.approx(25.0))
    assert (found.first, found.last) == (10.0, 30.0)


def test_what_is_not_reached_is_infinite_and_so_may_the_interval_be():
    runs = np.array([[0.0, 10.0, 10.0], [0.0, 0.0, 0.0]])
    found = frames_to_reach(GRID, [runs], 6.0, "mean")
    assert found.frames == np.inf
    assert found.low == pytest.approx(16.0)
    assert found.high == np.inf


def test_one_run_has_no_interval():
    found = frames_to_reach(GRID, [np.array([[0.0, 5.0, 10.0]])], 5.0, "iqm")
    assert found.frames == 20.0
    assert np.isnan([found.low, found.high]).all()


def test_the_ratio_of_two_groups_has_the_interval_of_all_pairs_of_samples():
    steps = np.linspace(0.0, 100.0, 101)

    def runs(*arrivals: float) -> np.ndarray:
        return np.array([[float(frames >= arrival) for frames in steps] for arrival in arrivals])

    def by_hand(arrivals: tuple[float, ...]) -> list[float]:
        # The mean of three steps reaches one half when the second of three has arrived.
        return [sorted(sample)[1] for sample in itertools.product(arrivals, repeat=3)]

    fast, slow = (20.0, 24.0, 25.0), (40.0, 50.0, 60.0)
    pairs = [b / a for a in by_hand(fast) for b in by_hand(slow)]
    low, high = np.quantile(pairs, [0.025, 0.975], method="inverted_cdf")
    group = frames_to_reach(steps, [runs(*fast)], 0.5, "mean", seed=0)
    baseline = frames_to_reach(steps, [runs(*slow)], 0.5, "mean", seed=1)
    found = ratio(group, baseline)
    # Between two grid points the mean rises from 1/3 to 2/3: half a frame before.
    assert found.at_least == found.at_most == pytest.approx(49.5 / 23.5)
    assert found.low == pytest.approx(low, rel=0.05)
    assert found.high == pytest.approx(high, rel=0.05)


def test_a_group_that_needs_half_the_frames_has_a_ratio_of_two():
    found = ratio(reach(10.0, [9.0, 10.0, 11.0]), reach(20.0, [18.0, 20.0, 22.0]))
    assert found.at_least == found.at_most == 2.0
    assert (found.low, found.high) == (2.0, 2.0)


def test_a_baseline_that_stops_before_the_level_gives_a_lower_bound_only():
    found = ratio(reach(10.0, [10.0, 12.0]), reach(np.inf, [np.inf, 24.0]))
    assert (found.at_least, found.at_most) == (3.0, np.inf)
    assert (found.low, found.high) == (2.0, np.inf)


def test_what_was_there_at_the_first_measurement_was_reached_at_some_time_before():
    early, later = reach(5.0, [5.0, 5.0]), reach(20.0, [20.0, 24.0])
    assert ratio(early, later) == Ratio(at_least=4.0, at_most=np.inf, low=4.0, high=np.inf)
    assert ratio(later, early) == Ratio(at_least=0.0, at_most=0.25, low=0.0, high=0.25)
    assert ratio(early, early) == Ratio(at_least=0.0, at_most=np.inf, low=0.0, high=np.inf)


def test_a_group_that_stops_before_the_level_gives_an_upper_bound_only():
    found = ratio(reach(np.inf, [np.inf, np.inf], last=15.0), reach(20.0, [20.0, 24.0]))
    assert (found.at_least, found.at_most) == (0.0, pytest.approx(20 / 15))
    assert (found.low, found.high) == (0.0, pytest.approx(24 / 15))


def test_where_neither_gets_there_nothing_is_known():
    found = ratio(reach(np.inf, [np.inf]), reach(np.inf, [np.inf]))
    assert (found.at_least, found.at_most, found.low, found.high) == (0.0, np.inf, 0.0, np.inf)
