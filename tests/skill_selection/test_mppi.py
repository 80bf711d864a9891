"""The softmax-weighted refit: its weights by hand, and that it finds a known optimum."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skillplan.skill_selection import make_selection
from skillplan.skill_selection.cem import weighted_fit
from skillplan.skill_selection.mppi import softmax_weights
from skillplan.types import SkillDistribution
from small import ACTION, quick_compilation, small  # noqa: F401

TARGET = jnp.array([[0.7, -1.2, 0.3]])


def planner(**settings):
    config = small("mppi", planner={"population": 64, "elites": 1, "iterations": 10, **settings})
    return make_selection(config, ACTION, jax.random.key(0))


def test_weights_are_the_softmax_of_scores_in_their_own_deviations():
    scores = np.array([-1000.0, -1001.0, -1003.0, -1004.0])
    z = scores / scores.std() / 0.5
    expected = np.exp(z - z.max())
    np.testing.assert_allclose(softmax_weights(jnp.array(scores, jnp.float32), 0.5), expected, rtol=1e-3)
    # So their unit does not matter.
    np.testing.assert_allclose(softmax_weights(jnp.array(7 * scores, jnp.float32), 0.5), expected, rtol=1e-3)


def test_a_score_that_is_not_finite_weighs_nothing():
    scores = jnp.array([jnp.nan, -5.0, jnp.inf, -6.0, -jnp.inf])
    weights = softmax_weights(scores, 1.0)
    # Two finite scores one apart have a deviation of a half.
    np.testing.assert_allclose(weights, [0, 1, 0, np.exp(-2), 0], rtol=1e-5)
    np.testing.assert_array_equal(softmax_weights(jnp.full(3, jnp.nan), 1.0), np.zeros(3))
    np.testing.assert_array_equal(softmax_weights(jnp.full(3, -7.0), 1.0), np.ones(3))


def test_the_refit_is_the_weighted_mean_and_deviation():
    plans = np.random.default_rng(0).normal(size=(4, 2, 3)).astype(np.float32)
    weights = np.array([0.5, 2.0, 0.0, 1.5], np.float32)
    before = SkillDistribution(jnp.zeros((2, 3)), jnp.ones((2, 3)))
    fitted = weighted_fit(before, jnp.asarray(plans), jnp.asarray(weights))
    mean = np.average(plans, axis=0, weights=weights)
    np.testing.assert_allclose(fitted.mean, mean, atol=1e-6)
    np.testing.assert_allclose(fitted.std, np.sqrt(np.average((plans - mean) ** 2, axis=0, weights=weights)), atol=1e-6)


def test_the_planner_fits_the_whole_population_by_the_softmax_of_its_scores():
    draws = np.random.default_rng(1)
    plans, scores = draws.normal(size=(64, 1, 3)).astype(np.float32), draws.normal(size=64).astype(np.float32)
    before = SkillDistribution(jnp.zeros((1, 3)), jnp.ones((1, 3)))
    # One elite would leave no deviation.
    judge = lambda plan, member: jnp.zeros(())  # noqa: E731
    fitted = planner(temperature=2.0).fit(before, jnp.asarray(plans), jnp.asarray(scores), judge, elites=1)
    weights = np.exp(scores / (2.0 * np.std(scores)))
    mean = np.average(plans, axis=0, weights=weights)
    np.testing.assert_allclose(fitted.mean, mean, atol=1e-5)
    np.testing.assert_allclose(fitted.std, np.sqrt(np.average((plans - mean) ** 2, axis=0, weights=weights)), atol=1e-5)


@pytest.mark.parametrize("offset", [0.0, -1000.0])
@pytest.mark.parametrize("common_noise", [False, True])
def test_it_finds_the_optimum_of_a_quadratic(offset, common_noise):
    score = lambda plan, key: offset - jnp.sum(jnp.square(plan - TARGET))  # noqa: E731
    found = planner(common_noise=common_noise).select(score, jnp.zeros(12), jax.random.key(0))
    np.testing.assert_allclose(found.mean, TARGET, atol=0.15)
    assert found.std.max() < 0.3


def test_a_higher_temperature_narrows_more_slowly():
    score = lambda plan, key: -jnp.sum(jnp.square(plan - TARGET))  # noqa: E731
    stds = [
        planner(temperature=t, iterations=2).select(score, jnp.zeros(12), jax.random.key(0)).std.mean()
        for t in (0.1, 0.5, 5.0)
    ]
    assert stds == sorted(stds)
