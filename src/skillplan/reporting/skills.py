"""What skills do: several of them, each held for a while from one start state (the paper's qualitative figure)."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from skillplan.config import Config
from skillplan.envs.wrapper import RepeatedEnvironment
from skillplan.errors import UserError
from skillplan.learners import learner_of
from skillplan.replay.episode import Episode
from skillplan.reporting import skill_panels
from skillplan.reporting.composite import evenly
from skillplan.reporting.diversity import effective_number, overlaps, spread_skills
from skillplan.reporting.film import replay, tiled, write_film
from skillplan.reporting.style import new_figure
from skillplan.reporting.world import inner_world, position_axes, seconds_per_step
from skillplan.training.evaluate import HELD_START, Evaluator, Spread, held_positions, make_environment, spread_of_ends
from skillplan.training.restore import LoadedRun
from skillplan.training.seeding import Stream, key
from skillplan.types import Batch

FILM_LENGTH = 80
"""Pictures of one skill at most."""
ROOM = 1.0
"""Metres of ground to be seen around where skills lead."""
SMALLEST_SPAN = 3.0
"""Metres of ground in a picture at least."""
WIDTH = 10.5
PANEL_HEIGHT = 3.1
"""Inches."""


class HeldSkills(NamedTuple):
    """Skills, what they did, and how different that is."""

    config: Config
    frames: int
    """Of training."""
    grid: tuple[int, int]
    """Rows and columns in which the skills are shown."""
    skills: np.ndarray
    """`[n, skill_size]`."""
    seconds: float
    """For which each skill is held in the world."""
    paths: np.ndarray | None
    """Positions `[n, repeats, steps + 1, dims]`; None where the world records none."""
    axes: tuple[str, ...]
    """Names of the positions' axes."""
    pictures: np.ndarray | None
    """Film of each skill's first repeat, uint8 `[n, T, height, width, 3]`, from start to end evenly in time."""
    still: bool
    """Whether the camera stood still."""
    spread: Spread | None
    """How far apart skills end, and one skill's repeats."""
    overlap: np.ndarray | None
    """How much the ends of two skills overlap, `[n, n]`."""
    information: np.ndarray | None
    """ln q_χ of each skill over its marginal, `[n]` (nats); None where nothing predicts skills."""
    notes: tuple[str, ...]
    """What could not be shown, and why."""

    @property
    def effective(self) -> float | None:
        """How many distinct behaviours the skills amount to."""
        return None if self.overlap is None else effective_number(self.overlap)


def gather(
    loaded: LoadedRun, *, grid: tuple[int, int] = (3, 3), hold: int = 40, repeats: int = 4, film: bool = True
) -> HeldSkills:
    """Hold rows × columns skills, spread over N(0, I), for `hold` agent steps each, `repeats` times from one start.

    The start is the world's plain one where it has one (no obstacles, looking along x). With `film` the first repeat
    of each skill is drawn, where anything can be drawn.
    """
    config, models = loaded.config, loaded.state.models
    _check(grid, hold, repeats)
    if models.skill_size == 0:
        raise UserError(
            f"The agent of this run, {config.agent}, has no skills to hold: name the run of one that has, such as lsp."
        )
    skills, notes = spread_skills(grid[0] * grid[1], models.skill_size), []
    evaluator, world = Evaluator(config), make_environment(config)
    try:
        episodes = evaluator.held_episodes(models, skills, repeats=repeats, steps=hold)
        axes, paths, pictures = position_axes(world), None, None
        if axes:
            paths = held_positions(episodes, hold).reshape(len(skills), repeats, hold + 1, -1)
        else:
            notes.append(f"{config.task} records no position: there are no paths and no distances between ends.")
        view = _still_view(paths, axes) if paths is not None and hasattr(inner_world(world), "render_still") else None
        if film:
            try:
                pictures = _film(world, episodes[::repeats], view)
            except UserError as error:
                notes.append(f"The skills are not filmed. {error}")
        seconds = hold * seconds_per_step(world)
    finally:
        evaluator.close()
        world.close()
    ends = None if paths is None else paths[:, :, -1]
    information = _information(loaded, episodes, np.repeat(skills, repeats, axis=0), repeats)
    if information is None:
        notes.append("Nothing tells these skills apart: no predictor of them was learned, or --hold is below its L.")
    return HeldSkills(
        config=config,
        frames=loaded.counters.frames,
        grid=grid,
        skills=skills,
        seconds=seconds,
        paths=paths,
        axes=axes,
        pictures=pictures,
        still=view is not None,
        spread=None if ends is None or repeats < 2 else spread_of_ends(ends),
        overlap=None if ends is None else overlaps(ends),
        information=information,
        notes=tuple(notes),
    )


def draw(held: HeldSkills) -> Figure:
    """Composited pictures of every skill, then paths, ends, which skills are alike, and which can be told."""
    panels = skill_panels.panels_of(held.paths is not None, held.information is not None)
    rows, columns = held.grid
    tall = skill_panels.strip_height(held.pictures, held.still, WIDTH / columns) * rows
    if not panels and held.pictures is None:
        raise UserError("There is nothing to show of these skills: " + " ".join(held.notes))
    figure = new_figure(WIDTH, tall + PANEL_HEIGHT * bool(panels) + 0.6)
    figure.suptitle(f"{describe(held)}\n{figures_of_merit(held)}", fontsize=10)
    heights = [height for height in (tall, PANEL_HEIGHT * bool(panels)) if height]
    parts = iter(np.atleast_1d(np.array(figure.subfigures(len(heights), 1, height_ratios=heights))))
    colors = skill_panels.skill_colors(held.paths, len(held.skills))
    if held.pictures is not None:
        grid = next(parts).subplots(rows, columns, squeeze=False)
        for number, axes in enumerate(grid.flat):
            skill_panels.draw_strip(axes, held.pictures[number], held.still)
            skill_panels.name_strip(axes, number, held.skills[number], colors[number])
    if panels:
        for axes, panel in zip(next(parts).subplots(1, len(panels), squeeze=False).flat, panels, strict=True):
            panel(axes, held, colors)
    return figure


def record(held: HeldSkills, path: Path) -> Path:
    """A film, `.mp4` or `.gif`, of all skills in their grid, each beginning at the start."""
    if held.pictures is None:
        raise UserError("There is no film of these skills: " + " ".join(held.notes))
    pace = (held.pictures.shape[1] - 1) / held.seconds
    pictures = (tiled(list(held.pictures[:, moment]), held.grid[1]) for moment in range(held.pictures.shape[1]))
    return write_film(path, pictures, pace)


def describe(held: HeldSkills) -> str:
    """What the figure shows."""
    config = held.config
    return (
        f"{len(held.skills)} skills of {config.agent} on {config.task} after {held.frames:,} frames, "
        f"each held for {held.seconds:.1f} s"
    )


def figures_of_merit(held: HeldSkills) -> str:
    """How different the skills are, in one line; empty where nothing is known."""
    figures = []
    if held.spread is not None:
        across, within = held.spread
        ratio = f"{across / within:.1f} times" if within > 0 else "against"
        figures.append(f"ends {across:.2f} m apart, {ratio} the {within:.2f} m within one skill")
    if held.effective is not None:
        figures.append(f"as different as {held.effective:.1f} of {len(held.skills)} distinct behaviours")
    if held.information is not None:
        figures.append(f"log q over marginal {held.information.mean():+.2f} nats")
    return " · ".join(figures)


def _check(grid: tuple[int, int], hold: int, repeats: int) -> None:
    if min(grid) < 1 or grid[0] * grid[1] < 2:
        raise UserError(f"--grid is {grid[0]}x{grid[1]}: show at least two skills, as in 3x3.")
    if hold < 1:
        raise UserError(f"--hold is {hold}: hold each skill for at least 1 agent step.")
    if repeats < 1:
        raise UserError(f"--repeats is {repeats}: hold each skill at least once.")


def _still_view(paths: np.ndarray, axes: tuple[str, ...]) -> tuple[np.ndarray, float]:
    """Centre `[3]` and width (m) of what a still camera must see to see all paths."""
    low, high = paths.min(axis=(0, 1, 2)), paths.max(axis=(0, 1, 2))
    center = np.zeros(3)
    center[["xyz".index(axis) for axis in axes]] = (low + high) / 2
    return center, max(float((high - low).max()) + 2 * ROOM, SMALLEST_SPAN)


def _film(world: RepeatedEnvironment, episodes: Sequence[Episode], view: tuple[np.ndarray, float] | None) -> np.ndarray:
    """Films of episodes from the start of held skills; one that ended early stays at its last picture."""
    chosen = evenly(max(episode.length for episode in episodes), FILM_LENGTH)
    draw = RepeatedEnvironment.render if view is None else lambda world: inner_world(world).render_still(*view)
    films = []
    for episode in episodes:
        film = np.stack(list(replay(world, HELD_START, episode.action, draw, open_start=True)))
        films.append(film[np.minimum(chosen, len(film) - 1)])
    return np.stack(films)


def _information(loaded: LoadedRun, episodes: Sequence[Episode], skills: np.ndarray, repeats: int) -> np.ndarray | None:
    """ln q_χ over the marginal, the mean of each skill's repeats."""
    shortest = min(episode.length for episode in episodes)
    stacked = lambda name: jnp.asarray(np.stack([getattr(episode, name)[:shortest] for episode in episodes]))  # noqa: E731
    batch = Batch._make(map(stacked, Batch._fields))
    log_q_held = jax.jit(learner_of(loaded.config).log_q_held)
    found = log_q_held(loaded.state.models, batch, jnp.asarray(skills), key(0, Stream.EVALUATE))
    return None if found is None else np.asarray(found).reshape(-1, repeats).mean(axis=1)
