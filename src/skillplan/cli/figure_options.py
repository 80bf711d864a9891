"""What the commands that draw have in common: where results go, which kind of film."""

import os
from pathlib import Path

from skillplan.errors import UserError

FILMS = {"mp4": ".mp4", "gif": ".gif", "none": ""}


def film_suffix(kind: str) -> str:
    """The ending of a film's name; empty where none is wanted."""
    if kind not in FILMS:
        raise UserError(f"--film is {kind!r}: choose from {', '.join(FILMS)}.")
    return FILMS[kind]


def destination(run: Path, out: Path | None) -> Path:
    """The directory of results: `figures` in the run's unless named. It need not exist, but can be made."""
    directory = run / "figures" if out is None else out
    check_directory(directory)
    return directory


def check_directory(directory: Path) -> None:
    """Refuse, before any work is done, a directory of results that cannot be made or written to."""
    there = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        reason = "may not be written to" if there.is_dir() else "is a file"
        raise UserError(f"Cannot write to {directory}, for {there} {reason}: give another --out.")
