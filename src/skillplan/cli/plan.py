"""`skillplan plan`: what a run's planner and world model think."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from skillplan.cli.options import parse

EXAMPLE = "skillplan plan runs/rover --at 0 40 90"


@dataclass(frozen=True)
class PlanOptions:
    """Show the planner's populations in skill space, what it imagines of its plan, and what then happened.

    Beside it goes what the world model foresees of known actions, against the truth. Of agents that do not plan this
    is all there is.
    """

    run: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
    """Directory of the run."""
    episode: int = 0
    """Number of the noise-free evaluation episode."""
    at: tuple[int, ...] = ()
    """Agent steps at which to look; by default evenly over the first --steps."""
    steps: int = 100
    """Agent steps that are looked at and filmed."""
    task: str | None = None
    """Another task with the same observations and actions; by default the run's own."""
    film: str = "mp4"
    """Kind of the film: mp4, gif or none."""
    out: Path | None = None
    """Directory of the results; by default figures in the run's."""


def command(arguments: Sequence[str]) -> int:
    """Think again, draw, film."""
    options = parse(PlanOptions, arguments, command="plan", example=EXAMPLE)
    from skillplan.cli.figure_options import destination, film_suffix

    suffix = film_suffix(options.film)
    from skillplan.reporting import open_loop, plan
    from skillplan.training.restore import in_world_of, load_run

    loaded = in_world_of(load_run(options.run), options.task)
    out = destination(options.run, options.out)
    foreseen = open_loop.gather(loaded, episode=options.episode)
    plans = None
    if plan.has_planner(loaded):
        plans = plan.gather(loaded, episode=options.episode, at=options.at or None, steps=options.steps)
    else:
        print(f"skillplan: {loaded.config.agent} does not plan; its world model alone is shown.", file=sys.stderr)
    out.mkdir(parents=True, exist_ok=True)
    written = [out / "open-loop.png"]
    open_loop.draw(foreseen).savefig(written[0])
    if plans is not None:
        written.append(out / "plan.png")
        plan.draw(plans, moments=len(options.at) or 3).savefig(written[-1])
        if suffix:
            written.append(plan.record(plans, out / f"plan{suffix}"))
        print(f"{plan.describe(plans)}: {len(plans.thoughts)} plans.")
    print(f"Foreseen from actions alone: {open_loop.figures_of_merit(foreseen)}.")
    print(f"See {', '.join(map(str, written))}. Next: skillplan video {options.run}")
    return 0
