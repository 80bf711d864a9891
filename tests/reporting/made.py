"""Runs on disk that nobody trained: a configuration, a world's description and a log."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from skillplan.envs.interface import EnvSpec
from skillplan.presets import make_config
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
