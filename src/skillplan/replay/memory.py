"""How much memory a replay takes, known before it is filled."""

import math

import numpy as np

from skillplan.envs.interface import EnvSpec
from skillplan.errors import UserError


def step_layout(spec: EnvSpec) -> dict[str, tuple[tuple[int, ...], np.dtype]]:
    """Shape and dtype of each array of one stored step, by its name in `Batch`."""
    return {
        "observation": (spec.observation_shape, np.dtype(np.uint8 if spec.pixels else np.float32)),
        "action": ((spec.action_size,), np.dtype(np.float32)),
        "reward": ((), np.dtype(np.float32)),
        "is_first": ((), np.dtype(bool)),
        "is_terminal": ((), np.dtype(bool)),
    }


def step_nbytes(spec: EnvSpec) -> int:
    """Bytes of one stored step."""
    return sum(math.prod(shape) * dtype.itemsize for shape, dtype in step_layout(spec).values())


def steps_for(spec: EnvSpec, max_frames: int) -> int:
    """Steps that `max_frames` frames take when episodes run to their time limit, each with one more for its reset."""
    if max_frames < 1:
        raise ValueError(f"max_frames must be at least 1, not {max_frames}.")
    whole, rest = divmod(max_frames, spec.episode_frames)
    steps = whole * (math.ceil(spec.episode_frames / spec.action_repeat) + 1)
    return steps + (math.ceil(rest / spec.action_repeat) + 1 if rest else 0)


def check_settings(spec: EnvSpec, max_frames: int, seed_episodes: int, sequence_length: int) -> None:
    """Refuse, before anything is played, a replay that could not be drawn from once the seed episodes are in it."""
    episode = math.ceil(spec.episode_frames / spec.action_repeat) + 1
    if steps_for(spec, max_frames) < episode:
        raise UserError(
            f"--replay.max-frames is {max_frames}, less than one episode of {spec.task}: "
            f"keep at least {spec.episode_frames}."
        )
    first = min(seed_episodes * episode, steps_for(spec, max_frames))
    if first < sequence_length:
        raise UserError(
            f"--training.sequence-length is {sequence_length}, but replay holds at most {first} steps when learning "
            f"begins, after {seed_episodes} episodes of {spec.task}: train on shorter sequences, or set more "
            "--training.seed-episodes."
        )


def memory_estimate(spec: EnvSpec, max_frames: int) -> int:
    """Bytes that a replay of `max_frames` frames takes once it is full."""
    return steps_for(spec, max_frames) * step_nbytes(spec)


def format_bytes(count: int) -> str:
    """Bytes for people, in powers of 1000: `6.1 GB`."""
    value, unit = float(count), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        # 999.95 would be printed as 1000.0.
        if value < 999.95:
            break
        value, unit = value / 1000, larger
    return f"{count} bytes" if unit == "bytes" else f"{value:.1f} {unit}"
