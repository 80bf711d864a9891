"""`make demo`: train LSP and Dreamer on the rover, look at them in the cove, and draw what they learned."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import cast

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from skillplan.envs import make
from skillplan.envs.rover.env import RoverEnv
from skillplan.reporting.curves import draw_curves
from skillplan.reporting.paths import draw_arena, draw_episodes, draw_held_skills
from skillplan.reporting.style import agent_color
from skillplan.training.evaluate import Evaluator, spread_of_ends
from skillplan.training.metrics_log import read_metrics
from skillplan.training.restore import LoadedRun, load_run
from skillplan.training.run_directory import RunDirectory
from skillplan.training.seeding import Stream, environment_seed

AGENTS = ("lsp", "dreamer")
TASKS = ("rover-field", "rover-cove")
FRAMES = 12_000
BEST_RETURN = 300.0
SECONDS_BETWEEN_PICTURES = 10.0
EPISODES = 10


def main() -> int:
    """Train both agents side by side, then measure and draw; the last line names the picture."""
    plt.switch_backend("Agg")
    out = _fresh_directory(Path("runs") / "demo")
    out.mkdir(parents=True)
    print(f"Training {' and '.join(AGENTS)} on rover-field, side by side; about five minutes on two cores.", flush=True)
    trainings = {agent: _start(agent, out) for agent in AGENTS}
    try:
        _follow(trainings, out)
    finally:
        for training in trainings.values():
            training.kill()
    failed = [agent for agent, training in trainings.items() if training.returncode != 0]
    if failed:
        print(f"Training failed: {', '.join(failed)}. See {out}/AGENT.log.", file=sys.stderr)
        return 1
    picture = _report(out)
    print(f"Open {picture}. Next: skillplan describe {out / 'lsp'}, or skillplan train walker-walk")
    return 0


def _fresh_directory(path: Path) -> Path:
    """A directory that is not there yet: earlier demos are kept."""
    number, fresh = 1, path
    while fresh.exists():
        number += 1
        fresh = path.with_name(f"{path.name}-{number}")
    return fresh


def _start(agent: str, out: Path) -> "subprocess.Popen[bytes]":
    """Train in a process of its own, on one core: two agents side by side are faster than one after the other."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    command = [sys.executable, "-m", "skillplan.cli.main", "train", "rover-field", "--agent", agent]
    command += ["--size", "tiny", "--frames", str(FRAMES), "--run", str(out / agent)]
    with (out / f"{agent}.log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, "XLA_FLAGS": flags.strip()})


def _follow(trainings: dict[str, "subprocess.Popen[bytes]"], out: Path) -> None:
    """Redraw the curves and tell how far the trainings are, until they end."""
    picture, announced = out / "progress.png", False
    while any(training.poll() is None for training in trainings.values()):
        time.sleep(SECONDS_BETWEEN_PICTURES)
        newest = {agent: _newest_line(out / agent) for agent in trainings}
        if not any(newest.values()):
            continue
        figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
        draw_curves(axes, [(agent, RunDirectory(out / agent).metrics_file) for agent in trainings], best=BEST_RETURN)
        axes.set(title="rover-field", xlim=(0, FRAMES), ylim=(0, 310))
        figure.savefig(picture, dpi=120)
        plt.close(figure)
        if not announced:
            print(f"First picture of progress: {picture} (redrawn every {SECONDS_BETWEEN_PICTURES:.0f} s)", flush=True)
            announced = True
        shown = [
            f"{agent} {line['frames']:,} of {FRAMES:,} frames, return {line['train/return']:.0f}"
            for agent, line in newest.items()
            if line
        ]
        print(" · ".join(shown), flush=True)


def _newest_line(run: Path) -> dict[str, float] | None:
    newest = None
    for line in read_metrics(RunDirectory(run).metrics_file):
        if "train/return" in line:
            newest = line
    return newest


def _report(out: Path) -> Path:
    """Evaluate in both worlds, print the numbers, and draw curves, skills and paths."""
    figure, grid = plt.subplots(2, 3, figsize=(15, 9.5), layout="constrained")
    draw_curves(grid[0, 0], [(agent, RunDirectory(out / agent).metrics_file) for agent in AGENTS], best=BEST_RETURN)
    grid[0, 0].set(title="Learning to drive on rover-field", xlim=(0, None), ylim=(0, 310))
    for row, agent in enumerate(AGENTS):
        run = load_run(out / agent)
        for column, task in enumerate(TASKS, start=1):
            _draw_task(grid[row, column], task, run)
        evaluator = Evaluator(run.config)
        paths = evaluator.held_paths(run.state.models)
        evaluator.close()
        if paths is not None:
            spread = spread_of_ends(paths[:, :, -1])
            draw_held_skills(grid[1, 0], paths)
            grid[1, 0].set_title(f"{agent}: {len(paths)} skills, each held for 3 s from one start")
            print(
                f"{agent}'s skills end {spread.across:.2f} m apart, within one skill {spread.within:.2f} m", flush=True
            )
    picture = out / "report.png"
    figure.savefig(picture, dpi=110)
    plt.close(figure)
    return picture


def _draw_task(axes: Axes, task: str, run: LoadedRun) -> None:
    """Noise-free episodes of a run's agent in one world: all of them in the cove, the first one in the field."""
    agent, cove = run.config.agent, task == "rover-cove"
    evaluator = Evaluator(replace(run.config, task=task))
    episodes = evaluator.episodes(run.state.models, EPISODES)
    evaluator.close()
    returns = np.array([episode.reward.sum() for episode in episodes])
    reached = int((returns > 0).sum())
    result = f"target reached in {reached} of {EPISODES}" if cove else f"mean return {returns.mean():.0f} of 300"
    print(f"{agent} on {task}, {EPISODES} noise-free episodes: {result}", flush=True)

    world = make(task)
    world.reset(environment_seed(0, Stream.ENVIRONMENT_EVALUATE, 0))
    draw_arena(axes, cast(RoverEnv, world.env.unwrapped).layout(), target=cove)
    world.close()
    paths = [episode.record["position"][:, -1] for episode in (episodes if cove else episodes[:1])]
    every = run.config.skill.duration if run.config.skill.size else None
    draw_episodes(axes, paths, agent_color(agent), every=every)
    axes.set_title(f"{agent} on {task}: {result}")


if __name__ == "__main__":
    sys.exit(main())
