"""`skillplan view`: a picture or a film of a task, or of an agent in it."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from skillplan.cli.options import parse
from skillplan.cli.world import WorldOptions
from skillplan.envs.interface import Environment, Step
from skillplan.envs.wrapper import RepeatedEnvironment
from skillplan.errors import UserError

EXAMPLE = "skillplan view rover-cove --policy runs/rover --out cove.mp4"
PICTURES = (".png",)
Policy = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class View:
    """Draw a task, or an agent in it: a .png shows one moment, an .mp4 or .gif an episode in its own time."""

    task: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="TASK")]
    """A task of the list, dm:DOMAIN-TASK, gym:ID or gym:MODULE:ID."""
    out: Path | None = None
    """File to write, .png, .mp4 or .gif (TASK.png)."""
    policy: str = "random"
    """Who acts: random, zero, or the directory of a run, whose agent then acts without noise."""
    steps: int | None = None
    """Agent steps to play: by default none for a .png, which then shows the start, and the whole episode for a film."""
    seed: int = 0
    """Number of the reset, and of the random actions."""
    camera: int | None = None
    """Number of the model's camera to look through, where MuJoCo draws (the agent's own)."""
    span: float | None = None
    """Instead of a camera that follows, one that stands still and shows so many metres of ground around the origin."""
    environment: WorldOptions = WorldOptions()


def command(arguments: Sequence[str]) -> int:
    """Play and draw, and say where the file is."""
    options = parse(View, arguments, command="view", example=EXAMPLE)
    from skillplan.reporting.film import SUFFIXES, write_film
    from skillplan.reporting.world import seconds_per_step

    out = options.out or Path(f"{options.task.replace(':', '-').replace('/', '-')}.png")
    if out.suffix not in (*PICTURES, *SUFFIXES):
        raise UserError(f"Cannot write {out}: let its name end in {', '.join((*PICTURES, *SUFFIXES))}.")
    for name, value in (("steps", options.steps), ("seed", options.seed), ("camera", options.camera)):
        if value is not None and value < 0:
            raise UserError(f"--{name} is {value}: give zero or more.")
    if options.span is not None and not 0 < options.span < np.inf:
        raise UserError(f"--span is {options.span:g}: give a number of metres above zero.")
    world, policy = _world_and_policy(options)
    try:
        draw = _drawing(world, options)
        pictures, total, taken = _play(world, policy, draw, options, every=out.suffix in SUFFIXES)
        rate = 1 / seconds_per_step(world)
    finally:
        world.close()
    if out.suffix in SUFFIXES:
        write_film(out, pictures, rate)
    else:
        _write_picture(out, pictures[-1])
    print(
        f"{options.task}, seed {options.seed}, policy {options.policy}: return {total:.1f} after {taken} agent steps."
    )
    print(f"Open {out}. Next: skillplan train {options.task}")
    return 0


def _play(
    world: Environment, policy: Policy, draw: Callable[[], np.ndarray], options: View, *, every: bool
) -> tuple[list[np.ndarray], float, int]:
    """Pictures of every agent step, or of the last alone; the return so far, and the steps taken."""
    limit = options.steps if options.steps is not None else None if every else 0
    step: Step = world.reset(options.seed)
    pictures, total, taken = [draw()] if every else [], 0.0, 0
    while not step.is_last and (limit is None or taken < limit):
        step = world.step(policy(step.observation))
        total, taken = total + step.reward, taken + 1
        if every:
            pictures.append(draw())
    return pictures or [draw()], total, taken


def _world_and_policy(options: View) -> tuple[RepeatedEnvironment, Policy]:
    if options.policy in ("random", "zero"):
        world = options.environment.make(options.task)
        size = world.spec.action_size
        if options.policy == "zero":
            return world, lambda observation: np.zeros(size)
        draw = np.random.default_rng(options.seed)
        return world, lambda observation: draw.uniform(-1, 1, size)
    run = Path(options.policy)
    if not run.exists():
        raise UserError(f"--policy is {options.policy!r}: give random, zero or the directory of a run.")
    if options.environment != WorldOptions():
        raise UserError("A run brings the settings of its world along: leave out --environment… beside --policy RUN.")
    import skillplan
    from skillplan.training.evaluate import make_environment
    from skillplan.training.run_directory import check_same_world

    agent = skillplan.load(run, seed=options.seed)
    world = make_environment(dataclasses.replace(agent.config, task=options.task))
    try:
        check_same_world(agent.spec, world.spec)
    except UserError:
        world.close()
        raise
    return world, agent.act


def _drawing(world: RepeatedEnvironment, options: View) -> Callable[[], np.ndarray]:
    """What draws the world as it is asked for."""
    from skillplan.envs.drawn import DrawnEnv
    from skillplan.reporting.world import inner_world

    inner = inner_world(world)
    for name in ("camera", "span"):
        if (value := getattr(options, name)) is not None and not isinstance(inner, DrawnEnv):
            raise UserError(f"--{name} is {value:g}, but {options.task} has no cameras to choose from: leave it out.")
    if (span := options.span) is not None:
        if options.camera is not None:
            raise UserError("--camera and --span choose different cameras: leave one out.")
        return lambda: inner.render_still(np.zeros(3), span)
    if options.camera is not None:
        if options.camera >= inner.cameras:
            raise UserError(
                f"--camera is {options.camera}, but the model of {options.task} has cameras 0 to {inner.cameras - 1}."
            )
        inner.render_camera = options.camera
    return world.render


def _write_picture(path: Path, picture: np.ndarray) -> None:
    import imageio.v2 as imageio

    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial.png")
    imageio.imwrite(partial, picture)
    partial.replace(path)
