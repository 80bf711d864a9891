"""A trot for the quadruped, found by trying random numbers, and steering by waypoints: what a script can reach."""

import numpy as np

from skillplan.envs.quadruped import world

# Legs in the order of the actuators: front left, front right, back right, back left; each has yaw, lift, extend.
_SIDE = np.array([1, -1, -1, 1])
_PHASE = np.array([0, np.pi, 0, np.pi])
_FREQUENCY = 1.84  # Hz


def trot(time, speed, turn):
    """Actions in [-1, 1] `[12]`: diagonal legs step together; `turn` is to the left."""
    angle = 2 * np.pi * _FREQUENCY * time + _PHASE
    yaw = 0.92 * (speed * _SIDE - turn) * np.cos(angle)
    lift = 0.93 * np.sin(angle + 2.27) - 0.5
    extend = 0.75 * np.sin(angle - 1.59) + 0.24
    return np.clip(np.stack([yaw, lift, extend], axis=1).ravel(), -1, 1)


class Walker:
    """Walks the quadruped of a `QuadrupedEnv` along waypoints (m) and stays at the last."""

    def __init__(self, env, waypoints):
        self.env, self.waypoints, self.frame = env, [np.array(point) for point in waypoints], 0

    def act(self):
        """The next frame's action, within the environment's bounds."""
        low, high = self.env.action_space.low, self.env.action_space.high
        return np.clip((low + high) / 2 + self.action() * (high - low) / 2, low, high)

    def action(self, frames=1):
        """The next action in [-1, 1], for so many frames."""
        robot = self.env._world
        gap = self.waypoints[0] - robot.position()[:2]
        if np.hypot(*gap) < 0.3:
            if len(self.waypoints) == 1:
                return np.zeros(12)
            self.waypoints.pop(0)
            gap = self.waypoints[0] - robot.position()[:2]
        forward = robot.data.xmat[robot._torso].reshape(3, 3)[:2, 0]
        error = np.arctan2(forward[0] * gap[1] - forward[1] * gap[0], forward @ gap)
        self.frame += frames
        speed, turn = (0.0, 0.4 * np.sign(error)) if abs(error) > 0.5 else (0.4, np.clip(0.3 * error, -0.15, 0.15))
        return trot(self.frame * world.CONTROL_STEP, speed, turn)
