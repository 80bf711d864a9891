"""`skillplan experiment`: a figure of the paper, run by run."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from skillplan.cli.options import parse
from skillplan.errors import UserError, unknown_name

if TYPE_CHECKING:
    from skillplan.experiments.runs import PlannedRun

EXAMPLE = "skillplan experiment rover --seeds 5 --dry-run"


@dataclass(frozen=True)
class ExperimentOptions:
    """Do what is missing of an experiment, in order, resuming where it stopped; without a name, list them all."""

    name: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="NAME")] = ""
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
    if options.source_frames is not None and EXPERIMENTS[options.name].source is None:
        raise UserError(f"{options.name} has no source task: leave out --source-frames.")
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
    if options.dry_run:
        for run in runs:
            print(f"{run.path}: {_state(run)}\n  {run.command()}")
        print(f"\nNext: leave out --dry-run to do what is missing of these {len(runs)} runs.")
        return 0
    try:
        failed = _do(runs)
    except KeyboardInterrupt:
        print("skillplan: stopped; the same command goes on from there.", file=sys.stderr)
        return 130
    if failed:
        print(f"skillplan: {len(failed)} of {len(runs)} runs failed: {', '.join(map(str, failed))}.", file=sys.stderr)
        return 1
    print(f"All {len(runs)} runs are in {out}. Next: skillplan curves {out}/*-*")
    return 0


def _state(run: "PlannedRun") -> str:
    done = run.done()
    return "done" if done >= run.frames else f"{done:,} of {run.frames:,} frames"


def _do(runs: "list[PlannedRun]") -> "list[Path]":
    """Do what is missing, in order; one that fails is told, and so is what would have followed from it."""
    from skillplan.envs.workers import WorkerError
    from skillplan.training.loop import NonFiniteError

    states = [_state(run) for run in runs]  # all are looked at before the first begins
    failed: list[Path] = []
    for number, (run, state) in enumerate(zip(runs, states, strict=True), start=1):
        if state == "done":
            continue
        if run.source in failed:
            print(f"Run {number} of {len(runs)}: {run.path} is left out, for its source failed.", file=sys.stderr)
            failed.append(run.path)
            continue
        print(f"Run {number} of {len(runs)}: {run.path} ({state})", file=sys.stderr, flush=True)
        try:
            run.run()
        except (NonFiniteError, WorkerError) as error:
            print(f"skillplan: {error}", file=sys.stderr)
            failed.append(run.path)
    return failed
