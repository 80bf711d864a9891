"""What goals mean: their transition, what they pay, and where they look to have led."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hiro.probes import K, hiro_config, segment_of
from skillplan.distributions import normal_log_prob
from skillplan.errors import UserError
from skillplan.hiro.models import make_goal
from skillplan.hiro.off_policy_correction import goals_on_the_way
from skillplan.hiro.state_goal import goal_places
from small import OBSERVATION, SPEC, largest


def goal_of(kind, **hiro):
    return make_goal(hiro_config(hiro={"goal": kind, **hiro}), SPEC, jax.random.key(0))


def test_a_state_goal_stays_where_it_is():
    goal = goal_of("state")
    now, after, given = jnp.array([1.0, 2, 3, 4, 5]), jnp.array([1.5, 1, 3, 4, 9]), jnp.array([2.0, 0, 0, 0, 1])
    onward = goal.onward(given, now, after)
    np.testing.assert_allclose(onward, [1.5, 1, 0, 0, -3])
    # s + g is the same place before and after the step.
    np.testing.assert_allclose(after + onward, now + given)


def test_a_state_goal_pays_minus_the_distance_that_is_left():
    goal, segment = goal_of("state"), segment_of(goal=OBSERVATION)
    paid = goal.rewards(segment, jax.random.key(0))
    for t in range(K):
        left = segment.observation[t] + segment.goal[t] - segment.observation[t + 1]
        np.testing.assert_allclose(paid[t], -np.linalg.norm(left), rtol=1e-5)
    # Nothing is left of the goal that was achieved.
    goals = goals_on_the_way(goal, goal.centre(segment), segment)
    np.testing.assert_allclose(goal.rewards(segment._replace(goal=goals), jax.random.key(0))[-1], 0, atol=1e-5)


def test_a_state_goal_speaks_of_the_pieces_that_are_named():
    goal = goal_of("state", goal_keys=("far",))
    assert (goal.places, goal.size, goal.held_size) == ((2, 3, 4), 3, 0)
    segment = segment_of()
    np.testing.assert_allclose(goal.centre(segment), segment.observation[-1, 2:] - segment.observation[0, 2:])
    assert goal_places(SPEC, ()) == (0, 1, 2, 3, 4)
    assert goal_places(SPEC, ("far", "near")) == (0, 1, 2, 3, 4)
    with pytest.raises(UserError, match="'fat': did you mean 'far'"):
        goal_places(SPEC, ("fat",))


@pytest.mark.parametrize("reads", ["sequence", "change"])
def test_a_skill_is_paid_with_log_q_of_its_observations(reads):
    goal = make_goal(hiro_config(discovery={"predictor_input": reads}), SPEC, jax.random.key(0))
    segment = segment_of()
    seen = segment.observation
    read = jnp.ravel(seen) if reads == "sequence" else jnp.concatenate([seen[0], seen[-1] - seen[0]])
    log_q = normal_log_prob(segment.goal[0], goal.predictor(read))
    paid = goal.rewards(segment, jax.random.key(0))
    np.testing.assert_allclose(paid, np.full(K, log_q / K), rtol=1e-5)
    np.testing.assert_allclose(goal.loss(segment, jax.random.key(0)), -log_q, rtol=1e-5)
    np.testing.assert_allclose(goal.centre(segment), goal.predictor(read).mean, rtol=1e-5)
    np.testing.assert_array_equal(goal.onward(segment.goal[0], seen[0], seen[1]), segment.goal[0])
    assert (goal.size, goal.held_size, goal.bound) == (3, 3, 3.0)


def test_a_skill_that_was_cut_short_pays_and_teaches_nothing():
    goal, segment = goal_of("skill"), segment_of(happened=K - 1)
    np.testing.assert_array_equal(goal.rewards(segment, jax.random.key(0)), np.zeros(K))
    assert largest(jax.grad(lambda g: g.loss(segment, jax.random.key(0)))(goal)) == 0
    whole = segment_of()
    assert largest(jax.grad(lambda g: g.loss(whole, jax.random.key(0)))(goal)) > 0


def test_noise_hides_small_differences_from_the_predictor():
    config = hiro_config(discovery={"predictor_noise": 0.5})
    goal, segment = make_goal(config, SPEC, jax.random.key(0)), segment_of()
    draws = jax.vmap(lambda k: goal.predictor.inputs(segment.observation, k))(jax.random.split(jax.random.key(0), 2000))
    np.testing.assert_allclose(draws.mean(0), jnp.ravel(segment.observation), atol=0.06)
    np.testing.assert_allclose(draws.std(0), np.full(draws.shape[1], 0.5), atol=0.05)


def test_what_is_logged_counts_whole_segments_and_steps_that_happened():
    goal = goal_of("skill")
    segments = jax.tree.map(lambda *x: jnp.stack(x), segment_of(0), segment_of(1), segment_of(2, happened=2))
    paid = jax.vmap(goal.rewards)(segments, jax.random.split(jax.random.key(0), 3))
    logged = goal.metrics(segments, paid)
    np.testing.assert_allclose(logged["skill/log_q"], (paid[0].sum() + paid[1].sum()) / 2, rtol=1e-5)
    np.testing.assert_allclose(logged["low_level/reward"], paid.sum() / (2 * K + 2), rtol=1e-5)
