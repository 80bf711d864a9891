"""`skillplan experiment`: a figure of the paper, run by run."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tyro

from skillplan.cli.options import parse
from skillplan.errors import UserError, unknown_name

EXAMPLE = "skillplan experiment rover --seeds 5 --dry-run"


@dataclass(frozen=True)
class ExperimentOptions:
    """Do what is missing of an experiment, in order, resuming where it stopped; without a name, list them all."""

    name: tyro.conf.Positional[str] = ""
    """Which experiment."""
    size: str | None = None
    """Preset of widths and learning settings (the task's default)."""
    seeds: int = 3
    """How many seeds, counted from 0."""
    frames: int | None = None
    """Frames on the task whose curves are drawn (the experiment's own)."""
    source_frames: int | None = None
    """Frames on the task that agents come from (the experiment's own)."""
    out: Path | None = None
    """Directory of all its runs; by default runs/experiments/NAME."""
    dry_run: bool = False
    """Only show the runs, how far each has come, and what would do the same by hand."""


def command(arguments: Sequence[str]) -> int:
    """Run or show an experiment."""
    options = parse(ExperimentOptions, arguments, command="experiment", example=EXAMPLE)
    from skillplan.experiments.figures import EXPERIMENTS
    from skillplan.experiments.runs import planned_runs

    if not options.name:
        width = max(map(len, EXPERIMENTS))
        for name, experiment in EXPERIMENTS.items():
            print(f"{name:<{width}}  {experiment.description}")
        print("\nNext: skillplan experiment rover --dry-run")
        return 0
    if options.name not in EXPERIMENTS:
        raise unknown_name("experiment", options.name, EXPERIMENTS)
    for name, value in (("seeds", options.seeds), ("frames", options.frames), ("source-frames", options.source_frames)):
        if value is not None and value < 1:
            raise UserError(f"--{name} is {value}: give a number above zero.")
    out = options.out or Path("runs") / "experiments" / options.name
    runs = list(
        planned_runs(
            EXPERIMENTS[options.name],
            out,
            size=options.size,
            seeds=options.seeds,
            frames=options.frames,
            source_frames=options.source_frames,
        )
    )
    for number, run in enumerate(runs, start=1):
        done = run.done()
        state = "done" if done >= run.frames else f"{done:,} of {run.frames:,} frames"
        if options.dry_run:
            print(f"{run.path}: {state}\n  {run.command()}")
        elif done < run.frames:
            print(f"Run {number} of {len(runs)}: {run.path} ({state})", file=sys.stderr, flush=True)
            run.run()
    if options.dry_run:
        print(f"\nNext: leave out --dry-run to do what is missing of these {len(runs)} runs.")
    else:
        print(f"All {len(runs)} runs are in {out}. Next: skillplan curves {out}/*-*")
    return 0
