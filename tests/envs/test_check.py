"""The examination of environments: ours pass, and every broken promise is found by the check that is named after it."""

import re

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict

from skillplan import envs
from skillplan.envs import gl
from skillplan.envs.check import check
from skillplan.envs.registry import TASKS
from skillplan.envs.wrapper import RepeatedEnvironment
from skillplan.errors import UserError

NAMES = ["spec", "finite", "determinism", "start", "constant", "memory", "actions", "speed"]


class Sound(gymnasium.Env):
    """A point that is pushed about, and keeps every promise; the others break one each."""

    observation_keys = ("place", "speed")
    record_shapes = {"position": (2,)}

    def __init__(self):
        self.action_space = Box(np.array([-1.0, 0.0]), np.array([1.0, 3.0]), dtype=np.float64)
        self.observation_space = Dict(
            {"place": Box(-np.inf, np.inf, (2,), np.float64), "speed": Box(0, 4, (1,), np.float64)}
        )

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.speed, self.steps = self.np_random.normal(size=2), self.np_random.uniform(0, 1, 1), 0
        return self.observation(), self.info()

    def step(self, action):
        self.steps += 1
        self.place = self.place + 0.1 * action
        self.speed = np.array([np.hypot(*action)])
        return self.observation(), -float(np.hypot(*self.place)), False, False, self.info()

    def observation(self):
        return {"place": self.place.copy(), "speed": self.speed.copy()}

    def info(self):
        return {"record": {"position": self.place.copy()}}


class WrongShape(Sound):
    def observation(self):
        return super().observation() | ({"speed": np.zeros(2)} if self.steps > 5 else {})


class WrongType(Sound):
    def __init__(self):
        super().__init__()
        self.observation_space["place"] = Box(-np.inf, np.inf, (2,), np.float32)


class OutOfRange(Sound):
    def observation(self):
        return super().observation() | {"speed": np.array([4.5 if self.steps == 3 else self.speed[0]])}


class Missing(Sound):
    def observation(self):
        return {"place": self.place.copy()} if self.steps == 3 else super().observation()


class WrongRecord(Sound):
    def info(self):
        return {"record": {"position": np.zeros(3)}}


class NotANumber(Sound):
    def observation(self):
        return super().observation() | {"place": self.place / (self.steps != 4)}


class BadReward(Sound):
    def step(self, action):
        observation, _, *rest = super().step(action)
        return observation, float("-inf") if self.steps == 2 else -1.0, *rest


class OwnLuck(Sound):
    def reset(self, **settings):
        super().reset(**settings)
        self.place = np.random.default_rng().normal(size=2)
        return self.observation(), self.info()


class Remembering(Sound):
    wear = 0.0

    def step(self, action):
        self.wear += 1e-6  # never reset
        return super().step(action * (1 - self.wear))


class Rigid(Sound):
    def reset(self, **settings):
        super().reset(**settings)
        self.place, self.speed = np.zeros(2), np.zeros(1)
        return self.observation(), self.info()


class Blind(Sound):
    def observation(self):
        return super().observation() | {"place": np.array([self.place[0], 7.0])}


class Overwriting(Sound):
    def __init__(self):
        super().__init__()
        self.buffer = np.zeros(2)

    def observation(self):
        self.buffer[:] = self.place
        return super().observation() | {"place": self.buffer}


class SharedState(Sound):
    places = {}

    def reset(self, **settings):
        super().reset(**settings)
        self.places["place"] = self.place
        return self.observation(), self.info()

    def step(self, action):
        self.place = self.places["place"]
        result = super().step(action)
        self.places["place"] = self.place
        return result


class Grabbing(Sound):
    def step(self, action):
        action *= 0.5
        return super().step(action)


class Deaf(Sound):
    def step(self, action):
        return super().step(np.array([0.1, np.sin(self.steps)]) * 0.5)


class Narrow(Sound):
    def step(self, action):
        observation, reward, *rest = super().step(action)
        corner = abs(action[0]) == 1.0
        return observation, np.nan if corner else reward, *rest


def examine(kind, **settings):
    def make():
        return RepeatedEnvironment(kind(), task="t", action_repeat=1, episode_frames=50, terminates=False, **settings)

    return {finding.name: finding for finding in check(make, 40)}


def test_a_sound_environment_passes():
    findings = examine(Sound)
    assert list(findings) == NAMES
    assert all(finding.ok for finding in findings.values())
    assert "place 2, speed 1" in findings["spec"].found


@pytest.mark.parametrize(
    ("kind", "name", "found"),
    [
        (WrongShape, "spec", r"'speed' has shape \(2,\), but its space says \(1,\)"),
        (WrongType, "spec", "'place' is float64, but its space says float32"),
        (OutOfRange, "spec", r"'speed' is outside its space: 4.5 is not within \[0, 4\]"),
        (Missing, "spec", "'speed' is missing at frame 3"),
        (WrongRecord, "spec", r"info\['record'\]\['position'\] has shape \(3,\) at frame 0"),
        (NotANumber, "finite", "'place' is not finite at frame 4"),
        (BadReward, "finite", "the reward is not finite at frame 2"),
        (OwnLuck, "determinism", "in a second copy: the observation at step 0"),
        (Remembering, "determinism", "after other episodes: the observation at step 1"),
        (Rigid, "start", "1 different first observations under 16 seeds"),
        (Blind, "constant", r"never changed: place\[1\]"),
        (Overwriting, "memory", "wrote into an observation returned before: place"),
        (SharedState, "memory", "copies played in turn disturb each other: the observation at step"),
        (Grabbing, "memory", "wrote into the action"),
        (Deaf, "actions", "lead to the same"),
        (Narrow, "actions", "at the bounds of its actions: t: the reward is not finite"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_a_broken_promise_is_found_by_its_check(kind, name, found):
    findings = examine(kind)
    assert not findings[name].ok
    assert findings[name].remedy
    assert re.search(found, findings[name].found), findings[name].found


@pytest.mark.parametrize("kind", [Rigid, Blind, Overwriting, SharedState, Grabbing, Remembering, WrongType])
def test_a_broken_promise_is_found_by_no_other_check(kind):
    assert sum(not finding.ok for finding in examine(kind).values()) == 1


def test_a_termination_that_was_not_announced_breaks_the_description():
    class Ending(Sound):
        def step(self, action):
            observation, reward, _, *rest = super().step(action)
            return observation, reward, self.steps == 9, *rest

    assert "terminated" in examine(Ending)["spec"].found


@pytest.mark.parametrize("name", TASKS)
def test_every_task_of_the_table_keeps_its_promises(name):
    findings = check(lambda: envs.make(name), 60)
    assert [finding.name for finding in findings] == NAMES
    assert [finding for finding in findings if not finding.ok] == []


@pytest.mark.parametrize("name", ["quadruped-obstacles-reach", "walker-walk", "rover-field"])
def test_pixels_keep_their_promises(name):
    if TASKS[name].family != "rover":
        try:
            gl.working_backend()
        except UserError as error:
            pytest.skip(str(error))
    findings = check(lambda: envs.make(name, pixels=True), 8)
    assert [finding for finding in findings if not finding.ok] == []
    assert findings[0].found.startswith("observation of 64×64×3 pixels")
