"""Pictures and films as files, of the kind that the name's ending tells."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import imageio.v2 as imageio
import numpy as np

from skillplan.errors import UserError

FILMS = (".mp4", ".gif")
ENDINGS = (".png", *FILMS)


def check_ending(path: Path) -> None:
    """Refuse a name that is neither a picture's nor a film's."""
    if path.suffix not in ENDINGS:
        raise UserError(f"Cannot write {path}: let its name end in {', '.join(ENDINGS)}.")


def write_pictures(path: Path, pictures: Sequence[np.ndarray], rate: float) -> None:
    """Write pictures, uint8 `[height, width, 3]`: all of them, `rate` a second, to a film; the last one to a .png.

    What was there before is replaced only by a whole file.
    """
    check_ending(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.stem}.partial{path.suffix}")
    try:
        if path.suffix in FILMS:
            _write_film(partial, pictures, rate)
        else:
            imageio.imwrite(partial, pictures[-1])
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _write_film(path: Path, pictures: Sequence[np.ndarray], rate: float) -> None:
    settings: dict[str, Any] = {"duration": 1000 / rate, "loop": 0}
    if path.suffix == ".mp4":
        settings = {"fps": rate, "codec": "libx264", "macro_block_size": 2, "quality": 7}
    writer: Any = imageio.get_writer(path, mode="I", **settings)
    with writer:
        for picture in pictures:
            # The encoder takes even numbers of pixels only.
            height, width = (size % 2 for size in picture.shape[:2])
            writer.append_data(np.pad(picture, ((0, height), (0, width), (0, 0)), constant_values=255))
