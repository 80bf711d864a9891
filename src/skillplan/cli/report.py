"""`skillplan report`: all that is known of runs, on one page."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from skillplan.cli.options import parse
from skillplan.errors import UserError

EXAMPLE = "skillplan report runs/rover-lsp-0 runs/rover-dreamer-0 --out rover.html"


@dataclass(frozen=True)
class ReportOptions:
    """Write one HTML page about runs: summary, curves, skills, trajectories, plans, videos, settings and commands.

    The page is one file that opens without a network.
    """

    runs: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUN…")]
    """Run directories, directories that hold runs, and tables of runs (.csv)."""
    out: Path = Path("report.html")
    """The page."""
    play: int = 2
    """How many runs play, for skills, plans and films: the first of each curve, in order; 0 is quick."""


def command(arguments: Sequence[str]) -> int:
    """Write the page."""
    options = parse(ReportOptions, arguments, command="report", example=EXAMPLE)
    if not options.runs:
        raise UserError("Name at least one run, directory or table: `skillplan report runs/`.")
    if options.out.suffix not in (".html", ".htm"):
        raise UserError(f"--out is {options.out}: end it in .html.")
    if options.play < 0:
        raise UserError(f"--play is {options.play}: give zero or more.")
    from skillplan.cli.figure_options import check_directory
    from skillplan.reporting.report import METRICS, build
    from skillplan.reporting.runs import find_runs
    from skillplan.training.run_directory import write_atomically

    found = find_runs(options.runs, METRICS)
    check_directory(options.out.parent)
    content = build(found, play=options.play)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(options.out, content)
    print(f"Open {options.out} ({len(content) / 1e6:.1f} MB), a page about {len(found.runs)} runs.", end=" ")
    print(f"Next: skillplan curves {' '.join(map(str, options.runs))}")
    return 0
