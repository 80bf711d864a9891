"""Rewards recomputed from recorded features are those that the other task's environment pays."""

import dataclasses

import gymnasium
import numpy as np
import pytest

from envs.gait import Walker
from skillplan import envs
from skillplan.envs.quadruped import tasks as quadruped
from skillplan.envs.relabel import check_relabel, relabel
from skillplan.envs.rover import tasks as rover
from skillplan.errors import UserError
from skillplan.training.rollout import RandomPlayer, rollout


def play(env, seed, player=None):
    """An episode, at random unless told otherwise."""
    player = player or RandomPlayer(env.spec.action_size, [np.random.default_rng(seed)])
    (episode,) = rollout([env], [seed], player)
    return episode


class Scripted:
    """Acts on what it sees."""

    def __init__(self, act):
        self._act = act

    def act(self, observation, is_first):
        return self._act(observation[0])[None].astype(np.float32), {}


class Tossed(gymnasium.Wrapper):
    """A stock task whose body is thrown into another posture before every frame, so that all features vary."""

    def reset(self, **settings):
        self._draw = np.random.default_rng(0)
        return self.env.reset(**settings)

    def step(self, action):
        data = self.unwrapped._physics.data
        data.qpos[:] = self._draw.normal(0, 0.3, data.qpos.shape)
        data.qvel[:] = self._draw.normal(0, 3.0, data.qvel.shape)
        return self.env.step(action)


def tossed(task):
    env = envs.make(task, episode_length=400)
    env.env = Tossed(env.env)
    return env


def walk(env, seed):
    """An episode in which the quadruped walks to its target."""
    robot = env.env.unwrapped
    walker = None

    def act(observation):
        nonlocal walker
        walker = walker or Walker(robot, [robot.layout()["target"][:2]])
        return walker.action(frames=env.spec.action_repeat)

    return play(env, seed, Scripted(act))


@pytest.fixture
def paid_elsewhere(monkeypatch):
    """An environment that starts as the source does and pays, while it is stepped, as the target does."""

    def make(source, target):
        family, start = source.split("-", 1)
        module = {"quadruped": quadruped, "rover": rover}[family]
        tasks = module.TASKS
        mixed = dataclasses.replace(tasks[start], reward=tasks[target.split("-", 1)[1]].reward)
        with monkeypatch.context() as patch:
            patch.setitem(tasks, start, mixed)
            return envs.make(source)

    return make


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("quadruped-getup-walk", "quadruped-run"),
        ("quadruped-walk", "quadruped-reach"),
        ("quadruped-getup-reach", "quadruped-getup-walk"),
        ("quadruped-obstacles", "quadruped-obstacles-reach"),
    ],
)
def test_rewards_of_the_quadruped_equal_those_of_the_target_task(source, target):
    there, here = (envs.make(task, episode_length=400) for task in (target, source))
    paid, episode = walk(there, 2), walk(here, 2)
    np.testing.assert_array_equal(paid.observation, episode.observation)
    assert np.ptp(paid.reward) > 0.1
    np.testing.assert_allclose(relabel(episode, source=source, target=target), paid.reward, rtol=0, atol=1e-6)
    np.testing.assert_allclose(relabel(episode, source=source, target=source), episode.reward, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("walker-walk", "walker-run"),
        ("walker-run", "dm:walker-stand"),
        ("dm:walker-stand", "walker-walk"),
        ("hopper-stand", "hopper-hop"),
        ("hopper-hop", "hopper-stand"),
    ],
)
def test_rewards_of_stock_tasks_equal_those_of_the_target_task(source, target):
    paid, episode = play(tossed(target), 0), play(tossed(source), 0)
    np.testing.assert_array_equal(paid.observation, episode.observation)
    assert np.ptp(paid.reward) > 1
    np.testing.assert_allclose(relabel(episode, source=source, target=target), paid.reward, rtol=0, atol=1e-6)
    np.testing.assert_allclose(relabel(episode, source=source, target=source), episode.reward, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("source", "target"), [("quadruped-pillar", "quadruped-walk"), ("quadruped-cove", "quadruped-reach")]
)
def test_rewards_equal_those_of_the_target_task_in_the_starts_of_the_source(source, target, paid_elsewhere):
    paid, episode = walk(paid_elsewhere(source, target), 3), walk(envs.make(source), 3)
    np.testing.assert_array_equal(paid.observation, episode.observation)
    assert np.ptp(paid.reward) > 0.1
    np.testing.assert_allclose(relabel(episode, source=source, target=target), paid.reward, rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_quadrupeds_sparse_reward_has_no_mismatch(seed, paid_elsewhere):
    source, target = "quadruped-reach", "quadruped-cove"
    paid, episode = walk(paid_elsewhere(source, target), seed), walk(envs.make(source), seed)
    np.testing.assert_array_equal(paid.observation, episode.observation)
    assert set(paid.reward) >= {0.0, 2.0}  # on its way, and there for both frames
    assert np.count_nonzero(relabel(episode, source=source, target=target) != paid.reward) == 0


@pytest.mark.parametrize("seed", [0, 1])
def test_the_rovers_sparse_reward_has_no_mismatch(seed, paid_elsewhere):
    def steer(observation):
        x, y = observation[19:21]  # the target in the body's frame
        return np.array([float(x > 0), np.clip(2 * np.arctan2(y, x), -1, 1)])

    source, target = "rover-field", "rover-cove"
    paid = play(paid_elsewhere(source, target), seed, Scripted(steer))
    episode = play(envs.make(source), seed, Scripted(steer))
    np.testing.assert_array_equal(paid.observation, episode.observation)
    assert set(paid.reward) == {0.0, 1.0}
    assert np.count_nonzero(relabel(episode, source=source, target=target) != paid.reward) == 0


def test_a_last_step_of_fewer_frames_is_paid_for_those_alone():
    settings = {"action_repeat": 3, "episode_length": 100}
    paid = play(envs.make("quadruped-reach", **settings), 5)
    episode = play(envs.make("quadruped-walk", **settings), 5)
    assert (episode.length, episode.frames) == (1 + 34, 100)
    new = relabel(episode, source="quadruped-walk", target="quadruped-reach")
    np.testing.assert_allclose(new, paid.reward, rtol=0, atol=1e-6)
    assert new[0] == 0.0


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("cheetah-run", "walker-walk", "Rewards of cheetah-run cannot be recomputed"),
        ("rover-field", "gym:Pendulum-v1", "Rewards of gym:Pendulum-v1 cannot be recomputed"),
        ("rover-field", "quadruped-cove", "keep the features of the rover, not of the quadruped"),
        ("walker-walk", "walker-wlak", "Unknown task 'walker-wlak'"),
    ],
)
def test_what_cannot_be_relabelled_is_told_in_one_sentence(source, target, message):
    with pytest.raises(UserError, match=message):
        check_relabel(source, target)


def test_an_episode_without_the_features_is_named():
    episode = play(envs.make("rover-field", episode_length=5), 0)
    older = dataclasses.replace(episode, record={key: v for key, v in episode.record.items() if key != "target"})
    with pytest.raises(UserError, match="has no record of 'target'"):
        relabel(older, source="rover-field", target="rover-cove")


def test_the_agent_sees_nothing_of_the_record():
    env = envs.make("quadruped-walk")
    assert not set(env.spec.observation_keys) & set(env.spec.record_shapes)
    assert env.spec.record_shapes == quadruped.RECORD_SHAPES
    assert env.spec.observation_shape == (sum(env.spec.observation_sizes),) == (84,)
