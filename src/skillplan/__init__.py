"""Latent Skill Planning: plan over learned skills inside a world model (Xie et al., ICLR 2021)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skillplan.agent import Agent
    from skillplan.envs.interface import Environment

__version__ = "0.1.0"
__all__ = ["load", "make", "train"]


def train(
    task: str,
    *,
    agent: str = "lsp",
    size: str | None = None,
    run: str | Path | None = None,
    resume: bool = False,
    **overrides: Any,
) -> Path:
    """Train as `skillplan train` does, and return the run's directory.

    Overrides are fields of the configuration, nested ones as dictionaries:
    `train("rover-field", frames=9_000, seed=1, skill={"size": 2})`.
    """
    from skillplan.presets import make_config
    from skillplan.training.loop import train as run_training
    from skillplan.training.run_directory import default_run

    config = make_config(task, agent, size, overrides)
    return run_training(config, Path(run) if run else default_run(config), resume=resume).path


def load(run: str | Path, *, seed: int = 0) -> Agent:
    """The agent of a run's newest checkpoint, with `reset()` and `act(observation)`."""
    from skillplan.agent import Agent
    from skillplan.training.restore import load_run

    loaded = load_run(Path(run))
    return Agent(loaded.state.models, loaded.config, loaded.spec, seed=seed)


def make(agent: Agent, *, task: str | None = None) -> Environment:
    """A world like the one the agent was trained in, or that of another task: `reset(seed)`, `step(action)`."""
    import dataclasses

    from skillplan.training.evaluate import make_environment

    config = agent.config if task is None else dataclasses.replace(agent.config, task=task)
    return make_environment(config)
