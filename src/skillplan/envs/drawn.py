"""Gymnasium environments that MuJoCo draws: as 64×64 observations, and for people."""

import math
from typing import Any

import gymnasium
import numpy as np

IMAGE_SIZE = 64
RENDER_SIZE = (240, 320)  # height, width
STILL_ELEVATION = -50.0  # degrees
_FIELD_OF_VIEW = 45.0  # degrees, MuJoCo's own for its free camera


class DrawnEnv(gymnasium.Env):
    """The part that draws. A context is opened at the first picture, and serves observations and people.

    Subclasses name what there is to draw in `_scene`.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}
    still_elevation = STILL_ELEVATION
    """Degrees; from how high a camera that stands still looks down."""

    def __init__(
        self,
        *,
        camera: int = 0,
        pixels: bool = False,
        shadows: bool = False,
        render_mode: str | None = None,
    ) -> None:
        """Draw from the model's camera number `camera`, as dm_control does if with `shadows`.

        With `pixels` observations are pictures.
        """
        self.render_mode = render_mode
        self._pixels = pixels
        self._camera_number = camera
        self.render_camera = camera
        """From which of the model's cameras `render` draws; observations keep theirs."""
        self._shadows = shadows
        self._camera: Any = None

    def _scene(self) -> tuple[Any, Any]:
        """The `mujoco.MjModel` and `mujoco.MjData` to draw."""
        raise NotImplementedError

    def render_still(self, center: np.ndarray, span: float) -> np.ndarray:
        """The scene from a camera that stands still, uint8 `[240, 320, 3]`: `span` metres of ground around `center`.

        `center` is x, y, z (m); x goes to the right, y away from the viewer.
        """
        from skillplan.envs.camera import View

        height, width = RENDER_SIZE
        distance = span * height / width / (2 * math.tan(math.radians(_FIELD_OF_VIEW) / 2))
        self._open_camera()
        view = View(center, distance, 90.0, self.still_elevation)
        return self._camera.image(self._scene()[1], view, width, height)

    def render(self) -> np.ndarray:
        """The scene, uint8 `[240, 320, 3]`."""
        return self._image(*RENDER_SIZE, self.render_camera)

    @property
    def cameras(self) -> int:
        """How many cameras the model has."""
        return int(self._scene()[0].ncam)

    def close(self) -> None:
        """Free the drawing context."""
        if self._camera is not None:
            self._camera.close()
            self._camera = None

    def _image_observation(self) -> np.ndarray:
        return self._image(IMAGE_SIZE, IMAGE_SIZE, self._camera_number)

    def _image(self, height: int, width: int, camera: int) -> np.ndarray:
        self._open_camera()
        return self._camera.image(self._scene()[1], camera, width, height)

    def _image_space(self) -> gymnasium.Space:
        """The space of observations that are pictures; a machine that cannot draw says so here, at the start."""
        self._open_camera()
        return gymnasium.spaces.Box(0, 255, (IMAGE_SIZE, IMAGE_SIZE, 3), np.uint8)

    def _open_camera(self) -> None:
        """One context for everything: a second one that is freed can spoil the first."""
        if self._camera is None:
            from skillplan.envs.camera import Camera

            height, width = RENDER_SIZE
            self._camera = Camera(self._scene()[0], width=width, height=height, shadows=self._shadows)
