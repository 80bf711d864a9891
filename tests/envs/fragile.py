"""An environment of a user that can fail, registered as `probe/Fragile-v0` by importing this module."""

import os
from pathlib import Path

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from skillplan import envs

FAILS_IF = "FRAGILE_FILE"
"""Environment variable: the file whose presence makes an environment fail at its 15th step."""


class Fragile(gymnasium.Env):
    """A point that is pushed about."""

    def __init__(self):
        self.action_space = Box(-1.0, 1.0, (1,), np.float32)
        self.observation_space = Box(-np.inf, np.inf, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.steps = self.np_random.normal(size=1).astype(np.float32), 0
        return self.place.copy(), {}

    def step(self, action):
        self.steps += 1
        if self.steps == 15 and Path(os.environ.get(FAILS_IF, "")).is_file():
            raise ZeroDivisionError("the wheel came off")
        self.place = self.place + 0.1 * action
        return self.place.copy(), float(-abs(self.place[0])), False, False, {}


def make():
    """The environment as an agent meets it."""
    return envs.make("gym:probe/Fragile-v0")


def make_none():
    """No environment."""
    raise LookupError("nothing to make")


gymnasium.register("probe/Fragile-v0", entry_point=Fragile, max_episode_steps=20)
