"""A picture of the rover's arena from above, drawn without a graphics library."""

import numpy as np

_FLOOR = (244, 243, 239)
_WALL = (92, 92, 97)
_TARGET = (141, 196, 143)
_OBSTACLE = (120, 120, 126)
_ROVER = (38, 102, 178)
_NOSE = (255, 255, 255)

_MARGIN = 1.04  # the picture shows a little more than the arena, so that its walls have a thickness


class Picture:
    """A square picture of `size` pixels, x to the right and y upwards, of the arena with a layout in it.

    `layout` is what `RoverEnv.layout` returns. It is painted once; the rover is added for every picture.
    """

    def __init__(self, layout: dict[str, np.ndarray], size: int) -> None:
        """Paint the arena, the target and the obstacles."""
        half_width = float(layout["arena"])
        axis = ((np.arange(size) + 0.5) / size * 2 - 1) * half_width * _MARGIN
        self._x, self._y = axis[None, :], -axis[:, None]
        self._pixel = axis[1] - axis[0]
        self._arena = np.full((size, size, 3), _WALL, np.float32)
        self._paint(self._arena, half_width - np.maximum(np.abs(self._x), np.abs(self._y)), _FLOOR)
        self._disc(self._arena, layout["target"], _TARGET)
        for obstacle in layout["obstacles"]:
            self._disc(self._arena, obstacle, _OBSTACLE)

    def with_rover(self, x: float, y: float, yaw: float, radius: float) -> np.ndarray:
        """The arena and the rover in it, uint8 `[size, size, 3]`."""
        image = self._arena.copy()
        self._disc(image, np.array([x, y, radius]), _ROVER)
        ahead = 0.55 * radius
        self._disc(image, np.array([x + ahead * np.cos(yaw), y + ahead * np.sin(yaw), 0.4 * radius]), _NOSE)
        return np.rint(image).astype(np.uint8)

    def _disc(self, image: np.ndarray, disc: np.ndarray, colour: tuple[int, int, int]) -> None:
        """Paint `disc`, given as x, y, radius."""
        x, y, radius = disc
        self._paint(image, radius - np.hypot(self._x - x, self._y - y), colour)

    def _paint(self, image: np.ndarray, depth: np.ndarray, colour: tuple[int, int, int]) -> None:
        """Colour where `depth` (m inside the shape) is positive, with an edge one pixel soft."""
        cover = np.clip(depth / self._pixel + 0.5, 0, 1).astype(np.float32)[..., None]
        image += (np.array(colour, np.float32) - image) * cover
