"""The episodes of a run on disk, brought back to what they were at a checkpoint."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from skillplan.errors import UserError
from skillplan.replay.episode import PARTIAL_SUFFIX, Episode, load
from skillplan.replay.store import ReplayStore

_NAME = re.compile(r"(?P<index>\d{6,})-(?P<length>\d+)\.npz")


def episode_files(directory: Path) -> list[Path]:
    """The episode files of a run in the order in which they were played; none where there is no directory."""
    files: dict[int, Path] = {}
    for path in sorted(directory.iterdir()) if directory.is_dir() else ():
        match = _NAME.fullmatch(path.name)
        if match is None:
            continue
        index = int(match["index"])
        if index in files:
            raise UserError(
                f"{directory} holds two episodes {index}, {files[index].name} and {path.name}: "
                "remove the one that is not of this run."
            )
        files[index] = path
    return [files[index] for index in sorted(files)]


def episode_length(path: Path) -> int:
    """Indices stored in an episode's file, T+1, from its name."""
    return _number(path, "length")


def first_episodes(directory: Path, episodes: int) -> list[Path]:
    """The files of a run's first `episodes` in order; where one is missing, UserError names it."""
    files = {_number(path, "index"): path for path in episode_files(directory)}
    missing = next((index for index in range(episodes) if index not in files), None)
    if missing is not None:
        raise UserError(
            f"Episode {missing} is missing from {directory}, of which the checkpoint needs the first {episodes}: "
            "restore its file from a copy, or start a new run."
        )
    return [files[index] for index in range(episodes)]


def truncate(directory: Path, episodes: int) -> list[Path]:
    """Cut a run's episodes back to its first `episodes` and return their files in order.

    What was written later, or not to the end, is deleted. Where one of the first is missing, UserError names it and
    nothing is deleted.
    """
    if episodes < 0:
        raise ValueError(f"Cannot keep {episodes} episodes.")
    kept = first_episodes(directory, episodes)
    # The last one first: a process killed in between leaves a run that can still be cut back.
    for path in reversed(episode_files(directory)[episodes:]):
        path.unlink()
    for path in directory.glob(f"*.npz{PARTIAL_SUFFIX}"):
        path.unlink()
    return kept


def refill(
    store: ReplayStore, files: Sequence[Path], to_store: Callable[[Episode], Episode] = lambda episode: episode
) -> None:
    """Fill an empty store as if the episodes in `files` had been added one by one, each as `to_store` makes it.

    Only those that would still be in it are read: the longest run of newest ones that fits.
    """
    if store.episodes:
        raise ValueError(f"Only an empty store can be refilled; this one holds {store.episodes} episodes.")
    steps, first = 0, len(files)
    # The newest is always tried, so that one which does not fit is refused by the store.
    while first > 0 and (steps == 0 or steps + _number(files[first - 1], "length") <= store.capacity):
        first -= 1
        steps += _number(files[first], "length")
    for path in files[first:]:
        store.add(to_store(load(path)))


def _number(path: Path, part: str) -> int:
    match = _NAME.fullmatch(path.name)
    if match is None:
        raise ValueError(f"{path} is not named like an episode, `INDEX-LENGTH.npz`.")
    return int(match[part])
