"""How much of its world an agent saw: cells visited, episodes past a cove's wall, episodes that reached the target.

`python -m skillplan.reporting.coverage results/rover-cove-coverage.csv runs/cove-* --episodes 30`
"""

import argparse
import csv
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from skillplan.envs.quadruped import layouts as quadruped
from skillplan.envs.rover import layouts as rover
from skillplan.errors import UserError
from skillplan.replay.episode import Episode, load
from skillplan.replay.restore import episode_files
from skillplan.reporting.table import identity
from skillplan.training.run_directory import RunDirectory

CELL = 0.25  # m, width of the squares into which the ground is divided
WALLS = {"rover-cove": rover.COVE_WALL_X, "quadruped-cove": quadruped.COVE_WALL_X}
"""x (m) of the wall that the straight way to the target leads into."""


class Coverage(NamedTuple):
    """What the episodes of one run add up to."""

    episodes: int
    hits: int
    """Episodes with any reward: in a cove, those that reached the target."""
    first_hit: int | None
    """Number of the first of them, counted from 1."""
    past_wall: int | None
    """Episodes that were ever beyond the cove's wall; None for a task without one."""
    cells: int
    """Squares of the ground, a quarter of a metre wide, that any episode entered."""
    cells_per_episode: float


def cells_of(path: np.ndarray) -> set[tuple[int, int]]:
    """The squares that positions `[…, 2]` are in."""
    return set(map(tuple, np.floor(path.reshape(-1, 2) / CELL).astype(int).tolist()))


def coverage(episodes: Iterable[Episode], wall: float | None) -> Coverage:
    """Add up episodes, which are looked at one by one; their record must hold a `position` `[…, 2]`."""
    hits: list[bool] = []
    past = 0
    seen: set[tuple[int, int]] = set()
    in_each: list[int] = []
    for episode in episodes:
        path = episode.record["position"].reshape(-1, 2)
        cells = cells_of(path)
        seen |= cells
        in_each.append(len(cells))
        hits.append(bool((episode.reward > 0).any()))
        past += wall is not None and bool((path[:, 0] > wall).any())
    return Coverage(
        episodes=len(hits),
        hits=sum(hits),
        first_hit=hits.index(True) + 1 if any(hits) else None,
        past_wall=None if wall is None else past,
        cells=len(seen),
        cells_per_episode=float(np.mean(in_each)) if in_each else 0.0,
    )


def export(table: Path, runs: Sequence[Path], episodes: int | None = None) -> None:
    """One line per run: what it is, and the coverage of all its episodes or of the first `episodes`."""
    table.parent.mkdir(parents=True, exist_ok=True)
    with table.open("w", newline="") as file:
        writer = None
        for run in runs:
            directory = RunDirectory(run)
            known = identity(run)
            files = episode_files(directory.episodes)[:episodes]
            found = coverage(map(load, files), WALLS.get(str(known["task"])))
            row = known | found._asdict()
            writer = writer or csv.DictWriter(file, list(row), lineterminator="\n")
            if file.tell() == 0:
                writer.writeheader()
            writer.writerow(row)


def main() -> int:
    """Export the runs that are named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m skillplan.reporting.coverage", description=__doc__)
    parser.add_argument("table", type=Path, help="the CSV file to write")
    parser.add_argument("runs", type=Path, nargs="+", help="directories of runs")
    parser.add_argument("--episodes", type=int, help="count the first so many of each run alone, for equal terms")
    options = parser.parse_args()
    try:
        export(options.table, options.runs, options.episodes)
    except UserError as error:
        print(f"skillplan: {error}", file=sys.stderr)
        return 2
    print(f"The coverage of {len(options.runs)} runs is in {options.table}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
