"""`skillplan skills`: what the skills of a run do."""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from skillplan.cli.options import parse
from skillplan.errors import UserError

EXAMPLE = "skillplan skills runs/rover --grid 3x3 --hold 40"


@dataclass(frozen=True)
class Skills:
    """Hold several skills from one start and show what they do: pictures, a film, paths, and how different they are."""

    run: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
    """Directory of the run."""
    grid: str = "3x3"
    """Rows and columns of skills."""
    hold: int = 40
    """Agent steps for which each is held."""
    repeats: int = 4
    """Times that each is held; the first is filmed."""
    film: str = "mp4"
    """Kind of the film: mp4, gif or none."""
    out: Path | None = None
    """Directory of the results; by default figures in the run's."""


def command(arguments: Sequence[str]) -> int:
    """Play, draw, film."""
    options = parse(Skills, arguments, command="skills", example=EXAMPLE)
    from skillplan.cli.figure_options import destination, film_suffix

    grid = _grid(options.grid)
    suffix = film_suffix(options.film)
    from skillplan.reporting import skills
    from skillplan.training.restore import load_run

    loaded = load_run(options.run)
    out = destination(options.run, options.out)
    held = skills.gather(loaded, grid=grid, hold=options.hold, repeats=options.repeats, film=True)
    for note in held.notes:
        print(f"skillplan: {note}", file=sys.stderr)
    out.mkdir(parents=True, exist_ok=True)
    written = [out / "skills.png"]
    skills.draw(held).savefig(written[0])
    if suffix and held.pictures is not None:
        written.append(skills.record(held, out / f"skills{suffix}"))
    print(f"{skills.describe(held)}: {skills.figures_of_merit(held) or 'nothing to compare'}.")
    print(f"See {' and '.join(map(str, written))}. Next: skillplan plan {options.run}")
    return 0


def _grid(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)[x×](\d+)", text.strip())
    if match is None:
        raise UserError(f"--grid is {text!r}: give rows and columns, as in 3x3.")
    return int(match[1]), int(match[2])
