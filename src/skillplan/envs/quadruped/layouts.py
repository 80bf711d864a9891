"""How the quadruped lies, where the target is and where cylinders stand when an episode starts."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

TARGET_RING = (2.0, 5.0)  # m, nearest and farthest target on open ground

FIELD_OBSTACLES = 20
FIELD_HALF_WIDTH = 6.0  # m
FIELD_TARGET_RING = (4.0, 6.0)  # m
START_CLEARANCE = 1.5  # m between the start and an obstacle's centre: nearer ones would stand between the legs
TARGET_CLEARANCE = 1.0  # m between the target and an obstacle's centre: room for the torso

COVE_WALL_X = 2.2  # m, the closed side of the U
COVE_HALF_WIDTH = 1.5  # m
COVE_DEPTH = 1.4  # m, length of the two arms, which point towards the start
COVE_WALL = 7  # cylinders in the wall
COVE_ARM = 3  # cylinders in an arm

PILLAR_X = 2.2  # m
PILLAR_HALF_WIDTH = 1.0  # m
PILLAR_OBSTACLES = 5

FAR_TARGET = (4.0, 0.0)  # m, behind the cove or the pillar


@dataclass(frozen=True)
class Layout:
    """A start above the origin: a quaternion `[4]`, the `target` `[2]` (m), centres of `obstacles` `[n, 2]` (m)."""

    orientation: np.ndarray
    target: np.ndarray
    obstacles: np.ndarray


LayoutSampler = Callable[[np.random.RandomState, np.random.Generator], Layout]
"""The first generator draws how the robot lies, as dm_control does it; the second all that dm_control does not have."""


def getup(lie: np.random.RandomState, place: np.random.Generator) -> Layout:
    """Any orientation, sometimes upside down; open ground."""
    orientation = lie.randn(4)
    return Layout(orientation / np.linalg.norm(orientation), _in_ring(place, TARGET_RING), _none())


def upright(lie: np.random.RandomState, place: np.random.Generator) -> Layout:
    """Upright, looking anywhere; open ground."""
    return Layout(_any_yaw(lie), _in_ring(place, TARGET_RING), _none())


def field(lie: np.random.RandomState, place: np.random.Generator) -> Layout:
    """Upright among twenty cylinders, uniform in a square but clear of start and target."""
    target = _in_ring(place, FIELD_TARGET_RING)
    centres: list[np.ndarray] = []
    while len(centres) < FIELD_OBSTACLES:
        centre = place.uniform(-FIELD_HALF_WIDTH, FIELD_HALF_WIDTH, 2)
        if np.hypot(*centre) > START_CLEARANCE and np.hypot(*(centre - target)) > TARGET_CLEARANCE:
            centres.append(centre)
    return Layout(_any_yaw(lie), target, np.array(centres))


def cove(lie: np.random.RandomState, place: np.random.Generator) -> Layout:
    """Upright before a U of thirteen cylinders that opens towards the start; the target is behind it."""
    return Layout(_any_yaw(lie), np.array(FAR_TARGET), cove_centres())


def pillar(lie: np.random.RandomState, place: np.random.Generator) -> Layout:
    """Upright before five cylinders in a line across the way to the target."""
    across = np.linspace(-PILLAR_HALF_WIDTH, PILLAR_HALF_WIDTH, PILLAR_OBSTACLES)
    centres = np.stack([np.full(PILLAR_OBSTACLES, PILLAR_X), across], axis=1)
    return Layout(_any_yaw(lie), np.array(FAR_TARGET), centres)


def open_start() -> Layout:
    """Upright, looking along x, no obstacles: the start from which skills are compared."""
    return Layout(_yaw(0.0), np.array(FAR_TARGET), _none())


def cove_centres() -> np.ndarray:
    """Centres of the cove's cylinders, `[13, 2]`: first the wall, then the arms."""
    wall = [(COVE_WALL_X, y) for y in np.linspace(-COVE_HALF_WIDTH, COVE_HALF_WIDTH, COVE_WALL)]
    along = COVE_WALL_X - COVE_DEPTH * np.arange(1, COVE_ARM + 1) / COVE_ARM
    arms = [(x, side * COVE_HALF_WIDTH) for x in along for side in (1, -1)]
    return np.array(wall + arms)


def _in_ring(place: np.random.Generator, ring: tuple[float, float]) -> np.ndarray:
    """A point in any direction, its distance uniform between the ring's radii."""
    radius, angle = place.uniform(*ring), place.uniform(-np.pi, np.pi)
    return radius * np.array((np.cos(angle), np.sin(angle)))


def _any_yaw(lie: np.random.RandomState) -> np.ndarray:
    return _yaw(lie.uniform(0, 2 * np.pi))


def _yaw(angle: float) -> np.ndarray:
    return np.array((np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)))


def _none() -> np.ndarray:
    return np.zeros((0, 2))
