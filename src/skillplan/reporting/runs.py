"""Runs to report on: those below directories, and those in tables of finished experiments."""

import csv
import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from skillplan.config import Config
from skillplan.envs.interface import EnvSpec
from skillplan.errors import UserError
from skillplan.reporting.table import IDENTITY
from skillplan.training.counters import Counters
from skillplan.training.metrics_log import read_metrics
from skillplan.training.run_directory import RunDirectory

RETURN = "evaluation/return"
TAIL = 4096


@dataclass(frozen=True)
class Series:
    """One metric of one run: values `[points]` at increasing frames `[points]`."""

    frames: np.ndarray
    values: np.ndarray

    def __len__(self) -> int:
        return len(self.frames)


@dataclass(frozen=True)
class Run:
    """What is known of one run; what only its directory tells is None for a run of a table."""

    name: str
    task: str
    agent: str
    size: str
    seed: int
    commit: str
    series: Mapping[str, Series]
    """Metrics that were asked for and are there."""
    counts: Mapping[str, float]
    """Frames, agent steps, updates, episodes and seconds of its last line; empty before its first."""
    path: Path | None = None
    table: Path | None = None
    config: Config | None = None
    spec: EnvSpec | None = None
    source: Mapping[str, Any] | None = None
    """Which run it was carried over from, and how."""


@dataclass
class Found:
    """Runs, and sentences about what could not be read."""

    runs: list[Run] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def find_runs(paths: Sequence[Path], metrics: Sequence[str] = (RETURN,)) -> Found:
    """The runs at `paths`: run directories, directories that hold runs at any depth, and tables (`.csv`).

    Lines are read one at a time; only `metrics` are kept. What cannot be read becomes a note, so that the rest is
    shown; where nothing at all can be read the first note is raised as a UserError.
    """
    found, seen = Found(), set[Path]()
    for path in paths:
        try:
            places = list(_places(path))
        except UserError as error:
            found.notes.append(str(error))
            continue
        for place in places:
            if (real := place.resolve()) in seen:
                continue
            seen.add(real)
            try:
                found.runs += (
                    _read_table(place, metrics) if place.is_file() else [read_run(place, metrics, found.notes)]
                )
            except UserError as error:
                found.notes.append(str(error))
    if not found.runs:
        raise UserError(found.notes[0] if found.notes else "Name a run: `skillplan train` makes one.")
    return found


def _places(path: Path) -> Iterator[Path]:
    """Run directories and tables at or below a path."""
    if not path.exists():
        raise UserError(f"There is nothing at {path}: check the path, or start a run with `skillplan train`.")
    if path.is_file():
        if path.suffix != ".csv":
            raise UserError(f"{path} is neither a run nor a table: name a run's directory or a .csv file.")
        yield path
        return
    below = list(_below(path))
    if not below:
        raise UserError(
            f"There is no run in {path}: no directory there holds a config.json, and there is no .csv file."
        )
    yield from below


def _below(directory: Path) -> Iterator[Path]:
    if RunDirectory(directory).config_file.is_file():
        yield directory
        return
    for entry in sorted(directory.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and not entry.is_symlink():
            yield from _below(entry)
        elif entry.suffix == ".csv" and _header(entry) >= {*IDENTITY, "frames"}:
            yield entry


def read_run(path: Path, metrics: Sequence[str], notes: list[str]) -> Run:
    """The run at `path`; adds to `notes` what could not be read of its log."""
    directory = RunDirectory(path)
    config, spec = directory.read()
    content = json.loads(directory.config_file.read_text())
    collected = _Collected(metrics)
    try:
        for line in read_metrics(directory.metrics_file):
            collected.add(line)
    except UnicodeDecodeError:
        notes.append(f"{directory.metrics_file} is damaged: it holds something else than text from some line on.")
    else:
        if unfinished_line(directory.metrics_file):
            notes.append(f"The last line of {directory.metrics_file} is half-written and is left out.")
    return Run(
        name=path.resolve().name,
        task=config.task,
        agent=config.agent,
        size=config.size,
        seed=config.seed,
        commit=content.get("commit") or "unknown",
        series=collected.series(),
        counts=collected.counts,
        path=path,
        config=config,
        spec=spec,
        source=content.get("source"),
    )


def _read_table(path: Path, metrics: Sequence[str]) -> list[Run]:
    """The runs of a table as `skillplan.reporting.table` writes it."""
    lacking = [name for name in (*IDENTITY, "frames") if name not in _header(path)]
    if lacking:
        raise UserError(f"{path} is no table of runs: it lacks the column {lacking[0]!r}.")
    runs: dict[tuple[str, ...], _Collected] = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            identity = tuple(row[name] or "" for name in IDENTITY)
            try:
                runs.setdefault(identity, _Collected(metrics)).add(_numbers(row, metrics))
            except ValueError as error:
                raise UserError(f"{path} is damaged: a line of run {row['run']!r} has {error}.") from None
    if not runs:
        raise UserError(f"{path} holds no runs: it has no line below its header.")
    return [_of_table(path, dict(zip(IDENTITY, identity, strict=True)), lines) for identity, lines in runs.items()]


def _of_table(path: Path, identity: Mapping[str, str], collected: "_Collected") -> Run:
    if not identity["seed"].isdecimal():
        raise UserError(f"{path} is damaged: the seed of run {identity['run']!r} is {identity['seed']!r}.")
    return Run(
        name=identity["run"],
        task=identity["task"],
        agent=identity["agent"],
        size=identity["size"],
        seed=int(identity["seed"]),
        commit=identity["commit"],
        series=collected.series(),
        counts=collected.counts,
        table=path,
    )


def _header(table: Path) -> set[str]:
    try:
        with table.open(newline="") as file:
            return set(next(csv.reader(file), ()))
    except (OSError, UnicodeDecodeError, csv.Error):
        return set()


def _numbers(row: Mapping[str, str | None], metrics: Sequence[str]) -> dict[str, float]:
    numbers = {}
    for name in (*Counters().as_dict(), *metrics):
        if text := row.get(name):
            try:
                numbers[name] = float(text)
            except ValueError:
                raise ValueError(f"{text!r} as {name}") from None
    return numbers


class _Collected:
    """Values of some metrics, gathered line by line in compact arrays."""

    def __init__(self, metrics: Iterable[str]):
        self._columns = {metric: (array("d"), array("d")) for metric in metrics}
        self.counts: dict[str, float] = {}

    def add(self, line: Mapping[str, Any]) -> None:
        frames = line.get("frames")
        if frames is None:
            return
        self.counts = {name: float(line[name]) for name in Counters().as_dict() if line.get(name) is not None}
        for metric, (at, values) in self._columns.items():
            value = line.get(metric)
            if value is not None and np.isfinite(value):
                at.append(frames)
                values.append(value)

    def series(self) -> dict[str, Series]:
        """Sorted by frames; of several lines at the same frames the last one counts."""
        done = {}
        for metric, (at, values) in self._columns.items():
            if at:
                frames, last = np.unique(np.array(at)[::-1], return_index=True)
                done[metric] = Series(frames, np.array(values)[::-1][last])
        return done


def unfinished_line(metrics_file: Path) -> bool:
    """Whether the last line of a metrics file was cut off while it was written."""
    if not metrics_file.is_file() or metrics_file.stat().st_size == 0:
        return False
    with metrics_file.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - TAIL))
        tail = file.read()
    last = tail.rstrip(b"\n").rpartition(b"\n")[2]
    if tail.endswith(b"\n"):
        return not last.endswith(b"}")
    try:
        json.loads(last)
    except ValueError:
        return True
    return False
