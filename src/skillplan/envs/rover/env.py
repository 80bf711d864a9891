"""The rover as a Gymnasium environment."""

import math
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

from skillplan.envs.rover import drawing, layouts, world
from skillplan.envs.rover.rewards import TARGET_RADIUS, Features, arrive
from skillplan.envs.rover.tasks import TASKS
from skillplan.errors import unknown_name

TARGET = (2.4, 0.0)  # m
IMAGE_SIZE = 64
RENDER_SIZE = 320

# What each piece of the observation is divided by, so that all are of order one.
_POSITION_SCALE = 1.5  # m
_YAW_RATE_SCALE = 2.0  # rad/s

_PIECES = {"rays": 12, "velocity": 2, "yaw_rate": 1, "heading": 2, "position": 2, "target": 2}
_ENDS = np.cumsum(list(_PIECES.values())).tolist()
_SLICES = {key: slice(end - size, end) for (key, size), end in zip(_PIECES.items(), _ENDS, strict=True)}


class RoverEnv(gymnasium.Env):
    """A rover among cylinders; one step is one frame of 0.1 s.

    The observation is a dictionary of 21 float32 numbers: `rays` (12, as a share of their reach of
    3 m), body `velocity` (2), `yaw_rate` (1), `heading` (2: cosine and sine of the yaw), `position`
    (2) and the `target` in the body's frame (2); or, with `pixels`, a picture from above, uint8
    `[64, 64, 3]`. The action is throttle and turn, both in [-1, 1].

    Options of `reset`: `{"open_start": True}` leaves out the obstacles and sets the yaw to 0.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}
    observation_keys = tuple(_PIECES)
    record_shapes = {"position": (2,), "yaw": (1,), "forward_speed": (1,), "target": (2,)}
    has_open_start = True
    terminates = False

    def __init__(self, task: str, *, pixels: bool = False, render_mode: str | None = None) -> None:
        """Build the world of `task`, `field` or `cove`."""
        if task not in TASKS:
            raise unknown_name("rover task", task, TASKS)
        self.render_mode = render_mode
        self._task = TASKS[task]
        self.seeks_target = self._task.reward is arrive
        self._pixels = pixels
        self._start = layouts.open_start()
        self._pictures: dict[int, drawing.Picture] = {}  # of this episode, by size
        # Every layout of a task has the same number of obstacles: one draw tells it.
        self._world = world.RoverWorld(len(self._task.layout(np.random.default_rng(0)).obstacles))
        self._world.reset(self._start.obstacles, self._start.yaw)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)
        self.observation_space = _image_space() if pixels else _feature_space()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        super().reset(seed=seed)
        is_open = bool((options or {}).get("open_start"))
        self._start = layouts.open_start() if is_open else self._task.layout(self.np_random)
        self._world.reset(self._start.obstacles, self._start.yaw)
        self._pictures.clear()
        motion = self._world.motion()
        return self._observation(motion), {"record": _record(motion)}

    def step(self, action: np.ndarray) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Drive for one frame; it never terminates, and whoever steps it keeps the time limit."""
        self._world.advance(action)
        motion = self._world.motion()
        reward = float(self._task.reward(Features(motion.x, motion.y, motion.forward_speed, *TARGET)))
        return self._observation(motion), reward, False, False, {"record": _record(motion)}

    def layout(self) -> dict[str, np.ndarray]:
        """What stands where: `obstacles` `[n, 3]` and `target` `[3]` as x, y, radius; `arena`, half its width."""
        centres = self._start.obstacles
        radii = np.full((len(centres), 1), world.OBSTACLE_RADIUS)
        return {
            "obstacles": np.concatenate([centres, radii], axis=1),
            "target": np.array([*TARGET, TARGET_RADIUS]),
            "arena": np.array(world.ARENA_HALF_WIDTH),
        }

    def render(self) -> np.ndarray:
        """The arena from above, uint8 `[320, 320, 3]`."""
        return self._draw(self._world.motion(), RENDER_SIZE)

    def render_still(self, center: np.ndarray, span: float) -> np.ndarray:
        """The same: this picture stands still, and there is nothing outside the arena."""
        return self.render()

    @staticmethod
    def observed_position(pieces: Mapping[str, np.ndarray], target: np.ndarray) -> np.ndarray:
        """Where the rover is `[…, 2]` (m), from (predicted) pieces of observations `[…, size]`."""
        return pieces["position"] * _POSITION_SCALE

    def _draw(self, motion: world.Motion, size: int) -> np.ndarray:
        if size not in self._pictures:
            self._pictures[size] = drawing.Picture(self.layout(), size)
        return self._pictures[size].with_rover(motion.x, motion.y, motion.yaw, world.ROVER_RADIUS)

    def _observation(self, motion: world.Motion) -> Any:
        if self._pixels:
            return self._draw(motion, IMAGE_SIZE)
        cos, sin = math.cos(motion.yaw), math.sin(motion.yaw)
        to_x, to_y = TARGET[0] - motion.x, TARGET[1] - motion.y
        flat = np.empty(_ENDS[-1], np.float32)
        flat[:12] = self._world.rays() / world.RAY_REACH
        flat[12:] = (
            motion.forward_speed,
            motion.sideways_speed,
            motion.yaw_rate / _YAW_RATE_SCALE,
            cos,
            sin,
            motion.x / _POSITION_SCALE,
            motion.y / _POSITION_SCALE,
            (to_x * cos + to_y * sin) / _POSITION_SCALE,
            (to_y * cos - to_x * sin) / _POSITION_SCALE,
        )
        return {key: flat[part] for key, part in _SLICES.items()}


def _record(motion: world.Motion) -> dict[str, np.ndarray]:
    """Record-only values of a frame."""
    return {
        "position": np.array((motion.x, motion.y)),
        "yaw": np.array((motion.yaw,)),
        "forward_speed": np.array((motion.forward_speed,)),
        "target": np.array(TARGET),
    }


def _feature_space() -> gymnasium.Space:
    bounds = {"rays": (0.0, 1.0), "heading": (-1.0, 1.0)}
    boxes = [
        (key, gymnasium.spaces.Box(*bounds.get(key, (-np.inf, np.inf)), (size,), np.float32))
        for key, size in _PIECES.items()
    ]
    return gymnasium.spaces.Dict(boxes)


def _image_space() -> gymnasium.Space:
    return gymnasium.spaces.Box(0, 255, (IMAGE_SIZE, IMAGE_SIZE, 3), np.uint8)
