"""`skillplan trajectories`: where the agents of runs went."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from skillplan.cli.options import parse

EXAMPLE = "skillplan trajectories runs/cove-lsp runs/cove-dreamer --frames 40000"


@dataclass(frozen=True)
class TrajectoriesOptions:
    """Draw root paths of runs side by side from above, with dots where a new skill begins, obstacles and target."""

    runs: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUN…")]
    """Directories of the runs."""
    phase: Literal["training", "evaluation"] = "training"
    """Episodes of training, coloured by time, or noise-free ones of the newest checkpoint."""
    episodes: int | None = None
    """How many of each run at most (100 of training, evenly over time; 10 of evaluation)."""
    frames: int | None = None
    """Of training: only episodes that began before this frame."""
    out: Path | None = None
    """Directory of the results; by default figures in the first run's."""


def command(arguments: Sequence[str]) -> int:
    """Read or play, and draw."""
    options = parse(TrajectoriesOptions, arguments, command="trajectories", example=EXAMPLE)
    from skillplan.cli.figure_options import destination
    from skillplan.errors import UserError
    from skillplan.reporting import trajectories
    from skillplan.training.run_directory import RunDirectory

    if not options.runs:
        raise UserError("Name the directory of at least one run, as in `skillplan trajectories runs/…`.")
    for run in options.runs:  # all are looked at before the first plays
        RunDirectory(run).read()
    picture = destination(options.runs[0], options.out) / "trajectories.png"
    gathered = [
        trajectories.gather(run, phase=options.phase, episodes=options.episodes, frames=options.frames)
        for run in options.runs
    ]
    for note in dict.fromkeys(note for run in gathered for note in run.notes):
        print(f"skillplan: {note}", file=sys.stderr)
    figure = trajectories.draw(gathered)
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture)
    for run in gathered:
        print(trajectories.describe(run))
    print(f"See {picture}. Next: skillplan skills {options.runs[0]}")
    return 0
