"""Several moments of one film in one picture, as in the paper's qualitative figure."""

import numpy as np

FAINTEST = 0.35
"""Opacity of the first moment; later ones are stronger, the last one is opaque."""
SAME, DIFFERENT = 8.0, 40.0
"""Differences of a colour (of 255) up to which a pixel is background, and from which it is not."""


def composite(pictures: np.ndarray, moments: int) -> np.ndarray:
    """Blend `moments` of a film `[T, height, width, 3]` that a still camera made into one picture.

    What most pictures agree on, pixel by pixel, is the background; what differs from it at a moment moved.
    """
    background = np.median(pictures, axis=0).astype(np.float32)
    blended = background.copy()
    chosen = evenly(len(pictures), moments)
    for picture, opacity in zip(
        pictures[chosen].astype(np.float32), np.linspace(FAINTEST, 1.0, len(chosen)), strict=True
    ):
        difference = np.abs(picture - background).max(axis=-1, keepdims=True)
        cover = opacity * np.clip((difference - SAME) / (DIFFERENT - SAME), 0.0, 1.0)
        blended += cover * (picture - blended)
    return np.rint(blended).astype(np.uint8)


def side_by_side(pictures: np.ndarray, moments: int) -> np.ndarray:
    """`moments` of a film `[T, height, width, 3]` beside each other, for a camera that follows."""
    return np.concatenate(list(pictures[evenly(len(pictures), moments)]), axis=1)


def evenly(length: int, count: int) -> np.ndarray:
    """At most `count` indices from the first to the last of `length`, evenly apart; none of none."""
    return np.unique(np.linspace(0, length - 1, min(count, length)).round().astype(int))
