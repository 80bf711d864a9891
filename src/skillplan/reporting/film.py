"""Films: pictures of an episode that is played again, and files of moving pictures."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import imageio.v2 as imageio
import numpy as np

from skillplan.envs.wrapper import RepeatedEnvironment
from skillplan.errors import UserError

SUFFIXES = (".mp4", ".gif")
Draw = Callable[[RepeatedEnvironment], np.ndarray]
"""A picture of the world as it is now, uint8 `[height, width, 3]`."""


def replay(
    environment: RepeatedEnvironment,
    seed: int,
    actions: np.ndarray,
    draw: Draw = RepeatedEnvironment.render,
    *,
    open_start: bool = False,
) -> Iterator[np.ndarray]:
    """The T + 1 pictures of an episode with `actions` `[T + 1, size]`, the first of which belongs to the reset.

    Episodes depend on their seed and actions alone, so this shows what an agent did without asking it again.
    """
    step = environment.reset(seed, open_start=open_start)
    yield draw(environment)
    for action in actions[1:]:
        if step.is_last:
            break
        step = environment.step(action)
        yield draw(environment)


def check_film(path: Path) -> None:
    """Refuse a file whose name is not that of a film."""
    if path.suffix not in SUFFIXES:
        raise UserError(f"{path} is no film: let its name end in {' or '.join(SUFFIXES)}.")


def write_film(path: Path, pictures: Iterable[np.ndarray], frames_per_second: float) -> Path:
    """Write pictures uint8 `[height, width, 3]` one after the other as `.mp4` or `.gif`."""
    check_film(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    settings: dict[str, Any] = {"mode": "I"}
    if path.suffix == ".gif":
        settings |= {"duration": 1000.0 / frames_per_second, "loop": 0}
    else:
        settings |= {"fps": frames_per_second, "codec": "libx264", "macro_block_size": None, "quality": 7}
    partial = path.with_name(f".{path.name}.partial{path.suffix}")
    try:
        with warnings.catch_warnings(), imageio.get_writer(partial, **settings) as writer:
            # The encoder is a child that only executes another program; JAX warns of every fork all the same.
            warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
            for picture in pictures:
                writer.append_data(_even(picture))
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path


def tiled(pictures: Sequence[np.ndarray], columns: int, gap: int = 4) -> np.ndarray:
    """Pictures `[…, height, width, 3]` of one shape side by side in rows of `columns`, with white between them."""
    rows = []
    for begin in range(0, len(pictures), columns):
        row = list(pictures[begin : begin + columns])
        row += [np.full_like(pictures[0], 255)] * (columns - len(row))
        padded = [np.pad(picture, _margins(picture, gap), constant_values=255) for picture in row]
        rows.append(np.concatenate(padded, axis=-2))
    return np.concatenate(rows, axis=-3)


def _margins(picture: np.ndarray, gap: int) -> list[tuple[int, int]]:
    return [(0, 0)] * (picture.ndim - 3) + [(0, gap), (0, gap), (0, 0)]


def _even(picture: np.ndarray) -> np.ndarray:
    """The encoder takes even numbers of pixels only."""
    height, width = picture.shape[:2]
    return np.pad(picture, ((0, height % 2), (0, width % 2), (0, 0)), constant_values=255)
