"""The quadruped's physics: dm_control's robot and numbers, with a target, cylinders and rays around it."""

import math
import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np

from skillplan.envs.gl import importing_without_gl
from skillplan.envs.quadruped.rewards import REACH_RADIUS

with importing_without_gl():
    import mujoco
    from dm_control.suite import common, quadruped

CONTROL_STEP = 0.02  # s, a frame
OBSTACLE_RADIUS = 0.3  # m
OBSTACLE_HEIGHT = 1.2  # m
RAYS = 16
RAY_REACH = 5.0  # m

_PARKED = -3.0  # m; obstacles that an episode does not use wait below the floor
_RAISE = 0.01  # m by which the robot is lifted until it touches nothing
_OBSTACLE_GROUP = 2  # of geoms; drawn as the robot's, but rays see no other

_SENSORS = {
    "velocity": (mujoco.mjtSensor.mjSENS_VELOCIMETER,),
    "imu": (mujoco.mjtSensor.mjSENS_GYRO, mujoco.mjtSensor.mjSENS_ACCELEROMETER),
    "force_torque": (mujoco.mjtSensor.mjSENS_FORCE, mujoco.mjtSensor.mjSENS_TORQUE),
}


class QuadrupedWorld:
    """The robot on a floor with a target and up to `capacity` cylinders."""

    def __init__(self, capacity: int, floor: float) -> None:
        """Compile the model; `floor` is half the width of the floor that is drawn."""
        self.model: Any = mujoco.MjModel.from_xml_string(_model_xml(capacity, floor), common.ASSETS)
        self.data: Any = mujoco.MjData(self.model)
        self._substeps = round(CONTROL_STEP / self.model.opt.timestep)
        self._torso = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, "torso")
        joints = np.flatnonzero(self.model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE)
        self._hinge_positions = self.model.jnt_qposadr[joints]
        self._hinge_velocities = self.model.jnt_dofadr[joints]
        self._sensors = {name: self._addresses(types) for name, types in _SENSORS.items()}
        angles = 2 * np.pi * np.arange(RAYS) / RAYS
        self._ray_directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        self._ray_groups = (np.arange(mujoco.mjNGROUP) == _OBSTACLE_GROUP).astype(np.uint8)
        self._ray_geoms = np.zeros(RAYS, np.int32)
        # Views of the simulator's own memory, which stays where it is.
        self._position = self.data.xpos[self._torso]
        self._frame = self.data.xmat[self._torso].reshape(3, 3)
        self._readings = self.data.sensordata
        self._target = self.data.mocap_pos[0]
        self._warnings = self.data.warning.number

    @property
    def action_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest action, `[12]` each."""
        low, high = self.model.actuator_ctrlrange.T
        return low.copy(), high.copy()

    def reset(self, orientation: np.ndarray, target: np.ndarray, obstacles: np.ndarray) -> None:
        """Put the robot over the origin, as low as it touches nothing, then `target` `[2]` and `obstacles` `[n, 2]`.

        dm_control's own search, whose every attempt resets the data: what else stands in the world has to wait.
        """
        mujoco.mj_resetData(self.model, self.data)
        height, touches = 0.0, True
        while touches:
            mujoco.mj_resetData(self.model, self.data)
            self.data.qpos[:3] = 0.0, 0.0, height
            self.data.qpos[3:7] = orientation
            self._forward()
            touches = self.data.ncon > 0
            height += _RAISE
        self._target[:2] = target
        self.data.mocap_pos[1 : 1 + len(obstacles)] = 0.0, 0.0, OBSTACLE_HEIGHT / 2
        self.data.mocap_pos[1 : 1 + len(obstacles), :2] = obstacles
        self._forward()

    def advance(self, action: np.ndarray) -> None:
        """One frame with `action` `[12]`, in the order in which dm_control takes the halves of a step."""
        self.data.ctrl[:] = action
        mujoco.mj_step2(self.model, self.data)
        mujoco.mj_step(self.model, self.data, self._substeps - 1)
        mujoco.mj_step1(self.model, self.data)
        if self._warnings.any():
            # MuJoCo would go on from a fresh start, in the middle of an episode.
            raise RuntimeError("The simulation of the quadruped became unstable: its forces or speeds left all bounds.")

    def position(self) -> list[float]:
        """Of the torso, m."""
        return self._position.tolist()

    def target(self) -> list[float]:
        """Where it is, m."""
        return self._target.tolist()

    def upright(self) -> float:
        """Cosine of the angle between the torso's up and the world's."""
        return float(self._frame[2, 2])

    def velocity(self) -> np.ndarray:
        """Of the torso along its own axes, `[3]` (m/s)."""
        return self._readings[self._sensors["velocity"]]

    def pieces(self) -> dict[str, np.ndarray]:
        """What the robot observes besides rays: dm_control's 78 numbers, then origin and target in its own frame."""
        data, position = self.data, self._position
        joints = (data.qpos[self._hinge_positions], data.qvel[self._hinge_velocities], data.act)
        return {
            "egocentric_state": np.concatenate(joints),
            "torso_velocity": self.velocity(),
            "torso_upright": self._frame[2, 2:].copy(),
            "imu": self._readings[self._sensors["imu"]],
            "force_torque": np.arcsinh(self._readings[self._sensors["force_torque"]]),
            "origin": -position.dot(self._frame),
            "target_position": (self._target - position).dot(self._frame),
        }

    def rays(self) -> np.ndarray:
        """Distances `[16]` (m) from the torso's centre to obstacles, level, anticlockwise from where it is heading."""
        cos, sin = float(self._frame[0, 0]), float(self._frame[1, 0])
        length = math.hypot(cos, sin) or 1.0
        directions = self._ray_directions @ np.array(((cos, sin, 0.0), (-sin, cos, 0.0))) / length
        distances = np.empty(RAYS)
        mujoco.mj_multiRay(
            self.model,
            self.data,
            self._position,
            directions.ravel(),
            self._ray_groups,
            1,
            -1,
            self._ray_geoms,
            distances,
            None,
            RAYS,
            RAY_REACH,
        )
        distances[distances < 0] = RAY_REACH  # the engine's -1: nothing there
        return np.minimum(distances, RAY_REACH)

    def _forward(self) -> None:
        """Compute everything that follows from positions, with limp motors, as dm_control does after a reset."""
        flags = self.model.opt.disableflags
        self.model.opt.disableflags = flags | mujoco.mjtDisableBit.mjDSBL_ACTUATION
        mujoco.mj_forward(self.model, self.data)
        self.model.opt.disableflags = flags

    def _addresses(self, types: tuple[Any, ...]) -> np.ndarray:
        """Places in `sensordata` of the sensors of some types, in the model's order."""
        sensors = np.flatnonzero(np.isin(self.model.sensor_type, types))
        begins, sizes = self.model.sensor_adr[sensors], self.model.sensor_dim[sensors]
        return np.concatenate([np.arange(begin, begin + size) for begin, size in zip(begins, sizes, strict=True)])


def _model_xml(capacity: int, floor: float) -> str:
    """dm_control's model with more in its world.

    Target and obstacles are mocap bodies: geoms of the world itself that are moved at run time get no contacts.
    They come last, so that everything of dm_control's keeps its number; the target is a mark without a body to hit.
    """
    root = ElementTree.fromstring(quadruped.make_model(floor_size=floor))
    (world,) = root.iter("worldbody")
    target = ElementTree.SubElement(world, "body", name="target", mocap="true")
    ElementTree.SubElement(
        target, "site", name="target", type="cylinder", size=f"{REACH_RADIUS} .01", rgba=".35 .75 .4 .6", pos="0 0 .01"
    )
    cylinder = {"type": "cylinder", "size": f"{OBSTACLE_RADIUS} {OBSTACLE_HEIGHT / 2}", "rgba": ".6 .6 .63 1"}
    for i in range(capacity):
        body = ElementTree.SubElement(world, "body", name=f"obstacle{i}", mocap="true", pos=f"0 0 {_PARKED}")
        ElementTree.SubElement(body, "geom", cylinder, name=f"obstacle{i}", group=str(_OBSTACLE_GROUP))
    return ElementTree.tostring(root, encoding="unicode")
