"""Which OpenGL library to draw with, on machines that may have no screen or no OpenGL at all."""

import functools
import importlib
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from skillplan.errors import UserError

_CHOICE = "MUJOCO_GL"
_BACKENDS = {"Linux": ("egl", "osmesa"), "Darwin": ("cgl",), "Windows": ("glfw",)}
_NAMEABLE = ("egl", "osmesa", "glfw", "cgl")
_PROBE = """
import mujoco
from mujoco.{backend} import GLContext
context = GLContext(64, 64)
context.make_current()
mujoco.MjrContext(mujoco.MjModel.from_xml_string("<mujoco/>"), mujoco.mjtFontScale.mjFONTSCALE_100)
context.free()
"""


@contextmanager
def importing_without_gl() -> Iterator[None]:
    """Within this, MuJoCo and dm_control are imported without touching OpenGL.

    Both choose a library at import, and the import fails where it is broken, though features need
    none. What the user chose in `MUJOCO_GL` is left alone; else the variable is unset again
    afterwards, so that other programs of the process can still choose.
    """
    if _CHOICE in os.environ:
        yield
        return
    os.environ[_CHOICE] = "disable"
    try:
        yield
    finally:
        del os.environ[_CHOICE]


@contextmanager
def drawing_off_screen() -> Iterator[None]:
    """Within this, programs that choose by `MUJOCO_GL` when they first draw find a library that needs no screen."""
    stock = os.environ.get(_CHOICE)
    os.environ[_CHOICE] = working_backend()
    try:
        yield
    finally:
        if stock is None:
            del os.environ[_CHOICE]
        else:
            os.environ[_CHOICE] = stock


def gl_context(width: int, height: int) -> Any:
    """An OpenGL context that draws off screen, up to `width` by `height` pixels."""
    return importlib.import_module(f"mujoco.{working_backend()}").GLContext(width, height)


@functools.cache
def working_backend() -> str:
    """The first library that draws here: the one named in `MUJOCO_GL`, else EGL, else OSMesa.

    Each is tried in a process of its own: a library that fails leaves PyOpenGL unusable for the
    next, and some crash.
    """
    chosen = os.environ.get(_CHOICE, "").lower().strip()
    candidates = (chosen,) if chosen in _NAMEABLE else _BACKENDS.get(platform.system(), _NAMEABLE)
    for backend in candidates:
        if _draws(backend):
            return backend
    raise UserError(
        f"Pixels need OpenGL, and none of {', '.join(candidates)} draws here: on Debian or Ubuntu install libegl1, "
        "libegl-mesa0 and libgl1-mesa-dri for EGL, or libosmesa6 for OSMesa; features need none of them."
    )


def _draws(backend: str) -> bool:
    """Whether a process can draw with `backend`."""
    environment = {**os.environ, _CHOICE: "disable"}
    command = [sys.executable, "-c", _PROBE.format(backend=backend)]
    return subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 0
