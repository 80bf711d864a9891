import numpy as np

from skillplan.reporting.alignment import MOST_POINTS, common_grid, on_grid
from skillplan.reporting.runs import Series


def series(*points: tuple[float, float]) -> Series:
    frames, values = np.array(points, float).T
    return Series(frames, values)


def test_where_all_are_measured_alike_the_grid_is_where_they_are_measured():
    long = series((1200, 0), (2100, 1), (3000, 2), (4200, 3))
    short = series((1200, 0), (2100, 1))
    np.testing.assert_array_equal(common_grid([short, long]), [1200, 2100, 3000, 4200])


def test_slightly_different_frames_share_an_even_grid():
    one = series((10_034, 0), (20_011, 1), (30_050, 2))
    other = series((10_090, 0), (20_002, 1), (30_007, 2))
    np.testing.assert_array_equal(common_grid([one, other]), [10_000, 20_000, 30_000])


def test_the_grid_is_no_finer_than_the_coarsest_run():
    fine = series(*((1000 * i, i) for i in range(1, 13)))
    coarse = series((4000, 0), (8000, 1))
    np.testing.assert_array_equal(common_grid([fine, coarse]), [4000, 8000, 12_000])


def test_a_last_measurement_off_the_grid_ends_it():
    one = series((5000, 0), (10_000, 1), (12_000, 2))
    other = series((5000, 0), (10_000, 1), (12_300, 2))
    np.testing.assert_array_equal(common_grid([one, other]), [5000, 10_000, 12_300])


def test_many_points_are_thinned():
    dense = series(*((300 * i, i) for i in range(1, 5000)))
    grid = common_grid([dense])
    assert len(grid) <= MOST_POINTS + 1
    assert grid[-1] == dense.frames[-1]


def test_values_between_measurements_are_on_the_straight_line():
    grid = np.array([1000.0, 2000.0, 3000.0])
    np.testing.assert_allclose(on_grid(series((1100, 10), (2100, 20), (3100, 40)), grid), [10, 19, 38])


def test_nothing_is_known_far_from_any_measurement():
    grid = np.array([1000.0, 2000.0, 3000.0, 4000.0])
    # Half a step beyond the ends the nearest measurement holds; further off there is none.
    np.testing.assert_array_equal(on_grid(series((1900, 5), (2600, 12)), grid), [np.nan, 6, 12, np.nan])
