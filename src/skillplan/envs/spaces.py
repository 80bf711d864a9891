"""Gymnasium's spaces as the agent sees them: one flat vector or one image in, numbers in [-1, 1] out."""

import math
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from skillplan.errors import UserError

IMAGE_SHAPE = (64, 64, 3)


class ObservationReader:
    """Turns a Box or a flat dictionary of Boxes into one float32 vector, or passes a 64×64 image through.

    `keys` fixes the order of a dictionary's pieces: Gymnasium sorts them by name, dm_control does not.
    """

    def __init__(self, space: gymnasium.Space, keys: tuple[str, ...] | None, task: str) -> None:
        """Read the space; `task` is what errors call the environment."""
        if isinstance(space, gymnasium.spaces.Dict):
            # A wrapper may have left other pieces than the environment speaks of.
            known = keys is not None and set(keys) == set(space.spaces)
            boxes = {key: space.spaces[key] for key in (keys if known and keys else tuple(space.spaces))}
        else:
            boxes = {"observation": space}
        for key, box in boxes.items():
            if not isinstance(box, Box):
                raise UserError(
                    f"{task}: observation {key!r} is a {type(box).__name__} space, but only a Box or a flat dictionary "
                    "of Boxes can be used."
                )
        self._is_dictionary = isinstance(space, gymnasium.spaces.Dict)
        self._pieces = {key: tuple(box.shape) for key, box in boxes.items() if isinstance(box, Box)}
        images = [key for key, box in boxes.items() if box.dtype == np.uint8 and len(self._pieces[key]) == 3]
        self.pixels = bool(images)
        if self.pixels and list(self._pieces.values()) != [IMAGE_SHAPE]:
            shape = "×".join(str(size) for size in self._pieces[images[0]])
            raise UserError(
                f"{task}: observation {images[0]!r} is an image of {shape}, but only one of 64×64×3 can be used."
            )
        self.keys = ("image",) if self.pixels else tuple(self._pieces)
        self.sizes = tuple(math.prod(shape) for shape in self._pieces.values())
        self.shape = IMAGE_SHAPE if self.pixels else (sum(self.sizes),)
        self._task = task

    def read(self, observation: Any, frame: int) -> np.ndarray:
        """The flat observation; `frame` counts the frames of this episode, for errors."""
        pieces = observation if self._is_dictionary else {"observation": observation}
        arrays = [self._checked(pieces, key, frame) for key in self._pieces]
        if self.pixels:
            return np.array(arrays[0], np.uint8)
        with np.errstate(over="ignore"):  # a float64 beyond float32 becomes inf, which is told below
            flat = np.concatenate([array.ravel() for array in arrays]).astype(np.float32)
        if not np.isfinite(flat).all():
            ends = np.cumsum(self.sizes)
            key = self.keys[int(np.searchsorted(ends, np.flatnonzero(~np.isfinite(flat))[0], side="right"))]
            raise UserError(f"{self._task}: observation {key!r} is not finite at frame {frame} of the episode.")
        return flat

    def _checked(self, pieces: Mapping[str, Any], key: str, frame: int) -> np.ndarray:
        if key not in pieces:
            raise UserError(f"{self._task}: observation {key!r} is missing at frame {frame} of the episode.")
        array = np.asarray(pieces[key])
        if array.shape != self._pieces[key]:
            raise UserError(
                f"{self._task}: observation {key!r} has shape {array.shape} at frame {frame} of the episode, "
                f"but its space says {self._pieces[key]}."
            )
        return array


class ActionScaler:
    """Maps actions in [-1, 1] to the bounds of a Box."""

    def __init__(self, space: gymnasium.Space, task: str) -> None:
        """Read the space; `task` is what errors call the environment."""
        if not isinstance(space, Box) or not np.issubdtype(space.dtype, np.floating):
            kind = f"{type(space).__name__} of {space.dtype}" if isinstance(space, Box) else type(space).__name__
            raise UserError(f"{task}: its action space is a {kind}, but only continuous actions (a Box) can be used.")
        if not (np.isfinite(space.low).all() and np.isfinite(space.high).all()):
            raise UserError(f"{task}: its actions are not bounded; wrap it so that its action space has finite bounds.")
        self.size = math.prod(space.shape)
        self._space = space
        self._low = space.low.astype(np.float64).ravel()
        self._high = space.high.astype(np.float64).ravel()
        # Middle and half range, rather than low and range: symmetric bounds of 1 then change no bit.
        self._middle = self._low / 2 + self._high / 2
        self._half = self._high / 2 - self._low / 2

    def to_world(self, action: np.ndarray) -> np.ndarray:
        """The Box's action for `action` `[size]` in [-1, 1]; what lies outside is clipped."""
        action = np.asarray(action, np.float64)
        if action.shape != (self.size,):
            raise ValueError(f"An action has shape ({self.size},), got {action.shape}.")
        if not np.isfinite(action).all():
            raise ValueError(f"An action must be finite, got {action}.")
        # Clipping what is scaled clips the action to [-1, 1] too, and what rounding puts past a bound.
        clipped = np.minimum(np.maximum(self._middle + action * self._half, self._low), self._high)
        return clipped.astype(self._space.dtype).reshape(self._space.shape)
