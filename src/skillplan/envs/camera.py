"""Pictures of a MuJoCo model."""

import atexit
import weakref
from typing import Any, NamedTuple

import numpy as np

from skillplan.envs.gl import gl_context, importing_without_gl

with importing_without_gl():
    import mujoco

MAX_GEOMS = 2000


class View(NamedTuple):
    """A camera that stands still: what it looks at, from how far, and from where (degrees)."""

    look_at: np.ndarray
    distance: float
    azimuth: float
    elevation: float


_open_cameras: "weakref.WeakSet[Camera]" = weakref.WeakSet()


class Camera:
    """Draws a model off screen, with a context of its own.

    Shadows, mirroring floors and multisampling are off unless asked for: without a graphics card
    they make a picture more than ten times as slow. With `shadows`, which brings all three, a picture is
    dm_control's own to the bit.
    """

    def __init__(self, model: Any, *, width: int, height: int, shadows: bool = False) -> None:
        """Open a context for pictures of at most `width` by `height` pixels of `model` (a `mujoco.MjModel`)."""
        self._model = model
        self._context = gl_context(width, height)
        self._context.make_current()
        stock = model.vis.quality.offsamples, model.vis.global_.offwidth, model.vis.global_.offheight
        # Read once, when the context is made; restored, because the model is not ours.
        model.vis.quality.offsamples = stock[0] if shadows else 0
        model.vis.global_.offwidth, model.vis.global_.offheight = width, height
        self._renderer = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        model.vis.quality.offsamples, model.vis.global_.offwidth, model.vis.global_.offheight = stock
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._renderer)
        self._scene = mujoco.MjvScene(model, MAX_GEOMS)
        for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION):
            self._scene.flags[flag] = shadows
        self._options = mujoco.MjvOption()
        if not _open_cameras:
            atexit.unregister(_close_all)
            atexit.register(_close_all)  # after the GL library registered its own end, so before it
        _open_cameras.add(self)

    def image(self, data: Any, camera: int | View, width: int, height: int) -> np.ndarray:
        """The scene in `data` (a `mujoco.MjData`), uint8 `[height, width, 3]`: from a view, or the model's own camera.

        A model that has no camera of that number is seen from the free one.
        """
        # Contexts share the thread: another one may have been current since, or have been freed.
        self._context.make_current()
        view = mujoco.MjvCamera()
        if isinstance(camera, View):
            view.type = mujoco.mjtCamera.mjCAMERA_FREE
            view.lookat[:] = camera.look_at
            view.distance, view.azimuth, view.elevation = camera.distance, camera.azimuth, camera.elevation
        elif camera < self._model.ncam:
            view.type, view.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, camera
        else:
            mujoco.mjv_defaultFreeCamera(self._model, view)
        everything = mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(self._model, data, self._options, None, view, everything, self._scene)
        rectangle = mujoco.MjrRect(0, 0, width, height)
        picture = np.empty((height, width, 3), np.uint8)
        mujoco.mjr_render(rectangle, self._scene, self._renderer)
        mujoco.mjr_readPixels(picture, None, rectangle, self._renderer)
        return picture[::-1].copy()  # OpenGL's first row is the lowest

    def upload_heights(self) -> None:
        """Show the model's height fields as they are now; they are copied when the context is made."""
        self._context.make_current()
        for field in range(self._model.nhfield):
            mujoco.mjr_uploadHField(self._model, self._renderer, field)

    def close(self) -> None:
        """Free the context."""
        _open_cameras.discard(self)
        self._context.make_current()
        self._renderer.free()
        self._context.free()


def _close_all() -> None:
    """Free what the program left open: contexts that outlive their library complain at exit."""
    for camera in list(_open_cameras):
        camera.close()
