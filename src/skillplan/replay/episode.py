"""An episode: what an agent saw, did and was paid, kept on disk for as long as the run."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np

from skillplan.errors import UserError

PARTIAL_SUFFIX = ".partial"
"""What a file is called while it is being written; one that is left over belongs to a process that was killed."""

_RECORD = "record/"
_AGENT_ARRAYS = ("observation", "action", "reward", "is_first", "is_terminal")


@dataclass(frozen=True, eq=False)
class Episode:
    """One episode of T agent steps as T+1 indices.

    Index t holds observation t, the action that led to it and the reward received with it.
    Index 0 is the reset: nothing led to it, so its action and reward are zero and only there is `is_first` True.
    Raises ValueError, naming the array, when this does not hold.
    """

    observation: np.ndarray
    """`[T+1, …]`, float32 features or uint8 pixels."""
    action: np.ndarray
    """`[T+1, action_size]` float32."""
    reward: np.ndarray
    """`[T+1]` float32, summed over the repeated frames."""
    is_first: np.ndarray
    """`[T+1]` bool."""
    is_terminal: np.ndarray
    """`[T+1]` bool; only the last can be True, and is False where a time limit ended the episode."""
    frames: int
    """Frames the episode took: at least one per agent step."""
    record: dict[str, np.ndarray] = field(default_factory=dict)
    """Values the agent never sees: `[T+1, action_repeat, …]` per frame, or `[T+1, …]` per agent step."""

    def __post_init__(self) -> None:
        """Refuse an episode that would teach the agent something that did not happen."""
        _check(self.observation.ndim >= 2, "observation", f"has shape {self.observation.shape}, not [T+1, …]")
        length = len(self.observation)
        _check(length >= 2, "observation", f"has length {length}, but an episode is a reset and at least one step")
        _check(self.observation.dtype in (np.float32, np.uint8), "observation", f"is {self.observation.dtype}")
        _check(self.action.ndim == 2, "action", f"has shape {self.action.shape}, not [T+1, action_size]")
        for name, dtype in (("action", np.float32), ("reward", np.float32), ("is_first", bool), ("is_terminal", bool)):
            array: np.ndarray = getattr(self, name)
            _check(array.dtype == dtype, name, f"is {array.dtype}, not {np.dtype(dtype)}")
            _check(array.shape[:1] == (length,), name, f"has shape {array.shape} beside {length} observations")
            _check(name == "action" or array.ndim == 1, name, f"has shape {array.shape}, not [T+1]")
        for name in ("observation", "action", "reward"):
            finite = np.isfinite(getattr(self, name)).reshape(length, -1).all(axis=1)
            _check(finite.all(), name, f"is not finite at index {int(np.argmin(finite))}")
        _check(not self.action[0].any(), "action", f"starts with {self.action[0]}, but nothing led to a reset")
        _check(self.reward[0] == 0, "reward", f"starts with {self.reward[0]}, but a reset pays nothing")
        _check(self.is_first[0] and not self.is_first[1:].any(), "is_first", "must be True at index 0 alone")
        _check(not self.is_terminal[:-1].any(), "is_terminal", "can be True only at the last index")
        _check(self.frames >= length - 1, "frames", f"is {self.frames}, fewer than {length - 1} agent steps")
        for name, array in self.record.items():
            _check(
                array.shape[:1] == (length,), _RECORD + name, f"has shape {array.shape} beside {length} observations"
            )
            _check(array.dtype.kind in "biuf", _RECORD + name, f"is {array.dtype}, not numbers")

    @property
    def length(self) -> int:
        """Indices stored, T+1: one more than agent steps."""
        return len(self.observation)


def save(episode: Episode, directory: Path, index: int) -> Path:
    """Write an episode as `{index:06d}-{length}.npz`: either the whole file appears or none."""
    if index < 0:
        raise ValueError(f"An episode's index counts from 0; it cannot be {index}.")
    # What must be there comes last: damage to the archive's index that hides its end is then always noticed.
    arrays = {_RECORD + name: array for name, array in episode.record.items()}
    arrays |= {name: getattr(episode, name) for name in _AGENT_ARRAYS}
    arrays |= {"frames": np.asarray(episode.frames, np.int64)}
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{index:06d}-{episode.length}.npz"
    partial = path.with_name(path.name + PARTIAL_SUFFIX)
    try:
        with partial.open("wb") as file:
            _write(file, arrays)
            file.flush()
            # Without this a crash of the machine could leave the final name on a file without its contents.
            os.fsync(file.fileno())
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    return path


def load(path: Path) -> Episode:
    """Read an episode that `save` wrote, equal to it bit by bit; raises UserError where that is impossible."""
    try:
        # Opened here because NumPy forgets to close a damaged one.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            # Every entry is read, and so its checksum compared; one that has lost its name must not pass for absent.
            arrays = {name: archive[name] for name in archive.files}
        frames = int(arrays.pop("frames"))
        agent = {name: arrays.pop(name) for name in _AGENT_ARRAYS}
        unknown = [name for name in arrays if not name.startswith(_RECORD)]
        if unknown:
            raise ValueError(f"no episode has arrays named {', '.join(unknown)}")
        record = {name.removeprefix(_RECORD): array for name, array in arrays.items()}
        return Episode(**agent, frames=frames, record=record)
    # All that zipfile and NumPy's reader were seen to raise when bytes of a file are lost or altered.
    except (OSError, EOFError, BadZipFile, KeyError, ValueError, TypeError, NotImplementedError, RuntimeError) as error:
        raise _unreadable(path, error) from error


def load_record(path: Path, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Those of `names` that an episode's file records, and nothing else of it; UserError where it cannot be read."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return {name: archive[_RECORD + name] for name in names if _RECORD + name in archive.files}
    except (OSError, EOFError, BadZipFile, KeyError, ValueError, TypeError, NotImplementedError, RuntimeError) as error:
        raise _unreadable(path, error) from error


def _write(file: BinaryIO, arrays: dict[str, np.ndarray]) -> None:
    # As np.savez does, whose `allow_pickle` our oldest NumPy would take for one more array.
    with ZipFile(file, "w", ZIP_STORED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def _unreadable(path: Path, error: Exception) -> UserError:
    what = "missing" if isinstance(error, FileNotFoundError) else f"damaged ({type(error).__name__}: {error})"
    return UserError(f"Episode file {path} is {what}: restore it from a copy, or start a new run.")


def _check(holds: bool | np.bool, name: str, trouble: str) -> None:
    if not holds:
        raise ValueError(f"Episode array {name!r} {trouble}.")
