"""The agent's side of a Gymnasium environment: repeated actions, flat observations, a time limit."""

import math
from typing import Any

import gymnasium
import numpy as np

from skillplan.envs.interface import EnvSpec, Step
from skillplan.envs.spaces import ActionScaler, ObservationReader
from skillplan.errors import UserError


class RepeatedEnvironment:
    """An `Environment` that repeats each action for `action_repeat` frames of a `gymnasium.Env`.

    The wrapped environment may say more about itself than Gymnasium asks, as attributes:
    `observation_keys` (the order of a dictionary's pieces), `record_shapes` (the arrays it puts into
    `info["record"]`), `has_open_start` (whether `reset` knows that option), `step_unseen` (a method that does what
    `step` does, but may return no observation while the episode goes on: of repeated frames only the last is seen).
    """

    def __init__(
        self, env: gymnasium.Env, *, task: str, action_repeat: int, episode_frames: int, terminates: bool
    ) -> None:
        """Wrap `env`; its own time limit must not be shorter than `episode_frames`, or it ends episodes earlier."""
        if action_repeat < 1:
            raise UserError(f"{task}: the action repeat must be at least 1, got {action_repeat}.")
        if episode_frames < 1:
            raise UserError(f"{task}: an episode must have at least 1 frame, got {episode_frames}.")
        self.env = env
        inner = env.unwrapped
        self._observations = ObservationReader(env.observation_space, getattr(inner, "observation_keys", None), task)
        self._actions = ActionScaler(env.action_space, task)
        self._has_open_start = getattr(inner, "has_open_start", False)
        self.spec = EnvSpec(
            task=task,
            observation_keys=self._observations.keys,
            observation_sizes=self._observations.sizes,
            observation_shape=self._observations.shape,
            pixels=self._observations.pixels,
            action_size=self._actions.size,
            action_repeat=action_repeat,
            episode_frames=episode_frames,
            terminates=terminates,
            record_shapes=dict(getattr(inner, "record_shapes", {})),
        )
        self._frame = 0
        self._is_running = False
        self._is_closed = False

    def reset(self, seed: int, *, open_start: bool = False) -> Step:
        """Start an episode that depends on nothing but `seed`."""
        if self._is_closed:
            raise RuntimeError(f"{self.spec.task} is closed.")
        options = {"open_start": True} if open_start and self._has_open_start else None
        raw, info = self.env.reset(seed=seed, options=options)
        self._frame = 0
        self._is_running = True
        observation = self._observations.read(raw, 0)
        return Step(observation, 0.0, 0, False, False, self._stacked([info]))

    def step(self, action: np.ndarray) -> Step:
        """Act until `action_repeat` frames have passed or the episode is over."""
        if not self._is_running:
            raise RuntimeError(f"{self.spec.task} has no running episode: call reset first.")
        command = self._actions.to_world(action)
        reward = 0.0
        raw: Any = None
        infos: list[dict[str, Any]] = []
        is_terminal = is_last = False
        while len(infos) < self.spec.action_repeat and not is_last:
            self._frame += 1
            is_seen = len(infos) + 1 == self.spec.action_repeat or self._frame == self.spec.episode_frames
            step = self.env.step if is_seen else getattr(self.env, "step_unseen", self.env.step)
            raw, frame_reward, terminated, truncated, info = step(command)
            infos.append(info)
            reward += float(frame_reward)
            is_terminal = bool(terminated)
            is_last = is_terminal or bool(truncated) or self._frame >= self.spec.episode_frames
            if not math.isfinite(reward):
                raise UserError(f"{self.spec.task}: the reward is not finite at frame {self._frame} of the episode.")
        self._is_running = not is_last
        observation = self._observations.read(raw, self._frame)
        return Step(observation, reward, len(infos), is_last, is_terminal, self._stacked(infos))

    def render(self) -> np.ndarray:
        """An image of the world for people, uint8 `[height, width, 3]`."""
        image = self.env.render() if self.env.render_mode == "rgb_array" else None
        if not isinstance(image, np.ndarray):
            raise UserError(f"{self.spec.task} cannot be drawn: it has no render mode 'rgb_array'.")
        return image

    def close(self) -> None:
        """Free what the world holds."""
        self._is_running = False
        self._is_closed = True
        self.env.close()

    def _stacked(self, infos: list[dict[str, Any]]) -> dict[str, np.ndarray]:
        """The frames' records, `[action_repeat, …]`; frames that were not reached repeat the last one."""
        record = {}
        for key, shape in self.spec.record_shapes.items():
            rows = np.empty((self.spec.action_repeat, *shape), np.float32)
            for i, info in enumerate(infos):
                rows[i] = self._recorded(info, key, shape)
            rows[len(infos) :] = rows[len(infos) - 1]
            record[key] = rows
        return record

    def _recorded(self, info: dict[str, Any], key: str, shape: tuple[int, ...]) -> np.ndarray:
        value = info.get("record", {}).get(key)
        if np.shape(value) != shape or value is None:
            found = "is missing" if value is None else f"has shape {np.shape(value)}"
            raise UserError(
                f"{self.spec.task}: info['record'][{key!r}] {found} at frame {self._frame} of the episode, but its "
                f"record_shapes say {shape}."
            )
        return value
