"""The demo's pictures: two agents in the field, then in the cove, side by side."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from skillplan.envs import make
from skillplan.envs.rover.env import RoverEnv
from skillplan.replay.episode import load
from skillplan.replay.restore import episode_files
from skillplan.reporting.curves import draw_curves
from skillplan.reporting.paths import draw_arena, draw_episodes, draw_held_skills
from skillplan.reporting.style import agent_color, plain
from skillplan.training.evaluate import Evaluator, spread_of_ends
from skillplan.training.metrics_log import read_metrics
from skillplan.training.restore import LoadedRun, load_run
from skillplan.training.run_directory import RunDirectory

BEST_RETURN = 300.0


def episode_lines(run: Path) -> list[dict[str, Any]]:
    """The lines of a run's log that tell of an episode; none where there is no log yet."""
    return [line for line in read_metrics(RunDirectory(run).metrics_file) if "train/return" in line]


def hits(lines: Sequence[dict[str, Any]]) -> np.ndarray:
    """Whether the target was reached, for each episode in a world that pays for nothing else."""
    return np.array([line["train/return"] > 0 for line in lines], bool)


def draw_progress(picture: Path, runs: Sequence[tuple[str, Path, Path]]) -> None:
    """Returns in the field, and hits in the cove so far, of `(agent, field run, cove run)`."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    _draw_field_curves(left, [(agent, field) for agent, field, _ in runs])
    _draw_hits(right, [(agent, cove) for agent, _, cove in runs])
    figure.savefig(picture, dpi=120)
    plt.close(figure)


def draw_report(picture: Path, fields: Sequence[Path], coves: Sequence[Path], *, episodes: int) -> Iterator[str]:
    """Draw what became of two agents, and tell it line by line while it is found out."""
    # On the left field, hits, skills; beside it each agent while it learns, and below that at the end.
    figure, axes = plt.subplot_mosaic("fab;fab;hab;hcd;scd;scd", figsize=(15, 10.5), layout="constrained")
    names = [RunDirectory(run).read()[0].agent for run in fields]
    _draw_field_curves(axes["f"], list(zip(names, fields, strict=True)))
    _draw_hits(axes["h"], list(zip(names, coves, strict=True)))
    for field, cove, learning, final in zip(fields, coves, "ab", "cd", strict=True):
        before, after = load_run(field), load_run(cove)
        yield from _draw_skills(axes["s"], before)
        yield _draw_explored(axes[learning], cove, after)
        yield _draw_noise_free(axes[final], after, episodes)
    # The square worlds' titles stand above what the layout has measured.
    figure.savefig(picture, dpi=110, bbox_inches="tight", pad_inches=0.15)
    plt.close(figure)


def _draw_field_curves(axes: Axes, runs: Sequence[tuple[str, Path]]) -> None:
    draw_curves(axes, [(agent, RunDirectory(run).metrics_file) for agent, run in runs], best=BEST_RETURN)
    axes.set(title="Learning to drive on rover-field", xlim=(0, None), ylim=(0, 310))


def _draw_hits(axes: Axes, runs: Sequence[tuple[str, Path]]) -> None:
    for agent, run in runs:
        if lines := episode_lines(run):
            frames = [0, *(line["frames"] for line in lines)]
            reached = [0, *np.cumsum(hits(lines))]
            axes.step(frames, reached, where="post", color=agent_color(agent), label=agent)
    axes.set(
        title="After the move to rover-cove", xlabel="environment frames", ylabel="episodes that reached the target"
    )
    axes.set(xlim=(0, None), ylim=(0, None))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, loc="upper left")
    plain(axes)


def _draw_explored(axes: Axes, run: Path, loaded: LoadedRun) -> str:
    """Where an agent went while it learned in the cove."""
    agent, reached = loaded.config.agent, hits(episode_lines(run))
    paths = [load(file).record["position"][:, -1] for file in episode_files(RunDirectory(run).episodes)]
    _draw_cove(axes, loaded, paths)
    result = f"target reached in {int(reached.sum())} of {len(reached)} episodes"
    axes.set_title(f"{agent} while it learns in the cove:\n{result}")
    return f"{agent} while it learned on rover-cove: {result}"


def _draw_noise_free(axes: Axes, loaded: LoadedRun, count: int) -> str:
    """Where an agent goes when it no longer explores."""
    evaluator = Evaluator(loaded.config)
    episodes = evaluator.episodes(loaded.state.models, count)
    evaluator.close()
    _draw_cove(axes, loaded, [episode.record["position"][:, -1] for episode in episodes])
    result = f"target reached in {sum(bool(e.reward.sum() > 0) for e in episodes)} of {count} noise-free episodes"
    axes.set_title(f"{loaded.config.agent} at the end:\n{result}")
    return f"{loaded.config.agent} at the end: {result}"


def _draw_cove(axes: Axes, loaded: LoadedRun, paths: Sequence[np.ndarray]) -> None:
    world = make(loaded.config.task)
    world.reset(0)
    draw_arena(axes, cast(RoverEnv, world.env.unwrapped).layout(), target=True)
    world.close()
    every = loaded.config.skill.duration if loaded.config.skill.size else None
    draw_episodes(axes, paths, agent_color(loaded.config.agent), every=every)


def _draw_skills(axes: Axes, loaded: LoadedRun) -> Iterator[str]:
    """Skills held from one start, if this agent has any."""
    evaluator = Evaluator(loaded.config)
    paths = evaluator.held_paths(loaded.state.models)
    evaluator.close()
    if paths is None:
        return
    agent, steps, spread = loaded.config.agent, paths.shape[2] - 1, spread_of_ends(paths[:, :, -1])
    draw_held_skills(axes, paths)
    axes.set_title(f"{agent}: {len(paths)} skills, each held for {steps} steps")
    yield f"{agent}'s skills end {spread.across:.2f} m apart, repeats of one skill {spread.within:.2f} m"
