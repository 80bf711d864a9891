"""The rover's physics: a unicycle with thrust, a torque about its axis, twelve rays.

The rover obeys `m dv/dt = thrust - 1 v` and `I dw/dt = torque - 0.02 w`, so it tends to 1 m/s
within 0.3 s and turns at 2 rad/s within 0.17 s. Contacts have no friction.
"""

import math
from typing import NamedTuple

import numpy as np

from skillplan.envs.gl import importing_without_gl

with importing_without_gl():
    import mujoco

ARENA_HALF_WIDTH = 3.5  # m, from the origin to each wall
ROVER_RADIUS = 0.15  # m
ROVER_MASS = 0.3  # kg
OBSTACLE_RADIUS = 0.16  # m
THRUST = 1.0  # N at full throttle
TORQUE = 0.04  # Nm at full lock
SLIDE_DAMPING = 1.0  # N s/m
YAW_DAMPING = 0.02  # Nm s/rad
SUBSTEP = 0.02  # s
SUBSTEPS = 5  # a frame is 0.1 s
RAYS = 12
RAY_REACH = 3.0  # m

_AWAY = 30.0  # m; where obstacles wait that an episode does not use, beyond walls and rays


class Motion(NamedTuple):
    """Where the rover is, and how it moves."""

    x: float
    y: float
    yaw: float
    """rad, not wrapped."""
    forward_speed: float
    """m/s along the body."""
    sideways_speed: float
    """m/s to the body's left."""
    yaw_rate: float
    """rad/s."""


class RoverWorld:
    """A walled square with the rover and up to `capacity` cylinders in it."""

    def __init__(self, capacity: int) -> None:
        """Compile the model."""
        self._model = mujoco.MjModel.from_xml_string(_model_xml(capacity))
        self._data = mujoco.MjData(self._model)
        self._rover = mujoco.mj_name2id(self._model, mujoco.mjtObj.mjOBJ_BODY, "rover")
        angles = 2 * np.pi * np.arange(RAYS) / RAYS
        self._ray_directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        self._ray_geoms = np.zeros(RAYS, np.int32)
        self._origin = np.zeros(3)

    def reset(self, obstacles: np.ndarray, yaw: float) -> None:
        """Put the rover at the origin, at rest, and cylinders at `obstacles` `[n, 2]`."""
        mujoco.mj_resetData(self._model, self._data)
        self._data.qpos[:] = (0.0, 0.0, yaw)
        self._data.mocap_pos[:] = (_AWAY, _AWAY, 0.0)
        self._data.mocap_pos[: len(obstacles), :2] = obstacles
        mujoco.mj_forward(self._model, self._data)

    def advance(self, action: np.ndarray) -> None:
        """One frame with `action` `[2]`: throttle, then turn to the left; both are clipped to [-1, 1]."""
        self._data.ctrl[:] = action
        mujoco.mj_step(self._model, self._data, SUBSTEPS)

    def motion(self) -> Motion:
        """The present motion."""
        x, y, yaw = self._data.qpos.tolist()
        vx, vy, yaw_rate = self._data.qvel.tolist()
        cos, sin = math.cos(yaw), math.sin(yaw)
        return Motion(x, y, yaw, vx * cos + vy * sin, vy * cos - vx * sin, yaw_rate)

    def rays(self) -> np.ndarray:
        """Distances `[12]` (m) from the rover's centre to what is around it, anticlockwise from straight ahead."""
        x, y, yaw = self._data.qpos.tolist()
        cos, sin = math.cos(yaw), math.sin(yaw)
        self._origin[:2] = x, y
        directions = self._ray_directions @ np.array(((cos, sin, 0.0), (-sin, cos, 0.0)))
        distances = np.empty(RAYS)
        mujoco.mj_multiRay(
            self._model,
            self._data,
            self._origin,
            directions.ravel(),
            None,
            1,
            self._rover,
            self._ray_geoms,
            distances,
            None,
            RAYS,
            RAY_REACH,
        )
        distances[distances < 0] = RAY_REACH  # the engine's -1: nothing there
        return np.minimum(distances, RAY_REACH)  # to which the engine does not hold planes


def _model_xml(capacity: int) -> str:
    """The rover's MuJoCo model.

    Obstacles are mocap bodies: a world's geoms moved at run time would get no contacts. The cylinder
    gives the rover its inertia; a sphere of the same radius takes its contacts, because sphere
    against cylinder has a closed form, where two cylinders are solved iteratively and an oblique
    normal turned the rover. Contact pairs are listed: fewer of them, and faster, than a search.
    """
    walls = "".join(
        f'<geom name="wall{i}" class="passive" type="plane" size="0 0 1" '
        f'pos="{-ARENA_HALF_WIDTH * x} {-ARENA_HALF_WIDTH * y} 0" zaxis="{x} {y} 0"/>'
        for i, (x, y) in enumerate([(1, 0), (-1, 0), (0, 1), (0, -1)])
    )
    obstacles = "".join(
        f'<body mocap="true"><geom name="obstacle{i}" class="passive" type="cylinder" size="{OBSTACLE_RADIUS} 0.2"/>'
        "</body>"
        for i in range(capacity)
    )
    touched = [f"wall{i}" for i in range(4)] + [f"obstacle{i}" for i in range(capacity)]
    pairs = "".join(f'<pair geom1="hull" geom2="{name}" condim="1"/>' for name in touched)
    return f"""
    <mujoco model="rover">
      <option timestep="{SUBSTEP}" gravity="0 0 0" jacobian="dense"><flag island="disable"/></option>
      <default><default class="passive"><geom contype="0" conaffinity="0"/></default></default>
      <worldbody>
        {walls}{obstacles}
        <body name="rover">
          <joint name="x" type="slide" axis="1 0 0" damping="{SLIDE_DAMPING}"/>
          <joint name="y" type="slide" axis="0 1 0" damping="{SLIDE_DAMPING}"/>
          <joint name="yaw" type="hinge" axis="0 0 1" damping="{YAW_DAMPING}"/>
          <geom class="passive" type="cylinder" size="{ROVER_RADIUS} 0.1" mass="{ROVER_MASS}"/>
          <geom name="hull" class="passive" type="sphere" size="{ROVER_RADIUS}" mass="0"/>
          <site name="engine"/>
        </body>
      </worldbody>
      <actuator>
        <motor site="engine" gear="{THRUST} 0 0 0 0 0" ctrllimited="true" ctrlrange="-1 1"/>
        <motor joint="yaw" gear="{TORQUE}" ctrllimited="true" ctrlrange="-1 1"/>
      </actuator>
      <contact>{pairs}</contact>
    </mujoco>"""
