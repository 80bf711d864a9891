"""The log of a run: one JSON line per episode or evaluation, and the same numbers for TensorBoard."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tensorboardX import SummaryWriter

from skillplan.errors import UserError
from skillplan.training.counters import Counters


def read_metrics(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a metrics file that are whole, one at a time; what is no object of numbers is passed over."""
    if not path.is_file():
        return
    with path.open() as file:
        for line in file:
            try:
                content = json.loads(line)
            except json.JSONDecodeError:
                continue
            if isinstance(content, dict) and all(isinstance(item, int | float | None) for item in content.values()):
                yield content


class MetricsLog:
    """Appends lines that carry the four counts, the seconds, and named metrics."""

    def __init__(self, path: Path, tensorboard: Path):
        """Append to the file at `path`, and write TensorBoard events beside it."""
        self._file = path.open("a")
        self._events = SummaryWriter(str(tensorboard), flush_secs=10)

    def write(self, counters: Counters, metrics: dict[str, float]) -> None:
        """One line; numbers that are not finite are written as null."""
        line = counters.as_dict() | {name: _json_number(value) for name, value in metrics.items()}
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()
        for name, value in metrics.items():
            self._events.add_scalar(name, value, counters.frames)

    def close(self) -> None:
        """Finish both logs."""
        self._file.close()
        self._events.close()


def cut_back(path: Path, episodes: int) -> None:
    """Drop the lines that were written after `episodes` episodes, so that a resumed run can write them again."""
    try:
        lines = [json.dumps(line) + "\n" for line in read_metrics(path) if line["episodes"] <= episodes]
    except (UnicodeDecodeError, KeyError, TypeError) as error:
        raise UserError(
            f"{path} is damaged ({type(error).__name__}: {error}): restore it from a copy, or move it away to go on "
            "without its lines."
        ) from error
    partial = path.with_name(path.name + ".partial")
    partial.write_text("".join(lines))
    partial.replace(path)


def _json_number(value: float) -> float | None:
    value = float(value)
    return value if math.isfinite(value) else None
