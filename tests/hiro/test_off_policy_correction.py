"""The correction: among known candidates it finds the goal that the actions were taken for."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hiro.probes import HIRO, K, hiro_config, segment_of
from skillplan.hiro.models import make_goal
from skillplan.hiro.networks import Actor
from skillplan.hiro.off_policy_correction import action_error, candidates, corrected_goal, goals_on_the_way
from small import ACTION, OBSERVATION, SPEC, quick_compilation  # noqa: F401

SETTINGS = dataclasses.replace(HIRO, candidates=10)


def goal_of(kind):
    return make_goal(hiro_config(hiro={"goal": kind}), SPEC, jax.random.key(0))


def low_level(goal):
    """A low level whose actions depend on the goal."""
    return Actor(OBSERVATION + goal.size, ACTION, HIRO, jax.random.key(3))


def acted_for(goal, low, first, segment):
    """The segment with the actions that the low level takes for a goal."""
    goals = goals_on_the_way(goal, first, segment)
    inputs = jnp.concatenate([segment.observation[:-1], goals], axis=1)
    return segment._replace(action=jax.vmap(low)(inputs))


@pytest.mark.parametrize("kind", ["skill", "state"])
def test_goals_on_the_way_are_those_of_acting(kind):
    goal, segment = goal_of(kind), segment_of()
    first = jnp.arange(goal.size, dtype=jnp.float32)
    seen = segment.observation
    moved = [first + (seen[0] - seen[t] if kind == "state" else 0.0) for t in range(K)]
    np.testing.assert_allclose(goals_on_the_way(goal, first, segment), jnp.stack(moved), atol=1e-5)


@pytest.mark.parametrize("kind", ["skill", "state"])
@pytest.mark.parametrize("which", range(10))
def test_the_goal_that_the_actions_were_taken_for_is_recovered(kind, which):
    goal = goal_of(kind)
    low, segment = low_level(goal), segment_of(5, goal=goal.size)
    tried = candidates(goal, segment, SETTINGS, jax.random.key(7))
    assert tried.shape == (10, goal.size)
    served = acted_for(goal, low, tried[which], segment)
    found = jax.jit(lambda s: corrected_goal(goal, low, s, SETTINGS, jax.random.key(7)))(served)
    np.testing.assert_allclose(found, tried[which], atol=1e-5)


def test_the_error_is_the_sum_of_squares_over_the_steps_that_happened():
    goal = goal_of("skill")
    low, segment = low_level(goal), segment_of(1, happened=3)
    first = jnp.array([0.5, -1.0, 2.0])
    expected = sum(
        float(jnp.sum((segment.action[t] - low(jnp.concatenate([segment.observation[t], first]))) ** 2))
        for t in range(3)
    )
    np.testing.assert_allclose(action_error(goal, low, first, segment), expected, rtol=1e-5)


@pytest.mark.parametrize("kind", ["skill", "state"])
def test_candidates_are_the_given_the_centre_and_draws_around_it(kind):
    goal, settings = goal_of(kind), dataclasses.replace(SETTINGS, candidates=4002)
    small = lambda x: 0.1 * x  # noqa: E731
    segment = jax.tree.map(lambda x: small(x) if x.dtype == jnp.float32 else x, segment_of(2, goal=goal.size))
    tried = candidates(goal, segment, settings, jax.random.key(0))
    centre = jnp.clip(goal.centre(segment), -goal.bound, goal.bound)
    np.testing.assert_array_equal(tried[0], segment.goal[0])
    np.testing.assert_allclose(tried[1], centre, atol=1e-6)
    assert jnp.abs(tried).max() <= goal.bound
    drawn = (tried[2:] - centre[None]) / goal.bound
    inside = jnp.abs(tried[2:]) < goal.bound
    # A standard deviation of half the bound; what lies beyond the bound is clipped, so the median tells more.
    np.testing.assert_allclose(jnp.median(drawn, axis=0), np.zeros(goal.size), atol=0.04)
    assert 0.9 < inside.mean() < 1.0
    np.testing.assert_allclose(jnp.median(jnp.abs(drawn)), 0.5 * 0.6745, atol=0.03)


def test_candidates_stay_within_bounds_wherever_the_predictor_points():
    goal = goal_of("skill")
    far = eqx.tree_at(lambda g: g.predictor.mlp.output.bias, goal, jnp.full(6, 50.0))
    tried = candidates(far, segment_of(), SETTINGS, jax.random.key(0))
    np.testing.assert_array_equal(tried[1], np.full(3, 3.0))
    assert jnp.abs(tried).max() <= 3.0
