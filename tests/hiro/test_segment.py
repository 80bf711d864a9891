"""How a window of replay becomes a segment."""

import jax.numpy as jnp
import numpy as np
import pytest

from hiro.probes import K, windows
from skillplan.distributions import symlog
from skillplan.hiro.segment import read_segment
from small import ACTION


def test_a_step_has_its_own_action_goal_and_reward():
    window = windows(0)
    segment = read_segment(window, ACTION)
    np.testing.assert_allclose(segment.observation, symlog(window.observation))
    # Index t of replay holds the action that led to observation t.
    np.testing.assert_array_equal(segment.action, window.action[1:, :ACTION])
    np.testing.assert_array_equal(segment.goal, window.action[1:, ACTION:])
    np.testing.assert_array_equal(segment.reward, window.reward[1:])
    assert segment.steps == K
    assert segment.is_whole
    assert not segment.ended


@pytest.mark.parametrize("terminal", [False, True])
def test_an_episode_that_ended_leaves_fewer_steps(terminal):
    window = windows(1)
    # Index 2 is the episode's last; at 3 another one begins, and would end at once.
    window = window._replace(
        is_first=jnp.array([False, False, False, True, False]),
        is_terminal=jnp.array([False, False, terminal, False, True]),
    )
    segment = read_segment(window, ACTION)
    assert segment.steps == 2
    assert not segment.is_whole
    np.testing.assert_array_equal(segment.happened, [True, True, False, False])
    np.testing.assert_array_equal(segment.reward, [*window.reward[1:3], 0, 0])
    np.testing.assert_allclose(segment.observation, symlog(window.observation)[jnp.array([0, 1, 2, 2, 2])])
    assert bool(segment.ended) == terminal
