"""`skillplan evaluate`: noise-free returns of a trained agent."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from skillplan.cli.options import parse
from skillplan.errors import UserError

EXAMPLE = "skillplan evaluate runs/rover --episodes 20 --json"


@dataclass(frozen=True)
class Evaluate:
    """Play noise-free episodes on reset seeds that are the same for every run, and report the returns."""

    run: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
    """Directory of the run."""
    episodes: int = 10
    """How many episodes."""
    task: str | None = None
    """Another task with the same observations and actions; by default the run's own."""
    seed: int = 0
    """Number of the first of the fixed reset seeds; training evaluates on those from 0."""
    json: bool = False
    """Print one JSON object instead of sentences."""


def command(arguments: Sequence[str]) -> int:
    """Evaluate the newest checkpoint."""
    options = parse(Evaluate, arguments, command="evaluate", example=EXAMPLE)
    if options.episodes < 1:
        raise UserError(f"--episodes is {options.episodes}: give at least 1.")
    if options.seed < 0:
        raise UserError(f"--seed is {options.seed}: give zero or more.")
    from skillplan.training.evaluate import Evaluator
    from skillplan.training.restore import in_world_of, load_run

    loaded = in_world_of(load_run(options.run), options.task)
    task = loaded.config.task
    evaluator = Evaluator(loaded.config)
    episodes = evaluator.episodes(loaded.state.models, options.episodes, first=options.seed)
    evaluator.close()
    returns = np.array([episode.reward.sum() for episode in episodes], float)
    result = {
        "run": str(options.run),
        "task": task,
        "frames": loaded.counters.frames,
        "episodes": options.episodes,
        "seed": options.seed,
        "return_mean": float(returns.mean()),
        "return_std": float(returns.std()),
        "returns": [round(float(value), 4) for value in returns],
        "lengths": [episode.length - 1 for episode in episodes],
    }
    if options.json:
        print(json.dumps(result))
        return 0
    print(
        f"{task} after {loaded.counters.frames:,} frames: return {result['return_mean']:.1f} "
        f"± {result['return_std']:.1f} (mean and standard deviation of {options.episodes} noise-free episodes, "
        f"{returns.min():.1f} to {returns.max():.1f})."
    )
    print(f"Next: skillplan describe {options.run}")
    return 0
