"""Runs on disk that nobody trained: a configuration, a world's description and a log."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jax
import numpy as np

from skillplan.envs.interface import EnvSpec
from skillplan.learners import learner_of
from skillplan.presets import make_config
from skillplan.replay.episode import Episode, save
from skillplan.training.checkpoint import Checkpoints
from skillplan.training.counters import Counters
from skillplan.training.evaluate import make_environment
from skillplan.training.restore import LoadedRun
from skillplan.training.run_directory import RunDirectory

FRAMES = (1000, 2000, 3000)


def spec(task: str = "rover-field") -> EnvSpec:
    return EnvSpec(
        task=task,
        observation_keys=("observation",),
        observation_sizes=(21,),
        observation_shape=(21,),
        pixels=False,
        action_size=2,
        action_repeat=1,
        episode_frames=300,
        terminates=False,
    )


def line(frames: int, **metrics: float | None) -> dict[str, Any]:
    counts = {"frames": frames, "agent_steps": frames, "updates": 7, "episodes": frames // 300, "seconds": frames / 10}
    return counts | {name.replace("_", "/", 1): value for name, value in metrics.items()}


def make_run(
    path: Path,
    returns: Sequence[float] = (),
    *,
    task: str = "rover-field",
    agent: str = "lsp",
    seed: int = 0,
    frames: Sequence[int] = FRAMES,
    source: Mapping[str, Any] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Path:
    """A run with an evaluation of each of `returns`, the first ones of `frames`."""
    config = make_config(task, agent, "debug", {"seed": seed, **(overrides or {})})
    directory = RunDirectory(path)
    directory.create(config, spec(task), source=None if source is None else dict(source))
    lines = [line(at, evaluation_return=value) for at, value in zip(frames, returns, strict=False)]
    directory.metrics_file.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return path


@cache
def fresh_run(agent: str = "lsp", task: str = "rover-field", *, steps: int = 40, pixels: bool = False) -> LoadedRun:
    """An agent that has learned nothing, in episodes of so many agent steps, as if loaded from disk."""
    settings = {"environment": {"episode_length": steps, "pixels": pixels}}
    config = make_config(task, agent, "debug", settings)
    world = make_environment(config)
    world.close()
    state = learner_of(config).initial(world.spec, jax.random.key(0))
    return LoadedRun(config, world.spec, state, Counters(frames=1200, agent_steps=1200, episodes=4))


def store(loaded: LoadedRun, path: Path, paths: Sequence[np.ndarray] = ()) -> Path:
    """A run on disk with a checkpoint, and episodes that led along `paths` `[T + 1, 2]`."""
    directory = RunDirectory(path)
    directory.create(loaded.config, loaded.spec)
    Checkpoints(directory.checkpoints).save(loaded.state, loaded.counters)
    for number, along in enumerate(paths):
        save(episode(along), directory.episodes, number)
    return path


def episode(path: np.ndarray, *, skill_steps: int = 10) -> Episode:
    """One that led along a path `[T + 1, 2]`, with a new skill every so many steps."""
    length = len(path)
    skill = np.repeat(np.arange(length), skill_steps)[: length - 1, None].astype(np.float32)
    return Episode(
        observation=np.zeros((length, 1), np.float32),
        action=np.zeros((length, 2), np.float32),
        reward=np.zeros(length, np.float32),
        is_first=np.arange(length) == 0,
        is_terminal=np.zeros(length, bool),
        frames=length - 1,
        record={"position": path[:, None].astype(float), "skill": np.concatenate([np.zeros((1, 1)), skill])},
    )
