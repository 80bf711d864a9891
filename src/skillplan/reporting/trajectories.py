"""Where agents went: root paths from above, with dots where a new skill begins (the paper's cove figure)."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from skillplan.config import Config
from skillplan.errors import UserError
from skillplan.replay.episode import load_record
from skillplan.replay.restore import episode_files, episode_length
from skillplan.reporting.composite import evenly
from skillplan.reporting.coverage import CELL, cells_of
from skillplan.reporting.paths import draw_layout, mark_start
from skillplan.reporting.style import SEQUENTIAL, agent_color, new_figure, plain
from skillplan.reporting.world import common_layout, layout_of, position_axes, seconds_per_step
from skillplan.training.evaluate import Evaluator, make_environment
from skillplan.training.restore import load_run
from skillplan.training.run_directory import RunDirectory
from skillplan.training.seeding import Stream, environment_seed

Phase = Literal["training", "evaluation"]
POINTS = 250
"""Of a drawn path at most."""
FEW = 20
"""Paths up to which there is room for larger nodes."""
MOST_ROWS = 3
"""Episodes below each other, where each has obstacles of its own."""


class EpisodePath(NamedTuple):
    """Where one episode led."""

    points: np.ndarray
    """`[points, 2]`: x and y (m), or time (s) and x (m) in a world without y."""
    nodes: np.ndarray
    """`[nodes, 2]`: where a skill begins; none for an agent without skills."""
    frames: int
    """Of training before the episode."""
    reached: bool | None
    """Whether the target was touched; None where nothing seeks one."""
    layout: dict[str, np.ndarray] | None
    """What stood where, where that is known of this episode alone."""


class Trajectories(NamedTuple):
    """The episodes of one run."""

    name: str
    config: Config
    phase: Phase
    axes: tuple[str, str]
    """What the two numbers of a point are."""
    paths: tuple[EpisodePath, ...]
    layout: dict[str, np.ndarray]
    """What stood in the same place in every episode."""
    cells: int | None
    """Squares of a quarter of a metre in which the agent was in these episodes; None in a world without y."""
    notes: tuple[str, ...]
    """What is not shown, and why."""


def gather(
    run: Path, *, phase: Phase = "training", episodes: int | None = None, frames: int | None = None
) -> Trajectories:
    """Paths of training episodes, at most `episodes` (100) evenly over a run's first `frames`, or of noise-free ones.

    Noise-free evaluation plays `episodes` (10) on the fixed reset seeds. Episodes are read one at a time, and of each
    only what is drawn.
    """
    _check(phase, episodes, frames)
    config, spec = RunDirectory(run).read()
    notes: list[str] = []
    world = make_environment(config)
    try:
        axes, seconds = position_axes(world), seconds_per_step(world)
        if not axes:
            raise UserError(f"{run} has no paths to draw: {config.task} records no position.")
        layout, is_all = common_layout(world)
        if phase == "training":
            played = _read(RunDirectory(run).episodes, episodes or 100, frames, spec.action_repeat, notes)
        else:
            played = _evaluate(run, episodes or 10)
        paths, cells, flat = [], set(), axes[:2] == ("x", "y")
        for record, begun, seed in played:
            own = None if is_all or seed is None else layout_of(world, seed)
            path = _path(record, begun, axes, seconds, config.skill.size > 0, layout if own is None else own)
            cells |= cells_of(record["position"][..., :2]) if flat else set()
            paths.append(path._replace(layout=own))
    finally:
        world.close()
    if not paths:
        until = "" if frames is None else f" that began before frame {frames:,}"
        raise UserError(f"{run} has no paths to draw: it holds no readable episode of {phase}{until}.")
    if not is_all and phase == "training":
        notes.append(f"Obstacles or targets stand elsewhere in every episode of {config.task}: none are drawn.")
    return Trajectories(
        name=run.name,
        config=config,
        phase=phase,
        axes=("x (m)", "y (m)") if flat else ("time (s)", f"{axes[0]} (m)"),
        paths=tuple(paths),
        layout=layout,
        cells=len(cells) if flat else None,
        notes=tuple(notes),
    )


def draw(runs: Sequence[Trajectories]) -> Figure:
    """Runs side by side on the same axes; training is coloured by its frames, evaluation by agent."""
    if len({run.axes for run in runs}) > 1:
        found = ", ".join(f"{run.axes[0]} and {run.axes[1]} of {run.name}" for run in runs)
        raise UserError(f"These runs do not move in the same way ({found}): draw them one by one.")
    singly = any(path.layout for run in runs for path in run.paths)
    rows = min(max(len(run.paths) for run in runs), MOST_ROWS) if singly else 1
    colored = any(run.phase == "training" for run in runs)
    figure = new_figure(3.3 * len(runs) + 0.5 + 0.8 * colored, 3.5 * rows + 0.9)
    grid = figure.subplots(rows, len(runs), squeeze=False, sharex=True, sharey=True)
    scale = Normalize(0, max(path.frames for run in runs for path in run.paths) or 1)
    for column, run in enumerate(runs):
        for row, axes in enumerate(grid[:, column]):
            own = singly and run.paths[0].layout is not None
            shown = run.paths[row : row + 1] if own else run.paths if row == 0 else ()
            if not shown:
                axes.set_visible(False)
                continue
            _draw_run(axes, run, shown, scale)
            axes.set_title(_title(run) if row == 0 else f"episode {row}", fontsize=9)
    for axes in grid[-1]:
        axes.set_xlabel(runs[0].axes[0])
    for axes in grid[:, 0]:
        axes.set_ylabel(runs[0].axes[1])
    if colored:
        bar = figure.colorbar(ScalarMappable(scale, SEQUENTIAL), ax=grid, shrink=0.8, pad=0.02)
        bar.set_label("training (frames)")
        bar.ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    return figure


def _draw_run(axes: Axes, run: Trajectories, paths: Sequence[EpisodePath], scale: Normalize) -> None:
    if run.cells is not None:
        draw_layout(axes, paths[0].layout or run.layout)
        axes.set_aspect("equal", adjustable="box")
    node = 3.2 if len(paths) <= FEW else 2.2
    for path in paths:
        color = SEQUENTIAL(scale(path.frames)) if run.phase == "training" else agent_color(run.config.agent)
        axes.plot(*path.points.T, color=color, linewidth=0.9, alpha=0.8)
        axes.plot(*path.nodes.T, "o", color=color, markersize=node, markeredgewidth=0)
    if run.cells is not None:
        mark_start(axes, paths[0].points[0])
    plain(axes)


def describe(run: Trajectories) -> str:
    """Which run, and how far it came, in one line."""
    return ": ".join([f"{run.name}, {run.config.agent} on {run.config.task}", _reach(run)]) + "."


def _title(run: Trajectories) -> str:
    # A line for each: two runs stand close to each other.
    reach = _reach(run).replace("; ", "\n")
    return f"{run.config.agent} on {run.config.task}\n{run.name}\n{reach}"


def _reach(run: Trajectories) -> str:
    known = [path.reached for path in run.paths if path.reached is not None]
    said = f"{len(run.paths)} episodes"
    if known:
        said += f", {sum(known)} reach the target"
    return said if run.cells is None else f"{said}; {run.cells} squares of {CELL} m"


def _read(
    directory: Path, count: int, frames: int | None, action_repeat: int, notes: list[str]
) -> Iterator[tuple[dict[str, np.ndarray], int, int | None]]:
    """What training episodes recorded, one after the other, and the frames before each."""
    files = episode_files(directory)
    lasted = [(episode_length(path) - 1) * action_repeat for path in files]
    begun = np.cumsum([0, *lasted])[:-1]
    within = [i for i in range(len(files)) if frames is None or begun[i] < frames]
    for i in (within[place] for place in evenly(len(within), count)):
        try:
            record = load_record(files[i], ("position", "skill", "target"))
        except UserError as error:
            notes.append(f"An episode is left out. {error}")
            continue
        if "position" in record:
            yield record, int(begun[i]), None


def _evaluate(run: Path, count: int) -> Iterator[tuple[dict[str, np.ndarray], int, int | None]]:
    """What noise-free episodes record, and the seed of each."""
    loaded = load_run(run)
    evaluator = Evaluator(loaded.config)
    try:
        played = evaluator.episodes(loaded.state.models, count)
    finally:
        evaluator.close()
    for number, episode in enumerate(played):
        seed = environment_seed(0, Stream.ENVIRONMENT_EVALUATE, number)
        yield episode.record, loaded.counters.frames, seed


def skill_begins(skill: np.ndarray) -> np.ndarray:
    """Indices of the states from which a new skill acts, from a record `[T + 1, skill_size]`.

    Index t of the record holds the skill that led to state t, so that the skill of index t + 1 begins at state t.
    """
    return np.flatnonzero(np.concatenate([[True], (np.diff(skill[1:], axis=0) != 0).any(axis=1)]))


def _path(
    record: dict[str, np.ndarray],
    frames: int,
    axes: tuple[str, ...],
    seconds: float,
    has_skills: bool,
    layout: dict[str, np.ndarray],
) -> EpisodePath:
    position = record["position"]
    flat = axes[:2] == ("x", "y")
    steps = position[:, -1]
    points = steps[:, :2] if flat else np.stack([seconds * np.arange(len(steps)), steps[:, 0]], axis=1)
    nodes = points[skill_begins(record["skill"])] if has_skills and "skill" in record else points[:0]
    reached = None
    if "target" in layout and flat:
        x, y, radius = layout["target"]
        reached = bool((np.hypot(position[..., 0] - x, position[..., 1] - y) < radius).any())
    return EpisodePath(points[evenly(len(points), POINTS)], nodes, frames, reached, None)


def _check(phase: str, episodes: int | None, frames: int | None) -> None:
    if phase not in get_args(Phase):
        raise UserError(f"--phase is {phase!r}: choose from {', '.join(get_args(Phase))}.")
    if episodes is not None and episodes < 1:
        raise UserError(f"--episodes is {episodes}: show at least 1.")
    if frames is not None and frames < 1:
        raise UserError(f"--frames is {frames}: show at least the first 1.")
