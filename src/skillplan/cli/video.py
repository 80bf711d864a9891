"""`skillplan video`: a film of a trained agent."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from skillplan.cli.options import parse

EXAMPLE = "skillplan video runs/rover --task rover-cove --out cove.gif"


@dataclass(frozen=True)
class VideoOptions:
    """Film a noise-free episode, with the skill, the value of the plan and the reward drawn in."""

    run: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
    """Directory of the run."""
    episode: int = 0
    """Number of the noise-free evaluation episode."""
    steps: int | None = None
    """Only its first agent steps."""
    task: str | None = None
    """Another task with the same observations and actions; by default the run's own."""
    speed: float = 1.0
    """Times as fast as the world."""
    out: Path | None = None
    """The film, ending in .mp4 or .gif; by default figures/video.mp4 in the run's directory."""


def command(arguments: Sequence[str]) -> int:
    """Play and film."""
    options = parse(VideoOptions, arguments, command="video", example=EXAMPLE)
    from skillplan.cli.figure_options import check_directory
    from skillplan.reporting import video
    from skillplan.training.restore import in_world_of, load_run

    path = options.out or options.run / "figures" / "video.mp4"
    loaded = in_world_of(load_run(options.run), options.task)
    check_directory(path.parent)
    watched = video.record(loaded, path, episode=options.episode, steps=options.steps, speed=options.speed)
    config = watched.config
    print(
        f"{config.agent} on {config.task}: {watched.steps} agent steps of noise-free episode {watched.episode}, "
        f"reward {watched.reward.sum():.1f}."
    )
    print(f"See {path}. Next: skillplan evaluate {options.run}")
    return 0
