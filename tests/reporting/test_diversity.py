import numpy as np
import pytest
from scipy.stats import norm

from skillplan.reporting.diversity import effective_number, overlaps, spread_skills


@pytest.mark.parametrize("size", [1, 2, 3])
def test_skills_cover_the_prior_evenly(size):
    skills = spread_skills(9, size)
    assert skills.shape == (9, size)
    # Of nine the quantiles 1/18, 3/18, … 17/18, each once on every axis.
    quantiles = norm.ppf((2 * np.arange(9) + 1) / 18)
    for axis in range(size):
        np.testing.assert_allclose(np.sort(skills[:, axis]), quantiles, atol=1e-6)
    np.testing.assert_array_equal(skills, spread_skills(9, size))
    assert (np.diff(skills[:, 0]) > 0).all()


def test_skills_of_several_numbers_do_not_lie_on_a_line():
    assert abs(np.corrcoef(spread_skills(9, 2).T)[0, 1]) < 0.3


def test_the_overlap_is_the_shared_part_of_two_gaussians():
    # One repeat each: the ends themselves, blurred by the resolution.
    found = overlaps(np.array([[[0.0]], [[0.25]]]), resolution=0.1)
    x = np.linspace(-2, 2, 20_001)
    shared = np.sqrt(norm.pdf(x, 0.0, 0.1) * norm.pdf(x, 0.25, 0.1)).sum() * (x[1] - x[0])
    np.testing.assert_allclose(found, [[1.0, shared], [shared, 1.0]], rtol=1e-6)


def test_the_overlap_of_ends_that_scatter_by_hand():
    ends = np.array([[[0.0, 7.0], [2.0, 7.0]], [[10.0, 7.0], [12.0, 7.0]]])
    # Along x: variance 2 within; means 10 apart, of which the scatter of two means adds 2 · 2 / 2 to the square.
    expected = np.exp(-(100 - 2) / (2 + 0.01) / 8)
    np.testing.assert_allclose(overlaps(ends), [[1.0, expected], [expected, 1.0]])


def test_repeats_of_one_behaviour_are_not_taken_for_several():
    draws = np.random.default_rng(0)
    same = overlaps(draws.normal(size=(30, 4, 2)))
    assert effective_number(same) < 1.5
    apart = overlaps(draws.normal(size=(30, 4, 2)) + 20 * np.arange(30)[:, None, None])
    assert effective_number(apart) == pytest.approx(30, rel=0.01)


def test_distinct_behaviours_are_counted():
    assert effective_number(np.eye(5)) == pytest.approx(5.0)
    assert effective_number(np.ones((5, 5))) == pytest.approx(1.0)
    # Two groups of three that are equal within and share nothing.
    assert effective_number(np.kron(np.eye(2), np.ones((3, 3)))) == pytest.approx(2.0)
    # Half alike: each of the two is 3/4 like an average one.
    assert effective_number(np.array([[1.0, 0.5], [0.5, 1.0]])) == pytest.approx(4 / 3)
    # A pair of equals and a third: exp of the entropy of (2/3, 1/3).
    unequal = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert effective_number(unequal) == pytest.approx((3 / 2) ** (2 / 3) * 3 ** (1 / 3))
