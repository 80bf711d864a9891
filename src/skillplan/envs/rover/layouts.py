"""Where the cylinders stand and which way the rover looks when an episode starts."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

FIELD_OBSTACLES = 8
FIELD_RADII = (0.9, 3.3)  # m, nearest and farthest centre of a cylinder of the field

COVE_WALL_X = 1.2  # m, the closed side of the U
COVE_HALF_WIDTH = 0.9  # m
COVE_DEPTH = 0.6  # m, length of the two arms, which point towards the start
COVE_PITCH = 0.3  # m between neighbouring centres: too narrow for the rover to slip through
COVE_YAW = 0.1  # rad


@dataclass(frozen=True)
class Layout:
    """A start: the rover stands at the origin with `yaw` (rad); `obstacles` are centres `[n, 2]` (m)."""

    obstacles: np.ndarray
    yaw: float


LayoutSampler = Callable[[np.random.Generator], Layout]


def field(rng: np.random.Generator) -> Layout:
    """Eight cylinders, uniform in the area of a ring around the rover, which looks anywhere."""
    nearest, farthest = FIELD_RADII
    radius = np.sqrt(rng.uniform(nearest**2, farthest**2, FIELD_OBSTACLES))
    angle = rng.uniform(-np.pi, np.pi, FIELD_OBSTACLES)
    centres = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return Layout(obstacles=centres, yaw=float(rng.uniform(-np.pi, np.pi)))


def cove(rng: np.random.Generator) -> Layout:
    """A U of eleven cylinders, open towards the rover, which looks into it: the target is behind."""
    return Layout(obstacles=cove_centres(), yaw=float(rng.uniform(-COVE_YAW, COVE_YAW)))


def open_start() -> Layout:
    """No obstacles, yaw 0: the start from which skills are compared."""
    return Layout(obstacles=np.zeros((0, 2)), yaw=0.0)


def cove_centres() -> np.ndarray:
    """Centres of the cove's cylinders, `[11, 2]`: first the wall, then the arms."""
    across = round(2 * COVE_HALF_WIDTH / COVE_PITCH) + 1
    along = round(COVE_DEPTH / COVE_PITCH)
    wall = [(COVE_WALL_X, y) for y in np.linspace(-COVE_HALF_WIDTH, COVE_HALF_WIDTH, across)]
    arms = [(COVE_WALL_X - i * COVE_PITCH, side * COVE_HALF_WIDTH) for i in range(1, along + 1) for side in (1, -1)]
    return np.array(wall + arms)
