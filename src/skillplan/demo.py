"""`make demo`: LSP and Dreamer learn to drive the rover, then move to its cove; a picture shows what became of both."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt

from skillplan.reporting.demo import draw_progress, draw_report, episode_lines, hits

SECONDS_BETWEEN_PICTURES = 10.0
SECONDS_BETWEEN_LOOKS = 0.5
LONGER_SKILLS = ("--skill-duration", "30", "--horizon", "120")
HARDER_SEARCH = ("--population", "128", "--elites", "12", "--iterations", "5")


@dataclass(frozen=True)
class Plan:
    """How much of it there is to be."""

    size: str = "tiny"
    field_frames: int = 12_000
    cove_frames: int = 12_000
    episodes: int = 10
    """Noise-free episodes at the end."""


class Course:
    """What one agent goes through, one command after the other, in processes of its own on one core.

    Two agents side by side on a core each are faster than one after the other on both.
    """

    def __init__(self, agent: str, out: Path, plan: Plan):
        """Nothing is started yet."""
        self.agent = agent
        self.field, self.cove, self.log = out / f"{agent}-field", out / f"{agent}-cove", out / f"{agent}.log"
        # What has changed in the cove is the plan, not how to drive; Dreamer has no plan, so its policy must learn.
        kept = ("--fix-policy", *LONGER_SKILLS, *HARDER_SEARCH) if agent == "lsp" else ()
        train = ("train", "rover-field", "--agent", agent, "--size", plan.size, "--frames", str(plan.field_frames))
        moved = ("transfer", str(self.field), "rover-cove", *kept, "--frames", str(plan.cove_frames))
        self._commands = [(*train, "--run", str(self.field)), (*moved, "--run", str(self.cove))]
        self._process: subprocess.Popen[bytes] | None = None
        self.failed = False

    def go_on(self) -> bool:
        """Start the next command where one has ended; whether there is anything left to wait for."""
        if self._process is not None:
            status = self._process.poll()
            if status is None:
                return True
            self.failed = status != 0
            self._process = None
        if self.failed or not self._commands:
            return False
        flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        command = [sys.executable, "-m", "skillplan.cli.main", *self._commands.pop(0)]
        with self.log.open("ab") as log:
            environment = {**os.environ, "XLA_FLAGS": flags.strip()}
            self._process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        return True

    def stop(self) -> None:
        """End what is running."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def told(self, plan: Plan) -> str:
        """How far it is, in words."""
        if lines := episode_lines(self.cove):
            return (
                f"{self.agent} in the cove: {lines[-1]['frames']:,} of {plan.cove_frames:,} frames, "
                f"target reached in {int(hits(lines).sum())} of {len(lines)} episodes"
            )
        if lines := episode_lines(self.field):
            return (
                f"{self.agent} in the field: {lines[-1]['frames']:,} of {plan.field_frames:,} frames, "
                f"return {lines[-1]['train/return']:.0f}"
            )
        return ""


def main() -> int:
    """Run the demo; the last line names the picture."""
    return run(Path("runs") / "demo", Plan())


def run(out: Path, plan: Plan) -> int:
    """Train, move, measure and draw into a directory that is not there yet."""
    plt.switch_backend("Agg")
    out = _fresh_directory(out)
    out.mkdir(parents=True)
    print(
        "LSP and Dreamer learn to drive on rover-field and then move to rover-cove, side by side; "
        "some nine minutes on two cores.",
        flush=True,
    )
    courses = [Course(agent, out, plan) for agent in ("lsp", "dreamer")]
    try:
        _follow(courses, out, plan)
    except KeyboardInterrupt:
        print("skillplan: stopped; the demo begins anew when it is called again.", file=sys.stderr)
        return 130
    finally:
        for course in courses:
            course.stop()
    for course in courses:
        if course.failed:
            print(f"skillplan: {course.agent} failed; {course.log} says why.", file=sys.stderr)
            return 1
    fields, coves = [course.field for course in courses], [course.cove for course in courses]
    for line in draw_report(out / "report.png", fields, coves, episodes=plan.episodes):
        print(line, flush=True)
    print(f"Open {out / 'report.png'}. Next: skillplan describe {coves[0]}, or skillplan train walker-walk")
    return 0


def _fresh_directory(path: Path) -> Path:
    """A directory that is not there yet: earlier demos are kept."""
    number, fresh = 1, path
    while fresh.exists():
        number += 1
        fresh = path.with_name(f"{path.name}-{number}")
    return fresh


def _follow(courses: list[Course], out: Path, plan: Plan) -> None:
    """See the courses through; redraw their progress and tell how far they are."""
    picture, drawn = out / "progress.png", 0.0
    # All are asked each time: `any` would stop at the first that still runs.
    while any([course.go_on() for course in courses]):
        time.sleep(SECONDS_BETWEEN_LOOKS)
        told = [words for course in courses if (words := course.told(plan))]
        if not told or time.monotonic() - drawn < SECONDS_BETWEEN_PICTURES:
            continue
        draw_progress(picture, [(course.agent, course.field, course.cove) for course in courses])
        if not drawn:
            print(f"First picture of progress: {picture} (redrawn every {SECONDS_BETWEEN_PICTURES:.0f} s)", flush=True)
        drawn = time.monotonic()
        print(" · ".join(told), flush=True)


if __name__ == "__main__":
    sys.exit(main())
