"""What an agent's step costs beside MuJoCo's own, and how fast worlds are drawn; all in processor time."""

import time
from collections.abc import Callable

import mujoco
import numpy as np

from benchmarks.timing import interleaved
from skillplan import envs
from skillplan.envs.quadruped.env import QuadrupedEnv
from skillplan.envs.wrapper import RepeatedEnvironment

# What is timed together.
STEPS = 100  # of an agent
PICTURES = 20


def measure_step(task: str, rounds: int) -> dict[str, float]:
    """Seconds of the physics in one agent step of a quadruped, and of the whole agent step.

    Both play the same actions from the same start, so that the same bodies touch.
    """
    world = _endless(task)
    robot = world.env.unwrapped
    if not isinstance(robot, QuadrupedEnv):
        raise ValueError(f"{task} is no task of the quadruped, whose physics alone this steps.")
    model, substeps = robot._world.model, robot._world._substeps
    data = mujoco.MjData(model)
    mujoco.mj_copyData(data, model, robot._world.data)
    actions = np.random.default_rng(0).uniform(-1, 1, (STEPS, world.spec.action_size))
    commands = [world._actions.to_world(action) for action in actions for _ in range(world.spec.action_repeat)]

    def physics() -> None:
        for command in commands:
            data.ctrl[:] = command
            mujoco.mj_step2(model, data)
            mujoco.mj_step(model, data, substeps - 1)
            mujoco.mj_step1(model, data)

    def step() -> None:
        for action in actions:
            world.step(action)

    seconds = interleaved({"physics": physics, "agent step": step}, rounds, time.process_time)
    if not np.array_equal(data.qpos, robot._world.data.qpos):
        raise RuntimeError(f"The physics of {task} alone went another way than the task.")
    return {name: value / STEPS for name, value in seconds.items()}


def measure_pictures(tasks: tuple[str, ...], rounds: int) -> dict[str, float]:
    """Seconds of one 64×64 picture of each task as an agent sees it, and of the first with shadows."""
    worlds = {task: _endless(task, pixels=True) for task in tasks}
    worlds[f"{tasks[0]}, shadows"] = _endless(tasks[0], pixels=True, shadows=True)
    seconds = interleaved({name: _drawing(world) for name, world in worlds.items()}, rounds, time.process_time)
    for world in worlds.values():
        world.close()
    return {name: value / PICTURES for name, value in seconds.items()}


def _drawing(world: RepeatedEnvironment) -> Callable[[], None]:
    observe = world.env.unwrapped._image_observation

    def draw() -> None:
        for _ in range(PICTURES):
            observe()

    return draw


def _endless(task: str, **settings: bool) -> RepeatedEnvironment:
    """A world whose episode has begun and lasts longer than any measurement."""
    world = envs.make(task, episode_length=1_000_000, **settings)
    world.reset(0)
    return world
