"""What a world says of itself beyond the interface: its axes, its pace, and what stands in it."""

from typing import Any

import numpy as np

from skillplan.envs.wrapper import RepeatedEnvironment


def inner_world(world: RepeatedEnvironment) -> Any:
    """The Gymnasium environment itself, which may offer more than the interface asks."""
    return world.env.unwrapped


def position_axes(world: RepeatedEnvironment) -> tuple[str, ...]:
    """The names of the axes of the positions that a world records; none where it records no position."""
    (dims,) = world.spec.record_shapes.get("position", (0,))
    return tuple(getattr(inner_world(world), "position_axes", ("x", "y", "z")[:dims]))


def seconds_per_step(world: RepeatedEnvironment) -> float:
    """How long an agent step lasts in the world, where it says so; else as if 30 frames were a second."""
    return world.spec.action_repeat / float(world.env.metadata.get("render_fps") or 30.0)


def layout_of(world: RepeatedEnvironment, seed: int) -> dict[str, np.ndarray]:
    """What stands where in the episode of `seed`; empty where the world does not say.

    `obstacles` `[n, 3]` and, where it is what the task is about, `target` `[3]`, as x, y, radius (m); `arena`, half the
    width of a walled one.
    """
    inner = inner_world(world)
    if not hasattr(inner, "layout"):
        return {}
    world.reset(seed)
    return {name: value for name, value in inner.layout().items() if name != "target" or inner.seeks_target}


def common_layout(world: RepeatedEnvironment) -> tuple[dict[str, np.ndarray], bool]:
    """What stands in the same place in every episode, and whether that is all there is."""
    one, other = (layout_of(world, seed) for seed in (0, 1))
    same = {name: value for name, value in one.items() if np.array_equal(value, other[name])}
    return same, len(same) == len(one)
