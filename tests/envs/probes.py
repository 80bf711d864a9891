"""Environments with a known answer, each for one property of the wrapper."""

import gymnasium
import numpy as np
from gymnasium.spaces import Box


class Counter(gymnasium.Env):
    """Observes and records the frame's number, which is also its reward; terminates after `end` frames."""

    record_shapes = {"position": (2,)}

    def __init__(self, end=10**9, reward=None, observation=None, render_mode=None):
        self.action_space = Box(-2.0, 2.0, (1,), np.float32)
        self.observation_space = Box(-np.inf, np.inf, (1,), np.float64)
        self.render_mode = render_mode
        self.end, self.reward, self.broken = end, reward, observation
        self.seen = []
        self.closed = False

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.frame, self.options = 0, options
        return np.zeros(1), self.info()

    def step(self, action):
        self.frame += 1
        self.seen.append(float(action[0]))
        observation = np.full(1, self.frame, float) if self.broken is None else np.asarray(self.broken)
        reward = float(self.frame) if self.reward is None else self.reward
        return observation, reward, self.frame >= self.end, False, self.info()

    def info(self):
        return {"record": {"position": np.array([self.frame, -self.frame])}}

    def close(self):
        self.closed = True


class Discrete(Counter):
    """Has actions without an order."""

    def __init__(self):
        super().__init__()
        self.action_space = gymnasium.spaces.Discrete(2)


class Picture(Counter):
    """Observes an image."""

    def __init__(self):
        super().__init__()
        self.observation_space = Box(0, 255, (64, 64, 3), np.uint8)

    def reset(self, *, seed=None, options=None):
        _, info = super().reset(seed=seed)
        return np.full((64, 64, 3), 7, np.uint8), info
