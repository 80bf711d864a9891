"""Looks on while an environment is played: what it was given, what it returned, whether that stayed as it was."""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box


class Witness(gymnasium.Wrapper):
    """Changes nothing. What it noticed is in its attributes."""

    def __init__(self, env: gymnasium.Env) -> None:
        """Look at `env`."""
        super().__init__(env)
        self.misfits: dict[str, str] = {}
        """By key: why a piece of an observation is not in its space."""
        self.not_finite: set[str] = set()
        """Keys of pieces with a number that is not finite."""
        self.overwritten: set[str] = set()
        """Keys of pieces that changed after they had been returned."""
        self.changed_action = False
        """Whether a step wrote into its action."""
        self.outside = ""
        """An action that was not in the space."""
        self._kept: dict[str, tuple[Any, np.ndarray]] = {}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """As the environment does."""
        raw, info = self.env.reset(seed=seed, options=options)
        self._look_at(raw)
        return raw, info

    def step(self, action: np.ndarray) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """As the environment does."""
        if not self.action_space.contains(action):
            self.outside = f"the action {action} is outside {self.action_space}"
        given = np.array(action)
        raw, reward, terminated, truncated, info = self.env.step(action)
        self.changed_action |= not np.array_equal(given, action)
        self._look_at(raw)
        return raw, reward, terminated, truncated, info

    def _look_at(self, raw: Any) -> None:
        for key, (piece, copy) in self._kept.items():
            if not np.array_equal(piece, copy, equal_nan=True):
                self.overwritten.add(key)
        pieces = raw if isinstance(raw, Mapping) else {"observation": raw}
        space = self.observation_space
        boxes = space.spaces if isinstance(space, gymnasium.spaces.Dict) else {"observation": space}
        self._kept = {}
        for key, piece in pieces.items():
            array = np.asarray(piece)
            self._kept[key] = piece, array.copy()
            if not np.isfinite(array).all():
                self.not_finite.add(key)
            elif key not in boxes:
                self.misfits.setdefault(key, f"the observation {key!r} is not in observation_space")
            elif not boxes[key].contains(piece):
                self.misfits.setdefault(key, _misfit(key, piece, boxes[key]))


def _misfit(key: str, piece: Any, box: gymnasium.Space) -> str:
    """Why `piece` is not in `box`."""
    if not isinstance(piece, np.ndarray):
        return f"the observation {key!r} is a {type(piece).__name__}, not an array"
    if piece.shape != box.shape:
        return f"the observation {key!r} has shape {piece.shape}, but its space says {box.shape}"
    if box.dtype is not None and not np.can_cast(piece.dtype, box.dtype):
        return f"the observation {key!r} is {piece.dtype}, but its space says {box.dtype}"
    outside = f"the observation {key!r} is outside its space"
    if isinstance(box, Box):
        worst = np.argmax(np.maximum(box.low - piece, piece - box.high))
        low, value, high = (np.ravel(array)[worst] for array in (box.low, piece, box.high))
        outside += f": {value:.6g} is not within [{low:.6g}, {high:.6g}]"
    return outside
