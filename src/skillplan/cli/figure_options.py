"""What the commands that draw have in common: where results go, which kind of film."""

from pathlib import Path

from skillplan.errors import UserError

FILMS = {"mp4": ".mp4", "gif": ".gif", "none": ""}


def film_suffix(kind: str) -> str:
    """The ending of a film's name; empty where none is wanted."""
    if kind not in FILMS:
        raise UserError(f"--film is {kind!r}: choose from {', '.join(FILMS)}.")
    return FILMS[kind]


def destination(run: Path, out: Path | None) -> Path:
    """The directory of results, which is made; `figures` in the run's unless named."""
    directory = run / "figures" if out is None else out
    if directory.exists() and not directory.is_dir():
        raise UserError(f"--out is {directory}, which is a file: name a directory.")
    directory.mkdir(parents=True, exist_ok=True)
    return directory
