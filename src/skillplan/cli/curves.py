"""`skillplan curves`: learning curves of runs, compared."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from skillplan.cli.options import parse
from skillplan.errors import UserError
from skillplan.reporting.statistic import Statistic

EXAMPLE = "skillplan curves runs/rover-lsp-0 runs/rover-dreamer-0 --reach 150 250 --out rover.png"
FORMATS = (".png", ".pdf", ".svg")


@dataclass(frozen=True)
class CurvesOptions:
    """Draw learning curves by frames, one panel per task, with bootstrap intervals over runs; write them as CSV too."""

    runs: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUN…")]
    """Run directories, directories that hold runs, and tables of runs (.csv)."""
    out: Path = Path("curves.png")
    """The figure, .png, .pdf or .svg; its tables are written beside it."""
    metric: str = "evaluation/return"
    """What is drawn; docs/metrics.md lists them."""
    statistic: Statistic = "iqm"
    """Interquartile mean of the runs, or their mean; with fewer than four runs they are the same."""
    reach: tuple[float, ...] = ()
    """Returns whose frames-to-reach are compared; by default halfway from the floor to the highest curve."""
    baseline: str | None = None
    """The curve against which ratios are taken; by default dreamer, or else the first."""
    references: bool = False
    """Show other people's published scores too, as far as the curves reach or, if they all come later, the earliest."""


def command(arguments: Sequence[str]) -> int:
    """Draw and write."""
    options = parse(CurvesOptions, arguments, command="curves", example=EXAMPLE)
    if not options.runs:
        raise UserError("Name at least one run, directory or table: `skillplan curves runs/`.")
    if options.out.suffix not in FORMATS:
        raise UserError(f"--out is {options.out}: end it in {', '.join(FORMATS)}.")
    curves_table = options.out.with_suffix(".csv")
    reach_table = options.out.with_name(f"{options.out.stem}-reach.csv")
    for table in (curves_table, reach_table):
        if table.resolve() in {path.resolve() for path in options.runs}:
            raise UserError(f"--out is {options.out}, whose table would replace {table}: give another name.")
    from skillplan.reporting.comparison import gather
    from skillplan.reporting.curves import draw, write_curves, write_reaches
    from skillplan.reporting.runs import find_runs
    from skillplan.reporting.words import reach_sentence

    comparison = gather(
        find_runs(options.runs, (options.metric,)),
        metric=options.metric,
        statistic=options.statistic,
        levels=options.reach,
        baseline=options.baseline,
        references=options.references,
    )
    for note in comparison.notes:
        print(f"Note: {note}", file=sys.stderr)
    if not comparison.panels:
        raise UserError(f"None of these runs has {options.metric} yet: wait for it, or choose another --metric.")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    draw(comparison).savefig(options.out, dpi=150)
    tables = [curves_table]
    write_curves(comparison, curves_table)
    if any(panel.reaches for panel in comparison.panels):
        tables.append(reach_table)
        write_reaches(comparison, reach_table)
    for panel in comparison.panels:
        for row in panel.reaches:
            print(reach_sentence(panel, row, comparison.baseline))
    print(f"Open {options.out}; its numbers are in {' and '.join(map(str, tables))}.", end=" ")
    print(f"Next: skillplan report {' '.join(map(str, options.runs))}")
    return 0
