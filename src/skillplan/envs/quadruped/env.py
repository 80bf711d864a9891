"""The quadruped as a Gymnasium environment."""

import math
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

from skillplan.envs.drawn import DrawnEnv
from skillplan.envs.quadruped import layouts, world
from skillplan.envs.quadruped.rewards import REACH_RADIUS, Features, arrive, reach
from skillplan.envs.quadruped.tasks import RECORD_SHAPES, TASKS, record
from skillplan.errors import unknown_name

_CAMERA = 2  # from the side, following
_PLACING = 1  # tells the generator of targets and obstacles from that of the robot's orientation


class QuadrupedEnv(DrawnEnv):
    """A quadruped with a target, and in some tasks cylinders; one step is one frame of 0.02 s.

    The observation is a dictionary of float64 arrays: the 78 numbers of dm_control's quadruped, the
    `origin` (3) and the `target_position` (3) in the torso's frame, and, where there are obstacles,
    16 `rays` as a share of their reach of 5 m; or, with `pixels`, a picture, uint8 `[64, 64, 3]`.
    The action is 12 joint targets within dm_control's asymmetric bounds. An episode depends on
    nothing but its seed, and never terminates; whoever steps it keeps the time limit.

    Options of `reset`: `{"open_start": True}` leaves out the obstacles and stands the robot upright, yaw 0.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": round(1 / world.CONTROL_STEP)}
    record_shapes = RECORD_SHAPES
    has_open_start = True
    terminates = False

    def __init__(self, task: str, **drawing: Any) -> None:
        """Build the world of `task`; `drawing` are the settings of `DrawnEnv`."""
        if task not in TASKS:
            raise unknown_name("quadruped task", task, TASKS)
        super().__init__(camera=_CAMERA, **drawing)
        self._task = TASKS[task]
        self.seeks_target = self._task.reward in (arrive, reach)
        self._world = world.QuadrupedWorld(self._task.obstacles, self._task.floor)
        self._layout = layouts.open_start()
        self._begin()
        self.action_space = gymnasium.spaces.Box(*self._world.action_bounds, dtype=np.float64)
        pieces = self._pieces()
        self.observation_keys = ("image",) if self._pixels else tuple(pieces)
        self.observation_space = self._image_space() if self._pixels else _feature_space(pieces)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode; without a seed, with the next number of the environment's own generator."""
        super().reset(seed=seed)
        if seed is None:
            seed = int(self.np_random.integers(2**32))
        if (options or {}).get("open_start"):
            self._layout = layouts.open_start()
        else:
            # The first is dm_control's own, which takes 32 bits, so that the stock tasks start as they do there.
            lie, place = np.random.RandomState(seed % 2**32), np.random.default_rng([seed, _PLACING])
            self._layout = self._task.layout(lie, place)
        self._begin()
        return self._observation(), {"record": record(self._features())}

    def step(self, action: np.ndarray) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Act for one frame."""
        _, reward, terminated, truncated, info = self.step_unseen(action)
        return self._observation(), reward, terminated, truncated, info

    def step_unseen(self, action: np.ndarray) -> tuple[None, float, bool, bool, dict[str, Any]]:
        """As `step`, but without the observation."""
        self._world.advance(action)
        features = self._features()
        return None, float(self._task.reward(features)), False, False, {"record": record(features)}

    def layout(self) -> dict[str, np.ndarray]:
        """What stands where: `obstacles` `[n, 3]` and `target` `[3]` as x, y, radius (m)."""
        centres = self._layout.obstacles
        radii = np.full((len(centres), 1), world.OBSTACLE_RADIUS)
        return {
            "obstacles": np.concatenate([centres, radii], axis=1),
            "target": np.array([*self._layout.target, REACH_RADIUS]),
        }

    @staticmethod
    def observed_position(pieces: Mapping[str, np.ndarray], target: np.ndarray) -> np.ndarray:
        """Where the torso is `[…, 2]` (m), from (predicted) pieces of observations `[…, size]` and the target `[…, 2]`.

        Origin and target are seen in the torso's frame. Which way the robot looks follows from the direction in which
        the target lies from the origin; exact while the torso is level.
        """
        origin, seen = pieces["origin"][..., :2], pieces["target_position"][..., :2]
        way = seen - origin
        yaw = np.arctan2(target[..., 1], target[..., 0]) - np.arctan2(way[..., 1], way[..., 0])
        cos, sin = np.cos(yaw), np.sin(yaw)
        return np.stack([sin * origin[..., 1] - cos * origin[..., 0], -sin * origin[..., 0] - cos * origin[..., 1]], -1)

    def _scene(self) -> tuple[Any, Any]:
        return self._world.model, self._world.data

    def _begin(self) -> None:
        self._world.reset(self._layout.orientation, self._layout.target, self._layout.obstacles)
        x, y, _ = self._world.position()
        target_x, target_y = self._layout.target
        self._initial_distance = math.hypot(target_x - x, target_y - y)

    def _features(self) -> Features:
        x, y, _ = self._world.position()
        target_x, target_y, _ = self._world.target()
        forward = float(self._world.velocity()[0])
        return Features(x, y, self._world.upright(), forward, target_x, target_y, self._initial_distance)

    def _observation(self) -> Any:
        return self._image_observation() if self._pixels else self._pieces()

    def _pieces(self) -> dict[str, np.ndarray]:
        pieces = self._world.pieces()
        if self._task.obstacles:
            pieces["rays"] = self._world.rays() / world.RAY_REACH
        return pieces


def _feature_space(pieces: dict[str, np.ndarray]) -> gymnasium.Space:
    bounds = {"rays": (0.0, 1.0)}
    boxes = [
        (key, gymnasium.spaces.Box(*bounds.get(key, (-np.inf, np.inf)), piece.shape, np.float64))
        for key, piece in pieces.items()
    ]
    return gymnasium.spaces.Dict(boxes)
