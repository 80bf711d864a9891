"""dm_control through our adapter equals dm_control."""

import gymnasium
import numpy as np
import pytest

from skillplan import envs
from skillplan.envs.suite import SuiteEnv, suite

STOCK = [("walker", "walk"), ("walker", "run"), ("cheetah", "run"), ("hopper", "hop"), ("hopper", "stand")]


@pytest.mark.parametrize(("domain", "task"), STOCK)
def test_observations_rewards_and_physics_equal_dm_control_to_the_bit(domain, task):
    stock = suite.load(domain, task, task_kwargs={"random": 5})
    ours = SuiteEnv(domain, task)
    ours.reset(seed=99)  # an earlier episode must leave no trace
    ours.step(ours.action_space.sample())
    observation, _ = ours.reset(seed=5)
    moment = stock.reset()
    assert ours.observation_keys == tuple(observation) == tuple(moment.observation)
    rng = np.random.default_rng(0)
    for _ in range(1000):
        assert all(np.array_equal(observation[key], np.atleast_1d(value)) for key, value in moment.observation.items())
        assert np.array_equal(ours._physics.get_state(), stock.physics.get_state())
        action = rng.uniform(-1, 1, ours.action_space.shape)
        observation, reward, terminated, truncated, _ = ours.step(action)
        moment = stock.step(action)
        assert reward == moment.reward
        assert (terminated, truncated) == (False, False)


def test_an_agents_step_equals_two_of_dm_control():
    stock = suite.load("walker", "walk", task_kwargs={"random": 2})
    env = envs.make("walker-walk")
    stock.reset()
    env.reset(2)
    action = np.full(6, 0.3)
    rewards = [stock.step(action).reward for _ in range(2)]
    moment = env.step(action)
    assert moment.reward == sum(rewards)
    pieces = stock.task.get_observation(stock.physics)
    flat = np.concatenate([np.ravel(piece) for piece in pieces.values()]).astype(np.float32)
    np.testing.assert_array_equal(moment.observation, flat)
    torso = stock.physics.named.data.xpos["torso", ["x", "z"]]
    np.testing.assert_array_equal(moment.record["position"][1], torso.astype(np.float32))


def test_time_is_up_after_1000_frames_without_termination():
    env = envs.make("cheetah-run", action_repeat=4)
    env.reset(0)
    steps = [env.step(np.zeros(6)) for _ in range(250)]
    assert [step.is_last for step in steps] == [False] * 249 + [True]
    assert not steps[-1].is_terminal


def test_an_episode_ends_where_the_discount_is_zero():
    env = envs.make("dm:lqr-lqr_2_1", episode_length=100)  # it ends when everything is at rest
    assert env.spec.terminates
    env.reset(0)
    assert not env.step(np.zeros(1)).is_last
    physics = env.env.unwrapped._physics
    physics.data.qpos[:] = physics.data.qvel[:] = 0
    physics.forward()
    step = env.step(np.zeros(1))
    assert step.is_terminal
    assert step.frames == 1


@pytest.mark.parametrize(
    ("domain", "task", "axes"), [("hopper", "hop", 2), ("swimmer", "swimmer6", 2), ("quadruped", "walk", 3)]
)
def test_position_has_the_axes_along_which_the_root_moves(domain, task, axes):
    assert SuiteEnv(domain, task).record_shapes["position"] == (axes,)


def test_a_model_without_a_root_records_no_position():
    env = SuiteEnv("acrobot", "swingup")
    assert env.record_shapes == {}
    assert env.reset(seed=0)[1] == {"record": {}}


def test_action_bounds_stay_asymmetric():
    space = SuiteEnv("quadruped", "walk").action_space
    assert isinstance(space, gymnasium.spaces.Box)
    assert not np.array_equal(space.low, -space.high)
    env = envs.make("dm:quadruped-walk")
    np.testing.assert_allclose(env._actions.to_world(np.ones(12)), space.high)
    np.testing.assert_allclose(env._actions.to_world(-np.ones(12)), space.low)


def test_large_seeds_are_fine_and_differ():
    env = SuiteEnv("hopper", "stand")
    first, second = (env.reset(seed=seed)[0]["position"] for seed in (2**40 + 1, 2**40 + 2))
    assert not np.array_equal(first, second)
