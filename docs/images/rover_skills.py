"""Draws docs/images/rover-skills.gif: what the skills of a trained rover do, and what planning makes of them.

`python docs/images/rover_skills.py runs/rover docs/images/rover-skills.gif`
"""

import sys
from pathlib import Path
from typing import cast

import imageio.v3 as imageio
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from skillplan.envs.rover.env import RoverEnv
from skillplan.reporting.paths import draw_arena
from skillplan.reporting.style import agent_color
from skillplan.training.evaluate import Evaluator, make_environment
from skillplan.training.restore import load_run
from skillplan.training.seeding import Stream, environment_seed

FRAMES = 120
ROVER_RADIUS = 0.15


def main() -> None:
    """Read a run, write a picture."""
    run, picture = map(Path, sys.argv[1:])
    loaded = load_run(run)
    evaluator = Evaluator(loaded.config)
    held = evaluator.held_paths(loaded.state.models)
    (episode,) = evaluator.episodes(loaded.state.models, 1)
    evaluator.close()
    if held is None:
        raise SystemExit(f"{run} has no skills to show.")
    world = make_environment(loaded.config)
    world.reset(environment_seed(0, Stream.ENVIRONMENT_EVALUATE, 0))
    layout = cast(RoverEnv, world.env.unwrapped).layout()
    path, duration = episode.record["position"][:, -1], loaded.config.skill.duration

    plt.switch_backend("Agg")
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.7), layout="constrained")
    images = []
    # One repeat of each skill, in the order of their directions, which their colours follow.
    skills = held[:, 0]
    order = np.argsort(np.arctan2(*(skills[:, -1] - skills[:, 0]).T[::-1]))
    colors = plt.get_cmap("viridis")(np.linspace(0.0, 0.9, len(skills)))
    for step in range(0, FRAMES + 1, 2):
        left.clear()
        now = min(step, skills.shape[1] - 1)
        for color, skill in zip(colors, skills[order], strict=True):
            left.plot(*skill[: now + 1].T, color=color, linewidth=1.6)
            left.add_patch(Circle(skill[now], ROVER_RADIUS * 0.6, color=color))
        left.set(xlim=(-3.2, 3.2), ylim=(-3.2, 3.2), aspect="equal", xlabel="x (m)", ylabel="y (m)")
        left.set_title(f"{len(skills)} skills, each held for 3 s", fontsize=10)
        right.clear()
        draw_arena(right, layout, target=False)
        right.plot(*path[: step + 1].T, color=agent_color("lsp"), linewidth=1.6)
        right.plot(*path[: step + 1 : duration].T, ".", color=agent_color("lsp"), markersize=6)
        right.add_patch(Circle(path[step], ROVER_RADIUS, color=agent_color("lsp")))
        right.set_title("planning: a new skill at every dot", fontsize=10)
        images.append(_drawn(figure))
    images += [images[-1]] * 8
    imageio.imwrite(picture, np.stack(images), duration=100, loop=0, plugin="pillow", optimize=True)


def _drawn(figure: Figure) -> np.ndarray:
    figure.set_dpi(80)
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3].copy()  # pyright: ignore[reportAttributeAccessIssue]


if __name__ == "__main__":
    main()
