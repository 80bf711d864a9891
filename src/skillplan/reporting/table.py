"""Runs as one tidy CSV: a line per logged moment, with what was run and from which commit.

`python -m skillplan.reporting.table results/rover-field.csv runs/rover-*`
"""

import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from skillplan.errors import UserError
from skillplan.training.counters import Counters
from skillplan.training.metrics_log import read_metrics
from skillplan.training.run_directory import RunDirectory

IDENTITY = ("run", "task", "agent", "size", "seed", "commit")


def export(table: Path, runs: Sequence[Path]) -> int:
    """Write the metrics of `runs` into `table`, and return the number of lines; the runs are read line by line."""
    counts = tuple(Counters().as_dict())
    identities, names = {}, set()
    for run in runs:
        identities[run] = identity(run)
        for line in read_metrics(RunDirectory(run).metrics_file):
            names |= line.keys() - set(counts)
    table.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*IDENTITY, *counts, *sorted(names)], lineterminator="\n")
        writer.writeheader()
        for run, known in identities.items():
            for line in read_metrics(RunDirectory(run).metrics_file):
                writer.writerow(known | {name: _short(value) for name, value in line.items()})
                written += 1
    return written


def identity(run: Path) -> dict[str, object]:
    """What a run is, by the names of `IDENTITY`."""
    directory = RunDirectory(run)
    config, _ = directory.read()
    commit = json.loads(directory.config_file.read_text()).get("commit") or "unknown"
    return dict(zip(IDENTITY, (run.name, config.task, config.agent, config.size, config.seed, commit), strict=True))


def _short(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value


def main() -> int:
    """Export the runs that are named on the command line."""
    table, *runs = map(Path, sys.argv[1:])
    try:
        written = export(table, runs)
    except UserError as error:
        print(f"skillplan: {error}", file=sys.stderr)
        return 2
    print(f"{written} lines of {len(runs)} runs are in {table}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
