"""Gymnasium environments by ID: what can be used, and one sentence for what cannot."""

import gymnasium
import numpy as np
import pytest

from envs import probes
from skillplan import envs
from skillplan.errors import UserError


@pytest.fixture(autouse=True)
def _registered():
    gymnasium.register("probe/Counter-v0", entry_point=probes.Counter, max_episode_steps=7)
    gymnasium.register("probe/Endless-v0", entry_point=probes.Counter)
    gymnasium.register("probe/Discrete-v0", entry_point=probes.Discrete, max_episode_steps=7)
    gymnasium.register("probe/Picture-v0", entry_point=probes.Picture, max_episode_steps=7)
    yield
    for name in [name for name in gymnasium.registry if name.startswith("probe/")]:
        del gymnasium.registry[name]


def test_pendulum_has_its_own_time_limit_and_float32_observations():
    env = envs.make("gym:Pendulum-v1")
    assert env.spec.observation_keys == ("observation",)
    assert (env.spec.episode_frames, env.spec.terminates, env.spec.action_repeat) == (200, True, 1)
    assert env.reset(3).observation.dtype == np.float32
    torque = np.array([1.0])
    twin = gymnasium.make("Pendulum-v1")
    twin.reset(seed=3)
    observation, reward, *_ = twin.step(np.array([2.0], np.float32))  # its bounds are ±2
    step = env.step(torque)
    np.testing.assert_array_equal(step.observation, observation)
    assert step.reward == pytest.approx(float(reward))


def test_episode_length_replaces_the_time_limit():
    env = envs.make("gym:probe/Counter-v0", action_repeat=2, episode_length=9)
    env.reset(0)
    steps = [env.step(np.zeros(1)) for _ in range(5)]
    assert [step.is_last for step in steps] == [False] * 4 + [True]
    assert steps[-1].frames == 1
    assert not steps[-1].is_terminal


def test_the_module_form_imports_and_finds():
    env = envs.make("gym:skillplan.envs:skillplan/rover-cove-v0")
    assert env.spec.observation_shape == (21,)
    assert env.spec.observation_keys[0] == "rays"


def test_an_image_makes_a_pixel_spec():
    env = envs.make("gym:probe/Picture-v0", pixels=True)
    assert env.spec.pixels
    assert env.spec.observation_shape == (64, 64, 3)
    assert env.reset(0).observation.dtype == np.uint8


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("gym:Pendlum-v1", "Unknown Gymnasium environment 'Pendlum-v1': did you mean 'Pendulum-v1'"),
        ("gym:no_such_module:Thing-v0", "gym:no_such_module:Thing-v0 needs the module 'no_such_module'"),
        ("gym:probe/Endless-v0", "has no time limit: pass --environment.episode-length"),
        ("gym:probe/Discrete-v0", "action space is a Discrete"),
    ],
)
def test_what_cannot_be_made_is_told_in_one_sentence(task, message):
    with pytest.raises(UserError, match=message):
        envs.make(task)


def test_pixels_of_a_world_without_images():
    with pytest.raises(UserError, match="gym:Pendulum-v1 has no pixels"):
        envs.make("gym:Pendulum-v1", pixels=True)
