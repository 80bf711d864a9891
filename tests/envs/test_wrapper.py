"""Repeated actions, time limits, records, errors at run time."""

import numpy as np
import pytest

from envs.probes import Counter
from skillplan.envs.rover.env import RoverEnv
from skillplan.envs.wrapper import RepeatedEnvironment
from skillplan.errors import UserError

ACTION = np.array([0.5], np.float32)


def wrapped(env, repeat=1, frames=100, terminates=True):
    return RepeatedEnvironment(env, task="t", action_repeat=repeat, episode_frames=frames, terminates=terminates)


def test_rewards_are_summed_and_records_stacked_over_repeated_frames():
    inner = Counter()
    env = wrapped(inner, repeat=3)
    first = env.reset(0)
    assert (first.reward, first.frames, first.is_last) == (0.0, 0, False)
    np.testing.assert_array_equal(first.record["position"], np.zeros((3, 2)))
    step = env.step(ACTION)
    assert (step.reward, step.frames, step.is_last, step.is_terminal) == (1 + 2 + 3, 3, False, False)
    np.testing.assert_array_equal(step.observation, [3])
    np.testing.assert_array_equal(step.record["position"], [[1, -1], [2, -2], [3, -3]])
    assert step.record["position"].dtype == np.float32
    assert inner.seen == [1.0, 1.0, 1.0]  # 0.5 of bounds ±2


def test_a_terminal_frame_ends_the_repetition():
    env = wrapped(Counter(end=2), repeat=3)
    env.reset(0)
    step = env.step(ACTION)
    assert (step.reward, step.frames, step.is_last, step.is_terminal) == (1 + 2, 2, True, True)
    np.testing.assert_array_equal(step.record["position"], [[1, -1], [2, -2], [2, -2]])


def test_the_time_limit_counts_frames_and_is_no_termination():
    env = wrapped(Counter(), repeat=2, frames=5)
    env.reset(0)
    steps = [env.step(ACTION) for _ in range(3)]
    assert [step.frames for step in steps] == [2, 2, 1]
    assert [step.is_last for step in steps] == [False, False, True]
    assert not steps[-1].is_terminal


def test_an_episode_may_terminate_exactly_at_the_time_limit():
    env = wrapped(Counter(end=4), repeat=2, frames=4)
    env.reset(0)
    env.step(ACTION)
    last = env.step(ACTION)
    assert last.is_last
    assert last.is_terminal


class Shy(Counter):
    """Says which of its frames were observed, and may leave an observation out."""

    def reset(self, **how):
        self.observed = []
        return super().reset(**how)

    def step(self, action):
        self.observed.append(self.frame + 1)
        return super().step(action)

    def step_unseen(self, action):
        observation, *outcome = super().step(action)
        return observation if outcome[1] else None, *outcome


def test_frames_between_observations_may_go_unseen():
    one, other = wrapped(Shy(), repeat=3, frames=8), wrapped(Counter(), repeat=3, frames=8)
    one.reset(0), other.reset(0)
    for _ in range(3):
        ours, theirs = one.step(ACTION), other.step(ACTION)
        assert ours._replace(record=None) == theirs._replace(record=None)
        np.testing.assert_array_equal(ours.record["position"], theirs.record["position"])
    assert ours.is_last
    assert one.env.observed == [3, 6, 8]


def test_an_unseen_frame_that_ends_the_episode_is_observed():
    env = wrapped(Shy(end=2), repeat=3)
    env.reset(0)
    step = env.step(ACTION)
    np.testing.assert_array_equal(step.observation, [2])
    assert (step.frames, step.is_terminal) == (2, True)


def test_spec_describes_the_world():
    spec = wrapped(RoverEnv("cove"), frames=300, terminates=False).spec
    assert spec.task == "t"
    assert spec.observation_keys == ("rays", "velocity", "yaw_rate", "heading", "position", "target")
    assert spec.observation_sizes == (12, 2, 1, 2, 2, 2)
    assert spec.observation_shape == (21,)
    assert (spec.action_size, spec.episode_frames, spec.terminates, spec.pixels) == (2, 300, False, False)
    assert spec.record_shapes == {"position": (2,), "yaw": (1,), "forward_speed": (1,), "target": (2,)}


def test_open_start_reaches_only_worlds_that_know_it():
    rover = wrapped(RoverEnv("field"))
    assert rover.reset(0).record["yaw"] != 0
    step = rover.reset(0, open_start=True)
    assert step.record["yaw"] == 0
    np.testing.assert_array_equal(step.observation[:12], 1)
    counter = Counter()
    wrapped(counter).reset(0, open_start=True)
    assert counter.options is None


def test_an_observation_that_is_not_finite_names_its_frame():
    env = wrapped(Counter(observation=[np.nan]), repeat=2)
    env.reset(0)
    with pytest.raises(UserError, match="t: observation 'observation' is not finite at frame 2"):
        env.step(ACTION)


def test_a_reward_that_is_not_finite_names_its_frame():
    env = wrapped(Counter(reward=-np.inf), repeat=2)
    env.reset(0)
    with pytest.raises(UserError, match="t: the reward is not finite at frame 1"):
        env.step(ACTION)


def test_negative_rewards_are_fine():
    env = wrapped(Counter(reward=-1e9), repeat=2)
    env.reset(0)
    assert env.step(ACTION).reward == -2e9


def test_stepping_needs_a_running_episode():
    env = wrapped(Counter(end=1))
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(ACTION)
    env.reset(0)
    env.step(ACTION)
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(ACTION)


def test_a_closed_world_is_not_used_again():
    inner = Counter()
    env = wrapped(inner)
    env.reset(0)
    env.close()
    assert inner.closed
    with pytest.raises(RuntimeError):
        env.step(ACTION)
    with pytest.raises(RuntimeError, match="closed"):
        env.reset(0)


@pytest.mark.parametrize(
    ("repeat", "frames", "message"), [(0, 100, "action repeat .* got 0"), (1, 0, "1 frame, got 0")]
)
def test_senseless_numbers_are_named(repeat, frames, message):
    with pytest.raises(UserError, match=message):
        wrapped(Counter(), repeat=repeat, frames=frames)


def test_a_world_that_cannot_be_drawn_says_so():
    with pytest.raises(UserError, match="rgb_array"):
        wrapped(Counter()).render()
    rover = wrapped(RoverEnv("field", render_mode="rgb_array"))
    rover.reset(0)
    assert rover.render().shape == (320, 320, 3)
