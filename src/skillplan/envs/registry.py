"""The table of tasks: what `--task` accepts, and how each is made."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import gymnasium

from skillplan.envs.gym import make_gym
from skillplan.envs.wrapper import RepeatedEnvironment
from skillplan.errors import UserError, unknown_name


@dataclass(frozen=True)
class Task:
    """A row of the table."""

    name: str
    """As typed on the command line."""
    description: str
    """One line for people."""
    family: str
    """Tasks of one family share observations' meaning, sizes of networks and settings."""
    source: str
    """Whose world it is."""
    action_repeat: int
    """Frames per agent step unless the user says otherwise."""
    episode_frames: int | None = None
    """Time limit; `None`: the environment knows."""
    entry_point: str = ""
    """`module:class` of the `gymnasium.Env`; empty for a pattern such as `gym:ID`."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Passed to the class."""
    features: str = ""
    """Tasks with the same entry keep the same features of every frame, from which the rewards of all of them follow."""


# Families that MuJoCo draws.
_WITH_SHADOWS = ("quadruped", "suite")
# Stock tasks whose rewards follow from what their episodes keep.
_RECOMPUTED = {("walker", "stand"), ("walker", "walk"), ("walker", "run"), ("hopper", "hop"), ("hopper", "stand")}


def _rover(task: str, description: str) -> Task:
    return Task(
        name=f"rover-{task}",
        description=description,
        family="rover",
        source="skillplan",
        action_repeat=1,
        episode_frames=300,
        entry_point="skillplan.envs.rover.env:RoverEnv",
        arguments={"task": task},
        features="rover",
    )


def _quadruped(task: str, description: str) -> Task:
    return Task(
        name=f"quadruped-{task}",
        description=description,
        family="quadruped",
        source="skillplan",
        action_repeat=2,
        episode_frames=1000,
        entry_point="skillplan.envs.quadruped.env:QuadrupedEnv",
        arguments={"task": task},
        features="quadruped",
    )


def _suite(domain: str, task: str, description: str, *, name: str = "", episode_frames: int | None = 1000) -> Task:
    return Task(
        name=name or f"{domain}-{task}",
        description=description,
        family="suite",
        source="dm_control",
        action_repeat=2,
        episode_frames=episode_frames,
        entry_point="skillplan.envs.suite:SuiteEnv",
        arguments={"domain": domain, "task": task},
        features=domain if (domain, task) in _RECOMPUTED else "",
    )


TASKS = {
    task.name: task
    for task in (
        _rover("field", "Drive forward among eight random cylinders."),
        _rover("cove", "Reach a target behind a U of cylinders that opens towards the start; the reward is sparse."),
        _quadruped("getup-walk", "Get up from any orientation and walk at 0.5 m/s on four legs."),
        _quadruped("walk", "Walk at 0.5 m/s on four legs, from an upright start."),
        _quadruped("run", "Get up from any orientation and run at 5 m/s on four legs."),
        _quadruped("reach", "Walk to a target 2 to 5 m away, from an upright start."),
        _quadruped("getup-reach", "Get up from any orientation and walk to a target 2 to 5 m away."),
        _quadruped("obstacles", "Walk at 0.5 m/s among twenty random cylinders."),
        _quadruped("obstacles-reach", "Walk among twenty random cylinders to a target 4 to 6 m away."),
        _quadruped(
            "cove", "Reach a target behind a U of cylinders that opens towards the start; the reward is sparse."
        ),
        _quadruped("pillar", "Walk around a line of cylinders to the target behind it."),
        _suite("walker", "walk", "Walk upright at 1 m/s on two legs in a plane."),
        _suite("walker", "run", "Run upright at 8 m/s on two legs in a plane."),
        _suite("cheetah", "run", "Run at 10 m/s on two legs in a plane."),
        _suite("hopper", "hop", "Hop forward on one leg in a plane."),
        _suite("hopper", "stand", "Stand upright on one leg in a plane."),
    )
}

PATTERNS = {
    "dm:": Task("dm:DOMAIN-TASK", "Any task of the DeepMind Control Suite.", "suite", "dm_control", 2),
    "gym:": Task("gym:ID", "Any Gymnasium environment with bounded continuous actions.", "gym", "gymnasium", 1),
}


def tasks() -> list[dict[str, Any]]:
    """All tasks for people and for JSON: the table, then the patterns (whose time limit depends on the environment)."""
    shown = ("name", "description", "family", "source", "action_repeat", "episode_frames")
    return [{key: getattr(task, key) for key in shown} for task in (*TASKS.values(), *PATTERNS.values())]


def family(task: str) -> str:
    """The family of a task: `rover`, `quadruped`, `suite` or `gym`."""
    return find(task).family


def default_action_repeat(task: str) -> int:
    """Frames per agent step unless the user says otherwise."""
    return find(task).action_repeat


def make(
    task: str,
    *,
    action_repeat: int | None = None,
    pixels: bool = False,
    shadows: bool = False,
    episode_length: int | None = None,
) -> RepeatedEnvironment:
    """The world of `task`, an `Environment`.

    Args:
        task: A name of the table, `dm:DOMAIN-TASK` or `gym:ID`.
        action_repeat: Frames per agent step; by default the task's.
        pixels: Observe 64×64 images instead of features.
        shadows: Draw as dm_control does, more than ten times as slowly, where MuJoCo draws.
        episode_length: Time limit in frames, instead of the task's own.
    """
    row = find(task)
    repeat = row.action_repeat if action_repeat is None else action_repeat
    if shadows and row.family not in _WITH_SHADOWS:
        raise UserError(f"{task} is drawn without shadows: leave out --environment.shadows.")
    if row.entry_point:
        drawing = {"pixels": pixels, "render_mode": "rgb_array"} | ({"shadows": True} if shadows else {})
        env = _load(row.entry_point)(**row.arguments, **drawing)
        frames = row.episode_frames if episode_length is None else episode_length
        if frames is None:
            frames = env.episode_frames
        if frames is None:
            raise UserError(f"{task} has no time limit: pass --environment.episode-length (in frames).")
        terminates = env.terminates
    else:
        env, frames = make_gym(task.removeprefix("gym:"), episode_length)
        terminates = True  # Gymnasium does not tell
    world = RepeatedEnvironment(env, task=task, action_repeat=repeat, episode_frames=frames, terminates=terminates)
    if pixels and not world.spec.pixels:
        world.close()
        raise UserError(f"{task} has no pixels: its observation is not an image of 64×64×3.")
    return world


def register_gymnasium() -> None:
    """Register every task of the table with Gymnasium, e.g. as `skillplan/rover-field-v0`, importing none of them."""
    for task in TASKS.values():
        gym_id = f"skillplan/{task.name}-v0"
        if gym_id not in gymnasium.registry:
            gymnasium.register(
                gym_id,
                entry_point=task.entry_point,
                max_episode_steps=task.episode_frames,
                kwargs=dict(task.arguments),
            )


def find(task: str) -> Task:
    """The row of a task: the table's, or one made up for a pattern."""
    if task in TASKS:
        return TASKS[task]
    prefix, colon, rest = task.partition(":")
    pattern = PATTERNS.get(prefix + colon)
    if pattern is None or not rest:
        raise unknown_name("task", task, [*TASKS, *(row.name for row in PATTERNS.values())])
    if prefix == "gym":
        return pattern
    domain, dash, name = rest.partition("-")
    if not (domain and dash and name):
        raise UserError(f"Unknown task {task!r}: write dm:DOMAIN-TASK, e.g. dm:reacher-easy.")
    return _suite(domain, name, pattern.description, name=task, episode_frames=None)


def _load(entry_point: str) -> Any:
    """The class behind `module:class`, imported now."""
    module, _, name = entry_point.partition(":")
    return getattr(importlib.import_module(module), name)
