"""What a person sees while a run goes on: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from skillplan.training.counters import Counters

SECONDS_BETWEEN_LINES = 10.0


class Display:
    """Shows frames, return, rates and the time left."""

    def __init__(self, frames: int, done: int = 0):
        """Count up to `frames`, of which `done` are there already."""
        self._goal, self._began, self._done = frames, time.monotonic(), done
        self._last_line = 0.0
        self._console = Console(stderr=True)
        self._bar: Progress | None = None
        if self._console.is_terminal:
            self._bar = Progress(
                TextColumn("{task.fields[frames]}"),
                BarColumn(bar_width=None),
                TaskProgressColumn(),
                TextColumn("{task.fields[status]}"),
                TimeRemainingColumn(),
                console=self._console,
            )
            self._task = self._bar.add_task("", total=frames, completed=done, frames=f"{done:,} frames", status="")

    def __enter__(self) -> "Display":
        """Start drawing."""
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Stop drawing."""
        if self._bar is not None:
            self._bar.stop()

    def say(self, text: str) -> None:
        """A line of its own."""
        if self._bar is not None:
            self._bar.console.print(text, highlight=False)
        else:
            print(text, file=sys.stderr, flush=True)

    def update(self, counters: Counters, metrics: dict[str, float], *, force: bool = False) -> None:
        """The state of things after an episode."""
        status = (
            f"return {metrics.get('train/return', float('nan')):.1f}"
            f" · {metrics.get('rate/updates_per_second', 0.0):.1f} updates/s"
            f" · {metrics.get('rate/frames_per_second', 0.0):.0f} frames/s"
        )
        if self._bar is not None:
            self._bar.update(self._task, completed=counters.frames, frames=f"{counters.frames:,} frames", status=status)
            return
        now = time.monotonic()
        if force or now - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = now
            passed = max(counters.frames - self._done, 1)
            left = (now - self._began) / passed * max(self._goal - counters.frames, 0)
            self.say(f"{counters.frames:,} of {self._goal:,} frames · {status} · {_duration(left)} left")


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
