"""What each level sees of a segment."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hiro.probes import K, hiro_config, segment_of
from skillplan.hiro.levels import high_level_transition, low_level_transition
from skillplan.hiro.models import make_goal
from small import OBSERVATION, SPEC

SKILL, STATE = (make_goal(hiro_config(hiro={"goal": kind}), SPEC, jax.random.key(0)) for kind in ("skill", "state"))


def test_the_high_level_is_paid_a_tenth_of_the_sum_of_rewards():
    segment = segment_of()._replace(reward=jnp.array([1.0, -2.0, 4.0, 0.5]))
    step = high_level_transition(SKILL, segment, jnp.array([3.0, -1.5, 0.0]), 0.1)
    np.testing.assert_allclose(step.reward, 0.35, rtol=1e-6)
    # It chooses a share of the bound, 3.
    np.testing.assert_allclose(step.action, [1.0, -0.5, 0.0])
    np.testing.assert_array_equal(step.inputs, segment.observation[0])
    np.testing.assert_array_equal(step.following, segment.observation[K])
    assert step.goes_on == 1


@pytest.mark.parametrize("ended", [False, True])
def test_a_cut_segment_is_paid_for_what_happened(ended):
    segment = segment_of(happened=2, ended=ended)
    step = high_level_transition(SKILL, segment, jnp.zeros(3), 0.1)
    np.testing.assert_allclose(step.reward, 0.1 * (segment.reward[0] + segment.reward[1]), rtol=1e-5)
    np.testing.assert_array_equal(step.following, segment.observation[2])
    assert step.goes_on == (0 if ended else 1)


def drawn(goal, segment, count=400):
    paid = jnp.arange(1.0, K + 1)
    keys = jax.random.split(jax.random.key(0), count)
    return jax.vmap(lambda key: low_level_transition(goal, segment, paid, key))(keys)


@pytest.mark.parametrize("goal", [SKILL, STATE])
def test_the_low_level_takes_any_step_and_its_goal_moves_on(goal):
    segment = segment_of(goal=goal.size)
    steps = drawn(goal, segment)
    t = steps.reward.astype(int) - 1
    # Each of four equally often.
    np.testing.assert_allclose(np.bincount(t, minlength=K) / len(t), np.full(K, 1 / K), atol=0.08)
    given = segment.goal[t]
    onward = given if goal is SKILL else segment.observation[t] + given - segment.observation[t + 1]
    np.testing.assert_allclose(steps.inputs, jnp.concatenate([segment.observation[t], given], axis=1), rtol=1e-5)
    np.testing.assert_allclose(
        steps.following, jnp.concatenate([segment.observation[t + 1], onward], axis=1), atol=1e-5
    )
    np.testing.assert_array_equal(steps.action, segment.action[t])
    np.testing.assert_array_equal(steps.goes_on, np.ones(len(t)))
    assert steps.inputs.shape[1] == OBSERVATION + goal.size


def test_steps_that_did_not_happen_are_not_drawn_and_only_the_last_one_ends():
    steps = drawn(SKILL, segment_of(happened=3, ended=True))
    assert set(steps.reward.tolist()) == {1.0, 2.0, 3.0}
    np.testing.assert_array_equal(steps.goes_on, steps.reward != 3)
